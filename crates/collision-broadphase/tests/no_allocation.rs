//! A warmed-up broad phase asks for no memory.
//!
//! The boxes move on closed paths, so that a second round meets no more pairs than the first.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use collision_broadphase::{
    BruteForce, CoherentHash, CoherentHashParams, ColumnSweep, ColumnSweepParams, DynamicTree, PlainHash,
    PlainHashParams, SweepAndPrune,
};
use sim_math::{Aabb, glam::DVec3, ops};
use sim_traits::{
    BroadPhase, PairChanges, ProxyId, ProxyKind,
    testkit::{
        SplitMix64,
        allocations::{CountingAllocator, allocations},
    },
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const PERIOD: u32 = 96;

fn boxes_at(step: u32, centers: &[DVec3], out: &mut Vec<Aabb>) {
    let (sine, cosine) = ops::sin_cos(std::f64::consts::TAU * f64::from(step % PERIOD) / f64::from(PERIOD));
    out.clear();
    out.extend(centers.iter().zip(0..).map(|(c, k)| {
        let turn = if k % 2 == 0 { sine } else { -sine };
        Aabb::from_center_half_extents(*c + DVec3::new(turn, cosine, 0.5 * turn), DVec3::splat(0.3))
    }));
}

/// Runs `broad` warm, then for two periods in which it must not allocate.
fn check(name: &str, mut broad: Box<dyn BroadPhase>) {
    let mut random = SplitMix64(9);
    let centers: Vec<DVec3> = (0..300).map(|_| random.vec3(4.0)).collect();
    let ids: Vec<ProxyId> = (0..300).map(ProxyId).collect();
    let (mut boxes, mut pairs, mut changes) = (Vec::new(), Vec::new(), PairChanges::default());
    boxes_at(0, &centers, &mut boxes);
    for (&id, aabb) in ids.iter().zip(&boxes) {
        broad.insert(id, ProxyKind::Moving, aabb).unwrap();
    }
    let mut round = |from: u32, to: u32| {
        let mut seen = 0;
        for step in from..to {
            boxes_at(step, &centers, &mut boxes);
            broad.update(&ids, &boxes).unwrap();
            broad.pairs(&mut pairs);
            broad.pair_changes(&mut changes);
            seen += pairs.len();
        }
        seen
    };
    let warm = round(0, 6 * PERIOD);
    let (count, seen) = allocations(|| round(6 * PERIOD, 8 * PERIOD));
    assert!(warm > 1000 && seen > 1000, "{name}: {seen} pairs");
    assert_eq!(count, 0, "{name}: allocations in {} steps", 2 * PERIOD);
}

#[test]
fn warmed_updates_allocate_nothing() {
    check("brute force", Box::new(BruteForce::default()));
    check("plain hash", Box::new(PlainHash::new(PlainHashParams::default())));
    check("sweep and prune", Box::new(SweepAndPrune::default()));
    check("column sweep", Box::new(ColumnSweep::new(ColumnSweepParams::default())));
    check("dynamic tree", Box::new(DynamicTree::default()));
    check("coherent hash", Box::new(CoherentHash::new(CoherentHashParams::default())));
}
