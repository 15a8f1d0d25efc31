//! Everything that can go wrong, with the item and the value.

use super::world::Member;
use sim_math::MathError;
use sim_traits::{BroadPhaseError, DynamicsError, ImpactError, NarrowPhaseError};
use thiserror::Error;

/// Why a world or a step was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// A simulation needs something that moves.
    #[error("the world is empty: it has {bodies} bodies and {trees} trees, and none of them moves")]
    Empty {
        /// Number of bodies.
        bodies: usize,
        /// Number of trees.
        trees: usize,
    },
    /// A number is NaN or infinite.
    #[error("{owner}: {what} is not finite: {value}")]
    NonFinite {
        /// Whose number ("body 2").
        owner: String,
        /// Which number.
        what: &'static str,
        /// Its value as text.
        value: String,
    },
    /// A number that must be positive is not.
    #[error("{owner}: {what} must be positive, got {value}")]
    NotPositive {
        /// Whose number.
        owner: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must not be negative is.
    #[error("{owner}: {what} must not be negative, got {value}")]
    Negative {
        /// Whose number.
        owner: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Two members overlap at the start.
    #[error("{a} and {b} overlap by {depth} m at the start")]
    Overlap {
        /// First member.
        a: Member,
        /// Second member.
        b: Member,
        /// How deep, metres.
        depth: f64,
    },
    /// The event budget of one call was used up: the bodies named collide without end.
    #[error("{a} and {b} used up the budget of {events} events at t = {time} s")]
    Budget {
        /// First member of the pair that had the last event.
        a: Member,
        /// Second member.
        b: Member,
        /// The budget.
        events: u64,
        /// When, seconds.
        time: f64,
    },
    /// The search for the time of impact of a pair did not end.
    #[error(
        "no time of impact for {a} and {b} after {iterations} iterations at t = {time} s, distance {distance} m"
    )]
    NoImpactTime {
        /// First member.
        a: Member,
        /// Second member.
        b: Member,
        /// Iterations done.
        iterations: u32,
        /// When, seconds.
        time: f64,
        /// Distance reached, metres.
        distance: f64,
    },
    /// A motion without a box.
    #[error(transparent)]
    Math(#[from] MathError),
    /// The broad phase refused a box.
    #[error(transparent)]
    BroadPhase(#[from] BroadPhaseError),
    /// The narrow phase gave no answer.
    #[error(transparent)]
    NarrowPhase(#[from] NarrowPhaseError),
    /// The impact law gave no impulse.
    #[error(transparent)]
    Impact(#[from] ImpactError),
    /// A velocity system refused a request.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
}
