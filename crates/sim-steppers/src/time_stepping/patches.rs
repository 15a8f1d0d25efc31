//! The manifolds of the soft solver, kept from step to step.
//!
//! A manifold that was not found anew stays as the solver left it, impulses included. One that was found anew takes over the impulses of the points it
//! has in common with the one before: those of the same features, else those at the same place.

use super::{
    candidate::{Candidate, Horizon},
    detect::Detect,
    normals::Bend,
    soft::SoftContacts,
    state::{Detection, Setup},
};
use constraint_dynamics::soft::{NormalOf, SoftManifold};
use sim_math::glam::DVec3;
use sim_traits::{FeatureId, Manifold, Shape};
use sim_world::{Collider, StepError, World};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Which contact a manifold is of: names to find it again by.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Origin {
    pub(super) pieces: [u32; 2],
    pub(super) features: [[FeatureId; 2]; Manifold::CAPACITY],
}

/// Manifolds, each at a place where it stays while its pair has as many; places in between may be empty.
#[derive(Debug, Default)]
pub(super) struct Patches {
    pub(super) manifolds: Vec<SoftManifold>,
    pub(super) origins: Vec<Origin>,
    /// Empty places, the lowest first.
    holes: BinaryHeap<Reverse<u32>>,
    spare: (Vec<SoftManifold>, Vec<Origin>),
    fresh: (Vec<SoftManifold>, Vec<Origin>),
}

impl Patches {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.manifolds.clear();
        self.origins.clear();
        self.holes.clear();
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.manifolds.len() - self.holes.len()
    }

    /// Adds one at the end, or an empty place.
    #[cfg(feature = "serde")]
    pub(super) fn put_back(&mut self, manifold: SoftManifold, origin: Origin) {
        if manifold.is_empty() {
            self.holes.push(Reverse(self.manifolds.len() as u32));
        }
        self.manifolds.push(manifold);
        self.origins.push(origin);
    }

    /// Empties places.
    pub(super) fn release(&mut self, [start, count]: [u32; 2]) {
        for k in start..start + count {
            if let Some(manifold) = self.manifolds.get_mut(k as usize) {
                *manifold = SoftManifold::default();
                self.holes.push(Reverse(k));
            }
        }
    }

    /// Places for so many, one after the other.
    fn place(&mut self, count: usize) -> [u32; 2] {
        let end = self.manifolds.len();
        let start = match count {
            0 => 0,
            1 if !self.holes.is_empty() => self.holes.pop().map_or(0, |hole| hole.0),
            _ => end as u32,
        };
        let len = end.max(start as usize + count);
        self.manifolds.resize(len, SoftManifold::default());
        self.origins.resize(len, Origin::default());
        [start, count as u32]
    }

    /// Takes over what was found of the pairs that were due. `radius`: points nearer than this are the same, m.
    pub(super) fn read(&mut self, world: &World, candidates: &mut [Candidate], due: &[u32], radius: f64) {
        for &k in due {
            let pair = &mut candidates[k as usize];
            if !pair.fresh {
                continue;
            }
            self.renew(world, pair, radius);
            let count = self.fresh.0.len();
            if count != pair.span[1] as usize {
                self.release(pair.span);
                pair.span = self.place(count);
            }
            let start = pair.span[0] as usize;
            self.manifolds[start..start + count].copy_from_slice(&self.fresh.0);
            self.origins[start..start + count].copy_from_slice(&self.fresh.1);
        }
        if self.holes.len() > 64 + self.manifolds.len() / 2 {
            self.close_up(candidates);
        }
    }

    /// Gives all new places, in the order of pairs.
    fn close_up(&mut self, candidates: &mut [Candidate]) {
        self.spare.0.clear();
        self.spare.1.clear();
        for pair in candidates {
            let old = span(pair, self.manifolds.len());
            pair.span = [self.spare.0.len() as u32, old.len() as u32];
            self.spare.0.extend_from_slice(&self.manifolds[old.clone()]);
            self.spare.1.extend_from_slice(&self.origins[old]);
        }
        self.holes.clear();
        std::mem::swap(&mut self.manifolds, &mut self.spare.0);
        std::mem::swap(&mut self.origins, &mut self.spare.1);
    }

    /// Manifolds of a pair that was looked at, with the impulses of those before.
    fn renew(&mut self, world: &World, pair: &Candidate, radius: f64) {
        self.fresh.0.clear();
        self.fresh.1.clear();
        if pair.count() == 0 {
            return;
        }
        let Some(([a, b], _)) = pair.sides(world) else { return };
        let surface = world.surface_pair(a, b);
        let (from_a, from_b) = (a.extent().body_from_shape, b.extent().body_from_shape);
        let b_from_a = from_b * pair.rest.found.a_from_b.inverse();
        let radii = [a, b].map(|c| rounding(c.shape()));
        let old = span(pair, self.manifolds.len());
        for (k, manifold) in pair.rest.found.manifolds.iter().enumerate() {
            let along = match pair.rest.bend(k) {
                Bend::Keep => manifold.normal,
                Bend::Along(m) => m,
                Bend::Drop => continue,
            };
            let (normal, of) = normal_of(world, pair, along, [a, b]);
            let [friction, restitution] = [surface.friction, surface.restitution];
            let mut made = SoftManifold::new(pair.bodies, normal, of, friction, restitution).rounded(radii);
            let mut origin = Origin { pieces: manifold.pieces, ..Origin::default() };
            let before = old.clone().find(|k| self.origins[*k].pieces == manifold.pieces);
            let known = before.map(|k| (&self.manifolds[k], &self.origins[k]));
            if let Some((m, _)) = known {
                made.inherit_friction(m);
            }
            for (k, point) in manifold.points().iter().enumerate() {
                let on_a = from_a.transform_point(point.point_a + manifold.normal * radii[0]);
                let on_b = b_from_a.transform_point(point.point_b - manifold.normal * radii[1]);
                origin.features[k] = point.features;
                let impulse = known.map_or(0.0, |(m, o)| inherited(m, o, point.features, on_a, radius));
                made.push(on_a, on_b, impulse);
                made.set_gap(k, point.separation);
            }
            self.fresh.0.push(made);
            self.fresh.1.push(origin);
        }
    }
}

impl Candidate {
    /// Number of manifolds that the soft solver has of the pair.
    fn count(&self) -> usize {
        if self.sensor.is_some() { 0 } else { self.rest.found.manifolds.len() }
    }
}

/// Radius of the ball that is rolled around a core, m.
pub(super) fn rounding(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere(s) => s.radius(),
        Shape::Capsule(c) => c.radius(),
        _ => 0.0,
    }
}

/// The normal of a manifold in the frame that it turns with: that of a side that is not rounded.
fn normal_of(world: &World, pair: &Candidate, normal: DVec3, sides: [&Collider; 2]) -> (DVec3, NormalOf) {
    let [a, b] = sides;
    let in_a = a.extent().body_from_shape.transform_vector(normal);
    if rounding(a.shape()) == 0.0 {
        (in_a, NormalOf::A)
    } else if rounding(b.shape()) == 0.0 {
        let in_b = pair.rest.found.a_from_b.inverse_transform_vector(normal);
        (b.extent().body_from_shape.transform_vector(in_b), NormalOf::B)
    } else {
        let pose = world.body_in_slot(pair.bodies[0]).map(|(_, body)| *body.state().pose());
        (pose.unwrap_or_default().transform_vector(in_a), NormalOf::World)
    }
}

fn span(pair: &Candidate, all: usize) -> std::ops::Range<usize> {
    let [start, count] = pair.span.map(|x| x as usize);
    start.min(all)..(start + count).min(all)
}

/// Impulse of the point of an earlier manifold that is the same as this one, N·s.
fn inherited(
    before: &SoftManifold,
    origin: &Origin,
    features: [FeatureId; 2],
    on_a: DVec3,
    radius: f64,
) -> f64 {
    let mut nearest = (radius * radius, 0.0);
    for ((point, named), &impulse) in before.points().zip(&origin.features).zip(before.impulses()) {
        if *named == features {
            return impulse;
        }
        let distance = (point[0] - on_a).length_squared();
        if distance <= nearest.0 {
            nearest = (distance, impulse);
        }
    }
    nearest.1
}

/// Finds the manifolds within reach of the next step.
pub(super) fn follow_patches(
    setup: &mut Setup,
    found: &mut Detection,
    soft: &mut SoftContacts,
    world: &World,
) -> Result<(), StepError> {
    let params = &setup.params;
    let horizon = Horizon::new(params, params.step(), true);
    let seen = found.detect.run(world, &mut setup.parts, &horizon)?;
    found.detect.released.drain(..).for_each(|span| soft.patches.release(span));
    let Detect { candidates, due, .. } = &mut found.detect;
    if seen.renewed {
        found.neighbours.judge(world, candidates, Some(due), [params.step(), params.slop]);
    }
    soft.patches.read(world, candidates, due, 10.0 * params.margin);
    Ok(())
}
