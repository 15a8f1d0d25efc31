//! Forces of a world.

use super::{World, count};
use crate::{
    body::Body,
    error::WorldError,
    force::{ForceGenerator, ForceId},
};
use rigid_impulse::BodyError;
use sim_math::glam::DVec3;
use sim_traits::BodyId;

impl World {
    /// Adds a force. Its cost does not depend on how many there are: motions begin anew when a stepper next looks at the world.
    ///
    /// # Errors
    /// A number that cannot be, an unknown body, one that is not free, or a force that is not finite at the present state. Nothing is changed then.
    pub fn add_force(&mut self, force: ForceGenerator) -> Result<ForceId, WorldError> {
        self.check_force(&force, None)?;
        force.bodies().for_each(|id| self.end_motion(id));
        self.account_for_springs(&force, 1.0);
        let uniform = force.is_uniform();
        let bodies: [Option<BodyId>; 2] = both(&force);
        let pull = pull_of(&force);
        let id: ForceId = self.forces.insert(force);
        for body in bodies.into_iter().flatten() {
            self.attach(body, id.index());
        }
        self.pull_changed(pull, DVec3::ZERO);
        self.regroup |= !uniform;
        Ok(id)
    }

    /// Puts another force in the place of one: set-points of motors, rest lengths, the output of a controller.
    ///
    /// # Errors
    /// There is no such force; as [`World::add_force`]. The force is then what it was.
    pub fn set_force(&mut self, id: ForceId, force: ForceGenerator) -> Result<(), WorldError> {
        let old = self.forces.get(id).ok_or(WorldError::UnknownForce { id })?;
        self.check_force(&force, Some(old))?;
        if *old == force {
            return Ok(());
        }
        let same = old.is_uniform() == force.is_uniform() && old.bodies().eq(force.bodies());
        if !same {
            self.take_force(id)?;
            self.put_force(id, force);
            return Ok(());
        }
        force.bodies().for_each(|body| self.end_motion(body));
        self.account_for_springs(&force, 1.0);
        let pull = pull_of(&force);
        let Some(place) = self.forces.get_mut(id) else { return Err(WorldError::UnknownForce { id }) };
        let old = std::mem::replace(place, force);
        self.account_for_springs(&old, -1.0);
        self.pull_changed(pull, pull_of(&old).map_or(DVec3::ZERO, |(_, force)| force));
        Ok(())
    }

    /// Removes a force and gives it back.
    ///
    /// # Errors
    /// There is no such force.
    pub fn remove_force(&mut self, id: ForceId) -> Result<ForceGenerator, WorldError> {
        let force = self.take_force(id)?;
        self.forces.remove(id);
        Ok(force)
    }

    /// A force, if it is still there.
    #[must_use]
    pub fn force(&self, id: ForceId) -> Option<&ForceGenerator> {
        self.forces.get(id)
    }

    /// All forces in the order of their slots.
    pub fn forces(&self) -> impl Iterator<Item = (ForceId, &ForceGenerator)> {
        self.forces.iter()
    }

    /// Forces on a body, or that hold on to it, in the order of their slots.
    pub fn forces_of(&self, id: BodyId) -> impl Iterator<Item = (ForceId, &ForceGenerator)> {
        let slots = self.bodies.get(id).map_or(&[][..], |b| &b.forces);
        slots.iter().filter_map(|slot| self.forces.at(*slot))
    }

    /// Takes the bodies off a force, which stays in its slot; gives a copy of it.
    fn take_force(&mut self, id: ForceId) -> Result<ForceGenerator, WorldError> {
        let force = self.forces.get(id).ok_or(WorldError::UnknownForce { id })?.clone();
        force.bodies().for_each(|body| self.end_motion(body));
        self.account_for_springs(&force, -1.0);
        for body in force.bodies() {
            self.detach(body, id.index());
        }
        let pull = pull_of(&force).map(|(body, _)| (body, DVec3::ZERO));
        self.pull_changed(pull, pull_of(&force).map_or(DVec3::ZERO, |(_, force)| force));
        self.regroup |= !force.is_uniform();
        Ok(force)
    }

    /// Puts a force in a slot whose force was taken.
    fn put_force(&mut self, id: ForceId, force: ForceGenerator) {
        force.bodies().for_each(|body| self.end_motion(body));
        self.account_for_springs(&force, 1.0);
        for body in both(&force).into_iter().flatten() {
            self.attach(body, id.index());
        }
        self.pull_changed(pull_of(&force), DVec3::ZERO);
        self.regroup |= !force.is_uniform();
        if let Some(place) = self.forces.get_mut(id) {
            *place = force;
        }
    }

    /// Numbers and bodies of a force, which takes the place of another one if that is given.
    fn check_force(&self, force: &ForceGenerator, old: Option<&ForceGenerator>) -> Result<(), WorldError> {
        for id in force.bodies() {
            let named = |source| WorldError::Body { body: id, source };
            force.validate().map_err(named)?;
            let body = self.body(id)?;
            if !body.is_free() && !force.has_anchors() {
                return Err(WorldError::NotFree { body: id, what: "forces do not move it" });
            }
            if !force.is_uniform() {
                super::trees::refuse_link(id, self.body(id)?, "only constant forces act on links")?;
            }
        }
        if let Some((id, pull)) = pull_of(force) {
            let body = self.body(id)?;
            let before = old.and_then(pull_of).filter(|(b, _)| *b == id).map_or(DVec3::ZERO, |(_, f)| f);
            let total = body.pull + (pull - before) / body.mass();
            if !total.is_finite() {
                let source =
                    BodyError::NonFinite { what: "acceleration by constant forces", value: total.length() };
                return Err(WorldError::Body { body: id, source });
            }
            return Ok(());
        }
        let mut result = Ok(());
        force.apply(self.time, &|id| self.get(id).map(|b| (b.model(), *b.state())), &mut |id, wrench| {
            let free = self.get(id).filter(|b| b.is_free());
            let finite = |b: &Body| {
                let inverse = b.inverse_inertia();
                (wrench.linear / b.mass()).is_finite() && (inverse * wrench.moment).is_finite()
            };
            if free.is_some_and(|b| !finite(b)) && result.is_ok() {
                let source = BodyError::NonFinite { what: "acceleration", value: wrench.linear.length() };
                result = Err(WorldError::Body { body: id, source });
            }
        });
        result
    }

    /// Enters a force in the list of a body, which is sorted: a slot that is used again has its old place.
    pub(crate) fn attach(&mut self, body: BodyId, slot: u32) {
        let Some(body) = self.bodies.get_mut(body) else { return };
        if let Err(place) = body.forces.binary_search(&slot) {
            count(body.forces.len() - place + 1);
            body.forces.insert(place, slot);
        }
    }

    fn detach(&mut self, body: BodyId, slot: u32) {
        let Some(body) = self.bodies.get_mut(body) else { return };
        if let Ok(place) = body.forces.binary_search(&slot) {
            count(body.forces.len() - place);
            body.forces.remove(place);
        }
    }

    /// What adding (1) or removing (-1) a spring does to the potential of springs is no motion: it stays out of an open account.
    fn account_for_springs(&mut self, force: &ForceGenerator, sign: f64) {
        if self.account.is_open() && self.is_elastic(force) {
            self.account.springs += sign * self.stretch(force);
        }
    }

    /// The sum of constant forces on a body, good enough until it is summed afresh.
    fn pull_changed(&mut self, new: Option<(BodyId, DVec3)>, before: DVec3) {
        let Some((id, force)) = new else { return };
        if let Some(body) = self.bodies.get_mut(id) {
            body.pull += (force - before) / body.mass();
        }
    }
}

/// Bodies of a force, without repetition.
fn both(force: &ForceGenerator) -> [Option<BodyId>; 2] {
    let mut bodies = force.bodies();
    let first = bodies.next();
    [first, bodies.next().filter(|b| Some(*b) != first)]
}

/// The body and the force of a constant force without torque.
fn pull_of(force: &ForceGenerator) -> Option<(BodyId, DVec3)> {
    match force {
        ForceGenerator::Constant { body, force, torque } if *torque == DVec3::ZERO => Some((*body, *force)),
        _ => None,
    }
}
