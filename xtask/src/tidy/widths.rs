//! Lines that fit on a screen: in comments of Rust files, and in the prose of Markdown files.
//!
//! Tables, pictures, code, lines that are one long word (an address) and the changelog may be wider.

use super::Problem;
use crate::workspace::TextFile;

/// Most characters of a line.
const WIDTH: usize = 160;

/// Files and folders with wider lines. This list only shrinks.
const STILL: &[&str] =
    &["crates/constraint-dynamics/src/soft", "crates/sim-cli/viewer", "docs/validation.md"];

/// Looks at Rust and Markdown files.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| !STILL.iter().any(|still| file.path.starts_with(still))) {
        let is_rust = file.path.ends_with(".rs");
        let is_document = file.path.ends_with(".md") && file.path != "CHANGELOG.md";
        if !is_rust && !is_document {
            continue;
        }
        let mut fenced = false;
        for (line, number) in file.text.lines().zip(1..) {
            let text = line.trim_start();
            let comment =
                text.strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim_start());
            // The formatter looks after code.
            let prose = if is_rust { comment } else { Some(text) };
            let Some(prose) = prose else {
                fenced = false;
                continue;
            };
            let fence = prose.starts_with("```");
            fenced ^= fence;
            let width = line.chars().count();
            if width > WIDTH && !fenced && !prose.starts_with(['|', '!']) && prose.trim().contains(' ') {
                let message = format!("{width} characters, more than {WIDTH}: break the line");
                problems.push(Problem::error(&file.path, number, message));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: String) -> usize {
        check(&[TextFile { path: path.to_owned(), text }]).len()
    }

    #[test]
    fn long_lines_are_reported_where_they_can_be_broken() {
        let long = |width: usize| format!("// {}", "é ".repeat(width / 2 - 1)).trim_end().to_owned() + "\n";
        assert_eq!(problems("a.rs", long(160)), 0);
        assert_eq!(problems("a.rs", long(170)), 1);
        assert_eq!(problems("a.md", long(170)), 1);
        assert_eq!(problems("a.rs", format!("//! ```text\n{}//! ```\n    {}", long(170), long(170))), 1);
        assert_eq!(problems("a.rs", format!("/// | {}", long(170))), 0);
        assert_eq!(problems("a.md", "x".repeat(200)), 0);
        assert_eq!(problems("a.md", format!("| {}", long(170))), 0);
        assert_eq!(problems("a.md", format!("```text\n{}```\n{}", long(170), long(170))), 1);
        assert_eq!(problems("CHANGELOG.md", long(170)), 0);
    }
}
