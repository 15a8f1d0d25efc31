//! The smallest pipeline that can test a contact solver: boxes, balls and a floor, every pair tried, manifolds from the default chain.
#![allow(clippy::unwrap_used, reason = "a test helper: a failure here is a failure of the test")]

use collision_narrowphase::default_chain;
use constraint_dynamics::soft::{NormalOf, SoftBodies, SoftBody, SoftManifold, SoftSolver};
use sim_math::{
    Pose, Sym3,
    glam::{DMat3, DQuat, DVec3},
    spatial::Motion,
};
use sim_traits::{Chain, Cuboid, FeatureId, HalfSpace, Manifold, NarrowPhase, PairCache, Shape, Sphere};
use std::collections::BTreeMap;

type Named = (SoftManifold, [[FeatureId; 2]; 4]);

/// Points that are nearer than this are the same, m.
const SAME: f64 = 0.05;

#[derive(Debug, Clone)]
pub(crate) struct Solid {
    pub(crate) shape: Shape,
    pub(crate) mass: f64,
    pub(crate) moments: DVec3,
    pub(crate) pose: Pose,
    pub(crate) velocity: Motion,
}

#[derive(Debug)]
pub(crate) struct Pile {
    pub(crate) solids: Vec<Solid>,
    pub(crate) gravity: DVec3,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    pub(crate) manifolds: Vec<SoftManifold>,
    features: Vec<[[FeatureId; 2]; 4]>,
    /// Manifolds as the last step left them, by bodies.
    before: BTreeMap<[u32; 2], Named>,
    /// Relative pose at which the contact of two bodies was found.
    kept: BTreeMap<[u32; 2], Pose>,
    narrow: Chain,
    pub(crate) solver: SoftSolver,
}

impl Pile {
    /// A floor at z = 0, body 0.
    pub(crate) fn on_floor(friction: f64, restitution: f64) -> Self {
        let floor = Solid {
            shape: HalfSpace::up().into(),
            mass: 0.0,
            moments: DVec3::ZERO,
            pose: Pose::IDENTITY,
            velocity: Motion::ZERO,
        };
        Self {
            solids: vec![floor],
            gravity: DVec3::new(0.0, 0.0, -9.81),
            friction,
            restitution,
            manifolds: Vec::new(),
            features: Vec::new(),
            before: BTreeMap::new(),
            kept: BTreeMap::new(),
            narrow: default_chain(),
            solver: SoftSolver::default(),
        }
    }

    pub(crate) fn cuboid(&mut self, half: DVec3, density: f64, pose: Pose) -> usize {
        let mass = 8.0 * half.x * half.y * half.z * density;
        let s = half * half;
        let moments = mass / 3.0 * DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y);
        let shape = Cuboid::new(half).unwrap().into();
        self.solids.push(Solid { shape, mass, moments, pose, velocity: Motion::ZERO });
        self.solids.len() - 1
    }

    pub(crate) fn ball(&mut self, radius: f64, mass: f64, center: DVec3) -> usize {
        let moments = DVec3::splat(0.4 * mass * radius * radius);
        let shape = Sphere::new(radius).unwrap().into();
        let pose = Pose::from_translation(center);
        self.solids.push(Solid { shape, mass, moments, pose, velocity: Motion::ZERO });
        self.solids.len() - 1
    }

    pub(crate) fn detect(&mut self, margin: f64) {
        self.manifolds.clear();
        self.features.clear();
        let mut found = Vec::new();
        for b in 0..self.solids.len() {
            for a in b + 1..self.solids.len() {
                let (sa, sb) = (&self.solids[a], &self.solids[b]);
                let reach = sa.shape.bounding_radius() + sb.shape.bounding_radius();
                if (sa.pose.translation - sb.pose.translation).length() > reach + margin {
                    continue;
                }
                let a_from_b = sa.pose.inverse() * sb.pose;
                found.clear();
                let mut cache = PairCache::default();
                self.narrow
                    .manifolds(&sa.shape, &sb.shape, &a_from_b, margin, &mut cache, &mut found)
                    .unwrap();
                let pair = [a as u32, b as u32];
                if let (Some(pose), Some((manifold, features))) =
                    (self.kept.get(&pair), self.before.get(&pair))
                {
                    let turn = pose.rotation.dot(a_from_b.rotation).abs();
                    let near = (pose.translation - a_from_b.translation).length() < 2e-3 && turn > 1.0 - 1e-6;
                    if near && !found.is_empty() {
                        self.manifolds.push(*manifold);
                        self.features.push(*features);
                        continue;
                    }
                }
                self.kept.remove(&pair);
                if !found.is_empty() {
                    self.kept.insert(pair, a_from_b);
                }
                for manifold in &found {
                    self.manifolds.push(self.fixed_to_bodies([a as u32, b as u32], manifold));
                    let mut features = [[FeatureId::NONE; 2]; 4];
                    for (to, point) in features.iter_mut().zip(manifold.points()) {
                        *to = point.features;
                    }
                    self.features.push(features);
                }
            }
        }
    }

    fn fixed_to_bodies(&self, bodies: [u32; 2], manifold: &Manifold) -> SoftManifold {
        let [a, b] = bodies.map(|i| self.solids[i as usize].pose);
        let b_from_a = b.inverse() * a;
        let mut out =
            SoftManifold::new(bodies, manifold.normal, NormalOf::A, self.friction, self.restitution);
        let before = self.before.get(&bodies);
        if let Some((before, _)) = before {
            out.inherit_friction(before);
        }
        for point in manifold.points() {
            // Features change where another face leads; what lies at the same place goes on all the same.
            let same = before.and_then(|(before, features)| {
                let named = || features[..before.len()].iter().position(|f| *f == point.features);
                let placed = || before.points().position(|p| (p[0] - point.point_a).length() < SAME);
                named().or_else(placed).map(|k| before.impulses()[k])
            });
            out.push(point.point_a, b_from_a.transform_point(point.point_b), same.unwrap_or(0.0));
        }
        out
    }

    pub(crate) fn bodies(&self) -> SoftBodies {
        let mut bodies = SoftBodies::default();
        for solid in &self.solids {
            let free = solid.mass > 0.0;
            let r = DMat3::from_quat(solid.pose.rotation);
            let inverse = if free {
                r * DMat3::from_diagonal(1.0 / solid.moments) * r.transpose()
            } else {
                DMat3::ZERO
            };
            bodies.push(&SoftBody {
                inv_mass: if free { 1.0 / solid.mass } else { 0.0 },
                inv_inertia: Sym3::from_mat3(inverse),
                pose: solid.pose,
                velocity: solid.velocity,
                acceleration: Motion::new(DVec3::ZERO, if free { self.gravity } else { DVec3::ZERO }),
            });
        }
        bodies
    }

    pub(crate) fn step(&mut self, dt: f64) {
        self.detect(0.02);
        let mut bodies = self.bodies();
        self.solver.step(&mut bodies, &mut self.manifolds, dt).unwrap();
        for (i, solid) in self.solids.iter_mut().enumerate() {
            solid.velocity = bodies.velocity(i);
            let moved = bodies.displacement(i);
            solid.pose.translation += moved.linear;
            solid.pose.rotation = (DQuat::from_scaled_axis(moved.angular) * solid.pose.rotation).normalize();
        }
        self.remember();
    }

    fn remember(&mut self) {
        self.before.clear();
        for (m, features) in self.manifolds.iter().zip(&self.features) {
            self.before.insert(m.bodies(), (*m, *features));
        }
    }
}
