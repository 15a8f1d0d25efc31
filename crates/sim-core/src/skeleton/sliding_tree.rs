//! A stub tree of two sliding links, to prove that trees answer through the same seam as bodies.
//!
//! Link 0 slides along rail a by q₀, link 1 along rail b on link 0 by q₁, so their velocities are a v₀ and
//! a v₀ + b v₁, and with masses m₀, m₁ the mass matrix is constant:
//!
//! ```text
//! M = [ m₀ + m₁    m₁ a·b ]
//!     [ m₁ a·b     m₁     ]        det M = m₁ (m₀ + m₁ (1 − (a·b)²)) > 0
//! ```

use super::{
    free_bodies::{check_finite, check_len, check_row},
    world::Tree,
};
use sim_math::glam::{DMat2, DVec2, DVec3};
use sim_traits::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};

/// Two links, two velocities.
#[derive(Debug, Clone)]
pub struct SlidingTree {
    rails: [DVec3; 2],
    masses: [f64; 2],
    inverse_mass_matrix: DMat2,
    prepared: bool,
}

impl SlidingTree {
    /// From checked data.
    #[must_use]
    pub fn new(tree: &Tree) -> Self {
        let [m0, m1] = tree.masses;
        let coupling = m1 * tree.rails[0].dot(tree.rails[1]);
        let mass_matrix = DMat2::from_cols(DVec2::new(m0 + m1, coupling), DVec2::new(coupling, m1));
        Self {
            rails: tree.rails,
            masses: tree.masses,
            inverse_mass_matrix: mass_matrix.inverse(),
            prepared: false,
        }
    }

    /// Joint accelerations under gravity: M⁻¹ (a·g (m₀ + m₁), b·g m₁).
    #[must_use]
    pub fn acceleration(&self, gravity: DVec3) -> DVec2 {
        let [m0, m1] = self.masses;
        let force = DVec2::new(self.rails[0].dot(gravity) * (m0 + m1), self.rails[1].dot(gravity) * m1);
        self.inverse_mass_matrix * force
    }

    /// ½ vᵀ M v, J.
    #[must_use]
    pub fn kinetic_energy(&self, v: DVec2) -> f64 {
        let link_1 = self.rails[0] * v.x + self.rails[1] * v.y;
        0.5 * self.masses[0] * v.x * v.x + 0.5 * self.masses[1] * link_1.length_squared()
    }

    /// Row of the Jacobian: how fast a push on a link moves along per unit joint velocities.
    fn jacobian(&self, entry: &Entry) -> Result<DVec2, DynamicsError> {
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        let along = |rail: DVec3| entry.wrench.linear.dot(rail);
        match entry.part {
            PartId(0) => Ok(DVec2::new(along(self.rails[0]), 0.0)),
            PartId(1) => Ok(DVec2::new(along(self.rails[0]), along(self.rails[1]))),
            part => Err(DynamicsError::UnknownPart { part, count: 2 }),
        }
    }
}

impl VelocitySystem for SlidingTree {
    fn velocity_len(&self) -> usize {
        2
    }

    fn configuration_len(&self) -> usize {
        2
    }

    fn part_count(&self) -> usize {
        2
    }

    fn prepare(&mut self, q: &[f64]) -> Result<(), DynamicsError> {
        self.prepared = false;
        check_len("configuration", q.len(), 2)?;
        check_finite("configuration", q)?;
        self.prepared = true;
        Ok(())
    }

    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        check_len("velocities", v.len(), 2)?;
        for (k, entry) in rows.iter().enumerate() {
            let row = check_row(k, entry.row, out.len())?;
            out[row] += self.jacobian(entry)?.dot(DVec2::new(v[0], v[1]));
        }
        Ok(())
    }

    fn response(
        &self,
        rows: &[Entry],
        _: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError> {
        check_len("response column", out.column_len(), 2)?;
        out.clear();
        for (k, entry) in rows.iter().enumerate() {
            let row = check_row(k, entry.row, out.count())?;
            let delta = self.inverse_mass_matrix * self.jacobian(entry)?;
            out.column(row).iter_mut().zip(delta.to_array()).for_each(|(x, d)| *x += d);
        }
        Ok(())
    }

    fn dof_response(&self, dof: u32, _: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        check_len("response", out.len(), 2)?;
        let column = match dof {
            0 => self.inverse_mass_matrix.x_axis,
            1 => self.inverse_mass_matrix.y_axis,
            _ => return Err(DynamicsError::UnknownDof { dof, count: 2 }),
        };
        out.copy_from_slice(&column.to_array());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::{
        Sphere,
        testkit::velocity_system::{Bounds, conformance},
    };

    #[test]
    fn the_tree_conforms() {
        let ball = Sphere::new(0.1).unwrap();
        let tree = Tree {
            anchors: [DVec3::ZERO; 2],
            rails: [DVec3::X, DVec3::new(0.6, 0.0, 0.8)],
            masses: [2.0, 0.5],
            shapes: [ball.into(), ball.into()],
            q: [0.0; 2],
            v: [0.0; 2],
            restitution: 1.0,
        };
        conformance(&mut SlidingTree::new(&tree), &[0.3, -0.2], &Bounds::default()).unwrap();
    }
}
