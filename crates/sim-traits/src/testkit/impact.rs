//! Conformance of [`ImpactLaw`]s: pushing only, friction cone, no energy from nowhere, known answers, bad input.

use super::SplitMix64;
use crate::{Impact, ImpactError, ImpactLaw};
use sim_math::glam::{DMat3, DVec3};

/// What to demand.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Random collisions to try.
    pub count: u32,
    /// Largest excess of the tangential impulse over the cone, relative to the impulse.
    pub cone: f64,
    /// Largest energy gain for e ≤ 1, relative to the energy of the approach; infinite for laws that may create energy.
    pub energy: f64,
    /// Largest error where the answer is known, relative to the impulse.
    pub known: f64,
    /// The law knows friction: the tangential impulse of a sliding ball is on the cone.
    pub friction: bool,
    /// First number of the random stream.
    pub seed: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { count: 2000, cone: 1e-12, energy: 1e-9, known: 1e-8, friction: true, seed: 1 }
    }
}

/// A random approaching collision with a positive definite matrix.
#[must_use]
pub fn random_impact(random: &mut SplitMix64) -> Impact {
    let axes = DMat3::from_quat(random.unit_quat());
    let diagonal = DVec3::new(random.range(0.05, 1.0), random.range(0.05, 1.0), random.range(0.05, 1.0));
    let k = axes * DMat3::from_diagonal(diagonal) * axes.transpose();
    let mut velocity = random.vec3(2.0);
    velocity.z = -velocity.z.abs().max(1e-3);
    Impact {
        k: (k + k.transpose()) * 0.5,
        velocity,
        friction: random.range(0.0, 1.5),
        restitution: random.unit(),
    }
}

/// Runs the kit; the first violation as text.
///
/// # Errors
/// What the law did wrong, and on which collision.
pub fn conformance(law: &dyn ImpactLaw, bounds: &Bounds) -> Result<(), String> {
    random_collisions(law, bounds)?;
    balls(law, bounds)?;
    bad_input(law)
}

fn random_collisions(law: &dyn ImpactLaw, bounds: &Bounds) -> Result<(), String> {
    let mut random = SplitMix64(bounds.seed);
    for n in 0..bounds.count {
        let impact = random_impact(&mut random);
        let p = law.impulse(&impact).map_err(|e| format!("collision {n}: {e}: {impact:?}"))?;
        let again = law.impulse(&impact).map_err(|e| e.to_string())?;
        if p.to_array().map(f64::to_bits) != again.to_array().map(f64::to_bits) {
            return Err(format!("collision {n}: {p} and then {again} for {impact:?}"));
        }
        let after = impact.velocity + impact.k * p;
        if p.is_nan() || p.z <= 0.0 {
            return Err(format!("collision {n}: impulse {p} does not push: {impact:?}"));
        }
        if after.z < -1e-9 * impact.velocity.length() {
            return Err(format!("collision {n}: still approaching with {after} after {p}: {impact:?}"));
        }
        let excess = p.truncate().length() - impact.friction * p.z;
        if excess > bounds.cone * p.length() {
            return Err(format!("collision {n}: {excess:e} outside the friction cone: {impact:?}"));
        }
        let gain = 0.5 * (impact.velocity + after).dot(p);
        let energy = 0.5 * impact.velocity.dot(impact.k.inverse() * impact.velocity);
        if gain > bounds.energy * energy {
            return Err(format!("collision {n}: energy grows by {gain:e} of {energy:e}: {impact:?}"));
        }
        let apart = Impact { velocity: -impact.velocity, ..impact };
        match law.impulse(&apart) {
            Ok(DVec3::ZERO) => {}
            other => return Err(format!("collision {n}: separating bodies got {other:?}")),
        }
    }
    Ok(())
}

/// A uniform ball on the ground: every law knows the answer.
fn balls(law: &dyn ImpactLaw, bounds: &Bounds) -> Result<(), String> {
    let k = DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0));
    for (slide, friction, restitution) in [(5.0, 0.3, 0.5), (0.1, 0.3, 0.5), (0.0, 0.3, 0.0), (2.0, 0.0, 1.0)]
    {
        let impact = Impact { k, velocity: DVec3::new(slide, 0.0, -1.0), friction, restitution };
        let p = law.impulse(&impact).map_err(|e| e.to_string())?;
        let normal = 1.0 + restitution;
        let tangential = if bounds.friction { (friction * normal).min(2.0 / 7.0 * slide) } else { 0.0 };
        let error = (p - DVec3::new(-tangential, 0.0, normal)).length();
        if error.is_nan() || error > bounds.known * normal {
            return Err(format!("ball: expected [{}, 0, {normal}], got {p} for {impact:?}", -tangential));
        }
    }
    Ok(())
}

fn bad_input(law: &dyn ImpactLaw) -> Result<(), String> {
    let good =
        Impact { k: DMat3::IDENTITY, velocity: DVec3::new(0.5, 0.0, -1.0), friction: 0.3, restitution: 0.5 };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut k = good.k;
        k.z_axis.z = bad;
        let cases = [
            Impact { k, ..good },
            Impact { velocity: DVec3::new(bad, 0.0, -1.0), ..good },
            Impact { friction: bad, ..good },
            Impact { restitution: bad, ..good },
        ];
        for impact in cases {
            match law.impulse(&impact) {
                Err(ImpactError::NonFinite { .. }) => {}
                other => return Err(format!("{impact:?}: expected NonFinite, got {other:?}")),
            }
        }
    }
    for impact in [Impact { friction: -0.1, ..good }, Impact { restitution: -0.1, ..good }] {
        match law.impulse(&impact) {
            Err(ImpactError::Negative { .. }) => {}
            other => return Err(format!("{impact:?}: expected Negative, got {other:?}")),
        }
    }
    match law.impulse(&Impact { k: DMat3::ZERO, ..good }) {
        Err(ImpactError::BadMatrix { .. }) => Ok(()),
        other => Err(format!("zero matrix: expected BadMatrix, got {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Right for frictionless contacts, or wrong in one way each.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Law {
        Frictionless,
        Pulls,
        TooBouncy,
        Unchecked,
        LeavesTheCone,
        PushesPartingBodies,
    }

    impl ImpactLaw for Law {
        fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
            if *self != Self::Unchecked {
                impact.validate()?;
            }
            if impact.velocity.z >= 0.0 && *self != Self::PushesPartingBodies {
                return Ok(DVec3::ZERO);
            }
            let p = -(1.0 + impact.restitution) * impact.velocity.z / impact.k.z_axis.z;
            Ok(match self {
                Self::Pulls => DVec3::new(0.0, 0.0, -p),
                Self::TooBouncy => DVec3::new(0.0, 0.0, 2.0 * p),
                Self::LeavesTheCone => DVec3::new(2.0 * impact.friction * p, 0.0, p),
                _ => DVec3::new(0.0, 0.0, p),
            })
        }
    }

    #[test]
    fn a_frictionless_law_conforms_and_broken_ones_are_found_out() {
        let bounds = Bounds { friction: false, count: 200, ..Bounds::default() };
        conformance(&Law::Frictionless, &bounds).unwrap();
        for broken in
            [Law::Pulls, Law::TooBouncy, Law::Unchecked, Law::LeavesTheCone, Law::PushesPartingBodies]
        {
            assert!(conformance(&broken, &bounds).is_err(), "{broken:?} passed");
        }
    }
}
