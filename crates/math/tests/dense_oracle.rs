//! The dense routines against faer, on random, graded, indefinite, rank-deficient and banded matrices.
//!
//! faer picks its instructions at run time, so its last bits differ between CPUs: an oracle, not a dependency.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use sim_math::assert_close;
use sim_math::dense::{BandMatrix, BandedLu, Cholesky, Ldlt, Lu, Matrix, Svd, mul, mul_a_transposed_b, norm};
use sim_math::testkit::SplitMix64;

fn to_faer(a: &Matrix) -> Mat<f64> {
    Mat::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)])
}

fn column(b: &[f64]) -> Mat<f64> {
    Mat::from_fn(b.len(), 1, |i, _| b[i])
}

fn random(stream: &mut SplitMix64, rows: usize, cols: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| stream.range(-1.0, 1.0))
}

fn condition(a: &Matrix) -> f64 {
    // NaN if the oracle fails, which then fails the comparison that asked.
    let values = to_faer(a).singular_values().unwrap_or_default();
    values.first().zip(values.last()).map_or(f64::NAN, |(first, last)| first / last)
}

/// Two backward stable solutions differ by at most a modest multiple of n ε κ.
fn assert_same_solution(x: &[f64], oracle: &Mat<f64>, condition: f64, what: &str) {
    let n = x.len();
    let gap: Vec<f64> = (0..n).map(|i| x[i] - oracle[(i, 0)]).collect();
    let allowed = 8.0 * n as f64 * f64::EPSILON * condition * norm(x);
    assert!(norm(&gap) <= allowed, "{what}, order {n}: {:e} allowed {allowed:e}", norm(&gap));
}

#[test]
fn products_equal_those_of_faer() {
    let mut stream = SplitMix64(1);
    for (m, k, n) in [(1, 1, 1), (5, 7, 3), (33, 20, 41), (64, 64, 64)] {
        let (a, b) = (random(&mut stream, m, k), random(&mut stream, k, n));
        let mut c = Matrix::zeros(m, n);
        mul(a.as_ref(), b.as_ref(), c.as_mut()).unwrap();
        let oracle = to_faer(&a) * to_faer(&b);
        for i in 0..m {
            for j in 0..n {
                assert_close!(c[(i, j)], oracle[(i, j)], abs = 1e-15 * k as f64);
            }
        }
    }
}

// proves: DYN-107
#[test]
fn lu_solutions_determinants_and_inverses_equal_those_of_faer() {
    let mut stream = SplitMix64(2);
    let mut lu = Lu::default();
    for n in [1, 2, 3, 8, 31, 32, 33, 63, 64, 65, 90] {
        for _ in 0..4 {
            let a = random(&mut stream, n, n);
            let b: Vec<f64> = (0..n).map(|_| stream.range(-1.0, 1.0)).collect();
            lu.factor(a.as_ref()).unwrap();
            let mut x = b.clone();
            lu.solve_in_place(&mut x).unwrap();
            let oracle = to_faer(&a).partial_piv_lu();
            let kappa = condition(&a);
            assert_same_solution(&x, &oracle.solve(column(&b)), kappa, "LU");
            let mut y = b.clone();
            lu.solve_transposed_in_place(&mut y).unwrap();
            let transposed = to_faer(&a.transposed()).partial_piv_lu();
            assert_same_solution(&y, &transposed.solve(column(&b)), kappa, "transposed LU");
            let mut inverse = Matrix::zeros(n, n);
            lu.inverse(inverse.as_mut()).unwrap();
            let unit = Matrix::identity(n);
            let oracle_inverse = oracle.solve(to_faer(&unit));
            for j in 0..n {
                let ours: Vec<f64> = inverse.as_ref().column(j).collect();
                let theirs = Mat::from_fn(n, 1, |i, _| oracle_inverse[(i, j)]);
                assert_same_solution(&ours, &theirs, kappa, "inverse");
            }
            let determinant = to_faer(&a).determinant();
            assert_close!(lu.determinant().unwrap(), determinant, rel = 1e-13 * kappa);
        }
    }
}

#[test]
fn cholesky_and_ldlt_solutions_equal_those_of_faer() {
    let mut stream = SplitMix64(3);
    let (mut cholesky, mut ldlt) = (Cholesky::default(), Ldlt::default());
    for n in [1, 2, 5, 16, 40, 77] {
        let g = random(&mut stream, n, n + 4);
        let mut a = Matrix::zeros(n, n);
        mul_a_transposed_b(g.as_ref(), g.as_ref(), a.as_mut()).unwrap();
        let b: Vec<f64> = (0..n).map(|_| stream.range(-1.0, 1.0)).collect();
        let kappa = condition(&a);
        let oracle = to_faer(&a).llt(Side::Lower).unwrap();
        let expected = oracle.solve(column(&b));
        let mut x = b.clone();
        cholesky.factor(a.as_ref()).unwrap();
        cholesky.solve_in_place(&mut x).unwrap();
        assert_same_solution(&x, &expected, kappa, "Cholesky");
        let lower = cholesky.lower().unwrap();
        for i in 0..n {
            for j in 0..=i {
                let size = a[(i, i)].sqrt();
                assert_close!(lower[(i, j)], oracle.L()[(i, j)], abs = 1e-14 * size * kappa.max(10.0));
            }
        }
        // An indefinite matrix with a zero block: mass matrix, Jacobian and no compliance.
        let m = n / 2;
        let kkt = Matrix::from_fn(n, n, |i, j| match (i < n - m, j < n - m) {
            (true, true) => a[(i, j)],
            (true, false) => g[(i, j)],
            (false, true) => g[(j, i)],
            (false, false) => 0.0,
        });
        ldlt.factor(kkt.as_ref()).unwrap();
        let mut y = b.clone();
        ldlt.solve_in_place(&mut y).unwrap();
        let expected = to_faer(&kkt).lblt(Side::Lower).solve(column(&b));
        assert_same_solution(&y, &expected, condition(&kkt), "LDLT");
        let negative = to_faer(&kkt).self_adjoint_eigenvalues(Side::Lower).unwrap();
        let negative = negative.iter().filter(|&&value| value < 0.0).count();
        assert_eq!(ldlt.inertia().unwrap().negative, negative);
    }
}

#[test]
fn singular_values_and_least_squares_equal_those_of_faer() {
    let mut stream = SplitMix64(4);
    let mut svd = Svd::default();
    for (m, n, rank) in [(1, 1, 1), (6, 6, 6), (12, 5, 5), (5, 12, 5), (20, 20, 9), (40, 25, 25), (7, 30, 4)]
    {
        let (left, right) = (random(&mut stream, m, rank), random(&mut stream, rank, n));
        let mut a = Matrix::zeros(m, n);
        mul(left.as_ref(), right.as_ref(), a.as_mut()).unwrap();
        svd.factor(a.as_ref()).unwrap();
        let oracle = to_faer(&a).singular_values().unwrap();
        for (value, expected) in svd.singular_values().unwrap().iter().zip(&oracle) {
            assert_close!(*value, *expected, abs = 1e-14 * (m + n) as f64 * oracle[0]);
        }
        assert_eq!(svd.rank().unwrap(), rank);
        let b: Vec<f64> = (0..m).map(|_| stream.range(-1.0, 1.0)).collect();
        let mut x = vec![0.0; n];
        svd.solve(&b, &mut x).unwrap();
        // The least-norm solution from faer's own factors, cut at the same rank.
        let thin = to_faer(&a).thin_svd().unwrap();
        let expected = Mat::from_fn(n, 1, |i, _| {
            (0..rank)
                .map(|k| {
                    let along: f64 = (0..m).map(|r| thin.U()[(r, k)] * b[r]).sum();
                    thin.V()[(i, k)] * along / thin.S()[k]
                })
                .sum()
        });
        let kappa = oracle[0] / oracle[rank - 1];
        assert_same_solution(&x, &expected, kappa * kappa, "least squares");
    }
}

#[test]
fn graded_matrices_keep_their_small_singular_values() {
    // Columns from 1 to 1e-8: one-sided Jacobi keeps relative accuracy where it matters.
    let mut stream = SplitMix64(5);
    let base = random(&mut stream, 8, 5);
    let scale = [1.0, 1e-2, 1e-4, 1e-6, 1e-8];
    let a = Matrix::from_fn(8, 5, |i, j| base[(i, j)] * scale[j]);
    let mut svd = Svd::default();
    svd.factor(a.as_ref()).unwrap();
    let oracle = to_faer(&a).singular_values().unwrap();
    for (value, expected) in svd.singular_values().unwrap().iter().zip(&oracle) {
        assert_close!(*value, *expected, abs = 1e-15 * oracle[0]);
    }
    // The product of all values is the volume √det(AᵀA), known from the unscaled matrix.
    let unscaled = to_faer(&base).singular_values().unwrap();
    let volume: f64 = unscaled.iter().product::<f64>() * scale.iter().product::<f64>();
    let ours: f64 = svd.singular_values().unwrap().iter().product();
    assert_close!(ours, volume, rel = 1e-13);
}

#[test]
fn banded_solutions_equal_those_of_faer() {
    let mut stream = SplitMix64(6);
    let mut band = BandedLu::default();
    for (n, lower, upper) in [(1, 0, 0), (10, 1, 1), (30, 3, 2), (60, 5, 5), (25, 0, 4), (25, 4, 0)] {
        let mut a = BandMatrix::zeros(n, lower, upper);
        for i in 0..n {
            for j in i.saturating_sub(lower)..(i + upper + 1).min(n) {
                a.add(i, j, stream.range(-1.0, 1.0) + if i == j { 1.0 } else { 0.0 }).unwrap();
            }
        }
        let dense = Matrix::from_fn(n, n, |i, j| a.get(i, j));
        let b: Vec<f64> = (0..n).map(|_| stream.range(-1.0, 1.0)).collect();
        band.factor(&a).unwrap();
        let mut x = b.clone();
        band.solve_in_place(&mut x).unwrap();
        let expected = to_faer(&dense).partial_piv_lu().solve(column(&b));
        assert_same_solution(&x, &expected, condition(&dense), "band LU");
    }
}
