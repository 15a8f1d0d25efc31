//! The bounce world's own properties, and broad and narrow phase at work in it.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say what they find")]

use super::*;
use collision_broadphase::{BruteForce, CoherentHash, ColumnSweep, PlainHash, SweepAndPrune};
use collision_narrowphase::{Polyhedron, vclip::vclip};
use sim_math::testkit::soak;
use sim_traits::PairCache;
use std::collections::{BTreeMap, BTreeSet};

/// V-Clip as the contact test, with a cache for each pair that is close, and its counters.
struct Clipper {
    shapes: Vec<Polyhedron>,
    caches: BTreeMap<Pair, PairCache>,
    /// Pairs tested in this step; the caches of others go.
    seen: BTreeSet<Pair>,
    queries: u64,
    iterations: u64,
    worst: u32,
    remedies: u32,
}

impl Clipper {
    fn new() -> Self {
        let of_size = |r: f64| {
            [
                Polyhedron::cuboid(DVec3::splat(r / 3.0_f64.sqrt())),
                Polyhedron::tetrahedron(r),
                Polyhedron::dodecahedron(r),
                Polyhedron::pyramid(0.5 * r, 0.5 * r),
                Polyhedron::tube(0.6 * r, 0.6 * r, 8),
            ]
        };
        let shapes = RADII.into_iter().flat_map(of_size).map(Result::unwrap).collect();
        Self {
            shapes,
            caches: BTreeMap::new(),
            seen: BTreeSet::new(),
            queries: 0,
            iterations: 0,
            worst: 0,
            remedies: 0,
        }
    }

    fn touch(&mut self, pair: Pair, a: &Body, b: &Body) -> bool {
        let cache = self.caches.entry(pair).or_default();
        self.seen.insert(pair);
        let shape = |body: &Body| &self.shapes[body.size * KINDS + body.kind];
        let found = vclip(shape(a), shape(b), &a.pose.inverse_mul(&b.pose), cache).unwrap();
        assert!(found.separation.distance.is_finite(), "{pair:?}");
        self.queries += 1;
        self.iterations += u64::from(found.iterations);
        self.worst = self.worst.max(found.iterations);
        self.remedies += found.remedies;
        found.separation.distance <= 0.0
    }

    /// Forgets the pairs that were not close in this step.
    fn end_of_step(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        self.caches.retain(|pair, _| seen.contains(pair));
    }
}

fn run(mut broad: Box<dyn BroadPhase>, clip: bool) -> (Vec<Body>, u64, u64) {
    let mut world = Bounce::new(40, 6.0, 0.05, 3);
    let mut clipper = Clipper::new();
    world.insert_into(broad.as_mut()).unwrap();
    for _ in 0..2000 {
        if clip {
            world.step(broad.as_mut(), &mut |pair, a, b| clipper.touch(pair, a, b)).unwrap();
        } else {
            world.step(broad.as_mut(), &mut boxes_touch).unwrap();
        }
    }
    (world.bodies.clone(), world.penetrations, world.tests)
}

// proves: FON-29
#[test]
fn with_and_without_broad_phase_the_penetrations_are_the_same() {
    // The primitives fill about half of their boxes.
    for (clip, least) in [(false, 1000), (true, 500)] {
        let (bodies, penetrations, tests) = run(Box::new(BruteForce::all_pairs()), clip);
        assert!(penetrations > least, "{penetrations}");
        let others: [Box<dyn BroadPhase>; 4] = [
            Box::new(CoherentHash::default()),
            Box::new(ColumnSweep::default()),
            Box::new(PlainHash::default()),
            Box::new(SweepAndPrune::default()),
        ];
        for broad in others {
            let (b, p, t) = run(broad, clip);
            assert_eq!((&b, p), (&bodies, penetrations));
            assert!(t < tests / 4, "{t} of {tests} tests");
        }
    }
}

// proves: FON-48
#[test]
fn a_seed_fixes_the_world_which_stays_in_its_box_and_goes_everywhere() {
    let (n, side) = (60, 8.0);
    let fly = |seed: u64| {
        let mut world = Bounce::new(n, side, 0.05, seed);
        let mut broad = ColumnSweep::default();
        let mut clipper = Clipper::new();
        world.insert_into(&mut broad).unwrap();
        let (mut visited, mut farthest) = (BTreeSet::new(), 0.0_f64);
        for _ in 0..4000 {
            world.step(&mut broad, &mut |pair, a, b| clipper.touch(pair, a, b)).unwrap();
            clipper.end_of_step();
            for body in world.bodies() {
                let center = body.pose.translation;
                farthest = farthest.max((-center).max(center - side).max_element());
                let cell = (center * (6.0 / side)).floor().clamp(DVec3::ZERO, DVec3::splat(5.0));
                visited.insert([cell.x as u8, cell.y as u8, cell.z as u8]);
            }
        }
        (world.bodies.clone(), world.penetrations, visited, farthest)
    };
    let first = fly(11);
    assert_eq!(first, fly(11));
    assert_ne!(first.0, fly(12).0);
    let (bodies, penetrations, visited, farthest) = first;
    let sorts: BTreeSet<_> = bodies.iter().map(|b| (b.kind, b.size)).collect();
    assert_eq!(sorts.len(), KINDS * RADII.len(), "every kind in every size");
    assert!(bodies.iter().any(|b| b.gravity > 0.0) && bodies.iter().any(|b| b.gravity < 0.0));
    assert!(penetrations > 100, "{penetrations}");
    assert_eq!(visited.len(), 6 * 6 * 6, "cells of the world that a centre was in");
    assert!(farthest < 0.2, "{farthest} m outside");
}

// proves: FON-51
#[test]
fn the_optimal_world_has_as_many_new_pairs_for_each_body_at_every_size() {
    let make = || -> Box<dyn BroadPhase> { Box::new(ColumnSweep::default()) };
    let created = 8.0;
    for n in [64, 256, 1024, 4096] {
        let side = Bounce::optimal_side(n, created, 300, &make).unwrap();
        // Another seed than the optimiser's.
        let found = Bounce::pairs_created(n, side, 300, 77, &make).unwrap();
        println!("{n:5} bodies, side {side:6.2} m, {found:.2} pairs begun for each body");
        assert!((found / created - 1.0).abs() <= 0.2, "{n} bodies: {found} pairs begun for each");
    }
}

/// 2e4 steps here; 1e8, as long as the thesis let it run, by `cargo xtask soak tumblestone-benches --times=5000`.
// proves-part: FON-50
#[test]
fn soak_bouncing_goes_on_without_cycle_nan_or_leak() {
    let (n, steps) = (25, soak::cases(20_000));
    let seed = soak::random(21).next_u64();
    let mut world = Bounce::new(n, Bounce::world_side(n, 1.0), 0.01, seed);
    let mut hash = CoherentHash::default();
    let mut clipper = Clipper::new();
    world.insert_into(&mut hash).unwrap();
    let mut most = (0, 0, 0);
    for step in 0..steps {
        world.step(&mut hash, &mut |pair, a, b| clipper.touch(pair, a, b)).unwrap();
        clipper.end_of_step();
        if step % 1000 == 0 {
            assert!(world.bodies().iter().all(|b| b.pose.is_finite() && b.velocity.is_finite()), "{step}");
            let report = hash.report();
            most =
                (most.0.max(report.tiles), most.1.max(report.active_pairs), most.2.max(clipper.caches.len()));
        }
    }
    println!(
        "{steps} steps, {} queries, {} iterations, worst {}, {} penetrations, at most {most:?} tiles, pairs and caches",
        clipper.queries, clipper.iterations, clipper.worst, world.penetrations
    );
    assert_eq!(clipper.remedies, 0, "cycles or searches");
    assert!(clipper.worst < 60 && clipper.iterations < 3 * clipper.queries, "{}", clipper.worst);
    // 25 bodies have 300 pairs, and a body of 1.2 m with its way is in 27 tiles of each of the levels at most.
    assert!(most.0 < 25 * 27 * 3 && most.1 <= 300 && most.2 <= 300, "{most:?}");
    for id in (0..n as u32).map(ProxyId) {
        hash.remove(id).unwrap();
    }
    let report = hash.report();
    assert_eq!((report.active_pairs, report.tiles, report.labels), (0, 0, 0));
}
