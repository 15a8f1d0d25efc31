//! Compounds: the tree of hulls gives what all pairs of pieces give.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

mod common;

use collision_narrowphase::{
    Polyhedron,
    compound::{Compound, CompoundBuilder, CompoundError, NodeVolume, OutlineError, compound_distance},
    default_chain,
    mesh::TriMesh,
    polyhedron::torus,
    shapes::{Ellipsoid, Frustum},
};
use common::oracle;
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DQuat, DVec2, DVec3},
    ops,
    testkit::{SplitMix64, icosphere},
};
use sim_traits::{Capsule, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Shape, Sphere};

fn ring(volume: NodeVolume) -> Compound {
    let wedges = torus(1.0, 0.25, 16, 8).unwrap();
    Compound::with_volumes(wedges.into_iter().map(|w| (w.into(), Pose::IDENTITY)).collect(), volume).unwrap()
}

/// A random heap of mixed pieces.
fn heap(seed: u64, volume: NodeVolume) -> Compound {
    let mut random = SplitMix64(seed);
    let pieces = (0..9)
        .map(|k| {
            let shape: Shape = match k % 6 {
                0 => Sphere::new(0.2).unwrap().into(),
                1 => Capsule::new(0.1, 0.3).unwrap().into(),
                2 => Cuboid::new(DVec3::new(0.3, 0.1, 0.2)).unwrap().into(),
                3 => Cylinder::new(0.2, 0.1).unwrap().into(),
                4 => Frustum::new(0.2, 0.1, 0.2).unwrap().into(),
                _ => Ellipsoid::new(DVec3::new(0.1, 0.2, 0.3)).unwrap().into(),
            };
            (shape, Pose::new(random.vec3(0.8), random.unit_quat()))
        })
        .collect();
    Compound::with_volumes(pieces, volume).unwrap()
}

fn brute_force(a: &Compound, b: &Compound, a_from_b: &Pose) -> f64 {
    let chain = default_chain();
    let mut least = f64::INFINITY;
    for p in a.pieces() {
        for q in b.pieces() {
            let pose = p.body_from_piece.inverse_mul(&(*a_from_b * q.body_from_piece));
            let found = chain.separation(&p.shape, &q.shape, &pose, &mut PairCache::default()).unwrap();
            least = least.min(found.distance);
        }
    }
    least
}

// proves: MIR-06, MIR-07, FON-41
#[test]
fn soak_distance_is_that_of_all_pairs_below_the_threshold_and_a_bound_above() {
    let mut random = seeded(1);
    let compounds = [ring(NodeVolume::Hull), heap(1, NodeVolume::Hull), heap(2, NodeVolume::Hull)];
    let chair = CompoundBuilder::chair(0.9, 1.6, 0.1).unwrap().build().unwrap();
    let (mut exact, mut bounds, mut tests, mut pairs) = (0, 0, 0_u64, 0_u64);
    for _ in 0..soaked(6000) {
        let a = &compounds[random.below(3)];
        let b = if random.below(2) == 0 { &chair } else { &compounds[random.below(3)] };
        let pose = Pose::new(random.unit_vec3() * random.range(0.2, 4.0), random.unit_quat());
        let truth = brute_force(a, b, &pose);
        // Distances of round pieces come from GJK, which is good to some 1e-11 on them; polyhedra are exact to rounding.
        let round = [a, b].iter().any(|c| c.pieces().iter().any(|p| p.shape.name() == "ellipsoid"));
        let eps = if round { 1e-9 } else { 1e-12 };
        let mut cache = PairCache::default();
        let full = compound_distance(a, b, &pose, f64::INFINITY, &mut cache).unwrap();
        assert!(full.exact && (full.separation.distance - truth).abs() < eps, "{full:?} {truth}");
        tests += u64::from(full.piece_tests);
        pairs += (a.pieces().len() * b.pieces().len()) as u64;
        let s = full.separation;
        assert!((s.point_a - s.point_b - s.distance * s.normal).length() < 1e-9);
        // The cache changes nothing but the effort.
        let again = compound_distance(a, b, &pose, f64::INFINITY, &mut cache).unwrap();
        assert!((again.separation.distance - truth).abs() < eps);
        for threshold in [0.0, 0.1, 0.7] {
            for mut cache in [PairCache::default(), cache] {
                let found = compound_distance(a, b, &pose, threshold, &mut cache).unwrap();
                let d = found.separation.distance;
                if truth < threshold - eps {
                    assert!(found.exact && (d - truth).abs() < eps, "{found:?} {truth}");
                } else {
                    assert!(d <= truth + eps && d >= threshold - eps, "{found:?} {truth} {threshold}");
                }
                exact += u32::from(found.exact);
                bounds += u32::from(!found.exact);
            }
        }
    }
    assert!(exact > 1000 && bounds > 1000, "{exact} {bounds}");
    // Fewer tests of pieces than all pairs.
    assert!(tests * 5 < pairs, "{tests} {pairs}");
}

// proves: FON-40
#[test]
fn boxes_or_balls_as_inner_nodes_give_the_same_verdicts() {
    let mut random = seeded(2);
    let rings = [NodeVolume::Hull, NodeVolume::Box, NodeVolume::Ball].map(ring);
    let heaps = [NodeVolume::Hull, NodeVolume::Box, NodeVolume::Ball].map(|v| heap(3, v));
    for _ in 0..soaked(2000) {
        let pose = Pose::new(random.unit_vec3() * random.range(0.2, 3.0), random.unit_quat());
        let infinite = f64::INFINITY;
        let d = |a: &Compound, b: &Compound| {
            compound_distance(a, b, &pose, infinite, &mut PairCache::default()).unwrap().separation.distance
        };
        let by_hulls = d(&rings[0], &heaps[0]);
        for k in 1..3 {
            assert!((d(&rings[k], &heaps[k]) - by_hulls).abs() < 1e-12, "{k} {pose:?}");
        }
    }
}

/// A ball of `20·4^levels` triangles with random dents, as the tetrahedra between its triangles and its middle.
fn dented(random: &mut SplitMix64, levels: u32) -> (Vec<[DVec3; 3]>, Compound) {
    let (mut points, faces) = icosphere(levels);
    for p in &mut points {
        *p *= random.range(0.3, 1.0);
    }
    let triangles: Vec<[DVec3; 3]> = faces.iter().map(|t| t.map(|i| points[i as usize])).collect();
    let tetrahedron = |t: &[DVec3; 3]| Polyhedron::hull(&[t[0], t[1], t[2], DVec3::ZERO]).unwrap();
    let pieces = triangles.iter().map(|t| (tetrahedron(t).into(), Pose::IDENTITY)).collect();
    (triangles, Compound::with_volumes(pieces, NodeVolume::Ball).unwrap())
}

/// Least distance of two lists of triangles, by all corners, edges and faces.
fn triangle_distance(a: &[[DVec3; 3]], b: &[[DVec3; 3]]) -> f64 {
    let to_face = |x: DVec3, t: &[DVec3; 3]| {
        let n = (t[1] - t[0]).cross(t[2] - t[0]).normalize();
        let over = (0..3).all(|e| n.dot((t[(e + 1) % 3] - t[e]).cross(x - t[e])) >= 0.0);
        if over { n.dot(x - t[0]).abs() } else { f64::INFINITY }
    };
    let mut least = f64::INFINITY;
    for s in a {
        for t in b {
            for k in 0..3 {
                least = least.min(to_face(s[k], t)).min(to_face(t[k], s));
                for l in 0..3 {
                    least = least.min(oracle::segments(s[k], s[(k + 1) % 3], t[l], t[(l + 1) % 3]));
                }
            }
        }
    }
    least
}

// proves: CLI-75
#[test]
fn soak_a_sphere_tree_equals_brute_force_on_random_meshes() {
    let mut random = seeded(5);
    let (mut apart, mut tests, mut pairs) = (0, 0_u64, 0_u64);
    let rounds = soaked(300);
    for _ in 0..rounds {
        let ((mesh_a, a), (mesh_b, b)) = (dented(&mut random, 1), dented(&mut random, 1));
        let pose = Pose::new(random.unit_vec3() * random.range(0.8, 2.2), random.unit_quat());
        let moved: Vec<[DVec3; 3]> = mesh_b.iter().map(|t| t.map(|p| pose.transform_point(p))).collect();
        let found = compound_distance(&a, &b, &pose, f64::INFINITY, &mut PairCache::default()).unwrap();
        let d = found.separation.distance;
        assert!((d - brute_force(&a, &b, &pose)).abs() < 1e-12, "{d} {pose:?}");
        tests += u64::from(found.piece_tests);
        pairs += (a.pieces().len() * b.pieces().len()) as u64;
        // Apart, the pieces are as far from each other as the surfaces, by formulas that know nothing of pieces.
        if d > 0.0 {
            apart += 1;
            assert!((d - triangle_distance(&mesh_a, &moved)).abs() < 1e-9, "{d} {pose:?}");
        }
    }
    assert!(3 * apart > rounds && 8 * (rounds - apart) > rounds, "{apart} of {rounds}");
    assert!(4 * tests < pairs, "{tests} {pairs}");
}

// proves: FON-39
#[test]
fn a_bar_through_a_torus_does_not_touch_it() {
    let chain = default_chain();
    let ring = Shape::from(ring(NodeVolume::Hull));
    let bars: [Shape; 3] = [
        Capsule::new(0.3, 3.0).unwrap().into(),
        Cylinder::new(0.4, 3.0).unwrap().into(),
        Polyhedron::cuboid(DVec3::new(0.2, 0.2, 3.0)).unwrap().into(),
    ];
    let mut random = seeded(3);
    for bar in &bars {
        for _ in 0..300 {
            let tilt = DQuat::from_scaled_axis(random.vec3(0.1));
            let pose = Pose::new(random.vec3(0.1), tilt);
            let found = chain.separation(&ring, bar, &pose, &mut PairCache::default()).unwrap();
            assert!(found.distance > 0.0);
            let mut contacts = Vec::new();
            chain.manifolds(&ring, bar, &pose, 0.0, &mut PairCache::default(), &mut contacts).unwrap();
            assert!(contacts.is_empty());
            // The same with the shapes exchanged.
            let back = chain.separation(bar, &ring, &pose.inverse(), &mut PairCache::default()).unwrap();
            assert!((back.distance - found.distance).abs() < 1e-12);
        }
        let touching = Pose::from_translation(DVec3::X);
        let mut contacts = Vec::new();
        chain.manifolds(&ring, bar, &touching, 0.0, &mut PairCache::default(), &mut contacts).unwrap();
        assert!(!contacts.is_empty());
    }
    // A straight bar: the distance is that to the inscribed polygon of the hole.
    let found = chain.separation(&ring, &bars[0], &Pose::IDENTITY, &mut PairCache::default()).unwrap();
    let inner = 0.75 * ops::cos(std::f64::consts::PI / 16.0) - 0.3;
    assert!((found.distance - inner).abs() < 1e-9, "{} {inner}", found.distance);
}

#[test]
fn a_chair_stands_on_four_legs() {
    let chain = default_chain();
    let chair = Shape::from(CompoundBuilder::chair(0.45, 0.9, 0.04).unwrap().build().unwrap());
    let floors: [Shape; 2] = [HalfSpace::up().into(), TriMesh::terrain(10, 0.2, |_, _| 0.0).unwrap().into()];
    for floor in floors {
        let mut contacts = Vec::new();
        let pose = Pose::from_translation(DVec3::new(0.03, 0.01, 1e-4));
        chain.manifolds(&chair, &floor, &pose, 1e-3, &mut PairCache::default(), &mut contacts).unwrap();
        assert_eq!((contacts.len(), contacts[0].points().len()), (1, 4), "{}", floor.name());
        assert!((contacts[0].normal - DVec3::Z).length() < 1e-12);
        let mut corners: Vec<(bool, bool)> = Vec::new();
        for p in contacts[0].points() {
            assert!((p.separation + 1e-4).abs() < 1e-9);
            corners.push((p.point_a.x > 0.0, p.point_a.y > 0.0));
        }
        corners.sort_unstable();
        corners.dedup();
        assert_eq!(corners.len(), 4, "one contact per leg");
    }
}

#[test]
fn everyday_things_have_the_right_volume() {
    let chair = CompoundBuilder::chair(0.5, 1.0, 0.05).unwrap().build().unwrap();
    let expected = 0.5 * 0.5 * 0.05 + 0.05 * 0.5 * 0.45 + 4.0 * 0.05 * 0.05 * 0.5;
    let m = chair.mass_properties(2.0).unwrap();
    assert!((m.mass - 2.0 * expected).abs() < 1e-12, "{}", m.mass);
    // A cap of n segments: volumes of n-gonal prisms.
    let n = 24;
    let area = |r: f64| 0.5 * f64::from(n) * r * r * ops::sin(std::f64::consts::TAU / f64::from(n));
    let cap = CompoundBuilder::cap(0.016, 0.006, 0.001, n).unwrap().build().unwrap();
    let expected = area(0.016) * 0.001 + (area(0.016) - area(0.015)) * 0.005;
    let m = cap.mass_properties(1.0).unwrap();
    assert!((m.mass - expected).abs() < 1e-15, "{} {expected}", m.mass);
    assert!(cap.contains(DVec3::new(0.0, 0.0, 0.0055)) && !cap.contains(DVec3::new(0.0, 0.0, 0.002)));
    // A dish is hollow above and contains its bottom.
    let dish = CompoundBuilder::dish(0.2, 1.0, 0.01, 32).unwrap().build().unwrap();
    assert!(!dish.contains(DVec3::new(0.0, 0.0, 0.05)) && dish.contains(DVec3::new(0.0, 0.0, 0.005)));
    let (s, c) = ops::sin_cos(0.7);
    assert!(dish.contains(DVec3::new(0.195 * s, 0.0, 0.2 - 0.195 * c)));
    // A marble rests in it.
    let ball = Shape::from(Sphere::new(0.02).unwrap());
    let gap = default_chain()
        .separation(&dish.into(), &ball, &Pose::from_translation(DVec3::Z * 0.035), &mut PairCache::default())
        .unwrap();
    assert!(gap.distance.abs() < 0.006, "{}", gap.distance);
}

#[test]
fn glyphs_keep_their_area_and_their_holes() {
    let p = DVec2::new;
    // A capital L, a capital U and an arrow.
    let glyphs: [Vec<DVec2>; 3] = [
        vec![p(0.0, 0.0), p(3.0, 0.0), p(3.0, 1.0), p(1.0, 1.0), p(1.0, 4.0), p(0.0, 4.0)],
        vec![
            p(0.0, 0.0),
            p(3.0, 0.0),
            p(3.0, 4.0),
            p(2.0, 4.0),
            p(2.0, 1.0),
            p(1.0, 1.0),
            p(1.0, 4.0),
            p(0.0, 4.0),
        ],
        vec![p(0.0, 1.0), p(2.0, 1.0), p(2.0, 0.0), p(4.0, 1.5), p(2.0, 3.0), p(2.0, 2.0), p(0.0, 2.0)],
    ];
    let most = [2, 3, 3];
    let mut random = seeded(4);
    for (outline, most) in glyphs.iter().zip(most) {
        let glyph = CompoundBuilder::new().extrude(outline, 0.5).unwrap().build().unwrap();
        assert!(glyph.pieces().len() <= most, "{}", glyph.pieces().len());
        let n = outline.len();
        let area: f64 = (0..n).map(|k| 0.5 * outline[k].perp_dot(outline[(k + 1) % n])).sum();
        assert!((glyph.mass_properties(1.0).unwrap().mass - 0.5 * area).abs() < 1e-12);
        for _ in 0..2000 {
            let x = p(random.range(-0.5, 4.5), random.range(-0.5, 4.5));
            // Even-odd rule.
            let inside = (0..n).fold(false, |inside, k| {
                let (a, b) = (outline[k], outline[(k + 1) % n]);
                let crosses =
                    (a.y > x.y) != (b.y > x.y) && x.x < a.x + (x.y - a.y) / (b.y - a.y) * (b.x - a.x);
                inside != crosses
            });
            assert_eq!(glyph.contains(x.extend(0.2)), inside, "{x}");
        }
    }
    let clockwise: Vec<DVec2> = glyphs[0].iter().rev().copied().collect();
    assert!(matches!(CompoundBuilder::new().extrude(&clockwise, 1.0), Err(OutlineError::NotSimple { .. })));
    let crossing = [p(0.0, 0.0), p(1.0, 1.0), p(1.0, 0.0), p(0.0, 1.0)];
    assert!(CompoundBuilder::new().extrude(&crossing, 1.0).is_err());
    assert!(CompoundBuilder::new().extrude(&glyphs[0], -1.0).is_err());
    assert!(CompoundBuilder::new().extrude(&glyphs[0][..2], 1.0).is_err());
    assert!(CompoundBuilder::new().extrude(&[p(0.0, f64::NAN), p(1.0, 0.0), p(1.0, 1.0)], 1.0).is_err());
}

#[test]
fn bad_compounds_are_errors_that_name_the_piece() {
    let ball = || Shape::from(Sphere::new(1.0).unwrap());
    assert_eq!(Compound::new(Vec::new()).unwrap_err(), CompoundError::Empty);
    let flat = Compound::new(vec![(ball(), Pose::IDENTITY), (HalfSpace::up().into(), Pose::IDENTITY)]);
    assert_eq!(flat.unwrap_err(), CompoundError::NotConvex { piece: 1, shape: "half-space" });
    let nested =
        Compound::new(vec![(Compound::new(vec![(ball(), Pose::IDENTITY)]).unwrap().into(), Pose::IDENTITY)]);
    assert!(matches!(nested.unwrap_err(), CompoundError::NotConvex { piece: 0, .. }));
    for pose in [
        Pose::from_translation(DVec3::NAN),
        Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 3.0)),
    ] {
        let bad = Compound::new(vec![(ball(), Pose::IDENTITY), (ball(), pose)]);
        assert!(matches!(bad.unwrap_err(), CompoundError::BadPose { piece: 1, .. }));
    }
    let one = Compound::new(vec![(ball(), Pose::IDENTITY)]).unwrap();
    let mut cache = PairCache::default();
    assert!(compound_distance(&one, &one, &Pose::from_translation(DVec3::NAN), 1.0, &mut cache).is_err());
    assert!(compound_distance(&one, &one, &Pose::IDENTITY, f64::NAN, &mut cache).is_err());
    assert!(one.mass_properties(-1.0).is_err());
    assert!(
        CompoundBuilder::chair(1.0, -1.0, 0.1).is_err() && CompoundBuilder::cap(0.1, 0.1, 0.2, 8).is_err()
    );
    assert!(CompoundBuilder::dish(0.1, 3.0, 0.01, 8).is_err());
}
