//! Kinds of motion and what the event queue must know of them: where the centre can be, how far a point can get.
//!
//! # Reference
//!
//! Mirtich (1996), sections 2.4, 2.5 and 5.2.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `direction` | d̂ | unit vector towards the other body | - |
//! | `radius` | `r_max` | largest distance of a body point from its centre | m |
//! | `rate` | Ω | angular rate of a cycler or shaker | rad/s |
//!
//! # Formula
//!
//! ```text
//! ballistic  A = ½ g·d̂              B = v·d̂ + r_max ω_max
//! cycler     A = 0, B = ρΩ    or    A = ½ ρΩ², B = v·d̂     whichever reaches the present distance later;
//!            they meet at a travel of 2 (ρΩ − v·d̂)/Ω
//! link       A = ½ a·d̂, B = v·d̂ + r_max |ω|, each raised by 0.2 of its size: not a bound, so slack is watched
//! ```
//!
//! # Cost
//!
//! A few multiplications; cyclers and shakers evaluate a few sines.
//!
//! # Numerics
//!
//! Boxes come from [`sim_math::swept`], grown by rounding.
//!
//! # Failure
//!
//! Boxes of numbers that are not finite are errors; travels of such numbers are not finite, and the queue refuses them.
//!
//! # Tested by
//!
//! `boxes_contain_the_motion`, `travel_bounds_hold`, `a_cycler_switches_where_its_bounds_meet`,
//! `slack_notices_a_link_that_outruns_its_prediction`

use crate::{body::Body, bounds::Travel, bounds::max_angular_speed, model::BodyKind};
use sim_math::{Aabb, MathError, glam::DVec3, ops, swept};
use std::fmt::Debug;

/// A kind of motion, from the present instant on.
pub trait Motion: Debug + Send + Sync {
    /// Box that the whole body stays in for `dt` ≥ 0 seconds, world.
    ///
    /// # Errors
    /// Numbers that are not finite, or a negative time.
    fn swept_box(&self, dt: f64) -> Result<Aabb, MathError>;

    /// Bound on the travel of any body point along the unit vector `direction`, for a collision at `distance` (m).
    fn travel(&self, direction: DVec3, distance: f64) -> Travel;

    /// Largest distance of a body point from the centre, m.
    fn radius(&self) -> f64;
}

/// Does not move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fixed {
    /// Centre, world, m.
    pub center: DVec3,
    /// Radius, m.
    pub radius: f64,
}

impl Motion for Fixed {
    fn swept_box(&self, _dt: f64) -> Result<Aabb, MathError> {
        swept::fixed_box(Aabb { min: self.center - self.radius, max: self.center + self.radius })
    }

    fn travel(&self, _direction: DVec3, _distance: f64) -> Travel {
        Travel::NONE
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// Free flight under uniform gravity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ballistic {
    /// Centre of mass, world, m.
    pub center: DVec3,
    /// Its velocity, m/s.
    pub velocity: DVec3,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Largest angular speed during the flight, rad/s, see [`max_angular_speed`].
    pub max_spin: f64,
    /// Radius, m.
    pub radius: f64,
}

impl Ballistic {
    /// The flight of a free body; `radius` is the largest distance of its points from the centre of mass. Bodies that are
    /// not free fly without gravity along their velocity.
    #[must_use]
    pub fn of(body: &Body, gravity: DVec3, radius: f64) -> Self {
        let velocity = &body.state.velocity;
        let (gravity, max_spin) = match body.kind() {
            BodyKind::Free(m) => {
                let omega_body = body.pose().inverse_transform_vector(velocity.angular);
                (gravity, max_angular_speed(m.moments(), omega_body))
            }
            _ => (DVec3::ZERO, velocity.angular.length()),
        };
        Self { center: body.pose().translation, velocity: velocity.linear, gravity, max_spin, radius }
    }
}

impl Motion for Ballistic {
    fn swept_box(&self, dt: f64) -> Result<Aabb, MathError> {
        swept::ballistic_box(self.center, self.velocity, self.gravity, dt, self.radius)
    }

    fn travel(&self, direction: DVec3, _distance: f64) -> Travel {
        Travel {
            quadratic: 0.5 * self.gravity.dot(direction),
            linear: self.velocity.dot(direction) + self.radius * self.max_spin,
        }
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// Goes round a circle without turning itself.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cycler {
    /// Centre of the circle, world, m.
    pub center: DVec3,
    /// Two orthogonal unit vectors that span its plane.
    pub plane: [DVec3; 2],
    /// Radius of the circle, m.
    pub circle: f64,
    /// Angular rate, rad/s; positive.
    pub rate: f64,
    /// Angle from the first vector now, rad.
    pub phase: f64,
    /// Radius of the body, m.
    pub radius: f64,
}

impl Cycler {
    /// Position of the centre after `t` seconds.
    #[must_use]
    pub fn position(&self, t: f64) -> DVec3 {
        let (sin, cos) = ops::sin_cos(self.phase + self.rate * t);
        self.center + (self.plane[0] * cos + self.plane[1] * sin) * self.circle
    }

    /// Velocity of the centre after `t` seconds.
    #[must_use]
    pub fn velocity(&self, t: f64) -> DVec3 {
        let (sin, cos) = ops::sin_cos(self.phase + self.rate * t);
        (self.plane[1] * cos - self.plane[0] * sin) * (self.circle * self.rate)
    }
}

/// Linear or quadratic travel of something with a largest speed and acceleration: whichever takes longer to `distance`.
fn limited_travel(speed: f64, acceleration: f64, toward: f64, distance: f64) -> Travel {
    // The bounds meet at τ = 2 (speed − toward)/acceleration.
    let meet = speed * 2.0 * (speed - toward) / acceleration;
    if meet > distance {
        Travel { quadratic: 0.5 * acceleration, linear: toward }
    } else {
        Travel { quadratic: 0.0, linear: speed }
    }
}

impl Motion for Cycler {
    fn swept_box(&self, dt: f64) -> Result<Aabb, MathError> {
        let [u, v] = self.plane.map(|axis| axis * self.circle);
        swept::cycler_box(self.center, u, v, self.phase, self.rate, dt, self.radius)
    }

    fn travel(&self, direction: DVec3, distance: f64) -> Travel {
        let speed = self.circle * self.rate;
        limited_travel(speed, speed * self.rate, self.velocity(0.0).dot(direction), distance)
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// Swings along a line as a sine of time, without turning.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shaker {
    /// Middle of the swing, world, m.
    pub center: DVec3,
    /// Largest displacement from the middle, m.
    pub amplitude: DVec3,
    /// Angular rate, rad/s; positive.
    pub rate: f64,
    /// Phase of the sine now, rad.
    pub phase: f64,
    /// Radius of the body, m.
    pub radius: f64,
}

impl Shaker {
    /// Position of the centre after `t` seconds.
    #[must_use]
    pub fn position(&self, t: f64) -> DVec3 {
        self.center + self.amplitude * ops::sin(self.phase + self.rate * t)
    }

    /// Velocity of the centre after `t` seconds.
    #[must_use]
    pub fn velocity(&self, t: f64) -> DVec3 {
        self.amplitude * (self.rate * ops::cos(self.phase + self.rate * t))
    }
}

impl Motion for Shaker {
    fn swept_box(&self, dt: f64) -> Result<Aabb, MathError> {
        swept::sinusoid_box(self.center, self.amplitude, self.phase, self.rate, dt, self.radius)
    }

    fn travel(&self, direction: DVec3, distance: f64) -> Travel {
        let speed = self.amplitude.length() * self.rate;
        limited_travel(speed, speed * self.rate, self.velocity(0.0).dot(direction), distance)
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// A link of an articulated body: a prediction with a margin, not a bound. [`Slack`] tells when it was wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Centre of mass, world, m.
    pub center: DVec3,
    /// Its velocity, m/s.
    pub velocity: DVec3,
    /// Its acceleration from forward dynamics, m/s².
    pub acceleration: DVec3,
    /// Angular velocity, rad/s.
    pub angular: DVec3,
    /// Radius, m.
    pub radius: f64,
}

impl Motion for Link {
    /// Velocity and acceleration each taken times 1.1.
    fn swept_box(&self, dt: f64) -> Result<Aabb, MathError> {
        swept::link_box(self.center, self.velocity, self.acceleration, dt, self.radius)
    }

    fn travel(&self, direction: DVec3, _distance: f64) -> Travel {
        let raised = |x: f64| x + 0.2 * x.abs();
        Travel {
            quadratic: raised(0.5 * self.acceleration.dot(direction)),
            linear: raised(self.velocity.dot(direction) + self.radius * self.angular.length()),
        }
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// Keeps account of how much of its predicted travel a link has used up.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Slack {
    /// Unit vector towards the other body.
    pub direction: DVec3,
    /// The prediction.
    pub travel: Travel,
    /// When it was made, s.
    pub since: f64,
    /// Travel used so far, m.
    pub used: f64,
    /// When the account was last brought up to date, s.
    pub last: f64,
}

impl Slack {
    /// A fresh account at time `now` (s).
    #[must_use]
    pub fn new(direction: DVec3, travel: Travel, now: f64) -> Self {
        Self { direction, travel, since: now, used: 0.0, last: now }
    }

    /// Books the interval up to `now` (s), during which the components of the velocity lay in `velocity` = [least, most]
    /// (m/s), those of |ω| below `angular` (rad/s), for a link of the given radius (m). False if the link has outrun its
    /// prediction: the time of impact is then to be computed again.
    #[must_use]
    pub fn update(&mut self, now: f64, velocity: [DVec3; 2], angular: DVec3, radius: f64) -> bool {
        let dt = now - self.last;
        if dt <= 0.0 {
            return true;
        }
        let mut speed = 0.0;
        for axis in 0..3 {
            let d = self.direction[axis];
            speed += if d < 0.0 { velocity[0][axis] } else { velocity[1][axis] } * d;
            speed += radius * angular[axis] * (1.0 - d * d).max(0.0).sqrt();
        }
        self.used += speed * dt;
        self.last = now;
        self.used <= self.travel.at(now - self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PrincipalMass;
    use sim_math::{Pose, testkit::SplitMix64};

    fn cycler(random: &mut SplitMix64) -> Cycler {
        let u = random.unit_vec3();
        let v = u.any_orthonormal_vector();
        Cycler {
            center: random.vec3(2.0),
            plane: [u, v],
            circle: random.range(0.1, 2.0),
            rate: random.range(0.1, 5.0),
            phase: random.range(-7.0, 7.0),
            radius: 0.2,
        }
    }

    fn shaker(random: &mut SplitMix64) -> Shaker {
        Shaker {
            center: random.vec3(2.0),
            amplitude: random.vec3(1.0),
            rate: random.range(0.1, 5.0),
            phase: random.range(-7.0, 7.0),
            radius: 0.2,
        }
    }

    #[test]
    fn boxes_contain_the_motion() {
        let mut random = SplitMix64(81);
        for _ in 0..2000 {
            let dt = random.range(0.0, 3.0);
            let (c, s) = (cycler(&mut random), shaker(&mut random));
            let b = Ballistic {
                center: random.vec3(1.0),
                velocity: random.vec3(5.0),
                gravity: DVec3::new(0.0, 0.0, -9.81),
                max_spin: 0.0,
                radius: 0.1,
            };
            let boxes = [&c as &dyn Motion, &s, &b].map(|m| m.swept_box(dt).unwrap().grown(-m.radius()));
            let mut touched = [Aabb { min: c.position(0.0), max: c.position(0.0) }; 3];
            for k in 0..=200 {
                let t = dt * f64::from(k) / 200.0;
                let flight = b.center + b.velocity * t + b.gravity * (0.5 * t * t);
                for (n, x) in [c.position(t), s.position(t), flight].into_iter().enumerate() {
                    assert!(
                        boxes[n].grown(1e-12).contains(x),
                        "{n}: {x} outside {:?} at {t} of {dt}",
                        boxes[n]
                    );
                    let here = Aabb { min: x, max: x };
                    touched[n] = if k == 0 { here } else { touched[n].merged(&here) };
                }
            }
            // And not much larger than the motion.
            for n in 0..3 {
                let excess = boxes[n].size() - touched[n].size();
                assert!(excess.max_element() < 0.02 * (1.0 + dt), "{n}: {excess}");
            }
        }
    }

    #[test]
    fn travel_bounds_hold() {
        let mut random = SplitMix64(82);
        for _ in 0..2000 {
            let (c, s) = (cycler(&mut random), shaker(&mut random));
            let direction = random.unit_vec3();
            for distance in [0.01, 0.3, 2.0, 20.0] {
                let (bound_c, bound_s) = (c.travel(direction, distance), s.travel(direction, distance));
                for k in 1..50 {
                    let t = 0.05 * f64::from(k);
                    let moved = (c.position(t) - c.position(0.0)).dot(direction);
                    assert!(moved <= bound_c.at(t) + 1e-12, "cycler {moved} > {}", bound_c.at(t));
                    let moved = (s.position(t) - s.position(0.0)).dot(direction);
                    assert!(moved <= bound_s.at(t) + 1e-12, "shaker {moved} > {}", bound_s.at(t));
                }
            }
        }
    }

    // proves: MIR-27
    #[test]
    fn a_cycler_switches_where_its_bounds_meet() {
        let mut random = SplitMix64(83);
        for _ in 0..1000 {
            let c = cycler(&mut random);
            let direction = random.unit_vec3();
            let toward = c.velocity(0.0).dot(direction);
            let meet = 2.0 * (c.circle * c.rate - toward) / c.rate;
            let (near, far) = (c.travel(direction, meet * 0.999), c.travel(direction, meet * 1.001));
            assert!(near.quadratic > 0.0 && far.quadratic == 0.0);
            // Either way the chosen one gives the later time.
            for distance in [0.3 * meet, 0.9 * meet, 1.1 * meet, 4.0 * meet] {
                let chosen =
                    crate::bounds::time_to_impact(distance, 0.0, c.travel(direction, distance), Travel::NONE);
                for other in [near, far] {
                    let time = crate::bounds::time_to_impact(distance, 0.0, other, Travel::NONE);
                    assert!(chosen >= time * (1.0 - 1e-12));
                }
            }
        }
    }

    #[test]
    fn slack_notices_a_link_that_outruns_its_prediction() {
        let link = Link {
            center: DVec3::ZERO,
            velocity: DVec3::X,
            acceleration: DVec3::ZERO,
            angular: DVec3::ZERO,
            radius: 0.5,
        };
        let travel = link.travel(DVec3::X, 1.0);
        assert_eq!(travel, Travel { quadratic: 0.0, linear: 1.2 });
        let mut slack = Slack::new(DVec3::X, travel, 10.0);
        // At the predicted speed there is room to spare.
        assert!(slack.update(10.5, [DVec3::X, DVec3::X], DVec3::ZERO, 0.5));
        // Then it runs at 2 m/s: 0.5 + 2 · 0.25 > 1.2 · 0.75.
        assert!(!slack.update(10.75, [DVec3::X, DVec3::X * 2.0], DVec3::ZERO, 0.5));
        assert!(slack.update(10.7, [DVec3::ZERO; 2], DVec3::ZERO, 0.5), "the past is not booked twice");
        assert!(link.swept_box(1.0).unwrap().contains(DVec3::new(1.6, 0.0, 0.0)));
    }

    #[test]
    fn a_flying_body_brings_its_spin_bound() {
        let mass = PrincipalMass::new(1.0, DVec3::new(1.0, 2.0, 3.0)).unwrap();
        let mut body = Body::free(mass, Pose::IDENTITY).unwrap();
        body.state.velocity.angular = DVec3::new(0.3, 1.0, 0.1);
        let flight = Ballistic::of(&body, DVec3::new(0.0, 0.0, -10.0), 2.0);
        let travel = flight.travel(DVec3::NEG_Z, 1.0);
        assert_eq!(travel.quadratic, 5.0);
        assert!((travel.linear - 2.0 * 1.19722).abs() < 1e-4);
        let fixed = Fixed { center: DVec3::X, radius: 1.0 };
        assert_eq!(fixed.travel(DVec3::X, 1.0), Travel::NONE);
        assert!(flight.swept_box(f64::NAN).is_err() && flight.swept_box(-1.0).is_err());
        assert!(fixed.swept_box(1.0).unwrap().contains(DVec3::ZERO) && fixed.radius() == 1.0);
    }
}
