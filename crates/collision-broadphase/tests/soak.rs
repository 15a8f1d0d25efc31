//! Long random scripts: add, remove and move for a long time, compare with brute force now and then, and end with
//! nothing left. `TUMBLESTONE_SOAK` multiplies the number of updates, 100 makes it a million for each structure with a
//! thousand boxes or more; `TUMBLESTONE_SEED` draws other boxes.
//!
//! An update is one call of `update` with the boxes that moved, then `pair_changes`: nearly all boxes in one of eight,
//! a tenth of them in the others, so that quiet and restless times alternate; before every fourth a box comes, and
//! about as often one goes. The changes are replayed at every update: a pair that ends without having begun, or begins
//! twice, is found there and then. The whole list is compared with brute force, and with the replay, at the sampled
//! ones.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "helpers of tests; a soak says what it did")]

use collision_broadphase::{BruteForce, CoherentHash, ColumnSweep, DynamicTree, PlainHash, SweepAndPrune};
use sim_math::{
    Aabb,
    glam::DVec3,
    testkit::{
        SplitMix64,
        soak::{cases, random},
    },
};
use sim_traits::{BroadPhase, Pair, PairChanges, ProxyId, ProxyKind};
use std::collections::BTreeSet;

/// Updates with a thousand boxes: a thousand in CI, a million in a full soak (a hundred times CI's cases).
fn updates() -> u64 {
    match cases(1000) {
        100_000.. => 1_000_000,
        some => some,
    }
}

/// Updates from one comparison with brute force to the next, which takes as long as several updates.
fn sample() -> u64 {
    (updates() / 4000).max(50)
}

struct World {
    random: SplitMix64,
    live: Vec<(u32, ProxyKind, Aabb, DVec3)>,
    next: u32,
    side: f64,
}

impl World {
    fn new(n: usize, seed: u64) -> Self {
        let mut world =
            Self { random: random(seed), live: Vec::new(), next: 0, side: 1.2 * (n as f64).cbrt_in_test() };
        for _ in 0..n {
            world.add();
        }
        world
    }

    fn add(&mut self) -> (u32, ProxyKind, Aabb) {
        let kind = if self.random.below(8) == 0 { ProxyKind::Fixed } else { ProxyKind::Moving };
        let half = if self.random.below(60) == 0 { self.random.vec3(6.0) } else { self.random.vec3(0.7) };
        let aabb = Aabb::from_center_half_extents(self.random.vec3(self.side), half);
        let velocity = self.random.vec3(0.05);
        self.live.push((self.next, kind, aabb, velocity));
        self.next += 1;
        (self.next - 1, kind, aabb)
    }

    /// Moves boxes, some of them by a jump: nearly all that can in one update of eight, else a run of a tenth. Writes
    /// ids and boxes.
    fn step(&mut self, ids: &mut Vec<ProxyId>, boxes: &mut Vec<Aabb>) {
        ids.clear();
        boxes.clear();
        let all = self.random.below(8) == 0;
        let len = self.live.len();
        let (first, count) = if all { (0, len) } else { (self.random.below(len.max(1)), len.div_ceil(10)) };
        for at in first..(first + count).min(len) {
            let (id, kind, aabb, velocity) = &mut self.live[at];
            if *kind == ProxyKind::Fixed || (all && self.random.below(30) == 0) {
                continue;
            }
            let center = aabb.center();
            for axis in 0..3 {
                if center[axis].abs() > self.side {
                    velocity[axis] = -center[axis].signum() * velocity[axis].abs();
                }
            }
            let jump = if self.random.below(1000) == 0 { self.random.vec3(3.0) } else { DVec3::ZERO };
            *aabb = Aabb { min: aabb.min + *velocity + jump, max: aabb.max + *velocity + jump };
            ids.push(ProxyId(*id));
            boxes.push(*aabb);
        }
    }
}

trait CbrtInTest {
    fn cbrt_in_test(self) -> f64;
}

impl CbrtInTest for f64 {
    fn cbrt_in_test(self) -> f64 {
        sim_math::ops::cbrt(self)
    }
}

/// Runs the script; returns the broad phase with all boxes removed.
fn soak<B: BroadPhase>(mut broad: B, n: usize, updates: u64, sample: u64) -> B {
    let mut world = World::new(n, 17);
    let mut brute = BruteForce::default();
    for &(id, kind, aabb, _) in &world.live {
        broad.insert(ProxyId(id), kind, &aabb).unwrap();
        brute.insert(ProxyId(id), kind, &aabb).unwrap();
    }
    let mut replayed = BTreeSet::new();
    let (mut ids, mut boxes) = (Vec::new(), Vec::new());
    let (mut moved, mut removed, mut changed, mut fewest) = (0, 0, 0, n);
    let (mut pairs, mut expected, mut changes) = (Vec::new(), Vec::new(), PairChanges::default());
    for update in 0..updates {
        if world.random.below(4) == 0 {
            let (id, kind, aabb) = world.add();
            broad.insert(ProxyId(id), kind, &aabb).unwrap();
            brute.insert(ProxyId(id), kind, &aabb).unwrap();
        }
        if world.live.len() > n && world.random.below(2) == 0 {
            let at = world.random.below(world.live.len());
            let id = ProxyId(world.live.swap_remove(at).0);
            broad.remove(id).unwrap();
            brute.remove(id).unwrap();
            removed += 1;
        }
        world.step(&mut ids, &mut boxes);
        moved += ids.len();
        fewest = fewest.min(world.live.len());
        broad.update(&ids, &boxes).unwrap();
        brute.update(&ids, &boxes).unwrap();
        broad.pair_changes(&mut changes);
        changed += changes.begun.len() + changes.ended.len();
        assert!(changes.ended.iter().all(|p| replayed.remove(p)), "update {update}");
        assert!(changes.begun.iter().all(|&p: &Pair| replayed.insert(p)), "update {update}");
        if update % sample == 0 {
            broad.pairs(&mut pairs);
            brute.pairs(&mut expected);
            pairs.sort_unstable();
            assert_eq!(pairs, expected, "update {update}");
            assert!(replayed.iter().eq(&expected), "update {update}");
        }
    }
    println!(
        "{}: {updates} updates of at least {fewest} boxes, {moved} boxes moved, {} added, {removed} removed, \
         {changed} changes, {} pairs at the end, {} comparisons",
        std::any::type_name::<B>(),
        world.next as usize - n,
        replayed.len(),
        updates.div_ceil(sample)
    );
    for (id, ..) in world.live {
        broad.remove(ProxyId(id)).unwrap();
    }
    broad.pairs(&mut pairs);
    broad.pair_changes(&mut changes);
    assert!(pairs.is_empty() && broad.is_empty());
    assert_eq!(changes.ended.len(), replayed.len());
    broad
}

#[test]
fn soak_column_sweep() {
    let broad = soak(ColumnSweep::default(), 1000, updates(), sample());
    assert_eq!(broad.report().pairs, 0);
}

#[test]
fn soak_coherent_hash() {
    let broad = soak(CoherentHash::default(), 1000, updates(), sample());
    let report = broad.report();
    assert_eq!((report.active_pairs, report.tiles, report.labels, report.all_over), (0, 0, 0, 0));
}

#[test]
fn soak_plain_hash() {
    soak(PlainHash::default(), 1000, updates(), sample());
}

#[test]
fn soak_dynamic_tree() {
    soak(DynamicTree::default(), 1000, updates(), sample());
}

#[test]
fn soak_sweep_and_prune() {
    let broad = soak(SweepAndPrune::default(), 1000, updates(), sample());
    assert_eq!(broad.report().pairs, 0);
}

/// Few boxes for many updates: the million of a full soak in pieces.
#[test]
fn soak_small_worlds_for_long() {
    for n in [1, 7, 40] {
        soak(ColumnSweep::default(), n, cases(8000), 7);
        soak(CoherentHash::default(), n, cases(8000), 7);
        soak(PlainHash::default(), n, cases(800), 7);
    }
}
