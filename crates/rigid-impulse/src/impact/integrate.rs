//! Collision integration: the exact impulse of a rigid frictional impact, by Taylor series.
//!
//! # Reference
//!
//! The model is Mirtich (1996), chapter 3, and Arnold (1997), section 2.4.3. Their integration variables each have
//! an end where they are singular; this one has none, so that compression, jam, extension and restitution
//! are one and the same march. [`phases`](super::phases) has the original variables.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | σ | integration variable, dp = (−μ `u_t`, \|`u_t`\|) dσ | kg |
//! | `x y r` | Taylor coefficients of `u_x`, `u_y`, \|`u_t`\| | - |
//! | `lambda` | rate μ (a+b) + \|s\|, makes σ dimensionless | - |
//! | `radial`, `turning`, `slope` | R, T and dT/dθ of [`SlidingFlow`] | - |
//!
//! Inside, velocities are divided by \|u₀\| and K by its largest diagonal entry: tolerances are relative.
//!
//! # Formula
//!
//! ```text
//! du/dσ = K (−μ u_x, −μ u_y, r),  r² = u_x² + u_y²
//! x_{k+1} = (e r_k − μ (a x_k + f y_k))/(k+1)     r_n = (Σ x_i x_{n−i} + y_i y_{n−i} − Σ' r_i r_{n−i})/(2 r_0)
//! W_z = ½ (u + u₀)·p + μ ∫ r² dσ        (total work is path independent, the rest is friction's)
//! ```
//!
//! The right side is homogeneous in `u_t`, so nothing becomes stiff as sliding slows down: \|`u_t`\| only decays
//! exponentially. Near a ray the remaining path is straight to first order and is taken in one piece.
//!
//! # Cost
//!
//! 1.8 µs at 1e-8 on the mean of the bench `rigid_impulse/impact`: about 6 steps; no allocation.
//!
//! # Numerics
//!
//! Order 14, step from the last two coefficients. The impulse is integrated itself, never recovered from
//! velocities; each piece lies in the friction cone, because the series of `u_t` and of \|`u_t`\| share their
//! truncation, and the last rounding is clipped.
//!
//! # Failure
//!
//! Rounding under a nearly singular K could add a little energy; under Stronge's law with e ≤ 1 it is taken off again.
//! A contact that wedges (possible only when K has lost rank), or that uses up its budget, falls back on the
//! algebraic law, which always ends, stays in the cone and does not create energy for e ≤ 1.
//!
//! # Tested by
//!
//! Golden values, oracles and theorems in `tests/`: `golden.rs`, `oracles.rs`, `theorems.rs`, `hostile.rs`,
//! `bench_claims.rs`, `no_allocation.rs`

use super::{
    algebraic::chatterjee_ruina,
    checked,
    flow::SlidingFlow,
    rays::diverging_ray,
    restitution::{Goal, Progress, Restitution, Stop},
    series::{ORDER, Series},
    sticking::{Sticking, sticking},
    tail::{Tail, TailEnd},
};
use sim_math::{
    glam::{DVec2, DVec3},
    ops,
};
use sim_traits::{Impact, ImpactError, ImpactLaw};

/// How a collision ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// The bodies were not approaching.
    #[default]
    Apart,
    /// Sliding to the end.
    Sliding,
    /// Sliding stopped, and friction held.
    Stuck,
    /// Sliding stopped (or had not begun), and started along the diverging ray.
    Diverged,
    /// Normal and tangential motion locked each other: restitution was cut short.
    Wedged,
    /// The integration did not end; the algebraic law was used.
    Fallback,
}

/// What happened in a collision, in its contact frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ImpactReport {
    /// Impulse on A, N·s.
    pub impulse: DVec3,
    /// Relative velocity afterwards, m/s.
    pub velocity: DVec3,
    /// Normal work at the end of compression, J; not positive.
    pub compression_work: f64,
    /// Normal impulse at the end of compression, N·s.
    pub compression_impulse: f64,
    /// Total work on both bodies, J: the change of their kinetic energy.
    pub work: f64,
    /// How it ended.
    pub ending: Ending,
    /// Integration steps.
    pub steps: u32,
}

/// Collision integration with Stronge's, Newton's or Poisson's restitution.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Integrated {
    /// How bouncing is measured. Default [`Restitution::Stronge`].
    pub restitution: Restitution,
    /// Error of one step relative to the initial speed, from 1e-14 to 1e-2. Default 1e-9; the impulse is then right
    /// to a few parts in 1e9. Ten times smaller costs about a sixth more time.
    pub tolerance: f64,
    /// Most steps before giving up. Default 1000; ordinary collisions take fewer than 20.
    pub max_steps: u32,
}

impl Default for Integrated {
    fn default() -> Self {
        Self { restitution: Restitution::Stronge, tolerance: 1e-9, max_steps: 1000 }
    }
}

impl Integrated {
    /// The default law with another restitution.
    #[must_use]
    pub fn with(restitution: Restitution) -> Self {
        Self { restitution, ..Self::default() }
    }
}

impl ImpactLaw for Integrated {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        integrate(impact, self).map(|report| report.impulse)
    }
}

/// A point on the march: state at σ from the start of the step.
#[derive(Clone, Copy)]
struct Point {
    sigma: f64,
    u: DVec3,
    p: DVec3,
    w: f64,
}

/// One step of the march: where it started, and its series.
struct Step<'a> {
    flow: &'a SlidingFlow,
    series: &'a Series,
    start: Point,
    /// Impulse per σ.
    scale: f64,
    /// Largest last change of an event, as a part of its σ, that [`Step::nudged`] may make.
    nudge: f64,
}

impl Step<'_> {
    #[inline]
    fn at(&self, sigma: f64) -> Point {
        let [x, y, r, square] = self.series.at(sigma);
        let p = DVec3::new(-self.flow.mu * x, -self.flow.mu * y, r) * self.scale;
        let du = self.flow.apply(p);
        let u = self.start.u + du;
        let w = self.start.w + (self.start.u + 0.5 * du).dot(p) + self.flow.mu * square * self.scale;
        Point { sigma, u, p: self.start.p + p, w }
    }

    /// Signed gap to the goal at a point, and its derivative by σ.
    #[inline]
    fn gap(&self, goal: Goal, q: &Point) -> (f64, f64) {
        let speed = q.u.truncate().length() * self.scale;
        let normal = || {
            let [x, y, _] = q.u.to_array();
            self.flow.c * speed - self.flow.mu * (self.flow.e * x + self.flow.d * y) * self.scale
        };
        match goal {
            Goal::Turn => (q.u.z, normal()),
            Goal::Velocity(v) => (q.u.z - v, normal()),
            Goal::Work(w) => (q.w - w, q.u.z * speed),
            Goal::Impulse(p) => (q.p.z - p, speed),
        }
    }

    /// First point in (from, to] where the goal is reached.
    #[inline]
    fn reach(&self, goal: Goal, from: &Point, to: &Point) -> Option<Point> {
        let gap = match goal {
            Goal::Turn => to.u.z,
            Goal::Velocity(v) => to.u.z - v,
            Goal::Work(w) => to.w - w,
            Goal::Impulse(p) => to.p.z - p,
        };
        if gap >= 0.0 {
            return Some(self.solve(goal, from, to));
        }
        // Not there at the end; it may have been in between if the gap is opening again.
        let opening = match goal {
            Goal::Turn | Goal::Velocity(_) => self.gap(goal, to).1 < 0.0,
            Goal::Work(_) => to.u.z < 0.0,
            Goal::Impulse(_) => false,
        };
        if opening { self.graze(goal, from, to) } else { None }
    }

    /// The goal inside a step at whose end it is missed: the gap first closed, then opened.
    #[cold]
    fn graze(&self, goal: Goal, from: &Point, to: &Point) -> Option<Point> {
        let (mut left, mut right) = (from.sigma, to.sigma);
        let (mut left_gap, mut right_gap) = (self.gap(goal, from), self.gap(goal, to));
        if left_gap.1 <= 0.0 {
            return None;
        }
        for _ in 0..60 {
            // The tangents at both ends bound the top of a concave gap; twice their slope for one that is not quite.
            let width = 2.0 * (right - left);
            if left_gap.0 + left_gap.1 * width < 0.0 && right_gap.0 - right_gap.1 * width < 0.0 {
                return None;
            }
            let middle = self.at(0.5 * (left + right));
            let gap = self.gap(goal, &middle);
            if gap.0 >= 0.0 {
                return Some(self.solve(goal, from, &middle));
            }
            if gap.1 > 0.0 {
                (left, left_gap) = (middle.sigma, gap);
            } else {
                (right, right_gap) = (middle.sigma, gap);
            }
        }
        None
    }

    /// The goal between two points that bracket it: Newton from the root of the cubic through both ends.
    fn solve(&self, goal: Goal, from: &Point, to: &Point) -> Point {
        let ((at_from, slope_from), (at_to, slope_to)) = (self.gap(goal, from), self.gap(goal, to));
        if at_from >= 0.0 {
            return *from;
        }
        let (mut lo, mut hi) = (from.sigma, to.sigma);
        let width = hi - lo;
        let guess = cubic_root([at_from, slope_from * width, at_to, slope_to * width]);
        let mut sigma = lo + width * guess;
        for _ in 0..60 {
            let here = self.at(sigma);
            let (gap, slope) = self.gap(goal, &here);
            if gap < 0.0 {
                lo = sigma;
            } else {
                hi = sigma;
            }
            let change = -gap / slope;
            // So near that the midpoint rule adds less than a tenth of the tolerance.
            if change.abs() <= self.nudge * (sigma - from.sigma) {
                let near = self.nudged(&here, change);
                // Once more, so that the goal itself is met to rounding.
                let (gap, slope) = self.gap(goal, &near);
                let rest = -gap / slope;
                return if rest.abs() <= change.abs() { self.nudged(&near, rest) } else { near };
            }
            if hi - lo <= f64::EPSILON * to.sigma {
                return here;
            }
            let next = sigma + change;
            sigma = if next > lo && next < hi { next } else { 0.5 * (lo + hi) };
        }
        self.at(hi)
    }

    /// A point moved by a small σ, by the midpoint rule.
    #[inline]
    fn nudged(&self, q: &Point, sigma: f64) -> Point {
        let piece = |u: DVec2| (u * -self.flow.mu).extend(u.length()) * (self.scale * sigma);
        let half = self.flow.apply(piece(q.u.truncate())) * 0.5;
        let impulse = piece(q.u.truncate() + half.truncate());
        let u = q.u + self.flow.apply(impulse);
        Point { sigma: q.sigma + sigma, u, p: q.p + impulse, w: q.w + 0.5 * (q.u.z + u.z) * impulse.z }
    }
}

/// Root in [0, 1] of the cubic with values `[f0, _, f1, _]` and slopes `[_, d0, _, d1]` at 0 and 1, where f0 < 0 ≤ f1.
fn cubic_root([f0, d0, f1, d1]: [f64; 4]) -> f64 {
    let (b, c) = (3.0 * (f1 - f0) - 2.0 * d0 - d1, d0 + d1 - 2.0 * (f1 - f0));
    let (mut lo, mut hi) = (0.0, 1.0);
    let mut t = f0 / (f0 - f1);
    for _ in 0..4 {
        let value = f0 + t * (d0 + t * (b + t * c));
        let slope = d0 + t * (2.0 * b + t * 3.0 * c);
        if value < 0.0 {
            lo = t;
        } else {
            hi = t;
        }
        let next = t - value / slope;
        t = if next > lo && next < hi { next } else { 0.5 * (lo + hi) };
    }
    t
}

/// Resolves one collision and tells what happened.
///
/// ```
/// use rigid_impulse::impact::{Integrated, integrate};
/// use sim_math::glam::{DMat3, DVec3};
/// use sim_traits::Impact;
///
/// let impact = Impact {
///     k: DMat3::from_cols_array(&[8., -2., 1., -2., 3., -1., 1., -1., 5.]),
///     velocity: DVec3::new(1.0, 0.5, -1.0),
///     friction: 0.2,
///     restitution: 0.5,
/// };
/// let report = integrate(&impact, &Integrated::default())?;
/// assert!((report.velocity - DVec3::new(0.892915664, 0.242016494, 0.498253989)).length() < 1e-8);
/// assert!(report.work < 0.0);
/// # Ok::<(), sim_traits::ImpactError>(())
/// ```
///
/// # Errors
/// What [`Impact::validate`] finds, a matrix that is not positive semi-definite, or a tolerance out of range.
pub fn integrate(impact: &Impact, params: &Integrated) -> Result<ImpactReport, ImpactError> {
    if !params.tolerance.is_finite() {
        return Err(ImpactError::NonFinite { what: "tolerance", value: params.tolerance });
    }
    let flow = checked(impact)?;
    let u0 = impact.velocity;
    if u0.z >= 0.0 {
        return Ok(ImpactReport { velocity: u0, ..ImpactReport::default() });
    }
    let scaled = Scaled::new(&flow, u0);
    let mut progress = Progress::new(scaled.u0, params.restitution, impact.restitution);
    let tolerance = params.tolerance.clamp(1e-14, 1e-2);
    let (ending, steps) = march(&scaled.flow, &mut progress, tolerance, params.max_steps);
    let mut report = scaled.report(&flow, impact, &progress, ending, steps);
    if report.work > 0.0 && impact.restitution <= 1.0 && params.restitution == Restitution::Stronge {
        report = without_gain(&flow, impact, report);
    }
    Ok(report)
}

/// Energy cannot grow under Stronge's law: a gain is rounding, large only where K is nearly singular. The impulse is made
/// shorter, along itself and so inside the cone, until the work is zero.
#[cold]
fn without_gain(flow: &SlidingFlow, impact: &Impact, report: ImpactReport) -> ImpactReport {
    let p = report.impulse;
    let (toward, stiff) = (-impact.velocity.dot(p), p.dot(flow.apply(p)));
    let factor = 2.0 * toward / stiff;
    if !(factor > 0.0 && factor < 1.0) {
        return report;
    }
    let impulse = p * factor;
    let velocity = impact.velocity + flow.apply(impulse);
    let work = 0.5 * (impact.velocity + velocity).dot(impulse);
    ImpactReport { impulse, velocity, work, ..report }
}

/// A collision without dimensions: velocities by the largest component of u₀, the matrix by its largest diagonal entry.
pub(crate) struct Scaled {
    pub(crate) flow: SlidingFlow,
    pub(crate) u0: DVec3,
    speed: f64,
    inv: f64,
}

impl Scaled {
    #[inline]
    pub(crate) fn new(flow: &SlidingFlow, u0: DVec3) -> Self {
        let speed = u0.abs().max_element();
        let inv = 1.0 / flow.a.max(flow.b).max(flow.c);
        Self { flow: flow.scaled(inv), u0: u0 * (1.0 / speed), speed, inv }
    }

    /// The report in SI units; a collision that found no end is given to the algebraic law.
    pub(crate) fn report(
        &self,
        flow: &SlidingFlow,
        impact: &Impact,
        progress: &Progress,
        mut ending: Ending,
        steps: u32,
    ) -> ImpactReport {
        let mut p = progress.p;
        if ending == Ending::Fallback || !p.is_finite() || p.z < 0.0 {
            p = chatterjee_ruina(&self.flow, self.u0, impact.restitution, 1.0);
            ending = Ending::Fallback;
        }
        let impulse = clipped(p, flow.mu) * (self.speed * self.inv);
        let velocity = impact.velocity + flow.apply(impulse);
        let (w, p_z) = progress.compression.unwrap_or_default();
        ImpactReport {
            impulse,
            velocity,
            compression_work: self.work(w),
            compression_impulse: p_z * (self.speed * self.inv),
            work: 0.5 * (impact.velocity + velocity).dot(impulse),
            ending,
            steps,
        }
    }

    /// Work in J.
    #[inline]
    pub(crate) fn work(&self, w: f64) -> f64 {
        w * (self.speed * self.speed * self.inv)
    }

    /// Velocity in m/s.
    #[inline]
    pub(crate) fn velocity(&self, u: f64) -> f64 {
        u * self.speed
    }
}

/// The impulse with the last rounding outside the friction cone taken off.
#[inline]
fn clipped(p: DVec3, mu: f64) -> DVec3 {
    let (tangential, most) = (p.truncate().length(), mu * p.z);
    if tangential > most {
        let factor = most / tangential;
        return DVec3::new(p.x * factor, p.y * factor, p.z);
    }
    p
}

/// Follows the flow to the end of the collision.
fn march(flow: &SlidingFlow, progress: &mut Progress, tolerance: f64, max_steps: u32) -> (Ending, u32) {
    if flow.mu == 0.0 {
        let stop = progress.straight(DVec3::Z, flow.apply(DVec3::Z), f64::INFINITY);
        return (if stop == Stop::Done { Ending::Sliding } else { wedge(progress) }, 0);
    }
    let lambda = flow.mu * (flow.a + flow.b) + DVec2::new(flow.e, flow.d).length();
    let scale = if lambda > 0.0 { 1.0 / lambda } else { 1.0 };
    // σ is counted in units of 1/λ: the series sees a matrix divided by λ.
    let slow = flow.scaled(scale);
    let mut series = Series::EMPTY;
    // The midpoint rule is of third order.
    let nudge = 0.05 * root::<3>(tolerance);
    for steps in 0..max_steps {
        let u = progress.u.truncate();
        let speed = u.length();
        if speed <= 0.3 * tolerance {
            return (leave_origin(flow, progress), steps);
        }
        let dir = u / speed;
        // Near critical friction a slow ray is never approached closer than the rounding of earlier steps: after
        // many steps be content with less.
        let patience = if steps < 40 { 1.0 } else { ops::powi(10.0, (steps / 20).min(5) as i32) };
        if keeps_direction(flow, dir, (1e-3 * tolerance * patience).max(1e-15 / speed)) {
            let radial = flow.radial_rate(dir);
            let limit = if radial < 0.0 { -speed / radial } else { f64::INFINITY };
            let xi = flow.xi(dir);
            match progress.straight(xi, flow.apply(xi), limit) {
                Stop::Done => return (Ending::Sliding, steps),
                Stop::Limit => return (leave_origin(flow, progress), steps),
                Stop::Wedged => return (wedge(progress), steps),
            }
        }
        if let Some(tail) = Tail::new(flow, dir, speed, progress, 100.0 * tolerance * patience.min(1e2)) {
            match tail.follow(progress) {
                TailEnd::Done => return (Ending::Sliding, steps),
                TailEnd::Stopped => return (leave_origin(flow, progress), steps),
                // It may have come to the end of compression before it gave up.
                TailEnd::Unknown if progress.u.truncate() != u => continue,
                TailEnd::Unknown => {}
            }
        }
        series.compute(&slow, dir, speed);
        let step = Step {
            flow,
            series: &series,
            start: Point { sigma: 0.0, u: progress.u, p: progress.p, w: progress.w },
            scale,
            nudge,
        };
        // A slow contact that takes this long is near critical friction: follow its direction closely.
        let strict = if steps < 30 { tolerance } else { tolerance * speed };
        let length = root::<{ ORDER as u64 }>(strict / step.series.last.max(1e-30));
        let end = step.at(length);
        let mut here = step.start;
        if progress.goal == Goal::Turn {
            if let Some(turn) = step.reach(Goal::Turn, &here, &end) {
                store(progress, &turn);
                here = turn;
                if progress.turn() {
                    return (Ending::Sliding, steps + 1);
                }
                here.u.z = 0.0;
            }
        }
        if progress.goal != Goal::Turn {
            if let Some(done) = step.reach(progress.goal, &here, &end) {
                store(progress, &done);
                return (Ending::Sliding, steps + 1);
            }
        }
        // Pushing without effect: an equilibrium that only a singular matrix has.
        if (end.u - step.start.u).abs().max_element() <= 1e-13 && end.p.z - step.start.p.z > 1e-2 {
            return (wedge(progress), steps + 1);
        }
        store(progress, &end);
    }
    (Ending::Fallback, max_steps)
}

/// True on a ray to rounding, or within `angle` of an attracting one.
#[inline]
fn keeps_direction(flow: &SlidingFlow, dir: DVec2, angle: f64) -> bool {
    let turning = flow.turning_rate(dir).abs();
    let attraction = flow.radial_rate(dir) + flow.mu * flow.across(dir);
    turning <= 1e-15 || turning <= angle * attraction
}

/// x^(1/N) to a few percent: the exponent field over N, the mantissa as its linear continuation.
#[inline]
fn root<const N: u64>(x: f64) -> f64 {
    const ONE: u64 = 1.0_f64.to_bits();
    f64::from_bits(x.to_bits() / N + (ONE - ONE / N))
}

#[inline]
fn store(progress: &mut Progress, q: &Point) {
    (progress.u, progress.p, progress.w) = (q.u, q.p, q.w);
}

/// From zero tangential velocity to the end of the collision, in closed form.
pub(crate) fn leave_origin(flow: &SlidingFlow, progress: &mut Progress) -> Ending {
    progress.u.x = 0.0;
    progress.u.y = 0.0;
    let (xi, rate, ending) = match sticking(flow) {
        Sticking::Stable { direction, rate } => {
            (direction.extend(1.0), DVec3::new(0.0, 0.0, rate), Ending::Stuck)
        }
        Sticking::Unstable => match diverging_ray(flow) {
            Some(ray) => {
                let xi = flow.xi(ray.direction);
                (xi, flow.apply(xi), Ending::Diverged)
            }
            None => return Ending::Fallback,
        },
    };
    // A rate that is rounding of zero would ask for an endless impulse.
    if rate.z <= 1e-12 * flow.c {
        return wedge(progress);
    }
    match progress.straight(xi, rate, f64::INFINITY) {
        Stop::Done => ending,
        Stop::Limit | Stop::Wedged => wedge(progress),
    }
}

/// A wedged contact: in restitution what is stored is lost, in compression another law must decide.
fn wedge(progress: &Progress) -> Ending {
    if progress.compression.is_some() { Ending::Wedged } else { Ending::Fallback }
}
