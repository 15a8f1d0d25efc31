//! Tunables of the event-driven stepper.

use super::{look::Sides, sleep::SleepParams};
use rigid_impulse::MicroParams;
use sim_world::StepError;

/// Share of the envelope below which a body counts as deep: it is lifted instead of reversed, and not let down further.
pub(super) const DEEP: f64 = 0.125;

/// Which contacts of a pair get an impulse when it collides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContactHandling {
    /// The closest points only (Mirtich).
    Standard,
    /// Every contact that approaches within the envelope, of all pairs that an impulse reaches, in alternating order (after
    /// Fontijne): stacks stand still, blocks do not creep, and fewer events are needed.
    #[default]
    Improved,
}

/// Parameters of [`EventDriven`](super::EventDriven).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EventDrivenParams {
    /// Resting contact by micro-collisions; `None` answers every impact at its root, so that a body that comes to rest uses
    /// up its budget. Default [`MicroParams::default`].
    pub micro: Option<MicroParams>,
    /// Distance below which the search for an impact begins when there are no micro-collisions, m. Default 1e-3.
    pub envelope: f64,
    /// Length of a broad-phase window, s. Default 0.05. Longer ones have larger boxes and more pairs.
    pub window: f64,
    /// Share of the window that boxes are made for. Default 1. A smaller box has fewer pairs; that its body leaves it is an event,
    /// at which it gets a new one: more work, never a missed contact.
    pub sweep: f64,
    /// Boxes are larger than needed by this share of the radius, so that a small change of motion leaves them valid.
    /// Default 0.05.
    pub margin: f64,
    /// Distance at which impacts above the micro-collision threshold are answered, m. Default 1e-12; raised to a few ulps of
    /// time for fast bodies.
    pub root_tolerance: f64,
    /// Overlap that counts as rounding, m. Default 1e-10.
    pub overlap_tolerance: f64,
    /// Which contacts get an impulse. Default improved.
    pub contact_handling: ContactHandling,
    /// Most events in one advance. Default 1e8.
    pub max_events: u64,
    /// Most events of one pair in one window. Default 20 000.
    pub max_pair_events: u32,
    /// Settled groups fall asleep; `None` keeps everything awake. Default none.
    pub sleep: Option<SleepParams>,
}

impl Default for EventDrivenParams {
    fn default() -> Self {
        Self {
            micro: Some(MicroParams::default()),
            envelope: 1e-3,
            window: 0.05,
            sweep: 1.0,
            margin: 0.05,
            root_tolerance: 1e-12,
            overlap_tolerance: 1e-10,
            contact_handling: ContactHandling::Improved,
            max_events: 100_000_000,
            max_pair_events: 20_000,
            sleep: None,
        }
    }
}

impl EventDrivenParams {
    /// Lengths in proportion to the size of the bodies (m), as the defaults are for 1 m: envelope 1e-3 of it, root 1e-12,
    /// overlap 1e-10.
    #[must_use]
    pub fn for_size(size: f64) -> Self {
        Self {
            micro: Some(MicroParams::mirtich(1e-3 * size)),
            envelope: 1e-3 * size,
            root_tolerance: 1e-12 * size,
            overlap_tolerance: 1e-10 * size,
            ..Self::default()
        }
    }

    /// True if slow contacts are answered in collision phases.
    pub(super) fn together(&self) -> bool {
        self.contact_handling == ContactHandling::Improved && self.micro.is_some()
    }

    /// Speed of approach from which on a pair has impacts, m/s; slower ones are micro-collisions.
    pub(super) fn slow(&self, sides: &Sides<'_>) -> f64 {
        self.micro.as_ref().map_or(0.0, |m| m.threshold(sides.pressure()))
    }

    /// Collision envelope in force, m.
    #[inline]
    #[must_use]
    pub fn envelope(&self) -> f64 {
        self.micro.as_ref().map_or(self.envelope, |m| m.envelope)
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn validate(&self) -> Result<(), StepError> {
        let positive = [
            ("envelope", self.envelope()),
            ("window", self.window),
            ("root tolerance", self.root_tolerance),
            ("overlap tolerance", self.overlap_tolerance),
        ];
        for (what, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(StepError::Parameter { what, value });
            }
        }
        if !(self.sweep > 0.0 && self.sweep <= 1.0) {
            return Err(StepError::Parameter { what: "share of the window", value: self.sweep });
        }
        if !(self.margin >= 0.0 && self.margin.is_finite()) {
            return Err(StepError::Parameter { what: "margin", value: self.margin });
        }
        if let Some(sleep) = &self.sleep {
            for (what, value) in [("time to sleep", sleep.after), ("motion of sleepers", sleep.motion)] {
                if !(value > 0.0 && value.is_finite()) {
                    return Err(StepError::Parameter { what, value });
                }
            }
        }
        if let Some(micro) = &self.micro {
            if micro.validate().is_err() {
                return Err(StepError::Parameter {
                    what: "largest restitution",
                    value: micro.max_restitution,
                });
            }
        }
        Ok(())
    }
}
