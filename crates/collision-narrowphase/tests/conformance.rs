//! Every adapter passes the conformance kit of the seam.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

use collision_narrowphase::{
    Analytic, BruteForce, Gjk, LinCanny, Polyhedron, VClip, default_chain,
    gjk::gjk_polyhedra,
    lin_canny::lin_canny,
    relative::Frame,
    shapes::{Ellipsoid, Frustum, Rounded},
};
use sim_math::{Pose, glam::DVec3, testkit::SplitMix64};
use sim_traits::{
    Capsule, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Shape, Sphere,
    testkit::narrow_phase::{Plan, conformance},
};
use std::sync::Arc;

fn polyhedra() -> Vec<Shape> {
    vec![
        Polyhedron::cuboid(DVec3::new(0.5, 0.8, 0.3)).unwrap().into(),
        Polyhedron::tetrahedron(0.7).unwrap().into(),
        Polyhedron::tube(0.4, 0.6, 9).unwrap().into(),
        Polyhedron::random(20, 3).unwrap().into(),
    ]
}

fn primitives() -> Vec<Shape> {
    vec![
        Sphere::new(0.5).unwrap().into(),
        Capsule::new(0.3, 0.6).unwrap().into(),
        Cuboid::new(DVec3::new(0.4, 0.7, 0.5)).unwrap().into(),
        Cuboid::new(DVec3::new(1.0, 0.1, 0.5)).unwrap().into(),
        HalfSpace::up().into(),
    ]
}

fn smooth() -> Vec<Shape> {
    vec![
        Cylinder::new(0.5, 0.4).unwrap().into(),
        Ellipsoid::new(DVec3::new(0.3, 0.6, 0.9)).unwrap().into(),
        Frustum::new(0.6, 0.2, 0.5).unwrap().into(),
        Frustum::cone(0.5, 0.5).unwrap().into(),
    ]
}

fn run(narrow: &dyn NarrowPhase, shapes: Vec<Shape>, tolerance: f64) {
    conformance(narrow, &Plan { shapes, poses: 120, tolerance, seed: 5 }).unwrap();
}

#[test]
fn vclip_conforms() {
    run(&VClip, polyhedra(), 1e-10);
}

#[test]
fn lin_canny_conforms() {
    run(&LinCanny, polyhedra(), 1e-10);
}

#[test]
fn brute_force_conforms() {
    run(&BruteForce, polyhedra(), 1e-10);
}

#[test]
fn gjk_conforms_on_polyhedra_and_rounded_shapes() {
    let mut shapes = polyhedra();
    shapes.extend(primitives());
    let cube = Arc::new(Polyhedron::cuboid(DVec3::splat(0.4)).unwrap());
    shapes.push(Rounded::new(cube, 0.1).unwrap().into());
    run(&Gjk, shapes, 1e-9);
}

#[test]
fn gjk_conforms_on_smooth_shapes() {
    let mut shapes = smooth();
    shapes.push(Polyhedron::random(12, 5).unwrap().into());
    run(&Gjk, shapes, 1e-9);
}

#[test]
fn closed_forms_conform() {
    let mut shapes = primitives();
    shapes.extend(smooth());
    shapes.extend(polyhedra());
    run(&Analytic, shapes, 1e-9);
}

#[test]
fn the_default_chain_conforms_on_everything() {
    let mut shapes = primitives();
    shapes.extend(smooth());
    shapes.push(polyhedra().remove(3));
    conformance(&default_chain(), &Plan { shapes, poses: 30, tolerance: 1e-9, seed: 6 }).unwrap();
}

#[test]
fn ellipsoid_distance_equals_a_numeric_optimum() {
    let mut random = SplitMix64(23);
    let radii = |r: &mut SplitMix64| DVec3::new(r.range(0.2, 1.0), r.range(0.2, 1.0), r.range(0.2, 1.0));
    let mut compared = 0;
    for _ in 0..300 {
        let (ra, rb) = (radii(&mut random), radii(&mut random));
        let pose = Pose::new(random.unit_vec3() * random.range(1.0, 3.0), random.unit_quat());
        // The distance is the greatest gap n·t − |diag(ra) n| − |diag(rb) Rᵀn| over unit n: gradient ascent.
        let gap = |n: DVec3| {
            n.dot(pose.translation) - (ra * n).length() - (rb * pose.inverse_transform_vector(n)).length()
        };
        let mut n = pose.translation.normalize();
        let mut rate = 0.5;
        for _ in 0..20_000 {
            let local = pose.inverse_transform_vector(n);
            let slope = pose.translation
                - ra * ra * n / (ra * n).length()
                - pose.transform_vector(rb * rb * local / (rb * local).length());
            let next = (n + rate * (slope - n.dot(slope) * n)).normalize();
            if gap(next) > gap(n) {
                (n, rate) = (next, 1.1 * rate);
            } else {
                rate *= 0.7;
            }
            if rate < 1e-14 {
                break;
            }
        }
        if gap(n) < 0.01 {
            continue;
        }
        compared += 1;
        let shapes = [ra, rb].map(|r| Shape::from(Ellipsoid::new(r).unwrap()));
        let found = Gjk.separation(&shapes[0], &shapes[1], &pose, &mut PairCache::default()).unwrap();
        assert!((found.distance - gap(n)).abs() < 1e-9, "{} {}", found.distance, gap(n));
    }
    assert!(compared > 150, "{compared}");
}

// proves: MIR-15
#[test]
fn lin_canny_equals_gjk_on_a_million_disjoint_poses() {
    let shapes = [
        Polyhedron::cuboid(DVec3::new(0.5, 0.8, 0.3)).unwrap(),
        Polyhedron::tetrahedron(0.7).unwrap(),
        Polyhedron::random(12, 3).unwrap(),
    ];
    let mut random = SplitMix64(29);
    let (mut compared, mut fallbacks) = (0_u32, 0);
    while compared < 1_000_000 {
        let (a, b) = (&shapes[random.below(3)], &shapes[random.below(3)]);
        let pose = Pose::new(random.unit_vec3() * random.range(1.2, 3.0), random.unit_quat());
        let Ok(found) = lin_canny(a, b, &pose, &mut PairCache::default()) else { continue };
        compared += 1;
        fallbacks += found.remedies;
        let other = gjk_polyhedra(a, b, &Frame::from_pose(&pose), DVec3::ZERO).unwrap();
        assert!((found.separation.distance - other.distance).abs() < 1e-9, "{pose:?}");
    }
    assert!(fallbacks < 100, "{fallbacks} walks had to be replaced by a search");
}
