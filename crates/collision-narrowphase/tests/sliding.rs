//! Contacts under motion: a tiny time stepper without friction shows that inner edges do not catch, and that a
//! tessellated ball moves like a ball.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{Polyhedron, default_chain, height_field::HeightField, mesh::TriMesh};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec2, DVec3},
};
use sim_traits::{Chain, Cuboid, HalfSpace, Manifold, NarrowPhase, PairCache, Shape, Sphere};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// A body of unit mass.
#[derive(Debug, Clone)]
struct Body {
    shape: Shape,
    pose: Pose,
    velocity: DVec3,
    spin: DVec3,
    /// Principal inertia per mass, m².
    inertia: DVec3,
}

/// Impulses p ≥ 0 with K p ≥ lack and no impulse where there is more: by trying all sets of contacts, small ones first.
fn solve(n: usize, k: &dyn Fn(usize, usize) -> f64, lack: &[f64]) -> Vec<f64> {
    assert!(n <= 8, "{n} contacts");
    let mut sets: Vec<u32> = (0..1 << n).collect();
    sets.sort_by_key(|s| s.count_ones());
    for set in sets {
        let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let mut m: Vec<Vec<f64>> =
            active.iter().map(|i| active.iter().map(|j| k(*i, *j)).chain([lack[*i]]).collect()).collect();
        let Some(x) = eliminate(&mut m) else { continue };
        let mut p = vec![0.0; n];
        for (i, v) in active.iter().zip(&x) {
            p[*i] = *v;
        }
        let enough = (0..n).all(|i| (0..n).map(|j| k(i, j) * p[j]).sum::<f64>() >= lack[i] - 1e-12);
        if x.iter().all(|v| *v >= 0.0) && enough {
            return p;
        }
    }
    panic!("no solution: {lack:?}");
}

/// Gauss with pivots on a matrix with the right side as last column; `None` if it is singular.
fn eliminate(m: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let n = m.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|a, b| m[*a][c].abs().total_cmp(&m[*b][c].abs()))?;
        m.swap(c, pivot);
        if m[c][c].abs() < 1e-9 {
            return None;
        }
        for r in 0..n {
            if r != c {
                let f = m[r][c] / m[c][c];
                let pivot = m[c].clone();
                m[r].iter_mut().zip(&pivot).skip(c).for_each(|(x, p)| *x -= f * p);
            }
        }
    }
    Some((0..n).map(|r| m[r][n] / m[r][r]).collect())
}

/// Normal impulses, all contacts at once: a contact may close its gap but not more.
fn step(body: &mut Body, floor: &Shape, chain: &Chain, margin: f64, dt: f64, contacts: &mut Vec<Manifold>) {
    body.velocity += dt * GRAVITY;
    contacts.clear();
    let a_from_b = body.pose.inverse();
    chain.manifolds(&body.shape, floor, &a_from_b, margin, &mut PairCache::default(), contacts).unwrap();
    let r = body.pose.rotation_matrix();
    let inverse_inertia = r * DMat3::from_diagonal(body.inertia.recip()) * r.transpose();
    let rows: Vec<(DVec3, DVec3, f64)> = contacts
        .iter()
        .flat_map(|m| m.points().iter().map(|p| (m.normal, *p)))
        .map(|(n, p)| (r * n, r * p.point_a, p.separation))
        .collect();
    let torques: Vec<DVec3> = rows.iter().map(|(n, arm, _)| arm.cross(*n)).collect();
    let coupling =
        |i: usize, j: usize| rows[i].0.dot(rows[j].0) + torques[i].dot(inverse_inertia * torques[j]);
    let lack: Vec<f64> = (0..rows.len())
        .map(|k| -rows[k].2.max(0.0) / dt - rows[k].0.dot(body.velocity) - torques[k].dot(body.spin))
        .collect();
    for (k, p) in solve(rows.len(), &coupling, &lack).into_iter().enumerate() {
        body.velocity += p * rows[k].0;
        body.spin += inverse_inertia * (p * torques[k]);
    }
    body.pose.translation += dt * body.velocity;
    body.pose.rotation = (DQuat::from_scaled_axis(dt * body.spin) * body.pose.rotation).normalize();
}

#[test]
fn bodies_slide_over_a_tessellated_floor_without_catching() {
    let chain = default_chain();
    let floors: [Shape; 3] = [
        TriMesh::terrain(60, 0.17, |_, _| 0.0).unwrap().into(),
        HeightField::new(61, 61, DVec2::splat(0.17), vec![0.0; 3721], 1.0).unwrap().into(),
        slab(40, 0.25).into(),
    ];
    let bodies: [(Shape, f64, DVec3); 3] = [
        (Sphere::new(0.3).unwrap().into(), 0.3, DVec3::splat(0.4 * 0.09)),
        (Cuboid::new(DVec3::new(0.3, 0.2, 0.1)).unwrap().into(), 0.1, DVec3::new(0.05, 0.1, 0.13) / 3.0),
        (
            Polyhedron::cuboid(DVec3::new(0.25, 0.25, 0.1)).unwrap().into(),
            0.1,
            DVec3::new(0.0725, 0.0725, 0.125) / 3.0,
        ),
    ];
    for floor in &floors {
        for (shape, height, inertia) in &bodies {
            for turn in [0.0, 0.4] {
                let start =
                    if floor.name() == "height field" { DVec3::new(2.0, 2.0, 0.0) } else { DVec3::ZERO };
                let velocity = DVec3::new(1.3, 0.7, 0.0);
                let mut body = Body {
                    shape: shape.clone(),
                    pose: Pose::new(start + DVec3::new(-1.0, -0.6, *height), DQuat::from_rotation_z(turn)),
                    velocity,
                    spin: DVec3::ZERO,
                    inertia: *inertia,
                };
                let mut contacts = Vec::new();
                for _ in 0..480 {
                    step(&mut body, floor, &chain, 0.01, 1.0 / 240.0, &mut contacts);
                    assert_eq!(contacts.len(), 1, "{} {} {contacts:?}", floor.name(), shape.name());
                    assert!(contacts[0].points().len() <= 4);
                    let drift = (body.velocity - velocity).length();
                    assert!(drift < 1e-9, "{} {}: {drift}", floor.name(), shape.name());
                    assert!(body.spin.length() < 1e-9, "{}", body.spin);
                }
                let way = body.pose.translation - start - DVec3::new(-1.0, -0.6, *height);
                assert!((way - 2.0 * velocity).length() < 1e-8, "{way}");
            }
        }
    }
}

/// A closed box whose top is cut into squares.
fn slab(cells: u32, pitch: f64) -> TriMesh {
    let top = TriMesh::terrain(cells, pitch, |_, _| 0.0).unwrap();
    let (mut points, mut triangles) = (top.points().to_vec(), top.triangles().to_vec());
    let n = points.len() as u32;
    points.extend(top.points().iter().map(|p| *p - DVec3::Z));
    triangles.extend(top.triangles().iter().map(|t| [t[0] + n, t[2] + n, t[1] + n]));
    for (t, corners) in (0..).zip(top.triangles()) {
        for (k, across) in top.neighbours(t).into_iter().enumerate() {
            if across == u32::MAX {
                let (p, q) = (corners[k], corners[(k + 1) % 3]);
                triangles.extend([[q, p, p + n], [q, p + n, q + n]]);
            }
        }
    }
    TriMesh::closed(&points, &triangles).unwrap()
}

// proves: CLI-78
#[test]
fn a_ball_of_ten_thousand_facets_moves_like_a_ball() {
    let chain = default_chain();
    let hull = Polyhedron::fibonacci(1.0, 5002).unwrap();
    let mesh = TriMesh::from_polyhedron(&hull).unwrap();
    assert!(mesh.triangles().len() >= 10_000);
    // Stand it on the facet whose middle is nearest to the foot of the centre.
    let mut best = (0, f64::INFINITY);
    for t in 0..mesh.triangles().len() as u32 {
        let [a, b, c] = mesh.triangle(t);
        let n = mesh.normal(t);
        let off = ((a + b + c) / 3.0 - n * n.dot(a)).length();
        if off < best.1 {
            best = (t, off);
        }
    }
    let n = mesh.normal(best.0);
    let radius = n.dot(mesh.triangle(best.0)[0]);
    let stand = DQuat::from_rotation_arc(n, DVec3::NEG_Z);
    let floors: [Shape; 2] = [HalfSpace::up().into(), TriMesh::terrain(40, 0.25, |_, _| 0.0).unwrap().into()];
    for floor in &floors {
        for margin in [1e-3, 0.01, 0.05] {
            let start = |shape: Shape| Body {
                shape,
                pose: Pose::new(DVec3::new(-0.7, 0.1, radius + 0.05), stand),
                velocity: DVec3::new(1.1, 0.4, 0.0),
                spin: DVec3::ZERO,
                inertia: DVec3::splat(0.4),
            };
            let mut ball = start(Sphere::new(radius).unwrap().into());
            // A mesh against a mesh is not a pair we know: on the mesh floor the ball is the polyhedron.
            let mut bodies = vec![start(hull.clone().into())];
            if matches!(floor, Shape::HalfSpace(_)) {
                bodies.push(start(mesh.clone().into()));
            }
            let mut contacts = Vec::new();
            for _ in 0..240 {
                step(&mut ball, floor, &chain, margin, 1.0 / 240.0, &mut contacts);
                for body in &mut bodies {
                    step(body, floor, &chain, margin, 1.0 / 240.0, &mut contacts);
                    let count: usize = contacts.iter().map(|m| m.points().len()).sum();
                    assert!(count <= 4, "{count}");
                    let off = (body.pose.translation - ball.pose.translation).length();
                    assert!(off < 1e-6, "{} on {}, margin {margin}: {off}", body.shape.name(), floor.name());
                    assert!((body.velocity - ball.velocity).length() < 1e-6, "{}", body.velocity);
                    assert!(body.spin.length() < 1e-6, "{} {}", body.spin, body.shape.name());
                }
            }
            assert!(ball.pose.translation.z < radius + 1e-6, "it has landed");
        }
    }
}
