//! The same bits in every build: digests of three scenes, minted by a release build with feature `libm`.
//!
//! Tests run in the dev profile, so that a pass says: debug and release agree, and so does every target. If a digest moves because
//! the method did, mint it anew and say why in the change:
//!
//! ```sh
//! cargo test --release -p sim-core --features libm --test goldens -- --nocapture
//! ```
#![cfg(feature = "libm")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests; a person reads what is minted"
)]

use sim_core::{Threads, math::testkit::SplitMix64, prelude::*, rigid::motion::Shaker, world::StepReport};

/// Balls and boxes that fall into a heap, with friction.
fn heap() -> (World, EventDrivenParams, f64) {
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    let mut random = SplitMix64(21);
    for k in 0..24 {
        let at = [0.5 * f64::from(k % 4), 0.5 * f64::from(k / 4 % 3), 0.4 + 0.5 * f64::from(k / 12)];
        let body = if k % 2 == 0 {
            Body::free().shape(Sphere::new(0.15).unwrap())
        } else {
            Body::free().shape(Cuboid::new(DVec3::new(0.15, 0.1, 0.12)).unwrap())
        };
        let body = body.at(at).turned(random.unit_quat()).moving(random.vec3(1.0)).spinning(random.vec3(3.0));
        world.add(body.restitution(0.4)).unwrap();
    }
    (world, EventDrivenParams::default(), 10.0)
}

/// Elastic boxes, capsules and balls that fly about between walls without gravity.
fn gas() -> (World, EventDrivenParams, f64) {
    let mut world = World::new(DVec3::ZERO).unwrap();
    for normal in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [normal, -normal] {
            world
                .add(Body::fixed().shape(HalfSpace::new(side).unwrap()).at(side * -2.0).friction(0.0))
                .unwrap();
        }
    }
    let mut random = SplitMix64(5);
    for k in 0..64 {
        let at = DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)) - 1.5;
        let shape: Shape = match k % 3 {
            0 => Sphere::new(0.2).unwrap().into(),
            1 => Capsule::new(0.1, 0.15).unwrap().into(),
            _ => Cuboid::new(DVec3::new(0.2, 0.1, 0.15)).unwrap().into(),
        };
        let body = Body::free().shape(shape).at(at).turned(random.unit_quat());
        let body = body.moving(random.vec3(3.0)).spinning(random.vec3(5.0));
        world.add(body.restitution(1.0).friction(0.0)).unwrap();
    }
    let mut params = EventDrivenParams::default();
    params.micro = Micro::Off;
    (world, params, 16.0)
}

/// Springs, drag, a controller and a shaken table.
fn machine() -> (World, EventDrivenParams, f64) {
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    let shaker = Shaker {
        center: DVec3::ZERO,
        amplitude: DVec3::new(0.0, 0.0, 0.03),
        rate: 15.0,
        phase: 0.0,
        radius: 0.0,
    };
    world.add(Body::scripted(shaker).shape(HalfSpace::up())).unwrap();
    let mut last = None;
    for k in 0..6 {
        let shape = Cuboid::new(DVec3::new(0.1, 0.12, 0.08)).unwrap();
        let id = world.add(Body::free().shape(shape).mass(1.0).at([0.4 * f64::from(k), 0.0, 0.3])).unwrap();
        if let Some(other) = last.replace(id) {
            let (a, b) = (Anchor::Body(other, DVec3::X * 0.1), Anchor::Body(id, DVec3::X * -0.1));
            let force = ForceGenerator::Spring { a, b, stiffness: 150.0, damping: 0.5, rest_length: 0.2 };
            world.add_force(force).unwrap();
        }
        world.add_force(ForceGenerator::Drag { body: id, linear: 0.05, angular: 0.001 }).unwrap();
    }
    let ball =
        world.add(Body::free().shape(Sphere::new(0.1).unwrap()).mass(1.0).at([0.0, 1.0, 0.5])).unwrap();
    let motor = ForceGenerator::Constant { body: ball, force: DVec3::ZERO, torque: DVec3::ZERO };
    let motor = world.add_force(motor).unwrap();
    let pid = Pid::new(ball, motor, Quantity::Position(DVec3::Z), 2e-3).gains(200.0, 50.0, 15.0).toward(0.4);
    world.add_controller(0.0, 2e-3, pid).unwrap();
    (world, EventDrivenParams::default(), 12.0)
}

fn run(scene: (World, EventDrivenParams, f64), threads: usize) -> (u64, StepReport) {
    let (world, params, until) = scene;
    let mut sim = Simulation::builder(world).params(params).executor(Threads::new(threads)).build().unwrap();
    for _ in 0..16 {
        sim.advance(until / 16.0).unwrap();
    }
    (sim.world().digest(), *sim.report())
}

#[test]
fn digests_are_those_of_the_release_build() {
    let scenes = [
        ("heap", heap as fn() -> (World, EventDrivenParams, f64), 0x3542_c1fd_e228_7c10),
        ("gas", gas, 0xe496_6472_a5ba_ac6c),
        ("machine", machine, 0x3fc0_b3e5_df32_cb25),
    ];
    let (mut events, mut moved) = (0, Vec::new());
    for (name, scene, golden) in scenes {
        let (digest, report) = run(scene(), 1);
        println!("{name}: {digest:#018x}, {report}");
        events += report.events;
        if digest != golden {
            moved.push(format!("{name}: {digest:#018x}, not {golden:#018x}"));
        }
    }
    assert!(moved.is_empty(), "{moved:?}");
    assert!(events >= 100_000, "{events} events");
}
