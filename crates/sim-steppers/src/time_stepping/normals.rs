//! Contact normals that know their neighbours: no body stumbles over the seam of two flush ones.
//!
//! # Reference
//!
//! Own. The trouble is known as ghost collisions or internal edges (Catto, *Ghost collisions*, 2020).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | slider | the body that has both contacts | |
//! | m | normal of another contact Q of the slider, towards it | |
//! | o | height of Q's plane along m: the farthest of its points on the other surface | m |
//! | n | normal of the contact P in question, towards the slider | |
//! | ε | height that counts as flush: 1e-6 of the smaller collider, 1e-3 where contacts are soft, and three times the overlap that is left alone | m |
//!
//! # Formula
//!
//! ```text
//! the other collider of P lies below Q's plane:   max m·x ≤ o + ε, and stays there in the next step
//! the slider's collider lies above it:            min m·x ≥ o + min(gap of Q, 0) − ε, less a hundredth of its size where contacts are soft
//! m is that of a face of the other collider of P if it is one to 1e-3 rad
//! then Q keeps them apart: P acts along m where n·m > ½, else not at all
//! P of a curved surface acts only if it is as near as Q along m, or, where contacts are soft, if n·m > 0.999
//! ```
//!
//! A curved surface touches elsewhere along m, by its radius times the angle. But a cylinder that lies on several tiles and tilts by what soft
//! contacts give way has normals that differ a little, and every tile carries it.
//!
//! Of two contacts that could replace each other the nearer one stays.
//!
//! # Cost
//!
//! One scalar product for each two contacts of a body; four support points where a contact lies in the plane of another, which seldom happens.
//!
//! # Numerics
//!
//! A wall or a step that rises above the floor by more than ε is no seam. Colliders of many parts count as a whole: a field that rises anywhere above
//! the plane is left alone. Their own inner edges are left to the narrow phase.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `tests/time_seams.rs`

use super::candidate::Candidate;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};
use sim_traits::{Manifold, Shape};
use sim_world::{Body, Collider, World};

/// Share of the size of a collider that counts as flush.
const FLUSH: f64 = 1e-6;
/// The same in terms of the overlap that is left alone: three surfaces may be off by it.
const SLOPS: f64 = 3.0;
/// Share of the size of a collider by which it may be deeper in than its contact says, where contacts are soft: it tilts.
const TILT: f64 = 1e-2;
/// What counts as flush there.
const SOFT_FLUSH: f64 = 1e-3;
/// Square of the angle between normals of which one has tilted.
const TURNED: f64 = 1e-6;
/// Square of the angle between normals that are the same.
const SAME: f64 = 1e-24;
/// Cosine of the angle up to which a contact is bent, not dropped.
const BENT: f64 = 0.5;

/// What neighbours make of a manifold.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Bend {
    /// It stays as it was found.
    #[default]
    Keep,
    /// It is a seam.
    Drop,
    /// It acts along this direction, in the frame of A's shape.
    Along(DVec3),
}

/// A manifold where it is now.
#[derive(Debug, Clone, Copy)]
struct Entry {
    pair: u32,
    manifold: u32,
    bodies: [u32; 2],
    /// From B to A, world.
    normal: DVec3,
    /// Least, m.
    gap: f64,
    /// On A and on B, world, m.
    points: [[DVec3; 2]; Manifold::CAPACITY],
    len: usize,
}

/// Length of a step, s, overlap that is left alone, m, and the kind of contacts.
#[derive(Debug, Clone, Copy)]
struct Scales {
    h: f64,
    slop: f64,
    is_soft: bool,
}

/// P is overruled by Q, along m.
#[derive(Debug, Clone, Copy)]
struct Overruled {
    p: u32,
    q: u32,
    m: DVec3,
}

/// A contact seen from the side of the slider: 0 for A, 1 for B.
#[derive(Debug, Clone, Copy)]
struct Seen<'a> {
    entry: &'a Entry,
    side: usize,
}

impl Seen<'_> {
    /// Towards the slider.
    fn normal(&self) -> DVec3 {
        if self.side == 0 { self.entry.normal } else { -self.entry.normal }
    }

    /// Points on the other surface.
    fn others(&self) -> impl Iterator<Item = DVec3> {
        self.entry.points[..self.entry.len].iter().map(|p| p[1 - self.side])
    }

    fn other_body(&self) -> u32 {
        self.entry.bodies[1 - self.side]
    }
}

/// Scratch of a judgement.
#[derive(Debug, Default)]
pub(super) struct Normals {
    entries: Vec<Entry>,
    /// Body and entry, in order.
    of_body: Vec<[u32; 2]>,
    concerned: Vec<bool>,
    overruled: Vec<Overruled>,
}

/// Largest m·x of a shape at a pose, m; a bound of it for shapes of many parts.
fn highest(shape: &Shape, pose: &Pose, m: DVec3) -> f64 {
    match shape {
        Shape::HalfSpace(half_space) => {
            let normal = pose.transform_vector(half_space.normal());
            if (normal - m).length_squared() <= SAME { m.dot(pose.translation) } else { f64::INFINITY }
        }
        Shape::Custom(custom) => {
            let upright = DQuat::from_rotation_arc(m, DVec3::Z);
            custom.aabb(&(Pose::new(DVec3::ZERO, upright) * *pose)).max.z
        }
        _ => {
            let point = shape.support(pose.inverse_transform_vector(m));
            point.map_or(f64::INFINITY, |p| pose.transform_point(p).dot(m))
        }
    }
}

/// The normal of a face of the shape, if there is one that hardly differs from m: Q's may be that of a slider that has tilted a little.
fn snapped(shape: &Shape, pose: &Pose, m: DVec3) -> DVec3 {
    let face = match shape {
        Shape::HalfSpace(half_space) => half_space.normal(),
        Shape::Cuboid(_) => {
            let local = pose.inverse_transform_vector(m);
            let most = local.abs().max_element();
            DVec3::select(local.abs().cmpge(DVec3::splat(most)), DVec3::ONE.copysign(local), DVec3::ZERO)
        }
        _ => return m,
    };
    let face = pose.transform_vector(face);
    if (face - m).length_squared() < TURNED { face.normalize_or_zero() } else { m }
}

/// Shapes with corners, or with a ball rolled around them: what acts along another direction acts at the same place.
fn has_places(shape: &Shape) -> bool {
    match shape {
        Shape::Convex(convex) => convex.name() == "polyhedron",
        Shape::Cylinder(_) => false,
        _ => true,
    }
}

fn pose_of(body: &Body, collider: &Collider) -> Pose {
    *body.state().pose() * collider.extent().body_from_shape
}

impl Normals {
    /// Judges the contacts of all bodies, or only of those of which something was found anew. Pairs in which something changed are put on the list of
    /// those that were due, as if they were fresh.
    pub(super) fn judge(
        &mut self,
        world: &World,
        candidates: &mut [Candidate],
        due: Option<&mut Vec<u32>>,
        [h, slop]: [f64; 2],
    ) {
        self.concerned.clear();
        match &due {
            None => self.concerned.resize(world.body_slots(), true),
            Some(due) => {
                self.concerned.resize(world.body_slots(), false);
                let fresh = due.iter().map(|k| &candidates[*k as usize]).filter(|pair| pair.fresh);
                for slot in fresh.flat_map(|pair| pair.bodies) {
                    self.concerned[slot as usize] = true;
                }
            }
        }
        self.gather(world, candidates);
        self.compare(world, candidates, Scales { h, slop, is_soft: due.is_some() });
        self.decide(world, candidates, due, slop);
    }

    /// Contacts of free bodies that are concerned.
    fn gather(&mut self, world: &World, candidates: &[Candidate]) {
        self.entries.clear();
        self.of_body.clear();
        let slots = world.body_slots() as u32;
        for slot in 0..slots {
            let free = world.body_in_slot(slot).is_some_and(|(_, body)| body.is_free());
            self.concerned[slot as usize] &= free;
        }
        for (k, pair) in (0..).zip(candidates) {
            let concerned = pair.bodies.iter().any(|slot| self.concerned[*slot as usize]);
            if !concerned || pair.sensor.is_some() || pair.rest.found.manifolds.is_empty() {
                continue;
            }
            let Some(([a, b], [body_a, body_b])) = pair.sides(world) else { continue };
            let world_from_a = pose_of(body_a, a);
            let b_from_then = if pair.fresh {
                world_from_a
            } else {
                pose_of(body_b, b) * pair.rest.found.a_from_b.inverse()
            };
            for (j, manifold) in (0..).zip(&pair.rest.found.manifolds) {
                let normal = world_from_a.transform_vector(manifold.normal).normalize_or_zero();
                let mut entry = Entry {
                    pair: k,
                    manifold: j,
                    bodies: pair.bodies,
                    normal,
                    gap: f64::INFINITY,
                    points: [[DVec3::ZERO; 2]; Manifold::CAPACITY],
                    len: manifold.points().len(),
                };
                for (place, point) in entry.points.iter_mut().zip(manifold.points()) {
                    let on_a = world_from_a.transform_point(point.point_a);
                    let on_b = b_from_then.transform_point(point.point_b);
                    *place = [on_a, on_b];
                    entry.gap = entry.gap.min(normal.dot(on_a - on_b));
                }
                let number = self.entries.len() as u32;
                self.entries.push(entry);
                for slot in pair.bodies.into_iter().filter(|slot| self.concerned[*slot as usize]) {
                    self.of_body.push([slot, number]);
                }
            }
        }
        self.of_body.sort_unstable();
    }

    fn compare(&mut self, world: &World, candidates: &[Candidate], scales: Scales) {
        self.overruled.clear();
        let Self { entries, of_body, overruled, concerned } = self;
        for list in of_body.chunk_by(|x, y| x[0] == y[0]) {
            let body = list[0][0];
            for &[_, p] in list {
                for &[_, q] in list.iter().filter(|other| other[1] != p) {
                    let [of_p, of_q] = [p, q].map(|k| {
                        let entry = &entries[k as usize];
                        Seen { entry, side: usize::from(entry.bodies[0] != body) }
                    });
                    let other = of_p.other_body();
                    // Bodies that do not move slide too, as others see it.
                    let turned = other == of_q.other_body() && !concerned[other as usize];
                    for flip in [false, true] {
                        if flip && !turned {
                            continue;
                        }
                        let [of_p, of_q] =
                            [of_p, of_q].map(|s| Seen { side: if flip { 1 - s.side } else { s.side }, ..s });
                        if let Some(m) = keeps_apart(world, candidates, [of_p, of_q], scales) {
                            let nearer = (of_p.entry.gap, p) < (of_q.entry.gap, q);
                            if nearer && keeps_apart(world, candidates, [of_q, of_p], scales).is_some() {
                                continue;
                            }
                            let m = if of_p.side == 0 { m } else { -m };
                            overruled.push(Overruled { p, q, m });
                        }
                    }
                }
            }
        }
        overruled.sort_unstable_by_key(|o| [o.p, o.q]);
    }

    fn decide(&mut self, world: &World, candidates: &mut [Candidate], due: Option<&mut Vec<u32>>, slop: f64) {
        let Self { entries, overruled, .. } = self;
        let is_overruled = |k: u32| overruled.binary_search_by_key(&k, |o| o.p).is_ok();
        let is_soft = due.is_some();
        let mut changed = due;
        let mut next = 0;
        for (k, entry) in (0..).zip(&*entries) {
            let mut best: Option<(bool, f64, DVec3)> = None;
            let points = &entry.points[..entry.len];
            while let Some(o) = overruled.get(next).filter(|o| o.p == k) {
                next += 1;
                let rank = (is_overruled(o.q), entries[o.q as usize].gap, o.m);
                if best.is_none_or(|b| (rank.0, rank.1) < (b.0, b.1)) {
                    best = Some(rank);
                }
            }
            let pair = &mut candidates[entry.pair as usize];
            if best.is_none() && pair.rest.found.bends.is_empty() {
                continue;
            }
            let bend = match (best, pair.sides(world)) {
                (Some((_, gap, m)), Some((colliders, bodies))) => {
                    // A curved surface touches elsewhere along m, unless it is as near as Q there, or tilted a little only.
                    let carries = || points.iter().any(|[on_a, on_b]| m.dot(*on_a - *on_b) <= gap + slop);
                    let near = || is_soft && m.dot(entry.normal) > 1.0 - SOFT_FLUSH;
                    let kept = colliders.iter().all(|c| has_places(c.shape())) || near() || carries();
                    if kept && m.dot(entry.normal) > BENT {
                        Bend::Along(pose_of(bodies[0], colliders[0]).inverse_transform_vector(m))
                    } else {
                        Bend::Drop
                    }
                }
                _ => Bend::Keep,
            };
            let count = pair.rest.found.manifolds.len();
            let bends = &mut pair.rest.found.bends;
            bends.resize(count, Bend::Keep);
            let before = std::mem::replace(&mut bends[entry.manifold as usize], bend);
            let same = std::mem::discriminant(&before) == std::mem::discriminant(&bend);
            if let Some(due) = &mut changed
                && !same
                && !pair.fresh
            {
                pair.fresh = true;
                due.push(entry.pair);
            }
        }
    }
}

/// The direction towards the slider along which contact Q keeps the colliders of contact P apart, if it does.
fn keeps_apart(
    world: &World,
    candidates: &[Candidate],
    [p, q]: [Seen<'_>; 2],
    Scales { h, slop, is_soft }: Scales,
) -> Option<DVec3> {
    let (m, n) = (q.normal(), p.normal());
    if (m - n).length_squared() <= SAME || m.dot(n) < -BENT {
        return None;
    }
    let (colliders, bodies) = candidates[p.entry.pair as usize].sides(world)?;
    let [slider, other] = [colliders[p.side], colliders[1 - p.side]];
    let size = slider.shape().bounding_radius().min(other.shape().bounding_radius());
    let [flush, tilt] = if is_soft { [SOFT_FLUSH, TILT] } else { [FLUSH, 0.0] };
    let (flush, tilt) = (flush * size + SLOPS * slop, tilt * size);
    let other_pose = pose_of(bodies[1 - p.side], other);
    let m = snapped(other.shape(), &other_pose, m);
    let plane = q.others().map(|x| m.dot(x)).fold(f64::NEG_INFINITY, f64::max);
    // What the contact itself tells rules out nearly all.
    if p.others().any(|x| m.dot(x) > plane + flush) {
        return None;
    }
    let top = highest(other.shape(), &other_pose, m);
    if top > plane + flush {
        return None;
    }
    let bottom = -highest(slider.shape(), &pose_of(bodies[p.side], slider), -m);
    if bottom < plane + q.entry.gap.min(0.0) - flush - tilt {
        return None;
    }
    // It must not rise against the plane in the next step.
    let [under_p, under_q] = [p, q].map(|s| s.other_body());
    if under_p == under_q {
        return Some(m);
    }
    let speed = |seen: &Seen<'_>, slot: u32| {
        let point = seen.others().next().unwrap_or_default();
        world.body_in_slot(slot).map_or(0.0, |(_, body)| {
            let velocity = body.velocity();
            m.dot(velocity.linear + velocity.angular.cross(point - body.position()))
        })
    };
    let risen = top + h * (speed(&p, under_p) - speed(&q, under_q));
    (risen <= plane + flush).then_some(m)
}
