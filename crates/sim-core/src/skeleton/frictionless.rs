//! The simplest collision law: no friction, Newton's restitution.

use sim_math::glam::DVec3;
use sim_traits::{Impact, ImpactError, ImpactLaw};

/// Reverses the normal velocity and scales it by e: p.z = −(1 + e) u.z / `K_zz`, no tangential impulse.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frictionless;

impl ImpactLaw for Frictionless {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        impact.validate()?;
        let approach = (-impact.velocity.z).max(0.0);
        Ok(DVec3::Z * ((1.0 + impact.restitution) * approach / impact.k.z_axis.z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::testkit::impact::{Bounds, conformance};

    #[test]
    fn the_frictionless_law_conforms() {
        conformance(&Frictionless, &Bounds { friction: false, ..Bounds::default() }).unwrap();
    }
}
