//! Kinds of motion: a new one works against all others, and what is fixed costs nothing.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use collision_broadphase::CoherentHash;
use common::{ball, cuboid, earth, parts, smallest_separation, stepper};
use rigid_impulse::{BodyKind, BodyModel, BodyState, bounds::Travel, pair_matrix};
use sim_math::{
    Aabb, Pose,
    glam::{DMat3, DVec3},
    ops,
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_steppers::EventDriven;
use sim_traits::{
    BroadPhase, BroadPhaseError, Cuboid, HalfSpace, Pair, PairChanges, ProxyId, ProxyKind, Ray, Shape,
};
use sim_world::{Anchor, Body, Extent, ForceGenerator, Limits, Piece, Script, Stepper};
use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex},
};

/// Goes round an ellipse without turning.
#[derive(Debug, Clone, Copy)]
struct Ellipse {
    center: DVec3,
    axes: [DVec3; 2],
    rate: f64,
}

impl Script for Ellipse {
    fn pose(&self, t: f64) -> Pose {
        let (sin, cos) = ops::sin_cos(self.rate * t);
        Pose::from_translation(self.center + self.axes[0] * cos + self.axes[1] * sin)
    }

    fn velocity(&self, t: f64) -> Motion {
        let (sin, cos) = ops::sin_cos(self.rate * t);
        Motion::new(DVec3::ZERO, (self.axes[1] * cos - self.axes[0] * sin) * self.rate)
    }

    fn limits(&self) -> Limits {
        // Whatever the angle between the axes.
        let speed = ops::hypot(self.axes[0].length(), self.axes[1].length()) * self.rate.abs();
        Limits { speed, acceleration: speed * self.rate.abs(), angular: 0.0, angular_acceleration: 0.0 }
    }
}

// proves: MIR-12, MIR-26
#[test]
fn a_new_motion_round_an_ellipse_stays_in_its_boxes_and_is_never_late() {
    let ellipse = Ellipse {
        center: DVec3::new(0.0, 0.0, 0.17),
        axes: [DVec3::new(0.9, 0.0, 0.0), DVec3::new(0.1, 0.5, 0.0)],
        rate: 6.0,
    };
    // Boxes contain the sampled path.
    let (model, piece) =
        (BodyModel::new(BodyKind::Scripted), Piece::scripted(0.0, Arc::new(ellipse)).unwrap());
    let shape: Shape = Cuboid::new(DVec3::new(0.2, 0.1, 0.15)).unwrap().into();
    let extent = Extent::new(&shape, Pose::IDENTITY);
    let mut random = SplitMix64(12);
    for _ in 0..300 {
        let (from, dt) = (random.range(0.0, 5.0), random.range(0.0, 0.4));
        let swept = piece.swept_box(&piece.at(&model, from).unwrap(), dt, &shape, &extent).unwrap();
        for k in 0..=20 {
            let then = piece.at(&model, from + dt * f64::from(k) / 20.0).unwrap();
            assert!(swept.grown(1e-12).contains_box(&shape.aabb(then.pose())));
        }
    }
    // Against balls and boxes in free flight, on springs and at rest on a floor: every impact at its root, no overlap.
    let mut world = earth();
    for side in [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y] {
        world.add(Body::fixed().shape(HalfSpace::new(side).unwrap()).at(side * -1.6)).unwrap();
    }
    let bat = world.add(Body::scripted(ellipse).shape(shape).friction(0.3)).unwrap();
    let mut last = None;
    for k in 0..12 {
        let at = DVec3::new(0.5 * f64::from(k % 4) - 0.75, 0.6 * f64::from(k / 4) - 0.6, 0.7);
        let body = if k % 2 == 0 { ball(0.1) } else { Body::free().shape(cuboid(0.1, 0.12, 0.08)) };
        let id = world.add(body.mass(1.0).at(at).spinning(random.vec3(4.0)).restitution(0.6)).unwrap();
        if k >= 8 {
            if let Some(other) = last.replace(id) {
                let (a, b) = (Anchor::Body(other, DVec3::ZERO), Anchor::Body(id, DVec3::ZERO));
                let spring = ForceGenerator::Spring { a, b, stiffness: 80.0, damping: 0.2, rest_length: 0.5 };
                world.add_force(spring).unwrap();
            }
        }
    }
    let mut stepper = stepper();
    let mut hits = 0;
    for _ in 0..300 {
        let report = stepper.advance(&mut world, 0.01).unwrap();
        assert!(report.worst_root <= 2e-12, "{report}");
        assert!(smallest_separation(&world) > -1e-10, "at {}", world.time());
        hits += common::impacts(&world)
            .iter()
            .filter(|(_, c)| [c.a, c.b].iter().any(|c| world.collider(*c).unwrap().body() == bat))
            .count();
    }
    assert!(hits >= 10, "{hits} hits by the new motion");
}

/// Notes what is inserted and updated.
#[derive(Debug, Default)]
struct Noting {
    inner: CoherentHash,
    notes: Arc<Mutex<(Vec<ProxyId>, Vec<ProxyId>)>>,
}

impl BroadPhase for Noting {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        if kind == ProxyKind::Fixed {
            self.notes.lock().unwrap().0.push(id);
        }
        self.inner.insert(id, kind, aabb)
    }
    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        self.inner.remove(id)
    }
    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        self.notes.lock().unwrap().1.extend_from_slice(ids);
        self.inner.update(ids, boxes)
    }
    fn pairs(&mut self, out: &mut Vec<Pair>) {
        self.inner.pairs(out);
    }
    fn pair_changes(&mut self, out: &mut PairChanges) {
        self.inner.pair_changes(out);
    }
    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        self.inner.visit_box(aabb, visit);
    }
    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        self.inner.visit_ray(ray, visit);
    }
    fn len(&self) -> usize {
        self.inner.len()
    }
    fn is_exact(&self) -> bool {
        self.inner.is_exact()
    }
}

// proves: MIR-09
#[test]
fn fixed_bodies_are_inserted_once_never_updated_and_give_nothing_to_bounds_or_impulses() {
    let mut world = earth();
    let block = world.add(Body::fixed().shape(cuboid(0.5, 0.5, 0.1)).at([0.0, 0.0, 0.1])).unwrap();
    for k in 0..6 {
        world.add(ball(0.1).at([0.3 * f64::from(k) - 0.7, 0.0, 1.0]).restitution(0.5)).unwrap();
    }
    let broad = Noting::default();
    let notes = broad.notes.clone();
    let mut parts = parts();
    parts.broad_phase = Box::new(broad);
    let mut stepper = EventDriven::new(parts);
    let before = *world[block].state();
    let report = stepper.advance(&mut world, 2.0).unwrap();
    assert!(report.collisions > 10 && report.windows > 30, "{report}");
    let (inserted, updated) = notes.lock().unwrap().clone();
    assert_eq!(inserted, [ProxyId(0), ProxyId(1)]);
    assert!(!updated.is_empty() && updated.iter().all(|id| id.0 >= 2));
    assert_eq!(*world[block].state(), before);
    // The box is tight, travel is nothing, and so is the share in the collision matrix.
    let piece = world[block].piece();
    let (_, collider) = world.colliders().nth(1).unwrap();
    let swept = piece.swept_box(&before, 10.0, collider.shape(), collider.extent()).unwrap();
    assert_eq!(swept, collider.shape().aabb(before.pose()));
    assert_eq!(piece.travel(DVec3::ZERO, DVec3::X, 1.0, 0.5), Travel::NONE);
    let frame = rigid_impulse::ContactFrame::new(DVec3::ZERO, DVec3::Z).unwrap();
    let other = BodyState::at_rest(Pose::IDENTITY).unwrap();
    assert_eq!(
        pair_matrix([world[block].model(), &BodyModel::FIXED], [&before, &other], &frame),
        DMat3::ZERO
    );
}
