//! Every part of the simulation replaced by one written here: the result is the same.
//!
//! ```sh
//! cargo run -p sim-core --example swap_every_part
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_core::{
    math::{Aabb, glam::DMat3},
    prelude::*,
    skeleton::{FreeBodiesMaker, Inertia},
    traits::{
        BroadPhase, BroadPhaseError, ColumnsMut, DynamicsError, Entry, Executor, FeatureId, Impact,
        ImpactError, ImpactLaw, Manifold, NarrowPhase, NarrowPhaseError, Pair, PairCache, PairChanges,
        ProxyId, ProxyKind, Ray, Scratch, Separation, VelocitySystem,
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

/// Velocity system: each body's 6x6 response written out as two 3x3 matrices about the world origin.
#[derive(Debug)]
struct AboutOrigin {
    inertia: Vec<Option<Inertia>>,
    centers: Vec<DVec3>,
}

impl AboutOrigin {
    /// Skew matrix of a: [a] b = a × b.
    fn skew(a: DVec3) -> DMat3 {
        DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
    }
}

impl VelocitySystem for AboutOrigin {
    fn velocity_len(&self) -> usize {
        6 * self.inertia.len()
    }

    fn configuration_len(&self) -> usize {
        7 * self.inertia.len()
    }

    fn part_count(&self) -> usize {
        self.inertia.len()
    }

    fn prepare(&mut self, q: &[f64]) -> Result<(), DynamicsError> {
        self.centers = q.chunks_exact(7).map(|q| DVec3::new(q[0], q[1], q[2])).collect();
        Ok(())
    }

    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        for entry in rows {
            let v = &v[6 * entry.part.index()..][..6];
            let (omega, velocity) = (DVec3::new(v[0], v[1], v[2]), DVec3::new(v[3], v[4], v[5]));
            let at_point = velocity + Self::skew(omega) * (entry.point - self.centers[entry.part.index()]);
            out[entry.row as usize] += entry.wrench.linear.dot(at_point) + entry.wrench.moment.dot(omega);
        }
        Ok(())
    }

    fn response(
        &self,
        rows: &[Entry],
        _: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError> {
        out.clear();
        for entry in rows {
            let Some(inertia) = self.inertia[entry.part.index()] else { continue };
            let arm = Self::skew(entry.point - self.centers[entry.part.index()]);
            let omega = (arm * entry.wrench.linear + entry.wrench.moment) / inertia.moment;
            let velocity = entry.wrench.linear / inertia.mass;
            let column = &mut out.column(entry.row as usize)[6 * entry.part.index()..][..6];
            for (x, d) in column.iter_mut().zip(omega.to_array().into_iter().chain(velocity.to_array())) {
                *x += d;
            }
        }
        Ok(())
    }

    fn dof_response(&self, dof: u32, _: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
        out.fill(0.0);
        if let Some(inertia) = self.inertia[dof as usize / 6] {
            out[dof as usize] = if dof % 6 < 3 { 1.0 / inertia.moment } else { 1.0 / inertia.mass };
        }
        Ok(())
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

/// Where the bodies and the joints of the tree are, and after how many collisions.
type Outcome = (Vec<DVec3>, [f64; 2], u64);

/// Three balls, a tumbling cube and a tree of two links, for one second.
fn run(parts: Parts) -> Result<Outcome, Box<dyn std::error::Error>> {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81));
    world.add(Body::fixed(HalfSpace::up()));
    let sphere = Sphere::new(0.2)?;
    let mut bodies: Vec<_> = (0..3)
        .map(|k| {
            let x = f64::from(k);
            let start = DVec3::new(x, 0.1 * x, 1.0 + 0.5 * x);
            world
                .add(Body::free(sphere, 1.0, 0.016).at(start).moving(DVec3::new(1.0 - x, 0.0, 0.5), DVec3::Y))
        })
        .collect();
    bodies.push(
        world.add(
            Body::free(Cuboid::new(DVec3::splat(0.2))?, 2.0, 0.05)
                .at(DVec3::new(0.0, 9.0, 1.5))
                .moving(DVec3::X, DVec3::new(3.0, -2.0, 5.0)),
        ),
    );
    let tree = world.add_tree(Tree {
        anchors: [DVec3::new(-9.0, 0.0, 3.0), DVec3::new(-9.0, 0.0, 0.8)],
        rails: [DVec3::X, DVec3::new(0.6, 0.0, 0.8)],
        masses: [2.0, 0.5],
        shapes: [sphere.into(), sphere.into()],
        q: [0.0; 2],
        v: [0.3, 0.0],
        restitution: 0.9,
    });
    let mut sim = Simulation::new(world, parts)?;
    sim.advance(1.0)?;
    let positions = bodies.into_iter().filter_map(|b| sim.position(b)).collect();
    let joints = sim.joints(tree).map_or([f64::NAN; 2], |(q, _)| q);
    Ok((positions, joints, sim.report().collisions))
}

fn about_origin() -> FreeBodiesMaker {
    Box::new(|inertia| Box::new(AboutOrigin { inertia: inertia.to_vec(), centers: Vec::new() }))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let swapped: [(&str, Parts); 6] = [
        (
            "broad phase: sweep along x",
            Parts { broad_phase: Box::new(SweepX::default()), ..Parts::default() },
        ),
        ("narrow phase: support maps", Parts { narrow_phase: Box::new(BySupport), ..Parts::default() }),
        ("impact law: work by bisection", Parts { impact_law: Box::new(ByWork), ..Parts::default() }),
        ("velocity system: about the origin", Parts { free_bodies: about_origin(), ..Parts::default() }),
        ("executor: two threads", Parts { executor: Box::new(TwoThreads), ..Parts::default() }),
        (
            "all five at once",
            Parts {
                broad_phase: Box::new(SweepX::default()),
                narrow_phase: Box::new(BySupport),
                impact_law: Box::new(ByWork),
                free_bodies: about_origin(),
                executor: Box::new(TwoThreads),
                ..Parts::default()
            },
        ),
    ];
    let (positions, joints, collisions) = run(Parts::default())?;
    println!("{collisions} collisions in one second with the parts of the skeleton.\n");
    println!("{:36} | collisions | largest difference [m]", "swapped");
    println!("{:-<36}-|------------|-----------------------", "");
    for (name, parts) in swapped {
        let (p, q, n) = run(parts)?;
        let of_bodies = positions.iter().zip(&p).map(|(a, b)| (*a - *b).length());
        let of_joints = joints.iter().zip(q).map(|(a, b)| (a - b).abs());
        let difference = of_bodies.chain(of_joints).fold(0.0, f64::max);
        println!("{name:36} | {n:10} | {difference:9.1e}");
        assert!(n == collisions && difference < 1e-9, "{name}: not the same result");
    }
    Ok(())
}
