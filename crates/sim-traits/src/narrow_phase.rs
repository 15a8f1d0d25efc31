//! How far apart two shapes are and where they touch: the seam between detection and contact physics.

use crate::{
    contact::{Manifold, PairCache, Separation},
    shape::Shape,
};
use sim_math::Pose;
use std::fmt::Debug;
use thiserror::Error;

/// Why a narrow phase gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum NarrowPhaseError {
    /// "Not mine": another narrow phase may know this pair, see [`Chain`].
    #[error("no algorithm for {a} against {b}")]
    UnsupportedPair {
        /// Name of the first shape.
        a: &'static str,
        /// Name of the second shape.
        b: &'static str,
    },
    /// The relative pose is not finite.
    #[error("relative pose of {a} and {b} is not finite: {pose:?}")]
    NonFinitePose {
        /// Name of the first shape.
        a: &'static str,
        /// Name of the second shape.
        b: &'static str,
        /// The pose as given.
        pose: Pose,
    },
    /// The shapes overlap and this algorithm measures only distances.
    #[error("{a} and {b} overlap, and the algorithm gives no depth")]
    Overlapping {
        /// Name of the first shape.
        a: &'static str,
        /// Name of the second shape.
        b: &'static str,
    },
    /// The iteration limit was reached.
    #[error("{a} against {b}: no result after {iterations} iterations")]
    Budget {
        /// Name of the first shape.
        a: &'static str,
        /// Name of the second shape.
        b: &'static str,
        /// Iterations done.
        iterations: u32,
    },
}

impl NarrowPhaseError {
    /// The "not mine" answer for two shapes.
    #[must_use]
    pub fn unsupported(a: &Shape, b: &Shape) -> Self {
        Self::UnsupportedPair { a: a.name(), b: b.name() }
    }

    /// `Ok` for a finite relative pose.
    ///
    /// # Errors
    /// [`NarrowPhaseError::NonFinitePose`] naming both shapes and the pose.
    #[inline]
    pub fn check_pose(a: &Shape, b: &Shape, a_from_b: &Pose) -> Result<(), Self> {
        if a_from_b.is_finite() {
            Ok(())
        } else {
            Err(Self::NonFinitePose { a: a.name(), b: b.name(), pose: *a_from_b })
        }
    }
}

/// Distance and contact of two shapes at a relative pose.
///
/// **Contract.** Results are in A's frame and the normal points from B to A. Swapping the shapes and inverting the
/// pose gives the mirrored result to rounding. The cache may start as `Default` or hold what an earlier call
/// with the same two shapes left there; it speeds up, and changes results by rounding only.
///
/// **Determinism.** A function of its arguments, cache included.
///
/// The conformance kit is `sim_traits::testkit::narrow_phase`.
pub trait NarrowPhase: Debug + Send + Sync {
    /// Signed distance and witness points.
    ///
    /// # Errors
    /// Unsupported pair, non-finite pose, overlap where only distances are known, iteration limit.
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError>;

    /// Appends the manifolds of all contacts with separation up to `margin` (metres): none if the shapes are
    /// farther apart, one for two convex shapes, several for compounds.
    ///
    /// # Errors
    /// As [`separation`](Self::separation); `out` is unchanged then.
    fn manifolds(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        margin: f64,
        cache: &mut PairCache,
        out: &mut Vec<Manifold>,
    ) -> Result<(), NarrowPhaseError>;
}

/// Asks several narrow phases in turn: the first that does not answer "not mine" decides.
#[derive(Debug, Default)]
pub struct Chain {
    links: Vec<Box<dyn NarrowPhase>>,
}

impl Chain {
    /// In the order given.
    #[must_use]
    pub fn new(links: Vec<Box<dyn NarrowPhase>>) -> Self {
        Self { links }
    }

    /// Asks one more, after all others.
    #[must_use]
    pub fn then(mut self, link: impl Into<Box<dyn NarrowPhase>>) -> Self {
        self.links.push(link.into());
        self
    }

    fn first<T>(
        &self,
        a: &Shape,
        b: &Shape,
        mut ask: impl FnMut(&dyn NarrowPhase) -> Result<T, NarrowPhaseError>,
    ) -> Result<T, NarrowPhaseError> {
        for link in &self.links {
            match ask(link.as_ref()) {
                Err(NarrowPhaseError::UnsupportedPair { .. }) => {}
                answer => return answer,
            }
        }
        Err(NarrowPhaseError::unsupported(a, b))
    }
}

impl NarrowPhase for Chain {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        self.first(a, b, |link| link.separation(a, b, a_from_b, cache))
    }

    fn manifolds(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        margin: f64,
        cache: &mut PairCache,
        out: &mut Vec<Manifold>,
    ) -> Result<(), NarrowPhaseError> {
        self.first(a, b, |link| link.manifolds(a, b, a_from_b, margin, cache, out))
    }
}
