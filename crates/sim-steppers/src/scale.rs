//! The sizes from which steppers take the lengths that they are not given.

use sim_math::glam::DVec3;
use sim_world::{Body, World};

/// How large the bodies of a world are, and how far out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Scale {
    /// Radius of the smallest free body, m.
    pub(crate) radius: f64,
    /// Largest distance of a point of a moving body from the origin, m.
    pub(crate) farthest: f64,
}

impl Default for Scale {
    fn default() -> Self {
        Self { radius: 1.0, farthest: 0.0 }
    }
}

impl Scale {
    /// Of the bodies that a world has now; `place` says where each one is.
    pub(crate) fn of(world: &World, place: impl Fn(&Body) -> DVec3) -> Self {
        let (mut smallest, mut farthest) = (f64::INFINITY, 0.0_f64);
        for (_, body) in world.bodies().filter(|(_, body)| body.is_free()) {
            let radii =
                body.colliders().iter().filter_map(|c| world.collider(*c).ok()).map(|c| c.extent().radius);
            let radius = radii.fold(0.0, f64::max);
            if radius > 0.0 && radius.is_finite() {
                smallest = smallest.min(radius);
                farthest = farthest.max(place(body).length() + radius);
            }
        }
        Self { radius: if smallest.is_finite() { smallest } else { 1.0 }, farthest }
    }
}
