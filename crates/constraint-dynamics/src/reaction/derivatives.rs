//! How a body answers a push within one frame: derivatives of what constraints see of it by what they can do to it.
//!
//! # Reference
//!
//! Barenbrug (2000), appendix A, in closed form and with its signs repaired; the sixteen methods there are the entries of the table that are not zero.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | r, d | arm of a point from the centre; a direction fixed to the body; both in world axes now | m, - |
//! | s | arm of the point where a force or impulse acts | m |
//! | W | inverse inertia in world axes | 1/(kg·m²) |
//! | Ω | cross-product matrix of ω | 1/s |
//!
//! # Formula
//!
//! ```text
//!            central force   torque                   force at s                                   impulse at s
//! p(t+h)     h²/2m           −(h²/2)[r]W              h²/2m − (h²/2)[r]W[s]                        h/m − h[r]W[s]
//! ṗ(t+h)     h/m             −(h[r] + (h²/2)Ω[r])W    h/m − (h[r] + (h²/2)Ω[r])W[s]                1/m − ([r] + hΩ[r])W[s]
//! d(t+h)     0               −(h²/2)[d]W              −(h²/2)[d]W[s]                               −h[d]W[s]
//! ḋ(t+h)     0               −(h[d] + (h²/2)Ω[d])W    −(h[d] + (h²/2)Ω[d])W[s]                     −([d] + hΩ[d])W[s]
//! ṗ(t⁺)      0               0                        0                                            1/m − [r]W[s]
//! ḋ(t⁺)      0               0                        0                                            −[d]W[s]
//! ```
//!
//! A rotation vector θ of the body moves p by θ × r and d by θ × d, hence all entries follow from those of z, v, θ and ω: rows of joints use these directly.
//!
//! # Cost
//!
//! Two products of 3x3 matrices.
//!
//! # Numerics
//!
//! Those of one Euler step with half a step of prediction, from where the body is now; what the gyroscopic torque changes is left out. Good to a share of order h,
//! which is enough for a Newton method that looks at the true error.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `each_derivative_agrees_with_finite_differences`

use super::body::ReactionBody;
use sim_math::{
    glam::{DMat3, DVec3},
    rotation::cross_matrix,
};

/// What a constraint sees of a body. Arms and directions are world vectors of now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Property {
    /// A point at the end of the frame.
    Point(DVec3),
    /// Its velocity.
    PointRate(DVec3),
    /// A direction at the end of the frame.
    Direction(DVec3),
    /// Its rate.
    DirectionRate(DVec3),
    /// Velocity of a point after impulses at the start of the frame.
    PointRateNow(DVec3),
    /// Rate of a direction after impulses at the start of the frame.
    DirectionRateNow(DVec3),
}

/// What a constraint can do to a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Push {
    /// A force at the centre of mass.
    Central,
    /// A torque.
    Torque,
    /// A force at an arm.
    Force(DVec3),
    /// An impulse at an arm, at the start of the frame.
    Impulse(DVec3),
}

/// What the derivatives of a body are made of, once per frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyResponse {
    /// 1/kg.
    pub inverse_mass: f64,
    /// World axes, 1/(kg·m²).
    pub inverse_inertia: DMat3,
    /// After impulses, rad/s.
    pub omega: DVec3,
}

impl BodyResponse {
    /// Of a body; zero for one that forces do not move.
    #[must_use]
    pub fn of(body: &ReactionBody) -> Self {
        Self {
            inverse_mass: body.inverse_mass(),
            inverse_inertia: body.inverse_inertia(),
            omega: body.state.velocity.angular,
        }
    }

    /// Derivative of a property by a push, after a frame of `h` seconds: column i is the change by a push along axis i.
    #[must_use]
    pub fn derivative(&self, property: Property, push: Push, h: f64) -> DMat3 {
        let spin = cross_matrix(self.omega);
        // What turns: the arm or direction times how far and how fast the body turns.
        let (moves, now, turning) = match property {
            Property::Point(r) => (true, false, cross_matrix(r)),
            Property::PointRate(r) => (true, false, cross_matrix(r)),
            Property::Direction(d) | Property::DirectionRate(d) => (false, false, cross_matrix(d)),
            Property::PointRateNow(r) => (true, true, cross_matrix(r)),
            Property::DirectionRateNow(d) => (false, true, cross_matrix(d)),
        };
        let rate = matches!(property, Property::PointRate(_) | Property::DirectionRate(_));
        let impulse = matches!(push, Push::Impulse(_));
        // Times that a constant force, or an impulse, acts on place and velocity.
        let (place, velocity) = if impulse { (h, 1.0) } else { (0.5 * h * h, h) };
        let (shift, turn) = match (now, rate) {
            (true, _) if impulse => (1.0, turning),
            (true, _) => return DMat3::ZERO,
            (false, false) => (place, turning * place),
            (false, true) => (velocity, turning * velocity + spin * turning * place),
        };
        let moment = match push {
            Push::Central => DMat3::ZERO,
            Push::Torque => self.inverse_inertia,
            Push::Force(s) | Push::Impulse(s) => self.inverse_inertia * cross_matrix(s),
        };
        let pushed = moves && !matches!(push, Push::Torque);
        let centre = if pushed { DMat3::IDENTITY * (shift * self.inverse_mass) } else { DMat3::ZERO };
        centre - turn * moment
    }
}
