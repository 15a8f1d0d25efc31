//! What the impulse p of a block of three rows and its velocity u obey.

use sim_math::glam::{DMat3, DVec3};

/// A law of three rows. A block of fewer rows has bounds of zero for those that it does not use.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Law {
    /// Contact with Coulomb friction; rows are two tangents and the normal: 0 ≤ `p_z` ⊥ `u_z` ≥ 0, |`p_t`| ≤ μ `p_z`, and `p_t` = −μ `p_z` `u_t`/|`u_t`|
    /// where `u_t` ≠ 0.
    Cone {
        /// Coefficient of friction μ.
        friction: f64,
    },
    /// Each row on its own: equality, one-sided or bounded.
    Bounded(Bounds),
}

/// Between which impulses a row keeps u + c p at zero; it may be positive at the lower bound and negative at the upper one.
///
/// | law | low | high |
/// |---|---|---|
/// | equality | −∞ | ∞ |
/// | one-sided: a limit, a rope | 0 | ∞ |
/// | motor, dry friction | −most | most |
/// | row that is not there | 0 | 0 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Least impulses, N·s or N·m·s; −∞ where there is none.
    pub low: DVec3,
    /// Largest impulses.
    pub high: DVec3,
    /// Compliance c: how much a row gives way by its own impulse beyond what its bodies do, 1/kg or 1/(kg·m²).
    pub compliance: DVec3,
}

impl Bounds {
    /// No rows yet.
    pub const NONE: Self = Self { low: DVec3::ZERO, high: DVec3::ZERO, compliance: DVec3::ZERO };
    /// Three equalities.
    pub const HOLD: Self = Self { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY, compliance: DVec3::ZERO };

    /// The same with bounds of one row.
    #[must_use]
    pub fn with(mut self, row: usize, low: f64, high: f64) -> Self {
        (self.low[row], self.high[row]) = (low, high);
        self
    }

    /// True if any impulse may keep the row at zero.
    #[inline]
    #[must_use]
    pub fn holds(&self, row: usize) -> bool {
        self.low[row] == f64::NEG_INFINITY && self.high[row] == f64::INFINITY
    }

    /// True if the row can have an impulse.
    #[inline]
    #[must_use]
    pub fn is_used(&self, row: usize) -> bool {
        self.low[row] < self.high[row]
    }

    /// The nearest impulse within the bounds.
    #[inline]
    #[must_use]
    pub fn clamp(&self, p: DVec3) -> DVec3 {
        p.max(self.low).min(self.high)
    }
}

/// The point of the cone |`p_t`| ≤ μ `p_z` that is nearest to p. The polar cone goes first: without friction the cone is a ray, and behind its tip is
/// not inside.
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

impl Law {
    /// The admissible impulse that is nearest to p.
    #[inline]
    #[must_use]
    pub fn project(&self, p: DVec3) -> DVec3 {
        match self {
            Self::Cone { friction } => project_on_cone(p, *friction),
            Self::Bounded(bounds) => bounds.clamp(p),
        }
    }

    /// The part of a velocity without impulses that impulses have to answer, m/s.
    #[inline]
    #[must_use]
    pub fn wanted(&self, b: DVec3) -> f64 {
        match self {
            Self::Cone { .. } => DVec3::new(b.x, b.y, b.z.min(0.0)).length(),
            Self::Bounded(bounds) => {
                let of = |row: usize| match (bounds.low[row] < 0.0, bounds.high[row] > 0.0) {
                    (true, true) => b[row].abs(),
                    (true, false) => b[row].max(0.0),
                    (false, true) => (-b[row]).max(0.0),
                    (false, false) => 0.0,
                };
                DVec3::new(of(0), of(1), of(2)).length()
            }
        }
    }

    /// How much a block gives way, as one number: `W_zz` of a contact, the mean of the diagonal over the rows that others use, 1/kg.
    #[inline]
    #[must_use]
    pub fn size(&self, w: &DMat3) -> f64 {
        match self {
            Self::Cone { .. } => w.z_axis.z,
            Self::Bounded(bounds) => {
                let used = (0..3).filter(|&row| bounds.is_used(row));
                let (sum, count) = used.fold((0.0, 0.0), |(s, n), row| (s + w.col(row)[row], n + 1.0));
                if count > 0.0 { sum / count } else { 0.0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn bounds_say_what_a_row_is() {
        let mixed = Bounds::HOLD.with(1, 0.0, f64::INFINITY).with(2, 0.0, 0.0);
        assert!(mixed.holds(0) && !mixed.holds(1) && mixed.is_used(1) && !mixed.is_used(2));
        assert_eq!(mixed.clamp(DVec3::new(-3.0, -2.0, 5.0)), DVec3::new(-3.0, 0.0, 0.0));
        // Equalities answer both ways, limits one way only, rows that are not there none.
        let law = Law::Bounded(mixed);
        assert_eq!(law.wanted(DVec3::new(3.0, -4.0, 7.0)), 5.0);
        assert_eq!(law.wanted(DVec3::new(-3.0, 4.0, 7.0)), 3.0);
        assert_eq!(law.size(&DMat3::from_diagonal(DVec3::new(1.0, 3.0, 100.0))), 2.0);
    }
}
