//! Pairs of items whose boxes overlap, inside one tree and between two.
//!
//! # Reference
//! Simultaneous descent as in Gottschalk, Lin and Manocha 1996 (trees of oriented boxes), section 6, on axis-aligned boxes.
//!
//! # Symbols
//! `(a, b)` a pair of nodes whose subtrees are still to be compared; `(a, a)` a subtree with itself.
//!
//! # Formula
//! ```text
//! (a, a) → (l, l), (r, r), (l, r)
//! (a, b) → nothing if the boxes are apart; a report if both are leaves; else split the higher one
//! ```
//!
//! # Cost
//! O(n + pairs) for scattered items. The stack is a fixed array: two entries more per level of self comparison and
//! one more per level of each tree, at most four times the height limit.
//!
//! # Numerics
//! Comparisons only; boxes that touch overlap.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `queries_agree_with_brute_force`, `unbounded_boxes_are_found_by_every_query`.

use super::tree::{BoxTree, MAX_HEIGHT, NONE, Node};
use std::ops::ControlFlow;

const PAIR_STACK: usize = 4 * MAX_HEIGHT + 4;

/// The children of the taller of two nodes, each against the other node; the left one comes off the stack first.
#[inline]
fn split_taller((a, node_a): (u32, &Node), (b, node_b): (u32, &Node)) -> [(u32, u32); 2] {
    if node_a.height >= node_b.height {
        [(node_a.right, b), (node_a.left, b)]
    } else {
        [(a, node_b.right), (a, node_b.left)]
    }
}

impl BoxTree {
    /// Calls `visit(a, b)` once for every pair of items a < b of this tree whose boxes overlap, until it breaks.
    pub fn visit_pairs(&self, mut visit: impl FnMut(u32, u32) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut ordered = |a: u32, b: u32| visit(a.min(b), a.max(b));
        for (i, (item, aabb)) in self.unbounded.iter().enumerate() {
            for (other, other_box) in &self.unbounded[i + 1..] {
                if aabb.overlaps(other_box) {
                    ordered(*item, *other)?;
                }
            }
            self.visit_bounded_overlaps(aabb, &mut |other| ordered(*item, other))?;
        }
        if self.root == NONE {
            return ControlFlow::Continue(());
        }
        let mut stack = [(0_u32, 0_u32); PAIR_STACK];
        stack[0] = (self.root, self.root);
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (a, b) = stack[count];
            let (node_a, node_b) = (&self.nodes[a as usize], &self.nodes[b as usize]);
            if a == b {
                if !node_a.is_leaf() {
                    let (left, right) = (node_a.left, node_a.right);
                    stack[count..count + 3].copy_from_slice(&[(left, right), (right, right), (left, left)]);
                    count += 3;
                }
                continue;
            }
            if !node_a.aabb.overlaps(&node_b.aabb) {
                continue;
            }
            if node_a.is_leaf() && node_b.is_leaf() {
                ordered(node_a.right, node_b.right)?;
            } else {
                stack[count..count + 2].copy_from_slice(&split_taller((a, node_a), (b, node_b)));
                count += 2;
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls `visit(a, b)` once for every item a of this tree and b of `other` whose boxes overlap, until it
    /// breaks. Both trees are in the same frame.
    pub fn visit_pairs_with(
        &self,
        other: &Self,
        mut visit: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for (item, aabb) in &self.unbounded {
            other.visit_overlaps(aabb, |b| visit(*item, b))?;
        }
        for (item, aabb) in &other.unbounded {
            self.visit_bounded_overlaps(aabb, &mut |a| visit(a, *item))?;
        }
        if self.root == NONE || other.root == NONE {
            return ControlFlow::Continue(());
        }
        let mut stack = [(0_u32, 0_u32); PAIR_STACK];
        stack[0] = (self.root, other.root);
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (a, b) = stack[count];
            let (node_a, node_b) = (&self.nodes[a as usize], &other.nodes[b as usize]);
            if !node_a.aabb.overlaps(&node_b.aabb) {
                continue;
            }
            if node_a.is_leaf() && node_b.is_leaf() {
                visit(node_a.right, node_b.right)?;
            } else {
                stack[count..count + 2].copy_from_slice(&split_taller((a, node_a), (b, node_b)));
                count += 2;
            }
        }
        ControlFlow::Continue(())
    }
}
