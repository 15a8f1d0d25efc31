//! Headings in the module docs of algorithm files.
//!
//! A file under `crates/*/src` is an algorithm file when its module doc has the heading `# Reference`.
//! Then it needs all headings of [`HEADINGS`], in that order, each with text under or beside it.
//! A name in backticks under the last one that looks like a function (`snake_case`, perhaps with a
//! module path) must be declared somewhere in the workspace.

use super::Problem;
use crate::rust_text::{Masked, functions};
use crate::workspace::TextFile;
use std::collections::BTreeSet;

const HEADINGS: [&str; 7] = ["Reference", "Symbols", "Formula", "Cost", "Numerics", "Failure", "Tested by"];

/// Looks at every algorithm file.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let rust = files.iter().filter(|f| f.path.ends_with(".rs"));
    let names: BTreeSet<String> = rust
        .clone()
        .flat_map(|f| functions(&Masked::new(&f.text).code))
        .map(|function| function.name)
        .collect();
    rust.filter(|f| is_crate_source(&f.path)).flat_map(|f| check_file(f, &names)).collect()
}

fn is_crate_source(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("crates") && parts.nth(1) == Some("src")
}

/// A heading of the module doc with the lines that belong to it.
struct Section<'a> {
    line: usize,
    title: &'a str,
    body: Vec<(usize, &'a str)>,
}

fn check_file(file: &TextFile, names: &BTreeSet<String>) -> Vec<Problem> {
    let sections = sections(&file.text);
    let find = |title: &str| sections.iter().position(|s| names_heading(s.title, title));
    let Some(reference) = find(HEADINGS[0]) else { return Vec::new() };
    let mut problems = Vec::new();
    let mut error = |line: usize, message: String| problems.push(Problem::error(&file.path, line, message));
    let mut last = reference;
    for title in HEADINGS {
        let Some(at) = find(title) else {
            error(sections[reference].line, format!("algorithm doc without the heading `# {title}`"));
            continue;
        };
        if at < last {
            error(sections[at].line, format!("`# {title}` is out of order: {}", HEADINGS.join(", ")));
        }
        let beside = sections[at].title.len() > title.len();
        if !beside && sections[at].body.iter().all(|(_, text)| text.trim().is_empty()) {
            error(sections[at].line, format!("nothing under `# {title}`"));
        }
        last = last.max(at);
    }
    if let Some(at) = find("Tested by") {
        let section = &sections[at];
        for (line, text) in std::iter::once(&(section.line, section.title)).chain(&section.body) {
            for name in test_names(text) {
                if !names.contains(name) {
                    error(*line, format!("`{name}` under `# Tested by` is not a function of the workspace"));
                }
            }
        }
    }
    problems
}

/// `# Cost` and `# Cost   O(n) time` both are the heading `Cost`.
fn names_heading(title: &str, wanted: &str) -> bool {
    title.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// First-level headings of the module doc; code blocks have none, as `#` hides a line there.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut fenced = false;
    for (line, number) in text.lines().zip(1..) {
        let Some(doc) = line.strip_prefix("//!") else {
            if line.is_empty() || line.starts_with("//") || line.starts_with("#!") {
                continue;
            }
            break;
        };
        let doc = doc.strip_prefix(' ').unwrap_or(doc);
        if doc.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        match doc.strip_prefix("# ").filter(|_| !fenced) {
            Some(title) => sections.push(Section { line: number, title: title.trim_end(), body: Vec::new() }),
            None => {
                if let Some(section) = sections.last_mut() {
                    section.body.push((number, doc));
                }
            }
        }
    }
    sections
}

/// Names in backticks that look like functions; of a path, the last part.
fn test_names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter_map(|name| {
        let name = name.strip_suffix("()").unwrap_or(name);
        let path = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
        let last = name.rsplit("::").next().unwrap_or(name);
        (path && last.starts_with(|c: char| c.is_lowercase() || c == '_')).then_some(last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "//! Title.\n//!\n//! # Reference\n//!\n//! A book.\n//!\n//! # Symbols\n//! a\n\
        //! # Formula\n//! ```text\n//! # Cost is no heading here\n//! ```\n//! # Cost   O(n)\n\
        //! # Numerics\n//! exact\n//! # Failure\n//! none\n//! # Tested by\n\
        //! `tests::it_works`, golden `arm.json`, bench `aba/chain`, `a = b`, type `Oracle`\n\
        \nfn it_works() {}\n";

    fn problems(text: &str) -> Vec<String> {
        let file = TextFile { path: "crates/a/src/b.rs".to_owned(), text: text.to_owned() };
        check(&[file]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_doc_passes_and_other_files_need_none() {
        assert_eq!(problems(GOOD), [""; 0]);
        assert_eq!(problems("//! Plain data.\n"), [""; 0]);
    }

    #[test]
    fn each_missing_heading_is_reported() {
        for title in &HEADINGS[1..] {
            let found = problems(&GOOD.replace(&format!("//! # {title}"), "//!"));
            assert!(
                found.iter().any(|p| p.contains(&format!("without the heading `# {title}`"))),
                "{found:?}"
            );
        }
    }

    #[test]
    fn order_and_content_matter() {
        let swapped =
            GOOD.replace("# Numerics", "# X").replace("# Failure", "# Numerics").replace("# X", "# Failure");
        assert!(problems(&swapped)[0].contains("out of order"));
        let empty = GOOD.replace("//! exact\n", "");
        assert!(problems(&empty)[0].contains("nothing under `# Numerics`"));
    }

    #[test]
    fn a_test_that_does_not_exist_is_reported_at_its_line() {
        let found = problems(&GOOD.replace("fn it_works", "fn it_worked"));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/a/src/b.rs:19: error: `it_works`"), "{found:?}");
    }

    #[test]
    fn only_sources_of_crates_are_looked_at() {
        assert!(is_crate_source("crates/a/src/b/c.rs"));
        assert!(!is_crate_source("crates/a/tests/b.rs") && !is_crate_source("xtask/src/main.rs"));
    }
}
