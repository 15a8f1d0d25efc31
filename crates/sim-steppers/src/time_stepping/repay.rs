//! Who pays for what opening overlaps has lifted: bodies slow down or go less far, so that energy does not rise.
//!
//! # Reference
//!
//! This project's own; the energy of a step is that of [`super::contact`].
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | w | what corrections of the step added to the potential of a body | J |
//! | δ | v⁺ − v₀, change of the velocity of a body that no contact pushed in the step; 0 for others | m/s, rad/s |
//! | d | half the square of v⁺ − v₀, with masses: what the length of the step took from it | J |
//! | s | what contacts that gave way took from it, −`p_n` (`u_n`⁺ + g/h) | J |
//! | A | fall of its potential on its straight way of the step, h v⁺, before corrections | J |
//! | u | velocity of the script that carries an island; 0 if something else holds it; of its centre of mass if nothing does, and then δ = 0 | m/s, rad/s |
//! | x₀, c | place at the start of the step; change of place by corrections | m |
//!
//! # Formula
//!
//! ```text
//! islands of bodies that touched or overlapped;   owed = Σ (w − d − s),   T = Σ ½ |v − u|²_M.   Where owed > 0:
//! v ← v − σ δ with the least σ in 0 to 1 that takes it, or else the most:   σ Σ M (v − u)·δ − ½ σ² Σ |δ|²_M;   owed less what that took
//! 0 < owed ≤ T   v ← u + √(1 − owed/T) (v − u)
//! T < owed       v ← u,   x ← x₀ + α h v⁺ + α² c,   α = A/(2 w) within 0 and 1: where −A α + w α² is least
//! ```
//!
//! A body whose surface is curved moves along the tangent of its way and is lifted at the end of the step by w = ½ H″ (h ω)², with H its potential
//! over the turn. Without payment a rocking body would gain that much. What the step itself gave pays first: a body that fell in for want of a
//! contact, and was lifted again, goes on as before. Not so where contacts pushed: they turn the motion of a top, and to take back a share of that
//! would be a torque of first order for a debt of third. Then all velocities of an island are scaled alike, so that contacts that stick, roll or last
//! still do. w/T is (h Ω)², Ω the frequency of rocking: where a step is too long for it, the body would swing higher with every step; it goes down to
//! the lowest place of its way instead, and so comes to rest.
//!
//! # Cost
//!
//! One search for islands where something was lifted, one more detection where bodies go less far; nothing otherwise.
//!
//! # Numerics
//!
//! Payment is exact. First order in h, as the step: a rocking body loses energy at the rate h Ω² at most.
//!
//! # Failure
//!
//! What is not held by anything beyond its motion, and what overlapped before the step and has no motion to pay with, does not pay: it gets back what
//! contacts took when they gave way, and the account has the rest as correction. What a script carries beyond that, and what several scripts push, is
//! their work.
//!
//! # Tested by
//!
//! `tests/time_energy.rs`

use super::state::{Books, Memory, Problem, StepBodies};
use rigid_impulse::BodyKind;
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_world::{ContactWork, StepperAccess, World};

/// How a body moved in the step.
#[derive(Debug, Clone, Copy)]
struct Moved {
    /// Pose of the centre of mass at the start of the step.
    start: Pose,
    /// h v⁺, m.
    way: DVec3,
    /// δ.
    change: Motion,
}

/// What bodies owe after a step, by slot.
#[derive(Debug, Default)]
pub(super) struct Debts {
    /// w;  d of bodies that contacts carried, and of those that were struck;  s;  work of friction, J.
    owed: Vec<[f64; 5]>,
    moved: Vec<Option<Moved>>,
    /// Overlapped before the step.
    sunk: Vec<bool>,
    /// Pairs of bodies that touched or overlapped.
    met: Vec<[u32; 2]>,
    /// What contacts that gave way have taken, and overlaps that were opened later have not given back, J: kept from step to step.
    pub(super) given_way: f64,
    /// Bodies of the present island.
    pub(super) members: Vec<u32>,
    /// Is one of an island that was looked at.
    seen: Vec<bool>,
}

/// What holds an island.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Held {
    /// By nothing: velocity of its centre of mass, m/s.
    Not(DVec3),
    /// By several scripts.
    Pushed,
    /// By what stands still, or by springs.
    Firmly,
    /// By a script: centre (m) and velocity.
    Carried(DVec3, Motion),
}

impl Held {
    /// Velocity with which a place (m) is carried.
    fn at(&self, place: DVec3) -> Motion {
        match *self {
            Self::Pushed | Self::Firmly => Motion::ZERO,
            Self::Not(linear) => Motion::new(DVec3::ZERO, linear),
            Self::Carried(center, v) => Motion::new(v.angular, v.linear + v.angular.cross(place - center)),
        }
    }
}

impl Debts {
    /// A step begins: nobody of so many owes anything.
    pub(super) fn clear(&mut self, slots: usize) {
        self.owed.clear();
        self.owed.resize(slots, [0.0; 5]);
        self.moved.clear();
        self.moved.resize(slots, None);
        self.sunk.clear();
        self.sunk.resize(slots, false);
        self.met.clear();
    }

    /// The bodies of a contact overlapped before the step.
    pub(super) fn overlapped(&mut self, bodies: [u32; 2]) {
        bodies.into_iter().for_each(|slot| self.sunk[slot as usize] = true);
    }

    /// A body was moved by its contacts from its pose at the start of the step along its way (m) with a change of velocity that may be taken back,
    /// and lost energy (J) to the length of the step, or because it was struck.
    pub(super) fn carried(&mut self, slot: usize, start: Pose, way: DVec3, change: Motion, lost: [f64; 2]) {
        (self.owed[slot][1], self.owed[slot][2]) = (lost[0], lost[1]);
        self.moved[slot] = Some(Moved { start, way, change });
    }

    /// A contact gave way and took energy (J, negative if it gave some) from its bodies, of which those that impulses move share it, and its friction worked.
    pub(super) fn gave_way(&mut self, bodies: [u32; 2], movable: [bool; 2], [taken, friction]: [f64; 2]) {
        self.given_way += taken.max(0.0);
        let share = if movable == [true; 2] { 0.5 } else { 1.0 };
        for (slot, _) in bodies.into_iter().zip(movable).filter(|(_, movable)| *movable) {
            let owed = &mut self.owed[slot as usize];
            (owed[3], owed[4]) = (owed[3] + share * taken, owed[4] + share * friction);
        }
    }

    /// A body was lifted by this energy, J.
    pub(super) fn lifted(&mut self, slot: u32, energy: f64) {
        self.owed[slot as usize][0] += energy;
    }

    /// Two bodies touched.
    pub(super) fn meet(&mut self, bodies: [u32; 2]) {
        self.met.push(bodies);
    }

    /// What was lifted of the present island, and what was taken from it in the step, J.
    fn owed(&self) -> [f64; 4] {
        let all = self.members.iter().map(|slot| self.owed[*slot as usize]);
        let [w, d, struck, s, friction] =
            all.fold([0.0; 5], |sum, of| [0, 1, 2, 3, 4].map(|k| sum[k] + of[k]));
        // Friction that gives, as no exact solution does, is owed too.
        [w, d, struck, s - friction.max(0.0)]
    }
}

/// Slows down the islands in which more was lifted than the step took; true if bodies were moved.
pub(super) fn repay(
    bodies: &StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
) -> bool {
    let (pool, debts) = (&bodies.pool, &mut problem.memory.debts);
    problem.islands.find(pool.len(), debts.met.iter().copied(), |slot| pool[slot as usize].is_movable());
    debts.seen.clear();
    debts.seen.resize(pool.len(), false);
    let mut moved = false;
    for island in 0..problem.islands.len() {
        let held = read_island(bodies, problem, world, island);
        let [lifted, taken @ ..] = problem.memory.debts.owed();
        if lifted <= 0.0 {
            continue;
        }
        let mut owed = lifted;
        let [stepping, impact, micro] = taken.map(|most| {
            let back = owed.min(most);
            owed -= back;
            back
        });
        problem.memory.debts.given_way -= micro.max(0.0);
        let correction = owed - lifted;
        world.book_contact_work(&ContactWork {
            stepping,
            impact,
            micro,
            correction,
            ..ContactWork::default()
        });
        if held == Held::Pushed {
            world.book_contact_work(&ContactWork {
                scripted: owed,
                correction: -owed,
                ..ContactWork::default()
            });
        } else if owed > 0.0 {
            moved |= repay_island(&mut problem.memory, books, world, held, owed);
        }
    }
    moved
}

/// Finds the bodies of an island, and what holds them.
fn read_island(bodies: &StepBodies, problem: &mut Problem, world: &World, island: usize) -> Held {
    let debts = &mut problem.memory.debts;
    debts.members.clear();
    let (mut held, mut carrier, mut sprung) = (None, None, false);
    let mut sum = [DVec3::ZERO, DVec3::ZERO];
    for m in problem.islands.contacts(island) {
        for slot in debts.met[*m as usize] {
            let Some((_, body)) = world.body_in_slot(slot) else { continue };
            let state = body.state();
            if bodies.pool[slot as usize].is_movable() {
                if !std::mem::replace(&mut debts.seen[slot as usize], true) {
                    debts.members.push(slot);
                    sprung |= body.has_stateful_forces();
                    if problem.joined.is_grounded(slot) {
                        held = held.or(Some(Held::Firmly));
                    }
                    sum = [sum[0] + state.velocity.linear * body.mass(), sum[1] + DVec3::splat(body.mass())];
                }
                continue;
            }
            if *body.kind() != BodyKind::Scripted || state.velocity == Motion::ZERO {
                held = held.or(Some(Held::Firmly));
            } else if *carrier.get_or_insert(slot) != slot {
                held = Some(Held::Pushed);
            } else if held != Some(Held::Pushed) {
                held = Some(Held::Carried(state.pose().translation, state.velocity));
            }
        }
    }
    held.unwrap_or(if sprung { Held::Firmly } else { Held::Not(sum[0] / sum[1]) })
}

fn repay_island(
    memory: &mut Memory,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    held: Held,
    mut owed: f64,
) -> bool {
    let debts = &memory.debts;
    // What falls keeps its momentum.
    let falls = matches!(held, Held::Not(_));
    let moved = |slot: u32| debts.moved[slot as usize].filter(|_| !falls);
    let change = |slot: u32| moved(slot).map_or(Motion::ZERO, |moved| moved.change);
    // Kinetic energy, and what the change of velocity in the step has to do with it.
    let (mut kinetic, mut along, mut square) = (0.0, 0.0, 0.0);
    for &slot in &debts.members {
        let Some((_, body)) = world.body_in_slot(slot) else { continue };
        let mut state = *body.state();
        state.velocity -= held.at(state.pose().translation);
        kinetic += state.kinetic_energy(body.model());
        let (spin, momentum, change) =
            (state.spin(body.model()), state.velocity.linear * body.mass(), change(slot));
        along += momentum.dot(change.linear) + spin.dot(change.angular);
        state.velocity = change;
        square += 2.0 * state.kinetic_energy(body.model());
    }
    let most = if along > 0.0 { (along / square).min(1.0) } else { 0.0 };
    let inside = along * along - 2.0 * square * owed;
    let least = if inside >= 0.0 { 2.0 * owed / (along + inside.sqrt()) } else { f64::INFINITY };
    let share = least.min(most).max(0.0);
    let taken = share * (along - 0.5 * share * square);
    (owed, kinetic) = (owed - taken, kinetic - taken);
    let left = if share < most || owed <= 0.0 {
        1.0
    } else if kinetic > owed {
        (1.0 - owed / kinetic).sqrt()
    } else {
        0.0
    };
    for &slot in &debts.members {
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        let (carrier, velocity) = (held.at(body.state().pose().translation), body.state().velocity);
        let velocity = carrier + (velocity - change(slot) * share - carrier) * left;
        world.slow_down(id, velocity, if falls { Motion::ZERO } else { carrier });
    }
    if matches!(held, Held::Carried(..)) && left <= 0.0 {
        let scripted = owed - kinetic;
        world.book_contact_work(&ContactWork { scripted, correction: -scripted, ..ContactWork::default() });
    }
    if held != Held::Firmly || left > 0.0 {
        return false;
    }
    let sunk = debts.members.iter().any(|slot| debts.sunk[*slot as usize]);
    if !sunk {
        return go_back(memory, books, world);
    }
    let back = (owed - kinetic).min(debts.given_way);
    memory.debts.given_way -= back;
    world.book_contact_work(&ContactWork { micro: back, correction: -back, ..ContactWork::default() });
    false
}

/// Takes the bodies of an island back to the lowest place of their way.
fn go_back(memory: &Memory, books: &mut Books, world: &mut StepperAccess<'_>) -> bool {
    let debts = &memory.debts;
    let (mut lifted, mut fallen) = (0.0, 0.0);
    for &slot in &debts.members {
        let Some((_, body)) = world.body_in_slot(slot) else { continue };
        lifted += debts.owed[slot as usize][0];
        if let Some(moved) = debts.moved[slot as usize] {
            fallen += body.mass() * (world.gravity() + body.pull()).dot(moved.way);
        }
    }
    let share = (fallen / (2.0 * lifted)).clamp(0.0, 1.0);
    for &slot in &debts.members {
        let Some(Moved { start, way, .. }) = debts.moved[slot as usize] else { continue };
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        let mut state = *body.state();
        let now = *state.pose();
        let put = now.translation - start.translation - way;
        let near = if start.rotation.dot(now.rotation) < 0.0 { -now.rotation } else { now.rotation };
        let pose = Pose::new(
            start.translation + way * share + put * (share * share),
            (start.rotation * (1.0 - share) + near * share).normalize(),
        );
        if state.set_pose(pose).is_ok() {
            books.report.solver.lifted += world.put_right(id, state, false);
        }
    }
    true
}
