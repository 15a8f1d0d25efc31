//! One measured number beside what it should be.

use std::fmt;

/// How close a measured number must be to its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// |measured − reference| at most this, in the unit of the row.
    Absolute(f64),
    /// |measured − reference| at most this times |reference|.
    Relative(f64),
    /// The reference is the largest value allowed.
    AtMost,
    /// The reference is the smallest value allowed.
    AtLeast,
    /// Nothing is asked: the number is in the nature of the method, and is reported.
    Reported,
    /// The method cannot do the scene; the quantity says why.
    NotRun,
}

/// One number of one scene under one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Stepper or algorithm that gave it.
    pub method: String,
    /// What was measured.
    pub quantity: String,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
    /// What it should be; not a number if nothing is asked.
    pub reference: f64,
    /// What it was.
    pub measured: f64,
    /// How close it must be.
    pub bound: Bound,
}

impl Row {
    /// A row; the quantity's unit is written after it.
    #[must_use]
    pub fn new(
        method: &str,
        quantity: &str,
        unit: &'static str,
        measured: f64,
        reference: f64,
        bound: Bound,
    ) -> Self {
        Self { method: method.to_owned(), quantity: quantity.to_owned(), unit, reference, measured, bound }
    }

    /// A number that nothing is asked of.
    #[must_use]
    pub fn reported(method: &str, quantity: &str, unit: &'static str, measured: f64) -> Self {
        Self::new(method, quantity, unit, measured, f64::NAN, Bound::Reported)
    }

    /// A scene that a method cannot do, and why.
    #[must_use]
    pub fn not_run(method: &str, why: &str) -> Self {
        Self::new(method, why, "", f64::NAN, f64::NAN, Bound::NotRun)
    }

    /// A number that must not exceed `limit`, such as an error or a drift.
    #[must_use]
    pub fn at_most(method: &str, quantity: &str, unit: &'static str, measured: f64, limit: f64) -> Self {
        Self::new(method, quantity, unit, measured, limit, Bound::AtMost)
    }

    /// Distance to the reference: relative for [`Bound::Relative`], else in the unit of the row.
    #[must_use]
    pub fn error(&self) -> f64 {
        let off = (self.measured - self.reference).abs();
        if matches!(self.bound, Bound::Relative(_)) { off / self.reference.abs() } else { off }
    }

    /// True if the number is as close as it must be; a number that is not finite never is.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.bound == Bound::NotRun
            || self.measured.is_finite()
                && match self.bound {
                    Bound::Absolute(most) | Bound::Relative(most) => self.error() <= most,
                    Bound::AtMost => self.measured <= self.reference,
                    Bound::AtLeast => self.measured >= self.reference,
                    Bound::Reported | Bound::NotRun => true,
                }
    }

    /// A number in the unit of the row.
    #[must_use]
    pub fn with_unit(&self, number: f64) -> String {
        let space = if self.unit.is_empty() { "" } else { " " };
        format!("{}{space}{}", Number(number), self.unit)
    }

    /// The condition in words: `= 3.5714 within 1 %`, `at most 1e-9`.
    #[must_use]
    pub fn condition(&self) -> String {
        let reference = self.with_unit(self.reference);
        match self.bound {
            Bound::Absolute(most) => format!("{reference} ± {}", Number(most)),
            Bound::Relative(most) => format!("{reference}, relative {}", Number(most)),
            Bound::AtMost => format!("at most {reference}"),
            Bound::AtLeast => format!("at least {reference}"),
            Bound::Reported => "reported".to_owned(),
            Bound::NotRun => "not run".to_owned(),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bound == Bound::NotRun {
            return write!(f, "{}: not run: {}", self.method, self.quantity);
        }
        write!(f, "{}, {}: {}", self.method, self.quantity, self.with_unit(self.measured))?;
        match self.bound {
            Bound::Reported => Ok(()),
            _ => write!(f, ", should be {}", self.condition()),
        }
    }
}

/// A number as a person writes it: plain where that is short, else with a power of ten.
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.0;
        if x == 0.0 || (1e-3..1e6).contains(&x.abs()) {
            let plain = format!("{x:.9}");
            let short =
                if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.') } else { &plain };
            f.write_str(short)
        } else {
            let text = format!("{x:.2e}");
            f.write_str(&text.replace(".00e", "e"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(measured: f64, reference: f64, bound: Bound) -> Row {
        Row::new("m", "q", "s", measured, reference, bound)
    }

    #[test]
    fn a_row_holds_within_its_bound_and_not_outside() {
        assert!(row(1.01, 1.0, Bound::Absolute(0.02)).holds());
        assert!(!row(1.03, 1.0, Bound::Absolute(0.02)).holds());
        assert!(row(202.0, 200.0, Bound::Relative(0.011)).holds());
        assert!(!row(202.0, 200.0, Bound::Relative(0.009)).holds());
        assert!(row(1.0, 2.0, Bound::AtMost).holds() && !row(3.0, 2.0, Bound::AtMost).holds());
        assert!(row(3.0, 2.0, Bound::AtLeast).holds() && !row(1.0, 2.0, Bound::AtLeast).holds());
    }

    #[test]
    fn what_is_not_finite_never_holds() {
        for bound in
            [Bound::Absolute(1.0), Bound::Relative(1.0), Bound::AtMost, Bound::AtLeast, Bound::Reported]
        {
            assert!(!row(f64::NAN, 1.0, bound).holds() && !row(f64::INFINITY, 1.0, bound).holds());
        }
    }

    #[test]
    fn numbers_are_written_short() {
        let text = |x| Number(x).to_string();
        assert_eq!(text(3.5714), "3.5714");
        assert_eq!(text(1e-9), "1e-9");
        assert_eq!(text(1.234e-7), "1.23e-7");
        assert_eq!(text(0.0), "0");
        assert_eq!(text(24034.5), "24034.5");
    }
}
