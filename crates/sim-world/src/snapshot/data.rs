//! A world as plain data, and the checks on the way back.

use super::{
    Registry, SnapshotError,
    tree::{TreeData, restore_trees},
};
use crate::{
    account::Account,
    acts::{HoldAt, HoldForce, Push, RemoveBelow, SetGravity, SetVelocity},
    body::{Body, Rest, check_surface, check_velocity},
    collider::{Collider, Groups, Surface, Traction},
    control::{Control, Controller, OpenLoop, Pid, Quantity},
    dense::Dense,
    error::WorldError,
    events::{Listing, Timer},
    force::{Field, ForceGenerator, ForceId, cluster},
    joint::Joint,
    locked::LockedAxes,
    piece::{Extent, Law, Piece},
    script::{Script, ScriptRecord},
    slots::Slots,
    world::{Change, World},
};
use collision_narrowphase::{Polyhedron, as_polyhedron};
use rigid_impulse::{BodyError, BodyKind, BodyModel, BodyState, MaterialTable, PrincipalMass};
use serde::{Deserialize, Serialize};
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_traits::{
    BodyId, Capsule, ColliderId, Cuboid, Cylinder, HalfSpace, JointId, Shape, Sphere, joint::JointKind,
};
use std::sync::Arc;

/// What a slot holds: the generation of its name, and its tenant.
pub(super) type SlotData<T> = (u32, Option<T>);

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorldData {
    time: f64,
    gravity: DVec3,
    materials: MaterialTable,
    listing: Listing,
    revision: u64,
    bodies: Vec<SlotData<BodyData>>,
    free_bodies: Vec<u32>,
    colliders: Vec<SlotData<ColliderData>>,
    free_colliders: Vec<u32>,
    forces: Vec<SlotData<ForceData>>,
    free_forces: Vec<u32>,
    outdated: Vec<BodyId>,
    timers: Vec<SlotData<Timer>>,
    free_timers: Vec<u32>,
    controllers: Vec<SlotData<ControlData>>,
    free_controllers: Vec<u32>,
    changes: Vec<Change>,
    ignored: Vec<[BodyId; 2]>,
    joints: Vec<SlotData<Joint>>,
    free_joints: Vec<u32>,
    trees: Vec<SlotData<TreeData>>,
    free_trees: Vec<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
struct BodyData {
    model: BodyModel,
    start: f64,
    state: BodyState,
    law: LawData,
    now: BodyState,
    colliders: Vec<ColliderId>,
    pull: DVec3,
    step_hint: Option<f64>,
    tag: u64,
    locked: LockedAxes,
    rest: u8,
}

#[derive(Debug, Serialize, Deserialize)]
enum LawData {
    Still,
    Ballistic { acceleration: DVec3, max_spin: f64 },
    Integrated(Box<Dense>),
    Scripted(ScriptRecord),
    Registered(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct ControlData {
    kind: String,
    timer: Timer,
    enabled: bool,
    saved: Vec<u8>,
}

#[derive(Debug, Serialize, Deserialize)]
enum ForceData {
    Known(ForceGenerator),
    Registered { body: BodyId, name: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct ColliderData {
    body: BodyId,
    shape: ShapeData,
    body_from_shape: Pose,
    surface: Surface,
    groups: Groups,
    sensor: bool,
    traction: Traction,
}

#[derive(Debug, Serialize, Deserialize)]
enum ShapeData {
    Sphere { radius: f64 },
    Capsule { radius: f64, half_height: f64 },
    Cuboid { half_extents: DVec3 },
    Cylinder { radius: f64, half_height: f64 },
    HalfSpace { normal: DVec3 },
    Polyhedron { points: Vec<DVec3>, faces: Vec<Vec<u32>> },
    Registered(String),
}

pub(super) const fn damaged(what: &'static str) -> SnapshotError {
    SnapshotError::Damaged { what }
}

impl ShapeData {
    fn of(shape: &Shape, body: BodyId, registry: &Registry) -> Result<Self, SnapshotError> {
        Ok(match shape {
            Shape::Sphere(s) => Self::Sphere { radius: s.radius() },
            Shape::Capsule(c) => Self::Capsule { radius: c.radius(), half_height: c.half_height() },
            Shape::Cuboid(c) => Self::Cuboid { half_extents: c.half_extents() },
            Shape::Cylinder(c) => Self::Cylinder { radius: c.radius(), half_height: c.half_height() },
            Shape::HalfSpace(h) => Self::HalfSpace { normal: h.normal() },
            other => {
                if let Some(name) = registry.name_of_shape(other) {
                    return Ok(Self::Registered(name.to_owned()));
                }
                // A polyhedron is saved by its faces only if they give the very same one back.
                let polyhedron = as_polyhedron(other).and_then(|p| {
                    let (points, faces) = p.to_faces();
                    let again = Polyhedron::from_faces(&points, &faces).ok()?;
                    (again == *p).then_some(Self::Polyhedron { points, faces })
                });
                let name = other.name().to_owned();
                polyhedron.ok_or(SnapshotError::Unregistered { body, what: "shape", name })?
            }
        })
    }

    fn shape(self, body: BodyId, registry: &Registry) -> Result<Shape, SnapshotError> {
        let bad = |_| damaged("a shape that cannot be");
        Ok(match self {
            Self::Sphere { radius } => Sphere::new(radius).map_err(bad)?.into(),
            Self::Capsule { radius, half_height } => Capsule::new(radius, half_height).map_err(bad)?.into(),
            Self::Cuboid { half_extents } => Cuboid::new(half_extents).map_err(bad)?.into(),
            Self::Cylinder { radius, half_height } => Cylinder::new(radius, half_height).map_err(bad)?.into(),
            Self::HalfSpace { normal } => HalfSpace::from_unit(normal).map_err(bad)?.into(),
            Self::Polyhedron { points, faces } => {
                let polyhedron = Polyhedron::from_faces(&points, &faces)
                    .map_err(|_| damaged("a polyhedron that cannot be"))?;
                Shape::Convex(Arc::new(polyhedron))
            }
            Self::Registered(name) => match registry.shape_named(&name) {
                Some(shape) => shape.clone(),
                None => return Err(SnapshotError::Unregistered { body, what: "shape", name }),
            },
        })
    }
}

impl WorldData {
    pub(super) fn of(world: &World, registry: &Registry) -> Result<Self, SnapshotError> {
        let mut bodies = Vec::new();
        for (slot, (generation, body)) in world.bodies.raw().enumerate() {
            let id = BodyId::new(slot as u32, generation);
            bodies.push((generation, body.map(|b| body_data(b, id, registry)).transpose()?));
        }
        let forces: Result<_, SnapshotError> = world
            .forces
            .raw()
            .map(|(generation, force)| {
                Ok((generation, force.map(|f| ForceData::of(f, registry)).transpose()?))
            })
            .collect();
        let forces: Vec<_> = forces?;
        let mut colliders = Vec::new();
        for (generation, collider) in world.colliders.raw() {
            let data = collider.map(|c| -> Result<_, SnapshotError> {
                Ok(ColliderData {
                    body: c.body,
                    shape: ShapeData::of(&c.shape, c.body, registry)?,
                    body_from_shape: c.extent.body_from_shape,
                    surface: c.surface,
                    groups: c.groups,
                    sensor: c.sensor,
                    traction: c.traction,
                })
            });
            colliders.push((generation, data.transpose()?));
        }
        Ok(Self {
            time: world.time,
            gravity: world.gravity,
            materials: world.materials.clone(),
            listing: world.listing,
            revision: world.revision,
            bodies,
            free_bodies: world.bodies.free().to_vec(),
            colliders,
            free_colliders: world.colliders.free().to_vec(),
            forces,
            free_forces: world.forces.free().to_vec(),
            outdated: world.outdated.clone(),
            timers: world.timers.raw().map(|(generation, timer)| (generation, timer.copied())).collect(),
            free_timers: world.timers.free().to_vec(),
            controllers: world.controllers.raw().map(control_data).collect::<Result<_, _>>()?,
            free_controllers: world.controllers.free().to_vec(),
            changes: world.changes.clone(),
            ignored: world.ignored.clone(),
            joints: world.joints.raw().map(joint_data).collect::<Result<_, _>>()?,
            free_joints: world.joints.free().to_vec(),
            trees: world.trees.raw().map(|(generation, tree)| (generation, tree.map(TreeData::of))).collect(),
            free_trees: world.trees.free().to_vec(),
        })
    }

    pub(super) fn world(self, registry: &Registry) -> Result<World, SnapshotError> {
        let mut world = World::new(self.gravity)?;
        if !self.time.is_finite() {
            return Err(damaged("time is not finite"));
        }
        if self.revision < self.changes.len() as u64 {
            return Err(damaged("more changes than were ever made"));
        }
        world.time = self.time;
        world.materials = self.materials;
        world.listing = self.listing;
        world.revision = self.revision;
        world.changes = self.changes;
        world.account = Account::default();
        let mut bodies = Vec::with_capacity(self.bodies.len().min(1 << 16));
        for (slot, (generation, data)) in self.bodies.into_iter().enumerate() {
            let id = BodyId::new(slot as u32, generation);
            bodies.push((generation, data.map(|d| d.body(id, registry)).transpose()?));
        }
        world.bodies = Slots::from_raw(bodies, self.free_bodies).ok_or(damaged("slots of bodies"))?;
        let mut colliders = Vec::with_capacity(self.colliders.len().min(1 << 16));
        for (generation, data) in self.colliders {
            colliders.push((generation, data.map(|d| d.collider(&world, registry)).transpose()?));
        }
        world.colliders =
            Slots::from_raw(colliders, self.free_colliders).ok_or(damaged("slots of colliders"))?;
        let locked = world.bodies().any(|(_, body)| !body.locked.is_none());
        world.locked = locked;
        let tractions = world.colliders().any(|(_, c)| !c.traction.is_plain());
        world.tractions = tractions;
        check_owners(&world)?;
        let mut forces = Vec::with_capacity(self.forces.len().min(1 << 16));
        for (slot, (generation, data)) in self.forces.into_iter().enumerate() {
            let force = data.map(|d| d.force(registry)).transpose()?;
            for id in force.iter().flat_map(ForceGenerator::bodies) {
                world.body(id)?;
            }
            if let Some(id) = force.as_ref().and_then(|f| f.bodies().next()) {
                let named = |source| WorldError::Body { body: id, source };
                force.iter().try_for_each(ForceGenerator::validate).map_err(named)?;
            }
            force.iter().flat_map(ForceGenerator::bodies).for_each(|id| world.attach(id, slot as u32));
            forces.push((generation, force));
        }
        world.forces = Slots::from_raw(forces, self.free_forces).ok_or(damaged("slots of forces"))?;
        for id in self.outdated {
            let body = world.bodies.get_mut(id).filter(|b| b.is_free());
            body.ok_or(damaged("a motion that is to begin anew"))?.outdated = true;
            world.outdated.push(id);
        }
        world.clusters = cluster::find(&mut world.bodies, &world.forces);
        let integrated = |b: &Body| matches!(b.piece.law(), Law::Integrated(_));
        if world.bodies().any(|(_, b)| integrated(b) && b.cluster.is_none() && !b.outdated) {
            return Err(damaged("a motion under forces that are not there"));
        }
        let mut controllers = Vec::with_capacity(self.controllers.len().min(1 << 16));
        for (generation, data) in self.controllers {
            controllers.push((generation, data.map(|d| d.control(registry)).transpose()?));
        }
        world.controllers =
            Slots::from_raw(controllers, self.free_controllers).ok_or(damaged("slots of controllers"))?;
        world.timers = Slots::from_raw(self.timers, self.free_timers).ok_or(damaged("slots of timers"))?;
        for timer in world.timers().map(|(_, t)| t).chain(world.controllers().map(|(_, t)| t)) {
            if !(timer.first.is_finite() && timer.period > 0.0 && timer.period.is_finite()) {
                return Err(damaged("a timer that cannot be"));
            }
        }
        if !self.ignored.is_sorted() {
            return Err(damaged("pairs that ignore each other are not in order"));
        }
        world.ignored = self.ignored;
        restore_trees(&mut world, self.trees, self.free_trees)?;
        for (slot, (generation, joint)) in self.joints.iter().enumerate() {
            if let Some(joint) = joint {
                world.check_joint(JointId::new(slot as u32, *generation), joint)?;
            }
        }
        world.joints = Slots::from_raw(self.joints, self.free_joints).ok_or(damaged("slots of joints"))?;
        world.find_joined();
        Ok(world)
    }
}

/// A controller with what it remembers.
fn control_data(
    (generation, control): (u32, Option<&Control>),
) -> Result<SlotData<ControlData>, SnapshotError> {
    let Some(control) = control else { return Ok((generation, None)) };
    let controller = control.controller.as_ref().ok_or(SnapshotError::Acting)?;
    let (kind, saved) = (controller.kind().to_owned(), controller.save());
    Ok((generation, Some(ControlData { kind, timer: control.timer, enabled: control.enabled, saved })))
}

/// A joint as it is, unless it is led by what cannot be saved.
fn joint_data((generation, joint): (u32, Option<&Joint>)) -> Result<SlotData<Joint>, SnapshotError> {
    let Some(joint) = joint else { return Ok((generation, None)) };
    let what = match &joint.model().kind {
        JointKind::Curve { curve } if curve.numbers().is_none() => "curve of a joint",
        JointKind::Surface { surface, .. } | JointKind::Wheel { surface, .. }
            if surface.numbers().is_none() =>
        {
            "surface of a joint"
        }
        _ => return Ok((generation, Some(joint.clone()))),
    };
    let body = joint.bodies().first().copied().unwrap_or(BodyId::new(u32::MAX, u32::MAX));
    Err(SnapshotError::Unregistered { body, what, name: joint.model().kind.name().to_owned() })
}

/// Bodies and colliders name each other.
fn check_owners(world: &World) -> Result<(), SnapshotError> {
    for (id, collider) in world.colliders() {
        if !world.get(collider.body).is_some_and(|b| b.colliders.contains(&id)) {
            return Err(damaged("a collider that its body does not know"));
        }
    }
    for (id, body) in world.bodies() {
        for &collider in &body.colliders {
            if world.collider(collider)?.body != id {
                return Err(damaged("a body with a collider of another"));
            }
        }
    }
    Ok(())
}

fn body_data(body: &Body, id: BodyId, registry: &Registry) -> Result<BodyData, SnapshotError> {
    let law = match body.piece.law() {
        Law::Still => LawData::Still,
        Law::Ballistic { acceleration, max_spin } => {
            LawData::Ballistic { acceleration: *acceleration, max_spin: *max_spin }
        }
        Law::Integrated(dense) => LawData::Integrated(Box::new(**dense)),
        Law::Scripted { script, .. } => match (registry.name_of_script(script), script.record()) {
            (Some(name), _) => LawData::Registered(name.to_owned()),
            (None, Some(record)) => LawData::Scripted(record),
            (None, None) => {
                let name = format!("{script:?}");
                return Err(SnapshotError::Unregistered { body: id, what: "script", name });
            }
        },
    };
    Ok(BodyData {
        model: body.model,
        start: body.piece.start(),
        state: *body.piece.state(),
        law,
        now: body.now,
        colliders: body.colliders.to_vec(),
        pull: body.pull,
        step_hint: body.step_hint,
        tag: body.tag,
        locked: body.locked,
        rest: body.rest.to_byte(),
    })
}

/// A model that passed no constructor: checks what they would have.
fn check_model(id: BodyId, model: &BodyModel) -> Result<(), SnapshotError> {
    let named = |source: BodyError| SnapshotError::World(WorldError::Body { body: id, source });
    model.with_user_frame(*model.user_from_body()).map_err(named)?;
    if let BodyKind::Free(mass) = model.kind() {
        PrincipalMass::new(mass.mass(), mass.moments()).map_err(named)?;
    }
    Ok(())
}

/// The same of a state.
fn check_state(id: BodyId, model: &BodyModel, state: &BodyState) -> Result<(), SnapshotError> {
    let named = |source: BodyError| SnapshotError::World(WorldError::Body { body: id, source });
    BodyState::at_rest(*state.pose()).map_err(named)?;
    BodyState::at_rest(state.user_pose(model)).map_err(named)?;
    check_velocity(state.velocity).map_err(named)?;
    if matches!(model.kind(), BodyKind::Fixed) && state.velocity != Motion::ZERO {
        return Err(damaged("a fixed body that moves"));
    }
    Ok(())
}

impl BodyData {
    fn body(self, id: BodyId, registry: &Registry) -> Result<Body, SnapshotError> {
        check_model(id, &self.model)?;
        check_state(id, &self.model, &self.state)?;
        check_state(id, &self.model, &self.now)?;
        let finite = |what, v: DVec3| match v.is_finite() {
            true => Ok(()),
            false => Err(SnapshotError::World(WorldError::NonFinite { what, value: v })),
        };
        finite("pull of a body", self.pull)?;
        if self.step_hint.is_some_and(|h| !(h > 0.0 && h.is_finite())) {
            return Err(damaged("a step of integration"));
        }
        finite("start of a piece", DVec3::splat(self.start))?;
        let named = |source: BodyError| SnapshotError::World(WorldError::Body { body: id, source });
        let scripted = |script: Arc<dyn Script>| {
            if !matches!(self.model.kind(), BodyKind::Scripted) {
                return Err(damaged("a script on a body of another kind"));
            }
            Piece::scripted(self.start, script).map_err(named)
        };
        let piece = match self.law {
            LawData::Still => Piece::raw(self.start, self.state, Law::Still),
            LawData::Ballistic { acceleration, max_spin } => {
                finite("acceleration of a body", acceleration)?;
                finite("largest spin of a body", DVec3::splat(max_spin))?;
                Piece::raw(self.start, self.state, Law::Ballistic { acceleration, max_spin })
            }
            LawData::Integrated(dense) => {
                check_state(id, &self.model, dense.end())?;
                if !(dense.length() > 0.0 && dense.numbers().all(f64::is_finite)) {
                    return Err(damaged("a piece of motion under forces"));
                }
                Piece::raw(self.start, self.state, Law::Integrated(Arc::new(*dense)))
            }
            LawData::Scripted(ScriptRecord::Cycler(script)) => scripted(Arc::new(script))?,
            LawData::Scripted(ScriptRecord::Shaker(script)) => scripted(Arc::new(script))?,
            LawData::Scripted(ScriptRecord::Screw(script)) => scripted(Arc::new(script))?,
            LawData::Registered(name) => match registry.script_named(&name) {
                Some(script) => scripted(script.clone())?,
                None => return Err(SnapshotError::Unregistered { body: id, what: "script", name }),
            },
        };
        Ok(Body {
            model: self.model,
            piece,
            now: self.now,
            colliders: self.colliders.into_iter().collect(),
            pull: self.pull,
            forces: smallvec::SmallVec::new(),
            outdated: false,
            cluster: None,
            step_hint: self.step_hint,
            arrived: f64::NAN,
            link: None,
            tag: self.tag,
            locked: self.locked,
            rest: Rest::from_byte(self.rest).ok_or(damaged("rest of a body"))?,
        })
    }
}

impl ControlData {
    fn control(self, registry: &Registry) -> Result<Control, SnapshotError> {
        let nobody = BodyId::new(u32::MAX, u32::MAX);
        let mut controller: Box<dyn Controller> = match self.kind.as_str() {
            "pid" => {
                Box::new(Pid::new(nobody, ForceId::new(u32::MAX, 0), Quantity::Position(DVec3::ZERO), 1.0))
            }
            "open loop" => Box::new(OpenLoop::new(nobody, ForceId::new(u32::MAX, 0), Vec::new(), false)),
            SetGravity::KIND => Box::new(SetGravity::default()),
            Push::KIND => Box::new(Push::default()),
            SetVelocity::KIND => Box::new(SetVelocity::default()),
            HoldForce::KIND => Box::new(HoldForce::default()),
            HoldAt::KIND => Box::new(HoldAt::default()),
            RemoveBelow::KIND => Box::new(RemoveBelow::default()),
            kind => registry
                .controller_of(kind)
                .ok_or_else(|| SnapshotError::UnknownKind { kind: kind.to_owned() })?,
        };
        controller.load(&self.saved)?;
        Ok(Control { controller: Some(controller), timer: self.timer, enabled: self.enabled })
    }
}

impl ForceData {
    fn of(force: &ForceGenerator, registry: &Registry) -> Result<Self, SnapshotError> {
        let ForceGenerator::Field { body, field } = force else { return Ok(Self::Known(force.clone())) };
        match registry.name_of_field(&field.0) {
            Some(name) => Ok(Self::Registered { body: *body, name: name.to_owned() }),
            None => {
                let name = format!("{field:?}");
                Err(SnapshotError::Unregistered { body: *body, what: "force field", name })
            }
        }
    }

    fn force(self, registry: &Registry) -> Result<ForceGenerator, SnapshotError> {
        match self {
            Self::Known(force) => Ok(force),
            Self::Registered { body, name } => match registry.field_named(&name) {
                Some(field) => Ok(ForceGenerator::Field { body, field: Field(field.clone()) }),
                None => Err(SnapshotError::Unregistered { body, what: "force field", name }),
            },
        }
    }
}

impl ColliderData {
    fn collider(self, world: &World, registry: &Registry) -> Result<Collider, SnapshotError> {
        let named = |source: BodyError| SnapshotError::World(WorldError::Body { body: self.body, source });
        BodyState::at_rest(self.body_from_shape).map_err(named)?;
        let owner = world.body(self.body)?;
        let (id, data) = (self.body, self.shape);
        let shape = data.shape(id, registry)?;
        if owner.is_free() && !shape.bounding_radius().is_finite() {
            return Err(damaged("an unbounded shape on a free body"));
        }
        check_surface(self.body, self.surface, &world.materials)?;
        self.traction.check().map_err(named)?;
        let extent = Extent::new(&shape, self.body_from_shape);
        let Self { body, surface, groups, sensor, traction, .. } = self;
        Ok(Collider { body, shape, extent, surface, groups, sensor, traction })
    }
}
