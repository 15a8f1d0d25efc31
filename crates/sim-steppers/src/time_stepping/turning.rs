//! Bodies in soft contact turn as Euler's equations say.
//!
//! # Reference
//!
//! Euler's equations, through [`BodyState::advance`]: torque-free rotation, exactly.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | q₀, ω₀ | rotation and angular velocity at the start of the step | -, rad/s |
//! | q₁, ω₁ | the same at its end, if nothing touched the body | -, rad/s |
//! | x, ω | displacement and angular velocity at its end, by the solver | rad, rad/s |
//!
//! # Formula
//!
//! ```text
//! given to the solver      ω₁ as velocity, I(q₁) as inertia; torques as acceleration
//! taken from it            q = exp(x − x₁) q₁,   ω ← exp(x − x₁) ω,   x₁ = h (ω₁ + force_change/2): what the solver has without contacts
//! spin prevails            |x − x₁| < |x₁|/100:   ω ← I(q)⁻¹ I(q₁) ω instead
//! parts of the step        |ω| h/0.7
//! ```
//!
//! Where spin prevails, as in a top, the angular momentum matters: a spin that followed every turn of its axis would be a torque. Else the energy does.
//!
//! Both steps keep the energy there: the free rotation is exact, and what contacts do is done with the inertia of its end; then ω and the inertia
//! turn together.
//!
//! # Cost
//!
//! One torque-free arc per body that turns and has contacts.
//!
//! # Numerics
//!
//! Exact without contacts; with them of first order in h. Bodies that turn by less than [`LEAST`] in a step are left alone.
//!
//! # Failure
//!
//! None: a body whose arc cannot be found turns without gyroscopic torque.
//!
//! # Tested by
//!
//! `a_top_precesses`, `tests/time_soft_energy.rs`

use constraint_dynamics::stabilize::moved;
use rigid_impulse::{BodyKind, BodyModel, BodyState};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    rotation::quat_exp,
    spatial::Motion,
};

/// A body that turns less in a step feels no gyroscopic torque, rad.
const LEAST: f64 = 1e-7;

/// Contacts that turn a body by less than this share of what it turns by itself leave its angular momentum, others its energy.
const SMOOTH: f64 = 0.01;
/// Most that a body in contact may turn in a step, rad.
const MOST: f64 = 0.7;
/// Most parts of a step.
const MOST_PARTS: f64 = 64.0;

/// How many parts a step of `h` seconds is to have for a body in contact.
pub(super) fn parts(state: &BodyState, h: f64) -> f64 {
    (state.velocity.angular.length() * h / MOST).ceil().clamp(1.0, MOST_PARTS)
}

/// Pose and velocity at the end of the step of a body that did not turn before it, from the displacement and the velocity that the solver found: its
/// angular velocity turns with it, so that its energy stays.
pub(super) fn arrive_from_rest(model: &BodyModel, state: &BodyState, x: Motion, v: Motion) -> (Pose, Motion) {
    let pose = moved(state.pose(), x);
    let is_round = match model.kind() {
        BodyKind::Free(mass) => mass.moments() == DVec3::splat(mass.moments().x),
        BodyKind::Fixed | BodyKind::Scripted => true,
    };
    if is_round || x.angular.length_squared() < LEAST * LEAST {
        return (pose, v);
    }
    (pose, Motion::new(quat_exp(x.angular) * v.angular, v.linear))
}

/// The free rotation of a body over a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turning {
    /// q₁, ω₁ and x₁.
    pub(super) rotation: DQuat,
    pub(super) velocity: DVec3,
    displacement: DVec3,
}

impl Turning {
    /// That of a body over `h` seconds under a change of angular velocity by torques, rad/s; `None` if it is a plain one.
    pub(super) fn new(model: &BodyModel, state: &BodyState, force_change: DVec3, h: f64) -> Option<Self> {
        let BodyKind::Free(mass) = model.kind() else { return None };
        let (moments, omega) = (mass.moments(), state.velocity.angular);
        let is_round = moments == DVec3::splat(moments.x);
        if is_round || omega.length_squared() * h * h < LEAST * LEAST {
            return None;
        }
        let mut free = *state;
        free.advance(model, h, DVec3::ZERO).ok()?;
        let velocity = free.velocity.angular;
        Some(Self {
            rotation: free.pose().rotation,
            velocity,
            displacement: (velocity + force_change * 0.5) * h,
        })
    }

    /// Pose and velocity at the end of the step, from the displacement and the velocity that the solver found.
    pub(super) fn arrive(
        &self,
        model: &BodyModel,
        state: &BodyState,
        x: Motion,
        v: Motion,
    ) -> (Pose, Motion) {
        let free = Pose::new(state.pose().translation, self.rotation);
        let turn = x.angular - self.displacement;
        let pose = moved(&free, Motion::new(turn, x.linear));
        let angular = match model.kind() {
            BodyKind::Free(mass) if turn.length() < SMOOTH * self.displacement.length() => {
                let spin = mass.inertia(self.rotation) * v.angular;
                pose.rotation * ((pose.rotation.conjugate() * spin) / mass.moments())
            }
            _ => quat_exp(turn) * v.angular,
        };
        (pose, Motion::new(angular, v.linear))
    }
}
