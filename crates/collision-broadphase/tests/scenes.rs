//! Every broad phase against brute force on scenes that move, and at the limits of what a world can contain.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use collision_broadphase::{
    BruteForce, CoherentHash, CoherentHashParams, ColumnSweep, ColumnSweepParams, DynamicTree, PlainHash,
    SweepAndPrune,
};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{
    BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray, testkit::SplitMix64,
};
use std::{collections::BTreeSet, ops::ControlFlow};

fn all() -> Vec<(&'static str, Box<dyn BroadPhase>)> {
    let mut short = ColumnSweepParams::default();
    short.max_window = 3;
    let mut rebuilt = CoherentHashParams::default();
    rebuilt.coherent = false;
    vec![
        ("column sweep", Box::new(ColumnSweep::default())),
        ("column sweep, short window", Box::new(ColumnSweep::new(short))),
        ("coherent hash", Box::new(CoherentHash::default())),
        ("rebuilt hash", Box::new(CoherentHash::new(rebuilt))),
        ("plain hash", Box::new(PlainHash::default())),
        ("sweep and prune", Box::new(SweepAndPrune::default())),
        ("dynamic tree", Box::new(DynamicTree::default())),
    ]
}

/// How the boxes of a scene move.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Motion {
    Straight,
    Falling,
    Trembling,
    Spinning,
    Teleporting,
    MostlyAsleep,
}

struct Scene {
    boxes: Vec<Aabb>,
    velocity: Vec<DVec3>,
    motion: Motion,
    random: SplitMix64,
}

impl Scene {
    fn new(n: usize, motion: Motion, spread: DVec3, seed: u64) -> Self {
        let mut random = SplitMix64(seed);
        let place = |random: &mut SplitMix64| random.vec3(1.0) * spread;
        let boxes = (0..n)
            .map(|i| {
                let half = if i % 37 == 0 { random.vec3(6.0) } else { random.vec3(0.8) };
                Aabb::from_center_half_extents(place(&mut random), half)
            })
            .collect();
        let velocity = (0..n).map(|_| random.vec3(0.1)).collect();
        Self { boxes, velocity, motion, random }
    }

    /// Ids and boxes that change in this step.
    fn step(&mut self) -> (Vec<ProxyId>, Vec<Aabb>) {
        let (mut ids, mut boxes) = (Vec::new(), Vec::new());
        for i in 0..self.boxes.len() {
            let mut shift = self.velocity[i];
            match self.motion {
                Motion::Straight => {}
                Motion::Falling => self.velocity[i].z -= 0.01,
                Motion::Trembling => shift = self.random.vec3(0.003),
                Motion::Spinning => {
                    let grow = self.random.vec3(0.02);
                    self.boxes[i].max = (self.boxes[i].max + grow).max(self.boxes[i].min);
                }
                Motion::Teleporting => {
                    if self.random.below(50) == 0 {
                        shift = self.random.vec3(10.0);
                    }
                }
                Motion::MostlyAsleep => {
                    if self.random.below(20) != 0 {
                        continue;
                    }
                }
            }
            let b = &mut self.boxes[i];
            if b.min.z < -8.0 {
                self.velocity[i].z = self.velocity[i].z.abs();
            }
            *b = Aabb { min: b.min + shift, max: b.max + shift };
            ids.push(ProxyId(i as u32));
            boxes.push(*b);
        }
        (ids, boxes)
    }
}

fn sorted(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable();
    pairs
}

#[test]
fn all_equal_brute_force_on_moving_scenes() {
    let motions = [
        Motion::Straight,
        Motion::Falling,
        Motion::Trembling,
        Motion::Spinning,
        Motion::Teleporting,
        Motion::MostlyAsleep,
    ];
    let spreads =
        [DVec3::splat(8.0), DVec3::new(20.0, 20.0, 0.1), DVec3::new(0.1, 60.0, 0.1), DVec3::splat(80.0)];
    for (m, &motion) in motions.iter().enumerate() {
        for (s, &spread) in spreads.iter().enumerate() {
            let mut scene = Scene::new(150, motion, spread, (m * 10 + s) as u64);
            let mut brute = BruteForce::default();
            let mut broads = all();
            let mut replayed: Vec<BTreeSet<Pair>> = vec![BTreeSet::new(); broads.len()];
            let floor =
                Aabb { min: DVec3::NEG_INFINITY, max: DVec3::new(f64::INFINITY, f64::INFINITY, -7.9) };
            for broad in broads.iter_mut().map(|b| b.1.as_mut()).chain([&mut brute as &mut dyn BroadPhase]) {
                for (i, b) in scene.boxes.iter().enumerate() {
                    let kind = if i % 5 == 4 { ProxyKind::Fixed } else { ProxyKind::Moving };
                    broad.insert(ProxyId(i as u32), kind, b).unwrap();
                }
                broad.insert(ProxyId(1000), ProxyKind::Fixed, &floor).unwrap();
            }
            for step in 0..60 {
                let (ids, boxes) = scene.step();
                brute.update(&ids, &boxes).unwrap();
                let mut expected = Vec::new();
                brute.pairs(&mut expected);
                for ((name, broad), replayed) in broads.iter_mut().zip(&mut replayed) {
                    let context = format!("{name}, {motion:?}, spread {spread}, step {step}");
                    broad.update(&ids, &boxes).unwrap();
                    // Lists and changes are asked for in all orders.
                    if step % 3 != 0 {
                        let mut got = Vec::new();
                        broad.pairs(&mut got);
                        assert_eq!(sorted(got), expected, "{context}");
                    }
                    if step % 4 != 1 {
                        let mut changes = PairChanges::default();
                        broad.pair_changes(&mut changes);
                        assert!(changes.ended.iter().all(|p| replayed.remove(p)), "{context}");
                        assert!(changes.begun.iter().all(|&p| replayed.insert(p)), "{context}");
                        assert!(replayed.iter().eq(&expected), "{context}");
                    }
                }
            }
        }
    }
}

/// A find that is spread over steps, with boxes coming, going, stopping and turning in each of them.
#[test]
fn finds_in_pieces_agree_with_brute_force() {
    for seed in 0..6 {
        let mut random = SplitMix64(seed);
        let (mut spread, mut brute) = (ColumnSweep::default(), BruteForce::default());
        let mut live: Vec<(ProxyId, ProxyKind, Aabb, DVec3)> = Vec::new();
        let mut next = 0;
        for step in 0..400 {
            while live.len() < 300 {
                let kind = if random.below(6) == 0 { ProxyKind::Fixed } else { ProxyKind::Moving };
                let aabb = Aabb::from_center_half_extents(random.vec3(9.0), random.vec3(0.8));
                for broad in [&mut spread as &mut dyn BroadPhase, &mut brute] {
                    broad.insert(ProxyId(next), kind, &aabb).unwrap();
                }
                live.push((ProxyId(next), kind, aabb, random.vec3(0.05)));
                next += 1;
            }
            if random.below(2) == 0 {
                let (id, ..) = live.swap_remove(random.below(live.len()));
                for broad in [&mut spread as &mut dyn BroadPhase, &mut brute] {
                    broad.remove(id).unwrap();
                }
            }
            let (mut ids, mut boxes) = (Vec::new(), Vec::new());
            for (id, kind, aabb, velocity) in &mut live {
                if *kind == ProxyKind::Fixed && random.below(400) != 0 {
                    continue;
                }
                match random.below(200) {
                    0 => *velocity = random.vec3(0.05),
                    1 => continue,
                    _ => {}
                }
                if aabb.center().abs().max_element() > 9.0 {
                    *velocity = -0.05 * aabb.center().normalize();
                }
                *aabb = Aabb { min: aabb.min + *velocity, max: aabb.max + *velocity };
                ids.push(*id);
                boxes.push(*aabb);
            }
            let mut lists = [Vec::new(), Vec::new()];
            for (broad, list) in [&mut spread as &mut dyn BroadPhase, &mut brute].into_iter().zip(&mut lists)
            {
                broad.update(&ids, &boxes).unwrap();
                broad.pairs(list);
                list.sort_unstable();
            }
            assert_eq!(lists[0], lists[1], "seed {seed}, step {step}");
        }
        let spread = spread.report();
        assert!(spread.finds < 100 && spread.looks > 1000, "{spread:?}");
    }
}

#[test]
fn far_away_and_across_zero_nothing_is_lost() {
    for far in [0.0, 1e6, -1e9] {
        let base = DVec3::new(far, -far, 0.5 * far);
        for (name, mut broad) in all() {
            let mut random = SplitMix64(4);
            let mut brute = BruteForce::default();
            let mut boxes = Vec::new();
            for i in 0..120 {
                let b = Aabb::from_center_half_extents(base + random.vec3(3.0), random.vec3(0.5));
                broad.insert(ProxyId(i), ProxyKind::Moving, &b).unwrap();
                brute.insert(ProxyId(i), ProxyKind::Moving, &b).unwrap();
                boxes.push(b);
            }
            let ids: Vec<_> = (0..120).map(ProxyId).collect();
            for step in 0..25 {
                for b in &mut boxes {
                    let d = DVec3::new(0.05, -0.03, 0.01);
                    let d = if step % 2 == 0 { d } else { random.vec3(0.1) };
                    *b = Aabb { min: b.min + d, max: b.max + d };
                }
                broad.update(&ids, &boxes).unwrap();
                brute.update(&ids, &boxes).unwrap();
                let (mut got, mut expected) = (Vec::new(), Vec::new());
                broad.pairs(&mut got);
                brute.pairs(&mut expected);
                assert_eq!(sorted(got), expected, "{name} at {far}, step {step}");
            }
        }
    }
}

#[test]
fn empty_boxes_and_boxes_of_everything_pair_by_definition() {
    let point = |x: f64| Aabb { min: DVec3::splat(x), max: DVec3::splat(x) };
    for (name, mut broad) in all() {
        broad.insert(ProxyId(0), ProxyKind::Moving, &Aabb::EVERYWHERE).unwrap();
        broad.insert(ProxyId(1), ProxyKind::Moving, &point(0.0)).unwrap();
        broad.insert(ProxyId(2), ProxyKind::Moving, &point(0.0)).unwrap();
        broad.insert(ProxyId(3), ProxyKind::Fixed, &point(7.0)).unwrap();
        broad.insert(ProxyId(4), ProxyKind::Fixed, &Aabb::EVERYWHERE).unwrap();
        let mut got = Vec::new();
        broad.pairs(&mut got);
        let expected = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 4), (2, 4)];
        assert_eq!(sorted(got), expected.map(|(a, b)| Pair::new(ProxyId(a), ProxyId(b))), "{name}");
    }
}

#[test]
fn nan_and_inverted_boxes_are_refused_with_the_id() {
    let nan = Aabb { min: DVec3::new(0.0, f64::NAN, 0.0), max: DVec3::ONE };
    let inverted = Aabb { min: DVec3::ONE, max: DVec3::ZERO };
    let good = Aabb { min: DVec3::ZERO, max: DVec3::ONE };
    for (name, mut broad) in all() {
        broad.insert(ProxyId(5), ProxyKind::Moving, &good).unwrap();
        for bad in [nan, inverted] {
            let named = |r: Result<(), BroadPhaseError>, id: u32| matches!(r, Err(BroadPhaseError::InvalidBox { id: ProxyId(i), .. }) if i == id);
            assert!(named(broad.insert(ProxyId(9), ProxyKind::Moving, &bad), 9), "{name}");
            assert!(named(broad.update(&[ProxyId(5)], &[bad]), 5), "{name}");
        }
        assert_eq!(broad.len(), 1, "{name}");
    }
}

/// Visits hold a shared reference, so a box cannot be removed during one; lists are the caller's own, so boxes
/// can be removed while walking one, and the next list knows.
#[test]
fn boxes_can_be_removed_while_walking_a_list() {
    for (name, mut broad) in all() {
        for i in 0..30 {
            let b = Aabb::from_center_half_extents(DVec3::X * f64::from(i) * 0.5, DVec3::splat(0.6));
            broad.insert(ProxyId(i), ProxyKind::Moving, &b).unwrap();
        }
        let mut pairs = Vec::new();
        broad.pairs(&mut pairs);
        let mut gone = BTreeSet::new();
        for pair in sorted(pairs) {
            if !gone.contains(&pair.a) && !gone.contains(&pair.b) {
                broad.remove(pair.b).unwrap();
                gone.insert(pair.b);
            }
        }
        let mut rest = Vec::new();
        broad.pairs(&mut rest);
        assert!(rest.iter().all(|p| !gone.contains(&p.a) && !gone.contains(&p.b)), "{name}");
        assert!(rest.is_empty() && !broad.is_empty(), "{name}: {rest:?}");
    }
}

#[test]
fn a_million_boxes_are_no_special_case() {
    let mut broad = ColumnSweep::default();
    let n = 1_000_000_u32;
    let at = |i: u32, shift: f64| {
        let p = DVec3::new(f64::from(i % 1000), f64::from(i / 1000), shift) * 1.0;
        Aabb::from_center_half_extents(p, DVec3::splat(0.45))
    };
    for i in 0..n {
        broad.insert(ProxyId(i), ProxyKind::Moving, &at(i, 0.0)).unwrap();
    }
    let mut pairs = Vec::new();
    broad.pairs(&mut pairs);
    assert!(pairs.is_empty());
    // Every second box of a row grows over its neighbours.
    let ids: Vec<_> = (0..n).filter(|i| i % 2 == 0).map(ProxyId).collect();
    let boxes: Vec<_> = ids.iter().map(|id| at(id.0, 0.0).grown(0.2)).collect();
    broad.update(&ids, &boxes).unwrap();
    broad.pairs(&mut pairs);
    // 999 borders of a grown and a small column, level and diagonal; 500 grown columns within themselves.
    assert_eq!(pairs.len(), 999 * (1000 + 2 * 999) + 500 * 999);
    let mut hits = 0;
    broad.visit_box(&at(500_500, 0.0), &mut |_| {
        hits += 1;
        ControlFlow::Continue(())
    });
    assert!(hits >= 3);
}

#[test]
fn rays_in_a_large_scene_meet_what_brute_force_meets() {
    let mut random = SplitMix64(11);
    let mut brute = BruteForce::default();
    let mut broads = all();
    for i in 0..2000 {
        let b = Aabb::from_center_half_extents(random.vec3(60.0), random.vec3(1.5));
        let kind = if i % 3 == 0 { ProxyKind::Fixed } else { ProxyKind::Moving };
        brute.insert(ProxyId(i), kind, &b).unwrap();
        for (_, broad) in &mut broads {
            broad.insert(ProxyId(i), kind, &b).unwrap();
        }
    }
    for (_, broad) in &mut broads {
        broad.pairs(&mut Vec::new());
    }
    let hits = |broad: &dyn BroadPhase, ray: &Ray| {
        let mut ids = Vec::new();
        broad.visit_ray(ray, &mut |id| {
            ids.push(id);
            ray.t_max
        });
        ids.sort_unstable();
        ids
    };
    for n in 0..300 {
        let mut direction = random.unit_vec3();
        if n % 5 == 0 {
            direction[n / 5 % 3] = 0.0;
        }
        if n % 7 == 0 {
            direction = [DVec3::X, DVec3::Y, DVec3::NEG_Z][n / 7 % 3];
        }
        let t_max = if n % 2 == 0 { f64::INFINITY } else { random.range(0.0, 100.0) };
        let ray = Ray { origin: random.vec3(80.0), direction, t_max };
        let expected = hits(&brute, &ray);
        for (name, broad) in &broads {
            assert_eq!(hits(broad.as_ref(), &ray), expected, "{name}, ray {n}: {ray:?}");
        }
    }
}

// proves: FON-32
#[test]
fn the_crate_does_not_know_the_narrow_phase() {
    let manifest = include_str!("../Cargo.toml");
    assert!(!manifest.contains("narrowphase"));
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap().split('[').next().unwrap();
    let names: Vec<_> = dependencies
        .lines()
        .filter_map(|l| l.split(['.', ' ', '=']).next())
        .filter(|n| !n.is_empty())
        .collect();
    assert_eq!(names, ["sim-math", "sim-traits", "thiserror"]);
}
