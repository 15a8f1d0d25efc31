//! The table of boxes that every broad phase keeps: caller's ids to dense slots, with checked batches.

use sim_math::Aabb;
use sim_traits::{BroadPhaseError, FixedMap, Pair, ProxyId, ProxyKind};

/// No slot, no record, no node.
pub(crate) const NONE: u32 = u32::MAX;

/// Slots of ids: an array for the small ids that worlds use, a hash table for the others.
#[derive(Debug, Clone, Default)]
struct IdTable {
    dense: Vec<u32>,
    sparse: FixedMap<u32, u32>,
}

impl IdTable {
    #[inline]
    fn get(&self, id: ProxyId) -> Option<u32> {
        match self.dense.get(id.index()) {
            Some(&slot) if slot != NONE => Some(slot),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&id.0).copied(),
        }
    }

    /// The array stays within a few words per box, whatever ids the caller invents.
    fn insert(&mut self, id: ProxyId, slot: u32, len: usize) {
        let i = id.index();
        if i >= self.dense.len() && i < 1024 + 8 * len {
            self.dense.resize((i + 1).max(2 * self.dense.len().min(512 + 4 * len)), NONE);
        }
        match self.dense.get_mut(i) {
            Some(entry) => *entry = slot,
            None => drop(self.sparse.insert(id.0, slot)),
        }
    }

    fn remove(&mut self, id: ProxyId) -> Option<u32> {
        match self.dense.get_mut(id.index()) {
            Some(entry) if *entry != NONE => Some(std::mem::replace(entry, NONE)),
            _ => self.sparse.remove(&id.0),
        }
    }
}

/// Whether a slot has a box, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tenant {
    Free,
    Fixed,
    Moving,
}

impl From<ProxyKind> for Tenant {
    fn from(kind: ProxyKind) -> Self {
        match kind {
            ProxyKind::Fixed => Self::Fixed,
            ProxyKind::Moving => Self::Moving,
        }
    }
}

/// Boxes by slot. A slot keeps its number until it is released; released slots are used again, last first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proxies {
    table: IdTable,
    pub(crate) ids: Vec<ProxyId>,
    pub(crate) tenants: Vec<Tenant>,
    pub(crate) boxes: Vec<Aabb>,
    free: Vec<u32>,
    len: usize,
}

impl Proxies {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn slot(&self, id: ProxyId) -> Option<u32> {
        self.table.get(id)
    }

    /// Number of slots, free ones included.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.ids.len()
    }

    #[inline]
    pub(crate) fn is_live(&self, slot: u32) -> bool {
        self.tenants[slot as usize] != Tenant::Free
    }

    #[inline]
    pub(crate) fn is_fixed(&self, slot: u32) -> bool {
        self.tenants[slot as usize] == Tenant::Fixed
    }

    /// True if the two may form a pair: at least one moves.
    #[inline]
    pub(crate) fn may_pair(&self, a: u32, b: u32) -> bool {
        !(self.is_fixed(a) && self.is_fixed(b))
    }

    #[inline]
    pub(crate) fn overlap(&self, a: u32, b: u32) -> bool {
        self.boxes[a as usize].overlaps(&self.boxes[b as usize])
    }

    #[inline]
    pub(crate) fn pair(&self, a: u32, b: u32) -> Pair {
        Pair::new(self.ids[a as usize], self.ids[b as usize])
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.slots() as u32).filter(|&s| self.is_live(s))
    }

    pub(crate) fn insert(
        &mut self,
        id: ProxyId,
        kind: ProxyKind,
        aabb: &Aabb,
    ) -> Result<u32, BroadPhaseError> {
        BroadPhaseError::check_box(id, aabb)?;
        if self.table.get(id).is_some() {
            return Err(BroadPhaseError::Duplicate { id });
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                let s = slot as usize;
                (self.ids[s], self.tenants[s], self.boxes[s]) = (id, kind.into(), *aabb);
                slot
            }
            None => {
                self.ids.push(id);
                self.tenants.push(kind.into());
                self.boxes.push(*aabb);
                self.ids.len() as u32 - 1
            }
        };
        self.len += 1;
        self.table.insert(id, slot, self.len);
        Ok(slot)
    }

    /// Takes the id out. The slot stays unusable until [`release`](Self::release), so that lists which still
    /// name it cannot meet a new tenant.
    pub(crate) fn remove(&mut self, id: ProxyId) -> Result<(u32, Tenant), BroadPhaseError> {
        let slot = self.table.remove(id).ok_or(BroadPhaseError::Unknown { id })?;
        self.len -= 1;
        Ok((slot, std::mem::replace(&mut self.tenants[slot as usize], Tenant::Free)))
    }

    pub(crate) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Slots of a batch, after every item has been checked.
    pub(crate) fn resolve(
        &self,
        ids: &[ProxyId],
        boxes: &[Aabb],
        slots: &mut Vec<u32>,
    ) -> Result<(), BroadPhaseError> {
        if ids.len() != boxes.len() {
            return Err(BroadPhaseError::BatchLength { ids: ids.len(), boxes: boxes.len() });
        }
        slots.clear();
        slots.reserve(ids.len());
        for (&id, aabb) in ids.iter().zip(boxes) {
            BroadPhaseError::check_box(id, aabb)?;
            slots.push(self.table.get(id).ok_or(BroadPhaseError::Unknown { id })?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::glam::DVec3;

    fn unit() -> Aabb {
        Aabb { min: DVec3::ZERO, max: DVec3::ONE }
    }

    #[test]
    fn wild_ids_do_not_cost_memory_and_are_found() {
        let mut proxies = Proxies::default();
        for id in [0, u32::MAX, 5, 1 << 30, 2000, 1500] {
            proxies.insert(ProxyId(id), ProxyKind::Moving, &unit()).unwrap();
        }
        assert!(proxies.table.dense.len() < 4096);
        for n in 0..3000 {
            let _ = proxies.insert(ProxyId(n), ProxyKind::Moving, &unit());
        }
        for id in [0, u32::MAX, 5, 1 << 30, 2000, 1500, 2999] {
            let slot = proxies.table.get(ProxyId(id)).unwrap();
            assert_eq!(proxies.ids[slot as usize], ProxyId(id));
            assert!(proxies.insert(ProxyId(id), ProxyKind::Moving, &unit()).is_err());
            assert_eq!(proxies.remove(ProxyId(id)), Ok((slot, Tenant::Moving)));
            assert!(proxies.remove(ProxyId(id)).is_err());
        }
        assert_eq!(proxies.len(), 3002 - 7);
    }

    #[test]
    fn a_slot_is_not_used_again_before_it_is_released() {
        let mut proxies = Proxies::default();
        let first = proxies.insert(ProxyId(1), ProxyKind::Fixed, &unit()).unwrap();
        proxies.remove(ProxyId(1)).unwrap();
        assert_ne!(proxies.insert(ProxyId(2), ProxyKind::Fixed, &unit()), Ok(first));
        proxies.release(first);
        assert_eq!(proxies.insert(ProxyId(3), ProxyKind::Moving, &unit()), Ok(first));
    }
}
