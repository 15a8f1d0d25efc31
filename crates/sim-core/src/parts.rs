//! Steppers and all their parts by name: the one list that scenes, the program `sim` and others choose from.
//!
//! ```
//! use sim_core::{parts, prelude::*};
//!
//! let world = World::new([0.0, 0.0, -9.81])?;
//! let sim = Simulation::builder(world)
//!     .stepper(parts::stepper("time")?)
//!     .part(parts::named("broad_phase", "dynamic_tree")?)
//!     .part(parts::named("solver", "soft")?)
//!     .part(parts::named("executor", "2")?)
//!     .build()?;
//! let wrong = parts::named("solver", "glue").unwrap_err();
//! assert_eq!(wrong.to_string(), "unknown solver `glue`, known are cone, sweeps, greedy, lemke, soft");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::Threads;
use collision_broadphase::{BruteForce, CoherentHash, ColumnSweep, DynamicTree, PlainHash, SweepAndPrune};
use collision_narrowphase::{Analytic, Composite, Gjk, LinCanny, VClip, default_chain};
use constraint_dynamics::{ConeGaussSeidel, ConeNewton, Greedy, PolyhedralCone, soft::SoftParams};
use lcp_lemke::Driver;
use rigid_impulse::impact::{Algebraic, Frictionless, Integrated, Phases, Restitution};
use sim_steppers::{EventDriven, Parts, TimeStepping};
use sim_traits::{Chain, Serial};
use sim_world::{Part, Stepper};
use thiserror::Error;

/// A name that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown {what} `{name}`, known are {}", .known.join(", "))]
#[non_exhaustive]
pub struct UnknownName {
    /// Of what: "solver", "stepper", "part".
    pub what: &'static str,
    /// The name as given, 40 characters at most.
    pub name: String,
    /// All names that there are.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    /// Of what, the name, and all that are known.
    #[must_use]
    pub fn new(what: &'static str, name: &str, known: &[&'static str]) -> Self {
        Self { what, name: name.chars().take(40).collect(), known: known.to_vec() }
    }
}

/// A part that has a name.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    make: fn() -> Part,
}

/// A place in a stepper that a part goes into.
#[derive(Debug, Clone, Copy)]
pub struct Seam {
    /// Its key in scenes and the name of its flag, with `_` for `-`.
    pub key: &'static str,
    /// In words.
    pub what: &'static str,
    /// What can go there. The first is the default.
    pub choices: &'static [Choice],
}

impl Seam {
    /// All names, the default first.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.choices.iter().map(|choice| choice.name).collect()
    }

    /// The choice of that name, where `-` may stand for `_`.
    ///
    /// # Errors
    /// An unknown name, with all that are known.
    pub fn find(&self, name: &str) -> Result<&'static Choice, UnknownName> {
        let clean = name.replace('-', "_");
        let found = self.choices.iter().find(|choice| choice.name == clean);
        found.ok_or_else(|| UnknownName::new(self.what, name, &self.names()))
    }
}

impl Choice {
    /// Makes the part.
    #[must_use]
    pub fn make(&self) -> Part {
        (self.make)()
    }
}

const fn choice(name: &'static str, about: &'static str, make: fn() -> Part) -> Choice {
    Choice { name, about, make }
}

/// Which boxes overlap.
pub const BROAD_PHASE: Seam = Seam {
    key: "broad_phase",
    what: "broad phase",
    choices: &[
        choice("coherent_hash", "grids of several sizes; only boxes that change cost anything", || {
            Part::BroadPhase(CoherentHash::default().into())
        }),
        choice("plain_hash", "grids of several sizes, filled anew for each report", || {
            Part::BroadPhase(PlainHash::default().into())
        }),
        choice("column_sweep", "columns over the ground, each swept along one axis", || {
            Part::BroadPhase(ColumnSweep::default().into())
        }),
        choice("dynamic_tree", "a balanced tree of boxes; best for rays", || {
            Part::BroadPhase(DynamicTree::default().into())
        }),
        choice("sweep_and_prune", "ends of boxes kept in order along three axes", || {
            Part::BroadPhase(SweepAndPrune::default().into())
        }),
        choice("brute_force", "every box against every other", || {
            Part::BroadPhase(BruteForce::default().into())
        }),
    ],
};

/// How far apart two shapes are, and where they touch.
pub const NARROW_PHASE: Seam = Seam {
    key: "narrow_phase",
    what: "narrow phase",
    choices: &[
        choice("default", "closed forms, V-Clip for polyhedra, GJK for the rest", || {
            Part::NarrowPhase(default_chain().into())
        }),
        choice("vclip", "V-Clip where both are polyhedra", || {
            Part::NarrowPhase(Chain::default().then(VClip).then(Analytic).then(Gjk).then(Composite).into())
        }),
        choice("gjk", "GJK and EPA for all convex shapes", || {
            Part::NarrowPhase(Chain::default().then(Gjk).then(Analytic).then(Composite).into())
        }),
        choice("lin_canny", "Lin and Canny where both are polyhedra", || {
            Part::NarrowPhase(Chain::default().then(LinCanny).then(Analytic).then(Gjk).then(Composite).into())
        }),
    ],
};

/// What impulse one collision exerts: event-driven stepper.
pub const IMPACT: Seam = Seam {
    key: "impact",
    what: "impact law",
    choices: &[
        choice("integrated", "slip integrated through the collision, restitution by work (Stronge)", || {
            Part::ImpactLaw(Integrated::default().into())
        }),
        choice("newton", "the same, restitution by velocities", || {
            Part::ImpactLaw(Integrated::with(Restitution::Newton).into())
        }),
        choice("poisson", "the same, restitution by impulses", || {
            Part::ImpactLaw(Integrated::with(Restitution::Poisson).into())
        }),
        choice("phases", "closed form by phases of sliding and sticking", || {
            Part::ImpactLaw(Phases::default().into())
        }),
        choice("algebraic", "Newton along the normal, friction as large as it may be", || {
            Part::ImpactLaw(Algebraic::default().into())
        }),
        choice("frictionless", "along the normal only", || Part::ImpactLaw(Frictionless.into())),
    ],
};

/// What impulses all contacts and joints of an island exert: time stepping.
pub const SOLVER: Seam = Seam {
    key: "solver",
    what: "solver",
    choices: &[
        choice("cone", "Newton's method on exact friction cones", || {
            Part::ContactLaw(ConeNewton::default().into())
        }),
        choice("sweeps", "projected Gauss-Seidel on exact friction cones", || {
            Part::ContactLaw(ConeGaussSeidel::default().into())
        }),
        choice("greedy", "the worst contact first", || Part::ContactLaw(Greedy::default().into())),
        choice("lemke", "friction pyramids as a complementarity problem", || {
            Part::ContactLaw(PolyhedralCone::new(Driver::default()).into())
        }),
        choice("soft", "stiff springs in substeps: for large scenes", || {
            Part::SoftContacts(SoftParams::default())
        }),
    ],
};

/// Where threads come from. A number is a choice too: so many threads.
pub const EXECUTOR: Seam = Seam {
    key: "executor",
    what: "executor",
    choices: &[
        choice("serial", "the calling thread alone", || Part::Executor(Serial.into())),
        choice("threads", "as many threads as the machine runs at the same time", || {
            Part::Executor(Threads::available().into())
        }),
    ],
};

/// All seams.
pub const SEAMS: &[Seam] = &[BROAD_PHASE, NARROW_PHASE, IMPACT, SOLVER, EXECUTOR];

/// Names of steppers, the default first.
pub const STEPPERS: &[&str] = &["time", "event_driven"];

/// Most threads that a name can ask for.
pub const MOST_THREADS: usize = 1024;

/// The part of a name for a seam: `named("solver", "soft")`, `named("executor", "4")`.
///
/// # Errors
/// An unknown seam or name, with all that are known.
pub fn named(seam: &str, name: &str) -> Result<Part, UnknownName> {
    let clean = seam.replace('-', "_");
    let found = SEAMS.iter().find(|s| s.key == clean);
    let keys: Vec<&str> = SEAMS.iter().map(|s| s.key).collect();
    let seam = found.ok_or_else(|| UnknownName::new("part", seam, &keys))?;
    if seam.key == EXECUTOR.key {
        if let Some(count) = name.parse().ok().filter(|count| (1..=MOST_THREADS).contains(count)) {
            return Ok(threads(count));
        }
        return seam.find(name).map(Choice::make).map_err(|mut unknown| {
            unknown.known.push("a number of threads up to 1024");
            unknown
        });
    }
    seam.find(name).map(Choice::make)
}

/// An executor of so many threads, the calling one included.
#[must_use]
pub fn threads(count: usize) -> Part {
    Part::Executor(if count <= 1 { Serial.into() } else { Threads::new(count).into() })
}

/// The stepper of that name with default parts and parameters.
///
/// # Errors
/// An unknown name, with all that are known.
pub fn stepper(name: &str) -> Result<Box<dyn Stepper>, UnknownName> {
    match name.replace('-', "_").as_str() {
        "time" => Ok(TimeStepping::new(Parts::default()).into()),
        "event_driven" => Ok(EventDriven::new(Parts::default()).into()),
        _ => Err(UnknownName::new("stepper", name, STEPPERS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_each_seam_is_the_default_part() {
        let mut parts = Parts::default();
        let default = format!("{parts:?}");
        for seam in SEAMS {
            let first = seam.choices[0].make();
            assert_eq!(parts.set(first).map_err(|part| part.name()), Ok(()));
            assert_eq!(format!("{parts:?}"), default, "{}", seam.key);
            let last = seam.choices[seam.choices.len() - 1].make();
            assert_eq!(parts.set(last).map_err(|part| part.name()), Ok(()));
            assert_ne!(format!("{parts:?}"), default, "{}", seam.key);
            parts = Parts::default();
        }
    }

    #[test]
    fn unknown_names_are_told_with_all_that_are_known() {
        let error = |seam: &str, name: &str| named(seam, name).unwrap_err().to_string();
        assert_eq!(
            error("broad-phase", "zebra"),
            "unknown broad phase `zebra`, known are coherent_hash, plain_hash, column_sweep, dynamic_tree, \
             sweep_and_prune, brute_force"
        );
        assert_eq!(
            error("glue", "x"),
            "unknown part `glue`, known are broad_phase, narrow_phase, impact, solver, executor"
        );
        for bad in ["0", "-1", "1e3", "1025", "", "threds"] {
            assert_eq!(
                error("executor", bad),
                format!(
                    "unknown executor `{bad}`, known are serial, threads, a number of threads up to 1024"
                )
            );
        }
        assert_eq!(stepper("").unwrap_err().to_string(), "unknown stepper ``, known are time, event_driven");
        let Ok(Part::Executor(three)) = named("executor", "3") else { panic!("no executor") };
        assert_eq!(three.parallelism(), 3);
    }
}
