//! Generational slots: dense indices, and names that notice when their tenant has left.

use sim_traits::{Executor, for_each_mut};

/// An id made of a slot index and a generation.
pub(crate) trait SlotId: Copy + PartialEq {
    fn make(index: u32, generation: u32) -> Self;
    fn slot(self) -> u32;
    fn tenant(self) -> u32;
}

macro_rules! slot_id {
    ($($name:ty),+) => {$(
        impl SlotId for $name {
            fn make(index: u32, generation: u32) -> Self {
                Self::new(index, generation)
            }
            fn slot(self) -> u32 {
                self.index()
            }
            fn tenant(self) -> u32 {
                self.generation()
            }
        }
    )+};
}

slot_id!(sim_traits::BodyId, sim_traits::ColliderId, sim_traits::JointId, sim_traits::TreeId);
slot_id!(crate::force::ForceId, crate::events::TimerId, crate::control::ControllerId);

/// A name of something in a world.
macro_rules! world_id {
    ($name:ident, $noun:literal) => {
        #[doc = concat!("Name of a ", $noun, " in a world: its slot, and how many were in that slot before.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name {
            index: u32,
            generation: u32,
        }

        impl $name {
            /// From its two numbers.
            #[inline]
            #[must_use]
            pub const fn new(index: u32, generation: u32) -> Self {
                Self { index, generation }
            }

            /// Slot, dense from 0; one that is free is used again.
            #[inline]
            #[must_use]
            pub const fn index(self) -> u32 {
                self.index
            }

            /// How many were in the slot before.
            #[inline]
            #[must_use]
            pub const fn generation(self) -> u32 {
                self.generation
            }
        }

        impl std::fmt::Display for $name {
            /// The noun and the slot, then `.1` for the second in that slot.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.generation {
                    0 => write!(f, "{} {}", $noun, self.index),
                    g => write!(f, "{} {}.{g}", $noun, self.index),
                }
            }
        }
    };
}
pub(crate) use world_id;

#[derive(Debug, Clone)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Values in slots. A freed slot is used again, last freed first, with the next generation.
#[derive(Debug, Clone)]
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// The id that the next `insert` gives.
    pub(crate) fn next_id<I: SlotId>(&self) -> I {
        match self.free.last() {
            Some(&index) => I::make(index, self.slots[index as usize].generation),
            None => I::make(self.slots.len() as u32, 0),
        }
    }

    pub(crate) fn insert<I: SlotId>(&mut self, value: T) -> I {
        let id: I = self.next_id();
        match self.free.pop() {
            Some(index) => self.slots[index as usize].value = Some(value),
            None => self.slots.push(Slot { generation: 0, value: Some(value) }),
        }
        id
    }

    pub(crate) fn remove<I: SlotId>(&mut self, id: I) -> Option<T> {
        let slot = self.slots.get_mut(id.slot() as usize).filter(|s| s.generation == id.tenant())?;
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.slot());
        Some(value)
    }

    #[inline]
    pub(crate) fn get<I: SlotId>(&self, id: I) -> Option<&T> {
        let slot = self.slots.get(id.slot() as usize)?;
        if slot.generation == id.tenant() { slot.value.as_ref() } else { None }
    }

    #[inline]
    pub(crate) fn get_mut<I: SlotId>(&mut self, id: I) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.slot() as usize)?;
        if slot.generation == id.tenant() { slot.value.as_mut() } else { None }
    }

    /// Present tenant of a slot, whatever its generation.
    #[inline]
    pub(crate) fn at<I: SlotId>(&self, index: u32) -> Option<(I, &T)> {
        let slot = self.slots.get(index as usize)?;
        Some((I::make(index, slot.generation), slot.value.as_ref()?))
    }

    /// [`Slots::at`], to be changed.
    pub(crate) fn at_mut<I: SlotId>(&mut self, index: u32) -> Option<(I, &mut T)> {
        let slot = self.slots.get_mut(index as usize)?;
        Some((I::make(index, slot.generation), slot.value.as_mut()?))
    }

    /// Number of slots, empty ones included.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Generation and tenant of every slot.
    #[cfg(feature = "serde")]
    pub(crate) fn raw(&self) -> impl Iterator<Item = (u32, Option<&T>)> {
        self.slots.iter().map(|s| (s.generation, s.value.as_ref()))
    }

    /// Empty slots, the next to be used last.
    #[cfg(feature = "serde")]
    pub(crate) fn free(&self) -> &[u32] {
        &self.free
    }

    /// From saved parts; `None` unless the free list names every empty slot once.
    #[cfg(feature = "serde")]
    pub(crate) fn from_raw(slots: Vec<(u32, Option<T>)>, free: Vec<u32>) -> Option<Self> {
        let slots: Vec<_> = slots.into_iter().map(|(generation, value)| Slot { generation, value }).collect();
        let mut sorted = free.clone();
        sorted.sort_unstable();
        let empty = slots.iter().enumerate().filter(|(_, s)| s.value.is_none()).map(|(k, _)| k as u32);
        sorted.into_iter().eq(empty).then_some(Self { slots, free })
    }

    /// In the order of the slots.
    pub(crate) fn iter<I: SlotId>(&self) -> impl Iterator<Item = (I, &T)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(k, s)| Some((I::make(k as u32, s.generation), s.value.as_ref()?)))
    }

    /// Work on every value; pieces run wherever the executor likes.
    pub(crate) fn for_each_mut(&mut self, executor: &dyn Executor, work: &(dyn Fn(u32, &mut T) + Sync))
    where
        T: Send,
    {
        for_each_mut(executor, &mut self.slots, &|k, slot| {
            if let Some(value) = &mut slot.value {
                work(k as u32, value);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::BodyId;

    #[test]
    fn a_stale_id_never_reaches_the_next_tenant() {
        let mut slots = Slots::default();
        let a: BodyId = slots.insert('a');
        let b: BodyId = slots.insert('b');
        assert_eq!(slots.remove(a), Some('a'));
        assert_eq!(slots.remove(a), None);
        assert_eq!(slots.next_id::<BodyId>(), BodyId::new(0, 1));
        let c: BodyId = slots.insert('c');
        assert_eq!((c.index(), c.generation()), (0, 1));
        assert_eq!((slots.get(a), slots.get(b), slots.get(c)), (None, Some(&'b'), Some(&'c')));
        assert_eq!(slots.iter::<BodyId>().map(|(_, &v)| v).collect::<String>(), "cb");
        assert_eq!(slots.len(), 2);
    }
}
