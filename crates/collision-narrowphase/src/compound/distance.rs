//! Distance of compounds: the tree is opened only where hulls come near.
//!
//! # Reference
//! Fontijne 2000 §2.4.2 (open-hull threshold); Mirtich 1996 §2.2.2.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `threshold` | hull distance from which on a pair of nodes stays closed, metres |
//! | `best` | least distance so far: of two pieces, or of two closed hulls |
//!
//! # Formula
//! ```text
//! d(hulls) ≥ threshold: lower bound.   both leaves: exact.   else open the larger node.   result: the minimum
//! ```
//!
//! # Cost
//! One distance of hulls per pair of nodes that a ball test does not rule out; no allocation.
//!
//! # Numerics
//! A pair is ruled out only if its lower bound is not below `best`: the result is the minimum over pieces to the bit
//! of the piece distances.
//!
//! # Failure
//! As the narrow phase of the pieces.
//!
//! # Tested by
//! `tests/compound.rs`

use super::{Compound, tree::Link};
use crate::{
    adapter::as_polyhedron,
    convex::Convex,
    gjk::{Core, Cores},
    relative::Frame,
    vclip::{intersects, vclip},
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{FeatureId, NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape};

/// Each level of a tree halves the pieces, and a pair opens one node at a time.
const STACK: usize = 64;

/// Distance of two compounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompoundDistance {
    /// Of the two nearest pieces, or of the two nearest closed hulls; in A's frame.
    pub separation: Separation,
    /// The pieces; 0 for closed hulls.
    pub pieces: [u32; 2],
    /// False if the distance is only a lower bound (at least the threshold).
    pub exact: bool,
    /// Pairs of pieces whose distance was computed.
    pub piece_tests: u32,
    /// Pairs of hulls whose distance was computed.
    pub hull_tests: u32,
}

/// A compound, or a single convex shape as the tree of one leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tree<'a> {
    Compound(&'a Compound),
    Convex(&'a Shape),
}

impl<'a> Tree<'a> {
    fn volume(&self, node: u32) -> (&'a Shape, Pose) {
        match self {
            Tree::Compound(c) => {
                let n = &c.nodes()[node as usize];
                (&n.volume, n.body_from_volume)
            }
            Tree::Convex(s) => (s, Pose::IDENTITY),
        }
    }

    fn link(&self, node: u32) -> Link {
        match self {
            Tree::Compound(c) => c.nodes()[node as usize].link,
            Tree::Convex(_) => Link::Piece(0),
        }
    }

    fn ball(&self, node: u32) -> (DVec3, f64) {
        match self {
            Tree::Compound(c) => {
                let n = &c.nodes()[node as usize];
                (n.center, n.radius)
            }
            Tree::Convex(s) => match as_polyhedron(s) {
                Some(p) => (p.center(), p.extent()),
                None => (DVec3::ZERO, s.bounding_radius()),
            },
        }
    }

    pub(crate) fn piece(&self, piece: u32) -> (&'a Shape, Pose) {
        match self {
            Tree::Compound(c) => {
                let p = &c.pieces()[piece as usize];
                (&p.shape, p.body_from_piece)
            }
            Tree::Convex(s) => (s, Pose::IDENTITY),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        match self {
            Tree::Compound(c) => c.pieces().len() as u32,
            Tree::Convex(_) => 1,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Tree::Compound(_) => "compound",
            Tree::Convex(s) => s.name(),
        }
    }
}

/// A pair of nodes still to be looked at, with a lower bound of its distance.
type Entry = (u32, u32, f64);

struct Walk<'a> {
    a: Tree<'a>,
    b: Tree<'a>,
    a_from_b: Frame,
    pose: Pose,
    stack: [Entry; STACK],
    len: usize,
}

impl<'a> Walk<'a> {
    fn new(a: Tree<'a>, b: Tree<'a>, a_from_b: &Pose) -> Self {
        let mut walk = Self {
            a,
            b,
            a_from_b: Frame::from_pose(a_from_b),
            pose: *a_from_b,
            stack: [(0, 0, 0.0); STACK],
            len: 1,
        };
        walk.stack[0].2 = walk.ball_bound(0, 0);
        walk
    }

    fn ball_bound(&self, i: u32, j: u32) -> f64 {
        let ((ca, ra), (cb, rb)) = (self.a.ball(i), self.b.ball(j));
        ((self.a_from_b.point(cb) - ca).length() - ra - rb) * (1.0 - 1e-14)
    }

    fn pop(&mut self) -> Option<Entry> {
        self.len = self.len.checked_sub(1)?;
        Some(self.stack[self.len])
    }

    /// Replaces a pair by those of the children of its larger node, the nearer one on top.
    fn open(&mut self, i: u32, j: u32, bound: f64) {
        let pairs = match (self.a.link(i), self.b.link(j)) {
            (Link::Children(l, r), Link::Piece(_)) => [(l, j), (r, j)],
            (Link::Piece(_), Link::Children(l, r)) => [(i, l), (i, r)],
            (Link::Children(l, r), Link::Children(..)) if self.a.ball(i).1 >= self.b.ball(j).1 => {
                [(l, j), (r, j)]
            }
            (_, Link::Children(l, r)) => [(i, l), (i, r)],
            (Link::Piece(_), Link::Piece(_)) => return,
        };
        let [first, second] = pairs.map(|(i, j)| (i, j, self.ball_bound(i, j).max(bound)));
        let (near, far) = if first.2 <= second.2 { (first, second) } else { (second, first) };
        for entry in [far, near] {
            // The depth of two trees of 2²⁰ leaves leaves room.
            if let Some(slot) = self.stack.get_mut(self.len) {
                *slot = entry;
                self.len += 1;
            }
        }
    }

    fn leaves(&self, i: u32, j: u32) -> Option<[u32; 2]> {
        match (self.a.link(i), self.b.link(j)) {
            (Link::Piece(p), Link::Piece(q)) => Some([p, q]),
            _ => None,
        }
    }

    fn piece_distance(&self, [p, q]: [u32; 2]) -> Result<Separation, NarrowPhaseError> {
        let ((s, from_p), (t, from_q)) = (self.a.piece(p), self.b.piece(q));
        let p_from_q = from_p.inverse_mul(&(self.pose * from_q));
        let found = Convex.separation(s, t, &p_from_q, &mut PairCache::default())?;
        Ok(moved(&found, &from_p))
    }

    /// Distance of the volumes of two nodes; `None` if they touch.
    fn hull_distance(&self, i: u32, j: u32) -> Option<Separation> {
        let ((s, from_s), (t, from_t)) = (self.a.volume(i), self.b.volume(j));
        let s_from_t = from_s.inverse_mul(&(self.pose * from_t));
        if let (Some(p), Some(q)) = (as_polyhedron(s), as_polyhedron(t)) {
            let mut cache = PairCache::default();
            if intersects(p, q, &s_from_t, &mut cache).unwrap_or(true) {
                return None;
            }
            let found = vclip(p, q, &s_from_t, &mut cache).ok()?.separation;
            return (found.distance > 0.0).then(|| moved(&found, &from_s));
        }
        let cores = Cores::new(Core::of(s)?, Core::of(t)?, Frame::from_pose(&s_from_t));
        let (found, apart) = cores.gap(DVec3::ZERO);
        // GJK comes from above, on round shapes by more than rounding; a bound must not.
        let found = Separation { distance: cores.lower_bound(found.normal).min(found.distance), ..found };
        (apart && found.distance > 0.0).then(|| moved(&found, &from_s))
    }
}

fn moved(s: &Separation, pose: &Pose) -> Separation {
    Separation {
        distance: s.distance,
        normal: pose.transform_vector(s.normal),
        point_a: pose.transform_point(s.point_a),
        point_b: pose.transform_point(s.point_b),
    }
}

/// Distance of two compounds at a relative pose. Hulls at least `threshold` (metres) apart stay closed, so the result is
/// the least distance of two pieces whenever that is below the threshold, and a lower bound of it otherwise. An infinite
/// threshold always gives the least distance; 0 opens hulls only where they overlap. In overlap the distance is that of
/// the deepest pair of pieces.
///
/// The cache remembers the nearest pieces, which is where the next search begins.
///
/// # Errors
/// A pose that is not finite, a threshold that is NaN (reported as unsupported), what the pieces' narrow phase reports.
pub fn compound_distance(
    a: &Compound,
    b: &Compound,
    a_from_b: &Pose,
    threshold: f64,
    cache: &mut PairCache,
) -> Result<CompoundDistance, NarrowPhaseError> {
    distance(Tree::Compound(a), Tree::Compound(b), a_from_b, threshold, cache)
}

pub(crate) fn distance(
    a: Tree<'_>,
    b: Tree<'_>,
    a_from_b: &Pose,
    threshold: f64,
    cache: &mut PairCache,
) -> Result<CompoundDistance, NarrowPhaseError> {
    let (name_a, name_b) = (a.name(), b.name());
    if !a_from_b.is_finite() {
        return Err(NarrowPhaseError::NonFinitePose { a: name_a, b: name_b, pose: *a_from_b });
    }
    if threshold.is_nan() {
        return Err(NarrowPhaseError::UnsupportedPair { a: name_a, b: name_b });
    }
    let mut walk = Walk::new(a, b, a_from_b);
    let (mut piece_tests, mut hull_tests) = (0, 0);
    let mut best: Option<(Separation, [u32; 2], bool)> = None;
    // The pieces that were nearest last time give a good limit at once.
    let hint = [cache.features[0], cache.features[1]];
    if let [Some(2), Some(2)] = hint.map(FeatureId::dimension)
        && hint[0].index() < a.len()
        && hint[1].index() < b.len()
    {
        let pieces = hint.map(FeatureId::index);
        piece_tests += 1;
        let found = walk.piece_distance(pieces)?;
        // Above the threshold only closed hulls may answer, or the result would depend on the cache.
        if found.distance < threshold {
            best = Some((found, pieces, true));
        }
    }
    while let Some((i, j, bound)) = walk.pop() {
        let limit = best.map_or(f64::INFINITY, |b| b.0.distance);
        if bound >= limit && bound > 0.0 {
            continue;
        }
        if let Some(pieces) = walk.leaves(i, j) {
            piece_tests += 1;
            let found = walk.piece_distance(pieces)?;
            if best.is_none_or(|b| (found.distance, pieces) < (b.0.distance, b.1)) {
                best = Some((found, pieces, true));
            }
            continue;
        }
        let mut bound = bound;
        hull_tests += 1;
        if let Some(found) = walk.hull_distance(i, j) {
            if found.distance >= limit {
                continue;
            }
            if found.distance >= threshold {
                best = Some((found, [0, 0], false));
                continue;
            }
            bound = bound.max(found.distance);
        }
        walk.open(i, j, bound);
    }
    let Some((separation, pieces, exact)) = best else {
        return Err(NarrowPhaseError::UnsupportedPair { a: name_a, b: name_b });
    };
    if exact {
        cache.features = pieces.map(FeatureId::face);
    }
    cache.axis = separation.normal;
    Ok(CompoundDistance { separation, pieces, exact, piece_tests, hull_tests })
}

/// Calls `visit` with every pair of pieces that may be within `reach` (metres) of each other.
pub(crate) fn visit_near(
    a: Tree<'_>,
    b: Tree<'_>,
    a_from_b: &Pose,
    reach: f64,
    visit: &mut dyn FnMut([u32; 2]) -> Result<(), NarrowPhaseError>,
) -> Result<(), NarrowPhaseError> {
    let mut walk = Walk::new(a, b, a_from_b);
    while let Some((i, j, bound)) = walk.pop() {
        if bound > reach {
            continue;
        }
        if let Some(pieces) = walk.leaves(i, j) {
            visit(pieces)?;
            continue;
        }
        let hulls = walk.hull_distance(i, j).map_or(bound, |s| s.distance);
        if hulls <= reach {
            walk.open(i, j, bound);
        }
    }
    Ok(())
}
