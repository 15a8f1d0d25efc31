//! Every adapter passes the conformance kit of the seam.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

use collision_narrowphase::{
    Analytic, BruteForce, Gjk, LinCanny, Polyhedron, VClip, default_chain,
    shapes::{Ellipsoid, Frustum, Rounded},
};
use sim_math::glam::DVec3;
use sim_traits::{
    Capsule, Cuboid, Cylinder, HalfSpace, Shape, Sphere,
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

fn run(narrow: &dyn sim_traits::NarrowPhase, shapes: Vec<Shape>, tolerance: f64) {
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
    run(&Gjk, shapes, 2e-6);
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
    conformance(&default_chain(), &Plan { shapes, poses: 30, tolerance: 2e-6, seed: 6 }).unwrap();
}
