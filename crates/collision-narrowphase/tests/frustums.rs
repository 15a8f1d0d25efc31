//! Frustums against frustums: the closed form of rounded ones, and GJK for flat-capped ones, both by certificates.
//!
//! A distance is proven by its own answer: the gap along the normal is a lower bound, and points of the two bodies are
//! an upper one. GJK is the answer for flat caps because in most pairs a rim is nearest, and the distance of a circle
//! from a cone or another circle is a root of a polynomial of degree up to eight.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, reason = "tests report")]

use collision_narrowphase::{
    gjk::gjk,
    pairs::frustum_frustum::{SphereSweep, sphere_sweeps},
    shapes::Frustum,
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{PairCache, Separation, Shape, SupportMap};
use std::{any::Any, f64::consts::FRAC_PI_2, sync::Arc};

const KINDS: [&str; 6] = ["random", "parallel", "nearly parallel", "crossing", "end-on", "in one plane"];

/// A pose of the second body, both with their axes along z and about as long as wide.
fn pose(kind: &str, random: &mut SplitMix64) -> Pose {
    let flip = DQuat::from_rotation_x(if random.below(2) == 0 { 0.0 } else { std::f64::consts::PI });
    let spin = DQuat::from_rotation_z(random.range(0.0, 6.3));
    let beside = DQuat::from_rotation_z(random.range(0.0, 6.3)) * DVec3::X * random.range(0.5, 4.0);
    match kind {
        "parallel" => Pose::new(beside + DVec3::Z * random.range(-2.5, 2.5), flip * spin),
        "nearly parallel" => {
            let angle = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9, 1e-12][random.below(7)];
            let tilt = DQuat::from_axis_angle(spin * DVec3::X, angle);
            Pose::new(beside + DVec3::Z * random.range(-2.5, 2.5), (tilt * flip).normalize())
        }
        "crossing" => {
            // At right angles, one passing before the other.
            let turn = DQuat::from_rotation_x(FRAC_PI_2) * spin;
            Pose::new(
                DVec3::new(random.range(0.5, 4.0), random.range(-0.5, 0.5), random.range(-0.5, 0.5)),
                turn,
            )
        }
        "end-on" => {
            let off = [0.0, 1e-12, 1e-6, 0.1][random.below(4)];
            Pose::new(DVec3::new(off, 0.0, random.range(1.0, 4.0)), flip * spin)
        }
        "in one plane" => {
            let turn = DQuat::from_rotation_y(random.range(0.0, 6.3));
            Pose::new(DVec3::new(random.range(-4.0, 4.0), 0.0, random.range(-4.0, 4.0)), turn)
        }
        _ => Pose::new(random.unit_vec3() * random.range(0.5, 4.0), random.unit_quat()),
    }
}

/// Gap along the normal, and how far the normal's ends are from spanning the distance.
fn certify(found: &Separation, low: f64, outside: f64, tolerance: f64) -> Result<(), String> {
    let span = (found.point_a - found.point_b - found.distance * found.normal).length();
    let unit = (found.normal.length() - 1.0).abs();
    // Written so that a NaN fails.
    if (low - found.distance).abs() <= tolerance && outside <= tolerance && span <= tolerance && unit < 1e-12
    {
        return Ok(());
    }
    Err(format!("gap along the normal {low:e}, outside {outside:e}, span {span:e}: {found:?}"))
}

/// How far a point lies outside a flat-capped frustum, at most.
fn beyond(f: &Frustum, x: DVec3) -> f64 {
    let s = ((x.z / f.half_height() + 1.0) * 0.5).clamp(0.0, 1.0);
    let radius = f.bottom() + s * (f.top() - f.bottom());
    (x.z.abs() - f.half_height()).max(x.with_z(0.0).length() - radius)
}

// proves: ARN-29
#[test]
fn soak_flat_capped_frustums_are_certified_in_all_positions() {
    let mut random = seeded(51);
    let total = soaked(100_000);
    let (mut apart, mut round, mut ends) = ([0_u64; KINDS.len()], 0_u64, 0_u64);
    let mut case = 0;
    while apart.iter().sum::<u64>() < total {
        case += 1;
        let kind = random.below(KINDS.len());
        let mut frustum = |k: usize| {
            let (r, s, h) = (random.range(0.05, 0.8), random.range(0.05, 0.8), random.range(0.1, 1.0));
            match k {
                0 => Frustum::cone(r, h).unwrap(),
                1 => Frustum::new(r, r, h).unwrap(),
                _ => Frustum::new(r, s, h).unwrap(),
            }
        };
        let (a, b) = (frustum(case % 5), frustum(case % 7));
        let pose = pose(KINDS[kind], &mut random);
        let shapes = [a, b].map(Shape::from);
        let found = gjk(&shapes[0], &shapes[1], &pose, &mut PairCache::default()).unwrap();
        if found.distance < 1e-6 {
            continue;
        }
        apart[kind] += 1;
        let n = found.normal;
        let seen = pose.inverse_transform_vector(n);
        let low = n.dot(a.support(-n) - pose.transform_point(b.support(seen)));
        let in_b = pose.inverse_transform_point(found.point_b);
        let outside = beyond(&a, found.point_a).max(beyond(&b, in_b));
        certify(&found, low, outside, 1e-9)
            .unwrap_or_else(|m| panic!("{} {a:?} {b:?} {pose:?}: {m}", KINDS[kind]));
        // Where a closed form would do: both on the sides, or along an axis.
        let sides = found.point_a.z.abs() < a.half_height() - 1e-6 && in_b.z.abs() < b.half_height() - 1e-6;
        let along = n.z.abs().max(seen.z.abs()) > 1.0 - 1e-12;
        round += u64::from(sides);
        ends += u64::from(along);
    }
    println!("{total} pairs apart: {apart:?} of {KINDS:?}; {round} side to side, {ends} along an axis");
    assert!(apart.iter().all(|n| 20 * n > total), "{apart:?}");
    assert!(2 * (round + ends) < total, "a rim is nearest in few: {round} {ends}");
}

/// The hull of two balls.
#[derive(Debug)]
struct Hull(SphereSweep);

impl SupportMap for Hull {
    fn support(&self, d: DVec3) -> DVec3 {
        let n = d.normalize_or_zero();
        let ends = [0, 1].map(|k| self.0.ends[k] + self.0.radii[k] * n);
        if n.dot(ends[0]) >= n.dot(ends[1]) { ends[0] } else { ends[1] }
    }
    fn bounding_radius(&self) -> f64 {
        (0..2).map(|k| self.0.ends[k].length() + self.0.radii[k]).fold(0.0, f64::max)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn name(&self) -> &'static str {
        "sphere sweep"
    }
}

/// How far a point lies outside the hull of two balls: the best of many balls between, then a finer search around it.
fn beyond_sweep(s: &SphereSweep, x: DVec3) -> f64 {
    let at =
        |t: f64| (x - s.ends[0].lerp(s.ends[1], t)).length() - (s.radii[0] + t * (s.radii[1] - s.radii[0]));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let (p, q) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(p) <= at(q) { high = q } else { low = p }
    }
    at(0.5 * (low + high))
}

// proves: ARN-29
#[test]
fn soak_rounded_frustums_have_a_closed_form_that_equals_gjk_and_a_certificate() {
    let mut random = seeded(52);
    let total = soaked(100_000);
    let mut apart = [0_u64; KINDS.len()];
    let (mut overlaps, mut worst) = (0_u64, 0.0_f64);
    while apart.iter().sum::<u64>() < total {
        let kind = random.below(KINDS.len());
        let mut sweep = || {
            let h = random.range(0.1, 1.0);
            let radii = [random.range(0.05, 0.8), random.range(0.05, 0.8)];
            SphereSweep { ends: [DVec3::new(0.0, 0.0, -h), DVec3::new(0.0, 0.0, h)], radii }
        };
        let (a, b) = (sweep(), sweep());
        let pose = pose(KINDS[kind], &mut random);
        let moved = SphereSweep { ends: b.ends.map(|p| pose.transform_point(p)), ..b };
        let found = sphere_sweeps(&a, &moved);
        let shapes = [Hull(a), Hull(b)].map(|h| Shape::Convex(Arc::new(h)));
        let by_gjk = || gjk(&shapes[0], &shapes[1], &pose, &mut PairCache::default());
        if found.distance < 1e-6 {
            overlaps += 1;
            if overlaps % 4 != 0 {
                continue;
            }
            // A support map that EPA does not know has a depth like any other.
            let other = by_gjk().unwrap_or_else(|e| panic!("{e} {} {a:?} {b:?} {pose:?}", KINDS[kind]));
            assert!(other.distance <= 2e-6, "{} {a:?} {moved:?} {found:?}", KINDS[kind]);
            continue;
        }
        let other = by_gjk().unwrap();
        apart[kind] += 1;
        let n = found.normal;
        let low = n.dot(Hull(a).support(-n) - Hull(moved).support(n));
        let outside = beyond_sweep(&a, found.point_a).max(beyond_sweep(&moved, found.point_b));
        certify(&found, low, outside, 1e-9)
            .unwrap_or_else(|m| panic!("{} {a:?} {moved:?}: {m}", KINDS[kind]));
        let off = (other.distance - found.distance).abs();
        assert!(off < 1e-6, "{} {a:?} {moved:?} {found:?} {other:?}", KINDS[kind]);
        worst = worst.max(off);
    }
    println!("{total} pairs apart, {overlaps} not: {apart:?} of {KINDS:?}; GJK differs by at most {worst:e}");
    assert!(apart.iter().all(|n| 20 * n > total), "{apart:?}");
}
