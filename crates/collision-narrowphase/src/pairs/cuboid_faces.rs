//! Contacts of two boxes along a face: a quadrilateral clipped by a rectangle, in the rectangle's own coordinates.
//!
//! # Reference
//! Sutherland and Hodgman 1974, with the sides parallel to the axes.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `x`, `y` | coordinates in the reference face |
//! | `h` | height of the incident point above the reference face, metres |
//! | `corner`, `edge` | which corner of the quadrilateral a point is; what its outgoing edge lies on |
//!
//! # Formula
//! ```text
//! keep |x| ≤ half_x, |y| ≤ half_y, h ≤ margin;  of more than four keep the deepest and the largest area
//! ```
//!
//! # Cost
//! Four sides times at most eight points, two flops each where nothing is cut. No allocation.
//!
//! # Numerics
//! Points on a side are kept.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `box_manifolds_agree_with_general_ones`, `names_stay_while_boxes_slide_and_turn`

use crate::relative::Frame;
use sim_math::glam::DVec3;
use sim_traits::{ContactPoint, FeatureId};

const NONE: u8 = 8;
/// Names of edges from here on are sides of the reference face.
const SIDE: u8 = 4;

#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
    h: f64,
    corner: u8,
    edge: u8,
}

const EMPTY: Point = Point { x: 0.0, y: 0.0, h: 0.0, corner: NONE, edge: 0 };

/// Up to eight points.
struct List {
    points: [Point; 8],
    len: usize,
}

/// Contacts in the reference box's frame, with the features of reference and incident box.
pub(super) struct Contacts {
    points: [(DVec3, DVec3, f64, [FeatureId; 2]); 4],
    len: usize,
}

impl Contacts {
    pub(super) fn iter(&self) -> impl Iterator<Item = &(DVec3, DVec3, f64, [FeatureId; 2])> {
        self.points[..self.len].iter()
    }

    /// As contact points in A's frame: `by_a` tells that A is the reference box.
    pub(super) fn in_a(&self, by_a: bool, a_from_b: &Frame) -> impl Iterator<Item = ContactPoint> {
        self.iter().map(move |&(reference, incident, separation, features)| {
            if by_a {
                ContactPoint { point_a: reference, point_b: incident, separation, features }
            } else {
                let [point_a, point_b] = [incident, reference].map(|p| a_from_b.point(p));
                ContactPoint { point_a, point_b, separation, features: [features[1], features[0]] }
            }
        })
    }
}

#[inline]
fn next(axis: usize) -> usize {
    if axis == 2 { 0 } else { axis + 1 }
}

#[inline]
fn bit(x: f64) -> u32 {
    u32::from(x > 0.0)
}

/// Cuts by one side: `height` is positive outside.
#[inline(always)]
fn cut(list: &mut List, side: u8, height: impl Fn(&Point) -> f64) {
    let n = list.len;
    let mut heights = [0.0; 8];
    let mut outside = 0;
    for (h, p) in heights.iter_mut().zip(&list.points[..n]) {
        *h = height(p);
        outside += usize::from(*h > 0.0);
    }
    if outside == 0 {
        return;
    }
    let old = list.points;
    let mut len = 0;
    let mut push = |p: Point| {
        if let Some(slot) = list.points.get_mut(len) {
            *slot = p;
            len += 1;
        }
    };
    for i in 0..n.min(8) {
        let j = if i + 1 == n { 0 } else { i + 1 };
        let (p, q, hp, hq) = (&old[i], &old[j], heights[i], heights[j]);
        if hp <= 0.0 {
            // A corner exactly on the side from which the polygon leaves runs along the side.
            let edge = if hp == 0.0 && hq > 0.0 { side } else { p.edge };
            push(Point { edge, ..*p });
        }
        if (hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0) {
            let (a, b, ha, hb) = if hp < 0.0 { (p, q, hp, hq) } else { (q, p, hq, hp) };
            let t = ha / (ha - hb);
            push(Point {
                x: a.x + t * (b.x - a.x),
                y: a.y + t * (b.y - a.y),
                h: a.h + t * (b.h - a.h),
                corner: NONE,
                edge: if hp < 0.0 { side } else { p.edge },
            });
        }
    }
    list.len = len;
}

/// Contacts between face `axis` (sign `sign`) of the reference box and the face of the incident box that faces it.
/// `frame` maps the incident box's frame to the reference box's.
#[inline]
pub(super) fn face_contacts(
    reference: DVec3,
    incident: DVec3,
    frame: &Frame,
    axis: usize,
    sign: f64,
    margin: f64,
) -> Contacts {
    let (u, v) = (next(axis), next(next(axis)));
    let columns = [frame.rotation.x_axis, frame.rotation.y_axis, frame.rotation.z_axis];
    let along = [0, 1, 2].map(|j: usize| columns[j][axis].abs());
    let j = if along[0] >= along[1] && along[0] >= along[2] {
        0
    } else if along[1] >= along[2] {
        1
    } else {
        2
    };
    let (j1, j2) = (next(j), next(next(j)));
    let facing = -sign * 1.0_f64.copysign(columns[j][axis]);
    let center = frame.translation + facing * incident[j] * columns[j];
    let (e1, e2) = (incident[j1] * columns[j1], incident[j2] * columns[j2]);
    let signs = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    let mut list = List { points: [EMPTY; 8], len: 4 };
    for (k, (s1, s2)) in signs.into_iter().enumerate() {
        let p = center + s1 * e1 + s2 * e2;
        let h = sign * p[axis] - reference[axis];
        list.points[k] = Point { x: p[u], y: p[v], h, corner: k as u8, edge: k as u8 };
    }
    let (hx, hy) = (reference[u], reference[v]);
    cut(&mut list, SIDE, |p| p.x - hx);
    cut(&mut list, SIDE + 1, |p| -p.x - hx);
    cut(&mut list, SIDE + 2, |p| p.y - hy);
    cut(&mut list, SIDE + 3, |p| -p.y - hy);

    let before = |k: usize| list.points[if k == 0 { list.len - 1 } else { k - 1 }].edge;
    let name = |k: usize| {
        let p = &list.points[k];
        let vertex = |s1: f64, s2: f64| (bit(facing) << j) + (bit(s1) << j1) + (bit(s2) << j2);
        // Edge k of the quadrilateral: along j1 for even k, along j2 for odd.
        let incident_edge = |e: u8| {
            let (s1, s2) = signs[usize::from(e)];
            if e % 2 == 0 {
                4 * j1 as u32 + 2 * bit(s2) + bit(facing)
            } else {
                4 * j2 as u32 + 2 * bit(facing) + bit(s1)
            }
        };
        let side_sign = |s: u8| if s % 2 == 0 { 1.0 } else { -1.0 };
        let reference_edge = |s: u8| {
            if s < SIDE + 2 {
                4 * v as u32 + 2 * bit(sign) + bit(side_sign(s))
            } else {
                4 * u as u32 + 2 * bit(side_sign(s)) + bit(sign)
            }
        };
        let faces = [2 * axis as u32 + bit(sign), 2 * j as u32 + bit(facing)];
        if p.corner != NONE {
            let (s1, s2) = signs[usize::from(p.corner)];
            return [FeatureId::face(faces[0]), FeatureId::vertex(vertex(s1, s2))];
        }
        match (before(k) >= SIDE, p.edge >= SIDE) {
            (true, true) => {
                let (x, y) = (bit(p.x) << u, bit(p.y) << v);
                [FeatureId::vertex((bit(sign) << axis) + x + y), FeatureId::face(faces[1])]
            }
            (true, false) => {
                [FeatureId::edge(reference_edge(before(k))), FeatureId::edge(incident_edge(p.edge))]
            }
            (false, true) => {
                [FeatureId::edge(reference_edge(p.edge)), FeatureId::edge(incident_edge(before(k)))]
            }
            (false, false) => [FeatureId::face(faces[0]), FeatureId::edge(incident_edge(p.edge))],
        }
    };

    let mut contacts =
        Contacts { points: [(DVec3::ZERO, DVec3::ZERO, 0.0, [FeatureId::NONE; 2]); 4], len: 0 };
    for k in choose(&list, margin).into_iter().flatten() {
        let p = &list.points[k];
        let mut on_reference = DVec3::ZERO;
        (on_reference[u], on_reference[v], on_reference[axis]) = (p.x, p.y, sign * reference[axis]);
        let mut on_incident = on_reference;
        on_incident[axis] += sign * p.h;
        contacts.points[contacts.len] = (on_reference, on_incident, p.h, name(k));
        contacts.len += 1;
    }
    contacts
}

/// At most four points within the margin: the deepest, the farthest from it, and the largest area to both sides.
#[inline]
fn choose(list: &List, margin: f64) -> [Option<usize>; 4] {
    let mut kept = [0_usize; 8];
    let mut count = 0;
    for (k, p) in list.points[..list.len].iter().enumerate() {
        if p.h <= margin {
            kept[count] = k;
            count += 1;
        }
    }
    if count <= 4 {
        let mut all = [None; 4];
        for (slot, k) in all.iter_mut().zip(&kept[..count]) {
            *slot = Some(*k);
        }
        return all;
    }
    let p = |k: usize| &list.points[k];
    let best = |score: &dyn Fn(usize) -> f64| {
        let mut found = (kept[0], f64::NEG_INFINITY);
        for &k in &kept[..count] {
            let s = score(k);
            if s > found.1 {
                found = (k, s);
            }
        }
        found.0
    };
    let first = best(&|k| -p(k).h);
    let (x0, y0) = (p(first).x, p(first).y);
    let second = best(&|k| (p(k).x - x0) * (p(k).x - x0) + (p(k).y - y0) * (p(k).y - y0));
    let (dx, dy) = (p(second).x - x0, p(second).y - y0);
    let side = |k: usize| dx * (p(k).y - y0) - dy * (p(k).x - x0);
    let (left, right) = (best(&side), best(&|k| -side(k)));
    // Both extreme sides count only if they are on their side: the polygon is convex and has five corners or more.
    let worth = 1e-6 * (dx * dx + dy * dy);
    [Some(first), Some(second), (side(left) > worth).then_some(left), (-side(right) > worth).then_some(right)]
}
