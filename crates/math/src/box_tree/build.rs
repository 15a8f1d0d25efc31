//! Building a box tree at once, by binned surface-area heuristic.
//!
//! # Reference
//! Wald, *On fast construction of SAH-based bounding volume hierarchies* (2007).
//!
//! # Symbols
//! `A` surface area, `n` number of items, 16 bins per axis over the range of the box centres.
//!
//! # Formula
//! ```text
//! split between bins that minimises A(left) n_left + A(right) n_right over three axes
//! ```
//!
//! # Cost
//! O(n log n) for scattered items. When a split fails (all centres alike) or the depth nears its limit of 64,
//! the median is used instead, so that the worst case is O(n log n) too. Nodes come out in pre-order.
//!
//! # Numerics
//! Ties go to the lower axis and bin, medians are ordered by centre and item: the tree depends on the boxes only.
//!
//! # Failure
//! [`MathError::InvalidItemBox`] with the item.
//!
//! # Tested by
//! `built_trees_are_valid_for_hostile_distributions`, `queries_agree_with_brute_force`.

use super::tree::{BoxTree, IN_SIDE_LIST, NONE, Node, check_item_box, is_bounded};
use crate::{Aabb, MathError};
use glam::DVec3;

const BINS: usize = 16;
/// Depth at which median splits take over at the latest; below the height limit of changed trees.
const MAX_BUILD_DEPTH: usize = 64;

/// A run of entries that becomes one subtree.
#[derive(Debug, Clone, Copy)]
struct Task {
    start: usize,
    end: usize,
    parent: u32,
    depth: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    item: u32,
    aabb: Aabb,
}

/// Entries and tasks of the last build.
#[derive(Debug, Clone)]
pub(super) struct BuildScratch {
    entries: Vec<Entry>,
    tasks: Vec<Task>,
}

impl BuildScratch {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), tasks: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy)]
struct Bin {
    count: usize,
    aabb: Option<Aabb>,
}

fn join(a: Option<Aabb>, b: Option<Aabb>) -> Option<Aabb> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.merged(&b)),
        (a, b) => a.or(b),
    }
}

impl BoxTree {
    /// A tree of items 0, 1, 2, ... with the boxes given.
    ///
    /// # Errors
    /// [`MathError::InvalidItemBox`] with the first item whose box is NaN or inverted.
    pub fn build(boxes: &[Aabb]) -> Result<Self, MathError> {
        for (item, aabb) in boxes.iter().enumerate() {
            check_item_box(item as u32, aabb)?;
        }
        if boxes.len() > 1 << 30 {
            return Err(MathError::OutOfRange { what: "item", index: boxes.len(), limit: 1 << 30 });
        }
        let mut tree = Self::new();
        let mut entries = Vec::with_capacity(boxes.len());
        tree.leaf_of.resize(boxes.len(), NONE);
        for (item, &aabb) in boxes.iter().enumerate() {
            let item = item as u32;
            if is_bounded(&aabb) {
                entries.push(Entry { item, aabb });
            } else {
                tree.unbounded.push((item, aabb));
                tree.leaf_of[item as usize] = IN_SIDE_LIST;
            }
        }
        tree.len = boxes.len();
        tree.build_nodes(&mut entries);
        Ok(tree)
    }

    /// Builds the tree anew from its present boxes: after many changes, or to undo a bad history.
    pub fn rebuild(&mut self) {
        let mut entries = std::mem::take(&mut self.scratch.entries);
        entries.clear();
        entries.extend(
            (0..self.leaf_of.len() as u32)
                .filter(|&item| self.leaf_of[item as usize] < IN_SIDE_LIST)
                .filter_map(|item| self.get(item).map(|aabb| Entry { item, aabb })),
        );
        self.build_nodes(&mut entries);
        self.scratch.entries = entries;
    }

    fn build_nodes(&mut self, entries: &mut [Entry]) {
        self.nodes.clear();
        self.free = NONE;
        self.root = NONE;
        if entries.is_empty() {
            return;
        }
        self.nodes.reserve(2 * entries.len());
        let mut tasks = std::mem::take(&mut self.scratch.tasks);
        tasks.clear();
        tasks.push(Task { start: 0, end: entries.len(), parent: NONE, depth: 0 });
        while let Some(task) = tasks.pop() {
            let index = self.nodes.len() as u32;
            let run = &mut entries[task.start..task.end];
            if task.parent == NONE {
                self.root = index;
            } else if self.nodes[task.parent as usize].left == NONE {
                self.nodes[task.parent as usize].left = index;
            } else {
                self.nodes[task.parent as usize].right = index;
            }
            let first = run[0];
            if run.len() == 1 {
                self.leaf_of[first.item as usize] = index;
                self.nodes.push(Node {
                    aabb: first.aabb,
                    parent: task.parent,
                    left: NONE,
                    right: first.item,
                    height: 0,
                });
                continue;
            }
            let aabb = run.iter().fold(first.aabb, |all, entry| all.merged(&entry.aabb));
            self.nodes.push(Node { aabb, parent: task.parent, left: NONE, right: NONE, height: 0 });
            let balanced_depth = run.len().next_power_of_two().trailing_zeros() as usize;
            let split =
                if task.depth + balanced_depth >= MAX_BUILD_DEPTH { None } else { split_by_area(run) };
            let middle = task.start + split.unwrap_or_else(|| split_at_median(run));
            let depth = task.depth + 1;
            // The left part is popped first: pre-order.
            tasks.push(Task { start: middle, end: task.end, parent: index, depth });
            tasks.push(Task { start: task.start, end: middle, parent: index, depth });
        }
        self.scratch.tasks = tasks;
        // Pre-order: children have larger indices than their parent.
        for index in (0..self.nodes.len()).rev() {
            let Node { left, right, .. } = self.nodes[index];
            if left != NONE {
                self.nodes[index].height =
                    1 + self.nodes[left as usize].height.max(self.nodes[right as usize].height);
            }
        }
    }
}

/// Reorders the run and gives the size of its left part; `None` if no plane separates the centres.
fn split_by_area(run: &mut [Entry]) -> Option<usize> {
    if run.len() == 2 {
        return None;
    }
    let centers = run.iter().map(|entry| entry.aabb.center());
    let range = Aabb::from_points(centers)?;
    let mut best: Option<(f64, usize, usize)> = None;
    for axis in 0..3 {
        let (low, extent) = (range.min[axis], range.size()[axis]);
        if extent.is_nan() || extent <= 0.0 {
            continue;
        }
        let mut bins = [Bin { count: 0, aabb: None }; BINS];
        for entry in &*run {
            let bin = &mut bins[bin_of(entry, axis, low, extent)];
            bin.count += 1;
            bin.aabb = join(bin.aabb, Some(entry.aabb));
        }
        // Cost of everything right of each plane, then sweep from the left.
        let mut right_cost = [0.0; BINS];
        let (mut count, mut aabb) = (0, None);
        for plane in (1..BINS).rev() {
            count += bins[plane].count;
            aabb = join(aabb, bins[plane].aabb);
            right_cost[plane] = aabb.map_or(0.0, |b| b.surface_area() * count as f64);
        }
        let (mut count, mut aabb) = (0, None);
        for plane in 1..BINS {
            count += bins[plane - 1].count;
            aabb = join(aabb, bins[plane - 1].aabb);
            if count == 0 || count == run.len() {
                continue;
            }
            let cost = aabb.map_or(0.0, |b| b.surface_area() * count as f64) + right_cost[plane];
            if best.is_none_or(|(least, _, _)| cost < least) {
                best = Some((cost, axis, plane));
            }
        }
    }
    let (_, axis, plane) = best?;
    let (low, extent) = (range.min[axis], range.size()[axis]);
    let mut left = 0;
    for i in 0..run.len() {
        if bin_of(&run[i], axis, low, extent) < plane {
            run.swap(left, i);
            left += 1;
        }
    }
    Some(left)
}

fn bin_of(entry: &Entry, axis: usize, low: f64, extent: f64) -> usize {
    // Float to integer conversion saturates, so the last centre falls into the last bin.
    let position = (entry.aabb.center()[axis] - low) / extent * BINS as f64;
    (position as usize).min(BINS - 1)
}

fn split_at_median(run: &mut [Entry]) -> usize {
    let (first, rest) = match run {
        [first, rest @ ..] => (first.aabb.center(), rest),
        [] => return 0,
    };
    let (low, high) = rest.iter().fold((first, first), |(low, high), entry| {
        let center = entry.aabb.center();
        (low.min(center), high.max(center))
    });
    let size: DVec3 = high - low;
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let middle = run.len() / 2;
    run.select_nth_unstable_by(middle, |a, b| {
        a.aabb.center()[axis].total_cmp(&b.aabb.center()[axis]).then(a.item.cmp(&b.item))
    });
    middle
}
