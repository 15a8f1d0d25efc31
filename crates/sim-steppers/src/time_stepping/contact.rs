//! The contact problem of a step.
//!
//! # Reference
//!
//! Stewart and Trinkle (1996); Cline (2002), sections 2.7.3 and 4.3.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h | length of the step | s |
//! | v, v⁺ | velocities before and after | m/s, rad/s |
//! | g | gap of a contact | m |
//!
//! # Formula
//!
//! ```text
//! v⁺ = v + h a + M⁻¹ Jᵀ p,    g/h + J_n v⁺ ≥ 0 ⊥ p_n ≥ 0  (0 in place of g < 0, or its share by Baumgarte),    friction: Coulomb's law
//! x⁺ = x + h v⁺ for bodies that a contact pushes, the exact parabola for all others
//! energy: ΔE = p · J v⁺ − ½ |v⁺ − v|²_M: contacts take (p_n J_n v⁺ = −p_n g/h, friction opposes J_t v⁺), and so does the length of the step
//! ```
//!
//! # Cost
//!
//! One assembly for all contacts (of the diagonal alone, for laws that need no rows), one solution per island; starts from the impulses of the last step.
//!
//! # Numerics
//!
//! First order in h. Contacts at a distance act only if the bodies would meet within the step. Islands of a few contacts and islands that hardly move are
//! solved as well as the law can; heaps in motion to a thousandth of their speed or of what forces add to it in a step, or as far as the law's budget goes:
//! the report has the residual that was left, and counts the problems that were left unsolved.
//!
//! # Failure
//!
//! [`StepError::ContactLaw`] naming a body of the island. A budget used up is counted, and the impulses used.
//!
//! # Tested by
//!
//! `tests/time_resting.rs`, `tests/time_friction.rs`, `tests/time_falling.rs`

use super::{
    contact_events::Push,
    forces, foresee,
    impact::{self, contact_at},
    joined,
    params::Stabilization,
    rest, restrain,
    sites::Previous,
    state::{Books, Detection, IslandSpan, Memory, Mixed, Problem, Setup, StepBodies},
    stepper::Stage,
    struck,
    traction::{self, SiteTraction},
    trees, turn_limit,
};
use constraint_dynamics::{
    Delassus, Islands,
    pool::{self, PoolBlocks},
    soften::Settled,
};
use rigid_impulse::{BodyKind, CollisionKind};
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::{RowError, RowProblem};
use sim_world::{Body, ContactWork, Event, EventKind, Listing, StepError, StepperAccess, World};
use std::ops::Range;

/// Islands of so few contacts are solved as well as rounding allows, however fast they move.
const FEW: usize = 32;
/// Islands with joints of so many contacts are solved as well as the law can.
const MANY_JOINTED: usize = 64;
/// Slower ones too, as a share of the speed that forces give in a step: they come to rest.
const SLOW: f64 = 0.0125;
/// What may be left of the velocities that contacts have to answer: this share of the speed of bodies, of the speed that forces give in a step, or of a
/// tenth of the smallest body in a step, whichever is least.
const SHARE: f64 = 1e-3;
const SIZE_SHARE: f64 = 0.1;

/// Groups the chosen sites by islands.
pub(super) fn islands_of_chosen(found: &Detection, bodies: &StepBodies, problem: &mut Problem) {
    let (sites, pool) = (&found.sites.all, &bodies.pool);
    let pairs = problem.chosen.iter().map(|&k| sites[k as usize].bodies);
    let pairs = pairs.chain(problem.joined.pairs.iter().copied());
    problem.islands.find(pool.len(), pairs, |k| pool[k as usize].is_movable());
}

/// How long a step may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    /// At most, s.
    pub(super) h: f64,
    /// Length of the whole step if it may be cut at bounces, s.
    pub(super) bouncing: Option<f64>,
    /// It may be cut where bodies would turn too far.
    pub(super) may_shorten: bool,
}

/// Solves the contacts of a step as long as allowed, or shorter: velocities in the pool are then those of its end, and its length is returned.
pub(super) fn solve_contacts(
    setup: &mut Setup,
    found: &mut Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    mut length: Length,
) -> Result<f64, StepError> {
    books.trace(Stage::Forces);
    let mut bent = false;
    let mut round = 0;
    loop {
        let h = length.h;
        problem.h = h;
        problem.joined.drop_extras();
        forces::force_changes(bodies, problem, world, h);
        trees::kick(bodies, world, h)?;
        for (body, body_step) in bodies.pool.iter_mut().zip(&bodies.body_steps) {
            body.velocity = body_step.start + body_step.force_change;
        }
        traction::read_traction(found, &mut problem.tractions, world);
        let Problem { joined, tractions, memory, .. } = problem;
        if rest::try_rest(setup, found, bodies, joined, tractions, memory, h) {
            books.trace(Stage::Rows);
            books.trace(Stage::Solve);
            clear_debts(setup, found, bodies, &mut problem.memory);
            rest::hold(found, bodies, &problem.memory, books, world, h, true);
            problem.memory.last_step = h;
            books.report.solver.imbalance = 0.0;
            book_step(bodies, problem, world, h);
            return Ok(h);
        }
        joined::prepare_joints(setup, bodies, &mut problem.joined, world, h, !bent);
        let unsolved = books.report.solver.unsolved;
        solve_all(setup, found, bodies, problem, books, world, length.bouncing.is_some())?;
        if trees::missed_limits(bodies, h) {
            continue;
        }
        // Where joints take bodies is known better now.
        if !bent
            && unsolved == books.report.solver.unsolved
            && joined::joints_bend(setup, bodies, &mut problem.joined, world, h)
        {
            bent = true;
            continue;
        }
        bent = false;
        let late = round > struck::MOST / 2;
        if round == struck::MOST || !improve(setup, found, bodies, problem, world, &mut length, late)? {
            break;
        }
        round += 1;
    }
    let h = problem.h;
    clear_debts(setup, found, bodies, &mut problem.memory);
    rest::hold(found, bodies, &problem.memory, books, world, h, false);
    joined::mark_jointed(bodies, &problem.joined);
    trees::mark_links(bodies);
    book_contacts(found, bodies, problem, books, world, h);
    joined::book_joints(bodies, &mut problem.joined, books, world, h);
    if !problem.tractions.is_empty() {
        traction::book_turning(bodies, problem, world);
    }
    for (k, site) in found.sites.all.iter().enumerate() {
        // What sleeps keeps its impulses until it wakes.
        let moves = site.bodies.iter().any(|slot| bodies.pool[*slot as usize].is_movable());
        if !problem.memory.resting.held[k] && moves {
            found.sites.impulses[k] = Previous::solved(DVec3::ZERO);
        }
    }
    for (m, &k) in problem.order.iter().enumerate() {
        let impulse = problem.contacts[m].frame * problem.impulses[m];
        found.sites.impulses[k as usize] = Previous::solved(impulse);
    }
    problem.joined.drop_extras();
    problem.memory.last_step = h;
    Ok(h)
}

/// Looks at where the solution of the step would take the bodies; true if another problem is to be solved in its place, with other contacts or a
/// shorter step. Where it is late, the step ends before bounces that were not seen.
fn improve(
    setup: &mut Setup,
    found: &mut Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    world: &World,
    length: &mut Length,
    late: bool,
) -> Result<bool, StepError> {
    let Length { h, bouncing, may_shorten } = *length;
    let (first, stopped) = impact::sooner_bounce(setup, found, bodies, problem, h, late || !may_shorten);
    let mut shorter = first;
    if may_shorten {
        shorter = turn_limit::turn_limit(found, bodies, shorter);
        if shorter >= h && !stopped {
            shorter = foresee::foresee(setup, found, bodies, world, shorter);
        }
    }
    let shorter = world.time() + shorter - world.time();
    if shorter > 0.0 && shorter < h {
        length.h = shorter;
        return Ok(true);
    }
    if stopped {
        return Ok(true);
    }
    if !struck::reach_with_solution(setup, found, bodies, world, h)? {
        return Ok(false);
    }
    for (body, body_step) in bodies.pool.iter_mut().zip(&bodies.body_steps) {
        body.velocity = body_step.start;
    }
    impact::find_bounces(setup, found, bodies, problem, bouncing);
    Ok(true)
}

/// Nobody owes anything; those that overlap are noted.
fn clear_debts(setup: &Setup, found: &Detection, bodies: &StepBodies, memory: &mut Memory) {
    memory.debts.clear(bodies.pool.len());
    for site in found.sites.all.iter().filter(|site| site.gap < -setup.params.slop) {
        memory.debts.overlapped(site.bodies);
    }
}

/// Solves the contact problems of a step of `h` seconds, given the velocities without contact in the pool.
fn solve_all(
    setup: &mut Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &World,
    cut: bool,
) -> Result<(), StepError> {
    let h = problem.h;
    // What flies to a bounce is not stopped on the way: its time is not before the end of the step.
    let mut chosen = std::mem::take(&mut problem.chosen);
    chosen.clear();
    chosen.extend((0..found.sites.all.len() as u32).filter(|&k| {
        let site = &found.sites.all[k as usize];
        let stuck = site.bodies.iter().all(|slot| !bodies.pool[*slot as usize].is_movable());
        !(cut && problem.bouncing[k as usize]) && site.gap < f64::INFINITY && !stuck
    }));
    problem.chosen = chosen;
    islands_of_chosen(found, bodies, problem);
    books.trace(Stage::Rows);
    problem.contacts.clear();
    problem.order.clear();
    problem.spans.clear();
    problem.memory.resting.held.clear();
    problem.memory.resting.held.resize(found.sites.all.len(), false);
    problem.mixed.order.clear();
    bodies.trees.problem.clear();
    for island in 0..problem.islands.len() {
        collect(setup, found, bodies, problem, island, h);
    }
    assemble(setup, bodies, problem);
    problem.impulses.clear();
    let scale = if problem.memory.last_step > 0.0 { h / problem.memory.last_step } else { 0.0 };
    for (&k, contact) in problem.order.iter().zip(&problem.contacts) {
        let known =
            if setup.params.warm_start { found.sites.impulses[k as usize].impulse } else { DVec3::ZERO };
        problem.impulses.push(contact.frame.transpose() * known * scale);
    }
    books.trace(Stage::Solve);
    for k in 0..problem.spans.len() {
        solve_island(setup, found, bodies, problem, books, world, problem.spans[k])?;
    }
    for k in 0..bodies.trees.problem.spans.len() {
        trees::problem::solve_trees(setup, found, bodies, problem, books, world, k)?;
    }
    Ok(())
}

/// Appends an island to the problem, unless it stays where it is.
fn collect(
    setup: &Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    island: usize,
    h: f64,
) {
    if trees::problem::collect_trees(setup, found, bodies, problem, island, h) {
        return;
    }
    let count = problem.chosen.len();
    let (members, pairs) = members_of(&problem.islands, count, island);
    let site_of = |m: &u32| problem.chosen[*m as usize] as usize;
    let still = |m: &u32| {
        let movable = found.sites.all[site_of(m)].bodies.map(|k| k as usize);
        movable.into_iter().all(|k| problem.memory.resting.still[k] || !bodies.pool[k].is_movable())
    };
    if pairs.is_empty() && members.iter().all(still) {
        members.iter().for_each(|m| problem.memory.resting.held[site_of(m)] = true);
        return;
    }
    let (start, first) = (problem.order.len() as u32, problem.mixed.order.len() as u32);
    for m in members {
        let k = problem.chosen[*m as usize];
        let site = &found.sites.all[k as usize];
        let bias = match setup.params.stabilization {
            Stabilization::Baumgarte(share) if site.gap < 0.0 => share * site.gap / h,
            _ => site.gap.max(0.0) / h,
        };
        problem.order.push(k);
        problem.contacts.push(contact_at(site, bias));
        let traction = traction::of_site(&problem.tractions, k as usize);
        if traction != SiteTraction::NONE {
            let m = problem.contacts.len() - 1;
            let (joined, contact) = (&mut problem.joined, &mut problem.contacts[m]);
            problem.mixed.order.extend(traction::add_traction(found, bodies, joined, contact, m, traction));
        }
    }
    let pairs = pairs.iter().map(|m| *m as usize - count);
    problem.mixed.order.extend(problem.joined.blocks_of(pairs));
    let contacts = [start, problem.order.len() as u32];
    problem.spans.push(IslandSpan { contacts, blocks: [first, problem.mixed.order.len() as u32] });
}

/// What the contact law needs of the contacts.
pub(super) fn assemble(setup: &mut Setup, bodies: &StepBodies, problem: &mut Problem) {
    if setup.parts.contacts.solver().is_some_and(|law| law.needs_rows()) {
        pool::assemble(&bodies.pool, &problem.contacts, &mut problem.pool_workspace, &mut problem.delassus);
    } else {
        pool::assemble_diagonal(&bodies.pool, &problem.contacts, &mut problem.delassus);
    }
}

/// Residual that is good enough for an island, m/s: far less than what the length of the step does to its bodies.
fn accuracy(
    found: &Detection,
    bodies: &StepBodies,
    problem: &Problem,
    start: usize,
    end: usize,
    h: f64,
) -> f64 {
    if end - start <= FEW {
        return 0.0;
    }
    let slots = problem.contacts[start..end].iter().flat_map(|c| c.bodies);
    let fastest = fastest(found, bodies, slots.clone());
    let (mut pull, mut size) = (0.0_f64, f64::INFINITY);
    for slot in slots.filter(|slot| bodies.pool[*slot as usize].is_movable()) {
        pull = pull.max(bodies.body_steps[slot as usize].force_change.linear.length());
        size = size.min(found.detect.travels.radius(slot));
    }
    let pulled = if pull > 0.0 { fastest.min(pull) } else { fastest };
    if fastest < SLOW * pull { 0.0 } else { SHARE * pulled.min(SIZE_SHARE * size / h) }
}

/// Largest speed of a point of these bodies at the start of the step, m/s; of those that impulses move.
pub(super) fn fastest(found: &Detection, bodies: &StepBodies, slots: impl Iterator<Item = u32>) -> f64 {
    let speed = |slot: u32| {
        let velocity = bodies.body_steps[slot as usize].start;
        let turning = velocity.angular.length();
        let radius = if turning > 0.0 { found.detect.travels.radius(slot) } else { 0.0 };
        velocity.linear.length() + turning * radius
    };
    slots.filter(|slot| bodies.pool[*slot as usize].is_movable()).map(speed).fold(0.0, f64::max)
}

/// An island is one problem.
fn solve_island(
    setup: &mut Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &World,
    span: IslandSpan,
) -> Result<(), StepError> {
    let h = problem.h;
    let [start, end] = span.contacts.map(|x| x as usize);
    if span.blocks[0] < span.blocks[1] {
        return solve_jointed(setup, found, bodies, problem, books, world, span);
    }
    problem.prepared.gather(&bodies.pool, &problem.contacts[start..end], &PoolBlocks::default());
    let accuracy = accuracy(found, bodies, problem, start, end, h);
    let all = &problem.delassus;
    let (first, last) = (all.starts[start] as usize, all.starts[end] as usize);
    let (blocks, velocity, friction) =
        (&all.blocks[first..last], &all.velocity[start..end], &all.friction[start..end]);
    let rows = if setup.parts.contacts.solver().is_some_and(|law| law.needs_rows()) {
        problem.local_starts.clear();
        problem.local_starts.extend(all.starts[start..=end].iter().map(|s| s - first as u32));
        problem.local_columns.clear();
        problem.local_columns.extend(all.columns[first..last].iter().map(|c| c - start as u32));
        RowProblem::new(&problem.local_starts, &problem.local_columns, blocks, velocity, friction, &[])
            .and_then(|rows| rows.with_groups(problem.prepared.view()))
    } else {
        RowProblem::of_groups(problem.prepared.view(), blocks, velocity, friction, &[])
    };
    let rows = rows.map(|rows| rows.with_accuracy(accuracy));
    let impulses = &mut problem.impulses[start..end];
    let Some(solver) = setup.parts.contacts.solver() else { return Ok(()) };
    let solved = rows.and_then(|rows| problem.softener.solve(&rows, solver, impulses));
    let exact = count_solved(found, bodies, problem, books, world, span, solved)? && accuracy <= 0.0;
    pool::apply(&mut bodies.pool, &problem.contacts[start..end], &problem.impulses[start..end]);
    if !exact {
        restrain::restrain(bodies, problem, world, start, end);
    }
    Ok(())
}

/// The same with joints in it.
fn solve_jointed(
    setup: &mut Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &World,
    span: IslandSpan,
) -> Result<(), StepError> {
    let h = problem.h;
    let [start, end] = span.contacts.map(|x| x as usize);
    let accuracy =
        if end - start > MANY_JOINTED { accuracy(found, bodies, problem, start, end, h) } else { 0.0 };
    let scale = if problem.memory.last_step > 0.0 && setup.params.warm_start {
        h / problem.memory.last_step
    } else {
        0.0
    };
    let mut p = std::mem::take(&mut problem.mixed.impulses);
    p.clear();
    p.extend_from_slice(&problem.impulses[start..end]);
    let members = span.blocks[0] as usize..span.blocks[1] as usize;
    p.extend(
        problem.mixed.order[members.clone()].iter().map(|&k| problem.joined.impulses[k as usize] * scale),
    );
    let solved = solve_mixed(setup, bodies, problem, members.clone(), start..end, accuracy, &mut p);
    count_solved(found, bodies, problem, books, world, span, solved)?;
    apply_mixed(bodies, problem, members.clone(), start..end, &p);
    let (of_contacts, of_blocks) = p.split_at(end - start);
    problem.impulses[start..end].copy_from_slice(of_contacts);
    for (&k, p) in problem.mixed.order[members].iter().zip(of_blocks) {
        problem.joined.impulses[k as usize] = *p;
    }
    problem.mixed.impulses = p;
    Ok(())
}

/// Solves contacts and blocks of joints, `members` in the order of islands, from the impulses `p`.
pub(super) fn solve_mixed(
    setup: &mut Setup,
    bodies: &StepBodies,
    problem: &mut Problem,
    members: Range<usize>,
    contacts: Range<usize>,
    accuracy: f64,
    p: &mut [DVec3],
) -> Result<Settled, RowError> {
    let Mixed { order, blocks, delassus, .. } = &mut problem.mixed;
    blocks.clear();
    let block = |k: &u32| traction::of_island(problem.joined.blocks[*k as usize], contacts.start);
    blocks.extend(order[members].iter().map(block));
    let view = PoolBlocks { blocks, sides: &problem.joined.sides };
    let contacts = &problem.contacts[contacts];
    let Some(solver) = setup.parts.contacts.solver() else {
        return Err(RowError::NoSolution { iterations: 0 });
    };
    problem.prepared.gather(&bodies.pool, contacts, &view);
    let rows = if solver.needs_rows() {
        pool::assemble_with(&bodies.pool, contacts, &view, &mut problem.pool_workspace, delassus);
        delassus.problem()?.with_groups(problem.prepared.view())?
    } else {
        pool::assemble_diagonal(&bodies.pool, contacts, delassus);
        pool::assemble_diagonal_of(&bodies.pool, &view, delassus);
        let Delassus { blocks, velocity, friction, laws, .. } = &*delassus;
        RowProblem::of_groups(problem.prepared.view(), blocks, velocity, friction, laws)?
    };
    problem.softener.solve(&rows.with_accuracy(accuracy), solver, p)
}

/// Applies the impulses of such a problem to the pool.
pub(super) fn apply_mixed(
    bodies: &mut StepBodies,
    problem: &Problem,
    members: Range<usize>,
    contacts: Range<usize>,
    p: &[DVec3],
) {
    let (of_contacts, of_blocks) = p.split_at(contacts.len());
    pool::apply(&mut bodies.pool, &problem.contacts[contacts], of_contacts);
    for (&k, p) in problem.mixed.order[members].iter().zip(of_blocks) {
        let block = problem.joined.blocks[k as usize];
        problem.joined.view().push(&mut bodies.pool, &block, *p);
    }
}

/// Enters in the report how an island was solved; true if the law met its tolerance.
pub(super) fn count_solved(
    found: &Detection,
    bodies: &StepBodies,
    problem: &Problem,
    books: &mut Books,
    world: &World,
    span: IslandSpan,
    solved: Result<Settled, RowError>,
) -> Result<bool, StepError> {
    let [start, end] = span.contacts.map(|x| x as usize);
    let size = end - start + (span.blocks[1] - span.blocks[0]) as usize;
    let report = &mut books.report.solver;
    report.islands += 1;
    report.largest = report.largest.max(size as u64);
    let found = solved.map_err(|source| {
        let sites = problem.order[start..end].iter().flat_map(|&k| found.sites.all[k as usize].bodies);
        let blocks = &problem.mixed.order[span.blocks[0] as usize..span.blocks[1] as usize];
        let sides = blocks.iter().flat_map(|&k| problem.joined.view().of(&problem.joined.blocks[k as usize]));
        let slots = sites.chain(sides.map(|side| side.body)).collect();
        law_error(bodies, world, slots, source)
    })?;
    let report = &mut books.report.solver;
    report.count(found.iterations, size);
    report.residual = report.residual.max(found.residual);
    report.cone_violation = report.cone_violation.max(found.cone_violation);
    report.unsolved += u64::from(!found.solved);
    Ok(found.solved)
}

/// Enters the impulses in the account, with their work at the end of the step: the pool has its velocities.
fn book_contacts(
    found: &mut Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    h: f64,
) {
    for m in 0..problem.order.len() {
        if problem.impulses[m] != DVec3::ZERO {
            for slot in problem.contacts[m].bodies {
                bodies.body_steps[slot as usize].pushed = true;
            }
        }
    }
    for m in 0..problem.order.len() {
        if problem.impulses[m] == DVec3::ZERO {
            continue;
        }
        let site = problem.order[m] as usize;
        let approach = -(problem.delassus.velocity[m].z - problem.contacts[m].bias.z);
        let kind =
            if approach > found.sites.all[site].rest_speed + 2.0 * gravity_speed(found, bodies, site, h) {
                CollisionKind::Ordinary
            } else {
                CollisionKind::Lasting
            };
        if kind == CollisionKind::Ordinary {
            for slot in problem.contacts[m].bodies {
                let body_step = &mut bodies.body_steps[slot as usize];
                (body_step.struck, body_step.hit) = (true, true);
            }
        }
        let impulse = problem.contacts[m].frame * problem.impulses[m];
        let ends = ends_of(bodies, problem, m);
        let closing = -problem.contacts[m].frame.z_axis.dot(ends[0] - ends[1]);
        let gave_way = closing - found.sites.all[site].gap.max(0.0) / h;
        // Parting under load, which no exact solution does, has given energy.
        let taken = problem.impulses[m].z * if closing < 0.0 { closing } else { gave_way.max(0.0) };
        let along = problem.contacts[m].frame.z_axis * problem.impulses[m].z;
        let belt = traction::of_site(&problem.tractions, site).belt;
        let friction = (impulse - along).dot(ends[0] - ends[1] + belt);
        let sides = problem.contacts[m].bodies;
        let movable =
            sides.map(|slot| bodies.pool[slot as usize].is_movable() && !bodies.trees.is_link(slot));
        problem.memory.debts.gave_way(sides, movable, [taken, friction]);
        let entry = Entry { site, impulse, approach, kind, before: ends };
        book(found, bodies, books, world, entry);
        if belt != DVec3::ZERO {
            let given = (impulse - along).dot(belt);
            world.book_contact_work(&ContactWork { friction: given, scripted: -given, ..Default::default() });
        }
    }
    let mut imbalance = 0.0_f64;
    for (body, body_step) in bodies.pool.iter().zip(&bodies.body_steps) {
        if body_step.pushed && body.is_movable() {
            imbalance = imbalance.max((body.velocity.linear - body_step.start.linear).length() / h);
        }
    }
    books.report.solver.imbalance = imbalance;
    book_step(bodies, problem, world, h);
}

/// Enters what forces that depend on the state did in the step, and what its length took: half the square of its change of velocity, of every body
/// that was pushed.
fn book_step(bodies: &StepBodies, problem: &mut Problem, world: &mut StepperAccess<'_>, h: f64) {
    forces::book_forces(bodies, problem, world, h, |slot| bodies.pool[slot].velocity);
    let Problem { joined, memory, .. } = problem;
    let mut work = ContactWork::default();
    for (slot, body_step) in bodies.body_steps.iter().enumerate() {
        let movable = bodies.pool[slot].is_movable();
        let Some((_, body)) = world.body_in_slot(slot as u32).filter(|_| movable) else { continue };
        let mut state = *body.state();
        if !body_step.pushed {
            // On its parabola.
            let change = Motion::new(DVec3::ZERO, body_step.acceleration * h);
            let way = (body_step.start.linear + change.linear * 0.5) * h;
            memory.debts.carried(slot, *state.pose(), way, change, [0.0; 2]);
            continue;
        }
        let end = bodies.pool[slot].velocity;
        state.velocity = end - body_step.start;
        let taken = state.kinetic_energy(body.model());
        // What joints turn after an impact that is over is no part of it.
        let struck = body_step.struck && (body_step.hit || !joined.holds(slot as u32));
        let lost = if struck { [0.0, taken] } else { [taken, 0.0] };
        work.stepping -= lost[0];
        work.impact -= lost[1];
        // Joints turn velocities: that is no loss.
        let lost = if joined.holds(slot as u32) { [0.0; 2] } else { lost };
        // What a contact turned, as the motion of a top, is not taken back.
        memory.debts.carried(slot, *state.pose(), end.linear * h, Motion::ZERO, lost);
    }
    world.book_contact_work(&work);
}

/// Velocities of both bodies of a contact at its point, m/s.
pub(super) fn ends_of(bodies: &StepBodies, problem: &Problem, m: usize) -> [DVec3; 2] {
    let contact = &problem.contacts[m];
    contact.bodies.map(|slot| bodies.pool[slot as usize].velocity_at(contact.point))
}

/// Speed that forces give a contact within a step, m/s.
fn gravity_speed(found: &Detection, bodies: &StepBodies, site: usize, h: f64) -> f64 {
    let [a, b] = found.sites.all[site].bodies.map(|k| bodies.body_steps[k as usize].acceleration);
    (a - b).length() * h
}

/// An impulse of a contact, to be entered in the account, the list of events and the contact of its pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) site: usize,
    /// World axes, on A, N·s.
    pub(super) impulse: DVec3,
    /// m/s.
    pub(super) approach: f64,
    pub(super) kind: CollisionKind,
    /// Velocities of both bodies at the point with which it began to work, m/s.
    pub(super) before: [DVec3; 2],
}

/// Enters an impulse; the pool has the velocities after it.
pub(super) fn book(
    found: &mut Detection,
    bodies: &StepBodies,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    entry: Entry,
) {
    let Entry { site, impulse, approach, kind, before } = entry;
    let site = found.sites.all[site];
    let pair = &mut found.detect.candidates[site.pair as usize];
    let push = Push { point: site.point, normal: site.frame.z_axis, separation: site.gap, impulse };
    let collision = push.collision(pair.rest.names, approach, kind);
    let after = site.bodies.map(|slot| bodies.pool[slot as usize].velocity_at(site.point));
    // What sleeps stands firm.
    let kinds = site.bodies.map(|slot| {
        let body = world.body_in_slot(slot).map(|(_, body)| body);
        let firm = |body: &&Body| !body.is_free() || bodies.pool[slot as usize].is_movable();
        body.filter(firm).map_or(BodyKind::Fixed, |body| *body.kind())
    });
    world.book_collision(&collision, kinds, before, after);
    let time = world.time();
    found.detect.exerted.add(pair, books.advances, &push, time);
    if kind == CollisionKind::Ordinary {
        books.report.collisions += 1;
    } else {
        books.report.micro_collisions += 1;
    }
    if impulse != DVec3::ZERO && !pair.touching {
        pair.touching = true;
        world.list(Event { time, kind: pair.event(true) });
    }
    if kind == CollisionKind::Ordinary || world.listing == Listing::All {
        world.list(Event { time, kind: EventKind::Collision(collision) });
    }
}

/// The error of a contact law, naming a body of the island.
pub(super) fn law_error(
    bodies: &StepBodies,
    world: &World,
    mut slots: Vec<u32>,
    source: RowError,
) -> StepError {
    slots.retain(|&slot| bodies.pool[slot as usize].is_movable());
    slots.sort_unstable();
    slots.dedup();
    let time = world.time();
    match slots.first().and_then(|&slot| world.body_in_slot(slot)) {
        Some((body, _)) => StepError::ContactLaw { body, others: slots.len() - 1, time, source },
        None => {
            StepError::EmptySlot { what: "free body", slot: slots.first().copied().unwrap_or(u32::MAX), time }
        }
    }
}

/// Members of an island: chosen sites, of which there are `count`, by their number, and pairs of joints, counted on from there.
pub(super) fn members_of(islands: &Islands, count: usize, island: usize) -> (&[u32], &[u32]) {
    let all = islands.contacts(island);
    all.split_at(all.partition_point(|m| (*m as usize) < count))
}
