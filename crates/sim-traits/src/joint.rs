//! Joints as plain data: what is held between bodies, with which limits, motors, springs and friction.
//!
//! A joint has *anchors*: frames fixed to its bodies, numbered by their place in the joint's own list of bodies, or to the
//! world. The z axis of an anchor is the axis of the joint; motion is that of the second anchor seen from the first.
//! Dynamics makes rows of it; nothing is computed here but checks.
//!
//! ```
//! use sim_traits::joint::{JointAnchor, JointAxis, JointKind, JointModel};
//! use sim_math::{Pose, glam::DVec3};
//!
//! // A door: body 0 hangs in a hinge on the world, and opens by a quarter turn.
//! let hinge = Pose::from_translation(DVec3::new(-0.4, 0.0, 0.0));
//! let mut door = JointModel::new(JointKind::Hinge, [JointAnchor::world(Pose::IDENTITY), JointAnchor::new(0, hinge)]);
//! door.axes[0] = JointAxis::default().limits(0.0, 1.57);
//! door.check()?;
//! door.axes[0] = JointAxis::default().limits(1.57, 0.0);
//! assert_eq!(door.check().unwrap_err().to_string(), "axis 0: limits are reversed: 1.57 is above 0");
//! # Ok::<(), sim_traits::joint::JointError>(())
//! ```
//!
//! | kind | held rows | free axes |
//! |---|---|---|
//! | [`Ball`](JointKind::Ball) | point on point: 3 | swing, twist |
//! | [`Hinge`](JointKind::Hinge) | 5 | angle |
//! | [`Slider`](JointKind::Slider) | 5 | distance |
//! | [`Cylindrical`](JointKind::Cylindrical) | 4 | angle, distance |
//! | [`Universal`](JointKind::Universal) | 4 | two angles |
//! | [`Weld`](JointKind::Weld) | 6 | - |
//! | [`Planar`](JointKind::Planar) | 3 | x, y, angle |
//! | [`Orientation`](JointKind::Orientation) | 3 | x, y, z |
//! | [`Distance`](JointKind::Distance), [`MultiBar`](JointKind::MultiBar) | 1 | - |
//! | [`Rope`](JointKind::Rope), [`MultiRope`](JointKind::MultiRope) | 1, one-sided | - |
//! | [`Curve`](JointKind::Curve) | 2 | length of arc |
//! | [`Surface`](JointKind::Surface) | 1 | - |
//! | [`Wheel`](JointKind::Wheel) | 3, two of them on velocities alone | - |
//! | [`Velocity`](JointKind::Velocity) | 3 on velocities alone | - |
//! | [`Gear`](JointKind::Gear), [`RackAndPinion`](JointKind::RackAndPinion) | 1 | - |
//! | [`Screw`](JointKind::Screw) | 5 | angle |
//! | [`SixAxis`](JointKind::SixAxis) | as many as are locked | x, y, z, angles about them |

mod check;
mod path;

pub use check::JointError;
pub use path::{JointCurve, JointPatch, JointPath, JointSurface};

use sim_math::{Pose, glam::DQuat};

/// A frame that is fixed to a body of a joint, or to the world.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointAnchor {
    /// Number in the joint's list of bodies, or [`JointAnchor::WORLD`].
    pub body: u32,
    /// The anchor in the frame of the centre of mass of its body, or in the world.
    pub frame: Pose,
}

impl JointAnchor {
    /// The body number of anchors that are fixed to the world.
    pub const WORLD: u32 = u32::MAX;

    /// A frame on a body of the joint's list.
    #[must_use]
    pub const fn new(body: u32, frame: Pose) -> Self {
        Self { body, frame }
    }

    /// A frame fixed in the world.
    #[must_use]
    pub const fn world(frame: Pose) -> Self {
        Self { body: Self::WORLD, frame }
    }

    /// True if it is fixed to the world.
    #[must_use]
    pub const fn is_world(&self) -> bool {
        self.body == Self::WORLD
    }
}

/// What a joint holds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum JointKind {
    /// Two points stay together. Free axes: the swing of one z axis away from the other (from 0 to π; its upper limit is a
    /// cone), and the twist about them. Friction of the swing acts about two axes.
    Ball {
        /// A drive of all three rotations.
        drive: Option<JointDrive>,
    },
    /// Turns about z.
    Hinge,
    /// Shifts along z.
    Slider,
    /// Turns about z and shifts along it.
    Cylindrical,
    /// Turns about z of the first anchor, then about z of the second; these stay across. At rest each is the other's x.
    Universal,
    /// Nothing is free.
    Weld,
    /// Shifts along x and y, and turns about z.
    Planar,
    /// Does not turn; shifts along all axes.
    Orientation,
    /// The origins keep their distance: a bar.
    Distance {
        /// Length, m.
        length: f64,
    },
    /// The origins come no farther apart than this: a rope.
    Rope {
        /// Length, m.
        length: f64,
        /// Share of the speed of parting with which a rope that becomes taut throws back.
        restitution: f64,
    },
    /// The polygon through all anchors keeps its length: a stiff rope that slides over pulleys without friction.
    MultiBar {
        /// Length, m.
        length: f64,
    },
    /// The polygon through all anchors gets no longer than this: a rope that slides over pulleys without friction.
    MultiRope {
        /// Length, m.
        length: f64,
        /// As that of [`JointKind::Rope`].
        restitution: f64,
    },
    /// The origin of the second anchor stays on a curve that is fixed to the first. Free axis: arc from where it began, m.
    Curve {
        /// The curve, in the frame of the first anchor. At the ends of one that is not closed it stops.
        curve: JointCurve,
    },
    /// The origin of the second anchor stays on a surface that is fixed to the first.
    Surface {
        /// The surface, in the frame of the first anchor.
        surface: JointSurface,
        /// Greatest force of friction along the surface, N.
        friction: f64,
    },
    /// A wheel about z of the second anchor rolls without slip on a surface that is fixed to the first. It does not lift off.
    Wheel {
        /// The surface, in the frame of the first anchor.
        surface: JointSurface,
        /// Radius of the wheel, m.
        radius: f64,
    },
    /// The origins have the same velocity; what they drift apart stays.
    Velocity,
    /// Angles about z keep a ratio: that of anchor 1 seen from 0 is `ratio` times that of anchor 3 seen from 2, plus `phase`.
    /// Anchors 0 and 2 belong to the carrier of the two wheels, or to two carriers. Wheels that mesh have a negative ratio.
    Gear {
        /// First angle over second.
        ratio: f64,
        /// Difference that is kept, rad.
        phase: f64,
    },
    /// The shift along z of anchor 3 seen from 2 is `radius` times the angle about z of anchor 1 seen from 0, plus `phase`.
    RackAndPinion {
        /// Shift over angle, m/rad.
        radius: f64,
        /// Difference that is kept, m.
        phase: f64,
    },
    /// Turns about z and shifts along it by `pitch` times the angle, plus `phase`.
    Screw {
        /// Shift over angle, m/rad.
        pitch: f64,
        /// Shift at angle zero, m.
        phase: f64,
    },
    /// Each of x, y, z and the rotations about them free, locked, limited or driven. Shifts are along the axes of the first
    /// anchor. With one free rotation its angle may go on for turns; with two or three the angles are the parts of the rotation
    /// vector, below half a turn.
    SixAxis,
}

impl JointKind {
    /// Name for reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "ball",
            Self::Hinge => "hinge",
            Self::Slider => "slider",
            Self::Cylindrical => "cylindrical",
            Self::Universal => "universal",
            Self::Weld => "weld",
            Self::Planar => "planar",
            Self::Orientation => "orientation",
            Self::Distance { .. } => "distance",
            Self::Rope { .. } => "rope",
            Self::MultiBar { .. } => "multibar",
            Self::MultiRope { .. } => "multirope",
            Self::Curve { .. } => "curve",
            Self::Surface { .. } => "surface",
            Self::Wheel { .. } => "wheel",
            Self::Velocity => "velocity",
            Self::Gear { .. } => "gear",
            Self::RackAndPinion { .. } => "rack and pinion",
            Self::Screw { .. } => "screw",
            Self::SixAxis => "six-axis",
        }
    }

    /// Number of free axes, each with settings of its own.
    #[must_use]
    pub const fn free_axes(&self) -> usize {
        match self {
            Self::Hinge | Self::Slider | Self::Curve { .. } | Self::Screw { .. } => 1,
            Self::Ball { .. } | Self::Cylindrical | Self::Universal => 2,
            Self::Planar | Self::Orientation => 3,
            Self::SixAxis => 6,
            _ => 0,
        }
    }

    /// True if the free axis is an angle, in rad; else it is a length, in m.
    #[must_use]
    pub const fn is_angle(&self, axis: usize) -> bool {
        match self {
            Self::Hinge | Self::Screw { .. } | Self::Ball { .. } | Self::Universal => true,
            Self::Cylindrical => axis == 0,
            Self::Planar => axis == 2,
            Self::SixAxis => axis >= 3,
            _ => false,
        }
    }

    /// Numbers that the caller keeps for the joint between evaluations: unwrapped angles, places on curves.
    #[must_use]
    pub const fn memory_len(&self) -> usize {
        match self {
            Self::Ball { .. }
            | Self::Hinge
            | Self::Cylindrical
            | Self::Planar
            | Self::RackAndPinion { .. }
            | Self::Screw { .. }
            | Self::SixAxis => 1,
            Self::Universal | Self::Gear { .. } => 2,
            Self::Curve { .. } => 5,
            _ => 0,
        }
    }

    /// Least and greatest number of anchors.
    #[must_use]
    pub const fn anchors(&self) -> (usize, usize) {
        match self {
            Self::MultiBar { .. } | Self::MultiRope { .. } => (2, usize::MAX),
            Self::Gear { .. } | Self::RackAndPinion { .. } => (4, 4),
            _ => (2, 2),
        }
    }
}

/// A drive of the three rotations of a ball joint.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointDrive {
    /// The second anchor seen from the first.
    pub target: DQuat,
    /// N·m/rad.
    pub stiffness: f64,
    /// N·m·s/rad; may be infinite.
    pub damping: f64,
    /// Greatest torque about each axis, N·m; may be infinite.
    pub most: f64,
}

/// How far a free axis may go.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointLimits {
    /// Least value, rad or m; may be minus infinity.
    pub low: f64,
    /// Greatest value; may be infinity.
    pub high: f64,
    /// Share of the speed that is given back at a limit.
    pub restitution: f64,
}

/// What drives a free axis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JointMotor {
    /// Keeps a speed as long as its force allows.
    Velocity {
        /// rad/s or m/s.
        speed: f64,
        /// Greatest torque or force; may be infinite.
        most: f64,
    },
    /// Goes to a place: torque or force −stiffness (x − target) − damping (ẋ − speed).
    Position {
        /// rad or m.
        target: f64,
        /// Rate at which the target moves.
        speed: f64,
        /// N·m/rad or N/m.
        stiffness: f64,
        /// N·m·s/rad or N·s/m.
        damping: f64,
        /// Greatest torque or force; may be infinite.
        most: f64,
    },
}

impl JointMotor {
    /// Keeps a speed with at most this torque or force.
    #[must_use]
    pub const fn velocity(speed: f64, most: f64) -> Self {
        Self::Velocity { speed, most }
    }

    /// Goes to a place that stands still, with at most this torque or force.
    #[must_use]
    pub const fn position(target: f64, stiffness: f64, damping: f64, most: f64) -> Self {
        Self::Position { target, speed: 0.0, stiffness, damping, most }
    }
}

/// A spring and damper on a free axis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointSpring {
    /// Where it is relaxed, rad or m.
    pub rest: f64,
    /// N·m/rad or N/m.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m.
    pub damping: f64,
}

/// Settings of one free axis. By default nothing acts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointAxis {
    /// How far it may go.
    pub limits: Option<JointLimits>,
    /// What drives it.
    pub motor: Option<JointMotor>,
    /// Spring and damper.
    pub spring: Option<JointSpring>,
    /// Greatest torque or force of dry friction.
    pub friction: f64,
    /// True if it is held at zero; for [`JointKind::SixAxis`].
    pub locked: bool,
}

impl JointAxis {
    /// An axis that is held at zero.
    #[must_use]
    pub fn locked() -> Self {
        Self { locked: true, ..Self::default() }
    }

    /// Keeps it between two values, without restitution.
    #[must_use]
    pub fn limits(mut self, low: f64, high: f64) -> Self {
        self.limits = Some(JointLimits { low, high, restitution: 0.0 });
        self
    }

    /// A motor.
    #[must_use]
    pub fn motor(mut self, motor: JointMotor) -> Self {
        self.motor = Some(motor);
        self
    }

    /// A spring with damper.
    #[must_use]
    pub fn spring(mut self, rest: f64, stiffness: f64, damping: f64) -> Self {
        self.spring = Some(JointSpring { rest, stiffness, damping });
        self
    }

    /// Dry friction of at most this torque or force.
    #[must_use]
    pub fn friction(mut self, most: f64) -> Self {
        self.friction = most;
        self
    }
}

/// Joints that give way: springs and dampers in place of what is held.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JointSoftness {
    /// Stated springs.
    Stiffness {
        /// Of rows that hold points, N/m.
        linear: f64,
        /// Of rows that hold points, N·s/m.
        linear_damping: f64,
        /// Of rows that hold angles, N·m/rad.
        angular: f64,
        /// Of rows that hold angles, N·m·s/rad.
        angular_damping: f64,
    },
    /// Springs that make each row on its own an oscillator.
    Frequency {
        /// Hz.
        frequency: f64,
        /// Share of critical damping.
        ratio: f64,
    },
}

/// A joint, without the names of its bodies.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointModel {
    /// What is held.
    pub kind: JointKind,
    /// Frames on the bodies: two, or as many as [`JointKind::anchors`] says.
    pub anchors: Vec<JointAnchor>,
    /// Settings of the free axes, as many as [`JointKind::free_axes`] says.
    pub axes: Vec<JointAxis>,
    /// How far it gives way; nothing by default.
    pub softness: Option<JointSoftness>,
}

impl JointModel {
    /// A joint whose free axes are free. Check it with [`JointModel::check`].
    #[must_use]
    pub fn new(kind: JointKind, anchors: impl IntoIterator<Item = JointAnchor>) -> Self {
        let axes = vec![JointAxis::default(); kind.free_axes()];
        Self { kind, anchors: anchors.into_iter().collect(), axes, softness: None }
    }

    /// Number of bodies that its anchors name: one more than the greatest.
    #[must_use]
    pub fn bodies(&self) -> usize {
        self.anchors.iter().filter(|a| !a.is_world()).map(|a| a.body as usize + 1).max().unwrap_or(0)
    }
}
