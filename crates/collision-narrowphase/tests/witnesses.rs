//! Pairs that once had witnesses outside their bodies, or no depth.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

mod common;

use collision_narrowphase::{
    Polyhedron,
    brute_force::brute_force,
    gjk::{gjk, gjk_polyhedra},
    lin_canny::lin_canny,
    relative::Frame,
    shapes::{Frustum, Rounded},
};
use common::oracle::Oracle;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
};
use sim_traits::{FeatureId, PairCache, Shape};
use std::{f64::consts::TAU, sync::Arc};

#[test]
fn a_millimetre_body_that_touches_a_large_one_holds_its_witness() {
    let cone = Polyhedron::cone(1e-3, 0.5e-3, 7).unwrap();
    let cube = Polyhedron::cuboid(100.0 * DVec3::ONE).unwrap();
    let pose = Pose::new(
        DVec3::new(43.42492748061422, 97.67220823702291, 94.69063712856176),
        DQuat::from_xyzw(0.41951369224657065, -0.5075232779453751, 0.10398833454893558, -0.745395740958432),
    );
    let guess = DVec3::new(-0.7724559762552108, -0.5864876607252604, -0.2436062161863306);
    let found = gjk_polyhedra(&cone, &cube, &Frame::from_pose(&pose), guess).unwrap();
    Oracle::new(&cone, &cube, &pose).judge(&found).unwrap();

    let dodecahedron = Polyhedron::dodecahedron(1e-3).unwrap();
    let pyramid = Polyhedron::pyramid(100.0, 100.0).unwrap();
    let pose = Pose::new(
        DVec3::new(118.49419540081409, -11.46511682572205, 125.80748561154692),
        DQuat::from_xyzw(0.6834921532513624, 0.211210690876597, 0.422421381753194, 0.5565866480081688),
    );
    let found = gjk_polyhedra(&dodecahedron, &pyramid, &Frame::from_pose(&pose), DVec3::ZERO).unwrap();
    Oracle::new(&dodecahedron, &pyramid, &pose).judge(&found).unwrap();
}

#[test]
fn needles_end_to_end_are_apart_by_what_is_between_their_ends() {
    let needle = Polyhedron::cuboid(DVec3::new(1.0, 1e-4, 1e-4)).unwrap();
    let pose = Pose::new(
        DVec3::new(2.000000001, -0.00022163006338004422, -0.00017215350083098137),
        DQuat::from_xyzw(-0.9921990276792071, 0.0, 0.0, -0.12466390605317981),
    );
    let found = gjk_polyhedra(&needle, &needle, &Frame::from_pose(&pose), DVec3::ZERO).unwrap();
    Oracle::new(&needle, &needle, &pose).judge(&found).unwrap();
}

#[test]
fn a_foot_beside_an_end_is_not_taken_for_the_end() {
    let cone = Polyhedron::cone(1e-3, 0.5e-3, 7).unwrap();
    let blade = Polyhedron::cuboid(1e-3 * DVec3::new(1.0, 0.3, 0.1)).unwrap();
    let pose = Pose::new(
        DVec3::new(0.000640973721472152, -0.0008419203553611167, 0.0008874297506712973),
        DQuat::from_xyzw(-0.821704877564938, 0.4223203358541447, 0.23075532691395972, -0.3052844693247006),
    );
    let (found, _) = brute_force(&cone, &blade, &Frame::from_pose(&pose));
    Oracle::new(&cone, &blade, &pose).judge(&found).unwrap();
}

#[test]
fn a_sharpened_normal_keeps_to_the_points_it_joins() {
    let blade = Polyhedron::cuboid(1e-3 * DVec3::new(1.0, 0.3, 0.1)).unwrap();
    let spike = Polyhedron::cone(1e-4, 1.0, 5).unwrap();
    let pose = Pose::new(
        DVec3::new(0.0010523717400217694, -0.0003414996585338232, -0.999900002810465),
        DQuat::from_xyzw(
            -0.1564344649434397,
            0.9876883403981898,
            2.047753731168189e-5,
            6.047846823119022e-17,
        ),
    );
    let oracle = Oracle::new(&blade, &spike, &pose);
    let features = |p: &Polyhedron| -> Vec<FeatureId> {
        (0..p.vertices().len() as u32)
            .map(FeatureId::vertex)
            .chain((0..p.edges().len() as u32).map(FeatureId::edge))
            .chain((0..p.faces().len() as u32).map(FeatureId::face))
            .collect()
    };
    for fa in features(&blade) {
        for fb in features(&spike) {
            let mut cache = PairCache { features: [fa, fb], ..PairCache::default() };
            let found = lin_canny(&blade, &spike, &pose, &mut cache).unwrap();
            oracle.judge(&found.separation).unwrap_or_else(|m| panic!("from {fa:?} {fb:?}: {m} {found:?}"));
        }
    }
}

#[test]
fn a_depth_with_nine_equal_directions_is_found() {
    let cone: Shape = Polyhedron::cone(0.08027282109982738, 0.880695074074355, 9).unwrap().into();
    let frustum = Frustum::new(0.11331333885964594, 0.5283978397518966, 0.5537121449126777).unwrap();
    let rounded: Shape = Rounded::new(Arc::new(frustum), 0.1).unwrap().into();
    let pose = Pose::new(
        DVec3::new(0.0, 0.0, 0.10570131307170688),
        DQuat::from_xyzw(0.0, 0.0, 0.9620340409638464, -0.2729294854477478),
    );
    let found = gjk(&cone, &rounded, &pose, &mut PairCache::default()).unwrap();
    let reach = |angle: f64, slope: f64| {
        let n = DVec3::new(ops::cos(angle), ops::sin(angle), slope).normalize();
        let in_b = pose.inverse_transform_vector(n);
        n.dot(pose.transform_point(rounded.support(in_b).unwrap()) - cone.support(-n).unwrap())
    };
    // Around one of the nine sides. The scan misses the best direction by half a step, on arms below a metre.
    let mut least = f64::INFINITY;
    for i in 0..=40 {
        for k in -1000..1000 {
            least = least.min(reach(TAU / 360.0 * f64::from(i), 1e-4 * f64::from(k)));
        }
    }
    assert!(-found.distance <= least && -found.distance > least - 5e-5, "{} {least}", found.distance);
}
