//! A body whose state stops being finite is left behind; the others go on.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "helpers of tests; exact results on purpose")]

mod common;

use common::{ball, earth, parts, stepper};
use rigid_impulse::impact::Integrated;
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_steppers::EventDriven;
use sim_traits::{Impact, ImpactError, ImpactLaw, Sphere};
use sim_world::{Body, ColliderBuilder, EventKind, Rest, Stepper, World};

/// A law of the user's that divides by zero for one surface.
#[derive(Debug)]
struct Broken(Integrated);

impl ImpactLaw for Broken {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        if impact.restitution == 0.9 { Ok(DVec3::NAN) } else { self.0.impulse(impact) }
    }
}

#[test]
fn a_nan_impulse_freezes_its_body_and_no_other() {
    let scene = |restitution: f64| {
        let mut world = earth();
        let bad = world.add(ball(0.1).at([0.0, 0.0, 1.1]).restitution(restitution)).unwrap();
        let good = world.add(ball(0.1).at([1.0, 0.0, 2.0]).restitution(0.5)).unwrap();
        let mut parts = parts();
        parts.impact_law = Box::new(Broken(Integrated::default()));
        let mut stepper = EventDriven::new(parts);
        let report = stepper.advance(&mut world, 2.0).unwrap();
        (world, stepper, report, bad, good)
    };
    let (mut world, mut stepper, report, bad, good) = scene(0.9);
    assert_eq!((world.time(), report.quarantined), (2.0, 1));
    assert_eq!(world[bad].rest(), Rest::Quarantined);
    // It stays where the NaN hit it: on the floor, at rest.
    assert!((world[bad].position() - DVec3::new(0.0, 0.0, 0.1)).length() < 1e-9);
    assert_eq!(world[bad].velocity(), Motion::ZERO);
    let fell = (2.0_f64 / 9.81).sqrt();
    let event = world.events().iter().find(|e| matches!(e.kind, EventKind::Quarantined { .. })).unwrap();
    assert_eq!(event.kind, EventKind::Quarantined { body: bad });
    assert!((event.time - fell).abs() < 1e-9);
    // The other one does what it does in a world without accidents.
    let (healthy, _, none, _, same) = scene(0.4);
    assert_eq!(none.quarantined, 0);
    assert!((world[good].position() - healthy[same].position()).length() < 1e-6);
    assert!(report.energy.remainder().abs() < 1e-9 * report.energy.gravity, "{:?}", report.energy);
    // The user can take it back.
    world.teleport(bad, Pose::from_translation(DVec3::new(0.0, 0.0, 5.0))).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
    assert_eq!(world[bad].rest(), Rest::Awake);
    assert!(world[bad].position().z < 5.0);
}

#[test]
fn contacts_of_the_others_go_on() {
    let scene = |restitution: f64| {
        let mut world = earth();
        world.add(ball(0.1).at([0.0, 0.0, 4.0]).restitution(restitution)).unwrap();
        world.add(ball(0.1).at([1.0, 0.0, 0.1]).restitution(0.0)).unwrap();
        let gate = ColliderBuilder::new(Sphere::new(0.3).unwrap()).sensor();
        world.add(Body::fixed().collider(gate).at([1.0, 0.0, 0.3])).unwrap();
        let mut parts = parts();
        parts.impact_law = Box::new(Broken(Integrated::default()));
        let mut stepper = EventDriven::new(parts);
        let mut began = Vec::new();
        let mut carried = Vec::new();
        for _ in 0..4 {
            stepper.advance(&mut world, 0.5).unwrap();
            let is_begin = |kind: &EventKind| {
                matches!(kind, EventKind::ContactBegan { .. } | EventKind::SensorEntered { .. })
            };
            began.extend(world.events().iter().map(|e| e.kind).filter(is_begin));
            carried.push(
                world.contacts().iter().filter(|c| c.b.index() == 2).map(|c| c.impulse.z.abs()).sum::<f64>(),
            );
        }
        (began, carried)
    };
    let ((accident, carried), (healthy, expected)) = (scene(0.9), scene(0.0));
    // The ball on the floor touched it, and was inside the gate, before and after.
    let of_others = |kinds: &[EventKind]| {
        let falls = |k: &&EventKind| matches!(k, EventKind::ContactBegan { a, b } if a.index() == 1 || b.index() == 1);
        kinds.iter().filter(|k| !falls(k)).copied().collect::<Vec<_>>()
    };
    assert_eq!(of_others(&accident), of_others(&healthy));
    assert_eq!(of_others(&healthy).len(), 2, "{healthy:?}");
    // What it bore before counts too, to a hop or two.
    for (carried, expected) in carried.iter().zip(expected) {
        assert!((carried / expected - 1.0).abs() < 0.05, "{carried} N s instead of {expected}");
    }
}

#[test]
fn numbers_that_overflow_freeze_their_body() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let lost = world.add(ball(0.1).moving([1e308, 0.0, 0.0])).unwrap();
    let good = world.add(ball(0.1).at([0.0, 3.0, 0.0]).moving([0.0, 1.0, 0.0])).unwrap();
    let mut stepper = stepper();
    let mut quarantined = 0;
    for _ in 0..10 {
        quarantined += stepper.advance(&mut world, 1.0).unwrap().quarantined;
    }
    assert_eq!((quarantined, world[lost].rest()), (1, Rest::Quarantined));
    assert!(world[lost].position().is_finite());
    assert!((world[good].position().y - 13.0).abs() < 1e-12);
}
