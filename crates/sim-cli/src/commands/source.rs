//! Scenes from files, or built in by name; what the command line changes of them.

use crate::CliError;
use clap::Args;
use scene::{
    SceneError,
    builtin::{self, BuiltinFiles},
    format::{Disk, Files, Loaded, load, model::ContactsSpec},
    lower::{
        Registry, Setup, lower,
        parts::{find, find_stepper},
    },
};
use sim_core::parts::{BROAD_PHASE, IMPACT, MOST_THREADS, NARROW_PHASE, SOLVER, Seam, UnknownName};
use std::path::Path;

/// What the command line changes of a scene.
#[derive(Debug, Clone, Default, Args)]
pub struct Choices {
    /// What moves the world on: event-driven, time
    #[arg(long, value_name = "NAME")]
    pub stepper: Option<String>,
    /// Law of contact of time stepping, which it selects: cone, sweeps, greedy, lemke, soft
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
    /// Longest step of time stepping, which it selects, such as 0.01s
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub step: Option<f64>,
    /// Which pairs of boxes meet: column-sweep, coherent-hash, plain-hash, dynamic-tree, sweep-and-prune, brute-force
    #[arg(long, value_name = "NAME")]
    pub broad_phase: Option<String>,
    /// Distances and contacts: default, vclip, gjk, lin-canny
    #[arg(long, value_name = "NAME")]
    pub narrow_phase: Option<String>,
    /// Law of impact: integrated, newton, poisson, phases, algebraic, frictionless
    #[arg(long, value_name = "NAME")]
    pub impact: Option<String>,
    /// Threads that share the work of one step; results do not depend on them
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Contacts of a pair that get an impulse: standard, improved
    #[arg(long, value_name = "NAME")]
    pub contacts: Option<String>,
    /// Simulated time, such as 10s or 0.5
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub until: Option<f64>,
}

/// Seconds, with or without the `s`.
///
/// # Errors
/// Not a time.
pub fn duration(text: &str) -> Result<f64, String> {
    let digits = text.strip_suffix('s').unwrap_or(text).trim();
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("must be a time in seconds, such as 10s".to_owned()),
    }
}

/// A number of threads.
fn threads(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST_THREADS).contains(count));
    count.ok_or_else(|| format!("must be from 1 to {MOST_THREADS}"))
}

impl Choices {
    /// Puts the choices into a scene.
    ///
    /// # Errors
    /// A name that is not known, with the nearest one.
    pub fn apply(&self, loaded: &mut Loaded) -> Result<(), CliError> {
        let scene = &mut loaded.scene;
        let refused = |item: String, what| CliError::Argument { item, what };
        let put = |seam: &Seam, given: &Option<String>, into: &mut Option<String>| {
            if let Some(name) = given {
                let flag = || format!("--{}", seam.key.replace('_', "-"));
                *into = Some(find(seam, name).map_err(|what| refused(flag(), what))?.to_owned());
            }
            Ok::<(), CliError>(())
        };
        if let Some(name) = &self.stepper {
            let found = find_stepper(name).map_err(|what| refused("--stepper".to_owned(), what))?;
            scene.stepper.kind = Some(found.to_owned());
        }
        put(&SOLVER, &self.solver, &mut scene.parts.solver)?;
        scene.stepper.step = self.step.or(scene.stepper.step);
        let timed = [("--solver", self.solver.is_some()), ("--step", self.step.is_some())];
        if let Some((item, _)) = timed.into_iter().find(|(_, given)| *given) {
            if self.stepper.is_some() && scene.stepper.kind.as_deref() != Some("time") {
                let what = "is for time stepping: give --stepper time, or no --stepper".to_owned();
                return Err(CliError::Argument { item: item.to_owned(), what });
            }
            scene.stepper.kind = Some("time".to_owned());
        } else if self.stepper.is_some() && scene.stepper.kind.as_deref() != Some("time") {
            // The scene's contact law goes with the scene's stepper.
            scene.parts.solver = None;
        }
        put(&BROAD_PHASE, &self.broad_phase, &mut scene.parts.broad_phase)?;
        put(&NARROW_PHASE, &self.narrow_phase, &mut scene.parts.narrow_phase)?;
        put(&IMPACT, &self.impact, &mut scene.parts.impact)?;
        scene.parts.threads = self.threads.or(scene.parts.threads);
        if let Some(contacts) = &self.contacts {
            scene.stepper.contacts = Some(match contacts.as_str() {
                "improved" => ContactsSpec::Improved,
                "standard" => ContactsSpec::Standard,
                other => {
                    let unknown = UnknownName::new("contacts", other, &["standard", "improved"]);
                    return Err(refused("--contacts".to_owned(), unknown.to_string()));
                }
            });
        }
        if self.until.is_some() {
            scene.run.until = self.until;
        }
        Ok(())
    }
}

/// A scene with the place its files come from.
#[derive(Debug, Clone)]
pub struct Source {
    /// The scene with all includes.
    pub loaded: Loaded,
    builtin: bool,
}

impl Source {
    /// A built-in scene if it is the name of one and not of a file; else a file.
    ///
    /// # Errors
    /// Neither, or a file that is no scene.
    pub fn open(name: &str) -> Result<Self, SceneError> {
        if !Path::new(name).exists() && !name.contains(['/', '\\', '.']) {
            return Ok(Self { loaded: builtin::read(name)?, builtin: true });
        }
        if super::view::is_recording(name) {
            let problem =
                "is a recording, not a scene: look at it with `sim view`, `sim page` or `sim still`";
            return Err(SceneError::file(name, problem));
        }
        Ok(Self { loaded: load(&Disk, name)?, builtin: false })
    }

    /// The files that it was read from; none if it is built in.
    #[must_use]
    pub fn files(&self) -> &[String] {
        if self.builtin { &[] } else { &self.loaded.files }
    }

    /// A world of it.
    ///
    /// # Errors
    /// What is wrong with the scene.
    pub fn setup(&self) -> Result<Setup, SceneError> {
        let files: &dyn Files = if self.builtin { &BuiltinFiles } else { &Disk };
        lower(&self.loaded, files, &Registry::standard())
    }
}
