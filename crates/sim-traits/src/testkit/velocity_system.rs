//! Conformance of [`VelocitySystem`]s: response and rows belong together, symmetry, additivity, errors.

use super::SplitMix64;
use crate::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};
use sim_math::{glam::DVec3, spatial::Force};

/// What to demand.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Random sets of rows to try.
    pub count: u32,
    /// Largest error relative to the largest number involved.
    pub error: f64,
    /// Contact points lie within this distance of the origin, m.
    pub reach: f64,
    /// First number of the random stream.
    pub seed: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { count: 50, error: 1e-10, reach: 2.0, seed: 1 }
    }
}

/// Runs the kit at a valid configuration `q`; the first violation as text.
///
/// # Errors
/// What the system did wrong.
pub fn conformance(system: &mut dyn VelocitySystem, q: &[f64], bounds: &Bounds) -> Result<(), String> {
    preparation(system, q)?;
    system.prepare(q).map_err(|e| format!("valid configuration refused: {e}"))?;
    if system.part_count() == 0 {
        return Ok(());
    }
    let mut random = SplitMix64(bounds.seed);
    for n in 0..bounds.count {
        rows(system, &mut random, bounds).map_err(|e| format!("rows {n}: {e}"))?;
    }
    bad_input(system)
}

/// Each call of an unprepared system.
fn all_calls(system: &dyn VelocitySystem) -> [Result<(), DynamicsError>; 3] {
    let v = vec![0.0; system.velocity_len()];
    let mut column = v.clone();
    let mut scratch = Scratch::default();
    let rows = [Entry::push(0, PartId(0), DVec3::ZERO, DVec3::Z)];
    let response = match ColumnsMut::new(&mut column, v.len()) {
        Ok(mut columns) => system.response(&rows, &mut scratch, &mut columns),
        Err(e) => Err(e),
    };
    let dof = system.dof_response(0, &mut scratch, &mut column);
    [system.row_velocities(&v, &rows, &mut [0.0]), response, dof]
}

fn preparation(system: &mut dyn VelocitySystem, q: &[f64]) -> Result<(), String> {
    if q.len() != system.configuration_len() {
        return Err(format!("q has {} numbers, the system {}", q.len(), system.configuration_len()));
    }
    let mut long = q.to_vec();
    long.push(0.0);
    match system.prepare(&long) {
        Err(DynamicsError::WrongLength { .. }) => {}
        other => return Err(format!("configuration too long: expected WrongLength, got {other:?}")),
    }
    if system.part_count() == 0 || system.velocity_len() == 0 {
        return Ok(());
    }
    for result in all_calls(system) {
        if result != Err(DynamicsError::NotPrepared) {
            return Err(format!("not prepared, but got {result:?}"));
        }
    }
    for index in 0..q.len() {
        let mut bad = q.to_vec();
        bad[index] = f64::NAN;
        match system.prepare(&bad) {
            Err(DynamicsError::NonFinite { index: found, .. }) if found == index => {}
            other => return Err(format!("NaN at {index}: expected NonFinite there, got {other:?}")),
        }
        if all_calls(system).iter().any(Result::is_ok) {
            return Err("prepared after a failed prepare".to_owned());
        }
    }
    Ok(())
}

/// Columns of M⁻¹ Jᵀ.
fn response(system: &dyn VelocitySystem, entries: &[Entry], count: usize) -> Result<Vec<f64>, String> {
    let n = system.velocity_len();
    let mut columns = vec![f64::NAN; n * count];
    let mut scratch = Scratch::default();
    scratch.zeroed(7).fill(f64::NAN); // whatever it held must not matter
    let mut out = ColumnsMut::new(&mut columns, n).map_err(|e| e.to_string())?;
    system.response(entries, &mut scratch, &mut out).map_err(|e| e.to_string())?;
    Ok(columns)
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, y| m.max(y.abs()))
}

fn rows(system: &dyn VelocitySystem, random: &mut SplitMix64, bounds: &Bounds) -> Result<(), String> {
    const ROWS: usize = 4;
    let n = system.velocity_len();
    // Each row has two entries, perhaps on the same part.
    let entries: Vec<Entry> = (0..2 * ROWS)
        .map(|k| Entry {
            row: (k % ROWS) as u32,
            part: PartId(random.below(system.part_count()) as u32),
            point: random.vec3(bounds.reach),
            wrench: Force::new(random.vec3(1.0), random.vec3(1.0)),
        })
        .collect();
    let columns = response(system, &entries, ROWS)?;
    if columns.iter().any(|x| !x.is_finite()) {
        return Err("response is not finite".to_owned());
    }
    if columns != response(system, &entries, ROWS)? {
        return Err("two equal calls differ".to_owned());
    }
    let dot = |delta: &[f64]| -> Result<Vec<f64>, String> {
        let mut out = vec![0.0; ROWS];
        system.row_velocities(delta, &entries, &mut out).map_err(|e| e.to_string())?;
        Ok(out)
    };
    // J, number by number, and M⁻¹ from the degrees of freedom: together they must give the response.
    let mut scratch = Scratch::default();
    let mut expected = vec![0.0; n * ROWS];
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        let j = dot(&unit)?;
        let mut inverse = vec![f64::NAN; n];
        system.dof_response(k as u32, &mut scratch, &mut inverse).map_err(|e| e.to_string())?;
        for row in 0..ROWS {
            for i in 0..n {
                expected[row * n + i] += inverse[i] * j[row];
            }
        }
    }
    let scale = size(&columns).max(size(&expected)).max(1e-300);
    if columns.iter().zip(&expected).any(|(a, b)| (a - b).abs() > bounds.error * scale) {
        return Err(format!("response {columns:?} is not M⁻¹ Jᵀ = {expected:?}"));
    }
    // Symmetric and positive.
    let mut w = Vec::new();
    for column in columns.chunks(n.max(1)) {
        w.push(dot(column)?);
    }
    if n > 0 {
        let scale = w.iter().map(|r| size(r)).fold(1e-300, f64::max);
        for (i, row) in w.iter().enumerate() {
            if row[i] < -bounds.error * scale {
                return Err(format!("row {i} answers its own push by {}", row[i]));
            }
            for (j, other) in w.iter().enumerate().take(i) {
                if (row[j] - other[i]).abs() > bounds.error * scale {
                    return Err(format!("rows {i} and {j}: {} and {}", row[j], other[i]));
                }
            }
        }
    }
    additivity(system, &entries, &columns, random, bounds)
}

/// Entries of one row add up, rows are linear, and results are added to what is there.
fn additivity(
    system: &dyn VelocitySystem,
    entries: &[Entry],
    columns: &[f64],
    random: &mut SplitMix64,
    bounds: &Bounds,
) -> Result<(), String> {
    let n = system.velocity_len();
    let count = entries.len() / 2;
    let apart: Vec<Entry> = entries.iter().enumerate().map(|(k, e)| Entry { row: k as u32, ..*e }).collect();
    let single = response(system, &apart, entries.len())?;
    for row in 0..count {
        for i in 0..n {
            let sum = single[row * n + i] + single[(row + count) * n + i];
            if (sum - columns[row * n + i]).abs() > bounds.error * size(&single) {
                return Err(format!("entries of row {row} do not add up"));
            }
        }
    }
    let mut draw = || -> Vec<f64> { (0..n).map(|_| random.range(-1.0, 1.0)).collect() };
    let (v, w) = (draw(), draw());
    let velocities = |v: &[f64], start: f64| -> Result<Vec<f64>, String> {
        let mut out = vec![start; count];
        system.row_velocities(v, entries, &mut out).map_err(|e| e.to_string())?;
        Ok(out)
    };
    let both: Vec<f64> = v.iter().zip(&w).map(|(x, y)| x + y).collect();
    let (of_v, of_w, of_both) = (velocities(&v, 0.0)?, velocities(&w, 0.0)?, velocities(&both, 0.0)?);
    let offset = velocities(&v, 100.0)?;
    for row in 0..count {
        let scale = 1.0 + size(&of_v) + size(&of_w);
        if (of_v[row] + of_w[row] - of_both[row]).abs() > bounds.error * scale {
            return Err(format!(
                "row {row} is not linear: {} + {} and {}",
                of_v[row], of_w[row], of_both[row]
            ));
        }
        if (offset[row] - of_v[row] - 100.0).abs() > 1e-12 * (100.0 + scale) {
            return Err(format!("row {row} is overwritten, not added to"));
        }
    }
    Ok(())
}

fn bad_input(system: &dyn VelocitySystem) -> Result<(), String> {
    let n = system.velocity_len();
    let v = vec![0.0; n];
    let entry =
        |row: u32, part: u32| Entry { row, part: PartId(part), point: DVec3::ZERO, wrench: Force::ZERO };
    let stranger = [entry(0, system.part_count() as u32)];
    let beyond = [entry(1, 0)];
    let mut scratch = Scratch::default();
    let mut one = [0.0];
    let mut long = vec![0.0; n + 1];
    for (what, result) in [
        ("row_velocities", system.row_velocities(&long.clone(), &[], &mut one)),
        ("dof_response", system.dof_response(0, &mut scratch, &mut long)),
    ] {
        if !matches!(result, Err(DynamicsError::WrongLength { .. })) {
            return Err(format!("{what} with a wrong length: {result:?}"));
        }
    }
    let result = system.row_velocities(&v, &stranger, &mut one);
    if !matches!(result, Err(DynamicsError::UnknownPart { .. })) {
        return Err(format!("row_velocities with an unknown part: {result:?}"));
    }
    let result = system.row_velocities(&v, &beyond, &mut one);
    if !matches!(result, Err(DynamicsError::UnknownRow { .. })) {
        return Err(format!("row_velocities with an unknown row: {result:?}"));
    }
    let mut columns = vec![0.0; n];
    let try_response = |entries: &[Entry], data: &mut [f64], len: usize| match ColumnsMut::new(data, len) {
        Ok(mut out) => system.response(entries, &mut Scratch::default(), &mut out),
        Err(e) => Err(e),
    };
    if n > 0 {
        let results = [
            try_response(&stranger, &mut columns, n),
            try_response(&beyond, &mut columns, n),
            try_response(&[entry(0, 0)], &mut vec![0.0; n + 1], n + 1),
        ];
        for (result, what) in results.into_iter().zip(["unknown part", "unknown row", "wrong column length"])
        {
            if result.is_ok() {
                return Err(format!("response accepts an {what}"));
            }
        }
    }
    match system.dof_response(n as u32, &mut scratch, &mut columns) {
        Err(DynamicsError::UnknownDof { .. }) => Ok(()),
        other => Err(format!("velocity {n} of {n}: expected UnknownDof, got {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two masses on a rail along x, coupled by a mass matrix [[2, 1], [1, 3]]; wrong in one way if asked.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Fault {
        None,
        Asymmetric,
        Overwrites,
        LastEntryOnly,
        NeverStale,
        AcceptsStrangers,
    }

    #[derive(Debug)]
    struct Rail {
        fault: Fault,
        prepared: bool,
    }

    impl Rail {
        fn ready(&self, entries: &[Entry], rows: usize) -> Result<(), DynamicsError> {
            if !self.prepared && self.fault != Fault::NeverStale {
                return Err(DynamicsError::NotPrepared);
            }
            for (entry, e) in entries.iter().enumerate() {
                if e.part.index() >= 2 && self.fault != Fault::AcceptsStrangers {
                    return Err(DynamicsError::UnknownPart { part: e.part, count: 2 });
                }
                if e.row as usize >= rows {
                    return Err(DynamicsError::UnknownRow { entry, row: e.row, rows });
                }
            }
            Ok(())
        }

        fn length(got: usize) -> Result<(), DynamicsError> {
            let wrong = DynamicsError::WrongLength { what: "velocities", expected: 2, got };
            if got == 2 { Ok(()) } else { Err(wrong) }
        }

        fn inverse(&self, f: [f64; 2]) -> [f64; 2] {
            let b = if self.fault == Fault::Asymmetric { -0.3 } else { -0.2 };
            [0.6 * f[0] - 0.2 * f[1], b * f[0] + 0.4 * f[1]]
        }
    }

    impl VelocitySystem for Rail {
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
            Self::length(q.len())?;
            if let Some((index, &value)) = q.iter().enumerate().find(|(_, x)| !x.is_finite()) {
                return Err(DynamicsError::NonFinite { what: "configuration", index, value });
            }
            self.prepared = true;
            Ok(())
        }

        fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
            self.ready(rows, out.len())?;
            Self::length(v.len())?;
            if self.fault == Fault::Overwrites {
                out.fill(0.0);
            }
            for e in rows {
                out[e.row as usize] += v[e.part.index() % 2] * e.wrench.linear.x;
            }
            Ok(())
        }

        fn response(
            &self,
            rows: &[Entry],
            _scratch: &mut Scratch,
            out: &mut ColumnsMut<'_>,
        ) -> Result<(), DynamicsError> {
            self.ready(rows, out.count())?;
            Self::length(out.column_len())?;
            out.clear();
            for e in rows {
                let mut f = [0.0; 2];
                f[e.part.index() % 2] = e.wrench.linear.x;
                let change = self.inverse(f);
                let column = out.column(e.row as usize);
                for i in 0..2 {
                    column[i] = if self.fault == Fault::LastEntryOnly { 0.0 } else { column[i] } + change[i];
                }
            }
            Ok(())
        }

        fn dof_response(&self, dof: u32, _: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
            self.ready(&[], 0)?;
            Self::length(out.len())?;
            let mut f = [0.0; 2];
            *f.get_mut(dof as usize).ok_or(DynamicsError::UnknownDof { dof, count: 2 })? = 1.0;
            out.copy_from_slice(&self.inverse(f));
            Ok(())
        }
    }

    #[test]
    fn a_small_system_conforms_and_broken_ones_are_found_out() {
        let run = |fault| {
            conformance(
                &mut Rail { fault, prepared: false },
                &[0.0, 1.0],
                &Bounds { count: 5, ..Bounds::default() },
            )
        };
        run(Fault::None).unwrap();
        for fault in [
            Fault::Asymmetric,
            Fault::Overwrites,
            Fault::LastEntryOnly,
            Fault::NeverStale,
            Fault::AcceptsStrangers,
        ] {
            assert!(run(fault).is_err(), "{fault:?} passed");
        }
    }
}
