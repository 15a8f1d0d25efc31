//! Trees of joints: bodies whose places follow from coordinates of joints.
//!
//! The links of a tree are bodies of the world, with colliders; they are moved by their tree alone. A tree has coordinates q and velocities v, so that what its
//! joints hold is held exactly.

mod builder;

use articulated_featherstone::{
    BaseMotion, DofParams, Joint, Link, Model, ModelBuilder, ModelError, State, Workspace,
    compute_velocities, spring_energy,
};
pub use builder::{LinkBuilder, TreeBuilder};
use sim_math::{
    Pose,
    glam::DVec3,
    spatial::{Motion, RigidInertia},
};
use sim_traits::{BodyId, DynamicsError, joint::JointMotor};
use std::sync::Arc;

/// One link as it is kept: all that its model is made of.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LinkSpec {
    pub(crate) name: String,
    pub(crate) parent: Option<String>,
    pub(crate) joint: Joint,
    pub(crate) parent_from_joint: Pose,
    pub(crate) dofs: Vec<DofParams>,
    pub(crate) inertia: RigidInertia,
    /// Centre of mass with principal axes, in the frame of the link.
    pub(crate) link_from_center: Pose,
}

/// A tree in a world.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) name: String,
    #[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "snapshots make the model anew of it"))]
    pub(crate) specs: Arc<Vec<LinkSpec>>,
    pub(crate) model: Arc<Model>,
    pub(crate) state: State,
    /// By link of the model.
    pub(crate) links: Vec<BodyId>,
    pub(crate) link_from_center: Arc<Vec<Pose>>,
    pub(crate) forces: Vec<f64>,
    pub(crate) motors: Vec<Option<JointMotor>>,
    /// Impulses of limits, of motors and of dry friction in the last step, by velocity.
    pub(crate) impulses: Vec<[f64; 3]>,
    pub(crate) self_collision: bool,
}

/// Where a link is and how it moves: pose of its centre of mass with principal axes, velocity there, world axes.
pub type LinkState = (Pose, Motion);

impl Tree {
    /// A tree to be added to a world.
    pub fn builder(name: impl Into<String>) -> TreeBuilder {
        TreeBuilder::new(name)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description that the algorithms of `articulated-featherstone` read. It has no gravity: that is the world's.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Coordinates of the joints, as the model orders them.
    #[must_use]
    pub fn coordinates(&self) -> &[f64] {
        &self.state.q
    }

    /// Velocities of the joints.
    #[must_use]
    pub fn velocities(&self) -> &[f64] {
        &self.state.v
    }

    /// Forces of actuators, by velocity, N·m or N.
    #[must_use]
    pub fn forces(&self) -> &[f64] {
        &self.forces
    }

    /// Motors, by velocity.
    #[must_use]
    pub fn motors(&self) -> &[Option<JointMotor>] {
        &self.motors
    }

    /// Its bodies, by link of the model.
    #[must_use]
    pub fn links(&self) -> &[BodyId] {
        &self.links
    }

    /// The body of a link by its name.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<BodyId> {
        self.links.get(self.model.link_index(name)? as usize).copied()
    }

    /// Coordinates, velocities and base as the algorithms want them.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Pose of the base in the world.
    #[must_use]
    pub fn base(&self) -> &Pose {
        &self.state.base.world_from_base
    }

    /// Impulses of limits, of motors and of dry friction in the last step, by velocity, N·m·s or N·s.
    #[must_use]
    pub fn impulses(&self) -> &[[f64; 3]] {
        &self.impulses
    }

    /// The centre of mass of each link with principal axes, in the frame of the link.
    #[must_use]
    pub fn link_from_centers(&self) -> &[Pose] {
        &self.link_from_center
    }

    /// True if links other than neighbours collide with each other.
    #[must_use]
    pub fn has_self_collision(&self) -> bool {
        self.self_collision
    }

    /// Energy in the springs of its joints, J.
    #[must_use]
    pub fn spring_energy(&self) -> f64 {
        spring_energy(&self.model, &self.state).unwrap_or(0.0)
    }

    /// Energy of rotors at its joints, which no link has, J.
    #[must_use]
    pub fn rotor_energy(&self) -> f64 {
        let of = |(dof, v): (&DofParams, &f64)| 0.5 * dof.armature * v * v;
        self.model.dofs().iter().zip(&self.state.v).map(of).sum()
    }

    /// Where the links are for any state: the poses of their centres of mass and the velocities there.
    ///
    /// # Errors
    /// Wrong length, a number that is not finite.
    pub fn link_states(
        &self,
        state: &State,
        ws: &mut Workspace,
        out: &mut Vec<LinkState>,
    ) -> Result<(), DynamicsError> {
        compute_velocities(&self.model, state, ws)?;
        out.clear();
        for ((frame, v), center) in
            ws.world_from_links().iter().zip(ws.velocities()).zip(self.link_from_center.iter())
        {
            let world_from_link = frame.to_pose();
            let pose = (world_from_link * *center).renormalized();
            out.push((pose, at_center(&world_from_link, *v, center.translation)));
        }
        Ok(())
    }
}

/// Velocity at the centre of mass in world axes, from that at the link origin in link axes.
#[must_use]
pub(crate) fn at_center(world_from_link: &Pose, v: Motion, center: DVec3) -> Motion {
    let linear = v.linear + v.angular.cross(center);
    Motion::new(world_from_link.transform_vector(v.angular), world_from_link.transform_vector(linear))
}

/// The model of links, without gravity.
pub(crate) fn model_of(specs: &[LinkSpec]) -> Result<Model, ModelError> {
    let mut builder = ModelBuilder::new();
    for spec in specs {
        let mut link = Link::new(&*spec.name, spec.joint).at(spec.parent_from_joint).inertia(spec.inertia);
        if let Some(parent) = &spec.parent {
            link = link.on(&**parent);
        }
        for (k, dof) in spec.dofs.iter().enumerate() {
            link = link.dof(k, *dof);
        }
        builder = builder.link(link);
    }
    builder.build()
}

/// Coordinates on a base that stands still.
pub(crate) fn state_of(q: Vec<f64>, v: Vec<f64>, base: Pose) -> State {
    State { q, v, t: 0.0, base: BaseMotion::at(base) }
}
