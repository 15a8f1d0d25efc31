//! Portable random numbers: a scene with a seed is the same scene everywhere.

use sim_math::{
    glam::{DQuat, DVec3},
    ops,
};

/// `SplitMix64`: small, seedable, the same on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in the unit ball. Rejection, with a bound that no seed reaches.
    pub(crate) fn in_ball(&mut self) -> DVec3 {
        for _ in 0..1000 {
            let v = DVec3::new(self.range(-1.0, 1.0), self.range(-1.0, 1.0), self.range(-1.0, 1.0));
            if v.length_squared() <= 1.0 {
                return v;
            }
        }
        DVec3::ZERO
    }

    /// Uniform orientation (Shoemake).
    pub(crate) fn orientation(&mut self) -> DQuat {
        let (u, a, b) =
            (self.unit(), std::f64::consts::TAU * self.unit(), std::f64::consts::TAU * self.unit());
        let ((sa, ca), (sb, cb)) = (ops::sin_cos(a), ops::sin_cos(b));
        let (p, q) = ((1.0 - u).sqrt(), u.sqrt());
        DQuat::from_xyzw(p * sa, p * ca, q * sb, q * cb).normalize()
    }
}
