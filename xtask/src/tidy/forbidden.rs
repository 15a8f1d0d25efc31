//! Text that may not appear: skipped tests, unfinished code, sources of irreproducible results, and
//! traces of somebody's machine.
//!
//! Rust rules look at code only, so comments and strings may name what they forbid.

use super::Problem;
use crate::rust_text::{Masked, line_of, tokens};
use crate::workspace::TextFile;

/// Pattern in code, and why it is forbidden. They apply outside `xtask/`, which has to spell them.
const CODE: &[(&str, &str)] = &[
    ("#[ignore", "no test is skipped: put slow ones behind a feature"),
    ("todo!(", "finish it or leave it out"),
    ("unimplemented!(", "finish it or leave it out"),
    ("mul_add(", "contracts or not depending on the CPU: write a * b + c"),
];

/// Folders of one machine, spelled so that this file does not contain them.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/tmp/bash", "_jobs")];

const UNFINISHED: &str = concat!("FIX", "ME");

/// Looks at every text file.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        if file.path.ends_with(".rs") && !file.path.starts_with("xtask/") {
            check_code(file, &mut problems);
        }
        check_text(file, &mut problems);
    }
    problems
}

fn check_code(file: &TextFile, problems: &mut Vec<Problem>) {
    let code = Masked::new(&file.text).code;
    for (line, number) in code.lines().zip(1..) {
        for (pattern, why) in CODE.iter().filter(|(pattern, _)| line.contains(pattern)) {
            problems.push(Problem::error(&file.path, number, format!("`{pattern}`: {why}")));
        }
    }
    for (line, number) in file.text.lines().zip(1..) {
        let doc = line.trim_start().strip_prefix("///").or(line.strip_prefix("//!"));
        if doc.is_some_and(|d| d.trim_start().starts_with("```ignore")) {
            let message = "an ignored doctest is never compiled: use `text` or make it run";
            problems.push(Problem::error(&file.path, number, message));
        }
    }
    if file.path.starts_with("crates/") {
        for at in std_hash_uses(&code) {
            let message = "std's hash maps have a random order: use `FixedMap`, `FixedSet` or a BTreeMap";
            problems.push(Problem::error(&file.path, line_of(&code, at), message));
        }
    }
}

/// Where `collections::HashMap` or `collections::{.., HashSet, ..}` is named, over several lines if need be.
fn std_hash_uses(code: &str) -> Vec<usize> {
    let tokens = tokens(code);
    let is_hash = |token: &str| matches!(token, "HashMap" | "HashSet" | "hash_map" | "hash_set");
    let mut found = Vec::new();
    for (i, window) in tokens.windows(4).enumerate() {
        if [window[0].1, window[1].1, window[2].1] != ["collections", ":", ":"] {
            continue;
        }
        if window[3].1 == "{" {
            let list = tokens[i + 4..].iter().take_while(|t| t.1 != ";" && t.1 != "}");
            found.extend(list.filter(|t| is_hash(t.1)).map(|t| t.0));
        } else if is_hash(window[3].1) {
            found.push(window[3].0);
        }
    }
    found
}

fn check_text(file: &TextFile, problems: &mut Vec<Problem>) {
    for (line, number) in file.text.lines().zip(1..) {
        for path in MACHINE_PATHS.iter().filter(|path| has_path(line, path)) {
            problems.push(Problem::error(&file.path, number, format!("path of one machine: `{path}`")));
        }
        if line.contains(UNFINISHED) {
            problems.push(Problem::error(&file.path, number, format!("`{UNFINISHED}`: fix it")));
        }
    }
}

/// True if `path` begins an absolute path in the line, and is not the middle of a longer one.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        check(&[file]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn forbidden_code_is_reported_with_its_line() {
        for code in ["#[ignore]", "#[ignore = \"slow\"]", "todo!()", "unimplemented!()", "x.mul_add(a, b)"] {
            let found = problems("crates/a/src/lib.rs", &format!("fn a() {{}}\n{code}\n"));
            assert_eq!(found.len(), 1, "{code}");
            assert!(found[0].starts_with("crates/a/src/lib.rs:2: error"), "{found:?}");
        }
    }

    #[test]
    fn comments_and_strings_may_name_it_and_xtask_is_exempt() {
        assert_eq!(problems("crates/a/src/lib.rs", "// no mul_add( here\nlet a = \"todo!(\";"), [""; 0]);
        assert_eq!(problems("xtask/src/main.rs", "x.mul_add(a, b)"), [""; 0]);
    }

    #[test]
    fn ignored_doctests_are_reported() {
        assert_eq!(problems("crates/a/src/lib.rs", "    /// ```ignore\n    /// x\n    /// ```\n").len(), 1);
        assert_eq!(problems("crates/a/src/lib.rs", "//! ```text\n//! x\n//! ```\n"), [""; 0]);
    }

    #[test]
    fn std_hash_maps_are_found_in_every_form_of_use() {
        for code in [
            "use std::collections::HashMap;",
            "use std::collections::{\n    BTreeMap,\n    HashSet,\n};",
            "use std::{collections::HashMap, fmt};",
            "fn a() -> std::collections::HashMap<u8, u8>",
        ] {
            assert_eq!(problems("crates/a/src/lib.rs", code).len(), 1, "{code}");
        }
        for code in ["use std::collections::{BTreeMap, VecDeque}; struct HashMap;", "use hashbrown::HashMap;"]
        {
            assert_eq!(problems("crates/a/src/lib.rs", code), [""; 0], "{code}");
        }
    }

    #[test]
    fn machine_paths_are_reported_and_parts_of_other_paths_are_not() {
        for path in MACHINE_PATHS {
            assert_eq!(problems("docs/a.md", &format!("see {path}x and so on")).len(), 1, "{path}");
            assert_eq!(problems("docs/a.md", &format!("see docs{path}x or ..{path}x")), [""; 0], "{path}");
        }
        assert_eq!(problems("a.toml", &format!("# {UNFINISHED}: later")).len(), 1);
    }
}
