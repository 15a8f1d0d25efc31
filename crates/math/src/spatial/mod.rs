//! Spatial (six-dimensional) algebra: motions and forces as distinct types, angular part first.
//!
//! A [`Motion`] and a [`Force`] refer to a point and to axes that the surrounding code names: world axes at
//! the contact point in contact code, link axes at the link origin in articulated code. Their product
//! [`Force::dot`] is power and does not depend on the choice.

mod force;
mod motion;

pub use force::Force;
pub use motion::Motion;
