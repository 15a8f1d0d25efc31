//! Dense linear algebra of run-time size, row-major, in one fixed order of operations.
//!
//! General libraries pick their instructions when the program starts, so their last bits depend on the CPU.
//! The engine promises the same bits everywhere, hence these routines: plain loops, no fused operations, no
//! run-time dispatch. They suit orders up to about 1000.
//!
//! ```
//! use sim_math::dense::{Lu, Matrix};
//!
//! let a = Matrix::from_rows(&[[2.0, 1.0], [1.0, 3.0]]);
//! let mut lu = Lu::default();
//! lu.factor(a.as_ref())?;                         // once
//! let mut x = [3.0, 5.0];
//! lu.solve_in_place(&mut x)?;                     // as often as needed, without allocating
//! assert!((x[0] - 0.8).abs() < 1e-15 && (x[1] - 1.4).abs() < 1e-15);
//! # Ok::<(), sim_math::MathError>(())
//! ```
//!
//! | need | use |
//! |---|---|
//! | square, regular | [`Lu`], or [`BandedLu`] when the bandwidth is small |
//! | symmetric positive definite | [`Cholesky`] |
//! | symmetric, indefinite (saddle point) | [`Ldlt`] |
//! | rank deficient or contradictory | [`Svd`] |
//! | redundant but consistent, or given only as a product | [`conjugate_gradient`], [`bicgstab`], [`cgls`] |
//! | not known beforehand | [`LinearSolver`] |
//!
//! Every factorisation keeps its storage: factorising again at the same or a smaller order allocates nothing.

mod banded;
mod block;
mod cholesky;
mod iterative;
mod kernels;
mod ldlt;
mod lu;
mod matrix;
mod operator;
mod ordering;
mod product;
mod solver;
mod svd;

pub use banded::{BandMatrix, BandedLu};
pub use block::{add_block, assign_block, assign_sub_vector, extract_block, extract_sub_vector};
pub use cholesky::Cholesky;
pub use iterative::{
    IterationReport, IterativeParams, IterativeWorkspace, bicgstab, cgls, conjugate_gradient,
};
pub use kernels::{axpy, dot, max_abs, norm, scale};
pub use ldlt::{Inertia, Ldlt};
pub use lu::Lu;
pub use matrix::{MatMut, MatRef, Matrix};
pub use operator::{LinearOperator, SparseMatrix};
pub use ordering::{CuthillMcKee, bandwidth_of_order, block_bandwidth_of_order};
pub use product::{mul, mul_a_transposed_b, mul_transpose_a_b, mul_transpose_vec, mul_vec, residual};
pub use solver::{Factorisation, LinearSolver, SolveMethod, SolveReport, Switch};
pub use svd::Svd;
