//! W2 through our V-Clip and through parry3d-f64, in one run on one machine: nanoseconds per query.
//!
//! `cargo run --release` in this folder prints a table. Both sides take turns, and the fastest run of each slice of 256
//! queries counts, which other work on the machine disturbs least.

use collision_narrowphase::{
    Polyhedron, default_chain, pairs::cuboid_cuboid::cuboid_cuboid_manifold, vclip::vclip,
};
use parry3d_f64::{
    math::Pose as ParryPose,
    query::{self, ContactManifold, PersistentQueryDispatcher},
    shape::{ConvexPolyhedron, Cuboid as ParryCuboid, SharedShape},
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{Cuboid, Cylinder, NarrowPhase, PairCache, Shape, Sphere};
use std::{hint::black_box, ops::Range};
use tumblestone_peers::least;

const POSES: usize = 4096;

/// Queries that are timed together.
const SLICE: usize = 256;

fn hull(n: usize) -> Polyhedron {
    match n {
        8 => Polyhedron::cuboid(DVec3::splat(1.0 / 3.0_f64.sqrt())),
        20 => Polyhedron::dodecahedron(1.0),
        _ => Polyhedron::fibonacci(1.0, n),
    }
    .expect("workload hull")
}

fn coherent() -> Vec<Pose> {
    let axis = DVec3::new(1.0, 2.0, 3.0) / 14.0_f64.sqrt();
    (0..POSES)
        .map(|k| {
            let b = 0.005 * k as f64;
            let center = 2.2 * DVec3::new(b.cos(), 0.8 * b.sin(), 0.6 * b.sin());
            Pose::new(center, DQuat::from_axis_angle(axis, 0.01 * k as f64))
        })
        .collect()
}

fn random() -> Vec<Pose> {
    let mut random = SplitMix64(7);
    (0..POSES).map(|_| Pose::new(random.range(2.05, 4.0) * random.unit_vec3(), random.unit_quat())).collect()
}

fn to_parry(pose: &Pose) -> ParryPose {
    let (t, q) = (pose.translation, pose.rotation);
    ParryPose::from_parts([t.x, t.y, t.z].into(), parry3d_f64::math::Rotation::from_xyzw(q.x, q.y, q.z, q.w))
}

fn main() {
    println!(
        "| vertices | poses | V-Clip ns | parry ns | ratio | sums of distances |\n|---|---|---|---|---|---|"
    );
    for n in [8, 20, 100, 500, 2000] {
        let ours = hull(n);
        let points: Vec<_> =
            ours.vertices().iter().map(|v| [v.position.x, v.position.y, v.position.z].into()).collect();
        let theirs = ConvexPolyhedron::from_convex_hull(&points).expect("parry hull");
        for (name, poses) in [("coherent", coherent()), ("random", random())] {
            let parry_poses: Vec<_> = poses.iter().map(to_parry).collect();
            let mut cache = PairCache::default();
            let mut ours_in = |r: Range<usize>| {
                let mut sum = 0.0;
                for pose in &poses[r] {
                    if name == "random" {
                        cache = PairCache::default();
                    }
                    sum += vclip(black_box(&ours), &ours, pose, &mut cache)
                        .map_or(0.0, |c| c.separation.distance);
                }
                sum
            };
            let identity = ParryPose::identity();
            let mut theirs_in = |r: Range<usize>| {
                parry_poses[r]
                    .iter()
                    .map(|p| {
                        query::distance(&identity, black_box(&theirs), p, &theirs)
                            .map_or(0.0, f64::from_distance)
                    })
                    .sum()
            };
            let [(mine, sum), (peer, peer_sum)] = least(POSES, SLICE, [&mut ours_in, &mut theirs_in]);
            println!(
                "| {n} | {name} | {mine:.0} | {peer:.0} | {:.1} | {sum:.9} {peer_sum:.9} |",
                peer / mine
            );
        }
    }
    boxes();
    primitives();
}

/// What a parry distance is called differs between versions; the number does not.
trait FromDistance {
    fn from_distance(d: query::ShapeDistance) -> f64;
}

impl FromDistance for f64 {
    fn from_distance(d: query::ShapeDistance) -> f64 {
        d.distance
    }
}

fn boxes() {
    let pose = |k: usize| Pose::new(DVec3::new(0.1, 0.05, 0.999), DQuat::from_rotation_z(0.01 * k as f64));
    let poses: Vec<Pose> = (0..POSES).map(pose).collect();
    let cube = Cuboid::new(DVec3::splat(0.5)).expect("cube");
    let mut ours = |r: Range<usize>| {
        poses[r]
            .iter()
            .map(|p| {
                cuboid_cuboid_manifold(black_box(&cube), &cube, p, 0.02)
                    .map_or(0.0, |m| m.points().len() as f64)
            })
            .sum()
    };
    let parry_cube = ParryCuboid::new([0.5, 0.5, 0.5].into());
    let parry_poses: Vec<_> = poses.iter().map(to_parry).collect();
    let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
    let mut workspace = None;
    let mut theirs = |r: Range<usize>| {
        let mut sum = 0.0;
        for p in &parry_poses[r] {
            let dispatcher = query::DefaultQueryDispatcher;
            let _ = dispatcher.contact_manifolds(
                p,
                black_box(&parry_cube),
                &parry_cube,
                0.02,
                &mut manifolds,
                &mut workspace,
            );
            sum += manifolds.first().map_or(0.0, |m| m.points.len() as f64);
        }
        sum
    };
    let [(mine, points), (peer, peer_points)] = least(POSES, SLICE, [&mut ours, &mut theirs]);
    println!("\nbox-box manifold: ours {mine:.0} ns, parry {peer:.0} ns; points {points} {peer_points}");
}

/// Distances of simple shapes through the default narrow phase, on the coherent stream.
fn primitives() {
    let narrow = default_chain();
    let poses = coherent();
    // Parry's cylinders stand along y.
    let upright = Pose::new(DVec3::ZERO, DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2));
    let cuboid = (
        Shape::from(Cuboid::new(DVec3::new(0.3, 0.5, 0.7)).expect("box")),
        SharedShape::cuboid(0.3, 0.5, 0.7),
        Pose::IDENTITY,
    );
    let cylinder =
        (Shape::from(Cylinder::new(0.5, 0.7).expect("cylinder")), SharedShape::cylinder(0.7, 0.5), upright);
    let ball = (Shape::from(Sphere::new(0.5).expect("ball")), SharedShape::ball(0.5), Pose::IDENTITY);
    println!("\n| pair | default ns | parry ns | ratio | sums of distances |\n|---|---|---|---|---|");
    for (name, a, b) in [
        ("box, box", &cuboid, &cuboid),
        ("box, cylinder", &cuboid, &cylinder),
        ("cylinder, cylinder", &cylinder, &cylinder),
        ("ball, cylinder", &ball, &cylinder),
    ] {
        let first = to_parry(&a.2);
        let parry_poses: Vec<_> = poses.iter().map(|p| to_parry(&(*p * b.2))).collect();
        let mut cache = PairCache::default();
        let mut ours = |r: Range<usize>| {
            let mut sum = 0.0;
            for p in &poses[r] {
                sum += narrow.separation(black_box(&a.0), &b.0, p, &mut cache).map_or(0.0, |s| s.distance);
            }
            sum
        };
        let mut theirs = |r: Range<usize>| {
            parry_poses[r]
                .iter()
                .map(|p| query::distance(&first, black_box(&*a.1), p, &*b.1).map_or(0.0, f64::from_distance))
                .sum()
        };
        let [(mine, sum), (peer, peer_sum)] = least(POSES, SLICE, [&mut ours, &mut theirs]);
        println!("| {name} | {mine:.0} | {peer:.0} | {:.1} | {sum:.9} {peer_sum:.9} |", peer / mine);
    }
}
