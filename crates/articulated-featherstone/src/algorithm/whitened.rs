//! Coordinates x of a tree in which its kinetic energy is ½|x|²: what solvers of contacts and joints see of it.
//!
//! # Reference
//! Featherstone (2008), sections 6.4 and 7.3, for the factors that the articulated-body elimination leaves.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | M | mass matrix with rotor inertias, and what joints add to its diagonal: h c + h² k of dampers and springs | |
//! | L, D | M = Lᵀ D L, L with ones on its diagonal | |
//! | `r` | D^-½, one number per velocity | |
//! | `u` | Ũ = r Iᴬ S: the column of a joint, whitened | link |
//! | Y | D^-½ L⁻ᵀ Jᵀ: rows of a contact or joint | |
//! | x | change of the velocities, v⁺ = v + L⁻¹ D^-½ x | |
//!
//! # Formula
//! ```text
//! row        f = unit wrench at the link;   per velocity on the path, tip to root:  y = r S·f,  f −= Ũ y
//! forces     per velocity, tip to root:  x = r (τ − S·p),  p += Ũ x;   p starts as −(force on the link)
//! velocity   per velocity, root to tip:  e = r (x − Ũ·a),  a += S e,  v += e
//! J M⁻¹ Jᵀ = Yᵀ Y,    ½ vᵀ M v = ½ |x|²
//! ```
//!
//! # Cost
//! One elimination, O(n); a row costs its path, about 40 multiplications per velocity for three pushes.
//!
//! # Numerics
//! Frames are those of the links, so that the place in the world does not matter. `YᵀY` is symmetric and not negative by construction.
//!
//! # Failure
//! [`DynamicsError::Singular`] naming the link, as in [`crate::factorize`].
//!
//! # Tested by
//! `whitened_rows_are_the_contact_matrix`, `whitened_forces_and_velocities_undo_the_mass_matrix`

use super::{
    aba::{eliminate, pass_inertia},
    check_len,
    kinematics::place_all,
};
use crate::{Model, Workspace, state::check_finite};
use sim_math::{
    glam::DVec3,
    spatial::{Force, Motion, SpatialTransform},
};
use sim_traits::DynamicsError;

/// Factors of the mass matrix of a tree at one configuration.
#[derive(Debug, Clone)]
pub struct Whitened {
    parent_from_link: Vec<SpatialTransform>,
    axes: Vec<Motion>,
    u: Vec<Force>,
    r: Vec<f64>,
    diagonal: Vec<f64>,
    /// Velocities on the path from the base to each link, its own included.
    path_len: Vec<u32>,
    forces: Vec<Force>,
    motions: Vec<Motion>,
}

impl Whitened {
    /// Memory for a model.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let (n, nv) = (model.link_count(), model.v_len());
        let mut path_len = vec![0; n + 1];
        for (i, link) in model.links.iter().enumerate() {
            path_len[i + 1] = path_len[link.parent_slot] + (link.v_end - link.v) as u32;
        }
        Self {
            parent_from_link: vec![SpatialTransform::IDENTITY; n],
            axes: vec![Motion::ZERO; nv],
            u: vec![Force::ZERO; nv],
            r: vec![0.0; nv],
            diagonal: vec![0.0; nv],
            path_len,
            forces: vec![Force::ZERO; n + 1],
            motions: vec![Motion::ZERO; n + 1],
        }
    }

    /// Factors M at configuration `q`; `extra` is what is added to its diagonal, not negative, or empty.
    ///
    /// # Errors
    /// Wrong length, a number that is not finite or negative, [`DynamicsError::Singular`] naming the link.
    pub fn factor(
        &mut self,
        model: &Model,
        q: &[f64],
        extra: &[f64],
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        self.check(model)?;
        place_all(model, q, ws)?;
        self.diagonal.copy_from_slice(&model.armature);
        if !extra.is_empty() {
            check_len("additions to the diagonal", extra.len(), model.v_len())?;
            check_finite("addition to the diagonal", extra)?;
            if let Some(index) = extra.iter().position(|d| *d < 0.0) {
                let value = extra[index];
                return Err(DynamicsError::NonFinite {
                    what: "root of an addition to the diagonal",
                    index,
                    value,
                });
            }
            self.diagonal.iter_mut().zip(extra).for_each(|(d, e)| *d += e);
        }
        for (i, link) in model.links.iter().enumerate() {
            ws.articulated[i + 1] = link.inertia.into();
            ws.noise[i + 1] = [0.0; 2];
        }
        for (i, link) in model.links.iter().enumerate().rev() {
            let inertia = eliminate(&self.diagonal, i, link, ws)?;
            if link.parent_slot > 0 {
                pass_inertia(i, link, &inertia, ws);
            }
        }
        self.parent_from_link.copy_from_slice(&ws.parent_from_link);
        self.axes.copy_from_slice(&ws.axes);
        for k in 0..model.v_len() {
            self.r[k] = ws.d_inv[k].sqrt();
            self.u[k] = ws.u_column[k] * self.r[k];
        }
        Ok(())
    }

    /// D of a velocity: the inertia that moves with its joint when those beyond it are free.
    #[must_use]
    pub fn pivot(&self, dof: usize) -> f64 {
        self.r.get(dof).map_or(0.0, |r| 1.0 / (r * r))
    }

    /// Velocities on the path from the base to a link.
    #[must_use]
    pub fn path_len(&self, link: u32) -> usize {
        self.path_len.get(link as usize + 1).map_or(0, |n| *n as usize)
    }

    /// Appends three rows on a link, root first: the velocities on its path and Y beside them. `pushes` are unit wrenches at the origin of the link in
    /// link axes.
    ///
    /// # Errors
    /// There is no such link.
    pub fn rows(
        &self,
        model: &Model,
        link: u32,
        mut pushes: [Force; 3],
        dofs: &mut Vec<u32>,
        paths: &mut Vec<DVec3>,
    ) -> Result<(), DynamicsError> {
        if link as usize >= model.links.len() {
            let part = sim_traits::PartId(link);
            return Err(DynamicsError::UnknownPart { part, count: model.links.len() });
        }
        let first = paths.len();
        let count = self.path_len(link);
        dofs.resize(first + count, 0);
        paths.resize(first + count, DVec3::ZERO);
        let (mut at, mut i) = (first + count, link as usize);
        loop {
            let data = &model.links[i];
            for k in (data.v..data.v_end).rev() {
                let s = self.axes[k];
                let y = pushes.map(|f| self.r[k] * s.dot(f));
                for (f, y) in pushes.iter_mut().zip(y) {
                    *f -= self.u[k] * y;
                }
                at -= 1;
                (dofs[at], paths[at]) = (k as u32, DVec3::from_array(y));
            }
            if data.parent_slot == 0 {
                break;
            }
            pushes = pushes.map(|f| self.parent_from_link[i].force(f));
            i = data.parent_slot - 1;
        }
        Ok(())
    }

    /// Appends the path of one velocity, root first; its row is in each column of `columns` by that factor.
    ///
    /// # Errors
    /// There is no such velocity.
    pub fn dof_rows(
        &self,
        model: &Model,
        dof: u32,
        columns: DVec3,
        dofs: &mut Vec<u32>,
        paths: &mut Vec<DVec3>,
    ) -> Result<(), DynamicsError> {
        let Some(link) = model.dof_link(dof) else {
            return Err(DynamicsError::UnknownDof { dof, count: model.v_len() });
        };
        let (first, mut i) = (paths.len(), link as usize);
        let data = &model.links[i];
        let mut push = Force::ZERO;
        for k in (data.v..=dof as usize).rev() {
            let direct = if k == dof as usize { 1.0 } else { 0.0 };
            let y = self.r[k] * (direct + self.axes[k].dot(push));
            push -= self.u[k] * y;
            dofs.push(k as u32);
            paths.push(columns * y);
        }
        let mut slot = data.parent_slot;
        while slot > 0 {
            push = self.parent_from_link[i].force(push);
            i = slot - 1;
            let data = &model.links[i];
            for k in (data.v..data.v_end).rev() {
                let y = self.r[k] * self.axes[k].dot(push);
                push -= self.u[k] * y;
                dofs.push(k as u32);
                paths.push(columns * y);
            }
            slot = data.parent_slot;
        }
        dofs[first..].reverse();
        paths[first..].reverse();
        Ok(())
    }

    /// Writes x = D^-½ L⁻ᵀ (τ + Jᵀ f): what joint forces and forces on links (at their origins, link axes; or none) make of the velocities.
    ///
    /// # Errors
    /// Wrong length.
    pub fn forces(
        &mut self,
        model: &Model,
        tau: &[f64],
        on_links: &[Force],
        x: &mut [f64],
    ) -> Result<(), DynamicsError> {
        self.check(model)?;
        check_len("joint forces", tau.len(), model.v_len())?;
        check_len("coordinates of the tree", x.len(), model.v_len())?;
        self.forces[0] = Force::ZERO;
        if on_links.is_empty() {
            self.forces.fill(Force::ZERO);
        } else {
            check_len("forces on links", on_links.len(), model.links.len())?;
            self.forces[1..].iter_mut().zip(on_links).for_each(|(p, f)| *p = -*f);
        }
        for (i, link) in model.links.iter().enumerate().rev() {
            let mut p = self.forces[i + 1];
            for k in (link.v..link.v_end).rev() {
                x[k] = self.r[k] * (tau[k] - self.axes[k].dot(p));
                p += self.u[k] * x[k];
            }
            let to_parent = self.parent_from_link[i].force(p);
            self.forces[link.parent_slot] += to_parent;
        }
        Ok(())
    }

    /// Adds L⁻¹ D^-½ x to the velocities.
    ///
    /// # Errors
    /// Wrong length.
    pub fn add_velocity(&mut self, model: &Model, x: &[f64], v: &mut [f64]) -> Result<(), DynamicsError> {
        self.check(model)?;
        check_len("coordinates of the tree", x.len(), model.v_len())?;
        check_len("velocities", v.len(), model.v_len())?;
        self.motions[0] = Motion::ZERO;
        for (i, link) in model.links.iter().enumerate() {
            let mut a = self.parent_from_link[i].inverse_motion(self.motions[link.parent_slot]);
            for k in link.v..link.v_end {
                let e = self.r[k] * (x[k] - self.u[k].dot(a));
                a += self.axes[k] * e;
                v[k] += e;
            }
            self.motions[i + 1] = a;
        }
        Ok(())
    }

    /// Velocities of the links for joint velocities `v` on a base at rest: at the link origins, link axes.
    ///
    /// # Errors
    /// Wrong length.
    pub fn link_velocities(&mut self, model: &Model, v: &[f64]) -> Result<&[Motion], DynamicsError> {
        self.check(model)?;
        check_len("velocities", v.len(), model.v_len())?;
        self.motions[0] = Motion::ZERO;
        for (i, link) in model.links.iter().enumerate() {
            let mut a = self.parent_from_link[i].inverse_motion(self.motions[link.parent_slot]);
            for k in link.v..link.v_end {
                a += self.axes[k] * v[k];
            }
            self.motions[i + 1] = a;
        }
        Ok(&self.motions[1..])
    }

    fn check(&self, model: &Model) -> Result<(), DynamicsError> {
        check_len("factors of links", self.parent_from_link.len(), model.links.len())?;
        check_len("factors of velocities", self.r.len(), model.v_len())
    }
}
