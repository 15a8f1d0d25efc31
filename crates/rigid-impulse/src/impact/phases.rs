//! Collision integration in Mirtich's variables: normal impulse in a jam, normal velocity in compression and
//! extension, normal work in restitution.
//!
//! # Reference
//!
//! Mirtich (1996), section 3.3.3; equations 3.11 to 3.17 with `dW_z/du_z` printed right.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `y` | u, `W_z`, p | velocity, normal work, impulse | dimensionless here |
//! | `bound` | b | normal velocity up to which extension cannot overshoot | m/s |
//!
//! # Formula
//!
//! | phase | variable | slopes | ends |
//! |---|---|---|---|
//! | jam | `p_z` | K ξ | `k_z` ξ > 0 |
//! | compression | `u_z` | K ξ / `k_z` ξ | `u_z` = 0, `W_c` |
//! | extension | `u_z` | same | b = √(2 e² \|`W_c`\| (`K_33` − μ √(`K_31`² + `K_32`²))) |
//! | restitution | `W_z` | K ξ / `u_z` | (1 − e²) `W_c` |
//!
//! # Cost
//!
//! Tens of steps of six evaluations, more as sliding slows down: [`integrate`](super::integrate()) is ten times faster. It
//! is here as the original method and as a second opinion.
//!
//! # Numerics
//!
//! Each phase has a known end, so that its last step lands there exactly; the price is that each variable is
//! singular somewhere. Step weights are not negative: the impulse stays in the friction cone.
//!
//! # Failure
//!
//! A phase that jams again is finished in the normal impulse. A collision that does not end falls back on the
//! algebraic law.
//!
//! # Tested by
//!
//! `sliding_to_the_end`, `soak_phases_agree_with_the_series` in `tests/golden.rs`, `jammed_rod` in `tests/oracles.rs`

use super::{
    checked,
    flow::SlidingFlow,
    integrate::{Ending, ImpactReport, Scaled, leave_origin},
    restitution::{Progress, Restitution},
    stepper::{factor, step},
};
use sim_math::glam::{DVec2, DVec3};
use sim_traits::{Impact, ImpactError, ImpactLaw};

/// Collision integration phase by phase, with Stronge's restitution.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Phases {
    /// Error of one step relative to the initial speed. Default 1e-10; smaller is slower.
    pub tolerance: f64,
    /// Sliding speed, relative to the initial speed, that counts as sticking. Default 1e-9.
    pub sticking: f64,
    /// Most steps before giving up. Default 20 000.
    pub max_steps: u32,
}

impl Default for Phases {
    fn default() -> Self {
        Self { tolerance: 1e-10, sticking: 1e-9, max_steps: 20_000 }
    }
}

impl ImpactLaw for Phases {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        integrate_phases(impact, self).map(|report| report.impact.impulse)
    }
}

/// What happened, phase by phase.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PhaseReport {
    /// The collision as a whole.
    pub impact: ImpactReport,
    /// Normal velocity b at which extension ended, m/s; zero if there was none.
    pub extension_bound: f64,
    /// Normal work at the end of extension, J.
    pub extension_work: f64,
    /// The normal velocity fell while pushing, at some time.
    pub jammed: bool,
}

/// `u_x`, `u_y`, `u_z`, `W_z`, `p_x`, `p_y`, `p_z`.
type State = [f64; 7];

#[derive(Clone, Copy, PartialEq)]
enum Variable {
    Impulse,
    Velocity,
    Work,
}

#[derive(PartialEq)]
enum Outcome {
    /// The variable has its end value.
    End,
    /// Sliding has stopped.
    Stopped,
    /// The variable does not grow here.
    Refused,
    /// Out of steps.
    Budget,
}

struct Driver<'a> {
    flow: &'a SlidingFlow,
    params: &'a Phases,
    steps: u32,
    jammed: bool,
}

impl Driver<'_> {
    fn slopes(&self, y: &State, variable: Variable) -> State {
        let xi = self.flow.xi(DVec2::new(y[0], y[1]).normalize_or_zero());
        let du = self.flow.apply(xi);
        let per = match variable {
            Variable::Impulse => 1.0,
            Variable::Velocity => 1.0 / du.z,
            Variable::Work => 1.0 / y[2],
        };
        [du.x * per, du.y * per, du.z * per, y[2] * per, xi.x * per, xi.y * per, per]
    }

    /// True if the variable grows safely with the impulse.
    fn grows(&self, y: &State, variable: Variable) -> bool {
        match variable {
            Variable::Impulse => true,
            Variable::Velocity => {
                let dir = DVec2::new(y[0], y[1]).normalize_or_zero();
                self.flow.normal_rate(dir) > 1e-3 * self.flow.c
            }
            Variable::Work => y[2] > 0.0,
        }
    }

    /// Integrates until the variable reaches `end`, or `stop` says so.
    /// Steps are at most `longest`.
    fn drive(
        &mut self,
        y: &mut State,
        variable: Variable,
        end: f64,
        longest: f64,
        stop: &dyn Fn(&State) -> bool,
    ) -> Outcome {
        let index = match variable {
            Variable::Impulse => 6,
            Variable::Velocity => 2,
            Variable::Work => 3,
        };
        let mut h = if end.is_finite() { end - y[index] } else { 0.1 };
        while self.steps < self.params.max_steps {
            let left = end - y[index];
            if left <= 0.0 || stop(y) {
                return Outcome::End;
            }
            let speed = DVec2::new(y[0], y[1]).length();
            if speed <= self.params.sticking {
                return Outcome::Stopped;
            }
            if !self.grows(y, variable) {
                return Outcome::Refused;
            }
            self.steps += 1;
            let slopes = self.slopes(y, variable);
            let turn = DVec2::new(slopes[0], slopes[1]).length();
            let mut length = h.min(longest).min(0.5 * speed / turn.max(f64::MIN_POSITIVE));
            let last = length >= left;
            length = length.min(left);
            let (next, error) = step(&|y: &State| self.slopes(y, variable), y, length);
            if error > self.params.tolerance {
                h = length * factor(error, self.params.tolerance);
                if h <= 1e-14 * left.min(1.0) {
                    return Outcome::Refused;
                }
                continue;
            }
            *y = next;
            if last && end.is_finite() {
                y[index] = end;
            }
            h = length * factor(error, self.params.tolerance);
        }
        Outcome::Budget
    }

    /// Compression with jams: the normal velocity up to zero.
    fn compress(&mut self, y: &mut State) -> Outcome {
        for _ in 0..100 {
            match self.drive(y, Variable::Velocity, 0.0, f64::INFINITY, &|_| false) {
                Outcome::Refused => {}
                other => return other,
            }
            self.jammed = true;
            let flow = *self.flow;
            let free = move |y: &State| {
                let dir = DVec2::new(y[0], y[1]).normalize_or_zero();
                flow.normal_rate(dir) > 2e-3 * flow.c || y[2] >= 0.0
            };
            match self.drive(y, Variable::Impulse, f64::INFINITY, f64::INFINITY, &free) {
                Outcome::End => {}
                other => return other,
            }
        }
        Outcome::Budget
    }

    /// Restitution up to a normal work, by extension and then by work.
    fn restore(&mut self, y: &mut State, bound: f64, goal: f64, after: &mut f64) -> Outcome {
        match self.drive(y, Variable::Velocity, bound, f64::INFINITY, &|_| false) {
            Outcome::End | Outcome::Refused => {}
            other => return other,
        }
        *after = y[3];
        for _ in 0..100 {
            match self.drive(y, Variable::Work, goal, f64::INFINITY, &|_| false) {
                Outcome::Refused => {}
                other => return other,
            }
            // No growth of work here: push on until the bodies separate at a hundredth of the final speed, in steps
            // too short to overshoot the goal.
            self.jammed = true;
            let slow = 1e-2 * (2.0 * (goal - y[3]).max(0.0) * self.flow.c).sqrt();
            let longest = slow / self.flow.c;
            match self.drive(y, Variable::Impulse, f64::INFINITY, longest, &|y| y[2] > slow || y[3] >= goal) {
                Outcome::End => {}
                other => return other,
            }
        }
        Outcome::Budget
    }
}

/// Resolves one collision in Mirtich's variables.
///
/// # Errors
/// What [`Impact::validate`] finds, or a matrix that is not positive semi-definite.
pub fn integrate_phases(impact: &Impact, params: &Phases) -> Result<PhaseReport, ImpactError> {
    let flow = checked(impact)?;
    let u0 = impact.velocity;
    if u0.z >= 0.0 {
        let impact = ImpactReport { velocity: u0, ..ImpactReport::default() };
        return Ok(PhaseReport { impact, ..PhaseReport::default() });
    }
    let scaled = Scaled::new(&flow, u0);
    let unit = &scaled.flow;
    let e = impact.restitution;
    let mut progress = Progress::new(scaled.u0, Restitution::Stronge, e);
    let mut driver = Driver { flow: unit, params, steps: 0, jammed: false };
    let mut y = [scaled.u0.x, scaled.u0.y, scaled.u0.z, 0.0, 0.0, 0.0, 0.0];
    let mut report = PhaseReport::default();
    let mut outcome = driver.compress(&mut y);
    store(&mut progress, &y);
    let mut ending = Ending::Sliding;
    if outcome == Outcome::End && !progress.turn() {
        y[2] = 0.0;
        let goal = (1.0 - e * e) * y[3];
        let stored = -e * e * y[3];
        let spread = unit.c - unit.mu * DVec2::new(unit.e, unit.d).length();
        let bound = (2.0 * stored * spread.max(0.0)).sqrt();
        let mut after = y[3];
        outcome = driver.restore(&mut y, bound, goal, &mut after);
        store(&mut progress, &y);
        report.extension_bound = scaled.velocity(bound);
        report.extension_work = scaled.work(after);
    }
    match outcome {
        Outcome::End => {}
        Outcome::Stopped => ending = leave_origin(unit, &mut progress),
        Outcome::Refused | Outcome::Budget => ending = Ending::Fallback,
    }
    report.jammed = driver.jammed;
    report.impact = scaled.report(&flow, impact, &progress, ending, driver.steps);
    Ok(report)
}

fn store(progress: &mut Progress, y: &State) {
    progress.u = DVec3::new(y[0], y[1], y[2]);
    progress.w = y[3];
    progress.p = DVec3::new(y[4], y[5], y[6]);
}
