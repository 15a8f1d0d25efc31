//! `cargo xtask viewer`: builds the page of `sim-cli`, and with `--test` looks at it in a headless browser.
//!
//! The built page is checked in, so that users need no Node. CI runs the test: it fails when the page is stale,
//! and when Node or a browser is missing; a developer without them is told so and goes on.

use crate::args::Args;
use crate::failure::Failure;
use crate::shell::Cmd;
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};

/// Entry of the command list.
pub(crate) const COMMAND: crate::Command = crate::Command {
    name: "viewer",
    usage: "[--test]",
    about: "build the page of sim-cli (needs Node); --test: compare with the checked-in one and try it in Chromium",
    run,
};

const FOLDER: &str = "crates/sim-cli/viewer";
const ASSET: &str = "crates/sim-cli/assets/viewer.html";

fn run(words: &[String]) -> Result<(), Failure> {
    let args = Args::parse(words, &["--test"], 0)?;
    let workspace = Workspace::load()?;
    if args.has("--test") {
        return check(&workspace);
    }
    let page = build(&workspace.root)?;
    write(&workspace.root.join(ASSET), &page)?;
    println!("{ASSET}: {} bytes", page.len());
    Ok(())
}

/// The step of `cargo xtask test`.
pub(crate) fn check(workspace: &Workspace) -> Result<(), Failure> {
    let root = &workspace.root;
    let must = std::env::var("CI").is_ok_and(|v| v == "true");
    if let Some(missing) = missing(root) {
        let message = format!("{missing}: the page is not tested");
        if must {
            return Err(Failure::new(message));
        }
        println!("SKIPPED: {message}");
        return Ok(());
    }
    let fresh = build(root)?;
    if std::fs::read(root.join(ASSET)).ok().as_deref() != Some(&fresh[..]) {
        return Err(Failure::new(format!("{ASSET} is stale: run `cargo xtask viewer` and commit it")));
    }
    let folder = prepare(workspace)?;
    let folder = folder.to_string_lossy().into_owned();
    let sim = workspace.target.join("debug").join(format!("sim{}", std::env::consts::EXE_SUFFIX));
    Cmd::new("node", &["test/page.mjs", &folder, &sim.to_string_lossy()]).run(&root.join(FOLDER))
}

/// What the test needs and does not find.
fn missing(root: &Path) -> Option<&'static str> {
    if !Cmd::new("npm", &["--version"]).works(root) || !Cmd::new("node", &["--version"]).works(root) {
        return Some("Node is not installed");
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let given = std::env::var_os("CHROMIUM").is_some();
    let found = names.iter().any(|name| Path::new("/usr/bin").join(name).is_file());
    (!given && !found).then_some("no Chromium in /usr/bin, and the variable CHROMIUM does not name one")
}

/// Installs the packages of the lock file if they are not there, and builds the page.
fn build(root: &Path) -> Result<Vec<u8>, Failure> {
    let folder = root.join(FOLDER);
    let lock = std::fs::read(folder.join("package-lock.json")).map_err(|e| Failure::new(e.to_string()))?;
    // npm keeps no exact copy of the lock file, so we do.
    let stamp = folder.join("node_modules/.lock-of-xtask");
    if std::fs::read(&stamp).ok().as_deref() != Some(&lock[..]) {
        // Not `npm ci`: it refuses a lock file without the bundler's binaries for all other systems, and a registry
        // need not hold those. This installs the locked versions and leaves the lock file alone.
        Cmd::new("npm", &["install", "--no-save", "--no-audit", "--no-fund"]).run(&folder)?;
        write(&stamp, &lock)?;
    }
    Cmd::new("npm", &["run", "--silent", "build"]).run(&folder)?;
    std::fs::read(folder.join("dist/index.html")).map_err(|e| Failure::new(format!("no page was built: {e}")))
}

/// Recordings, their pages, models and frames as JSON, made by our own programs.
fn prepare(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let root = &workspace.root;
    // The same choice of packages and features as the steps before it, so that nothing is built twice.
    Cmd::cargo(&["build", "--workspace", "--all-features", "--bins", "--examples"]).run(root)?;
    let folder = workspace.target.join("viewer-test");
    let _ = std::fs::remove_dir_all(&folder);
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let program = |name: &str| {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        workspace.target.join("debug").join(file).to_string_lossy().into_owned()
    };
    let sim = program("sim");
    std::fs::create_dir_all(&folder).map_err(|e| Failure::new(e.to_string()))?;
    // Runs of scenes that people look at; a wall takes long, and its first second has all.
    let scenes = [
        ("dominos", "1.2"),
        ("coins", "1.5"),
        ("balls-in-dish", "3"),
        ("brick-wall-hit", "0.6"),
        ("shapes", "1.5"),
    ];
    let joints = root.join(FOLDER).join("test/joints.ron").to_string_lossy().into_owned();
    let scenes =
        scenes.map(|(name, until)| (name, name, until)).into_iter().chain([("joints", joints.as_str(), "2")]);
    for (name, scene, until) in scenes {
        let [recording, html, glb] = ["tumble", "html", "glb"].map(|kind| path(&format!("{name}.{kind}")));
        let outputs = ["--record", &recording, "--html", &html, "--gltf", &glb];
        Cmd::new(&sim, &[&["run", scene, "--quiet", "--until", until], &outputs[..]].concat()).run(root)?;
        let frames = Cmd::new(&program("examples/frame_as_json"), &[&recording]).read(root)?;
        write(&folder.join(format!("{name}.json")), frames.as_bytes())?;
    }
    Ok(folder)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|e| Failure::new(format!("cannot write {}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_names_no_registry() {
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FOLDER).join("package-lock.json");
        let text = std::fs::read_to_string(lock).unwrap();
        assert!(
            text.contains("\"integrity\"") && !text.contains("\"resolved\""),
            "set omit-lockfile-registry-resolved"
        );
    }
}
