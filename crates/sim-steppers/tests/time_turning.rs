//! Half-spaces that turn carry what lies on them, and nothing falls through.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
};
use sim_steppers::TimeStepping;
use sim_traits::{BodyId, HalfSpace};
use sim_world::{Body, Screw, Stepper, World};
use timed::{G, ball, brick, cone, soft};

/// A plane through the origin that turns about an axis, and a body on it at a place.
fn tilting(spin: DVec3, moving: Kind, at: DVec3) -> (World, BodyId, BodyId) {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let velocity = Motion { angular: spin, linear: DVec3::ZERO };
    let script = Screw { start: Pose::IDENTITY, velocity };
    let plane = world.add(Body::scripted(script).shape(HalfSpace::up()).friction(0.6)).unwrap();
    let builder = match moving {
        Kind::Ball => ball(0.1, 0.6, 0.0),
        Kind::Brick => brick(0.1, 0.1, 0.1, 0.6),
    };
    let body = world.add(builder.at(at + DVec3::Z * 0.1)).unwrap();
    (world, plane, body)
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Ball,
    Brick,
}

/// Height of the lowest point above the plane, m.
fn height(world: &World, plane: BodyId, body: BodyId, shape: Kind) -> f64 {
    let normal = world[plane].state().pose().transform_vector(DVec3::Z);
    let pose = *world[body].state().pose();
    match shape {
        Kind::Ball => normal.dot(pose.translation) - 0.1,
        Kind::Brick => {
            normal.dot(pose.translation) - 0.1 * pose.inverse_transform_vector(normal).abs().element_sum()
        }
    }
}

fn least_height(stepper: &mut TimeStepping, spin: DVec3, shape: Kind, at: DVec3, time: f64) -> [f64; 2] {
    let (mut world, plane, body) = tilting(spin, shape, at);
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for _ in 0..(60.0 * time) as u32 {
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        let now = height(&world, plane, body, shape);
        range = [range[0].min(now), range[1].max(now)];
    }
    range
}

#[test]
fn nothing_falls_through_a_turning_half_space() {
    for shape in [Kind::Ball, Kind::Brick] {
        for (spin, time) in [(0.05, 3.0), (0.5, 1.5), (4.0, 1.0)] {
            for axis in [DVec3::X, DVec3::NEG_Y, DVec3::new(0.3, 0.4, 0.866_025_403_784_438_6)] {
                for at in [DVec3::ZERO, DVec3::new(0.7, 0.5, 0.0), DVec3::new(-3.0, 2.0, 0.0)] {
                    let spin = axis * spin;
                    let [low, _] = least_height(&mut cone(|_| {}), spin, shape, at, time);
                    assert!(low > -1e-6, "exact, {shape:?}, {spin}, {at}: {low:e}");
                    let [low, _] = least_height(&mut soft(|_| {}), spin, shape, at, time);
                    // A body at rest that the plane strikes sinks in by less than the way of the plane in a step.
                    let most = 5e-3 + spin.length() * (at.length() + 0.5) / 60.0;
                    assert!(low > -most, "soft, {shape:?}, {spin}, {at}: {low:e}");
                }
            }
        }
    }
}

#[test]
fn a_slowly_tilting_plane_keeps_its_box_until_friction_gives_way() {
    // μ = 0.6 holds up to 0.54 rad; the plane turns about an axis through the box.
    let (mut world, plane, body) = tilting(DVec3::X * 0.05, Kind::Brick, DVec3::ZERO);
    let mut stepper = cone(|_| {});
    let place = |world: &World| world[plane].state().pose().inverse_transform_point(world[body].position());
    stepper.advance(&mut world, 1.0).unwrap();
    let start = place(&world);
    stepper.advance(&mut world, 9.0).unwrap();
    let crept = (place(&world) - start).length();
    assert!(crept < 1e-3, "{crept:e} m by {:.2} rad", 0.5);
    stepper.advance(&mut world, 1.5).unwrap();
    assert!((place(&world) - start).length() > 0.01);
}

#[test]
fn a_turning_plane_meets_what_flies_towards_it() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let spin = DQuat::from_rotation_x(0.3);
    let velocity = Motion { angular: DVec3::X * 1.0, linear: DVec3::ZERO };
    let plane = world
        .add(Body::scripted(Screw { start: Pose::new(DVec3::ZERO, spin), velocity }).shape(HalfSpace::up()))
        .unwrap();
    let normal = spin * DVec3::Z;
    // It flies towards the plane from afar, far out, where the plane comes to meet it.
    let body =
        world.add(ball(0.1, 0.0, 0.0).at(spin * DVec3::new(0.0, 5.0, 3.0)).moving(-normal * 2.0)).unwrap();
    let mut stepper = cone(|_| {});
    for _ in 0..120 {
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        assert!(height(&world, plane, body, Kind::Ball) > -1e-6);
    }
}
