//! The patches of a step as threads share them.
//!
//! # Reference
//!
//! Own; colours as in [`colour`](super::colour), parts of space as in [`territories`](super::territories).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | share | bodies of a part of space, and their patches with each other, with what does not move and with later parts |
//! | border | bodies that two shares have to do with, and patches at them |
//! | turn | a pass over the patches of one size and colour, or over the bodies; over all colours, where a share is alone |
//!
//! # Formula
//!
//! ```text
//! each share, for each turn t:   wait until the borders of all others have had turn t − 1;   border;   say so;   the rest
//! ```
//!
//! No two patches of a colour have a body in common, so every body sees the same patches in the same order, whoever does them: the bits do not depend on how
//! the patches are shared. What is not at the border nobody else uses, and the others are done with their borders before one asks, most often.
//!
//! # Cost
//!
//! O(patches) per share where colours or parts have changed; a few hundred comparisons per step.
//!
//! # Numerics
//!
//! None.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `borders_have_all_that_two_shares_use`, `threads_have_the_bits_of_one`
#![allow(unsafe_code, reason = "threads share velocities and manifolds; turns and borders keep them apart")]

use super::{
    SoftBodies, SoftError, SoftManifold,
    bodies::Mover,
    colour::{Colouring, STILL},
    joints::{JointSource, JointSystem, SoftJoints},
    lane::Lane,
    patch::Pass,
    share::{Act, Colours, FEW, JointAct, Parting, Share, Side, Size, Stage, Turn},
    substeps::Loads,
};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

/// A number in a cache line of its own: others read it while its neighbours are written.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart(AtomicU32);

/// All patches of a step.
#[derive(Debug)]
pub(super) struct Workspace<L> {
    /// Patches of each [`Size`].
    pub(super) colourings: [Colouring; 3],
    /// The division that all here is for: by place its part, by part a place for nobody.
    of: Vec<u8>,
    nobody: Vec<u32>,
    /// By place: the shares that have to do with the body, a bit each.
    users: Vec<u32>,
    /// By body: what moves it. By place: whether anything does.
    movers: Vec<Mover>,
    moving: Vec<bool>,
    /// Bodies or patches may be in other shares than before.
    stale: bool,
    /// Substeps, and whether there are joints.
    substeps: u32,
    has_joints: bool,
    /// The turns of such a step, and of which the border has been reached, by share.
    turns: Vec<Turn>,
    reached: Vec<Apart>,
    pub(super) shares: Vec<Mutex<Share<L>>>,
    pub(super) loads: Loads,
    pub(super) joints: JointSystem,
}

impl<L> Default for Workspace<L> {
    fn default() -> Self {
        Self {
            colourings: Default::default(),
            of: Vec::new(),
            nobody: Vec::new(),
            users: Vec::new(),
            movers: Vec::new(),
            moving: Vec::new(),
            stale: true,
            substeps: 0,
            has_joints: false,
            joints: JointSystem::default(),
            turns: Vec::new(),
            reached: Vec::new(),
            shares: Vec::new(),
            loads: Loads::default(),
        }
    }
}

impl<L: Lane> Workspace<L> {
    /// Sorts the manifolds by size and colour.
    pub(super) fn sort(&mut self, bodies: &SoftBodies, manifolds: &[SoftManifold]) -> Result<(), SoftError> {
        let (territories, places) = (&bodies.territories, bodies.territories.places());
        self.colourings.iter_mut().for_each(Colouring::begin);
        for (manifold, m) in manifolds.iter().enumerate() {
            let mut pair = m.bodies;
            for body in &mut pair {
                let Some(&place) = places.get(*body as usize) else {
                    return Err(SoftError::NoBody { manifold, body: *body });
                };
                *body = if bodies.inv_masses[place as usize][0] > 0.0 { place } else { STILL };
            }
            // A patch that nothing moves at is left out.
            if pair != [STILL; 2] && !m.is_empty() {
                let size = match m.len() {
                    1 => Size::Single,
                    FEW => Size::Small,
                    _ => Size::Large,
                };
                self.colourings[size as usize].add(manifold as u32, pair);
            }
        }
        let shares = territories.count();
        let mut changed = self.of != territories.of_place() || self.nobody != territories.nobody();
        for colouring in &mut self.colourings {
            changed |= colouring.build(bodies.inv_masses.len());
        }
        if self.movers != bodies.movers {
            self.movers.clone_from(&bodies.movers);
            changed = true;
        }
        if self.shares.len() != shares {
            self.shares.clear();
            self.shares.extend((0..shares).map(|k| Mutex::new(Share::new(k))));
            self.reached.clear();
            self.reached.resize_with(shares, Apart::default);
        }
        if changed {
            self.of.clear();
            self.of.extend_from_slice(territories.of_place());
            self.nobody.clear();
            self.nobody.extend_from_slice(territories.nobody());
            self.find_users(places);
            self.stale = true;
        }
        Ok(())
    }

    /// Finds which shares have to do with each body.
    fn find_users(&mut self, places: &[u32]) {
        let Self { of, users, movers, moving, colourings, shares, .. } = self;
        moving.clear();
        moving.resize(of.len(), false);
        for (place, mover) in places.iter().zip(&*movers) {
            moving[*place as usize] = *mover != Mover::Nothing;
        }
        users.clear();
        users.extend(of.iter().map(|of| 1_u32.checked_shl((*of).into()).unwrap_or(0)));
        if shares.len() <= 1 {
            return;
        }
        let all = u32::MAX;
        let driven = places.iter().zip(movers).filter(|(_, mover)| **mover == Mover::Itself);
        driven.for_each(|(place, _)| users[*place as usize] = all);
        for colouring in colourings {
            let left_over = colouring.left_over().iter().map(|edge| (edge, all));
            let parting = Parting { of, users: &[], moving: &[], has_driven: false, is_alone: false };
            let coloured = colouring.colours().flatten().map(|edge| (edge, 1 << parting.share(edge.1)));
            for ((_, places), share) in coloured.chain(left_over) {
                for place in places {
                    if let Some(users) = users.get_mut(*place as usize) {
                        *users |= share;
                    }
                }
            }
        }
    }

    /// Lets a share take its bodies and patches, if they may be others than before, and read them.
    ///
    /// # Safety
    /// Nobody else uses what is on the stage, but for other shares through this function.
    pub(super) unsafe fn fill(&self, share: &mut Share<L>, stage: &Stage<'_>) {
        let (has_driven, is_alone) = (self.movers.contains(&Mover::Itself), self.shares.len() == 1);
        let Self { of, users, moving, .. } = self;
        let parting = Parting { of, users, moving, has_driven, is_alone };
        let colourings = self.stale.then_some(&self.colourings);
        // SAFETY: as the caller promises; each share has a place for nobody of its own.
        unsafe { share.fill(colourings, &parting, stage, self.nobody[share.index]) };
    }

    /// The patches of every size and colour, those left over included, in the order in which a pass goes over them.
    fn phases(&self) -> impl Iterator<Item = (Size, Colours)> {
        let sizes = [Size::Single, Size::Small, Size::Large];
        let counts =
            self.colourings.each_ref().map(|c| c.ends.len() as u32 + u32::from(!c.left_over().is_empty()));
        // A share that is alone has nobody to take turns with.
        let at_once = if self.shares.len() > 1 { 1 } else { u32::MAX };
        sizes.into_iter().zip(counts).flat_map(move |(size, count)| {
            let firsts = (0..count).step_by(at_once as usize);
            firsts.map(move |first| (size, [first, first.saturating_add(at_once).min(count) - 1]))
        })
    }

    /// Begins the turns of a step.
    pub(super) fn begin(&mut self, substeps: u32, has_joints: bool) {
        let now = (substeps, has_joints);
        let is_new = (self.substeps, self.has_joints) != now;
        (self.substeps, self.has_joints) = now;
        if is_new || self.stale {
            self.plan(substeps);
        }
        self.stale = false;
        for (share, reached) in self.shares.iter_mut().zip(&mut self.reached) {
            // A panic of an earlier step has nothing to do with this one.
            share.clear_poison();
            let share = share.get_mut().unwrap_or_else(PoisonError::into_inner);
            (share.turn, share.others) = (0, 0);
            *reached.0.get_mut() = share.next_border[0];
        }
    }

    /// Lays down the turns of a step.
    fn plan(&mut self, substeps: u32) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.clear();
        let pass = |turns: &mut Vec<Turn>, act: Act| {
            turns.extend(self.phases().map(|(size, colours)| Turn::Patches(act, size, colours)));
        };
        turns.push(Turn::Accelerate { is_first: true });
        pass(&mut turns, Act::WarmStart);
        let joints = |turns: &mut Vec<Turn>, act: JointAct| {
            turns.extend(self.has_joints.then_some(Turn::Joints(act)));
        };
        for substep in 0..substeps {
            if substep > 0 {
                turns.push(Turn::Accelerate { is_first: false });
            }
            joints(&mut turns, JointAct::Renew { is_first: substep == 0 });
            pass(&mut turns, Act::Solve(Pass::Push));
            joints(&mut turns, JointAct::Solve(Pass::Push));
            turns.push(Turn::Drift);
            pass(&mut turns, Act::Solve(Pass::Relax));
            joints(&mut turns, JointAct::Solve(Pass::Relax));
        }
        pass(&mut turns, Act::Store);
        self.turns = turns;
        for share in &mut self.shares {
            share.get_mut().unwrap_or_else(PoisonError::into_inner).find_borders(&self.turns);
        }
    }

    /// Does the turns of a share until it has to wait for another one; true if all are done.
    ///
    /// # Safety
    /// Only through this function, and not the same share twice at the same time, is the stage used.
    pub(super) unsafe fn advance(&self, share: &mut Share<L>, stage: &Stage<'_>) -> bool {
        while let Some(turn) = self.turns.get(share.turn as usize) {
            let now = share.turn;
            if share.next_border[now as usize] == now {
                if share.others < now {
                    share.others = self.least_of_others(share.index);
                    if share.others < now {
                        return false;
                    }
                }
                // SAFETY: others have done their turns at the border up to here, and none is at a later one before this is said to be done. In the same
                // turn no other patch has these bodies.
                unsafe { share.act(*turn, Side::Border, stage) };
                self.reached[share.index].0.store(share.next_border[now as usize + 1], Ordering::Release);
            }
            // SAFETY: nobody else uses these bodies.
            unsafe { share.act(*turn, Side::Inner, stage) };
            share.turn += 1;
        }
        true
    }

    /// Does all turns of all shares, one after the other: joints are solved all together, and by one thread.
    ///
    /// # Safety
    /// Only through this function is the stage used; the processor has the instructions of these lanes.
    pub(super) unsafe fn run_with_joints(
        &mut self,
        joints: &mut SoftJoints,
        source: &mut dyn JointSource,
        stage: &Stage<'_>,
    ) {
        for turn in &self.turns {
            match *turn {
                Turn::Joints(JointAct::Renew { is_first: true }) => self.joints.renew(joints, None, stage),
                Turn::Joints(JointAct::Renew { is_first: false }) => {
                    self.joints.renew(joints, Some(&mut *source), stage);
                }
                Turn::Joints(JointAct::Solve(pass)) => self.joints.solve(joints, stage, pass),
                turn => {
                    for share in &mut self.shares {
                        let share = share.get_mut().unwrap_or_else(PoisonError::into_inner);
                        // SAFETY: as the caller promises.
                        unsafe {
                            share.act(turn, Side::Border, stage);
                            share.act(turn, Side::Inner, stage);
                        }
                    }
                }
            }
        }
    }

    /// The turn that the borders of all others have at least reached.
    fn least_of_others(&self, share: usize) -> u32 {
        let others = self.reached.iter().enumerate().filter(|(k, _)| *k != share);
        others.map(|(_, reached)| reached.0.load(Ordering::Acquire)).min().unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::{
        SoftBody,
        step::tests::{divided, shared, tangle},
    };
    use sim_math::testkit::SplitMix64;

    #[test]
    fn borders_have_all_that_two_shares_use() {
        let mut random = SplitMix64(17);
        for (count, patches, hub) in [(40, 300, false), (2000, 3000, false), (300, 1000, true)] {
            let (bodies, mut manifolds) = tangle(&mut random, count, patches);
            for (k, m) in manifolds.iter_mut().enumerate().filter(|(k, _)| hub && k % 3 == 0) {
                m.bodies[0] = if m.bodies[1] == 5 { 6 } else { 5 };
                assert!(k < 1000 && m.bodies[0] != m.bodies[1]);
            }
            for parts in [2, 3, 8] {
                let mut bodies = divided(&bodies, parts);
                (0..count as usize).step_by(8).for_each(|k| assert!(bodies.set(k, &SoftBody::IDLE)));
                let mut workspace = shared(&mut bodies, &mut manifolds);
                let place = |body: u32| bodies.territories.place(body as usize).unwrap();
                // By place: the shares that move it, read it while it moves by itself, or let it drift.
                let mut users = vec![0_u32; bodies.inv_masses.len()];
                for (place, of) in
                    bodies.territories.of_place().iter().enumerate().filter(|(_, of)| **of < 16)
                {
                    users[place] |= 1 << of;
                }
                let mut seen = vec![0; manifolds.len()];
                for share in &mut workspace.shares {
                    let share = share.get_mut().unwrap();
                    for m in share.all_manifolds() {
                        seen[m as usize] += 1;
                        manifolds[m as usize]
                            .bodies
                            .iter()
                            .for_each(|body| users[place(*body)] |= 1 << share.index);
                    }
                }
                assert!(seen.iter().all(|times| *times <= 1), "a patch has one share");
                let is_fixed = |place: usize| bodies.inv_masses[place][0] <= 0.0;
                let may_share = |place: usize| {
                    is_fixed(place) && bodies.velocities[place] == crate::soft::lane::Slot::default()
                };
                let alone = |place: usize| users[place].is_power_of_two() || may_share(place);
                let mut left_over = workspace.colourings.iter().flat_map(Colouring::left_over);
                assert_eq!(left_over.next().is_some(), hub);
                let left_over: Vec<u32> = workspace
                    .colourings
                    .iter()
                    .flat_map(Colouring::left_over)
                    .flat_map(|edge| edge.1)
                    .collect();
                for share in &mut workspace.shares {
                    let share = share.get_mut().unwrap();
                    for m in share.inner_manifolds() {
                        for place in manifolds[m as usize].bodies.map(place) {
                            assert!(alone(place), "{parts} parts: another share uses place {place} too");
                            assert!(
                                !left_over.contains(&(place as u32)),
                                "{parts} parts: left over at {place}"
                            );
                        }
                    }
                    for place in share.inner.iter().cloned().flatten() {
                        // What nothing moves is read by all, and written by nobody.
                        assert!(
                            users[place as usize].is_power_of_two(),
                            "{parts} parts: another share uses place {place} too"
                        );
                    }
                }
            }
        }
    }
}
