//! Joints as they are written in a scene.

use super::{is_default, vector::Triple};
use serde::{Deserialize, Serialize};

/// A joint. Points and axes are in the world, where the bodies are at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointSpec {
    /// Which kind.
    pub kind: JointKindSpec,
    /// Name, for gears and messages.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: Option<String>,
    /// First body; the world if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub a: Option<String>,
    /// Second body; the world if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub b: Option<String>,
    /// Point of both bodies, m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub anchor: Option<Triple>,
    /// Point of the first body, m, if the two have different ones.
    #[serde(default, skip_serializing_if = "is_default")]
    pub anchor_a: Option<Triple>,
    /// Point of the second body, m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub anchor_b: Option<Triple>,
    /// Axis of the joint.
    #[serde(default, skip_serializing_if = "is_default")]
    pub axis: Option<Triple>,
    /// Second axis of a universal joint; of others the direction of x.
    #[serde(default, skip_serializing_if = "is_default")]
    pub second_axis: Option<Triple>,
    /// Settings of the free axes, the first one first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub axes: Vec<JointAxisSpec>,
    /// Length of a bar or rope, m; that at the start if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub length: Option<f64>,
    /// Share of speed that limits and ropes give back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub restitution: Option<f64>,
    /// Radius of a wheel or pinion, m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub radius: Option<f64>,
    /// Advance of a screw in a turn, m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pitch: Option<f64>,
    /// Angle of the first joint of a gear over that of the second.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ratio: Option<f64>,
    /// Names of the two joints that a gear, or a rack and pinion, couples.
    #[serde(default, skip_serializing_if = "is_default")]
    pub joints: Vec<String>,
    /// Points that a rope over pulleys goes through.
    #[serde(default, skip_serializing_if = "is_default")]
    pub points: Vec<JointPointSpec>,
    /// Curve that is fixed to the first body.
    #[serde(default, skip_serializing_if = "is_default")]
    pub curve: Option<JointCurveSpec>,
    /// Surface that is fixed to the first body.
    #[serde(default, skip_serializing_if = "is_default")]
    pub surface: Option<JointSurfaceSpec>,
    /// Greatest force of friction on a surface, N.
    #[serde(default, skip_serializing_if = "is_default")]
    pub friction: Option<f64>,
    /// Springs in place of what is held.
    #[serde(default, skip_serializing_if = "is_default")]
    pub soft: Option<JointSoftSpec>,
    /// Lasting force under which it breaks, N.
    #[serde(default, skip_serializing_if = "is_default")]
    pub breaking_force: Option<f64>,
    /// Lasting torque under which it breaks, N·m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub breaking_torque: Option<f64>,
    /// Impulse of an impact under which it breaks, N·s.
    #[serde(default, skip_serializing_if = "is_default")]
    pub breaking_impulse: Option<f64>,
    /// Whether its bodies collide.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collide: Option<bool>,
    /// False if it is to be switched on later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub enabled: Option<bool>,
    /// True if it is to pull bodies together that are apart at the start.
    #[serde(default, skip_serializing_if = "is_default")]
    pub apart: bool,
}

/// Kinds of joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum JointKindSpec {
    /// A point on a point.
    Ball,
    /// Turns.
    Hinge,
    /// Shifts.
    Slider,
    /// Turns and shifts.
    Cylindrical,
    /// Two axes across.
    Universal,
    /// Nothing is free.
    Weld,
    /// In a plane.
    Planar,
    /// Shifts only.
    Orientation,
    /// A bar.
    Distance,
    /// A rope.
    Rope,
    /// A stiff rope over pulleys.
    Multibar,
    /// A rope over pulleys.
    Multirope,
    /// A point on a curve.
    Curve,
    /// A point on a surface.
    Surface,
    /// A wheel on a surface.
    Wheel,
    /// Equal velocities.
    Velocity,
    /// Two angles in a ratio.
    Gear,
    /// An angle and a shift in a ratio.
    RackAndPinion,
    /// Turns and shifts in a ratio.
    Screw,
    /// Each axis on its own.
    SixAxis,
}

/// Settings of a free axis. Values are degrees for angles, m for shifts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JointAxisSpec {
    /// Held at zero, for a six-axis joint.
    #[serde(skip_serializing_if = "is_default")]
    pub locked: bool,
    /// Least value.
    #[serde(skip_serializing_if = "is_default")]
    pub low: Option<f64>,
    /// Greatest value.
    #[serde(skip_serializing_if = "is_default")]
    pub high: Option<f64>,
    /// What drives it.
    #[serde(skip_serializing_if = "is_default")]
    pub motor: Option<JointMotorSpec>,
    /// Spring with damper.
    #[serde(skip_serializing_if = "is_default")]
    pub spring: Option<JointSpringSpec>,
    /// Greatest torque or force of dry friction.
    #[serde(skip_serializing_if = "is_default")]
    pub friction: f64,
}

/// What drives a free axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JointMotorSpec {
    /// Keeps a speed.
    Velocity {
        /// rad/s or m/s.
        speed: f64,
        /// Greatest torque or force; no limit if absent.
        #[serde(default, skip_serializing_if = "is_default")]
        most: Option<f64>,
    },
    /// Goes to a place.
    Position {
        /// Degrees or m.
        target: f64,
        /// N·m/rad or N/m.
        stiffness: f64,
        /// N·m·s/rad or N·s/m.
        #[serde(default, skip_serializing_if = "is_default")]
        damping: f64,
        /// Greatest torque or force; no limit if absent.
        #[serde(default, skip_serializing_if = "is_default")]
        most: Option<f64>,
    },
}

/// A spring with damper on a free axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointSpringSpec {
    /// Where it is relaxed, degrees or m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rest: f64,
    /// N·m/rad or N/m.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub damping: f64,
}

/// Springs in place of what a joint holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointSoftSpec {
    /// Hz.
    pub frequency: f64,
    /// Share of critical damping. Default 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ratio: Option<f64>,
}

/// A point of a rope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointPointSpec {
    /// Body it is fixed to; the world if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub body: Option<String>,
    /// Where it is at the start, m.
    pub at: Triple,
}

/// A curve; world coordinates at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum JointCurveSpec {
    /// A straight line without ends.
    Line {
        /// A point of it.
        origin: Triple,
        /// Where it goes.
        direction: Triple,
    },
    /// A straight line between two ends.
    Segment {
        /// One end.
        from: Triple,
        /// The other end.
        to: Triple,
    },
    /// A circle.
    Circle {
        /// Its centre.
        center: Triple,
        /// Across its plane.
        normal: Triple,
        /// m.
        radius: f64,
    },
    /// A smooth curve near its points.
    BSpline {
        /// Control points.
        points: Vec<Triple>,
        /// True if it returns to its begin.
        #[serde(default, skip_serializing_if = "is_default")]
        closed: bool,
    },
    /// A smooth curve through its points.
    CSpline {
        /// Points.
        points: Vec<Triple>,
        /// Tension. Default 0.5 (Catmull-Rom).
        #[serde(default, skip_serializing_if = "is_default")]
        tension: Option<f64>,
        /// True if it returns to its begin.
        #[serde(default, skip_serializing_if = "is_default")]
        closed: bool,
    },
}

/// A surface; world coordinates at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum JointSurfaceSpec {
    /// A plane.
    Plane {
        /// A point of it.
        #[serde(default, skip_serializing_if = "is_default")]
        origin: Triple,
        /// Its normal.
        normal: Triple,
    },
    /// An ellipsoid with axes along those of the world.
    Ellipsoid {
        /// Its centre.
        #[serde(default, skip_serializing_if = "is_default")]
        center: Triple,
        /// Half lengths, m.
        radii: Triple,
    },
}
