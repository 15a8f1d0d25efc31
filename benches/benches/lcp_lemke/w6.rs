//! Workload W6: complementarity problems w = M z + q, cold and warm, by the driver and by Lemke's method alone.
//!
//! Distributions (`lcp_lemke::families`, splitmix64, seed 42):
//! `pd`: A Aᵀ/n + 0.1 I with A and q uniform in [-1, 1]. `contact`: J W Jᵀ of n frictionless contacts with random
//! normals and lever arms in [-1, 1]³ on n/4 + 1 bodies (mass 0.5 to 2, moments 0.2 to 1), velocities in [-1, 1].
//! `friction4`, `friction8`: Stewart-Trinkle rows with 4 or 8 directions, n/6 or n/10 contacts on half as many
//! bodies, friction 0.1 to 1, zero bias. Sizes are rounded up to whole contacts.
//! `warm`: start from the basis of the problem whose velocities, lever arms and masses (`pd`: numbers) differ by
//! up to 1e-3. The peer's times for the same problems: `benches/peers/quantecon_lemke.py`.

use lcp_lemke::families::{Family, changed_pair};
use lcp_lemke::{Driver, LemkeParams, LemkeWorkspace, Start, lemke};
use sim_math::testkit::SplitMix64;
use std::hint::black_box;
use tumblestone_benches::Suite;

const FAMILIES: [(&str, Family); 4] = [
    ("pd", Family::PositiveDefinite),
    ("contact", Family::Contact),
    ("friction4", Family::Friction4),
    ("friction8", Family::Friction8),
];

fn w6(suite: &mut Suite) {
    for (name, family) in FAMILIES {
        for n in [10, 50, 100, 300, 1000] {
            let (p, near) = changed_pair(family, n, 1e-3, &mut SplitMix64(42));
            let (Ok(problem), Ok(near)) = (p.problem(), near.problem()) else { continue };
            let mut z = vec![0.0; p.q.len()];
            let mut driver = Driver::default();
            driver.reserve(p.q.len());
            let iterations = if n < 300 { 100 } else { 2 };
            let samples = if n < 1000 { 50 } else { 10 };
            assert!(driver.run(&problem, &mut z).is_ok(), "{name} {n}");
            let basis = driver.active().to_vec();
            suite
                .case(&format!("lcp_lemke/w6/{name}_{n}_cold"))
                .samples(samples)
                .iterations(iterations)
                .run(|| driver.run_from(black_box(&problem), None, &mut z).is_ok());
            suite
                .case(&format!("lcp_lemke/w6/{name}_{n}_warm"))
                .samples(samples)
                .iterations(iterations)
                .run(|| driver.run_from(black_box(&near), Some(&basis), &mut z).is_ok());
        }
    }
}

/// Lemke's method alone: divide by the pivots (the throughput) for the cost of one, which grows with n².
fn pivots(suite: &mut Suite) {
    for n in [40, 80, 160, 320, 640] {
        let p = Family::PositiveDefinite.draw(n, &mut SplitMix64(15));
        let Ok(problem) = p.problem() else { continue };
        let (mut ws, mut z) = (LemkeWorkspace::with_capacity(n), vec![0.0; n]);
        let params = LemkeParams::default();
        let Ok(report) = lemke(&problem, &params, Start::Cold, &mut ws, &mut z) else { continue };
        suite
            .case(&format!("lcp_lemke/pivot/{n}"))
            .elements(u64::from(report.pivots))
            .samples(20)
            .iterations(2)
            .run(|| lemke(black_box(&problem), &params, Start::Cold, &mut ws, &mut z).is_ok());
    }
}

tumblestone_benches::main!(w6, pivots);
