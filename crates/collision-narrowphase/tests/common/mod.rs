//! Hostile pairs of polyhedra, shared by the property tests.
#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod oracle;

use collision_narrowphase::Polyhedron;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{FeatureId, PairCache};

/// Shapes in sizes from 1 mm to 100 m, slivers of aspect 1e4 among them.
pub(crate) fn pool() -> Vec<Polyhedron> {
    let mut pool = Vec::new();
    for size in [1.0, 1e-3, 100.0] {
        let half = |x: f64, y: f64, z: f64| Polyhedron::cuboid(size * DVec3::new(x, y, z)).unwrap();
        pool.extend([half(1.0, 1.0, 1.0), half(0.5, 0.5, 0.5), half(1.0, 0.3, 0.1)]);
        pool.push(Polyhedron::tetrahedron(size).unwrap());
        pool.push(Polyhedron::dodecahedron(size).unwrap());
        pool.push(Polyhedron::cone(size, 0.5 * size, 7).unwrap());
        pool.push(Polyhedron::tube(0.5 * size, size, 6).unwrap());
        pool.push(Polyhedron::pyramid(size, size).unwrap());
    }
    // Needle, blade, plate.
    pool.push(Polyhedron::cuboid(DVec3::new(1.0, 1e-4, 1e-4)).unwrap());
    pool.push(Polyhedron::cuboid(DVec3::new(1.0, 1.0, 1e-4)).unwrap());
    pool.push(Polyhedron::cone(1e-4, 1.0, 5).unwrap());
    pool.push(Polyhedron::cone(1.0, 1e-4, 6).unwrap());
    pool.push(Polyhedron::tetrahedron(1.0).map(|t| squash(&t, DVec3::new(1.0, 1e-2, 1e-4))).unwrap());
    for (n, seed) in [(4, 1), (5, 2), (8, 3), (12, 4), (20, 5), (30, 6)] {
        pool.push(Polyhedron::random(n, seed).unwrap());
    }
    pool
}

/// Larger shapes, for fewer cases.
pub(crate) fn large_pool() -> Vec<Polyhedron> {
    vec![
        Polyhedron::random(64, 7).unwrap(),
        Polyhedron::icosphere(1.0, 1).unwrap(),
        Polyhedron::tube(0.7, 0.4, 32).unwrap(),
        Polyhedron::cone(0.7, 0.4, 40).unwrap(),
        squash(&Polyhedron::random(50, 8).unwrap(), DVec3::new(1.0, 1.0, 1e-4)),
        squash(&Polyhedron::random(50, 9).unwrap(), DVec3::new(1.0, 1e-3, 1e-4)),
        Polyhedron::cuboid(DVec3::ONE).unwrap(),
    ]
}

pub(crate) fn squash(p: &Polyhedron, by: DVec3) -> Polyhedron {
    let points: Vec<DVec3> = p.vertices().iter().map(|v| v.position * by).collect();
    Polyhedron::hull(&points).unwrap()
}

/// A gap or overlap from exactly nothing to about the size.
fn gap(random: &mut SplitMix64, size: f64) -> f64 {
    let magnitude = [0.0, 1e-16, 1e-14, 1e-12, 1e-11, 1e-9, 1e-6, 1e-3, 0.03, 0.3][random.below(10)];
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    sign * magnitude * size
}

fn rotation(random: &mut SplitMix64) -> DQuat {
    match random.below(4) {
        0 => DQuat::IDENTITY,
        1 => {
            let axis = [DVec3::X, DVec3::Y, DVec3::Z][random.below(3)];
            DQuat::from_axis_angle(axis, std::f64::consts::FRAC_PI_2 * random.below(4) as f64)
        }
        _ => random.unit_quat(),
    }
}

fn point_on(p: &Polyhedron, random: &mut SplitMix64) -> (DVec3, DVec3) {
    match random.below(3) {
        0 => {
            let v = p.position(random.below(p.vertices().len()) as u32);
            (v, (v - p.center()).normalize())
        }
        1 => {
            let e = random.below(p.edges().len());
            let [t, h] = p.segment(e as u32);
            let n = p.edges()[e].faces.map(|f| p.faces()[f as usize].normal);
            (t.lerp(h, random.unit()), (n[0] + n[1]).normalize())
        }
        _ => {
            let f = random.below(p.faces().len());
            let sides = p.sides(f as u32);
            let corner = |k: usize| p.position(sides[k % sides.len()].corner);
            let k = random.below(sides.len());
            let (u, v) = (random.unit(), random.unit());
            (corner(0).lerp(corner(k).lerp(corner(k + 1), u), v), p.faces()[f].normal)
        }
    }
}

/// Turns `from` to `onto`, then about `onto` by an angle that is often a multiple of a right angle.
fn align(from: DVec3, onto: DVec3, random: &mut SplitMix64) -> DQuat {
    let turn = match random.below(3) {
        0 => 0.0,
        1 => std::f64::consts::FRAC_PI_2 * random.below(4) as f64,
        _ => random.range(0.0, std::f64::consts::TAU),
    };
    (DQuat::from_axis_angle(onto, turn) * DQuat::from_rotation_arc(from, onto)).normalize()
}

/// A pose of B in A that is likely to be degenerate. The case's name comes with it, for messages.
pub(crate) fn hostile_pose(a: &Polyhedron, b: &Polyhedron, random: &mut SplitMix64) -> (&'static str, Pose) {
    let size = a.extent() + b.extent();
    let small = a.extent().min(b.extent());
    let (name, mut pose) = match random.below(9) {
        0 => ("random", Pose::new(random.vec3(1.5 * size), random.unit_quat())),
        1 => {
            let grid = (random.vec3(3.0)).floor() * (0.5 * a.extent());
            ("lattice", Pose::new(grid, rotation(random)))
        }
        2 => {
            // Face against face.
            let fa = a.faces()[random.below(a.faces().len())];
            let f = random.below(b.faces().len());
            let fb = b.faces()[f];
            let q = align(fb.normal, -fa.normal, random);
            let on_a = point_on(a, random).0;
            let on_a = on_a - fa.height(on_a) * fa.normal;
            let on_b = b.position(b.sides(f as u32)[0].corner);
            ("flush", Pose::new(on_a + gap(random, small) * fa.normal - q * on_b, q))
        }
        3 => {
            let va = a.position(random.below(a.vertices().len()) as u32);
            let vb = b.position(random.below(b.vertices().len()) as u32);
            let q = rotation(random);
            let out = (va - a.center()).normalize();
            ("vertices", Pose::new(va + gap(random, small) * out - q * vb, q))
        }
        4 => {
            // Parallel edges, one above the other.
            let (i, j) = (random.below(a.edges().len()), random.below(b.edges().len()));
            let (ea, eb) = (a.edges()[i], b.edges()[j]);
            let q = DQuat::from_axis_angle(ea.direction, random.range(0.0, 6.3))
                * DQuat::from_rotation_arc(eb.direction, ea.direction);
            let n = ea.faces.map(|f| a.faces()[f as usize].normal);
            let out = (n[0] + n[1]).normalize();
            let [t, h] = a.segment(i as u32);
            let q = q.normalize();
            let at = t.lerp(h, random.range(-0.5, 1.5)) + gap(random, small) * out;
            ("edges", Pose::new(at - q * b.segment(j as u32)[random.below(2)], q))
        }
        5 => ("deep", Pose::new(random.vec3(0.3 * size), rotation(random))),
        6 | 7 => {
            // Any point of the surface on any other, normals opposed or not.
            let ((pa, na), (pb, nb)) = (point_on(a, random), point_on(b, random));
            let q = if random.below(2) == 0 { align(nb, -na, random) } else { rotation(random) };
            ("surfaces", Pose::new(pa + gap(random, small) * na - q * pb, q))
        }
        _ => {
            let direction = random.unit_vec3();
            ("shifted", Pose::new(gap(random, size) * direction, DQuat::IDENTITY))
        }
    };
    if random.below(6) == 0 {
        let tilt = [1e-15, 1e-12, 1e-9, 1e-7, 1e-5][random.below(5)];
        let nudge = DQuat::from_scaled_axis(random.vec3(tilt));
        pose = Pose::new(pose.translation, (nudge * pose.rotation).normalize());
    }
    (name, pose)
}

/// A cache as a stale one might be: any features at all.
pub(crate) fn random_cache(a: &Polyhedron, b: &Polyhedron, random: &mut SplitMix64) -> PairCache {
    let mut feature = |p: &Polyhedron| match random.below(3) {
        0 => FeatureId::vertex(random.below(p.vertices().len()) as u32),
        1 => FeatureId::edge(random.below(p.edges().len()) as u32),
        _ => FeatureId::face(random.below(p.faces().len()) as u32),
    };
    let features = [feature(a), feature(b)];
    let axis = if random.below(2) == 0 { DVec3::ZERO } else { random.unit_vec3() };
    PairCache { features, axis }
}
