//! All items whose box overlaps a given box.

use super::tree::{BoxTree, NONE, STACK};
use crate::Aabb;
use std::ops::ControlFlow;

impl BoxTree {
    /// Calls `visit` with every item whose closed box shares a point with `aabb`, until it breaks.
    ///
    /// An invalid `aabb` (NaN or inverted) overlaps nothing.
    pub fn visit_overlaps(
        &self,
        aabb: &Aabb,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !aabb.is_valid() {
            return ControlFlow::Continue(());
        }
        for (item, other) in &self.unbounded {
            if other.overlaps(aabb) {
                visit(*item)?;
            }
        }
        self.visit_bounded_overlaps(aabb, &mut visit)
    }

    /// The same without the side list.
    pub(super) fn visit_bounded_overlaps(
        &self,
        aabb: &Aabb,
        visit: &mut impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.root == NONE {
            return ControlFlow::Continue(());
        }
        let mut stack = [0_u32; STACK];
        stack[0] = self.root;
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let node = &self.nodes[stack[count] as usize];
            if !node.aabb.overlaps(aabb) {
                continue;
            }
            if node.is_leaf() {
                visit(node.right)?;
            } else {
                (stack[count], stack[count + 1]) = (node.right, node.left);
                count += 2;
            }
        }
        ControlFlow::Continue(())
    }
}
