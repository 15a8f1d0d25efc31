//! What steppers enter in the account of a step.

use sim_math::glam::DVec3;

/// Work of the contacts of a step, J: see the terms of the same names in [`EnergyAccount`](crate::EnergyAccount).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ContactWork {
    /// Along the normals of fast approaches.
    pub impact: f64,
    /// Along all other normals.
    pub micro: f64,
    /// Of friction.
    pub friction: f64,
    /// Of scripted bodies.
    pub scripted: f64,
    /// What the length of the step took.
    pub stepping: f64,
    /// What opening overlaps gave.
    pub correction: f64,
}

/// What forces other than gravity and constant ones did to a body in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ForceWork {
    /// Work of springs between free bodies and what stands still, J: as much as the velocity of the body tells.
    pub springs: f64,
    /// Work of all others, J.
    pub others: f64,
    /// Impulse of all, N·s.
    pub impulse: DVec3,
    /// Moment of all about the centre of mass, N·m·s.
    pub moment: DVec3,
}
