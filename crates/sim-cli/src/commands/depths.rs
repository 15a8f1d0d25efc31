//! How deep bodies overlap, asked of the bodies themselves.

use collision_narrowphase::default_chain;
use sim_math::Aabb;
use sim_traits::{Chain, NarrowPhase, PairCache};
use sim_world::World;

/// Looks at all pairs that meet. What a stepper asks on its way says nothing: a search for an impact looks beyond it.
#[derive(Debug)]
pub struct Depths {
    narrow: Chain,
}

impl Default for Depths {
    fn default() -> Self {
        Self { narrow: default_chain() }
    }
}

impl Depths {
    /// The deepest overlap now, m; 0 without one. A pair for which nobody knows a distance has none.
    pub fn look(&mut self, world: &World) -> f64 {
        let mut boxes: Vec<(Aabb, u32)> = Vec::new();
        for (id, collider) in world.colliders() {
            let Some(body) = world.get(collider.body()).filter(|_| !collider.is_sensor()) else { continue };
            boxes.push((collider.shape().aabb(&collider.world_pose(body)), id.index()));
        }
        boxes.sort_by(|a, b| a.0.min.x.total_cmp(&b.0.min.x).then(a.1.cmp(&b.1)));
        let mut deepest = 0.0_f64;
        for (k, (first, a)) in boxes.iter().enumerate() {
            for (second, b) in boxes[k + 1..].iter().take_while(|(other, _)| other.min.x <= first.max.x) {
                if first.overlaps(second) {
                    deepest = deepest.max(self.depth(world, *a, *b).unwrap_or(0.0));
                }
            }
        }
        deepest
    }

    fn depth(&mut self, world: &World, a: u32, b: u32) -> Option<f64> {
        let [(_, a), (_, b)] = [world.collider_in_slot(a)?, world.collider_in_slot(b)?];
        let [x, y] = [world.get(a.body())?, world.get(b.body())?];
        if !world.may_collide(a, b) {
            return None;
        }
        let a_from_b = a.world_pose(x).inverse_mul(&b.world_pose(y));
        let found = self.narrow.separation(a.shape(), b.shape(), &a_from_b, &mut PairCache::default());
        found.ok().map(|s| -s.distance)
    }
}
