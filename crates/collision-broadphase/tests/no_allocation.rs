//! How often a warmed-up broad phase asks for memory: never, or seldom and for a stated reason.
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

/// Runs `broad` warm for two periods and allows `most` allocations in them.
fn check(name: &str, mut broad: Box<dyn BroadPhase>, most: u64) {
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
    assert!(count <= most, "{name}: {count} allocations in {} steps", 2 * PERIOD);
}

#[test]
fn warmed_updates_allocate_nothing() {
    check("brute force", Box::new(BruteForce::default()), 0);
    check("plain hash", Box::new(PlainHash::new(PlainHashParams::default())), 0);
    check("sweep and prune", Box::new(SweepAndPrune::default()), 0);
}

#[test]
fn the_others_allocate_seldom() {
    // Three times in a wholesale find, of which there is one in about twenty steps.
    check("column sweep", Box::new(ColumnSweep::new(ColumnSweepParams::default())), 40);
    // Working memory of a rebuild.
    check("dynamic tree", Box::new(DynamicTree::default()), 60);
    // A tile that holds more boxes than it ever did.
    check("coherent hash", Box::new(CoherentHash::new(CoherentHashParams::default())), 600);
}
