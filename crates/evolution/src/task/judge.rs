//! Who paid for the distance: the actuators, or the simulation?
//!
//! # Reference
//!
//! Our own. Evolution finds every gift of a simulation; the account of energy names the giver.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | W | positive work of the actuators: the sum of the steps in which they gave | J |
//! | gifts | energy that nobody may give, by cause: see `Spent` | J |
//!
//! # Formula
//!
//! ```text
//! share of a cause = max(gift, 0)/W;   a creature is dishonest if a share is above the limit (default 0.05)
//! gifts: remainder of the account; contacts, impacts with their friction, limits and joints with a positive sum; length of steps; opened overlaps
//! ```
//!
//! # Cost
//!
//! A few additions per step.
//!
//! # Numerics
//!
//! Gifts are summed step by step without their losses, so that what is given in one step and lost in another counts.
//!
//! # Failure
//!
//! None. A creature without any work of actuators is judged against its own weight times a millimetre.
//!
//! # Tested by
//!
//! `gifts_are_found_by_their_cause`

use crate::job::Verdict;
use serde::{Deserialize, Serialize};
use sim_core::world::EnergyAccount;

/// What was given in a run, summed over its steps, J.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// By actuators, in the steps in which they gave.
    pub actuators: f64,
    /// By nobody: positive remainders of the account.
    pub remainder: f64,
    /// By contacts, impacts and friction.
    pub contacts: f64,
    /// By what joints hold and by their limits.
    pub joints: f64,
    /// By the length of steps.
    pub stepping: f64,
    /// By overlaps that were opened.
    pub correction: f64,
}

impl Spent {
    /// Adds a step.
    pub fn include(&mut self, account: &EnergyAccount) {
        self.actuators += account.drives.max(0.0);
        self.remainder += account.remainder().max(0.0);
        self.contacts += (account.impact + account.friction).max(0.0) + account.micro.max(0.0);
        self.joints += account.joints.max(0.0);
        self.stepping += account.stepping.max(0.0);
        self.correction += account.correction.max(0.0);
    }

    /// Gifts by cause, with their names.
    #[must_use]
    pub fn gifts(&self) -> [(&'static str, f64); 5] {
        [
            ("remainder", self.remainder),
            ("contacts", self.contacts),
            ("joints", self.joints),
            ("length of steps", self.stepping),
            ("opened overlaps", self.correction),
        ]
    }
}

/// The limit of honesty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// Largest share of the work of actuators that any cause may have given. Default 0.05; infinite lets everyone pass.
    pub limit: f64,
}

impl Default for Judge {
    fn default() -> Self {
        Self { limit: 0.05 }
    }
}

impl Judge {
    /// Judges a run of a creature of so much weight, N.
    #[must_use]
    pub fn verdict(&self, spent: &Spent, weight: f64) -> Verdict {
        let work = spent.actuators.max(1e-3 * weight);
        let mut worst = ("", 0.0);
        for (cause, gift) in spent.gifts() {
            if gift / work > worst.1 {
                worst = (cause, gift / work);
            }
        }
        if worst.1 > self.limit {
            Verdict::Dishonest { cause: worst.0.to_owned(), share: worst.1 }
        } else {
            Verdict::Valid
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(change: impl FnOnce(&mut EnergyAccount)) -> EnergyAccount {
        let mut account = EnergyAccount::default();
        change(&mut account);
        account
    }

    #[test]
    fn gifts_are_found_by_their_cause() {
        let mut spent = Spent::default();
        let honest = account(|a| (a.end, a.drives, a.friction) = (10.0, 15.0, -5.0));
        (0..10).for_each(|_| spent.include(&honest));
        assert_eq!(spent, Spent { actuators: 150.0, ..Default::default() });
        assert_eq!(Judge::default().verdict(&spent, 100.0), Verdict::Valid);
        // A gift that is lost again in another step is a gift.
        spent.include(&account(|a| a.end = 9.0));
        spent.include(&account(|a| a.end = -9.0));
        let Verdict::Dishonest { cause, share } = Judge::default().verdict(&spent, 100.0) else {
            panic!("not found")
        };
        assert_eq!((cause.as_str(), share), ("remainder", 9.0 / 150.0));
        assert_eq!(Judge { limit: 0.07 }.verdict(&spent, 100.0), Verdict::Valid);
        spent.include(&account(|a| (a.end, a.correction) = (20.0, 20.0)));
        let verdict = Judge::default().verdict(&spent, 100.0);
        assert!(matches!(verdict, Verdict::Dishonest { cause, .. } if cause == "opened overlaps"));
        // One that does nothing is not excused.
        let lazy = Spent { correction: 0.5, ..Default::default() };
        assert!(matches!(Judge::default().verdict(&lazy, 100.0), Verdict::Dishonest { .. }));
    }
}
