//! Instructions for one iteration, counted by callgrind.
//!
//! Each benchmark runs twice under callgrind, with N and with 2 N iterations; the difference divided by N
//! is one iteration, free of start-up and set-up. The bench programs do this through the variables
//! `TUMBLESTONE_COUNT` (the id) and `TUMBLESTONE_COUNT_ROUNDS` (1 or 2), see `tumblestone_benches`.

use super::{PACKAGE, write_json};
use crate::failure::Failure;
use crate::shell::Cmd;
use crate::table;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::path::Path;

/// Counts every benchmark that matches, prints one table and writes `bench-count.json`.
pub(super) fn run(workspace: &Workspace, filter: Option<&str>) -> Result<(), Failure> {
    if !Cmd::new("valgrind", &["--version"]).works(&workspace.root) {
        return Err(Failure::new(
            "`--count` needs valgrind, which is not installed (Debian: `apt install valgrind`)",
        ));
    }
    let build = Cmd::cargo(&[
        "bench",
        "-p",
        PACKAGE,
        "--no-run",
        "--quiet",
        "--message-format=json-render-diagnostics",
    ]);
    println!("$ {}", build.line());
    let programs = executables(&build.read(&workspace.root)?);
    let mut counts: Vec<(String, f64)> = Vec::new();
    for program in &programs {
        let mut list = Cmd::new(program, &["--bench", "--list", "--format", "terse"]);
        if let Some(filter) = filter {
            list = list.arg(filter);
        }
        let text = list.read(&workspace.root)?;
        for id in text.lines().filter_map(|line| line.strip_suffix(": benchmark")) {
            counts.push((id.to_owned(), count(workspace, program, id)?));
        }
    }
    counts.sort_by(|a, b| a.0.cmp(&b.0));
    if counts.is_empty() {
        return Err(Failure::new(format!("no benchmark matches `{}`", filter.unwrap_or(""))));
    }
    let rows: Vec<_> = counts.iter().map(|(id, n)| vec![id.clone(), format!("{n:.1}")]).collect();
    println!("\n{}", table::render(&["benchmark", "instructions"], &rows));
    let json = counts.iter().map(|(id, n)| json!({"id": id, "instructions": n})).collect();
    write_json(&workspace.target.join("bench-count.json"), &Value::Array(json))
}

/// Bench programs in cargo's messages.
fn executables(messages: &str) -> Vec<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter_map(|m| m["executable"].as_str().map(str::to_owned)).collect()
}

fn count(workspace: &Workspace, program: &str, id: &str) -> Result<f64, Failure> {
    let once = rounds(workspace, program, id, 1)?;
    let twice = rounds(workspace, program, id, 2)?;
    if once.1 == 0 || twice.1 != 2 * once.1 || twice.0 < once.0 {
        return Err(Failure::new(format!(
            "{id}: {} instructions for {} iterations, {} for {}: not a count of iterations",
            once.0, once.1, twice.0, twice.1
        )));
    }
    #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    Ok((twice.0 - once.0) as f64 / once.1 as f64)
}

/// Instructions of the whole program and the iterations it says it ran.
fn rounds(workspace: &Workspace, program: &str, id: &str, rounds: u32) -> Result<(u64, u64), Failure> {
    let out = workspace.target.join(format!("callgrind.{}.{rounds}", std::process::id()));
    let file = format!("--callgrind-out-file={}", out.display());
    let cmd = Cmd::new("valgrind", &["--tool=callgrind", &file, program, "--bench"])
        .env("TUMBLESTONE_COUNT", id)
        .env("TUMBLESTONE_COUNT_ROUNDS", &rounds.to_string());
    println!("$ {}", cmd.line());
    let output = cmd.output(&workspace.root)?;
    let total = total_of(&out);
    // Only its total is wanted; one that cannot be removed does no harm in the target folder.
    let _ = std::fs::remove_file(&out);
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        return Err(Failure::new(format!("callgrind failed for {id}")));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let iterations = said.lines().find_map(|l| l.strip_prefix("iterations: ")?.trim().parse().ok());
    iterations.and_then(|n| Some((total?, n))).ok_or_else(|| {
        Failure::new(format!("{id} did not run: is it registered through `tumblestone_benches`?"))
    })
}

fn total_of(path: &Path) -> Option<u64> {
    parse_total(&std::fs::read_to_string(path).ok()?)
}

/// The instruction count in callgrind's file.
fn parse_total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("totals:").or(line.strip_prefix("summary:")));
    line?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_from_callgrind_s_file() {
        assert_eq!(parse_total("events: Ir\nfn=(1)\n12 34\ntotals: 5678\n"), Some(5678));
        assert_eq!(parse_total("events: Ir\nsummary: 91 2\n"), Some(91));
        assert_eq!(parse_total("events: Ir\n"), None);
    }

    #[test]
    fn executables_are_taken_from_cargo_s_messages() {
        let text = "{\"executable\":\"/t/a\"}\nnoise\n{\"executable\":null}\n{\"reason\":\"x\"}\n";
        assert_eq!(executables(text), ["/t/a"]);
    }
}
