//! Changes of bodies that run: colliders, mass, gravity, and whether they are free.

use super::{Change, World, trees::refuse_link};
use crate::{
    body::{Body, Rest},
    collider::{Collider, ColliderBuilder, Surface, Usual},
    error::WorldError,
    joint::Joint,
    piece::Piece,
    script::Script,
};
use rigid_impulse::{BodyError, BodyKind, BodyModel, BodyState, PrincipalMass};
use sim_math::{Pose, mass::MassProperties, spatial::Motion};
use sim_traits::{BodyId, ColliderId};
use std::sync::Arc;

impl World {
    /// Puts a collider on a body that is in the world. The mass stays what it is: [`World::set_mass_properties`]. Its friction and restitution are the usual
    /// ones unless it has its own.
    ///
    /// ```
    /// use sim_math::Pose;
    /// use sim_traits::Sphere;
    /// use sim_world::{Body, ColliderBuilder, World};
    ///
    /// let mut world = World::new([0.0, 0.0, -9.81])?;
    /// let ball = world.add(Body::free().shape(Sphere::new(0.1)?))?;
    /// let knob = ColliderBuilder::new(Sphere::new(0.05)?).at(Pose::from_translation([0.0, 0.0, 0.1].into()));
    /// let knob = world.add_collider(ball, knob)?;
    /// assert_eq!(world[ball].colliders().len(), 2);
    /// world.remove_collider(knob)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no such body or material; a number that cannot be; a shape without bounds on a free body.
    pub fn add_collider(&mut self, id: BodyId, collider: ColliderBuilder) -> Result<ColliderId, WorldError> {
        let body = self.body(id)?;
        let body_from_user = body.now.pose().inverse_mul(&body.user_pose());
        let place = (body.colliders.len(), body.is_free(), body_from_user);
        let collider = collider.build(id, place, &Usual::default(), &self.materials)?;
        let collider = self.colliders.insert(collider);
        self.body_mut(id)?.colliders.push(collider);
        self.note(Change::Rebuilt(id));
        Ok(collider)
    }

    /// Takes a collider off its body and gives it back. The mass stays what it is.
    ///
    /// # Errors
    /// There is no such collider.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<Collider, WorldError> {
        let collider: Collider = self.colliders.remove(id).ok_or(WorldError::UnknownCollider { id })?;
        if let Some(body) = self.bodies.get_mut(collider.body) {
            body.colliders.retain(|c| *c != id);
        }
        self.note(Change::Removed(id));
        self.note(Change::Rebuilt(collider.body));
        Ok(collider)
    }

    /// Gives all colliders of a body this coefficient of friction. Those of a named material get numbers of their own.
    ///
    /// # Errors
    /// There is no such body; a number that cannot be. Nothing is changed then.
    pub fn set_friction(&mut self, id: BodyId, friction: f64) -> Result<(), WorldError> {
        self.set_surfaces(id, |[_, restitution]| [friction, restitution])
    }

    /// Gives all colliders of a body this coefficient of restitution. Those of a named material get numbers of their own.
    ///
    /// # Errors
    /// As [`World::set_friction`].
    pub fn set_restitution(&mut self, id: BodyId, restitution: f64) -> Result<(), WorldError> {
        self.set_surfaces(id, |[friction, _]| [friction, restitution])
    }

    fn set_surfaces(&mut self, id: BodyId, change: impl Fn([f64; 2]) -> [f64; 2]) -> Result<(), WorldError> {
        for k in 0..self.body(id)?.colliders.len() {
            let collider = self.body(id)?.colliders[k];
            let [friction, restitution] = change(match self.collider(collider)?.surface {
                Surface::Own { friction, restitution } => [friction, restitution],
                Surface::Named(m) => self.materials.get(m).map_or([0.0; 2], |m| [m.friction, m.restitution]),
            });
            // A number that cannot be is refused for the first.
            self.set_surface(collider, Surface::Own { friction, restitution })?;
        }
        Ok(())
    }

    /// Gives a body another mass (kg), as if its density had changed. Velocities stay; of a body that is not free it is the mass that it will have.
    ///
    /// # Errors
    /// There is no such body, one without mass, or a mass that is not positive and finite.
    pub fn set_mass(&mut self, id: BodyId, mass: f64) -> Result<(), WorldError> {
        let (old, frame) = self.mass_when_free(id)?;
        let named = |source| WorldError::Body { body: id, source };
        PrincipalMass::new(mass, old.moments()).map_err(named)?;
        let new = PrincipalMass::new(mass, old.moments() * (mass / old.mass())).map_err(named)?;
        self.set_principal_mass(id, new, frame)
    }

    /// Gives a body another mass, centre of mass and inertia, in the user's frame. The velocities of its points stay; of a body that is not free it is the
    /// mass that it will have.
    ///
    /// # Errors
    /// There is no such body, or numbers that no body has.
    pub fn set_mass_properties(&mut self, id: BodyId, properties: MassProperties) -> Result<(), WorldError> {
        self.body(id)?;
        let named = |source: BodyError| WorldError::Body { body: id, source };
        let given = MassProperties::try_new(properties.mass, properties.center_of_mass, properties.inertia);
        let given = given.map_err(BodyError::from).map_err(named)?;
        let (mass, frame) = PrincipalMass::of(&given).map_err(named)?;
        self.set_principal_mass(id, mass, frame)
    }

    fn set_principal_mass(&mut self, id: BodyId, mass: PrincipalMass, frame: Pose) -> Result<(), WorldError> {
        refuse_link(id, self.body(id)?, "its mass is that of its tree")?;
        let body = self.body_mut(id)?;
        body.when_free = Some(Box::new((mass, frame)));
        if !body.is_free() {
            return Ok(());
        }
        let same_frame = *body.model.user_from_body() == frame;
        self.remodel(id, BodyKind::Free(mass), frame, None)?;
        // Who is lighter or heavier in the same frame has the same contacts.
        self.note(if same_frame { Change::Pushed(id) } else { Change::Rebuilt(id) });
        Ok(())
    }

    /// Multiplies gravity for one body: 0 for what floats, -1 for a balloon.
    ///
    /// # Errors
    /// There is no such body, or a number that is not finite.
    pub fn set_gravity_factor(&mut self, id: BodyId, factor: f64) -> Result<(), WorldError> {
        self.body(id)?;
        if !factor.is_finite() {
            let source = BodyError::NonFinite { what: "gravity factor", value: factor };
            return Err(WorldError::Body { body: id, source });
        }
        refuse_link(id, self.body(id)?, "gravity acts on its tree")?;
        self.end_motion(id);
        self.body_mut(id)?.gravity_factor = factor;
        Ok(())
    }

    /// Lets a fixed or scripted body move under forces and impulses, from where it is and with the velocity that it has. Its mass is what it had when it was
    /// free before, or follows from its shapes and density when it was made, or was given by [`World::set_mass_properties`].
    ///
    /// # Errors
    /// There is no such body, one without mass, or one with a shape without bounds.
    pub fn set_free(&mut self, id: BodyId) -> Result<(), WorldError> {
        let (mass, frame) = self.mass_when_free(id)?;
        let body = self.body(id)?;
        if body.is_free() {
            return Ok(());
        }
        for (index, collider) in body.colliders.iter().enumerate() {
            let shape = &self.collider(*collider)?.shape;
            if !shape.bounding_radius().is_finite() {
                return Err(WorldError::Unbounded { body: id, index, shape: shape.name() });
            }
        }
        self.remodel(id, BodyKind::Free(mass), frame, None)?;
        self.note(Change::Rebuilt(id));
        Ok(())
    }

    /// Makes a body stay where it is. Forces and joints on it stay, and act again when it is free again.
    ///
    /// # Errors
    /// There is no such body.
    pub fn set_fixed(&mut self, id: BodyId) -> Result<(), WorldError> {
        if self.body(id)?.is_fixed() {
            return Ok(());
        }
        self.remodel(id, BodyKind::Fixed, Pose::IDENTITY, None)?;
        self.note(Change::Rebuilt(id));
        Ok(())
    }

    /// Makes a body follow a script from the world's time on: it is then where the script says.
    ///
    /// # Errors
    /// There is no such body, or a script whose limits or pose make no sense.
    pub fn set_scripted(&mut self, id: BodyId, script: Arc<dyn Script>) -> Result<(), WorldError> {
        self.body(id)?;
        let piece = Piece::scripted(self.time, script);
        let piece = piece.map_err(|source| WorldError::Body { body: id, source })?;
        self.remodel(id, BodyKind::Scripted, Pose::IDENTITY, Some(piece))?;
        self.note(Change::Rebuilt(id));
        Ok(())
    }

    fn mass_when_free(&self, id: BodyId) -> Result<(PrincipalMass, Pose), WorldError> {
        let body = self.body(id)?;
        match (body.kind(), &body.when_free) {
            (BodyKind::Free(mass), _) => Ok((*mass, *body.model.user_from_body())),
            (_, Some(known)) => Ok(**known),
            (_, None) => Err(WorldError::Massless { body: id }),
        }
    }

    /// Makes another model of a body. Its user frame stays where it is, and its points keep their velocities, unless a script says something else.
    fn remodel(
        &mut self,
        id: BodyId,
        kind: BodyKind,
        user_from_body: Pose,
        script: Option<Piece>,
    ) -> Result<(), WorldError> {
        let named = |source| WorldError::Body { body: id, source };
        let model = BodyModel::new(kind).with_user_frame(user_from_body).map_err(named)?;
        let body = self.body(id)?;
        refuse_link(id, body, "its tree moves it")?;
        let (before, was) = (body.model, body.now);
        let state = match &script {
            Some(piece) => piece.at(&model, self.time).map_err(named)?,
            None => {
                let mut state =
                    BodyState::at_rest((body.user_pose() * user_from_body).renormalized()).map_err(named)?;
                if !matches!(kind, BodyKind::Fixed) {
                    let linear = was.velocity_at(state.pose().translation);
                    state.velocity = Motion::new(was.velocity.angular, linear);
                }
                state
            }
        };
        self.end_motion(id);
        // What springs hold on to it moves on otherwise, too.
        let mut held: Vec<BodyId> = self.forces_of(id).flat_map(|(_, force)| force.bodies()).collect();
        held.retain(|other| *other != id);
        held.into_iter().for_each(|other| self.end_motion(other));
        let stateful = self.forces_of(id).any(|(_, force)| !force.is_uniform());
        self.regroup |= stateful;
        let springs = if self.account.is_open() { self.held_energy_of(id) } else { 0.0 };
        let Some(body) = self.bodies.get_mut(id) else { return Ok(()) };
        if let BodyKind::Free(mass) = before.kind() {
            body.when_free.get_or_insert_with(|| Box::new((*mass, *before.user_from_body())));
        }
        let was_outdated = body.outdated;
        let free = matches!(kind, BodyKind::Free(_));
        (body.model, body.now, body.rest, body.step_hint) = (model, state, Rest::Awake, None);
        // A free body gets its piece with all that begin anew.
        body.piece = script.unwrap_or_else(|| Piece::still(state));
        body.outdated = free;
        if free && !was_outdated {
            self.outdated.push(id);
        }
        self.reframe(id, *before.user_from_body(), user_from_body);
        if self.account.is_open() {
            self.account.springs += self.held_energy_of(id) - springs;
        }
        self.account.remodelled([(&before, &was), (&model, &state)]);
        self.idle_joints();
        Ok(())
    }

    /// Puts colliders and anchors of joints in another body frame; the user's frame is the same.
    fn reframe(&mut self, id: BodyId, user_from_old: Pose, user_from_new: Pose) {
        if user_from_old == user_from_new {
            return;
        }
        let new_from_old = user_from_new.inverse_mul(&user_from_old);
        let colliders = self.bodies.get(id).map_or(&[][..], |b: &Body| &b.colliders);
        for collider in colliders {
            if let Some(collider) = self.colliders.get_mut(*collider) {
                let collider: &mut Collider = collider;
                let pose = (new_from_old * collider.extent.body_from_shape).renormalized();
                collider.extent = crate::piece::Extent::new(&collider.shape, pose);
            }
        }
        for slot in 0..self.joints.capacity() as u32 {
            let Some((_, joint)) = self.joints.at_mut::<sim_traits::JointId>(slot) else { continue };
            let joint: &mut Joint = joint;
            let Some(number) = joint.bodies.iter().position(|b| *b == id) else { continue };
            for anchor in joint.model.anchors.iter_mut().filter(|a| a.body == number as u32) {
                anchor.frame = (new_from_old * anchor.frame).renormalized();
            }
        }
    }

    /// Finds out which joints have no free partner: they hold nothing.
    fn idle_joints(&mut self) {
        for slot in 0..self.joints.capacity() as u32 {
            let bodies = &self.bodies;
            let Some((id, joint)) = self.joints.at_mut::<sim_traits::JointId>(slot) else { continue };
            let idle = !joint.bodies.iter().any(|b| bodies.get(*b).is_some_and(Body::is_free));
            if std::mem::replace(&mut joint.idle, idle) != idle {
                joint.impulses.clear();
                self.note(Change::Joint(id));
            }
        }
    }
}
