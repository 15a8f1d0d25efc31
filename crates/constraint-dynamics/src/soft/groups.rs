//! The patches of a step in groups: those within each domain, and those between domains.
#![allow(unsafe_code, reason = "threads share velocities and manifolds; domains and colours keep them apart")]

use super::{
    SoftBodies, SoftError, SoftManifold,
    bodies::NormalOf,
    colour::{Colouring, STILL},
    domains::Domains,
    lane::{Lane, Slot},
    patch::{Filled, Pass, Patch, Shared},
    shelf::Shelf,
};
use sim_math::glam::DVec3;
use sim_traits::Manifold;

/// Patches of up to `ROWS` points, in the order of their colours, and what is left over at the end.
#[derive(Debug)]
struct Patches<L, const ROWS: usize> {
    colouring: Colouring,
    all: Vec<Patch<L, ROWS>>,
}

impl<L, const ROWS: usize> Default for Patches<L, ROWS> {
    fn default() -> Self {
        Self { colouring: Colouring::default(), all: Vec::new() }
    }
}

/// Most points of a small patch: edges and capsules have no more, and cost half as much.
const FEW: usize = 2;

/// Patches that one thread does, and the bodies that they alone move.
#[derive(Debug)]
pub(super) struct Group<L> {
    /// Bodies of the domain that move.
    members: Vec<u32>,
    single: Patches<L, 1>,
    small: Patches<L, FEW>,
    large: Patches<L, { Manifold::CAPACITY }>,
    pub(super) filled: Filled,
}

impl<L> Default for Group<L> {
    fn default() -> Self {
        Self {
            members: Vec::new(),
            single: Patches::default(),
            small: Patches::default(),
            large: Patches::default(),
            filled: Filled::default(),
        }
    }
}

/// All patches of a step.
#[derive(Debug)]
pub(super) struct Workspace<L> {
    /// Those within each domain, then those between.
    pub(super) groups: Vec<Group<L>>,
    domains: Domains,
    /// Manifolds that take part, with their bodies ([`STILL`] if they do not move) and the number of points.
    given: Vec<(u32, [u32; 2], u32)>,
    /// Bodies that do not move by impulses, but by themselves.
    pub(super) driven: Vec<u32>,
    touched: Vec<bool>,
}

impl<L> Default for Workspace<L> {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            domains: Domains::default(),
            given: Vec::new(),
            driven: Vec::new(),
            touched: Vec::new(),
        }
    }
}

impl<L: Lane, const ROWS: usize> Patches<L, ROWS> {
    /// Colours and reads the manifolds given.
    ///
    /// # Safety
    /// Nobody writes the manifolds meanwhile.
    unsafe fn fill(
        &mut self,
        manifolds: &Shelf<'_, SoftManifold>,
        bodies: &SoftBodies,
        nobody: &SoftManifold,
        filled: &mut Filled,
    ) {
        self.colouring.build(bodies.len());
        let colours = self.colouring.colours().flat_map(|colour| colour.chunks(L::LANES));
        let groups = colours.chain(self.colouring.left_over().chunks(1));
        let mut count = 0;
        for chosen in groups {
            // Patches are large: they are filled where they are.
            if count == self.all.len() {
                self.all.push(Patch::empty());
            }
            // SAFETY: as the caller promises.
            unsafe { self.all[count].fill(manifolds, chosen, bodies, nobody, filled) };
            count += 1;
        }
        self.all.truncate(count);
    }
}

/// What a substep works on.
#[derive(Debug)]
pub(super) struct Motions<'a> {
    pub(super) velocities: Shelf<'a, Slot>,
    pub(super) displacements: Shelf<'a, Slot>,
    /// Velocities before the contacts of the substep.
    pub(super) free: Shelf<'a, Slot>,
    pub(super) accelerations: &'a [Slot],
    pub(super) h: f64,
}

/// The same for the patches of every size. Safety is that of the whole.
macro_rules! each {
    ($group:expr, $iter:ident, $patch:ident => $do:expr) => {
        // SAFETY: as the caller promises.
        unsafe {
            for $patch in $group.single.all.$iter() {
                $do;
            }
            for $patch in $group.small.all.$iter() {
                $do;
            }
            for $patch in $group.large.all.$iter() {
                $do;
            }
        }
    };
}

impl<L: Lane> Group<L> {
    /// Colours and reads the manifolds of the group. `nobody`: a body of its own that does not move.
    ///
    /// # Safety
    /// Nobody writes the manifolds meanwhile.
    pub(super) unsafe fn fill(
        &mut self,
        manifolds: &Shelf<'_, SoftManifold>,
        bodies: &SoftBodies,
        nobody: u32,
    ) {
        let nobody = SoftManifold::new([nobody; 2], DVec3::ZERO, NormalOf::World, 0.0, 0.0);
        let mut filled = Filled::default();
        // SAFETY: as the caller promises.
        unsafe {
            self.single.fill(manifolds, bodies, &nobody, &mut filled);
            self.small.fill(manifolds, bodies, &nobody, &mut filled);
            self.large.fill(manifolds, bodies, &nobody, &mut filled);
        }
        self.filled = filled;
    }

    /// Adds the acceleration of a substep to the velocities of its bodies, and what all impulses together changed them by in the substep before: that
    /// is to apply those impulses again. The first substep has none before.
    ///
    /// # Safety
    /// Nobody else uses velocities of its bodies.
    pub(super) unsafe fn accelerate(&self, motions: &Motions<'_>, is_first: bool) {
        let h = motions.h;
        for &body in &self.members {
            let k = body as usize;
            // SAFETY: a member of one group only.
            let (v, free) = unsafe { (motions.velocities.get_mut(k), motions.free.get_mut(k)) };
            let changed = v.with(free, |v, free| v - free);
            let pulled = v.with(&motions.accelerations[k], |v, a| v + h * a);
            *free = pulled;
            *v = if is_first { pulled } else { pulled.with(&changed, |v, change| v + change) };
        }
    }

    /// Moves its bodies on.
    ///
    /// # Safety
    /// Nobody else uses displacements of its bodies, or writes velocities.
    pub(super) unsafe fn drift(&self, motions: &Motions<'_>) {
        // SAFETY: as the caller promises.
        unsafe { drift(&self.members, motions) };
    }

    /// See [`Patch::warm_start`].
    ///
    /// # Safety
    /// Nobody else uses the velocities of the bodies that its patches move.
    pub(super) unsafe fn warm_start(&self, motions: &Motions<'_>) {
        each!(self, iter, patch => patch.warm_start(&motions.velocities));
    }

    /// See [`Patch::solve`].
    ///
    /// # Safety
    /// Nobody else uses the velocities of the bodies that its patches move, or writes displacements of those at its patches.
    pub(super) unsafe fn solve(&mut self, motions: &Motions<'_>, shared: &Shared, pass: Pass) {
        each!(self, iter_mut, patch => patch.solve(&motions.velocities, &motions.displacements, shared, pass));
    }

    /// See [`Patch::restitute`].
    ///
    /// # Safety
    /// As [`Self::warm_start`].
    pub(super) unsafe fn restitute(&mut self, motions: &Motions<'_>, shared: &Shared) {
        each!(self, iter_mut, patch => patch.restitute(&motions.velocities, shared));
    }

    /// See [`Patch::store`].
    ///
    /// # Safety
    /// Nobody writes velocities, or uses the manifolds of its patches.
    pub(super) unsafe fn store(&self, velocities: &Shelf<'_, Slot>, manifolds: &Shelf<'_, SoftManifold>) {
        each!(self, iter, patch => patch.store(velocities, manifolds));
    }

    /// Colours, and patches without one.
    pub(super) fn colours(&self) -> [u32; 2] {
        let all = [&self.single.colouring, &self.small.colouring, &self.large.colouring];
        [all.iter().map(|c| c.ends.len() as u32).sum(), all.iter().map(|c| c.left_over().len() as u32).sum()]
    }
}

/// Moves bodies on.
///
/// # Safety
/// Nobody else uses their displacements, or writes their velocities.
pub(super) unsafe fn drift(bodies: &[u32], motions: &Motions<'_>) {
    let h = motions.h;
    for &body in bodies {
        let k = body as usize;
        // SAFETY: as the caller promises.
        let (x, v) = unsafe { (motions.displacements.get_mut(k), motions.velocities.get(k)) };
        *x = x.with(v, |x, v| x + h * v);
    }
}

impl<L: Lane> Workspace<L> {
    /// Sorts the manifolds into groups by domain and size.
    pub(super) fn sort(&mut self, bodies: &SoftBodies, manifolds: &[SoftManifold]) -> Result<(), SoftError> {
        self.given.clear();
        self.touched.clear();
        self.touched.resize(bodies.len(), false);
        for (manifold, m) in manifolds.iter().enumerate() {
            let mut pair = m.bodies;
            for body in &mut pair {
                let Some(inertia) = bodies.inv_masses.get(*body as usize) else {
                    return Err(SoftError::NoBody { manifold, body: *body });
                };
                if inertia[0] > 0.0 {
                    self.touched[*body as usize] = true;
                } else {
                    *body = STILL;
                }
            }
            // A patch that nothing moves at is left out.
            if pair != [STILL; 2] && !m.is_empty() {
                self.given.push((manifold as u32, pair, m.len() as u32));
            }
        }
        let count = Domains::for_contacts(self.given.len());
        let touched = (0..).zip(&self.touched).filter(|(_, touched)| **touched);
        self.domains.divide(
            count,
            bodies.len(),
            touched.map(|(body, _)| (body, bodies.center(body as usize))),
        );
        self.groups.resize_with(count + 1, Group::default);
        for group in &mut self.groups {
            group.members.clear();
            group.single.colouring.begin();
            group.small.colouring.begin();
            group.large.colouring.begin();
        }
        self.driven.clear();
        for (body, inertia) in (0..).zip(&bodies.inv_masses) {
            if inertia[0] > 0.0 {
                self.groups[usize::from(self.domains.of[body as usize])].members.push(body);
            } else if bodies.velocities[body as usize] != Slot::default() {
                self.driven.push(body);
            }
        }
        for &(manifold, pair, points) in &self.given {
            let domain = |body: u32| self.domains.of.get(body as usize).map(|d| usize::from(*d));
            let group = match pair.map(domain) {
                [Some(a), Some(b)] if a != b => self.domains.count(),
                [a, b] => a.or(b).unwrap_or(0),
            };
            let group = &mut self.groups[group];
            match points as usize {
                1 => group.single.colouring.add(manifold, pair),
                FEW => group.small.colouring.add(manifold, pair),
                _ => group.large.colouring.add(manifold, pair),
            }
        }
        Ok(())
    }
}
