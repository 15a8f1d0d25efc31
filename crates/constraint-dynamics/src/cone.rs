//! One contact with friction, solved exactly.
//!
//! # Reference
//!
//! Coulomb's law in De Saxcé's form; the reduction to one scalar is the trust-region step of Moré and Sorensen (1983).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | W | response of this contact to its own impulse | 1/kg |
//! | q | velocity that it would have without its own impulse | m/s |
//! | S | `W_tt` − `W_tz W_zt / W_zz`: tangential response at constant normal velocity | 1/kg |
//! | α | slip speed over friction impulse | 1/kg |
//!
//! # Formula
//!
//! ```text
//! q_z ≥ 0                      p = 0
//! p = −W⁻¹ q in the cone       sticking
//! else                         sliding: (S + α 1) p_t = −(q_t − W_tz q_z / W_zz),  p_z = −(q_z + W_zt p_t) / W_zz,
//!                              α > 0 with |p_t| = μ p_z
//! ```
//!
//! At α = 0 the left side of |`p_t`| − μ `p_z` is positive, for large α negative: there is always a solution, and the bracket keeps it.
//!
//! # Cost
//!
//! About 30 operations when sticking; 5 to 8 Newton steps of 20 operations when sliding.
//!
//! # Numerics
//!
//! S is diagonalised once per contact; the root is found to rounding. For large friction and skew W there may be several solutions
//! (Painlevé); the one found is a function of the numbers alone.
//!
//! # Failure
//!
//! None for W positive definite; a singular W is shifted by 1e-14 of its trace.
//!
//! # Tested by
//!
//! `the_local_solution_obeys_the_law`, and the conformance kit through all solvers that use it

use sim_math::glam::{DMat3, DVec2, DVec3};

/// A contact prepared for [`LocalContact::solve`].
#[derive(Debug, Clone, Copy)]
pub struct LocalContact {
    inverse: DMat3,
    /// W's last column without its last entry.
    coupling: DVec2,
    w_zz: f64,
    /// Eigenvectors of S as columns, and its eigenvalues.
    axes: [DVec2; 2],
    values: [f64; 2],
    mu: f64,
}

/// Eigenvalues and vectors of [[a, b], [b, c]].
fn eigen2(a: f64, b: f64, c: f64) -> ([f64; 2], [DVec2; 2]) {
    let (mean, half) = (0.5 * (a + c), 0.5 * (a - c));
    let radius = (half * half + b * b).sqrt();
    if radius <= f64::EPSILON * mean.abs() {
        return ([a, c], [DVec2::X, DVec2::Y]);
    }
    // The eigenvector to the larger value, from the better conditioned of two forms.
    let first = if half >= 0.0 { DVec2::new(half + radius, b) } else { DVec2::new(b, radius - half) };
    let first = first / first.length();
    ([mean + radius, mean - radius], [first, DVec2::new(-first.y, first.x)])
}

impl LocalContact {
    /// For a contact with response `w` to itself and friction `mu` ≥ 0.
    #[must_use]
    pub fn new(w: &DMat3, mu: f64) -> Self {
        if mu == 0.0 {
            // The normal entry is all that is needed.
            let (nothing, axes) = (DMat3::ZERO, [DVec2::X, DVec2::Y]);
            return Self {
                inverse: nothing,
                coupling: DVec2::ZERO,
                w_zz: w.z_axis.z,
                axes,
                values: [0.0; 2],
                mu,
            };
        }
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        let mut w = *w;
        let volume = w.determinant();
        let size = trace / 3.0;
        if volume <= 1e-12 * size * size * size {
            w += DMat3::from_diagonal(DVec3::splat(1e-14 * trace));
        }
        let coupling = DVec2::new(w.z_axis.x, w.z_axis.y);
        let w_zz = w.z_axis.z;
        let s = |i: f64, j: f64, entry: f64| entry - i * j / w_zz;
        let (values, axes) = eigen2(
            s(coupling.x, coupling.x, w.x_axis.x),
            s(coupling.x, coupling.y, 0.5 * (w.x_axis.y + w.y_axis.x)),
            s(coupling.y, coupling.y, w.y_axis.y),
        );
        let values = values.map(|x| x.max(1e-14 * trace));
        Self { inverse: w.inverse(), coupling, w_zz, axes, values, mu }
    }

    /// The impulse, given the velocity q that the contact would have without it.
    #[inline]
    #[must_use]
    pub fn solve(&self, q: DVec3) -> DVec3 {
        self.solve_from(q, &mut 0.0)
    }

    /// The same, with the α of an earlier solution as the first guess of this one's.
    #[inline]
    #[must_use]
    pub fn solve_from(&self, q: DVec3, alpha: &mut f64) -> DVec3 {
        if q.z >= 0.0 {
            return DVec3::ZERO;
        }
        if self.mu == 0.0 {
            return DVec3::new(0.0, 0.0, -q.z / self.w_zz);
        }
        let stick = -(self.inverse * q);
        if stick.z >= 0.0 && stick.truncate().length_squared() <= (self.mu * stick.z) * (self.mu * stick.z) {
            return stick;
        }
        self.slide(q, alpha)
    }

    fn slide(&self, q: DVec3, guess: &mut f64) -> DVec3 {
        let r = q.truncate() - self.coupling * (q.z / self.w_zz);
        let along = [r.dot(self.axes[0]), r.dot(self.axes[1])];
        let across = [self.coupling.dot(self.axes[0]), self.coupling.dot(self.axes[1])];
        // |p_t|, p_z and their slopes at α.
        let per_w = 1.0 / self.w_zz;
        let at = |alpha: f64| {
            let give = [1.0 / (self.values[0] + alpha), 1.0 / (self.values[1] + alpha)];
            let t = [-along[0] * give[0], -along[1] * give[1]];
            let d = [-t[0] * give[0], -t[1] * give[1]];
            let z = -(q.z + across[0] * t[0] + across[1] * t[1]) * per_w;
            let z_slope = -(across[0] * d[0] + across[1] * d[1]) * per_w;
            let length = (t[0] * t[0] + t[1] * t[1]).sqrt();
            let slope = if length > 0.0 { (t[0] * d[0] + t[1] * d[1]) / length } else { 0.0 };
            (length - self.mu * z, slope - self.mu * z_slope, t)
        };
        let large = self.values[0].max(self.values[1]);
        let (mut low, mut high, mut alpha) = (0.0_f64, f64::INFINITY, *guess);
        for _ in 0..1200 {
            let (value, slope, _) = at(alpha);
            if value > 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            let newton = alpha - value / slope;
            let inside = newton > low && newton < high;
            let next = match (inside, high < f64::INFINITY) {
                (true, _) => newton,
                (false, true) => 0.5 * (low + high),
                (false, false) => 2.0 * low.max(large),
            };
            let change = (next - alpha).abs();
            if value == 0.0 {
                break;
            }
            alpha = next;
            // Newton's method doubles the digits.
            if (inside && change <= 1e-8 * next) || change <= 1e-15 * next {
                break;
            }
        }
        *guess = alpha;
        let t = at(alpha).2;
        let tangential = self.axes[0] * t[0] + self.axes[1] * t[1];
        // The normal impulse from the cone itself: the result is inside it to the last bit but one.
        let z = (-(q.z + self.coupling.dot(tangential)) / self.w_zz).max(0.0);
        let length = tangential.length();
        if length > self.mu * z {
            (tangential * (self.mu * z / length)).extend(z)
        } else {
            tangential.extend(z)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;
    use sim_traits::testkit::contact_solver::Owned;

    #[test]
    fn the_local_solution_obeys_the_law() {
        let mut random = SplitMix64(7);
        let mut slid = 0;
        for k in 0..20_000 {
            let owned = Owned::random(1, &mut random);
            let mu = [0.0, 0.1, 0.5, 1.0, 3.0][k % 5];
            let single = Owned { friction: vec![mu], ..owned };
            let problem = single.problem().unwrap();
            let p = LocalContact::new(&single.blocks[0], mu).solve(single.velocity[0]);
            let found = problem.certificate(&[p]);
            let scale = single.velocity[0].length();
            assert!(found.residual <= 1e-12 * scale, "μ = {mu}: {found:?}, p = {p}");
            assert!(found.cone_violation <= 1e-15 * p.length());
            slid += u32::from(p.z > 0.0 && p.truncate().length() > 0.999_999 * mu * p.z);
        }
        assert!(slid > 5000, "sliding is tried often: {slid}");
    }

    #[test]
    fn two_by_two_eigenvectors_diagonalise() {
        let mut random = SplitMix64(8);
        for _ in 0..1000 {
            let v = random.vec3(1.0);
            let (values, axes) = eigen2(v.x, v.y, v.z);
            for k in 0..2 {
                let image = DVec2::new(v.x * axes[k].x + v.y * axes[k].y, v.y * axes[k].x + v.z * axes[k].y);
                assert!((image - axes[k] * values[k]).length() < 1e-14);
            }
            assert!(axes[0].dot(axes[1]).abs() < 1e-15);
        }
    }
}
