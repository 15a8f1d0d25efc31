//! Names that explain themselves: words that say nothing to who has not read the file are not used in identifiers and documents.
//!
//! An identifier is split at `_` and at capitals; a part that is one of the words, or its plural, is reported. Strings and comments may use them as plain
//! English. In Markdown only those count that are no plain English for anything here.

use super::Problem;
use crate::rust_text::{Masked, line_of, tokens};
use crate::workspace::TextFile;

/// The word, what to say instead, and whether documents may not use it either. Plurals count.
const WORDS: &[(&str, &str, bool)] = &[
    ("bed", "say what it holds", false),
    ("bell", "say what it wakes", false),
    ("borne", "previous impulse", true),
    ("doubt", "say what is not certain", false),
    ("flyer", "body without contacts", true),
    ("kick", "change of velocity", false),
    ("notice", "update, or wake", false),
    ("shelf", "say what it holds", true),
    ("team", "threads", true),
    ("territory", "partition", true),
    ("trail", "path, or travel", false),
    ("watched", "recorded, or active", false),
];

/// Names of methods in the literature: `drift_kick_drift` integrates rotations.
const TERMS: &[&str] = &["drift_kick", "drift_kick_drift"];

/// Files and folders that still have such names. This list only shrinks.
const STILL: &[&str] = &[
    "crates/constraint-dynamics/src/soft",
    "crates/scene/src/lower/control.rs",
    "crates/sim-steppers/src/event_driven/predict.rs",
    "crates/sim-steppers/src/time_stepping/soft.rs",
];

/// Looks at the Rust files of crates and at all Markdown files but the changelog, which tells what was.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| !STILL.iter().any(|still| file.path.starts_with(still))) {
        if file.path.starts_with("crates/") && file.path.ends_with(".rs") {
            check_names(file, &mut problems);
        } else if file.path.ends_with(".md") && file.path != "CHANGELOG.md" {
            check_document(file, &mut problems);
        }
    }
    problems.extend(unneeded(files));
    problems
}

fn check_names(file: &TextFile, problems: &mut Vec<Problem>) {
    let code = Masked::new(&file.text).code;
    let mut seen: Vec<&str> = Vec::new();
    for (at, token) in tokens(&code) {
        // Names of tests are sentences.
        let is_sentence = token.split('_').count() > 5;
        if is_sentence || seen.contains(&token) || TERMS.iter().any(|term| token.contains(term)) {
            continue;
        }
        let found = parts(token).iter().find_map(|part| banned(part));
        if let Some((word, instead, _)) = found {
            seen.push(token);
            let message = format!("`{token}`: `{word}` explains nothing: {instead}");
            problems.push(Problem::error(&file.path, line_of(&code, at), message));
        }
    }
}

fn check_document(file: &TextFile, problems: &mut Vec<Problem>) {
    for (line, number) in file.text.lines().zip(1..) {
        let words = line.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
        for (word, instead, _) in
            words.filter_map(|word| banned(&word)).filter(|(_, _, documents)| *documents)
        {
            let message = format!("`{word}` explains nothing: {instead}");
            problems.push(Problem::error(&file.path, number, message));
        }
    }
}

/// The entry of a word, or of its plural.
fn banned(word: &str) -> Option<(&'static str, &'static str, bool)> {
    let plural = |entry: &str| match entry.strip_suffix('y') {
        Some(stem) => word.strip_suffix("ies") == Some(stem),
        None => word.strip_suffix('s') == Some(entry) || (entry == "shelf" && word == "shelves"),
    };
    WORDS.iter().copied().find(|(entry, _, _)| *entry == word || plural(entry))
}

/// `SoftTeam_of` has the parts soft, team, of.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut lower = false;
    for c in identifier.chars() {
        if c == '_' || (lower && c.is_uppercase()) {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| c != '_') {
            last.extend(c.to_lowercase());
        }
        lower = c.is_lowercase() || c.is_numeric();
    }
    parts
}

/// Entries of the list of exceptions that are clean by now.
fn unneeded(files: &[TextFile]) -> Vec<Problem> {
    let still_needed = |still: &str| {
        let mut problems = Vec::new();
        let in_it = files.iter().filter(|file| file.path.starts_with(still) && file.path.ends_with(".rs"));
        in_it.for_each(|file| check_names(file, &mut problems));
        !problems.is_empty()
    };
    let clean = STILL.iter().filter(|still| !still_needed(still));
    clean
        .map(|still| {
            Problem::warning(still, 1, "clean by now: take it off `STILL` in `xtask/src/tidy/words.rs`")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let still = format!("{}/x.rs", STILL[0]);
        let found = check(&[file(path, text), file(&still, "struct Team;")]);
        found.iter().filter(|problem| !problem.warning).map(ToString::to_string).collect()
    }

    #[test]
    fn parts_of_names_are_found_however_they_are_written() {
        for bad in ["fn wake_team() {}", "struct Territories;", "const KICKS: u8 = 0;", "let softBed2 = 1;"] {
            assert_eq!(problems("crates/a/src/b.rs", bad).len(), 1, "{bad}");
        }
        let good = "// a team\nfn steam() { \"bed\"; let trailing_zeros = embed; } fn drift_kick_drift() {}";
        assert_eq!(problems("crates/a/src/b.rs", good), [""; 0]);
        assert_eq!(
            problems("crates/a/src/b.rs", "\nuse a::Flyer;\nlet x = Flyer;"),
            ["crates/a/src/b.rs:2: error: `Flyer`: `flyer` explains nothing: body without contacts"]
        );
    }

    #[test]
    fn documents_may_use_plain_english_only() {
        assert_eq!(problems("docs/a.md", "A stepper that is watched, no doubt."), [""; 0]);
        assert_eq!(problems("docs/a.md", "Flyers and `shelves`.").len(), 2);
        assert_eq!(problems("CHANGELOG.md", "Flyers"), [""; 0]);
    }

    #[test]
    fn an_exception_that_nobody_needs_is_reported() {
        let file = TextFile { path: format!("{}/x.rs", STILL[0]), text: "struct Threads;".to_owned() };
        assert!(check(&[file])[0].to_string().contains("clean by now"));
    }
}
