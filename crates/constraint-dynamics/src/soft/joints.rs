//! Joints of the soft solver: in each substep all rows of all joints as one linear system.
//!
//! # Reference
//!
//! Ryckaert, Ciccotti and Berendsen (1977, SHAKE) for velocities that meet an equation at the end of a substep; Baraff (1996) for linear time on chains and trees;
//! Júdice and Pires (1994) for rows that change between bound and free, all at once.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x, u, d | position of a row, its velocity J v + d, part of it that moving targets give | m, m/s |
//! | n | x⁺ − x − h u: how far a row bends in a substep | m |
//! | p | impulse of a substep | N·s |
//! | b, c | bias and compliance: J v + b + c p = 0 where p is within its bounds | m/s, 1/kg |
//! | A | J M⁻¹ Jᵀ of all rows | 1/kg |
//!
//! # Formula
//!
//! ```text
//! hold      b = d + (x + n)/h while bodies are pushed,  d + n/h when that is let go
//! limit     b = d + x/h,  p ≥ 0;   where it is hit and bounces  b = d + e u;   inside, when let go,  b = d
//! drive     b = d + (k x − c s)/(h k + c),  compliance 1/(h (h k + c)),  |p| ≤ h most
//! friction  b = d,  |p| ≤ h most
//! (A + c + ε A_ii) Δp = −(J v + b + (c + ε A_ii) p) over rows within their bounds;   what leaves them stays at the bound;   what would leave a bound is let free;   again
//! n: in the first substep that of velocities before the step, then that of the substep before
//! impulses of the substep before act along the rows of the present one
//! ```
//!
//! Solved exactly, a chain holds any weight: sweeps over its joints would let it stretch by the ratio of masses. Contacts and joints take turns.
//!
//! # Cost
//!
//! Rows anew and a factor per substep: n b² for rows that hang together over b others, linear for chains and trees.
//!
//! # Numerics
//!
//! Symplectic as SHAKE is: pendulums keep their energy. Like all explicit schemes it wants h Ω < 2 with the frequency Ω at which a body swings across the load of
//! its joints: [`JointSystem::substeps`]. Rows that are there twice share their load by ε, and stay off by h ε p A_ii: less than a millionth of what their load would
//! move their bodies by.
//!
//! # Failure
//!
//! Rows that contradict each other have the least squares of their errors. Where the matrix is too large, or has no factor, rows are swept one by one.
//!
//! # Tested by
//!
//! `a_chain_is_solved_as_a_dense_system_would_be`, `bounds_are_met`; `tests/time_soft_joints.rs` of `sim-steppers`
#![allow(unsafe_code, reason = "velocities are lent out item by item; joints have their turns alone")]

use super::{SoftBodies, lane::Slot, patch::Pass, share::Stage};
use crate::{
    envelope::Envelope,
    joints::{JointRows, JointSide, RowLaw},
};
use sim_math::{
    Pose,
    dense::CuthillMcKee,
    glam::{DMat3, DVec3},
    spatial::{Force, Motion},
};

/// Where the rows of joints come from while a step goes on.
pub trait JointSource {
    /// Writes the rows of all joints for other poses of their bodies: as many blocks and sides, in the same order, as at the start of the step. Laws are not read.
    fn rows(&mut self, pose: &dyn Fn(u32) -> Pose, out: &mut JointRows);
}

/// The joints of a step.
#[derive(Debug, Clone, Default)]
pub struct SoftJoints {
    /// Rows at the start of the step; sides name bodies by their index among [`SoftBodies`].
    pub rows: JointRows,
    /// By block, N·s: guesses before a step, the impulses of its last substep times the number of substeps afterwards.
    pub impulses: Vec<DVec3>,
    /// By block: impulses of all substeps together, N·s.
    pub exerted: Vec<DVec3>,
    /// By block and row: their work at the mean of the velocities before and after each substep, J.
    pub work: Vec<DVec3>,
    /// Impulse and moment about the world's origin of all of them on all bodies, N·s, N·m·s.
    pub momentum: Force,
    /// Linear systems of the step.
    pub factors: u32,
}

/// Share of A_ii by which rows give way: so that rows that are there twice, or nearly so, have impulses of a size.
const HOLD: f64 = 1e-6;
/// Speed above which a limit bounces, rad/s or m/s.
const BOUNCE: f64 = 1e-2;
/// Most changes of the set of rows at bounds in a pass.
const ROUNDS: usize = 12;
/// Most numbers of a matrix; larger ones are swept.
const LARGEST: usize = 1 << 22;
/// Sweeps of rows that are not solved together.
const SWEEPS: usize = 8;
/// Largest h Ω of a substep.
const SWING: f64 = 0.7;
/// Most substeps for that.
const MOST_SWINGS: f64 = 96.0;
/// A body that turns by less in half a substep bends no row, rad.
const STRAIGHT: f64 = 1e-6;

/// One row in a substep.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// Bounds of p, compliance, biases of both passes.
    low: f64,
    high: f64,
    compliance: f64,
    push: f64,
    relax: f64,
    p: f64,
    bend: f64,
    /// A_ii.
    ease: f64,
    /// Within its bounds: its equation holds.
    is_free: bool,
    is_held: bool,
}

/// A side of a block.
#[derive(Debug, Clone, Copy)]
struct Side {
    place: u32,
    moves: bool,
    forces: DMat3,
    moments: DMat3,
    /// What an impulse changes the velocities by.
    linear: DMat3,
    angular: DMat3,
    /// Displacement of the body when its rows were found.
    at: Slot,
}

/// Two sides on one body: of a later block in the order, of an earlier one or the same.
#[derive(Debug, Clone, Copy)]
struct Couple {
    blocks: [u32; 2],
    sides: [u32; 2],
}

/// Workspace.
#[derive(Debug, Default)]
pub(super) struct JointSystem {
    sides: Vec<Side>,
    rows: Vec<[Row; 3]>,
    /// By block: its sides, and J times the displacements when its rows were found.
    spans: Vec<[u32; 2]>,
    moved: Vec<DVec3>,
    positions: Vec<DVec3>,
    /// By block: J v before the substep; the same of bodies that impulses move.
    before: Vec<DVec3>,
    moving: Vec<DVec3>,
    /// The structure: what it is for, first variable of each block, pairs of sides on the same body.
    known: Vec<u32>,
    key: Vec<u32>,
    first: Vec<u32>,
    at: Vec<u32>,
    couples: Vec<Couple>,
    edges: Vec<(u32, u32)>,
    loads: Vec<f64>,
    by_body: Vec<(u32, u32, u32)>,
    ordering: CuthillMcKee,
    is_large: bool,
    matrix: Envelope,
    is_factored: bool,
    x: Vec<f64>,
    ahead: JointRows,
}

fn sym(slot: &Slot) -> DMat3 {
    let [_, xx, yy, zz, xy, xz, yz, _] = slot.0;
    DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
}

fn angular(slot: &Slot) -> DVec3 {
    DVec3::new(slot[0], slot[1], slot[2])
}

fn linear(slot: &Slot) -> DVec3 {
    DVec3::new(slot[3], slot[4], slot[5])
}

/// Pose of a place moved by a displacement.
fn pose_at(start: &Slot, by: &Slot) -> Pose {
    let q = sim_math::glam::DQuat::from_xyzw(start[0], start[1], start[2], start[3]);
    let pose = Pose::new(DVec3::new(start[4], start[5], start[6]), q);
    crate::stabilize::moved(&pose, Motion::new(angular(by), linear(by)))
}

impl JointSystem {
    /// How many substeps the loads of joints ask for, at most [`MOST_SWINGS`]: a light body that carries a heavy weight is stiff across its load. Joints without guesses of
    /// impulses get them here.
    pub(super) fn substeps(&mut self, joints: &mut SoftJoints, bodies: &SoftBodies, dt: f64) -> u32 {
        joints.impulses.resize(joints.rows.blocks.len(), DVec3::ZERO);
        self.structure(joints, bodies);
        if joints.impulses.iter().all(|p| *p == DVec3::ZERO) {
            self.guess(joints, bodies, dt);
        }
        let places = bodies.territories.places();
        self.loads.clear();
        self.loads.resize(places.len(), 0.0);
        for (block, p) in joints.rows.blocks.iter().zip(&joints.impulses) {
            for side in joints.rows.sides_of(block) {
                let (Some(place), Some(load)) =
                    (places.get(side.body as usize), self.loads.get_mut(side.body as usize))
                else {
                    continue;
                };
                let inv = &bodies.inv_masses[*place as usize];
                let force = (side.forces * *p).length() / dt;
                if inv[0] > 0.0 && force > 0.0 {
                    *load += force * swing(side, &sym(inv));
                }
            }
        }
        let stiffest = self.loads.iter().copied().fold(0.0, f64::max);
        (stiffest.sqrt() * dt / SWING).ceil().clamp(1.0, MOST_SWINGS) as u32
    }

    /// Guesses impulses: what is held does not accelerate.
    fn guess(&mut self, joints: &mut SoftJoints, bodies: &SoftBodies, dt: f64) {
        self.clear_rows(joints);
        self.read_sides(&joints.rows, &bodies.inv_masses, |_| Slot::default());
        if self.is_large {
            return;
        }
        for row in self.rows.iter_mut().flatten() {
            (row.is_free, row.compliance) = (row.is_held, HOLD * row.ease);
        }
        if self.factor(joints) {
            let mut x = std::mem::take(&mut self.x);
            x.clear();
            x.resize(self.first.len(), 0.0);
            for (k, block) in joints.rows.blocks.iter().enumerate() {
                let gained = self.velocity(k, |place| bodies.accelerations[place]) * dt;
                for i in (0..usize::from(block.rows)).filter(|i| self.rows[k][*i].is_held) {
                    x[self.at[k] as usize + i] = -gained[i];
                }
            }
            self.matrix.solve(&mut x);
            for (k, block) in joints.rows.blocks.iter().enumerate() {
                for i in (0..usize::from(block.rows)).filter(|i| self.rows[k][*i].is_held) {
                    joints.impulses[k][i] = x[self.at[k] as usize + i];
                }
            }
            self.x = x;
        }
        self.is_factored = false;
    }

    /// New rows, of which only the held ones are known.
    fn clear_rows(&mut self, joints: &SoftJoints) {
        self.rows.clear();
        self.rows.resize(joints.rows.blocks.len(), [Row::default(); 3]);
        for (rows, block) in self.rows.iter_mut().zip(&joints.rows.blocks) {
            for i in 0..usize::from(block.rows) {
                rows[i].is_held = block.laws[i] == RowLaw::Hold;
            }
        }
    }

    /// Takes the joints of a step, after [`Self::substeps`]; velocities are those before it.
    pub(super) fn begin(
        &mut self,
        joints: &mut SoftJoints,
        source: &mut dyn JointSource,
        bodies: &SoftBodies,
        substeps: u32,
        h: f64,
    ) {
        let count = joints.rows.blocks.len();
        for sums in [&mut joints.exerted, &mut joints.work] {
            sums.clear();
            sums.resize(count, DVec3::ZERO);
        }
        (joints.momentum, joints.factors) = (Force::ZERO, 0);
        self.clear_rows(joints);
        self.positions.clear();
        self.positions.extend(joints.rows.blocks.iter().map(|b| b.position));
        for (row, p) in self.rows.iter_mut().zip(&joints.impulses) {
            let part = *p / f64::from(substeps);
            (0..3).for_each(|i| row[i].p = part[i]);
        }
        self.read_sides(&joints.rows, &bodies.inv_masses, |_| Slot::default());
        self.bend_ahead(joints, source, bodies, h);
        for k in 0..count {
            let block = &joints.rows.blocks[k];
            for i in 0..3 {
                let row = &mut self.rows[k][i];
                row.is_free = row.is_held
                    || (row.p != 0.0 && i < usize::from(block.rows))
                    || matches!(block.laws[i], RowLaw::Drive { .. });
            }
        }
    }

    /// How rows bend in the first substep, from the velocities before it.
    fn bend_ahead(&mut self, joints: &SoftJoints, source: &mut dyn JointSource, bodies: &SoftBodies, h: f64) {
        let turns =
            |s: &Side| s.moves && angular(&bodies.velocities[s.place as usize]).length() * h > STRAIGHT;
        if !self.sides.iter().any(turns) {
            return;
        }
        let places = bodies.territories.places();
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.clear();
        source.rows(
            &|body| {
                let place = places.get(body as usize).map_or(0, |place| *place as usize);
                let v = &bodies.velocities[place];
                pose_at(&bodies.poses[place], &v.with(v, |x, _| h * x))
            },
            &mut ahead,
        );
        if ahead.blocks.len() == joints.rows.blocks.len() {
            for (k, (here, there)) in joints.rows.blocks.iter().zip(&ahead.blocks).enumerate() {
                let u = self.velocity(k, |place| bodies.velocities[place]) + here.drift;
                let most = self.most_bend(k, |place| {
                    let v = &bodies.velocities[place];
                    v.with(v, |x, _| h * x)
                });
                for i in 0..usize::from(here.rows) {
                    let known = here.position[i] != 0.0 || there.position[i] != 0.0;
                    if here.laws[i] == RowLaw::Hold && known {
                        let bend = there.position[i] - here.position[i] - h * u[i];
                        self.rows[k][i].bend = bend.clamp(-most[i], most[i]);
                    }
                }
            }
        }
        self.ahead = ahead;
    }

    /// J v of a block.
    fn velocity(&self, block: usize, of: impl Fn(usize) -> Slot) -> DVec3 {
        self.both_velocities(block, of)[0]
    }

    /// J v of a block, and the part of bodies that impulses move.
    fn both_velocities(&self, block: usize, of: impl Fn(usize) -> Slot) -> [DVec3; 2] {
        let [start, end] = self.spans[block];
        let mut sums = [DVec3::ZERO; 2];
        for side in &self.sides[start as usize..end as usize] {
            let v = of(side.place as usize);
            let u = side.moments.transpose() * angular(&v) + side.forces.transpose() * linear(&v);
            sums[0] += u;
            sums[1] += if side.moves { u } else { DVec3::ZERO };
        }
        sums
    }

    /// Finds out which blocks have bodies in common, and their order, unless that is as before.
    fn structure(&mut self, joints: &SoftJoints, bodies: &SoftBodies) {
        let places = bodies.territories.places();
        self.spans.clear();
        self.sides.clear();
        self.key.clear();
        for block in &joints.rows.blocks {
            let start = self.sides.len() as u32;
            for side in joints.rows.sides_of(block) {
                let place = places.get(side.body as usize).copied().unwrap_or(0);
                let moves = bodies.inv_masses[place as usize][0] > 0.0;
                let zero = DMat3::ZERO;
                self.sides.push(Side {
                    place,
                    moves,
                    forces: zero,
                    moments: zero,
                    linear: zero,
                    angular: zero,
                    at: Slot::default(),
                });
                self.key.push(if moves { place } else { u32::MAX });
            }
            self.spans.push([start, self.sides.len() as u32]);
            self.key.push(u32::MAX - 1 - u32::from(block.rows));
        }
        self.is_factored = false;
        if self.key == self.known {
            return;
        }
        std::mem::swap(&mut self.key, &mut self.known);
        self.by_body.clear();
        for (k, span) in (0..).zip(&self.spans) {
            let moving = (span[0]..span[1]).filter(|s| self.sides[*s as usize].moves);
            self.by_body.extend(moving.map(|s| (self.sides[s as usize].place, k, s)));
        }
        self.by_body.sort_unstable();
        self.edges.clear();
        self.couples.clear();
        let mut entries = 0;
        for run in self.by_body.chunk_by(|a, b| a.0 == b.0) {
            entries += 9 * run.len() * run.len() / 2;
            if entries > LARGEST {
                break;
            }
            for (j, b) in run.iter().enumerate() {
                for a in &run[..=j] {
                    self.edges.push((a.1, b.1));
                    self.couples.push(Couple { blocks: [a.1, b.1], sides: [a.2, b.2] });
                }
            }
        }
        self.is_large = entries > LARGEST || self.ordering.compute(self.spans.len(), &self.edges).is_err();
        if !self.is_large {
            self.place_rows(joints);
        }
    }

    /// Gives rows their variables, and the matrix its shape.
    fn place_rows(&mut self, joints: &SoftJoints) {
        self.at.clear();
        self.at.resize(self.spans.len(), 0);
        let mut end = 0;
        for block in self.ordering.order().iter().rev() {
            self.at[*block as usize] = end;
            end += u32::from(joints.rows.blocks[*block as usize].rows);
        }
        self.first.clear();
        self.first.resize(end as usize, 0);
        for (k, block) in joints.rows.blocks.iter().enumerate() {
            let start = self.at[k];
            (start..start + u32::from(block.rows)).for_each(|i| self.first[i as usize] = start);
        }
        for couple in &mut self.couples {
            if self.at[couple.blocks[0] as usize] < self.at[couple.blocks[1] as usize] {
                couple.blocks.swap(0, 1);
                couple.sides.swap(0, 1);
            }
            let [later, earlier] = couple.blocks.map(|k| self.at[k as usize]);
            for i in later..later + u32::from(joints.rows.blocks[couple.blocks[0] as usize].rows) {
                self.first[i as usize] = self.first[i as usize].min(earlier);
            }
        }
        let entries: usize = self.first.iter().enumerate().map(|(i, f)| i + 1 - *f as usize).sum();
        self.is_large = entries > LARGEST;
    }

    /// Jacobians, and positions of rows relative to the displacements that they were found at.
    fn read_sides(&mut self, rows: &JointRows, inv_masses: &[Slot], displacement: impl Fn(usize) -> Slot) {
        for (to, from) in self.sides.iter_mut().zip(&rows.sides) {
            (to.forces, to.moments) = (from.forces, from.moments);
            if to.moves {
                let inv = &inv_masses[to.place as usize];
                (to.linear, to.angular) = (from.forces * inv[0], sym(inv) * from.moments);
            }
        }
        for k in 0..self.spans.len() {
            let ease = self.eases(k);
            (0..3).for_each(|i| self.rows[k][i].ease = ease[i]);
        }
        self.moved.clear();
        for k in 0..self.spans.len() {
            let moved = self.velocity(k, &displacement);
            self.moved.push(moved);
        }
        for side in &mut self.sides {
            side.at = displacement(side.place as usize);
        }
        self.is_factored = false;
    }

    /// Diagonal of A of a block: bodies that it has two sides on do not occur.
    fn eases(&self, block: usize) -> DVec3 {
        let [start, end] = self.spans[block];
        let of = |side: &Side| {
            DVec3::new(
                side.forces.x_axis.dot(side.linear.x_axis) + side.moments.x_axis.dot(side.angular.x_axis),
                side.forces.y_axis.dot(side.linear.y_axis) + side.moments.y_axis.dot(side.angular.y_axis),
                side.forces.z_axis.dot(side.linear.z_axis) + side.moments.z_axis.dot(side.angular.z_axis),
            )
        };
        self.sides[start as usize..end as usize].iter().fold(DVec3::ZERO, |sum, side| sum + of(side))
    }

    /// The impulses of a block, and what they are changed by.
    fn add(&self, stage: &Stage<'_>, block: usize, p: DVec3) {
        let [start, end] = self.spans[block];
        for side in self.sides[start as usize..end as usize].iter().filter(|side| side.moves) {
            let (turn, push) = (side.angular * p, side.linear * p);
            // SAFETY: joints have their turn alone.
            let v = unsafe { stage.velocities.get_mut(side.place as usize) };
            for (k, x) in turn.to_array().into_iter().chain(push.to_array()).enumerate() {
                v[k] += x;
            }
        }
    }

    fn impulse(&self, block: usize) -> DVec3 {
        let [a, b, c] = self.rows[block].map(|row| row.p);
        DVec3::new(a, b, c)
    }

    /// J v of a block now.
    fn rates(&self, stage: &Stage<'_>, block: usize) -> DVec3 {
        // SAFETY: joints have their turn alone.
        self.velocity(block, |place| *unsafe { stage.velocities.get(place) })
    }

    /// The most that rows can bend by while their bodies turn: an error that jumps, as that of a half turn does, is no bend.
    fn most_bend(&self, block: usize, displacement: impl Fn(usize) -> Slot) -> DVec3 {
        let [start, end] = self.spans[block];
        let (mut turned, mut moved) = (0.0_f64, DVec3::ZERO);
        for side in &self.sides[start as usize..end as usize] {
            let way = displacement(side.place as usize).with(&side.at, |x, y| x - y);
            turned = turned.max(angular(&way).length());
            moved += (side.moments.transpose() * angular(&way)).abs()
                + (side.forces.transpose() * linear(&way)).abs();
        }
        DVec3::splat(moved.length() * turned)
    }

    /// Begins a substep: rows where the bodies are now, unless it is the first.
    pub(super) fn renew(
        &mut self,
        joints: &SoftJoints,
        source: Option<&mut dyn JointSource>,
        stage: &Stage<'_>,
    ) {
        // SAFETY: joints have their turn alone.
        let displacement = |place: usize| *unsafe { stage.displacements.get(place) };
        let is_first = source.is_none();
        if let Some(source) = source {
            let mut ahead = std::mem::take(&mut self.ahead);
            ahead.clear();
            source.rows(
                &|body| {
                    let place = stage.places.get(body as usize).map_or(0, |place| *place as usize);
                    pose_at(&stage.poses[place], &displacement(place))
                },
                &mut ahead,
            );
            let fits =
                ahead.blocks.len() == joints.rows.blocks.len() && ahead.sides.len() == self.sides.len();
            for k in 0..self.spans.len() {
                let linear = self.velocity(k, displacement) - self.moved[k];
                let most = self.most_bend(k, displacement);
                let block = &joints.rows.blocks[k];
                let there = if fits {
                    ahead.blocks[k].position
                } else {
                    self.positions[k] + linear + block.drift * stage.h
                };
                for i in 0..usize::from(block.rows) {
                    let known = there[i] != 0.0 || self.positions[k][i] != 0.0;
                    let bend = there[i] - self.positions[k][i] - linear[i] - stage.h * block.drift[i];
                    let bends = self.rows[k][i].is_held && known;
                    self.rows[k][i].bend = if bends { bend.clamp(-most[i], most[i]) } else { 0.0 };
                }
                self.positions[k] = there;
            }
            if fits {
                // Impulses of the substep before have acted along its rows.
                (0..self.spans.len()).for_each(|k| self.add(stage, k, -self.impulse(k)));
                self.read_sides(&ahead, stage.inv_masses, displacement);
                (0..self.spans.len()).for_each(|k| self.add(stage, k, self.impulse(k)));
            }
            self.ahead = ahead;
        }
        self.before.clear();
        self.moving.clear();
        for k in 0..self.spans.len() {
            // SAFETY: joints have their turn alone.
            let [all, moving] = self.both_velocities(k, |place| unsafe {
                if stage.inv_masses[place][0] > 0.0 {
                    stage.free.get(place).with(stage.accelerations.get(place), |v, a| v - stage.h * a)
                } else {
                    *stage.velocities.get(place)
                }
            });
            self.before.push(all);
            self.moving.push(moving);
        }
        (0..self.spans.len()).for_each(|k| self.prepare(joints, stage, k));
        if is_first {
            (0..self.spans.len()).for_each(|k| self.add(stage, k, self.impulse(k)));
        }
    }

    /// Bounds and biases of a block in a substep.
    fn prepare(&mut self, joints: &SoftJoints, stage: &Stage<'_>, k: usize) {
        let (h, block) = (stage.h, &joints.rows.blocks[k]);
        let reach = stage.shared.joint_push * h;
        for i in 0..usize::from(block.rows) {
            let (x, drift, u) = (self.positions[k][i], block.drift[i], self.before[k][i] + block.drift[i]);
            let row = &mut self.rows[k][i];
            (row.low, row.high, row.compliance) = (f64::NEG_INFINITY, f64::INFINITY, HOLD * row.ease);
            match block.laws[i] {
                RowLaw::Hold => {
                    row.relax = drift + row.bend / h;
                    row.push = row.relax + x.clamp(-reach, reach) / h;
                }
                RowLaw::Limit { restitution } => {
                    row.low = 0.0;
                    let hit = restitution > 0.0 && u < -BOUNCE && x + h * u <= 0.0;
                    row.push = drift + if hit { restitution * u } else { x.max(-reach) / h };
                    row.relax = if hit { row.push } else { drift + x.max(0.0) / h };
                }
                RowLaw::Drive { stiffness, damping, speed, most } => {
                    let stiff = h * stiffness + damping;
                    (row.low, row.high) = (-most * h, most * h);
                    if stiff == f64::INFINITY {
                        row.push = drift - speed;
                    } else if stiff > 0.0 {
                        row.push = drift + (stiffness * x - damping * speed) / stiff;
                        row.compliance += 1.0 / (h * stiff);
                    } else {
                        (row.low, row.high, row.push) = (0.0, 0.0, 0.0);
                    }
                    row.relax = row.push;
                }
                RowLaw::Friction { most } => {
                    (row.low, row.high) = (-most * h, most * h);
                    (row.push, row.relax) = (drift, drift);
                }
            }
        }
    }

    /// One pass over all joints; in the last of a substep its work is entered.
    pub(super) fn solve(&mut self, joints: &mut SoftJoints, stage: &Stage<'_>, pass: Pass) {
        if self.is_large {
            self.sweep(joints, stage, pass);
        } else {
            self.solve_together(joints, stage, pass);
        }
        if pass == Pass::Relax {
            self.book(joints, stage);
        }
    }

    fn solve_together(&mut self, joints: &mut SoftJoints, stage: &Stage<'_>, pass: Pass) {
        for _ in 0..ROUNDS {
            if !self.is_factored {
                joints.factors += 1;
                if !self.factor(joints) {
                    break;
                }
            }
            let mut x = std::mem::take(&mut self.x);
            x.clear();
            x.resize(self.first.len(), 0.0);
            for (k, block) in joints.rows.blocks.iter().enumerate() {
                let (u, at) = (self.rates(stage, k), self.at[k] as usize);
                for i in 0..usize::from(block.rows) {
                    let row = &self.rows[k][i];
                    x[at + i] = if row.is_free && row.ease > 0.0 { -row.residual(u[i], pass) } else { 0.0 };
                }
            }
            self.matrix.solve(&mut x);
            let is_sound = x.iter().all(|x| x.is_finite());
            // The others are right only with what rows do that stay within their bounds.
            let changed = is_sound
                && (self.bind(joints, stage, &x) || {
                    self.take(joints, stage, &x);
                    self.release(joints, stage, pass)
                });
            self.x = x;
            if !is_sound {
                break;
            }
            if !changed {
                return;
            }
            self.is_factored = false;
        }
        // What is left is answered one by one.
        self.sweep(joints, stage, pass);
    }

    /// Puts free rows that would leave their bounds on them, and holds them there; false if there are none.
    fn bind(&mut self, joints: &SoftJoints, stage: &Stage<'_>, x: &[f64]) -> bool {
        let mut any = false;
        for (k, block) in joints.rows.blocks.iter().enumerate() {
            let (mut step, at) = (DVec3::ZERO, self.at[k] as usize);
            for i in 0..usize::from(block.rows) {
                let row = &mut self.rows[k][i];
                let wanted = row.p + x[at + i];
                if row.is_free && !(row.low..=row.high).contains(&wanted) {
                    let next = wanted.max(row.low).min(row.high);
                    (step[i], row.p, row.is_free, any) = (next - row.p, next, false, true);
                }
            }
            if step != DVec3::ZERO {
                self.add(stage, k, step);
            }
        }
        any
    }

    /// Adds a solution.
    fn take(&mut self, joints: &SoftJoints, stage: &Stage<'_>, x: &[f64]) {
        for (k, block) in joints.rows.blocks.iter().enumerate() {
            let (mut step, at) = (DVec3::ZERO, self.at[k] as usize);
            for i in (0..usize::from(block.rows)).filter(|i| self.rows[k][*i].is_free) {
                step[i] = x[at + i];
            }
            (0..3).for_each(|i| self.rows[k][i].p += step[i]);
            self.add(stage, k, step);
        }
    }

    /// Lets rows free that would leave the bound that they are at; false if there are none.
    fn release(&mut self, joints: &SoftJoints, stage: &Stage<'_>, pass: Pass) -> bool {
        let mut any = false;
        for (k, block) in joints.rows.blocks.iter().enumerate() {
            let count = usize::from(block.rows);
            let may = |row: &Row| !row.is_free && row.ease > 0.0 && row.low < row.high;
            if !self.rows[k][..count].iter().any(may) {
                continue;
            }
            let u = self.rates(stage, k);
            for (i, row) in self.rows[k][..count].iter_mut().enumerate().filter(|(_, row)| may(row)) {
                let r = row.residual(u[i], pass);
                let within = row.p > row.low && row.p < row.high;
                row.is_free = within || (row.p <= row.low && r < 0.0) || (row.p >= row.high && r > 0.0);
                any |= row.is_free;
            }
        }
        any
    }

    /// The factor of A for the rows that are free.
    fn factor(&mut self, joints: &SoftJoints) -> bool {
        self.matrix.reset(self.first.iter().copied());
        for couple in &self.couples {
            let [i, j] = couple.blocks.map(|k| k as usize);
            let [a, b] = couple.sides.map(|k| &self.sides[k as usize]);
            // Column n: what row n of the earlier block does to the rows of the later one.
            let w = a.forces.transpose() * b.linear + a.moments.transpose() * b.angular;
            for m in 0..usize::from(joints.rows.blocks[i].rows) {
                for n in 0..usize::from(joints.rows.blocks[j].rows) {
                    let acts = self.rows[i][m].is_free && self.rows[j][n].is_free;
                    if acts && (i != j || n <= m) {
                        self.matrix.add(self.at[i] as usize + m, self.at[j] as usize + n, w.col(n)[m]);
                    }
                }
            }
        }
        for (k, block) in joints.rows.blocks.iter().enumerate() {
            for i in 0..usize::from(block.rows) {
                let (row, at) = (&self.rows[k][i], self.at[k] as usize + i);
                let acts = row.is_free && row.ease > 0.0;
                self.matrix.add(at, at, if acts { row.compliance } else { 1.0 });
            }
        }
        self.is_factored = self.matrix.factor();
        self.is_factored
    }

    /// Rows one by one.
    fn sweep(&mut self, joints: &SoftJoints, stage: &Stage<'_>, pass: Pass) {
        for _ in 0..SWEEPS {
            for (k, block) in joints.rows.blocks.iter().enumerate() {
                for i in 0..usize::from(block.rows) {
                    let u = self.rates(stage, k);
                    let row = &mut self.rows[k][i];
                    if row.ease <= 0.0 {
                        continue;
                    }
                    let wanted = row.p - row.residual(u[i], pass) / (row.ease + row.compliance);
                    let next = wanted.max(row.low).min(row.high);
                    let mut step = DVec3::ZERO;
                    (step[i], row.p) = (next - row.p, next);
                    row.is_free = row.is_held || next == wanted;
                    self.add(stage, k, step);
                }
            }
        }
        self.is_factored = false;
    }

    /// Enters the impulses of a substep and their work.
    fn book(&self, joints: &mut SoftJoints, stage: &Stage<'_>) {
        for k in 0..self.spans.len() {
            let p = self.impulse(k);
            if p == DVec3::ZERO {
                joints.impulses[k] = p;
                continue;
            }
            joints.impulses[k] = p * stage.shared.substeps[0];
            joints.exerted[k] += p;
            // SAFETY: joints have their turn alone.
            let after = self.both_velocities(k, |place| *unsafe { stage.velocities.get(place) })[1];
            joints.work[k] += p * (self.moving[k] + after) * 0.5;
            let [start, end] = self.spans[k];
            for side in self.sides[start as usize..end as usize].iter().filter(|side| side.moves) {
                let place = side.place as usize;
                let at = &stage.poses[place];
                // SAFETY: joints have their turn alone.
                let moved = linear(unsafe { stage.displacements.get(place) });
                let (force, center) = (side.forces * p, DVec3::new(at[4], at[5], at[6]) + moved);
                joints.momentum.linear += force;
                joints.momentum.moment += center.cross(force) + side.moments * p;
            }
        }
    }
}

impl Row {
    /// By how much its equation is missed, for J v.
    fn residual(&self, u: f64, pass: Pass) -> f64 {
        u + if pass == Pass::Push { self.push } else { self.relax } + self.compliance * self.p
    }
}

/// Square of the frequency, for a load of one newton, at which a body swings across a load that acts on it at the arm of a side, 1/(N s²).
fn swing(side: &JointSide, inverse_inertia: &DMat3) -> f64 {
    // Rows that push at a point: [r×] = moments forcesᵀ. A turn about r itself brings no force about.
    let cross = side.moments * side.forces.transpose();
    let arm = 0.5
        * DVec3::new(
            cross.y_axis.z - cross.z_axis.y,
            cross.z_axis.x - cross.x_axis.z,
            cross.x_axis.y - cross.y_axis.x,
        );
    let length = arm.length();
    if length <= 0.0 {
        return 0.0;
    }
    let (along, ease) = (arm / length, inverse_inertia);
    let across = ease.x_axis.x + ease.y_axis.y + ease.z_axis.z - along.dot(*ease * along);
    length * 0.5 * across
}
