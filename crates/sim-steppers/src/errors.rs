//! What all steppers refuse alike.

use sim_world::StepError;

/// End of an advance (s), if its duration (s) makes sense.
pub(crate) fn target(time: f64, duration: f64) -> Result<f64, StepError> {
    let target = time + duration;
    if duration >= 0.0 && target.is_finite() {
        Ok(target)
    } else {
        Err(StepError::Duration { value: duration })
    }
}
