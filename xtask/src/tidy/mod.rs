//! `cargo xtask tidy`: rules that compilers and linters do not check.
//!
//! | check | rule |
//! |---|---|
//! | [`layers`] | dependencies between members are those of the table in `docs/architecture.md` |
//! | [`sizes`] | Rust files: warning above 600 lines, failure above 1000 |
//! | [`algorithm_docs`] | the headings of an algorithm's module doc, in order; tests named there exist |
//! | [`forbidden`] | no ignored tests, unfinished code, `mul_add`, std hash maps, machine paths |
//! | [`manifests`] | metadata, readme, lints and an example for each crate |
//! | [`links`] | relative links in Markdown files lead to a file |
//! | [`steppers`] | a stepper object has methods in three files at most |
//! | [`top_level`] | nothing unknown at the top of the repository |
//! | [`widths`] | lines of Rust files and of prose fit on a screen |
//! | [`words`] | no names and words that explain nothing |
//!
//! # The layer table
//!
//! Found in `docs/architecture.md` by the line `## Layer table`; text may stand between it and the table:
//!
//! ```text
//! ## Layer table
//!
//! | layer | crate | may depend on |
//! |---|---|---|
//! | 0 | `sim-math` | - |
//! | 1 | `sim-traits` | `sim-math` |
//! | 9 | `xtask` | - |
//! ```
//!
//! `layer` begins with a whole number (words may follow it), names are package names, `-` means none.
//! Every workspace member has one row, and what it may depend on lies in a lower layer.
//! Dev-dependencies may cross and are not looked at; build dependencies count as normal ones.
//!
//! All problems are reported as `file:line`, not only the first.

mod algorithm_docs;
mod forbidden;
mod layers;
mod links;
mod manifests;
mod sizes;
mod steppers;
mod top_level;
mod widths;
mod words;

use crate::args::Args;
use crate::failure::Failure;
use crate::workspace::Workspace;
use std::fmt;

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "tidy",
    usage: "",
    about: "check layers, file sizes, doc headings, metadata, links and forbidden text",
    run,
};

/// One breach of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    line: usize,
    message: String,
    warning: bool,
}

impl Problem {
    fn error(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), warning: false }
    }

    fn warning(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::error(path, line, message) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.warning { "warning" } else { "error" };
        write!(f, "{}:{}: {kind}: {}", self.path, self.line, self.message)
    }
}

fn run(words: &[String]) -> Result<(), Failure> {
    Args::parse(words, &[], 0)?;
    check(&Workspace::load()?)
}

/// Runs all checks on the workspace and prints what they find.
pub(crate) fn check(workspace: &Workspace) -> Result<(), Failure> {
    let files = workspace.text_files()?;
    let mut problems = layers::check(workspace, &files);
    problems.extend(sizes::check(&files));
    problems.extend(algorithm_docs::check(&files));
    problems.extend(forbidden::check(&files));
    problems.extend(manifests::check(workspace));
    problems.extend(links::check(&workspace.root, &files));
    problems.extend(steppers::check(&files));
    problems.extend(top_level::check(&workspace.files()));
    problems.extend(widths::check(&files));
    problems.extend(words::check(&files));
    problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for problem in &problems {
        println!("{problem}");
    }
    let errors = problems.iter().filter(|p| !p.warning).count();
    println!("tidy: {} files, {errors} errors, {} warnings", files.len(), problems.len() - errors);
    if errors == 0 { Ok(()) } else { Err(Failure::new(format!("tidy found {errors} errors"))) }
}
