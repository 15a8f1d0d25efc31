//! The world: plain data that a stepper moves on.
//!
//! | file | concern |
//! |---|---|
//! | `mod` | what there is, and changes by the user |
//! | `configuration` | all free bodies as one vector |
//! | `controllers` | what acts at its own rate |
//! | `filters` | what meets what |
//! | `forces` | forces on bodies |
//! | `joints` | what holds bodies together |
//! | `mark` | which world it is |
//! | `renew` | motions that begin anew after a change |
//! | `timers` | timers, events, contacts |
//! | `motion` | pieces, rest, time |
//! | `trees` | trees of joints |

mod configuration;
mod controllers;
mod filters;
mod forces;
mod joints;
mod mark;
mod motion;
mod renew;
mod timers;
mod trees;

use crate::{
    access::StepperAccess,
    account::Account,
    body::{Body, BodyBuilder, Rest, check_velocity},
    collider::Collider,
    control::{Control, ControllerId},
    error::WorldError,
    events::{Contact, Event, Listing, Timer, TimerId},
    force::{ForceGenerator, ForceScratch, cluster::Cluster},
    joint::Joint,
    locked::LockedAxes,
    piece::{Law, Piece},
    slots::Slots,
    tree::Tree,
};
use rigid_impulse::{BodyError, BodyState, MaterialTable};
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_traits::{BodyId, ColliderId, JointId};
use std::ops::Index;

use mark::Identity;
pub use mark::Mark;
pub(crate) use renew::count;

/// A change that the user made and a stepper must notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Change {
    /// A body with its colliders came in.
    Added(BodyId),
    /// A collider went, with its body.
    Removed(ColliderId),
    /// A body was put elsewhere: it may overlap something.
    Moved(BodyId),
    /// A body got another velocity or acceleration.
    Pushed(BodyId),
    /// What a body meets is another set than before.
    Filtered(BodyId),
    /// A joint was added, removed or changed. Its bodies are listed as [`Change::Filtered`] too if it came or went.
    Joint(JointId),
    /// A timer was set or stopped.
    Timer(TimerId),
    /// A controller was added or removed.
    Controller(ControllerId),
    /// Materials or surfaces, or how two of them combine, may be others than before.
    Materials,
}

/// Bodies, colliders, materials, forces, gravity and time. Cloning gives an independent world.
///
/// Bodies do not share a time inside: each is on a [`Piece`] that began at its last event. Everything that the user sees
/// is of the world's time.
#[derive(Debug, Clone)]
pub struct World {
    identity: Identity,
    pub(crate) time: f64,
    pub(crate) gravity: DVec3,
    pub(crate) bodies: Slots<Body>,
    pub(crate) colliders: Slots<Collider>,
    /// Materials by name, and how coefficients of two surfaces combine.
    pub(crate) materials: MaterialTable,
    /// A collider has a traction that is not plain, or had one.
    pub(crate) tractions: bool,
    /// A body has locked axes, or had some.
    pub(crate) locked: bool,
    pub(crate) forces: Slots<ForceGenerator>,
    /// Bodies that are integrated together: follows from the forces.
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) scratch: ForceScratch,
    pub(crate) clusters_found: u64,
    /// The forces that make clusters are others than when these were found.
    pub(crate) regroup: bool,
    /// Bodies whose motion ended at the present time: it begins anew before a stepper looks.
    pub(crate) outdated: Vec<BodyId>,
    pub(crate) timers: Slots<Timer>,
    pub(crate) controllers: Slots<Control>,
    events: Vec<Event>,
    /// Which collisions are listed in [`World::events`].
    pub listing: Listing,
    pub(crate) changes: Vec<Change>,
    /// Number of changes ever made.
    pub(crate) revision: u64,
    /// Books of the advance under way.
    pub(crate) account: Account,
    /// Bodies that pass through each other, smaller slot first, sorted.
    pub(crate) ignored: Vec<[BodyId; 2]>,
    contacts: Vec<Contact>,
    pub(crate) joints: Slots<Joint>,
    /// Bodies that pass through each other because a joint holds them: follows from the joints. Smaller slot first, sorted.
    joined: Vec<[BodyId; 2]>,
    pub(crate) trees: Slots<Tree>,
    /// Links of one tree that pass through each other: follows from the trees. Smaller slot first, sorted.
    linked: Vec<[BodyId; 2]>,
}

/// Settings of a world before it has bodies.
#[derive(Debug, Clone, Default)]
pub struct WorldBuilder {
    gravity: DVec3,
    materials: MaterialTable,
    listing: Listing,
}

impl WorldBuilder {
    /// Gravity, m/s². Default none.
    #[must_use]
    pub fn gravity(mut self, gravity: impl Into<DVec3>) -> Self {
        self.gravity = gravity.into();
        self
    }

    /// Named materials and rules of combination.
    #[must_use]
    pub fn materials(mut self, materials: MaterialTable) -> Self {
        self.materials = materials;
        self
    }

    /// Which collisions are listed.
    #[must_use]
    pub fn listing(mut self, listing: Listing) -> Self {
        self.listing = listing;
        self
    }

    /// The empty world at time 0.
    ///
    /// # Errors
    /// Gravity is not finite, or a material has a number that cannot be.
    pub fn build(self) -> Result<World, WorldError> {
        let mut world = World::new(self.gravity)?;
        for (material, known) in self.materials.iter() {
            known.checked().map_err(|source| WorldError::Material { material, source })?;
        }
        world.materials = self.materials;
        world.listing = self.listing;
        Ok(world)
    }
}

impl World {
    /// An empty world at time 0 with gravity in m/s².
    ///
    /// # Errors
    /// Gravity is not finite.
    pub fn new(gravity: impl Into<DVec3>) -> Result<Self, WorldError> {
        let gravity = gravity.into();
        check_finite("gravity", gravity)?;
        Ok(Self {
            identity: Identity::new(),
            time: 0.0,
            gravity,
            bodies: Slots::default(),
            colliders: Slots::default(),
            materials: MaterialTable::default(),
            tractions: false,
            locked: false,
            forces: Slots::default(),
            clusters: Vec::new(),
            scratch: ForceScratch::default(),
            clusters_found: 0,
            regroup: false,
            outdated: Vec::new(),
            timers: Slots::default(),
            controllers: Slots::default(),
            events: Vec::new(),
            listing: Listing::default(),
            changes: Vec::new(),
            revision: 0,
            account: Account::default(),
            ignored: Vec::new(),
            contacts: Vec::new(),
            joints: Slots::default(),
            joined: Vec::new(),
            trees: Slots::default(),
            linked: Vec::new(),
        })
    }

    /// Settings one by one.
    #[must_use]
    pub fn builder() -> WorldBuilder {
        WorldBuilder::default()
    }

    /// World time, s.
    #[inline]
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Gravity, m/s².
    #[inline]
    #[must_use]
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Named materials and rules of combination.
    #[must_use]
    pub fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    /// Named materials and rules of combination, to be changed: new values hold from the next advance on, in contacts that last too. Sleepers wake: what
    /// held them may not hold them any more.
    pub fn materials_mut(&mut self) -> &mut MaterialTable {
        self.note(Change::Materials);
        &mut self.materials
    }

    fn note(&mut self, change: Change) {
        self.changes.push(change);
        self.revision += 1;
    }

    // Bodies.

    /// Adds a body at the world's time.
    ///
    /// # Errors
    /// A number, mass, pose or material that cannot be, naming the id that the body would have got.
    pub fn add(&mut self, body: BodyBuilder) -> Result<BodyId, WorldError> {
        let id = self.bodies.next_id();
        let (mut body, colliders) = body.build(id, self.time, self.gravity, &self.materials)?;
        self.tractions |= colliders.iter().any(|c| !c.traction.is_plain());
        body.colliders = colliders.into_iter().map(|c| self.colliders.insert(c)).collect();
        self.locked |= !body.locked.is_none();
        let id = self.bodies.insert(body);
        self.note(Change::Added(id));
        Ok(id)
    }

    /// Removes a body with its colliders, and the forces and joints on it; gives back what it was.
    ///
    /// # Errors
    /// There is no such body, or it is a link: [`World::remove_tree`].
    pub fn remove(&mut self, id: BodyId) -> Result<Body, WorldError> {
        trees::refuse_link(id, self.body(id)?, "it goes with its tree")?;
        while let Some((force, _)) = self.forces_of(id).last() {
            self.remove_force(force)?;
        }
        self.remove_joints_of(id);
        let body = self.bodies.remove(id).ok_or(WorldError::UnknownBody { id })?;
        self.ignored.retain(|pair| !pair.contains(&id));
        for &collider in &body.colliders {
            self.colliders.remove(collider);
            self.note(Change::Removed(collider));
        }
        Ok(body)
    }

    /// A body, if it is still there.
    #[inline]
    #[must_use]
    pub fn get(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(id)
    }

    /// A body.
    ///
    /// # Errors
    /// There is no such body.
    pub fn body(&self, id: BodyId) -> Result<&Body, WorldError> {
        self.bodies.get(id).ok_or(WorldError::UnknownBody { id })
    }

    /// All bodies in the order of their slots.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        self.bodies.iter()
    }

    /// Number of bodies.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// A collider.
    ///
    /// # Errors
    /// There is no such collider.
    pub fn collider(&self, id: ColliderId) -> Result<&Collider, WorldError> {
        self.colliders.get(id).ok_or(WorldError::UnknownCollider { id })
    }

    /// All colliders in the order of their slots.
    pub fn colliders(&self) -> impl Iterator<Item = (ColliderId, &Collider)> {
        self.colliders.iter()
    }

    fn body_mut(&mut self, id: BodyId) -> Result<&mut Body, WorldError> {
        self.bodies.get_mut(id).ok_or(WorldError::UnknownBody { id })
    }

    pub(crate) fn lock(&mut self, id: BodyId, axes: LockedAxes) -> Result<(), WorldError> {
        self.body_mut(id)?.locked = axes;
        self.locked |= !axes.is_none();
        self.note(Change::Pushed(id));
        Ok(())
    }

    /// Puts the user's frame of a free or fixed body elsewhere at once, velocities unchanged.
    ///
    /// # Errors
    /// No such body, a scripted one, a link of a tree, or a pose that cannot be.
    pub fn teleport(&mut self, id: BodyId, world_from_user: Pose) -> Result<(), WorldError> {
        let body = self.body_mut(id)?;
        trees::refuse_link(id, body, "its tree says where it is")?;
        if matches!(body.piece.law(), Law::Scripted { .. }) {
            return Err(WorldError::NotFree { body: id, what: "its script says where it is" });
        }
        let named = |source: BodyError| WorldError::Body { body: id, source };
        BodyState::at_rest(world_from_user).map_err(named)?;
        let user_from_body = body.user_pose().inverse_mul(body.now.pose());
        let mut state = body.now;
        state.set_pose((world_from_user * user_from_body).renormalized()).map_err(named)?;
        self.move_to(id, state)
    }

    /// Puts a body where a state says.
    fn move_to(&mut self, id: BodyId, state: BodyState) -> Result<(), WorldError> {
        let before = if self.account.is_open() { self.held_energy_of(id) } else { 0.0 };
        self.restart(id, state)?;
        if self.account.is_open() {
            self.account.springs += self.held_energy_of(id) - before;
        }
        self.note(Change::Moved(id));
        Ok(())
    }

    /// Gives a free body another velocity: at the centre of mass, world axes, rad/s and m/s.
    ///
    /// # Errors
    /// No such body, one that is not free, a link of a tree, or a velocity that is not finite.
    pub fn set_velocity(&mut self, id: BodyId, velocity: Motion) -> Result<(), WorldError> {
        check_velocity(velocity).map_err(|source| WorldError::Body { body: id, source })?;
        let body = self.body_mut(id)?;
        if !body.is_free() {
            return Err(WorldError::NotFree { body: id, what: "its velocity cannot be set" });
        }
        trees::refuse_link(id, body, "its tree says how it moves")?;
        let mut state = body.now;
        state.velocity = velocity;
        self.restart(id, state)?;
        self.note(Change::Pushed(id));
        Ok(())
    }

    /// Applies an impulse (N·s, world axes) at a world point of a free body or a link, whose whole tree answers.
    ///
    /// # Errors
    /// No such body, one that is not free, or an impulse that is not finite.
    pub fn apply_impulse(&mut self, id: BodyId, point: DVec3, impulse: DVec3) -> Result<(), WorldError> {
        let body = self.body(id)?;
        if let Some((tree, link)) = body.link {
            return self.push_link(tree, link, point, impulse);
        }
        let mut state = body.now;
        state.apply_impulse(&body.model, point, impulse);
        self.set_velocity(id, state.velocity)
    }

    /// Changes gravity (m/s²) from the world's time on.
    ///
    /// # Errors
    /// Gravity is not finite.
    pub fn set_gravity(&mut self, gravity: impl Into<DVec3>) -> Result<(), WorldError> {
        let gravity = gravity.into();
        check_finite("gravity", gravity)?;
        let free: Vec<BodyId> = self.bodies().filter(|(_, b)| b.is_free()).map(|(id, _)| id).collect();
        free.into_iter().for_each(|id| self.end_motion(id));
        self.gravity = gravity;
        Ok(())
    }

    /// Begins a new piece at the world's time.
    fn restart(&mut self, id: BodyId, state: BodyState) -> Result<(), WorldError> {
        let (time, gravity) = (self.time, self.gravity);
        let body = self.body(id)?;
        let (model, before) = (body.model, body.now);
        match body.cluster {
            Some(_) => self.end_motion(id),
            None if body.outdated => {}
            None => {
                let Some(body) = self.bodies.get_mut(id) else { return Ok(()) };
                self.account.flight(body, gravity, time);
                body.piece = if body.is_free() {
                    Piece::ballistic(time, &model, state, gravity + body.pull)
                } else {
                    Piece::still(state)
                };
            }
        }
        self.account.pushed(&model, [&before, &state]);
        if let Some(body) = self.bodies.get_mut(id) {
            (body.rest, body.now) = (Rest::Awake, state);
        }
        Ok(())
    }

    // For steppers.

    /// Changes by the user since [`World::forget_changes`], oldest first.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Number of changes ever made.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Body in a slot, with its id.
    #[inline]
    #[must_use]
    pub fn body_in_slot(&self, slot: u32) -> Option<(BodyId, &Body)> {
        self.bodies.at(slot)
    }

    /// Collider in a slot, with its id.
    #[inline]
    #[must_use]
    pub fn collider_in_slot(&self, slot: u32) -> Option<(ColliderId, &Collider)> {
        self.colliders.at(slot)
    }

    /// Number of collider slots, empty ones included.
    #[must_use]
    pub fn collider_slots(&self) -> usize {
        self.colliders.capacity()
    }

    /// Number of body slots, empty ones included.
    #[must_use]
    pub fn body_slots(&self) -> usize {
        self.bodies.capacity()
    }
}

impl StepperAccess<'_> {
    /// Called by a stepper that has taken notice of all changes.
    pub fn forget_changes(&mut self) {
        self.world.changes.clear();
    }
}

/// The body with this id.
///
/// # Panics
/// There is no such body; [`World::get`] asks first.
impl Index<BodyId> for World {
    type Output = Body;

    #[allow(clippy::panic, reason = "indexing panics like that of every collection; `get` and `body` do not")]
    fn index(&self, id: BodyId) -> &Body {
        match self.bodies.get(id) {
            Some(body) => body,
            None => panic!("{id} does not exist"),
        }
    }
}

fn check_finite(what: &'static str, value: DVec3) -> Result<(), WorldError> {
    if value.is_finite() { Ok(()) } else { Err(WorldError::NonFinite { what, value }) }
}
