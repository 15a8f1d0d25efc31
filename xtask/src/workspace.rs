//! The workspace as cargo and git see it.

use crate::failure::Failure;
use crate::shell::Cmd;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A text file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct TextFile {
    /// Path from the repository root, with forward slashes.
    pub(crate) path: String,
    /// Its content.
    pub(crate) text: String,
}

/// A workspace member.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    /// Package name.
    pub(crate) name: String,
    /// Its folder from the repository root, with forward slashes.
    pub(crate) dir: String,
    /// Normal and build dependencies on other members, by package name.
    pub(crate) depends_on: Vec<String>,
    /// Names of its examples.
    pub(crate) examples: Vec<String>,
    /// `description`, `license` and `repository`, where present.
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    /// Path of the readme from the package folder.
    pub(crate) readme: Option<String>,
    /// It may be published.
    pub(crate) published: bool,
}

/// The repository.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Its root folder.
    pub(crate) root: PathBuf,
    /// Where cargo builds, `CARGO_TARGET_DIR` respected.
    pub(crate) target: PathBuf,
    /// Members, sorted by name.
    pub(crate) packages: Vec<Package>,
}

impl Workspace {
    /// Asks cargo about the workspace this tool was built in.
    pub(crate) fn load() -> Result<Self, Failure> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let json = Cmd::cargo(&["metadata", "--no-deps", "--format-version", "1"]).read(here)?;
        Self::from_metadata(&json)
    }

    /// Reads the output of `cargo metadata --no-deps --format-version 1`.
    pub(crate) fn from_metadata(json: &str) -> Result<Self, Failure> {
        let bad = |what: &str| Failure::new(format!("cargo metadata: no {what}"));
        let value: Value =
            serde_json::from_str(json).map_err(|e| Failure::new(format!("cargo metadata: {e}")))?;
        let text = |v: &Value, key: &str| v[key].as_str().map(str::to_owned);
        let root = PathBuf::from(text(&value, "workspace_root").ok_or_else(|| bad("workspace_root"))?);
        let target = PathBuf::from(text(&value, "target_directory").ok_or_else(|| bad("target_directory"))?);
        let list = value["packages"].as_array().ok_or_else(|| bad("packages"))?;
        let names: Vec<&str> = list.iter().filter_map(|p| p["name"].as_str()).collect();
        let mut packages = Vec::new();
        for package in list {
            let manifest = text(package, "manifest_path").ok_or_else(|| bad("manifest_path"))?;
            let dir = Path::new(&manifest).parent().unwrap_or(Path::new(""));
            let dir = dir.strip_prefix(&root).unwrap_or(dir);
            let mut depends_on: Vec<String> = items(&package["dependencies"])
                .filter(|d| d["kind"].as_str() != Some("dev") && d["path"].is_string())
                .filter_map(|d| text(d, "name"))
                .filter(|name| names.contains(&name.as_str()))
                .collect();
            depends_on.sort();
            depends_on.dedup();
            packages.push(Package {
                name: text(package, "name").ok_or_else(|| bad("package name"))?,
                dir: slashes(dir),
                depends_on,
                examples: items(&package["targets"]).filter_map(example).collect(),
                description: text(package, "description"),
                license: text(package, "license"),
                repository: text(package, "repository"),
                readme: text(package, "readme"),
                published: package["publish"].is_null(),
            });
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { root, target, packages })
    }

    /// Members under `crates/`: what users depend on.
    pub(crate) fn crates(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| p.dir.starts_with("crates/"))
    }

    /// Every file that is in version control or would be added to it, sorted.
    ///
    /// New files count, so that a check fails before a commit and not after it. Without git (a source
    /// archive) every file outside the target folder counts.
    pub(crate) fn files(&self) -> Vec<String> {
        let git = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Cmd::new("git", &git).output(&self.root).ok().filter(|o| o.status.success());
        let mut files: Vec<String> = match listed {
            Some(output) => String::from_utf8_lossy(&output.stdout)
                .split('\0')
                .filter(|path| !path.is_empty() && self.root.join(path).is_file())
                .map(str::to_owned)
                .collect(),
            None => {
                println!("note: git cannot list the files here, so every file outside target/ is checked");
                let mut files = Vec::new();
                self.walk(&self.root, &mut files);
                files
            }
        };
        files.sort();
        files.dedup();
        files
    }

    fn walk(&self, dir: &Path, files: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                let skip =
                    path == self.target || matches!(entry.file_name().to_str(), Some("target" | ".git"));
                if !skip {
                    self.walk(&path, files);
                }
            } else if let Ok(path) = path.strip_prefix(&self.root) {
                files.push(slashes(path));
            }
        }
    }

    /// The text files among [`Workspace::files`]; binary files are left out.
    pub(crate) fn text_files(&self) -> Result<Vec<TextFile>, Failure> {
        let mut texts = Vec::new();
        for path in self.files() {
            let bytes = std::fs::read(self.root.join(&path))
                .map_err(|e| Failure::new(format!("cannot read {path}: {e}")))?;
            if let Some(text) = String::from_utf8(bytes).ok().filter(|t| !t.contains('\0')) {
                texts.push(TextFile { path, text });
            }
        }
        Ok(texts)
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn example(target: &Value) -> Option<String> {
    items(&target["kind"]).find(|k| k.as_str() == Some("example"))?;
    target["name"].as_str().map(str::to_owned)
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{
        "workspace_root": "/w", "target_directory": "/w/target",
        "packages": [
            {"name": "b", "manifest_path": "/w/crates/b/Cargo.toml", "description": "B",
             "dependencies": [
                {"name": "a", "kind": null, "path": "/w/crates/a"},
                {"name": "c", "kind": "dev", "path": "/w/crates/c"},
                {"name": "c", "kind": "build", "path": "/w/crates/c"},
                {"name": "serde", "kind": null}],
             "targets": [{"name": "b", "kind": ["lib"]},
                {"name": "show", "kind": ["example"]}]},
            {"name": "a", "manifest_path": "/w/crates/a/Cargo.toml", "dependencies": [], "targets": []},
            {"name": "c", "manifest_path": "/w/tools/c/Cargo.toml", "dependencies": [], "targets": []}]}"#;

    #[test]
    fn metadata_gives_normal_and_build_edges_between_members_only() {
        let workspace = Workspace::from_metadata(METADATA).unwrap();
        let b = &workspace.packages[1];
        assert_eq!((b.name.as_str(), b.dir.as_str()), ("b", "crates/b"));
        assert_eq!(b.depends_on, ["a", "c"]);
        assert_eq!(b.examples, ["show"]);
        assert_eq!(b.description.as_deref(), Some("B"));
        assert_eq!(b.license, None);
        assert_eq!(workspace.crates().count(), 2);
    }

    #[test]
    fn broken_metadata_is_an_error() {
        assert!(Workspace::from_metadata("{").is_err());
        assert!(Workspace::from_metadata("{}").unwrap_err().message.contains("workspace_root"));
    }

    #[test]
    fn a_folder_without_git_is_walked_but_not_its_target() {
        let root = std::env::temp_dir().join(format!("xtask-walk-{}", std::process::id()));
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(root.join("target")).unwrap();
        std::fs::write(root.join("src/a.rs"), "fn a() {}").unwrap();
        std::fs::write(root.join("target/b.rs"), "").unwrap();
        let workspace = Workspace { target: root.join("target"), root: root.clone(), packages: Vec::new() };
        let mut files = Vec::new();
        workspace.walk(&root, &mut files);
        assert_eq!(files, ["src/a.rs"]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
