//! A complementarity problem by itself: z ≥ 0, w = M z + q ≥ 0, z·w = 0.
#![allow(clippy::print_stdout, reason = "an example prints")]

use lcp_lemke::{Driver, LcpProblem, LcpSolver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two blocks on the ground, one upon the other: contact forces z, accelerations w.
    let (m, q) = ([1.0, -1.0, -1.0, 2.0], [-9.81, 0.0]);
    let problem = LcpProblem::new(&m, &q)?;
    let mut z = [0.0; 2];
    let report = Driver::default().solve(&problem, &mut z)?;
    println!("forces {z:?}, accelerations {:?}", [problem.slack(0, &z), problem.slack(1, &z)]);
    println!("{} iterations, residual {:.1e}", report.iterations, report.residual);
    Ok(())
}
