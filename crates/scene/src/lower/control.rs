//! Controllers by name and parameters.
//!
//! They are controllers of the world, which acts at exact multiples of their periods and saves them with everything else. The registry knows how to make
//! them from the parameters of a scene; more can be registered by a program of its own.

use super::Names;
use crate::format::{
    Loaded,
    error::{Place, SceneError},
    model::{ControllerSpec, ParamValue},
    nearest,
};
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::BodyId;
use sim_world::{
    Controller, ControllerId, HoldAt, HoldForce, Push, RemoveBelow, SetGravity, SetVelocity, SnapshotError,
    Timer, World, WorldError,
};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt::{self, Debug},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// A controller of a scene.
#[derive(Debug)]
pub struct PlacedController {
    /// Which one in the world.
    pub id: ControllerId,
    /// Name in the registry.
    pub name: String,
}

/// How often controllers acted, and how long that took.
#[derive(Debug, Default)]
pub struct ControlMeter {
    acts: AtomicU64,
    nanoseconds: AtomicU64,
}

impl ControlMeter {
    /// How often they acted.
    #[must_use]
    pub fn acts(&self) -> u64 {
        self.acts.load(Ordering::Relaxed)
    }

    /// How long that took.
    #[must_use]
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}

/// A controller whose calls are counted; in all else it is what is inside.
struct Metered {
    inner: Box<dyn Controller>,
    meter: Arc<ControlMeter>,
}

impl Debug for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Controller for Metered {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        let started = Instant::now();
        let result = self.inner.update(world);
        let taken = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.meter.acts.fetch_add(1, Ordering::Relaxed);
        self.meter.nanoseconds.fetch_add(taken, Ordering::Relaxed);
        result
    }

    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        self.inner.release(world)
    }

    fn set(&mut self, what: &str, value: f64) -> bool {
        self.inner.set(what, value)
    }

    fn save(&self) -> Vec<u8> {
        self.inner.save()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.inner.load(bytes)
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.boxed_clone(), meter: self.meter.clone() })
    }
}

/// Adds all controllers of a scene.
pub(crate) fn add_all(
    world: &mut World,
    loaded: &Loaded,
    names: &Names,
    registry: &Registry,
    meter: &Arc<ControlMeter>,
) -> Result<Vec<PlacedController>, SceneError> {
    let mut out = Vec::with_capacity(loaded.scene.controllers.len());
    for (k, spec) in loaded.scene.controllers.iter().enumerate() {
        let place = loaded.controller(k);
        let (times, inner) = registry.build(spec, names, &place)?;
        let metered = Metered { inner, meter: meter.clone() };
        let id = world.add_controller_at(times, metered).map_err(|e| place.error(e))?;
        out.push(PlacedController { id, name: spec.name.clone() });
    }
    Ok(out)
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
        registry.register("gravity", |p| Ok(Box::new(SetGravity { gravity: p.vector("value", None)? })));
        registry.register("kick", |p| {
            Ok(Box::new(Push {
                bodies: p.bodies("body")?,
                impulse: p.vector("impulse", None)?,
                at: p.vector("at", Some(DVec3::ZERO))?,
            }))
        });
        registry.register("velocity", |p| {
            let linear = p.vector("linear", Some(DVec3::ZERO))?;
            let velocity = Motion::new(p.vector("angular", Some(DVec3::ZERO))?, linear);
            Ok(Box::new(SetVelocity { bodies: p.bodies("body")?, velocity }))
        });
        registry.register("force", |p| {
            let force = p.vector("force", None)?;
            Ok(Box::new(HoldForce::new(p.bodies("body")?, force)))
        });
        registry.register("hold", |p| {
            let (bodies, target) = (p.bodies("body")?, p.vector("target", None)?);
            let gains = [p.number("stiffness", None)?, p.number("damping", Some(0.0))?];
            Ok(Box::new(HoldAt::new(bodies, target, gains[0], gains[1])))
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
    ) -> Result<(Timer, Box<dyn Controller>), SceneError> {
        let Some(builder) = self.builders.get(&spec.name) else {
            return Err(super::shapes::unknown(
                "controller",
                &spec.name,
                self.builders.keys(),
                &place.field("name"),
            ));
        };
        let start = place.natural("start", spec.start)?;
        let times = match spec.period {
            Some(period) => {
                place.period("period", period)?;
                Timer::every(period).starting(start).times(spec.times.map_or(u64::MAX, u64::from))
            }
            None => Timer::once(start).times(u64::from(spec.times.unwrap_or(1).min(1))),
        };
        let params =
            Params { values: &spec.params, names, place: place.field("params"), asked: RefCell::default() };
        let controller = builder(&params)?;
        params.finish()?;
        Ok((times, controller))
    }
}
