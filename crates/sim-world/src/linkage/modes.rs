//! Which rows of joints hold, push and slip during a piece, and when that changes.
//!
//! # Reference
//!
//! Murty (1974): complementarity by the first index that is wrong; Cline (2002), section 2.5, for contacts at the level of accelerations.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | λ, a | force and acceleration of a row | N, N·m; m/s², rad/s² |
//! | g | what must not become negative while rows act as they do | - |
//!
//! # Formula
//!
//! ```text
//! limit at rest    λ ≥ 0, a ≥ 0, λ a = 0               g = λ while it bears, x while it does not
//! motor at speed   |λ| ≤ most                          g = most − |λ|;  slower or faster: ∓most until u = speed,  g = |u − speed|
//! dry friction     the same with speed 0
//! load             g = 1 − share of what a joint bears
//! ```
//!
//! # Cost
//!
//! A solution of the rows for each row that acts otherwise than first supposed; eight looks at g for each piece.
//!
//! # Numerics
//!
//! A piece ends where the first g is zero, to rounding. Between two looks the smallest x is looked for where x turns.
//!
//! # Failure
//!
//! Rows that find no way to act keep the last one that was tried; the next piece tries again.
//!
//! # Tested by
//!
//! `tests/event_joints.rs` of `sim-steppers`

use super::{
    Linkage, Span,
    settle::{REST, TOUCH},
};
use crate::world::World;
use constraint_dynamics::joints::RowLaw;
use rigid_impulse::BodyState;
use sim_math::{
    Pose,
    integrate::Abort,
    spatial::{Force, Motion},
};

/// Share of the largest force or acceleration that counts as none.
const NONE: f64 = 1e-10;
/// Position and slip that count as none, m or rad, m/s or rad/s.
const NEAR: f64 = 1e-11;

/// How a row acts in a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Acting {
    /// Not at all.
    Off,
    /// Its velocity stays what it is to be, whatever that takes.
    Held,
    /// A force that follows from the state.
    Spring,
    /// Its greatest force.
    High,
    /// The same, the other way.
    Low,
}

/// What must not become negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    /// Position of a limit.
    Reach,
    /// Force of a limit.
    Push,
    /// What is left of the force of a motor or of friction.
    Strength(f64),
    /// Slip, with its sign.
    Slip(f64),
    /// What is left of what a joint bears.
    Load,
}

/// What to look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    span: u32,
    block: u32,
    row: u32,
    what: What,
}

/// Memory of [`Linkage::choose`].
#[derive(Debug, Default)]
pub(super) struct Choosing {
    /// Rows that may hold.
    rows: Vec<[u32; 3]>,
    wrenches: Vec<Force>,
    accelerations: Vec<Motion>,
    local: Vec<Pose>,
}

impl Linkage {
    /// Decides how rows act from now on, given the wrenches without joints, and takes slip from rows that hold.
    pub(crate) fn choose(
        &mut self,
        world: &World,
        time: f64,
        states: &mut [BodyState],
        free: &[Force],
    ) -> Result<(), Abort> {
        self.place(world, time, states);
        if !self.read(world, false) {
            return Err(self.abort());
        }
        self.first_guess();
        let tries = 8 + 4 * self.choosing.rows.len();
        for _ in 0..tries {
            if self.choosing.rows.is_empty() || !self.improve(world, time, states, free)? {
                break;
            }
        }
        for k in 0..self.flips.len() {
            self.flip(self.flips[k]);
        }
        self.watched.clear();
        self.hold();
        self.stop_rows();
        self.take_velocities(states);
        self.list_checks(world);
        Ok(())
    }

    /// Rows that may hold do.
    fn first_guess(&mut self) {
        self.choosing.rows.clear();
        for s in 0..self.spans.len() {
            let span = self.spans[s];
            for b in span.blocks[0]..span.blocks[1] {
                for i in 0..usize::from(self.rows.blocks[b as usize].rows) {
                    let slip = self.slip(&span, b, i);
                    let block = &self.rows.blocks[b as usize];
                    let pushed = |most: f64| match slip {
                        _ if most <= 0.0 => (Acting::Off, false),
                        _ if most == f64::INFINITY => (Acting::Held, false),
                        slip if slip.abs() <= REST => (Acting::Held, true),
                        slip if slip > 0.0 => (Acting::Low, false),
                        _ => (Acting::High, false),
                    };
                    let (acting, may) = match block.laws[i] {
                        RowLaw::Hold => (Acting::Held, false),
                        RowLaw::Limit { .. } if block.position[i] <= TOUCH && slip <= REST => {
                            (Acting::Held, true)
                        }
                        RowLaw::Limit { .. } => (Acting::Off, false),
                        RowLaw::Drive { damping: f64::INFINITY, most, .. } => pushed(most),
                        RowLaw::Drive { .. } => (Acting::Spring, false),
                        RowLaw::Friction { most } => pushed(most),
                    };
                    self.acting[b as usize][i] = acting;
                    if may {
                        self.choosing.rows.push([s as u32, b, i as u32]);
                    }
                }
            }
        }
    }

    /// Changes how the first row acts that acts wrong; false if there is none.
    fn improve(
        &mut self,
        world: &World,
        time: f64,
        states: &[BodyState],
        free: &[Force],
    ) -> Result<bool, Abort> {
        let mut wrenches = std::mem::take(&mut self.choosing.wrenches);
        wrenches.clear();
        wrenches.extend_from_slice(free);
        self.watched.clear();
        for &[_, b, i] in &self.choosing.rows {
            if self.acting[b as usize][i as usize] != Acting::Held {
                self.watched.push([b, i]);
            }
        }
        let result = self.exert(world, time, states, &mut wrenches);
        let mut accelerations = std::mem::take(&mut self.choosing.accelerations);
        accelerations.clear();
        accelerations
            .extend(wrenches.iter().enumerate().map(|(k, f)| self.acceleration(world, k, &states[k], f)));
        self.choosing.wrenches = wrenches;
        let next = result.map(|()| self.wrong(&accelerations));
        self.choosing.accelerations = accelerations;
        let Some((b, i, next)) = next? else { return Ok(false) };
        self.acting[b as usize][i as usize] = next;
        Ok(true)
    }

    /// The first row that acts wrong with these accelerations, and how it is to act.
    fn wrong(&self, accelerations: &[Motion]) -> Option<(u32, u32, Acting)> {
        let largest = self.lambda.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let mut watched = 0;
        for k in 0..self.choosing.rows.len() {
            let [s, b, i] = self.choosing.rows[k];
            let span = self.spans[s as usize];
            let law = self.rows.blocks[b as usize].laws[i as usize];
            let acting = self.acting[b as usize][i as usize];
            let most = match law {
                RowLaw::Drive { most, .. } | RowLaw::Friction { most } => Some(most),
                _ => None,
            };
            let next = if acting == Acting::Held {
                let force = self.exerted[b as usize][i as usize];
                match most {
                    None if force < -NONE * largest => Acting::Off,
                    Some(most) if force > most * (1.0 + NONE) => Acting::High,
                    Some(most) if force < -most * (1.0 + NONE) => Acting::Low,
                    _ => continue,
                }
            } else {
                let rate = self.rates[self.held_rows.len() + watched];
                watched += 1;
                let (mut a, mut scale) = (rate, rate.abs());
                let numbers = &self.bodies[span.bodies[0] as usize..span.bodies[1] as usize];
                for side in super::sides_of(&self.rows, b, i as usize, numbers) {
                    let part =
                        accelerations.get(side.body as usize).map_or(0.0, |motion| side.velocity(*motion));
                    (a, scale) = (a + part, scale + part.abs());
                }
                let wrong = match acting {
                    Acting::Off => a < -NONE * scale,
                    Acting::High => a > NONE * scale,
                    Acting::Low => a < -NONE * scale,
                    _ => false,
                };
                if !wrong {
                    continue;
                }
                Acting::Held
            };
            return Some((b, i, next));
        }
        None
    }

    /// A row does the other thing.
    fn flip(&mut self, [b, i]: [u32; 2]) {
        let law = self.rows.blocks[b as usize].laws[i as usize];
        let force = self.exerted[b as usize][i as usize];
        let acting = &mut self.acting[b as usize][i as usize];
        *acting = match (*acting, law) {
            (Acting::Held, RowLaw::Limit { .. }) => Acting::Off,
            (Acting::Held, RowLaw::Drive { .. } | RowLaw::Friction { .. }) => {
                if force > 0.0 {
                    Acting::High
                } else {
                    Acting::Low
                }
            }
            (Acting::Off | Acting::High | Acting::Low, _) => Acting::Held,
            (acting, _) => acting,
        };
    }

    fn list_checks(&mut self, world: &World) {
        self.checks.clear();
        for (s, span) in (0..).zip(&self.spans) {
            for b in span.blocks[0]..span.blocks[1] {
                let block = &self.rows.blocks[b as usize];
                for i in 0..usize::from(block.rows) {
                    if self.ignored.contains(&[b, i as u32]) {
                        continue;
                    }
                    let what = match (self.acting[b as usize][i], block.laws[i]) {
                        (Acting::Off, RowLaw::Limit { .. }) => What::Reach,
                        (Acting::Held, RowLaw::Limit { .. }) => What::Push,
                        (Acting::Held, RowLaw::Drive { most, .. } | RowLaw::Friction { most })
                            if most < f64::INFINITY =>
                        {
                            What::Strength(most)
                        }
                        (Acting::High, _) => What::Slip(-1.0),
                        (Acting::Low, _) => What::Slip(1.0),
                        _ => continue,
                    };
                    self.checks.push(Check { span: s, block: b, row: i as u32, what });
                }
            }
            let Some((_, joint)) = world.joint_in_slot(span.slot) else { continue };
            let most = joint.breaking();
            if most.force < f64::INFINITY || most.torque < f64::INFINITY {
                self.checks.push(Check { span: s, block: span.blocks[0], row: u32::MAX, what: What::Load });
            }
        }
    }

    /// Number of things to look at.
    pub(crate) fn checks(&self) -> usize {
        self.checks.len()
    }

    /// True if forces are among them.
    pub(crate) fn checks_forces(&self) -> bool {
        let forces = |c: &Check| matches!(c.what, What::Push | What::Strength(_) | What::Load);
        self.checks.iter().any(forces)
    }

    /// Reads rows where bodies are at a time, without forces.
    pub(crate) fn look(&mut self, world: &World, time: f64, states: &[BodyState]) -> Result<(), Abort> {
        self.place(world, time, states);
        if self.read(world, false) { Ok(()) } else { Err(self.abort()) }
    }

    /// Each g in units of what counts as none, and its rate for positions of limits, as bodies were placed last.
    pub(crate) fn measure(&mut self, world: &World, out: &mut Vec<[f64; 2]>) {
        out.clear();
        let largest = self.lambda.iter().fold(1e-9, |most: f64, x| most.max(x.abs()));
        let mut local = std::mem::take(&mut self.choosing.local);
        for check in &self.checks {
            let Check { block, row, what, .. } = *check;
            let span: Span = self.spans[check.span as usize];
            let force = || self.exerted[block as usize][row as usize];
            let g = match what {
                What::Reach => {
                    let x = self.rows.blocks[block as usize].position[row as usize];
                    [x / NEAR, self.slip(&span, block, row as usize)]
                }
                What::Push => [force() / (NONE * largest), 0.0],
                What::Strength(most) => [(most - force().abs()) / (NONE * most), 0.0],
                What::Slip(sign) => [sign * self.slip(&span, block, row as usize) / NEAR, 0.0],
                What::Load => match world.joint_in_slot(span.slot) {
                    Some((_, joint)) => [(1.0 - self.load(joint, span.slot, &mut local)) / NONE, 0.0],
                    None => [1.0, 0.0],
                },
            };
            out.push(g);
        }
        self.choosing.local = local;
    }

    /// A row whose g is negative at once does the other thing; one that did that already, or a load, is left alone.
    pub(crate) fn turn_over(&mut self, check: usize) {
        let Some(Check { block, row, what, .. }) = self.checks.get(check).copied() else { return };
        let row = [block, row];
        if what == What::Load || self.flips.contains(&row) {
            self.ignored.push(row);
        } else {
            self.flips.push(row);
        }
    }
}
