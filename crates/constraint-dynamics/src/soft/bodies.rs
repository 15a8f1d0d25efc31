//! What the soft solver is given: bodies as arrays, and manifolds in world coordinates.

use super::lane::Slot;
use sim_math::{Sym3, glam::DVec3, spatial::Motion};
use sim_traits::Manifold;

/// One body of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftBody {
    /// 1/kg; 0 for a body that nothing moves.
    pub inv_mass: f64,
    /// Inverse inertia tensor at the centre of mass in world axes, 1/(kg·m²).
    pub inv_inertia: Sym3,
    /// Velocity of the centre of mass, world axes.
    pub velocity: Motion,
    /// Acceleration without contacts, world axes.
    pub acceleration: Motion,
}

/// The bodies of a step, each array in the order in which they were pushed.
#[derive(Debug, Clone, Default)]
pub struct SoftBodies {
    /// Inverse mass, then inverse inertia: xx, yy, zz, xy, xz, yz.
    pub(super) inv_masses: Vec<Slot>,
    pub(super) velocities: Vec<Slot>,
    pub(super) displacements: Vec<Slot>,
    pub(super) accelerations: Vec<Slot>,
    /// Change of the velocities by all contacts in the last substep.
    pub(super) pushed: Vec<Slot>,
}

pub(super) fn slot(m: &Motion) -> Slot {
    let [x, y, z, u, v, w] = m.to_array();
    [x, y, z, u, v, w, 0.0, 0.0]
}

fn motion(slot: &Slot) -> Motion {
    Motion::new(DVec3::new(slot[0], slot[1], slot[2]), DVec3::new(slot[3], slot[4], slot[5]))
}

impl SoftBodies {
    /// Removes all bodies.
    pub fn clear(&mut self) {
        self.inv_masses.clear();
        self.velocities.clear();
        self.displacements.clear();
        self.accelerations.clear();
    }

    /// Adds a body; its index is the number of bodies before it.
    pub fn push(&mut self, body: &SoftBody) {
        let [xx, yy, zz, xy, xz, yz] = body.inv_inertia.to_array();
        self.inv_masses.push([body.inv_mass, xx, yy, zz, xy, xz, yz, 0.0]);
        self.velocities.push(slot(&body.velocity));
        self.displacements.push([0.0; 8]);
        self.accelerations.push(slot(&body.acceleration));
    }

    /// Removes the last body.
    pub(super) fn pop(&mut self) {
        self.inv_masses.pop();
        self.velocities.pop();
        self.displacements.pop();
        self.accelerations.pop();
    }

    /// How many bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inv_masses.len()
    }

    /// True without bodies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inv_masses.is_empty()
    }

    /// Velocity of a body, world axes; zero if there is no such body.
    #[must_use]
    pub fn velocity(&self, body: usize) -> Motion {
        self.velocities.get(body).map_or(Motion::ZERO, motion)
    }

    /// Displacement of a body over the step: rotation vector and translation of its centre of mass, world axes.
    #[must_use]
    pub fn displacement(&self, body: usize) -> Motion {
        self.displacements.get(body).map_or(Motion::ZERO, motion)
    }
}

/// One point of a manifold, as the eight numbers the kernel loads at once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SoftPoint(pub(super) Slot);

impl SoftPoint {
    /// Contact point from the centres of mass of A and B (world axes, m), the gap there (m; negative inside), and a guess of the
    /// normal impulse of one substep (N·s).
    #[must_use]
    pub fn new(arm_a: DVec3, arm_b: DVec3, separation: f64, impulse: f64) -> Self {
        Self([arm_a.x, arm_a.y, arm_a.z, arm_b.x, arm_b.y, arm_b.z, separation, impulse])
    }

    /// Gap at the start of the step, m.
    #[must_use]
    pub fn separation(&self) -> f64 {
        self.0[6]
    }

    /// Normal impulse, N·s: a guess before a step, that of its last substep afterwards.
    #[must_use]
    pub fn impulse(&self) -> f64 {
        self.0[7]
    }
}

/// Contact of two bodies over a planar patch, in world coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SoftManifold {
    pub(super) bodies: [u32; 2],
    /// Normal, friction, restitution, tangential impulse.
    pub(super) head: Slot,
    pub(super) twist_impulse: f64,
    pub(super) points: [SoftPoint; Manifold::CAPACITY],
    count: u8,
}

impl SoftManifold {
    /// Between bodies A and B with the unit `normal` from B to A, without points yet.
    #[must_use]
    pub fn new(bodies: [u32; 2], normal: DVec3, friction: f64, restitution: f64) -> Self {
        let head = [normal.x, normal.y, normal.z, friction, restitution, 0.0, 0.0, 0.0];
        Self { bodies, head, ..Self::default() }
    }

    /// Adds a point; `false`, and no change, if four are there already.
    pub fn push(&mut self, point: SoftPoint) -> bool {
        let free = self.points.get_mut(usize::from(self.count));
        let has_room = free.is_some();
        if let Some(slot) = free {
            *slot = point;
            self.count += 1;
        }
        has_room
    }

    /// The points present.
    #[must_use]
    pub fn points(&self) -> &[SoftPoint] {
        &self.points[..usize::from(self.count)]
    }

    /// Indices of A and B.
    #[must_use]
    pub fn bodies(&self) -> [u32; 2] {
        self.bodies
    }

    /// Unit vector from B to A.
    #[must_use]
    pub fn normal(&self) -> DVec3 {
        DVec3::new(self.head[0], self.head[1], self.head[2])
    }

    /// Friction impulse on A (N·s) and about the normal (N·m·s): a guess before a step, that of its last substep afterwards.
    #[must_use]
    pub fn friction_impulse(&self) -> (DVec3, f64) {
        (DVec3::new(self.head[5], self.head[6], self.head[7]), self.twist_impulse)
    }

    /// Guess of the friction impulse of one substep, see [`Self::friction_impulse`].
    pub fn set_friction_impulse(&mut self, tangent: DVec3, twist: f64) {
        self.head[5..].copy_from_slice(&tangent.to_array());
        self.twist_impulse = twist;
    }
}
