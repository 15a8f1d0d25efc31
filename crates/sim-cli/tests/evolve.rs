//! `sim evolve` as a user calls it.
#![allow(clippy::unwrap_used, reason = "tests")]

use sim_cli::commands::evolve::{EvolveArgs, evolve_run};
use std::{fs, path::PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn args(out: PathBuf) -> EvolveArgs {
    EvolveArgs {
        out,
        legs: 4,
        parents: 2,
        generations: 2,
        seed: 3,
        settle: 0.25,
        measure: 0.25,
        jobs: 1,
        at_most: None,
        quiet: true,
    }
}

fn files(folder: &std::path::Path) -> [Vec<u8>; 3] {
    ["journal", "generations.jsonl", "best.json"].map(|name| fs::read(folder.join(name)).unwrap())
}

// proves: FON-139
#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_end_with_any_number_of_workers() {
    let whole = args(folder("evolve_whole"));
    let text = evolve_run(&whole).unwrap();
    assert!(text.starts_with("36 evaluations, 0 known from before"), "{text}");
    let stopped = EvolveArgs { at_most: Some(10), ..args(folder("evolve_stopped")) };
    let text = evolve_run(&stopped).unwrap();
    assert!(text.contains("not at its end"), "{text}");
    // Killed in the middle of an entry.
    let journal = stopped.out.join("journal");
    let bytes = fs::read(&journal).unwrap();
    fs::write(&journal, &bytes[..bytes.len() - 5]).unwrap();
    let text = evolve_run(&EvolveArgs { at_most: None, jobs: 2, ..stopped.clone() }).unwrap();
    assert!(!text.contains("not at its end"), "{text}");
    assert!(files(&whole.out) == files(&stopped.out));
    // A run at its end has nothing to do.
    let text = evolve_run(&whole).unwrap();
    assert!(text.starts_with("0 evaluations, 36 known from before"), "{text}");
}

#[test]
fn what_cannot_be_is_said() {
    let said = |change: &dyn Fn(&mut EvolveArgs)| {
        let mut args = args(folder("evolve_wrong"));
        change(&mut args);
        evolve_run(&args).unwrap_err().to_string()
    };
    assert_eq!(said(&|a| a.legs = 5), "--legs: must be 4 or 6, got 5");
    assert_eq!(said(&|a| a.measure = f64::NAN), "--measure: must be above 0 and at most 300 s, got NaN");
    assert!(said(&|a| a.parents = 0).contains("number of parents must be positive, got 0"));
    let begun = EvolveArgs { at_most: Some(4), ..args(folder("evolve_other")) };
    evolve_run(&begun).unwrap();
    let text = evolve_run(&EvolveArgs { seed: 4, ..begun.clone() }).unwrap_err().to_string();
    assert!(text.contains("was begun with other settings"), "{text}");
    fs::write(begun.out.join("journal"), b"something else, and long enough").unwrap();
    assert!(evolve_run(&begun).unwrap_err().to_string().contains("does not begin as one"));
}
