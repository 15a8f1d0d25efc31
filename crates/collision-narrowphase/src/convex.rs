//! Two convex shapes by whatever algorithm is best for them, chosen by their kinds: one look instead of a question to each.

use crate::{
    adapter::{Analytic, Gjk, VClip, as_polyhedron},
    shapes::Frustum,
};
use sim_math::Pose;
use sim_traits::{Manifold, NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape};

/// Closed forms where there are any, V-Clip for two polyhedra, GJK and EPA for other convex shapes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Convex;

enum Way {
    ClosedForm,
    Walk,
    Search,
}

#[inline]
fn way(a: &Shape, b: &Shape) -> Way {
    let simple = |s: &Shape| matches!(s, Shape::Sphere(_) | Shape::Capsule(_) | Shape::Cuboid(_));
    if let (Shape::Convex(_), Shape::Convex(_)) = (a, b) {
        return if as_polyhedron(a).is_some() && as_polyhedron(b).is_some() {
            Way::Walk
        } else {
            Way::Search
        };
    }
    let plane = |s: &Shape| matches!(s, Shape::HalfSpace(_));
    let turned = |s: &Shape| match s {
        Shape::Cylinder(_) => true,
        Shape::Convex(s) => s.as_any().is::<Frustum>(),
        _ => false,
    };
    let ball = |s: &Shape| matches!(s, Shape::Sphere(_));
    let closed =
        (simple(a) && simple(b)) || plane(a) || plane(b) || (ball(a) && turned(b)) || (ball(b) && turned(a));
    if closed { Way::ClosedForm } else { Way::Search }
}

impl NarrowPhase for Convex {
    #[inline]
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        match way(a, b) {
            Way::ClosedForm => Analytic.separation(a, b, a_from_b, cache),
            Way::Walk => VClip.separation(a, b, a_from_b, cache),
            Way::Search => Gjk.separation(a, b, a_from_b, cache),
        }
    }

    #[inline]
    fn manifolds(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        margin: f64,
        cache: &mut PairCache,
        out: &mut Vec<Manifold>,
    ) -> Result<(), NarrowPhaseError> {
        match way(a, b) {
            Way::ClosedForm => Analytic.manifolds(a, b, a_from_b, margin, cache, out),
            Way::Walk => VClip.manifolds(a, b, a_from_b, margin, cache, out),
            Way::Search => Gjk.manifolds(a, b, a_from_b, margin, cache, out),
        }
    }
}

/// True if the shape is bounded and convex, so that [`Convex`] knows it.
pub(crate) fn is_convex(shape: &Shape) -> bool {
    !matches!(shape, Shape::HalfSpace(_) | Shape::Custom(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Polyhedron, shapes::Ellipsoid};
    use sim_math::{glam::DVec3, testkit::SplitMix64};
    use sim_traits::{Capsule, Chain, Cuboid, Cylinder, HalfSpace, Sphere};

    #[test]
    fn the_choice_is_that_of_a_chain_of_all() {
        let shapes: [Shape; 8] = [
            Sphere::new(0.5).unwrap().into(),
            Capsule::new(0.2, 0.5).unwrap().into(),
            Cuboid::new(DVec3::new(0.3, 0.4, 0.5)).unwrap().into(),
            Cylinder::new(0.3, 0.4).unwrap().into(),
            Polyhedron::cuboid(DVec3::splat(0.4)).unwrap().into(),
            Frustum::new(0.3, 0.2, 0.4).unwrap().into(),
            Ellipsoid::new(DVec3::new(0.3, 0.4, 0.5)).unwrap().into(),
            HalfSpace::new(DVec3::Z).unwrap().into(),
        ];
        let chain = Chain::new(vec![Box::new(Analytic), Box::new(VClip), Box::new(Gjk)]);
        let mut random = SplitMix64(6);
        for a in &shapes {
            for b in &shapes {
                for _ in 0..20 {
                    let pose = Pose::new(random.vec3(1.2), random.unit_quat());
                    let mut caches = [PairCache::default(); 2];
                    let one = Convex.separation(a, b, &pose, &mut caches[0]);
                    assert_eq!(one, chain.separation(a, b, &pose, &mut caches[1]));
                    let (mut some, mut others) = (Vec::new(), Vec::new());
                    let one = Convex.manifolds(a, b, &pose, 0.1, &mut caches[0], &mut some);
                    assert_eq!(one, chain.manifolds(a, b, &pose, 0.1, &mut caches[1], &mut others));
                    assert_eq!((some, caches[0]), (others, caches[1]));
                }
            }
        }
    }
}
