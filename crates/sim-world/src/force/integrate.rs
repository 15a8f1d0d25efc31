//! Motion of a cluster of bodies under forces, one step of error-controlled integration at a time.
//!
//! # Reference
//!
//! Dormand and Prince 5(4) ([`sim_math::integrate::DormandPrince`]); Mirtich (1996), section 5.4 and appendix A.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x | centre of mass, from where it was at the start of the step | m |
//! | q | quaternion, body to world | - |
//! | v | velocity of the centre | m/s |
//! | l | angular momentum | kg·m²/s |
//!
//! # Formula
//!
//! ```text
//! ẋ = v   q̇ = ½ ω q   v̇ = g + F/m   l̇ = τ        ω = I_w⁻¹ l
//! ω̇ = I_w⁻¹ (τ − ω × l)   q̈ = ½ (ω̇ q + ω q̇)    for the dense output
//! ```
//!
//! One step that is accepted is one piece for every body of the cluster; its end is an event. Momentum, not velocity, is what
//! the method adds up, and equal and opposite forces add to nothing.
//!
//! # Cost
//!
//! About nine evaluations of all forces per step; no allocation once the scratch has grown.
//!
//! # Numerics
//!
//! Tolerance per step: 5e-13, of a metre and of the speed and spin that a body has (1 m/s and 1 rad/s at least). The step of a cluster is remembered,
//! so that a run that is cut into pieces or restored goes on with the same steps.
//!
//! # Failure
//!
//! [`WorldError::Body`] naming the first body whose state or force is not finite, or the first of the cluster if the steps
//! would become too small.
//!
//! # Tested by
//!
//! `tests/forces.rs` of `sim-steppers`

use super::{ForceGenerator, ForceId};
use crate::{
    access::StepperAccess,
    body::Rest,
    dense::{Dense, Slopes},
    error::WorldError,
    piece::{Law, Piece},
    world::World,
};
use rigid_impulse::{BodyError, BodyKind, BodyModel, BodyState};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3, DVec4},
    integrate::{Abort, AdaptiveParams, DormandPrince, Flow, IntegrateError, OdeScratch, OdeSystem},
    spatial::Force,
};
use sim_traits::BodyId;
use std::sync::Arc;

/// Error allowed per step, in the units of each body.
const TOLERANCE: f64 = 5e-13;
/// Longest piece, s.
const LONGEST: f64 = 0.05;
/// Numbers per body.
const WIDTH: usize = 13;
/// Nodes and weights of Gauss's quadrature of order six on 0 to 1.
const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// Memory that is used again; a clone begins with none.
#[derive(Debug, Default)]
pub(crate) struct ForceScratch {
    ode: OdeScratch,
    ids: Vec<BodyId>,
    starts: Vec<BodyState>,
    units: Vec<[f64; 2]>,
    before: Vec<Slopes>,
    sums: Vec<Exerted>,
    states: Vec<BodyState>,
    wrenches: Vec<Force>,
    y: Vec<f64>,
    slopes: Vec<f64>,
    next: Vec<(BodyId, BodyState, Dense)>,
}

impl Clone for ForceScratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// What forces and gravity did to one body over a span of time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Exerted {
    /// Work of forces, J, without springs that have a potential.
    pub(crate) work: f64,
    /// ∫ F dt, N·s.
    pub(crate) impulse: DVec3,
    /// ∫ (x × F + τ) dt, about the world's origin, N·m·s.
    pub(crate) moment: DVec3,
    /// ∫ x dt, m·s.
    pub(crate) place: DVec3,
}

fn mass_of(model: &BodyModel) -> (f64, DVec3) {
    match model.kind() {
        BodyKind::Free(m) => (m.mass(), m.moments()),
        BodyKind::Fixed | BodyKind::Scripted => (f64::INFINITY, DVec3::INFINITY),
    }
}

/// Units in which the components of velocity and angular momentum are of order one: one of them that passes through zero is
/// not asked for more digits than the vector has.
fn units_of(model: &BodyModel, state: &BodyState) -> [f64; 2] {
    let inertia = mass_of(model).1.max_element();
    [state.velocity.linear.length().max(1.0), state.spin(model).length().max(inertia)]
}

/// The equations of motion of a cluster.
struct System<'a> {
    world: &'a World,
    cluster: usize,
    /// Bodies that move, by slot.
    ids: &'a [BodyId],
    /// Their states at the start; poses and velocities at every evaluation.
    starts: &'a [BodyState],
    /// Units of their velocities and momenta, m/s and kg·m²/s.
    units: &'a [[f64; 2]],
    states: &'a mut [BodyState],
    wrenches: &'a mut [Force],
}

impl System<'_> {
    /// What the body of this number is.
    fn model(&self, k: usize) -> &BodyModel {
        self.world.get(self.ids[k]).map_or(&BodyModel::FIXED, |body| body.model())
    }

    fn write(&self, y: &mut [f64]) {
        for (k, y) in y.chunks_exact_mut(WIDTH).enumerate() {
            let (s, [speed, spin]) = (&self.starts[k], &self.units[k]);
            y[0..3].fill(0.0);
            y[3..7].copy_from_slice(&s.pose().rotation.to_array());
            y[7..10].copy_from_slice(&(s.velocity.linear / *speed).to_array());
            y[10..13].copy_from_slice(&(s.spin(self.model(k)) / *spin).to_array());
        }
    }

    /// States at `y`.
    fn read(&mut self, y: &[f64]) -> Result<(), Abort> {
        for (k, y) in y.chunks_exact(WIDTH).enumerate() {
            let start = &self.starts[k];
            let abort = |_| Abort { code: k as u64 };
            let rotation = DQuat::from_xyzw(y[3], y[4], y[5], y[6]);
            let place = start.pose().translation + DVec3::from_slice(&y[0..3]);
            let state = &mut self.states[k];
            state.set_pose(Pose::new(place, rotation)).map_err(abort)?;
            let [speed, spin] = self.units[k];
            state.velocity.linear = DVec3::from_slice(&y[7..10]) * speed;
            let spin = DVec3::from_slice(&y[10..13]) * spin;
            self.states[k].velocity.angular = self.model(k).inverse_inertia(rotation) * spin;
        }
        Ok(())
    }

    /// Wrenches on all bodies at their present states.
    fn exert(&mut self, t: f64) {
        self.wrenches.fill(Force::ZERO);
        let (world, ids, states, wrenches) = (self.world, self.ids, &*self.states, &mut *self.wrenches);
        let place = |id: BodyId| ids.binary_search(&id).ok();
        let state = |id: BodyId| {
            let body = world.get(id)?;
            let state = place(id).map_or_else(|| body.at(t).ok(), |k| Some(states[k]))?;
            Some((body.model(), state))
        };
        for &k in &world.clusters[self.cluster].forces {
            let Some((_, force)) = world.forces.at::<ForceId>(k) else { continue };
            force.apply(t, &state, &mut |id, wrench| {
                if let Some(k) = place(id) {
                    wrenches[k].linear += wrench.linear;
                    wrenches[k].moment += wrench.moment;
                }
            });
        }
    }

    /// Calls `act` with the number of every body that a spring with a potential holds, and the power of its pull, W.
    fn elastic(&self, t: f64, act: &mut dyn FnMut(usize, f64)) {
        let place = |id: BodyId| self.ids.binary_search(&id).ok();
        let state = |id: BodyId| {
            let body = self.world.get(id)?;
            let state = place(id).map_or_else(|| body.at(t).ok(), |k| Some(self.states[k]))?;
            Some((body.model(), state))
        };
        for &k in &self.world.clusters[self.cluster].forces {
            let Some((_, force)) = self.world.forces.at::<ForceId>(k) else { continue };
            let ForceGenerator::Spring { a, b, stiffness, rest_length, .. } = *force else { continue };
            if self.world.is_elastic(force) {
                let pull = ForceGenerator::Spring { a, b, stiffness, damping: 0.0, rest_length };
                pull.apply(t, &state, &mut |id, f| {
                    if let Some(k) = place(id) {
                        let v = self.states[k].velocity;
                        act(k, f.linear.dot(v.linear) + f.moment.dot(v.angular));
                    }
                });
            }
        }
    }

    /// What the dense output needs of body `k`, after an evaluation.
    fn slopes(&self, k: usize) -> Slopes {
        let (model, state, wrench) = (self.model(k), &self.states[k], &self.wrenches[k]);
        let (q, w) = (state.pose().rotation, state.velocity.angular);
        let swing = state.inverse_inertia(model) * (wrench.moment - w.cross(state.spin(model)));
        let (w, swing) = (DQuat::from_vec4(w.extend(0.0)), DQuat::from_vec4(swing.extend(0.0)));
        let rate = w * q * 0.5;
        Slopes {
            acceleration: self.world.gravity + wrench.linear / mass_of(model).0,
            turn: DVec4::from(rate),
            turn_rate: DVec4::from(swing * q * 0.5 + w * rate * 0.5),
        }
    }
}

impl OdeSystem for System<'_> {
    fn dim(&self) -> usize {
        WIDTH * self.ids.len()
    }

    fn derivative(&mut self, t: f64, y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
        self.read(y)?;
        self.exert(t);
        for (k, out) in dydt.chunks_exact_mut(WIDTH).enumerate() {
            let (state, wrench) = (&self.states[k], &self.wrenches[k]);
            let (mass, [speed, spin]) = (mass_of(self.model(k)).0, self.units[k]);
            let turn = DQuat::from_vec4(state.velocity.angular.extend(0.0)) * state.pose().rotation * 0.5;
            out[0..3].copy_from_slice(&state.velocity.linear.to_array());
            out[3..7].copy_from_slice(&turn.to_array());
            out[7..10].copy_from_slice(&((self.world.gravity + wrench.linear / mass) / speed).to_array());
            out[10..13].copy_from_slice(&(wrench.moment / spin).to_array());
            if out.iter().any(|x| !x.is_finite()) {
                return Err(Abort { code: k as u64 });
            }
        }
        Ok(())
    }

    fn project(&mut self, y: &mut [f64]) {
        for y in y.chunks_exact_mut(WIDTH) {
            let q = DVec4::from_slice(&y[3..7]);
            y[3..7].copy_from_slice(&(q / q.length()).to_array());
        }
    }

    fn accepted(&mut self, _t: f64, _y: &[f64]) -> Result<Flow, Abort> {
        Ok(Flow::Stop)
    }
}

/// The memory of a piece that is over serves for the next one, unless a clone of the world still needs it.
fn reuse(old: Piece, dense: Dense) -> Arc<Dense> {
    if let Law::Integrated(mut arc) = old.into_law() {
        if let Some(place) = Arc::get_mut(&mut arc) {
            *place = dense;
            return arc;
        }
    }
    Arc::new(dense)
}

impl World {
    /// Begins new pieces for all bodies of a cluster at `time` (s): from the state given for one of them, and from the
    /// present pieces for the others. Books what went before.
    pub(crate) fn launch(
        &mut self,
        cluster: u32,
        time: f64,
        given: Option<(BodyId, BodyState)>,
    ) -> Result<(), WorldError> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = self.step_cluster(cluster as usize, time, given, &mut scratch);
        if result.is_ok() {
            self.book_cluster(cluster as usize, time, &mut scratch);
            for (id, start, dense) in scratch.next.drain(..) {
                let Some(body) = self.bodies.get_mut(id) else { continue };
                let old = std::mem::replace(&mut body.piece, Piece::still(start));
                body.piece = Piece::integrated(time, start, reuse(old, dense));
                body.outdated = false;
            }
        }
        self.scratch = scratch;
        result
    }

    fn step_cluster(
        &mut self,
        cluster: usize,
        time: f64,
        given: Option<(BodyId, BodyState)>,
        scratch: &mut ForceScratch,
    ) -> Result<(), WorldError> {
        let ForceScratch { ode, ids, starts, units, before, states, wrenches, y, slopes, next, .. } = scratch;
        ids.clear();
        starts.clear();
        units.clear();
        next.clear();
        let mut hint = None;
        let Some(members) = self.clusters.get(cluster).map(|c| &c.members) else { return Ok(()) };
        for &id in members {
            let named = given.is_some_and(|(g, _)| g == id);
            let Some(body) = self.bodies.get(id).filter(|b| named || b.rest == Rest::Awake) else { continue };
            let state = match given {
                Some((g, state)) if g == id => state,
                _ if body.outdated => body.now,
                _ => body.at(time).map_err(|source| WorldError::Body { body: id, source })?,
            };
            hint = hint.or(body.step_hint);
            ids.push(id);
            starts.push(state);
            units.push(units_of(&body.model, &state));
        }
        let Some(&first) = ids.first() else { return Ok(()) };
        let dim = WIDTH * ids.len();
        states.clear();
        states.extend_from_slice(starts);
        wrenches.resize(ids.len(), Force::ZERO);
        y.resize(dim, 0.0);
        slopes.resize(dim, 0.0);
        let method = DormandPrince::new(AdaptiveParams::with_tolerance(0.0, TOLERANCE));
        let named = |error: IntegrateError| {
            let body = match error {
                IntegrateError::Aborted { code, .. } => ids.get(code as usize).copied().unwrap_or(first),
                _ => first,
            };
            WorldError::Body { body, source: BodyError::Rotation(error) }
        };
        let aborted = |a: Abort| named(IntegrateError::Aborted { t: time, code: a.code });
        let mut system = System { world: self, cluster, ids, starts, units, states, wrenches };
        system.write(y);
        system.derivative(time, y, slopes).map_err(aborted)?;
        before.clear();
        before.extend((0..ids.len()).map(|k| system.slopes(k)));
        let mut length = 0.0;
        let report = method
            .advance_dense(&mut system, time, LONGEST, y, &mut hint, ode, &mut |step| length = step.h)
            .map_err(named)?;
        system.derivative(report.t, y, slopes).map_err(aborted)?;
        for (k, &id) in ids.iter().enumerate() {
            let ends = [&starts[k], &system.states[k]];
            let moved = DVec3::from_slice(&y[WIDTH * k..WIDTH * k + 3]);
            let dense = Dense::new(length, ends, moved, [before[k], system.slopes(k)]);
            next.push((id, starts[k], dense));
        }
        for &id in &*ids {
            if let Some(body) = self.bodies.get_mut(id) {
                body.step_hint = hint;
            }
        }
        Ok(())
    }

    /// Books what forces did to the bodies of a cluster up to `time` (s), on their present pieces.
    pub(crate) fn book_cluster(&mut self, cluster: usize, time: f64, scratch: &mut ForceScratch) {
        let mut account = self.account;
        let ForceScratch { ids, states, wrenches, sums, .. } = scratch;
        ids.clear();
        let mut from = None;
        let Some(members) = self.clusters.get(cluster).map(|c| &c.members) else { return };
        for &id in members {
            let Some(body) = self.bodies.get(id) else { continue };
            if !body.outdated && matches!(body.piece.law(), Law::Integrated(_)) {
                from = from.or(account.since(&body.piece));
                ids.push(id);
            }
        }
        let Some(from) = from.filter(|from| *from < time) else { return };
        sums.clear();
        sums.resize(ids.len(), Exerted::default());
        wrenches.resize(ids.len(), Force::ZERO);
        for (node, weight) in GAUSS {
            let t = from + node * (time - from);
            let w = weight * (time - from);
            states.clear();
            for &id in &*ids {
                // What is not finite shows elsewhere.
                let Some(Ok(state)) = self.bodies.get(id).map(|b| b.at(t)) else { return };
                states.push(state);
            }
            let mut system = System { world: self, cluster, ids, starts: &[], units: &[], states, wrenches };
            system.exert(t);
            system.elastic(t, &mut |k, power| sums[k].work -= w * power);
            for ((sum, s), f) in sums.iter_mut().zip(&*system.states).zip(&*system.wrenches) {
                sum.work += w * (f.linear.dot(s.velocity.linear) + f.moment.dot(s.velocity.angular));
                sum.impulse += f.linear * w;
                sum.moment += (s.pose().translation.cross(f.linear) + f.moment) * w;
                sum.place += s.pose().translation * w;
            }
        }
        for (&id, sum) in ids.iter().zip(&*sums) {
            if let Some(body) = self.bodies.get(id) {
                account.exerted(body, self.gravity * body.mass(), [from, time], sum);
            }
        }
        self.account = account;
    }

    /// Total force and moment about the centre of mass on a body at the world's time by all forces, without gravity, world
    /// axes, N and N·m.
    ///
    /// # Errors
    /// There is no such body.
    pub fn applied_force(&self, id: BodyId) -> Result<Force, WorldError> {
        self.body(id)?;
        let mut sum = Force::ZERO;
        let state = |id: BodyId| self.get(id).map(|b| (b.model(), *b.state()));
        for (_, force) in self.forces_of(id) {
            force.apply(self.time, &state, &mut |on, wrench| {
                if on == id {
                    sum.linear += wrench.linear;
                    sum.moment += wrench.moment;
                }
            });
        }
        Ok(sum)
    }

    /// Number of clusters: sets of free bodies whose motion under forces is integrated together. For steppers.
    #[must_use]
    pub fn cluster_count(&self) -> u32 {
        self.clusters.len() as u32
    }

    /// How often clusters were found: while it is the same they have the same numbers. For steppers.
    #[must_use]
    pub fn clusters_found(&self) -> u64 {
        self.clusters_found
    }

    /// Free bodies of a cluster, by slot. For steppers.
    #[must_use]
    pub fn cluster_members(&self, cluster: u32) -> &[BodyId] {
        self.clusters.get(cluster as usize).map_or(&[], |c| &c.members)
    }

    /// When the pieces of a cluster end, s; never if none of its bodies is awake. For steppers.
    #[must_use]
    pub fn cluster_end(&self, cluster: u32) -> f64 {
        let of = |id: &BodyId| self.get(*id).map_or(f64::INFINITY, |b| b.piece.end());
        self.cluster_members(cluster).iter().map(of).fold(f64::INFINITY, f64::min)
    }
}

impl StepperAccess<'_> {
    /// Goes on with new pieces for the bodies of a cluster at `time` (s), when the present ones end. For steppers.
    ///
    /// # Errors
    /// A body whose state or force is not finite.
    pub fn continue_cluster(&mut self, cluster: u32, time: f64) -> Result<(), WorldError> {
        self.world.launch(cluster, time, None)
    }
}
