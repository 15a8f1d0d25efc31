//! Memory of the algorithms, sized once from the model.

use crate::Model;
use sim_math::{
    glam::DVec3,
    spatial::{ArticulatedInertia, Force, Motion, RigidInertia, SpatialTransform},
};
use sim_traits::DynamicsError;

/// Scratch and results. Reusing one never changes a result.
///
/// Arrays over links have the base in front: slot 0 is the base, link i is in slot i + 1.
#[derive(Debug, Clone)]
pub struct Workspace {
    // Written by the kinematics of positions.
    pub(crate) parent_from_link: Vec<SpatialTransform>,
    pub(crate) axes: Vec<Motion>,
    // Written by `compute_poses`.
    pub(crate) world_from_link: Vec<SpatialTransform>,
    // Written by the velocity passes.
    pub(crate) velocity: Vec<Motion>,
    pub(crate) bias: Vec<Motion>,
    // Written by `rnea`, `aba` and `compute_accelerations`.
    pub(crate) acceleration: Vec<Motion>,
    pub(crate) force: Vec<Force>,
    // The factorisation: written by `aba` and `factorize`.
    pub(crate) articulated: Vec<ArticulatedInertia>,
    pub(crate) noise: Vec<[f64; 2]>,
    pub(crate) u_column: Vec<Force>,
    pub(crate) d_inv: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    // Written by `crba` and `centroidal_momentum`.
    pub(crate) composite: Vec<RigidInertia>,
    // Results.
    pub(crate) qdd: Vec<f64>,
    pub(crate) tau: Vec<f64>,
    pub(crate) posed: bool,
    pub(crate) factored: bool,
}

impl Workspace {
    /// Allocates everything the algorithms need for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let (n, nv) = (model.link_count(), model.v_len());
        let mut ws = Self {
            parent_from_link: vec![SpatialTransform::IDENTITY; n],
            axes: vec![Motion::ZERO; nv],
            world_from_link: vec![SpatialTransform::IDENTITY; n + 1],
            velocity: vec![Motion::ZERO; n + 1],
            bias: vec![Motion::ZERO; n],
            acceleration: vec![Motion::ZERO; n + 1],
            force: vec![Force::ZERO; n + 1],
            articulated: vec![ArticulatedInertia::ZERO; n + 1],
            noise: vec![[0.0; 2]; n + 1],
            u_column: vec![Force::ZERO; nv],
            d_inv: vec![0.0; nv],
            residual: vec![0.0; nv],
            composite: vec![RigidInertia::ZERO; n + 1],
            qdd: vec![0.0; nv],
            tau: vec![0.0; nv],
            posed: false,
            factored: false,
        };
        // Most joints have constant axes: they are written here and never again.
        let neutral = crate::State::new(model);
        for link in &model.links {
            let q = &neutral.q[link.q..link.q + link.joint.q_len()];
            let _ = link.joint_from_link(q, &mut ws.axes[link.v..link.v_end], true);
        }
        ws
    }

    /// `Ok` if this workspace was made for a model of the same size.
    #[inline]
    pub(crate) fn check(&self, model: &Model) -> Result<(), DynamicsError> {
        if self.parent_from_link.len() != model.link_count() {
            return Err(DynamicsError::WrongLength {
                what: "workspace links",
                expected: model.link_count(),
                got: self.parent_from_link.len(),
            });
        }
        if self.axes.len() != model.v_len() {
            return Err(DynamicsError::WrongLength {
                what: "workspace velocities",
                expected: model.v_len(),
                got: self.axes.len(),
            });
        }
        Ok(())
    }

    /// Joint accelerations written by [`crate::aba`] (and given to [`crate::rnea`]).
    #[must_use]
    pub fn qdd(&self) -> &[f64] {
        &self.qdd
    }

    /// Joint forces written by [`crate::rnea`].
    #[must_use]
    pub fn tau(&self) -> &[f64] {
        &self.tau
    }

    /// Pose of each link in the world, written by [`crate::compute_poses`].
    #[must_use]
    pub fn world_from_links(&self) -> &[SpatialTransform] {
        &self.world_from_link[1..]
    }

    /// Velocity of each link at its origin, link axes.
    #[must_use]
    pub fn velocities(&self) -> &[Motion] {
        &self.velocity[1..]
    }

    /// Spatial acceleration of each link at its origin, link axes, **minus** that of free fall: what an accelerometer
    /// in the link shows. [`Workspace::acceleration_in_space`] adds gravity.
    #[must_use]
    pub fn proper_accelerations(&self) -> &[Motion] {
        &self.acceleration[1..]
    }

    /// Spatial acceleration of a link at its origin, link axes, gravity included. Needs the poses of the same state.
    #[must_use]
    pub fn acceleration_in_space(&self, model: &Model, link: u32) -> Option<Motion> {
        let slot = link as usize + 1;
        let (a, pose) = (self.acceleration.get(slot)?, self.world_from_link.get(slot)?);
        let fall: DVec3 = pose.rotation.transpose() * model.gravity;
        Some(Motion::new(a.angular, a.linear + fall))
    }

    /// Wrench each joint exerts on its link, at the link origin in link axes, written by [`crate::rnea`] and
    /// [`crate::aba_with_reactions`]: actuator and constraint parts together; the parent feels its opposite.
    #[must_use]
    pub fn joint_wrenches(&self) -> &[Force] {
        &self.force[1..]
    }

    /// Articulated inertia of each link before its own joint is taken out, link axes; written by [`crate::aba`] and [`crate::factorize`].
    #[must_use]
    pub fn articulated_inertias(&self) -> &[ArticulatedInertia] {
        &self.articulated[1..]
    }

    /// S of the joint of a link: one motion per velocity, link axes.
    #[must_use]
    pub fn joint_axes(&self, model: &Model, link: u32) -> &[Motion] {
        self.axes.get(model.v_range(link)).unwrap_or_default()
    }
}
