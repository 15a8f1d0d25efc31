//! Contacts that hit at one time are one impact: what lands flat bounces flat, and chains pass on what they must.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{G, ball, cuboid, earth, energy, stepper_with};
use sim_math::{
    glam::{DQuat, DVec3},
    ops,
    testkit::SplitMix64,
};
use sim_steppers::ContactHandling;
use sim_traits::Shape;
use sim_world::{Body, Stepper, World};

const BOTH: [ContactHandling; 2] = [ContactHandling::Standard, ContactHandling::Improved];

/// Lands flat from 1 m on a floor or a slab, and is seen at the top of its bounce.
fn drop_flat(half: DVec3, yaw: f64, e: f64, friction: f64, slab: bool, kind: ContactHandling) -> (f64, f64) {
    let mut world = if slab { World::new(DVec3::Z * -G).unwrap() } else { earth() };
    if slab {
        let top = Body::fixed().shape(cuboid(3.0, 3.0, 0.5)).at([0.1, 0.2, -0.5]);
        world.add(top.turned(DQuat::from_rotation_z(0.3 * yaw))).unwrap();
    }
    let shape: Shape = cuboid(half.x, half.y, half.z);
    let body = Body::free().shape(shape).at([0.0, 0.0, half.z + 1.0]).turned(DQuat::from_rotation_z(yaw));
    let id = world.add(body.restitution(e).friction(friction)).unwrap();
    let mut stepper = stepper_with(|p| p.contact_handling = kind);
    let fall = (2.0 / G).sqrt();
    stepper.advance(&mut world, fall * (1.0 + e)).unwrap();
    let state = world[id].state();
    (state.velocity.angular.length(), state.pose().translation.z - half.z)
}

#[test]
fn a_box_that_lands_flat_bounces_flat_at_any_yaw() {
    let mut random = SplitMix64(71);
    let (mut spin, mut height) = (0.0_f64, 0.0_f64);
    for k in 0..60 {
        let half = DVec3::new(random.range(0.05, 0.5), random.range(0.05, 0.5), random.range(0.02, 0.5));
        let yaw = if k % 4 == 0 { 0.0 } else { random.range(0.0, 6.3) };
        let e = [0.5, 1.0, 0.3][k % 3];
        let friction = [0.0, 0.6][k % 2];
        for kind in BOTH {
            let (turns, top) = drop_flat(half, yaw, e, friction, k % 5 == 0, kind);
            (spin, height) = (spin.max(turns), height.max((top - expected(e)).abs()));
            assert!(turns <= 1e-9, "{half}, yaw {yaw}, e = {e}, {kind:?}: {turns} rad/s");
            assert!((top - expected(e)).abs() <= 1e-9, "{half}, yaw {yaw}, e = {e}, {kind:?}: {top} m");
        }
    }
    println!("spin {spin:e} rad/s, height off by {height:e} m");
}

/// Height of a bounce from 1 m, m.
fn expected(e: f64) -> f64 {
    e * e
}

/// Balls in a row, gaps apart, the first coming at 1 m/s; velocities along the row in the end.
fn chain(
    n: usize,
    gap: f64,
    e: f64,
    masses: impl Fn(usize) -> f64,
    kind: ContactHandling,
) -> (Vec<f64>, f64) {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let mut ids = Vec::new();
    for k in 0..n {
        let mut body =
            ball(0.1).at([k as f64 * (0.2 + gap), 0.0, 0.0]).mass(masses(k)).restitution(e).friction(0.0);
        if k == 0 {
            body = body.at([-0.1, 0.0, 0.0]).moving([1.0, 0.0, 0.0]);
        }
        ids.push(world.add(body).unwrap());
    }
    let before = world.momentum();
    let mut stepper = stepper_with(|p| p.contact_handling = kind);
    stepper.advance(&mut world, 0.11 + 3.0 * n as f64 * gap).unwrap();
    let drift = (world.momentum() - before).length() / before.length();
    (ids.iter().map(|id| world[*id].state().velocity.linear.x).collect(), drift)
}

#[test]
fn a_touching_cradle_exchanges_exactly() {
    for (n, kind) in [2, 3, 5, 8].into_iter().flat_map(|n| BOTH.map(|k| (n, k))) {
        let (v, drift) = chain(n, 0.0, 1.0, |_| 1.0, kind);
        for (k, v) in v.iter().enumerate() {
            let expected = if k + 1 == n { 1.0 } else { 0.0 };
            assert!((v - expected).abs() < 1e-12, "{n} balls, {kind:?}: {v} m/s at {k}");
        }
        assert!(drift < 1e-13, "{n} balls, {kind:?}: momentum off by {drift}");
    }
}

#[test]
fn a_chain_with_gaps_passes_on_its_share() {
    for (n, e, kind) in [3, 6]
        .into_iter()
        .flat_map(|n| [0.5, 0.9].into_iter().flat_map(move |e| BOTH.map(move |k| (n, e, k))))
    {
        let (v, drift) = chain(n, 1e-3, e, |_| 1.0, kind);
        let expected = ops::powf(0.5 * (1.0 + e), (n - 1) as f64);
        assert!((v[n - 1] - expected).abs() < 1e-12, "{n} balls, e = {e}, {kind:?}: {} m/s", v[n - 1]);
        assert!(drift < 1e-13, "{n} balls, e = {e}, {kind:?}: momentum off by {drift}");
    }
}

/// Boxes thrown at each other and at a floor, edges and faces first.
#[test]
fn no_impact_at_several_points_makes_energy() {
    let mut random = SplitMix64(72);
    for k in 0..200 {
        let mut world = earth();
        let tilt = DQuat::from_rotation_z(random.range(0.0, 6.3))
            * DQuat::from_rotation_x([0.0, std::f64::consts::FRAC_PI_4][k % 2]);
        let half = DVec3::new(random.range(0.05, 0.5), random.range(0.05, 0.5), random.range(0.05, 0.5));
        let reach = [half.z, (half.y + half.z) * 0.5_f64.sqrt()][k % 2];
        let body =
            Body::free().shape(cuboid(half.x, half.y, half.z)).at([0.0, 0.0, reach + 0.3]).turned(tilt);
        let speed = DVec3::new(random.range(-4.0, 4.0), random.range(-4.0, 4.0), -3.0);
        let body = body.moving(speed).restitution(random.range(0.0, 1.0)).friction(random.range(0.0, 1.5));
        world.add(body).unwrap();
        let before = energy(&world);
        stepper_with(|_| {}).advance(&mut world, 0.2).unwrap();
        let gained = energy(&world) / before - 1.0;
        assert!(gained < 1e-9, "{k}: energy grew by {gained}");
    }
}
