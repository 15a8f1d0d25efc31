//! From a scene to a world with all that a run needs.
//!
//! | file | concern |
//! |---|---|
//! | `bodies` | bodies, their mass and copies |
//! | `shapes`, `dish` | shapes to convex solids |
//! | `pattern`, `random` | where copies go |
//! | `motion`, `rotation` | prescribed motion, orientations |
//! | `joints` | what holds bodies together |
//! | `forces` | forces besides gravity |
//! | [`control`] | controllers by name |
//! | [`parts`] | steppers and their parts by name |

mod bodies;
pub mod control;
mod dish;
mod forces;
mod joints;
mod motion;
pub mod parts;
mod pattern;
mod random;
mod rotation;
mod shapes;

pub use bodies::Placed;
pub use control::{ControlMeter, PlacedController, Registry};
pub use joints::PlacedJoint;
pub use motion::Prescribed;
pub use shapes::Piece;

use crate::format::{
    Files, Loaded, SceneError,
    error::{Place, SHORTEST},
    model::{Rule, Scene},
};
use rigid_impulse::{Combine, Material, MaterialId, MaterialTable, SurfacePair};
use sim_traits::BodyId;
use sim_world::{StepError, World};
use std::{collections::BTreeMap, sync::Arc};

/// Gravity of a scene that says nothing, m/s².
pub const DEFAULT_GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];
/// Simulated time of a scene that says nothing, s.
pub const DEFAULT_UNTIL: f64 = 5.0;
/// Longest simulated time, s: thirty years. Seconds as `f64` are fine enough for the shortest steps until then.
const LONGEST: f64 = 1e9;
/// Frames per second of a scene that says nothing.
pub const DEFAULT_RATE: f64 = 60.0;
/// Most bodies of a scene that says nothing whose boxes and pairs are recorded.
pub const DEFAULT_MOST_BOXES: usize = 200;

/// A scene made ready to run.
#[derive(Debug)]
pub struct Setup {
    /// Title, or the name of the file.
    pub title: String,
    /// The world at time 0.
    pub world: World,
    /// Bodies in the order in which they were added.
    pub bodies: Vec<Placed>,
    /// Joints in the order in which they were added.
    pub joints: Vec<PlacedJoint>,
    /// Controllers in the order in which they were added.
    pub controllers: Vec<PlacedController>,
    /// How often they acted, and how long that took.
    pub control: Arc<ControlMeter>,
    /// Stepper and parts.
    pub choice: parts::Choice,
    /// Simulated time, s.
    pub until: f64,
    /// Frames per simulated second.
    pub rate: f64,
    /// Record collisions too.
    pub record_contacts: bool,
    /// Record boxes and pairs of the broad phase too.
    pub record_boxes: bool,
    file: String,
}

impl Setup {
    /// Name of a body, for messages.
    #[must_use]
    pub fn name_of(&self, id: BodyId) -> Option<&str> {
        self.bodies.iter().find(|b| b.id == id).map(|b| b.name.as_str())
    }

    /// What a stepper says about a world, with the names of the scene for its bodies.
    #[must_use]
    pub fn explain(&self, error: &StepError) -> SceneError {
        let place = |id: BodyId| self.bodies.iter().find(|b| b.id == id);
        let named = |id: BodyId| {
            place(id).map_or_else(|| id.to_string(), |b| format!("{} (`{}`)", b.place.name(), b.name))
        };
        let pair_of = |ids: [BodyId; 2]| format!("{} and {}", named(ids[0]), named(ids[1]));
        let problem = match error {
            StepError::Overlap { pair, depth, time } => {
                format!("{} overlap by {depth:.3e} m at t = {time} s", pair_of(pair.bodies))
            }
            StepError::Budget { pair, events, time, separation } => format!(
                "{} used up {events} events at t = {time} s, {separation:.3e} m apart",
                pair_of(pair.bodies)
            ),
            StepError::NarrowPhase { pair, source } => format!("{}: {source}", pair_of(pair.bodies)),
            StepError::Impact { pair, source } => format!("{}: {source}", pair_of(pair.bodies)),
            StepError::Contact { pair, source } => format!("{}: {source}", pair_of(pair.bodies)),
            StepError::Body { body, source } => format!("{}: {source}", named(*body)),
            StepError::UnsupportedJoint { joint, kind, stepper } => {
                let of = self.joints.iter().find(|j| j.id == *joint);
                let name =
                    of.map_or_else(|| joint.to_string(), |j| format!("{} (`{}`)", j.place.name(), j.name));
                format!("{name}: the {stepper} stepper cannot run joints yet ({kind})")
            }
            StepError::Controller { controller, time, source } => {
                let of = self.controllers.iter().find(|c| c.id == *controller);
                let name = of.map_or_else(|| controller.to_string(), |c| format!("controller `{}`", c.name));
                format!("{name} at t = {time} s: {source}")
            }
            StepError::Unsupported { body, what } => format!("{}: {what}", named(*body)),
            other => other.to_string(),
        };
        SceneError::file(&self.file, problem)
    }
}

/// Builds the world that a scene describes.
///
/// ```
/// use scene::{format::{Loaded, Memory, text}, lower};
///
/// let text = "(bodies: [(kind: fixed, shape: half_space()), (shape: sphere(radius: 0.1), position: (0, 0, 1))])";
/// let scene = text::parse(text, text::Syntax::Ron, "ball.ron")?;
/// let setup = lower::lower(&Loaded::from_scene(scene, "ball.ron"), &Memory::default(), &lower::Registry::standard())?;
/// assert_eq!(setup.world.body_count(), 2);
/// # Ok::<(), scene::SceneError>(())
/// ```
///
/// # Errors
/// The first problem, with file and path.
pub fn lower(loaded: &Loaded, files: &dyn Files, registry: &Registry) -> Result<Setup, SceneError> {
    let scene = &loaded.scene;
    let root = loaded.root();
    let gravity = match scene.gravity {
        Some(gravity) => root.vector("gravity", gravity)?,
        None => DEFAULT_GRAVITY.into(),
    };
    let materials = Materials::new(loaded)?;
    let mut world = World::builder()
        .gravity(gravity)
        .materials(materials.table.clone())
        .build()
        .map_err(|e| root.error(e))?;
    let bodies = bodies::add_all(&mut world, loaded, files, &materials)?;
    let names = Names::new(&bodies);
    let joints = joints::add_all(&mut world, loaded, &names)?;
    forces::add_all(&mut world, loaded, &names)?;
    let control = Arc::new(ControlMeter::default());
    let controllers = control::add_all(&mut world, loaded, &names, registry, &control)?;
    let choice = parts::Choice::of(scene, &world, &root)?;
    let (run, record) = (root.field("run"), root.field("record"));
    let until = run.natural("until", scene.run.until.unwrap_or(DEFAULT_UNTIL))?;
    run.at_most("until", until, LONGEST, "s")?;
    let rate = record.positive("rate", scene.record.rate.unwrap_or(DEFAULT_RATE))?;
    record.at_most("rate", rate, 1.0 / SHORTEST, "Hz")?;
    let few = bodies.len() <= DEFAULT_MOST_BOXES;
    Ok(Setup {
        title: scene.title.clone().unwrap_or_else(|| loaded.files.first().cloned().unwrap_or_default()),
        world,
        bodies,
        joints,
        controllers,
        control,
        choice,
        until,
        rate,
        record_contacts: scene.record.contacts.unwrap_or(true),
        record_boxes: scene.record.boxes.unwrap_or(few),
        file: loaded.files.first().cloned().unwrap_or_default(),
    })
}

/// Bodies by name: copies of a repeated body by the common name too.
#[derive(Debug)]
pub struct Names {
    ids: BTreeMap<String, Vec<BodyId>>,
}

impl Names {
    fn new(bodies: &[Placed]) -> Self {
        let mut ids: BTreeMap<String, Vec<BodyId>> = BTreeMap::new();
        for body in bodies {
            ids.entry(body.name.clone()).or_default().push(body.id);
            if body.family != body.name {
                ids.entry(body.family.clone()).or_default().push(body.id);
            }
        }
        Self { ids }
    }

    pub(crate) fn get(&self, name: &str, place: &Place) -> Result<&[BodyId], SceneError> {
        match self.ids.get(name) {
            Some(ids) => Ok(ids),
            None => Err(shapes::unknown("body", name, self.ids.keys(), place)),
        }
    }

    pub(crate) fn single(&self, name: &str, place: &Place) -> Result<BodyId, SceneError> {
        match self.get(name, place)? {
            [id] => Ok(*id),
            many => {
                Err(place
                    .error(format_args!("`{name}` is {} bodies, name one of them: `{name}[0]`", many.len())))
            }
        }
    }
}

/// Materials of the scene in the world's table.
#[derive(Debug)]
pub(crate) struct Materials {
    table: MaterialTable,
    ids: BTreeMap<String, MaterialId>,
}

impl Materials {
    fn new(loaded: &Loaded) -> Result<Self, SceneError> {
        let scene: &Scene = &loaded.scene;
        let rule = |rule: Rule| match rule {
            Rule::GeometricMean => Combine::GeometricMean,
            Rule::Average => Combine::Average,
            Rule::Product => Combine::Product,
            Rule::Least => Combine::Least,
            Rule::Greatest => Combine::Greatest,
        };
        let mut table = MaterialTable::default();
        if let Some(friction) = scene.combine.friction {
            table.friction = rule(friction);
        }
        if let Some(restitution) = scene.combine.restitution {
            table.restitution = rule(restitution);
        }
        if let Some(turning) = scene.combine.turning {
            table.turning = rule(turning);
        }
        let mut ids = BTreeMap::new();
        for (name, spec) in &scene.materials {
            let place = loaded.material(name);
            let usual = Material::default();
            for (name, length) in
                [("rolling_friction", spec.rolling_friction), ("torsional_friction", spec.torsional_friction)]
            {
                place.natural(name, length.unwrap_or_default())?;
            }
            let material = Material::new(
                place.natural("friction", spec.friction.unwrap_or(usual.friction))?,
                place.share("restitution", spec.restitution.unwrap_or(usual.restitution))?,
                place.positive("density", spec.density.unwrap_or(usual.density))?,
            );
            let material = material.and_then(|material| {
                let [rolling, torsional] =
                    [spec.rolling_friction, spec.torsional_friction].map(Option::unwrap_or_default);
                material.with_turning_friction(rolling, torsional)
            });
            ids.insert(name.clone(), table.add(material.map_err(|e| place.error(e))?));
        }
        for (k, pair) in scene.pairs.iter().enumerate() {
            let place = loaded.pair(k);
            let id = |name: &String, field: &str| {
                ids.get(name)
                    .copied()
                    .ok_or_else(|| shapes::unknown("material", name, ids.keys(), &place.field(field)))
            };
            let numbers = SurfacePair {
                friction: place.natural("friction", pair.friction)?,
                restitution: place.share("restitution", pair.restitution)?,
            };
            table.set_pair(id(&pair.a, "a")?, id(&pair.b, "b")?, numbers).map_err(|e| place.error(e))?;
        }
        Ok(Self { table, ids })
    }

    /// A material and its id; the caller has checked the name.
    pub(crate) fn get(&self, name: &str) -> Option<(MaterialId, &Material)> {
        let id = *self.ids.get(name)?;
        Some((id, self.table.get(id)?))
    }
}
