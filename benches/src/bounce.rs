//! The bounce world: bodies that fly about in a cube and turn away from each other when they penetrate.
//!
//! After Fontijne (2000), section 2.6. Nothing keeps the bodies apart, on purpose: it exercises broad and narrow
//! phase, not dynamics. The contact test is a closure: overlap of boxes, or V-Clip as in the tests.
//! Each step: (1) boxes for the way of the step, (2) broad phase, (3) motion, gravity factor, (4) contact test on
//! all pairs, (5) new random velocities (inwards) for bodies outside the world and (6) (apart) for bodies that penetrate.
//!
//! Units: metres, steps as seconds say: displacement per step is velocity times `step`.

use crate::boxes::SplitMix64;
use sim_math::{
    Aabb, Pose,
    glam::{DQuat, DVec3},
    ops,
};
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind};

/// Kinds of primitives; what they are is up to the contact test.
pub const KINDS: usize = 5;

/// The three sizes: radii of bounding spheres, metres.
pub const RADII: [f64; 3] = [0.3, 0.45, 0.6];

/// One body: a primitive that fits into a sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Which primitive, below [`KINDS`].
    pub kind: usize,
    /// Which of [`RADII`].
    pub size: usize,
    /// Centre (metres) and orientation in the world.
    pub pose: Pose,
    /// Metres per second.
    pub velocity: DVec3,
    /// Radians per second, world axes.
    pub spin: DVec3,
    /// Added to the vertical velocity in each step, either sign, metres per second.
    pub gravity: f64,
}

impl Body {
    fn random(side: f64, random: &mut SplitMix64) -> Self {
        let pick = |random: &mut SplitMix64, count: usize| (random.unit() * count as f64) as usize;
        let center = random.vec3(0.0, side);
        let v = random.vec3(-1.0, 1.0);
        let rotation = DQuat::from_xyzw(v.x, v.y, v.z, random.range(0.1, 1.0)).normalize();
        Self {
            kind: pick(random, KINDS),
            size: pick(random, RADII.len()),
            pose: Pose::new(center, rotation),
            velocity: random.vec3(-1.0, 1.0),
            spin: random.vec3(-1.0, 1.0),
            gravity: random.range(-0.002, 0.002),
        }
    }

    /// Box around it in any orientation, metres.
    #[must_use]
    pub fn aabb(&self) -> Aabb {
        Aabb::from_center_half_extents(self.pose.translation, DVec3::splat(RADII[self.size]))
    }

    fn advance(&mut self, step: f64) {
        self.pose.translation += self.velocity * step;
        let turn = 0.5 * step * self.spin;
        self.pose.rotation = (DQuat::from_xyzw(turn.x, turn.y, turn.z, 1.0) * self.pose.rotation).normalize();
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
    /// `n` bodies of random kinds and sizes in a cube of that side (metres), moved by `step` seconds a time.
    #[must_use]
    pub fn new(n: usize, side: f64, step: f64, seed: u64) -> Self {
        let mut random = SplitMix64(seed);
        let bodies = (0..n).map(|_| Body::random(side, &mut random)).collect();
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

    /// Side (metres) at which about so many boxes are close to one, for boxes spread evenly: half of n · (2.5 m / side)³.
    /// Two boxes are close when their centres are within the sum of sizes and a tile, about 2.5 m a side.
    #[must_use]
    pub fn world_side(n: usize, close_pairs_per_body: f64) -> f64 {
        2.5 * ops::cbrt(0.5 * n as f64 / close_pairs_per_body).max(1.0)
    }

    /// World-size optimiser: side (metres) at which `created` pairs begin for each body in so many steps, so that
    /// the work for a body does not depend on how many there are. Runs the world and corrects the side by the third
    /// root of what it finds, until that is within 3 %, eight times at most.
    ///
    /// # Errors
    /// What the broad phase refuses.
    pub fn optimal_side(
        n: usize,
        created: f64,
        steps: usize,
        make: &dyn Fn() -> Box<dyn BroadPhase>,
    ) -> Result<f64, BroadPhaseError> {
        let mut side = Self::world_side(n, 1.0);
        for _ in 0..8 {
            let ratio = Self::pairs_created(n, side, steps, 5, make)? / created;
            if (ratio - 1.0).abs() < 0.03 {
                break;
            }
            // At most doubled or halved: a world without any pair says little.
            side *= ops::cbrt(ratio.clamp(0.125, 8.0));
        }
        Ok(side)
    }

    /// Pairs that begin for each body in so many steps of 0.05 s, not counting those of the start.
    ///
    /// # Errors
    /// What the broad phase refuses.
    pub fn pairs_created(
        n: usize,
        side: f64,
        steps: usize,
        seed: u64,
        make: &dyn Fn() -> Box<dyn BroadPhase>,
    ) -> Result<f64, BroadPhaseError> {
        let mut world = Self::new(n, side, 0.05, seed);
        let mut broad = make();
        world.insert_into(broad.as_mut())?;
        let mut changes = PairChanges::default();
        broad.pair_changes(&mut changes);
        let mut begun = 0;
        for _ in 0..steps {
            world.step(broad.as_mut(), &mut boxes_touch)?;
            broad.pair_changes(&mut changes);
            begun += changes.begun.len();
        }
        Ok(begun as f64 / n as f64)
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

    /// One step. `touch` says whether the two bodies of a pair penetrate.
    ///
    /// # Errors
    /// What the broad phase refuses.
    pub fn step(
        &mut self,
        broad: &mut dyn BroadPhase,
        touch: &mut dyn FnMut(Pair, &Body, &Body) -> bool,
    ) -> Result<(), BroadPhaseError> {
        self.boxes.clear();
        for body in &self.bodies {
            let mut moved = *body;
            moved.pose.translation += body.velocity * self.step;
            self.boxes.push(body.aabb().merged(&moved.aabb()));
        }
        broad.update(&self.ids, &self.boxes)?;
        broad.pairs(&mut self.pairs);
        // The order of pairs must not matter for the run.
        self.pairs.sort_unstable();
        for body in &mut self.bodies {
            body.advance(self.step);
            body.velocity.z += body.gravity;
        }
        for i in 0..self.pairs.len() {
            let pair = self.pairs[i];
            let (a, b) = (pair.a.index(), pair.b.index());
            self.tests += 1;
            if touch(pair, &self.bodies[a], &self.bodies[b]) {
                self.penetrations += 1;
                let way = self.bodies[a].pose.translation - self.bodies[b].pose.translation;
                let apart = way.normalize_or(DVec3::X);
                for (body, sign) in [(a, 1.0), (b, -1.0)] {
                    let v = self.random.vec3(-1.0, 1.0);
                    let along = v.dot(apart) * sign;
                    self.bodies[body].velocity = if along < 0.0 { v - 2.0 * along * sign * apart } else { v };
                    self.bodies[body].spin = self.random.vec3(-1.0, 1.0);
                }
            }
        }
        for body in &mut self.bodies {
            for axis in 0..3 {
                let x = body.pose.translation[axis];
                if x < 0.0 || x > self.side {
                    let inwards = if x < 0.0 { 1.0 } else { -1.0 };
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
pub fn boxes_touch(_: Pair, a: &Body, b: &Body) -> bool {
    a.aabb().overlaps(&b.aabb())
}

#[cfg(test)]
mod tests;
