//! Ready-made controllers: gravity, pushes, velocities, forces that hold, and what fell out of the world.

use crate::{
    control::{Controller, load, save},
    error::WorldError,
    force::{ForceGenerator, ForceId},
    snapshot::SnapshotError,
    world::World,
};
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::BodyId;

/// Kind, state and copy of a controller that is plain data.
macro_rules! plain_data {
    () => {
        fn kind(&self) -> &'static str {
            Self::KIND
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
    };
}

/// Changes gravity.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SetGravity {
    /// m/s².
    pub gravity: DVec3,
}

impl SetGravity {
    pub(crate) const KIND: &'static str = "gravity";
}

impl Controller for SetGravity {
    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        world.set_gravity(self.gravity)
    }

    plain_data!();
}

/// Gives bodies a push; those that are gone are passed over.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Push {
    /// Which bodies.
    pub bodies: Vec<BodyId>,
    /// N·s, world axes.
    pub impulse: DVec3,
    /// Where: from the centre of mass, world axes, m.
    pub at: DVec3,
}

impl Push {
    pub(crate) const KIND: &'static str = "push";
}

impl Controller for Push {
    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        for &id in &self.bodies {
            if let Some(body) = world.get(id) {
                let point = body.center() + self.at;
                world.apply_impulse(id, point, self.impulse)?;
            }
        }
        Ok(())
    }

    plain_data!();
}

/// Gives bodies another velocity; those that are gone are passed over.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SetVelocity {
    /// Which bodies.
    pub bodies: Vec<BodyId>,
    /// Of the centre of mass, world axes, rad/s and m/s.
    pub velocity: Motion,
}

impl SetVelocity {
    pub(crate) const KIND: &'static str = "velocity";
}

impl Controller for SetVelocity {
    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        for &id in &self.bodies {
            if world.get(id).is_some() {
                world.set_velocity(id, self.velocity)?;
            }
        }
        Ok(())
    }

    plain_data!();
}

/// Constant forces that a controller keeps on bodies from one call to the next.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Held(Vec<(BodyId, ForceId)>);

impl Held {
    fn hold(&mut self, world: &mut World, body: BodyId, force: DVec3) -> Result<(), WorldError> {
        let wanted = ForceGenerator::Constant { body, force, torque: DVec3::ZERO };
        let known = self.0.iter().find(|(id, force)| *id == body && world.force(*force).is_some());
        match known {
            Some((_, id)) => world.set_force(*id, wanted),
            None => {
                self.0.retain(|(id, _)| *id != body);
                self.0.push((body, world.add_force(wanted)?));
                Ok(())
            }
        }
    }

    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        for (_, force) in self.0.drain(..) {
            if world.force(force).is_some() {
                world.remove_force(force)?;
            }
        }
        Ok(())
    }
}

/// Keeps a constant force on bodies from its first call on, until it is switched off or removed.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HoldForce {
    /// Which bodies; those that are gone are passed over.
    pub bodies: Vec<BodyId>,
    /// N, world axes.
    pub force: DVec3,
    held: Held,
}

impl HoldForce {
    pub(crate) const KIND: &'static str = "force";

    /// A force (N, world axes) on each of these bodies.
    #[must_use]
    pub fn new(bodies: Vec<BodyId>, force: impl Into<DVec3>) -> Self {
        Self { bodies, force: force.into(), held: Held::default() }
    }
}

impl Controller for HoldForce {
    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        for &id in &self.bodies {
            if world.get(id).is_some() {
                self.held.hold(world, id, self.force)?;
            }
        }
        Ok(())
    }

    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        self.held.release(world)
    }

    plain_data!();
}

/// Pulls the centres of bodies towards a point by proportional and derivative control; the force is held between two calls.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HoldAt {
    /// Which bodies; those that are gone are passed over.
    pub bodies: Vec<BodyId>,
    /// World, m.
    pub target: DVec3,
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    pub damping: f64,
    held: Held,
}

impl HoldAt {
    pub(crate) const KIND: &'static str = "hold";

    /// Towards a point (m), by N/m and N·s/m.
    #[must_use]
    pub fn new(bodies: Vec<BodyId>, target: impl Into<DVec3>, stiffness: f64, damping: f64) -> Self {
        Self { bodies, target: target.into(), stiffness, damping, held: Held::default() }
    }
}

impl Controller for HoldAt {
    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        for k in 0..self.bodies.len() {
            let id = self.bodies[k];
            let Some(body) = world.get(id) else { continue };
            let pull = self.stiffness * (self.target - body.center());
            let force = pull - self.damping * body.velocity().linear;
            self.held.hold(world, id, force)?;
        }
        Ok(())
    }

    fn release(&mut self, world: &mut World) -> Result<(), WorldError> {
        self.held.release(world)
    }

    fn set(&mut self, what: &str, value: f64) -> bool {
        match what {
            "stiffness" => self.stiffness = value,
            "damping" => self.damping = value,
            _ => return false,
        }
        true
    }

    plain_data!();
}

/// Removes free bodies that fell below a height.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RemoveBelow {
    /// Along `up`, m.
    pub height: f64,
    /// Unit vector.
    pub up: DVec3,
}

impl RemoveBelow {
    pub(crate) const KIND: &'static str = "remove below";
}

impl Controller for RemoveBelow {
    fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
        for slot in 0..world.body_slots() as u32 {
            let body = world.body_in_slot(slot).filter(|(_, b)| b.is_free());
            if let Some((id, _)) = body.filter(|(_, b)| b.center().dot(self.up) < self.height) {
                world.remove(id)?;
            }
        }
        Ok(())
    }

    plain_data!();
}
