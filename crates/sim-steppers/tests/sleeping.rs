//! Settled groups sleep, wake up when they must, and end where they would have ended.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "helpers of tests; exact results on purpose")]

mod common;

use common::{ball, cuboid, earth, smallest_separation, stepper_with};
use rigid_impulse::{Material, SurfacePair};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
    spatial::Motion,
};
use sim_steppers::{ContactHandling, EventDriven, SleepParams};
use sim_traits::{BodyId, HalfSpace};
use sim_world::{Body, ColliderBuilder, EventKind, Limits, Rest, Script, StepReport, Stepper, World};

fn sleepy() -> EventDriven {
    stepper_with(|p| {
        // Bricks on bricks creep by a few envelopes a second while they are awake.
        let mut sleep = SleepParams::default();
        sleep.motion = 5.0;
        p.sleep = Some(sleep);
        p.contact_handling = ContactHandling::Improved;
    })
}

fn awake() -> EventDriven {
    stepper_with(|p| p.contact_handling = ContactHandling::Improved)
}

fn brick() -> sim_world::BodyBuilder {
    Body::free().shape(cuboid(0.2, 0.1, 0.1)).friction(0.6)
}

/// Two towers of two bricks each on the floor.
fn towers() -> (World, Vec<BodyId>) {
    let mut world = earth();
    let mut ids = Vec::new();
    for (x, z) in [(0.0, 0.1005), (0.0, 0.302), (2.0, 0.1005), (2.0, 0.302)] {
        ids.push(world.add(brick().at([x, 0.0, z])).unwrap());
    }
    (world, ids)
}

fn asleep(world: &World, ids: &[BodyId]) -> Vec<bool> {
    ids.iter().map(|id| world[*id].rest() == Rest::Asleep).collect()
}

/// Both towers, asleep after three seconds.
fn sleeping_towers() -> (World, Vec<BodyId>, EventDriven) {
    let (mut world, ids) = towers();
    let mut stepper = sleepy();
    stepper.advance(&mut world, 3.0).unwrap();
    assert_eq!(asleep(&world, &ids), [true; 4], "{:?}", world.events());
    (world, ids, stepper)
}

#[test]
fn settled_towers_sleep_and_cost_no_events() {
    let (mut world, ids, mut stepper) = sleeping_towers();
    let before: Vec<_> = ids.iter().map(|id| world[*id].user_pose()).collect();
    let report = stepper.advance(&mut world, 10.0).unwrap();
    assert_eq!((report.events, report.micro_collisions), (report.windows, 0), "{report}");
    let after: Vec<_> = ids.iter().map(|id| world[*id].user_pose()).collect();
    assert_eq!(before, after);
    assert_eq!(world.kinetic_energy(), 0.0);
    assert!(smallest_separation(&world) > 0.0);
}

#[test]
fn sleeping_ends_where_waking_does_and_the_energy_it_took_is_booked() {
    let (mut a, ids) = towers();
    let (mut b, _) = towers();
    let mut total = StepReport::default();
    let (mut with, mut without) = (sleepy(), awake());
    for _ in 0..6 {
        total = total.then(&with.advance(&mut a, 0.5).unwrap());
        without.advance(&mut b, 0.5).unwrap();
    }
    for id in &ids {
        let apart = (a[*id].position() - b[*id].position()).length();
        // Five envelopes: that is how far the one that stays awake creeps meanwhile.
        assert!(apart < 5e-3, "{id}: {apart}");
    }
    assert_eq!(total.fell_asleep, 4);
    let e = &total.energy;
    assert!(e.sleep <= 0.0 && e.end == 0.0, "{e:?}");
    assert!(e.remainder().abs() < 1e-9 * (e.gravity.abs() + e.start), "{e:?}");
    let left = total.momentum.remainder();
    assert!(left.linear.length() < 1e-12 * total.momentum.gravity.linear.length(), "{left:?}");
}

#[test]
fn a_touch_wakes_the_tower_that_is_touched_and_no_other() {
    let (mut world, ids, mut stepper) = sleeping_towers();
    world.add(ball(0.1).at([0.0, 0.0, 1.0])).unwrap();
    let report = stepper.advance(&mut world, 0.4).unwrap();
    assert_eq!(asleep(&world, &ids), [false, false, true, true]);
    assert_eq!(report.woke_up, 2);
    // They wake at the touch, before it is answered.
    let woke = world.events().iter().position(|e| matches!(e.kind, EventKind::WokeUp { .. })).unwrap();
    let hit = world.events().iter().position(|e| matches!(e.kind, EventKind::Collision(_))).unwrap();
    assert!(woke < hit && (world.events()[woke].time - 3.0 - (2.0 * 0.4975_f64 / 9.81).sqrt()).abs() < 5e-3);
    assert!(report.energy.remainder().abs() < 1e-9 * report.energy.gravity.abs(), "{:?}", report.energy);
}

#[test]
fn a_push_wakes_the_whole_tower() {
    let (mut world, ids, mut stepper) = sleeping_towers();
    world.apply_impulse(ids[2], world[ids[2]].center(), DVec3::new(30.0, 0.0, 0.0)).unwrap();
    let report = stepper.advance(&mut world, 0.2).unwrap();
    assert_eq!(asleep(&world, &ids), [true, true, false, false]);
    assert_eq!(report.woke_up, 1, "the one that was pushed is awake already");
    assert!(world[ids[2]].position().x > 2.05);
}

#[test]
fn without_its_support_a_sleeper_falls() {
    let (mut world, ids, mut stepper) = sleeping_towers();
    world.remove(ids[0]).unwrap();
    stepper.advance(&mut world, 1.5).unwrap();
    assert!((world[ids[1]].position().z - 0.1).abs() < 2e-3, "{}", world[ids[1]].position());
    assert_eq!(asleep(&world, &ids[2..]), [true, true]);
    // The same by a teleport.
    world.teleport(ids[2], Pose::from_translation(DVec3::new(5.0, 0.0, 0.2))).unwrap();
    stepper.advance(&mut world, 1.5).unwrap();
    for id in [ids[2], ids[3]] {
        assert!((world[id].position().z - 0.1).abs() < 2e-3, "{}", world[id].position());
    }
}

#[test]
fn another_gravity_wakes_everyone() {
    let (mut world, ids, mut stepper) = sleeping_towers();
    world.set_gravity([0.0, 0.0, 1.0]).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    assert_eq!(asleep(&world, &ids), [false; 4]);
    assert!(world[ids[1]].position().z > 0.6);
}

#[test]
fn ice_under_a_sleeper_lets_it_slide() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap();
    let slope = Pose::new(DVec3::ZERO, DQuat::from_rotation_y(0.2));
    let stone = world.materials_mut().add(Material::new(0.6, 0.0, 1000.0).unwrap());
    let floor = ColliderBuilder::new(HalfSpace::up()).material(stone);
    world.add(Body::fixed().collider(floor).pose(slope)).unwrap();
    let lying = slope * Pose::from_translation(DVec3::Z * 0.1005);
    let part = ColliderBuilder::new(cuboid(0.2, 0.1, 0.1)).material(stone);
    let id = world.add(Body::free().collider(part).pose(lying)).unwrap();
    let mut stepper = sleepy();
    stepper.advance(&mut world, 2.0).unwrap();
    assert_eq!(world[id].rest(), Rest::Asleep);
    let before = world[id].position();
    let ice = SurfacePair { friction: 0.0, restitution: 0.0 };
    world.materials_mut().set_pair(stone, stone, ice).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    // ½ g sin 0.2 in the first second.
    let way = (world[id].position() - before).length();
    assert!((way / (0.5 * 9.81 * ops::sin(0.2)) - 1.0).abs() < 0.02, "{way}");
}

/// Stands until a time, then goes down.
#[derive(Debug)]
struct Lift {
    from: f64,
    speed: f64,
}

impl Script for Lift {
    fn pose(&self, t: f64) -> Pose {
        Pose::from_translation(DVec3::new(0.0, 0.0, 1.0 + self.speed * (t - self.from).max(0.0)))
    }

    fn velocity(&self, t: f64) -> Motion {
        let speed = if t >= self.from { self.speed } else { 0.0 };
        Motion::new(DVec3::ZERO, DVec3::Z * speed)
    }

    fn limits(&self) -> Limits {
        Limits {
            speed: self.speed.abs(),
            acceleration: f64::INFINITY,
            angular: 0.0,
            angular_acceleration: 0.0,
        }
    }
}

#[test]
fn a_scripted_support_that_begins_to_move_wakes_its_load() {
    for speed in [0.3, -0.3] {
        let mut world = World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap();
        world.add(Body::scripted(Lift { from: 4.0, speed }).shape(cuboid(1.0, 1.0, 0.1))).unwrap();
        let id = world.add(brick().at([0.0, 0.0, 1.201])).unwrap();
        let mut stepper = sleepy();
        stepper.advance(&mut world, 3.5).unwrap();
        assert_eq!(world[id].rest(), Rest::Asleep);
        stepper.advance(&mut world, 1.5).unwrap();
        assert_eq!(world[id].rest(), Rest::Awake);
        let expected = 1.2 + speed;
        assert!((world[id].position().z - expected).abs() < 3e-3, "{}", world[id].position());
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused_and_off_is_off() {
    let (mut world, ids) = towers();
    let mut stepper = stepper_with(|p| {
        let mut sleep = SleepParams::default();
        sleep.after = -1.0;
        p.sleep = Some(sleep);
    });
    assert!(stepper.advance(&mut world, 0.1).is_err());
    awake().advance(&mut world, 3.0).unwrap();
    assert_eq!(asleep(&world, &ids), [false; 4]);
}

/// Four rows of bricks in running bond.
fn wall() -> (World, Vec<BodyId>) {
    let (mut world, mut ids, gap) = (earth(), Vec::new(), 5e-4);
    for row in 0..4 {
        for k in 0..5 - row % 2 {
            let x = (0.4 + gap) * (f64::from(k) + 0.5 * f64::from(row % 2));
            let z = 0.1 + gap + (0.2 + gap) * f64::from(row);
            ids.push(world.add(brick().at([x, 0.0, z])).unwrap());
        }
    }
    (world, ids)
}

// proves: FON-96
#[test]
fn a_wall_sleeps_until_it_is_hit_and_stands_where_it_would_have_stood() {
    let ((mut world, ids), (mut waking, _)) = (wall(), wall());
    let (mut stepper, mut other) = (sleepy(), awake());
    stepper.advance(&mut world, 2.0).unwrap();
    other.advance(&mut waking, 2.0).unwrap();
    assert_eq!(asleep(&world, &ids), [true; 18]);
    // Before the impact it costs one event for each window of 0.05 s, which is no time at all.
    let report = stepper.advance(&mut world, 3.0).unwrap();
    assert!(report.events == report.windows && report.distances == 0, "{report}");
    other.advance(&mut waking, 3.0).unwrap();
    for id in &ids {
        let apart = (world[*id].position() - waking[*id].position()).length();
        assert!(apart < 1e-3, "{id}: {apart} m apart");
    }
    world.add(ball(0.1).at([1.0, -1.0, 0.5]).moving([0.0, 8.0, 0.0])).unwrap();
    let report = stepper.advance(&mut world, 0.3).unwrap();
    assert_eq!(report.woke_up, 18);
    assert!(smallest_separation(&world) > -1e-10);
}
