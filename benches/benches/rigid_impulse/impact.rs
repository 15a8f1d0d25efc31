//! Impact laws on 1000 random collisions: condition numbers up to 100, the sliding direction turns by at least 30°, half of
//! them reach sticking.

#[path = "../../../crates/rigid-impulse/tests/support/turning.rs"]
mod turning;

use rigid_impulse::impact::{Algebraic, Frictionless, Integrated, Phases, Restitution, reference};
use sim_math::glam::DVec3;
use sim_traits::ImpactLaw;
use std::hint::black_box;
use tumblestone_benches::Suite;

/// Error of the integrated law that the timing is for, relative to the impulse.
const ACCURACY: f64 = 1e-8;

fn laws(suite: &mut Suite) {
    let impacts = match turning::workload(2026) {
        Ok(impacts) => impacts,
        Err(error) => unreachable!("the workload consists of valid collisions: {error}"),
    };
    let mut integrated = Integrated::default();
    integrated.tolerance = turning::TOLERANCE;
    let worst = impacts.iter().filter_map(|impact| {
        let (fast, slow) =
            (integrated.impulse(impact).ok()?, reference(impact, Restitution::Stronge).ok()?.impulse);
        Some((fast - slow).length() / slow.length())
    });
    let worst = worst.fold(0.0, f64::max);
    assert!(worst <= ACCURACY, "relative error {worst:e}");
    let mut exact = Integrated::default();
    exact.tolerance = 1e-12;
    let cases: [(&str, &dyn ImpactLaw); 5] = [
        ("rigid_impulse/impact/integrated_1e-8", &integrated),
        ("rigid_impulse/impact/integrated_1e-11", &exact),
        ("rigid_impulse/impact/algebraic", &Algebraic::default()),
        ("rigid_impulse/impact/frictionless", &Frictionless),
        ("rigid_impulse/impact/phases", &Phases::default()),
    ];
    for (id, law) in cases {
        suite.case(id).elements(impacts.len() as u64).iterations(2).run(|| {
            let mut sum = DVec3::ZERO;
            for impact in black_box(&impacts) {
                sum += law.impulse(impact).unwrap_or_default();
            }
            sum
        });
    }
}

tumblestone_benches::main!(laws);
