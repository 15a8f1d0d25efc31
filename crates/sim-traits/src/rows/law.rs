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
    /// Rolling and torsional friction of a contact.
    Turning(Turning),
}

/// Friction against turning at a contact. Rows are the relative angular velocity across (x and y, rolling) and about the normal (z, torsion).
///
/// With the normal impulse N of the contact: |`p_xy`| ≤ `rolling` N, and `p_xy` = −`rolling` N `u_xy`/|`u_xy`| where `u_xy` ≠ 0; `p_z` the same with
/// `torsional`. Sliding, rolling and torsion are three laws and not one ellipsoid: their coefficients are measured one by one, and a ball that slides
/// rolls as heavily as one that does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turning {
    /// Number of the contact, which is one of the first blocks.
    pub contact: u32,
    /// Most impulse of the rows x and y together per normal impulse: a length (m) for rows in rad/s.
    pub rolling: f64,
    /// Most impulse of the row z per normal impulse.
    pub torsional: f64,
}

impl Turning {
    /// The nearest impulse within the bounds that a normal impulse gives.
    #[must_use]
    pub fn clamp(&self, p: DVec3, load: f64) -> DVec3 {
        let [across, about] = self.bounds(load);
        let (t, size) = (p.truncate(), p.truncate().length());
        let t = if size > across { t * (across / size) } else { t };
        t.extend(p.z.clamp(-about, about))
    }

    /// Largest impulses across and about the normal under a normal impulse, which counts as zero if it pulls.
    #[inline]
    #[must_use]
    pub fn bounds(&self, load: f64) -> [f64; 2] {
        let load = load.max(0.0);
        [self.rolling * load, self.torsional * load]
    }

    /// True if the row can have an impulse.
    #[inline]
    #[must_use]
    pub fn is_used(&self, row: usize) -> bool {
        (if row < 2 { self.rolling } else { self.torsional }) > 0.0
    }

    /// What the rows x and y give way, and what the row z does: the mean of the entries of the diagonal.
    #[must_use]
    pub fn responses(w: &DMat3) -> [f64; 2] {
        [0.5 * (w.x_axis.x + w.y_axis.y), w.z_axis.z]
    }
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

/// Mean entry of the diagonal over some rows; 0 if there are none.
fn mean_response(w: &DMat3, used: impl Fn(usize) -> bool) -> f64 {
    let used = (0..3).filter(|&row| used(row));
    let (sum, count) = used.fold((0.0, 0.0), |(s, n), row| (s + w.col(row)[row], n + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

impl Law {
    /// The admissible impulse that is nearest to p. `load` is the normal impulse of the contact that the law names (see [`Law::contact`]); others do
    /// not ask for it.
    #[inline]
    #[must_use]
    pub fn project(&self, p: DVec3, load: f64) -> DVec3 {
        match self {
            Self::Cone { friction } => project_on_cone(p, *friction),
            Self::Bounded(bounds) => bounds.clamp(p),
            Self::Turning(turning) => turning.clamp(p, load),
        }
    }

    /// The contact whose normal impulse bounds the impulses of this block, if it has one.
    #[inline]
    #[must_use]
    pub fn contact(&self) -> Option<usize> {
        match self {
            Self::Turning(turning) => Some(turning.contact as usize),
            _ => None,
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
            Self::Turning(turning) => {
                let of = |row: usize| if turning.is_used(row) { b[row] } else { 0.0 };
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
            Self::Bounded(bounds) => mean_response(w, |row| bounds.is_used(row)),
            Self::Turning(turning) => mean_response(w, |row| turning.is_used(row)),
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

    #[test]
    fn turning_is_bounded_by_the_load() {
        let law = Law::Turning(Turning { contact: 7, rolling: 0.5, torsional: 0.1 });
        assert_eq!(law.contact(), Some(7));
        // Across a disc, about the normal an interval; no load, no friction.
        assert!((law.project(DVec3::new(3.0, 4.0, -5.0), 2.0) - DVec3::new(0.6, 0.8, -0.2)).length() < 1e-15);
        assert_eq!(law.project(DVec3::new(0.3, 0.4, 0.1), 2.0), DVec3::new(0.3, 0.4, 0.1));
        assert_eq!(law.project(DVec3::ONE, -1.0), DVec3::ZERO);
        let spin = Law::Turning(Turning { contact: 0, rolling: 0.0, torsional: 0.1 });
        assert_eq!(spin.wanted(DVec3::new(3.0, 4.0, -5.0)), 5.0);
        assert_eq!(spin.size(&DMat3::from_diagonal(DVec3::new(1.0, 3.0, 100.0))), 100.0);
    }
}
