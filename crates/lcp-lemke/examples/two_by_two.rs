//! The worked example of the README: two unknowns, every step shown.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use lcp_lemke::{Driver, LcpProblem, LemkeParams, LemkeWorkspace, Start, lemke};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // w = M z + q with M = [2 1; 1 2], q = (-5, -6).
    let problem = LcpProblem::new(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0])?;

    // The driver: here the solution is strictly inside, so one Cholesky factorisation does.
    let mut z = [0.0; 2];
    let solution = Driver::default().run(&problem, &mut z)?;
    println!("driver: z = {z:?} by {:?}", solution.method);
    println!("        {:?}", solution.certificate);

    // Lemke's method alone takes two pivots.
    let mut workspace = LemkeWorkspace::default();
    let report = lemke(&problem, &LemkeParams::default(), Start::Cold, &mut workspace, &mut z)?;
    println!("Lemke:  z = {z:?} in {} pivots, smallest basic value {:e}", report.pivots, report.worst_basic);

    // A problem without solution ends in a ray, which is shown.
    let infeasible = LcpProblem::new(&[0.0, -1.0, 1.0, 0.0], &[-1.0, -1.0])?;
    match lemke(&infeasible, &LemkeParams::default(), Start::Cold, &mut workspace, &mut z) {
        Ok(_) => println!("solved?"),
        Err(error) => println!("infeasible: {error}, {:?}", workspace.ray()),
    }
    Ok(())
}
