//! `validation [FILE] [SCENE]`: runs the scenes, prints each number, and writes the page if a file is named.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to a person")]

use std::{process::ExitCode, time::Instant};
use validation::{Outcome, SCENES, markdown};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let file = words.first().filter(|word| *word != "-");
    let only = words.get(1);
    if let Some(name) = only.filter(|name| !SCENES.iter().any(|s| s.name == name.as_str())) {
        let names: Vec<_> = SCENES.iter().map(|s| s.name).collect();
        eprintln!("error: no scene `{name}`; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    let mut outcomes = Vec::new();
    for scene in SCENES.iter().filter(|s| only.is_none_or(|name| s.name == name.as_str())) {
        println!("{}", scene.name);
        let start = Instant::now();
        let rows = scene.rows().map_err(|failed| failed.to_string());
        match &rows {
            Ok(rows) => {
                for row in rows {
                    println!("  {} {row}", if row.holds() { "ok" } else { "NO" });
                }
            }
            Err(reason) => println!("  NO did not run: {reason}"),
        }
        outcomes.push(Outcome { scene, rows, seconds: start.elapsed().as_secs_f64() });
    }
    if let Some(path) = file {
        if let Err(error) = std::fs::write(path, markdown(&outcomes)) {
            eprintln!("error: {path}: {error}");
            return ExitCode::FAILURE;
        }
        println!("written: {path}");
    }
    if outcomes.iter().all(Outcome::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
