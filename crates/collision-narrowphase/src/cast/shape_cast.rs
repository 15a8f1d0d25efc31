//! Shape cast: a shape moved along a straight line without turning.

use super::{CastError, CastParams, Impact, Motion, time_of_impact};
use sim_math::{Pose, glam::DVec3};
use sim_traits::Shape;

/// When shape A, moved from its pose with `velocity` (world axes, m/s), first comes within the tolerance of B at rest;
/// `None` if it does not up to `params.t_max`.
///
/// # Errors
/// As [`time_of_impact`].
pub fn shape_cast(
    a: &Shape,
    world_from_a: &Pose,
    velocity: DVec3,
    b: &Shape,
    world_from_b: &Pose,
    params: &CastParams,
) -> Result<Option<Impact>, CastError> {
    time_of_impact(a, &Motion::linear(*world_from_a, velocity), b, &Motion::still(*world_from_b), params)
}
