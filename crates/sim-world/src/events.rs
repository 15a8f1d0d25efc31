//! What happened, for the user: contacts, collisions, timers.

use crate::control::ControllerId;
use crate::slots::world_id;
use rigid_impulse::CollisionKind;
use sim_math::glam::DVec3;
use sim_traits::{BodyId, ColliderId, JointId};

world_id!(TimerId, "timer");

/// Which collisions are listed. Resting bodies make hundreds of micro-collisions a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Listing {
    /// None at all.
    Nothing,
    /// Ordinary collisions, beginnings of contact, timers.
    #[default]
    Ordinary,
    /// Micro-collisions too.
    All,
}

/// One impulse between two colliders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collision {
    /// The collider that the normal points to.
    pub a: ColliderId,
    /// The other one.
    pub b: ColliderId,
    /// Where, world, m.
    pub point: DVec3,
    /// Unit vector from B to A, world axes.
    pub normal: DVec3,
    /// Impulse on A, world axes, N·s.
    pub impulse: DVec3,
    /// Speed of approach along the normal before it, m/s.
    pub approach: f64,
    /// Distance at which it was answered, m.
    pub separation: f64,
    /// Ordinary or micro.
    pub kind: CollisionKind,
}

/// Two colliders in contact, and what they exerted on each other during an advance.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Contact {
    /// The collider that the normal points to; it has the smaller slot.
    pub a: ColliderId,
    /// The other one.
    pub b: ColliderId,
    /// Where the last impulse acted, world, m.
    pub point: DVec3,
    /// Unit vector from B to A then, world axes.
    pub normal: DVec3,
    /// Distance then, m.
    pub separation: f64,
    /// Sum of the impulses on A in the last advance, world axes, N·s. Divided by its duration it is the mean force.
    pub impulse: DVec3,
    /// Number of impulses in the last advance.
    pub count: u64,
    /// Time of the last impulse, s.
    pub time: f64,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// Two colliders that were apart collide for the first time.
    ContactBegan {
        /// The one with the smaller slot.
        a: ColliderId,
        /// The other one.
        b: ColliderId,
    },
    /// Two colliders that were in contact are apart, or one of them is gone.
    ContactEnded {
        /// The one with the smaller slot.
        a: ColliderId,
        /// The other one.
        b: ColliderId,
    },
    /// Something came into a sensor.
    SensorEntered {
        /// The sensor; of two sensors the one with the smaller slot.
        sensor: ColliderId,
        /// What came in.
        other: ColliderId,
    },
    /// Something left a sensor, or one of them is gone.
    SensorLeft {
        /// The sensor; of two sensors the one with the smaller slot.
        sensor: ColliderId,
        /// What left.
        other: ColliderId,
    },
    /// An impulse.
    Collision(Collision),
    /// A body settled and is put to sleep.
    FellAsleep {
        /// Which body.
        body: BodyId,
    },
    /// A sleeping body moves again.
    WokeUp {
        /// Which body.
        body: BodyId,
    },
    /// The state of a body stopped being finite: it is frozen, without contacts, until the user moves it.
    Quarantined {
        /// Which body.
        body: BodyId,
    },
    /// A controller acts for the `count`-th of its times, from 0.
    Controlled {
        /// Which controller.
        controller: ControllerId,
        /// How many of its times were before.
        count: u64,
    },
    /// A joint was loaded by more than it bears: it holds nothing any more.
    JointBroken {
        /// Which joint.
        joint: JointId,
        /// Load on it, N.
        force: f64,
        /// Load on it, N·m.
        torque: f64,
        /// Impulse of an impact on it, N·s.
        impulse: f64,
    },
    /// A free axis of a joint reached a limit that it was not at before.
    JointLimit {
        /// Which joint.
        joint: JointId,
        /// Number of the axis among the free axes.
        axis: u32,
        /// True for the upper limit.
        high: bool,
    },
    /// A timer went off for the `count`-th time, from 0.
    Timer {
        /// Which timer.
        timer: TimerId,
        /// How often it went off before.
        count: u64,
    },
}

/// When something happened, and what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// World time, s.
    pub time: f64,
    /// What.
    pub kind: EventKind,
}

/// Goes off at `first + k period`, so often as it says: by multiplication, so it does not drift.
///
/// ```
/// use sim_world::Timer;
///
/// let thrice = Timer::every(0.5).starting(1.0).times(3);
/// assert_eq!(thrice.next(), 1.0);
/// assert_eq!(Timer { count: 2, ..thrice }.next(), 2.0);
/// assert_eq!(Timer { count: 3, ..thrice }.next(), f64::INFINITY);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timer {
    /// First time, s.
    pub first: f64,
    /// s.
    pub period: f64,
    /// How often it went off.
    pub count: u64,
    /// How often it goes off in all; the largest number for one that never ends.
    pub times: u64,
}

impl Timer {
    /// Every so many seconds, beginning at once.
    #[must_use]
    pub const fn every(period: f64) -> Self {
        Self { first: 0.0, period, count: 0, times: u64::MAX }
    }

    /// Once, at a time (s).
    #[must_use]
    pub const fn once(first: f64) -> Self {
        Self { first, period: 1.0, count: 0, times: 1 }
    }

    /// The first time, s.
    #[must_use]
    pub const fn starting(mut self, first: f64) -> Self {
        self.first = first;
        self
    }

    /// How often it goes off in all.
    #[must_use]
    pub const fn times(mut self, times: u64) -> Self {
        self.times = times;
        self
    }

    /// When it goes off next, s; never (infinity) if it went off as often as it was to.
    #[must_use]
    pub fn next(&self) -> f64 {
        if self.count < self.times { self.first + self.period * self.count as f64 } else { f64::INFINITY }
    }
}
