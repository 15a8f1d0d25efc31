//! Blocks with any number of sides in sweeps: joints, limits, motors, and all rows of trees.
//!
//! # Reference
//!
//! As [`gauss_seidel`](crate::gauss_seidel), block by block.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | w | change of the velocities of bodies by the impulses | rad/s, m/s |
//! | x | change of the coordinates of trees, in which their energy is ½\|x\|² | √J |
//! | Y | rows of a side of a tree in these coordinates | m/s/√J |
//!
//! # Formula
//!
//! ```text
//! u = b + Σ Jᵀ w + Σ Yᵀ x + c p;   p' = exact solution of the block alone;   w += M⁻¹ J (p' − p),   x += Y (p' − p)
//! ```
//!
//! # Cost
//!
//! Some forty multiplications per side of a body, six per coordinate on the path of a side of a tree.
//!
//! # Numerics
//!
//! Blocks of joints are visited in every sweep: they hang together more closely than contacts.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `mixed_rows_are_solved_by_all`

use crate::{extrapolate::Moved, extrapolate::Track, local::LocalBlock};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{BlockSide, Groups, Law, RowCertificate, RowProblem};

/// One side, with its response.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "nearly all sides are bodies")]
enum Side {
    /// A body.
    Body { body: u32, moments: DMat3, forces: DMat3, spins: DMat3, inverse_mass: f64 },
    /// A path, and the place of the first coordinate of its tree.
    Path { first: u32, start: u32, end: u32 },
}

#[derive(Debug, Clone, Copy)]
struct Block {
    sides: [u32; 2],
    law: Law,
    local: LocalBlock,
    /// Velocity without impulses.
    free: DVec3,
    w: DMat3,
    /// What it gives way by itself.
    compliance: DVec3,
    size: f64,
    impulse: DVec3,
}

/// The blocks of a problem that are no points.
#[derive(Debug, Clone, Default)]
pub(crate) struct SidedSweeps {
    blocks: Vec<Block>,
    sides: Vec<Side>,
    /// Coordinates on paths, and Y beside them.
    dofs: Vec<u32>,
    paths: Vec<DVec3>,
    coordinates: Vec<f64>,
    tracks: Vec<Track<DVec3>>,
    coordinate_tracks: Vec<Track<f64>>,
}

impl SidedSweeps {
    /// Takes the blocks of a problem after the points, and a guess of all its impulses.
    pub(crate) fn load(&mut self, problem: &RowProblem<'_>, groups: &Groups<'_>, p: &[DVec3]) {
        let points = groups.points();
        let Self { blocks, sides, dofs, paths, coordinates, .. } = self;
        blocks.clear();
        sides.clear();
        dofs.clear();
        paths.clear();
        coordinates.clear();
        if groups.sided.is_empty() {
            return;
        }
        let total: u32 = groups.trees.iter().sum();
        coordinates.resize(total as usize, 0.0);
        dofs.extend_from_slice(groups.sided.dofs);
        paths.extend_from_slice(groups.sided.paths);
        for (c, &impulse) in p.iter().enumerate().skip(points) {
            let first = sides.len() as u32;
            for side in groups.sided.of(c - points) {
                match *side {
                    BlockSide::Body { body, moments, forces } => {
                        let Some(mass) = groups.bodies.get(body as usize) else { continue };
                        let spins = mass.inverse_inertia * moments;
                        sides.push(Side::Body {
                            body,
                            moments,
                            forces,
                            spins,
                            inverse_mass: 1.0 / mass.mass,
                        });
                    }
                    BlockSide::Path { tree, start, end } => {
                        // Coordinates of all trees follow each other.
                        let first = groups.trees[..tree as usize].iter().sum();
                        sides.push(Side::Path { first, start, end });
                    }
                }
            }
            let (law, w) = (problem.law(c), problem.diagonal(c));
            let own = match law {
                Law::Bounded(bounds) => bounds.compliance,
                _ => DVec3::ZERO,
            };
            blocks.push(Block {
                sides: [first, sides.len() as u32],
                law,
                local: LocalBlock::new(&law, &w),
                free: problem.velocity()[c],
                w,
                compliance: own + DVec3::splat(problem.softness(c)),
                size: law.size(&w),
                impulse,
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn velocity(&self, block: &Block, bodies: &[impl AsRef<Moved>]) -> DVec3 {
        let mut u = block.free + block.compliance * block.impulse;
        for side in &self.sides[block.sides[0] as usize..block.sides[1] as usize] {
            match *side {
                Side::Body { body, moments, forces, .. } => {
                    let v = bodies[body as usize].as_ref();
                    u += moments.transpose() * v.angular + forces.transpose() * v.linear;
                }
                Side::Path { first, start, end } => {
                    let span = start as usize..end as usize;
                    for (dof, y) in self.dofs[span.clone()].iter().zip(&self.paths[span]) {
                        u += *y * self.coordinates[(first + *dof) as usize];
                    }
                }
            }
        }
        u
    }

    /// Gives the groups of a block what an impulse changes.
    fn push(&mut self, sides: [u32; 2], bodies: &mut [impl AsMut<Moved>], p: DVec3) {
        for side in &self.sides[sides[0] as usize..sides[1] as usize] {
            match *side {
                Side::Body { body, forces, spins, inverse_mass, .. } => {
                    let v = bodies[body as usize].as_mut();
                    let (turn, way) = (spins * p, forces * p * inverse_mass);
                    v.angular += turn;
                    v.linear += way;
                    v.stir += turn.length() * v.reach + way.length();
                }
                Side::Path { first, start, end } => {
                    let span = start as usize..end as usize;
                    for (dof, y) in self.dofs[span.clone()].iter().zip(&self.paths[span]) {
                        self.coordinates[(first + *dof) as usize] += y.dot(p);
                    }
                }
            }
        }
    }

    /// Sums the changes of velocity up from the impulses; those of bodies are added to what is there.
    pub(crate) fn sum(&mut self, bodies: &mut [impl AsMut<Moved>]) {
        self.coordinates.fill(0.0);
        for k in 0..self.blocks.len() {
            let Block { sides, impulse, .. } = self.blocks[k];
            if impulse != DVec3::ZERO {
                self.push(sides, bodies, impulse);
            }
        }
    }

    /// The normal impulse of the contact that the law of a block names, 0 if it names none. `points` gives those of the first contacts, and there are
    /// `count` of them.
    fn normal_impulse(&self, block: &Block, count: usize, points: &impl Fn(usize) -> f64) -> f64 {
        match block.law.contact() {
            Some(contact) if contact < count => points(contact),
            Some(contact) => self.blocks[contact - count].impulse.z,
            None => 0.0,
        }
    }

    /// Solves every block once, forward or backward; returns the largest change as a velocity. `points` gives the normal impulses of the `count` points.
    pub(crate) fn sweep<B: AsRef<Moved> + AsMut<Moved>>(
        &mut self,
        bodies: &mut [B],
        forward: bool,
        (count, points): (usize, impl Fn(usize) -> f64),
    ) -> f64 {
        let n = self.blocks.len();
        let mut change = 0.0_f64;
        for k in 0..n {
            let k = if forward { k } else { n - 1 - k };
            let block = self.blocks[k];
            let u = self.velocity(&block, bodies);
            let load = self.normal_impulse(&block, count, &points);
            let next = block.local.solve(u - block.w * block.impulse, load);
            let step = next - block.impulse;
            if step == DVec3::ZERO {
                continue;
            }
            self.blocks[k].impulse = next;
            self.push(block.sides, bodies, step);
            change = change.max(step.length() * block.size);
        }
        change
    }

    /// Measures the impulses, with velocities that are up to date.
    pub(crate) fn measure(
        &self,
        bodies: &[impl AsRef<Moved>],
        (count, points): (usize, impl Fn(usize) -> f64),
        all: &mut RowCertificate,
    ) {
        for block in &self.blocks {
            let load = self.normal_impulse(block, count, &points);
            all.include_block(&block.law, block.impulse, self.velocity(block, bodies), &block.w, load);
        }
    }

    /// Impulses become admissible again after they were extrapolated. Contacts come first.
    pub(crate) fn enter_bounds(&mut self, (count, points): (usize, impl Fn(usize) -> f64)) {
        for k in 0..self.blocks.len() {
            let load = self.normal_impulse(&self.blocks[k], count, &points);
            let block = &mut self.blocks[k];
            block.impulse = block.law.project(block.impulse, load);
        }
    }

    /// Replaces the impulses by those of the blocks after the points.
    pub(crate) fn set(&mut self, p: &[DVec3]) {
        self.blocks.iter_mut().zip(p).for_each(|(block, p)| block.impulse = *p);
    }

    /// Writes the impulses of the blocks after the points.
    pub(crate) fn store(&self, p: &mut [DVec3]) {
        self.blocks.iter().zip(p).for_each(|(block, p)| *p = block.impulse);
    }

    /// Sweeps begin.
    pub(crate) fn restart(&mut self) {
        self.tracks.clear();
        self.tracks.resize(self.blocks.len(), Track::default());
        self.coordinate_tracks.clear();
        self.coordinate_tracks.resize(self.coordinates.len(), Track::default());
    }

    /// A pair of sweeps begins.
    pub(crate) fn mark(&mut self) {
        self.tracks.iter_mut().zip(&self.blocks).for_each(|(track, block)| track.mark(block.impulse));
        self.coordinate_tracks.iter_mut().zip(&self.coordinates).for_each(|(track, x)| track.mark(*x));
    }

    /// Changes of the impulses since then.
    pub(crate) fn changes(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.tracks.iter().zip(&self.blocks).map(|(track, block)| track.change(block.impulse))
    }

    pub(crate) fn extrapolate(&mut self, beta: f64) {
        for (track, block) in self.tracks.iter_mut().zip(&mut self.blocks) {
            track.extrapolate(&mut block.impulse, beta);
        }
        for (track, x) in self.coordinate_tracks.iter_mut().zip(&mut self.coordinates) {
            track.extrapolate(x, beta);
        }
    }
}
