//! The Delassus operator of free bodies, block by block.
//!
//! # Reference
//!
//! As [`rows`](crate::rows); Newton and Euler for the response of one body.
//!
//! # Symbols
//!
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | r | contact point from the centre of mass | world | m |
//! | R | contact frame, columns two tangents and normal | world | - |
//! | Q | r × columns of R | world | m |
//!
//! # Formula
//!
//! ```text
//! W_cd = Σ over shared bodies ± ( R_cᵀ R_d / m + Q_cᵀ I⁻¹ Q_d ),   + if the body is on the same side of both
//! b_c  = R_cᵀ (v_A + ω_A × r_A − v_B − ω_B × r_B) + bias
//! ```
//!
//! # Cost
//!
//! Two 3x3 products per block that is not zero: contacts that share a free body. No allocation once grown.
//!
//! # Numerics
//!
//! Plain sums; blocks below the diagonal are computed, not copied, and differ from their mirror by rounding.
//!
//! # Failure
//!
//! None: indices beyond the bodies count as the ground.
//!
//! # Tested by
//!
//! `rows_and_pool_agree`, `the_pool_assembles_without_allocation`

use crate::delassus::Delassus;
use sim_math::{
    glam::{DMat3, DVec3},
    spatial::Motion,
};
use sim_traits::{BlockSide, Bounds, FreeBody, Groups, Law, SidedBlocks};

/// A body as contacts see it. Fixed and scripted ones have zero inverse mass and inertia, and keep their velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolBody {
    /// Centre of mass, world, m.
    pub center: DVec3,
    /// 1/kg.
    pub inverse_mass: f64,
    /// World axes, 1/(kg·m²).
    pub inverse_inertia: DMat3,
    /// Angular and linear velocity at the centre, world axes.
    pub velocity: Motion,
}

impl PoolBody {
    /// True if impulses move it.
    #[inline]
    #[must_use]
    pub fn is_movable(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// Velocity of the body point at a world point, m/s.
    #[inline]
    #[must_use]
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.velocity.linear + self.velocity.angular.cross(point - self.center)
    }

    /// Applies an impulse (N·s) at a world point.
    #[inline]
    pub fn push(&mut self, point: DVec3, impulse: DVec3) {
        self.velocity.linear += impulse * self.inverse_mass;
        self.velocity.angular += self.inverse_inertia * (point - self.center).cross(impulse);
    }
}

/// A contact between two bodies of the pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolContact {
    /// A, which the normal points to, and B.
    pub bodies: [u32; 2],
    /// Where, world, m.
    pub point: DVec3,
    /// Two tangents and the normal, world axes.
    pub frame: DMat3,
    /// Coefficient of friction.
    pub friction: f64,
    /// Added to the velocity without impulses, contact frame, m/s.
    pub bias: DVec3,
}

/// How a block of rows feels and pushes a body of the pool: `u_i` = `moments_i`·ω + `forces_i`·v at its centre, world axes, column i for row i.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolSide {
    /// Which body; numbers beyond the pool are the ground.
    pub body: u32,
    /// Moments of unit impulses, with their sign.
    pub moments: DMat3,
    /// Forces of unit impulses, with their sign.
    pub forces: DMat3,
}

impl PoolSide {
    /// What a body with this velocity adds to the velocities of the rows.
    #[inline]
    #[must_use]
    pub fn velocity(&self, body: Motion) -> DVec3 {
        self.moments.transpose() * body.angular + self.forces.transpose() * body.linear
    }
}

/// A block of rows between bodies of the pool: joints, limits, motors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolBlock {
    /// Where its sides start and end in the list of sides.
    pub sides: [u32; 2],
    /// What it obeys.
    pub law: Law,
    /// Added to the velocity without impulses, m/s or rad/s.
    pub bias: DVec3,
}

/// Blocks of rows with their sides.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoolBlocks<'a> {
    /// The blocks.
    pub blocks: &'a [PoolBlock],
    /// Sides of all of them.
    pub sides: &'a [PoolSide],
}

impl<'a> PoolBlocks<'a> {
    /// Sides of a block.
    #[inline]
    #[must_use]
    pub fn of(&self, block: &PoolBlock) -> &'a [PoolSide] {
        &self.sides[block.sides[0] as usize..block.sides[1] as usize]
    }

    /// Velocity of a block, without bias, m/s.
    #[must_use]
    pub fn velocity(&self, bodies: &[PoolBody], block: &PoolBlock) -> DVec3 {
        let of = |side: &PoolSide| {
            let v = bodies.get(side.body as usize).map_or(Motion::ZERO, |body| body.velocity);
            side.velocity(v)
        };
        self.of(block).iter().map(of).sum()
    }

    /// Response of a block to itself, compliance included, 1/kg.
    #[must_use]
    pub fn response(&self, bodies: &[PoolBody], block: &PoolBlock) -> DMat3 {
        let sides = self.of(block);
        let mut w = match block.law {
            Law::Bounded(Bounds { compliance, .. }) => DMat3::from_diagonal(compliance),
            _ => DMat3::ZERO,
        };
        for a in sides {
            let Some(body) = bodies.get(a.body as usize).filter(|b| b.is_movable()) else { continue };
            // The same body may be there more than once, as under a pulley.
            for b in sides.iter().filter(|b| b.body == a.body) {
                w += a.moments.transpose() * (body.inverse_inertia * b.moments)
                    + a.forces.transpose() * b.forces * body.inverse_mass;
            }
        }
        w
    }

    /// Applies an impulse of a block to the bodies.
    pub fn push(&self, bodies: &mut [PoolBody], block: &PoolBlock, impulse: DVec3) {
        for side in self.of(block) {
            if let Some(body) = bodies.get_mut(side.body as usize).filter(|b| b.is_movable()) {
                body.velocity.linear += side.forces * impulse * body.inverse_mass;
                body.velocity.angular += body.inverse_inertia * (side.moments * impulse);
            }
        }
    }
}

/// Memory of [`assemble`].
#[derive(Debug, Clone, Default)]
pub struct PoolWorkspace {
    /// Contacts by body: where they start, and which.
    starts: Vec<u32>,
    lists: Vec<u32>,
    /// Per contact and side: Q and I⁻¹ Q.
    arms: Vec<[(DMat3, DMat3); 2]>,
}

fn crossed(arm: DVec3, frame: &DMat3) -> DMat3 {
    DMat3::from_cols(arm.cross(frame.x_axis), arm.cross(frame.y_axis), arm.cross(frame.z_axis))
}

/// Builds W, b and friction of contacts in a pool.
pub fn assemble(
    bodies: &[PoolBody],
    contacts: &[PoolContact],
    workspace: &mut PoolWorkspace,
    out: &mut Delassus,
) {
    let PoolWorkspace { starts, lists, arms } = workspace;
    let movable = |index: u32| bodies.get(index as usize).filter(|b| b.is_movable());
    // Counting sort of contacts by body.
    starts.clear();
    starts.resize(bodies.len() + 1, 0);
    for contact in contacts {
        for &k in contact.bodies.iter().filter(|k| movable(**k).is_some()) {
            starts[k as usize + 1] += 1;
        }
    }
    for k in 1..starts.len() {
        starts[k] += starts[k - 1];
    }
    lists.clear();
    lists.resize(starts.last().map_or(0, |&n| n as usize), 0);
    arms.clear();
    for (c, contact) in contacts.iter().enumerate() {
        let of = |k: u32| {
            movable(k).map_or((DMat3::ZERO, DMat3::ZERO), |body| {
                let q = crossed(contact.point - body.center, &contact.frame);
                (q, body.inverse_inertia * q)
            })
        };
        arms.push(contact.bodies.map(of));
        for &k in contact.bodies.iter().filter(|k| movable(**k).is_some()) {
            // `starts` runs ahead while lists are filled, and is shifted back below.
            lists[starts[k as usize] as usize] = c as u32;
            starts[k as usize] += 1;
        }
    }
    for k in (1..starts.len()).rev() {
        starts[k] = starts[k - 1];
    }
    if let Some(first) = starts.first_mut() {
        *first = 0;
    }
    let of_body = |k: u32| {
        movable(k).map_or(&[][..], |_| &lists[starts[k as usize] as usize..starts[k as usize + 1] as usize])
    };
    out.clear();
    for (c, contact) in contacts.iter().enumerate() {
        let [mut left, mut right] = contact.bodies.map(of_body);
        let transposed = contact.frame.transpose();
        loop {
            let next = match (left.first(), right.first()) {
                (Some(&x), Some(&y)) => x.min(y),
                (Some(&x), None) | (None, Some(&x)) => x,
                (None, None) => break,
            };
            left = if left.first() == Some(&next) { &left[1..] } else { left };
            right = if right.first() == Some(&next) { &right[1..] } else { right };
            let other = &contacts[next as usize];
            let aligned = transposed * other.frame;
            let mut block = DMat3::ZERO;
            for i in 0..2 {
                for j in 0..2 {
                    let k = contact.bodies[i];
                    if let Some(body) = movable(k).filter(|_| k == other.bodies[j]) {
                        let turning = arms[c][i].0.transpose() * arms[next as usize][j].1;
                        let both = aligned * body.inverse_mass + turning;
                        block = if i == j { block + both } else { block - both };
                    }
                }
            }
            out.columns.push(next);
            out.blocks.push(block);
        }
        if contact.bodies.iter().all(|&k| movable(k).is_none()) {
            // A contact that nothing gives way at is an error of the problem, with its number.
            out.columns.push(c as u32);
            out.blocks.push(DMat3::ZERO);
        }
        out.starts.push(out.columns.len() as u32);
        out.velocity.push(velocity_of(bodies, contact) + contact.bias);
        out.friction.push(contact.friction);
    }
}

/// Builds W, b and laws of contacts and other blocks in a pool: blocks come after the contacts.
pub fn assemble_with(
    bodies: &[PoolBody],
    contacts: &[PoolContact],
    blocks: &PoolBlocks<'_>,
    workspace: &mut PoolWorkspace,
    out: &mut Delassus,
) {
    if blocks.blocks.is_empty() {
        return assemble(bodies, contacts, workspace, out);
    }
    // All of them as sides, with the sides of each body together.
    let n = contacts.len();
    let mut sides: Vec<(u32, u32, DMat3, DMat3)> = Vec::new();
    for (c, contact) in (0..).zip(contacts) {
        for (k, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            if let Some(body) = bodies.get(k as usize).filter(|b| b.is_movable()) {
                let moments = crossed(contact.point - body.center, &contact.frame) * sign;
                sides.push((k, c, moments, contact.frame * sign));
            }
        }
    }
    for (c, block) in (n as u32..).zip(blocks.blocks) {
        for side in blocks.of(block) {
            if bodies.get(side.body as usize).is_some_and(PoolBody::is_movable) {
                sides.push((side.body, c, side.moments, side.forces));
            }
        }
    }
    sides.sort_by_key(|side| (side.0, side.1));
    let mut entries: Vec<(u32, u32, DMat3)> = Vec::new();
    for same in sides.chunk_by(|a, b| a.0 == b.0) {
        let body = &bodies[same[0].0 as usize];
        for (_, c, moments, forces) in same {
            for (_, d, others, other_forces) in same {
                let turning = moments.transpose() * (body.inverse_inertia * *others);
                entries.push((*c, *d, turning + forces.transpose() * *other_forces * body.inverse_mass));
            }
        }
    }
    for (c, block) in (n as u32..).zip(blocks.blocks) {
        if let Law::Bounded(Bounds { compliance, .. }) = block.law {
            entries.push((c, c, DMat3::from_diagonal(compliance)));
        }
    }
    // A contact that nothing gives way at is an error of the problem, with its number.
    entries.extend((0..n as u32).map(|c| (c, c, DMat3::ZERO)));
    entries.sort_by_key(|entry| (entry.0, entry.1));
    out.clear();
    let mut entries = entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).peekable();
    for c in 0..(n + blocks.blocks.len()) as u32 {
        while let Some(same) = entries.next_if(|same| same[0].0 == c) {
            out.columns.push(same[0].1);
            out.blocks.push(same.iter().map(|entry| entry.2).sum());
        }
        out.starts.push(out.columns.len() as u32);
    }
    for contact in contacts {
        out.velocity.push(velocity_of(bodies, contact) + contact.bias);
        out.friction.push(contact.friction);
    }
    for block in blocks.blocks {
        out.velocity.push(blocks.velocity(bodies, block) + block.bias);
        out.laws.push(block.law);
    }
}

/// The diagonal blocks of W, b and friction of contacts in a pool: all that solvers without rows need beside the bodies.
pub fn assemble_diagonal(bodies: &[PoolBody], contacts: &[PoolContact], out: &mut Delassus) {
    out.clear();
    for contact in contacts {
        let mut block = DMat3::ZERO;
        for body in contact.bodies.iter().filter_map(|&k| bodies.get(k as usize)).filter(|b| b.is_movable()) {
            let q = crossed(contact.point - body.center, &contact.frame);
            block += DMat3::from_diagonal(DVec3::splat(body.inverse_mass))
                + q.transpose() * (body.inverse_inertia * q);
        }
        out.columns.push(out.blocks.len() as u32);
        out.blocks.push(block);
        out.starts.push(out.blocks.len() as u32);
        out.velocity.push(velocity_of(bodies, contact) + contact.bias);
        out.friction.push(contact.friction);
    }
}

/// Appends the same of other blocks.
pub fn assemble_diagonal_of(bodies: &[PoolBody], blocks: &PoolBlocks<'_>, out: &mut Delassus) {
    for block in blocks.blocks {
        out.columns.push(out.blocks.len() as u32);
        out.blocks.push(blocks.response(bodies, block));
        out.starts.push(out.blocks.len() as u32);
        out.velocity.push(blocks.velocity(bodies, block) + block.bias);
        out.laws.push(block.law);
    }
}

/// Rows seen from their bodies, for solvers that work on velocities.
#[derive(Debug, Clone, Default)]
pub struct PreparedPool {
    number: Vec<u32>,
    slots: Vec<u32>,
    bodies: Vec<FreeBody>,
    sides: Vec<[u32; 2]>,
    arms: Vec<[DVec3; 2]>,
    frames: Vec<DMat3>,
    block_starts: Vec<u32>,
    block_sides: Vec<BlockSide>,
}

impl PreparedPool {
    /// Reads contacts and other blocks, and the bodies that they act on.
    pub fn gather(&mut self, bodies: &[PoolBody], contacts: &[PoolContact], blocks: &PoolBlocks<'_>) {
        // Numbers of the last call are taken back one by one: most bodies are in other islands.
        self.slots.drain(..).for_each(|slot| self.number[slot as usize] = u32::MAX);
        self.number.resize(bodies.len(), u32::MAX);
        self.bodies.clear();
        self.sides.clear();
        self.arms.clear();
        self.frames.clear();
        self.block_starts.clear();
        self.block_sides.clear();
        for contact in contacts {
            let mut side = [u32::MAX; 2];
            let mut arm = [DVec3::ZERO; 2];
            for k in 0..2 {
                let slot = contact.bodies[k] as usize;
                let Some(body) = bodies.get(slot).filter(|b| b.is_movable()) else { continue };
                side[k] = self.number_of(slot, body);
                arm[k] = contact.point - body.center;
            }
            self.sides.push(side);
            self.arms.push(arm);
            self.frames.push(contact.frame);
        }
        if blocks.blocks.is_empty() {
            return;
        }
        self.block_starts.push(0);
        for block in blocks.blocks {
            for &PoolSide { body: slot, moments, forces } in blocks.of(block) {
                let slot = slot as usize;
                let Some(body) = bodies.get(slot).filter(|b| b.is_movable()) else { continue };
                let body = self.number_of(slot, body);
                self.block_sides.push(BlockSide::Body { body, moments, forces });
            }
            self.block_starts.push(self.block_sides.len() as u32);
        }
    }

    /// Number of the body in a slot among those that were gathered.
    fn number_of(&mut self, slot: usize, body: &PoolBody) -> u32 {
        if self.number[slot] == u32::MAX {
            self.number[slot] = self.bodies.len() as u32;
            self.slots.push(slot as u32);
            self.bodies.push(FreeBody {
                mass: 1.0 / body.inverse_mass,
                inertia: body.inverse_inertia.inverse(),
                inverse_inertia: body.inverse_inertia,
            });
        }
        self.number[slot]
    }

    /// What was gathered.
    #[must_use]
    pub fn view(&self) -> Groups<'_> {
        let (starts, sides) = (&self.block_starts[..], &self.block_sides[..]);
        Groups {
            bodies: &self.bodies,
            sides: &self.sides,
            arms: &self.arms,
            frames: &self.frames,
            sided: SidedBlocks { starts, sides, ..SidedBlocks::default() },
            ..Groups::default()
        }
    }
}

/// Relative velocity of a contact in its frame, without bias, m/s.
#[must_use]
pub fn velocity_of(bodies: &[PoolBody], contact: &PoolContact) -> DVec3 {
    let at = |k: u32| bodies.get(k as usize).map_or(DVec3::ZERO, |b| b.velocity_at(contact.point));
    contact.frame.transpose() * (at(contact.bodies[0]) - at(contact.bodies[1]))
}

/// Applies impulses (contact frames, N·s) to the bodies.
pub fn apply(bodies: &mut [PoolBody], contacts: &[PoolContact], impulses: &[DVec3]) {
    for (contact, p) in contacts.iter().zip(impulses) {
        let impulse = contact.frame * *p;
        for (k, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            if let Some(body) = bodies.get_mut(k as usize).filter(|b| b.is_movable()) {
                body.push(contact.point, sign * impulse);
            }
        }
    }
}
