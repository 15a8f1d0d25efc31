//! Rows that hold, as one linear system: what joints answer to any impulse or force on their bodies.
//!
//! # Reference
//!
//! Baraff (1996), "Linear-time dynamics using Lagrange multipliers", for multipliers of joints; Jennings (1966) for factors with a short envelope.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | J | rows: u = J v | - |
//! | A | J M⁻¹ Jᵀ, scaled so that its diagonal is one | - |
//! | L | its factor, A = L Lᵀ | - |
//! | λ | impulses of the rows | N·s, N·m·s |
//!
//! # Formula
//!
//! ```text
//! L_ij = (A_ij − Σ_k L_ik L_jk) / L_jj,   L_ii = √(A_ii − Σ_k L_ik²)
//! a row with A_ii − Σ_k L_ik² ≤ `SAME` follows from those before it: 1/L_ii = 0, so that its λ is zero
//! ```
//!
//! # Cost
//!
//! n b² for n rows that reach b rows back: linear for a chain whose joints are in order. No allocation once grown.
//!
//! # Numerics
//!
//! Rows that are there twice, or that follow from others (loops in space), are found by their pivot. A light body between heavy ones makes pivots small: a ratio
//! of masses of 10⁸ is sound.
//!
//! # Failure
//!
//! None: a row that moves nothing, or whose numbers are not finite, has no impulse.
//!
//! # Tested by
//!
//! `what_is_held_does_not_move`, `rows_that_are_there_twice_change_nothing`, `a_reduced_response_is_that_of_all_rows`

use crate::pool::PoolBody;
use sim_math::{dense::dot, glam::DVec3, spatial::Motion};
use std::ops::{Mul, SubAssign};

/// Pivot up to which a row follows from those before it.
const SAME: f64 = 1e-9;
/// Nobody.
const NONE: u32 = u32::MAX;

/// How one row feels and pushes one body: u = moment·ω + force·v at the centre of mass, world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldSide {
    /// Number in the pool; numbers beyond it are the ground.
    pub body: u32,
    /// Moment of a unit impulse.
    pub moment: DVec3,
    /// Force of a unit impulse.
    pub force: DVec3,
}

impl HeldSide {
    /// What a body with this velocity adds to the velocity of the row.
    #[inline]
    #[must_use]
    pub fn velocity(&self, body: Motion) -> f64 {
        self.moment.dot(body.angular) + self.force.dot(body.linear)
    }
}

/// Single rows with any number of sides.
#[derive(Debug, Clone, Default)]
pub struct RowList {
    /// Where the sides of each row start; one more than there are rows.
    starts: Vec<u32>,
    sides: Vec<HeldSide>,
}

impl RowList {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.sides.clear();
    }

    /// Number of rows.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True if there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a row.
    pub fn add(&mut self, sides: impl Iterator<Item = HeldSide>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.sides.extend(sides);
        self.starts.push(self.sides.len() as u32);
    }

    /// Sides of a row.
    #[inline]
    #[must_use]
    pub fn of(&self, row: usize) -> &[HeldSide] {
        match self.starts.get(row..row + 2) {
            Some(&[start, end]) => &self.sides[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Velocity of a row, without what moves its targets.
    #[must_use]
    pub fn velocity(&self, row: usize, bodies: &[PoolBody]) -> f64 {
        let of = |s: &HeldSide| bodies.get(s.body as usize).map_or(0.0, |b| s.velocity(b.velocity));
        self.of(row).iter().map(of).sum()
    }

    /// Gives an impulse of a row to the bodies.
    pub fn push(&self, bodies: &mut [PoolBody], row: usize, impulse: f64) {
        for side in self.of(row) {
            if let Some(body) = bodies.get_mut(side.body as usize).filter(|b| b.is_movable()) {
                body.velocity.linear += side.force * (impulse * body.inverse_mass);
                body.velocity.angular += body.inverse_inertia * (side.moment * impulse);
            }
        }
    }
}

/// Rows that hold, and the factor of their response.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// The rows.
    pub rows: RowList,
    /// By body: the body that stands for all that hang together with it.
    parent: Vec<u32>,
    // Factor: first column of each row, where its entries start, entries up to the inverse of the diagonal, scale, and its diagonal block.
    first: Vec<u32>,
    begins: Vec<usize>,
    data: Vec<f64>,
    scale: Vec<f64>,
    span: Vec<[u32; 2]>,
    /// By body: its last entry in `chain`, which has side and row, the entry before, and the oldest row.
    heads: Vec<u32>,
    chain: Vec<[u32; 4]>,
    cursor: Vec<u32>,
}

fn root(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        parent[k as usize] = parent[parent[k as usize] as usize];
        k = parent[k as usize];
    }
    k
}

impl Held {
    /// No rows, for a pool of so many bodies.
    pub fn clear(&mut self, bodies: usize) {
        self.rows.clear();
        self.part(bodies);
        self.heads.clear();
    }

    /// Number of rows.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Says that two bodies hang together, though no row that holds connects them: limits do so.
    pub fn join(&mut self, a: u32, b: u32) {
        let count = self.parent.len() as u32;
        if a < count && b < count {
            let (a, b) = (root(&mut self.parent, a), root(&mut self.parent, b));
            self.parent[a.max(b) as usize] = a.min(b);
        }
    }

    /// The body that stands for all that hang together with `body` after [`Held::factor`]; itself if nothing holds it.
    #[inline]
    #[must_use]
    pub fn stands_for(&self, body: u32) -> u32 {
        self.parent.get(body as usize).copied().unwrap_or(body)
    }

    /// True if a row holds this body.
    #[inline]
    #[must_use]
    pub fn holds(&self, body: u32) -> bool {
        self.heads.get(body as usize).is_some_and(|head| *head != NONE)
    }

    /// Forgets who hangs together: there may be more bodies than before.
    pub fn part(&mut self, bodies: usize) {
        self.parent.clear();
        self.parent.extend(0..bodies as u32);
    }

    /// Finds out who hangs together, and factors the response. Returns how many rows follow from others.
    pub fn factor(&mut self, bodies: &[PoolBody]) -> usize {
        let n = self.len();
        let movable = |k: u32| bodies.get(k as usize).is_some_and(PoolBody::is_movable);
        for row in 0..n {
            let mut last = NONE;
            for at in self.rows.starts[row]..self.rows.starts[row + 1] {
                let body = self.rows.sides[at as usize].body;
                if movable(body) {
                    if last != NONE {
                        self.join(last, body);
                    }
                    last = body;
                }
            }
        }
        for k in 0..self.parent.len() as u32 {
            self.parent[k as usize] = root(&mut self.parent, k);
        }
        self.find_envelope(bodies);
        self.assemble(bodies);
        (0..n).filter(|&row| !self.eliminate(row)).count()
    }

    /// First columns, and spans of diagonal blocks.
    fn find_envelope(&mut self, bodies: &[PoolBody]) {
        let Self { rows: RowList { starts, sides }, first, begins, data, span, heads, chain, .. } = self;
        let n = starts.len().saturating_sub(1);
        heads.clear();
        heads.resize(bodies.len(), NONE);
        chain.clear();
        first.clear();
        begins.clear();
        let mut end = 0;
        for row in 0..n {
            let mut least = row as u32;
            for at in starts[row]..starts[row + 1] {
                let body = sides[at as usize].body as usize;
                if bodies.get(body).is_some_and(PoolBody::is_movable) {
                    let head = heads[body];
                    let oldest = if head == NONE { row as u32 } else { chain[head as usize][3] };
                    least = least.min(oldest);
                    heads[body] = chain.len() as u32;
                    chain.push([at, row as u32, head, oldest]);
                }
            }
            first.push(least);
            begins.push(end);
            end += row + 1 - least as usize;
        }
        begins.push(end);
        data.clear();
        data.resize(end, 0.0);
        span.clear();
        span.resize(n, [0; 2]);
        let (mut least, mut last) = (n, n);
        for row in (0..n).rev() {
            least = least.min(first[row] as usize);
            if least == row {
                span[row..last].fill([row as u32, last as u32]);
                last = row;
            }
        }
    }

    /// A, scaled.
    fn assemble(&mut self, bodies: &[PoolBody]) {
        let Self {
            rows: RowList { starts, sides }, first, begins, data, scale, heads, chain, cursor, ..
        } = self;
        let n = starts.len().saturating_sub(1);
        cursor.clone_from(heads);
        // From the last row back: the chain of a body then has the rows before, and its own.
        for row in (0..n).rev() {
            for at in (starts[row]..starts[row + 1]).rev() {
                let side = sides[at as usize];
                let Some(body) = bodies.get(side.body as usize).filter(|b| b.is_movable()) else { continue };
                let (turn, shift) = (body.inverse_inertia * side.moment, side.force * body.inverse_mass);
                let head = cursor[side.body as usize];
                let mut link = head;
                while link != NONE {
                    let [other, j, next, _] = chain[link as usize];
                    let (s, j) = (&sides[other as usize], j as usize);
                    let x = s.moment.dot(turn) + s.force.dot(shift);
                    // The same body may be there more than once in a row, as under a pulley.
                    let twice = if j == row && other != at { 2.0 } else { 1.0 };
                    data[begins[row] + j - first[row] as usize] += twice * x;
                    link = next;
                }
                cursor[side.body as usize] = chain[head as usize][2];
            }
        }
        scale.clear();
        scale.extend((0..n).map(|i| {
            let size = data[begins[i + 1] - 1];
            if size > 0.0 && size.is_finite() { 1.0 / size.sqrt() } else { 0.0 }
        }));
        for i in 0..n {
            let start = first[i] as usize;
            for (k, x) in data[begins[i]..begins[i + 1]].iter_mut().enumerate() {
                *x *= scale[i] * scale[start + k];
            }
        }
    }

    /// Row i of the factor; false if it follows from others.
    fn eliminate(&mut self, i: usize) -> bool {
        let Self { first, begins, data, .. } = self;
        let (done, row) = data.split_at_mut(begins[i]);
        let start = first[i] as usize;
        for j in start..i {
            let (above, first) = (&done[begins[j]..begins[j + 1]], first[j] as usize);
            let (from, inverse) = (start.max(first), above[above.len() - 1]);
            let known = dot(&row[from - start..j - start], &above[from - first..above.len() - 1]);
            row[j - start] = (row[j - start] - known) * inverse;
        }
        let pivot = row[i - start] - dot(&row[..i - start], &row[..i - start]);
        let sound = pivot > SAME && pivot.is_finite();
        row[i - start] = if sound { 1.0 / pivot.sqrt() } else { 0.0 };
        sound
    }

    /// The rows that are connected with those of a body.
    #[must_use]
    pub fn span_of(&self, body: u32) -> [usize; 2] {
        let Some(link) = self.heads.get(body as usize).and_then(|head| self.chain.get(*head as usize)) else {
            return [0; 2];
        };
        // All rows of a body are in one diagonal block.
        self.span[link[1] as usize].map(|k| k as usize)
    }

    /// Adds to `out`, which begins with row `offset`, the velocities of rows that changes of the velocity of a body bring about, three changes at a time.
    pub fn couple(&self, body: u32, changes: &[Motion; 3], offset: usize, out: &mut [DVec3]) {
        let mut link = self.heads.get(body as usize).copied().unwrap_or(NONE);
        while link != NONE {
            let [side, row, next, _] = self.chain[link as usize];
            let side = &self.rows.sides[side as usize];
            out[row as usize - offset] += DVec3::from_array(changes.map(|change| side.velocity(change)));
            link = next;
        }
    }

    /// x ← L⁻¹ S x for rows from `offset` on, which begin a span; S is the scale.
    pub fn forward<T: Copy + SubAssign + Mul<f64, Output = T>>(&self, offset: usize, x: &mut [T]) {
        for at in 0..x.len() {
            let i = offset + at;
            let row = &self.data[self.begins[i]..self.begins[i + 1]];
            let Some((inverse, row)) = row.split_last() else { continue };
            let (known, rest) = x.split_at_mut(at);
            let mut sum = rest[0] * self.scale[i];
            // A span begins at `offset`: no row reaches back further.
            for (l, y) in row.iter().zip(&known[self.first[i] as usize - offset..]) {
                sum -= *y * *l;
            }
            rest[0] = sum * *inverse;
        }
    }

    /// x ← S L⁻ᵀ x for rows from `offset` on, which end a span.
    pub fn backward<T: Copy + SubAssign + Mul<f64, Output = T>>(&self, offset: usize, x: &mut [T]) {
        for at in (0..x.len()).rev() {
            let i = offset + at;
            let row = &self.data[self.begins[i]..self.begins[i + 1]];
            let Some((inverse, row)) = row.split_last() else { continue };
            let (before, rest) = x.split_at_mut(at);
            let y = rest[0] * *inverse;
            for (l, x) in row.iter().zip(&mut before[self.first[i] as usize - offset..]) {
                *x -= y * *l;
            }
            rest[0] = y * self.scale[i];
        }
    }

    /// λ of J M⁻¹ Jᵀ λ = x, in place.
    pub fn solve(&self, x: &mut [f64]) {
        self.forward(0, x);
        self.backward(0, x);
    }
}
