//! Random scenes with meshes, height fields and compounds, each moment of which is checked by brute force: nothing passes through
//! anything.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use collision_narrowphase::{Polyhedron, compound::Compound, height_field::HeightField, mesh::TriMesh};
use common::{parts, smallest_separation};
use sim_math::{
    Pose,
    glam::{DVec2, DVec3},
    mass::{Amount, solid},
    ops,
    spatial::Motion,
    testkit::{SplitMix64, soak},
};
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams};
use sim_traits::{Capsule, Cuboid, Shape, Sphere};
use sim_world::{Body, BodyBuilder, Screw, Stepper, World};

/// Scenes in CI.
const SCENES: u64 = 60;
/// Moments of each that are looked at.
const MOMENTS: u32 = 500;

/// A convex shape of about `size` (m).
fn convex(random: &mut SplitMix64, size: f64) -> Shape {
    let mut side = || size * random.range(0.15, 0.4);
    let (x, y, z) = (side(), side(), side());
    match random.below(5) {
        0 | 1 => Sphere::new(x).unwrap().into(),
        2 => Cuboid::new(DVec3::new(x, y, z)).unwrap().into(),
        3 => Capsule::new(0.5 * x, y).unwrap().into(),
        _ => {
            let points: Vec<_> = (0..12).map(|_| random.unit_vec3() * (x + y)).collect();
            Polyhedron::hull(&points).map_or_else(|_| Sphere::new(x).unwrap().into(), Shape::from)
        }
    }
}

/// Some convex shapes in a row that turns.
fn compound(random: &mut SplitMix64, size: f64) -> Shape {
    let mut at = DVec3::ZERO;
    let mut pieces = Vec::new();
    for _ in 0..2 + random.below(3) {
        pieces.push((convex(random, size), Pose::new(at, random.unit_quat())));
        at += random.unit_vec3() * (0.6 * size);
    }
    Compound::new(pieces).unwrap().into()
}

/// Hills and valleys of `cells` squares of `pitch` (m), around the origin.
fn ground(random: &mut SplitMix64, size: f64) -> (Shape, Pose) {
    let steep = random.range(0.2, 1.0) * size;
    let shift = random.range(0.0, 6.0);
    if random.below(2) == 0 {
        let pitch = size * random.range(0.6, 1.5);
        let cells = (6.0 * size / pitch) as u32 + 1;
        let height =
            |x: f64, y: f64| steep * (ops::sin(2.0 * x / size + shift) + ops::cos(1.7 * y / size + shift));
        let mesh = TriMesh::terrain(cells, pitch, height).unwrap();
        return (mesh.into(), Pose::IDENTITY);
    }
    let (columns, pitch) = (7, size);
    let heights = (0..columns * columns).map(|_| random.range(-1.0, 1.0) * steep).collect();
    let field = HeightField::new(columns, columns, DVec2::splat(pitch), heights, size).unwrap();
    (field.into(), Pose::from_translation(DVec3::new(-3.0 * size, -3.0 * size, 0.0)))
}

fn free(random: &mut SplitMix64, size: f64, speed: f64) -> BodyBuilder {
    let shape = if random.below(3) == 0 { compound(random, size) } else { convex(random, size) };
    let mass = ops::exp(random.range(-2.0, 2.0)) * 1000.0 * size * size * size;
    let mass = solid::cuboid(DVec3::splat(0.4 * size), Amount::Mass(mass)).unwrap();
    let spin = if random.below(3) == 0 { 8.0 } else { 1.0 };
    Body::free()
        .shape(shape)
        .mass_properties(mass)
        .friction(random.range(0.0, 1.0))
        .restitution(random.range(0.0, 1.0))
        .turned(random.unit_quat())
        .moving(random.vec3(speed))
        .spinning(random.vec3(spin * speed / size))
}

/// A ground, sometimes a ring or a compound that turns, and some bodies above.
fn scene(random: &mut SplitMix64, size: f64) -> World {
    let gravity = if random.below(4) == 0 { 0.0 } else { -9.81 };
    let speed = (9.81 * size).sqrt() * random.range(0.5, 2.0);
    let mut world = World::new(DVec3::new(0.0, 0.0, gravity)).unwrap();
    let (shape, pose) = ground(random, size);
    world.add(Body::fixed().shape_at(shape, pose).friction(0.5).restitution(0.7)).unwrap();
    if random.below(2) == 0 {
        let shape = match random.below(2) {
            0 => TriMesh::torus(1.5 * size, 0.2 * size, 9, 5).unwrap().into(),
            _ => compound(random, 1.5 * size),
        };
        let start = Pose::new(DVec3::Z * (4.5 * size), random.unit_quat());
        let velocity = Motion::new(random.vec3(speed / size), random.vec3(0.1 * speed));
        let turning = Body::scripted(Screw { start, velocity });
        world.add(turning.shape(shape).friction(0.3).restitution(0.8)).unwrap();
    }
    for _ in 0..3 {
        let body = free(random, size, speed);
        for _ in 0..30 {
            let at = DVec3::new(random.range(-2.0, 2.0), random.range(-2.0, 2.0), random.range(2.5, 6.0));
            let id = world.add(body.clone().at(at * size)).unwrap();
            if smallest_separation(&world) > 1e-3 * size {
                break;
            }
            world.remove(id).unwrap();
        }
    }
    world
}

#[test]
fn soak_nothing_passes_through_concave_shapes() {
    let mut met = 0;
    for seed in 0..soak::cases(SCENES) {
        let mut random = soak::random(1000 + seed);
        // 1 mm to 100 m.
        let size = ops::exp(random.range(ops::ln(1e-3), ops::ln(1e2)));
        let mut world = scene(&mut random, size);
        let mut params = EventDrivenParams::for_size(size);
        if seed % 2 == 0 {
            params.contact_handling = ContactHandling::Improved;
        } else {
            params.contact_handling = ContactHandling::Standard;
        }
        params.window = 0.15 * (size / 9.81).sqrt();
        let mut stepper = EventDriven::with(parts(), params);
        // In this time nothing here moves by a fifth of itself.
        let moment = 0.015 * (size / 9.81).sqrt();
        for k in 0..MOMENTS {
            let report = stepper
                .advance(&mut world, moment)
                .unwrap_or_else(|error| panic!("scene {seed}, size {size} m, moment {k}: {error}"));
            met += report.collisions;
            let least = smallest_separation(&world);
            assert!(least > -1e-9 * size, "scene {seed}, size {size} m, moment {k}: {least} m apart");
        }
    }
    assert!(met > 2 * SCENES, "{met} impacts");
}
