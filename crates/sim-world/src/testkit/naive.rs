//! A stepper without contacts, right, or wrong in one way: the kit must notice.

use crate::{
    Mark, Rest, SnapshotError, StepError, StepReport, Stepper, StepperAccess, TimerId, World, WorldError,
    control::ControllerId,
};
use sim_traits::Shape;
use std::sync::atomic::{AtomicU64, Ordering};

/// What it does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Fault {
    #[default]
    None,
    MovesInPrepare,
    PreparesLater,
    PrepareLeavesTrace,
    RefusesAndMoves,
    EndsEarly,
    ReportsAnotherTime,
    ZeroMoves,
    TakesNegativeDurations,
    RefusalLeavesTrace,
    RunsOnAfterFailure,
    HalfMovedByFailure,
    HidesFailure,
    StaysBroken,
    SkipsAfterFailure,
    SavesNothing,
    TakesAnyBytes,
    SplitsShow,
    ListsAtEnds,
    KnowsByTimeAndCount,
    KnowsItsWorldAtAnyTime,
    KnowsEveryWorld,
    Dice,
    LeavesBroken,
    FreezesAnother,
}

impl Fault {
    /// All of them, with a part of what the kit says.
    pub(super) const ALL: [(Self, &'static str); 24] = [
        (Self::MovesInPrepare, "prepare at t = 0 s changed the world"),
        (Self::PreparesLater, "unknown shape: prepare says Ok"),
        (Self::PrepareLeavesTrace, "with and without prepare"),
        (Self::RefusesAndMoves, "prepare changed a world"),
        (Self::EndsEarly, "instead of"),
        (Self::ReportsAnotherTime, "the report is at"),
        (Self::ZeroMoves, "an advance by 0e0 s"),
        (Self::TakesNegativeDurations, "expected Duration"),
        (Self::RefusalLeavesTrace, "after durations that were refused"),
        (Self::RunsOnAfterFailure, "and the world is at"),
        (Self::HalfMovedByFailure, "are not those of the event before"),
        (Self::HidesFailure, "nobody said so"),
        (Self::StaysBroken, "expected Controller"),
        (Self::SkipsAfterFailure, "without the failure"),
        (Self::SavesNothing, "saved and restored"),
        (Self::TakesAnyBytes, "were taken"),
        (Self::SplitsShow, "depend on how the interval is cut"),
        (Self::ListsAtEnds, "events at t"),
        (Self::KnowsByTimeAndCount, "a clone that went elsewhere"),
        (Self::KnowsItsWorldAtAnyTime, "somebody else"),
        (Self::KnowsEveryWorld, "a clone that went elsewhere"),
        (Self::Dice, "the same run again"),
        (Self::LeavesBroken, "neither frozen nor named"),
        (Self::FreezesAnother, "was frozen, and not"),
    ];
}

/// Bodies fly; sixteen times a second they are pushed by as much as a table says, which is made when a world is first seen.
#[derive(Debug, Default)]
pub(super) struct Naive {
    fault: Fault,
    seen: Option<Mark>,
    /// Changes and time of the world that is known.
    reached: (u64, f64),
    /// The table, m/s.
    push: f64,
    broken: bool,
    frozen: u32,
}

#[derive(Debug, Clone, Copy)]
enum Due {
    Pieces(u32),
    Timer(TimerId),
    Control(ControllerId),
    Push,
}

impl Naive {
    pub(super) fn new(fault: Fault) -> Self {
        Self { fault, ..Self::default() }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn knows(&self, world: &World) -> bool {
        let count = world.revision() - world.changes().len() as u64;
        let there = self.reached.0 == count && self.reached.1.to_bits() == world.time().to_bits();
        let same = self.seen == Some(world.mark_before_changes());
        match self.fault {
            Fault::KnowsByTimeAndCount => self.seen.is_some() && there,
            Fault::KnowsItsWorldAtAnyTime => same,
            Fault::KnowsEveryWorld => self.seen.is_some(),
            _ => same && there,
        }
    }

    fn sync(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        let custom = world.colliders().find(|(_, c)| matches!(c.shape(), Shape::Custom(_)));
        if let Some(body) = custom.map(|(_, c)| c.body()) {
            if self.is(Fault::RefusesAndMoves) {
                self.relaunch(world, 1.0)?;
            }
            return Err(StepError::Unsupported { body, what: "its shape" });
        }
        if !self.knows(world) {
            self.push = world.bodies().find(|(_, b)| b.is_free()).map_or(0.0, |(_, b)| b.center().z);
        }
        self.note(world);
        Ok(())
    }

    fn note(&mut self, world: &mut StepperAccess<'_>) {
        world.forget_changes();
        self.seen = Some(world.mark());
        self.reached = (world.revision(), world.time());
    }

    /// Begins new pieces at the present time.
    fn relaunch(&self, world: &mut StepperAccess<'_>, push: f64) -> Result<(), StepError> {
        let free = |(_, b): &(_, &crate::Body)| b.is_free() && b.rest() == Rest::Awake;
        let all: Vec<_> = world.bodies().filter(free).map(|(id, b)| (id, *b.state())).collect();
        for (id, mut state) in all {
            state.velocity.linear.x += push;
            // Of others that are integrated with it the piece has begun now, and its state is what it was.
            world.relaunch(id, world.time(), state).map_err(StepError::from)?;
            world.set_time(world.time()).map_err(StepError::from)?;
        }
        Ok(())
    }

    fn next(world: &World) -> (f64, Due) {
        let mut first = ((world.time() * 16.0).floor() / 16.0 + 1.0 / 16.0, Due::Push);
        let pieces = (0..world.cluster_count()).map(|c| (world.cluster_end(c), Due::Pieces(c)));
        let timers = world.timers().map(|(id, t)| (t.next(), Due::Timer(id)));
        let controllers = world.controllers().map(|(id, t)| (t.next(), Due::Control(id)));
        for due in pieces.chain(timers).chain(controllers) {
            if due.0 < first.0 {
                first = due;
            }
        }
        first
    }

    fn handle(
        &mut self,
        world: &mut StepperAccess<'_>,
        time: f64,
        due: Due,
        target: f64,
    ) -> Result<(), StepError> {
        match due {
            Due::Pieces(cluster) => {
                world.continue_cluster(cluster, time).map_err(StepError::from)?;
            }
            Due::Timer(timer) => world.fire_timer(timer, time),
            Due::Push => self.relaunch(world, 0.01 * self.push)?,
            Due::Control(controller) => {
                let result = world.run_controller(controller);
                self.note(world);
                match result {
                    Ok(()) => {}
                    Err(_) if self.is(Fault::HidesFailure) => {}
                    Err(WorldError::Body { body, source }) => return Err(StepError::Body { body, source }),
                    Err(source) => {
                        if self.is(Fault::RunsOnAfterFailure) {
                            world.set_time(target).map_err(StepError::from)?;
                        }
                        if self.is(Fault::HalfMovedByFailure) {
                            let id = world.bodies().find(|(_, b)| b.is_free()).map(|(id, _)| id);
                            let body = id.map(|id| (id, world[id].at(time + 0.01)));
                            if let Some((id, Ok(state))) = body {
                                let _ = world.put_right(id, state, false);
                            }
                        }
                        self.broken = true;
                        let source = Box::new(source);
                        return Err(StepError::Controller { controller, time, source });
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves the time of the world; who is not finite then is frozen.
    fn arrive(&mut self, world: &mut StepperAccess<'_>, time: f64) -> Result<(), StepError> {
        while let Err(error) = world.set_time(time).map_err(StepError::from) {
            self.freeze(world, error)?;
        }
        Ok(())
    }

    fn freeze(&mut self, world: &mut StepperAccess<'_>, error: StepError) -> Result<(), StepError> {
        let StepError::Body { body, .. } = error else { return Err(error) };
        if self.is(Fault::LeavesBroken) {
            return Err(error);
        }
        self.frozen += 1;
        let first = world.bodies().find(|(_, b)| b.is_free() && b.rest() == Rest::Awake).map(|(id, _)| id);
        let who = if self.is(Fault::FreezesAnother) { first.unwrap_or(body) } else { body };
        world.quarantine(who, world.time()).map_err(StepError::from)
    }

    fn run(&mut self, world: &mut StepperAccess<'_>, target: f64) -> Result<(), StepError> {
        loop {
            let (time, due) = Self::next(world);
            let time = time.max(world.time());
            if time > target {
                return self.arrive(world, target);
            }
            // Ends of pieces come before what needs the states of that time.
            if !matches!(due, Due::Pieces(_)) {
                self.arrive(world, time)?;
            }
            self.handle(world, time, due, target)?;
        }
    }
}

impl Stepper for Naive {
    fn kind(&self) -> &'static str {
        "naive"
    }

    fn prepare_with(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        if self.is(Fault::PreparesLater) {
            return Ok(());
        }
        self.sync(world)?;
        if self.is(Fault::MovesInPrepare) {
            self.relaunch(world, 0.1)?;
        }
        if self.is(Fault::PrepareLeavesTrace) {
            self.push += 0.01;
        }
        Ok(())
    }

    fn advance_with(
        &mut self,
        world: &mut StepperAccess<'_>,
        duration: f64,
    ) -> Result<StepReport, StepError> {
        let mut target = world.time() + duration;
        if !(duration >= 0.0 && target.is_finite()) {
            if self.is(Fault::TakesNegativeDurations) && duration < 0.0 {
                return Ok(StepReport::default());
            }
            if self.is(Fault::RefusalLeavesTrace) {
                self.push += 0.01;
            }
            return Err(StepError::Duration { value: duration });
        }
        if self.broken && self.is(Fault::StaysBroken) {
            return Err(StepError::Parameter { what: "state after an error", value: 0.0 });
        }
        world.clear_events();
        self.sync(world)?;
        if self.is(Fault::Dice) {
            static THROW: AtomicU64 = AtomicU64::new(0);
            self.push += 0.001 * THROW.fetch_add(1, Ordering::Relaxed) as f64;
        }
        if self.is(Fault::SplitsShow) && target > world.time() || self.is(Fault::ZeroMoves) && duration == 0.0
        {
            self.relaunch(world, 1e-9)?;
        }
        if self.is(Fault::EndsEarly) {
            // Ten steps that do not add up.
            target = (0..10).fold(world.time(), |t, _| t + duration / 10.0);
        }
        if self.broken && self.is(Fault::SkipsAfterFailure) {
            self.relaunch(world, 1.0)?;
            self.broken = false;
        }
        self.frozen = 0;
        while let Err(error) = self.run(world, target) {
            if self.is(Fault::LeavesBroken) && matches!(error, StepError::Body { .. }) {
                // It is where it was, and everybody else goes on.
                let _ = world.set_time(target);
                break;
            }
            if let Err(error) = self.freeze(world, error) {
                self.note(world);
                return Err(error);
            }
        }
        if self.is(Fault::ListsAtEnds) {
            let (time, kind) = (target, crate::EventKind::Timer { timer: TimerId::new(0, 0), count: 0 });
            world.list(crate::Event { time, kind });
        }
        self.note(world);
        let time = if self.is(Fault::ReportsAnotherTime) { duration } else { target };
        Ok(StepReport { time, quarantined: self.frozen, ..StepReport::default() })
    }

    fn save(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
        if !self.knows(world) || self.is(Fault::SavesNothing) {
            return Ok(Vec::new());
        }
        Ok(self.push.to_le_bytes().to_vec())
    }

    fn load(&mut self, world: &World, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.seen = None;
        if bytes.is_empty() || self.is(Fault::TakesAnyBytes) && bytes.len() != 8 {
            return Ok(());
        }
        let bytes = bytes.try_into().map_err(|_| SnapshotError::Mismatch { what: "stepper" })?;
        self.push = f64::from_le_bytes(bytes);
        self.seen = Some(world.mark_before_changes());
        self.reached = (world.revision() - world.changes().len() as u64, world.time());
        Ok(())
    }
}
