//! What the bench of the impact laws claims about its collisions.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "support/turning.rs"]
mod turning;

use rigid_impulse::impact::{Ending, Integrated, Restitution, integrate, reference};
use sim_math::{
    glam::{DMat3, DVec3},
    testkit::SplitMix64,
};
use sim_traits::Impact;

fn law(tolerance: f64) -> Integrated {
    let mut law = Integrated::default();
    law.tolerance = tolerance;
    law
}

#[test]
fn the_timed_law_is_right_to_1e_8_on_the_timed_collisions() {
    let impacts = turning::workload(2026).unwrap();
    assert_eq!(impacts.len(), 1000);
    let (mut worst, mut apart, mut sliding) = (0.0_f64, 0.0_f64, 0);
    for impact in &impacts {
        let fast = integrate(impact, &law(turning::TOLERANCE)).unwrap();
        let fine = integrate(impact, &law(1e-13)).unwrap().impulse;
        let slow = reference(impact, Restitution::Stronge).unwrap().impulse;
        worst = worst.max((fast.impulse - slow).length() / slow.length());
        apart = apart.max((fast.impulse - fine).length() / fine.length());
        assert_ne!(fast.ending, Ending::Fallback);
        sliding += usize::from(fast.ending == Ending::Sliding);
    }
    assert!(worst <= 1e-8, "relative error against the reference {worst:e}");
    assert!(apart <= 1e-8, "relative error against tolerance 1e-13 {apart:e}");
    assert_eq!(sliding, 500, "the other half reaches sticking");
}

#[test]
fn the_error_stays_near_the_tolerance_on_other_collisions() {
    for seed in 1..9 {
        for impact in &turning::workload(seed).unwrap() {
            let fine = integrate(impact, &law(1e-13)).unwrap().impulse;
            for tolerance in [1e-7, turning::TOLERANCE, 1e-10] {
                let error = (integrate(impact, &law(tolerance)).unwrap().impulse - fine).length();
                assert!(error <= 10.0 * tolerance * fine.length(), "{tolerance:e}: {error:e}, {impact:?}");
            }
        }
    }
}

#[test]
fn a_compression_that_ends_for_a_moment_only_is_not_missed() {
    // The normal velocity comes to zero and would fall again, all within one long step.
    let mut random = SplitMix64(31);
    for _ in 0..20_000 {
        let axes = DMat3::from_quat(random.unit_quat());
        let diagonal =
            DMat3::from_diagonal(DVec3::new(1.0, random.range(0.01, 1.0), random.range(0.01, 0.1)));
        let k = axes * diagonal * axes.transpose();
        let mut velocity = random.vec3(1.0);
        velocity.z = -random.range(0.001, 0.3);
        let friction = random.range(0.3, 3.0);
        let impact = Impact { k: (k + k.transpose()) * 0.5, velocity, friction, restitution: 0.0 };
        let (coarse, fine) =
            (integrate(&impact, &law(1e-8)).unwrap(), integrate(&impact, &law(1e-14)).unwrap());
        let error = (coarse.impulse - fine.impulse).length();
        assert!(error <= 1e-4 * fine.impulse.length(), "{error:e}, {impact:?}");
    }
}
