//! Which pairs of a creature's parts are worth a look: ground, other creatures, and neighbouring limbs.
//!
//! # Reference
//! Arnold (1997), section 2.4.1.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | side | left or right of the trunk |
//! | row | limbs of one side counted from the front |
//!
//! # Formula
//! ```text
//! (x, y) is kept  ⇔  exactly one is ground
//!                  ∨  they belong to different creatures
//!                  ∨  both are limbs of one side in rows r and r ± 1
//! ```
//! Parts of one limb, a limb and its trunk, and limbs of opposite sides are left out: joints keep them apart or
//! they cannot meet. Quadruped with two segments a limb: 8 pairs of segments remain; hexapod: 16.
//!
//! # Cost
//! O(1) per pair.
//!
//! # Numerics
//! None.
//!
//! # Failure
//! Proxies without a tag are never left out.
//!
//! # Tested by
//! `creatures_keep_their_neighbouring_limbs`, `no_contact_of_neighbouring_limbs_is_missed`.

use sim_traits::{FixedMap, Pair, ProxyId};

/// What a proxy is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyPart {
    /// The ground, or anything that belongs to no creature and does not move.
    Ground,
    /// The trunk of a creature.
    Trunk {
        /// Which creature.
        creature: u32,
    },
    /// A segment of a limb.
    Limb {
        /// Which creature.
        creature: u32,
        /// Side of the trunk.
        side: u8,
        /// Place on that side, from the front.
        row: u8,
    },
}

impl BodyPart {
    /// True if the two can touch and are not joined.
    #[must_use]
    pub fn may_touch(self, other: Self) -> bool {
        let creature = |part: Self| match part {
            Self::Ground => None,
            Self::Trunk { creature } | Self::Limb { creature, .. } => Some(creature),
        };
        match (self, other) {
            (Self::Ground, Self::Ground) => false,
            (Self::Limb { side: s1, row: r1, .. }, Self::Limb { side: s2, row: r2, .. })
                if creature(self) == creature(other) =>
            {
                s1 == s2 && r1.abs_diff(r2) == 1
            }
            _ => creature(self) != creature(other),
        }
    }
}

/// Tags of proxies, and the list without the pairs that they rule out.
#[derive(Debug, Clone, Default)]
pub struct LimbFilter {
    parts: FixedMap<ProxyId, BodyPart>,
}

impl LimbFilter {
    /// Tags a proxy, in place of an earlier tag.
    pub fn set(&mut self, id: ProxyId, part: BodyPart) {
        self.parts.insert(id, part);
    }

    /// Forgets a proxy.
    pub fn remove(&mut self, id: ProxyId) {
        self.parts.remove(&id);
    }

    /// True if the pair is worth a look.
    #[must_use]
    pub fn keeps(&self, pair: Pair) -> bool {
        match (self.parts.get(&pair.a), self.parts.get(&pair.b)) {
            (Some(&a), Some(&b)) => a.may_touch(b),
            _ => true,
        }
    }

    /// Leaves the pairs that are worth a look, in their order.
    pub fn retain(&self, pairs: &mut Vec<Pair>) {
        pairs.retain(|&pair| self.keeps(pair));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BruteForce, ColumnSweep};
    use sim_math::{Aabb, glam::DVec3};
    use sim_traits::{BroadPhase, ProxyKind};

    /// Trunk 0, then segments: side, row, segment.
    fn creature(rows: u8, filter: &mut LimbFilter) -> Vec<(ProxyId, u8, u8)> {
        filter.set(ProxyId(0), BodyPart::Trunk { creature: 1 });
        let mut segments = Vec::new();
        for side in 0..2 {
            for row in 0..rows {
                for _ in 0..2 {
                    let id = ProxyId(segments.len() as u32 + 1);
                    filter.set(id, BodyPart::Limb { creature: 1, side, row });
                    segments.push((id, side, row));
                }
            }
        }
        segments
    }

    // proves: ARN-27
    #[test]
    fn creatures_keep_their_neighbouring_limbs() {
        for (rows, expected) in [(2, 8), (3, 16)] {
            let mut filter = LimbFilter::default();
            let segments = creature(rows, &mut filter);
            let mut all = BruteForce::all_pairs();
            for id in (0..=segments.len() as u32).map(ProxyId) {
                all.insert(id, ProxyKind::Moving, &Aabb { min: DVec3::ZERO, max: DVec3::ONE }).unwrap();
            }
            let mut pairs = Vec::new();
            all.pairs(&mut pairs);
            filter.retain(&mut pairs);
            assert_eq!(pairs.len(), expected);
            // With a ground, everything is tested against it.
            let ground = ProxyId(99);
            filter.set(ground, BodyPart::Ground);
            all.insert(ground, ProxyKind::Fixed, &Aabb::EVERYWHERE).unwrap();
            all.pairs(&mut pairs);
            filter.retain(&mut pairs);
            assert_eq!(pairs.len(), expected + segments.len() + 1);
        }
        no_contact_of_neighbouring_limbs_is_missed();
    }

    /// Legs of a hexapod swing through each other: every overlap of neighbours on a side is in the list.
    fn no_contact_of_neighbouring_limbs_is_missed() {
        let mut filter = LimbFilter::default();
        let segments = creature(3, &mut filter);
        let place = |&(id, side, row): &(ProxyId, u8, u8), swing: f64| {
            let lower = f64::from(id.0 % 2);
            let phase = if row % 2 == 0 { swing } else { -swing };
            let center = DVec3::new(f64::from(row) + phase, f64::from(side) * 2.0 - 1.0, -0.4 * lower);
            Aabb::from_center_half_extents(center, DVec3::new(0.15, 0.15, 0.25))
        };
        let mut broad = ColumnSweep::default();
        for s in &segments {
            broad.insert(s.0, ProxyKind::Moving, &place(s, 0.0)).unwrap();
        }
        let ids: Vec<_> = segments.iter().map(|s| s.0).collect();
        let mut crossings = 0;
        for step in 0..200 {
            let swing = 0.8 * sim_math::ops::sin(0.1 * f64::from(step));
            let boxes: Vec<_> = segments.iter().map(|s| place(s, swing)).collect();
            broad.update(&ids, &boxes).unwrap();
            let mut pairs = Vec::new();
            broad.pairs(&mut pairs);
            filter.retain(&mut pairs);
            for (i, a) in segments.iter().enumerate() {
                for (j, b) in segments.iter().enumerate().skip(i + 1) {
                    if a.1 == b.1 && a.2.abs_diff(b.2) == 1 && boxes[i].overlaps(&boxes[j]) {
                        crossings += 1;
                        assert!(pairs.contains(&Pair::new(a.0, b.0)), "step {step}");
                    }
                }
            }
        }
        assert!(crossings > 100);
    }
}
