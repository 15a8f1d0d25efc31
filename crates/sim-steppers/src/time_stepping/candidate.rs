//! Pairs of colliders whose boxes overlap, and what was found of them last.

use super::{
    contact_events::NONE,
    detect::Placed,
    normals::Bend,
    params::Scaled,
    travel::{Travels, swing},
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{ColliderId, Manifold, NarrowPhase, NarrowPhaseError, Pair, PairCache, Shape};
use sim_world::{Body, Collider, EventKind, PairName, World};

/// A pair of colliders whose boxes overlap: what every step asks of it, in one cache line. The rest is elsewhere, so that lists of pairs are quick to go
/// through and to change.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) key: Pair,
    pub(super) bodies: [u32; 2],
    /// Where its manifolds are among those of the soft solver, and how many.
    pub(super) span: [u32; 2],
    gauge: Gauge,
    /// Least distance found last, m.
    pub(super) distance: f64,
    /// Where it is told what they exert on each other, in [`Exerted`](super::contact_events::Exerted).
    pub(super) record: u32,
    /// Which of the two is the sensor, if one is.
    pub(super) sensor: Option<Sensor>,
    /// In contact, or inside the sensor.
    pub(super) touching: bool,
    /// Pushed in the present step.
    pub(super) pushed: bool,
    /// The last look was in the present step.
    pub(super) fresh: bool,
    pub(super) rest: Box<Known>,
}

/// Which of a pair is the sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Sensor {
    A,
    B,
}

/// What is known of a pair, and seldom asked.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) names: [ColliderId; 2],
    pub(super) cache: PairCache,
    /// What was found last.
    pub(super) found: Found,
    pub(super) failure: Option<Box<NarrowPhaseError>>,
}

/// Until when what was found holds for certain.
#[derive(Debug, Clone, Copy)]
struct Gauge {
    /// Largest sum of the paths of both bodies, m.
    path: f64,
    /// Largest sum of the paths at the end of the next step, m.
    far: f64,
}

/// Nothing holds.
const NEVER: Gauge = Gauge { path: f64::NEG_INFINITY, far: f64::NEG_INFINITY };
/// Nothing was found, because nobody looked yet.
const UNSEEN: Gauge = Gauge { path: f64::INFINITY, far: f64::NEG_INFINITY };

/// What a look at a pair found, and how long it holds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Found {
    /// In the frame of A's shape.
    pub(super) manifolds: Vec<Manifold>,
    /// What neighbours make of each; empty if nothing.
    pub(super) bends: Vec<Bend>,
    /// Pose of B's shape in A's at the look.
    pub(super) a_from_b: Pose,
    /// Sum of the paths of both bodies at the look, m; more if they have moved along with each other since.
    pub(super) mark: f64,
    /// All contacts up to this distance were found, m.
    pub(super) reach: f64,
    /// How far the bodies may move until the contacts do not hold any longer, m.
    pub(super) keep: f64,
    /// Direction from B to A in which they were farthest apart, in the frame of A's shape; zero if unknown.
    pub(super) axis: DVec3,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            manifolds: Vec::new(),
            bends: Vec::new(),
            a_from_b: Pose::IDENTITY,
            mark: f64::NAN,
            reach: 0.0,
            keep: 0.0,
            axis: DVec3::ZERO,
        }
    }
}

/// Contacts of other surfaces are looked for again after this share of that: a point that rolls along with its body is soon not the nearest one, and pushes
/// beside the centre.
const OTHERWISE: f64 = 0.1;

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
    /// Contacts follow what rolls.
    pub(super) rolls: bool,
    /// How far bodies may move beyond that where they are only put right or struck, m: the margin at most.
    pub(super) lenient: f64,
}

impl Horizon {
    /// For a step of `h` seconds. The manifolds of the soft solver follow what rolls, and rows do not.
    pub(super) fn new(params: &Scaled, h: f64, is_soft: bool) -> Self {
        let round = if is_soft { 0.25 * params.recycle } else { OTHERWISE * params.recycle };
        Self { h, margin: params.margin, flat: params.recycle, round, rolls: is_soft, lenient: 0.0 }
    }

    fn lasting(&self, shapes: [&Shape; 2]) -> f64 {
        let is_flat = |shape: &Shape| matches!(shape, Shape::Cuboid(_) | Shape::HalfSpace(_));
        let is_round = |shape: &Shape| matches!(shape, Shape::Sphere(_) | Shape::Capsule(_));
        if shapes.into_iter().all(is_flat) {
            self.flat
        } else if shapes.into_iter().all(|s| is_flat(s) || is_round(s)) {
            self.round
        } else {
            OTHERWISE * self.flat
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

/// How far two shapes have moved from how they lay, m, at most: points of B as A sees them, or the other way round, whichever is less. `rolls`: balls may
/// turn about their cores.
fn shifted(before: &Pose, now: &Pose, colliders: [&Collider; 2], rolls: bool) -> f64 {
    let turn = now.rotation * before.rotation.conjugate();
    let turned = 2.0 * DVec3::new(turn.x, turn.y, turn.z).length();
    let reach = |c: &Collider| if rolls { c.extent().spin_radius } else { c.extent().radius };
    let [of_a, of_b] = colliders.map(|c| swing(reach(c), turned));
    let seen_from_a = (now.translation - before.translation).length();
    let seen_from_b = (now.inverse_transform_vector(now.translation)
        - before.inverse_transform_vector(before.translation))
    .length();
    (seen_from_a + of_b).min(seen_from_b + of_a)
}

impl Known {
    /// What neighbours make of a manifold.
    pub(super) fn bend(&self, manifold: usize) -> Bend {
        self.found.bends.get(manifold).copied().unwrap_or_default()
    }

    fn new(names: [ColliderId; 2]) -> Self {
        Self { names, cache: PairCache::default(), found: Found::default(), failure: None }
    }

    /// Forgets everything but the memory it has.
    fn renew(&mut self, names: [ColliderId; 2]) {
        let (mut manifolds, mut bends) =
            (std::mem::take(&mut self.found.manifolds), std::mem::take(&mut self.found.bends));
        manifolds.clear();
        bends.clear();
        *self = Self::new(names);
        (self.found.manifolds, self.found.bends) = (manifolds, bends);
    }
}

impl Candidate {
    /// A new pair, which may use the memory of one that is gone.
    pub(super) fn new(
        key: Pair,
        names: [ColliderId; 2],
        bodies: [u32; 2],
        sensor: Option<Sensor>,
        memory: Option<Box<Known>>,
    ) -> Self {
        let rest = match memory {
            Some(mut known) => {
                known.renew(names);
                known
            }
            None => Box::new(Known::new(names)),
        };
        Self {
            key,
            bodies,
            span: [0; 2],
            gauge: if sensor.is_some() { NEVER } else { UNSEEN },
            distance: f64::INFINITY,
            record: NONE,
            sensor,
            touching: false,
            pushed: false,
            fresh: false,
            rest,
        }
    }

    /// What was found is looked for again.
    pub(super) fn invalidate(&mut self) {
        self.rest.found.mark = f64::NAN;
        self.gauge = NEVER;
    }

    /// Finds out until when what was found holds; `margin` as in [`Horizon`].
    pub(super) fn set_gauge(&mut self, margin: f64) {
        let found = &self.rest.found;
        self.gauge = if found.mark.is_nan() {
            if self.sensor.is_none() && found.manifolds.is_empty() { UNSEEN } else { NEVER }
        } else if self.sensor.is_some() {
            Gauge { path: found.mark, far: f64::INFINITY }
        } else {
            let path = if found.manifolds.is_empty() { f64::INFINITY } else { found.mark + found.keep };
            Gauge { path, far: found.mark + found.reach - margin }
        };
    }

    pub(super) fn name(&self, world: &World) -> Option<PairName> {
        let body = |slot| world.body_in_slot(slot).map(|(id, _)| id);
        Some(PairName { bodies: [body(self.bodies[0])?, body(self.bodies[1])?], colliders: self.rest.names })
    }

    /// The event of a beginning or an end.
    pub(super) fn event(&self, began: bool) -> EventKind {
        let [a, b] = self.rest.names;
        match (self.sensor, began) {
            (None, true) => EventKind::ContactBegan { a, b },
            (None, false) => EventKind::ContactEnded { a, b },
            (Some(side), _) => {
                let (sensor, other) = if side == Sensor::A { (a, b) } else { (b, a) };
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

    /// Sum of the paths of both bodies now and at most at the end of the next step, m.
    #[inline]
    fn paths(&self, travels: &Travels) -> [f64; 2] {
        let [[path_a, far_a], [path_b, far_b]] = self.bodies.map(|body| travels.gauge(body));
        [path_a + path_b, far_a + far_b]
    }

    /// True if what was found of the pair may not hold any longer.
    #[inline]
    pub(super) fn is_due(&mut self, placed: &[Option<Placed>], travels: &Travels, horizon: &Horizon) -> bool {
        // Not written if it stays as it is: another thread may have it at hand.
        if self.fresh {
            self.fresh = false;
        }
        let [path, far] = self.paths(travels);
        // The usual case of a pile at rest: both have hardly moved, and are slow.
        let lenient = horizon.lenient;
        if path <= self.gauge.path + lenient && far <= self.gauge.far + lenient {
            return false;
        }
        // The usual case of what flies along with its neighbours: nothing was found, and even their boxes stay apart.
        let stays_apart = || {
            let needed = horizon.margin + travels.closing(self.bodies);
            self.boxes_apart(placed, path, horizon.margin) > needed
        };
        !(self.gauge.path == f64::INFINITY && stays_apart())
    }

    /// Finds the contacts of the pair within reach of the next step, if those found before do not hold any longer.
    pub(super) fn look(
        &mut self,
        world: &World,
        narrow: &dyn NarrowPhase,
        travels: &Travels,
        horizon: &Horizon,
    ) {
        let ([path, _], needed) = (self.paths(travels), horizon.margin + travels.closing(self.bodies));
        self.look_again(world, narrow, [path, needed], horizon, travels.sweeps(self.bodies));
        self.set_gauge(horizon.margin);
    }

    /// A lower bound of the distance, from where the boxes of both were placed and how far their bodies have come since, m.
    fn boxes_apart(&self, placed: &[Option<Placed>], path: f64, margin: f64) -> f64 {
        let of = |slot: u32| placed.get(slot as usize).and_then(Option::as_ref);
        let (Some(a), Some(b)) = (of(self.key.a.0), of(self.key.b.0)) else { return f64::NEG_INFINITY };
        let gap = (b.aabb.min - a.aabb.max).max(a.aabb.min - b.aabb.max).max_element();
        gap + (a.until + b.until + 2.0 * margin - path)
    }

    fn look_again(
        &mut self,
        world: &World,
        narrow: &dyn NarrowPhase,
        [path, needed]: [f64; 2],
        horizon: &Horizon,
        sweeps: bool,
    ) {
        let Some((colliders, bodies)) = self.sides(world) else {
            self.rest.found = Found::default();
            return;
        };
        let (rest, is_sensor) = (&mut *self.rest, self.sensor.is_some());
        let found = &mut rest.found;
        let holds = |moved: f64| {
            let moved = moved - horizon.lenient;
            let held = found.manifolds.is_empty() || moved <= found.keep;
            held && !is_sensor && needed + moved <= found.reach
        };
        if !sweeps && holds(path - found.mark) {
            return;
        }
        let [a, b] = colliders.map(Collider::shape);
        let pose = |k: usize| *bodies[k].state().pose() * colliders[k].extent().body_from_shape;
        let a_from_b = pose(0).inverse_mul(&pose(1));
        // Paths are long, but how far have they come from each other?
        let shift = shifted(&found.a_from_b, &a_from_b, colliders, horizon.rolls);
        if found.mark.is_finite() && holds(shift) {
            found.mark = path - shift;
            return;
        }
        rest.failure = None;
        let was_apart = found.manifolds.is_empty() && found.mark.is_finite();
        found.manifolds.clear();
        found.bends.clear();
        (found.a_from_b, found.mark, self.fresh) = (a_from_b, path, true);
        self.distance = f64::INFINITY;
        if is_sensor {
            match narrow.separation(a, b, &a_from_b, &mut rest.cache) {
                Ok(found) => self.distance = found.distance,
                Err(NarrowPhaseError::Overlapping { .. }) => self.distance = -f64::MIN_POSITIVE,
                Err(error) => rest.failure = Some(Box::new(error)),
            }
            return;
        }
        found.keep = horizon.lasting([a, b]);
        found.reach = needed + found.keep;
        if was_apart {
            // Likely still apart: how far tells when to look again. Most often the direction of before tells.
            let least = apart_along(found.axis, a, b, &a_from_b);
            if least > found.reach {
                found.reach = least;
                return;
            }
            if let Ok(nearest) = narrow.separation(a, b, &a_from_b, &mut rest.cache) {
                self.distance = nearest.distance;
                found.axis = nearest.normal;
                if nearest.distance > found.reach {
                    found.reach = nearest.distance;
                    return;
                }
            }
        }
        let out = &mut found.manifolds;
        rest.failure =
            narrow.manifolds(a, b, &a_from_b, found.reach, &mut rest.cache, out).err().map(Box::new);
        let points = out.iter().flat_map(Manifold::points);
        self.distance = points.map(|p| p.separation).fold(f64::INFINITY, f64::min);
    }
}
