//! Springs, muscles, servos and drag as rows of the problem of a step; all other forces as they are at its start.
//!
//! # Reference
//!
//! Cline (2002), section 2.7.4: backward Euler with one Newton iteration, written as rows that give way instead of as a matrix.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | l, l₀ | length and rest length of a line between two points | m |
//! | T | its tension at the start of the step: k (l − l₀), or that of a muscle | N |
//! | k, c | stiffness, damping | N/m, N·s/m |
//! | κ | T/l where it pulls: the stiffness of a stretched line against motion across it | N/m |
//! | u⁺ | velocity of a row at the end of the step | m/s, rad/s |
//! | w, σ | what the bodies give way, scale of a row | 1/kg, - |
//!
//! # Formula
//!
//! ```text
//! along     p = −h (T + (h k + c) u⁺):   u⁺ + p/(h (h k + c)) + T/(h k + c) = 0
//! across    p = −h² κ u⁺                  drag  p = −h c u⁺
//! servo     p = h gain (rate − u⁺), at most h limit
//! others    v += h M⁻¹ f(t, x, v):  constant ones, torques, fields, muscles without damping
//! rows are scaled by σ = √(w/(w + compliance)), so that they are as large as the velocities that they bring about;   work  p·u⁺
//! ```
//!
//! # Cost
//!
//! A block of three rows per spring; chains of springs cost O(n), as chains of joints do. Nothing if there are none.
//!
//! # Numerics
//!
//! Stable for any stiffness; a spring loses energy by (1 + h²ω²)^−½ in amplitude per step. Contacts and joints are solved with the springs, as one problem.
//!
//! # Failure
//!
//! A force that is not finite freezes its body ([`read_wrenches`] names it). Soft contacts: [`StepError::ContactLaw`] if the springs alone cannot be solved.
//!
//! # Tested by
//!
//! `tests/time_forces.rs`

use super::{
    contact, flight,
    joined::Joined,
    state::{Problem, StepBodies},
};
use constraint_dynamics::{
    Delassus,
    pool::{self, PoolSide},
};
use rigid_impulse::BodyKind;
use sim_math::{
    glam::{DMat3, DVec3},
    rotation::frame_from_normal,
    spatial::{Force, Motion},
};
use sim_traits::{BodyId, Bounds, Law, RowError, RowProblem, RowSolver};
use sim_world::{Anchor, Body, ForceGenerator, ForceWork, Rest, StepError, StepperAccess, World};

/// A force that is a block of the problem.
#[derive(Debug, Clone, Copy)]
struct ForceRow {
    /// Number of the block.
    block: u32,
    /// The spring along row z, if it has a potential: T, k and σ. Rows x and y are elastic then too.
    elastic: Option<[f64; 3]>,
}

/// The forces of a step that are blocks.
#[derive(Debug, Default)]
pub(super) struct ForceRows {
    rows: Vec<ForceRow>,
    /// For springs without contacts.
    solver: constraint_dynamics::ConeNewton,
}

/// One row as it gives way: p = −h (`pull` + `stiff` u⁺).
#[derive(Debug, Clone, Copy, Default)]
struct Give {
    pull: f64,
    stiff: f64,
    most: f64,
}

impl Give {
    const NONE: Self = Self { pull: 0.0, stiff: 0.0, most: f64::INFINITY };

    fn new(pull: f64, stiff: f64) -> Self {
        Self { pull, stiff, ..Self::NONE }
    }
}

/// Forces that are no rows into the steps of the bodies, as they are at the start of the step; a body whose force is not finite, if there is one.
pub(super) fn read_wrenches(bodies: &mut StepBodies, world: &World) -> Option<BodyId> {
    let mut lost = None;
    for (_, force) in world.forces().filter(|(_, force)| !force.is_uniform()) {
        for id in force.bodies().filter(|id| world.get(*id).is_some_and(is_awake)) {
            let body_step = &mut bodies.body_steps[id.index() as usize];
            (body_step.driven, body_step.pushed) = (true, true);
        }
        let mut add = |id: BodyId, wrench: Force| {
            if world.get(id).is_some_and(is_awake) {
                bodies.body_steps[id.index() as usize].wrench += wrench;
                if !wrench.to_array().iter().all(|x| x.is_finite()) {
                    lost = lost.or(Some(id));
                }
            }
        };
        match force {
            ForceGenerator::Constant { body, force, torque } => add(*body, Force::new(*torque, *force)),
            ForceGenerator::Field { body, field } => {
                if let Some(known) = world.get(*body) {
                    add(*body, field.0.wrench(world.time(), known.model(), known.state()));
                }
            }
            ForceGenerator::Muscle { a, b, tension, damping } if *damping <= 0.0 => {
                let [a, b] = [a, b].map(|anchor| end_of(world, *anchor));
                let (Some(a), Some(b)) = (a, b) else { continue };
                let pull = (b.point - a.point).normalize_or_zero() * *tension;
                for (end, pull) in [(a, pull), (b, -pull)] {
                    if let Some((id, arm)) = end.body {
                        add(id, Force::new(arm.cross(pull), pull));
                    }
                }
            }
            _ => {}
        }
    }
    lost
}

/// Reads the bodies for soft contacts: with masses if there are forces that need them.
pub(super) fn read_bodies_of_forces(bodies: &mut StepBodies, world: &World) {
    if world.forces().all(|(_, force)| force.is_uniform()) {
        flight::read_body_steps(bodies, world);
    } else {
        flight::read_bodies(bodies, world);
    }
}

fn is_awake(body: &Body) -> bool {
    body.is_free() && body.rest() == Rest::Awake
}

/// An end of a line.
#[derive(Debug, Clone, Copy)]
struct End {
    /// World, m.
    point: DVec3,
    /// Its body, and the way from its centre of mass.
    body: Option<(BodyId, DVec3)>,
}

fn end_of(world: &World, anchor: Anchor) -> Option<End> {
    match anchor {
        Anchor::World(point) => Some(End { point, body: None }),
        Anchor::Body(id, local) => {
            let body = world.get(id)?;
            let point = body.user_pose().transform_point(local);
            Some(End { point, body: Some((id, point - body.state().pose().translation)) })
        }
    }
}

/// Changes of velocity by forces that are no rows in a step of `h` seconds, and all others as blocks.
pub(super) fn force_changes(bodies: &mut StepBodies, problem: &mut Problem, world: &World, h: f64) {
    problem.force_rows.rows.clear();
    let mut driven = false;
    for (slot, body_step) in (0..).zip(&mut bodies.body_steps) {
        body_step.force_change = Motion::new(DVec3::ZERO, body_step.acceleration * h);
        if body_step.driven {
            driven = true;
            let Some((_, body)) = world.body_in_slot(slot) else { continue };
            let BodyKind::Free(mass) = *body.kind() else { continue };
            let Force { moment, linear } = body_step.wrench;
            body_step.force_change.linear += linear * (h / mass.mass());
            body_step.force_change.angular += mass.inverse_inertia(body.state().pose().rotation) * moment * h;
        }
    }
    if !driven {
        return;
    }
    let Problem { joined, force_rows, .. } = problem;
    let mut out = Rows { bodies, joined, rows: &mut force_rows.rows, h };
    for (_, force) in world.forces().filter(|(_, force)| !force.is_uniform()) {
        match *force {
            ForceGenerator::Spring { a, b, stiffness, damping, rest_length } => {
                let potential = world.is_elastic(force).then_some(stiffness);
                out.line(world, [a, b], |l| stiffness * (l - rest_length), [stiffness, damping], potential);
            }
            ForceGenerator::Muscle { a, b, tension, damping } if damping > 0.0 => {
                out.line(world, [a, b], |_| tension, [0.0, damping], None);
            }
            ForceGenerator::Drag { body, linear, angular } => {
                let (still, moving) = (DMat3::ZERO, DMat3::IDENTITY);
                out.on_body(world, body, [still, moving], [Give::new(0.0, linear); 3]);
                out.on_body(world, body, [moving, still], [Give::new(0.0, angular); 3]);
            }
            ForceGenerator::Servo { body, axis, rate, gain, limit } => {
                let moments = DMat3::from_cols(DVec3::ZERO, DVec3::ZERO, axis);
                let give = Give { pull: -gain * rate, stiff: gain, most: limit };
                out.on_body(world, body, [moments, DMat3::ZERO], [Give::NONE, Give::NONE, give]);
            }
            _ => {}
        }
    }
}

/// Where blocks are appended.
struct Rows<'a> {
    bodies: &'a StepBodies,
    joined: &'a mut Joined,
    rows: &'a mut Vec<ForceRow>,
    h: f64,
}

impl Rows<'_> {
    /// A line between two anchors, with its tension by length, its stiffness and damping, and the stiffness of its potential if it has one.
    fn line(
        &mut self,
        world: &World,
        anchors: [Anchor; 2],
        tension: impl Fn(f64) -> f64,
        [stiffness, damping]: [f64; 2],
        potential: Option<f64>,
    ) {
        let [a, b] = anchors.map(|anchor| end_of(world, anchor));
        let (Some(a), Some(b)) = (a, b) else { return };
        let d = a.point - b.point;
        let l = d.length();
        let h = self.h;
        let (frame, pull, gives) = match frame_from_normal(d / l) {
            Ok(frame) if l > 0.0 => {
                let pull = tension(l);
                let across = Give::new(0.0, h * pull.max(0.0) / l);
                (frame, pull, [across, across, Give::new(pull, h * stiffness + damping)])
            }
            // A line of no length pulls alike in all directions.
            _ => (DMat3::IDENTITY, 0.0, [Give::new(0.0, h * stiffness); 3]),
        };
        let mut sides = [PoolSide { body: u32::MAX, moments: DMat3::ZERO, forces: DMat3::ZERO }; 2];
        for (side, (end, sign)) in sides.iter_mut().zip([(a, 1.0), (b, -1.0)]) {
            if let Some((id, arm)) = end.body {
                let forces = frame * sign;
                let moments = DMat3::from_cols(
                    arm.cross(forces.x_axis),
                    arm.cross(forces.y_axis),
                    arm.cross(forces.z_axis),
                );
                *side = PoolSide { body: id.index(), moments, forces };
            }
        }
        let known = usize::from(a.body.is_some()) + usize::from(b.body.is_some());
        if a.body.is_none() {
            sides.swap(0, 1);
        }
        if let Some((block, scale)) = self.append(&mut sides[..known], gives) {
            self.rows.push(ForceRow { block, elastic: potential.map(|k| [pull, k, scale.z]) });
        }
    }

    /// Rows of one body against the world.
    fn on_body(&mut self, world: &World, id: BodyId, [moments, forces]: [DMat3; 2], gives: [Give; 3]) {
        if world.get(id).is_some() {
            let mut sides = [PoolSide { body: id.index(), moments, forces }];
            if let Some((block, _)) = self.append(&mut sides, gives) {
                self.rows.push(ForceRow { block, elastic: None });
            }
        }
    }

    /// Appends a block of rows that give way, if one of them does anything; its number, and the scales of its rows.
    fn append(&mut self, sides: &mut [PoolSide], gives: [Give; 3]) -> Option<(u32, DVec3)> {
        let (h, pool) = (self.h, &self.bodies.pool);
        let (mut bounds, mut bias, mut scale) = (Bounds::NONE, DVec3::ZERO, DVec3::ZERO);
        let (mut w, mut u) = (DVec3::ZERO, DVec3::ZERO);
        for side in &*sides {
            let body = &pool[side.body as usize];
            let body_step = &self.bodies.body_steps[side.body as usize];
            if body.is_movable() {
                u += side.velocity(body_step.start + body_step.force_change);
                for row in 0..3 {
                    let (moment, force) = (side.moments.col(row), side.forces.col(row));
                    w[row] += moment.dot(body.inverse_inertia * moment)
                        + force.length_squared() * body.inverse_mass;
                }
            } else {
                u += side.velocity(body.velocity);
            }
        }
        let mut impulse = DVec3::ZERO;
        for (row, give) in gives.into_iter().enumerate() {
            let compliance = 1.0 / (h * give.stiff);
            if !(give.stiff > 0.0 && compliance.is_finite() && w[row] > 0.0) {
                continue;
            }
            let s = (w[row] / (w[row] + compliance)).sqrt();
            let most = h * give.most / s;
            bounds = bounds.with(row, -most, most);
            bounds.compliance[row] = s * s * compliance;
            bias[row] = s * (give.pull / give.stiff);
            scale[row] = s;
            // What it would do alone.
            let alone = -(s * u[row] + bias[row]) / (s * s * (w[row] + compliance));
            impulse[row] = alone.clamp(-most, most);
        }
        if scale == DVec3::ZERO {
            return None;
        }
        for side in &mut *sides {
            let scaled = DMat3::from_diagonal(scale);
            (side.moments, side.forces) = (side.moments * scaled, side.forces * scaled);
        }
        let block = self.joined.append(sides, Law::Bounded(bounds), bias, impulse);
        self.joined.attach(pool, block);
        Some((block, scale))
    }
}

/// Solves the forces that are rows without contacts and joints: the changes of velocity by all forces are known then.
pub(super) fn solve_alone(
    bodies: &mut StepBodies,
    problem: &mut Problem,
    world: &World,
) -> Result<(), StepError> {
    let Problem { joined, force_rows, prepared, mixed, .. } = problem;
    if force_rows.rows.is_empty() {
        return Ok(());
    }
    for (body, body_step) in bodies.pool.iter_mut().zip(&bodies.body_steps) {
        body.velocity = body_step.start + body_step.force_change;
    }
    let delassus = &mut mixed.delassus;
    let mut p = std::mem::take(&mut joined.impulses);
    let view = joined.view();
    prepared.gather(&bodies.pool, &[], &view);
    pool::assemble_diagonal(&bodies.pool, &[], delassus);
    pool::assemble_diagonal_of(&bodies.pool, &view, delassus);
    let Delassus { blocks, velocity, friction, laws, .. } = &*delassus;
    let rows = RowProblem::of_groups(prepared.view(), blocks, velocity, friction, laws);
    match rows.and_then(|rows| force_rows.solver.solve(&rows, &mut p)) {
        // What is not quite solved is better than nothing.
        Ok(_) | Err(RowError::Budget { .. } | RowError::Contradictory { .. }) => {}
        Err(source) => {
            let slots = view.sides.iter().map(|side| side.body).collect();
            return Err(contact::law_error(bodies, world, slots, source));
        }
    }
    for (block, p) in view.blocks.iter().zip(&p) {
        view.push(&mut bodies.pool, block, *p);
    }
    joined.impulses = p;
    for (body, body_step) in bodies.pool.iter().zip(&mut bodies.body_steps) {
        if body_step.driven && body.is_movable() {
            body_step.force_change = body.velocity - body_step.start;
        }
    }
    Ok(())
}

/// Enters what forces did in the account, given the velocities with which they worked; the pool has those with which the rows were solved.
pub(super) fn book_forces(
    bodies: &StepBodies,
    problem: &Problem,
    world: &mut StepperAccess<'_>,
    h: f64,
    with: impl Fn(usize) -> Motion,
) {
    let work_of = |p: Force, slot: u32| {
        let v = with(slot as usize);
        p.linear.dot(v.linear) + p.moment.dot(v.angular)
    };
    for (slot, body_step) in (0..).zip(&bodies.body_steps).filter(|(_, body_step)| body_step.driven) {
        let p = body_step.wrench * h;
        let center =
            world.body_in_slot(slot).map_or(DVec3::ZERO, |(_, body)| body.state().pose().translation);
        let (others, impulse, moment) = (work_of(p, slot), p.linear, p.moment);
        world.book_force(center, &ForceWork { springs: 0.0, others, impulse, moment });
    }
    for row in &problem.force_rows.rows {
        let block = &problem.joined.blocks[row.block as usize];
        let p = problem.joined.impulses[row.block as usize];
        let sides =
            || problem.joined.view().of(block).iter().map(|side| (side, &bodies.pool[side.body as usize]));
        let mut elastic = DVec3::ZERO;
        if let Some([pull, k, scale]) = row.elastic {
            let u: DVec3 = sides().map(|(side, body)| side.velocity(body.velocity)).sum();
            let z = if scale > 0.0 { -h * (pull + h * k * u.z / scale) / scale } else { 0.0 };
            elastic = DVec3::new(p.x, p.y, z);
        }
        for (side, body) in sides().filter(|(_, body)| body.is_movable()) {
            let on = |p: DVec3| Force::new(side.moments * p, side.forces * p);
            let springs = work_of(on(elastic), side.body);
            let others = work_of(on(p - elastic), side.body);
            let Force { moment, linear: impulse } = on(p);
            world.book_force(body.center, &ForceWork { springs, others, impulse, moment });
        }
    }
}
