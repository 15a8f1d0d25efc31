use lcp_lemke::*; use lcp_lemke::families::*; use sim_math::testkit::SplitMix64;
use std::time::Instant;
fn main() {
    let count: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(3000);
    let nmax: usize = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(30);
    for f in Family::WELL_SCALED.into_iter().chain(Family::BADLY_SCALED).chain([Family::Infeasible]) {
        let mut r = SplitMix64(11);
        let (mut ok, mut ray, mut lim, mut bad, mut piv, mut refac) = (0,0,0,0,0u64,0u64);
        let mut ws = LemkeWorkspace::default();
        let mut worst=0.0f64; let mut wb=0.0f64; let mut ns=0u128; let mut maxres=0.0f64;
        for _ in 0..count {
            let n = 1 + r.below(nmax);
            let p = f.draw(n, &mut r);
            let pr = LcpProblem::new(&p.m, &p.q).unwrap();
            let mut z = vec![0.0; p.q.len()];
            let t = Instant::now();
            let res = lemke(&pr, &LemkeParams::default(), Start::Cold, &mut ws, &mut z);
            ns += t.elapsed().as_nanos();
            match res {
                Ok(rep) => { ok += 1; piv += rep.pivots as u64; refac += rep.refactorisations as u64; worst = worst.max(rep.certificate.relative.max(rep.certificate.residual)); wb = wb.min(rep.worst_basic); }
                Err(LcpError::Ray{..}) => ray += 1,
                Err(LcpError::Budget{residual, iterations}) => { if iterations as usize >= 50*p.q.len() {lim += 1} else {bad += 1}; maxres = maxres.max(residual); }
                Err(e) => panic!("{e}"),
            }
        }
        println!("{f:?}: ok {ok} ray {ray} limit {lim} bad {bad} pivots/solve {:.1} refac {refac} worst {worst:.1e} worst_basic {wb:.1e} maxres {maxres:.1e} us/solve {:.2}", piv as f64/ok.max(1) as f64, ns as f64/count as f64/1000.0);
    }
}
