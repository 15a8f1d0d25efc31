//! The order in which contacts are swept: by the later of their two bodies.
//!
//! # Reference
//!
//! Counting sort: Knuth, *The Art of Computer Programming* 3 (1998), section 5.2, algorithm D.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | `starts[k]` | place of the next contact whose later body is k |
//! | `places[c]` | place of contact c in the order |
//!
//! # Formula
//!
//! ```text
//! later(c) = the larger number of the bodies of c that move;  0 if none does
//! places:  c before d  if later(c) < later(d),  or both are the same and c < d
//! ```
//!
//! # Cost
//!
//! One pass over the bodies and two over the contacts. No allocation once grown.
//!
//! # Numerics
//!
//! What hangs together is swept together, so that a sweep carries impulses far. No arithmetic but counts.
//!
//! # Failure
//!
//! None; contacts of bodies that do not move, and those of no bodies at all, come with the first body.
//!
//! # Tested by
//!
//! `order_is_a_stable_sort_by_the_later_body`

/// Memory of [`SweepOrder::sort`], and what it found.
#[derive(Debug, Clone, Default)]
pub(crate) struct SweepOrder {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl SweepOrder {
    /// Orders contacts, given as pairs of bodies; `moves` says whom impulses move, all of them below `bodies`.
    #[inline]
    pub(crate) fn sort(
        &mut self,
        bodies: usize,
        contacts: impl Iterator<Item = [u32; 2]>,
        moves: impl Fn(u32) -> bool,
    ) {
        let Self { starts, places } = self;
        starts.clear();
        starts.resize(bodies + 2, 0);
        places.clear();
        places.extend(contacts.map(|pair| {
            let later = pair.into_iter().filter(|&k| moves(k)).max().unwrap_or(0);
            starts[later as usize + 1] += 1;
            later
        }));
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        for place in places {
            let start = &mut starts[*place as usize];
            *place = *start;
            *start += 1;
        }
    }

    /// Place of each contact in the order.
    pub(crate) fn places(&self) -> &[u32] {
        &self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn order_is_a_stable_sort_by_the_later_body() {
        let mut random = SplitMix64(11);
        let mut order = SweepOrder::default();
        for _ in 0..300 {
            let (bodies, count) = (random.below(12), random.below(30));
            // Number `bodies` is the ground, and every fourth body is fixed.
            let moves = |k: u32| (k as usize) < bodies && k % 4 != 3;
            let mut body = || random.below(bodies + 1) as u32;
            let contacts: Vec<[u32; 2]> = (0..count).map(|_| [body(), body()]).collect();
            order.sort(bodies, contacts.iter().copied(), moves);
            let later = |c: &usize| match contacts[*c] {
                [a, b] if moves(a) && moves(b) => a.max(b),
                [a, _] if moves(a) => a,
                [_, b] if moves(b) => b,
                _ => 0,
            };
            let mut expected: Vec<usize> = (0..count).collect();
            expected.sort_by_key(later);
            let mut found = vec![usize::MAX; count];
            for (c, &place) in order.places().iter().enumerate() {
                found[place as usize] = c;
            }
            assert_eq!(found, expected);
        }
    }
}
