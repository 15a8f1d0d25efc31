//! Trees under exact time stepping: free bodies as trees, pendulums, contact, limits, motors, accounts.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{Pose, glam::DVec3, spatial::Motion, testkit::SplitMix64};
use sim_steppers::{Stabilization, TimeStepping};
use sim_traits::{BodyId, Capsule, Cuboid, HalfSpace, TreeId};
use sim_world::{
    Body, BodyBuilder, JointMotor, LinkBuilder, StepReport, Stepper, Tree, TreeBuilder, TreeJoint, World,
};

const G: f64 = 9.81;

fn newton(dt: f64) -> TimeStepping {
    timed::cone(|params| params.dt = dt)
}

fn earth() -> World {
    World::new(DVec3::new(0.0, 0.0, -G)).unwrap()
}

fn cuboid(x: f64, y: f64, z: f64) -> Cuboid {
    Cuboid::new(DVec3::new(x, y, z)).unwrap()
}

/// A body at a place as a tree of one link.
fn floating(body: BodyBuilder, pose: Pose, velocity: Motion) -> TreeBuilder {
    let q = [pose.translation.to_array().to_vec(), pose.rotation.to_array().to_vec()].concat();
    let own = pose.rotation.conjugate();
    let v = [(own * velocity.angular).to_array(), (own * velocity.linear).to_array()].concat();
    Tree::builder("single").link(LinkBuilder::new("body", TreeJoint::Free).body(body).start(&q, &v))
}

fn brick() -> BodyBuilder {
    Body::free().shape(cuboid(0.3, 0.2, 0.1)).density(1000.0)
}

fn apart(a: &Body, b: &Body) -> f64 {
    let (x, y) = (a.state(), b.state());
    let turn = (x.pose().rotation.conjugate() * y.pose().rotation).to_axis_angle().1;
    let v = x.velocity - y.velocity;
    let place = (x.pose().translation - y.pose().translation).length();
    place.max(turn).max(v.linear.length()).max(v.angular.length())
}

#[test]
fn a_tree_of_one_link_is_a_free_body() {
    let mut random = SplitMix64(24);
    let (mut worst, mut hits) = (0.0_f64, 0);
    for case in 0..1000 {
        let pose = Pose::new(random.vec3(1.0) + DVec3::Z * 3.0, random.unit_quat());
        let velocity = Motion::new(random.vec3(4.0), random.vec3(3.0));
        let (mut bodies, mut trees) = (earth(), earth());
        // A third of them are hit by the ground within the step, a third lie on it.
        let pose = match case % 3 {
            0 => pose,
            1 => Pose::new(DVec3::Z * (0.375 + 0.005 * random.unit()), pose.rotation),
            _ => Pose::from_translation(DVec3::Z * 0.1),
        };
        let velocity = if case % 3 == 2 { velocity * 0.1 } else { velocity };
        for world in [&mut bodies, &mut trees] {
            world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
        }
        let body = bodies.add(brick().pose(pose).moving(velocity.linear).spinning(velocity.angular)).unwrap();
        let tree = trees.add_tree(floating(brick(), pose, velocity)).unwrap();
        let link = trees.tree(tree).unwrap().links()[0];
        assert!(apart(&bodies[body], &trees[link]) < 1e-13);
        let dt = 1.0 / 240.0;
        let stepper = || timed::cone(|p| (p.dt, p.stabilization) = (dt, Stabilization::None));
        let of_bodies = stepper().advance(&mut bodies, dt).unwrap();
        let of_trees = stepper().advance(&mut trees, dt).unwrap();
        let impulses = |report: &StepReport| report.collisions + report.micro_collisions;
        assert_eq!(impulses(&of_bodies), impulses(&of_trees), "case {case}");
        hits += usize::from(impulses(&of_bodies) > 0);
        let error = apart(&bodies[body], &trees[link]);
        // Contact laws leave what they say.
        let left = of_bodies.solver.residual + of_trees.solver.residual;
        worst = worst.max(error - left);
        assert!(error < 1e-12 + 10.0 * left, "case {case}: {error}, residual {left}");
        assert!(left < 1e-10);
    }
    assert!(hits > 250 && worst > 0.0, "{hits} {worst}");
}

/// Rods of 1 m and 1 kg on hinges, from a turned start.
fn pendulum(links: usize, angles: &[f64]) -> TreeBuilder {
    let mut builder = Tree::builder("pendulum");
    for (k, angle) in angles.iter().enumerate().take(links) {
        let rod = Body::free()
            .shape_at(Capsule::new(0.02, 0.48).unwrap(), Pose::from_translation(DVec3::Z * -0.5))
            .mass(1.0);
        let mut link = LinkBuilder::new(format!("rod{k}"), TreeJoint::Revolute { axis: DVec3::Y }).body(rod);
        link = link.start(&[*angle], &[0.0]);
        if k > 0 {
            link = link.on(format!("rod{}", k - 1)).at(Pose::from_translation(DVec3::Z * -1.0));
        }
        builder = builder.link(link);
    }
    builder
}

#[test]
fn a_double_pendulum_keeps_its_energy() {
    let mut world = earth();
    world.add_tree(pendulum(2, &[2.0, 0.5]).self_collision(false)).unwrap();
    let start = world.kinetic_energy() + world.potential_energy();
    let mut stepper = newton(1.0 / 60.0);
    let report = stepper.advance(&mut world, 20.0).unwrap();
    let end = world.kinetic_energy() + world.potential_energy();
    assert!((end - start).abs() < 1e-8, "{start} {end}");
    assert!(report.energy.remainder().abs() < 1e-9 * report.energy.flowed);
}

fn floor(world: &mut World) -> BodyId {
    world.add(Body::fixed().shape(HalfSpace::up()).friction(0.8)).unwrap()
}

/// A table on four legs that hang by hinges held by motors, standing on a floor.
fn table(world: &mut World) -> TreeId {
    let mut tree = Tree::builder("table").link(
        LinkBuilder::new("top", TreeJoint::Free)
            .body(Body::free().shape(cuboid(0.5, 0.4, 0.05)).mass(5.0).friction(0.8))
            .start(&[0.0, 0.0, 0.55, 0.0, 0.0, 0.0, 1.0], &[0.0; 6]),
    );
    for (k, (x, y)) in [(-0.4, -0.3), (-0.4, 0.3), (0.4, -0.3), (0.4, 0.3)].into_iter().enumerate() {
        let leg = Body::free()
            .shape_at(cuboid(0.04, 0.04, 0.23), Pose::from_translation(DVec3::Z * -0.27))
            .mass(0.5)
            .friction(0.8);
        tree = tree.link(
            LinkBuilder::new(format!("leg{k}"), TreeJoint::Revolute { axis: DVec3::Y })
                .on("top")
                .at(Pose::from_translation(DVec3::new(x, y, -0.05)))
                .body(leg)
                .motor(JointMotor::position(0.0, 2000.0, 50.0, f64::INFINITY)),
        );
    }
    world.add_tree(tree).unwrap()
}

/// Force of all contacts on a body in the last advance of so many seconds, N.
fn force_on(world: &World, body: BodyId, time: f64) -> DVec3 {
    let owner = |c| world.collider(c).unwrap().body();
    let of = |c: &sim_world::Contact| match [owner(c.a), owner(c.b)] {
        [a, _] if a == body => c.impulse,
        [_, b] if b == body => -c.impulse,
        _ => DVec3::ZERO,
    };
    world.contacts().iter().map(of).sum::<DVec3>() / time
}

#[test]
fn a_table_carries_its_load() {
    let dt = 1.0 / 240.0;
    for (name, mut stepper) in timed::laws(dt) {
        let mut world = earth();
        let floor = floor(&mut world);
        let tree = table(&mut world);
        let load =
            world.add(Body::free().shape(cuboid(0.2, 0.2, 0.2)).mass(1.0).at([0.0, 0.0, 0.8])).unwrap();
        let report = stepper.advance(&mut world, 1.0).unwrap();
        let energy = &report.energy;
        assert!((world[load].position().z - 0.8).abs() < 1e-6, "{name}");
        assert!(energy.remainder().abs() < 1e-6 * energy.flowed + 1e-12, "{name}: {energy:?}");
        assert!(report.momentum.remainder().linear.length() < 1e-9, "{name}");
        // What carries the load is its weight, and the floor carries both.
        stepper.advance(&mut world, dt).unwrap();
        let (on_load, on_floor) = (force_on(&world, load, dt), force_on(&world, floor, dt));
        let mass: f64 = world.tree(tree).unwrap().model().total_mass();
        let weights = [DVec3::Z * G, DVec3::Z * (-G * (1.0 + mass))];
        for (force, weight) in [on_load, on_floor].into_iter().zip(weights) {
            assert!((force - weight).length() < 1e-9 * weight.length(), "{name}: {force} {weight}");
        }
    }
}

#[test]
fn links_pushed_into_the_ground_come_out() {
    for (name, mut stepper) in timed::laws(1.0 / 240.0) {
        let mut world = earth();
        floor(&mut world);
        let tree = table(&mut world);
        let mut q = world.tree(tree).unwrap().coordinates().to_vec();
        q[2] -= 0.02;
        // One leg is turned as well.
        q[7] = 0.05;
        world.set_tree_state(tree, &q, &[0.0; 10]).unwrap();
        let first = stepper.advance(&mut world, 1.0 / 240.0).unwrap();
        assert!(first.solver.deepest < 1e-6, "{name}: {}", first.solver.deepest);
        // It was lifted without being thrown: opening an overlap gives no velocity.
        let most = 0.5 * world.tree(tree).unwrap().model().total_mass() * 0.3 * 0.3;
        assert!(world.kinetic_energy() < most, "{name}: {}", world.kinetic_energy());
        assert!(first.energy.remainder().abs() < 1e-9 * first.energy.flowed, "{name}: {:?}", first.energy);
    }
}
