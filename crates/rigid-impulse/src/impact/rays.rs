//! Rays of constant sliding: directions along which a sliding contact keeps its direction.
//!
//! # Reference
//!
//! Mirtich (1996), section 3.4.2 with the substitution corrected to t = tan(θ/2); Arnold (1997), equation 2.30 in
//! its form by angle.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `w` | u′ | change of tangential velocity per normal impulse, s − μ M û | 1/kg |
//! | `radial` | û · u′ | positive on a diverging ray | 1/kg |
//! | `t` | tan(θ/2) | unknown of the quartic | - |
//!
//! # Formula
//!
//! ```text
//! û × u′ = 0:
//! (−fμ−d) t⁴ + (−2(a−b)μ−2e) t³ + 6fμ t² + (2(a−b)μ−2e) t + (d−fμ) = 0
//! sticking stable   ⇒ no diverging ray
//! sticking unstable ⇒ exactly one, where angle(w(θ)) − θ = 0
//! ```
//!
//! # Cost
//!
//! All rays: a quartic, about 1 µs. The diverging ray alone: about ten evaluations of one arc tangent.
//!
//! # Numerics
//!
//! The tangent axes are first turned so that θ = π, where t is infinite, is far from a root. Roots are isolated
//! between the roots of the derivative and polished there by bisection and Newton steps, so none that changes
//! the sign is missed. A double root (two rays about to be born) is found or not, by rounding; it never
//! diverges.
//!
//! # Failure
//!
//! None: without friction, or with nothing that turns the direction, the set is empty.
//!
//! # Tested by
//!
//! `rays_of_the_thesis_figure`, `rays_of_arnolds_figure`, `quartic_and_bisection_find_the_same_ray`,
//! theorems in `tests/theorems.rs`

use super::flow::SlidingFlow;
use sim_math::{glam::DVec2, ops};
use std::f64::consts::PI;

/// A direction that sliding keeps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ray {
    /// Unit vector in the tangent plane.
    pub direction: DVec2,
    /// Growth of the sliding speed per normal impulse, 1/kg: positive on a diverging ray.
    pub radial: f64,
}

impl Ray {
    /// True if sliding along it speeds up.
    #[inline]
    #[must_use]
    pub fn diverges(&self) -> bool {
        self.radial > 0.0
    }
}

/// Up to four rays, by increasing angle in (−π, π].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rays {
    rays: [Ray; 4],
    len: u8,
}

impl Rays {
    /// The rays present.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Ray] {
        &self.rays[..usize::from(self.len)]
    }

    fn push(&mut self, ray: Ray) {
        if let Some(slot) = self.rays.get_mut(usize::from(self.len)) {
            *slot = ray;
            self.len += 1;
        }
    }
}

/// All rays of constant sliding, from the roots of the quartic.
///
/// ```
/// use rigid_impulse::impact::{SlidingFlow, rays};
/// use sim_math::glam::DMat3;
///
/// let k = DMat3::from_cols_array(&[8., -2., 1., -2., 3., -1., 1., -1., 5.]);
/// let rays = rays(&SlidingFlow::new(&k, 0.2));
/// let degrees: Vec<f64> = rays.as_slice().iter().map(|r| r.direction.to_angle().to_degrees().round()).collect();
/// assert_eq!(degrees, [-71.0, 147.0]);
/// assert!(rays.as_slice()[0].diverges() && !rays.as_slice()[1].diverges());
/// ```
#[must_use]
pub fn rays(flow: &SlidingFlow) -> Rays {
    // Look along the direction that turns most: it becomes θ = π.
    let mut away = DVec2::NEG_X;
    let mut most = 0.0;
    for k in 0..8 {
        let (sin, cos) = ops::sin_cos(PI / 4.0 * f64::from(k));
        let dir = DVec2::new(cos, sin);
        let turning = flow.turning_rate(dir).abs();
        if turning > most {
            (away, most) = (dir, turning);
        }
    }
    let mut found = Rays::default();
    if most <= 0.0 {
        return found; // every direction keeps: no isolated ray
    }
    let x_axis = -away;
    let local = turned(flow, x_axis);
    let SlidingFlow { a, b, d, e, f, mu, .. } = local;
    let difference = (a - b) * mu;
    let quartic =
        [d - f * mu, 2.0 * difference - 2.0 * e, 6.0 * f * mu, -2.0 * difference - 2.0 * e, -f * mu - d];
    let (roots, count) = real_roots(&quartic);
    let mut angles = [(0.0, DVec2::ZERO); 4];
    for (slot, &t) in angles.iter_mut().zip(&roots[..count]) {
        let inv = 1.0 / (1.0 + t * t);
        let here = DVec2::new((1.0 - t * t) * inv, 2.0 * t * inv);
        let dir = (x_axis * here.x + x_axis.perp() * here.y).normalize();
        *slot = (ops::atan2(dir.y, dir.x), dir);
    }
    let angles = &mut angles[..count];
    angles.sort_by(|p, q| p.0.total_cmp(&q.0));
    for &(_, direction) in angles.iter() {
        found.push(Ray { direction, radial: flow.radial_rate(direction) });
    }
    found
}

/// The flow seen from tangent axes turned so that `x_axis` is the first.
fn turned(flow: &SlidingFlow, x_axis: DVec2) -> SlidingFlow {
    let y_axis = x_axis.perp();
    let m = |v: DVec2| DVec2::new(flow.a * v.x + flow.f * v.y, flow.f * v.x + flow.b * v.y);
    let s = DVec2::new(flow.e, flow.d);
    SlidingFlow {
        a: x_axis.dot(m(x_axis)),
        b: y_axis.dot(m(y_axis)),
        c: flow.c,
        d: y_axis.dot(s),
        e: x_axis.dot(s),
        f: x_axis.dot(m(y_axis)),
        mu: flow.mu,
    }
}

/// Value and slope of a polynomial with coefficients from the constant up.
fn evaluate(poly: &[f64], t: f64) -> (f64, f64) {
    poly.iter().rev().fold((0.0, 0.0), |(p, dp), &c| (p * t + c, dp * t + p))
}

/// Real roots of a quartic, ascending: those of each derivative separate those of the next.
fn real_roots(quartic: &[f64; 5]) -> ([f64; 4], usize) {
    let mut derivatives = [[0.0; 5]; 4];
    derivatives[3] = *quartic;
    for order in (0..3).rev() {
        for k in 1..=order + 2 {
            derivatives[order][k - 1] = k as f64 * derivatives[order + 1][k];
        }
    }
    // All roots lie within Cauchy's bound; the leading coefficient is |T(π)|, made large by the caller.
    let largest = quartic[..4].iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    let bound = 1.0 + largest / quartic[4].abs();
    let mut separators = [0.0; 4];
    let mut count = 0;
    for (order, poly) in derivatives.iter().enumerate() {
        let poly = &poly[..order + 2];
        let mut roots = [0.0; 4];
        let mut found = 0;
        let mut left = -bound;
        for right in separators[..count].iter().copied().chain([bound]) {
            if let Some(root) = root_between(poly, left, right) {
                roots[found] = root;
                found += 1;
            }
            left = right;
        }
        (separators, count) = (roots, found);
    }
    (separators, count)
}

/// The root of a polynomial that is monotone on an interval, if its sign changes there.
fn root_between(poly: &[f64], mut lo: f64, mut hi: f64) -> Option<f64> {
    let rising = {
        let (at_lo, at_hi) = (evaluate(poly, lo).0, evaluate(poly, hi).0);
        if (at_lo > 0.0) == (at_hi > 0.0) {
            return None;
        }
        at_hi > 0.0
    };
    let mut t = 0.5 * (lo + hi);
    for _ in 0..200 {
        let (value, slope) = evaluate(poly, t);
        if value == 0.0 {
            return Some(t);
        }
        if (value > 0.0) == rising {
            hi = t;
        } else {
            lo = t;
        }
        let newton = t - value / slope;
        // Newton inside the bracket, else halve; stop when the step is below rounding.
        let next = if newton >= lo && newton <= hi { newton } else { 0.5 * (lo + hi) };
        if (next - t).abs() <= 2.0 * f64::EPSILON * t.abs() {
            return Some(next);
        }
        t = next;
    }
    Some(t)
}

/// The diverging ray of a contact whose sticking is unstable, by bracketing angle(w(θ)) − θ, which has one zero.
///
/// For a stable contact there is none, and `None` comes back.
#[must_use]
pub fn diverging_ray(flow: &SlidingFlow) -> Option<Ray> {
    // All w lie in one half plane around s when sticking is unstable, so the angle of w, measured from s, stays
    // inside (−π, π), and at θ = ∓π from s the difference has opposite signs.
    let s = DVec2::new(flow.e, flow.d);
    let length = s.length();
    if length <= 0.0 || super::sticking::critical_friction(flow) <= flow.mu {
        return None;
    }
    let x_axis = s / length;
    let local = turned(flow, x_axis);
    let defect = |angle: f64| {
        let (sin, cos) = ops::sin_cos(angle);
        let w = local.tangential_rate(DVec2::new(cos, sin));
        ops::atan2(w.y, w.x) - angle
    };
    let (mut lo, mut hi) = (-PI, PI);
    let (mut at_lo, mut at_hi) = (defect(lo).max(f64::MIN_POSITIVE), defect(hi).min(-f64::MIN_POSITIVE));
    let mut angle = 0.0;
    for iteration in 0..100 {
        let value = defect(angle);
        if value > 0.0 {
            lo = angle;
            at_lo = value;
            if iteration % 3 != 0 {
                at_hi *= 0.5;
            }
        } else {
            hi = angle;
            at_hi = value;
            if iteration % 3 != 0 {
                at_lo *= 0.5;
            }
        }
        if value == 0.0 || hi - lo <= 4.0 * f64::EPSILON {
            break;
        }
        // The Illinois rule, with a halving now and then so that the bracket surely shrinks.
        let secant = (lo * at_hi - hi * at_lo) / (at_hi - at_lo);
        let next = if iteration % 4 == 3 || !(secant > lo && secant < hi) { 0.5 * (lo + hi) } else { secant };
        if (next - angle).abs() <= 2.0 * f64::EPSILON {
            angle = next;
            break;
        }
        angle = next;
    }
    let (sin, cos) = ops::sin_cos(angle);
    let direction = (x_axis * cos + x_axis.perp() * sin).normalize();
    Some(Ray { direction, radial: flow.radial_rate(direction) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;
    use sim_math::{assert_close, glam::DMat3, testkit::SplitMix64};

    // proves: MIR-49
    #[test]
    fn rays_of_the_thesis_figure() {
        let k = DMat3::from_cols_array(&[8., -2., 1., -2., 3., -1., 1., -1., 5.]);
        let rays = rays(&SlidingFlow::new(&k, 0.2));
        let expected = [(-71.112_685, 0.320_055), (147.001_058, -3.052_102)];
        assert_eq!(rays.as_slice().len(), 2);
        for (ray, (degrees, radial)) in rays.as_slice().iter().zip(expected) {
            assert_close!(ops::atan2(ray.direction.y, ray.direction.x).to_degrees(), degrees, abs = 6e-7);
            assert_close!(ray.radial, radial, abs = 6e-7);
        }
    }

    #[test]
    fn rays_of_arnolds_figure() {
        let k = DMat3::from_cols_array(&[5., -0.5, 0.5, -0.5, 1.5, 1., 0.5, 1., 3.]);
        for (mu, count, angle) in [(0.3, 2, 1.2663), (0.4, 2, 1.2901), (0.7, 4, 1.3328)] {
            let flow = SlidingFlow::new(&k, mu);
            let rays = rays(&flow);
            assert_eq!(rays.as_slice().len(), count, "mu = {mu}");
            let diverging: Vec<&Ray> = rays.as_slice().iter().filter(|r| r.diverges()).collect();
            assert_eq!(diverging.len(), 1);
            let found = diverging[0].direction;
            assert_close!(ops::atan2(found.y, found.x), angle, abs = 6e-5);
        }
        assert_close!(super::super::critical_friction(&SlidingFlow::new(&k, 0.0)), 0.744, abs = 5e-4);
    }

    #[test]
    fn every_root_keeps_its_direction_and_none_is_missed() {
        let mut random = SplitMix64(5);
        for _ in 0..20_000 {
            let flow = SlidingFlow::new(&random_matrix(&mut random, 100.0), random.range(0.0, 3.0));
            let rays = rays(&flow);
            let scale = flow.mu * (flow.a + flow.b) + flow.e.abs() + flow.d.abs();
            for ray in rays.as_slice() {
                assert!(flow.turning_rate(ray.direction).abs() < 1e-13 * scale, "{flow:?} {ray:?}");
            }
            // Sign changes on a fine grid: each must have its ray.
            let turning = |k: u32| {
                let (sin, cos) = ops::sin_cos(2.0 * PI / 720.0 * f64::from(k));
                flow.turning_rate(DVec2::new(cos, sin))
            };
            let changes = (0..720).filter(|&k| (turning(k) > 0.0) != (turning(k + 1) > 0.0)).count();
            assert!(rays.as_slice().len() >= changes, "{flow:?}: {changes} sign changes, {rays:?}");
        }
    }

    #[test]
    fn quartic_and_bisection_find_the_same_ray() {
        let mut random = SplitMix64(6);
        let mut unstable = 0;
        for _ in 0..50_000 {
            let flow = SlidingFlow::new(&random_matrix(&mut random, 100.0), random.range(0.0, 1.0));
            let by_quartic = rays(&flow).as_slice().iter().copied().find(Ray::diverges);
            match diverging_ray(&flow) {
                Some(ray) => {
                    let other = by_quartic.expect("the quartic misses the ray");
                    let conditioning = flow.c / (ray.radial + flow.mu * flow.across(ray.direction));
                    let error = (ray.direction - other.direction).length();
                    assert!(error < 1e-14 * (1.0 + conditioning), "{flow:?}: {error:e}");
                    unstable += 1;
                }
                None => assert!(by_quartic.is_none_or(|r| r.radial < 1e-12), "{flow:?}"),
            }
        }
        assert!(unstable > 5_000, "only {unstable} unstable cases");
    }

    #[test]
    fn without_friction_the_only_rays_are_along_the_coupling() {
        let k = DMat3::from_cols_array(&[8., -2., 1., -2., 3., -1., 1., -1., 5.]);
        let flow = SlidingFlow::new(&k, 0.0);
        let along = DVec2::new(1.0, -1.0).normalize();
        assert!((diverging_ray(&flow).unwrap().direction - along).length() < 1e-15);
        assert_eq!(rays(&flow).as_slice().len(), 2);
        assert!(rays(&SlidingFlow::new(&DMat3::IDENTITY, 0.5)).as_slice().is_empty());
    }
}
