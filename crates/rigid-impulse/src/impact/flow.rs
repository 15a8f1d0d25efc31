//! Sliding flow: how the relative velocity at a contact changes while the surfaces slide.
//!
//! # Reference
//!
//! Mirtich, *Impulse-based Dynamic Simulation of Rigid Body Systems* (1996), sections 3.2 and 3.4.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `a b c d e f` | K = [[a,f,e],[f,b,d],[e,d,c]] | collision matrix in the contact frame | 1/kg |
//! | `mu` | μ | coefficient of friction | - |
//! | `dir` | û | unit sliding direction `u_t`/\|`u_t`\| | - |
//! | `xi` | ξ | impulse per normal impulse, (−μ û, 1) | - |
//!
//! # Formula
//!
//! ```text
//! du/dp_z = K ξ(û)             while |u_t| > 0
//! radial   R = û · (Kξ)_t      growth of |u_t| per normal impulse
//! turning  T = û⊥ · (Kξ)_t     |u_t| dθ/dp_z
//! normal   N = (Kξ)_z          may be negative: the contact jams
//! ```
//!
//! # Cost
//!
//! A few multiplications per call, no allocation.
//!
//! # Numerics
//!
//! Polynomials in û, no trigonometric function.
//!
//! # Failure
//!
//! None: input is checked by the laws.
//!
//! # Tested by
//!
//! `rates_are_components_of_the_matrix_product`

use sim_math::glam::{DMat3, DVec2, DVec3};

/// Collision matrix and friction: everything the direction of sliding depends on.
///
/// The six numbers are those of K = [[a, f, e], [f, b, d], [e, d, c]] in 1/kg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlidingFlow {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) c: f64,
    pub(crate) d: f64,
    pub(crate) e: f64,
    pub(crate) f: f64,
    pub(crate) mu: f64,
}

impl SlidingFlow {
    /// Flow of a collision matrix (1/kg, the symmetric part is taken) under a coefficient of friction.
    #[inline]
    #[must_use]
    pub fn new(k: &DMat3, friction: f64) -> Self {
        Self {
            a: k.x_axis.x,
            b: k.y_axis.y,
            c: k.z_axis.z,
            d: 0.5 * (k.y_axis.z + k.z_axis.y),
            e: 0.5 * (k.x_axis.z + k.z_axis.x),
            f: 0.5 * (k.x_axis.y + k.y_axis.x),
            mu: friction,
        }
    }

    /// Coefficient of friction μ.
    #[inline]
    #[must_use]
    pub fn friction(&self) -> f64 {
        self.mu
    }

    /// The same friction with a matrix times `factor`.
    #[inline]
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self {
            a: self.a * factor,
            b: self.b * factor,
            c: self.c * factor,
            d: self.d * factor,
            e: self.e * factor,
            f: self.f * factor,
            mu: self.mu,
        }
    }

    /// The collision matrix, 1/kg.
    #[inline]
    #[must_use]
    pub fn matrix(&self) -> DMat3 {
        DMat3::from_cols(
            DVec3::new(self.a, self.f, self.e),
            DVec3::new(self.f, self.b, self.d),
            DVec3::new(self.e, self.d, self.c),
        )
    }

    /// K p.
    #[inline]
    #[must_use]
    pub(crate) fn apply(&self, p: DVec3) -> DVec3 {
        DVec3::new(
            self.a * p.x + self.f * p.y + self.e * p.z,
            self.f * p.x + self.b * p.y + self.d * p.z,
            self.e * p.x + self.d * p.y + self.c * p.z,
        )
    }

    /// Impulse per normal impulse while sliding along the unit vector `dir`: ξ = (−μ û, 1).
    #[inline]
    #[must_use]
    pub fn xi(&self, dir: DVec2) -> DVec3 {
        DVec3::new(-self.mu * dir.x, -self.mu * dir.y, 1.0)
    }

    /// Change of the tangential velocity per normal impulse, w = s − μ M û, 1/kg.
    #[inline]
    #[must_use]
    pub fn tangential_rate(&self, dir: DVec2) -> DVec2 {
        DVec2::new(
            self.e - self.mu * (self.a * dir.x + self.f * dir.y),
            self.d - self.mu * (self.f * dir.x + self.b * dir.y),
        )
    }

    /// Growth of the sliding speed per normal impulse, R = û · w, 1/kg.
    #[inline]
    #[must_use]
    pub fn radial_rate(&self, dir: DVec2) -> f64 {
        dir.dot(self.tangential_rate(dir))
    }

    /// Turning, T = û⊥ · w, 1/kg: the direction turns by T/|`u_t`| per normal impulse, counter-clockwise.
    #[inline]
    #[must_use]
    pub fn turning_rate(&self, dir: DVec2) -> f64 {
        dir.perp().dot(self.tangential_rate(dir))
    }

    /// Change of the normal velocity per normal impulse, 1/kg. Negative in a jam.
    #[inline]
    #[must_use]
    pub fn normal_rate(&self, dir: DVec2) -> f64 {
        self.c - self.mu * (self.e * dir.x + self.d * dir.y)
    }

    /// û⊥ · M û⊥, 1/kg: with R it gives the slope of the turning, dT/dθ = −R − μ û⊥·M û⊥.
    #[inline]
    #[must_use]
    pub(crate) fn across(&self, dir: DVec2) -> f64 {
        self.a * dir.y * dir.y + self.b * dir.x * dir.x - 2.0 * self.f * dir.x * dir.y
    }

    /// û · M û⊥, 1/kg: the slope of the radial rate is dR/dθ = T − μ û·M û⊥.
    #[inline]
    #[must_use]
    pub(crate) fn skew(&self, dir: DVec2) -> f64 {
        (self.b - self.a) * dir.x * dir.y + self.f * (dir.x * dir.x - dir.y * dir.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{assert_close, testkit::SplitMix64};

    #[test]
    fn rates_are_components_of_the_matrix_product() {
        let mut random = SplitMix64(3);
        for _ in 0..1000 {
            let flow = SlidingFlow {
                a: random.unit(),
                b: random.unit(),
                c: random.unit(),
                d: random.unit(),
                e: random.unit(),
                f: random.unit(),
                mu: random.unit(),
            };
            let angle = random.range(0.0, 6.3);
            let at = |angle: f64| DVec2::new(sim_math::ops::cos(angle), sim_math::ops::sin(angle));
            let dir = at(angle);
            let rate = flow.matrix() * flow.xi(dir);
            assert!((flow.apply(flow.xi(dir)) - rate).length() < 1e-15);
            assert_close!(flow.radial_rate(dir), dir.dot(rate.truncate()), abs = 1e-15);
            assert_close!(flow.turning_rate(dir), dir.perp().dot(rate.truncate()), abs = 1e-15);
            assert_close!(flow.normal_rate(dir), rate.z, abs = 1e-15);
            // Slopes against a central difference.
            let (ahead, behind) = (at(angle + 1e-5), at(angle - 1e-5));
            let slope = |f: &dyn Fn(DVec2) -> f64| (f(ahead) - f(behind)) / 2e-5;
            let turning = -flow.radial_rate(dir) - flow.mu * flow.across(dir);
            assert_close!(slope(&|u| flow.turning_rate(u)), turning, abs = 1e-8);
            let radial = flow.turning_rate(dir) - flow.mu * flow.skew(dir);
            assert_close!(slope(&|u| flow.radial_rate(u)), radial, abs = 1e-8);
        }
    }
}
