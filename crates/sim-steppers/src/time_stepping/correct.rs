//! Overlaps opened without touching velocities.
//!
//! # Reference
//!
//! Cline (2002), section 3.3: post-stabilisation as a complementarity problem with contacts.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | gaps | m |
//! | dp | change of configuration | m, rad |
//!
//! # Formula
//!
//! ```text
//! J_n dp + g ≥ 0 ⊥ λ ≥ 0,   dp = M⁻¹ J_nᵀ λ;   again at the new configuration while something overlaps
//! ```
//!
//! # Cost
//!
//! One frictionless contact problem and one detection per repetition; nothing if nothing overlaps. Islands of a few contacts are solved by the contact law,
//! others by sweeps of their own ([`constraint_dynamics::normals`]), and by the law after all where these do not get on and there are 100 contacts at
//! most. Contacts of heaps in motion whose bodies were moved by a little only are followed.
//!
//! # Numerics
//!
//! A repetition squares the error. Overlaps are opened by at most a fifth of the smaller body and a tenth of a radian at a time. Heaps
//! in motion of more than 32 contacts may overlap by a hundredth of their way in a step, 10⁻⁴ of the smallest radius at most; repetitions that do not
//! halve an overlap below twice that are not gone on with.
//!
//! # Failure
//!
//! A contact law that finds nothing leaves the bodies where they are; the overlap stays in the report.
//!
//! # Tested by
//!
//! `overlaps_are_opened_by_their_depth`, `large_overlaps_open_in_steps`, `tests/time_falling.rs`

use super::{
    contact::{self, members_of},
    flight,
    impact::{self, contact_at},
    joined::{self, Joined},
    params::Stabilization,
    repay,
    sites::{self, Site},
    state::{Books, Detection, Memory, Problem, Setup, StepBodies},
    stepper::Stage,
    trees,
};
use constraint_dynamics::{
    normals::{NormalContact, NormalGoal},
    pool::{self, PoolBlocks},
    stabilize::moved,
};
use rigid_impulse::BodyState;
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::RowProblem;
use sim_world::{StepError, StepperAccess};

/// Share of the overlap that is left alone to which gaps are met.
const ACCURACY: f64 = 0.4;
/// Share of the way of bodies in a step that they may overlap while they move, and the most, share of the smallest radius.
const PATH_SHARE: f64 = 1e-2;
const MOST: f64 = 1e-4;
/// Contacts are followed, not found anew, where a correction moved bodies by less than this much of the overlap left alone.
const FOLLOWED: f64 = 2.0;
/// Overlap that is opened as far as may be within one step, share of the smallest radius.
const DEEP: f64 = 2e-4;
/// Islands of so few contacts are put right by the contact law.
const FEW: usize = 8;
/// Those of more contacts, up to so many, if sweeps do not get on: a heavy body that lies on a light one.
const MANY_FOR_LAW: usize = 100;
/// Most contacts of an island that is put right to the overlap left alone, however fast it moves.
const LARGE: usize = 32;
/// Contacts from which on there are half as many repetitions: each costs more, and large heaps come apart over several steps anyway.
const MANY: usize = 1000;
/// Most pairs of sweeps of a correction of a heap, and most contacts solved in them.
const PAIRS: u32 = 30;
const VISITS: u32 = 30_000;
/// Share by which its contacts give way more, where they do not come apart otherwise.
const SOFTNESS: f64 = 0.1;
/// Largest turn of one correction, rad.
const MAX_TURN: f64 = 0.1;

/// Moves overlapping bodies apart at the world's time, and finds the contacts anew; `user` where it was the user who put them there.
pub(super) fn correct(
    setup: &mut Setup,
    found: &mut Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    user: bool,
) -> Result<(), StepError> {
    if !matches!(setup.params.stabilization, Stabilization::PostStep(_)) {
        return Ok(());
    }
    if user {
        problem.memory.debts.clear(world.body_slots());
    }
    if open_overlaps(setup, found, bodies, problem, books, world, user)?
        && !user
        && repay::repay(bodies, problem, books, world)
    {
        // Where they are now is not above where they were, wherever that is opened.
        world.set_time(world.time()).map_err(StepError::from)?;
        sites::follow_sites(setup, found, world, 0.0)?;
        open_overlaps(setup, found, bodies, problem, books, world, user)?;
    }
    Ok(())
}

/// Corrects until nothing overlaps any more, as often as the parameters allow; true if something did.
fn open_overlaps(
    setup: &mut Setup,
    found: &mut Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    user: bool,
) -> Result<bool, StepError> {
    let Stabilization::PostStep(most) = setup.params.stabilization else { return Ok(false) };
    let most = if found.sites.all.len() > MANY { most.div_ceil(2) } else { most };
    let mut before = f64::NEG_INFINITY;
    for _ in 0..most {
        let deepest = found.sites.all.iter().map(|s| s.gap).fold(0.0, f64::min);
        let deepest = deepest.min(-joints_off(bodies, &mut problem.joined, world)?);
        // Heaps come apart over several steps, except where something has sunk in deep.
        let stays = deepest < 0.5 * before && deepest > -DEEP * setup.radius;
        if deepest >= -setup.params.slop || stays {
            break;
        }
        before = deepest;
        books.trace(Stage::Correct);
        problem.mixed.jammed = false;
        let Some(allowed) = correct_once(setup, found, bodies, problem, books, world, user)? else { break };
        sites::follow_sites(setup, found, world, FOLLOWED * allowed)?;
        // What joints and contacts hold apart comes apart over several steps, if at all.
        if problem.mixed.jammed {
            break;
        }
    }
    Ok(before.is_finite())
}

/// How far joints are from what they hold where the bodies are, m or rad.
fn joints_off(
    bodies: &mut StepBodies,
    joined: &mut Joined,
    world: &mut StepperAccess<'_>,
) -> Result<f64, StepError> {
    if world.joint_count() == 0 && world.tree_count() == 0 {
        return Ok(0.0);
    }
    flight::read_bodies(bodies, world);
    trees::read_trees(bodies, world)?;
    joined::read_joints(bodies, joined, world);
    Ok(joined::joint_error(joined).max(trees::correct::limits_off(&bodies.trees.all)))
}

/// One correction: the least overlap that it leaves alone in an island, m; nothing if there was none.
fn correct_once(
    setup: &mut Setup,
    found: &Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    user: bool,
) -> Result<Option<f64>, StepError> {
    flight::read_bodies(bodies, world);
    trees::read_trees(bodies, world)?;
    trees::correct::prepare(bodies, world)?;
    bodies.pool.iter_mut().for_each(|body| body.velocity = Motion::ZERO);
    joined::correct_joints(&mut problem.joined);
    // Only islands in which something overlaps.
    problem.chosen.clear();
    let moves = |slot: &u32| bodies.pool[*slot as usize].is_movable();
    let sites = (0..).zip(&found.sites.all).filter(|(_, site)| site.bodies.iter().any(moves));
    problem.chosen.extend(sites.map(|(k, _)| k));
    contact::islands_of_chosen(found, bodies, problem);
    let mut least = f64::INFINITY;
    for island in 0..problem.islands.len() {
        let sites = &found.sites.all;
        let count = problem.chosen.len();
        let (members, pairs) = members_of(&problem.islands, count, island);
        let pairs = pairs.iter().map(|m| *m as usize - count);
        problem.mixed.order.clear();
        problem.mixed.order.extend(problem.joined.blocks_of(pairs));
        let jointed = !problem.mixed.order.is_empty();
        let site_of = |m: &u32| &sites[problem.chosen[*m as usize] as usize];
        let deepest = members.iter().map(|m| site_of(m).gap).fold(0.0, f64::min);
        let deepest = deepest.min(-joined::joint_error_of(&problem.joined, &problem.mixed.order));
        bodies.trees.problem.order.clear();
        let (_, pairs) = members_of(&problem.islands, count, island);
        let of_pairs = pairs.iter().filter_map(|m| problem.joined.trees[*m as usize - count]);
        bodies.trees.problem.order.extend(of_pairs);
        let of_trees = bodies.trees.problem.order.iter().map(|tree| &bodies.trees.all[*tree as usize]);
        let deepest = deepest.min(-trees::correct::limits_off(of_trees));
        let with_trees = !bodies.trees.problem.order.is_empty();
        if deepest >= -setup.params.slop {
            continue;
        }
        // Heaps that move fast are not followed closer than their way tells.
        let (mut allowed, mut accuracy) = (setup.params.slop, 1e-3 * setup.params.slop);
        if members.len() > LARGE {
            let way = setup.params.step()
                * contact::fastest(found, bodies, members.iter().flat_map(|m| site_of(m).bodies));
            allowed = allowed.max((PATH_SHARE * way).min(MOST * setup.radius));
            accuracy = ACCURACY * allowed;
        }
        if deepest >= -allowed {
            continue;
        }
        if members.len() > FEW && !jointed && !with_trees {
            let contacts = || members.iter().map(|m| normal_at(site_of(m)));
            let mut goal = NormalGoal { accuracy, pairs: PAIRS, visits: VISITS, softness: 0.0 };
            let mut found = problem.normals.solve(&mut bodies.pool, contacts(), goal);
            books.report.solver.count(found.iterations, members.len());
            let failed = found.residual > accuracy && found.residual >= 0.5 * found.scale;
            if failed {
                for slot in contacts().flat_map(|c| c.bodies) {
                    bodies.pool[slot as usize].velocity = Motion::ZERO;
                }
            }
            if failed && members.len() > MANY_FOR_LAW {
                // Better than nothing: the next step goes on.
                goal.softness = SOFTNESS;
                found = problem.normals.solve(&mut bodies.pool, contacts(), goal);
                books.report.solver.count(found.iterations, members.len());
            }
            if !failed || members.len() > MANY_FOR_LAW {
                least = least.min(allowed);
                continue;
            }
        }
        problem.contacts.clear();
        let contact = |m: &u32| {
            let mut contact = contact_at(site_of(m), site_of(m).gap);
            contact.friction = 0.0;
            contact
        };
        if with_trees {
            let linked = |m: &&u32| bodies.trees.has_link(site_of(m).bodies);
            problem.contacts.extend(members.iter().filter(|m| !linked(m)).map(contact));
            let points = problem.contacts.len() as u32;
            problem.contacts.extend(members.iter().filter(linked).map(contact));
            if trees::correct::correct_island(setup, bodies, problem, books, points, accuracy) {
                least = least.min(allowed);
            }
            continue;
        }
        problem.contacts.extend(members.iter().map(contact));
        if jointed {
            least = least.min(correct_mixed(setup, bodies, problem, books, accuracy, allowed));
            continue;
        }
        contact::assemble(setup, bodies, problem);
        problem.impulses.clear();
        problem.impulses.resize(problem.contacts.len(), DVec3::ZERO);
        problem.prepared.gather(&bodies.pool, &problem.contacts, &PoolBlocks::default());
        let Some(solver) = setup.parts.contacts.solver() else { return Ok(None) };
        let (all, groups) = (&problem.delassus, problem.prepared.view());
        let rows = if solver.needs_rows() {
            all.problem().and_then(|problem| problem.with_groups(groups))
        } else {
            RowProblem::of_groups(groups, &all.blocks, &all.velocity, &all.friction, &[])
        };
        let Ok(rows) = rows.map(|rows| rows.with_accuracy(accuracy)) else {
            continue;
        };
        // What is not quite solved is better than nothing: the next step goes on.
        if let Ok(found) = problem.softener.solve(&rows, solver, &mut problem.impulses) {
            books.report.solver.count(found.iterations, problem.contacts.len());
            pool::apply(&mut bodies.pool, &problem.contacts, &problem.impulses);
            least = least.min(allowed);
        }
    }
    // What trees lift is not paid for.
    let links = |pair: [u32; 2]| bodies.trees.has_link(pair);
    problem
        .joined
        .pairs
        .iter()
        .filter(|pair| !links(**pair))
        .for_each(|pair| problem.memory.debts.meet(*pair));
    for site in found.sites.all.iter().filter(|site| !links(site.bodies)) {
        // Before or after the correction, whose twists are in the pool.
        if site.gap + impact::normal_velocity(bodies, site).min(0.0) <= setup.params.touch {
            problem.memory.debts.meet(site.bodies);
        }
    }
    if least == f64::INFINITY {
        return Ok(None);
    }
    let moved = trees::correct::shift_trees(bodies, books, world, user)?;
    Ok((shift(bodies, &mut problem.memory, books, world, user) | moved).then_some(least))
}

/// Corrects an island with joints, whose contacts and blocks are chosen: the overlap left alone, if it was solved.
fn correct_mixed(
    setup: &mut Setup,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    accuracy: f64,
    allowed: f64,
) -> f64 {
    let count = problem.contacts.len();
    let mut p = std::mem::take(&mut problem.mixed.impulses);
    p.clear();
    p.resize(count + problem.mixed.order.len(), DVec3::ZERO);
    let solved = contact::solve_mixed(
        setup,
        bodies,
        problem,
        0..problem.mixed.order.len(),
        0..count,
        accuracy,
        &mut p,
    );
    let found = solved.is_ok_and(|found| {
        books.report.solver.count(found.iterations, p.len());
        problem.mixed.jammed |= !found.solved;
        true
    });
    if found {
        contact::apply_mixed(bodies, problem, 0..problem.mixed.order.len(), 0..count, &p);
    }
    problem.mixed.impulses = p;
    if found { allowed } else { f64::INFINITY }
}

/// Moves the bodies by the twists in the pool.
fn shift(
    bodies: &StepBodies,
    memory: &mut Memory,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    user: bool,
) -> bool {
    let time = world.time();
    let mut any = false;
    for slot in 0..bodies.pool.len() as u32 {
        let twist = bodies.pool[slot as usize].velocity;
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        let finite = twist.to_array().iter().all(|x| x.is_finite());
        if !body.is_free() || twist == Motion::ZERO || !finite || bodies.trees.is_link(slot) {
            continue;
        }
        let sizes = body.colliders().iter().filter_map(|c| world.collider(*c).ok());
        let size = sizes.map(|c| c.extent().radius).fold(f64::INFINITY, f64::min);
        let shrink = (0.2 * size / twist.linear.length()).min(MAX_TURN / twist.angular.length()).min(1.0);
        let twist = twist * shrink;
        let before: BodyState = *body.state();
        let mut state = before;
        if state.set_pose(moved(state.pose(), twist)).is_err() {
            continue;
        }
        any = true;
        // The body turns with its velocity, so that its kinetic energy stays.
        let turning = before.pose().rotation.conjugate() * before.velocity.angular;
        state.velocity.angular = state.pose().rotation * turning;
        let lifted = world.put_right(id, state, user);
        books.report.solver.lifted += lifted;
        if !user {
            memory.debts.lifted(slot, lifted);
        }
    }
    any && world.set_time(time).is_ok()
}

/// A site without friction.
fn normal_at(site: &Site) -> NormalContact {
    NormalContact { bodies: site.bodies, point: site.point, normal: site.frame.z_axis, gap: site.gap }
}
