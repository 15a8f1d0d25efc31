//! Islands with trees as one problem: contacts, joints, limits, motors and dry friction together.
//!
//! # Reference
//!
//! As [`contact`](crate::time_stepping::contact); Arnold (1997), section 2.4.4, for contacts of links of one tree and of two.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | Y | rows of a block on a tree, in coordinates x in which its energy is ½\|x\|² | |
//! | p | impulses | N·s, N·m·s |
//! | e, u | restitution; velocity along a normal before the step | m/s |
//!
//! # Formula
//!
//! ```text
//! x = Σ Y p,   v⁺ = v* + L⁻¹ D^-½ x,   bodies as without trees
//! a contact that is hit within the step and bounces:  J v⁺ + e u ≥ 0  in place of  gap/h + J v⁺ ≥ 0
//! ```
//!
//! # Cost
//!
//! A path per side and block; the diagonal of W, or all of it for laws that need rows.
//!
//! # Numerics
//!
//! A contact whose normal nothing can move along, as one beside the plane of a mechanism, has no impulse.
//!
//! # Failure
//!
//! [`StepError::ContactLaw`] naming a body of the island. A budget used up is counted, and the impulses used.
//!
//! # Tested by
//!
//! `tests/time_trees.rs`

use super::{StepTrees, failed};
use crate::time_stepping::{
    contact::{self, members_of},
    impact::{self, contact_at},
    params::Stabilization,
    sites::Site,
    state::{Books, Detection, Problem, Setup, StepBodies},
    traction::{self, SiteTraction},
};
use constraint_dynamics::{
    Delassus, PoolBody, PoolContact,
    grouped::{GroupedWorkspace, write_rows},
    pool,
    soften::Settled,
};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{BlockSide, DynamicsError, FreeBody, Groups, Law, RowError, RowProblem, SidedBlocks};
use sim_world::{StepError, World};

/// A contact whose normal gives way by less than this share of what its bodies would, were they free, cannot be answered.
const IMMOVABLE: f64 = 1e-9;

/// An island with trees: its contacts in the order of islands, points first, its blocks of joints, its trees.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::time_stepping) struct TreeSpan {
    pub(super) contacts: [u32; 2],
    /// How many of the contacts are between bodies that are no links.
    pub(super) points: u32,
    pub(super) blocks: [u32; 2],
    pub(super) trees: [u32; 2],
}

/// Memory of such islands.
#[derive(Debug, Default)]
pub(in crate::time_stepping) struct TreeProblem {
    pub(in crate::time_stepping) spans: Vec<TreeSpan>,
    /// Trees of the islands, in their order.
    pub(in crate::time_stepping) order: Vec<u32>,
    /// By body slot: its number among those of the problem.
    numbers: Vec<u32>,
    slots: Vec<u32>,
    bodies: Vec<FreeBody>,
    /// By tree of the problem: its number in the step, and how many velocities it has.
    trees: Vec<u32>,
    sizes: Vec<u32>,
    sides: Vec<[u32; 2]>,
    arms: Vec<[DVec3; 2]>,
    frames: Vec<DMat3>,
    starts: Vec<u32>,
    list: Vec<BlockSide>,
    dofs: Vec<u32>,
    paths: Vec<DVec3>,
    merged: Vec<(u32, DVec3)>,
    ws: GroupedWorkspace,
    pub(super) delassus: Delassus,
    pub(super) impulses: Vec<DVec3>,
}

impl TreeProblem {
    /// Forgets the islands of the step before.
    pub(in crate::time_stepping) fn clear(&mut self) {
        self.spans.clear();
        self.order.clear();
    }

    fn start(&mut self, bodies: usize) {
        self.slots.drain(..).for_each(|slot| self.numbers[slot as usize] = u32::MAX);
        self.numbers.resize(bodies, u32::MAX);
        self.bodies.clear();
        self.trees.clear();
        self.sizes.clear();
        self.sides.clear();
        self.arms.clear();
        self.frames.clear();
        self.starts.clear();
        self.starts.push(0);
        self.list.clear();
        self.dofs.clear();
        self.paths.clear();
        self.delassus.clear();
    }

    fn groups(&self) -> Groups<'_> {
        let sided =
            SidedBlocks { starts: &self.starts, sides: &self.list, dofs: &self.dofs, paths: &self.paths };
        Groups {
            bodies: &self.bodies,
            trees: &self.sizes,
            sides: &self.sides,
            arms: &self.arms,
            frames: &self.frames,
            sided,
        }
    }

    fn number_of(&mut self, slot: u32, body: &PoolBody) -> u32 {
        let known = self.numbers[slot as usize];
        if known != u32::MAX {
            return known;
        }
        let number = self.bodies.len() as u32;
        self.numbers[slot as usize] = number;
        self.slots.push(slot);
        self.bodies.push(FreeBody {
            mass: 1.0 / body.inverse_mass,
            inertia: body.inverse_inertia.inverse(),
            inverse_inertia: body.inverse_inertia,
        });
        number
    }

    /// Number of a tree of the step in this problem.
    fn tree(&self, tree: u32) -> u32 {
        self.trees.iter().position(|t| *t == tree).unwrap_or(0) as u32
    }

    fn push_point(&mut self, pool: &[PoolBody], contact: &PoolContact) {
        let (mut sides, mut arms) = ([u32::MAX; 2], [DVec3::ZERO; 2]);
        for k in 0..2 {
            let slot = contact.bodies[k];
            let Some(body) = pool.get(slot as usize).filter(|body| body.is_movable()) else { continue };
            sides[k] = self.number_of(slot, body);
            arms[k] = contact.point - body.center;
        }
        self.sides.push(sides);
        self.arms.push(arms);
        self.frames.push(contact.frame);
    }

    /// A side on the body of a slot: moments about its centre of mass and forces, world axes.
    fn push_side(
        &mut self,
        pool: &[PoolBody],
        trees: &StepTrees,
        slot: u32,
        moments: DMat3,
        forces: DMat3,
    ) -> Result<(), DynamicsError> {
        let Some(body) = pool.get(slot as usize).filter(|body| body.is_movable()) else { return Ok(()) };
        let Some((tree, link)) = trees.link(slot) else {
            let body = self.number_of(slot, body);
            self.list.push(BlockSide::Body { body, moments, forces });
            return Ok(());
        };
        let step = &trees.all[tree as usize];
        let start = self.paths.len() as u32;
        let pushes = step.pushes(link, &moments, &forces);
        step.whitened.rows(&step.model, link, pushes, &mut self.dofs, &mut self.paths)?;
        self.finish_path(self.tree(tree), start);
        Ok(())
    }

    /// Adds a path to the sides of the present block; with another path of the same tree right before it, it is one.
    fn finish_path(&mut self, tree: u32, start: u32) {
        let end = self.paths.len() as u32;
        let first = *self.starts.last().unwrap_or(&0) as usize;
        let before = self.list[first..].last().copied();
        let Some(BlockSide::Path { tree: other, start: from, end: to }) = before else {
            self.list.push(BlockSide::Path { tree, start, end });
            return;
        };
        if other != tree || to != start {
            self.list.push(BlockSide::Path { tree, start, end });
            return;
        }
        self.merged.clear();
        let (mut i, mut j) = (from as usize, start as usize);
        while i < to as usize || j < end as usize {
            let left = if i < to as usize { self.dofs[i] } else { u32::MAX };
            let right = if j < end as usize { self.dofs[j] } else { u32::MAX };
            let dof = left.min(right);
            let mut y = DVec3::ZERO;
            if left == dof {
                y += self.paths[i];
                i += 1;
            }
            if right == dof {
                y += self.paths[j];
                j += 1;
            }
            self.merged.push((dof, y));
        }
        self.dofs.truncate(from as usize);
        self.paths.truncate(from as usize);
        for (dof, y) in &self.merged {
            self.dofs.push(*dof);
            self.paths.push(*y);
        }
        self.list.pop();
        self.list.push(BlockSide::Path { tree, start: from, end: self.paths.len() as u32 });
    }

    fn end_block(&mut self) {
        self.starts.push(self.list.len() as u32);
    }
}

/// Contacts, blocks and trees of an island, if it has trees; false if it has none.
pub(in crate::time_stepping) fn collect_trees(
    setup: &Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    island: usize,
    h: f64,
) -> bool {
    let count = problem.chosen.len();
    let (members, pairs) = members_of(&problem.islands, count, island);
    let trees = &mut bodies.trees.problem;
    let first_tree = trees.order.len() as u32;
    trees.order.extend(pairs.iter().filter_map(|m| problem.joined.trees[*m as usize - count]));
    if first_tree as usize == trees.order.len() {
        return false;
    }
    let (start, first) = (problem.order.len() as u32, problem.mixed.order.len() as u32);
    let mut points = 0;
    for with_links in [false, true] {
        for m in members {
            let k = problem.chosen[*m as usize];
            let site = &found.sites.all[k as usize];
            if site.bodies.iter().any(|slot| bodies.trees.is_link(*slot)) != with_links {
                continue;
            }
            points += u32::from(!with_links);
            problem.order.push(k);
            problem.contacts.push(contact_at(site, bias_of(setup, bodies, site, h)));
            let traction = traction::of_site(&problem.tractions, k as usize);
            if traction != SiteTraction::NONE {
                let m = problem.contacts.len() - 1;
                let (joined, contact) = (&mut problem.joined, &mut problem.contacts[m]);
                let block = traction::add_traction(found, bodies, joined, contact, m, traction);
                problem.mixed.order.extend(block);
            }
        }
    }
    let pairs = pairs.iter().map(|m| *m as usize - count);
    problem.mixed.order.extend(problem.joined.blocks_of(pairs));
    let trees = &mut bodies.trees.problem;
    trees.spans.push(TreeSpan {
        contacts: [start, problem.order.len() as u32],
        points,
        blocks: [first, problem.mixed.order.len() as u32],
        trees: [first_tree, trees.order.len() as u32],
    });
    true
}

/// Bias of a contact along its normal, m/s.
fn bias_of(setup: &Setup, bodies: &StepBodies, site: &Site, h: f64) -> f64 {
    let linked = site.bodies.iter().any(|slot| bodies.trees.is_link(*slot));
    if linked && site.restitution > 0.0 {
        let at = |slot: u32| {
            PoolBody { velocity: bodies.body_steps[slot as usize].start, ..bodies.pool[slot as usize] }
                .velocity_at(site.point)
        };
        let before = site.frame.z_axis.dot(at(site.bodies[0]) - at(site.bodies[1]));
        let now = impact::normal_velocity(bodies, site);
        if before < -site.rest_speed && site.gap + h * now.min(before) <= setup.params.touch {
            return site.restitution * before;
        }
    }
    match setup.params.stabilization {
        Stabilization::Baumgarte(share) if site.gap < 0.0 => share * site.gap / h,
        _ => site.gap.max(0.0) / h,
    }
}

/// Writes the blocks of an island with trees: contacts, joints, and the rows at joints of its trees if `rows` says so.
pub(super) fn gather(
    bodies: &StepBodies,
    problem: &Problem,
    trees: &mut TreeProblem,
    span: &TreeSpan,
) -> Result<(), DynamicsError> {
    let pool = &bodies.pool;
    trees.start(pool.len());
    for k in span.trees[0]..span.trees[1] {
        let tree = trees.order[k as usize];
        trees.trees.push(tree);
        trees.sizes.push(bodies.trees.all[tree as usize].model.v_len() as u32);
    }
    let contacts = &problem.contacts[span.contacts[0] as usize..span.contacts[1] as usize];
    let (points, linked) = contacts.split_at(span.points as usize);
    for contact in contacts {
        trees.delassus.velocity.push(pool::velocity_of(pool, contact) + contact.bias);
        trees.delassus.friction.push(contact.friction);
    }
    points.iter().for_each(|contact| trees.push_point(pool, contact));
    for contact in linked {
        for (slot, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            let Some(body) = pool.get(slot as usize) else { continue };
            let (arm, f) = (contact.point - body.center, contact.frame * sign);
            let moments = DMat3::from_cols(arm.cross(f.x_axis), arm.cross(f.y_axis), arm.cross(f.z_axis));
            trees.push_side(pool, &bodies.trees, slot, moments, f)?;
        }
        trees.end_block();
    }
    let joints = &problem.mixed.order[span.blocks[0] as usize..span.blocks[1] as usize];
    for &k in joints {
        let block = &traction::of_island(problem.joined.blocks[k as usize], span.contacts[0] as usize);
        let view = problem.joined.view();
        for side in view.of(block) {
            trees.push_side(pool, &bodies.trees, side.body, side.moments, side.forces)?;
        }
        trees.end_block();
        trees.delassus.velocity.push(view.velocity(pool, block) + block.bias);
        trees.delassus.laws.push(block.law);
    }
    for number in 0..trees.trees.len() {
        let step = &bodies.trees.all[trees.trees[number] as usize];
        for row in &step.rows {
            let start = trees.paths.len() as u32;
            let columns = DVec3::new(row.sign, 0.0, 0.0);
            step.whitened.dof_rows(&step.model, row.dof, columns, &mut trees.dofs, &mut trees.paths)?;
            trees.finish_path(number as u32, start);
            trees.end_block();
            let u = row.sign * step.v[row.dof as usize] + row.bias;
            trees.delassus.velocity.push(DVec3::new(u, 0.0, 0.0));
            trees.delassus.laws.push(Law::Bounded(row.bounds));
        }
    }
    Ok(())
}

/// Contacts that cannot be answered are far away.
fn drop_immovable(problem: &Problem, pool: &[PoolBody], trees: &mut TreeProblem, span: &TreeSpan) {
    let contacts = &problem.contacts[span.contacts[0] as usize..span.contacts[1] as usize];
    let Delassus { starts, columns, blocks, velocity, .. } = &mut trees.delassus;
    for (c, contact) in contacts.iter().enumerate().skip(span.points as usize) {
        let free: f64 =
            contact.bodies.iter().filter_map(|k| pool.get(*k as usize)).map(|b| b.inverse_mass).sum();
        let row = starts[c] as usize..starts[c + 1] as usize;
        let Some(at) = columns[row.clone()].iter().position(|d| *d as usize == c) else { continue };
        let w = &mut blocks[row.start + at];
        if w.z_axis.z <= IMMOVABLE * free {
            *w = DMat3::from_diagonal(DVec3::splat(free.max(f64::MIN_POSITIVE)));
            velocity[c] = DVec3::new(0.0, 0.0, velocity[c].length() + 1.0);
        }
    }
}

/// Solves the present problem from the impulses that it has.
pub(super) fn solve_gathered(
    setup: &mut Setup,
    bodies: &StepBodies,
    problem: &mut Problem,
    trees: &mut TreeProblem,
    span: &TreeSpan,
    accuracy: f64,
) -> Result<Settled, RowError> {
    let Some(solver) = setup.parts.contacts.solver() else {
        return Err(RowError::NoSolution { iterations: 0 });
    };
    let full = solver.needs_rows();
    let mut ws = std::mem::take(&mut trees.ws);
    let mut delassus = std::mem::take(&mut trees.delassus);
    write_rows(&trees.groups(), full, &mut ws, &mut delassus);
    (trees.ws, trees.delassus) = (ws, delassus);
    drop_immovable(problem, &bodies.pool, trees, span);
    let mut impulses = std::mem::take(&mut trees.impulses);
    let groups = trees.groups();
    let Delassus { blocks, velocity, friction, laws, .. } = &trees.delassus;
    let rows = if full {
        trees.delassus.problem().and_then(|rows| rows.with_groups(groups))
    } else {
        RowProblem::of_groups(groups, blocks, velocity, friction, laws)
    };
    let solved = rows
        .map(|rows| rows.with_accuracy(accuracy))
        .and_then(|rows| problem.softener.solve(&rows, solver, &mut impulses));
    trees.impulses = impulses;
    solved
}

/// Solves an island with trees: velocities in the pool and of the trees are then those of the end of the step.
pub(in crate::time_stepping) fn solve_trees(
    setup: &mut Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &World,
    number: usize,
) -> Result<(), StepError> {
    let mut trees = std::mem::take(&mut bodies.trees.problem);
    let span = trees.spans[number];
    let first = trees.order[span.trees[0] as usize];
    let fail = failed(world, bodies.trees.all[first as usize].id);
    let result = gather(bodies, problem, &mut trees, &span).map_err(&fail).and_then(|()| {
        guess(setup, bodies, problem, &mut trees, &span);
        if trees.impulses.is_empty() {
            return Ok(());
        }
        let solved = solve_gathered(setup, bodies, problem, &mut trees, &span, 0.0);
        count(found, bodies, problem, books, world, &trees, &span, solved)?;
        apply(bodies, problem, &trees, &span).map_err(&fail)?;
        store(bodies, problem, &trees, &span);
        Ok(())
    });
    bodies.trees.problem = trees;
    result
}

/// Impulses of the last step.
fn guess(setup: &Setup, bodies: &StepBodies, problem: &Problem, trees: &mut TreeProblem, span: &TreeSpan) {
    let known = problem.memory.last_step > 0.0 && setup.params.warm_start;
    let scale = if known { problem.h / problem.memory.last_step } else { 0.0 };
    trees.impulses.clear();
    trees.impulses.extend_from_slice(&problem.impulses[span.contacts[0] as usize..span.contacts[1] as usize]);
    let joints = &problem.mixed.order[span.blocks[0] as usize..span.blocks[1] as usize];
    trees.impulses.extend(joints.iter().map(|&k| problem.joined.impulses[k as usize] * scale));
    for &tree in &trees.trees {
        let rows = &bodies.trees.all[tree as usize].rows;
        trees
            .impulses
            .extend(rows.iter().map(|row| row.bounds.clamp(DVec3::new(row.impulse * scale, 0.0, 0.0))));
    }
}

/// Enters in the report how an island was solved.
fn count(
    found: &Detection,
    bodies: &StepBodies,
    problem: &Problem,
    books: &mut Books,
    world: &World,
    trees: &TreeProblem,
    span: &TreeSpan,
    solved: Result<Settled, RowError>,
) -> Result<(), StepError> {
    let report = &mut books.report.solver;
    report.islands += 1;
    report.largest = report.largest.max(trees.impulses.len() as u64);
    let settled = solved.map_err(|source| {
        let sites = problem.order[span.contacts[0] as usize..span.contacts[1] as usize].iter();
        let sites = sites.flat_map(|&k| found.sites.all[k as usize].bodies);
        let links =
            trees.trees.iter().flat_map(|tree| bodies.trees.all[*tree as usize].slots.iter().copied());
        contact::law_error(bodies, world, sites.chain(links).collect(), source)
    })?;
    let report = &mut books.report.solver;
    report.count(settled.iterations, trees.impulses.len());
    report.residual = report.residual.max(settled.residual);
    report.cone_violation = report.cone_violation.max(settled.cone_violation);
    report.unsolved += u64::from(!settled.solved);
    Ok(())
}

/// Applies the impulses to bodies and trees.
pub(super) fn apply(
    bodies: &mut StepBodies,
    problem: &Problem,
    trees: &TreeProblem,
    span: &TreeSpan,
) -> Result<(), DynamicsError> {
    let contacts = &problem.contacts[span.contacts[0] as usize..span.contacts[1] as usize];
    let points = span.points as usize;
    pool::apply(&mut bodies.pool, &contacts[..points], &trees.impulses[..points]);
    for &tree in &trees.trees {
        bodies.trees.all[tree as usize].x.fill(0.0);
    }
    let groups = trees.groups();
    for (d, p) in trees.impulses[points..].iter().enumerate().filter(|(_, p)| **p != DVec3::ZERO) {
        for side in groups.sided.of(d) {
            match *side {
                BlockSide::Body { body, moments, forces } => {
                    let body = &mut bodies.pool[trees.slots[body as usize] as usize];
                    body.velocity.linear += forces * *p * body.inverse_mass;
                    body.velocity.angular += body.inverse_inertia * (moments * *p);
                }
                BlockSide::Path { tree, start, end } => {
                    let step = &mut bodies.trees.all[trees.trees[tree as usize] as usize];
                    step.pushed = true;
                    for (dof, y) in groups.sided.path(start, end) {
                        step.x[dof] += y.dot(*p);
                    }
                }
            }
        }
    }
    for &tree in &trees.trees {
        let StepBodies { pool, trees: all, .. } = bodies;
        let step = &mut all.all[tree as usize];
        if !step.pushed {
            continue;
        }
        let mut v = std::mem::take(&mut step.v);
        let x = std::mem::take(&mut step.x);
        let slots = std::mem::take(&mut step.slots);
        let added = step.whitened.add_velocity(&step.model, &x, &mut v);
        let written = step.link_velocities(&v, |k, motion| pool[slots[k] as usize].velocity = motion);
        (step.v, step.x, step.slots, step.ahead) = (v, x, slots, None);
        added.and(written)?;
    }
    Ok(())
}

/// Keeps the impulses, and what they exert on trees from outside.
fn store(bodies: &mut StepBodies, problem: &mut Problem, trees: &TreeProblem, span: &TreeSpan) {
    let range = span.contacts[0] as usize..span.contacts[1] as usize;
    let (of_contacts, rest) = trees.impulses.split_at(range.len());
    problem.impulses[range.clone()].copy_from_slice(of_contacts);
    let joints = &problem.mixed.order[span.blocks[0] as usize..span.blocks[1] as usize];
    let (of_joints, mut of_rows) = rest.split_at(joints.len());
    for (&k, p) in joints.iter().zip(of_joints) {
        problem.joined.impulses[k as usize] = *p;
    }
    for &tree in &trees.trees {
        let rows = &mut bodies.trees.all[tree as usize].rows;
        let (mine, others) = of_rows.split_at(rows.len());
        rows.iter_mut().zip(mine).for_each(|(row, p)| row.impulse = p.x);
        of_rows = others;
    }
    for (contact, p) in problem.contacts[range].iter().zip(of_contacts) {
        let force = contact.frame * *p;
        for (slot, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            exert(bodies, slot, force * sign, contact.point.cross(force * sign));
        }
    }
    for (&k, p) in joints.iter().zip(of_joints) {
        let view = problem.joined.view();
        for side in view.of(&problem.joined.blocks[k as usize]) {
            let Some(center) = bodies.pool.get(side.body as usize).map(|body| body.center) else { continue };
            let force = side.forces * *p;
            exert(bodies, side.body, force, center.cross(force) + side.moments * *p);
        }
    }
}

fn exert(bodies: &mut StepBodies, slot: u32, impulse: DVec3, moment: DVec3) {
    if let Some((tree, _)) = bodies.trees.link(slot) {
        let exerted = &mut bodies.trees.all[tree as usize].exerted;
        exerted.impulse += impulse;
        exerted.moment += moment;
    }
}
