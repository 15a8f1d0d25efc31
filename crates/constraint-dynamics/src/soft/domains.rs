//! Parts of space whose contacts are solved independently of each other, so that threads need to wait for each other only a few times a step.
//!
//! # Reference
//!
//! Recursive bisection of coordinates; Berger and Bokhari (1987).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | domain | bodies whose contacts with each other belong together |
//!
//! # Formula
//!
//! ```text
//! cut at the median of the centres along the axis in which they are spread most; again in both halves
//! ```
//!
//! # Cost
//!
//! O(bodies) per halving, no allocation once warmed up.
//!
//! # Numerics
//!
//! None: coordinates are compared, ties by number. The result does not depend on threads.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `domains_are_of_one_size_and_compact`

use sim_math::glam::DVec3;

/// Contacts of one domain at least: fewer are not worth a thread.
const LEAST: usize = 4096;
/// Most domains.
const MOST: usize = 16;

/// Which domain each body belongs to.
#[derive(Debug, Default)]
pub(super) struct Domains {
    /// By body; of those that were given.
    pub(super) of: Vec<u8>,
    count: usize,
    order: Vec<(DVec3, u32)>,
}

impl Domains {
    /// How many domains so many contacts are divided into: a power of two that does not depend on the number of threads.
    pub(super) fn for_contacts(contacts: usize) -> usize {
        let wanted = (contacts / LEAST).clamp(1, MOST);
        1 << wanted.ilog2()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Divides bodies, given by number and centre, into `count` domains, a power of two.
    pub(super) fn divide(&mut self, count: usize, all: usize, bodies: impl Iterator<Item = (u32, DVec3)>) {
        self.count = count;
        self.of.clear();
        self.of.resize(all, 0);
        if count <= 1 {
            return;
        }
        self.order.clear();
        self.order.extend(bodies.map(|(body, center)| (center, body)));
        halve(&mut self.order, 0, count, &mut self.of);
    }
}

/// Gives bodies the domains `first..first + count`.
fn halve(bodies: &mut [(DVec3, u32)], first: usize, count: usize, of: &mut [u8]) {
    if count <= 1 || bodies.len() < 2 {
        for (_, body) in bodies {
            of[*body as usize] = first as u8;
        }
        return;
    }
    let (mut low, mut high) = (bodies[0].0, bodies[0].0);
    for (center, _) in &*bodies {
        (low, high) = (low.min(*center), high.max(*center));
    }
    let spread = high - low;
    let axis = (0..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best });
    let middle = bodies.len() / 2;
    bodies.select_nth_unstable_by(middle, |x, y| x.0[axis].total_cmp(&y.0[axis]).then(x.1.cmp(&y.1)));
    let (left, right) = bodies.split_at_mut(middle);
    halve(left, first, count / 2, of);
    halve(right, first + count / 2, count / 2, of);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn domains_are_of_one_size_and_compact() {
        let mut random = SplitMix64(3);
        let centers: Vec<DVec3> = (0..4000).map(|_| random.vec3(1.0) * DVec3::new(4.0, 2.0, 1.0)).collect();
        let mut domains = Domains::default();
        for count in [1, 2, 4, 8] {
            domains.divide(count, centers.len(), (0..).zip(centers.iter().copied()));
            assert_eq!(domains.count(), count);
            for domain in 0..count {
                let inside: Vec<DVec3> = centers
                    .iter()
                    .zip(&domains.of)
                    .filter(|(_, d)| usize::from(**d) == domain)
                    .map(|x| *x.0)
                    .collect();
                assert_eq!(inside.len(), 4000 / count);
                let size = |axis: usize| {
                    let along = || inside.iter().map(|c| c[axis]);
                    along().fold(f64::MIN, f64::max) - along().fold(f64::MAX, f64::min)
                };
                // Eight in all: the box is cut in two, then in four, along its longest sides.
                assert!(size(0) * size(1) * size(2) < 1.1 * 64.0 / count as f64, "{count}");
            }
        }
        assert_eq!([0, 8191, 8192, 20_000, 1_000_000].map(Domains::for_contacts), [1, 1, 2, 4, 16]);
    }
}
