//! Who may mate with whom, and who competes with whom.
//!
//! # Reference
//!
//! Arnold (1997), section 3.1.5: migration and diffusion.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | place | a seat of the population, 0 to μ − 1 |
//! | group | the places from which a child's parents come |
//! | rivals | the places whose children compete for a place |
//!
//! # Formula
//!
//! ```text
//! one       everyone
//! islands   place k belongs to island k / (μ / islands); every `interval` generations the best `migrants` of island i take the place of the worst of island i + 1
//! lattice   parents from the places at most `radius` steps from (x, y) on a torus; the children of a place compete for it
//! ```
//!
//! # Cost
//!
//! A list of places per question.
//!
//! # Numerics
//!
//! Whole numbers.
//!
//! # Failure
//!
//! A number of places that the topology does not divide is refused.
//!
//! # Tested by
//!
//! `groups_are_what_they_say`, `islands_and_lattices_stay_more_diverse`

use crate::error::EvolutionError;
use serde::{Deserialize, Serialize};

/// How a population is cut into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Topology {
    /// Everyone with everyone.
    One,
    /// Populations apart, with some who move from time to time.
    Islands {
        /// How many.
        count: usize,
        /// Generations from one migration to the next.
        interval: u64,
        /// How many move from each.
        migrants: usize,
    },
    /// Everyone has a place on a torus and knows the neighbours only.
    Lattice {
        /// Places in a row.
        width: usize,
        /// How many steps away a neighbour may be.
        radius: usize,
    },
}

impl Topology {
    /// `Ok` if a population of so many places can be cut like this.
    ///
    /// # Errors
    /// A number that makes no sense.
    pub fn check(&self, places: usize) -> Result<(), EvolutionError> {
        let whole = |part: usize| part > 0 && places % part == 0;
        match *self {
            Self::One => Ok(()),
            Self::Islands { count, interval, migrants } => {
                let must = "a divisor of the number of parents";
                EvolutionError::setting(whole(count), "number of islands", must, count as f64)?;
                EvolutionError::setting(interval > 0, "interval of migration", "positive", interval as f64)?;
                let good = migrants < (places / count).max(1);
                EvolutionError::setting(
                    good,
                    "number of migrants",
                    "less than an island has",
                    migrants as f64,
                )
            }
            Self::Lattice { width, radius } => {
                let must = "a divisor of the number of parents";
                EvolutionError::setting(whole(width), "width of the lattice", must, width as f64)?;
                EvolutionError::setting(radius > 0, "radius of the lattice", "positive", radius as f64)
            }
        }
    }

    /// The places of the group of a place, ascending, itself among them.
    #[must_use]
    pub fn group(&self, place: usize, places: usize) -> Vec<usize> {
        match *self {
            Self::One => (0..places).collect(),
            Self::Islands { count, .. } => {
                let size = (places / count.max(1)).max(1);
                let first = place / size * size;
                (first..first + size).collect()
            }
            Self::Lattice { width, radius } => {
                let (width, height) = (width.max(1), (places / width.max(1)).max(1));
                let (x, y) = (place % width, place / width);
                let apart = |a: usize, b: usize, n: usize| a.abs_diff(b).min(n - a.abs_diff(b));
                let near = |k: &usize| apart(k % width, x, width) + apart(k / width, y, height) <= radius;
                (0..places).filter(near).collect()
            }
        }
    }

    /// The places whose children compete for the seats of one selection that begins at a place: its group, or on a lattice the place alone.
    #[must_use]
    pub fn rivals(&self, place: usize, places: usize) -> Vec<usize> {
        match self {
            Self::Lattice { .. } => vec![place],
            _ => self.group(place, places),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_what_they_say() {
        assert_eq!(Topology::One.group(2, 4), [0, 1, 2, 3]);
        let islands = Topology::Islands { count: 3, interval: 5, migrants: 1 };
        assert_eq!(islands.group(0, 12), [0, 1, 2, 3]);
        assert_eq!(islands.group(7, 12), [4, 5, 6, 7]);
        let lattice = Topology::Lattice { width: 4, radius: 1 };
        // Place 5 is (1, 1); place 0 is a corner of the torus.
        assert_eq!(lattice.group(5, 16), [1, 4, 5, 6, 9]);
        assert_eq!(lattice.group(0, 16), [0, 1, 3, 4, 12]);
        assert!(islands.check(12).is_ok() && islands.check(13).is_err());
        assert!(Topology::Islands { count: 3, interval: 0, migrants: 1 }.check(12).is_err());
        assert!(Topology::Islands { count: 3, interval: 1, migrants: 4 }.check(12).is_err());
        assert!(Topology::Lattice { width: 5, radius: 1 }.check(12).is_err());
        assert!(Topology::Lattice { width: 4, radius: 0 }.check(12).is_err());
    }
}
