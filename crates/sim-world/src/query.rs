//! Questions about a world at its present time: rays, moved shapes, overlaps, closest bodies.
//!
//! # Reference
//!
//! Ours: boxes from a broad phase, exact shapes behind them.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `reach` | how far around the shape of a question boxes are looked for | m |
//! | `t` | multiple of a ray's direction | - |
//!
//! # Formula
//!
//! ```text
//! closest: boxes within `reach`; a distance d ≤ reach found among them is the answer,
//!          d > reach: once more with reach = d;   nothing: once more with four times the reach
//! ```
//!
//! # Cost
//!
//! O(colliders) per refresh; a question costs the boxes that it meets.
//!
//! # Numerics
//!
//! Boxes are closed and not grown: a touch is found as exactly as the shapes tell it.
//!
//! # Failure
//!
//! [`QueryError`]: an index that is not of the world's time, a ray that cannot be cast, a pair without algorithm.
//!
//! # Tested by
//!
//! `tests/query.rs`: every question against brute force over all colliders

use crate::{Groups, Mark, World};
use collision_narrowphase::{
    cast::{CastError, CastParams, shape_cast},
    ray::{RayError, ray_cast},
};
use sim_math::{Aabb, Pose, glam::DVec3};
use sim_traits::{
    BodyId, BroadPhase, BroadPhaseError, ColliderId, NarrowPhase, NarrowPhaseError, PairCache, ProxyId,
    ProxyKind, Ray, Shape, ShapeError, Sphere,
};
use std::ops::ControlFlow;
use thiserror::Error;

/// Which colliders a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryFilter {
    /// Groups of the question itself: a collider must agree to meet them. Default all.
    pub groups: Groups,
    /// Sensors count too. Default no.
    pub sensors: bool,
    /// A body that does not count: the one that asks.
    pub except: Option<BodyId>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The world has moved or changed since the index was refreshed.
    #[error("the index is of t = {index} s, the world of t = {world} s; refresh it")]
    Stale {
        /// Time of the index, s; NaN if it was never refreshed.
        index: f64,
        /// Time of the world, s.
        world: f64,
    },
    /// A ray that cannot be cast, or a shape without ray cast.
    #[error(transparent)]
    Ray(#[from] RayError),
    /// A pose or point that is not finite.
    #[error("{what} is not finite: {value}")]
    NonFinite {
        /// Which quantity.
        what: &'static str,
        /// Its value.
        value: DVec3,
    },
    /// A distance that is negative or NaN.
    #[error("largest distance must not be negative, got {value}")]
    Distance {
        /// What was given, m.
        value: f64,
    },
    /// No distance could be computed.
    #[error("{collider}: {source}")]
    NarrowPhase {
        /// Which collider of the world.
        collider: ColliderId,
        /// Why.
        source: Box<NarrowPhaseError>,
    },
    /// A shape that cannot be cast against another.
    #[error("{collider}: {source}")]
    Cast {
        /// Which collider of the world.
        collider: ColliderId,
        /// Why.
        source: Box<CastError>,
    },
    /// A cast used up its steps: where it meets the collider, if it does, is not known.
    #[error("{collider}: cast not ended after {steps} steps, free up to {t}")]
    Unfinished {
        /// Which collider of the world.
        collider: ColliderId,
        /// Steps taken.
        steps: u32,
        /// The share of the way that is free for sure.
        t: f64,
    },
    /// The broad phase refused a box.
    #[error(transparent)]
    BroadPhase(#[from] BroadPhaseError),
    /// The probe of a point: a defect.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// Where a ray enters a collider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayCast {
    /// Which collider.
    pub collider: ColliderId,
    /// Its body.
    pub body: BodyId,
    /// Multiple of the ray's direction; 0 if the ray starts inside.
    pub t: f64,
    /// Where, world, m.
    pub point: DVec3,
    /// Outward unit normal there, world; against the ray if it starts inside.
    pub normal: DVec3,
}

/// The collider closest to a shape or point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// Which collider.
    pub collider: ColliderId,
    /// Its body.
    pub body: BodyId,
    /// m; negative for an overlap, 0 for an overlap of unknown depth.
    pub distance: f64,
    /// Closest point on the collider, world, m; NaN for an overlap of unknown depth.
    pub point: DVec3,
    /// Unit vector from the collider to the shape that asks, world; zero for an overlap of unknown depth.
    pub normal: DVec3,
}

/// Where a shape that is moved first meets a collider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeCast {
    /// Which collider.
    pub collider: ColliderId,
    /// Its body.
    pub body: BodyId,
    /// The share of the way that is free, 0 to 1; 0 if the shape touches or overlaps where it starts.
    pub t: f64,
    /// The point of the collider that is met, world, m.
    pub point: DVec3,
    /// Unit vector from the collider to the shape, world.
    pub normal: DVec3,
}

/// Boxes of all colliders of a world at a time, to be asked as often as needed.
///
/// ```
/// use collision_broadphase::DynamicTree;
/// use sim_math::glam::DVec3;
/// use sim_traits::{Ray, Sphere};
/// use sim_world::{Body, QueryFilter, QueryIndex, World};
///
/// let mut world = World::new([0.0; 3])?;
/// let ball = world.add(Body::free().shape(Sphere::new(0.5)?).at([3.0, 0.0, 0.0]))?;
/// let mut index = QueryIndex::new(DynamicTree::default());
/// index.refresh(&world)?;
/// let ray = Ray { origin: DVec3::ZERO, direction: DVec3::X, t_max: 10.0 };
/// let hit = index.ray_first(&world, &ray, &QueryFilter::default())?.ok_or("missed")?;
/// assert_eq!((hit.body, hit.t), (ball, 2.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct QueryIndex {
    broad_phase: Box<dyn BroadPhase>,
    /// Kind of the box in each collider slot, if there is one.
    present: Vec<Option<ProxyKind>>,
    ids: Vec<ProxyId>,
    boxes: Vec<Aabb>,
    /// Mark and time of the world.
    seen: Option<(Mark, f64)>,
}

impl QueryIndex {
    /// With an empty broad phase.
    #[must_use]
    pub fn new(broad_phase: impl Into<Box<dyn BroadPhase>>) -> Self {
        Self {
            broad_phase: broad_phase.into(),
            present: Vec::new(),
            ids: Vec::new(),
            boxes: Vec::new(),
            seen: None,
        }
    }

    /// Takes over the world's present state.
    ///
    /// # Errors
    /// A box that is not valid.
    pub fn refresh(&mut self, world: &World) -> Result<(), QueryError> {
        self.seen = None;
        self.present.resize(self.present.len().max(world.collider_slots()), None);
        self.ids.clear();
        self.boxes.clear();
        for slot in 0..self.present.len() as u32 {
            let id = ProxyId(slot);
            let placed = world.collider_in_slot(slot).and_then(|(_, c)| Some((world.get(c.body())?, c))).map(
                |(body, c)| {
                    let kind = if body.is_fixed() { ProxyKind::Fixed } else { ProxyKind::Moving };
                    (kind, c.shape().aabb(&c.world_pose(body)))
                },
            );
            let present = &mut self.present[slot as usize];
            // A slot may have another tenant, of another kind.
            if present.is_some() && *present != placed.map(|(kind, _)| kind) {
                self.broad_phase.remove(id)?;
                *present = None;
            }
            if let Some((kind, aabb)) = placed {
                if present.is_some() {
                    self.ids.push(id);
                    self.boxes.push(aabb);
                } else {
                    self.broad_phase.insert(id, kind, &aabb)?;
                    *present = Some(kind);
                }
            }
        }
        self.broad_phase.update(&self.ids, &self.boxes)?;
        self.seen = Some((world.mark(), world.time()));
        Ok(())
    }

    /// True if it is of the present state of the world that it was refreshed with.
    #[must_use]
    pub fn is_of(&self, world: &World) -> bool {
        let same =
            |(mark, time): (Mark, f64)| mark == world.mark() && time.to_bits() == world.time().to_bits();
        self.seen.is_some_and(same)
    }

    /// Makes it stale: the world may have moved at the same time.
    pub fn forget(&mut self) {
        self.seen = None;
    }

    fn check(&self, world: &World) -> Result<(), QueryError> {
        if self.is_of(world) {
            return Ok(());
        }
        Err(QueryError::Stale { index: self.seen.map_or(f64::NAN, |s| s.1), world: world.time() })
    }

    /// First collider on a ray; of equally near ones that with the smaller slot.
    ///
    /// # Errors
    /// A stale index, a bad ray, a shape without ray cast.
    pub fn ray_first(
        &self,
        world: &World,
        ray: &Ray,
        filter: &QueryFilter,
    ) -> Result<Option<RayCast>, QueryError> {
        let mut best: Option<RayCast> = None;
        self.rays(world, ray, filter, &mut |hit| {
            if best.is_none_or(|b| (hit.t, hit.collider.index()) < (b.t, b.collider.index())) {
                best = Some(hit);
            }
            best.map_or(ray.t_max, |b| b.t)
        })?;
        Ok(best)
    }

    /// Replaces `out` by all colliders on a ray, in the order in which it enters them, equals by slot.
    ///
    /// # Errors
    /// As [`QueryIndex::ray_first`].
    pub fn ray_all(
        &self,
        world: &World,
        ray: &Ray,
        filter: &QueryFilter,
        out: &mut Vec<RayCast>,
    ) -> Result<(), QueryError> {
        out.clear();
        self.rays(world, ray, filter, &mut |hit| {
            out.push(hit);
            ray.t_max
        })?;
        out.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.collider.index().cmp(&b.collider.index())));
        Ok(())
    }

    fn rays(
        &self,
        world: &World,
        ray: &Ray,
        filter: &QueryFilter,
        found: &mut dyn FnMut(RayCast) -> f64,
    ) -> Result<(), QueryError> {
        self.check(world)?;
        // Bad rays are refused even where there is nothing to hit.
        let probe = Sphere::new(1.0)?;
        ray_cast(&probe.into(), ray)?;
        let (mut failed, mut reach) = (None, ray.t_max);
        self.broad_phase.visit_ray(ray, &mut |proxy| {
            let Some((id, collider)) = filter.admitted(world, proxy) else { return reach };
            let Some(body) = world.get(collider.body()) else { return reach };
            let pose = collider.world_pose(body);
            let local = Ray {
                origin: pose.inverse_transform_point(ray.origin),
                direction: pose.inverse_transform_vector(ray.direction),
                t_max: ray.t_max,
            };
            match ray_cast(collider.shape(), &local) {
                Ok(Some(hit)) => {
                    let point = ray.origin + ray.direction * hit.t;
                    let normal = pose.transform_vector(hit.normal);
                    reach = found(RayCast { collider: id, body: collider.body(), t: hit.t, point, normal });
                }
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
            reach
        });
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Replaces `out` by all colliders that touch or overlap a shape at a pose, by slot.
    ///
    /// # Errors
    /// A stale index, a pose that is not finite, a pair without algorithm.
    pub fn overlaps(
        &self,
        world: &World,
        narrow: &dyn NarrowPhase,
        shape: &Shape,
        world_from_shape: &Pose,
        filter: &QueryFilter,
        out: &mut Vec<ColliderId>,
    ) -> Result<(), QueryError> {
        self.check(world)?;
        check_pose(world_from_shape)?;
        out.clear();
        self.near(world, narrow, (shape, world_from_shape), 0.0, filter, &mut |found| {
            if found.distance <= 0.0 {
                out.push(found.collider);
            }
        })?;
        out.sort_by_key(|id| id.index());
        Ok(())
    }

    /// The collider closest to a shape at a pose, up to `max_distance` (m, may be infinite); the deepest if some overlap. Of
    /// equally close ones that with the smaller slot.
    ///
    /// # Errors
    /// As [`QueryIndex::overlaps`], or a distance that is negative or NaN.
    pub fn closest(
        &self,
        world: &World,
        narrow: &dyn NarrowPhase,
        shape: &Shape,
        world_from_shape: &Pose,
        max_distance: f64,
        filter: &QueryFilter,
    ) -> Result<Option<Closest>, QueryError> {
        self.check(world)?;
        check_pose(world_from_shape)?;
        if max_distance.is_nan() || max_distance < 0.0 {
            return Err(QueryError::Distance { value: max_distance });
        }
        let size = shape.bounding_radius();
        let mut reach = (if size.is_finite() { size } else { 1.0 }).min(max_distance);
        loop {
            let mut best: Option<Closest> = None;
            let seen = self.near(world, narrow, (shape, world_from_shape), reach, filter, &mut |found| {
                let key = |c: &Closest| (c.distance, c.collider.index());
                if best.is_none_or(|b| key(&found) < key(&b)) {
                    best = Some(found);
                }
            })?;
            let best = best.filter(|b| b.distance <= max_distance);
            let complete = seen == self.broad_phase.len() || reach >= max_distance;
            match best {
                Some(found) if found.distance <= reach || complete => return Ok(best),
                None if complete => return Ok(None),
                Some(found) => reach = found.distance,
                None => reach = (4.0 * reach).min(max_distance),
            }
        }
    }

    /// The collider closest to a world point, as [`QueryIndex::closest`].
    ///
    /// # Errors
    /// As [`QueryIndex::closest`].
    pub fn closest_to_point(
        &self,
        world: &World,
        narrow: &dyn NarrowPhase,
        point: DVec3,
        max_distance: f64,
        filter: &QueryFilter,
    ) -> Result<Option<Closest>, QueryError> {
        // A ball whose radius is taken off again: exact, because a ball is a point with a radius.
        let radius = 1e-3;
        let probe = Sphere::new(radius)?.into();
        let pose = Pose::from_translation(point);
        let found = self.closest(world, narrow, &probe, &pose, max_distance, filter)?;
        let exact = found.map(|c| Closest { distance: c.distance + radius, ..c });
        Ok(exact.filter(|c| c.distance <= max_distance))
    }

    /// The first collider that a shape meets when it is moved from a pose by `way` (m) without turning, up to a millionth of its size early; of equally
    /// near ones that with the smaller slot. It knows the shapes of this engine, and [`Shape::Convex`].
    ///
    /// # Errors
    /// A stale index, a pose or way that is not finite, a shape that cannot be cast.
    pub fn cast_shape(
        &self,
        world: &World,
        shape: &Shape,
        world_from_shape: &Pose,
        way: DVec3,
        filter: &QueryFilter,
    ) -> Result<Option<ShapeCast>, QueryError> {
        self.check(world)?;
        check_pose(world_from_shape)?;
        if !way.is_finite() {
            return Err(QueryError::NonFinite { what: "way", value: way });
        }
        let size = shape.bounding_radius();
        let params = CastParams::default().tolerance(1e-6 * if size.is_finite() { size } else { 1.0 });
        let end = Pose { translation: world_from_shape.translation + way, ..*world_from_shape };
        let swept = shape.aabb(world_from_shape).merged(&shape.aabb(&end)).grown(params.tolerance);
        let (mut best, mut failed): (Option<ShapeCast>, _) = (None, None);
        self.broad_phase.visit_box(&swept, &mut |proxy| {
            let Some((id, collider)) = filter.admitted(world, proxy) else {
                return ControlFlow::Continue(());
            };
            let Some(body) = world.get(collider.body()) else { return ControlFlow::Continue(()) };
            let placed = collider.world_pose(body);
            match shape_cast(shape, world_from_shape, way, collider.shape(), &placed, &params) {
                Ok(Some(hit)) if hit.converged => {
                    let (point, normal) = (hit.separation.point_b, hit.separation.normal);
                    let found = ShapeCast { collider: id, body: collider.body(), t: hit.time, point, normal };
                    if best.is_none_or(|b| (found.t, id.index()) < (b.t, b.collider.index())) {
                        best = Some(found);
                    }
                    return ControlFlow::Continue(());
                }
                Ok(Some(hit)) => {
                    failed = Some(QueryError::Unfinished { collider: id, steps: hit.steps, t: hit.time });
                }
                Ok(None) => return ControlFlow::Continue(()),
                Err(source) => failed = Some(QueryError::Cast { collider: id, source: Box::new(source) }),
            }
            ControlFlow::Break(())
        });
        failed.map_or(Ok(best), Err)
    }

    /// Distances to all colliders whose boxes are within `reach` (m); returns how many boxes were visited.
    fn near(
        &self,
        world: &World,
        narrow: &dyn NarrowPhase,
        (shape, pose): (&Shape, &Pose),
        reach: f64,
        filter: &QueryFilter,
        found: &mut dyn FnMut(Closest),
    ) -> Result<usize, QueryError> {
        let aabb = if reach.is_finite() { shape.aabb(pose).grown(reach) } else { Aabb::EVERYWHERE };
        let (mut failed, mut visited) = (None, 0);
        self.broad_phase.visit_box(&aabb, &mut |proxy| {
            visited += 1;
            let Some((id, collider)) = filter.admitted(world, proxy) else {
                return ControlFlow::Continue(());
            };
            let Some(body) = world.get(collider.body()) else { return ControlFlow::Continue(()) };
            let placed = collider.world_pose(body);
            let a_from_b = pose.inverse_mul(&placed);
            let answer = narrow.separation(shape, collider.shape(), &a_from_b, &mut PairCache::default());
            let (distance, point, normal) = match answer {
                Ok(s) => (s.distance, pose.transform_point(s.point_b), pose.transform_vector(s.normal)),
                Err(NarrowPhaseError::Overlapping { .. }) => (0.0, DVec3::NAN, DVec3::ZERO),
                Err(source) => {
                    failed = Some(QueryError::NarrowPhase { collider: id, source: Box::new(source) });
                    return ControlFlow::Break(());
                }
            };
            found(Closest { collider: id, body: collider.body(), distance, point, normal });
            ControlFlow::Continue(())
        });
        failed.map_or(Ok(visited), Err)
    }
}

impl QueryFilter {
    /// The collider in a slot, if the question is about it.
    fn admitted<'a>(&self, world: &'a World, proxy: ProxyId) -> Option<(ColliderId, &'a crate::Collider)> {
        world.collider_in_slot(proxy.0).filter(|(_, c)| {
            (self.sensors || !c.is_sensor()) && c.groups().meets(self.groups) && Some(c.body()) != self.except
        })
    }
}

fn check_pose(pose: &Pose) -> Result<(), QueryError> {
    if pose.is_finite() {
        Ok(())
    } else {
        Err(QueryError::NonFinite { what: "pose", value: pose.translation })
    }
}
