//! Joints of a world: a model, the bodies it names, and what it remembers.
//!
//! | file | concern |
//! |---|---|
//! | `mod` | a joint in a world |
//! | `builder` | how joints are described |
//! | `place` | a joint from its description |

mod builder;
mod place;

pub use builder::{JointBuilder, JointPartner};

use constraint_dynamics::joints::{self, BodyInverse, JointBlock, JointRows, RowLaw};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    spatial::{Force, Motion},
};
use sim_traits::{BodyId, joint::JointModel};

/// What a joint bears before it breaks. By default any load.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Breaking {
    /// Lasting force, N.
    pub force: f64,
    /// Lasting torque, N·m.
    pub torque: f64,
    /// Impulse of an impact, N·s.
    pub impulse: f64,
}

impl Default for Breaking {
    fn default() -> Self {
        Self { force: f64::INFINITY, torque: f64::INFINITY, impulse: f64::INFINITY }
    }
}

/// What a joint does not let happen, as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointMiss {
    /// Largest distance, m.
    pub linear: f64,
    /// Largest angle, rad.
    pub angular: f64,
}

/// A joint in a world.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Joint {
    pub(crate) model: JointModel,
    pub(crate) bodies: Vec<BodyId>,
    pub(crate) enabled: bool,
    pub(crate) collide: bool,
    pub(crate) broken: bool,
    pub(crate) breaking: Breaking,
    pub(crate) tag: u64,
    /// Unwrapped angles, places on curves.
    pub(crate) memory: Vec<f64>,
    /// Impulses of its blocks in the last step.
    pub(crate) impulses: Vec<DVec3>,
    /// What it exerted on its second partner in the last step, about that anchor.
    pub(crate) reaction: Force,
    /// Bit 2 k for the lower limit of free axis k, bit 2 k + 1 for the upper: those it is at.
    pub(crate) at_limits: u32,
}

impl Joint {
    /// What it holds, with anchors in the frames of the centres of mass of [`Joint::bodies`].
    #[inline]
    #[must_use]
    pub fn model(&self) -> &JointModel {
        &self.model
    }

    /// The bodies that its anchors name by number.
    #[inline]
    #[must_use]
    pub fn bodies(&self) -> &[BodyId] {
        &self.bodies
    }

    /// True if it acts: enabled and not broken.
    #[inline]
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.enabled && !self.broken
    }

    /// True unless it was switched off.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// True if it broke under its load.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// True if its bodies collide with each other.
    #[must_use]
    pub fn lets_collide(&self) -> bool {
        self.collide
    }

    /// What it bears.
    #[must_use]
    pub fn breaking(&self) -> Breaking {
        self.breaking
    }

    /// A number that the user attached.
    #[must_use]
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Force and torque of the last step on the second partner, about the second anchor, world axes, N and N·m.
    #[must_use]
    pub fn reaction(&self) -> Force {
        self.reaction
    }

    /// True if free axis `axis` was at its lower or upper limit in the last step.
    #[must_use]
    pub fn is_at_limit(&self, axis: usize, high: bool) -> bool {
        limit_bit(axis, high).is_some_and(|bit| self.at_limits & bit != 0)
    }

    // For steppers.

    /// Adds its rows for poses of the centres of mass of its bodies, in the order of [`Joint::bodies`], and keeps its unwrapped angles.
    /// `inverses` are asked only for a joint that is soft by frequency.
    pub fn rows(&mut self, poses: &[Pose], inverses: &[BodyInverse], out: &mut JointRows) {
        let first = out.blocks.len();
        joints::rows(&self.model, poses, &mut self.memory, out);
        if let Some(softness) = self.model.softness {
            joints::soften(out, first, softness, inverses);
        }
    }

    /// Adds its rows for other poses, as if its bodies were there; angles are followed, but not kept.
    pub fn rows_at(&self, poses: &[Pose], memory: &mut Vec<f64>, out: &mut JointRows) {
        memory.clone_from(&self.memory);
        joints::rows(&self.model, poses, memory, out);
    }

    /// Unwrapped angles and places on curves, as its kind keeps them.
    #[inline]
    #[must_use]
    pub fn memory(&self) -> &[f64] {
        &self.memory
    }

    /// Impulses of its blocks in the last step; as many as it had blocks then, or none.
    #[inline]
    #[must_use]
    pub fn impulses(&self) -> &[DVec3] {
        &self.impulses
    }

    /// The same, to be replaced after a step. Warm starts read them, so they belong to the state.
    #[inline]
    pub fn impulses_mut(&mut self) -> &mut Vec<DVec3> {
        &mut self.impulses
    }

    /// Force and torque on the body of the second anchor, about that anchor, that impulses of some of its blocks exert over a time, s.
    /// If the second anchor is fixed to the world, what is exerted on the world.
    #[must_use]
    pub fn exerted(
        &self,
        rows: &JointRows,
        blocks: &[JointBlock],
        impulses: &[DVec3],
        poses: &[Pose],
        time: f64,
    ) -> Force {
        let Some(anchor) = self.model.anchors.get(1) else { return Force::ZERO };
        let place = |body: u32| poses.get(body as usize).copied().unwrap_or(Pose::IDENTITY);
        let point =
            if anchor.is_world() { anchor.frame } else { place(anchor.body) * anchor.frame }.translation;
        let mut sum = Force::ZERO;
        for (block, &impulse) in blocks.iter().zip(impulses) {
            for side in rows.sides_of(block) {
                // On the world acts what acts on nobody else.
                let sign = match (anchor.is_world(), side.body == anchor.body) {
                    (true, _) => -1.0,
                    (false, true) => 1.0,
                    (false, false) => continue,
                };
                let force = side.forces * impulse * sign;
                let arm = place(side.body).translation - point;
                sum = Force::new(
                    sum.moment + side.moments * impulse * sign + arm.cross(force),
                    sum.linear + force,
                );
            }
        }
        Force::new(sum.moment / time, sum.linear / time)
    }

    /// Value and rate of a free axis, unwrapped; `None` if there is no such axis.
    pub(crate) fn value(&self, axis: usize, poses: &[Pose], motions: &[Motion]) -> Option<[f64; 2]> {
        let (mut out, mut memory) = (JointRows::default(), self.memory.clone());
        joints::coordinates(&self.model, poses, &mut memory, &mut out);
        let block = out.blocks.get(axis)?;
        Some([block.position.x, out.velocity(block, motions).x])
    }

    /// Largest errors of what is held.
    pub(crate) fn miss(&self, poses: &[Pose]) -> JointMiss {
        let (mut out, mut memory) = (JointRows::default(), self.memory.clone());
        joints::rows(&self.model, poses, &mut memory, &mut out);
        let mut miss = JointMiss::default();
        for block in &out.blocks {
            for row in 0..block.rows as usize {
                let error = match block.laws[row] {
                    RowLaw::Hold => block.position[row].abs(),
                    RowLaw::Limit { .. } => (-block.position[row]).max(0.0),
                    RowLaw::Drive { .. } | RowLaw::Friction { .. } => continue,
                };
                let shifts = out.sides_of(block).iter().any(|s| s.forces.col(row) != DVec3::ZERO);
                let largest = if shifts { &mut miss.linear } else { &mut miss.angular };
                *largest = largest.max(error);
            }
        }
        miss
    }
}

/// The bit of a limit; a joint has at most six free axes.
pub(crate) fn limit_bit(axis: usize, high: bool) -> Option<u32> {
    (axis < 6).then(|| 1 << (2 * axis as u32 + u32::from(high)))
}

/// How easily a body moves, for rows that are soft by frequency.
#[must_use]
pub(crate) fn inverse(body: &crate::body::Body) -> BodyInverse {
    if body.is_free() {
        BodyInverse { mass: body.inverse_mass(), inertia: body.inverse_inertia() }
    } else {
        BodyInverse { mass: 0.0, inertia: DMat3::ZERO }
    }
}
