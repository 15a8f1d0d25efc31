//! Which tests the test runner would run.
//!
//! Cargo builds the test programs and each is asked for its own list, so a test that is compiled out, not
//! reached by any `mod` or without `#[test]` is not found.

use crate::failure::Failure;
use crate::rust_text::Function;
use crate::shell::Cmd;
use crate::workspace::Workspace;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One test as its runner names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// Source file of the program's root, from the repository root.
    root: String,
    /// Folder of the package, from the repository root.
    package: String,
    /// Path of modules and function, `a::tests::b`.
    name: String,
}

/// Builds all test programs and lists their tests.
pub(super) fn list(workspace: &Workspace) -> Result<Vec<Listed>, Failure> {
    let build = Cmd::cargo(&[
        "test",
        "--no-run",
        "--quiet",
        "--workspace",
        "--all-features",
        "--lib",
        "--bins",
        "--tests",
        "--message-format=json-render-diagnostics",
    ]);
    println!("$ {}", build.line());
    let mut listed = Vec::new();
    for program in programs(&build.read(&workspace.root)?, &workspace.root) {
        let dir = workspace.root.join(&program.package);
        let executable = program.executable.to_string_lossy();
        let text = Cmd::new(&executable, &["--list", "--format", "terse"]).read(&dir)?;
        listed.extend(text.lines().filter_map(|line| line.strip_suffix(": test")).map(|name| Listed {
            root: program.root.clone(),
            package: program.package.clone(),
            name: name.to_owned(),
        }));
    }
    Ok(listed)
}

#[derive(Debug, PartialEq, Eq)]
struct Program {
    executable: PathBuf,
    root: String,
    package: String,
}

/// Test programs in cargo's messages.
fn programs(messages: &str, workspace: &Path) -> Vec<Program> {
    let relative = |path: &str| {
        let path = Path::new(path);
        path.strip_prefix(workspace).unwrap_or(path).to_string_lossy().replace('\\', "/")
    };
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|m| m["reason"] == "compiler-artifact" && m["profile"]["test"] == true)
        .filter_map(|m| {
            let manifest = relative(m["manifest_path"].as_str()?);
            Some(Program {
                executable: PathBuf::from(m["executable"].as_str()?),
                root: relative(m["target"]["src_path"].as_str()?),
                package: manifest.strip_suffix("/Cargo.toml").unwrap_or("").to_owned(),
            })
        })
        .collect()
}

/// True if the function in the file at `path` is one of the listed tests.
pub(super) fn contains(listed: &[Listed], workspace: &Workspace, path: &str, function: &Function) -> bool {
    let owner = workspace.packages.iter().find(|p| path.starts_with(&format!("{}/", p.dir)));
    let Some(package) = owner.map(|p| p.dir.as_str()) else { return false };
    listed.iter().filter(|test| test.package == package).any(|test| {
        let modules = module_path(&test.root, path);
        modules.is_some_and(|mut parts| {
            parts.extend(function.modules.iter().cloned());
            parts.push(function.name.clone());
            parts.join("::") == test.name
        })
    })
}

/// Modules that lead from the root file of a program to the file at `path`, by the usual layout of files.
fn module_path(root: &str, path: &str) -> Option<Vec<String>> {
    if root == path {
        return Some(Vec::new());
    }
    let dir = &root[..root.rfind('/')?];
    let inside = path.strip_prefix(dir)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    Some(inside.split('/').map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    fn function(modules: &[&str], name: &str) -> Function {
        Function { at: 0, name: name.to_owned(), modules: modules.iter().map(|m| (*m).to_owned()).collect() }
    }

    fn found(path: &str, function: &Function) -> bool {
        let package = Package { name: "a".to_owned(), dir: "crates/a".to_owned(), ..Package::default() };
        let workspace = Workspace { root: PathBuf::new(), target: PathBuf::new(), packages: vec![package] };
        let test = |root: &str, name: &str| Listed {
            root: root.to_owned(),
            package: "crates/a".to_owned(),
            name: name.to_owned(),
        };
        let listed = [
            test("crates/a/src/lib.rs", "spatial::force::tests::works"),
            test("crates/a/src/lib.rs", "tests::root"),
            test("crates/a/src/lib.rs", "aba::tests::long"),
            test("crates/a/tests/whole.rs", "whole_works"),
            test("crates/a/tests/whole.rs", "common::shared"),
        ];
        contains(&listed, &workspace, path, function)
    }

    #[test]
    fn files_and_inline_modules_give_the_runner_s_name() {
        assert!(found("crates/a/src/spatial/force.rs", &function(&["tests"], "works")));
        assert!(found("crates/a/src/lib.rs", &function(&["tests"], "root")));
        assert!(found("crates/a/src/aba/tests.rs", &function(&[], "long")));
        assert!(found("crates/a/src/aba/mod.rs", &function(&["tests"], "long")));
        assert!(found("crates/a/tests/whole.rs", &function(&[], "whole_works")));
        assert!(found("crates/a/tests/common/mod.rs", &function(&[], "shared")));
    }

    #[test]
    fn a_function_of_another_module_file_or_crate_is_not_the_test() {
        assert!(!found("crates/a/src/spatial/motion.rs", &function(&["tests"], "works")));
        assert!(!found("crates/a/src/spatial/force.rs", &function(&[], "works")));
        assert!(!found("crates/a/src/spatial/force.rs", &function(&["tests"], "worked")));
        assert!(!found("crates/b/src/lib.rs", &function(&["tests"], "root")));
        assert!(!found("crates/a/tests/other.rs", &function(&[], "whole_works")));
    }

    #[test]
    fn only_test_programs_are_taken_from_cargo_s_messages() {
        let message = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","target":{{"src_path":"/w/crates/a/src/lib.rs"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let lines =
            [message(true, "\"/t/a-1\""), message(false, "\"/t/a\""), message(true, "null"), "x".to_owned()];
        let expected = Program {
            executable: PathBuf::from("/t/a-1"),
            root: "crates/a/src/lib.rs".to_owned(),
            package: "crates/a".to_owned(),
        };
        assert_eq!(programs(&lines.join("\n"), Path::new("/w")), [expected]);
    }
}
