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

/// Patches sorted by colour.
#[derive(Debug, Default)]
pub(super) struct Colouring {
    /// Patches coloured last, with their bodies; `u32::MAX` in place of one that does not move.
    known: Vec<(u32, [u32; 2])>,
    bodies: usize,
    used: Vec<u64>,
    colour: Vec<u8>,
    /// Patches in the order of their colours, those left over last.
    pub(super) order: Vec<u32>,
    /// End of each colour in `order`.
    pub(super) ends: Vec<u32>,
}

const MAX_COLOURS: usize = 64;

impl Colouring {
    /// Colours patches, given with the bodies they are between, of which only those that are `moving` matter. A patch that nothing moves at is left out.
    pub(super) fn build(
        &mut self,
        bodies: usize,
        patches: impl Iterator<Item = (u32, [u32; 2])> + Clone,
        moving: impl Fn(u32) -> bool,
    ) {
        let relevant = |(patch, pair): (u32, [u32; 2])| {
            let pair = pair.map(|body| if moving(body) { body } else { u32::MAX });
            (pair != [u32::MAX; 2]).then_some((patch, pair))
        };
        let given = patches.filter_map(relevant);
        // Most steps have the patches of the step before.
        if self.bodies == bodies && given.clone().eq(self.known.iter().copied()) {
            return;
        }
        self.bodies = bodies;
        self.known.clear();
        self.known.extend(given);
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
    }

    /// Counting sort by colour, stable.
    fn sort(&mut self, counts: &[u32; MAX_COLOURS + 1]) {
        self.order.clear();
        self.order.resize(self.colour.len(), 0);
        self.ends.clear();
        let mut next = [0_u32; MAX_COLOURS + 1];
        let mut start = 0;
        for (place, count) in next.iter_mut().zip(counts) {
            *place = start;
            start += count;
        }
        for ((patch, _), colour) in self.known.iter().zip(&self.colour) {
            let place = &mut next[usize::from(*colour)];
            self.order[*place as usize] = *patch;
            *place += 1;
        }
        self.ends.extend(
            next[..MAX_COLOURS].iter().zip(counts).filter(|(_, count)| **count > 0).map(|(end, _)| *end),
        );
    }

    /// The patches of each colour.
    pub(super) fn colours(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.order[start as usize..*end as usize])
    }

    /// Patches without a colour.
    pub(super) fn left_over(&self) -> &[u32] {
        &self.order[self.ends.last().map_or(0, |end| *end as usize)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    fn colour(bodies: u32, pairs: &[[u32; 2]]) -> Colouring {
        let mut colouring = Colouring::default();
        colouring.build(bodies as usize, (0..).zip(pairs.iter().copied()), |b| b != 0);
        colouring
    }

    #[test]
    fn no_body_twice_in_a_colour() {
        let mut random = SplitMix64(5);
        for bodies in [2, 5, 40, 300] {
            let mut body = || (random.range(0.0, f64::from(bodies)) as u32).min(bodies - 1);
            let pairs: Vec<_> = (0..4 * bodies).map(|_| [body(), body()]).filter(|[a, b]| a != b).collect();
            let mut colouring = colour(bodies, &pairs);
            // Asked for the same again it answers the same, and for others anew.
            let first = colouring.order.clone();
            colouring.build(bodies as usize, (0..).zip(pairs.iter().copied()), |b| b != 0);
            assert_eq!(colouring.order, first);
            colouring.build(bodies as usize, (0..).zip(pairs.iter().copied()), |b| b == 1);
            assert!(colouring.order.iter().all(|p| pairs[*p as usize].contains(&1)));
            colouring.build(bodies as usize, (0..).zip(pairs.iter().copied()), |b| b != 0);
            let mut seen: Vec<u32> = colouring.order.clone();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..pairs.len() as u32), "each patch once");
            for patches in colouring.colours() {
                let mut there: Vec<u32> =
                    patches.iter().flat_map(|p| pairs[*p as usize]).filter(|b| *b != 0).collect();
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
        let colouring = colour(80, &pairs);
        assert_eq!(colouring.colours().count(), 64);
        assert_eq!(colouring.left_over(), (64..70).collect::<Vec<_>>());
        assert!(colour(3, &[]).left_over().is_empty());
    }
}
