//! GJK and EPA: distance and depth of anything with a support map.

mod above_face;
mod approach;
mod certify;
mod clear;
mod core;
pub(crate) mod distance;
pub(crate) mod epa;
mod features;
mod follow;
mod polish;
mod project;
mod shell;
mod simplex;
mod smooth;

pub(crate) use self::core::{Core, Cores};

use crate::{Polyhedron, relative::Frame};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{NarrowPhaseError, PairCache, Separation, Shape};

/// Signed distance and witness points of two convex shapes by GJK, and by EPA where their cores overlap.
///
/// The cache's axis is the first guess of the separating direction and receives the last one.
///
/// # Errors
/// [`NarrowPhaseError::UnsupportedPair`] for a half-space or a custom shape, [`NarrowPhaseError::NonFinitePose`],
/// [`NarrowPhaseError::Budget`] if a custom support map is too far from convex for a depth: points wrong by 1e-8 of the
/// size, as in single precision, can do that.
pub fn gjk(
    a: &Shape,
    b: &Shape,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<Separation, NarrowPhaseError> {
    NarrowPhaseError::check_pose(a, b, a_from_b)?;
    let (Some(core_a), Some(core_b)) = (Core::of(a), Core::of(b)) else {
        return Err(NarrowPhaseError::unsupported(a, b));
    };
    let cores = Cores::new(core_a, core_b, Frame::from_pose(a_from_b));
    let found = cores.separation(cache.axis).ok_or(NarrowPhaseError::Budget {
        a: a.name(),
        b: b.name(),
        iterations: epa::MAX_VERTICES as u32,
    })?;
    cache.axis = found.normal;
    Ok(found)
}

/// The same for two polyhedra.
#[must_use]
pub fn gjk_polyhedra(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame, guess: DVec3) -> Option<Separation> {
    Cores::new(Core::polyhedron(a), Core::polyhedron(b), *a_from_b).separation(guess)
}

/// Closest or deepest points of two polyhedra near a direction from B to A, where they can be proven.
pub(crate) fn follow_polyhedra(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    normal: DVec3,
) -> Option<Separation> {
    follow::follow(&Cores::new(Core::polyhedron(a), Core::polyhedron(b), *a_from_b), normal)
}
