//! Joints under soft time stepping: periods, drift, energy, loops, motors, limits, heavy loads, contact beside them.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{assert_close, glam::DVec3, spatial::Motion, testkit::SplitMix64};
use sim_steppers::TimeStepping;
use sim_traits::{BodyId, Cuboid, HalfSpace, JointId, Sphere};
use sim_world::{Body, EventKind, Joint, JointMotor, JointPartner::World as Ground, Stepper, World};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

fn soft(dt: f64) -> TimeStepping {
    timed::soft(|params| params.dt = dt)
}

fn earth() -> World {
    World::new(DVec3::new(0.0, 0.0, -G)).unwrap()
}

fn ball(world: &mut World, at: DVec3) -> BodyId {
    world.add(Body::free().shape(Sphere::new(0.1).unwrap()).density(1000.0).at(at)).unwrap()
}

/// The largest error of any joint, m or rad.
fn miss(world: &World) -> f64 {
    let of = |id: JointId| {
        let miss = world.joint_error(id).unwrap();
        miss.linear.max(miss.angular)
    };
    world.joints().map(|(id, _)| of(id)).fold(0.0, f64::max)
}

fn pendulum(ball_joint: bool) -> (World, BodyId, JointId) {
    let mut world = earth();
    let bob = ball(&mut world, DVec3::X);
    let joint = if ball_joint { Joint::ball(Ground, bob) } else { Joint::hinge(Ground, bob) };
    let joint = world.add_joint(joint.anchor([0.0; 3]).axis([0.0, 1.0, 0.0])).unwrap();
    (world, bob, joint)
}

/// Time of the first passage through the lowest place, by interpolation.
fn quarter_period(dt: f64, ball_joint: bool) -> f64 {
    let (mut world, bob, _) = pendulum(ball_joint);
    let mut stepper = soft(dt);
    let (mut time, mut x) = (0.0, 1.0);
    while x > 0.0 {
        (time, x) = (world.time(), world[bob].position().x);
        stepper.advance(&mut world, dt).unwrap();
        let next = world[bob].position().x;
        if next <= 0.0 {
            return time + (world.time() - time) * x / (x - next);
        }
        x = next;
    }
    time
}

#[test]
fn a_pendulum_keeps_its_period_and_its_energy() {
    let inertia = 1.0 + 0.4 * 0.01;
    let exact = 1.854_074_677_301_372 * (inertia / G).sqrt();
    for ball_joint in [false, true] {
        let errors = [DT, 0.5 * DT, 0.25 * DT].map(|dt| (quarter_period(dt, ball_joint) - exact).abs());
        println!("quarter period {exact}, errors {errors:?}");
        assert!(
            errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1] && errors[0] < 1e-2 * exact,
            "{errors:?}"
        );
    }
    let (mut world, bob, _) = pendulum(false);
    let mut stepper = soft(DT);
    let (start, scale) = (timed::energy(&world), world[bob].mass() * G);
    let (mut most, mut drift, mut unexplained) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..600 {
        let account = stepper.advance(&mut world, 0.1).unwrap().energy;
        unexplained = unexplained.max(account.remainder().abs() / account.flowed);
        most = most.max((timed::energy(&world) - start).abs() / scale);
        drift = drift.max(miss(&world));
    }
    println!("energy within {most} of m g l over a minute, joint off by {drift}, remainder {unexplained}");
    assert!(most < 5e-2 && drift < 1e-4 && unexplained < 1e-3);
}

#[test]
fn a_chain_hangs_together() {
    let mut world = earth();
    let mut last = None;
    // It swings from 45 degrees, so that it stays taut.
    for k in 0..20 {
        let along = DVec3::new(1.0, 0.0, -1.0).normalize();
        let center = along * (0.1 + 0.2 * f64::from(k));
        let shape = Sphere::new(0.04).unwrap();
        let mass = if k == 19 { 1000.0 } else { 1.0 };
        let volume = 4.0 / 3.0 * std::f64::consts::PI * (0.04 * 0.04 * 0.04);
        let link = world.add(Body::free().shape(shape).density(mass / volume).at(center)).unwrap();
        let anchor = center - along * 0.1;
        let joint = match last {
            Some(before) => Joint::ball(before, link),
            None => Joint::ball(Ground, link),
        };
        world.add_joint(joint.anchor(anchor)).unwrap();
        last = Some(link);
    }
    let mut stepper = soft(DT);
    let mut worst = 0.0_f64;
    for _ in 0..40 {
        let account = stepper.advance(&mut world, 0.05).unwrap().energy;
        assert!(account.remainder().abs() < 1e-3 * account.flowed, "{account:?}");
        worst = worst.max(miss(&world));
    }
    println!("a ton on twenty links: joints are off by {worst}");
    assert!(worst < 1e-3 * 0.2);
}

#[test]
fn a_four_bar_linkage_in_space_stays_closed() {
    // Four hinges of parallel axes: three rows too many.
    let mut world = earth();
    let bar = |world: &mut World, at: DVec3, half: DVec3| {
        world.add(Body::free().shape(Cuboid::new(half).unwrap()).density(1000.0).at(at)).unwrap()
    };
    let left = bar(&mut world, DVec3::new(0.0, 0.0, -0.5), DVec3::new(0.02, 0.02, 0.5));
    let right = bar(&mut world, DVec3::new(1.0, 0.0, -0.5), DVec3::new(0.02, 0.02, 0.5));
    let low = bar(&mut world, DVec3::new(0.5, 0.0, -1.0), DVec3::new(0.5, 0.02, 0.02));
    let y = [0.0, 1.0, 0.0];
    world.add_joint(Joint::hinge(Ground, left).anchor([0.0; 3]).axis(y)).unwrap();
    world.add_joint(Joint::hinge(Ground, right).anchor([1.0, 0.0, 0.0]).axis(y)).unwrap();
    world.add_joint(Joint::hinge(left, low).anchor([0.0, 0.0, -1.0]).axis(y)).unwrap();
    world.add_joint(Joint::hinge(right, low).anchor([1.0, 0.0, -1.0]).axis(y)).unwrap();
    world.set_velocity(low, Motion::new(DVec3::ZERO, DVec3::X)).unwrap();
    let mut stepper = soft(DT);
    let mut worst = 0.0_f64;
    for _ in 0..20 {
        let account = stepper.advance(&mut world, 0.5).unwrap().energy;
        assert!(account.remainder().abs() < 1e-3 * account.flowed, "{account:?}");
        worst = worst.max(miss(&world));
    }
    println!("four-bar linkage: off by {worst}");
    assert!(worst < 1e-4);
}

#[test]
fn a_motor_turns_a_crank_with_the_force_that_it_has() {
    // A wheel about z: no gravity. J = ½ m r².
    let mut world = World::new(DVec3::ZERO).unwrap();
    let wheel = ball(&mut world, DVec3::ZERO);
    let mass = world[wheel].mass();
    let inertia = 0.4 * mass * 0.01;
    let hinge = world
        .add_joint(
            Joint::hinge(Ground, wheel)
                .anchor([0.0; 3])
                .axis([0.0, 0.0, 1.0])
                .motor(JointMotor::velocity(5.0, 0.1)),
        )
        .unwrap();
    let mut stepper = soft(DT);
    stepper.advance(&mut world, 0.5).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), 0.1 / inertia * 0.5, rel = 1e-9);
    let seconds = 5.0 * inertia / 0.1;
    stepper.advance(&mut world, seconds).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), 5.0, rel = 1e-9);
    // It goes on over several turns.
    stepper.advance(&mut world, 5.0).unwrap();
    assert!(world.joint_value(hinge, 0).unwrap() > 20.0);
    // A servo that is far stiffer than an explicit step would bear.
    world.set_joint_motor(hinge, 0, Some(JointMotor::position(1.0, 100.0, 10.0, f64::INFINITY))).unwrap();
    stepper.advance(&mut world, 2.0).unwrap();
    assert_close!(world.joint_value(hinge, 0).unwrap(), 1.0, abs = 1e-6);
}

#[test]
fn limits_stop_and_doors_rest_on_the_floor() {
    let mut world = earth();
    world.add(Body::fixed().shape(HalfSpace::up()).at([0.0, 0.0, -0.5])).unwrap();
    // A hatch that falls to its limit at half a right angle, and one that falls on the floor.
    for (y, limit) in [(0.0, Some(0.5)), (2.0, None)] {
        let half = DVec3::new(0.5, 0.3, 0.02);
        let hatch = world
            .add(Body::free().shape(Cuboid::new(half).unwrap()).density(500.0).at([0.5, y, 0.0]))
            .unwrap();
        let joint = Joint::hinge(Ground, hatch).anchor([0.0, y, 0.0]).axis([0.0, 1.0, 0.0]);
        let joint = match limit {
            Some(limit) => joint.limits(-1.0, limit),
            None => joint,
        };
        let id = world.add_joint(joint).unwrap();
        let mut stepper = soft(DT);
        stepper.advance(&mut world, 6.0).unwrap();
        let arrived = |e: &sim_world::Event| matches!(e.kind, EventKind::JointLimit { joint, axis: 0, high: true } if joint == id);
        assert_eq!(world.events().iter().filter(|e| arrived(e)).count(), usize::from(limit.is_some()));
        let angle = world.joint_value(id, 0).unwrap();
        match limit {
            Some(limit) => assert_close!(angle, limit, abs = 1e-4),
            // sin φ + (0.02/1) cos φ = 0.5: the lower edge touches.
            None => assert!((0.4..0.56).contains(&angle), "{angle}"),
        }
        let speed = world[hatch].velocity();
        assert!(speed.linear.length() + speed.angular.length() < 1e-4, "{speed:?}");
    }
}

#[test]
fn a_joint_breaks_under_its_load_and_says_so() {
    let mut world = earth();
    let bob = ball(&mut world, DVec3::new(0.0, 0.0, -1.0));
    let weight = world[bob].mass() * G;
    let holds =
        world.add_joint(Joint::ball(Ground, bob).anchor([0.0; 3]).breaking_force(1.01 * weight)).unwrap();
    let mut stepper = soft(DT);
    stepper.advance(&mut world, 1.0).unwrap();
    assert!(!world.joint(holds).unwrap().is_broken());
    assert_close!(world.joint(holds).unwrap().reaction().linear.z, weight, rel = 1e-9);
    world
        .set_joint_breaking(holds, sim_world::Breaking { force: 0.99 * weight, ..Default::default() })
        .unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!(
        world
            .events()
            .iter()
            .any(|e| matches!(e.kind, EventKind::JointBroken { joint, .. } if joint == holds))
    );
    assert!(world[bob].position().z < -2.0);
}

#[test]
fn ropes_pulleys_and_gears_keep_their_ratios() {
    // Atwood: masses 2 and 1 over a pulley: a = g/3.
    let mut world = earth();
    let heavy = world
        .add(Body::free().shape(Sphere::new(0.1).unwrap()).density(2000.0).at([-0.5, 0.0, -1.0]))
        .unwrap();
    let light = ball(&mut world, DVec3::new(0.5, 0.0, -2.0));
    world
        .add_joint(Joint::multibar([
            (heavy.into(), DVec3::new(-0.5, 0.0, -1.0)),
            (Ground, DVec3::new(-0.5, 0.0, 0.0)),
            (Ground, DVec3::new(0.5, 0.0, 0.0)),
            (light.into(), DVec3::new(0.5, 0.0, -2.0)),
        ]))
        .unwrap();
    let mut stepper = soft(DT);
    stepper.advance(&mut world, 0.5).unwrap();
    assert_close!(world[light].velocity().linear.z, G / 3.0 * 0.5, rel = 1e-6);
    assert_close!(world[heavy].velocity().linear.z, -G / 3.0 * 0.5, rel = 1e-6);
    // Two wheels of one to three.
    let mut world = World::new(DVec3::ZERO).unwrap();
    let (a, b) = (ball(&mut world, DVec3::ZERO), ball(&mut world, DVec3::X));
    let z = [0.0, 0.0, 1.0];
    let first = world
        .add_joint(Joint::hinge(Ground, a).axis(z).motor(JointMotor::velocity(2.0, f64::INFINITY)))
        .unwrap();
    let second = world.add_joint(Joint::hinge(Ground, b).axis(z)).unwrap();
    world.add_joint(Joint::gear(first, second, -3.0)).unwrap();
    stepper = soft(DT);
    stepper.advance(&mut world, 10.0).unwrap();
    let [x, y] = [first, second].map(|id| world.joint_value(id, 0).unwrap());
    assert_close!(x, 20.0, rel = 1e-4);
    assert_close!(x, -3.0 * y, abs = 1e-4);
}

/// Bodies joined at random, with loops, limits and motors, over a floor.
fn random_mechanism(seed: u64) -> World {
    let mut random = SplitMix64(seed);
    let mut world = earth();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    let mut ids = Vec::new();
    for k in 0..6 {
        let at = DVec3::new(0.5 * f64::from(k % 3), 0.6 * f64::from(k / 3), 1.0 + 0.2 * random.unit());
        let half = DVec3::splat(0.08) + random.vec3(0.04);
        let body = Body::free().shape(Cuboid::new(half).unwrap()).density(500.0 + 3000.0 * random.unit());
        ids.push(world.add(body.at(at).turned(random.unit_quat())).unwrap());
    }
    for _ in 0..6 {
        let (a, b) = (random.below(6), random.below(7));
        if a == b {
            continue;
        }
        let partner = if b == 6 { Ground } else { ids[b].into() };
        let anchor = world[ids[a]].position() + random.vec3(0.3);
        let joint = match random.below(6) {
            0 => Joint::ball(partner, ids[a]),
            1 => Joint::hinge(partner, ids[a]).limits(-0.5, 0.7),
            2 => Joint::slider(partner, ids[a]).limits(-0.1, 0.2),
            3 => Joint::hinge(partner, ids[a]).motor(JointMotor::velocity(2.0, 3.0)),
            4 => Joint::rope(partner, ids[a]).length(0.3),
            _ => Joint::weld(partner, ids[a]).frequency(4.0, 0.3),
        };
        world.add_joint(joint.anchor(anchor).axis(random.unit_vec3())).unwrap();
    }
    world
}

#[test]
fn random_mechanisms_stay_finite_and_their_accounts_close() {
    let mut worst = 0.0_f64;
    for seed in 0..24 {
        let (mut world, mut stepper) = (random_mechanism(seed), soft(DT));
        for _ in 0..10 {
            let report = stepper.advance(&mut world, 0.2).unwrap();
            let account = report.energy;
            worst = worst.max(account.remainder().abs() / account.flowed);
            assert!(account.remainder().abs() <= 1e-3 * account.flowed, "seed {seed}: {account:?}");
            assert!(report.quarantined == 0, "seed {seed}");
        }
        for (id, body) in world.bodies() {
            let (speed, far) = (body.velocity().linear.length(), body.position().length());
            assert!(speed < 100.0 && far < 50.0, "seed {seed}: {id} at {far} with {speed}");
        }
    }
    println!("largest remainder: {worst} of what flowed");
}
