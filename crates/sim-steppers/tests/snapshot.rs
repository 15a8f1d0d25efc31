//! Saved and restored runs continue to the bit; damaged bytes are errors.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use collision_narrowphase::Polyhedron;
use common::{ball, cuboid, earth, stepper, stepper_with};
use rigid_impulse::motion::Shaker;
use sim_math::{
    Aabb, Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_steppers::{ContactHandling, EventDriven, SleepParams};
use sim_traits::{Capsule, CustomShape, Cylinder, HalfSpace, Shape, Sphere};
use sim_world::{
    Body, ColliderBuilder, EventKind, ForceGenerator, Groups, Limits, Pid, Quantity, Registry, Screw, Script,
    SnapshotError, Stepper, World,
};
use std::{any::Any, sync::Arc};

/// Balls and boxes in a heap.
fn heap() -> World {
    let mut world = earth();
    let mut random = SplitMix64(21);
    for k in 0..16 {
        let at = [0.4 * f64::from(k % 4), 0.4 * f64::from(k / 4 % 2), 0.3 + 0.4 * f64::from(k / 8)];
        let body = if k % 2 == 0 { ball(0.15) } else { Body::free().shape(cuboid(0.15, 0.1, 0.12)) };
        let body = body.at(at).turned(random.unit_quat()).moving(random.vec3(1.0)).spinning(random.vec3(3.0));
        world.add(body.restitution(0.4).tag(k as u64)).unwrap();
    }
    world
}

fn menagerie() -> World {
    zoo(6)
}

/// Every kind of shape, scripts, sensors, timers, forces, an empty slot, tilted ground.
fn zoo(count: usize) -> World {
    let mut world = World::new(DVec3::new(0.3, 0.0, -9.81)).unwrap();
    let tilted = HalfSpace::new(DVec3::new(0.05, -0.02, 1.0)).unwrap();
    let floor = world.add(Body::fixed().shape(tilted)).unwrap();
    let shaker = Shaker {
        center: DVec3::new(0.0, 0.0, 0.6),
        amplitude: DVec3::new(0.0, 0.0, 0.2),
        rate: 7.0,
        phase: 0.3,
        radius: 0.0,
    };
    world.add(Body::scripted(shaker).shape(cuboid(1.0, 1.0, 0.05))).unwrap();
    let velocity = Motion::new(DVec3::Z * 2.0, DVec3::ZERO);
    let start = Pose::from_translation(DVec3::new(3.0, 0.0, 0.8));
    world.add(Body::scripted(Screw { start, velocity }).shape(cuboid(0.5, 0.1, 0.1))).unwrap();
    let zone = ColliderBuilder::new(Sphere::new(1.0).unwrap()).sensor();
    world.add(Body::fixed().collider(zone).at([0.0, 0.0, 1.0])).unwrap();
    let mut random = SplitMix64(4);
    let shapes: [Shape; 6] = [
        Sphere::new(0.1).unwrap().into(),
        Capsule::new(0.1, 0.1).unwrap().into(),
        cuboid(0.1, 0.15, 0.1),
        Cylinder::new(0.1, 0.15).unwrap().into(),
        Shape::Convex(Arc::new(Polyhedron::dodecahedron(0.15).unwrap())),
        Shape::Convex(Arc::new(Polyhedron::random(20, 9).unwrap())),
    ];
    for (k, shape) in shapes.into_iter().take(count).enumerate() {
        let at = DVec3::new(0.45 * (k % 3) as f64 - 0.4, 0.5 * (k / 3) as f64, 1.8 + 2.5 * (k / 5) as f64);
        let groups = Groups { member: 1 << k, mask: u32::MAX };
        let part = ColliderBuilder::new(shape).groups(groups);
        let body = Body::free().collider(part).at(at).turned(random.unit_quat()).spinning(random.vec3(2.0));
        let id = world.add(body.restitution(0.3)).unwrap();
        if k == 2 {
            let force = DVec3::new(0.2, 0.0, 0.5);
            world.add_force(ForceGenerator::Constant { body: id, force, torque: DVec3::ZERO }).unwrap();
            world.ignore(id, floor, true).unwrap();
        }
        if k == 0 {
            world.add_force(ForceGenerator::Drag { body: id, linear: 0.1, angular: 0.001 }).unwrap();
            let (force, torque) = (DVec3::ZERO, DVec3::ZERO);
            let motor = world.add_force(ForceGenerator::Constant { body: id, force, torque }).unwrap();
            let pid = Pid::new(id, motor, Quantity::Velocity(DVec3::X), 0.02).gains(1.0, 0.2, 0.0);
            world.add_controller(0.01, 0.02, pid).unwrap();
        }
        if k == 3 {
            world.remove(id).unwrap();
        }
    }
    world.add_timer(0.05, 0.125).unwrap();
    world
}

fn continues_to_the_bit(world: &World, make: &dyn Fn() -> EventDriven, at: f64) {
    let registry = Registry::new();
    let (mut straight, mut stepper) = (world.clone(), make());
    stepper.advance(&mut straight, at).unwrap();
    let (bytes, tables) = (straight.snapshot(&registry).unwrap(), stepper.save(&straight).unwrap());
    let mut restored = World::restore(&bytes, &registry).unwrap();
    assert_eq!(restored.digest(), straight.digest());
    assert_eq!(restored.snapshot(&registry).unwrap(), bytes, "saving what was restored");
    let mut other = make();
    other.load(&restored, &tables).unwrap();
    assert_eq!(other.save(&restored).unwrap().len(), tables.len());
    for step in 0..8 {
        let (a, b) = (stepper.advance(&mut straight, 0.21), other.advance(&mut restored, 0.21));
        assert_eq!(a, b, "step {step}");
        assert_eq!(straight.digest(), restored.digest(), "step {step} after {at}");
        assert_eq!(straight.events(), restored.events(), "step {step} after {at}");
        assert_eq!(straight.contacts(), restored.contacts(), "step {step} after {at}");
    }
}

// proves: MIR-90
#[test]
fn restored_runs_continue_to_the_bit() {
    for at in [0.0, 0.013, 0.37, 1.0, 1.731] {
        continues_to_the_bit(&heap(), &stepper, at);
        continues_to_the_bit(&menagerie(), &stepper, at);
        continues_to_the_bit(&heap(), &|| stepper_with(|p| p.sleep = Some(SleepParams::default())), at);
        let improved = || stepper_with(|p| p.contact_handling = ContactHandling::Improved);
        continues_to_the_bit(&heap(), &improved, at);
    }
}

#[test]
fn times_at_which_boxes_are_left_are_saved_too() {
    for at in [0.013, 0.37] {
        continues_to_the_bit(&heap(), &|| stepper_with(|p| (p.sweep, p.margin) = (0.07, 0.0)), at);
    }
}

#[test]
fn changes_that_the_stepper_has_not_seen_are_saved_too() {
    let (mut world, mut first) = (heap(), stepper());
    first.advance(&mut world, 0.3).unwrap();
    let ids: Vec<_> = world.bodies().map(|(id, _)| id).collect();
    world.remove(ids[3]).unwrap();
    world.apply_impulse(ids[5], world[ids[5]].center(), DVec3::Z * 20.0).unwrap();
    world.add(ball(0.1).at([0.0, 0.0, 5.0])).unwrap();
    let registry = Registry::new();
    let (bytes, tables) = (world.snapshot(&registry).unwrap(), first.save(&world).unwrap());
    let mut restored = World::restore(&bytes, &registry).unwrap();
    let mut second = stepper();
    second.load(&restored, &tables).unwrap();
    for _ in 0..4 {
        assert_eq!(first.advance(&mut world, 0.2), second.advance(&mut restored, 0.2));
        assert_eq!(world.digest(), restored.digest());
    }
    // Names that were stale stay stale.
    assert!(restored.get(ids[3]).is_none());
}

#[test]
fn ends_of_contacts_that_wait_to_be_listed_are_saved_too() {
    let (mut world, mut first) = (heap(), stepper());
    first.advance(&mut world, 1.0).unwrap();
    let touched = world.contacts().len();
    let floor = world.bodies().next().unwrap().0;
    world.remove(floor).unwrap();
    // The stepper knows, and has had no chance to say so.
    first.prepare(&mut world).unwrap();
    let registry = Registry::new();
    let (bytes, tables) = (world.snapshot(&registry).unwrap(), first.save(&world).unwrap());
    let mut restored = World::restore(&bytes, &registry).unwrap();
    let mut second = stepper();
    second.load(&restored, &tables).unwrap();
    assert_eq!(first.advance(&mut world, 1e-3), second.advance(&mut restored, 1e-3));
    let ended = world.events().iter().filter(|e| matches!(e.kind, EventKind::ContactEnded { .. })).count();
    assert!(touched > 8 && ended > 8, "{touched} {ended}");
    assert_eq!(world.events(), restored.events());
}

#[derive(Debug)]
struct Blob;

impl CustomShape for Blob {
    fn aabb(&self, pose: &Pose) -> Aabb {
        Aabb::from_center_half_extents(pose.translation, DVec3::ONE)
    }

    fn bounding_radius(&self) -> f64 {
        1.0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "blob"
    }
}

#[derive(Debug)]
struct Standing;

impl Script for Standing {
    fn pose(&self, _t: f64) -> Pose {
        Pose::IDENTITY
    }

    fn velocity(&self, _t: f64) -> Motion {
        Motion::ZERO
    }

    fn limits(&self) -> Limits {
        Limits { speed: 0.0, acceleration: 0.0, angular: 0.0, angular_acceleration: 0.0 }
    }
}

#[test]
fn what_has_no_form_as_data_needs_a_name() {
    let (blob, standing): (Arc<dyn CustomShape>, Arc<dyn Script>) = (Arc::new(Blob), Arc::new(Standing));
    let mut world = World::new(DVec3::ZERO).unwrap();
    world.add(ball(0.1)).unwrap();
    let id = world.add(Body::fixed().shape(Shape::Custom(blob.clone())).at([5.0, 0.0, 0.0])).unwrap();
    let error = world.snapshot(&Registry::new()).unwrap_err();
    let name = "blob".to_owned();
    assert_eq!(error, SnapshotError::Unregistered { body: id, what: "shape", name });
    let registry = Registry::new().shape("the blob", Shape::Custom(blob));
    let second =
        world.add(Body::scripted_by(standing.clone()).shape(cuboid(0.1, 0.1, 0.1)).at([0.0; 3])).unwrap();
    let error = world.snapshot(&registry).unwrap_err();
    assert!(matches!(error, SnapshotError::Unregistered { body, what: "script", .. } if body == second));
    let registry = registry.script("standing", standing);
    let bytes = world.snapshot(&registry).unwrap();
    assert_eq!(World::restore(&bytes, &registry).unwrap().digest(), world.digest());
    let error = World::restore(&bytes, &Registry::new()).unwrap_err();
    assert!(matches!(error, SnapshotError::Unregistered { .. }), "{error}");
}

#[test]
fn bytes_of_another_kind_version_or_stepper_are_refused() {
    let (mut world, mut first) = (heap(), stepper());
    first.advance(&mut world, 0.1).unwrap();
    let registry = Registry::new();
    let (bytes, tables) = (world.snapshot(&registry).unwrap(), first.save(&world).unwrap());
    assert!(matches!(World::restore(&tables, &registry), Err(SnapshotError::Kind { .. })));
    assert!(matches!(first.load(&world, &bytes), Err(SnapshotError::Kind { .. })));
    let mut other = bytes.clone();
    other[6] ^= 1;
    let error = World::restore(&other, &registry).unwrap_err();
    assert_eq!(error.to_string(), "version 7 of kind \"world\", not 6");
    assert!(matches!(World::restore(&[], &registry), Err(SnapshotError::Damaged { .. })));
    let mut foreign = stepper_with(|p| p.window = 0.1);
    assert_eq!(foreign.load(&world, &tables), Err(SnapshotError::Mismatch { what: "set of parameters" }));
    // After a refusal the stepper starts afresh and goes on.
    foreign.advance(&mut world, 0.1).unwrap();
    // A stepper that does not know the world has nothing to say.
    assert_eq!(stepper().save(&world).unwrap(), Vec::<u8>::new());
}

/// The checksum made right again, so that what is behind it is tested.
fn reseal(bytes: &mut [u8]) {
    use std::hash::{BuildHasher, Hasher};
    let head = 1 + usize::from(bytes[0]) + 4;
    let mut hasher = sim_traits::FixedState.build_hasher();
    hasher.write(&bytes[head + 8..]);
    let sum = hasher.finish().to_le_bytes();
    bytes[head..head + 8].copy_from_slice(&sum);
}

#[test]
fn soak_damaged_snapshots_never_panic() {
    // Without the polyhedron of many faces, which takes long to build.
    let (mut world, mut first) = (zoo(5), stepper());
    first.advance(&mut world, 0.4).unwrap();
    let registry = Registry::new();
    let (bytes, tables) = (world.snapshot(&registry).unwrap(), first.save(&world).unwrap());
    let mut random = SplitMix64(99);
    let soak = std::env::var("TUMBLESTONE_SOAK").ok().and_then(|s| s.parse::<usize>().ok()).unwrap_or(1);
    let (mut refused, mut accepted) = (0_u32, 0_u32);
    for k in 0..100_000 * soak {
        let mut bad = if k % 2 == 0 { bytes.clone() } else { tables.clone() };
        for _ in 0..1 + random.below(3) {
            let at = random.below(bad.len());
            bad[at] = random.next_u64() as u8;
        }
        if random.below(8) == 0 {
            bad.truncate(random.below(bad.len()));
        }
        // Three of four get past the checksum.
        if random.below(4) > 0 && bad.len() > 40 && usize::from(bad[0]) < 20 {
            reseal(&mut bad);
        }
        let result = if k % 2 == 0 {
            World::restore(&bad, &registry).map(|w| assert!(w.time().is_finite() && w.digest() != 1))
        } else {
            stepper().load(&world, &bad)
        };
        if result.is_ok() {
            accepted += 1;
        } else {
            refused += 1;
        }
    }
    assert!(refused > 50_000 && accepted > 1000, "{refused} {accepted}");
}

#[test]
fn a_digest_sees_a_single_bit() {
    let mut world = heap();
    let before = world.digest();
    assert_eq!(before, heap().digest());
    let id = world.bodies().nth(3).unwrap().0;
    let mut velocity = world[id].velocity();
    velocity.linear.x = f64::from_bits(velocity.linear.x.to_bits() ^ 1);
    world.set_velocity(id, velocity).unwrap();
    assert_ne!(world.digest(), before);
    let turned = World::new(DQuat::IDENTITY * DVec3::ZERO).unwrap();
    assert_ne!(turned.digest(), World::new(DVec3::X).unwrap().digest());
}
