//! Cuthill-McKee ordering: numbers the nodes of a graph so that neighbours get close numbers.
//!
//! # Reference
//! Cuthill and `McKee` 1969; George and Liu, *Computer Solution of Large Sparse Positive Definite Systems* (1981),
//! chapter 4. Barenbrug's thesis, section 3.4.6, orders constraints this way before band elimination.
//!
//! # Symbols
//! Node = constraint (or matrix row); edge = two constraints share a moving body; degree = number of distinct
//! neighbours.
//!
//! # Formula
//! ```text
//! start: unnumbered node of least degree (least index on a tie)
//! breadth first; the unnumbered neighbours of each node by increasing degree, then index
//! next component: start again
//! ```
//!
//! # Cost
//! O(n log n + Σ degree · log degree). Storage is kept between calls.
//!
//! # Numerics
//! None: integers only. The result depends on the graph and the numbering given, not on the order of the edges.
//!
//! # Failure
//! [`MathError::OutOfRange`] for an edge to a node that does not exist. Loops and repeated edges are ignored.
//!
//! # Tested by
//! `a_shuffled_chain_gets_the_bandwidth_of_an_ordered_chain`, `components_are_contiguous_and_complete`.

use crate::MathError;

/// The ordering and its storage.
#[derive(Debug, Clone, Default)]
pub struct CuthillMcKee {
    order: Vec<u32>,
    component_ends: Vec<u32>,
    /// Compressed adjacency: neighbours of node i at `offsets[i]..offsets[i + 1]`.
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
    directed: Vec<(u32, u32)>,
    by_degree: Vec<u32>,
    seen: Vec<bool>,
}

impl CuthillMcKee {
    /// Orders `n` nodes joined by `edges`.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for an end that is not below `n`.
    pub fn compute(&mut self, n: usize, edges: &[(u32, u32)]) -> Result<(), MathError> {
        self.order.clear();
        self.component_ends.clear();
        if n > u32::MAX as usize {
            return Err(MathError::OutOfRange {
                what: "number of nodes",
                index: n,
                limit: u32::MAX as usize,
            });
        }
        self.build_adjacency(n, edges)?;
        let degree = |i: u32, offsets: &[u32]| offsets[i as usize + 1] - offsets[i as usize];
        self.by_degree.clear();
        self.by_degree.extend(0..n as u32);
        let offsets = &self.offsets;
        self.by_degree.sort_unstable_by_key(|&i| (degree(i, offsets), i));
        self.seen.clear();
        self.seen.resize(n, false);
        for &start in &self.by_degree {
            if self.seen[start as usize] {
                continue;
            }
            self.seen[start as usize] = true;
            let mut head = self.order.len();
            self.order.push(start);
            while head < self.order.len() {
                let node = self.order[head] as usize;
                head += 1;
                let first_new = self.order.len();
                for &next in &self.neighbours[offsets[node] as usize..offsets[node + 1] as usize] {
                    if !self.seen[next as usize] {
                        self.seen[next as usize] = true;
                        self.order.push(next);
                    }
                }
                self.order[first_new..].sort_unstable_by_key(|&i| (degree(i, offsets), i));
            }
            self.component_ends.push(self.order.len() as u32);
        }
        Ok(())
    }

    fn build_adjacency(&mut self, n: usize, edges: &[(u32, u32)]) -> Result<(), MathError> {
        self.directed.clear();
        for &(a, b) in edges {
            let largest = a.max(b) as usize;
            if largest >= n {
                return Err(MathError::OutOfRange { what: "edge end", index: largest, limit: n });
            }
            if a != b {
                self.directed.extend([(a, b), (b, a)]);
            }
        }
        self.directed.sort_unstable();
        self.directed.dedup();
        self.offsets.clear();
        self.offsets.resize(n + 1, 0);
        self.neighbours.clear();
        for &(from, to) in &self.directed {
            self.offsets[from as usize + 1] += 1;
            self.neighbours.push(to);
        }
        for i in 0..n {
            self.offsets[i + 1] += self.offsets[i];
        }
        Ok(())
    }

    /// The node at each position. Reversed, it is the reverse Cuthill-McKee ordering, with the same bandwidth
    /// and often a smaller profile.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// One slice of [`CuthillMcKee::order`] per connected component (island).
    pub fn components(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.component_ends.iter().map(move |&end| {
            let component = &self.order[start..end as usize];
            start = end as usize;
            component
        })
    }
}

/// Largest difference of positions over the edges: the half-bandwidth of the permuted matrix.
///
/// Edges to nodes that are not in `order` are ignored.
#[must_use]
pub fn bandwidth_of_order(order: &[u32], edges: &[(u32, u32)]) -> usize {
    block_bandwidth_of_order(order, |_| 1, edges)
}

/// Half-bandwidth in scalar rows when node `i` stands for `rows(i)` consecutive rows.
///
/// Edges to nodes that are not in `order` are ignored.
#[must_use]
pub fn block_bandwidth_of_order(order: &[u32], rows: impl Fn(u32) -> usize, edges: &[(u32, u32)]) -> usize {
    let size = order.iter().max().map_or(0, |&m| m as usize + 1);
    let mut span: Vec<Option<(usize, usize)>> = vec![None; size];
    let (mut row, mut widest) = (0, 0);
    for &node in order {
        let count = rows(node);
        span[node as usize] = Some((row, row + count));
        row += count;
        widest = widest.max(count.saturating_sub(1));
    }
    for &(a, b) in edges {
        let (Some(Some(p)), Some(Some(q))) = (span.get(a as usize), span.get(b as usize)) else { continue };
        if p.0 < p.1 && q.0 < q.1 {
            let (first, last) = if p.0 <= q.0 { (p, q) } else { (q, p) };
            widest = widest.max(last.1 - 1 - first.0);
        }
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::SplitMix64;

    fn shuffled(n: usize, seed: u64) -> Vec<u32> {
        let mut stream = SplitMix64(seed);
        let mut names: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            names.swap(i, stream.below(i + 1));
        }
        names
    }

    // proves: DYN-109
    #[test]
    fn a_shuffled_chain_gets_the_bandwidth_of_an_ordered_chain() {
        let mut ordering = CuthillMcKee::default();
        for n in [2, 3, 10, 100, 1000] {
            for seed in 0..5 {
                let names = shuffled(n, seed);
                let edges: Vec<(u32, u32)> = (1..n).map(|i| (names[i - 1], names[i])).collect();
                ordering.compute(n, &edges).unwrap();
                assert_eq!(bandwidth_of_order(ordering.order(), &edges), 1, "n {n}");
                let reversed: Vec<u32> = ordering.order().iter().rev().copied().collect();
                assert_eq!(bandwidth_of_order(&reversed, &edges), 1);
                // Three rows per joint: the ordered chain has half-bandwidth 5.
                assert_eq!(block_bandwidth_of_order(ordering.order(), |_| 3, &edges), 5);
                // A minimum-degree start is an end of the chain.
                let first = ordering.order()[0];
                assert!(first == names[0] || first == names[n - 1]);
            }
        }
    }

    #[test]
    fn a_closed_ring_has_bandwidth_two_and_a_ladder_keeps_its_width() {
        let mut ordering = CuthillMcKee::default();
        let names = shuffled(50, 3);
        let ring: Vec<(u32, u32)> = (0..50).map(|i| (names[i], names[(i + 1) % 50])).collect();
        ordering.compute(50, &ring).unwrap();
        assert_eq!(bandwidth_of_order(ordering.order(), &ring), 2);
        let names = shuffled(90, 4);
        let mut ladder = Vec::new();
        for i in 0..30 {
            for j in 0..3 {
                if j < 2 {
                    ladder.push((names[3 * i + j], names[3 * i + j + 1]));
                }
                if i < 29 {
                    ladder.push((names[3 * i + j], names[3 * i + 3 + j]));
                }
            }
        }
        ordering.compute(90, &ladder).unwrap();
        assert!(bandwidth_of_order(ordering.order(), &ladder) <= 4);
    }

    #[test]
    fn components_are_contiguous_and_complete() {
        let mut ordering = CuthillMcKee::default();
        // Two chains and a single node, with a loop and repeated edges.
        let edges = [(0, 4), (4, 2), (4, 0), (1, 5), (3, 3), (5, 1)];
        ordering.compute(6, &edges).unwrap();
        let components: Vec<Vec<u32>> = ordering.components().map(<[u32]>::to_vec).collect();
        assert_eq!(components, [vec![3], vec![0, 4, 2], vec![1, 5]]);
        let mut all = ordering.order().to_vec();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
        ordering.compute(0, &[]).unwrap();
        assert_eq!(ordering.components().count(), 0);
    }

    #[test]
    fn the_order_of_the_edges_does_not_matter_and_bad_edges_are_errors() {
        let mut ordering = CuthillMcKee::default();
        let mut edges = vec![(0, 3), (3, 1), (1, 4), (4, 2), (2, 0), (1, 2)];
        ordering.compute(5, &edges).unwrap();
        let first = ordering.order().to_vec();
        edges.reverse();
        ordering.compute(5, &edges).unwrap();
        assert_eq!(ordering.order(), first);
        assert_eq!(
            ordering.compute(3, &[(0, 3)]),
            Err(MathError::OutOfRange { what: "edge end", index: 3, limit: 3 })
        );
        assert_eq!(bandwidth_of_order(&[1, 0], &[(0, 7)]), 0);
    }
}
