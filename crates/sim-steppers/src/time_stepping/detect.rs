//! Boxes, pairs, contacts within reach of a step.
//!
//! Contacts are looked for as far as bodies can travel in a step, before they touch: a contact at a distance lets its bodies
//! come as close as the distance, and no closer, so that fast bodies do not pass through thin ones.

use super::{params::TimeSteppingParams, stepper::TimeParts};
use constraint_dynamics::ContactKey;
use rigid_impulse::BodyError;
use sim_math::{
    Aabb,
    glam::{DMat3, DVec3},
    rotation::frame_from_normal,
};
use sim_traits::{
    ColliderId, Manifold, NarrowPhase, NarrowPhaseError, Pair, PairCache, ProxyId, ProxyKind, for_each_mut,
};
use sim_world::{Body, Collider, Contact, EventKind, PairName, Piece, StepError, World};

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
    pub(super) contact: Option<(u64, Contact)>,
    /// Pushed in the present step.
    pub(super) pushed: bool,
    /// Least distance found last, m.
    pub(super) distance: f64,
    manifolds: Vec<Manifold>,
    failure: Option<NarrowPhaseError>,
}

/// One contact point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Site {
    pub(super) pair: u32,
    pub(super) number: u32,
    pub(super) bodies: [u32; 2],
    /// World, m.
    pub(super) point: DVec3,
    /// Two tangents and the normal, world axes.
    pub(super) frame: DMat3,
    /// m; negative where the bodies overlap.
    pub(super) gap: f64,
    pub(super) friction: f64,
    pub(super) restitution: f64,
}

/// Boxes, pairs and contacts.
#[derive(Debug, Default)]
pub(super) struct Detect {
    /// By collider slot: who has a box there.
    proxies: Vec<Option<ColliderId>>,
    ids: Vec<ProxyId>,
    boxes: Vec<Aabb>,
    pairs: Vec<Pair>,
    pub(super) watched: Vec<Watched>,
    before: Vec<Watched>,
    pub(super) sites: Vec<Site>,
    /// Names of the sites for what is remembered of them.
    pub(super) keys: Vec<ContactKey>,
    /// Ends of contacts of pairs that were dropped.
    pub(super) pending: Vec<EventKind>,
    pub(super) distances: u64,
}

/// Box that a collider stays in for `h` seconds from now on if nothing is hit.
fn reach_box(
    body: &Body,
    collider: &Collider,
    world: &World,
    h: f64,
    margin: f64,
) -> Result<Aabb, BodyError> {
    let (shape, extent, now) = (collider.shape(), collider.extent(), body.state());
    let swept = if body.is_free() {
        let piece = Piece::ballistic(world.time(), *now, world.gravity() + body.pull());
        piece.swept_box(now, h, shape, extent)?
    } else {
        body.piece().swept_box(now, h, shape, extent)?
    };
    Ok(swept.grown(margin))
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
            manifolds: Vec::new(),
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

    /// Finds the contacts of the pair within reach of a step of `h` seconds.
    fn look(&mut self, world: &World, narrow: &dyn NarrowPhase, params: &TimeSteppingParams, h: f64) {
        self.manifolds.clear();
        self.failure = None;
        self.distance = f64::INFINITY;
        let collider = |slot: u32| world.collider_in_slot(slot).map(|(_, c)| c);
        let body = |slot: u32| world.body_in_slot(slot).map(|(_, b)| b);
        let (Some(a), Some(b)) = (collider(self.key.a.0), collider(self.key.b.0)) else { return };
        let (Some(body_a), Some(body_b)) = (body(self.bodies[0]), body(self.bodies[1])) else { return };
        let pose = |body: &Body, c: &Collider| *body.state().pose() * c.extent().body_from_shape;
        let a_from_b = pose(body_a, a).inverse_mul(&pose(body_b, b));
        if self.sensor.is_some() {
            match narrow.separation(a.shape(), b.shape(), &a_from_b, &mut self.cache) {
                Ok(found) => self.distance = found.distance,
                Err(NarrowPhaseError::Overlapping { .. }) => self.distance = -f64::MIN_POSITIVE,
                Err(error) => self.failure = Some(error),
            }
            return;
        }
        let reach = params.margin + closing(world, [body_a, body_b], [a, b], h);
        let found =
            narrow.manifolds(a.shape(), b.shape(), &a_from_b, reach, &mut self.cache, &mut self.manifolds);
        self.failure = found.err();
        let points = self.manifolds.iter().flat_map(Manifold::points);
        self.distance = points.map(|p| p.separation).fold(f64::INFINITY, f64::min);
    }
}

impl Detect {
    /// Forgets all pairs, and empties the broad phase.
    pub(super) fn clear(&mut self, parts: &mut TimeParts) -> Result<(), StepError> {
        for slot in 0..self.proxies.len() {
            if self.proxies[slot].take().is_some() {
                parts.broad_phase.remove(ProxyId(slot as u32))?;
            }
        }
        self.watched.clear();
        self.sites.clear();
        self.keys.clear();
        self.pending.clear();
        Ok(())
    }

    /// Renews boxes and pairs, and finds all contacts within reach of a step of `h` seconds from the world's time.
    pub(super) fn run(
        &mut self,
        world: &World,
        parts: &mut TimeParts,
        params: &TimeSteppingParams,
        h: f64,
    ) -> Result<(), StepError> {
        self.place(world, parts, params, h)?;
        parts.broad_phase.pairs(&mut self.pairs);
        self.pairs.sort_unstable();
        self.follow(world);
        self.look(world, parts, params, h)
    }

    fn place(
        &mut self,
        world: &World,
        parts: &mut TimeParts,
        params: &TimeSteppingParams,
        h: f64,
    ) -> Result<(), StepError> {
        self.proxies.resize(self.proxies.len().max(world.collider_slots()), None);
        self.ids.clear();
        self.boxes.clear();
        for slot in 0..self.proxies.len() as u32 {
            let found = world.collider_in_slot(slot).and_then(|(id, c)| Some((id, c, world.get(c.body())?)));
            let known = self.proxies[slot as usize];
            if known.is_some() && known != found.map(|(id, _, _)| id) {
                parts.broad_phase.remove(ProxyId(slot))?;
                self.proxies[slot as usize] = None;
            }
            let Some((id, collider, body)) = found else { continue };
            let aabb = reach_box(body, collider, world, h, params.margin)
                .map_err(|source| StepError::Body { body: collider.body(), source })?;
            if self.proxies[slot as usize].is_none() {
                let kind = if body.is_fixed() { ProxyKind::Fixed } else { ProxyKind::Moving };
                parts.broad_phase.insert(ProxyId(slot), kind, &aabb)?;
                self.proxies[slot as usize] = Some(id);
            } else if !body.is_fixed() {
                self.ids.push(ProxyId(slot));
                self.boxes.push(aabb);
            }
        }
        parts.broad_phase.update(&self.ids, &self.boxes)?;
        Ok(())
    }

    /// A fixed body was put elsewhere.
    pub(super) fn replace(&mut self, parts: &mut TimeParts, slot: u32) -> Result<(), StepError> {
        if let Some(proxy) = self.proxies.get_mut(slot as usize) {
            if proxy.take().is_some() {
                parts.broad_phase.remove(ProxyId(slot))?;
            }
        }
        Ok(())
    }

    /// Keeps what is remembered of pairs that go on; both lists are sorted.
    fn follow(&mut self, world: &World) {
        std::mem::swap(&mut self.watched, &mut self.before);
        self.watched.clear();
        let mut old = std::mem::take(&mut self.before);
        let pending = &mut self.pending;
        let mut drop_pair = |gone: Watched| {
            if gone.touching {
                pending.push(gone.notice(false));
            }
        };
        let mut rest = old.drain(..).peekable();
        for &key in &self.pairs {
            let (Some((a_id, a)), Some((b_id, b))) =
                (world.collider_in_slot(key.a.0), world.collider_in_slot(key.b.0))
            else {
                continue;
            };
            let sensor = world.may_sense(a, b).then_some(u8::from(!a.is_sensor()));
            if sensor.is_none() && !world.may_collide(a, b) {
                continue;
            }
            while let Some(gone) = rest.next_if(|w| w.key < key) {
                drop_pair(gone);
            }
            let names = [a_id, b_id];
            match rest.next_if(|w| w.key == key) {
                Some(same) if same.names == names && same.sensor == sensor => self.watched.push(same),
                other => {
                    other.into_iter().for_each(&mut drop_pair);
                    let bodies = [a.body().index(), b.body().index()];
                    self.watched.push(Watched::new(key, names, bodies, sensor));
                }
            }
        }
        rest.for_each(drop_pair);
        self.before = old;
    }

    fn look(
        &mut self,
        world: &World,
        parts: &TimeParts,
        params: &TimeSteppingParams,
        h: f64,
    ) -> Result<(), StepError> {
        self.distances += self.watched.len() as u64;
        let (narrow, executor) = (parts.narrow_phase.as_ref(), parts.executor.as_ref());
        for_each_mut(executor, &mut self.watched, &|_, pair| pair.look(world, narrow, params, h));
        self.sites.clear();
        self.keys.clear();
        for (index, pair) in self.watched.iter().enumerate() {
            if let Some(name) = pair.failure.and_then(|_| pair.name(world)) {
                let source = Box::new(pair.failure.unwrap_or(NarrowPhaseError::Overlapping { a: "", b: "" }));
                return Err(StepError::NarrowPhase { pair: name, source });
            }
            if pair.manifolds.is_empty() {
                continue;
            }
            let sides = [pair.key.a.0, pair.key.b.0].map(|slot| world.collider_in_slot(slot));
            let [Some((_, a)), Some((_, b))] = sides else { continue };
            let surface = world.surface_pair(a, b);
            let Some((_, body_a)) = world.body_in_slot(pair.bodies[0]) else { continue };
            let world_from_a = *body_a.state().pose() * a.extent().body_from_shape;
            let first = self.keys.len();
            for manifold in &pair.manifolds {
                let normal = world_from_a.transform_vector(manifold.normal);
                let frame = frame_from_normal(normal.normalize_or_zero()).or_else(|source| {
                    pair.name(world)
                        .map_or(Ok(DMat3::IDENTITY), |pair| Err(StepError::Contact { pair, source }))
                })?;
                for point in manifold.points() {
                    let mut key = ContactKey {
                        pair: [pair.key.a.0, pair.key.b.0],
                        pieces: manifold.pieces,
                        features: point.features,
                        copy: 0,
                    };
                    key.copy = self.keys[first..]
                        .iter()
                        .filter(|k| k.pieces == key.pieces && k.features == key.features)
                        .count() as u32;
                    self.keys.push(key);
                    self.sites.push(Site {
                        pair: index as u32,
                        number: self.sites.len() as u32,
                        bodies: pair.bodies,
                        point: world_from_a.transform_point(0.5 * (point.point_a + point.point_b)),
                        frame,
                        gap: point.separation,
                        friction: surface.friction,
                        restitution: surface.restitution,
                    });
                }
            }
        }
        Ok(())
    }
}
