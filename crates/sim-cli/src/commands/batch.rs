//! `sim run --repeat`: many runs of one scene with numbers that change from run to run.
//!
//! Runs are independent and each is a function of its number alone, so the table is the same for any number of jobs.

use super::{
    run::{Outcome, RunArgs, Wanted, progress, simulate},
    source::Source,
    table::cell,
};
use crate::{CliError, write_file};
use scene::{
    SceneError,
    format::{
        model::Scene,
        nearest,
        text::{Syntax, parse},
    },
};
use serde_json::Value;
use std::{
    fmt::Write as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

/// Most runs of one batch.
const MAX_RUNS: u32 = 1_000_000;
/// Most runs at the same time.
const MAX_JOBS: usize = 1024;

/// A number of the scene that changes evenly from the first run to the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// As it was given.
    pub key: String,
    /// Value of the first run.
    pub from: f64,
    /// Value of the last run.
    pub to: f64,
}

impl Vary {
    /// Reads `key=a..b`.
    ///
    /// # Errors
    /// Another form, or numbers that are not finite.
    pub fn parse(text: &str) -> Result<Self, CliError> {
        let bad = || CliError::Argument {
            item: "--vary".to_owned(),
            what: format!("must be like bodies.ball.position.x=-0.2..0.2, got `{text}`"),
        };
        let (key, range) = text.split_once('=').ok_or_else(bad)?;
        let (from, to) = range.split_once("..").ok_or_else(bad)?;
        let number = |s: &str| s.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(bad);
        Ok(Self { key: key.trim().to_owned(), from: number(from)?, to: number(to)? })
    }

    /// Value of run `k` of `n`: both ends exactly.
    #[must_use]
    pub fn value(&self, k: u32, n: u32) -> f64 {
        let share = if n > 1 { f64::from(k) / f64::from(n - 1) } else { 0.0 };
        self.from * (1.0 - share) + self.to * share
    }
}

/// Sets a number of a scene by its path: `gravity.z`, `bodies.ball.velocity.x`, `bodies[2].shape.radius`.
///
/// # Errors
/// A path that leads nowhere.
pub fn set(scene: &Scene, key: &str, value: f64) -> Result<Scene, CliError> {
    let bad = |what: String| CliError::Argument { item: format!("--vary {key}"), what };
    let mut tree = serde_json::to_value(scene).map_err(|e| bad(e.to_string()))?;
    let steps: Vec<&str> = key.split(['.', '[', ']']).filter(|s| !s.is_empty()).collect();
    let Some((last, way)) = steps.split_last() else { return Err(bad("is empty".to_owned())) };
    let mut at = &mut tree;
    for (k, step) in way.iter().enumerate() {
        let next = steps[k + 1];
        at = descend(at, step, next).map_err(bad)?;
    }
    let slot = descend(at, last, "").map_err(bad)?;
    *slot =
        if slot.is_u64() && value >= 0.0 { Value::from(value.round() as u64) } else { Value::from(value) };
    // Through text, for its messages: they know the nearest name.
    parse(&tree.to_string(), Syntax::Json, "").map_err(|e| bad(e.problem))
}

/// One step into a tree: a field, an item by number, a body by name, a component by x, y or z. Fields that were left out
/// are made; what is in no list is an error with the nearest name.
fn descend<'v>(at: &'v mut Value, step: &str, next: &str) -> Result<&'v mut Value, String> {
    // A variant of an enum stands between a field and its numbers: pass through.
    let is_variant = |map: &serde_json::Map<String, Value>| map.len() == 1 && !map.contains_key(step);
    let passes = matches!(&*at, Value::Object(map) if is_variant(map)
        && matches!(map.values().next(), Some(Value::Object(inner)) if inner.contains_key(step)));
    let nowhere = || format!("there is no `{step}`");
    if passes {
        let inner = at.as_object_mut().and_then(|map| map.values_mut().next());
        return inner.and_then(|inner| inner.get_mut(step)).ok_or_else(nowhere);
    }
    match at {
        Value::Object(map) => {
            let component = matches!(next, "x" | "y" | "z");
            let empty = || if component { serde_json::json!([0.0, 0.0, 0.0]) } else { Value::Null };
            Ok(map.entry(step.to_owned()).or_insert_with(empty))
        }
        Value::Array(list) => {
            let name = |v: &'_ Value| v.get("name").and_then(Value::as_str).map(str::to_owned);
            let index = match step {
                "x" => Some(0),
                "y" => Some(1),
                "z" => Some(2),
                _ => step.parse().ok(),
            };
            let index = index.or_else(|| list.iter().position(|v| name(v).as_deref() == Some(step)));
            let names: Vec<String> = list.iter().filter_map(name).collect();
            index.and_then(|k| list.get_mut(k)).ok_or_else(|| {
                match nearest(step, names.iter().map(String::as_str)) {
                    Some(near) => format!("there is no `{step}`, did you mean `{near}`?"),
                    None => nowhere(),
                }
            })
        }
        _ => Err(nowhere()),
    }
}

/// Runs the batch; returns what is printed.
///
/// # Errors
/// The first run (by number) that fails; nothing is written then.
pub fn batch(source: &Source, args: &RunArgs, count: u32) -> Result<String, CliError> {
    if !(1..=MAX_RUNS).contains(&count) {
        let what = format!("must be from 1 to {MAX_RUNS}, got {count}");
        return Err(CliError::Argument { item: "--repeat".to_owned(), what });
    }
    for (item, given) in
        [("--record", &args.record), ("--html", &args.html), ("--gltf", &args.gltf), ("--trace", &args.trace)]
    {
        if given.is_some() {
            let what = "not together with --repeat: record a single run".to_owned();
            return Err(CliError::Argument { item: item.to_owned(), what });
        }
    }
    if !(1..=MAX_JOBS).contains(&args.jobs) {
        let what = format!("must be from 1 to {MAX_JOBS}, got {}", args.jobs);
        return Err(CliError::Argument { item: "--jobs".to_owned(), what });
    }
    let vary: Vec<Vary> = args.vary.iter().map(|v| Vary::parse(v)).collect::<Result<_, _>>()?;
    let bar = (!args.quiet).then(progress);
    let outcomes = run_all(source, &vary, count, args.jobs, &|done| {
        if let Some(bar) = &bar {
            bar.set_position(1000 * u64::from(done) / u64::from(count));
            bar.set_message(format!("{done} of {count} runs"));
        }
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let table = table(&vary, &outcomes?);
    match &args.csv {
        Some(path) => {
            write_file(path, table.as_bytes())?;
            Ok(format!("{}: {count} runs, table in {}\n", args.scene, path.display()))
        }
        None => Ok(table),
    }
}

/// All outcomes, in the order of their numbers. No more are begun after one that fails.
///
/// # Errors
/// The first run (by number) that fails.
pub fn run_all(
    source: &Source,
    vary: &[Vary],
    count: u32,
    jobs: usize,
    progress: &(dyn Fn(u32) + Sync),
) -> Result<Vec<(Vec<f64>, Outcome)>, CliError> {
    type Slot = Option<Result<(Vec<f64>, Outcome), CliError>>;
    let results: Mutex<Vec<Slot>> = Mutex::new((0..count).map(|_| None).collect());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = |k: u32| {
        let values: Vec<f64> = vary.iter().map(|v| v.value(k, count)).collect();
        let mut source = source.clone();
        for (v, value) in vary.iter().zip(&values) {
            source.loaded.scene = set(&source.loaded.scene, &v.key, *value)?;
        }
        let (outcome, _) = simulate(&source, Wanted::default(), &mut |_, _| {})?;
        Ok((values, outcome))
    };
    // Numbers are handed out in order: when one fails, all smaller ones have begun and will end, so that the first failure
    // by number is the same for any number of jobs.
    let failed = AtomicBool::new(false);
    let work = || {
        while !failed.load(Relaxed) {
            let k = next.fetch_add(1, Relaxed);
            if k >= count as usize {
                break;
            }
            let result = one(k as u32);
            failed.fetch_or(result.is_err(), Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner)[k] = Some(result);
            progress(done.fetch_add(1, Relaxed) as u32 + 1);
        }
    };
    std::thread::scope(|scope| {
        // This thread works too; helpers that the system does not give are done without.
        for _ in 1..jobs.min(count as usize) {
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results
        .into_iter()
        .enumerate()
        .map(|(k, slot)| match slot {
            Some(result) => result.map_err(|e| number(k, e)),
            None => Err(CliError::Run(SceneError::file(format!("run {k}"), "did not end"))),
        })
        .collect()
}

/// Says which run it was.
fn number(k: usize, error: CliError) -> CliError {
    let prefix = |mut e: SceneError| {
        e.problem = format!("{} (run {k})", e.problem);
        e
    };
    match error {
        CliError::Scene(e) => CliError::Scene(prefix(e)),
        CliError::Run(e) => CliError::Run(prefix(e)),
        other => other,
    }
}

fn table(vary: &[Vary], outcomes: &[(Vec<f64>, Outcome)]) -> String {
    let mut text = String::from("run");
    for v in vary {
        let _ = write!(text, ",{}", cell(&v.key));
    }
    text.push_str(",time,events,collisions,micro_collisions,energy_start,energy_end,tilted,fastest\n");
    for (k, (values, o)) in outcomes.iter().enumerate() {
        let _ = write!(text, "{k}");
        for value in values {
            let _ = write!(text, ",{value}");
        }
        let r = &o.report;
        let _ = writeln!(
            text,
            ",{},{},{},{},{},{},{},{}",
            o.time,
            r.events,
            r.collisions,
            r.micro_collisions,
            o.energy_start,
            o.energy_end,
            o.tilted,
            o.fastest
        );
    }
    text
}
