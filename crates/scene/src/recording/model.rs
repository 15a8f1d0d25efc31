//! What does not change during a run: header, shapes, bodies, marks.

use super::error::{RecordingError, invalid};
use super::joints::JointInfo;
use serde::{Deserialize, Serialize};
use sim_math::{Pose, glam::DVec3};
use sim_traits::Shape;

/// What a recording says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the scene, for people.
    pub title: String,
    /// Program that made it, for people.
    #[serde(default)]
    pub generator: String,
    /// Gravity in world axes, m/s². Also used to predict free flight.
    pub gravity: DVec3,
    /// Direction that is up in pictures, unit vector in world axes.
    pub up: DVec3,
    /// Nominal frames per second of simulated time; the true times are in the frames.
    pub frame_rate: f64,
    /// How finely numbers are stored.
    #[serde(default)]
    pub steps: Steps,
    /// Names of the work terms in [`super::Sums::work`], such as `friction` or `motors`.
    #[serde(default)]
    pub work: Vec<String>,
}

impl Default for Header {
    /// Untitled, 60 frames a second, z up, gravity (0, 0, −9.81) m/s².
    fn default() -> Self {
        Self {
            title: String::new(),
            generator: concat!("tumblestone ", env!("CARGO_PKG_VERSION")).to_owned(),
            gravity: DVec3::new(0.0, 0.0, -9.81),
            up: DVec3::Z,
            frame_rate: 60.0,
            steps: Steps::default(),
            work: Vec::new(),
        }
    }
}

/// Quantisation steps: a stored number differs from the true one by at most half of its step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Steps {
    /// Positions, contact points and boxes, metres. Smaller: finer and larger files.
    pub position: f64,
    /// Orientations, radians; an orientation is off by an angle of at most 0.87 steps.
    pub rotation: f64,
    /// Velocities, m/s.
    pub velocity: f64,
    /// Angular velocities, rad/s.
    pub spin: f64,
    /// Impulses, N·s.
    pub impulse: f64,
    /// Forces of joints, N.
    pub force: f64,
    /// Torques of joints, N·m.
    pub torque: f64,
}

impl Default for Steps {
    /// Invisible on a screen for bodies of 1 cm and more: 0.1 mm, 0.2 mrad, 2 mm/s, 10 mrad/s, 1e-5 N·s, 1e-3 N, 1e-4 N·m.
    fn default() -> Self {
        Self {
            position: 1e-4,
            rotation: 2e-4,
            velocity: 2e-3,
            spin: 1e-2,
            impulse: 1e-5,
            force: 1e-3,
            torque: 1e-4,
        }
    }
}

impl Header {
    pub(super) fn validate(&self) -> Result<(), RecordingError> {
        let s = &self.steps;
        let positive = [
            ("frame_rate", self.frame_rate),
            ("steps.position", s.position),
            ("steps.rotation", s.rotation),
            ("steps.velocity", s.velocity),
            ("steps.spin", s.spin),
            ("steps.impulse", s.impulse),
            ("steps.force", s.force),
            ("steps.torque", s.torque),
        ];
        for (name, value) in positive {
            // The range keeps every quotient and product of the decoder finite.
            if !(1e-15..=1e15).contains(&value) {
                return Err(invalid(
                    format!("header.{name}"),
                    format!("must be in 1e-15..=1e15, got {value}"),
                ));
            }
        }
        if !self.gravity.is_finite() {
            return Err(invalid("header.gravity", format!("must be finite, got {}", self.gravity)));
        }
        if !self.up.is_finite() || (self.up.length() - 1.0).abs() > 1e-6 {
            return Err(invalid("header.up", format!("must be a unit vector, got {}", self.up)));
        }
        if self.work.len() > 64 {
            return Err(invalid("header.work", format!("at most 64 names, got {}", self.work.len())));
        }
        Ok(())
    }
}

/// A shape to draw, in its own frame; lengths in metres, axes as in `sim_traits::Shape`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ShapeInfo {
    /// Ball around the origin.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// Box around the origin.
    Cuboid {
        /// Half of each side.
        half_extents: DVec3,
    },
    /// All points within `radius` of the z axis from −`half_height` to +`half_height`.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half length of the inner segment.
        half_height: f64,
    },
    /// Circular cylinder around the z axis.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half height.
        half_height: f64,
    },
    /// Circular frustum around the z axis; a cone if one radius is 0.
    Frustum {
        /// Radius at z = −`half_height`.
        bottom: f64,
        /// Radius at z = +`half_height`.
        top: f64,
        /// Half height.
        half_height: f64,
    },
    /// Everything with normal · x ≤ 0.
    HalfSpace {
        /// Outward unit normal.
        normal: DVec3,
    },
    /// Flat faces, each a convex polygon, anticlockwise seen from outside; closed or not, convex or not.
    Mesh {
        /// Corners.
        vertices: Vec<DVec3>,
        /// Indices into `vertices`, at least three for each face.
        faces: Vec<Vec<u32>>,
    },
}

impl ShapeInfo {
    /// The drawable form of a collision shape; `None` for the open doors, whose owner must give a mesh.
    #[must_use]
    pub fn from_shape(shape: &Shape) -> Option<Self> {
        Some(match shape {
            Shape::Sphere(s) => Self::Sphere { radius: s.radius() },
            Shape::Capsule(c) => Self::Capsule { radius: c.radius(), half_height: c.half_height() },
            Shape::Cuboid(c) => Self::Cuboid { half_extents: c.half_extents() },
            Shape::Cylinder(c) => Self::Cylinder { radius: c.radius(), half_height: c.half_height() },
            Shape::HalfSpace(h) => Self::HalfSpace { normal: h.normal() },
            _ => return None,
        })
    }

    pub(super) fn validate(&self, item: &str) -> Result<(), RecordingError> {
        let length = |name: &str, value: f64, zero: bool| {
            if value.is_finite() && (value > 0.0 || zero && value >= 0.0) {
                Ok(())
            } else {
                Err(invalid(format!("{item}.{name}"), format!("must be positive and finite, got {value}")))
            }
        };
        match self {
            Self::Sphere { radius } => length("radius", *radius, false),
            Self::Cuboid { half_extents: h } => {
                [h.x, h.y, h.z].into_iter().try_for_each(|v| length("half_extents", v, false))
            }
            Self::Capsule { radius, half_height } | Self::Cylinder { radius, half_height } => {
                length("radius", *radius, false)?;
                length("half_height", *half_height, false)
            }
            Self::Frustum { bottom, top, half_height } => {
                length("bottom", *bottom, true)?;
                length("top", *top, true)?;
                length("bottom + top", bottom + top, false)?;
                length("half_height", *half_height, false)
            }
            Self::HalfSpace { normal } if normal.is_finite() && (normal.length() - 1.0).abs() < 1e-6 => {
                Ok(())
            }
            Self::HalfSpace { normal } => {
                Err(invalid(format!("{item}.normal"), format!("must be a unit vector, got {normal}")))
            }
            Self::Mesh { vertices, faces } => validate_mesh(item, vertices, faces),
        }
    }
}

fn validate_mesh(item: &str, vertices: &[DVec3], faces: &[Vec<u32>]) -> Result<(), RecordingError> {
    if let Some((i, v)) = vertices.iter().enumerate().find(|(_, v)| !v.is_finite()) {
        return Err(invalid(format!("{item}.vertices[{i}]"), format!("must be finite, got {v}")));
    }
    if faces.is_empty() {
        return Err(invalid(format!("{item}.faces"), "a mesh needs a face, got none"));
    }
    for (i, face) in faces.iter().enumerate() {
        if face.len() < 3 {
            let what = format!("a face needs 3 corners, got {}", face.len());
            return Err(invalid(format!("{item}.faces[{i}]"), what));
        }
        if let Some(&corner) = face.iter().find(|&&c| c as usize >= vertices.len()) {
            let what = format!("corner {corner} of {} vertices", vertices.len());
            return Err(invalid(format!("{item}.faces[{i}]"), what));
        }
    }
    Ok(())
}

/// How a body moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyKind {
    /// Answers to forces.
    Free,
    /// Never moves.
    Fixed,
    /// Moves as prescribed.
    Scripted,
    /// Part of an articulated body.
    Link,
}

/// A shape on a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Collider {
    /// Index of the shape in the recording.
    pub shape: u32,
    /// Shape frame in the body frame.
    #[serde(default)]
    pub body_from_shape: Pose,
}

/// A body as it is listed; where it is and whether it exists is in the frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Name, for people.
    pub name: String,
    /// How it moves.
    pub kind: BodyKind,
    /// Mass, kg; 0 for bodies that do not answer to forces.
    #[serde(default)]
    pub mass: f64,
    /// Inertia about the centre of mass in body axes, kg m²: xx, yy, zz, xy, xz, yz.
    #[serde(default)]
    pub inertia: [f64; 6],
    /// Its shapes.
    #[serde(default)]
    pub colliders: Vec<Collider>,
    /// Colour as `#rrggbb`; chosen by the viewer if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
}

impl BodyInfo {
    /// A body with one shape in its own frame.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: BodyKind, mass: f64, shape: u32) -> Self {
        let colliders = vec![Collider { shape, body_from_shape: Pose::IDENTITY }];
        Self { name: name.into(), kind, mass, inertia: [0.0; 6], colliders, color: None }
    }

    pub(super) fn validate(&self, item: &str, shapes: usize) -> Result<(), RecordingError> {
        if !(self.mass.is_finite() && self.mass >= 0.0) {
            return Err(invalid(format!("{item}.mass"), format!("must not be negative, got {}", self.mass)));
        }
        if let Some(value) = self.inertia.iter().find(|v| !v.is_finite()) {
            return Err(invalid(format!("{item}.inertia"), format!("must be finite, got {value}")));
        }
        for (i, collider) in self.colliders.iter().enumerate() {
            let item = format!("{item}.colliders[{i}]");
            if collider.shape as usize >= shapes {
                return Err(invalid(item, format!("shape {} of {shapes}", collider.shape)));
            }
            let pose = collider.body_from_shape;
            if !pose.is_finite() || (pose.rotation.length() - 1.0).abs() > 1e-6 {
                let what = format!("must be finite with a unit rotation, got {pose:?}");
                return Err(invalid(format!("{item}.body_from_shape"), what));
            }
        }
        if let Some(color) = &self.color {
            let digits = color.strip_prefix('#').filter(|d| d.len() == 6);
            if !digits.is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit())) {
                return Err(invalid(format!("{item}.color"), format!("must be like #3a7bd5, got `{color}`")));
            }
        }
        Ok(())
    }
}

/// A named moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Seconds of simulated time.
    pub time: f64,
    /// What happened, for people.
    pub name: String,
}

/// Shapes, bodies and joints that join the tables.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tables {
    #[serde(default)]
    pub(super) shapes: Vec<ShapeInfo>,
    #[serde(default)]
    pub(super) bodies: Vec<BodyInfo>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joints: Vec<JointInfo>,
}

/// Contents of the last record.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) frames: usize,
    #[serde(default)]
    pub(super) marks: Vec<Mark>,
}
