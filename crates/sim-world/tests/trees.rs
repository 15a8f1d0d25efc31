//! Trees in a world: what is refused, links as bodies, removal, snapshots.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests fail by panicking, and state exact results")]

use collision_broadphase::CoherentHash;
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_traits::{Cuboid, Ray, Sphere, TreeId};
use sim_world::{
    Body, BodyBuilder, DofParams, ForceGenerator, Joint, JointMotor, JointPartner::World as Ground,
    LinkBuilder, QueryFilter, QueryIndex, StepError, Tree, TreeBuilder, TreeJoint, World, WorldError,
};

fn brick() -> BodyBuilder {
    Body::free().shape(Cuboid::new(DVec3::new(0.2, 0.1, 0.1)).unwrap()).mass(2.0)
}

fn hinge() -> TreeJoint {
    TreeJoint::Revolute { axis: DVec3::Y }
}

fn link(name: &str) -> LinkBuilder {
    LinkBuilder::new(name, hinge()).body(brick())
}

fn arm() -> TreeBuilder {
    Tree::builder("arm")
        .at(Pose::from_translation(DVec3::Z))
        // A child before its parent: order does not matter.
        .link(link("lower").on("upper").at(Pose::from_translation(DVec3::X)).start(&[0.4], &[2.0]))
        .link(link("upper").limits(-1.0, 1.0).start(&[0.3], &[-1.0]).damping(0.1))
}

fn world() -> World {
    World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap()
}

#[test]
fn links_are_bodies_where_the_joints_say() {
    let mut world = world();
    let ball = world.add(Body::free().shape(Sphere::new(0.1).unwrap()).at([9.0, 0.0, 0.0])).unwrap();
    let id = world.add_tree(arm()).unwrap();
    let tree = world.tree(id).unwrap();
    assert_eq!((tree.name(), tree.links().len(), world.body_count()), ("arm", 2, 3));
    assert_eq!((tree.coordinates(), tree.velocities()), (&[0.3, 0.4][..], &[-1.0, 2.0][..]));
    let (upper, lower) = (tree.link("upper").unwrap(), tree.link("lower").unwrap());
    assert_eq!(
        (world[upper].tree(), world[lower].tree(), world[ball].tree()),
        (Some((id, 0)), Some((id, 1)), None)
    );
    // By hand: a turn about y takes x to (cos, 0, −sin).
    let place = DVec3::new(sim_math::ops::cos(0.3), 0.0, 1.0 - sim_math::ops::sin(0.3));
    assert!((world[lower].position() - place).length() < 1e-15);
    assert!((world[lower].velocity().angular - DVec3::Y).length() < 1e-15);
    let across = DVec3::Y.cross(place - DVec3::Z) * -1.0;
    assert!((world[lower].velocity().linear - across).length() < 1e-15);
    // Neighbours do not collide, queries see links.
    let colliders = [upper, lower].map(|body| world[body].colliders()[0]);
    let [a, b] = colliders.map(|c| world.collider(c).unwrap());
    assert!(!world.may_collide(a, b));
    let mut index = QueryIndex::new(CoherentHash::default());
    index.refresh(&world).unwrap();
    let ray = Ray { origin: DVec3::new(0.0, 0.0, 5.0), direction: DVec3::NEG_Z, t_max: 10.0 };
    let hit = index.ray_first(&world, &ray, &QueryFilter::default()).unwrap().unwrap();
    assert_eq!(hit.collider, colliders[0]);
    world.remove_tree(id).unwrap();
    assert_eq!((world.body_count(), world.tree_count(), world.colliders().count()), (1, 0, 1));
    assert_eq!(world.tree(id).unwrap_err(), WorldError::UnknownTree { id });
}

#[test]
fn what_makes_no_tree_is_refused_by_name() {
    let mut world = world();
    let before = world.digest();
    let mut text = |tree: TreeBuilder| world.add_tree(tree).unwrap_err().to_string();
    let build = || Tree::builder("x");
    assert_eq!(text(build()), "tree 0: a tree needs at least one link");
    assert_eq!(text(build().link(link("a").on("b"))), "tree 0: link \"a\": there is no parent \"b\"");
    let cycle = build().link(link("a").on("b")).link(link("b").on("a"));
    assert!(text(cycle).starts_with("tree 0: link \"a\" is its own ancestor"));
    assert!(text(build().link(link("a")).link(link("a"))).contains("given twice"));
    assert!(
        text(build().link(LinkBuilder::new("a", hinge()))).starts_with("tree 0, link \"a\": body 0: no mass")
    );
    assert!(text(build().link(link("a").limits(1.0, -1.0))).contains("lower limit is 1"));
    assert!(text(build().link(link("a").damping(f64::NAN))).contains("damping is not finite: NaN"));
    assert!(text(build().link(link("a").dof(1, DofParams::default()))).contains("no number 1"));
    assert_eq!(
        text(build().link(link("a").start(&[f64::INFINITY], &[0.0]))),
        "tree 0, link \"a\": coordinates, number 0: inf"
    );
    assert!(
        text(build().link(link("a").start(&[], &[0.0]))).contains("coordinates has length 0, expected 1")
    );
    let motor = JointMotor::position(0.0, -1.0, 0.0, 1.0);
    assert!(text(build().link(link("a").motor(motor))).contains("stiffness of a motor, number 0: -1"));
    let axis = TreeJoint::Revolute { axis: DVec3::ZERO };
    assert!(
        text(build().link(LinkBuilder::new("a", axis).body(brick()))).contains("length of the axis is 0")
    );
    let nan = Pose::from_translation(DVec3::NAN);
    assert!(text(build().at(nan).link(link("a"))).contains("pose of the base"));
    assert!(text(build().link(link("a").at(nan))).contains("joint position is not finite"));
    let hard = DofParams { hard_stiffness: 1.0, ..DofParams::default() };
    assert!(text(build().link(link("a").dof(0, hard))).contains("hard spring"));
    assert_eq!((world.digest(), world.body_count(), world.tree_count()), (before, 0, 0));
}

#[test]
fn links_move_with_their_tree_alone() {
    let mut world = world();
    let id = world.add_tree(arm()).unwrap();
    let lower = world.tree(id).unwrap().link("lower").unwrap();
    let text = |error: WorldError| error.to_string();
    assert!(text(world.teleport(lower, Pose::IDENTITY).unwrap_err()).contains("body 1 is a link of tree 0"));
    assert!(text(world.set_velocity(lower, Motion::ZERO).unwrap_err()).contains("link of tree 0"));
    assert!(text(world.remove(lower).unwrap_err()).contains("link of tree 0"));
    let drag = ForceGenerator::Drag { body: lower, linear: 1.0, angular: 0.0 };
    assert!(text(world.add_force(drag).unwrap_err()).contains("link of tree 0"));
    assert!(text(world.set_tree_forces(id, &[1.0]).unwrap_err()).contains("forces has length 1, expected 2"));
    assert!(text(world.set_tree_forces(id, &[1.0, f64::NAN]).unwrap_err()).contains("number 1: NaN"));
    assert!(text(world.set_tree_motor(id, 2, None).unwrap_err()).contains('2'));
    let gone = TreeId::new(7, 0);
    assert_eq!(text(world.set_tree_state(gone, &[], &[]).unwrap_err()), "tree 7 does not exist");
    // Another state is another place for all links.
    world.set_tree_state(id, &[0.0, 0.0], &[0.0, 0.0]).unwrap();
    assert!((world[lower].position() - DVec3::new(1.0, 0.0, 1.0)).length() < 1e-15);
    assert_eq!(world.kinetic_energy(), 0.0);
    // A push along the arm does nothing, one across turns both hinges and gives the energy p·u/2.
    let point = DVec3::new(1.2, 0.0, 1.0);
    world.apply_impulse(lower, point, DVec3::X).unwrap();
    assert!(world.kinetic_energy() < 1e-25);
    world.apply_impulse(lower, point, DVec3::Z).unwrap();
    let energy = 0.5 * world[lower].velocity_at(point).z;
    assert!((world.kinetic_energy() - energy).abs() < 1e-12 * energy, "{energy}");
    assert_eq!(
        world.refuse_trees("some").unwrap_err(),
        StepError::UnsupportedTree { tree: id, name: "arm".to_owned(), stepper: "some" }
    );
    // A joint on a link goes with the tree.
    let joint = world.add_joint(Joint::ball(Ground, lower).anchor(point)).unwrap();
    assert_eq!(world.joints_of_tree(id), [joint]);
    world.remove_tree(id).unwrap();
    assert_eq!((world.joint_count(), world.body_count()), (0, 0));
}

#[test]
fn digests_know_trees() {
    let (mut a, mut b) = (world(), world());
    let (x, y) = (a.add_tree(arm()).unwrap(), b.add_tree(arm()).unwrap());
    assert_eq!(a.digest(), b.digest());
    a.set_tree_forces(x, &[0.0, 1.0]).unwrap();
    assert_ne!(a.digest(), b.digest());
    b.set_tree_forces(y, &[0.0, 1.0]).unwrap();
    a.set_tree_motor(x, 0, Some(JointMotor::velocity(1.0, 2.0))).unwrap();
    assert_ne!(a.digest(), b.digest());
}

#[cfg(feature = "serde")]
#[test]
fn a_saved_tree_is_the_same_tree() {
    use sim_world::Registry;
    let mut world = world();
    let gone = world.add_tree(arm()).unwrap();
    world.remove_tree(gone).unwrap();
    let id = world.add_tree(arm().self_collision(false)).unwrap();
    assert_eq!((id.index(), id.generation()), (0, 1));
    world.set_tree_forces(id, &[0.5, 0.25]).unwrap();
    let bytes = world.snapshot(&Registry::default()).unwrap();
    let again = World::restore(&bytes, &Registry::default()).unwrap();
    assert_eq!(
        (again.digest(), again.tree(id).unwrap().model()),
        (world.digest(), world.tree(id).unwrap().model())
    );
    let lower = again.tree(id).unwrap().link("lower").unwrap();
    assert_eq!(again[lower].tree(), Some((id, 1)));
    assert!(again.ignores(again.tree(id).unwrap().links()[0], lower));
}
