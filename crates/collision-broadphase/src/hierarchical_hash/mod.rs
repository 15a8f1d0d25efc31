//! Hierarchical hash: boxes in the tiles of several grids, each box at a level that fits its size.

mod coherent;
mod levels;
mod pair_table;
mod plain;

pub use coherent::{CoherentHash, CoherentHashParams, CoherentHashReport};
pub use levels::{Levels, LevelsError};
pub use plain::{PlainHash, PlainHashParams, PlainHashReport};
