//! What a frame writes, and what can be read of it afterwards.

use super::{
    body::{BodyState, PointForce},
    constraint::{Equation, ReactionRow, RowTable, Site},
    derivatives::BodyResponse,
    graph::{Graph, Held},
    jacobian::exerted,
    linear::Linear,
    params::{Bound, SolverEvent},
};
use sim_math::{glam::DVec3, integrate::OdeScratch, spatial::Force};

/// Scratch; reuse changes no result.
#[derive(Debug, Clone, Default)]
pub struct ReactionWorkspace {
    /// Where the bodies are at the end of the frame.
    pub next: Vec<BodyState>,
    /// Values of all rows, in the order of constraints.
    pub values: Vec<f64>,
    /// What happened to the solver in the frame.
    pub events: Vec<SolverEvent>,
    pub(super) table: RowTable,
    pub(super) graph: Graph,
    pub(super) equations: Vec<Equation>,
    pub(super) ends: Vec<[f64; 2]>,
    pub(super) responses: Vec<BodyResponse>,
    pub(super) answers: Vec<[DVec3; 2]>,
    pub(super) ease: Vec<f64>,
    pub(super) systems: Vec<Linear>,
    pub(super) near: Vec<u32>,
    pub(super) errors: Vec<f64>,
    pub(super) bounds: Vec<Bound>,
    pub(super) diagonal: Vec<f64>,
    pub(super) forces: Vec<PointForce>,
    pub(super) ode: OdeScratch,
    pub(super) side: Vec<f64>,
    pub(super) step: Vec<f64>,
    pub(super) change: Vec<f64>,
    pub(super) learn: Vec<f64>,
}

impl ReactionWorkspace {
    /// The graph of the last frame.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Rows of constraint `k` in [`ReactionWorkspace::values`].
    #[must_use]
    pub fn rows_of(&self, k: usize) -> std::ops::Range<usize> {
        self.graph.spans.get(k).map_or(0..0, |s| s.rows.clone())
    }

    /// Errors of all rows at the end of the frame, in the order of constraints, m and rad.
    #[must_use]
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }

    /// Entry of J for two rows of one part; zero for rows of different parts.
    #[must_use]
    pub fn jacobian(&self, row: usize, column: usize) -> f64 {
        let part = |row: usize| {
            let k = self.graph.spans.partition_point(|s| s.rows.end <= row) as u32;
            self.graph.parts.iter().position(|p| self.graph.order[p.constraints.clone()].contains(&k))
        };
        match (part(row), part(column)) {
            (Some(a), Some(b)) if a == b => {
                self.systems[a].get(self.graph.place[row] as usize, self.graph.place[column] as usize)
            }
            _ => 0.0,
        }
    }

    /// What a row asks for, its place and rate at the start and at the end of the frame, and where its value is.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<(ReactionRow, [[f64; 2]; 2], Bound)> {
        Some((
            *self.table.rows.get(row)?,
            [*self.table.now.get(row)?, *self.ends.get(row)?],
            *self.bounds.get(row)?,
        ))
    }

    /// Sites of constraint `k`.
    #[must_use]
    pub fn sites_of(&self, k: usize) -> &[Site] {
        self.graph.spans.get(k).and_then(|s| self.table.sites.get(s.sites.clone())).unwrap_or(&[])
    }

    /// Force at the point of site `site` of constraint `k` and torque besides, world axes, N and N·m, of the values of the frame.
    #[must_use]
    pub fn exerted(&self, k: usize, site: usize) -> Force {
        let held = Held { constraint: k as u32, site: site as u32 };
        let (force, torque) = exerted(&self.graph.spans, &self.table.sides, &self.values, held);
        Force::new(torque, force)
    }
}
