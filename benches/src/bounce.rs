//! The bounce world: bodies that fly about in a cube and turn away from each other when they penetrate.
//!
//! After Fontijne (2000), section 2.6. Nothing keeps the bodies apart, on purpose: it exercises broad and narrow
//! phase, not dynamics. The contact test is a closure: box overlap by default, a narrow phase where one exists.
//! Each step: boxes for the way of the step, broad phase, motion, contact test on all pairs, new random
//! velocities (inwards) for bodies outside the world and (apart) for bodies that penetrate.
//!
//! Units: metres, steps as seconds say: displacement per step is velocity times `step`.

use crate::boxes::SplitMix64;
use sim_math::{Aabb, glam::DVec3, ops};
use sim_traits::{BroadPhase, BroadPhaseError, Pair, ProxyId, ProxyKind};

/// One body: a box that does not turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Centre, metres.
    pub center: DVec3,
    /// Half extents, metres.
    pub half: DVec3,
    /// Metres per second.
    pub velocity: DVec3,
    /// Added to the vertical velocity in each step, either sign, metres per second.
    pub gravity: f64,
}

impl Body {
    /// Its box, metres.
    #[must_use]
    pub fn aabb(&self) -> Aabb {
        Aabb::from_center_half_extents(self.center, self.half)
    }
}

/// The world and its counters.
#[derive(Debug, Clone)]
pub struct Bounce {
    bodies: Vec<Body>,
    side: f64,
    step: f64,
    random: SplitMix64,
    ids: Vec<ProxyId>,
    boxes: Vec<Aabb>,
    pairs: Vec<Pair>,
    /// Contact tests since construction.
    pub tests: u64,
    /// Penetrations since construction.
    pub penetrations: u64,
}

impl Bounce {
    /// `n` bodies of half extents 0.3 m to 0.6 m in a cube of that side (metres), moved by `step` seconds a time.
    #[must_use]
    pub fn new(n: usize, side: f64, step: f64, seed: u64) -> Self {
        let mut random = SplitMix64(seed);
        let bodies = (0..n)
            .map(|_| Body {
                center: random.vec3(0.0, side),
                half: random.vec3(0.3, 0.6),
                velocity: random.vec3(-1.0, 1.0),
                gravity: random.range(-0.002, 0.002),
            })
            .collect();
        let ids = (0..n as u32).map(ProxyId).collect();
        Self {
            bodies,
            side,
            step,
            random,
            ids,
            boxes: Vec::new(),
            pairs: Vec::new(),
            tests: 0,
            penetrations: 0,
        }
    }

    /// World-size optimiser: side (metres) at which a body has about so many close pairs, by bisection on the
    /// expected number, so that a world with more bodies is larger but no denser.
    #[must_use]
    pub fn world_side(n: usize, close_pairs_per_body: f64) -> f64 {
        // Two boxes are close when their centres are within the sum of sizes and a tile: about 2.5 m a side.
        let expected = |side: f64| 0.5 * n as f64 * ops::powi(2.5 / side, 3).min(1.0);
        let (mut low, mut high) = (1.0, 1e6);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if expected(middle) > close_pairs_per_body { low = middle } else { high = middle }
        }
        high
    }

    /// Bodies now.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Inserts all bodies.
    ///
    /// # Errors
    /// What the broad phase refuses.
    pub fn insert_into(&self, broad: &mut dyn BroadPhase) -> Result<(), BroadPhaseError> {
        for (&id, body) in self.ids.iter().zip(&self.bodies) {
            broad.insert(id, ProxyKind::Moving, &body.aabb())?;
        }
        Ok(())
    }

    /// One step. `touch` says whether two bodies penetrate.
    ///
    /// # Errors
    /// What the broad phase refuses.
    pub fn step(
        &mut self,
        broad: &mut dyn BroadPhase,
        touch: &mut dyn FnMut(&Body, &Body) -> bool,
    ) -> Result<(), BroadPhaseError> {
        self.boxes.clear();
        for body in &self.bodies {
            let moved = Body { center: body.center + body.velocity * self.step, ..*body };
            self.boxes.push(body.aabb().merged(&moved.aabb()));
        }
        broad.update(&self.ids, &self.boxes)?;
        broad.pairs(&mut self.pairs);
        // The order of pairs must not matter for the run.
        self.pairs.sort_unstable();
        for body in &mut self.bodies {
            body.center += body.velocity * self.step;
            body.velocity.z += body.gravity;
        }
        for i in 0..self.pairs.len() {
            let (a, b) = (self.pairs[i].a.index(), self.pairs[i].b.index());
            self.tests += 1;
            if touch(&self.bodies[a], &self.bodies[b]) {
                self.penetrations += 1;
                let apart = (self.bodies[a].center - self.bodies[b].center).normalize_or(DVec3::X);
                for (body, sign) in [(a, 1.0), (b, -1.0)] {
                    let v = self.random.vec3(-1.0, 1.0);
                    let along = v.dot(apart) * sign;
                    self.bodies[body].velocity = if along < 0.0 { v - 2.0 * along * sign * apart } else { v };
                }
            }
        }
        for body in &mut self.bodies {
            for axis in 0..3 {
                if body.center[axis] < 0.0 || body.center[axis] > self.side {
                    let inwards = if body.center[axis] < 0.0 { 1.0 } else { -1.0 };
                    body.velocity = self.random.vec3(-1.0, 1.0);
                    body.velocity[axis] = inwards * body.velocity[axis].abs();
                }
            }
        }
        Ok(())
    }
}

/// The contact test that needs no narrow phase.
#[must_use]
pub fn boxes_touch(a: &Body, b: &Body) -> bool {
    a.aabb().overlaps(&b.aabb())
}

#[cfg(test)]
mod tests {
    use super::*;
    use collision_broadphase::{
        BruteForce, CoherentHash, CoherentHashParams, ColumnSweep, PlainHash, SweepAndPrune,
    };

    fn run(mut broad: Box<dyn BroadPhase>) -> (Vec<Body>, u64, u64) {
        let mut world = Bounce::new(40, 6.0, 0.05, 3);
        world.insert_into(broad.as_mut()).unwrap();
        for _ in 0..2000 {
            world.step(broad.as_mut(), &mut boxes_touch).unwrap();
        }
        (world.bodies.clone(), world.penetrations, world.tests)
    }

    // proves: FON-29
    #[test]
    fn with_and_without_broad_phase_the_penetrations_are_the_same() {
        let (bodies, penetrations, tests) = run(Box::new(BruteForce::all_pairs()));
        assert!(penetrations > 1000, "{penetrations}");
        let others: [Box<dyn BroadPhase>; 4] = [
            Box::new(CoherentHash::default()),
            Box::new(ColumnSweep::default()),
            Box::new(PlainHash::default()),
            Box::new(SweepAndPrune::default()),
        ];
        for broad in others {
            let (b, p, t) = run(broad);
            assert_eq!((&b, p), (&bodies, penetrations));
            assert!(t < tests / 4, "{t} of {tests} tests");
        }
    }

    #[test]
    fn pairs_created_grow_like_the_number_of_bodies() {
        let created = |n: usize| {
            let side = Bounce::world_side(n, 1.0);
            let mut world = Bounce::new(n, side, 0.05, 5);
            let mut hash = CoherentHash::new(CoherentHashParams::default());
            world.insert_into(&mut hash).unwrap();
            for _ in 0..300 {
                world.step(&mut hash, &mut boxes_touch).unwrap();
            }
            hash.report().pairs_created as f64 / n as f64
        };
        let per_body: Vec<f64> = [64, 256, 1024, 4096].map(created).into();
        let (low, high) = per_body.iter().fold((f64::MAX, 0.0_f64), |(l, h), &x| (l.min(x), h.max(x)));
        assert!(high < 2.0 * low, "{per_body:?}");
    }
}
