//! Smooth bodies by a tracked mesh and a root finder, against optima, GJK and EPA.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{
    curved::{Curved, CurvedDistance, SmoothSupport, curved_distance},
    gjk::gjk,
    shapes::Ellipsoid,
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{PairCache, SupportMap};
use std::any::Any;

fn radii(random: &mut SplitMix64, least: f64) -> DVec3 {
    DVec3::new(random.range(least, 1.0), random.range(least, 1.0), random.range(least, 1.0))
}

fn distance(a: &Curved, b: &Curved, pose: &Pose) -> CurvedDistance {
    curved_distance(a, b, pose, &mut PairCache::default()).unwrap()
}

/// Sum of two ellipsoids, the second one turned: smooth, and no ellipsoid.
#[derive(Debug)]
struct Lump(Ellipsoid, Ellipsoid, DQuat);

impl SupportMap for Lump {
    fn support(&self, d: DVec3) -> DVec3 {
        self.0.support(d) + self.2 * self.1.support(self.2.inverse() * d)
    }
    fn bounding_radius(&self) -> f64 {
        self.0.bounding_radius() + self.1.bounding_radius()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn name(&self) -> &'static str {
        "lump"
    }
}

impl SmoothSupport for Lump {
    fn support_rate(&self, d: DVec3) -> DMat3 {
        let r = DMat3::from_quat(self.2);
        self.0.support_rate(d) + r * self.1.support_rate(r.transpose() * d) * r.transpose()
    }
}

#[test]
fn the_rate_is_the_derivative_of_the_support_point() {
    let mut random = seeded(1);
    for _ in 0..1000 {
        let [e, f] = [0.2, 0.2].map(|least| Ellipsoid::new(radii(&mut random, least)).unwrap());
        let lump = Lump(e, f, random.unit_quat());
        let (n, t) = (random.unit_vec3(), random.unit_vec3());
        let (t, h) = (t - n.dot(t) * n, 1e-6);
        let at = |s: f64| lump.support((n + s * t).normalize());
        assert!(((at(h) - at(-h)) / (2.0 * h) - lump.support_rate(n) * t).length() < 1e-7);
        assert!((lump.support_rate(n) * n).length() < 1e-13);
    }
}

// proves: MIR-08
#[test]
fn ellipsoid_distance_equals_a_numeric_optimum() {
    let mut random = seeded(23);
    let (mut compared, rounds) = (0, soaked(300));
    for _ in 0..rounds {
        let (ra, rb) = (radii(&mut random, 0.2), radii(&mut random, 0.2));
        let pose = Pose::new(random.unit_vec3() * random.range(1.0, 3.0), random.unit_quat());
        // Two points on the surfaces, each pulled towards the other: projected gradient descent on the squared distance.
        // A point of the unit ball scaled by the radii is a point of the ellipsoid.
        let (mut x, mut y) = (DVec3::ZERO, DVec3::ZERO);
        let at = |x: DVec3, y: DVec3| ra * x - pose.transform_point(rb * y);
        let mut last = f64::INFINITY;
        for round in 0..200_000 {
            let gap = at(x, y);
            x = (x - 0.5 * ra * gap).clamp_length_max(1.0);
            y = (y + 0.5 * rb * pose.inverse_transform_vector(gap)).clamp_length_max(1.0);
            if round % 100 == 0 {
                let now = at(x, y).length();
                if (last - now).abs() < 1e-14 {
                    break;
                }
                last = now;
            }
        }
        let optimum = at(x, y).length();
        if optimum < 0.01 {
            continue;
        }
        compared += 1;
        let [a, b] = [ra, rb].map(|r| Curved::new(Ellipsoid::new(r).unwrap(), 1).unwrap());
        let found = distance(&a, &b, &pose);
        assert!(found.steps.is_some());
        let d = found.separation.distance;
        assert!(d <= optimum + 1e-13 && optimum - d < 1e-9, "{d} {optimum} {pose:?}");
    }
    assert!(2 * compared > rounds, "{compared}");
}

#[test]
fn soak_every_pose_agrees_with_gjk_and_epa() {
    let mut random = seeded(24);
    let (mut roots, mut shallow, mut deep) = (0_u64, 0_u64, 0_u64);
    let total = soaked(1_500);
    for round in 0..total {
        let turn = random.unit_quat();
        let mut body = |k: u64| {
            let [e, f] = [0.1, 0.1].map(|least| Ellipsoid::new(radii(&mut random, least)).unwrap());
            if k % 2 == 0 { Curved::new(e, 1).unwrap() } else { Curved::new(Lump(e, f, turn), 1).unwrap() }
        };
        let (a, b) = (body(round), body(round / 2));
        let q = random.unit_quat();
        let way = random.unit_vec3();
        // Every third pair is brought to touch, or nearly.
        let mut pose = Pose::new(way * random.range(0.2, 4.0), q);
        if round % 3 == 0 {
            let apart = Pose::new(6.0 * way, q);
            let found = distance(&a, &b, &apart).separation;
            let gap = [0.0, 1e-9, 1e-5, 1e-3, -1e-9, -1e-5, -1e-3][random.below(7)];
            pose = Pose::new(apart.translation + (found.distance - gap) * found.normal, q);
        }
        let found = distance(&a, &b, &pose);
        let other = gjk(a.shape(), b.shape(), &pose, &mut PairCache::default()).unwrap();
        let (d, e) = (found.separation.distance, other.distance);
        assert!((d - e).abs() < 1e-9, "{d} {e} {found:?} {pose:?} {:?} {:?}", a.shape(), b.shape());
        let s = found.separation;
        assert!((s.point_a - s.point_b - s.distance * s.normal).length() < 1e-9);
        roots += u64::from(found.steps.is_some() && d > 0.0);
        shallow += u64::from(found.steps.is_some() && d <= 0.0);
        deep += u64::from(found.steps.is_none());
        assert!(d <= 0.0 || found.steps.is_some(), "apart without a root: {found:?}");
    }
    assert!(3 * roots > total && 100 * shallow > total && 20 * deep > total, "{roots} {shallow} {deep}");
}

#[test]
fn a_tumbling_pair_needs_one_state_and_few_steps() {
    let [a, b] = [DVec3::new(0.5, 0.8, 1.1), DVec3::new(0.9, 0.3, 0.6)]
        .map(|r| Curved::new(Ellipsoid::new(r).unwrap(), 3).unwrap());
    assert!(a.mesh().faces().len() > 1000);
    let mut cache = PairCache::default();
    let (mut states, mut steps) = (0, 0);
    for k in 0..4000 {
        let angle = 0.01 * f64::from(k);
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), angle);
        let at = DQuat::from_rotation_z(0.3 * angle) * DVec3::new(2.2, 0.0, 0.4);
        let found = curved_distance(&a, &b, &Pose::new(at, turn), &mut cache).unwrap();
        states += found.iterations;
        steps += found.steps.unwrap();
    }
    assert!(states < 2 * 4000 && steps < 4 * 4000, "{states} {steps}");
}

#[test]
fn bad_bodies_and_poses_are_errors() {
    let ball = Ellipsoid::new(DVec3::ONE).unwrap();
    assert!(Curved::new(ball, 20).is_err());
    assert!(Curved::new(Ellipsoid::new(DVec3::new(1.0, 1.0, 1e-14)).unwrap(), 1).is_err());
    let body = Curved::new(ball, 1).unwrap();
    let nowhere = Pose::from_translation(DVec3::new(0.0, f64::NAN, 0.0));
    assert!(curved_distance(&body, &body, &nowhere, &mut PairCache::default()).is_err());
    // One inside the other.
    let found = distance(&body, &body, &Pose::from_translation(DVec3::X * 0.1));
    assert!(found.steps.is_none() && (found.separation.distance + 1.9).abs() < 1e-9, "{found:?}");
}
