//! Joints and springs of a run as a recording has them.

use scene::{
    lower::Setup,
    recording::{AnchorInfo, AxisInfo, AxisMotion, JointInfo, JointState, LineKind},
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{
    BodyId, JointId,
    joint::{JointAxis, JointKind, JointModel},
};
use sim_world::{Anchor, ForceGenerator, ForceId, World};

/// Pieces of a curve in a picture.
const PIECES: u32 = 96;
/// How much of a curve without ends is drawn to either side, in units of its parameter.
const SHOWN: f64 = 5.0;

/// Where the loads of a recorded joint come from.
#[derive(Debug)]
enum Source {
    /// A joint, and which of its free axes are recorded, in their order.
    Joint(JointId, Vec<usize>),
    /// A spring between two points.
    Spring(ForceId),
}

/// The joints of a recording, in its order.
#[derive(Debug, Default)]
pub(super) struct Joints(Vec<Source>);

impl Joints {
    /// Joints and springs that are there at the start, with how they are drawn. `place` gives the number of a body in the recording.
    pub(super) fn of(setup: &Setup, place: &dyn Fn(BodyId) -> Option<u32>) -> (Self, Vec<JointInfo>) {
        let (world, mut sources, mut infos) = (&setup.world, Vec::new(), Vec::new());
        for (id, joint) in world.joints() {
            let model = joint.model();
            let anchors = model.anchors.iter().map(|anchor| {
                let body =
                    if anchor.is_world() { None } else { Some(*joint.bodies().get(anchor.body as usize)?) };
                anchor_of(body, anchor.frame, place)
            });
            let Some(anchors) = anchors.collect::<Option<Vec<_>>>() else { continue };
            let name = setup.joints.iter().find(|j| j.id == id).map(|j| j.name.clone());
            let axes = axes(model);
            infos.push(JointInfo {
                name: name.unwrap_or_else(|| format!("joint {}", id.index())),
                kind: model.kind.name().to_owned(),
                anchors,
                axes: axes.iter().map(|(_, axis)| axis.clone()).collect(),
                line: line(model),
                path: path(&model.kind),
            });
            sources.push(Source::Joint(id, axes.iter().filter_map(|(k, _)| *k).collect()));
        }
        for (id, force) in world.forces() {
            let ForceGenerator::Spring { a, b, .. } = force else { continue };
            let end = |anchor: &Anchor| match *anchor {
                Anchor::World(point) => anchor_of(None, Pose::from_translation(point), place),
                Anchor::Body(body, point) => {
                    let from_user = world.get(body)?.model().user_from_body().inverse();
                    anchor_of(Some(body), Pose::from_translation(from_user.transform_point(point)), place)
                }
            };
            let (Some(a), Some(b)) = (end(a), end(b)) else { continue };
            infos.push(JointInfo {
                name: format!("spring {}", infos.len()),
                kind: "spring".to_owned(),
                anchors: vec![a, b],
                axes: Vec::new(),
                line: LineKind::Coil,
                path: Vec::new(),
            });
            sources.push(Source::Spring(id));
        }
        (Self(sources), infos)
    }

    /// What they bear now.
    pub(super) fn states(&self, world: &World) -> Vec<Option<JointState>> {
        let state = |source: &Source| match source {
            Source::Joint(id, axes) => joint_state(world, *id, axes),
            Source::Spring(id) => {
                let (_, force) = world.forces().find(|(other, _)| other == id)?;
                Some(JointState { acts: true, force: pull(world, force)?, ..JointState::default() })
            }
        };
        self.0.iter().map(state).collect()
    }
}

fn anchor_of(body: Option<BodyId>, frame: Pose, place: &dyn Fn(BodyId) -> Option<u32>) -> Option<AnchorInfo> {
    let body = match body {
        Some(body) => Some(place(body)?),
        None => None,
    };
    Some(AnchorInfo { body, frame: frame.renormalized() })
}

fn joint_state(world: &World, id: JointId, axes: &[usize]) -> Option<JointState> {
    let joint = world.joint(id).ok()?;
    let reaction = joint.reaction();
    let at = |(k, axis): (usize, &usize)| {
        u32::from(joint.is_at_limit(*axis, false)) << (2 * k)
            | u32::from(joint.is_at_limit(*axis, true)) << (2 * k + 1)
    };
    Some(JointState {
        acts: joint.is_active(),
        broken: joint.is_broken(),
        at_limits: axes.iter().enumerate().map(at).fold(0, |all, bits| all | bits),
        force: reaction.linear,
        torque: reaction.moment,
    })
}

/// Force of a spring on its second end, N.
fn pull(world: &World, force: &ForceGenerator) -> Option<DVec3> {
    let ForceGenerator::Spring { a, b, stiffness, damping, rest_length } = force else { return None };
    let end = |anchor: &Anchor| match *anchor {
        Anchor::World(point) => Some((point, DVec3::ZERO)),
        Anchor::Body(body, point) => {
            let body = world.get(body)?;
            let point = body.user_pose().transform_point(point);
            Some((point, body.velocity_at(point)))
        }
    };
    let ((p, v), (q, u)) = (end(a)?, end(b)?);
    let line = (q - p).try_normalize()?;
    Some(-line * (stiffness * ((q - p).length() - rest_length) + damping * (u - v).dot(line)))
}

/// The free axes that can be drawn, with their numbers in the joint if they are settings of it.
fn axes(model: &JointModel) -> Vec<(Option<usize>, AxisInfo)> {
    use AxisMotion::{Shift, Swing, Turn};
    let all = [DVec3::X, DVec3::Y, DVec3::Z];
    let of = |motion, k: usize, direction| (Some(k), 0, direction, motion);
    let axes: Vec<(Option<usize>, u32, DVec3, AxisMotion)> = match &model.kind {
        JointKind::Hinge | JointKind::Screw { .. } => vec![of(Turn, 0, DVec3::Z)],
        JointKind::Slider => vec![of(Shift, 0, DVec3::Z)],
        JointKind::Cylindrical => vec![of(Turn, 0, DVec3::Z), of(Shift, 1, DVec3::Z)],
        JointKind::Universal => vec![of(Turn, 0, DVec3::Z), (Some(1), 1, DVec3::Z, Turn)],
        JointKind::Ball { .. } => vec![of(Swing, 0, DVec3::Z), of(Turn, 1, DVec3::Z)],
        JointKind::Planar => {
            vec![of(Shift, 0, DVec3::X), of(Shift, 1, DVec3::Y), of(Turn, 2, DVec3::Z)]
        }
        JointKind::Orientation => (0..3).map(|k| of(Shift, k, all[k])).collect(),
        JointKind::SixAxis => {
            let motion = |k| if k < 3 { Shift } else { Turn };
            (0..6).map(|k| of(motion(k), k, all[k % 3])).collect()
        }
        JointKind::Gear { .. } => vec![(None, 1, DVec3::Z, Turn), (None, 3, DVec3::Z, Turn)],
        JointKind::RackAndPinion { .. } => vec![(None, 1, DVec3::Z, Turn), (None, 3, DVec3::Z, Shift)],
        JointKind::Wheel { .. } => vec![(None, 1, DVec3::Z, Turn)],
        _ => Vec::new(),
    };
    let setting = |k: Option<usize>| k.and_then(|k| model.axes.get(k)).copied().unwrap_or_default();
    let finite = |value: f64| Some(value).filter(|v| v.is_finite());
    let mut out = Vec::new();
    for (k, anchor, direction, motion) in axes {
        let JointAxis { limits, locked, .. } = setting(k);
        if !locked {
            let [low, high] = limits.map_or([None; 2], |l| [finite(l.low), finite(l.high)]);
            out.push((k, AxisInfo { anchor, direction, motion, low, high }));
        }
    }
    out
}

fn line(model: &JointModel) -> LineKind {
    let springs = |(k, axis): (usize, &JointAxis)| axis.spring.is_some() && !model.kind.is_angle(k);
    match &model.kind {
        JointKind::Distance { .. } | JointKind::MultiBar { .. } => LineKind::Bar,
        JointKind::Rope { .. } | JointKind::MultiRope { .. } => LineKind::Rope,
        _ if model.axes.iter().enumerate().any(springs) => LineKind::Coil,
        _ => LineKind::None,
    }
}

/// Points of a curve.
fn path(kind: &JointKind) -> Vec<DVec3> {
    let JointKind::Curve { curve } = kind else { return Vec::new() };
    let domain = curve.get().domain();
    let start = if domain.start.is_finite() { domain.start } else { domain.end.min(SHOWN) - 2.0 * SHOWN };
    let end = if domain.end.is_finite() { domain.end } else { start + 2.0 * SHOWN };
    let at = |k: u32| curve.get().point(start + (end - start) * f64::from(k) / f64::from(PIECES));
    (0..=PIECES).map(at).filter(|p| p.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        commands::run::recording_of,
        still::{StillParams, render},
    };
    use scene::{Recording, recording::LineKind};

    /// The scene of the test of the page.
    fn recording(until: f64) -> Recording {
        let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/viewer/test/joints.ron");
        recording_of(scene, Some(until)).unwrap()
    }

    fn number(recording: &Recording, name: &str) -> usize {
        recording.joints().iter().position(|j| j.name == name).unwrap()
    }

    #[test]
    fn every_kind_is_listed_with_what_is_drawn_of_it() {
        let recording = recording(0.0);
        let kinds: Vec<&str> = recording.joints().iter().map(|j| j.kind.as_str()).collect();
        assert_eq!(kinds, ["hinge", "ball", "slider", "distance", "multirope", "curve", "weld", "spring"]);
        let lines: Vec<LineKind> = recording.joints().iter().map(|j| j.line).collect();
        let (none, bar, rope, coil) = (LineKind::None, LineKind::Bar, LineKind::Rope, LineKind::Coil);
        assert_eq!(lines, [none, none, coil, bar, rope, none, none, coil]);
        let hinge = &recording.joints()[0].axes[0];
        let limits = [hinge.low, hinge.high].map(|limit| limit.unwrap().to_degrees());
        assert!((limits[0] + 70.0).abs() < 1e-9 && (limits[1] - 30.0).abs() < 1e-9, "{limits:?}");
        assert_eq!(recording.joints()[4].anchors.iter().filter(|a| a.body.is_some()).count(), 4);
        // The wire is a circle around its middle.
        let wire = &recording.joints()[5];
        let start = wire.anchors[0].frame;
        for point in &wire.path {
            let at = start.transform_point(*point);
            let middle = sim_math::glam::DVec3::new(0.7, -0.8, 0.9);
            assert!((at.distance(middle) - 0.4).abs() < 1e-9 && (at.y + 0.8).abs() < 1e-9, "{at}");
        }
    }

    #[test]
    fn what_is_borne_is_recorded_and_what_broke_is_said_to_be_broken() {
        let mut recording = recording(2.0);
        let [weak, spring, hinge] = ["weak", "spring 7", "hinge"].map(|name| number(&recording, name));
        let steps = recording.header().steps;
        let first = recording.frame(0).unwrap().clone();
        assert!(first.joints.iter().flatten().all(|load| load.acts && !load.broken));
        let mut at_limit = false;
        for k in 0..recording.len() {
            let frame = recording.frame(k).unwrap();
            at_limit |= frame.joints[hinge].unwrap().at_limits != 0;
            // The spring's force is along it, and its damper is weak: near stiffness times stretch.
            let ball = frame.bodies[8].unwrap();
            let stretch = 1.8 - ball.pose.translation.z - 0.5;
            let force = frame.joints[spring].unwrap().force;
            let expected = 60.0 * stretch - 0.2 * ball.velocity.z;
            let slack = steps.force + 60.0 * steps.position + 0.2 * steps.velocity;
            assert!((force.z - expected).abs() < slack, "frame {k}: {force} is not {expected}");
        }
        assert!(at_limit, "the door falls to its limit");
        let last = recording.frame(recording.len() - 1).unwrap();
        let load = last.joints[weak].unwrap();
        assert!(load.broken && !load.acts, "the plank is too heavy for its weld");
    }

    #[test]
    fn a_picture_shows_joints_and_what_they_bear_as_it_is_asked_to() {
        let mut recording = recording(1.0);
        let base = StillParams { time: 1.0, width: 480, height: 270, ..StillParams::default() };
        let mut count = |params: &StillParams, near: [u8; 3]| {
            let pixels = render(&mut recording, params).unwrap();
            let close = |p: &&[u8]| p.iter().zip(near).all(|(a, b)| a.abs_diff(b) < 12);
            pixels.chunks_exact(3).filter(close).count()
        };
        let (blue, purple) = ([0x34, 0x54, 0xd1], [0x8e, 0x24, 0xaa]);
        assert_eq!(count(&StillParams { joints: false, ..base }, blue), 0);
        assert!(count(&base, blue) > 300);
        assert_eq!(count(&base, purple), 0);
        assert!(count(&StillParams { reactions: true, ..base }, purple) > 50);
    }
}
