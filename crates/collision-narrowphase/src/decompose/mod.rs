//! Approximate convex decomposition of a closed mesh, with the excess volume as its measure.
//!
//! # Reference
//! In the spirit of Mamou 2016 (V-HACD): cells, cuts along the axes, the cut that saves most hull volume first. Hulls here
//! are those of the mesh itself, cut by the cells, not of the cells.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | cell | box of a grid whose planes are moved to mesh points where one is near |
//! | part | connected cells that hold some of the solid; together they hold all of it |
//! | `excess` | Σ hull volumes / mesh volume − 1 |
//!
//! # Formula
//! ```text
//! repeat: of all cuts of all parts by grid planes, make the one that lowers Σ hull volume most; where no cut does, as for
//!         a ring, halve the part whose hull is emptiest across its longest side
//! until excess ≤ wanted, or the pieces are used up, or no cut helps
//! ```
//!
//! # Cost
//! O(resolution³) cells; some hundred hulls per part. Meant for preparation, not for a simulation step.
//!
//! # Numerics
//! Every point of the solid lies in a piece (hulls contain their part exactly, up to rounding). Pieces may overlap each
//! other where hulls bulge, which counts into the excess: the true excess volume of their union is at most that.
//!
//! # Failure
//! [`DecomposeError`] for sheets and bad parameters.
//!
//! # Tested by
//! `tests/decompose.rs`

mod cells;

use crate::{
    Polyhedron, PolyhedronError,
    compound::{Compound, CompoundError},
    mesh::TriMesh,
};
use cells::Cells;
use sim_math::{Pose, mass::Amount};
use thiserror::Error;

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecomposeParams {
    /// Cells along the longest side of the mesh, 2 to 128; default 20. More find better cuts and take longer.
    pub resolution: u32,
    /// Most pieces; default 16.
    pub max_pieces: usize,
    /// Excess volume relative to the mesh at which to stop; default 0.01.
    pub max_excess: f64,
}

impl Default for DecomposeParams {
    fn default() -> Self {
        Self { resolution: 20, max_pieces: 16, max_excess: 0.01 }
    }
}

/// Why a mesh cannot be decomposed.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum DecomposeError {
    /// A sheet has no inside.
    #[error("only a closed mesh can be decomposed")]
    NotClosed,
    /// A parameter that cannot be.
    #[error("{what} is out of range: {value}")]
    BadParameter {
        /// Name of the parameter.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// The solid is too thin for a hull.
    #[error(transparent)]
    Hull(#[from] PolyhedronError),
}

/// Convex pieces that together cover a mesh.
#[derive(Debug, Clone)]
pub struct Decomposition {
    /// In the frame of the mesh.
    pub pieces: Vec<Polyhedron>,
    /// Volume of the mesh, cubic metres.
    pub volume: f64,
    /// Sum of the volumes of the pieces, cubic metres.
    pub hull_volume: f64,
}

impl Decomposition {
    /// Bound on the volume that the pieces have and the mesh has not, relative to the mesh.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.hull_volume / self.volume - 1.0
    }

    /// The pieces as one shape.
    ///
    /// # Errors
    /// As [`Compound::new`].
    pub fn into_compound(self) -> Result<Compound, CompoundError> {
        Compound::new(self.pieces.into_iter().map(|p| (p.into(), Pose::IDENTITY)).collect())
    }
}

/// A part with its hull and the best way to cut it.
#[derive(Debug)]
struct Part {
    cells: Vec<u32>,
    hull: Polyhedron,
    volume: f64,
    /// Estimate of the solid in it, cubic metres.
    solid: f64,
    cut: Option<Cut>,
}

#[derive(Debug)]
struct Cut {
    parts: Vec<(Vec<u32>, Polyhedron, f64)>,
    gain: f64,
    /// Gain, and a little for even halves.
    score: f64,
}

/// Cuts a closed mesh into convex pieces that cover it.
///
/// # Errors
/// A sheet, a parameter out of range.
pub fn decompose(mesh: &TriMesh, params: &DecomposeParams) -> Result<Decomposition, DecomposeError> {
    if !mesh.is_closed() {
        return Err(DecomposeError::NotClosed);
    }
    let ranges = [
        ("resolution", f64::from(params.resolution), 2.0, 128.0),
        ("max_pieces", params.max_pieces as f64, 1.0, 1e6),
        ("max_excess", params.max_excess, 0.0, 1e9),
    ];
    for (what, value, low, high) in ranges {
        if !(low..=high).contains(&value) {
            return Err(DecomposeError::BadParameter { what, value });
        }
    }
    let volume = mesh.mass_properties(Amount::Density(1.0)).map_or(f64::NAN, |m| m.mass);
    if volume.is_nan() || volume <= 0.0 {
        return Err(DecomposeError::BadParameter { what: "volume of the mesh", value: volume });
    }
    let mut cells = Cells::new(mesh, params.resolution);
    let mut parts: Vec<Part> = Vec::new();
    for set in cells.components(&cells.solid()) {
        let hull = Polyhedron::hull(&cells.points(&set, mesh))?;
        let solid = cells.volume(&set);
        parts.push(Part { cells: set, volume: hull.volume(), hull, solid, cut: None });
    }
    if parts.len() == 1 {
        // Before any cut the hull is that of the mesh, without the rounding of cells.
        let hull = Polyhedron::hull(mesh.points())?;
        (parts[0].volume, parts[0].hull) = (hull.volume(), hull);
    }
    let sum = |parts: &[Part]| parts.iter().map(|p| p.volume).sum::<f64>();
    let mut fresh: Vec<usize> = (0..parts.len()).collect();
    while sum(&parts) > (1.0 + params.max_excess) * volume && parts.len() < params.max_pieces {
        for k in fresh.drain(..) {
            let cut = best_cut(&mut cells, mesh, &parts[k]);
            parts[k].cut = cut;
        }
        let room = params.max_pieces - parts.len() + 1;
        let mut best: Option<(usize, f64)> = None;
        for (k, part) in parts.iter().enumerate() {
            if let Some(cut) = &part.cut
                && cut.parts.len() <= room
                && (cut.gain > 1e-6 * volume || part.volume > 1.05 * part.solid)
            {
                // Gains first; among parts without, the emptiest hull.
                let score = cut.gain + 1e-2 * (part.volume - part.solid).max(0.0);
                if best.is_none_or(|b| score > b.1) {
                    best = Some((k, score));
                }
            }
        }
        let Some((k, _)) = best else { break };
        let Some(cut) = parts.swap_remove(k).cut else { break };
        // The last part has moved to place k; all others keep their cuts.
        for (set, hull, volume) in cut.parts {
            fresh.push(parts.len());
            let solid = cells.volume(&set);
            parts.push(Part { cells: set, hull, volume, solid, cut: None });
        }
    }
    let hull_volume = sum(&parts);
    Ok(Decomposition { pieces: parts.into_iter().map(|p| p.hull).collect(), volume, hull_volume })
}

/// The grid plane that saves most hull volume.
fn best_cut(cells: &mut Cells, mesh: &TriMesh, part: &Part) -> Option<Cut> {
    let mut best: Option<Cut> = None;
    let longest = (0..3)
        .map(|axis| {
            let (low, high) = cells.range(&part.cells, axis);
            cells.extent(low, high, axis)
        })
        .fold(0.0, f64::max);
    for axis in 0..3 {
        let (low, high) = cells.range(&part.cells, axis);
        // At most 12 planes per axis, evenly spread.
        let stride = (high - low).div_ceil(12).max(1);
        for plane in (low + 1..=high).step_by(stride as usize) {
            let (left, right): (Vec<u32>, Vec<u32>) =
                part.cells.iter().partition(|c| cells.place(**c)[axis] < plane);
            let mut sets = cells.components(&left);
            sets.extend(cells.components(&right));
            let mut parts = Vec::new();
            let mut total = 0.0;
            for set in sets {
                let points = cells.points(&set, mesh);
                let Ok(hull) = Polyhedron::hull(&points) else {
                    total = f64::INFINITY;
                    break;
                };
                total += hull.volume();
                let volume = hull.volume();
                parts.push((set, hull, volume));
                if total > part.volume * (1.0 + 1e-9) {
                    break;
                }
            }
            let gain = part.volume - total;
            let all = part.cells.len() as f64;
            let balance =
                (left.len().min(right.len()) as f64 / all) * cells.extent(low, high, axis) / longest;
            let score = gain + 1e-3 * part.volume * balance;
            if gain >= -1e-9 * part.volume && best.as_ref().is_none_or(|b| score > b.score) {
                best = Some(Cut { parts, gain, score });
            }
        }
    }
    best
}
