//! `sim evolve`: animals that learn to walk, in a run that goes on where it was stopped.
//!
//! A run is a folder:
//!
//! | file | what it has |
//! |---|---|
//! | `settings.json` | what the run was begun with; a run goes on with these alone |
//! | `journal` | the outcome of every evaluation, appended one by one |
//! | `generations.jsonl` | a line of numbers for each generation |
//! | `best.json` | the best creature so far, with what was measured of it |

use crate::{CliError, write_file};
use clap::Args;
use evolution::{
    Budget, EvolutionError, Genome, Journal, Outcome, RunReport, Watch,
    arnold::{Creature, CreatureDesign},
    evolve, journal_header,
    search::{
        Search,
        generational::{GenerationReport, Generational, GenerationalParams},
    },
    task::{Locomotion, LocomotionParams},
};
use indicatif::{ProgressBar, ProgressStyle};
use sim_core::Threads;
use sim_traits::{Executor, FixedState, Serial};
use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, Hasher},
    io::Write as _,
    path::{Path, PathBuf},
};

/// Options of `sim evolve`.
#[derive(Debug, Clone, Args)]
pub struct EvolveArgs {
    /// The folder of the run; one that is there already is gone on with
    pub out: PathBuf,
    /// How many legs: 4 or 6
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub legs: u32,
    /// Parents of a generation; it has six times as many children
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub parents: usize,
    /// Generations after the first
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub generations: u64,
    /// Runs with other seeds have nothing in common
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Seconds in which a creature settles
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub settle: f64,
    /// Seconds in which its way counts
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub measure: f64,
    /// Evaluations at the same time; the results do not depend on it
    #[arg(long, value_name = "J", default_value_t = 1)]
    pub jobs: usize,
    /// Stop after so many evaluations; the next call goes on
    #[arg(long, value_name = "N")]
    pub at_most: Option<u64>,
    /// No progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// Steps that an evaluation may take: ten minutes at the default step.
const MOST_STEPS: u64 = 144_000;

/// What a run is begun with, and goes on with.
#[derive(Debug, Clone)]
struct Settings {
    legs: u32,
    search: GenerationalParams,
    task: LocomotionParams,
}

impl Settings {
    fn of(args: &EvolveArgs) -> Result<Self, CliError> {
        if !matches!(args.legs, 4 | 6) {
            return Err(wrong("--legs", format!("must be 4 or 6, got {}", args.legs)));
        }
        for (item, value) in [("--settle", args.settle), ("--measure", args.measure)] {
            if !(value > 0.0 && value <= 300.0) {
                return Err(wrong(item, format!("must be above 0 and at most 300 s, got {value}")));
            }
        }
        let mut search = GenerationalParams::of(args.parents);
        (search.generations, search.seed) = (args.generations, args.seed);
        let mut task = LocomotionParams::default();
        (task.settle, task.measure) = (args.settle, args.measure);
        Ok(Self { legs: args.legs, search, task })
    }

    fn design(&self) -> CreatureDesign {
        if self.legs == 6 { CreatureDesign::hexapod() } else { CreatureDesign::quadruped() }
    }

    fn text(&self) -> Result<String, CliError> {
        let value = serde_json::json!({
            "task": "locomotion", "legs": self.legs,
            "search": serde_json::to_value(&self.search).map_err(|e| CliError::Encode(e.to_string()))?,
            "locomotion": serde_json::to_value(&self.task).map_err(|e| CliError::Encode(e.to_string()))?,
        });
        serde_json::to_string_pretty(&value).map_err(|e| CliError::Encode(e.to_string()))
    }
}

fn wrong(item: &str, what: String) -> CliError {
    CliError::Argument { item: item.to_owned(), what }
}

fn search_error(error: &EvolutionError) -> CliError {
    wrong("evolve", error.to_string())
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> CliError {
    let path = path.display().to_string();
    move |source| CliError::Write { path: path.clone(), source }
}

/// Writes the journal and shows how far the run is.
struct Recorder {
    journal: File,
    bar: ProgressBar,
    left: Option<u64>,
    best: f64,
    refused: u64,
}

impl Watch for Recorder {
    fn append(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.journal.write_all(bytes).map_err(|error| error.to_string())
    }

    fn evaluated(&mut self, _child: u64, outcome: &Outcome, from_journal: bool) {
        match outcome.score() {
            Some(score) => self.best = self.best.max(score),
            None => self.refused += 1,
        }
        self.bar.set_message(format!("best {:.2} m, {} do not count", self.best, self.refused));
        self.bar.inc(1);
        if let Some(left) = self.left.as_mut().filter(|_| !from_journal) {
            *left = left.saturating_sub(1);
        }
    }

    fn stop(&mut self) -> bool {
        self.left == Some(0)
    }
}

/// Begins a run or goes on with one; returns what there is to say.
///
/// # Errors
/// Settings that cannot be, or other ones than the run was begun with; files that cannot be written; a journal that is damaged at its beginning.
pub fn evolve_run(args: &EvolveArgs) -> Result<String, CliError> {
    let settings = Settings::of(args)?;
    let text = settings.text()?;
    let design = settings.design();
    let mut search = Generational::<Creature>::new(settings.search.clone(), design.clone())
        .map_err(|error| search_error(&error))?;
    let [file, path] = ["settings.json", "journal"].map(|name| args.out.join(name));
    if file.exists() {
        let known = fs::read_to_string(&file).map_err(io(&file))?;
        if known != text {
            let what = format!("the run in {} was begun with other settings", args.out.display());
            return Err(wrong("settings.json", what));
        }
    } else {
        fs::create_dir_all(&args.out).map_err(io(&args.out))?;
        write_file(&file, text.as_bytes())?;
    }
    let (journal, opened) = open_journal(&path, number_of(&text))?;
    let total = settings.search.children as u64 * (settings.search.generations + 1);
    let mut recorder = Recorder {
        journal: opened,
        bar: progress(total, args.quiet),
        left: args.at_most,
        best: 0.0,
        refused: 0,
    };
    let task = Locomotion { params: settings.task, design };
    let evaluate =
        |child: u64, creature: &Creature| task.evaluate(creature, child, Budget { steps: MOST_STEPS });
    let executor: Box<dyn Executor> =
        if args.jobs > 1 { Box::new(Threads::new(args.jobs)) } else { Box::new(Serial) };
    let report = evolve(&mut search, &evaluate, executor.as_ref(), &journal, &mut recorder)
        .map_err(|error| search_error(&error))?;
    recorder.bar.finish_and_clear();
    write_results(args, &search, &task)?;
    Ok(summary(args, &search, report))
}

/// The number of the settings: a journal belongs to one.
fn number_of(text: &str) -> u64 {
    let mut hasher = FixedState.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Reads the journal and opens it behind its last whole entry.
fn open_journal(path: &Path, run: u64) -> Result<(Journal, File), CliError> {
    let bytes = if path.exists() { fs::read(path).map_err(io(path))? } else { Vec::new() };
    let journal = Journal::read(&bytes, run).map_err(|error| wrong("journal", error.to_string()))?;
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(io(path))?;
    file.set_len(journal.whole as u64).map_err(io(path))?;
    if journal.whole == 0 {
        file.write_all(&journal_header(run)).map_err(io(path))?;
    }
    Ok((journal, file))
}

fn progress(total: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn write_results(
    args: &EvolveArgs,
    search: &Generational<Creature>,
    task: &Locomotion,
) -> Result<(), CliError> {
    let encode = |error: serde_json::Error| CliError::Encode(error.to_string());
    let mut lines = String::new();
    for report in search.reports() {
        lines.push_str(&serde_json::to_string(report).map_err(encode)?);
        lines.push('\n');
    }
    write_file(&args.out.join("generations.jsonl"), lines.as_bytes())?;
    let Some((best, fitness)) = search.best() else { return Ok(()) };
    let outcome = task.evaluate(&best.genome, best.number, Budget { steps: MOST_STEPS });
    let bytes = best.genome.store().map_err(|error| search_error(&error))?;
    let value = serde_json::json!({
        "number": best.number, "parents": best.parents, "fitness": fitness, "digest": outcome.digest,
        "measures": outcome.measures.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "genome": bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    });
    let text = serde_json::to_string_pretty(&value).map_err(encode)?;
    write_file(&args.out.join("best.json"), text.as_bytes())
}

fn summary(args: &EvolveArgs, search: &Generational<Creature>, report: RunReport) -> String {
    let mut text = String::new();
    let RunReport { evaluated, known, finished } = report;
    let _ = writeln!(text, "{evaluated} evaluations, {known} known from before");
    let _ = writeln!(text, "generation    best m    mean m  diversity  do not count");
    for GenerationReport { generation, best, mean, diversity, refused } in search.reports() {
        let _ = writeln!(text, "{generation:>10} {best:>9.3} {mean:>9.3} {diversity:>10.3} {refused:>13}");
    }
    if let Some((best, fitness)) = search.best() {
        let _ = writeln!(text, "the best is number {} with {fitness:.3} m", best.number);
    }
    let folder = args.out.display();
    let _ = writeln!(text, "wrote {folder}/generations.jsonl and {folder}/best.json");
    if !finished {
        let _ = writeln!(text, "the run is not at its end: the same command goes on");
    }
    text
}
