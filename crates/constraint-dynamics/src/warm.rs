//! Impulses remembered from step to step, by contact.
//!
//! Kept in world axes, because tangents depend on the normal; found again by a key that says which colliders, pieces and features meet, or by
//! their place: features of flush faces change with the last bit.

use sim_math::glam::DVec3;
use sim_traits::FeatureId;

/// Name of a contact that stays the same while the same features of the same pieces of the same colliders meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactKey {
    /// Colliders or parts, as the caller numbers them.
    pub pair: [u32; 2],
    /// Convex pieces of both.
    pub pieces: [u32; 2],
    /// Features of both.
    pub features: [FeatureId; 2],
    /// Number among contacts that are equal in all else.
    pub copy: u32,
}

/// The impulses of the last step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WarmStart {
    entries: Vec<Remembered>,
}

/// One impulse of the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remembered {
    /// Of which contact.
    pub key: ContactKey,
    /// Where it was, world, m.
    pub point: DVec3,
    /// World axes, N·s.
    pub impulse: DVec3,
}

impl WarmStart {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Replaces what is remembered. The order does not matter.
    pub fn store(&mut self, contacts: impl Iterator<Item = Remembered>) {
        self.entries.clear();
        self.entries.extend(contacts);
        // Most often they come by pairs already.
        if self.entries.is_sorted_by_key(|entry| entry.key.pair) {
            for same in self.entries.chunk_by_mut(|x, y| x.key.pair == y.key.pair) {
                same.sort_unstable_by_key(|entry| entry.key);
            }
        } else {
            self.entries.sort_unstable_by_key(|entry| entry.key);
        }
    }

    /// Impulse of a contact in the last step, world axes, N·s: that of the nearest contact of the same pieces within `radius` (m), or else the one with
    /// the same features; zero if it is new.
    #[must_use]
    pub fn get(&self, key: &ContactKey, point: DVec3, radius: f64) -> DVec3 {
        let of = |k: &ContactKey| (k.pair, k.pieces);
        let start = self.entries.partition_point(|e| of(&e.key) < of(key));
        let same = self.entries[start..].iter().take_while(|e| of(&e.key) == of(key));
        let mut nearest = (radius * radius, None);
        for entry in same.clone() {
            let distance = (entry.point - point).length_squared();
            if distance <= nearest.0 {
                nearest = (distance, Some(entry.impulse));
            }
        }
        let named = || same.clone().find(|e| e.key == *key).map(|e| e.impulse);
        nearest.1.or_else(named).unwrap_or(DVec3::ZERO)
    }

    /// What is remembered, by key.
    #[must_use]
    pub fn entries(&self) -> &[Remembered] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impulses_are_found_again_by_place_and_by_key() {
        let key = |n: u32| ContactKey {
            pair: [3, 4],
            pieces: [0, 0],
            features: [FeatureId::vertex(n), FeatureId::face(1)],
            copy: 0,
        };
        let at = |n: u32| DVec3::splat(f64::from(n));
        let mut warm = WarmStart::default();
        warm.store([7, 3, 5].into_iter().map(|n| Remembered {
            key: key(n),
            point: at(n),
            impulse: 2.0 * at(n),
        }));
        assert_eq!(warm.get(&key(5), at(5), 0.1), 2.0 * at(5));
        // Other features at the same place, the same features elsewhere, another pair.
        assert_eq!(warm.get(&key(9), at(3) + DVec3::X * 0.05, 0.1), 2.0 * at(3));
        assert_eq!(warm.get(&key(7), at(20), 0.1), 2.0 * at(7));
        assert_eq!(warm.get(&key(9), at(20), 0.1), DVec3::ZERO);
        let other = ContactKey { pair: [3, 5], ..key(5) };
        assert_eq!(warm.get(&other, at(5), 0.1), DVec3::ZERO);
        assert!(warm.entries().windows(2).all(|w| w[0].key < w[1].key));
    }
}
