//! Force and torque of a generator at a state.
//!
//! # Reference
//!
//! Mirtich (1996), section 5.4.1; Fontijne (2000), section 3.7: elements that are asked at every evaluation of a derivative.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | d̂ | unit vector from point a to point b | - |
//! | l, l₀ | their distance, rest length | m |
//!
//! # Formula
//!
//! ```text
//! spring  on a: d̂ (k (l − l₀) + c d̂·(v_b − v_a)),   on b: the opposite        muscle: tension for k (l − l₀)
//! drag    −c v,  −c ω          servo  axis clamp(gain (rate − ω·axis), ±limit)
//! ```
//!
//! # Cost
//!
//! A few dozen multiplications.
//!
//! # Numerics
//!
//! Points that coincide have no line: a spring between them pulls nothing then.
//!
//! # Failure
//!
//! None; a field may return what is not finite, which whoever integrates notices.
//!
//! # Tested by
//!
//! `tests/forces.rs` of `sim-steppers`

use super::{Anchor, ForceGenerator};
use rigid_impulse::{BodyModel, BodyState};
use sim_math::{glam::DVec3, spatial::Force};
use sim_traits::BodyId;

/// What a body is, and its state.
pub(crate) type StateOf<'a> = dyn Fn(BodyId) -> Option<(&'a BodyModel, BodyState)> + 'a;

impl ForceGenerator {
    /// Calls `act` with every body and the wrench about its centre of mass on it, world axes, at world time `t` (s). `state`
    /// gives the states of bodies; one that is not there stands at the origin. For steppers.
    pub fn apply(&self, t: f64, state: &StateOf<'_>, act: &mut dyn FnMut(BodyId, Force)) {
        match self {
            Self::Constant { body, force, torque } => act(*body, Force::new(*torque, *force)),
            Self::Drag { body, linear, angular } => {
                if let Some((_, s)) = state(*body) {
                    act(*body, Force::new(s.velocity.angular * -angular, s.velocity.linear * -linear));
                }
            }
            Self::Servo { body, axis, rate, gain, limit } => {
                if let Some((_, s)) = state(*body) {
                    let torque = (gain * (rate - s.velocity.angular.dot(*axis))).clamp(-limit, *limit);
                    act(*body, Force::new(*axis * torque, DVec3::ZERO));
                }
            }
            Self::Field { body, field } => {
                if let Some((model, s)) = state(*body) {
                    act(*body, field.0.wrench(t, model, &s));
                }
            }
            Self::Spring { a, b, stiffness, damping, rest_length } => {
                pull([a, b], *damping, state, act, |length| stiffness * (length - rest_length));
            }
            Self::Muscle { a, b, tension, damping } => pull([a, b], *damping, state, act, |_| *tension),
        }
    }
}

/// A pull along the line between two anchors, and damping of its length.
fn pull(
    anchors: [&Anchor; 2],
    damping: f64,
    state: &StateOf<'_>,
    act: &mut dyn FnMut(BodyId, Force),
    tension: impl Fn(f64) -> f64,
) {
    let [(p, v, x), (q, u, y)] = anchors.map(|anchor| match *anchor {
        Anchor::World(point) => (point, DVec3::ZERO, DVec3::ZERO),
        Anchor::Body(id, point) => state(id).map_or((point, DVec3::ZERO, DVec3::ZERO), |(model, s)| {
            let point = s.user_pose(model).transform_point(point);
            (point, s.velocity_at(point), s.pose().translation)
        }),
    });
    let length = (q - p).length();
    if length <= 0.0 {
        return;
    }
    let line = (q - p) / length;
    let force = line * (tension(length) + damping * (u - v).dot(line));
    for (anchor, arm, force) in [(anchors[0], p - x, force), (anchors[1], q - y, -force)] {
        if let Anchor::Body(id, _) = *anchor {
            act(id, Force::new(arm.cross(force), force));
        }
    }
}
