//! The collision matrix of a contact, and one collision from velocities to velocities.
//!
//! # Reference
//!
//! Mirtich (1996), sections 3.2.1 and 5.3; Fontijne (2000), section 3.4.3. For two links of one tree the cross terms,
//! which the sum `K_1` + `K_2` misses, come from pushing both links in one row.
//!
//! # Symbols
//!
//! | code | paper | meaning | frame | unit |
//! |---|---|---|---|---|
//! | `frame` | - | contact point and axes, z the normal from B to A | world | m |
//! | K | K | velocity change per impulse | contact | 1/kg |
//!
//! # Formula
//!
//! ```text
//! K = J M⁻¹ Jᵀ,  J: three rows, unit pushes on A along the axes and opposite ones on B
//! free bodies: K = (1/m_A + 1/m_B) 1 − r̃_A I_A⁻¹ r̃_A − r̃_B I_B⁻¹ r̃_B
//! v += M⁻¹ Jᵀ p
//! ```
//!
//! # Cost
//!
//! One `response` call and one `row_velocities` per axis and system; no allocation once the workspace has grown.
//!
//! # Numerics
//!
//! The two off-diagonal numbers of each pair are averaged: K is symmetric to the bit.
//!
//! # Failure
//!
//! What the systems and the law report.
//!
//! # Tested by
//!
//! `systems_and_the_direct_formula_agree`, `two_links_of_one_tree_feel_each_other`, `momentum_is_conserved`

use crate::{
    body::{Body, BodyState},
    model::BodyModel,
};
use sim_math::{
    MathError,
    glam::{DMat3, DVec3},
    rotation::frame_from_normal,
};
use sim_traits::{
    ColumnsMut, DynamicsError, Entry, Impact, ImpactError, ImpactLaw, PartId, Scratch, VelocitySystem,
};
use thiserror::Error;

/// Where two bodies touch: the point, and axes whose third is the normal from B to A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactFrame {
    /// Contact point, world, metres.
    pub point: DVec3,
    /// Columns: two tangents and the normal, world axes.
    pub axes: DMat3,
}

impl ContactFrame {
    /// Frame from a point and a unit normal (from B to A). The tangents depend on the normal alone.
    ///
    /// # Errors
    /// The normal is not of unit length, or the point is not finite.
    pub fn new(point: DVec3, normal: DVec3) -> Result<Self, MathError> {
        MathError::check_finite("contact point", &point.to_array())?;
        Ok(Self { point, axes: frame_from_normal(normal)? })
    }

    /// A world vector in contact axes.
    #[inline]
    #[must_use]
    pub fn to_contact(&self, world: DVec3) -> DVec3 {
        self.axes.transpose() * world
    }

    /// A vector in contact axes as a world vector.
    #[inline]
    #[must_use]
    pub fn to_world(&self, contact: DVec3) -> DVec3 {
        self.axes * contact
    }
}

/// Which parts touch.
#[derive(Debug, Clone, Copy)]
pub enum Sides<'a> {
    /// Two parts of one system: two free bodies of the pool, two links of a tree.
    Same {
        /// The system of both.
        system: &'a dyn VelocitySystem,
        /// The part that the normal points to.
        a: PartId,
        /// The other part.
        b: PartId,
    },
    /// Parts of two systems.
    Two {
        /// System and part that the normal points to.
        a: (&'a dyn VelocitySystem, PartId),
        /// The other system and part.
        b: (&'a dyn VelocitySystem, PartId),
    },
}

/// Why a collision was not resolved.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum CollisionError {
    /// From a velocity system.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// From the impact law.
    #[error(transparent)]
    Impact(#[from] ImpactError),
}

/// A contact between parts of velocity systems.
#[derive(Debug, Clone, Copy)]
pub struct Contact<'a> {
    /// Which parts touch.
    pub sides: Sides<'a>,
    /// Where.
    pub frame: ContactFrame,
}

/// Memory of [`Contact`]: the responses of the systems to the three pushes.
#[derive(Debug, Clone, Default)]
pub struct CollisionWorkspace {
    scratch: Scratch,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Contact<'_> {
    fn rows(&self, part: PartId, sign: f64) -> [Entry; 3] {
        let axis =
            |row: u32| Entry::push(row, part, self.frame.point, self.frame.axes.col(row as usize) * sign);
        [axis(0), axis(1), axis(2)]
    }

    fn both_rows(&self, a: PartId, b: PartId) -> [Entry; 6] {
        let ([x, y, z], [u, v, w]) = (self.rows(a, 1.0), self.rows(b, -1.0));
        [x, y, z, u, v, w]
    }

    /// Collision matrix in contact axes, 1/kg. The workspace then holds what [`Contact::apply`] needs.
    ///
    /// # Errors
    /// What the systems report.
    pub fn matrix(&self, ws: &mut CollisionWorkspace) -> Result<DMat3, DynamicsError> {
        let CollisionWorkspace { scratch, a: columns_a, b: columns_b } = ws;
        let mut k = DMat3::ZERO;
        match self.sides {
            Sides::Same { system, a, b } => {
                add_half(system, &self.both_rows(a, b), scratch, columns_a, &mut k)?;
                columns_b.clear();
            }
            Sides::Two { a, b } => {
                add_half(a.0, &self.rows(a.1, 1.0), scratch, columns_a, &mut k)?;
                add_half(b.0, &self.rows(b.1, -1.0), scratch, columns_b, &mut k)?;
            }
        }
        Ok((k + k.transpose()) * 0.5)
    }

    /// Relative velocity `u_A` − `u_B` in contact axes, m/s. For parts of one system `v_b` is not read.
    ///
    /// # Errors
    /// What the systems report.
    pub fn velocity(&self, v_a: &[f64], v_b: &[f64]) -> Result<DVec3, DynamicsError> {
        let mut out = [0.0; 3];
        match self.sides {
            Sides::Same { system, a, b } => system.row_velocities(v_a, &self.both_rows(a, b), &mut out)?,
            Sides::Two { a, b } => {
                a.0.row_velocities(v_a, &self.rows(a.1, 1.0), &mut out)?;
                b.0.row_velocities(v_b, &self.rows(b.1, -1.0), &mut out)?;
            }
        }
        Ok(DVec3::from_array(out))
    }

    /// Adds the effect of an impulse on A (contact axes, N·s) to the velocities; [`Contact::matrix`] must have been called
    /// with this workspace at the present configuration.
    ///
    /// # Errors
    /// Velocities that do not have the length of the responses in the workspace.
    pub fn apply(
        &self,
        ws: &CollisionWorkspace,
        impulse: DVec3,
        v_a: &mut [f64],
        v_b: &mut [f64],
    ) -> Result<(), DynamicsError> {
        add_columns(&ws.a, impulse, v_a)?;
        if let Sides::Two { .. } = self.sides {
            add_columns(&ws.b, impulse, v_b)?;
        }
        Ok(())
    }

    /// Resolves one collision: collision matrix, law, velocities. Returns the impact and the impulse on A, both in contact
    /// axes. Parts that do not approach keep their velocities.
    ///
    /// # Errors
    /// What the systems and the law report.
    pub fn collide(
        &self,
        law: &dyn ImpactLaw,
        friction: f64,
        restitution: f64,
        ws: &mut CollisionWorkspace,
        v_a: &mut [f64],
        v_b: &mut [f64],
    ) -> Result<(Impact, DVec3), CollisionError> {
        let k = self.matrix(ws)?;
        let velocity = self.velocity(v_a, v_b)?;
        let impact = Impact { k, velocity, friction, restitution };
        let impulse = law.impulse(&impact)?;
        self.apply(ws, impulse, v_a, v_b)?;
        Ok((impact, impulse))
    }
}

/// Adds J M⁻¹ Jᵀ of one system to K; the responses stay in `columns`.
fn add_half(
    system: &dyn VelocitySystem,
    rows: &[Entry],
    scratch: &mut Scratch,
    columns: &mut Vec<f64>,
    k: &mut DMat3,
) -> Result<(), DynamicsError> {
    let n = system.velocity_len();
    columns.clear();
    columns.resize(3 * n, 0.0);
    if n == 0 {
        return Ok(());
    }
    system.response(rows, scratch, &mut ColumnsMut::new(columns, n)?)?;
    for (j, column) in columns.chunks_exact(n).enumerate() {
        let mut out = [0.0; 3];
        system.row_velocities(column, rows, &mut out)?;
        *k.col_mut(j) += DVec3::from_array(out);
    }
    Ok(())
}

fn add_columns(columns: &[f64], impulse: DVec3, v: &mut [f64]) -> Result<(), DynamicsError> {
    if columns.len() != 3 * v.len() {
        let expected = columns.len() / 3;
        return Err(DynamicsError::WrongLength { what: "velocities", expected, got: v.len() });
    }
    let n = v.len();
    for (i, slot) in v.iter_mut().enumerate() {
        *slot += columns[i] * impulse.x + columns[n + i] * impulse.y + columns[2 * n + i] * impulse.z;
    }
    Ok(())
}

/// Collision matrix of two single bodies by the direct formula, contact axes, 1/kg.
///
/// ```
/// use rigid_impulse::{Body, ContactFrame, PrincipalMass, pair_matrix};
/// use sim_math::{Pose, glam::{DMat3, DVec3}};
///
/// let ball = Body::free(PrincipalMass::ball(2.0, 0.5)?, Pose::from_translation(DVec3::Z * 0.5))?;
/// let ground = Body::fixed(Pose::IDENTITY)?;
/// let frame = ContactFrame::new(DVec3::ZERO, DVec3::Z)?;
/// let k = pair_matrix([&ball.model, &ground.model], [&ball.state, &ground.state], &frame);
/// assert_eq!(k, DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0) / 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pair_matrix(models: [&BodyModel; 2], states: [&BodyState; 2], frame: &ContactFrame) -> DMat3 {
    let half = |model: &BodyModel, state: &BodyState| {
        if model.inverse_mass() == 0.0 {
            return DMat3::ZERO;
        }
        // Columns: response of the contact point to unit impulses along the contact axes.
        let arm = frame.to_contact(frame.point - state.pose().translation);
        let inverse = frame.axes.transpose() * state.inverse_inertia(model) * frame.axes;
        let column = |axis: DVec3| (inverse * arm.cross(axis)).cross(arm);
        DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
            + DMat3::from_diagonal(DVec3::splat(model.inverse_mass()))
    };
    let k = half(models[0], states[0]) + half(models[1], states[1]);
    (k + k.transpose()) * 0.5
}

/// Resolves one collision of two single bodies; returns the impulse on A in world axes, N·s.
///
/// # Errors
/// What the law reports.
pub fn collide_pair(
    a: &mut Body,
    b: &mut Body,
    frame: &ContactFrame,
    law: &dyn ImpactLaw,
    friction: f64,
    restitution: f64,
) -> Result<DVec3, ImpactError> {
    let velocity = frame.to_contact(a.velocity_at(frame.point) - b.velocity_at(frame.point));
    let k = pair_matrix([&a.model, &b.model], [&a.state, &b.state], frame);
    let impulse = frame.to_world(law.impulse(&Impact { k, velocity, friction, restitution })?);
    a.apply_impulse(frame.point, impulse);
    b.apply_impulse(frame.point, -impulse);
    Ok(impulse)
}
