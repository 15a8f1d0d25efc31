//! All free bodies as one vector of places and one of velocities.
//!
//! # Reference
//!
//! Cline (2002), sections 2.1.3 and 2.5.2.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x, q | centre of mass; orientation of the user's frame, x, y, z, w | m, - |
//! | ω, v | angular velocity; velocity of the centre of mass, world axes | rad/s, m/s |
//!
//! # Formula
//!
//! ```text
//! configuration (x q) body by body, seven numbers each;   twists (ω v), six each;   dx/dt = v, dq/dt = ½ (ω, 0) q
//! ```
//!
//! Bodies that are free and no links of trees, which have coordinates of their own, in the order of their slots, which is the order of
//! [`World::bodies`]; sleepers too.
//!
//! # Cost
//!
//! One pass over the bodies.
//!
//! # Numerics
//!
//! What is read and written back changes nothing, to the bit. A body at a new place is there to rounding.
//!
//! # Failure
//!
//! A vector of the wrong length, or a number that cannot be, naming the body: nothing is changed then.
//!
//! # Tested by
//!
//! `tests/configuration.rs`

use super::World;
use crate::{body::Body, body::check_velocity, error::WorldError};
use rigid_impulse::{BodyError, BodyState};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
};
use sim_traits::BodyId;

/// Numbers of a body in the configuration, and in the twists.
const PLACE: usize = 7;
const TWIST: usize = 6;

impl World {
    /// Centre of mass and orientation of all free bodies in the order of their slots, into `out`: seven numbers each, (x, y, z) in m and the quaternion (x, y, z, w) of
    /// the user's frame.
    ///
    /// ```
    /// use sim_traits::Sphere;
    /// use sim_world::{Body, World};
    ///
    /// let mut world = World::new([0.0, 0.0, -9.81])?;
    /// let ball = world.add(Body::free().shape(Sphere::new(0.1)?).at([1.0, 2.0, 3.0]))?;
    /// let (mut q, mut v) = (Vec::new(), Vec::new());
    /// world.configuration(&mut q);
    /// world.twists(&mut v);
    /// assert_eq!(q, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]);
    /// v[5] = -1.0; // along z
    /// world.set_twists(&v)?;
    /// assert_eq!(world[ball].velocity().linear.z, -1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn configuration(&self, out: &mut Vec<f64>) {
        out.clear();
        self.every_free_body().for_each(|(_, body)| out.extend(place_of(body)));
    }

    /// Angular velocity (rad/s) and velocity of the centre of mass (m/s) of all free bodies in the order of their slots, world axes, into `out`: six numbers each.
    pub fn twists(&self, out: &mut Vec<f64>) {
        out.clear();
        self.every_free_body().for_each(|(_, body)| out.extend(body.state().velocity.to_array()));
    }

    /// Puts all free bodies where the configuration says, velocities unchanged. Bodies whose numbers are those that they have already are not touched.
    ///
    /// # Errors
    /// A vector of the wrong length; a number that is not finite or an orientation that is none, naming the body. Nothing is changed then.
    pub fn set_configuration(&mut self, q: &[f64]) -> Result<(), WorldError> {
        let changed = self.changed("configuration", q, PLACE, place_of)?;
        let mut states = Vec::with_capacity(changed.len());
        for &(id, k) in &changed {
            let named = |source: BodyError| WorldError::Body { body: id, source };
            let body = self.body(id)?;
            let q = &q[PLACE * k..PLACE * (k + 1)];
            let rotation = DQuat::from_xyzw(q[3], q[4], q[5], q[6]);
            let user = Pose::new(DVec3::new(q[0], q[1], q[2]), rotation);
            BodyState::at_rest(user).map_err(named)?;
            let user_from_body = body.user_pose().rotation.inverse() * body.state().pose().rotation;
            let mut state = *body.state();
            state
                .set_pose(Pose::new(user.translation, rotation * user_from_body).renormalized())
                .map_err(named)?;
            states.push((id, state));
        }
        for (id, state) in states {
            self.move_to(id, state)?;
        }
        Ok(())
    }

    /// Gives all free bodies the velocities of the vector. Bodies whose numbers are those that they have already are not touched.
    ///
    /// # Errors
    /// A vector of the wrong length; a number that is not finite, naming the body. Nothing is changed then.
    pub fn set_twists(&mut self, v: &[f64]) -> Result<(), WorldError> {
        let changed = self.changed("twists", v, TWIST, |body| body.state().velocity.to_array())?;
        let twist = |k: usize| {
            let v = &v[TWIST * k..TWIST * (k + 1)];
            Motion::new(DVec3::new(v[0], v[1], v[2]), DVec3::new(v[3], v[4], v[5]))
        };
        for &(id, k) in &changed {
            check_velocity(twist(k)).map_err(|source| WorldError::Body { body: id, source })?;
        }
        changed.into_iter().try_for_each(|(id, k)| self.set_velocity(id, twist(k)))
    }

    fn every_free_body(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        self.bodies().filter(|(_, body)| body.is_free() && body.tree().is_none())
    }

    /// The bodies whose numbers differ from those of a vector of `size` numbers each, with their places in it.
    fn changed<const N: usize>(
        &self,
        what: &'static str,
        numbers: &[f64],
        size: usize,
        of: impl Fn(&Body) -> [f64; N],
    ) -> Result<Vec<(BodyId, usize)>, WorldError> {
        let (expected, got) = (size * self.every_free_body().count(), numbers.len());
        if expected != got {
            return Err(WorldError::WrongLength { what, expected, got });
        }
        let bits = |x: &f64| x.to_bits();
        let differs = |(k, (id, body)): (usize, (BodyId, &Body))| {
            let given = numbers[size * k..size * (k + 1)].iter().map(bits);
            (!given.eq(of(body).iter().map(bits))).then_some((id, k))
        };
        Ok(self.every_free_body().enumerate().filter_map(differs).collect())
    }
}

/// Centre of mass, orientation of the user's frame.
fn place_of(body: &Body) -> [f64; PLACE] {
    let ([x, y, z], q) = (body.state().pose().translation.to_array(), body.user_pose().rotation);
    [x, y, z, q.x, q.y, q.z, q.w]
}
