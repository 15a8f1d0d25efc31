//! The few flags that commands take, parsed by hand.

use crate::failure::Failure;

/// Words of a command line, split into known flags and the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Args {
    flags: Vec<String>,
    /// Words that are not flags, in order.
    pub(crate) positional: Vec<String>,
}

impl Args {
    /// Accepts only the listed flags (written with their dashes) and at most `most` other words.
    pub(crate) fn parse(words: &[String], known: &[&str], most: usize) -> Result<Self, Failure> {
        let (flags, positional): (Vec<_>, Vec<_>) = words.iter().cloned().partition(|w| w.starts_with('-'));
        if let Some(flag) = flags.iter().find(|f| !known.contains(&f.as_str())) {
            return Err(Failure::usage(format!("unknown flag `{flag}`")));
        }
        if let Some(word) = positional.get(most) {
            return Err(Failure::usage(format!("unexpected argument `{word}`")));
        }
        Ok(Self { flags, positional })
    }

    /// True if the flag was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_and_words_may_come_in_any_order() {
        let args = Args::parse(&words("--quick pose"), &["--quick", "--count"], 1).unwrap();
        assert!(args.has("--quick") && !args.has("--count"));
        assert_eq!(args.positional, ["pose"]);
    }

    #[test]
    fn unknown_flags_and_surplus_words_are_usage_errors() {
        for line in ["--fast", "a b", "-q"] {
            let failure = Args::parse(&words(line), &["--quick"], 1).unwrap_err();
            assert_eq!(failure.code, crate::failure::USAGE, "{line}");
        }
    }
}
