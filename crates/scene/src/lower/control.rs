//! Controllers by name and parameters.
//!
//! A controller acts on the world at its own times: exact multiples of its period after its start. The run stops there, the
//! controller changes gravity, velocities or forces, and the run goes on. The registry knows them by name; more can be
//! registered by a program of its own.

use super::Names;
use crate::format::{
    error::{Place, SceneError},
    model::{ControllerSpec, ParamValue},
    nearest,
};
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::BodyId;
use sim_world::{ForceGenerator, ForceId, World, WorldError};
use std::{cell::RefCell, collections::BTreeMap, fmt::Debug};

/// Acts on a world at certain times.
pub trait Controller: Debug + Send {
    /// Acts, once.
    ///
    /// # Errors
    /// What the world refuses.
    fn act(&mut self, world: &mut World) -> Result<(), WorldError>;
}

/// A controller and its times: `start + k period`, by multiplication, so it does not drift.
#[derive(Debug)]
pub struct Scheduled {
    /// Name in the registry.
    pub name: String,
    /// First time, s.
    pub start: f64,
    /// Time between two acts, s.
    pub period: Option<f64>,
    /// How many acts are left.
    left: u64,
    acts: u64,
    controller: Box<dyn Controller>,
}

impl Scheduled {
    /// When it acts next, s; `None` if it has done all it had to do.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        (self.left > 0).then(|| self.start + self.period.unwrap_or(0.0) * self.acts as f64)
    }

    /// Acts, and looks forward to the next time.
    ///
    /// # Errors
    /// What the world refuses.
    pub fn act(&mut self, world: &mut World) -> Result<(), WorldError> {
        self.left = self.left.saturating_sub(1);
        self.acts += 1;
        self.controller.act(world)
    }
}

/// Parameters of a controller that is being built, with the names of the bodies.
#[derive(Debug)]
pub struct Params<'a> {
    values: &'a BTreeMap<String, ParamValue>,
    names: &'a Names,
    place: Place,
    asked: RefCell<Vec<&'static str>>,
}

impl Params<'_> {
    fn get(&self, name: &'static str) -> Option<&ParamValue> {
        self.asked.borrow_mut().push(name);
        self.values.get(name)
    }

    fn wrong(&self, name: &str, expected: &str) -> SceneError {
        self.place.field(name).error(format_args!("expected {expected}"))
    }

    /// A finite number; `default` if it is not given, an error if there is none.
    ///
    /// # Errors
    /// Missing, not a number, or not finite.
    pub fn number(&self, name: &'static str, default: Option<f64>) -> Result<f64, SceneError> {
        match (self.get(name), default) {
            (Some(ParamValue::Number(x)), _) => self.place.finite(name, *x),
            (Some(_), _) => Err(self.wrong(name, "a number: `number(1.0)`")),
            (None, Some(x)) => Ok(x),
            (None, None) => Err(self.place.error(format_args!("missing parameter `{name}`"))),
        }
    }

    /// A finite vector, as [`Params::number`].
    ///
    /// # Errors
    /// Missing, not a vector, or not finite.
    pub fn vector(&self, name: &'static str, default: Option<DVec3>) -> Result<DVec3, SceneError> {
        match (self.get(name), default) {
            (Some(ParamValue::Vector(v)), _) => self.place.vector(name, *v),
            (Some(_), _) => Err(self.wrong(name, "a vector: `vector((0, 0, 1))`")),
            (None, Some(v)) => Ok(v),
            (None, None) => Err(self.place.error(format_args!("missing parameter `{name}`"))),
        }
    }

    /// Bodies by name: one, or all copies of one.
    ///
    /// # Errors
    /// Missing, not a name, or the name of no body.
    pub fn bodies(&self, name: &'static str) -> Result<Vec<BodyId>, SceneError> {
        match self.get(name) {
            Some(ParamValue::Text(text)) => {
                self.names.get(text, &self.place.field(name)).map(<[BodyId]>::to_vec)
            }
            Some(_) => Err(self.wrong(name, "the name of a body: `text(\"ball\")`")),
            None => Err(self.place.error(format_args!("missing parameter `{name}`"))),
        }
    }

    fn finish(&self) -> Result<(), SceneError> {
        let asked = self.asked.borrow();
        for name in self.values.keys() {
            if !asked.contains(&name.as_str()) {
                let hint = match nearest(name, asked.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known are {}", asked.join(", ")),
                };
                return Err(self.place.error(format_args!("unknown parameter `{name}`, {hint}")));
            }
        }
        Ok(())
    }
}

/// Builds a controller from its parameters.
pub type Builder = fn(&Params<'_>) -> Result<Box<dyn Controller>, SceneError>;

/// Controllers by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    builders: BTreeMap<String, Builder>,
}

impl Registry {
    /// With the controllers of this crate: `gravity`, `kick`, `velocity`, `force`, `hold`, `remove_below`.
    #[must_use]
    pub fn standard() -> Self {
        let mut registry = Self::default();
        registry.register("gravity", |p| Ok(Box::new(SetGravity(p.vector("value", None)?))));
        registry.register("kick", |p| {
            Ok(Box::new(Kick {
                bodies: p.bodies("body")?,
                impulse: p.vector("impulse", None)?,
                at: p.vector("at", Some(DVec3::ZERO))?,
            }))
        });
        registry.register("velocity", |p| {
            let linear = p.vector("linear", Some(DVec3::ZERO))?;
            let motion = Motion::new(p.vector("angular", Some(DVec3::ZERO))?, linear);
            Ok(Box::new(SetVelocity { bodies: p.bodies("body")?, motion }))
        });
        registry.register("force", |p| {
            let force = p.vector("force", None)?;
            Ok(Box::new(SetForce { bodies: p.bodies("body")?, force, installed: Vec::new() }))
        });
        registry.register("hold", |p| {
            Ok(Box::new(Hold {
                bodies: p.bodies("body")?,
                target: p.vector("target", None)?,
                stiffness: p.number("stiffness", None)?,
                damping: p.number("damping", Some(0.0))?,
                installed: Vec::new(),
            }))
        });
        registry.register("remove_below", |p| {
            let height = p.number("height", None)?;
            Ok(Box::new(RemoveBelow { height, up: p.vector("up", Some(DVec3::Z))? }))
        });
        registry
    }

    /// Adds a controller, or replaces one.
    pub fn register(&mut self, name: impl Into<String>, builder: Builder) {
        self.builders.insert(name.into(), builder);
    }

    /// Names of all controllers, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.builders.keys().map(String::as_str)
    }

    pub(crate) fn build(
        &self,
        spec: &ControllerSpec,
        names: &Names,
        place: &Place,
    ) -> Result<Scheduled, SceneError> {
        let Some(builder) = self.builders.get(&spec.name) else {
            return Err(super::shapes::unknown(
                "controller",
                &spec.name,
                self.builders.keys(),
                &place.field("name"),
            ));
        };
        let start = place.natural("start", spec.start)?;
        let left = match spec.period {
            Some(period) => {
                place.period("period", period)?;
                spec.times.map_or(u64::MAX, u64::from)
            }
            None => u64::from(spec.times.unwrap_or(1).min(1)),
        };
        let params =
            Params { values: &spec.params, names, place: place.field("params"), asked: RefCell::default() };
        let controller = builder(&params)?;
        params.finish()?;
        Ok(Scheduled { name: spec.name.clone(), start, period: spec.period, left, acts: 0, controller })
    }
}

#[derive(Debug)]
struct SetGravity(DVec3);

impl Controller for SetGravity {
    fn act(&mut self, world: &mut World) -> Result<(), WorldError> {
        world.set_gravity(self.0)
    }
}

#[derive(Debug)]
struct Kick {
    bodies: Vec<BodyId>,
    /// N·s, world axes.
    impulse: DVec3,
    /// From the centre of mass, world axes, m.
    at: DVec3,
}

impl Controller for Kick {
    fn act(&mut self, world: &mut World) -> Result<(), WorldError> {
        for &id in &self.bodies {
            if let Some(body) = world.get(id) {
                let point = body.center() + self.at;
                world.apply_impulse(id, point, self.impulse)?;
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct SetVelocity {
    bodies: Vec<BodyId>,
    motion: Motion,
}

impl Controller for SetVelocity {
    fn act(&mut self, world: &mut World) -> Result<(), WorldError> {
        for &id in &self.bodies {
            if world.get(id).is_some() {
                world.set_velocity(id, self.motion)?;
            }
        }
        Ok(())
    }
}

/// Takes the forces of the last act away and installs new ones: held constant between two acts.
fn replace(
    world: &mut World,
    installed: &mut Vec<ForceId>,
    forces: impl Iterator<Item = (BodyId, DVec3)>,
) -> Result<(), WorldError> {
    for id in installed.drain(..) {
        world.remove_force(id)?;
    }
    for (body, force) in forces {
        installed.push(world.add_force(ForceGenerator::Constant { body, force, torque: DVec3::ZERO })?);
    }
    Ok(())
}

#[derive(Debug)]
struct SetForce {
    bodies: Vec<BodyId>,
    /// N, world axes.
    force: DVec3,
    installed: Vec<ForceId>,
}

impl Controller for SetForce {
    fn act(&mut self, world: &mut World) -> Result<(), WorldError> {
        let there: Vec<BodyId> = self.bodies.iter().copied().filter(|&b| world.get(b).is_some()).collect();
        replace(world, &mut self.installed, there.into_iter().map(|b| (b, self.force)))
    }
}

/// Proportional and derivative control of the centre of mass towards a point, held between two acts.
#[derive(Debug)]
struct Hold {
    bodies: Vec<BodyId>,
    /// World, m.
    target: DVec3,
    /// N/m.
    stiffness: f64,
    /// N·s/m.
    damping: f64,
    installed: Vec<ForceId>,
}

impl Controller for Hold {
    fn act(&mut self, world: &mut World) -> Result<(), WorldError> {
        let forces: Vec<(BodyId, DVec3)> = self
            .bodies
            .iter()
            .filter_map(|&id| {
                let body = world.get(id)?;
                let pull = self.stiffness * (self.target - body.center());
                Some((id, pull - self.damping * body.velocity().linear))
            })
            .collect();
        replace(world, &mut self.installed, forces.into_iter())
    }
}

#[derive(Debug)]
struct RemoveBelow {
    /// Along `up`, m.
    height: f64,
    up: DVec3,
}

impl Controller for RemoveBelow {
    fn act(&mut self, world: &mut World) -> Result<(), WorldError> {
        let gone: Vec<BodyId> = world
            .bodies()
            .filter(|(_, body)| body.is_free() && body.center().dot(self.up) < self.height)
            .map(|(id, _)| id)
            .collect();
        gone.into_iter().try_for_each(|id| world.remove(id).map(drop))
    }
}
