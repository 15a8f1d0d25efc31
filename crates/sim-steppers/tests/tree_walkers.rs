//! Creatures that fall and flail: trees with limits, dampers, rotors and self-contact under random forces.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    Pose,
    glam::DVec3,
    ops,
    testkit::{SplitMix64, soak},
};
use sim_traits::{Capsule, Cuboid, HalfSpace, Sphere, TreeId};
use sim_world::{Body, EnergyAccount, LinkBuilder, Rest, Stepper, Tree, TreeBuilder, TreeJoint, World};

/// A ball with four legs of two hinges each.
fn ant() -> TreeBuilder {
    let torso = Body::free().shape(Sphere::new(0.25).unwrap()).mass(4.0);
    let mut tree = Tree::builder("ant").link(
        LinkBuilder::new("torso", TreeJoint::Free)
            .body(torso)
            .start(&[0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0], &[0.0; 6]),
    );
    for k in 0..4 {
        let angle = core::f64::consts::FRAC_PI_2 * (f64::from(k) + 0.5);
        let out = DVec3::new(ops::cos(angle), ops::sin(angle), 0.0);
        let along = |half: f64, direction: DVec3| {
            let turn = sim_math::glam::DQuat::from_rotation_arc(DVec3::Z, direction);
            Body::free()
                .shape_at(Capsule::new(0.06, half).unwrap(), Pose::new(direction * half, turn))
                .density(300.0)
                .friction(1.0)
        };
        let hip = LinkBuilder::new(format!("hip{k}"), TreeJoint::Revolute { axis: DVec3::Z })
            .on("torso")
            .at(Pose::from_translation(out * 0.3))
            .body(along(0.15, out))
            .limits(-0.6, 0.6)
            .damping(0.5)
            .armature(0.02);
        let knee = TreeJoint::Revolute { axis: out.cross(DVec3::Z) };
        let shin = (out - DVec3::Z).normalize();
        let ankle = LinkBuilder::new(format!("ankle{k}"), knee)
            .on(format!("hip{k}"))
            .at(Pose::from_translation(out * 0.3))
            .body(along(0.25, shin))
            .limits(-0.5, 0.7)
            .damping(0.5)
            .armature(0.02)
            .dry_friction(0.2);
        tree = tree.link(hip).link(ankle);
    }
    tree
}

/// Boxes and balls of any joints, masses up to a thousand times each other's.
fn creature(random: &mut SplitMix64, count: usize) -> TreeBuilder {
    let mut tree = Tree::builder("creature");
    for k in 0..count {
        let half = DVec3::new(random.range(0.05, 0.2), random.range(0.05, 0.2), random.range(0.05, 0.2));
        let mass = 0.05 * ops::exp(random.range(0.0, 6.9));
        let body = Body::free().shape(Cuboid::new(half).unwrap()).mass(mass).friction(random.range(0.0, 1.2));
        let axis = random.unit_vec3();
        let joint = match random.below(6) {
            0 => TreeJoint::Spherical,
            1 => TreeJoint::Universal { first: DVec3::X, second: DVec3::Y },
            2 => TreeJoint::Prismatic { axis },
            _ => TreeJoint::Revolute { axis },
        };
        let joint = if k == 0 { TreeJoint::Free } else { joint };
        let mut link = LinkBuilder::new(format!("link{k}"), joint).body(body).armature(0.001);
        if k == 0 {
            link = link.start(&[0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.0], &[0.0; 6]).armature(0.0);
        } else {
            let parent = random.below(k);
            let place = random.unit_vec3() * 0.45;
            link = link.on(format!("link{parent}")).at(Pose::from_translation(place)).damping(0.05);
            if !matches!(joint, TreeJoint::Spherical) {
                link = link.limits(-0.7, 0.7);
            }
        }
        tree = tree.link(link);
    }
    tree
}

/// Random forces for so many steps; the account of all of them.
fn flail(
    world: &mut World,
    tree: TreeId,
    random: &mut SplitMix64,
    steps: u32,
    strength: f64,
) -> EnergyAccount {
    let dt = 1.0 / 200.0;
    let mut stepper = timed::cone(|params| params.dt = dt);
    let mut account = EnergyAccount::default();
    let count = world.tree(tree).unwrap().forces().len();
    for step in 0..steps {
        if step % 10 == 0 {
            let forces: Vec<f64> =
                (0..count).map(|k| if k < 6 { 0.0 } else { strength * random.range(-1.0, 1.0) }).collect();
            world.set_tree_forces(tree, &forces).unwrap();
        }
        let report = stepper.advance(world, dt).unwrap();
        account = account.then(&report.energy);
        let found = world.tree(tree).unwrap();
        assert!(found.coordinates().iter().chain(found.velocities()).all(|x| x.is_finite()));
        assert!(found.links().iter().all(|link| world[*link].rest() == Rest::Awake), "step {step}");
    }
    account
}

fn balance(name: &str, account: &EnergyAccount) {
    assert!(
        account.remainder().abs() <= 1e-6 * account.flowed,
        "{name}: {:e} of {:e}: {account:?}",
        account.remainder(),
        account.flowed
    );
}

fn walk(cases: u64, steps: u32) {
    for seed in 0..cases {
        let mut random = soak::random(24 + seed);
        let mut world = World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap();
        world.add(Body::fixed().shape(HalfSpace::up()).friction(0.8)).unwrap();
        let walker = if seed % 2 == 0 {
            world.add_tree(ant()).unwrap()
        } else {
            let count = 4 + random.below(6);
            world.add_tree(creature(&mut random, count)).unwrap()
        };
        let strength = if seed % 2 == 0 { 15.0 } else { 1.0 };
        let account = flail(&mut world, walker, &mut random, steps, strength);
        balance(&format!("seed {seed}"), &account);
    }
}

#[test]
fn soak_random_walkers_balance_their_accounts() {
    walk(soak::cases(6), 250);
}
