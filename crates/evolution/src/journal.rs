//! The journal of a run: outcomes as bytes that are only ever appended, so that a run which is stopped at any moment goes on from what it had.
//!
//! # Reference
//!
//! Write-ahead logs in general, as in Gray and Reuter (1993), *Transaction Processing*, chapter 9; the format is our own.
//!
//! # Symbols
//!
//! | part | bytes | meaning |
//! |---|---|---|
//! | magic | 8 | `TSEVOLV1` |
//! | run | 8 | number of the settings of the run, little endian |
//! | entry | 4 + 8 + n + 8 | length n, child, outcome (postcard), checksum of the three |
//!
//! # Formula
//!
//! ```text
//! journal = magic run check(magic run) entry*     what follows the last whole entry with the right checksum is a torn tail, and is cut
//! ```
//!
//! # Cost
//!
//! One pass to read; one small buffer to write.
//!
//! # Numerics
//!
//! Numbers are stored to the bit.
//!
//! # Failure
//!
//! [`EvolutionError::Damaged`] for bytes that are no journal, or that of another run. A torn tail is no error: its length is reported.
//!
//! # Tested by
//!
//! `a_journal_that_is_cut_anywhere_gives_the_whole_entries_before`, `a_changed_byte_ends_the_journal_there`, `journals_of_other_runs_are_refused`

use crate::{error::EvolutionError, job::Outcome};
use sim_traits::FixedState;
use std::hash::{BuildHasher, Hasher};

const MAGIC: [u8; 8] = *b"TSEVOLV1";
/// Magic, run, checksum.
const HEADER: usize = 24;
/// Outcomes longer than this are damage, not data.
const LONGEST: u32 = 1 << 24;

fn checksum(parts: &[&[u8]]) -> u64 {
    let mut hasher = FixedState.build_hasher();
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

/// The bytes that a new journal begins with. `run` is the number of the settings: a journal is not continued with others.
#[must_use]
pub fn journal_header(run: u64) -> Vec<u8> {
    let run = run.to_le_bytes();
    let check = checksum(&[&MAGIC, &run]).to_le_bytes();
    [&MAGIC[..], &run, &check].concat()
}

/// The bytes of one more outcome. Write them in one call.
///
/// # Errors
/// Data that cannot be written, or is longer than 16 MiB.
pub fn journal_entry(child: u64, outcome: &Outcome) -> Result<Vec<u8>, EvolutionError> {
    let damaged = |why: String| EvolutionError::Damaged { what: "outcome", why };
    let data = postcard::to_allocvec(outcome).map_err(|error| damaged(error.to_string()))?;
    let length = u32::try_from(data.len()).ok().filter(|n| *n <= LONGEST);
    let length = length.ok_or_else(|| damaged(format!("{} bytes long", data.len())))?.to_le_bytes();
    let child = child.to_le_bytes();
    let check = checksum(&[&length, &child, &data]).to_le_bytes();
    Ok([&length[..], &child, &data, &check].concat())
}

/// What a journal holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// Children and their outcomes, in the order in which they were written.
    pub entries: Vec<(u64, Outcome)>,
    /// Length of the part that is whole, bytes: cut the file there before anything is appended.
    pub whole: usize,
    /// Bytes of a torn tail.
    pub torn: usize,
}

impl Journal {
    /// Reads a journal of a run.
    ///
    /// # Errors
    /// No journal, or that of other settings. No bytes at all, or a torn header, is the empty journal of a run that has just begun.
    pub fn read(bytes: &[u8], run: u64) -> Result<Self, EvolutionError> {
        let damaged = |why: String| EvolutionError::Damaged { what: "journal", why };
        let header = journal_header(run);
        let Some((found, mut rest)) = bytes.split_at_checked(HEADER) else {
            if header.starts_with(bytes) {
                return Ok(Self { entries: Vec::new(), whole: 0, torn: bytes.len() });
            }
            return Err(damaged("it does not begin as one".into()));
        };
        if found[..8] != MAGIC {
            return Err(damaged("it does not begin as one".into()));
        }
        if found != header {
            return Err(damaged(
                "it is of a run with other settings, or its first bytes were changed".into(),
            ));
        }
        let (mut entries, mut whole) = (Vec::new(), HEADER);
        while let Some((entry, length)) = read_entry(rest) {
            entries.push(entry);
            whole += length;
            rest = &rest[length..];
        }
        Ok(Self { entries, whole, torn: bytes.len() - whole })
    }
}

/// The first entry and its length, if it is whole.
fn read_entry(bytes: &[u8]) -> Option<((u64, Outcome), usize)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (child, rest) = rest.split_first_chunk::<8>()?;
    let count = u32::from_le_bytes(*length);
    let (data, rest) = rest.split_at_checked(count.min(LONGEST + 1) as usize)?;
    let (check, _) = rest.split_first_chunk::<8>()?;
    if count > LONGEST || u64::from_le_bytes(*check) != checksum(&[length, child, data]) {
        return None;
    }
    match postcard::take_from_bytes(data) {
        Ok((outcome, [])) => Some(((u64::from_le_bytes(*child), outcome), 20 + data.len())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{job::Verdict, random::Random};

    fn outcomes() -> Vec<(u64, Outcome)> {
        let mut random = Random::new(1);
        let mut outcome = |k: u64| match k % 3 {
            0 => Outcome { measures: vec![("height".into(), 0.5)], ..Outcome::valid(random.range(0.0, 9.0)) },
            1 => Outcome::refused(Verdict::Dishonest { cause: "remainder".into(), share: 0.2 }),
            _ => Outcome::refused(Verdict::Disqualified { rule: "moves before the start".into() }),
        };
        (0..20).map(|k| (k * 7 % 20, outcome(k))).collect()
    }

    fn journal() -> (Vec<u8>, Vec<usize>) {
        let mut bytes = journal_header(5);
        let mut ends = vec![bytes.len()];
        for (child, outcome) in outcomes() {
            bytes.extend(journal_entry(child, &outcome).unwrap());
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    #[test]
    fn a_journal_that_is_cut_anywhere_gives_the_whole_entries_before() {
        let (bytes, ends) = journal();
        for cut in 0..=bytes.len() {
            let read = Journal::read(&bytes[..cut], 5).unwrap();
            let count = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            assert_eq!(read.entries, outcomes()[..count], "cut at {cut}");
            assert_eq!(
                (read.whole + read.torn, read.whole),
                (cut, if cut < HEADER { 0 } else { ends[count] })
            );
        }
    }

    #[test]
    fn a_changed_byte_ends_the_journal_there() {
        let (bytes, ends) = journal();
        for at in HEADER..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x40;
            let read = Journal::read(&bytes, 5).unwrap();
            let count = ends.iter().filter(|end| **end <= at).count() - 1;
            assert_eq!(read.entries, outcomes()[..count], "changed at {at}");
        }
        for at in 0..HEADER {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x40;
            assert!(Journal::read(&bytes, 5).is_err(), "changed at {at}");
        }
    }

    #[test]
    fn journals_of_other_runs_are_refused() {
        let (bytes, _) = journal();
        let text = |bytes: &[u8], run| Journal::read(bytes, run).unwrap_err().to_string();
        assert!(text(&bytes, 6).contains("of a run with other settings"));
        assert!(text(b"something else entirely, and long", 5).contains("does not begin as one"));
        assert!(text(b"some", 5).contains("does not begin as one"));
        assert_eq!(Journal::read(&[], 5).unwrap().entries, []);
    }
}
