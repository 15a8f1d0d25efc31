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

/// What the joints of a step did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointWork {
    /// Work of what is held, J.
    pub joints: f64,
    /// Work of limits, J.
    pub limits: f64,
    /// Work of motors, springs and dampers, J.
    pub drives: f64,
    /// Work of dry friction, J.
    pub friction: f64,
    /// Work of springs that have a potential, as the velocities at the end of the step tell, J: those in the joints of trees.
    pub springs: f64,
    /// What the length of the step took less because joints turn velocities, J.
    pub stepping: f64,
    /// Sum of the impulses on free bodies, N·s: what came from the world and from bodies that do not move.
    pub impulse: DVec3,
    /// Their moment about the world's origin, N·m·s.
    pub moment: DVec3,
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
