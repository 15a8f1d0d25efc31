//! Springs, drag and torques: velocities after a step without contact.
//!
//! # Reference
//!
//! Cline (2002), section 2.7.4, through [`constraint_dynamics::implicit`].
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `force_change` | change of velocity by all forces in the step | m/s, rad/s |
//! | `P_s`, `P_f` | impulses of springs that have a potential, of all other forces of this kind | N·s, N·m·s |
//!
//! # Formula
//!
//! ```text
//! (M − h² ∇p f − h ∇v f) v₁ = M v + h (f − ∇v f · v),   force_change = v₁ − v
//! P_s = h (f_s + h ∇p f_s · v₁) with the elastic part f_s of springs,   P_f = M force_change − h m a − P_s;   work: P · v⁺
//! ```
//!
//! # Cost
//!
//! One dense solution for all bodies with such forces; nothing if there are none.
//!
//! # Numerics
//!
//! Stable for any stiffness; a spring loses energy by (1 + h²ω²)^−½ in amplitude per step. Contacts know that springs give way: [`super::stiff`].
//!
//! # Failure
//!
//! [`StepError::Body`] if the system cannot be solved.
//!
//! # Tested by
//!
//! `tests/time_forces.rs`

use super::state::{Problem, StepBodies};
use constraint_dynamics::implicit::{End, Inertial, SpringDamper, StiffForce, implicit_step};
use rigid_impulse::{BodyError, BodyKind};
use sim_math::{
    Pose,
    dense::Matrix,
    spatial::{Force, Motion},
};
use sim_world::{Anchor, ForceGenerator, ForceWork, StepError, StepperAccess, World};

/// Viscous drag on one body.
#[derive(Debug)]
struct Drag {
    body: [usize; 1],
    linear: f64,
    angular: f64,
}

impl StiffForce for Drag {
    fn bodies(&self) -> &[usize] {
        &self.body
    }

    fn wrenches(&self, _poses: &[Pose], velocities: &[Motion], out: &mut [Force]) {
        let v = velocities[self.body[0]];
        out[0] = Force::new(v.angular * -self.angular, v.linear * -self.linear);
    }

    fn gradients(
        &self,
        _poses: &[Pose],
        _velocities: &[Motion],
        _safe: bool,
        by_position: &mut Matrix,
        by_velocity: &mut Matrix,
    ) -> bool {
        by_position.reset(6, 6);
        by_velocity.reset(6, 6);
        for k in 0..3 {
            by_velocity[(k, k)] = -self.angular;
            by_velocity[(3 + k, 3 + k)] = -self.linear;
        }
        true
    }
}

/// Forces on free bodies that an implicit step does not know.
pub(super) fn refuse_unknown_forces(world: &World) -> Result<(), StepError> {
    for (_, force) in world.forces() {
        match force {
            ForceGenerator::Constant { .. } | ForceGenerator::Drag { .. } | ForceGenerator::Spring { .. } => {
            }
            _ => {
                if let Some(body) =
                    force.bodies().find(|id| world.get(*id).is_some_and(sim_world::Body::is_free))
                {
                    return Err(StepError::Unsupported {
                        body,
                        what: "time stepping does not know this force",
                    });
                }
            }
        }
    }
    Ok(())
}

/// Changes of velocity by all forces in a step of `h` seconds, into the steps of the bodies.
pub(super) fn force_changes(
    bodies: &mut StepBodies,
    problem: &mut Problem,
    world: &World,
    h: f64,
) -> Result<(), StepError> {
    for body_step in &mut bodies.body_steps {
        body_step.force_change = Motion::new(sim_math::glam::DVec3::ZERO, body_step.acceleration * h);
    }
    problem.stiff.clear();
    if world.forces().all(|(_, force)| force.is_uniform()) {
        return Ok(());
    }
    let stiff = |slot: u32| world.body_in_slot(slot).filter(|(_, b)| b.is_free() && b.has_stateful_forces());
    let slots: Vec<u32> = (0..bodies.body_steps.len() as u32).filter(|&slot| stiff(slot).is_some()).collect();
    if slots.is_empty() {
        return Ok(());
    }
    let (mut inertials, mut poses, mut velocities, mut given) = (vec![], vec![], vec![], vec![]);
    for &slot in &slots {
        let Some((_, body)) = stiff(slot) else { continue };
        let BodyKind::Free(mass) = body.kind() else { continue };
        inertials.push(Inertial { mass: mass.mass(), inertia: mass.inertia(body.state().pose().rotation) });
        poses.push(*body.state().pose());
        velocities.push(bodies.body_steps[slot as usize].start);
        let weight = bodies.body_steps[slot as usize].acceleration * mass.mass();
        given.push(Force::new(sim_math::glam::DVec3::ZERO, weight));
    }
    let place = |id: sim_traits::BodyId| slots.binary_search(&id.index()).ok();
    let mut forces: Vec<Box<dyn StiffForce>> = Vec::new();
    let mut springs: Vec<SpringDamper> = Vec::new();
    for (_, force) in world.forces().filter(|(_, f)| !f.is_uniform()) {
        match *force {
            ForceGenerator::Constant { body, force, torque } => {
                if let Some(k) = place(body) {
                    given[k] += Force::new(torque, force);
                }
            }
            ForceGenerator::Drag { body, linear, angular } => {
                if let Some(k) = place(body) {
                    forces.push(Box::new(Drag { body: [k], linear, angular }));
                }
            }
            ForceGenerator::Spring { a, b, stiffness, damping, rest_length } => {
                let mut ends = Vec::new();
                let mut held = Vec::new();
                for anchor in [a, b] {
                    ends.push(match anchor {
                        Anchor::World(point) => End::World(point),
                        Anchor::Body(id, local) => {
                            let Some(body) = world.get(id) else { continue };
                            let point = body.user_pose().transform_point(local);
                            match place(id) {
                                Some(k) => {
                                    held.push(k);
                                    End::Body(
                                        held.len() - 1,
                                        body.state().pose().inverse_transform_point(point),
                                    )
                                }
                                None => End::World(point),
                            }
                        }
                    });
                }
                if let (&[x, y], false) = (&ends[..], held.is_empty()) {
                    if world.is_elastic(force) {
                        let ends = [x, y];
                        springs.push(SpringDamper::new(held.clone(), ends, stiffness, 0.0, rest_length));
                    }
                    forces.push(Box::new(SpringDamper::new(held, [x, y], stiffness, damping, rest_length)));
                }
            }
            // Others hold fixed bodies only: see `refuse_unknown_forces`.
            _ => {}
        }
    }
    let list: Vec<&dyn StiffForce> = forces.iter().map(Box::as_ref).collect();
    let workspace = &mut problem.stiff.workspace;
    let stepped = implicit_step(&inertials, &poses, &mut velocities, &given, &list, h, workspace);
    let Ok(exact) = stepped else {
        let Some((body, _)) = stiff(slots[0]) else { return Ok(()) };
        let source = BodyError::NonFinite { what: "velocity by forces", value: f64::NAN };
        return Err(StepError::Body { body, source });
    };
    for (&slot, v) in slots.iter().zip(&velocities) {
        let body_step = &mut bodies.body_steps[slot as usize];
        body_step.force_change = *v - body_step.start;
        body_step.pushed = true;
        body_step.driven = true;
    }
    problem.stiff.place.resize(bodies.body_steps.len(), u32::MAX);
    for (k, &slot) in (0..).zip(&slots) {
        problem.stiff.place[slot as usize] = k;
    }
    (problem.stiff.slots, problem.stiff.poses, problem.stiff.springs, problem.stiff.exact) =
        (slots, poses, springs, exact);
    elastic_impulses(bodies, problem, &velocities, h);
    Ok(())
}

/// Impulses of springs that have a potential in a step of `h` seconds, given the velocities at its end of all bodies with such forces.
pub(super) fn elastic_impulses(bodies: &mut StepBodies, problem: &Problem, velocities: &[Motion], h: f64) {
    let (body_steps, stiff) = (&mut bodies.body_steps, &problem.stiff);
    let [mut by_position, mut by_velocity] = [Matrix::default(), Matrix::default()];
    stiff.slots.iter().for_each(|slot| body_steps[*slot as usize].elastic = Force::ZERO);
    for spring in &stiff.springs {
        let held = spring.bodies();
        let mut pulls = [Force::ZERO; 2];
        spring.wrenches(&stiff.poses, velocities, &mut pulls[..held.len()]);
        spring.gradients(&stiff.poses, velocities, !stiff.exact, &mut by_position, &mut by_velocity);
        for (a, &body) in held.iter().enumerate() {
            let mut pull = pulls[a].to_array();
            for (b, &other) in held.iter().enumerate() {
                let v = velocities[other].to_array();
                for (i, pull) in pull.iter_mut().enumerate() {
                    *pull += h * (0..6).map(|j| by_position[(6 * a + i, 6 * b + j)] * v[j]).sum::<f64>();
                }
            }
            body_steps[stiff.slots[body] as usize].elastic += Force::from_array(pull) * h;
        }
    }
}

/// Enters what springs, drag and torques did in the account, given the velocities with which they worked.
pub(super) fn book_forces(
    bodies: &StepBodies,
    world: &mut StepperAccess<'_>,
    h: f64,
    with: impl Fn(usize) -> Motion,
) {
    for (slot, body_step) in bodies.body_steps.iter().enumerate().filter(|(_, f)| f.driven) {
        let Some((_, body)) = world.body_in_slot(slot as u32) else { continue };
        let BodyKind::Free(mass) = *body.kind() else { continue };
        let pose = *body.state().pose();
        let impulse = (body_step.force_change.linear - body_step.acceleration * h) * mass.mass();
        let moment = mass.inertia(pose.rotation) * body_step.force_change.angular;
        let v = with(slot);
        let work = |p: Force| p.linear.dot(v.linear) + p.moment.dot(v.angular);
        let springs = work(body_step.elastic);
        let others = work(Force::new(moment, impulse) - body_step.elastic);
        world.book_force(pose.translation, &ForceWork { springs, others, impulse, moment });
    }
}
