//! Bounces, impacts of several bodies, fast bodies, and the energy account under time stepping.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    assert_close,
    glam::{DQuat, DVec3},
    ops,
    testkit::SplitMix64,
};
use sim_traits::{Cuboid, Sphere};
use sim_world::{Body, EventKind, Stepper, World};
use timed::{G, ball, brick, cone, earth, energy, laws};

// proves: CLI-47
#[test]
fn a_bouncing_ball_rises_to_e_squared_at_any_step() {
    for dt in [1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0] {
        let mut world = earth(0.0, 0.8);
        let id = world.add(ball(0.1, 0.0, 0.8).at([0.0, 0.0, 1.1])).unwrap();
        let mut stepper = cone(|p| p.dt = dt);
        // Time of the n-th apex: fall, then up and down with speeds e v, e² v, …
        let fall = (2.0 / G).sqrt();
        let (mut apex, mut speed) = (fall, 0.8 * G * fall);
        for n in 1..=6 {
            apex += speed / G;
            let left = apex - world.time();
            stepper.advance(&mut world, left).unwrap();
            let height = ops::powi(0.64, n);
            assert_close!(world[id].position().z, 0.1 + height, abs = 1e-9);
            apex += speed / G;
            speed *= 0.8;
        }
        // All bounces end at 4.0637 s.
        let left = 4.2 - world.time();
        stepper.advance(&mut world, left).unwrap();
        assert_close!(world[id].position().z, 0.1, abs = 1e-5);
        assert!(world[id].velocity().linear.length() < 1e-6);
    }
}

#[test]
fn elastic_balls_keep_their_energy() {
    let mut world = earth(0.0, 1.0);
    for k in 0..9 {
        let (x, y) = (f64::from(k % 3), f64::from(k / 3));
        world.add(ball(0.3, 0.0, 1.0).at([x, y, 5.0 + 0.1 * f64::from(k)])).unwrap();
    }
    let before = energy(&world);
    let mut stepper = cone(|_| {});
    let report = stepper.advance(&mut world, 20.0).unwrap();
    assert_close!(energy(&world), before, rel = 1e-9);
    assert!(report.energy.remainder().abs() < 1e-8 * before, "{:?}", report.energy);
    assert!(report.collisions > 80);
}

// proves: ARN-51
#[test]
fn a_cradle_passes_the_blow_on() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let ids: Vec<_> = (0..5)
        .map(|k| {
            let x = if k == 0 { -1.0 } else { 0.2 * f64::from(k) };
            world.add(ball(0.1, 0.0, 1.0).at([x, 0.0, 0.0])).unwrap()
        })
        .collect();
    world.set_velocity(ids[0], sim_math::spatial::Motion::new(DVec3::ZERO, DVec3::X)).unwrap();
    cone(|_| {}).advance(&mut world, 2.0).unwrap();
    let speeds: Vec<f64> = ids.iter().map(|id| world[*id].velocity().linear.x).collect();
    for (k, v) in speeds.iter().enumerate() {
        assert_close!(*v, if k == 4 { 1.0 } else { 0.0 }, abs = 1e-9);
    }
    // Nobody approaches a neighbour any more.
    assert!(speeds.windows(2).all(|w| w[1] - w[0] >= -1e-9), "{speeds:?}");
}

#[test]
fn a_light_ball_on_a_heavy_one_rebounds_to_almost_seven_times_the_height() {
    // 10 : 1, e = 1, dropped together from h: the light one rises to ((3 − r)/(1 + r))² h, r = m/M = 1/10, from where it was hit: 6.950 h.
    let mut world = earth(0.0, 1.0);
    let h = 1.0;
    let big = world.add(ball(0.1, 0.0, 1.0).mass(10.0).at([0.0, 0.0, 0.1 + h])).unwrap();
    // A gap so small that it does not matter, and large enough that the blows come one after the other.
    let small = world.add(ball(0.1, 0.0, 1.0).mass(1.0).at([0.0, 0.0, 0.3 + h + 1e-4])).unwrap();
    let mut stepper = cone(|p| p.dt = 1.0 / 240.0);
    stepper.advance(&mut world, (2.0 * h / G).sqrt() + 0.01).unwrap();
    let v = world[small].velocity().linear.z;
    let rise = v * v / (2.0 * G) + world[small].position().z - 0.3;
    assert_close!(rise / h, 6.950, rel = 2e-3);
    assert!(world[big].velocity().linear.z > 0.0);
}

#[test]
fn energy_is_never_made() {
    // Boxes and balls with all restitutions up to 1, thrown together: after each tenth of a second the energy is no more than before, up to the
    // first-order remainder of steps in contact, which the account states.
    let mut random = SplitMix64(77);
    for e in [0.0, 0.5, 0.9, 1.0] {
        let mut world = earth(0.5, e);
        for k in 0..12 {
            let at =
                DVec3::new(f64::from(k % 3) * 1.2, f64::from(k / 3 % 2) * 1.2, 1.0 + 1.3 * f64::from(k / 6));
            let body = if k % 2 == 0 { brick(0.4, 0.3, 0.2, 0.5).restitution(e) } else { ball(0.3, 0.5, e) };
            world
                .add(
                    body.at(at)
                        .turned(random.unit_quat())
                        .moving(random.vec3(2.0))
                        .spinning(random.vec3(5.0)),
                )
                .unwrap();
        }
        let mut stepper = cone(|_| {});
        let mut before = energy(&world);
        for _ in 0..40 {
            let report = stepper.advance(&mut world, 0.1).unwrap();
            let now = energy(&world);
            let account = report.energy;
            let contact = account.impact + account.micro + account.friction;
            assert!(contact <= 1e-7 * before, "e = {e}: contacts do work {contact}");
            assert!(account.correction <= 1e-7 * before && account.stepping <= 1e-9 * before, "{account:?}");
            assert!(now <= before + 1e-7 * before, "e = {e}: {before} to {now}: {account:?}");
            assert!(account.remainder().abs() < 1e-12 * (before + account.flowed), "{account:?}");
            before = now;
        }
    }
}

#[test]
fn the_length_of_steps_takes_from_a_tipping_brick_in_proportion() {
    let mut sums = Vec::new();
    for dt in [1.0 / 60.0, 1.0 / 120.0, 1.0 / 240.0] {
        let mut world = earth(2.0, 0.0);
        let turn = 0.9_f64;
        let low = 0.5 * ops::sin(turn) + 0.3 * ops::cos(turn);
        world
            .add(brick(0.5, 0.4, 0.3, 2.0).at([0.0, 0.0, low]).turned(DQuat::from_rotation_y(turn)))
            .unwrap();
        let before = energy(&world);
        let account = cone(|p| p.dt = dt).advance(&mut world, 0.2).unwrap().energy;
        let contact = account.impact + account.micro + account.friction;
        assert!(contact <= 1e-12 && account.stepping < 0.0, "{account:?}");
        assert_close!(contact + account.stepping, energy(&world) - before, abs = 1e-12 * before);
        sums.push(contact + account.stepping);
    }
    for k in 0..2 {
        assert_close!(sums[k] / sums[k + 1], 2.0, rel = 0.05);
    }
}

// proves: CLI-62
#[test]
fn fast_balls_do_not_pass_through_thin_walls() {
    for speed in [10.0, 100.0, 1000.0] {
        for e in [0.0, 0.5] {
            let mut world = World::new(DVec3::ZERO).unwrap();
            let plate = Cuboid::new(DVec3::new(0.001, 2.0, 2.0)).unwrap();
            world.add(Body::fixed().shape(plate).restitution(e)).unwrap();
            let shape = Sphere::new(0.05).unwrap();
            let id = world
                .add(Body::free().shape(shape).restitution(e).at([-1.03, 0.1, 0.2]).moving([speed, 0.0, 0.0]))
                .unwrap();
            let mut stepper = cone(|_| {});
            stepper.advance(&mut world, 1.5 / speed + 0.2).unwrap();
            let gap = -world[id].position().x - 0.051;
            let v = world[id].velocity().linear.x;
            if e > 0.0 {
                assert_close!(v, -e * speed, rel = 1e-9);
            } else {
                assert!((0.0..1e-6).contains(&gap) || gap.abs() < 1e-9, "{speed} m/s: gap {gap:e}");
                assert!(v.abs() < 1e-9);
            }
        }
    }
}

#[test]
fn contacts_begin_end_and_report_forces() {
    let mut world = earth(0.5, 0.0);
    let id = world.add(brick(0.5, 0.5, 0.5, 0.5).at([0.0, 0.0, 0.6])).unwrap();
    let mut stepper = cone(|_| {});
    let report = stepper.advance(&mut world, 1.0).unwrap();
    let began = world.events().iter().filter(|e| matches!(e.kind, EventKind::ContactBegan { .. })).count();
    assert_eq!(began, 1);
    assert!(report.collisions >= 1);
    // A second at rest: the mean force is the weight.
    stepper.advance(&mut world, 1.0).unwrap();
    let contact = world.contacts()[0];
    let weight = world[id].mass() * G;
    assert_close!(contact.impulse.length(), weight, rel = 1e-9);
    assert_close!(contact.impulse.z.abs(), weight, rel = 1e-9);
    // Lifted off: the contact ends.
    let (center, mass) = (world[id].center(), world[id].mass());
    world.apply_impulse(id, center, DVec3::new(0.0, 0.0, 5.0 * mass)).unwrap();
    stepper.advance(&mut world, 0.3).unwrap();
    let ended = world.events().iter().filter(|e| matches!(e.kind, EventKind::ContactEnded { .. })).count();
    assert_eq!(ended, 1);
    assert!(world.contacts().is_empty());
}

#[test]
fn momentum_is_conserved_among_free_bodies() {
    let mut random = SplitMix64(5);
    let mut world = World::new(DVec3::ZERO).unwrap();
    for k in 0..10 {
        let at = DVec3::new(f64::from(k % 3), f64::from(k / 3), 0.0) * 0.9;
        let body = if k % 2 == 0 { brick(0.3, 0.3, 0.3, 0.5) } else { ball(0.3, 0.5, 0.5) };
        world.add(body.at(at).moving(-at + random.vec3(0.5)).spinning(random.vec3(2.0))).unwrap();
    }
    let (p, l) = (world.momentum(), world.angular_momentum());
    let size: f64 = world.bodies().map(|(_, b)| b.mass() * b.velocity().linear.length()).sum();
    let report = cone(|_| {}).advance(&mut world, 3.0).unwrap();
    assert!(report.collisions + report.micro_collisions > 10);
    assert!((world.momentum() - p).length() < 1e-12 * size);
    assert!(
        (world.angular_momentum() - l).length() < 1e-3 * size,
        "{:e}",
        (world.angular_momentum() - l).length() / size
    );
}

#[test]
fn bounces_agree_under_every_law() {
    for (name, mut stepper) in laws(1.0 / 60.0) {
        let mut world = earth(0.3, 0.6);
        let id = world.add(ball(0.1, 0.3, 0.6).at([0.0, 0.0, 1.1]).moving([1.0, 0.0, 0.0])).unwrap();
        stepper.advance(&mut world, 0.6).unwrap();
        // One bounce: v_z = −e v_z, and the slip of 1 m/s is stopped by rolling: 5/7.
        let v = world[id].velocity().linear;
        let fall = (2.0 / G).sqrt();
        let up = 0.6 * G * fall - G * (0.6 - fall);
        assert!((v - DVec3::new(5.0 / 7.0, 0.0, up)).length() < 1e-8, "{name}: {v}");
    }
}
