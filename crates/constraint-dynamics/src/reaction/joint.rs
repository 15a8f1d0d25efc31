//! Joints as constraints of a frame.
//!
//! # Reference
//!
//! Barenbrug (2000), chapter 4.1; rows and errors are those of [`crate::joints`], without false roots.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | f, m | what a row of a joint exerts on a body: force, and moment about the centre of mass | - |
//! | ρ | anchor, fixed to the body | m |
//!
//! # Formula
//!
//! ```text
//! on a body with one anchor: force f at ρ, torque m − (q ρ) × f;   with several anchors: force f at the centre, torque m
//! ```
//!
//! # Cost
//!
//! Two evaluations of the rows at the start of a frame, and one at each look at its end.
//!
//! # Numerics
//!
//! Force and torque stay constant in the world, the anchor in the body. Directions are taken where the bodies will be in the middle of the frame with the velocities of now: the
//! reference takes them at its start, which makes bars, curves and surfaces methods of order one. A wheel has its anchor at its centre, so that the torque of the ground does not turn with it:
//! this is what the force at the extrapolated contact of the reference is for, and exact on a plane.
//!
//! # Failure
//!
//! A joint whose rows change their number within a frame (a wheel that falls flat) is not looked at until the next frame.
//!
//! # Tested by
//!
//! `analytic_and_empirical_jacobians_agree_for_every_kind_of_joint`

use super::{
    body::{BodyState, ReactionBody},
    constraint::{Constraints, ReactionRow, RowSide, RowTable, Site, arm},
};
use crate::joints::{self, BodyInverse, JointRows, RowLaw};
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_traits::joint::{JointKind, JointModel};

/// A joint between numbered bodies.
#[derive(Debug, Clone)]
pub struct JointConstraint {
    /// What it holds.
    pub model: JointModel,
    /// Numbers of the bodies that the model names.
    pub bodies: Vec<u32>,
    /// Unwrapped angles, places on curves: those of the start of the frame.
    pub memory: Vec<f64>,
    /// Share of the error that is asked to vanish at an iteration.
    pub stiffness: f64,
}

impl JointConstraint {
    /// A joint whose memory begins here.
    #[must_use]
    pub fn new(model: JointModel, bodies: Vec<u32>, poses: &[Pose]) -> Self {
        let mut memory = vec![0.0; model.kind.memory_len()];
        joints::begin(&model, poses, &mut memory);
        Self { model, bodies, memory, stiffness: 1.0 }
    }
}

/// Joints, with the buffers that they need.
#[derive(Debug, Clone, Default)]
pub struct JointConstraints {
    /// The joints.
    pub joints: Vec<JointConstraint>,
    rows: JointRows,
    poses: Vec<Pose>,
    motions: Vec<Motion>,
    inverses: Vec<BodyInverse>,
    memory: Vec<f64>,
}

impl JointConstraints {
    /// Of some joints.
    #[must_use]
    pub fn new(joints: Vec<JointConstraint>) -> Self {
        Self { joints, ..Self::default() }
    }

    /// Evaluates joint `k` where its bodies are.
    fn look(&mut self, k: usize, state: impl Fn(u32) -> BodyState) {
        let joint = &self.joints[k];
        self.poses.clear();
        self.motions.clear();
        for &body in &joint.bodies {
            let state = state(body);
            self.poses.push(state.pose);
            self.motions.push(state.velocity);
        }
        self.memory.clone_from(&joint.memory);
        self.rows.clear();
        joints::rows(&joint.model, &self.poses, &mut self.memory, &mut self.rows);
    }

    /// Goes on to the end of a frame: angles and places on curves are followed.
    pub fn follow(&mut self, bodies: &[BodyState]) {
        for k in 0..self.joints.len() {
            self.look(k, |body| bodies[body as usize]);
            self.joints[k].memory.clone_from(&self.memory);
        }
    }
}

/// True for rows of a kind that have no place.
fn by_velocity(kind: &JointKind, row: usize) -> bool {
    match kind {
        JointKind::Velocity => true,
        JointKind::Wheel { .. } => row > 0,
        _ => false,
    }
}

impl Constraints for JointConstraints {
    fn count(&self) -> usize {
        self.joints.len()
    }

    fn bodies(&self, k: usize) -> &[u32] {
        &self.joints[k].bodies
    }

    fn size(&self, k: usize) -> usize {
        match self.joints[k].model.kind {
            JointKind::Distance { .. } | JointKind::Rope { .. } => 1,
            JointKind::Ball { .. } => 3,
            _ => 6,
        }
    }

    fn begin(&mut self, k: usize, bodies: &[ReactionBody], h: f64, out: &mut RowTable) {
        self.look(k, |body| bodies[body as usize].state);
        let Self { joints, rows, poses, motions, inverses, memory, .. } = self;
        let joint = &joints[k];
        if let Some(softness) = joint.model.softness {
            inverses.clear();
            inverses.extend(joint.bodies.iter().map(|&b| {
                let body = &bodies[b as usize];
                BodyInverse { mass: body.inverse_mass(), inertia: body.inverse_inertia() }
            }));
            joints::soften(rows, 0, softness, inverses);
        }
        for block in &rows.blocks {
            let u = rows.velocity(block, motions);
            for i in 0..usize::from(block.rows) {
                let row = ReactionRow { law: block.laws[i], by_velocity: by_velocity(&joint.model.kind, i) };
                out.rows.push(row);
                out.now.push([block.position[i], u[i]]);
            }
        }
        // Directions are those of the middle of the frame.
        let count = rows.blocks.len();
        poses.clear();
        poses.extend(joint.bodies.iter().map(|&b| bodies[b as usize].ahead(0.5 * h).pose));
        memory.clone_from(&joint.memory);
        rows.clear();
        joints::rows(&joint.model, poses, memory, rows);
        if rows.blocks.len() != count {
            poses.clear();
            poses.extend(joint.bodies.iter().map(|&b| bodies[b as usize].state.pose));
            memory.clone_from(&joint.memory);
            rows.clear();
            joints::rows(&joint.model, poses, memory, rows);
        }
        for (number, (&body, pose)) in (0..).zip(joint.bodies.iter().zip(poses.iter())) {
            let mut anchors = joint.model.anchors.iter().filter(|a| a.body == number);
            let point = match (anchors.next(), anchors.next()) {
                (Some(only), None) => only.frame.translation,
                _ => DVec3::ZERO,
            };
            out.sites.push(Site { body, point });
            let arm = arm(pose, point);
            for block in &rows.blocks {
                let side = rows.sides_of(block).iter().find(|s| s.body == number);
                for i in 0..usize::from(block.rows) {
                    let (turn, shift) =
                        side.map_or((DVec3::ZERO, DVec3::ZERO), |s| (s.moments.col(i), s.forces.col(i)));
                    out.sides.push(RowSide { force: shift, torque: turn - arm.cross(shift), turn, shift });
                }
            }
        }
    }

    fn measure(&mut self, k: usize, bodies: &[BodyState], out: &mut [[f64; 2]]) {
        self.look(k, |body| bodies[body as usize]);
        let count: usize = self.rows.blocks.iter().map(|b| usize::from(b.rows)).sum();
        if count != out.len() {
            out.fill([0.0; 2]);
            return;
        }
        let mut place = 0;
        for block in &self.rows.blocks {
            let u = self.rows.velocity(block, &self.motions);
            for i in 0..usize::from(block.rows) {
                out[place] = [block.position[i], u[i]];
                place += 1;
            }
        }
    }

    fn stiffness(&self, k: usize) -> f64 {
        self.joints[k].stiffness
    }
}

/// True if a limit of a joint gives back speed, which a force over a frame cannot.
#[must_use]
pub fn bounces(model: &JointModel) -> bool {
    let limits = model.axes.iter().filter_map(|a| a.limits).any(|l| l.restitution > 0.0);
    let rope = matches!(
        model.kind,
        JointKind::Rope { restitution, .. } | JointKind::MultiRope { restitution, .. } if restitution > 0.0
    );
    limits || rope
}

/// Law of a row that only holds while it pushes.
pub(super) fn is_limit(law: RowLaw) -> bool {
    matches!(law, RowLaw::Limit { .. })
}
