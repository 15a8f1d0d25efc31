//! One triangle: closest point, and a ray test without gaps between neighbours.
//!
//! # Reference
//! Ericson 2005 §5.1.5 (closest point); Woop, Benthin, Wald 2013 (watertight ray test).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `u`, `v`, `w` | twice the areas that the sheared ray cuts off, one per edge |
//! | `kx`, `ky`, `kz` | axes, z the one along which the ray runs most |
//!
//! # Formula
//! ```text
//! shear x' = x − Sx z, y' = y − Sy z, z' = Sz z;   u = c'x b'y − c'y b'x, …;   t = (u a'z + v b'z + w c'z) / (u + v + w)
//! ```
//!
//! # Cost
//! Some 40 flops and one division per hit; some 50 for the closest point.
//!
//! # Numerics
//! An edge shared by two triangles gives the same number with opposite sign in both, so a ray through it hits at least
//! one of them. A zero counts as inside: a ray along the plane of a triangle misses it. Where the triangle is seen edge on
//! the areas are rounding only, and a hit must at least lie in the triangle's box.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `closest_points_beat_samples_and_name_their_feature`, `rays_through_shared_edges_and_corners_hit`,
//! `ray_test_agrees_with_the_plane_formula`

use sim_math::glam::DVec3;

/// The part of a triangle where a closest point lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Corner 0, 1 or 2.
    Corner(usize),
    /// Edge from corner k to corner k + 1.
    Edge(usize),
    /// Interior.
    Face,
}

/// Point of a triangle nearest to `p`, and the part that it is on.
pub(crate) fn closest_point(p: DVec3, [a, b, c]: [DVec3; 3]) -> (DVec3, Part) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Part::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Part::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + d1 / (d1 - d3) * ab, Part::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Part::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + d2 / (d2 - d6) * ac, Part::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + t * (c - b), Part::Edge(1));
    }
    let sum = va + vb + vc;
    (a + (vb / sum) * ab + (vc / sum) * ac, Part::Face)
}

/// A ray prepared for many triangles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShearedRay {
    origin: DVec3,
    direction: DVec3,
    /// How far a hit may lie outside the box of the triangle, metres.
    slack: f64,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl ShearedRay {
    /// For a finite ray whose direction is not zero; `slack` (metres) is how far rounding may put a hit outside the box of
    /// its triangle.
    #[inline]
    pub(crate) fn new(origin: DVec3, direction: DVec3, slack: f64) -> Self {
        let kz = super::bvh::longest_axis(direction.abs());
        let (kx, ky) = ((kz + 1) % 3, (kz + 2) % 3);
        let d = direction.to_array();
        let shear = [d[kx] / d[kz], d[ky] / d[kz], 1.0 / d[kz]];
        Self { origin, direction, slack, axes: [kx, ky, kz], shear }
    }

    /// Parameter of the hit in 0..=`t_max`, from either side.
    #[inline]
    pub(crate) fn hit(&self, corners: &[DVec3; 3], t_max: f64) -> Option<f64> {
        let [kx, ky, kz] = self.axes;
        let [sx, sy, sz] = self.shear;
        let [a, b, c] = [corners[0], corners[1], corners[2]].map(|p| (p - self.origin).to_array());
        let (ax, ay) = (a[kx] - sx * a[kz], a[ky] - sy * a[kz]);
        let (bx, by) = (b[kx] - sx * b[kz], b[ky] - sy * b[kz]);
        let (cx, cy) = (c[kx] - sx * c[kz], c[ky] - sy * c[kz]);
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let sum = u + v + w;
        if sum == 0.0 {
            return None;
        }
        let t = sz * (u * a[kz] + v * b[kz] + w * c[kz]) / sum;
        if !(t >= 0.0 && t <= t_max) {
            return None;
        }
        // A triangle seen edge on has areas that are all rounding: believe a hit only where the triangle is.
        let x = self.origin + t * self.direction;
        let [p, q, r] = corners;
        let low = p.min(*q).min(*r) - self.slack;
        let high = p.max(*q).max(*r) + self.slack;
        (x.cmpge(low).all() && x.cmple(high).all()).then_some(t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    fn triangle(random: &mut SplitMix64) -> [DVec3; 3] {
        [0; 3].map(|_| random.vec3(1.0))
    }

    #[test]
    fn closest_points_beat_samples_and_name_their_feature() {
        let mut random = SplitMix64(1);
        let mut kinds = [0; 3];
        for _ in 0..5000 {
            let t = triangle(&mut random);
            let p = random.vec3(2.0);
            let (x, part) = closest_point(p, t);
            for _ in 0..20 {
                let (u, v) = (random.unit(), random.unit());
                let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                let y = t[0] + u * (t[1] - t[0]) + v * (t[2] - t[0]);
                assert!((p - x).length() <= (p - y).length() + 1e-12);
            }
            // The gap is at right angles to the part that holds the point.
            let gap = p - x;
            match part {
                Part::Corner(k) => {
                    assert_eq!(x, t[k]);
                    kinds[0] += 1;
                }
                Part::Edge(k) => {
                    assert!(gap.dot(t[(k + 1) % 3] - t[k]).abs() < 1e-12);
                    kinds[1] += 1;
                }
                Part::Face => {
                    assert!(gap.cross((t[1] - t[0]).cross(t[2] - t[0])).length() < 1e-11);
                    kinds[2] += 1;
                }
            }
        }
        assert!(kinds.iter().all(|k| *k > 150), "{kinds:?}");
    }

    #[test]
    fn ray_test_agrees_with_the_plane_formula() {
        let mut random = SplitMix64(2);
        let mut hits = 0;
        for _ in 0..100_000 {
            let t = triangle(&mut random);
            let (o, d) = (random.vec3(2.0), random.vec3(1.0));
            let n = (t[1] - t[0]).cross(t[2] - t[0]);
            let way = n.dot(t[0] - o) / n.dot(d);
            let x = o + way * d;
            let least = (0..3)
                .map(|k| n.dot((t[(k + 1) % 3] - t[k]).cross(x - t[k])) / n.length_squared())
                .fold(f64::INFINITY, f64::min);
            if least.abs() < 1e-9 || n.dot(d).abs() < 1e-6 {
                continue;
            }
            let found = ShearedRay::new(o, d, 1e-14).hit(&t, f64::INFINITY);
            assert_eq!(found.is_some(), least > 0.0 && way >= 0.0, "{o} {d} {t:?}");
            if let Some(found) = found {
                hits += 1;
                assert!((found - way).abs() < 1e-9 * (1.0 + way), "{found} {way}");
            }
        }
        assert!(hits > 1000, "{hits}");
    }

    #[test]
    fn rays_through_shared_edges_and_corners_hit() {
        let mut random = SplitMix64(3);
        for _ in 0..20_000 {
            // A fan around a corner that bulges: rays from inside at points of the inner edges.
            let rim: Vec<DVec3> = (0..5)
                .map(|k| {
                    let (s, c) = sim_math::ops::sin_cos(f64::from(k) * std::f64::consts::TAU / 5.0);
                    DVec3::new(c, s, 0.0) + random.vec3(0.2)
                })
                .collect();
            let apex = DVec3::Z + random.vec3(0.2);
            let k = random.below(5);
            let target = if random.below(4) == 0 { apex } else { apex.lerp(rim[k], random.unit() * 0.8) };
            let o = DVec3::new(0.0, 0.0, -1.0) + random.vec3(0.1);
            let ray = ShearedRay::new(o, target - o, 1e-14);
            let hit = (0..5).any(|k| ray.hit(&[apex, rim[k], rim[(k + 1) % 5]], f64::INFINITY).is_some());
            assert!(hit, "{o} {target}");
        }
    }
}
