//! Lines that fit on a screen: in Rust files, and in the prose of Markdown files.
//!
//! Tables, code, lines that are one long word (an address) and the changelog may be wider.

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
        if file.path.ends_with(".rs") {
            report(file, &mut problems, |_| true);
        } else if file.path.ends_with(".md") && file.path != "CHANGELOG.md" {
            let mut fenced = false;
            report(file, &mut problems, |line| {
                let fence = line.trim_start().starts_with("```");
                fenced ^= fence;
                !(fence || fenced || line.trim_start().starts_with('|'))
            });
        }
    }
    problems
}

fn report(file: &TextFile, problems: &mut Vec<Problem>, mut counts: impl FnMut(&str) -> bool) {
    for (line, number) in file.text.lines().zip(1..) {
        let width = line.chars().count();
        let breakable = line.trim().contains(' ');
        if counts(line) && width > WIDTH && breakable {
            let message = format!("{width} characters, more than {WIDTH}: break the line");
            problems.push(Problem::error(&file.path, number, message));
        }
    }
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
        assert_eq!(problems("a.rs", "x".repeat(200)), 0);
        assert_eq!(problems("a.md", format!("| {}", long(170))), 0);
        assert_eq!(problems("a.md", format!("```text\n{}```\n{}", long(170), long(170))), 1);
        assert_eq!(problems("CHANGELOG.md", long(170)), 0);
    }
}
