//! Contact with friction at many points at once: the seam between contact sets and the laws that solve them.
//!
//! A problem is the Delassus operator W = J M⁻¹ Jᵀ in 3x3 blocks, one row of blocks per contact, and the relative
//! velocity b that each contact would have without impulses. Unknown is one impulse per contact. Everything is in
//! the contact frames: x and y across, z along the normal from B to A.

use sim_math::glam::{DMat3, DVec3};
use std::fmt::Debug;
use thiserror::Error;

/// Many contacts that share bodies: W in block rows, velocities b, coefficients of friction μ.
///
/// Wanted are impulses p with u = W p + b such that at every contact 0 ≤ `p_z` ⊥ `u_z` ≥ 0, |`p_t`| ≤ μ `p_z`, and `p_t` = −μ `p_z`
/// `u_t`/|`u_t`| where `u_t` ≠ 0. A restitution, a gap or any other bias is part of b.
#[derive(Debug, Clone, Copy)]
pub struct ContactProblem<'a> {
    starts: &'a [u32],
    columns: &'a [u32],
    blocks: &'a [DMat3],
    velocity: &'a [DVec3],
    friction: &'a [f64],
    bodies: Option<FreeContacts<'a>>,
    /// Rows are there in full; else the blocks are those of the diagonal, and the bodies stand for the others.
    has_rows: bool,
    /// By which share of `W_zz` contacts give way, where the bodies do not say it.
    softness: f64,
    accuracy: f64,
}

/// A body that impulses move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeBody {
    /// kg.
    pub mass: f64,
    /// About the centre of mass, world axes, kg·m².
    pub inertia: DMat3,
    /// The same, inverse.
    pub inverse_inertia: DMat3,
}

/// The same contacts seen from free bodies, for solvers that work on velocities instead of impulses.
#[derive(Debug, Clone, Copy)]
pub struct FreeContacts<'a> {
    /// Every body that impulses move.
    pub bodies: &'a [FreeBody],
    /// Per contact: the bodies A and B; a number beyond the list is one that nothing moves.
    pub sides: &'a [[u32; 2]],
    /// Per contact: its point from the centres of A and B, world axes, m.
    pub arms: &'a [[DVec3; 2]],
    /// Per contact: two tangents and the normal, world axes.
    pub frames: &'a [DMat3],
}

/// Why a contact problem was refused or not solved.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum ContactError {
    /// A slice has the wrong length.
    #[error("{what} has length {got}, expected {expected}")]
    WrongLength {
        /// Which argument.
        what: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// A number is NaN or infinite.
    #[error("contact {contact}: {what} is not finite: {value}")]
    NonFinite {
        /// What kind of number.
        what: &'static str,
        /// Of which contact.
        contact: usize,
        /// The number.
        value: f64,
    },
    /// A coefficient of friction below zero.
    #[error("contact {contact}: friction must not be negative, got {value}")]
    NegativeFriction {
        /// Of which contact.
        contact: usize,
        /// Its value.
        value: f64,
    },
    /// The columns of a row of blocks are not ascending, lack the diagonal, or lie outside.
    #[error("contact {contact}: its row of blocks is out of order or lacks the diagonal")]
    BadRow {
        /// Which contact.
        contact: usize,
    },
    /// Nothing gives way along the normal: both bodies are fixed.
    #[error("contact {contact}: nothing gives way along the normal, W_zz = {value}")]
    Immovable {
        /// Which contact.
        contact: usize,
        /// The entry of W.
        value: f64,
    },
    /// More contacts than the solver takes.
    #[error("{contacts} contacts, but this solver takes {limit}")]
    TooLarge {
        /// How many there are.
        contacts: usize,
        /// How many it takes.
        limit: usize,
    },
    /// The limit was reached; the best impulses found are in the output, inside their cones.
    #[error("no solution after {iterations} iterations, residual {residual:e} m/s")]
    Budget {
        /// Iterations done.
        iterations: u32,
        /// Residual of the impulses left in the output, m/s.
        residual: f64,
    },
    /// The method says that there is no solution.
    #[error("no solution exists, or the method cannot find it (after {iterations} iterations)")]
    NoSolution {
        /// Iterations done.
        iterations: u32,
    },
}

impl<'a> ContactProblem<'a> {
    /// From block rows: row c has the blocks `starts[c]..starts[c + 1]`, their columns ascending, the diagonal among them.
    ///
    /// # Errors
    /// Lengths that do not fit, rows out of order, numbers that are not finite, negative friction, a contact that
    /// nothing gives way at.
    pub fn new(
        starts: &'a [u32],
        columns: &'a [u32],
        blocks: &'a [DMat3],
        velocity: &'a [DVec3],
        friction: &'a [f64],
    ) -> Result<Self, ContactError> {
        let n = velocity.len();
        let wrong = |what, expected, got| Err(ContactError::WrongLength { what, expected, got });
        if starts.len() != n + 1 {
            return wrong("row starts", n + 1, starts.len());
        }
        if friction.len() != n {
            return wrong("friction", n, friction.len());
        }
        if columns.len() != blocks.len() {
            return wrong("block columns", blocks.len(), columns.len());
        }
        if starts.first() != Some(&0) || starts.last().map(|&end| end as usize) != Some(blocks.len()) {
            return wrong("blocks", starts.last().map_or(0, |&end| end as usize), blocks.len());
        }
        let this = Self {
            starts,
            columns,
            blocks,
            velocity,
            friction,
            bodies: None,
            has_rows: true,
            softness: 0.0,
            accuracy: 0.0,
        };
        for contact in 0..n {
            this.check_row(contact)?;
        }
        Ok(this)
    }

    /// From bodies, without rows: `diagonal` has the block of each contact with itself, and the bodies, which the caller vouches for, stand for all
    /// others. For solvers that say so ([`ContactSolver::needs_rows`]); [`ContactProblem::row`] has the diagonal alone.
    ///
    /// # Errors
    /// As [`ContactProblem::new`].
    pub fn of_bodies(
        bodies: FreeContacts<'a>,
        diagonal: &'a [DMat3],
        velocity: &'a [DVec3],
        friction: &'a [f64],
    ) -> Result<Self, ContactError> {
        let n = velocity.len();
        for (what, got) in [("friction", friction.len()), ("diagonal blocks", diagonal.len())] {
            if got != n {
                return Err(ContactError::WrongLength { what, expected: n, got });
            }
        }
        let this = Self {
            starts: &[],
            columns: &[],
            blocks: diagonal,
            velocity,
            friction,
            bodies: None,
            has_rows: false,
            softness: 0.0,
            accuracy: 0.0,
        };
        for contact in 0..n {
            this.check_numbers(contact, &diagonal[contact..=contact], &diagonal[contact])?;
        }
        this.with_bodies(bodies)
    }

    /// The same problem with a residual that is good enough, m/s. Solvers whose own tolerance is smaller may stop there. 0 by default.
    #[must_use]
    pub fn with_accuracy(self, accuracy: f64) -> Self {
        Self { accuracy, ..self }
    }

    /// A residual that is good enough, m/s; 0 if the solver's own tolerance decides.
    #[inline]
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        self.accuracy
    }

    /// True if [`ContactProblem::row`] has all blocks.
    #[inline]
    #[must_use]
    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// What a contact gives way by its own impulse beyond what its bodies do, 1/kg.
    #[inline]
    #[must_use]
    pub fn softness(&self, contact: usize) -> f64 {
        if self.softness > 0.0 {
            self.softness / (1.0 + self.softness) * self.blocks[contact].z_axis.z
        } else {
            0.0
        }
    }

    fn check_row(&self, contact: usize) -> Result<(), ContactError> {
        let (start, end) = (self.starts[contact] as usize, self.starts[contact + 1] as usize);
        let columns = self.columns.get(start..end).ok_or(ContactError::BadRow { contact })?;
        let ordered = columns.windows(2).all(|w| w[0] < w[1]);
        let inside = columns.last().is_none_or(|&last| (last as usize) < self.velocity.len());
        let Ok(diagonal) = columns.binary_search(&(contact as u32)) else {
            return Err(ContactError::BadRow { contact });
        };
        if !(ordered && inside) {
            return Err(ContactError::BadRow { contact });
        }
        self.check_numbers(contact, &self.blocks[start..end], &self.blocks[start + diagonal])
    }

    fn check_numbers(&self, contact: usize, blocks: &[DMat3], diagonal: &DMat3) -> Result<(), ContactError> {
        let bad = |values: &[f64]| values.iter().copied().find(|x| !x.is_finite());
        for block in blocks {
            if let Some(value) = bad(&block.to_cols_array()) {
                return Err(ContactError::NonFinite { what: "entry of W", contact, value });
            }
        }
        if let Some(value) = bad(&self.velocity[contact].to_array()) {
            return Err(ContactError::NonFinite { what: "velocity", contact, value });
        }
        let (value, friction) = (diagonal.z_axis.z, self.friction[contact]);
        if value <= 0.0 {
            return Err(ContactError::Immovable { contact, value });
        }
        if !friction.is_finite() {
            return Err(ContactError::NonFinite { what: "friction", contact, value: friction });
        }
        if friction < 0.0 {
            return Err(ContactError::NegativeFriction { contact, value: friction });
        }
        Ok(())
    }

    /// The same problem with its bodies, which the caller vouches for: W = J M⁻¹ Jᵀ.
    ///
    /// # Errors
    /// Lists that are not as long as the contacts.
    pub fn with_bodies(self, bodies: FreeContacts<'a>) -> Result<Self, ContactError> {
        let expected = self.len();
        let lists =
            [("sides", bodies.sides.len()), ("arms", bodies.arms.len()), ("frames", bodies.frames.len())];
        for (what, got) in lists {
            if got != expected {
                return Err(ContactError::WrongLength { what, expected, got });
            }
        }
        Ok(Self { bodies: Some(bodies), ..self })
    }

    /// The same contacts made to give way: each block on the diagonal plus `share` of its normal entry times the identity. Such a problem has a solution of
    /// bounded size even where the given one has none, as for a body between two walls that close.
    #[must_use]
    pub fn softened<'b>(&self, share: f64, blocks: &'b mut Vec<DMat3>) -> ContactProblem<'b>
    where
        'a: 'b,
    {
        blocks.clear();
        blocks.extend_from_slice(self.blocks);
        if !self.has_rows {
            for block in blocks.iter_mut() {
                *block += DMat3::from_diagonal(DVec3::splat(share * block.z_axis.z));
            }
            return ContactProblem { blocks, softness: share, ..*self };
        }
        for contact in 0..self.len() {
            let span = self.starts[contact] as usize..self.starts[contact + 1] as usize;
            for (column, block) in self.columns[span.clone()].iter().zip(&mut blocks[span]) {
                if *column as usize == contact {
                    *block += DMat3::from_diagonal(DVec3::splat(share * block.z_axis.z));
                }
            }
        }
        ContactProblem { blocks, bodies: None, ..*self }
    }

    /// The bodies, if the caller gave them.
    #[inline]
    #[must_use]
    pub fn bodies(&self) -> Option<FreeContacts<'a>> {
        self.bodies
    }

    /// Number of contacts.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.velocity.len()
    }

    /// True if there are no contacts.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.velocity.is_empty()
    }

    /// Blocks of row `contact` with their columns, which ascend; none if there are no rows.
    #[inline]
    pub fn row(&self, contact: usize) -> impl Iterator<Item = (usize, &'a DMat3)> + use<'a> {
        let span = match self.starts.get(contact..contact + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        };
        self.columns[span.clone()].iter().map(|&c| c as usize).zip(&self.blocks[span])
    }

    /// The block of a contact with itself, 1/kg.
    #[must_use]
    pub fn diagonal(&self, contact: usize) -> DMat3 {
        if !self.has_rows {
            return self.blocks[contact];
        }
        self.row(contact).find(|(d, _)| *d == contact).map_or(DMat3::ZERO, |(_, block)| *block)
    }

    /// Relative velocities b without impulses, m/s.
    #[inline]
    #[must_use]
    pub fn velocity(&self) -> &'a [DVec3] {
        self.velocity
    }

    /// Largest velocity that impulses have to answer, m/s: of slip and approach. A gap that stays open, however wide, does not count.
    #[must_use]
    pub fn scale(&self) -> f64 {
        let wanted = |b: &DVec3| DVec3::new(b.x, b.y, b.z.min(0.0)).length();
        self.velocity.iter().map(wanted).fold(0.0, f64::max)
    }

    /// Coefficients of friction.
    #[inline]
    #[must_use]
    pub fn friction(&self) -> &'a [f64] {
        self.friction
    }

    /// Relative velocity u = W p + b of a contact, m/s. Without rows it looks at all contacts.
    #[inline]
    #[must_use]
    pub fn relative_velocity(&self, contact: usize, impulses: &[DVec3]) -> DVec3 {
        if let Some(bodies) = self.bodies.filter(|_| !self.has_rows) {
            return self.velocity[contact]
                + bodies.response(contact, impulses)
                + self.softness(contact) * impulses[contact];
        }
        self.row(contact).fold(self.velocity[contact], |u, (d, block)| u + *block * impulses[d])
    }

    /// Measures any impulses against the law with the exact cone. NaN counts as infinite.
    #[must_use]
    pub fn certificate(&self, impulses: &[DVec3]) -> ContactCertificate {
        let mut all = ContactCertificate::default();
        if impulses.len() != self.len() || impulses.iter().any(|p| !p.is_finite()) {
            return ContactCertificate {
                residual: f64::INFINITY,
                cone_violation: f64::INFINITY,
                approach: f64::INFINITY,
                gap_power: f64::INFINITY,
            };
        }
        for (c, &p) in impulses.iter().enumerate() {
            let u = self.relative_velocity(c, impulses);
            all.include(p, u, self.friction[c], self.diagonal(c).z_axis.z);
        }
        all
    }
}

impl FreeContacts<'_> {
    /// Change of a contact's relative velocity by impulses at all contacts, m/s.
    fn response(&self, contact: usize, impulses: &[DVec3]) -> DVec3 {
        let mut u = DVec3::ZERO;
        for (side, sign) in self.sides[contact].into_iter().zip([1.0, -1.0]).enumerate() {
            let (body, sign) = sign;
            let Some(mass) = self.bodies.get(body as usize) else { continue };
            let (mut force, mut moment) = (DVec3::ZERO, DVec3::ZERO);
            for (d, p) in impulses.iter().enumerate() {
                for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
                    if self.sides[d][k] == body {
                        let f = sign * (self.frames[d] * *p);
                        force += f;
                        moment += self.arms[d][k].cross(f);
                    }
                }
            }
            let turn = mass.inverse_inertia * moment;
            u += sign * (force / mass.mass + turn.cross(self.arms[contact][side]));
        }
        self.frames[contact].transpose() * u
    }
}

impl ContactCertificate {
    /// Takes one more contact in, with its impulse, relative velocity, friction and `W_zz`. NaN counts as infinite.
    #[inline]
    pub fn include(&mut self, p: DVec3, u: DVec3, mu: f64, w_zz: f64) {
        let slip = u.truncate().length();
        // De Saxcé: −(u + μ|u_t| n) is normal to the cone at p, so a step along it is projected back to p.
        let target = p - (u + DVec3::new(0.0, 0.0, mu * slip)) / w_zz;
        let residual = (p - project_on_cone(target, mu)).length() * w_zz;
        self.residual = self.residual.max(if residual.is_nan() { f64::INFINITY } else { residual });
        self.cone_violation = self.cone_violation.max(p.truncate().length() - mu * p.z).max(-p.z);
        self.approach = self.approach.max(-u.z);
        self.gap_power = self.gap_power.max((p.z * u.z).abs());
    }
}

/// The point of the cone |`p_t`| ≤ μ `p_z` that is nearest to p. The polar cone goes first: without friction the cone is a ray, and behind its tip is not inside.
#[must_use]
pub fn project_on_cone(p: DVec3, mu: f64) -> DVec3 {
    let t = p.truncate().length();
    if mu * t <= -p.z {
        DVec3::ZERO
    } else if t <= mu * p.z {
        p
    } else {
        let z = (p.z + mu * t) / (1.0 + mu * mu);
        (p.truncate() * (mu * z / t)).extend(z)
    }
}

/// How well impulses obey the law of contact with friction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ContactCertificate {
    /// Largest distance of a contact from obeying the law, as a velocity, m/s: zero exactly for solutions.
    pub residual: f64,
    /// Largest |`p_t`| − μ `p_z` or −`p_z`, N·s; at most 0 inside the cones.
    pub cone_violation: f64,
    /// Largest speed of approach left, m/s; at most 0 if none approaches.
    pub approach: f64,
    /// Largest |`p_z` `u_z`|, J: a contact that both pushes and parts.
    pub gap_power: f64,
}

/// How impulses were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactReport {
    /// Sweeps, picks or pivots done.
    pub iterations: u32,
    /// The impulses, measured after the solve.
    pub certificate: ContactCertificate,
}

/// A law of contact for many contacts at once.
///
/// **Contract.** `impulses` holds a guess on entry (zeros if there is none) and the answer on return. `Ok` means that the
/// answer was measured and is as good as the solver's own tolerance, up to [`cone_error`](Self::cone_error). On
/// [`ContactError::Budget`] the best impulses found are in the output, inside their cones, and may be used. After any other error
/// the output is not to be used.
///
/// **Determinism.** A function of the problem and the guess.
///
/// The conformance kit is `sim_traits::testkit::contact_solver`.
pub trait ContactSolver: Debug + Send + Sync {
    /// Short name, such as `"cone"`.
    fn kind(&self) -> &'static str;

    /// By which share of μ the solver's cone may fall short of the exact one: 0, or 1 − cos(π/m) for an inscribed cone of m sides.
    fn cone_error(&self) -> f64 {
        0.0
    }

    /// False if the solver is as well served by the bodies behind the contacts ([`ContactProblem::of_bodies`]).
    fn needs_rows(&self) -> bool {
        true
    }

    /// Measures impulses as [`ContactProblem::certificate`] does; solvers that need no rows are quicker at it.
    fn measure(&mut self, problem: &ContactProblem<'_>, impulses: &[DVec3]) -> ContactCertificate {
        problem.certificate(impulses)
    }

    /// Finds the impulses, N·s.
    ///
    /// # Errors
    /// `impulses` has the wrong length or holds a number that is not finite; too many contacts; no solution found.
    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        impulses: &mut [DVec3],
    ) -> Result<ContactReport, ContactError>;
}

impl ContactError {
    /// `Ok` for a guess that every solver must accept.
    ///
    /// # Errors
    /// Wrong length, or a number that is not finite.
    pub fn check_guess(problem: &ContactProblem<'_>, impulses: &[DVec3]) -> Result<(), Self> {
        let (expected, got) = (problem.len(), impulses.len());
        if expected != got {
            return Err(Self::WrongLength { what: "impulses", expected, got });
        }
        for (contact, p) in impulses.iter().enumerate() {
            if let Some(value) = p.to_array().into_iter().find(|x| !x.is_finite()) {
                return Err(Self::NonFinite { what: "guess", contact, value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [u32; 2] = [0, 1];

    fn single<'a>(w: &'a [DMat3], b: &'a [DVec3], mu: &'a [f64]) -> ContactProblem<'a> {
        ContactProblem::new(&ONE, &[0], w, b, mu).unwrap()
    }

    #[test]
    fn the_certificate_is_zero_for_solutions_only() {
        // A unit mass pressed down at 1 m/s and sliding at 2 m/s with μ = ½: p = (−½, 0, 1).
        let (w, b) = ([DMat3::IDENTITY], [DVec3::new(2.0, 0.0, -1.0)]);
        let problem = single(&w, &b, &[0.5]);
        let right = problem.certificate(&[DVec3::new(-0.5, 0.0, 1.0)]);
        assert!(right.residual < 1e-15 && right.cone_violation <= 0.0 && right.approach <= 0.0);
        for wrong in [
            DVec3::ZERO,
            DVec3::new(0.0, 0.0, 1.0),
            DVec3::new(-0.6, 0.0, 1.0),
            DVec3::new(-0.55, 0.0, 1.1),
            DVec3::new(0.0, -0.5, 1.0),
        ] {
            assert!(problem.certificate(&[wrong]).residual > 0.01, "{wrong}");
        }
        assert_eq!(problem.certificate(&[DVec3::NAN]).residual, f64::INFINITY);
        assert_eq!(problem.certificate(&[]).residual, f64::INFINITY);
    }

    #[test]
    fn projection_is_the_nearest_point() {
        for (p, mu, nearest) in [
            (DVec3::new(0.3, 0.0, 1.0), 0.5, DVec3::new(0.3, 0.0, 1.0)),
            (DVec3::new(0.1, 0.0, -1.0), 0.5, DVec3::ZERO),
            (DVec3::new(0.0, 2.0, 0.0), 1.0, DVec3::new(0.0, 1.0, 1.0)),
            (DVec3::new(3.0, 0.0, 2.0), 0.0, DVec3::new(0.0, 0.0, 2.0)),
            (DVec3::new(0.0, 0.0, -2.0), 0.0, DVec3::ZERO),
        ] {
            assert!((project_on_cone(p, mu) - nearest).length() < 1e-15, "{p}");
        }
    }

    #[test]
    fn bad_problems_are_errors_that_name_the_contact() {
        let (w, b, mu) = ([DMat3::IDENTITY], [DVec3::ZERO], [0.5]);
        let text = |r: Result<ContactProblem<'_>, ContactError>| r.unwrap_err().to_string();
        assert_eq!(text(ContactProblem::new(&[0], &[0], &w, &b, &mu)), "row starts has length 1, expected 2");
        assert!(text(ContactProblem::new(&ONE, &[1], &w, &b, &mu)).starts_with("contact 0: its row"));
        assert!(text(ContactProblem::new(&ONE, &[0], &w, &b, &[-1.0])).contains("-1"));
        assert!(text(ContactProblem::new(&ONE, &[0], &[DMat3::ZERO], &b, &mu)).contains("W_zz = 0"));
        let nan = [DVec3::new(0.0, f64::NAN, 0.0)];
        assert_eq!(
            text(ContactProblem::new(&ONE, &[0], &w, &nan, &mu)),
            "contact 0: velocity is not finite: NaN"
        );
        let problem = single(&w, &b, &mu);
        assert!(ContactError::check_guess(&problem, &[DVec3::INFINITY]).is_err());
        assert!(ContactProblem::new(&[0], &[], &[], &[], &[]).unwrap().is_empty());
    }
}
