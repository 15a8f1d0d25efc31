//! What holds resting bodies up: mean forces, creep, rates of events, and follow-up impulses.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{G, ball, cuboid, earth, parts, stepper_with};
use rigid_impulse::{CollisionKind, MicroParams};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
};
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams, Micro};
use sim_traits::{BodyId, HalfSpace};
use sim_world::{Body, EventKind, Listing, Stepper, World};

const BOTH: [ContactHandling; 2] = [ContactHandling::Standard, ContactHandling::Improved];

fn handling(handling: ContactHandling) -> EventDriven {
    stepper_with(|p| p.contact_handling = handling)
}

fn with_micro(micro: MicroParams, handling: ContactHandling) -> EventDriven {
    let mut params = EventDrivenParams::for_size(1.0);
    (params.micro, params.contact_handling) = (Micro::With(micro), handling);
    EventDriven::with(parts(), params)
}

/// A table: a top and four legs, each leg a collider of its own.
fn table() -> (World, BodyId) {
    let mut world = earth();
    let at = |x: f64, y: f64, z: f64| Pose::from_translation(DVec3::new(x, y, z));
    let mut body = Body::free().shape_at(cuboid(0.5, 0.5, 0.02), at(0.0, 0.0, 0.52));
    for (x, y) in [(-0.45, -0.45), (0.45, -0.45), (0.45, 0.45), (-0.45, 0.45)] {
        body = body.shape_at(cuboid(0.03, 0.03, 0.25), at(x, y, 0.25));
    }
    let id = world.add(body.at([0.0, 0.0, 0.0005]).friction(0.5)).unwrap();
    (world, id)
}

// proves: MIR-03
#[test]
fn each_leg_of_a_table_bears_a_quarter() {
    let (mut world, id) = table();
    let mut stepper = handling(ContactHandling::Improved);
    for _ in 0..6 {
        stepper.advance(&mut world, 1.0).unwrap();
    }
    let quarter = world[id].mass() * G / 4.0;
    let floor = world.colliders().next().unwrap().0;
    let forces: Vec<f64> = world.contacts().iter().filter(|c| c.a == floor).map(|c| -c.impulse.z).collect();
    println!("{forces:?} against {quarter}");
    assert_eq!(forces.len(), 4);
    for force in forces {
        assert!((force / quarter - 1.0).abs() < 0.02, "{force} N instead of {quarter}");
    }
}

// proves: MIR-04
#[test]
fn the_rate_of_events_of_a_box_at_rest_does_not_depend_on_its_mass() {
    for kind in BOTH {
        let rates = [1.0, 1000.0].map(|mass| {
            let mut world = earth();
            world.add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).mass(mass).at([0.0, 0.0, 0.1005])).unwrap();
            let mut stepper = handling(kind);
            stepper.advance(&mut world, 1.0).unwrap();
            stepper.advance(&mut world, 5.0).unwrap().events as f64 / 5.0
        });
        println!("{kind:?}: {rates:?} per second");
        assert!((rates[1] / rates[0] - 1.0).abs() < 0.2, "{kind:?}: {rates:?}");
    }
}

/// A box at rest for `time` (s) under a kind of micro-collisions: highest and lowest corner in units of the envelope, and
/// events per second.
fn rest(micro: MicroParams, kind: ContactHandling, time: f64) -> ([f64; 2], f64) {
    let (half, mut world) = (0.1, earth());
    let at = [0.0, 0.0, half + 0.5 * micro.envelope];
    let id = world.add(Body::free().shape(cuboid(half, half, half)).at(at)).unwrap();
    let mut stepper = with_micro(micro, kind);
    let (mut low, mut high, mut events) = (f64::INFINITY, 0.0_f64, 0);
    while world.time() < time {
        events += stepper.advance(&mut world, 0.013).unwrap().events;
        let pose = world[id].user_pose();
        let corner = |k: u32| {
            let sign = |bit: u32| if k & bit == 0 { half } else { -half };
            pose.transform_point(DVec3::new(sign(1), sign(2), sign(4))).z
        };
        let lowest = (0..8).map(corner).fold(f64::INFINITY, f64::min);
        (low, high) = (low.min(lowest), high.max(lowest));
    }
    ([low / micro.envelope, high / micro.envelope], events as f64 / world.time())
}

// proves: MIR-54
#[test]
fn boosted_restitution_keeps_a_box_inside_the_envelope() {
    for kind in BOTH {
        let mut micro = MicroParams::mirtich(1e-3);
        micro.reversing = false;
        let ([low, high], rate) = rest(micro, kind, 20.0);
        println!("{kind:?}: {low} to {high} envelopes, {rate} events per second");
        assert!(low > 0.0 && high < 1.0 && rate < 3000.0, "{kind:?}: {low} to {high}, {rate} per second");
    }
}

// proves: FON-62
#[test]
fn micro_impulses_hold_a_box_for_a_minute() {
    for (kind, most) in BOTH.into_iter().flat_map(|k| [2.0, 5.0].map(|m| (k, m))) {
        let ([low, high], rate) = rest(MicroParams::fontijne(1e-3, most), kind, 60.0);
        println!("{kind:?}, e_max {most}: {low} to {high} envelopes, {rate} events per second");
        assert!(low > 0.0 && high < 1.2 && rate < 3000.0, "{kind:?}, {most}: {low} to {high}, {rate}");
    }
}

/// A block of 0.4 x 0.4 x 0.2 m on a slope of `angle` (rad) that falls off towards `heading` (rad), and the way down.
fn slope(mu: f64, angle: f64, heading: f64) -> (World, BodyId, DVec3, DVec3) {
    let ((sin, cos), (y, x)) = (ops::sin_cos(angle), ops::sin_cos(heading));
    let downhill = DVec3::new(x, y, 0.0);
    let normal = DVec3::Z * cos + downhill * sin;
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    world.add(Body::fixed().shape(HalfSpace::new(normal).unwrap()).friction(mu)).unwrap();
    let pose = Pose::new(normal * 0.1005, DQuat::from_rotation_arc(DVec3::Z, normal));
    let id = world.add(Body::free().shape(cuboid(0.2, 0.2, 0.1)).pose(pose).friction(mu)).unwrap();
    (world, id, downhill * cos - DVec3::Z * sin, normal)
}

/// Creep (m/s) of a block on a slope under Mirtich's micro-collisions at the closest points, and how many of them reversed the
/// contact velocity and did not.
fn creep(mu: f64, tangent: f64, reversing: bool) -> (f64, [u32; 2]) {
    let (mut world, id, along, _) = slope(mu, ops::atan(tangent), 0.3);
    world.listing = Listing::All;
    let mut micro = MicroParams::mirtich(1e-3);
    micro.reversing = reversing;
    let mut stepper = with_micro(micro, ContactHandling::Standard);
    stepper.advance(&mut world, 1.0).unwrap();
    let (before, mut kinds) = (world[id].position(), [0; 2]);
    stepper.advance(&mut world, 10.0).unwrap();
    for event in world.events() {
        if let EventKind::Collision(c) = event.kind {
            kinds[usize::from(c.kind != CollisionKind::Reversed)] += 1;
        }
    }
    ((world[id].position() - before).dot(along) / 10.0, kinds)
}

// proves: MIR-55
#[test]
fn a_block_holds_on_a_ramp_where_reversing_impulses_are_inside_the_cone() {
    // Inside the cone for every corner and way of rocking: it is kicked uphill as fast as it falls downhill.
    let (holds, [reversed, others]) = creep(2.0, 0.25, true);
    println!("friction 2: creep {holds:e} m/s, {reversed} reversed, {others} not");
    assert!(holds.abs() < 5e-5, "creep {holds} m/s");
    assert!(reversed > 1000 && others == 0, "{reversed} reversed, {others} not");
    // Without reversal it creeps.
    let (slips, _) = creep(2.0, 0.25, false);
    assert!(slips > 100.0 * holds.abs(), "{slips} m/s without reversal, {holds} with it");
    // Outside the cone the method has an ordinary collision, which holds nothing: reported, and the less the more are inside.
    let rates = [(1.0, 0.25), (0.5, 0.25), (0.5, 0.475)].map(|(mu, tangent)| {
        let (rate, [reversed, others]) = creep(mu, tangent, true);
        println!("friction {mu}, slope {tangent}: creep {rate:e} m/s, {reversed} reversed, {others} not");
        rate
    });
    assert!(holds < rates[0] && rates[0] < rates[1] && rates[1] < rates[2] && rates[2] < 0.05, "{rates:?}");
}

// proves: ARN-56
#[test]
fn a_block_holds_on_a_ramp_and_its_mean_force_is_its_weight() {
    let (mu, time) = (0.5, 10.0);
    for (kind, envelope) in BOTH.into_iter().flat_map(|k| [1e-3, 1e-4].map(|e| (k, e))) {
        for share in [0.5, 0.95] {
            let (mut world, id, along, _) = slope(mu, ops::atan(share * mu), 0.3);
            let mut stepper = with_micro(MicroParams::mirtich(envelope), kind);
            stepper.advance(&mut world, 1.0).unwrap();
            let before = world[id].position();
            stepper.advance(&mut world, time).unwrap();
            let creep = (world[id].position() - before).dot(along) / time;
            let force = -world.contacts()[0].impulse / time;
            let weight = DVec3::Z * (world[id].mass() * G);
            println!(
                "{kind:?}, envelope {envelope}, tan = {share} mu: creep {creep:e} m/s, force {}",
                force / weight.z
            );
            if kind == ContactHandling::Improved {
                assert!(creep.abs() < 1e-5, "creep {creep} m/s");
                assert!((force - weight).length() < 0.01 * weight.z, "{force} against {weight}");
            }
        }
    }
}

// proves: MIR-46
#[test]
fn a_block_slides_alike_in_all_headings() {
    let (mu, angle) = (0.3, 30.0_f64.to_radians());
    let (sin, cos) = ops::sin_cos(angle);
    let exact = G * (sin - mu * cos);
    for k in 0..12 {
        let (mut world, id, along, _) = slope(mu, angle, 0.55 * f64::from(k));
        let mut stepper = handling(ContactHandling::Improved);
        stepper.advance(&mut world, 0.2).unwrap();
        let before = world[id].velocity().linear;
        stepper.advance(&mut world, 1.0).unwrap();
        let gained = world[id].velocity().linear - before;
        let (rate, aside) = (gained.dot(along), (gained - along * gained.dot(along)).truncate().length());
        assert!((rate / exact - 1.0).abs() < 0.02, "heading {k}: {rate} against {exact}");
        assert!(aside < 0.02 * exact, "heading {k}: {aside} aside");
    }
}

// proves: ARN-51
#[test]
fn a_plank_that_lands_on_two_supports_approaches_neither_afterwards() {
    for kind in BOTH {
        let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
        for x in [-0.6, 0.6] {
            world.add(Body::fixed().shape(cuboid(0.05, 0.3, 0.1)).at([x, 0.0, 0.1])).unwrap();
        }
        let plank = Body::free().shape(cuboid(0.8, 0.1, 0.02)).at([0.1, 0.0, 0.32]).restitution(0.0);
        let id = world.add(plank).unwrap();
        let mut stepper = handling(kind);
        let hit = (2.0 * 0.1 / G).sqrt();
        stepper.advance(&mut world, hit + 1e-9).unwrap();
        for x in [-0.6, 0.6] {
            let speed = world[id].state().velocity_at(DVec3::new(x, 0.0, 0.2)).z;
            assert!(speed > -1e-6, "{kind:?}: {speed} m/s at {x}");
        }
        stepper.advance(&mut world, 2.0).unwrap();
        let z = world[id].position().z - 0.22;
        assert!((-1e-10..3e-3).contains(&z), "{kind:?}: {z} above its rest");
    }
}

#[test]
fn a_ball_rolls_on_without_loss() {
    // Rolling needs no friction: nothing may slow it down.
    let (mut world, v) = (earth(), 1.0);
    let rolling = ball(0.1).at([0.0, 0.0, 0.1005]).moving([v, 0.0, 0.0]).spinning([0.0, v / 0.1, 0.0]);
    let id = world.add(rolling).unwrap();
    let mut stepper = handling(ContactHandling::Improved);
    stepper.advance(&mut world, 0.1).unwrap();
    let before = world[id].velocity();
    // It rolls on a radius that is half its distance from the floor larger.
    assert!((before.linear.x - v).abs() < 1e-3, "{before:?}");
    stepper.advance(&mut world, 5.0).unwrap();
    let after = world[id].velocity();
    assert!((after.linear.x - before.linear.x).abs() < 1e-4, "{before:?} {after:?}");
    assert!((after.angular.y - before.angular.y).abs() < 1e-3, "{before:?} {after:?}");
}
