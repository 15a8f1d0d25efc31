//! Joints of scenes: what can be written, and what is refused with its place.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests may stop them; exact results on purpose"
)]

use scene::{
    SceneError,
    format::{
        Memory, load,
        text::{Syntax, parse, write},
    },
    lower::{Registry, Setup, lower},
};
use sim_world::{EventKind, JointMotor, World};
use std::f64::consts::{PI, TAU};

const BODIES: &str = "bodies: [
    (name: \"a\", shape: sphere(radius: 0.1)), (name: \"b\", shape: sphere(radius: 0.1), position: (1, 0, 0)),
    (name: \"floor\", kind: fixed, shape: sphere(radius: 0.1), position: (0, 0, -5)),
    (name: \"wheel\", shape: cylinder(radius: 0.5, height: 0.1), position: (5, 5, 0.5))]";

fn open(joints: &str) -> Result<Setup, SceneError> {
    let text = format!("({BODIES}, joints: [{joints}])");
    let files = Memory([("x.ron".to_owned(), text.into_bytes())].into_iter().collect());
    lower(&load(&files, "x.ron")?, &files, &Registry::standard())
}

fn world(joints: &str) -> World {
    open(joints).unwrap().world
}

#[test]
fn every_kind_can_be_written() {
    let setup = open(
        r#"(kind: ball, a: "a", b: "b", axes: [(high: 30), (low: -10, high: 10)]),
           (kind: hinge, name: "first", b: "a", axis: (1, 0, 0)), (kind: hinge, name: "second", b: "b", axis: (0, 2, 0)),
           (kind: slider, name: "rail", b: "b", axis: (0, 1, 1)), (kind: cylindrical, a: "a", b: "floor"),
           (kind: universal, a: "a", b: "b", axis: (1, 0, 0), second_axis: (0, 0, 1)), (kind: weld, a: "b"),
           (kind: planar, b: "b"), (kind: orientation, a: "a", b: "b"), (kind: distance, a: "a", b: "b"),
           (kind: rope, a: "a", b: "b", length: 3, restitution: 0.5), (kind: velocity, a: "a", b: "b"),
           (kind: multibar, points: [(body: "a", at: (0, 0, 0)), (at: (0, 0, 2)), (body: "b", at: (1, 0, 0))]),
           (kind: multirope, points: [(body: "a", at: (0, 0, 0)), (at: (0, 0, 2)), (body: "b", at: (1, 0, 0))]),
           (kind: curve, b: "b", curve: circle(center: (0, 0, 0), normal: (0, 0, 3), radius: 1)),
           (kind: curve, b: "b", curve: c_spline(points: [(0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 0, 0)])),
           (kind: surface, b: "b", surface: ellipsoid(radii: (1, 2, 3)), friction: 2),
           (kind: wheel, b: "wheel", axis: (0, 1, 0), radius: 0.5, surface: plane(normal: (0, 0, 1))),
           (kind: gear, joints: ["first", "second"], ratio: -2), (kind: rack_and_pinion, joints: ["first", "rail"], radius: 0.1),
           (kind: screw, a: "a", b: "b", pitch: 0.01), (kind: six_axis, a: "a", b: "b", axes: [(locked: true), (low: -1)])"#,
    )
    .unwrap();
    assert_eq!(setup.joints.len(), 22);
    for (id, joint) in setup.world.joints() {
        let miss = setup.world.joint_error(id).unwrap();
        assert!(miss.linear < 1e-12 && miss.angular < 1e-12, "{}: {miss:?}", joint.model().kind.name());
    }
    let names: Vec<_> = setup.world.joints().map(|(_, j)| j.model().kind.name()).collect();
    let mut kinds = names.clone();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 20, "{names:?}");
}

#[test]
fn angles_are_degrees_and_speeds_radians() {
    let world = world(
        r#"(kind: hinge, a: "a", b: "b", restitution: 0.25, breaking_force: 7, soft: (frequency: 5),
            axes: [(low: -90, high: 180, friction: 2, motor: position(target: 45, stiffness: 3), spring: (rest: 90, stiffness: 2))]),
           (kind: slider, a: "a", b: "b", axes: [(low: -2, motor: velocity(speed: 3, most: 4))], enabled: false, collide: true),
           (kind: screw, a: "a", b: "b", pitch: 0.5)"#,
    );
    let joints: Vec<_> = world.joints().map(|(_, j)| j.clone()).collect();
    let axis = joints[0].model().axes[0];
    let limits = axis.limits.unwrap();
    assert!(
        (limits.low + PI / 2.0).abs() < 1e-15
            && (limits.high - PI).abs() < 1e-15
            && limits.restitution == 0.25
    );
    assert!(matches!(axis.motor, Some(JointMotor::Position { target, stiffness: 3.0, most, .. })
        if (target - PI / 4.0).abs() < 1e-15 && most == f64::INFINITY));
    assert!((axis.spring.unwrap().rest - PI / 2.0).abs() < 1e-15 && axis.friction == 2.0);
    assert_eq!(joints[0].breaking().force, 7.0);
    assert!(joints[0].model().softness.is_some() && joints[0].is_active() && !joints[0].lets_collide());
    let axis = joints[1].model().axes[0];
    assert_eq!((axis.limits.unwrap().low, axis.limits.unwrap().high), (-2.0, f64::INFINITY));
    assert_eq!(axis.motor, Some(JointMotor::velocity(3.0, 4.0)));
    assert!(!joints[1].is_active() && joints[1].lets_collide());
    assert!(format!("{:?}", joints[2].model().kind).contains(&format!("pitch: {:?}", 0.5 / TAU)));
    assert!(!world.events().iter().any(|e| matches!(e.kind, EventKind::JointBroken { .. })));
}

#[test]
fn bad_joints_are_named_with_their_place() {
    for (joint, expected) in [
        ("(kind: hinge, a: \"floor\")", "x.ron: joints[0]: none of its partners is a free body"),
        ("(kind: hinge, a: \"a\", b: \"a\")", "x.ron: joints[0].b: is the same body as `a`"),
        ("(kind: hinge, a: \"aa\")", "x.ron: joints[0].a: unknown body `aa`, did you mean `a`?"),
        ("(kind: hinge, b: \"a\", axis: (0, 0, 0))", "x.ron: joints[0].axis: must not be the zero vector"),
        (
            "(kind: hinge, b: \"a\", axis: (0, NaN, 0))",
            "x.ron: joints[0].axis: must be finite, got (0, NaN, 0)",
        ),
        (
            "(kind: universal, b: \"a\", axis: (1, 0, 0), second_axis: (2, 0, 0))",
            "x.ron: joints[0].second_axis: must not be along `axis`",
        ),
        (
            "(kind: hinge, b: \"a\", axes: [(low: 90, high: 0)])",
            "x.ron: joints[0].axes[0]: limits are reversed: 1.5707963267948966 is above 0",
        ),
        (
            "(kind: hinge, b: \"a\", axes: [(motor: velocity(speed: 1, most: -1))])",
            "x.ron: joints[0].axes[0].motor.most: must not be negative, got -1",
        ),
        (
            "(kind: hinge, b: \"a\", axes: [(), (low: 1)])",
            "x.ron: joints[0]: a hinge joint needs 1 settings of free axes at most, got 2",
        ),
        (
            "(kind: ball, a: \"a\", b: \"b\", anchor_a: (0, 0, 0), anchor_b: (0, 0, 0.1))",
            "x.ron: joints[0]: what it holds is off by 1.000e-1 at the start, more than 1.005e-3 (m or rad); `apart: true` lets it pull",
        ),
        (
            "(kind: ball, b: \"b\", anchor_a: (0, 0, 0))",
            "x.ron: joints[0]: needs both `anchor_a` and `anchor_b`, or neither",
        ),
        (
            "(kind: weld, b: \"b\", breaking_force: -1)",
            "x.ron: joints[0].breaking_force: must not be negative, got -1",
        ),
        ("(kind: weld, b: \"b\", pitch: 1)", "x.ron: joints[0].pitch: a joint of this kind has none"),
        ("(kind: screw, b: \"b\")", "x.ron: joints[0]: a joint of this kind needs `pitch`"),
        ("(kind: rope, b: \"b\", length: 0)", "x.ron: joints[0].length: must be positive, got 0"),
        (
            "(kind: gear, joints: [\"x\", \"y\"], ratio: 1)",
            "x.ron: joints[0].joints[0]: unknown joint before this one `x`",
        ),
        ("(kind: gear, joints: [\"x\"], ratio: 1)", "x.ron: joints[0].joints: must name two joints, got 1"),
        (
            "(kind: curve, b: \"b\", curve: circle(center: (0, 0, 0), normal: (0, 0, 1), radius: -1))",
            "x.ron: joints[0].curve.radius: must be positive, got -1",
        ),
        (
            "(kind: weld, name: \"w\", b: \"b\"), (kind: weld, name: \"w\", b: \"a\")",
            "x.ron: joints[1].name: `w` is the name of another joint",
        ),
        ("(kind: hing, b: \"b\")", "did you mean `hinge`?"),
        ("(kind: hinge, b: \"b\", axes: [(lo: 1)])", "did you mean `low`?"),
    ] {
        let said = open(joint).unwrap_err().to_string();
        assert!(said.contains(expected), "{said:?} instead of {expected:?}");
    }
    // What the text itself has wrong is told by line and column.
    assert!(open("(kind: hinge, b: 3)").unwrap_err().line.is_some());
}

#[test]
fn joints_are_written_as_they_are_read_and_come_with_includes() {
    let text = format!(
        r#"({BODIES}, joints: [(kind: hinge, name: "h", a: "a", b: "b", axes: [(low: -1, motor: velocity(speed: 2))]),
            (kind: curve, b: "b", curve: b_spline(points: [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)]), apart: true)])"#
    );
    let scene = parse(&text, Syntax::Ron, "x.ron").unwrap();
    for syntax in [Syntax::Ron, Syntax::Json] {
        let again = parse(&write(&scene, syntax, "y").unwrap(), syntax, "y").unwrap();
        assert_eq!(again, scene);
    }
    let main = r#"(include: ["part.ron"], joints: [(kind: weld, b: "b"), (kind: weld, b: "c")])"#;
    let files = [("main.ron", main), ("part.ron", &text)];
    let files = Memory(files.into_iter().map(|(n, t)| (n.to_owned(), t.as_bytes().to_vec())).collect());
    let loaded = load(&files, "main.ron").unwrap();
    assert_eq!(loaded.scene.joints.len(), 4);
    let error = lower(&loaded, &files, &Registry::standard()).unwrap_err().to_string();
    assert!(error.starts_with("main.ron: joints[1].b: unknown body `c`"), "{error}");
}
