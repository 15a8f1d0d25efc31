//! The pool of free bodies as one velocity system: six velocities each, angular first, world axes at the centre.

use super::world::Inertia;
use sim_math::{
    glam::DVec3,
    spatial::{Force, Motion},
};
use sim_traits::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};

/// Free and fixed bodies. A configuration is seven numbers per body: position, then quaternion x, y, z, w.
#[derive(Debug, Clone)]
pub struct FreeBodies {
    /// (1/mass, 1/moment), both zero for a fixed body.
    inverse: Vec<(f64, f64)>,
    centers: Vec<DVec3>,
    prepared: bool,
}

impl FreeBodies {
    /// Numbers per body in a configuration.
    pub const Q: usize = 7;
    /// Numbers per body in a velocity.
    pub const V: usize = 6;

    /// From the inertia of each body; `None` for a fixed one.
    #[must_use]
    pub fn new(bodies: &[Option<Inertia>]) -> Self {
        let inverse =
            bodies.iter().map(|i| i.map_or((0.0, 0.0), |i| (1.0 / i.mass, 1.0 / i.moment))).collect();
        Self { inverse, centers: vec![DVec3::ZERO; bodies.len()], prepared: false }
    }

    fn part(&self, part: PartId) -> Result<(usize, DVec3), DynamicsError> {
        let count = self.centers.len();
        let center = self.centers.get(part.index()).ok_or(DynamicsError::UnknownPart { part, count })?;
        if self.prepared { Ok((part.index(), *center)) } else { Err(DynamicsError::NotPrepared) }
    }
}

/// Checks the length of an argument.
pub(super) fn check_len(what: &'static str, got: usize, expected: usize) -> Result<(), DynamicsError> {
    if got == expected { Ok(()) } else { Err(DynamicsError::WrongLength { what, expected, got }) }
}

/// Checks that numbers are finite.
pub(super) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), DynamicsError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(DynamicsError::NonFinite { what, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Checks that an entry's row exists.
pub(super) fn check_row(entry: usize, row: u32, rows: usize) -> Result<usize, DynamicsError> {
    let index = row as usize;
    if index < rows { Ok(index) } else { Err(DynamicsError::UnknownRow { entry, row, rows }) }
}

impl VelocitySystem for FreeBodies {
    fn velocity_len(&self) -> usize {
        Self::V * self.inverse.len()
    }

    fn configuration_len(&self) -> usize {
        Self::Q * self.inverse.len()
    }

    fn part_count(&self) -> usize {
        self.inverse.len()
    }

    fn prepare(&mut self, q: &[f64]) -> Result<(), DynamicsError> {
        self.prepared = false;
        check_len("configuration", q.len(), self.configuration_len())?;
        check_finite("configuration", q)?;
        for (center, q) in self.centers.iter_mut().zip(q.chunks_exact(Self::Q)) {
            *center = DVec3::new(q[0], q[1], q[2]);
        }
        self.prepared = true;
        Ok(())
    }

    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        check_len("velocities", v.len(), self.velocity_len())?;
        for (k, entry) in rows.iter().enumerate() {
            let row = check_row(k, entry.row, out.len())?;
            let (body, center) = self.part(entry.part)?;
            let v = &v[Self::V * body..][..Self::V];
            let motion = Motion::from_array([v[0], v[1], v[2], v[3], v[4], v[5]]);
            out[row] += entry.wrench.dot(motion.shifted(entry.point - center));
        }
        Ok(())
    }

    fn response(
        &self,
        rows: &[Entry],
        _: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError> {
        check_len("response column", out.column_len(), self.velocity_len())?;
        out.clear();
        for (k, entry) in rows.iter().enumerate() {
            let row = check_row(k, entry.row, out.count())?;
            let (body, center) = self.part(entry.part)?;
            let (inverse_mass, inverse_moment) = self.inverse[body];
            let at_center: Force = entry.wrench.shifted(center - entry.point);
            let delta = Motion::new(at_center.moment * inverse_moment, at_center.linear * inverse_mass);
            let column = &mut out.column(row)[Self::V * body..][..Self::V];
            column.iter_mut().zip(delta.to_array()).for_each(|(x, d)| *x += d);
        }
        Ok(())
    }

    fn dof_response(&self, dof: u32, _: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
        let count = self.velocity_len();
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        check_len("response", out.len(), count)?;
        let index = dof as usize;
        let (inverse_mass, inverse_moment) =
            *self.inverse.get(index / Self::V).ok_or(DynamicsError::UnknownDof { dof, count })?;
        out.fill(0.0);
        out[index] = if index % Self::V < 3 { inverse_moment } else { inverse_mass };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::testkit::velocity_system::{Bounds, conformance};

    fn pool() -> FreeBodies {
        let mut pool = FreeBodies::new(&[Some(Inertia { mass: 2.0, moment: 0.5 }), None]);
        let mut q = vec![0.0; 14];
        (q[0], q[6], q[13]) = (1.0, 1.0, 1.0);
        pool.prepare(&q).unwrap();
        pool
    }

    #[test]
    fn a_push_off_centre_moves_and_turns_the_body_but_not_the_fixed_one() {
        let pool = pool();
        // Push along +z at 0.3 m in +y of the centre (1, 0, 0): Δv = z/2, Δω = (0.3/0.5) x.
        let point = DVec3::new(1.0, 0.3, 0.0);
        let rows =
            [Entry::push(0, PartId(0), point, DVec3::Z), Entry::push(0, PartId(1), point, DVec3::NEG_Z)];
        let mut data = vec![f64::NAN; 12];
        pool.response(&rows, &mut Scratch::default(), &mut ColumnsMut::new(&mut data, 12).unwrap()).unwrap();
        assert_eq!(data, [0.6, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        // K along z is 1/m + r²/I.
        let mut k = [0.0];
        pool.row_velocities(&data, &rows, &mut k).unwrap();
        assert!((k[0] - (0.5 + 0.3 * 0.3 / 0.5)).abs() < 1e-15);
    }

    #[test]
    fn the_pool_conforms() {
        let mut q = vec![0.0; 14];
        (q[0], q[6], q[13]) = (1.0, 1.0, 1.0);
        conformance(&mut pool(), &q, &Bounds::default()).unwrap();
    }

    #[test]
    fn misuse_is_an_error_that_names_it() {
        let mut pool = pool();
        let unknown = [Entry::push(0, PartId(9), DVec3::ZERO, DVec3::Z)];
        let error = pool.row_velocities(&[0.0; 12], &unknown, &mut [0.0]).unwrap_err();
        assert_eq!(error.to_string(), "part 9 does not exist: the system has 2 parts");
        let far = [Entry::push(4, PartId(0), DVec3::ZERO, DVec3::Z)];
        let error = pool.row_velocities(&[0.0; 12], &far, &mut [0.0]).unwrap_err();
        assert_eq!(error.to_string(), "entry 0 names row 4, but there are 1 rows");
        assert!(pool.row_velocities(&[0.0; 3], &far, &mut [0.0]).is_err());
        assert!(pool.prepare(&[0.0; 3]).is_err());
        let known = [Entry::push(0, PartId(0), DVec3::ZERO, DVec3::Z)];
        let stale = pool.row_velocities(&[0.0; 12], &known, &mut [0.0]).unwrap_err();
        assert_eq!(stale, DynamicsError::NotPrepared);
        assert!(pool.dof_response(12, &mut Scratch::default(), &mut [0.0; 12]).is_err());
    }
}
