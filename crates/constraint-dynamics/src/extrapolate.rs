//! Extrapolation between pairs of sweeps, of impulses and of the bodies that they move.
//!
//! # Reference
//!
//! As [`gauss_seidel`](crate::gauss_seidel): Silcowitz-Hansen, Niebe and Erleben (2010), nonlinear conjugate gradients.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x | an impulse, a number or a vector, or a velocity of a body | N·s, m/s, rad/s |
//! | s | change of x by a pair of sweeps | as x |
//! | d | direction of the extrapolation | as x |
//! | β | how far along d; one for all | - |
//! | stir | bound on how much the velocity of any contact of a body has changed | m/s |
//!
//! # Formula
//!
//! ```text
//! β = Σ|s|²/Σ|s_before|² over the impulses;  0 if that is above 1
//! x += β d,  d = β d + s;   stir += β (|d_ω| reach + |d_v|)
//! ```
//!
//! # Cost
//!
//! Six multiplications per number extrapolated, and two roots per body. No allocation once grown.
//!
//! # Numerics
//!
//! Velocities follow from impulses by a linear map, so both are extrapolated by the same β and need not be summed up anew. β is not kept above 1: sweeps that
//! grow start the direction anew.
//!
//! # Failure
//!
//! None: a sum that is no number gives β = 0.
//!
//! # Tested by
//!
//! `velocities_stay_those_of_the_impulses`, `growth_starts_anew`

use sim_math::glam::DVec3;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A number or a vector.
pub(crate) trait Quantity:
    Copy + Default + PartialEq + Add<Output = Self> + AddAssign + Sub<Output = Self> + Mul<f64, Output = Self>
{
    fn length_squared(self) -> f64;
}

impl Quantity for f64 {
    #[inline]
    fn length_squared(self) -> f64 {
        self * self
    }
}

impl Quantity for DVec3 {
    #[inline]
    fn length_squared(self) -> f64 {
        Self::length_squared(self)
    }
}

/// Sum of the squares of the last changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace(f64);

impl Pace {
    /// Nothing has changed yet: the first β is 0.
    pub(crate) const START: Self = Self(f64::INFINITY);

    /// β, given the changes of all impulses by a pair of sweeps.
    #[inline]
    pub(crate) fn beta<X: Quantity>(&mut self, changes: impl Iterator<Item = X>) -> f64 {
        let size: f64 = changes.map(X::length_squared).sum();
        let beta = if self.0 > 0.0 { size / self.0 } else { f64::INFINITY };
        self.0 = size;
        if beta <= 1.0 { beta } else { 0.0 }
    }
}

/// Where a quantity was before a pair of sweeps, and where it is going.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Track<X> {
    before: X,
    direction: X,
}

impl<X: Quantity> Track<X> {
    /// A pair of sweeps begins.
    #[inline]
    pub(crate) fn mark(&mut self, x: X) {
        self.before = x;
    }

    /// Change since then.
    #[inline]
    pub(crate) fn change(&self, x: X) -> X {
        x - self.before
    }

    #[inline]
    pub(crate) fn extrapolate(&mut self, x: &mut X, beta: f64) {
        let step = self.change(*x);
        *x += self.direction * beta;
        self.direction = self.direction * beta + step;
    }

    /// Extrapolates the impulse of a contact, which has seen its bodies stirred by so much.
    #[inline]
    pub(crate) fn extrapolate_contact(&mut self, impulse: &mut X, seen: &mut f64, beta: f64) {
        if *impulse == X::default() && self.direction != X::default() {
            // Open, and yet moved on: to be solved again in any case.
            *seen = f64::NEG_INFINITY;
        }
        self.extrapolate(impulse, beta);
    }
}

/// A body as sweeps move it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moved {
    pub(crate) angular: DVec3,
    pub(crate) linear: DVec3,
    /// Sum of the sizes of all changes, m/s.
    pub(crate) stir: f64,
    /// Largest arm of a contact, m.
    pub(crate) reach: f64,
}

/// The tracks of a body.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BodyTrack {
    angular: Track<DVec3>,
    linear: Track<DVec3>,
}

impl BodyTrack {
    /// A pair of sweeps begins.
    #[inline]
    pub(crate) fn mark(&mut self, body: &Moved) {
        self.angular.mark(body.angular);
        self.linear.mark(body.linear);
    }

    /// Extrapolates the velocities, which stirs the body.
    #[inline]
    pub(crate) fn extrapolate(&mut self, body: &mut Moved, beta: f64) {
        let Self { angular, linear } = self;
        body.stir += beta * (angular.direction.length() * body.reach + linear.direction.length());
        angular.extrapolate(&mut body.angular, beta);
        linear.extrapolate(&mut body.linear, beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_stay_those_of_the_impulses() {
        // A number and a body that follows it: v = 2 x, ω = −3 x.
        let (mut x, mut seen) = (1.0, 0.0);
        let (mut track, mut body_track) = (Track::default(), BodyTrack::default());
        let mut body = Moved { reach: 0.5, ..Moved::default() };
        let (linear, angular) = (DVec3::X * 2.0, DVec3::Y * -3.0);
        (body.linear, body.angular) = (linear * x, angular * x);
        let mut pace = Pace::START;
        let mut direction = 0.0;
        for (step, beta) in [(1.0, 0.0), (0.5, 0.25), (-0.25, 0.25), (0.125, 0.25)] {
            track.mark(x);
            body_track.mark(&body);
            x += step;
            body.linear += linear * step;
            body.angular += angular * step;
            assert_eq!(pace.beta([track.change(x)].into_iter()), beta);
            let (before, stir) = (x, body.stir);
            track.extrapolate_contact(&mut x, &mut seen, beta);
            body_track.extrapolate(&mut body, beta);
            assert_eq!(x, before + beta * direction);
            assert_eq!((body.linear, body.angular), (linear * x, angular * x));
            // As far as a point at the end of the reach may have changed.
            assert_eq!(body.stir - stir, (2.0 + 3.0 * 0.5) * (beta * direction).abs());
            direction = beta * direction + step;
        }
        assert_eq!(seen, 0.0);
    }

    #[test]
    fn growth_starts_anew() {
        let mut pace = Pace::START;
        let beta = |pace: &mut Pace, x: f64| pace.beta([DVec3::splat(x), DVec3::ZERO].into_iter());
        assert_eq!(beta(&mut pace, 1.0), 0.0);
        assert_eq!(beta(&mut pace, 1.0), 1.0);
        assert_eq!(beta(&mut pace, 1.1), 0.0);
        assert_eq!(beta(&mut pace, 0.55), 0.25);
        // Nothing, after something and after nothing; no number, and after that.
        assert_eq!(beta(&mut pace, 0.0), 0.0);
        assert_eq!(beta(&mut pace, 0.0), 0.0);
        assert_eq!(beta(&mut pace, f64::NAN), 0.0);
        assert_eq!(beta(&mut pace, 1.0), 0.0);
        assert_eq!(pace.beta([0.0_f64; 0].into_iter()), 0.0);
        // A contact that is open and goes on has to be solved again.
        let (mut track, mut x, mut seen) = (Track::default(), DVec3::ZERO, 1.0);
        track.extrapolate_contact(&mut x, &mut seen, 0.5);
        assert_eq!((x, seen), (DVec3::ZERO, 1.0));
        track.mark(DVec3::X);
        track.extrapolate_contact(&mut x, &mut seen, 0.5);
        assert_eq!((x, seen), (DVec3::ZERO, 1.0));
        track.extrapolate_contact(&mut x, &mut seen, 0.5);
        assert_eq!((x, seen), (DVec3::X * -0.5, f64::NEG_INFINITY));
    }
}
