//! Bodies with locked axes under time stepping: two-dimensional worlds, bodies that do not turn.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{assert_close, glam::DVec3, ops, testkit::SplitMix64};
use sim_steppers::TimeSteppingParams;
use sim_traits::HalfSpace;
use sim_world::{Body, LockedAxes, Stepper, World};
use timed::{G, ball, brick, cone, earth};

#[test]
fn a_planar_world_stays_in_its_plane() {
    // Bricks and balls thrown together in the plane y = 0, under a gravity that also pulls across it.
    let mut world = World::new([0.0, 3.0, -G]).unwrap();
    let floor = Body::fixed().shape(HalfSpace::up()).friction(0.5).restitution(0.0);
    world.add(floor).unwrap();
    let mut random = SplitMix64(41);
    let mut ids = Vec::new();
    for k in 0..10 {
        let at = DVec3::new(random.range(-0.5, 0.5), 0.0, 0.5 + 0.7 * f64::from(k));
        let body = if k % 2 == 0 { brick(0.3, 0.2, 0.1, 0.5) } else { ball(0.25, 0.5, 0.0) };
        let turn = sim_math::glam::DQuat::from_rotation_y(random.range(-1.0, 1.0));
        ids.push(world.add(body.at(at).turned(turn).locked(LockedAxes::plane(1))).unwrap());
    }
    let mut stepper = cone(|_| {});
    let report = stepper.advance(&mut world, 2.0).unwrap();
    assert!(report.collisions + report.micro_collisions > 100, "{report}");
    for id in ids {
        let (body, v) = (&world[id], world[id].velocity());
        assert!(body.position().y.abs() < 1e-9 && v.linear.y.abs() < 1e-7, "{v:?}");
        let out = body.user_pose().transform_vector(DVec3::Y) - DVec3::Y;
        assert!(out.length() < 1e-7 && v.angular.x.abs().max(v.angular.z.abs()) < 1e-6, "{out} {v:?}");
    }
    let e = report.energy;
    assert!(e.remainder().abs() < 1e-9 * e.flowed, "{e:?}");
}

#[test]
fn a_disc_of_a_planar_world_has_its_closed_form() {
    // A sliding ball rolls after 2 v/(7 μ g), with 5/7 of its speed; pushed across the plane by a torque and gravity, it does not notice.
    let (mu, v) = (0.3, 2.0);
    let mut world = earth(mu, 0.0);
    let start = ball(0.1, mu, 0.0).at([0.0, 0.0, 0.1]).moving([v, 0.5, 0.0]).spinning([1.0, 0.0, 2.0]);
    let id = world.add(start.locked(LockedAxes::plane(1))).unwrap();
    let mut stepper = cone(|p: &mut TimeSteppingParams| p.dt = 1e-3);
    stepper.advance(&mut world, 1.1 * 2.0 * v / (7.0 * mu * G)).unwrap();
    let found = world[id].velocity();
    assert_close!(found.linear.x, 5.0 / 7.0 * v, rel = 1e-6);
    assert!(
        found.linear.y == 0.0 && found.angular.x.abs() < 1e-9 && found.angular.z.abs() < 1e-9,
        "{found:?}"
    );
    // What flies in the plane flies exactly.
    let mut world = World::new([0.0, 0.0, -G]).unwrap();
    let body = brick(0.3, 0.2, 0.1, 0.5).moving([1.0, 0.0, 2.0]).spinning([0.0, 3.0, 0.0]);
    let id = world.add(body.locked(LockedAxes::plane(1))).unwrap();
    cone(|_| {}).advance(&mut world, 1.0).unwrap();
    assert_close!(world[id].position().z, 2.0 - 0.5 * G, abs = 1e-12);
}

#[test]
fn a_body_that_does_not_turn_slides_as_a_point() {
    // A tall brick that would tip over on this slope: it slides with g (sin − μ cos) instead.
    let (mu, tangent) = (0.5, 0.8);
    let (mut world, thrown, down) = timed::slope(tangent, 0.3, mu);
    world.remove(thrown).unwrap();
    let turn = world.bodies().next().unwrap().1.user_pose().rotation;
    let tall = brick(0.1, 0.1, 0.6, mu).at(turn * DVec3::new(0.0, 0.0, 0.6)).turned(turn);
    let id = world.add(tall.locked(LockedAxes::upright())).unwrap();
    cone(|p: &mut TimeSteppingParams| p.dt = 1e-3).advance(&mut world, 1.0).unwrap();
    let angle = ops::atan(tangent);
    let a = G * (ops::sin(angle) - mu * ops::cos(angle));
    assert_close!(world[id].velocity().linear.dot(down), a, rel = 1e-3);
    assert!(world[id].velocity().angular.length() < 1e-7, "{:?}", world[id].velocity());
}

#[test]
fn axes_are_locked_and_freed_and_refused_by_name() {
    let mut world = World::new([0.0, 0.0, -G]).unwrap();
    let id = world.add(ball(0.1, 0.5, 0.0)).unwrap();
    let mut stepper = cone(|_| {});
    let still = LockedAxes { translations: [false, false, true], rotations: [false; 3] };
    world.set_locked_axes(id, still).unwrap();
    stepper.advance(&mut world, 0.5).unwrap();
    assert!(world[id].position().z.abs() < 1e-12);
    let error = timed::soft(|_| {}).prepare(&mut world).unwrap_err().to_string();
    assert!(error.starts_with(&id.to_string()) && error.contains("locked"), "{error}");
    world.set_locked_axes(id, LockedAxes::default()).unwrap();
    stepper.advance(&mut world, 0.5).unwrap();
    assert_close!(world[id].position().z, -0.125 * G, rel = 1e-9);
    let wrong = world.add(Body::fixed().shape(HalfSpace::up()).locked(LockedAxes::upright()));
    assert!(wrong.unwrap_err().to_string().contains("axes to lock"));
}
