//! Joints in a recording: how they are drawn, and what they bear in each frame.
//!
//! What does not change is listed once, in terms that a picture needs: anchors, free axes with their limits, a line or a path.
//! So a reader draws every kind of joint without knowing it. What changes is in a record of its own beside the motion of a piece.

use super::MAX_STATES;
use super::bytes::{Plane, put_signed, put_varint};
use super::error::{RecordingError, invalid};
use super::model::Steps;
use serde::{Deserialize, Serialize};
use sim_math::{Pose, glam::DVec3};

/// A joint or spring as it is listed; what it bears is in the frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JointInfo {
    /// Name, for people.
    pub name: String,
    /// Kind, for people: `hinge`, `rope`, `spring` and so on.
    pub kind: String,
    /// Frames that it holds together: two or more.
    pub anchors: Vec<AnchorInfo>,
    /// Free axes that can be drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<AxisInfo>,
    /// What is drawn from anchor to anchor.
    #[serde(default, skip_serializing_if = "LineKind::is_none")]
    pub line: LineKind,
    /// Points of a curve that the second anchor is led by, in the frame of the first, m.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<DVec3>,
}

/// A frame on a body, or in the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnchorInfo {
    /// Index of the body; the world if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<u32>,
    /// In the frame of the body, or in the world. Its z axis is that of the joint.
    #[serde(default)]
    pub frame: Pose,
}

/// How a free axis moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisMotion {
    /// About the axis, rad.
    Turn,
    /// Along the axis, m.
    Shift,
    /// Away from the axis, in any direction, rad.
    Swing,
}

/// A free axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AxisInfo {
    /// Which of the joint's anchors it is fixed to.
    #[serde(default)]
    pub anchor: u32,
    /// Unit vector in the frame of that anchor.
    pub direction: DVec3,
    /// How it moves.
    pub motion: AxisMotion,
    /// Least value; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Greatest value; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// What is drawn through the anchors, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// Nothing.
    #[default]
    None,
    /// A straight bar.
    Bar,
    /// A thin rope.
    Rope,
    /// A coil.
    Coil,
}

impl LineKind {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// What a joint does in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointState {
    /// It acts: it is enabled and not broken.
    pub acts: bool,
    /// It broke under its load.
    pub broken: bool,
    /// Bit 2 k for the lower limit of [`JointInfo::axes`] k, bit 2 k + 1 for the upper: those it is at.
    pub at_limits: u32,
    /// Force on the body of the second anchor, at that anchor, N, world axes.
    pub force: DVec3,
    /// Torque on it, N·m, world axes.
    pub torque: DVec3,
}

impl JointInfo {
    pub(super) fn validate(&self, item: &str, bodies: usize) -> Result<(), RecordingError> {
        if self.anchors.len() < 2 {
            let what = format!("at least 2, got {}", self.anchors.len());
            return Err(invalid(format!("{item}.anchors"), what));
        }
        for (i, anchor) in self.anchors.iter().enumerate() {
            if let Some(body) = anchor.body.filter(|&b| b as usize >= bodies) {
                return Err(invalid(format!("{item}.anchors[{i}]"), format!("body {body} of {bodies}")));
            }
            let frame = anchor.frame;
            if !frame.is_finite() || (frame.rotation.length() - 1.0).abs() > 1e-6 {
                let what = format!("must be finite with a unit rotation, got {frame:?}");
                return Err(invalid(format!("{item}.anchors[{i}].frame"), what));
            }
        }
        if self.axes.len() > 6 {
            return Err(invalid(format!("{item}.axes"), format!("at most 6, got {}", self.axes.len())));
        }
        for (i, axis) in self.axes.iter().enumerate() {
            let item = format!("{item}.axes[{i}]");
            if axis.anchor as usize >= self.anchors.len() {
                let what = format!("anchor {} of {}", axis.anchor, self.anchors.len());
                return Err(invalid(item, what));
            }
            if !axis.direction.is_finite() || (axis.direction.length() - 1.0).abs() > 1e-6 {
                let what = format!("must be a unit vector, got {}", axis.direction);
                return Err(invalid(format!("{item}.direction"), what));
            }
            if let Some(value) = [axis.low, axis.high].into_iter().flatten().find(|v| !v.is_finite()) {
                return Err(invalid(item, format!("limits must be finite, got {value}")));
            }
        }
        if let Some(point) = self.path.iter().find(|p| !p.is_finite()) {
            return Err(invalid(format!("{item}.path"), format!("must be finite, got {point}")));
        }
        Ok(())
    }
}

/// Mode, limits, force and torque.
const PLANES: usize = 8;
/// Bits of the mode.
const PRESENT: u8 = 1;
const ACTS: u8 = 2;
const BROKEN: u8 = 4;

/// A state as whole numbers.
#[derive(Debug, Clone, Copy)]
struct Whole {
    mode: u8,
    at_limits: u32,
    load: [i64; 6],
}

impl Whole {
    /// `None` if a number is not finite or too large for its step.
    fn of(state: &JointState, steps: &Steps) -> Option<Self> {
        let step = |k: usize| if k < 3 { steps.force } else { steps.torque };
        let values = [state.force.to_array(), state.torque.to_array()].concat();
        let mut load = [0; 6];
        for (k, (whole, value)) in load.iter_mut().zip(values).enumerate() {
            let steps = (value / step(k)).round();
            *whole = (steps.abs() < 4_503_599_627_370_496.0).then_some(steps as i64)?;
        }
        let mode = PRESENT | if state.acts { ACTS } else { 0 } | if state.broken { BROKEN } else { 0 };
        Some(Self { mode, at_limits: state.at_limits, load })
    }

    fn state(&self, steps: &Steps) -> JointState {
        let [fx, fy, fz, tx, ty, tz] = self.load.map(|n| n as f64);
        JointState {
            acts: self.mode & ACTS != 0,
            broken: self.mode & BROKEN != 0,
            at_limits: self.at_limits,
            force: DVec3::new(fx, fy, fz) * steps.force,
            torque: DVec3::new(tx, ty, tz) * steps.torque,
        }
    }
}

/// Collects the joints of the frames of one piece.
#[derive(Debug, Default)]
pub(super) struct JointWriter {
    planes: [Vec<u8>; PLANES],
    counts: Vec<u32>,
    before: Vec<[i64; 6]>,
    states: usize,
}

impl JointWriter {
    /// Says what is wrong with the joints of a frame before anything is added.
    pub(super) fn check(
        time: f64,
        joints: &[Option<JointState>],
        steps: &Steps,
    ) -> Result<(), RecordingError> {
        for (i, state) in joints.iter().enumerate() {
            if state.as_ref().is_some_and(|state| Whole::of(state, steps).is_none()) {
                let what = format!("not finite or too large for its step: {state:?}");
                return Err(invalid(format!("frame at {time} s: joint {i}"), what));
            }
        }
        Ok(())
    }

    /// True if another frame with this many joints would be too much.
    pub(super) fn is_full(&self, joints: usize) -> bool {
        let bytes: usize = self.planes.iter().map(Vec::len).sum();
        self.states + joints > MAX_STATES || bytes > super::MAX_RECORD / 4
    }

    /// Adds the joints of a frame that has been checked.
    pub(super) fn push(&mut self, joints: &[Option<JointState>], steps: &Steps) {
        self.counts.push(joints.len() as u32);
        self.states += joints.len();
        self.before.resize(joints.len(), [0; 6]);
        for (state, before) in joints.iter().zip(&mut self.before) {
            let Some(whole) = state.as_ref().and_then(|state| Whole::of(state, steps)) else {
                self.planes[0].push(0);
                *before = [0; 6];
                continue;
            };
            self.planes[0].push(whole.mode);
            put_varint(&mut self.planes[1], u64::from(whole.at_limits));
            for (k, (now, before)) in whole.load.iter().zip(before.iter()).enumerate() {
                put_signed(&mut self.planes[2 + k], now - before);
            }
            *before = whole.load;
        }
    }

    /// The bytes of the piece, if it has joints: number of frames, joints of each, lengths of the planes, the planes.
    pub(super) fn finish(self) -> Option<Vec<u8>> {
        if self.states == 0 {
            return None;
        }
        let head = [self.counts.len() as u32].into_iter().chain(self.counts);
        let lengths = self.planes.iter().map(|p| p.len() as u32);
        let mut raw: Vec<u8> = head.chain(lengths).flat_map(u32::to_le_bytes).collect();
        raw.extend(self.planes.iter().flatten());
        Some(raw)
    }
}

/// Reads the joints of a piece of `frames` frames, of which `listed` are known. `Err` says what is wrong.
pub(super) fn read(
    raw: &[u8],
    frames: usize,
    listed: usize,
    steps: &Steps,
) -> Result<Vec<Vec<Option<JointState>>>, String> {
    let mut head = Plane(raw);
    let mut word = || head.u32().map(|n| n as usize).ok_or_else(|| "ends within its lengths".to_owned());
    let n = word()?;
    if n != frames {
        return Err(format!("{n} frames of joints for {frames} frames of bodies"));
    }
    let counts = (0..n).map(|_| word()).collect::<Result<Vec<usize>, String>>()?;
    if let Some(count) = counts.iter().find(|&&count| count > listed) {
        return Err(format!("{count} joints, but only {listed} are listed"));
    }
    if counts.iter().sum::<usize>() > MAX_STATES {
        return Err(format!("more than {MAX_STATES} states of joints"));
    }
    let lengths = (0..PLANES).map(|_| word()).collect::<Result<Vec<usize>, String>>()?;
    let mut rest = head.0;
    let mut planes = [Plane(&[]); PLANES];
    for (plane, length) in planes.iter_mut().zip(lengths) {
        let (own, tail) = rest.split_at_checked(length).ok_or("a plane ends early")?;
        (*plane, rest) = (Plane(own), tail);
    }
    let mut before: Vec<[i64; 6]> = Vec::new();
    let mut out = Vec::with_capacity(n);
    for count in counts {
        before.resize(count, [0; 6]);
        let states = before.iter_mut().map(|before| one(&mut planes, before, steps));
        out.push(states.collect::<Option<Vec<_>>>().ok_or("a plane of joints ends early")?);
    }
    if !rest.is_empty() || planes.iter().any(|plane| !plane.0.is_empty()) {
        return Err("bytes left over in a plane of joints".to_owned());
    }
    Ok(out)
}

/// Next joint of a frame; the outer `None` if a plane ends or a number is beyond what a writer writes.
fn one(planes: &mut [Plane<'_>; PLANES], before: &mut [i64; 6], steps: &Steps) -> Option<Option<JointState>> {
    let mode = planes[0].byte()?;
    if mode == 0 {
        *before = [0; 6];
        return Some(None);
    }
    let at_limits = u32::try_from(planes[1].varint()?).ok()?;
    for (number, plane) in before.iter_mut().zip(&mut planes[2..]) {
        *number = number.checked_add(plane.signed()?)?;
    }
    (mode & PRESENT != 0).then(|| Some(Whole { mode, at_limits, load: *before }.state(steps)))
}
