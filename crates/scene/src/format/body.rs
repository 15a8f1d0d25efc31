//! Bodies as they are written in a scene.

use super::{is_default, shape::ShapeSpec, vector::Triple};
use serde::{Deserialize, Serialize};

/// One body, or many alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BodySpec {
    /// Name for messages, forces, controllers and recordings. Copies of a repeated body are `name[0]`, `name[1]`, …
    #[serde(skip_serializing_if = "is_default")]
    pub name: Option<String>,
    /// How it moves.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: KindSpec,
    /// Its shape. A body without one collides with nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub shape: Option<ShapeSpec>,
    /// Position of the origin of its frame, m.
    #[serde(skip_serializing_if = "is_default")]
    pub position: Triple,
    /// Orientation of its frame.
    #[serde(skip_serializing_if = "is_default")]
    pub rotation: RotationSpec,
    /// Velocity of the centre of mass at the start, m/s.
    #[serde(skip_serializing_if = "is_default")]
    pub velocity: Triple,
    /// Angular velocity at the start, world axes, rad/s.
    #[serde(skip_serializing_if = "is_default")]
    pub angular_velocity: Triple,
    /// A material of the scene: friction, restitution, density.
    #[serde(skip_serializing_if = "is_default")]
    pub material: Option<String>,
    /// Density, kg/m³, in place of the material's.
    #[serde(skip_serializing_if = "is_default")]
    pub density: Option<f64>,
    /// Total mass of its shapes, kg, in place of that by density.
    #[serde(skip_serializing_if = "is_default")]
    pub mass: Option<f64>,
    /// Masses at points of the body, in addition.
    #[serde(skip_serializing_if = "is_default")]
    pub point_masses: Vec<PointMassSpec>,
    /// Mass, centre and inertia, in place of all that follows from shapes.
    #[serde(skip_serializing_if = "is_default")]
    pub inertia: Option<InertiaSpec>,
    /// Coefficient of friction, in place of the material's.
    #[serde(skip_serializing_if = "is_default")]
    pub friction: Option<f64>,
    /// Coefficient of restitution, in place of the material's.
    #[serde(skip_serializing_if = "is_default")]
    pub restitution: Option<f64>,
    /// Rolling friction, m, in place of the material's.
    #[serde(skip_serializing_if = "is_default")]
    pub rolling_friction: Option<f64>,
    /// Torsional friction, m, in place of the material's.
    #[serde(skip_serializing_if = "is_default")]
    pub torsional_friction: Option<f64>,
    /// Velocity of its surfaces against it, in its frame, m/s: a conveyor belt.
    #[serde(skip_serializing_if = "is_default")]
    pub surface_velocity: Triple,
    /// Prescribed motion of a scripted body.
    #[serde(skip_serializing_if = "is_default")]
    pub motion: Option<MotionSpec>,
    /// Groups that its shapes are in, one bit each; all by default.
    #[serde(skip_serializing_if = "is_default")]
    pub groups: Option<u32>,
    /// Groups that its shapes meet; all by default.
    #[serde(skip_serializing_if = "is_default")]
    pub mask: Option<u32>,
    /// Colour in pictures, `#rrggbb`.
    #[serde(skip_serializing_if = "is_default")]
    pub color: Option<String>,
    /// Copies of it.
    #[serde(skip_serializing_if = "is_default")]
    pub repeat: Option<RepeatSpec>,
    /// What differs from copy to copy.
    #[serde(skip_serializing_if = "is_default")]
    pub vary: Vec<VarySpec>,
    /// Random velocities of the copies.
    #[serde(skip_serializing_if = "is_default")]
    pub random: Option<RandomSpec>,
}

/// How a body moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KindSpec {
    /// Under forces and impulses.
    #[default]
    Free,
    /// Not at all.
    Fixed,
    /// As its `motion` says.
    Scripted,
}

/// An orientation; angles in degrees.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RotationSpec {
    /// Not turned.
    #[default]
    None,
    /// Turned about an axis.
    AxisAngle {
        /// Direction, any length.
        axis: Triple,
        /// Angle, degrees.
        degrees: f64,
    },
    /// About the fixed axes x, then y, then z, degrees.
    Euler(f64, f64, f64),
    /// Quaternion x, y, z, w; normalised when read.
    Quaternion(f64, f64, f64, f64),
}

/// A mass at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointMassSpec {
    /// kg.
    pub mass: f64,
    /// In the frame of the body, m.
    pub at: Triple,
}

/// Mass, centre of mass and inertia.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InertiaSpec {
    /// kg.
    pub mass: f64,
    /// Centre of mass in the frame of the body, m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub center: Triple,
    /// Moments about the centre of mass xx, yy, zz in the axes of the body, kg·m².
    pub moments: Triple,
    /// Products xy, xz, yz, kg·m², with the sign of the matrix.
    #[serde(default, skip_serializing_if = "is_default")]
    pub products: Triple,
}

/// Prescribed motion, from the body's position and orientation as its place at time 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum MotionSpec {
    /// Constant velocities.
    Steady {
        /// m/s.
        #[serde(default, skip_serializing_if = "is_default")]
        velocity: Triple,
        /// rad/s, about the origin of the body's frame, world axes.
        #[serde(default, skip_serializing_if = "is_default")]
        angular_velocity: Triple,
    },
    /// Round a circle without turning; the circle starts at the position, its centre is beside it.
    Cycle {
        /// Normal of the circle: the motion is right-handed about it.
        axis: Triple,
        /// From the centre of the circle to the position, m.
        arm: Triple,
        /// Turns per second, Hz.
        frequency: f64,
    },
    /// To and fro along a line: position + amplitude sin(2π frequency t + phase).
    Shake {
        /// m.
        amplitude: Triple,
        /// Hz.
        frequency: f64,
        /// Degrees.
        #[serde(default, skip_serializing_if = "is_default")]
        phase: f64,
    },
    /// Turns at a constant rate about an axis through a point.
    Turn {
        /// Direction, any length, world axes.
        axis: Triple,
        /// A point of the axis, world, m; the position by default.
        #[serde(default, skip_serializing_if = "is_default")]
        pivot: Option<Triple>,
        /// Turns per second, Hz.
        frequency: f64,
    },
    /// Rocks about an axis through the position: degrees sin(2π frequency t + phase).
    Rock {
        /// Direction, any length, world axes.
        axis: Triple,
        /// Largest angle, degrees.
        degrees: f64,
        /// Hz.
        frequency: f64,
        /// Degrees.
        #[serde(default, skip_serializing_if = "is_default")]
        phase: f64,
    },
}

/// Where copies of a body go: offsets from its position, in world axes unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RepeatSpec {
    /// In a line, each one step further: copy k is at k · step.
    Row {
        /// Number of copies.
        count: u32,
        /// m.
        step: Triple,
    },
    /// In a box of rows, x fastest.
    Grid {
        /// Numbers along x, y, z.
        count: (u32, u32, u32),
        /// Distances along x, y, z, m.
        step: Triple,
    },
    /// Around a circle, each turned with it.
    Ring {
        /// Number of copies.
        count: u32,
        /// m.
        radius: f64,
        /// Axis of the circle, world. Default z.
        #[serde(default = "z_axis")]
        axis: Triple,
        /// Angle of the first copy, degrees. Default 0.
        #[serde(default, skip_serializing_if = "is_default")]
        start: f64,
        /// Angle that the copies share, degrees. Default 360.
        #[serde(default = "full_turn")]
        sweep: f64,
    },
    /// On a triangle in the xy plane, its tip first: row r has r + 1 copies.
    Triangle {
        /// Number of rows.
        rows: u32,
        /// Distance between neighbours, m.
        step: f64,
    },
    /// Along a path over the xy plane that starts at the position along +x; copies are turned into the path.
    Path {
        /// Distance between neighbours, m.
        step: f64,
        /// One after the other.
        legs: Vec<LegSpec>,
    },
    /// At listed places.
    At(Vec<Triple>),
    /// At random places of a box, without overlap of the bounding spheres; the same for the same seed.
    Scatter {
        /// Number of copies.
        count: u32,
        /// Lowest corner, relative to the position, m.
        min: Triple,
        /// Highest corner, relative to the position, m.
        max: Triple,
        /// Number that all randomness follows from.
        seed: u64,
        /// Random orientations too. Default false.
        #[serde(default, skip_serializing_if = "is_default")]
        turned: bool,
    },
}

impl RepeatSpec {
    /// Number of copies, as a number that cannot overflow.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Row { count, .. } | Self::Ring { count, .. } | Self::Scatter { count, .. } => {
                u64::from(*count)
            }
            Self::Grid { count: (x, y, z), .. } => {
                u64::from(*x).saturating_mul(u64::from(*y)).saturating_mul(u64::from(*z))
            }
            Self::Triangle { rows, .. } => {
                let n = u64::from(*rows);
                n.saturating_mul(n + 1) / 2
            }
            Self::Path { legs, .. } => {
                legs.iter().fold(0_u64, |sum, leg| sum.saturating_add(u64::from(leg.count())))
            }
            Self::At(places) => places.len() as u64,
        }
    }
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum LegSpec {
    /// Straight on.
    Straight {
        /// Number of copies.
        count: u32,
    },
    /// Around a bend, to the left if positive.
    Bend {
        /// Number of copies.
        count: u32,
        /// Turn of the whole leg, degrees.
        degrees: f64,
    },
    /// Straight on, each copy higher than the one before.
    Climb {
        /// Number of copies.
        count: u32,
        /// Height of each step, m; negative goes down.
        rise: f64,
    },
}

impl LegSpec {
    /// Number of copies on it.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Straight { count } | Self::Bend { count, .. } | Self::Climb { count, .. } => *count,
        }
    }
}

/// A number that changes evenly from the first copy to the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarySpec {
    /// Which number.
    pub field: VaryField,
    /// Value of the first copy.
    pub from: f64,
    /// Value of the last copy.
    pub to: f64,
}

/// Numbers that can vary from copy to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum VaryField {
    /// Coefficient of friction.
    Friction,
    /// Coefficient of restitution.
    Restitution,
    /// Density, kg/m³.
    Density,
    /// Mass, kg.
    Mass,
}

/// Random velocities, uniform in a ball; the same for the same seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomSpec {
    /// Number that all randomness follows from.
    pub seed: u64,
    /// Largest speed that is added, m/s.
    #[serde(default, skip_serializing_if = "is_default")]
    pub speed: f64,
    /// Largest angular speed that is added, rad/s.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spin: f64,
}

fn z_axis() -> Triple {
    Triple::new(0.0, 0.0, 1.0)
}

fn full_turn() -> f64 {
    360.0
}
