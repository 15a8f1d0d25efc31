//! Scene files with what they include.
//!
//! Everything that a hostile file could blow up has a limit: bytes of a file, bytes and number of all files, depth of
//! includes; the expansion of repeated bodies is limited where it happens.

use super::{
    error::{Place, SceneError},
    model::Scene,
    text::{self, Syntax},
};
use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Component, Path, PathBuf},
};

/// Largest scene or mesh file, bytes.
pub const MAX_FILE: u64 = 64 << 20;
/// Largest scene file, bytes: text is far larger in memory than on disk.
pub const MAX_SCENE: u64 = 8 << 20;
/// Most files of one scene.
pub const MAX_FILES: usize = 64;
/// Deepest include.
pub const MAX_DEPTH: usize = 8;

/// Where files come from.
pub trait Files {
    /// Reads a whole file of at most `limit` bytes.
    ///
    /// # Errors
    /// Why it cannot be read, for people, without the name.
    fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, String>;
}

/// Files of the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, String> {
        let file = std::fs::File::open(name).map_err(|e| reason(&e))?;
        let info = file.metadata().map_err(|e| reason(&e))?;
        if info.is_dir() {
            return Err("is a directory".to_owned());
        }
        if info.len() > limit {
            return Err(too_large(info.len(), limit));
        }
        let mut bytes = Vec::new();
        // A device or pipe has no length: read no more than the limit whatever it says.
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| reason(&e))?;
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64, limit));
        }
        Ok(bytes)
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

fn too_large(bytes: u64, limit: u64) -> String {
    format!("{bytes} bytes are more than the limit of {limit}")
}

/// Files in memory, by name.
#[derive(Debug, Clone, Default)]
pub struct Memory(pub BTreeMap<String, Vec<u8>>);

impl Files for Memory {
    fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, String> {
        let bytes = self.0.get(name).ok_or("no such file")?;
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64, limit));
        }
        Ok(bytes.clone())
    }
}

/// A scene with all its includes merged, and where each item came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The whole scene; `include` is empty.
    pub scene: Scene,
    /// Files in the order in which they were read; the first is the scene itself.
    pub files: Vec<String>,
    origins: Origins,
}

/// For each item of each list: index of its file, and its index in that file's list.
#[derive(Debug, Clone, PartialEq, Default)]
struct Origins {
    bodies: Vec<(usize, usize)>,
    pairs: Vec<(usize, usize)>,
    joints: Vec<(usize, usize)>,
    forces: Vec<(usize, usize)>,
    controllers: Vec<(usize, usize)>,
    materials: BTreeMap<String, usize>,
    shapes: BTreeMap<String, usize>,
}

impl Loaded {
    /// A scene that did not come from files. Its includes are not followed.
    #[must_use]
    pub fn from_scene(mut scene: Scene, name: &str) -> Self {
        scene.include.clear();
        let origins = Origins::of(&scene, 0);
        Self { scene, files: vec![name.to_owned()], origins }
    }

    fn file(&self, index: usize) -> &str {
        self.files.get(index).map_or("", String::as_str)
    }

    pub(crate) fn root(&self) -> Place {
        Place::new(self.file(0))
    }

    fn listed(&self, list: &[(usize, usize)], name: &str, index: usize) -> Place {
        let (file, local) = list.get(index).copied().unwrap_or((0, index));
        Place::new(self.file(file)).field(name).item(local)
    }

    pub(crate) fn body(&self, index: usize) -> Place {
        self.listed(&self.origins.bodies, "bodies", index)
    }

    pub(crate) fn pair(&self, index: usize) -> Place {
        self.listed(&self.origins.pairs, "pairs", index)
    }

    pub(crate) fn joint(&self, index: usize) -> Place {
        self.listed(&self.origins.joints, "joints", index)
    }

    pub(crate) fn force(&self, index: usize) -> Place {
        self.listed(&self.origins.forces, "forces", index)
    }

    pub(crate) fn controller(&self, index: usize) -> Place {
        self.listed(&self.origins.controllers, "controllers", index)
    }

    pub(crate) fn material(&self, name: &str) -> Place {
        let file = self.origins.materials.get(name).copied().unwrap_or(0);
        Place::new(self.file(file)).field("materials").key(name)
    }

    pub(crate) fn shape(&self, name: &str) -> Place {
        Place::new(self.file(self.shape_file(name))).field("shapes").key(name)
    }

    fn shape_file(&self, name: &str) -> usize {
        self.origins.shapes.get(name).copied().unwrap_or(0)
    }

    /// Name of a file that the item at `place` names, relative to the item's own file.
    pub(crate) fn beside(place: &Place, name: &str) -> String {
        beside(&place.error("").file, name)
    }
}

impl Origins {
    fn of(scene: &Scene, file: usize) -> Self {
        let all = |n: usize| (0..n).map(|k| (file, k)).collect::<Vec<_>>();
        Self {
            bodies: all(scene.bodies.len()),
            pairs: all(scene.pairs.len()),
            joints: all(scene.joints.len()),
            forces: all(scene.forces.len()),
            controllers: all(scene.controllers.len()),
            materials: scene.materials.keys().map(|k| (k.clone(), file)).collect(),
            shapes: scene.shapes.keys().map(|k| (k.clone(), file)).collect(),
        }
    }
}

/// Reads a scene file and all files that it includes.
///
/// # Errors
/// A file that cannot be read or is no scene, a name given in two files, an include of an including file, or a limit
/// exceeded, with file and path.
pub fn load(files: &dyn Files, name: &str) -> Result<Loaded, SceneError> {
    let mut reader = Reader { files, names: Vec::new(), open: Vec::new(), bytes: 0 };
    let (scene, origins) = reader.read(name, None)?;
    Ok(Loaded { scene, files: reader.names, origins })
}

struct Reader<'a> {
    files: &'a dyn Files,
    names: Vec<String>,
    /// Files that are being read, outermost first.
    open: Vec<String>,
    bytes: u64,
}

impl Reader<'_> {
    fn read(&mut self, name: &str, from: Option<&Place>) -> Result<(Scene, Origins), SceneError> {
        let blame = |problem: String| match from {
            Some(place) => place.error(format_args!("`{name}`: {problem}")),
            None => SceneError::file(name, problem),
        };
        // The first name is as the user gave it, perhaps with a dot in front.
        if self.open.iter().any(|open| open == name || beside("", open) == name) {
            let mut ring = self.open.clone();
            ring.push(name.to_owned());
            return Err(blame(format!("included by itself: {}", ring.join(" -> "))));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(blame(format!("includes are nested more than {MAX_DEPTH} deep")));
        }
        if self.names.len() >= MAX_FILES {
            return Err(blame(format!("more than {MAX_FILES} files")));
        }
        let bytes = self.files.read(name, MAX_SCENE - self.bytes).map_err(blame)?;
        self.bytes += bytes.len() as u64;
        let content = String::from_utf8(bytes).map_err(|e| {
            SceneError::file(name, format!("not text (byte {})", e.utf8_error().valid_up_to()))
        })?;
        let scene = text::parse(&content, Syntax::of(name), name)?;
        drop(content);
        let file = self.names.len();
        self.names.push(name.to_owned());
        self.open.push(name.to_owned());
        let merged = self.merge(scene, file, name);
        self.open.pop();
        merged
    }

    fn merge(&mut self, mut scene: Scene, file: usize, name: &str) -> Result<(Scene, Origins), SceneError> {
        let includes = std::mem::take(&mut scene.include);
        let mut origins = Origins::of(&scene, file);
        // From the last to the first, so that prepending leaves them in order.
        let mut read = Vec::with_capacity(includes.len());
        for (k, include) in includes.iter().enumerate() {
            let place = Place::new(name).field("include").item(k);
            let (part, from) = self.read(&beside(name, include), Some(&place))?;
            read.push((place, part, from));
        }
        for (place, part, from) in read.into_iter().rev() {
            let twice =
                (part.materials.keys().find(|k| scene.materials.contains_key(*k)).map(|k| ("material", k)))
                    .or_else(|| {
                        part.shapes.keys().find(|k| scene.shapes.contains_key(*k)).map(|k| ("shape", k))
                    });
            if let Some((what, key)) = twice {
                return Err(place.error(format_args!("{what} `{key}` is given in two files")));
            }
            scene.materials.extend(part.materials);
            origins.materials.extend(from.materials);
            scene.shapes.extend(part.shapes);
            origins.shapes.extend(from.shapes);
            scene.bodies.splice(0..0, part.bodies);
            origins.bodies.splice(0..0, from.bodies);
            scene.pairs.splice(0..0, part.pairs);
            origins.pairs.splice(0..0, from.pairs);
            scene.joints.splice(0..0, part.joints);
            origins.joints.splice(0..0, from.joints);
            scene.forces.splice(0..0, part.forces);
            origins.forces.splice(0..0, from.forces);
            scene.controllers.splice(0..0, part.controllers);
            origins.controllers.splice(0..0, from.controllers);
            // Settings hold where the including file has none.
            scene.title = scene.title.or(part.title);
            scene.about = scene.about.or(part.about);
            scene.gravity = scene.gravity.or(part.gravity);
            scene.combine.friction = scene.combine.friction.or(part.combine.friction);
            scene.combine.turning = scene.combine.turning.or(part.combine.turning);
            scene.combine.restitution = scene.combine.restitution.or(part.combine.restitution);
            scene.stepper.kind = scene.stepper.kind.or(part.stepper.kind);
            // One of the two says it all.
            if scene.stepper.envelope.is_none() && scene.stepper.envelope_share.is_none() {
                scene.stepper.envelope = part.stepper.envelope;
                scene.stepper.envelope_share = part.stepper.envelope_share;
            }
            scene.stepper.sleep = scene.stepper.sleep.or(part.stepper.sleep);
            scene.stepper.window = scene.stepper.window.or(part.stepper.window);
            scene.stepper.contacts = scene.stepper.contacts.or(part.stepper.contacts);
            scene.stepper.micro_collisions = scene.stepper.micro_collisions.or(part.stepper.micro_collisions);
            scene.stepper.max_events = scene.stepper.max_events.or(part.stepper.max_events);
            scene.stepper.step = scene.stepper.step.or(part.stepper.step);
            scene.parts.broad_phase = scene.parts.broad_phase.or(part.parts.broad_phase);
            scene.parts.narrow_phase = scene.parts.narrow_phase.or(part.parts.narrow_phase);
            scene.parts.impact = scene.parts.impact.or(part.parts.impact);
            scene.parts.solver = scene.parts.solver.or(part.parts.solver);
            scene.run.until = scene.run.until.or(part.run.until);
            scene.record.rate = scene.record.rate.or(part.record.rate);
            scene.record.contacts = scene.record.contacts.or(part.record.contacts);
            scene.record.boxes = scene.record.boxes.or(part.record.boxes);
        }
        Ok((scene, origins))
    }
}

/// `name` seen from the folder of `file`, without `.` and with `..` taken off where it can be: one file has one name, so
/// that a ring of includes is noticed.
fn beside(file: &str, name: &str) -> String {
    let path = Path::new(file).parent().unwrap_or(Path::new("")).join(name);
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean.to_string_lossy().into_owned()
}
