//! Every kind of joint does what its closed form says, under exact time stepping and under reaction forces.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/mechanisms.rs"]
mod common;

use common::{G, GROUND, ball, block, both, earth, energy, reacting, space};
use sim_math::{
    MathError, Pose,
    curve::{ClosestOnCurve, Curve, Domain},
    glam::{DQuat, DVec3},
    ops,
    rotation::rotation_angle,
    spatial::Motion,
};
use sim_traits::joint::{JointCurve, JointPatch, JointPath, JointSurface};
use sim_world::{Body, Joint, JointAxis, Screw, Stepper, World};
use std::sync::Arc;

// proves: DYN-62
#[test]
fn points_of_the_same_velocity_keep_their_offset_up_to_drift() {
    for (reacts, mut stepper) in both(1.0 / 240.0) {
        let mut world = earth();
        let (a, b) =
            (ball(&mut world, 1.0, DVec3::ZERO), block(&mut world, 2.0, DVec3::splat(0.2), DVec3::X));
        world.add_joint(Joint::velocity(a, b).anchors([0.0; 3], [0.8, 0.2, 0.0])).unwrap();
        world.set_velocity(b, Motion::new(DVec3::new(0.3, 0.2, 1.0), DVec3::new(0.2, 0.5, 0.0))).unwrap();
        let v = world[b].velocity_at(DVec3::new(0.8, 0.2, 0.0));
        world.set_velocity(a, Motion::new(DVec3::ZERO, v)).unwrap();
        let held = DVec3::new(-0.2, 0.2, 0.0);
        let offset = |world: &World| world[b].user_pose().transform_point(held) - world[a].position();
        let start = offset(&world);
        stepper.advance(&mut world, 2.0).unwrap();
        let drift = (offset(&world) - start).length();
        let rate =
            world[b].velocity_at(world[b].user_pose().transform_point(held)) - world[a].velocity().linear;
        println!("reaction forces {reacts}: drift {drift}, difference of velocities {}", rate.length());
        assert!(drift < 2e-2 && rate.length() < if reacts { 1e-4 } else { 1e-2 });
        // It is drift: nothing calls it back.
        assert!(drift > 1e-9);
    }
}

/// x = r (φ + sin φ), z = −r (1 + cos φ): a bead needs the same time to the bottom from everywhere.
#[derive(Debug)]
struct Cycloid(f64);

impl Curve for Cycloid {
    fn domain(&self) -> Domain {
        Domain::open(-3.0, 3.0)
    }
    fn point(&self, s: f64) -> DVec3 {
        DVec3::new(s + ops::sin(s), 0.0, -1.0 - ops::cos(s)) * self.0
    }
    fn derivative(&self, s: f64) -> DVec3 {
        DVec3::new(1.0 + ops::cos(s), 0.0, ops::sin(s)) * self.0
    }
    fn second_derivative(&self, s: f64) -> DVec3 {
        DVec3::new(-ops::sin(s), 0.0, ops::cos(s)) * self.0
    }
    fn closest(&self, target: DVec3) -> Result<ClosestOnCurve, MathError> {
        let mut best = ClosestOnCurve { parameter: 0.0, point: self.point(0.0), distance: f64::INFINITY };
        for k in -3000..=3000 {
            let (parameter, point) = (f64::from(k) * 1e-3, self.point(f64::from(k) * 1e-3));
            if point.distance(target) < best.distance {
                best = ClosestOnCurve { parameter, point, distance: point.distance(target) };
            }
        }
        Ok(best)
    }
}

/// Time until x passes zero.
fn time_to_bottom(stepper: &mut dyn Stepper, world: &mut World, body: sim_traits::BodyId, dt: f64) -> f64 {
    loop {
        let (time, x) = (world.time(), world[body].position().x);
        stepper.advance(world, dt).unwrap();
        let next = world[body].position().x;
        if next <= 0.0 || time > 10.0 {
            return time + (world.time() - time) * x / (x - next);
        }
    }
}

// proves: DYN-63
#[test]
fn beads_on_a_line_a_circle_and_a_cycloid() {
    let dt = 1.0 / 480.0;
    let r = 0.5;
    for k in 0..2 {
        // The cycloid: π √(r/g) from any height.
        for start in [0.3, 1.0, 2.0] {
            let (reacts, mut stepper) = both(dt).into_iter().nth(k).unwrap();
            let mut world = earth();
            let curve = JointCurve::custom(Arc::new(Cycloid(r)));
            let bead = ball(&mut world, 0.3, Cycloid(r).point(start));
            world
                .add_joint(
                    Joint::curve(GROUND, bead, curve)
                        .frames(Pose::IDENTITY, Pose::from_translation(Cycloid(r).point(start))),
                )
                .unwrap();
            let time = time_to_bottom(stepper.as_mut(), &mut world, bead, dt);
            let exact = std::f64::consts::PI * (r / G).sqrt();
            println!("reaction forces {reacts}, from {start}: {time}, exact {exact}");
            assert!((time / exact - 1.0).abs() < if reacts { 2e-4 } else { 6e-3 });
        }
        // A circle: small swings have T/4 = π/2 √(r/g).
        let (reacts, mut stepper) = both(dt).into_iter().nth(k).unwrap();
        let mut world = earth();
        let path = JointPath::Circle { center: DVec3::ZERO, normal: DVec3::Y, radius: r };
        let at = DVec3::new(ops::sin(0.02), 0.0, -ops::cos(0.02)) * r;
        let bead = ball(&mut world, 0.3, at);
        world
            .add_joint(
                Joint::curve(GROUND, bead, JointCurve::new(path).unwrap())
                    .frames(Pose::IDENTITY, Pose::from_translation(at)),
            )
            .unwrap();
        let time = time_to_bottom(stepper.as_mut(), &mut world, bead, dt);
        let exact = std::f64::consts::FRAC_PI_2 * (r / G).sqrt();
        println!("reaction forces {reacts}, circle: {time}, exact {exact}");
        assert!((time / exact - 1.0).abs() < if reacts { 2e-4 } else { 6e-3 });
        // A line: ½ g sin α t².
        let (reacts, mut stepper) = both(dt).into_iter().nth(k).unwrap();
        let mut world = earth();
        let direction = DVec3::new(0.8, 0.0, -0.6);
        let bead = ball(&mut world, 0.3, DVec3::ZERO);
        let path = JointPath::Line { origin: DVec3::ZERO, direction };
        world
            .add_joint(
                Joint::curve(GROUND, bead, JointCurve::new(path).unwrap())
                    .frames(Pose::IDENTITY, Pose::IDENTITY),
            )
            .unwrap();
        stepper.advance(&mut world, 1.0).unwrap();
        let expected = direction * (0.5 * G * 0.6);
        println!("reaction forces {reacts}, line: {}", world[bead].position());
        assert!((world[bead].position() - expected).length() < if reacts { 1e-5 } else { 1e-2 });
    }
}

// proves: DYN-64
// In a bowl as on a string: on a circle at angle θ below the horizontal plane through the centre the speed is √(g r sin²/cos).
#[test]
fn a_point_in_a_bowl_is_a_spherical_pendulum() {
    let (r, angle) = (0.8, 0.7_f64);
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let at = DVec3::new(ops::sin(angle), 0.0, -ops::cos(angle)) * r;
        let speed = (G * r * ops::sin(angle) * ops::sin(angle) / ops::cos(angle)).sqrt();
        let mut worlds = [earth(), earth()];
        for (k, world) in worlds.iter_mut().enumerate() {
            let bob = ball(world, 0.5, at);
            let joint = if k == 0 {
                let bowl = JointPatch::Ellipsoid { frame: Pose::IDENTITY, radii: DVec3::splat(r) };
                Joint::surface(GROUND, bob, JointSurface::new(bowl).unwrap())
                    .frames(Pose::IDENTITY, Pose::from_translation(at))
            } else {
                Joint::distance(GROUND, bob).anchors([0.0; 3], at)
            };
            world.add_joint(joint).unwrap();
            world.set_velocity(bob, Motion::new(DVec3::ZERO, DVec3::Y * speed)).unwrap();
            stepper.advance(world, 1.0).unwrap();
            let place = world[bob].position();
            println!("reaction forces {reacts}: at {place}, height {} of {}", place.z, at.z);
            assert!(
                (place.length() - r).abs() < 1e-5
                    && (place.z - at.z).abs() < if reacts { 1e-3 } else { 2e-2 }
            );
        }
        let [a, b] = worlds.map(|w| w.bodies().next().unwrap().1.position());
        assert!((a - b).length() < 1e-4, "{a} {b}");
    }
}

// proves: DYN-66
#[test]
fn a_cylindrical_joint_lets_spin_and_slide() {
    for (reacts, mut stepper) in both(1.0 / 240.0) {
        let mut world = earth();
        let rod = block(&mut world, 3.0, DVec3::new(0.3, 0.1, 0.2), DVec3::ZERO);
        world.add_joint(Joint::cylindrical(GROUND, rod).anchor([0.0; 3]).axis([1.0, 0.0, 0.0])).unwrap();
        world.set_velocity(rod, Motion::new(DVec3::X * 2.0, DVec3::X * 0.7)).unwrap();
        stepper.advance(&mut world, 2.0).unwrap();
        let v = world[rod].velocity();
        println!("reaction forces {reacts}: {v:?} at {}", world[rod].position());
        assert!((v.angular - DVec3::X * 2.0).length() < 1e-6 && (v.linear - DVec3::X * 0.7).length() < 1e-6);
        assert!((world[rod].position() - DVec3::X * 1.4).length() < 1e-5);
    }
}

// proves: DYN-67
#[test]
fn two_half_bars_that_are_welded_are_one_bar() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let half = DVec3::new(0.25, 0.05, 0.05);
        let mut split = earth();
        let (a, b) =
            (block(&mut split, 1.0, half, DVec3::X * 0.25), block(&mut split, 1.0, half, DVec3::X * 0.75));
        let weld = split.add_joint(Joint::weld(a, b).anchor([0.5, 0.0, 0.0])).unwrap();
        split.add_joint(Joint::hinge(GROUND, a).anchor([0.0; 3]).axis([0.0, 1.0, 0.0])).unwrap();
        let mut whole = earth();
        let bar = block(&mut whole, 2.0, DVec3::new(0.5, 0.05, 0.05), DVec3::X * 0.5);
        whole.add_joint(Joint::hinge(GROUND, bar).anchor([0.0; 3]).axis([0.0, 1.0, 0.0])).unwrap();
        stepper.advance(&mut split, 1.0).unwrap();
        stepper.advance(&mut whole, 1.0).unwrap();
        let tip = |world: &World, id: sim_traits::BodyId, x: f64| {
            world[id].user_pose().transform_point(DVec3::X * x)
        };
        let [one, two] = [tip(&split, b, 0.25), tip(&whole, bar, 0.5)];
        println!("reaction forces {reacts}: tips {one} {two}, bent {:?}", split.joint_error(weld).unwrap());
        assert!((one - two).length() < if reacts { 1e-3 } else { 3e-2 });
        // It breaks at the set load: the lower half of a bar that hangs.
        for (limit, breaks) in [(0.9 * G, true), (1.1 * G, false)] {
            let mut world = earth();
            let (a, b) = (block(&mut world, 1.0, half, DVec3::Z), block(&mut world, 1.0, half, DVec3::ZERO));
            world.add_joint(Joint::weld(GROUND, a).anchor([0.0, 0.0, 1.1])).unwrap();
            let weld =
                world.add_joint(Joint::weld(a, b).anchor([0.0, 0.0, 0.5]).breaking_force(limit)).unwrap();
            stepper.advance(&mut world, 0.2).unwrap();
            assert_eq!(world.joint(weld).unwrap().is_broken(), breaks, "reaction forces {reacts}, {limit}");
        }
        for (limit, breaks) in [(0.9 * 0.25 * G, true), (1.1 * 0.25 * G, false)] {
            let mut world = earth();
            let arm = block(&mut world, 1.0, half, DVec3::X * 0.25);
            let weld =
                world.add_joint(Joint::weld(GROUND, arm).anchor([0.0; 3]).breaking_torque(limit)).unwrap();
            stepper.advance(&mut world, 0.2).unwrap();
            assert_eq!(
                world.joint(weld).unwrap().is_broken(),
                breaks,
                "reaction forces {reacts}, torque {limit}"
            );
        }
    }
}

// proves: DYN-68
#[test]
fn what_may_not_turn_flies_as_it_would() {
    for (reacts, mut stepper) in both(1.0 / 240.0) {
        let mut world = earth();
        let id = block(&mut world, 2.0, DVec3::new(0.3, 0.1, 0.2), DVec3::ZERO);
        world.add_joint(Joint::orientation(GROUND, id)).unwrap();
        world.apply_impulse(id, DVec3::new(0.3, 0.1, 0.0), DVec3::new(1.0, -2.0, 4.0)).unwrap();
        stepper.advance(&mut world, 1.0).unwrap();
        let turned = rotation_angle(world[id].user_pose().rotation, DQuat::IDENTITY);
        let expected = DVec3::new(0.5, -1.0, 2.0 - 0.5 * G);
        println!("reaction forces {reacts}: turned {turned}, at {}", world[id].position());
        assert!(
            turned < 1e-4 && (world[id].position() - expected).length() < if reacts { 1e-6 } else { 3e-2 }
        );
    }
}

// proves: DYN-70
#[test]
fn a_block_on_a_plane_slides_and_yaws_and_never_tips() {
    for (reacts, mut stepper) in both(1.0 / 240.0) {
        let mut world = earth();
        let id = block(&mut world, 2.0, DVec3::new(0.3, 0.1, 0.2), DVec3::Z * 0.2);
        // Held at a corner, so that its weight would tip it.
        world.add_joint(Joint::planar(GROUND, id).anchor([0.3, 0.1, 0.0]).axis([0.0, 0.0, 1.0])).unwrap();
        world.set_velocity(id, Motion::new(DVec3::Z * 1.5, DVec3::new(0.5, -0.3, 0.0))).unwrap();
        stepper.advance(&mut world, 2.0).unwrap();
        let (pose, v) = (world[id].user_pose(), world[id].velocity());
        println!("reaction forces {reacts}: {pose:?} {v:?}");
        assert!(
            (pose.rotation * DVec3::Z - DVec3::Z).length() < 1e-5 && (pose.translation.z - 0.2).abs() < 1e-5
        );
        assert!(
            (v.angular - DVec3::Z * 1.5).length() < 1e-4
                && (v.linear - DVec3::new(0.5, -0.3, 0.0)).length() < 1e-4
        );
        assert!((pose.translation - DVec3::new(1.0, -0.6, 0.2)).length() < 1e-3);
    }
}

// proves: DYN-71
#[test]
fn the_tension_of_a_bar_is_weight_and_centrifugal_force() {
    let (m, l) = (0.5, 0.9);
    for (reacts, mut stepper) in both(1.0 / 960.0) {
        let mut world = earth();
        let bob = ball(&mut world, m, DVec3::X * l);
        let bar = world.add_joint(Joint::distance(GROUND, bob).anchors([0.0; 3], [l, 0.0, 0.0])).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..200 {
            let before = world[bob].position();
            stepper.advance(&mut world, 1.0 / 240.0).unwrap();
            let place = (before + world[bob].position()) * 0.5;
            let speed = world[bob].velocity().linear.length();
            let expected = m * (G * -place.z / l + speed * speed / l);
            let found = world.joint(bar).unwrap().reaction().linear.length();
            worst = worst.max((found - expected).abs() / (3.0 * m * G));
        }
        println!("reaction forces {reacts}: tension off by {worst} of the largest");
        assert!(worst < 0.01);
        assert!((world[bob].position().length() - l).abs() < 1e-5);
    }
}

// proves: DYN-72
#[test]
fn a_rope_lets_fly_until_it_is_taut() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let mut world = earth();
        let bob = ball(&mut world, 0.5, DVec3::X * 0.3);
        let rope =
            world.add_joint(Joint::rope(GROUND, bob).anchors([0.0; 3], [0.3, 0.0, 0.0]).length(1.0)).unwrap();
        let taut = |world: &World| world.joint(rope).unwrap().reaction().linear.length() > 1e-6;
        let mut first = None;
        for _ in 0..480 {
            stepper.advance(&mut world, 1.0 / 480.0).unwrap();
            let (place, t) = (world[bob].position(), world.time());
            if first.is_none() && !taut(&world) {
                let free = DVec3::new(0.3, 0.0, -0.5 * G * t * t);
                // What a joint may hold moves straight within a step of the other stepper.
                let most = if reacts { 1e-9 } else { G * t / 480.0 };
                assert!((place - free).length() < most, "reaction forces {reacts}: {place} {free}");
            } else if first.is_none() {
                first = Some(t);
            }
            assert!(place.length() < 1.0 + if reacts { 0.02 } else { 1e-5 }, "{}", place.length());
        }
        let exact = (2.0 * (1.0_f64 - 0.09).sqrt() / G).sqrt();
        println!(
            "reaction forces {reacts}: taut at {first:?}, exact {exact}, then {}",
            world[bob].position().length()
        );
        assert!((first.unwrap() - exact).abs() < 2.0 / 480.0);
        // Then a circle, or nearer.
        assert!(world[bob].position().length() < 1.0 + 1e-4);
        let axis = world[bob].velocity().linear.dot(world[bob].position());
        assert!(axis < 1e-2, "it does not go away: {axis}");
    }
}

// proves: DYN-74
#[test]
fn a_rope_over_a_pulley_goes_slack_and_taut() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let mut world = earth();
        let (a, b) = (
            ball(&mut world, 1.0, DVec3::new(-0.5, 0.0, -1.0)),
            ball(&mut world, 1.0, DVec3::new(0.5, 0.0, -1.0)),
        );
        let points = [
            (a.into(), DVec3::new(-0.5, 0.0, -1.0)),
            (GROUND, DVec3::new(-0.5, 0.0, 0.0)),
            (GROUND, DVec3::new(0.5, 0.0, 0.0)),
            (b.into(), DVec3::new(0.5, 0.0, -1.0)),
        ];
        let rope = world.add_joint(Joint::multirope(points)).unwrap();
        let pull = |world: &World| world.joint(rope).unwrap().impulses().first().map_or(0.0, |p| p.x);
        stepper.advance(&mut world, 0.25).unwrap();
        assert!(pull(&world) > 0.0 && (world[a].position().z + 1.0).abs() < 1e-4, "balanced");
        // One is thrown up: the rope is slack, both fall freely.
        world.set_velocity(a, Motion::new(DVec3::ZERO, DVec3::Z * 1.0)).unwrap();
        let (start, t0) = ([world[a].position().z, world[b].position().z], world.time());
        stepper.advance(&mut world, 0.05).unwrap();
        let t = world.time() - t0;
        println!("reaction forces {reacts}: slack {} {}", world[a].position().z, world[b].position().z);
        assert!(pull(&world).abs() < 1e-9);
        let most = if reacts { 1e-6 } else { 2.0 * G * t / 480.0 };
        assert!((world[a].position().z - (start[0] + t - 0.5 * G * t * t)).abs() < most);
        assert!((world[b].position().z - (start[1] - 0.5 * G * t * t)).abs() < most);
        // Both fall alike, so it stays slack until one is faster.
        world.set_velocity(b, Motion::new(DVec3::ZERO, DVec3::NEG_Z * 3.0)).unwrap();
        let mut taut = false;
        for _ in 0..60 {
            stepper.advance(&mut world, 1.0 / 240.0).unwrap();
            taut |= pull(&world) > 0.0;
            let length = 1.0 - world[a].position().z - world[b].position().z;
            assert!(length < 3.0 + 0.03, "reaction forces {reacts}: {length}");
        }
        assert!(taut);
    }
}

// proves: DYN-87
#[test]
fn a_rope_with_two_ends_and_a_load_between_holds_three_bodies() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let mut world = space();
        let ids = [DVec3::ZERO, DVec3::new(1.0, 0.5, 0.0), DVec3::new(2.0, 0.0, 0.3)]
            .map(|x| ball(&mut world, 1.0, x));
        let points = ids.map(|id| (id.into(), world[id].position()));
        let bar = world.add_joint(Joint::multibar(points)).unwrap();
        world.set_velocity(ids[1], Motion::new(DVec3::ZERO, DVec3::new(0.2, 1.0, 0.3))).unwrap();
        let momentum = |world: &World| ids.iter().map(|id| world[*id].velocity().linear).sum::<DVec3>();
        let spin = |world: &World| {
            ids.iter().map(|id| world[*id].position().cross(world[*id].velocity().linear)).sum::<DVec3>()
        };
        // The bar takes what would make it longer at once.
        stepper.advance(&mut world, 0.01).unwrap();
        let (p, l, start) = (momentum(&world), spin(&world), energy(&world));
        stepper.advance(&mut world, 1.0).unwrap();
        println!(
            "reaction forces {reacts}: {} {}, energy {start} -> {}",
            momentum(&world),
            spin(&world),
            energy(&world)
        );
        assert!(
            (momentum(&world) - p).length() < 1e-12
                && (spin(&world) - l).length() < if reacts { 2e-3 } else { 2e-2 }
        );
        assert!(world.joint_error(bar).unwrap().linear < 1e-5);
        assert!((energy(&world) / start - 1.0).abs() < 0.02);
    }
}

// proves: DYN-88
// As many shifts and as many turns held as asked for, of each nothing to three.
#[test]
fn any_number_of_shifts_and_turns_can_be_held() {
    for (reacts, mut stepper) in both(1.0 / 240.0) {
        for shifts in 0..=3_usize {
            for turns in 0..=3_usize {
                let mut world = space();
                let id = block(&mut world, 1.0, DVec3::new(0.2, 0.15, 0.1), DVec3::ZERO);
                let mut joint = Joint::six_axis(GROUND, id).anchor([0.0; 3]).axis([0.0, 0.0, 1.0]);
                for k in (0..shifts).chain(3..3 + turns) {
                    joint = joint.on_axis(k, JointAxis::locked());
                }
                let joint = world.add_joint(joint).unwrap();
                world
                    .set_velocity(id, Motion::new(DVec3::new(0.3, 0.2, 0.4), DVec3::new(0.3, -0.2, 0.5)))
                    .unwrap();
                stepper.advance(&mut world, 0.5).unwrap();
                for k in 0..6 {
                    let value = world.joint_value(joint, k).unwrap();
                    let held = k < shifts || (3..3 + turns).contains(&k);
                    assert!(
                        held == (value.abs() < 1e-5),
                        "reaction forces {reacts}, {shifts} {turns}: axis {k} at {value}"
                    );
                }
            }
        }
        // Three shifts and one turn have the name universal joint.
        let mut world = space();
        let id = block(&mut world, 1.0, DVec3::new(0.2, 0.15, 0.1), DVec3::X * 0.3);
        let joint =
            Joint::universal(GROUND, id).anchor([0.0; 3]).axis([0.0, 0.0, 1.0]).second_axis([0.0, 1.0, 0.0]);
        let joint = world.add_joint(joint).unwrap();
        world.set_velocity(id, Motion::new(DVec3::new(0.0, 0.4, 0.6), DVec3::new(0.0, 0.18, -0.12))).unwrap();
        stepper.advance(&mut world, 0.5).unwrap();
        assert!(
            world.joint_error(joint).unwrap().angular < 1e-4
                && world.joint_error(joint).unwrap().linear < 1e-5
        );
        assert!((0..2).all(|k| world.joint_value(joint, k).unwrap().abs() > 0.1));
    }
}

// proves: DYN-82
// Angle until a hinge with dry friction stands: ½ I ω²/M.
#[test]
fn friction_stops_a_hinge_after_its_angle() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let mut world = space();
        let id = block(&mut world, 2.0, DVec3::new(0.3, 0.1, 0.2), DVec3::ZERO);
        let joint = Joint::hinge(GROUND, id).anchor([0.0; 3]).axis([0.0, 0.0, 1.0]).friction(0.3);
        let joint = world.add_joint(joint).unwrap();
        world.set_velocity(id, Motion::new(DVec3::Z * 4.0, DVec3::ZERO)).unwrap();
        let inertia = 2.0 / 3.0 * (0.09 + 0.01);
        stepper.advance(&mut world, 4.0).unwrap();
        let (angle, rate) = (world.joint_value(joint, 0).unwrap(), world.joint_rate(joint, 0).unwrap());
        let exact = 0.5 * inertia * 16.0 / 0.3;
        println!("reaction forces {reacts}: stands at {angle}, exact {exact}, rate {rate}");
        assert!((angle / exact - 1.0).abs() < 5e-3 && rate.abs() < 1e-5);
    }
}

// proves: DYN-90
#[test]
fn joints_are_switched_and_removed_while_it_runs() {
    for (reacts, mut stepper) in both(1.0 / 240.0) {
        let mut world = earth();
        let ids: Vec<_> =
            (0..6).map(|k| ball(&mut world, 1.0, DVec3::X * (0.2 + 0.4 * f64::from(k)))).collect();
        let mut joints = vec![];
        for k in 0..6 {
            let at = DVec3::X * (0.4 * k as f64);
            let joint = if k == 0 { Joint::ball(GROUND, ids[0]) } else { Joint::ball(ids[k - 1], ids[k]) };
            joints.push(world.add_joint(joint.anchor(at)).unwrap());
        }
        stepper.advance(&mut world, 0.5).unwrap();
        // The lower half is let go, and falls freely as one.
        world.set_joint_enabled(joints[3], false).unwrap();
        let middle = |world: &World| ids[3..].iter().map(|id| world[*id].position()).sum::<DVec3>() / 3.0;
        let speed = ids[3..].iter().map(|id| world[*id].velocity().linear).sum::<DVec3>() / 3.0;
        let start = middle(&world);
        stepper.advance(&mut world, 0.25).unwrap();
        let expected = start + speed * 0.25 + DVec3::NEG_Z * (0.5 * G * 0.0625);
        println!("reaction forces {reacts}: {} expected {expected}", middle(&world));
        assert!((middle(&world) - expected).length() < if reacts { 1e-9 } else { 1e-2 });
        let miss = world.joint_error(joints[5]).unwrap().linear;
        assert!(miss < 2e-4, "reaction forces {reacts}: {miss}");
        assert!(!world.joint(joints[3]).unwrap().is_active() && world.joint(joints[4]).unwrap().is_active());
        // The upper one goes too; nothing is left that holds.
        world.remove_joint(joints[0]).unwrap();
        let top = world[ids[0]].velocity().linear
            + world[ids[1]].velocity().linear
            + world[ids[2]].velocity().linear;
        stepper.advance(&mut world, 0.25).unwrap();
        let now = world[ids[0]].velocity().linear
            + world[ids[1]].velocity().linear
            + world[ids[2]].velocity().linear;
        assert!((now - top + DVec3::Z * (3.0 * G * 0.25)).length() < 1e-9);
    }
}

// proves: DYN-33
#[test]
fn a_rod_follows_a_crank_that_somebody_turns() {
    for (reacts, mut stepper) in both(1.0 / 240.0) {
        let mut world = earth();
        let script = Screw { start: Pose::IDENTITY, velocity: Motion::new(DVec3::Y * 3.0, DVec3::ZERO) };
        let crank = world.add(Body::scripted(script)).unwrap();
        let rod = block(&mut world, 1.0, DVec3::new(0.05, 0.05, 0.4), DVec3::new(0.3, 0.0, -0.4));
        let pin = world.add_joint(Joint::ball(crank, rod).anchor([0.3, 0.0, 0.0])).unwrap();
        for _ in 0..40 {
            stepper.advance(&mut world, 0.05).unwrap();
            let crank_pin = world[crank].user_pose().transform_point(DVec3::X * 0.3);
            let own = world[rod].user_pose().transform_point(DVec3::Z * 0.4);
            assert!(
                (crank_pin - own).length() < 1e-5,
                "reaction forces {reacts}: {}",
                (crank_pin - own).length()
            );
            assert!((crank_pin.length() - 0.3).abs() < 1e-9);
        }
        assert!(world.joint_error(pin).unwrap().linear < 1e-5);
    }
}

// proves: DYN-121
#[test]
fn the_error_of_joints_tells_that_a_step_is_too_long() {
    let errors = [0.04, 0.02, 0.01].map(|dt| {
        let mut world = earth();
        let bob = block(&mut world, 1.0, DVec3::splat(0.5), DVec3::X * 0.5);
        let joint = world.add_joint(Joint::ball(GROUND, bob).anchor([0.0; 3])).unwrap();
        let mut stepper = reacting(dt);
        stepper.params_mut().reaction.max_iterations = 1;
        let mut worst = [0.0_f64; 2];
        for _ in 0..20 {
            stepper.advance(&mut world, 0.04).unwrap();
            worst[0] = worst[0].max(world.joint_error(joint).unwrap().linear);
            worst[1] = worst[1].max(stepper.last_step().error);
        }
        worst
    });
    println!("errors of place and of the solver {errors:?}");
    assert!(errors[1][0] < 0.5 * errors[0][0] && errors[2][0] < 0.5 * errors[1][0], "{errors:?}");
    assert!(errors[2][1] < errors[0][1]);
}
