//! Micro-collisions: resting and rolling contact as many tiny collisions.
//!
//! # Reference
//!
//! Mirtich (1996), section 3.5; Fontijne (2000), section 3.4.4 with the threshold corrected to a speed.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `envelope` | `ε_c` | distance below which bodies count as touching | m |
//! | `depth` | δ = `ε_c` − d | how deep in the envelope | m |
//! | `acceleration` | g | local effective acceleration that presses the bodies together | m/s² |
//!
//! # Formula
//!
//! ```text
//! micro if −u_z < √(2 g ε_c)
//! p = −2 K⁻¹ u              if inside the friction cone: reverses the contact velocity, does no work
//! e(δ) = e + (e_max − e) (δ/ε_c)²   (Fontijne: power 1)   else, with the ordinary law
//! ```
//!
//! # Cost
//!
//! One pseudo-inverse before the law, and often instead of it.
//!
//! # Numerics
//!
//! The pseudo-inverse drops directions in which nothing moves.
//!
//! # Failure
//!
//! What the law reports; parameters that make no sense.
//!
//! # Tested by
//!
//! `inside_the_cone_the_velocity_is_reversed`, `outside_the_cone_restitution_is_boosted`, `fast_collisions_are_ordinary`

use crate::{error::BodyError, pseudo_inverse::pseudo_inverse};
use sim_math::glam::DVec3;
use sim_traits::{Impact, ImpactError, ImpactLaw};

/// How restitution grows with depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Profile {
    /// With the square of the depth: no boost at the rim of the envelope, and a smooth start.
    #[default]
    Quadratic,
    /// In proportion to the depth.
    Linear,
}

/// Parameters of micro-collisions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MicroParams {
    /// Collision envelope, m. Default 1e-3. Smaller looks better and costs more collisions.
    pub envelope: f64,
    /// Restitution at contact, reached at full depth. Default 5. Larger keeps bodies apart more firmly, and shakes them more.
    pub max_restitution: f64,
    /// How restitution grows with depth. Default quadratic.
    pub profile: Profile,
    /// Try to reverse the contact velocity first. Default true; false creeps more.
    pub reversing: bool,
}

impl Default for MicroParams {
    fn default() -> Self {
        Self { envelope: 1e-3, max_restitution: 5.0, profile: Profile::Quadratic, reversing: true }
    }
}

/// What a collision turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollisionKind {
    /// Not touching, or not approaching: no impulse.
    None,
    /// An ordinary collision.
    Ordinary,
    /// A micro-collision that reversed the contact velocity.
    Reversed,
    /// A micro-collision with boosted restitution.
    Boosted,
    /// Lasting contact during a step of time: what it exerted in the step.
    Lasting,
}

impl MicroParams {
    /// Mirtich's micro-collisions for an envelope (m).
    #[must_use]
    pub fn mirtich(envelope: f64) -> Self {
        Self { envelope, ..Self::default() }
    }

    /// Fontijne's micro-impulses: linear boost, no reversal, a restitution of 2 to 5 at full depth.
    #[must_use]
    pub fn fontijne(envelope: f64, max_restitution: f64) -> Self {
        Self { envelope, max_restitution, profile: Profile::Linear, reversing: false }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// An envelope that is not finite and positive, or a restitution that is not finite and at least zero.
    pub fn validate(&self) -> Result<(), BodyError> {
        for (what, value) in [("envelope", self.envelope), ("largest restitution", self.max_restitution)] {
            if !value.is_finite() {
                return Err(BodyError::NonFinite { what, value });
            }
            if value < 0.0 {
                return Err(BodyError::Negative { what, value });
            }
        }
        if self.envelope > 0.0 {
            Ok(())
        } else {
            Err(BodyError::NotPositive { what: "envelope", value: 0.0 })
        }
    }

    /// True if bodies at `separation` (m) with normal velocity `u_z` (m/s) collide: within the envelope, and approaching.
    #[inline]
    #[must_use]
    pub fn collides(&self, separation: f64, u_z: f64) -> bool {
        separation < self.envelope && u_z < 0.0
    }

    /// Approach speed below which a collision is a micro-collision, m/s: that of a fall through the envelope under the local
    /// effective acceleration (m/s²). Zero without acceleration.
    #[inline]
    #[must_use]
    pub fn threshold(&self, acceleration: f64) -> f64 {
        (2.0 * acceleration.max(0.0) * self.envelope).sqrt()
    }

    /// Boosted restitution at a separation (m).
    #[must_use]
    pub fn boosted(&self, restitution: f64, separation: f64) -> f64 {
        let depth = ((self.envelope - separation) / self.envelope).clamp(0.0, 1.0);
        let share = match self.profile {
            Profile::Quadratic => depth * depth,
            Profile::Linear => depth,
        };
        restitution + (self.max_restitution - restitution).max(0.0) * share
    }

    /// Impulse on A of a collision, micro or not: contact axes, N·s.
    ///
    /// # Errors
    /// What the law and [`Impact::validate`] report; a separation or acceleration that is not finite.
    pub fn resolve(
        &self,
        impact: &Impact,
        separation: f64,
        acceleration: f64,
        law: &dyn ImpactLaw,
    ) -> Result<(DVec3, CollisionKind), ImpactError> {
        impact.validate()?;
        for (what, value) in [("separation", separation), ("acceleration", acceleration)] {
            if !value.is_finite() {
                return Err(ImpactError::NonFinite { what, value });
            }
        }
        if !self.collides(separation, impact.velocity.z) {
            return Ok((DVec3::ZERO, CollisionKind::None));
        }
        if -impact.velocity.z >= self.threshold(acceleration) {
            return Ok((law.impulse(impact)?, CollisionKind::Ordinary));
        }
        if self.reversing {
            let p = pseudo_inverse(&impact.k) * impact.velocity * -2.0;
            if p.is_finite() && p.truncate().length() <= impact.friction * p.z {
                return Ok((p, CollisionKind::Reversed));
            }
        }
        let restitution = self.boosted(impact.restitution, separation);
        Ok((law.impulse(&Impact { restitution, ..*impact })?, CollisionKind::Boosted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::Integrated;
    use sim_math::{assert_close, glam::DMat3};

    fn ball(u: DVec3, friction: f64) -> Impact {
        Impact { k: DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0)), velocity: u, friction, restitution: 0.2 }
    }

    #[test]
    fn inside_the_cone_the_velocity_is_reversed() {
        let micro = MicroParams::mirtich(1e-3);
        let impact = ball(DVec3::new(0.005, 0.0, -0.01), 0.5);
        let (p, kind) = micro.resolve(&impact, 5e-4, 9.81, &Integrated::default()).unwrap();
        assert_eq!(kind, CollisionKind::Reversed);
        let after = impact.velocity + impact.k * p;
        assert!((after + impact.velocity).length() < 1e-17, "{after}");
        // No work.
        assert_close!(0.5 * (after + impact.velocity).dot(p), 0.0, abs = 1e-18);
    }

    #[test]
    fn outside_the_cone_restitution_is_boosted() {
        let impact = ball(DVec3::new(0.1, 0.0, -0.01), 0.2);
        let law = Integrated::default();
        for (micro, expected) in [
            (MicroParams::mirtich(1e-3), 0.2 + 4.8 * 0.25),
            (MicroParams::fontijne(1e-3, 3.0), 0.2 + 2.8 * 0.5),
        ] {
            assert_close!(micro.boosted(0.2, 5e-4), expected, rel = 1e-14);
            let (p, kind) = micro.resolve(&impact, 5e-4, 9.81, &law).unwrap();
            assert_eq!(kind, CollisionKind::Boosted);
            assert_close!((impact.velocity + impact.k * p).z, 0.01 * expected, rel = 1e-12);
            assert!(p.truncate().length() <= impact.friction * p.z * (1.0 + 1e-12));
            // Nothing at the rim, everything at contact and beyond.
            assert_eq!(micro.boosted(0.2, 1e-3), 0.2);
            assert_close!(micro.boosted(0.2, -1e-4), micro.max_restitution, rel = 1e-15);
        }
    }

    // proves: MIR-39, FON-61
    #[test]
    fn receding_or_distant_bodies_are_left_alone() {
        let micro = MicroParams::mirtich(1e-3);
        let law = Integrated::default();
        let receding = ball(DVec3::new(0.1, 0.0, 0.01), 0.2);
        assert_eq!(micro.resolve(&receding, 5e-4, 9.81, &law).unwrap(), (DVec3::ZERO, CollisionKind::None));
        let approaching = ball(DVec3::new(0.1, 0.0, -1.0), 0.2);
        assert_eq!(micro.resolve(&approaching, 1e-3, 9.81, &law).unwrap().1, CollisionKind::None);
        assert_eq!(micro.resolve(&approaching, 9e-4, 9.81, &law).unwrap().1, CollisionKind::Ordinary);
    }

    #[test]
    fn fast_collisions_are_ordinary() {
        let micro = MicroParams::mirtich(1e-3);
        let law = Integrated::default();
        let limit = micro.threshold(9.81);
        assert_close!(limit, 0.140_071_4, abs = 1e-7);
        let at =
            |u: f64, g: f64| micro.resolve(&ball(DVec3::new(0.0, 0.0, -u), 0.5), 5e-4, g, &law).unwrap().1;
        assert_eq!(at(limit * 1.001, 9.81), CollisionKind::Ordinary);
        assert_eq!(at(limit * 0.999, 9.81), CollisionKind::Reversed);
        // Without weight there is nothing to rest on.
        assert_eq!(at(1e-9, 0.0), CollisionKind::Ordinary);
        assert_eq!(at(limit * 2.0, 5.0 * 9.81), CollisionKind::Reversed);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(MicroParams::mirtich(0.0).validate().is_err());
        assert!(MicroParams::mirtich(f64::NAN).validate().is_err());
        assert!(MicroParams::fontijne(1e-3, -1.0).validate().is_err());
        assert!(MicroParams::default().validate().is_ok());
        let impact = ball(DVec3::NEG_Z, 0.5);
        let micro = MicroParams::default();
        assert!(micro.resolve(&impact, f64::NAN, 9.81, &Integrated::default()).is_err());
        assert!(micro.resolve(&impact, 0.0, f64::NAN, &Integrated::default()).is_err());
    }
}
