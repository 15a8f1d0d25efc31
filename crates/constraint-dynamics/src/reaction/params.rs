//! Settings, state, report and errors of reaction forces.

use sim_math::{dense::SolveMethod, integrate::IntegrateError};
use thiserror::Error;

/// First guess of the values of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WarmStart {
    /// Zero.
    Cold,
    /// The values of the frame before.
    Constant,
    /// On the line through the values of the last two frames.
    #[default]
    Linear,
}

/// How the derivatives of errors by values are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JacobianKind {
    /// By factors: what a constraint feels of a body times how the body answers a push.
    #[default]
    Analytic,
    /// By trying: each value is changed in turn, and the frame integrated. Slower; for constraints without derivatives, and to check those that have them.
    Empirical {
        /// By half a unit to both sides, in place of a unit to one.
        central: bool,
    },
}

/// Settings.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ReactionParams {
    /// The error of all rows together (root of the sum of squares, m and rad) at which iterations stop. Velocities are as good as 2/h times this.
    /// If it is negative, `max_iterations` are made whatever the error.
    pub max_error: f64,
    /// Most iterations per frame and part.
    pub max_iterations: u32,
    /// Share of every error that is asked to vanish at an iteration, above 0 and up to 1: less than 1 with few iterations assembles violated scenes gently.
    pub stiffness: f64,
    /// Share a of the velocity terms: ½ ends oscillations in one frame, 0 looks at places alone.
    pub velocity_share: f64,
    /// Velocity terms every so many frames.
    pub velocity_every: u32,
    /// First guess.
    pub warm_start: WarmStart,
    /// Where derivatives come from.
    pub jacobian: JacobianKind,
    /// New derivatives every so many frames.
    pub jacobian_every: u32,
    /// Learn from the steps made, by Broyden's updates.
    pub broyden: bool,
    /// The fastest method of solution that may be used.
    pub method: SolveMethod,
    /// Frames that must go well before a part that had to use a slower method tries the fastest again.
    pub retry_after: u32,
}

impl Default for ReactionParams {
    fn default() -> Self {
        Self {
            max_error: 1e-8,
            max_iterations: 20,
            stiffness: 1.0,
            velocity_share: 0.5,
            velocity_every: 1,
            warm_start: WarmStart::Linear,
            jacobian: JacobianKind::Analytic,
            jacobian_every: 1,
            broyden: false,
            method: SolveMethod::Lu,
            retry_after: 10,
        }
    }
}

impl ReactionParams {
    /// `Ok` if they make sense.
    ///
    /// # Errors
    /// [`ReactionError::Parameter`] for the first that does not.
    pub fn validate(&self) -> Result<(), ReactionError> {
        let check = |ok: bool, what, value: f64| {
            if ok { Ok(()) } else { Err(ReactionError::Parameter { what, value }) }
        };
        check(self.max_error.is_finite(), "max_error", self.max_error)?;
        check(self.max_iterations > 0, "max_iterations", f64::from(self.max_iterations))?;
        check(self.stiffness > 0.0 && self.stiffness <= 1.0, "stiffness", self.stiffness)?;
        check((0.0..=1.0).contains(&self.velocity_share), "velocity_share", self.velocity_share)?;
        check(self.velocity_every > 0, "velocity_every", f64::from(self.velocity_every))?;
        check(self.jacobian_every > 0, "jacobian_every", f64::from(self.jacobian_every))
    }
}

/// Why a frame could not be solved.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum ReactionError {
    /// A parameter that makes no sense.
    #[error("{what}: {value} is out of range")]
    Parameter {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A constraint names a body that is not there.
    #[error("constraint {constraint}: no body {body}")]
    UnknownBody {
        /// Which constraint.
        constraint: usize,
        /// The number that it names.
        body: u32,
    },
    /// A body could not be integrated.
    #[error("body {body}: {source}")]
    Body {
        /// Which body.
        body: u32,
        /// Why.
        source: IntegrateError,
    },
}

/// Whether a value is free or at a bound of its law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bound {
    /// It meets its equation.
    #[default]
    Free,
    /// At its least value: a rope that is slack, a motor at its strength.
    Low,
    /// At its greatest.
    High,
}

/// What a row remembers from frame to frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RowMemory {
    /// Value of the last frame, N or N·m.
    pub last: f64,
    /// Value of the frame before.
    pub before: f64,
    /// How many of the two are known.
    pub known: u8,
    /// Where the value was.
    pub bound: Bound,
}

impl RowMemory {
    /// First guess of the next value.
    #[must_use]
    pub fn guess(&self, warm_start: WarmStart) -> f64 {
        match (warm_start, self.known) {
            (WarmStart::Cold, _) | (_, 0) => 0.0,
            (WarmStart::Linear, 2) => 2.0 * self.last - self.before,
            _ => self.last,
        }
    }

    pub(super) fn keep(&mut self, value: f64, bound: Bound) {
        (self.before, self.last, self.bound) = (self.last, value, bound);
        self.known = (self.known + 1).min(2);
    }
}

/// The method that a part uses, and for how many frames it went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartMemory {
    /// Method.
    pub method: SolveMethod,
    /// Frames.
    pub good: u32,
    /// Frames for which its values are kept small that bodies do not feel, because a step was refused: constraints that are there twice have such values.
    pub wary: u32,
}

/// What a run is continued from: it influences results, and goes into snapshots.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReactionState {
    /// For each row.
    pub rows: Vec<RowMemory>,
    /// Number of rows of each constraint.
    pub counts: Vec<u32>,
    /// For each part.
    pub parts: Vec<PartMemory>,
    /// Frames so far.
    pub frames: u64,
}

impl ReactionState {
    /// Goes on with other constraints: for each of them its number before, or `None` for a new one, whose rows remember nothing.
    pub fn reorder(&mut self, before: impl Iterator<Item = Option<usize>>) {
        let (rows, counts) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.counts));
        for k in before {
            let count = k.and_then(|k| counts.get(k)).copied().unwrap_or(0);
            let begin: u32 = k.map_or(0, |k| counts.iter().take(k).sum());
            let kept = rows.get(begin as usize..(begin + count) as usize).unwrap_or(&[]);
            self.rows.extend_from_slice(kept);
            self.counts.push(kept.len() as u32);
        }
        self.parts.clear();
    }

    /// Fits the numbers of rows of a frame; a constraint with another number than before remembers nothing.
    pub(super) fn fit(&mut self, counts: impl Iterator<Item = u32> + Clone) {
        if counts.clone().eq(self.counts.iter().copied()) && self.rows.len() == self.total() {
            return;
        }
        let (rows, old) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.counts));
        let mut begin = 0;
        for (k, count) in counts.enumerate() {
            let before = old.get(k).copied().unwrap_or(0);
            let kept = rows.get(begin..begin + before as usize).unwrap_or(&[]);
            if before == count && kept.len() == count as usize {
                self.rows.extend_from_slice(kept);
            } else {
                self.rows.extend(std::iter::repeat_n(RowMemory::default(), count as usize));
            }
            self.counts.push(count);
            begin += before as usize;
        }
    }

    fn total(&self) -> usize {
        self.counts.iter().sum::<u32>() as usize
    }
}

/// Something that happened to the solver.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SolverEvent {
    /// A part goes on with another method.
    Switched {
        /// Its first constraint.
        constraint: u32,
        /// Method before.
        from: SolveMethod,
        /// Method from now on.
        to: SolveMethod,
        /// Error before the step that was refused, or 0 for a return to a faster method.
        error: f64,
    },
    /// A part is not as exact as asked: its iterations are used up, or no method makes its error smaller.
    NotConverged {
        /// Its first constraint.
        constraint: u32,
        /// Error that is left.
        error: f64,
        /// Iterations made.
        iterations: u32,
    },
}

/// What a frame took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReactionReport {
    /// Unknowns.
    pub unknowns: usize,
    /// Parts that were solved apart.
    pub parts: usize,
    /// Iterations of the part that needed most.
    pub iterations: u32,
    /// Iterations of all parts.
    pub total_iterations: u32,
    /// Root of the sum of squares of all errors, m and rad.
    pub error: f64,
    /// The same at the first guess.
    pub first_error: f64,
    /// Evaluations of angular accelerations, those for derivatives included.
    pub evaluations: u64,
    /// Of these, those for derivatives.
    pub test_evaluations: u64,
    /// Parts that are not as exact as asked.
    pub unsolved: u32,
}
