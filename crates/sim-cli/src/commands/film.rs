//! The recording of a run.

use super::{joints::Joints, lookout::Lookout, touches::Touches};
use crate::CliError;
use scene::{
    Recorder,
    format::KindSpec,
    lower::{Placed, Setup},
    recording::{BodyInfo, BodyKind, BodyState, Collider, Contact, Frame, Header, ShapeInfo, Steps, Sums},
    run::Run,
};
use sim_math::{Aabb, Pose, glam::DVec3};
use sim_traits::{BodyId, Shape};
use sim_world::{Body, EnergyAccount, Event, EventKind, World};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Bytes that one side writes while others read: a recording that grows.
#[derive(Debug, Clone, Default)]
pub struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    /// What was written from byte `start` on.
    #[must_use]
    pub fn from(&self, start: usize) -> Vec<u8> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.get(start..).unwrap_or_default().to_vec()
    }

    /// All that was written; the tape is empty then.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Names of the work in a recording, in the order of [`work`].
pub(super) const WORK: [&str; 11] = [
    "forces",
    "scripted bodies",
    "impacts",
    "friction",
    "joints",
    "motors and springs of joints",
    "length of steps",
    "overlaps opened",
    "put to sleep",
    "controllers",
    "numerical error",
];

/// Work of each cause, J; gravity and springs are in the potential energy.
pub(super) fn work(e: &EnergyAccount) -> [f64; 11] {
    let contact = e.impact + e.micro;
    let numerical = [e.stepping, e.correction];
    let others = [e.sleep, e.outside, e.remainder()];
    let [stepping, correction] = numerical;
    let [sleep, outside, remainder] = others;
    [
        e.forces, e.scripted, contact, e.friction, e.joints, e.drives, stepping, correction, sleep, outside,
        remainder,
    ]
}

/// A recording that is being filled from a run.
#[derive(Debug)]
pub struct Film {
    recorder: Recorder<Tape>,
    touches: Touches,
    joints: Joints,
    /// Place of a body in the recording, by its slot in the world.
    index: Vec<Option<u32>>,
    /// Collisions of a body nearer than this are one contact, m.
    near: Vec<f64>,
    contacts: bool,
    lookout: Option<Lookout>,
    /// When frames were last given out, if somebody watches.
    shown: Option<Instant>,
}

/// Longest time for which frames are kept from somebody who watches.
const PATIENCE: Duration = Duration::from_millis(250);

impl Film {
    /// Begins with the bodies of a scene; with a lookout, boxes and pairs of the broad phase are recorded too.
    ///
    /// # Errors
    /// A body that cannot be recorded, or a writer that fails.
    pub fn new(tape: Tape, setup: &Setup, lookout: Option<Lookout>) -> Result<Self, CliError> {
        let gravity = setup.world.gravity();
        let thickness: Vec<f64> = setup.bodies.iter().map(thinnest).collect();
        let free = |b: &Placed| matches!(b.kind, KindSpec::Free);
        let moving = setup.bodies.iter().zip(&thickness).filter(|(b, _)| free(b));
        let mut recorder = Recorder::new(
            tape,
            Header {
                title: setup.title.clone(),
                gravity,
                up: (-gravity).try_normalize().unwrap_or(DVec3::Z),
                frame_rate: setup.rate,
                steps: steps(
                    moving.map(|(_, size)| *size).fold(f64::INFINITY, f64::min),
                    lightest(&setup.world),
                ),
                work: WORK.map(str::to_owned).to_vec(),
                ..Header::default()
            },
        )?;
        let mut index = vec![None; setup.world.body_slots()];
        let mut family: (&str, Vec<(ShapeInfo, u32)>) = ("", Vec::new());
        for body in &setup.bodies {
            if family.0 != body.family {
                family = (&body.family, Vec::new());
            }
            let state = &setup.world[body.id];
            let info = BodyInfo {
                colliders: colliders(&mut recorder, &mut family.1, body, state)?,
                name: body.name.clone(),
                kind: match body.kind {
                    KindSpec::Free => BodyKind::Free,
                    KindSpec::Fixed => BodyKind::Fixed,
                    KindSpec::Scripted => BodyKind::Scripted,
                },
                mass: if state.is_free() { state.mass() } else { 0.0 },
                inertia: inertia(state),
                color: body.color.clone(),
            };
            let place = recorder.add_body(info)?;
            if let Some(slot) = index.get_mut(body.id.index() as usize) {
                *slot = Some(place);
            }
        }
        let place = |id: BodyId| index.get(id.index() as usize).copied().flatten();
        let (joints, infos) = Joints::of(setup, &place);
        for info in infos {
            recorder.add_joint(info)?;
        }
        let near = thickness.iter().map(|size| 0.3 * size).collect();
        Ok(Self {
            recorder,
            touches: Touches::default(),
            joints,
            index,
            near,
            contacts: setup.record_contacts,
            lookout,
            shown: None,
        })
    }

    /// Gives out the frames so far, and from now on those that come soon after they came.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn show(&mut self) -> Result<(), CliError> {
        self.recorder.cut()?;
        self.shown = Some(Instant::now());
        Ok(())
    }

    fn place(&self, body: BodyId) -> Option<u32> {
        self.index.get(body.index() as usize).copied().flatten()
    }

    /// Takes the collisions of a stretch.
    pub fn watch(&mut self, events: &[Event], world: &World) {
        if !self.contacts {
            return;
        }
        for event in events {
            let EventKind::Collision(c) = event.kind else { continue };
            let place = |id| self.place(world.collider(id).ok()?.body());
            let (Some(a), Some(b)) = (place(c.a), place(c.b)) else { continue };
            let near = |k: u32| self.near.get(k as usize).copied().unwrap_or(0.0);
            let near = near(a).min(near(b));
            self.touches.add(&Contact { a, b, point: c.point, normal: c.normal, impulse: c.impulse }, near);
        }
    }

    /// Adds a frame of the present.
    ///
    /// # Errors
    /// A state that is not finite, or a writer that fails.
    pub fn frame(&mut self, run: &Run) -> Result<(), CliError> {
        let (world, setup) = (run.world(), run.setup());
        let state = |b: &Placed| {
            let body = world.get(b.id)?;
            let velocity = body.velocity();
            Some(BodyState {
                pose: body.state().pose().renormalized(),
                velocity: velocity.linear,
                spin: velocity.angular,
            })
        };
        let bodies: Vec<Option<BodyState>> = setup.bodies.iter().map(state).collect();
        let there = |k: u32| bodies.get(k as usize).is_some_and(Option::is_some);
        let mut contacts = self.touches.take();
        contacts.retain(|c| there(c.a) && there(c.b));
        let (boxes, mut pairs) = self.boxes_and_pairs(world, bodies.len());
        pairs.retain(|&[a, b]| there(a) && there(b));
        let sums = Sums {
            kinetic: world.kinetic_energy(),
            potential: world.potential_energy(),
            momentum: world.momentum(),
            angular_momentum: world.angular_momentum(),
            events: run.report().events as f64,
            work: work(&run.report().energy).to_vec(),
        };
        let joints = self.joints.states(world);
        self.recorder.push(&Frame { time: world.time(), bodies, contacts, boxes, pairs, joints, sums })?;
        if self.shown.is_some_and(|shown| shown.elapsed() > PATIENCE) {
            self.show()?;
        }
        Ok(())
    }

    /// Box of each body around those of its colliders, and pairs of bodies, sorted.
    fn boxes_and_pairs(&self, world: &World, count: usize) -> (Vec<Option<Aabb>>, Vec<[u32; 2]>) {
        let Some(lookout) = &self.lookout else { return (Vec::new(), Vec::new()) };
        let owner = |slot: u32| self.place(world.collider_in_slot(slot)?.1.body());
        lookout.read(|seen| {
            let mut boxes: Vec<Option<Aabb>> = vec![None; count];
            for (slot, aabb) in seen.boxes.iter().enumerate() {
                let Some(aabb) = aabb.filter(|b| b.min.is_finite() && b.max.is_finite()) else { continue };
                let Some(body) = owner(slot as u32).and_then(|k| boxes.get_mut(k as usize)) else { continue };
                *body =
                    Some(body.map_or(aabb, |b| Aabb { min: b.min.min(aabb.min), max: b.max.max(aabb.max) }));
            }
            let mut pairs: Vec<[u32; 2]> = seen
                .pairs
                .iter()
                .filter_map(|pair| Some([owner(pair.a.0)?, owner(pair.b.0)?]))
                .map(|[a, b]| [a.min(b), a.max(b)])
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            (boxes, pairs)
        })
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn finish(self) -> Result<Tape, CliError> {
        Ok(self.recorder.finish()?)
    }
}

/// Steps of a recording whose smallest moving body is `size` metres thick: a thousandth of it, and the usual ones from
/// 10 cm on. Forces of joints as finely as they bear a body of `mass` kg.
fn steps(size: f64, mass: f64) -> Steps {
    let usual = Steps::default();
    let scale = (size / 0.1).clamp(1e-3, 1.0);
    let force = mass.clamp(1e-9, 1.0);
    Steps {
        position: scale * usual.position,
        velocity: scale * usual.velocity,
        force: force * usual.force,
        torque: force * scale * usual.torque,
        ..usual
    }
}

/// Mass of the lightest free body, kg.
fn lightest(world: &World) -> f64 {
    world.bodies().map(|(_, body)| body.mass()).fold(f64::INFINITY, f64::min)
}

/// Least extent of a body along its axes, m; that of unbounded shapes does not count.
fn thinnest(body: &Placed) -> f64 {
    let mut around: Option<Aabb> = None;
    for piece in &body.pieces {
        let b = piece.shape.aabb(&piece.body_from_shape);
        around = Some(around.map_or(b, |a| Aabb { min: a.min.min(b.min), max: a.max.max(b.max) }));
    }
    let extent = around.map_or(DVec3::INFINITY, |a| a.max - a.min);
    extent.min_element()
}

/// Inertia in the axes of the body frame, as a recording wants it.
fn inertia(body: &Body) -> [f64; 6] {
    if !body.is_free() {
        return [0.0; 6];
    }
    let turn = sim_math::glam::DMat3::from_quat(body.state().pose().rotation);
    let m = (turn.transpose() * body.inverse_inertia() * turn).inverse();
    [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.y_axis.x, m.z_axis.x, m.z_axis.y]
}

/// Shapes of a body; copies of it share equal ones.
fn colliders(
    recorder: &mut Recorder<Tape>,
    known: &mut Vec<(ShapeInfo, u32)>,
    body: &Placed,
    state: &Body,
) -> Result<Vec<Collider>, CliError> {
    // Frames hold the pose of the centre of mass; shapes are given in the user's frame.
    let center_from_user = state.state().pose().inverse_mul(&state.user_pose());
    let mut out = Vec::with_capacity(body.pieces.len());
    for piece in &body.pieces {
        let Some(drawn) = drawable(&piece.shape) else { continue };
        let shape = match known.iter().find(|(shape, _)| *shape == drawn) {
            Some((_, index)) => *index,
            None => {
                let index = recorder.add_shape(drawn.clone())?;
                known.push((drawn, index));
                index
            }
        };
        let body_from_shape: Pose = (center_from_user * piece.body_from_shape).renormalized();
        out.push(Collider { shape, body_from_shape });
    }
    Ok(out)
}

/// The drawable form of any shape that a scene can have.
fn drawable(shape: &Shape) -> Option<ShapeInfo> {
    if let Some(known) = ShapeInfo::from_shape(shape) {
        return Some(known);
    }
    let Shape::Convex(convex) = shape else { return None };
    let any = convex.as_any();
    if let Some(p) = any.downcast_ref::<collision_narrowphase::Polyhedron>() {
        let (vertices, faces) = p.to_faces();
        return Some(ShapeInfo::Mesh { vertices, faces });
    }
    if let Some(f) = any.downcast_ref::<collision_narrowphase::shapes::Frustum>() {
        let (bottom, top, half_height) = (f.bottom(), f.top(), f.half_height());
        return Some(ShapeInfo::Frustum { bottom, top, half_height });
    }
    let e = any.downcast_ref::<collision_narrowphase::shapes::Ellipsoid>()?;
    let (mut vertices, faces) = collision_narrowphase::Polyhedron::icosphere(1.0, 3).ok()?.to_faces();
    for v in &mut vertices {
        *v *= e.radii();
    }
    Some(ShapeInfo::Mesh { vertices, faces })
}
