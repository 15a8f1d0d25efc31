//! One number for the whole state: equal worlds have equal digests, and a single bit changes it.

use crate::{
    force::{Anchor, ForceGenerator},
    piece::Law,
    world::World,
};
use rigid_impulse::{BodyKind, BodyModel, BodyState};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{FixedState, Shape};
use std::hash::{BuildHasher, Hasher};

/// Hashes bits in order.
#[derive(Debug)]
struct Bits<H>(H);

impl<H: Hasher> Bits<H> {
    fn number(&mut self, x: f64) {
        self.0.write_u64(x.to_bits());
    }

    fn numbers(&mut self, all: impl IntoIterator<Item = f64>) {
        all.into_iter().for_each(|x| self.number(x));
    }

    fn vector(&mut self, v: DVec3) {
        self.numbers(v.to_array());
    }

    fn pose(&mut self, p: &Pose) {
        self.vector(p.translation);
        self.numbers(p.rotation.to_array());
    }

    fn state(&mut self, model: &BodyModel, s: &BodyState) {
        self.pose(s.pose());
        self.pose(&s.user_pose(model));
        self.numbers(s.velocity.to_array());
        match model.kind() {
            BodyKind::Free(m) => {
                self.0.write_u8(0);
                self.number(m.mass());
                self.vector(m.moments());
            }
            BodyKind::Fixed => self.0.write_u8(1),
            BodyKind::Scripted => self.0.write_u8(2),
        }
    }

    fn anchor(&mut self, anchor: &Anchor) {
        match anchor {
            Anchor::World(p) => {
                self.0.write_u8(0);
                self.vector(*p);
            }
            Anchor::Body(id, p) => {
                self.0.write_u32(id.index());
                self.vector(*p);
            }
        }
    }

    fn force(&mut self, force: &ForceGenerator) {
        for id in force.bodies() {
            self.0.write_u32(id.index());
        }
        match force {
            ForceGenerator::Constant { force, torque, .. } => {
                self.vector(*force);
                self.vector(*torque);
            }
            ForceGenerator::Spring { a, b, stiffness, damping, rest_length } => {
                self.anchor(a);
                self.anchor(b);
                self.numbers([*stiffness, *damping, *rest_length]);
            }
            ForceGenerator::Drag { linear, angular, .. } => self.numbers([*linear, *angular]),
            ForceGenerator::Muscle { a, b, tension, damping } => {
                self.anchor(a);
                self.anchor(b);
                self.numbers([*tension, *damping]);
            }
            ForceGenerator::Servo { axis, rate, gain, limit, .. } => {
                self.vector(*axis);
                self.numbers([*rate, *gain, *limit]);
            }
            ForceGenerator::Field { field, .. } => self.0.write(format!("{field:?}").as_bytes()),
        }
    }

    fn shape(&mut self, shape: &Shape) {
        self.0.write(shape.name().as_bytes());
        self.number(shape.bounding_radius());
        for axis in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE] {
            self.vector(shape.support(axis).unwrap_or_default());
        }
    }
}

impl World {
    /// Hash of the state: time, gravity, bodies with their motions, colliders, forces, joints, timers and controllers, bit by bit. A shape counts
    /// by its name, size and four support points, a field or controller by its `Debug` text; events that were listed do not count.
    #[must_use]
    pub fn digest(&self) -> u64 {
        if !self.is_settled() {
            // Motions that are to begin anew count as if they had: looking at a world changes nothing.
            let mut begun = self.clone();
            if begun.renew_motions().is_ok() {
                return begun.digest();
            }
        }
        let mut bits = Bits(FixedState.build_hasher());
        bits.number(self.time());
        bits.vector(self.gravity());
        for (id, body) in self.bodies() {
            bits.0.write_u32(id.index());
            bits.0.write_u32(id.generation());
            bits.state(body.model(), body.state());
            let piece = body.piece();
            bits.number(piece.start());
            bits.state(body.model(), piece.state());
            match piece.law() {
                Law::Ballistic { acceleration, .. } => bits.vector(*acceleration),
                Law::Integrated(dense) => {
                    bits.state(body.model(), dense.end());
                    bits.numbers(dense.numbers());
                }
                Law::Still | Law::Scripted { .. } => {}
            }
            bits.0.write_u8(u8::from(piece.is_still()));
            bits.0.write_u8(body.rest() as u8);
            bits.vector(body.pull());
            bits.0.write_u64(body.tag());
            let locked = body.locked_axes();
            if !locked.is_none() {
                locked
                    .translations
                    .iter()
                    .chain(&locked.rotations)
                    .for_each(|x| bits.0.write_u8(u8::from(*x)));
            }
        }
        for (id, collider) in self.colliders() {
            bits.0.write_u32(id.index());
            bits.0.write_u32(id.generation());
            bits.shape(collider.shape());
            bits.pose(&collider.extent().body_from_shape);
            bits.0.write_u32(collider.groups().member);
            bits.0.write_u32(collider.groups().mask);
            bits.0.write_u8(u8::from(collider.is_sensor()));
            let traction = collider.traction();
            if !traction.is_plain() {
                bits.numbers(
                    [traction.rolling_friction, traction.torsional_friction].map(Option::unwrap_or_default),
                );
                bits.vector(traction.surface_velocity);
            }
        }
        for (_, force) in self.forces() {
            bits.force(force);
        }
        for (id, joint) in self.joints() {
            bits.0.write_u32(id.index());
            bits.0.write_u32(id.generation());
            // All it is and remembers: numbers are printed so that they are told apart to the bit.
            bits.0.write(format!("{joint:?}").as_bytes());
        }
        for (id, tree) in self.trees() {
            bits.0.write_u32(id.index());
            bits.0.write_u32(id.generation());
            bits.0.write(tree.name().as_bytes());
            bits.pose(tree.base());
            bits.numbers(tree.coordinates().iter().chain(tree.velocities()).chain(tree.forces()).copied());
            bits.numbers(tree.impulses().iter().flatten().copied());
            bits.0.write(format!("{:?}", tree.motors()).as_bytes());
        }
        for (id, timer) in self.timers() {
            bits.0.write_u32(id.index());
            bits.numbers([timer.first, timer.period]);
            bits.0.write_u64(timer.count);
            bits.0.write_u64(timer.times);
        }
        for (id, timer) in self.controllers() {
            bits.0.write_u32(id.index());
            bits.numbers([timer.first, timer.period]);
            bits.0.write_u64(timer.count);
            bits.0.write_u64(timer.times);
            bits.0.write_u8(u8::from(self.is_enabled(id)));
            if let Some(controller) = self.controller(id) {
                bits.0.write(controller.kind().as_bytes());
                // All it remembers, with or without feature `serde`.
                bits.0.write(format!("{controller:?}").as_bytes());
            }
        }
        bits.0.finish()
    }
}
