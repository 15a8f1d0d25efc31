//! Steps are shortened where bodies that turn would sink in deep: looked at before they are taken.
//!
//! # Reference
//!
//! Own; bilateral advancement (Catto, 2013) has the same look at the end of a step.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | ω | angular velocity of a body at the end of the step | rad/s |
//! | s | its spin radius: the shape without its rounding | m |
//! | r | radius of the smaller body | m |
//! | d₀, d₁ | distance of two bodies at the start and at the end of the step | m |
//!
//! # Formula
//!
//! ```text
//! contact points are where two bodies are nearest; what turns brings down another point by up to h Σ s |ω|
//! h Σ s |ω| > r/20:   d₁ on the ways of the solution;   d₁ < min(d₀, 0) − r/20:   h ← h (d₀ − d₁ − excess)/(d₀ − d₁), within a quarter and three quarters of h
//! ```
//!
//! # Cost
//!
//! A distance for every pair with contacts that turns so far in a step. A shortened step counts as one that is cut for turning bodies.
//!
//! # Numerics
//!
//! What is less deep is opened at the end of the step.
//!
//! # Failure
//!
//! None. What is through at the end of a step is not seen: [`super::turn_limit`] is there for that.
//!
//! # Tested by
//!
//! `tests/time_spinning.rs`, `soak_random_scenes_with_exact_cones`

use super::{
    candidate::Candidate,
    state::{Detection, Setup, StepBodies},
};
use sim_traits::{NarrowPhase, PairCache};
use sim_world::{Body, Collider, Piece, World};

/// Overlap at the end of a step that is left to be opened, share of the radius of the smaller body.
const DEEP: f64 = 0.05;

/// Two bodies of a pair, and the ways on which they go.
pub(super) struct Ahead<'a> {
    colliders: [&'a Collider; 2],
    bodies: [&'a Body; 2],
    pieces: [Option<Piece>; 2],
    time: f64,
}

impl<'a> Ahead<'a> {
    /// From the world's time on, on the given pieces; on those that they are on already where there are none.
    pub(super) fn new(
        world: &'a World,
        pair: &Candidate,
        way: impl Fn(u32, &Body) -> Option<Piece>,
    ) -> Option<Self> {
        let (colliders, bodies) = pair.sides(world)?;
        let pieces = [0, 1].map(|k| way(pair.bodies[k], bodies[k]).filter(|_| bodies[k].is_free()));
        Some(Self { colliders, bodies, pieces, time: world.time() })
    }

    /// Their distance after `t` seconds, m; nothing if it cannot be told.
    pub(super) fn distance(&self, narrow: &dyn NarrowPhase, cache: &mut PairCache, t: f64) -> Option<f64> {
        let place = |k: usize| {
            let piece = self.pieces[k].as_ref().unwrap_or(self.bodies[k].piece());
            let state = piece.at(self.bodies[k].model(), self.time + t).ok()?;
            Some(*state.pose() * self.colliders[k].extent().body_from_shape)
        };
        let (a, b) = (place(0)?, place(1)?);
        let [shape_a, shape_b] = self.colliders.map(Collider::shape);
        narrow.separation(shape_a, shape_b, &a.inverse_mul(&b), cache).ok().map(|found| found.distance)
    }
}

/// How far bodies go with the velocities in the pool, which are those of the end of a step of `h` seconds, until two of them have sunk in too deep,
/// s; `h` if none do.
pub(super) fn foresee(
    setup: &Setup,
    found: &mut Detection,
    bodies: &StepBodies,
    world: &World,
    h: f64,
) -> f64 {
    let (narrow, travels) = (setup.parts.narrow_phase.as_ref(), &found.detect.travels);
    let mut shortest = h;
    for pair in &mut found.detect.candidates {
        if pair.rest.found.manifolds.is_empty() || pair.sensor.is_some() {
            continue;
        }
        let swing = |slot: u32| {
            let body = &bodies.pool[slot as usize];
            if body.is_movable() { travels.spin(slot) * body.velocity.angular.length() * h } else { 0.0 }
        };
        let allowed = DEEP * travels.smaller_radius(pair.bodies);
        if pair.bodies.map(swing).into_iter().sum::<f64>() <= allowed {
            continue;
        }
        let way = |slot: u32, body: &Body| {
            let (body_step, pooled) = (&bodies.body_steps[slot as usize], &bodies.pool[slot as usize]);
            let mut state = *body.state();
            if !pooled.is_movable() {
                return None;
            }
            let flies = !body_step.driven && pooled.velocity == body_step.start + body_step.force_change;
            state.velocity = if flies { body_step.start } else { pooled.velocity };
            let acceleration = if flies { body_step.acceleration } else { sim_math::glam::DVec3::ZERO };
            Some(Piece::ballistic(world.time(), body.model(), state, acceleration))
        };
        let Some(ahead) = Ahead::new(world, pair, way) else { continue };
        found.detect.distances += 1;
        let Some(end) = ahead.distance(narrow, &mut pair.rest.cache, h) else { continue };
        let least = pair.distance.min(0.0) - allowed;
        if end < least {
            let share = (pair.distance - least) / (pair.distance - end);
            shortest = shortest.min(h * share.clamp(0.25, 0.75));
        }
    }
    shortest
}
