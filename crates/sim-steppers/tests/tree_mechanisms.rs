//! Trees against what else knows the answer: the same mechanism as joints, inverse dynamics, statics of a grasp, loops.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/timed.rs"]
mod timed;

use articulated_featherstone::{
    Link, Model, ModelBuilder, State, TreeMotion, Workspace, compute_poses, point_jacobian, rnea,
};
use sim_math::{
    Pose,
    glam::DVec3,
    integrate::{AdaptiveParams, DormandPrince, Integrator, OdeScratch, SecondOrder},
    spatial::Motion,
};
use sim_steppers::TimeStepping;
use sim_traits::{BodyId, Capsule, Cuboid, HalfSpace, Sphere, TreeId};
use sim_world::{
    Body, BodyBuilder, EventKind, Joint, JointMotor, JointPartner::World as Ground, LinkBuilder, Listing,
    Stepper, Tree, TreeJoint, World,
};

const G: f64 = 9.81;

fn newton(dt: f64) -> TimeStepping {
    timed::cone(|params| params.dt = dt)
}

fn earth() -> World {
    World::new(DVec3::new(0.0, 0.0, -G)).unwrap()
}

fn hinge() -> TreeJoint {
    TreeJoint::Revolute { axis: DVec3::Y }
}

/// A rod of 1 m that hangs from the origin of its frame.
fn rod() -> BodyBuilder {
    let along = Pose::from_translation(DVec3::Z * -0.5);
    Body::free().shape_at(Capsule::new(0.02, 0.48).unwrap(), along).mass(1.0)
}

/// Where the ends of a double pendulum are after half a second, as bodies with joints and as a tree.
fn double_pendulum(dt: f64) -> [DVec3; 2] {
    let (mut bodies, mut trees) = (earth(), earth());
    let turned = |angle: f64, at: DVec3| Pose::new(at, sim_math::glam::DQuat::from_rotation_y(angle));
    let first = turned(1.2, DVec3::ZERO);
    let second = turned(1.6, first.transform_point(-DVec3::Z));
    let upper = bodies.add(rod().pose(first)).unwrap();
    let lower = bodies.add(rod().pose(second)).unwrap();
    let at = |joint: sim_world::JointBuilder, place| joint.anchor(place).axis([0.0, 1.0, 0.0]);
    bodies.add_joint(at(Joint::hinge(Ground, upper), first.translation)).unwrap();
    bodies.add_joint(at(Joint::hinge(upper, lower), second.translation)).unwrap();
    let tree = Tree::builder("pendulum")
        .link(LinkBuilder::new("upper", hinge()).body(rod()).start(&[1.2], &[0.0]))
        .link(
            LinkBuilder::new("lower", hinge())
                .on("upper")
                .at(Pose::from_translation(-DVec3::Z))
                .body(rod())
                .start(&[0.4], &[0.0]),
        );
    let tree = trees.add_tree(tree).unwrap();
    let link = trees.tree(tree).unwrap().link("lower").unwrap();
    newton(dt).advance(&mut bodies, 0.5).unwrap();
    newton(dt).advance(&mut trees, 0.5).unwrap();
    [bodies[lower].user_pose(), trees[link].user_pose()].map(|pose| pose.transform_point(-DVec3::Z))
}

#[test]
fn a_mechanism_as_joints_comes_to_that_as_a_tree() {
    let errors = [1e-2, 5e-3, 2.5e-3].map(|dt| {
        let [joints, tree] = double_pendulum(dt);
        (joints - tree).length()
    });
    assert!(errors[2] < 5e-3, "{errors:?}");
    assert!(errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1], "{errors:?}");
}

/// Two fingers on slides of a hand that is held, pressed on a box by so much more than friction needs.
fn grasp(margin: f64) -> (World, BodyId, TreeId) {
    let mut world = earth();
    let (mass, mu) = (1.0, 0.5);
    let cube = Body::free().shape(Cuboid::new(DVec3::splat(0.1)).unwrap()).mass(mass).friction(mu);
    let cube = world.add(cube).unwrap();
    let slide = TreeJoint::Prismatic { axis: DVec3::X };
    let finger =
        || Body::free().shape(Cuboid::new(DVec3::new(0.02, 0.05, 0.05)).unwrap()).mass(0.2).friction(mu);
    let at = |x: f64| Pose::from_translation(DVec3::X * x);
    let hand = Tree::builder("hand")
        .link(LinkBuilder::new("left", slide).at(at(-0.12)).body(finger()))
        .link(LinkBuilder::new("right", slide).at(at(0.12)).body(finger()));
    let hand = world.add_tree(hand).unwrap();
    let force = margin * mass * G / (2.0 * mu);
    world.set_tree_forces(hand, &[force, -force]).unwrap();
    (world, cube, hand)
}

#[test]
fn a_grasp_holds_for_a_minute() {
    let (mut world, cube, hand) = grasp(1.05);
    let mut stepper = newton(1.0 / 60.0);
    stepper.advance(&mut world, 60.0).unwrap();
    let place = world[cube].position();
    assert!(place.length() < 1e-6, "{place}");
    assert!(world.tree(hand).unwrap().coordinates().iter().all(|q| q.abs() < 1e-6));
    // A little less than what friction needs, and it falls.
    let (mut world, cube, _) = grasp(0.95);
    newton(1.0 / 60.0).advance(&mut world, 0.5).unwrap();
    assert!(world[cube].position().z < -0.04, "{}", world[cube].position());
}

/// The same tree without dampers, springs and the like.
fn bare(model: &Model) -> Model {
    let mut builder = ModelBuilder::new();
    for k in 0..model.link_count() as u32 {
        let mut link = Link::new(model.name(k), model.joint(k).unwrap())
            .at(model.parent_from_joint(k).unwrap())
            .inertia(model.inertia(k).unwrap());
        if let Some(parent) = model.parent(k) {
            link = link.on(model.name(parent));
        }
        for (at, v) in model.v_range(k).enumerate() {
            let armature = model.dofs()[v].armature;
            link = link.dof(at, sim_world::DofParams { armature, ..Default::default() });
        }
        builder = builder.link(link);
    }
    builder.build().unwrap()
}

/// Velocities before the motion without forces that ended a step of h seconds in this state: that motion backwards.
fn before_motion(model: &Model, end: &State, h: f64) -> (Vec<f64>, Vec<f64>) {
    let mut system = SecondOrder::new(TreeMotion::new(model, end));
    let mut y: Vec<f64> = end.q.iter().chain(&end.v).copied().collect();
    let integrator = DormandPrince::new(AdaptiveParams::with_tolerance(1e-12, 1e-13));
    integrator.advance(&mut system, 0.0, -h, &mut y, &mut OdeScratch::default()).unwrap();
    let v = y.split_off(model.q_len());
    (y, v)
}

/// A walker that stands on the floor with springs, dampers, motors, dry friction and a limit.
fn stool(world: &mut World) -> TreeId {
    let ball = |r: f64| Body::free().shape(Sphere::new(r).unwrap()).mass(0.8).friction(0.7);
    let mut tree = Tree::builder("stool").link(
        LinkBuilder::new("seat", TreeJoint::Free)
            .body(Body::free().shape(Cuboid::new(DVec3::new(0.3, 0.3, 0.05)).unwrap()).mass(3.0))
            .start(&[0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0], &[0.2, -0.1, 0.3, 0.5, 0.1, -0.4]),
    );
    for k in 0..3 {
        let angle = 2.1 * f64::from(k);
        let out = DVec3::new(sim_math::ops::cos(angle), sim_math::ops::sin(angle), 0.0) * 0.25;
        let leg = TreeJoint::Universal { first: DVec3::X, second: DVec3::Y };
        tree = tree
            .link(
                LinkBuilder::new(format!("hip{k}"), leg)
                    .on("seat")
                    .at(Pose::from_translation(out))
                    .body(ball(0.04))
                    .damping(0.3)
                    .spring(40.0, 0.1)
                    .armature(0.01)
                    .dry_friction(0.05),
            )
            .link(
                LinkBuilder::new(format!("shin{k}"), TreeJoint::Prismatic { axis: DVec3::Z })
                    .on(format!("hip{k}"))
                    .at(Pose::from_translation(DVec3::Z * -0.4))
                    .body(ball(0.08))
                    .limits(-0.05, 0.1)
                    .motor(JointMotor::position(0.02, 500.0, 20.0, 60.0)),
            );
    }
    world.add_tree(tree).unwrap()
}

#[test]
fn inverse_dynamics_of_a_step_gives_the_controls() {
    let mut world = earth();
    world.listing = Listing::All;
    let floor = world.add(Body::fixed().shape(HalfSpace::up()).friction(0.7)).unwrap();
    let id = stool(&mut world);
    let h = 1.0 / 400.0;
    let mut stepper = newton(h);
    let (mut worst, mut pushed, mut limited) = (0.0_f64, 0, 0);
    for step in 0..300 {
        let n = world.tree(id).unwrap().forces().len();
        let controls: Vec<f64> = (0..n)
            .map(|k| if k < 6 { 0.0 } else { sim_math::ops::sin(0.1 * f64::from(step) + k as f64) })
            .collect();
        world.set_tree_forces(id, &controls).unwrap();
        let start = world.tree(id).unwrap().state().clone();
        let report = stepper.advance(&mut world, h).unwrap();
        // A correction or a cut step is another equation.
        if report.solver.lifted != 0.0 || report.solver.cuts > 0 {
            continue;
        }
        let tree = world.tree(id).unwrap();
        let model = bare(tree.model());
        let (q, v) = before_motion(&model, tree.state(), h);
        assert!(q.iter().zip(&start.q).all(|(a, b)| (a - b).abs() < 1e-9), "step {step}");
        // M a at rest: no turning forces, gravity apart.
        let mut ws = Workspace::new(&model);
        let still = State { v: vec![0.0; n], ..start.clone() };
        let mut fall = still.clone();
        fall.base.acceleration = Motion::new(DVec3::ZERO, DVec3::Z * G);
        let a: Vec<f64> = v.iter().zip(&start.v).map(|(a, b)| (a - b) / h).collect();
        rnea(&model, &fall, &a, &[], &mut ws).unwrap();
        let mut tau = ws.tau().to_vec();
        for (k, dof) in tree.model().dofs().iter().enumerate() {
            tau[k] += dof.damping * v[k] - tree.impulses()[k].iter().sum::<f64>() / h;
            if let Some(at) = tree.model().dof_coordinate(k as u32) {
                tau[k] += dof.stiffness * (start.q[at] + h * v[k] - dof.rest);
            }
            limited += usize::from(tree.impulses()[k][0] != 0.0);
        }
        compute_poses(&model, &still, &mut ws).unwrap();
        for event in world.events() {
            let EventKind::Collision(c) = event.kind else { continue };
            let owners = [c.a, c.b].map(|collider| world.collider(collider).unwrap().body());
            for (body, sign) in owners.into_iter().zip([1.0, -1.0]).filter(|(body, _)| *body != floor) {
                let link = world[body].tree().unwrap().1;
                let mut rows = vec![0.0; 3 * n];
                point_jacobian(&model, &ws, link, c.point, &mut rows).unwrap();
                for k in 0..n {
                    let along = DVec3::new(rows[k], rows[n + k], rows[2 * n + k]);
                    tau[k] -= along.dot(c.impulse) * sign / h;
                }
                pushed += 1;
            }
        }
        for k in 0..n {
            worst = worst.max((tau[k] - controls[k]).abs());
        }
    }
    assert!(worst < 1e-6, "{worst}");
    assert!(pushed > 100 && limited > 0, "{pushed} {limited}");
}

/// Crank, coupler and rocker as a tree, the rocker held to the ground by a hinge: a loop.
#[test]
fn a_four_bar_stays_closed() {
    let mut world = earth();
    let bar = |length: f64| {
        let along = Pose::new(
            DVec3::X * (0.5 * length),
            sim_math::glam::DQuat::from_rotation_y(1.570_796_326_794_896_6),
        );
        Body::free().shape_at(Capsule::new(0.02, 0.5 * length - 0.03).unwrap(), along).mass(length)
    };
    // A parallelogram: crank and rocker of 0.5 m, coupler of 1 m.
    let tree = Tree::builder("four-bar")
        .self_collision(false)
        .link(LinkBuilder::new("crank", hinge()).body(bar(0.5)).start(&[-0.6], &[0.0]))
        .link(
            LinkBuilder::new("coupler", hinge())
                .on("crank")
                .at(Pose::from_translation(DVec3::X * 0.5))
                .body(bar(1.0))
                .start(&[0.6], &[0.0]),
        )
        .link(
            LinkBuilder::new("rocker", hinge())
                .on("coupler")
                .at(Pose::from_translation(DVec3::X))
                .body(bar(0.5))
                .start(&[std::f64::consts::PI - 0.6], &[0.0]),
        );
    let id = world.add_tree(tree).unwrap();
    let rocker = world.tree(id).unwrap().link("rocker").unwrap();
    let joint = Joint::hinge(Ground, rocker).anchor([1.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0]);
    let joint = world.add_joint(joint).unwrap();
    let start = world.kinetic_energy() + world.potential_energy();
    let mut stepper = newton(1.0 / 500.0);
    for _ in 0..20 {
        let report = stepper.advance(&mut world, 0.1).unwrap();
        assert_eq!(report.solver.unsolved, 0, "{:?}", report.solver);
        let miss = world.joint_error(joint).unwrap();
        assert!(miss.linear < 1e-6, "{miss:?}");
        assert!(report.energy.remainder().abs() < 1e-6 * report.energy.flowed + 1e-9, "{:?}", report.energy);
    }
    let end = world.kinetic_energy() + world.potential_energy();
    assert!((end - start).abs() < 0.02 * 5.0, "{start} {end}");
}

#[test]
fn a_link_that_bounces_gives_back_its_share() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = earth();
        world.add(Body::fixed().shape(HalfSpace::up()).restitution(e).friction(0.0)).unwrap();
        let ball = Body::free().shape(Sphere::new(0.1).unwrap()).restitution(e).friction(0.0);
        let link = LinkBuilder::new("ball", TreeJoint::Prismatic { axis: DVec3::Z })
            .body(ball)
            .start(&[1.1], &[0.0]);
        let id = world.add_tree(Tree::builder("rail").link(link)).unwrap();
        let mut stepper = newton(1.0 / 1000.0);
        stepper.advance(&mut world, 0.47).unwrap();
        let (mut highest, mut gain) = (0.0_f64, 0.0);
        for _ in 0..40 {
            let report = stepper.advance(&mut world, 0.01).unwrap();
            highest = highest.max(world.tree(id).unwrap().coordinates()[0] - 0.1);
            gain += report.energy.gain();
        }
        assert!((highest - e * e).abs() < 0.02, "{e}: {highest}");
        assert!(gain < 1e-9, "{e}: {gain}");
    }
}
