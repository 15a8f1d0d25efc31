//! What a joint must not be.

use super::{JointAxis, JointKind, JointModel, JointMotor, JointSoftness};
use thiserror::Error;

/// A joint that cannot be.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum JointError {
    /// A number is NaN, or infinite where it must not be.
    #[error("{what} is not finite: {value}")]
    NonFinite {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A number that must not be negative is.
    #[error("{what} must not be negative, got {value}")]
    Negative {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A length that must be positive is not.
    #[error("{what} must be positive, got {value}")]
    NotPositive {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// Restitution above one makes energy.
    #[error("restitution must be between 0 and 1, got {value}")]
    Restitution {
        /// What was given.
        value: f64,
    },
    /// The low limit is above the high one.
    #[error("limits are reversed: {low} is above {high}")]
    LimitsReversed {
        /// Low limit.
        low: f64,
        /// High limit.
        high: f64,
    },
    /// A setting that this axis cannot have.
    #[error("a {kind} joint cannot have {what}")]
    Unsupported {
        /// Kind of joint.
        kind: &'static str,
        /// Which setting.
        what: &'static str,
    },
    /// Something is wrong with an axis.
    #[error("axis {axis}: {source}")]
    Axis {
        /// Number among the free axes.
        axis: usize,
        /// What is wrong.
        source: Box<JointError>,
    },
    /// Wrong number of anchors or of settings of axes.
    #[error("a {kind} joint needs {needed} {what}, got {got}")]
    Count {
        /// Kind of joint.
        kind: &'static str,
        /// What is counted.
        what: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// Two anchors whose relative motion is held are on the same body.
    #[error("anchors {first} and {second} are on the same body")]
    SameBody {
        /// Number of one.
        first: usize,
        /// Number of the other.
        second: usize,
    },
    /// An anchor's orientation is no unit quaternion.
    #[error("anchor {anchor}: orientation must have length 1, got {length}")]
    NotUnit {
        /// Number of the anchor.
        anchor: usize,
        /// Its length.
        length: f64,
    },
    /// The target orientation of a drive is no unit quaternion.
    #[error("target orientation must have length 1, got {length}")]
    TargetNotUnit {
        /// Its length.
        length: f64,
    },
}

fn finite(what: &'static str, value: f64) -> Result<(), JointError> {
    if value.is_finite() { Ok(()) } else { Err(JointError::NonFinite { what, value }) }
}

/// Not negative; infinity is allowed.
fn not_negative(what: &'static str, value: f64) -> Result<(), JointError> {
    if value.is_nan() {
        Err(JointError::NonFinite { what, value })
    } else if value < 0.0 {
        Err(JointError::Negative { what, value })
    } else {
        Ok(())
    }
}

fn spring(what: &'static str, value: f64) -> Result<(), JointError> {
    not_negative(what, value)?;
    finite(what, value)
}

fn positive(what: &'static str, value: f64) -> Result<(), JointError> {
    finite(what, value)?;
    if value > 0.0 { Ok(()) } else { Err(JointError::NotPositive { what, value }) }
}

fn restitution(value: f64) -> Result<(), JointError> {
    finite("restitution", value)?;
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(JointError::Restitution { value }) }
}

impl JointAxis {
    /// `Ok` for settings that make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), JointError> {
        if let Some(limits) = self.limits {
            for (what, value) in [("low limit", limits.low), ("high limit", limits.high)] {
                if value.is_nan() {
                    return Err(JointError::NonFinite { what, value });
                }
            }
            let empty = limits.low == f64::INFINITY || limits.high == f64::NEG_INFINITY;
            if limits.low > limits.high || empty {
                return Err(JointError::LimitsReversed { low: limits.low, high: limits.high });
            }
            restitution(limits.restitution)?;
        }
        match self.motor {
            Some(JointMotor::Velocity { speed, most }) => {
                finite("speed", speed)?;
                not_negative("greatest force", most)?;
            }
            Some(JointMotor::Position { target, speed, stiffness, damping, most }) => {
                finite("target", target)?;
                finite("speed", speed)?;
                spring("stiffness", stiffness)?;
                spring("damping", damping)?;
                not_negative("greatest force", most)?;
            }
            None => {}
        }
        if let Some(s) = self.spring {
            finite("rest", s.rest)?;
            spring("stiffness", s.stiffness)?;
            spring("damping", s.damping)?;
        }
        spring("friction", self.friction)
    }
}

impl JointModel {
    /// `Ok` for a joint that makes sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), JointError> {
        let kind = self.kind.name();
        let (least, most) = self.kind.anchors();
        let count = |what, needed, got| Err(JointError::Count { kind, what, needed, got });
        if self.anchors.len() < least || self.anchors.len() > most {
            return count("anchors", least, self.anchors.len());
        }
        if self.axes.len() != self.kind.free_axes() {
            return count("settings of free axes", self.kind.free_axes(), self.axes.len());
        }
        for (k, anchor) in self.anchors.iter().enumerate() {
            for value in
                anchor.frame.translation.to_array().into_iter().chain(anchor.frame.rotation.to_array())
            {
                finite("anchor", value)?;
            }
            let length = anchor.frame.rotation.length();
            if (length - 1.0).abs() > 1e-6 {
                return Err(JointError::NotUnit { anchor: k, length });
            }
        }
        if !matches!(self.kind, JointKind::MultiBar { .. } | JointKind::MultiRope { .. }) {
            for pair in (0..self.anchors.len()).step_by(2) {
                if self.anchors[pair].body == self.anchors[pair + 1].body {
                    return Err(JointError::SameBody { first: pair, second: pair + 1 });
                }
            }
        }
        for (axis, settings) in self.axes.iter().enumerate() {
            let named = |source| JointError::Axis { axis, source: Box::new(source) };
            settings.check().map_err(named)?;
            let what = match self.kind {
                JointKind::SixAxis => continue,
                _ if settings.locked => "a locked axis",
                JointKind::Ball { .. } if axis == 0 && settings.motor.is_some() => "a motor of its swing",
                _ => continue,
            };
            return Err(named(JointError::Unsupported { kind, what }));
        }
        self.check_kind()?;
        self.check_softness()
    }

    fn check_kind(&self) -> Result<(), JointError> {
        match self.kind {
            JointKind::Ball { drive: Some(drive) } => {
                let length = drive.target.length();
                finite("target", length)?;
                if (length - 1.0).abs() > 1e-6 {
                    return Err(JointError::TargetNotUnit { length });
                }
                spring("stiffness", drive.stiffness)?;
                not_negative("damping", drive.damping)?;
                not_negative("greatest torque", drive.most)
            }
            JointKind::Distance { length } | JointKind::MultiBar { length } => positive("length", length),
            JointKind::Rope { length, restitution: e } | JointKind::MultiRope { length, restitution: e } => {
                positive("length", length)?;
                restitution(e)
            }
            JointKind::Surface { friction, .. } => spring("friction", friction),
            JointKind::Wheel { radius, .. } => positive("radius", radius),
            JointKind::Gear { ratio, phase } => finite("ratio", ratio).and(finite("phase", phase)),
            JointKind::RackAndPinion { radius, phase } => {
                finite("radius", radius).and(finite("phase", phase))
            }
            JointKind::Screw { pitch, phase } => finite("pitch", pitch).and(finite("phase", phase)),
            _ => Ok(()),
        }
    }

    fn check_softness(&self) -> Result<(), JointError> {
        match self.softness {
            Some(JointSoftness::Stiffness { linear, linear_damping, angular, angular_damping }) => {
                spring("stiffness", linear)?;
                spring("damping", linear_damping)?;
                spring("stiffness", angular)?;
                spring("damping", angular_damping)
            }
            Some(JointSoftness::Frequency { frequency, ratio }) => {
                positive("frequency", frequency)?;
                spring("damping ratio", ratio)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::{JointAnchor, JointDrive};
    use sim_math::{
        Pose,
        glam::{DQuat, DVec3},
    };

    fn between(kind: JointKind, bodies: &[u32]) -> JointModel {
        JointModel::new(kind, bodies.iter().map(|&body| JointAnchor::new(body, Pose::IDENTITY)))
    }

    #[test]
    fn joints_that_cannot_be_are_named() {
        let said = |joint: JointModel| joint.check().unwrap_err().to_string();
        let slider = |axis: JointAxis| JointModel { axes: vec![axis], ..between(JointKind::Slider, &[0, 1]) };
        assert!(slider(JointAxis::default().limits(f64::NEG_INFINITY, 1.0)).check().is_ok());
        assert!(
            said(slider(JointAxis::default().limits(2.0, 1.0)))
                .contains("axis 0: limits are reversed: 2 is above 1")
        );
        assert!(
            said(slider(JointAxis::default().limits(f64::NAN, 1.0))).contains("low limit is not finite: NaN")
        );
        assert!(said(slider(JointAxis::default().limits(f64::INFINITY, f64::INFINITY))).contains("reversed"));
        assert!(
            said(slider(JointAxis::default().friction(-1.0)))
                .contains("friction must not be negative, got -1")
        );
        assert!(
            said(slider(JointAxis::default().spring(0.0, -2.0, 0.0)))
                .contains("stiffness must not be negative")
        );
        assert!(said(slider(JointAxis::locked())).contains("a slider joint cannot have a locked axis"));
        let motor = JointMotor::Velocity { speed: 1.0, most: -3.0 };
        assert!(
            said(slider(JointAxis::default().motor(motor)))
                .contains("greatest force must not be negative, got -3")
        );
        let motor = JointMotor::Velocity { speed: 1.0, most: f64::INFINITY };
        assert!(slider(JointAxis::default().motor(motor)).check().is_ok());
        assert!(said(between(JointKind::Hinge, &[1, 1])).contains("anchors 0 and 1 are on the same body"));
        assert!(said(between(JointKind::Hinge, &[JointAnchor::WORLD; 2])).contains("same body"));
        assert!(said(between(JointKind::Hinge, &[0])).contains("a hinge joint needs 2 anchors, got 1"));
        let mut joint = between(JointKind::Hinge, &[0, 1]);
        joint.axes.clear();
        assert!(said(joint).contains("needs 1 settings of free axes, got 0"));
        assert!(
            said(between(JointKind::Distance { length: 0.0 }, &[0, 1]))
                .contains("length must be positive, got 0")
        );
        let rope = JointKind::Rope { length: 1.0, restitution: 1.5 };
        assert!(said(between(rope, &[0, 1])).contains("between 0 and 1, got 1.5"));
        let mut joint = between(JointKind::Weld, &[0, 1]);
        joint.anchors[1].frame.rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0);
        assert!(said(joint).contains("anchor 1: orientation must have length 1, got 2"));
        let mut joint = between(JointKind::Weld, &[0, 1]);
        joint.anchors[0].frame.translation = DVec3::new(0.0, f64::NAN, 0.0);
        assert!(said(joint).contains("anchor is not finite: NaN"));
        let mut joint = between(JointKind::Weld, &[0, 1]);
        joint.softness = Some(JointSoftness::Frequency { frequency: 0.0, ratio: 1.0 });
        assert!(said(joint).contains("frequency must be positive"));
        let drive = JointDrive { target: DQuat::IDENTITY * 3.0, stiffness: 1.0, damping: 0.0, most: 1.0 };
        assert!(said(between(JointKind::Ball { drive: Some(drive) }, &[0, 1])).contains("length 1, got 3"));
        assert!(between(JointKind::MultiBar { length: 1.0 }, &[0, 1, 0, 2]).check().is_ok());
        assert!(
            said(between(JointKind::Gear { ratio: f64::NAN, phase: 0.0 }, &[0, 1, 0, 2]))
                .contains("ratio is not finite")
        );
        assert!(
            said(between(JointKind::Gear { ratio: 1.0, phase: 0.0 }, &[0, 1, 2, 2]))
                .contains("anchors 2 and 3")
        );
    }
}
