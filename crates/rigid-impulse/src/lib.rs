//! Collisions of rigid bodies resolved exactly.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

pub mod impact;
mod pseudo_inverse;
#[cfg(test)]
mod testing;

pub use pseudo_inverse::pseudo_inverse;
