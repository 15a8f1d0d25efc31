//! The basis of Lemke's method, kept as the inverse of its nontrivial block.
//!
//! # Reference
//! Cline, *Rigid Body Simulation with Contact and Constraints* (2002), 4.8.1 (rank-one update of the basis
//! inverse). Here the unit columns of the basis are left out, so only the block of the active rows is stored.
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | slot | position of a basic z or z₀ in the block |
//! | active row | row whose w is not basic |
//! | K | columns of the slots, restricted to the active rows (square) |
//! | `kinv` | K⁻¹, rows by slot, columns by active row |
//! | `columns` | the full columns of the slots, all n rows |
//! | `delta`, `slack_delta` | rate of the slots and of all w when the entering variable grows by 1 |
//! # Formula
//! The basic z solve K z + `q_R` = 0, and w = columns · z + q. A pivot changes K by one column, one row, one of
//! each, or removes one of each. All four are a rank-one change of K⁻¹:
//! ```text
//! z in,  z out   column p of K becomes b:     row p /= u_p, row i −= u_i · row p           u = K⁻¹ b
//! z in,  w out   K grows by (b, rᵀ, e):       K⁻¹ += u vᵀ/σ, border −u/σ, −v/σ, 1/σ        v = K⁻ᵀ r, σ = e − rᵀu
//! w in,  w out   row c of K becomes r:        row i −= (k_ic / v_c) v, column c = k_ic / v_c
//! w in,  z out   row c and column p go:       row i −= (k_ic / k_pc) row p, then drop p and c
//! ```
//! # Cost
//! O(m²) for a block of size m, plus n·m for the rates of all rows: at most O(n²) a pivot, no solve from scratch.
//! # Numerics
//! The rates of the active rows must come out as 0 (or 1 for the entering w): their error is known for free
//! at each pivot. It is corrected by a step of refinement, and K⁻¹ is formed anew when it is large.
//! # Failure
//! `refactor` tells that K is singular.
//! # Tested by
//! `updated_inverse_equals_a_fresh_one`, `each_kind_of_pivot_updates_the_inverse`.

use crate::kernels::{
    add_to_rows, advance, axpy, combine_rows, grow, larger, max_abs, replace_in_rows, rows_times,
};

/// Rates with a larger relative error get a step of refinement.
const REFINE_ERROR: f64 = 1e-11;

/// No position.
pub(crate) const NONE: u32 = u32::MAX;

/// A variable: z of a column, w of a row, or the artificial one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Var {
    Z(u32),
    W(u32),
    Artificial,
}

/// Where a basic variable sits: a slot of the block, or the row of a basic w.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Slot(u32),
    Row(u32),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Basis {
    n: usize,
    /// Size of the block.
    pub(crate) len: usize,
    /// The first so many slots and active rows are free unknowns and equations: they never leave.
    pub(crate) free: usize,
    stride: usize,
    pub(crate) kinv: Vec<f64>,
    pub(crate) columns: Vec<f64>,
    /// Column index of each slot, `n` for the artificial variable.
    pub(crate) slot_column: Vec<u32>,
    /// Slot of each column (`n` for the artificial variable) or [`NONE`].
    pub(crate) column_slot: Vec<u32>,
    /// Row of each active position.
    pub(crate) active_row: Vec<u32>,
    /// Active position of each row or [`NONE`].
    pub(crate) row_active: Vec<u32>,
    /// Values of the slots and of all w (0 in active rows).
    pub(crate) value: Vec<f64>,
    pub(crate) slack: Vec<f64>,
    /// Rates for the entering variable.
    pub(crate) delta: Vec<f64>,
    pub(crate) slack_delta: Vec<f64>,
    /// Column of the entering z.
    pub(crate) entering: Vec<f64>,
    /// Line of each variable in a tableau where the entering variable takes the line of the leaving one:
    /// z by column, then the artificial variable, then w by row.
    line: Vec<u32>,
    /// Multiply-adds since the last reset, counted by the sizes of the loops.
    pub(crate) operations: u64,
    scratch: Vec<f64>,
    border: Vec<f64>,
    /// Positions of what is not 0 in a sparse column or row.
    nonzero: Vec<u32>,
}

impl Basis {
    /// Makes room for `n` rows and starts with all w basic.
    pub(crate) fn reset(&mut self, n: usize) {
        self.n = n;
        self.len = 0;
        self.free = 0;
        self.operations = 0;
        self.stride = n + 1;
        grow(&mut self.kinv, (n + 1) * (n + 1));
        grow(&mut self.columns, (n + 1) * n);
        for v in [&mut self.value, &mut self.delta, &mut self.scratch, &mut self.border] {
            grow(v, n + 1);
        }
        for v in [&mut self.slack, &mut self.slack_delta, &mut self.entering] {
            grow(v, n);
        }
        for v in [&mut self.slot_column, &mut self.column_slot, &mut self.active_row, &mut self.row_active] {
            grow(v, n + 1);
            v[..=n].fill(NONE);
        }
        grow(&mut self.nonzero, n + 2);
        grow(&mut self.line, 2 * n + 1);
        for (k, line) in self.line[n + 1..=2 * n].iter_mut().enumerate() {
            *line = k as u32;
        }
    }

    fn line_at(&self, var: Var) -> usize {
        match var {
            Var::Z(column) => column as usize,
            Var::Artificial => self.n,
            Var::W(row) => self.n + 1 + row as usize,
        }
    }

    /// Line of the basic variable at a place.
    pub(crate) fn line(&self, place: Place) -> u32 {
        self.line[self.line_at(self.var(place))]
    }

    /// Rows of the problem.
    pub(crate) fn rows(&self) -> usize {
        self.n
    }

    /// Column of a slot.
    #[inline]
    fn column(&self, slot: usize) -> &[f64] {
        &self.columns[slot * self.n..][..self.n]
    }

    /// Slot of the artificial variable, if it is basic.
    #[inline]
    pub(crate) fn artificial(&self) -> Option<usize> {
        let slot = self.column_slot[self.n];
        (slot != NONE).then_some(slot as usize)
    }

    /// The variable at a place.
    pub(crate) fn var(&self, place: Place) -> Var {
        match place {
            Place::Row(row) => Var::W(row),
            Place::Slot(slot) => match self.slot_column[slot as usize] {
                column if column as usize == self.n => Var::Artificial,
                column => Var::Z(column),
            },
        }
    }

    /// Adds a column and a row without touching `kinv`; [`Basis::refactor`] must follow.
    pub(crate) fn push_raw(&mut self, column: u32, row: u32, fill: impl FnOnce(&mut [f64])) {
        let slot = self.len;
        fill(&mut self.columns[slot * self.n..][..self.n]);
        self.slot_column[slot] = column;
        self.column_slot[column as usize] = slot as u32;
        self.active_row[slot] = row;
        self.row_active[row as usize] = slot as u32;
        self.len += 1;
    }

    /// Rates when z with the column in `entering` grows; returns the error seen in the active rows.
    pub(crate) fn rates_of_z(&mut self) -> f64 {
        let m = self.len;
        let mut count = 0;
        for c in 0..m {
            let b = self.entering[self.active_row[c] as usize];
            self.scratch[c] = b;
            self.nonzero[count] = c as u32;
            count += usize::from(b != 0.0);
        }
        if 3 * count < m {
            // Columns of contact problems are mostly 0.
            let nonzero = &self.nonzero[..count];
            for (d, row) in self.delta[..m].iter_mut().zip(self.kinv.chunks_exact(self.stride)) {
                *d = nonzero.iter().map(|&c| row[c as usize] * self.scratch[c as usize]).sum();
            }
        } else {
            rows_times(&mut self.delta[..m], &self.kinv, self.stride, &self.scratch[..m]);
        }
        self.operations += (m * m) as u64;
        for d in &mut self.delta[..m] {
            *d = -*d;
        }
        self.slack_delta[..self.n].copy_from_slice(&self.entering[..self.n]);
        combine_rows(&mut self.slack_delta[..self.n], &self.columns, self.n, &self.delta[..m]);
        self.settle_rates(NONE)
    }

    /// Rates when the w of an active row grows; returns the error seen in the active rows.
    pub(crate) fn rates_of_w(&mut self, row: u32) -> f64 {
        let (m, c) = (self.len, self.row_active[row as usize]);
        for slot in 0..m {
            self.delta[slot] = self.kinv[slot * self.stride + c as usize];
        }
        self.slack_delta[..self.n].fill(0.0);
        combine_rows(&mut self.slack_delta[..self.n], &self.columns, self.n, &self.delta[..m]);
        self.settle_rates(c)
    }

    /// Measures the error in the active rows, removes it by one step of refinement if it shows, and clears them.
    fn settle_rates(&mut self, entering: u32) -> f64 {
        let m = self.len;
        self.operations += (m * self.n) as u64;
        if entering != NONE {
            self.slack_delta[self.active_row[entering as usize] as usize] -= 1.0;
        }
        let mut error = 0.0_f64;
        for (e, &row) in self.scratch[..m].iter_mut().zip(&self.active_row) {
            *e = self.slack_delta[row as usize];
            error = larger(error, e.abs());
            self.slack_delta[row as usize] = 0.0;
        }
        if error > REFINE_ERROR && error > REFINE_ERROR * max_abs(&self.delta[..m]) {
            rows_times(&mut self.border[..m], &self.kinv, self.stride, &self.scratch[..m]);
            self.operations += (m * (m + self.n)) as u64;
            for b in &mut self.border[..m] {
                *b = -*b;
            }
            axpy(&mut self.delta[..m], 1.0, &self.border[..m]);
            combine_rows(&mut self.slack_delta[..self.n], &self.columns, self.n, &self.border[..m]);
            for &row in &self.active_row[..m] {
                self.slack_delta[row as usize] = 0.0;
            }
        }
        error
    }

    /// Moves along the rates by `step`; returns the smallest basic value.
    pub(crate) fn advance(&mut self, step: f64) -> f64 {
        let (m, n) = (self.len, self.n);
        let (free, bound) = self.value[..m].split_at_mut(self.free);
        let (free_delta, bound_delta) = self.delta[..m].split_at(self.free);
        advance(free, step, free_delta);
        let worst = advance(bound, step, bound_delta);
        worst.min(advance(&mut self.slack[..n], step, &self.slack_delta[..n]))
    }

    /// Exchanges the entering variable with the basic one at `leaving`; its value becomes `step`.
    pub(crate) fn pivot(&mut self, entering: Var, leaving: Place, step: f64) {
        self.operations += (self.len * self.len) as u64;
        let at = self.line_at(entering);
        self.line[at] = self.line(leaving);
        match (entering, leaving) {
            (Var::W(s), Place::Row(l)) => self.row_for_row(s, l, step),
            (Var::W(s), Place::Slot(p)) => self.shrink(s, p as usize, step),
            (Var::Z(s), Place::Row(l)) => self.grow_block(s, l, step),
            (Var::Z(s), Place::Slot(p)) => self.column_for_column(s, p as usize, step),
            (Var::Artificial, Place::Row(l)) => self.grow_block(self.n as u32, l, step),
            (Var::Artificial, Place::Slot(p)) => self.column_for_column(self.n as u32, p as usize, step),
        }
    }

    fn column_for_column(&mut self, column: u32, p: usize, step: f64) {
        let (m, stride) = (self.len, self.stride);
        self.border[..m].copy_from_slice(&self.kinv[p * stride..][..m]);
        let inv = -1.0 / self.delta[p];
        for b in &mut self.border[..m] {
            *b *= inv;
        }
        let border = &self.border[..m];
        add_to_rows(&mut self.kinv, stride, &self.delta[..m], 1.0, border);
        self.kinv[p * stride..][..m].copy_from_slice(&self.border[..m]);
        self.columns[p * self.n..][..self.n].copy_from_slice(&self.entering[..self.n]);
        self.column_slot[self.slot_column[p] as usize] = NONE;
        self.slot_column[p] = column;
        self.column_slot[column as usize] = p as u32;
        self.value[p] = step;
    }

    /// vᵀ = (row `l` of the slots' columns)ᵀ K⁻¹ into `border`.
    fn row_through_inverse(&mut self, l: u32) {
        let m = self.len;
        let mut count = 0;
        for slot in 0..m {
            let r = self.columns[slot * self.n + l as usize];
            self.scratch[slot] = r;
            self.nonzero[count] = slot as u32;
            count += usize::from(r != 0.0);
        }
        self.operations += (m * m) as u64;
        let border = &mut self.border[..m];
        border.fill(0.0);
        if 2 * count < m {
            for &slot in &self.nonzero[..count] {
                let slot = slot as usize;
                axpy(border, self.scratch[slot], &self.kinv[slot * self.stride..][..m]);
            }
        } else {
            combine_rows(border, &self.kinv, self.stride, &self.scratch[..m]);
        }
    }

    fn grow_block(&mut self, column: u32, l: u32, step: f64) {
        let (m, stride) = (self.len, self.stride);
        self.row_through_inverse(l);
        let inv = 1.0 / self.slack_delta[l as usize];
        // K⁻¹ + u vᵀ/σ with u = −delta, and the new column −u/σ = delta/σ.
        let border = &self.border[..m];
        add_to_rows(&mut self.kinv, stride, &self.delta[..m], -inv, border);
        for (row, d) in self.kinv.chunks_exact_mut(stride).zip(&self.delta[..m]) {
            row[m] = d * inv;
        }
        for c in 0..m {
            self.kinv[m * stride + c] = -self.border[c] * inv;
        }
        self.kinv[m * stride + m] = inv;
        self.columns[m * self.n..][..self.n].copy_from_slice(&self.entering[..self.n]);
        self.slot_column[m] = column;
        self.column_slot[column as usize] = m as u32;
        self.active_row[m] = l;
        self.row_active[l as usize] = m as u32;
        self.value[m] = step;
        self.slack[l as usize] = 0.0;
        self.len += 1;
    }

    fn row_for_row(&mut self, s: u32, l: u32, step: f64) {
        let (m, stride) = (self.len, self.stride);
        let c = self.row_active[s as usize] as usize;
        self.row_through_inverse(l);
        let inv = 1.0 / self.border[c];
        let border = &self.border[..m];
        replace_in_rows(&mut self.kinv, stride, m, c, inv, border);
        self.row_active[s as usize] = NONE;
        self.active_row[c] = l;
        self.row_active[l as usize] = c as u32;
        self.slack[s as usize] = step;
        self.slack[l as usize] = 0.0;
    }

    fn shrink(&mut self, s: u32, p: usize, step: f64) {
        let (m, stride) = (self.len, self.stride);
        let c = self.row_active[s as usize] as usize;
        let inv = 1.0 / self.kinv[p * stride + c];
        self.border[..m].copy_from_slice(&self.kinv[p * stride..][..m]);
        let last = m - 1;
        // Row p too: it goes anyway.
        replace_in_rows(&mut self.kinv, stride, m, c, inv, &self.border[..m]);
        for row in self.kinv.chunks_exact_mut(stride).take(m) {
            row[c] = row[last];
        }
        self.kinv.copy_within(last * stride..last * stride + last, p * stride);
        let n = self.n;
        self.columns.copy_within(last * n..last * n + n, p * n);
        self.column_slot[self.slot_column[p] as usize] = NONE;
        self.row_active[s as usize] = NONE;
        if p != last {
            self.slot_column[p] = self.slot_column[last];
            self.column_slot[self.slot_column[p] as usize] = p as u32;
            self.value[p] = self.value[last];
        }
        if c != last {
            self.active_row[c] = self.active_row[last];
            self.row_active[self.active_row[c] as usize] = c as u32;
        }
        self.slack[s as usize] = step;
        self.len = last;
    }

    /// K⁻¹ from scratch by Gauss-Jordan elimination with row pivoting; false if K is singular.
    pub(crate) fn refactor(&mut self) -> bool {
        let (m, stride) = (self.len, self.stride);
        self.operations += (m * m * m) as u64;
        // K has rows by active position and columns by slot; its inverse comes out as rows by slot.
        for c in 0..m {
            let row = self.active_row[c] as usize;
            for slot in 0..m {
                self.kinv[c * stride + slot] = self.columns[slot * self.n + row];
            }
        }
        // The permutation lives in `scratch` as whole numbers.
        for k in 0..m {
            let mut at = k;
            let mut size = self.kinv[k * stride + k].abs();
            for r in k + 1..m {
                let candidate = self.kinv[r * stride + k].abs();
                if candidate > size {
                    (at, size) = (r, candidate);
                }
            }
            if size < 1e-13 || size.is_nan() {
                return false;
            }
            self.scratch[k] = at as f64;
            if at != k {
                let (upper, lower) = self.kinv.split_at_mut(at * stride);
                upper[k * stride..][..m].swap_with_slice(&mut lower[..m]);
            }
            let inv = 1.0 / self.kinv[k * stride + k];
            self.kinv[k * stride + k] = 1.0;
            for v in &mut self.kinv[k * stride..][..m] {
                *v *= inv;
            }
            self.border[..m].copy_from_slice(&self.kinv[k * stride..][..m]);
            for r in 0..m {
                if r != k {
                    let f = self.kinv[r * stride + k];
                    self.kinv[r * stride + k] = 0.0;
                    if f != 0.0 {
                        axpy(&mut self.kinv[r * stride..][..m], -f, &self.border[..m]);
                    }
                }
            }
        }
        for k in (0..m).rev() {
            let at = self.scratch[k] as usize;
            if at != k {
                for r in 0..m {
                    self.kinv.swap(r * stride + k, r * stride + at);
                }
            }
        }
        true
    }

    /// Values of all basic variables from `q`, with one step of refinement.
    pub(crate) fn recompute_values(&mut self, q: &[f64]) {
        self.value[..self.len].fill(0.0);
        self.refine_values(q, 2);
    }

    /// Steps of refinement from the present values; w follows.
    pub(crate) fn refine_values(&mut self, q: &[f64], steps: u32) {
        let m = self.len;
        self.refine_slots(q, steps);
        self.slack_from_values(q);
        for c in 0..m {
            self.slack[self.active_row[c] as usize] = 0.0;
        }
    }

    /// Steps of refinement of the slots alone, from their present values; w is that of the step before.
    pub(crate) fn refine_slots(&mut self, q: &[f64], steps: u32) {
        let m = self.len;
        for _ in 0..steps {
            self.operations += (m * (m + 2 * self.n)) as u64;
            self.slack_from_values(q);
            for c in 0..m {
                self.scratch[c] = self.slack[self.active_row[c] as usize];
            }
            rows_times(&mut self.border[..m], &self.kinv, self.stride, &self.scratch[..m]);
            axpy(&mut self.value[..m], -1.0, &self.border[..m]);
        }
    }

    fn slack_from_values(&mut self, q: &[f64]) {
        self.slack[..self.n].copy_from_slice(&q[..self.n]);
        combine_rows(&mut self.slack[..self.n], &self.columns, self.n, &self.value[..self.len]);
    }

    /// Entry (`place`, `row`) of the full basis inverse: the rate of a basic variable in `q_row`.
    /// `row` must be active.
    pub(crate) fn inverse_entry(&self, place: Place, row: u32) -> f64 {
        let c = self.row_active[row as usize] as usize;
        match place {
            Place::Slot(slot) => -self.kinv[slot as usize * self.stride + c],
            Place::Row(i) => {
                let mut sum = 0.0;
                for slot in 0..self.len {
                    sum += self.columns[slot * self.n + i as usize] * self.kinv[slot * self.stride + c];
                }
                -sum
            }
        }
    }

    /// ‖K K⁻¹ − 1‖∞ entrywise: how good the updated inverse is.
    pub(crate) fn inverse_error(&self) -> f64 {
        let m = self.len;
        let mut worst = 0.0_f64;
        for a in 0..m {
            let row = self.active_row[a] as usize;
            for b in 0..m {
                let sum: f64 = (0..m).map(|s| self.column(s)[row] * self.kinv[s * self.stride + b]).sum();
                worst = worst.max((sum - if a == b { 1.0 } else { 0.0 }).abs());
            }
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    /// Makes random exchanges with decent pivots and counts the four kinds.
    fn walk(n: usize, pivots: usize, random: &mut SplitMix64, mut visit: impl FnMut(&Basis)) -> [u32; 4] {
        let table: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
        let mut basis = Basis::default();
        basis.reset(n);
        basis.slack[..n].fill(1.0);
        let mut kinds = [0; 4];
        for _ in 0..pivots {
            let k = random.below(n) as u32;
            // Any nonbasic variable may enter: z if its column has no slot, else w if its row is active.
            let enter = if random.below(2) == 0 && basis.row_active[k as usize] != NONE {
                basis.rates_of_w(k);
                Var::W(k)
            } else if basis.column_slot[k as usize] == NONE {
                for i in 0..n {
                    basis.entering[i] = table[i * n + k as usize];
                }
                basis.rates_of_z();
                Var::Z(k)
            } else {
                continue;
            };
            let slots = (0..basis.len).map(|s| (Place::Slot(s as u32), basis.delta[s]));
            let rows = (0..n)
                .filter(|&i| basis.row_active[i] == NONE)
                .map(|i| (Place::Row(i as u32), basis.slack_delta[i]));
            let good: Vec<Place> = slots.chain(rows).filter(|(_, d)| d.abs() > 0.2).map(|(p, _)| p).collect();
            if good.is_empty() {
                continue;
            }
            let leave = good[random.below(good.len())];
            kinds[match (enter, leave) {
                (Var::Z(_) | Var::Artificial, Place::Slot(_)) => 0,
                (Var::Z(_) | Var::Artificial, Place::Row(_)) => 1,
                (Var::W(_), Place::Row(_)) => 2,
                (Var::W(_), Place::Slot(_)) => 3,
            }] += 1;
            basis.pivot(enter, leave, 0.5);
            visit(&basis);
        }
        kinds
    }

    #[test]
    fn each_kind_of_pivot_updates_the_inverse() {
        let mut random = SplitMix64(7);
        let mut total = [0; 4];
        for n in [1, 2, 3, 5, 9, 20] {
            let mut since = 0;
            let kinds = walk(n, 60, &mut random, |b| {
                since += 1;
                assert!(b.inverse_error() < 1e-8, "n = {n}, after {since}: {}", b.inverse_error());
            });
            for (t, k) in total.iter_mut().zip(kinds) {
                *t += k;
            }
        }
        assert!(total.iter().all(|&k| k > 20), "{total:?}");
    }

    // proves: CLI-38
    #[test]
    fn updated_inverse_equals_a_fresh_one() {
        let mut random = SplitMix64(8);
        for n in [4, 12, 25] {
            walk(n, 100, &mut random, |b| {
                let mut fresh = b.clone();
                assert!(fresh.refactor());
                let m = b.len;
                let scale = max_abs(&fresh.kinv[..]).max(1.0);
                for s in 0..m {
                    for c in 0..m {
                        let at = s * (n + 1) + c;
                        assert!(
                            (b.kinv[at] - fresh.kinv[at]).abs() < 1e-8 * scale,
                            "n = {n}, entry {s}, {c}"
                        );
                    }
                }
            });
        }
    }
}
