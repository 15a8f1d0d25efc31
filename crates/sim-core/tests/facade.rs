//! The facade: parts are swapped, bad worlds are refused.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use sim_core::{
    BuildError,
    broadphase::{BruteForce, ColumnSweep, DynamicTree, SweepAndPrune},
    prelude::*,
    rigid::impact::Frictionless,
    traits::BroadPhase,
};

fn earth() -> World {
    let mut world = World::builder().gravity([0.0, 0.0, -9.81]).build().unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    world
}

fn scene() -> (World, Vec<BodyId>) {
    let mut world = earth();
    let ids = (0..8)
        .map(|k| {
            let at = DVec3::new(0.3 * f64::from(k % 4), 0.3 * f64::from(k / 4), 0.5 + 0.1 * f64::from(k));
            world.add(Body::free().shape(Sphere::new(0.12).unwrap()).at(at).restitution(0.6)).unwrap()
        })
        .collect();
    (world, ids)
}

#[test]
fn every_broad_phase_gives_the_same_bits() {
    fn end(broad: impl BroadPhase + 'static) -> Vec<DVec3> {
        let (world, ids) = scene();
        let mut sim = Simulation::builder(world).broad_phase(broad).build().unwrap();
        sim.advance(1.5).unwrap();
        ids.iter().map(|&id| sim.world()[id].position()).collect()
    }
    let (world, ids) = scene();
    let mut sim = Simulation::new(world);
    sim.advance(1.5).unwrap();
    let expected: Vec<_> = ids.iter().map(|&id| sim.world()[id].position()).collect();
    assert_eq!(end(BruteForce::default()), expected);
    assert_eq!(end(ColumnSweep::default()), expected);
    assert_eq!(end(DynamicTree::default()), expected);
    assert_eq!(end(SweepAndPrune::default()), expected);
}

#[test]
fn a_polyhedron_has_the_mass_of_the_box_it_is_and_falls_like_it() {
    let mut world = earth();
    let half = DVec3::new(0.2, 0.1, 0.05);
    let hull = Shape::Convex(std::sync::Arc::new(Polyhedron::cuboid(half).unwrap()));
    let a = world
        .add(Body::free().shape(hull).at([0.0, 0.0, 0.5]).spinning([1.0, 2.0, 0.0]).restitution(0.8))
        .unwrap();
    let b = world
        .add(
            Body::free()
                .shape(Cuboid::new(half).unwrap())
                .at([2.0, 0.0, 0.5])
                .spinning([1.0, 2.0, 0.0])
                .restitution(0.8),
        )
        .unwrap();
    assert!((world[a].mass() - 8.0).abs() < 1e-12 && (world[b].mass() - 8.0).abs() < 1e-12);
    let mut sim = Simulation::builder(world).build().unwrap();
    // Up to the first impact and a little beyond.
    sim.advance(0.3).unwrap();
    assert!(sim.report().collisions >= 2, "{}", sim.report());
    let (p, q) = (sim.world()[a].position(), sim.world()[b].position() - DVec3::X * 2.0);
    // Times of bounces are as exact as half the touching distance, a millionth of the radius.
    assert!((p - q).length() < 1e-7, "{p} against {q}");
}

#[test]
fn bad_bodies_are_refused_with_the_item_and_the_value() {
    let mut world = earth();
    let sphere = || Body::free().shape(Sphere::new(0.1).unwrap());
    let refused = [
        (sphere().at([0.0, f64::NAN, 1.0]), "body 1: pose is not finite: NaN"),
        (sphere().moving([f64::INFINITY, 0.0, 0.0]), "body 1: velocity is not finite: inf"),
        (sphere().density(-2.0), "body 1, shape 0 (sphere): density 0 must be positive, got -2"),
        (sphere().restitution(-0.5), "body 1: restitution must not be negative, got -0.5"),
        (sphere().friction(f64::NAN), "body 1: friction is not finite: NaN"),
        (Body::free(), "body 1: no mass: it has neither shapes nor mass properties"),
        (
            Body::free().shape(HalfSpace::up()),
            "body 1: no mass: shape 0 (half-space) is not a solid of known mass; give mass properties",
        ),
        (
            sphere().turned(DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
            "body 1: pose: quaternion has length 2, not 1",
        ),
    ];
    for (body, expected) in refused {
        assert_eq!(world.add(body).unwrap_err().to_string(), expected);
    }
    assert_eq!(world.body_count(), 1);
    assert_eq!(
        World::new([f64::NAN, 0.0, 0.0]).unwrap_err().to_string(),
        "world: gravity is not finite: [NaN, 0, 0]"
    );
    world.add(sphere().at([0.0, 0.0, 0.05])).unwrap();
    // Time stepping opens what overlaps, and says how much energy that took; from collision to collision there is no answer.
    let error = Simulation::builder(world.clone()).params(EventDrivenParams::default()).build().unwrap_err();
    assert_eq!(error.to_string(), "body 0 and body 1 overlap by 0.05 m at t = 0 s");
    let mut sim = Simulation::new(world);
    sim.advance(0.1).unwrap();
    assert!(sim.report().solver.lifted > 0.0, "{}", sim.report());
}

#[test]
fn a_part_that_the_stepper_has_no_use_for_is_an_error() {
    let error = |builder: SimulationBuilder| builder.build().unwrap_err().to_string();
    let builder = || Simulation::builder(earth());
    let time = || time_stepping(ConeNewton::default(), TimeSteppingParams::default());
    assert_eq!(
        builder().stepper(time()).impact(Frictionless).build().unwrap_err(),
        BuildError::UnusedPart { part: "impact law", stepper: "time-stepping" }
    );
    assert_eq!(
        error(builder().impact(Frictionless).contact_law(Greedy::default())),
        "contact law is not used by the event-driven stepper"
    );
    assert_eq!(
        error(builder().params(EventDrivenParams::default()).soft(SoftParams::default())),
        "soft solver is not used by the event-driven stepper"
    );
    assert_eq!(
        error(builder().stepper(time()).params(EventDrivenParams::default())),
        "parameters are given for the event-driven stepper, but the stepper is time-stepping"
    );
}

#[cfg(feature = "serde")]
#[test]
fn a_restored_simulation_continues_to_the_bit() {
    use sim_core::world::SnapshotError;
    let mut first = Simulation::new(scene().0);
    first.advance(0.7).unwrap();
    let bytes = first.snapshot(&Registry::new()).unwrap();
    let mut second = Simulation::new(World::new([0.0; 3]).unwrap());
    second.restore(&bytes, &Registry::new()).unwrap();
    for _ in 0..3 {
        assert_eq!(first.advance(0.4), second.advance(0.4));
        assert_eq!(first.world().digest(), second.world().digest());
    }
    let digest = second.world().digest();
    let broken = second.restore(&bytes[..bytes.len() - 1], &Registry::new());
    assert!(matches!(broken, Err(SnapshotError::Damaged { .. })), "{broken:?}");
    assert_eq!(second.world().digest(), digest);
}
