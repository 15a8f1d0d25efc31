//! Conservative bounds: how fast a free body can turn, how far a point can travel, how soon two bodies can meet.
//!
//! # Reference
//!
//! Mirtich (1996), sections 2.3.2 and 2.3.3, with the energy ellipsoid's axes corrected to 2E/I.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `moments` | I | principal moments | kg·m² |
//! | `omega_body` | ω | angular velocity in body axes | rad/s |
//! | `travel` | A, B | any point moves at most A τ² + B τ along a direction | m/s², m/s |
//! | `gap` | \|d\| | distance that must be travelled together | m |
//!
//! # Formula
//!
//! ```text
//! x_i = ω_i²:  Σ I_i x_i = 2E,  Σ I_i² x_i = L²,  x ≥ 0      a segment; |ω|² = Σ x_i is largest at one of its ends
//! (A_a + A_b) τ² + (B_a + B_b) τ = gap                        the smallest positive root
//! ```
//!
//! # Cost
//!
//! A dozen divisions; one square root.
//!
//! # Numerics
//!
//! Where two moments nearly agree the ends of the segment lose their digits, and the energy bound takes over; the
//! result is raised by a few ulps, so that it stays a bound.
//!
//! # Failure
//!
//! None: no meeting in sight is +∞.
//!
//! # Tested by
//!
//! `the_exact_bound_is_reached_and_never_exceeded`, `bounds_are_ordered`, `tests/toi.rs`

use sim_math::glam::DVec3;

/// |ω| ≤ |L| / `I_min`, rad/s: the loosest bound.
#[must_use]
pub fn momentum_bound(moments: DVec3, omega_body: DVec3) -> f64 {
    (moments * omega_body).length() / moments.min_element()
}

/// |ω| ≤ √(2E / `I_min`), rad/s: at least as tight as the momentum bound, by a factor of at least √(`I_min`/`I_max`).
#[must_use]
pub fn energy_bound(moments: DVec3, omega_body: DVec3) -> f64 {
    ((moments * omega_body).dot(omega_body) / moments.min_element()).sqrt()
}

/// The largest |ω| that a body can reach without torque, rad/s. Moments are positive.
///
/// ```
/// use rigid_impulse::bounds::{energy_bound, max_angular_speed};
/// use sim_math::glam::DVec3;
///
/// let (moments, omega) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.3, 1.0, 0.1));
/// assert!((max_angular_speed(moments, omega) - 1.19722).abs() < 1e-5);
/// assert!((energy_bound(moments, omega) - 1.45602).abs() < 1e-5);
/// ```
#[must_use]
pub fn max_angular_speed(moments: DVec3, omega_body: DVec3) -> f64 {
    let speed = omega_body.length();
    let energy = energy_bound(moments, omega_body);
    let scale = moments.max_element();
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let differences = pairs.map(|(i, j)| (moments[i] - moments[j]).abs() / scale);
    let closest = differences.iter().copied().fold(f64::INFINITY, f64::min);
    if closest <= 1e-14 {
        return speed * (1.0 + 1e-12); // a symmetric body: |ω| is constant
    }
    if closest < 1e-6 {
        return energy.max(speed) * (1.0 + 1e-12);
    }
    let twice_energy = (moments * omega_body).dot(omega_body);
    let momentum2 = (moments * omega_body).length_squared();
    let mut largest = speed * speed;
    for (i, j) in pairs {
        let (p, q) = (moments[i], moments[j]);
        let x = (momentum2 - q * twice_energy) / (p * (p - q));
        let y = (momentum2 - p * twice_energy) / (q * (q - p));
        // An end just outside by rounding counts: it can only raise the bound.
        let slack = -1e-9 * speed * speed;
        if x >= slack && y >= slack {
            largest = largest.max(x.max(0.0) + y.max(0.0));
        }
    }
    (largest.sqrt() * (1.0 + 1e-9)).min(energy.max(speed) * (1.0 + 1e-12))
}

/// How far any point of a body can get along a direction in time τ: at most A τ² + B τ, metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Travel {
    /// A, m/s²: half an acceleration. Negative when the body is being pulled away.
    pub quadratic: f64,
    /// B, m/s. Negative when the body moves away.
    pub linear: f64,
}

impl Travel {
    /// No travel at all: a fixed body.
    pub const NONE: Self = Self { quadratic: 0.0, linear: 0.0 };

    /// Bound at time τ (s), metres.
    #[inline]
    #[must_use]
    pub fn at(&self, tau: f64) -> f64 {
        tau * (self.quadratic * tau + self.linear)
    }
}

/// Time from now until two convex bodies at `distance` (m) can first touch, s; infinite if they cannot.
///
/// The travels are along the direction from each body's closest point to the other's. Convexity makes every pair of points
/// that will ever touch cover the distance together, wherever the closest points go. To land inside the collision
/// `envelope` (m) rather than at contact, the bound aims half an envelope short while the bodies are outside it, and halfway
/// when they are inside.
#[must_use]
pub fn time_to_impact(distance: f64, envelope: f64, a: Travel, b: Travel) -> f64 {
    let gap = if distance > envelope { distance - 0.5 * envelope } else { 0.5 * distance.max(0.0) };
    first_time(a.quadratic + b.quadratic, a.linear + b.linear, gap)
}

/// [`time_to_impact`] as a date: at least a few ulps after `now` (s), so that time advances.
#[must_use]
pub fn date_of_impact(now: f64, distance: f64, envelope: f64, a: Travel, b: Travel) -> f64 {
    let ulp = f64::EPSILON * now.abs().max(f64::MIN_POSITIVE);
    now + time_to_impact(distance, envelope, a, b).max(4.0 * ulp)
}

/// Smallest positive τ with A τ² + B τ = gap ≥ 0.
fn first_time(a: f64, b: f64, gap: f64) -> f64 {
    if gap <= 0.0 {
        return 0.0;
    }
    let square = b * b + 4.0 * a * gap;
    if square < 0.0 || square.is_nan() {
        return f64::INFINITY;
    }
    let root = square.sqrt();
    // Without a difference of equal numbers in either branch.
    let tau = if b >= 0.0 {
        2.0 * gap / (b + root)
    } else if a > 0.0 {
        (root - b) / (2.0 * a)
    } else {
        f64::INFINITY
    };
    if tau.is_nan() { f64::INFINITY } else { tau }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{assert_close, glam::DQuat, integrate::rotation::TorqueFreeBody, testkit::SplitMix64};

    fn random_moments(random: &mut SplitMix64) -> DVec3 {
        let s = DVec3::new(random.range(0.05, 2.0), random.range(0.05, 2.0), random.range(0.05, 2.0));
        DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y)
    }

    #[test]
    fn printed_values() {
        let (moments, omega) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.3, 1.0, 0.1));
        assert_close!(max_angular_speed(moments, omega), 1.19722, abs = 5e-6);
        assert_close!(energy_bound(moments, omega), 1.45602, abs = 5e-6);
        assert_close!(momentum_bound(moments, omega), 2.04450, abs = 5e-6);
    }

    // proves: MIR-24
    #[test]
    fn the_exact_bound_is_reached_and_never_exceeded() {
        let mut random = SplitMix64(71);
        let mut tight = 0;
        for n in 0..300 {
            let mut moments = random_moments(&mut random);
            if n % 10 == 0 {
                moments.y = moments.x; // symmetric
            }
            if n % 10 == 1 {
                moments.y = moments.x * (1.0 + 1e-9); // nearly so
            }
            let mut w = random.vec3(3.0);
            let bound = max_angular_speed(moments, w);
            let top = TorqueFreeBody::new(moments).unwrap();
            let mut q = DQuat::IDENTITY;
            let mut most = 0.0_f64;
            for _ in 0..20_000 {
                (q, w) = top.step(q, w, 2e-3).unwrap();
                most = most.max(w.length());
            }
            assert!(most <= bound * (1.0 + 1e-9), "{moments}: {most} > {bound}");
            tight += u32::from(most > bound * (1.0 - 1e-5));
        }
        assert!(tight > 200, "the bound is reached in {tight} of 300 motions");
    }

    // proves: MIR-25
    #[test]
    fn bounds_are_ordered() {
        let mut random = SplitMix64(72);
        for _ in 0..100_000 {
            let (moments, omega) = (random_moments(&mut random), random.vec3(5.0));
            let (exact, energy, momentum) = (
                max_angular_speed(moments, omega),
                energy_bound(moments, omega),
                momentum_bound(moments, omega),
            );
            assert!(omega.length() <= exact && exact <= energy * (1.0 + 1e-11));
            let ratio = energy / momentum;
            let least = (moments.min_element() / moments.max_element()).sqrt();
            assert!(ratio <= 1.0 + 1e-12 && ratio >= least * (1.0 - 1e-12));
        }
    }

    #[test]
    fn roots_are_the_first_positive_ones() {
        let cases = [
            (0.0, 2.0, 4.0, 2.0),
            (0.0, 0.0, 1.0, f64::INFINITY),
            (0.0, -1.0, 1.0, f64::INFINITY),
            (1.0, 0.0, 4.0, 2.0),
            (1.0, -3.0, 4.0, 4.0),
            (-1.0, 5.0, 4.0, 1.0),
            (-1.0, 1.0, 4.0, f64::INFINITY),
            (-1.0, -5.0, 4.0, f64::INFINITY),
            (1e-300, 1.0, 1.0, 1.0),
            (3.0, 2.0, 0.0, 0.0),
        ];
        for (a, b, gap, expected) in cases {
            assert_eq!(first_time(a, b, gap), expected, "{a} {b} {gap}");
        }
        // Inside the envelope: half of what is left; outside: half an envelope short.
        let toward = Travel { quadratic: 0.0, linear: 1.0 };
        assert_eq!(time_to_impact(0.5, 1.0, toward, Travel::NONE), 0.25);
        assert_eq!(time_to_impact(3.0, 1.0, toward, Travel::NONE), 2.5);
        assert!(date_of_impact(1e6, 0.0, 1e-3, toward, Travel::NONE) > 1e6);
    }
}
