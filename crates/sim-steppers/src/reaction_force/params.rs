//! Settings.

use constraint_dynamics::reaction::{ReactionError, ReactionParams};
use sim_world::StepError;

/// What to do with colliders that may touch: this stepper finds no contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Collisions {
    /// A world in which two colliders may collide is refused, naming a body.
    #[default]
    Refuse,
    /// Bodies pass through each other.
    Ignore,
}

/// Settings of [`ReactionForce`](super::ReactionForce).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ReactionForceParams {
    /// Longest step, s. It is never cut: what a step costs is bounded.
    pub dt: f64,
    /// Colliders that may touch.
    pub collisions: Collisions,
    /// Settings of the solver.
    pub reaction: ReactionParams,
}

impl Default for ReactionForceParams {
    fn default() -> Self {
        Self { dt: 1.0 / 240.0, collisions: Collisions::Refuse, reaction: ReactionParams::default() }
    }
}

impl ReactionForceParams {
    /// `Ok` if they make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn validate(&self) -> Result<(), StepError> {
        if !(self.dt > 0.0 && self.dt.is_finite()) {
            return Err(StepError::Parameter { what: "dt", value: self.dt });
        }
        self.reaction.validate().map_err(|error| match error {
            ReactionError::Parameter { what, value } => StepError::Parameter { what, value },
            _ => StepError::Parameter { what: "reaction", value: f64::NAN },
        })
    }
}
