//! Worlds looked at after every single event: what must hold then, by brute force.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use collision_narrowphase::default_chain;
use common::{ball, cube_on_corner, cuboid, earth, smallest_separation, stepper_with};
use sim_math::{Pose, glam::DVec3, spatial::Motion, testkit::SplitMix64};
use sim_steppers::{ContactHandling, EventDriven};
use sim_traits::{Capsule, ColliderId, NarrowPhase, PairCache};
use sim_world::{Body, Collision, EventKind, Listing, Screw, StepReport, Stepper, World};

const ENVELOPE: f64 = 1e-3;
/// m/s: a fall through the envelope.
const SLOW: f64 = 0.140_071;

/// Moves on by one event, or to `until` (s).
fn one_event(world: &mut World, stepper: &mut EventDriven, until: f64) -> StepReport {
    let next = stepper.next_event().unwrap_or(until).min(until);
    stepper.advance(world, (next - world.time()).max(0.0)).unwrap()
}

fn collisions(world: &World) -> Vec<Collision> {
    let collision = |kind: &EventKind| match kind {
        EventKind::Collision(c) => Some(*c),
        _ => None,
    };
    world.events().iter().filter_map(|e| collision(&e.kind)).collect()
}

/// A heap of everything: boxes on and beside each other, balls, capsules, a body of two shapes, a turning paddle.
fn heap() -> World {
    let mut world = earth();
    for k in 0..3 {
        let at = [0.0, 0.0, 0.1005 + 0.2005 * f64::from(k)];
        world.add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).at(at)).unwrap();
    }
    world.add(ball(0.1).at([-0.6, 0.02, 0.45]).moving([4.0, 0.0, 0.0]).restitution(0.4)).unwrap();
    let capsule = Capsule::new(0.05, 0.15).unwrap();
    world.add(Body::free().shape(capsule).at([0.3, 0.0, 0.4]).spinning([3.0, 1.0, 0.0])).unwrap();
    let end = |x: f64| Pose::from_translation(DVec3::X * x);
    let dumbbell = Body::free().shape_at(cuboid(0.05, 0.05, 0.05), end(-0.2));
    let dumbbell = dumbbell.shape_at(cuboid(0.07, 0.05, 0.06), end(0.2)).at([0.1, 0.5, 0.3]);
    world.add(dumbbell.spinning([0.5, 2.0, 0.2])).unwrap();
    world.add(cube_on_corner(0.08, 0.1).at([0.5, 0.5, 0.3]).restitution(0.3)).unwrap();
    let start = Pose::from_translation(DVec3::new(-0.3, 0.5, 0.06));
    let script = Screw { start, velocity: Motion::new(DVec3::Z * 2.0, DVec3::ZERO) };
    world.add(Body::scripted(script).shape(cuboid(0.3, 0.03, 0.05))).unwrap();
    world
}

/// Rods that spin in a box of thin plates without gravity.
fn rods() -> World {
    let mut world = World::new(DVec3::ZERO).unwrap();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [-0.7, 0.7] {
            let half = DVec3::ONE - 0.9995 * axis;
            let plate = Body::fixed().shape(cuboid(half.x, half.y, half.z)).at(axis * side);
            world.add(plate.restitution(0.9)).unwrap();
        }
    }
    let mut random = SplitMix64(5);
    for k in 0..4 {
        let rod = Body::free().shape(cuboid(0.2, 0.01, 0.01)).at([0.0, 0.3 * f64::from(k) - 0.45, 0.0]);
        world.add(rod.spinning(random.vec3(40.0)).moving(random.vec3(5.0)).restitution(0.9)).unwrap();
    }
    world
}

// proves: MIR-02, FON-83
#[test]
fn after_every_event_no_pair_overlaps_and_every_collision_was_inside_the_envelope() {
    for handling in [ContactHandling::Standard, ContactHandling::Improved] {
        for (name, mut world, until) in [("heap", heap(), 1.2), ("rods", rods(), 2.0)] {
            world.listing = Listing::All;
            let mut stepper = stepper_with(|p| p.contact_handling = handling);
            stepper.prepare(&mut world).unwrap();
            let (mut impulses, mut steps, mut least) = (0, 0, f64::INFINITY);
            while world.time() < until {
                one_event(&mut world, &mut stepper, until);
                let collided = collisions(&world);
                for c in &collided {
                    assert!(c.separation <= ENVELOPE && c.separation > -1e-10, "{name}: {c:?}");
                }
                impulses += collided.len();
                steps += 1;
                least = least.min(smallest_separation(&world));
                assert!(least > -1e-10, "{name}, {handling:?}: {least} at {}", world.time());
            }
            println!("{name}, {handling:?}: {steps} steps, {impulses} impulses, least {least:e}");
            assert!(impulses > 20, "{name}: {impulses}");
        }
    }
}

/// The largest approach (m/s) that is slow and inside the envelope, of the contacts of bodies that were pushed.
fn slow_approach(world: &World, pushed: &[ColliderId]) -> f64 {
    let narrow = default_chain();
    let bodies: Vec<_> = pushed.iter().map(|c| world.collider(*c).unwrap().body()).collect();
    let colliders: Vec<_> = world.colliders().map(|(_, c)| c).collect();
    let mut worst = 0.0_f64;
    for (k, a) in colliders.iter().enumerate() {
        for b in colliders[k + 1..].iter().filter(|b| world.may_collide(a, b)) {
            if ![a, b].iter().any(|c| world[c.body()].is_free() && bodies.contains(&c.body())) {
                continue;
            }
            let pose = |c: &sim_world::Collider| *world[c.body()].state().pose() * c.extent().body_from_shape;
            let (world_from_a, mut found) = (pose(a), Vec::new());
            let a_from_b = world_from_a.inverse_mul(&pose(b));
            let cache = &mut PairCache::default();
            narrow.manifolds(a.shape(), b.shape(), &a_from_b, ENVELOPE, cache, &mut found).unwrap();
            for manifold in &found {
                for contact in manifold.points().iter().filter(|c| c.separation <= ENVELOPE) {
                    let point = world_from_a.transform_point(0.5 * (contact.point_a + contact.point_b));
                    let normal = world_from_a.transform_vector(manifold.normal);
                    let velocity = |c: &sim_world::Collider| world[c.body()].state().velocity_at(point);
                    let approach = (velocity(b) - velocity(a)).dot(normal);
                    if approach < SLOW {
                        worst = worst.max(approach);
                    }
                }
            }
        }
    }
    worst
}

// proves: FON-84
#[test]
fn after_a_collision_phase_no_contact_of_a_pushed_body_approaches() {
    let mut world = heap();
    world.listing = Listing::All;
    let mut stepper =
        stepper_with(|p| (p.contact_handling, p.envelope) = (ContactHandling::Improved, Some(ENVELOPE)));
    stepper.prepare(&mut world).unwrap();
    let (mut phases, mut worst, mut sweeps) = (0, 0.0_f64, 0);
    while world.time() < 1.2 {
        sweeps += one_event(&mut world, &mut stepper, 1.2).sweeps;
        let pushed: Vec<_> = collisions(&world).iter().flat_map(|c| [c.a, c.b]).collect();
        if !pushed.is_empty() {
            phases += 1;
            worst = worst.max(slow_approach(&world, &pushed));
        }
    }
    println!("{phases} phases, {sweeps} sweeps, largest approach left {worst:e} m/s");
    // A hop of a resting body has 17.5 mm/s: a hundredth of it contacts may give way, another may be left by the sweeps.
    assert!(phases > 100 && worst < 3.6e-4, "{phases} phases, {worst} m/s left");
    assert!(sweeps < 100 * phases, "{sweeps} sweeps in {phases} phases");
}
