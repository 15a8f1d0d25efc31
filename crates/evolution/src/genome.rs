//! What can be evolved, and how often and how strongly its genes change.

use crate::{error::EvolutionError, random::Random};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// How often a gene changes, and by how much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Probability that a gene of the class changes, 0 to 1.
    pub probability: f64,
    /// Factor on the size of its change; the genome says what 1 means.
    pub strength: f64,
}

impl Rate {
    /// Nothing changes.
    pub const FROZEN: Self = Self { probability: 0.0, strength: 0.0 };
    /// Every gene changes by as much as its genome says.
    pub const FULL: Self = Self { probability: 1.0, strength: 1.0 };

    /// The change of one gene: normal, mean zero, or none at all.
    #[must_use]
    pub fn draw(&self, random: &mut Random) -> Option<f64> {
        if self.probability > 0.0 && random.chance(self.probability) {
            Some(self.strength * random.normal())
        } else {
            None
        }
    }
}

/// Rates of mutation by class of genes; each genome says which classes it has.
///
/// ```
/// use evolution::{Rate, Rates};
///
/// let rates = Rates::default().with("body", Rate::FROZEN);
/// assert_eq!(rates.of("body"), Rate::FROZEN);
/// assert_eq!(rates.of("control"), Rate::FULL);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    others: Rate,
    classes: Vec<(String, Rate)>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { others: Rate::FULL, classes: Vec::new() }
    }
}

impl Rates {
    /// The same rate for every class.
    #[must_use]
    pub fn all(rate: Rate) -> Self {
        Self { others: rate, classes: Vec::new() }
    }

    /// Another rate for one class; [`Rate::FROZEN`] keeps its genes as they are, to the bit.
    #[must_use]
    pub fn with(mut self, class: &str, rate: Rate) -> Self {
        self.classes.retain(|(name, _)| name != class);
        self.classes.push((class.to_owned(), rate));
        self
    }

    /// The rate of a class.
    #[must_use]
    pub fn of(&self, class: &str) -> Rate {
        self.classes.iter().find(|(name, _)| name == class).map_or(self.others, |(_, rate)| *rate)
    }

    /// `Ok` if every probability is in 0 to 1 and every strength a number that is not negative.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), EvolutionError> {
        let all = self.classes.iter().map(|(_, rate)| rate).chain([&self.others]);
        for Rate { probability, strength } in all {
            let good = (0.0..=1.0).contains(probability);
            EvolutionError::setting(good, "probability of mutation", "within 0 and 1", *probability)?;
            let good = *strength >= 0.0 && strength.is_finite();
            EvolutionError::setting(good, "strength of mutation", "finite and not negative", *strength)?;
        }
        Ok(())
    }
}

/// Something that evolves. Genomes nest: a genome made of genomes passes the calls on.
///
/// **Contract.** Every operator gives a genome that [`check`](Genome::check) accepts, if its parents are accepted; what it
/// draws comes from `random` alone. `conformance` in this module's tests is the check of both.
pub trait Genome: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// What all genomes of a run have in common: sizes, bounds.
    type Design: Debug + Sync;

    /// A random one.
    fn random(design: &Self::Design, random: &mut Random) -> Self;

    /// Changes genes at the rates of their classes.
    fn mutate(&mut self, design: &Self::Design, rates: &Rates, random: &mut Random);

    /// A child of two, before mutation.
    #[must_use]
    fn recombine(&self, other: &Self, design: &Self::Design, random: &mut Random) -> Self;

    /// `Ok` if it can be built.
    ///
    /// # Errors
    /// Names the part and the number that cannot be.
    fn check(&self, design: &Self::Design) -> Result<(), EvolutionError>;

    /// How different two are, at least 0 and 0 for equal ones: for diversity.
    fn distance(&self, other: &Self) -> f64;

    /// As bytes.
    ///
    /// # Errors
    /// Data that cannot be written: a defect.
    fn store(&self) -> Result<Vec<u8>, EvolutionError> {
        let damaged =
            |error: postcard::Error| EvolutionError::Damaged { what: "genome", why: error.to_string() };
        postcard::to_allocvec(self).map_err(damaged)
    }

    /// From bytes, checked.
    ///
    /// # Errors
    /// Bytes that are no genome, or one that cannot be built.
    fn retrieve(bytes: &[u8], design: &Self::Design) -> Result<Self, EvolutionError> {
        let damaged = |why: String| EvolutionError::Damaged { what: "genome", why };
        let (genome, rest) =
            postcard::take_from_bytes::<Self>(bytes).map_err(|error| damaged(error.to_string()))?;
        if !rest.is_empty() {
            return Err(damaged(format!("{} bytes left over", rest.len())));
        }
        genome.check(design)?;
        Ok(genome)
    }
}

/// Mean distance of all pairs: 0 where all are alike.
#[must_use]
pub fn diversity<G: Genome>(genomes: &[G]) -> f64 {
    let n = genomes.len();
    if n < 2 {
        return 0.0;
    }
    let of = |i: usize| genomes[i + 1..].iter().map(|other| genomes[i].distance(other)).sum::<f64>();
    (0..n).map(of).sum::<f64>() * 2.0 / (n as f64 * (n as f64 - 1.0))
}

/// Checks of the contract, for the tests of any genome: operators keep genomes valid, store and retrieve to the bit, leave frozen ones as they are, and
/// draw from their stream alone.
#[cfg(test)]
pub(crate) fn conformance<G: Genome>(design: &G::Design, count: u64) {
    for seed in 0..count {
        let mut random = Random::new(seed);
        let (a, b) = (G::random(design, &mut random), G::random(design, &mut random));
        let mut child = a.recombine(&b, design, &mut random);
        child.check(design).unwrap();
        let before = child.clone();
        child.mutate(design, &Rates::all(Rate::FROZEN), &mut random.clone());
        assert_eq!(child, before, "frozen, seed {seed}");
        let mut twin = child.clone();
        child.mutate(design, &Rates::default(), &mut random.clone());
        twin.mutate(design, &Rates::default(), &mut random);
        assert_eq!(child, twin, "same stream, seed {seed}");
        for genome in [&a, &b, &child] {
            genome.check(design).unwrap();
            assert!(genome.distance(genome) == 0.0);
            let bytes = genome.store().unwrap();
            assert_eq!(&G::retrieve(&bytes, design).unwrap(), genome);
            assert!(G::retrieve(&bytes[..bytes.len() - 1], design).is_err(), "torn, seed {seed}");
            assert!(G::retrieve(&[&bytes[..], &[0]].concat(), design).is_err(), "too long, seed {seed}");
        }
        assert!(a.distance(&b) >= 0.0 && a.distance(&b) == b.distance(&a));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_make_no_sense_are_refused() {
        let with = |probability, strength| Rates::all(Rate { probability, strength }).check();
        assert!(with(0.5, 1.0).is_ok());
        let text = with(1.5, 1.0).unwrap_err().to_string();
        assert_eq!(text, "probability of mutation must be within 0 and 1, got 1.5");
        assert!(
            with(f64::NAN, 1.0).is_err() && with(0.5, -1.0).is_err() && with(0.5, f64::INFINITY).is_err()
        );
    }
}
