//! Many blocks of rows that share bodies.
//!
//! A problem is the Delassus operator W = J M⁻¹ Jᵀ in 3x3 blocks, and the velocity b that each block would have without impulses. Unknown is one
//! impulse of three numbers per block. Contacts come first, each in its frame: x and y across, z along the normal from B to A; then joints, limits, motors.

use super::{
    certificate::RowCertificate,
    groups::Groups,
    law::{Bounds, Law, Turning},
    solver::RowError,
};
use sim_math::glam::{DMat3, DVec3};

/// Blocks that share bodies: W in block rows, velocities b, and a law for each.
///
/// Wanted are impulses p such that p and u = W p + b obey the law of every block. A restitution, a gap, a target or any other bias is part of b; what a
/// row gives way by compliance is part of the diagonal of W.
#[derive(Debug, Clone, Copy)]
pub struct RowProblem<'a> {
    starts: &'a [u32],
    columns: &'a [u32],
    blocks: &'a [DMat3],
    velocity: &'a [DVec3],
    friction: &'a [f64],
    laws: &'a [Law],
    groups: Option<Groups<'a>>,
    /// Rows are there in full; else the blocks are those of the diagonal, and the groups stand for the others.
    has_rows: bool,
    /// By which share of their size blocks give way, where the groups do not say it.
    softness: f64,
    accuracy: f64,
}

impl<'a> RowProblem<'a> {
    /// From block rows: row c has the blocks `starts[c]..starts[c + 1]`, their columns ascending, the diagonal among them. The first blocks are contacts with
    /// these coefficients of friction, the others have `laws`.
    ///
    /// # Errors
    /// Lengths that do not fit, rows out of order, numbers that are not finite, negative friction or compliance, bounds without zero between them, a block that
    /// nothing gives way at.
    pub fn new(
        starts: &'a [u32],
        columns: &'a [u32],
        blocks: &'a [DMat3],
        velocity: &'a [DVec3],
        friction: &'a [f64],
        laws: &'a [Law],
    ) -> Result<Self, RowError> {
        let n = velocity.len();
        let wrong = |what, expected, got| Err(RowError::WrongLength { what, expected, got });
        if starts.len() != n + 1 {
            return wrong("row starts", n + 1, starts.len());
        }
        if columns.len() != blocks.len() {
            return wrong("block columns", blocks.len(), columns.len());
        }
        if starts.first() != Some(&0) || starts.last().map(|&end| end as usize) != Some(blocks.len()) {
            return wrong("blocks", starts.last().map_or(0, |&end| end as usize), blocks.len());
        }
        let this = Self { starts, columns, has_rows: true, ..Self::bare(blocks, velocity, friction, laws)? };
        for block in 0..n {
            this.check_row(block)?;
        }
        Ok(this)
    }

    /// From groups, without rows: `diagonal` has the response of each block to itself, and the groups, which the caller vouches for, stand for all
    /// others. For solvers that say so ([`RowSolver::needs_rows`](super::RowSolver::needs_rows)); [`RowProblem::row`] has nothing then.
    ///
    /// # Errors
    /// As [`RowProblem::new`].
    pub fn of_groups(
        groups: Groups<'a>,
        diagonal: &'a [DMat3],
        velocity: &'a [DVec3],
        friction: &'a [f64],
        laws: &'a [Law],
    ) -> Result<Self, RowError> {
        let (expected, got) = (velocity.len(), diagonal.len());
        if expected != got {
            return Err(RowError::WrongLength { what: "diagonal blocks", expected, got });
        }
        let this = Self::bare(diagonal, velocity, friction, laws)?;
        for block in 0..expected {
            this.check_numbers(block, &diagonal[block..=block], &diagonal[block])?;
        }
        this.with_groups(groups)
    }

    fn bare(
        blocks: &'a [DMat3],
        velocity: &'a [DVec3],
        friction: &'a [f64],
        laws: &'a [Law],
    ) -> Result<Self, RowError> {
        let (expected, got) = (velocity.len(), friction.len() + laws.len());
        if expected != got {
            return Err(RowError::WrongLength { what: "friction and laws", expected, got });
        }
        let (starts, columns) = (&[][..], &[][..]);
        Ok(Self {
            starts,
            columns,
            blocks,
            velocity,
            friction,
            laws,
            groups: None,
            has_rows: false,
            softness: 0.0,
            accuracy: 0.0,
        })
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

    /// True if [`RowProblem::row`] has all blocks.
    #[inline]
    #[must_use]
    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// What a block gives way by its own impulse beyond what its groups and its compliance do, 1/kg.
    #[inline]
    #[must_use]
    pub fn softness(&self, block: usize) -> f64 {
        if self.softness > 0.0 {
            self.softness / (1.0 + self.softness) * self.size_of(block, &self.blocks[block])
        } else {
            0.0
        }
    }

    fn size_of(&self, block: usize, w: &DMat3) -> f64 {
        if block < self.friction.len() { w.z_axis.z } else { self.law(block).size(w) }
    }

    fn check_row(&self, block: usize) -> Result<(), RowError> {
        let (start, end) = (self.starts[block] as usize, self.starts[block + 1] as usize);
        let columns = self.columns.get(start..end).ok_or(RowError::BadRow { block })?;
        let ordered = columns.windows(2).all(|w| w[0] < w[1]);
        let inside = columns.last().is_none_or(|&last| (last as usize) < self.velocity.len());
        let Ok(diagonal) = columns.binary_search(&(block as u32)) else {
            return Err(RowError::BadRow { block });
        };
        if !(ordered && inside) {
            return Err(RowError::BadRow { block });
        }
        self.check_numbers(block, &self.blocks[start..end], &self.blocks[start + diagonal])
    }

    fn check_numbers(&self, block: usize, blocks: &[DMat3], diagonal: &DMat3) -> Result<(), RowError> {
        let bad = |values: &[f64]| values.iter().copied().find(|x| !x.is_finite());
        for w in blocks {
            if let Some(value) = bad(&w.to_cols_array()) {
                return Err(RowError::NonFinite { what: "entry of W", block, value });
            }
        }
        if let Some(value) = bad(&self.velocity[block].to_array()) {
            return Err(RowError::NonFinite { what: "velocity", block, value });
        }
        let value = self.size_of(block, diagonal);
        if value <= 0.0 {
            return Err(RowError::Immovable { block, value });
        }
        match self.law(block) {
            Law::Cone { friction } if !friction.is_finite() => {
                Err(RowError::NonFinite { what: "friction", block, value: friction })
            }
            Law::Cone { friction } if friction < 0.0 => {
                Err(RowError::Negative { what: "friction", block, value: friction })
            }
            Law::Bounded(bounds) => Self::check_bounds(block, &bounds),
            Law::Turning(turning) => self.check_turning(block, &turning),
            Law::Cone { .. } => Ok(()),
        }
    }

    fn check_turning(&self, block: usize, turning: &Turning) -> Result<(), RowError> {
        let (contact, contacts) = (turning.contact as usize, self.friction.len());
        if contact >= contacts {
            return Err(RowError::NotAContact { block, contact, contacts });
        }
        for (what, value) in
            [("rolling friction", turning.rolling), ("torsional friction", turning.torsional)]
        {
            if !value.is_finite() {
                return Err(RowError::NonFinite { what, block, value });
            }
            if value < 0.0 {
                return Err(RowError::Negative { what, block, value });
            }
        }
        Ok(())
    }

    fn check_bounds(block: usize, bounds: &Bounds) -> Result<(), RowError> {
        for row in 0..3 {
            let (low, high, c) = (bounds.low[row], bounds.high[row], bounds.compliance[row]);
            if !(low <= 0.0 && high >= 0.0) {
                return Err(RowError::BadBounds { block, row, low, high });
            }
            if !c.is_finite() {
                return Err(RowError::NonFinite { what: "compliance", block, value: c });
            }
            if c < 0.0 {
                return Err(RowError::Negative { what: "compliance", block, value: c });
            }
        }
        Ok(())
    }

    /// The same problem with its groups, which the caller vouches for: W = J M⁻¹ Jᵀ.
    ///
    /// # Errors
    /// Lists that do not fit the blocks.
    pub fn with_groups(self, groups: Groups<'a>) -> Result<Self, RowError> {
        match groups.misfit(self.len()) {
            Some((what, expected, got)) => Err(RowError::WrongLength { what, expected, got }),
            None if groups.points() > self.friction.len() => {
                let (expected, got) = (self.friction.len(), groups.points());
                Err(RowError::WrongLength { what: "points", expected, got })
            }
            None => Ok(Self { groups: Some(groups), ..self }),
        }
    }

    /// The same blocks made to give way: each block on the diagonal plus `share` of its size times the identity. Such a problem has a solution of
    /// bounded size even where the given one has none, as for a body between two walls that close.
    #[must_use]
    pub fn softened<'b>(&self, share: f64, blocks: &'b mut Vec<DMat3>) -> RowProblem<'b>
    where
        'a: 'b,
    {
        blocks.clear();
        blocks.extend_from_slice(self.blocks);
        if !self.has_rows {
            for (k, block) in blocks.iter_mut().enumerate() {
                *block += DMat3::from_diagonal(DVec3::splat(share * self.size_of(k, block)));
            }
            return RowProblem { blocks, softness: share, ..*self };
        }
        for k in 0..self.len() {
            let span = self.starts[k] as usize..self.starts[k + 1] as usize;
            for (column, block) in self.columns[span.clone()].iter().zip(&mut blocks[span]) {
                if *column as usize == k {
                    *block += DMat3::from_diagonal(DVec3::splat(share * self.size_of(k, block)));
                }
            }
        }
        RowProblem { blocks, groups: None, ..*self }
    }

    /// The groups, if the caller gave them.
    #[inline]
    #[must_use]
    pub fn groups(&self) -> Option<Groups<'a>> {
        self.groups
    }

    /// Number of blocks.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.velocity.len()
    }

    /// True if there are no blocks.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.velocity.is_empty()
    }

    /// Blocks of row `block` of W with their columns, which ascend; none if there are no rows.
    #[inline]
    pub fn row(&self, block: usize) -> impl Iterator<Item = (usize, &'a DMat3)> + use<'a> {
        let span = match self.starts.get(block..block + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        };
        self.columns[span.clone()].iter().map(|&c| c as usize).zip(&self.blocks[span])
    }

    /// The response of a block to itself, 1/kg.
    #[must_use]
    pub fn diagonal(&self, block: usize) -> DMat3 {
        if !self.has_rows {
            return self.blocks[block];
        }
        self.row(block).find(|(d, _)| *d == block).map_or(DMat3::ZERO, |(_, w)| *w)
    }

    /// How much a block gives way, as one number, 1/kg: see [`Law::size`].
    #[must_use]
    pub fn size(&self, block: usize) -> f64 {
        self.size_of(block, &self.diagonal(block))
    }

    /// Relative velocities b without impulses, m/s.
    #[inline]
    #[must_use]
    pub fn velocity(&self) -> &'a [DVec3] {
        self.velocity
    }

    /// Coefficients of friction of the first blocks, which are contacts.
    #[inline]
    #[must_use]
    pub fn friction(&self) -> &'a [f64] {
        self.friction
    }

    /// Laws of the blocks after them.
    #[inline]
    #[must_use]
    pub fn laws(&self) -> &'a [Law] {
        self.laws
    }

    /// The law of any block.
    #[inline]
    #[must_use]
    pub fn law(&self, block: usize) -> Law {
        match self.friction.get(block) {
            Some(&friction) => Law::Cone { friction },
            None => self.laws[block - self.friction.len()],
        }
    }

    /// The normal impulse that bounds the impulses of a block, N·s: of the contact that its law names; 0 for other laws.
    #[inline]
    #[must_use]
    pub fn load(&self, block: usize, impulses: &[DVec3]) -> f64 {
        self.law(block).contact().map_or(0.0, |contact| impulses[contact].z)
    }

    /// Largest velocity that impulses have to answer, m/s: of slip, approach, or of what joints hold. A gap that stays open, however wide, does not count.
    #[must_use]
    pub fn scale(&self) -> f64 {
        let (contacts, others) = self.velocity.split_at(self.friction.len());
        let wanted = |b: &DVec3| DVec3::new(b.x, b.y, b.z.min(0.0)).length();
        let most = contacts.iter().map(wanted).fold(0.0, f64::max);
        others.iter().zip(self.laws).map(|(b, law)| law.wanted(*b)).fold(most, f64::max)
    }

    /// Velocity u = W p + b of a block, m/s. Without rows it looks at all blocks.
    #[inline]
    #[must_use]
    pub fn relative_velocity(&self, block: usize, impulses: &[DVec3]) -> DVec3 {
        if let Some(groups) = self.groups.filter(|_| !self.has_rows) {
            let mut u = self.velocity[block]
                + groups.response(block, impulses)
                + self.softness(block) * impulses[block];
            if let Law::Bounded(bounds) = self.law(block) {
                u += bounds.compliance * impulses[block];
            }
            return u;
        }
        self.row(block).fold(self.velocity[block], |u, (d, w)| u + *w * impulses[d])
    }

    /// Measures any impulses against the laws, with exact cones. NaN counts as infinite.
    #[must_use]
    pub fn certificate(&self, impulses: &[DVec3]) -> RowCertificate {
        let mut all = RowCertificate::default();
        if impulses.len() != self.len() || impulses.iter().any(|p| !p.is_finite()) {
            return RowCertificate::WORST;
        }
        for (c, &p) in impulses.iter().enumerate() {
            let u = self.relative_velocity(c, impulses);
            match self.friction.get(c) {
                Some(&mu) => all.include(p, u, mu, self.diagonal(c).z_axis.z),
                None => all.include_block(&self.law(c), p, u, &self.diagonal(c), self.load(c, impulses)),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [u32; 2] = [0, 1];

    fn single<'a>(w: &'a [DMat3], b: &'a [DVec3], mu: &'a [f64]) -> RowProblem<'a> {
        RowProblem::new(&ONE, &[0], w, b, mu, &[]).unwrap()
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
    fn rows_of_their_own_are_measured_one_by_one() {
        // x is held, y is a limit that opens, z a motor that cannot reach its speed.
        let bounds = Bounds::HOLD.with(1, 0.0, f64::INFINITY).with(2, -0.5, 0.5);
        let (w, b) = ([DMat3::IDENTITY], [DVec3::new(2.0, 0.3, -1.0)]);
        let laws = [Law::Bounded(bounds)];
        let problem = RowProblem::new(&ONE, &[0], &w, &b, &[], &laws).unwrap();
        let right = problem.certificate(&[DVec3::new(-2.0, 0.0, 0.5)]);
        assert!(right.residual < 1e-15 && right.cone_violation <= 0.0, "{right:?}");
        for wrong in [DVec3::new(-1.9, 0.0, 0.5), DVec3::new(-2.0, 0.1, 0.5), DVec3::new(-2.0, 0.0, 0.4)] {
            assert!(problem.certificate(&[wrong]).residual > 0.01, "{wrong}");
        }
    }

    #[test]
    fn turning_is_measured_with_the_load_of_its_contact() {
        // A contact that bears 1 N·s, rolling and spinning too fast for friction to hold.
        let (w, b) = ([DMat3::IDENTITY; 2], [DVec3::NEG_Z, DVec3::new(0.0, 2.0, -1.0)]);
        let laws = [Law::Turning(Turning { contact: 0, rolling: 0.5, torsional: 0.1 })];
        let problem = RowProblem::new(&[0, 1, 2], &[0, 1], &w, &b, &[0.5], &laws).unwrap();
        let right = problem.certificate(&[DVec3::Z, DVec3::new(0.0, -0.5, 0.1)]);
        assert!(right.residual < 1e-15 && right.cone_violation <= 0.0, "{right:?}");
        for wrong in [DVec3::ZERO, DVec3::new(0.0, -0.4, 0.1), DVec3::new(0.0, -0.5, 0.0), DVec3::NEG_Y] {
            assert!(problem.certificate(&[DVec3::Z, wrong]).residual > 0.01, "{wrong}");
        }
        let wrong = |turning| {
            let laws = [Law::Turning(turning)];
            RowProblem::new(&[0, 1, 2], &[0, 1], &w, &b, &[0.5], &laws).unwrap_err().to_string()
        };
        let fine = Turning { contact: 0, rolling: 0.5, torsional: 0.1 };
        assert_eq!(
            wrong(Turning { contact: 1, ..fine }),
            "block 1: its contact 1 is not one of the 1 contacts"
        );
        assert_eq!(
            wrong(Turning { rolling: -0.5, ..fine }),
            "block 1: rolling friction must not be negative, got -0.5"
        );
        assert!(wrong(Turning { torsional: f64::NAN, ..fine }).contains("torsional friction is not finite"));
    }

    #[test]
    fn bad_problems_are_errors_that_name_the_block() {
        let (w, b, mu) = ([DMat3::IDENTITY], [DVec3::ZERO], [0.5]);
        let text = |r: Result<RowProblem<'_>, RowError>| r.unwrap_err().to_string();
        let of = |starts, columns, w, b, mu| text(RowProblem::new(starts, columns, w, b, mu, &[]));
        assert_eq!(of(&[0], &[0], &w, &b, &mu), "row starts has length 1, expected 2");
        assert!(of(&ONE, &[1], &w, &b, &mu).starts_with("block 0: its row"));
        assert!(of(&ONE, &[0], &w, &b, &[-1.0]).contains("-1"));
        assert!(of(&ONE, &[0], &[DMat3::ZERO], &b, &mu).contains("response 0"));
        let nan = [DVec3::new(0.0, f64::NAN, 0.0)];
        assert_eq!(of(&ONE, &[0], &w, &nan, &mu), "block 0: velocity is not finite: NaN");
        let bounded = |bounds| text(RowProblem::new(&ONE, &[0], &w, &b, &[], &[Law::Bounded(bounds)]));
        assert_eq!(
            bounded(Bounds::HOLD.with(1, 2.0, 3.0)),
            "block 0, row 1: bounds 2 to 3 must be in order and have 0 between them"
        );
        assert!(
            bounded(Bounds { compliance: DVec3::NEG_ONE, ..Bounds::HOLD }).contains("compliance must not")
        );
        assert!(
            text(RowProblem::new(&ONE, &[0], &w, &b, &mu, &[Law::Bounded(Bounds::HOLD)])).contains("laws")
        );
        let problem = single(&w, &b, &mu);
        assert!(RowError::check_guess(&problem, &[DVec3::INFINITY]).is_err());
        assert!(RowProblem::new(&[0], &[], &[], &[], &[], &[]).unwrap().is_empty());
    }
}
