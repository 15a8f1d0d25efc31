//! Steppers and their parts by name.

use crate::format::{
    error::{Place, SceneError},
    model::{ContactsSpec, Scene},
    nearest,
};
use sim_core::parts::{
    self, BROAD_PHASE, IMPACT, MOST_THREADS, NARROW_PHASE, SOLVER, STEPPERS, Seam, UnknownName,
};
use sim_steppers::{
    ContactHandling, EventDriven, EventDrivenParams, Micro, Parts, SleepParams, TimeSleepParams,
    TimeStepping, TimeSteppingParams,
};
use sim_world::{Body, Part, Stepper, World};

/// What runs the world. Names are those of [`sim_core::parts`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// One of [`STEPPERS`].
    pub stepper: &'static str,
    /// Of [`BROAD_PHASE`].
    pub broad_phase: &'static str,
    /// Of [`NARROW_PHASE`].
    pub narrow_phase: &'static str,
    /// Of [`IMPACT`].
    pub impact: &'static str,
    /// Of [`SOLVER`].
    pub solver: &'static str,
    /// Threads, the calling one included.
    pub threads: usize,
    /// Parameters of the event-driven stepper.
    pub params: EventDrivenParams,
    /// Parameters of time stepping.
    pub time: TimeSteppingParams,
}

/// Longest side of the box around the smallest free body, in its own axes, m; `None` without free bodies.
fn smallest_size(world: &World) -> Option<f64> {
    let size = |body: &Body| {
        let boxes = body.colliders().iter().filter_map(|id| {
            let collider = world.collider(*id).ok()?;
            Some(collider.shape().aabb(&collider.extent().body_from_shape))
        });
        boxes.reduce(|a, b| a.merged(&b)).map(|all| all.size().max_element())
    };
    let free = world.bodies().filter(|(_, body)| body.is_free());
    free.filter_map(|(_, body)| size(body)).filter(|size| size.is_finite() && *size > 0.0).reduce(f64::min)
}

impl Choice {
    /// What a scene asks for; lengths may be relative to the bodies of its world.
    pub(crate) fn of(scene: &Scene, world: &World, root: &Place) -> Result<Self, SceneError> {
        let (parts, here) = (&scene.parts, root.field("parts"));
        let (spec, at) = (&scene.stepper, root.field("stepper"));
        let mut params = EventDrivenParams::default();
        params.envelope = match (spec.envelope, spec.envelope_share) {
            (Some(_), Some(_)) => {
                return Err(at.error("`envelope` and `envelope_share` say the same: give one of them"));
            }
            (Some(envelope), None) => Some(at.positive("envelope", envelope)?),
            (None, Some(share)) => {
                let share = at.positive("envelope_share", share)?;
                smallest_size(world).map(|size| share * size)
            }
            (None, None) => None,
        };
        if spec.micro_collisions == Some(false) {
            params.micro = Micro::Off;
        }
        if let Some(window) = spec.window {
            params.window = at.period("window", window)?;
        }
        if let Some(contacts) = spec.contacts {
            params.contact_handling = match contacts {
                ContactsSpec::Standard => ContactHandling::Standard,
                ContactsSpec::Improved => ContactHandling::Improved,
            };
        }
        if let Some(after) = spec.sleep {
            let mut sleep = SleepParams::default();
            sleep.after = at.positive("sleep", after)?;
            params.sleep = Some(sleep);
        }
        if let Some(events) = spec.max_events {
            params.max_events = events;
        }
        params.validate().map_err(|e| at.error(e))?;
        let mut time = TimeSteppingParams::default();
        if let Some(sleep) = params.sleep {
            // The same stillness under both steppers.
            let mut timed = TimeSleepParams::default();
            (timed.after, timed.motion) = (sleep.after, sleep.motion * params.envelope_in(world));
            time.sleep = Some(timed);
        }
        if let Some(step) = spec.step {
            time.dt = at.period("step", step)?;
        }
        let name = |seam: &Seam, given: &Option<String>| {
            let given = given.as_deref().unwrap_or(seam.choices[0].name);
            find(seam, given).map_err(|problem| here.field(seam.key).error(problem))
        };
        // What only makes sense from collision to collision asks for it; only time stepping has a contact law, so whoever names one wants it.
        let of_events = spec.envelope.is_some()
            || spec.envelope_share.is_some()
            || spec.micro_collisions.is_some()
            || spec.window.is_some()
            || spec.contacts.is_some()
            || spec.max_events.is_some()
            || parts.impact.is_some();
        let stepper = match &spec.kind {
            None if of_events && parts.solver.is_none() => "event_driven",
            None => STEPPERS[0],
            Some(kind) => find_stepper(kind).map_err(|problem| at.field("kind").error(problem))?,
        };
        if let (Some(solver), true) = (&parts.solver, stepper != "time") {
            let problem = format_args!("`{solver}` is for time stepping, and `stepper.kind` is `{stepper}`");
            return Err(here.field("solver").error(problem));
        }
        let threads = parts.threads.unwrap_or(1);
        if !(1..=MOST_THREADS).contains(&threads) {
            let problem = format_args!("must be from 1 to {MOST_THREADS}, got {threads}");
            return Err(here.field("threads").error(problem));
        }
        Ok(Self {
            stepper,
            broad_phase: name(&BROAD_PHASE, &parts.broad_phase)?,
            narrow_phase: name(&NARROW_PHASE, &parts.narrow_phase)?,
            impact: name(&IMPACT, &parts.impact)?,
            solver: name(&SOLVER, &parts.solver)?,
            threads,
            params,
            time,
        })
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        let named = [
            (BROAD_PHASE, self.broad_phase),
            (NARROW_PHASE, self.narrow_phase),
            (IMPACT, self.impact),
            (SOLVER, self.solver),
        ];
        let named = named.into_iter().filter_map(|(seam, name)| Some(seam.find(name).ok()?.make()));
        for part in named.chain([parts::threads(self.threads)]) {
            // A set of parts has all that have names.
            let _: Result<(), Part> = parts.set(part);
        }
        parts
    }

    /// The stepper with its parts.
    #[must_use]
    pub fn stepper(&self) -> Box<dyn Stepper> {
        self.stepper_with(self.parts())
    }

    /// The stepper with parts that may have been wrapped.
    #[must_use]
    pub fn stepper_with(&self, parts: Parts) -> Box<dyn Stepper> {
        if self.stepper == "time" {
            TimeStepping::with(parts, self.time).into()
        } else {
            EventDriven::with(parts, self.params).into()
        }
    }
}

/// The known name of a part, with `-` for `_` allowed.
///
/// # Errors
/// Unknown, with the nearest known one, or all.
pub fn find(seam: &Seam, given: &str) -> Result<&'static str, String> {
    let found = seam.find(given).map(|choice| choice.name);
    found.map_err(|unknown| told(&unknown))
}

/// The known name of a stepper, with `-` for `_` allowed.
///
/// # Errors
/// Unknown, with the nearest known one, or all.
pub fn find_stepper(given: &str) -> Result<&'static str, String> {
    let clean = given.replace('-', "_");
    let found = STEPPERS.iter().find(|known| **known == clean);
    found.copied().ok_or_else(|| told(&UnknownName::new("stepper", given, STEPPERS)))
}

fn told(unknown: &UnknownName) -> String {
    match nearest(&unknown.name.replace('-', "_"), unknown.known.iter().copied()) {
        Some(near) => {
            let UnknownName { what, name, known, .. } = unknown;
            format!("unknown {what} `{name}`, did you mean `{near}`? (known are {})", known.join(", "))
        }
        None => unknown.to_string(),
    }
}
