//! `cargo xtask deep`: slow checks that need tools not everybody has.
//!
//! Each runs if its tool is there; otherwise the reason why it is skipped is printed. A failure of one that
//! runs fails the command.

use crate::args::Args;
use crate::failure::Failure;
use crate::shell::Cmd;
use crate::workspace::Workspace;

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "deep",
    usage: "",
    about: "Miri on sim-math and test coverage, each if its tool is installed",
    run,
};

/// A check with the command that tells whether its tool is there.
struct Check {
    what: &'static str,
    probe: Cmd,
    cmd: Cmd,
    install: &'static str,
}

fn checks() -> Vec<Check> {
    // Properties draw 1e5 cases and more, which an interpreter cannot do: Miri runs the closed-form tests.
    let miri = ["miri", "test", "-p", "sim-math", "--lib", "--", "pose", "spatial", "aabb"];
    vec![
        Check {
            what: "undefined behaviour (Miri)",
            probe: Cmd::cargo(&["miri", "--version"]),
            cmd: Cmd::cargo(&miri).env("MIRIFLAGS", "-Zmiri-disable-isolation"),
            install: "Miri is not part of the pinned toolchain: it comes with nightly ones only, \
                      `rustup component add miri`",
        },
        Check {
            what: "coverage (cargo-llvm-cov)",
            probe: Cmd::cargo(&["llvm-cov", "--version"]),
            cmd: Cmd::cargo(&["llvm-cov", "--workspace", "--all-features", "--summary-only"]),
            install: "not installed: `cargo install cargo-llvm-cov` and `rustup component add llvm-tools`",
        },
    ]
}

fn run(words: &[String]) -> Result<(), Failure> {
    Args::parse(words, &[], 0)?;
    let workspace = Workspace::load()?;
    let (mut ran, mut failures) = (0, Vec::new());
    for check in checks() {
        if check.probe.works(&workspace.root) {
            ran += 1;
            failures.extend(check.cmd.run(&workspace.root).err());
        } else {
            println!("skipped: {}: {}", check.what, check.install);
        }
    }
    println!("deep: {ran} checks ran, {} failed", failures.len());
    failures.into_iter().next().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_says_how_to_get_its_tool() {
        assert!(checks().iter().all(|c| !c.install.is_empty() && !c.what.is_empty()));
    }
}
