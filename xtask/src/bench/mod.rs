//! `cargo xtask bench [filter] [--quick] [--count]`: the benchmarks of `benches/`, one table at the end.
//!
//! Without `--count` criterion measures wall time ([`time`]); with it callgrind counts instructions
//! ([`count`]), which repeat exactly even on a shared machine. `filter` is a regular expression on ids.

mod count;
mod time;

use crate::args::Args;
use crate::failure::Failure;
use crate::workspace::Workspace;
use serde_json::Value;
use std::path::Path;

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "bench",
    usage: "[filter] [--quick] [--count]",
    about: "run the benchmarks; --count counts instructions with valgrind instead of measuring time",
    run,
};

/// Package that holds all benchmarks.
const PACKAGE: &str = "tumblestone-benches";

fn run(words: &[String]) -> Result<(), Failure> {
    let args = Args::parse(words, &["--quick", "--count"], 1)?;
    let filter = args.positional.first().map(String::as_str);
    let workspace = Workspace::load()?;
    if args.has("--count") {
        if args.has("--quick") {
            return Err(Failure::usage("`--quick` is for times; `--count` is exact already"));
        }
        count::run(&workspace, filter)
    } else {
        time::run(&workspace, filter, args.has("--quick"))
    }
}

fn write_json(path: &Path, value: &Value) -> Result<(), Failure> {
    std::fs::write(path, format!("{value:#}\n"))
        .map_err(|e| Failure::new(format!("cannot write {}: {e}", path.display())))?;
    println!("wrote {}", path.display());
    Ok(())
}
