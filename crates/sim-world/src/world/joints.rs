//! Joints of a world.

use super::{Change, World, filters::sorted};
use crate::{
    access::StepperAccess,
    error::WorldError,
    events::{Event, EventKind},
    joint::{Breaking, Joint, JointBuilder, JointMiss, inverse, limit_bit},
    stepper::StepError,
};
use constraint_dynamics::joints::BodyInverse;
use sim_math::{
    Pose,
    glam::DVec3,
    spatial::{Force, Motion},
};
use sim_traits::{
    BodyId, JointId,
    joint::{JointAxis, JointError, JointKind, JointLimits, JointModel, JointMotor, JointSoftness},
};

impl World {
    /// Adds a joint between bodies where they are now.
    ///
    /// # Errors
    /// Naming the id that the joint would have got: no free partner, a body with itself, an axis without direction, limits that are reversed,
    /// a negative force, a number that is not finite, bodies that are not where the joint holds them (unless [`JointBuilder::apart`]).
    pub fn add_joint(&mut self, joint: JointBuilder) -> Result<JointId, WorldError> {
        let joint = joint.build(self.joints.next_id(), self)?;
        if !joint.collide {
            for_pairs(&joint.bodies, |pair| {
                if let Err(place) = self.joined.binary_search(&pair) {
                    self.joined.insert(place, pair);
                }
            });
        }
        let bodies = joint.bodies.clone();
        let id = self.joints.insert(joint);
        self.note_joint(id, &bodies);
        Ok(id)
    }

    /// Removes a joint and gives it back.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn remove_joint(&mut self, id: JointId) -> Result<Joint, WorldError> {
        let joint: Joint = self.joints.remove(id).ok_or(WorldError::UnknownJoint { id })?;
        if !joint.collide {
            self.find_joined_among(&joint.bodies);
        }
        self.note_joint(id, &joint.bodies);
        Ok(joint)
    }

    /// Removes the joints of a body that goes.
    pub(super) fn remove_joints_of(&mut self, body: BodyId) {
        let gone: Vec<JointId> = self
            .joints
            .iter()
            .filter(|(_, j): &(JointId, _)| j.bodies.contains(&body))
            .map(|(id, _)| id)
            .collect();
        for id in gone {
            // They are there: they were just found.
            let _ = self.remove_joint(id);
        }
    }

    fn note_joint(&mut self, id: JointId, bodies: &[BodyId]) {
        self.note(Change::Joint(id));
        for &body in bodies {
            self.note(Change::Filtered(body));
        }
    }

    /// Finds out which bodies pass through each other because of joints.
    #[cfg(feature = "serde")]
    pub(crate) fn find_joined(&mut self) {
        let mut joined = Vec::new();
        for (_, joint) in self.joints().filter(|(_, j)| !j.collide) {
            for_pairs(&joint.bodies, |pair| joined.push(pair));
        }
        joined.sort_unstable();
        joined.dedup();
        self.joined = joined;
    }

    /// The same for bodies that one joint less holds: others may hold them still.
    fn find_joined_among(&mut self, bodies: &[BodyId]) {
        let mut joined = std::mem::take(&mut self.joined);
        for_pairs(bodies, |pair| {
            let holds = |j: &Joint| !j.collide && pair.iter().all(|b| j.bodies.contains(b));
            if let (Ok(place), false) = (joined.binary_search(&pair), self.joints().any(|(_, j)| holds(j))) {
                joined.remove(place);
            }
        });
        self.joined = joined;
    }

    /// A joint, if it is still there.
    #[must_use]
    pub fn get_joint(&self, id: JointId) -> Option<&Joint> {
        self.joints.get(id)
    }

    /// A joint.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn joint(&self, id: JointId) -> Result<&Joint, WorldError> {
        self.joints.get(id).ok_or(WorldError::UnknownJoint { id })
    }

    /// All joints in the order of their slots.
    pub fn joints(&self) -> impl Iterator<Item = (JointId, &Joint)> {
        self.joints.iter()
    }

    /// Number of joints.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.joints.len()
    }

    /// Value of a free axis, rad or m: angles go on over turns. Axes are numbered as in [`sim_traits::joint`].
    ///
    /// # Errors
    /// There is no such joint or axis.
    pub fn joint_value(&self, id: JointId, axis: usize) -> Result<f64, WorldError> {
        self.joint_motion(id, axis).map(|[value, _]| value)
    }

    /// Rate of a free axis, rad/s or m/s.
    ///
    /// # Errors
    /// There is no such joint or axis.
    pub fn joint_rate(&self, id: JointId, axis: usize) -> Result<f64, WorldError> {
        self.joint_motion(id, axis).map(|[_, rate]| rate)
    }

    fn joint_motion(&self, id: JointId, axis: usize) -> Result<[f64; 2], WorldError> {
        let joint = self.joint(id)?;
        let (poses, motions) = self.joint_state(joint);
        joint.value(axis, &poses, &motions).ok_or_else(|| no_axis(id, &joint.model, axis))
    }

    /// How far a joint is from what it holds, and its free axes beyond their limits.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn joint_error(&self, id: JointId) -> Result<JointMiss, WorldError> {
        let joint = self.joint(id)?;
        Ok(joint.miss(&self.joint_state(joint).0))
    }

    fn joint_state(&self, joint: &Joint) -> (Vec<Pose>, Vec<Motion>) {
        let state = |id: &BodyId| match self.bodies.get(*id) {
            Some(body) => (*body.now.pose(), body.now.velocity),
            None => (Pose::IDENTITY, Motion::ZERO),
        };
        joint.bodies.iter().map(state).unzip()
    }

    // Changes while it runs.

    /// Changes a joint if what comes out makes sense.
    fn change_joint(&mut self, id: JointId, change: impl FnOnce(&mut Joint)) -> Result<(), WorldError> {
        let mut joint = self.joint(id)?.clone();
        change(&mut joint);
        self.check_joint(id, &joint)?;
        if let Some(place) = self.joints.get_mut(id) {
            if *place == joint {
                return Ok(());
            }
            *place = joint;
        }
        self.note(Change::Joint(id));
        Ok(())
    }

    /// Changes the settings of a free axis if what comes out makes sense, without allocation: controllers do it all the time.
    fn change_axis(
        &mut self,
        id: JointId,
        axis: usize,
        change: impl FnOnce(&mut JointAxis),
    ) -> Result<(), WorldError> {
        let joint = self.joint(id)?;
        let Some(&old) = joint.model.axes.get(axis) else { return Err(no_axis(id, &joint.model, axis)) };
        let mut new = old;
        change(&mut new);
        if new == old {
            return Ok(());
        }
        self.put_axis(id, axis, new);
        if let Err(error) = self.joint(id).and_then(|joint| self.check_joint(id, joint)) {
            self.put_axis(id, axis, old);
            return Err(error);
        }
        // A motor with other numbers has the same rows, and what they exerted is a good guess.
        let same_rows =
            JointAxis { motor: old.motor, ..new } == old && new.motor.is_some() == old.motor.is_some();
        if let (false, Some(joint)) = (same_rows, self.joints.get_mut(id)) {
            joint.impulses.clear();
        }
        self.note(Change::Joint(id));
        Ok(())
    }

    fn put_axis(&mut self, id: JointId, axis: usize, settings: JointAxis) {
        let place = self.joints.get_mut(id).and_then(|joint: &mut Joint| joint.model.axes.get_mut(axis));
        if let Some(place) = place {
            *place = settings;
        }
    }

    /// Switches a joint on or off. One that is off keeps its bodies from colliding as before, and its angles are followed again from where
    /// they are when it is switched on.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn set_joint_enabled(&mut self, id: JointId, enabled: bool) -> Result<(), WorldError> {
        self.change_joint(id, |joint| {
            if joint.enabled != enabled {
                joint.impulses.clear();
                joint.reaction = Force::ZERO;
            }
            joint.enabled = enabled;
        })
    }

    /// Makes a broken joint whole again.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn mend_joint(&mut self, id: JointId) -> Result<(), WorldError> {
        self.change_joint(id, |joint| joint.broken = false)
    }

    /// Gives a free axis another motor, or none.
    ///
    /// # Errors
    /// No such joint or axis, or a number that cannot be.
    pub fn set_joint_motor(
        &mut self,
        id: JointId,
        axis: usize,
        motor: Option<JointMotor>,
    ) -> Result<(), WorldError> {
        self.change_axis(id, axis, |a| a.motor = motor)
    }

    /// Gives a free axis other limits, or none.
    ///
    /// # Errors
    /// As [`World::set_joint_motor`].
    pub fn set_joint_limits(
        &mut self,
        id: JointId,
        axis: usize,
        limits: Option<JointLimits>,
    ) -> Result<(), WorldError> {
        self.change_axis(id, axis, |a| a.limits = limits)
    }

    /// Gives a free axis other settings.
    ///
    /// # Errors
    /// As [`World::set_joint_motor`].
    pub fn set_joint_axis(
        &mut self,
        id: JointId,
        axis: usize,
        settings: JointAxis,
    ) -> Result<(), WorldError> {
        self.change_axis(id, axis, |a| *a = settings)
    }

    /// Gives a bar or rope another length, m.
    ///
    /// # Errors
    /// No such joint, one without length, or a length that is not positive.
    pub fn set_joint_length(&mut self, id: JointId, to: f64) -> Result<(), WorldError> {
        let model = &self.joint(id)?.model;
        let kind = model.kind.name();
        if !matches!(
            model.kind,
            JointKind::Distance { .. }
                | JointKind::Rope { .. }
                | JointKind::MultiBar { .. }
                | JointKind::MultiRope { .. }
        ) {
            let source = JointError::Unsupported { kind, what: "a length" };
            return Err(WorldError::Joint { joint: id, kind, source });
        }
        self.change_joint(id, |joint| {
            if let JointKind::Distance { length }
            | JointKind::Rope { length, .. }
            | JointKind::MultiBar { length }
            | JointKind::MultiRope { length, .. } = &mut joint.model.kind
            {
                *length = to;
            }
        })
    }

    /// Gives a joint springs in place of what it holds, or none.
    ///
    /// # Errors
    /// No such joint, or a number that cannot be.
    pub fn set_joint_softness(
        &mut self,
        id: JointId,
        softness: Option<JointSoftness>,
    ) -> Result<(), WorldError> {
        self.change_joint(id, |joint| joint.model.softness = softness)
    }

    /// Says what a joint bears.
    ///
    /// # Errors
    /// No such joint, or a number that is negative or NaN.
    pub fn set_joint_breaking(&mut self, id: JointId, breaking: Breaking) -> Result<(), WorldError> {
        self.change_joint(id, |joint| joint.breaking = breaking)
    }

    /// What must hold for any joint of this world; after [`World::restore`] too.
    pub(crate) fn check_joint(&self, id: JointId, joint: &Joint) -> Result<(), WorldError> {
        let kind = joint.model.kind.name();
        let named = |source| WorldError::Joint { joint: id, kind, source };
        joint.model.check().map_err(named)?;
        let mut free = false;
        for &body in &joint.bodies {
            free |= self.body(body)?.is_free();
        }
        if !free {
            return Err(WorldError::JointFixed { joint: id, kind });
        }
        if joint.model.bodies() > joint.bodies.len() {
            let (needed, got) = (joint.model.bodies(), joint.bodies.len());
            return Err(named(JointError::Count { kind, what: "bodies", needed, got }));
        }
        if joint.memory.len() != joint.model.kind.memory_len() {
            let (needed, got) = (joint.model.kind.memory_len(), joint.memory.len());
            return Err(named(JointError::Count { kind, what: "numbers of memory", needed, got }));
        }
        for (what, value) in [
            ("breaking force", joint.breaking.force),
            ("breaking torque", joint.breaking.torque),
            ("breaking impulse", joint.breaking.impulse),
        ] {
            if value.is_nan() {
                return Err(named(JointError::NonFinite { what, value }));
            }
            if value < 0.0 {
                return Err(named(JointError::Negative { what, value }));
            }
        }
        let impulses = joint.impulses.iter().flat_map(DVec3::to_array);
        let reaction = joint.reaction.linear.to_array().into_iter().chain(joint.reaction.moment.to_array());
        match joint.memory.iter().copied().chain(impulses).chain(reaction).find(|x| !x.is_finite()) {
            Some(value) => Err(named(JointError::NonFinite { what: "state", value })),
            None => Ok(()),
        }
    }

    // For steppers.

    /// Joint in a slot, with its id.
    #[inline]
    #[must_use]
    pub fn joint_in_slot(&self, slot: u32) -> Option<(JointId, &Joint)> {
        self.joints.at(slot)
    }

    /// Number of joint slots, empty ones included.
    #[must_use]
    pub fn joint_slots(&self) -> usize {
        self.joints.capacity()
    }

    /// Writes how easily the bodies of a joint move, for [`Joint::rows`].
    pub fn joint_inverses(&self, joint: &Joint, out: &mut Vec<BodyInverse>) {
        out.clear();
        out.extend(joint.bodies.iter().filter_map(|b| self.bodies.get(*b)).map(inverse));
    }

    /// `Ok` for a world without active joints: for steppers that cannot run them.
    ///
    /// # Errors
    /// [`StepError::UnsupportedJoint`] for the first.
    pub fn refuse_joints(&self, stepper: &'static str) -> Result<(), StepError> {
        match self.joints().find(|(_, j)| j.is_active()) {
            Some((joint, j)) => {
                Err(StepError::UnsupportedJoint { joint, kind: j.model.kind.name(), stepper })
            }
            None => Ok(()),
        }
    }
}

impl StepperAccess<'_> {
    /// The same, for its rows and impulses.
    #[inline]
    pub fn joint_in_slot_mut(&mut self, slot: u32) -> Option<(JointId, &mut Joint)> {
        self.world.joints.at_mut(slot)
    }

    /// Says what a joint exerted on its second partner in a step, about that anchor, and the impulse of an impact on it (N·s), 0 if it bore
    /// a lasting load only.
    /// Breaks the joint, and lists that, if it was more than it bears; true if it did.
    pub fn load_joint(&mut self, id: JointId, reaction: Force, impulse: f64, time: f64) -> bool {
        let Some(joint) = self.world.joints.get_mut(id) else { return false };
        joint.reaction = reaction;
        let (force, torque) = (reaction.linear.length(), reaction.moment.length());
        let Breaking { force: most_force, torque: most_torque, impulse: most_impulse } = joint.breaking;
        // A blow lasts no time: what it exerts is no force.
        let lasts = impulse <= 0.0 && (force > most_force || torque > most_torque);
        if joint.broken || !(lasts || impulse > most_impulse) {
            return false;
        }
        joint.broken = true;
        joint.impulses.clear();
        self.world.list(Event { time, kind: EventKind::JointBroken { joint: id, force, torque, impulse } });
        true
    }

    /// Says whether a free axis of a joint is at one of its limits. Lists it when it arrives there.
    pub fn joint_at_limit(&mut self, id: JointId, axis: usize, high: bool, reached: bool, time: f64) {
        let (Some(joint), Some(bit)) = (self.world.joints.get_mut(id), limit_bit(axis, high)) else { return };
        let before = joint.at_limits & bit != 0;
        joint.at_limits = if reached { joint.at_limits | bit } else { joint.at_limits & !bit };
        if reached && !before {
            self.world
                .list(Event { time, kind: EventKind::JointLimit { joint: id, axis: axis as u32, high } });
        }
    }
}

/// All pairs among some bodies, smaller slot first.
fn for_pairs(bodies: &[BodyId], mut act: impl FnMut([BodyId; 2])) {
    for (k, &a) in bodies.iter().enumerate() {
        bodies[..k].iter().for_each(|&b| act(sorted(a, b)));
    }
}

fn no_axis(id: JointId, model: &JointModel, axis: usize) -> WorldError {
    let kind = model.kind.name();
    let what = "free axes at least for this number";
    let source = JointError::Count { kind, what, needed: axis + 1, got: model.kind.free_axes() };
    WorldError::Joint { joint: id, kind, source }
}
