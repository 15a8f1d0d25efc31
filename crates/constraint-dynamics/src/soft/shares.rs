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
//! | share | bodies of a part of space, and the patches of which it has the first body that moves |
//! | border | bodies that two shares have to do with, and patches at them |
//! | turn | a pass over the patches of one size and colour, or over the bodies |
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
    colour::{Colouring, Edge, STILL},
    lane::{Lane, Slot},
    patch::{Filled, Pass, Patch, Shared},
    shelf::Shelf,
};
use sim_traits::Manifold;
use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

/// What is done in a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Turn {
    /// Bodies: accelerations of a substep; the first has no impulses before it.
    Accelerate { is_first: bool },
    /// Bodies: displacements of a substep.
    Drift,
    /// Patches of some colours.
    Patches(Act, Size, Colours),
}

/// Colours from the first to the last: one, where several shares take turns, or all.
type Colours = [u32; 2];

/// What is done to a patch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Act {
    WarmStart,
    Solve(Pass),
    Restitute,
    Store,
}

/// Patches by the number of their points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Size {
    Single,
    Small,
    Large,
}

/// Most points of a small patch: edges and capsules have no more, and cost half as much.
const FEW: usize = 2;

/// What the turns of a step work on: arrays by place.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) velocities: Shelf<'a, Slot>,
    pub(super) displacements: Shelf<'a, Slot>,
    /// Velocities before the contacts of the substep.
    pub(super) free: Shelf<'a, Slot>,
    pub(super) accelerations: Shelf<'a, Slot>,
    pub(super) inv_masses: &'a [Slot],
    pub(super) poses: &'a [Slot],
    pub(super) manifolds: Shelf<'a, SoftManifold>,
    /// By body: its place.
    pub(super) places: &'a [u32],
    pub(super) shared: Shared,
    pub(super) h: f64,
}

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
    /// Places of bodies that do not move by impulses, but by themselves.
    driven: Vec<u32>,
    /// Bodies or patches may be in other shares than before.
    stale: bool,
    /// Substeps, and whether anything bounces.
    kind: (u32, bool),
    /// The turns of such a step, and of which the border has been reached, by share.
    turns: Vec<Turn>,
    reached: Vec<Apart>,
    pub(super) shares: Vec<Mutex<Share<L>>>,
}

impl<L> Default for Workspace<L> {
    fn default() -> Self {
        Self {
            colourings: Default::default(),
            of: Vec::new(),
            nobody: Vec::new(),
            users: Vec::new(),
            driven: Vec::new(),
            stale: true,
            kind: (0, false),
            turns: Vec::new(),
            reached: Vec::new(),
            shares: Vec::new(),
        }
    }
}

/// What one thread does.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Share<L> {
    index: usize,
    /// Places of its bodies at the border, and of the others: runs, in their order.
    border: Vec<Range<u32>>,
    inner: Vec<Range<u32>>,
    scratch: Vec<Edge>,
    single: Patches<L, 1>,
    small: Patches<L, FEW>,
    large: Patches<L, { Manifold::CAPACITY }>,
    /// By turn: the next one, this one included, that has something to do at the border.
    next_border: Vec<u32>,
    /// The turn that it is at, and what it has seen the others reach.
    turn: u32,
    others: u32,
    pub(super) filled: Filled,
}

/// Patches of up to `ROWS` points, in the order of their colours.
#[derive(Debug)]
struct Patches<L, const ROWS: usize> {
    /// Their manifolds and places, of each colour those at the border first.
    order: Vec<Edge>,
    colours: Vec<Colour>,
    all: Vec<Patch<L, ROWS>>,
}

/// Where the patches of a colour begin and end.
#[derive(Debug, Clone, Copy, Default)]
struct Colour {
    /// End in [`Patches::order`].
    end: u32,
    /// In [`Patches::all`]: start, end of the border, end.
    sides: [u32; 3],
    /// They share bodies, and are done one by one.
    one_by_one: bool,
}

impl<L, const ROWS: usize> Default for Patches<L, ROWS> {
    fn default() -> Self {
        Self { order: Vec::new(), colours: Vec::new(), all: Vec::new() }
    }
}

/// Border or not.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Border,
    Inner,
}

impl Colour {
    fn range(&self, side: Side) -> Range<usize> {
        let [start, middle, end] = self.sides.map(|k| k as usize);
        if side == Side::Border { start..middle } else { middle..end }
    }
}

/// Who has to do with what, by place.
#[derive(Debug, Clone, Copy)]
struct Parting<'a> {
    of: &'a [u8],
    users: &'a [u32],
    has_driven: bool,
    /// There is one share only.
    is_alone: bool,
}

impl Parting<'_> {
    /// The share that a patch belongs to: the first of those of its bodies, so that of two shares only one has bodies at the border.
    fn share(&self, places: [u32; 2]) -> usize {
        let of = |place: u32| self.of.get(place as usize).copied().unwrap_or(u8::MAX);
        usize::from(of(places[0]).min(of(places[1])))
    }

    /// True if others use one of these bodies too.
    fn is_border(&self, places: [u32; 2]) -> bool {
        places.iter().any(|p| self.users.get(*p as usize).is_some_and(|users| !users.is_power_of_two()))
    }
}

impl<L: Lane, const ROWS: usize> Patches<L, ROWS> {
    /// Takes the patches of a share out of those of all.
    ///
    /// # Safety
    /// Nobody writes the manifolds meanwhile.
    unsafe fn collect(
        &mut self,
        colouring: &Colouring,
        share: usize,
        parting: &Parting<'_>,
        stage: &Stage<'_>,
        inner: &mut Vec<Edge>,
    ) {
        self.order.clear();
        self.colours.clear();
        let mut start = 0;
        let mut add = |edges: &[Edge], one_by_one: bool| {
            inner.clear();
            for &(manifold, places) in edges {
                // What is left over may share any body: one share has it all.
                if share != if one_by_one { 0 } else { parting.share(places) } {
                    continue;
                }
                // What moves by itself is read by all, and written by one.
                let reads_driven = || {
                    // SAFETY: as the caller promises.
                    let bodies = unsafe { stage.manifolds.get(manifold as usize) }.bodies;
                    parting.is_border(bodies.map(|body| stage.places[body as usize]))
                };
                if (one_by_one && !parting.is_alone)
                    || parting.is_border(places)
                    || (parting.has_driven && reads_driven())
                {
                    self.order.push((manifold, places));
                } else {
                    inner.push((manifold, places));
                }
            }
            let lanes = if one_by_one { 1 } else { L::LANES as u32 };
            let before = self.colours.last().map_or(0, |c: &Colour| c.end);
            let border = start + (self.order.len() as u32 - before).div_ceil(lanes);
            self.order.append(inner);
            let end = self.order.len() as u32;
            let last = start + (end - before).div_ceil(lanes);
            self.colours.push(Colour { end, sides: [start, border, last], one_by_one });
            start = last;
        };
        colouring.colours().for_each(|edges| add(edges, false));
        add(colouring.left_over(), true);
    }

    /// Reads the manifolds.
    ///
    /// # Safety
    /// Nobody writes manifolds or velocities meanwhile.
    unsafe fn fill(&mut self, stage: &Stage<'_>, nobody: u32, filled: &mut Filled) {
        let (mut count, mut start) = (0, 0);
        for colour in &self.colours {
            let edges = &self.order[start as usize..colour.end as usize];
            start = colour.end;
            for chosen in edges.chunks(if colour.one_by_one { 1 } else { L::LANES }) {
                // Patches are large: they are filled where they are.
                if count == self.all.len() {
                    self.all.push(Patch::empty());
                }
                // SAFETY: as the caller promises.
                unsafe { self.all[count].fill(chosen, stage, nobody, filled) };
                count += 1;
            }
        }
        self.all.truncate(count);
    }

    /// One turn.
    ///
    /// # Safety
    /// As the functions of [`Patch`] say.
    unsafe fn act(&mut self, act: Act, colours: Colours, side: Side, stage: &Stage<'_>) {
        let Stage { velocities, displacements, manifolds, shared, .. } = stage;
        let [first, last] = colours.map(|k| &self.colours[k as usize]);
        let patches = &mut self.all[first.range(side).start..last.range(side).end];
        // SAFETY: as the caller promises.
        unsafe {
            match act {
                Act::WarmStart => patches.iter().for_each(|p| p.warm_start(velocities)),
                // Each pass by itself, for which the compiler makes code of its own.
                Act::Solve(Pass::Push) => {
                    patches.iter_mut().for_each(|p| p.solve(velocities, displacements, shared, Pass::Push));
                }
                Act::Solve(Pass::Relax) => {
                    patches.iter_mut().for_each(|p| p.solve(velocities, displacements, shared, Pass::Relax));
                }
                Act::Restitute => patches.iter_mut().for_each(|p| p.restitute(velocities, shared)),
                Act::Store => patches.iter().for_each(|p| p.store(velocities, manifolds)),
            }
        }
    }

    fn has_border(&self, [first, last]: Colours) -> bool {
        self.colours[first as usize..=last as usize].iter().any(|c| !c.range(Side::Border).is_empty())
    }
}

impl<L: Lane> Share<L> {
    fn new(index: usize) -> Self {
        Self {
            index,
            border: Vec::new(),
            inner: Vec::new(),
            scratch: Vec::new(),
            single: Patches::default(),
            small: Patches::default(),
            large: Patches::default(),
            next_border: Vec::new(),
            turn: 0,
            others: 0,
            filled: Filled::default(),
        }
    }

    /// Takes its bodies and patches, if they are others than before, and reads the patches. `nobody`: a place of its own for what does not move, and is
    /// looked for nowhere.
    ///
    /// # Safety
    /// Nobody writes manifolds, or velocities other than this one.
    unsafe fn fill(
        &mut self,
        colourings: Option<&[Colouring; 3]>,
        parting: &Parting<'_>,
        stage: &Stage<'_>,
        nobody: u32,
    ) {
        let share = self.index;
        // SAFETY: as the caller promises.
        unsafe {
            if let Some([single, small, large]) = colourings {
                self.single.collect(single, share, parting, stage, &mut self.scratch);
                self.small.collect(small, share, parting, stage, &mut self.scratch);
                self.large.collect(large, share, parting, stage, &mut self.scratch);
                self.find_bodies(parting);
            }
            *stage.velocities.get_mut(nobody as usize) = Slot::default();
            *stage.displacements.get_mut(nobody as usize) = Slot::default();
            let mut filled = Filled::default();
            self.single.fill(stage, nobody, &mut filled);
            self.small.fill(stage, nobody, &mut filled);
            self.large.fill(stage, nobody, &mut filled);
            self.filled = filled;
        }
    }

    /// Finds the places of its bodies. The place for nobody may be among them: nothing happens there.
    fn find_bodies(&mut self, parting: &Parting<'_>) {
        self.border.clear();
        self.inner.clear();
        for (place, _) in (0..).zip(parting.of).filter(|(_, of)| usize::from(**of) == self.index) {
            let side = if parting.is_border([place; 2]) { &mut self.border } else { &mut self.inner };
            match side.last_mut().filter(|run| run.end == place) {
                Some(run) => run.end += 1,
                None => side.push(place..place + 1),
            }
        }
    }

    /// Finds the turns in which something is to be done at the border.
    fn find_borders(&mut self, turns: &[Turn]) {
        self.next_border.clear();
        self.next_border.resize(turns.len() + 1, turns.len() as u32);
        let mut next = turns.len();
        for (k, turn) in turns.iter().enumerate().rev() {
            let has_border = match *turn {
                Turn::Accelerate { .. } | Turn::Drift => !self.border.is_empty(),
                Turn::Patches(_, Size::Single, colours) => self.single.has_border(colours),
                Turn::Patches(_, Size::Small, colours) => self.small.has_border(colours),
                Turn::Patches(_, Size::Large, colours) => self.large.has_border(colours),
            };
            next = if has_border { k } else { next };
            self.next_border[k] = next as u32;
        }
    }

    /// One side of a turn.
    ///
    /// # Safety
    /// Nobody else uses what this side of the turn moves, or writes what it reads.
    unsafe fn act(&mut self, turn: Turn, side: Side, stage: &Stage<'_>) {
        let runs = if side == Side::Border { &self.border } else { &self.inner };
        // SAFETY: as the caller promises.
        unsafe {
            match turn {
                Turn::Accelerate { is_first } => runs.iter().for_each(|run| accelerate(run, stage, is_first)),
                Turn::Drift => runs.iter().for_each(|run| drift(run, stage)),
                Turn::Patches(act, Size::Single, colours) => self.single.act(act, colours, side, stage),
                Turn::Patches(act, Size::Small, colours) => self.small.act(act, colours, side, stage),
                Turn::Patches(act, Size::Large, colours) => self.large.act(act, colours, side, stage),
            }
        }
    }
}

fn range(run: &Range<u32>) -> Range<usize> {
    run.start as usize..run.end as usize
}

/// Adds the acceleration of a substep to the velocities of bodies, and what all impulses together changed them by in the substep before: that is to apply
/// those impulses again. The first substep has none before.
///
/// # Safety
/// Nobody else uses velocities of the bodies.
unsafe fn accelerate(run: &Range<u32>, stage: &Stage<'_>, is_first: bool) {
    let h = stage.h;
    // SAFETY: as the caller promises.
    let [v, free, a] = [&stage.velocities, &stage.free, &stage.accelerations]
        .map(|all| unsafe { all.numbers_mut(range(run)) });
    for ((v, free), a) in v.iter_mut().zip(free).zip(a) {
        let changed = *v - *free;
        *free = *v + h * *a;
        *v = if is_first { *free } else { *free + changed };
    }
}

/// Moves bodies on.
///
/// # Safety
/// Nobody else uses their displacements or velocities.
unsafe fn drift(run: &Range<u32>, stage: &Stage<'_>) {
    let h = stage.h;
    // SAFETY: as the caller promises.
    let [x, v] = [&stage.displacements, &stage.velocities].map(|all| unsafe { all.numbers_mut(range(run)) });
    x.iter_mut().zip(v).for_each(|(x, v)| *x += h * *v);
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
        let moves = |place: &u32| {
            let k = *place as usize;
            bodies.inv_masses[k][0] <= 0.0 && bodies.velocities[k] != Slot::default()
        };
        if !self.driven.iter().copied().eq(places.iter().copied().filter(moves)) {
            self.driven.clear();
            self.driven.extend(places.iter().copied().filter(moves));
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
            self.find_users();
            self.stale = true;
        }
        Ok(())
    }

    /// Finds which shares have to do with each body.
    fn find_users(&mut self) {
        let Self { of, users, driven, colourings, shares, .. } = self;
        users.clear();
        users.extend(of.iter().map(|of| 1_u32.checked_shl((*of).into()).unwrap_or(0)));
        if shares.len() <= 1 {
            return;
        }
        let all = u32::MAX;
        driven.iter().for_each(|place| users[*place as usize] = all);
        for colouring in colourings {
            let left_over = colouring.left_over().iter().map(|edge| (edge, all));
            let parting = Parting { of, users: &[], has_driven: false, is_alone: false };
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
        let (has_driven, is_alone) = (!self.driven.is_empty(), self.shares.len() == 1);
        let parting = Parting { of: &self.of, users: &self.users, has_driven, is_alone };
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
    pub(super) fn begin(&mut self, substeps: u32, is_bouncy: bool) {
        let is_new = std::mem::replace(&mut self.kind, (substeps, is_bouncy)) != (substeps, is_bouncy);
        if is_new || self.stale {
            self.plan(substeps, is_bouncy);
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
    fn plan(&mut self, substeps: u32, is_bouncy: bool) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.clear();
        let pass = |turns: &mut Vec<Turn>, act: Act| {
            turns.extend(self.phases().map(|(size, colours)| Turn::Patches(act, size, colours)));
        };
        turns.push(Turn::Accelerate { is_first: true });
        pass(&mut turns, Act::WarmStart);
        for substep in 0..substeps {
            if substep > 0 {
                turns.push(Turn::Accelerate { is_first: false });
            }
            pass(&mut turns, Act::Solve(Pass::Push));
            turns.push(Turn::Drift);
            pass(&mut turns, Act::Solve(Pass::Relax));
        }
        if is_bouncy {
            pass(&mut turns, Act::Restitute);
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

    /// The turn that the borders of all others have at least reached.
    fn least_of_others(&self, share: usize) -> u32 {
        let others = self.reached.iter().enumerate().filter(|(k, _)| *k != share);
        others.map(|(_, reached)| reached.0.load(Ordering::Acquire)).min().unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::step::tests::{divided, shared, tangle};
    use sim_math::testkit::SplitMix64;

    /// Manifolds of all patches of a share that are not at the border.
    fn inner_manifolds(share: &Share<f64>) -> impl Iterator<Item = u32> {
        let sizes = [
            (&share.single.order, &share.single.colours),
            (&share.small.order, &share.small.colours),
            (&share.large.order, &share.large.colours),
        ];
        sizes.into_iter().flat_map(|(order, colours)| {
            // A lane each: patches are as many as chunks.
            let sides = colours.iter().flat_map(|colour| colour.range(Side::Inner));
            sides.map(|k| order[k].0)
        })
    }

    /// Manifolds of all patches of a share.
    fn all_manifolds(share: &Share<f64>) -> impl Iterator<Item = u32> {
        let sizes = [&share.single.order, &share.small.order, &share.large.order];
        sizes.into_iter().flatten().map(|edge| edge.0)
    }

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
                    for m in all_manifolds(share) {
                        seen[m as usize] += 1;
                        manifolds[m as usize]
                            .bodies
                            .iter()
                            .for_each(|body| users[place(*body)] |= 1 << share.index);
                    }
                }
                assert!(seen.iter().all(|times| *times <= 1), "a patch has one share");
                let is_fixed = |place: usize| bodies.inv_masses[place][0] <= 0.0;
                let may_share = |place: usize| is_fixed(place) && bodies.velocities[place] == Slot::default();
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
                    for m in inner_manifolds(share) {
                        for place in manifolds[m as usize].bodies.map(place) {
                            assert!(alone(place), "{parts} parts: another share uses place {place} too");
                            assert!(
                                !left_over.contains(&(place as u32)),
                                "{parts} parts: left over at {place}"
                            );
                        }
                    }
                    for place in share.inner.iter().cloned().flatten() {
                        assert!(alone(place as usize), "{parts} parts: another share uses place {place} too");
                    }
                }
            }
        }
    }
}
