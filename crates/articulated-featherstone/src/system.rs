//! A tree as a [`VelocitySystem`]: contacts, limits and motors reach it in rows.
//!
//! Velocities are the joint velocities, followed, for a scripted base, by the six numbers of the base's velocity
//! (base axes, base origin, angular first), to which nothing responds. The configuration is q, followed, for a scripted base,
//! by the position of the base and its quaternion x, y, z, w. Parts are the links.

use crate::{
    BaseMotion, Model, State, Workspace,
    algorithm::{
        check_len,
        impulse::{LinkImpulse, add_taken},
        mass_solve::factorize,
    },
    state::check_finite,
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::{Motion, SpatialTransform},
};
use sim_traits::{ColumnsMut, DynamicsError, Entry, Scratch, VelocitySystem};
use std::sync::Arc;

/// One tree behind the seam.
#[derive(Debug, Clone)]
pub struct TreeSystem {
    model: Arc<Model>,
    state: State,
    ws: Workspace,
    scripted_base: bool,
}

impl TreeSystem {
    /// A tree on a base at rest at `world_from_base`.
    #[must_use]
    pub fn new(model: Arc<Model>, world_from_base: Pose) -> Self {
        let mut state = State::new(&model);
        state.base = BaseMotion::at(world_from_base);
        let ws = Workspace::new(&model);
        Self { model, state, ws, scripted_base: false }
    }

    /// A tree on a base that moves along a script: its pose is part of the configuration, its velocity of the velocities.
    #[must_use]
    pub fn with_scripted_base(model: Arc<Model>) -> Self {
        Self { scripted_base: true, ..Self::new(model, Pose::default()) }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Poses and factorisation at the configuration last prepared.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.ws
    }

    fn check_prepared(&self) -> Result<(), DynamicsError> {
        if self.ws.factored && self.ws.posed { Ok(()) } else { Err(DynamicsError::NotPrepared) }
    }

    /// The entry as an impulse at the link origin in link axes.
    fn localize(&self, e: &Entry) -> Result<LinkImpulse, DynamicsError> {
        let slot = crate::algorithm::jacobian::check_link(&self.model, e.part.0)?;
        let at_origin = e.wrench.shifted(-e.point);
        Ok(LinkImpulse {
            row: e.row,
            link: e.part.0,
            impulse: self.ws.world_from_link[slot].inverse_force(at_origin),
        })
    }

    fn write_response(&self, y: &mut [f64], motion: &mut [f64]) {
        // The motions of the links live in the caller's scratch, six numbers each.
        let at = |m: &[f64], slot: usize| {
            Motion::new(
                DVec3::new(m[6 * slot], m[6 * slot + 1], m[6 * slot + 2]),
                DVec3::new(m[6 * slot + 3], m[6 * slot + 4], m[6 * slot + 5]),
            )
        };
        for (i, link) in self.model.links.iter().enumerate() {
            let mut a = self.ws.parent_from_link[i].inverse_motion(at(motion, link.parent_slot));
            for k in link.v..link.v_end {
                y[k] = (y[k] - self.ws.u_column[k].dot(a)) * self.ws.d_inv[k];
                a += self.ws.axes[k] * y[k];
            }
            motion[6 * (i + 1)..6 * (i + 2)].copy_from_slice(&a.to_array());
        }
    }
}

impl VelocitySystem for TreeSystem {
    fn velocity_len(&self) -> usize {
        self.model.v_len() + if self.scripted_base { 6 } else { 0 }
    }

    fn configuration_len(&self) -> usize {
        self.model.q_len() + if self.scripted_base { 7 } else { 0 }
    }

    fn part_count(&self) -> usize {
        self.model.link_count()
    }

    fn prepare(&mut self, q: &[f64]) -> Result<(), DynamicsError> {
        self.ws.factored = false;
        check_len("configuration", q.len(), self.configuration_len())?;
        check_finite("coordinate", q)?;
        let (joints, base) = q.split_at(self.model.q_len());
        if let &[x, y, z, qx, qy, qz, qw] = base {
            let rotation = DQuat::from_xyzw(qx, qy, qz, qw);
            let length = rotation.length();
            let usable = length > 1e-100;
            if !usable {
                return Err(DynamicsError::NonFinite {
                    what: "inverse of the quaternion at",
                    index: joints.len() + 3,
                    value: 1.0 / length,
                });
            }
            self.state.base.world_from_base = Pose::new(DVec3::new(x, y, z), rotation * (1.0 / length));
        }
        self.state.q.copy_from_slice(joints);
        factorize(&self.model, joints, &mut self.ws)?;
        // The poses are placed from the same X and do not disturb the factorisation.
        let ws = &mut self.ws;
        ws.world_from_link[0] = SpatialTransform::from_pose(&self.state.base.world_from_base);
        for (i, link) in self.model.links.iter().enumerate() {
            ws.world_from_link[i + 1] = ws.world_from_link[link.parent_slot] * ws.parent_from_link[i];
        }
        ws.posed = true;
        Ok(())
    }

    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        self.check_prepared()?;
        check_len("velocities", v.len(), self.velocity_len())?;
        let (joints, base) = v.split_at(self.model.v_len());
        for (entry, e) in rows.iter().enumerate() {
            let slots = out.len();
            let Some(out) = out.get_mut(e.row as usize) else {
                return Err(DynamicsError::UnknownRow { entry, row: e.row, rows: slots });
            };
            let local = self.localize(e)?;
            // Power of the wrench: carry it to the base and collect it at each joint it meets.
            let (mut f, mut slot) = (local.impulse, local.link as usize + 1);
            while slot > 0 {
                let data = &self.model.links[slot - 1];
                for k in data.v..data.v_end {
                    *out += self.ws.axes[k].dot(f) * joints[k];
                }
                f = self.ws.parent_from_link[slot - 1].force(f);
                slot = data.parent_slot;
            }
            for (b, f) in base.iter().zip(f.to_array()) {
                *out += b * f;
            }
        }
        Ok(())
    }

    fn response(
        &self,
        rows: &[Entry],
        scratch: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError> {
        self.check_prepared()?;
        let nv = self.model.v_len();
        let count = out.count();
        if count > 0 {
            check_len("column", out.column_len(), self.velocity_len())?;
        }
        out.clear();
        for (entry, e) in rows.iter().enumerate() {
            if e.row as usize >= count {
                return Err(DynamicsError::UnknownRow { entry, row: e.row, rows: count });
            }
            let local = LinkImpulse { row: 0, ..self.localize(e)? };
            add_taken(&self.model, &self.ws, &[local], &mut out.column(e.row as usize)[..nv])?;
        }
        let motion = scratch.zeroed(6 * (self.model.link_count() + 1));
        for row in 0..count {
            self.write_response(&mut out.column(row)[..nv], motion);
        }
        Ok(())
    }

    fn dof_response(&self, dof: u32, scratch: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
        self.check_prepared()?;
        check_len("response", out.len(), self.velocity_len())?;
        if dof as usize >= out.len() {
            return Err(DynamicsError::UnknownDof { dof, count: out.len() });
        }
        out.fill(0.0);
        let nv = self.model.v_len();
        // The base follows its script whatever pushes it.
        let Some(link) = self.model.dof_link(dof) else { return Ok(()) };
        let motion = scratch.zeroed(6 * (self.model.link_count() + 1));
        crate::algorithm::impulse::take_up_joint(
            &self.model,
            &self.ws,
            link as usize,
            dof as usize,
            &mut out[..nv],
        );
        self.write_response(&mut out[..nv], motion);
        Ok(())
    }
}
