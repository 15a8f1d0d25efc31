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
pub use column_sweep::{ColumnSweep, ColumnSweepParams, ColumnSweepReport};
pub use hierarchical_hash::{
    CoherentHash, CoherentHashParams, CoherentHashReport, Levels, LevelsError, PlainHash, PlainHashParams,
};
pub use dynamic_tree::DynamicTree;
pub use sweep_and_prune::{SweepAndPrune, SweepAndPruneReport};
pub use budget::{BudgetReport, BudgetedTests};
pub use filter::{BodyPart, LimbFilter};
