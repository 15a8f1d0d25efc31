//! Worlds and measures that several scenes share.

use crate::Failed;
use sim_core::prelude::{Body, DVec3, HalfSpace, World};

/// Standard gravity of the scenes, m/s².
pub(super) const G: f64 = 9.81;

/// Gravity down z, and a floor at z = 0 with the friction of the bodies (the mean of equal ones) and no restitution
/// (the greater one counts).
pub(super) fn earth(friction: f64) -> Result<World, Failed> {
    let mut world = World::new([0.0, 0.0, -G])?;
    world.add(Body::fixed().shape(HalfSpace::up()).friction(friction))?;
    Ok(world)
}

/// Sum of m |v| over all free bodies, kg m/s: what errors of momentum are measured against.
pub(super) fn momentum_scale(world: &World) -> f64 {
    world.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| b.mass() * b.velocity().linear.length()).sum()
}

/// A horizontal unit vector at an angle from x, degrees.
pub(super) fn heading(degrees: f64) -> DVec3 {
    let (sin, cos) = sim_math::ops::sin_cos(degrees.to_radians());
    DVec3::new(cos, sin, 0.0)
}
