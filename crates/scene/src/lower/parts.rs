//! Steppers and their parts by name.

use crate::format::{
    error::{Place, SceneError},
    model::{ContactsSpec, Scene},
    nearest,
};
use collision_broadphase::{BruteForce, CoherentHash, ColumnSweep, DynamicTree, PlainHash, SweepAndPrune};
use collision_narrowphase::{Analytic, Gjk, LinCanny, VClip, default_chain};
use constraint_dynamics::{ConeGaussSeidel, ConeNewton, Greedy, PolyhedralCone, soft::SoftParams};
use lcp_lemke::Driver;
use rigid_impulse::impact::{Algebraic, Frictionless, Integrated, Phases, Restitution};
use sim_steppers::{
    ContactHandling, ContactMethod, EventDriven, EventDrivenParams, Micro, Parts, SleepParams, TimeParts,
    TimeSleepParams, TimeStepping, TimeSteppingParams,
};
use sim_traits::{BroadPhase, Chain, ImpactLaw, NarrowPhase, Serial};
use sim_world::{Body, Stepper, World};

/// Names of steppers; the first is the default.
pub const STEPPERS: &[&str] = &["time", "event_driven"];
/// Names of broad phases.
pub const BROAD_PHASES: &[&str] =
    &["column_sweep", "coherent_hash", "plain_hash", "dynamic_tree", "sweep_and_prune", "brute_force"];
/// Names of narrow phases.
pub const NARROW_PHASES: &[&str] = &["default", "vclip", "gjk", "lin_canny"];
/// Names of impact laws.
pub const IMPACTS: &[&str] = &["integrated", "newton", "poisson", "phases", "algebraic", "frictionless"];

/// Names of contact laws, for time stepping.
pub const SOLVERS: &[&str] = &["cone", "sweeps", "greedy", "lemke", "soft"];

/// What runs the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// One of [`STEPPERS`].
    pub stepper: &'static str,
    /// One of [`BROAD_PHASES`].
    pub broad_phase: &'static str,
    /// One of [`NARROW_PHASES`].
    pub narrow_phase: &'static str,
    /// One of [`IMPACTS`].
    pub impact: &'static str,
    /// One of [`SOLVERS`].
    pub solver: &'static str,
    /// Parameters of the event-driven stepper.
    pub params: EventDrivenParams,
    /// Parameters of time stepping.
    pub time: TimeSteppingParams,
}

/// The parts of a stepper, boxed, so that a program can wrap them.
#[derive(Debug)]
pub struct Boxed {
    /// Finds pairs of boxes.
    pub broad_phase: Box<dyn BroadPhase>,
    /// Finds distances.
    pub narrow_phase: Box<dyn NarrowPhase>,
    /// Gives impulses.
    pub impact: Box<dyn ImpactLaw>,
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
        let name = |known: &'static [&'static str], what: &str, given: &Option<String>, place: Place| {
            given.as_deref().map_or(Ok(known[0]), |given| {
                find(known, what, given).map_err(|problem| place.error(problem))
            })
        };
        // What only makes sense from collision to collision asks for it; only time stepping has a contact law, so whoever names one wants it.
        let of_events = spec.envelope.is_some()
            || spec.envelope_share.is_some()
            || spec.micro_collisions.is_some()
            || spec.window.is_some()
            || spec.contacts.is_some()
            || spec.max_events.is_some()
            || parts.impact.is_some();
        let stepper = match spec.kind {
            None if of_events && parts.solver.is_none() => "event_driven",
            _ => name(STEPPERS, "stepper", &spec.kind, at.field("kind"))?,
        };
        if let (Some(solver), true) = (&parts.solver, stepper != "time") {
            let problem = format_args!("`{solver}` is for time stepping, and `stepper.kind` is `{stepper}`");
            return Err(here.field("solver").error(problem));
        }
        Ok(Self {
            stepper,
            broad_phase: name(BROAD_PHASES, "broad phase", &parts.broad_phase, here.field("broad_phase"))?,
            narrow_phase: name(
                NARROW_PHASES,
                "narrow phase",
                &parts.narrow_phase,
                here.field("narrow_phase"),
            )?,
            impact: name(IMPACTS, "impact law", &parts.impact, here.field("impact"))?,
            solver: name(SOLVERS, "contact law", &parts.solver, here.field("solver"))?,
            params,
            time,
        })
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> Boxed {
        let broad_phase: Box<dyn BroadPhase> = match self.broad_phase {
            "coherent_hash" => Box::new(CoherentHash::default()),
            "plain_hash" => Box::new(PlainHash::default()),
            "dynamic_tree" => Box::new(DynamicTree::default()),
            "sweep_and_prune" => Box::new(SweepAndPrune::default()),
            "brute_force" => Box::new(BruteForce::default()),
            _ => Box::new(ColumnSweep::default()),
        };
        let narrow_phase: Box<dyn NarrowPhase> = match self.narrow_phase {
            "vclip" => Box::new(Chain::new(vec![Box::new(VClip), Box::new(Analytic), Box::new(Gjk)])),
            "gjk" => Box::new(Chain::new(vec![Box::new(Gjk), Box::new(Analytic)])),
            "lin_canny" => Box::new(Chain::new(vec![Box::new(LinCanny), Box::new(Analytic), Box::new(Gjk)])),
            _ => Box::new(default_chain()),
        };
        let impact: Box<dyn ImpactLaw> = match self.impact {
            "newton" => Box::new(Integrated::with(Restitution::Newton)),
            "poisson" => Box::new(Integrated::with(Restitution::Poisson)),
            "phases" => Box::new(Phases::default()),
            "algebraic" => Box::new(Algebraic::default()),
            "frictionless" => Box::new(Frictionless),
            _ => Box::new(Integrated::default()),
        };
        Boxed { broad_phase, narrow_phase, impact }
    }

    /// The stepper with its parts.
    #[must_use]
    pub fn stepper(&self) -> Box<dyn Stepper> {
        self.stepper_with(self.parts())
    }

    /// The stepper with parts that may have been wrapped.
    #[must_use]
    pub fn stepper_with(&self, parts: Boxed) -> Box<dyn Stepper> {
        if self.stepper == "time" {
            let (mut params, soft) = (self.time, TimeSteppingParams::soft());
            let contacts = match self.solver {
                "sweeps" => ContactMethod::law(ConeGaussSeidel::default()),
                "greedy" => ContactMethod::law(Greedy::default()),
                "lemke" => ContactMethod::law(PolyhedralCone::new(Box::new(Driver::default()))),
                "soft" => {
                    (params.margin, params.recycle) = (soft.margin, soft.recycle);
                    ContactMethod::Soft(SoftParams::default())
                }
                _ => ContactMethod::law(ConeNewton::default()),
            };
            let (broad_phase, narrow_phase) = (parts.broad_phase, parts.narrow_phase);
            let parts = TimeParts { broad_phase, narrow_phase, contacts, executor: Box::new(Serial) };
            return Box::new(TimeStepping::with(parts, params));
        }
        let parts = Parts {
            broad_phase: parts.broad_phase,
            narrow_phase: parts.narrow_phase,
            impact_law: parts.impact,
            executor: Box::new(Serial),
        };
        Box::new(EventDriven::with(parts, self.params))
    }
}

/// The known name, with `-` for `_` allowed.
///
/// # Errors
/// Unknown, with the nearest known one.
pub fn find(known: &'static [&'static str], what: &str, given: &str) -> Result<&'static str, String> {
    let clean = given.replace('-', "_");
    known.iter().find(|k| **k == clean).copied().ok_or_else(|| {
        let shown: String = given.chars().take(40).collect();
        match nearest(&clean, known.iter().copied()) {
            Some(near) => format!("unknown {what} `{shown}`, did you mean `{near}`?"),
            None => format!("unknown {what} `{shown}`, known are {}", known.join(", ")),
        }
    })
}
