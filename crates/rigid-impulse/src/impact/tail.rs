//! The last stretch of sliding: close to a ray of constant sliding the rest of the path has a closed form.
//!
//! # Reference
//!
//! Polar form of the sliding flow (Mirtich 1996, section 3.4), d ln r/dθ = R/T, linearised about an attracting ray.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `ray`, `across` | û\*, û\*⊥: direction of the ray and its normal | - |
//! | `angle` | ε, angle from the ray now | rad |
//! | `x` | sliding speed over its present value: to 0 along a converging ray, to ∞ along a diverging one | - |
//! | `length` | L = r/R\*, normal impulse per x, signed | N·s |
//! | `beta` | β = T′/R\* | - |
//! | `bend`, `bow`, `turn` | R′/R\*, ½R″/R\*, ½T″/T′ | - |
//!
//! # Formula
//!
//! ```text
//! R′ = −μ û·Mû⊥   T″ = 3 μ û·Mû⊥   R″ = T′ − μ (û⊥·Mû⊥ − û·Mû)       on the ray
//! δ(x)     = (ε − κε²) x^β + κε² x^{2β},  κ = ½T″/T′ − R′/R*
//! dp_z     = L (1 − (R′/R*) δ + ((R′/R*)² − ½R″/R*) δ²) dx
//! p_t      = −μ ∫ (û* cos δ + û⊥* sin δ) dp_z
//! W_z      = ½ (u + u₀)·p + μ ∫ r x dp_z
//! ```
//!
//! # Cost
//!
//! One power per evaluation; about three evaluations where a phase ends within the stretch, else one.
//!
//! # Numerics
//!
//! Exact to second order in ε; used when ε³ times the length of the stretch is below the tolerance.
//!
//! # Failure
//!
//! `None` where the direction is not attracted to a ray, or not near enough.
//!
//! # Tested by
//!
//! `the_closed_form_is_of_third_order`, and the comparisons with the reference in `tests/`

use super::{
    flow::SlidingFlow,
    restitution::{Goal, Progress},
};
use sim_math::{
    glam::{DVec2, DVec3},
    ops,
};

/// Closed form of sliding near a ray.
pub(crate) struct Tail<'a> {
    flow: &'a SlidingFlow,
    start: Progress,
    speed: f64,
    ray: DVec2,
    across: DVec2,
    angle: f64,
    length: f64,
    beta: f64,
    /// Coefficients of `x^β` and `x^{2β}` in `dp_z`/(L dx), and in sin δ times it.
    along: [f64; 2],
    aside: [f64; 2],
    /// `du_z`/`dp_z` along the ray, and its change per angle.
    normal: [f64; 2],
}

/// Where the tail ended.
pub(crate) enum TailEnd {
    /// The collision is over.
    Done,
    /// Sliding stopped.
    Stopped,
    /// No end found: integrate on from where the tail got to, perhaps past the end of compression.
    Unknown,
}

/// A point of the tail.
struct Place {
    u: DVec3,
    p: DVec3,
    w: f64,
    /// `dp_z`/dx and `du_z`/`dp_z` here.
    rate: f64,
    normal: f64,
}

impl<'a> Tail<'a> {
    /// The tail from the present state, if the direction is close enough to an attracting ray.
    #[inline]
    pub(crate) fn new(
        flow: &'a SlidingFlow,
        dir: DVec2,
        speed: f64,
        start: &Progress,
        tolerance: f64,
    ) -> Option<Self> {
        let radial = flow.radial_rate(dir);
        let slope = -radial - flow.mu * flow.across(dir);
        let turning = flow.turning_rate(dir);
        // Angle to the ray by one Newton step; most directions are refused here.
        if !(slope < 0.0 && turning.abs() <= -0.05 * slope) {
            return None;
        }
        let first = -turning / slope;
        let (ray, angle) = nearest_ray(flow, dir, first)?;
        let radial = flow.radial_rate(ray);
        let (side, skew) = (flow.mu * flow.across(ray), flow.mu * flow.skew(ray));
        let slope = -radial - side;
        if radial.abs() < 1e-6 * (flow.c - slope) || slope >= 0.0 {
            return None;
        }
        let inv = 1.0 / radial;
        let length = speed * inv;
        let ahead = flow.mu * (flow.a + flow.b) - side; // μ û·Mû
        let (bend, bow, turn) = (-skew * inv, 0.5 * (slope - side + ahead) * inv, 1.5 * skew / slope);
        // How long the stretch is in normal impulse: to the end of sliding, or about as long as the collision.
        let stretch = if radial < 0.0 { -length } else { 2.0 / flow.c };
        let relative = angle.abs() * (1.0 + bend.abs() + turn.abs() + bow.abs().sqrt());
        if relative * relative * angle.abs() * stretch > tolerance || relative > 0.1 {
            return None;
        }
        let square = angle * angle;
        let kappa = turn - bend;
        let (d1, d2) = (angle - kappa * square, kappa * square);
        let coupling = -flow.mu * (flow.e * -ray.y + flow.d * ray.x);
        Some(Self {
            flow,
            start: *start,
            speed,
            ray,
            across: ray.perp(),
            angle,
            length,
            beta: slope * inv,
            along: [-bend * d1, (bend * bend - bow) * square - bend * d2],
            aside: [d1, d2 - bend * square],
            normal: [flow.normal_rate(ray), coupling],
        })
    }

    /// State where the sliding speed is `x` times that at the start.
    fn at(&self, x: f64) -> Place {
        // x^β once; x^{1+β} and so on from it. At x = 0 only converging rays are asked, where 1 + β > 0.
        let power = if x > 0.0 { ops::exp(self.beta * ops::ln(x)) } else { 0.0 };
        let (two, four) = (power * power, 1.0 + 2.0 * self.beta);
        let first = (x * power - 1.0) / (1.0 + self.beta);
        let second = (x * two - 1.0) / four;
        let p_z = self.length * (x - 1.0 + self.along[0] * first + self.along[1] * second);
        let side = self.length * (self.aside[0] * first + self.aside[1] * second);
        let ahead = p_z - 0.5 * self.length * self.angle * self.angle * second;
        let p = ((self.ray * ahead + self.across * side) * -self.flow.mu).extend(p_z);
        // Work of friction: −μ ∫ r x dp_z.
        let mut third = 2.0 + self.beta;
        if third.abs() < 1e-7 {
            third = 1e-7;
        }
        let moment = 0.5 * (x * x - 1.0)
            + self.along[0] * (x * x * power - 1.0) / third
            + self.along[1] * (x * x * two - 1.0) / (2.0 + 2.0 * self.beta);
        let du = self.flow.apply(p);
        let work = (self.start.u + 0.5 * du).dot(p) + self.flow.mu * self.speed * self.length * moment;
        Place {
            u: self.start.u + du,
            p: self.start.p + p,
            w: self.start.w + work,
            rate: self.length * (1.0 + self.along[0] * power + self.along[1] * two),
            normal: self.normal[0] + self.normal[1] * self.angle * power,
        }
    }

    /// Follows the tail through the phases of restitution to its end.
    pub(crate) fn follow(&self, progress: &mut Progress) -> TailEnd {
        let stops = self.length < 0.0;
        let mut x = 1.0;
        loop {
            let distance = progress.distance(self.normal[0]);
            // Where the goal would be on the ray itself.
            let mut guess = x + distance / self.length;
            let mut reached = guess > 0.0 && guess.is_finite();
            // Ends so soon that x − 1 would have no digits left: the series has them.
            if (guess - x).abs() < 1e-5 {
                return TailEnd::Unknown;
            }
            if stops && guess.abs() < 0.2 {
                // Too close to the end of sliding to tell by the guess.
                reached = gap(progress.goal, &self.at(0.0)) >= 0.0;
                guess = guess.max(1e-3);
            }
            if !reached {
                if !stops {
                    return TailEnd::Unknown;
                }
                store(progress, &self.at(0.0));
                return TailEnd::Stopped;
            }
            let Some((found, place)) = self.solve(progress.goal, guess) else { return TailEnd::Unknown };
            x = found;
            store(progress, &place);
            if progress.goal != Goal::Turn || progress.turn() {
                return TailEnd::Done;
            }
        }
    }

    /// Newton's method on the goal.
    fn solve(&self, goal: Goal, guess: f64) -> Option<(f64, Place)> {
        let mut x = guess;
        for _ in 0..40 {
            let place = self.at(x);
            let slope = match goal {
                Goal::Turn | Goal::Velocity(_) => place.normal,
                Goal::Work(_) => place.u.z,
                Goal::Impulse(_) => 1.0,
            } * place.rate;
            let next = x - gap(goal, &place) / slope;
            if !next.is_finite() {
                return None;
            }
            let next = if next > 0.0 { next } else { 0.5 * x };
            // Newton doubles the digits: the next point is exact to rounding.
            if (next - x).abs() <= 1e-9 * x {
                return Some((next, self.at(next)));
            }
            x = next;
        }
        None
    }
}

/// The ray near `dir + first` and the angle of `dir` from it, by Newton's method.
#[inline]
fn nearest_ray(flow: &SlidingFlow, dir: DVec2, first: f64) -> Option<(DVec2, f64)> {
    let (mut ray, mut total) = (dir, 0.0);
    let mut change = first;
    for _ in 0..4 {
        // Third order in the small angle is enough for the quadratic convergence to go on.
        ray = (ray * (1.0 - 0.5 * change * change) + ray.perp() * change).normalize();
        total += change;
        if change.abs() < 1e-8 {
            return Some((ray, -total));
        }
        let slope = -flow.radial_rate(ray) - flow.mu * flow.across(ray);
        change = -flow.turning_rate(ray) / slope;
    }
    (change.abs() < 1e-8).then_some((ray, -total))
}

fn store(progress: &mut Progress, place: &Place) {
    (progress.u, progress.p, progress.w) = (place.u, place.p, place.w);
}

/// Signed gap to a goal: zero when reached.
#[inline]
fn gap(goal: Goal, place: &Place) -> f64 {
    match goal {
        Goal::Turn => place.u.z,
        Goal::Velocity(v) => place.u.z - v,
        Goal::Work(w) => place.w - w,
        Goal::Impulse(p) => place.p.z - p,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::{rays::rays, restitution::Restitution, stepper::step};
    use sim_math::glam::DMat3;

    #[test]
    fn the_closed_form_is_of_third_order() {
        // One flow with an attracting converging ray, one with a diverging ray.
        let k = DMat3::from_cols_array(&[8., -2., 1., -2., 3., -1., 1., -1., 5.]) * 0.125;
        for mu in [0.4, 0.2] {
            let flow = SlidingFlow::new(&k, mu);
            let attracting = |d: DVec2| flow.radial_rate(d) + flow.mu * flow.across(d) > 0.0;
            let all = rays(&flow);
            let ray =
                all.as_slice().iter().find(|r| attracting(r.direction)).expect("a ray attracts").direction;
            // Error of the state where the speed is x, against small steps of dp = (−μ u_t, |u_t|) dσ.
            let error = |angle: f64| {
                let u = ray * ops::cos(angle) + ray.perp() * ops::sin(angle);
                let start = Progress::new(u.extend(-1.0), Restitution::Stronge, 0.5);
                let tail = Tail::new(&flow, u, 1.0, &start, 1.0).expect("near the ray");
                let x = if tail.length < 0.0 { 0.5 } else { 1.5 };
                let rhs = |y: &[f64; 7]| {
                    let r = (y[0] * y[0] + y[1] * y[1]).sqrt();
                    let dp = DVec3::new(-mu * y[0], -mu * y[1], r);
                    let du = flow.apply(dp);
                    [du.x, du.y, du.z, y[2] * r, dp.x, dp.y, dp.z]
                };
                let mut y = [u.x, u.y, -1.0, 0.0, 0.0, 0.0, 0.0];
                let mut h = 1e-3;
                for _ in 0..200_000 {
                    let next = step(&rhs, &y, h).0;
                    let r = (next[0] * next[0] + next[1] * next[1]).sqrt();
                    if (r < x) == (x < 1.0) {
                        h *= 0.5; // went too far
                        if h < 1e-14 {
                            break;
                        }
                    } else {
                        y = next;
                    }
                }
                let place = tail.at(x);
                let p = DVec3::new(y[4], y[5], y[6]);
                (place.p - p).length() + (place.w - y[3]).abs()
            };
            let (coarse, fine) = (error(0.004), error(0.002));
            let order = ops::log2(coarse / fine);
            assert!(order > 2.7 && order < 3.4, "mu {mu}: order {order}, errors {coarse:e} {fine:e}");
        }
    }
}
