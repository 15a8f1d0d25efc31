//! Rolling and torsional friction and moving surfaces under time stepping, against closed forms.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{assert_close, glam::DVec3, ops};
use sim_steppers::{TimeStepping, TimeSteppingParams};
use sim_traits::{Cuboid, HalfSpace};
use sim_world::{Body, ColliderBuilder, ForceGenerator, Joint, Stepper, Traction, World};
use timed::{G, ball, brick, cone, earth};

const DT: f64 = 1e-3;

fn fine() -> TimeStepping {
    cone(|p: &mut TimeSteppingParams| p.dt = DT)
}

/// A plane that rises by an angle (rad) along x, under a gravity that points down.
fn slope(angle: f64, friction: f64) -> World {
    let gravity = DVec3::new(-ops::sin(angle), 0.0, -ops::cos(angle)) * G;
    let mut world = World::new(gravity).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up()).friction(friction).restitution(0.0)).unwrap();
    world
}

fn near(found: DVec3, expected: DVec3, by: f64) {
    assert!((found - expected).length() < by, "{found}, expected {expected}");
}

#[test]
fn a_ball_rolls_out() {
    // (I + m R²) α = ρ m g with I = 2/5 m R²: a = 5/7 g ρ/R, way v²/(2 a).
    let (radius, rho, v) = (0.1, 2e-3, 0.5);
    let mut world = earth(0.8, 0.0);
    let start = ball(radius, 0.8, 0.0).at([0.0, 0.0, radius]).moving([v, 0.0, 0.0]);
    let id = world.add(start.spinning([0.0, v / radius, 0.0]).rolling_friction(rho)).unwrap();
    let a = 5.0 / 7.0 * G * rho / radius;
    let mut stepper = fine();
    let report = stepper.advance(&mut world, 0.5 * v / a).unwrap();
    assert_close!(world[id].velocity().linear.x, 0.5 * v, rel = 1e-6);
    let e = report.energy;
    assert_close!(e.friction, -0.75 * e.start, rel = 0.01);
    assert!(e.remainder().abs() < 1e-12 * e.start && e.gain() < 1e-12 * e.start, "{e:?}");
    stepper.advance(&mut world, v / a).unwrap();
    assert_close!(world[id].position().x, v * v / (2.0 * a), rel = 5e-3);
    assert!(world.kinetic_energy() < 1e-20);
}

#[test]
fn a_spinning_ball_stops_in_the_time_that_torsion_says() {
    // I ω = ρ m g t with I = 2/5 m R².
    let (radius, rho, omega) = (0.1, 1e-3, 20.0);
    let mut world = earth(0.5, 0.0);
    let spin = ball(radius, 0.5, 0.0).at([0.0, 0.0, radius]).spinning([0.0, 0.0, omega]);
    let id = world.add(spin.torsional_friction(rho)).unwrap();
    let time = 0.4 * radius * radius * omega / (rho * G);
    let mut stepper = fine();
    let report = stepper.advance(&mut world, 0.75 * time).unwrap();
    assert_close!(world[id].velocity().angular.z, 0.25 * omega, rel = 1e-6);
    assert!(report.momentum.remainder().angular.length() < 1e-9, "{:?}", report.momentum);
    stepper.advance(&mut world, 0.26 * time).unwrap();
    assert!(world[id].velocity().angular.length() < 1e-9);
    near(world[id].position(), DVec3::Z * radius, 1e-9);
}

#[test]
fn a_ball_stays_on_a_gentle_slope_and_rolls_down_a_steep_one() {
    // It stays while tan θ ≤ ρ/R; then (I + m R²) α = m g (R sin θ − ρ cos θ).
    let (radius, rho) = (0.2, 0.01);
    let threshold = ops::atan2(rho, radius);
    for share in [0.5, 0.99, 1.01, 2.0] {
        let angle = share * threshold;
        let mut world = slope(angle, 0.8);
        let id = world.add(ball(radius, 0.8, 0.0).at([0.0, 0.0, radius]).rolling_friction(rho)).unwrap();
        fine().advance(&mut world, 2.0).unwrap();
        let a = 5.0 / 7.0 * G * (ops::sin(angle) - rho / radius * ops::cos(angle));
        let x = world[id].position().x;
        if share < 1.0 {
            assert!(x.abs() < 1e-7, "{share}: {x}");
        } else {
            assert_close!(x, -0.5 * a * 4.0, rel = 0.01);
        }
    }
}

#[test]
fn a_box_on_a_belt_reaches_its_speed() {
    // v = μ g t until the speed of the belt, then it is carried.
    let (mu, v) = (0.4, 1.5);
    for askew in [false, true] {
        let mut world = World::new(DVec3::NEG_Z * G).unwrap();
        let mut along = DVec3::X;
        let mut belt = Body::fixed().at([0.0, 0.0, -0.1]).friction(mu).restitution(0.0);
        if askew {
            // The velocity is that of the user's frame of the body.
            belt = belt.turned(sim_math::glam::DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8));
            along = DVec3::new(0.28, 0.96, 0.0);
        }
        let surface = ColliderBuilder::new(Cuboid::new(DVec3::new(20.0, 20.0, 0.1)).unwrap());
        world.add(belt.collider(surface.surface_velocity([v, 0.0, 3.0]))).unwrap();
        let id = world.add(brick(0.2, 0.2, 0.1, mu).at([0.0, 0.0, 0.1])).unwrap();
        let mut stepper = fine();
        let time = v / (mu * G);
        let first = stepper.advance(&mut world, 0.5 * time).unwrap();
        near(world[id].velocity().linear, along * (0.5 * v), 5e-3);
        let second = stepper.advance(&mut world, 0.6 * time).unwrap();
        near(world[id].velocity().linear, along * v, 1e-7);
        let way = 0.5 * v * time + v * 0.1 * time;
        assert_close!(world[id].position().dot(along), way, rel = 0.01);
        // The belt gives twice what the box has, and friction takes half of it.
        let e = first.energy.then(&second.energy);
        assert_close!(e.scripted, 2.0 * e.end, rel = 0.01);
        assert_close!(e.friction, -e.end, rel = 0.01);
        assert!(e.remainder().abs() < 1e-9 * e.end, "{e:?}");
        let before = world[id].position();
        stepper.advance(&mut world, 2.0).unwrap();
        near(world[id].position() - before, along * (2.0 * v), 1e-6);
    }
}

#[test]
fn a_belt_that_is_switched_on_wakes_what_lies_on_it() {
    let mut world = World::new(DVec3::NEG_Z * G).unwrap();
    let belt = world
        .add(
            Body::fixed()
                .shape(Cuboid::new(DVec3::new(5.0, 1.0, 0.1)).unwrap())
                .friction(0.5)
                .restitution(0.0)
                .at([0.0, 0.0, -0.1]),
        )
        .unwrap();
    let id = world.add(brick(0.1, 0.1, 0.1, 0.5).at([0.0, 0.0, 0.1])).unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 2.0).unwrap();
    let moving = Traction { surface_velocity: DVec3::X, ..Traction::default() };
    world.set_traction(world[belt].colliders()[0], moving).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    near(world[id].velocity().linear, DVec3::X, 1e-6);
    world.set_traction(world[belt].colliders()[0], Traction::default()).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!(world[id].velocity().linear.length() < 1e-6);
}

#[test]
fn a_stack_of_boxes_with_all_kinds_of_friction_stands() {
    let mut world = earth(0.5, 0.0);
    for k in 0..5 {
        let at = [0.0, 0.0, 0.2 + 0.4 * f64::from(k)];
        world.add(brick(0.2, 0.2, 0.2, 0.5).at(at).rolling_friction(0.02).torsional_friction(0.02)).unwrap();
    }
    let report = cone(|_| {}).advance(&mut world, 1.0).unwrap();
    assert_eq!(report.solver.unsolved, 0);
    assert!(world.kinetic_energy() < 1e-12, "{}", world.kinetic_energy());
    for (k, (_, body)) in world.bodies().skip(1).enumerate() {
        near(body.position(), DVec3::Z * (0.2 + 0.4 * k as f64), 1e-6);
    }
}

#[test]
fn a_wheel_on_a_hinge_rolls_as_heavily() {
    // A wheel with a rider on its axle that does not turn with it: M − ρ N moves both.
    let (radius, rho, torque) = (0.2, 0.01, 10.0);
    let mut world = earth(0.8, 0.0);
    let wheel = world.add(ball(radius, 0.8, 0.0).at([0.0, 0.0, radius]).rolling_friction(rho)).unwrap();
    let rider = world.add(ball(0.05, 0.0, 0.0).at([0.0, 0.0, radius])).unwrap();
    let joint = Joint::hinge(rider, wheel).anchor([0.0, 0.0, radius]).axis([0.0, 1.0, 0.0]);
    world.add_joint(joint).unwrap();
    world.ignore(rider, wheel, true).unwrap();
    let push = ForceGenerator::Constant { body: wheel, force: DVec3::ZERO, torque: DVec3::Y * torque };
    world.add_force(push).unwrap();
    fine().advance(&mut world, 0.5).unwrap();
    let (m, all) = (world[wheel].mass(), world[wheel].mass() + world[rider].mass());
    let a = (torque - rho * all * G) / (all * radius + 0.4 * m * radius);
    assert_close!(world[wheel].velocity().linear.x, 0.5 * a, rel = 1e-6);
}

#[test]
fn refusals_and_bad_numbers_name_the_body() {
    let mut world = earth(0.5, 0.0);
    let id = world.add(ball(0.1, 0.5, 0.0).at([0.0, 0.0, 0.1]).rolling_friction(0.01)).unwrap();
    let error = timed::soft(|_| {}).prepare(&mut world).unwrap_err().to_string();
    assert!(error.starts_with(&id.to_string()) && error.contains("rolling"), "{error}");
    let wrong = world.add(ball(0.1, 0.5, 0.0).rolling_friction(-1.0)).unwrap_err().to_string();
    assert!(wrong.ends_with("rolling friction must not be negative, got -1"), "{wrong}");
    let collider = world[id].colliders()[0];
    let nan = Traction { surface_velocity: DVec3::NAN, ..Traction::default() };
    assert!(world.set_traction(collider, nan).unwrap_err().to_string().contains("surface velocity"));
    world.set_traction(collider, Traction::default()).unwrap();
    timed::soft(|_| {}).prepare(&mut world).unwrap();
}
