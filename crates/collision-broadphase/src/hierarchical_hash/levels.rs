//! Tile sizes of a hierarchical hash, and which tiles a box touches.
//!
//! # Reference
//! Mirtich (1996), section 2.4.1 (sizes by α and β); Fontijne (2000), section 2.3.2 and eq. 2.3 (tile count).
//!
//! # Symbols
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `tile(level)` | ρ | tile side; level 0 is the finest, the papers count from the coarsest | m |
//! | `alpha`, `beta` | α, β | a box of size s fits a level if α ≤ s / ρ ≤ β | - |
//! | `Range` | - | lowest and highest tile of a box on each axis | tiles |
//!
//! # Formula
//! ```text
//! ρ_(l+1) = (β / α) ρ_l
//! count(box, l) = Π_k (⌊hi_k / ρ_l⌋ − ⌊lo_k / ρ_l⌋ + 1)
//! levels needed for sizes s_min .. s_max = ⌈log_(β/α) (s_max / s_min)⌉, at least 1
//! ```
//!
//! # Cost
//! Six multiplications for a range.
//!
//! # Numerics
//! With ratio 2 the tile sizes double exactly, so tiles nest: the range one level up is the range shifted by
//! one bit. Casts saturate, so infinite boxes have huge ranges and never wrap.
//!
//! # Failure
//! [`LevelsError`] for sizes or ratios that make no sense.
//!
//! # Tested by
//! `tile_counts_equal_enumeration`, `the_number_of_levels_is_the_fewest`, `tiles_nest_when_sizes_double`.

use sim_math::{Aabb, ops};
use thiserror::Error;

/// Sizes or ratios that give no levels.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum LevelsError {
    /// Smallest and largest box size must be positive, finite and in order.
    #[error("box sizes from {min} to {max}")]
    Sizes {
        /// Smallest size given, metres.
        min: f64,
        /// Largest size given, metres.
        max: f64,
    },
    /// 0 < alpha < 1 ≤ beta is required, and finite.
    #[error("alpha {alpha}, beta {beta}")]
    Ratio {
        /// As given.
        alpha: f64,
        /// As given.
        beta: f64,
    },
    /// More levels than the 32 that there can be.
    #[error("{needed} levels needed, 32 possible: use a larger ratio of beta to alpha")]
    TooMany {
        /// Levels that the sizes and the ratio ask for.
        needed: usize,
    },
}

/// At most so many levels: enough for sizes of 1 : 4e9 with ratio 2.
const MAX_LEVELS: usize = 32;

/// Tile sizes, finest first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    inverse: [f64; MAX_LEVELS],
    len: usize,
    doubling: bool,
}

impl Levels {
    /// One level with tiles of 1 m.
    pub(crate) const ONE: Self = Self { inverse: [1.0; MAX_LEVELS], len: 1, doubling: true };

    /// The fewest levels such that every box of size `min` to `max` (longest side, metres) fits one of them.
    ///
    /// # Errors
    /// Sizes not positive, not finite or not in order; `alpha`, `beta` not in 0 < alpha < 1 ≤ beta; more than 32
    /// levels.
    pub fn fewest(min: f64, max: f64, alpha: f64, beta: f64) -> Result<Self, LevelsError> {
        if !(min > 0.0 && min <= max && max.is_finite()) {
            return Err(LevelsError::Sizes { min, max });
        }
        if !(alpha > 0.0 && alpha < 1.0 && beta >= 1.0 && beta.is_finite()) {
            return Err(LevelsError::Ratio { alpha, beta });
        }
        let ratio = beta / alpha;
        let needed = ops::ln(max / min) / ops::ln(ratio);
        // Rounding must not ask for one level more than an exact power needs.
        let len = (needed - 1e-9).ceil().max(1.0) as usize;
        if len > MAX_LEVELS {
            return Err(LevelsError::TooMany { needed: len });
        }
        let mut inverse = [0.0; MAX_LEVELS];
        // From the coarsest down: its tiles hold the most boxes, so they should be no larger than needed.
        let mut tile = max / beta;
        for inv in inverse[..len].iter_mut().rev() {
            *inv = 1.0 / tile;
            tile /= ratio;
        }
        #[allow(clippy::float_cmp, reason = "nesting needs exactly 2")]
        let doubling = ratio == 2.0;
        if doubling {
            for l in (0..len - 1).rev() {
                inverse[l] = inverse[l + 1] * 2.0;
            }
        }
        Ok(Self { inverse, len, doubling })
    }

    /// Number of levels.
    #[allow(clippy::len_without_is_empty, reason = "there is always a level")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tile side of a level, metres; 0 is the finest.
    #[must_use]
    pub fn tile(&self, level: usize) -> f64 {
        1.0 / self.inverse[level]
    }

    /// True if tiles of a level are made of eight of the next finer level.
    pub(crate) fn nests(&self) -> bool {
        self.doubling
    }

    /// Tiles of a box at a level.
    #[inline]
    pub(crate) fn range(&self, level: usize, aabb: &Aabb) -> Range {
        let inv = self.inverse[level];
        let at = |x: f64| floor(x * inv);
        Range {
            lo: [at(aabb.min.x), at(aabb.min.y), at(aabb.min.z)],
            hi: [at(aabb.max.x), at(aabb.max.y), at(aabb.max.z)],
        }
    }

    /// True if the box touches exactly these tiles: as `range(level, aabb) == *range`, without rounding to integers.
    #[inline]
    pub(crate) fn stays(&self, level: usize, aabb: &Aabb, range: &Range) -> bool {
        let inv = self.inverse[level];
        let (min, max) = (aabb.min.to_array(), aabb.max.to_array());
        let mut same = true;
        for k in 0..3 {
            let (a, b) = (min[k] * inv - range.lo[k] as f64, max[k] * inv - range.hi[k] as f64);
            same &= (0.0..1.0).contains(&a) & (0.0..1.0).contains(&b);
        }
        same
    }

    /// Number of tiles of a box at a level (eq. 2.3), saturating.
    #[must_use]
    pub fn count(&self, level: usize, aabb: &Aabb) -> u64 {
        self.range(level, aabb).count()
    }

    /// Finest level at which a box touches at most `threshold` tiles.
    #[must_use]
    pub fn native(&self, aabb: &Aabb, threshold: u64) -> Option<usize> {
        (0..self.len).find(|&l| self.count(l, aabb) <= threshold)
    }
}

/// Floor as a saturating integer; a cast and a comparison are faster than a call of `floor` without SSE4.1.
#[inline]
fn floor(x: f64) -> i64 {
    let t = x as i64;
    t.saturating_sub(i64::from((t as f64) > x))
}

/// Lowest and highest tile on each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) lo: [i64; 3],
    pub(crate) hi: [i64; 3],
}

impl Range {
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        (0..3).fold(1, |n: u64, k| n.saturating_mul(self.hi[k].abs_diff(self.lo[k]).saturating_add(1)))
    }

    #[inline]
    pub(crate) fn contains(&self, tile: [i64; 3]) -> bool {
        (0..3).all(|k| self.lo[k] <= tile[k] && tile[k] <= self.hi[k])
    }

    /// The lowest common tile of two ranges that meet: the one in which a pair is counted once.
    #[inline]
    pub(crate) fn corner(&self, other: &Self) -> [i64; 3] {
        [0, 1, 2].map(|k| self.lo[k].max(other.lo[k]))
    }

    /// The range one level up, where tiles nest.
    #[cfg(test)]
    pub(crate) fn doubled(&self) -> Self {
        Self { lo: self.lo.map(|x| x >> 1), hi: self.hi.map(|x| x >> 1) }
    }

    #[inline]
    pub(crate) fn for_each(&self, mut visit: impl FnMut([i64; 3])) {
        for x in self.lo[0]..=self.hi[0] {
            for y in self.lo[1]..=self.hi[1] {
                for z in self.lo[2]..=self.hi[2] {
                    visit([x, y, z]);
                }
            }
        }
    }
}

/// Key of a tile: level and 19 bits of each index. Tiles 2¹⁹ apart share a key and thus a list, which can only
/// add pairs that the box test takes out again.
#[inline]
pub(crate) fn key(level: usize, tile: [i64; 3]) -> u64 {
    const BITS: u32 = 19;
    let field = |x: i64| x as u64 & ((1 << BITS) - 1);
    ((level as u64) << (3 * BITS))
        | (field(tile[0]) << (2 * BITS))
        | (field(tile[1]) << BITS)
        | field(tile[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::glam::DVec3;
    use sim_traits::testkit::SplitMix64;

    // proves: FON-19
    #[test]
    fn tile_counts_equal_enumeration() {
        let levels = Levels::fewest(0.1, 10.0, 0.5, 1.0).unwrap();
        let mut random = SplitMix64(1);
        for _ in 0..2000 {
            let aabb = Aabb::from_center_half_extents(random.vec3(5.0), random.vec3(1.0));
            for l in 0..levels.len() {
                let mut tiles = std::collections::BTreeSet::new();
                levels.range(l, &aabb).for_each(|t| {
                    tiles.insert(t);
                });
                assert_eq!(levels.count(l, &aabb), tiles.len() as u64);
                // By hand: a tile counts if its closed-open cube meets the box.
                let first = (aabb.min / levels.tile(l)).floor();
                let last = (aabb.max / levels.tile(l)).floor();
                let n = last - first + DVec3::ONE;
                assert_eq!(levels.count(l, &aabb), (n.x * n.y * n.z) as u64);
            }
        }
        // The level changes when the box grows.
        let cube = |h: f64| Aabb::from_center_half_extents(DVec3::ZERO, DVec3::splat(h));
        let native: Vec<_> = [0.05, 0.3, 1.2, 4.0].map(|h| levels.native(&cube(h), 8)).into();
        assert!(native.windows(2).all(|w| w[0] < w[1]), "{native:?}");
        assert_eq!(levels.native(&Aabb::EVERYWHERE, 8), None);
    }

    // proves: MIR-34
    #[test]
    fn the_number_of_levels_is_the_fewest() {
        let mut random = SplitMix64(2);
        for _ in 0..3000 {
            let min = ops::powf(10.0, random.range(-3.0, 1.0));
            let max = min * ops::powf(10.0, random.range(0.0, 4.0));
            let (alpha, beta) = (random.range(0.2, 0.7), random.range(1.0, 2.0));
            let levels = Levels::fewest(min, max, alpha, beta).unwrap();
            let bound = (ops::ln(max / min) / ops::ln(beta / alpha)).ceil().max(1.0);
            assert!(levels.len() as f64 <= bound);
            // Every size fits a level.
            for i in 0..=20 {
                let size = min * ops::powf(max / min, f64::from(i) / 20.0);
                let fits = |l: usize| {
                    let q = size / levels.tile(l);
                    q >= alpha * (1.0 - 1e-6) && q <= beta * (1.0 + 1e-6)
                };
                assert!((0..levels.len()).any(fits), "size {size} of {min}..{max}, {alpha} {beta}");
            }
        }
    }

    #[test]
    fn tiles_nest_when_sizes_double() {
        let levels = Levels::fewest(0.07, 9.0, 0.5, 1.0).unwrap();
        assert!(levels.nests());
        let mut random = SplitMix64(5);
        for n in 0..2000 {
            let far = [1.0, 1e9][n % 2];
            let aabb = Aabb::from_center_half_extents(random.vec3(far), random.vec3(2.0));
            for l in 1..levels.len() {
                assert_eq!(levels.range(l, &aabb), levels.range(l - 1, &aabb).doubled());
                let near = Aabb { min: aabb.min + random.vec3(0.02), max: aabb.max + random.vec3(0.02) };
                let range = levels.range(l, &aabb);
                assert!(levels.stays(l, &aabb, &range));
                assert!(!levels.stays(l, &near, &range) || levels.range(l, &near) == range);
            }
        }
    }

    #[test]
    fn senseless_levels_are_errors() {
        for (min, max, alpha, beta) in [
            (0.0, 1.0, 0.5, 1.0),
            (2.0, 1.0, 0.5, 1.0),
            (1.0, f64::INFINITY, 0.5, 1.0),
            (f64::NAN, 1.0, 0.5, 1.0),
            (1.0, 2.0, 0.0, 1.0),
            (1.0, 2.0, 1.0, 1.0),
            (1.0, 2.0, 0.5, 0.9),
            (1.0, 2.0, 0.5, f64::NAN),
            (1.0, 1e9, 0.9, 1.0),
        ] {
            assert!(Levels::fewest(min, max, alpha, beta).is_err(), "{min} {max} {alpha} {beta}");
        }
    }
}
