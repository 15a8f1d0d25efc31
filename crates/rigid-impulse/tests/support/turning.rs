//! 1000 random collisions: condition numbers up to 100, the sliding direction turns by at least 30°, half of them reach
//! sticking. The bench of the impact laws and the tests of what it claims share them.

use rigid_impulse::impact::{Ending, Integrated, SlidingFlow, integrate};
use sim_math::{
    glam::{DMat3, DVec2, DVec3},
    ops,
    testkit::SplitMix64,
};
use sim_traits::{Impact, ImpactError};

/// Step tolerance at which the integrated law is right to 1e-8 of the impulse on these collisions.
pub(crate) const TOLERANCE: f64 = 3e-9;

/// How far the sliding direction turns until `p_z` is spent or sliding stops, rad.
fn turn(impact: &Impact, p_z: f64) -> f64 {
    let flow = SlidingFlow::new(&impact.k, impact.friction);
    let start = impact.velocity.truncate().normalize();
    let (mut u, mut spent) = (impact.velocity.truncate(), 0.0);
    while spent < p_z && u.length() > 1e-3 {
        let rate = |u: DVec2| flow.tangential_rate(u.normalize());
        let h = (0.02 * u.length() / rate(u).length()).min(p_z - spent).max(1e-9);
        u += rate(u + rate(u) * (0.5 * h)) * h;
        spent += h;
    }
    ops::acos(start.dot(u.normalize()).clamp(-1.0, 1.0))
}

/// The collisions; `seed` 2026 is that of the bench.
///
/// # Errors
/// None in fact: all collisions are valid.
pub(crate) fn workload(seed: u64) -> Result<Vec<Impact>, ImpactError> {
    let mut random = SplitMix64(seed);
    let (mut stuck, mut sliding) = (Vec::new(), Vec::new());
    while stuck.len() < 500 || sliding.len() < 500 {
        let axes = DMat3::from_quat(random.unit_quat());
        let mut eigenvalue = || ops::exp(-ops::ln(100.0) * random.unit());
        let diagonal = DMat3::from_diagonal(DVec3::new(eigenvalue(), eigenvalue(), eigenvalue()));
        let k = axes * diagonal * axes.transpose();
        let mut velocity = random.vec3(1.0);
        velocity.z = -velocity.z.abs().max(0.05);
        let impact = Impact {
            k: (k + k.transpose()) * 0.5,
            velocity,
            friction: random.range(0.05, 1.5),
            restitution: random.unit(),
        };
        let report = integrate(&impact, &Integrated::default())?;
        if turn(&impact, report.impulse.z) < 30.0_f64.to_radians() {
            continue;
        }
        let list = if report.ending == Ending::Sliding { &mut sliding } else { &mut stuck };
        if list.len() < 500 {
            list.push(impact);
        }
    }
    // Alternate, so that no branch predictor learns the order.
    Ok(stuck.into_iter().zip(sliding).flat_map(|(a, b)| [a, b]).collect())
}
