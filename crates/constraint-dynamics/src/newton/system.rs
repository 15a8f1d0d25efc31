//! The linear systems of Newton's method: variables, their order, and the matrix.
//!
//! # Reference
//!
//! Quasi-definite systems: Vanderbei (1995). Baraff (1996) for joints that follow the first of their bodies, which makes chains and trees of joints
//! cost O(n); Cuthill and `McKee` (1969) for the order of the bodies.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | w | change of velocities by the impulses: six per body, the coordinates of trees | rad/s, m/s, √J |
//! | y | −p of rows that are equalities | N·s |
//! | ε | regularisation of equalities: [`HOLD`] of what the row gives way | 1/kg |
//! | ρ, D | penalty of other rows, derivative of the projection on what they admit | kg, - |
//!
//! # Formula
//!
//! ```text
//! | M + Jᵀ ρ D J   Jₑᵀ      | |dw|   | Jᵀ p − M w                          |
//! | Jₑ           −(c + ε)   | |dy| = | −(Jₑ w + b + c pₑ + ε (pₑ − p₀))     |
//! ```
//!
//! # Cost
//!
//! n b² for n variables and rows of b entries from the first that is not zero; chains of joints have short rows.
//!
//! # Numerics
//!
//! Equalities are unknowns of their own, not penalties: 10⁵ bodies in a chain are held as well as two. The error of a row shrinks by ε/(ε + λ) per round, λ the
//! softest mode of W.
//!
//! # Failure
//!
//! A factorisation that takes too long, or a pivot that is not a number: `false`.
//!
//! # Tested by
//!
//! `newton_conforms`, `mixed_rows_are_solved_by_all`, `a_long_chain_is_held`

use crate::{envelope::Envelope, sides::sides};
use sim_math::{
    dense::CuthillMcKee,
    glam::{DMat3, DVec3},
};
use sim_traits::{BlockSide, Bounds, FreeBody, Groups, Law, RowProblem, Turning, project_on_cone};

/// Share of what a row gives way by which equalities are regularised.
pub(super) const HOLD: f64 = 1e-10;
/// Share of the size of a block that a row counts as giving way at least.
const LEAST: f64 = 1e-12;

/// Derivative of the projection on the cone at x.
pub(super) fn derivative(x: DVec3, mu: f64) -> DMat3 {
    let t = x.truncate().length();
    if mu == 0.0 {
        return DMat3::from_diagonal(DVec3::new(0.0, 0.0, if x.z > 0.0 { 1.0 } else { 0.0 }));
    }
    if t <= mu * x.z {
        return DMat3::IDENTITY;
    }
    if mu * t <= -x.z {
        return DMat3::ZERO;
    }
    let d = x.truncate() / t;
    let edge = (mu * d).extend(1.0);
    let z = (x.z + mu * t) / (1.0 + mu * mu);
    let across = DVec3::new(-d.y, d.x, 0.0);
    let outer =
        |v: DVec3, scale: f64| DMat3::from_cols(v * (v.x * scale), v * (v.y * scale), v * (v.z * scale));
    outer(edge, 1.0 / (1.0 + mu * mu)) + outer(across, mu * z / t)
}

/// Derivative of the projection on a disc across and an interval about the normal at x.
fn turning_derivative(x: DVec3, [across, about]: [f64; 2]) -> DMat3 {
    let size = x.truncate().length();
    let inside = if x.z.abs() < about { 1.0 } else { 0.0 };
    if size <= across {
        let disc = if across > 0.0 { 1.0 } else { 0.0 };
        return DMat3::from_diagonal(DVec3::new(disc, disc, inside));
    }
    let d = x.truncate() / size;
    let along = DVec3::new(-d.y, d.x, 0.0) * (across / size).sqrt();
    let mut out = DMat3::from_cols(along * along.x, along * along.y, DVec3::ZERO);
    out.z_axis.z = inside;
    out
}

/// A row that is an equality.
#[derive(Debug, Clone, Copy)]
struct Hold {
    block: u32,
    row: u8,
    /// Where its variable is.
    at: u32,
    /// ε.
    epsilon: f64,
}

/// Variables, matrix, right side.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    ordering: CuthillMcKee,
    edges: Vec<(u32, u32)>,
    /// Position of each group in the order, and of its first variable.
    place: Vec<u32>,
    at: Vec<u32>,
    /// Position in the order of the first group of blocks with equalities.
    firsts: Vec<(u32, u32)>,
    holds: Vec<Hold>,
    /// First column of each row of the matrix.
    lowest: Vec<u32>,
    matrix: Envelope,
    /// Largest entry of Y, for trees.
    tree_scale: f64,
    /// The matrix does not depend on the state, and is factorised.
    constant: bool,
    pub(super) w: Vec<f64>,
    pub(super) step: Vec<f64>,
    rho: Vec<f64>,
    /// 1/W of the rows of the blocks that are no points.
    rho_rows: Vec<DVec3>,
    /// Normal impulses that bound those of the blocks that are no points.
    loads: Vec<f64>,
    /// Variables that a block acts on, with its rows.
    rows: Vec<(usize, DVec3)>,
    /// s of contacts: friction times slip of the round before.
    pub(super) shift: Vec<f64>,
    /// Impulses at the velocities evaluated last.
    pub(super) p: Vec<DVec3>,
}

/// Along a whole step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Decrease of L at its beginning.
    pub(super) slope: f64,
    /// p⁺·Δu of equalities.
    pub(super) held: f64,
}

/// Group number of a side.
fn group_of(groups: &Groups<'_>, side: &BlockSide) -> usize {
    match *side {
        BlockSide::Body { body, .. } => body as usize,
        BlockSide::Path { tree, .. } => groups.bodies.len() + tree as usize,
    }
}

fn bounds_of(law: &Law) -> Option<&Bounds> {
    match law {
        Law::Bounded(bounds) => Some(bounds),
        _ => None,
    }
}

impl System {
    /// Orders the variables, and starts from the velocities that the impulses give; false if a factorisation would take more than `work` multiplications.
    pub(super) fn prepare(
        &mut self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        p: &[DVec3],
        work: f64,
    ) -> bool {
        let n = groups.bodies.len() + groups.trees.len();
        let inside = |k: u32| (k as usize) < groups.bodies.len();
        self.edges.clear();
        let both = groups.sides.iter().filter(|[a, b]| inside(*a) && inside(*b) && a != b);
        self.edges.extend(both.map(|[a, b]| (*a, *b)));
        for block in 0..groups.sided.len() {
            let list = groups.sided.of(block);
            for (k, a) in list.iter().enumerate() {
                for b in &list[..k] {
                    let (a, b) = (group_of(groups, a) as u32, group_of(groups, b) as u32);
                    if a != b {
                        self.edges.push((a, b));
                    }
                }
            }
        }
        self.edges.sort_unstable();
        self.edges.dedup();
        if self.ordering.compute(n, &self.edges).is_err() {
            return false;
        }
        self.place.clear();
        self.place.resize(n, 0);
        for (k, &group) in self.ordering.order().iter().enumerate() {
            self.place[group as usize] = k as u32;
        }
        self.number(problem, groups);
        if self.work() > work {
            return false;
        }
        self.start(problem, groups, p);
        true
    }

    /// Multiplications of a factorisation.
    pub(super) fn work(&self) -> f64 {
        let rows = (0..).zip(&self.lowest).map(|(k, &first)| f64::from(k + 1 - first));
        0.5 * rows.map(|b: f64| b * b).sum::<f64>()
    }

    /// Gives every variable its place, and every row of the matrix its first column.
    fn number(&mut self, problem: &RowProblem<'_>, groups: &Groups<'_>) {
        let Self { place, at, firsts, holds, lowest, ordering, .. } = self;
        let (points, bodies) = (groups.points(), groups.bodies.len());
        firsts.clear();
        for block in 0..groups.sided.len() {
            let law = problem.law(points + block);
            let any = bounds_of(&law).is_some_and(|bounds| (0..3).any(|row| bounds.holds(row)));
            let first = groups.sided.of(block).iter().map(|side| place[group_of(groups, side)]).min();
            if let Some(first) = first.filter(|_| any) {
                firsts.push((first, block as u32));
            }
        }
        firsts.sort_unstable();
        at.clear();
        at.resize(place.len(), 0);
        holds.clear();
        lowest.clear();
        let mut due = firsts.iter().peekable();
        for (k, &group) in (0..).zip(ordering.order()) {
            let start = lowest.len() as u32;
            at[group as usize] = start;
            let size = (group as usize).checked_sub(bodies).map_or(6, |tree| groups.trees[tree]);
            lowest.extend(std::iter::repeat_n(start, size as usize));
            while let Some((_, block)) = due.next_if(|(first, _)| *first == k) {
                let c = points + *block as usize;
                let (law, w) = (problem.law(c), problem.diagonal(c));
                let Some(bounds) = bounds_of(&law) else { continue };
                let least = LEAST * law.size(&w);
                for row in (0..3).filter(|&row| bounds.holds(row)) {
                    let epsilon = HOLD * w.col(row)[row].max(least);
                    holds.push(Hold { block: *block, row: row as u8, at: lowest.len() as u32, epsilon });
                    lowest.push(start);
                }
            }
        }
        // Groups that meet at a contact, or at a row that is no equality, meet in the matrix.
        let mut meet = |a: usize, column: u32| {
            let start = at[a] as usize;
            let size = a.checked_sub(bodies).map_or(6, |tree| groups.trees[tree] as usize);
            let column = column.min(lowest[start]);
            lowest[start..start + size].fill(column);
        };
        for &[a, b] in groups.sides {
            if (a as usize) < bodies && (b as usize) < bodies {
                let (a, b) = (a as usize, b as usize);
                let (first, second) = if place[a] < place[b] { (a, b) } else { (b, a) };
                meet(second, at[first]);
            }
        }
        for block in 0..groups.sided.len() {
            let law = problem.law(points + block);
            let all_hold = bounds_of(&law).is_some_and(|b| (0..3).all(|r| b.holds(r) || !b.is_used(r)));
            let list = groups.sided.of(block);
            let first = list.iter().map(|side| at[group_of(groups, side)]).min().unwrap_or(0);
            for side in list {
                if !all_hold {
                    meet(group_of(groups, side), first);
                }
            }
        }
        for hold in &*holds {
            for side in groups.sided.of(hold.block as usize) {
                let group = group_of(groups, side);
                if at[group] > hold.at {
                    meet(group, hold.at);
                }
            }
        }
    }

    /// Velocities that the impulses give, penalties, and slips.
    fn start(&mut self, problem: &RowProblem<'_>, groups: &Groups<'_>, p: &[DVec3]) {
        self.w.clear();
        self.w.resize(self.lowest.len(), 0.0);
        let points = groups.points();
        for (c, &impulse) in p[..points].iter().enumerate() {
            for side in sides(groups, c) {
                let (moment, force) = side.wrench(impulse);
                let body = &groups.bodies[side.body];
                let at = self.at[side.body] as usize;
                let turn = body.inverse_inertia * moment;
                for i in 0..3 {
                    self.w[at + i] += turn[i];
                    self.w[at + 3 + i] += force[i] / body.mass;
                }
            }
        }
        self.tree_scale = groups.sided.paths.iter().fold(0.0, |most: f64, y| most.max(y.abs().max_element()));
        for (block, &impulse) in p[points..].iter().enumerate() {
            for side in groups.sided.of(block) {
                let at = self.at[group_of(groups, side)] as usize;
                match *side {
                    BlockSide::Body { body, moments, forces } => {
                        let body = &groups.bodies[body as usize];
                        let turn = body.inverse_inertia * (moments * impulse);
                        let way = forces * impulse / body.mass;
                        for i in 0..3 {
                            self.w[at + i] += turn[i];
                            self.w[at + 3 + i] += way[i];
                        }
                    }
                    BlockSide::Path { start, end, .. } => {
                        for (dof, y) in groups.sided.path(start, end) {
                            self.w[at + dof] += y.dot(impulse);
                        }
                    }
                }
            }
        }
        for hold in &self.holds {
            self.w[hold.at as usize] = -p[points + hold.block as usize][hold.row as usize];
        }
        self.rho.clear();
        self.shift.clear();
        self.shift.resize(problem.len(), 0.0);
        for c in 0..points {
            let u = self.velocity(problem, groups, c, &self.w);
            self.rho.push(1.0 / problem.diagonal(c).z_axis.z);
            self.shift[c] = problem.friction()[c] * u.truncate().length();
        }
        self.rho_rows.clear();
        self.constant = points == 0;
        for c in points..problem.len() {
            let (law, w) = (problem.law(c), problem.diagonal(c));
            let least = LEAST * law.size(&w);
            let diagonal = DVec3::new(w.x_axis.x, w.y_axis.y, w.z_axis.z).max(DVec3::splat(least));
            match law {
                Law::Cone { friction } => {
                    self.constant = false;
                    self.rho_rows.push(DVec3::splat(1.0 / w.z_axis.z));
                    let u = self.sided_velocity(problem, groups, c, &self.w);
                    self.shift[c] = friction * u.truncate().length();
                }
                Law::Bounded(bounds) => {
                    self.constant &= (0..3).all(|row| bounds.holds(row) || !bounds.is_used(row));
                    self.rho_rows.push(1.0 / diagonal);
                }
                Law::Turning(_) => {
                    self.constant = false;
                    // The rows of a disc have one penalty.
                    let [across, about] = Turning::responses(&w).map(|w| 1.0 / w.max(least));
                    self.rho_rows.push(DVec3::new(across, across, about));
                }
                _ => self.rho_rows.push(DVec3::ZERO),
            }
        }
        self.matrix.reset(std::iter::empty());
    }

    /// A round begins: friction against turning has the normal impulses of the one before.
    pub(super) fn load(&mut self, problem: &RowProblem<'_>, points: usize, base: &[DVec3]) {
        self.loads.clear();
        self.loads.extend((points..problem.len()).map(|c| problem.load(c, base)));
    }

    /// True if there are rows that are equalities.
    pub(super) fn has_holds(&self) -> bool {
        !self.holds.is_empty()
    }

    /// What decides on the length of a step: L(w) = value(w) − p⁺·u(w) of equalities, with their impulses p⁺ after the step. `next` are the
    /// velocities after it.
    pub(super) fn line(
        &self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        gradient: &mut [f64],
        step: &[f64],
        next: &[f64],
    ) -> Line {
        let mut line = Line { slope: 0.0, held: 0.0 };
        for &Hold { block, row, at, .. } in &self.holds {
            let (c, row, at) = (groups.points() + block as usize, row as usize, at as usize);
            gradient[at] = 0.0;
            let u = |w: &[f64]| self.sided_velocity(problem, groups, c, w)[row];
            let change = u(next) - u(&self.w);
            line.held -= next[at] * change;
            line.slope -= step[at] * change;
        }
        line.slope += gradient.iter().zip(step).map(|(g, s)| g * s).sum::<f64>();
        line
    }

    /// Largest velocity of a row that is an equality, m/s.
    pub(super) fn violation(&self, problem: &RowProblem<'_>, groups: &Groups<'_>) -> f64 {
        let mut most = 0.0_f64;
        for &Hold { block, row, at, .. } in &self.holds {
            let (c, row) = (groups.points() + block as usize, row as usize);
            let u = self.sided_velocity(problem, groups, c, &self.w)[row];
            most = most.max((u - self.compliance(problem, c, row) * self.w[at as usize]).abs());
        }
        most
    }

    /// What a row of a block that is no point gives way by itself.
    fn compliance(&self, problem: &RowProblem<'_>, c: usize, row: usize) -> f64 {
        let law = problem.law(c);
        bounds_of(&law).map_or(0.0, |bounds| bounds.compliance[row]) + problem.softness(c)
    }

    /// Slips for the next round: μ |`u_t`| of every contact.
    pub(super) fn slips(&self, problem: &RowProblem<'_>, groups: &Groups<'_>, out: &mut Vec<f64>) {
        out.clear();
        for c in 0..groups.points() {
            let u = self.velocity(problem, groups, c, &self.w);
            out.push(problem.friction()[c] * u.truncate().length());
        }
        for c in groups.points()..problem.len() {
            out.push(match problem.law(c) {
                Law::Cone { friction } => {
                    friction * self.sided_velocity(problem, groups, c, &self.w).truncate().length()
                }
                _ => 0.0,
            });
        }
    }

    fn of(&self, w: &[f64], body: usize) -> (DVec3, DVec3) {
        let at = self.at[body] as usize;
        let w = &w[at..at + 6];
        (DVec3::new(w[0], w[1], w[2]), DVec3::new(w[3], w[4], w[5]))
    }

    /// u = J w + b + s n of a point.
    fn velocity(&self, problem: &RowProblem<'_>, groups: &Groups<'_>, c: usize, w: &[f64]) -> DVec3 {
        let mut u = problem.velocity()[c] + DVec3::new(0.0, 0.0, self.shift[c]);
        for side in sides(groups, c) {
            let (turn, move_) = self.of(w, side.body);
            u += side.sign * (side.frame.transpose() * (move_ + turn.cross(side.arm)));
        }
        u
    }

    /// The same of a block that is no point.
    fn sided_velocity(&self, problem: &RowProblem<'_>, groups: &Groups<'_>, c: usize, w: &[f64]) -> DVec3 {
        let mut u = problem.velocity()[c] + DVec3::new(0.0, 0.0, self.shift[c]);
        for side in groups.sided.of(c - groups.points()) {
            match *side {
                BlockSide::Body { body, moments, forces } => {
                    let (turn, way) = self.of(w, body as usize);
                    u += moments.transpose() * turn + forces.transpose() * way;
                }
                BlockSide::Path { start, end, .. } => {
                    let at = self.at[group_of(groups, side)] as usize;
                    for (dof, y) in groups.sided.path(start, end) {
                        u += y * w[at + dof];
                    }
                }
            }
        }
        u
    }

    /// Penalties of the rows of a block that is no point, with what they give way: 1/(c + 1/ρ).
    fn stiffness(&self, law: &Law, block: usize, penalty: f64, softness: f64) -> DVec3 {
        let rho = self.rho_rows[block] * penalty;
        match law {
            Law::Bounded(bounds) => {
                let give = bounds.compliance + DVec3::splat(softness);
                rho / (DVec3::ONE + give * rho)
            }
            _ => rho,
        }
    }

    /// Impulse before it is made admissible, of a block that is no point, and its penalties.
    fn sided_target(
        &self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        (c, base): (usize, DVec3),
        penalty: f64,
        w: &[f64],
    ) -> (DVec3, DVec3) {
        let block = c - groups.points();
        let law = problem.law(c);
        let rho = self.rho_rows[block] * penalty;
        let stiffness = self.stiffness(&law, block, penalty, problem.softness(c));
        let u = self.sided_velocity(problem, groups, c, w);
        // Without compliance p₀ − ρ u.
        (base * (stiffness / rho.max(DVec3::splat(f64::MIN_POSITIVE))) - stiffness * u, stiffness)
    }

    /// Impulses at velocities w into `self.p`; returns the value of the minimum sought, without the part of equalities: see [`System::line`].
    pub(super) fn evaluate(
        &mut self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        base: &[DVec3],
        penalty: f64,
        w: &[f64],
    ) -> f64 {
        let mut value = 0.0;
        for (body, FreeBody { mass, inertia, .. }) in groups.bodies.iter().enumerate() {
            let (turn, move_) = self.of(w, body);
            value += 0.5 * (mass * move_.length_squared() + turn.dot(*inertia * turn));
        }
        for (tree, &size) in (groups.bodies.len()..).zip(groups.trees) {
            let at = self.at[tree] as usize;
            value += w[at..at + size as usize].iter().map(|x| 0.5 * x * x).sum::<f64>();
        }
        self.p.clear();
        let points = groups.points();
        for (c, base) in base[..points].iter().enumerate() {
            let rho = self.rho[c] * penalty;
            let x = *base - rho * self.velocity(problem, groups, c, w);
            let p = project_on_cone(x, problem.friction()[c]);
            value += p.length_squared() / (2.0 * rho);
            self.p.push(p);
        }
        for (c, base) in base.iter().enumerate().skip(points) {
            let (x, stiffness) = self.sided_target(problem, groups, (c, *base), penalty, w);
            let law = problem.law(c);
            let p = law.project(x, self.loads[c - points]);
            for row in 0..3 {
                let counts = bounds_of(&law).is_none_or(|b| b.is_used(row) && !b.holds(row));
                if counts && stiffness[row] > 0.0 {
                    // Of the way that is left to what is admissible only the share of the projection counts.
                    value += p[row] * (x[row] - 0.5 * p[row]) / stiffness[row];
                }
            }
            self.p.push(p);
        }
        for hold in &self.holds {
            self.p[points + hold.block as usize][hold.row as usize] = -w[hold.at as usize];
        }
        value
    }

    /// The right side into `self.step`: Jᵀ p − M w, and what equalities lack; returns its size as a velocity.
    pub(super) fn gradient(
        &mut self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        base: &[DVec3],
        w: &[f64],
    ) -> f64 {
        self.step.clear();
        self.step.resize(w.len(), 0.0);
        let points = groups.points();
        for c in 0..points {
            for side in sides(groups, c) {
                let (moment, force) = side.wrench(self.p[c]);
                let at = self.at[side.body] as usize;
                for i in 0..3 {
                    self.step[at + i] += moment[i];
                    self.step[at + 3 + i] += force[i];
                }
            }
        }
        for block in 0..groups.sided.len() {
            let p = self.p[points + block];
            for side in groups.sided.of(block) {
                let at = self.at[group_of(groups, side)] as usize;
                match *side {
                    BlockSide::Body { moments, forces, .. } => {
                        let (moment, force) = (moments * p, forces * p);
                        for i in 0..3 {
                            self.step[at + i] += moment[i];
                            self.step[at + 3 + i] += force[i];
                        }
                    }
                    BlockSide::Path { start, end, .. } => {
                        for (dof, y) in groups.sided.path(start, end) {
                            self.step[at + dof] += y.dot(p);
                        }
                    }
                }
            }
        }
        let mut size = 0.0_f64;
        for (body, FreeBody { mass, inertia, .. }) in groups.bodies.iter().enumerate() {
            let (turn, move_) = self.of(w, body);
            let at = self.at[body] as usize;
            let (momentum, moment) = (*mass * move_, *inertia * turn);
            for i in 0..3 {
                self.step[at + i] -= moment[i];
                self.step[at + 3 + i] -= momentum[i];
            }
            let linear = DVec3::new(self.step[at + 3], self.step[at + 4], self.step[at + 5]).length() / mass;
            let angular = DVec3::new(self.step[at], self.step[at + 1], self.step[at + 2]);
            // A turn counts as the speed at the radius of gyration.
            let scale = ((inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z) / 3.0 * mass).sqrt();
            size = size.max(linear).max(angular.length() / scale);
        }
        for (tree, &count) in (groups.bodies.len()..).zip(groups.trees) {
            let at = self.at[tree] as usize;
            let span = at..at + count as usize;
            for (step, w) in self.step[span.clone()].iter_mut().zip(&w[span]) {
                *step -= w;
                size = size.max(step.abs() * self.tree_scale);
            }
        }
        for &Hold { block, row, at, epsilon } in &self.holds {
            let c = points + block as usize;
            let row = row as usize;
            let p = -w[at as usize];
            let u = self.sided_velocity(problem, groups, c, w)[row];
            let lacks = u + self.compliance(problem, c, row) * p + epsilon * (p - base[c][row]);
            self.step[at as usize] = -lacks;
            size = size.max(lacks.abs());
        }
        size
    }

    /// The matrix, factorised.
    pub(super) fn factor(
        &mut self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        base: &[DVec3],
        penalty: f64,
    ) -> bool {
        // Equalities alone have one matrix.
        if self.constant && self.matrix.is_factored() {
            return true;
        }
        self.matrix.reset(self.lowest.iter().copied());
        for (body, FreeBody { mass, inertia, .. }) in groups.bodies.iter().enumerate() {
            let at = self.at[body] as usize;
            for i in 0..3 {
                for j in 0..=i {
                    self.matrix.add(at + i, at + j, inertia.col(j)[i]);
                }
                self.matrix.add(at + 3 + i, at + 3 + i, *mass);
            }
        }
        for (tree, &size) in (groups.bodies.len()..).zip(groups.trees) {
            let at = self.at[tree] as usize;
            (at..at + size as usize).for_each(|k| self.matrix.add(k, k, 1.0));
        }
        let points = groups.points();
        for (c, base) in base[..points].iter().enumerate() {
            let rho = self.rho[c] * penalty;
            let x = *base - rho * self.velocity(problem, groups, c, &self.w);
            let d = derivative(x, problem.friction()[c]) * rho;
            if d == DMat3::ZERO {
                continue;
            }
            for a in sides(groups, c) {
                // Rows of Jᵀ of this side times D: moments and forces.
                let rows = a.columns();
                let left = [rows[0] * d, rows[1] * d];
                for b in sides(groups, c) {
                    let (p, q) = (self.at[a.body] as usize, self.at[b.body] as usize);
                    if q > p {
                        continue;
                    }
                    let right = b.columns();
                    let sign = a.sign * b.sign;
                    for (i, left) in left.iter().enumerate() {
                        for (j, right) in right.iter().enumerate() {
                            let block = *left * right.transpose();
                            for r in 0..3 {
                                for s in 0..3 {
                                    let (row, column) = (p + 3 * i + r, q + 3 * j + s);
                                    if column <= row {
                                        self.matrix.add(row, column, sign * block.col(s)[r]);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        self.add_sided(problem, groups, base, penalty);
        if self.holds.is_empty() { self.matrix.factor() } else { self.matrix.factor_indefinite() }
    }

    /// The part of the blocks that are no points.
    fn add_sided(&mut self, problem: &RowProblem<'_>, groups: &Groups<'_>, base: &[DVec3], penalty: f64) {
        let points = groups.points();
        let mut rows = std::mem::take(&mut self.rows);
        for block in 0..groups.sided.len() {
            let c = points + block;
            let law = problem.law(c);
            let (x, stiffness) = self.sided_target(problem, groups, (c, base[c]), penalty, &self.w);
            let d = match law {
                Law::Cone { friction } => derivative(x, friction) * stiffness.z,
                Law::Bounded(bounds) => {
                    let inside = |row: usize| {
                        let free = bounds.is_used(row) && !bounds.holds(row);
                        if free && x[row] > bounds.low[row] && x[row] < bounds.high[row] { 1.0 } else { 0.0 }
                    };
                    DMat3::from_diagonal(DVec3::new(inside(0), inside(1), inside(2)) * stiffness)
                }
                Law::Turning(turning) => {
                    turning_derivative(x, turning.bounds(self.loads[block])) * DMat3::from_diagonal(stiffness)
                }
                _ => DMat3::ZERO,
            };
            if d == DMat3::ZERO {
                continue;
            }
            self.entries(groups, block, &mut rows);
            for &(i, a) in &rows {
                let left = d * a;
                for &(j, b) in rows.iter().filter(|(j, _)| *j <= i) {
                    self.matrix.add(i, j, left.dot(b));
                }
            }
        }
        for k in 0..self.holds.len() {
            let Hold { block, row, at, epsilon } = self.holds[k];
            let (c, row, at) = (points + block as usize, row as usize, at as usize);
            self.matrix.add(at, at, -(self.compliance(problem, c, row) + epsilon));
            self.entries(groups, block as usize, &mut rows);
            for &(i, a) in rows.iter().filter(|(_, a)| a[row] != 0.0) {
                self.matrix.add(at.max(i), at.min(i), a[row]);
            }
        }
        self.rows = rows;
    }

    /// Variables that a block acts on, with its three rows.
    fn entries(&self, groups: &Groups<'_>, block: usize, out: &mut Vec<(usize, DVec3)>) {
        out.clear();
        for side in groups.sided.of(block) {
            let at = self.at[group_of(groups, side)] as usize;
            match side {
                BlockSide::Body { moments, forces, .. } => {
                    let (moments, forces) = (moments.transpose(), forces.transpose());
                    out.extend((0..3).map(|i| (at + i, moments.col(i))));
                    out.extend((0..3).map(|i| (at + 3 + i, forces.col(i))));
                }
                BlockSide::Path { start, end, .. } => {
                    out.extend(groups.sided.path(*start, *end).map(|(dof, y)| (at + dof, y)));
                }
            }
        }
    }

    /// Solves with the factor, in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        if self.holds.is_empty() { self.matrix.solve(x) } else { self.matrix.solve_indefinite(x) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn the_derivative_of_the_projection_on_bounds_of_turning_is_right() {
        let mut random = SplitMix64(7);
        for _ in 0..2000 {
            let x = random.vec3(1.0);
            let turning = Turning { contact: 0, rolling: random.unit(), torsional: random.unit() };
            let of = |x| turning_derivative(x, turning.bounds(0.7));
            for axis in 0..3 {
                let step = DVec3::AXES[axis] * 1e-6;
                let slope = (turning.clamp(x + step, 0.7) - turning.clamp(x - step, 0.7)) / 2e-6;
                let same = of(x + step).abs_diff_eq(of(x), 1e-3) && of(x - step).abs_diff_eq(of(x), 1e-3);
                assert!(!same || (slope - of(x).col(axis)).length() < 1e-4, "{x}: {slope}");
            }
        }
    }

    #[test]
    fn the_derivative_of_the_projection_is_right() {
        let mut random = SplitMix64(6);
        for k in 0..2000 {
            let (x, mu) = (random.vec3(1.0), [0.0, 0.3, 1.0][k % 3]);
            let d = derivative(x, mu);
            for axis in 0..3 {
                let step = DVec3::AXES[axis] * 1e-6;
                let slope = (project_on_cone(x + step, mu) - project_on_cone(x - step, mu)) / 2e-6;
                // Steps across an edge of the pieces do not count.
                let same = derivative(x + step, mu).abs_diff_eq(d, 1e-3)
                    && derivative(x - step, mu).abs_diff_eq(d, 1e-3);
                assert!(
                    !same || (slope - d.col(axis)).length() < 1e-4,
                    "{x}: {slope} against {}",
                    d.col(axis)
                );
            }
        }
    }
}
