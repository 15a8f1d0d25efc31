//! Integrators of ordinary differential equations and of rotations.
//!
//! An [`Integrator`] advances an [`OdeSystem`] with scratch that the caller owns; both are object-safe, so
//! a stepper can hold a `Box<dyn Integrator>`. Nothing is allocated once the [`OdeScratch`] is large enough,
//! and a failed or aborted advance leaves the state as it was, bit for bit.
//!
//! ```
//! use sim_math::integrate::{Abort, Integrator, OdeScratch, OdeSystem, Rk4};
//!
//! struct Decay;
//! impl OdeSystem for Decay {
//!     fn dim(&self) -> usize { 1 }
//!     fn derivative(&mut self, _t: f64, y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
//!         dydt[0] = -y[0];
//!         Ok(())
//!     }
//! }
//!
//! let integrator: &dyn Integrator = &Rk4;
//! let mut scratch = OdeScratch::new(integrator, 1);
//! let mut y = [1.0];
//! for step in 0..100 {
//!     integrator.advance(&mut Decay, 0.01 * f64::from(step), 0.01, &mut y, &mut scratch)?;
//! }
//! assert!((y[0] - (-1.0_f64).exp()).abs() < 1e-10);
//! # Ok::<(), sim_math::integrate::IntegrateError>(())
//! ```
//!
//! | integrator | order | evaluations | for |
//! |---|---|---|---|
//! | [`Euler::EXPLICIT`] | 1 | 1 | comparison |
//! | [`Euler::SEMI_IMPLICIT`] | 1 | 1 | mechanical systems with contacts |
//! | [`Euler::MODIFIED`] | 1 | 1 | reaction forces; constant force is exact |
//! | [`DoubleEuler`] | 1 | 2 | the same, with a smaller error |
//! | [`Heun`] | 2 | 2 | default for reaction forces |
//! | [`Rk4`] | 4 | 4 | smooth systems at a fixed step |
//! | [`StepDoubling`] | 5 (4) | 11 | error control with abort and restart |
//! | [`DormandPrince`] | 5 | 6 | error control with dense output; references |
//!
//! Orientation has integrators of its own in [`rotation`].

mod adaptive;
mod dormand_prince;
mod euler;
mod heun;
mod integrator;
mod rk4;
pub mod rotation;
mod step_doubling;
mod system;

pub use adaptive::AdaptiveParams;
pub use dormand_prince::{DenseStep, DormandPrince};
pub use euler::{DoubleEuler, Euler};
pub use heun::Heun;
pub use integrator::{IntegrateError, IntegrateReport, Integrator, OdeScratch};
pub use rk4::Rk4;
pub use step_doubling::StepDoubling;
pub use system::{Abort, Flow, OdeSystem, SecondOrder, SecondOrderSystem};

#[cfg(test)]
mod tests;
