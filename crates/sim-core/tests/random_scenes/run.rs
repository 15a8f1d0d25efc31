//! One scene under one stepper, looked at after every step.

use super::{
    overlap,
    spec::{H, Room, Spec},
};
use sim_core::{lcp::Driver, prelude::*, steppers::Parts};
use std::fmt;

/// A stepper, and what it is held to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// Scenes in CI.
    pub(crate) scenes: u64,
    /// How many of them may fail for defects that are known, to be lowered as these go; a soak excuses none. Which ones fail depends on rounding.
    pub(crate) known: u64,
    /// Most free bodies in a scene.
    pub(crate) most: usize,
    /// Largest overlap, as a share of the smaller body.
    pub(crate) overlap: f64,
    /// Largest remainder of the energy account, as a share of the energy that flowed.
    pub(crate) remainder: f64,
    /// Whether more overlap, more remainder and dearer steps fail the scene; they are counted otherwise.
    pub(crate) strict: [bool; 3],
}

/// Overlaps: none but rounding from event to event; what laws leave open until their correction; what springs sink in under fast impacts.
pub(crate) const METHODS: [Method; 4] = [
    Method {
        name: "events",
        scenes: 20,
        known: 0,
        most: 8,
        overlap: 1e-9,
        remainder: 1e-9,
        strict: [true; 3],
    },
    Method {
        name: "exact",
        scenes: 60,
        known: 0,
        most: 10,
        overlap: 1e-3,
        remainder: 1e-6,
        strict: [true; 3],
    },
    Method {
        name: "lemke",
        scenes: 60,
        known: 0,
        most: 4,
        overlap: 1e-3,
        remainder: 1e-6,
        strict: [true, true, false],
    },
    Method {
        name: "soft",
        scenes: 60,
        known: 0,
        most: 10,
        overlap: 0.05,
        remainder: 1e-3,
        strict: [false, true, false],
    },
];

/// A body that is this share of the smaller one inside another is on its way through.
pub(crate) const THROUGH: f64 = 0.5;
/// No step may cost more than this many times the median per contact of its own run.
pub(crate) const DEAREST: f64 = 50.0;

/// Contacts that a contact law visits in the time of one distance, or of reading one contact: as measured, on the average of 300 scenes.
const VISITS: f64 = 8.0;

impl Method {
    fn stepper(&self) -> Box<dyn Stepper> {
        let params = TimeSteppingParams::default();
        match self.name {
            "events" => {
                let parts = Parts::default();
                Box::new(EventDriven::new(parts))
            }
            "exact" => Box::new(time_stepping(ConeNewton::default(), params)),
            "lemke" => Box::new(time_stepping(PolyhedralCone::new(Driver::default()), params)),
            _ => Box::new(soft_stepping(SoftParams::default(), TimeSteppingParams::default())),
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// `advance` gave an error.
    Error,
    /// A state that is not finite, or a body that was frozen for it.
    NotFinite,
    /// Out of a closed room.
    Escaped,
    /// Past another body where there is no way past.
    Passed,
    /// More overlap than the method may have.
    Overlap,
    /// Energy that no cause explains.
    Remainder,
    /// A step that costs far more than the others.
    Dear,
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) class: Class,
    pub(crate) step: u32,
    pub(crate) text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in step {}: {}", self.class, self.step, self.text)
    }
}

/// What was measured in a run that did not fail.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// Remainder of the account over the energy that flowed.
    pub(crate) remainder: f64,
    /// The dearest step over the median, per contact.
    pub(crate) dearest: f64,
    /// Worst overlap over the smaller body.
    pub(crate) overlap: f64,
}

/// Runs a scene with some of its bodies.
pub(crate) fn run(spec: &Spec, method: &Method, keep: &[bool]) -> Result<Figures, Failure> {
    let fail = |class, step, text| Failure { class, step, text };
    let Some((mut world, ids)) = spec.build(keep) else {
        return Err(fail(Class::Error, 0, "it cannot be built".to_owned()));
    };
    let mut order = ids.clone();
    order.sort_by(|a, b| world[*a].center().x.total_cmp(&world[*b].center().x));
    let mut stepper = method.stepper();
    let (mut total, mut figures, mut costs) = (StepReport::default(), Figures::default(), Vec::new());
    let mut spin = 0.0;
    for step in 0..spec.steps {
        // Turns of the fastest body that a failure of this step or the next would have to do with, rad.
        let fastest = ids.iter().map(|id| world[*id].velocity().angular.length() * H).fold(0.0, f64::max);
        let spun = f64::max(spin, fastest);
        spin = fastest;
        let report = stepper.advance(&mut world, H).map_err(|e| fail(Class::Error, step, e.to_string()))?;
        total = if step == 0 { report } else { total.then(&report) };
        // From event to event a pair in contact counts as one.
        let points = match report.solver.steps {
            0 => world.contacts().len() as u64,
            _ => report.solver.points,
        };
        if points > 0 {
            // Distances, contacts read in every part of the step, and contacts visited in the iterations of the law.
            let work = (report.distances + report.solver.steps.max(1) * points) as f64
                + report.solver.visits as f64 / VISITS;
            costs.push(work / points as f64);
        }
        for &id in &ids {
            let (at, v) = (world[id].center(), world[id].velocity());
            if !at.is_finite() || v.to_array().iter().any(|x| !x.is_finite()) || report.quarantined > 0 {
                return Err(fail(Class::NotFinite, step, format!("{id} at {at}, {v:?}")));
            }
            if !overlap::is_inside(spec, &world, id) {
                let share = world[id].velocity().linear.length() * H / overlap::size(&world, id);
                return Err(fail(
                    Class::Escaped,
                    step,
                    format!("{id} at {at}, {share:.2} of its size per step, spun {spun:.2} rad"),
                ));
            }
        }
        if matches!(spec.room, Room::Tube(_)) {
            if let Some(k) =
                (1..order.len()).find(|k| world[order[*k]].center().x < world[order[k - 1]].center().x)
            {
                return Err(fail(Class::Passed, step, format!("{} and {}", order[k], order[k - 1])));
            }
        }
        let (share, who) = overlap::worst(spec, &world, method.overlap);
        figures.overlap = figures.overlap.max(share);
        if share > if method.strict[0] { method.overlap } else { THROUGH } {
            return Err(fail(
                Class::Overlap,
                step,
                format!("{} and {} by {share:.2e} of the smaller, spun {spun:.2} rad", who[0], who[1]),
            ));
        }
    }
    let energy = &total.energy;
    figures.remainder = energy.remainder().abs() / (energy.flowed + energy.start).max(f64::MIN_POSITIVE);
    if method.strict[1] && figures.remainder > method.remainder {
        return Err(fail(
            Class::Remainder,
            spec.steps,
            format!("{:.2e} of what flowed: {energy:?}", figures.remainder),
        ));
    }
    costs.sort_by(f64::total_cmp);
    if let (Some(median), Some(most)) = (costs.get(costs.len() / 2), costs.last()) {
        figures.dearest = most / median;
    }
    if method.strict[2] && figures.dearest > DEAREST {
        return Err(fail(
            Class::Dear,
            spec.steps,
            format!("{:.0} times the median per contact", figures.dearest),
        ));
    }
    Ok(figures)
}

/// The same failure with as few bodies as can be.
pub(crate) fn minimised(spec: &Spec, method: &Method, failure: Failure) -> (Vec<bool>, Failure) {
    let (mut keep, mut failure) = (vec![true; spec.count()], failure);
    loop {
        let smaller = (0..keep.len()).filter(|k| keep[*k]).find_map(|k| {
            let mut fewer = keep.clone();
            fewer[k] = false;
            let found = run(spec, method, &fewer).err().filter(|f| f.class == failure.class)?;
            fewer.contains(&true).then_some((fewer, found))
        });
        match smaller {
            Some(found) => (keep, failure) = found,
            None => return (keep, failure),
        }
    }
}
