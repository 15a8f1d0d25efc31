//! The table of active pairs, and which of them a body is in.

use super::{phase::Bearing, touch::ContactName};
use rigid_impulse::{EventId, bounds::Travel};
use sim_math::glam::DVec3;
use sim_traits::{ColliderId, FixedMap, Pair, PairCache};
use sim_world::Contact;
use smallvec::SmallVec;

/// Two colliders that the broad phase brought together.
#[derive(Debug, Clone)]
pub(super) struct ActivePair {
    /// Collider slots as proxies, smaller first. The first is A.
    pub(super) key: Pair,
    /// The colliders by name.
    pub(super) names: [ColliderId; 2],
    /// Slots of their bodies.
    pub(super) bodies: [u32; 2],
    /// Which side is a sensor: such a pair is watched, not pushed.
    pub(super) sensor: Option<u8>,
    /// The next check of this pair.
    pub(super) event: EventId,
    /// What the narrow phase remembers.
    pub(super) cache: PairCache,
    /// When the bound below was made, s.
    pub(super) since: f64,
    /// The shapes were at least this far apart along the normal then, m.
    pub(super) distance: f64,
    /// Unit vector from B to A, world.
    pub(super) normal: DVec3,
    /// Bound on how far both together travel towards each other since then.
    pub(super) travel: Travel,
    /// The next check is a located impact.
    pub(super) aimed: bool,
    /// The broad phase reports it; otherwise it was found when a box was renewed.
    pub(super) reported: bool,
    /// Windows since the broad phase took it back: it stays for a while, in case it comes again, or until it is due.
    pub(super) ended: Option<u8>,
    /// In contact since the last time it was far apart.
    pub(super) touching: bool,
    /// Order of visiting contacts, turned after each collision.
    pub(super) turn: u32,
    /// The last impulse, and their sum in the advance of that number.
    pub(super) contact: Option<(u64, Contact)>,
    /// Events in the present window.
    pub(super) events: u32,
    /// What its contacts bore lately.
    pub(super) bearing: Bearing,
    /// When a collision phase sent the two apart, s, and at which speed, m/s; `None` once one of them got another motion.
    pub(super) parted: Option<(f64, f64)>,
    /// Velocities of A relative to B at its contacts then, world axes, m/s.
    pub(super) slips: SmallVec<[(ContactName, DVec3); 4]>,
    /// Its next look is set by the collision phase that is under way.
    pub(super) in_phase: bool,
    /// Positions in the lists of both bodies.
    places: [u32; 2],
}

impl ActivePair {
    /// Rank among events of equal time: by collider slots.
    pub(super) fn rank(key: Pair) -> u64 {
        ((u64::from(key.a.0) + 1) << 32) | u64::from(key.b.0)
    }

    /// Mean acceleration (m/s²) since a collision phase sent the two apart, if they close at a speed (m/s) at `time` (s) and nothing
    /// has happened to them in between; else zero.
    pub(super) fn fall(&self, time: f64, closing: f64) -> f64 {
        self.parted
            .filter(|(since, _)| *since < time)
            .map_or(0.0, |(since, speed)| (speed + closing) / (time - since))
    }

    /// Acceleration (m/s²) of a contact since a collision phase sent the two apart, if it moves at `velocity` (m/s) at `time` (s) and nothing has
    /// happened to them in between.
    pub(super) fn drift(&self, time: f64, name: &ContactName, velocity: DVec3) -> Option<DVec3> {
        let (since, _) = self.parted.filter(|(since, _)| *since < time)?;
        let (_, slip) = self.slips.iter().find(|(known, _)| known == name)?;
        Some((velocity - *slip) / (time - since))
    }

    /// Number of this collision, which gives the order of visiting contacts.
    pub(super) fn next_turn(&mut self) -> u32 {
        let turn = self.turn;
        self.turn = turn.wrapping_add(1);
        turn
    }
}

/// All active pairs.
#[derive(Debug, Default)]
pub(super) struct PairTable {
    slots: Vec<Option<ActivePair>>,
    free: Vec<u32>,
    index: FixedMap<Pair, u32>,
    of_body: Vec<Vec<u32>>,
}

impl PairTable {
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
        self.index.clear();
        self.of_body.iter_mut().for_each(Vec::clear);
    }

    pub(super) fn find(&self, key: Pair) -> Option<u32> {
        self.index.get(&key).copied()
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&ActivePair> {
        self.slots.get(slot as usize)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut ActivePair> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Slots of the pairs of a body.
    #[inline]
    pub(super) fn of_body(&self, body: u32) -> &[u32] {
        self.of_body.get(body as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut ActivePair)> {
        self.slots.iter_mut().enumerate().filter_map(|(k, p)| Some((k as u32, p.as_mut()?)))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &ActivePair)> {
        self.slots.iter().enumerate().filter_map(|(k, p)| Some((k as u32, p.as_ref()?)))
    }

    /// The slot that the next `insert` takes.
    pub(super) fn next_slot(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.slots.len() as u32)
    }

    /// Adds a pair that is not there; its event must be scheduled for [`PairTable::next_slot`].
    pub(super) fn insert(&mut self, key: Pair, bodies: [u32; 2], event: EventId) -> u32 {
        let slot = self.next_slot();
        let mut places = [0; 2];
        for (place, body) in places.iter_mut().zip(bodies) {
            let body = body as usize;
            if self.of_body.len() <= body {
                self.of_body.resize_with(body + 1, Vec::new);
            }
            *place = self.of_body[body].len() as u32;
            self.of_body[body].push(slot);
        }
        let pair = ActivePair {
            key,
            names: [ColliderId::new(key.a.0, 0), ColliderId::new(key.b.0, 0)],
            bodies,
            sensor: None,
            contact: None,
            event,
            cache: PairCache::default(),
            since: 0.0,
            distance: 0.0,
            normal: DVec3::Z,
            travel: Travel::NONE,
            aimed: false,
            reported: true,
            ended: None,
            touching: false,
            turn: 0,
            events: 0,
            bearing: Bearing::default(),
            parted: None,
            slips: SmallVec::new(),
            in_phase: false,
            places,
        };
        match self.free.pop() {
            Some(free) => self.slots[free as usize] = Some(pair),
            None => self.slots.push(Some(pair)),
        }
        self.index.insert(key, slot);
        slot
    }

    /// Removes a pair; its event is the caller's business.
    pub(super) fn remove(&mut self, slot: u32) -> Option<ActivePair> {
        let pair = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        self.index.remove(&pair.key);
        for (place, body) in pair.places.into_iter().zip(pair.bodies) {
            let list = &mut self.of_body[body as usize];
            list.swap_remove(place as usize);
            // The last of the list has moved to the gap.
            if let Some(&moved) = list.get(place as usize) {
                if let Some(other) = self.slots[moved as usize].as_mut() {
                    let side = usize::from(other.bodies[0] != body);
                    other.places[side] = place;
                }
            }
        }
        Some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rigid_impulse::EventQueue;
    use sim_math::testkit::SplitMix64;
    use sim_traits::ProxyId;

    #[test]
    fn lists_of_bodies_agree_with_the_table_under_random_changes() {
        let (mut table, mut queue, mut random) = (PairTable::default(), EventQueue::default(), SplitMix64(8));
        let mut model: Vec<Pair> = Vec::new();
        for _ in 0..5000 {
            let (a, b) = (random.range(0.0, 12.0) as u32, random.range(0.0, 12.0) as u32);
            if a == b {
                continue;
            }
            let key = Pair::new(ProxyId(a), ProxyId(b));
            match table.find(key) {
                None => {
                    let event = queue.schedule(0.0, ()).unwrap();
                    table.insert(key, [key.a.0, key.b.0], event);
                    model.push(key);
                }
                Some(slot) => {
                    assert_eq!(table.remove(slot).unwrap().key, key);
                    model.retain(|k| *k != key);
                }
            }
            assert_eq!(table.iter().count(), model.len());
            for body in 0..12 {
                let mut listed: Vec<_> =
                    table.of_body(body).iter().map(|&s| table.get(s).unwrap().key).collect();
                let mut expected: Vec<_> =
                    model.iter().filter(|k| k.a.0 == body || k.b.0 == body).copied().collect();
                listed.sort();
                expected.sort();
                assert_eq!(listed, expected);
            }
        }
    }
}
