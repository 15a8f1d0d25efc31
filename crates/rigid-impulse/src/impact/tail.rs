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
//! | `length` | r/R\*, normal impulse per x, signed | N·s |
//! | `g` | 1 + β, β = T′/R\* | - |
//!
//! # Formula
//!
//! ```text
//! angle(x) = ε x^β
//! p_z(x)   = (r/R*) [x − 1 − (R′/R*) ε (x^g − 1)/g]
//! p_t(x)   = −μ [û* p_z + û⊥* ε (r/R*) (x^g − 1)/g]
//! W_z(x)   = u_z p_z + ½ N* p_z² − μ (s·û⊥*) ε (r/R*)² [(x^{g+1} − 1)/(g+1) − (x − 1)]/g
//! ```
//!
//! # Cost
//!
//! One power per evaluation; about four evaluations where a phase ends within the stretch, else one.
//!
//! # Numerics
//!
//! Exact to first order in ε; used when ε² times the length of the stretch is below the tolerance.
//!
//! # Failure
//!
//! `None` where the direction is not attracted to a ray, or not near enough.
//!
//! # Tested by
//!
//! `the_closed_form_is_second_order_accurate`, and the comparisons with the reference in `tests/`

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
    ray: DVec2,
    across: DVec2,
    angle: f64,
    length: f64,
    g: f64,
    /// R′/R*.
    bend: f64,
    /// du_z/dp_z along the ray.
    normal: f64,
}

/// Where the tail ended.
pub(crate) enum TailEnd {
    /// The collision is over.
    Done,
    /// Sliding stopped.
    Stopped,
    /// No end found: integrate on.
    Unknown,
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
        if !(slope < 0.0 && turning.abs() <= -1e-2 * slope) {
            return None;
        }
        let first = -turning / slope;
        let near = (dir + dir.perp() * first).normalize();
        let slope = -flow.radial_rate(near) - flow.mu * flow.across(near);
        let second = -flow.turning_rate(near) / slope;
        let ray = (near + near.perp() * second).normalize();
        let radial = flow.radial_rate(ray);
        let angle = -(first + second);
        // How long the stretch is in normal impulse: to the end of sliding, or about as long as the collision.
        let length = speed / radial;
        let stretch = if radial < 0.0 { -length } else { 2.0 / flow.c };
        let bend = -flow.mu * flow.skew(ray) / radial;
        let second_order = angle * angle * stretch * (1.0 + bend.abs());
        if second_order > tolerance || radial.abs() < 1e-6 * (flow.c - slope) {
            return None;
        }
        let beta = slope / radial;
        Some(Self {
            flow,
            start: *start,
            ray,
            across: ray.perp(),
            angle,
            length,
            g: 1.0 + beta,
            bend,
            normal: flow.normal_rate(ray),
        })
    }

    /// State where the sliding speed is `x` times that at the start: velocity, impulse, normal work.
    fn at(&self, x: f64) -> (DVec3, DVec3, f64) {
        let power = if x > 0.0 { ops::exp(self.g * ops::ln(x)) } else { 0.0 };
        let drift = (power - 1.0) / self.g;
        let side = self.angle * self.length * drift;
        let p_z = self.length * (x - 1.0) - self.bend * side;
        let tangential = (self.ray * p_z + self.across * side) * -self.flow.mu;
        let p = tangential.extend(p_z);
        let mut next = self.g + 1.0;
        if next.abs() < 1e-7 {
            next = 1e-7;
        }
        let lag = ((x * power - 1.0) / next - (x - 1.0)) / self.g;
        let coupling = -self.flow.mu * (self.flow.e * self.across.x + self.flow.d * self.across.y);
        let work = self.start.u.z * p_z
            + 0.5 * self.normal * p_z * p_z
            + coupling * self.angle * self.length * self.length * lag;
        (self.start.u + self.flow.apply(p), self.start.p + p, self.start.w + work)
    }

    /// Follows the tail through the phases of restitution to its end.
    pub(crate) fn follow(&self, progress: &mut Progress) -> TailEnd {
        let stops = self.length < 0.0;
        let mut x = 1.0;
        loop {
            let distance = progress.distance(self.normal);
            // Where the goal would be on the ray itself.
            let mut guess = x + distance / self.length;
            let mut reached = guess > 0.0 && guess.is_finite();
            if stops && (guess - 1e-3).abs() < 2e-3 {
                // Too close to the end of sliding to tell by the guess.
                let (u, p, w) = self.at(0.0);
                reached = gap(progress.goal, u, p, w) >= 0.0;
                guess = guess.max(1e-3);
            }
            if !reached {
                if !stops {
                    return TailEnd::Unknown;
                }
                let (u, p, w) = self.at(0.0);
                (progress.u, progress.p, progress.w) = (u, p, w);
                return TailEnd::Stopped;
            }
            let Some(found) = self.solve(progress.goal, guess) else { return TailEnd::Unknown };
            x = found;
            let (u, p, w) = self.at(x);
            (progress.u, progress.p, progress.w) = (u, p, w);
            if progress.goal != Goal::Turn || progress.turn() {
                return TailEnd::Done;
            }
        }
    }

    /// Newton's method on the goal, with the slope along the ray.
    fn solve(&self, goal: Goal, guess: f64) -> Option<f64> {
        let mut x = guess;
        for _ in 0..30 {
            let (u, p, w) = self.at(x);
            let gap = gap(goal, u, p, w);
            let slope = match goal {
                Goal::Turn | Goal::Velocity(_) => self.normal,
                Goal::Work(_) => u.z,
                Goal::Impulse(_) => 1.0,
            } * self.length;
            let next = x - gap / slope;
            if !next.is_finite() {
                return None;
            }
            let next = if next > 0.0 { next } else { 0.5 * x };
            if (next - x).abs() <= 1e-14 * (1.0 + x) {
                return Some(next);
            }
            x = next;
        }
        None
    }
}

/// Signed gap to a goal: zero when reached.
#[inline]
fn gap(goal: Goal, u: DVec3, p: DVec3, w: f64) -> f64 {
    match goal {
        Goal::Turn => u.z,
        Goal::Velocity(v) => u.z - v,
        Goal::Work(goal) => w - goal,
        Goal::Impulse(goal) => p.z - goal,
    }
}
