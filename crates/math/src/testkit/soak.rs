//! How long a property runs, and on what: short and fixed in CI, long and fresh in a soak.
//!
//! A property that draws many cases asks [`cases`] how many and [`random`] for its generator. `cargo xtask soak`
//! sets the two variables and runs the tests whose names begin with `soak_`.

use super::SplitMix64;
use std::str::FromStr;

/// Factor on the number of cases.
pub const FACTOR: &str = "TUMBLESTONE_SOAK";

/// Draws other cases than CI does; 0 or unset means those of CI.
pub const SEED: &str = "TUMBLESTONE_SEED";

/// `base` times the factor in [`FACTOR`] (default 1), at least one.
///
/// # Panics
/// If the variable holds no positive number: a soak that silently ran short would be believed.
#[must_use]
pub fn cases(base: u64) -> u64 {
    scaled(base, variable(FACTOR, 1.0))
}

/// The generator for a test's own `seed`, moved elsewhere by [`SEED`].
///
/// # Panics
/// If the variable holds no whole number.
#[must_use]
pub fn random(seed: u64) -> SplitMix64 {
    SplitMix64(moved(seed, variable(SEED, 0)))
}

#[allow(clippy::panic, reason = "the kit speaks to tests by panicking, as assertions do")]
fn variable<T: FromStr>(name: &str, default: T) -> T {
    std::env::var(name).map_or(default, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name} must be a number, got `{text}`"))
    })
}

fn scaled(base: u64, factor: f64) -> u64 {
    assert!(factor > 0.0 && factor.is_finite(), "{FACTOR} must be a positive number, got {factor}");
    ((base as f64 * factor) as u64).max(1)
}

/// Scrambled: neighbouring states of the generator are one stream, shifted.
fn moved(seed: u64, fresh: u64) -> u64 {
    if fresh == 0 { seed } else { seed ^ SplitMix64(fresh).next_u64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_scales_the_cases_and_leaves_at_least_one() {
        assert_eq!(scaled(1000, 100.0), 100_000);
        assert_eq!(scaled(1000, 0.5), 500);
        assert_eq!(scaled(10, 1e-3), 1);
    }

    #[test]
    #[should_panic(expected = "must be a positive number, got 0")]
    fn a_factor_of_nothing_is_refused() {
        let _ = scaled(1000, 0.0);
    }

    #[test]
    fn fresh_seeds_give_other_streams_and_none_keeps_the_fixed_one() {
        assert_eq!(moved(7, 0), 7);
        let (first, second) = (moved(7, 1), moved(7, 2));
        // Neither shifted copies of each other nor the fixed stream.
        let stream = |seed| {
            let mut random = SplitMix64(seed);
            std::array::from_fn::<u64, 8, _>(|_| random.next_u64())
        };
        for x in stream(first) {
            assert!(!stream(second).contains(&x) && !stream(7).contains(&x));
        }
    }
}
