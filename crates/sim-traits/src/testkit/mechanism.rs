//! Problems with joints: random mechanisms of free bodies and trees, with holds, limits, motors and contacts, and what every [`RowSolver`] must make of them.

use super::{SplitMix64, row_solver::Bounds as Demands};
use crate::{
    BlockSide, Bounds, FreeBody, Groups, Law, RowCertificate, RowError, RowProblem, RowSolver, SidedBlocks,
    Turning,
};
use sim_math::glam::{DMat3, DVec3};

/// A problem behind which there are bodies and trees, and which owns its numbers.
#[derive(Debug, Clone, Default)]
pub struct Mechanism {
    /// Free bodies.
    pub bodies: Vec<FreeBody>,
    /// Coordinates per tree.
    pub trees: Vec<u32>,
    /// Bodies of contacts.
    pub sides: Vec<[u32; 2]>,
    /// Arms of contacts.
    pub arms: Vec<[DVec3; 2]>,
    /// Frames of contacts.
    pub frames: Vec<DMat3>,
    /// Coefficients of friction of contacts.
    pub friction: Vec<f64>,
    /// Where the sides of the other blocks start.
    pub starts: Vec<u32>,
    /// Their sides.
    pub block_sides: Vec<BlockSide>,
    /// Coordinates on paths.
    pub dofs: Vec<u32>,
    /// Y beside them.
    pub paths: Vec<DVec3>,
    /// Their laws.
    pub laws: Vec<Law>,
    /// Velocities without impulses of all blocks.
    pub velocity: Vec<DVec3>,
    /// W in full, made by [`Mechanism::finish`].
    pub blocks: Vec<DMat3>,
    rows: Vec<u32>,
    columns: Vec<u32>,
    diagonal: Vec<DMat3>,
}

impl Mechanism {
    /// Adds a body with a diagonal inertia.
    pub fn body(&mut self, mass: f64, moments: DVec3) -> u32 {
        let (inertia, inverse_inertia) = (DMat3::from_diagonal(moments), DMat3::from_diagonal(1.0 / moments));
        self.bodies.push(FreeBody { mass, inertia, inverse_inertia });
        self.bodies.len() as u32 - 1
    }

    /// Adds a contact between two bodies, or one and the ground; before all other blocks.
    pub fn contact(
        &mut self,
        sides: [u32; 2],
        arms: [DVec3; 2],
        normal: DVec3,
        friction: f64,
        velocity: DVec3,
    ) {
        self.sides.push(sides);
        self.arms.push(arms);
        self.frames.push(sim_math::rotation::frame_across(normal).unwrap_or(DMat3::IDENTITY));
        self.friction.push(friction);
        self.velocity.push(velocity);
    }

    /// Adds a block with these sides.
    pub fn block(&mut self, sides: &[BlockSide], law: Law, velocity: DVec3) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.block_sides.extend_from_slice(sides);
        self.starts.push(self.block_sides.len() as u32);
        self.laws.push(law);
        self.velocity.push(velocity);
    }

    /// A side of a tree whose path has these coordinates, with Y beside them.
    pub fn path(&mut self, tree: u32, path: &[(u32, DVec3)]) -> BlockSide {
        let start = self.dofs.len() as u32;
        self.dofs.extend(path.iter().map(|(dof, _)| *dof));
        self.paths.extend(path.iter().map(|(_, y)| *y));
        BlockSide::Path { tree, start, end: self.dofs.len() as u32 }
    }

    /// The side of a body on which three rows push at an arm along the axes of the world, with a sign.
    #[must_use]
    pub fn at(body: u32, arm: DVec3, sign: f64) -> BlockSide {
        let moments = DMat3::from_cols(arm.cross(DVec3::X), arm.cross(DVec3::Y), arm.cross(DVec3::Z));
        BlockSide::Body { body, moments: moments * sign, forces: DMat3::IDENTITY * sign }
    }

    /// Computes W from the groups, column by column.
    ///
    /// # Errors
    /// Lists that do not fit.
    pub fn finish(&mut self) -> Result<(), RowError> {
        let n = self.velocity.len();
        let (mut blocks, mut diagonal) = (Vec::new(), vec![DMat3::IDENTITY; n]);
        let zero = vec![DVec3::ZERO; n];
        let mut w = vec![DMat3::ZERO; n * n];
        {
            let groups = self.groups();
            // Compliance is added on its own, so that laws without it are asked.
            let laws: Vec<Law> = self.laws.iter().map(without_compliance).collect();
            let free = RowProblem::of_groups(groups, &diagonal, &zero, &self.friction, &laws)?;
            let mut p = zero.clone();
            for d in 0..n {
                for axis in 0..3 {
                    p[d] = DVec3::AXES[axis];
                    for c in 0..n {
                        *w[c * n + d].col_mut(axis) = free.relative_velocity(c, &p);
                    }
                }
                p[d] = DVec3::ZERO;
            }
        }
        self.rows = vec![0];
        self.columns.clear();
        for c in 0..n {
            if let Some(Law::Bounded(bounds)) = c.checked_sub(self.friction.len()).map(|k| self.laws[k]) {
                w[c * n + c] += DMat3::from_diagonal(bounds.compliance);
            }
            diagonal[c] = w[c * n + c];
            for d in 0..n {
                if c == d || w[c * n + d] != DMat3::ZERO {
                    self.columns.push(d as u32);
                    blocks.push(w[c * n + d]);
                }
            }
            self.rows.push(blocks.len() as u32);
        }
        (self.blocks, self.diagonal) = (blocks, diagonal);
        Ok(())
    }

    /// What is behind the rows.
    #[must_use]
    pub fn groups(&self) -> Groups<'_> {
        Groups {
            bodies: &self.bodies,
            trees: &self.trees,
            sides: &self.sides,
            arms: &self.arms,
            frames: &self.frames,
            sided: SidedBlocks {
                starts: &self.starts,
                sides: &self.block_sides,
                dofs: &self.dofs,
                paths: &self.paths,
            },
        }
    }

    /// The problem as a solver likes it: W in full, or groups.
    ///
    /// # Errors
    /// See [`RowProblem::new`].
    pub fn problem(&self, rows: bool) -> Result<RowProblem<'_>, RowError> {
        let (velocity, friction, laws) = (&self.velocity, &self.friction, &self.laws);
        if rows {
            RowProblem::new(&self.rows, &self.columns, &self.blocks, velocity, friction, laws)?
                .with_groups(self.groups())
        } else {
            RowProblem::of_groups(self.groups(), &self.diagonal, velocity, friction, laws)
        }
    }

    /// A random mechanism of a few bodies and trees, with contacts, holds, limits, motors and springs.
    ///
    /// # Errors
    /// None, unless the kit itself is wrong.
    pub fn random(random: &mut SplitMix64, contacts: bool) -> Result<Self, RowError> {
        let mut this = Self::default();
        let bodies = 1 + random.below(4);
        for _ in 0..bodies {
            let moments = DVec3::splat(0.2) + random.vec3(0.1);
            this.body(random.range(0.5, 2.0), moments);
        }
        let tree = 3 + random.below(4) as u32;
        this.trees.push(tree);
        if contacts {
            for k in 0..bodies {
                let normal = (random.unit_vec3() * 0.5 + DVec3::Z).normalize();
                let below = if k > 0 && random.unit() < 0.5 { k as u32 - 1 } else { u32::MAX };
                let arms = [random.vec3(0.5) - DVec3::Z * 0.5, random.vec3(0.5) + DVec3::Z * 0.5];
                let friction = [0.0, 0.3, 0.6][random.below(3)];
                this.contact([k as u32, below], arms, normal, friction, random.vec3(1.0) - DVec3::Z);
            }
        }
        // A chain of bodies from the ground to the tree: fewer holds than there are velocities.
        for k in 0..bodies as u32 {
            let mut sides = vec![Self::at(k, random.vec3(0.5), 1.0)];
            if k > 0 {
                sides.push(Self::at(k - 1, random.vec3(0.5), -1.0));
            } else if random.unit() < 0.5 {
                let path: Vec<(u32, DVec3)> = (0..tree).map(|dof| (dof, random.vec3(1.0))).collect();
                sides.push(this.path(0, &path));
            }
            let mut bounds = Bounds::HOLD;
            for row in 0..3 {
                bounds = match random.below(8) {
                    0 => bounds.with(row, 0.0, f64::INFINITY),
                    1 => bounds.with(row, -0.3, 0.2),
                    2 => bounds.with(row, 0.0, 0.0),
                    _ => bounds,
                };
            }
            if random.unit() < 0.3 {
                bounds.compliance = DVec3::new(0.0, random.unit(), 0.0);
            }
            // A row at least is there.
            bounds = bounds.with(0, f64::NEG_INFINITY, f64::INFINITY);
            this.block(&sides, Law::Bounded(bounds), random.vec3(1.0));
        }
        if contacts {
            this.resist_turning(random);
        }
        this.finish()?;
        Ok(this)
    }

    /// Adds rolling and torsional friction to some of the contacts.
    fn resist_turning(&mut self, random: &mut SplitMix64) {
        for c in 0..self.sides.len() {
            if random.unit() < 0.5 {
                continue;
            }
            let frame = self.frames[c];
            let sides: Vec<BlockSide> = (self.sides[c].into_iter().zip([1.0, -1.0]))
                .filter(|(body, _)| (*body as usize) < self.bodies.len())
                .map(|(body, sign)| BlockSide::Body { body, moments: frame * sign, forces: DMat3::ZERO })
                .collect();
            let (rolling, torsional) = ([0.0, 0.02, 0.1][random.below(3)], random.range(0.01, 0.1));
            let law = Law::Turning(Turning { contact: c as u32, rolling, torsional });
            self.block(&sides, law, random.vec3(1.0));
        }
    }
}

fn without_compliance(law: &Law) -> Law {
    match law {
        Law::Bounded(bounds) => Law::Bounded(Bounds { compliance: DVec3::ZERO, ..*bounds }),
        other => *other,
    }
}

/// Mechanisms: random ones, held twice, and held in two ways that contradict each other.
///
/// # Errors
/// What the solver did wrong.
pub(super) fn conformance(solver: &mut dyn RowSolver, demands: &Demands) -> Result<(), String> {
    random_mechanisms(solver, demands)?;
    held_twice(solver)?;
    contradictions(solver)
}

fn text(error: RowError) -> String {
    error.to_string()
}

/// What a solver leaves: impulses and certificate by W in full.
fn solve(
    solver: &mut dyn RowSolver,
    mechanism: &Mechanism,
    rows: bool,
) -> Result<(Vec<DVec3>, RowCertificate), RowError> {
    let mut p = vec![DVec3::ZERO; mechanism.velocity.len()];
    solver.solve(&mechanism.problem(rows)?, &mut p)?;
    let found = mechanism.problem(true)?.certificate(&p);
    Ok((p, found))
}

fn random_mechanisms(solver: &mut dyn RowSolver, demands: &Demands) -> Result<(), String> {
    let mut random = SplitMix64(demands.seed ^ 0x5a);
    let mut spent = 0;
    for k in 0..demands.count {
        let mechanism = Mechanism::random(&mut random, k % 2 == 1).map_err(text)?;
        let problem = mechanism.problem(true).map_err(text)?;
        let scale = problem.scale().max(1e-300);
        for rows in [true, false] {
            if !rows && solver.needs_rows() {
                continue;
            }
            let (p, found) = match solve(solver, &mechanism, rows) {
                Ok(found) => found,
                // What is jammed or hangs together closely may take more than a solver has.
                Err(RowError::Budget { .. } | RowError::NoSolution { .. }) => {
                    spent += 1;
                    continue;
                }
                Err(other) => return Err(format!("mechanism {k}: {other}")),
            };
            let size = p.iter().fold(1.0_f64, |s, p| s.max(p.length()));
            let worst = (0..p.len()).map(|c| problem.size(c)).fold(0.0, f64::max);
            let facets = (2.0 * solver.cone_error()).sqrt() * (scale + size * worst);
            let allowed = demands.residual * scale + if k % 2 == 1 { facets } else { 0.0 };
            if found.residual.is_nan() || found.residual > allowed {
                return Err(format!("mechanism {k}: residual {:e} called solved", found.residual));
            }
            if found.cone_violation > 1e-9 * size {
                return Err(format!("mechanism {k}: not admissible by {:e}", found.cone_violation));
            }
        }
    }
    if 10 * spent > demands.count {
        return Err(format!("{spent} of {} mechanisms were given up", demands.count));
    }
    Ok(())
}

/// Two bodies on a rod, held at its end by one block, or by the same block twice.
fn rod(double: Option<f64>) -> Result<Mechanism, RowError> {
    let mut this = Mechanism::default();
    let a = this.body(2.0, DVec3::new(0.3, 0.4, 0.5));
    let b = this.body(1.0, DVec3::new(0.2, 0.1, 0.3));
    let (arm, other) = (DVec3::new(0.1, 0.2, 0.6), DVec3::new(-0.2, 0.1, 0.5));
    let hold = Law::Bounded(Bounds::HOLD);
    this.block(&[Mechanism::at(a, arm, 1.0)], hold, DVec3::new(0.3, -0.2, -1.0));
    if let Some(by) = double {
        this.block(&[Mechanism::at(a, arm, 1.0)], hold, DVec3::new(0.3 + by, -0.2, -1.0));
    }
    this.block(
        &[Mechanism::at(b, other, 1.0), Mechanism::at(a, -arm, -1.0)],
        hold,
        DVec3::new(0.1, 0.4, -0.3),
    );
    this.finish()?;
    Ok(this)
}

fn held_twice(solver: &mut dyn RowSolver) -> Result<(), String> {
    let (once, twice) = (rod(None).map_err(text)?, rod(Some(0.0)).map_err(text)?);
    for rows in [true, false] {
        if !rows && solver.needs_rows() {
            continue;
        }
        let (p, _) = solve(solver, &once, rows).map_err(|e| format!("a held rod: {e}"))?;
        let (q, found) = solve(solver, &twice, rows).map_err(|e| format!("a rod held twice: {e}"))?;
        if found.residual.is_nan() || found.residual > 1e-7 {
            return Err(format!("a rod held twice: residual {:e}", found.residual));
        }
        // Both holds together do what the one did.
        let apart = (q[0] + q[1] - p[0]).length().max((q[2] - p[1]).length());
        if apart.is_nan() || apart > 1e-6 {
            return Err(format!("a rod held twice is pushed otherwise than one held once, by {apart:e}"));
        }
    }
    Ok(())
}

fn contradictions(solver: &mut dyn RowSolver) -> Result<(), String> {
    let mechanism = rod(Some(0.5)).map_err(text)?;
    for rows in [true, false] {
        if !rows && solver.needs_rows() {
            continue;
        }
        let problem = mechanism.problem(rows).map_err(text)?;
        let mut p = vec![DVec3::ZERO; problem.len()];
        match solver.solve(&problem, &mut p) {
            Err(RowError::Contradictory { block, others, residual, .. }) => {
                // The two differ by 0.5 m/s: a quarter each is the least that can be left of both.
                if block > 1 || others > 1 || (residual - 0.25).abs() > 1e-3 {
                    return Err(format!(
                        "blocks {block} and {others} others, {residual} m/s left, expected 0.25"
                    ));
                }
                if p.iter().any(|p| !p.is_finite()) {
                    return Err("contradictory rows: impulses without bound".to_owned());
                }
                let u = mechanism.problem(true).map_err(text)?.relative_velocity(0, &p);
                if (u.abs() - DVec3::X * 0.25).length() > 1e-3 {
                    return Err(format!("contradictory rows move with {u}, expected 0.25 m/s along x"));
                }
            }
            other => return Err(format!("contradictory rows: expected Contradictory, got {other:?}")),
        }
    }
    Ok(())
}
