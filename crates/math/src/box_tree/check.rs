//! A full check of a tree, for tests and for hunting bugs.

use super::tree::{BoxTree, IN_SIDE_LIST, MAX_HEIGHT, NONE, is_bounded};
use thiserror::Error;

/// The first rule that a tree breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("node {node}: {rule}")]
pub struct BoxTreeFault {
    /// Node, or item for rules about items.
    pub node: u32,
    /// What does not hold.
    pub rule: &'static str,
}

impl BoxTree {
    /// Checks every rule that the tree keeps between calls, in O(n).
    ///
    /// # Errors
    /// The first fault found; a fault is a bug in this module.
    pub fn check(&self) -> Result<(), BoxTreeFault> {
        let require = |holds: bool, node: u32, rule: &'static str| {
            if holds { Ok(()) } else { Err(BoxTreeFault { node, rule }) }
        };
        require(self.height() <= MAX_HEIGHT, self.root, "the tree is too high")?;
        let mut leaves = 0;
        let mut visited = 0;
        let mut pending = Vec::new();
        if self.root != NONE {
            require(self.nodes[self.root as usize].parent == NONE, self.root, "the root has a parent")?;
            pending.push(self.root);
        }
        while let Some(index) = pending.pop() {
            visited += 1;
            require(visited <= self.nodes.len(), index, "a node is reached twice")?;
            let node = &self.nodes[index as usize];
            require(node.aabb.is_valid(), index, "the box is invalid")?;
            if node.is_leaf() {
                leaves += 1;
                require(node.height == 0, index, "a leaf has height 0")?;
                let leaf = self.leaf_of.get(node.right as usize).copied();
                require(leaf == Some(index), index, "the item does not point back to its leaf")?;
                require(is_bounded(&node.aabb), index, "an unbounded box is in the tree")?;
                continue;
            }
            let (left, right) = (&self.nodes[node.left as usize], &self.nodes[node.right as usize]);
            require(left.parent == index && right.parent == index, index, "a child has another parent")?;
            require(node.height == 1 + left.height.max(right.height), index, "the height is wrong")?;
            require(node.aabb == left.aabb.merged(&right.aabb), index, "the box is not the merger")?;
            pending.extend([node.left, node.right]);
        }
        let mut unused = 0;
        let mut next = self.free;
        while next != NONE {
            unused += 1;
            require(visited + unused <= self.nodes.len(), next, "the free list is too long")?;
            next = self.nodes[next as usize].parent;
        }
        require(visited + unused == self.nodes.len(), self.root, "nodes are lost")?;
        require(leaves + self.unbounded.len() == self.len, self.root, "the number of items is wrong")?;
        let listed = self.leaf_of.iter().filter(|&&leaf| leaf != NONE).count();
        require(listed == self.len, self.root, "the number of listed items is wrong")?;
        for window in self.unbounded.windows(2) {
            require(window[0].0 < window[1].0, window[1].0, "the side list is not sorted")?;
        }
        for (item, aabb) in &self.unbounded {
            let marked = self.leaf_of.get(*item as usize) == Some(&IN_SIDE_LIST);
            require(marked && !is_bounded(aabb), *item, "an item is in the side list without reason")?;
        }
        Ok(())
    }
}
