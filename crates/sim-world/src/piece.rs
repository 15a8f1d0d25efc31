//! Trajectory pieces: the state at a start time, and the law that gives every later state.
//!
//! # Reference
//!
//! Mirtich (1996), sections 2.3.2, 2.4 and 2.5: motion types with swept boxes and travel bounds; 8.2: each body has its own time.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `start` | time at which the piece begins | s |
//! | `state` | pose of the centre of mass with principal axes, velocity there, at `start` | m, m/s, rad/s |
//! | `spin_radius` | largest distance from the centre of a point that turning moves: the shape without its rounding | m |
//! | `radius` | largest distance of a point of the shape from the centre | m |
//!
//! # Formula
//!
//! ```text
//! x(t) = x₀ + v₀ τ + ½ a τ²,  τ = t − start;   rotation: torque-free, in closed form
//! under forces: a polynomial of one integration step, see `dense`; its bounds hold up to the end of the piece
//! travel along d̂ from t on: at most ½ a·d̂ τ² + (v(t)·d̂ + r_spin ω_max) τ
//! box over [t, t′]: box of the shape at t, carried along the path, grown by r_spin min(ω_max (t′ − t), 2)
//! ```
//!
//! # Cost
//!
//! One torque-free step per evaluation of a spinning body, a few multiplications otherwise; no allocation.
//!
//! # Numerics
//!
//! An evaluation always begins at the start of the piece, so its bits do not depend on when the piece was looked at
//! before, and errors do not pile up between events.
//!
//! # Failure
//!
//! [`BodyError`] for a time or state that is not finite.
//!
//! # Tested by
//!
//! `looking_at_a_piece_changes_nothing`, `boxes_contain_what_moves`, `travel_bounds_hold`

use crate::{
    dense::Dense,
    script::{Limits, Script},
};
use rigid_impulse::{BodyError, BodyKind, BodyModel, BodyState, bounds::Travel, bounds::max_angular_speed};
use sim_math::{Aabb, Pose, glam::DVec3, swept};
use sim_traits::Shape;
use std::sync::Arc;

/// |ω × (ω × r)| + |ω̇ × r| ≤ s ω² r for a body that turns freely, s = 1 + 1/√3: its moments obey the triangle
/// inequality, so that each |ω̇ᵢ| ≤ |ωⱼ ωₖ|.
const FREE_SWERVE: f64 = 1.577_350_269_189_626;

/// How the state follows from the start of the piece.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Law {
    /// Nothing changes.
    Still,
    /// Constant acceleration (m/s²) of the centre of mass, torque-free rotation up to `max_spin` (rad/s).
    Ballistic {
        /// Gravity and constant forces, m/s².
        acceleration: DVec3,
        /// Largest angular speed ever reached, rad/s.
        max_spin: f64,
    },
    /// Under forces that depend on the state: a step of integration, whose end is an event.
    Integrated(Arc<Dense>),
    /// A function of world time; the start of the piece does not matter.
    Scripted {
        /// The motion.
        script: Arc<dyn Script>,
        /// Its limits, asked once.
        limits: Limits,
    },
}

/// Motion of one body until its next event.
#[derive(Debug, Clone)]
pub struct Piece {
    start: f64,
    state: BodyState,
    law: Law,
}

/// What of a collider matters for bounds: its place and size on the body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Pose of the shape in the body frame (centre of mass, principal axes).
    pub body_from_shape: Pose,
    /// Largest distance of a point of the shape from the origin of the body frame, m; may be infinite.
    pub radius: f64,
    /// The same for the core of the shape, without the radius of a sphere or capsule, m.
    pub spin_radius: f64,
}

impl Extent {
    /// Size of a shape at a pose in the body frame.
    #[must_use]
    pub fn new(shape: &Shape, body_from_shape: Pose) -> Self {
        let offset = body_from_shape.translation.length();
        let core = match shape {
            Shape::Sphere(_) => 0.0,
            Shape::Capsule(c) => c.half_height(),
            _ => shape.bounding_radius(),
        };
        Self { body_from_shape, radius: offset + shape.bounding_radius(), spin_radius: offset + core }
    }
}

impl Piece {
    /// A body that stays where it is.
    #[must_use]
    pub fn still(state: BodyState) -> Self {
        Self { start: 0.0, state, law: Law::Still }
    }

    /// From saved parts.
    #[cfg(feature = "serde")]
    pub(crate) fn raw(start: f64, state: BodyState, law: Law) -> Self {
        Self { start, state, law }
    }

    /// Free flight from `state` at time `start` (s) with constant acceleration of the centre of mass (m/s²). For a body that is
    /// not free the velocity is constant.
    #[must_use]
    pub fn ballistic(start: f64, model: &BodyModel, state: BodyState, acceleration: DVec3) -> Self {
        let max_spin = match model.kind() {
            BodyKind::Free(m) if state.velocity.angular != DVec3::ZERO => {
                let omega_body = state.pose().inverse_transform_vector(state.velocity.angular);
                max_angular_speed(m.moments(), omega_body)
            }
            _ => state.velocity.angular.length(),
        };
        Self { start, state, law: Law::Ballistic { acceleration, max_spin } }
    }

    /// As [`Piece::ballistic`], with a bound on the angular speed that costs little and is up to the root of the ratio of its moments too large.
    pub(crate) fn ballistic_loosely(
        start: f64,
        model: &BodyModel,
        state: BodyState,
        acceleration: DVec3,
    ) -> Self {
        let spin = state.velocity.angular.length();
        let max_spin = match model.kind() {
            BodyKind::Free(m) if spin > 0.0 => {
                spin * (m.moments().max_element() / m.moments().min_element()).sqrt() * (1.0 + 1e-12)
            }
            _ => spin,
        };
        Self { start, state, law: Law::Ballistic { acceleration, max_spin } }
    }

    /// Motion under forces.
    pub(crate) fn integrated(start: f64, state: BodyState, dense: Arc<Dense>) -> Self {
        Self { start, state, law: Law::Integrated(dense) }
    }

    pub(crate) fn into_law(self) -> Law {
        self.law
    }

    /// Time up to which the law is known, s: infinite unless the body is under forces that depend on its state.
    #[inline]
    #[must_use]
    pub fn end(&self) -> f64 {
        match &self.law {
            Law::Integrated(dense) => self.start + dense.length(),
            Law::Still | Law::Ballistic { .. } | Law::Scripted { .. } => f64::INFINITY,
        }
    }

    /// Motion by a script.
    ///
    /// # Errors
    /// Limits that make no sense, or a pose that is not finite at `start`.
    pub fn scripted(start: f64, script: Arc<dyn Script>) -> Result<Self, BodyError> {
        let limits = script.limits();
        limits.validate()?;
        let state = scripted_state(script.as_ref(), start)?;
        Ok(Self { start, state, law: Law::Scripted { script, limits } })
    }

    /// Time at which the piece begins, s.
    #[inline]
    #[must_use]
    pub fn start(&self) -> f64 {
        self.start
    }

    /// State at the start.
    #[inline]
    #[must_use]
    pub fn state(&self) -> &BodyState {
        &self.state
    }

    /// The law of motion.
    #[inline]
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// True if nothing ever changes.
    #[inline]
    #[must_use]
    pub fn is_still(&self) -> bool {
        matches!(self.law, Law::Still)
    }

    /// State at a time (s) not before the start, of the body with this model.
    ///
    /// # Errors
    /// The time or the state is not finite.
    #[inline]
    pub fn at(&self, model: &BodyModel, time: f64) -> Result<BodyState, BodyError> {
        match &self.law {
            Law::Still => Ok(self.state),
            // Asked for by everything that follows a collision.
            Law::Ballistic { .. } if time.to_bits() == self.start.to_bits() => Ok(self.state),
            Law::Ballistic { acceleration, .. } => {
                let mut state = self.state;
                state.advance(model, time - self.start, *acceleration)?;
                Ok(state)
            }
            Law::Integrated(dense) => {
                let past = time - self.end();
                if past < 0.0 { dense.at(&self.state, time - self.start) } else { dense.beyond(model, past) }
            }
            Law::Scripted { script, .. } => scripted_state(script.as_ref(), time),
        }
    }

    /// Acceleration of the centre of mass, m/s²: a bound of its size for scripts and under forces.
    #[must_use]
    pub fn acceleration(&self) -> f64 {
        match &self.law {
            Law::Still => 0.0,
            Law::Ballistic { acceleration, .. } => acceleration.length(),
            Law::Integrated(dense) => dense.acceleration(),
            Law::Scripted { limits, .. } => limits.acceleration,
        }
    }

    /// Velocity of the centre of mass at a time (s), m/s: cheaper than the whole state.
    #[inline]
    #[must_use]
    pub fn center_velocity(&self, time: f64) -> DVec3 {
        match &self.law {
            Law::Still => DVec3::ZERO,
            Law::Ballistic { acceleration, .. } => {
                self.state.velocity.linear + *acceleration * (time - self.start)
            }
            Law::Integrated(dense) => dense.center_velocity(&self.state, time - self.start),
            Law::Scripted { script, .. } => script.velocity(time).linear,
        }
    }

    /// Acceleration vector of the centre of mass, m/s²; zero where it changes and only has a bound:
    /// [`Piece::unsteady_acceleration`].
    #[inline]
    #[must_use]
    pub fn uniform_acceleration(&self) -> DVec3 {
        match &self.law {
            Law::Ballistic { acceleration, .. } => *acceleration,
            Law::Still | Law::Scripted { .. } | Law::Integrated(_) => DVec3::ZERO,
        }
    }

    /// Bound on the size of an acceleration of the centre that changes along the piece, m/s².
    #[inline]
    #[must_use]
    pub fn unsteady_acceleration(&self) -> f64 {
        match &self.law {
            Law::Still | Law::Ballistic { .. } => 0.0,
            Law::Integrated(dense) => dense.acceleration(),
            Law::Scripted { limits, .. } => limits.acceleration,
        }
    }

    /// Bound on |ω|² + |ω̇|, 1/s²: times a distance from the centre it is the acceleration by turning.
    #[inline]
    #[must_use]
    pub fn max_swerve(&self) -> f64 {
        match &self.law {
            Law::Still => 0.0,
            Law::Integrated(dense) => dense.max_spin() * dense.max_spin() + dense.max_angular_acceleration(),
            Law::Ballistic { max_spin, .. } => FREE_SWERVE * max_spin * max_spin,
            Law::Scripted { limits, .. } => limits.angular * limits.angular + limits.angular_acceleration,
        }
    }

    /// Bound on the travel along the unit vector `direction`, from now on, of any point within `spin_radius` (m) of the
    /// centre, for a collision at `distance` (m). `velocity` is that of the centre now, m/s.
    #[inline]
    #[must_use]
    pub fn travel(&self, velocity: DVec3, direction: DVec3, distance: f64, spin_radius: f64) -> Travel {
        match &self.law {
            Law::Still => Travel::NONE,
            Law::Ballistic { acceleration, max_spin } => Travel {
                quadratic: 0.5 * acceleration.dot(direction),
                linear: velocity.dot(direction) + turning(spin_radius, *max_spin),
            },
            Law::Integrated(dense) => Travel {
                quadratic: 0.5 * dense.acceleration_along(direction),
                linear: velocity.dot(direction) + turning(spin_radius, dense.max_spin()),
            },
            Law::Scripted { limits, .. } => limits.travel(velocity, direction, distance, spin_radius),
        }
    }

    /// Largest angular speed ever reached, rad/s.
    #[inline]
    #[must_use]
    pub fn max_spin(&self) -> f64 {
        match &self.law {
            Law::Still => 0.0,
            Law::Ballistic { max_spin, .. } => *max_spin,
            Law::Integrated(dense) => dense.max_spin(),
            Law::Scripted { limits, .. } => limits.angular,
        }
    }

    /// Box that a shape of the body stays in for `dt` ≥ 0 seconds from `now` on, world; beyond the end of the piece it is a
    /// guess.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn swept_box(
        &self,
        now: &BodyState,
        dt: f64,
        shape: &Shape,
        extent: &Extent,
    ) -> Result<Aabb, BodyError> {
        let present = shape.aabb(&(*now.pose() * extent.body_from_shape));
        let center = now.pose().translation;
        let (path, max_spin) = match &self.law {
            Law::Still => return Ok(present),
            Law::Ballistic { acceleration, max_spin } => {
                (swept::ballistic_box(center, now.velocity.linear, *acceleration, dt, 0.0)?, *max_spin)
            }
            Law::Integrated(dense) => (dense.path_box(&self.state, dt)?, dense.max_spin()),
            Law::Scripted { limits, .. } => {
                let reach = DVec3::splat(limits.speed * dt);
                (Aabb { min: center - reach, max: center + reach }, limits.angular)
            }
        };
        let swing = turning(extent.spin_radius, (max_spin * dt).min(2.0));
        let outer = DVec3::splat(extent.radius);
        Ok(Aabb {
            min: path.min + (present.min - center - swing).max(-outer),
            max: path.max + (present.max - center + swing).min(outer),
        })
    }
}

/// Radius times rate, where a half-space that does not turn has an infinite radius.
#[inline]
fn turning(radius: f64, rate: f64) -> f64 {
    if rate > 0.0 { radius * rate } else { 0.0 }
}

fn scripted_state(script: &dyn Script, time: f64) -> Result<BodyState, BodyError> {
    let mut state = BodyState::at_rest(script.pose(time))?;
    let velocity = script.velocity(time);
    if let Some(&value) = velocity.to_array().iter().find(|x| !x.is_finite()) {
        return Err(BodyError::NonFinite { what: "scripted velocity", value });
    }
    state.velocity = velocity;
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Screw;
    use rigid_impulse::PrincipalMass;
    use sim_math::{spatial::Motion, testkit::SplitMix64};
    use sim_traits::{Capsule, Cuboid, HalfSpace, Sphere};

    fn shapes() -> [Shape; 3] {
        [
            Sphere::new(0.2).unwrap().into(),
            Capsule::new(0.1, 0.3).unwrap().into(),
            Cuboid::new(DVec3::new(0.3, 0.1, 0.2)).unwrap().into(),
        ]
    }

    fn random_piece(random: &mut SplitMix64) -> (BodyModel, Piece) {
        let mass = PrincipalMass::cuboid(1.0, DVec3::new(0.5, 0.3, 0.1)).unwrap();
        let pose = Pose::new(random.vec3(2.0), random.unit_quat());
        let mut state = BodyState::at_rest(pose).unwrap();
        state.velocity = Motion::new(random.vec3(8.0), random.vec3(4.0));
        if random.range(0.0, 1.0) < 0.3 {
            let velocity = state.velocity;
            let piece = Piece::scripted(0.5, Arc::new(Screw { start: pose, velocity })).unwrap();
            return (BodyModel::new(BodyKind::Scripted), piece);
        }
        let model = BodyModel::new(BodyKind::Free(mass));
        (model, Piece::ballistic(0.5, &model, state, random.vec3(10.0)))
    }

    #[test]
    fn looking_at_a_piece_changes_nothing() {
        let mut random = SplitMix64(1);
        for _ in 0..100 {
            let (model, piece) = random_piece(&mut random);
            let at = piece.at(&model, 1.7).unwrap();
            for k in 0..5 {
                piece.at(&model, 0.5 + 0.2 * f64::from(k)).unwrap();
            }
            assert_eq!(piece.at(&model, 1.7).unwrap(), at);
            assert!(piece.at(&model, f64::NAN).is_err());
        }
    }

    #[test]
    fn boxes_contain_what_moves() {
        let mut random = SplitMix64(2);
        for _ in 0..300 {
            let (model, piece) = random_piece(&mut random);
            let (from, dt) = (random.range(0.5, 1.0), random.range(0.0, 0.5));
            let now = piece.at(&model, from).unwrap();
            for shape in shapes() {
                let extent = Extent::new(&shape, Pose::new(random.vec3(0.5), random.unit_quat()));
                let swept = piece.swept_box(&now, dt, &shape, &extent).unwrap();
                for k in 0..=10 {
                    let then = piece.at(&model, from + dt * f64::from(k) / 10.0).unwrap();
                    let inner = shape.aabb(&(*then.pose() * extent.body_from_shape));
                    assert!(swept.grown(1e-12).contains_box(&inner), "{shape:?} leaves its box");
                }
            }
        }
    }

    #[test]
    fn travel_bounds_hold() {
        let mut random = SplitMix64(3);
        for _ in 0..300 {
            let (model, piece) = random_piece(&mut random);
            let from = random.range(0.5, 1.0);
            let now = piece.at(&model, from).unwrap();
            for shape in shapes() {
                let extent = Extent::new(&shape, Pose::new(random.vec3(0.5), random.unit_quat()));
                for _ in 0..10 {
                    let (direction, tau) = (random.unit_vec3(), random.range(0.0, 0.5));
                    // How far the plane that bounds the shape along the direction can have moved.
                    let height = |state: &BodyState| {
                        let pose = *state.pose() * extent.body_from_shape;
                        let local = pose.inverse_transform_vector(direction);
                        direction.dot(pose.transform_point(shape.support(local).unwrap()))
                    };
                    let then = piece.at(&model, from + tau).unwrap();
                    let bound =
                        piece.travel(piece.center_velocity(from), direction, 1.0, extent.spin_radius).at(tau);
                    let travelled = height(&then) - height(&now);
                    assert!(travelled <= bound + 1e-12, "{shape:?}: {travelled} beyond {bound}");
                }
            }
        }
    }

    #[test]
    fn a_half_space_that_moves_without_turning_has_finite_bounds() {
        let velocity = Motion::new(DVec3::ZERO, DVec3::Z);
        let piece = Piece::scripted(0.0, Arc::new(Screw { start: Pose::IDENTITY, velocity })).unwrap();
        let floor = Shape::from(HalfSpace::up());
        let extent = Extent::new(&floor, Pose::IDENTITY);
        let now = piece.at(&BodyModel::new(BodyKind::Scripted), 0.0).unwrap();
        let bound = piece.travel(now.velocity.linear, DVec3::Z, 1.0, extent.spin_radius);
        assert_eq!((bound.quadratic, bound.linear), (0.0, 1.0));
        assert!(piece.swept_box(&now, 0.5, &floor, &extent).unwrap().max.z >= 0.5);
    }
}
