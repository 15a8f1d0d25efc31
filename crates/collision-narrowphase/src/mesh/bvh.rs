//! A static tree of boxes with four children per node, for meshes.
//!
//! # Reference
//! Wald 2007 (binned surface-area heuristic); Dammertz, Hanika, Keller 2008 (four children: fewer, wider steps).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | slot | place of an item in the order of the leaves |
//! | `child` | index of a node, or a run of at most [`LEAF`] slots with the top bit set, or [`EMPTY`] |
//!
//! # Formula
//! ```text
//! split between bins that minimises A(left) n_left + A(right) n_right;  a node takes two levels of splits
//! ```
//!
//! # Cost
//! O(n log n) to build. 128 bytes per node, some n / 6 nodes. Queries allocate nothing.
//!
//! # Numerics
//! Boxes are kept in single precision, rounded outwards; coordinates must be below 1e30 m. Tests against them are in
//! double precision, four at a time.
//!
//! # Failure
//! None; the caller has checked the boxes.
//!
//! # Tested by
//! `every_query_finds_what_a_scan_finds`

use sim_math::{Aabb, glam::DVec3};
use std::ops::ControlFlow;

/// Most items in a leaf.
pub(crate) const LEAF: usize = 4;
/// Largest number of items.
pub(crate) const MAX_ITEMS: usize = 1 << 28;
const EMPTY: u32 = u32::MAX;
const LEAF_BIT: u32 = 1 << 31;
const COUNT_SHIFT: u32 = 28;
const SLOT_MASK: u32 = (1 << COUNT_SHIFT) - 1;
const BINS: usize = 16;
/// Depth of binary splits at which medians take over.
const MAX_DEPTH: u32 = 48;
/// Each level of the stack holds at most three siblings: 64 binary levels are 32 wide ones at worst.
const STACK: usize = 256;

/// Four boxes, coordinate by coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
struct Node {
    min: [[f32; 4]; 3],
    max: [[f32; 4]; 3],
    child: [u32; 4],
}

impl Node {
    const EMPTY: Self =
        Self { min: [[f32::INFINITY; 4]; 3], max: [[f32::NEG_INFINITY; 4]; 3], child: [EMPTY; 4] };

    fn set(&mut self, k: usize, aabb: &Aabb, child: u32) {
        for axis in 0..3 {
            self.min[axis][k] = round_down(aabb.min[axis]);
            self.max[axis][k] = -round_down(-aabb.max[axis]);
        }
        self.child[k] = child;
    }
}

/// Largest single-precision number not above `x`.
pub(crate) fn round_down(x: f64) -> f32 {
    let y = x as f32;
    if f64::from(y) <= x {
        return y;
    }
    let bits = y.to_bits();
    // One step towards −∞: magnitudes shrink above zero and grow below; from +0 to the least negative.
    f32::from_bits(if y > 0.0 {
        bits - 1
    } else if y == 0.0 {
        0x8000_0001
    } else {
        bits + 1
    })
}

/// A run of entries still to be placed, with its box.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    aabb: Aabb,
    depth: u32,
}

/// The tree; items keep their numbers in `order`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bvh {
    nodes: Vec<Node>,
    /// Item in each slot.
    order: Vec<u32>,
}

fn around(entries: &[(u32, Aabb)]) -> Aabb {
    entries.iter().fold(entries[0].1, |all, e| all.merged(&e.1))
}

impl Bvh {
    /// A tree of items 0, 1, … with the boxes given: at least one, at most [`MAX_ITEMS`], all valid.
    pub(crate) fn build(boxes: &[Aabb]) -> Self {
        let mut entries: Vec<(u32, Aabb)> = (0..).zip(boxes.iter().copied()).collect();
        let mut nodes = vec![Node::EMPTY];
        let whole = Run { start: 0, end: entries.len(), aabb: around(&entries), depth: 0 };
        let mut tasks = vec![(0_u32, whole)];
        while let Some((index, run)) = tasks.pop() {
            let mut parts = [run; 4];
            let mut count = 1;
            while count < 4 {
                // Split the part with the largest area among those that may be split.
                let mut widest: Option<(usize, f64)> = None;
                for (k, part) in parts[..count].iter().enumerate() {
                    let area = part.aabb.surface_area();
                    if part.end - part.start > LEAF && widest.is_none_or(|w| area > w.1) {
                        widest = Some((k, area));
                    }
                }
                let Some((k, _)) = widest else { break };
                let Run { start, end, depth, .. } = parts[k];
                let middle = start + split(&mut entries[start..end], depth);
                let half = |s: usize, e: usize, entries: &[(u32, Aabb)]| Run {
                    start: s,
                    end: e,
                    aabb: around(&entries[s..e]),
                    depth: depth + 1,
                };
                parts[k] = half(start, middle, &entries);
                parts[count] = half(middle, end, &entries);
                count += 1;
            }
            for (k, part) in parts[..count].iter().enumerate() {
                let len = part.end - part.start;
                let child = if len <= LEAF {
                    LEAF_BIT | ((len as u32 - 1) << COUNT_SHIFT) | part.start as u32
                } else {
                    nodes.push(Node::EMPTY);
                    let child = nodes.len() as u32 - 1;
                    tasks.push((child, *part));
                    child
                };
                nodes[index as usize].set(k, &part.aabb, child);
            }
        }
        Self { nodes, order: entries.iter().map(|e| e.0).collect() }
    }

    /// Item in each slot.
    #[inline]
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    #[inline]
    fn slots(child: u32) -> std::ops::Range<usize> {
        let start = (child & SLOT_MASK) as usize;
        start..start + ((child >> COUNT_SHIFT) & 7) as usize + 1
    }

    /// Calls `visit` with the slots of leaves whose box overlaps `aabb`, until it breaks.
    pub(crate) fn visit_box(
        &self,
        aabb: &Aabb,
        mut visit: impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let low: [f32; 3] = aabb.min.to_array().map(round_down);
        let high: [f32; 3] = aabb.max.to_array().map(|x| -round_down(-x));
        let mut stack = [0_u32; STACK];
        let mut len = 1;
        while len > 0 {
            len -= 1;
            let node = &self.nodes[stack[len] as usize];
            let mut hit = [true; 4];
            for axis in 0..3 {
                for (k, hit) in hit.iter_mut().enumerate() {
                    *hit &= (node.min[axis][k] <= high[axis]) & (node.max[axis][k] >= low[axis]);
                }
            }
            for k in (0..4).rev() {
                let child = node.child[k];
                if !hit[k] || child == EMPTY {
                    continue;
                }
                if child & LEAF_BIT == 0 {
                    stack[len] = child;
                    len += 1;
                } else {
                    for slot in Self::slots(child) {
                        visit(slot)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls `visit(slot, limit)` for slots of leaves whose box is not farther than `limit` from the box `query`
    /// (metres); it returns the new limit, a negative one to stop. Nearer boxes come first.
    pub(crate) fn visit_nearest(
        &self,
        query: &Aabb,
        mut limit: f64,
        mut visit: impl FnMut(usize, f64) -> f64,
    ) -> f64 {
        let (low, high) = (query.min.to_array(), query.max.to_array());
        let mut stack = [(0_u32, 0.0_f64); STACK];
        let mut len = 1;
        while len > 0 {
            len -= 1;
            let (index, squared) = stack[len];
            if squared > limit * limit {
                continue;
            }
            if index & LEAF_BIT != 0 {
                for slot in Self::slots(index) {
                    limit = visit(slot, limit).min(limit);
                    if limit < 0.0 {
                        return limit;
                    }
                }
                continue;
            }
            let node = &self.nodes[index as usize];
            let mut gaps = [0.0_f64; 4];
            for axis in 0..3 {
                for (k, gap) in gaps.iter_mut().enumerate() {
                    let below = f64::from(node.min[axis][k]) - high[axis];
                    let above = low[axis] - f64::from(node.max[axis][k]);
                    let g = if below > above { below } else { above };
                    let g = if g > 0.0 { g } else { 0.0 };
                    *gap += g * g;
                }
            }
            len = push_sorted(&mut stack, len, node, &gaps, limit * limit);
        }
        limit
    }

    /// Calls `visit(slot, t_max)` for slots of leaves whose box a ray meets up to `t_max`; it returns the new `t_max`.
    /// Boxes are taken to be larger by `slack` (metres), which covers the rounding of the test on the items.
    #[inline]
    pub(crate) fn visit_ray(
        &self,
        origin: DVec3,
        direction: DVec3,
        mut t_max: f64,
        slack: f64,
        mut visit: impl FnMut(usize, f64) -> f64,
    ) {
        let inverse = direction.recip().to_array();
        let backwards = inverse.map(f64::is_sign_negative);
        let mut near_origin = origin.to_array();
        let mut far_origin = near_origin;
        for axis in 0..3 {
            let s = if backwards[axis] { -slack } else { slack };
            near_origin[axis] += s;
            far_origin[axis] -= s;
        }
        let mut stack = [(0_u32, 0.0_f64); STACK];
        let mut len = 1;
        while len > 0 {
            len -= 1;
            let (index, entry) = stack[len];
            if entry > t_max {
                continue;
            }
            if index & LEAF_BIT != 0 {
                for slot in Self::slots(index) {
                    t_max = visit(slot, t_max).min(t_max);
                }
                continue;
            }
            let node = &self.nodes[index as usize];
            let mut enter = [0.0_f64; 4];
            let mut leave = [t_max; 4];
            for axis in 0..3 {
                let (near, far) = if backwards[axis] {
                    (&node.max[axis], &node.min[axis])
                } else {
                    (&node.min[axis], &node.max[axis])
                };
                for k in 0..4 {
                    // A NaN (on the plane of a slab, along it) compares false and changes nothing.
                    let t0 = (f64::from(near[k]) - near_origin[axis]) * inverse[axis];
                    let t1 = (f64::from(far[k]) - far_origin[axis]) * inverse[axis];
                    enter[k] = if t0 > enter[k] { t0 } else { enter[k] };
                    leave[k] = if t1 < leave[k] { t1 } else { leave[k] };
                }
            }
            // A box that is missed sorts behind everything.
            for k in 0..4 {
                enter[k] = if enter[k] <= leave[k] * (1.0 + 1e-15) { enter[k] } else { f64::INFINITY };
            }
            len = push_sorted(&mut stack, len, node, &enter, t_max.min(f64::MAX));
        }
    }
}

/// Pushes the children whose key is at most `limit`, the least key last. Four keys are put in order by five exchanges.
#[inline]
fn push_sorted(
    stack: &mut [(u32, f64); STACK],
    mut len: usize,
    node: &Node,
    keys: &[f64; 4],
    limit: f64,
) -> usize {
    let mut found = [(EMPTY, f64::INFINITY); 4];
    let mut count = 0;
    for (child, key) in node.child.iter().zip(keys) {
        if *key <= limit && *child != EMPTY {
            found[count] = (*child, *key);
            count += 1;
        }
    }
    for i in 1..count {
        let mut j = i;
        while j > 0 && found[j - 1].1 < found[j].1 {
            found.swap(j - 1, j);
            j -= 1;
        }
    }
    for entry in &found[..count] {
        stack[len] = *entry;
        len += 1;
    }
    len
}

/// Reorders the entries (more than one) and gives the size of the left part.
fn split(entries: &mut [(u32, Aabb)], depth: u32) -> usize {
    if depth < MAX_DEPTH
        && let Some(left) = split_by_area(entries)
    {
        return left;
    }
    let range = entries
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |r, e| (r.0.min(e.1.center()), r.1.max(e.1.center())));
    let axis = longest_axis(range.1 - range.0);
    let middle = entries.len() / 2;
    entries.select_nth_unstable_by(middle, |a, b| {
        a.1.center()[axis].total_cmp(&b.1.center()[axis]).then(a.0.cmp(&b.0))
    });
    middle
}

pub(crate) fn longest_axis(size: DVec3) -> usize {
    if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    }
}

fn split_by_area(entries: &mut [(u32, Aabb)]) -> Option<usize> {
    let range = Aabb::from_points(entries.iter().map(|e| e.1.center()))?;
    let bin_of = |aabb: &Aabb, axis: usize, scale: f64| {
        (((aabb.center()[axis] - range.min[axis]) * scale) as usize).min(BINS - 1)
    };
    let mut best: Option<(f64, usize, usize, f64)> = None;
    for axis in 0..3 {
        let scale = BINS as f64 / range.size()[axis];
        if !scale.is_finite() {
            continue;
        }
        let mut bins: [(usize, Option<Aabb>); BINS] = [(0, None); BINS];
        let join = |a: Option<Aabb>, b: &Aabb| Some(a.map_or(*b, |a| a.merged(b)));
        for (_, aabb) in entries.iter() {
            let bin = &mut bins[bin_of(aabb, axis, scale)];
            *bin = (bin.0 + 1, join(bin.1, aabb));
        }
        let mut right = [0.0; BINS];
        let (mut count, mut aabb) = (0, None);
        for plane in (1..BINS).rev() {
            count += bins[plane].0;
            aabb = bins[plane].1.map_or(aabb, |b| join(aabb, &b));
            right[plane] = aabb.map_or(0.0, |b: Aabb| b.surface_area() * count as f64);
        }
        let (mut count, mut aabb) = (0, None);
        for plane in 1..BINS {
            count += bins[plane - 1].0;
            aabb = bins[plane - 1].1.map_or(aabb, |b| join(aabb, &b));
            if count == 0 || count == entries.len() {
                continue;
            }
            let cost = aabb.map_or(0.0, |b: Aabb| b.surface_area() * count as f64) + right[plane];
            if best.is_none_or(|b| cost < b.0) {
                best = Some((cost, axis, plane, scale));
            }
        }
    }
    let (_, axis, plane, scale) = best?;
    let mut left = 0;
    for i in 0..entries.len() {
        if bin_of(&entries[i].1, axis, scale) < plane {
            entries.swap(left, i);
            left += 1;
        }
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn rounding_down_never_rounds_up_and_is_the_nearest_below() {
        let mut random = SplitMix64(1);
        for _ in 0..10_000 {
            let x = random.range(-2.0, 2.0) * sim_math::ops::powi(10.0, random.below(40) as i32 - 20);
            let y = round_down(x);
            assert!(f64::from(y) <= x && x - f64::from(y) <= 1.2e-7 * x.abs());
        }
        assert_eq!(round_down(-1e-60), -f32::from_bits(1));
        assert_eq!(round_down(1e-60), 0.0);
        assert_eq!(round_down(0.5), 0.5);
    }

    #[test]
    fn every_query_finds_what_a_scan_finds() {
        let mut random = SplitMix64(2);
        for n in [1, 2, 5, 17, 300, 3000] {
            let boxes: Vec<Aabb> = (0..n)
                .map(|i| {
                    // Every third one sits on the same spot.
                    let c = if i % 3 == 0 { DVec3::ONE } else { random.vec3(5.0) };
                    Aabb::from_center_half_extents(c, random.vec3(0.3).abs())
                })
                .collect();
            let bvh = Bvh::build(&boxes);
            let mut order = bvh.order().to_vec();
            order.sort_unstable();
            assert_eq!(order, (0..n as u32).collect::<Vec<_>>());
            let item = |slot: usize| bvh.order()[slot] as usize;
            for _ in 0..100 {
                let probe = Aabb::from_center_half_extents(random.vec3(5.0), random.vec3(1.0).abs());
                let mut seen = vec![false; n];
                let _ = bvh.visit_box(&probe, |slot| {
                    assert!(!std::mem::replace(&mut seen[item(slot)], true));
                    ControlFlow::Continue(())
                });
                assert!(boxes.iter().zip(&seen).all(|(b, s)| *s || !b.overlaps(&probe)));
                let gap = |b: &Aabb| (b.min - probe.max).max(probe.min - b.max).max(DVec3::ZERO).length();
                let nearest = bvh.visit_nearest(&probe, f64::INFINITY, |slot, _| gap(&boxes[item(slot)]));
                assert_eq!(nearest, boxes.iter().map(gap).fold(f64::INFINITY, f64::min));
                let (o, d) = (random.vec3(8.0), random.vec3(1.0));
                let enter = |b: &Aabb| b.ray_interval(o, d, f64::INFINITY).map_or(f64::INFINITY, |t| t.0);
                let mut first = f64::INFINITY;
                bvh.visit_ray(o, d, f64::INFINITY, 1e-14, |slot, _| {
                    first = first.min(enter(&boxes[item(slot)]));
                    first
                });
                assert_eq!(first, boxes.iter().map(enter).fold(f64::INFINITY, f64::min));
            }
        }
    }
}
