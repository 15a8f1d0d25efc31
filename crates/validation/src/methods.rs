//! The steppers that scenes with bodies run under, each with the bar that its kind has to reach.
//!
//! A new stepper is one more line in [`METHODS`]; every scene that runs "under each" then runs under it too.
//!
//! Bars follow from the order of a method. Events are exact to rounding. Steps of time are exact in velocities under constant forces and in free
//! flight, and bounces are answered at their time; places of what slides are of first order in the step h, off by ½ a h t after sliding at a constant a
//! for a time t. Springs of soft contacts add what their stiffness lets sink in.

use crate::{Failed, Row};
use sim_core::{
    lcp::Driver,
    prelude::{
        ConeGaussSeidel, ConeNewton, ContactHandling, EventDriven, EventDrivenParams, Greedy, Micro,
        PolyhedralCone, SoftParams, TimeSteppingParams, World, soft_stepping, time_stepping,
    },
    steppers::Parts,
    traits::RowSolver,
    world::{StepReport, Stepper},
};

/// Length of the steps of time, s: the default.
pub(crate) const H: f64 = 1.0 / 60.0;

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
    /// From event to event: impacts at their exact times, motion in closed form between them.
    Events,
    /// Steps of time, contacts without overlap, round cones of friction.
    Cone,
    /// The same with cones of eight sides, one of them along the slip.
    Pyramid,
    /// Steps of time, contacts as stiff springs.
    Soft,
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
pub(crate) const METHODS: &[Method] = &[
    Method { name: "event-driven", kind: Kind::Events, make: event_driven },
    Method { name: "time, newton", kind: Kind::Cone, make: |setup| Ok(by_law(setup, ConeNewton::default())) },
    Method {
        name: "time, sweeps",
        kind: Kind::Cone,
        make: |setup| Ok(by_law(setup, ConeGaussSeidel::default())),
    },
    Method { name: "time, greedy", kind: Kind::Cone, make: |setup| Ok(by_law(setup, Greedy::default())) },
    Method {
        name: "time, lemke",
        kind: Kind::Pyramid,
        make: |setup| Ok(by_law(setup, PolyhedralCone::new(Driver::default()))),
    },
    Method { name: "time, soft", kind: Kind::Soft, make: soft },
];

fn by_law(setup: &Setup, law: impl RowSolver + 'static) -> Box<dyn Stepper> {
    Box::new(time_stepping(law, stepping(setup, TimeSteppingParams::default())))
}

fn soft(setup: &Setup) -> Result<Box<dyn Stepper>, Failed> {
    Ok(Box::new(soft_stepping(SoftParams::default(), stepping(setup, TimeSteppingParams::default()))))
}

/// Sizes they find themselves.
fn stepping(setup: &Setup, mut params: TimeSteppingParams) -> TimeSteppingParams {
    params.rest_speed = if setup.rest { params.rest_speed } else { 0.0 };
    params
}

fn event_driven(setup: &Setup) -> Result<Box<dyn Stepper>, Failed> {
    let mut params = EventDrivenParams::for_size(setup.size);
    params.micro = if setup.rest { Micro::On } else { Micro::Off };
    params.contact_handling =
        if setup.all_contacts { ContactHandling::Improved } else { ContactHandling::Standard };
    let parts = Parts::default();
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
    /// True for steps of time.
    pub(crate) fn steps(&self) -> bool {
        self.kind != Kind::Events
    }

    /// The bar of this kind of method.
    pub(crate) fn bar(&self, events: f64, law: f64, soft: f64) -> f64 {
        match self.kind {
            Kind::Events => events,
            Kind::Cone | Kind::Pyramid => law,
            Kind::Soft => soft,
        }
    }

    /// Time between two looks at a world, s: never shorter than a step, which a look would cut short.
    pub(crate) fn look(&self, wanted: f64) -> f64 {
        if self.steps() { wanted.max(H) } else { wanted }
    }

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
