//! How still bodies stand: Fontijne's measures of a scene at rest (2000, section 3.11.1).
//!
//! # Formula
//!
//! ```text
//! offset     mean over free bodies of |x(end) - x(start)|
//! travelled  mean over free bodies of the sum over tenths of a second of |x(t) - x(t - 0.1 s)|
//! turned     the same of the angle between two orientations
//! ```

use sim_math::{Pose, ops};
use sim_traits::BodyId;
use sim_world::World;

/// Time between two samples, s.
const PERIOD: f64 = 0.1;

/// What was seen so far.
#[derive(Debug, Clone, Default)]
pub struct Stability {
    start: Vec<(BodyId, Pose)>,
    last: Vec<Pose>,
    next: f64,
    travelled: f64,
    turned: f64,
}

impl Stability {
    /// Looks at the free bodies of a world.
    #[must_use]
    pub fn new(world: &World) -> Self {
        let start: Vec<(BodyId, Pose)> =
            world.bodies().filter(|(_, b)| b.is_free()).map(|(id, b)| (id, b.user_pose())).collect();
        let last = start.iter().map(|(_, pose)| *pose).collect();
        Self { start, last, next: world.time() + PERIOD, ..Self::default() }
    }

    /// Takes a sample if it is time for one.
    pub fn look(&mut self, world: &World) {
        if world.time() < self.next - 1e-9 {
            return;
        }
        self.next += PERIOD;
        for ((id, _), last) in self.start.iter().zip(&mut self.last) {
            let Some(body) = world.get(*id) else { continue };
            let pose = body.user_pose();
            self.travelled += pose.translation.distance(last.translation);
            let dot = pose.rotation.dot(last.rotation);
            let sine = (pose.rotation - last.rotation * dot).length();
            self.turned += 2.0 * ops::atan2(sine, dot.abs());
            *last = pose;
        }
    }

    /// Mean offset (m), distance travelled (m) and angle turned (rad) of a free body.
    #[must_use]
    pub fn result(&self, world: &World) -> [f64; 3] {
        let count = self.start.len().max(1) as f64;
        let offset = |(id, start): &(BodyId, Pose)| {
            world.get(*id).map_or(0.0, |b| b.user_pose().translation.distance(start.translation))
        };
        let offset: f64 = self.start.iter().map(offset).sum();
        [offset / count, self.travelled / count, self.turned / count]
    }
}
