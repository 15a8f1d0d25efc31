//! Algebraic impact laws: one formula instead of an integration.
//!
//! # Reference
//!
//! Chatterjee and Ruina, *A new algebraic rigid-body collision law based on impulse space considerations* (1998), as
//! used by Fontijne, *Rigid Body Simulation and Evolution of Virtual Creatures* (2000), section 3.4.3.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `first` | p_I | impulse of a plastic frictionless collision | N·s |
//! | `second` | p_II | impulse of a plastic sticking collision, −K⁻¹u | N·s |
//! | `kappa` | κ | how far along p_II − p_I friction takes the impulse | - |
//!
//! # Formula
//!
//! ```text
//! p_I = (0, 0, −u_z/K_zz)     p_II = −K⁻¹ u
//! p   = (1+e) p_I + κ (p_II − p_I),   κ = 1 + e_t, or less so that |p_t| = μ p_z
//! κ   = μ (1+e) p_I,z / (|p_II,t| − μ (p_II − p_I)_z)     on the cone
//! ```
//!
//! p_I and p_II − p_I are orthogonal in the metric of K, so the normal velocity after the collision is −e times
//! that before, whatever κ is, and the kinetic energy lost is ½ (1−e²) |p_I|² + ½ (1−(κ−1)²) |p_II − p_I|².
//!
//! # Cost
//!
//! A 3x3 inverse, some ten nanoseconds; no allocation, no loop.
//!
//! # Numerics
//!
//! Where K has lost rank its pseudo-inverse takes the place of the inverse: the impulse of least length.
//!
//! # Failure
//!
//! What [`Impact::validate`] finds, or a matrix that is not positive semi-definite.
//!
//! # Tested by
//!
//! `restitution_cone_and_energy_hold_exactly`, `orthogonality_gives_the_energy_lost`, conformance kit

use super::{checked, flow::SlidingFlow};
use crate::pseudo_inverse::pseudo_inverse;
use sim_math::glam::DVec3;
use sim_traits::{Impact, ImpactError, ImpactLaw};

/// The law of Chatterjee and Ruina.
///
/// ```
/// use rigid_impulse::impact::Algebraic;
/// use sim_math::glam::{DMat3, DVec3};
/// use sim_traits::{Impact, ImpactLaw};
///
/// let ball = Impact {
///     k: DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0)), // 1 kg, on the ground
///     velocity: DVec3::new(0.5, 0.0, -1.0),
///     friction: 0.3,
///     restitution: 0.5,
/// };
/// let p = Algebraic::default().impulse(&ball)?;
/// assert!((p - DVec3::new(-1.0 / 7.0, 0.0, 1.5)).length() < 1e-15); // it sticks and rolls
/// # Ok::<(), sim_traits::ImpactError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Algebraic {
    /// Tangential restitution `e_t` in [−1, 1]: −1 no friction at all, 0 the contact sticks where friction allows, 1
    /// the tangential velocity is reversed (a superball). Default 0.
    pub tangential_restitution: f64,
}

impl Algebraic {
    /// A law with the given tangential restitution.
    ///
    /// # Errors
    /// `tangential_restitution` is not a number in [−1, 1].
    pub fn new(tangential_restitution: f64) -> Result<Self, ImpactError> {
        let law = Self { tangential_restitution };
        law.validate()?;
        Ok(law)
    }

    fn validate(&self) -> Result<(), ImpactError> {
        let value = self.tangential_restitution;
        if !value.is_finite() {
            return Err(ImpactError::NonFinite { what: "tangential restitution", value });
        }
        if value < -1.0 {
            return Err(ImpactError::Negative { what: "1 + tangential restitution", value: 1.0 + value });
        }
        if value > 1.0 {
            return Err(ImpactError::Negative { what: "1 - tangential restitution", value: 1.0 - value });
        }
        Ok(())
    }
}

/// The law of Chatterjee and Ruina as a function of checked numbers. `bound` is 1 + `e_t`.
pub(crate) fn chatterjee_ruina(flow: &SlidingFlow, u: DVec3, e: f64, bound: f64) -> DVec3 {
    let first = -u.z / flow.c;
    let second = -(pseudo_inverse(&flow.matrix()) * u);
    let across = second - DVec3::new(0.0, 0.0, first);
    let normal = (1.0 + e) * first;
    let mut kappa = bound;
    let slide = across.truncate().length();
    if kappa * slide > flow.mu * (normal + kappa * across.z) {
        // The denominator is positive whenever the test fires; slide > 0 as well.
        kappa = flow.mu * normal / (slide - flow.mu * across.z);
    }
    let tangential = across.truncate() * kappa;
    // `p_z` of the formula may fall below |p_t|/μ by rounding when κ is on the cone.
    DVec3::new(tangential.x, tangential.y, normal + kappa * across.z)
}

impl ImpactLaw for Algebraic {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        self.validate()?;
        let flow = checked(impact)?;
        if impact.velocity.z >= 0.0 {
            return Ok(DVec3::ZERO);
        }
        Ok(chatterjee_ruina(&flow, impact.velocity, impact.restitution, 1.0 + self.tangential_restitution))
    }
}

/// No friction: the impulse is along the normal, and the normal velocity is reversed and scaled by e.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frictionless;

impl ImpactLaw for Frictionless {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        let flow = checked(impact)?;
        let approach = (-impact.velocity.z).max(0.0);
        Ok(DVec3::new(0.0, 0.0, (1.0 + impact.restitution) * approach / flow.c))
    }
}
