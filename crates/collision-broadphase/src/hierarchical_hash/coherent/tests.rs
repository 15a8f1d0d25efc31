//! Rules of the coherent hash, one test each.

use super::*;
use crate::BruteForce;
use sim_math::glam::DVec3;
use sim_traits::testkit::SplitMix64;
use std::collections::BTreeMap;

fn cube(x: f64, y: f64, z: f64, half: f64) -> Aabb {
    Aabb::from_center_half_extents(DVec3::new(x, y, z), DVec3::splat(half))
}

fn random_box(random: &mut SplitMix64) -> Aabb {
    let half = match random.below(30) {
        0 => DVec3::splat(1e4),
        1..3 => random.vec3(20.0),
        _ => random.vec3(1.0),
    };
    Aabb::from_center_half_extents(random.vec3(12.0), half)
}

/// Counters from scratch: ranges of both at the coarser native level, and one for each that is all over.
fn recount(hash: &CoherentHash) -> BTreeMap<(u32, u32), u32> {
    let mut counts = BTreeMap::new();
    let live: Vec<u32> = hash.proxies.live().collect();
    for &a in &live {
        for &b in live.iter().filter(|&&b| b > a && hash.proxies.may_pair(a, b)) {
            let (pa, pb) = (hash.places[a as usize], hash.places[b as usize]);
            let mut shared = u32::from(pa == Place::AllOver) + u32::from(pb == Place::AllOver);
            if let (Place::Tiles(na), Place::Tiles(nb)) = (pa, pb) {
                let level = usize::from(na.max(nb));
                let range = |s: u32| hash.params.levels.range(level, &hash.proxies.boxes[s as usize]);
                let other = range(b);
                range(a).for_each(|tile| shared += u32::from(other.contains(tile)));
            }
            if shared > 0 {
                counts.insert((a, b), shared);
            }
        }
    }
    counts
}

fn counters(hash: &CoherentHash) -> BTreeMap<(u32, u32), u32> {
    hash.pairs.entries().iter().filter(|e| e.shared > 0).map(|e| ((e.a, e.b), e.shared)).collect()
}

/// Labels that no tile uses.
fn free_labels(hash: &CoherentHash) -> usize {
    hash.labels.slots(hash.labels.free).count()
}

// proves: FON-22, FON-27, FON-30, FON-26
#[test]
fn counters_equal_a_recount_and_nothing_leaks() {
    for seed in 0..6 {
        let mut random = SplitMix64(seed);
        let mut hash = CoherentHash::new(CoherentHashParams {
            patience: (seed % 3) as u32,
            threshold: 4 + 4 * (seed % 2) as u32,
            ..CoherentHashParams::default()
        });
        let mut live: Vec<u32> = Vec::new();
        let mut created_most = 0;
        for step in 0..1500_u32 {
            match random.below(5) {
                0 | 1 if live.len() < 150 => {
                    let kind = if random.below(5) == 0 { ProxyKind::Fixed } else { ProxyKind::Moving };
                    hash.insert(ProxyId(step), kind, &random_box(&mut random)).unwrap();
                    live.push(step);
                }
                2 if live.len() > 100 => {
                    let id = live.swap_remove(random.below(live.len()));
                    hash.remove(ProxyId(id)).unwrap();
                }
                _ => {
                    let ids: Vec<_> =
                        live.iter().map(|&i| ProxyId(i)).filter(|_| random.below(2) == 0).collect();
                    let boxes: Vec<_> = ids
                        .iter()
                        .map(|&id| {
                            let old = hash.proxies.boxes[hash.proxies.slot(id).unwrap() as usize];
                            let d = random.vec3(0.4);
                            if random.below(20) == 0 {
                                random_box(&mut random)
                            } else {
                                Aabb { min: old.min + d, max: old.max + d }
                            }
                        })
                        .collect();
                    hash.update(&ids, &boxes).unwrap();
                }
            }
            hash.pairs(&mut Vec::new());
            if step % 50 == 0 {
                assert_eq!(counters(&hash), recount(&hash), "seed {seed}, step {step}");
                let report = hash.report();
                let listed = |first: u32| hash.labels.slots(first).count();
                let labels: usize = hash.tiles.iter().map(|t| listed(t.natives) + listed(t.passers)).sum();
                let used = hash.tiles.iter().filter(|t| t.natives != NONE || t.passers != NONE).count();
                assert_eq!(labels + free_labels(&hash), hash.labels.pool.len());
                assert_eq!((report.labels, report.tiles), (labels, used));
                assert_eq!(report.objects, live.len());
                assert_eq!(report.active_pairs, hash.pairs.entries().len());
                assert!(report.pairs_created >= created_most);
                created_most = report.pairs_created;
                // Memory by pairs: the table holds the counted pairs and those that fade, no more.
                assert!(report.active_pairs <= 2 * counters(&hash).len() + 200);
            }
        }
        for id in live {
            hash.remove(ProxyId(id)).unwrap();
        }
        let report = hash.report();
        assert_eq!((report.objects, report.active_pairs, report.tiles), (0, 0, 0));
        assert_eq!((report.labels, report.all_over), (0, 0));
        assert_eq!(hash.free_tiles.len(), hash.tiles.len());
        assert_eq!(free_labels(&hash), hash.labels.pool.len());
    }
}

// proves: FON-20
#[test]
fn a_higher_threshold_for_fixed_boxes_saves_pairs_with_a_floor() {
    let pairs = |threshold_fixed: u32| {
        let levels = Levels::fewest(1.0, 1000.0, 0.5, 1.0).unwrap();
        let mut hash = CoherentHash::new(CoherentHashParams {
            levels,
            threshold_fixed,
            exact: false,
            ..CoherentHashParams::default()
        });
        let floor = Aabb::from_center_half_extents(DVec3::new(0.0, 0.0, -0.5), DVec3::new(500.0, 500.0, 0.5));
        hash.insert(ProxyId(0), ProxyKind::Fixed, &floor).unwrap();
        for i in 1..400 {
            let z = f64::from(i % 20) * 10.0;
            hash.insert(ProxyId(i), ProxyKind::Moving, &cube(f64::from(i) - 200.0, 3.0, z + 0.5, 0.5))
                .unwrap();
        }
        hash.report().active_pairs
    };
    let (plain, high) = (pairs(8), pairs(2048));
    assert!(2 * high < plain, "{high} pairs against {plain}");
}

// proves: FON-23
#[test]
fn patience_spans_a_bounce() {
    let created = |patience: u32| {
        let mut hash = CoherentHash::new(CoherentHashParams { patience, ..CoherentHashParams::default() });
        hash.insert(ProxyId(0), ProxyKind::Fixed, &cube(0.0, 0.0, -0.5, 0.5)).unwrap();
        hash.insert(ProxyId(1), ProxyKind::Moving, &cube(0.0, 0.0, 5.0, 0.05)).unwrap();
        let before = hash.report().pairs_created;
        for step in 0..200 {
            // A bounce of period 20: near the floor, then out of its tiles.
            let z = 0.1 + 5.0 * (f64::from(step % 20) / 20.0 * std::f64::consts::PI).sin_in_test();
            hash.update(&[ProxyId(1)], &[cube(0.0, 0.0, z, 0.05)]).unwrap();
            hash.pairs(&mut Vec::new());
        }
        hash.report().pairs_created - before
    };
    assert_eq!(created(20), 1);
    assert_eq!(created(0), 10);
}

trait SinInTest {
    fn sin_in_test(self) -> f64;
}

impl SinInTest for f64 {
    fn sin_in_test(self) -> f64 {
        sim_math::ops::sin(self)
    }
}

// proves: FON-24
#[test]
fn a_size_that_wavers_around_a_threshold_changes_its_level_once() {
    let mut hash = CoherentHash::default();
    // A cube at the corner of eight coarse tiles: its level depends on the size alone.
    let at = |half: f64| cube(0.0, 0.0, 0.0, half);
    let levels = hash.params.levels;
    let edge = levels.tile(1);
    assert_ne!(levels.native(&at(0.99 * edge), 8), levels.native(&at(1.01 * edge), 8));
    hash.insert(ProxyId(0), ProxyKind::Moving, &at(0.99 * edge)).unwrap();
    for step in 0..500 {
        hash.update(&[ProxyId(0)], &[at(edge * if step % 2 == 0 { 1.01 } else { 0.99 })]).unwrap();
    }
    assert_eq!(hash.report().level_changes, 1);
}

// proves: FON-25
#[test]
fn a_huge_box_is_all_over_and_comes_back() {
    let mut hash = CoherentHash::new(CoherentHashParams { exact: false, ..CoherentHashParams::default() });
    for i in 0..30 {
        hash.insert(ProxyId(i), ProxyKind::Moving, &cube(3.0 * f64::from(i), 0.0, 0.0, 0.4)).unwrap();
    }
    hash.pairs(&mut Vec::new());
    let (tiles, pairs) = (snapshot(&hash), counters(&hash));
    hash.update(&[ProxyId(7)], &[Aabb::EVERYWHERE]).unwrap();
    let mut list = Vec::new();
    hash.pairs(&mut list);
    assert_eq!(hash.report().all_over, 1);
    assert_eq!(list.iter().filter(|p| p.a == ProxyId(7) || p.b == ProxyId(7)).count(), 29);
    hash.insert(ProxyId(99), ProxyKind::Moving, &cube(1e6, 0.0, 0.0, 0.4)).unwrap();
    hash.pairs(&mut list);
    assert!(list.contains(&Pair::new(ProxyId(7), ProxyId(99))));
    hash.remove(ProxyId(99)).unwrap();
    hash.update(&[ProxyId(7)], &[cube(21.0, 0.0, 0.0, 0.4)]).unwrap();
    hash.pairs(&mut list);
    assert_eq!(hash.report().all_over, 0);
    assert_eq!((snapshot(&hash), counters(&hash)), (tiles, pairs));
}

/// Occupants of each tile, sorted.
fn snapshot(hash: &CoherentHash) -> BTreeMap<u64, (Vec<u32>, Vec<u32>)> {
    let sorted = |first: u32| {
        let mut list: Vec<u32> = hash.labels.slots(first).collect();
        list.sort_unstable();
        list
    };
    let tile = |at: u32| &hash.tiles[at as usize];
    hash.map.iter().map(|(&k, &at)| (k, (sorted(tile(at).natives), sorted(tile(at).passers)))).collect()
}

// proves: FON-18, FON-28
#[test]
fn pairs_contain_all_overlaps_and_equal_them_when_filtered() {
    let soak = std::env::var("TUMBLESTONE_SOAK").ok().and_then(|s| s.parse::<u64>().ok()).unwrap_or(1);
    // 2000 fresh sets of 32 boxes: 1e6 random configurations of two.
    for seed in 0..2000 * soak {
        let mut random = SplitMix64(seed);
        let mut brute = BruteForce::default();
        let mut loose =
            CoherentHash::new(CoherentHashParams { exact: false, ..CoherentHashParams::default() });
        let mut exact = CoherentHash::default();
        for i in 0..32 {
            let aabb = random_box(&mut random);
            for broad in [&mut brute as &mut dyn BroadPhase, &mut loose, &mut exact] {
                broad.insert(ProxyId(i), ProxyKind::Moving, &aabb).unwrap();
            }
        }
        let (mut expected, mut close, mut filtered) = (Vec::new(), Vec::new(), Vec::new());
        brute.pairs(&mut expected);
        loose.pairs(&mut close);
        exact.pairs(&mut filtered);
        close.sort_unstable();
        filtered.sort_unstable();
        assert!(expected.iter().all(|p| close.binary_search(p).is_ok()), "seed {seed}");
        assert_eq!(filtered, expected, "seed {seed}");
    }
}
