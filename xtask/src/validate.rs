//! `cargo xtask validate`: runs the scenes with known answers and writes `docs/validation.md`.

use crate::args::Args;
use crate::failure::Failure;
use crate::shell::Cmd;
use crate::workspace::Workspace;

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "validate",
    usage: "[scene]",
    about: "run the scenes with known answers and write docs/validation.md (one scene: print it only)",
    run,
};

fn run(words: &[String]) -> Result<(), Failure> {
    let args = Args::parse(words, &[], 1)?;
    let (file, scene) = match args.positional.first() {
        Some(scene) => ("-", Some(scene.as_str())),
        None => ("docs/validation.md", None),
    };
    let mut cmd = Cmd::cargo(&["run", "--release", "--quiet", "-p", "validation", "--", file]);
    if let Some(scene) = scene {
        cmd = cmd.arg(scene);
    }
    cmd.run(&Workspace::load()?.root)
}
