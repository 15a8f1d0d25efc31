//! `cargo xtask <command>`: the repository's own commands, with nothing to install.
//!
//! A command is one module with a `COMMAND` constant and one line in [`COMMANDS`].
//! Every command prints the programs it runs (`$ cargo ...`), and fails with their exit code.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to a person")]

mod args;
mod bench;
mod ci;
mod deep;
mod failure;
mod ledger;
mod rust_text;
mod shell;
mod soak;
mod table;
mod tidy;
mod validate;
mod viewer;
mod workspace;

use failure::Failure;
use std::process::ExitCode;

/// One entry of the command list.
#[derive(Debug)]
pub(crate) struct Command {
    /// First word after `cargo xtask`.
    pub(crate) name: &'static str,
    /// What may follow the name.
    pub(crate) usage: &'static str,
    /// One line for the help text.
    pub(crate) about: &'static str,
    /// Runs it with the words after the name.
    pub(crate) run: fn(&[String]) -> Result<(), Failure>,
}

const COMMANDS: &[Command] = &[
    ci::TEST,
    ci::COMMAND,
    tidy::COMMAND,
    ledger::COMMAND,
    bench::COMMAND,
    soak::COMMAND,
    validate::COMMAND,
    viewer::COMMAND,
    deep::COMMAND,
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match words.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("", &[][..]),
    };
    if matches!(name, "help" | "--help" | "-h") {
        println!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|c| c.name == name) else {
        let what =
            if name.is_empty() { "no command given".to_owned() } else { format!("unknown command `{name}`") };
        eprintln!("error: {what}\n\n{}", help());
        return ExitCode::from(failure::USAGE);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            if failure.code == failure::USAGE {
                eprintln!("usage: cargo xtask {} {}\n\n{}", command.name, command.usage, help());
            }
            ExitCode::from(failure.code)
        }
    }
}

fn help() -> String {
    let mut text = String::from("usage: cargo xtask <command>\n\ncommands:\n");
    let width = COMMANDS.iter().map(|c| c.name.len() + 1 + c.usage.len()).max().unwrap_or(0);
    for command in COMMANDS {
        let call = format!("{} {}", command.name, command.usage);
        text.push_str(&format!("  {call:width$}  {}\n", command.about));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_command_once_and_names_are_unique() {
        let text = help();
        for (i, command) in COMMANDS.iter().enumerate() {
            assert!(text.contains(command.about), "{} is missing in the help", command.name);
            assert!(COMMANDS[..i].iter().all(|other| other.name != command.name));
        }
    }
}
