//! `sim compare`: one scene under several choices, in one table.

use super::{
    run::{Outcome, Wanted, simulate},
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
    for (label, name) in [("time, cone", "cone"), ("time, lemke", "lemke")] {
        all.push((label, Choices { stepper: some("time"), solver: some(name), ..usual() }));
    }
    all.push(("improved contacts", Choices { contacts: some("improved"), ..usual() }));
    all
}

/// Runs all choices and returns the table. A run that fails is a row that says so.
///
/// # Errors
/// A scene that is wrong.
pub fn compare(name: &str, choices: &Choices) -> Result<String, CliError> {
    let mut base = Source::open(name)?;
    choices.apply(&mut base.loaded)?;
    base.setup()?;
    let mut text = format!("{name}\n");
    let _ = writeln!(
        text,
        "  {:18} {:>9} {:>12} {:>10} {:>10} {:>9} {:>9}",
        "choice", "energy", "overlap", "collisions", "micro", "time", "moved"
    );
    let _ = writeln!(
        text,
        "  {:18} {:>9} {:>12} {:>10} {:>10} {:>9} {:>9}",
        "", "end/start", "deepest, m", "", "", "s", "m"
    );
    let mut first: Option<Outcome> = None;
    for (label, variant) in variants() {
        let mut source = base.clone();
        variant.apply(&mut source.loaded)?;
        match simulate(&source, Wanted::default(), &mut |_, _| {}) {
            Ok((o, _)) => {
                let moved = first.as_ref().map_or(0.0, |f| distance(f, &o));
                let _ = writeln!(
                    text,
                    "  {label:18} {:>9.5} {:>12.1e} {:>10} {:>10} {:>9.3} {moved:>9.1e}",
                    o.energy_end / o.energy_start,
                    o.deepest,
                    o.report.collisions,
                    o.report.micro_collisions,
                    o.taken.processor.as_secs_f64()
                );
                first.get_or_insert(o);
            }
            Err(CliError::Run(error)) => {
                let _ = writeln!(text, "  {label:18} failed: {}", error.problem);
            }
            Err(error) => return Err(error),
        }
    }
    text.push_str("  moved: largest distance of a body at the end from where the first row has it\n");
    Ok(text)
}

/// Largest distance between the final places of two runs, m.
fn distance(a: &Outcome, b: &Outcome) -> f64 {
    a.places.iter().zip(&b.places).filter_map(|(p, q)| Some((*p)?.distance((*q)?))).fold(0.0, f64::max)
}
