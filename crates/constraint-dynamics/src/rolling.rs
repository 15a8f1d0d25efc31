//! Rolling and torsional friction of one contact, exactly, with all other impulses as they are.
//!
//! # Reference
//!
//! The quadratic problem of a disc is the trust-region step of Moré and Sorensen (1983), as in [`cone`](crate::cone); the bounds are those of
//! [`Turning`].
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | W | response of the block to itself | 1/(kg·m²) |
//! | q | angular velocity without the impulse of the block: x, y across, z about the normal | rad/s |
//! | r, s | largest impulses across and about the normal | N·m·s |
//!
//! # Formula
//!
//! ```text
//! p = arg min ½ pᵀ W p + qᵀ p  over  |p_xy| ≤ r, |p_z| ≤ s
//! z free:   (W_tt − W_tz W_zt/W_zz + α 1) p_t = −(q_t − W_tz q_z/W_zz),   p_z = −(q_z + W_zt p_t)/W_zz
//! z = ±s:   (W_tt + α 1) p_t = −(q_t ± W_tz s),                           α ≥ 0, α = 0 or |p_t| = r
//! ```
//!
//! The least value over `p_t` is a convex function of `p_z`: where its minimum lies beyond a bound, the bound is the answer.
//!
//! # Cost
//!
//! At most two discs, each a root of one unknown.
//!
//! # Numerics
//!
//! Eigenvalues of at least 10⁻¹⁴ of the trace.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `turning_obeys_its_law`, and the conformance kit through all solvers

use crate::cone::{Sliding, eigen2};
use sim_math::glam::{DMat3, DVec2, DVec3};
use sim_traits::Turning;

/// Smallest eigenvalue, as a share of the trace.
const LEAST: f64 = 1e-14;

/// A quadratic form on a disc.
#[derive(Debug, Clone, Copy)]
struct Disc {
    values: [f64; 2],
    axes: [DVec2; 2],
}

impl Disc {
    /// Of [[a, b], [b, c]], with eigenvalues of at least `least`.
    fn new(a: f64, b: f64, c: f64, least: f64) -> Self {
        let (values, axes) = eigen2(a, b, c);
        Self { values: values.map(|value| value.max(least)), axes }
    }

    /// Where ½ tᵀ A t + qᵀ t is least within a radius.
    fn solve(&self, q: DVec2, radius: f64) -> DVec2 {
        if radius <= 0.0 {
            return DVec2::ZERO;
        }
        let r = self.axes.map(|axis| axis.dot(q));
        let free = [-r[0] / self.values[0], -r[1] / self.values[1]];
        let t = if free[0] * free[0] + free[1] * free[1] <= radius * radius {
            free
        } else {
            // A cone whose normal impulse is 1.
            Sliding::fixed(self.values, radius).solve(r, -1.0, &mut 0.0).0
        };
        self.axes[0] * t[0] + self.axes[1] * t[1]
    }
}

/// Rolling and torsional friction prepared for [`LocalTurning::solve`].
#[derive(Debug, Clone, Copy)]
pub struct LocalTurning {
    turning: Turning,
    /// W's last column without its last entry, and that.
    coupling: DVec2,
    about: f64,
    /// With the row z as it is, and where it gives way.
    held: Disc,
    eased: Disc,
}

impl LocalTurning {
    /// For a law and the response of its block to itself.
    #[must_use]
    pub fn new(turning: &Turning, w: &DMat3) -> Self {
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        let least = (LEAST * trace).max(f64::MIN_POSITIVE);
        let coupling = 0.5 * DVec2::new(w.z_axis.x + w.x_axis.z, w.z_axis.y + w.y_axis.z);
        let about = w.z_axis.z.max(least);
        let across = [w.x_axis.x, 0.5 * (w.x_axis.y + w.y_axis.x), w.y_axis.y];
        let [a, b, c] = across;
        let s = |i: f64, j: f64| i * j / about;
        Self {
            turning: *turning,
            coupling,
            about,
            held: Disc::new(a, b, c, least),
            eased: Disc::new(
                a - s(coupling.x, coupling.x),
                b - s(coupling.x, coupling.y),
                c - s(coupling.y, coupling.y),
                least,
            ),
        }
    }

    /// The contact whose normal impulse is the load.
    #[must_use]
    pub(crate) fn contact(&self) -> usize {
        self.turning.contact as usize
    }

    /// The impulse, given the angular velocity q without it and the normal impulse of the contact.
    #[must_use]
    pub fn solve(&self, q: DVec3, load: f64) -> DVec3 {
        let [across, about] = self.turning.bounds(load);
        let q_t = q.truncate();
        let t = self.eased.solve(q_t - self.coupling * (q.z / self.about), across);
        let z = -(q.z + self.coupling.dot(t)) / self.about;
        if z.abs() <= about {
            return t.extend(z);
        }
        let z = z.clamp(-about, about);
        self.held.solve(q_t + self.coupling * z, across).extend(z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;
    use sim_traits::{Law, RowCertificate};

    #[test]
    fn turning_obeys_its_law() {
        let mut random = SplitMix64(23);
        let mut met = [0; 4];
        for k in 0..20_000 {
            let mut w = DMat3::ZERO;
            for j in 0..3 {
                let v = random.vec3(1.0);
                w += DMat3::from_cols(v * v.x, v * v.y, v * v.z) * (1.0 + f64::from(j));
            }
            let (rolling, torsional) = ([0.0, 0.3, 2.0][k % 3], [0.0, 0.1, 1.0, 5.0][k % 4]);
            let turning = Turning { contact: 0, rolling, torsional };
            let (q, load) = (random.vec3(1.0), random.range(-0.1, 1.0));
            let p = LocalTurning::new(&turning, &w).solve(q, load);
            let mut found = RowCertificate::default();
            found.include_block(&Law::Turning(turning), p, q + w * p, &w, load);
            assert!(found.cone_violation <= 1e-12, "{k}: {found:?}");
            // What rows lack that nothing may push is not looked at.
            if rolling > 0.0 && torsional > 0.0 {
                assert!(found.residual <= 1e-8, "{k}: {turning:?} {found:?}");
            }
            let bounds = turning.bounds(load);
            let at = [p.truncate().length() >= 0.999 * bounds[0], p.z.abs() >= 0.999 * bounds[1]];
            met[usize::from(at[0]) + 2 * usize::from(at[1])] += 1;
        }
        assert!(met.iter().all(|&count| count > 500), "all four cases are tried often: {met:?}");
    }

    #[test]
    fn no_other_impulse_is_better() {
        let mut random = SplitMix64(24);
        for _ in 0..300 {
            let mut w = DMat3::IDENTITY * 0.05;
            for _ in 0..3 {
                let v = random.vec3(1.0);
                w += DMat3::from_cols(v * v.x, v * v.y, v * v.z);
            }
            let turning = Turning { contact: 0, rolling: 0.4, torsional: 0.3 };
            let q = random.vec3(1.0);
            let value = |p: DVec3| 0.5 * p.dot(w * p) + q.dot(p);
            let best = value(LocalTurning::new(&turning, &w).solve(q, 1.0));
            for _ in 0..200 {
                assert!(value(turning.clamp(random.vec3(0.8), 1.0)) >= best - 1e-12);
            }
        }
    }
}
