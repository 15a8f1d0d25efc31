//! What may lie at the top of the repository.

use super::Problem;

const KNOWN: &[&str] = &[
    ".cargo",
    ".ci",
    ".config",
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "clippy.toml",
    "crates",
    "docs",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "xtask",
];

/// Looks at the first part of each path.
pub(super) fn check(paths: &[String]) -> Vec<Problem> {
    let mut tops: Vec<&str> = paths.iter().filter_map(|p| p.split('/').next()).collect();
    tops.sort_unstable();
    tops.dedup();
    let unknown = tops.into_iter().filter(|top| !KNOWN.contains(top));
    unknown
        .map(|top| {
            let message =
                "unknown entry at the top level: move it, or add it to `xtask/src/tidy/top_level.rs`";
            Problem::error(top, 1, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_entry_is_reported_once() {
        let paths = ["docs/a.md", "scratch/a", "scratch/b", "Cargo.toml"].map(str::to_owned);
        let found = check(&paths);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "scratch");
    }
}
