//! Gray code: whole numbers as bits of which neighbours differ in one.
//!
//! # Reference
//!
//! Arnold (1997), section 3.1.3; Gray (1953).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | n | a whole number |
//! | g | its code |
//!
//! # Formula
//!
//! ```text
//! g = n xor (n >> 1);    n = g xor (g >> 1) xor (g >> 2) xor …
//! ```
//!
//! # Cost
//!
//! One operation to code, six to decode.
//!
//! # Numerics
//!
//! Exact.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `neighbours_differ_in_one_bit`

/// The code of a number.
#[must_use]
pub const fn gray_from_number(number: u64) -> u64 {
    number ^ (number >> 1)
}

/// The number of a code.
#[must_use]
pub const fn number_from_gray(code: u64) -> u64 {
    let mut number = code;
    let mut shift = 1;
    while shift < 64 {
        number ^= number >> shift;
        shift *= 2;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: ARN-67
    #[test]
    fn neighbours_differ_in_one_bit() {
        let edges = [0, 1, u64::MAX / 2, u64::MAX - 1].into_iter();
        for n in (0..10_000).chain(edges) {
            assert_eq!((gray_from_number(n) ^ gray_from_number(n + 1)).count_ones(), 1, "{n}");
            assert_eq!(number_from_gray(gray_from_number(n)), n);
        }
        assert_eq!(number_from_gray(gray_from_number(u64::MAX)), u64::MAX);
    }
}
