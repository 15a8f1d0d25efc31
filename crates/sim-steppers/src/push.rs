//! One impulse, as the world lists it.

use rigid_impulse::CollisionKind;
use sim_math::glam::DVec3;
use sim_traits::ColliderId;
use sim_world::Collision;

/// One impulse on A, in world axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Push {
    pub(crate) point: DVec3,
    /// From B to A.
    pub(crate) normal: DVec3,
    pub(crate) separation: f64,
    pub(crate) impulse: DVec3,
}

impl Push {
    /// As the world lists it. `approach` is the speed before it, m/s.
    pub(crate) fn collision(&self, [a, b]: [ColliderId; 2], approach: f64, kind: CollisionKind) -> Collision {
        let Self { point, normal, separation, impulse } = *self;
        Collision { a, b, point, normal, impulse, approach, separation, kind }
    }
}
