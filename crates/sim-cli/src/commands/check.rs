//! `sim check` and `sim list`.

use super::source::Source;
use crate::CliError;
use scene::{builtin::SCENES, format::text, run::Run};
use std::fmt::Write as _;

/// Reads a scene, builds its world and looks for overlaps; says what is in it.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(name: &str) -> Result<String, CliError> {
    let run = Run::new(Source::open(name)?.setup()?)?;
    let world = run.world();
    let free = world.bodies().filter(|(_, b)| b.is_free()).count();
    let mut text = String::new();
    let setup = run.setup();
    let _ = writeln!(text, "{}: {}", name, setup.title);
    let _ = writeln!(
        text,
        "  {} bodies ({free} free), {} shapes, {} materials, {} forces, {} controllers",
        world.body_count(),
        world.colliders().count(),
        materials(name)?,
        world.forces().count(),
        setup.controllers.len(),
    );
    let choice = &setup.choice;
    let _ = writeln!(
        text,
        "  {} with {}, {}, {}; {} s",
        choice.stepper, choice.broad_phase, choice.narrow_phase, choice.impact, setup.until
    );
    Ok(text)
}

fn materials(name: &str) -> Result<usize, CliError> {
    Ok(Source::open(name)?.loaded.scene.materials.len())
}

/// Names of all built-in scenes with what they show.
///
/// # Errors
/// None, unless a built-in scene is broken.
pub fn list() -> Result<String, CliError> {
    let mut out = String::new();
    let width = SCENES.iter().map(|s| s.name.len()).max().unwrap_or(0);
    let mut source = "";
    for scene in SCENES {
        if scene.source != source {
            source = scene.source;
            let _ = writeln!(out, "{source}");
        }
        let file = format!("{}.ron", scene.name);
        let about = text::parse(scene.text, text::Syntax::Ron, &file)?.about.unwrap_or_default();
        let _ = writeln!(out, "  {:width$}  {about}", scene.name);
    }
    Ok(out)
}
