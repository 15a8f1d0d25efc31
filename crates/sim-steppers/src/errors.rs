//! Errors of a world as errors of a stepper.

use sim_world::{StepError, WorldError};

/// The stepper's error for what a world refuses.
pub(crate) fn of_world(error: WorldError) -> StepError {
    match error {
        WorldError::Body { body, source } => StepError::Body { body, source },
        // Bodies are looked up just before.
        _ => StepError::Parameter { what: "state of the world", value: f64::NAN },
    }
}

/// End of an advance (s), if its duration (s) makes sense.
pub(crate) fn target(time: f64, duration: f64) -> Result<f64, StepError> {
    let target = time + duration;
    if duration >= 0.0 && target.is_finite() {
        Ok(target)
    } else {
        Err(StepError::Duration { value: duration })
    }
}
