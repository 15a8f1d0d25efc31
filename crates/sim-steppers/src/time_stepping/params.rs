//! Tunables of time stepping.

use super::sleep::TimeSleepParams;
use crate::setters::setters;
use sim_world::StepError;

/// Lengths that are not given, as shares of the smallest radius.
struct Usual {
    margin: f64,
    recycle: f64,
}

/// For contact laws.
const EXACT: Usual = Usual { margin: 1e-3, recycle: 1e-5 };
/// For the soft solver, which bears more.
const SOFT: Usual = Usual { margin: 5e-3, recycle: 2e-3 };

/// What is done about overlaps.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Stabilization {
    /// Nothing: drift shows.
    None,
    /// Contacts push apart with this share of the overlap per step, 0 to 1; adds velocity and energy. The usual share is 0.2.
    Baumgarte(f64),
    /// Bodies are moved apart at the end of a step by the smallest change in the metric of their masses; velocities stay. So many
    /// times at most.
    PostStep(u32),
}

/// Parameters of [`TimeStepping`](super::TimeStepping).
///
/// Lengths are shares of the radius of the smallest free body of the world (the distance of its farthest point from its centre of mass), so that the same
/// parameters do for grains of sand and for houses.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TimeSteppingParams {
    /// Longest step, s. An advance is cut into equal steps no longer than this. Default 1/60.
    pub dt: f64,
    /// Steps of time within one `dt`, at least 1. Default 1.
    pub substeps: u32,
    /// Most cuts of one step at bounces. Default 16; bounces beyond them are answered at the time of the last cut, early by less than a step.
    pub max_cuts: u32,
    /// Distance up to which two bodies count as touching, share of the smallest radius. Default 1e-6.
    pub touch: f64,
    /// Contacts are looked for this much beyond what bodies can travel in a step, share of the smallest radius. Default 1e-3, under the soft solver 5e-3.
    pub margin: Option<f64>,
    /// Contacts found are kept, and their points followed, until their two bodies have moved by this much, share of the smallest radius, and by a tenth of it
    /// where a surface is curved. 0 finds the contacts of all that moves anew. Default 1e-5, under the soft solver 2e-3.
    pub recycle: Option<f64>,
    /// Approaches below the rest speed do not bounce. It is this factor times g h/8, or √(g r/50) if that is less: a bounce that is over within a
    /// quarter of a step, or rises by less than a hundredth of the radius r of the smaller body; and at least r/10⁴ per step, also where nothing
    /// pulls. Default 1; 0 lets everything bounce.
    pub rest_speed: f64,
    /// What is done about overlaps. Default a post-step, eight times at most, half as often where there are more than a thousand contacts.
    pub stabilization: Stabilization,
    /// Overlap that is left alone, share of the smallest radius. Default 1e-7.
    pub slop: f64,
    /// Start from the impulses of the last step. Default true.
    pub warm_start: bool,
    /// When islands that lie still fall asleep. Default never.
    pub sleep: Option<TimeSleepParams>,
}

impl Default for TimeSteppingParams {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            substeps: 1,
            max_cuts: 16,
            touch: 1e-6,
            margin: None,
            recycle: None,
            rest_speed: 1.0,
            stabilization: Stabilization::PostStep(8),
            slop: 1e-7,
            warm_start: true,
            sleep: None,
        }
    }
}

impl TimeSteppingParams {
    setters! {
        dt: f64, substeps: u32, max_cuts: u32, touch: f64, margin @optional: f64, recycle @optional: f64, rest_speed: f64,
        stabilization: Stabilization, slop: f64, warm_start: bool, sleep @optional: TimeSleepParams,
    }

    /// The same with lengths in metres, for a world whose smallest free body has this radius (m), up to so far from its origin (m).
    pub(super) fn in_metres(self, is_soft: bool, radius: f64, farthest: f64) -> Scaled {
        // Never below what rounding leaves of positions out there.
        let least = 256.0 * f64::EPSILON * farthest;
        let metres = |share: f64| if share > 0.0 { (share * radius).max(least) } else { 0.0 };
        let usual = if is_soft { SOFT } else { EXACT };
        Scaled {
            touch: (self.touch * radius).max(10.0 * least),
            margin: (self.margin.unwrap_or(usual.margin) * radius).max(100.0 * least),
            recycle: metres(self.recycle.unwrap_or(usual.recycle)),
            slop: metres(self.slop),
            given: self,
        }
    }

    /// Length of a step, s.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.dt / f64::from(self.substeps.max(1))
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn validate(&self) -> Result<(), StepError> {
        let positive = [
            ("longest step", Some(self.dt)),
            ("touching distance", Some(self.touch)),
            ("margin", self.margin),
        ];
        for (what, value) in positive.into_iter().filter_map(|(what, value)| Some((what, value?))) {
            if !(value > 0.0 && value.is_finite()) {
                return Err(StepError::Parameter { what, value });
            }
        }
        for (what, value) in [
            ("factor of the rest speed", self.rest_speed),
            ("slop", self.slop),
            ("recycling distance", self.recycle.unwrap_or(0.0)),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(StepError::Parameter { what, value });
            }
        }
        if let Some(sleep) = self.sleep {
            for (what, value) in [("time until sleep", sleep.after), ("motion in sleep", sleep.motion)] {
                if !(value > 0.0 && value.is_finite()) {
                    return Err(StepError::Parameter { what, value });
                }
            }
        }
        if self.substeps == 0 {
            return Err(StepError::Parameter { what: "substeps", value: 0.0 });
        }
        match self.stabilization {
            Stabilization::Baumgarte(value) if !(0.0..=1.0).contains(&value) => {
                Err(StepError::Parameter { what: "Baumgarte share", value })
            }
            _ => Ok(()),
        }
    }
}

/// The same with all lengths in metres.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaled {
    pub(super) touch: f64,
    pub(super) margin: f64,
    pub(super) recycle: f64,
    pub(super) slop: f64,
    given: TimeSteppingParams,
}

impl std::ops::Deref for Scaled {
    type Target = TimeSteppingParams;

    fn deref(&self) -> &TimeSteppingParams {
        &self.given
    }
}
