//! Every part of the simulation replaced by one written here: the result is the same.
//!
//! ```sh
//! cargo run -p sim-core --example swap_every_part
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_core::{
    math::Aabb,
    prelude::*,
    rigid::impact::Frictionless,
    traits::{
        BroadPhase, BroadPhaseError, Executor, FeatureId, Impact, ImpactError, ImpactLaw, Manifold,
        NarrowPhase, NarrowPhaseError, Pair, PairCache, PairChanges, ProxyId, ProxyKind, Ray, Separation,
    },
};
use std::{collections::BTreeMap, ops::ControlFlow};

/// Broad phase: boxes sorted along x, each compared with those that begin before it ends.
#[derive(Debug, Default)]
struct SweepX {
    boxes: BTreeMap<ProxyId, (ProxyKind, Aabb)>,
    order: Vec<ProxyId>,
    reported: Vec<Pair>,
}

impl BroadPhase for SweepX {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        BroadPhaseError::check_box(id, aabb)?;
        if self.boxes.contains_key(&id) {
            return Err(BroadPhaseError::Duplicate { id });
        }
        self.boxes.insert(id, (kind, *aabb));
        self.order.push(id);
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        self.boxes.remove(&id).ok_or(BroadPhaseError::Unknown { id })?;
        self.order.retain(|&other| other != id);
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        if ids.len() != boxes.len() {
            return Err(BroadPhaseError::BatchLength { ids: ids.len(), boxes: boxes.len() });
        }
        for (&id, aabb) in ids.iter().zip(boxes) {
            BroadPhaseError::check_box(id, aabb)?;
            self.boxes.get(&id).ok_or(BroadPhaseError::Unknown { id })?;
        }
        for (id, aabb) in ids.iter().zip(boxes) {
            self.boxes.entry(*id).and_modify(|entry| entry.1 = *aabb);
        }
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        out.clear();
        self.order.sort_by(|a, b| self.boxes[a].1.min.x.total_cmp(&self.boxes[b].1.min.x).then(a.cmp(b)));
        for (k, a) in self.order.iter().enumerate() {
            let (kind_a, box_a) = &self.boxes[a];
            for b in self.order[k + 1..].iter().take_while(|b| self.boxes[b].1.min.x <= box_a.max.x) {
                let (kind_b, box_b) = &self.boxes[b];
                if (*kind_a, *kind_b) != (ProxyKind::Fixed, ProxyKind::Fixed) && box_a.overlaps(box_b) {
                    out.push(Pair::new(*a, *b));
                }
            }
        }
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        let mut now = Vec::new();
        self.pairs(&mut now);
        out.begun = now.iter().filter(|p| !self.reported.contains(p)).copied().collect();
        out.ended = self.reported.iter().filter(|p| !now.contains(p)).copied().collect();
        self.reported = now;
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let _ = self.boxes.iter().filter(|(_, b)| b.1.overlaps(aabb)).try_for_each(|(&id, _)| visit(id));
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        let mut t_max = ray.t_max;
        for (&id, (_, aabb)) in &self.boxes {
            if aabb.ray_interval(ray.origin, ray.direction, t_max).is_some() {
                t_max = t_max.min(visit(id));
            }
        }
    }

    fn len(&self) -> usize {
        self.boxes.len()
    }

    fn is_exact(&self) -> bool {
        true
    }
}

/// Narrow phase: whatever has a support map against half-spaces; balls among themselves by their centres.
#[derive(Debug)]
struct BySupport;

impl BySupport {
    fn find(a: &Shape, b: &Shape, a_from_b: &Pose) -> Result<Separation, NarrowPhaseError> {
        let normal = match (a, b) {
            (Shape::HalfSpace(_), Shape::HalfSpace(_)) => return Err(NarrowPhaseError::unsupported(a, b)),
            (Shape::HalfSpace(_), _) => {
                return Self::find(b, a, &a_from_b.inverse()).map(|s| s.flipped(a_from_b));
            }
            (_, Shape::HalfSpace(plane)) => a_from_b.transform_vector(plane.normal()),
            (Shape::Sphere(_), Shape::Sphere(_)) => {
                (-a_from_b.translation).try_normalize().unwrap_or(DVec3::Z)
            }
            _ => return Err(NarrowPhaseError::unsupported(a, b)),
        };
        // The lowest point of A, and the point of B below it: on its plane, or its highest.
        let point_a = a.support(-normal).ok_or(NarrowPhaseError::unsupported(a, b))?;
        let local = a_from_b.inverse_transform_vector(normal);
        let top = b.support(local).map_or(a_from_b.translation, |p| a_from_b.transform_point(p));
        let distance = normal.dot(point_a - top);
        Ok(Separation { distance, normal, point_a, point_b: point_a - distance * normal })
    }
}

impl NarrowPhase for BySupport {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        _: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        NarrowPhaseError::check_pose(a, b, a_from_b)?;
        Self::find(a, b, a_from_b)
    }

    fn manifolds(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        margin: f64,
        cache: &mut PairCache,
        out: &mut Vec<Manifold>,
    ) -> Result<(), NarrowPhaseError> {
        let found = self.separation(a, b, a_from_b, cache)?;
        if found.distance <= margin {
            out.push(Manifold::at_closest(&found, [FeatureId::NONE; 2]));
        }
        Ok(())
    }
}

/// Impact law: bisects the impulse until restitution has given back e² of the work of compression (Stronge).
#[derive(Debug)]
struct ByWork;

impl ImpactLaw for ByWork {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        impact.validate()?;
        let (k, u, e) = (impact.k.z_axis.z, impact.velocity.z, impact.restitution);
        let compression = (-u / k).max(0.0);
        // Work of the normal impulse up to p is u p + k p²/2; it is lowest at the end of compression.
        let work = |p: f64| u * p + 0.5 * k * p * p;
        let target = (1.0 - e * e) * work(compression);
        let (mut low, mut high) = (compression, (2.0 + e) * compression);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if work(middle) < target { low = middle } else { high = middle }
        }
        Ok(DVec3::Z * low)
    }
}

/// Executor: two threads per phase.
#[derive(Debug)]
struct TwoThreads;

impl Executor for TwoThreads {
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            scope.spawn(|| (1..n).step_by(2).for_each(work));
            (0..n).step_by(2).for_each(work);
        });
    }

    fn parallelism(&self) -> usize {
        2
    }
}

/// Where the bodies are, and after how many collisions.
type Outcome = (Vec<DVec3>, u64);
/// Puts parts into a simulation.
type Swap = fn(SimulationBuilder) -> SimulationBuilder;

/// Three balls and a tumbling cube, for one second, without friction.
fn run(swap: Swap) -> Result<Outcome, Box<dyn std::error::Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    world.add(Body::fixed().shape(HalfSpace::up()).friction(0.0))?;
    let mut bodies = Vec::new();
    for k in 0..3 {
        let x = f64::from(k);
        let ball = Body::free().shape(Sphere::new(0.2)?).mass(1.0).at([x, 0.1 * x, 1.0 + 0.5 * x]);
        bodies.push(world.add(ball.moving([1.0 - x, 0.0, 0.5]).spinning([0.0, 1.0, 0.0]).restitution(1.0))?);
    }
    let cube = Body::free().shape(Cuboid::new(DVec3::splat(0.2))?).mass(2.0).at([0.0, 9.0, 1.5]);
    bodies.push(world.add(cube.moving([1.0, 0.0, 0.0]).spinning([3.0, -2.0, 5.0]).restitution(0.9))?);
    // The law of the example knows no friction, so the reference has none either.
    let mut sim = swap(Simulation::builder(world).impact(Frictionless)).build()?;
    sim.advance(1.0)?;
    let positions = bodies.into_iter().map(|b| sim.world()[b].position()).collect();
    Ok((positions, sim.report().collisions))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let swapped: [(&str, Swap); 5] = [
        ("broad phase: sweep along x", |b| b.broad_phase(SweepX::default())),
        ("narrow phase: support maps", |b| b.narrow_phase(BySupport)),
        ("impact law: work by bisection", |b| b.impact(ByWork)),
        ("executor: two threads", |b| b.executor(TwoThreads)),
        ("all four at once", |b| {
            b.broad_phase(SweepX::default()).narrow_phase(BySupport).impact(ByWork).executor(TwoThreads)
        }),
    ];
    let (positions, collisions) = run(|b| b)?;
    println!("{collisions} collisions in one second with the default parts.\n");
    println!("{:36} | collisions | largest difference [m]", "swapped");
    println!("{:-<36}-|------------|-----------------------", "");
    for (name, swap) in swapped {
        let (p, n) = run(swap)?;
        let difference = positions.iter().zip(&p).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        println!("{name:36} | {n:10} | {difference:9.1e}");
        assert!(n == collisions && difference < 1e-9, "{name}: not the same result");
    }
    Ok(())
}
