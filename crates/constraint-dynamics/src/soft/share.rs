//! What one thread does of a step: its bodies, and its patches colour by colour.
#![allow(unsafe_code, reason = "threads share velocities and manifolds; turns and borders keep them apart")]

use super::{
    SoftManifold,
    colour::{Colouring, Edge},
    lane::{Lane, Slot, compiled},
    patch::{Pass, Patch, Shared},
    shelf::Shelf,
};
use sim_traits::Manifold;
use std::ops::Range;

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
pub(super) type Colours = [u32; 2];

/// What is done to a patch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Act {
    WarmStart,
    Solve(Pass),
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
pub(super) const FEW: usize = 2;

/// What the turns of a step work on: arrays by place.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) velocities: Shelf<'a, Slot>,
    pub(super) displacements: Shelf<'a, Slot>,
    /// Velocities before the contacts of the substep.
    pub(super) free: Shelf<'a, Slot>,
    pub(super) accelerations: Shelf<'a, Slot>,
    pub(super) means: Shelf<'a, Slot>,
    pub(super) inv_masses: &'a [Slot],
    pub(super) poses: &'a [Slot],
    pub(super) manifolds: Shelf<'a, SoftManifold>,
    /// By body: its place.
    pub(super) places: &'a [u32],
    pub(super) shared: Shared,
    pub(super) h: f64,
}

/// What one thread does.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Share<L> {
    pub(super) index: usize,
    /// Places of its bodies at the border, and of the others: runs, in their order.
    border: Vec<Range<u32>>,
    pub(super) inner: Vec<Range<u32>>,
    scratch: Vec<Edge>,
    single: Patches<L, 1>,
    small: Patches<L, FEW>,
    large: Patches<L, { Manifold::CAPACITY }>,
    /// By turn: the next one, this one included, that has something to do at the border.
    pub(super) next_border: Vec<u32>,
    /// The turn that it is at, and what it has seen the others reach.
    pub(super) turn: u32,
    pub(super) others: u32,
    /// All numbers of its patches are finite.
    pub(super) is_sound: bool,
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
pub(super) enum Side {
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
pub(super) struct Parting<'a> {
    pub(super) of: &'a [u8],
    pub(super) users: &'a [u32],
    /// Anything moves the body.
    pub(super) moving: &'a [bool],
    pub(super) has_driven: bool,
    /// There is one share only.
    pub(super) is_alone: bool,
}

impl Parting<'_> {
    /// The share that a patch belongs to: the first of those of its bodies, so that of two shares only one has bodies at the border.
    pub(super) fn share(&self, places: [u32; 2]) -> usize {
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
    unsafe fn fill(&mut self, stage: &Stage<'_>, nobody: u32, is_sound: &mut bool) {
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
                unsafe { self.all[count].fill(chosen, stage, nobody, is_sound) };
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
        let Stage { velocities, manifolds, shared, .. } = stage;
        let [first, last] = colours.map(|k| &self.colours[k as usize]);
        let patches = &mut self.all[first.range(side).start..last.range(side).end];
        // SAFETY: as the caller promises.
        unsafe {
            match act {
                Act::WarmStart => patches.iter().for_each(|p| p.warm_start(velocities)),
                Act::Solve(pass) => patches.iter_mut().for_each(|p| p.solve(stage, pass)),
                Act::Store => patches.iter().for_each(|p| p.store(manifolds, shared)),
            }
        }
    }

    fn has_border(&self, [first, last]: Colours) -> bool {
        self.colours[first as usize..=last as usize].iter().any(|c| !c.range(Side::Border).is_empty())
    }
}

impl<L: Lane> Share<L> {
    pub(super) fn new(index: usize) -> Self {
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
            is_sound: true,
        }
    }

    /// Takes its bodies and patches, if they are others than before, and reads the patches. `nobody`: a place of its own for what does not move, and is
    /// looked for nowhere.
    ///
    /// # Safety
    /// Nobody writes manifolds, or velocities other than this one.
    pub(super) unsafe fn fill(
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
            let mut is_sound = true;
            self.single.fill(stage, nobody, &mut is_sound);
            self.small.fill(stage, nobody, &mut is_sound);
            self.large.fill(stage, nobody, &mut is_sound);
            self.is_sound = is_sound;
        }
    }

    /// Finds the places of its bodies that move: others may be read by all.
    fn find_bodies(&mut self, parting: &Parting<'_>) {
        self.border.clear();
        self.inner.clear();
        let own = (0..).zip(parting.of).filter(|(_, of)| usize::from(**of) == self.index);
        for (place, _) in own.filter(|(place, _)| parting.moving[*place as usize]) {
            let side = if parting.is_border([place; 2]) { &mut self.border } else { &mut self.inner };
            match side.last_mut().filter(|run| run.end == place) {
                Some(run) => run.end += 1,
                None => side.push(place..place + 1),
            }
        }
    }

    /// Finds the turns in which something is to be done at the border.
    pub(super) fn find_borders(&mut self, turns: &[Turn]) {
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
    pub(super) unsafe fn act(&mut self, turn: Turn, side: Side, stage: &Stage<'_>) {
        let runs = if side == Side::Border { &self.border } else { &self.inner };
        // SAFETY: as the caller promises.
        unsafe {
            match turn {
                Turn::Accelerate { is_first } => {
                    runs.iter().for_each(|run| compiled!(L, accelerate(run, stage, is_first)));
                }
                Turn::Drift => runs.iter().for_each(|run| compiled!(L, drift(run, stage))),
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
#[inline(always)]
unsafe fn accelerate(run: &Range<u32>, stage: &Stage<'_>, is_first: bool) {
    let h = stage.h;
    // SAFETY: as the caller promises.
    let [v, free, a, means] = [&stage.velocities, &stage.free, &stage.accelerations, &stage.means]
        .map(|all| unsafe { all.numbers_mut(range(run)) });
    let past = if is_first { 0.0 } else { h };
    for (((v, free), a), mean) in v.iter_mut().zip(free).zip(a).zip(means) {
        let changed = *v - *free;
        *mean += past * *v;
        *free = *v + h * *a;
        *v = if is_first { *free } else { *free + changed };
    }
}

/// Moves bodies on: what contacts hold by its velocity, what they left alone by the mean of its velocities.
///
/// # Safety
/// Nobody else uses their displacements or velocities.
#[inline(always)]
unsafe fn drift(run: &Range<u32>, stage: &Stage<'_>) {
    let h = stage.h;
    // SAFETY: as the caller promises.
    let [x, v, free, a] = [&stage.displacements, &stage.velocities, &stage.free, &stage.accelerations]
        .map(|all| unsafe { all.numbers_mut(range(run)) });
    let bodies = x.chunks_exact_mut(SLOT).zip(v.chunks_exact(SLOT)).zip(free.chunks_exact(SLOT));
    for (((x, v), free), a) in bodies.zip(a.chunks_exact(SLOT)) {
        let is_free = v.iter().zip(free).all(|(v, free)| v.to_bits() == free.to_bits());
        let late = if is_free { 0.5 * h } else { 0.0 };
        for ((x, v), a) in x.iter_mut().zip(v).zip(a) {
            *x += h * (*v - late * *a);
        }
    }
}

/// Numbers of a slot.
const SLOT: usize = 8;

#[cfg(test)]
impl Share<f64> {
    /// Manifolds of all patches that are not at the border.
    pub(super) fn inner_manifolds(&self) -> impl Iterator<Item = u32> {
        let sizes = [
            (&self.single.order, &self.single.colours),
            (&self.small.order, &self.small.colours),
            (&self.large.order, &self.large.colours),
        ];
        // A lane each: patches are as many as manifolds.
        sizes.into_iter().flat_map(|(order, colours)| {
            colours.iter().flat_map(|colour| colour.range(Side::Inner)).map(|k| order[k].0)
        })
    }

    /// Manifolds of all patches.
    pub(super) fn all_manifolds(&self) -> impl Iterator<Item = u32> {
        [&self.single.order, &self.small.order, &self.large.order].into_iter().flatten().map(|edge| edge.0)
    }
}
