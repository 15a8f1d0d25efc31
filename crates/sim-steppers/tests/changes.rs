//! Changes at run time, and input that is refused.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "helpers of tests; exact results on purpose")]

mod common;

use collision_broadphase::{BruteForce, CoherentHash, ColumnSweep, DynamicTree, SweepAndPrune};
use common::{G, ball, cuboid, earth, parts, smallest_separation, stepper, stepper_with};
use rigid_impulse::motion::Shaker;
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_steppers::{EventDriven, Micro};
use sim_traits::{BroadPhase, HalfSpace};
use sim_world::{Body, EventKind, ForceGenerator, Groups, Screw, StepError, Stepper, World};

// proves: FON-78
#[test]
fn an_initial_overlap_is_an_error_that_names_the_pair_and_the_depth() {
    let mut world = earth();
    world.add(ball(0.5).at([0.0, 0.0, 0.25])).unwrap();
    let error = stepper().advance(&mut world, 1.0).unwrap_err();
    assert_eq!(error.to_string(), "body 0 and body 1 overlap by 0.25 m at t = 0 s");
    assert_eq!(stepper().prepare(&mut world).unwrap_err(), error);
    assert_eq!(world.time(), 0.0);
}

#[test]
fn limbs_pass_through_each_other_until_they_are_told_to_collide() {
    // Three balls in free space, two of them limbs that fly towards each other; the third is in the way of one.
    let run = |collide: Option<bool>| {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let mut add = |x: f64, v: f64| {
            world.add(ball(0.5).restitution(1.0).at([x, 0.0, 0.0]).moving([v, 0.0, 0.0])).unwrap()
        };
        let (a, b, other) = (add(-2.0, 1.0), add(2.0, -1.0), add(-5.0, 0.0));
        if let Some(collide) = collide {
            world.set_self_collision(&[a, b, a], collide).unwrap();
        }
        stepper().advance(&mut world, 8.0).unwrap();
        [a, b, other].map(|id| world[id].velocity().linear.x)
    };
    // Equal elastic balls exchange their velocities.
    assert_eq!(run(None), run(Some(true)));
    let (met, passed) = (run(Some(true)), run(Some(false)));
    assert!((met[1] - 1.0).abs() < 1e-9 && (met[2] + 1.0).abs() < 1e-9, "{met:?}");
    assert!((passed[0] - 1.0).abs() < 1e-9 && (passed[2] + 1.0).abs() < 1e-9, "{passed:?}");

    let mut world = World::new(DVec3::ZERO).unwrap();
    let (a, b) = (world.add(ball(0.5)).unwrap(), world.add(ball(0.5).at([2.0, 0.0, 0.0])).unwrap());
    world.remove(b).unwrap();
    assert!(world.set_self_collision(&[a, b], false).is_err());
}

#[test]
fn a_teleport_into_another_body_is_an_error_and_can_be_taken_back() {
    let mut world = earth();
    let a = world.add(ball(0.5).at([0.0, 0.0, 2.0])).unwrap();
    world.add(ball(0.5).at([3.0, 0.0, 2.0])).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 0.1).unwrap();
    let there = world[a].user_pose();
    world.teleport(a, Pose::from_translation(there.translation + DVec3::X * 2.5)).unwrap();
    let error = stepper.advance(&mut world, 0.1).unwrap_err();
    assert!(matches!(error, StepError::Overlap { .. }), "{error}");
    world.teleport(a, there).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
    assert!((world[a].position().z - (2.0 - 0.5 * G * 0.04)).abs() < 1e-12);
}

#[test]
fn a_body_removed_in_mid_run_is_gone_and_the_others_go_on() {
    let mut world = earth();
    let table = world.add(Body::fixed().shape(cuboid(0.5, 0.5, 0.05)).at([0.0, 0.0, 0.5])).unwrap();
    let id = world.add(ball(0.1).at([0.0, 0.0, 0.7])).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[id].position().z - 0.65).abs() < 2e-3);
    world.remove(table).unwrap();
    assert!(world.get(table).is_none());
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[id].position().z - 0.1).abs() < 2e-3, "{}", world[id].position());
    // Its slot is used again, by a body that the old name does not reach.
    let other = world.add(ball(0.1).at([0.0, 0.0, 0.5])).unwrap();
    assert_eq!((other.index(), other.generation()), (table.index(), 1));
    stepper.advance(&mut world, 1.0).unwrap();
    assert!(world.get(table).is_none());
    assert!(world[other].position().z < 0.4);
}

#[test]
fn a_body_in_the_slot_of_one_that_was_removed_meets_the_same_things() {
    let phases: [fn() -> Box<dyn BroadPhase>; 5] = [
        || Box::new(CoherentHash::default()),
        || Box::new(BruteForce::default()),
        || Box::new(SweepAndPrune::default()),
        || Box::new(ColumnSweep::default()),
        || Box::new(DynamicTree::default()),
    ];
    for phase in phases {
        let mut parts = parts();
        parts.broad_phase = phase();
        let name = format!("{:?}", parts.broad_phase).chars().take(12).collect::<String>();
        let (mut world, mut stepper) = (earth(), EventDriven::new(parts));
        let first = world.add(ball(0.1).at([0.0, 0.0, 0.1005])).unwrap();
        let above = world.add(ball(0.1).at([0.0, 0.0, 0.302]).friction(0.0)).unwrap();
        stepper.advance(&mut world, 0.1).unwrap();
        // Another one in its place, before the stepper knows; once more with a third that is tried in between.
        for tries in [1, 2] {
            let old = world.bodies().find(|(id, _)| id.index() == first.index()).unwrap().0;
            let at = world[old].position();
            world.remove(old).unwrap();
            for k in 0..tries {
                let new = world.add(ball(0.1).at(at)).unwrap();
                assert_eq!(new.index(), first.index());
                if k + 1 < tries {
                    world.remove(new).unwrap();
                }
            }
            for _ in 0..10 {
                stepper.advance(&mut world, 0.01).unwrap();
                assert!(smallest_separation(&world) > -1e-10, "{name}, {tries} tries");
            }
            assert!(world[above].position().z > 0.29, "{name}, {tries} tries");
        }
    }
}

// proves: FON-63
#[test]
fn gravity_can_be_changed_in_mid_run() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let id = world.add(ball(0.1)).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 1.0).unwrap();
    world.set_gravity([2.0, 0.0, 0.0]).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    let expected = DVec3::new(1.0, 0.0, -1.5 * G);
    assert!((world[id].position() - expected).length() < 1e-12);
    assert!(world.set_gravity([f64::NAN, 0.0, 0.0]).is_err());
}

// proves: DYN-08
#[test]
fn a_constant_force_gives_an_exact_parabola() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let id = world.add(ball(0.1).mass(2.0)).unwrap();
    let force = ForceGenerator::Constant { body: id, force: DVec3::new(0.0, 4.0, 0.0), torque: DVec3::ZERO };
    let force = world.add_force(force).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[id].position() - DVec3::new(0.0, 1.0, -0.5 * G)).length() < 1e-13);
    assert!(world.remove_force(force).is_ok() && world.remove_force(force).is_err());
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[id].position().y - 3.0).abs() < 1e-13);
}

// proves: MIR-11
#[test]
fn a_scripted_bat_hits_a_ball_and_does_not_feel_it() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let velocity = Motion::new(DVec3::ZERO, DVec3::new(3.0, 0.0, 0.0));
    let bat = world
        .add(Body::scripted(Screw { start: Pose::IDENTITY, velocity }).shape(cuboid(0.1, 1.0, 1.0)))
        .unwrap();
    let id = world.add(ball(0.1).at([2.0, 0.0, 0.0]).restitution(0.5)).unwrap();
    stepper().advance(&mut world, 1.0).unwrap();
    assert!((world[id].velocity().linear.x - 4.5).abs() < 1e-12);
    assert_eq!(world[bat].position(), DVec3::new(3.0, 0.0, 0.0));
}

// proves: MIR-28
#[test]
fn a_pair_that_cannot_meet_is_found_again_after_an_impulse() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    let id = world.add(ball(0.1).at([0.0, 0.0, 1.0])).unwrap();
    let mut stepper = stepper();
    assert_eq!(stepper.advance(&mut world, 10.0).unwrap().collisions, 0);
    let mass = world[id].mass();
    world.apply_impulse(id, world[id].center(), DVec3::new(0.0, 0.0, -mass)).unwrap();
    assert_eq!(stepper.advance(&mut world, 1.0).unwrap().collisions, 1);
}

#[test]
fn a_shaken_floor_throws_a_ball_and_never_passes_it() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let shaker =
        Shaker { center: DVec3::ZERO, amplitude: DVec3::Z * 0.02, rate: 40.0, phase: 0.0, radius: 0.0 };
    let floor = world.add(Body::scripted(shaker).shape(cuboid(1.0, 1.0, 0.1))).unwrap();
    let id = world.add(ball(0.1).at([0.0, 0.0, 0.3]).restitution(0.5)).unwrap();
    let mut stepper = stepper();
    let mut top = 0.0_f64;
    for _ in 0..300 {
        stepper.advance(&mut world, 0.01).unwrap();
        let gap = world[id].position().z - world[floor].position().z - 0.2;
        assert!(gap > -1e-10, "{gap} at {}", world.time());
        top = top.max(gap);
    }
    assert!(top > 0.05, "{top}");
}

#[test]
fn groups_and_sensors_let_bodies_through() {
    let mut world = earth();
    let ghost = sim_world::ColliderBuilder::new(sim_traits::Sphere::new(0.1).unwrap());
    let a = world
        .add(Body::free().collider(ghost.clone().groups(Groups { member: 2, mask: 0 })).at([0.0, 0.0, 0.5]))
        .unwrap();
    let properties = sim_math::mass::solid::sphere(0.1, sim_math::mass::Amount::Mass(1.0)).unwrap();
    let b = world
        .add(Body::free().collider(ghost.sensor()).mass_properties(properties).at([1.0, 0.0, 0.5]))
        .unwrap();
    stepper().advance(&mut world, 1.0).unwrap();
    for id in [a, b] {
        assert!((world[id].position().z - (0.5 - 0.5 * G)).abs() < 1e-12);
    }
}

#[test]
fn timers_go_off_at_exact_multiples() {
    let mut world = earth();
    world.add(ball(0.1).at([0.0, 0.0, 0.1])).unwrap();
    let timer = world.add_timer(0.0, 1e-3).unwrap();
    let mut stepper = stepper();
    let mut count = 0_u64;
    for _ in 0..7 {
        stepper.advance(&mut world, 1.0 / 7.0).unwrap();
        for event in world.events() {
            if let EventKind::Timer { timer: which, count: k } = event.kind {
                assert_eq!((which, k), (timer, count));
                assert!(event.time == 1e-3 * count as f64);
                count += 1;
            }
        }
    }
    assert!(count >= 1000);
    world.remove_timer(timer).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
    assert!(!world.events().iter().any(|e| matches!(e.kind, EventKind::Timer { .. })));
}

#[test]
fn a_spent_budget_names_the_pair_and_loses_no_state() {
    let mut world = earth();
    let id = world.add(ball(0.1).at([0.0, 0.0, 0.2]).restitution(0.5)).unwrap();
    // Without micro-collisions the bounces pile up.
    let mut stepper = stepper_with(|p| {
        p.micro = Micro::Off;
        p.max_pair_events = 100;
    });
    let error = stepper.advance(&mut world, 10.0).unwrap_err();
    assert!(
        error.to_string().starts_with("body 0 and body 1 used up the budget of 100 events at t = 0.4"),
        "{error}"
    );
    assert!(world.time() > 0.4 && world.time() < 0.5, "{}", world.time());
    assert!((world[id].position().z - 0.1).abs() < 1e-9);
    assert_eq!(stepper.advance(&mut world, -1.0).unwrap_err(), StepError::Duration { value: -1.0 });
    assert!(stepper.advance(&mut world, f64::NAN).is_err());
}

#[test]
fn contacts_begin_once() {
    let mut world = earth();
    world.add(ball(0.1).at([0.0, 0.0, 0.5]).restitution(0.0)).unwrap();
    stepper().advance(&mut world, 2.0).unwrap();
    let began = world.events().iter().filter(|e| matches!(e.kind, EventKind::ContactBegan { .. })).count();
    assert_eq!(began, 1);
}
