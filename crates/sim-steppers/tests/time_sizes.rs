//! What holds for one size holds for all: stacks of every size, flat drops at every yaw, crowds that bounce for ever.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{BodyId, Cuboid, HalfSpace};
use sim_world::{Body, Stepper, World};
use timed::{G, ball, cone, drift, earth, positions, rows as rows_of};

/// A stack of cubes on a floor, with a gap below each.
fn stack(n: usize, size: f64, gap: f64, friction: f64) -> (World, Vec<BodyId>) {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up()).friction(friction)).unwrap();
    let cube = || Body::free().shape(Cuboid::new(DVec3::splat(0.5 * size)).unwrap()).friction(friction);
    let add = |k: usize| world.add(cube().at([0.0, 0.0, (k as f64 + 0.5) * size + (k as f64 + 1.0) * gap]));
    let ids = (0..n).map(add).collect::<Result<_, _>>().unwrap();
    (world, ids)
}

#[test]
fn stacks_of_every_size_stand_for_a_minute() {
    for n in [3, 10, 20] {
        for size in [0.01, 0.1, 1.0, 10.0] {
            for (gap, friction) in
                [(0.0, 0.3), (0.0, 0.8), (1e-5, 0.3), (1e-5, 0.8), (1e-3, 0.3), (1e-3, 0.8)]
            {
                let (mut world, ids) = stack(n, size, gap, friction);
                let mut stepper = cone(|_| {});
                stepper.advance(&mut world, 2.0).unwrap();
                let settled: Vec<DVec3> = ids.iter().map(|id| world[*id].position()).collect();
                stepper.advance(&mut world, 58.0).unwrap();
                for (k, (id, before)) in ids.iter().zip(&settled).enumerate() {
                    let now = world[*id].position();
                    let sideways = (now - *before).truncate().length() / size;
                    let sunk = (k as f64 + 0.5) - now.z / size;
                    assert!(
                        sideways < 1e-6 && sunk < 1e-6,
                        "{n} of {size} m, gap {gap}, friction {friction}: number {k} moved by {sideways:e}, sank by {sunk:e}"
                    );
                }
            }
        }
    }
}

/// Rows of bricks of a length, a little apart: a wall, or a pyramid. How far the worst is from where it was put after `seconds`, as a share of that length.
fn piled(rows: usize, pyramid: bool, length: f64, seconds: f64) -> f64 {
    let mut world = earth(0.5, 0.0);
    let half = DVec3::new(0.5, 0.25, 0.25) * length;
    let row = |k: usize| match pyramid {
        true => (1.05 * half.x * k as f64, rows - k),
        false => (if k % 2 == 0 { -0.125 } else { 0.125 } * length, 10),
    };
    let list: Vec<(f64, usize)> = (0..rows).map(row).collect();
    let ids = rows_of(&mut world, half, 2.1 * half.x, &list, 0.5);
    let start = positions(&world, &ids);
    cone(|_| {}).advance(&mut world, seconds).unwrap();
    drift(&start, &positions(&world, &ids)) / length
}

/// `TUMBLESTONE_SOAK` has them stand for a minute at four sizes.
#[test]
fn walls_and_pyramids_of_thirty_rows_stand() {
    let soak = std::env::var_os("TUMBLESTONE_SOAK").is_some();
    let (sizes, seconds): (&[f64], f64) = if soak { (&[0.01, 0.1, 1.0, 10.0], 60.0) } else { (&[0.1], 5.0) };
    for length in sizes {
        for rows in [10, 20, 30] {
            for pyramid in [false, true] {
                let moved = piled(rows, pyramid, *length, seconds);
                assert!(moved < 1e-5, "{rows} rows of {length} m, pyramid {pyramid}: moved by {moved:e}");
            }
        }
    }
}

#[test]
fn a_box_dropped_flat_bounces_flat() {
    for (size, height) in [(0.02, 0.05), (1.0, 1.0), (5.0, 3.0)] {
        for yaw in [0.0, 0.3, 0.8, 1.1] {
            for e in [0.3, 0.5, 1.0] {
                let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
                world.add(Body::fixed().shape(HalfSpace::up()).friction(0.5).restitution(e)).unwrap();
                let half = DVec3::new(0.5, 0.35, 0.25) * size;
                let shape = Cuboid::new(half).unwrap();
                let free = Body::free().shape(shape).friction(0.5).restitution(e);
                let at = [0.0, 0.0, half.z + height];
                let id = world.add(free.at(at).turned(DQuat::from_rotation_z(yaw))).unwrap();
                let mut stepper = cone(|_| {});
                let fall = (2.0 * height / G).sqrt();
                stepper.advance(&mut world, fall * (1.0 + e)).unwrap();
                let (top, spin) = (world[id].position().z - half.z, world[id].velocity().angular.length());
                assert!(spin <= 1e-9, "size {size}, yaw {yaw}, e {e}: turns by {spin:e} rad/s");
                assert!((top / (e * e * height) - 1.0).abs() < 1e-3, "size {size}, yaw {yaw}, e {e}: {top}");
            }
        }
    }
}

/// Balls that fall and bounce in a closed box, without friction and loss.
#[test]
fn a_crowd_that_loses_nothing_keeps_its_energy() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    for axis in DVec3::AXES {
        for side in [-1.0, 1.0] {
            let wall = HalfSpace::new(axis * side).unwrap();
            world
                .add(Body::fixed().shape(wall).at(axis * (-2.0 * side)).friction(0.0).restitution(1.0))
                .unwrap();
        }
    }
    let mut random = SplitMix64(4);
    for k in 0..64 {
        let at = DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)) - DVec3::splat(1.5);
        world.add(ball(0.2, 0.0, 1.0).at(at).moving(random.vec3(3.0))).unwrap();
    }
    let energy = |world: &World| world.kinetic_energy() + world.potential_energy();
    let floor = world.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| b.mass()).sum::<f64>() * G * 1.8;
    let start = energy(&world);
    let mut stepper = cone(|p| p.dt = 1.0 / 240.0);
    for _ in 0..10 {
        stepper.advance(&mut world, 1.0).unwrap();
        let change = (energy(&world) - start) / (start + floor);
        assert!(change.abs() < 1e-3, "energy changes by {change:e} in {} s", world.time());
        assert!(change < 1e-6, "energy grows by {change:e} in {} s", world.time());
    }
}
