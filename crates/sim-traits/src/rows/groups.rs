//! The bodies and trees behind the rows: groups of velocities that respond together.

use sim_math::glam::{DMat3, DVec3};

/// A body that impulses move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeBody {
    /// kg.
    pub mass: f64,
    /// About the centre of mass, world axes, kg·m².
    pub inertia: DMat3,
    /// The same, inverse.
    pub inverse_inertia: DMat3,
}

/// The same rows seen from what they move, for solvers that work on velocities instead of impulses.
///
/// A group is a free body, with its twist as coordinates, or a tree, with coordinates x in which its kinetic energy is ½|x|². Blocks come in two
/// kinds, each with a kernel of its own: *points*, which are contacts between two free bodies or one and the ground, and *sided* blocks for all else.
#[derive(Debug, Clone, Copy, Default)]
pub struct Groups<'a> {
    /// Every free body that impulses move.
    pub bodies: &'a [FreeBody],
    /// Per tree: how many coordinates it has.
    pub trees: &'a [u32],
    /// Per point: the bodies A and B; a number beyond the list is one that nothing moves.
    pub sides: &'a [[u32; 2]],
    /// Per point: its place from the centres of A and B, world axes, m.
    pub arms: &'a [[DVec3; 2]],
    /// Per point: two tangents and the normal, world axes.
    pub frames: &'a [DMat3],
    /// The other blocks, which come after the points.
    pub sided: SidedBlocks<'a>,
}

/// Blocks with any number of sides.
#[derive(Debug, Clone, Copy, Default)]
pub struct SidedBlocks<'a> {
    /// Where the sides of a block start in the list; one more than there are blocks, or none.
    pub starts: &'a [u32],
    /// Sides of all blocks.
    pub sides: &'a [BlockSide],
    /// Coordinates of trees on the paths of sides, root first.
    pub dofs: &'a [u32],
    /// Beside each of them: Y = D^-½ L⁻ᵀ Jᵀ for the three rows.
    pub paths: &'a [DVec3],
}

/// How a block feels one group and pushes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BlockSide {
    /// A free body: `u_i` = `moments_i`·ω + `forces_i`·v at the centre of mass, world axes, column i for row i. Signs are in the columns.
    Body {
        /// Number of the body.
        body: u32,
        /// Moments of unit impulses.
        moments: DMat3,
        /// Forces of unit impulses.
        forces: DMat3,
    },
    /// A link of a tree: u = Σ `paths` x over the coordinates of its path.
    Path {
        /// Number of the tree.
        tree: u32,
        /// First entry of the path in `dofs` and `paths`.
        start: u32,
        /// One beyond the last.
        end: u32,
    },
}

impl<'a> SidedBlocks<'a> {
    /// Number of blocks.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True if there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sides of a block.
    #[inline]
    #[must_use]
    pub fn of(&self, block: usize) -> &'a [BlockSide] {
        match self.starts.get(block..block + 2) {
            Some(&[start, end]) => &self.sides[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The path of a side: coordinates and Y.
    #[inline]
    pub fn path(&self, start: u32, end: u32) -> impl Iterator<Item = (usize, DVec3)> + use<'a> {
        let span = start as usize..end as usize;
        self.dofs[span.clone()].iter().map(|&d| d as usize).zip(self.paths[span].iter().copied())
    }
}

impl Groups<'_> {
    /// Number of points.
    #[inline]
    #[must_use]
    pub fn points(&self) -> usize {
        self.sides.len()
    }

    /// Which lists do not fit together, with the length expected and found.
    pub(crate) fn misfit(&self, blocks: usize) -> Option<(&'static str, usize, usize)> {
        let points = self.points();
        let sided = &self.sided;
        let sides = sided.starts.last().map_or(0, |&end| end as usize);
        let lists = [
            ("sides", blocks, points + sided.len()),
            ("arms", points, self.arms.len()),
            ("frames", points, self.frames.len()),
            ("sides of blocks", sides, sided.sides.len()),
            ("coordinates on paths", sided.paths.len(), sided.dofs.len()),
        ];
        lists.into_iter().find(|(_, expected, got)| expected != got)
    }

    /// Change of a block's velocity by impulses at all blocks, m/s. Looks at all of them.
    pub(crate) fn response(&self, block: usize, impulses: &[DVec3]) -> DVec3 {
        if block < self.points() {
            let mut u = DVec3::ZERO;
            for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
                let body = self.sides[block][k];
                let Some((turn, linear)) = self.twist(body, impulses) else { continue };
                u += sign * (linear + turn.cross(self.arms[block][k]));
            }
            return self.frames[block].transpose() * u;
        }
        let mut u = DVec3::ZERO;
        for side in self.sided.of(block - self.points()) {
            match *side {
                BlockSide::Body { body, moments, forces } => {
                    let Some((turn, linear)) = self.twist(body, impulses) else { continue };
                    u += moments.transpose() * turn + forces.transpose() * linear;
                }
                BlockSide::Path { tree, start, end } => {
                    for (dof, y) in self.sided.path(start, end) {
                        u += y * self.coordinate(tree, dof, impulses);
                    }
                }
            }
        }
        u
    }

    /// Angular and linear velocity that impulses give a body.
    fn twist(&self, body: u32, impulses: &[DVec3]) -> Option<(DVec3, DVec3)> {
        let mass = self.bodies.get(body as usize)?;
        let (mut force, mut moment) = (DVec3::ZERO, DVec3::ZERO);
        let points = self.points();
        for (d, p) in impulses[..points].iter().enumerate() {
            for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
                if self.sides[d][k] == body {
                    let f = sign * (self.frames[d] * *p);
                    force += f;
                    moment += self.arms[d][k].cross(f);
                }
            }
        }
        for (d, p) in impulses[points..].iter().enumerate() {
            for side in self.sided.of(d) {
                if let BlockSide::Body { body: other, moments, forces } = side
                    && *other == body
                {
                    force += *forces * *p;
                    moment += *moments * *p;
                }
            }
        }
        Some((mass.inverse_inertia * moment, force / mass.mass))
    }

    /// Coordinate of a tree that impulses give it.
    fn coordinate(&self, tree: u32, dof: usize, impulses: &[DVec3]) -> f64 {
        let mut x = 0.0;
        for (d, p) in impulses[self.points()..].iter().enumerate() {
            for side in self.sided.of(d) {
                if let BlockSide::Path { tree: other, start, end } = *side
                    && other == tree
                {
                    let here = self.sided.path(start, end).filter(|(k, _)| *k == dof);
                    x += here.map(|(_, y)| y.dot(*p)).sum::<f64>();
                }
            }
        }
        x
    }
}
