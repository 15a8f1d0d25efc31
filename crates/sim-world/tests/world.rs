//! The world as data: ids, frames, masses, refusals.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use rigid_impulse::{BodyKind, Material, MaterialId, MaterialTable, SurfacePair};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
};
use sim_traits::{BodyId, Cuboid, HalfSpace, Sphere};
use sim_world::{
    Anchor, Body, BodyBuilder, Change, ColliderBuilder, ForceGenerator, Limits, Screw, Script, World,
    WorldError, testkit::as_stepper,
};

fn sphere(radius: f64) -> BodyBuilder {
    Body::free().shape(Sphere::new(radius).unwrap())
}

#[test]
fn the_user_keeps_the_frame_he_modelled_in() {
    // A hammer: the head far from the origin, turned; the centre of mass is elsewhere, its principal axes too.
    let mut world = World::new([0.0; 3]).unwrap();
    let turned = Pose::new(DVec3::new(0.5, 0.1, 0.0), DQuat::from_rotation_z(0.7));
    let handle = Cuboid::new(DVec3::new(0.4, 0.02, 0.02)).unwrap();
    let head =
        ColliderBuilder::new(Cuboid::new(DVec3::new(0.05, 0.1, 0.05)).unwrap()).at(turned).density(7800.0);
    let pose = Pose::new(DVec3::new(1.0, 2.0, 3.0), DQuat::from_rotation_x(0.3));
    let id = world.add(Body::free().shape(handle).collider(head).density(700.0).pose(pose)).unwrap();
    let body = &world[id];
    assert!((body.position() - pose.translation).length() < 1e-15);
    assert!(body.user_pose().rotation.dot(pose.rotation).abs() > 1.0 - 1e-15);
    let masses = [700.0 * 8.0 * 0.4 * 0.02 * 0.02, 7800.0 * 8.0 * 0.05 * 0.1 * 0.05];
    let center = turned.translation * (masses[1] / (masses[0] + masses[1]));
    assert!((body.center() - pose.transform_point(center)).length() < 1e-14);
    assert!((body.mass() - masses[0] - masses[1]).abs() < 1e-12);
    // Colliders are where the user put them.
    let collider = world.collider(body.colliders()[1]).unwrap();
    let placed = *body.state().pose() * collider.extent().body_from_shape;
    assert!((placed.translation - pose.transform_point(turned.translation)).length() < 1e-14);
}

#[test]
fn a_spinning_body_turns_about_its_centre_of_mass_and_not_about_the_users_origin() {
    let mut world = World::new([0.0; 3]).unwrap();
    let offset = Pose::from_translation(DVec3::X * 0.5);
    let ball = Body::free().shape_at(Sphere::new(0.1).unwrap(), offset).spinning([0.0, 0.0, 2.0]);
    let id = world.add(ball).unwrap();
    as_stepper(&mut world, |world| world.set_time(std::f64::consts::FRAC_PI_2)).unwrap();
    assert!((world[id].center() - DVec3::X * 0.5).length() < 1e-15);
    assert!((world[id].position() - DVec3::X).length() < 1e-14, "{}", world[id].position());
}

// proves: DYN-12, DYN-23
#[test]
fn free_fall_is_exact_for_any_step() {
    let g = DVec3::new(0.5, 0.0, -9.81);
    for steps in [1, 7, 1000] {
        let mut world = World::new(g).unwrap();
        let id = world.add(sphere(0.1).at([0.0, 0.0, 5.0]).moving([1.0, 2.0, 3.0])).unwrap();
        for k in 1..=steps {
            as_stepper(&mut world, |world| world.set_time(2.0 * f64::from(k) / f64::from(steps))).unwrap();
        }
        let expected = DVec3::new(0.0, 0.0, 5.0) + DVec3::new(1.0, 2.0, 3.0) * 2.0 + g * 2.0;
        assert_eq!(world[id].position(), expected);
    }
}

#[test]
fn stale_and_wrong_ids_are_errors() {
    let mut world = World::new([0.0; 3]).unwrap();
    let id = world.add(sphere(0.1)).unwrap();
    let fixed = world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    let velocity = Motion::new(DVec3::ZERO, DVec3::Z);
    let script = world.add(Body::scripted(Screw { start: Pose::IDENTITY, velocity })).unwrap();
    world.remove(id).unwrap();
    assert!(matches!(world.remove(id), Err(WorldError::UnknownBody { id: gone }) if gone == id));
    assert_eq!(world.body(id).unwrap_err().to_string(), "body 0 does not exist");
    assert!(world.teleport(id, Pose::IDENTITY).is_err());
    assert_eq!(
        world.set_velocity(fixed, Motion::ZERO).unwrap_err().to_string(),
        "body 1 is not free: its velocity cannot be set"
    );
    assert!(matches!(world.teleport(script, Pose::IDENTITY), Err(WorldError::NotFree { .. })));
    assert!(world.teleport(fixed, Pose::from_translation(DVec3::NAN)).is_err());
    assert!(world.get(BodyId::new(77, 0)).is_none());
    let force = ForceGenerator::Drag { body: fixed, linear: 1.0, angular: 0.0 };
    assert!(world.add_force(force).is_err());
    let spring = ForceGenerator::Spring {
        a: Anchor::World(DVec3::ZERO),
        b: Anchor::Body(id, DVec3::ZERO),
        stiffness: 1.0,
        damping: 0.0,
        rest_length: 0.0,
    };
    assert_eq!(world.add_force(spring), Err(WorldError::UnknownBody { id }));
    assert!(world.add_timer(0.0, 0.0).is_err() && world.add_timer(f64::NAN, 1.0).is_err());
}

#[derive(Debug)]
struct Broken(Limits);

impl Script for Broken {
    fn pose(&self, _: f64) -> Pose {
        Pose::from_translation(DVec3::NAN)
    }
    fn velocity(&self, _: f64) -> Motion {
        Motion::ZERO
    }
    fn limits(&self) -> Limits {
        self.0
    }
}

#[test]
fn broken_scripts_and_unknown_materials_are_refused_and_leave_no_trace() {
    let mut world = World::new([0.0; 3]).unwrap();
    let fine = Limits { speed: 1.0, acceleration: 1.0, angular: 0.0, angular_acceleration: 0.0 };
    let error = world.add(Body::scripted(Broken(fine))).unwrap_err();
    assert_eq!(error.to_string(), "body 0: pose is not finite: NaN");
    let error = world.add(Body::scripted(Broken(Limits { speed: -1.0, ..fine }))).unwrap_err();
    assert_eq!(error.to_string(), "body 0: speed limit must not be negative, got -1");
    let shape = ColliderBuilder::new(Sphere::new(0.1).unwrap()).material(MaterialId(3));
    let error = world.add(Body::fixed().collider(shape)).unwrap_err();
    assert_eq!(error.to_string(), "body 0: material 3 does not exist");
    assert_eq!((world.body_count(), world.revision(), world.colliders().count()), (0, 0, 0));
}

#[test]
fn a_force_whose_acceleration_is_not_finite_is_refused_and_leaves_no_trace() {
    let mut world = World::new([0.0; 3]).unwrap();
    let id = world.add(Body::free().shape(Sphere::new(0.01).unwrap())).unwrap();
    let before = world.digest();
    let push = |x: f64| ForceGenerator::Constant { body: id, force: DVec3::X * x, torque: DVec3::ZERO };
    let error = world.add_force(push(1e308)).unwrap_err();
    assert_eq!(error.to_string(), "body 0: acceleration by constant forces is not finite: inf");
    assert_eq!((world.digest(), world.forces().count()), (before, 0));
    let held = world.add_force(push(1.0)).unwrap();
    assert!(world.set_force(held, push(1e308)).is_err());
    assert_eq!(world.force(held), Some(&push(1.0)));
    assert!(world[id].pull().is_finite());
}

#[test]
fn a_clone_is_another_world_and_a_world_that_is_moved_is_the_same() {
    let mut world = World::new([0.0; 3]).unwrap();
    let seen = world.mark();
    assert_ne!(world.clone().mark(), seen);
    world.add(Body::free().shape(Sphere::new(0.1).unwrap())).unwrap();
    assert!(world.mark() != seen && world.mark_before_changes() == seen);
    as_stepper(&mut world, |world| {
        world.forget_changes();
    });
    assert_eq!(world.mark_before_changes(), world.mark());
    let mark = world.mark();
    let moved = world;
    assert_eq!(moved.mark(), mark);
}

#[test]
fn surfaces_combine_by_the_rules_of_the_table() {
    let mut world = World::new([0.0; 3]).unwrap();
    let steel = world.materials_mut().add(Material::new(0.4, 0.6, 7800.0).unwrap());
    let ice = world.materials_mut().add(Material::new(0.1, 0.3, 917.0).unwrap());
    let slippery = SurfacePair { friction: 0.02, restitution: 0.5 };
    world.materials_mut().set_pair(steel, ice, slippery).unwrap();
    let of = |world: &mut World, material| {
        let shape = ColliderBuilder::new(Sphere::new(0.1).unwrap()).material(material);
        let id = world.add(Body::free().collider(shape)).unwrap();
        world[id].colliders()[0]
    };
    let (a, b) = (of(&mut world, steel), of(&mut world, ice));
    let own = world.add(sphere(0.1).friction(0.9).restitution(0.1)).unwrap();
    let c = world[own].colliders()[0];
    let pair = |x, y| world.surface_pair(world.collider(x).unwrap(), world.collider(y).unwrap());
    assert_eq!(pair(a, b), slippery);
    assert_eq!(pair(b, a), slippery);
    assert_eq!(pair(a, c), SurfacePair { friction: (0.4_f64 * 0.9).sqrt(), restitution: 0.6 });
    // The material decides the density too.
    let BodyKind::Free(mass) = world.bodies().next().unwrap().1.kind() else { unreachable!() };
    assert!((mass.mass() - 7800.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3).abs() < 1e-9);
}

#[test]
fn changes_are_noted_in_order_and_a_clone_is_independent() {
    let mut world = World::new([0.0; 3]).unwrap();
    let a = world.add(sphere(0.1)).unwrap();
    let twin = world.clone();
    world.teleport(a, Pose::from_translation(DVec3::X)).unwrap();
    world.apply_impulse(a, DVec3::X, DVec3::Z).unwrap();
    let collider = world[a].colliders()[0];
    world.remove(a).unwrap();
    let expected = [Change::Added(a), Change::Moved(a), Change::Pushed(a), Change::Removed(collider)];
    assert_eq!(world.changes(), expected);
    assert_eq!(world.revision(), 4);
    assert_eq!(twin[a].position(), DVec3::ZERO);
}

#[test]
fn constant_forces_add_up_and_leave_without_a_trace() {
    let mut world = World::new([0.0, 0.0, -10.0]).unwrap();
    let id = world.add(sphere(0.1).mass(2.0)).unwrap();
    let push = |x: f64| ForceGenerator::Constant { body: id, force: DVec3::X * x, torque: DVec3::ZERO };
    let first = world.add_force(push(0.1)).unwrap();
    let second = world.add_force(push(0.2)).unwrap();
    assert!((world[id].pull().x - 0.15).abs() < 1e-16);
    assert!(world.remove_force(first).is_ok() && world.remove_force(second).is_ok());
    as_stepper(&mut world, |_| ());
    assert_eq!(world[id].pull(), DVec3::ZERO);
    world.add_force(ForceGenerator::Drag { body: id, linear: 1.0, angular: 1.0 }).unwrap();
    as_stepper(&mut world, |_| ());
    assert!(world[id].has_stateful_forces());
    world.remove(id).unwrap();
    assert_eq!(world.forces().count(), 0);
}

#[test]
fn surfaces_and_densities_that_cannot_be_are_refused_with_item_and_value() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let ball = || Body::free().shape(Sphere::new(0.1).unwrap());
    let part = || ColliderBuilder::new(Sphere::new(0.1).unwrap());
    let nan = f64::NAN;
    for (body, message) in [
        (ball().restitution(1.5), "restitution must be at most 1, got 1.5"),
        (ball().restitution(-0.1), "restitution must not be negative, got -0.1"),
        (ball().restitution(nan), "restitution is not finite: NaN"),
        (ball().friction(-1.0), "friction must not be negative, got -1"),
        (ball().friction(f64::INFINITY), "friction is not finite: inf"),
        (Body::free().collider(part().restitution(1.01)), "restitution must be at most 1, got 1.01"),
        (Body::free().collider(part().friction(-2.0)), "friction must not be negative, got -2"),
        (Body::fixed().collider(part().density(-3.0)), "density must be positive, got -3"),
        (Body::fixed().density(nan), "density is not finite: NaN"),
    ] {
        let error = world.add(body).unwrap_err().to_string();
        assert!(error.ends_with(message) && error.starts_with("body"), "{error}");
    }
    assert_eq!(world.body_count(), 0);
    let mut material = Material::default();
    material.restitution = 1.5;
    let mut table = MaterialTable::default();
    table.add(material);
    let error = World::builder().materials(table).build().unwrap_err().to_string();
    assert_eq!(error, "material 0: restitution must be at most 1, got 1.5");
}
