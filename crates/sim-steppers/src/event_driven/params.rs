//! Tunables of the event-driven stepper.

use super::{look::Sides, sleep::SleepParams};
use crate::{scale::Scale, setters::setters};
use rigid_impulse::MicroParams;
use sim_world::{Body, StepError, World};

/// Lengths that are not given, as shares of the smallest radius.
const ENVELOPE: f64 = 1e-3;
const ROOT: f64 = 1e-12;
const OVERLAP: f64 = 1e-10;
/// Distances are not known better than this, in rounding errors of the farthest position.
const ULPS: f64 = 16.0;

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

/// Resting contact by micro-collisions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Micro {
    /// Mirtich's, inside the envelope of the stepper.
    #[default]
    On,
    /// With these numbers, its own envelope included.
    With(MicroParams),
    /// None: every impact is answered at its root, so that a body that comes to rest uses up its budget.
    Off,
}

/// Parameters of [`EventDriven`](super::EventDriven).
///
/// Lengths that are not given follow the bodies: they are shares of the radius of the smallest free body of the world (the distance of its farthest
/// point from its centre of mass), and never below what rounding leaves of positions as far from the origin as somebody is. They follow bodies that are added
/// and removed; nothing is known of a world without free bodies, where the radius is taken to be 1 m. A length that is given is used as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EventDrivenParams {
    /// Resting contact. Default on.
    pub micro: Micro,
    /// Distance below which two bodies count as touching, and the search for an impact begins, m. Default 1e-3 of the smallest radius.
    pub envelope: Option<f64>,
    /// Length of a broad-phase window, s. Default 0.05. Longer ones have larger boxes and more pairs.
    pub window: f64,
    /// Share of the window that boxes are made for. Default 1. A smaller box has fewer pairs; that its body leaves it is an event,
    /// at which it gets a new one: more work, never a missed contact.
    pub sweep: f64,
    /// Boxes are larger than needed by this share of the radius, so that a small change of motion leaves them valid.
    /// Default 0.05.
    pub margin: f64,
    /// Distance at which impacts above the micro-collision threshold are answered, m. Default 1e-12 of the smallest radius; raised to a few ulps of
    /// time for fast bodies.
    pub root_tolerance: Option<f64>,
    /// Overlap that counts as rounding, m. Default 1e-10 of the smallest radius.
    pub overlap_tolerance: Option<f64>,
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
            micro: Micro::On,
            envelope: None,
            window: 0.05,
            sweep: 1.0,
            margin: 0.05,
            root_tolerance: None,
            overlap_tolerance: None,
            contact_handling: ContactHandling::Improved,
            max_events: 100_000_000,
            max_pair_events: 20_000,
            sleep: None,
        }
    }
}

impl EventDrivenParams {
    setters! {
        micro: Micro, envelope @optional: f64, window: f64, sweep: f64, margin: f64, root_tolerance @optional: f64,
        overlap_tolerance @optional: f64, contact_handling: ContactHandling, max_events: u64, max_pair_events: u32,
        sleep @optional: SleepParams,
    }

    /// With lengths given in proportion to a size (m): envelope 1e-3 of it, root 1e-12, overlap 1e-10.
    #[must_use]
    pub fn for_size(size: f64) -> Self {
        Self {
            envelope: Some(ENVELOPE * size),
            root_tolerance: Some(ROOT * size),
            overlap_tolerance: Some(OVERLAP * size),
            ..Self::default()
        }
    }

    /// True if there are micro-collisions.
    #[must_use]
    pub fn micro_collisions(&self) -> bool {
        self.micro != Micro::Off
    }

    /// The collision envelope that is in force for the bodies of a world, m.
    #[must_use]
    pub fn envelope_in(&self, world: &World) -> f64 {
        self.in_metres(&Scale::of(world, Body::center)).envelope()
    }

    /// With all lengths, for bodies of a scale.
    pub(super) fn in_metres(self, scale: &Scale) -> Scaled {
        let Scale { radius, farthest } = *scale;
        let rounding = f64::EPSILON * farthest;
        let length = |given: Option<f64>, share: f64, ulps: f64| {
            given.unwrap_or_else(|| (share * radius).max(ulps * rounding))
        };
        let envelope = length(self.envelope, ENVELOPE, 1e4 * ULPS);
        Scaled {
            micro: match self.micro {
                Micro::On => Some(MicroParams::mirtich(envelope)),
                Micro::With(micro) => Some(micro),
                Micro::Off => None,
            },
            envelope,
            root_tolerance: length(self.root_tolerance, ROOT, ULPS),
            overlap_tolerance: length(self.overlap_tolerance, OVERLAP, 100.0 * ULPS),
            given: self,
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn validate(&self) -> Result<(), StepError> {
        let given = match self.micro {
            Micro::With(micro) => Some(micro.envelope),
            Micro::On | Micro::Off => self.envelope,
        };
        let positive = [
            ("envelope", given),
            ("window", Some(self.window)),
            ("root tolerance", self.root_tolerance),
            ("overlap tolerance", self.overlap_tolerance),
        ];
        for (what, value) in positive.into_iter().filter_map(|(what, value)| Some((what, value?))) {
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
        if let Micro::With(micro) = &self.micro {
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

/// The same with all lengths in metres.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaled {
    pub(super) micro: Option<MicroParams>,
    envelope: f64,
    pub(super) root_tolerance: f64,
    pub(super) overlap_tolerance: f64,
    given: EventDrivenParams,
}

impl std::ops::Deref for Scaled {
    type Target = EventDrivenParams;

    fn deref(&self) -> &EventDrivenParams {
        &self.given
    }
}

impl Scaled {
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
    pub(super) fn envelope(&self) -> f64 {
        self.micro.as_ref().map_or(self.envelope, |m| m.envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::glam::DVec3;
    use sim_traits::Sphere;

    fn world(radii: &[f64], at: f64) -> World {
        let mut world = World::new(DVec3::ZERO).unwrap();
        world.add(Body::fixed().shape(Sphere::new(1e-6).unwrap())).unwrap();
        for (k, radius) in radii.iter().enumerate() {
            let ball = Body::free().shape(Sphere::new(*radius).unwrap());
            world.add(ball.at([at + 10.0 * k as f64, 0.0, 0.0])).unwrap();
        }
        world
    }

    #[test]
    fn lengths_follow_the_smallest_free_body() {
        let scaled = |params: EventDrivenParams, world: &World| {
            let s = params.in_metres(&Scale::of(world, Body::center));
            [s.envelope(), s.root_tolerance, s.overlap_tolerance]
        };
        let given = EventDrivenParams::default();
        assert_eq!(scaled(given, &world(&[], 0.0)), [1e-3, 1e-12, 1e-10]);
        assert_eq!(scaled(given, &world(&[2.0, 0.5], 0.0)), [0.5e-3, 0.5e-12, 0.5e-10]);
        // 1 mm, 10 km away: positions are known to 2e-12 m there.
        let [envelope, root, overlap] = scaled(given, &world(&[1e-3], 1e4));
        assert!(root > 1e-11 && root < 1e-10 && overlap > 10.0 * root && envelope > 1e3 * root);
        let mut own = given;
        (own.envelope, own.root_tolerance) = (Some(1e-9), Some(1e-14));
        let [envelope, root, _] = scaled(own, &world(&[1e-3], 1e4));
        assert_eq!([envelope, root], [1e-9, 1e-14]);
        own.micro = Micro::With(MicroParams::mirtich(1e-4));
        assert_eq!(own.envelope_in(&world(&[1.0], 0.0)), 1e-4);
    }
}
