//! Items whose box a ray meets, nearest boxes first, with an end that the visitor may bring closer.

use super::tree::{BoxTree, NONE, STACK};
use crate::MathError;
use glam::DVec3;

impl BoxTree {
    /// Calls `visit(item, entry, t_max)` for items whose box the ray `origin + t direction`, 0 ≤ t ≤ `t_max`,
    /// meets; `entry` is the parameter where it enters the box. The visitor returns the new `t_max`: the
    /// parameter of a hit to keep only nearer boxes, the old value to go on, a negative number to stop. A value
    /// above the old one, or NaN, changes nothing.
    ///
    /// Of two children the one entered first is visited first, so that hits shorten the ray early; items do not
    /// come in strictly increasing order. Returns the last `t_max`.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] for the origin or the direction; [`MathError::Negative`] if `t_max` is negative
    /// or NaN. `t_max` may be infinite.
    pub fn visit_ray(
        &self,
        origin: DVec3,
        direction: DVec3,
        t_max: f64,
        mut visit: impl FnMut(u32, f64, f64) -> f64,
    ) -> Result<f64, MathError> {
        MathError::check_vector("ray origin", origin)?;
        MathError::check_vector("ray direction", direction)?;
        if t_max.is_nan() || t_max < 0.0 {
            return Err(MathError::Negative { what: "ray t_max", index: 0, value: t_max });
        }
        let mut t_max = t_max;
        for (item, aabb) in &self.unbounded {
            if let Some((entry, _)) = aabb.ray_interval(origin, direction, t_max) {
                t_max = t_max.min(visit(*item, entry, t_max));
                if t_max < 0.0 {
                    return Ok(t_max);
                }
            }
        }
        if self.root == NONE {
            return Ok(t_max);
        }
        let entry_of = |index: u32, t_max: f64| {
            self.nodes[index as usize].aabb.ray_interval(origin, direction, t_max).map(|interval| interval.0)
        };
        let mut stack = [(0_u32, 0.0_f64); STACK];
        let mut count = 0;
        if let Some(entry) = entry_of(self.root, t_max) {
            stack[0] = (self.root, entry);
            count = 1;
        }
        while count > 0 {
            count -= 1;
            let (index, entry) = stack[count];
            // The ray may have become shorter since this was pushed.
            if entry > t_max {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                t_max = t_max.min(visit(node.right, entry, t_max));
                if t_max < 0.0 {
                    return Ok(t_max);
                }
                continue;
            }
            let left = entry_of(node.left, t_max).map(|t| (node.left, t));
            let right = entry_of(node.right, t_max).map(|t| (node.right, t));
            let (near, far) = match (left, right) {
                (Some(l), Some(r)) if r.1 < l.1 => (Some(r), Some(l)),
                (l, r) => (l, r),
            };
            for child in [far, near].into_iter().flatten() {
                stack[count] = child;
                count += 1;
            }
        }
        Ok(t_max)
    }
}
