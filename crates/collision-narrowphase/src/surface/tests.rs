use super::*;
use crate::{Polyhedron, mesh::TriMesh, reduce::reduce, shapes::Ellipsoid};
use sim_math::{
    glam::DQuat,
    testkit::{
        SplitMix64, icosphere,
        soak::{cases as soaked, random as seeded},
    },
};
use sim_traits::{Capsule, Cuboid, Cylinder, Sphere};

/// The same mesh without its tree: every triangle is looked at.
struct Scan<'a>(&'a TriMesh);

impl Surface for Scan<'_> {
    fn name(&self) -> &'static str {
        "scan"
    }
    fn visit_box(
        &self,
        _: &Aabb,
        visit: &mut dyn FnMut(u32, &[DVec3; 3]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        (0..self.0.triangles().len() as u32).try_for_each(|t| visit(t, &self.0.triangle(t)))
    }
    fn visit_nearest(
        &self,
        _: &Aabb,
        mut limit: f64,
        visit: &mut dyn FnMut(u32, &[DVec3; 3], f64) -> f64,
    ) -> f64 {
        for t in 0..self.0.triangles().len() as u32 {
            limit = visit(t, &self.0.triangle(t), limit).min(limit);
        }
        limit
    }
    fn all_around(&self, triangle: u32, part: Part, test: &mut dyn FnMut(DVec3) -> bool) -> bool {
        self.0.all_around(triangle, part, test)
    }
    fn is_gentle(&self, triangle: u32) -> bool {
        self.0.is_gentle(triangle)
    }
    fn one_sided(&self) -> bool {
        self.0.one_sided()
    }
    fn way_out(&self, point: DVec3) -> Option<(u32, DVec3, DVec3)> {
        self.0.way_out(point)
    }
}

fn meshes() -> Vec<TriMesh> {
    let (mut star, faces) = icosphere(1);
    for (k, p) in star.iter_mut().enumerate() {
        *p *= if k % 3 == 0 { 0.4 } else { 1.0 };
    }
    let step = |x: f64, y: f64| if x + 0.3 * y > 0.1 { 0.4 } else { 0.0 };
    vec![
        TriMesh::from_polyhedron(&Polyhedron::cuboid(DVec3::new(1.0, 0.7, 0.4)).unwrap()).unwrap(),
        TriMesh::closed(&star, &faces).unwrap(),
        TriMesh::torus(0.8, 0.3, 5, 4).unwrap(),
        TriMesh::terrain(4, 0.6, step).unwrap(),
        TriMesh::terrain(3, 0.6, |_, _| 0.0).unwrap(),
    ]
}

fn shapes() -> Vec<Shape> {
    vec![
        Sphere::new(0.3).unwrap().into(),
        Capsule::new(0.15, 0.4).unwrap().into(),
        Cuboid::new(DVec3::new(0.4, 0.25, 0.15)).unwrap().into(),
        Cylinder::new(0.3, 0.2).unwrap().into(),
        Polyhedron::random(12, 5).map(|p| scaled(&p, 0.35)).unwrap().into(),
        Ellipsoid::new(DVec3::new(0.2, 0.3, 0.4)).unwrap().into(),
    ]
}

fn scaled(p: &Polyhedron, by: f64) -> Polyhedron {
    let points: Vec<DVec3> = p.vertices().iter().map(|v| v.position * by).collect();
    Polyhedron::hull(&points).unwrap()
}

/// A pose of the surface in the shape's frame that brings them near each other, often exactly aligned.
fn pose(mesh: &TriMesh, shape: &Shape, random: &mut SplitMix64) -> Pose {
    let rotation = match random.below(4) {
        0 => DQuat::IDENTITY,
        1 => DQuat::from_rotation_z(random.range(0.0, 6.3)),
        _ => random.unit_quat(),
    };
    let at = if random.below(4) == 0 {
        random.vec3(2.0)
    } else {
        // Near a point of the surface, at a height around that of touching.
        let id = random.below(mesh.triangles().len()) as u32;
        let t = mesh.triangle(id);
        let (u, v) = (random.unit(), random.unit());
        let n = normal_of(&t);
        let local = rotation.inverse() * -n;
        let reach = -n.dot(rotation * shape.support(local).unwrap());
        let gap = [0.0, 1e-12, -1e-12, 1e-3, -1e-3, -0.02, 0.01, 0.3][random.below(8)];
        t[0].lerp(t[1].lerp(t[2], u), v) + n * (reach.abs() + gap)
    };
    Pose::new(at, rotation).inverse()
}

fn contacts(neighbour: &Neighbour<'_>, surface: &impl Surface, margin: f64) -> Vec<Manifold> {
    let mut all = Vec::new();
    neighbour.contacts(surface, margin, &mut |_, m| all.push(m)).unwrap();
    reduce(&mut all, 0, neighbour.size);
    all
}

#[test]
fn soak_contacts_equal_brute_force_over_triangles_on_random_poses() {
    let mut random = seeded(31);
    let (meshes, shapes) = (meshes(), shapes());
    let (mut touching, mut apart) = (0_u64, 0_u64);
    let total = soaked(100_000);
    for round in 0..total {
        let mesh = &meshes[random.below(meshes.len())];
        let shape = &shapes[random.below(shapes.len())];
        let pose = pose(mesh, shape, &mut random);
        let near = Neighbour::new(shape, &pose, mesh).unwrap();
        let margin = [0.0, 0.01, 0.05][random.below(3)];
        let found = contacts(&near, mesh, margin);
        assert_eq!(found, contacts(&near, &Scan(mesh), margin), "{} {pose:?}", shape.name());
        touching += u64::from(!found.is_empty());
        for m in &found {
            assert!((m.normal.length() - 1.0).abs() < 1e-12);
            for p in m.points() {
                assert!(p.separation <= margin + 1e-12);
                assert!(((p.point_a - p.point_b).dot(m.normal) - p.separation).abs() < 1e-9);
            }
        }
        let fast = near.nearest(mesh, f64::INFINITY).unwrap().unwrap();
        apart += u64::from(fast.0.distance > 0.0);
        if round % 4 == 0 {
            let slow = near.nearest(&Scan(mesh), f64::INFINITY).unwrap().unwrap();
            assert!((fast.0.distance - slow.0.distance).abs() < 1e-14, "{} {fast:?} {slow:?}", shape.name());
        }
    }
    assert!(touching > total / 3 && apart > total / 4, "{touching} {apart}");
}

/// Distance of a polyhedron from a triangle by all pairs of features; 0 if they cross.
fn feature_distance(p: &Polyhedron, frame: &Frame, triangle: &[DVec3; 3]) -> f64 {
    let t = triangle.map(|x| frame.point(x));
    let mut least = f64::INFINITY;
    for v in p.vertices() {
        least = least.min((closest_point(v.position, t).0 - v.position).length());
    }
    for x in t {
        if p.contains(x) {
            return 0.0;
        }
        for f in 0..p.faces().len() as u32 {
            // Distance to a face: its fan of triangles.
            let sides = p.sides(f);
            for k in 1..sides.len() - 1 {
                let fan = [0, k, k + 1].map(|s| p.position(sides[s].corner));
                least = least.min((closest_point(x, fan).0 - x).length());
            }
        }
    }
    for e in 0..p.edges().len() as u32 {
        let [a, b] = p.segment(e);
        for k in 0..3 {
            let (x, y) = crate::closest::segment_segment(a, b, t[k], t[(k + 1) % 3]);
            least = least.min((x - y).length());
        }
        // An edge that pierces the triangle.
        let ray = crate::mesh::triangle::ShearedRay::new(a, b - a, 1e-14);
        if ray.hit(&t, 1.0).is_some() {
            return 0.0;
        }
    }
    // An edge of the triangle that pierces the polyhedron has an end inside or crosses a face.
    for k in 0..3 {
        let ray = sim_traits::Ray { origin: t[k], direction: t[(k + 1) % 3] - t[k], t_max: 1.0 };
        if crate::ray::ray_polyhedron(p, &ray).is_some() {
            return 0.0;
        }
    }
    least
}

#[test]
fn soak_distance_equals_the_least_over_all_pairs_of_features() {
    let mut random = seeded(32);
    let meshes = meshes();
    let solids = [
        Polyhedron::cuboid(DVec3::new(0.4, 0.25, 0.15)).unwrap(),
        scaled(&Polyhedron::random(12, 5).unwrap(), 0.35),
        Polyhedron::tetrahedron(0.4).unwrap(),
    ];
    let mut compared = [0_u64; 2];
    let total = soaked(4000);
    for round in 0..total {
        // Every other mesh is a new one: a ball with random dents.
        let (mut points, faces) = icosphere(1);
        for p in &mut points {
            *p *= random.range(0.3, 1.0);
        }
        let dented = TriMesh::closed(&points, &faces).unwrap();
        let mesh = if round % 2 == 0 { &dented } else { &meshes[random.below(meshes.len())] };
        let solid = &solids[random.below(3)];
        let shape = Shape::from(solid.clone());
        let pose = pose(mesh, &shape, &mut random);
        let near = Neighbour::new(&shape, &pose, mesh).unwrap();
        let expected = (0..mesh.triangles().len() as u32)
            .map(|t| feature_distance(solid, &near.frame, &mesh.triangle(t)))
            .fold(f64::INFINITY, f64::min);
        let found = near.nearest(mesh, f64::INFINITY).unwrap().unwrap().0.distance;
        let inside = mesh.contains(near.frame.point_back(DVec3::ZERO));
        if expected > 1e-9 && !inside {
            compared[0] += 1;
            assert!((found - expected).abs() < 1e-9, "{found} {expected} {pose:?}");
        } else if expected == 0.0 || inside {
            compared[1] += 1;
            assert!(found < 1e-9, "{found} {expected} {pose:?}");
        }
    }
    assert!(compared.iter().all(|c| *c > total / 8), "{compared:?}");
}

#[test]
fn inner_edges_of_a_flat_floor_leave_one_normal() {
    let mut random = seeded(33);
    let floor = TriMesh::terrain(20, 0.1, |_, _| 0.0).unwrap();
    for shape in shapes() {
        for round in 0..2000 {
            let turn =
                if round % 2 == 0 { DQuat::IDENTITY } else { DQuat::from_rotation_z(random.range(0.0, 6.3)) };
            let low = turn * shape.support(turn.inverse() * DVec3::NEG_Z).unwrap();
            let sink = [0.0, 1e-9, 1e-4, -1e-4, -5e-3, 0.01][random.below(6)];
            let at = DVec3::new(random.range(-0.4, 0.4), random.range(-0.4, 0.4), -low.z - sink);
            // Some exactly over an edge or a corner of the grid.
            let at = if random.below(3) == 0 { at.with_x(0.1 * (at.x / 0.1).round()) } else { at };
            let pose = Pose::new(at, turn).inverse();
            let near = Neighbour::new(&shape, &pose, &floor).unwrap();
            let found = contacts(&near, &floor, 0.01);
            assert_eq!(found.len(), 1, "{} {at} {sink} {found:?}", shape.name());
            let up = turn.inverse() * DVec3::Z;
            assert!((found[0].normal - up).length() < 1e-14, "{} {}", shape.name(), found[0].normal);
            let depth = found[0].deepest().unwrap().separation;
            assert!((depth + sink).abs() < 1e-12, "{} {depth} {sink}", shape.name());
        }
    }
}

#[test]
fn ridges_and_valleys_have_the_contacts_they_should() {
    let ball = Shape::from(Sphere::new(0.2).unwrap());
    let ridge = TriMesh::terrain(2, 1.0, |x, _| -x.abs()).unwrap();
    let valley = TriMesh::terrain(2, 1.0, |x, _| x.abs()).unwrap();
    let at = |z: f64| Pose::from_translation(DVec3::new(0.0, 0.1, z)).inverse();
    let over = Neighbour::new(&ball, &at(0.195), &ridge).unwrap();
    let found = contacts(&over, &ridge, 0.01);
    assert_eq!((found.len(), found[0].points().len()), (1, 1));
    assert!((found[0].normal - DVec3::Z).length() < 1e-12);
    assert!((found[0].points()[0].separation + 0.005).abs() < 1e-12);
    let inside = Neighbour::new(&ball, &at(0.2 * 2.0_f64.sqrt() - 0.001), &valley).unwrap();
    let found = contacts(&inside, &valley, 0.01);
    assert_eq!(found.len(), 2);
    for m in found {
        assert!((m.normal.x.abs() - 0.5_f64.sqrt()).abs() < 1e-12 && m.normal.y.abs() < 1e-12);
        assert!((m.points()[0].separation + 0.001 * 0.5_f64.sqrt()).abs() < 1e-12);
    }
    // A body wholly inside a solid is pushed out the nearest way.
    let cube = TriMesh::from_polyhedron(&Polyhedron::cuboid(DVec3::ONE).unwrap()).unwrap();
    let deep =
        Neighbour::new(&ball, &Pose::from_translation(DVec3::new(0.1, 0.6, 0.0)).inverse(), &cube).unwrap();
    let (found, _) = deep.nearest(&cube, f64::INFINITY).unwrap().unwrap();
    assert!((found.distance + 0.6).abs() < 1e-12 && (found.normal - DVec3::Y).length() < 1e-12);
    assert_eq!(contacts(&deep, &cube, 0.0).len(), 1);
}

#[test]
fn a_sphere_touches_as_a_very_short_capsule_does() {
    let mut random = seeded(47);
    let all = meshes();
    let (mut touching, mut other) = (0, 0);
    for _ in 0..soaked(6_000) {
        let mesh = &all[random.below(all.len())];
        let radius = random.range(0.05, 0.4);
        let sphere: Shape = Sphere::new(radius).unwrap().into();
        let capsule: Shape = Capsule::new(radius, 1e-12).unwrap().into();
        let at = pose(mesh, &sphere, &mut random);
        let [fast, slow] = [&sphere, &capsule].map(|shape| {
            let mut found = contacts(&Neighbour::new(shape, &at, mesh).unwrap(), mesh, 0.05);
            found.sort_by_key(|m| m.pieces[1]);
            found
        });
        touching += usize::from(!fast.is_empty());
        // In overlap the general way takes the depth of the triangle, or the normal where edges are gentle.
        let apart = slow.iter().all(|m| m.points().iter().all(|p| p.separation > -radius));
        let same = fast.len() == slow.len()
            && fast.iter().zip(&slow).all(|(p, q)| {
                let (d, e) = (p.deepest().unwrap().separation, q.deepest().unwrap().separation);
                p.pieces == q.pieces && (d - e).abs() < 1e-6 && (p.normal - q.normal).length() < 1e-5
            });
        other += usize::from(apart && !same);
    }
    // Where a rule is decided by rounding the two may differ.
    assert!(touching > 1000 && 100 * other < touching, "{other} of {touching}");
}
