//! Running other programs: each is printed before it starts, and its exit code becomes ours.

use crate::failure::Failure;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A program with its arguments and environment, ready to be printed and run.
#[derive(Debug, Clone)]
pub(crate) struct Cmd {
    shown: String,
    program: OsString,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Cmd {
    /// `program` with `args`, found on the search path.
    pub(crate) fn new(program: &str, args: &[&str]) -> Self {
        Self {
            shown: program.to_owned(),
            program: program.into(),
            args: args.iter().map(|a| (*a).to_owned()).collect(),
            env: Vec::new(),
        }
    }

    /// The cargo that runs us, so that its toolchain is used for everything.
    pub(crate) fn cargo(args: &[&str]) -> Self {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self { program, ..Self::new("cargo", args) }
    }

    /// One more argument.
    pub(crate) fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    /// One more environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The line a person can paste into a shell to repeat this.
    pub(crate) fn line(&self) -> String {
        let env = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        let words = std::iter::once(&self.shown).chain(&self.args).map(|w| quoted(w));
        env.chain(words).collect::<Vec<_>>().join(" ")
    }

    fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(n, v)| (n, v))).current_dir(dir);
        command
    }

    /// Prints the line and runs the program in `dir` with its output passed through.
    pub(crate) fn run(&self, dir: &Path) -> Result<(), Failure> {
        println!("$ {}", self.line());
        let status = self.command(dir).status().map_err(|e| self.not_started(&e))?;
        if status.success() { Ok(()) } else { Err(self.failed(status.code())) }
    }

    /// Prints the line, runs the program and shows its output only when it fails.
    pub(crate) fn run_quiet(&self, dir: &Path) -> Result<(), Failure> {
        println!("$ {}", self.line());
        let output = self.output(dir)?;
        if output.status.success() {
            return Ok(());
        }
        println!("{}", String::from_utf8_lossy(&output.stdout));
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        Err(self.failed(output.status.code()))
    }

    /// Runs the program and returns its standard output as text; its errors pass through.
    pub(crate) fn read(&self, dir: &Path) -> Result<String, Failure> {
        let output = self.command(dir).stderr(Stdio::inherit()).output().map_err(|e| self.not_started(&e))?;
        if !output.status.success() {
            return Err(self.failed(output.status.code()));
        }
        String::from_utf8(output.stdout)
            .map_err(|_| Failure::new(format!("`{}` printed text that is not UTF-8", self.line())))
    }

    /// Runs the program silently and returns all it did.
    pub(crate) fn output(&self, dir: &Path) -> Result<Output, Failure> {
        self.command(dir).stdin(Stdio::null()).output().map_err(|e| self.not_started(&e))
    }

    /// True if the program starts and ends well; nothing is printed.
    pub(crate) fn works(&self, dir: &Path) -> bool {
        self.output(dir).is_ok_and(|o| o.status.success())
    }

    fn not_started(&self, error: &std::io::Error) -> Failure {
        Failure::new(format!("cannot start `{}`: {error}", self.line()))
    }

    fn failed(&self, code: Option<i32>) -> Failure {
        let message = match code {
            Some(code) => format!("exit code {code} from: {}", self.line()),
            None => format!("ended by a signal: {}", self.line()),
        };
        let code = code.and_then(|c| u8::try_from(c).ok()).filter(|&c| c != 0).unwrap_or(1);
        Failure { message, code }
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_line_can_be_pasted_into_a_shell() {
        let cmd = Cmd::new("cargo", &["doc", "a b", "it's"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(cmd.line(), r"RUSTDOCFLAGS='-D warnings' cargo doc 'a b' 'it'\''s'");
    }

    #[test]
    fn the_exit_code_of_the_program_becomes_ours() {
        let failure = Cmd::cargo(&["no-such-subcommand-of-cargo"]).run_quiet(Path::new(".")).unwrap_err();
        assert_eq!(failure.code, 101);
        assert!(failure.message.contains("no-such-subcommand-of-cargo"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let failure = Cmd::new("no-such-program-anywhere", &[]).run(Path::new(".")).unwrap_err();
        assert!(failure.message.contains("no-such-program-anywhere"), "{failure}");
    }
}
