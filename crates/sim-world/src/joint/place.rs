//! A joint from what the user said: partners, frames, lengths, and the check that its bodies are where it holds them.

use super::{
    Joint, JointPartner,
    builder::{JointBuilder, Plan},
};
use crate::{error::WorldError, world::World};
use constraint_dynamics::joints::{self, JointRows};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    rotation::frame_across,
    spatial::Force,
};
use sim_traits::{
    BodyId, JointId,
    joint::{JointAnchor, JointAxis, JointError, JointKind, JointModel},
};

/// Share of the size of its bodies by which a joint may be off when it is added; angles: rad.
const TOLERANCE: f64 = 1e-3;

impl JointBuilder {
    pub(crate) fn build(self, id: JointId, world: &World) -> Result<Joint, WorldError> {
        let kind = self.kind().name();
        let named = |source| WorldError::Joint { joint: id, kind, source };
        let (partners, frames) = self.placed(id, world)?;
        let mut bodies: Vec<BodyId> = Vec::new();
        for body in partners.iter().filter_map(|p| p.body()) {
            world.body(body)?;
            if !bodies.contains(&body) {
                bodies.push(body);
            }
        }
        if !bodies.iter().any(|b| world.get(*b).is_some_and(crate::Body::is_free)) {
            return Err(WorldError::JointFixed { joint: id, kind });
        }
        if let (Plan::Two { .. }, [JointPartner::Body(a), JointPartner::Body(b)]) =
            (&self.plan, &partners[..])
        {
            if a == b {
                return Err(WorldError::JointSameBody { joint: id, kind, body: *a });
            }
        }
        let anchors: Vec<JointAnchor> = partners
            .iter()
            .zip(&frames)
            .map(|(partner, frame)| match partner.body() {
                None => JointAnchor::world(*frame),
                Some(body) => {
                    let number = bodies.iter().position(|b| *b == body).unwrap_or(0) as u32;
                    let pose = world.get(body).map_or(Pose::IDENTITY, |b| *b.state().pose());
                    JointAnchor::new(number, pose.inverse_mul(frame).renormalized())
                }
            })
            .collect();
        let mut model = JointModel::new(self.kind().clone(), anchors);
        self.lengths(&mut model.kind, &frames);
        for (axis, settings) in &self.axes {
            let free = model.kind.free_axes();
            let Some(place) = model.axes.get_mut(*axis) else {
                let what = "settings of free axes at most";
                return Err(named(JointError::Count { kind, what, needed: free, got: axis + 1 }));
            };
            *place = *settings;
        }
        for axis in &mut model.axes {
            if let (Some(limits), Some(e)) = (&mut axis.limits, self.restitution) {
                limits.restitution = e;
            }
        }
        model.softness = self.softness;
        model.check().map_err(named)?;
        let poses: Vec<Pose> = bodies.iter().filter_map(|b| Some(*world.get(*b)?.state().pose())).collect();
        let mut memory = vec![0.0; model.kind.memory_len()];
        joints::begin(&model, &poses, &mut memory);
        start_phase(&mut model, &poses, &mut memory);
        let joint = Joint {
            model,
            bodies,
            enabled: self.enabled,
            collide: self.collide,
            broken: false,
            idle: false,
            breaking: self.breaking,
            tag: self.tag,
            memory,
            impulses: Vec::new(),
            reaction: Force::ZERO,
            at_limits: 0,
        };
        world.check_joint(id, &joint)?;
        if !self.apart {
            check_apart(id, &joint, &poses, world)?;
        }
        Ok(joint)
    }

    /// Partner and frame (world) of each anchor.
    fn placed(&self, id: JointId, world: &World) -> Result<(Vec<JointPartner>, Vec<Pose>), WorldError> {
        match &self.plan {
            Plan::Points { points, .. } => {
                Ok(points.iter().map(|(p, x)| (*p, Pose::from_translation(*x))).unzip())
            }
            Plan::Coupled { kind, joints } => {
                let mut all = (Vec::new(), Vec::new());
                for (k, &of) in joints.iter().enumerate() {
                    let joint = world.joint(of)?;
                    let turns = matches!(
                        joint.model.kind,
                        JointKind::Hinge | JointKind::Cylindrical | JointKind::Screw { .. }
                    );
                    let shifts = matches!(joint.model.kind, JointKind::Slider | JointKind::Cylindrical);
                    let rack = matches!(kind, JointKind::RackAndPinion { .. }) && k == 1;
                    if !(if rack { shifts } else { turns }) {
                        let what = if rack { "a rack on it" } else { "a gear on it" };
                        let source = JointError::Unsupported { kind: joint.model.kind.name(), what };
                        return Err(WorldError::Joint { joint: id, kind: kind.name(), source });
                    }
                    for anchor in &joint.model.anchors {
                        let body = joint.bodies.get(anchor.body as usize).copied();
                        let pose =
                            body.and_then(|b| world.get(b)).map_or(Pose::IDENTITY, |b| *b.state().pose());
                        all.0.push(body.map_or(JointPartner::World, JointPartner::Body));
                        all.1.push(if anchor.is_world() { anchor.frame } else { pose * anchor.frame });
                    }
                }
                Ok(all)
            }
            Plan::Two { kind, partners } => {
                let frames = match self.frames {
                    Some(frames) => frames,
                    None => self.frames_of(id, kind, partners, world)?,
                };
                Ok((partners.to_vec(), frames.to_vec()))
            }
        }
    }

    fn frames_of(
        &self,
        id: JointId,
        kind: &JointKind,
        partners: &[JointPartner; 2],
        world: &World,
    ) -> Result<[Pose; 2], WorldError> {
        let center = |p: JointPartner| p.body().map(|b| world.body(b).map(crate::Body::center)).transpose();
        let default = match (center(partners[1])?, center(partners[0])?) {
            (Some(c), _) | (None, Some(c)) => c,
            (None, None) => DVec3::ZERO,
        };
        // What is held at a distance has a point of its own on each body.
        let own = match kind {
            JointKind::Distance { .. } | JointKind::Rope { .. } => {
                [center(partners[0])?, center(partners[1])?]
            }
            _ => [None; 2],
        };
        let point = |k: usize| self.anchors[k].or(own[k]).unwrap_or(default);
        let check = |axis: DVec3| match axis.is_finite() && axis != DVec3::ZERO {
            true => Ok(axis),
            false => Err(WorldError::JointAxis { joint: id, kind: kind.name(), axis }),
        };
        let z = check(self.axis.unwrap_or(DVec3::Z))?;
        let second = self.second_axis.map(check).transpose()?;
        let bad = |axis| WorldError::JointAxis { joint: id, kind: kind.name(), axis };
        let frame = |z: DVec3, x: Option<DVec3>| -> Result<DQuat, WorldError> {
            let across = frame_across(z).map_err(|_| bad(z))?;
            let Some(x) = x else { return Ok(DQuat::from_mat3(&across).normalize()) };
            let z = across.z_axis;
            let x = x / x.abs().max_element();
            let x = x - z * x.dot(z);
            let x = x.try_normalize().filter(|_| x.length() > 1e-9).ok_or(bad(x))?;
            Ok(DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)).normalize())
        };
        Ok(match kind {
            JointKind::Curve { .. } | JointKind::Surface { .. } | JointKind::Wheel { .. } => {
                [Pose::IDENTITY, Pose::new(point(1), frame(z, second)?)]
            }
            JointKind::Universal => {
                let second = match second {
                    Some(axis) => axis,
                    None => frame_across(z).map_err(|_| bad(z))?.x_axis,
                };
                [Pose::new(point(0), frame(z, Some(second))?), Pose::new(point(1), frame(second, Some(z))?)]
            }
            _ => {
                // Axes that nobody gave are those of the world.
                let rotation = match (self.axis, second) {
                    (None, None) => DQuat::IDENTITY,
                    _ => frame(z, second)?,
                };
                [Pose::new(point(0), rotation), Pose::new(point(1), rotation)]
            }
        })
    }

    /// Puts lengths and restitutions into the kind.
    fn lengths(&self, kind: &mut JointKind, frames: &[Pose]) {
        let distance = |pair: &[Pose]| pair[0].translation.distance(pair[1].translation);
        let now = frames.windows(2).map(distance).sum();
        if let JointKind::Distance { length }
        | JointKind::Rope { length, .. }
        | JointKind::MultiBar { length }
        | JointKind::MultiRope { length, .. } = kind
        {
            *length = self.length.unwrap_or(now);
        }
        if let (JointKind::Rope { restitution, .. } | JointKind::MultiRope { restitution, .. }, Some(e)) =
            (kind, self.restitution)
        {
            *restitution = e;
        }
    }
}

/// Gears, racks and screws begin without error.
fn start_phase(model: &mut JointModel, poses: &[Pose], memory: &mut [f64]) {
    let mut out = JointRows::default();
    joints::rows(model, poses, memory, &mut out);
    let coupling = if matches!(model.kind, JointKind::Screw { .. }) { 2 } else { 0 };
    let Some(error) = out.blocks.get(coupling).map(|b| b.position.x) else { return };
    if let JointKind::Gear { phase, .. }
    | JointKind::RackAndPinion { phase, .. }
    | JointKind::Screw { phase, .. } = &mut model.kind
    {
        *phase += error;
    }
}

/// `Ok` for bodies that are where the joint holds them.
fn check_apart(id: JointId, joint: &Joint, poses: &[Pose], world: &World) -> Result<(), WorldError> {
    let mut size = 0.0_f64;
    for anchor in &joint.model.anchors {
        let Some(body) = joint.bodies.get(anchor.body as usize).and_then(|b| world.get(*b)) else { continue };
        size = size.max(anchor.frame.translation.length());
        let radii =
            body.colliders().iter().filter_map(|c| world.collider(*c).ok()).map(|c| c.extent().radius);
        size = radii.filter(|r| r.is_finite()).fold(size, f64::max);
    }
    // Rounding of where the bodies are.
    let far = poses.iter().fold(0.0, |far: f64, p| far.max(p.translation.length()));
    // Limits of free axes may be violated: what is held is asked, and ropes and ends of curves.
    let mut held = joint.clone();
    held.model.axes.iter_mut().for_each(|a| *a = JointAxis { locked: a.locked, ..JointAxis::default() });
    let miss = held.miss(poses);
    let kind = joint.model.kind.name();
    for (error, tolerance) in [(miss.linear, TOLERANCE * size + 1e-12 * far), (miss.angular, TOLERANCE)] {
        if error.is_nan() || error > tolerance {
            return Err(WorldError::JointApart { joint: id, kind, error, tolerance });
        }
    }
    Ok(())
}
