//! Curves and surfaces that joints are led by: those that can be saved, and those of one's own.

use sim_math::{
    MathError, Pose,
    curve::{BSpline, CSpline, Circle, Curve, Line, Segment},
    glam::DVec3,
    surface::{Ellipsoid, Plane, Surface},
};
use std::sync::Arc;

/// A curve by its numbers.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum JointPath {
    /// A straight line without ends.
    Line {
        /// A point of it.
        origin: DVec3,
        /// Its direction.
        direction: DVec3,
    },
    /// A straight line with two ends.
    Segment {
        /// First end.
        a: DVec3,
        /// Second end.
        b: DVec3,
    },
    /// A circle.
    Circle {
        /// Its centre.
        center: DVec3,
        /// Across its plane.
        normal: DVec3,
        /// m.
        radius: f64,
    },
    /// A uniform cubic B-spline.
    BSpline {
        /// Control points.
        points: Vec<DVec3>,
        /// True if it returns to its begin.
        closed: bool,
    },
    /// A cardinal spline: it goes through its points.
    CSpline {
        /// Points.
        points: Vec<DVec3>,
        /// Tension.
        tension: f64,
        /// True if it returns to its begin.
        closed: bool,
    },
}

/// A surface by its numbers.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum JointPatch {
    /// A plane.
    Plane {
        /// A point of it.
        origin: DVec3,
        /// Its normal.
        normal: DVec3,
    },
    /// An ellipsoid; with equal radii a ball.
    Ellipsoid {
        /// Its axes.
        frame: Pose,
        /// Half lengths along them, m.
        radii: DVec3,
    },
}

impl JointPath {
    fn build(&self) -> Result<Arc<dyn Curve>, MathError> {
        Ok(match *self {
            Self::Line { origin, direction } => Arc::new(Line::new(origin, direction)?),
            Self::Segment { a, b } => Arc::new(Segment::new(a, b)?),
            Self::Circle { center, normal, radius } => Arc::new(Circle::new(center, normal, radius)?),
            Self::BSpline { ref points, closed: true } => Arc::new(BSpline::closed(points)?),
            Self::BSpline { ref points, closed: false } => Arc::new(BSpline::open(points)?),
            Self::CSpline { ref points, tension, closed: true } => {
                Arc::new(CSpline::closed(points, tension)?)
            }
            Self::CSpline { ref points, tension, closed: false } => Arc::new(CSpline::open(points, tension)?),
        })
    }
}

impl JointPatch {
    fn build(&self) -> Result<Arc<dyn Surface>, MathError> {
        Ok(match *self {
            Self::Plane { origin, normal } => Arc::new(Plane::from_normal(origin, normal)?),
            Self::Ellipsoid { frame, radii } => Arc::new(Ellipsoid::new(frame, radii)?),
        })
    }
}

/// A curve that a joint is led by.
#[derive(Debug, Clone)]
pub struct JointCurve {
    numbers: Option<JointPath>,
    shared: Arc<dyn Curve>,
}

impl JointCurve {
    /// From numbers.
    ///
    /// # Errors
    /// Numbers that make no curve.
    pub fn new(numbers: JointPath) -> Result<Self, MathError> {
        let shared = numbers.build()?;
        Ok(Self { numbers: Some(numbers), shared })
    }

    /// One's own. It is shared by clones, and cannot be saved.
    #[must_use]
    pub fn custom(shared: Arc<dyn Curve>) -> Self {
        Self { numbers: None, shared }
    }

    /// Its numbers, unless it is one's own.
    #[must_use]
    pub fn numbers(&self) -> Option<&JointPath> {
        self.numbers.as_ref()
    }

    /// What computes it.
    #[inline]
    #[must_use]
    pub fn get(&self) -> &dyn Curve {
        &*self.shared
    }
}

/// Equal numbers; one's own are equal to their clones only.
impl PartialEq for JointCurve {
    fn eq(&self, other: &Self) -> bool {
        match (&self.numbers, &other.numbers) {
            (Some(a), Some(b)) => a == b,
            (None, None) => Arc::ptr_eq(&self.shared, &other.shared),
            _ => false,
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for JointCurve {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.numbers {
            Some(numbers) => numbers.serialize(serializer),
            None => Err(serde::ser::Error::custom("a curve of one's own cannot be saved")),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for JointCurve {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(JointPath::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A surface that a joint is led by.
#[derive(Debug, Clone)]
pub struct JointSurface {
    numbers: Option<JointPatch>,
    shared: Arc<dyn Surface>,
}

impl JointSurface {
    /// From numbers.
    ///
    /// # Errors
    /// Numbers that make no surface.
    pub fn new(numbers: JointPatch) -> Result<Self, MathError> {
        let shared = numbers.build()?;
        Ok(Self { numbers: Some(numbers), shared })
    }

    /// One's own. It is shared by clones, and cannot be saved.
    #[must_use]
    pub fn custom(shared: Arc<dyn Surface>) -> Self {
        Self { numbers: None, shared }
    }

    /// Its numbers, unless it is one's own.
    #[must_use]
    pub fn numbers(&self) -> Option<&JointPatch> {
        self.numbers.as_ref()
    }

    /// What computes it.
    #[inline]
    #[must_use]
    pub fn get(&self) -> &dyn Surface {
        &*self.shared
    }
}

/// Equal numbers; one's own are equal to their clones only.
impl PartialEq for JointSurface {
    fn eq(&self, other: &Self) -> bool {
        match (&self.numbers, &other.numbers) {
            (Some(a), Some(b)) => a == b,
            (None, None) => Arc::ptr_eq(&self.shared, &other.shared),
            _ => false,
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for JointSurface {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.numbers {
            Some(numbers) => numbers.serialize(serializer),
            None => Err(serde::ser::Error::custom("a surface of one's own cannot be saved")),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for JointSurface {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(JointPatch::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
