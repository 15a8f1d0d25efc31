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
//! About 30 operations when sticking; 3 to 5 Newton steps of 30 operations when sliding.
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
    /// Eigenvectors of S as columns.
    axes: [DVec2; 2],
    sliding: Sliding,
}

/// What a sliding contact depends on, along the eigenvectors of S.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sliding {
    /// Eigenvalues of S.
    pub(crate) values: [f64; 2],
    /// `W_tz`.
    across: [f64; 2],
    pub(crate) w_zz: f64,
    pub(crate) mu: f64,
}

impl Sliding {
    /// A normal impulse of 1 that nothing changes: the disc |`p_t`| = `radius` of the form with these eigenvalues, if `q_z` is −1.
    pub(crate) fn fixed(values: [f64; 2], radius: f64) -> Self {
        Self { values, across: [0.0; 2], w_zz: 1.0, mu: radius }
    }

    /// The impulse along both eigenvectors and the normal, given `r` = `q_t` − `W_tz q_z / W_zz` and `q_z` < 0. Starts from the α of an earlier solution, or
    /// from 0, and leaves its own.
    #[inline(never)]
    pub(crate) fn solve(&self, r: [f64; 2], q_z: f64, guess: &mut f64) -> ([f64; 2], f64) {
        let per_w = 1.0 / self.w_zz;
        let normal = |t: [f64; 2]| -(q_z + self.across[0] * t[0] + self.across[1] * t[1]) * per_w;
        let give = |alpha: f64| self.values.map(|value| 1.0 / (value + alpha));
        let (mut low, mut high, mut alpha) = (0.0_f64, f64::INFINITY, *guess);
        for _ in 0..1200 {
            let give = give(alpha);
            let t = [-r[0] * give[0], -r[1] * give[1]];
            let square = t[0] * t[0] + t[1] * t[1];
            let (length, most) = (square.sqrt(), self.mu * normal(t));
            if length > most {
                low = alpha;
            } else {
                high = alpha;
            }
            // Newton's method for 1/|p_t| − 1/(μ p_z), which is nearly straight.
            let slope = [t[0] * give[0], t[1] * give[1]];
            let of_length = t[0] * slope[0] + t[1] * slope[1];
            let of_most = self.mu * per_w * (self.across[0] * slope[0] + self.across[1] * slope[1]);
            let bend = of_most * square * length + of_length * most * most;
            let newton = alpha + (length - most) * square * most / bend;
            let inside = most > 0.0 && newton > low && newton < high;
            let next = match (inside, high < f64::INFINITY) {
                (true, _) => newton,
                (false, true) => 0.5 * (low + high),
                (false, false) => 2.0 * low.max(self.values[0]).max(self.values[1]),
            };
            let change = (next - alpha).abs();
            if length - most == 0.0 {
                break;
            }
            alpha = next;
            // Newton's method doubles the digits.
            if (inside && change <= 1e-8 * next) || change <= 1e-15 * next {
                break;
            }
        }
        *guess = alpha;
        let give = give(alpha);
        let t = [-r[0] * give[0], -r[1] * give[1]];
        // The normal impulse from the cone itself: the result is inside it to the last bit but one.
        let z = normal(t).max(0.0);
        let (length, most) = ((t[0] * t[0] + t[1] * t[1]).sqrt(), self.mu * z);
        if length > most { (t.map(|t| t * (most / length)), z) } else { (t, z) }
    }
}

/// Eigenvalues and vectors of [[a, b], [b, c]].
pub(crate) fn eigen2(a: f64, b: f64, c: f64) -> ([f64; 2], [DVec2; 2]) {
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
            let sliding = Sliding { values: [0.0; 2], across: [0.0; 2], w_zz: w.z_axis.z, mu };
            return Self { inverse: DMat3::ZERO, coupling: DVec2::ZERO, axes: DVec2::AXES, sliding };
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
        let sliding = Sliding { values, across: axes.map(|axis| axis.dot(coupling)), w_zz, mu };
        Self { inverse: w.inverse(), coupling, axes, sliding }
    }

    /// W⁻¹, the eigenvectors of S, and what sliding depends on.
    pub(crate) fn parts(&self) -> (&DMat3, [DVec2; 2], &Sliding) {
        (&self.inverse, self.axes, &self.sliding)
    }

    /// The impulse, given the velocity q that the contact would have without it.
    #[inline]
    #[must_use]
    pub fn solve(&self, q: DVec3) -> DVec3 {
        let Sliding { w_zz, mu, .. } = self.sliding;
        if q.z >= 0.0 {
            return DVec3::ZERO;
        }
        if mu == 0.0 {
            return DVec3::new(0.0, 0.0, -q.z / w_zz);
        }
        let stick = -(self.inverse * q);
        if stick.z >= 0.0 && stick.truncate().length_squared() <= (mu * stick.z) * (mu * stick.z) {
            return stick;
        }
        let r = q.truncate() - self.coupling * (q.z / w_zz);
        let (t, z) = self.sliding.solve(self.axes.map(|axis| axis.dot(r)), q.z, &mut 0.0);
        (self.axes[0] * t[0] + self.axes[1] * t[1]).extend(z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;
    use sim_traits::testkit::row_solver::Owned;

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
