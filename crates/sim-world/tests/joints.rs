//! Joints of a world: how they are made, what is refused, what they remember.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "helpers of tests; exact results on purpose")]

use constraint_dynamics::joints::{JointRows, RowLaw};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
    spatial::{Force, Motion},
    testkit::SplitMix64,
};
use sim_traits::{
    BodyId, Cuboid, JointId, Sphere,
    joint::{JointCurve, JointKind, JointPatch, JointPath, JointSurface},
};
use sim_world::{
    Body, Breaking, Change, EventKind, Joint, JointAxis, JointBuilder, JointDrive, JointLimits, JointMotor,
    JointPartner, JointSoftness, StepError, World, WorldError, testkit::as_stepper,
};
use std::f64::consts::PI;

fn space() -> World {
    World::new(DVec3::ZERO).unwrap()
}

/// What a stepper does to a joint.
fn change_joint(world: &mut World, slot: u32, change: impl FnOnce(&mut Joint)) {
    as_stepper(world, |world| change(world.joint_in_slot_mut(slot).unwrap().1));
}

fn cube(world: &mut World, at: DVec3) -> BodyId {
    let shape = Cuboid::new(DVec3::new(0.1, 0.2, 0.3)).unwrap();
    world.add(Body::free().shape(shape).at(at)).unwrap()
}

fn two() -> (World, BodyId, BodyId) {
    let mut world = space();
    let a = cube(&mut world, DVec3::ZERO);
    let b = cube(&mut world, DVec3::new(0.5, 0.1, -0.2));
    (world, a, b)
}

fn circle() -> JointCurve {
    JointCurve::new(JointPath::Circle { center: DVec3::ZERO, normal: DVec3::Z, radius: 1.0 }).unwrap()
}

fn ground() -> JointSurface {
    JointSurface::new(JointPatch::Plane { origin: DVec3::ZERO, normal: DVec3::Z }).unwrap()
}

/// A joint of each kind between two bodies; the second must be put on the curve, the surface and the ground first.
fn all(a: BodyId, b: BodyId, at: DVec3) -> Vec<JointBuilder> {
    let drive = JointDrive { target: DQuat::IDENTITY, stiffness: 1.0, damping: 1.0, most: 1.0 };
    let x = DVec3::new(0.3, -0.5, 0.8);
    vec![
        Joint::ball(a, b).cone(1.0).twist(-1.0, 1.0),
        Joint::driven_ball(a, b, drive),
        Joint::hinge(a, b).axis(x).limits(-1.0, 2.0).friction(0.1),
        Joint::slider(a, b).axis(x).spring(0.1, 3.0, 0.2),
        Joint::cylindrical(a, b).axis(x).on_axis(1, JointAxis::default().limits(-1.0, 1.0)),
        Joint::universal(a, b).axis(x).second_axis(x.cross(DVec3::X)),
        Joint::weld(a, b),
        Joint::planar(a, b).axis(x),
        Joint::orientation(a, b),
        Joint::distance(a, b).anchors([0.1, 0.0, 0.0], at),
        Joint::rope(a, b).anchors([0.1, 0.0, 0.0], at).restitution(0.5),
        Joint::velocity(a, b),
        Joint::screw(a, b, 0.2).axis(x),
        Joint::six_axis(a, b).on_axis(2, JointAxis::locked()),
        Joint::multibar([(a.into(), DVec3::X), (JointPartner::World, DVec3::Y), (b.into(), at)]),
        Joint::multirope([(a.into(), DVec3::X), (JointPartner::World, DVec3::Y), (b.into(), at)]),
    ]
}

// proves: CLI-70
#[test]
fn joints_begin_without_error_wherever_the_bodies_are() {
    let mut random = SplitMix64(5);
    for _ in 0..50 {
        let mut world = space();
        let bodies = [0, 1].map(|_| {
            let pose = Pose::new(random.vec3(3.0), random.unit_quat());
            let shape = Cuboid::new(DVec3::new(0.1, 0.2, 0.3)).unwrap();
            world.add(Body::free().shape(shape).pose(pose)).unwrap()
        });
        let at = random.vec3(1.0);
        for joint in all(bodies[0], bodies[1], at) {
            let id = world.add_joint(joint).unwrap();
            let miss = world.joint_error(id).unwrap();
            assert!(miss.linear < 1e-13 && miss.angular < 1e-13, "{miss:?} {:?}", world.joint(id));
            for axis in 0..world.joint(id).unwrap().model().axes.len() {
                let kind = &world.joint(id).unwrap().model().kind;
                // A six-axis joint that is free measures from where the frames are together.
                assert!(world.joint_value(id, axis).unwrap().abs() < 1e-12, "{} {axis}", kind.name());
            }
        }
        let end = bodies[1];
        world.teleport(end, Pose::from_translation(DVec3::Y)).unwrap();
        let curve = world.add_joint(Joint::curve(bodies[0], end, circle())).unwrap();
        let surface =
            world.add_joint(Joint::surface(JointPartner::World, end, ground()).friction(1.0)).unwrap();
        world.teleport(end, Pose::from_translation(DVec3::new(1.0, 2.0, 0.25))).unwrap();
        let wheel = Joint::wheel(JointPartner::World, end, ground(), 0.25).axis([1.0, 1.0, 0.0]);
        let wheel = world.add_joint(wheel).unwrap();
        assert!(world.joint_error(wheel).unwrap().linear < 1e-15);
        assert!(world.joint_error(surface).unwrap().linear > 0.2);
        assert!(world.joint_error(curve).unwrap().linear > 0.2);
        // One partner must be free, which one does not matter.
        let wall = world.add(Body::fixed().shape(Sphere::new(0.1).unwrap()).at([9.0, 0.0, 0.0])).unwrap();
        world.add_joint(Joint::ball(bodies[0], JointPartner::World)).unwrap();
        world.add_joint(Joint::ball(wall, bodies[0])).unwrap();
    }
}

// proves: DYN-86
#[test]
fn joints_that_cannot_be_are_refused_by_name() {
    let (mut world, a, b) = two();
    let wall = world.add(Body::fixed().shape(Sphere::new(0.1).unwrap()).at([9.0, 0.0, 0.0])).unwrap();
    let gone = cube(&mut world, DVec3::new(20.0, 0.0, 0.0));
    world.remove(gone).unwrap();
    world.add_joint(Joint::weld(a, b)).unwrap();
    let before = world.digest();
    let cases: Vec<(JointBuilder, &str)> = vec![
        (Joint::hinge(JointPartner::World, wall), "joint 1 (hinge): none of its partners is a free body"),
        (Joint::hinge(a, a), "joint 1 (hinge): both partners are body 0"),
        (Joint::hinge(a, gone), "body 3 does not exist"),
        (
            Joint::hinge(a, b).axis([0.0, 0.0, 0.0]),
            "joint 1 (hinge): an axis must be a finite non-zero vector",
        ),
        (
            Joint::hinge(a, b).axis([0.0, f64::NAN, 0.0]),
            "joint 1 (hinge): an axis must be a finite non-zero vector",
        ),
        (Joint::universal(a, b).axis(DVec3::X).second_axis(DVec3::X), "joint 1 (universal): an axis must"),
        (Joint::universal(a, b).axis(DVec3::X).second_axis([1.0, 1.0, 0.0]), "what it holds is off by 0.78"),
        (Joint::hinge(a, b).limits(2.0, 1.0), "joint 1 (hinge): axis 0: limits are reversed: 2 is above 1"),
        (Joint::hinge(a, b).on_axis(1, JointAxis::default()), "needs 1 settings of free axes at most, got 2"),
        (
            Joint::hinge(a, b).motor(JointMotor::velocity(1.0, -2.0)),
            "greatest force must not be negative, got -2",
        ),
        (Joint::hinge(a, b).friction(-2.0), "friction must not be negative, got -2"),
        (Joint::hinge(a, b).breaking_force(-3.0), "breaking force must not be negative, got -3"),
        (Joint::hinge(a, b).breaking_impulse(f64::NAN), "breaking impulse is not finite: NaN"),
        (
            Joint::ball(a, b).anchors([0.0, 0.0, 0.0], [0.0, 0.0, 0.01]),
            "joint 1 (ball): what it holds is off by 0.01",
        ),
        (Joint::ball(a, b).anchor([f64::NAN, 0.0, 0.0]), "joint 1 (ball): anchor is not finite: NaN"),
        (Joint::rope(a, b).length(0.1), "joint 1 (rope): what it holds is off by"),
        (Joint::distance(a, b).length(-1.0), "joint 1 (distance): length must be positive, got -1"),
        (Joint::distance(a, b).anchor(DVec3::ZERO), "joint 1 (distance): length must be positive, got 0"),
        (Joint::rope(a, b).restitution(2.0), "restitution must be between 0 and 1, got 2"),
        (Joint::gear(JointId::new(7, 0), JointId::new(0, 0), 2.0), "joint 7 does not exist"),
        (Joint::gear(JointId::new(0, 0), JointId::new(0, 0), 2.0), "a weld joint cannot have a gear on it"),
        (
            Joint::multirope([(a.into(), DVec3::X)]),
            "joint 1 (multirope): a multirope joint needs 2 anchors, got 1",
        ),
        (Joint::weld(a, b).frequency(-1.0, 1.0), "joint 1 (weld): frequency must be positive, got -1"),
    ];
    for (joint, expected) in cases {
        let said = world.add_joint(joint.clone()).unwrap_err().to_string();
        assert!(said.contains(expected), "{said:?} instead of {expected:?}");
        assert_eq!(world.digest(), before);
    }
    // The tolerance goes by size, and one may ask to be pulled together.
    world.add_joint(Joint::ball(a, b).anchors([0.0, 0.0, 0.0], [0.0, 0.0, 1e-4])).unwrap();
    let pulled =
        world.add_joint(Joint::ball(a, b).anchors([0.0, 0.0, 0.0], [0.0, 0.0, 0.01]).apart()).unwrap();
    assert!((world.joint_error(pulled).unwrap().linear - 0.01).abs() < 1e-16);
    let said = world.set_joint_limits(pulled, 0, Some(JointLimits { low: 1.0, high: 0.0, restitution: 0.0 }));
    assert!(said.unwrap_err().to_string().contains("reversed"));
    assert!(world.set_joint_motor(pulled, 5, None).unwrap_err().to_string().contains("free axes"));
    assert!(world.set_joint_length(pulled, 1.0).unwrap_err().to_string().contains("cannot have a length"));
    assert!(matches!(world.joint_value(pulled, 2), Err(WorldError::Joint { .. })));
}

#[test]
fn values_and_rates_follow_the_bodies() {
    let (mut world, a, b) = two();
    let hinge = world.add_joint(Joint::hinge(a, b).anchor([0.2, 0.0, 0.0]).axis(DVec3::Y)).unwrap();
    let pivot = DVec3::new(0.2, 0.0, 0.0);
    let start = world[b].position() - pivot;
    for angle in [0.5, 1.5, 2.5] {
        let turn = DQuat::from_rotation_y(angle);
        world.teleport(b, Pose::new(pivot + turn * start, turn)).unwrap();
        world.set_velocity(b, Motion::new(DVec3::new(0.0, 3.0, 0.0), DVec3::ZERO)).unwrap();
        assert!((world.joint_value(hinge, 0).unwrap() - angle).abs() < 1e-14);
        assert!((world.joint_rate(hinge, 0).unwrap() - 3.0).abs() < 1e-14);
        assert!(world.joint_error(hinge).unwrap().linear < 1e-15);
    }
    // Rows ask for the angle that was kept, so that it goes on over turns.
    for turns in 1..20 {
        let angle = f64::from(turns);
        let poses = [*world[a].state().pose(), {
            let turn = DQuat::from_rotation_y(angle);
            world.teleport(b, Pose::new(pivot + turn * start, turn)).unwrap();
            *world[b].state().pose()
        }];
        change_joint(&mut world, hinge.index(), |joint| joint.rows(&poses, &[], &mut JointRows::default()));
        assert!((world.joint_value(hinge, 0).unwrap() - angle).abs() < 1e-13);
    }
}

#[test]
fn gears_and_racks_couple_joints() {
    let (mut world, a, b) = two();
    let first = world.add_joint(Joint::hinge(JointPartner::World, a).axis(DVec3::X)).unwrap();
    let second = world.add_joint(Joint::hinge(JointPartner::World, b).axis(DVec3::Z)).unwrap();
    world.teleport(b, Pose::new(world[b].position(), DQuat::from_rotation_z(0.4))).unwrap();
    let gear = world.add_joint(Joint::gear(first, second, -2.0)).unwrap();
    assert!(world.joint_error(gear).unwrap().angular < 1e-15);
    assert!(world.joint(gear).unwrap().lets_collide());
    // a turns by 2, b by −1.
    world.teleport(a, Pose::new(world[a].position(), DQuat::from_rotation_x(2.0))).unwrap();
    assert!((world.joint_error(gear).unwrap().angular - 2.0).abs() < 1e-14);
    world.teleport(b, Pose::new(world[b].position(), DQuat::from_rotation_z(-0.6))).unwrap();
    assert!(world.joint_error(gear).unwrap().angular < 1e-14);
    world.remove_joint(second).unwrap();
    let slider = world.add_joint(Joint::slider(JointPartner::World, b).axis(DVec3::Y)).unwrap();
    assert!(world.add_joint(Joint::gear(first, slider, 1.0)).is_err());
    let rack = world.add_joint(Joint::rack_and_pinion(first, slider, 0.1)).unwrap();
    world.teleport(a, Pose::new(world[a].position(), DQuat::from_rotation_x(2.5))).unwrap();
    let pose = world[b].user_pose();
    world.teleport(b, Pose::new(pose.translation + DVec3::Y * 0.05, pose.rotation)).unwrap();
    assert!(world.joint_error(rack).unwrap().linear < 1e-15);
    assert!((world.joint_value(slider, 0).unwrap() - 0.05).abs() < 1e-15);
}

#[test]
fn joined_bodies_do_not_collide_unless_they_are_let() {
    let (mut world, a, b) = two();
    as_stepper(&mut world, |world| {
        world.forget_changes();
    });
    assert!(!world.ignores(a, b));
    let weld = world.add_joint(Joint::weld(a, b)).unwrap();
    assert_eq!(world.changes(), [Change::Joint(weld), Change::Filtered(a), Change::Filtered(b)]);
    let rope = world.add_joint(Joint::rope(a, b)).unwrap();
    let hinge = world.add_joint(Joint::hinge(b, a)).unwrap();
    assert!(world.ignores(a, b) && world.ignores(b, a));
    world.remove_joint(weld).unwrap();
    world.set_joint_enabled(hinge, false).unwrap();
    assert!(world.ignores(a, b));
    world.remove_joint(hinge).unwrap();
    assert!(!world.ignores(a, b) && world.joint(rope).is_ok());
    world.add_joint(Joint::hinge(b, a).collide(true)).unwrap();
    assert!(!world.ignores(a, b));
    // What the user said stays as it was said.
    world.ignore(a, b, true).unwrap();
    let ball = world.add_joint(Joint::ball(a, b)).unwrap();
    world.remove_joint(ball).unwrap();
    assert!(world.ignores(a, b));
}

#[test]
fn pairs_that_pass_through_each_other_are_those_of_the_joints() {
    let mut random = SplitMix64(9);
    let mut world = space();
    let bodies: Vec<BodyId> = (0..8).map(|k| cube(&mut world, DVec3::X * f64::from(k))).collect();
    let mut joints: Vec<(JointId, [BodyId; 2], bool)> = Vec::new();
    for _ in 0..400 {
        if random.below(2) == 0 || joints.is_empty() {
            let (a, b, collide) = (bodies[random.below(8)], bodies[random.below(8)], random.below(3) == 0);
            if a != b {
                joints.push((world.add_joint(Joint::ball(a, b).collide(collide)).unwrap(), [a, b], collide));
            }
        } else {
            let (id, ..) = joints.swap_remove(random.below(joints.len()));
            world.remove_joint(id).unwrap();
        }
        for &a in &bodies {
            for &b in &bodies {
                let joined = joints
                    .iter()
                    .any(|(_, pair, collide)| !collide && a != b && [a, b].iter().all(|x| pair.contains(x)));
                assert_eq!(world.ignores(a, b), joined);
            }
        }
    }
}

#[test]
fn joints_go_with_their_bodies() {
    let (mut world, a, b) = two();
    let c = cube(&mut world, DVec3::new(0.0, 3.0, 0.0));
    let gone = world.add_joint(Joint::weld(a, b)).unwrap();
    let rope = world.add_joint(Joint::multirope([(c.into(), DVec3::X), (b.into(), DVec3::Y)])).unwrap();
    let kept = world.add_joint(Joint::ball(c, a)).unwrap();
    world.remove(b).unwrap();
    assert_eq!(world.joints().map(|(id, _)| id).collect::<Vec<_>>(), [kept]);
    assert_eq!(world.joint(gone), Err(WorldError::UnknownJoint { id: gone }));
    assert!(world.get_joint(rope).is_none() && world.joint_count() == 1);
    let next = world.add_joint(Joint::ball(c, a)).unwrap();
    assert_ne!(next, gone);
    assert_eq!(world.remove_joint(gone).unwrap_err().to_string(), "joint 0 does not exist");
}

#[test]
fn settings_change_while_it_runs() {
    let (mut world, a, b) = two();
    let hinge = world.add_joint(Joint::hinge(a, b).motor(JointMotor::velocity(1.0, 2.0))).unwrap();
    let rope = world.add_joint(Joint::rope(a, b)).unwrap();
    as_stepper(&mut world, |world| {
        world.forget_changes();
    });
    let faster = JointMotor::velocity(5.0, 2.0);
    change_joint(&mut world, hinge.index(), |joint| joint.impulses_mut().push(DVec3::X));
    world.set_joint_motor(hinge, 0, Some(faster)).unwrap();
    assert_eq!(world.joint(hinge).unwrap().impulses(), [DVec3::X]);
    world.set_joint_motor(hinge, 0, Some(faster)).unwrap();
    assert_eq!(world.changes(), [Change::Joint(hinge)]);
    assert_eq!(world.joint(hinge).unwrap().model().axes[0].motor, Some(faster));
    // What cannot be changes nothing.
    let before = world.digest();
    assert!(world.set_joint_motor(hinge, 0, Some(JointMotor::velocity(f64::NAN, 2.0))).is_err());
    assert!(world.set_joint_axis(hinge, 0, JointAxis::locked()).is_err());
    assert_eq!((world.digest(), world.changes().len()), (before, 1));
    let limits = JointLimits { low: -1.0, high: 1.0, restitution: 0.5 };
    world.set_joint_limits(hinge, 0, Some(limits)).unwrap();
    // Other rows: what the old ones exerted is forgotten.
    assert!(world.joint(hinge).unwrap().impulses().is_empty());
    world.set_joint_axis(hinge, 0, JointAxis::default()).unwrap();
    assert_eq!(world.joint(hinge).unwrap().model().axes[0], JointAxis::default());
    world.set_joint_length(rope, 2.0).unwrap();
    assert_eq!(world.joint(rope).unwrap().model().kind, JointKind::Rope { length: 2.0, restitution: 0.0 });
    assert!(world.set_joint_length(rope, f64::NAN).is_err());
    let soft = JointSoftness::Frequency { frequency: 5.0, ratio: 1.0 };
    world.set_joint_softness(hinge, Some(soft)).unwrap();
    let (mut out, mut inverses) = (JointRows::default(), Vec::new());
    world.joint_inverses(world.joint(hinge).unwrap(), &mut inverses);
    let poses = [a, b].map(|id| *world[id].state().pose());
    change_joint(&mut world, hinge.index(), |joint| joint.rows(&poses, &inverses, &mut out));
    assert!(out.blocks.iter().all(|b| matches!(b.laws[0], RowLaw::Drive { .. })));
    world.set_joint_breaking(hinge, Breaking { force: 3.0, ..Breaking::default() }).unwrap();
    assert!(world.set_joint_breaking(hinge, Breaking { torque: -1.0, ..Breaking::default() }).is_err());
    assert_eq!(world.joint(hinge).unwrap().breaking().force, 3.0);
}

#[test]
fn overloaded_joints_break_once_and_limits_are_listed_on_arrival() {
    let (mut world, a, b) = two();
    let joint = world.add_joint(Joint::hinge(a, b).breaking_force(10.0).breaking_impulse(3.0)).unwrap();
    let load = |force: f64| Force::new(DVec3::X * 100.0, DVec3::Y * force);
    assert!(!as_stepper(&mut world, |world| world.load_joint(joint, load(9.0), 2.9, 0.5)));
    assert!(world.events().is_empty() && world.joint(joint).unwrap().is_active());
    assert_eq!(world.joint(joint).unwrap().reaction(), load(9.0));
    assert!(as_stepper(&mut world, |world| world.load_joint(joint, load(11.0), 0.0, 0.75)));
    assert!(!as_stepper(&mut world, |world| world.load_joint(joint, load(12.0), 0.0, 0.8)));
    let expected = EventKind::JointBroken { joint, force: 11.0, torque: 100.0, impulse: 0.0 };
    assert_eq!(world.events().iter().map(|e| (e.time, e.kind)).collect::<Vec<_>>(), [(0.75, expected)]);
    assert!(world.joint(joint).unwrap().is_broken() && !world.joint(joint).unwrap().is_active());
    assert!(world.refuse_joints("x").is_ok());
    world.mend_joint(joint).unwrap();
    assert!(as_stepper(&mut world, |world| world.load_joint(joint, load(0.0), 3.1, 0.9)));
    as_stepper(&mut world, |world| {
        world.clear_events();
    });
    for (reached, time) in [(true, 1.0), (true, 1.1), (false, 1.2), (true, 1.3)] {
        as_stepper(&mut world, |world| world.joint_at_limit(joint, 0, true, reached, time));
        assert_eq!(world.joint(joint).unwrap().is_at_limit(0, true), reached);
    }
    let kind = EventKind::JointLimit { joint, axis: 0, high: true };
    assert_eq!(
        world.events().iter().map(|e| (e.time, e.kind)).collect::<Vec<_>>(),
        [(1.0, kind), (1.3, kind)]
    );
    assert!(!world.joint(joint).unwrap().is_at_limit(0, false));
    as_stepper(&mut world, |world| world.joint_at_limit(joint, 77, true, true, 2.0));
}

#[test]
fn impulses_add_up_to_the_reaction_at_the_anchor() {
    let (mut world, a, b) = two();
    let point = DVec3::new(0.3, 0.2, 0.1);
    for (first, second) in
        [(a.into(), b.into()), (JointPartner::World, b.into()), (b.into(), JointPartner::World)]
    {
        let id = world.add_joint(Joint::ball(first, second).anchor(point)).unwrap();
        let joint = world.joint(id).unwrap().clone();
        let poses: Vec<_> = joint.bodies().iter().map(|b| *world[*b].state().pose()).collect();
        let mut rows = JointRows::default();
        joint.clone().rows(&poses, &[], &mut rows);
        let force = joint.exerted(&rows, &rows.blocks, &[DVec3::new(1.0, 2.0, 3.0)], &poses, 0.1);
        // The rows are along the world's axes, and the force goes through the anchor.
        assert!((force.linear - DVec3::new(10.0, 20.0, 30.0)).length() < 1e-13, "{force:?}");
        assert!(force.moment.length() < 1e-13, "{force:?}");
    }
}

#[test]
fn a_stepper_without_joints_refuses_by_name() {
    let (mut world, a, b) = two();
    assert_eq!(world.refuse_joints("event-driven"), Ok(()));
    let id = world.add_joint(Joint::slider(a, b)).unwrap();
    let error = world.refuse_joints("event-driven").unwrap_err();
    assert_eq!(error.to_string(), "joint 0 (slider): the event-driven stepper cannot run joints yet");
    assert!(matches!(error, StepError::UnsupportedJoint { .. }));
    world.set_joint_enabled(id, false).unwrap();
    assert_eq!(world.refuse_joints("event-driven"), Ok(()));
}

#[test]
fn clones_and_digests_know_joints() {
    let (mut world, a, b) = two();
    let empty = world.digest();
    let id = world.add_joint(Joint::hinge(a, b).limits(-1.0, 1.0)).unwrap();
    let digest = world.digest();
    assert_ne!(digest, empty);
    let mut copy = world.clone();
    assert_eq!(copy.digest(), digest);
    copy.set_joint_limits(id, 0, Some(JointLimits { low: -1.0, high: 1.0 + f64::EPSILON, restitution: 0.0 }))
        .unwrap();
    assert_ne!(copy.digest(), digest);
    assert_eq!(world.digest(), digest);
    let mut copy = world.clone();
    change_joint(&mut copy, 0, |joint| joint.impulses_mut().push(DVec3::ZERO));
    assert_ne!(copy.digest(), digest);
    // A hinge half a turn away has another angle in its memory.
    let turn = DQuat::from_rotation_z(PI * 0.9);
    assert!((ops::cos(PI) + 1.0).abs() < 1e-15);
    let poses = [*world[a].state().pose(), Pose::from_rotation(turn)];
    change_joint(&mut world, 0, |joint| joint.rows(&poses, &[], &mut JointRows::default()));
    assert_ne!(world.digest(), digest);
}

#[cfg(feature = "serde")]
#[test]
fn snapshots_keep_joints() {
    use sim_math::curve::{Curve, Line};
    use sim_world::{Registry, SnapshotError};
    use std::sync::Arc;
    let (mut world, a, b) = two();
    let registry = Registry::default();
    for joint in all(a, b, DVec3::new(0.2, 0.3, 0.4)) {
        world.add_joint(joint.breaking_force(7.0).tag(3)).unwrap();
    }
    let hinges = [a, b].map(|body| world.add_joint(Joint::hinge(JointPartner::World, body)).unwrap());
    world.add_joint(Joint::gear(hinges[0], hinges[1], 2.0)).unwrap();
    world.add_joint(Joint::curve(JointPartner::World, a, circle()).anchor(DVec3::X)).unwrap();
    world.remove_joint(JointId::new(3, 0)).unwrap();
    change_joint(&mut world, 0, |joint| joint.impulses_mut().push(DVec3::new(1.0, -0.0, 3.0)));
    let bytes = world.snapshot(&registry).unwrap();
    let mut again = World::restore(&bytes, &registry).unwrap();
    assert_eq!(again.digest(), world.digest());
    assert!(again.joints().eq(world.joints()) && again.ignores(a, b));
    assert_eq!(again.joint_slots(), world.joint_slots());
    // Both go on alike: the freed slot is used again.
    let ids = [&mut world, &mut again].map(|w| w.add_joint(Joint::ball(a, b)).unwrap());
    assert_eq!((ids[0], ids[0]), (ids[1], JointId::new(3, 1)));
    assert_eq!(again.digest(), world.digest());
    let own: Arc<dyn Curve> = Arc::new(Line::new(DVec3::ZERO, DVec3::X).unwrap());
    world.add_joint(Joint::curve(JointPartner::World, a, JointCurve::custom(own))).unwrap();
    let error = world.snapshot(&registry).unwrap_err();
    assert!(matches!(error, SnapshotError::Unregistered { what: "curve of a joint", .. }), "{error}");
}
