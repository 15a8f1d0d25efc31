//! One rigid body: its state, and motion without contact.
//!
//! # Reference
//!
//! Mirtich (1996), appendices A.3 and A.4; Fontijne (2000), section 3.3.1 with its quaternion matrices corrected.
//!
//! # Symbols
//!
//! | code | paper | meaning | frame | unit |
//! |---|---|---|---|---|
//! | `moments` | I | principal moments about the centre of mass | body | kg·m² |
//! | `omega_body` | ω | angular velocity | body | rad/s |
//! | `user_from_body` | - | body frame (centre of mass, principal axes) in the frame the user modelled in | - | - |
//!
//! # Formula
//!
//! ```text
//! r(t) = r₀ + v₀ t + ½ g t²,  v(t) = v₀ + g t
//! I ω̇ = τ − ω × I ω           q̇ = ½ q ∘ (0, ω)      (ω in the body frame)
//! Δv = p/m,  Δω = I_w⁻¹ (r × p)
//! ```
//!
//! # Cost
//!
//! A ballistic step of any length is one step of [`TorqueFreeBody`], about 1200 instructions when short; no
//! allocation.
//!
//! # Numerics
//!
//! Translation and rotation are exact up to rounding, whatever the length of the step. The angular momentum, which
//! is constant in the world, gives ω at the end, so that it is conserved to rounding.
//!
//! # Failure
//!
//! [`BodyError`] for a mass, moment or pose that no body has.
//!
//! # Tested by
//!
//! `a_thrown_body_follows_the_parabola_exactly`, `a_free_symmetric_top_precesses`,
//! `a_spinning_plate_flips_and_keeps_momentum_and_energy`, `impulses_change_velocities_as_newton_says`

use crate::{
    error::BodyError,
    model::{BodyKind, BodyModel, PrincipalMass},
};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    integrate::rotation::{TorqueFreeBody, rotate_world},
    spatial::Motion,
};

/// Where a body is and how it moves: pose of its centre of mass with principal axes, and velocity there in world axes. What does not change is in a
/// [`BodyModel`], which whoever asks for more has to show.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyState {
    world_from_body: Pose,
    /// Angular and linear velocity at the centre of mass, world axes, rad/s and m/s.
    pub velocity: Motion,
}

impl BodyState {
    /// At rest, with the centre of mass at the origin of `world_from_body`.
    ///
    /// # Errors
    /// The pose is not finite or its quaternion not of unit length.
    pub fn at_rest(world_from_body: Pose) -> Result<Self, BodyError> {
        check_pose("pose", &world_from_body)?;
        Ok(Self { world_from_body, velocity: Motion::ZERO })
    }

    /// Pose of the centre of mass with principal axes.
    #[inline]
    #[must_use]
    pub fn pose(&self) -> &Pose {
        &self.world_from_body
    }

    /// Places the centre of mass.
    ///
    /// # Errors
    /// As [`BodyState::at_rest`].
    pub fn set_pose(&mut self, world_from_body: Pose) -> Result<(), BodyError> {
        check_pose("pose", &world_from_body)?;
        self.world_from_body = world_from_body;
        Ok(())
    }

    /// Pose of the frame that the user modelled in.
    #[must_use]
    pub fn user_pose(&self, model: &BodyModel) -> Pose {
        self.world_from_body * model.user_from_body().inverse()
    }

    /// Inverse inertia in world axes, or zero, 1/(kg·m²).
    #[inline]
    #[must_use]
    pub fn inverse_inertia(&self, model: &BodyModel) -> DMat3 {
        model.inverse_inertia(self.world_from_body.rotation)
    }

    /// Velocity of the body point at a world point, m/s.
    #[inline]
    #[must_use]
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.velocity.velocity_at(point - self.world_from_body.translation)
    }

    /// Applies an impulse (N·s, world axes) at a world point; bodies that are not free ignore it.
    #[inline]
    pub fn apply_impulse(&mut self, model: &BodyModel, point: DVec3, impulse: DVec3) {
        let arm = point - self.world_from_body.translation;
        self.velocity.linear += impulse * model.inverse_mass();
        self.velocity.angular += self.inverse_inertia(model) * arm.cross(impulse);
    }

    /// Kinetic energy, J; zero for bodies that are not free.
    #[must_use]
    pub fn kinetic_energy(&self, model: &BodyModel) -> f64 {
        match model.kind() {
            BodyKind::Free(m) => {
                let omega_body = self.world_from_body.inverse_transform_vector(self.velocity.angular);
                0.5 * m.mass() * self.velocity.linear.length_squared()
                    + 0.5 * (m.moments() * omega_body).dot(omega_body)
            }
            BodyKind::Fixed | BodyKind::Scripted => 0.0,
        }
    }

    /// Angular momentum about the centre of mass, world axes, kg·m²/s; zero for bodies that are not free.
    #[must_use]
    pub fn spin(&self, model: &BodyModel) -> DVec3 {
        match model.kind() {
            BodyKind::Free(m) => m.inertia(self.world_from_body.rotation) * self.velocity.angular,
            BodyKind::Fixed | BodyKind::Scripted => DVec3::ZERO,
        }
    }

    /// Moves a free body by `dt` seconds under uniform gravity (m/s²), a scripted one along its present velocity.
    ///
    /// # Errors
    /// `dt` or gravity is not finite, or the angular velocity is not; the state is then unchanged.
    pub fn advance(&mut self, model: &BodyModel, dt: f64, gravity: DVec3) -> Result<(), BodyError> {
        if !dt.is_finite() {
            return Err(BodyError::NonFinite { what: "time step", value: dt });
        }
        if let Some(value) = gravity.to_array().into_iter().find(|x| !x.is_finite()) {
            return Err(BodyError::NonFinite { what: "gravity", value });
        }
        let v = self.velocity.linear;
        match model.kind() {
            BodyKind::Fixed => {}
            BodyKind::Scripted => {
                self.world_from_body.translation += v * dt;
                self.world_from_body.rotation =
                    rotate_world(self.world_from_body.rotation, self.velocity.angular, dt);
            }
            BodyKind::Free(m) => {
                self.advance_rotation(m, dt)?;
                self.world_from_body.translation += v * dt + gravity * (0.5 * dt * dt);
                self.velocity.linear = v + gravity * dt;
            }
        }
        Ok(())
    }

    fn advance_rotation(&mut self, m: &PrincipalMass, dt: f64) -> Result<(), BodyError> {
        if self.velocity.angular == DVec3::ZERO {
            return Ok(());
        }
        let start = self.world_from_body.rotation;
        let spin = m.inertia(start) * self.velocity.angular;
        let omega_body = start.conjugate() * self.velocity.angular;
        let (rotation, _) = TorqueFreeBody::new(m.moments())?.step(start, omega_body, dt)?;
        self.world_from_body.rotation = rotation;
        // L is constant in the world: take ω from it.
        self.velocity.angular = rotation * ((rotation.conjugate() * spin) / m.moments());
        Ok(())
    }
}

/// A body by itself: what it is and where it is. A world keeps the two apart.
///
/// ```
/// use rigid_impulse::{Body, PrincipalMass};
/// use sim_math::{Pose, glam::DVec3};
///
/// let mut ball = Body::free(PrincipalMass::ball(1.0, 0.1)?, Pose::IDENTITY)?;
/// ball.state.velocity.linear = DVec3::new(3.0, 0.0, 4.0);
/// ball.advance(0.5, DVec3::new(0.0, 0.0, -10.0))?;
/// assert_eq!(ball.pose().translation, DVec3::new(1.5, 0.0, 0.75));
/// # Ok::<(), rigid_impulse::BodyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Body {
    /// What does not change.
    pub model: BodyModel,
    /// What does.
    pub state: BodyState,
}

impl Body {
    /// A free body whose centre of mass is at the origin of `world_from_body`, with principal axes.
    ///
    /// # Errors
    /// The pose is not finite or its quaternion not of unit length.
    pub fn free(mass: PrincipalMass, world_from_body: Pose) -> Result<Self, BodyError> {
        Self::new(BodyKind::Free(mass), world_from_body)
    }

    /// A body that never moves.
    ///
    /// # Errors
    /// As [`Body::free`].
    pub fn fixed(world_from_body: Pose) -> Result<Self, BodyError> {
        Self::new(BodyKind::Fixed, world_from_body)
    }

    /// A body that follows a script; set its pose and velocity as time goes on.
    ///
    /// # Errors
    /// As [`Body::free`].
    pub fn scripted(world_from_body: Pose) -> Result<Self, BodyError> {
        Self::new(BodyKind::Scripted, world_from_body)
    }

    fn new(kind: BodyKind, world_from_body: Pose) -> Result<Self, BodyError> {
        Ok(Self { model: BodyModel::new(kind), state: BodyState::at_rest(world_from_body)? })
    }

    /// The same body, whose user models in another frame: `user_from_body` is the pose of the centre of mass with
    /// principal axes in that frame. The user's frame is where it was: at `world_from_body * body_from_user`.
    ///
    /// # Errors
    /// As [`Body::free`].
    pub fn with_user_frame(mut self, user_from_body: Pose) -> Result<Self, BodyError> {
        self.model = self.model.with_user_frame(user_from_body)?;
        Ok(self)
    }

    /// What the body does.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> &BodyKind {
        self.model.kind()
    }

    /// Pose of the centre of mass with principal axes.
    #[inline]
    #[must_use]
    pub fn pose(&self) -> &Pose {
        self.state.pose()
    }

    /// Pose of the frame that the user modelled in.
    #[must_use]
    pub fn user_pose(&self) -> Pose {
        self.state.user_pose(&self.model)
    }

    /// 1/m, or zero for bodies that impulses do not move, 1/kg.
    #[inline]
    #[must_use]
    pub fn inverse_mass(&self) -> f64 {
        self.model.inverse_mass()
    }

    /// Inverse inertia in world axes, or zero, 1/(kg·m²).
    #[inline]
    #[must_use]
    pub fn inverse_inertia(&self) -> DMat3 {
        self.state.inverse_inertia(&self.model)
    }

    /// Velocity of the body point at a world point, m/s. A fixed body has none.
    #[inline]
    #[must_use]
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        match self.model.kind() {
            BodyKind::Fixed => DVec3::ZERO,
            BodyKind::Free(_) | BodyKind::Scripted => self.state.velocity_at(point),
        }
    }

    /// As [`BodyState::apply_impulse`].
    #[inline]
    pub fn apply_impulse(&mut self, point: DVec3, impulse: DVec3) {
        self.state.apply_impulse(&self.model, point, impulse);
    }

    /// As [`BodyState::kinetic_energy`].
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        self.state.kinetic_energy(&self.model)
    }

    /// As [`BodyState::spin`].
    #[must_use]
    pub fn spin(&self) -> DVec3 {
        self.state.spin(&self.model)
    }

    /// As [`BodyState::advance`].
    ///
    /// # Errors
    /// As [`BodyState::advance`].
    pub fn advance(&mut self, dt: f64, gravity: DVec3) -> Result<(), BodyError> {
        self.state.advance(&self.model, dt, gravity)
    }
}

pub(crate) fn check_pose(what: &'static str, pose: &Pose) -> Result<(), BodyError> {
    // Of unit length, and finite, if this holds: the usual case costs no root.
    if pose.translation.is_finite() && (pose.rotation.length_squared() - 1.0).abs() <= 1e-6 {
        return Ok(());
    }
    let numbers = pose.translation.to_array().into_iter().chain(pose.rotation.to_array());
    for value in numbers {
        if !value.is_finite() {
            return Err(BodyError::NonFinite { what, value });
        }
    }
    let length = pose.rotation.length();
    if (length - 1.0).abs() > 1e-6 {
        return Err(BodyError::NotUnit { what, length });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{
        assert_close,
        glam::DQuat,
        mass, ops,
        testkit::{AnyPose, SplitMix64},
    };

    const DOWN: DVec3 = DVec3::new(0.0, 0.0, -9.81);

    fn plate() -> Body {
        Body::free(PrincipalMass::new(2.0, DVec3::new(1.0, 2.0, 3.0)).unwrap(), Pose::IDENTITY).unwrap()
    }

    // proves: MIR-10
    #[test]
    fn a_thrown_body_follows_the_parabola_exactly() {
        let mut body = plate();
        body.state.velocity = Motion::new(DVec3::new(0.3, 1.0, 0.1), DVec3::new(2.0, -1.0, 5.0));
        let (energy, spin) = (body.kinetic_energy(), body.spin().length());
        body.advance(0.75, DOWN).unwrap();
        let fallen = DVec3::new(2.0, -1.0, 5.0) * 0.75 + DOWN * 0.28125;
        assert!((body.pose().translation - fallen).length() < 1e-15);
        body.state.velocity.linear = DVec3::new(2.0, -1.0, 5.0);
        assert_close!(body.kinetic_energy(), energy, rel = 1e-13);
        assert_close!(body.spin().length(), spin, rel = 1e-14);
    }

    // proves: MIR-87
    #[test]
    fn a_free_symmetric_top_precesses() {
        // Axis along z with moments (1, 1, 2): in the body ω turns about z at (I_z − I_x)/I_x ω_z.
        let moments = DVec3::new(1.0, 1.0, 2.0);
        let mut body = Body::free(PrincipalMass::new(1.0, moments).unwrap(), Pose::IDENTITY).unwrap();
        body.state.velocity.angular = DVec3::new(0.5, 0.0, 2.0);
        for _ in 0..300 {
            body.advance(0.01, DOWN).unwrap();
        }
        let q = body.pose().rotation;
        let w = q.conjugate() * body.state.velocity.angular;
        let angle = 2.0 * 3.0;
        assert!((w - DVec3::new(0.5 * ops::cos(angle), 0.5 * ops::sin(angle), 2.0)).length() < 1e-12);
        // In space the axis turns about L at |L|/I_x.
        let spin = DVec3::new(0.5, 0.0, 4.0);
        let expected = DQuat::from_scaled_axis(spin * 3.0) * DVec3::Z;
        assert!((q * DVec3::Z - expected).length() < 1e-12, "{} {expected}", q * DVec3::Z);
    }

    // proves: FON-52
    #[test]
    fn a_spinning_plate_flips_and_keeps_momentum_and_energy() {
        let mut body = plate();
        // Nearly about the middle axis: unstable, so it flips over and over.
        body.state.velocity.angular = DVec3::new(0.01, 2.0, 0.01);
        let (energy, spin) = (body.kinetic_energy(), body.spin());
        let mut flips = 0;
        let mut up = true;
        for _ in 0..4000 {
            body.advance(0.01, DVec3::ZERO).unwrap();
            // Rounding of 4000 conversions between spin and velocity.
            assert!((body.spin() - spin).length() < 4e-12 * spin.length());
            assert_close!(body.kinetic_energy(), energy, rel = 1e-11);
            let omega_body = body.pose().inverse_transform_vector(body.state.velocity.angular);
            if (omega_body.y > 1.0) != up && omega_body.y.abs() > 1.0 {
                up = !up;
                flips += 1;
            }
        }
        assert!(flips >= 3, "{flips} flips");
    }

    // proves: DYN-11
    #[test]
    fn impulses_change_velocities_as_newton_says() {
        let mut random = SplitMix64(7);
        for _ in 0..100 {
            let pose = Pose::new(random.vec3(3.0), random.unit_quat());
            let mass = PrincipalMass::new(2.0, DVec3::new(1.0, 2.0, 2.5)).unwrap();
            let mut body = Body::free(mass, pose).unwrap();
            let (point, impulse) = (random.vec3(2.0), random.vec3(1.0));
            body.apply_impulse(point, impulse);
            assert!((body.state.velocity.linear - impulse / 2.0).length() < 1e-15);
            let expected = mass.inertia(pose.rotation).inverse() * (point - pose.translation).cross(impulse);
            assert!((body.state.velocity.angular - expected).length() < 1e-14 * (1.0 + expected.length()));
        }
    }

    // proves: FON-53
    #[test]
    fn fixed_bodies_never_move_and_scripted_ones_follow_their_script() {
        let mut wall = Body::fixed(Pose::IDENTITY).unwrap();
        wall.state.velocity.linear = DVec3::X;
        wall.apply_impulse(DVec3::ONE, DVec3::ONE * 1e6);
        wall.advance(10.0, DOWN).unwrap();
        assert_eq!(wall.pose(), &Pose::IDENTITY);
        assert_eq!(wall.velocity_at(DVec3::ONE), DVec3::ZERO);
        assert_eq!((wall.inverse_mass(), wall.inverse_inertia()), (0.0, DMat3::ZERO));
        let mut platter = Body::scripted(Pose::IDENTITY).unwrap();
        platter.state.velocity.angular = DVec3::Z * 2.0;
        platter.apply_impulse(DVec3::X, DVec3::Y);
        platter.advance(0.25, DOWN).unwrap();
        assert_eq!(platter.velocity_at(DVec3::X), DVec3::Y * 2.0);
        assert!((platter.pose().transform_vector(DVec3::X).y - ops::sin(0.5)).abs() < 1e-15);
    }

    // proves: FON-56
    #[test]
    fn the_users_frame_is_not_disturbed_by_the_inner_one() {
        fn same(user: AnyPose, inner: AnyPose, point: sim_math::testkit::Vector) -> bool {
            let mass = PrincipalMass::ball(1.0, 1.0).unwrap();
            let body = Body::free(mass, user.0 * inner.0).unwrap().with_user_frame(inner.0).unwrap();
            let seen = body.user_pose().transform_point(point.0);
            (seen - user.0.transform_point(point.0)).length() < 1e-12
        }
        sim_math::testkit::check(5, 2000, same as fn(AnyPose, AnyPose, sim_math::testkit::Vector) -> bool);
    }

    #[test]
    fn general_mass_properties_become_principal_ones() {
        let half = DVec3::new(0.1, 0.2, 0.3);
        let user_from_box = Pose::new(DVec3::new(1.0, -2.0, 0.5), DQuat::from_rotation_x(0.7));
        let solid = mass::solid::cuboid(half, mass::Amount::Mass(3.0)).unwrap();
        let (principal, user_from_body) = PrincipalMass::of(&solid.transformed(&user_from_box)).unwrap();
        assert!((user_from_body.translation - user_from_box.translation).length() < 1e-15);
        let back = principal.inertia(user_from_body.rotation);
        let expected = PrincipalMass::cuboid(3.0, half).unwrap().inertia(user_from_box.rotation);
        assert!(back.abs_diff_eq(expected, 1e-15), "{back} against {expected}");
    }

    #[test]
    fn impossible_bodies_are_refused_by_name() {
        let message = |r: Result<PrincipalMass, BodyError>| r.unwrap_err().to_string();
        assert_eq!(message(PrincipalMass::new(0.0, DVec3::ONE)), "mass must be positive, got 0");
        assert_eq!(
            message(PrincipalMass::new(1.0, DVec3::new(1.0, f64::NAN, 1.0))),
            "moment y is not finite: NaN"
        );
        assert!(message(PrincipalMass::new(1.0, DVec3::new(1.0, 1.0, 5.0))).starts_with("no body has"));
        let bad = Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0));
        assert_eq!(Body::fixed(bad).unwrap_err().to_string(), "pose: quaternion has length 2, not 1");
        assert!(Body::fixed(Pose::from_translation(DVec3::NAN)).is_err());
        let mut body = plate();
        assert!(body.advance(f64::NAN, DOWN).is_err() && body.advance(0.1, DVec3::NAN).is_err());
    }
}
