//! Sticking: whether friction can hold a contact whose tangential velocity is zero.
//!
//! # Reference
//!
//! Mirtich (1996), sections 3.2.3 and 3.3.4; Arnold, *Evolution of Legged Locomotion* (1997), equations 2.28, 2.29.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `m` | M = [[a,f],[f,b]] | tangential block of K | 1/kg |
//! | `s` | s = (e, d) | coupling of tangential and normal | 1/kg |
//! | `direction` | k0/k2, k1/k2 | tangential impulse per normal impulse | - |
//! | `rate` | 1/κ = 1/K⁻¹₃₃ | growth of `u_z` per normal impulse | 1/kg |
//!
//! # Formula
//!
//! ```text
//! u_t stays 0 ⇔ M p_t + s p_z = 0 ⇔ p_t/p_z = −M⁻¹ s
//! stable ⇔ |M⁻¹ s| ≤ μ ⇔ (K⁻¹₁₃)² + (K⁻¹₂₃)² ≤ μ² (K⁻¹₃₃)²
//! du_z/dp_z = c − sᵀ M⁻¹ s
//! ```
//!
//! # Cost
//!
//! One 2x2 inverse.
//!
//! # Numerics
//!
//! Where M has (nearly) lost rank its pseudo-inverse gives the smallest tangential impulse, and none along
//! directions in which nothing can move. `rate` is a difference: it loses digits as K loses rank, and is
//! clamped at zero.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `critical_friction_separates_holding_from_leaving`, `three_forms_of_the_test_agree`,
//! `a_locked_direction_gets_no_impulse`

use super::flow::SlidingFlow;
use sim_math::glam::DVec2;

/// Eigenvalue ratio below which the tangential block counts as singular.
const RANK_CUTOFF: f64 = 1e-10;

/// What friction does with a contact that does not slide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sticking {
    /// The contact stays stuck.
    Stable {
        /// Tangential impulse per normal impulse; shorter than μ.
        direction: DVec2,
        /// Growth of the normal velocity per normal impulse, 1/kg. Zero when normal and tangential motion are
        /// locked together: the contact is wedged.
        rate: f64,
    },
    /// Friction is too weak: the contact begins to slide along the one diverging ray.
    Unstable,
}

/// Tangential impulse per normal impulse that keeps the tangential velocity, −M⁺ s.
#[inline]
#[must_use]
pub(crate) fn holding_direction(flow: &SlidingFlow) -> DVec2 {
    let trace = flow.a + flow.b;
    let det = flow.a * flow.b - flow.f * flow.f;
    if det > RANK_CUTOFF * trace * trace {
        let inv = 1.0 / det;
        let solve = |x: f64, y: f64| DVec2::new(flow.f * y - flow.b * x, flow.f * x - flow.a * y) * inv;
        let direction = solve(flow.e, flow.d);
        // One refinement: what M leaves of s is rounding of M, not of its inverse.
        let left_x = flow.e + flow.a * direction.x + flow.f * direction.y;
        let left_y = flow.d + flow.f * direction.x + flow.b * direction.y;
        return direction + solve(left_x, left_y);
    }
    if trace <= 0.0 {
        return DVec2::ZERO;
    }
    // Rank one: M = trace · v vᵀ with v along the longer column.
    let v = if flow.a >= flow.b { DVec2::new(flow.a, flow.f) } else { DVec2::new(flow.f, flow.b) };
    let s = DVec2::new(flow.e, flow.d);
    -v * (v.dot(s) / (v.length_squared() * trace))
}

/// Least coefficient of friction that holds a contact at rest, |M⁺ s|.
#[inline]
#[must_use]
pub fn critical_friction(flow: &SlidingFlow) -> f64 {
    holding_direction(flow).length()
}

/// Whether a contact with zero tangential velocity sticks.
///
/// ```
/// use rigid_impulse::impact::{SlidingFlow, Sticking, sticking};
/// use sim_math::glam::{DMat3, DVec3};
///
/// // A uniform ball on the ground: nothing couples tangential and normal motion, so it always sticks.
/// let ball = DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0));
/// assert!(matches!(sticking(&SlidingFlow::new(&ball, 0.1)), Sticking::Stable { .. }));
/// ```
#[inline]
#[must_use]
pub fn sticking(flow: &SlidingFlow) -> Sticking {
    let direction = holding_direction(flow);
    if direction.length_squared() <= flow.mu * flow.mu {
        let rate = (flow.c + flow.e * direction.x + flow.d * direction.y).max(0.0);
        Sticking::Stable { direction, rate }
    } else {
        Sticking::Unstable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;
    use sim_math::{
        assert_close,
        glam::{DMat3, DVec3},
        testkit::SplitMix64,
    };

    #[test]
    fn critical_friction_of_the_thesis_matrix() {
        let k = DMat3::from_cols_array(&[8., -2., 1., -2., 3., -1., 1., -1., 5.]);
        assert_close!(critical_friction(&SlidingFlow::new(&k, 0.2)), 0.304_138, abs = 5e-7);
        assert_eq!(sticking(&SlidingFlow::new(&k, 0.2)), Sticking::Unstable);
        let Sticking::Stable { direction, rate } = sticking(&SlidingFlow::new(&k, 0.4)) else {
            panic!("holds at 0.4")
        };
        // Third column of K⁻¹ over its last entry.
        let column = k.inverse().z_axis;
        assert!((direction - column.truncate() / column.z).length() < 1e-15);
        assert_close!(rate, 1.0 / column.z, rel = 1e-15);
    }

    #[test]
    fn three_forms_of_the_test_agree() {
        let mut random = SplitMix64(11);
        for _ in 0..100_000 {
            let k = random_matrix(&mut random, 100.0);
            let flow = SlidingFlow::new(&k, random.range(0.0, 3.0));
            if (critical_friction(&flow) - flow.mu).abs() < 1e-9 * flow.mu {
                continue;
            }
            let stable = matches!(sticking(&flow), Sticking::Stable { .. });
            let column = k.inverse().z_axis;
            let inverse_form =
                column.truncate().length_squared() <= (flow.mu * column.z) * (flow.mu * column.z);
            let SlidingFlow { a, b, d, e, f, mu, .. } = flow;
            let ellipse_form = (b * b + f * f) * e * e + (a * a + f * f) * d * d - 2.0 * (a + b) * f * d * e
                <= mu * mu * (a * b - f * f) * (a * b - f * f);
            assert_eq!(stable, inverse_form, "{flow:?}");
            assert_eq!(stable, ellipse_form, "{flow:?}");
        }
    }

    #[test]
    fn a_locked_direction_gets_no_impulse() {
        // Nothing moves along y; x and z are coupled.
        let k = DMat3::from_cols(DVec3::new(2.0, 0.0, 0.5), DVec3::ZERO, DVec3::new(0.5, 0.0, 1.0));
        let Sticking::Stable { direction, rate } = sticking(&SlidingFlow::new(&k, 0.3)) else {
            panic!("holds: 0.25 < 0.3")
        };
        assert_eq!(direction, DVec2::new(-0.25, 0.0));
        assert_eq!(rate, 0.875);
        // Rank one: normal motion needs tangential motion.
        let k = DMat3::from_cols(DVec3::new(1.0, 0.0, 1.0), DVec3::ZERO, DVec3::new(1.0, 0.0, 1.0));
        let Sticking::Stable { rate, .. } = sticking(&SlidingFlow::new(&k, 2.0)) else { panic!("1 < 2") };
        assert_eq!(rate, 0.0);
    }
}
