//! Mass, centre of mass and inertia tensor of solids, particles and composites.
//!
//! ```
//! use sim_math::glam::DVec3;
//! use sim_math::mass::{Amount, MassProperties, combine, solid};
//!
//! // A half-kilogram ellipsoid with 30 g glued to its surface.
//! let hull = solid::ellipsoid(DVec3::new(0.1, 0.03, 0.02), Amount::Mass(0.5))?;
//! let weight = MassProperties::point(0.03, DVec3::new(0.08, 0.018, 0.0))?;
//! let top = combine(&[hull, weight])?;
//! let frame = top.principal()?;
//! assert!((top.mass - 0.53).abs() < 1e-15);
//! assert!(frame.moments.min_element() > 0.0);
//! # Ok::<(), sim_math::mass::MassError>(())
//! ```
//!
//! | from | function |
//! |---|---|
//! | closed polyhedron, any genus, n-gon faces | [`ClosedSurface`], then [`MassProperties::from_polyhedron`] |
//! | sphere, box, ellipsoid, cylinder, capsule, frustum | [`solid`] |
//! | particles or a weighted vertex cloud | [`MassProperties::from_points`] |
//! | several of these | [`combine`], after [`MassProperties::transformed`] |
//!
//! Results are about the centre of mass, in the axes of the input. [`MassProperties::principal`] gives the
//! pose of the principal frame, which is the body frame inside the engine. `RigidInertia::from` makes a
//! [`RigidInertia`](crate::spatial::RigidInertia) of them, `MassProperties::try_from` goes back.

mod composite;
mod error;
mod mesh;
mod points;
mod polyhedron;
mod principal;
mod properties;
pub mod solid;
#[cfg(test)]
mod tests;

pub use composite::combine;
pub use error::MassError;
pub use mesh::{ClosedSurface, DEFAULT_PLANARITY, Faces};
pub use polyhedron::VolumeIntegrals;
pub use principal::PrincipalFrame;
pub(crate) use properties::check_body;
pub use properties::{Amount, MassProperties};
