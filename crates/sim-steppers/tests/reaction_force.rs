//! Reaction forces on worlds: loads, loops, limits, motors, breaking, accounts, saved runs, other steppers beside them.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use sim_math::{
    glam::DVec3,
    integrate::{DoubleEuler, Euler, Rk4},
};
use sim_steppers::{Collisions, ReactionForce, ReactionForceParams};
use sim_traits::{BodyId, Cuboid, JointId, Sphere};
use sim_world::{
    Anchor, Body, EventKind, ForceGenerator, Joint, JointMotor, JointPartner::World as Ground, StepError,
    Stepper, World,
};

const G: f64 = 9.81;

fn reacting(dt: f64) -> ReactionForce {
    let mut params = ReactionForceParams::default();
    (params.dt, params.collisions) = (dt, Collisions::Ignore);
    ReactionForce::new(params)
}

fn earth() -> World {
    World::new(DVec3::new(0.0, 0.0, -G)).unwrap()
}

fn ball(world: &mut World, mass: f64, at: DVec3) -> BodyId {
    world.add(Body::free().shape(Sphere::new(0.1).unwrap()).mass(mass).at(at)).unwrap()
}

fn pendulum(hinge: bool) -> (World, BodyId, JointId) {
    let mut world = earth();
    let bob = ball(&mut world, 2.0, DVec3::X);
    let joint = if hinge { Joint::hinge(Ground, bob) } else { Joint::ball(Ground, bob) };
    let joint = world.add_joint(joint.anchor([0.0; 3]).axis([0.0, 1.0, 0.0])).unwrap();
    (world, bob, joint)
}

fn quarter_period(stepper: &mut ReactionForce, dt: f64, hinge: bool) -> f64 {
    let (mut world, bob, _) = pendulum(hinge);
    loop {
        let (time, x) = (world.time(), world[bob].position().x);
        stepper.advance(&mut world, dt).unwrap();
        let next = world[bob].position().x;
        if next <= 0.0 {
            return time + (world.time() - time) * x / (x - next);
        }
    }
}

// From 90 degrees: T/4 = K(sin 45°) √(l/g) (1 + k²/l²)^½.
#[test]
fn a_pendulum_has_its_period_with_the_order_of_its_integrator() {
    let exact = 1.854_074_677_301_372 * (1.004_f64 / G).sqrt();
    for (name, order) in [("euler", 1.0), ("double", 1.0), ("heun", 2.0), ("rk4", 2.0)] {
        for hinge in [false, true] {
            let errors = [1.0 / 120.0, 1.0 / 240.0, 1.0 / 480.0].map(|dt| {
                let mut stepper = reacting(dt);
                stepper = match name {
                    "euler" => stepper.integrator(Euler::MODIFIED),
                    "double" => stepper.integrator(DoubleEuler),
                    "rk4" => stepper.integrator(Rk4),
                    _ => stepper,
                };
                (quarter_period(&mut stepper, dt, hinge) - exact).abs()
            });
            println!("{name} hinge {hinge}: {errors:?}");
            let most = 4e-3 * 0.25_f64.powf(order);
            assert!((errors[1] / errors[2]).log2() > order - 0.3 && errors[2] < most, "{name}: {errors:?}");
        }
    }
}

// proves: DYN-120
#[test]
fn the_load_of_a_joint_is_the_weight() {
    let mut world = earth();
    let bob = ball(&mut world, 2.0, DVec3::new(0.0, 0.0, -1.0));
    let joints = [world.add_joint(Joint::ball(Ground, bob).anchor([0.0; 3])).unwrap()];
    let mut stepper = reacting(1.0 / 120.0);
    stepper.advance(&mut world, 1.0).unwrap();
    for joint in joints {
        let reaction = world.joint(joint).unwrap().reaction();
        assert!((reaction.linear - DVec3::Z * (2.0 * G)).length() < 1e-3, "{reaction:?}");
    }
    // A beam that is welded to the wall: force and moment about the anchor.
    let mut world = earth();
    let beam = world
        .add(
            Body::free().shape(Cuboid::new(DVec3::new(0.5, 0.1, 0.1)).unwrap()).mass(3.0).at([0.5, 0.0, 0.0]),
        )
        .unwrap();
    let weld = world.add_joint(Joint::weld(Ground, beam).anchor([0.0; 3])).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    let reaction = world.joint(weld).unwrap().reaction();
    println!("weld: {reaction:?}");
    assert!((reaction.linear - DVec3::Z * (3.0 * G)).length() < 1e-2, "{reaction:?}");
    assert!((reaction.moment + DVec3::Y * (3.0 * G * 0.5)).length() < 1e-2, "{reaction:?}");
    assert!(world.joint_error(weld).unwrap().linear < 1e-6);
}

// proves: DYN-119
#[test]
fn joints_break_at_their_load() {
    // At the bottom a pendulum from the horizontal pulls with three times its weight (a little less, for its own inertia).
    for (limit, breaks) in [(2.9, true), (3.1, false)] {
        let mut world = earth();
        let bob = ball(&mut world, 2.0, DVec3::X);
        let joint = Joint::ball(Ground, bob).anchor([0.0; 3]).breaking_force(limit * 2.0 * G);
        let joint = world.add_joint(joint).unwrap();
        let mut stepper = reacting(1.0 / 480.0);
        let mut broken = None;
        for _ in 0..480 {
            let before = world[bob].position();
            stepper.advance(&mut world, 1.0 / 480.0).unwrap();
            if let Some(event) =
                world.events().iter().find(|e| matches!(e.kind, EventKind::JointBroken { .. }))
            {
                broken = Some((event.time, before.z));
            }
        }
        println!("{limit}: {broken:?}");
        assert_eq!(broken.is_some(), breaks);
        assert_eq!(world.joint(joint).unwrap().is_broken(), breaks);
        if let Some((_, z)) = broken {
            // T = 3 m g sin φ /(1 + k²) + ..., in the frame in which it passes the limit.
            let load = |z: f64| -z * (1.0 + 2.0 / 1.004);
            assert!((load(z) - limit).abs() < 0.05, "{z} {}", load(z));
        }
    }
}

#[test]
fn limits_hold_and_motors_drive() {
    let mut world = earth();
    let door = world
        .add(
            Body::free()
                .shape(Cuboid::new(DVec3::new(0.5, 0.05, 0.5)).unwrap())
                .mass(4.0)
                .at([0.5, 0.0, 0.0]),
        )
        .unwrap();
    let hinge = Joint::hinge(Ground, door).anchor([0.0; 3]).axis([0.0, 0.0, 1.0]);
    let hinge = world.add_joint(hinge.motor(JointMotor::velocity(1.0, 10.0)).limits(-0.5, 0.7)).unwrap();
    let mut stepper = reacting(1.0 / 240.0);
    stepper.advance(&mut world, 0.5).unwrap();
    let (angle, rate) = (world.joint_value(hinge, 0).unwrap(), world.joint_rate(hinge, 0).unwrap());
    println!("{angle} {rate}");
    assert!((rate - 1.0).abs() < 1e-4);
    // It takes I ω/M to get up to speed.
    let inertia = 4.0 / 12.0 * (1.0 + 0.01) + 4.0 * 0.25;
    assert!((angle - (0.5 - 0.5 * inertia / 10.0)).abs() < 3e-3, "{angle}");
    stepper.advance(&mut world, 1.0).unwrap();
    let angle = world.joint_value(hinge, 0).unwrap();
    println!("at the limit: {angle}, {:?}", stepper.notes().first());
    assert!((angle - 0.7).abs() < 1e-4, "{angle}");
    assert!(world.joint(hinge).unwrap().is_at_limit(0, true));
    assert!(
        (world.joint(hinge).unwrap().reaction().moment.z).abs() < 1e-2,
        "the limit bears what the motor gives"
    );
}

#[test]
fn a_spring_that_looks_half_a_step_ahead_keeps_its_energy() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let bob = ball(&mut world, 1.0, DVec3::X * 1.2);
    let (a, b) = (Anchor::World(DVec3::ZERO), Anchor::Body(bob, DVec3::ZERO));
    world
        .add_force(ForceGenerator::Spring { a, b, stiffness: 40.0, damping: 0.0, rest_length: 1.0 })
        .unwrap();
    let start = 0.5 * 40.0 * 0.04;
    let mut stepper = reacting(1.0 / 120.0);
    let period = std::f64::consts::TAU / 40.0_f64.sqrt();
    let mut report = sim_world::StepReport::default();
    for _ in 0..100 {
        report = stepper.advance(&mut world, period).unwrap();
    }
    let length = world[bob].position().x;
    let now = world.kinetic_energy() + 0.5 * 40.0 * (length - 1.0).powi(2);
    println!("spring energy {start} -> {now}, remainder {}", report.energy.remainder());
    assert!((now / start - 1.0).abs() < 0.02);
}

#[test]
fn colliding_worlds_are_refused_by_name() {
    let mut world = earth();
    let first = ball(&mut world, 1.0, DVec3::ZERO);
    let second = ball(&mut world, 1.0, DVec3::X);
    let mut stepper = ReactionForce::default();
    let error = stepper.advance(&mut world, 0.1).unwrap_err();
    assert!(matches!(error, StepError::Unsupported { body, .. } if body == second), "{error}");
    world.ignore(first, second, true).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
}
