//! One frame: values of all rows so that what constraints hold has no error at its end.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.4.3, 3.4.4 and 3.4.6.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | R | values of rows | N, N·m |
//! | C | their errors at the end of the frame | m, rad |
//! | J | ∂C/∂R, once per frame | |
//! | S | stiffness | - |
//!
//! # Formula
//!
//! ```text
//! R ← guess;   while |C| > max_error:  ΔR = −J⁻¹ S C;   R ← R + ΔR,  C anew;   if |C| did not fall: R ← R − ΔR, better J, or another method
//! then values beyond their bounds are put there, and values at bounds that would leave them become free; again
//! ```
//!
//! # Cost
//!
//! Per iteration one solution with factors of the frame and one integration of each body.
//!
//! # Numerics
//!
//! J is good to a share of order h, so an iteration leaves a share of order h of the error. Because C looks through the integrator itself, places do
//! not drift. A correction that makes the error larger, or not finite, is taken back; J is then found by trying, which is exact, and after that the
//! method of solution is changed.
//!
//! # Failure
//!
//! [`ReactionError`]. Not to be exact enough is no failure: see [`ReactionReport::unsolved`] and [`SolverEvent::NotConverged`].
//!
//! # Tested by
//!
//! `tests/reaction.rs`

use super::{
    body::{PointForce, ReactionBody, integrate},
    constraint::{Constraints, Equation, RowTable},
    derivatives::BodyResponse,
    graph::Span,
    jacobian::exerted,
    joint::is_limit,
    linear::{LIFTS, Linear},
    params::{
        Bound, JacobianKind, PartMemory, ReactionError, ReactionParams, ReactionReport, ReactionState,
        SolverEvent, WarmStart,
    },
    workspace::ReactionWorkspace,
};
use sim_math::{dense::SolveMethod, integrate::Integrator, spatial::Force};

/// Most times that values go to their bounds or leave them in a frame.
const PASSES: u32 = 12;
/// Iterations after which something is not as it should be.
const SLOW: u32 = 5;
/// Error, as a share of the size of the scene, below which rounding decides whether it falls.
const ROUNDING: f64 = 1e-13;

/// Everything that a frame works on.
pub(super) struct Frame<'a> {
    pub(super) bodies: &'a [ReactionBody],
    pub(super) set: &'a mut dyn Constraints,
    pub(super) params: &'a ReactionParams,
    integrator: &'a dyn Integrator,
    test: &'a dyn Integrator,
    pub(super) h: f64,
    pub(super) ws: &'a mut ReactionWorkspace,
    pub(super) evaluations: u64,
    pub(super) test_evaluations: u64,
    pub(super) testing: bool,
}

/// Solves a frame of `h` seconds. The states at its end are in the workspace; `test` integrates test forces, if it is given.
///
/// # Errors
/// [`ReactionError`]; the state is then as it was.
#[allow(clippy::too_many_arguments, reason = "each is a part that is exchanged on its own")]
pub fn solve_frame(
    bodies: &[ReactionBody],
    set: &mut dyn Constraints,
    state: &mut ReactionState,
    params: &ReactionParams,
    integrator: &dyn Integrator,
    test: Option<&dyn Integrator>,
    h: f64,
    ws: &mut ReactionWorkspace,
) -> Result<ReactionReport, ReactionError> {
    params.validate()?;
    if !(h > 0.0 && h.is_finite()) {
        return Err(ReactionError::Parameter { what: "h", value: h });
    }
    let test = test.unwrap_or(integrator);
    let mut frame = Frame {
        bodies,
        set,
        params,
        integrator,
        test,
        h,
        ws,
        evaluations: 0,
        test_evaluations: 0,
        testing: false,
    };
    frame.begin(state)?;
    let mut report = frame.solve(state)?;
    let Frame { ws, evaluations, test_evaluations, .. } = frame;
    for (row, memory) in state.rows.iter_mut().enumerate() {
        memory.keep(ws.values[row], ws.bounds[row]);
    }
    state.frames += 1;
    (report.evaluations, report.test_evaluations) = (evaluations, test_evaluations);
    Ok(report)
}

impl Frame<'_> {
    fn begin(&mut self, state: &mut ReactionState) -> Result<(), ReactionError> {
        let ws = &mut *self.ws;
        ws.events.clear();
        let RowTable { rows, now, sites, sides } = &mut ws.table;
        rows.clear();
        now.clear();
        sites.clear();
        sides.clear();
        ws.graph.spans.clear();
        for constraint in 0..self.set.count() {
            if let Some(&body) =
                self.set.bodies(constraint).iter().find(|b| **b as usize >= self.bodies.len())
            {
                return Err(ReactionError::UnknownBody { constraint, body });
            }
            let table = &mut ws.table;
            let (row, site, first_side) = (table.rows.len(), table.sites.len(), table.sides.len());
            self.set.begin(constraint, self.bodies, self.h, table);
            let (rows, sites) = (row..table.rows.len(), site..table.sites.len());
            ws.graph.spans.push(Span { rows, sites, first_side });
        }
        let fresh = ws.graph.update(self.bodies, self.set, &ws.table);
        let (count, parts) = (ws.table.rows.len(), ws.graph.parts.len());
        state.fit(ws.graph.spans.iter().map(|s| s.rows.len() as u32));
        if fresh || state.parts.len() != parts {
            state.parts.resize(parts, PartMemory { method: self.params.method, ..PartMemory::default() });
            ws.systems.resize_with(parts, Linear::new);
            ws.systems.iter_mut().for_each(Linear::forget);
        }
        ws.responses.clear();
        ws.responses.extend(self.bodies.iter().map(BodyResponse::of));
        self.find_answers();
        let share = if state.frames % u64::from(self.params.velocity_every) == 0 {
            self.params.velocity_share
        } else {
            0.0
        };
        let ws = &mut *self.ws;
        let RowTable { rows, now, .. } = &ws.table;
        ws.equations.clear();
        ws.equations.extend(
            rows.iter().zip(now).zip(&ws.ease).map(|((r, n), e)| Equation::new(r, *n, *e, share, self.h)),
        );
        // What hits its limit in this frame is thrown back; what is there already stays.
        for (equation, memory) in ws.equations.iter_mut().zip(&state.rows) {
            if memory.known > 0 && memory.bound == Bound::Free {
                equation.settle();
            }
        }
        self.guess(state);
        let ws = &mut *self.ws;
        for list in [&mut ws.errors, &mut ws.diagonal] {
            list.clear();
            list.resize(count, 0.0);
        }
        ws.ends.clear();
        ws.ends.resize(count, [0.0; 2]);
        ws.next.clear();
        ws.next.extend(self.bodies.iter().map(|b| b.state));
        for body in 0..self.bodies.len() as u32 {
            if !self.bodies[body as usize].is_free() || self.ws.graph.held(body).is_empty() {
                self.predict_body(body)?;
            }
        }
        Ok(())
    }

    /// First values and bounds of all rows.
    fn guess(&mut self, state: &ReactionState) {
        let ws = &mut *self.ws;
        ws.values.clear();
        ws.bounds.clear();
        for ((memory, equation), row) in state.rows.iter().zip(&ws.equations).zip(&ws.table.rows) {
            let bound = if is_limit(row.law) && memory.known == 0 { Bound::Low } else { memory.bound };
            let guess = memory.guess(self.params.warm_start).clamp(equation.low, equation.high);
            ws.values.push(match bound {
                Bound::Free => guess,
                Bound::Low => equation.low,
                Bound::High => equation.high,
            });
            ws.bounds.push(bound);
        }
        if self.params.warm_start != WarmStart::Linear {
            return;
        }
        // What bodies do not feel would go on along its line for ever.
        for (part, _) in ws.graph.parts.iter().zip(&state.parts).filter(|(_, memory)| memory.wary > 0) {
            for &constraint in &ws.graph.order[part.constraints.clone()] {
                for row in ws.graph.spans[constraint as usize].rows.clone() {
                    if ws.bounds[row] == Bound::Free {
                        let (memory, equation) = (&state.rows[row], &ws.equations[row]);
                        ws.values[row] = memory.guess(WarmStart::Constant).clamp(equation.low, equation.high);
                    }
                }
            }
        }
    }

    /// Where a body will be with the present values.
    pub(super) fn predict_body(&mut self, body: u32) -> Result<(), ReactionError> {
        let integrator = if self.testing { self.test } else { self.integrator };
        let given = &self.bodies[body as usize];
        let ws = &mut *self.ws;
        ws.forces.clear();
        let mut extra = Force::ZERO;
        for &held in ws.graph.held(body) {
            let span = &ws.graph.spans[held.constraint as usize];
            let (force, torque) = exerted(&ws.graph.spans, &ws.table.sides, &ws.values, held);
            let point = ws.table.sites[span.sites.start + held.site as usize].point;
            extra.moment += torque;
            ws.forces.push(PointForce { point, force });
        }
        let (state, evaluations) = integrate(given, extra, &ws.forces, self.h, integrator, &mut ws.ode)
            .map_err(|source| ReactionError::Body { body, source })?;
        self.evaluations += u64::from(evaluations);
        ws.next[body as usize] = state;
        Ok(())
    }

    /// Where the bodies of a part will be.
    pub(super) fn predict(&mut self, part: usize) -> Result<(), ReactionError> {
        for k in self.ws.graph.parts[part].bodies.clone() {
            let body = self.ws.graph.free[k];
            self.predict_body(body)?;
        }
        Ok(())
    }

    /// Places and rates of the rows of a constraint at the end of the frame.
    pub(super) fn measure(&mut self, constraint: u32) {
        let rows = self.ws.graph.spans[constraint as usize].rows.clone();
        let ws = &mut *self.ws;
        self.set.measure(constraint as usize, &ws.next, &mut ws.ends[rows]);
    }

    /// Errors of a part, and their norm.
    fn find_errors(&mut self, part: usize) -> f64 {
        let mut sum = 0.0;
        for k in self.ws.graph.parts[part].constraints.clone() {
            let constraint = self.ws.graph.order[k];
            self.measure(constraint);
            let ws = &mut *self.ws;
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let (equation, value) = (&ws.equations[row], ws.values[row]);
                let error = match ws.bounds[row] {
                    Bound::Free => equation.error(ws.ends[row], value),
                    Bound::Low => (value - equation.low) * ws.diagonal[row],
                    Bound::High => (value - equation.high) * ws.diagonal[row],
                };
                ws.errors[row] = error;
                sum += error * error;
            }
        }
        sum.sqrt()
    }

    fn solve(&mut self, state: &mut ReactionState) -> Result<ReactionReport, ReactionError> {
        let count = self.ws.table.rows.len();
        let parts = self.ws.graph.parts.len();
        let mut report = ReactionReport { unknowns: count, parts, ..Default::default() };
        let largest = self.bodies.iter().fold(1e-3, |m: f64, b| m.max(b.state.pose.translation.length()));
        let due = state.frames % u64::from(self.params.jacobian_every) == 0;
        let (mut sum, mut first) = (0.0, 0.0);
        for part in 0..parts {
            let size = self.ws.graph.parts[part].size;
            self.predict(part)?;
            if size == 0 {
                continue;
            }
            let mut run = Run {
                target: self.params.max_error * (size as f64 / count as f64).sqrt(),
                floor: ROUNDING * largest * (size as f64).sqrt(),
                fresh: due || self.ws.systems[part].size != size,
                ..Run::default()
            };
            self.solve_part(part, &mut state.parts[part], &mut run)?;
            report.iterations = report.iterations.max(run.iterations);
            report.total_iterations += run.iterations;
            report.unsolved += u32::from(run.unsolved);
            sum += run.error * run.error;
            first += run.first_error * run.first_error;
        }
        (report.error, report.first_error) = (sum.sqrt(), first.sqrt());
        Ok(report)
    }

    /// Newton's method and bounds in turn.
    fn solve_part(
        &mut self,
        part: usize,
        memory: &mut PartMemory,
        run: &mut Run,
    ) -> Result<(), ReactionError> {
        memory.method = memory.method.max(self.params.method);
        if run.fresh {
            self.find_jacobian(part)?;
            self.ws.systems[part].lift = LIFTS[usize::from(memory.wary > 0)];
        }
        self.find_diagonal(part);
        run.error = self.find_errors(part);
        run.first_error = run.error;
        for pass in 0..PASSES {
            self.newton(part, memory, run)?;
            if pass + 1 < PASSES && self.move_bounds(part) {
                self.ws.systems[part].ready = false;
                self.predict(part)?;
                run.error = self.find_errors(part);
            } else {
                break;
            }
        }
        let constraint = self.first_of(part);
        if run.error <= run.target.max(run.floor) {
            memory.good += 1;
            memory.wary = memory.wary.saturating_sub(1);
            if memory.method > self.params.method && memory.good >= self.params.retry_after {
                let (from, to) = (memory.method, self.params.method);
                self.ws.events.push(SolverEvent::Switched { constraint, from, to, error: 0.0 });
                *memory = PartMemory { method: to, good: 0, wary: memory.wary };
                self.ws.systems[part].forget();
            }
        } else if self.params.max_error >= 0.0 {
            run.unsolved = true;
            memory.good = 0;
            let (error, iterations) = (run.error, run.iterations);
            self.ws.events.push(SolverEvent::NotConverged { constraint, error, iterations });
        }
        Ok(())
    }

    fn first_of(&self, part: usize) -> u32 {
        let range = self.ws.graph.parts[part].constraints.clone();
        self.ws.graph.order[range].iter().copied().min().unwrap_or(0)
    }

    fn find_diagonal(&mut self, part: usize) {
        let ws = &mut *self.ws;
        for &constraint in &ws.graph.order[ws.graph.parts[part].constraints.clone()] {
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let place = ws.graph.place[row] as usize;
                let entry = ws.systems[part].get(place, place);
                ws.diagonal[row] = if entry > 0.0 { entry } else { 1.0 };
            }
        }
    }

    fn newton(&mut self, part: usize, memory: &mut PartMemory, run: &mut Run) -> Result<(), ReactionError> {
        let exactly = self.params.max_error < 0.0;
        while exactly || run.error > run.target {
            if run.iterations >= self.params.max_iterations {
                return Ok(());
            }
            if run.iterations == SLOW && !exactly && memory.wary == 0 && memory.method == SolveMethod::Lu {
                self.be_wary(part, memory);
            }
            let stepped = self.find_step(part, memory.method);
            if stepped && run.moves < PASSES && self.stop_at_bounds(part) {
                run.moves += 1;
                self.ws.systems[part].ready = false;
                self.predict(part)?;
                run.error = self.find_errors(part);
                continue;
            }
            let kept = if stepped { Some(self.take_step(part, 1.0)?) } else { None };
            match kept {
                Some(error) if error < run.error || (error <= run.floor && error.is_finite()) => {
                    if self.params.broyden {
                        self.learn(part);
                    }
                    run.error = error;
                    run.iterations += 1;
                }
                _ => {
                    if kept.is_some() {
                        self.take_step(part, -1.0)?;
                        self.find_errors(part);
                    }
                    if run.error <= run.floor {
                        return Ok(());
                    }
                    if !self.improve(part, memory, run)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// After a step that was refused: new derivatives, or another method; false if there is none.
    fn improve(
        &mut self,
        part: usize,
        memory: &mut PartMemory,
        run: &mut Run,
    ) -> Result<bool, ReactionError> {
        if memory.method == SolveMethod::Lu && self.ws.systems[part].lift < LIFTS[1] {
            self.be_wary(part, memory);
            return Ok(true);
        }
        let analytic = self.params.jacobian == JacobianKind::Analytic;
        if !run.fresh || (analytic && !run.exact) {
            if run.fresh {
                run.exact = true;
                self.find_true_jacobian(part)?;
            } else {
                run.fresh = true;
                self.find_jacobian(part)?;
            }
            self.ws.systems[part].lift = LIFTS[1];
            self.find_diagonal(part);
            run.error = self.find_errors(part);
            return Ok(true);
        }
        let from = memory.method;
        let to = match from {
            SolveMethod::Lu => SolveMethod::ConjugateGradient,
            SolveMethod::ConjugateGradient if self.ws.systems[part].size <= super::linear::MOST_FOR_SVD => {
                SolveMethod::Svd
            }
            _ => return Ok(false),
        };
        *memory = PartMemory { method: to, good: 0, wary: memory.wary };
        self.ws.systems[part].ready = false;
        let constraint = self.first_of(part);
        self.ws.events.push(SolverEvent::Switched { constraint, from, to, error: run.error });
        Ok(true)
    }

    /// Keeps values small that bodies do not feel, for some frames.
    fn be_wary(&mut self, part: usize, memory: &mut PartMemory) {
        let system = &mut self.ws.systems[part];
        system.forget();
        system.lift = LIFTS[1];
        memory.wary = self.params.retry_after;
    }

    /// ΔR; false if no solution is found.
    fn find_step(&mut self, part: usize, method: SolveMethod) -> bool {
        let size = self.ws.graph.parts[part].size;
        let ws = &mut *self.ws;
        for list in [&mut ws.side, &mut ws.step, &mut ws.change] {
            list.resize(size, 0.0);
            list.fill(0.0);
        }
        let order = &ws.graph.order[ws.graph.parts[part].constraints.clone()];
        ws.near.clear();
        ws.near.resize(size, 0);
        let lift = ws.systems[part].lift;
        let lift = if lift >= LIFTS[1] && method == SolveMethod::Lu { lift } else { 0.0 };
        for &constraint in order {
            let stiffness = self.params.stiffness * self.set.stiffness(constraint as usize);
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let place = ws.graph.place[row] as usize;
                let free = ws.bounds[row] == Bound::Free;
                ws.side[place] = -ws.errors[row] * if free { stiffness } else { 1.0 };
                if free && lift > 0.0 && ws.equations[row].high == f64::INFINITY {
                    // Towards zero where bodies do not feel it.
                    ws.side[place] -= lift * ws.diagonal[row] * ws.values[row];
                }
                ws.near[place] = u32::from(!free);
            }
        }
        let system = &mut ws.systems[part];
        if !system.ready && system.prepare(method, &|i| ws.near[i] != 0).is_err() {
            return false;
        }
        let solved = system.solve(&ws.side, &mut ws.step);
        // An iteration that ends early has come nearer all the same.
        let usable = solved.is_ok() || method == SolveMethod::ConjugateGradient;
        usable && ws.step.iter().all(|x| x.is_finite())
    }

    /// R + sign ΔR, and the error there; not a number if a body cannot be integrated.
    fn take_step(&mut self, part: usize, sign: f64) -> Result<f64, ReactionError> {
        let ws = &mut *self.ws;
        for &constraint in &ws.graph.order[ws.graph.parts[part].constraints.clone()] {
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let place = ws.graph.place[row] as usize;
                ws.values[row] += sign * ws.step[place];
                ws.change[place] = ws.errors[row];
            }
        }
        match self.predict(part) {
            Ok(()) => Ok(self.find_errors(part)),
            Err(_) if sign > 0.0 => Ok(f64::NAN),
            Err(error) => Err(error),
        }
    }

    fn learn(&mut self, part: usize) {
        let ws = &mut *self.ws;
        for &constraint in &ws.graph.order[ws.graph.parts[part].constraints.clone()] {
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let place = ws.graph.place[row] as usize;
                ws.change[place] = ws.errors[row] - ws.change[place];
            }
        }
        ws.systems[part].learn(&ws.step, &ws.change, &mut ws.learn);
    }

    /// Puts values at the bounds that a step would take them across: of two laws that want different things the weaker gives way.
    fn stop_at_bounds(&mut self, part: usize) -> bool {
        let mut any = false;
        let ws = &mut *self.ws;
        for &constraint in &ws.graph.order[ws.graph.parts[part].constraints.clone()] {
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let equation = &ws.equations[row];
                let wanted = ws.values[row] + ws.step[ws.graph.place[row] as usize];
                let (bound, value) = match ws.bounds[row] {
                    Bound::Free if wanted < equation.low => (Bound::Low, equation.low),
                    Bound::Free if wanted > equation.high => (Bound::High, equation.high),
                    _ => continue,
                };
                (ws.bounds[row], ws.values[row], any) = (bound, value, true);
            }
        }
        any
    }

    /// Puts values beyond their bounds there, and frees those at bounds that their equations pull away; true if any changed.
    fn move_bounds(&mut self, part: usize) -> bool {
        let mut any = false;
        let ws = &mut *self.ws;
        for &constraint in &ws.graph.order[ws.graph.parts[part].constraints.clone()] {
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let (equation, value) = (&ws.equations[row], ws.values[row]);
                let wanted = equation.gate(ws.ends[row], value);
                let slack = self.params.max_error.abs().max(1e-12);
                let bound = match ws.bounds[row] {
                    Bound::Free if value < equation.low => Bound::Low,
                    Bound::Free if value > equation.high => Bound::High,
                    Bound::Low if wanted < -slack && equation.high > equation.low => Bound::Free,
                    Bound::High if wanted > slack && equation.high > equation.low => Bound::Free,
                    same => same,
                };
                if bound != ws.bounds[row] {
                    any = true;
                    ws.bounds[row] = bound;
                    match bound {
                        Bound::Low => ws.values[row] = equation.low,
                        Bound::High => ws.values[row] = equation.high,
                        Bound::Free => {}
                    }
                }
            }
        }
        any
    }
}

/// How far a part is.
#[derive(Debug, Default)]
struct Run {
    target: f64,
    floor: f64,
    error: f64,
    first_error: f64,
    iterations: u32,
    fresh: bool,
    exact: bool,
    moves: u32,
    unsolved: bool,
}
