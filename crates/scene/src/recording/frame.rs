//! What changes during a run: states, contacts, boxes, pairs, sums.

use super::error::{RecordingError, invalid};
use super::joints::JointState;
use sim_math::{Aabb, Pose, glam::DVec3};

/// One moment of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// Seconds of simulated time.
    pub time: f64,
    /// State of each body in the order in which they were listed; `None` before its birth and after its death.
    pub bodies: Vec<Option<BodyState>>,
    /// Contacts since the frame before, or at this moment; in the order (a, b), otherwise as given.
    pub contacts: Vec<Contact>,
    /// Boxes of the broad phase by body, empty if none are recorded; an unbounded box is not recorded.
    pub boxes: Vec<Option<Aabb>>,
    /// Pairs of bodies reported by the broad phase, sorted.
    pub pairs: Vec<[u32; 2]>,
    /// What each joint bears, in the order in which they were listed; `None` before it was made and after it went.
    pub joints: Vec<Option<JointState>>,
    /// Energies, momenta and counts.
    pub sums: Sums,
}

/// Where a body is and how it moves; world frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BodyState {
    /// World from body; body frame at the centre of mass.
    pub pose: Pose,
    /// Velocity of the origin of the body frame, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

/// Two bodies touching.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Body that the normal points to.
    pub a: u32,
    /// The other body.
    pub b: u32,
    /// Where, world frame, metres.
    pub point: DVec3,
    /// Unit vector from b to a.
    pub normal: DVec3,
    /// Impulse on a since the frame before, N·s, world axes.
    pub impulse: DVec3,
}

/// Numbers of the whole scene, stored exactly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sums {
    /// Kinetic energy, joule.
    pub kinetic: f64,
    /// Potential energy, joule.
    pub potential: f64,
    /// Momentum, kg m/s.
    pub momentum: DVec3,
    /// Angular momentum about the origin of the world, kg m²/s.
    pub angular_momentum: DVec3,
    /// Events (collisions and the like) since the start.
    pub events: f64,
    /// Work done so far by each cause named in [`super::Header::work`], joule; negative takes energy away.
    pub work: Vec<f64>,
}

impl Frame {
    /// Bodies that exist in this frame, with their index.
    pub fn present(&self) -> impl Iterator<Item = (usize, &BodyState)> {
        self.bodies.iter().enumerate().filter_map(|(i, state)| state.as_ref().map(|s| (i, s)))
    }

    pub(super) fn validate(&self, bodies: usize, joints: usize, work: usize) -> Result<(), RecordingError> {
        let frame = || format!("frame at {} s", self.time);
        if !self.time.is_finite() {
            return Err(invalid("frame.time", format!("must be finite, got {}", self.time)));
        }
        if self.bodies.len() != bodies {
            return Err(invalid(frame(), format!("{} states for {bodies} bodies", self.bodies.len())));
        }
        if self.joints.len() != joints {
            return Err(invalid(frame(), format!("{} states for {joints} joints", self.joints.len())));
        }
        if !self.boxes.is_empty() && self.boxes.len() != bodies {
            return Err(invalid(frame(), format!("{} boxes for {bodies} bodies", self.boxes.len())));
        }
        for (i, state) in self.present() {
            let finite = state.pose.is_finite() && state.velocity.is_finite() && state.spin.is_finite();
            if !finite || (state.pose.rotation.length() - 1.0).abs() > 1e-6 {
                let what = format!("must be finite with a unit rotation, got {state:?}");
                return Err(invalid(format!("{}: body {i}", frame()), what));
            }
        }
        let there = |body: u32| self.bodies.get(body as usize).is_some_and(Option::is_some);
        for (i, c) in self.contacts.iter().enumerate() {
            let item = || format!("{}: contact {i}", frame());
            if let Some(body) = [c.a, c.b].into_iter().find(|&b| !there(b)) {
                return Err(invalid(item(), format!("body {body} is not there")));
            }
            let finite = c.point.is_finite() && c.impulse.is_finite();
            if !finite || (c.normal.length() - 1.0).abs() >= 1e-6 || !c.normal.is_finite() {
                return Err(invalid(item(), format!("must be finite with a unit normal, got {c:?}")));
            }
        }
        for pair in &self.pairs {
            if let Some(body) = pair.iter().find(|&&b| !there(b)) {
                return Err(invalid(
                    format!("{}: pair {pair:?}", frame()),
                    format!("body {body} is not there"),
                ));
            }
        }
        self.sums.validate(&frame(), work)
    }
}

impl Sums {
    /// Names of the columns before the work terms, in order.
    pub(super) const COLUMNS: usize = 12;

    fn validate(&self, frame: &str, work: usize) -> Result<(), RecordingError> {
        if self.work.len() != work {
            return Err(invalid(frame, format!("{} work terms for {work} names", self.work.len())));
        }
        let scalars = [self.kinetic, self.potential, self.events];
        let finite = scalars.iter().chain(&self.work).all(|v| v.is_finite());
        if finite && self.momentum.is_finite() && self.angular_momentum.is_finite() {
            Ok(())
        } else {
            Err(invalid(frame, format!("sums must be finite, got {self:?}")))
        }
    }

    /// The columns of one frame; `time` and the two counts belong to the frame.
    pub(super) fn columns(frame: &Frame) -> impl Iterator<Item = f64> {
        let s = &frame.sums;
        let fixed = [
            frame.time,
            s.kinetic,
            s.potential,
            s.momentum.x,
            s.momentum.y,
            s.momentum.z,
            s.angular_momentum.x,
            s.angular_momentum.y,
            s.angular_momentum.z,
            s.events,
            frame.contacts.len() as f64,
            frame.pairs.len() as f64,
        ];
        fixed.into_iter().chain(s.work.iter().copied())
    }

    /// The inverse of [`Self::columns`], without the counts.
    pub(super) fn from_columns(c: &[f64]) -> Self {
        let at = |i: usize| c.get(i).copied().unwrap_or(0.0);
        Self {
            kinetic: at(1),
            potential: at(2),
            momentum: DVec3::new(at(3), at(4), at(5)),
            angular_momentum: DVec3::new(at(6), at(7), at(8)),
            events: at(9),
            work: c.get(Self::COLUMNS..).unwrap_or_default().to_vec(),
        }
    }
}
