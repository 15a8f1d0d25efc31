#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]
mod brute_force;
mod changes;
mod column_sweep;
mod hierarchical_hash;
mod proxies;

pub use brute_force::BruteForce;
pub use column_sweep::{ColumnSweep, ColumnSweepParams, ColumnSweepReport};
pub use hierarchical_hash::{
    CoherentHash, CoherentHashParams, CoherentHashReport, Levels, LevelsError, PlainHash, PlainHashParams,
};
