//! Energy and momentum of a world.

use crate::{Anchor, Body, ForceGenerator, World};
use sim_math::glam::DVec3;
use sim_traits::BodyId;

impl World {
    /// Kinetic energy of all free bodies and of rotors at the joints of trees, J.
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        let bodies: f64 = self.bodies().map(|(_, b)| b.kinetic_energy()).sum();
        bodies + self.trees().map(|(_, tree)| tree.rotor_energy()).sum::<f64>()
    }

    /// Potential energy, J: of all free bodies in uniform gravity, zero at the origin, and of all springs.
    #[must_use]
    pub fn potential_energy(&self) -> f64 {
        let lifted: f64 = self.free_bodies().map(|(m, b)| -m * self.gravity().dot(b.center())).sum();
        lifted + self.spring_energy()
    }

    /// Energy of all springs, J: ½ k (l − l₀)² each.
    #[must_use]
    pub fn spring_energy(&self) -> f64 {
        self.forces().map(|(_, force)| self.stretch(force)).sum()
    }

    /// True for a spring whose ends are free bodies or stand still: it has a potential that nothing but these ends changes. For steppers.
    #[must_use]
    pub fn is_elastic(&self, force: &ForceGenerator) -> bool {
        let scripted = |id: BodyId| self.get(id).is_some_and(|b| !b.is_free() && !b.is_fixed());
        matches!(force, ForceGenerator::Spring { .. }) && !force.bodies().any(scripted)
    }

    /// Energy of such springs, J.
    pub(crate) fn held_energy(&self) -> f64 {
        let forces: f64 =
            self.forces().filter(|(_, f)| self.is_elastic(f)).map(|(_, f)| self.stretch(f)).sum();
        forces + self.trees().map(|(_, tree)| tree.spring_energy()).sum::<f64>()
    }

    /// Of those that hold on to a body, J.
    pub(crate) fn held_energy_of(&self, id: BodyId) -> f64 {
        let held = self.forces_of(id).filter(|(_, f)| self.is_elastic(f));
        held.map(|(_, f)| self.stretch(f)).sum()
    }

    pub(crate) fn stretch(&self, force: &ForceGenerator) -> f64 {
        let ForceGenerator::Spring { a, b, stiffness, rest_length, .. } = force else { return 0.0 };
        let [p, q] = [a, b].map(|anchor| match *anchor {
            Anchor::World(point) => point,
            Anchor::Body(id, point) => self.get(id).map_or(point, |b| b.user_pose().transform_point(point)),
        });
        let stretch = (q - p).length() - rest_length;
        0.5 * stiffness * stretch * stretch
    }

    /// Momentum of all free bodies, kg·m/s.
    #[must_use]
    pub fn momentum(&self) -> DVec3 {
        self.free_bodies().map(|(m, b)| b.velocity().linear * m).sum()
    }

    /// Angular momentum of all free bodies about the origin, kg·m²/s.
    #[must_use]
    pub fn angular_momentum(&self) -> DVec3 {
        self.free_bodies().map(|(m, b)| b.center().cross(b.velocity().linear * m) + b.spin()).sum()
    }

    fn free_bodies(&self) -> impl Iterator<Item = (f64, &Body)> {
        self.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| (b.mass(), b))
    }
}
