//! Random input and comparisons for tests and benches (feature `testkit`).
//!
//! Raw `f64` from quickcheck is NaN, infinite or as large as 1e308; the newtypes here draw the values that
//! a physics routine should handle, shrink towards simple ones, and come from fixed seeds through [`check`].

pub mod allocations;
mod meshes;
pub mod soak;

pub use meshes::icosphere;

use glam::{DQuat, DVec3};
use quickcheck::{Arbitrary, Gen, QuickCheck, Testable};

/// Runs a property `count` times on input drawn from a fixed `seed`; panics with the shrunk counter-example.
pub fn check<P: Testable>(seed: u64, count: u64, property: P) {
    QuickCheck::new()
        .rng(Gen::from_size_and_seed(20, seed))
        .tests(count)
        .max_tests(count * 10)
        .quickcheck(property);
}

/// Asserts |a − b| ≤ abs + rel · max(|a|, |b|), printing both sides and the difference.
#[macro_export]
macro_rules! assert_close {
    ($a:expr, $b:expr, rel = $rel:expr, abs = $abs:expr) => {{
        let (a, b): (f64, f64) = ($a, $b);
        let allowed = $abs + $rel * a.abs().max(b.abs());
        assert!(
            (a - b).abs() <= allowed,
            "{} = {a:e}, {} = {b:e}: differ by {:e}, allowed {allowed:e}",
            stringify!($a),
            stringify!($b),
            (a - b).abs()
        );
    }};
    ($a:expr, $b:expr, rel = $rel:expr) => {
        $crate::assert_close!($a, $b, rel = $rel, abs = 0.0)
    };
    ($a:expr, $b:expr, abs = $abs:expr) => {
        $crate::assert_close!($a, $b, rel = 0.0, abs = $abs)
    };
}

/// The splitmix64 generator: small, portable, and the one the benchmark workloads are defined with.
#[derive(Debug, Clone)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform in [lo, hi).
    #[inline]
    pub fn range(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// Uniform in 0..n; 0 for n = 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Each coordinate uniform in [-scale, scale).
    pub fn vec3(&mut self, scale: f64) -> DVec3 {
        DVec3::new(self.range(-scale, scale), self.range(-scale, scale), self.range(-scale, scale))
    }

    /// Uniform on the unit sphere.
    pub fn unit_vec3(&mut self) -> DVec3 {
        loop {
            let v = self.vec3(1.0);
            let squared = v.length_squared();
            if squared > 1e-4 && squared <= 1.0 {
                return v / squared.sqrt();
            }
        }
    }

    /// Uniform over all rotations.
    pub fn unit_quat(&mut self) -> DQuat {
        loop {
            let (v, w) = (self.vec3(1.0), self.range(-1.0, 1.0));
            let squared = v.length_squared() + w * w;
            if squared > 1e-4 && squared <= 1.0 {
                return (DQuat::from_xyzw(v.x, v.y, v.z, w) * (1.0 / squared.sqrt())).normalize();
            }
        }
    }
}

fn stream(g: &mut Gen) -> SplitMix64 {
    SplitMix64(u64::arbitrary(g))
}

/// A coordinate in [-10, 10], with zero and whole numbers over-represented.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coord(pub f64);

impl Arbitrary for Coord {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut random = stream(g);
        match random.below(8) {
            0 => Self(0.0),
            1 => Self(random.range(-10.0, 11.0).floor().clamp(-10.0, 10.0)),
            _ => Self(random.range(-10.0, 10.0)),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let x = self.0;
        let simpler = [0.0, x.trunc(), (x * 8.0).trunc() / 8.0];
        Box::new(simpler.into_iter().filter(move |s| s.abs() < x.abs()).map(Self))
    }
}

/// A positive number from 1e-3 to 1e3, log-uniform: sizes, masses, stiffnesses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Positive(pub f64);

impl Arbitrary for Positive {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(crate::ops::exp(stream(g).range(-6.9, 6.9)))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let x = self.0;
        Box::new(
            [1.0, x.round().max(1.0)]
                .into_iter()
                .filter(move |s| (s - 1.0).abs() < (x - 1.0).abs())
                .map(Self),
        )
    }
}

/// Three coordinates in [-10, 10].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector(pub DVec3);

impl Arbitrary for Vector {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(DVec3::new(Coord::arbitrary(g).0, Coord::arbitrary(g).0, Coord::arbitrary(g).0))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let v = self.0;
        Box::new((0..3).flat_map(move |axis| {
            Coord(v[axis]).shrink().map(move |c| {
                let mut simpler = v;
                simpler[axis] = c.0;
                Self(simpler)
            })
        }))
    }
}

/// A unit vector; one in four lies on a coordinate axis, one in eight within 1e-9 of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitVec(pub DVec3);

const AXES: [DVec3; 6] = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z];

impl Arbitrary for UnitVec {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut random = stream(g);
        let axis = AXES[random.below(6)];
        match random.below(8) {
            0 | 1 => Self(axis),
            2 => Self((axis + random.vec3(1e-9)).normalize()),
            _ => Self(random.unit_vec3()),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        if AXES.contains(&self.0) {
            quickcheck::empty_shrinker()
        } else {
            Box::new(AXES.into_iter().map(Self))
        }
    }
}

/// A unit quaternion; one in eight is the identity, one in eight a turn by a multiple of 90 degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitQuat(pub DQuat);

impl Arbitrary for UnitQuat {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut random = stream(g);
        match random.below(8) {
            0 => Self(DQuat::IDENTITY),
            1 => {
                let quarter_turns = random.below(4) as f64;
                Self(DQuat::from_axis_angle(
                    AXES[random.below(6)],
                    quarter_turns * std::f64::consts::FRAC_PI_2,
                ))
            }
            _ => Self(random.unit_quat()),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        if self.0 == DQuat::IDENTITY {
            quickcheck::empty_shrinker()
        } else {
            quickcheck::single_shrinker(Self(DQuat::IDENTITY))
        }
    }
}

/// Position within 10 m and any orientation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnyPose(pub crate::Pose);

impl Arbitrary for AnyPose {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(crate::Pose::new(Vector::arbitrary(g).0, UnitQuat::arbitrary(g).0))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let pose = self.0;
        let translations =
            Vector(pose.translation).shrink().map(move |t| crate::Pose::new(t.0, pose.rotation));
        let rotations =
            UnitQuat(pose.rotation).shrink().map(move |r| crate::Pose::new(pose.translation, r.0));
        Box::new(translations.chain(rotations).map(Self))
    }
}

/// Mass and principal moments of a real body: the moments obey the triangle inequality.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpdInertia {
    /// Mass, kg.
    pub mass: f64,
    /// Principal moments about the centre of mass, kg·m².
    pub moments: DVec3,
}

impl Arbitrary for SpdInertia {
    fn arbitrary(g: &mut Gen) -> Self {
        // Moments of a solid box with the drawn half extents.
        let mass = Positive::arbitrary(g).0;
        let mut random = stream(g);
        let h = DVec3::new(random.range(0.05, 2.0), random.range(0.05, 2.0), random.range(0.05, 2.0));
        let s = h * h;
        Self { mass, moments: DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0) }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let unit = Self { mass: 1.0, moments: DVec3::ONE };
        if *self == unit { quickcheck::empty_shrinker() } else { quickcheck::single_shrinker(unit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_values_are_what_they_claim() {
        fn unit(v: UnitVec, q: UnitQuat, c: Coord, p: Positive, i: SpdInertia) -> bool {
            let m = i.moments;
            (v.0.length() - 1.0).abs() < 1e-14
                && (q.0.length() - 1.0).abs() < 1e-14
                && c.0.abs() <= 10.0
                && p.0 > 9e-4
                && m.x < m.y + m.z
                && m.y < m.z + m.x
                && m.z < m.x + m.y
        }
        check(1, 10_000, unit as fn(UnitVec, UnitQuat, Coord, Positive, SpdInertia) -> bool);
    }

    #[test]
    fn splitmix_matches_the_published_sequence() {
        // First outputs for seed 1234567, from the generator's reference page.
        let mut random = SplitMix64(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_false_property_is_found_and_shrunk() {
        fn all_small(c: Coord) -> bool {
            c.0 < 3.0
        }
        let caught = std::panic::catch_unwind(|| check(1, 1000, all_small as fn(Coord) -> bool));
        assert!(caught.is_err());
    }
}
