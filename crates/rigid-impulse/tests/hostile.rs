//! Input that wants to break the laws: every call must end, and end in a lawful impulse or an error.

mod common;

use common::random_matrix;
use rigid_impulse::impact::{Algebraic, Frictionless, Integrated, Phases, Restitution, integrate};
use sim_math::{
    glam::{DMat3, DVec3},
    ops,
    testkit::{SplitMix64, soak},
};
use sim_traits::{Impact, ImpactError, ImpactLaw};

/// Matrices of every rank, badly scaled, near the border of stability, velocities along axes and nearly so.
fn hostile(random: &mut SplitMix64) -> Impact {
    let mut k = match random.below(4) {
        0 => random_matrix(random, 1e8),
        1 => {
            let v = random.vec3(1.0);
            DMat3::from_cols(v * v.x, v * v.y, v * v.z)
        }
        2 => {
            let (v, w) = (random.vec3(1.0), random.vec3(1.0));
            DMat3::from_cols(v * v.x + w * w.x, v * v.y + w * w.y, v * v.z + w * w.z)
        }
        _ => DMat3::from_diagonal(DVec3::new(random.below(2) as f64, random.below(2) as f64, 1.0)),
    };
    k *= ops::exp(random.range(-20.0, 20.0));
    let mut velocity = random.vec3(1.0);
    for axis in 0..2 {
        match random.below(6) {
            0 => velocity[axis] = 0.0,
            1 => velocity[axis] *= 1e-12,
            2 => velocity[axis] *= 1e6,
            _ => {}
        }
    }
    if random.below(8) == 0 {
        velocity.z *= 1e-10;
    }
    velocity.z = -velocity.z.abs();
    if random.below(3) == 0 {
        velocity = k * velocity; // in the range of K
    }
    Impact { k, velocity, friction: 10.0 * random.unit() * random.unit(), restitution: 5.0 * random.unit() }
}

// proves: ARN-50
#[test]
fn soak_every_law_ends_on_hostile_input() {
    let mut random = soak::random(51);
    let mut worst_steps = 0;
    let mut fallbacks = 0_u32;
    for _ in 0..soak::cases(1_000_000) {
        let mut impact = hostile(&mut random);
        let bounded = random.below(2) == 0;
        if bounded {
            impact.restitution = impact.restitution.min(1.0);
        }
        let report = match integrate(&impact, &Integrated::default()) {
            Ok(report) => report,
            Err(ImpactError::BadMatrix { .. }) => continue,
            Err(other) => panic!("{impact:?}: {other}"),
        };
        let p = report.impulse;
        assert!(p.is_finite() && p.z >= 0.0, "{impact:?} {report:?}");
        assert!(p.truncate().length() <= impact.friction * p.z + 1e-12 * p.length(), "{impact:?} {report:?}");
        if bounded {
            // Against the work that the velocities could do at most, and the rounding of u + K p times p.
            let scale = p.length() * impact.velocity.length();
            let trace = impact.k.x_axis.x + impact.k.y_axis.y + impact.k.z_axis.z;
            let rounding = f64::EPSILON * trace * p.length_squared();
            assert!(report.work <= 1e-9 * scale + rounding, "{impact:?} {report:?}");
        }
        worst_steps = worst_steps.max(report.steps);
        fallbacks += u32::from(report.ending == rigid_impulse::impact::Ending::Fallback);
        let p = Algebraic::default().impulse(&impact).unwrap();
        assert!(p.is_finite() && p.z >= 0.0, "{impact:?} {p}");
        assert!(p.truncate().length() <= impact.friction * p.z + 1e-9 * p.length(), "{impact:?} {p}");
    }
    println!("most steps {worst_steps}, fallbacks {fallbacks}");
}

#[test]
fn soak_other_restitutions_and_phases_end_too() {
    let mut random = soak::random(52);
    let laws: [Box<dyn ImpactLaw>; 4] = [
        Box::new(Integrated::with(Restitution::Newton)),
        Box::new(Integrated::with(Restitution::Poisson)),
        Box::new(Phases::default()),
        Box::new(Frictionless),
    ];
    for n in 0..soak::cases(20_000) {
        let impact = hostile(&mut random);
        let law = &laws[n as usize % 4];
        if let Ok(p) = law.impulse(&impact) {
            assert!(p.is_finite() && p.z >= 0.0, "{law:?} {impact:?} {p}");
            assert!(
                p.truncate().length() <= impact.friction * p.z + 1e-12 * p.length(),
                "{law:?} {impact:?} {p}"
            );
        }
    }
}

#[test]
fn bad_numbers_are_errors_that_name_them() {
    let good =
        Impact { k: DMat3::IDENTITY, velocity: DVec3::new(1.0, 0.0, -1.0), friction: 0.3, restitution: 0.5 };
    let laws: [Box<dyn ImpactLaw>; 4] = [
        Box::new(Integrated::default()),
        Box::new(Phases::default()),
        Box::new(Algebraic::default()),
        Box::new(Frictionless),
    ];
    for law in laws {
        assert!(law.impulse(&good).is_ok());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut k = good.k;
            k.y_axis.x = bad;
            for impact in [
                Impact { k, ..good },
                Impact { velocity: DVec3::new(0.0, bad, -1.0), ..good },
                Impact { friction: bad, ..good },
                Impact { restitution: bad, ..good },
            ] {
                assert!(
                    matches!(law.impulse(&impact), Err(ImpactError::NonFinite { .. })),
                    "{law:?} {impact:?}"
                );
            }
        }
        let skew = Impact { k: DMat3::from_cols_array(&[1., 0.5, 0., -0.5, 1., 0., 0., 0., 1.]), ..good };
        let indefinite = Impact { k: DMat3::from_cols_array(&[1., 0., 2., 0., 1., 0., 2., 0., 1.]), ..good };
        let locked = Impact { k: DMat3::ZERO, ..good };
        for impact in [skew, indefinite, locked] {
            assert!(matches!(law.impulse(&impact), Err(ImpactError::BadMatrix { .. })), "{law:?} {impact:?}");
        }
        assert!(matches!(law.impulse(&Impact { friction: -0.1, ..good }), Err(ImpactError::Negative { .. })));
        assert_eq!(law.impulse(&Impact { velocity: DVec3::new(1.0, 0.0, 0.1), ..good }), Ok(DVec3::ZERO));
    }
    let mut law = Integrated::default();
    law.tolerance = f64::NAN;
    assert_eq!(law.impulse(&good).unwrap_err().to_string(), "tolerance is not finite: NaN");
    assert!(
        Algebraic::new(f64::NAN).is_err() && Algebraic::new(1.5).is_err() && Algebraic::new(-1.5).is_err()
    );
}
