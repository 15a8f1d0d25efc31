//! Nearest items to a point, by branch and bound.
//!
//! # Reference
//! Roussopoulos, Kelley and Vincent 1995 (nearest neighbours in box trees); depth first with the nearer child
//! first, which needs a stack of bounded size where best first needs a heap.
//!
//! # Symbols
//! `p` point, `b` box, `d_max` distance beyond which nothing matters.
//!
//! # Formula
//! ```text
//! d(p, b)² = Σ_axis max(min_axis − p_axis, 0, p_axis − max_axis)²
//! ```
//!
//! # Cost
//! O(log n) boxes for scattered items and a good visitor, O(n) at worst. No allocation.
//!
//! # Numerics
//! Distances are compared with `d_max` after the square root, whose rounding keeps the order; a box at exactly
//! `d_max` is still visited.
//!
//! # Failure
//! [`MathError::NonFinite`] for the point, [`MathError::Negative`] for a negative or NaN distance.
//!
//! # Tested by
//! `queries_agree_with_brute_force`, `unbounded_boxes_are_found_by_every_query`.

use super::tree::{BoxTree, NONE, STACK};
use crate::{Aabb, MathError};
use glam::DVec3;

/// Distance from a point to a closed box, metres; 0 inside.
fn distance_to_box(point: DVec3, aabb: &Aabb) -> f64 {
    (aabb.min - point).max(point - aabb.max).max(DVec3::ZERO).length()
}

impl BoxTree {
    /// Calls `visit(item, box_distance, max_distance)` for items whose box is not farther from `point` than
    /// `max_distance` (metres). The visitor returns the new `max_distance`: the true distance of the item to keep
    /// only nearer ones, the old value to collect all, a negative number to stop. A value above the old one, or
    /// NaN, changes nothing. Returns the last `max_distance`.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] for the point; [`MathError::Negative`] if `max_distance` is negative or NaN.
    /// It may be infinite.
    pub fn visit_nearest(
        &self,
        point: DVec3,
        max_distance: f64,
        mut visit: impl FnMut(u32, f64, f64) -> f64,
    ) -> Result<f64, MathError> {
        MathError::check_vector("query point", point)?;
        if max_distance.is_nan() || max_distance < 0.0 {
            return Err(MathError::Negative { what: "max distance", index: 0, value: max_distance });
        }
        let mut limit = max_distance;
        for (item, aabb) in &self.unbounded {
            let distance = distance_to_box(point, aabb);
            if distance <= limit {
                limit = limit.min(visit(*item, distance, limit));
                if limit < 0.0 {
                    return Ok(limit);
                }
            }
        }
        if self.root == NONE {
            return Ok(limit);
        }
        let distance_of = |index: u32| distance_to_box(point, &self.nodes[index as usize].aabb);
        let mut stack = [(0_u32, 0.0_f64); STACK];
        stack[0] = (self.root, distance_of(self.root));
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (index, distance) = stack[count];
            if distance > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                limit = limit.min(visit(node.right, distance, limit));
                if limit < 0.0 {
                    return Ok(limit);
                }
                continue;
            }
            let (left, right) = ((node.left, distance_of(node.left)), (node.right, distance_of(node.right)));
            let (near, far) = if right.1 < left.1 { (right, left) } else { (left, right) };
            (stack[count], stack[count + 1]) = (far, near);
            count += 2;
        }
        Ok(limit)
    }
}
