//! Groups of contact patches that share no moving body, so that one instruction, or one thread each, can do them at once.
//!
//! # Reference
//!
//! Greedy colouring of edges in the given order, with the set of colours of each body as a bit mask.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | `used` | bit k of a body: one of its patches has colour k |
//!
//! # Formula
//!
//! The colour of a patch is the lowest bit that is free in the union of its moving bodies' masks: at most 2d − 1 colours for
//! at most d patches per body.
//!
//! # Cost
//!
//! O(patches), no allocation once warmed up.
//!
//! # Numerics
//!
//! None. The result depends on the order of the patches only.
//!
//! # Failure
//!
//! None: what finds no colour among 64 is left over, to be done one by one.
//!
//! # Tested by
//!
//! `no_body_twice_in_a_colour`, `what_finds_no_colour_is_left_over`

/// A patch, and the bodies it is between: [`STILL`] in place of one that does not move.
pub(super) type Edge = (u32, [u32; 2]);

/// Patches sorted by colour.
#[derive(Debug, Default)]
pub(super) struct Colouring {
    /// Patches to be coloured, and those coloured last.
    given: Vec<Edge>,
    known: Vec<Edge>,
    bodies: usize,
    used: Vec<u64>,
    colour: Vec<u8>,
    /// Patches in the order of their colours, those left over last.
    pub(super) order: Vec<Edge>,
    /// End of each colour in `order`.
    pub(super) ends: Vec<u32>,
}

const MAX_COLOURS: usize = 64;

/// A body that does not move, and may be in any number of patches of a colour.
pub(super) const STILL: u32 = u32::MAX;

impl Colouring {
    /// Starts a new list of patches.
    pub(super) fn begin(&mut self) {
        self.given.clear();
    }

    /// Adds a patch.
    #[inline]
    pub(super) fn add(&mut self, patch: u32, bodies: [u32; 2]) {
        self.given.push((patch, bodies));
    }

    /// Colours the patches given; false if they are those of the time before.
    pub(super) fn build(&mut self, bodies: usize) -> bool {
        // Most steps have the patches of the step before.
        if self.bodies == bodies && self.given == self.known {
            return false;
        }
        std::mem::swap(&mut self.given, &mut self.known);
        self.bodies = bodies;
        self.used.clear();
        self.used.resize(bodies, 0);
        self.colour.clear();
        let mut counts = [0; MAX_COLOURS + 1];
        for (_, pair) in &self.known {
            let used = |body: &u32| self.used.get(*body as usize).copied().unwrap_or(0);
            let colour = (!(used(&pair[0]) | used(&pair[1]))).trailing_zeros();
            if (colour as usize) < MAX_COLOURS {
                for body in pair {
                    if let Some(used) = self.used.get_mut(*body as usize) {
                        *used |= 1 << colour;
                    }
                }
            }
            counts[colour as usize] += 1;
            self.colour.push(u8::try_from(colour).unwrap_or(u8::MAX));
        }
        self.sort(&counts);
        true
    }

    /// Counting sort by colour, stable.
    fn sort(&mut self, counts: &[u32; MAX_COLOURS + 1]) {
        self.order.clear();
        self.order.resize(self.colour.len(), (0, [STILL; 2]));
        self.ends.clear();
        let mut next = [0_u32; MAX_COLOURS + 1];
        let mut start = 0;
        for (place, count) in next.iter_mut().zip(counts) {
            *place = start;
            start += count;
        }
        for (edge, colour) in self.known.iter().zip(&self.colour) {
            let place = &mut next[usize::from(*colour)];
            self.order[*place as usize] = *edge;
            *place += 1;
        }
        self.ends.extend(
            next[..MAX_COLOURS].iter().zip(counts).filter(|(_, count)| **count > 0).map(|(end, _)| *end),
        );
    }

    /// The patches of each colour.
    pub(super) fn colours(&self) -> impl Iterator<Item = &[Edge]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.order[start as usize..*end as usize])
    }

    /// Patches without a colour.
    pub(super) fn left_over(&self) -> &[Edge] {
        &self.order[self.ends.last().map_or(0, |end| *end as usize)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    fn colour(
        colouring: &mut Colouring,
        bodies: u32,
        pairs: &[[u32; 2]],
        moves: impl Fn(u32) -> bool,
    ) -> bool {
        colouring.begin();
        for (patch, pair) in (0..).zip(pairs) {
            let pair = pair.map(|body| if moves(body) { body } else { STILL });
            if pair != [STILL; 2] {
                colouring.add(patch, pair);
            }
        }
        colouring.build(bodies as usize)
    }

    #[test]
    fn no_body_twice_in_a_colour() {
        let mut random = SplitMix64(5);
        for bodies in [2, 5, 40, 300] {
            let mut body = || (random.range(0.0, f64::from(bodies)) as u32).min(bodies - 1);
            let pairs: Vec<_> = (0..4 * bodies).map(|_| [body(), body()]).filter(|[a, b]| a != b).collect();
            let mut colouring = Colouring::default();
            assert!(colour(&mut colouring, bodies, &pairs, |b| b != 0));
            // Asked for the same again it answers the same, and for others anew.
            let first = colouring.order.clone();
            assert!(!colour(&mut colouring, bodies, &pairs, |b| b != 0));
            assert_eq!(colouring.order, first);
            colour(&mut colouring, bodies, &pairs, |b| b == 1);
            assert!(colouring.order.iter().all(|p| pairs[p.0 as usize].contains(&1)));
            colour(&mut colouring, bodies, &pairs, |b| b != 0);
            let mut seen: Vec<u32> = colouring.order.iter().map(|p| p.0).collect();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..pairs.len() as u32), "each patch once");
            for patches in colouring.colours() {
                let mut there: Vec<u32> =
                    patches.iter().flat_map(|p| pairs[p.0 as usize]).filter(|b| *b != 0).collect();
                let all = there.len();
                there.sort_unstable();
                there.dedup();
                assert_eq!(there.len(), all, "a body meets itself");
            }
        }
    }

    #[test]
    fn what_finds_no_colour_is_left_over() {
        let pairs: Vec<_> = (0..70).map(|k| [1, k + 2]).collect();
        let mut colouring = Colouring::default();
        colour(&mut colouring, 80, &pairs, |b| b != 0);
        assert_eq!(colouring.colours().count(), 64);
        assert!(colouring.left_over().iter().map(|p| p.0).eq(64..70));
        colour(&mut colouring, 3, &[], |b| b != 0);
        assert!(colouring.left_over().is_empty() && colouring.colours().count() == 0);
    }
}
