//! Mechanisms that are moved frame by frame with reaction forces.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses some of these helpers"
)]

use constraint_dynamics::reaction::{
    BodyState, JointConstraint, JointConstraints, ReactionBody, ReactionError, ReactionParams,
    ReactionReport, ReactionState, ReactionWorkspace, solve_frame,
};
use sim_math::{
    Pose,
    glam::DVec3,
    integrate::{Heun, Integrator},
    spatial::{Force, Motion},
};
use sim_traits::joint::{JointAnchor, JointKind, JointModel};

#[derive(Debug)]
pub struct Mechanism {
    pub bodies: Vec<ReactionBody>,
    pub joints: JointConstraints,
    pub state: ReactionState,
    pub params: ReactionParams,
    pub integrator: Box<dyn Integrator>,
    pub test: Option<Box<dyn Integrator>>,
    pub workspace: ReactionWorkspace,
    pub gravity: DVec3,
}

impl Mechanism {
    pub fn new(gravity: DVec3) -> Self {
        let mut params = ReactionParams::default();
        params.max_error = 1e-4;
        Self {
            bodies: vec![],
            joints: JointConstraints::default(),
            state: ReactionState::default(),
            params,
            integrator: Box::new(Heun),
            test: None,
            workspace: ReactionWorkspace::default(),
            gravity,
        }
    }

    pub fn body(&mut self, mass: f64, moments: DVec3, pose: Pose) -> u32 {
        let mut body = ReactionBody::free(mass, moments, BodyState { pose, velocity: Motion::ZERO });
        body.given = Force::new(DVec3::ZERO, self.gravity * mass);
        self.bodies.push(body);
        self.bodies.len() as u32 - 1
    }

    /// A joint at world frames; `None` is the world.
    pub fn join(&mut self, kind: JointKind, ends: &[(Option<u32>, Pose)]) -> usize {
        let mut bodies: Vec<u32> = Vec::new();
        let mut anchors = Vec::new();
        for &(body, frame) in ends {
            anchors.push(match body {
                None => JointAnchor::world(frame),
                Some(b) => {
                    if !bodies.contains(&b) {
                        bodies.push(b);
                    }
                    let number = bodies.iter().position(|x| *x == b).unwrap() as u32;
                    JointAnchor::new(number, self.bodies[b as usize].state.pose.inverse_mul(&frame))
                }
            });
        }
        let model = JointModel::new(kind, anchors);
        model.check().unwrap();
        let poses: Vec<Pose> = bodies.iter().map(|b| self.bodies[*b as usize].state.pose).collect();
        self.joints.joints.push(JointConstraint::new(model, bodies, &poses));
        self.joints.joints.len() - 1
    }

    pub fn pin(&mut self, a: Option<u32>, b: u32, at: DVec3) -> usize {
        let frame = Pose::from_translation(at);
        self.join(JointKind::Ball { drive: None }, &[(a, frame), (Some(b), frame)])
    }

    pub fn try_step(&mut self, h: f64) -> Result<ReactionReport, ReactionError> {
        let test = self.test.as_deref();
        let integrator = &*self.integrator;
        let Self { bodies, joints, state, params, workspace, .. } = self;
        let report = solve_frame(bodies, joints, state, params, integrator, test, h, workspace)?;
        for (body, next) in bodies.iter_mut().zip(&workspace.next) {
            body.state = *next;
        }
        joints.follow(&workspace.next);
        Ok(report)
    }

    pub fn step(&mut self, h: f64) -> ReactionReport {
        self.try_step(h).unwrap()
    }

    pub fn energy(&self) -> f64 {
        let of = |b: &ReactionBody| {
            let constraint_dynamics::reaction::Mobility::Free { mass, moments } = b.mobility else {
                return 0.0;
            };
            let spin = b.state.pose.inverse_transform_vector(b.state.velocity.angular);
            0.5 * mass * b.state.velocity.linear.length_squared() + 0.5 * (moments * spin).dot(spin)
                - mass * self.gravity.dot(b.state.pose.translation)
        };
        self.bodies.iter().map(of).sum()
    }

    pub fn at(&self, body: u32) -> DVec3 {
        self.bodies[body as usize].state.pose.translation
    }
}

/// The chain of the reference's manual: cubes from corner to corner, the first pinned to the world.
pub fn chain(n: u32) -> Mechanism {
    let mut m = Mechanism::new(DVec3::NEG_Y);
    let size = f64::from(n);
    for k in 0..n {
        let center = DVec3::new(0.75, 1.75, 4.0) * size - DVec3::splat(2.0) * f64::from(k);
        let body = m.body(1.0, DVec3::ONE, Pose::from_translation(center));
        m.pin(body.checked_sub(1), body, center + DVec3::ONE);
    }
    m
}
