//! Contact manifolds: the patches that face each other, clipped and reduced to at most four points.

mod clip;
mod patch;
mod reduce;
mod ridges;

pub(crate) use clip::{Polygon, clip};
pub(crate) use patch::{FEW, MAX, Patch, facing, has_few_corners};
pub(crate) use reduce::Reducer;
pub(crate) use ridges::{Solid, touching_ridges};

use crate::relative::Frame;
use sim_math::glam::DVec3;
use sim_traits::{ContactPoint, FeatureId, Manifold, Separation};

/// Adds the manifold of two convex patches (both in A's frame) around a known closest or deepest pair of points.
///
/// The normal is that of the separation. Every point of the overlap of the patches, seen along the normal, is a
/// contact if its separation is at most `margin`; the closest pair itself is always one.
pub(crate) fn patch_manifold(
    patch_a: &Patch,
    patch_b: &Patch,
    closest: &Separation,
    features: [FeatureId; 2],
    margin: f64,
    scale: f64,
) -> Manifold {
    sized_manifold::<MAX, { 2 * MAX }, { 2 * MAX + 2 }>(patch_a, patch_b, closest, features, margin, scale)
}

/// The same for patches of up to N corners: C ≥ 2 N points when clipped, R ≥ C + 2 contacts. Small ones, as boxes
/// need, spare most of the time that clearing and copying large ones takes.
pub(crate) fn sized_manifold<const N: usize, const C: usize, const R: usize>(
    patch_a: &Patch<N>,
    patch_b: &Patch<N>,
    closest: &Separation,
    features: [FeatureId; 2],
    margin: f64,
    scale: f64,
) -> Manifold {
    let normal = closest.normal;
    let mut reducer: Reducer<R> = Reducer::new(normal, scale);
    let (facing_a, facing_b) = (-patch_a.normal.dot(normal), patch_b.normal.dot(normal));
    // The better aligned face clips the other; ties go to A so that the choice does not flicker.
    let by_a = patch_a.is_face() && (!patch_b.is_face() || facing_a + 1e-6 >= facing_b);
    let (reference, incident) = if by_a { (patch_a, patch_b) } else { (patch_b, patch_a) };
    let steep = 0.05;
    let usable = |p: &Patch<N>, facing: f64| !p.is_face() || facing > steep;
    if reference.is_face() && usable(patch_a, facing_a) && usable(patch_b, facing_b) {
        let polygon: Polygon<C> = clip(reference, incident, if by_a { -normal } else { normal });
        let offset = reference.normal.dot(reference.corners()[0].position);
        let slope = reference.normal.dot(normal);
        for (k, point) in polygon.points().iter().enumerate() {
            // Move along the contact normal to the reference plane.
            let step = (offset - reference.normal.dot(point.position)) / slope;
            let on_reference = point.position + step * normal;
            let (point_a, point_b) =
                if by_a { (on_reference, point.position) } else { (point.position, on_reference) };
            let separation = (point_a - point_b).dot(normal);
            if separation <= margin {
                let [reference_id, incident_id] = polygon.features(k, reference, incident);
                let features = if by_a { [reference_id, incident_id] } else { [incident_id, reference_id] };
                reducer.push(ContactPoint { point_a, point_b, separation, features });
            }
        }
    }
    if let ([a0, a1], [b0, b1]) = (patch_a.corners(), patch_b.corners()) {
        segments([a0.position, a1.position], [b0.position, b1.position], closest, margin, &mut reducer);
    }
    if closest.distance <= margin && reducer.deepest() > closest.distance + 1e-9 * scale {
        reducer.push(ContactPoint {
            point_a: closest.point_a,
            point_b: closest.point_b,
            separation: closest.distance,
            features,
        });
    }
    reducer.finish()
}

/// Two nearly parallel segments touch at both ends of their overlap.
fn segments<const R: usize>(
    a: [DVec3; 2],
    b: [DVec3; 2],
    closest: &Separation,
    margin: f64,
    reducer: &mut Reducer<R>,
) {
    let n = closest.normal;
    let [da, db] = [a[1] - a[0], b[1] - b[0]].map(|d| tangential(d, n));
    let (la, lb) = (da.length(), db.length());
    // Seen along the normal, the lines may be at most 1/20 rad apart.
    if la == 0.0 || lb == 0.0 || da.cross(db).length() > 0.05 * la * lb {
        return;
    }
    let along = |p: DVec3| da.dot(p - a[0]) / (la * la);
    let (s0, s1) = (along(b[0]), along(b[1]));
    let (low, high) = (s0.min(s1).max(0.0), s0.max(s1).min(1.0));
    if low >= high || (s1 - s0).abs() < 1e-9 {
        return;
    }
    for (k, s) in (0..).zip([low, high]) {
        let p = a[0] + s * (a[1] - a[0]);
        let q = b[0] + (s - s0) / (s1 - s0) * (b[1] - b[0]);
        let separation = n.dot(p - q);
        if separation <= margin {
            let middle = 0.5 * (p + q);
            let (point_a, point_b) = (middle + 0.5 * separation * n, middle - 0.5 * separation * n);
            let features = [FeatureId::vertex(k), FeatureId::vertex(k)];
            reducer.push(ContactPoint { point_a, point_b, separation, features });
        }
    }
}

/// The same patch in another frame.
pub(crate) fn moved<const N: usize>(patch: &Patch<N>, frame: &Frame) -> Patch<N> {
    let mut copy = *patch;
    copy.normal = frame.vector(patch.normal);
    for corner in copy.corners_mut() {
        corner.position = frame.point(corner.position);
    }
    copy
}

/// Component of a vector in the plane normal to `n`.
#[inline]
pub(crate) fn tangential(v: DVec3, n: DVec3) -> DVec3 {
    v - n.dot(v) * n
}
