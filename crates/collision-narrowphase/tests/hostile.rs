//! Hostile pairs: every algorithm gives the brute-force answer, never cycles, never panics.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

mod common;

use collision_narrowphase::{
    Polyhedron,
    brute_force::brute_force,
    gjk::gjk_polyhedra,
    lin_canny::lin_canny,
    relative::Frame,
    sat::{gap_along, sat},
    vclip::{Closest, vclip},
};
use common::{hostile_pose, large_pool, pool, random_cache, seeded, soaked};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{NarrowPhaseError, PairCache, Separation};

/// The answer against brute force: distance apart, depth and direction in overlap. `direction` is the allowed error of
/// the gap along the normal relative to the size; what minimises a distance knows its direction only to half the digits.
fn agrees(
    a: &Polyhedron,
    b: &Polyhedron,
    pose: &Pose,
    found: &Separation,
    direction: f64,
) -> Result<(), String> {
    let frame = Frame::from_pose(pose);
    let size = a.extent() + b.extent();
    let (truth, _) = brute_force(a, b, &frame);
    if (truth.distance - found.distance).abs() > 1e-9 * size {
        return Err(format!("distance {:e}, brute force {:e}, size {size}", found.distance, truth.distance));
    }
    if truth.distance.abs() > 1e-10 * size && (truth.distance > 0.0) != (found.distance > 0.0) {
        return Err(format!("verdict: {:e}, brute force {:e}", found.distance, truth.distance));
    }
    // The normal must be one along which the gap is as claimed; where several are equally good any will do.
    // Coordinates carry 1e-16 of the scale and pass some dozen operations, so the direction of a short gap has few digits
    // whatever the algorithm; GJK's, which watches squares, fewer.
    let gap = gap_along(a, b, &frame, -found.normal);
    let blur = if found.distance > 1e-10 * size { 4e-14 * size / found.distance } else { 0.0 };
    if (gap - found.distance).abs() > direction * (1.0 + 1e9 * blur) * size {
        return Err(format!("gap along the normal is {gap:e}, not {:e}", found.distance));
    }
    let error = (found.point_a - found.point_b - found.distance * found.normal).length();
    if error > 1e-12 * size || (found.normal.length() - 1.0).abs() > 1e-12 {
        return Err(format!("witnesses do not span the distance: {error:e}"));
    }
    let outside_a = a.faces().iter().map(|f| f.height(found.point_a)).fold(f64::NEG_INFINITY, f64::max);
    let in_b = frame.point_back(found.point_b);
    let outside_b = b.faces().iter().map(|f| f.height(in_b)).fold(f64::NEG_INFINITY, f64::max);
    // A distance known to ε fixes the points only to √(ε d).
    if outside_a.max(outside_b) > 3e-8 * size {
        return Err(format!("witness {:e} outside its polyhedron", outside_a.max(outside_b)));
    }
    Ok(())
}

// GJK and EPA know nothing of features and still give the same answer.
#[test]
fn gjk_and_epa_equal_brute_force_on_hostile_pairs() {
    let shapes = pool();
    let mut random = seeded(3);
    for case in 0..soaked(20_000) {
        let (i, j) = (random.below(shapes.len()), random.below(shapes.len()));
        let (a, b) = (&shapes[i], &shapes[j]);
        let (kind, pose) = hostile_pose(a, b, &mut random);
        let guess = if random.below(2) == 0 { DVec3::ZERO } else { random.unit_vec3() };
        let found = gjk_polyhedra(a, b, &Frame::from_pose(&pose), guess);
        if let Err(message) = found.ok_or("none".into()).and_then(|f| agrees(a, b, &pose, &f, 1e-7)) {
            panic!("case {case}, {kind}, shapes {i} {j}, {pose:?}, guess {guess}: {message} {found:?}");
        }
    }
}

// proves: FON-46, MIR-20
#[test]
fn lin_canny_equals_brute_force_apart_and_refuses_overlap() {
    let shapes = pool();
    let mut random = seeded(4);
    let (mut apart, mut refused, mut remedies) = (0, 0, 0);
    for case in 0..soaked(30_000) {
        let (i, j) = (random.below(shapes.len()), random.below(shapes.len()));
        let (a, b) = (&shapes[i], &shapes[j]);
        let (kind, pose) = hostile_pose(a, b, &mut random);
        let mut cache =
            if random.below(2) == 0 { PairCache::default() } else { random_cache(a, b, &mut random) };
        let result = match lin_canny(a, b, &pose, &mut cache) {
            Ok(found) => {
                apart += 1;
                remedies += found.remedies;
                agrees(a, b, &pose, &found.separation, 1e-7)
            }
            Err(NarrowPhaseError::Overlapping { .. }) => {
                refused += 1;
                let size = a.extent() + b.extent();
                let gap = sat(a, b, &Frame::from_pose(&pose)).separation;
                if gap <= 1e-10 * size { Ok(()) } else { Err(format!("refused at gap {gap:e}")) }
            }
            Err(other) => Err(other.to_string()),
        };
        if let Err(message) = result {
            panic!("case {case}, {kind}, shapes {i} {j}, {pose:?}: {message}");
        }
    }
    println!("{apart} apart, {refused} refused, {remedies} remedies");
    assert!(apart > 5_000 && refused > 5_000);
}

fn run(shapes: &[Polyhedron], seed: u64, cases: u64) -> (u64, u32) {
    let mut random = seeded(seed);
    let (mut remedies, mut most) = (0, 0);
    for case in 0..cases {
        let (i, j) = (random.below(shapes.len()), random.below(shapes.len()));
        let (a, b) = (&shapes[i], &shapes[j]);
        let (kind, pose) = hostile_pose(a, b, &mut random);
        let mut cache =
            if random.below(2) == 0 { PairCache::default() } else { random_cache(a, b, &mut random) };
        let start = cache;
        let found: Closest = vclip(a, b, &pose, &mut cache).unwrap();
        if let Err(message) = agrees(a, b, &pose, &found.separation, 1e-9) {
            panic!(
                "case {case} of seed {seed}, {kind}, shapes {i} {j}, {pose:?}, from {start:?}: {message} {found:?}"
            );
        }
        remedies += u64::from(found.remedies);
        most = most.max(found.iterations);
    }
    (remedies, most)
}

// proves: FON-33, FON-37, MIR-20
#[test]
fn vclip_equals_brute_force_on_hostile_pairs() {
    let cases = soaked(100_000);
    let (remedies, most) = run(&pool(), 1, cases);
    println!("{cases} cases: {remedies} remedies, at most {most} iterations");
}

#[test]
fn vclip_equals_brute_force_on_larger_hulls() {
    let cases = soaked(2_000);
    let (remedies, most) = run(&large_pool(), 2, cases);
    println!("{cases} cases: {remedies} remedies, at most {most} iterations");
}
