//! `cargo xtask ledger [--update]`: what the engine can do, and which test proves it.
//!
//! `docs/ledger.tsv` has one row for each of the 601 capabilities of the five systems.
//!
//! # Tags
//!
//! | written | where | means |
//! |---|---|---|
//! | `// proves: MIR-23, CLI-04` | above a test in a Rust file | the test proves these rows: they are `done` |
//! | `// proves-part: DYN-07` | above a test in a Rust file | it supports a row that stays `partial` |
//! | either, also with `#` | in `benches/` or a scene (`ron`, `json5`, `toml`, `scn`) | the file is the proof |
//!
//! A tag stands on its own line. In a Rust file it applies to the next function; only attributes, comments
//! and blank lines may come between.
//!
//! # Status
//!
//! | status | written by | proof column |
//! |---|---|---|
//! | `open` | `--update` | empty |
//! | `done` | `--update`, for each row with a `proves` tag | the tagged tests |
//! | `partial` | hand | what is missing; `--update` adds the tests with a `proves-part` tag as `(by: ...)` |
//! | `declined` | hand | why |
//!
//! `--update` never touches a `partial` or `declined` row, except to make it `done` when a `proves` tag
//! appears. A `done` row that lost its tags goes back to `open`.
//!
//! # Checks
//!
//! Without a flag the command fails when a row is missing, unknown, repeated or out of order; a tag names
//! no row, is misspelt or stands above no function; a tagged test is not in the test runner's own list;
//! a `partial` or `declined` row has no reason, or a `proves-part` tag points to a row that is not
//! `partial`; or the file differs from what `--update` would write.

mod rows;
mod runner;
mod tags;

use crate::args::Args;
use crate::failure::Failure;
use crate::table;
use crate::workspace::Workspace;
use rows::{Ledger, Status};
use tags::Tag;

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "ledger",
    usage: "[--update]",
    about: "check docs/ledger.tsv against the `proves` tags, or rewrite it from them",
    run,
};

const PATH: &str = "docs/ledger.tsv";

/// Systems, the prefix of their ids and the last number of them, in the order of the file.
const SYSTEMS: [(&str, &str, usize); 5] = [
    ("Mirtich", "MIR", 106),
    ("Fontijne", "FON", 141),
    ("Cline", "CLI", 104),
    ("Dynamo", "DYN", 146),
    ("Arnold", "ARN", 105),
];

/// Numbers that no capability ever had.
const UNUSED: [&str; 1] = ["DYN-89"];

fn run(words: &[String]) -> Result<(), Failure> {
    let args = Args::parse(words, &["--update"], 0)?;
    let workspace = Workspace::load()?;
    if args.has("--update") { update(&workspace) } else { check(&workspace) }
}

/// Rewrites the file from the tags. Which tests exist is left to the check, so that this is fast.
fn update(workspace: &Workspace) -> Result<(), Failure> {
    let (text, mut ledger) = read(workspace)?;
    let (tags, mut problems) = tags::collect(&workspace.text_files()?);
    ledger.apply(&tags, &mut problems);
    let new = ledger.to_text();
    if new != text {
        std::fs::write(workspace.root.join(PATH), &new)
            .map_err(|e| Failure::new(format!("cannot write {PATH}: {e}")))?;
        println!("rewrote {PATH}");
    }
    ledger.check_reasons(&mut problems);
    finish(&ledger, &problems)
}

/// Checks the file, the tags and the tests they name.
pub(crate) fn check(workspace: &Workspace) -> Result<(), Failure> {
    let (text, mut ledger) = read(workspace)?;
    let (tags, mut problems) = tags::collect(&workspace.text_files()?);
    ledger.apply(&tags, &mut problems);
    ledger.check_reasons(&mut problems);
    problems.extend(missing_tests(workspace, &tags)?);
    if let Some(line) = first_difference(&text, &ledger.to_text()) {
        problems.push(format!("{PATH}:{line}: differs from the tags: run `cargo xtask ledger --update`"));
    }
    finish(&ledger, &problems)
}

fn read(workspace: &Workspace) -> Result<(String, Ledger), Failure> {
    let text = std::fs::read_to_string(workspace.root.join(PATH))
        .map_err(|e| Failure::new(format!("cannot read {PATH}: {e}")))?;
    let ledger = Ledger::parse(&text).map_err(|problems| Failure::new(problems.join("\n")))?;
    Ok((text, ledger))
}

/// Tags above functions that no test runner would run.
fn missing_tests(workspace: &Workspace, tags: &[Tag]) -> Result<Vec<String>, Failure> {
    if tags.iter().all(|tag| tag.test.is_none()) {
        return Ok(Vec::new());
    }
    let listed = runner::list(workspace)?;
    let absent = tags.iter().filter(|tag| {
        tag.test.as_ref().is_some_and(|function| !runner::contains(&listed, workspace, &tag.path, function))
    });
    Ok(absent
        .map(|tag| format!("{}:{}: `{}` is not a test that runs", tag.path, tag.line, tag.proof()))
        .collect())
}

fn first_difference(old: &str, new: &str) -> Option<usize> {
    if old == new {
        return None;
    }
    let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

fn finish(ledger: &Ledger, problems: &[String]) -> Result<(), Failure> {
    println!("{}", summary(ledger));
    if problems.is_empty() {
        return Ok(());
    }
    for problem in problems {
        println!("{problem}");
    }
    Err(Failure::new(format!("the ledger has {} problems", problems.len())))
}

fn summary(ledger: &Ledger) -> String {
    let line = |name: &str, prefix: &str| {
        let rows = || ledger.rows.iter().filter(|row| row.id.starts_with(prefix));
        let mut cells = vec![name.to_owned()];
        cells.extend(Status::ALL.iter().map(|s| rows().filter(|row| row.status == *s).count().to_string()));
        cells.push(rows().count().to_string());
        cells
    };
    let mut lines: Vec<_> = SYSTEMS.iter().map(|(name, prefix, _)| line(name, prefix)).collect();
    lines.push(line("total", ""));
    table::render(&["system", "done", "partial", "open", "declined", "rows"], &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }

    #[test]
    fn the_summary_counts_each_system_and_the_total() {
        let mut ledger = rows::tests::full();
        ledger.rows[0].status = Status::Done;
        let text = summary(&ledger);
        assert!(text.contains("Mirtich      1        0   105         0   106"), "{text}");
        assert!(text.contains("total        1        0   600         0   601"), "{text}");
    }
}
