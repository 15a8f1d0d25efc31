//! Forces on bodies, as data.
//!
//! | file | concern |
//! |---|---|
//! | `mod` | what there is |
//! | `wrench` | force and torque at a state |
//! | `cluster` | bodies whose motions depend on each other |
//! | `integrate` | their motion, step by step |

pub(crate) mod cluster;
mod integrate;
mod wrench;

pub(crate) use integrate::{Exerted, ForceScratch};

use crate::slots::world_id;
use rigid_impulse::{BodyError, BodyModel, BodyState};
use sim_math::{glam::DVec3, spatial::Force};
use sim_traits::BodyId;
use std::{fmt::Debug, sync::Arc};

world_id!(ForceId, "force");

/// Where a spring holds on to.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Anchor {
    /// A point of the world, m.
    World(DVec3),
    /// A point of a body, in the user's frame of that body, m.
    Body(BodyId, DVec3),
}

/// A force that the user gives: a function of time and of the state of one body, without memory.
///
/// **Contract.** The same arguments give the same result, bit for bit; the result is as smooth as the motion is to be
/// accurate. A result that is not finite freezes the body, as every state that stops being finite does.
pub trait ForceField: Debug + Send + Sync {
    /// Force and moment about the centre of mass, world axes, N and N·m, at world time `t` (s), on a body that is this and is
    /// there.
    fn wrench(&self, t: f64, model: &BodyModel, state: &BodyState) -> Force;
}

/// A force field that several bodies may share; two are equal if they are the same object.
#[derive(Debug, Clone)]
pub struct Field(pub Arc<dyn ForceField>);

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0), Arc::as_ptr(&other.0))
    }
}

/// What pulls at a body besides gravity: a function of the present state, without memory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ForceGenerator {
    /// Constant force at the centre of mass and constant torque, world axes.
    Constant {
        /// On which body.
        body: BodyId,
        /// N.
        force: DVec3,
        /// N·m.
        torque: DVec3,
    },
    /// Spring and damper between two points.
    Spring {
        /// One end.
        a: Anchor,
        /// The other end.
        b: Anchor,
        /// N/m.
        stiffness: f64,
        /// N·s/m.
        damping: f64,
        /// m.
        rest_length: f64,
    },
    /// A muscle: pulls two points together with a force that does not depend on their distance, and damps.
    Muscle {
        /// One end.
        a: Anchor,
        /// The other end.
        b: Anchor,
        /// Pull, N.
        tension: f64,
        /// N·s/m.
        damping: f64,
    },
    /// A motor: a torque about a fixed axis that brings the body to an angular speed, as far as its strength allows:
    /// gain (rate − ω·axis), at most `limit`.
    Servo {
        /// On which body.
        body: BodyId,
        /// Unit vector, world axes.
        axis: DVec3,
        /// rad/s.
        rate: f64,
        /// N·m·s.
        gain: f64,
        /// N·m; may be infinite.
        limit: f64,
    },
    /// Viscous drag against the velocity of the centre of mass and the angular velocity.
    Drag {
        /// On which body.
        body: BodyId,
        /// N·s/m.
        linear: f64,
        /// N·m·s.
        angular: f64,
    },
    /// A function that the user gives. The last one, because it has no form as data, and those that have are counted.
    #[cfg_attr(feature = "serde", serde(skip))]
    Field {
        /// On which body.
        body: BodyId,
        /// The function.
        field: Field,
    },
}

impl ForceGenerator {
    /// The bodies it acts on.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> {
        let of = |anchor: &Anchor| match *anchor {
            Anchor::World(_) => None,
            Anchor::Body(body, _) => Some(body),
        };
        let both = match self {
            Self::Constant { body, .. }
            | Self::Drag { body, .. }
            | Self::Servo { body, .. }
            | Self::Field { body, .. } => [Some(*body), None],
            Self::Spring { a, b, .. } | Self::Muscle { a, b, .. } => [of(a), of(b)],
        };
        both.into_iter().flatten()
    }

    /// True if the motion under it has a closed form: a constant force without torque.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        matches!(self, Self::Constant { torque, .. } if *torque == DVec3::ZERO)
    }

    /// True if it holds on to points, which may be of bodies of any kind.
    pub(crate) fn has_anchors(&self) -> bool {
        matches!(self, Self::Spring { .. } | Self::Muscle { .. })
    }

    pub(crate) fn validate(&self) -> Result<(), BodyError> {
        let finite = |what, v: DVec3| match v.to_array().into_iter().find(|x| !x.is_finite()) {
            Some(value) => Err(BodyError::NonFinite { what, value }),
            None => Ok(()),
        };
        let natural = |what, value: f64| {
            if !value.is_finite() {
                Err(BodyError::NonFinite { what, value })
            } else if value < 0.0 {
                Err(BodyError::Negative { what, value })
            } else {
                Ok(())
            }
        };
        match *self {
            Self::Constant { force, torque, .. } => {
                finite("force", force)?;
                finite("torque", torque)
            }
            Self::Spring { a, b, stiffness, damping, rest_length } => {
                for anchor in [a, b] {
                    let (Anchor::World(point) | Anchor::Body(_, point)) = anchor;
                    finite("spring anchor", point)?;
                }
                natural("stiffness", stiffness)?;
                natural("damping", damping)?;
                natural("rest length", rest_length)
            }
            Self::Muscle { a, b, tension, damping } => {
                for anchor in [a, b] {
                    let (Anchor::World(point) | Anchor::Body(_, point)) = anchor;
                    finite("muscle anchor", point)?;
                }
                finite("tension", DVec3::splat(tension))?;
                natural("damping", damping)
            }
            Self::Servo { axis, rate, gain, limit, .. } => {
                finite("servo axis", axis)?;
                finite("servo rate", DVec3::splat(rate))?;
                natural("servo gain", gain)?;
                let length = axis.length();
                if (length - 1.0).abs() > 1e-9 {
                    return Err(BodyError::NotUnit { what: "servo axis", length });
                }
                if limit.is_nan() || limit < 0.0 {
                    return Err(BodyError::Negative { what: "servo limit", value: limit });
                }
                Ok(())
            }
            Self::Field { .. } => Ok(()),
            Self::Drag { linear, angular, .. } => {
                natural("linear drag", linear)?;
                natural("angular drag", angular)
            }
        }
    }
}
