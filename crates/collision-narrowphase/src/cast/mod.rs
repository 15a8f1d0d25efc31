//! Moving shapes: when do they first touch?

mod motion;
mod part;
mod shape_cast;
mod time_of_impact;

pub use motion::Motion;
pub use part::{Part, near_parts};
pub use shape_cast::shape_cast;
pub use time_of_impact::{CastError, CastParams, Impact, crossing_time, time_of_impact};
