//! The tree over the pieces of a compound: hulls, boxes or balls around what is below.
//!
//! # Reference
//! Fontijne 2000 §2.4.2 (hulls, boxes); Mirtich 1996 §2.2.2; Cline 2002 §4.5 (balls).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `volume` | convex shape around all pieces below, in the frame `body_from_volume` |
//! | `center`, `radius` | ball around the same |
//!
//! # Formula
//! ```text
//! pieces are halved along the longest axis of their centres; hull of the corners of polyhedra and boxes, and of the
//! boxes around round pieces
//! ```
//!
//! # Cost
//! O(n log² n) to build for n pieces; one hull per inner node.
//!
//! # Numerics
//! A hull is grown by nothing: rounding of a hull point is within what distance queries are accurate to.
//!
//! # Failure
//! [`CompoundError::Hull`] for pieces so small or so far out that their hull degenerates.
//!
//! # Tested by
//! `tests/compound.rs`

use super::{CompoundError, Piece};
use crate::{Polyhedron, PolyhedronError, as_polyhedron, mesh::bvh::longest_axis};
use sim_math::{Aabb, Pose, glam::DVec3};
use sim_traits::{Cuboid, Shape, Sphere};

/// What encloses the pieces below an inner node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NodeVolume {
    /// Their convex hull: tight.
    #[default]
    Hull,
    /// Their axis-aligned box in the compound's frame: cheap to build.
    Box,
    /// A ball around the middle of that box: a sphere tree. Cheap to build and to test, but loose.
    Ball,
}

/// A node; children follow in the array.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) volume: Shape,
    pub(crate) body_from_volume: Pose,
    pub(crate) center: DVec3,
    pub(crate) radius: f64,
    /// Piece of a leaf; for an inner node its first child, which the second child follows after its whole subtree.
    pub(crate) link: Link,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Piece(u32),
    Children(u32, u32),
}

/// Points whose hull contains the piece, in the compound's frame.
fn enclosing(piece: &Piece) -> Vec<DVec3> {
    let pose = &piece.body_from_piece;
    if let Some(p) = as_polyhedron(&piece.shape) {
        return p.vertices().iter().map(|v| pose.transform_point(v.position)).collect();
    }
    let local = piece.shape.aabb(&Pose::IDENTITY);
    corners(&local).map(|c| pose.transform_point(c)).to_vec()
}

fn corners(aabb: &Aabb) -> [DVec3; 8] {
    std::array::from_fn(|k| {
        let pick = |bit: usize, lo: f64, hi: f64| if k >> bit & 1 == 0 { lo } else { hi };
        DVec3::new(
            pick(0, aabb.min.x, aabb.max.x),
            pick(1, aabb.min.y, aabb.max.y),
            pick(2, aabb.min.z, aabb.max.z),
        )
    })
}

pub(super) fn build(pieces: &[Piece], volume: NodeVolume) -> Result<Vec<Node>, CompoundError> {
    let points: Vec<Vec<DVec3>> = pieces.iter().map(enclosing).collect();
    let boxes: Vec<Aabb> = pieces.iter().map(|p| p.shape.aabb(&p.body_from_piece)).collect();
    let mut order: Vec<u32> = (0..pieces.len() as u32).collect();
    let mut nodes: Vec<Node> = Vec::with_capacity(2 * pieces.len());
    // Parents are made before their children and learn of them afterwards.
    let mut tasks = vec![(0, order.len(), None::<usize>)];
    while let Some((start, end, parent)) = tasks.pop() {
        let index = nodes.len() as u32;
        if let Some(parent) = parent {
            nodes[parent].link = match nodes[parent].link {
                Link::Children(u32::MAX, _) => Link::Children(index, u32::MAX),
                Link::Children(first, _) => Link::Children(first, index),
                leaf => leaf,
            };
        }
        let run = &mut order[start..end];
        if let [piece] = run {
            nodes.push(leaf(&pieces[*piece as usize], *piece));
            continue;
        }
        let aabb = run.iter().fold(boxes[run[0] as usize], |all, i| all.merged(&boxes[*i as usize]));
        nodes.push(inner(run, &points, &aabb, volume)?);
        let center = |i: u32| boxes[i as usize].center();
        let (low, high) = run
            .iter()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |r, i| (r.0.min(center(*i)), r.1.max(center(*i))));
        let axis = longest_axis(high - low);
        let half = run.len() / 2;
        run.select_nth_unstable_by(half, |a, b| center(*a)[axis].total_cmp(&center(*b)[axis]).then(a.cmp(b)));
        tasks.push((start + half, end, Some(index as usize)));
        tasks.push((start, start + half, Some(index as usize)));
    }
    Ok(nodes)
}

fn leaf(piece: &Piece, index: u32) -> Node {
    let (center, radius) = match as_polyhedron(&piece.shape) {
        Some(p) => (p.center(), p.extent()),
        None => (DVec3::ZERO, piece.shape.bounding_radius()),
    };
    Node {
        volume: piece.shape.clone(),
        body_from_volume: piece.body_from_piece,
        center: piece.body_from_piece.transform_point(center),
        radius,
        link: Link::Piece(index),
    }
}

fn inner(run: &[u32], points: &[Vec<DVec3>], aabb: &Aabb, volume: NodeVolume) -> Result<Node, CompoundError> {
    let all: Vec<DVec3> = run.iter().flat_map(|i| points[*i as usize].iter().copied()).collect();
    let center = aabb.center();
    let ball = all.iter().map(|p| (*p - center).length()).fold(0.0, f64::max);
    let radius = ball.min(aabb.half_extents().length());
    let fault = |fault| CompoundError::Hull { first: run[0] as usize, fault };
    let bad = |what, value| fault(PolyhedronError::BadLength { what, value });
    let (volume, body_from_volume) = match volume {
        NodeVolume::Hull => (Shape::from(Polyhedron::hull(&all).map_err(fault)?), Pose::IDENTITY),
        NodeVolume::Box => {
            let half = aabb.half_extents().max(DVec3::splat(f64::MIN_POSITIVE));
            let cuboid = Cuboid::new(half).map_err(|_| bad("half extent", half.min_element()))?;
            (cuboid.into(), Pose::from_translation(center))
        }
        NodeVolume::Ball => {
            let sphere = Sphere::new(radius).map_err(|_| bad("radius", radius))?;
            (sphere.into(), Pose::from_translation(center))
        }
    };
    Ok(Node { volume, body_from_volume, center, radius, link: Link::Children(u32::MAX, u32::MAX) })
}
