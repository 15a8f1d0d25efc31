//! Bodies at rounding distance, and bodies with no way out.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{ball, cuboid, earth, smallest_separation, stepper_with};
use sim_math::{Pose, glam::DVec3, spatial::Motion, testkit::SplitMix64};
use sim_steppers::ContactHandling;
use sim_world::{Body, Screw, StepError, Stepper, World};

const BOTH: [ContactHandling; 2] = [ContactHandling::Standard, ContactHandling::Improved];

// proves: FON-95
#[test]
fn bodies_that_begin_at_rounding_distance_do_not_halt_the_world() {
    let mut random = SplitMix64(77);
    for (case, kind) in (0..60).flat_map(|k| BOTH.map(|b| (k, b))) {
        let gap = [1e-15, 1e-16, 0.0, 3e-13, 1e-10][case % 5];
        let mut world = if case % 2 == 0 { earth() } else { World::new(DVec3::ZERO).unwrap() };
        // Face on face, ball on face, a ball against a spinning rod; at rest, parting or approaching by next to nothing.
        let slow = random.vec3(if case % 3 == 0 { 0.0 } else { 1e-9 });
        world.add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).at([0.0, 0.0, 0.1 + gap])).unwrap();
        world
            .add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).at([0.2 + gap, 0.0, 0.1 + gap]).moving(slow))
            .unwrap();
        world.add(ball(0.05).at([0.0, 0.0, 0.25 + 2.0 * gap]).moving(slow)).unwrap();
        let rod = Body::free().shape(cuboid(0.3, 0.02, 0.02)).at([0.0, -0.5, 0.3]);
        world.add(rod.spinning([0.0, 0.0, 5.0])).unwrap();
        world.add(ball(0.05).at([0.1, -0.48 + 0.05 + gap, 0.3])).unwrap();
        let mut stepper = stepper_with(|p| p.contact_handling = kind);
        let mut events = 0;
        for _ in 0..10 {
            let report =
                stepper.advance(&mut world, 0.05).unwrap_or_else(|e| panic!("case {case}, {kind:?}: {e}"));
            events += report.events;
            assert!(smallest_separation(&world) > -1e-10, "case {case}, {kind:?}");
        }
        assert!(events < 6000, "case {case}, {kind:?}: {events} events in half a second");
    }
}

/// A cube between two plates that close on it, one from each side.
fn squeeze(speed: f64) -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap();
    for side in [-1.0, 1.0] {
        let start = Pose::from_translation(DVec3::X * (0.25 * side));
        let script = Screw { start, velocity: Motion::new(DVec3::ZERO, DVec3::X * (-side * speed)) };
        world.add(Body::scripted(script).shape(cuboid(0.05, 0.5, 0.5)).friction(0.5)).unwrap();
    }
    world.add(Body::fixed().shape(sim_traits::HalfSpace::up()).at([0.0, 0.0, -0.1])).unwrap();
    world.add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).at([0.0, 0.0, 0.001])).unwrap();
    world
}

#[test]
fn a_squeeze_with_no_way_out_is_an_error_that_names_the_pair() {
    for (kind, speed) in BOTH.into_iter().flat_map(|k| [0.1, 2.0].map(|v| (k, v))) {
        let mut world = squeeze(speed);
        let cube = world.bodies().last().unwrap().0;
        let mut stepper = stepper_with(|p| p.contact_handling = kind);
        let mut result = Ok(());
        let mut events = 0;
        for _ in 0..100 {
            match stepper.advance(&mut world, 0.02) {
                Ok(report) => events += report.events,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let error = result.expect_err("the plates meet in the cube");
        println!("{kind:?}, {speed} m/s: {error}, after {events} events");
        let (StepError::Budget { pair, time, .. } | StepError::Overlap { pair, time, .. }) = error else {
            panic!("{error}")
        };
        assert!(pair.bodies.contains(&cube), "{error}");
        // The gap is closed after 0.1 m of each plate; no event may be far beyond.
        assert!(time < 0.1 / speed * (1.0 + 1e-6), "{time}");
        assert!(smallest_separation(&world) > -1e-9);
    }
}
