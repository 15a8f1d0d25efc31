//! Overlap without EPA: the cores moved apart along a direction tell a better one.
//!
//! # Reference
//! Rockafellar 1976: the proximal step of [`smooth`](super::smooth), from which [`follow`](super::follow) takes over.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `u` | direction out of A − B |
//! | `h` | how far A − B reaches along u |
//! | s | h and a thousandth of the size: the way by which the cores are moved apart |
//!
//! # Formula
//! ```text
//! u ← direction of the distance of A − s u from B, until it can be followed
//! ```
//!
//! # Cost
//! A distance query, or less where a face or projections give it, for each of at most six steps; one or two where the overlap is shallow.
//!
//! # Numerics
//! The error of u shrinks by the ratio of s to the radius of curvature; on polyhedra the steps end at a face of A − B.
//!
//! # Failure
//! `None` if nothing could be proven, or the cores are found to be apart.
//!
//! # Tested by
//! `soak_following_finds_what_searching_finds`

use super::{above_face::above_face, core::Cores, distance, follow::follow, project::projected};
use sim_math::glam::DVec3;
use sim_traits::Separation;

const STEPS: u32 = 6;
/// Gap to which the cores are moved apart, of the size.
const GAP: f64 = 1e-3;

/// Deepest points of the cores; `normal` is a first guess, from B to A.
pub(super) fn approach(cores: &Cores<'_>, normal: DVec3) -> Option<Separation> {
    let size = cores.size();
    let touch = 1e-10 * size;
    let mut u = -normal.try_normalize()?;
    for step in 0..STEPS {
        let h = u.dot(cores.support(u).w);
        if h <= touch {
            return None;
        }
        let moved = cores.moved(-(h + GAP * size) * u);
        let found =
            above_face(&moved, -u, touch).or_else(|| projected(&moved)).unwrap_or_else(|| match step {
                0 => distance::rough(&moved, -u, touch).0,
                _ => distance::closest(&moved, -u, touch).0,
            });
        if let Some(found) = follow(cores, found.normal) {
            return Some(found);
        }
        let next = -found.normal;
        if (next - u).length_squared() < 1e-20 {
            return None;
        }
        u = next;
    }
    None
}
