//! `cargo xtask ci` and its other name `cargo xtask test`: everything a change must pass.
//!
//! Steps run in order and the first failure ends the run: a table shows what ran and for how long, and the
//! last line is the command that repeats the failed step.

use crate::args::Args;
use crate::failure::Failure;
use crate::shell::Cmd;
use crate::workspace::Workspace;
use crate::{ledger, table, tidy, viewer};
use std::time::Instant;

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "ci",
    usage: "",
    about: "format, lints, tests, doctests, docs, tidy, ledger, the page in a browser and all examples; stops at the first failure",
    run,
};

/// The name the README gives to it.
pub(crate) const TEST: crate::Command =
    crate::Command { name: "test", usage: "", about: "the one command for all tests: the same as `ci`", run };

/// What a step does.
enum Action {
    Program(Cmd),
    /// A program whose output matters only when it fails.
    Example(Cmd),
    Check(&'static str, fn(&Workspace) -> Result<(), Failure>),
}

struct Step {
    name: String,
    action: Action,
}

impl Step {
    fn run(&self, workspace: &Workspace) -> Result<(), Failure> {
        match &self.action {
            Action::Program(cmd) => cmd.run(&workspace.root),
            Action::Example(cmd) => cmd.run_quiet(&workspace.root),
            Action::Check(line, check) => {
                println!("$ {line}");
                check(workspace)
            }
        }
    }

    fn line(&self) -> String {
        match &self.action {
            Action::Program(cmd) | Action::Example(cmd) => cmd.line(),
            Action::Check(line, _) => (*line).to_owned(),
        }
    }
}

fn run(words: &[String]) -> Result<(), Failure> {
    Args::parse(words, &[], 0)?;
    let workspace = Workspace::load()?;
    let nextest = Cmd::cargo(&["nextest", "--version"]).works(&workspace.root);
    if !nextest {
        println!("note: cargo-nextest is not installed, tests run by `cargo test`");
    }
    run_steps(&steps(&workspace, nextest), &workspace)
}

/// The steps in order: what fails fastest first.
fn steps(workspace: &Workspace, nextest: bool) -> Vec<Step> {
    let program = |name: &str, cmd: Cmd| Step { name: name.to_owned(), action: Action::Program(cmd) };
    let all = ["--workspace", "--all-features"];
    let cargo = |before: &[&str], after: &[&str]| Cmd::cargo(&[before, &all, after].concat());
    let tests = if nextest {
        cargo(&["nextest", "run"], &[])
    } else {
        cargo(&["test"], &["--lib", "--bins", "--tests", "--examples"])
    };
    let mut steps = vec![
        program("format", Cmd::cargo(&["fmt", "--all", "--check"])),
        Step { name: "tidy".to_owned(), action: Action::Check("cargo xtask tidy", tidy::check) },
        program("clippy", cargo(&["clippy"], &["--all-targets", "--", "-D", "warnings"])),
        program("tests", tests),
        program("doctests", cargo(&["test"], &["--doc"])),
        program("docs", cargo(&["doc"], &["--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")),
        Step { name: "ledger".to_owned(), action: Action::Check("cargo xtask ledger", ledger::check) },
        Step { name: "viewer".to_owned(), action: Action::Check("cargo xtask viewer --test", viewer::check) },
        program("build examples", cargo(&["build"], &["--examples"])),
    ];
    // Built once with all features and run as programs: `cargo run` would build every crate again for each choice
    // of features.
    let programs = workspace.target.join("debug/examples");
    for package in workspace.crates() {
        for example in &package.examples {
            let path = programs.join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
            let name = format!("example {} {example}", package.name);
            steps.push(Step { name, action: Action::Example(Cmd::new(&path.to_string_lossy(), &[])) });
        }
    }
    steps
}

fn run_steps(steps: &[Step], workspace: &Workspace) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut result = Ok(());
    for step in steps {
        let start = Instant::now();
        result = step.run(workspace);
        let seconds = format!("{:.1}", start.elapsed().as_secs_f64());
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        rows.push(vec![step.name.clone(), seconds, verdict.to_owned()]);
        if let Err(failure) = &mut result {
            failure.message = format!(
                "{}\nstep `{}` failed; repeat it with:\n  {}",
                failure.message,
                step.name,
                step.line()
            );
            break;
        }
    }
    println!("\n{}", table::render(&["step", "seconds", "result"], &rows));
    let left = steps.len() - rows.len();
    if left > 0 {
        println!("{left} steps not run");
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;
    use std::path::PathBuf;

    fn workspace() -> Workspace {
        let package = Package {
            name: "a".to_owned(),
            dir: "crates/a".to_owned(),
            examples: vec!["plain".to_owned(), "rich".to_owned()],
            ..Package::default()
        };
        Workspace { root: PathBuf::from("."), target: PathBuf::new(), packages: vec![package] }
    }

    #[test]
    fn examples_are_built_with_all_features_and_then_run() {
        let steps = steps(&workspace(), true);
        let lines: Vec<_> = steps.iter().rev().take(3).map(Step::line).collect();
        assert_eq!(lines[2], "cargo build --workspace --all-features --examples");
        let run = |name: &str| format!("debug/examples/{name}{}", std::env::consts::EXE_SUFFIX);
        assert_eq!(lines[1], run("plain"));
        assert_eq!(lines[0], run("rich"));
    }

    #[test]
    fn tests_run_with_and_without_nextest() {
        let line = |nextest| steps(&workspace(), nextest).iter().find(|s| s.name == "tests").map(Step::line);
        assert_eq!(line(true).unwrap(), "cargo nextest run --workspace --all-features");
        assert_eq!(
            line(false).unwrap(),
            "cargo test --workspace --all-features --lib --bins --tests --examples"
        );
    }

    #[test]
    fn the_first_failure_ends_the_run_and_names_the_command_to_repeat() {
        fn fails(_: &Workspace) -> Result<(), Failure> {
            Err(Failure { message: "broken".to_owned(), code: 7 })
        }
        fn never(_: &Workspace) -> Result<(), Failure> {
            panic!("a step after the failure ran")
        }
        let check =
            |name: &str, line, check| Step { name: name.to_owned(), action: Action::Check(line, check) };
        let steps = [check("bad", "repeat me", fails), check("late", "later", never)];
        let failure = run_steps(&steps, &workspace()).unwrap_err();
        assert_eq!(failure.code, 7);
        assert!(failure.message.contains("broken") && failure.message.contains("  repeat me"), "{failure}");
    }
}
