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
//! | `v` | per free body: ω, then v of the centre of mass | world | rad/s, m/s |
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
//! The conformance kit `sim_traits::testkit::velocity_system`, `the_pool_answers_like_single_bodies`

use crate::body::MassProperties;
use sim_math::{
    glam::{DMat3, DQuat, DVec3},
    spatial::{Force, Motion},
};
use sim_traits::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};

/// What a part of the pool is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// First of its six velocities.
    Free { mass: MassProperties, dof: usize },
    /// Its prescribed motion: zero for a fixed body.
    Driven { motion: Motion },
}

/// Prepared at a configuration.
#[derive(Debug, Clone, Copy)]
struct Placed {
    center: DVec3,
    inverse_inertia: DMat3,
}

/// Free, fixed and scripted bodies. Configuration: seven numbers per part; velocities: six per free part, ω first, in
/// world axes at the centre of mass, in the order in which the parts were added.
///
/// ```
/// use rigid_impulse::{FreeBodies, MassProperties};
/// use sim_math::glam::DVec3;
/// use sim_traits::{Entry, VelocitySystem};
///
/// let mut pool = FreeBodies::default();
/// let ball = pool.add_free(MassProperties::ball(2.0, 0.1)?);
/// pool.prepare(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let up = [Entry::push(0, ball, DVec3::new(0.0, 0.0, 0.9), DVec3::Z)];
/// let mut velocity = [0.0];
/// pool.row_velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, -3.0], &up, &mut velocity)?;
/// assert_eq!(velocity, [-3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FreeBodies {
    kinds: Vec<Kind>,
    placed: Vec<Placed>,
    dofs: usize,
    prepared: bool,
}

impl FreeBodies {
    /// Adds a free body.
    pub fn add_free(&mut self, mass: MassProperties) -> PartId {
        let dof = self.dofs;
        self.dofs += 6;
        self.add(Kind::Free { mass, dof })
    }

    /// Adds a body that never moves.
    pub fn add_fixed(&mut self) -> PartId {
        self.add(Kind::Driven { motion: Motion::ZERO })
    }

    /// Adds a body that moves by script: its motion is that of its origin, world axes.
    pub fn add_scripted(&mut self, motion: Motion) -> PartId {
        self.add(Kind::Driven { motion })
    }

    fn add(&mut self, kind: Kind) -> PartId {
        let part = PartId(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.placed.push(Placed { center: DVec3::ZERO, inverse_inertia: DMat3::ZERO });
        self.prepared = false;
        part
    }

    /// Changes the motion of a scripted (or fixed) body.
    ///
    /// # Errors
    /// No such part, a free part, or a motion that is not finite.
    pub fn set_motion(&mut self, part: PartId, motion: Motion) -> Result<(), DynamicsError> {
        if let Some((index, value)) = motion.to_array().into_iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(DynamicsError::NonFinite { what: "scripted motion", index, value });
        }
        let count = self.kinds.len();
        match self.kinds.get_mut(part.index()) {
            Some(Kind::Driven { motion: slot }) => {
                *slot = motion;
                Ok(())
            }
            _ => Err(DynamicsError::UnknownPart { part, count }),
        }
    }

    /// Mass properties of a free part, and the first of its six velocities.
    #[must_use]
    pub fn free_part(&self, part: PartId) -> Option<(&MassProperties, usize)> {
        match self.kinds.get(part.index()) {
            Some(Kind::Free { mass, dof }) => Some((mass, *dof)),
            _ => None,
        }
    }

    /// Centre of mass of a part as prepared, world, metres.
    #[must_use]
    pub fn center(&self, part: PartId) -> Option<DVec3> {
        self.placed.get(part.index()).map(|p| p.center)
    }

    fn check(&self, entries: &[Entry], rows: usize) -> Result<(), DynamicsError> {
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        for (n, entry) in entries.iter().enumerate() {
            if entry.part.index() >= self.kinds.len() {
                return Err(DynamicsError::UnknownPart { part: entry.part, count: self.kinds.len() });
            }
            if entry.row as usize >= rows {
                return Err(DynamicsError::UnknownRow { entry: n, row: entry.row, rows });
            }
        }
        Ok(())
    }

    fn check_velocities(&self, v: &[f64]) -> Result<(), DynamicsError> {
        if v.len() == self.dofs {
            Ok(())
        } else {
            Err(DynamicsError::WrongLength { what: "velocities", expected: self.dofs, got: v.len() })
        }
    }

    fn add_rows(&self, v: &[f64], rows: &[Entry], out: &mut [f64], driven: bool) -> Result<(), DynamicsError> {
        self.check(rows, out.len())?;
        self.check_velocities(v)?;
        for entry in rows {
            let motion = match self.kinds[entry.part.index()] {
                Kind::Free { dof, .. } => {
                    let w = &v[dof..dof + 6];
                    Motion::from_array([w[0], w[1], w[2], w[3], w[4], w[5]])
                }
                Kind::Driven { motion } if driven => motion,
                Kind::Driven { .. } => continue,
            };
            let arm = entry.point - self.placed[entry.part.index()].center;
            out[entry.row as usize] += entry.wrench.dot(motion.shifted(arm));
        }
        Ok(())
    }

    /// Change of the six velocities of a free part by a wrench impulse at a point.
    fn answer(&self, part: usize, mass: &MassProperties, point: DVec3, wrench: Force) -> Motion {
        let placed = &self.placed[part];
        let arm = point - placed.center;
        Motion::new(
            placed.inverse_inertia * (wrench.moment + arm.cross(wrench.linear)),
            wrench.linear / mass.mass(),
        )
    }
}

impl VelocitySystem for FreeBodies {
    fn dof_count(&self) -> usize {
        self.dofs
    }

    fn configuration_len(&self) -> usize {
        7 * self.kinds.len()
    }

    fn part_count(&self) -> usize {
        self.kinds.len()
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
        for (n, (numbers, kind)) in q.chunks_exact(7).zip(&self.kinds).enumerate() {
            let rotation = DQuat::from_xyzw(numbers[3], numbers[4], numbers[5], numbers[6]);
            let length = rotation.length();
            if length < 1e-6 {
                return Err(DynamicsError::Singular { part: PartId(n as u32), pivot: length });
            }
            let inverse_inertia = match kind {
                Kind::Free { mass, .. } => mass.inverse_inertia(rotation * (1.0 / length)),
                Kind::Driven { .. } => DMat3::ZERO,
            };
            let center = DVec3::new(numbers[0], numbers[1], numbers[2]);
            self.placed[n] = Placed { center, inverse_inertia };
        }
        self.prepared = true;
        Ok(())
    }

    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        self.add_rows(v, rows, out, true)
    }

    fn row_dot(&self, delta: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        self.add_rows(delta, rows, out, false)
    }

    fn response(
        &self,
        rows: &[Entry],
        _scratch: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError> {
        self.check(rows, out.count())?;
        if out.column_len() != self.dofs {
            return Err(DynamicsError::WrongLength {
                what: "response column",
                expected: self.dofs,
                got: out.column_len(),
            });
        }
        out.clear();
        for entry in rows {
            let part = entry.part.index();
            if let Kind::Free { mass, dof } = &self.kinds[part] {
                let change = self.answer(part, mass, entry.point, entry.wrench).to_array();
                let column = out.column(entry.row as usize);
                for (slot, x) in column[*dof..*dof + 6].iter_mut().zip(change) {
                    *slot += x;
                }
            }
        }
        Ok(())
    }

    fn dof_response(&self, dof: u32, _scratch: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        if out.len() != self.dofs {
            return Err(DynamicsError::WrongLength { what: "response", expected: self.dofs, got: out.len() });
        }
        let dof = dof as usize;
        if dof >= self.dofs {
            return Err(DynamicsError::WrongLength { what: "degrees of freedom", expected: self.dofs, got: dof });
        }
        out.fill(0.0);
        let first = dof - dof % 6;
        let mut unit = [0.0; 6];
        unit[dof % 6] = 1.0;
        for (part, kind) in self.kinds.iter().enumerate() {
            if let Kind::Free { mass, dof } = kind {
                if *dof == first {
                    let change = self.answer(part, mass, self.placed[part].center, Force::from_array(unit));
                    out[first..first + 6].copy_from_slice(&change.to_array());
                }
            }
        }
        Ok(())
    }
}
