//! Pairs with a closed form. Shapes come in the order sphere, capsule, cuboid, cylinder, convex, half-space; the
//! dispatcher flips.

mod capsule_capsule;
mod capsule_cuboid;
pub mod cuboid_cuboid;
mod cuboid_faces;
mod cuboid_gap;
pub mod frustum_frustum;
mod half_space;
mod sphere;
mod sphere_frustum;

pub use capsule_capsule::capsule_capsule;
pub use capsule_cuboid::capsule_cuboid;
pub use half_space::{convex_half_space, half_space_manifold};
pub use sphere::{sphere_capsule, sphere_cuboid, sphere_sphere};
pub use sphere_frustum::sphere_frustum;

use crate::shapes::Frustum;
use sim_math::Pose;
use sim_traits::{Separation, Shape};

/// Signed distance of a pair that has a closed form; `None` for the others.
#[must_use]
pub fn analytic(a: &Shape, b: &Shape, a_from_b: &Pose) -> Option<Separation> {
    ordered(a, b, a_from_b).or_else(|| {
        let b_from_a = a_from_b.inverse();
        ordered(b, a, &b_from_a).map(|s| s.flipped(a_from_b))
    })
}

fn ordered(a: &Shape, b: &Shape, a_from_b: &Pose) -> Option<Separation> {
    match (a, b) {
        (Shape::Sphere(a), Shape::Sphere(b)) => Some(sphere_sphere(a, b, a_from_b)),
        (Shape::Sphere(a), Shape::Capsule(b)) => Some(sphere_capsule(a, b, a_from_b)),
        (Shape::Sphere(a), Shape::Cuboid(b)) => Some(sphere_cuboid(a, b, a_from_b)),
        (Shape::Sphere(a), Shape::Cylinder(b)) => {
            Some(sphere_frustum(a, [b.radius(), b.radius(), b.half_height()], a_from_b))
        }
        (Shape::Sphere(a), Shape::Convex(b)) => {
            let b = b.as_any().downcast_ref::<Frustum>()?;
            Some(sphere_frustum(a, [b.bottom(), b.top(), b.half_height()], a_from_b))
        }
        (Shape::Capsule(a), Shape::Capsule(b)) => Some(capsule_capsule(a, b, a_from_b)),
        (Shape::Capsule(a), Shape::Cuboid(b)) => Some(capsule_cuboid(a, b, a_from_b)),
        (Shape::Cuboid(a), Shape::Cuboid(b)) => cuboid_cuboid::cuboid_cuboid(a, b, a_from_b),
        (a, Shape::HalfSpace(b)) => convex_half_space(a, b, a_from_b),
        _ => None,
    }
}
