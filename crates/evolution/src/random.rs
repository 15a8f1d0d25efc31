//! Random numbers that are the same everywhere: one stream per (run, generation, child).
//!
//! # Reference
//!
//! Blackman and Vigna (2021), "Scrambled linear pseudorandom number generators", xoshiro256++; seeded by splitmix64, as its authors advise.
//! Normal numbers: Marsaglia and Bray (1964), the polar method.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | `state` | four words, never all zero |
//! | `spare` | the second normal number of a pair |
//!
//! # Formula
//!
//! ```text
//! result = rotl(s0 + s3, 23) + s0;   t = s1 << 17;   s2 ^= s0, s3 ^= s1, s1 ^= s2, s0 ^= s3, s2 ^= t, s3 = rotl(s3, 45)
//! normal: u, v uniform in (−1, 1), s = u² + v² < 1:   u √(−2 ln s / s)
//! ```
//!
//! # Cost
//!
//! A few nanoseconds; a normal number about ten times as much.
//!
//! # Numerics
//!
//! 53 bits. Normal numbers use `sim_math::ops`, so with feature `libm` they have the same bits on every target.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `the_published_sequence_comes_out`, `streams_of_neighbours_are_apart`, `normal_numbers_have_their_moments`

use serde::{Deserialize, Serialize};
use sim_math::ops;

/// A stream of random numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Random {
    state: [u64; 4],
    spare: Option<f64>,
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut mixer = seed;
        Self { state: std::array::from_fn(|_| splitmix(&mut mixer)), spare: None }
    }

    /// The stream of one child: depends on these three numbers alone, so the order in which children are made does not matter.
    #[must_use]
    pub fn of_child(run: u64, generation: u64, child: u64) -> Self {
        let mut seed = run;
        for word in [generation, child] {
            // The golden ratio keeps a child of generation 0 apart from a generation of child 0.
            let mut mixer = seed ^ word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            seed = splitmix(&mut mixer).rotate_left(17).wrapping_add(word);
        }
        Self::new(seed)
    }

    /// Next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let t = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= t;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0..n; 0 for n = 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Normal, mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (self.range(-1.0, 1.0), self.range(-1.0, 1.0));
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let scale = (-2.0 * ops::ln(s) / s).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence_comes_out() {
        let mut random = Random { state: [1, 2, 3, 4], spare: None };
        let first: Vec<u64> = (0..4).map(|_| random.bits()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn streams_of_neighbours_are_apart() {
        let mut seen = std::collections::BTreeSet::new();
        for run in 0..8 {
            for generation in 0..32 {
                for child in 0..32 {
                    assert!(seen.insert(Random::of_child(run, generation, child).bits()));
                }
            }
        }
        assert_eq!(Random::of_child(1, 2, 3), Random::of_child(1, 2, 3));
    }

    #[test]
    fn normal_numbers_have_their_moments() {
        let mut random = Random::new(7);
        let n = 200_000;
        let (mut sum, mut squares, mut fourth) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let x = random.normal();
            sum += x;
            squares += x * x;
            fourth += x * x * x * x;
        }
        let n = f64::from(n);
        // Four standard errors: 1/√n, √2/√n and √96/√n.
        assert!((sum / n).abs() < 4.0 / n.sqrt());
        assert!((squares / n - 1.0).abs() < 4.0 * (2.0 / n).sqrt());
        assert!((fourth / n - 3.0).abs() < 4.0 * (96.0 / n).sqrt());
    }

    #[test]
    fn numbers_below_a_bound_are_all_drawn_alike() {
        let mut random = Random::new(3);
        let mut counts = [0_u32; 7];
        (0..70_000).for_each(|_| counts[random.below(7)] += 1);
        // χ² with six degrees of freedom is below 22.5 in 999 of 1000 cases.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4) * (f64::from(c) - 1e4) / 1e4).sum();
        assert!(chi < 22.5, "{counts:?}");
        assert_eq!(random.below(0), 0);
    }
}
