//! The algorithms behind the `NarrowPhase` seam: thin adapters, one per algorithm, and a chain of them.

use crate::{
    Polyhedron, brute_force, gjk, lin_canny,
    manifold::{FEW, MAX, Patch, Solid, facing, has_few_corners, moved, sized_manifold, touching_ridges},
    pairs,
    relative::Frame,
    vclip::{self, Contact},
    witness,
};
use sim_math::{Pose, glam::DVec3};
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

/// What most worlds want: closed forms first, V-Clip for polyhedra, GJK and EPA for other convex shapes, the parts of
/// compounds, meshes and height fields.
#[must_use]
pub fn default_chain() -> Chain {
    Chain::new(vec![Box::new(crate::convex::Convex), Box::new(crate::Composite)])
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

/// Manifold of two polyhedra around a known closest pair, or along a known axis with a distance.
fn polyhedra_manifold(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Pose,
    closest: &Separation,
    distance: f64,
    features: [FeatureId; 2],
    margin: f64,
) -> Manifold {
    let frame = Frame::from_pose(a_from_b);
    let solids = [Solid::Polyhedron(a), Solid::Polyhedron(b)];
    let scales = [a.extent() + b.extent(), margin];
    if let Some(manifold) = touching_ridges(solids, &frame, closest.normal, distance, scales) {
        return manifold;
    }
    let face_a = facing(a, -closest.normal, features[0]);
    let face_b = facing(b, frame.back(closest.normal), features[1]);
    let faces = Faces { a, b, frame, face_a, face_b };
    // Triangles and quads are what most polyhedra have; large arrays cost more to clear than to use.
    match a.sides(face_a).len().max(b.sides(face_b).len()) {
        0..=4 => faces.manifold::<4, 8, 10>(closest, features, margin),
        5..=8 => faces.manifold::<8, 16, 18>(closest, features, margin),
        _ => faces.manifold::<32, 64, 66>(closest, features, margin),
    }
}

/// The two faces that face each other.
struct Faces<'a> {
    a: &'a Polyhedron,
    b: &'a Polyhedron,
    frame: Frame,
    face_a: u32,
    face_b: u32,
}

impl Faces<'_> {
    #[inline(never)]
    fn manifold<const N: usize, const C: usize, const R: usize>(
        &self,
        closest: &Separation,
        features: [FeatureId; 2],
        margin: f64,
    ) -> Manifold {
        let patch_a = Patch::<N>::of_face(self.a, self.face_a);
        let patch_b = Patch::<N>::of_face_in(self.b, self.face_b, &self.frame);
        let scale = self.a.extent() + self.b.extent();
        sized_manifold::<N, C, R>(&patch_a, &patch_b, closest, features, margin, scale)
    }
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
        let (closest, features) = match vclip::contact(p, q, a_from_b, cache)? {
            (Contact::Apart(closest), walk) => (closest, walk.features),
            (Contact::Followed(closest), _) => (closest, [FeatureId::NONE; 2]),
            (Contact::Axis(axis), _) if axis.separation > margin => return Ok(()),
            (Contact::Axis(axis), _) => {
                // The clipped faces hold the deepest point nearly always, so it is not looked for before.
                let unknown = Separation {
                    distance: f64::INFINITY,
                    normal: axis.normal,
                    point_a: DVec3::ZERO,
                    point_b: DVec3::ZERO,
                };
                let found = polyhedra_manifold(
                    p,
                    q,
                    a_from_b,
                    &unknown,
                    axis.separation,
                    axis.axis.features(),
                    margin,
                );
                let enough = axis.separation + 1e-9 * (p.extent() + q.extent());
                if found.deepest().is_some_and(|point| point.separation <= enough) {
                    out.push(found);
                    return Ok(());
                }
                witness::penetration(p, q, &Frame::from_pose(a_from_b), &axis)
            }
        };
        if closest.distance <= margin {
            out.push(polyhedra_manifold(p, q, a_from_b, &closest, closest.distance, features, margin));
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
            let (separation, features) = (closest.separation, closest.features);
            let distance = separation.distance;
            out.push(polyhedra_manifold(p, q, a_from_b, &separation, distance, features, margin));
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
            out.push(polyhedra_manifold(p, q, a_from_b, &closest, closest.distance, features, margin));
        }
        Ok(())
    }
}

/// The shape as a body with flat faces, if it is one.
fn solid(shape: &Shape) -> Option<Solid<'_>> {
    match shape {
        Shape::Cuboid(cuboid) => Some(Solid::Cuboid(cuboid.half_extents())),
        _ => as_polyhedron(shape).map(Solid::Polyhedron),
    }
}

/// Manifold of any two bounded convex shapes around a known closest pair.
fn convex_manifold(a: &Shape, b: &Shape, a_from_b: &Pose, closest: &Separation, margin: f64) -> Manifold {
    if has_few_corners(a) && has_few_corners(b) {
        convex_manifold_of::<FEW, { 2 * FEW }, { 2 * FEW + 2 }>(a, b, a_from_b, closest, margin)
    } else {
        convex_manifold_of::<MAX, { 2 * MAX }, { 2 * MAX + 2 }>(a, b, a_from_b, closest, margin)
    }
}

fn convex_manifold_of<const N: usize, const C: usize, const R: usize>(
    a: &Shape,
    b: &Shape,
    a_from_b: &Pose,
    closest: &Separation,
    margin: f64,
) -> Manifold {
    let frame = Frame::from_pose(a_from_b);
    let scale = a.bounding_radius() + b.bounding_radius();
    if let (Some(one), Some(other)) = (solid(a), solid(b))
        && let Some(manifold) =
            touching_ridges([one, other], &frame, closest.normal, closest.distance, [scale, margin])
    {
        return manifold;
    }
    let patch_a = Patch::<N>::of_shape(a, -closest.normal);
    let patch_b = moved(&Patch::<N>::of_shape(b, frame.back(closest.normal)), &frame);
    sized_manifold::<N, C, R>(&patch_a, &patch_b, closest, [FeatureId::NONE; 2], margin, scale)
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
pub(crate) fn flipped(manifold: &Manifold, a_from_b: &Pose) -> Manifold {
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
