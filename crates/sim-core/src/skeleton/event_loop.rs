//! Time from collision to collision: boxes, pairs, impact times, the earliest one, its impulse, and again.

use super::{
    analytic_pairs::AnalyticPairs,
    brute_force::BruteForce,
    collision::{CollisionWorkspace, Seat, SystemState},
    error::SkeletonError,
    flight::Flight,
    free_bodies::FreeBodies,
    frictionless::Frictionless,
    impact_time::{Hit, Limits, Mover, impact_time},
    report::{CollisionEvent, Report},
    sliding_tree::SlidingTree,
    world::{Inertia, Member, World, not_negative},
};
use sim_math::{
    Aabb, Pose,
    glam::{DQuat, DVec2, DVec3},
    integrate::rotation::rotate_world,
};
use sim_traits::{
    BodyId, BroadPhase, Executor, FixedMap, Impact, ImpactLaw, NarrowPhase, Pair, PairCache, PartId, ProxyId,
    ProxyKind, Serial, Shape, VelocitySystem, for_each_mut,
};

/// Makes the velocity system of the free bodies from their inertia.
pub type FreeBodiesMaker = Box<dyn Fn(&[Option<Inertia>]) -> Box<dyn VelocitySystem> + Send + Sync>;

/// The swappable parts, one per seam.
pub struct Parts {
    /// Which boxes overlap.
    pub broad_phase: Box<dyn BroadPhase>,
    /// Where shapes touch.
    pub narrow_phase: Box<dyn NarrowPhase>,
    /// What impulse a collision exerts.
    pub impact_law: Box<dyn ImpactLaw>,
    /// How free bodies answer impulses.
    pub free_bodies: FreeBodiesMaker,
    /// Where threads come from.
    pub executor: Box<dyn Executor>,
    /// Numbers that can be tuned.
    pub params: Params,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts")
            .field("broad_phase", &self.broad_phase)
            .field("narrow_phase", &self.narrow_phase)
            .field("impact_law", &self.impact_law)
            .field("executor", &self.executor)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            broad_phase: Box::new(BruteForce::default()),
            narrow_phase: Box::new(AnalyticPairs),
            impact_law: Box::new(Frictionless),
            free_bodies: Box::new(|inertia| Box::new(FreeBodies::new(inertia))),
            executor: Box::new(Serial),
            params: Params::default(),
        }
    }
}

/// Tunable numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Params {
    /// Distance that counts as contact, metres. Larger finds contacts in fewer steps, and earlier.
    pub contact_tolerance: f64,
    /// Height ε of the envelope in which a resting body may hop, metres. Collisions slower than a fall through it,
    /// √(2 g ε), are reversals, so that a bouncing ball passes its accumulation point with bounded events.
    pub envelope: f64,
    /// How far ahead boxes are swept, seconds. Longer means fewer broad-phase updates and more pairs.
    pub window: f64,
    /// Most collisions in one call of `advance`.
    pub max_events: u64,
    /// Most distance queries in one search for an impact time.
    pub max_iterations: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            contact_tolerance: 1e-12,
            envelope: 1e-4,
            window: 0.05,
            max_events: 1_000_000,
            max_iterations: 10_000,
        }
    }
}

/// A member with its shape and seat; its position in the list is its proxy.
#[derive(Debug)]
struct Collider {
    member: Member,
    shape: Shape,
    seat: Seat,
    restitution: f64,
    kind: ProxyKind,
}

/// A pair whose impact time is asked for.
#[derive(Debug)]
struct Job {
    pair: Pair,
    cache: PairCache,
    answer: Result<Option<Hit>, SkeletonError>,
}

/// A world with its parts, advancing in time.
#[derive(Debug)]
pub struct Simulation {
    parts: Parts,
    gravity: DVec3,
    masses: Vec<Option<Inertia>>,
    trees: Vec<(super::world::Tree, SlidingTree)>,
    colliders: Vec<Collider>,
    systems: Vec<SystemState>,
    caches: FixedMap<Pair, PairCache>,
    report: Report,
    events: Vec<CollisionEvent>,
    // Scratch, kept between steps.
    flights: Vec<Flight>,
    ids: Vec<ProxyId>,
    boxes: Vec<Aabb>,
    pairs: Vec<Pair>,
    jobs: Vec<Job>,
    workspace: CollisionWorkspace,
}

impl Simulation {
    /// Checks the world and takes it over.
    ///
    /// # Errors
    /// Bad numbers, an empty world, pairs that no narrow phase knows, or members that overlap at the start.
    pub fn new(world: World, parts: Parts) -> Result<Self, SkeletonError> {
        world.check()?;
        let masses: Vec<_> = world.bodies.iter().map(|b| b.inertia).collect();
        let mut colliders = Vec::new();
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for (i, body) in (0..).zip(&world.bodies) {
            q.extend(body.pose.translation.to_array());
            q.extend(body.pose.rotation.to_array());
            v.extend(body.omega.to_array());
            v.extend(body.velocity.to_array());
            colliders.push(Collider {
                member: Member::Body(BodyId::new(i, 0)),
                shape: body.shape.clone(),
                seat: Seat { system: 0, part: PartId(i) },
                restitution: body.restitution,
                kind: if body.inertia.is_some() { ProxyKind::Moving } else { ProxyKind::Fixed },
            });
        }
        let mut systems = vec![SystemState { system: (parts.free_bodies)(&masses), q, v }];
        let mut trees = Vec::new();
        for (i, tree) in (0..).zip(world.trees) {
            let system = SlidingTree::new(&tree);
            for (link, shape) in (0..).zip(&tree.shapes) {
                colliders.push(Collider {
                    member: Member::Link { tree: i, link },
                    shape: shape.clone(),
                    seat: Seat { system: systems.len(), part: PartId(link) },
                    restitution: tree.restitution,
                    kind: ProxyKind::Moving,
                });
            }
            systems.push(SystemState {
                system: Box::new(system.clone()),
                q: tree.q.to_vec(),
                v: tree.v.to_vec(),
            });
            trees.push((tree, system));
        }
        let mut sim = Self {
            parts,
            gravity: world.gravity,
            masses,
            trees,
            colliders,
            systems,
            caches: FixedMap::default(),
            report: Report::default(),
            events: Vec::new(),
            flights: Vec::new(),
            ids: Vec::new(),
            boxes: Vec::new(),
            pairs: Vec::new(),
            jobs: Vec::new(),
            workspace: CollisionWorkspace::default(),
        };
        sim.enter_broad_phase()?;
        sim.refuse_overlaps()?;
        sim.measure_energy();
        Ok(sim)
    }

    fn enter_broad_phase(&mut self) -> Result<(), SkeletonError> {
        self.compute_flights();
        for (i, collider) in (0..).zip(&self.colliders) {
            let aabb = collider.shape.aabb(&self.flights[i as usize].pose);
            self.parts.broad_phase.insert(ProxyId(i), collider.kind, &aabb)?;
            if collider.kind == ProxyKind::Moving {
                self.ids.push(ProxyId(i));
            }
        }
        Ok(())
    }

    fn refuse_overlaps(&mut self) -> Result<(), SkeletonError> {
        self.parts.broad_phase.pairs(&mut self.pairs);
        for &pair in &self.pairs {
            let (a, b) = (self.mover(pair.a), self.mover(pair.b));
            let a_from_b = a.flight.pose.inverse_mul(&b.flight.pose);
            let found =
                self.parts.narrow_phase.separation(a.shape, b.shape, &a_from_b, &mut PairCache::default())?;
            if found.distance < -self.parts.params.contact_tolerance {
                return Err(SkeletonError::Overlap { a: a.member, b: b.member, depth: -found.distance });
            }
        }
        Ok(())
    }

    /// Advances by `duration` seconds.
    ///
    /// # Errors
    /// A duration that is negative or not finite, an exhausted budget (with the pair that used it up), or a part that
    /// gives no answer. The state is then that of the last completed event.
    pub fn advance(&mut self, duration: f64) -> Result<(), SkeletonError> {
        not_negative(&"advance", "duration", duration)?;
        let end = self.report.time + duration;
        let mut events = 0;
        while self.report.time < end {
            let remaining = end - self.report.time;
            let window = self.parts.params.window.min(remaining);
            if let Some((pair, hit)) = self.earliest_impact(window)? {
                self.fly(hit.tau);
                self.collide(pair, &hit)?;
                events += 1;
                if events > self.parts.params.max_events {
                    let (a, b) = (self.mover(pair.a).member, self.mover(pair.b).member);
                    return Err(SkeletonError::Budget { a, b, events: events - 1, time: self.report.time });
                }
            } else {
                self.fly(window);
                if window >= remaining {
                    self.report.time = end;
                }
            }
        }
        self.measure_energy();
        Ok(())
    }

    /// Swept boxes, pairs, impact times; the earliest, the smaller pair first among equals.
    fn earliest_impact(&mut self, window: f64) -> Result<Option<(Pair, Hit)>, SkeletonError> {
        self.compute_flights();
        self.boxes.clear();
        for id in &self.ids {
            self.boxes.push(self.flights[id.index()].swept_box(window)?);
        }
        self.parts.broad_phase.update(&self.ids, &self.boxes)?;
        self.parts.broad_phase.pairs(&mut self.pairs);
        let mut jobs = std::mem::take(&mut self.jobs);
        jobs.clear();
        jobs.extend(self.pairs.iter().map(|&pair| {
            let cache = self.caches.get(&pair).copied().unwrap_or_default();
            Job { pair, cache, answer: Ok(None) }
        }));
        let limits = Limits {
            horizon: window,
            tolerance: self.parts.params.contact_tolerance,
            max_iterations: self.parts.params.max_iterations,
        };
        for_each_mut(self.parts.executor.as_ref(), &mut jobs, &|_, job: &mut Job| {
            let (a, b) = (self.mover(job.pair.a), self.mover(job.pair.b));
            job.answer = impact_time(self.parts.narrow_phase.as_ref(), a, b, &limits, &mut job.cache);
        });
        let mut earliest: Option<(Pair, Hit)> = None;
        for job in &jobs {
            self.caches.insert(job.pair, job.cache);
            if let Some(hit) = job.answer.clone()? {
                let earlier = earliest.is_none_or(|(pair, best)| (hit.tau, job.pair) < (best.tau, pair));
                if earlier {
                    earliest = Some((job.pair, hit));
                }
            }
        }
        self.jobs = jobs;
        Ok(earliest)
    }

    fn collide(&mut self, pair: Pair, hit: &Hit) -> Result<(), SkeletonError> {
        let (a, b) = (&self.colliders[pair.a.index()], &self.colliders[pair.b.index()]);
        let contact = self.workspace.assemble(&mut self.systems, [a.seat, b.seat], hit)?;
        let approach = -contact.velocity.z;
        let threshold = (2.0 * self.gravity.length() * self.parts.params.envelope).sqrt();
        let micro = approach < threshold;
        // A reversal, and for the very slow a hop of half the threshold, so that the number of events stays bounded.
        let restitution =
            if micro { (0.5 * threshold / approach).max(1.0) } else { a.restitution.min(b.restitution) };
        let impact = Impact { k: contact.k, velocity: contact.velocity, friction: 0.0, restitution };
        let impulse = self.parts.impact_law.impulse(&impact)?;
        let event = CollisionEvent {
            time: self.report.time,
            a: a.member,
            b: b.member,
            approach,
            impulse: impulse.z,
            distance: hit.distance,
            micro,
        };
        self.workspace.apply(&mut self.systems, impulse);
        self.events.push(event);
        self.report.worst_root = self.report.worst_root.max(hit.distance.abs());
        if micro {
            self.report.micro_collisions += 1;
        } else {
            self.report.collisions += 1;
        }
        Ok(())
    }

    /// Moves everything along its flight, in closed form.
    fn fly(&mut self, tau: f64) {
        let pool = &mut self.systems[0];
        let bodies = pool.q.chunks_exact_mut(FreeBodies::Q).zip(pool.v.chunks_exact_mut(FreeBodies::V));
        for (inertia, (q, v)) in self.masses.iter().zip(bodies) {
            if inertia.is_none() {
                continue;
            }
            let (pose, omega, velocity) = body_state(q, v);
            let position = pose.translation + velocity * tau + self.gravity * (0.5 * tau * tau);
            q[..3].copy_from_slice(&position.to_array());
            q[3..].copy_from_slice(&rotate_world(pose.rotation, omega, tau).to_array());
            v[3..].copy_from_slice(&(velocity + self.gravity * tau).to_array());
        }
        for ((_, tree), state) in self.trees.iter().zip(&mut self.systems[1..]) {
            let a = tree.acceleration(self.gravity);
            for (k, a) in a.to_array().into_iter().enumerate() {
                state.q[k] += state.v[k] * tau + 0.5 * a * tau * tau;
                state.v[k] += a * tau;
            }
        }
        self.report.time += tau;
    }

    fn compute_flights(&mut self) {
        let Self { flights, colliders, systems, trees, gravity, .. } = self;
        flights.clear();
        flights.extend(colliders.iter().map(|collider| {
            let state = &systems[collider.seat.system];
            let part = collider.seat.part.index();
            let radius = collider.shape.bounding_radius();
            let spin_radius = if matches!(collider.shape, Shape::Sphere(_)) { 0.0 } else { radius };
            if collider.seat.system == 0 {
                let (pose, omega, velocity) =
                    body_state(&state.q[FreeBodies::Q * part..], &state.v[FreeBodies::V * part..]);
                let fixed = collider.kind == ProxyKind::Fixed;
                let acceleration = if fixed { DVec3::ZERO } else { *gravity };
                let spin_radius = if fixed { 0.0 } else { spin_radius };
                Flight { pose, velocity, acceleration, omega, spin_radius, radius }
            } else {
                let (tree, system) = &trees[collider.seat.system - 1];
                let a = system.acceleration(*gravity).to_array();
                // Link 1 rides on link 0: its motion is the sum over both joints.
                let along = |x: &[f64]| (0..=part).map(|k| tree.rails[k] * x[k]).sum::<DVec3>();
                let position = tree.anchors[part] + along(&state.q);
                Flight {
                    pose: Pose::from_translation(position),
                    velocity: along(&state.v),
                    acceleration: along(&a),
                    omega: DVec3::ZERO,
                    spin_radius: 0.0,
                    radius,
                }
            }
        }));
    }

    fn mover(&self, id: ProxyId) -> Mover<'_> {
        let collider = &self.colliders[id.index()];
        Mover { member: collider.member, shape: &collider.shape, flight: &self.flights[id.index()] }
    }

    fn measure_energy(&mut self) {
        self.compute_flights();
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (inertia, flight) in self.masses.iter().zip(&self.flights) {
            if let Some(i) = inertia {
                kinetic += 0.5 * i.mass * flight.velocity.length_squared()
                    + 0.5 * i.moment * flight.omega.length_squared();
                potential -= i.mass * self.gravity.dot(flight.pose.translation);
            }
        }
        for (k, ((tree, system), state)) in self.trees.iter().zip(&self.systems[1..]).enumerate() {
            kinetic += system.kinetic_energy(DVec2::new(state.v[0], state.v[1]));
            for (link, mass) in tree.masses.into_iter().enumerate() {
                let flight = &self.flights[self.masses.len() + 2 * k + link];
                potential -= mass * self.gravity.dot(flight.pose.translation);
            }
        }
        self.report.kinetic = kinetic;
        self.report.potential = potential;
    }

    /// Totals so far; energies as of the last call of `advance`.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Every collision so far.
    #[must_use]
    pub fn events(&self) -> &[CollisionEvent] {
        &self.events
    }

    /// Pose of a body; `None` if there is no such body.
    #[must_use]
    pub fn pose(&self, body: BodyId) -> Option<Pose> {
        let state = &self.systems[0];
        let (q, v) = (FreeBodies::Q * body.index() as usize, FreeBodies::V * body.index() as usize);
        (body.generation() == 0 && q < state.q.len()).then(|| body_state(&state.q[q..], &state.v[v..]).0)
    }

    /// Position of a body; `None` if there is no such body.
    #[must_use]
    pub fn position(&self, body: BodyId) -> Option<DVec3> {
        self.pose(body).map(|pose| pose.translation)
    }

    /// Joint coordinates and velocities of a tree; `None` if there is no such tree.
    #[must_use]
    pub fn joints(&self, tree: u32) -> Option<([f64; 2], [f64; 2])> {
        let state = self.systems.get(tree as usize + 1)?;
        Some(([state.q[0], state.q[1]], [state.v[0], state.v[1]]))
    }
}

/// Pose, angular velocity and velocity from the numbers of one body.
fn body_state(q: &[f64], v: &[f64]) -> (Pose, DVec3, DVec3) {
    let pose = Pose::new(DVec3::new(q[0], q[1], q[2]), DQuat::from_xyzw(q[3], q[4], q[5], q[6]));
    (pose, DVec3::new(v[0], v[1], v[2]), DVec3::new(v[3], v[4], v[5]))
}
