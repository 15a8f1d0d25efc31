//! Parts of space, one for a thread, and where the bodies of each part are in memory.
//!
//! # Reference
//!
//! Recursive bisection of coordinates; Berger and Bokhari (1987).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | part | bodies near each other, which one thread takes care of |
//! | place | where a body is in the arrays of [`SoftBodies`](super::SoftBodies) |
//!
//! # Formula
//!
//! ```text
//! cut at a quantile of the centres along the axis in which they are spread most; again in both parts
//! places: bodies that do not move | a page | part 0, those nearest to a cut first | a page | part 1 …
//! ```
//!
//! What a processor fetches ahead lies next to what it uses. Bodies of two parts are therefore pages apart, and those that two parts have to do with, which are
//! near the cuts, side by side.
//!
//! # Cost
//!
//! O(bodies · log bodies), once in sixteen steps, no allocation once warmed up. One part costs nothing.
//!
//! # Numerics
//!
//! None: coordinates are compared, ties by number. What a step computes does not depend on the division.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `parts_are_of_one_size_and_compact`, `places_are_apart`

use super::lane::Slot;
use sim_math::glam::DVec3;

/// Most parts.
const MAX_PARTS: usize = 16;
/// The part of a place between bodies.
const NO_PART: u8 = u8::MAX;
/// Contacts of one part at least. The solver alone gains from two threads with far fewer, but what it writes is read by others then, which costs as much where
/// threads have no cache in common.
const LEAST: usize = 4096;
/// How many steps a division serves: bodies move little meanwhile.
const LASTING: u32 = 16;
/// Places in a page of memory.
const PAGE: usize = 4096 / size_of::<Slot>();

/// Which part each body belongs to, and its place. One part, with the bodies in their order, is what it begins with.
#[derive(Debug, Clone, Default)]
pub struct Territories {
    /// By body: its part, its place.
    of: Vec<u8>,
    places: Vec<u32>,
    /// By place: its part, or none.
    of_place: Vec<u8>,
    /// By part: a place for what is not a body.
    nobody: Vec<u32>,
    /// How many steps the division has served.
    age: u32,
    order: Vec<Near>,
}

/// A body, and how far it is from the nearest cut.
#[derive(Debug, Clone, Copy)]
struct Near {
    center: DVec3,
    distance: f64,
    body: u32,
}

impl Territories {
    /// How many parts so many contacts are worth on so many threads, where one thread does everything else.
    #[must_use]
    pub fn worth(contacts: usize, threads: usize) -> usize {
        threads.min(contacts / LEAST).clamp(1, MAX_PARTS)
    }

    /// How many parts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.nobody.len().max(1)
    }

    /// By body: its part.
    #[must_use]
    pub fn of(&self) -> &[u8] {
        &self.of
    }

    /// The place of a body.
    #[inline]
    pub(super) fn place(&self, body: usize) -> Option<usize> {
        self.places.get(body).map(|place| *place as usize)
    }

    pub(super) fn of_place(&self) -> &[u8] {
        &self.of_place
    }

    /// By body: its place.
    pub(super) fn places(&self) -> &[u32] {
        &self.places
    }

    /// By part: a place where nothing is looked for.
    pub(super) fn nobody(&self) -> &[u32] {
        &self.nobody
    }

    /// One part, all bodies in their order.
    pub(super) fn unite(&mut self, bodies: usize) {
        self.of.clear();
        self.of.resize(bodies, 0);
        self.places.clear();
        self.places.extend(0..bodies as u32);
        self.of_place.clear();
        self.of_place.resize(bodies + 1, 0);
        self.nobody.clear();
        self.nobody.push(bodies as u32);
    }

    /// One body more, in the only part.
    #[inline]
    pub(super) fn push(&mut self) {
        let body = self.of.len() as u32;
        self.of.push(0);
        self.places.push(body);
        self.of_place.resize(body as usize + 2, 0);
        self.nobody.clear();
        self.nobody.push(body + 1);
    }

    /// Divides bodies into parts, if that was not done lately; `center`: of a body that moves. True if there are new places.
    pub(super) fn divide(
        &mut self,
        bodies: usize,
        parts: usize,
        center: &dyn Fn(u32) -> Option<DVec3>,
    ) -> bool {
        let parts = parts.clamp(1, MAX_PARTS);
        self.age += 1;
        let fits = self.of.len() == bodies && self.nobody.len() == parts;
        if fits && (parts == 1 || self.age < LASTING) {
            return false;
        }
        self.age = 0;
        if parts == 1 {
            self.unite(bodies);
            return true;
        }
        self.of.clear();
        self.of.resize(bodies, 0);
        self.places.clear();
        self.places.resize(bodies, 0);
        self.of_place.clear();
        self.order.clear();
        for body in 0..bodies as u32 {
            match center(body) {
                Some(center) => self.order.push(Near { center, distance: f64::INFINITY, body }),
                None => {
                    self.places[body as usize] = self.of_place.len() as u32;
                    self.of_place.push(0);
                }
            }
        }
        halve(&mut self.order, 0, parts, &mut self.of);
        let Self { of, places, of_place, nobody, order, .. } = self;
        order.sort_unstable_by(|x, y| {
            let part = |near: &Near| of[near.body as usize];
            part(x).cmp(&part(y)).then(x.distance.total_cmp(&y.distance)).then(x.body.cmp(&y.body))
        });
        nobody.clear();
        let mut rest = order.iter().peekable();
        for part in 0..parts as u8 {
            of_place.resize(of_place.len() + PAGE, NO_PART);
            nobody.push(of_place.len() as u32);
            of_place.push(part);
            while let Some(near) = rest.next_if(|near| of[near.body as usize] == part) {
                places[near.body as usize] = of_place.len() as u32;
                of_place.push(part);
            }
        }
        true
    }
}

/// Gives bodies the parts `first..first + count`.
fn halve(bodies: &mut [Near], first: usize, count: usize, of: &mut [u8]) {
    if count <= 1 || bodies.len() < 2 {
        for near in bodies {
            of[near.body as usize] = first as u8;
        }
        return;
    }
    let (mut low, mut high) = (bodies[0].center, bodies[0].center);
    for near in &*bodies {
        (low, high) = (low.min(near.center), high.max(near.center));
    }
    let spread = high - low;
    let axis = (0..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best });
    let fewer = count / 2;
    let middle = bodies.len() * fewer / count;
    bodies.select_nth_unstable_by(middle, |x, y| {
        x.center[axis].total_cmp(&y.center[axis]).then(x.body.cmp(&y.body))
    });
    let cut = bodies[middle].center[axis];
    for near in &mut *bodies {
        near.distance = near.distance.min((near.center[axis] - cut).abs());
    }
    let (left, right) = bodies.split_at_mut(middle);
    halve(left, first, fewer, of);
    halve(right, first + fewer, count - fewer, of);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    fn centers() -> Vec<DVec3> {
        let mut random = SplitMix64(3);
        (0..4200).map(|_| random.vec3(1.0) * DVec3::new(4.0, 2.0, 1.0)).collect()
    }

    #[test]
    fn parts_are_of_one_size_and_compact() {
        let centers = centers();
        let mut parts = Territories::default();
        for count in [1, 2, 3, 4, 7, 8] {
            let center = |k: u32| Some(centers[k as usize]);
            assert!(parts.divide(4200, count, &center));
            assert!(!parts.divide(4200, count, &center));
            assert_eq!(parts.count(), count);
            for part in 0..count {
                let inside: Vec<DVec3> = centers
                    .iter()
                    .zip(parts.of())
                    .filter(|(_, p)| usize::from(**p) == part)
                    .map(|x| *x.0)
                    .collect();
                assert_eq!(inside.len(), 4200 / count);
                let size = |axis: usize| {
                    let along = || inside.iter().map(|c| c[axis]);
                    along().fold(f64::MIN, f64::max) - along().fold(f64::MAX, f64::min)
                };
                // The box is cut along its longest sides.
                assert!(size(0) * size(1) * size(2) < 1.15 * 64.0 / count as f64, "{count}");
            }
        }
        // Bodies that have moved are divided anew, in a while.
        assert_eq!((0..100).filter(|_| parts.divide(4200, 8, &|k| Some(centers[k as usize]))).count(), 6);
        assert_eq!([0, 2 * LEAST - 1, 2 * LEAST, 100_000].map(|n| Territories::worth(n, 2)), [1, 1, 2, 2]);
        assert_eq!(Territories::worth(1_000_000, 64), MAX_PARTS);
    }

    #[test]
    fn places_are_apart() {
        let centers = centers();
        let mut parts = Territories::default();
        for count in [1, 2, 5] {
            parts.divide(4200, count, &|k| (k % 10 > 0).then_some(centers[k as usize]));
            let places = parts.of_place().len();
            let mut seen: Vec<usize> = (0..4200).map(|body| parts.place(body).unwrap()).collect();
            assert!(seen.iter().zip(parts.of()).all(|(place, of)| parts.of_place()[*place] == *of));
            seen.extend((0..count).map(|part| parts.nobody()[part] as usize));
            assert!(
                (0..count).all(|part| usize::from(parts.of_place()[parts.nobody()[part] as usize]) == part)
            );
            seen.sort_unstable();
            assert!(seen.windows(2).all(|w| w[0] < w[1]) && seen[seen.len() - 1] < places, "each place once");
            let pages = parts.of_place().chunk_by(|a, b| a == b).filter(|run| run[0] == NO_PART);
            assert_eq!(pages.filter(|run| run.len() == PAGE).count(), if count == 1 { 0 } else { count });
        }
        // Of two parts those next to the cut come first.
        parts.divide(4200, 2, &|k| Some(centers[k as usize]));
        let far = |body: usize| centers[body].x.abs();
        let first = (parts.nobody()[1] + 1) as usize;
        let near: Vec<usize> =
            (0..4200).filter(|body| (first..first + 50).contains(&parts.place(*body).unwrap())).collect();
        assert_eq!(near.len(), 50);
        assert!(near.iter().all(|body| far(*body) < 0.3), "near the cut");
    }
}
