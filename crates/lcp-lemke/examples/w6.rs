use lcp_lemke::*; use lcp_lemke::families::*; use sim_math::testkit::SplitMix64;
use std::time::Instant;
fn main() {
    let only: Option<usize> = std::env::args().nth(1).and_then(|s| s.parse().ok());
    let fam: Option<String> = std::env::args().nth(2);
    for (name, f) in [("pd", Family::PositiveDefinite), ("contact", Family::Contact), ("friction4", Family::Friction4), ("friction8", Family::Friction8)] {
        if fam.as_ref().is_some_and(|x| x != name) { continue; }
        for n in [10, 50, 100, 300, 1000] {
            if only.is_some_and(|o| o != n) { continue; }
            let mut r = SplitMix64(42);
            let (p, c) = changed_pair(f, n, 1e-3, &mut r);
            let pr = p.problem().unwrap(); let cr = c.problem().unwrap();
            let mut d = Driver::default();
            d.reserve(p.q.len());
            let mut z = vec![0.0; p.q.len()]; let mut g = vec![false; z.len()];
            let (mut best, mut bw) = (f64::INFINITY, f64::INFINITY);
            let reps = (2_000_000 / (n*n)).clamp(5, 5000);
            let mut rep = None; let mut wrep = None;
            for _ in 0..reps { let t = Instant::now(); rep = Some(d.run_from(&pr, None, &mut z)); best = best.min(t.elapsed().as_secs_f64()); }
            d.run(&pr, &mut z).unwrap(); g.copy_from_slice(d.active());
            for _ in 0..reps { let t = Instant::now(); wrep = Some(d.run_from(&cr, Some(&g), &mut z)); bw = bw.min(t.elapsed().as_secs_f64()); }
            let s = rep.unwrap().unwrap(); let w = wrep.unwrap().unwrap();
            let active = g.iter().filter(|v| **v).count();
            println!("{name:10} n {:4} cold {:9.4} ms ({} {:?}, active {active}, res {:.0e}) warm {:9.4} ms ({} {:?})", p.q.len(), best*1e3, s.iterations, s.method, s.certificate.residual, bw*1e3, w.iterations, w.method);
        }
    }
}
