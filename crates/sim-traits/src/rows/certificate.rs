//! How well impulses obey their laws.

use super::law::{Law, Turning, project_on_cone};
use sim_math::glam::{DMat3, DVec3};

/// How well impulses obey the laws of their blocks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RowCertificate {
    /// Largest distance of a block from obeying its law, as a velocity, m/s: zero exactly for solutions.
    pub residual: f64,
    /// Largest |`p_t`| − μ `p_z`, −`p_z`, or way beyond a bound, N·s or N·m·s; at most 0 for admissible impulses.
    pub cone_violation: f64,
    /// Largest speed of approach left, of contacts and limits, m/s; at most 0 if none approaches.
    pub approach: f64,
    /// Largest |`p_z` `u_z`| of a contact, or |p u| of a limit, J: one that both pushes and parts.
    pub gap_power: f64,
}

/// Share of the mean entry of the diagonal that a row counts as giving way at least: rows that nothing can move, as those of a loop that is held
/// twice, are no reason to divide by zero.
const LEAST: f64 = 1e-12;

impl RowCertificate {
    /// That of no impulses at all.
    pub(crate) const WORST: Self = Self {
        residual: f64::INFINITY,
        cone_violation: f64::INFINITY,
        approach: f64::INFINITY,
        gap_power: f64::INFINITY,
    };

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

    /// Takes one more block in, with its impulse, its velocity (what it gives way by compliance included), its response to itself, and the normal
    /// impulse of the contact that its law names, if it names one. NaN counts as infinite.
    pub fn include_block(&mut self, law: &Law, p: DVec3, u: DVec3, w: &DMat3, load: f64) {
        let bounds = match law {
            Law::Bounded(bounds) => bounds,
            Law::Cone { friction } => return self.include(p, u, *friction, w.z_axis.z),
            Law::Turning(turning) => return self.include_turning(turning, p, u, w, load),
        };
        let least = LEAST * law.size(w);
        for row in (0..3).filter(|&row| bounds.is_used(row)) {
            let (low, high) = (bounds.low[row], bounds.high[row]);
            let response = w.col(row)[row].max(least);
            let target = (p[row] - u[row] / response).clamp(low, high);
            let residual = if bounds.holds(row) { u[row].abs() } else { (p[row] - target).abs() * response };
            self.residual = self.residual.max(if residual.is_nan() { f64::INFINITY } else { residual });
            self.cone_violation = self.cone_violation.max(low - p[row]).max(p[row] - high);
            if low == 0.0 && high == f64::INFINITY {
                self.approach = self.approach.max(-u[row]);
                self.gap_power = self.gap_power.max((p[row] * u[row]).abs());
            }
        }
    }

    fn include_turning(&mut self, turning: &Turning, p: DVec3, u: DVec3, w: &DMat3, load: f64) {
        let least = LEAST * Law::Turning(*turning).size(w);
        let [across, about] = Turning::responses(w).map(|w| w.max(least));
        let target = p - DVec3::new(u.x / across, u.y / across, u.z / about);
        let off = p - turning.clamp(target, load);
        let residual = (off.truncate().length() * across).max(off.z.abs() * about);
        self.residual = self.residual.max(if residual.is_nan() { f64::INFINITY } else { residual });
        let bounds = turning.bounds(load);
        let beyond = (p.truncate().length() - bounds[0]).max(p.z.abs() - bounds[1]);
        self.cone_violation = self.cone_violation.max(beyond);
    }
}
