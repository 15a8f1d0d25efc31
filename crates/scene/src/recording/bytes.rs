//! Whole numbers of varying size, and packing by zlib.

use super::{MAX_RECORD, RecordingError};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use std::io::{Read, Write};

/// Appends `value` in groups of seven bits, lowest first; the high bit says that more follow.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Signed as unsigned with small magnitudes first: 0, −1, 1, −2, ...
pub(super) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// What is left of one plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane<'a>(pub(super) &'a [u8]);

impl Plane<'_> {
    /// Next byte, if there is one.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Next unsigned number; `None` if the plane ends or the number has more than 64 bits.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let low = u64::from(byte & 0x7f);
            if shift == 63 && low > 1 {
                return None;
            }
            value |= low << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Next signed number.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let z = self.varint()?;
        Some((z >> 1) as i64 ^ -((z & 1) as i64))
    }

    /// The next `n` bytes.
    pub(super) fn take(&mut self, n: usize) -> Option<&[u8]> {
        if n > self.0.len() {
            return None;
        }
        let (head, tail) = self.0.split_at(n);
        self.0 = tail;
        Some(head)
    }

    /// Next 32-bit number, little-endian.
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take(4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
    }
}

/// Writes one record: tag, unpacked length, packed length, zlib stream.
pub(super) fn write_record(out: &mut impl Write, tag: u8, raw: &[u8]) -> Result<(), RecordingError> {
    let io = |source| RecordingError::Io { what: "writing a recording".to_owned(), source };
    if raw.len() > MAX_RECORD {
        let what = format!("{} bytes, more than {MAX_RECORD}", raw.len());
        return Err(super::error::invalid(format!("record `{}`", tag as char), what));
    }
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(raw.len() / 4 + 64), Compression::best());
    encoder.write_all(raw).map_err(io)?;
    let packed = encoder.finish().map_err(io)?;
    out.write_all(&[tag]).map_err(io)?;
    out.write_all(&(raw.len() as u32).to_le_bytes()).map_err(io)?;
    out.write_all(&(packed.len() as u32).to_le_bytes()).map_err(io)?;
    out.write_all(&packed).map_err(io)
}

/// One record found in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// Position of the tag, bytes.
    pub(super) at: usize,
    pub(super) tag: u8,
    /// Length of the contents, bytes.
    pub(super) raw_len: usize,
    start: usize,
    /// First byte after the record.
    pub(super) end: usize,
}

impl Record {
    /// Reads the frame of the record at `at`, not its contents.
    pub(super) fn find(file: &[u8], at: usize) -> Result<Self, RecordingError> {
        let mut head = Plane(file.get(at..).unwrap_or_default());
        let (Some(tag), Some(raw_len), Some(packed)) = (head.byte(), head.u32(), head.u32()) else {
            return Err(RecordingError::Truncated { at: file.len(), what: "a record or the end".to_owned() });
        };
        if raw_len as usize > MAX_RECORD {
            let what = format!("record of {raw_len} bytes, more than {MAX_RECORD}");
            return Err(RecordingError::Corrupt { at, what });
        }
        let start = file.len() - head.0.len();
        if packed as usize > head.0.len() {
            let missing = packed as usize - head.0.len();
            let what = format!("{missing} bytes of the record at byte {at} are missing");
            return Err(RecordingError::Truncated { at: file.len(), what });
        }
        Ok(Self { at, tag, raw_len: raw_len as usize, start, end: start + packed as usize })
    }

    /// Unpacks the contents and checks their length and check sum.
    pub(super) fn unpack(&self, file: &[u8]) -> Result<Vec<u8>, RecordingError> {
        let packed = file.get(self.start..self.end).unwrap_or_default();
        // One byte more than promised is asked for, so that a longer stream shows itself without being unpacked.
        let mut decoder = ZlibDecoder::new(packed).take(self.raw_len as u64 + 1);
        let mut raw = Vec::new();
        decoder.read_to_end(&mut raw).map_err(|e| self.corrupt(format!("bad zlib stream: {e}")))?;
        if raw.len() != self.raw_len {
            return Err(self.corrupt(format!("unpacked length is not the promised {}", self.raw_len)));
        }
        Ok(raw)
    }

    /// An error in this record.
    pub(super) fn corrupt(&self, what: impl Into<String>) -> RecordingError {
        RecordingError::Corrupt {
            at: self.at,
            what: format!("record `{}`: {}", self.tag.escape_ascii(), what.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_come_back() {
        let mut values = vec![0_i64, i64::MAX, i64::MIN];
        values.extend((0..63).flat_map(|k| [1_i64 << k, -(1_i64 << k), (1_i64 << k) - 1]));
        let mut bytes = Vec::new();
        values.iter().for_each(|&v| put_signed(&mut bytes, v));
        let mut plane = Plane(&bytes);
        for value in values {
            assert_eq!(plane.signed(), Some(value));
        }
        assert!(plane.0.is_empty() && plane.signed().is_none());
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        assert_eq!(Plane(&[0xff; 11]).varint(), None);
        assert_eq!(Plane(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).varint(), None);
        assert_eq!(
            Plane(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).varint(),
            Some(u64::MAX)
        );
    }

    #[test]
    fn a_record_that_unpacks_to_more_than_it_says_is_refused_unread() {
        let mut file = Vec::new();
        write_record(&mut file, b'X', &vec![0; 50_000_000]).unwrap();
        file[1..5].copy_from_slice(&10_u32.to_le_bytes());
        let record = Record::find(&file, 0).unwrap();
        assert!(record.unpack(&file).unwrap_err().to_string().contains("promised 10"));
    }
}
