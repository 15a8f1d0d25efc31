//! stub
#[test]
fn stub() {
    let a = faer::Mat::<f64>::identity(2, 2);
    let svd = a.svd().unwrap();
    let lu = a.partial_piv_lu();
    let _ = (svd, lu);
}
