//! One block of rows, exactly, with all others as they are.
//!
//! # Reference
//!
//! [`cone`](crate::cone) for contacts, [`rolling`](crate::rolling) for friction against turning; for rows on their own a bounded linear
//! complementarity problem of three unknowns, by enumeration (Murty 1988, chapter 1).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | W | response of the block to itself | 1/kg |
//! | q | velocity without the impulse of the block | m/s |
//! | p | impulse | N·s |
//!
//! # Formula
//!
//! ```text
//! q + W p = 0 at rows inside their bounds,  ≥ 0 at the lower,  ≤ 0 at the upper bound
//! each row free, at its lower or at its upper bound: the state whose solution violates least
//! ```
//!
//! # Cost
//!
//! A product where all rows are equalities; else at most 27 systems of three unknowns.
//!
//! # Numerics
//!
//! Rows that nothing can move, as those of a loop that is held twice, get 10⁻¹² of the mean entry of the diagonal; solutions are refined.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `bounded_blocks_obey_their_law`, and the conformance kit through all solvers

use crate::{cone::LocalContact, rolling::LocalTurning};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{Bounds, Law, RowProblem};

/// Share of the mean entry of the diagonal that rows count as giving way more.
const SHIFT: f64 = 1e-12;

/// How often a solution is refined.
const REFINED: u32 = 3;
/// Share of the velocity that is rounding.
const ROUNDING: f64 = 1e-14;

/// A block prepared for [`LocalBlock::solve`].
#[derive(Debug, Clone, Copy)]
pub enum LocalBlock {
    /// A contact.
    Contact(LocalContact),
    /// Rows on their own.
    Bounded(LocalBounded),
    /// Rolling and torsional friction.
    Turning(LocalTurning),
}

/// Rows on their own, prepared.
#[derive(Debug, Clone, Copy)]
pub struct LocalBounded {
    bounds: Bounds,
    /// W, shifted.
    w: DMat3,
    /// Its inverse on the rows in use, if they are all equalities.
    inverse: Option<DMat3>,
}

impl LocalBlock {
    /// For a block of a problem.
    #[must_use]
    pub fn of(problem: &RowProblem<'_>, block: usize) -> Self {
        Self::new(&problem.law(block), &problem.diagonal(block))
    }

    /// For a law and the response of the block to itself.
    #[must_use]
    pub fn new(law: &Law, w: &DMat3) -> Self {
        match law {
            Law::Cone { friction } => Self::Contact(LocalContact::new(w, *friction)),
            Law::Bounded(bounds) => Self::Bounded(LocalBounded::new(bounds, law.size(w), w)),
            Law::Turning(turning) => Self::Turning(LocalTurning::new(turning, w)),
            // A law that is not known pushes nothing.
            _ => Self::Bounded(LocalBounded::new(&Bounds::NONE, 1.0, w)),
        }
    }

    /// The impulse, given the velocity q that the block would have without it, and the normal impulse of the contact that its law names, if it names one.
    #[inline]
    #[must_use]
    pub fn solve(&self, q: DVec3, load: f64) -> DVec3 {
        match self {
            Self::Contact(contact) => contact.solve(q),
            Self::Bounded(bounded) => bounded.solve(q),
            Self::Turning(turning) => turning.solve(q, load),
        }
    }

    /// The normal impulse of the contact that its law names; 0 if it names none.
    #[inline]
    #[must_use]
    pub fn load(&self, impulses: &[DVec3]) -> f64 {
        match self {
            Self::Turning(turning) => impulses[turning.contact()].z,
            _ => 0.0,
        }
    }
}

/// W with rows and columns that are not `free` taken from the identity.
fn restricted(w: &DMat3, free: [bool; 3]) -> DMat3 {
    let mut a = DMat3::IDENTITY;
    for j in 0..3 {
        for i in 0..3 {
            if free[i] && free[j] {
                a.col_mut(j)[i] = w.col(j)[i];
            }
        }
    }
    a
}

impl LocalBounded {
    fn new(bounds: &Bounds, size: f64, w: &DMat3) -> Self {
        let w = *w + DMat3::from_diagonal(DVec3::splat(SHIFT * size));
        let used = [0, 1, 2].map(|row| bounds.is_used(row));
        let all_hold = (0..3).all(|row| !used[row] || bounds.holds(row));
        let inverse = all_hold.then(|| {
            let mut inverse = restricted(&w, used).inverse();
            for row in (0..3).filter(|&row| !used[row]) {
                inverse.col_mut(row)[row] = 0.0;
            }
            inverse
        });
        Self { bounds: *bounds, w, inverse }
    }

    fn solve(&self, q: DVec3) -> DVec3 {
        if let Some(inverse) = &self.inverse {
            let p = -(*inverse * q);
            return (0..REFINED).fold(p, |p, _| p - *inverse * (q + self.w * p));
        }
        let Bounds { low, high, .. } = &self.bounds;
        let mut best = (f64::INFINITY, DVec3::ZERO);
        for state in 0..27_u32 {
            // Per row: 0 free, 1 at the lower, 2 at the upper bound.
            let of = [state % 3, state / 3 % 3, state / 9];
            let (mut free, mut at, mut possible) = ([false; 3], DVec3::ZERO, true);
            for row in 0..3 {
                match of[row] {
                    0 => free[row] = self.bounds.is_used(row),
                    1 => at[row] = low[row],
                    _ => at[row] = high[row],
                }
                // A row that is not there has one state.
                possible &= at[row].is_finite() && (of[row] == 0 || self.bounds.is_used(row));
            }
            if !possible {
                continue;
            }
            let pulled = q + self.w * at;
            let mut rhs = at;
            for row in (0..3).filter(|&row| free[row]) {
                rhs[row] = -pulled[row];
            }
            let a = restricted(&self.w, free);
            let inverse = a.inverse();
            let p = (0..REFINED).fold(inverse * rhs, |p, _| p + inverse * (rhs - a * p));
            let u = q + self.w * p;
            let violation = (0..3).filter(|&row| self.bounds.is_used(row)).fold(0.0_f64, |most, row| {
                let v = match of[row] {
                    // Systems that are nearly singular are not solved well: another state has the answer then.
                    0 => {
                        ((low[row] - p[row]).max(p[row] - high[row]) * self.w.col(row)[row]).max(u[row].abs())
                    }
                    1 => -u[row],
                    _ => u[row],
                };
                most.max(v)
            });
            if violation < best.0 {
                best = (violation, p);
                if violation <= ROUNDING * q.length() {
                    break;
                }
            }
        }
        self.bounds.clamp(best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;
    use sim_traits::RowCertificate;

    #[test]
    fn bounded_blocks_obey_their_law() {
        let mut random = SplitMix64(17);
        let mut at_bounds = 0;
        for k in 0..20_000 {
            let mut w = DMat3::ZERO;
            // Every fifth is singular: two rows are the same.
            for j in 0..4 {
                let mut v = random.vec3(1.0);
                if k % 5 == 0 {
                    v.y = v.x;
                }
                w += DMat3::from_cols(v * v.x, v * v.y, v * v.z) * (1.0 + f64::from(j));
            }
            let mut bounds = Bounds::NONE;
            for row in 0..3 {
                bounds = match random.below(4) {
                    0 => bounds.with(row, f64::NEG_INFINITY, f64::INFINITY),
                    1 => bounds.with(row, 0.0, f64::INFINITY),
                    2 => bounds.with(row, -random.unit(), random.unit()),
                    _ => bounds,
                };
            }
            let mut q = random.vec3(1.0);
            if k % 5 == 0 {
                q.y = q.x;
            }
            let law = Law::Bounded(bounds);
            let p = LocalBlock::new(&law, &w).solve(q, 0.0);
            let mut found = RowCertificate::default();
            found.include_block(&law, p, q + w * p, &w, 0.0);
            assert!(found.residual <= 1e-8 && found.cone_violation <= 0.0, "{k}: {bounds:?} {found:?}");
            at_bounds += u32::from((0..3).any(|row| bounds.is_used(row) && p[row] == bounds.high[row]));
        }
        assert!(at_bounds > 2000, "bounds are met often: {at_bounds}");
    }
}
