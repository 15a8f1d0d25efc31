//! The steppers that scenes with bodies run under, each with the bar that its kind has to reach.
//!
//! A new stepper is one more line in [`METHODS`]; every scene that runs "under each" then runs under it too.

use crate::{Failed, Row};
use sim_core::{
    broadphase::CoherentHash,
    narrowphase::default_chain,
    prelude::{ContactHandling, EventDriven, EventDrivenParams, World},
    rigid::{MicroParams, impact::Integrated},
    steppers::Parts,
    traits::Serial,
    world::{StepReport, Stepper},
};

/// What a scene asks of its stepper, in words that every stepper understands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    /// Size of the bodies, m: tolerances are in proportion.
    pub(crate) size: f64,
    /// Bodies come to rest; without rest every impact counts, however slow.
    pub(crate) rest: bool,
    /// Every contact of a pair gets an impulse, not the closest points only.
    pub(crate) all_contacts: bool,
}

impl Setup {
    /// Bodies of about a metre that may come to rest, impulses at the closest points.
    pub(crate) const PLAIN: Self = Self { size: 1.0, rest: true, all_contacts: false };
    /// Impacts only.
    pub(crate) const IMPACTS: Self = Self { rest: false, ..Self::PLAIN };
}

/// Of what kind a stepper is: bars differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Impacts at their exact times, motion in closed form between them.
    Exact,
}

/// One stepper.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Method {
    /// As written in the first column of the page.
    pub(crate) name: &'static str,
    /// Of what kind it is.
    pub(crate) kind: Kind,
    make: fn(&Setup) -> Result<Box<dyn Stepper>, Failed>,
}

/// Every stepper, in the order of the page.
pub(crate) const METHODS: &[Method] =
    &[Method { name: "event-driven", kind: Kind::Exact, make: event_driven }];

fn event_driven(setup: &Setup) -> Result<Box<dyn Stepper>, Failed> {
    let mut params = EventDrivenParams::for_size(setup.size);
    params.micro = setup.rest.then(|| MicroParams::mirtich(1e-3 * setup.size));
    params.contact_handling =
        if setup.all_contacts { ContactHandling::Improved } else { ContactHandling::Standard };
    let parts = Parts {
        broad_phase: Box::new(CoherentHash::default()),
        narrow_phase: Box::new(default_chain()),
        impact_law: Box::new(Integrated::default()),
        executor: Box::new(Serial),
    };
    Ok(Box::new(EventDriven::with(parts, params)))
}

/// A world under one of the steppers.
#[derive(Debug)]
pub(crate) struct Run {
    /// The world.
    pub(crate) world: World,
    /// The stepper.
    stepper: Box<dyn Stepper>,
}

impl Method {
    /// Puts a world under this stepper.
    pub(crate) fn run(&self, world: World, setup: &Setup) -> Result<Run, Failed> {
        Ok(Run { world, stepper: (self.make)(setup)? })
    }
}

impl Run {
    /// Moves on by `duration` ≥ 0 seconds.
    pub(crate) fn advance(&mut self, duration: f64) -> Result<StepReport, Failed> {
        Ok(self.stepper.advance(&mut self.world, duration)?)
    }

    /// Moves on to a time, s.
    pub(crate) fn advance_to(&mut self, time: f64) -> Result<StepReport, Failed> {
        self.advance((time - self.world.time()).max(0.0))
    }
}

/// Runs a scene under every stepper and collects the rows.
pub(crate) fn under_each(
    scene: impl Fn(&Method, &mut Vec<Row>) -> Result<(), Failed>,
) -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    for method in METHODS {
        scene(method, &mut rows)?;
    }
    Ok(rows)
}
