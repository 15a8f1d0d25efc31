//! The energy and momentum account closes.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{ball, cuboid, earth, stepper, stepper_with};
use rigid_impulse::motion::Shaker;
use sim_math::{glam::DVec3, testkit::SplitMix64};
use sim_steppers::{ContactHandling, Micro};
use sim_traits::HalfSpace;
use sim_world::{Anchor, Body, ForceGenerator, StepReport, Stepper, World};

/// Bodies of both kinds over a floor, thrown about.
fn scene(friction: f64, restitution: f64) -> World {
    let mut world = earth();
    let mut random = SplitMix64(77);
    for k in 0..12 {
        let at = [0.5 * f64::from(k % 4), 0.5 * f64::from(k / 4), 0.4];
        let body = if k % 2 == 0 { ball(0.15) } else { Body::free().shape(cuboid(0.15, 0.1, 0.12)) };
        let body = body.at(at).turned(random.unit_quat()).moving(random.vec3(2.0)).spinning(random.vec3(5.0));
        world.add(body.friction(friction).restitution(restitution)).unwrap();
    }
    world
}

/// Remainders relative to the energy and momentum that changed hands.
fn check(report: &StepReport) {
    let e = &report.energy;
    let scale = e.start.abs() + e.gravity.abs() + e.scripted.abs() + e.friction.abs() + e.forces.abs();
    assert!(e.remainder().abs() <= 1e-9 * scale, "{} of {scale} J left: {e:?}", e.remainder());
    let p = &report.momentum;
    let scale = p.start.linear.length() + p.gravity.linear.length() + p.fixed.linear.length();
    assert!(p.remainder().linear.length() <= 1e-12 * scale, "{:?} of {scale}", p.remainder());
    let scale = p.start.angular.length() + p.gravity.angular.length() + p.fixed.angular.length();
    assert!(p.remainder().angular.length() <= 1e-12 * scale, "{:?} of {scale}", p.remainder());
}

#[test]
fn a_frictionless_elastic_world_gains_and_loses_by_gravity_alone() {
    let mut world = scene(0.0, 1.0);
    let mut stepper = stepper_with(|p| p.micro = Micro::Off);
    let report = stepper.advance(&mut world, 2.0).unwrap();
    assert!(report.collisions > 40, "{report}");
    check(&report);
    let e = &report.energy;
    assert!(e.friction.abs() < 1e-9 * e.start, "{e:?}");
    assert!(e.impact.abs() < 1e-9 * e.start, "{e:?}");
    assert!((e.end - e.start - e.gravity).abs() < 1e-9 * e.start, "{e:?}");
}

#[test]
fn friction_impact_and_micro_collisions_explain_what_is_lost() {
    for handling in [ContactHandling::Standard, ContactHandling::Improved] {
        let mut world = scene(0.5, 0.4);
        let mut stepper = stepper_with(|p| p.contact_handling = handling);
        let mut total = StepReport::default();
        for _ in 0..4 {
            let report = stepper.advance(&mut world, 0.5).unwrap();
            check(&report);
            total = total.then(&report);
        }
        assert!(total.micro_collisions > 200, "{total}");
        check(&total);
        let e = &total.energy;
        assert!(e.impact < -1.0 && e.friction < -1.0 && e.gravity > 1.0, "{e:?}");
        assert!(e.outside.abs() < 1e-12 * e.start, "{e:?}");
        assert_eq!(e.end.to_bits(), world.kinetic_energy().to_bits());
    }
}

#[test]
fn a_scripted_floor_and_a_constant_force_do_work_that_is_booked() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap();
    let shaker = Shaker {
        center: DVec3::ZERO,
        amplitude: DVec3::new(0.0, 0.0, 0.05),
        rate: 12.0,
        phase: 0.0,
        radius: 0.0,
    };
    world.add(Body::scripted(shaker).shape(HalfSpace::up())).unwrap();
    let mut random = SplitMix64(5);
    for k in 0..4 {
        let body = ball(0.1).at([f64::from(k), 0.0, 0.5]).spinning(random.vec3(4.0)).restitution(0.6);
        let id = world.add(body).unwrap();
        let force = DVec3::new(3.0, 1.0, 2.0);
        world.add_force(ForceGenerator::Constant { body: id, force, torque: DVec3::ZERO }).unwrap();
    }
    let mut stepper = stepper();
    let report = stepper.advance(&mut world, 3.0).unwrap();
    check(&report);
    assert!(report.energy.scripted.abs() > 1.0, "{:?}", report.energy);
    assert!(report.energy.forces > 1.0, "{:?}", report.energy);
    assert!(report.momentum.scripted.linear.z > 10.0, "{:?}", report.momentum);
    // A push between two advances shows in the sum, not in either.
    let id = world.bodies().last().unwrap().0;
    world.apply_impulse(id, world[id].center(), DVec3::new(30.0, 0.0, 0.0)).unwrap();
    let later = stepper.advance(&mut world, 0.5).unwrap();
    check(&later);
    let both = report.then(&later);
    check(&both);
    assert!(both.energy.outside > 1.0, "{:?}", both.energy);
    assert!((both.momentum.outside.linear.x - 30.0).abs() < 1e-9);
}

#[test]
fn an_advance_that_ends_in_an_error_leaves_a_world_whose_next_account_closes() {
    let mut world = scene(0.5, 0.4);
    let mut stepper = stepper_with(|p| p.max_events = 300);
    assert!(stepper.advance(&mut world, 2.0).is_err());
    let report = stepper.advance(&mut world, 1e-3).unwrap();
    check(&report);
}

/// A mass between two springs, one of them between two bodies.
fn on_springs(damping: f64) -> World {
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    let upper = world.add(ball(0.1).mass(2.0).at([0.0, 0.0, -1.5])).unwrap();
    let lower = world.add(ball(0.1).mass(1.0).at([0.3, 0.0, -2.5]).spinning([3.0, 1.0, 0.0])).unwrap();
    let spring = |a, b| ForceGenerator::Spring { a, b, stiffness: 80.0, damping, rest_length: 0.8 };
    let hook = Anchor::Body(lower, DVec3::new(0.0, 0.05, 0.02));
    world.add_force(spring(Anchor::World(DVec3::ZERO), Anchor::Body(upper, DVec3::ZERO))).unwrap();
    world.add_force(spring(Anchor::Body(upper, DVec3::ZERO), hook)).unwrap();
    world
}

#[test]
fn energy_of_masses_on_springs_is_constant_and_springs_are_no_work() {
    let mut world = on_springs(0.0);
    let energy = |world: &World| world.kinetic_energy() + world.potential_energy();
    let (start, mut stepper, mut total) = (energy(&world), stepper(), StepReport::default());
    assert!((world.spring_energy() - 40.0 * (0.7 * 0.7 + 0.2416 * 0.2416)).abs() < 1.0);
    for _ in 0..20 {
        total = total.then(&stepper.advance(&mut world, 0.1).unwrap());
        let drift = energy(&world) - start;
        assert!(drift.abs() <= 1e-9 * total.energy.flowed, "{drift} J of {}", total.energy.flowed);
    }
    let e = &total.energy;
    assert!(e.flowed > 10.0 && e.springs.abs() > 0.1, "{e:?}");
    assert!(e.forces.abs() <= 1e-9 * e.flowed && e.remainder().abs() <= 1e-9 * e.flowed, "{e:?}");
    assert_eq!(total.unexplained_energy(0.0), None);

    // A damper is work; changing a spring in between is nobody's.
    let mut world = on_springs(2.0);
    let (start, mut total) = (energy(&world), StepReport::default());
    total = total.then(&stepper.advance(&mut world, 1.0).unwrap());
    let e = total.energy;
    assert!(e.forces < -0.1 && (energy(&world) - start - e.forces).abs() <= 1e-9 * e.flowed, "{e:?}");
}

#[test]
fn energy_from_nowhere_is_told() {
    let mut report = StepReport::default();
    (report.energy.flowed, report.energy.gravity, report.energy.end) = (10.0, 4.0, 4.5);
    assert_eq!(report.unexplained_energy(0.0), Some(0.5));
    assert_eq!(report.unexplained_energy(1.0), None);
    report.energy.end = 4.0;
    assert_eq!(report.unexplained_energy(0.0), None);
    // Contacts that give energy, though the sums agree.
    (report.energy.micro, report.energy.end) = (2.0, 6.0);
    assert_eq!(report.unexplained_energy(0.0), Some(2.0));
    // What opening overlaps gives is told too, unless it was paid for.
    (report.energy.correction, report.energy.end) = (0.25, 6.25);
    assert!((report.energy_gain() - 2.25).abs() < 1e-15);
    (report.energy.correction, report.energy.stepping, report.energy.end) = (-0.25, -1.0, 4.75);
    assert!((report.energy_gain() - 2.0).abs() < 1e-15);
}
