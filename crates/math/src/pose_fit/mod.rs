//! Smooth motion through sampled poses, with velocities and accelerations.
//!
//! ```
//! use sim_math::glam::{DQuat, DVec3};
//! use sim_math::{Pose, pose_fit::PoseFit};
//!
//! // A body that swings and turns, seen by a camera at 30 Hz.
//! let times: Vec<f64> = (0..61).map(|i| f64::from(i) / 30.0).collect();
//! let poses: Vec<Pose> = times
//!     .iter()
//!     .map(|&t| Pose::new(DVec3::new(t.sin(), 0.0, 0.0), DQuat::from_rotation_z(2.0 * t)))
//!     .collect();
//! let motion = PoseFit::interpolate(&times, &poses)?;
//! let now = motion.sample(1.234)?;
//! assert!((now.acceleration.linear.x + 1.234_f64.sin()).abs() < 1e-6);
//! assert!((now.velocity.angular.z - 2.0).abs() < 1e-8);
//! # Ok::<(), sim_math::MathError>(())
//! ```
//!
//! [`QuinticSpline`] does the same for plain numbers such as joint angles.

mod pose;
mod quintic;

pub use pose::{PoseFit, PoseSample};
pub use quintic::{MIN_SAMPLES, QuinticSpline, penalty_for_cutoff};
