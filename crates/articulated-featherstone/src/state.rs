//! What changes when a tree moves.

use crate::{Model, algorithm::check_len};
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_traits::DynamicsError;

/// Where the base is and how it moves: at rest, or along a script. It does not respond to forces; a floating tree has
/// a [`crate::Joint::Free`] on a base at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BaseMotion {
    /// Pose of the base frame in the world.
    pub world_from_base: Pose,
    /// Velocity at the base origin, base axes.
    pub velocity: Motion,
    /// Spatial acceleration at the base origin, base axes: the rate of the six numbers of `velocity`. See
    /// [`Motion::spatial_from_classical`].
    pub acceleration: Motion,
}

impl Default for BaseMotion {
    fn default() -> Self {
        Self::at(Pose::default())
    }
}

impl BaseMotion {
    /// At rest.
    #[must_use]
    pub const fn at(world_from_base: Pose) -> Self {
        Self { world_from_base, velocity: Motion::ZERO, acceleration: Motion::ZERO }
    }

    /// Acceleration of the base minus that of free fall, base axes: gravity acts on every link through it.
    #[inline]
    pub(crate) fn acceleration_with_gravity(&self, gravity: DVec3) -> Motion {
        let up = self.world_from_base.inverse_transform_vector(-gravity);
        Motion::new(self.acceleration.angular, self.acceleration.linear + up)
    }
}

/// Configuration, velocity and time of one tree: all that a run needs to continue.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Joint coordinates, see [`crate::Joint`] for their order and units.
    pub q: Vec<f64>,
    /// Joint velocities.
    pub v: Vec<f64>,
    /// Time, s.
    pub t: f64,
    /// The base.
    pub base: BaseMotion,
}

impl State {
    /// At rest, every joint at its neutral coordinates, the base at the world origin.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let mut q = vec![0.0; model.q_len()];
        for link in &model.links {
            link.joint.write_neutral(&mut q[link.q..link.q + link.joint.q_len()]);
        }
        Self { q, v: vec![0.0; model.v_len()], t: 0.0, base: BaseMotion::default() }
    }

    /// `Ok` if lengths fit the model and all numbers are finite.
    ///
    /// # Errors
    /// The array and, for a bad number, its place and value.
    #[inline]
    pub fn check(&self, model: &Model) -> Result<(), DynamicsError> {
        check_len("coordinates", self.q.len(), model.q_len())?;
        check_len("velocities", self.v.len(), model.v_len())?;
        check_finite("coordinate", &self.q)?;
        check_finite("velocity", &self.v)?;
        if !(self.base.world_from_base.is_finite()
            && self.base.velocity.is_finite()
            && self.base.acceleration.is_finite())
        {
            return Err(DynamicsError::NonFinite { what: "base motion", index: 0, value: f64::NAN });
        }
        Ok(())
    }

    /// A number that differs for different states, for golden runs: FNV-1a over the bits of q, v and t.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let numbers = self.q.iter().chain(&self.v).chain(std::iter::once(&self.t));
        numbers
            .flat_map(|x| x.to_bits().to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

/// `Ok` if every number is finite, else the error naming the first that is not.
#[inline]
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), DynamicsError> {
    // 0 x is 0 for finite numbers and NaN otherwise: no branch per number.
    let clean = values.iter().fold(0.0, |sum, x| sum + 0.0 * x) == 0.0;
    if clean {
        return Ok(());
    }
    let index = values.iter().position(|x| !x.is_finite()).unwrap_or(0);
    Err(DynamicsError::NonFinite { what, index, value: values[index] })
}
