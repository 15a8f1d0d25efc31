//! Rolling and torsional friction and moving surfaces in scenes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop them")]

use scene::{
    SceneError,
    format::{Memory, load},
    lower::{Registry, lower},
    run::Run,
};

fn open(text: &str) -> Result<Run, SceneError> {
    let files = Memory([("scene.ron".to_owned(), text.as_bytes().to_vec())].into_iter().collect());
    Run::new(lower(&load(&files, "scene.ron")?, &files, &Registry::standard())?)
}

const SCENE: &str = r#"(
    gravity: (0, 0, -9.81),
    materials: { "felt": (friction: 0.8, rolling_friction: 0.002), "ball": (friction: 0.8, restitution: 0) },
    bodies: [
        (name: "belt", kind: fixed, shape: cuboid(size: (4, 1, 0.1)), position: (0, 0, -0.05), friction: 0.5, surface_velocity: (0.5, 0, 0)),
        (name: "parcel", shape: cuboid(size: (0.2, 0.2, 0.2)), position: (0, 0, 0.1), friction: 0.5),
        (name: "table", kind: fixed, shape: cuboid(size: (4, 1, 0.1)), position: (0, 2, -0.05), material: "felt"),
        (name: "roller", shape: sphere(radius: 0.1), position: (0, 2, 0.1), velocity: (0.5, 0, 0), angular_velocity: (0, 5, 0), material: "ball", restitution: 0),
    ],
    STEPPER,
)"#;

#[test]
fn a_parcel_is_carried_and_a_ball_rolls_out_on_felt() {
    let mut run = open(&SCENE.replace("STEPPER,", "")).unwrap();
    run.advance_to(2.0).unwrap();
    let body = |name: &str| {
        let placed = run.setup().bodies.iter().find(|b| b.name == name).unwrap();
        &run.world()[placed.id]
    };
    assert!((body("parcel").velocity().linear.x - 0.5).abs() < 1e-6, "{:?}", body("parcel").velocity());
    // The felt decides, also for a ball whose material it is not any more: 5/7 g rho/R.
    let expected = 0.5 - 2.0 * 5.0 / 7.0 * 9.81 * 0.02;
    let found = body("roller").velocity().linear.x;
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} instead of {expected}");
}

#[test]
fn other_steppers_refuse_them_by_name() {
    for stepper in [r#"stepper: (kind: "event_driven")"#, r#"parts: (solver: "soft")"#] {
        let text = SCENE.replace("STEPPER", stepper);
        let error = open(&text).and_then(|mut run| run.advance_to(0.1)).unwrap_err().to_string();
        assert!(error.contains("rolling"), "{stepper}: {error}");
    }
}
