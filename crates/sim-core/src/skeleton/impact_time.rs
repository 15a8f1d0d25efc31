//! When two members meet: one-sided advancement by bounds that no point of either can beat.
//!
//! # Reference
//! Mirtich, *Impulse-based Dynamic Simulation of Rigid Body Systems* (1996), sections 2.3.2 and 2.3.3.
//!
//! # Symbols
//! d distance, n normal from B to A, A and B coefficients of the travel bound of both members together, c = d − ε/2
//! with the contact tolerance ε, τ time from now.
//!
//! # Formula
//! ```text
//! no contact before the root of A τ² + B τ = c;   A = Σ ½ a·(±n),   B = Σ (v·(±n) + r |ω|)
//! ```
//!
//! # Cost
//! One distance per iteration. One iteration for balls, whose bound is exact; about log(d/ε) for spinning boxes.
//!
//! # Numerics
//! The search aims at d = ε/2, so that rounding leaves it on the outer side. A pair that parts from contact takes the
//! later root: the earlier one is the present. A spinning pair at contact whose witness points part but whose bound does
//! not know it advances by half its distance, which then grows geometrically.
//!
//! # Failure
//! [`SkeletonError::NoImpactTime`] when the iterations are used up.
//!
//! # Tested by
//! `impact_times_of_balls_are_the_roots_of_their_parabolas`, `a_spinning_box_is_caught_at_its_first_corner`

use super::{error::SkeletonError, flight::Flight, world::Member};
use sim_math::glam::DVec3;
use sim_traits::{NarrowPhase, PairCache, Shape};

/// What the search needs to know about one of the two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mover<'a> {
    pub(super) member: Member,
    pub(super) shape: &'a Shape,
    pub(super) flight: &'a Flight,
}

impl Mover<'_> {
    fn velocity_at(&self, tau: f64, point: DVec3) -> DVec3 {
        self.flight.velocity(tau) + self.flight.omega.cross(point - self.flight.position(tau))
    }
}

/// A contact found: both members touch there and approach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    /// Seconds from now.
    pub(super) tau: f64,
    /// World point of contact.
    pub(super) point: DVec3,
    /// Unit normal from B to A, world axes.
    pub(super) normal: DVec3,
    /// Distance at that time, metres: the error of the root.
    pub(super) distance: f64,
}

/// Limits of the search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Seconds to look ahead.
    pub(super) horizon: f64,
    /// Distance that counts as contact, metres.
    pub(super) tolerance: f64,
    /// Most distance queries.
    pub(super) max_iterations: u32,
}

/// First contact of an approaching pair within the horizon.
pub(super) fn impact_time(
    narrow: &dyn NarrowPhase,
    a: Mover<'_>,
    b: Mover<'_>,
    limits: &Limits,
    cache: &mut PairCache,
) -> Result<Option<Hit>, SkeletonError> {
    let mut tau = 0.0;
    let mut distance = f64::INFINITY;
    for _ in 0..limits.max_iterations {
        let (world_from_a, world_from_b) = (a.flight.pose(tau), b.flight.pose(tau));
        let found = narrow.separation(a.shape, b.shape, &world_from_a.inverse_mul(&world_from_b), cache)?;
        distance = found.distance;
        let normal = world_from_a.transform_vector(found.normal);
        let point = world_from_a.transform_point(found.point_a);
        let parting = (a.velocity_at(tau, point) - b.velocity_at(tau, point)).dot(normal);
        let touching = distance <= limits.tolerance;
        if touching && parting < 0.0 {
            return Ok(Some(Hit { tau, point, normal, distance }));
        }
        let (a_2, a_1) = a.flight.travel_bound(tau, -normal);
        let (b_2, b_1) = b.flight.travel_bound(tau, normal);
        let Some(step) = safe_step(a_2 + b_2, a_1 + b_1, distance, touching, limits.tolerance) else {
            return Ok(None);
        };
        tau += step;
        if tau > limits.horizon {
            return Ok(None);
        }
    }
    Err(SkeletonError::NoImpactTime {
        a: a.member,
        b: b.member,
        iterations: limits.max_iterations,
        time: tau,
        distance,
    })
}

/// Time during which travel A τ² + B τ cannot use up the distance; `None` if it never does.
fn safe_step(quadratic: f64, linear: f64, distance: f64, touching: bool, tolerance: f64) -> Option<f64> {
    if touching && linear < 0.0 {
        // Parting: the later root, when the bound is back at the level it has now.
        if quadratic <= 0.0 {
            return None;
        }
        let c = distance - 0.5 * tolerance;
        let discriminant = linear * linear + 4.0 * quadratic * c;
        let root = if discriminant > 0.0 { discriminant.sqrt() } else { -linear };
        return Some((root - linear) / (2.0 * quadratic));
    }
    let c = if touching { 0.5 * distance.max(tolerance) } else { distance - 0.5 * tolerance };
    let discriminant = linear * linear + 4.0 * quadratic * c;
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    // The first positive root, in the form without cancellation.
    if linear >= 0.0 {
        let denominator = linear + root;
        (denominator > 0.0).then(|| 2.0 * c / denominator)
    } else {
        (quadratic > 0.0).then(|| (root - linear) / (2.0 * quadratic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::AnalyticPairs;
    use sim_math::{Pose, glam::DQuat, testkit::SplitMix64};
    use sim_traits::{BodyId, Cuboid, HalfSpace, Sphere};

    const LIMITS: Limits = Limits { horizon: 100.0, tolerance: 1e-12, max_iterations: 10_000 };

    fn flight(height: f64, velocity: DVec3, omega: DVec3, spin_radius: f64) -> Flight {
        Flight {
            pose: Pose::from_translation(DVec3::new(0.0, 0.0, height)),
            velocity,
            acceleration: DVec3::new(0.0, 0.0, -9.81),
            omega,
            spin_radius,
            radius: spin_radius,
        }
    }

    fn ground() -> Flight {
        let zero = DVec3::ZERO;
        Flight {
            pose: Pose::IDENTITY,
            velocity: zero,
            acceleration: zero,
            omega: zero,
            spin_radius: 0.0,
            radius: 0.0,
        }
    }

    fn first_contact(shape: &Shape, flight: &Flight) -> Option<Hit> {
        let (plane, ground) = (Shape::from(HalfSpace::up()), ground());
        let member = |i| Member::Body(BodyId::new(i, 0));
        let a = Mover { member: member(0), shape, flight };
        let b = Mover { member: member(1), shape: &plane, flight: &ground };
        impact_time(&AnalyticPairs, a, b, &LIMITS, &mut PairCache::default()).unwrap()
    }

    #[test]
    fn impact_times_of_balls_are_the_roots_of_their_parabolas() {
        let mut random = SplitMix64(6);
        let ball = Shape::from(Sphere::new(0.1).unwrap());
        for _ in 0..1000 {
            let (h, v) = (random.range(0.1, 10.0), random.range(-5.0, 5.0));
            let hit =
                first_contact(&ball, &flight(0.1 + h, DVec3::new(1.0, 2.0, v), DVec3::ONE, 0.0)).unwrap();
            let exact = (v + (v * v + 2.0 * 9.81 * h).sqrt()) / 9.81;
            assert!((hit.tau - exact).abs() < 1e-12, "{} against {exact}", hit.tau);
            assert!(hit.distance.abs() <= 1e-12);
        }
    }

    #[test]
    fn a_spinning_box_is_caught_at_its_first_corner() {
        let mut random = SplitMix64(7);
        let half = DVec3::new(0.3, 0.2, 0.1);
        let cuboid = Shape::from(Cuboid::new(half).unwrap());
        for _ in 0..200 {
            let mut flight = flight(1.0, random.vec3(3.0), random.vec3(10.0), half.length());
            flight.pose.rotation = random.unit_quat();
            let hit = first_contact(&cuboid, &flight).unwrap();
            let lowest = |tau: f64| {
                let r = DQuat::conjugate(flight.pose(tau).rotation) * DVec3::Z;
                flight.position(tau).z - half.dot(r.abs())
            };
            assert!(lowest(hit.tau).abs() < 2e-12);
            for k in 0..2000 {
                let tau = hit.tau * f64::from(k) / 2000.0;
                assert!(lowest(tau) > -1e-12, "missed a contact at {tau} before {}", hit.tau);
            }
        }
    }

    #[test]
    fn what_never_falls_never_hits() {
        let ball = Shape::from(Sphere::new(0.1).unwrap());
        let mut flight = flight(1.0, DVec3::Z, DVec3::ZERO, 0.0);
        flight.acceleration = DVec3::ZERO;
        assert!(first_contact(&ball, &flight).is_none());
    }
}
