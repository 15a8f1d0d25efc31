//! Two boxes: fifteen separating axes, then the faces clipped.
//!
//! # Reference
//! Gottschalk, Lin, Manocha, *`OBBTree`* (1996); clipping as in `manifold`.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `r` | rotation of B in A; columns are B's axes |
//! | `t` | centre of B in A's frame |
//! | `s` | gap along an axis, negative in overlap |
//!
//! # Formula
//! ```text
//! s(L) = |t·L| − Σ h_A,i |e_i·L| − Σ h_B,j |r_j·L|,   L ∈ e_i, r_j, e_i × r_j / |e_i × r_j|
//! ```
//!
//! # Cost
//! Some 250 flops for the axes. No allocation.
//!
//! # Numerics
//! Axes of nearly parallel edges are exactly normal to A's edge and are measured, not derived. In a manifold, face axes
//! win ties within 1e-9 of the size, so that resting boxes keep their reference face; in a distance only those of rounding.
//! Where parallel edges of boxes that are askew touch, a manifold has the middle of the directions that both allow (`ridges`).
//!
//! # Failure
//! None; apart, the distance comes from `cuboid_gap` and, where that has no proof, from GJK.
//!
//! # Tested by
//! `tests/manifold.rs`, `tests/conformance.rs`, `edges_that_touch_have_the_middle_normal`

use crate::{
    closest::segment_segment,
    gjk::{Core, Cores},
    manifold::{Patch, Solid, moved, sized_manifold, touching_ridges},
    pairs::{cuboid_faces::face_contacts, cuboid_gap::Boxes},
    relative::Frame,
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{Cuboid, FeatureId, Manifold, Separation, Shape};

/// Which axis is best: a face of A, a face of B, or the cross product of an edge of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Best {
    FaceA(usize),
    FaceB(usize),
    Edges(usize, usize),
}

struct Axes {
    gap: f64,
    /// Unit vector from A towards B, in A's frame.
    out: DVec3,
    best: Best,
}

/// Ties of a distance are those of rounding: anything more is an error of the distance.
const ROUNDING: f64 = 1e-15;
/// Ties of a manifold: resting boxes keep their reference face.
const STEADY: f64 = 1e-9;

/// Gap of boxes that are near each other, of the size.
const NEAR: f64 = 0.05;

/// Largest gap along the fifteen axes; stops early once it is above `enough`. A later axis wins by more than `tie` of the size.
#[inline]
fn axes(ha: DVec3, hb: DVec3, frame: &Frame, enough: f64, tie: f64) -> Axes {
    let r = frame.rotation;
    let t = frame.translation;
    let (ra, rb) = ([r.x_axis, r.y_axis, r.z_axis], hb.to_array());
    let tie = tie * (ha.max_element() + hb.max_element());
    let mut found = Axes { gap: f64::NEG_INFINITY, out: DVec3::X, best: Best::FaceA(0) };
    let spread = ra[0].abs() * rb[0] + ra[1].abs() * rb[1] + ra[2].abs() * rb[2];
    let gaps = t.abs() - ha - spread;
    for i in 0..3 {
        if gaps[i] > found.gap {
            let mut out = DVec3::ZERO;
            out[i] = 1.0_f64.copysign(t[i]);
            found = Axes { gap: gaps[i], out, best: Best::FaceA(i) };
        }
    }
    for j in 0..3 {
        let along = ra[j].dot(t);
        let gap = along.abs() - rb[j] - ra[j].abs().dot(ha);
        if gap > found.gap + tie {
            found = Axes { gap, out: ra[j] * 1.0_f64.copysign(along), best: Best::FaceB(j) };
        }
    }
    if found.gap > enough {
        return found;
    }
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            // L = e_i × r_j has components −r_j[i2], r_j[i1] on the other two axes of A.
            let (x, y) = (-ra[j][i2], ra[j][i1]);
            let squared = x * x + y * y;
            if squared < 1e-24 {
                continue;
            }
            let along = t[i1] * x + t[i2] * y;
            let radius_a = ha[i1] * x.abs() + ha[i2] * y.abs();
            let radius_b = if squared > 1e-6 {
                rb[j1] * ra[j2][i].abs() + rb[j2] * ra[j1][i].abs()
            } else {
                // Nearly parallel edges: L is exactly normal to A's, and B's is measured with the digits L has.
                (0..3).map(|k| rb[k] * (ra[k][i1] * x + ra[k][i2] * y).abs()).sum()
            };
            let numerator = along.abs() - radius_a - radius_b;
            // Compare without the square root where the sign already decides.
            if numerator <= 0.0 && found.gap >= 0.0 {
                continue;
            }
            let inverse = 1.0 / squared.sqrt();
            let gap = numerator * inverse;
            if gap > found.gap + tie {
                let mut out = DVec3::ZERO;
                let sign = inverse.copysign(along);
                (out[i1], out[i2]) = (x * sign, y * sign);
                found = Axes { gap, out, best: Best::Edges(i, j) };
            }
        }
    }
    found
}

/// Signed distance of two boxes; `None` only if GJK fails, which it does not.
#[must_use]
pub fn cuboid_cuboid(a: &Cuboid, b: &Cuboid, a_from_b: &Pose) -> Option<Separation> {
    let frame = Frame::from_pose(a_from_b);
    let (ha, hb) = (a.half_extents(), b.half_extents());
    let found = axes(ha, hb, &frame, touching(ha, hb), ROUNDING);
    closed_form(ha, hb, &frame, &found).or_else(|| searched(a, b, &frame, -found.out))
}

/// Gap that counts as touching, metres.
fn touching(ha: DVec3, hb: DVec3) -> f64 {
    1e-10 * (ha.max_element() + hb.max_element())
}

/// Signed distance where the best axis or projections tell it.
fn closed_form(ha: DVec3, hb: DVec3, frame: &Frame, found: &Axes) -> Option<Separation> {
    let touch = touching(ha, hb);
    // Of a box much smaller than the size, rounding may have picked an axis without witnesses.
    let witnessed = |s: &Separation| {
        (s.point_a.abs() - ha).max_element() <= touch
            && (frame.point_back(s.point_b).abs() - hb).max_element() <= touch
    };
    let clipped = || penetration(ha, hb, frame, found).filter(witnessed);
    if found.gap <= touch {
        return clipped();
    }
    // Along an axis of a face the corner above the face is closest, if there is one; else two edges or a corner.
    if let Some(closest) = above_face(ha, hb, frame, found) {
        return Some(closest);
    }
    if is_flush(frame, found.best)
        && let Some(closest) = clipped()
    {
        return Some(closest);
    }
    // Near each other edges cross at small angles, where projections are slow.
    if found.gap < NEAR * (ha.max_element() + hb.max_element())
        && let all = axes(ha, hb, frame, f64::INFINITY, ROUNDING)
        && let Best::Edges(i, j) = all.best
        && let Some((closest, _)) = edge_contact(ha, hb, frame, &all, i, j)
        && witnessed(&closest)
    {
        return Some(closest);
    }
    Boxes { ha, hb, frame }.separation().or_else(clipped)
}

/// True if a face of the other box is parallel to the one whose axis is best.
fn is_flush(frame: &Frame, best: Best) -> bool {
    let r = frame.rotation;
    let along = match best {
        Best::FaceA(i) => r.row(i),
        Best::FaceB(j) => r.col(j),
        Best::Edges(..) => return false,
    };
    along.abs().max_element() > 1.0 - 1e-12
}

/// By GJK and EPA.
#[cold]
fn searched(a: &Cuboid, b: &Cuboid, frame: &Frame, guess: DVec3) -> Option<Separation> {
    let (a, b) = (Shape::from(*a), Shape::from(*b));
    Cores::new(Core::of(&a)?, Core::of(&b)?, *frame).separation(guess)
}

/// A face and the corner of the other box farthest against it, if that lies above the face.
#[inline]
fn above_face(ha: DVec3, hb: DVec3, frame: &Frame, found: &Axes) -> Option<Separation> {
    let (distance, normal) = (found.gap, -found.out);
    let over = |x: DVec3, half: DVec3, axis: usize| {
        let mut beyond = x.abs() - half;
        beyond[axis] = 0.0;
        beyond.max_element() <= 0.0
    };
    match found.best {
        Best::FaceA(i) => {
            let point_b = frame.point(hb.copysign(frame.back(normal)));
            let point_a = point_b + distance * normal;
            over(point_a, ha, i).then_some(Separation { distance, normal, point_a, point_b })
        }
        Best::FaceB(j) => {
            let point_a = ha.copysign(found.out);
            let point_b = point_a - distance * normal;
            over(frame.point_back(point_b), hb, j).then_some(Separation {
                distance,
                normal,
                point_a,
                point_b,
            })
        }
        Best::Edges(..) => None,
    }
}

/// Deepest points of two boxes that overlap or touch; `None` where the axis has no witness of its own, as between boxes
/// that are a little apart corner to corner.
fn penetration(ha: DVec3, hb: DVec3, frame: &Frame, found: &Axes) -> Option<Separation> {
    if let Best::Edges(i, j) = found.best
        && let Some((separation, _)) = edge_contact(ha, hb, frame, found, i, j)
    {
        return Some(separation);
    }
    // A manifold without margin limit holds the deepest point of the clipped faces.
    let manifold = face_manifold(ha, hb, frame, found, f64::INFINITY);
    let (normal, distance) = (-found.out, found.gap);
    let deepest = manifold.deepest()?;
    let exact = deepest.separation <= distance + 1e-12 * (ha.max_element() + hb.max_element());
    let point_b = deepest.point_b;
    exact.then_some(Separation { distance, normal, point_a: point_b + distance * normal, point_b })
}

fn edge_contact(
    ha: DVec3,
    hb: DVec3,
    frame: &Frame,
    found: &Axes,
    i: usize,
    j: usize,
) -> Option<(Separation, [FeatureId; 2])> {
    // The edges farthest out along the axis on A, and against it on B.
    let mut pa = ha.copysign(found.out);
    let mut pb = hb.copysign(frame.back(-found.out));
    let bits = |p: DVec3, k: usize| {
        let sign = |axis: usize| u32::from(p[axis] > 0.0);
        4 * k as u32 + 2 * sign((k + 1) % 3) + sign((k + 2) % 3)
    };
    let features = [FeatureId::edge(bits(pa, i)), FeatureId::edge(bits(pb, j))];
    pa[i] = ha[i];
    pb[j] = hb[j];
    let (mut qa, mut qb) = (pa, pb);
    qa[i] = -ha[i];
    qb[j] = -hb[j];
    let flat = |x: DVec3| x - found.out.dot(x) * found.out;
    let [x, y] = [pb, qb].map(|p| flat(frame.point(p)));
    let (p, q) = segment_segment(flat(pa), flat(qa), x, y);
    // Apart, the axis may belong to edges that do not cross: then it is not the line of closest points.
    if (p - q).length() > 1e-10 * (ha.max_element() + hb.max_element()) {
        return None;
    }
    let (normal, distance) = (-found.out, found.gap);
    let point_a = 0.5 * (p + q) + found.out.dot(pa) * found.out;
    Some((Separation { distance, normal, point_a, point_b: point_a - distance * normal }, features))
}

/// Contacts along a face axis; along an edge axis, of the faces that face each other.
fn face_manifold(ha: DVec3, hb: DVec3, frame: &Frame, found: &Axes, margin: f64) -> Manifold {
    let mut manifold = Manifold::new(-found.out);
    match found.best {
        Best::FaceA(i) => {
            let sign = 1.0_f64.copysign(found.out[i]);
            for point in face_contacts(ha, hb, frame, i, sign, margin).in_a(true, frame) {
                manifold.push(point);
            }
        }
        Best::FaceB(j) => {
            let sign = -1.0_f64.copysign(frame.back(found.out)[j]);
            for point in face_contacts(hb, ha, &frame.inverse(), j, sign, margin).in_a(false, frame) {
                manifold.push(point);
            }
        }
        Best::Edges(..) => {
            let patch_a = Patch::of_cuboid(ha, found.out);
            let patch_b = moved(&Patch::of_cuboid(hb, frame.back(-found.out)), frame);
            let (none, size) = ([FeatureId::NONE; 2], ha.max_element() + hb.max_element());
            let nothing = Separation {
                distance: f64::INFINITY,
                normal: -found.out,
                point_a: DVec3::ZERO,
                point_b: DVec3::ZERO,
            };
            return sized_manifold::<4, 8, 10>(&patch_a, &patch_b, &nothing, none, margin, size);
        }
    }
    manifold
}

/// Contacts of two boxes up to `margin` metres apart along the best axis: at most four, with stable names.
///
/// Where the boxes are apart corner to corner the axis is not the line of closest points, and the gap along it is a
/// little less than the distance; such pairs are left to the general way.
#[must_use]
pub fn cuboid_cuboid_manifold(a: &Cuboid, b: &Cuboid, a_from_b: &Pose, margin: f64) -> Option<Manifold> {
    let frame = Frame::from_pose(a_from_b);
    let (ha, hb) = (a.half_extents(), b.half_extents());
    let found = axes(ha, hb, &frame, margin.max(0.0), STEADY);
    if found.gap > margin {
        return Some(Manifold::new(-found.out));
    }
    let size = ha.max_element() + hb.max_element();
    let solids = [Solid::Cuboid(ha), Solid::Cuboid(hb)];
    if !is_flush(&frame, found.best)
        && let Some(manifold) = touching_ridges(solids, &frame, -found.out, found.gap, [size, margin])
    {
        return Some(manifold);
    }
    let manifold = match found.best {
        Best::Edges(i, j) => {
            let (closest, features) = edge_contact(ha, hb, &frame, &found, i, j)?;
            let patch_a = Patch::of_cuboid(ha, found.out);
            let patch_b = moved(&Patch::of_cuboid(hb, frame.back(-found.out)), &frame);
            sized_manifold::<4, 8, 10>(&patch_a, &patch_b, &closest, features, margin, size)
        }
        _ => face_manifold(ha, hb, &frame, &found, margin),
    };
    let exact = manifold.deepest().is_some_and(|p| p.separation <= found.gap + 1e-9 * size);
    exact.then_some(manifold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{glam::DQuat, ops, testkit::SplitMix64};

    /// Two cards that lean on each other, `gap` metres apart, in any frame: the normal that is found in the world, and the one that symmetry asks for.
    fn leaning(theta: f64, gap: f64, frame: &Pose, order: bool) -> (DVec3, DVec3) {
        let card = Cuboid::new(DVec3::new(0.005, 0.4, 0.5)).unwrap();
        let (s, c) = ops::sin_cos(theta);
        let pose = |side: f64| {
            let x = side * (0.5 * s + 0.005 * c + 0.5 * gap);
            *frame * Pose::new(DVec3::new(x, 0.0, 0.0), DQuat::from_rotation_y(-side * theta))
        };
        let (a, b) = if order { (pose(1.0), pose(-1.0)) } else { (pose(-1.0), pose(1.0)) };
        let found = cuboid_cuboid_manifold(&card, &card, &a.inverse_mul(&b), 1e-3).unwrap();
        assert_eq!(found.points().len(), 2);
        assert!(found.points().iter().all(|p| (p.separation - gap).abs() < 1e-12));
        let expected = frame.transform_vector(if order { DVec3::X } else { DVec3::NEG_X });
        (a.transform_vector(found.normal), expected)
    }

    #[test]
    fn edges_that_touch_have_the_middle_normal() {
        let mut random = SplitMix64(3);
        for _ in 0..2000 {
            let frame = Pose::new(random.vec3(1.0), random.unit_quat());
            let theta = random.range(0.05, 0.7);
            let size = ops::exp(random.range(-28.0, -14.5));
            let gap = if random.below(4) == 0 { -size } else { size };
            let (found, expected) = leaning(theta, gap, &frame, random.below(2) == 0);
            assert!((found - expected).length() < 1e-6, "{theta} {gap:e}: {found} for {expected}");
        }
    }

    #[test]
    fn boxes_apart_hardly_ever_need_a_search() {
        let mut random = SplitMix64(9);
        let (mut apart, mut found) = (0, 0);
        for _ in 0..20_000 {
            let [ha, hb] = [0; 2].map(|_| DVec3::splat(0.1) + random.vec3(1.0).abs());
            let pose = Pose::new(random.vec3(4.0), random.unit_quat());
            let frame = Frame::from_pose(&pose);
            let axes = axes(ha, hb, &frame, touching(ha, hb), ROUNDING);
            if axes.gap <= 0.0 {
                continue;
            }
            apart += 1;
            let Some(closed) = closed_form(ha, hb, &frame, &axes) else { continue };
            found += 1;
            let [p, q] = [ha, hb].map(|h| Cuboid::new(h).unwrap());
            let slow = searched(&p, &q, &frame, -axes.out).unwrap();
            assert!((closed.distance - slow.distance).abs() < 1e-13, "{closed:?} {slow:?}");
            assert!((closed.normal - slow.normal).length() < 1e-9, "{closed:?} {slow:?}");
            assert!((closed.point_a - slow.point_a).length() < 1e-6, "{closed:?} {slow:?}");
        }
        assert!(apart > 10_000 && 1000 * found > 995 * apart, "{found} of {apart}");
    }
}
