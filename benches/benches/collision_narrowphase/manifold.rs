//! W2: contact manifold of two boxes that rest on each other and turn, one query per iteration.

use collision_narrowphase::{Polyhedron, VClip, pairs::cuboid_cuboid::cuboid_cuboid_manifold};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};
use sim_traits::{Cuboid, NarrowPhase, PairCache, Shape};
use std::hint::black_box;
use tumblestone_benches::Suite;

const POSES: usize = 4096;

fn poses() -> Vec<Pose> {
    let pose = |k: usize| Pose::new(DVec3::new(0.1, 0.05, 0.999), DQuat::from_rotation_z(0.01 * k as f64));
    (0..POSES).map(pose).collect()
}

fn boxes(suite: &mut Suite) {
    let poses = poses();
    let Ok(cube) = Cuboid::new(DVec3::splat(0.5)) else { return };
    let mut k = 0;
    suite.case("collision_narrowphase/manifold/cuboid").iterations(POSES as u64).run(|| {
        k = (k + 1) % POSES;
        cuboid_cuboid_manifold(black_box(&cube), black_box(&cube), &poses[k], 0.02)
    });
    let Ok(hull) = Polyhedron::cuboid(DVec3::splat(0.5)) else { return };
    let shape = Shape::from(hull);
    let (mut cache, mut out) = (PairCache::default(), Vec::with_capacity(1));
    suite.case("collision_narrowphase/manifold/polyhedron").iterations(POSES as u64).run(|| {
        k = (k + 1) % POSES;
        out.clear();
        VClip.manifolds(black_box(&shape), black_box(&shape), &poses[k], 0.02, &mut cache, &mut out)
    });
}

tumblestone_benches::main!(boxes);
