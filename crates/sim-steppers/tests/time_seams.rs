//! Sliders of every shape cross the seams of flush colliders without noticing, and walls still stop them.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use collision_narrowphase::{
    Polyhedron, compound::Compound, height_field::HeightField, mesh::TriMesh, shapes::Ellipsoid,
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec2, DVec3},
    testkit::SplitMix64,
};
use sim_steppers::TimeStepping;
use sim_traits::{BodyId, Capsule, Cuboid, Cylinder, Shape, Sphere};
use sim_world::{Body, Stepper, World};
use timed::{G, brick, cone, earth, soft};

const TILE: f64 = 0.5;

/// Half extents of a plank.
const PLANK: DVec3 = DVec3::new(0.5 * TILE, 3.0, 0.1);

/// Planks of half a metre, tops at z = 0, so many to each side of the middle.
fn planks(n: i32) -> Vec<(Shape, Pose)> {
    let at = |x| Pose::from_translation(DVec3::new(f64::from(x) * TILE, 0.0, -0.1));
    (-n..=n).map(|x| (Cuboid::new(PLANK).unwrap().into(), at(x))).collect()
}

const FLOORS: [&str; 9] = [
    "bodies",
    "colliders",
    "compound",
    "mesh",
    "field",
    "hulls",
    "tiles as bodies",
    "tiles as colliders",
    "tiles as a compound",
];

/// Square tiles, four of which meet at each corner.
fn tiles(n: i32) -> Vec<(Shape, Pose)> {
    let tile = DVec3::new(0.5 * TILE, 0.5 * TILE, 0.1);
    let at = |x: i32, y: i32| DVec3::new(f64::from(x) * TILE, f64::from(y) * TILE, -0.1);
    let places = (-n..=n).flat_map(|x| (-n..=n).map(move |y| at(x, y)));
    places.map(|at| (Cuboid::new(tile).unwrap().into(), Pose::from_translation(at))).collect()
}

fn add_floor(world: &mut World, kind: &str) {
    let parts = if kind.starts_with("tiles") { tiles(4) } else { planks(5) };
    match kind {
        "bodies" | "hulls" | "tiles as bodies" => {
            for (shape, pose) in parts {
                let shape = if kind == "hulls" { Polyhedron::cuboid(PLANK).unwrap().into() } else { shape };
                world.add(Body::fixed().shape(shape).pose(pose).friction(0.0)).unwrap();
            }
        }
        "colliders" | "tiles as colliders" => {
            let all = parts.into_iter();
            let body = all.fold(Body::fixed(), |body, (shape, pose)| body.shape_at(shape, pose));
            world.add(body.friction(0.0)).unwrap();
        }
        "compound" | "tiles as a compound" => {
            let floor = Compound::new(parts).unwrap();
            world.add(Body::fixed().shape(floor).friction(0.0)).unwrap();
        }
        "mesh" => {
            let floor = TriMesh::terrain(11, TILE, |_, _| 0.0).unwrap();
            world.add(Body::fixed().shape(floor).friction(0.0)).unwrap();
        }
        _ => {
            let floor = HeightField::new(12, 12, DVec2::splat(TILE), vec![0.0; 144], 0.5).unwrap();
            let at = DVec3::new(-5.5 * TILE, -5.5 * TILE, 0.0);
            world.add(Body::fixed().shape(floor).at(at).friction(0.0)).unwrap();
        }
    }
}

/// Name, shape, how it lies, height of its centre.
fn sliders() -> Vec<(&'static str, Shape, DQuat, f64)> {
    let lying = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    vec![
        ("box", Cuboid::new(DVec3::new(0.2, 0.1, 0.05)).unwrap().into(), DQuat::IDENTITY, 0.05),
        ("ball", Sphere::new(0.1).unwrap().into(), DQuat::IDENTITY, 0.1),
        ("capsule", Capsule::new(0.1, 0.2).unwrap().into(), lying, 0.0),
        ("cylinder", Cylinder::new(0.1, 0.05).unwrap().into(), DQuat::IDENTITY, 0.05),
        ("roller", Cylinder::new(0.1, 0.15).unwrap().into(), lying, 0.1),
        ("hull", Polyhedron::tube(0.15, 0.1, 7).unwrap().into(), DQuat::IDENTITY, 0.1),
        ("ellipsoid", Ellipsoid::new(DVec3::new(0.2, 0.15, 0.1)).unwrap().into(), DQuat::IDENTITY, 0.1),
    ]
}

/// The slider starts at a place with a heading; what its velocity and height have lost at most in a run.
fn loss(
    stepper: &mut TimeStepping,
    floor: &str,
    slider: &(&str, Shape, DQuat, f64),
    place: [f64; 3],
    speed: f64,
) -> [f64; 2] {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    add_floor(&mut world, floor);
    let (_, shape, lying, height) = slider;
    let height = if let Shape::Capsule(c) = shape { c.radius() } else { *height };
    let [x, y, heading] = place;
    let velocity = DQuat::from_rotation_z(heading) * DVec3::X * speed;
    let turn = DQuat::from_rotation_z(1.7 * heading) * *lying;
    let body = Body::free().shape(shape.clone()).friction(0.0).at([x, y, height]).turned(turn);
    let body: BodyId = world.add(body.moving(velocity)).unwrap();
    let mut worst = [0.0_f64; 2];
    for _ in 0..(60.0 * (1.2 / speed)) as u32 {
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        let now = world[body].velocity().linear.with_z(0.0);
        worst[0] = worst[0].max((now - velocity).length() / speed);
        worst[1] = worst[1].max((world[body].position().z - height).abs());
    }
    worst
}

fn check(stepper: impl Fn() -> TimeStepping, limits: [f64; 2]) {
    let mut random = SplitMix64(19);
    let mut failures = Vec::new();
    for floor in FLOORS {
        for slider in &sliders() {
            for speed in [0.3, 2.0, 9.0] {
                let mut worst = [0.0_f64; 2];
                for _ in 0..6 {
                    let place = [random.range(-0.5, 0.5), random.range(-0.5, 0.5), random.range(0.0, 6.0)];
                    let place = if random.below(2) == 0 { place } else { [place[0], place[1], 0.0] };
                    let found = loss(&mut stepper(), floor, slider, place, speed);
                    worst = [worst[0].max(found[0]), worst[1].max(found[1])];
                }
                if worst[0] > limits[0] || worst[1] > limits[1] {
                    failures.push(format!(
                        "{floor}, {}, {speed} m/s: {:.1e}, {:.1e} m",
                        slider.0, worst[0], worst[1]
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "speed lost, bump:\n{}", failures.join("\n"));
}

#[test]
fn exact_sliders_keep_their_speed_over_seams() {
    check(|| cone(|_| {}), [1e-9, 1e-6]);
}

#[test]
fn soft_sliders_keep_their_speed_over_seams() {
    check(|| soft(|_| {}), [1e-3, 2e-3]);
}

/// How fast a box still is, and where, after it slid towards something of a height on the floor, 1 m away.
fn slid_against(mut stepper: TimeStepping, height: f64) -> [f64; 2] {
    let mut world = earth(0.0, 0.0);
    let wall: Shape = Cuboid::new(DVec3::new(0.1, 1.0, 0.5)).unwrap().into();
    let at = DVec3::new(1.0, 0.0, height - 0.5);
    world.add(Body::fixed().shape(wall).friction(0.0).at(at)).unwrap();
    let slider = brick(0.1, 0.1, 0.1, 0.0).at([0.0, 0.0, 0.1]).moving([1.0, 0.0, 0.0]);
    let slider = world.add(slider).unwrap();
    stepper.advance(&mut world, 1.5).unwrap();
    [world[slider].velocity().linear.x, world[slider].position().x]
}

#[test]
fn walls_and_steps_still_stop_what_slides() {
    // It stumbles over a step, however low, and is stopped by a wall.
    for height in [1e-5, 1e-3, 0.01] {
        let [speed, _] = slid_against(cone(|_| {}), height);
        assert!(speed < 0.5, "exact, {height} m: {speed} m/s");
    }
    let [speed, x] = slid_against(cone(|_| {}), 0.5);
    assert!(speed.abs() < 1e-9 && (x - 0.8).abs() < 1e-6, "exact: {speed} m/s at {x}");
    let [speed, x] = slid_against(soft(|_| {}), 0.5);
    assert!(speed < 0.1 && x < 0.802, "soft: {speed} m/s at {x}");
}
