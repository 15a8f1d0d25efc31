//! Impact laws on 1000 random collisions: condition numbers up to 100, the sliding direction turns by at least 30°, half of
//! them reach sticking.

use rigid_impulse::impact::{
    Algebraic, Ending, Frictionless, Integrated, Phases, Restitution, SlidingFlow, integrate, reference,
};
use sim_math::{
    glam::{DMat3, DVec2, DVec3},
    ops,
    testkit::SplitMix64,
};
use sim_traits::{Impact, ImpactLaw};
use std::{error::Error, hint::black_box};
use tumblestone_benches::Suite;

/// Error of the integrated law that the timing is for, relative to the impulse.
const ACCURACY: f64 = 1e-8;

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

fn workload() -> Result<Vec<Impact>, Box<dyn Error>> {
    let mut random = SplitMix64(2026);
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

fn laws(suite: &mut Suite) {
    let impacts = match workload() {
        Ok(impacts) => impacts,
        Err(error) => unreachable!("the workload consists of valid collisions: {error}"),
    };
    let mut integrated = Integrated::default();
    integrated.tolerance = 7e-9;
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
