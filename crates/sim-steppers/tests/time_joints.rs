//! Joints under exact time stepping: periods, drift, energy, loops, motors, limits, contact beside them.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{assert_close, glam::DVec3, testkit::SplitMix64};
use sim_traits::{BodyId, Cuboid, HalfSpace, JointId, Sphere};
use sim_world::{Body, EventKind, Joint, JointMotor, JointPartner::World as Ground, Stepper, World};

use sim_steppers::{Stabilization, TimeStepping};

const G: f64 = 9.81;

fn newton(dt: f64) -> TimeStepping {
    timed::cone(|params| params.dt = dt)
}

fn earth() -> World {
    World::new(DVec3::new(0.0, 0.0, -G)).unwrap()
}

fn ball(world: &mut World, at: DVec3) -> BodyId {
    world.add(Body::free().shape(Sphere::new(0.1).unwrap()).density(1000.0).at(at)).unwrap()
}

/// Kinetic and potential energy of the free bodies.
fn energy(world: &World) -> f64 {
    let of = |body: &Body| {
        let height = body.position().z;
        if body.is_free() { body.kinetic_energy() + body.mass() * G * height } else { 0.0 }
    };
    world.bodies().map(|(_, body)| of(body)).sum()
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
    let mut stepper = newton(dt);
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

// proves: DYN-65
// proves: CLI-66
// proves: DYN-61
// proves: CLI-67
// From 90 degrees: T/4 = K(sin 45°) √(l/g) (1 + k²/l²)^½, with the ball's own inertia.
#[test]
fn a_pendulum_keeps_its_period_and_its_energy() {
    let inertia = 1.0 + 0.4 * 0.01;
    let exact = 1.854_074_677_301_372 * (inertia / G).sqrt();
    for ball_joint in [false, true] {
        let found = [1.0 / 240.0, 1.0 / 480.0, 1.0 / 960.0].map(|dt| quarter_period(dt, ball_joint));
        let errors = found.map(|t| (t - exact).abs());
        println!("quarter periods {found:?}, exact {exact}, errors {errors:?}");
        // First order at least, and after extrapolation a hundred-thousandth.
        assert!(errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1], "{errors:?}");
        let extrapolated = 2.0 * found[2] - found[1];
        assert!((extrapolated - exact).abs() < 1e-5, "{extrapolated}");
    }
    let (mut world, bob, hinge) = pendulum(false);
    let mut stepper = newton(1.0 / 240.0);
    let start = energy(&world);
    let scale = world[bob].mass() * G;
    let (mut most, mut drift) = (0.0_f64, 0.0_f64);
    for _ in 0..60 {
        let report = stepper.advance(&mut world, 1.0).unwrap();
        let account = report.energy;
        assert!(account.remainder().abs() < 1e-11 * account.flowed, "{account:?}");
        most = most.max((energy(&world) - start).abs() / scale);
        let miss = world.joint_error(hinge).unwrap();
        drift = drift.max(miss.linear).max(miss.angular);
    }
    println!("energy within {most} of m g l over a minute, drift {drift}");
    assert!(most < 2e-2 && drift < 1e-8);
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
    let mut stepper = newton(1.0 / 240.0);
    let mut worst = 0.0_f64;
    for _ in 0..40 {
        let report = stepper.advance(&mut world, 0.05).unwrap();
        assert!(report.energy.remainder().abs() < 1e-9 * report.energy.flowed, "{:?}", report.energy);
        for (id, _) in world.joints().collect::<Vec<_>>() {
            worst = worst.max(world.joint_error(id).unwrap().linear);
        }
    }
    println!("a ton on twenty links: joints are off by {worst}");
    assert!(worst < 1e-6 * 0.2);
}

// proves: DYN-65
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
    world.set_velocity(low, sim_math::spatial::Motion::new(DVec3::ZERO, DVec3::X)).unwrap();
    let mut stepper = newton(1.0 / 240.0);
    let mut worst = 0.0_f64;
    for _ in 0..20 {
        let report = stepper.advance(&mut world, 0.5).unwrap();
        assert_eq!(report.solver.unsolved, 0, "{:?}", report.solver);
        for (id, _) in world.joints().collect::<Vec<_>>() {
            let miss = world.joint_error(id).unwrap();
            worst = worst.max(miss.linear).max(miss.angular);
        }
    }
    println!("four-bar linkage: off by {worst}");
    assert!(worst < 1e-8);
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
    let mut stepper = newton(1.0 / 240.0);
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
        let mut stepper = newton(1.0 / 240.0);
        stepper.advance(&mut world, 6.0).unwrap();
        let arrived = |e: &sim_world::Event| matches!(e.kind, EventKind::JointLimit { joint, axis: 0, high: true } if joint == id);
        assert_eq!(world.events().iter().filter(|e| arrived(e)).count(), usize::from(limit.is_some()));
        let angle = world.joint_value(id, 0).unwrap();
        match limit {
            Some(limit) => assert_close!(angle, limit, abs = 1e-6),
            // sin φ + (0.02/1) cos φ = 0.5: the lower edge touches.
            None => assert!((0.4..0.56).contains(&angle), "{angle}"),
        }
        let speed = world[hatch].velocity();
        assert!(speed.linear.length() + speed.angular.length() < 1e-6, "{speed:?}");
    }
}

// proves: DYN-61
#[test]
fn a_joint_breaks_under_its_load_and_says_so() {
    let mut world = earth();
    let bob = ball(&mut world, DVec3::new(0.0, 0.0, -1.0));
    let weight = world[bob].mass() * G;
    let holds =
        world.add_joint(Joint::ball(Ground, bob).anchor([0.0; 3]).breaking_force(1.01 * weight)).unwrap();
    let mut stepper = newton(1.0 / 240.0);
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
    let mut stepper = newton(1.0 / 240.0);
    stepper.advance(&mut world, 0.5).unwrap();
    assert_close!(world[light].velocity().linear.z, G / 3.0 * 0.5, rel = 1e-9);
    assert_close!(world[heavy].velocity().linear.z, -G / 3.0 * 0.5, rel = 1e-9);
    // Two wheels of one to three.
    let mut world = World::new(DVec3::ZERO).unwrap();
    let (a, b) = (ball(&mut world, DVec3::ZERO), ball(&mut world, DVec3::X));
    let z = [0.0, 0.0, 1.0];
    let first = world
        .add_joint(Joint::hinge(Ground, a).axis(z).motor(JointMotor::velocity(2.0, f64::INFINITY)))
        .unwrap();
    let second = world.add_joint(Joint::hinge(Ground, b).axis(z)).unwrap();
    world.add_joint(Joint::gear(first, second, -3.0)).unwrap();
    stepper = newton(1.0 / 240.0);
    stepper.advance(&mut world, 10.0).unwrap();
    let [x, y] = [first, second].map(|id| world.joint_value(id, 0).unwrap());
    assert_close!(x, 20.0, rel = 1e-6);
    assert_close!(x, -3.0 * y, abs = 1e-7);
}

/// Bodies joined at random, with loops, limits and motors, over a floor: nothing breaks under any law, and the account closes.
#[test]
fn random_mechanisms_stay_finite_under_every_law() {
    for seed in 0..4 {
        for (name, mut stepper) in timed::laws(1.0 / 240.0) {
            let mut random = SplitMix64(seed);
            let mut world = earth();
            world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
            let mut ids = Vec::new();
            for k in 0..6 {
                let at =
                    DVec3::new(0.5 * f64::from(k % 3), 0.6 * f64::from(k / 3), 1.0 + 0.2 * random.unit());
                let half = DVec3::splat(0.08) + random.vec3(0.04);
                let body =
                    Body::free().shape(Cuboid::new(half).unwrap()).density(500.0 + 3000.0 * random.unit());
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
            for _ in 0..10 {
                let report = stepper.advance(&mut world, 0.1).unwrap();
                let account = report.energy;
                assert!(
                    account.remainder().abs() <= 1e-9 * account.flowed,
                    "{name}, seed {seed}: {account:?}"
                );
                assert!(report.quarantined == 0, "{name}, seed {seed}");
            }
            for (id, body) in world.bodies() {
                let state = body.state();
                let far = state.pose().translation.length();
                assert!(
                    state.velocity.linear.length() < 100.0 && far < 50.0,
                    "{name}, seed {seed}: {id} {far}"
                );
            }
        }
    }
}

fn baumgarte(share: f64) -> TimeStepping {
    timed::cone(|params| {
        params.dt = 1.0 / 240.0;
        params.stabilization = Stabilization::Baumgarte(share);
    })
}

// proves: CLI-52
#[test]
fn without_stabilisation_a_pinned_body_drifts_by_half_h_squared() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let bob = ball(&mut world, DVec3::X);
    let pin = world.add_joint(Joint::hinge(Ground, bob).anchor([0.0; 3])).unwrap();
    let omega = 3.0;
    world.set_velocity(bob, sim_math::spatial::Motion::new(DVec3::Z * omega, DVec3::Y * omega)).unwrap();
    let mut stepper = baumgarte(0.0);
    let h = 1.0 / 240.0;
    stepper.advance(&mut world, h).unwrap();
    let drift = world.joint_error(pin).unwrap().linear;
    assert_close!(drift, 0.5 * h * h * omega * omega, rel = 1e-3);
}

// proves: CLI-54
#[test]
fn baumgartes_share_of_an_error_is_gone_after_each_step() {
    for share in [0.2, 1.0] {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let bob = ball(&mut world, DVec3::new(0.03, 0.0, 0.0));
        let pin =
            world.add_joint(Joint::ball(Ground, bob).anchors([0.0; 3], [0.03, 0.0, 0.0]).apart()).unwrap();
        let mut stepper = baumgarte(share);
        let mut before = 0.03;
        for _ in 0..10 {
            stepper.advance(&mut world, 1.0 / 240.0).unwrap();
            let error = world.joint_error(pin).unwrap().linear;
            assert_close!(error, (1.0 - share) * before, abs = 1e-12);
            before = error;
        }
    }
}

// proves: CLI-60
#[test]
fn a_wide_gap_closes_without_a_blow() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let (a, b) = (ball(&mut world, DVec3::ZERO), ball(&mut world, DVec3::X * 0.53));
    let pin =
        world.add_joint(Joint::ball(a, b).anchors([0.25, 0.0, 0.0], [0.28, 0.01, 0.0]).apart()).unwrap();
    let mut stepper = newton(1.0 / 240.0);
    let mut before = world.joint_error(pin).unwrap().linear;
    assert!(before > 0.03);
    for _ in 0..60 {
        stepper.advance(&mut world, 1.0 / 240.0).unwrap();
        let error = world.joint_error(pin).unwrap().linear;
        assert!(error <= before + 1e-9, "{error} after {before}");
        before = error;
        for (_, body) in world.bodies() {
            assert!(body.velocity().linear.length() < 0.01, "{:?}", body.velocity());
        }
    }
    assert!(before < 1e-8, "{before}");
}

/// A rod of one metre that turns about its end at the origin, without gravity, and a small ball that comes down on it at `at` (m).
fn struck_rod(at: f64, restitution: f64) -> (World, [BodyId; 2]) {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let half = DVec3::new(0.5, 0.02, 0.02);
    let surface = |body: sim_world::BodyBuilder| body.restitution(restitution).friction(0.0);
    let shape = Cuboid::new(half).unwrap();
    let rod = world.add(surface(Body::free().shape(shape).density(1000.0).at([0.5, 0.0, 0.0]))).unwrap();
    let ball = Body::free().shape(Sphere::new(0.05).unwrap()).density(1000.0);
    let ball = surface(ball.at([at, 0.0, 0.171]).moving([0.0, 0.0, -2.0]));
    let ball = world.add(ball).unwrap();
    world.add_joint(Joint::hinge(Ground, rod).anchor([0.0; 3]).axis([0.0, 1.0, 0.0])).unwrap();
    (world, [rod, ball])
}

#[test]
fn a_blow_on_a_hinged_rod_is_answered_with_its_hinge() {
    for (at, e) in [(2.0 / 3.0, 1.0), (0.9, 1.0), (0.5, 0.5), (0.3, 0.8)] {
        let (mut world, [rod, ball]) = struck_rod(at, e);
        let (m, big) = (world[ball].mass(), world[rod].mass());
        let inertia = big * (1.0 + 0.04 * 0.04) / 12.0 + big * 0.25;
        let mut stepper = newton(1.0 / 240.0);
        let mut account = sim_world::EnergyAccount::default();
        for _ in 0..20 {
            account = account.then(&stepper.advance(&mut world, 0.005).unwrap().energy);
        }
        let p = (1.0 + e) * 2.0 / (1.0 / m + at * at / inertia);
        let (speed, spin) = (world[ball].velocity().linear.z, world[rod].velocity().angular.y);
        println!("hit at {at}, e {e}: ball {speed}, rod {spin}, account {account:?}");
        assert_close!(speed, -2.0 + p / m, abs = 1e-9);
        assert_close!(spin, p * at / inertia, rel = 1e-3);
        // The impact alone takes energy: what it leaves is that of the closed form.
        assert_close!(account.impact, -0.5 * (1.0 - e * e) * 4.0 / (1.0 / m + at * at / inertia), abs = 1e-9);
        assert!(account.remainder().abs() < 1e-12 && account.joints.abs() < 1e-3, "{account:?}");
    }
}
