//! Axis-aligned boxes.

use crate::MathError;
use glam::DVec3;

/// An axis-aligned box, closed: boxes that touch overlap.
///
/// Corners may be infinite (a half-space has an infinite box) but never NaN, and never inverted:
/// [`Aabb::new`] checks, the other constructors cannot break it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Aabb {
    /// Lower corner, metres.
    pub min: DVec3,
    /// Upper corner, metres.
    pub max: DVec3,
}

impl Aabb {
    /// The box that contains all of space.
    pub const EVERYWHERE: Self = Self { min: DVec3::NEG_INFINITY, max: DVec3::INFINITY };

    /// Box from two corners.
    ///
    /// # Errors
    /// [`MathError::InvertedBox`] if a lower coordinate is above its upper one, or either is NaN.
    pub fn new(min: DVec3, max: DVec3) -> Result<Self, MathError> {
        let aabb = Self { min, max };
        if aabb.is_valid() { Ok(aabb) } else { Err(MathError::InvertedBox { min, max }) }
    }

    /// Box around `center` with the given half extents; negative extents are taken by magnitude.
    #[inline]
    #[must_use]
    pub fn from_center_half_extents(center: DVec3, half_extents: DVec3) -> Self {
        let half = half_extents.abs();
        Self { min: center - half, max: center + half }
    }

    /// Smallest box around some points; `None` for no points or a NaN among them.
    #[must_use]
    pub fn from_points(points: impl IntoIterator<Item = DVec3>) -> Option<Self> {
        let mut points = points.into_iter();
        let first = points.next().filter(|p| !p.is_nan())?;
        points.try_fold(Self { min: first, max: first }, |aabb, p| {
            (!p.is_nan()).then(|| Self { min: aabb.min.min(p), max: aabb.max.max(p) })
        })
    }

    /// True if no corner is NaN and no side is inverted.
    #[inline]
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.min.cmple(self.max).all()
    }

    /// Middle of the box, metres. NaN on an axis that is infinite on both sides.
    #[inline]
    #[must_use]
    pub fn center(&self) -> DVec3 {
        0.5 * self.min + 0.5 * self.max
    }

    /// Half of each side, metres.
    #[inline]
    #[must_use]
    pub fn half_extents(&self) -> DVec3 {
        0.5 * self.max - 0.5 * self.min
    }

    /// Length of each side, metres.
    #[inline]
    #[must_use]
    pub fn size(&self) -> DVec3 {
        self.max - self.min
    }

    /// Surface area, square metres: the cost measure of box trees.
    #[inline]
    #[must_use]
    pub fn surface_area(&self) -> f64 {
        let s = self.size();
        2.0 * (s.x * s.y + s.y * s.z + s.z * s.x)
    }

    /// True if the closed boxes share a point.
    #[inline]
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// True if the point lies in the closed box.
    #[inline]
    #[must_use]
    pub fn contains(&self, point: DVec3) -> bool {
        self.min.cmple(point).all() && point.cmple(self.max).all()
    }

    /// True if `other` lies inside.
    #[inline]
    #[must_use]
    pub fn contains_box(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }

    /// Smallest box around both.
    #[inline]
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box moved outwards by `margin` on all six sides; a negative margin shrinks it, at most to its centre.
    #[inline]
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        if margin >= 0.0 {
            return Self { min: self.min - margin, max: self.max + margin };
        }
        let half = self.half_extents().min(DVec3::splat(-margin));
        Self { min: self.min + half, max: self.max - half }
    }

    /// Parameters `t` in `[0, t_max]` for which `origin + t direction` lies in the box, as entry and exit.
    ///
    /// A zero component of `direction` is allowed: the ray then stays in its slab or misses it.
    #[inline]
    #[must_use]
    pub fn ray_interval(&self, origin: DVec3, direction: DVec3, t_max: f64) -> Option<(f64, f64)> {
        let mut enter = 0.0_f64;
        let mut exit = t_max;
        for axis in 0..3 {
            let (o, d, lo, hi) = (origin[axis], direction[axis], self.min[axis], self.max[axis]);
            if d == 0.0 {
                if o < lo || o > hi {
                    return None;
                }
                continue;
            }
            let (a, b) = ((lo - o) / d, (hi - o) / d);
            enter = enter.max(a.min(b));
            exit = exit.min(a.max(b));
        }
        (enter <= exit).then_some((enter, exit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> Aabb {
        Aabb::new(DVec3::ZERO, DVec3::ONE).unwrap()
    }

    #[test]
    fn touching_boxes_overlap_and_separated_ones_do_not() {
        let right = Aabb::new(DVec3::X, DVec3::new(2.0, 1.0, 1.0)).unwrap();
        let far = Aabb::new(DVec3::new(1.0 + 1e-15, 0.0, 0.0), DVec3::new(2.0, 1.0, 1.0)).unwrap();
        assert!(unit().overlaps(&right) && right.overlaps(&unit()));
        assert!(!unit().overlaps(&far));
        assert!(Aabb::EVERYWHERE.overlaps(&far));
    }

    #[test]
    fn bad_corners_are_errors_naming_the_values() {
        let inverted = Aabb::new(DVec3::X, DVec3::ZERO).unwrap_err();
        assert_eq!(inverted.to_string(), "inverted box: min [1, 0, 0] is above max [0, 0, 0]");
        assert!(Aabb::new(DVec3::NAN, DVec3::ONE).is_err());
        assert!(Aabb::from_points([]).is_none());
        assert!(Aabb::from_points([DVec3::ZERO, DVec3::NAN]).is_none());
    }

    #[test]
    fn growing_and_shrinking_stay_valid() {
        assert!(unit().grown(0.5).contains_box(&unit()));
        let shrunk = unit().grown(-3.0);
        assert!(shrunk.is_valid());
        assert_eq!(shrunk.min, DVec3::splat(0.5));
    }

    #[test]
    fn rays_enter_and_leave_where_they_should() {
        let t = unit().ray_interval(DVec3::new(-1.0, 0.5, 0.5), DVec3::X, f64::INFINITY);
        assert_eq!(t, Some((1.0, 2.0)));
        assert_eq!(unit().ray_interval(DVec3::new(-1.0, 2.0, 0.5), DVec3::X, f64::INFINITY), None);
        assert_eq!(unit().ray_interval(DVec3::splat(0.5), -DVec3::Z, 10.0), Some((0.0, 0.5)));
        assert_eq!(unit().ray_interval(DVec3::new(-1.0, 0.5, 0.5), DVec3::X, 0.5), None);
    }
}
