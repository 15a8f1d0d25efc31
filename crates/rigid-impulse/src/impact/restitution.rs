//! When a collision ends: the three laws of restitution, and closed forms while the impulse keeps its direction.
//!
//! # Reference
//!
//! Mirtich (1996), sections 3.1 and 3.3.4; Arnold (1997), section 2.4.3, with e² instead of e on the energy.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `w` | `W_z` | work of the normal impulse so far, negative while compressing | J |
//! | `xi` | ξ | impulse per normal impulse | - |
//! | `rate` | K ξ | velocity change per normal impulse | 1/kg |
//! | `h` | - | normal impulse of a straight piece | N·s |
//!
//! # Formula
//!
//! ```text
//! Newton   u_z⁺ = −e u_z⁻
//! Poisson  p_z⁺ = (1 + e) p_z at the end of compression
//! Stronge  W_z⁺ = (1 − e²) W_z at the end of compression
//! straight piece: u += h Kξ, W_z += h u_z + ½ h² (Kξ)_z
//! ```
//!
//! # Cost
//!
//! One square root per piece.
//!
//! # Numerics
//!
//! Roots by the quotient form, so that a small step does not come from a difference of equal numbers.
//!
//! # Failure
//!
//! A piece along which the normal velocity cannot reach its goal is reported as [`Stop::Wedged`].
//!
//! # Tested by
//!
//! `a_straight_collision_ends_where_each_law_says`, `a_decelerating_piece_stops_at_its_first_root`

use sim_math::glam::DVec3;

/// How bouncing is measured. All three agree when the direction of sliding is constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Restitution {
    /// By energy: the work given back is e² of the work stored. Never creates energy for e ≤ 1.
    #[default]
    Stronge,
    /// By velocity: the normal velocity is reversed and scaled by e. Can create energy under friction.
    Newton,
    /// By impulse: the impulse of restitution is e times that of compression. Can create energy under friction.
    Poisson,
}

/// What ends the present phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// Compression: until the normal velocity is zero.
    Turn,
    /// Until the normal work is this much.
    Work(f64),
    /// Until the normal velocity is this much.
    Velocity(f64),
    /// Until the normal impulse is this much.
    Impulse(f64),
}

/// Why a straight piece ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The collision is over.
    Done,
    /// The sliding stopped first.
    Limit,
    /// The normal velocity does not move towards its goal.
    Wedged,
}

/// A collision under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Relative velocity now.
    pub(crate) u: DVec3,
    /// Impulse so far.
    pub(crate) p: DVec3,
    /// Normal work so far.
    pub(crate) w: f64,
    /// What the present phase waits for.
    pub(crate) goal: Goal,
    /// Normal work and normal impulse at the end of compression.
    pub(crate) compression: Option<(f64, f64)>,
    law: Restitution,
    e: f64,
    approach: f64,
}

impl Progress {
    pub(crate) fn new(u: DVec3, law: Restitution, e: f64) -> Self {
        Self { u, p: DVec3::ZERO, w: 0.0, goal: Goal::Turn, compression: None, law, e, approach: u.z }
    }

    /// End of compression: sets the goal of restitution. True if there is none to come.
    pub(crate) fn turn(&mut self) -> bool {
        self.u.z = 0.0;
        self.compression = Some((self.w, self.p.z));
        self.goal = match self.law {
            Restitution::Stronge => Goal::Work((1.0 - self.e * self.e) * self.w),
            Restitution::Newton => Goal::Velocity(-self.e * self.approach),
            Restitution::Poisson => Goal::Impulse((1.0 + self.e) * self.p.z),
        };
        self.e == 0.0
    }

    fn go(&mut self, xi: DVec3, rate: DVec3, h: f64) {
        self.w += h * (self.u.z + 0.5 * h * rate.z);
        self.u += rate * h;
        self.p += xi * h;
    }

    /// Normal impulse until the goal if the impulse keeps its direction; infinite if never.
    pub(crate) fn distance(&self, rate_z: f64) -> f64 {
        let u = self.u.z;
        let linear = |gap: f64| {
            if gap <= 0.0 {
                0.0
            } else if rate_z > 0.0 {
                gap / rate_z
            } else {
                f64::INFINITY
            }
        };
        match self.goal {
            Goal::Turn => linear(-u),
            Goal::Velocity(goal) => linear(goal - u),
            Goal::Impulse(goal) => (goal - self.p.z).max(0.0),
            Goal::Work(goal) => {
                let gap = (goal - self.w).max(0.0);
                let square = u * u + 2.0 * rate_z * gap;
                if square < 0.0 {
                    return f64::INFINITY;
                }
                let root = square.sqrt();
                if u > 0.0 {
                    2.0 * gap / (u + root)
                } else if rate_z > 0.0 {
                    (root - u) / rate_z
                } else if gap > 0.0 {
                    f64::INFINITY
                } else {
                    0.0
                }
            }
        }
    }

    /// Follows a constant impulse direction until the collision ends or `limit` of normal impulse is spent.
    pub(crate) fn straight(&mut self, xi: DVec3, rate: DVec3, limit: f64) -> Stop {
        if self.goal == Goal::Turn {
            let h = self.distance(rate.z);
            if h > limit {
                self.go(xi, rate, limit);
                return Stop::Limit;
            }
            if h.is_infinite() {
                return Stop::Wedged;
            }
            self.go(xi, rate, h);
            if self.turn() {
                return Stop::Done;
            }
            return self.rest(xi, rate, limit - h);
        }
        self.rest(xi, rate, limit)
    }

    /// Restitution along a constant impulse direction.
    fn rest(&mut self, xi: DVec3, rate: DVec3, limit: f64) -> Stop {
        let h = self.distance(rate.z);
        if h > limit {
            self.go(xi, rate, limit);
            return Stop::Limit;
        }
        if h.is_infinite() {
            return Stop::Wedged;
        }
        self.go(xi, rate, h);
        Stop::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::assert_close;

    #[test]
    fn a_straight_collision_ends_where_each_law_says() {
        // Constant direction: all three laws give u_z⁺ = −e u_z⁻.
        for law in [Restitution::Stronge, Restitution::Newton, Restitution::Poisson] {
            for e in [0.0, 0.3, 1.0, 2.0] {
                let mut c = Progress::new(DVec3::new(0.2, 0.0, -1.5), law, e);
                let rate = DVec3::new(0.1, 0.0, 0.8);
                assert_eq!(c.straight(DVec3::new(-0.2, 0.0, 1.0), rate, f64::INFINITY), Stop::Done);
                assert_close!(c.u.z, 1.5 * e, abs = 1e-15);
                assert_close!(c.p.z, 1.5 * (1.0 + e) / 0.8, rel = 1e-15);
                assert_close!(c.compression.unwrap().0, -1.5 * 1.5 / 1.6, rel = 1e-15);
            }
        }
    }

    #[test]
    fn a_piece_that_is_cut_short_can_be_continued() {
        let rate = DVec3::new(0.1, -0.3, 0.8);
        let xi = DVec3::new(-0.2, 0.1, 1.0);
        for law in [Restitution::Stronge, Restitution::Newton, Restitution::Poisson] {
            let mut whole = Progress::new(DVec3::new(0.2, 0.0, -1.5), law, 0.7);
            whole.straight(xi, rate, f64::INFINITY);
            let mut cut = Progress::new(DVec3::new(0.2, 0.0, -1.5), law, 0.7);
            while cut.straight(xi, rate, 0.21) == Stop::Limit {}
            assert!((whole.u - cut.u).length() < 1e-14 && (whole.p - cut.p).length() < 1e-14);
        }
    }

    #[test]
    fn a_decelerating_piece_stops_at_its_first_root() {
        let mut c = Progress::new(DVec3::new(0.0, 0.0, -1.0), Restitution::Stronge, 0.5);
        c.goal = Goal::Work(0.0);
        (c.u.z, c.w) = (1.0, -0.1);
        // u_z falls: w = −0.1 + h − ½ h² reaches 0 first at 1 − √0.8.
        assert_eq!(c.straight(DVec3::Z, DVec3::new(0.0, 0.0, -1.0), f64::INFINITY), Stop::Done);
        assert_close!(c.p.z, 1.0 - 0.8_f64.sqrt(), rel = 1e-15);
        // Too little speed to get there: wedged.
        (c.u.z, c.w, c.p) = (0.1, -0.1, DVec3::ZERO);
        assert_eq!(c.straight(DVec3::Z, DVec3::new(0.0, 0.0, -1.0), f64::INFINITY), Stop::Wedged);
        c.goal = Goal::Turn;
        c.u.z = -1.0;
        assert_eq!(c.straight(DVec3::Z, DVec3::new(0.0, 0.0, -1.0), f64::INFINITY), Stop::Wedged);
        assert_eq!(c.p, DVec3::ZERO);
    }
}
