//! Closed forms for balls and boxes over half-spaces, and for balls among themselves.

use sim_math::{Pose, glam::DVec3};
use sim_traits::{
    ContactPoint, Cuboid, FeatureId, HalfSpace, Manifold, NarrowPhase, NarrowPhaseError, PairCache,
    Separation, Shape, Sphere,
};

/// Knows sphere-sphere, sphere-half-space and cuboid-half-space; everything else is "not mine".
#[derive(Debug, Clone, Copy, Default)]
pub struct AnalyticPairs;

fn separation(distance: f64, normal: DVec3, point_a: DVec3) -> Separation {
    Separation { distance, normal, point_a, point_b: point_a - distance * normal }
}

fn sphere_sphere(a: &Sphere, b: &Sphere, a_from_b: &Pose) -> Separation {
    let center = a_from_b.translation;
    // Concentric balls have no direction: any one does, and z is as good as another.
    let normal = (-center).try_normalize().unwrap_or(DVec3::Z);
    separation(center.length() - a.radius() - b.radius(), normal, -a.radius() * normal)
}

/// Height of the origin of A over the plane, and the plane's normal, both in A's frame.
fn plane_of(b: &HalfSpace, a_from_b: &Pose) -> (f64, DVec3) {
    let normal = a_from_b.transform_vector(b.normal());
    (-normal.dot(a_from_b.translation), normal)
}

fn sphere_half_space(a: &Sphere, b: &HalfSpace, a_from_b: &Pose) -> Separation {
    let (height, normal) = plane_of(b, a_from_b);
    separation(height - a.radius(), normal, -a.radius() * normal)
}

fn cuboid_half_space(a: &Cuboid, b: &HalfSpace, a_from_b: &Pose) -> Separation {
    let (height, normal) = plane_of(b, a_from_b);
    let lowest = -a.half_extents().copysign(normal);
    separation(height + normal.dot(lowest), normal, lowest)
}

fn corners(a: &Cuboid) -> [DVec3; 8] {
    std::array::from_fn(|k| {
        let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        a.half_extents() * DVec3::new(sign(0), sign(1), sign(2))
    })
}

/// The four lowest corners that lie within the margin.
fn cuboid_half_space_manifold(a: &Cuboid, b: &HalfSpace, a_from_b: &Pose, margin: f64) -> Option<Manifold> {
    let (height, normal) = plane_of(b, a_from_b);
    let mut below: [(f64, u32, DVec3); 8] = [(0.0, 0, DVec3::ZERO); 8];
    for (k, corner) in (0..).zip(corners(a)) {
        below[k as usize] = (height + normal.dot(corner), k, corner);
    }
    below.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    let mut manifold = Manifold::new(normal);
    for &(separation, k, corner) in below.iter().take_while(|x| x.0 <= margin).take(Manifold::CAPACITY) {
        manifold.push(ContactPoint {
            point_a: corner,
            point_b: corner - separation * normal,
            separation,
            features: [FeatureId::vertex(k), FeatureId::face(0)],
        });
    }
    (!manifold.points().is_empty()).then_some(manifold)
}

fn closed_form(a: &Shape, b: &Shape, a_from_b: &Pose) -> Result<Separation, NarrowPhaseError> {
    match (a, b) {
        (Shape::Sphere(a), Shape::Sphere(b)) => Ok(sphere_sphere(a, b, a_from_b)),
        (Shape::Sphere(a), Shape::HalfSpace(b)) => Ok(sphere_half_space(a, b, a_from_b)),
        (Shape::Cuboid(a), Shape::HalfSpace(b)) => Ok(cuboid_half_space(a, b, a_from_b)),
        (Shape::HalfSpace(_), Shape::Sphere(_) | Shape::Cuboid(_)) => {
            closed_form(b, a, &a_from_b.inverse()).map(|s| s.flipped(a_from_b))
        }
        _ => Err(NarrowPhaseError::unsupported(a, b)),
    }
}

impl NarrowPhase for AnalyticPairs {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        _: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        closed_form(a, b, a_from_b)
    }

    fn manifolds(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        margin: f64,
        cache: &mut PairCache,
        out: &mut Vec<Manifold>,
    ) -> Result<(), NarrowPhaseError> {
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        if let (Shape::Cuboid(a), Shape::HalfSpace(b)) = (a, b) {
            out.extend(cuboid_half_space_manifold(a, b, a_from_b, margin));
            return Ok(());
        }
        let found = self.separation(a, b, a_from_b, cache)?;
        if found.distance <= margin {
            out.push(Manifold::at_closest(&found, [FeatureId::NONE; 2]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::testkit::narrow_phase::{Plan, conformance};

    #[test]
    fn analytic_pairs_conform() {
        let shapes = vec![
            Sphere::new(0.5).unwrap().into(),
            Cuboid::new(DVec3::new(0.3, 0.7, 1.1)).unwrap().into(),
            HalfSpace::up().into(),
            HalfSpace::new(DVec3::new(1.0, 2.0, -0.5)).unwrap().into(),
        ];
        conformance(&AnalyticPairs, &Plan { shapes, poses: 300, tolerance: 1e-12, seed: 2 }).unwrap();
    }

    #[test]
    fn a_box_lying_flat_has_four_contacts_with_stable_names() {
        let (a, b) = (Shape::from(Cuboid::new(DVec3::ONE).unwrap()), Shape::from(HalfSpace::up()));
        let mut out = Vec::new();
        let a_from_b = Pose::from_translation(DVec3::new(0.0, 0.0, -1.001));
        AnalyticPairs.manifolds(&a, &b, &a_from_b, 0.01, &mut PairCache::default(), &mut out).unwrap();
        let names: Vec<_> = out[0].points().iter().map(|p| p.features[0].index()).collect();
        assert_eq!(names, [0, 1, 2, 3]);
        assert!(out[0].points().iter().all(|p| (p.separation - 0.001).abs() < 1e-15));
    }
}
