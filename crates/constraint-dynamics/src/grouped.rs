//! The Delassus operator of any blocks on any groups: bodies and trees, points and sided blocks.
//!
//! # Reference
//!
//! As [`pool`](crate::pool) for bodies; for trees the sum of products along the paths that two sides share.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | J | moments and forces of a side of a body | |
//! | Y | rows of a side of a tree in coordinates in which its energy is ½\|x\|² | m/s/√J |
//!
//! # Formula
//!
//! ```text
//! W_cd = Σ over sides of one group:  J_cᵀ M⁻¹ J_d  of bodies,   Yᵀ_c Y_d of trees;   + compliance on the diagonal
//! ```
//!
//! # Cost
//!
//! Per pair of sides of a group: two 3x3 products for a body, nine multiplications per coordinate of the shorter path of a tree.
//!
//! # Numerics
//!
//! A contact of a tree may have directions across its normal in which nothing moves: these give way by [`LEAST`] of the normal entry.
//!
//! # Failure
//!
//! None: what nothing moves is an error of the problem.
//!
//! # Tested by
//!
//! `rows_of_groups_are_their_responses`

use crate::delassus::Delassus;
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{BlockSide, Groups, Law};

/// Share of the normal entry of a contact by which directions across it give way at least.
pub const LEAST: f64 = 1e-9;

#[derive(Debug, Clone, Copy)]
struct Side {
    group: u32,
    block: u32,
    number: u32,
    is_path: bool,
    /// Moments and forces, or the span of the path.
    moments: DMat3,
    forces: DMat3,
    span: [u32; 2],
}

/// Memory of [`write_rows`].
#[derive(Debug, Clone, Default)]
pub struct GroupedWorkspace {
    sides: Vec<Side>,
    /// Per block: its sides among those in the order of groups.
    places: Vec<(u32, u32)>,
    starts: Vec<u32>,
    row: Vec<DMat3>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    y: Vec<DVec3>,
}

impl GroupedWorkspace {
    /// Lists the sides of all blocks, those of a group together.
    fn list(&mut self, groups: &Groups<'_>) {
        self.sides.clear();
        let bodies = groups.bodies.len() as u32;
        let mut number = 0;
        let zero = Side {
            group: 0,
            block: 0,
            number: 0,
            is_path: false,
            moments: DMat3::ZERO,
            forces: DMat3::ZERO,
            span: [0; 2],
        };
        for (block, sides) in (0..).zip(groups.sides) {
            for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
                if sides[k] < bodies {
                    let (arm, f) = (groups.arms[block as usize][k], groups.frames[block as usize] * sign);
                    let moments =
                        DMat3::from_cols(arm.cross(f.x_axis), arm.cross(f.y_axis), arm.cross(f.z_axis));
                    self.sides.push(Side { group: sides[k], block, number, moments, forces: f, ..zero });
                    number += 1;
                }
            }
        }
        for d in 0..groups.sided.len() {
            let block = (groups.points() + d) as u32;
            for side in groups.sided.of(d) {
                let new = match *side {
                    BlockSide::Body { body, moments, forces } => {
                        Side { group: body, block, number, moments, forces, ..zero }
                    }
                    BlockSide::Path { tree, start, end } => {
                        let group = bodies + tree;
                        Side { group, block, number, is_path: true, span: [start, end], ..zero }
                    }
                };
                self.sides.push(new);
                number += 1;
            }
        }
        self.sides.sort_unstable_by_key(|side| (side.group, side.block, side.number));
        self.places.clear();
        self.places.extend(self.sides.iter().zip(0..).map(|(side, k)| (side.block, k)));
        self.places.sort_unstable();
    }
}

/// Writes the rows of W into `out`, or its diagonal alone: as many as `out` has velocities. Its friction and laws are there already.
pub fn write_rows(groups: &Groups<'_>, full: bool, ws: &mut GroupedWorkspace, out: &mut Delassus) {
    let n = out.velocity.len();
    ws.list(groups);
    out.starts.clear();
    out.starts.push(0);
    out.columns.clear();
    out.blocks.clear();
    let GroupedWorkspace { sides, places, starts, row, touched, is_touched, y } = ws;
    starts.clear();
    starts.extend(
        (0..=groups.bodies.len() + groups.trees.len())
            .map(|g| sides.partition_point(|side| (side.group as usize) < g) as u32),
    );
    row.clear();
    row.resize(n, DMat3::ZERO);
    is_touched.clear();
    is_touched.resize(n, false);
    y.clear();
    y.resize(groups.trees.iter().copied().max().unwrap_or(0) as usize, DVec3::ZERO);
    let mut rest = &places[..];
    for c in 0..n {
        touched.clear();
        // Rows without sides have their diagonal: an error of the problem, with its number.
        touched.push(c as u32);
        is_touched[c] = true;
        let own = rest.partition_point(|(block, _)| *block as usize == c);
        let (mine, others) = rest.split_at(own);
        rest = others;
        for (_, k) in mine {
            let a = sides[*k as usize];
            let span = starts[a.group as usize] as usize..starts[a.group as usize + 1] as usize;
            let response = if a.is_path {
                for (dof, v) in groups.sided.path(a.span[0], a.span[1]) {
                    y[dof] = v;
                }
                None
            } else {
                let body = &groups.bodies[a.group as usize];
                Some((a.moments.transpose() * body.inverse_inertia, a.forces.transpose() * (1.0 / body.mass)))
            };
            for b in &sides[span] {
                let d = b.block as usize;
                if !full && d != c {
                    continue;
                }
                let block = match response {
                    Some((turn, push)) => turn * b.moments + push * b.forces,
                    None => {
                        let mut sum = DMat3::ZERO;
                        for (dof, v) in groups.sided.path(b.span[0], b.span[1]) {
                            let u = y[dof];
                            sum += DMat3::from_cols(u * v.x, u * v.y, u * v.z);
                        }
                        sum
                    }
                };
                row[d] += block;
                if !std::mem::replace(&mut is_touched[d], true) {
                    touched.push(d as u32);
                }
            }
            if a.is_path {
                for (dof, _) in groups.sided.path(a.span[0], a.span[1]) {
                    y[dof] = DVec3::ZERO;
                }
            }
        }
        finish_diagonal(c, groups, &mut row[c], out);
        touched.sort_unstable();
        for &d in &*touched {
            out.columns.push(d);
            out.blocks.push(std::mem::replace(&mut row[d as usize], DMat3::ZERO));
            is_touched[d as usize] = false;
        }
        out.starts.push(out.columns.len() as u32);
    }
}

/// What a block gives way beyond its groups.
fn finish_diagonal(c: usize, groups: &Groups<'_>, w: &mut DMat3, out: &Delassus) {
    if let Some(k) = c.checked_sub(out.friction.len()) {
        if let Law::Bounded(bounds) = out.laws[k] {
            *w += DMat3::from_diagonal(bounds.compliance);
        }
    } else if c >= groups.points() {
        let least = LEAST * w.z_axis.z;
        w.x_axis.x = w.x_axis.x.max(least);
        w.y_axis.y = w.y_axis.y.max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;
    use sim_traits::{Bounds, FreeBody, SidedBlocks};

    /// Random points, joints and paths on two bodies and two trees.
    #[test]
    fn rows_of_groups_are_their_responses() {
        let mut random = SplitMix64(8);
        for _ in 0..50 {
            let inertia = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 2.5));
            let body = FreeBody { mass: 2.0, inertia, inverse_inertia: inertia.inverse() };
            let trees = [4, 6];
            let frame = DMat3::from_quat(random.unit_quat());
            let (sides, arms) = ([[0, 1], [1, u32::MAX]], [[0; 2].map(|_| random.vec3(1.0)); 2]);
            let (mut dofs, mut paths, mut list, mut starts) = (vec![], vec![], vec![], vec![0]);
            for k in 0..4_u32 {
                for _ in 0..1 + random.below(2) {
                    if k % 2 == 0 {
                        let start = paths.len() as u32;
                        let tree = random.below(2) as u32;
                        for dof in 0..trees[tree as usize] {
                            if random.below(3) > 0 {
                                dofs.push(dof);
                                paths.push(random.vec3(1.0));
                            }
                        }
                        list.push(BlockSide::Path { tree, start, end: paths.len() as u32 });
                    }
                    let body = random.below(2) as u32;
                    let m = || DMat3::IDENTITY;
                    list.push(BlockSide::Body { body, moments: m() * random.unit(), forces: frame });
                }
                starts.push(list.len() as u32);
            }
            let sided = SidedBlocks { starts: &starts, sides: &list, dofs: &dofs, paths: &paths };
            let (bodies, frames) = ([body; 2], [frame; 2]);
            let groups =
                Groups { bodies: &bodies, trees: &trees, sides: &sides, arms: &arms, frames: &frames, sided };
            let mut out =
                Delassus { velocity: vec![DVec3::ZERO; 6], friction: vec![0.5; 3], ..Delassus::default() };
            let soft = Bounds { compliance: DVec3::new(0.1, 0.2, 0.3), ..Bounds::HOLD };
            out.laws = vec![Law::Bounded(soft); 3];
            let mut ws = GroupedWorkspace::default();
            write_rows(&groups, true, &mut ws, &mut out);
            let full = out.problem().unwrap();
            let mut diagonal = out.clone();
            write_rows(&groups, false, &mut ws, &mut diagonal);
            let bare = sim_traits::RowProblem::of_groups(
                groups,
                &diagonal.blocks,
                &out.velocity,
                &out.friction,
                &out.laws,
            )
            .unwrap();
            let p: Vec<DVec3> = (0..6).map(|_| random.vec3(1.0)).collect();
            for block in 0..6 {
                let (a, b) = (full.relative_velocity(block, &p), bare.relative_velocity(block, &p));
                assert!((a - b).length() <= 1e-12 * (1.0 + a.length()), "{block}: {a} {b}");
                assert_eq!(full.diagonal(block), diagonal.blocks[block]);
            }
        }
    }
}
