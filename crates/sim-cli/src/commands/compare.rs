//! `sim compare`: one scene under several choices, in one table.

use super::{
    run::{Outcome, Wanted, progress, show_as, simulate},
    source::{Choices, Source},
};
use crate::CliError;
use std::fmt::Write as _;

/// The choices that are compared: the scene's own, then each with one thing changed.
fn variants() -> Vec<(&'static str, Choices)> {
    let some = |name: &str| Some(name.to_owned());
    let usual = Choices::default;
    let mut all = vec![("as the scene says", usual())];
    for name in ["coherent_hash", "dynamic_tree", "sweep_and_prune", "brute_force"] {
        all.push((name, Choices { broad_phase: some(name), ..usual() }));
    }
    for name in ["gjk", "vclip"] {
        all.push((name, Choices { narrow_phase: some(name), ..usual() }));
    }
    for name in ["newton", "poisson", "algebraic", "frictionless"] {
        all.push((name, Choices { impact: some(name), ..usual() }));
    }
    for (label, name) in [("event, standard", "standard"), ("event, improved", "improved")] {
        all.push((label, Choices { stepper: some("event_driven"), contacts: some(name), ..usual() }));
    }
    for (label, name) in [
        ("time, cone", "cone"),
        ("time, sweeps", "sweeps"),
        ("time, greedy", "greedy"),
        ("time, lemke", "lemke"),
        ("time, soft", "soft"),
    ] {
        all.push((label, Choices { stepper: some("time"), solver: some(name), ..usual() }));
    }
    all
}

/// The columns: heading, unit, and the entry of a run.
type Column = (&'static str, &'static str, fn(&Outcome) -> String);

const COLUMNS: &[Column] = &[
    ("energy", "end/start", |o| format!("{:.5}", o.energy_end / o.energy_start)),
    ("account", "left, J", |o| format!("{:.1e}", o.report.energy.remainder())),
    ("momentum", "left, N s", |o| format!("{:.1e}", o.report.momentum.remainder().linear.length())),
    ("overlap", "deepest, m", |o| format!("{:.1e}", o.deepest)),
    ("cone", "beyond, N s", |o| format!("{:.1e}", o.report.solver.cone_violation.max(0.0))),
    ("drift", "mean, m", |o| format!("{:.1e}", o.stability[0])),
    ("hits", "", |o| o.report.collisions.to_string()),
    ("micro", "", |o| o.report.micro_collisions.to_string()),
    ("time", "s", |o| format!("{:.3}", o.taken.processor.as_secs_f64())),
];

/// Runs all choices and returns the table. A run that fails is a row that says so.
///
/// # Errors
/// A scene that is wrong.
pub fn compare(name: &str, choices: &Choices) -> Result<String, CliError> {
    let mut base = Source::open(name)?;
    choices.apply(&mut base.loaded)?;
    base.setup()?;
    let mut text = format!("{name}\n");
    let row = |text: &mut String, label: &str, entries: &mut dyn Iterator<Item = String>| {
        let _ = write!(text, "  {label:18}");
        entries.for_each(|entry| {
            let _ = write!(text, " {entry:>11}");
        });
        text.push('\n');
    };
    let last = |word: &str| std::iter::once(word.to_owned());
    row(&mut text, "choice", &mut COLUMNS.iter().map(|c| c.0.to_owned()).chain(last("moved")));
    row(&mut text, "", &mut COLUMNS.iter().map(|c| c.1.to_owned()).chain(last("m")));
    let mut first: Option<Outcome> = None;
    let (all, bar) = (variants(), progress());
    let count = all.len();
    for (k, (label, variant)) in all.into_iter().enumerate() {
        let mut source = base.clone();
        variant.apply(&mut source.loaded)?;
        let prefix = format!("{} of {count}, {label}: ", k + 1);
        match simulate(&source, Wanted::default(), &mut |run, taken| show_as(&bar, &prefix, run, taken)) {
            Ok((o, _)) => {
                let moved = first.as_ref().map_or(0.0, |f| distance(f, &o));
                let entries = COLUMNS.iter().map(|c| c.2(&o));
                row(&mut text, label, &mut entries.chain(std::iter::once(format!("{moved:.1e}"))));
                first.get_or_insert(o);
            }
            Err(CliError::Run(error)) => {
                let _ = writeln!(text, "  {label:18} failed: {}", error.problem);
            }
            Err(error) => {
                bar.finish_and_clear();
                return Err(error);
            }
        }
    }
    bar.finish_and_clear();
    text.push_str(
        "  account, momentum: what no cause explains; drift: mean distance of a free body from where it began\n  \
         moved: largest distance of a body at the end from where the first row has it\n",
    );
    Ok(text)
}

/// Largest distance between the final places of two runs, m.
fn distance(a: &Outcome, b: &Outcome) -> f64 {
    a.places.iter().zip(&b.places).filter_map(|(p, q)| Some((*p)?.distance((*q)?))).fold(0.0, f64::max)
}
