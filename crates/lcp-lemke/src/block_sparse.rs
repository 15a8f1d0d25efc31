//! Assembly of dense matrices from blocks: A = S + J D Jᵀ for sparse J and block-diagonal D.
//!
//! # Reference
//! Cline (2002), 4.5 (every row touches one or two bodies; all other blocks are zero).
//! # Symbols
//! J = rows of blocks with `width` columns each, D = one `width` x `width` block for each column block.
//! # Formula
//! ```text
//! a_ij = Σ_b j_ib D_b j_jbᵀ          over the column blocks b that both rows touch
//! ```
//! # Cost
//! For each column block, the square of the number of rows that touch it: linear in the number of contacts for
//! bodies with a few contacts each. Only the output is dense.
//! # Numerics
//! Symmetric D give a matrix that is symmetric to the last bit.
//! # Failure
//! Sizes that do not fit and numbers that are not finite are errors.
//! # Tested by
//! `block_assembly_equals_the_dense_product`.

use sim_traits::LcpError;

/// One block of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    block: u32,
    row: u32,
    at: usize,
}

/// Sparse rows made of blocks of equal width.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockRows {
    width: usize,
    rows: u32,
    blocks: u32,
    entries: Vec<Entry>,
    values: Vec<f64>,
    sorted: bool,
    product: Vec<f64>,
}

impl BlockRows {
    /// For matrices with `blocks` column blocks of `width` columns each.
    #[must_use]
    pub fn new(blocks: u32, width: usize) -> Self {
        Self { width, blocks, sorted: true, ..Self::default() }
    }

    /// Removes all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.entries.clear();
        self.values.clear();
        self.sorted = true;
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a row from its nonzero blocks (block index, `width` numbers); returns its index.
    ///
    /// # Errors
    /// A block index out of range, a block of the wrong width, a number that is not finite.
    pub fn push_row(&mut self, blocks: &[(u32, &[f64])]) -> Result<u32, LcpError> {
        for (k, (block, values)) in blocks.iter().enumerate() {
            if *block >= self.blocks {
                return Err(LcpError::NotAllowed {
                    what: "column block",
                    index: k,
                    value: f64::from(*block),
                });
            }
            if values.len() != self.width {
                return Err(LcpError::WrongLength { what: "block", expected: self.width, got: values.len() });
            }
            if let Some(index) = values.iter().position(|v| !v.is_finite()) {
                return Err(LcpError::NonFinite { what: "block entry", index, value: values[index] });
            }
        }
        for (block, values) in blocks {
            self.entries.push(Entry { block: *block, row: self.rows, at: self.values.len() });
            self.values.extend_from_slice(values);
        }
        self.sorted = false;
        self.rows += 1;
        Ok(self.rows - 1)
    }

    /// out += J D Jᵀ, row-major with `stride` numbers in a row; D has `width`² numbers for each column block.
    ///
    /// # Errors
    /// `d` or `out` is too short.
    pub fn add_congruence(&mut self, d: &[f64], stride: usize, out: &mut [f64]) -> Result<(), LcpError> {
        let (n, w) = (self.len(), self.width);
        let needed = self.blocks as usize * w * w;
        if d.len() != needed {
            return Err(LcpError::WrongLength { what: "diagonal blocks", expected: needed, got: d.len() });
        }
        if stride < n || (n > 0 && out.len() < (n - 1) * stride + n) {
            return Err(LcpError::WrongLength { what: "output", expected: n * n, got: out.len() });
        }
        if !self.sorted {
            self.entries.sort_unstable_by_key(|e| (e.block, e.row, e.at));
            self.sorted = true;
        }
        self.product.resize(w, 0.0);
        let mut first = 0;
        while first < self.entries.len() {
            let block = self.entries[first].block;
            let count = self.entries[first..].iter().take_while(|e| e.block == block).count();
            let group = &self.entries[first..first + count];
            let d = &d[block as usize * w * w..][..w * w];
            for (k, a) in group.iter().enumerate() {
                // D_b j_aᵀ once, then its product with every row of the group up to a itself.
                let j_a = &self.values[a.at..][..w];
                for (p, d_row) in self.product.iter_mut().zip(d.chunks_exact(w.max(1))) {
                    *p = d_row.iter().zip(j_a).map(|(d, j)| d * j).sum();
                }
                for b in &group[..=k] {
                    let j_b = &self.values[b.at..][..w];
                    let value: f64 = j_b.iter().zip(&self.product).map(|(j, p)| j * p).sum();
                    out[a.row as usize * stride + b.row as usize] += value;
                    if a.at != b.at {
                        out[b.row as usize * stride + a.row as usize] += value;
                    }
                }
            }
            first += count;
        }
        Ok(())
    }

    /// `out_i` = row i · x, for x in blocks.
    ///
    /// # Errors
    /// `x` or `out` has the wrong length.
    pub fn times(&self, x: &[f64], out: &mut [f64]) -> Result<(), LcpError> {
        let needed = self.blocks as usize * self.width;
        for (what, got, expected) in [("x", x.len(), needed), ("output", out.len(), self.len())] {
            if got != expected {
                return Err(LcpError::WrongLength { what, expected, got });
            }
        }
        out.fill(0.0);
        for e in &self.entries {
            let part = &x[e.block as usize * self.width..][..self.width];
            let values = &self.values[e.at..][..self.width];
            out[e.row as usize] += values.iter().zip(part).map(|(j, x)| j * x).sum::<f64>();
        }
        Ok(())
    }
}
