//! One scene through ours and through rapier, f64 and f32.

use collision_narrowphase::default_chain;
use sim_core::{
    Threads,
    broadphase::SweepAndPrune,
    steppers::{ContactMethod, Parts, TimeStepping, TimeSteppingParams},
    world::{Body, Stepper, World},
};
use sim_math::{
    Pose, Sym3,
    glam::{DQuat, DVec3},
    mass::MassProperties,
};
use sim_traits::{BodyId, Capsule, Cuboid, Shape, Sphere};
use std::f64::consts::PI;
use tumblestone_benches::scn::{Form, Scn, ScnBody};

/// An engine that has loaded a scene.
pub trait Engine {
    /// One step of the scene.
    fn step(&mut self);
    /// Poses and velocities of all bodies.
    fn state(&self) -> Vec<(Pose, DVec3)>;
}

macro_rules! rapier {
    ($module:ident, $krate:ident, $real:ty) => {
        pub mod $module {
            //! rapier.
            use super::{DQuat, DVec3, Engine, Form, Pose, Scn, density};
            use $krate::prelude::*;

            /// A scene in rapier.
            pub struct Rapier {
                world: PhysicsWorld,
                handles: Vec<RigidBodyHandle>,
            }

            fn vector(v: DVec3) -> Vector {
                [v.x as $real, v.y as $real, v.z as $real].into()
            }

            impl Rapier {
                /// Loads a scene.
                pub fn load(scene: &Scn) -> Self {
                    let mut world = PhysicsWorld::default();
                    world.gravity = vector(scene.gravity);
                    world.integration_parameters.dt = scene.dt as $real;
                    let mut handles = Vec::new();
                    for body in &scene.bodies {
                        let builder =
                            if body.fixed { RigidBodyBuilder::fixed() } else { RigidBodyBuilder::dynamic() };
                        let q = body.pose.rotation;
                        let rotation =
                            Rotation::from_xyzw(q.x as $real, q.y as $real, q.z as $real, q.w as $real);
                        let builder = builder
                            .pose($krate::math::Pose::from_parts(vector(body.pose.translation), rotation))
                            .linvel(vector(body.velocity.linear))
                            .angvel(vector(body.velocity.angular))
                            .can_sleep(false);
                        let collider = match body.form {
                            Form::Cuboid(h) => {
                                ColliderBuilder::cuboid(h.x as $real, h.y as $real, h.z as $real)
                            }
                            Form::Ball(r) => ColliderBuilder::ball(r as $real),
                            Form::Capsule(r, h) => ColliderBuilder::capsule_z(h as $real, r as $real),
                        };
                        let collider = collider
                            .density(density(body) as $real)
                            .friction(scene.friction as $real)
                            .restitution(scene.restitution as $real);
                        handles.push(world.insert(builder, collider).0);
                    }
                    Self { world, handles }
                }
            }

            impl Engine for Rapier {
                fn step(&mut self) {
                    self.world.step();
                }

                #[allow(clippy::unnecessary_cast, reason = "one source for f32 and f64")]
                fn state(&self) -> Vec<(Pose, DVec3)> {
                    let read = |h: &RigidBodyHandle| {
                        let body = &self.world.bodies[*h];
                        let (t, q, v) = (body.translation(), body.rotation(), body.linvel());
                        let rotation = DQuat::from_xyzw(q.x as f64, q.y as f64, q.z as f64, q.w as f64);
                        let translation = DVec3::new(t.x as f64, t.y as f64, t.z as f64);
                        (
                            Pose::new(translation, rotation.normalize()),
                            DVec3::new(v.x as f64, v.y as f64, v.z as f64),
                        )
                    };
                    self.handles.iter().map(read).collect()
                }
            }
        }
    };
}

/// From its mass.
fn density(body: &ScnBody) -> f64 {
    let volume = match body.form {
        Form::Cuboid(h) => 8.0 * h.x * h.y * h.z,
        Form::Ball(r) => 4.0 / 3.0 * PI * r * r * r,
        Form::Capsule(r, h) => PI * r * r * (4.0 / 3.0 * r + 2.0 * h),
    };
    if body.fixed { 1000.0 } else { body.mass / volume }
}

rapier!(rapier_f64, rapier3d_f64, f64);
rapier!(rapier_f32, rapier3d, f32);

/// This engine.
pub struct Ours {
    world: World,
    stepper: TimeStepping,
    ids: Vec<BodyId>,
    dt: f64,
}

impl Ours {
    /// Loads a scene.
    pub fn load(scene: &Scn, contacts: ContactMethod, threads: usize) -> Self {
        let mut world = World::new(scene.gravity).expect("gravity");
        let mut ids = Vec::new();
        for body in &scene.bodies {
            let builder = if body.fixed { Body::fixed() } else { Body::free() };
            let inertia = Sym3::from_diagonal(body.moments);
            let builder = builder
                .shape(shape(body.form))
                .pose(Pose::new(body.pose.translation, body.pose.rotation.normalize()))
                .moving(body.velocity.linear)
                .spinning(body.velocity.angular)
                .friction(scene.friction)
                .restitution(scene.restitution);
            let builder = if body.fixed {
                builder
            } else {
                let mass = MassProperties::try_new(body.mass, DVec3::ZERO, inertia).expect("mass");
                builder.mass_properties(mass)
            };
            ids.push(world.add(builder).expect("body"));
        }
        let mut params = TimeSteppingParams::default();
        params.dt = scene.dt;
        // Boxes with slack change seldom and by little: of all structures this one then does least, up to some thousand bodies.
        let parts = Parts::default().broad_phase(SweepAndPrune::default()).contacts(contacts).executor(Threads::new(threads));
        Self { world, stepper: TimeStepping::with(parts, params), ids, dt: scene.dt }
    }
}

impl Engine for Ours {
    fn step(&mut self) {
        self.stepper.advance(&mut self.world, self.dt).expect("step");
    }

    fn state(&self) -> Vec<(Pose, DVec3)> {
        let read = |id: &BodyId| (self.world[*id].user_pose(), self.world[*id].velocity().linear);
        self.ids.iter().map(read).collect()
    }
}

/// The shape of a form.
pub fn shape(form: Form) -> Shape {
    match form {
        Form::Cuboid(half) => Cuboid::new(half).expect("box").into(),
        Form::Ball(radius) => Sphere::new(radius).expect("ball").into(),
        Form::Capsule(radius, half_height) => Capsule::new(radius, half_height).expect("capsule").into(),
    }
}
