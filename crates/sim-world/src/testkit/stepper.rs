//! Conformance of [`Stepper`]s: when it may be stopped, cut, saved and handed another world, and what errors leave behind.
//!
//! ```
//! use sim_world::testkit::stepper::{Bounds, Splits, conformance};
//! # use sim_world::{StepError, StepReport, Stepper, StepperAccess};
//! # #[derive(Debug)]
//! # struct Mine;
//! # impl Stepper for Mine {
//! #     fn kind(&self) -> &'static str { "mine" }
//! #     fn prepare_with(&mut self, _: &mut StepperAccess<'_>) -> Result<(), StepError> { Ok(()) }
//! #     fn advance_with(&mut self, _: &mut StepperAccess<'_>, _: f64) -> Result<StepReport, StepError> { Ok(StepReport::default()) }
//! # }
//! let bounds = Bounds { splits: Splits::Steps(1.0 / 64.0), ..Bounds::default() };
//! let found = conformance(&|| Box::new(Mine), &bounds);
//! assert!(found.is_err(), "a stepper that moves nothing");
//! ```

use super::worlds::{self, Scene, text};
use crate::{Contact, Event, EventKind, ForceGenerator, Rest, StepError, StepReport, Stepper, World};
use sim_math::testkit::SplitMix64;
use sim_traits::BodyId;

/// Where an interval may be cut into advances without a bit of difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Splits {
    /// At any time: the stepper goes from event to event.
    Anywhere,
    /// At multiples of its step (s), which must be a power of two here, so that sums of steps have no rounding.
    Steps(f64),
}

/// What to demand.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Where an interval may be cut.
    pub splits: Splits,
    /// Random ways of cutting each interval.
    pub count: u32,
    /// How far from where it would be a body may be after a stepper had to start afresh, m; bodies have radii of 0.1 m. The collision envelope of
    /// steppers that have one.
    pub restart: f64,
    /// First number of the random stream.
    pub seed: u64,
    /// Worlds with joints are among those of the kit.
    pub joints: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { splits: Splits::Anywhere, count: 3, restart: 1e-3, seed: 1, joints: false }
    }
}

impl Bounds {
    /// Shortest piece of an interval, s.
    fn unit(&self) -> f64 {
        match self.splits {
            Splits::Anywhere => 1.0 / 65_536.0,
            Splits::Steps(step) => step,
        }
    }

    /// Length of an interval, s: about a seventh of a second, and no power of two of units.
    fn part(&self) -> f64 {
        let count = (0.14 / self.unit()).round().max(3.0);
        count * self.unit()
    }
}

/// Makes a fresh stepper, always with the same parts and parameters.
pub type Make<'a> = &'a dyn Fn() -> Box<dyn Stepper>;

/// Runs the kit; the first violation as text. It needs fresh steppers again and again, hence what makes them.
///
/// # Errors
/// What the stepper did wrong, and in which world.
pub fn conformance(make: Make<'_>, bounds: &Bounds) -> Result<(), String> {
    if let Splits::Steps(step) = bounds.splits {
        let mantissa = step.to_bits() & ((1 << 52) - 1);
        if !(step > 0.0 && step < 0.1 && mantissa == 0) {
            return Err(format!("bounds: the step must be a power of two below 0.1 s, got {step}"));
        }
    }
    for scene in worlds::scenes(bounds.joints)? {
        let named = |e: String| format!("{}: {e}", scene.name);
        repeatable(make, &scene, bounds).map_err(named)?;
        prepared(make, &scene, bounds).map_err(named)?;
        exact_times(make, &scene, bounds).map_err(named)?;
        bad_durations(make, &scene, bounds).map_err(named)?;
        let units = (bounds.part() / bounds.unit()).round() as usize;
        split(make, &scene, bounds, units).map_err(named)?;
        if scene.name == "bounce" {
            // 49 · (1/49) is not 1: a stepper must not find its times by such products.
            split(make, &scene, &Bounds { count: 1, ..*bounds }, 49).map_err(named)?;
        }
        unknown_worlds(make, &scene, bounds).map_err(named)?;
        #[cfg(feature = "serde")]
        saved(make, &scene, bounds).map_err(named)?;
    }
    for (name, world) in worlds::doubtful()? {
        refused_alike(make, &world).map_err(|e| format!("{name}: {e}"))?;
    }
    failing_controller(make, bounds).map_err(|e| format!("failing controller: {e}"))?;
    for (name, world, body) in worlds::broken()? {
        not_finite(make, world, body, bounds).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

/// What is seen of a world after an advance.
#[derive(Debug, Clone, PartialEq)]
struct View {
    digest: u64,
    events: Vec<Event>,
    contacts: Vec<Contact>,
    report: StepReport,
}

impl View {
    fn of(world: &World, report: StepReport) -> Self {
        let (events, contacts) = (world.events().to_vec(), world.contacts().to_vec());
        Self { digest: world.digest(), events, contacts, report }
    }

    /// Why two are not the same.
    fn same(&self, other: &Self, what: &str) -> Result<(), String> {
        let parts = [
            (self.digest == other.digest, "states"),
            (self.events == other.events, "events"),
            (self.contacts == other.contacts, "contacts"),
            (self.report == other.report, "reports"),
        ];
        match parts.iter().find(|(equal, _)| !equal) {
            Some((_, differ)) => Err(format!("{what}: other {differ} at t = {} s", other.report.time)),
            None => Ok(()),
        }
    }
}

/// One advance, whose end must be exact.
fn advance(stepper: &mut dyn Stepper, world: &mut World, duration: f64) -> Result<View, String> {
    let target = world.time() + duration;
    let report = stepper.advance(world, duration).map_err(|e| format!("advance by {duration} s: {e}"))?;
    for (what, time) in [("world", world.time()), ("report", report.time)] {
        if time.to_bits() != target.to_bits() {
            return Err(format!("advance by {duration} s: the {what} is at {time} s instead of {target} s"));
        }
    }
    finite(world)?;
    Ok(View::of(world, report))
}

fn finite(world: &World) -> Result<(), String> {
    let broken = world.bodies().find(|(_, b)| {
        !(b.state().pose().is_finite() && b.velocity().to_array().iter().all(|x| x.is_finite()))
    });
    broken.map_or(Ok(()), |(id, _)| Err(format!("{id} is not finite at t = {} s", world.time())))
}

/// Bits of the present states of all bodies.
fn states(world: &World) -> Vec<u64> {
    let of = |b: &crate::Body| {
        let pose = *b.state().pose();
        let place = pose.translation.to_array().into_iter().chain(pose.rotation.to_array());
        place.chain(b.velocity().to_array()).map(f64::to_bits).collect::<Vec<_>>()
    };
    world.bodies().flat_map(|(_, b)| of(b)).collect()
}

/// Number of intervals of a run.
const PARTS: u32 = 4;

/// A whole run of a scene; `before` is called before every advance, and gives who woke up there.
fn play(
    stepper: &mut dyn Stepper,
    scene: &Scene,
    part: f64,
    mut before: impl FnMut(&mut dyn Stepper, &mut World) -> Result<Vec<Event>, String>,
) -> Result<Vec<View>, String> {
    let mut world = scene.world.clone();
    let mut views = Vec::new();
    for k in 0..PARTS {
        let mut events = before(stepper, &mut world)?;
        let mut view = advance(stepper, &mut world, part)?;
        view.report.woke_up += events.len() as u32;
        events.append(&mut view.events);
        views.push(View { events, ..view });
        if scene.edited {
            worlds::edit(&mut world, k)?;
        }
    }
    Ok(views)
}

fn compare(views: &[View], others: &[View], what: &str) -> Result<(), String> {
    views.iter().zip(others).try_for_each(|(x, y)| x.same(y, what))
}

/// The same run again, by a fresh stepper and by one that was used.
fn repeatable(make: Make<'_>, scene: &Scene, bounds: &Bounds) -> Result<(), String> {
    let mut used = make();
    let views = play(used.as_mut(), scene, bounds.part(), |_, _| Ok(vec![]))?;
    compare(&views, &play(make().as_mut(), scene, bounds.part(), |_, _| Ok(vec![]))?, "the same run again")?;
    compare(
        &views,
        &play(used.as_mut(), scene, bounds.part(), |_, _| Ok(vec![]))?,
        "the same run by a stepper that was used",
    )
}

/// A look changes nothing, neither now nor later; it may wake who sleeps, where the user changed something beside it.
fn prepared(make: Make<'_>, scene: &Scene, bounds: &Bounds) -> Result<(), String> {
    let views = play(make().as_mut(), scene, bounds.part(), |_, _| Ok(vec![]))?;
    let looked = play(make().as_mut(), scene, bounds.part(), |stepper, world| {
        let before = world.clone();
        for _ in 0..2 {
            stepper.prepare(world).map_err(|e| format!("prepare: {e}"))?;
        }
        let woken = world.events().get(before.events().len()..).unwrap_or_default().to_vec();
        if woken.iter().any(|e| !matches!(e.kind, EventKind::WokeUp { .. })) {
            return Err(format!("prepare at t = {} s listed {woken:?}", before.time()));
        }
        let same = if woken.is_empty() {
            world.digest() == before.digest()
        } else {
            states(world) == states(&before) && world.time().to_bits() == before.time().to_bits()
        };
        if same { Ok(woken) } else { Err(format!("prepare at t = {} s changed the world", before.time())) }
    })?;
    // Distances that prepare computed, and boxes that it renewed, are its own.
    let without_cost = |views: Vec<View>| -> Vec<View> {
        let free = |v: View| View { report: StepReport { distances: 0, resweeps: 0, ..v.report }, ..v };
        views.into_iter().map(free).collect()
    };
    compare(&without_cost(views), &without_cost(looked), "with and without prepare")
}

/// Equal, also where a value is no number.
fn same_error(x: &StepError, y: &StepError) -> bool {
    format!("{x:?}") == format!("{y:?}")
}

/// What [`Stepper::prepare`] says of a world is what the first [`Stepper::advance`] says at once, and neither changes the world then. Gives the refusal, if it
/// is one: for steppers with parameters that cannot be, and worlds of one's own.
///
/// # Errors
/// How they differ.
pub fn refused_alike(make: Make<'_>, world: &World) -> Result<Option<StepError>, String> {
    let before = world.digest();
    let unchanged = |world: &World, who: &str| {
        if world.digest() == before {
            Ok(())
        } else {
            Err(format!("{who} changed a world that it only looked at"))
        }
    };
    let mut stepper = make();
    let mut looked = world.clone();
    let verdict = stepper.prepare(&mut looked);
    unchanged(&looked, "prepare")?;
    for duration in [0.0, 1.0 / 64.0] {
        let mut moved = world.clone();
        let found = make().advance(&mut moved, duration);
        match (&verdict, &found) {
            (Err(said), Err(says)) if same_error(said, says) => {}
            (Ok(()), Ok(_)) => continue,
            // It came later.
            (Ok(()), Err(_)) if moved.time() > world.time() => continue,
            _ => return Err(format!("prepare says {verdict:?}, advance by {duration} s {found:?}")),
        }
        unchanged(&moved, "advance")?;
        // And the one that looked says it again.
        let again = stepper.advance(&mut looked, duration);
        if !matches!((&again, &verdict), (Err(x), Err(y)) if same_error(x, y)) {
            return Err(format!("prepare says {verdict:?}, the next advance {again:?}"));
        }
        unchanged(&looked, "advance")?;
    }
    Ok(verdict.err())
}

/// Odd durations end where they should, and no duration changes nothing.
fn exact_times(make: Make<'_>, scene: &Scene, bounds: &Bounds) -> Result<(), String> {
    let mut random = SplitMix64(bounds.seed);
    let (mut stepper, mut world) = (make(), scene.world.clone());
    for k in 0..12 {
        let before = world.digest();
        // The last is less than an ulp of any time but zero.
        for nothing in [0.0, -0.0, if k == 0 { 0.0 } else { f64::MIN_POSITIVE }] {
            advance(stepper.as_mut(), &mut world, nothing)?;
            if world.digest() != before {
                return Err(format!(
                    "an advance by {nothing:e} s at t = {} s changed the world",
                    world.time()
                ));
            }
        }
        let odd = [0.1 / 3.0, 1e-9, random.range(0.0, 0.05), random.range(0.0, 1e-3)];
        advance(stepper.as_mut(), &mut world, odd[k % odd.len()])?;
    }
    Ok(())
}

/// Durations that cannot be are errors, and leave no trace.
fn bad_durations(make: Make<'_>, scene: &Scene, bounds: &Bounds) -> Result<(), String> {
    let views = play(make().as_mut(), scene, bounds.part(), |_, _| Ok(vec![]))?;
    let disturbed = play(make().as_mut(), scene, bounds.part(), |stepper, world| {
        for bad in [-1.0, -1e-12, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let before = world.digest();
            match stepper.advance(world, bad) {
                Err(StepError::Duration { value }) if value.to_bits() == bad.to_bits() => {}
                other => return Err(format!("advance by {bad} s: expected Duration, got {other:?}")),
            }
            if world.digest() != before {
                return Err(format!("an advance by {bad} s changed the world"));
            }
        }
        Ok(vec![])
    })?;
    compare(&views, &disturbed, "after durations that were refused")
}

/// However an interval is cut, its end and what happens in it are the same.
fn split(make: Make<'_>, scene: &Scene, bounds: &Bounds, units: usize) -> Result<(), String> {
    let views = play(make().as_mut(), scene, bounds.unit() * units as f64, |_, _| Ok(vec![]))?;
    let mut random = SplitMix64(bounds.seed);
    for way in 0..bounds.count {
        let (mut stepper, mut world) = (make(), scene.world.clone());
        for (k, whole) in (0..).zip(&views) {
            // The first way is many pieces, for steps all of them.
            let pieces = if way == 0 { units.min(64) } else { 1 + random.below(6) };
            let mut cuts: Vec<usize> = (1..pieces)
                .map(|i| if way == 0 { units * i / pieces } else { 1 + random.below(units - 1) })
                .collect();
            cuts.push(units);
            cuts.sort_unstable();
            cuts.dedup();
            let (mut last, mut events) = (0, Vec::new());
            for cut in cuts {
                advance(stepper.as_mut(), &mut world, bounds.unit() * (cut - last) as f64)?;
                events.extend_from_slice(world.events());
                last = cut;
            }
            for (equal, what) in
                [(world.digest() == whole.digest, "states"), (events == whole.events, "events")]
            {
                if !equal {
                    return Err(format!(
                        "{what} at t = {} s depend on how the interval is cut",
                        world.time()
                    ));
                }
            }
            if scene.edited {
                worlds::edit(&mut world, k)?;
            }
        }
    }
    Ok(())
}

/// The world goes on as under a fresh stepper.
fn as_fresh(
    make: Make<'_>,
    stepper: &mut dyn Stepper,
    world: &World,
    bounds: &Bounds,
    what: &str,
) -> Result<(), String> {
    // One clone each: what the stepper knows, or does not know, must not matter.
    let (mut ours, mut theirs, mut fresh) = (world.clone(), world.clone(), make());
    for _ in 0..2 {
        let expected = advance(fresh.as_mut(), &mut theirs, bounds.part())?;
        advance(stepper, &mut ours, bounds.part())?.same(&expected, what)?;
    }
    Ok(())
}

/// A world that the stepper does not know gets tables of its own, however much it looks like one that it knows.
fn unknown_worlds(make: Make<'_>, scene: &Scene, bounds: &Bounds) -> Result<(), String> {
    let part = bounds.part();
    let (mut known, mut twin) = (scene.world.clone(), scene.world.clone());
    let Some(body) = known.bodies().find(|(_, b)| b.is_free()).map(|(id, _)| id) else { return Ok(()) };
    // As many changes, the same time, another state.
    for (world, sign) in [(&mut known, 1.0), (&mut twin, -1.0)] {
        let mut velocity = world[body].velocity();
        velocity.linear += sim_math::glam::DVec3::new(0.3, 0.2, 0.5) * sign;
        velocity.angular.x += 2.0 * sign;
        world.set_velocity(body, velocity).map_err(text)?;
    }
    let mut stepper = make();
    advance(stepper.as_mut(), &mut known, part)?;
    advance(make().as_mut(), &mut twin, part)?;
    as_fresh(make, stepper.as_mut(), &twin, bounds, "a clone that went elsewhere")?;
    // The twin itself, not a clone of it.
    let mut expected = twin.clone();
    let view = advance(make().as_mut(), &mut expected, part)?;
    let mut stepper = make();
    let mut again = known.clone();
    advance(stepper.as_mut(), &mut again, 0.0)?;
    advance(stepper.as_mut(), &mut twin, part)?.same(&view, "a clone that went elsewhere")?;

    // Somebody else moved it.
    advance(stepper.as_mut(), &mut known, part)?;
    advance(make().as_mut(), &mut known, part)?;
    let mut copy = known.clone();
    let view = advance(make().as_mut(), &mut copy, part)?;
    advance(stepper.as_mut(), &mut known, part)?.same(&view, "a world that somebody else moved")?;

    // Somebody else took notice of its changes.
    let Some((body, old)) = known.bodies().find(|(_, b)| b.is_free()).map(|(id, b)| (id, b.velocity()))
    else {
        return Ok(());
    };
    known.set_velocity(body, old * 0.5).map_err(text)?;
    make().prepare(&mut known).map_err(text)?;
    super::as_stepper(&mut known, |world| {
        world.forget_changes();
    });
    let mut copy = known.clone();
    let view = advance(make().as_mut(), &mut copy, part)?;
    advance(stepper.as_mut(), &mut known, part)?.same(&view, "changes that somebody else noticed")?;

    // Back in time.
    as_fresh(make, stepper.as_mut(), &scene.world, bounds, "a world of an earlier time")
}

/// What is restored goes on to the bit, in a fresh stepper and in one that was used.
#[cfg(feature = "serde")]
fn saved(make: Make<'_>, scene: &Scene, bounds: &Bounds) -> Result<(), String> {
    let registry = worlds::registry();
    // The straight run, and those that were restored from it at all times before.
    let mut runs = vec![(make(), scene.world.clone())];
    for k in 0..PARTS {
        let (stepper, world) = &mut runs[0];
        if k == 2 {
            // Changes that it has noticed, and had no chance to act upon.
            stepper.prepare(world).map_err(text)?;
        }
        let (bytes, tables) = (world.snapshot(&registry).map_err(text)?, stepper.save(world).map_err(text)?);
        let mut used = make();
        advance(used.as_mut(), &mut scene.world.clone(), bounds.part())?;
        if let Some(cut) = tables.len().checked_sub(1) {
            if used.load(world, &tables[..cut]).is_ok() {
                return Err(format!("{cut} bytes of {} were taken", tables.len()));
            }
            as_fresh(make, used.as_mut(), world, bounds, "after bytes that were refused")?;
        }
        for mut other in [make(), used] {
            let restored = World::restore(&bytes, &registry).map_err(text)?;
            other.load(&restored, &tables).map_err(|e| format!("load: {e}"))?;
            runs.push((other, restored));
        }
        let mut straight: Option<View> = None;
        for (stepper, world) in &mut runs {
            let view = advance(stepper.as_mut(), world, bounds.part())?;
            straight.get_or_insert_with(|| view.clone()).same(&view, "saved and restored")?;
            if scene.edited {
                worlds::edit(world, k)?;
            }
        }
    }
    Ok(())
}

/// A controller that fails stops the run at its time; everything else is as if it had not failed.
fn failing_controller(make: Make<'_>, bounds: &Bounds) -> Result<(), String> {
    let total = bounds.part() * 2.0;
    let quiet = worlds::failing([f64::INFINITY; 2])?;
    for last in [3.0, f64::INFINITY] {
        let (mut stepper, mut world) = (make(), worlds::failing([2.0, last])?);
        let (mut first, mut calls) = (None, 0);
        while world.time() < total {
            calls += 1;
            let before = world.time();
            let Err(error) = stepper.advance(&mut world, total - before) else { break };
            finite(&world)?;
            let StepError::Controller { controller, time, source } = error else {
                return Err(format!("expected Controller, got {error}"));
            };
            if !(before..=total).contains(&world.time()) || time.to_bits() != world.time().to_bits() {
                return Err(format!("it failed at t = {time} s, and the world is at {} s", world.time()));
            }
            let who = (controller, source);
            if first.as_ref().is_some_and(|f| *f != who) || calls > 20 {
                return Err(format!("failure {calls}: {first:?} first, now {who:?}"));
            }
            if first.is_none() {
                let mut calm = quiet.clone();
                advance(make().as_mut(), &mut calm, time)?;
                if states(&calm) != states(&world) {
                    return Err(format!("states at t = {time} s are not those of the event before"));
                }
            }
            first = Some(who);
        }
        if first.is_none() {
            return Err("nobody said so".to_owned());
        }
        if world.time().to_bits() != total.to_bits() {
            return Err(format!("the world is at {} s instead of {total} s", world.time()));
        }
        // Some steppers start afresh after an error: the same motion, not the same bits.
        let mut calm = quiet.clone();
        advance(make().as_mut(), &mut calm, total)?;
        for ((id, body), (_, other)) in world.bodies().zip(calm.bodies()) {
            let apart = (body.center() - other.center()).length();
            if apart > bounds.restart {
                return Err(format!("{id} is {apart:e} m from where it would be without the failure"));
            }
        }
    }
    Ok(())
}

/// A body whose force is no number is frozen, or named; what it did to others is nothing, and the world can be used. One that is only
/// far too fast may also go on.
fn not_finite(make: Make<'_>, mut world: World, body: BodyId, bounds: &Bounds) -> Result<(), String> {
    let (mut stepper, part) = (make(), bounds.part());
    let mut without = world.clone();
    without.remove(body).map_err(text)?;
    let is_nan = world.forces().any(|(_, force)| matches!(force, ForceGenerator::Field { .. }));
    let target = 3.0 * part;
    let mut refused = None;
    for _ in 0..3 {
        let end = world.time() + part;
        match stepper.advance(&mut world, part) {
            Ok(_) if refused.is_some() => return Err(format!("{refused:?} is no error any more")),
            Ok(_) if world.time().to_bits() == end.to_bits() => {}
            Ok(_) => return Err(format!("the world is at {} s instead of {end} s", world.time())),
            Err(error) => {
                let names = match &error {
                    StepError::Body { body: b, .. } | StepError::Unsupported { body: b, .. } => *b == body,
                    _ => false,
                };
                let error = text(error);
                if (is_nan && !names) || refused.as_ref().is_some_and(|e| *e != error) {
                    return Err(format!("{error:?} does not name {body}, or is another than {refused:?}"));
                }
                refused = Some(error);
            }
        }
        finite(&world)?;
    }
    let is_frozen = |id| world.get(id).is_some_and(|b| b.rest() == Rest::Quarantined);
    if let Some((id, _)) = world.bodies().find(|(id, _)| *id != body && is_frozen(*id)) {
        return Err(format!("{id} was frozen, and not {body}"));
    }
    if is_nan && refused.is_none() && !is_frozen(body) {
        return Err(format!("{body} is neither frozen nor named"));
    }
    if refused.is_some() {
        // Without it everything goes on.
        world.remove(body).map_err(text)?;
        let rest = target - world.time();
        advance(stepper.as_mut(), &mut world, rest)?;
    }
    advance(make().as_mut(), &mut without, world.time())?;
    for (id, other) in without.bodies() {
        let apart = (world[id].center() - other.center()).length();
        if apart > bounds.restart {
            return Err(format!("{id} is {apart:e} m from where it would be alone"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        super::naive::{Fault, Naive},
        *,
    };

    #[test]
    fn a_plain_stepper_conforms() {
        conformance(&|| Box::new(Naive::default()), &Bounds::default()).unwrap();
        let steps = Bounds { splits: Splits::Steps(1.0 / 64.0), ..Bounds::default() };
        conformance(&|| Box::new(Naive::default()), &steps).unwrap();
    }

    #[test]
    fn broken_steppers_are_found_out() {
        for (fault, said) in Fault::ALL {
            let found = conformance(&|| Box::new(Naive::new(fault)), &Bounds::default());
            let message = found.err().unwrap_or_else(|| panic!("{fault:?} passed"));
            assert!(message.contains(said), "{fault:?}: {message}");
        }
    }

    #[test]
    fn steps_are_powers_of_two() {
        let odd = Bounds { splits: Splits::Steps(1.0 / 60.0), ..Bounds::default() };
        assert!(conformance(&|| Box::new(Naive::default()), &odd).unwrap_err().starts_with("bounds"));
    }
}
