//! Motion under forces over one integration step: a polynomial of degree five that is the motion, not a picture of it.
//!
//! # Reference
//!
//! Hermite interpolation; Farin, *Curves and Surfaces for CAGD*, chapters 4 and 5 (Bernstein form, convex hull property).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h | length of the piece | s |
//! | θ | share of it, 0 to 1 | - |
//! | `path` | Bernstein points of the centre of mass, from where it was at the start | m |
//! | `turn` | the same of the quaternion, not normalised | - |
//!
//! # Formula
//!
//! ```text
//! P₀ = 0, P₁ = h f₀'/5, P₂ = 2h f₀'/5 + h² f₀''/20,  P₅ = f₁ − f₀, P₄ = P₅ − h f₁'/5, P₃ = P₅ − 2h f₁'/5 + h² f₁''/20
//! f(θ) = f₀ + Σ B⁵ᵢ Pᵢ     f' = 5/h Σ B⁴ᵢ (Pᵢ₊₁ − Pᵢ)     f'' = 20/h² Σ B³ᵢ (Pᵢ₊₂ − 2Pᵢ₊₁ + Pᵢ)
//! q = turn/|turn|,  ω = 2 vec(turn' turn*)/|turn|²
//! |ω| ≤ W = 2 max|turn'|/n     |ω̇| ≤ 2 max|turn''|/n + 4 max|turn'|²/n²     n = least of turn·q₀
//! ```
//!
//! Value, slope and curvature are those of the equations of motion at both ends. Velocity is the derivative of position, so
//! that bounds of the polynomial are bounds of the motion: no contact is missed between two steps. Sums over bodies that do
//! not change, such as momentum, do not change inside the piece either, because all is linear in the ends.
//!
//! # Cost
//!
//! Some 150 multiplications per state.
//!
//! # Numerics
//!
//! Against the true motion: error h⁶ x⁽⁶⁾/46080 of position, of order h⁵ of velocity. Both ends are returned as they are. The length is that of the
//! step, not the difference of two rounded times, which late in a run has half the digits.
//! Bounds are grown by rounding.
//!
//! # Failure
//!
//! Numbers that are not finite give a state that is not; whoever asks checks.
//!
//! # Tested by
//!
//! `both_ends_are_met_and_velocity_is_the_derivative`, `bounds_hold_for_the_polynomial`

use rigid_impulse::{BodyError, BodyModel, BodyState};
use sim_math::{
    Aabb, Pose,
    glam::{DQuat, DVec3, DVec4},
    swept,
};
use std::ops::{Mul, Sub};

/// Motion of one body over one step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dense {
    length: f64,
    end: BodyState,
    path: [DVec3; 6],
    turn: [DVec4; 6],
    /// Acceleration of the centre at the end, m/s².
    last: DVec3,
    /// Bound on the size of the acceleration, m/s².
    acceleration: f64,
    max_spin: f64,
    max_swing: f64,
}

/// Accelerations at one end: of the centre, m/s², and of the quaternion with its rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slopes {
    pub(crate) acceleration: DVec3,
    pub(crate) turn: DVec4,
    pub(crate) turn_rate: DVec4,
}

/// (1 − θ)^(n − i) θ^i times the binomial coefficient.
fn bernstein<const N: usize>(theta: f64, binomial: [f64; N]) -> [f64; N] {
    let (mut out, mut power) = (binomial, 1.0);
    for b in &mut out {
        *b *= power;
        power *= theta;
    }
    power = 1.0;
    for b in out.iter_mut().rev() {
        *b *= power;
        power *= 1.0 - theta;
    }
    out
}

macro_rules! hermite {
    ($vector:ty, $h:expr, $change:expr, $slopes:expr, $bends:expr) => {{
        let ([s0, s1], [b0, b1]): ([$vector; 2], [$vector; 2]) = ($slopes, $bends);
        let (h, change): (f64, $vector) = ($h, $change);
        [
            <$vector>::ZERO,
            s0 * (h / 5.0),
            s0 * (0.4 * h) + b0 * (h * h / 20.0),
            change - s1 * (0.4 * h) + b1 * (h * h / 20.0),
            change - s1 * (h / 5.0),
            change,
        ]
    }};
}

impl Dense {
    /// From the states and slopes at both ends, `length` seconds apart, and how far the centre moved, m: more exactly than the
    /// rounded places say. The end has the sign of quaternion that is nearer.
    pub(crate) fn new(length: f64, ends: [&BodyState; 2], moved: DVec3, slopes: [Slopes; 2]) -> Self {
        let [from, to] = ends;
        let (h, q0) = (length, DVec4::from(from.pose().rotation));
        let mut q1 = DVec4::from(to.pose().rotation);
        let mut far = slopes[1];
        if q0.dot(q1) < 0.0 {
            (q1, far.turn, far.turn_rate) = (-q1, -far.turn, -far.turn_rate);
        }
        let path = hermite!(
            DVec3,
            h,
            moved,
            [from.velocity.linear, to.velocity.linear],
            [slopes[0].acceleration, far.acceleration]
        );
        let turn =
            hermite!(DVec4, h, q1 - q0, [slopes[0].turn, far.turn], [slopes[0].turn_rate, far.turn_rate]);
        let rounding = 64.0 * f64::EPSILON * 20.0 / (h * h);
        let largest = path.iter().map(|p| p.length()).fold(0.0, f64::max);
        let bend = second(&path, h);
        let acceleration = bend.iter().map(|a| a.length()).fold(0.0, f64::max) + rounding * largest;
        let rate = (0..5).map(|i| (turn[i + 1] - turn[i]).length() * 5.0 / h).fold(0.0, f64::max);
        let bend = second(&turn, h).iter().map(|a| a.length()).fold(0.0, f64::max);
        // Near 1: the step is short.
        let least = turn.iter().map(|e| 1.0 + e.dot(q0)).fold(1.0, f64::min).max(1e-3);
        let (max_spin, grown) = (2.0 * rate / least * (1.0 + 1e-12), 1.0 + 1e-9);
        let max_swing = (2.0 * bend / least + 4.0 * (rate / least) * (rate / least)) * grown;
        let last = far.acceleration;
        Self { length, end: *to, path, turn, last, acceleration, max_spin, max_swing }
    }

    /// Length of the piece, s.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.length
    }

    /// State at its end.
    #[must_use]
    pub fn end(&self) -> &BodyState {
        &self.end
    }

    /// Bound on the size of the acceleration of the centre, m/s².
    #[must_use]
    pub fn acceleration(&self) -> f64 {
        self.acceleration
    }

    /// Bound on the angular speed, rad/s.
    #[must_use]
    pub fn max_spin(&self) -> f64 {
        self.max_spin
    }

    /// Bound on the size of the angular acceleration, rad/s².
    #[must_use]
    pub fn max_angular_acceleration(&self) -> f64 {
        self.max_swing
    }

    /// State `past` seconds after the end, where the motion is not known yet: the acceleration stays.
    pub(crate) fn beyond(&self, model: &BodyModel, past: f64) -> Result<BodyState, BodyError> {
        let mut state = self.end;
        if past != 0.0 {
            state.advance(model, past, self.last)?;
        }
        Ok(state)
    }

    /// State `tau` seconds after the start, up to the end.
    pub(crate) fn at(&self, start: &BodyState, tau: f64) -> Result<BodyState, BodyError> {
        if !tau.is_finite() {
            return Err(BodyError::NonFinite { what: "time", value: tau });
        }
        if tau <= 0.0 {
            return Ok(*start);
        }
        if tau >= self.length {
            return Ok(self.end);
        }
        let theta = tau / self.length;
        let (b5, b4) = weights(theta);
        let (mut offset, mut speed, mut turn, mut rate) =
            (DVec3::ZERO, DVec3::ZERO, DVec4::ZERO, DVec4::ZERO);
        for i in 0..5 {
            offset += self.path[i + 1] * b5[i + 1];
            turn += self.turn[i + 1] * b5[i + 1];
            speed += (self.path[i + 1] - self.path[i]) * b4[i];
            rate += (self.turn[i + 1] - self.turn[i]) * b4[i];
        }
        let scale = 5.0 / self.length;
        let mut state = *start;
        state.velocity.linear = speed * scale;
        let mut rotation = start.pose().rotation;
        if self.turn != [DVec4::ZERO; 6] {
            let q = DVec4::from(rotation) + turn;
            let square = q.length_squared();
            let spin = DQuat::from_vec4(rate) * DQuat::from_vec4(q).conjugate();
            state.velocity.angular = DVec3::new(spin.x, spin.y, spin.z) * (2.0 * scale / square);
            rotation = DQuat::from_vec4(q / square.sqrt());
        }
        state.set_pose(Pose::new(start.pose().translation + offset, rotation))?;
        Ok(state)
    }

    /// Velocity of the centre `tau` seconds after the start, m/s.
    pub(crate) fn center_velocity(&self, start: &BodyState, tau: f64) -> DVec3 {
        if tau <= 0.0 {
            return start.velocity.linear;
        }
        if tau >= self.length {
            return self.end.velocity.linear + self.last * (tau - self.length);
        }
        let (_, b4) = weights(tau / self.length);
        (0..5).map(|i| (self.path[i + 1] - self.path[i]) * b4[i]).sum::<DVec3>() * (5.0 / self.length)
    }

    /// Largest acceleration of the centre along a unit vector, m/s²: a bound.
    pub(crate) fn acceleration_along(&self, direction: DVec3) -> f64 {
        let bend = second(&self.path, self.length);
        let along = bend.iter().map(|a| a.dot(direction)).fold(f64::NEG_INFINITY, f64::max);
        along.max(-self.acceleration) + 1e-12 * self.acceleration
    }

    /// Box of the path of the centre over the piece and `more` seconds beyond its end, where it is a guess.
    pub(crate) fn path_box(&self, start: &BodyState, more: f64) -> Result<Aabb, BodyError> {
        let origin = start.pose().translation;
        let mut path = Aabb { min: origin, max: origin };
        for p in self.path {
            path = Aabb { min: path.min.min(origin + p), max: path.max.max(origin + p) };
        }
        let (from, speed) = (self.end.pose().translation, self.end.velocity.linear);
        let beyond = swept::ballistic_box(from, speed, self.last, more, 0.0)?;
        let rounding = 4.0 * f64::EPSILON * (origin.abs().max_element() + path.size().max_element());
        Ok(path.merged(&beyond).grown(rounding))
    }

    /// Bits that tell two pieces apart.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let path = self.path.iter().flat_map(DVec3::to_array);
        path.chain(self.turn.iter().flat_map(DVec4::to_array)).chain([
            self.length,
            self.acceleration,
            self.max_spin,
            self.max_swing,
            self.last.x,
            self.last.y,
            self.last.z,
        ])
    }
}

fn weights(theta: f64) -> ([f64; 6], [f64; 5]) {
    (bernstein(theta, [1.0, 5.0, 10.0, 10.0, 5.0, 1.0]), bernstein(theta, [1.0, 4.0, 6.0, 4.0, 1.0]))
}

/// Bernstein points of the second derivative.
fn second<V: Copy + Sub<Output = V> + Mul<f64, Output = V>>(points: &[V; 6], h: f64) -> [V; 4] {
    let of = |i: usize| ((points[i + 2] - points[i + 1]) - (points[i + 1] - points[i])) * (20.0 / (h * h));
    [of(0), of(1), of(2), of(3)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rigid_impulse::{BodyKind, PrincipalMass};
    use sim_math::{spatial::Motion, testkit::SplitMix64};

    /// A random start, and an end that belongs to a motion with random accelerations.
    fn random(random: &mut SplitMix64) -> (BodyState, Dense) {
        let mass = PrincipalMass::cuboid(2.0, DVec3::new(0.5, 0.3, 0.1)).unwrap();
        let model = BodyModel::new(BodyKind::Free(mass));
        let mut from = BodyState::at_rest(Pose::new(random.vec3(3.0), random.unit_quat())).unwrap();
        from.velocity = Motion::new(random.vec3(5.0), random.vec3(5.0));
        let h = random.range(1e-3, 0.05);
        let mut to = from;
        to.advance(&model, h, random.vec3(20.0)).unwrap();
        to.velocity.linear += random.vec3(0.1);
        let slopes = |state: &BodyState, random: &mut SplitMix64| {
            let q = state.pose().rotation;
            let w = DQuat::from_vec4(state.velocity.angular.extend(0.0));
            let alpha = DQuat::from_vec4(random.vec3(30.0).extend(0.0));
            let rate = w * q * 0.5;
            let bend = alpha * q * 0.5 + w * rate * 0.5;
            Slopes { acceleration: random.vec3(20.0), turn: rate.into(), turn_rate: bend.into() }
        };
        let both = [slopes(&from, random), slopes(&to, random)];
        let moved = to.pose().translation - from.pose().translation;
        (from, Dense::new(h, [&from, &to], moved, both))
    }

    #[test]
    fn both_ends_are_met_and_velocity_is_the_derivative() {
        let mut source = SplitMix64(3);
        for _ in 0..200 {
            let (from, dense) = random(&mut source);
            let h = dense.length();
            assert_eq!(dense.at(&from, 0.0).unwrap(), from);
            assert_eq!(dense.at(&from, h).unwrap(), *dense.end());
            let near = dense.at(&from, h * (1.0 - 1e-12)).unwrap();
            assert!((near.velocity.linear - dense.end().velocity.linear).length() < 1e-8);
            assert!((near.velocity.angular - dense.end().velocity.angular).length() < 1e-8);
            assert!((near.pose().translation - dense.end().pose().translation).length() < 1e-10);
            let (tau, step) = (h * source.range(0.05, 0.95), 1e-6 * h);
            let [a, b, c] = [tau - step, tau, tau + step].map(|t| dense.at(&from, t).unwrap());
            let slope = (c.pose().translation - a.pose().translation) / (2.0 * step);
            assert!((slope - b.velocity.linear).length() < 1e-5, "{slope} {}", b.velocity.linear);
            let turned = c.pose().rotation * a.pose().rotation.conjugate();
            let spin = DVec3::new(turned.x, turned.y, turned.z) / step;
            assert!((spin - b.velocity.angular).length() < 1e-4, "{spin} {}", b.velocity.angular);
            assert!((dense.center_velocity(&from, tau) - b.velocity.linear).length() < 1e-12);
        }
    }

    #[test]
    fn bounds_hold_for_the_polynomial() {
        let mut source = SplitMix64(4);
        for _ in 0..300 {
            let (from, dense) = random(&mut source);
            let h = dense.length();
            let path = dense.path_box(&from, 0.0).unwrap();
            let direction = source.unit_vec3();
            let most = dense.acceleration_along(direction);
            let mut last: Option<BodyState> = None;
            for k in 0..=20 {
                let state = dense.at(&from, h * f64::from(k) / 20.0).unwrap();
                let at = state.pose().translation;
                assert!(path.contains_box(&Aabb { min: at, max: at }));
                assert!(state.velocity.angular.length() <= dense.max_spin());
                if let Some(before) = last {
                    let change = (state.velocity.linear - before.velocity.linear) * 20.0 / h;
                    assert!(change.length() <= dense.acceleration() * (1.0 + 1e-9));
                    assert!(change.dot(direction) <= most + 1e-9 * dense.acceleration());
                    let change = (state.velocity.angular - before.velocity.angular) * 20.0 / h;
                    assert!(change.length() <= dense.max_angular_acceleration() * (1.0 + 1e-9));
                }
                last = Some(state);
            }
        }
    }
}
