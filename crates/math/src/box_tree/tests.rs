use super::BoxTree;
use crate::testkit::SplitMix64;
use crate::{Aabb, MathError};
use glam::DVec3;
use std::ops::ControlFlow;

fn random_box(random: &mut SplitMix64, spread: f64) -> Aabb {
    let center = random.vec3(spread);
    let half = DVec3::new(random.unit(), random.unit(), random.unit());
    // One in eight is flat or a point, one in sixteen lies on a whole-number grid.
    let half = if random.below(8) == 0 { half * DVec3::new(1.0, 0.0, 0.0) } else { half };
    let center = if random.below(16) == 0 { center.round() } else { center };
    Aabb::from_center_half_extents(center, half)
}

fn unbounded_box(random: &mut SplitMix64) -> Aabb {
    let mut aabb = random_box(random, 10.0);
    match random.below(4) {
        0 => aabb = Aabb::EVERYWHERE,
        1 => aabb.min.z = f64::NEG_INFINITY,
        2 => aabb.max.x = f64::INFINITY,
        _ => (aabb.min, aabb.max) = (DVec3::splat(-1e200), DVec3::splat(1e200)),
    }
    aabb
}

fn overlaps(tree: &BoxTree, probe: &Aabb) -> Vec<u32> {
    let mut found = Vec::new();
    let flow = tree.visit_overlaps(probe, |item| {
        found.push(item);
        ControlFlow::Continue(())
    });
    assert!(flow.is_continue());
    found.sort_unstable();
    found
}

fn pairs(tree: &BoxTree) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let _ = tree.visit_pairs(|a, b| {
        found.push((a, b));
        ControlFlow::Continue(())
    });
    found.sort_unstable();
    found
}

/// Every query of the tree against a plain loop over the list of (item, box), which is sorted by item.
fn compare_with_brute_force(tree: &BoxTree, items: &[(u32, Aabb)], random: &mut SplitMix64) {
    tree.check().unwrap();
    assert_eq!(tree.len(), items.len());
    for (item, aabb) in items {
        assert_eq!(tree.get(*item), Some(*aabb));
    }
    for _ in 0..20 {
        let probe = random_box(random, 12.0);
        let expected: Vec<u32> = items.iter().filter(|(_, b)| b.overlaps(&probe)).map(|(i, _)| *i).collect();
        assert_eq!(overlaps(tree, &probe), expected);

        let (origin, mut direction) = (random.vec3(15.0), random.unit_vec3());
        if random.below(4) == 0 {
            direction = DVec3::X;
        }
        let t_max = if random.below(2) == 0 { f64::INFINITY } else { random.range(0.0, 20.0) };
        let mut met = Vec::new();
        tree.visit_ray(origin, direction, t_max, |item, entry, t_max| {
            met.push((item, entry.to_bits()));
            t_max
        })
        .unwrap();
        met.sort_unstable();
        let entry = |b: &Aabb| b.ray_interval(origin, direction, t_max).map(|(entry, _)| entry);
        let expected: Vec<(u32, u64)> =
            items.iter().filter_map(|(i, b)| entry(b).map(|t| (*i, t.to_bits()))).collect();
        assert_eq!(met, expected);
        // With a shrinking end the nearest entry is found, and the end never grows.
        let mut last = t_max;
        let nearest = tree
            .visit_ray(origin, direction, t_max, |_, entry, t| {
                assert!(entry <= t && t <= last);
                last = t;
                entry
            })
            .unwrap();
        let expected = items.iter().filter_map(|(_, b)| entry(b)).fold(t_max, f64::min);
        assert_eq!(nearest.to_bits(), expected.to_bits());

        let point = random.vec3(15.0);
        let distance = |b: &Aabb| (b.min - point).max(point - b.max).max(DVec3::ZERO).length();
        let mut visits = 0;
        let nearest = tree
            .visit_nearest(point, f64::INFINITY, |_, d, _| {
                visits += 1;
                d
            })
            .unwrap();
        let expected = items.iter().map(|(_, b)| distance(b)).fold(f64::INFINITY, f64::min);
        assert_eq!(nearest.to_bits(), expected.to_bits());
        assert!(visits <= items.len());
        let mut within = Vec::new();
        tree.visit_nearest(point, 4.0, |item, _, limit| {
            within.push(item);
            limit
        })
        .unwrap();
        within.sort_unstable();
        let expected: Vec<u32> = items.iter().filter(|(_, b)| distance(b) <= 4.0).map(|(i, _)| *i).collect();
        assert_eq!(within, expected);
    }
    let mut expected = Vec::new();
    for (k, (i, a)) in items.iter().enumerate() {
        expected.extend(items[k + 1..].iter().filter(|(_, b)| a.overlaps(b)).map(|(j, _)| (*i, *j)));
    }
    assert_eq!(pairs(tree), expected);
}

#[test]
fn queries_agree_with_brute_force() {
    let mut random = SplitMix64(1);
    for n in [0, 1, 2, 3, 10, 100, 300] {
        let boxes: Vec<Aabb> = (0..n).map(|_| random_box(&mut random, 10.0)).collect();
        let tree = BoxTree::build(&boxes).unwrap();
        let items: Vec<(u32, Aabb)> = boxes.iter().enumerate().map(|(i, b)| (i as u32, *b)).collect();
        compare_with_brute_force(&tree, &items, &mut random);
        // Against another tree.
        let others: Vec<Aabb> = (0..50).map(|_| random_box(&mut random, 10.0)).collect();
        let other = BoxTree::build(&others).unwrap();
        let mut found = Vec::new();
        let _ = tree.visit_pairs_with(&other, |a, b| {
            found.push((a, b));
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        let mut expected = Vec::new();
        for (i, a) in boxes.iter().enumerate() {
            let hits = others.iter().enumerate().filter(|(_, b)| a.overlaps(b));
            expected.extend(hits.map(|(j, _)| (i as u32, j as u32)));
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn a_long_script_of_changes_keeps_the_tree_valid_and_complete() {
    let mut random = SplitMix64(2);
    let mut tree = BoxTree::new();
    let mut mirror: Vec<(u32, Aabb)> = Vec::new();
    for step in 0..4000 {
        let item = random.below(150) as u32;
        let aabb =
            if random.below(20) == 0 { unbounded_box(&mut random) } else { random_box(&mut random, 10.0) };
        let place = mirror.binary_search_by_key(&item, |(i, _)| *i);
        match (random.below(4), place) {
            (0 | 1, Err(at)) => {
                tree.insert(item, aabb).unwrap();
                mirror.insert(at, (item, aabb));
            }
            (0, Ok(at)) => {
                tree.reinsert(item, aabb).unwrap();
                mirror[at].1 = aabb;
            }
            (1 | 2, Ok(at)) => {
                tree.set_box(item, aabb).unwrap();
                mirror[at].1 = aabb;
            }
            (3, Ok(at)) => {
                assert_eq!(tree.remove(item).unwrap(), mirror.remove(at).1);
            }
            (_, Err(_)) => assert!(tree.remove(item).is_err() && tree.get(item).is_none()),
            _ => {}
        }
        if step % 10 == 0 {
            tree.check().unwrap();
        }
        if step % 500 == 499 {
            compare_with_brute_force(&tree, &mirror, &mut random);
            let boxes: Vec<Aabb> = (0..150)
                .map(|i| if i % 29 == 3 { unbounded_box(&mut random) } else { random_box(&mut random, 10.0) })
                .collect();
            tree.refit_all(|item| boxes[item as usize]).unwrap();
            for (item, aabb) in &mut mirror {
                *aabb = boxes[*item as usize];
            }
            compare_with_brute_force(&tree, &mirror, &mut random);
            tree.rebuild();
            compare_with_brute_force(&tree, &mirror, &mut random);
        }
    }
}

#[test]
fn unbounded_boxes_are_found_by_every_query() {
    let mut random = SplitMix64(3);
    let boxes: Vec<Aabb> = (0..40)
        .map(|i| if i % 5 == 0 { unbounded_box(&mut random) } else { random_box(&mut random, 8.0) })
        .collect();
    let tree = BoxTree::build(&boxes).unwrap();
    let items: Vec<(u32, Aabb)> = boxes.iter().enumerate().map(|(i, b)| (i as u32, *b)).collect();
    compare_with_brute_force(&tree, &items, &mut random);
    let bounds = tree.bounds().unwrap();
    assert!(boxes.iter().all(|b| bounds.contains_box(b)));
    let mut found = Vec::new();
    let _ = tree.visit_pairs_with(&tree, |a, b| {
        found.push((a, b));
        ControlFlow::Continue(())
    });
    found.sort_unstable();
    let mut expected = Vec::new();
    for (i, a) in &items {
        expected.extend(items.iter().filter(|(_, b)| a.overlaps(b)).map(|(j, _)| (*i, *j)));
    }
    assert_eq!(found, expected);
}

#[test]
fn built_trees_are_valid_for_hostile_distributions() {
    let n = 2000;
    let point = |p: DVec3| Aabb::new(p, p).unwrap();
    let same = vec![point(DVec3::ONE); n];
    let line: Vec<Aabb> = (0..n).map(|i| point(DVec3::Y * i as f64)).collect();
    // Each twice as far as the one before: surface area cuts off one item at a time.
    let geometric: Vec<Aabb> = (0..450).map(|i| point(DVec3::X * crate::ops::powi(2.0, i))).collect();
    let nested: Vec<Aabb> =
        (0..n).map(|i| Aabb::from_center_half_extents(DVec3::ZERO, DVec3::splat(i as f64))).collect();
    let huge: Vec<Aabb> = (0..n)
        .map(|i| Aabb::from_center_half_extents(DVec3::ZERO, DVec3::splat(1e149 + 1e146 * i as f64)))
        .collect();
    for boxes in [same, line, geometric, nested, huge] {
        let tree = BoxTree::build(&boxes).unwrap();
        tree.check().unwrap();
        assert!(tree.height() <= 64, "height {}", tree.height());
        let mut grown = BoxTree::new();
        for (item, aabb) in boxes.iter().enumerate() {
            grown.insert(item as u32, *aabb).unwrap();
        }
        grown.check().unwrap();
        let probe = boxes[boxes.len() / 2];
        assert_eq!(overlaps(&tree, &probe), overlaps(&grown, &probe));
    }
}

#[test]
fn growing_sequences_stay_shallow() {
    // Sorted input is the worst case of naive insertion.
    let mut tree = BoxTree::new();
    for i in 0..4096 {
        let center = DVec3::new(f64::from(i), f64::from(i % 7), 0.0);
        tree.insert(i, Aabb::from_center_half_extents(center, DVec3::splat(0.4))).unwrap();
    }
    tree.check().unwrap();
    assert!(tree.height() <= 40, "height {}", tree.height());
    let grown = tree.cost();
    tree.rebuild();
    assert!(tree.height() <= 24, "height {}", tree.height());
    assert!(grown <= 2.0 * tree.cost(), "cost {grown} against {}", tree.cost());
}

#[test]
fn the_tree_prunes() {
    let mut random = SplitMix64(9);
    let boxes: Vec<Aabb> =
        (0..5000).map(|_| Aabb::from_center_half_extents(random.vec3(50.0), DVec3::splat(0.5))).collect();
    let tree = BoxTree::build(&boxes).unwrap();
    let mut visits = 0;
    for _ in 0..100 {
        tree.visit_nearest(random.vec3(50.0), f64::INFINITY, |_, d, _| {
            visits += 1;
            d
        })
        .unwrap();
    }
    assert!(visits < 100 * 20, "{visits} leaves for 100 queries");
}

#[test]
fn boxes_at_exactly_the_limit_are_still_visited() {
    // Twelve boxes with the same entry and the same distance: shrinking to it excludes none of them.
    let boxes: Vec<Aabb> = (0..12)
        .map(|i| Aabb { min: DVec3::new(2.0, -1.0, -1.0), max: DVec3::new(3.0 + f64::from(i), 1.0, 1.0) })
        .collect();
    let tree = BoxTree::build(&boxes).unwrap();
    let (mut hits, mut near) = (0, 0);
    tree.visit_ray(DVec3::ZERO, DVec3::X, 9.0, |_, entry, _| {
        hits += 1;
        entry
    })
    .unwrap();
    tree.visit_nearest(DVec3::ZERO, 9.0, |_, distance, _| {
        near += 1;
        distance
    })
    .unwrap();
    assert_eq!((hits, near), (12, 12));
}

#[test]
fn a_visitor_can_stop_every_query() {
    let boxes = vec![Aabb::from_center_half_extents(DVec3::ZERO, DVec3::ONE); 30];
    let mut with_ground = boxes.clone();
    with_ground.push(Aabb::EVERYWHERE);
    for boxes in [boxes, with_ground] {
        let tree = BoxTree::build(&boxes).unwrap();
        let mut count = 0;
        let flow = tree.visit_overlaps(&boxes[0], |_| {
            count += 1;
            ControlFlow::Break(())
        });
        assert!(flow.is_break());
        assert!(
            tree.visit_pairs(|_, _| {
                count += 1;
                ControlFlow::Break(())
            })
            .is_break()
        );
        assert!(
            tree.visit_pairs_with(&tree, |_, _| {
                count += 1;
                ControlFlow::Break(())
            })
            .is_break()
        );
        let end = tree.visit_ray(DVec3::ZERO, DVec3::X, 1.0, |_, _, _| {
            count += 1;
            -1.0
        });
        assert!(end.unwrap() < 0.0);
        let end = tree.visit_nearest(DVec3::ZERO, 1.0, |_, _, _| {
            count += 1;
            -1.0
        });
        assert!(end.unwrap() < 0.0);
        assert_eq!(count, 5);
    }
}

#[test]
fn bad_boxes_and_items_are_errors() {
    let good = Aabb::from_center_half_extents(DVec3::ZERO, DVec3::ONE);
    let inverted = Aabb { min: DVec3::ONE, max: DVec3::ZERO };
    let nan = Aabb { min: DVec3::new(0.0, f64::NAN, 0.0), max: DVec3::ONE };
    for bad in [inverted, nan] {
        assert!(matches!(BoxTree::build(&[good, bad]), Err(MathError::InvalidItemBox { item: 1, .. })));
        let mut tree = BoxTree::build(&[good]).unwrap();
        assert!(matches!(tree.insert(4, bad), Err(MathError::InvalidItemBox { item: 4, .. })));
        assert!(tree.set_box(0, bad).is_err() && tree.reinsert(0, bad).is_err());
        assert!(tree.refit_all(|_| bad).is_err());
        assert_eq!(tree.get(0), Some(good));
        assert!(overlaps(&tree, &bad).is_empty());
        tree.check().unwrap();
    }
    let mut tree = BoxTree::build(&[good]).unwrap();
    assert_eq!(tree.insert(0, good), Err(MathError::Item { item: 0, state: "already in the tree" }));
    assert_eq!(tree.remove(7), Err(MathError::Item { item: 7, state: "not in the tree" }));
    assert!(tree.set_box(7, good).is_err() && tree.reinsert(7, good).is_err());
    assert!(matches!(tree.insert(u32::MAX, good), Err(MathError::OutOfRange { .. })));
    assert!(tree.visit_ray(DVec3::NAN, DVec3::X, 1.0, |_, _, t| t).is_err());
    assert!(tree.visit_ray(DVec3::ZERO, DVec3::INFINITY, 1.0, |_, _, t| t).is_err());
    assert!(tree.visit_ray(DVec3::ZERO, DVec3::X, f64::NAN, |_, _, t| t).is_err());
    assert!(tree.visit_nearest(DVec3::ZERO, -1.0, |_, _, t| t).is_err());
    assert!(tree.visit_nearest(DVec3::NAN, 1.0, |_, _, t| t).is_err());
    tree.clear();
    assert!(tree.is_empty() && tree.bounds().is_none());
    tree.check().unwrap();
}
