//! Factorisations and solves at the orders that constraint systems have.

use sim_math::dense::{BandMatrix, BandedLu, Cholesky, Ldlt, Lu, Matrix, Svd};
use sim_math::testkit::SplitMix64;
use std::hint::black_box;
use tumblestone_benches::Suite;

/// Symmetric, diagonally dominant: every factorisation accepts it.
fn matrix(n: usize) -> Matrix {
    let mut rng = SplitMix64(n as u64);
    let mut a = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let x = rng.range(-1.0, 1.0) + if i == j { n as f64 } else { 0.0 };
            (a[(i, j)], a[(j, i)]) = (x, x);
        }
    }
    a
}

fn factor(suite: &mut Suite) {
    for n in [12, 60, 240] {
        let a = matrix(n);
        let (mut lu, mut cholesky, mut ldlt) = (Lu::default(), Cholesky::default(), Ldlt::default());
        let cube = (n * n * n) as u64;
        suite
            .case(&format!("math/dense/lu_factor/{n}"))
            .elements(cube)
            .run(|| lu.factor(black_box(a.as_ref())));
        suite
            .case(&format!("math/dense/cholesky_factor/{n}"))
            .elements(cube)
            .run(|| cholesky.factor(black_box(a.as_ref())));
        suite
            .case(&format!("math/dense/ldlt_factor/{n}"))
            .elements(cube)
            .run(|| ldlt.factor(black_box(a.as_ref())));
    }
    let (a, mut svd) = (matrix(60), Svd::default());
    suite.case("math/dense/svd_factor/60").elements(60 * 60 * 60).run(|| svd.factor(black_box(a.as_ref())));
}

fn solve(suite: &mut Suite) {
    for n in [12, 60, 240] {
        let mut lu = Lu::default();
        if lu.factor(matrix(n).as_ref()).is_err() {
            continue;
        }
        let (b, mut x) = (vec![1.0; n], vec![0.0; n]);
        suite
            .case(&format!("math/dense/lu_solve/{n}"))
            .elements((n * n) as u64)
            .run(|| lu.solve(black_box(&b), &mut x));
    }
}

fn banded(suite: &mut Suite) {
    for joints in [20, 200] {
        let n = 3 * joints;
        let mut a = BandMatrix::zeros(n, 5, 5);
        for i in 0..n {
            for j in i.saturating_sub(5)..(i + 6).min(n) {
                let entry = if i == j { 9.0 } else { 1.0 / (1.0 + (i + 2 * j) as f64 % 5.0) };
                // Inside the band by the range of the loop.
                let _ = a.add(i, j, entry);
            }
        }
        let mut lu = BandedLu::default();
        suite
            .case(&format!("math/dense/banded_factor/{joints}"))
            .elements(n as u64)
            .run(|| lu.factor(black_box(&a)));
    }
}

tumblestone_benches::main!(factor, solve, banded);
