//! Boxes that are too small for their window: they cost time, never a contact.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{ball, cuboid, smallest_separation, stepper_with};
use sim_math::{glam::DVec3, testkit::SplitMix64};
use sim_steppers::{EventDriven, Micro};
use sim_traits::{BodyId, ColliderId};
use sim_world::{Body, EventKind, ForceGenerator, OpenLoop, StepError, StepReport, Stepper, World};

/// Shares of the window that boxes are made for, after the one that is generous.
const SMALL: [f64; 4] = [0.6, 0.1, 0.02, 0.003];

fn with_boxes(sweep: f64) -> EventDriven {
    stepper_with(|p| {
        // Nothing to spare: a box holds as long as it is made for and no longer.
        let margin = if sweep < 1.0 { 0.0 } else { 0.5 };
        (p.sweep, p.margin, p.micro) = (sweep, margin, Micro::Off);
    })
}

/// Balls, and rods that spin, in a box of thin plates; fast enough to cross it in a window.
fn crowd(seed: u64) -> World {
    let (mut random, mut world) = (SplitMix64(seed), World::new(DVec3::ZERO).unwrap());
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [-1.0, 1.0] {
            let half = DVec3::splat(1.2) - 1.1995 * axis;
            world
                .add(Body::fixed().shape(cuboid(half.x, half.y, half.z)).at(axis * side).restitution(1.0))
                .unwrap();
        }
    }
    for k in 0..12 {
        let at =
            DVec3::new(f64::from(k % 3), f64::from(k / 3 % 2), f64::from(k / 6)) * 0.6 - DVec3::splat(0.45);
        let body = if k % 2 == 0 { ball(0.05) } else { Body::free().shape(cuboid(0.15, 0.01, 0.01)) };
        let body = body.at(at).moving(random.vec3(30.0)).spinning(random.vec3(40.0));
        world.add(body.restitution(1.0).friction(0.0)).unwrap();
    }
    world
}

/// Who hit whom, and when.
fn collisions(world: &World) -> Vec<(f64, ColliderId, ColliderId)> {
    let of = |e: &sim_world::Event| match e.kind {
        EventKind::Collision(c) => Some((e.time, c.a, c.b)),
        _ => None,
    };
    world.events().iter().filter_map(of).collect()
}

/// Runs for `time` (s) in a hundred advances, and looks for overlaps by brute force after each.
fn run(world: &mut World, sweep: f64, time: f64) -> (Vec<(f64, ColliderId, ColliderId)>, StepReport) {
    let (mut stepper, mut list, mut total) = (with_boxes(sweep), Vec::new(), StepReport::default());
    for _ in 0..100 {
        let report = stepper.advance(world, 0.01 * time).unwrap();
        list.extend(collisions(world));
        total = total.then(&report);
        assert!(smallest_separation(world) > -1e-10, "sweep {sweep} at {}", world.time());
    }
    (list, total)
}

/// How far apart the free bodies of two worlds are, m.
fn apart(a: &World, b: &World) -> f64 {
    let ids: Vec<BodyId> = a.bodies().filter(|(_, body)| body.is_free()).map(|(id, _)| id).collect();
    ids.iter().map(|&id| (a[id].position() - b[id].position()).length()).fold(0.0, f64::max)
}

// proves: MIR-66
#[test]
fn boxes_that_are_too_small_miss_no_contact() {
    for seed in 0..4 {
        let mut generous = crowd(seed);
        let (expected, calm) = run(&mut generous, 1.0, 0.07);
        assert!(expected.len() > 20, "{}", expected.len());
        for sweep in SMALL {
            let mut world = crowd(seed);
            let (found, report) = run(&mut world, sweep, 0.07);
            let named =
                |list: &[(f64, ColliderId, ColliderId)]| list.iter().map(|c| (c.1, c.2)).collect::<Vec<_>>();
            assert_eq!(named(&found), named(&expected), "seed {seed}, sweep {sweep}");
            let late = found.iter().zip(&expected).map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
            let apart = apart(&world, &generous);
            println!(
                "seed {seed}, sweep {sweep}: {} collisions, {} boxes renewed instead of {}, {late:e} s and {apart:e} m apart",
                found.len(),
                report.resweeps,
                calm.resweeps
            );
            // Impacts are located to 1e-12 m, and each multiplies what is left by the ratio of free path and radius.
            assert!(late < 1e-11 && apart < 1e-7, "seed {seed}, sweep {sweep}: {late} s, {apart} m");
            assert!(report.resweeps > calm.resweeps + (0.5 / sweep) as u64, "{report} against {calm}");
        }
    }
}

/// A bullet of 300 m/s between sheets of 1 mm under forces that a controller changes every 3 ms, and that turn it round.
fn bullet(seed: u64) -> (World, BodyId) {
    let (mut random, mut world) = (SplitMix64(seed), World::new(DVec3::ZERO).unwrap());
    for x in [0.0, 9.0] {
        world
            .add(Body::fixed().shape(cuboid(0.0005, 90.0, 90.0)).at([x, 0.0, 0.0]).restitution(0.9))
            .unwrap();
    }
    let id = world
        .add(ball(0.005).mass(0.01).at([4.0, 0.0, 0.0]).moving([300.0, 0.0, 0.0]).restitution(0.9))
        .unwrap();
    let idle = ForceGenerator::Constant { body: id, force: DVec3::ZERO, torque: DVec3::ZERO };
    let motor = world.add_force(idle).unwrap();
    // Strong along its way, weak enough across it not to go round the sheets.
    let force = |r: DVec3| DVec3::new(600.0 * r.x, r.y, r.z);
    let program = (0..40).map(|_| (force(random.vec3(1.0)), DVec3::ZERO)).collect();
    world.add_controller(0.0, 3e-3, OpenLoop::new(id, motor, program, true)).unwrap();
    (world, id)
}

// proves: FON-17
#[test]
fn a_bullet_under_a_controller_never_tunnels_whatever_its_boxes() {
    for seed in 0..6 {
        let (mut generous, id) = bullet(seed);
        let (expected, _) = run(&mut generous, 1.0, 0.25);
        assert!(expected.len() >= 4, "seed {seed}: {} impacts", expected.len());
        for sweep in SMALL {
            let (mut world, _) = bullet(seed);
            let (found, report) = run(&mut world, sweep, 0.25);
            let x = world[id].position().x;
            assert!(x > 0.0 && x < 9.0, "seed {seed}, sweep {sweep}: passed a sheet, {x}");
            let apart = apart(&world, &generous);
            println!("seed {seed}, sweep {sweep}: {} impacts, {report}, {apart:e} m apart", found.len());
            assert_eq!(found.len(), expected.len());
            assert!(apart < 1e-9, "seed {seed}, sweep {sweep}: {apart} m apart");
            let faster = (world[id].velocity().linear - generous[id].velocity().linear).length();
            assert!(faster < 1e-7, "seed {seed}, sweep {sweep}: {faster} m/s");
        }
    }
}

#[test]
fn a_share_of_the_window_that_makes_no_sense_is_refused() {
    for sweep in [0.0, -0.1, 1.5, f64::NAN] {
        let error = with_boxes(sweep).advance(&mut crowd(0), 0.1).unwrap_err();
        assert!(matches!(error, StepError::Parameter { what: "share of the window", .. }), "{error}");
    }
}
