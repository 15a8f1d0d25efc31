//! Conformance kit of the seam of this crate: what any [`Stepper`](crate::Stepper) must pass (feature `testkit`).
//!
//! The kit moves small worlds, looks at time, digest, events and contacts, and returns the first violation as text.
//! It asks for nothing about physics: that a run can be stopped, cut, saved, repeated and handed over, and what errors leave behind.

pub mod stepper;
pub mod worlds;

#[cfg(test)]
mod naive;
