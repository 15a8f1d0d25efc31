//! Random piles: nothing panics, nothing explodes.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    glam::DVec3,
    testkit::{SplitMix64, soak},
};
use sim_steppers::TimeStepping;
use sim_traits::{Capsule, Cylinder, Shape};
use sim_world::{Body, StepReport, Stepper, World};
use timed::{G, ball, brick, cone, earth, energy, soft};

fn pile(random: &mut SplitMix64) -> World {
    let mut world = earth(random.range(0.0, 1.0), random.range(0.0, 1.0));
    for k in 0..3 + random.below(8) {
        let at = DVec3::new(random.range(-0.6, 0.6), random.range(-0.6, 0.6), 0.4 + 0.5 * k as f64);
        let (mu, e) = (random.range(0.0, 1.0), random.range(0.0, 1.0));
        let size = random.range(0.05, 0.4);
        let body = match random.below(4) {
            0 => ball(size, mu, e),
            1 => {
                let shape: Shape = Capsule::new(0.5 * size, size).unwrap().into();
                Body::free().shape(shape).friction(mu)
            }
            2 => {
                let shape: Shape = Cylinder::new(size, 0.5 * size).unwrap().into();
                Body::free().shape(shape).friction(mu)
            }
            _ => brick(size, random.range(0.05, 0.4), random.range(0.05, 0.4), mu),
        };
        let body = body.restitution(e).at(at).turned(random.unit_quat());
        world.add(body.moving(random.vec3(3.0)).spinning(random.vec3(10.0))).unwrap();
    }
    world
}

/// A thousand steps of random piles: no panic, no error, nothing that is not finite, no energy that the account does not know of.
fn piles(cases: u64, stepper: impl Fn() -> TimeStepping, given: impl Fn(&StepReport) -> f64) {
    let mut random = soak::random(31);
    for k in 0..cases {
        let mut world = pile(&mut random);
        let mut stepper = stepper();
        let start = energy(&world) + 1.0;
        let mut allowed = start;
        for _ in 0..100 {
            let report = stepper.advance(&mut world, 1.0 / 6.0).unwrap();
            allowed += given(&report).max(0.0) + report.energy.remainder().max(0.0);
            let now = energy(&world);
            assert!(
                now.is_finite() && now <= allowed * (1.0 + 1e-9),
                "pile {k}: energy {now} above {allowed}"
            );
            assert!(report.quarantined == 0, "pile {k}");
            for (id, body) in world.bodies().filter(|(_, b)| b.is_free()) {
                let speed = body.velocity().linear.length();
                let bound = (2.0 * (allowed + G * body.mass()) / body.mass()).sqrt();
                assert!(body.center().is_finite() && speed <= bound, "pile {k}: {id} at {speed} m/s");
                assert!(body.center().z > -0.05, "pile {k}: {id} sank to {}", body.center());
            }
        }
        // Bodies that begin inside each other are pushed out: that is all that the account may not know of.
        assert!(allowed < 4.0 * start, "pile {k}: {start} J became {allowed} J");
    }
}

#[test]
fn soak_random_piles_stay_finite_and_within_their_energy() {
    piles(soak::cases(6), || cone(|_| {}), |report| report.solver.lifted);
}

#[test]
fn soak_random_piles_stay_finite_with_soft_contacts() {
    // Springs of contacts push out what is inside.
    piles(soak::cases(6), || soft(|_| {}), |report| report.energy.impact + report.energy.micro);
}

#[test]
fn four_laws_agree_as_the_step_shrinks() {
    // A ball thrown along the floor, slides, then rolls: a unique answer. From event to event it is exact; the steps converge to it.
    let end = 1.2;
    let scene = |mu: f64| {
        let mut world = earth(mu, 0.0);
        let id = world.add(ball(0.5, mu, 0.0).at([0.0, 0.0, 0.5]).moving([5.0, 1.0, 0.0])).unwrap();
        (world, id)
    };
    let slip = (25.0_f64 + 1.0).sqrt();
    let rolls = 2.0 * slip / (7.0 * 0.2 * G);
    let length = slip * rolls - 0.5 * 0.2 * G * rolls * rolls + 5.0 / 7.0 * slip * (end - rolls);
    let exact = DVec3::new(5.0, 1.0, 0.0) / slip * length + DVec3::new(0.0, 0.0, 0.5);
    let (mut world, id) = scene(0.2);
    common::stepper().advance(&mut world, end).unwrap();
    let events = (world[id].position() - exact).length();
    assert!(events < 0.02, "from event to event: {events}");
    for k in 0..4 {
        let mut errors = Vec::new();
        for dt in [1.0 / 60.0, 1.0 / 240.0] {
            let (mut world, id) = scene(0.2);
            let (_, mut stepper) = timed::laws(dt).into_iter().nth(k).unwrap();
            stepper.advance(&mut world, end).unwrap();
            errors.push((world[id].position() - exact).length());
        }
        // First order: a quarter of the step, a quarter of the error.
        assert!(errors[1] < 0.01 && errors[1] < 0.35 * errors[0], "law {k}: {errors:?}");
    }
}
