//! A dynamic box tree: insertion by surface area, refitting with rotations.
//!
//! # Reference
//! Goldsmith and Salmon 1987 (surface-area cost); Kopta et al. 2012 (tree rotations); Catto, *Dynamic BVH*
//! (GDC 2019) for the greedy descent.
//!
//! # Symbols
//! `A(x)` surface area of box x; cost of a tree = Σ A over inner nodes.
//!
//! # Formula
//! ```text
//! insert: descend from the root to the child that raises the cost least, stop where a new parent is cheaper
//! refit:  box = merged boxes of the children, upwards; at each node, of the four exchanges of a child with a
//!         grandchild on the other side, make the one that shrinks the area most, if any does
//! ```
//!
//! # Cost
//! O(height) per change; 64 bytes per node, 2n − 1 nodes. No allocation unless the tree outgrows its storage.
//! A change that would leave the tree higher than 96 rebuilds it, which keeps every traversal stack a fixed
//! array. Memory also grows with the largest item id (4 bytes each).
//!
//! # Numerics
//! Boxes are merged by min and max, so an inner box is exactly the merger of its leaves. Items with a coordinate
//! beyond 1e150 (infinite ones included) stay in a side list: their area would overflow.
//!
//! # Failure
//! [`MathError::InvalidItemBox`] for NaN or inverted boxes; [`MathError::Item`] for an item that is there
//! already, or is not there; [`MathError::OutOfRange`] for ids from 2³⁰. The tree is unchanged by a failed call.
//!
//! # Tested by
//! `a_long_script_of_changes_keeps_the_tree_valid_and_complete`, `growing_sequences_stay_shallow`,
//! `unbounded_boxes_are_found_by_every_query`, `bad_boxes_and_items_are_errors`.

use super::build::BuildScratch;
use crate::{Aabb, MathError};

/// No node.
pub(super) const NONE: u32 = u32::MAX;
/// Marks an item that lives in the side list.
pub(super) const IN_SIDE_LIST: u32 = u32::MAX - 1;
/// Greatest height of a tree between calls.
pub(super) const MAX_HEIGHT: usize = 96;
/// Entries of a traversal stack that replaces one node by its two children.
pub(super) const STACK: usize = MAX_HEIGHT + 2;
/// Items must stay below this, so that nodes, two per item, fit 31 bits.
const MAX_ITEMS: usize = 1 << 30;
/// Coordinates beyond this go to the side list.
const BOUNDED: f64 = 1e150;

/// A node; a leaf has no left child and keeps its item in `right`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    pub(super) aabb: Aabb,
    pub(super) parent: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) height: u32,
}

impl Node {
    #[inline]
    pub(super) fn is_leaf(&self) -> bool {
        self.left == NONE
    }
}

/// Boxes of items in a binary tree; see the [module](crate::box_tree).
#[derive(Debug, Clone)]
pub struct BoxTree {
    pub(super) nodes: Vec<Node>,
    pub(super) root: u32,
    /// First of the unused nodes, linked through `parent`.
    pub(super) free: u32,
    /// Leaf of each item.
    pub(super) leaf_of: Vec<u32>,
    /// Items that are too large for the tree, by increasing id.
    pub(super) unbounded: Vec<(u32, Aabb)>,
    pub(super) len: usize,
    /// Working memory of building, kept so that a rebuild does not allocate.
    pub(super) scratch: BuildScratch,
}

impl Default for BoxTree {
    fn default() -> Self {
        Self::new()
    }
}

pub(super) fn is_bounded(aabb: &Aabb) -> bool {
    aabb.min.min_element() >= -BOUNDED && aabb.max.max_element() <= BOUNDED
}

pub(super) fn check_item_box(item: u32, aabb: &Aabb) -> Result<(), MathError> {
    if aabb.is_valid() {
        Ok(())
    } else {
        Err(MathError::InvalidItemBox { item, min: aabb.min, max: aabb.max })
    }
}

impl BoxTree {
    /// An empty tree.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            root: NONE,
            free: NONE,
            leaf_of: Vec::new(),
            unbounded: Vec::new(),
            len: 0,
            scratch: BuildScratch::new(),
        }
    }

    /// Number of items.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without items.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all items, keeping the storage.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.leaf_of.clear();
        self.unbounded.clear();
        (self.root, self.free, self.len) = (NONE, NONE, 0);
    }

    /// Edges from the root to the deepest leaf; 0 for a single item or none.
    #[must_use]
    pub fn height(&self) -> usize {
        self.nodes.get(self.root as usize).map_or(0, |root| root.height as usize)
    }

    /// Smallest box around all items; `None` without items.
    #[must_use]
    pub fn bounds(&self) -> Option<Aabb> {
        let tree = self.nodes.get(self.root as usize).map(|root| root.aabb);
        self.unbounded.iter().fold(tree, |all, (_, aabb)| Some(all.map_or(*aabb, |all| all.merged(aabb))))
    }

    /// Box of an item.
    #[must_use]
    pub fn get(&self, item: u32) -> Option<Aabb> {
        match self.leaf(item)? {
            IN_SIDE_LIST => self.side_position(item).ok().map(|at| self.unbounded[at].1),
            leaf => Some(self.nodes[leaf as usize].aabb),
        }
    }

    /// Sum of the areas of the inner nodes, square metres: lower is better.
    #[must_use]
    pub fn cost(&self) -> f64 {
        // Unused nodes look like leaves.
        self.nodes.iter().filter(|node| !node.is_leaf()).map(|node| node.aabb.surface_area()).sum()
    }

    fn leaf(&self, item: u32) -> Option<u32> {
        self.leaf_of.get(item as usize).copied().filter(|&leaf| leaf != NONE)
    }

    fn side_position(&self, item: u32) -> Result<usize, usize> {
        self.unbounded.binary_search_by_key(&item, |&(item, _)| item)
    }

    /// Adds an item.
    ///
    /// # Errors
    /// [`MathError::InvalidItemBox`], [`MathError::Item`] if it is there already, [`MathError::OutOfRange`].
    pub fn insert(&mut self, item: u32, aabb: Aabb) -> Result<(), MathError> {
        check_item_box(item, &aabb)?;
        if item as usize >= MAX_ITEMS {
            return Err(MathError::OutOfRange { what: "item", index: item as usize, limit: MAX_ITEMS });
        }
        if self.leaf(item).is_some() {
            return Err(MathError::Item { item, state: "already in the tree" });
        }
        if self.leaf_of.len() <= item as usize {
            self.leaf_of.resize(item as usize + 1, NONE);
        }
        self.len += 1;
        if is_bounded(&aabb) {
            let leaf = self.allocate(Node { aabb, parent: NONE, left: NONE, right: item, height: 0 });
            self.leaf_of[item as usize] = leaf;
            self.link(leaf);
            self.limit_height();
        } else {
            let at = self.side_position(item).unwrap_or_else(|at| at);
            self.unbounded.insert(at, (item, aabb));
            self.leaf_of[item as usize] = IN_SIDE_LIST;
        }
        Ok(())
    }

    /// Takes an item out and returns its box.
    ///
    /// # Errors
    /// [`MathError::Item`] if it is not there.
    pub fn remove(&mut self, item: u32) -> Result<Aabb, MathError> {
        let Some(leaf) = self.leaf(item) else {
            return Err(MathError::Item { item, state: "not in the tree" });
        };
        self.leaf_of[item as usize] = NONE;
        self.len -= 1;
        if leaf == IN_SIDE_LIST {
            return match self.side_position(item) {
                Ok(at) => Ok(self.unbounded.remove(at).1),
                Err(_) => Err(MathError::Item { item, state: "not in the tree" }),
            };
        }
        let aabb = self.nodes[leaf as usize].aabb;
        self.unlink(leaf);
        self.release(leaf);
        self.limit_height();
        Ok(aabb)
    }

    /// Gives an item another box and refits the boxes above it: right for small moves.
    ///
    /// # Errors
    /// [`MathError::InvalidItemBox`], [`MathError::Item`] if it is not there.
    pub fn set_box(&mut self, item: u32, aabb: Aabb) -> Result<(), MathError> {
        check_item_box(item, &aabb)?;
        let Some(leaf) = self.leaf(item) else {
            return Err(MathError::Item { item, state: "not in the tree" });
        };
        if leaf == IN_SIDE_LIST || !is_bounded(&aabb) {
            return self.reinsert(item, aabb);
        }
        self.nodes[leaf as usize].aabb = aabb;
        self.refit_upwards(self.nodes[leaf as usize].parent);
        self.limit_height();
        Ok(())
    }

    /// Gives an item another box and another place in the tree: right for large moves.
    ///
    /// # Errors
    /// [`MathError::InvalidItemBox`], [`MathError::Item`] if it is not there.
    pub fn reinsert(&mut self, item: u32, aabb: Aabb) -> Result<(), MathError> {
        check_item_box(item, &aabb)?;
        self.remove(item)?;
        self.insert(item, aabb)
    }

    /// Gives every item the box that `box_of` returns and refits the whole tree once, without changing its
    /// shape: right when everything moves a little. Unbounded items are asked too; `box_of` must be pure, it may be
    /// called up to three times per item.
    ///
    /// # Errors
    /// [`MathError::InvalidItemBox`] for the first bad box in the order of ids; nothing is changed then.
    pub fn refit_all(&mut self, mut box_of: impl FnMut(u32) -> Aabb) -> Result<(), MathError> {
        let mut changes_home = false;
        for item in 0..self.leaf_of.len() as u32 {
            if let Some(leaf) = self.leaf(item) {
                let aabb = box_of(item);
                check_item_box(item, &aabb)?;
                changes_home |= is_bounded(&aabb) == (leaf == IN_SIDE_LIST);
            }
        }
        for item in 0..self.leaf_of.len() as u32 {
            match self.leaf(item) {
                Some(IN_SIDE_LIST) | None => {}
                Some(leaf) => {
                    let aabb = box_of(item);
                    if is_bounded(&aabb) {
                        self.nodes[leaf as usize].aabb = aabb;
                    }
                }
            }
        }
        self.refit_inner_boxes();
        if changes_home || !self.unbounded.is_empty() {
            for item in 0..self.leaf_of.len() as u32 {
                if let Some(leaf) = self.leaf(item) {
                    let aabb = box_of(item);
                    if leaf == IN_SIDE_LIST || !is_bounded(&aabb) {
                        self.reinsert(item, aabb)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Merges children into parents, bottom up, with a bounded stack.
    fn refit_inner_boxes(&mut self) {
        /// Marks a node whose children have been pushed before.
        const ENTERED: u32 = 1 << 31;
        if self.root == NONE {
            return;
        }
        let mut pending = [0_u32; 2 * STACK];
        pending[0] = self.root;
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let entry = pending[count];
            let index = (entry & !ENTERED) as usize;
            let Node { left, right, .. } = self.nodes[index];
            if left == NONE {
                continue;
            }
            if entry & ENTERED != 0 {
                self.nodes[index].aabb =
                    self.nodes[left as usize].aabb.merged(&self.nodes[right as usize].aabb);
                continue;
            }
            pending[count] = entry | ENTERED;
            pending[count + 1] = left;
            pending[count + 2] = right;
            count += 3;
        }
    }

    pub(super) fn allocate(&mut self, node: Node) -> u32 {
        if self.free == NONE {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        let index = self.free;
        self.free = self.nodes[index as usize].parent;
        self.nodes[index as usize] = node;
        index
    }

    fn release(&mut self, index: u32) {
        self.nodes[index as usize].parent = self.free;
        self.nodes[index as usize].height = 0;
        self.nodes[index as usize].left = NONE;
        self.free = index;
    }

    fn area_with(&self, index: u32, aabb: &Aabb) -> f64 {
        self.nodes[index as usize].aabb.merged(aabb).surface_area()
    }

    /// The node beside which a new leaf costs least, by greedy descent.
    fn best_sibling(&self, aabb: &Aabb) -> u32 {
        let mut index = self.root;
        loop {
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                return index;
            }
            let here = self.area_with(index, aabb);
            // Every box from here up grows by this much if the leaf goes further down.
            let inherited = here - node.aabb.surface_area();
            let cost_below = |child: u32| {
                let child_node = &self.nodes[child as usize];
                let grown = self.area_with(child, aabb);
                inherited + if child_node.is_leaf() { grown } else { grown - child_node.aabb.surface_area() }
            };
            let (left, right) = (cost_below(node.left), cost_below(node.right));
            if here < left && here < right {
                return index;
            }
            index = if right < left { node.right } else { node.left };
        }
    }

    fn link(&mut self, leaf: u32) {
        if self.root == NONE {
            self.root = leaf;
            return;
        }
        let aabb = self.nodes[leaf as usize].aabb;
        let sibling = self.best_sibling(&aabb);
        let old_parent = self.nodes[sibling as usize].parent;
        // Height 0 is wrong for an inner node on purpose: refitting then sees a change and climbs on.
        let parent = self.allocate(Node { aabb, parent: old_parent, left: sibling, right: leaf, height: 0 });
        self.nodes[sibling as usize].parent = parent;
        self.nodes[leaf as usize].parent = parent;
        self.replace_child(old_parent, sibling, parent);
        self.refit_upwards(parent);
    }

    fn unlink(&mut self, leaf: u32) {
        let parent = self.nodes[leaf as usize].parent;
        if parent == NONE {
            self.root = NONE;
            return;
        }
        let Node { left, right, parent: grandparent, .. } = self.nodes[parent as usize];
        let sibling = if left == leaf { right } else { left };
        self.nodes[sibling as usize].parent = grandparent;
        self.replace_child(grandparent, parent, sibling);
        self.release(parent);
        self.refit_upwards(grandparent);
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        if parent == NONE {
            self.root = new;
            return;
        }
        let node = &mut self.nodes[parent as usize];
        if node.left == old {
            node.left = new;
        } else {
            node.right = new;
        }
    }

    /// Box and height from the children; true if one of them changed.
    fn refit_node(&mut self, index: u32) -> bool {
        let Node { left, right, aabb, height, .. } = self.nodes[index as usize];
        let (l, r) = (&self.nodes[left as usize], &self.nodes[right as usize]);
        let (new_box, new_height) = (l.aabb.merged(&r.aabb), 1 + l.height.max(r.height));
        self.nodes[index as usize].aabb = new_box;
        self.nodes[index as usize].height = new_height;
        new_box != aabb || new_height != height
    }

    fn refit_upwards(&mut self, mut index: u32) {
        while index != NONE {
            let changed = self.refit_node(index);
            let rotated = self.rotate(index);
            if !changed && !rotated {
                return;
            }
            index = self.nodes[index as usize].parent;
        }
    }

    /// Exchanges a child with a grandchild on the other side if that shrinks the other child.
    fn rotate(&mut self, index: u32) -> bool {
        let Node { left, right, .. } = self.nodes[index as usize];
        let mut best: Option<(f64, u32, u32, u32)> = None;
        for (child, other) in [(left, right), (right, left)] {
            let other_node = self.nodes[other as usize];
            if other_node.is_leaf() {
                continue;
            }
            let (area, child_box) = (other_node.aabb.surface_area(), self.nodes[child as usize].aabb);
            for (moved, stays) in [(other_node.left, other_node.right), (other_node.right, other_node.left)] {
                let gain = area - self.area_with(stays, &child_box);
                if gain > best.map_or(0.0, |b| b.0) {
                    best = Some((gain, child, other, moved));
                }
            }
        }
        let Some((_, child, other, moved)) = best else { return false };
        self.replace_child(index, child, moved);
        self.replace_child(other, moved, child);
        self.nodes[moved as usize].parent = index;
        self.nodes[child as usize].parent = other;
        self.refit_node(other);
        self.refit_node(index);
        true
    }

    fn limit_height(&mut self) {
        if self.height() > MAX_HEIGHT {
            self.rebuild();
        }
    }
}
