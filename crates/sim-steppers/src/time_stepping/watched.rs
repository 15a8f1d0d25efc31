//! Pairs of colliders whose boxes overlap, and what was found of them last.

use super::{params::TimeSteppingParams, trails::Trails};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{ColliderId, Manifold, NarrowPhase, NarrowPhaseError, Pair, PairCache, Shape};
use sim_world::{Body, Collider, Contact, EventKind, PairName, World};

/// A pair of colliders whose boxes overlap.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    pub(super) key: Pair,
    pub(super) names: [ColliderId; 2],
    pub(super) bodies: [u32; 2],
    /// Which of the two is the sensor, if one is.
    pub(super) sensor: Option<u8>,
    pub(super) cache: PairCache,
    /// In contact, or inside the sensor.
    pub(super) touching: bool,
    /// What they exerted on each other, and in which advance.
    pub(super) contact: Option<Box<(u64, Contact)>>,
    /// Pushed in the present step.
    pub(super) pushed: bool,
    /// Least distance found last, m.
    pub(super) distance: f64,
    /// What was found last.
    pub(super) found: Found,
    /// Where its manifolds are among those of the soft solver, and how many.
    pub(super) span: [u32; 2],
    pub(super) failure: Option<Box<NarrowPhaseError>>,
}

/// What a look at a pair found, and how long it holds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Found {
    /// In the frame of A's shape.
    pub(super) manifolds: Vec<Manifold>,
    /// Pose of B's shape in A's at the look.
    pub(super) a_from_b: Pose,
    /// Sum of the paths of both bodies at the look, m.
    pub(super) mark: f64,
    /// All contacts up to this distance were found, m.
    pub(super) reach: f64,
    /// How far the bodies may move until the contacts do not hold any longer, m.
    pub(super) keep: f64,
    /// Direction from B to A in which they were farthest apart, in the frame of A's shape; zero if unknown.
    pub(super) axis: DVec3,
    /// The last look was in the present step.
    pub(super) fresh: bool,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            manifolds: Vec::new(),
            a_from_b: Pose::IDENTITY,
            mark: f64::NAN,
            reach: 0.0,
            keep: 0.0,
            axis: DVec3::ZERO,
            fresh: false,
        }
    }
}

/// How far the surfaces of two bodies can come closer in `h` seconds, m.
fn closing(world: &World, bodies: [&Body; 2], colliders: [&Collider; 2], h: f64) -> f64 {
    let [va, vb] = bodies.map(Body::velocity);
    let turning = |k: usize| {
        let rate = bodies[k].velocity().angular.length();
        if rate > 0.0 { rate * colliders[k].extent().spin_radius } else { 0.0 }
    };
    let pull = |b: &Body| if b.is_free() { (world.gravity() + b.pull()).length() } else { 0.0 };
    let speed = (va.linear - vb.linear).length() + turning(0) + turning(1);
    h * (speed + h * (pull(bodies[0]) + pull(bodies[1])))
}

/// Contacts of other surfaces are looked for again after this much, m: a point that rolls along with its body is soon not the nearest one, and pushes
/// beside the centre.
const OTHERWISE: f64 = 1e-6;

/// Until when contacts hold, and what of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Horizon {
    /// Length of the next step, s.
    pub(super) h: f64,
    /// Contacts are looked for this much beyond what bodies can travel in it, m.
    pub(super) margin: f64,
    /// How far two bodies may move until their contacts are looked for again, m: two with flat faces, and balls and capsules with each other or with them.
    pub(super) flat: f64,
    pub(super) round: f64,
}

impl Horizon {
    /// For a step of `h` seconds. The manifolds of the soft solver follow what rolls, and rows do not.
    pub(super) fn new(params: &TimeSteppingParams, h: f64, is_soft: bool) -> Self {
        let round = if is_soft { 0.25 * params.recycle } else { params.recycle.min(OTHERWISE) };
        Self { h, margin: params.margin, flat: params.recycle, round }
    }

    fn lasting(&self, shapes: [&Shape; 2]) -> f64 {
        let is_flat = |shape: &Shape| matches!(shape, Shape::Cuboid(_) | Shape::HalfSpace(_));
        let is_round = |shape: &Shape| matches!(shape, Shape::Sphere(_) | Shape::Capsule(_));
        if shapes.into_iter().all(is_flat) {
            self.flat
        } else if shapes.into_iter().all(|s| is_flat(s) || is_round(s)) {
            self.round
        } else {
            self.flat.min(OTHERWISE)
        }
    }
}

/// Least distance of two shapes along a unit vector from B to A in A's frame, m: a lower bound of their distance. −∞ if one has no end.
fn apart_along(axis: DVec3, a: &Shape, b: &Shape, a_from_b: &Pose) -> f64 {
    let low = a.support(-axis).map(|p| p.dot(axis));
    let high =
        b.support(a_from_b.inverse_transform_vector(axis)).map(|p| a_from_b.transform_point(p).dot(axis));
    match (low, high) {
        (Some(low), Some(high)) if axis != DVec3::ZERO => low - high,
        _ => f64::NEG_INFINITY,
    }
}

impl Watched {
    pub(super) fn new(key: Pair, names: [ColliderId; 2], bodies: [u32; 2], sensor: Option<u8>) -> Self {
        Self {
            key,
            names,
            bodies,
            sensor,
            cache: PairCache::default(),
            touching: false,
            contact: None,
            pushed: false,
            distance: f64::INFINITY,
            found: Found::default(),
            span: [0; 2],
            failure: None,
        }
    }

    pub(super) fn name(&self, world: &World) -> Option<PairName> {
        let body = |slot| world.body_in_slot(slot).map(|(id, _)| id);
        Some(PairName { bodies: [body(self.bodies[0])?, body(self.bodies[1])?], colliders: self.names })
    }

    /// The event of a beginning or an end.
    pub(super) fn notice(&self, began: bool) -> EventKind {
        let [a, b] = self.names;
        match (self.sensor, began) {
            (None, true) => EventKind::ContactBegan { a, b },
            (None, false) => EventKind::ContactEnded { a, b },
            (Some(k), _) => {
                let (sensor, other) = if k == 0 { (a, b) } else { (b, a) };
                if began {
                    EventKind::SensorEntered { sensor, other }
                } else {
                    EventKind::SensorLeft { sensor, other }
                }
            }
        }
    }

    /// Colliders and bodies of both sides.
    pub(super) fn sides<'a>(&self, world: &'a World) -> Option<([&'a Collider; 2], [&'a Body; 2])> {
        let collider = |slot: u32| world.collider_in_slot(slot).map(|(_, c)| c);
        let body = |slot: u32| world.body_in_slot(slot).map(|(_, b)| b);
        Some((
            [collider(self.key.a.0)?, collider(self.key.b.0)?],
            [body(self.bodies[0])?, body(self.bodies[1])?],
        ))
    }

    /// Finds the contacts of the pair within reach of a step of `h` seconds, if those found before do not hold any longer.
    pub(super) fn look(
        &mut self,
        world: &World,
        narrow: &dyn NarrowPhase,
        trails: &Trails,
        horizon: &Horizon,
    ) {
        let path = trails.path(self.bodies[0]) + trails.path(self.bodies[1]);
        let moved = path - self.found.mark;
        self.found.fresh = false;
        if self.sensor.is_some() && moved <= 0.0 {
            return;
        }
        let held = self.found.manifolds.is_empty() || moved <= self.found.keep;
        let holds = |needed: f64| held && self.sensor.is_none() && needed + moved <= self.found.reach;
        // The usual case of a pile at rest: both have hardly moved, and are slow.
        if holds(horizon.margin + trails.reach(self.bodies[0]) + trails.reach(self.bodies[1])) {
            return;
        }
        let Some((colliders, bodies)) = self.sides(world) else {
            self.found = Found::default();
            return;
        };
        let needed = horizon.margin + closing(world, bodies, colliders, horizon.h);
        if holds(needed) {
            return;
        }
        let [a, b] = colliders.map(Collider::shape);
        let pose = |k: usize| *bodies[k].state().pose() * colliders[k].extent().body_from_shape;
        let a_from_b = pose(0).inverse_mul(&pose(1));
        self.failure = None;
        let was_apart = self.found.manifolds.is_empty() && self.found.mark.is_finite();
        self.found.manifolds.clear();
        (self.found.a_from_b, self.found.mark, self.found.fresh) = (a_from_b, path, true);
        self.distance = f64::INFINITY;
        if self.sensor.is_some() {
            match narrow.separation(a, b, &a_from_b, &mut self.cache) {
                Ok(found) => self.distance = found.distance,
                Err(NarrowPhaseError::Overlapping { .. }) => self.distance = -f64::MIN_POSITIVE,
                Err(error) => self.failure = Some(Box::new(error)),
            }
            return;
        }
        self.found.keep = horizon.lasting([a, b]);
        self.found.reach = needed + self.found.keep;
        if was_apart {
            // Likely still apart: how far tells when to look again. Most often the direction of before tells.
            let least = apart_along(self.found.axis, a, b, &a_from_b);
            if least > self.found.reach {
                self.found.reach = least;
                return;
            }
            if let Ok(found) = narrow.separation(a, b, &a_from_b, &mut self.cache) {
                self.distance = found.distance;
                self.found.axis = found.normal;
                if found.distance > self.found.reach {
                    self.found.reach = found.distance;
                    return;
                }
            }
        }
        let out = &mut self.found.manifolds;
        self.failure =
            narrow.manifolds(a, b, &a_from_b, self.found.reach, &mut self.cache, out).err().map(Box::new);
        let points = out.iter().flat_map(Manifold::points);
        self.distance = points.map(|p| p.separation).fold(f64::INFINITY, f64::min);
    }
}
