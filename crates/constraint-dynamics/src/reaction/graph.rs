//! Which constraints interact, in which order their unknowns come, and which can be solved apart.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.4.5, 3.4.6 and 7.2.2: interacting pairs, the order of Cuthill and `McKee`, independent sub-graphs.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | edge | two constraints that hold the same free body |
//! | b | half-bandwidth: largest distance of the places of two unknowns of one edge |
//!
//! # Formula
//!
//! ```text
//! band if 2b + 1 < n/2, else dense
//! ```
//!
//! # Cost
//!
//! O(constraints + edges) when the set of constraints changed, a comparison of lists otherwise.
//!
//! # Numerics
//!
//! None.
//!
//! # Failure
//!
//! None: constraints that hold no free body are parts of their own.
//!
//! # Tested by
//!
//! `edges_are_the_blocks_that_are_not_zero`, `a_shuffled_chain_has_a_narrow_band`, `carts_are_solved_apart`

use super::body::ReactionBody;
use super::constraint::{Constraints, RowTable};
use sim_math::dense::CuthillMcKee;
use std::ops::Range;

/// Rows, sites and sides of one constraint in the tables of the frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) rows: Range<usize>,
    pub(super) sites: Range<usize>,
    pub(super) first_side: usize,
}

/// A site of a constraint, seen from the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) constraint: u32,
    /// Its place among the sites of the constraint.
    pub(super) site: u32,
}

/// Constraints that are solved together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Into [`Graph::order`].
    pub(super) constraints: Range<usize>,
    /// Into [`Graph::free`].
    pub(super) bodies: Range<usize>,
    /// Number of unknowns.
    pub(super) size: usize,
    /// Half-bandwidth.
    pub(super) band: usize,
}

impl Part {
    pub(super) fn is_banded(&self) -> bool {
        2 * (2 * self.band + 1) < self.size
    }
}

/// The graph of constraints.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub(super) spans: Vec<Span>,
    /// Of each body: begin of its range in `held`, and one more at the end.
    starts: Vec<u32>,
    held: Vec<Held>,
    /// Constraints, part after part.
    pub(super) order: Vec<u32>,
    /// Free bodies, part after part.
    pub(super) free: Vec<u32>,
    pub(super) parts: Vec<Part>,
    /// Place of each row among the unknowns of its part.
    pub(super) place: Vec<u32>,
    edges: Vec<(u32, u32)>,
    signature: Vec<u32>,
    fresh: Vec<u32>,
    part_of: Vec<u32>,
    cuthill_mckee: CuthillMcKee,
}

impl Graph {
    /// Sites that hold a body.
    pub(super) fn held(&self, body: u32) -> &[Held] {
        let at = |k: usize| self.starts.get(k).map_or(0, |&s| s as usize);
        self.held.get(at(body as usize)..at(body as usize + 1)).unwrap_or(&[])
    }

    /// Pairs of constraints that hold a free body in common, the smaller first, in increasing order.
    #[must_use]
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Number of parts that are solved apart.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Unknowns and half-bandwidth of a part.
    #[must_use]
    pub fn part(&self, k: usize) -> Option<(usize, usize)> {
        self.parts.get(k).map(|p| (p.size, p.band))
    }

    /// Takes notice of the constraints of a frame; true if anything changed since the last one.
    pub(super) fn update(
        &mut self,
        bodies: &[ReactionBody],
        set: &dyn Constraints,
        table: &RowTable,
    ) -> bool {
        self.fresh.clear();
        self.fresh.extend(bodies.iter().map(|b| u32::from(b.is_free())));
        for (k, span) in self.spans.iter().enumerate() {
            self.fresh.push(span.rows.len() as u32);
            self.fresh.push(span.sites.len() as u32);
            self.fresh.extend_from_slice(set.bodies(k));
        }
        if self.fresh == self.signature {
            return false;
        }
        std::mem::swap(&mut self.fresh, &mut self.signature);
        self.find_sites(bodies.len(), table);
        self.find_edges(bodies);
        self.find_order();
        self.find_parts(bodies);
        true
    }

    fn find_sites(&mut self, bodies: usize, table: &RowTable) {
        let mut counts = vec![0_u32; bodies + 1];
        for site in &table.sites {
            counts[site.body as usize + 1] += 1;
        }
        for k in 1..counts.len() {
            counts[k] += counts[k - 1];
        }
        self.starts.clone_from(&counts);
        self.held.clear();
        self.held.resize(table.sites.len(), Held { constraint: 0, site: 0 });
        for (constraint, span) in (0..).zip(&self.spans) {
            for (site, entry) in (0..).zip(&table.sites[span.sites.clone()]) {
                let place = &mut counts[entry.body as usize];
                self.held[*place as usize] = Held { constraint, site };
                *place += 1;
            }
        }
    }

    fn find_edges(&mut self, bodies: &[ReactionBody]) {
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        for (body, _) in (0..).zip(bodies).filter(|(_, b)| b.is_free()) {
            let held = self.held(body);
            for (k, a) in held.iter().enumerate() {
                edges.extend(held[..k].iter().map(|b| (b.constraint, a.constraint)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        self.edges = edges;
    }

    fn find_order(&mut self) {
        // Edges name constraints that exist.
        if self.cuthill_mckee.compute(self.spans.len(), &self.edges).is_err() {
            return;
        }
        self.order.clear();
        self.parts.clear();
        self.place.clear();
        self.place.resize(self.spans.last().map_or(0, |s| s.rows.end), 0);
        self.part_of.clear();
        self.part_of.resize(self.spans.len(), 0);
        for component in self.cuthill_mckee.components() {
            let first = self.order.len();
            let mut size = 0;
            for &constraint in component {
                self.part_of[constraint as usize] = self.parts.len() as u32;
                for row in self.spans[constraint as usize].rows.clone() {
                    self.place[row] = size as u32;
                    size += 1;
                }
                self.order.push(constraint);
            }
            let constraints = first..self.order.len();
            self.parts.push(Part { constraints, bodies: 0..0, size, band: 0 });
        }
        for k in 0..self.spans.len() {
            let rows = self.spans[k].rows.len();
            let part = &mut self.parts[self.part_of[k] as usize];
            part.band = part.band.max(rows.saturating_sub(1));
        }
        for &(a, b) in &self.edges {
            let [a, b] = [a, b].map(|k| self.spans[k as usize].rows.clone());
            if a.is_empty() || b.is_empty() {
                continue;
            }
            let ends = |r: &Range<usize>| (self.place[r.start] as usize, self.place[r.end - 1] as usize);
            let (a0, a1) = ends(&a);
            let (b0, b1) = ends(&b);
            let distance = a1.max(b1) - a0.min(b0);
            let part = self.edges_part(a.start);
            self.parts[part].band = self.parts[part].band.max(distance);
        }
    }

    /// The part that a row is in.
    fn edges_part(&self, row: usize) -> usize {
        let constraint = self.spans.partition_point(|s| s.rows.end <= row);
        self.part_of[constraint] as usize
    }

    fn find_parts(&mut self, bodies: &[ReactionBody]) {
        let mut owned: Vec<(u32, u32)> = Vec::new();
        for (body, _) in (0..).zip(bodies).filter(|(_, b)| b.is_free()) {
            if let Some(first) = self.held(body).first() {
                owned.push((self.part_of[first.constraint as usize], body));
            }
        }
        owned.sort_unstable();
        self.free.clear();
        self.free.extend(owned.iter().map(|(_, body)| *body));
        for (number, part) in (0..).zip(&mut self.parts) {
            let start = owned.partition_point(|(p, _)| *p < number);
            part.bodies = start..owned.partition_point(|(p, _)| *p <= number);
        }
    }
}
