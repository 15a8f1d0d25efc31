//! Collisions with closed-form results: sphere, rod, jam, central impacts; planar and rank-deficient matrices.

mod common;

use common::{energy_change, random_impact};
use rigid_impulse::impact::{
    Algebraic, Ending, Frictionless, Integrated, Phases, Restitution, SlidingFlow, Sticking, integrate,
    integrate_phases, sticking,
};
use sim_math::{
    assert_close,
    glam::{DMat3, DVec3},
    ops,
    testkit::SplitMix64,
};
use sim_traits::{Impact, ImpactLaw};

/// Every law that knows friction.
fn laws() -> Vec<Box<dyn ImpactLaw>> {
    vec![
        Box::new(Integrated::default()),
        Box::new(Integrated::with(Restitution::Newton)),
        Box::new(Integrated::with(Restitution::Poisson)),
        Box::new(Phases::default()),
        Box::new(Algebraic::default()),
    ]
}

// proves: ARN-45
#[test]
fn sphere_on_a_plane() {
    let mut random = SplitMix64(31);
    for _ in 0..2000 {
        let mass = ops::exp(random.range(-3.0, 3.0));
        let impact = Impact {
            k: DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0) / mass),
            velocity: DVec3::new(random.range(-5.0, 5.0), random.range(-5.0, 5.0), -random.range(0.1, 3.0)),
            friction: random.range(0.0, 1.0),
            restitution: random.unit(),
        };
        let tangential = impact.velocity.truncate();
        let p_z = mass * (1.0 + impact.restitution) * -impact.velocity.z;
        let p_t = (impact.friction * p_z).min(2.0 / 7.0 * mass * tangential.length());
        for law in laws() {
            let p = law.impulse(&impact).unwrap();
            assert_close!(p.z, p_z, rel = 1e-13);
            let expected = -tangential.normalize() * p_t;
            // The phase integrator calls it sticking at 1e-9 of the speed.
            assert!((p.truncate() - expected).length() < 1e-8 * p_z, "{law:?}: {p} {expected}");
        }
        let exact = Integrated::default().impulse(&impact).unwrap();
        assert!((exact.truncate() + tangential.normalize() * p_t).length() < 1e-13 * p_z);
    }
    // Arnold's two printed values.
    let at = |v_t: f64| {
        let k = DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0));
        let impact = Impact { k, velocity: DVec3::new(v_t, 0.0, -1.0), friction: 0.3, restitution: 0.5 };
        -Integrated::default().impulse(&impact).unwrap().x
    };
    assert_close!(at(0.5), 1.0 / 7.0, abs = 1e-15);
    assert_close!(at(5.0), 0.45, abs = 1e-15);
}

/// A thin rod of 1 kg whose lower tip hits the ground, leaning by `tan φ` from the vertical.
fn rod(tan: f64, slide: f64, friction: f64, restitution: f64) -> Impact {
    let cos2 = 1.0 / (1.0 + tan * tan);
    let sin2 = 1.0 - cos2;
    let coupling = -3.0 * (sin2 * cos2).sqrt();
    let k = DMat3::from_cols(
        DVec3::new(1.0 + 3.0 * sin2, 0.0, coupling),
        DVec3::new(0.0, 4.0, 0.0),
        DVec3::new(coupling, 0.0, 1.0 + 3.0 * cos2),
    );
    Impact { k, velocity: DVec3::new(slide, 0.0, -1.0), friction, restitution }
}

#[test]
fn rod_sticks_exactly_above_its_threshold() {
    for tan in [0.3, 1.0, 2.0, 5.0] {
        let impact = rod(tan, 0.0, 0.0, 0.0);
        let threshold = impact.k.z_axis.x.abs() / impact.k.x_axis.x;
        for (mu, holds) in [(threshold * 1.0001, true), (threshold * 0.9999, false)] {
            let stable = matches!(sticking(&SlidingFlow::new(&impact.k, mu)), Sticking::Stable { .. });
            assert_eq!(stable, holds, "tan {tan}, mu {mu}");
        }
    }
}

// proves: MIR-52
#[test]
fn jammed_rod() {
    // At tan φ = 2 the rod jams for μ > 4/3 when it slides the wrong way.
    for slide in [-0.5, -0.1, -2.0] {
        let impact = rod(2.0, slide, 1.5, 0.6);
        let flow = SlidingFlow::new(&impact.k, 1.5);
        assert!(flow.normal_rate(impact.velocity.truncate().normalize()) < 0.0, "does not jam");
        assert!(SlidingFlow::new(&impact.k, 1.3).normal_rate(impact.velocity.truncate().normalize()) > 0.0);
        let phases = integrate_phases(&impact, &Phases::default()).unwrap();
        assert!(phases.jammed);
        let series = integrate(&impact, &Integrated::default()).unwrap();
        assert!((phases.impact.impulse - series.impulse).length() < 1e-7, "{phases:?} {series:?}");
        assert!(series.work <= 0.0 && series.velocity.z > 0.0);
        // Planar: the sliding runs out first, at p_z = |u_x|/|K_xx μ − K_xz|, then the rod sticks.
        let rate = flow.radial_rate(impact.velocity.truncate().normalize());
        let p_z = -slide.abs() / rate;
        let u_z = -1.0 + flow.normal_rate(impact.velocity.truncate().normalize()) * p_z;
        let w = 0.5 * p_z * (-1.0 + u_z);
        let Sticking::Stable { rate, .. } = sticking(&flow) else { panic!("the rod sticks") };
        let compression = w - u_z * u_z / (2.0 * rate);
        assert_close!(series.compression_work, compression, rel = 1e-13);
        assert_close!(series.velocity.z, 0.6 * (-2.0 * rate * compression).sqrt(), rel = 1e-13);
    }
}

// proves: ARN-41, ARN-42
#[test]
fn each_restitution_does_what_it_says() {
    let mut random = SplitMix64(33);
    for _ in 0..5000 {
        let impact = random_impact(&mut random, 100.0, 1.5);
        let e = impact.restitution;
        let newton = integrate(&impact, &Integrated::with(Restitution::Newton)).unwrap();
        assert_close!(newton.velocity.z, -e * impact.velocity.z, rel = 1e-12, abs = 1e-13);
        let poisson = integrate(&impact, &Integrated::with(Restitution::Poisson)).unwrap();
        assert_close!(poisson.impulse.z, (1.0 + e) * poisson.compression_impulse, rel = 1e-13);
    }
}

// proves: ARN-43
#[test]
fn restitution_laws_agree_for_a_constant_direction() {
    let mut random = SplitMix64(34);
    for n in 0..3000 {
        let mut impact = random_impact(&mut random, 30.0, 1.0);
        match n % 3 {
            0 => impact.friction = 0.0,
            1 => {
                impact.k =
                    DMat3::from_diagonal(DVec3::new(random.range(0.5, 3.0), 1.0, random.range(0.5, 3.0)));
            }
            // Sliding along a ray.
            _ => {
                let rays = rigid_impulse::impact::rays(&SlidingFlow::new(&impact.k, impact.friction));
                let Some(ray) = rays.as_slice().iter().find(|r| r.diverges()) else { continue };
                impact.velocity = (ray.direction * random.unit()).extend(impact.velocity.z);
            }
        }
        if n % 3 == 1 {
            // A diagonal matrix decouples the normal velocity, whatever the direction does. Half of them isotropic
            // tangentially, so that it is constant, and without sticking: there the algebraic law agrees too.
            if n % 2 == 0 {
                impact.k.y_axis.y = impact.k.x_axis.x;
                impact.velocity.x += 10.0;
                impact.friction *= 0.5;
            }
        }
        let impulse = |r| Integrated::with(r).impulse(&impact).unwrap();
        let stronge = impulse(Restitution::Stronge);
        let scale = 1e-9 * stronge.length();
        assert!((impulse(Restitution::Newton) - stronge).length() < scale, "{n} {impact:?}");
        assert!((impulse(Restitution::Poisson) - stronge).length() < scale, "{n} {impact:?}");
        if n % 3 == 0 {
            assert!((Frictionless.impulse(&impact).unwrap() - stronge).length() < 1e-13 * stronge.length());
        }
        if n % 3 == 1 && n % 2 == 0 {
            let algebraic = Algebraic::default().impulse(&impact).unwrap();
            assert!((algebraic - stronge).length() < scale, "{impact:?}");
        }
    }
}

/// Kane and Levinson's double pendulum idea in its smallest form: under Newton's law, friction that reverses the sliding
/// adds energy.
#[test]
fn newtons_restitution_can_create_energy_and_stronges_cannot() {
    let mut random = SplitMix64(35);
    let mut witnesses = 0;
    for _ in 0..20_000 {
        let mut impact = random_impact(&mut random, 100.0, 1.5);
        impact.restitution = 0.9 + 0.1 * impact.restitution;
        let newton = integrate(&impact, &Integrated::with(Restitution::Newton)).unwrap();
        let stronge = integrate(&impact, &Integrated::default()).unwrap();
        let initial = 0.5 * impact.velocity.dot(impact.k.inverse() * impact.velocity);
        witnesses += u32::from(newton.work > 1e-3 * initial);
        assert!(stronge.work <= 1e-12 * initial);
    }
    assert!(witnesses > 10, "{witnesses}");
    // One by hand: a rod at 45° that slides out from under itself until the impact turns its tip back.
    let impact = rod(1.0, 0.6, 0.3, 1.0);
    let newton = integrate(&impact, &Integrated::with(Restitution::Newton)).unwrap();
    assert!(newton.work > 0.005, "{newton:?}");
    assert!(integrate(&impact, &Integrated::default()).unwrap().work <= 0.0);
}

// proves: MIR-53
#[test]
fn work_is_the_change_of_energy() {
    let mut random = SplitMix64(36);
    for _ in 0..20_000 {
        let impact = random_impact(&mut random, 30.0, 2.0);
        for law in [Restitution::Stronge, Restitution::Newton, Restitution::Poisson] {
            let report = integrate(&impact, &Integrated::with(law)).unwrap();
            let initial = 0.5 * impact.velocity.dot(impact.k.inverse() * impact.velocity);
            assert_close!(
                report.work,
                energy_change(&impact, report.velocity),
                abs = 1e-12 * initial.max(1.0)
            );
        }
    }
}

// proves: MIR-56
#[test]
fn the_algebraic_law_differs_where_the_direction_turns() {
    let mut random = SplitMix64(37);
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for _ in 0..2000 {
        let impact = random_impact(&mut random, 30.0, 1.0);
        let exact = Integrated::with(Restitution::Newton).impulse(&impact).unwrap();
        let algebraic = Algebraic::default().impulse(&impact).unwrap();
        let error = (exact - algebraic).length() / exact.length();
        sum += error;
        largest = largest.max(error);
    }
    let mean = sum / 2000.0;
    println!("algebraic against integrated: mean {mean:.3}, largest {largest:.3}");
    assert!(mean > 0.01 && mean < 0.5, "{mean}");
}

#[test]
fn a_planar_linkage_gets_no_impulse_across_its_plane() {
    // Two links in the x-z plane, hinged about y: nothing moves along y.
    let k = DMat3::from_cols(DVec3::new(2.0, 0.0, 0.7), DVec3::ZERO, DVec3::new(0.7, 0.0, 1.5));
    for velocity in [DVec3::new(0.3, 0.0, -1.0), DVec3::new(-0.3, 0.0, -1.0), DVec3::new(0.0, 0.0, -1.0)] {
        for law in laws() {
            let p = law.impulse(&Impact { k, velocity, friction: 0.5, restitution: 0.4 }).unwrap();
            assert!(p.y.abs() < 1e-300, "{law:?}");
            assert!(p.z > 0.0);
        }
        // The same as the planar problem with anything on the empty axis.
        let mut full = k;
        full.y_axis.y = 1.0;
        let impact = Impact { k, velocity, friction: 0.5, restitution: 0.4 };
        let planar = integrate(&impact, &Integrated::default()).unwrap();
        let embedded = integrate(&Impact { k: full, ..impact }, &Integrated::default()).unwrap();
        assert!((planar.impulse - embedded.impulse).length() < 1e-14);
    }
}

#[test]
fn a_wedged_contact_ends() {
    // Rank one: any normal motion drags tangential motion along.
    let v = DVec3::new(1.0, 0.0, 1.0);
    let k = DMat3::from_cols(v * v.x, v * v.y, v * v.z);
    for (velocity, friction) in [
        (DVec3::new(0.0, 0.0, -1.0), 2.0),
        (DVec3::new(-1.0, 0.0, -1.0), 0.3),
        (DVec3::new(1.0, 0.0, -1.0), 3.0),
        (DVec3::new(1.0, 1.0, -1.0), 3.0),
    ] {
        let impact = Impact { k, velocity, friction, restitution: 0.5 };
        let report = integrate(&impact, &Integrated::default()).unwrap();
        assert!(report.impulse.is_finite() && report.impulse.z >= 0.0, "{report:?}");
        assert!(report.impulse.truncate().length() <= friction * report.impulse.z * (1.0 + 1e-12));
        assert!(report.velocity.z >= -1e-12, "{report:?}");
        assert!(report.work <= 1e-12);
    }
    let impact = Impact { k, velocity: DVec3::new(-1.0, 0.0, -1.0), friction: 0.3, restitution: 0.5 };
    assert_eq!(integrate(&impact, &Integrated::default()).unwrap().ending, Ending::Diverged);
}
