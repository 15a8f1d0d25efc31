//! Energy and momentum of a world.

use crate::{Body, World};
use sim_math::glam::DVec3;

impl World {
    /// Kinetic energy of all free bodies, J.
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        self.bodies().map(|(_, b)| b.state().kinetic_energy()).sum()
    }

    /// Potential energy of all free bodies in uniform gravity, J, zero at the origin.
    #[must_use]
    pub fn potential_energy(&self) -> f64 {
        self.free_bodies().map(|(m, b)| -m * self.gravity().dot(b.center())).sum()
    }

    /// Momentum of all free bodies, kg·m/s.
    #[must_use]
    pub fn momentum(&self) -> DVec3 {
        self.free_bodies().map(|(m, b)| b.velocity().linear * m).sum()
    }

    /// Angular momentum of all free bodies about the origin, kg·m²/s.
    #[must_use]
    pub fn angular_momentum(&self) -> DVec3 {
        self.free_bodies().map(|(m, b)| b.center().cross(b.velocity().linear * m) + b.state().spin()).sum()
    }

    fn free_bodies(&self) -> impl Iterator<Item = (f64, &Body)> {
        self.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| (b.mass(), b))
    }
}
