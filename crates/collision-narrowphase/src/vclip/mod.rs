//! V-Clip: closest features of two convex polyhedra by a walk over their Voronoi regions.
//!
//! # Reference
//! Mirtich, *V-Clip* (1998); Fontijne 2000 §2.4 (outline, lessons on robustness). The remedies against cycling are our
//! own: exact arithmetic would not need them.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | feature | vertex, edge or face, named by a [`FeatureId`] |
//! | `band` | violation that counts as rounding, metres; starts at 1e-15 of the scale |
//! | `touch` | distance that counts as touching, metres: 1e-10 of the size |
//!
//! # Formula
//! ```text
//! repeat: one of VV, VE, VF, EE, EF moves to a neighbour across a violated plane, or decides apart or overlap
//! ```
//!
//! # Cost
//! One or two moves when the pose changed little, independent of the number of features; O(√n) from afar. No
//! allocation.
//!
//! # Numerics
//! The first moves follow closest points, as Lin and Canny do: cheaper than clipping, and as good while shapes are
//! disjoint. Works on the relative pose, in the frame of the higher feature. Remedies, in order: (1) moves that raise the
//! dimension need a violation above `band`; (2) cycles are found by Brent's method from move 16 on, each
//! multiplies `band` by 8; (3) distances up to `touch` count as overlap, whose depth is continuous there; (4)
//! after five cycles, restart from the support vertices, then from the opposite ones, then exhaustive search.
//! An answer found with a widened band must pass a certificate by support functions. An overlap is followed along its last
//! direction, and proven, before anything is searched.
//!
//! # Failure
//! None for finite poses. Depth and normal of an overlap come from separating axes or EPA.
//!
//! # Tested by
//! `tests/hostile.rs`, `tests/coherent.rs`

pub mod clip;
mod states;

use crate::{
    Polyhedron, brute_force,
    gjk::{self, epa},
    relative::Frame,
    sat::{self, SatResult},
    sharpen::sharpen_polyhedra,
    witness,
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{FeatureId, NarrowPhaseError, PairCache, Separation};
use states::{Query, Step};

/// Moves before the search for cycles begins.
const PATIENCE: u32 = 16;
/// Cycles after which the walk starts anew.
const CYCLES: u32 = 5;
/// Edge pairs up to which the depth comes from separating axes, beyond from EPA.
const SAT_PAIRS: usize = 20_000;

/// Closest features and points, with the effort spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// Signed distance with witnesses, in A's frame.
    pub separation: Separation,
    /// Features of A and B that hold the witnesses; [`FeatureId::NONE`] where an overlap was followed.
    pub features: [FeatureId; 2],
    /// States visited; none where an overlap was followed.
    pub iterations: u32,
    /// Remedies used: cycles broken, restarts, searches. Zero in all but a few queries in a million.
    pub remedies: u32,
    /// How often every pair of features was tried: 1 if no walk came to an end, else 0.
    pub searches: u32,
}

/// Whether two polyhedra overlap, as the walk sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Apart(Separation),
    Overlap,
}

/// Signed distance, witness points and features of two polyhedra.
///
/// The cache may hold what an earlier call with the same two polyhedra left; anything else in it is ignored.
///
/// # Errors
/// [`NarrowPhaseError::NonFinitePose`].
pub fn vclip(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<Closest, NarrowPhaseError> {
    let (contact, walk) = contact(a, b, a_from_b, cache)?;
    let (separation, features) = match contact {
        Contact::Apart(separation) => (separation, walk.features),
        Contact::Axis(axis) => witness::penetration(a, b, &Frame::from_pose(a_from_b), &axis),
        Contact::Followed(separation) => (separation, [FeatureId::NONE; 2]),
    };
    Ok(Closest {
        separation,
        features,
        iterations: walk.iterations,
        remedies: walk.remedies,
        searches: walk.searches,
    })
}

/// What a query finds, before witnesses of an overlap are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Contact {
    /// Disjoint.
    Apart(Separation),
    /// Overlap, with the best axis.
    Axis(SatResult),
    /// Touching or overlap, with witnesses but without features.
    Followed(Separation),
}

/// The walk, and the depth of an overlap.
#[inline]
pub(crate) fn contact(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<(Contact, Walk), NarrowPhaseError> {
    let query = prepare(a, b, a_from_b)?;
    let mut walk = Walk::from(cache);
    // An overlap is followed from query to query, and so is a gap too short for a walk to be sure of.
    let short = query.short;
    if cache.axis != DVec3::ZERO {
        if let Some(found) = gjk::follow_polyhedra(a, b, &query.a_from_b, cache.axis)
            && found.distance <= short
        {
            cache.axis = found.normal;
            return Ok((Contact::Followed(found), walk));
        }
        cache.axis = DVec3::ZERO;
    }
    let verdict = walk.run(query);
    cache.features = walk.features;
    let contact = match verdict {
        Verdict::Apart(separation) => Contact::Apart(separation),
        Verdict::Overlap => depth(a, b, a_from_b),
    };
    match &contact {
        Contact::Axis(axis) => cache.axis = axis.normal,
        Contact::Apart(found) | Contact::Followed(found) if found.distance <= short => {
            cache.axis = found.normal;
        }
        _ => {}
    }
    Ok((contact, walk))
}

/// Whether two polyhedra overlap or touch (within 1e-10 of their size), without depth.
///
/// # Errors
/// [`NarrowPhaseError::NonFinitePose`].
pub fn intersects(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<bool, NarrowPhaseError> {
    let mut walk = Walk::from(cache);
    let verdict = walk.run(prepare(a, b, a_from_b)?);
    cache.features = walk.features;
    Ok(verdict == Verdict::Overlap)
}

#[inline]
fn prepare<'a>(a: &'a Polyhedron, b: &'a Polyhedron, a_from_b: &Pose) -> Result<Query<'a>, NarrowPhaseError> {
    // One sum is finite only if all seven numbers are.
    let (t, q) = (a_from_b.translation, a_from_b.rotation);
    let reach = t.x.abs() + t.y.abs() + t.z.abs();
    let norm = q.length_squared();
    if !(reach < f64::INFINITY && norm < f64::INFINITY && norm > 0.0) {
        let name = "polyhedron";
        return Err(NarrowPhaseError::NonFinitePose { a: name, b: name, pose: *a_from_b });
    }
    let size = a.extent() + b.extent();
    let scale = size + reach;
    let a_from_b = Frame::from_pose(a_from_b);
    Ok(Query {
        a,
        b,
        a_from_b,
        size,
        scale,
        band: 1e-15 * scale,
        touch: 1e-10 * size,
        short: 1e-5 * size,
        hasty: true,
    })
}

/// Depth and normal of an overlap (or of a gap up to the touching distance).
#[inline(never)]
fn depth(a: &Polyhedron, b: &Polyhedron, a_from_b: &Pose) -> Contact {
    let frame = Frame::from_pose(a_from_b);
    if a.edges().len() * b.edges().len() > SAT_PAIRS
        && let Some(found) = epa::polyhedra(a, b, &frame)
    {
        return Contact::Followed(found);
    }
    Contact::Axis(sat::sat_overlapping(a, b, &frame, 2e-10 * (a.extent() + b.extent())))
}

/// State and effort of a query.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) features: [FeatureId; 2],
    iterations: u32,
    remedies: u32,
    searches: u32,
}

impl Walk {
    #[inline]
    fn from(cache: &PairCache) -> Self {
        Self { features: cache.features, iterations: 0, remedies: 0, searches: 0 }
    }

    #[inline]
    fn run(&mut self, mut query: Query<'_>) -> Verdict {
        if !(valid(query.a, self.features[0]) && valid(query.b, self.features[1])) {
            self.features = support_pair(&query, 1.0);
        }
        // The first moves, without bookkeeping: all that nearly every query needs.
        for _ in 0..PATIENCE {
            if let Some(verdict) = self.step(&query) {
                return verdict;
            }
        }
        self.insist(&mut query)
    }

    /// One state; `None` if it moved.
    #[inline(always)]
    fn step(&mut self, query: &Query<'_>) -> Option<Verdict> {
        self.iterations += 1;
        let [fa, fb] = self.features;
        let (ia, ib) = (fa.index(), fb.index());
        let step = match (fa.dimension(), fb.dimension()) {
            (Some(0), Some(0)) => query.vertex_vertex(ia, ib),
            (Some(0), Some(1)) => query.vertex_edge::<false>(ia, ib),
            (Some(1), Some(0)) => query.vertex_edge::<true>(ib, ia),
            (Some(0), Some(2)) => query.vertex_face::<false>(ia, ib),
            (Some(2), Some(0)) => query.vertex_face::<true>(ib, ia),
            (Some(1), Some(1)) => query.edge_edge(ia, ib),
            (Some(1), Some(2)) => query.edge_face::<false>(ia, ib),
            (Some(2), Some(1)) => query.edge_face::<true>(ib, ia),
            // Two faces never meet in the walk, and unknown features are replaced before it starts.
            _ => Step::Move(support_pair(query, 1.0)[0], support_pair(query, 1.0)[1]),
        };
        match step {
            Step::Move(a, b) => {
                self.features = [a, b];
                None
            }
            Step::Apart(separation) => Some(Verdict::Apart(separation)),
            Step::Overlap => Some(Verdict::Overlap),
            Step::Doubtful(separation) => Some(self.confirm(query, separation)),
        }
    }

    /// A short gap between points is believed only if the shapes really leave it free.
    #[cold]
    fn confirm(&mut self, query: &Query<'_>, separation: Separation) -> Verdict {
        let Query { a, b, a_from_b, .. } = query;
        let tolerance = 1e-11 * query.size;
        let (sharp, gap) = sharpen_polyhedra(a, b, a_from_b, &separation, tolerance);
        if gap >= sharp.distance - tolerance { Verdict::Apart(sharp) } else { self.search(query) }
    }

    /// Exhaustive search.
    #[cold]
    fn search(&mut self, query: &Query<'_>) -> Verdict {
        self.remedies += 1;
        self.searches += 1;
        let (separation, features) = brute_force::brute_force(query.a, query.b, &query.a_from_b);
        if separation.distance <= query.touch {
            return Verdict::Overlap;
        }
        self.features = features;
        Verdict::Apart(separation)
    }

    /// The walk with cycle detection, widening bands, restarts and exhaustive search.
    #[cold]
    fn insist(&mut self, query: &mut Query<'_>) -> Verdict {
        let first_band = query.band;
        query.hasty = false;
        for attempt in 0..3 {
            if attempt > 0 {
                self.remedies += 1;
                query.band = first_band;
                self.features = support_pair(query, if attempt == 1 { 1.0 } else { -1.0 });
            }
            if let Some(verdict) = self.chase(query)
                && certified(query, &verdict, query.band > first_band)
            {
                return verdict;
            }
        }
        self.search(query)
    }

    /// Brent's cycle detection; gives up after some cycles.
    fn chase(&mut self, query: &mut Query<'_>) -> Option<Verdict> {
        let (mut mark, mut power, mut length, mut cycles) = (self.features, 1_u64, 0_u64, 0);
        // No walk visits more than a few features for each that exists.
        let count = |p: &Polyhedron| p.vertices().len() + p.edges().len() + p.faces().len();
        for _ in 0..4 * (count(query.a) + count(query.b)) + 100 {
            if let Some(verdict) = self.step(query) {
                return Some(verdict);
            }
            length += 1;
            if self.features == mark {
                self.remedies += 1;
                cycles += 1;
                if cycles > CYCLES {
                    return None;
                }
                query.band *= 8.0;
                (power, length) = (1, 0);
            } else if length == power {
                (mark, power, length) = (self.features, 2 * power, 0);
            }
        }
        None
    }
}

#[inline]
fn valid(polyhedron: &Polyhedron, feature: FeatureId) -> bool {
    let count = match feature.dimension() {
        Some(0) => polyhedron.vertices().len(),
        Some(1) => polyhedron.edges().len(),
        Some(2) => polyhedron.faces().len(),
        _ => 0,
    };
    (feature.index() as usize) < count
}

/// Vertices that face each other along the line of centres (sense 1) or away from each other (sense −1).
fn support_pair(query: &Query<'_>, sense: f64) -> [FeatureId; 2] {
    let direction = sense * (query.a_from_b.point(query.b.center()) - query.a.center());
    [
        FeatureId::vertex(query.a.support_vertex(direction)),
        FeatureId::vertex(query.b.support_vertex(query.a_from_b.back(-direction))),
    ]
}

/// A gap found with a widened band must really be as wide as claimed along its normal.
fn certified(query: &Query<'_>, verdict: &Verdict, widened: bool) -> bool {
    match verdict {
        Verdict::Apart(s) if widened => {
            let gap = sat::gap_along(query.a, query.b, &query.a_from_b, -s.normal);
            gap >= s.distance - 1e-11 * query.scale
        }
        _ => true,
    }
}
