//! Two convex shapes by whatever algorithm is best for them: the default chain without virtual calls.

use crate::adapter::{Analytic, Gjk, VClip};
use sim_math::Pose;
use sim_traits::{Manifold, NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape};

/// Signed distance.
pub(crate) fn separation(
    a: &Shape,
    b: &Shape,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<Separation, NarrowPhaseError> {
    let mut answer = Analytic.separation(a, b, a_from_b, cache);
    if matches!(answer, Err(NarrowPhaseError::UnsupportedPair { .. })) {
        answer = VClip.separation(a, b, a_from_b, cache);
    }
    if matches!(answer, Err(NarrowPhaseError::UnsupportedPair { .. })) {
        answer = Gjk.separation(a, b, a_from_b, cache);
    }
    answer
}

/// Contacts up to `margin` apart, appended.
pub(crate) fn manifolds(
    a: &Shape,
    b: &Shape,
    a_from_b: &Pose,
    margin: f64,
    cache: &mut PairCache,
    out: &mut Vec<Manifold>,
) -> Result<(), NarrowPhaseError> {
    let mut answer = Analytic.manifolds(a, b, a_from_b, margin, cache, out);
    if matches!(answer, Err(NarrowPhaseError::UnsupportedPair { .. })) {
        answer = VClip.manifolds(a, b, a_from_b, margin, cache, out);
    }
    if matches!(answer, Err(NarrowPhaseError::UnsupportedPair { .. })) {
        answer = Gjk.manifolds(a, b, a_from_b, margin, cache, out);
    }
    answer
}

/// True if the shape is bounded and convex, so that the functions here know it.
pub(crate) fn is_convex(shape: &Shape) -> bool {
    !matches!(shape, Shape::HalfSpace(_) | Shape::Custom(_))
}
