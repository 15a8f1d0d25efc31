//! Joints from event to event: periods, drift, energy, loops, limits, motors, friction, breaking, contact beside them.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;
#[path = "common/timed.rs"]
mod timed;

use common::{impacts, stepper};
use sim_math::{assert_close, glam::DVec3, ops};
use sim_traits::{BodyId, Cuboid, HalfSpace, JointId, Sphere};
use sim_world::{
    Body, EnergyAccount, EventKind, Joint, JointMotor, JointPartner::World as Ground, StepError, Stepper,
    World,
};

const G: f64 = 9.81;

fn earth() -> World {
    World::new(DVec3::new(0.0, 0.0, -G)).unwrap()
}

fn ball(world: &mut World, at: DVec3) -> BodyId {
    let body = Body::free().shape(Sphere::new(0.1).unwrap()).density(1000.0).at(at);
    world.add(body.restitution(0.8).friction(0.0)).unwrap()
}

fn bar(world: &mut World, half: DVec3, at: DVec3) -> BodyId {
    world.add(Body::free().shape(Cuboid::new(half).unwrap()).density(1000.0).at(at)).unwrap()
}

fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

/// Largest error of all joints.
fn error(world: &World) -> f64 {
    let of = |(id, _)| {
        let miss = world.joint_error(id).unwrap();
        miss.linear.max(miss.angular)
    };
    world.joints().map(of).fold(0.0, f64::max)
}

fn pendulum(joint: sim_world::JointBuilder, world: &mut World) -> JointId {
    world.add_joint(joint.anchor([0.0; 3]).axis([0.0, 1.0, 0.0])).unwrap()
}

// proves-part: FON-73
#[test]
fn a_pendulum_that_hits_a_wall_loses_energy_only_there() {
    let mut world = earth();
    let bob = ball(&mut world, DVec3::X);
    pendulum(Joint::hinge(Ground, bob), &mut world);
    let wall = Body::fixed().shape(Cuboid::new(DVec3::new(0.1, 1.0, 1.0)).unwrap()).at([-0.2, 0.0, -1.0]);
    world.add(wall.restitution(0.8).friction(0.0)).unwrap();
    let (mut stepper, mut total, mut hits) = (stepper(), EnergyAccount::default(), 0);
    let (mut worst, first) = (0.0_f64, energy(&world));
    let mut last = first;
    for _ in 0..1200 {
        let report = stepper.advance(&mut world, 0.05).unwrap();
        total = total.then(&report.energy);
        let hit = impacts(&world).len();
        hits += hit;
        if hit == 0 {
            assert_close!(energy(&world), last, abs = 1e-9);
        }
        last = energy(&world);
        worst = worst.max(error(&world));
    }
    println!("{hits} hits, anchor {worst:e} m, account {total:?}, remainder {:e}", total.remainder());
    assert!(hits > 20 && worst < 1e-9, "{hits} hits, {worst}");
    assert_close!(energy(&world) - first, total.impact, abs = 1e-7);
    assert!(total.remainder().abs() < 1e-9 * total.flowed && total.joints.abs() < 1e-9, "{total:?}");
    assert!(total.friction.abs() < 1e-12 && total.micro <= 1e-12);
}

// T/4 = K(sin 45°) √(I/(m g d)): a bar from rest at 90 degrees.
#[test]
fn a_compound_pendulum_has_its_period() {
    let mut world = earth();
    let half = DVec3::new(0.5, 0.05, 0.03);
    let rod = bar(&mut world, half, DVec3::X * 0.5);
    let hinge = pendulum(Joint::hinge(Ground, rod), &mut world);
    let inertia = (half.x * half.x + half.z * half.z) / 3.0 + 0.25;
    let exact = 1.854_074_677_301_371_9 * (inertia / (G * 0.5)).sqrt();
    let mut stepper = stepper();
    // Hermite's cubic through two states a thousandth apart.
    let step = 1e-3;
    stepper.advance(&mut world, (exact / step).floor() * step).unwrap();
    let quarter = std::f64::consts::FRAC_PI_2;
    let state = |world: &World| {
        [world.joint_value(hinge, 0).unwrap().abs() - quarter, world.joint_rate(hinge, 0).unwrap().abs()]
    };
    let ([a, u], time) = (state(&world), world.time());
    stepper.advance(&mut world, step).unwrap();
    let [b, v] = state(&world);
    let at = |s: f64| {
        let (h, k) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s));
        a + h * (b - a) + step * k * ((1.0 - s) * u - s * v)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let mid = 0.5 * (low + high);
        if at(mid) < 0.0 { low = mid } else { high = mid }
    }
    let found = time + step * low;
    println!("quarter period {found}, exact {exact}, {:e}", found - exact);
    assert_close!(found, exact, abs = 1e-9);
    // The hinge bears the weight and turns the bar: m g (1 + 2 · 3/4 · …) at the lowest place, from energy.
    let rate = 2.0 * G * 0.5 / inertia;
    let mass = world[rod].mass();
    let pull = world.joint(hinge).unwrap().reaction().linear.length();
    assert_close!(pull, mass * (G + 0.5 * rate), rel = 1e-2);
}

#[test]
fn every_kind_of_joint_holds_for_long() {
    let kinds: [(&str, fn(BodyId, BodyId) -> sim_world::JointBuilder); 9] = [
        ("ball", |a, b| Joint::ball(a, b)),
        ("hinge", |a, b| Joint::hinge(a, b)),
        ("slider", |a, b| Joint::slider(a, b)),
        ("weld", |a, b| Joint::weld(a, b)),
        ("distance", |a, b| Joint::distance(a, b)),
        ("cylindrical", |a, b| Joint::cylindrical(a, b)),
        ("universal", |a, b| Joint::universal(a, b)),
        ("planar", |a, b| Joint::planar(a, b)),
        ("rope", |a, b| Joint::rope(a, b)),
    ];
    for (name, make) in kinds {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let a = bar(&mut world, DVec3::new(0.3, 0.1, 0.05), DVec3::ZERO);
        let b = bar(&mut world, DVec3::new(0.2, 0.15, 0.1), DVec3::X * 0.8);
        let joint = make(a, b);
        let joint = if name == "distance" || name == "rope" { joint } else { joint.anchor([0.4, 0.1, 0.0]) };
        world.add_joint(joint.axis([0.3, 0.2, 1.0])).unwrap();
        // Velocities that joints admit only in part: the rest is taken at once.
        for (body, w, v) in [(a, [0.5, -1.0, 2.0], [0.1, 0.0, 0.3]), (b, [-0.7, 0.4, 1.0], [0.2, 0.5, 0.0])] {
            let motion = sim_math::spatial::Motion::new(DVec3::from(w), DVec3::from(v));
            world.set_velocity(body, motion).unwrap();
        }
        let mut stepper = stepper();
        stepper.advance(&mut world, 1e-3).unwrap();
        let first = world.kinetic_energy();
        let (mut worst, mut total) = (0.0_f64, EnergyAccount::default());
        for _ in 0..40 {
            let report = stepper.advance(&mut world, 0.05).unwrap();
            total = total.then(&report.energy);
            worst = worst.max(error(&world));
            let momentum = report.momentum.remainder();
            assert!(
                momentum.linear.length() < 1e-9 && momentum.angular.length() < 1e-9,
                "{name}: {momentum:?}"
            );
        }
        let change = world.kinetic_energy() - first;
        println!("{name}: error {worst:e}, energy {change:e}, remainder {:e}", total.remainder());
        assert!(worst < 1e-9, "{name}: {worst}");
        let lossless = name != "rope";
        assert!(!lossless || change.abs() < 1e-9 * first, "{name}: {change}");
        assert!(total.remainder().abs() < 1e-9 * first, "{name}: {total:?}");
    }
}

/// Four bars in a plane, closed by four hinges in space: redundant rows.
#[test]
fn a_four_bar_in_space_stays_closed() {
    let mut world = earth();
    let corners = [[0.0, 0.0], [0.0, 0.4], [0.9, 0.6], [0.9, 0.0]].map(|[x, z]| DVec3::new(x, 0.0, z));
    let mut links = Vec::new();
    for k in 0..3 {
        let (a, b) = (corners[k], corners[k + 1]);
        let along = b - a;
        let turn = sim_math::glam::DQuat::from_rotation_arc(DVec3::X, along.normalize());
        let half = DVec3::new(0.5 * along.length(), 0.03, 0.03);
        let body = Body::free().shape(Cuboid::new(half).unwrap()).density(1000.0);
        let pose = sim_math::Pose::new(0.5 * (a + b), turn);
        links.push(world.add(body.pose(pose)).unwrap());
    }
    let hinge = |joint: sim_world::JointBuilder, at: DVec3| joint.anchor(at).axis([0.0, 1.0, 0.0]);
    world.add_joint(hinge(Joint::hinge(Ground, links[0]), corners[0])).unwrap();
    world.add_joint(hinge(Joint::hinge(links[0], links[1]), corners[1])).unwrap();
    world.add_joint(hinge(Joint::hinge(links[1], links[2]), corners[2])).unwrap();
    world.add_joint(hinge(Joint::hinge(links[2], Ground), corners[3])).unwrap();
    let (mut stepper, mut worst) = (stepper(), 0.0_f64);
    let first = energy(&world);
    let mut moved = 0.0_f64;
    for _ in 0..100 {
        stepper.advance(&mut world, 0.05).unwrap();
        worst = worst.max(error(&world));
        moved = moved.max((world[links[1]].position().z - 0.5).abs());
    }
    println!("error {worst:e}, energy {:e}, moved {moved}", energy(&world) - first);
    assert!(worst < 1e-9 && moved > 0.1, "{worst} {moved}");
    assert_close!(energy(&world), first, abs = 1e-9 * (1.0 + first.abs()));
}

/// A double pendulum of bars.
fn double() -> (World, [BodyId; 2]) {
    let mut world = earth();
    let rods = [0.3, 0.9].map(|x| bar(&mut world, DVec3::new(0.3, 0.03, 0.03), DVec3::X * x));
    for (joint, x) in [(Joint::hinge(Ground, rods[0]), 0.0), (Joint::ball(rods[0], rods[1]), 0.6)] {
        world.add_joint(joint.anchor([x, 0.0, 0.0]).axis([0.0, 1.0, 0.0])).unwrap();
    }
    (world, rods)
}

#[test]
fn steps_of_time_converge_to_it() {
    let (mut world, rods) = double();
    stepper().advance(&mut world, 0.5).unwrap();
    let exact = rods.map(|r| world[r].position());
    let miss = |h: f64| {
        let (mut world, rods) = double();
        timed::cone(|params| params.dt = h).advance(&mut world, 0.5).unwrap();
        rods.iter().zip(exact).map(|(r, x)| (world[*r].position() - x).length()).fold(0.0, f64::max)
    };
    let errors = [1.0 / 240.0, 1.0 / 480.0, 1.0 / 960.0].map(miss);
    let order = (errors[1] / errors[2]).log2();
    println!("errors {errors:?}, order {order}");
    assert!(order >= 0.95 && errors[2] < 2e-2, "{errors:?}");
}

#[test]
fn a_limit_bounces_and_then_bears() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = earth();
        let rod = bar(&mut world, DVec3::new(0.5, 0.05, 0.05), DVec3::X * 0.5);
        let joint = Joint::hinge(Ground, rod).limits(-0.6, 0.6).restitution(e);
        let hinge = pendulum(joint, &mut world);
        let (mut stepper, first) = (stepper(), energy(&world));
        let (mut beyond, mut reached) = (0.0_f64, 0);
        let mut total = EnergyAccount::default();
        for _ in 0..80 {
            let report = stepper.advance(&mut world, 0.025).unwrap();
            total = total.then(&report.energy);
            let value = world.joint_value(hinge, 0).unwrap();
            beyond = beyond.max(value.abs() - 0.6);
            reached +=
                world.events().iter().filter(|e| matches!(e.kind, EventKind::JointLimit { .. })).count();
        }
        println!("e {e}: {reached} times at the limit, beyond {beyond:e}, {total:?} {:e}", total.remainder());
        assert!(reached >= 1 && beyond < 1e-9, "{reached} {beyond}");
        assert!(total.remainder().abs() < 1e-9 * total.flowed, "{total:?}");
        assert_close!(energy(&world) - first, total.joints, abs = 1e-8 * first.abs().max(total.flowed));
        if e == 0.0 {
            // It lies at its limit, which bears its weight.
            assert!(
                world.joint(hinge).unwrap().is_at_limit(0, true)
                    || world.joint(hinge).unwrap().is_at_limit(0, false)
            );
            assert_close!(world.joint_rate(hinge, 0).unwrap(), 0.0, abs = 1e-9);
            let weight = world[rod].mass() * G;
            assert_close!(world.joint(hinge).unwrap().reaction().linear.z.abs(), weight, rel = 1e-9);
        } else if e == 1.0 {
            assert_close!(energy(&world), first, abs = 1e-8 * total.flowed);
        }
    }
}

/// A wheel on a hinge, without gravity.
fn wheel(
    change: impl FnOnce(sim_world::JointBuilder) -> sim_world::JointBuilder,
) -> (World, BodyId, JointId, f64) {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let wheel = bar(&mut world, DVec3::new(0.3, 0.3, 0.05), DVec3::ZERO);
    let joint = change(Joint::hinge(Ground, wheel).anchor([0.0; 3]).axis([0.0, 0.0, 1.0]));
    let hinge = world.add_joint(joint).unwrap();
    let inertia = world[wheel].mass() * 2.0 * 0.09 / 3.0;
    (world, wheel, hinge, inertia)
}

#[test]
fn motors_friction_and_springs_follow_their_laws() {
    // A motor of 3 N·m until it runs at 4 rad/s.
    let motor = JointMotor::Velocity { speed: 4.0, most: 3.0 };
    let (mut world, _, hinge, inertia) = wheel(|j| j.motor(motor));
    let mut run = stepper();
    run.advance(&mut world, 0.1).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), 0.3 / inertia, rel = 1e-9);
    let report = run.advance(&mut world, 4.0 * inertia / 3.0).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), 4.0, abs = 1e-9);
    assert!(report.energy.remainder().abs() < 1e-9 * report.energy.flowed, "{:?}", report.energy);
    // One without bounds is there at once.
    let (mut world, _, hinge, _) =
        wheel(|j| j.motor(JointMotor::Velocity { speed: 4.0, most: f64::INFINITY }));
    stepper().advance(&mut world, 0.5).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), 4.0, abs = 1e-12);
    assert_close!(world.joint_value(hinge, 0).unwrap(), 2.0, abs = 1e-9);
    // Friction stops a wheel at I ω/τ, and it stays.
    let (mut world, body, hinge, inertia) = wheel(|j| j.friction(2.0));
    world.set_velocity(body, sim_math::spatial::Motion::new(DVec3::Z * 3.0, DVec3::ZERO)).unwrap();
    let (mut run, stop) = (stepper(), 3.0 * inertia / 2.0);
    run.advance(&mut world, 0.5 * stop).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), 1.5, abs = 1e-9);
    let report = run.advance(&mut world, stop).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), 0.0, abs = 1e-12);
    assert_close!(world.joint_value(hinge, 0).unwrap(), 1.5 * stop, abs = 1e-9);
    assert_close!(report.energy.friction, -0.5 * inertia * 1.5 * 1.5, rel = 1e-8);
    // A spring: half a period later it is on the other side.
    let (mut world, body, hinge, inertia) = wheel(|j| j.spring(0.0, 30.0, 0.0));
    world.set_velocity(body, sim_math::spatial::Motion::new(DVec3::Z, DVec3::ZERO)).unwrap();
    let half = std::f64::consts::PI * (inertia / 30.0).sqrt();
    stepper().advance(&mut world, half).unwrap();
    assert_close!(world.joint_rate(hinge, 0).unwrap(), -1.0, abs = 1e-9);
    assert_close!(world.joint_value(hinge, 0).unwrap(), 0.0, abs = 1e-9);
}

#[test]
fn a_bar_breaks_under_its_load() {
    // From rest at 90 degrees: tension 3 m g cos θ, angle from the lowest place.
    let mut world = earth();
    let bob = ball(&mut world, DVec3::X);
    let mass = world[bob].mass();
    let share = 2.0;
    let joint = Joint::distance(Ground, bob).anchors([0.0; 3], DVec3::X).breaking_force(share * mass * G);
    let id = world.add_joint(joint).unwrap();
    let mut run = stepper();
    let mut broken = None;
    for _ in 0..100 {
        run.advance(&mut world, 0.02).unwrap();
        broken = broken.or_else(|| {
            let of = |e: &sim_world::Event| matches!(e.kind, EventKind::JointBroken { .. }).then_some(e.time);
            world.events().iter().find_map(of)
        });
        if broken.is_some() {
            break;
        }
    }
    assert!(broken.is_some() && world.joint(id).unwrap().is_broken());
    // It flies on: horizontal speed at the break is v cos θ with v² = 2 g cos θ and cos θ = share/3.
    let cos = share / 3.0;
    let speed = (2.0 * G * cos).sqrt() * cos;
    assert_close!(world[bob].velocity().linear.x, -speed, abs = 1e-8);
    run.advance(&mut world, 0.3).unwrap();
    assert_close!(world[bob].velocity().linear.x, -speed, abs = 1e-8);
}

#[test]
fn a_blow_on_a_link_moves_the_others_at_once() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let surface = |body: sim_world::BodyBuilder| body.restitution(1.0).friction(0.0).density(1000.0);
    let half = DVec3::new(0.5, 0.02, 0.02);
    let rod = surface(Body::free().shape(Cuboid::new(half).unwrap()).at([0.5, 0.0, 0.0]));
    let rod = world.add(rod).unwrap();
    let shot = surface(Body::free().shape(Sphere::new(0.05).unwrap()).at([2.0 / 3.0, 0.0, 0.171]));
    let shot = world.add(shot.moving([0.0, 0.0, -2.0])).unwrap();
    pendulum(Joint::hinge(Ground, rod), &mut world);
    let (m, at) = (world[shot].mass(), 2.0 / 3.0);
    let inertia = world[rod].mass() * ((1.0 + 0.0016) / 12.0 + 0.25);
    let mut run = stepper();
    let report = run.advance(&mut world, 0.08).unwrap();
    let p = 4.0 / (1.0 / m + at * at / inertia);
    println!("{:?} {:?}", world[shot].velocity(), world[rod].velocity());
    assert_close!(world[shot].velocity().linear.z, -2.0 + p / m, abs = 1e-9);
    assert_close!(world[rod].velocity().angular.y, p * at / inertia, rel = 1e-9);
    assert!(report.energy.impact.abs() < 1e-9 && report.energy.joints.abs() < 1e-12, "{:?}", report.energy);
    assert!(report.energy.remainder().abs() < 1e-10 && report.momentum.remainder().angular.length() < 1e-10);
}

#[test]
fn a_chain_falls_on_the_floor_and_rests() {
    let mut world = earth();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    let mut last: Option<BodyId> = None;
    for k in 0..4 {
        let link = bar(&mut world, DVec3::new(0.1, 0.04, 0.04), DVec3::new(0.22 * f64::from(k), 0.0, 0.3));
        if let Some(before) = last {
            let at = DVec3::new(0.22 * f64::from(k) - 0.11, 0.0, 0.3);
            world.add_joint(Joint::ball(before, link).anchor(at)).unwrap();
        }
        last = Some(link);
    }
    let (mut run, mut total, mut worst) = (stepper(), EnergyAccount::default(), 0.0_f64);
    for _ in 0..25 {
        let report = run.advance(&mut world, 0.04).unwrap();
        total = total.then(&report.energy);
        worst = worst.max(error(&world));
    }
    println!("error {worst:e}, {total:?}, remainder {:e}", total.remainder());
    assert!(worst < 1e-9, "{worst}");
    assert!(total.remainder().abs() < 1e-8 * total.flowed, "{total:?}");
    for (_, body) in world.bodies().filter(|(_, b)| b.is_free()) {
        assert!(body.position().z > 0.03 && body.position().z < 0.06, "{}", body.position());
        assert!(body.velocity().linear.length() < 0.05, "{:?}", body.velocity());
    }
}

#[test]
fn joints_that_are_far_apart_are_refused_by_name() {
    let mut world = earth();
    let bob = ball(&mut world, DVec3::X);
    let joint = Joint::ball(Ground, bob).anchors([0.0; 3], DVec3::Y).apart();
    let id = world.add_joint(joint).unwrap();
    let mut run = stepper();
    for error in [run.prepare(&mut world).unwrap_err(), run.advance(&mut world, 0.1).unwrap_err()] {
        assert!(matches!(error, StepError::World(_)), "{error}");
        assert!(error.to_string().starts_with("joint 0 (ball): "), "{error}");
    }
    world.remove_joint(id).unwrap();
    run.advance(&mut world, 0.1).unwrap();
}

#[test]
fn cuts_snapshots_and_changes_do_not_show() {
    let build = || {
        let (mut world, rods) = double();
        world.add(Body::fixed().shape(HalfSpace::up()).at([0.0, 0.0, -0.7])).unwrap();
        (world, rods)
    };
    let (mut whole, rods) = build();
    let mut run = stepper();
    run.advance(&mut whole, 1.0).unwrap();
    // The same in pieces, saved and loaded in between.
    let (mut world, _) = build();
    let mut other = stepper();
    for part in [0.013, 0.2, 0.287] {
        other.advance(&mut world, part).unwrap();
    }
    let registry = sim_world::Registry::default();
    let bytes = world.save(&registry).unwrap();
    let tables = other.save(&world).unwrap();
    let mut again = World::restore(&bytes, &registry).unwrap();
    let mut fresh = stepper();
    fresh.load(&again, &tables).unwrap();
    fresh.advance(&mut again, 0.5).unwrap();
    for rod in rods {
        assert_eq!(
            whole[rod].position().to_array().map(f64::to_bits),
            again[rod].position().to_array().map(f64::to_bits)
        );
    }
    // A joint that goes: the tip flies.
    let joint = again.joints().nth(1).unwrap().0;
    again.remove_joint(joint).unwrap();
    let before = again[rods[1]].velocity().linear;
    fresh.advance(&mut again, 0.01).unwrap();
    let fall = again[rods[1]].velocity().linear - before;
    assert!((fall + DVec3::Z * G * 0.01).length() < 1e-9 || fall.length() > 0.2, "{fall}");
    let _ = ops::sin(0.0);
}
