//! How fast a convex part turns as a set of points: what spins about its own axis of symmetry stays where it is.
//!
//! # Reference
//!
//! Ours. Mirtich's bounds (1996, section 2.3.2) let every point of a body move at r ω: a roller at 1000 rad/s is then looked at as often as a tumbling box.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | u | axis of a solid of revolution, through the centre of mass | - |
//! | ω, ω⊥ | angular velocity of the body; its part across u | rad/s |
//! | ν | an angular velocity that carries the part along as a set | rad/s |
//! | P | L/I⊥, at which axis and ω⊥ of a free symmetric body go round | rad/s |
//! | W, S | largest size of ν, and of `ν² + dν/dt`, along the piece | rad/s, 1/s² |
//!
//! # Formula
//!
//! ```text
//! ν = ω + c u for any c, as turning about u changes nothing:
//! free, moments equal across u:  ν = ω⊥:  W = |ω⊥|,  S = |ω⊥| (|ω⊥| + |P|)     |ω⊥| and |P| are constant, ω⊥ turns with P
//!                           or:  ν = P:   W = |P|,   S = P²                     whichever has the smaller S
//! script, ω constant:            ν = ω⊥,  with |ω| in the place of |P|
//! all others:                    ν = ω,   W and S of the piece
//! |dν/dt| of a free body:        |ω̇ᵢ| ≤ |Iⱼ − Iₖ|/Iᵢ |ωⱼ| |ωₖ|,   ωᵢ² ≤ 2E/Iᵢ,   ωᵢ² ≤ |L² − 2 E Iₖ|/(Iᵢ |Iᵢ − Iₖ|) for the smallest and the largest Iₖ
//! ```
//!
//! # Cost
//!
//! Two rotations of a vector.
//!
//! # Numerics
//!
//! The axis counts as one of symmetry if it agrees with a principal axis, passes by the centre of mass and has equal moments across to within rounding
//! ([`ALIKE`]): what such a shape is off by is below the rounding of positions.
//!
//! # Failure
//!
//! None: what is not known to be round turns as its body does.
//!
//! # Tested by
//!
//! `close_bounds_never_exceed_the_true_distance`, `tests/rolling.rs`

use collision_narrowphase::{
    cast::Part,
    shapes::{Ellipsoid, Frustum},
};
use rigid_impulse::{BodyKind, BodyState};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{Shape, SupportMap};
use sim_world::{Body, Law};

/// Relative difference of two lengths, directions or moments that counts as none.
const ALIKE: f64 = 4e-15;
/// By which the size of ω⊥ may differ from that of the start of the piece: rounding, of moments too.
const ROUNDING: f64 = 1.0 + 1e-9;

/// Acceleration by turning that is let be, as a share of that of the body.
pub(super) const SLOW: f64 = 0.25;

/// Which angular velocity carries a part along.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Carrier {
    /// That of the body.
    Body,
    /// Its part across the axis, body frame.
    Across(DVec3),
    /// That at which the axis goes round, given the axis in the body frame and the ratio of the moments along and across it.
    Precession(DVec3, f64),
}

/// How a part turns along a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turning {
    carrier: Carrier,
    /// Largest angular speed, rad/s.
    pub(super) spin: f64,
    /// Largest |ν̇|, rad/s².
    pub(super) sway: f64,
    /// Largest |ν|² + |ν̇|, 1/s²: times a distance from the centre it is the acceleration by turning.
    pub(super) swerve: f64,
}

/// Axis of a shape that is a solid of revolution, in its frame: it passes through the origin there.
fn axis_of_shape(shape: &Shape) -> Option<DVec3> {
    match shape {
        Shape::Capsule(_) | Shape::Cylinder(_) => Some(DVec3::Z),
        Shape::Convex(s) => axis_of_map(s.as_ref()),
        _ => None,
    }
}

fn axis_of_map(map: &dyn SupportMap) -> Option<DVec3> {
    let map = map.as_any();
    if map.is::<Frustum>() {
        return Some(DVec3::Z);
    }
    let [x, y, z] = map.downcast_ref::<Ellipsoid>()?.radii().to_array();
    let alike = |a: f64, b: f64| (a - b).abs() <= ALIKE * a;
    match (alike(x, y), alike(y, z), alike(z, x)) {
        (true, ..) => Some(DVec3::Z),
        (_, true, _) => Some(DVec3::X),
        (.., true) => Some(DVec3::Y),
        _ => None,
    }
}

/// The axis of symmetry of a part through the centre of mass, in the body frame.
fn axis(part: &Part<'_>, body_from_shape: &Pose, radius: f64) -> Option<DVec3> {
    let Part::Solid(shape, pose) = part else { return None };
    let axis = body_from_shape.transform_vector(pose.transform_vector(axis_of_shape(shape)?));
    let origin = body_from_shape.transform_point(pose.translation);
    (axis.cross(origin).length() <= ALIKE * radius).then_some(axis)
}

/// Principal moments along and across an axis in the body frame, if that is an axis of symmetry of the moments.
fn moments_about(axis: DVec3, moments: DVec3) -> Option<[f64; 2]> {
    let [x, y, z] = moments.to_array();
    let cases = [(DVec3::X, x, y, z), (DVec3::Y, y, z, x), (DVec3::Z, z, x, y)];
    cases.into_iter().find_map(|(principal, along, p, q)| {
        let good = axis.cross(principal).length() <= ALIKE && (p - q).abs() <= ALIKE * p.max(q);
        good.then_some([along, p])
    })
}

/// Largest angular acceleration of a free body with principal moments, now turning at `omega` (body axes, rad/s) and never faster than `spin`, rad/s².
fn max_sway(moments: DVec3, omega: DVec3, spin: f64) -> f64 {
    let (m, squares) = (moments.to_array(), (omega * omega).to_array());
    let energy = (moments * omega).dot(omega);
    let extreme = |k: usize| m[k] <= moments.min_element() || m[k] >= moments.max_element();
    // L² − 2 E I_k has terms of one sign only, if I_k is the smallest or the largest moment.
    let kept = |k: usize| (0..3).map(|i| (m[i] * (m[i] - m[k])).abs() * squares[i]).sum::<f64>();
    let most = [0, 1, 2].map(|i| {
        let by_axis = |k: usize| kept(k) / (m[i] * (m[i] - m[k]).abs());
        let others = (0..3).filter(|&k| (m[k] - m[i]).abs() > 0.0 && extreme(k)).map(by_axis);
        others.fold((energy / m[i]).min(spin * spin), f64::min)
    });
    let part = |i: usize, j: usize, k: usize| (m[j] - m[k]) / m[i] * (most[j] * most[k]).sqrt();
    DVec3::new(part(0, 1, 2), part(1, 2, 0), part(2, 0, 1)).length() * ROUNDING
}

impl Turning {
    /// Of a part of a body; `radius` is the largest distance of its points from the centre of mass, m.
    pub(super) fn of(body: &Body, part: &Part<'_>, body_from_shape: &Pose, radius: f64) -> Self {
        let piece = body.piece();
        let (spin, swerve) = (piece.max_spin(), piece.max_swerve());
        let plain = Self { carrier: Carrier::Body, spin, sway: (swerve - spin * spin).max(0.0), swerve };
        // Beside what presses bodies together slow turning does not matter.
        if swerve * radius <= SLOW * piece.acceleration() {
            return plain;
        }
        let Some(axis) = axis(part, body_from_shape, radius) else { return plain };
        let state = piece.state();
        let spin_across = |state: &BodyState| {
            let axis = state.pose().transform_vector(axis);
            state.velocity.angular.reject_from_normalized(axis).length()
        };
        let found = match (piece.law(), body.kind()) {
            (Law::Ballistic { .. }, BodyKind::Free(mass)) => {
                let Some([along, across]) = moments_about(axis, mass.moments()) else { return plain };
                let slow = spin_across(state) * ROUNDING;
                let about = state.pose().transform_vector(axis).dot(state.velocity.angular);
                let fast = about * along / across;
                let round = (slow * slow + fast * fast).sqrt() * ROUNDING;
                let (still, steady) = (slow * (slow + round), round * round);
                if still <= steady {
                    Self { carrier: Carrier::Across(axis), spin: slow, sway: slow * round, swerve: still }
                } else {
                    Self {
                        carrier: Carrier::Precession(axis, along / across),
                        spin: round,
                        sway: 0.0,
                        swerve: steady,
                    }
                }
            }
            (Law::Scripted { limits, .. }, _) if limits.angular_acceleration == 0.0 => {
                let slow = spin_across(state) * ROUNDING;
                let sway = slow * limits.angular;
                Self { carrier: Carrier::Across(axis), spin: slow, sway, swerve: slow * slow + sway }
            }
            _ => return plain,
        };
        if found.swerve < plain.swerve { found } else { plain }
    }

    /// Largest |ν̇| of a part that turns as its body does, or less, rad/s².
    pub(super) fn closer_sway(&self, body: &Body) -> f64 {
        let piece = body.piece();
        match (self.carrier, piece.law(), body.kind()) {
            (Carrier::Body, Law::Ballistic { .. }, BodyKind::Free(mass)) => {
                let omega = piece.state().pose().inverse_transform_vector(piece.state().velocity.angular);
                self.sway.min(max_sway(mass.moments(), omega, self.spin))
            }
            _ => self.sway,
        }
    }

    /// Angular velocity at a state of the body, world, rad/s.
    pub(super) fn now(&self, state: &BodyState) -> DVec3 {
        let spin = state.velocity.angular;
        match self.carrier {
            Carrier::Body => spin,
            Carrier::Across(axis) => spin.reject_from_normalized(state.pose().transform_vector(axis)),
            Carrier::Precession(axis, ratio) => {
                let axis = state.pose().transform_vector(axis);
                spin + axis * ((ratio - 1.0) * spin.dot(axis))
            }
        }
    }
}
