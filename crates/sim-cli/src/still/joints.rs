//! Joints as lines: anchors, axes, limits, ropes, springs, curves, and what they bear.
//!
//! The page draws the same lines (`viewer/src/joints.js`).

use super::raster::Triangle;
use crate::look::Rgb;
use scene::recording::{AxisInfo, AxisMotion, BodyState, JointInfo, JointState, LineKind};
use sim_math::{Pose, glam::DVec3, ops};
use std::f64::consts::TAU;

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// The joint itself.
    Joint,
    /// A limit, or where it is between its limits.
    Limit,
    /// A limit that it is at, and a joint that broke.
    Alarm,
    /// A joint that does not act.
    Idle,
    /// The force that it bears.
    Reaction,
}

impl Tone {
    /// As `#rrggbb`, the same as in the page.
    pub(super) const fn color(self) -> &'static str {
        match self {
            Self::Joint => "#3454d1",
            Self::Limit => "#e09f1f",
            Self::Alarm => "#d7263d",
            Self::Idle => "#8a93a0",
            Self::Reaction => "#8e24aa",
        }
    }
}

/// A line through points, world, m.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stroke {
    pub(super) points: Vec<DVec3>,
    pub(super) tone: Tone,
    /// Half width, m.
    pub(super) width: f64,
}

/// How large things are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Size of the body in the middle of all sizes, m.
    pub(super) size: f64,
    /// Force whose arrow is one and a half sizes long, N; none are drawn if it is zero.
    pub(super) force: f64,
}

/// Lines of a joint between bodies with these states.
pub(super) fn strokes(
    joint: &JointInfo,
    load: Option<&JointState>,
    bodies: &[Option<BodyState>],
    scale: Scale,
) -> Vec<Stroke> {
    let place = |body: Option<u32>| match body {
        Some(body) => bodies.get(body as usize).copied().flatten().map(|state| state.pose),
        None => Some(Pose::IDENTITY),
    };
    let places: Option<Vec<Pose>> =
        joint.anchors.iter().map(|anchor| Some(place(anchor.body)? * anchor.frame)).collect();
    let (Some(places), Some(load)) = (places, load) else { return Vec::new() };
    let mut pen = Pen { size: scale.size, tone: Tone::Joint, out: Vec::new() };
    if !load.acts {
        pen.tone = if load.broken { Tone::Alarm } else { Tone::Idle };
    }
    for place in &places {
        pen.dot(place.translation);
    }
    // What broke holds no more: its ends are all there is of it.
    if load.broken {
        return pen.out;
    }
    pen.connection(joint.line, &places);
    let path = joint.path.iter().map(|p| places[0].transform_point(*p)).collect();
    pen.line(path, 0.018);
    for (k, axis) in joint.axes.iter().enumerate() {
        pen.axis(axis, &places, load.at_limits >> (2 * k));
    }
    let strength = load.force.length();
    if scale.force > 0.0 && strength > 1e-3 * scale.force {
        pen.tone = Tone::Reaction;
        let length = 1.5 * scale.size * (strength / scale.force).sqrt().min(2.0);
        pen.arrow(places[1].translation, load.force * (length / strength));
    }
    pen.out
}

/// Draws lines of one joint.
struct Pen {
    size: f64,
    tone: Tone,
    out: Vec<Stroke>,
}

impl Pen {
    /// A line whose half width is a share of the size.
    fn line(&mut self, points: Vec<DVec3>, width: f64) {
        self.toned(points, width, self.tone);
    }

    fn toned(&mut self, points: Vec<DVec3>, width: f64, tone: Tone) {
        if points.len() > 1 {
            self.out.push(Stroke { points, tone, width: width * self.size });
        }
    }

    fn dot(&mut self, at: DVec3) {
        let up = DVec3::Z * (0.05 * self.size);
        self.line(vec![at - up, at + up], 0.05);
    }

    fn connection(&mut self, line: LineKind, places: &[Pose]) {
        let points: Vec<DVec3> = places.iter().map(|place| place.translation).collect();
        match line {
            LineKind::None => {}
            LineKind::Bar => self.line(points, 0.035),
            LineKind::Rope => self.line(points, 0.018),
            LineKind::Coil => self.line(coil(points[0], points[1], 0.12 * self.size), 0.016),
        }
    }

    fn axis(&mut self, axis: &AxisInfo, places: &[Pose], at_limits: u32) {
        let place = &places[axis.anchor as usize];
        let along = place.transform_vector(axis.direction);
        let middle = place.translation;
        let reach = 0.55 * self.size;
        let tone = |bit: u32| if at_limits & bit != 0 { Tone::Alarm } else { Tone::Limit };
        let ends = [(axis.low, tone(1)), (axis.high, tone(2))];
        match axis.motion {
            AxisMotion::Turn => {
                self.line(vec![middle - along * reach, middle + along * reach], 0.016);
                let zero = place.transform_vector(across(axis.direction));
                let at = |angle: f64, radius: f64| {
                    let (s, c) = ops::sin_cos(angle);
                    middle + (zero * c + along.cross(zero) * s) * (radius * self.size)
                };
                let arc = axis.low.zip(axis.high).map(|(low, high)| {
                    let span = (high - low).min(TAU);
                    (0..=32).map(|k| at(low + span * f64::from(k) / 32.0, 0.45)).collect()
                });
                let spokes: Vec<_> = ends
                    .iter()
                    .filter_map(|(value, tone)| Some((vec![at((*value)?, 0.15), at((*value)?, 0.5)], *tone)))
                    .collect();
                self.toned(arc.unwrap_or_default(), 0.014, Tone::Limit);
                if let (false, 0, Some(other)) = (spokes.is_empty(), axis.anchor, places.get(1)) {
                    let hand = other.transform_vector(across(axis.direction)).reject_from_normalized(along);
                    let tip = middle + hand.normalize_or_zero() * (0.45 * self.size);
                    self.line(vec![middle, tip], 0.016);
                }
                spokes.into_iter().for_each(|(points, tone)| self.toned(points, 0.02, tone));
            }
            AxisMotion::Shift => {
                let [low, high] = [(axis.low, -reach), (axis.high, reach)].map(|(v, free)| v.unwrap_or(free));
                self.line(vec![middle + along * low, middle + along * high], 0.016);
                let side = place.transform_vector(across(axis.direction)) * (0.15 * self.size);
                for (value, tone) in ends {
                    let Some(value) = value else { continue };
                    let at = middle + along * value;
                    self.toned(vec![at - side, at + side], 0.02, tone);
                }
            }
            AxisMotion::Swing => {
                let Some(high) = axis.high else { return };
                let zero = place.transform_vector(across(axis.direction));
                let (sin, cos) = ops::sin_cos(high);
                let rim = (0..=32).map(|k| {
                    let (s, c) = ops::sin_cos(TAU * f64::from(k) / 32.0);
                    let side = zero * c + along.cross(zero) * s;
                    middle + (along * cos + side * sin) * (0.5 * self.size)
                });
                self.toned(rim.collect(), 0.014, tone(2));
                if let Some(other) = places.get(1) {
                    let hand = other.transform_vector(axis.direction);
                    self.line(vec![middle, middle + hand * (0.5 * self.size)], 0.016);
                }
            }
        }
    }

    fn arrow(&mut self, from: DVec3, along: DVec3) {
        let tip = from + along;
        let side =
            along.any_orthogonal_vector().normalize_or_zero() * (0.25 * along.length()).min(0.15 * self.size);
        let back = tip - along.normalize_or_zero() * (1.6 * side.length());
        self.line(vec![from, tip], 0.03);
        self.line(vec![back + side, tip, back - side], 0.03);
    }
}

/// The unit vector in which an angle about an axis is zero: the next of x, y and z.
fn across(direction: DVec3) -> DVec3 {
    let next = DVec3::new(direction.z, direction.x, direction.y);
    next.reject_from_normalized(direction)
        .try_normalize()
        .unwrap_or_else(|| direction.any_orthonormal_vector())
}

/// A coil between two points, m.
fn coil(from: DVec3, to: DVec3, radius: f64) -> Vec<DVec3> {
    let Some(along) = (to - from).try_normalize() else { return Vec::new() };
    let (u, v) = along.any_orthonormal_pair();
    let (turns, parts) = (8, 96);
    let point = |k: u32| {
        let share = f64::from(k) / f64::from(parts);
        let (s, c) = ops::sin_cos(TAU * f64::from(turns) * share);
        // Straight at both ends.
        let wide = radius * (share.min(1.0 - share) * 10.0).min(1.0);
        from + (to - from) * share + (u * c + v * s) * wide
    };
    (0..=parts).map(point).collect()
}

/// A line as a chain of prisms.
pub(super) fn add_stroke(out: &mut Vec<Triangle>, stroke: &Stroke, color: Rgb) {
    const SIDES: usize = 6;
    for ends in stroke.points.windows(2) {
        let Some(along) = (ends[1] - ends[0]).try_normalize() else { continue };
        let (u, v) = along.any_orthonormal_pair();
        let rim: [DVec3; SIDES] = std::array::from_fn(|k| {
            let (s, c) = ops::sin_cos(TAU * k as f64 / SIDES as f64);
            u * c + v * s
        });
        for k in 0..SIDES {
            let [a, b] = [rim[k], rim[(k + 1) % SIDES]];
            let [p, q, r, s] = [(0, a), (0, b), (1, b), (1, a)]
                .map(|(end, out): (usize, DVec3)| ends[end] + out * stroke.width);
            for (corners, normals) in [([p, q, r], [a, b, b]), ([p, r, s], [a, b, a])] {
                out.push(Triangle { corners, normals, color, two_sided: true });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scene::recording::AnchorInfo;
    use sim_math::glam::DQuat;

    fn hinge(low: f64, high: f64) -> JointInfo {
        let anchor = |body| AnchorInfo { body, frame: Pose::from_translation(DVec3::X) };
        let axis = AxisInfo {
            anchor: 0,
            direction: DVec3::Z,
            motion: AxisMotion::Turn,
            low: Some(low),
            high: Some(high),
        };
        JointInfo {
            name: "door".into(),
            kind: "hinge".into(),
            anchors: vec![anchor(None), anchor(Some(0))],
            axes: vec![axis],
            line: LineKind::None,
            path: Vec::new(),
        }
    }

    const SCALE: Scale = Scale { size: 1.0, force: 1.0 };

    #[test]
    fn the_hand_of_a_hinge_stands_at_its_angle_and_the_arc_ends_at_its_limits() {
        let angle = 0.4;
        let pose = Pose::new(DVec3::ZERO, DQuat::from_rotation_z(angle));
        let bodies = [Some(BodyState { pose, ..BodyState::default() })];
        let load = JointState { acts: true, at_limits: 2, ..JointState::default() };
        let strokes = strokes(&hinge(-0.5, 1.0), Some(&load), &bodies, SCALE);
        let at =
            |angle: f64, radius: f64| DVec3::X + DVec3::new(ops::cos(angle), ops::sin(angle), 0.0) * radius;
        let ends =
            |end: DVec3| strokes.iter().find(|s| s.points.last().is_some_and(|p| p.distance(end) < 1e-12));
        assert_eq!(ends(at(angle, 0.45)).unwrap().tone, Tone::Joint);
        assert_eq!(ends(at(1.0, 0.45)).unwrap().points.len(), 33);
        assert_eq!(ends(at(-0.5, 0.5)).unwrap().tone, Tone::Limit);
        assert_eq!(ends(at(1.0, 0.5)).unwrap().tone, Tone::Alarm);
    }

    #[test]
    fn forces_are_arrows_and_what_is_broken_or_gone_is_not_drawn() {
        let (bodies, joint) = ([Some(BodyState::default())], hinge(-1.0, 1.0));
        let load = JointState { acts: true, force: DVec3::Z, ..JointState::default() };
        let drawn = strokes(&joint, Some(&load), &bodies, SCALE);
        let arrow = drawn.iter().find(|s| s.tone == Tone::Reaction).unwrap();
        assert_eq!(arrow.points, [DVec3::X, DVec3::X + DVec3::Z * 1.5]);
        let none = strokes(&joint, Some(&load), &bodies, Scale { force: 0.0, ..SCALE });
        assert!(none.iter().all(|s| s.tone != Tone::Reaction));
        let broken = JointState { broken: true, ..JointState::default() };
        let drawn = strokes(&joint, Some(&broken), &bodies, SCALE);
        assert!(drawn.len() == 2 && drawn.iter().all(|s| s.tone == Tone::Alarm), "only its anchors");
        assert!(strokes(&joint, Some(&load), &[None], SCALE).is_empty());
        assert!(strokes(&joint, None, &bodies, SCALE).is_empty());
    }
}
