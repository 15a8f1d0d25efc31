//! Problems as text, so that one that fails can be sent to somebody or solved by another tool.
//!
//! ```text
//! # comment
//! lcp 1
//! n 2
//! M
//! 2 1
//! 1 2
//! q
//! -5 -6
//! ```
//! Numbers are written so that reading gives back the same bits. White space separates, lines carry no meaning
//! except that a comment ends with its line.

use sim_traits::{LcpError, LcpProblem};
use std::fmt::Write as _;
use thiserror::Error;

/// A problem that owns its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedLcp {
    /// Matrix, row-major.
    pub m: Vec<f64>,
    /// Right-hand side.
    pub q: Vec<f64>,
}

impl OwnedLcp {
    /// The problem as solvers take it.
    ///
    /// # Errors
    /// The sizes do not fit, or a number is not finite.
    pub fn problem(&self) -> Result<LcpProblem<'_>, LcpError> {
        LcpProblem::new(&self.m, &self.q)
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TextError {
    /// Another word was expected.
    #[error("line {line}: expected {expected}, got {got:?}")]
    Unexpected {
        /// Line, from 1; the last one if the text ends early.
        line: usize,
        /// What should be there.
        expected: &'static str,
        /// What is there; empty at the end of the text.
        got: String,
    },
    /// The numbers were read, but are no problem.
    #[error(transparent)]
    Problem(#[from] LcpError),
}

/// Writes a problem, with an optional comment (each line of it gets its `#`).
#[must_use]
pub fn to_text(problem: &LcpProblem<'_>, comment: &str) -> String {
    let n = problem.len();
    let mut text = String::new();
    for line in comment.lines() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "lcp 1\nn {n}\nM");
    for i in 0..n {
        write_row(&mut text, problem.row(i));
    }
    text.push_str("q\n");
    write_row(&mut text, problem.q());
    text
}

fn write_row(text: &mut String, row: &[f64]) {
    for (k, v) in row.iter().enumerate() {
        let _ = write!(text, "{}{v:?}", if k == 0 { "" } else { " " });
    }
    text.push('\n');
}

/// Reads a problem.
///
/// # Errors
/// The text does not follow the format (with the line), or the problem is not finite.
pub fn from_text(text: &str) -> Result<OwnedLcp, TextError> {
    let last = text.lines().count().max(1);
    let mut words = text
        .lines()
        .zip(1..)
        .flat_map(|(line, number)| {
            line.split('#').next().unwrap_or("").split_whitespace().map(move |word| (word, number))
        })
        .fuse();
    let mut next = |expected: &'static str| match words.next() {
        Some(found) => Ok(found),
        None => Err(TextError::Unexpected { line: last, expected, got: String::new() }),
    };
    let fail = |expected, (word, line): (&str, usize)| TextError::Unexpected {
        line,
        expected,
        got: word.to_owned(),
    };
    for expected in ["lcp", "1", "n"] {
        let found = next(expected)?;
        if found.0 != expected {
            return Err(fail(expected, found));
        }
    }
    let found = next("the number of unknowns")?;
    let n: usize = found.0.parse().map_err(|_| fail("the number of unknowns", found))?;
    let mut section = |name: &'static str, count: usize| -> Result<Vec<f64>, TextError> {
        let found = next(name)?;
        if found.0 != name {
            return Err(fail(name, found));
        }
        let mut values = Vec::new();
        for _ in 0..count {
            let found = next("a number")?;
            values.push(found.0.parse().map_err(|_| fail("a number", found))?);
        }
        Ok(values)
    };
    let m = section("M", n.saturating_mul(n))?;
    let q = section("q", n)?;
    let owned = OwnedLcp { m, q };
    owned.problem()?;
    if let Some(found) = words.next() {
        return Err(fail("the end", found));
    }
    Ok(owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn reading_gives_back_the_same_bits() {
        let mut random = SplitMix64(31);
        for n in 0..9 {
            let mut number = || random.range(-1.0, 1.0) * sim_math::ops::exp(random.range(-300.0, 300.0));
            let owned =
                OwnedLcp { m: (0..n * n).map(|_| number()).collect(), q: (0..n).map(|_| number()).collect() };
            let text = to_text(&owned.problem().unwrap(), "two\nlines");
            assert_eq!(from_text(&text).unwrap(), owned);
        }
    }

    #[test]
    fn bad_texts_are_errors_with_the_line() {
        let message = |text: &str| from_text(text).unwrap_err().to_string();
        assert_eq!(message(""), "line 1: expected lcp, got \"\"");
        assert_eq!(message("# only a comment\n"), "line 1: expected lcp, got \"\"");
        assert_eq!(message("lcp 2"), "line 1: expected 1, got \"2\"");
        assert_eq!(message("lcp 1\nn -3"), "line 2: expected the number of unknowns, got \"-3\"");
        assert_eq!(message("lcp 1\nn 1\nM\nx\nq 1"), "line 4: expected a number, got \"x\"");
        assert_eq!(message("lcp 1\nn 1\nM 1\nq"), "line 4: expected a number, got \"\"");
        assert_eq!(message("lcp 1\nn 1\nM 1\nq 1 2"), "line 4: expected the end, got \"2\"");
        assert_eq!(message("lcp 1\nn 1\nM NaN\nq 1"), "matrix entry 0 is not finite: NaN");
        assert_eq!(
            message("lcp 1\nn 99999999999999999999\nM"),
            "line 2: expected the number of unknowns, got \"99999999999999999999\""
        );
        assert_eq!(message("lcp 1\nn 9999999999\nM"), "line 3: expected a number, got \"\"");
    }
}
