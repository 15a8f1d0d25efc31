//! Time of impact: never late, and within the tolerance.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{
    Polyhedron,
    cast::{CastError, CastParams, Motion, crossing_time, shape_cast, time_of_impact},
    compound::{Compound, CompoundBuilder},
    default_chain,
    height_field::HeightField,
    mesh::TriMesh,
    polyhedron::torus,
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DQuat, DVec2, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{Capsule, Chain, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Shape, Sphere};
use std::sync::LazyLock;

fn distance(a: &Shape, ma: &Motion, b: &Shape, mb: &Motion, t: f64) -> f64 {
    let pose = ma.pose(t).inverse_mul(&mb.pose(t));
    static CHAIN: LazyLock<Chain> = LazyLock::new(default_chain);
    CHAIN.separation(a, b, &pose, &mut PairCache::default()).unwrap().distance
}

#[test]
fn motions_do_what_they_say() {
    let mut random = seeded(1);
    for _ in 0..2000 {
        let start = Pose::new(random.vec3(2.0), random.unit_quat());
        let m = Motion {
            center: random.vec3(1.0),
            ..Motion::ballistic(start, random.vec3(3.0), random.vec3(9.0), random.vec3(5.0))
        };
        let (t, x, h) = (random.range(0.0, 2.0), random.vec3(1.0), 1e-5);
        assert!((m.pose(0.0).transform_point(x) - start.transform_point(x)).length() < 1e-13);
        // Velocity of a point by differences.
        let at = |t: f64| m.pose(t).transform_point(x);
        let arm = m.pose(t).transform_vector(x - m.center);
        let v = m.center_velocity(t) + m.spin.cross(arm);
        assert!(((at(t + h) - at(t - h)) / (2.0 * h) - v).length() < 1e-6);
        // A screw leaves its axis in place.
        let point = random.vec3(1.0);
        let s = Motion::screw(start, point, random.vec3(3.0), DVec3::ZERO);
        let on_axis = start.inverse_transform_point(point + s.spin * 0.3);
        assert!((s.pose(t).transform_point(on_axis) - point - s.spin * 0.3).length() < 1e-12);
    }
}

/// Rods, plates and lumps; the first are thin.
fn shapes() -> Vec<Shape> {
    vec![
        Capsule::new(0.004, 0.8).unwrap().into(),
        Cuboid::new(DVec3::new(0.005, 0.005, 0.9)).unwrap().into(),
        Capsule::new(0.01, 0.5).unwrap().into(),
        Cuboid::new(DVec3::new(0.5, 0.4, 0.01)).unwrap().into(),
        Sphere::new(0.3).unwrap().into(),
        Sphere::new(0.02).unwrap().into(),
        Cuboid::new(DVec3::new(0.2, 0.3, 0.4)).unwrap().into(),
        Polyhedron::tetrahedron(0.4).unwrap().into(),
        Cylinder::new(0.2, 0.3).unwrap().into(),
    ]
}

fn motion(random: &mut SplitMix64, at: DVec3) -> Motion {
    let spin = [0.0, 1.0, 10.0, 60.0][random.below(4)] * random.unit_vec3();
    let speed = [0.0, 1.0, 5.0, 30.0][random.below(4)];
    let v = speed * (-at.normalize_or_zero() + 0.5 * random.unit_vec3());
    let a = if random.below(2) == 0 { DVec3::new(0.0, 0.0, -9.81) } else { DVec3::ZERO };
    Motion::ballistic(Pose::new(at, random.unit_quat()), v, a, spin)
}

/// What must hold of an answer, by sampling and bisection of the signed distance.
fn check(a: &Shape, ma: &Motion, b: &Shape, mb: &Motion, params: &CastParams, samples: u32) -> bool {
    let found = time_of_impact(a, ma, b, mb, params).unwrap();
    let d = |t: f64| distance(a, ma, b, mb, t);
    let end = found.map_or(params.t_max, |i| i.time);
    // No contact before: a sample in overlap would be a first contact that was missed.
    for k in 0..if end > 0.0 { samples } else { 0 } {
        let t = end * f64::from(k) / f64::from(samples);
        assert!(d(t) > 0.0, "overlap at {t} before {end}: {ma:?} {mb:?} {} {}", a.name(), b.name());
    }
    let Some(impact) = found else { return false };
    // A cylinder that spins fast about its own axis right beside something has points that fly past, which the bound
    // cannot tell from approach: steps may run out, and the answer says so.
    if !impact.converged && [a, b].iter().any(|s| s.name() == "cylinder") {
        return false;
    }
    assert!(impact.converged, "{impact:?} {} {} {ma:?} {mb:?}", a.name(), b.name());
    // Within the tolerance of contact, and not a moment later: behind the first contact the shapes would overlap.
    let left = d(impact.time);
    assert!(left <= params.tolerance * (1.0 + 1e-6), "{impact:?}");
    assert!(left > 0.0 || impact.time == 0.0, "late: {left:e} {impact:?} {} {}", a.name(), b.name());
    true
}

#[test]
fn soak_impacts_are_never_late_and_within_tolerance_on_random_motions() {
    let mut random = seeded(2);
    let shapes = shapes();
    let params = CastParams::until(0.5).tolerance(1e-5);
    let total = soaked(100_000);
    let mut hits = 0_u64;
    for round in 0..total {
        let (a, b) = (&shapes[random.below(shapes.len())], &shapes[random.below(shapes.len())]);
        let at = random.vec3(1.5);
        let ma = motion(&mut random, at);
        let mb = if round % 3 == 0 {
            Motion::still(Pose::new(DVec3::ZERO, random.unit_quat()))
        } else {
            let at = random.vec3(0.5);
            motion(&mut random, at)
        };
        let samples = if round % 20 == 0 { 200 } else { 12 };
        hits += u64::from(check(a, &ma, b, &mb, &params, samples));
    }
    assert!(hits > total / 4, "{hits}");
}

// proves: MIR-102
#[test]
fn both_sides_find_the_same_event() {
    let mut random = seeded(3);
    let shapes = shapes();
    let params = CastParams::until(0.5).tolerance(1e-7);
    let mut compared = 0;
    for _ in 0..soaked(3000) {
        let (a, b) = (&shapes[random.below(shapes.len())], &shapes[random.below(shapes.len())]);
        let at = random.vec3(1.5);
        let ma = motion(&mut random, at);
        let mb = Motion::still(Pose::new(DVec3::ZERO, random.unit_quat()));
        let Some(impact) = time_of_impact(a, &ma, b, &mb, &params).unwrap() else { continue };
        let crossing = crossing_time(a, &ma, b, &mb, &impact, &params, 1e-10).unwrap();
        let Some(crossing) = crossing else { continue };
        if impact.time == 0.0 {
            continue;
        }
        // Bisection on samples right behind the impact gives the first contact.
        let (mut low, mut high) = (impact.time, crossing + 2e-10);
        assert!(impact.time <= crossing, "{impact:?} {crossing}");
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if distance(a, &ma, b, &mb, middle) > 0.0 { low = middle } else { high = middle }
        }
        assert!((crossing - low).abs() < 1e-8, "{crossing} {low}");
        // Where the shapes approach at a fair speed, the one-sided time is the same to the tolerance over that speed.
        let h = 1e-6;
        let before = impact.time - h;
        let speed = (distance(a, &ma, b, &mb, before) - impact.separation.distance) / h;
        if speed > 0.1 && before > 0.0 {
            compared += 1;
            assert!(
                crossing - impact.time < 2.0 * params.tolerance / speed + 1e-9,
                "{impact:?} {crossing} {speed}"
            );
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_spinning_rod_hits_what_a_straight_cast_misses() {
    let rod = Shape::from(Capsule::new(0.005, 1.0).unwrap());
    let ball = Shape::from(Sphere::new(0.01).unwrap());
    // The rod lies along x, turns about z in place; the ball sits on its circle a quarter turn ahead.
    let along_x = Pose::from_rotation(DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2));
    let params = CastParams::until(1.0).tolerance(1e-8);
    for (rate, angle) in [(1.0, 0.3), (30.0, 1.2), (300.0, 0.7), (3000.0, 1.5)] {
        let at = Pose::from_translation(DQuat::from_rotation_z(angle) * DVec3::X * 0.9);
        let spin = Motion::screw(along_x, DVec3::ZERO, rate * DVec3::Z, DVec3::ZERO);
        let impact = time_of_impact(&rod, &spin, &ball, &Motion::still(at), &params).unwrap().unwrap();
        // First touch: the axis of the rod is 0.015 from the ball's middle.
        let exact = (angle - sim_math::ops::asin(0.015 / 0.9)) / rate;
        assert!(impact.time <= exact && exact - impact.time < 1e-7 / rate, "{} {exact}", impact.time);
        let straight = shape_cast(&rod, &along_x, DVec3::ZERO, &ball, &at, &params).unwrap();
        assert_eq!(straight, None);
    }
}

#[test]
fn straight_casts_equal_closed_forms() {
    let params = CastParams::until(10.0).tolerance(1e-9);
    let (a, b) = (Shape::from(Sphere::new(0.5).unwrap()), Shape::from(Sphere::new(0.25).unwrap()));
    let mut random = seeded(4);
    let mut hits = 0;
    for _ in 0..5000 {
        let (p, v) = (random.unit_vec3() * random.range(1.0, 5.0), random.vec3(2.0));
        let v = v - 0.3 * p;
        let found = shape_cast(&a, &Pose::from_translation(p), v, &b, &Pose::IDENTITY, &params).unwrap();
        // |p + v t| = 0.75
        let (half, c) = (p.dot(v), p.length_squared() - 0.75 * 0.75);
        let root = half * half - v.length_squared() * c;
        let exact = (-half - root.max(0.0).sqrt()) / v.length_squared();
        if root > 1e-6 && (0.0..9.9).contains(&exact) {
            hits += 1;
            let t = found.unwrap().time;
            let closing = -(p + exact * v).normalize().dot(v);
            assert!(t <= exact + 1e-14 && (exact - t) * closing < 2e-9 + 1e-7 * (exact - t), "{t} {exact}");
        } else if root < -1e-6 || exact < 0.0 {
            assert_eq!(found, None);
        }
    }
    assert!(hits > 200, "{hits}");
    // A thrown ball on the ground: the root of a parabola.
    let ground = Shape::from(HalfSpace::up());
    let throw = Motion::ballistic(
        Pose::from_translation(DVec3::Z * 2.0),
        DVec3::new(3.0, 0.0, 4.0),
        DVec3::new(0.0, 0.0, -9.81),
        DVec3::new(1.0, 2.0, 3.0),
    );
    let impact =
        time_of_impact(&a, &throw, &ground, &Motion::still(Pose::IDENTITY), &params).unwrap().unwrap();
    let exact = (4.0 + (16.0_f64 + 2.0 * 9.81 * 1.5).sqrt()) / 9.81;
    assert!(impact.time <= exact && exact - impact.time < 1e-9, "{} {exact}", impact.time);
    assert!((impact.separation.normal - DVec3::Z).length() < 1e-12);
}

#[test]
fn casts_work_for_compounds_meshes_and_fields() {
    let mut random = seeded(5);
    let wedges = torus(1.0, 0.25, 10, 6).unwrap();
    let ring = Compound::new(wedges.into_iter().map(|w| (w.into(), Pose::IDENTITY)).collect()).unwrap();
    let field =
        HeightField::new(6, 6, DVec2::splat(0.5), (0..36).map(|k| 0.1 * f64::from(k % 5)).collect(), 1.0);
    let others: [Shape; 4] = [
        ring.into(),
        TriMesh::torus(1.0, 0.25, 10, 6).unwrap().into(),
        field.unwrap().into(),
        CompoundBuilder::chair(0.6, 1.2, 0.1).unwrap().build().unwrap().into(),
    ];
    let shapes = shapes();
    let params = CastParams::until(0.3).tolerance(1e-4);
    let mut hits = 0;
    for _ in 0..soaked(600) {
        let b = &others[random.below(4)];
        let a = &shapes[random.below(shapes.len())];
        let at = random.unit_vec3() * 2.0;
        let at = if b.name() == "height field" { at + DVec3::new(1.2, 1.2, 1.5) } else { at };
        let ma = motion(&mut random, at);
        let mb = Motion::still(Pose::IDENTITY);
        hits += u32::from(check(a, &ma, b, &mb, &params, 12));
        // The same the other way round.
        let (x, y) = (
            time_of_impact(a, &ma, b, &mb, &params).unwrap(),
            time_of_impact(b, &mb, a, &ma, &params).unwrap(),
        );
        assert_eq!(x.is_some(), y.is_some());
    }
    assert!(hits > 100, "{hits}");
    // Straight through the hole of the ring, and not.
    let bar = Shape::from(Capsule::new(0.1, 0.4).unwrap());
    for ring in &others[..2] {
        let far = CastParams::until(5.0);
        let go = |x: f64| {
            let from = Pose::from_translation(DVec3::new(x, 0.0, 3.0));
            shape_cast(&bar, &from, DVec3::NEG_Z, ring, &Pose::IDENTITY, &far).unwrap()
        };
        assert!(go(0.0).is_none() && go(1.0).is_some());
    }
}

#[test]
fn bad_casts_are_errors() {
    let ball = Shape::from(Sphere::new(0.5).unwrap());
    let still = Motion::still(Pose::IDENTITY);
    let params = CastParams::default();
    let bad = Motion { spin: DVec3::new(0.0, f64::NAN, 0.0), ..still };
    assert!(matches!(time_of_impact(&ball, &bad, &ball, &still, &params), Err(CastError::BadMotion { .. })));
    assert!(matches!(time_of_impact(&ball, &still, &ball, &bad, &params), Err(CastError::BadMotion { .. })));
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let t = time_of_impact(&ball, &still, &ball, &still, &CastParams::until(value));
        assert!(matches!(t, Err(CastError::BadParameter { what: "t_max", .. })));
        let t = time_of_impact(&ball, &still, &ball, &still, &params.tolerance(value));
        assert!(matches!(t, Err(CastError::BadParameter { what: "tolerance", .. })));
    }
    let plane = Shape::from(HalfSpace::up());
    let turning = Motion { spin: DVec3::X, ..still };
    let t = time_of_impact(&ball, &still, &plane, &turning, &params);
    assert!(matches!(t, Err(CastError::TurningUnbounded { .. })));
    assert!(time_of_impact(&plane, &still, &plane, &still, &params).is_err());
    // Overlap at the start.
    let t = time_of_impact(&ball, &still, &ball, &still, &params).unwrap().unwrap();
    assert_eq!(t.time, 0.0);
    let mesh = Shape::from(TriMesh::torus(1.0, 0.3, 8, 6).unwrap());
    assert!(time_of_impact(&mesh, &still, &mesh, &still, &params).is_err());
}
