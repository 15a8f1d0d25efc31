//! One body over one frame: pushes that stay constant in the world, at points that stay constant in the body.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.2 and appendix B, with the sign of the quaternion equation repaired; appendix D for bodies like a line.
//!
//! # Symbols
//!
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | z, v | centre of mass, its velocity | world | m, m/s |
//! | q, ω | attitude, angular velocity | world | -, rad/s |
//! | J | principal moments | body | kg·m² |
//! | ρ, f | point of a force, and the force | body, world | m, N |
//! | F, M | force at the centre, torque | world | N, N·m |
//!
//! # Formula
//!
//! ```text
//! z' = z + v h + ½ (F + Σ f)/m h²      v' = v + (F + Σ f)/m h          exact
//! q̇ = ½ (0, ω + c ω̇) q                 ω̇ = J_w⁻¹ (M + Σ (q ρ) × f − ω × J_w ω)       by the integrator
//! ```
//!
//! # Cost
//!
//! One step of the integrator: two evaluations of ω̇ for Heun's method.
//!
//! # Numerics
//!
//! The arm q ρ is taken anew at every evaluation, so that a method of order four stays of order four. c is the prediction of the Euler methods: without it a
//! torque would not turn the body within the step. A moment below 1e-9 of the largest counts as zero: the body is a line, and neither torque nor spin along it exist.
//!
//! # Failure
//!
//! [`IntegrateError`] for numbers that are not finite.
//!
//! # Tested by
//!
//! `constant_forces_are_met_exactly`, `an_off_centre_force_keeps_the_order_of_the_method`, `a_rod_swings_as_a_line`

use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    integrate::{Abort, IntegrateError, Integrator, OdeScratch, OdeSystem},
    rotation::{quat_exp, quat_rate_world},
    spatial::{Force, Motion},
};

/// Share of the largest moment below which another counts as zero.
const LINE: f64 = 1e-9;

/// Where a body is and how it moves: pose of the centre of mass with principal axes, velocity there in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyState {
    /// Pose.
    pub pose: Pose,
    /// Velocity.
    pub velocity: Motion,
}

impl BodyState {
    /// At rest at the origin.
    pub const REST: Self = Self { pose: Pose::IDENTITY, velocity: Motion::ZERO };

    /// Velocity of the point of the body at an arm from its centre (world axes), m/s.
    #[must_use]
    pub fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity.velocity_at(arm)
    }
}

/// What moves a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mobility {
    /// Forces. Moments may be zero.
    Free {
        /// kg.
        mass: f64,
        /// Principal moments, kg·m².
        moments: DVec3,
    },
    /// Somebody else, who says where it will be at the end of the frame.
    Moved(BodyState),
}

/// A body at the start of a frame: after impulses, before forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReactionBody {
    /// What moves it.
    pub mobility: Mobility,
    /// Where it is.
    pub state: BodyState,
    /// Gravity and all other given forces over the frame: moment about the centre and force, world axes.
    pub given: Force,
}

impl ReactionBody {
    /// A body that forces move.
    #[must_use]
    pub const fn free(mass: f64, moments: DVec3, state: BodyState) -> Self {
        Self { mobility: Mobility::Free { mass, moments }, state, given: Force::ZERO }
    }

    /// A body that stands still.
    #[must_use]
    pub const fn fixed(pose: Pose) -> Self {
        let state = BodyState { pose, velocity: Motion::ZERO };
        Self { mobility: Mobility::Moved(state), state, given: Force::ZERO }
    }

    /// True if forces move it.
    #[inline]
    #[must_use]
    pub const fn is_free(&self) -> bool {
        matches!(self.mobility, Mobility::Free { .. })
    }

    /// 1/m, or zero.
    #[inline]
    #[must_use]
    pub fn inverse_mass(&self) -> f64 {
        match self.mobility {
            Mobility::Free { mass, .. } => 1.0 / mass,
            Mobility::Moved(_) => 0.0,
        }
    }

    /// Inverse inertia in world axes, or zero, 1/(kg·m²).
    #[must_use]
    pub fn inverse_inertia(&self) -> DMat3 {
        match self.mobility {
            Mobility::Free { moments, .. } => {
                let axes = self.state.pose.rotation_matrix();
                let ease = inverse_moments(moments);
                let scaled =
                    DMat3::from_cols(axes.x_axis * ease.x, axes.y_axis * ease.y, axes.z_axis * ease.z);
                scaled * axes.transpose()
            }
            Mobility::Moved(_) => DMat3::ZERO,
        }
    }

    /// Where it will be after `h` seconds with the velocity of now.
    #[must_use]
    pub fn ahead(&self, h: f64) -> BodyState {
        let BodyState { pose, velocity } = self.state;
        let rotation = (quat_exp(velocity.angular * h) * pose.rotation).normalize();
        BodyState { pose: Pose::new(pose.translation + velocity.linear * h, rotation), velocity }
    }

    /// An impulse (N·s, world axes) at an arm from the centre, at the start of the frame.
    pub fn apply_impulse(&mut self, arm: DVec3, impulse: DVec3) {
        self.state.velocity.linear += impulse * self.inverse_mass();
        self.state.velocity.angular += self.inverse_inertia() * arm.cross(impulse);
    }
}

/// Inverse moments; zero for those about which a line does not turn.
fn inverse_moments(moments: DVec3) -> DVec3 {
    let least = LINE * moments.max_element();
    let inverse = |j: f64| if j > least { 1.0 / j } else { 0.0 };
    DVec3::new(inverse(moments.x), inverse(moments.y), inverse(moments.z))
}

/// The part of an angular velocity (body axes) that is not along a line.
fn turning(ease: DVec3, omega: DVec3) -> DVec3 {
    DVec3::select(ease.cmpgt(DVec3::ZERO), omega, DVec3::ZERO)
}

/// A force at a point of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointForce {
    /// The point, body axes from the centre, m.
    pub point: DVec3,
    /// Force, world axes, N.
    pub force: DVec3,
}

/// The rotation of one body.
struct Turning<'a> {
    moments: DVec3,
    ease: DVec3,
    torque: DVec3,
    forces: &'a [PointForce],
}

impl OdeSystem for Turning<'_> {
    fn dim(&self) -> usize {
        7
    }

    fn derivative(&mut self, t: f64, y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
        self.predicted_derivative(t, y, 0.0, dydt)
    }

    fn predicted_derivative(
        &mut self,
        _t: f64,
        y: &[f64],
        prediction: f64,
        dydt: &mut [f64],
    ) -> Result<(), Abort> {
        let (q, omega) = (DQuat::from_slice(y), DVec3::from_slice(&y[4..]));
        let torque = self.forces.iter().fold(self.torque, |m, f| m + (q * f.point).cross(f.force));
        let inverse = q.conjugate();
        // Along a line there is no spin.
        let spin = turning(self.ease, inverse * omega);
        let alpha = q * ((inverse * torque - spin.cross(self.moments * spin)) * self.ease);
        quat_rate_world(q, q * spin + alpha * prediction).write_to_slice(dydt);
        alpha.write_to_slice(&mut dydt[4..]);
        Ok(())
    }

    fn project(&mut self, y: &mut [f64]) {
        let scale = 1.0 / (y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]).sqrt();
        y[..4].iter_mut().for_each(|x| *x *= scale);
    }
}

/// Where a body is `h` seconds later under its given force, more pushes at its centre (`extra`) and forces at points; and how many evaluations that took.
///
/// # Errors
/// Numbers that are not finite.
pub fn integrate(
    body: &ReactionBody,
    extra: Force,
    forces: &[PointForce],
    h: f64,
    integrator: &dyn Integrator,
    scratch: &mut OdeScratch,
) -> Result<(BodyState, u32), IntegrateError> {
    let (mass, moments) = match body.mobility {
        Mobility::Moved(next) => return Ok((next, 0)),
        Mobility::Free { mass, moments } => (mass, moments),
    };
    let BodyState { pose, velocity } = body.state;
    let push = forces.iter().fold(body.given.linear + extra.linear, |sum, f| sum + f.force);
    let acceleration = push / mass;
    let place = pose.translation + velocity.linear * h + acceleration * (0.5 * h * h);
    let linear = velocity.linear + acceleration * h;
    let torque = body.given.moment + extra.moment;
    let ease = inverse_moments(moments);
    let (q, w) = (pose.rotation, velocity.angular);
    let mut y = [q.x, q.y, q.z, q.w, w.x, w.y, w.z];
    let report =
        integrator.advance(&mut Turning { moments, ease, torque, forces }, 0.0, h, &mut y, scratch)?;
    let rotation = DQuat::from_slice(&y);
    let mut angular = DVec3::from_slice(&y[4..]);
    if ease.min_element() == 0.0 {
        angular = rotation * turning(ease, rotation.conjugate() * angular);
    }
    if let Some(index) = (0..3).find(|&i| !(place[i].is_finite() && linear[i].is_finite())) {
        return Err(IntegrateError::NonFinite { index: 7 + index, value: place[index], t: 0.0 });
    }
    let state = BodyState { pose: Pose::new(place, rotation), velocity: Motion::new(angular, linear) };
    Ok((state, report.evaluations))
}
