//! What holds for every collision, on many random ones.

mod common;

use common::{random_impact, random_matrix};
use rigid_impulse::impact::{
    Algebraic, Ending, Integrated, Restitution, SlidingFlow, Sticking, critical_friction, diverging_ray,
    integrate, rays, sticking,
};
use sim_math::{
    glam::{DVec2, DVec3},
    ops,
    testkit::{SplitMix64, soak},
};
use sim_traits::ImpactLaw;

// proves: MIR-51, ARN-47
#[test]
fn soak_sticking_is_stable_exactly_when_no_ray_diverges() {
    let mut random = soak::random(41);
    for _ in 0..soak::cases(1_000_000) {
        let k = random_matrix(&mut random, 1000.0);
        let flow = SlidingFlow::new(&k, random.range(0.0, 3.0));
        let critical = critical_friction(&flow);
        if (critical - flow.friction()).abs() < 1e-9 * (1.0 + critical) {
            continue; // on the border rounding decides
        }
        let diverging = rays(&flow).as_slice().iter().filter(|r| r.diverges()).count();
        let stable = matches!(sticking(&flow), Sticking::Stable { .. });
        assert_eq!(diverging, usize::from(!stable), "{flow:?}");
        // Wherever sliding speeds up, the normal velocity rises too.
        let (sin, cos) = ops::sin_cos(random.range(0.0, std::f64::consts::TAU));
        let dir = DVec2::new(cos, sin);
        if flow.radial_rate(dir) > 0.0 {
            assert!(flow.normal_rate(dir) > 0.0, "{flow:?}");
        }
        if !stable {
            let ray = diverging_ray(&flow).expect("unstable");
            assert!(flow.normal_rate(ray.direction) > 0.0 && ray.diverges());
        }
    }
}

// proves: MIR-45, CLI-101, ARN-44
#[test]
fn soak_stronges_law_never_adds_energy_and_stays_in_the_cone() {
    let mut random = soak::random(42);
    let mut endings = [0_u32; 6];
    for _ in 0..soak::cases(1_000_000) {
        let impact = random_impact(&mut random, 1000.0, 3.0);
        let report = integrate(&impact, &Integrated::default()).unwrap();
        let p = report.impulse;
        let energy = 0.5 * impact.velocity.dot(impact.k.inverse() * impact.velocity);
        assert!(report.work <= 1e-9 * energy, "{impact:?} {report:?}");
        assert!(report.work >= -energy * (1.0 + 1e-12));
        assert!(p.truncate().length() <= impact.friction * p.z + 1e-12 * p.length(), "{impact:?} {report:?}");
        assert!(report.velocity.z >= 0.0 - 1e-12 && p.z > 0.0);
        endings[report.ending as usize] += 1;
    }
    println!("apart, sliding, stuck, diverged, wedged, fallback: {endings:?}");
    assert_eq!(endings[Ending::Fallback as usize] + endings[Ending::Wedged as usize], 0);
}

// proves: FON-58
#[test]
fn soak_the_algebraic_law_keeps_restitution_cone_and_energy_exactly() {
    let mut random = soak::random(43);
    for _ in 0..soak::cases(200_000) {
        let impact = random_impact(&mut random, 300.0, 2.0);
        let e_t = random.range(-1.0, 1.0);
        let p = Algebraic::new(e_t).unwrap().impulse(&impact).unwrap();
        let after = impact.velocity + impact.k * p;
        let (e, mu) = (impact.restitution, impact.friction);
        let energy = 0.5 * impact.velocity.dot(impact.k.inverse() * impact.velocity);
        assert!((after.z + e * impact.velocity.z).abs() < 1e-12 * (1.0 + p.length()));
        assert!(p.truncate().length() <= mu * p.z + 1e-12 * p.length());
        // Energy lost by the orthogonal split.
        let first = DVec3::new(0.0, 0.0, -impact.velocity.z / impact.k.z_axis.z);
        let across = -(impact.k.inverse() * impact.velocity) - first;
        let norm = |v: DVec3| v.dot(impact.k * v);
        let kappa = if norm(across) > 0.0 {
            (p - first * (1.0 + e)).dot(impact.k * across) / norm(across)
        } else {
            0.0
        };
        let lost = 0.5 * ((1.0 - e * e) * norm(first) + (1.0 - (kappa - 1.0) * (kappa - 1.0)) * norm(across));
        let change = 0.5 * (impact.velocity + after).dot(p);
        assert!((change + lost).abs() < 1e-10 * energy, "{change} {lost}");
        assert!(lost >= -1e-12 * energy && kappa <= 1.0 + e_t + 1e-9);
    }
}

#[test]
fn rigid_changes_of_axes_change_nothing() {
    let mut random = SplitMix64(44);
    for _ in 0..2000 {
        let impact = random_impact(&mut random, 30.0, 1.0);
        let critical = critical_friction(&SlidingFlow::new(&impact.k, impact.friction));
        if (critical / impact.friction - 1.0).abs() < 1e-2 {
            continue;
        }
        let turn = sim_math::glam::DMat3::from_rotation_z(random.range(0.0, 6.3));
        let turned = sim_traits::Impact {
            k: turn * impact.k * turn.transpose(),
            velocity: turn * impact.velocity,
            ..impact
        };
        for law in [Restitution::Stronge, Restitution::Newton, Restitution::Poisson] {
            let law = Integrated::with(law);
            let (p, q) = (law.impulse(&impact).unwrap(), law.impulse(&turned).unwrap());
            assert!((turn * p - q).length() < 1e-8 * p.length(), "{impact:?}");
        }
        // Scaling velocity or mass scales the impulse.
        let scaled = sim_traits::Impact { k: impact.k * 1e-6, velocity: impact.velocity * 1e4, ..impact };
        let (p, q) = (
            Integrated::default().impulse(&impact).unwrap(),
            Integrated::default().impulse(&scaled).unwrap(),
        );
        assert!((p * 1e10 - q).length() < 1e-7 * q.length());
    }
}

// proves: ARN-46
#[test]
fn a_stuck_contact_stays_stuck() {
    let mut random = SplitMix64(45);
    for _ in 0..20_000 {
        let mut impact = random_impact(&mut random, 100.0, 2.0);
        impact.velocity.x = 0.0;
        impact.velocity.y = 0.0;
        let report = integrate(&impact, &Integrated::default()).unwrap();
        if report.ending == Ending::Stuck {
            assert!(report.velocity.truncate().length() < 1e-15 * report.impulse.length().max(1.0));
            // Arnold's k0, k1, k2 are cofactors of K.
            let [[a, f, e], [_, b, d], _] = impact.k.to_cols_array_2d();
            let (k0, k1, k2) = (f * d - e * b, f * e - a * d, a * b - f * f);
            let expected = DVec3::new(k0 / k2, k1 / k2, 1.0) * report.impulse.z;
            assert!((report.impulse - expected).length() < 1e-11 * report.impulse.length());
        }
    }
}
