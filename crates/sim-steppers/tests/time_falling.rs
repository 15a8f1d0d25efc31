//! Heaps in violent motion: what the contact law spends on them, what it leaves, and that they come to rest.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_steppers::TimeStepping;
use sim_traits::{Capsule, Cuboid, Shape};
use sim_world::{Body, SolverReport, Stepper, World};
use timed::{ball, brick, cone, earth, energy};

const STEP: f64 = 1.0 / 60.0;

/// Advances and adds the reports up; energy must not grow by more than what lifting overlapping bodies and the residuals explain.
fn run(world: &mut World, stepper: &mut TimeStepping, steps: u32) -> SolverReport {
    let mut sum = SolverReport::default();
    let mut before = energy(world);
    for step in 0..steps {
        let report = stepper.advance(world, STEP).unwrap();
        let now = energy(world);
        let allowed = report.solver.lifted.max(0.0) + report.energy.remainder().max(0.0) + 1e-6 * before;
        assert!(now <= before + allowed, "step {step}: energy {before} to {now}: {:?}", report.solver);
        before = now;
        sum = sum.then(&report.solver);
    }
    sum
}

/// So many dominoes of workload W3, the first about to fall.
fn dominoes(count: usize) -> World {
    let mut world = earth(0.5, 0.0);
    for k in 0..count {
        let domino = brick(0.05, 0.25, 0.5, 0.5);
        let at = DVec3::new(0.5 * k as f64, 0.0, 0.5);
        // About its front edge.
        let turn = DQuat::from_rotation_y(if k == 0 { 0.2 } else { 0.0 });
        let edge = DVec3::new(at.x + 0.05, 0.0, 0.0);
        world.add(domino.at(edge + turn * (at - edge)).turned(turn)).unwrap();
    }
    world
}

#[test]
fn falling_dominoes_cost_a_few_sweeps_a_step() {
    let mut world = dominoes(20);
    let mut stepper = cone(|_| {});
    let standing = run(&mut world, &mut stepper, 60);
    // What stands is held, and only what falls is solved.
    assert!(standing.islands < 60 + 3 * 20, "{standing:?}");
    let falling = run(&mut world, &mut stepper, 300);
    println!("{standing:?}\n{falling:?}");
    assert!(falling.largest > 80, "they lean on each other: {falling:?}");
    // Islands of up to 32 contacts are solved to rounding, which takes some fifty sweeps; larger ones a few.
    assert!(falling.iterations < 50 * 300, "{falling:?}");
    assert!(falling.deepest < 1e-4 && falling.residual < 0.1, "{falling:?}");
    assert!(falling.cone_violation < 1e-9, "{falling:?}");
    // They come to rest, for good.
    let lying = run(&mut world, &mut stepper, 60);
    assert_eq!((lying.iterations, lying.islands), (0, 0), "{lying:?}");
    assert!(world.kinetic_energy() == 0.0);
}

/// Balls, boxes and capsules above a box without lid.
fn pit(count: usize) -> World {
    let mut random = SplitMix64(21);
    let mut world = earth(0.5, 0.0);
    for (x, y) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let half = DVec3::new(if x == 0.0 { 2.0 } else { 0.5 }, if y == 0.0 { 2.0 } else { 0.5 }, 10.0);
        let wall: Shape = Cuboid::new(half).unwrap().into();
        world.add(Body::fixed().shape(wall).at([1.7 * x, 1.7 * y, 10.0])).unwrap();
    }
    for k in 0..count {
        let cell = DVec3::new((k % 3) as f64 - 1.0, (k / 3 % 3) as f64 - 1.0, (k / 9) as f64 + 0.7) * 0.75;
        let body = match k % 3 {
            0 => ball(random.range(0.2, 0.33), 0.5, 0.0),
            1 => brick(random.range(0.15, 0.25), random.range(0.15, 0.25), random.range(0.15, 0.25), 0.5),
            _ => {
                let shape: Shape = Capsule::new(random.range(0.12, 0.2), 0.12).unwrap().into();
                Body::free().shape(shape).friction(0.5)
            }
        };
        world.add(body.at(cell + random.vec3(0.03)).turned(random.unit_quat())).unwrap();
    }
    world
}

#[test]
fn a_pit_fills_within_its_budget_and_nothing_passes_through() {
    let mut world = pit(90);
    let mut stepper = cone(|_| {});
    let falling = run(&mut world, &mut stepper, 120);
    let settling = run(&mut world, &mut stepper, 180);
    println!("{falling:?}\n{settling:?}");
    assert!(falling.largest > 150, "one heap: {falling:?}");
    // What several steps share of a budget: an answer, and eight corrections at most, of 30 pairs of sweeps each.
    assert!(settling.iterations < 100 * 180, "{settling:?}");
    assert!(settling.deepest < 1e-4, "{settling:?}");
    assert!(falling.cone_violation.max(settling.cone_violation) < 1e-9);
    for (id, body) in world.bodies().filter(|(_, b)| b.is_free()) {
        let at = body.center();
        assert!(at.x.abs() < 1.2 && at.y.abs() < 1.2 && at.z > 0.1, "{id} at {at}");
    }
}
