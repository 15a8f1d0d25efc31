//! Joints as blocks of the problem of a step.
//!
//! # Reference
//!
//! Cline (2002), chapter 3, for joints beside contacts; Ryckaert, Ciccotti and Berendsen (1977, SHAKE) for impulses that meet an equation at the end
//! of a step instead of at its start.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x, x⁺ | position of a row at the start and at the end of the step: what a joint holds at zero | m, rad |
//! | u, u⁺ | its velocity J v before the step and J v⁺ | m/s, rad/s |
//! | d | part of its velocity that moving targets give | m/s, rad/s |
//! | b | bias: u⁺ + b is zero, or at least zero, or what a motor leaves | m/s, rad/s |
//! | n | x⁺ − x − h u⁺: how far rows bend in a step | m, rad |
//! | k, c, s | stiffness, damping, wanted speed of a drive | |
//!
//! # Formula
//!
//! ```text
//! hold      b = d + (x + n)/h:   x⁺ = 0;   by Baumgarte  b = d + β x/h
//! limit     b = d + x/h,  p ≥ 0;   where it is hit and bounces  b = d − e u
//! drive     b = d + (k x − c s)/(h k + c),  compliance 1/(h (h k + c)),  |p| ≤ h most
//! friction  b = d,  |p| ≤ h most
//! n from the velocities without joints, and once more from the solution
//! ```
//!
//! # Cost
//!
//! Rows twice or three times, a problem or two, linear in the joints of a chain or tree.
//!
//! # Numerics
//!
//! With x⁺ = 0 in place of J v⁺ = 0 the step is symplectic: pendulums neither lose nor win energy, and joints do not drift. After two
//! problems x⁺ is of the order of h⁴. Like all explicit schemes it wants h Ω < 2 with the frequency Ω at which a body swings across the load of its
//! joints: steps are cut for that (`swing_limit`). What is left is part of the next step. An x of more than [`PULLED`] of the smallest radius is not
//! pulled back by velocities but by [`super::correct`].
//!
//! # Failure
//!
//! Joints that contradict each other are as far from what they hold as they can all be; the report counts the problem as unsolved.
//!
//! # Tested by
//!
//! `tests/time_joints.rs`

use super::{
    impact::Impacts,
    params::Stabilization,
    state::{Books, Memory, Setup, StepBodies},
    trees::{pair_links, pose_ahead},
};
use constraint_dynamics::{
    PoolBody,
    held::HeldSide,
    joints::{JointBlock, JointRows, RowLaw},
    pool::{PoolBlock, PoolBlocks, PoolSide},
    restitution::Bounce,
};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    spatial::Motion,
};
use sim_traits::{Bounds, Law};
use sim_world::{JointWork, StepperAccess, World};

/// Largest error of a row that velocities take back in a step, share of the radius of the smallest body.
const PULLED: f64 = 1e-4;
/// Error of a row at the end of a step below which it is not solved again, share of the same.
const MET: f64 = 1e-11;
/// Largest h Ω of a part of a step, Ω² = Σ f r/I over the loads f at arms r of a body, I across them; neighbours double Ω, and from 2 on steps are
/// not stable. And the most parts.
const SWING: f64 = 0.7;
const MOST_PARTS: f64 = 48.0;
/// Largest sine of the angle between spin and its moment of bodies with locked axes that fly on.
const STRAIGHT: f64 = 1e-14;
/// Speed above which a limit bounces, rad/s or m/s.
const BOUNCE: f64 = 1e-2;

/// Rows of one joint.
#[derive(Debug, Clone, Copy)]
struct Span {
    joint: u32,
    /// First of its blocks, and one beyond the last.
    blocks: [u32; 2],
}

/// The joints of a step.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// At the start of the step.
    rows: JointRows,
    spans: Vec<Span>,
    /// The same rows with bodies by slot, and their laws in this step.
    pub(super) blocks: Vec<PoolBlock>,
    pub(super) sides: Vec<PoolSide>,
    pub(super) impulses: Vec<DVec3>,
    /// Sides of the blocks of joints, which come first: others may be appended for a problem.
    own_sides: usize,
    /// Bodies with locked axes, by slot, ascending.
    locked: Vec<u32>,
    own_pairs: usize,
    /// n by block.
    bends: Vec<DVec3>,
    /// The bodies of blocks by pairs, and to which block a pair belongs if it is its first.
    pub(super) pairs: Vec<[u32; 2]>,
    first_of: Vec<Option<u32>>,
    /// Beside the pairs: the tree that a pair stands for.
    pub(super) trees: Vec<Option<u32>>,
    /// By slot: held by a joint; and by one that holds on to something that does not move.
    pub(super) held: Vec<bool>,
    grounded: Vec<bool>,
    /// By slot: held by a joint, not by locked axes alone.
    jointed: Vec<bool>,
    /// Scratch: rows elsewhere, poses and bodies of a joint.
    ahead: JointRows,
    poses: Vec<Pose>,
    memory: Vec<f64>,
    loads: Vec<f64>,
    /// Impulses of an impact by block.
    blows: Vec<DVec3>,
    slots: Vec<u32>,
    inverses: Vec<constraint_dynamics::joints::BodyInverse>,
}

impl Joined {
    /// True if there are no joints.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.blocks.is_empty()
    }

    /// Forgets the blocks that were appended.
    pub(super) fn drop_extras(&mut self) {
        self.blocks.truncate(self.rows.blocks.len());
        self.impulses.truncate(self.rows.blocks.len());
        self.sides.truncate(self.own_sides);
        self.pairs.truncate(self.own_pairs);
        self.first_of.truncate(self.own_pairs);
        self.trees.truncate(self.own_pairs);
    }

    /// The bodies of a block that was appended hang together.
    pub(super) fn attach(&mut self, pool: &[PoolBody], block: u32) {
        self.pair(pool, block);
        self.trees.resize(self.pairs.len(), None);
    }

    /// Enters the pairs of bodies of a block; the last body that moves, if there is one, and how many.
    fn pair(&mut self, pool: &[PoolBody], k: u32) -> (Option<u32>, usize) {
        let (mut last, mut count) = (None, 0);
        let [start, end] = self.blocks[k as usize].sides;
        for side in &self.sides[start as usize..end as usize] {
            if !pool[side.body as usize].is_movable() {
                continue;
            }
            count += 1;
            if let Some(other) = last {
                self.pairs.push([other, side.body]);
                self.first_of.push((count == 2).then_some(k));
            }
            last = Some(side.body);
        }
        if let (Some(slot), 1) = (last, count) {
            self.pairs.push([slot, u32::MAX]);
            self.first_of.push(Some(k));
        }
        (last, count)
    }

    /// Appends a block that is of no joint; returns its number.
    pub(super) fn append(&mut self, sides: &[PoolSide], law: Law, bias: DVec3, impulse: DVec3) -> u32 {
        let start = self.sides.len() as u32;
        self.sides.extend_from_slice(sides);
        self.blocks.push(PoolBlock { sides: [start, self.sides.len() as u32], law, bias });
        self.impulses.push(impulse);
        self.blocks.len() as u32 - 1
    }

    /// The blocks that were appended, with their numbers.
    pub(super) fn extras(&self) -> impl Iterator<Item = (usize, &PoolBlock)> {
        self.blocks.iter().enumerate().skip(self.rows.blocks.len())
    }

    /// Blocks with their sides.
    pub(super) fn view(&self) -> PoolBlocks<'_> {
        PoolBlocks { blocks: &self.blocks, sides: &self.sides }
    }

    /// True if joints hold the body in a slot.
    pub(super) fn holds(&self, slot: u32) -> bool {
        self.held.get(slot as usize).copied().unwrap_or(false)
    }

    /// True if a joint holds the body in a slot to something that does not move.
    pub(super) fn is_grounded(&self, slot: u32) -> bool {
        self.grounded.get(slot as usize).copied().unwrap_or(false)
    }

    /// Blocks whose first pair is among these pairs.
    pub(super) fn blocks_of(&self, pairs: impl Iterator<Item = usize>) -> impl Iterator<Item = u32> {
        pairs.filter_map(|pair| self.first_of[pair])
    }
}

/// Bounds and bias of a row in a step.
struct Scheme {
    low: f64,
    high: f64,
    compliance: f64,
    bias: f64,
}

impl Scheme {
    /// With the position x, bend n and velocity u of a row before the step, and the way that what is held goes back in it.
    fn of(law: &RowLaw, [x, n, u, drift]: [f64; 4], pull: f64, h: f64) -> Self {
        let row = |low, high, compliance, bias| Self { low, high, compliance, bias };
        match *law {
            RowLaw::Hold => row(f64::NEG_INFINITY, f64::INFINITY, 0.0, drift + (pull + n) / h),
            RowLaw::Limit { restitution } => {
                let hit = restitution > 0.0 && u < -BOUNCE && x + h * u <= 0.0;
                let bias = if hit { drift + restitution * u } else { drift + x.max(0.0) / h };
                row(0.0, f64::INFINITY, 0.0, bias)
            }
            RowLaw::Drive { stiffness, damping, speed, most } => {
                let most = most * h;
                let stiff = h * stiffness + damping;
                if stiff == f64::INFINITY {
                    row(-most, most, 0.0, drift - speed)
                } else if stiff > 0.0 {
                    let bias = drift + (stiffness * x - damping * speed) / stiff;
                    row(-most, most, 1.0 / (h * stiff), bias)
                } else {
                    row(0.0, 0.0, 0.0, 0.0)
                }
            }
            RowLaw::Friction { most } => row(-most * h, most * h, 0.0, drift),
        }
    }
}

/// Reads the joints of the world where its bodies are now: rows, and impulses of the last step.
pub(super) fn read_joints(bodies: &StepBodies, joined: &mut Joined, world: &mut StepperAccess<'_>) {
    joined.rows.clear();
    joined.spans.clear();
    joined.blocks.clear();
    joined.sides.clear();
    joined.impulses.clear();
    joined.bends.clear();
    joined.pairs.clear();
    joined.first_of.clear();
    joined.trees.clear();
    joined.held.clear();
    joined.grounded.clear();
    (joined.own_sides, joined.own_pairs) = (0, 0);
    joined.locked.clear();
    if world.joint_count() == 0 && !world.has_locked_axes() {
        pair_joints(bodies, joined);
        joined.own_pairs = joined.pairs.len();
        return;
    }
    joined.held.resize(world.body_slots(), false);
    joined.grounded.resize(world.body_slots(), false);
    joined.jointed.clear();
    joined.jointed.resize(world.body_slots(), false);
    for slot in 0..world.joint_slots() as u32 {
        let Some((_, joint)) = world.joint_in_slot(slot).filter(|(_, joint)| joint.is_active()) else {
            continue;
        };
        joined.slots.clear();
        joined.slots.extend(joint.bodies().iter().map(|id| id.index()));
        joined.poses.clear();
        joined.poses.extend(joint.bodies().iter().map(|id| pose_of(world, id.index())));
        world.joint_inverses(joint, &mut joined.inverses);
        let first = joined.rows.blocks.len() as u32;
        if let Some((_, joint)) = world.joint_in_slot_mut(slot) {
            joint.rows(&joined.poses, &joined.inverses, &mut joined.rows);
            let count = joined.rows.blocks.len() - first as usize;
            let known = joint.impulses().len() == count;
            joined.impulses.extend((0..count).map(|k| if known { joint.impulses()[k] } else { DVec3::ZERO }));
        }
        let end = joined.rows.blocks.len() as u32;
        joined.spans.push(Span { joint: slot, blocks: [first, end] });
        joined.slots.iter().for_each(|slot| joined.jointed[*slot as usize] = true);
        for block in &joined.rows.blocks[first as usize..end as usize] {
            let start = joined.sides.len() as u32;
            for side in joined.rows.sides_of(block) {
                let Some(&body) = joined.slots.get(side.body as usize) else { continue };
                joined.sides.push(PoolSide { body, moments: side.moments, forces: side.forces });
            }
            let sides = [start, joined.sides.len() as u32];
            joined.blocks.push(PoolBlock { sides, law: Law::Bounded(Bounds::NONE), bias: DVec3::ZERO });
            joined.bends.push(DVec3::ZERO);
        }
    }
    read_locked_axes(bodies, joined, world);
    joined.own_sides = joined.sides.len();
    pair_joints(bodies, joined);
    joined.own_pairs = joined.pairs.len();
}

/// Appends what bodies with locked axes hold: velocities along and about these are zero. There is nothing to drift, because what does not move stays where it is.
fn read_locked_axes(bodies: &StepBodies, joined: &mut Joined, world: &World) {
    if !world.has_locked_axes() {
        return;
    }
    for (slot, _) in (0..).zip(&bodies.pool).filter(|(_, pooled)| pooled.is_movable()) {
        let Some((_, body)) = world.body_in_slot(slot) else { continue };
        let axes = body.locked_axes();
        if axes.is_none() {
            continue;
        }
        joined.locked.push(slot);
        let along = (0..3).filter(|&k| axes.translations[k]).map(|k| (DVec3::ZERO, DVec3::AXES[k]));
        let about = (0..3).filter(|&k| axes.rotations[k]).map(|k| (DVec3::AXES[k], DVec3::ZERO));
        let mut rows = along.chain(about).peekable();
        while rows.peek().is_some() {
            let (mut count, mut moments, mut forces) = (0, DMat3::ZERO, DMat3::ZERO);
            for (moment, force) in rows.by_ref().take(3) {
                (*moments.col_mut(count), *forces.col_mut(count)) = (moment, force);
                count += 1;
            }
            let start = joined.sides.len() as u32;
            joined.sides.push(PoolSide { body: slot, moments, forces });
            let none = joined.rows.sides.len() as u32;
            joined.rows.blocks.push(JointBlock {
                sides: none..none,
                rows: count as u8,
                laws: [RowLaw::Hold; 3],
                position: DVec3::ZERO,
                drift: DVec3::ZERO,
                limit: None,
            });
            let (sides, law) = ([start, start + 1], Law::Bounded(Bounds::NONE));
            joined.blocks.push(PoolBlock { sides, law, bias: DVec3::ZERO });
            joined.bends.push(DVec3::ZERO);
            joined.impulses.push(DVec3::ZERO);
        }
    }
}

/// Finds out which bodies hang together, those of trees last.
fn pair_joints(bodies: &StepBodies, joined: &mut Joined) {
    for k in 0..joined.blocks.len() as u32 {
        let (last, count) = joined.pair(&bodies.pool, k);
        let [start, end] = joined.blocks[k as usize].sides;
        for side in &joined.sides[start as usize..end as usize] {
            joined.held[side.body as usize] |= bodies.pool[side.body as usize].is_movable();
        }
        if let Some(slot) = last.filter(|_| count == 1) {
            joined.grounded[slot as usize] = true;
        }
    }
    joined.trees.resize(joined.pairs.len(), None);
    pair_links(&bodies.trees, |pair, tree| {
        joined.pairs.push(pair);
        joined.first_of.push(None);
        joined.trees.push(tree);
    });
}

/// Laws and biases of the rows in a step of `h` seconds. `predicted`: bends are those of the velocities in the pool, else those found already.
pub(super) fn prepare_joints(
    setup: &Setup,
    bodies: &mut StepBodies,
    joined: &mut Joined,
    world: &World,
    h: f64,
    predicted: bool,
) {
    if joined.is_empty() {
        return;
    }
    let share = match setup.params.stabilization {
        Stabilization::Baumgarte(share) => Some(share),
        _ => None,
    };
    if predicted && share.is_none() {
        bend_joints(setup, bodies, joined, world, h);
    }
    let pulled = PULLED * setup.radius;
    for k in 0..joined.rows.blocks.len() {
        let row = &joined.rows.blocks[k];
        let mut u = row.drift;
        for side in joined.view().of(&joined.blocks[k]) {
            u += side.velocity(bodies.body_steps[side.body as usize].start);
        }
        let (mut bounds, mut bias) = (Bounds::NONE, DVec3::ZERO);
        for i in 0..usize::from(row.rows) {
            let state = [row.position[i], joined.bends[k][i], u[i], row.drift[i]];
            let x = row.position[i];
            let pull = share.map_or(x.clamp(-pulled, pulled), |share| share * x);
            let scheme = Scheme::of(&row.laws[i], state, pull, h);
            bounds = bounds.with(i, scheme.low, scheme.high);
            (bounds.compliance[i], bias[i]) = (scheme.compliance, scheme.bias);
        }
        let block = &mut joined.blocks[k];
        (block.law, block.bias) = (Law::Bounded(bounds), bias);
    }
}

/// How far rows bend in `h` seconds with the velocities in the pool; returns the largest position that what is held would have at the end.
fn bend_joints(setup: &Setup, bodies: &mut StepBodies, joined: &mut Joined, world: &World, h: f64) -> f64 {
    let mut most = 0.0_f64;
    for span in &joined.spans {
        let Some((_, joint)) = world.joint_in_slot(span.joint) else { continue };
        joined.poses.clear();
        for id in joint.bodies() {
            let slot = id.index();
            if let Some(pose) = pose_ahead(bodies, world, slot, h) {
                joined.poses.push(pose);
                continue;
            }
            let now = pose_of(world, slot);
            let body = world.body_in_slot(slot).map(|(_, body)| body);
            let end = body.and_then(|body| {
                let velocity = bodies.pool[slot as usize].velocity;
                if !body.is_free() {
                    return body.at(world.time() + h).ok().map(|state| *state.pose());
                }
                let mut state = *body.state();
                state.velocity =
                    if bodies.pool[slot as usize].is_movable() { velocity } else { Motion::ZERO };
                state.advance(body.model(), h, DVec3::ZERO).ok().map(|()| *state.pose())
            });
            joined.poses.push(end.unwrap_or(now));
        }
        joined.ahead.clear();
        joint.rows_at(&joined.poses, &mut joined.memory, &mut joined.ahead);
        let blocks = span.blocks[0] as usize..span.blocks[1] as usize;
        if joined.ahead.blocks.len() != blocks.len() {
            continue;
        }
        for (k, there) in blocks.zip(&joined.ahead.blocks) {
            let here = &joined.rows.blocks[k];
            let mut u = here.drift;
            for side in joined.view().of(&joined.blocks[k]) {
                u += side.velocity(bodies.pool[side.body as usize].velocity);
            }
            for i in 0..usize::from(here.rows) {
                // Rows on velocities alone have no position.
                let free = here.position[i] == 0.0 && there.position[i] == 0.0;
                if here.laws[i] != RowLaw::Hold || free {
                    continue;
                }
                joined.bends[k][i] = there.position[i] - here.position[i] - h * u[i];
                let pulled = here.position[i].abs() <= PULLED * setup.radius;
                most = if pulled { most.max(there.position[i].abs()) } else { most };
            }
        }
    }
    most
}

/// The longest part of what is left of a step, `h` of `whole` seconds, in which bodies under the load of their joints do not swing too far, s: a
/// light link that carries a heavy weight is stiff across its load.
pub(super) fn swing_limit(
    bodies: &StepBodies,
    joined: &mut Joined,
    memory: &Memory,
    h: f64,
    whole: f64,
) -> f64 {
    if joined.is_empty() || memory.last_step <= 0.0 {
        return h;
    }
    let mut loads = std::mem::take(&mut joined.loads);
    loads.clear();
    loads.resize(bodies.pool.len(), 0.0);
    for (block, p) in joined.blocks[..joined.rows.blocks.len()].iter().zip(&joined.impulses) {
        for side in joined.view().of(block) {
            let body = &bodies.pool[side.body as usize];
            let force = (side.forces * *p).length() / memory.last_step;
            if !body.is_movable() || force <= 0.0 {
                continue;
            }
            // Rows that push at a point: [r×] = moments forcesᵀ. A turn about r itself brings no force about.
            let cross = side.moments * side.forces.transpose();
            let arm = 0.5
                * DVec3::new(
                    cross.y_axis.z - cross.z_axis.y,
                    cross.z_axis.x - cross.x_axis.z,
                    cross.x_axis.y - cross.y_axis.x,
                );
            let (length, ease) = (arm.length(), body.inverse_inertia);
            if length > 0.0 {
                let along = arm / length;
                let across = ease.x_axis.x + ease.y_axis.y + ease.z_axis.z - along.dot(ease * along);
                loads[side.body as usize] += force * length * 0.5 * across;
            }
        }
    }
    let stiffest = loads.iter().copied().fold(0.0, f64::max);
    joined.loads = loads;
    if stiffest * h * h <= SWING * SWING {
        h
    } else {
        h.min((SWING / stiffest.sqrt()).max(whole / MOST_PARTS))
    }
}

/// True if the solution in the pool does not meet what joints hold at the end of a step of `h` seconds; the rows know its bends then.
pub(super) fn joints_bend(
    setup: &Setup,
    bodies: &mut StepBodies,
    joined: &mut Joined,
    world: &World,
    h: f64,
) -> bool {
    let ahead = !matches!(setup.params.stabilization, Stabilization::Baumgarte(_));
    ahead && !joined.is_empty() && bend_joints(setup, bodies, joined, world, h) > MET * setup.radius
}

/// Largest error of what joints hold where the bodies were when rows were read, m or rad.
pub(super) fn joint_error(joined: &Joined) -> f64 {
    joined.rows.blocks.iter().map(error_of).fold(0.0, f64::max)
}

/// The same of some blocks.
pub(super) fn joint_error_of(joined: &Joined, blocks: &[u32]) -> f64 {
    blocks.iter().map(|&k| error_of(&joined.rows.blocks[k as usize])).fold(0.0, f64::max)
}

/// Laws and biases for a correction of places, whose twists are in the pool: what is held and limits, from where the bodies are.
pub(super) fn correct_joints(joined: &mut Joined) {
    for (row, block) in joined.rows.blocks.iter().zip(&mut joined.blocks) {
        let (mut bounds, mut bias) = (Bounds::NONE, DVec3::ZERO);
        for i in 0..usize::from(row.rows) {
            match row.laws[i] {
                RowLaw::Hold => bounds = bounds.with(i, f64::NEG_INFINITY, f64::INFINITY),
                RowLaw::Limit { .. } => bounds = bounds.with(i, 0.0, f64::INFINITY),
                _ => continue,
            }
            bias[i] = row.position[i];
        }
        (block.law, block.bias) = (Law::Bounded(bounds), bias);
    }
}

/// Bodies that joints hold move along straight lines, as those that contacts push. Locked axes alone let fly what moves along them and about no others anyway.
pub(super) fn mark_jointed(bodies: &mut StepBodies, joined: &Joined) {
    for (slot, held) in (0..).zip(&joined.held).filter(|(_, held)| **held) {
        let (body_step, pooled) = (&mut bodies.body_steps[slot as usize], &bodies.pool[slot as usize]);
        let mut pushed = *held;
        if joined.locked.binary_search(&slot).is_ok() && !joined.jointed[slot as usize] {
            let omega = pooled.velocity.angular;
            // What turns about an axis that is not principal would not go on about it.
            let swings = omega.cross(pooled.inverse_inertia * omega).length();
            let straight = swings <= STRAIGHT * omega.length() * (pooled.inverse_inertia * omega).length();
            pushed = !straight || pooled.velocity != body_step.start + body_step.force_change;
        }
        body_step.pushed |= pushed;
    }
}

/// Enters the impulses of joints in the account, in the joints, and in the list of events. The pool has the velocities of the end of a step of `h` seconds.
pub(super) fn book_joints(
    bodies: &StepBodies,
    joined: &mut Joined,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    h: f64,
) {
    if joined.is_empty() {
        return;
    }
    let mut work = JointWork::default();
    for (k, row) in joined.rows.blocks.iter().enumerate() {
        let (p, block) = (joined.impulses[k], &joined.blocks[k]);
        if p == DVec3::ZERO {
            continue;
        }
        let (mut before, mut after) = (DVec3::ZERO, DVec3::ZERO);
        for side in joined.view().of(block) {
            let body = &bodies.pool[side.body as usize];
            if body.is_movable() {
                before += side.velocity(bodies.body_steps[side.body as usize].start);
                after += side.velocity(body.velocity);
                let force = side.forces * p;
                work.impulse += force;
                work.moment += body.center.cross(force) + side.moments * p;
            }
        }
        for i in 0..usize::from(row.rows) {
            let ([u, v], p) = ([before[i], after[i]], p[i]);
            match row.laws[i] {
                RowLaw::Hold => {
                    // At the mean of both velocities; the length of the step takes less by as much.
                    work.joints += 0.5 * p * (u + v);
                    work.stepping += 0.5 * p * (v - u);
                }
                RowLaw::Limit { .. } => work.limits += p * v,
                RowLaw::Drive { .. } => work.drives += p * v,
                RowLaw::Friction { .. } => work.friction += p * v,
            }
        }
    }
    world.book_joint_work(&work);
    let time = world.time() + h;
    for s in 0..joined.spans.len() {
        let Span { joint: slot, blocks } = joined.spans[s];
        let blocks = blocks[0] as usize..blocks[1] as usize;
        let Some((id, joint)) = world.joint_in_slot(slot) else { continue };
        joined.poses.clear();
        joined.poses.extend(joint.bodies().iter().map(|id| pose_of(world, id.index())));
        let impulses = &joined.impulses[blocks.clone()];
        let reaction =
            joint.exerted(&joined.rows, &joined.rows.blocks[blocks.clone()], impulses, &joined.poses, h);
        let struck = joint.bodies().iter().any(|id| bodies.body_steps[id.index() as usize].hit);
        if let Some((_, joint)) = world.joint_in_slot_mut(slot) {
            let kept = joint.impulses_mut();
            kept.clear();
            kept.extend_from_slice(impulses);
        }
        for k in blocks {
            let Some((axis, high)) = joined.rows.blocks[k].limit else { continue };
            let reached = joined.impulses[k] != DVec3::ZERO;
            world.joint_at_limit(id, axis as usize, high, reached, time);
        }
        // A load that lasts is a force; one of a blow is an impulse.
        let blow = if struck { reaction.linear.length() * h } else { 0.0 };
        let broken = world.load_joint(id, reaction, blow, time);
        books.report.events += u64::from(broken);
    }
}

/// The rows that answer a blow: what is held, and limits that are reached.
pub(super) fn gather_for_impact(setup: &Setup, bodies: &StepBodies, joined: &Joined, impacts: &mut Impacts) {
    let Impacts { joints, joint_rows, .. } = impacts;
    joints.clear(bodies.pool.len());
    joint_rows.iter_mut().for_each(Vec::clear);
    for (k, (row, block)) in joined.rows.blocks.iter().zip(&joined.blocks).enumerate() {
        for i in 0..usize::from(row.rows) {
            let sides = joined.view().of(block).iter().map(|side| HeldSide {
                body: side.body,
                moment: side.moments.col(i),
                force: side.forces.col(i),
            });
            match row.laws[i] {
                RowLaw::Hold => {
                    joints.held.rows.add(sides);
                    joint_rows[0].push([k as u32, i as u32]);
                }
                RowLaw::Limit { restitution } if row.position[i] <= PULLED * setup.radius => {
                    joints.limit(sides, Bounce { restitution, rest: BOUNCE });
                    joint_rows[1].push([k as u32, i as u32]);
                }
                _ => {}
            }
        }
    }
    joints.finish(&bodies.pool);
}

/// Enters what joints did in an impact; the pool has the velocities after it.
pub(super) fn book_blow(
    bodies: &StepBodies,
    joined: &mut Joined,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    impacts: &Impacts,
) {
    let Impacts { law, joints, joint_rows, before, .. } = impacts;
    if joints.is_empty() {
        return;
    }
    let mut work = JointWork::default();
    let mut blows = std::mem::take(&mut joined.blows);
    blows.clear();
    blows.resize(joined.blocks.len(), DVec3::ZERO);
    let lists = [(&joints.held.rows, law.held_impulses()), (&joints.limits, law.limit_impulses())];
    for (kind, (rows, impulses)) in lists.into_iter().enumerate() {
        for (row, &p) in impulses.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            let [block, i] = joint_rows[kind][row];
            blows[block as usize][i as usize] += p;
            let mut mean = 0.0;
            for side in rows.of(row) {
                let body = &bodies.pool[side.body as usize];
                if body.is_movable() {
                    mean += 0.5 * (side.velocity(before[side.body as usize]) + side.velocity(body.velocity));
                    let force = side.force * p;
                    work.impulse += force;
                    work.moment += body.center.cross(force) + side.moment * p;
                }
            }
            *(if kind == 0 { &mut work.joints } else { &mut work.limits }) += p * mean;
        }
    }
    world.book_joint_work(&work);
    let time = world.time();
    for s in 0..joined.spans.len() {
        let Span { joint: slot, blocks } = joined.spans[s];
        let blocks = blocks[0] as usize..blocks[1] as usize;
        let Some((id, joint)) = world.joint_in_slot(slot) else { continue };
        if blows[blocks.clone()].iter().all(|p| *p == DVec3::ZERO) {
            continue;
        }
        joined.poses.clear();
        joined.poses.extend(joint.bodies().iter().map(|id| pose_of(world, id.index())));
        let rows = &joined.rows.blocks[blocks.clone()];
        let blow = joint.exerted(&joined.rows, rows, &blows[blocks], &joined.poses, 1.0).linear.length();
        let lasting = joint.reaction();
        books.report.events += u64::from(world.load_joint(id, lasting, blow, time));
    }
    joined.blows = blows;
}

/// How far a block is from what it holds, m or rad.
fn error_of(block: &JointBlock) -> f64 {
    (0..usize::from(block.rows)).fold(0.0, |most: f64, i| match block.laws[i] {
        RowLaw::Hold => most.max(block.position[i].abs()),
        RowLaw::Limit { .. } => most.max(-block.position[i]),
        _ => most,
    })
}

/// Where the centre of mass of the body in a slot is.
fn pose_of(world: &World, slot: u32) -> Pose {
    world.body_in_slot(slot).map_or(Pose::IDENTITY, |(_, body)| *body.state().pose())
}
