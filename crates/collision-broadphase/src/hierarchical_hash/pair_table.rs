//! Pairs with their shared-tile counters, in a hash table: memory by the number of pairs, not of boxes squared.

use sim_math::Aabb;
use sim_traits::FixedMap;

/// A pair that shares tiles, or did a short while ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) a: u32,
    pub(super) b: u32,
    /// Tiles shared at the coarser of the two native levels, and one for each of the two that is all over.
    pub(super) shared: u32,
    /// Updates to live after the counter fell to 0.
    countdown: u32,
    /// In the list of pairs that shared nothing.
    fading: bool,
    /// Known to the receiver of changes.
    pub(super) reported: bool,
    /// Which of the six sides separated the boxes last, see [`separates`].
    separator: u8,
}

/// True if plane `side` (axis, and which of the two boxes is below) separates the boxes.
#[inline]
fn separates(side: u8, a: &Aabb, b: &Aabb) -> bool {
    let (low, high) = if side & 1 == 0 { (a, b) } else { (b, a) };
    match side >> 1 {
        0 => low.max.x < high.min.x,
        1 => low.max.y < high.min.y,
        _ => low.max.z < high.min.z,
    }
}

/// How often the plane that separated a pair last did so again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PlaneCache {
    pub(super) hits: u64,
    pub(super) misses: u64,
}

impl Entry {
    /// Box test that tries the plane of last time first.
    #[inline]
    pub(super) fn overlap(&mut self, a: &Aabb, b: &Aabb, cache: &mut PlaneCache) -> bool {
        if separates(self.separator, a, b) {
            cache.hits += 1;
            return false;
        }
        if a.overlaps(b) {
            return true;
        }
        cache.misses += 1;
        self.separator = (0..6).find(|&side| separates(side, a, b)).unwrap_or(0);
        false
    }
}

/// The table: dense entries, found by a map.
#[derive(Debug, Clone, Default)]
pub(super) struct PairTable {
    entries: Vec<Entry>,
    map: FixedMap<u64, u32>,
    /// Keys of entries whose counter fell to 0 (the hysteresis array).
    fading: Vec<u64>,
    created: u64,
}

#[inline]
fn key(a: u32, b: u32) -> u64 {
    (u64::from(a.min(b)) << 32) | u64::from(a.max(b))
}

impl PairTable {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn created(&self) -> u64 {
        self.created
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// One more shared tile.
    #[inline]
    pub(super) fn share(&mut self, a: u32, b: u32) {
        let (entries, created) = (&mut self.entries, &mut self.created);
        let at = *self.map.entry(key(a, b)).or_insert_with(|| {
            *created += 1;
            let (a, b) = (a.min(b), a.max(b));
            entries.push(Entry {
                a,
                b,
                shared: 0,
                countdown: 0,
                fading: false,
                reported: false,
                separator: 0,
            });
            entries.len() as u32 - 1
        });
        entries[at as usize].shared += 1;
    }

    /// One shared tile less. An entry that reaches 0 lives for `patience` more updates, this one not counted.
    #[inline]
    pub(super) fn part(&mut self, a: u32, b: u32, patience: u32) {
        let k = key(a, b);
        let Some(&at) = self.map.get(&k) else {
            debug_assert!(false, "slots {a} and {b} share no tile");
            return;
        };
        let entry = &mut self.entries[at as usize];
        entry.shared -= 1;
        if entry.shared == 0 {
            entry.countdown = patience;
            if !entry.fading {
                entry.fading = true;
                self.fading.push(k);
            }
        }
    }

    /// One update has passed: entries whose time is over go, `gone` hears of those that were reported.
    pub(super) fn tick(&mut self, mut gone: impl FnMut(&Entry)) {
        let mut keep = 0;
        for i in 0..self.fading.len() {
            let k = self.fading[i];
            let Some(&at) = self.map.get(&k) else { continue };
            let entry = &mut self.entries[at as usize];
            if entry.shared > 0 {
                entry.fading = false;
            } else if entry.countdown > 0 {
                entry.countdown -= 1;
                self.fading[keep] = k;
                keep += 1;
            } else {
                gone(entry);
                self.delete(k, at);
            }
        }
        self.fading.truncate(keep);
    }

    /// Deletes all fading entries of a slot at once, because its box is gone.
    pub(super) fn forget(&mut self, slot: u32, mut gone: impl FnMut(&Entry)) {
        let mut keep = 0;
        for i in 0..self.fading.len() {
            let k = self.fading[i];
            let Some(&at) = self.map.get(&k) else { continue };
            let entry = &self.entries[at as usize];
            if entry.a == slot || entry.b == slot {
                gone(entry);
                self.delete(k, at);
            } else {
                self.fading[keep] = k;
                keep += 1;
            }
        }
        self.fading.truncate(keep);
    }

    fn delete(&mut self, k: u64, at: u32) {
        self.map.remove(&k);
        self.entries.swap_remove(at as usize);
        if let Some(moved) = self.entries.get(at as usize) {
            self.map.insert(key(moved.a, moved.b), at);
        }
    }
}
