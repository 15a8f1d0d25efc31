//! Hash tables with a fixed hasher: the same table in every run and on every target.
//!
//! The hash of a word is a multiplication by an odd constant, and the result is rotated because hashbrown
//! takes the top seven bits as a tag and the low bits as the bucket. This is not safe against chosen
//! keys; the engine hashes its own integers only.

use std::hash::{BuildHasher, Hasher};

/// Map with the fixed hasher. Its iteration order is not part of any contract: never iterate it in a step.
pub type FixedMap<K, V> = hashbrown::HashMap<K, V, FixedState>;

/// Set with the fixed hasher. Its iteration order is not part of any contract: never iterate it in a step.
pub type FixedSet<K> = hashbrown::HashSet<K, FixedState>;

/// Builds [`FixedHasher`]s, all alike.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedState;

impl BuildHasher for FixedState {
    type Hasher = FixedHasher;

    #[inline]
    fn build_hasher(&self) -> FixedHasher {
        FixedHasher { state: 0 }
    }
}

/// The hasher itself, for integers and small structs of integers.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedHasher {
    state: u64,
}

/// 2⁶⁴ divided by the golden ratio, odd: consecutive keys land far apart (Knuth, vol. 3, 6.4).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl FixedHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        // The fold keeps high bits of an earlier word from being lost by the next multiplication.
        let folded = self.state ^ (self.state >> 32);
        self.state = (folded.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for FixedHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.state.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
        self.mix(bytes.len() as u64);
    }

    #[inline]
    fn write_u8(&mut self, x: u8) {
        self.mix(u64::from(x));
    }

    #[inline]
    fn write_u16(&mut self, x: u16) {
        self.mix(u64::from(x));
    }

    #[inline]
    fn write_u32(&mut self, x: u32) {
        self.mix(u64::from(x));
    }

    #[inline]
    fn write_u64(&mut self, x: u64) {
        self.mix(x);
    }

    #[inline]
    fn write_i32(&mut self, x: i32) {
        self.mix(x as u64);
    }

    #[inline]
    fn write_i64(&mut self, x: i64) {
        self.mix(x as u64);
    }

    #[inline]
    fn write_usize(&mut self, x: usize) {
        self.mix(x as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    fn hash<T: Hash>(value: &T) -> u64 {
        FixedState.hash_one(value)
    }

    #[test]
    fn hashes_never_change_between_builds() {
        assert_eq!(hash(&1_u64), MULTIPLIER.rotate_left(26));
        assert_eq!(hash(&(1_u32, 2_u32)), 0x48AC_2C83_9792_0BB1);
    }

    #[test]
    fn grid_cells_spread_over_buckets_and_tags() {
        // Cells of a 32³ grid: every low-bit bucket and every tag must be hit about equally often.
        let (mut buckets, mut tags) = (vec![0_u32; 1024], vec![0_u32; 128]);
        for x in -16_i32..16 {
            for y in -16_i32..16 {
                for z in -16_i32..16 {
                    let h = hash(&(x, y, z));
                    buckets[(h & 1023) as usize] += 1;
                    tags[(h >> 57) as usize] += 1;
                }
            }
        }
        assert!(buckets.iter().all(|&n| n < 96), "mean 32, worst {:?}", buckets.iter().max());
        assert!(tags.iter().all(|&n| (128..512).contains(&n)), "mean 256, worst {:?}", tags.iter().max());
    }
}
