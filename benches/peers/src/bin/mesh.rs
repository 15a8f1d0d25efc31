//! Meshes and compounds through ours and through parry3d-f64, in one run on one machine: nanoseconds per query.
//!
//! `cargo run --release --bin mesh [FILTER]` in this folder prints a table. Both sides take turns, and the
//! fastest run of each slice of 64 queries counts.

use collision_narrowphase::{Composite, Polyhedron, compound::Compound, mesh::TriMesh, polyhedron::torus};
use parry3d_f64::{
    math::{Pose as ParryPose, Rotation, Vector},
    query::{self, ContactManifold, PersistentQueryDispatcher, RayCast},
    shape::{self, SharedShape},
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{Capsule, Cuboid, NarrowPhase, PairCache, Ray, Serial, Shape, Sphere};
use std::{hint::black_box, ops::Range};
use tumblestone_peers::least;

const QUERIES: usize = 2048;
/// Queries that are timed together.
const SLICE: usize = 64;

fn vector(v: DVec3) -> Vector {
    [v.x, v.y, v.z].into()
}

fn to_parry(pose: &Pose) -> ParryPose {
    let q = pose.rotation;
    ParryPose::from_parts(vector(pose.translation), Rotation::from_xyzw(q.x, q.y, q.z, q.w))
}

fn parry_mesh(mesh: &TriMesh) -> shape::TriMesh {
    shape::TriMesh::new(mesh.points().iter().map(|p| vector(*p)).collect(), mesh.triangles().to_vec())
        .expect("parry mesh")
}

fn row(
    filter: &str,
    name: &str,
    mut ours: impl FnMut(Range<usize>) -> f64,
    mut theirs: impl FnMut(Range<usize>) -> f64,
) {
    if !name.contains(filter) {
        return;
    }
    let [(mine, sum), (peer, peer_sum)] = least(QUERIES, SLICE, [&mut ours, &mut theirs]);
    println!("| {name} | {mine:.0} | {peer:.0} | {:.2} | {sum:.6} {peer_sum:.6} |", peer / mine);
}

fn rays(filter: &str) {
    // 99 856 triangles.
    let mesh = TriMesh::torus(1.0, 0.4, 316, 158).expect("torus");
    let parry = parry_mesh(&mesh);
    let mut random = SplitMix64(1);
    let mut make = |spread: f64| -> Vec<Ray> {
        (0..QUERIES)
            .map(|_| {
                let origin = 3.0 * random.unit_vec3();
                let target = random.vec3(spread);
                Ray { origin, direction: (target - origin).normalize(), t_max: f64::INFINITY }
            })
            .collect()
    };
    for (name, rays) in [("ray, 100k triangles", make(1.0)), ("ray past, 100k triangles", make(3.0))] {
        let parry_rays: Vec<query::Ray> =
            rays.iter().map(|r| query::Ray::new(vector(r.origin), vector(r.direction))).collect();
        row(
            filter,
            name,
            |r| rays[r].iter().filter_map(|r| black_box(&mesh).ray_cast(r).ok().flatten()).map(|h| h.t).sum(),
            |r| {
                parry_rays[r]
                    .iter()
                    .filter_map(|r| black_box(&parry).cast_local_ray_and_get_normal(r, f64::MAX, false))
                    .map(|h| h.time_of_impact)
                    .sum()
            },
        );
        let mut hits = vec![None; rays.len()];
        row(
            filter,
            &format!("{name}, batch"),
            |r| {
                let hits = &mut hits[r.clone()];
                let _ = black_box(&mesh).ray_cast_batch(&rays[r], hits, &Serial);
                hits.iter().flatten().map(|h| h.t).sum()
            },
            |r| {
                parry_rays[r]
                    .iter()
                    .filter_map(|r| black_box(&parry).cast_local_ray(r, f64::MAX, false))
                    .sum()
            },
        );
    }
    let points: Vec<DVec3> = (0..QUERIES).map(|_| random.vec3(1.5)).collect();
    row(
        filter,
        "closest point, 100k triangles",
        |r| {
            points[r]
                .iter()
                .filter_map(|p| black_box(&mesh).closest_point(*p, f64::INFINITY))
                .map(|p| p.distance)
                .sum()
        },
        |r| {
            use parry3d_f64::query::PointQuery;
            points[r].iter().map(|p| black_box(&parry).distance_to_local_point(vector(*p), false)).sum()
        },
    );
}

fn contacts(filter: &str) {
    let mesh = TriMesh::terrain(224, 0.1, |x, y| 0.05 * (3.0 * x).sin() * (2.0 * y).cos()).expect("terrain");
    let parry = parry_mesh(&mesh);
    let floor = Shape::from(mesh);
    let hull = Polyhedron::fibonacci(0.15, 20).expect("hull");
    let corners: Vec<Vector> = hull.vertices().iter().map(|v| vector(v.position)).collect();
    let shapes: [(&str, Shape, SharedShape); 4] = [
        ("sphere", Sphere::new(0.15).expect("sphere").into(), SharedShape::ball(0.15)),
        ("capsule", Capsule::new(0.1, 0.1).expect("capsule").into(), SharedShape::capsule_z(0.1, 0.1)),
        ("box", Cuboid::new(DVec3::splat(0.1)).expect("box").into(), SharedShape::cuboid(0.1, 0.1, 0.1)),
        ("hull of 20", hull.into(), SharedShape::convex_hull(&corners).expect("hull")),
    ];
    let mut random = SplitMix64(2);
    for (name, shape, parry_shape) in &shapes {
        // Resting on the ground, sunk in a little, moving slowly about: what a simulation asks for.
        let turn = random.unit_quat();
        let poses: Vec<Pose> = (0..QUERIES)
            .map(|k| {
                let (x, y) = (8.0 * (0.0007 * k as f64).sin(), 8.0 * (0.0011 * k as f64).cos());
                let rotation = turn * DQuat::from_rotation_z(0.002 * k as f64);
                let low =
                    (rotation * shape.support(rotation.inverse() * DVec3::NEG_Z).unwrap_or(DVec3::ZERO)).z;
                let z = 0.05 * (3.0 * x).sin() * (2.0 * y).cos() - low - 0.002;
                Pose::new(DVec3::new(x, y, z), rotation)
            })
            .collect();
        let parry_poses: Vec<ParryPose> = poses.iter().map(to_parry).collect();
        let inverses: Vec<Pose> = poses.iter().map(Pose::inverse).collect();
        let mut out = Vec::new();
        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
        let mut workspace = None;
        row(
            filter,
            &format!("mesh contact, {name}"),
            |r| {
                let mut sum = 0.0;
                for p in &inverses[r] {
                    out.clear();
                    let _ = Composite.manifolds(
                        shape,
                        black_box(&floor),
                        p,
                        0.01,
                        &mut PairCache::default(),
                        &mut out,
                    );
                    sum += f64::from(u8::from(!out.is_empty()));
                }
                sum
            },
            |r| {
                let mut sum = 0.0;
                for p in &parry_poses[r] {
                    let _ = query::DefaultQueryDispatcher.contact_manifolds(
                        p,
                        black_box(&parry),
                        &**parry_shape,
                        0.01,
                        &mut manifolds,
                        &mut workspace,
                    );
                    sum += f64::from(u8::from(manifolds.iter().any(|m| !m.points.is_empty())));
                }
                sum
            },
        );
    }
    // Distance of a box well above the ground.
    let shape = &shapes[2];
    let poses: Vec<Pose> = (0..QUERIES)
        .map(|_| {
            Pose::new(
                DVec3::new(random.range(-9.0, 9.0), random.range(-9.0, 9.0), random.range(0.3, 1.0)),
                random.unit_quat(),
            )
        })
        .collect();
    let parry_poses: Vec<ParryPose> = poses.iter().map(to_parry).collect();
    let inverses: Vec<Pose> = poses.iter().map(Pose::inverse).collect();
    row(
        filter,
        "mesh distance, box",
        |r| {
            inverses[r]
                .iter()
                .filter_map(|p| {
                    Composite.separation(&shape.1, black_box(&floor), p, &mut PairCache::default()).ok()
                })
                .map(|s| s.distance)
                .sum()
        },
        |r| {
            parry_poses[r]
                .iter()
                .filter_map(|p| query::distance(&ParryPose::identity(), black_box(&parry), p, &*shape.2).ok())
                .map(|d| d.distance)
                .sum()
        },
    );
}

fn compounds(filter: &str) {
    let wedges = torus(1.0, 0.25, 16, 8).expect("torus");
    let parry = shape::Compound::new(
        wedges
            .iter()
            .map(|w| {
                let points: Vec<Vector> = w.vertices().iter().map(|v| vector(v.position)).collect();
                (ParryPose::identity(), SharedShape::convex_hull(&points).expect("hull"))
            })
            .collect(),
    );
    let ours = Shape::from(
        Compound::new(wedges.into_iter().map(|w| (w.into(), Pose::IDENTITY)).collect()).expect("compound"),
    );
    let mut random = SplitMix64(3);
    let far: Vec<Pose> = (0..QUERIES)
        .map(|_| Pose::new(random.range(2.6, 4.0) * random.unit_vec3(), random.unit_quat()))
        .collect();
    let coherent: Vec<Pose> = (0..QUERIES)
        .map(|k| {
            let b = 0.005 * k as f64;
            let center = 2.7 * DVec3::new(b.cos(), 0.8 * b.sin(), 0.6 * b.sin());
            Pose::new(center, DQuat::from_scaled_axis(DVec3::new(1.0, 2.0, 3.0) * 0.003 * k as f64))
        })
        .collect();
    for (name, poses) in [("compound distance, random", far), ("compound distance, coherent", coherent)] {
        let parry_poses: Vec<ParryPose> = poses.iter().map(to_parry).collect();
        let mut cache = PairCache::default();
        row(
            filter,
            name,
            |r| {
                let mut sum = 0.0;
                for p in &poses[r] {
                    if name.ends_with("random") {
                        cache = PairCache::default();
                    }
                    sum += Composite
                        .separation(black_box(&ours), &ours, p, &mut cache)
                        .map_or(0.0, |s| s.distance);
                }
                sum
            },
            |r| {
                parry_poses[r]
                    .iter()
                    .filter_map(|p| {
                        query::distance(&ParryPose::identity(), black_box(&parry), p, &parry).ok()
                    })
                    .map(|d| d.distance)
                    .sum()
            },
        );
    }
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    println!("| query | ours ns | parry ns | ratio | sums |\n|---|---|---|---|---|");
    rays(&filter);
    contacts(&filter);
    compounds(&filter);
}
