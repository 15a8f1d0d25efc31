use super::*;
use glam::{DQuat, DVec3};
#[test]
fn explore() {
    let body = TorqueFreeBody::new(DVec3::new(1., 2., 3.)).unwrap();
    let w0 = DVec3::new(0.01, 1.0, 0.01);
    let (mut q, mut w) = (DQuat::IDENTITY, w0);
    let arc = TorqueFreeArc::new(&body, q, w).unwrap();
    println!("period {}", arc.rate_period());
    let l0 = q * body.momentum_body(w);
    let e0 = body.energy(w);
    let t0 = std::time::Instant::now();
    for i in 1..=1_000_000 {
        (q, w) = body.step(q, w, 1e-3).unwrap();
        if i % 100_000 == 0 || i == 1000 {
            let (qa, wa) = arc.at(f64::from(i) * 1e-3).unwrap();
            println!("{i} L {:e} E {:e} arc: w {:e} att {:e} arcL {:e}", (q * body.momentum_body(w) - l0).length() / l0.length(), body.energy(w)/e0-1.0,
              (wa-w).length(), 2.0*(q.conjugate()*qa).xyz().length(), (qa * body.momentum_body(wa) - l0).length() / l0.length());
        }
    }
    println!("{:?}", t0.elapsed());
    let body = TorqueFreeBody::new(DVec3::new(0.1, 0.2, 0.3)).unwrap();
    let w0 = DVec3::new(0.01, 5.0, 0.01);
    let (mut q, mut w) = (DQuat::IDENTITY, w0);
    let arc = TorqueFreeArc::new(&body, q, w).unwrap();
    for i in 1..=24000 {
        (q, w) = body.step(q, w, 1./240.).unwrap();
        if i % 2400 == 0 || i<3 {
            let (qa, wa) = arc.at(f64::from(i) /240.).unwrap();
            println!("{i} w {w} {wa} att {:e}", 2.0*(q.conjugate()*qa).xyz().length());
        }
    }
    let t0 = std::time::Instant::now();
    let mut s = 0.0;
    for i in 0..100000 { s += arc.at(f64::from(i)*1e-3).unwrap().0.x; }
    println!("arc.at {:?} per call {s}", t0.elapsed()/100000);
}
