//! Chains of cubic pieces in Bézier form, and their global closest point.
//!
//! # Reference
//! Farin, *Curves and Surfaces for CAGD*, chapters 4 to 6; the closest point is a branch and bound on the
//! Bernstein form of the squared distance, in the spirit of Schneider, "Solving the nearest-point-on-curve
//! problem" (*Graphics Gems*, 1990).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `q` | four Bézier points of a piece, relative to the target |
//! | `d` | seven Bernstein coefficients of D(u) = abs(c(u) - p)² |
//!
//! # Formula
//! ```text
//! D_k = Σ_{i+j=k} C(3,i) C(3,j) / C(6,k)  q_i · q_j          min D_k ≤ D(u) on the piece
//! first differences of one sign: D is monotone; second differences ≥ 0: D is convex
//! ```
//! A piece whose least coefficient is not below the best distance so far is dropped, a monotone one is
//! settled by its ends, a convex one by a safeguarded Newton iteration; any other is halved.
//!
//! # Cost
//! O(pieces) for the bounds, then a few dozen halvings. No allocation.
//!
//! # Numerics
//! The Bézier points, not D, are halved, so D keeps its relative accuracy near the curve. A piece is also
//! dropped when it could improve the squared distance by less than 1e-14 of it: this ends the search where
//! the distance is constant to rounding.
//!
//! # Failure
//! None for finite input; the depth is bounded by the digits of the parameter.
//!
//! # Tested by
//! `closest_is_never_beaten_by_dense_sampling`, `degenerate_splines_end_their_search`

use super::{ClosestOnCurve, Domain};
use glam::DVec3;

/// Cubic pieces one after the other; piece i covers the parameters i to i + 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CubicChain {
    /// Four Bézier points per piece.
    pub(super) pieces: Vec<[DVec3; 4]>,
    pub(super) closed: bool,
}

impl CubicChain {
    pub(super) fn domain(&self) -> Domain {
        Domain { start: 0.0, end: self.pieces.len() as f64, closed: self.closed }
    }

    /// Piece of parameter `s` and the place in it: the first or last piece outside an open chain.
    fn locate(&self, s: f64) -> (&[DVec3; 4], f64) {
        let s = if self.closed { self.domain().wrap(s) } else { s };
        // A cast saturates: NaN and negative numbers become piece 0.
        let piece = (s as usize).min(self.pieces.len() - 1);
        (&self.pieces[piece], s - piece as f64)
    }

    pub(super) fn point(&self, s: f64) -> DVec3 {
        let (q, u) = self.locate(s);
        let v = 1.0 - u;
        v * v * v * q[0] + 3.0 * v * v * u * q[1] + 3.0 * v * u * u * q[2] + u * u * u * q[3]
    }

    pub(super) fn derivative(&self, s: f64) -> DVec3 {
        let (q, u) = self.locate(s);
        first(q, u)
    }

    pub(super) fn second_derivative(&self, s: f64) -> DVec3 {
        let (q, u) = self.locate(s);
        second(q, u)
    }

    /// Closest point of the whole chain; the target is finite.
    pub(super) fn closest(&self, target: DVec3) -> ClosestOnCurve {
        let mut best = Best { squared: f64::INFINITY, parameter: 0.0 };
        // Ends first: good bounds let most pieces be dropped unseen.
        for (i, q) in self.pieces.iter().enumerate() {
            best.offer((q[0] - target).length_squared(), i as f64);
            best.offer((q[3] - target).length_squared(), (i + 1) as f64);
        }
        for (i, q) in self.pieces.iter().enumerate() {
            search(q.map(|p| p - target), i as f64, &mut best);
        }
        let parameter = self.domain().wrap(best.parameter);
        let point = self.point(parameter);
        ClosestOnCurve { parameter, point, distance: (target - point).length() }
    }
}

fn first(q: &[DVec3; 4], u: f64) -> DVec3 {
    let v = 1.0 - u;
    3.0 * (v * v * (q[1] - q[0]) + 2.0 * u * v * (q[2] - q[1]) + u * u * (q[3] - q[2]))
}

fn second(q: &[DVec3; 4], u: f64) -> DVec3 {
    6.0 * ((1.0 - u) * (q[2] - 2.0 * q[1] + q[0]) + u * (q[3] - 2.0 * q[2] + q[1]))
}

#[derive(Debug, Clone, Copy)]
struct Best {
    squared: f64,
    parameter: f64,
}

impl Best {
    fn offer(&mut self, squared: f64, parameter: f64) {
        if squared < self.squared {
            *self = Self { squared, parameter };
        }
    }
}

/// Depth-first halving needs one waiting half per level.
const MAX_DEPTH: usize = 50;
/// Relative improvement of the squared distance that is not worth a search.
const SLACK: f64 = 1e-14;

#[derive(Debug, Clone, Copy)]
struct Node {
    q: [DVec3; 4],
    start: f64,
    width: f64,
}

fn search(q: [DVec3; 4], start: f64, best: &mut Best) {
    let root = Node { q, start, width: 1.0 };
    let mut stack = [root; MAX_DEPTH + 1];
    let mut height = 1;
    while height > 0 {
        height -= 1;
        let node = stack[height];
        let d = squared_distance(&node.q);
        best.offer(d[0], node.start);
        best.offer(d[6], node.start + node.width);
        let lower = d.iter().fold(f64::INFINITY, |l, &x| l.min(x));
        if lower >= best.squared * (1.0 - SLACK) {
            continue;
        }
        let slopes: [f64; 6] = std::array::from_fn(|i| d[i + 1] - d[i]);
        if slopes.iter().all(|&s| s >= 0.0) || slopes.iter().all(|&s| s <= 0.0) {
            continue;
        }
        if slopes.windows(2).all(|s| s[1] >= s[0]) {
            let u = minimum_of_convex(&node.q);
            best.offer(at(&node.q, u).length_squared(), node.start + u * node.width);
            continue;
        }
        if height + 2 > MAX_DEPTH || node.width < f64::EPSILON {
            continue;
        }
        let (left, right) = halves(&node);
        // The half that starts or ends nearer is searched first.
        let (far, near) = if d[0] <= d[6] { (right, left) } else { (left, right) };
        stack[height] = far;
        stack[height + 1] = near;
        height += 2;
    }
}

/// Bernstein coefficients of |c(u)|², degree six.
fn squared_distance(q: &[DVec3; 4]) -> [f64; 7] {
    let dot = |i: usize, j: usize| q[i].dot(q[j]);
    [
        dot(0, 0),
        dot(0, 1),
        (2.0 * dot(0, 2) + 3.0 * dot(1, 1)) / 5.0,
        (dot(0, 3) + 9.0 * dot(1, 2)) / 10.0,
        (2.0 * dot(1, 3) + 3.0 * dot(2, 2)) / 5.0,
        dot(2, 3),
        dot(3, 3),
    ]
}

fn at(q: &[DVec3; 4], u: f64) -> DVec3 {
    let v = 1.0 - u;
    v * v * v * q[0] + 3.0 * v * v * u * q[1] + 3.0 * v * u * u * q[2] + u * u * u * q[3]
}

/// Minimum of |c(u)|² where it is convex and not monotone: the root of c · c' between 0 and 1.
fn minimum_of_convex(q: &[DVec3; 4]) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let mut u = 0.5;
    for _ in 0..80 {
        let (c, d1, d2) = (at(q, u), first(q, u), second(q, u));
        let slope = c.dot(d1);
        if slope > 0.0 {
            high = u;
        } else {
            low = u;
        }
        let curvature = d1.dot(d1) + c.dot(d2);
        let newton = u - slope / curvature;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - u).abs() <= f64::EPSILON {
            return next;
        }
        u = next;
    }
    u
}

/// De Casteljau at the middle.
fn halves(node: &Node) -> (Node, Node) {
    let q = &node.q;
    let middle = |a: DVec3, b: DVec3| 0.5 * (a + b);
    let (a, b, c) = (middle(q[0], q[1]), middle(q[1], q[2]), middle(q[2], q[3]));
    let (ab, bc) = (middle(a, b), middle(b, c));
    let m = middle(ab, bc);
    let width = 0.5 * node.width;
    (
        Node { q: [q[0], a, ab, m], start: node.start, width },
        Node { q: [m, bc, c, q[3]], start: node.start + width, width },
    )
}

/// [`Curve`](super::Curve) for types whose field `chain` is a [`CubicChain`].
macro_rules! curve_of_chain {
    ($($name:ident),+) => {$(
        impl $crate::curve::Curve for $name {
            fn domain(&self) -> $crate::curve::Domain {
                self.chain.domain()
            }

            fn point(&self, s: f64) -> DVec3 {
                self.chain.point(s)
            }

            fn derivative(&self, s: f64) -> DVec3 {
                self.chain.derivative(s)
            }

            fn second_derivative(&self, s: f64) -> DVec3 {
                self.chain.second_derivative(s)
            }

            fn closest(&self, target: DVec3) -> Result<$crate::curve::ClosestOnCurve, MathError> {
                Ok(self.chain.closest(MathError::check_vector("target", target)?))
            }
        }
    )+};
}
pub(super) use curve_of_chain;
