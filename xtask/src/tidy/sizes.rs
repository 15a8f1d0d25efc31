//! Length of Rust files.

use super::Problem;
use crate::workspace::TextFile;

const WARN_ABOVE: usize = 600;
const FAIL_ABOVE: usize = 1000;

/// Looks at every Rust file.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    files.iter().filter(|f| f.path.ends_with(".rs")).filter_map(judge).collect()
}

fn judge(file: &TextFile) -> Option<Problem> {
    let lines = file.text.lines().count();
    if lines > FAIL_ABOVE {
        Some(Problem::error(&file.path, lines, format!("{lines} lines, more than {FAIL_ABOVE}: split it")))
    } else if lines > WARN_ABOVE {
        Some(Problem::warning(&file.path, lines, format!("{lines} lines, more than {WARN_ABOVE}")))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_warn_and_very_long_files_fail() {
        for (lines, expected) in [(600, None), (601, Some(true)), (1000, Some(true)), (1001, Some(false))] {
            let file = TextFile { path: "a.rs".to_owned(), text: "x\n".repeat(lines) };
            assert_eq!(judge(&file).map(|p| p.warning), expected, "{lines} lines");
        }
    }
}
