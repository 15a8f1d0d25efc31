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
//! | `first` | `p_I` | impulse of a plastic frictionless collision | N·s |
//! | `second` | `p_II` | impulse of a plastic sticking collision, −K⁻¹u | N·s |
//! | `kappa` | κ | how far along `p_II` − `p_I` friction takes the impulse | - |
//!
//! # Formula
//!
//! ```text
//! p_I = (0, 0, −u_z/K_zz)     p_II = −K⁻¹ u     p_II − p_I = (t, −s·t/c),  t = −(M − s sᵀ/c)⁻¹ (u_t + s p_I)
//! p   = (1+e) p_I + κ (p_II − p_I),   κ = 1 + e_t, or less so that |p_t| = μ p_z
//! κ   = μ (1+e) p_I,z / (|p_II,t| − μ (p_II − p_I)_z)     on the cone
//! ```
//!
//! `p_I` and `p_II` − `p_I` are orthogonal in the metric of K, so the normal velocity after the collision is −e times
//! that before, whatever κ is, and the kinetic energy lost is ½ (1−e²) |`p_I`|² + ½ (1−(κ−1)²) |`p_II` − `p_I`|².
//!
//! # Cost
//!
//! A 2x2 inverse, some tens of nanoseconds; no allocation, no loop.
//!
//! # Numerics
//!
//! Where the 2x2 matrix has lost rank its pseudo-inverse takes the place of the inverse: the impulse of least length.
//!
//! # Failure
//!
//! What [`Impact::validate`] finds, or a matrix that is not positive semi-definite.
//!
//! # Tested by
//!
//! `soak_the_algebraic_law_keeps_restitution_cone_and_energy_exactly`, `all_laws_conform`

use super::{checked, flow::SlidingFlow};
use sim_math::glam::{DVec2, DVec3};
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
    let inv = 1.0 / flow.c;
    let first = -u.z * inv;
    // p_II − p_I keeps the normal velocity: its tangential part solves S t = −(u_t + s p_I), S = M − s sᵀ/c, and its
    // normal part is −s·t/c. This holds for K of any rank and any u.
    let (x, y) = (u.x + flow.e * first, u.y + flow.d * first);
    let (a, b, f) =
        (flow.a - flow.e * flow.e * inv, flow.b - flow.d * flow.d * inv, flow.f - flow.e * flow.d * inv);
    let (trace, det) = (a + b, a * b - f * f);
    let t = if trace <= 1e-12 * (flow.a + flow.b) {
        DVec2::ZERO // no impulse can change the tangential velocity alone
    } else if det > 1e-10 * trace * trace {
        DVec2::new(f * y - b * x, f * x - a * y) * (1.0 / det)
    } else {
        // Rank one: S = trace · v vᵀ with v along the longer column.
        let v = if a >= b { DVec2::new(a, f) } else { DVec2::new(f, b) };
        -v * ((v.x * x + v.y * y) / (v.length_squared() * trace))
    };
    let normal = (1.0 + e) * first;
    let lift = -(flow.e * t.x + flow.d * t.y) * inv;
    let slide = t.length();
    let mut kappa = bound;
    if kappa * slide > flow.mu * (normal + kappa * lift) {
        // The denominator is positive whenever the test fires.
        kappa = flow.mu * normal / (slide - flow.mu * lift);
    }
    DVec3::new(t.x * kappa, t.y * kappa, normal + kappa * lift)
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
