//! Lemke's complementary pivot method.

mod ratio_test;
mod solve;
mod warm;

pub use ratio_test::TieRule;
pub(crate) use ratio_test::{Tie, ratio_test};
pub(crate) use solve::scaled_column;
pub use solve::{Lemke, LemkeEnd, LemkeParams, LemkeReport, LemkeWorkspace, Ray, Start, lemke};
