//! Prints the table of `crates/scene/scenes/README.md`: every scene of the theses beside the thesis.
//!
//! ```sh
//! cargo run --release -p sim-cli --example scene_table [--awake] [SCENE ...]
//! ```
//!
//! With `--awake` nobody sleeps.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use sim_cli::CliError;
use sim_cli::commands::{
    run::{Outcome, Wanted, simulate},
    source::Source,
};

/// Name, slowdown of the thesis, and the longest we run it here.
const SCENES: [(&str, Option<f64>, f64); 19] = [
    ("dominos", Some(3.1), 9.0),
    ("block-drop", Some(0.5), 9.0),
    ("block-on-ramp", Some(0.3), 9.0),
    ("chain-of-balls", Some(1.2), 9.0),
    ("balls-in-dish", Some(2.4), 9.0),
    ("coins", Some(4.6), 9.0),
    ("pool-break", Some(9.0), 9.0),
    ("bowling", Some(3.6), 9.0),
    ("ball-on-platter", Some(1.4), 5.0),
    ("rattleback", Some(1.2), 10.0),
    ("part-feeder", Some(6.6), 9.0),
    ("exploding-text", Some(4.5), 9.0),
    ("sliding-cubes", None, 9.0),
    ("bouncing-balls", None, 9.0),
    // Real-time factors of 210 % and 25 %.
    ("coins-18", Some(1.0 / 2.1), 9.0),
    ("dominoes-150", Some(1.0 / 0.25), 9.0),
    ("brick-wall", None, 2.0),
    ("brick-wall-hit", None, 1.0),
    ("bounce-world", None, 9.0),
];

fn main() -> Result<(), CliError> {
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let awake = options.iter().any(|option| option == "--awake");
    println!(
        "| scene | thesis | ours | checks/s | dynamics / detection / response | rise of energy | deepest overlap |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, thesis, longest) in SCENES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let mut source = Source::open(name)?;
        let until = source.setup()?.until.min(longest);
        source.loaded.scene.run.until = Some(until);
        if awake {
            source.loaded.scene.stepper.sleep = None;
        }
        let run = |clock| simulate(&source, Wanted { clock, ..Wanted::default() }, &mut |_, _| {});
        // Without meters for the time, with them for the split.
        let [plain, timed]: [Outcome; 2] = [run(false)?.0, run(true)?.0];
        let split = timed.split().unwrap_or_default().map(|part| format!("{:.0} %", 100.0 * part));
        println!(
            "| {name} | {} | {:.4} | {:.0} | {} | {:.1e} J of {:.1e} J | {:.1e} m |",
            thesis.map_or_else(|| "-".to_owned(), |t| format!("{t:.2}")),
            plain.slowdown(),
            plain.report.distances as f64 / until,
            split[..3].join(" / "),
            plain.energy_gain,
            plain.energy_start.abs(),
            plain.deepest,
        );
    }
    Ok(())
}
