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
//! About 2 to 8 steps of some 300 ns; no allocation. See bench `rigid-impulse/impact`.
//!
//! # Numerics
//!
//! Order 16, step from the last two coefficients. The impulse is integrated itself, never recovered from
//! velocities; each piece lies in the friction cone, because the series of `u_t` and of \|`u_t`\| share their
//! truncation, and the last rounding is clipped.
//!
//! # Failure
//!
//! A contact that wedges (possible only when K has lost rank), or that uses up its budget, falls back on the
//! algebraic law, which always ends, stays in the cone and does not create energy for e ≤ 1.
//!
//! # Tested by
//!
//! Golden values, oracles and theorems in `tests/`: `golden.rs`, `oracles.rs`, `theorems.rs`, `hostile.rs`

use super::{
    algebraic::chatterjee_ruina,
    checked,
    flow::SlidingFlow,
    rays::diverging_ray,
    restitution::{Goal, Progress, Restitution, Stop},
    series::Series,
    sticking::{Sticking, sticking},
    tail::{Tail, TailEnd},
};
use sim_math::glam::{DVec2, DVec3};
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
    /// Error of one step relative to the approach speed, from 1e-14 to 1e-2. Default 1e-10, which keeps the impulse
    /// within 1e-8; smaller is slower.
    pub tolerance: f64,
    /// Most steps before giving up. Default 1000; ordinary collisions take fewer than 20.
    pub max_steps: u32,
}

impl Default for Integrated {
    fn default() -> Self {
        Self { restitution: Restitution::Stronge, tolerance: 1e-10, max_steps: 1000 }
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
    series: Series,
    start: Point,
    /// Impulse per σ.
    scale: f64,
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
    fn reach(&self, goal: Goal, from: &Point, to: &Point) -> Option<Point> {
        let (at_to, slope_to) = self.gap(goal, to);
        let (_, slope_from) = self.gap(goal, from);
        let mut hi = *to;
        if at_to < 0.0 {
            // Not there at the end; it may have been in between if the gap first closed and then opened.
            if !(slope_from > 0.0 && slope_to < 0.0) {
                return None;
            }
            let (mut left, mut right) = (from.sigma, to.sigma);
            for _ in 0..60 {
                let middle = self.at(0.5 * (left + right));
                let (gap, slope) = self.gap(goal, &middle);
                if gap >= 0.0 {
                    hi = middle;
                    break;
                }
                if slope > 0.0 {
                    left = middle.sigma;
                } else {
                    right = middle.sigma;
                }
            }
            if self.gap(goal, &hi).0 < 0.0 {
                return None;
            }
        }
        let (mut lo, mut at_lo) = (from.sigma, self.gap(goal, from).0);
        let (mut hi_sigma, mut at_hi) = (hi.sigma, self.gap(goal, &hi).0);
        if at_lo >= 0.0 {
            return Some(*from);
        }
        let mut best = hi;
        // Start at the secant, then Newton inside the bracket.
        let mut next = lo - at_lo * (hi_sigma - lo) / (at_hi - at_lo);
        for _ in 0..60 {
            best = self.at(next);
            let (gap, slope) = self.gap(goal, &best);
            if gap < 0.0 {
                (lo, at_lo) = (next, gap);
            } else {
                (hi_sigma, at_hi) = (next, gap);
            }
            let newton = next - gap / slope;
            let candidate = if newton > lo && newton < hi_sigma { newton } else { 0.5 * (lo + hi_sigma) };
            // One Newton step below this size changes nothing that can be seen.
            if (candidate - next).abs() <= 1e-9 * to.sigma && newton.is_finite() && newton == candidate {
                return Some(self.at(candidate));
            }
            if gap == 0.0 || hi_sigma - lo <= f64::EPSILON * to.sigma {
                break;
            }
            next = candidate;
        }
        let _ = (at_lo, at_hi);
        Some(best)
    }
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
    // Dimensionless: velocities by |u₀|, the matrix by its largest diagonal entry.
    let speed = u0.abs().max_element();
    let size = flow.a.max(flow.b).max(flow.c);
    let inv = 1.0 / size;
    let unit = SlidingFlow {
        a: flow.a * inv,
        b: flow.b * inv,
        c: flow.c * inv,
        d: flow.d * inv,
        e: flow.e * inv,
        f: flow.f * inv,
        mu: flow.mu,
    };
    let mut progress = Progress::new(u0 * (1.0 / speed), params.restitution, impact.restitution);
    let tolerance = params.tolerance.clamp(1e-14, 1e-2);
    let (mut ending, steps) = march(&unit, &mut progress, tolerance, params.max_steps);
    let mut p = progress.p;
    if ending == Ending::Fallback || !p.is_finite() {
        p = chatterjee_ruina(&unit, u0 * (1.0 / speed), impact.restitution, 1.0);
        ending = Ending::Fallback;
    }
    let impulse = clipped(p, flow.mu) * (speed * inv);
    let velocity = u0 + flow.apply(impulse);
    let (w, p_z) = progress.compression.unwrap_or_default();
    Ok(ImpactReport {
        impulse,
        velocity,
        compression_work: w * (speed * speed * inv),
        compression_impulse: p_z * (speed * inv),
        work: 0.5 * (u0 + velocity).dot(impulse),
        ending,
        steps,
    })
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
    let lambda = flow.mu * (flow.a + flow.b) + DVec2::new(flow.e, flow.d).length();
    let scale = if lambda > 0.0 { 1.0 / lambda } else { 1.0 };
    // σ is counted in units of 1/λ: the series sees a matrix divided by λ.
    let slow = SlidingFlow {
        a: flow.a * scale,
        b: flow.b * scale,
        c: flow.c * scale,
        d: flow.d * scale,
        e: flow.e * scale,
        f: flow.f * scale,
        mu: flow.mu,
    };
    for steps in 0..max_steps {
        let u = progress.u.truncate();
        let speed = u.length();
        if speed <= 0.1 * tolerance {
            return (leave_origin(flow, progress), steps);
        }
        let dir = u / speed;
        if flow.turning_rate(dir).abs() <= 1e-15 {
            let radial = flow.radial_rate(dir);
            let limit = if radial < 0.0 { -speed / radial } else { f64::INFINITY };
            let xi = flow.xi(dir);
            match progress.straight(xi, flow.apply(xi), limit) {
                Stop::Done => return (Ending::Sliding, steps),
                Stop::Limit => return (leave_origin(flow, progress), steps),
                Stop::Wedged => return (wedge(progress), steps),
            }
        }
        if let Some(tail) = Tail::new(flow, dir, speed, progress, tolerance) {
            match tail.follow(progress) {
                TailEnd::Done => return (Ending::Sliding, steps),
                TailEnd::Stopped => return (leave_origin(flow, progress), steps),
                TailEnd::Unknown => {}
            }
        }
        let step = Step {
            flow,
            series: Series::new(&slow, u, speed),
            start: Point { sigma: 0.0, u: progress.u, p: progress.p, w: progress.w },
            scale,
        };
        // Order 16: the sixteenth root is four square roots.
        let ratio = tolerance / step.series.last.max(f64::MIN_POSITIVE);
        let length = ratio.sqrt().sqrt().sqrt().sqrt().min(50.0);
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
        store(progress, &end);
    }
    (Ending::Fallback, max_steps)
}

#[inline]
fn store(progress: &mut Progress, q: &Point) {
    (progress.u, progress.p, progress.w) = (q.u, q.p, q.w);
}

/// From zero tangential velocity to the end of the collision, in closed form.
fn leave_origin(flow: &SlidingFlow, progress: &mut Progress) -> Ending {
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
