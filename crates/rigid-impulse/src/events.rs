//! Event queue: an indexed heap whose keys may rise and fall, with a stable order of ties.
//!
//! # Reference
//!
//! Mirtich (1996), section 2.3.1: the collision heap.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `time` | key | s |
//! | `stamp` | order of scheduling, breaks ties | - |
//! | `place` | position of an event in the heap | - |
//!
//! # Formula
//!
//! ```text
//! (time, stamp) of a parent ≤ that of its children, in lexicographic order
//! ```
//!
//! # Cost
//!
//! O(log n) to schedule, move, cancel and pop, O(1) to look at the first. No allocation within the capacity.
//!
//! # Numerics
//!
//! Times are compared, never computed. NaN is refused; +∞ is allowed (never, for now).
//!
//! # Failure
//!
//! [`EventError`] for NaN, and for an event that is not in the queue.
//!
//! # Tested by
//!
//! `pops_in_order_of_time_and_of_scheduling`, `agrees_with_a_sorted_list_under_random_operations`

use std::cmp::Ordering;
use thiserror::Error;

/// Name of a scheduled event; stale names are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventId {
    slot: u32,
    generation: u32,
}

/// Why the queue refuses.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum EventError {
    /// A time that is not a number.
    #[error("event time is not a number")]
    NotANumber,
    /// An event that was popped or cancelled.
    #[error("event {slot}.{generation} is not in the queue")]
    Unknown {
        /// Slot of the name.
        slot: u32,
        /// Generation of the name.
        generation: u32,
    },
}

const NOWHERE: u32 = u32::MAX;

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Slot<T> {
    time: f64,
    stamp: u64,
    place: u32,
    generation: u32,
    payload: Option<T>,
}

/// Events by time. Events of equal time come in the order in which they got that time.
///
/// ```
/// use rigid_impulse::EventQueue;
///
/// let mut queue = EventQueue::default();
/// let late = queue.schedule(2.0, "late")?;
/// queue.schedule(1.0, "early")?;
/// queue.reschedule(late, 0.5)?;
/// assert_eq!(queue.pop(), Some((0.5, "late")));
/// assert_eq!(queue.pop(), Some((1.0, "early")));
/// # Ok::<(), rigid_impulse::EventError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventQueue<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    heap: Vec<u32>,
    stamp: u64,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), heap: Vec::new(), stamp: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// True if nothing is scheduled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Adds an event at a time (s).
    ///
    /// # Errors
    /// The time is NaN.
    pub fn schedule(&mut self, time: f64, payload: T) -> Result<EventId, EventError> {
        let stamp = self.next_stamp();
        self.schedule_ranked(time, stamp, payload)
    }

    /// Adds an event at a time (s) with a rank of the caller's: of equal times the lower rank comes first. A queue uses
    /// either ranks or the order of scheduling throughout.
    ///
    /// # Errors
    /// The time is NaN.
    pub fn schedule_ranked(&mut self, time: f64, rank: u64, payload: T) -> Result<EventId, EventError> {
        if time.is_nan() {
            return Err(EventError::NotANumber);
        }
        let stamp = rank;
        let place = self.heap.len() as u32;
        let slot = match self.free.pop() {
            Some(slot) => {
                let s = &mut self.slots[slot as usize];
                (s.time, s.stamp, s.place, s.payload) = (time, stamp, place, Some(payload));
                slot
            }
            None => {
                self.slots.push(Slot { time, stamp, place, generation: 0, payload: Some(payload) });
                (self.slots.len() - 1) as u32
            }
        };
        self.heap.push(slot);
        self.sift_up(place as usize);
        Ok(EventId { slot, generation: self.slots[slot as usize].generation })
    }

    /// Moves an event to another time (s), earlier or later. Among equals it comes last.
    ///
    /// # Errors
    /// The time is NaN, or the event is not in the queue.
    pub fn reschedule(&mut self, event: EventId, time: f64) -> Result<(), EventError> {
        if time.is_nan() {
            return Err(EventError::NotANumber);
        }
        self.place(event)?;
        self.slots[event.slot as usize].stamp = self.next_stamp();
        self.reschedule_ranked(event, time)
    }

    /// Moves an event to another time (s), earlier or later, with the rank that it has.
    ///
    /// # Errors
    /// The time is NaN, or the event is not in the queue.
    pub fn reschedule_ranked(&mut self, event: EventId, time: f64) -> Result<(), EventError> {
        if time.is_nan() {
            return Err(EventError::NotANumber);
        }
        let place = self.place(event)?;
        self.slots[event.slot as usize].time = time;
        self.sift_up(place);
        let place = self.slots[event.slot as usize].place as usize;
        self.sift_down(place);
        Ok(())
    }

    /// Removes an event.
    ///
    /// # Errors
    /// The event is not in the queue.
    pub fn cancel(&mut self, event: EventId) -> Result<T, EventError> {
        let place = self.place(event)?;
        let unknown = EventError::Unknown { slot: event.slot, generation: event.generation };
        self.remove(place).map(|(_, payload)| payload).ok_or(unknown)
    }

    /// Time of an event in the queue, s.
    #[must_use]
    pub fn time(&self, event: EventId) -> Option<f64> {
        self.place(event).ok().map(|_| self.slots[event.slot as usize].time)
    }

    /// The first event: time (s), name, payload.
    #[must_use]
    pub fn peek(&self) -> Option<(f64, EventId, &T)> {
        let &slot = self.heap.first()?;
        let s = &self.slots[slot as usize];
        let payload = s.payload.as_ref()?;
        Some((s.time, EventId { slot, generation: s.generation }, payload))
    }

    /// Removes the first event.
    pub fn pop(&mut self) -> Option<(f64, T)> {
        self.remove(0)
    }

    fn next_stamp(&mut self) -> u64 {
        self.stamp += 1;
        self.stamp
    }

    fn place(&self, event: EventId) -> Result<usize, EventError> {
        match self.slots.get(event.slot as usize) {
            Some(s) if s.generation == event.generation && s.place != NOWHERE => Ok(s.place as usize),
            _ => Err(EventError::Unknown { slot: event.slot, generation: event.generation }),
        }
    }

    fn remove(&mut self, place: usize) -> Option<(f64, T)> {
        let last = self.heap.len().checked_sub(1)?;
        let slot = *self.heap.get(place)?;
        self.swap(place, last);
        self.heap.truncate(last);
        let s = &mut self.slots[slot as usize];
        let (time, payload) = (s.time, s.payload.take());
        s.place = NOWHERE;
        s.generation = s.generation.wrapping_add(1);
        self.free.push(slot);
        if place < last {
            self.sift_up(place);
            self.sift_down(place);
        }
        payload.map(|p| (time, p))
    }

    fn order(&self, i: usize, j: usize) -> Ordering {
        let (p, q) = (&self.slots[self.heap[i] as usize], &self.slots[self.heap[j] as usize]);
        // −0 and 0 are the same time; NaN does not get in.
        p.time.partial_cmp(&q.time).unwrap_or(Ordering::Equal).then(p.stamp.cmp(&q.stamp))
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.heap.swap(i, j);
        self.slots[self.heap[i] as usize].place = i as u32;
        self.slots[self.heap[j] as usize].place = j as u32;
    }

    fn sift_up(&mut self, mut i: usize) {
        while i > 0 {
            let parent = (i - 1) / 2;
            if self.order(i, parent) != Ordering::Less {
                break;
            }
            self.swap(i, parent);
            i = parent;
        }
    }

    fn sift_down(&mut self, mut i: usize) {
        loop {
            let (left, right) = (2 * i + 1, 2 * i + 2);
            let mut first = i;
            if left < self.heap.len() && self.order(left, first) == Ordering::Less {
                first = left;
            }
            if right < self.heap.len() && self.order(right, first) == Ordering::Less {
                first = right;
            }
            if first == i {
                return;
            }
            self.swap(i, first);
            i = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_decide_between_equal_times_whatever_the_order_of_scheduling() {
        let mut queue = EventQueue::default();
        let c = queue.schedule_ranked(1.0, 30, 'c').unwrap();
        queue.schedule_ranked(1.0, 10, 'a').unwrap();
        queue.schedule_ranked(1.0, 20, 'b').unwrap();
        queue.reschedule_ranked(c, 0.5).unwrap();
        queue.reschedule_ranked(c, 1.0).unwrap();
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, x)| x).collect();
        assert_eq!(order, "abc");
        assert_eq!(queue.schedule_ranked(f64::NAN, 0, 'x'), Err(EventError::NotANumber));
    }
    use sim_math::testkit::SplitMix64;

    #[test]
    fn pops_in_order_of_time_and_of_scheduling() {
        let mut queue = EventQueue::default();
        for (n, time) in [3.0, 1.0, 2.0, 1.0, 1.0, f64::INFINITY].into_iter().enumerate() {
            queue.schedule(time, n).unwrap();
        }
        let order: Vec<usize> = std::iter::from_fn(|| queue.pop().map(|(_, n)| n)).collect();
        assert_eq!(order, [1, 3, 4, 2, 0, 5]);
    }

    // proves: MIR-22
    #[test]
    fn agrees_with_a_sorted_list_under_random_operations() {
        let mut random = SplitMix64(61);
        let mut queue = EventQueue::default();
        // The list: (time, order of scheduling, name).
        let mut list: Vec<(f64, u64, EventId)> = Vec::new();
        let mut stamp = 0;
        let mut names = 0_u64;
        for _ in 0..100_000 {
            stamp += 1;
            // Few distinct times: many ties.
            let time = random.below(50) as f64;
            match random.below(5) {
                0 | 1 => {
                    names += 1;
                    let id = queue.schedule(time, names).unwrap();
                    list.push((time, stamp, id));
                }
                2 if !list.is_empty() => {
                    let n = random.below(list.len());
                    queue.reschedule(list[n].2, time).unwrap();
                    (list[n].0, list[n].1) = (time, stamp);
                }
                3 if !list.is_empty() => {
                    let (_, _, id) = list.swap_remove(random.below(list.len()));
                    queue.cancel(id).unwrap();
                    assert!(queue.cancel(id).is_err() && queue.reschedule(id, 0.0).is_err());
                }
                _ => {
                    let first = list
                        .iter()
                        .enumerate()
                        .min_by(|(_, p), (_, q)| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
                    let expected = first.map(|(n, &(time, _, id))| (n, time, id));
                    assert_eq!(queue.peek().map(|(t, id, _)| (t, id)), expected.map(|(_, t, id)| (t, id)));
                    if let Some((n, time, _)) = expected {
                        assert_eq!(queue.pop().unwrap().0, time);
                        list.swap_remove(n);
                    }
                }
            }
            assert_eq!(queue.len(), list.len());
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let mut queue = EventQueue::default();
        assert_eq!(queue.schedule(f64::NAN, ()), Err(EventError::NotANumber));
        let id = queue.schedule(1.0, ()).unwrap();
        assert_eq!(queue.reschedule(id, f64::NAN), Err(EventError::NotANumber));
        assert_eq!(queue.time(id), Some(1.0));
        queue.pop();
        assert_eq!(queue.time(id), None);
        assert_eq!(queue.cancel(id).unwrap_err().to_string(), "event 0.0 is not in the queue");
        assert_eq!(queue.pop(), None);
    }
}
