//! What two shapes say about their contact: distances, manifolds, and what is remembered between calls.
//!
//! Everything is in the frame of shape A unless said otherwise: a narrow phase sees the relative pose only.

use sim_math::glam::DVec3;

/// A vertex, edge or face of a shape, as a number that stays the same from call to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FeatureId(u32);

impl FeatureId {
    /// No feature known yet.
    pub const NONE: Self = Self(0);

    const KIND_SHIFT: u32 = 30;
    const INDEX_MASK: u32 = (1 << Self::KIND_SHIFT) - 1;

    /// Vertex number `index`, below 2³⁰.
    #[inline]
    #[must_use]
    pub const fn vertex(index: u32) -> Self {
        Self((1 << Self::KIND_SHIFT) | (index & Self::INDEX_MASK))
    }

    /// Edge number `index`, below 2³⁰.
    #[inline]
    #[must_use]
    pub const fn edge(index: u32) -> Self {
        Self((2 << Self::KIND_SHIFT) | (index & Self::INDEX_MASK))
    }

    /// Face number `index`, below 2³⁰.
    #[inline]
    #[must_use]
    pub const fn face(index: u32) -> Self {
        Self((3 << Self::KIND_SHIFT) | (index & Self::INDEX_MASK))
    }

    /// Number of the feature among its kind.
    #[inline]
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0 & Self::INDEX_MASK
    }

    /// Dimension of the feature: 0 for a vertex, 1 for an edge, 2 for a face; `None` if unknown.
    #[inline]
    #[must_use]
    pub const fn dimension(self) -> Option<u32> {
        (self.0 >> Self::KIND_SHIFT).checked_sub(1)
    }
}

/// Signed distance of two shapes with its witnesses, in A's frame.
///
/// `point_a - point_b = distance * normal`. When the shapes overlap, the distance is minus the depth: the
/// shortest translation that would separate them, along the normal.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Separation {
    /// Metres; negative when the shapes overlap.
    pub distance: f64,
    /// Unit vector from B to A.
    pub normal: DVec3,
    /// Closest (or deepest) point of A.
    pub point_a: DVec3,
    /// Closest (or deepest) point of B.
    pub point_b: DVec3,
}

impl Separation {
    /// The same seen from B, for a dispatcher that swapped its arguments: `b_from_a` maps A's frame to B's.
    #[must_use]
    pub fn flipped(&self, b_from_a: &sim_math::Pose) -> Self {
        Self {
            distance: self.distance,
            normal: -b_from_a.transform_vector(self.normal),
            point_a: b_from_a.transform_point(self.point_b),
            point_b: b_from_a.transform_point(self.point_a),
        }
    }
}

/// One point of a contact manifold, in A's frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactPoint {
    /// Point on the surface of A, metres.
    pub point_a: DVec3,
    /// Point on the surface of B, metres.
    pub point_b: DVec3,
    /// (`point_a` − `point_b`) · normal, metres; negative when the shapes overlap here.
    pub separation: f64,
    /// Features that meet here: the same number in the next step means the same contact.
    pub features: [FeatureId; 2],
}

/// Contacts of two convex pieces that share a normal: at most four points carry any planar patch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Manifold {
    /// Unit vector from B to A, in A's frame.
    pub normal: DVec3,
    /// Which convex piece of A and which of B; 0 for a simple shape.
    pub pieces: [u32; 2],
    points: [ContactPoint; Self::CAPACITY],
    len: u8,
}

impl Manifold {
    /// Most points a manifold holds.
    pub const CAPACITY: usize = 4;

    /// Without points.
    #[must_use]
    pub fn new(normal: DVec3) -> Self {
        Self { normal, ..Self::default() }
    }

    /// One contact at the closest points, between the features named.
    #[must_use]
    pub fn at_closest(found: &Separation, features: [FeatureId; 2]) -> Self {
        let mut manifold = Self::new(found.normal);
        manifold.push(ContactPoint {
            point_a: found.point_a,
            point_b: found.point_b,
            separation: found.distance,
            features,
        });
        manifold
    }

    /// Adds a point; `false`, and no change, if four are there already.
    pub fn push(&mut self, point: ContactPoint) -> bool {
        let free = self.points.get_mut(usize::from(self.len));
        let has_room = free.is_some();
        if let Some(slot) = free {
            *slot = point;
            self.len += 1;
        }
        has_room
    }

    /// The points present.
    #[must_use]
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..usize::from(self.len)]
    }

    /// The deepest point, if there is any.
    #[must_use]
    pub fn deepest(&self) -> Option<&ContactPoint> {
        self.points().iter().min_by(|p, q| p.separation.total_cmp(&q.separation))
    }
}

/// What a narrow phase remembers about a pair between calls. It influences results, so it is state.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PairCache {
    /// Closest features found last.
    pub features: [FeatureId; 2],
    /// Last separating direction, from B to A in A's frame; zero when unknown.
    pub axis: DVec3,
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{Pose, glam::DQuat};

    #[test]
    fn features_keep_kind_and_index() {
        assert_eq!(FeatureId::NONE.dimension(), None);
        for (feature, dimension) in
            [(FeatureId::vertex(9), 0), (FeatureId::edge(9), 1), (FeatureId::face(9), 2)]
        {
            assert_eq!((feature.dimension(), feature.index()), (Some(dimension), 9));
        }
    }

    #[test]
    fn a_manifold_takes_four_points_and_finds_the_deepest() {
        let mut manifold = Manifold::new(DVec3::Z);
        assert!(manifold.deepest().is_none());
        for separation in [0.1, -0.3, 0.0, 0.2] {
            assert!(manifold.push(ContactPoint { separation, ..ContactPoint::default() }));
        }
        assert!(!manifold.push(ContactPoint::default()));
        assert_eq!(manifold.points().len(), 4);
        assert_eq!(manifold.deepest().map(|p| p.separation), Some(-0.3));
    }

    #[test]
    fn flipping_twice_changes_nothing() {
        let a_from_b = Pose::new(DVec3::new(1.0, 2.0, -0.5), DQuat::from_rotation_y(0.4));
        let seen = Separation {
            distance: 0.3,
            normal: DVec3::X,
            point_a: DVec3::Y,
            point_b: DVec3::Y - 0.3 * DVec3::X,
        };
        let back = seen.flipped(&a_from_b.inverse()).flipped(&a_from_b);
        assert!(
            (back.point_a - seen.point_a).length() < 1e-15 && (back.normal - seen.normal).length() < 1e-15
        );
        let flipped = seen.flipped(&a_from_b.inverse());
        assert!((flipped.point_a - flipped.point_b - flipped.distance * flipped.normal).length() < 1e-15);
    }
}
