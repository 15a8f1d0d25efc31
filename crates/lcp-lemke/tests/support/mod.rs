//! Shared by the integration tests.
#![allow(dead_code, reason = "each test program uses a part")]

use lcp_lemke::families::OwnedLcp;
use lcp_lemke::{LcpError, LcpProblem, LemkeParams, LemkeReport, LemkeWorkspace, Start, lemke};

/// A cold start with the given parameters.
pub(crate) fn solve(p: &OwnedLcp, params: &LemkeParams) -> (Result<LemkeReport, LcpError>, Vec<f64>) {
    let problem = LcpProblem::new(&p.m, &p.q).unwrap();
    let mut z = vec![0.0; p.q.len()];
    let result = lemke(&problem, params, Start::Cold, &mut LemkeWorkspace::default(), &mut z);
    (result, z)
}

/// Largest difference of two vectors.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The problem with these numbers.
pub(crate) fn owned(m: &[f64], q: &[f64]) -> OwnedLcp {
    OwnedLcp { m: m.to_vec(), q: q.to_vec() }
}
