//! Fixed points, sooner: Anderson's acceleration.
//!
//! # Reference
//!
//! Anderson (1965); Walker and Ni (2011), "Anderson acceleration for fixed-point iterations".
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | x | present guess |
//! | g | what the map makes of it |
//! | r | g − x |
//! | ΔX, ΔR | differences of the guesses and of r from one iteration to the next, the last [`DEPTH`] of them |
//!
//! # Formula
//!
//! ```text
//! γ minimises |r − ΔR γ|,   x⁺ = g − (ΔX + ΔR) γ
//! ```
//!
//! # Cost
//!
//! O(n d²) for d differences; no allocation once the vectors have grown.
//!
//! # Numerics
//!
//! Normal equations, by Gauss's elimination with the diagonal raised by 1e-10 of the largest: differences that hardly differ from others are not used up.
//! A map that is linear in few directions is at its fixed point after as many iterations.
//!
//! # Failure
//!
//! None: where the system cannot be solved, x⁺ = g.
//!
//! # Tested by
//!
//! `a_linear_map_is_solved_in_as_many_iterations_as_it_has_directions`

/// Differences that are remembered.
pub(crate) const DEPTH: usize = 6;

/// Memory of the iterations before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anderson {
    guesses: [Vec<f64>; DEPTH],
    errors: [Vec<f64>; DEPTH],
    last_guess: Vec<f64>,
    last_error: Vec<f64>,
    /// Iterations since the start.
    count: usize,
}

impl Anderson {
    /// Forgets all.
    pub(crate) fn restart(&mut self) {
        self.count = 0;
    }

    /// Turns a guess into the next one, given what the map makes of it. Both have the length of the calls before.
    pub(crate) fn next(&mut self, x: &mut [f64], g: &[f64]) {
        if self.count > 0 {
            let slot = (self.count - 1) % DEPTH;
            let (dx, dr) = (&mut self.guesses[slot], &mut self.errors[slot]);
            dx.clear();
            dr.clear();
            dx.extend(x.iter().zip(&self.last_guess).map(|(x, last)| x - last));
            dr.extend(g.iter().zip(&*x).zip(&self.last_error).map(|((g, x), last)| g - x - last));
        }
        self.last_guess.clear();
        self.last_guess.extend_from_slice(x);
        self.last_error.clear();
        self.last_error.extend(g.iter().zip(&*x).map(|(g, x)| g - x));
        let depth = self.count.min(DEPTH);
        self.count += 1;
        x.copy_from_slice(g);
        let Some(gamma) = self.weights(depth) else { return };
        for (k, gamma) in gamma.iter().enumerate().take(depth) {
            let steps = self.guesses[k].iter().zip(&self.errors[k]);
            for (x, (dx, dr)) in x.iter_mut().zip(steps) {
                *x -= gamma * (dx + dr);
            }
        }
    }

    /// γ, if it can be had.
    #[allow(clippy::needless_range_loop, reason = "rows and columns of a matrix")]
    fn weights(&self, depth: usize) -> Option<[f64; DEPTH]> {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let (mut matrix, mut rhs) = ([[0.0; DEPTH]; DEPTH], [0.0; DEPTH]);
        let mut largest = 0.0_f64;
        for i in 0..depth {
            for j in 0..depth {
                matrix[i][j] = dot(&self.errors[i], &self.errors[j]);
            }
            largest = largest.max(matrix[i][i]);
            rhs[i] = dot(&self.errors[i], &self.last_error);
        }
        if depth == 0 || largest <= 0.0 {
            return None;
        }
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += 1e-10 * largest;
        }
        // Positive definite: no pivots are needed.
        for i in 0..depth {
            for k in i + 1..depth {
                let share = matrix[k][i] / matrix[i][i];
                for j in i..depth {
                    matrix[k][j] -= share * matrix[i][j];
                }
                rhs[k] -= share * rhs[i];
            }
        }
        for i in (0..depth).rev() {
            let sum: f64 = (i + 1..depth).map(|j| matrix[i][j] * rhs[j]).sum();
            rhs[i] = (rhs[i] - sum) / matrix[i][i];
        }
        rhs.iter().all(|x| x.is_finite()).then_some(rhs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_map_is_solved_in_as_many_iterations_as_it_has_directions() {
        // x → A x + b with slopes that plain iteration would need hundreds of rounds for, one of them growing.
        let slopes = [0.99, -0.98, 0.5, 1.2];
        let map = |x: &[f64]| -> Vec<f64> { x.iter().zip(slopes).map(|(x, a)| a * x + 1.0).collect() };
        let mut x = vec![0.0; 4];
        let mut anderson = Anderson::default();
        for _ in 0..8 {
            let g = map(&x);
            anderson.next(&mut x, &g);
        }
        for (x, a) in x.iter().zip(slopes) {
            let exact = 1.0 / (1.0 - a);
            assert!((x - exact).abs() < 1e-4 * exact.abs(), "{x} against {exact}");
        }
    }
}
