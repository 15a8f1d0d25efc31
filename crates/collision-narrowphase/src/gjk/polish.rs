//! Newton's method on the support function: the last digits of a depth between smooth shapes.
//!
//! # Reference
//! The depth is the least value of the support function h of A − B over unit directions; its gradient is the support
//! point's part across the direction.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `h(n)` | n · s(n), how far A − B reaches along n |
//! | `g` | (e1·s, e2·s) in a basis across n |
//! | `J` | change of g with the direction, by finite differences |
//!
//! # Formula
//! ```text
//! n ← normalise(n + x e1 + y e2),   (x, y) = −(J − h 1)⁻¹ g,   halved until h falls
//! ```
//!
//! # Cost
//! Three support queries per step and a few for the line search; at most 20 steps.
//!
//! # Numerics
//! Every value of h is an upper bound of the depth. Where the shapes are round about a common axis, a whole ring of
//! directions is equally good and the step moves across the ring only.
//!
//! # Failure
//! None: without progress the start is returned.
//!
//! # Tested by
//! `gjk_conforms_on_smooth_shapes`

use super::core::{Cores, Difference};
use sim_math::glam::{DMat2, DVec2, DVec3};

/// Improves a direction for which A − B reaches least; returns it with its support point.
pub(super) fn polish(cores: &Cores<'_>, start: DVec3) -> (DVec3, Difference) {
    let (mut n, mut s) = (start, cores.support(start));
    for _ in 0..20 {
        let h = n.dot(s.w);
        let (e1, e2) = n.any_orthonormal_pair();
        let gradient = |w: DVec3| DVec2::new(e1.dot(w), e2.dot(w));
        let g = gradient(s.w);
        if g.length() <= 1e-12 * cores.size() {
            break;
        }
        let step = 1e-5;
        let column = |e: DVec3| (gradient(cores.support(n + step * e).w) - g) / step;
        let hessian = DMat2::from_cols(column(e1), column(e2)) - h * DMat2::IDENTITY;
        let [first, second] = newton(&hessian, g);
        // Where the shape has a ridge one of the two parts may be useless: try both, then each alone.
        let improved = [first + second, first, second].into_iter().find_map(|mut part| {
            for _ in 0..30 {
                let candidate = (n + part.x * e1 + part.y * e2).normalize();
                let reached = cores.support(candidate);
                if candidate.dot(reached.w) < h {
                    return Some((candidate, reached));
                }
                part *= 0.5;
            }
            None
        });
        match improved {
            Some(better) => (n, s) = better,
            None => break,
        }
    }
    (n, s)
}

/// −H⁻¹ g along the two principal directions of H, each at most a radian; downhill where H is not positive.
fn newton(hessian: &DMat2, g: DVec2) -> [DVec2; 2] {
    let symmetric = 0.5 * (*hessian + hessian.transpose());
    let (a, b, c) = (symmetric.x_axis.x, symmetric.x_axis.y, symmetric.y_axis.y);
    let (mean, half) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).sqrt());
    let vector = if b.abs() > 1e-300 {
        DVec2::new(mean + half - c, b).normalize()
    } else if a >= c {
        DVec2::X
    } else {
        DVec2::Y
    };
    [(mean + half, vector), (mean - half, vector.perp())].map(|(value, direction)| {
        let slope = g.dot(direction);
        let size = if value > 1e-9 * (mean.abs() + half) { slope / value } else { 0.1 * slope.signum() };
        if slope == 0.0 { DVec2::ZERO } else { -size.clamp(-1.0, 1.0) * direction }
    })
}
