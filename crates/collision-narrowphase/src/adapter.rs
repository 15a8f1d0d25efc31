//! The algorithms behind the `NarrowPhase` seam: thin adapters, one per algorithm, and a chain of them.

use crate::{
    Polyhedron, brute_force, gjk, lin_canny,
    manifold::{Patch, moved, patch_manifold},
    pairs,
    relative::Frame,
    vclip,
};
use sim_math::Pose;
use sim_traits::{Chain, FeatureId, Manifold, NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape};

/// V-Clip for two polyhedra, with depth from separating axes or EPA.
#[derive(Debug, Clone, Copy, Default)]
pub struct VClip;

/// Lin-Canny for two polyhedra; overlap is an error.
#[derive(Debug, Clone, Copy, Default)]
pub struct LinCanny;

/// GJK and EPA for any two convex shapes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gjk;

/// Closed forms, for the pairs that have one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Analytic;

/// All pairs of features of two polyhedra: slow, simple, right.
#[derive(Debug, Clone, Copy, Default)]
pub struct BruteForce;

/// What most worlds want: closed forms first, V-Clip for polyhedra, GJK and EPA for the rest.
#[must_use]
pub fn default_chain() -> Chain {
    Chain::new(vec![Box::new(Analytic), Box::new(VClip), Box::new(Gjk)])
}

/// The polyhedron inside a shape, if it is one.
#[must_use]
pub fn as_polyhedron(shape: &Shape) -> Option<&Polyhedron> {
    match shape {
        Shape::Convex(s) => s.as_any().downcast_ref::<Polyhedron>(),
        _ => None,
    }
}

fn both<'a>(a: &'a Shape, b: &'a Shape) -> Result<(&'a Polyhedron, &'a Polyhedron), NarrowPhaseError> {
    match (as_polyhedron(a), as_polyhedron(b)) {
        (Some(p), Some(q)) => Ok((p, q)),
        _ => Err(NarrowPhaseError::unsupported(a, b)),
    }
}

/// Manifold of two polyhedra around a known closest pair.
fn polyhedra_manifold(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Pose,
    closest: &Separation,
    features: [FeatureId; 2],
    margin: f64,
) -> Manifold {
    let frame = Frame::from_pose(a_from_b);
    let patch_a = Patch::facing(a, -closest.normal, features[0]);
    let patch_b = moved(&Patch::facing(b, frame.back(closest.normal), features[1]), &frame);
    patch_manifold(&patch_a, &patch_b, closest, features, margin, a.extent() + b.extent())
}

impl NarrowPhase for VClip {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        let (p, q) = both(a, b)?;
        vclip::vclip(p, q, a_from_b, cache).map(|c| c.separation)
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
        let (p, q) = both(a, b)?;
        let closest = vclip::vclip(p, q, a_from_b, cache)?;
        if closest.separation.distance <= margin {
            out.push(polyhedra_manifold(p, q, a_from_b, &closest.separation, closest.features, margin));
        }
        Ok(())
    }
}

impl NarrowPhase for LinCanny {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        let (p, q) = both(a, b)?;
        lin_canny::lin_canny(p, q, a_from_b, cache).map(|c| c.separation)
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
        let (p, q) = both(a, b)?;
        let closest = lin_canny::lin_canny(p, q, a_from_b, cache)?;
        if closest.separation.distance <= margin {
            out.push(polyhedra_manifold(p, q, a_from_b, &closest.separation, closest.features, margin));
        }
        Ok(())
    }
}

impl NarrowPhase for BruteForce {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        _: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        let (p, q) = both(a, b)?;
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        Ok(brute_force::brute_force(p, q, &Frame::from_pose(a_from_b)).0)
    }

    fn manifolds(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        margin: f64,
        _: &mut PairCache,
        out: &mut Vec<Manifold>,
    ) -> Result<(), NarrowPhaseError> {
        let (p, q) = both(a, b)?;
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        let (closest, features) = brute_force::brute_force(p, q, &Frame::from_pose(a_from_b));
        if closest.distance <= margin {
            out.push(polyhedra_manifold(p, q, a_from_b, &closest, features, margin));
        }
        Ok(())
    }
}

/// Manifold of any two bounded convex shapes around a known closest pair.
fn convex_manifold(a: &Shape, b: &Shape, a_from_b: &Pose, closest: &Separation, margin: f64) -> Manifold {
    let frame = Frame::from_pose(a_from_b);
    let patch_a = Patch::of_shape(a, -closest.normal);
    let patch_b = moved(&Patch::of_shape(b, frame.back(closest.normal)), &frame);
    let scale = a.bounding_radius() + b.bounding_radius();
    patch_manifold(&patch_a, &patch_b, closest, [FeatureId::NONE; 2], margin, scale)
}

impl NarrowPhase for Gjk {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        gjk::gjk(a, b, a_from_b, cache)
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
        let closest = gjk::gjk(a, b, a_from_b, cache)?;
        if closest.distance <= margin {
            out.push(convex_manifold(a, b, a_from_b, &closest, margin));
        }
        Ok(())
    }
}

impl NarrowPhase for Analytic {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        _: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        pairs::analytic(a, b, a_from_b).ok_or_else(|| NarrowPhaseError::unsupported(a, b))
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
        let known = match (a, b) {
            (Shape::Cuboid(p), Shape::Cuboid(q)) => {
                pairs::cuboid_cuboid::cuboid_cuboid_manifold(p, q, a_from_b, margin)
            }
            (_, Shape::HalfSpace(h)) => pairs::half_space_manifold(a, h, a_from_b, margin),
            (Shape::HalfSpace(h), _) => {
                let b_from_a = a_from_b.inverse();
                pairs::half_space_manifold(b, h, &b_from_a, margin).map(|m| flipped(&m, a_from_b))
            }
            _ => None,
        };
        if let Some(manifold) = known {
            if !manifold.points().is_empty() {
                out.push(manifold);
            }
            return Ok(());
        }
        let closest = self.separation(a, b, a_from_b, cache)?;
        if closest.distance <= margin {
            let round = matches!((a, b), (Shape::Sphere(_), _) | (_, Shape::Sphere(_)));
            out.push(if round {
                Manifold::at_closest(&closest, [FeatureId::NONE; 2])
            } else {
                convex_manifold(a, b, a_from_b, &closest, margin)
            });
        }
        Ok(())
    }
}

/// The manifold seen from the other shape: `a_from_b` maps the frame it is in (B's) to A's.
fn flipped(manifold: &Manifold, a_from_b: &Pose) -> Manifold {
    let mut other = Manifold::new(-a_from_b.transform_vector(manifold.normal));
    other.pieces = [manifold.pieces[1], manifold.pieces[0]];
    for p in manifold.points() {
        other.push(sim_traits::ContactPoint {
            point_a: a_from_b.transform_point(p.point_b),
            point_b: a_from_b.transform_point(p.point_a),
            separation: p.separation,
            features: [p.features[1], p.features[0]],
        });
    }
    other
}
