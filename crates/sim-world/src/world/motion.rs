//! Pieces of motion, rest and time.

use crate::{
    access::StepperAccess,
    body::Rest,
    error::WorldError,
    events::{Event, EventKind},
    piece::Piece,
};
use rigid_impulse::{BodyError, BodyState};
use sim_math::{Pose, spatial::Motion};
use sim_traits::{BodyId, Executor, Serial};
use std::sync::atomic::{AtomicU32, Ordering};

impl StepperAccess<'_> {
    /// Puts a body on another piece. The present state stays until [`StepperAccess::set_time`].
    #[inline]
    pub fn set_piece(&mut self, id: BodyId, piece: Piece) {
        if let Some(body) = self.world.bodies.get_mut(id) {
            self.world.account.flight(body, self.world.gravity, piece.start());
            body.piece = piece;
        }
    }

    /// Puts a free body elsewhere at the world's time, to open an overlap; it goes on from there with the same acceleration. `user` if it was the user who
    /// put it where it was. Gives what that added to the potential of its weight, of constant forces and of springs, J.
    pub fn put_right(&mut self, id: BodyId, state: BodyState, user: bool) -> f64 {
        let mut account = self.world.account;
        let (gravity, time) = (self.world.gravity, self.world.time);
        let Some(body) = self.world.bodies.get(id).filter(|b| b.is_free()) else { return 0.0 };
        account.flight(body, gravity, time);
        let (before, held) = (body.now, body.cluster.is_some());
        let pulls = [gravity, body.pull].map(|a| a * body.mass());
        let (model, piece) =
            (body.model, Piece::ballistic(time, &body.model, state, body.piece.uniform_acceleration()));
        let stretched = if held { self.world.held_energy_of(id) } else { 0.0 };
        if let Some(body) = self.world.bodies.get_mut(id) {
            (body.now, body.piece) = (state, piece);
        }
        let springs = if held { self.world.held_energy_of(id) - stretched } else { 0.0 };
        let lifted = account.moved(&model, [&before, &state], pulls, springs, user);
        self.world.account = account;
        lifted
    }

    /// Slows a free body down at the world's time to pay for what was lifted; `carrier` is the velocity of the script that carries it, at its centre
    /// of mass.
    pub fn slow_down(&mut self, id: BodyId, velocity: Motion, carrier: Motion) {
        let (gravity, time) = (self.world.gravity, self.world.time);
        if let Some(body) = self.world.bodies.get_mut(id).filter(|b| b.is_free()) {
            self.world.account.flight(body, gravity, time);
            let before = body.now;
            body.now.velocity = velocity;
            self.world.account.slowed(&body.model, [&before, &body.now], carrier);
            body.piece = Piece::ballistic(time, &body.model, body.now, body.piece.uniform_acceleration());
        }
    }

    /// Begins a new piece of a free body at `time` (s), under gravity and its forces; bodies that are integrated with it get
    /// new pieces too.
    ///
    /// # Errors
    /// A motion under forces that is not finite, naming the body.
    #[inline]
    pub fn relaunch(&mut self, id: BodyId, time: f64, state: BodyState) -> Result<(), WorldError> {
        let gravity = self.world.gravity;
        if let Some(body) = self.world.bodies.get_mut(id) {
            if let Some(cluster) = body.cluster {
                return self.world.launch(cluster, time, Some((id, state)));
            }
            self.world.account.flight(body, gravity, time);
            body.piece = Piece::ballistic(time, &body.model, state, gravity + body.pull);
        }
        Ok(())
    }

    /// Puts the free body of a slot where a step of time has brought it at `time` (s), which is not before the world's: pose of the centre of mass with
    /// principal axes, and velocity, world axes. Its next piece begins there, under gravity and constant forces; its way from the world's time to there
    /// is booked as a straight one. Other slots are left alone.
    ///
    /// # Errors
    /// A pose that cannot be, naming the body.
    pub fn arrive(&mut self, slot: u32, time: f64, pose: Pose, velocity: Motion) -> Result<(), WorldError> {
        let (gravity, from) = (self.world.gravity, self.world.time);
        let Some((id, body)) = self.world.bodies.at_mut::<BodyId>(slot).filter(|(_, b)| b.is_free()) else {
            return Ok(());
        };
        if body.piece.start() < from {
            self.world.account.flight(body, gravity, from);
        }
        let before = body.now.pose().translation;
        body.now.set_pose(pose).map_err(|source| WorldError::Body { body: id, source })?;
        body.now.velocity = velocity;
        self.world.account.carried(body, gravity, [before, pose.translation], time - from);
        body.piece = Piece::ballistic_loosely(time, &body.model, body.now, gravity + body.pull);
        body.arrived = time;
        Ok(())
    }

    /// Lets a free body lie still from `time` (s) on, in the pose that it has then, until it is pushed or woken.
    ///
    /// # Errors
    /// No such body, one that is not free, or a state that is not finite.
    pub fn put_to_sleep(&mut self, id: BodyId, time: f64) -> Result<(), WorldError> {
        let (gravity, mut account) = (self.world.gravity, self.world.account);
        let body = self.world.body_mut(id)?;
        super::trees::refuse_link(id, body, "trees do not sleep yet")?;
        if !body.is_free() || body.cluster.is_some() {
            let what = "only free bodies sleep, without forces that depend on the state";
            return Err(WorldError::NotFree { body: id, what });
        }
        let before = body.at(time).map_err(|source| WorldError::Body { body: id, source })?;
        account.flight(body, gravity, time);
        let mut state = before;
        state.velocity = Motion::ZERO;
        account.stopped(&body.model, [&before, &state]);
        body.piece = Piece::still(state);
        body.now = state;
        body.rest = Rest::Asleep;
        self.world.account = account;
        self.world.list(Event { time, kind: EventKind::FellAsleep { body: id } });
        Ok(())
    }

    /// Wakes a sleeping body at `time` (s); false if it was not asleep. For steppers, which know its neighbours; a user
    /// pushes instead.
    pub fn wake(&mut self, id: BodyId, time: f64) -> bool {
        let gravity = self.world.gravity;
        let Some(body) = self.world.bodies.get_mut(id).filter(|b| b.rest == Rest::Asleep) else {
            return false;
        };
        body.rest = Rest::Awake;
        body.piece = Piece::ballistic(time, &body.model, *body.piece.state(), gravity + body.pull);
        self.world.list(Event { time, kind: EventKind::WokeUp { body: id } });
        true
    }

    /// Freezes a body whose state stops being finite at `time` (s), at the latest finite state that is known, without
    /// contacts, until the user moves it.
    ///
    /// # Errors
    /// There is no such body.
    pub fn quarantine(&mut self, id: BodyId, time: f64) -> Result<(), WorldError> {
        if let Some((tree, _)) = self.body(id)?.link {
            // Nothing of a tree moves when one of its links does not.
            let links = self.tree(tree)?.links().to_vec();
            if let Some(tree) = self.world.trees.get_mut(tree) {
                self.world.account.pushed_rotors(-tree.rotor_energy());
                tree.state.v.fill(0.0);
            }
            return links.into_iter().try_for_each(|link| self.freeze(link, time));
        }
        self.freeze(id, time)
    }

    fn freeze(&mut self, id: BodyId, time: f64) -> Result<(), WorldError> {
        let mut account = self.world.account;
        let body = self.world.body_mut(id)?;
        let finite = |state: &BodyState| {
            state.pose().is_finite() && state.velocity.to_array().iter().all(|x| x.is_finite())
        };
        // What the account knows of the body ends where its piece begins, or the advance.
        let booked = account.since(&body.piece).and_then(|t| body.at(t).ok()).filter(finite);
        let last = body.at(time).ok().filter(finite).or(booked);
        let mut state =
            last.unwrap_or(if finite(body.piece.state()) { *body.piece.state() } else { body.now });
        state.velocity = Motion::ZERO;
        account.stopped(&body.model, [&booked.unwrap_or(body.now), &state]);
        body.piece = Piece::still(state);
        body.now = state;
        body.rest = Rest::Quarantined;
        body.outdated = false;
        self.world.account = account;
        self.world.list(Event { time, kind: EventKind::Quarantined { body: id } });
        Ok(())
    }

    /// Moves the world's time (s), and the present state of every body with it. Pieces are not touched: beyond the end of a
    /// piece under forces the state is a guess, and a stepper gets there by [`StepperAccess::continue_cluster`].
    ///
    /// # Errors
    /// A state that is not finite, naming the first such body; it keeps the state that it had.
    pub fn set_time(&mut self, time: f64) -> Result<(), WorldError> {
        self.set_time_by(&Serial, time)
    }

    /// [`StepperAccess::set_time`] on the threads of an executor.
    ///
    /// # Errors
    /// As [`StepperAccess::set_time`].
    pub fn set_time_by(&mut self, executor: &dyn Executor, time: f64) -> Result<(), WorldError> {
        self.world.time = time;
        let failed = AtomicU32::new(u32::MAX);
        self.world.bodies.for_each_mut(executor, &|slot, body| {
            let here = [body.arrived, body.piece.start()].iter().all(|t| t.to_bits() == time.to_bits());
            if here && body.now == *body.piece.state() {
                return;
            }
            if !body.piece.is_still() {
                match body.at(time) {
                    Ok(now) if now.pose().is_finite() && now.velocity.linear.is_finite() => body.now = now,
                    _ => {
                        failed.fetch_min(slot, Ordering::Relaxed);
                    }
                }
            }
        });
        if let Some((body, failed)) = self.world.bodies.at::<BodyId>(failed.into_inner()) {
            failed.at(time).map_err(|source| WorldError::Body { body, source })?;
            let source = BodyError::NonFinite { what: "state", value: f64::INFINITY };
            return Err(WorldError::Body { body, source });
        }
        Ok(())
    }
}
