//! Comparisons that the theses make: coherent against plain hash, sweep and prune against dice on a floor.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use collision_broadphase::{
    BruteForce, CoherentHash, CoherentHashParams, ColumnSweep, Levels, PlainHash, PlainHashParams,
    SweepAndPrune,
};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{BroadPhase, Pair, ProxyId, ProxyKind, testkit::SplitMix64};

/// Boxes that fly straight and are reflected at the walls of a cube.
struct Flight {
    center: Vec<DVec3>,
    velocity: Vec<DVec3>,
    half: Vec<DVec3>,
    side: f64,
}

impl Flight {
    fn new(n: usize, side: f64, speed: f64, seed: u64) -> Self {
        let mut random = SplitMix64(seed);
        Self {
            center: (0..n).map(|_| (random.vec3(0.5) + 0.5) * side).collect(),
            velocity: (0..n).map(|_| random.vec3(speed)).collect(),
            half: (0..n).map(|_| random.vec3(0.15).abs() + 0.3).collect(),
            side,
        }
    }

    fn step(&mut self) -> Vec<Aabb> {
        for (c, v) in self.center.iter_mut().zip(&mut self.velocity) {
            for axis in 0..3 {
                let next = c[axis] + v[axis];
                if next < 0.0 || next > self.side {
                    v[axis] = -v[axis];
                }
                c[axis] += v[axis];
            }
        }
        self.center.iter().zip(&self.half).map(|(&c, &h)| Aabb::from_center_half_extents(c, h)).collect()
    }
}

fn fill(broad: &mut dyn BroadPhase, boxes: &[Aabb]) -> Vec<ProxyId> {
    let ids: Vec<_> = (0..boxes.len() as u32).map(ProxyId).collect();
    for (&id, aabb) in ids.iter().zip(boxes) {
        broad.insert(id, ProxyKind::Moving, aabb).unwrap();
    }
    ids
}

fn pairs_of(broad: &mut dyn BroadPhase) -> Vec<Pair> {
    let mut pairs = Vec::new();
    broad.pairs(&mut pairs);
    pairs.sort_unstable();
    pairs
}

/// Every overlap is found, and labels and meetings grow like boxes and pairs: sixteen times the boxes in a world no
/// denser, with sizes 1 : 30.
// proves: MIR-32
#[test]
fn work_grows_like_boxes_and_pairs() {
    let work = |n: usize| {
        let mut random = SplitMix64(6);
        let side = 3.0 * sim_math::ops::cbrt(n as f64);
        let mut plain = PlainHash::default();
        let mut brute = BruteForce::default();
        for id in (0..n as u32).map(ProxyId) {
            let size = sim_math::ops::powf(10.0, random.range(-1.0, 0.5));
            let center = (random.vec3(0.5) + 0.5) * side;
            let aabb = Aabb::from_center_half_extents(center, DVec3::splat(0.5 * size));
            plain.insert(id, ProxyKind::Moving, &aabb).unwrap();
            brute.insert(id, ProxyKind::Moving, &aabb).unwrap();
        }
        let pairs = pairs_of(&mut plain);
        assert_eq!(pairs, pairs_of(&mut brute));
        let report = plain.report();
        (report.labels + report.meetings as usize) as f64 / (n + pairs.len()) as f64
    };
    let (small, large) = (work(1000), work(16_000));
    assert!(large < 1.4 * small, "work per box and pair: {small} and {large}");
    assert!(large < 40.0, "{large}");
}

/// Close pairs (no box test) of the incremental and of the rebuilt hash, and true pairs of the plain one.
/// Tiles touched stand for cycles here; instructions, 11 times fewer for 25 bodies, are counted by the bench `bounce`.
// proves: FON-21, MIR-33
#[test]
fn incremental_equals_rebuilt_and_saves_the_work() {
    let steps = 100_000;
    let mut params = CoherentHashParams::default();
    params.levels = Levels::fewest(0.6, 1.0, 0.5, 1.0).unwrap();
    params.exact = false;
    let mut coherent = CoherentHash::new(params);
    params.coherent = false;
    let mut rebuilt = CoherentHash::new(params);
    let mut flight = Flight::new(25, 6.0, 0.01, 1);
    let boxes = flight.step();
    let ids = fill(&mut coherent, &boxes);
    fill(&mut rebuilt, &boxes);
    for step in 0..steps {
        let boxes = flight.step();
        coherent.update(&ids, &boxes).unwrap();
        rebuilt.update(&ids, &boxes).unwrap();
        if step % 10 == 0 {
            assert_eq!(pairs_of(&mut coherent), pairs_of(&mut rebuilt), "step {step}");
        } else {
            coherent.pairs(&mut Vec::new());
        }
    }
    assert_eq!(pairs_of(&mut coherent), pairs_of(&mut rebuilt));
    let (kept, anew) = (coherent.report(), rebuilt.report());
    assert_eq!(kept.tiles, anew.tiles);
    // Rebuilt only where compared, a tenth of the steps, and still more work. The instruction counts for every
    // step are in the bench `bounce`.
    assert!(kept.tile_moves * 6 < anew.tile_moves * 10, "{} against {}", kept.tile_moves, anew.tile_moves);
}

#[test]
fn the_coherent_and_the_plain_hash_agree() {
    let levels = Levels::fewest(0.6, 1.0, 0.5, 1.0).unwrap();
    let mut params = PlainHashParams::default();
    params.levels = Some(levels);
    let mut plain = PlainHash::new(params);
    let mut coherent = CoherentHash::default();
    let mut flight = Flight::new(400, 16.0, 0.05, 2);
    let boxes = flight.step();
    let ids = fill(&mut plain, &boxes);
    fill(&mut coherent, &boxes);
    for step in 0..300 {
        let boxes = flight.step();
        plain.update(&ids, &boxes).unwrap();
        coherent.update(&ids, &boxes).unwrap();
        assert_eq!(pairs_of(&mut plain), pairs_of(&mut coherent), "step {step}");
    }
}

/// Dice side by side on a floor, trembling by so many metres.
fn dice(n: usize, tremble: f64, random: &mut SplitMix64) -> Vec<Aabb> {
    let row = (n as f64).sqrt() as usize;
    (0..n)
        .map(|i| {
            let place = DVec3::new((i % row) as f64 * 1.2, (i / row) as f64 * 1.2, 0.5);
            Aabb::from_center_half_extents(place + random.vec3(tremble), DVec3::splat(0.5))
        })
        .collect()
}

// proves: MIR-37
#[test]
fn dice_on_a_floor_swap_on_the_vertical_axis() {
    let work = |n: usize| {
        let mut random = SplitMix64(3);
        let (mut sap, mut hash) = (SweepAndPrune::default(), CoherentHash::default());
        let boxes = dice(n, 0.001, &mut random);
        let ids = fill(&mut sap, &boxes);
        fill(&mut hash, &boxes);
        sap.pairs(&mut Vec::new());
        let (swaps, moves) = (sap.report().swaps, hash.report().tile_moves);
        let steps = 20;
        for _ in 0..steps {
            let boxes = dice(n, 0.001, &mut random);
            sap.update(&ids, &boxes).unwrap();
            hash.update(&ids, &boxes).unwrap();
            assert_eq!(pairs_of(&mut sap), pairs_of(&mut hash));
        }
        let after = sap.report().swaps;
        let per_step = |x: u64| x as f64 / f64::from(steps);
        (per_step(after[2] - swaps[2]), per_step(hash.report().tile_moves - moves))
    };
    let (small, large) = (work(256), work(1024));
    // Four times the dice: sixteen times the swaps on z, four times the tiles.
    assert!(large.0 > 12.0 * small.0, "swaps {} and {}", small.0, large.0);
    assert!(large.0 > 0.2 * 1024.0 * 1024.0, "swaps {}", large.0);
    assert!(large.1 < 6.0 * small.1.max(256.0), "tiles {} and {}", small.1, large.1);
    assert!(large.1 < 1024.0 * 24.0, "tiles {}", large.1);
}

// proves: CLI-96, ARN-28
#[test]
fn coherence_shows_in_the_counters() {
    let mut flight = Flight::new(2000, 30.0, 0.005, 4);
    let (mut sweep, mut hash) = (ColumnSweep::default(), CoherentHash::default());
    let boxes = flight.step();
    let ids = fill(&mut sweep, &boxes);
    fill(&mut hash, &boxes);
    for _ in 0..40 {
        let boxes = flight.step();
        sweep.update(&ids, &boxes).unwrap();
        hash.update(&ids, &boxes).unwrap();
        assert_eq!(pairs_of(&mut sweep), pairs_of(&mut hash));
    }
    let (sweep_before, hash_before) = (sweep.report(), hash.report());
    for _ in 0..160 {
        let boxes = flight.step();
        sweep.update(&ids, &boxes).unwrap();
        hash.update(&ids, &boxes).unwrap();
        assert_eq!(pairs_of(&mut sweep), pairs_of(&mut hash));
    }
    let (s, h) = (sweep.report(), hash.report());
    assert_eq!(s.steps - sweep_before.steps, 160);
    assert!(s.finds - sweep_before.finds <= 8, "a find in 24 steps: {}", s.finds - sweep_before.finds);
    let looks = (s.looks - sweep_before.looks) as f64 / 160.0;
    assert!(looks < 0.1 * s.pairs as f64, "{looks} looks a step at {} pairs", s.pairs);
    let broken = (s.broken - sweep_before.broken) as f64 / 160.0;
    assert!(broken < 0.01 * 2000.0, "{broken} broken promises a step");
    let moves = (h.tile_moves - hash_before.tile_moves) as f64 / 160.0;
    let (hits, misses) = (h.plane_hits - hash_before.plane_hits, h.plane_misses - hash_before.plane_misses);
    println!("separating planes: {hits} hits, {misses} misses");
    assert!(hits > 20 * misses, "separating planes: {hits} hits, {misses} misses");
    assert!(moves < 0.1 * h.labels as f64, "{moves} tile moves a step at {} labels", h.labels);
}

/// Trembling dice break many promises before their tolerances are known. That cuts a window short, but the scene is
/// calm: the next one is longer all the same.
#[test]
fn windows_of_trembling_dice_only_grow() {
    let mut random = SplitMix64(5);
    let mut sweep = ColumnSweep::default();
    let ids = fill(&mut sweep, &dice(3000, 0.0006, &mut random));
    let mut windows = Vec::new();
    for _ in 0..80 {
        sweep.update(&ids, &dice(3000, 0.0006, &mut random)).unwrap();
        sweep.pairs(&mut Vec::new());
        windows.push(sweep.report().window);
    }
    assert!(windows.is_sorted() && windows.last() >= Some(&64), "{windows:?}");
}
