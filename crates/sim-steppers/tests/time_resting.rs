//! Stacks and walls at rest, overlaps, order of stages, same bits.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use collision_broadphase::SweepAndPrune;
use sim_math::{assert_close, glam::DVec3, testkit::SplitMix64};
use sim_steppers::{Parts, TimeStepping, time_stepping::Stage};
use sim_traits::Executor;
use sim_world::{Stepper, World};
use timed::{ball, brick, cone, drift, earth, laws, positions, rows};

/// After two seconds to settle, nothing moves by a millionth of a metre for the rest of a minute.
fn stands_still(half: DVec3, pitch: f64, list: &[(f64, usize)]) {
    let mut world = earth(0.5, 0.0);
    let ids = rows(&mut world, half, pitch, list, 0.5);
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 2.0).unwrap();
    let settled = positions(&world, &ids);
    let report = stepper.advance(&mut world, 58.0).unwrap();
    let moved = drift(&settled, &positions(&world, &ids));
    assert!(moved < 1e-6 * 2.0 * half.min_element(), "drifts by {moved:e} m in 58 s: {:?}", report.solver);
    let speed = ids.iter().map(|id| world[*id].velocity().linear.length()).fold(0.0, f64::max);
    assert!(speed < 1e-8, "residual velocity {speed:e} m/s");
    assert!(report.solver.deepest < 1e-4, "{:?}", report.solver);
    assert!(report.solver.imbalance < 1e-6 * 9.81, "{:?}", report.solver);
}

#[test]
fn a_stack_of_ten_stands_still() {
    stands_still(DVec3::splat(0.5), 1.05, &[(0.0, 1); 10]);
}

// proves: FON-98
#[test]
fn a_wall_of_34_bricks_stands_still() {
    // Quarter bond: rows of 5, an eighth to the left and to the right, and 4 on top.
    let list: Vec<(f64, usize)> =
        (0..7).map(|k| (if k % 2 == 0 { 0.125 } else { -0.125 }, if k == 6 { 4 } else { 5 })).collect();
    stands_still(DVec3::new(0.5, 0.25, 0.25), 1.01, &list);
}

#[test]
fn a_pyramid_of_twenty_rows_stands_still() {
    let list: Vec<(f64, usize)> = (0..20).map(|k| (0.525 * k as f64, 20 - k)).collect();
    stands_still(DVec3::splat(0.5), 1.05, &list);
}

#[test]
fn overlaps_are_opened_by_their_depth() {
    for depth in [1e-4, 0.01, 0.05] {
        let mut world = earth(0.5, 0.0);
        let id = world.add(brick(0.5, 0.4, 0.3, 0.5).at([0.0, 0.0, 0.3 - depth])).unwrap();
        let mut stepper = cone(|_| {});
        let report = stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        assert_close!(world[id].position().z, 0.3, abs = 2e-7);
        assert!(world[id].velocity().linear.length() < 1e-9, "velocities are left alone");
        let lifted = world[id].mass() * 9.81 * depth;
        assert_close!(report.solver.lifted, lifted, rel = 1e-2);
    }
}

#[test]
fn large_overlaps_open_in_steps() {
    let mut world = earth(0.5, 0.0);
    let a = world.add(brick(0.5, 0.5, 0.5, 0.5).at([0.0, 0.0, 0.2])).unwrap();
    let b = world.add(brick(0.5, 0.5, 0.5, 0.5).at([0.1, 0.05, 0.6])).unwrap();
    let mut stepper = cone(|_| {});
    let mut speed = 0.0_f64;
    for _ in 0..120 {
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        for id in [a, b] {
            speed = speed.max(world[id].velocity().linear.length());
        }
    }
    let report = stepper.advance(&mut world, 0.5).unwrap();
    assert!(report.solver.deepest < 1e-5, "{:?}", report.solver);
    assert!(speed < 5.0, "nothing is shot away: {speed} m/s");
}

// proves: CLI-61
#[test]
fn stages_come_in_order() {
    let run = || {
        let mut world = earth(0.5, 0.0);
        world.add(brick(0.5, 0.5, 0.5, 0.5).at([0.0, 0.0, 0.5])).unwrap();
        let mut stepper = cone(|_| {});
        stepper.advance(&mut world, 0.1).unwrap();
        stepper.record_stages();
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        (stepper.take_trace(), world)
    };
    let (trace, first) = run();
    use Stage::{Cut, Detect, Forces, Impacts, Move, Read, Rows, Solve};
    assert_eq!(trace, [Read, Impacts, Cut, Forces, Rows, Solve, Move, Detect]);
    let (_, second) = run();
    for ((_, x), (_, y)) in first.bodies().zip(second.bodies()) {
        assert_eq!(x.state(), y.state());
    }
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

fn heap() -> World {
    let mut random = SplitMix64(8);
    let mut world = earth(0.5, 0.0);
    for k in 0..20 {
        let at = DVec3::new(f64::from(k % 2) * 0.5, f64::from(k / 2 % 2) * 0.5, 0.6 + 0.7 * f64::from(k / 4))
            + random.vec3(0.05);
        let body = if k % 3 == 0 { ball(0.25, 0.5, 0.3) } else { brick(0.3, 0.2, 0.2, 0.5).restitution(0.2) };
        world.add(body.at(at).turned(random.unit_quat())).unwrap();
    }
    world
}

#[test]
fn threads_and_broad_phases_do_not_change_a_bit() {
    let mut reference = heap();
    cone(|_| {}).advance(&mut reference, 0.8).unwrap();
    let parts = Parts::default().broad_phase(SweepAndPrune::default()).executor(Two);
    let mut other = heap();
    TimeStepping::new(parts).advance(&mut other, 0.8).unwrap();
    for ((_, x), (_, y)) in reference.bodies().zip(other.bodies()) {
        assert_eq!(x.state(), y.state());
    }
}

#[test]
fn a_heap_settles_under_every_law_to_the_same_height() {
    // Balls dropped on the floor one beside the other: a unique answer, whatever the law.
    for (name, mut stepper) in laws(1.0 / 60.0) {
        let mut world = earth(0.5, 0.0);
        let low = world.add(ball(0.5, 0.5, 0.0).at([0.0, 0.0, 0.7])).unwrap();
        let tilted = world.add(brick(0.5, 0.4, 0.3, 0.5).at([3.0, 0.0, 0.8])).unwrap();
        stepper.advance(&mut world, 1.5).unwrap();
        assert_close!(world[low].position().z, 0.5, abs = 1e-6);
        assert_close!(world[tilted].position().z, 0.3, abs = 1e-6);
        assert!(world.kinetic_energy() < 1e-12, "{name}");
    }
}

#[test]
fn substeps_are_shorter_steps() {
    let run = |dt: f64, substeps: u32| {
        let mut world = heap();
        let mut stepper = cone(|p| (p.dt, p.substeps) = (dt, substeps));
        let report = stepper.advance(&mut world, 0.5).unwrap();
        (
            report.solver.steps - report.solver.cuts,
            positions(&world, &world.bodies().map(|(id, _)| id).collect::<Vec<_>>()),
        )
    };
    let (steps, places) = run(1.0 / 60.0, 4);
    assert_eq!(steps, 120);
    let (same, others) = run(1.0 / 240.0, 1);
    assert_eq!(same, 120);
    assert_close!(drift(&places, &others), 0.0, abs = 0.0);
}

#[test]
fn a_pyramid_stands_from_its_first_step_on() {
    let mut world = earth(0.5, 0.0);
    let list: Vec<(f64, usize)> = (0..20).map(|k| (0.525 * k as f64, 20 - k)).collect();
    let ids = rows(&mut world, DVec3::splat(0.5), 1.05, &list, 0.5);
    let start = positions(&world, &ids);
    let mut stepper = cone(|_| {});
    let report = stepper.advance(&mut world, 0.25).unwrap();
    let moved = drift(&start, &positions(&world, &ids));
    assert!(moved < 1e-8, "moves by {moved:e} m: {:?}", report.solver);
    assert!(report.solver.deepest < 1e-4 && report.solver.imbalance < 1e-5, "{:?}", report.solver);
}

#[test]
fn pinched_and_wedged_bodies_get_a_finite_answer_or_an_error() {
    use sim_math::{Pose, spatial::Motion};
    use sim_traits::Cuboid;
    use sim_world::{Body, Screw};
    // Two walls close on a ball and a box until there is no room for them.
    let mut world = earth(0.5, 0.5);
    for side in [-1.0, 1.0] {
        let start = Pose::from_translation(DVec3::new(side, 0.0, 0.5));
        let velocity = Motion::new(DVec3::ZERO, DVec3::new(-0.5 * side, 0.0, 0.0));
        let wall = Cuboid::new(DVec3::new(0.1, 1.0, 0.5)).unwrap();
        world.add(Body::scripted(Screw { start, velocity }).shape(wall)).unwrap();
    }
    let a = world.add(ball(0.3, 0.5, 0.5).at([0.0, 0.0, 0.3])).unwrap();
    let b = world.add(brick(0.3, 0.3, 0.3, 0.5).at([0.0, 0.7, 0.3])).unwrap();
    let mut stepper = cone(|_| {});
    for _ in 0..120 {
        match stepper.advance(&mut world, 1.0 / 60.0) {
            Ok(_) => {}
            Err(error) => {
                assert!(error.to_string().contains("body"), "{error}");
                break;
            }
        }
        for id in [a, b] {
            let body = &world[id];
            assert!(
                body.position().is_finite() && body.velocity().linear.length() < 1e3,
                "{:?}",
                body.velocity()
            );
        }
    }
}

#[test]
fn a_held_pile_falls_when_its_support_goes() {
    let mut world = earth(0.5, 0.0);
    let table = world.add(sim_world::Body::fixed().shape(slab()).at([0.0, 0.0, 2.0])).unwrap();
    let low = world.add(brick(0.3, 0.3, 0.3, 0.5).at([0.0, 0.0, 2.4])).unwrap();
    let top = world.add(brick(0.3, 0.3, 0.3, 0.5).at([0.0, 0.0, 3.0])).unwrap();
    let apart = world.add(brick(0.3, 0.3, 0.3, 0.5).at([5.0, 0.0, 0.3])).unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 0.5).unwrap();
    let before = [low, top, apart].map(|id| *world[id].state());
    // Nothing is solved and nothing looked for: held to the bit, with the weight on the table.
    let report = stepper.advance(&mut world, 1.0).unwrap();
    assert_eq!((report.solver.islands, report.solver.iterations, report.distances), (0, 0, 0));
    assert_eq!(before, [low, top, apart].map(|id| *world[id].state()));
    let weight = 9.81 * (world[low].mass() + world[top].mass());
    let on_table = world.contacts().iter().filter(|c| c.a.index() == 1 || c.b.index() == 1);
    assert_close!(on_table.map(|c| c.impulse.z.abs()).sum::<f64>(), weight, rel = 1e-5);
    assert!(report.momentum.remainder().linear.length() < 1e-5 * weight);
    assert!(report.energy.remainder().abs() < 1e-9);
    // A push is felt, gently, by the whole pile and by no other.
    world.set_velocity(top, sim_math::spatial::Motion::new(DVec3::ZERO, DVec3::X)).unwrap();
    stepper.advance(&mut world, 0.5).unwrap();
    assert!(world[top].position().x > 0.05, "{}", world[top].position());
    world.remove(table).unwrap();
    stepper.advance(&mut world, 0.3).unwrap();
    assert!(world[low].position().z < 2.0 && world[top].velocity().linear.z < -2.0);
    assert!((world[apart].center() - before[2].pose().translation).length() < 1e-12);
}

fn slab() -> sim_traits::Shape {
    sim_traits::Cuboid::new(DVec3::new(1.0, 1.0, 0.1)).unwrap().into()
}
