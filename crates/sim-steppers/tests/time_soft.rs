//! Soft contacts: piles, bounces, scripts, accounts, snapshots, threads.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{Pose, assert_close, glam::DVec3, spatial::Motion, testkit::SplitMix64};
use sim_traits::{Capsule, Cuboid, Executor, Shape};
use sim_world::{Body, EventKind, Screw, Stepper, World};
use timed::{G, ball, brick, drift, earth, energy, positions, rows, slope, soft, soft_on};

#[test]
fn a_pyramid_of_20_rows_stands() {
    let mut world = earth(0.5, 0.0);
    let list: Vec<(f64, usize)> = (0..20).map(|k| (0.525 * k as f64, 20 - k)).collect();
    let ids = rows(&mut world, DVec3::splat(0.5), 1.05, &list, 0.5);
    let start = positions(&world, &ids);
    let mut stepper = soft(|_| {});
    stepper.advance(&mut world, 4.0).unwrap();
    let report = stepper.advance(&mut world, 1.0).unwrap();
    let moved = drift(&start, &positions(&world, &ids));
    let speed = ids.iter().map(|id| world[*id].velocity().linear.length()).fold(0.0, f64::max);
    assert!(report.solver.deepest < 4e-3, "{:?}", report.solver);
    // The top row sinks by the depth of all rows below.
    assert!(moved < 0.06 && speed < 2e-3, "{moved} {speed}");
    // At rest hardly anything is looked for again.
    assert!(report.distances < 60 * 400 / 20, "{}", report.distances);
}

#[test]
fn a_block_and_a_ball_rest_and_are_carried() {
    let mut world = earth(0.5, 0.0);
    let block = world.add(brick(0.5, 0.5, 0.1, 0.5).at([0.0, 0.0, 0.1])).unwrap();
    let round = world.add(ball(0.2, 0.5, 0.0).at([4.0, 0.0, 0.2])).unwrap();
    let rod: Shape = Capsule::new(0.1, 0.3).unwrap().into();
    let rod = world.add(Body::free().shape(rod).at([2.0, 0.0, 0.1]).turned(turned_y())).unwrap();
    let mut stepper = soft(|_| {});
    stepper.advance(&mut world, 2.0).unwrap();
    let report = stepper.advance(&mut world, 1.0).unwrap();
    assert_close!(world[block].position().z, 0.1, abs = 1e-3);
    assert_close!(world[round].position().z, 0.2, abs = 1e-3);
    assert_close!(world[rod].position().z, 0.1, abs = 1e-3);
    // A contact that is kept does not lag behind a ball that turns: nothing begins to roll.
    assert!(world.kinetic_energy() < 1e-8, "{report:?}");
    let on_floor = world.contacts().iter().filter(|c| c.a.index() == 0 || c.b.index() == 0);
    let carried: f64 = on_floor.map(|c| c.impulse.z.abs()).sum();
    let weight = [block, round, rod].iter().map(|id| world[*id].mass() * G).sum();
    assert_close!(carried, weight, rel = 1e-3);
    let momentum = report.momentum.remainder();
    assert!(momentum.linear.length() < 1e-9 * weight, "{momentum:?}");
}

fn turned_y() -> sim_math::glam::DQuat {
    sim_math::glam::DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2)
}

#[test]
fn a_ball_bounces_by_its_restitution_and_is_listed() {
    for e in [0.0, 0.5, 0.9] {
        let mut world = earth(0.5, e);
        let id = world.add(ball(0.1, 0.5, e).at([0.0, 0.0, 1.1])).unwrap();
        let mut stepper = soft(|p| p.dt = 1.0 / 960.0);
        stepper.advance(&mut world, 0.4).unwrap();
        let report = stepper.advance(&mut world, 0.1).unwrap();
        assert_eq!(report.collisions, 1);
        let hit = |kind: &EventKind| matches!(kind, EventKind::Collision(c) if c.approach > 4.0);
        assert!(world.events().iter().any(|event| hit(&event.kind)), "{:?}", world.events());
        // Speed after the hit at √(2/g), less what gravity takes until now; the step in which it hits is of first order.
        let (hit, speed) = ((2.0 / G).sqrt(), (2.0 * G).sqrt() * e);
        let expected = if e > 0.0 { speed - G * (0.5 - hit) } else { 0.0 };
        assert_close!(world[id].velocity().linear.z, expected, abs = 0.03);
        assert!(energy(&world) < world[id].mass() * G * 1.1 * (1.0 + 1e-9));
    }
}

#[test]
fn a_box_sticks_and_slides_on_a_slope() {
    // Below the threshold it stays, above it slides as Coulomb says.
    let (mut world, id, _) = slope(0.45, 0.3, 0.5);
    let mut stepper = soft(|_| {});
    stepper.advance(&mut world, 1.0).unwrap();
    let before = world[id].position();
    stepper.advance(&mut world, 5.0).unwrap();
    let crept = (world[id].position() - before).length();
    assert!(crept < 1e-3, "creeps by {crept} m in 5 s");
    let (mut world, id, down) = slope(1.0, 0.3, 0.5);
    soft(|_| {}).advance(&mut world, 1.0).unwrap();
    assert_close!(world[id].velocity().linear.dot(down), G * 0.5_f64.sqrt() * 0.5, rel = 1e-2);
}

#[test]
fn a_moving_belt_carries_and_does_work() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let velocity = Motion::new(DVec3::ZERO, DVec3::X);
    let belt = Cuboid::new(DVec3::new(20.0, 1.0, 0.1)).unwrap();
    world.add(Body::scripted(Screw { start: Pose::IDENTITY, velocity }).shape(belt).friction(0.5)).unwrap();
    let id = world.add(brick(0.2, 0.2, 0.2, 0.5).at([0.0, 0.0, 0.3])).unwrap();
    let report = soft(|_| {}).advance(&mut world, 1.0).unwrap();
    assert_close!(world[id].velocity().linear.x, 1.0, abs = 1e-3);
    // Friction takes as much as the box gains.
    let gained = 0.5 * world[id].mass();
    assert_close!(report.energy.scripted, 2.0 * gained, rel = 0.1);
    assert_close!(report.energy.friction, -gained, rel = 0.1);
}

#[test]
fn a_fast_ball_does_not_pass_a_thin_plate() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let plate = Cuboid::new(DVec3::new(1.0, 1.0, 0.001)).unwrap();
    world.add(Body::fixed().shape(plate)).unwrap();
    let id = world.add(ball(0.01, 0.5, 0.0).at([0.0, 0.0, 5.0]).moving([0.0, 0.0, -400.0])).unwrap();
    soft(|_| {}).advance(&mut world, 0.1).unwrap();
    assert!(world[id].position().z > 0.0, "{}", world[id].position());
}

fn heap() -> World {
    let mut random = SplitMix64(8);
    let mut world = earth(0.5, 0.2);
    for k in 0..60 {
        let column = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), 0.6 + f64::from(k / 9)) * 0.85;
        let at = column + random.vec3(0.05);
        let body = match k % 3 {
            0 => ball(0.25, 0.5, 0.3),
            1 => Body::free().shape(Capsule::new(0.15, 0.2).unwrap()),
            _ => brick(0.3, 0.2, 0.2, 0.5).restitution(0.2),
        };
        world.add(body.at(at).turned(random.unit_quat())).unwrap();
    }
    world
}

/// Four pieces of work on two threads, the second half first.
#[derive(Debug)]
struct Two;

impl Executor for Two {
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            scope.spawn(|| (n / 2..n).for_each(work));
            (0..n / 2).for_each(work);
        });
    }

    fn parallelism(&self) -> usize {
        4
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let (mut one, mut two) = (heap(), heap());
    let report = soft(|_| {}).advance(&mut one, 1.5).unwrap();
    soft_on(Two, |_| {}).advance(&mut two, 1.5).unwrap();
    assert!(report.solver.largest > 60, "{report:?}");
    for ((_, x), (_, y)) in one.bodies().zip(two.bodies()) {
        assert_eq!(x.state(), y.state());
    }
}

#[test]
fn a_plate_on_balls_sinks_in_as_its_springs_say() {
    let mut world = earth(0.5, 0.0);
    let corners = [(-0.8, -0.8), (-0.8, 0.8), (0.8, -0.8), (0.8, 0.8)];
    let balls = corners.map(|(x, y)| world.add(ball(0.2, 0.5, 0.0).at([x, y, 0.2])).unwrap());
    let plate = world.add(brick(1.0, 1.0, 0.1, 0.5).at([0.0, 0.0, 0.5])).unwrap();
    let mut stepper = soft(|_| {});
    stepper.advance(&mut world, 3.0).unwrap();
    let report = stepper.advance(&mut world, 1.0 / 60.0).unwrap();
    // A quarter of the plate's weight on a point between two bodies that move. Its effective mass is that of the ball in parallel with that of the plate
    // at its corner, 1/(1/M + 2 a²/I) with I = M/3 (1 + 0.01). The frequency of a point is twice 0.65 of a quarter of the substep rate, and it sinks
    // by F/(m ω²).
    let (ball_mass, plate_mass) = (world[balls[0]].mass(), world[plate].mass());
    let corner = 1.0 / plate_mass + 2.0 * 0.64 / (plate_mass / 3.0 * 1.01);
    let mass = 1.0 / (1.0 / ball_mass + corner);
    let rate = std::f64::consts::TAU * 2.0 * 0.65 * 0.25 * 60.0 * report.solver.iterations as f64;
    let expected = 0.25 * plate_mass * G / (mass * rate * rate);
    for id in balls {
        let depth = world[id].position().z + 0.2 + 0.1 - world[plate].position().z;
        assert_close!(depth, expected, rel = 0.02);
    }
}

/// Balls and boxes close together: more contacts than one thread is left to do.
fn pit() -> World {
    let mut random = SplitMix64(9);
    let mut world = earth(0.5, 0.2);
    for k in 0..4000 {
        let at = DVec3::new(f64::from(k % 20), f64::from(k / 20 % 20), 0.5 + f64::from(k / 400)) * 0.4;
        let body = if k % 5 == 0 { brick(0.18, 0.19, 0.2, 0.5) } else { ball(0.2, 0.5, 0.1) };
        world.add(body.at(at + random.vec3(1e-3)).moving(random.vec3(0.2))).unwrap();
    }
    world
}

#[test]
fn a_pile_that_threads_share_has_the_bits_of_one_thread() {
    let (mut one, mut two) = (pit(), pit());
    let report = soft(|_| {}).advance(&mut one, 0.1).unwrap();
    soft_on(Two, |_| {}).advance(&mut two, 0.1).unwrap();
    assert!(report.solver.largest > 2 * 4096, "{report:?}");
    for ((_, x), (_, y)) in one.bodies().zip(two.bodies()) {
        assert_eq!(x.state(), y.state());
    }
}

#[test]
fn energy_does_not_grow_in_a_heap() {
    let mut world = heap();
    let mut stepper = soft(|_| {});
    let mut before = energy(&world);
    for _ in 0..40 {
        let report = stepper.advance(&mut world, 0.1).unwrap();
        let now = energy(&world);
        assert!(now < before * (1.0 + 2e-3), "{before} to {now}: {report:?}");
        before = now;
    }
    assert!(world.bodies().all(|(_, b)| !b.is_free() || b.center().z > 0.1));
}

#[cfg(feature = "serde")]
#[test]
fn a_restored_run_continues_to_the_bit() {
    let registry = sim_world::Registry::default();
    let mut world = heap();
    let mut stepper = soft(|_| {});
    stepper.advance(&mut world, 1.0).unwrap();
    let (saved, tables) = (world.snapshot(&registry).unwrap(), stepper.save(&world).unwrap());
    stepper.advance(&mut world, 0.5).unwrap();
    let mut restored = World::restore(&saved, &registry).unwrap();
    let mut fresh = soft(|_| {});
    fresh.load(&restored, &tables).unwrap();
    fresh.advance(&mut restored, 0.5).unwrap();
    for ((_, x), (_, y)) in world.bodies().zip(restored.bodies()) {
        assert_eq!(x.state(), y.state());
    }
    assert_eq!(world.contacts(), restored.contacts());
    for cut in [1, 10, tables.len() / 2, tables.len() - 1] {
        assert!(soft(|_| {}).load(&restored, &tables[..cut]).is_err(), "{cut} bytes");
    }
    assert!(soft(|p| p.recycle = Some(0.0)).load(&restored, &tables).is_err(), "other parameters");
}

#[test]
fn recycled_contacts_are_those_found_anew() {
    // A box that slides and turns slowly on the floor: with and without recycling it comes to the same place.
    let run = |recycle: f64| {
        let mut world = earth(0.05, 0.0);
        let body = brick(0.3, 0.2, 0.2, 0.05).at([0.0, 0.0, 0.2]);
        let id = world.add(body.moving([0.1, 0.05, 0.0]).spinning([0.0, 0.0, 0.2])).unwrap();
        let mut stepper = soft(|p| p.recycle = Some(recycle));
        let report = stepper.advance(&mut world, 0.5).unwrap();
        (*world[id].state(), report.distances)
    };
    let ((with, few), (without, many)) = (run(2e-3), run(0.0));
    assert!(few < many, "{few} looks of {many}");
    assert!((with.pose().translation - without.pose().translation).length() < 1e-4);
    assert!((with.velocity.angular - without.velocity.angular).length() < 1e-3);
}
