//! Scenes that come with the crate, by name.

use crate::{
    format::{Files, Loaded, SceneError, load, nearest},
    lower::{Registry, Setup, lower},
};

/// A scene of the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Name, as in `sim run dominos`.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! builtin {
    ($($name:literal from $source:literal),+ $(,)?) => {
        &[$(Builtin {
            name: $name,
            source: $source,
            text: include_str!(concat!("../scenes/", $name, ".ron")),
        }),+]
    };
}

/// All scenes, Mirtich's first.
pub const SCENES: &[Builtin] = builtin![
    "dominos" from "Mirtich 1996",
    "block-drop" from "Mirtich 1996",
    "block-on-ramp" from "Mirtich 1996",
    "chain-of-balls" from "Mirtich 1996",
    "balls-in-dish" from "Mirtich 1996",
    "coins" from "Mirtich 1996",
    "pool-break" from "Mirtich 1996",
    "bowling" from "Mirtich 1996",
    "ball-on-platter" from "Mirtich 1996",
    "rattleback" from "Mirtich 1996",
    "part-feeder" from "Mirtich 1996",
    "exploding-text" from "Mirtich 1996",
    "sliding-cubes" from "Fontijne 2000",
    "bouncing-balls" from "Fontijne 2000",
    "coins-18" from "Fontijne 2000",
    "dominoes-150" from "Fontijne 2000",
    "brick-wall" from "Fontijne 2000",
    "brick-wall-hit" from "Fontijne 2000",
    "bounce-world" from "Fontijne 2000",
    "bounce-world-1000" from "Fontijne 2000",
    "shapes" from "Tumblestone",
];

/// Files that scenes include and that are no scenes themselves.
const PARTS: &[Builtin] = builtin!["mirtich-parameters" from "Mirtich 1996"];

/// The scene of this name.
///
/// # Errors
/// There is none, with the nearest name.
pub fn find(name: &str) -> Result<&'static Builtin, SceneError> {
    SCENES.iter().find(|s| s.name == name).ok_or_else(|| {
        let hint = match nearest(name, SCENES.iter().map(|s| s.name)) {
            Some(near) => format!(", did you mean `{near}`?"),
            None => String::new(),
        };
        SceneError::file(name, format!("no such file and no built-in scene of this name{hint}"))
    })
}

/// Files of the built-in scenes: `name.ron`.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltinFiles;

impl Files for BuiltinFiles {
    fn read(&self, name: &str, _limit: u64) -> Result<Vec<u8>, String> {
        let scene = SCENES.iter().chain(PARTS).find(|s| name.strip_suffix(".ron") == Some(s.name));
        scene.map(|s| s.text.as_bytes().to_vec()).ok_or_else(|| "no such built-in file".to_owned())
    }
}

/// A built-in scene, read.
///
/// # Errors
/// There is none of this name.
pub fn read(name: &str) -> Result<Loaded, SceneError> {
    let scene = find(name)?;
    load(&BuiltinFiles, &format!("{}.ron", scene.name))
}

/// A built-in scene, ready to run.
///
/// # Errors
/// There is none of this name.
pub fn setup(name: &str) -> Result<Setup, SceneError> {
    lower(&read(name)?, &BuiltinFiles, &Registry::standard())
}
