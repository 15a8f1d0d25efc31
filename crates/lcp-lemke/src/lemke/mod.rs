//! Lemke's complementary pivot method.

mod ratio_test;
mod solve;
mod warm;

pub use ratio_test::TieRule;
pub(crate) use ratio_test::{Tie, ratio_test};
pub use solve::{Lemke, LemkeEnd, LemkeParams, LemkeReport, LemkeWorkspace, Ray, Start, lemke};
pub(crate) use solve::{lemke_after, scaled_column};
