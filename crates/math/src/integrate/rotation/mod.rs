//! Integrators of orientation: the exponential map, the exact torque-free motion, and bodies under torque.
//!
//! The attitude `q` maps body axes to world axes; `omega_body` is in body axes, `omega` in world axes.
//! Body axes are principal axes and the moments are about the centre of mass.
//!
//! | what | keeps | order | use |
//! |---|---|---|---|
//! | [`rotate_body`], [`rotate_world`] | unit norm | exact for constant ω | building block |
//! | [`TorqueFreeBody::step`] | momentum, energy | exact | time stepping of free bodies |
//! | [`TorqueFreeArc`] | momentum, energy | exact | event-driven arcs: any time, no accumulated error |
//! | [`drift_kick_drift`] | both without torque | 2 | few torque evaluations, long runs |
//! | [`lie_rk4`] | momentum without torque | 4 | accuracy under torque |
//! | [`implicit_gyroscopic`] | never gains energy when converged | 1 | large steps, fast spin |
//! | [`RigidRotation`] | unit norm | that of the [`super::Integrator`] | any integrator of this module |

mod exponential;
mod forced;
mod gyroscopic;
mod rigid_rotation;
mod torque_free;
mod torque_free_arc;

pub use exponential::{rotate_body, rotate_world};
pub use forced::{drift_kick_drift, lie_rk4};
pub use gyroscopic::implicit_gyroscopic;
pub use rigid_rotation::RigidRotation;
pub use torque_free::TorqueFreeBody;
pub use torque_free_arc::TorqueFreeArc;

#[cfg(test)]
mod tests;
