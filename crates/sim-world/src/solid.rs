//! Mass of shapes.

use sim_math::mass::{Amount, MassError, MassProperties, solid};
use sim_traits::Shape;

/// Mass properties of a solid shape of a density (kg/m³), in the shape's frame; `None` for a shape that is no solid of known mass.
///
/// # Errors
/// A density that is not positive and finite.
pub fn mass_of(shape: &Shape, density: f64) -> Option<Result<MassProperties, MassError>> {
    let amount = Amount::Density(density);
    match shape {
        Shape::Sphere(s) => Some(solid::sphere(s.radius(), amount)),
        Shape::Capsule(c) => Some(solid::capsule(c.radius(), c.half_height(), amount)),
        Shape::Cuboid(c) => Some(solid::cuboid(c.half_extents(), amount)),
        Shape::Cylinder(c) => Some(solid::cylinder(c.radius(), c.half_height(), amount)),
        Shape::Convex(s) => s.mass_properties(amount),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::{HalfSpace, Sphere};

    #[test]
    fn solids_weigh_and_half_spaces_do_not() {
        let ball = mass_of(&Sphere::new(0.5).unwrap().into(), 1000.0).unwrap().unwrap();
        assert!((ball.mass - 523.598_775_598_298_9).abs() < 1e-9);
        assert!(mass_of(&HalfSpace::up().into(), 1000.0).is_none());
        assert!(mass_of(&Sphere::new(0.5).unwrap().into(), -1.0).unwrap().is_err());
    }
}
