//! Contact rows of any velocity systems, and their Delassus operator.
//!
//! # Reference
//!
//! Cline (2002), sections 2.5.3 and 2.7.3 (rows and assembly); Arnold (1997), section 2.4.4 (matrices between contacts).
//!
//! # Symbols
//!
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | J | rows of a contact: two tangents, normal | contact | - |
//! | W | J M⁻¹ Jᵀ | contact | 1/kg |
//! | b | J v plus bias | contact | m/s |
//!
//! # Formula
//!
//! ```text
//! u = frameᵀ (u_A − u_B),   response column j = M⁻¹ Jᵀ e_j,   W e_j = J (column j)
//! ```
//!
//! # Cost
//!
//! One response call per system and a product of all rows with each column: the square of the contacts of a system. For heaps of free
//! bodies [`pool`](crate::pool) finds the same numbers in the time of the blocks that are not zero.
//!
//! # Numerics
//!
//! Blocks that vanish exactly are left out; the diagonal never is.
//!
//! # Failure
//!
//! What the systems report.
//!
//! # Tested by
//!
//! `rows_and_pool_agree`, `jacobian_times_twist_is_the_rate_of_the_gap`

use crate::delassus::Delassus;
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};

/// A system and its present velocities.
#[derive(Debug, Clone, Copy)]
pub struct SystemAt<'a> {
    /// Prepared at the present configuration.
    pub system: &'a dyn VelocitySystem,
    /// In the system's own order.
    pub velocity: &'a [f64],
}

/// One side of a contact: which part of which system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Number of the system.
    pub system: u32,
    /// Its part.
    pub part: PartId,
}

/// One contact; a side without system is the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Site {
    /// A, which the normal points to, and B.
    pub sides: [Option<Side>; 2],
    /// Where, world, m.
    pub point: DVec3,
    /// Contact frame: columns are two tangents and the normal from B to A, world axes.
    pub frame: DMat3,
    /// Coefficient of friction.
    pub friction: f64,
    /// Added to the velocity without impulses, contact frame, m/s: gap over step, restitution, stabilisation.
    pub bias: DVec3,
}

/// Memory of [`assemble`], and the responses for [`RowsWorkspace::apply`].
#[derive(Debug, Clone, Default)]
pub struct RowsWorkspace {
    entries: Vec<Entry>,
    /// Per system: where its columns start, and the contacts that have entries in it.
    spans: Vec<(usize, usize)>,
    columns: Vec<f64>,
    scratch: Scratch,
    product: Vec<f64>,
    dense: Vec<f64>,
}

/// Entries of all rows of one system.
fn entries_of(system: usize, sites: &[Site], out: &mut Vec<Entry>) {
    out.clear();
    for (c, site) in sites.iter().enumerate() {
        for (side, sign) in site.sides.iter().zip([1.0, -1.0]) {
            if let Some(side) = side.filter(|s| s.system as usize == system) {
                for axis in 0..3 {
                    let row = (3 * c + axis) as u32;
                    out.push(Entry::push(row, side.part, site.point, sign * site.frame.col(axis)));
                }
            }
        }
    }
}

/// Builds W, b and friction of contacts between any systems.
///
/// # Errors
/// What the systems report; a side that names a system beyond the list.
pub fn assemble(
    systems: &[SystemAt<'_>],
    sites: &[Site],
    workspace: &mut RowsWorkspace,
    out: &mut Delassus,
) -> Result<(), DynamicsError> {
    let rows = 3 * sites.len();
    for (n, site) in sites.iter().enumerate() {
        if let Some(side) = site.sides.iter().flatten().find(|s| s.system as usize >= systems.len()) {
            return Err(DynamicsError::UnknownSystem {
                entry: n,
                system: side.system,
                systems: systems.len(),
            });
        }
    }
    let RowsWorkspace { entries, spans, columns, scratch, product, dense } = workspace;
    dense.clear();
    dense.resize(rows * rows, 0.0);
    product.clear();
    product.resize(rows, 0.0);
    spans.clear();
    columns.clear();
    let mut velocity = vec![0.0; rows];
    for (s, at) in systems.iter().enumerate() {
        let len = at.system.velocity_len();
        let start = columns.len();
        spans.push((start, len));
        columns.resize(start + rows * len, 0.0);
        entries_of(s, sites, entries);
        if entries.is_empty() {
            continue;
        }
        at.system.row_velocities(at.velocity, entries, &mut velocity)?;
        at.system.response(entries, scratch, &mut ColumnsMut::new(&mut columns[start..], len)?)?;
        for (j, column) in columns[start..].chunks_exact(len.max(1)).enumerate() {
            if column.iter().all(|&x| x == 0.0) {
                continue;
            }
            product.fill(0.0);
            at.system.row_velocities(column, entries, product)?;
            for (i, x) in product.iter().enumerate() {
                dense[i * rows + j] += x;
            }
        }
    }
    out.clear();
    for (c, site) in sites.iter().enumerate() {
        for d in 0..sites.len() {
            let entry = |i: usize, j: usize| dense[(3 * c + i) * rows + 3 * d + j];
            let column = |j: usize| DVec3::new(entry(0, j), entry(1, j), entry(2, j));
            let block = DMat3::from_cols(column(0), column(1), column(2));
            if c == d || block != DMat3::ZERO {
                out.columns.push(d as u32);
                out.blocks.push(block);
            }
        }
        out.starts.push(out.columns.len() as u32);
        out.velocity.push(DVec3::new(velocity[3 * c], velocity[3 * c + 1], velocity[3 * c + 2]) + site.bias);
        out.friction.push(site.friction);
    }
    Ok(())
}

impl RowsWorkspace {
    /// Adds M⁻¹ Jᵀ p to the velocities of system number `system`, after [`assemble`] of the same contacts.
    pub fn apply(&self, system: usize, impulses: &[DVec3], velocity: &mut [f64]) {
        let Some(&(start, len)) = self.spans.get(system) else { return };
        if len == 0 {
            return;
        }
        let numbers = impulses.iter().flat_map(DVec3::to_array);
        for (column, p) in self.columns[start..].chunks_exact(len).zip(numbers) {
            velocity.iter_mut().zip(column).for_each(|(v, x)| *v += x * p);
        }
    }
}
