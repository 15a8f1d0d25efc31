//! Controllers: called at exact times of their own, they set forces that hold until the next call, or change velocities.
//!
//! # Reference
//!
//! Mirtich (1996), section 5.4: low-level controllers with rates and gains of their own whose output is held, and
//! call-backs above them; Fontijne (2000), section 3.7: timers that apply impulses or move set-points.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | e | target less the measured quantity |
//! | p, i, d | gains of [`Pid`] |
//! | T | period, s |
//!
//! # Formula
//!
//! ```text
//! output = p e + i Σ e T + d ė,   at most `limit`          position: ė = −v      velocity: ė by difference over T
//! calls at first + k T, by multiplication
//! ```
//!
//! # Cost
//!
//! At a call the present state of all bodies is brought to its time; a body whose force changes gets a new piece.
//!
//! # Numerics
//!
//! The integral stops growing while the output is at its limit.
//!
//! # Failure
//!
//! What a world refuses, naming the item; the stepper passes it on.
//!
//! # Tested by
//!
//! `tests/control.rs` of `sim-steppers`

use crate::slots::world_id;
use crate::{
    error::WorldError,
    force::{ForceGenerator, ForceId},
    snapshot::SnapshotError,
    world::World,
};
use sim_math::glam::DVec3;
use sim_traits::BodyId;
use std::fmt::Debug;

world_id!(ControllerId, "controller");

/// Acts on a world at its own rate.
///
/// **Contract.** `update` is called at exact multiples of the period, when the world is at that time, with everything in it
/// open to change; what it sets holds until the next call. It is a function of the world and of what `save` writes.
pub trait Controller: Debug + Send + Sync {
    /// Short name of the kind, for snapshots.
    fn kind(&self) -> &'static str;

    /// Acts.
    ///
    /// # Errors
    /// What the world refuses.
    fn update(&mut self, world: &mut World) -> Result<(), WorldError>;

    /// Lets go of what it holds: called when it is disabled or removed.
    ///
    /// # Errors
    /// What the world refuses.
    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        let _ = world;
        Ok(())
    }

    /// Changes a number by name, such as `"target"`; false if there is none of that name.
    fn set(&mut self, what: &str, value: f64) -> bool {
        let _ = (what, value);
        false
    }

    /// Everything that influences what it will do.
    fn save(&self) -> Vec<u8>;

    /// Takes over what [`Controller::save`] gave; called on a controller of the same kind.
    ///
    /// # Errors
    /// Bytes that it did not write.
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;

    /// A copy in a box.
    fn boxed_clone(&self) -> Box<dyn Controller>;
}

impl Controller for Box<dyn Controller> {
    fn kind(&self) -> &'static str {
        self.as_ref().kind()
    }

    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        self.as_mut().update(world)
    }

    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        self.as_mut().release(world)
    }

    fn set(&mut self, what: &str, value: f64) -> bool {
        self.as_mut().set(what, value)
    }

    fn save(&self) -> Vec<u8> {
        self.as_ref().save()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.as_mut().load(bytes)
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        self.as_ref().boxed_clone()
    }
}

/// A controller, its times, and whether it is switched on.
#[derive(Debug)]
pub(crate) struct Control {
    /// `None` while it acts.
    pub(crate) controller: Option<Box<dyn Controller>>,
    pub(crate) timer: crate::events::Timer,
    pub(crate) enabled: bool,
}

impl Clone for Control {
    fn clone(&self) -> Self {
        Self {
            controller: self.controller.as_ref().map(|c| c.as_ref().boxed_clone()),
            timer: self.timer,
            enabled: self.enabled,
        }
    }
}

/// What a [`Pid`] measures and moves, along or about a unit vector in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Quantity {
    /// Place of the centre of mass, m; the output is a force.
    Position(DVec3),
    /// Its velocity, m/s; the output is a force.
    Velocity(DVec3),
    /// Angular velocity, rad/s; the output is a torque.
    Spin(DVec3),
}

/// Proportional, integral and derivative control of one quantity of one body.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pid {
    /// Which body.
    pub body: BodyId,
    /// The actuator: a [`ForceGenerator::Constant`] of that body, which it overwrites.
    pub motor: ForceId,
    /// What is measured and moved.
    pub quantity: Quantity,
    /// What it should be.
    pub target: f64,
    /// Gain of the error.
    pub p: f64,
    /// Gain of its integral.
    pub i: f64,
    /// Gain of its rate.
    pub d: f64,
    /// Largest output, N or N·m.
    pub limit: f64,
    /// Time between two calls, s: that of [`World::add_controller`].
    pub period: f64,
    integral: f64,
    last: Option<f64>,
}

impl Pid {
    /// Without gains and without limit.
    #[must_use]
    pub fn new(body: BodyId, motor: ForceId, quantity: Quantity, period: f64) -> Self {
        Self {
            body,
            motor,
            quantity,
            period,
            target: 0.0,
            p: 0.0,
            i: 0.0,
            d: 0.0,
            limit: f64::INFINITY,
            integral: 0.0,
            last: None,
        }
    }

    /// With gains of error, integral and rate.
    #[must_use]
    pub fn gains(mut self, p: f64, i: f64, d: f64) -> Self {
        (self.p, self.i, self.d) = (p, i, d);
        self
    }

    /// With a target.
    #[must_use]
    pub fn toward(mut self, target: f64) -> Self {
        self.target = target;
        self
    }

    fn hold(&self, world: &mut World, output: f64) -> Result<(), WorldError> {
        let (force, torque) = match self.quantity {
            Quantity::Position(axis) | Quantity::Velocity(axis) => (axis * output, DVec3::ZERO),
            Quantity::Spin(axis) => (DVec3::ZERO, axis * output),
        };
        world.set_force(self.motor, ForceGenerator::Constant { body: self.body, force, torque })
    }
}

impl Controller for Pid {
    fn kind(&self) -> &'static str {
        "pid"
    }

    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        let body = world.body(self.body)?;
        let (measured, rate) = match self.quantity {
            Quantity::Position(axis) => (body.center().dot(axis), Some(body.velocity().linear.dot(axis))),
            Quantity::Velocity(axis) => (body.velocity().linear.dot(axis), None),
            Quantity::Spin(axis) => (body.velocity().angular.dot(axis), None),
        };
        let error = self.target - measured;
        // Of the quantity, not of the error: a target that jumps gives no blow.
        let rate = rate.unwrap_or((measured - self.last.unwrap_or(measured)) / self.period);
        self.last = Some(measured);
        let integral = self.integral + error * self.period;
        let wanted = self.p * error + self.i * integral - self.d * rate;
        let output = wanted.clamp(-self.limit, self.limit);
        if output.to_bits() == wanted.to_bits() {
            self.integral = integral;
        }
        self.hold(world, output)
    }

    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        (self.integral, self.last) = (0.0, None);
        if world.get(self.body).is_some() && world.force(self.motor).is_some() {
            self.hold(world, 0.0)?;
        }
        Ok(())
    }

    fn set(&mut self, what: &str, value: f64) -> bool {
        let place = match what {
            "target" => &mut self.target,
            "p" => &mut self.p,
            "i" => &mut self.i,
            "d" => &mut self.d,
            "limit" => &mut self.limit,
            _ => return false,
        };
        *place = value;
        true
    }

    fn save(&self) -> Vec<u8> {
        save(self)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        *self = load(bytes)?;
        Ok(())
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Open loop: forces and torques in turn, one per call, whatever the body does; the last one stays.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OpenLoop {
    /// Which body.
    pub body: BodyId,
    /// The actuator: a [`ForceGenerator::Constant`] of that body, which it overwrites.
    pub motor: ForceId,
    /// Force (N) and torque (N·m) of each call, world axes.
    pub program: Vec<(DVec3, DVec3)>,
    /// Begins again at the end.
    pub repeat: bool,
    next: u64,
}

impl OpenLoop {
    /// From a list of forces and torques.
    #[must_use]
    pub fn new(body: BodyId, motor: ForceId, program: Vec<(DVec3, DVec3)>, repeat: bool) -> Self {
        Self { body, motor, program, repeat, next: 0 }
    }
}

impl Controller for OpenLoop {
    fn kind(&self) -> &'static str {
        "open loop"
    }

    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        let count = self.program.len() as u64;
        if count == 0 {
            return Ok(());
        }
        let k = if self.repeat { self.next % count } else { self.next.min(count - 1) };
        self.next += 1;
        let (force, torque) = self.program[k as usize];
        world.set_force(self.motor, ForceGenerator::Constant { body: self.body, force, torque })
    }

    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        if world.get(self.body).is_none() || world.force(self.motor).is_none() {
            return Ok(());
        }
        let (force, torque) = (DVec3::ZERO, DVec3::ZERO);
        world.set_force(self.motor, ForceGenerator::Constant { body: self.body, force, torque })
    }

    fn save(&self) -> Vec<u8> {
        save(self)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        *self = load(bytes)?;
        Ok(())
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// What a call-back does: it gets the world, the bodies that it drives, and its memory.
pub type Action = fn(&mut World, &[BodyId], &mut Vec<f64>) -> Result<(), WorldError>;

/// A function of the user's, called at its own rate. The same function can drive many bodies, each call-back with handles and
/// memory of its own: state machines keep their state there.
#[derive(Debug, Clone)]
pub struct Callback {
    name: &'static str,
    action: Action,
    /// Bodies that it drives.
    pub bodies: Vec<BodyId>,
    /// What it remembers.
    pub memory: Vec<f64>,
}

impl Callback {
    /// A function with a name of its own, under which snapshots find it.
    #[must_use]
    pub fn new(name: &'static str, action: Action, bodies: Vec<BodyId>, memory: Vec<f64>) -> Self {
        Self { name, action, bodies, memory }
    }
}

impl Controller for Callback {
    fn kind(&self) -> &'static str {
        self.name
    }

    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        (self.action)(world, &self.bodies, &mut self.memory)
    }

    fn save(&self) -> Vec<u8> {
        save(&(&self.bodies, &self.memory))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        (self.bodies, self.memory) = load(bytes)?;
        Ok(())
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[cfg(feature = "serde")]
pub(crate) fn save<T: serde::Serialize>(data: &T) -> Vec<u8> {
    // Numbers, names and lists of them always have a form as bytes.
    postcard::to_allocvec(data).unwrap_or_default()
}

#[cfg(feature = "serde")]
pub(crate) fn load<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, SnapshotError> {
    match postcard::take_from_bytes(bytes) {
        Ok((data, [])) => Ok(data),
        _ => Err(SnapshotError::Damaged { what: "a controller" }),
    }
}

#[cfg(not(feature = "serde"))]
pub(crate) fn save<T>(_data: &T) -> Vec<u8> {
    Vec::new()
}

#[cfg(not(feature = "serde"))]
pub(crate) fn load<T>(_bytes: &[u8]) -> Result<T, SnapshotError> {
    Err(SnapshotError::NoSerde)
}
