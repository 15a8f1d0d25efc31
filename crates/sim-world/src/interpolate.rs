//! Poses between two times, for drawing at a rate of one's own.

use crate::World;
use sim_math::Pose;
use sim_traits::BodyId;

/// The user poses of all bodies at the last two captures.
///
/// ```
/// use sim_traits::Sphere;
/// use sim_world::{Body, PoseHistory, World};
///
/// let mut world = World::new([0.0; 3])?;
/// let ball = world.add(Body::free().shape(Sphere::new(0.1)?).moving([2.0, 0.0, 0.0]))?;
/// let mut history = PoseHistory::default();
/// history.capture(&world);
/// sim_world::testkit::as_stepper(&mut world, |world| world.set_time(1.0))?; // or a stepper, in steps
/// history.capture(&world);
/// let pose = history.pose(ball, 0.25).ok_or("gone")?;
/// assert_eq!(pose.translation.x, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PoseHistory {
    /// By slot: whose pose, before and now.
    poses: Vec<Option<(BodyId, Pose, Pose)>>,
    times: [f64; 2],
}

impl PoseHistory {
    /// Takes over the world's present poses; what was present becomes past. A body that is new has stood still.
    pub fn capture(&mut self, world: &World) {
        self.times = [self.times[1], world.time()];
        self.poses.resize(world.body_slots(), None);
        for (slot, entry) in self.poses.iter_mut().enumerate() {
            *entry = world.body_in_slot(slot as u32).map(|(id, body)| {
                let now = body.user_pose();
                let past = entry.filter(|e| e.0 == id).map_or(now, |e| e.2);
                (id, past, now)
            });
        }
    }

    /// Times of the last two captures, s.
    #[must_use]
    pub fn times(&self) -> [f64; 2] {
        self.times
    }

    /// Pose of a body at a share of the way from the last but one capture (0) to the last (1): straight, and turning the
    /// short way at constant speed. `None` for a body that was not there.
    #[must_use]
    pub fn pose(&self, id: BodyId, share: f64) -> Option<Pose> {
        let &(owner, past, now) = self.poses.get(id.index() as usize)?.as_ref()?;
        (owner == id).then(|| between(&past, &now, share))
    }

    /// Poses of all bodies at a share of the way, by slot.
    pub fn poses(&self, share: f64) -> impl Iterator<Item = (BodyId, Pose)> + '_ {
        self.poses.iter().flatten().map(move |(id, past, now)| (*id, between(past, now, share)))
    }
}

fn between(past: &Pose, now: &Pose, share: f64) -> Pose {
    // Both ends are exact: what is drawn after the last capture is what the world says.
    if share <= 0.0 {
        return *past;
    }
    if share >= 1.0 {
        return *now;
    }
    let translation = past.translation + (now.translation - past.translation) * share;
    Pose::new(translation, past.rotation.slerp(now.rotation, share).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Body;
    use sim_math::glam::{DQuat, DVec3};
    use sim_traits::Sphere;

    #[test]
    fn a_turning_body_is_drawn_on_its_way_and_a_new_one_where_it_is() {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let ball = || Body::free().shape(Sphere::new(0.1).unwrap());
        let a = world.add(ball().moving([1.0, 0.0, 0.0]).spinning([0.0, 0.0, 1.0])).unwrap();
        let mut history = PoseHistory::default();
        history.capture(&world);
        crate::testkit::as_stepper(&mut world, |world| world.set_time(0.5)).unwrap();
        let b = world.add(ball().at([0.0, 5.0, 0.0])).unwrap();
        history.capture(&world);
        assert_eq!(history.times(), [0.0, 0.5]);
        let middle = history.pose(a, 0.5).unwrap();
        assert!((middle.translation - DVec3::X * 0.25).length() < 1e-15);
        assert!(middle.rotation.dot(DQuat::from_rotation_z(0.25)).abs() > 1.0 - 1e-14);
        assert_eq!(history.pose(a, 1.0).unwrap(), world[a].user_pose());
        assert_eq!(history.pose(b, 0.3).unwrap().translation, DVec3::Y * 5.0);
        assert_eq!(history.poses(0.5).count(), 2);
        // A slot with another tenant is another body.
        world.remove(a).unwrap();
        let c = world.add(ball().at([9.0, 0.0, 0.0])).unwrap();
        history.capture(&world);
        assert_eq!(history.pose(a, 0.5), None);
        assert_eq!(history.pose(c, 0.0).unwrap().translation.x, 9.0);
    }
}
