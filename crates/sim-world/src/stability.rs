//! How still a scene stands: offsets from where it was, and sums of increments.
//!
//! # Reference
//!
//! Fontijne (2000), section 3.11.1: sums of absolute increments of position and orientation, sampled at 10 Hz.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x, q | place of a body's frame and its rotation at a sample | m, - |
//! | φ(q) | angle of a rotation, 2 asin of the length of its vector part | rad |
//!
//! # Formula
//!
//! ```text
//! translation = Σ |x_k − x_{k−1}|        rotation = Σ φ(q_k q_{k−1}⁻¹)        over bodies and samples
//! largest offset = max |x_k − x_0|       turn about an axis n = Σ 2 n·vec(q_k q_{k−1}⁻¹)
//! ```
//!
//! # Cost
//!
//! Two quaternion products per body and sample.
//!
//! # Numerics
//!
//! The turn about an axis is right to the third order of the angle between samples, and counts whole revolutions.
//!
//! # Failure
//!
//! None: a body that was removed no longer counts.
//!
//! # Tested by
//!
//! `a_frozen_scene_has_none`, `what_moves_is_counted`

use crate::World;
use sim_math::{Pose, glam::DVec3, ops};
use sim_traits::BodyId;

/// Motion of a set of bodies that should stand still.
#[derive(Debug, Clone, Default)]
pub struct Stability {
    bodies: Vec<Followed>,
    translation: f64,
    rotation: f64,
    largest_offset: f64,
    samples: u32,
}

#[derive(Debug, Clone, Copy)]
struct Followed {
    id: BodyId,
    start: Pose,
    last: Pose,
    turned: DVec3,
}

impl Stability {
    /// Follows bodies from where they are now; those that are not there are left out.
    pub fn of(world: &World, bodies: impl IntoIterator<Item = BodyId>) -> Self {
        let follow = |id: BodyId| {
            let start = world.get(id)?.user_pose();
            Some(Followed { id, start, last: start, turned: DVec3::ZERO })
        };
        Self { bodies: bodies.into_iter().filter_map(follow).collect(), ..Self::default() }
    }

    /// Follows all free bodies.
    #[must_use]
    pub fn of_free_bodies(world: &World) -> Self {
        Self::of(world, world.bodies().filter(|(_, b)| b.is_free()).map(|(id, _)| id))
    }

    /// Takes a sample; ten per second are usual.
    pub fn sample(&mut self, world: &World) {
        self.samples += 1;
        for followed in &mut self.bodies {
            let Some(body) = world.get(followed.id) else { continue };
            let now = body.user_pose();
            let turn = now.rotation * followed.last.rotation.conjugate();
            let half = DVec3::new(turn.x, turn.y, turn.z) * 1.0_f64.copysign(turn.w);
            self.translation += (now.translation - followed.last.translation).length();
            self.rotation += 2.0 * ops::asin(half.length().min(1.0));
            let offset = (now.translation - followed.start.translation).length();
            self.largest_offset = self.largest_offset.max(offset);
            followed.turned += half * 2.0;
            followed.last = now;
        }
    }

    /// Sum of the ways between samples over all bodies, m.
    #[must_use]
    pub fn translation(&self) -> f64 {
        self.translation
    }

    /// Sum of the angles turned between samples over all bodies, rad.
    #[must_use]
    pub fn rotation(&self) -> f64 {
        self.rotation
    }

    /// Largest distance of any body at any sample from where it began, m.
    #[must_use]
    pub fn largest_offset(&self) -> f64 {
        self.largest_offset
    }

    /// Largest turn of any body about a world axis of unit length since the start, rad, of either sense.
    #[must_use]
    pub fn largest_turn(&self, axis: DVec3) -> f64 {
        self.bodies.iter().map(|b| b.turned.dot(axis).abs()).fold(0.0, f64::max)
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Body;
    use sim_math::{assert_close, glam::DQuat};
    use sim_traits::Sphere;

    fn scene() -> (World, BodyId) {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let id = world.add(Body::free().shape(Sphere::new(0.1).unwrap())).unwrap();
        (world, id)
    }

    // proves: FON-93
    #[test]
    fn a_frozen_scene_has_none() {
        let (world, _) = scene();
        let mut stability = Stability::of_free_bodies(&world);
        (0..10).for_each(|_| stability.sample(&world));
        assert_eq!((stability.translation(), stability.rotation(), stability.samples()), (0.0, 0.0, 10));
        assert_eq!((stability.largest_offset(), stability.largest_turn(DVec3::Z)), (0.0, 0.0));
    }

    #[test]
    fn what_moves_is_counted() {
        let (mut world, id) = scene();
        let mut stability = Stability::of(&world, [id]);
        // There and back ten times, and around the vertical all the while, past half a turn.
        for k in 1..=20 {
            let turn = DQuat::from_rotation_z(0.2 * f64::from(k)) * if k % 2 == 0 { 1.0 } else { -1.0 };
            world.teleport(id, Pose::new(DVec3::X * f64::from(k % 2), turn)).unwrap();
            stability.sample(&world);
        }
        assert_close!(stability.translation(), 20.0, rel = 1e-12);
        assert_close!(stability.rotation(), 4.0, rel = 1e-9);
        assert_close!(stability.largest_turn(DVec3::Z), 40.0 * ops::sin(0.1), rel = 1e-9);
        assert_eq!(stability.largest_offset(), 1.0);
        assert!(stability.largest_turn(DVec3::X) < 1e-12);
        world.remove(id).unwrap();
        stability.sample(&world);
        assert_close!(stability.translation(), 20.0, rel = 1e-12);
    }
}
