//! The bodies of a contact, one by one, as solvers on velocities see them.

use sim_math::glam::{DMat3, DVec3};
use sim_traits::Groups;

/// One body of a contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SideOf {
    pub(crate) body: usize,
    pub(crate) sign: f64,
    pub(crate) arm: DVec3,
    pub(crate) frame: DMat3,
}

impl SideOf {
    /// Moment and force of an impulse.
    pub(crate) fn wrench(&self, p: DVec3) -> (DVec3, DVec3) {
        let force = self.sign * (self.frame * p);
        (self.arm.cross(force), force)
    }

    /// Columns of Jᵀ without sign: moments and forces of unit impulses.
    pub(crate) fn columns(&self) -> [DMat3; 2] {
        let f = &self.frame;
        let moments =
            DMat3::from_cols(self.arm.cross(f.x_axis), self.arm.cross(f.y_axis), self.arm.cross(f.z_axis));
        [moments, *f]
    }
}

/// The movable bodies of a contact.
pub(crate) fn sides<'a>(free: &'a Groups<'_>, c: usize) -> impl Iterator<Item = SideOf> + 'a {
    (0..2).filter_map(move |k| {
        let body = free.sides[c][k] as usize;
        let sign = if k == 0 { 1.0 } else { -1.0 };
        (body < free.bodies.len()).then_some(SideOf {
            body,
            sign,
            arm: free.arms[c][k],
            frame: free.frames[c],
        })
    })
}
