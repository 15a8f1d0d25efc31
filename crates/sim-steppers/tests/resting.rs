//! Rest, rolling and sliding as micro-collisions.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{G, ball, cube_on_corner, earth, energy, smallest_separation, stepper, stepper_with};
use sim_math::{Pose, glam::DVec3};
use sim_steppers::ContactHandling;
use sim_traits::{Capsule, Sphere};
use sim_world::{Body, Stepper};

#[test]
fn a_cube_dropped_on_its_corner_settles_on_a_face() {
    for handling in [ContactHandling::Standard, ContactHandling::Improved] {
        let half = 0.1;
        let mut world = earth();
        let id = world.add(cube_on_corner(half, 0.3).spinning([0.3, 0.2, 0.1]).restitution(0.3)).unwrap();
        let mut stepper = stepper_with(|p| p.contact_handling = handling);
        let mut events = 0;
        for _ in 0..100 {
            let report = stepper.advance(&mut world, 0.05).unwrap();
            events = report.events;
            assert!(smallest_separation(&world) > -1e-10);
        }
        let height = world[id].position().z - half;
        assert!(height > -1e-12 && height < 2e-3, "{handling:?}: {height} above its rest");
        let up = world[id].user_pose().rotation.inverse() * DVec3::Z;
        assert!(up.abs().max_element() > 1.0 - 1e-3, "{handling:?}: not on a face: {up}");
        assert!(events < 500, "{handling:?}: {events} events in 0.05 s");
        assert!(world[id].velocity().linear.length() < 0.2);
    }
}

// proves: MIR-01
#[test]
fn a_sliding_ball_begins_to_roll_at_five_sevenths_of_its_speed() {
    let (v0, mu, radius) = (5.0, 0.2, 0.1);
    let mut world = earth();
    let ball = Body::free().shape(Sphere::new(radius).unwrap());
    let ball = ball.at([0.0, 0.0, radius + 5e-4]).moving([v0, 0.0, 0.0]).friction(mu);
    let id = world.add(ball).unwrap();
    // Friction of a pair is the geometric mean: the floor has the same.
    let floor = world.bodies().next().unwrap().0;
    world.remove(floor).unwrap();
    world.add(Body::fixed().shape(sim_traits::HalfSpace::up()).friction(mu)).unwrap();
    let end = 2.0 * v0 / (7.0 * mu * G);
    assert!((end - 0.72812).abs() < 1e-4);
    let mut stepper = stepper();
    stepper.advance(&mut world, end).unwrap();
    let distance = 12.0 / 49.0 * v0 * v0 / (mu * G);
    let x = world[id].position().x;
    assert!((x / distance - 1.0).abs() < 0.01, "slid {x} m instead of {distance}");
    stepper.advance(&mut world, 0.3).unwrap();
    let motion = world[id].velocity();
    let final_speed = 5.0 / 7.0 * v0;
    assert!((motion.linear.x / final_speed - 1.0).abs() < 0.01, "{}", motion.linear.x);
    assert!((motion.angular.y * radius / final_speed - 1.0).abs() < 0.01, "{}", motion.angular.y * radius);
}

#[test]
fn a_ball_put_exactly_on_the_floor_stays_there() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut world = earth();
        let id = world.add(ball(0.1).at([0.0, 0.0, 0.1]).restitution(restitution)).unwrap();
        let report = stepper().advance(&mut world, 2.0).unwrap();
        let height = world[id].position().z - 0.1;
        assert!((-1e-12..2e-3).contains(&height), "e = {restitution}: {height}");
        assert!(report.events < 2000, "e = {restitution}: {report}");
    }
}

#[test]
fn a_dumbbell_of_two_colliders_lies_down_on_both_ends() {
    let mut world = earth();
    let end = |x: f64| Pose::from_translation(DVec3::X * x);
    let id = world
        .add(
            Body::free()
                .shape_at(Sphere::new(0.1).unwrap(), end(-0.3))
                .shape_at(Sphere::new(0.1).unwrap(), end(0.3))
                .at([0.0, 0.0, 0.5])
                .spinning([0.0, 1.0, 0.2])
                .restitution(0.3),
        )
        .unwrap();
    assert_eq!(world[id].colliders().len(), 2);
    let mut stepper = stepper();
    for _ in 0..80 {
        stepper.advance(&mut world, 0.05).unwrap();
        assert!(smallest_separation(&world) > -1e-10);
    }
    let pose = world[id].user_pose();
    for x in [-0.3, 0.3] {
        let height = pose.transform_point(DVec3::X * x).z - 0.1;
        assert!((-1e-10..3e-3).contains(&height), "end {x}: {height}");
    }
}

#[test]
fn a_stack_of_three_boxes_stands() {
    for handling in [ContactHandling::Standard, ContactHandling::Improved] {
        let mut world = earth();
        let ids: Vec<_> = (0..3)
            .map(|k| {
                let z = 0.1 + 5e-4 + f64::from(k) * (0.2 + 5e-4);
                world.add(Body::free().shape(common::cuboid(0.1, 0.1, 0.1)).at([0.0, 0.0, z])).unwrap()
            })
            .collect();
        let mut stepper = stepper_with(|p| p.contact_handling = handling);
        for _ in 0..20 {
            stepper.advance(&mut world, 0.05).unwrap();
            assert!(smallest_separation(&world) > -1e-10);
        }
        for (k, &id) in ids.iter().enumerate() {
            let at = world[id].position();
            assert!((at.z - 0.1 - 0.2 * k as f64).abs() < 6e-3, "{handling:?} box {k} at {at}");
            assert!(at.truncate().length() < 0.02, "{handling:?} box {k} at {at}");
        }
        assert!(energy(&world).is_finite());
    }
}

#[test]
fn a_capsule_rolls_and_rests() {
    let mut world = earth();
    let id = world
        .add(
            Body::free().shape(Capsule::new(0.1, 0.2).unwrap()).at([0.0, 0.0, 0.4]).spinning([0.5, 0.3, 0.0]),
        )
        .unwrap();
    let mut stepper = stepper();
    for _ in 0..60 {
        stepper.advance(&mut world, 0.05).unwrap();
        assert!(smallest_separation(&world) > -1e-10);
    }
    assert!((world[id].position().z - 0.1).abs() < 3e-3, "{}", world[id].position());
}
