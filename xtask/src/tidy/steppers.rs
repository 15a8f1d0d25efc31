//! A stepper object owns what a step reads and writes, and little more: its methods are in a few files, all else are functions of the
//! structs that they need.

use super::Problem;
use crate::rust_text::Masked;
use crate::workspace::TextFile;

/// Most files in which one stepper has methods.
const MOST: usize = 3;

/// Looks at the sources of crates for types that implement `Stepper`.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let sources: Vec<(&str, String)> = files
        .iter()
        .filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"))
        .filter(|file| file.path.ends_with(".rs"))
        .map(|file| (file.path.as_str(), Masked::new(&file.text).code))
        .collect();
    let starting = |code: &str, start: &str| -> Vec<(usize, String)> {
        let lines = code.lines().zip(1..);
        lines
            .filter_map(|(line, number)| Some((number, line.trim_start().strip_prefix(start)?.to_owned())))
            .collect()
    };
    let mut problems = Vec::new();
    for (home, code) in &sources {
        for (line, rest) in starting(code, "impl Stepper for ") {
            let name = rest.split([' ', '<']).next().unwrap_or_default();
            let folder = home.split("/src/").next().unwrap_or_default();
            let with_methods = sources.iter().filter(|(path, code)| {
                let beside = path.starts_with(folder) && path != home;
                beside
                    && starting(code, &format!("impl {name} ")).iter().any(|(_, rest)| rest.starts_with('{'))
            });
            let count = with_methods.count() + 1;
            if count > MOST {
                let message = format!(
                    "`{name}` has methods in {count} files, {MOST} at most: write functions of the structs that they need"
                );
                problems.push(Problem::error(home, line, message));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(count: usize) -> usize {
        let file = |path: String, text: &str| TextFile { path, text: text.to_owned() };
        let mut files = vec![file("crates/a/src/x/main.rs".into(), "impl Stepper for X {\n}\n")];
        files.extend(
            (1..count).map(|k| file(format!("crates/a/src/x/{k}.rs"), "impl X {\n    fn f() {}\n}\n")),
        );
        files.push(file("crates/b/src/other.rs".into(), "impl X {\n}\nimpl XY {\n}\n"));
        check(&files).len()
    }

    #[test]
    fn methods_in_a_fourth_file_are_reported() {
        assert_eq!(problems(MOST), 0);
        assert_eq!(problems(MOST + 1), 1);
    }
}
