//! What a published crate owes its users: metadata, a readme, the common lints, an example.

use super::Problem;
use crate::workspace::{Package, Workspace};
use std::path::Path;

/// Crates that need no example, and why.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[];

/// Looks at every member; most rules hold for those under `crates/` only.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &workspace.packages {
        let manifest = format!("{}/Cargo.toml", package.dir);
        let text = std::fs::read_to_string(workspace.root.join(&manifest)).unwrap_or_default();
        if !has_common_lints(&text) {
            problems.push(Problem::error(&manifest, 1, "no `[lints]` with `workspace = true`"));
        }
    }
    for package in workspace.crates() {
        check_crate(package, &workspace.root.join(&package.dir), WITHOUT_EXAMPLE, &mut problems);
    }
    problems
}

fn check_crate(package: &Package, dir: &Path, without_example: &[(&str, &str)], problems: &mut Vec<Problem>) {
    let manifest = format!("{}/Cargo.toml", package.dir);
    let fields = [
        ("description", &package.description),
        ("license", &package.license),
        ("repository", &package.repository),
        ("readme", &package.readme),
    ];
    for (name, _) in fields.iter().filter(|(_, value)| value.as_ref().is_none_or(|v| v.trim().is_empty())) {
        problems.push(Problem::error(&manifest, 1, format!("no `{name}`")));
    }
    if let Some(readme) = package.readme.as_ref().filter(|r| !dir.join(r).is_file()) {
        problems.push(Problem::error(&manifest, 1, format!("readme `{readme}` does not exist")));
    }
    if !dir.join("README.md").is_file() {
        problems.push(Problem::error(&manifest, 1, "no README.md beside it"));
    }
    // Only what is published needs the texts of its licences beside it: cargo packs nothing from above.
    if package.published {
        for text in ["LICENSE-MIT", "LICENSE-APACHE"].into_iter().filter(|text| !dir.join(text).is_file()) {
            problems.push(Problem::error(&manifest, 1, format!("no {text} beside it")));
        }
    }
    let excused = without_example.iter().any(|(name, _)| *name == package.name);
    match (package.examples.is_empty(), excused) {
        (true, false) => problems.push(Problem::error(&manifest, 1, "no example: add `examples/<what>.rs`")),
        (false, true) => {
            let message = "has an example now: drop it from WITHOUT_EXAMPLE in xtask/src/tidy/manifests.rs";
            problems.push(Problem::warning(&manifest, 1, message));
        }
        _ => {}
    }
}

/// `[lints]` followed by `workspace = true`, or `lints.workspace = true`.
fn has_common_lints(manifest: &str) -> bool {
    let mut section = "";
    manifest.lines().map(|line| line.split('#').next().unwrap_or("").trim()).any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let words: String = line.split_whitespace().collect();
        (section == "[lints]" && words == "workspace=true")
            || (section.is_empty() && words == "lints.workspace=true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> Package {
        let some = || Some("x".to_owned());
        Package {
            name: "a".to_owned(),
            dir: "crates/a".to_owned(),
            examples: vec!["show".to_owned()],
            description: some(),
            license: some(),
            repository: some(),
            readme: Some("README.md".to_owned()),
            published: true,
            ..Package::default()
        }
    }

    /// The problems of a package whose folder holds a readme.
    fn problems(package: &Package, excused: &[(&str, &str)]) -> Vec<String> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/math");
        let mut problems = Vec::new();
        check_crate(package, &dir, excused, &mut problems);
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_crate_passes() {
        assert_eq!(problems(&complete(), &[]), [""; 0]);
    }

    #[test]
    fn every_missing_part_is_reported() {
        let bare = Package { name: "a".to_owned(), dir: "crates/a".to_owned(), ..Package::default() };
        let found = problems(&bare, &[]);
        for what in ["no `description`", "no `license`", "no `repository`", "no `readme`", "no example"] {
            assert!(found.iter().any(|p| p.contains(what)), "{what}: {found:?}");
        }
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut texts = Vec::new();
        check_crate(&complete(), &dir, &[], &mut texts);
        assert!(texts.iter().any(|p| p.to_string().contains("no LICENSE-MIT beside it")));
        let lost = Package { readme: Some("LOST.md".to_owned()), ..complete() };
        assert!(problems(&lost, &[])[0].contains("`LOST.md` does not exist"));
    }

    #[test]
    fn an_excuse_for_a_missing_example_holds_until_there_is_one() {
        let none = Package { examples: Vec::new(), ..complete() };
        assert_eq!(problems(&none, &[("a", "reason")]), [""; 0]);
        assert!(problems(&complete(), &[("a", "reason")])[0].contains("warning"));
    }

    #[test]
    fn lints_are_recognised_in_both_spellings_and_not_elsewhere() {
        assert!(has_common_lints("[package]\nname = \"a\"\n[lints]\nworkspace = true # all\n"));
        assert!(has_common_lints("lints.workspace = true\n[package]\n"));
        assert!(!has_common_lints("[lints]\n# workspace = true\n"));
        assert!(!has_common_lints("[dependencies.a]\nworkspace = true\n"));
    }
}
