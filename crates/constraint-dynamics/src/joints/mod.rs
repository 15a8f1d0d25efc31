//! Joints as rows: errors and Jacobians of every kind of joint, for any solver.
//!
//! | file | concern |
//! |---|---|
//! | `mod` | what rows are |
//! | `write` | how the kinds put rows together |
//! | `rotation` | errors of rotations that are good up to half a turn, unwrapped angles |
//! | `axis` | limits, motors, springs, friction of a free axis |
//! | `softness` | springs in place of what is held |
//! | one for each kind | its equation and Jacobian |
//!
//! ```
//! use constraint_dynamics::joints::{self, JointRows, RowLaw};
//! use sim_math::{Pose, glam::DVec3};
//! use sim_traits::joint::{JointAnchor, JointKind, JointModel};
//!
//! // A ball joint 1 m above the centre of a body, fixed to the world at the origin; the body is 0.1 m too low.
//! let above = Pose::from_translation(DVec3::Z);
//! let joint = JointModel::new(JointKind::Ball { drive: None }, [JointAnchor::world(Pose::IDENTITY), JointAnchor::new(0, above)]);
//! let poses = [Pose::from_translation(DVec3::new(0.0, 0.0, -1.1))];
//! let mut memory = vec![0.0; joint.kind.memory_len()];
//! joints::begin(&joint, &poses, &mut memory);
//! let mut rows = JointRows::default();
//! joints::rows(&joint, &poses, &mut memory, &mut rows);
//! let block = &rows.blocks[0];
//! assert_eq!((block.rows, block.laws[0]), (3, RowLaw::Hold));
//! assert!((block.position - DVec3::new(0.0, 0.0, -0.1)).length() < 1e-15);
//! assert_eq!(rows.sides_of(block)[0].forces.z_axis, DVec3::Z);
//! ```

mod axis;
mod ball;
mod curve;
mod cylindrical;
mod distance;
mod gear;
mod hinge;
mod orientation;
mod planar;
mod pulley;
mod rack_and_pinion;
mod rotation;
mod screw;
mod six_axis;
mod slider;
mod softness;
mod surface;
#[cfg(test)]
mod testkit;
mod universal;
mod velocity;
mod weld;
mod wheel;
mod write;

pub use softness::{BodyInverse, soften};

use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    spatial::Motion,
};
use sim_traits::joint::{JointAnchor, JointKind, JointModel};
use std::ops::Range;
use write::Writer;

/// What one row asks for. x is the row's position (m or rad), u its velocity dx/dt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowLaw {
    /// x stays zero, whatever impulse it takes.
    Hold,
    /// x stays at zero or above; only impulses that push it up. Approaches bounce with this restitution.
    Limit {
        /// Share of the speed of approach that is given back.
        restitution: f64,
    },
    /// force = −stiffness·x − damping·(u − speed), at most `most` either way. `damping` may be infinite: then u = speed as
    /// long as `most` (may be infinite) allows (velocity motor); with it infinite, stiffness is not used.
    Drive {
        /// N/m or N·m/rad.
        stiffness: f64,
        /// N·s/m or N·m·s/rad.
        damping: f64,
        /// Wanted velocity, m/s or rad/s.
        speed: f64,
        /// Greatest force or torque.
        most: f64,
    },
    /// Dry friction: a force of at most `most` that opposes u.
    Friction {
        /// Greatest force or torque.
        most: f64,
    },
}

/// How the rows of a block feel one body: `u_i` = Σ over sides (`moments_i` · ω + `forces_i` · v at the centre of mass), world
/// axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointSide {
    /// Number in the joint's list of bodies.
    pub body: u32,
    /// Column i belongs to row i.
    pub moments: DMat3,
    /// Column i belongs to row i.
    pub forces: DMat3,
}

impl JointSide {
    /// What it adds to the velocities of the rows.
    #[inline]
    #[must_use]
    pub fn velocity(&self, body: Motion) -> DVec3 {
        self.moments.transpose() * body.angular + self.forces.transpose() * body.linear
    }
}

/// Up to three rows that act on the same bodies.
#[derive(Debug, Clone, PartialEq)]
pub struct JointBlock {
    /// Into [`JointRows::sides`].
    pub sides: Range<u32>,
    /// 1 to 3.
    pub rows: u8,
    /// One for each row; of those beyond `rows` nothing is asked.
    pub laws: [RowLaw; 3],
    /// x.
    pub position: DVec3,
    /// Part of dx/dt that does not come from the listed bodies: moving targets, scripted curves. u = J v + drift.
    pub drift: DVec3,
    /// Of which free axis it is a limit, and whether the upper one.
    pub limit: Option<(u32, bool)>,
}

/// Rows of many joints; buffers are reused.
#[derive(Debug, Clone, Default)]
pub struct JointRows {
    /// In the order of the joints.
    pub blocks: Vec<JointBlock>,
    /// Of all blocks.
    pub sides: Vec<JointSide>,
}

impl JointRows {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.sides.clear();
    }

    /// The sides of one of its blocks.
    #[inline]
    #[must_use]
    pub fn sides_of(&self, block: &JointBlock) -> &[JointSide] {
        self.sides.get(block.sides.start as usize..block.sides.end as usize).unwrap_or(&[])
    }

    /// dx/dt of the rows of a block, for the velocities of the joint's bodies at their centres of mass.
    #[must_use]
    pub fn velocity(&self, block: &JointBlock, bodies: &[Motion]) -> DVec3 {
        let motion = |side: &JointSide| bodies.get(side.body as usize).copied().unwrap_or(Motion::ZERO);
        self.sides_of(block).iter().fold(block.drift, |u, side| u + side.velocity(motion(side)))
    }
}

/// Adds the rows of a joint. `poses` are the frames of the centres of mass of its bodies in the world, in the order of its list;
/// `memory` has [`JointKind::memory_len`] numbers, set by [`begin`] and kept by the caller from then on.
///
/// A joint that names a body beyond `poses`, or has a `memory`, anchors or axes of another length, adds nothing. A joint that is
/// where it has no equation (a wheel that lies flat) adds nothing until it has one again.
pub fn rows(joint: &JointModel, poses: &[Pose], memory: &mut [f64], out: &mut JointRows) {
    evaluate(joint, poses, memory, &mut Writer::new(out, &joint.axes, poses, false));
}

/// Adds one row for each free axis, whatever acts on it: its `position` is the value of the axis, its sides are its rate. The laws
/// are friction of zero.
pub fn coordinates(joint: &JointModel, poses: &[Pose], memory: &mut [f64], out: &mut JointRows) {
    evaluate(joint, poses, memory, &mut Writer::new(out, &joint.axes, poses, true));
}

/// Sets the memory of a joint that begins here: angles between minus and plus half a turn, the closest point of a curve.
pub fn begin(joint: &JointModel, poses: &[Pose], memory: &mut [f64]) {
    memory.fill(0.0);
    if let JointKind::Curve { curve: path } = &joint.kind {
        if fits(joint, poses, memory) {
            curve::begin(
                path,
                &Writer::new(&mut JointRows::default(), &[], poses, true),
                &joint.anchors,
                memory,
            );
        }
    }
    coordinates(joint, poses, memory, &mut JointRows::default());
}

fn fits(joint: &JointModel, poses: &[Pose], memory: &[f64]) -> bool {
    let (least, most) = joint.kind.anchors();
    let known = |a: &JointAnchor| a.is_world() || (a.body as usize) < poses.len();
    (least..=most).contains(&joint.anchors.len())
        && joint.anchors.iter().all(known)
        && joint.axes.len() == joint.kind.free_axes()
        && memory.len() == joint.kind.memory_len()
}

fn evaluate(joint: &JointModel, poses: &[Pose], memory: &mut [f64], out: &mut Writer<'_>) {
    if !fits(joint, poses, memory) {
        return;
    }
    let anchors = &joint.anchors;
    let at = |k: usize| out.place(&anchors[k]);
    let (a, b) = (at(0), at(1));
    match &joint.kind {
        JointKind::Ball { drive } => ball::rows(&a, &b, drive.as_ref(), &mut memory[0], out),
        JointKind::Hinge => hinge::rows(&a, &b, &mut memory[0], out),
        JointKind::Slider => slider::rows(&a, &b, out),
        JointKind::Cylindrical => cylindrical::rows(&a, &b, &mut memory[0], out),
        JointKind::Universal => universal::rows(&a, &b, memory, out),
        JointKind::Weld => weld::rows(&a, &b, out),
        JointKind::Planar => planar::rows(&a, &b, &mut memory[0], out),
        JointKind::Orientation => orientation::rows(&a, &b, out),
        JointKind::Distance { length } => distance::bar(&a, &b, *length, out),
        JointKind::Rope { length, restitution } => distance::rope(&a, &b, *length, *restitution, out),
        JointKind::MultiBar { length } => pulley::bar(anchors, *length, out),
        JointKind::MultiRope { length, restitution } => pulley::rope(anchors, *length, *restitution, out),
        JointKind::Curve { curve: path } => curve::rows(&a, &b, path, memory, out),
        JointKind::Surface { surface: patch, friction } => surface::rows(&a, &b, patch, *friction, out),
        JointKind::Wheel { surface: patch, radius } => wheel::rows(&a, &b, patch, *radius, out),
        JointKind::Velocity => velocity::rows(&a, &b, out),
        JointKind::Gear { ratio, phase } => gear::rows(&a, &b, &at(2), &at(3), *ratio, *phase, memory, out),
        JointKind::RackAndPinion { radius, phase } => {
            rack_and_pinion::rows(&a, &b, &at(2), &at(3), *radius, *phase, &mut memory[0], out);
        }
        JointKind::Screw { pitch, phase } => screw::rows(&a, &b, *pitch, *phase, &mut memory[0], out),
        JointKind::SixAxis => six_axis::rows(&a, &b, &mut memory[0], out),
        // The set of kinds may grow in `sim-traits`; one that is not known here has no rows.
        _ => {}
    }
}
