//! The pool of free bodies as a velocity system.
//!
//! # Reference
//!
//! Newton and Euler; Fontijne (2000), section 3.4.2.
//!
//! # Symbols
//!
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | `q` | per body: position x y z, quaternion x y z w | world | m |
//! | `v` | per body: ω, then v of the centre of mass | world | rad/s, m/s |
//! | `arm` | contact point from the centre of mass | world | m |
//!
//! # Formula
//!
//! ```text
//! (J v)_row = n·ω + f·(v + ω × r)         M⁻¹ Jᵀ: Δω = I⁻¹ (n + r × f), Δv = f/m
//! ```
//!
//! # Cost
//!
//! O(entries) per call, plus clearing the columns; `prepare` is O(bodies). No allocation after the bodies are added.
//!
//! # Numerics
//!
//! Quaternions are normalised when read.
//!
//! # Failure
//!
//! [`DynamicsError`]: wrong lengths, unknown parts and rows, numbers that are not finite, use before `prepare`.
//!
//! # Tested by
//!
//! `the_pool_and_the_stub_tree_conform`, `systems_and_the_direct_formula_agree`

use crate::model::PrincipalMass;
use sim_math::{
    glam::{DMat3, DQuat, DVec3},
    spatial::{Force, Motion},
};
use sim_traits::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};

/// Prepared at a configuration.
#[derive(Debug, Clone, Copy)]
struct Placed {
    center: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
}

/// Free, fixed and scripted bodies. Configuration: seven numbers per part; velocities: six per part, ω first, in world
/// axes at the centre of mass, in the order in which the parts were added. Fixed and scripted parts keep the velocities
/// that the caller gives them: nothing responds there.
///
/// ```
/// use rigid_impulse::{FreeBodies, PrincipalMass};
/// use sim_math::glam::DVec3;
/// use sim_traits::{Entry, VelocitySystem};
///
/// let mut pool = FreeBodies::default();
/// let ball = pool.add_free(PrincipalMass::ball(2.0, 0.1)?);
/// pool.prepare(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let up = [Entry::push(0, ball, DVec3::new(0.0, 0.0, 0.9), DVec3::Z)];
/// let mut velocity = [0.0];
/// pool.row_velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, -3.0], &up, &mut velocity)?;
/// assert_eq!(velocity, [-3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FreeBodies {
    /// `None` for a part that impulses do not move.
    masses: Vec<Option<PrincipalMass>>,
    placed: Vec<Placed>,
    prepared: bool,
}

impl FreeBodies {
    /// Numbers per part in a configuration.
    pub const Q: usize = 7;
    /// Numbers per part in a velocity.
    pub const V: usize = 6;

    /// Adds a free body.
    pub fn add_free(&mut self, mass: PrincipalMass) -> PartId {
        self.add(Some(mass))
    }

    /// Adds a body that impulses do not move: fixed, or scripted through its velocities.
    pub fn add_driven(&mut self) -> PartId {
        self.add(None)
    }

    fn add(&mut self, mass: Option<PrincipalMass>) -> PartId {
        let part = PartId(self.masses.len() as u32);
        self.masses.push(mass);
        self.placed.push(Placed { center: DVec3::ZERO, inverse_mass: 0.0, inverse_inertia: DMat3::ZERO });
        self.prepared = false;
        part
    }

    /// Mass properties of a part; `None` if it is not free or does not exist.
    #[must_use]
    pub fn mass(&self, part: PartId) -> Option<&PrincipalMass> {
        self.masses.get(part.index())?.as_ref()
    }

    /// Centre of mass (world, m), inverse mass (1/kg) and inverse inertia (world axes, 1/(kg·m²)) of a part as last
    /// prepared: for solvers that work on the pool directly.
    #[must_use]
    pub fn placed(&self, part: PartId) -> Option<(DVec3, f64, DMat3)> {
        let p = self.placed.get(part.index()).filter(|_| self.prepared)?;
        Some((p.center, p.inverse_mass, p.inverse_inertia))
    }

    fn check(&self, entries: &[Entry], rows: usize) -> Result<(), DynamicsError> {
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        let count = self.masses.len();
        for (n, entry) in entries.iter().enumerate() {
            if entry.part.index() >= count {
                return Err(DynamicsError::UnknownPart { part: entry.part, count });
            }
            if entry.row as usize >= rows {
                return Err(DynamicsError::UnknownRow { entry: n, row: entry.row, rows });
            }
        }
        Ok(())
    }

    fn check_len(&self, what: &'static str, got: usize) -> Result<(), DynamicsError> {
        let expected = self.velocity_len();
        if got == expected { Ok(()) } else { Err(DynamicsError::WrongLength { what, expected, got }) }
    }
}

impl Placed {
    /// Change of the six velocities by a wrench impulse at a point.
    #[inline]
    fn answer(&self, point: DVec3, wrench: Force) -> Motion {
        let arm = point - self.center;
        Motion::new(
            self.inverse_inertia * (wrench.moment + arm.cross(wrench.linear)),
            wrench.linear * self.inverse_mass,
        )
    }
}

impl VelocitySystem for FreeBodies {
    fn velocity_len(&self) -> usize {
        Self::V * self.masses.len()
    }

    fn configuration_len(&self) -> usize {
        Self::Q * self.masses.len()
    }

    fn part_count(&self) -> usize {
        self.masses.len()
    }

    fn prepare(&mut self, q: &[f64]) -> Result<(), DynamicsError> {
        self.prepared = false;
        let expected = self.configuration_len();
        if q.len() != expected {
            return Err(DynamicsError::WrongLength { what: "configuration", expected, got: q.len() });
        }
        if let Some((index, &value)) = q.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(DynamicsError::NonFinite { what: "configuration", index, value });
        }
        for (n, (numbers, mass)) in q.chunks_exact(Self::Q).zip(&self.masses).enumerate() {
            let rotation = DQuat::from_xyzw(numbers[3], numbers[4], numbers[5], numbers[6]);
            let length = rotation.length();
            if length < 1e-6 {
                return Err(DynamicsError::Singular { part: PartId(n as u32), pivot: length });
            }
            let center = DVec3::new(numbers[0], numbers[1], numbers[2]);
            let (inverse_mass, inverse_inertia) = mass.map_or((0.0, DMat3::ZERO), |m| {
                (1.0 / m.mass(), m.inverse_inertia(rotation * (1.0 / length)))
            });
            self.placed[n] = Placed { center, inverse_mass, inverse_inertia };
        }
        self.prepared = true;
        Ok(())
    }

    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        self.check(rows, out.len())?;
        self.check_len("velocities", v.len())?;
        for entry in rows {
            let part = entry.part.index();
            let w = &v[Self::V * part..][..Self::V];
            let motion = Motion::from_array([w[0], w[1], w[2], w[3], w[4], w[5]]);
            out[entry.row as usize] +=
                entry.wrench.dot(motion.shifted(entry.point - self.placed[part].center));
        }
        Ok(())
    }

    fn response(
        &self,
        rows: &[Entry],
        _scratch: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError> {
        self.check(rows, out.count())?;
        self.check_len("response column", out.column_len())?;
        out.clear();
        for entry in rows {
            let part = entry.part.index();
            let change = self.placed[part].answer(entry.point, entry.wrench).to_array();
            let column = &mut out.column(entry.row as usize)[Self::V * part..][..Self::V];
            column.iter_mut().zip(change).for_each(|(slot, x)| *slot += x);
        }
        Ok(())
    }

    fn dof_response(&self, dof: u32, _scratch: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        self.check_len("response", out.len())?;
        let (part, axis) = (dof as usize / Self::V, dof as usize % Self::V);
        let count = self.velocity_len();
        let placed = self.placed.get(part).ok_or(DynamicsError::UnknownDof { dof, count })?;
        let mut unit = [0.0; 6];
        unit[axis] = 1.0;
        let change = placed.answer(placed.center, Force::from_array(unit)).to_array();
        out.fill(0.0);
        out[Self::V * part..][..Self::V].copy_from_slice(&change);
        Ok(())
    }
}
