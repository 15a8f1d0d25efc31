//! A sphere against one triangle of a surface: what the general way finds, from one closest point.
//!
//! # Reference
//! The rules are those of [`surface`](super).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `x` | point of the triangle nearest to the centre c |
//! | `n` | normal of the triangle, turned to the centre's side on a sheet |
//! | `m` | (c − x) / |c − x| |
//!
//! # Formula
//! ```text
//! along n: n·(c − p) − r, over the triangle.   along m: |c − x| − r, where no neighbouring point is nearer
//! ```
//!
//! # Cost
//! The closest point, which also rules out triangles that are far, and a normal.
//!
//! # Numerics
//! All in the surface's frame, in which its corners are exact.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `a_sphere_touches_as_a_very_short_capsule_does`, `inner_edges_of_a_flat_floor_leave_one_normal`, `tests/sliding.rs`

use super::{LEVEL, Neighbour, SIDEWAYS, SNAP, Surface, is_over, normal_of, part_at};
use crate::mesh::triangle::Part;
use sim_math::glam::DVec3;
use sim_traits::{FeatureId, Manifold, Separation};

impl Neighbour<'_> {
    /// Contact of a sphere with a triangle that comes nearest to its centre in `x`, on `part`.
    pub(super) fn sphere_contact(
        &self,
        surface: &impl Surface,
        (id, triangle): (u32, &[DVec3; 3]),
        (radius, margin): (f64, f64),
        (x, part): (DVec3, Part),
        behind: &mut bool,
    ) -> Option<Manifold> {
        let from_corner = self.center - triangle[0];
        let mut n = normal_of(triangle);
        if n.dot(from_corner) < 0.0 && !surface.one_sided() {
            n = -n;
        }
        let mut along_n = n.dot(from_corner) - radius;
        if along_n > margin {
            return None;
        }
        if along_n >= 0.0 && part == Part::Face {
            return Some(self.touch(id, radius, n, along_n));
        }
        let gap = self.center - x;
        let length = gap.length();
        let distance = length - radius;
        if distance > margin {
            return None;
        }
        let m = if length > 1e-300 { gap / length } else { n };
        let facing = m.dot(n);
        if facing < -SIDEWAYS {
            if surface.one_sided() {
                *behind |= distance <= 0.0;
                return None;
            }
            n = -n;
            along_n = n.dot(from_corner) - radius;
        }
        if 1.0 - m.dot(n) <= SNAP {
            let distance = if distance < 0.0 { along_n } else { distance.min(along_n.max(0.0)) };
            return Some(self.touch(id, radius, n, distance));
        }
        let part = part_at(x, part, triangle);
        let from = if let Part::Corner(k) = part { triangle[k] } else { x };
        let genuine = part != Part::Face
            && surface.all_around(id, part, &mut |q| {
                let to = q - from;
                m.dot(to) <= LEVEL * to.length()
            });
        if genuine {
            return Some(self.touch(id, radius, m, distance));
        }
        // Along n only what lies over the triangle counts.
        let over = along_n <= margin && is_over(self.center, triangle, n);
        over.then(|| self.touch(id, radius, n, along_n))
    }

    /// The contact along a direction of the surface's frame.
    fn touch(&self, id: u32, radius: f64, direction: DVec3, distance: f64) -> Manifold {
        let normal = self.frame.vector(direction);
        let point_a = -radius * normal;
        let found = Separation { distance, normal, point_a, point_b: point_a - distance * normal };
        let mut manifold = Manifold::at_closest(&found, [FeatureId::NONE, FeatureId::face(id)]);
        manifold.pieces = [0, id];
        manifold
    }
}
