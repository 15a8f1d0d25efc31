//! Which boxes overlap: six broad phases behind one trait, from brute force to a column sweep that keeps its pairs.
//!
//! ```
//! use collision_broadphase::ColumnSweep;
//! use sim_math::{Aabb, glam::DVec3};
//! use sim_traits::{BroadPhase, Pair, PairChanges, ProxyId, ProxyKind};
//!
//! let cube = |x: f64| Aabb::from_center_half_extents(DVec3::X * x, DVec3::splat(0.5));
//! let mut broad = ColumnSweep::default();
//! broad.insert(ProxyId(0), ProxyKind::Fixed, &cube(0.0))?;
//! broad.insert(ProxyId(1), ProxyKind::Moving, &cube(3.0))?;
//!
//! // One batch per step, then the full list or the changes.
//! broad.update(&[ProxyId(1)], &[cube(0.9)])?;
//! let mut changes = PairChanges::default();
//! broad.pair_changes(&mut changes);
//! assert_eq!(changes.begun, [Pair::new(ProxyId(0), ProxyId(1))]);
//! # Ok::<(), sim_traits::BroadPhaseError>(())
//! ```
//!
//! | type | what it is | for |
//! |---|---|---|
//! | [`ColumnSweep`] | sweep in grid columns every few steps, certificates in between | the default |
//! | [`CoherentHash`] | the theses' hierarchical hash, touched only where boxes change tiles | few boxes, slow motion, close pairs |
//! | [`PlainHash`] | the same, rebuilt for each list | comparison; boxes without coherence |
//! | [`SweepAndPrune`] | sorted ends on three axes | comparison; few boxes in loose scenes |
//! | [`DynamicTree`] | box trees, refitted | many ray and box visits |
//! | [`BruteForce`] | every pair | a handful of boxes; the oracle |
//!
//! Beside them: [`LimbFilter`] leaves out pairs that cannot matter, [`BudgetedTests`] spends a fixed number of box
//! tests. Swept boxes for motion between steps are in [`sim_math::swept`].
//!
//! Rules for all: closed boxes, so touching is overlapping; two fixed boxes never pair; infinite boxes are legal;
//! a NaN or inverted box is an `Err` with its id, and then nothing has changed. Visits hold a shared reference, lists
//! belong to the caller: nothing can be removed under a running iteration. The same calls give the same lists in
//! the same order, on every machine.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | the same bits on every target |
//!
//! # What it does not do
//!
//! No contact geometry (that is the narrow phase), no threads, no filtering by collision groups (the world does it).
//!
//! Units, frames and signs: `docs/conventions.md`.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod brute_force;
mod budget;
mod changes;
mod column_sweep;
mod dynamic_tree;
mod filter;
mod hierarchical_hash;
mod proxies;
mod sweep_and_prune;

pub use brute_force::BruteForce;
pub use budget::{BudgetReport, BudgetedTests};
pub use column_sweep::{ColumnSweep, ColumnSweepParams, ColumnSweepReport};
pub use dynamic_tree::DynamicTree;
pub use filter::{BodyPart, LimbFilter};
pub use hierarchical_hash::{
    CoherentHash, CoherentHashParams, CoherentHashReport, Levels, LevelsError, PlainHash, PlainHashParams,
    PlainHashReport,
};
pub use sweep_and_prune::{SweepAndPrune, SweepAndPruneReport};

/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
