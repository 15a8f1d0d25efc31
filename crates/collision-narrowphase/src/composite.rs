//! The narrow phase of shapes made of many convex parts: compounds, meshes, height fields.
//!
//! | pair | how |
//! |---|---|
//! | compound, compound or convex | tree of hulls, then the pieces |
//! | convex or compound, mesh or height field | triangles near each piece |
//! | compound, mesh or height field, half-space | pieces; points below the plane |
//!
//! Two meshes, and a mesh and a height field, are not supported: one of two moving bodies must be convex or a compound.
//! In overlap the distance is that of the deepest pair of parts, which is how far those two must move, not the whole.

use crate::{
    adapter::flipped,
    compound::{self, Compound, Tree, visit_near},
    convex::Convex,
    gjk::{Core, Cores},
    height_field::HeightField,
    mesh::TriMesh,
    reduce::{Selector, reduce},
    relative::Frame,
    surface::{Neighbour, Surface},
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{
    ContactPoint, FeatureId, HalfSpace, Manifold, NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape,
};

/// Compounds, meshes and height fields against each other and against convex shapes and half-spaces.
#[derive(Debug, Clone, Copy, Default)]
pub struct Composite;

/// What a shape is to this narrow phase.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind<'a> {
    Tree(Tree<'a>),
    Mesh(&'a TriMesh),
    Field(&'a HeightField),
    HalfSpace(&'a HalfSpace),
    Other,
}

pub(crate) fn kind(shape: &Shape) -> Kind<'_> {
    match shape {
        Shape::HalfSpace(h) => Kind::HalfSpace(h),
        Shape::Custom(s) => {
            let any = s.as_any();
            if let Some(c) = any.downcast_ref::<Compound>() {
                Kind::Tree(Tree::Compound(c))
            } else if let Some(m) = any.downcast_ref::<TriMesh>() {
                Kind::Mesh(m)
            } else if let Some(f) = any.downcast_ref::<HeightField>() {
                Kind::Field(f)
            } else {
                Kind::Other
            }
        }
        convex => Kind::Tree(Tree::Convex(convex)),
    }
}

/// Nearest of the pieces of a tree to a surface, in the tree's frame.
fn tree_surface(
    tree: Tree<'_>,
    surface: &impl Surface,
    tree_from_surface: &Pose,
) -> Result<Option<(Separation, [u32; 2])>, NarrowPhaseError> {
    let mut best: Option<(Separation, [u32; 2])> = None;
    for piece in 0..tree.len() {
        let (shape, from_piece) = tree.piece(piece);
        let piece_from_surface = from_piece.inverse_mul(tree_from_surface);
        let Some(neighbour) = Neighbour::new(shape, &piece_from_surface, surface) else { continue };
        let limit = best.map_or(f64::INFINITY, |b| b.0.distance.max(0.0));
        if let Some((found, id)) = neighbour.nearest(surface, limit)?
            && best.is_none_or(|b| found.distance < b.0.distance)
        {
            best = Some((moved(&found, &from_piece), [piece, id]));
        }
    }
    Ok(best)
}

pub(crate) fn moved(s: &Separation, pose: &Pose) -> Separation {
    Separation {
        distance: s.distance,
        normal: pose.transform_vector(s.normal),
        point_a: pose.transform_point(s.point_a),
        point_b: pose.transform_point(s.point_b),
    }
}

fn moved_manifold(m: &Manifold, pose: &Pose, pieces: [u32; 2]) -> Manifold {
    let mut other = Manifold::new(pose.transform_vector(m.normal));
    other.pieces = pieces;
    for p in m.points() {
        other.push(ContactPoint {
            point_a: pose.transform_point(p.point_a),
            point_b: pose.transform_point(p.point_b),
            ..*p
        });
    }
    other
}

/// Lowest point of a shape above a half-space, in the shape's frame.
fn lowest(a: Kind<'_>, normal: DVec3) -> Option<(DVec3, u32)> {
    let least = |points: &mut dyn Iterator<Item = (DVec3, u32)>| {
        points.fold(None::<(DVec3, u32)>, |best, p| match best {
            Some(b) if b.0.dot(normal) <= p.0.dot(normal) => Some(b),
            _ => Some(p),
        })
    };
    match a {
        Kind::Tree(tree) => least(&mut (0..tree.len()).filter_map(|k| {
            let (shape, pose) = tree.piece(k);
            let p = shape.support(-pose.inverse_transform_vector(normal))?;
            Some((pose.transform_point(p), k))
        })),
        Kind::Mesh(mesh) => least(
            &mut (0..).zip(mesh.triangles()).flat_map(|(t, c)| c.map(|i| (mesh.points()[i as usize], t))),
        ),
        Kind::Field(field) => least(&mut (0..field.len()).flat_map(|t| field.triangle(t).map(|p| (p, t)))),
        _ => None,
    }
}

/// Signed distance with A first in the order tree, surface, half-space; `None` if the pair is not ours.
fn ordered(
    a: Kind<'_>,
    b: Kind<'_>,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<Option<Separation>, NarrowPhaseError> {
    let found = match (a, b) {
        (Kind::Tree(Tree::Convex(_)), Kind::Tree(Tree::Convex(_))) => return Ok(None),
        (Kind::Tree(p), Kind::Tree(q)) => {
            return compound::distance(p, q, a_from_b, f64::INFINITY, cache).map(|d| Some(d.separation));
        }
        (Kind::Tree(p), Kind::Mesh(m)) => tree_surface(p, m, a_from_b)?,
        (Kind::Tree(p), Kind::Field(f)) => tree_surface(p, f, a_from_b)?,
        (Kind::Tree(Tree::Convex(_)), Kind::HalfSpace(_)) => return Ok(None),
        (a, Kind::HalfSpace(h)) => {
            let normal = Frame::from_pose(a_from_b).vector(h.normal());
            let Some((point_a, piece)) = lowest(a, normal) else { return Ok(None) };
            let distance = normal.dot(point_a - a_from_b.translation);
            let point_b = point_a - distance * normal;
            Some((Separation { distance, normal, point_a, point_b }, [piece, 0]))
        }
        _ => return Ok(None),
    };
    if let Some((s, pieces)) = found {
        cache.features = pieces.map(FeatureId::face);
        cache.axis = s.normal;
        return Ok(Some(s));
    }
    Ok(None)
}

/// Contacts of the same pairs, not yet reduced; `false` if the pair is not ours.
fn collect(
    a: Kind<'_>,
    b: Kind<'_>,
    a_from_b: &Pose,
    margin: f64,
    out: &mut Vec<Manifold>,
) -> Result<bool, NarrowPhaseError> {
    match (a, b) {
        (Kind::Tree(Tree::Convex(_)), Kind::Tree(Tree::Convex(_)) | Kind::HalfSpace(_)) => return Ok(false),
        (Kind::Tree(p), Kind::Tree(q)) => {
            visit_near(p, q, a_from_b, margin, &mut |pieces| {
                let ((s, from_s), (t, from_t)) = (p.piece(pieces[0]), q.piece(pieces[1]));
                let s_from_t = from_s.inverse_mul(&(*a_from_b * from_t));
                let first = out.len();
                Convex.manifolds(s, t, &s_from_t, margin, &mut PairCache::default(), out)?;
                for manifold in &mut out[first..] {
                    *manifold = moved_manifold(manifold, &from_s, pieces);
                }
                Ok(())
            })?;
        }
        (Kind::Tree(p), Kind::Mesh(m)) => surface_contacts(p, m, a_from_b, margin, out)?,
        (Kind::Tree(p), Kind::Field(f)) => surface_contacts(p, f, a_from_b, margin, out)?,
        (Kind::Tree(p), Kind::HalfSpace(h)) => {
            let half_space = Shape::from(*h);
            for piece in 0..p.len() {
                let (s, from_s) = p.piece(piece);
                let first = out.len();
                let s_from_b = from_s.inverse_mul(a_from_b);
                Convex.manifolds(s, &half_space, &s_from_b, margin, &mut PairCache::default(), out)?;
                for manifold in &mut out[first..] {
                    *manifold = moved_manifold(manifold, &from_s, [piece, 0]);
                }
            }
        }
        (Kind::Mesh(m), Kind::HalfSpace(h)) => {
            let points = (0..).zip(m.points().iter().copied()).filter(|(i, _)| !m.fan(*i).is_empty());
            points_below(points, h, a_from_b, margin, m.bounds().size().length(), out);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn surface_contacts(
    tree: Tree<'_>,
    surface: &impl Surface,
    tree_from_surface: &Pose,
    margin: f64,
    out: &mut Vec<Manifold>,
) -> Result<(), NarrowPhaseError> {
    for piece in 0..tree.len() {
        let (shape, from_piece) = tree.piece(piece);
        let piece_from_surface = from_piece.inverse_mul(tree_from_surface);
        let Some(neighbour) = Neighbour::new(shape, &piece_from_surface, surface) else { continue };
        neighbour.contacts(surface, margin, &mut |id, manifold| {
            out.push(moved_manifold(&manifold, &from_piece, [piece, id]));
        })?;
    }
    Ok(())
}

/// Points of a mesh up to `margin` above a half-space, reduced as they come.
fn points_below(
    points: impl Iterator<Item = (u32, DVec3)>,
    half_space: &HalfSpace,
    a_from_b: &Pose,
    margin: f64,
    size: f64,
    out: &mut Vec<Manifold>,
) {
    let normal = Frame::from_pose(a_from_b).vector(half_space.normal());
    let offset = normal.dot(a_from_b.translation);
    let mut selector = Selector::new(normal, size);
    for (i, p) in points {
        let separation = normal.dot(p) - offset;
        if separation <= margin {
            selector.push(ContactPoint {
                point_a: p,
                point_b: p - separation * normal,
                separation,
                features: [FeatureId::vertex(i), FeatureId::face(0)],
            });
        }
    }
    let manifold = selector.finish();
    if !manifold.points().is_empty() {
        out.push(manifold);
    }
}

impl NarrowPhase for Composite {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        let (p, q) = (kind(a), kind(b));
        if let Some(found) = ordered(p, q, a_from_b, cache)? {
            return Ok(found);
        }
        let mut back = PairCache { features: [cache.features[1], cache.features[0]], ..*cache };
        let found = ordered(q, p, &a_from_b.inverse(), &mut back)?;
        cache.features = [back.features[1], back.features[0]];
        found.map(|s| s.flipped(a_from_b)).ok_or_else(|| NarrowPhaseError::unsupported(a, b))
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
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        let first = out.len();
        let (p, q) = (kind(a), kind(b));
        let mut answer = collect(p, q, a_from_b, margin, out);
        if matches!(answer, Ok(false)) {
            answer = collect(q, p, &a_from_b.inverse(), margin, out);
            for manifold in &mut out[first..] {
                *manifold = flipped(manifold, a_from_b);
            }
        }
        match answer {
            Ok(true) => {
                reduce(out, first, a.bounding_radius().min(b.bounding_radius()));
                Ok(())
            }
            Ok(false) => Err(NarrowPhaseError::unsupported(a, b)),
            Err(e) => {
                out.truncate(first);
                Err(e)
            }
        }
    }
}

/// Whether two shapes overlap or touch, without depth and without the least distance: stops at the first pair of parts.
///
/// # Errors
/// As [`NarrowPhase::separation`] of the default chain.
pub fn intersects(a: &Shape, b: &Shape, a_from_b: &Pose) -> Result<bool, NarrowPhaseError> {
    NarrowPhaseError::check_pose(a, b, a_from_b)?;
    match (kind(a), kind(b)) {
        (Kind::Tree(p), Kind::Tree(q)) => {
            let mut found = false;
            // An error ends the walk early; it is taken back below.
            let stop = NarrowPhaseError::unsupported(a, b);
            let answer = visit_near(p, q, a_from_b, 0.0, &mut |pieces| {
                let ((s, from_s), (t, from_t)) = (p.piece(pieces[0]), q.piece(pieces[1]));
                let s_from_t = from_s.inverse_mul(&(*a_from_b * from_t));
                found = convex_intersects(s, t, &s_from_t)?;
                if found { Err(stop) } else { Ok(()) }
            });
            if found { Ok(true) } else { answer.map(|()| false) }
        }
        (Kind::Tree(p), Kind::Mesh(m)) => surface_intersects(p, m, a_from_b),
        (Kind::Tree(p), Kind::Field(f)) => surface_intersects(p, f, a_from_b),
        (Kind::Mesh(m), Kind::Tree(q)) => surface_intersects(q, m, &a_from_b.inverse()),
        (Kind::Field(f), Kind::Tree(q)) => surface_intersects(q, f, &a_from_b.inverse()),
        _ => {
            let found = match crate::pairs::analytic(a, b, a_from_b) {
                Some(found) => found,
                None => Composite.separation(a, b, a_from_b, &mut PairCache::default())?,
            };
            Ok(found.distance <= 0.0)
        }
    }
}

fn convex_intersects(a: &Shape, b: &Shape, a_from_b: &Pose) -> Result<bool, NarrowPhaseError> {
    if let (Some(p), Some(q)) = (crate::as_polyhedron(a), crate::as_polyhedron(b)) {
        return crate::vclip::intersects(p, q, a_from_b, &mut PairCache::default());
    }
    let (Some(p), Some(q)) = (Core::of(a), Core::of(b)) else {
        return Err(NarrowPhaseError::unsupported(a, b));
    };
    let (found, apart) = Cores::new(p, q, Frame::from_pose(a_from_b)).gap_within(DVec3::ZERO, 0.0);
    Ok(!apart || found.distance <= 0.0)
}

fn surface_intersects(
    tree: Tree<'_>,
    surface: &impl Surface,
    tree_from_surface: &Pose,
) -> Result<bool, NarrowPhaseError> {
    for piece in 0..tree.len() {
        let (shape, from_piece) = tree.piece(piece);
        let piece_from_surface = from_piece.inverse_mul(tree_from_surface);
        if let Some(near) = Neighbour::new(shape, &piece_from_surface, surface)
            && near.touches(surface)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
