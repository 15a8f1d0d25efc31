//! One chain of joints solved three ways: ordered and banded, redundant, contradictory.
//!
//! `cargo run -p sim-math --example linear_solvers`

use sim_math::MathError;
use sim_math::dense::{
    CuthillMcKee, LinearSolver, Matrix, SolveMethod, SolveReport, bandwidth_of_order, norm,
};

#[allow(clippy::print_stdout, reason = "an example talks to the reader")]
fn show(what: &str, report: &SolveReport, x: &[f64]) {
    println!(
        "{what:<14} used {:?}, switch {:?}, {} iterations, residual {:.1e}, |x| = {:.3}",
        report.used,
        report.switch.map(|s| s.pivot),
        report.iterations,
        report.residual,
        norm(x)
    );
}

fn main() -> Result<(), MathError> {
    // Twelve joints of a chain, listed in a muddled order: joint k is called 5 k mod 12.
    let n = 12_u32;
    let edges: Vec<(u32, u32)> = (1..n).map(|k| (5 * (k - 1) % n, 5 * k % n)).collect();
    let mut ordering = CuthillMcKee::default();
    ordering.compute(n as usize, &edges)?;
    let as_listed: Vec<u32> = (0..n).collect();
    let (before, after) =
        (bandwidth_of_order(&as_listed, &edges), bandwidth_of_order(ordering.order(), &edges));
    assert!(before > 3 && after == 1);

    // In that order the matrix is tridiagonal, and the solver sees it.
    let chain = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    };
    let mut a = Matrix::from_fn(12, 12, chain);
    let b = vec![1.0; 12];
    let mut x = vec![0.0; 12];
    let mut solver = LinearSolver::new(SolveMethod::Lu);
    solver.prepare(a.as_ref())?;
    let report = solver.solve(&b, &mut x)?;
    show("regular", &report, &x);

    // A joint given twice makes the matrix singular; elimination gives way to conjugate gradients.
    let last = a.row(10).to_vec();
    a.row_mut(11).copy_from_slice(&last);
    for i in 0..12 {
        a[(i, 11)] = a[(i, 10)];
    }
    solver.prepare(a.as_ref())?;
    let report = solver.solve(&b, &mut x)?;
    assert!(report.switch.is_some());
    show("redundant", &report, &x);

    // The two copies now ask for different things: only least squares has an answer.
    let mut torn = b;
    torn[11] = 3.0;
    assert!(solver.solve(&torn, &mut x).is_err());
    solver.set_method(SolveMethod::Svd);
    solver.prepare(a.as_ref())?;
    let report = solver.solve(&torn, &mut x)?;
    show("contradictory", &report, &x);
    Ok(())
}
