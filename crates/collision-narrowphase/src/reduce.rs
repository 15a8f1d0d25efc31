//! Reduction of the contacts of many pieces or triangles to few.
//!
//! # Reference
//! Cline 2002 §4.5 and §6.1 leave the overflow of contacts open; see also spec trap (4) there: join what is near and
//! nearly parallel.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | group | manifolds whose normals differ by at most [`SAME`] |
//! | level | separation up to which points count as deep as the deepest: a thousandth of the range above it, or a millionth of the size |
//!
//! # Formula
//! ```text
//! group by normal → p0 deepest (of equals the outermost), p1 farthest from p0, p2 farthest from the line p0 p1, p3 largest area outside p0 p1 p2,
//! each among the deepest level if one there adds anything, else among all
//! where none adds area: the one that lies farthest beyond the line of those chosen
//! points of other groups that coincide with a deeper one, normals within 5°, are dropped
//! ```
//!
//! # Cost
//! O(m²) in the number of manifolds, O(n) in points. Works in place, without allocation.
//!
//! # Numerics
//! The level first: a facet of a tessellated ball carries it, and points around that only come near must not
//! push out corners that touch. The normal of a group is that of its deepest manifold, along which separations are
//! measured anew.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `a_grid_of_contacts_becomes_four`, `coinciding_points_are_one`, `different_normals_stay_apart`,
//! `what_touches_comes_before_what_is_near`, `tests/sliding.rs`

use sim_math::glam::DVec3;
use sim_traits::{ContactPoint, Manifold};

/// 1 − cos of the angle below which normals count as one: 1e-3 rad.
const SAME: f64 = 5e-7;
/// 1 − cos 5°: coinciding points of nearly parallel manifolds are one contact.
const NEAR: f64 = 3.8e-3;

/// Share of the size by which separations may differ and still be level: more than a stepper leaves of overlaps.
const LEVEL: f64 = 1e-6;

const CAPACITY: usize = 64;

/// Collects contacts of one normal, any number of them, and keeps four.
#[derive(Debug)]
pub(crate) struct Selector {
    normal: DVec3,
    size: f64,
    points: [ContactPoint; CAPACITY],
    len: usize,
}

impl Selector {
    /// Points nearer than a millionth of `size` (metres) to each other count as one.
    pub(crate) fn new(normal: DVec3, size: f64) -> Self {
        Self { normal, size, points: [ContactPoint::default(); CAPACITY], len: 0 }
    }

    pub(crate) fn push(&mut self, point: ContactPoint) {
        let near = 1e-12 * self.size * self.size;
        if let Some(twin) =
            self.points[..self.len].iter_mut().find(|p| (p.point_a - point.point_a).length_squared() < near)
        {
            if point.separation < twin.separation {
                *twin = point;
            }
            return;
        }
        if self.len == CAPACITY {
            let kept = self.finish();
            self.len = kept.points().len();
            self.points[..self.len].copy_from_slice(kept.points());
        }
        self.points[self.len] = point;
        self.len += 1;
    }

    /// The four that matter.
    pub(crate) fn finish(&self) -> Manifold {
        let mut manifold = Manifold::new(self.normal);
        let points = &self.points[..self.len];
        let (low, high) = points
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |r, p| (r.0.min(p.separation), r.1.max(p.separation)));
        let level = low + (1e-3 * (high - low)).max(LEVEL * self.size);
        // Of several that are equally deep, begin with the one farthest out: a corner of the patch.
        let (mut mean, mut count) = (DVec3::ZERO, 0.0);
        for p in points.iter().filter(|p| p.separation <= level) {
            (mean, count) = (mean + p.point_a, count + 1.0);
        }
        let out = |p: &ContactPoint| (p.point_a - mean / count).length_squared();
        let mut first: Option<&ContactPoint> = None;
        for p in points.iter().filter(|p| p.separation <= level) {
            if first.is_none_or(|f| out(p) > out(f)) {
                first = Some(p);
            }
        }
        let Some(first) = first else { return manifold };
        manifold.push(*first);
        for _ in 1..Manifold::CAPACITY {
            let chosen = manifold;
            let best = |limit: f64, gain: &dyn Fn(DVec3) -> f64| {
                let mut found: (Option<&ContactPoint>, f64) = (None, 0.0);
                for p in points.iter().filter(|p| p.separation <= limit) {
                    let gain = gain(p.point_a);
                    if gain > found.1 {
                        found = (Some(p), gain);
                    }
                }
                found.0
            };
            let (area, beyond) = (|x| self.gain(chosen.points(), x), |x| self.beyond(chosen.points(), x));
            let next = best(level, &area).or_else(|| best(f64::INFINITY, &area));
            let Some(next) = next.or_else(|| best(f64::INFINITY, &beyond)) else { break };
            manifold.push(*next);
        }
        manifold
    }

    /// How far a point lies beyond the ends of those chosen, along the line of the first two, m; 0 if next to nothing.
    fn beyond(&self, chosen: &[ContactPoint], p: DVec3) -> f64 {
        let [first, second, ..] = chosen else { return 0.0 };
        let line = (second.point_a - first.point_a).normalize_or_zero();
        let (low, high) = chosen
            .iter()
            .map(|c| line.dot(c.point_a))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |r, x| (r.0.min(x), r.1.max(x)));
        let x = line.dot(p);
        let over = (low - x).max(x - high);
        if over > 1e-6 * self.size { over } else { 0.0 }
    }

    /// What a point adds to those chosen: distance, then area; 0 if next to nothing.
    fn gain(&self, chosen: &[ContactPoint], p: DVec3) -> f64 {
        let flat = |x: DVec3| {
            let d = x - chosen[0].point_a;
            d - self.normal.dot(d) * self.normal
        };
        let x = flat(p);
        let d1 = chosen.get(1).map_or(DVec3::ZERO, |c| flat(c.point_a));
        let area = |from: DVec3, to: DVec3| self.normal.dot((to - from).cross(x - from));
        let (gain, worth) = match chosen.len() {
            1 => (x.length_squared(), 1e-12 * self.size * self.size),
            2 => (area(DVec3::ZERO, d1).abs(), 1e-6 * d1.length_squared()),
            _ => {
                let d2 = flat(chosen[2].point_a);
                let sense = self.normal.dot(d1.cross(d2)).signum();
                let outside = |from: DVec3, to: DVec3| -sense * area(from, to);
                let most = outside(DVec3::ZERO, d1).max(outside(d1, d2)).max(outside(d2, DVec3::ZERO));
                (most, 1e-6 * d1.length_squared())
            }
        };
        if gain > worth { gain } else { 0.0 }
    }
}

/// Reduces the manifolds from `first` on: one per direction with at most four points each, no point twice. `size`
/// (metres) is that of the smaller shape: points nearer than 1e-6 of it coincide. The deepest manifold comes first.
pub fn reduce(manifolds: &mut Vec<Manifold>, first: usize, size: f64) {
    let first = first.min(manifolds.len());
    let depth = |m: &Manifold| m.deepest().map_or(f64::INFINITY, |p| p.separation);
    manifolds[first..].sort_unstable_by(|a, b| depth(a).total_cmp(&depth(b)).then(a.pieces.cmp(&b.pieces)));
    let mut kept = first;
    let mut at = first;
    while at < manifolds.len() {
        let lead = manifolds[at];
        if !manifolds[at + 1..].iter().any(|m| 1.0 - m.normal.dot(lead.normal) <= SAME) {
            // The only one of its direction, as on curved ground: nothing to choose.
            let fresh = without_repeats(&lead, &manifolds[first..kept], size);
            if !fresh.points().is_empty() {
                manifolds[kept] = fresh;
                kept += 1;
            }
            at += 1;
            continue;
        }
        let mut selector = Selector::new(lead.normal, size);
        let mut rest = at + 1;
        for k in at..manifolds.len() {
            let other = manifolds[k];
            if 1.0 - other.normal.dot(lead.normal) > SAME {
                // Not of this group: move it up behind the others that are left.
                manifolds[rest] = other;
                rest += 1;
                continue;
            }
            for point in other.points() {
                let mut point = *point;
                point.separation = (point.point_a - point.point_b).dot(lead.normal);
                selector.push(point);
            }
        }
        let mut group = selector.finish();
        group.pieces = lead.pieces;
        manifolds.truncate(rest);
        let fresh = without_repeats(&group, &manifolds[first..kept], size);
        if !fresh.points().is_empty() {
            manifolds[kept] = fresh;
            kept += 1;
        }
        // What is left begins behind the leader.
        manifolds.drain(kept..=at);
        at = kept;
    }
    manifolds.truncate(kept);
}

/// The manifold without points that an earlier, deeper one of nearly the same direction has.
fn without_repeats(group: &Manifold, earlier: &[Manifold], size: f64) -> Manifold {
    let mut fresh = Manifold::new(group.normal);
    fresh.pieces = group.pieces;
    for point in group.points() {
        let repeated = earlier.iter().filter(|m| 1.0 - m.normal.dot(group.normal) <= NEAR).any(|m| {
            m.points().iter().any(|p| {
                (p.point_a - point.point_a).length() < 1e-6 * size
                    || (p.point_b - point.point_b).length() < 1e-6 * size
            })
        });
        if !repeated {
            fresh.push(*point);
        }
    }
    fresh
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;
    use sim_traits::FeatureId;

    #[test]
    fn what_touches_comes_before_what_is_near() {
        let mut random = SplitMix64(2);
        let mut selector = Selector::new(DVec3::Z, 1.0);
        let facet = [DVec3::X, DVec3::new(-0.5, 0.8, 0.0), DVec3::new(-0.5, -0.8, 0.0)].map(|p| 0.05 * p);
        for k in 0..300 {
            let (p, separation) = if k % 100 == 50 {
                (facet[k / 100], 1e-14 * random.unit())
            } else {
                (random.vec3(1.0).with_z(0.0), random.range(0.001, 0.01))
            };
            selector.push(*single(p, DVec3::Z, separation, 0).deepest().unwrap());
        }
        let manifold = selector.finish();
        assert_eq!(manifold.points().len(), 4);
        for p in facet {
            assert!(manifold.points().iter().any(|q| q.point_a == p));
        }
    }

    #[test]
    fn a_line_keeps_its_ends() {
        // A roller across two triangles: two points near each other are deeper by rounding, and the far end carries it.
        for depth in [0.0, 1e-12, 1e-5] {
            let mut selector = Selector::new(DVec3::Z, 0.2);
            for (x, separation) in [(0.15, -depth), (0.147, -depth), (-0.05, 0.0), (-0.15, 0.0)] {
                selector.push(*single(DVec3::X * x, DVec3::Z, separation, 0).deepest().unwrap());
            }
            let kept = selector.finish();
            for end in [-0.15, 0.15] {
                let found = kept.points().iter().any(|p| p.point_a.x == end);
                assert!(found, "{end} of {:?}", kept.points());
            }
        }
    }

    fn single(at: DVec3, normal: DVec3, separation: f64, piece: u32) -> Manifold {
        let mut m = Manifold::new(normal);
        m.pieces = [0, piece];
        m.push(ContactPoint {
            point_a: at,
            point_b: at - separation * normal,
            separation,
            features: [FeatureId::NONE; 2],
        });
        m
    }

    #[test]
    fn a_grid_of_contacts_becomes_four() {
        let mut random = SplitMix64(1);
        let mut all = vec![single(DVec3::ONE, DVec3::X, 0.0, 9)];
        for i in 0..10 {
            for j in 0..10 {
                let p = DVec3::new(f64::from(i), f64::from(j), 0.0);
                all.push(single(p, DVec3::Z, -1e-3 * random.unit(), i * 10 + j));
            }
        }
        let deepest = all[1..].iter().map(|m| m.points()[0].separation).fold(0.0, f64::min);
        reduce(&mut all, 1, 1.0);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].pieces, [0, 9]);
        let points = all[1].points();
        assert_eq!(points.len(), 4);
        assert_eq!(points[0].separation, deepest);
        // They span most of the square.
        let p = |k: usize| points[k].point_a;
        let area =
            0.5 * ((p(1) - p(0)).cross(p(2) - p(0)).length() + (p(1) - p(0)).cross(p(3) - p(0)).length());
        assert!(area > 40.0, "{area}");
    }

    #[test]
    fn coinciding_points_are_one() {
        let tilted = DVec3::new(0.05, 0.0, 1.0).normalize();
        let mut all = vec![
            single(DVec3::ZERO, tilted, -1e-4, 1),
            single(DVec3::ZERO, DVec3::Z, -1e-3, 2),
            single(DVec3::X, tilted, -1e-4, 3),
        ];
        reduce(&mut all, 0, 1.0);
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].pieces, all[0].points().len()), ([0, 2], 1));
        assert_eq!(all[1].points()[0].point_a, DVec3::X);
    }

    #[test]
    fn different_normals_stay_apart() {
        let mut all: Vec<Manifold> = (0..30)
            .map(|k| {
                let normal = [DVec3::X, DVec3::Y, DVec3::Z][k % 3];
                single(DVec3::splat(k as f64), normal, -0.01 * k as f64, k as u32)
            })
            .collect();
        reduce(&mut all, 0, 1.0);
        assert_eq!(all.len(), 3);
        // Deepest first, and each on a line: two points.
        assert_eq!(all[0].normal, DVec3::Z);
        assert!(all.iter().all(|m| m.points().len() >= 2));
        let mut none = Vec::new();
        reduce(&mut none, 0, 1.0);
        reduce(&mut none, 5, 1.0);
    }
}
