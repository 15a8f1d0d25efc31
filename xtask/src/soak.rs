//! `cargo xtask soak`: the long properties, a hundred times as long as in CI and on fresh random input.
//!
//! A property that is worth it is a test named `soak_*` that draws its cases through `sim_math::testkit::soak`.
//! The seed is printed, so that a failure can be had again: `cargo xtask soak --seed=N`.

use crate::failure::Failure;
use crate::shell::Cmd;
use crate::workspace::Workspace;
use std::time::{SystemTime, UNIX_EPOCH};

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "soak",
    usage: "[package] [--times=100] [--seed=N]",
    about: "long random properties (tests named soak_*), many times CI's cases on fresh seeds",
    run,
};

/// What the words of the command line ask for.
#[derive(Debug, PartialEq)]
struct Soak {
    package: Option<String>,
    times: f64,
    seed: Option<u64>,
}

fn parse(words: &[String]) -> Result<Soak, Failure> {
    let mut soak = Soak { package: None, times: 100.0, seed: None };
    for word in words {
        let bad = |what| Failure::usage(format!("`{word}`: {what}"));
        if let Some(times) = word.strip_prefix("--times=") {
            soak.times = times.parse().map_err(|_| bad("not a number"))?;
            if !(soak.times > 0.0 && soak.times.is_finite()) {
                return Err(bad("must be positive"));
            }
        } else if let Some(seed) = word.strip_prefix("--seed=") {
            soak.seed = Some(seed.parse().map_err(|_| bad("not a whole number"))?);
        } else if word.starts_with('-') {
            return Err(bad("unknown flag"));
        } else if soak.package.replace(word.clone()).is_some() {
            return Err(bad("only one package at a time"));
        }
    }
    Ok(soak)
}

fn run(words: &[String]) -> Result<(), Failure> {
    let soak = parse(words)?;
    let seed = soak.seed.unwrap_or_else(|| {
        // A seed only has to differ from run to run; the clock does, and 0 would mean the seeds of CI.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs().max(1))
    });
    println!("soak: {} times the cases of CI, seed {seed}", soak.times);
    let scope = match &soak.package {
        Some(package) => vec!["-p", package],
        None => vec!["--workspace"],
    };
    Cmd::cargo(
        &[&["test", "--release", "--all-features"], &scope[..], &["--", "soak_", "--nocapture"]].concat(),
    )
    .env("TUMBLESTONE_SOAK", &soak.times.to_string())
    .env("TUMBLESTONE_SEED", &seed.to_string())
    .run(&Workspace::load()?.root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Soak, Failure> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn package_factor_and_seed_are_read_in_any_order() {
        let soak = parsed("--seed=7 lcp-lemke --times=2.5").unwrap();
        assert_eq!(soak, Soak { package: Some("lcp-lemke".to_owned()), times: 2.5, seed: Some(7) });
        assert_eq!(parsed("").unwrap(), Soak { package: None, times: 100.0, seed: None });
    }

    #[test]
    fn wrong_words_are_usage_errors_that_quote_them() {
        for line in ["--times=0", "--times=x", "--seed=-1", "--fast", "a b"] {
            let failure = parsed(line).unwrap_err();
            assert_eq!(failure.code, crate::failure::USAGE, "{line}");
            assert!(failure.to_string().contains(line.split(' ').next_back().unwrap()), "{failure}");
        }
    }
}
