//! One parent, whose steps grow after many successes and shrink after few.
//!
//! # Reference
//!
//! Arnold (1997), section 3.1.3; Rechenberg (1973), the rule of one fifth.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | σ | step size |
//! | n | number of values |
//! | a | 0.85 |
//!
//! # Formula
//!
//! ```text
//! after every n children:  σ ← σ/a if more than a fifth of the last 10 n beat the parent,  σ a if fewer
//! ```
//!
//! # Cost
//!
//! One child at a time.
//!
//! # Numerics
//!
//! Converges log-linearly on quadratic hills. The step stays between 1e-150 and 1e150.
//!
//! # Failure
//!
//! Settings that make no sense are refused.
//!
//! # Tested by
//!
//! `the_logarithm_of_the_distance_falls_along_a_line`, `order_of_scores_does_not_matter`

use super::{Best, Child, Search, vector::RealVector};
use crate::{error::EvolutionError, genome::Genome, random::Random, search::vector::VectorDesign};
use std::{cmp::Ordering, collections::VecDeque};

/// Factor on the step.
const SHRINK: f64 = 0.85;

/// The search of one parent and one child.
#[derive(Debug)]
pub struct SuccessRule {
    design: VectorDesign,
    seed: u64,
    children: u64,
    parent: Option<(Child<RealVector>, f64)>,
    waiting: Option<Child<RealVector>>,
    step: f64,
    next: u64,
    tried: u64,
    /// Of the last 10 n children: which beat the parent.
    successes: VecDeque<bool>,
    best: Best<RealVector>,
}

impl SuccessRule {
    /// Makes so many children; the scale of the design is the first step.
    ///
    /// # Errors
    /// No values, or a step that is not positive.
    pub fn new(design: VectorDesign, children: u64, seed: u64) -> Result<Self, EvolutionError> {
        EvolutionError::setting(design.len > 0, "number of values", "positive", design.len as f64)?;
        let good = design.scale > 0.0 && design.scale.is_finite();
        EvolutionError::setting(good, "step", "positive and finite", design.scale)?;
        let step = design.scale;
        Ok(Self {
            design,
            seed,
            children,
            parent: None,
            waiting: None,
            step,
            next: 0,
            tried: 0,
            successes: VecDeque::new(),
            best: Best::default(),
        })
    }

    /// The present step size.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.step
    }
}

impl Search for SuccessRule {
    type Genome = RealVector;

    fn ask(&mut self) -> Vec<Child<RealVector>> {
        if self.waiting.is_some() || self.next >= self.children {
            return Vec::new();
        }
        let mut random = Random::of_child(self.seed, 0, self.next);
        let (genome, parents) = match &self.parent {
            None => (RealVector::random(&self.design, &mut random), Vec::new()),
            Some((parent, _)) => {
                let values = parent.genome.0.iter().map(|x| {
                    super::vector::reflect(x + self.step * random.normal(), self.design.low, self.design.high)
                });
                (RealVector(values.collect()), vec![parent.number])
            }
        };
        let child = Child { number: self.next, genome, parents };
        self.waiting = Some(child.clone());
        self.next += 1;
        vec![child]
    }

    fn tell(&mut self, child: u64, score: Option<f64>) -> Result<(), EvolutionError> {
        let Some(known) = self.waiting.take_if(|known| known.number == child) else {
            return Err(EvolutionError::NotAwaited { child });
        };
        self.best.include(&known, score);
        let score = score.filter(|s| s.is_finite());
        let Some((_, present)) = &self.parent else {
            self.parent = score.map(|score| (known, score));
            return Ok(());
        };
        let better = score.filter(|score| score > present);
        self.successes.push_back(better.is_some());
        if let Some(score) = better {
            self.parent = Some((known, score));
        }
        self.tried += 1;
        let n = self.design.len;
        if self.successes.len() > 10 * n {
            self.successes.pop_front();
        }
        if self.successes.len() == 10 * n && self.tried % n as u64 == 0 {
            match (5 * self.successes.iter().filter(|s| **s).count()).cmp(&(10 * n)) {
                Ordering::Greater => self.step /= SHRINK,
                Ordering::Less => self.step *= SHRINK,
                Ordering::Equal => {}
            }
            self.step = self.step.clamp(1e-150, 1e150);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.next >= self.children && self.waiting.is_none()
    }

    fn best(&self) -> Option<(&Child<RealVector>, f64)> {
        self.best.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{run, testing::order_does_not_matter, vector::Mixing};
    use sim_math::ops;

    const DESIGN: VectorDesign =
        VectorDesign { len: 5, low: -100.0, high: 100.0, scale: 1.0, mixing: Mixing::Discrete };

    fn far(x: &RealVector) -> f64 {
        x.0.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    // proves: ARN-68
    #[test]
    fn the_logarithm_of_the_distance_falls_along_a_line() {
        let mut search = SuccessRule::new(DESIGN, 4000, 1).unwrap();
        let mut best = f64::INFINITY;
        let mut logs = Vec::new();
        run(&mut search, |x| {
            best = best.min(far(x));
            logs.push(ops::ln(best));
            Some(1000.0 - ops::ln(far(x)))
        })
        .unwrap();
        // Slope and correlation of the least-squares line behind the start.
        let points: Vec<(f64, f64)> =
            logs.iter().enumerate().skip(500).map(|(k, y)| (k as f64, *y)).collect();
        let n = points.len() as f64;
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
        let (mx, my) = (mean(&|p| p.0), mean(&|p| p.1));
        let (sxy, sxx, syy) = (
            mean(&|p| (p.0 - mx) * (p.1 - my)),
            mean(&|p| (p.0 - mx) * (p.0 - mx)),
            mean(&|p| (p.1 - my) * (p.1 - my)),
        );
        assert!(sxy / sxx < -0.01, "slope {}", sxy / sxx);
        assert!(sxy * sxy / (sxx * syy) > 0.99, "correlation² {}", sxy * sxy / (sxx * syy));
    }

    #[test]
    fn order_of_scores_does_not_matter() {
        order_does_not_matter(|| SuccessRule::new(DESIGN, 200, 3).unwrap(), |x| Some(1000.0 - far(x)));
        assert!(SuccessRule::new(VectorDesign { scale: 0.0, ..DESIGN }, 5, 0).is_err());
        assert!(SuccessRule::new(VectorDesign { len: 0, ..DESIGN }, 5, 0).is_err());
    }
}
