//! Drift: steps of the configuration that undo overlaps, and a bias that does it slowly.
//!
//! # Reference
//!
//! Baumgarte (1972); Ascher (1997), Cline (2002), chapter 3: post-stabilisation, and post-stabilisation as a complementarity problem with contacts.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | gaps of the contacts, negative where bodies overlap | m |
//! | A | normal rows of W | 1/kg |
//! | λ | multipliers | kg·m |
//! | dp | change of configuration, a twist | rad, m |
//! | α | rate of Baumgarte's correction | 1/s |
//!
//! # Formula
//!
//! ```text
//! Baumgarte         J v + α g = 0:   g shrinks by 1 − α h per step; α h = 1 is dead beat, α h = 2 the edge of stability
//! pseudo-inverse    A λ = −g in the sense of least squares and least norm,        dp = M⁻¹ Jᵀ λ
//! complementarity   A λ + g ≥ 0 ⊥ λ ≥ 0,                                           dp = M⁻¹ Jᵀ λ
//! ```
//!
//! dp is the smallest change in the metric of M that does it.
//!
//! # Cost
//!
//! Cubic in the contacts of one island for the dense forms.
//!
//! # Numerics
//!
//! Redundant contacts make A singular. λ is then not unique, and dp is: the pseudo-inverse cuts at 1e-9 of the largest singular value, the
//! complementarity solver copes.
//!
//! # Failure
//!
//! [`StabilizeError`].
//!
//! # Tested by
//!
//! `a_sunk_box_is_lifted_by_its_depth_without_turning`, `pseudo_inverse_pulls_where_contacts_cannot`, `baumgarte_shrinks_by_its_rate`

use crate::delassus::Delassus;
use sim_math::{
    MathError, Pose,
    dense::{Matrix, Svd},
    glam::DVec3,
    rotation::quat_exp,
    spatial::Motion,
};
use sim_traits::{LcpError, LcpProblem, LcpSolver};
use thiserror::Error;

/// Why a step of stabilisation failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StabilizeError {
    /// The complementarity problem was not solved.
    #[error(transparent)]
    Lcp(#[from] LcpError),
    /// The linear system was not solved.
    #[error(transparent)]
    Math(#[from] MathError),
}

/// Baumgarte's bias for the normal row, m/s: `rate` is α in 1/s.
#[must_use]
pub fn baumgarte_bias(gap: f64, rate: f64) -> f64 {
    rate * gap
}

/// Memory of the steps.
#[derive(Debug, Clone, Default)]
pub struct StabilizeWorkspace {
    matrix: Vec<f64>,
    gaps: Vec<f64>,
    lambda: Vec<f64>,
    svd: Svd,
}

impl StabilizeWorkspace {
    /// Normal rows of W, and gaps from the z of the velocities.
    fn load(&mut self, delassus: &Delassus) {
        let n = delassus.len();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for c in 0..n {
            for k in delassus.starts[c] as usize..delassus.starts[c + 1] as usize {
                self.matrix[c * n + delassus.columns[k] as usize] = delassus.blocks[k].z_axis.z;
            }
        }
        self.gaps.clear();
        self.gaps.extend(delassus.velocity.iter().map(|b| b.z));
        self.lambda.clear();
        self.lambda.resize(n, 0.0);
    }

    fn multipliers(&self, out: &mut [DVec3]) {
        out.iter_mut().zip(&self.lambda).for_each(|(p, &l)| *p = DVec3::new(0.0, 0.0, l));
    }
}

/// Multipliers of a step that opens every gap (the z of the velocities of `delassus`, m) to at least zero, and pulls nowhere.
///
/// Applied like impulses to bodies at rest they give dp.
///
/// # Errors
/// The solver found nothing: a wedge that cannot open.
pub fn open_gaps(
    delassus: &Delassus,
    solver: &mut dyn LcpSolver,
    workspace: &mut StabilizeWorkspace,
    multipliers: &mut [DVec3],
) -> Result<(), StabilizeError> {
    workspace.load(delassus);
    let problem = LcpProblem::new(&workspace.matrix, &workspace.gaps)?;
    solver.solve(&problem, &mut workspace.lambda)?;
    workspace.multipliers(multipliers);
    Ok(())
}

/// Multipliers of a step that brings every gap to zero, pulling where it must: by truncated singular values.
///
/// # Errors
/// Numbers that are not finite.
pub fn close_gaps(
    delassus: &Delassus,
    workspace: &mut StabilizeWorkspace,
    multipliers: &mut [DVec3],
) -> Result<(), StabilizeError> {
    workspace.load(delassus);
    let n = delassus.len();
    let mut a = Matrix::zeros(n, n);
    a.as_mut_slice().copy_from_slice(&workspace.matrix);
    workspace.svd.factor(a.as_ref())?;
    let wanted: Vec<f64> = workspace.gaps.iter().map(|g| -g).collect();
    workspace.svd.solve(&wanted, &mut workspace.lambda)?;
    workspace.multipliers(multipliers);
    Ok(())
}

/// A pose moved by a twist at the origin of its frame, world axes: rad and m. The quaternion stays of unit length.
#[inline]
#[must_use]
pub fn moved(pose: &Pose, twist: Motion) -> Pose {
    let rotation = (quat_exp(twist.angular) * pose.rotation).normalize();
    Pose::new(pose.translation + twist.linear, rotation)
}
