//! Lemke's complementary pivot method.

mod basis;
mod ratio_test;
mod solve;
mod warm;

pub use ratio_test::TieRule;
pub use solve::{Lemke, LemkeEnd, LemkeParams, LemkeReport, LemkeWorkspace, Ray, Start, lemke};
