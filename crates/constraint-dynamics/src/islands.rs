//! Groups of contacts that share free bodies.
//!
//! # Reference
//!
//! Union-find with path halving (Tarjan and van Leeuwen, 1984).
//!
//! # Symbols
//!
//! An island is a set of contacts connected through bodies that impulses move; fixed bodies connect nothing.
//!
//! # Formula
//!
//! ```text
//! join the movable bodies of each contact; number the roots in the order of their first contact
//! ```
//!
//! # Cost
//!
//! Practically linear in bodies and contacts; no allocation once grown.
//!
//! # Numerics
//!
//! None. The smaller root wins a union, so the result depends on the contacts alone.
//!
//! # Failure
//!
//! None: a contact without movable body is an island of its own.
//!
//! # Tested by
//!
//! `islands_are_the_components_of_the_graph`

/// Islands of the last [`Islands::find`].
#[derive(Debug, Clone, Default)]
pub struct Islands {
    parent: Vec<u32>,
    number: Vec<u32>,
    of_contact: Vec<u32>,
    starts: Vec<u32>,
    members: Vec<u32>,
}

const NONE: u32 = u32::MAX;

fn root(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        parent[k as usize] = parent[parent[k as usize] as usize];
        k = parent[k as usize];
    }
    k
}

impl Islands {
    /// Groups contacts, given as pairs of bodies below `bodies`; `movable` says whom impulses move.
    pub fn find(
        &mut self,
        bodies: usize,
        contacts: impl Iterator<Item = [u32; 2]> + Clone,
        movable: impl Fn(u32) -> bool,
    ) {
        let Self { parent, number, of_contact, starts, members } = self;
        parent.clear();
        parent.extend(0..bodies as u32);
        let movable = |k: u32| (k as usize) < bodies && movable(k);
        // Contacts of the same two bodies come one after the other.
        let mut last = [NONE; 2];
        for pair @ [a, b] in contacts.clone() {
            if pair != last && movable(a) && movable(b) {
                let (x, y) = (root(parent, a), root(parent, b));
                parent[x.max(y) as usize] = x.min(y);
            }
            last = pair;
        }
        number.clear();
        number.resize(bodies, NONE);
        of_contact.clear();
        let mut count = 0;
        let mut before = (NONE, NONE);
        for pair in contacts {
            let island = match pair.into_iter().find(|&k| movable(k)) {
                Some(k) if before.0 == k => before.1,
                Some(k) => {
                    let slot = &mut number[root(parent, k) as usize];
                    if *slot == NONE {
                        *slot = count;
                        count += 1;
                    }
                    *slot
                }
                None => {
                    count += 1;
                    count - 1
                }
            };
            before = (pair.into_iter().find(|&k| movable(k)).unwrap_or(NONE), island);
            of_contact.push(island);
        }
        starts.clear();
        starts.resize(count as usize + 1, 0);
        of_contact.iter().for_each(|&i| starts[i as usize + 1] += 1);
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        members.clear();
        members.resize(of_contact.len(), 0);
        for (c, &island) in of_contact.iter().enumerate() {
            members[starts[island as usize] as usize] = c as u32;
            starts[island as usize] += 1;
        }
        for k in (1..starts.len()).rev() {
            starts[k] = starts[k - 1];
        }
        starts[0] = 0;
    }

    /// Number of islands.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Contacts of an island, ascending. Islands are numbered in the order of their first contact.
    #[must_use]
    pub fn contacts(&self, island: usize) -> &[u32] {
        match self.starts.get(island..island + 2) {
            Some(&[start, end]) => &self.members[start as usize..end as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn islands_are_the_components_of_the_graph() {
        let mut random = SplitMix64(4);
        let mut islands = Islands::default();
        for _ in 0..300 {
            let (bodies, contacts) = (1 + random.below(20), random.below(25));
            let edges: Vec<[u32; 2]> = (0..contacts)
                .map(|_| [random.below(bodies + 1) as u32, random.below(bodies + 1) as u32])
                .collect();
            // Every fourth body is fixed, and number `bodies` is the ground.
            let movable = |k: u32| k % 4 != 3;
            islands.find(bodies, edges.iter().copied(), movable);
            // Oracle: spread labels until nothing changes.
            let free = |k: u32| (k as usize) < bodies && movable(k);
            let mut label: Vec<usize> = (0..contacts).collect();
            loop {
                let before = label.clone();
                for i in 0..contacts {
                    for j in 0..contacts {
                        if edges[i].iter().any(|k| free(*k) && edges[j].contains(k)) {
                            let least = label[i].min(label[j]);
                            (label[i], label[j]) = (least, least);
                        }
                    }
                }
                if label == before {
                    break;
                }
            }
            let mut firsts: Vec<usize> = label.clone();
            firsts.sort_unstable();
            firsts.dedup();
            assert_eq!(islands.len(), firsts.len());
            for (k, &first) in firsts.iter().enumerate() {
                let expected: Vec<u32> =
                    (0..contacts).filter(|&c| label[c] == first).map(|c| c as u32).collect();
                assert_eq!(islands.contacts(k), expected);
            }
        }
        assert!(islands.contacts(99).is_empty());
    }
}
