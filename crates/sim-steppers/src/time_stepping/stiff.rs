//! Contacts of bodies that springs hold: one problem, in which springs give way as they do without contact.
//!
//! # Reference
//!
//! Cline (2002), section 2.7.4, for the matrix of an implicit step; with it, not with the masses, contacts are answered.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | M̂ | M − h² ∇p f − h ∇v f for bodies with such forces, M for all others | kg |
//! | v₁ | velocities after the step without contacts | m/s, rad/s |
//!
//! # Formula
//!
//! ```text
//! v⁺ = v₁ + M̂⁻¹ Jᵀ p,   W = J M̂⁻¹ Jᵀ;   force_change = v⁺ − v − M⁻¹ Jᵀ p: what forces do in the step, contacts included
//! ΔE = p · J v⁺ − ½ |v⁺ − v|²_M − ½ h² |v⁺|²_K: with W = J M⁻¹ Jᵀ in its place a stiff spring would give energy, by ½ h² |v⁺ − v₁|²_K
//! ```
//!
//! # Cost
//!
//! Three solutions with the factors of M̂ and a full row of W per contact; contacts of all islands with such bodies are one problem.
//!
//! # Numerics
//!
//! As the implicit step. Up to 200 contacts; more are answered with the masses alone, island by island.
//!
//! # Failure
//!
//! That of the contact law.
//!
//! # Tested by
//!
//! `a_spring_presses_a_block_to_the_floor_and_friction_holds_it`, `tests/time_energy.rs`

use super::{
    contact, forces,
    state::{Books, Detection, IslandSpan, Problem, Setup, StepBodies},
};
use constraint_dynamics::{
    PoolBody, PoolContact,
    implicit::{ImplicitWorkspace, SpringDamper},
};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    spatial::Motion,
};
use sim_traits::RowProblem;
use sim_world::{StepError, World};
use std::ops::Range;

/// Most contacts of such a problem.
const MOST: usize = 200;

/// Bodies with forces that depend on the state, in the present step.
#[derive(Debug, Default)]
pub(super) struct Stiff {
    pub(super) slots: Vec<u32>,
    /// By slot: which one of them, or `u32::MAX`.
    pub(super) place: Vec<u32>,
    pub(super) poses: Vec<Pose>,
    /// Springs that have a potential, without damping.
    pub(super) springs: Vec<SpringDamper>,
    /// Exact gradients served.
    pub(super) exact: bool,
    pub(super) workspace: ImplicitWorkspace,
    /// Velocities by slot, all zero but in use.
    response: Vec<Motion>,
    numbers: Vec<f64>,
    blocks: Vec<DMat3>,
    starts: Vec<u32>,
    columns: Vec<u32>,
}

impl Stiff {
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.place.clear();
        self.springs.clear();
    }

    /// Which one of these bodies is in a slot.
    fn number(&self, slot: u32) -> Option<usize> {
        self.place.get(slot as usize).filter(|k| **k != u32::MAX).map(|k| *k as usize)
    }

    /// True if contacts of these bodies can be one problem of so many contacts.
    pub(super) fn fits(&self, contacts: usize) -> bool {
        !self.slots.is_empty() && contacts <= MOST
    }

    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// True if one of these bodies is in a slot.
    pub(super) fn has(&self, slot: u32) -> bool {
        self.number(slot).is_some()
    }

    /// Adds to the response what an impulse (world axes, on A, N·s) at a contact does at once, and to the numbers what it does to bodies with forces.
    fn push(&mut self, pool: &[PoolBody], contact: &PoolContact, impulse: DVec3) {
        for (slot, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            let body = &pool[slot as usize];
            if !body.is_movable() {
                continue;
            }
            let (p, arm) = (impulse * sign, contact.point - body.center);
            match self.number(slot) {
                Some(k) => {
                    let wrench = arm.cross(p).to_array().into_iter().chain(p.to_array());
                    self.numbers[6 * k..6 * k + 6].iter_mut().zip(wrench).for_each(|(x, y)| *x += y);
                }
                None => {
                    let of = &mut self.response[slot as usize];
                    of.linear += p * body.inverse_mass;
                    of.angular += body.inverse_inertia * arm.cross(p);
                }
            }
        }
    }

    /// Finishes the response for bodies with forces.
    fn respond(&mut self) {
        // The factors are those of the step: they have as many rows.
        if self.workspace.respond(&mut self.numbers).is_err() {
            self.numbers.fill(0.0);
        }
        for (slot, x) in self.slots.iter().zip(self.numbers.chunks_exact(6)) {
            self.response[*slot as usize] = Motion::from_array([x[0], x[1], x[2], x[3], x[4], x[5]]);
        }
    }

    /// Forgets the response.
    fn reset(&mut self, pool: &[PoolBody]) {
        self.numbers.clear();
        self.numbers.resize(6 * self.slots.len(), 0.0);
        self.response.clear();
        self.response.resize(pool.len(), Motion::ZERO);
    }

    /// Rows of W, all of them full.
    fn assemble(&mut self, pool: &[PoolBody], contacts: &[PoolContact]) {
        let n = contacts.len();
        self.blocks.clear();
        self.blocks.resize(n * n, DMat3::ZERO);
        self.starts.clear();
        self.starts.extend((0..=n).map(|i| (i * n) as u32));
        self.columns.clear();
        self.columns.extend((0..n * n).map(|k| (k % n) as u32));
        for j in 0..n {
            for axis in 0..3 {
                self.reset(pool);
                self.push(pool, &contacts[j], contacts[j].frame.col(axis));
                self.respond();
                for (i, contact) in contacts.iter().enumerate() {
                    let at = |slot: u32| {
                        let v = self.response[slot as usize];
                        v.linear + v.angular.cross(contact.point - pool[slot as usize].center)
                    };
                    let [a, b] = contact.bodies.map(at);
                    *self.blocks[i * n + j].col_mut(axis) = contact.frame.transpose() * (a - b);
                }
            }
        }
    }
}

/// Contacts `start..end` in the order of islands, of all islands with bodies that springs hold, are one problem; velocities and changes by forces in
/// the pool and of steps of bodies are then those of the end of the step.
pub(super) fn solve_stiff(
    setup: &mut Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &World,
    range: Range<usize>,
) -> Result<(), StepError> {
    let (start, end) = (range.start, range.end);
    let contacts = &problem.contacts[start..end];
    problem.stiff.assemble(&bodies.pool, contacts);
    let all = &problem.delassus;
    let stiff = &problem.stiff;
    let (velocity, friction) = (&all.velocity[start..end], &all.friction[start..end]);
    let rows = RowProblem::new(&stiff.starts, &stiff.columns, &stiff.blocks, velocity, friction, &[]);
    let Some(solver) = setup.parts.contacts.solver() else { return Ok(()) };
    let impulses = &mut problem.impulses[start..end];
    let solved = rows.and_then(|rows| problem.softener.solve(&rows, solver, impulses));
    contact::count_solved(
        found,
        bodies,
        problem,
        books,
        world,
        IslandSpan { contacts: [start as u32, end as u32], blocks: [0; 2] },
        solved,
    )?;
    problem.stiff.reset(&bodies.pool);
    for (contact, p) in problem.contacts[start..end].iter().zip(&problem.impulses[start..end]) {
        problem.stiff.push(&bodies.pool, contact, contact.frame * *p);
    }
    // Impulses of contacts alone, before springs give way.
    for (k, &slot) in problem.stiff.slots.iter().enumerate() {
        let x = &problem.stiff.numbers[6 * k..6 * k + 6];
        let body = &bodies.pool[slot as usize];
        let force_change = &mut bodies.body_steps[slot as usize].force_change;
        force_change.angular -= body.inverse_inertia * DVec3::new(x[0], x[1], x[2]);
        force_change.linear -= DVec3::new(x[3], x[4], x[5]) * body.inverse_mass;
    }
    problem.stiff.respond();
    for (body, response) in bodies.pool.iter_mut().zip(&problem.stiff.response) {
        body.velocity += *response;
    }
    let mut ends = Vec::with_capacity(problem.stiff.slots.len());
    for &slot in &problem.stiff.slots {
        bodies.body_steps[slot as usize].force_change += problem.stiff.response[slot as usize];
        ends.push(bodies.pool[slot as usize].velocity);
    }
    forces::elastic_impulses(bodies, problem, &ends, problem.h);
    Ok(())
}
