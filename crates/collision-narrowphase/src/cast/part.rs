//! The convex parts of two shapes that come near each other, each with its support.

use crate::{
    Composite,
    composite::{Kind, kind, moved},
    compound::{Tree, visit_near},
    convex::Convex,
    mesh::bvh::longest_axis,
    surface::{Neighbour, Surface},
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape};
use std::ops::ControlFlow;

/// A convex part of a shape, in the shape's frame.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// A convex shape, and its pose in the frame of the whole.
    Solid(&'a Shape, Pose),
    /// The corners of a triangle.
    Triangle([DVec3; 3]),
    /// Without a support that is quick to ask for: bounded by the radius about the axis of spin.
    Unknown,
}

impl Part<'_> {
    /// Farthest point along a direction, both in the shape's frame; of the core where the part is a core with a ball
    /// around it, as turning does not move the ball.
    #[must_use]
    pub fn support(&self, direction: DVec3) -> Option<DVec3> {
        match self {
            Part::Solid(shape, pose) => {
                let local = pose.inverse_transform_vector(direction);
                let p = match shape {
                    Shape::Sphere(_) => DVec3::ZERO,
                    Shape::Capsule(c) => DVec3::new(0.0, 0.0, c.half_height().copysign(local.z)),
                    Shape::Convex(s) => s.core_support(local),
                    other => other.support(local)?,
                };
                Some(pose.transform_point(p))
            }
            Part::Triangle(corners) => {
                let h = corners.map(|c| c.dot(direction));
                // The axis of the largest entry is the corner that reaches farthest.
                Some(corners[longest_axis(DVec3::from_array(h))])
            }
            Part::Unknown => None,
        }
    }

    /// Farthest point of the whole part along a direction, both in the shape's frame.
    #[must_use]
    pub fn farthest(&self, direction: DVec3) -> Option<DVec3> {
        match self {
            Part::Solid(shape, pose) => {
                Some(pose.transform_point(shape.support(pose.inverse_transform_vector(direction))?))
            }
            Part::Triangle(_) | Part::Unknown => self.support(direction),
        }
    }
}

/// Visits pairs of parts up to a distance until it breaks; separations are in A's frame.
type Visit<'v, 's> = &'v mut dyn FnMut(&Separation, &Part<'s>, &Part<'s>) -> ControlFlow<()>;

/// Calls `visit` for all pairs of convex parts of two shapes within `reach` (metres), and maybe for some beyond it, until it breaks. Separations are in A's
/// frame, and not as exact as those of a narrow phase where parts nearly touch.
///
/// # Errors
/// Two shapes whose parts are not known, and what the distance of two parts reports.
pub fn near_parts<'s>(
    a: &'s Shape,
    b: &'s Shape,
    a_from_b: &Pose,
    reach: f64,
    visit: Visit<'_, 's>,
) -> Result<(), NarrowPhaseError> {
    match (kind(a), kind(b)) {
        (Kind::Tree(p), Kind::Tree(q)) => trees(p, q, a_from_b, reach, visit),
        (Kind::Tree(p), Kind::Mesh(m)) => surface(p, m, a_from_b, reach, visit),
        (Kind::Tree(p), Kind::Field(f)) => surface(p, f, a_from_b, reach, visit),
        (Kind::Mesh(m), Kind::Tree(q)) => {
            surface(q, m, &a_from_b.inverse(), reach, &mut |s, x, y| visit(&s.flipped(a_from_b), y, x))
        }
        (Kind::Field(f), Kind::Tree(q)) => {
            surface(q, f, &a_from_b.inverse(), reach, &mut |s, x, y| visit(&s.flipped(a_from_b), y, x))
        }
        (Kind::Tree(p), Kind::HalfSpace(_)) => half_space(p, b, a_from_b, visit),
        (Kind::HalfSpace(_), Kind::Tree(q)) => {
            half_space(q, a, &a_from_b.inverse(), &mut |s, x, y| visit(&s.flipped(a_from_b), y, x))
        }
        (Kind::Mesh(_) | Kind::Field(_), Kind::HalfSpace(_))
        | (Kind::HalfSpace(_), Kind::Mesh(_) | Kind::Field(_)) => {
            // The plane separates the whole surface.
            let found = Composite.separation(a, b, a_from_b, &mut PairCache::default())?;
            let _ = visit(&found, &Part::Unknown, &Part::Unknown);
            Ok(())
        }
        _ => Err(NarrowPhaseError::unsupported(a, b)),
    }
}

fn trees<'s>(
    p: Tree<'s>,
    q: Tree<'s>,
    a_from_b: &Pose,
    reach: f64,
    visit: Visit<'_, 's>,
) -> Result<(), NarrowPhaseError> {
    let mut flow = ControlFlow::Continue(());
    visit_near(p, q, a_from_b, reach, &mut |pieces| {
        if flow.is_break() {
            return Ok(());
        }
        let ((s, from_s), (t, from_t)) = (p.piece(pieces[0]), q.piece(pieces[1]));
        let s_from_t = from_s.inverse_mul(&(*a_from_b * from_t));
        let found = Convex.separation(s, t, &s_from_t, &mut PairCache::default())?;
        flow = visit(&moved(&found, &from_s), &Part::Solid(s, from_s), &Part::Solid(t, from_t));
        Ok(())
    })
}

fn half_space<'s>(
    p: Tree<'s>,
    plane: &Shape,
    a_from_b: &Pose,
    visit: Visit<'_, 's>,
) -> Result<(), NarrowPhaseError> {
    for piece in 0..p.len() {
        let (s, from_s) = p.piece(piece);
        let found = Convex.separation(s, plane, &from_s.inverse_mul(a_from_b), &mut PairCache::default())?;
        if visit(&moved(&found, &from_s), &Part::Solid(s, from_s), &Part::Unknown).is_break() {
            break;
        }
    }
    Ok(())
}

fn surface<'s>(
    p: Tree<'s>,
    surface: &impl Surface,
    a_from_b: &Pose,
    reach: f64,
    visit: Visit<'_, 's>,
) -> Result<(), NarrowPhaseError> {
    for piece in 0..p.len() {
        let (s, from_s) = p.piece(piece);
        let Some(near) = Neighbour::new(s, &from_s.inverse_mul(a_from_b), surface) else { continue };
        let flow = surface.visit_box(&near.aabb().grown(reach), &mut |_, triangle| {
            let (found, _) = near.gap(triangle, DVec3::ZERO, reach);
            if found.distance > reach {
                return ControlFlow::Continue(());
            }
            visit(&moved(&found, &from_s), &Part::Solid(s, from_s), &Part::Triangle(*triangle))
        });
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// Largest distance of a point of a shape (of its cores, where it has such) from the line through `center` along `axis` (both in the shape's frame; any
/// length but zero), metres.
pub(super) fn radius_about(shape: &Shape, center: DVec3, axis: DVec3) -> f64 {
    let axis = axis.normalize_or_zero();
    let off = |p: DVec3| (p - center).cross(axis).length();
    match kind(shape) {
        Kind::Tree(tree) => (0..tree.len())
            .map(|k| {
                let (piece, pose) = tree.piece(k);
                let out = |p: DVec3| off(pose.transform_point(p));
                match piece {
                    // A ball around a core stays where it is: only the core turns.
                    Shape::Sphere(_) => out(DVec3::ZERO),
                    Shape::Capsule(c) => {
                        let tip = DVec3::Z * c.half_height();
                        out(tip).max(out(-tip))
                    }
                    Shape::Cuboid(c) => (0..8)
                        .map(|k: u32| {
                            let sign = |bit: u32| if k >> bit & 1 == 0 { 1.0 } else { -1.0 };
                            out(c.half_extents() * DVec3::new(sign(0), sign(1), sign(2)))
                        })
                        .fold(0.0, f64::max),
                    Shape::Cylinder(c) => {
                        let tip = DVec3::Z * c.half_height();
                        out(tip).max(out(-tip)) + c.radius()
                    }
                    _ => match crate::as_polyhedron(piece) {
                        Some(q) => q.vertices().iter().map(|v| out(v.position)).fold(0.0, f64::max),
                        None => out(DVec3::ZERO) + piece.bounding_radius(),
                    },
                }
            })
            .fold(0.0, f64::max),
        Kind::Mesh(mesh) => mesh.points().iter().map(|p| off(*p)).fold(0.0, f64::max),
        _ => off(DVec3::ZERO) + shape.bounding_radius(),
    }
}
