//! Contact scenes (workload W3) through ours and through rapier, f64 and f32, in one run on one machine.
//!
//! `RUSTFLAGS="-C target-cpu=native" cargo run --release --bin contact [SCENE] [ROUNDS] [ENGINE]` in this folder prints a table: milliseconds
//! per step, for each step the least of all rounds, averaged over all steps, over the steps until nothing moves faster than 1 cm/s any more, and over the
//! last hundred; the deepest overlap at the end of the run as one narrow phase judges it for all; how far a body has drifted sideways and how fast it
//! still moves.

use collision_narrowphase::default_chain;
use sim_core::{
    Threads,
    broadphase::SweepAndPrune,
    constraints::{ConeNewton, soft::SoftParams},
    steppers::{ContactMethod, TimeParts, TimeStepping, TimeSteppingParams},
    world::{Body, Stepper, World},
};
use sim_math::{
    Pose, Sym3,
    glam::{DQuat, DVec3},
    mass::MassProperties,
};
use sim_traits::{BodyId, Capsule, Cuboid, NarrowPhase, PairCache, Shape, Sphere};
use std::time::Instant;
use tumblestone_benches::scn::{CONTACT_SCENES, Form, Scn};

/// An engine that has loaded a scene.
trait Engine {
    fn step(&mut self);
    /// Poses and velocities of all bodies.
    fn state(&self) -> Vec<(Pose, DVec3)>;
}

macro_rules! rapier {
    ($module:ident, $krate:ident, $real:ty) => {
        mod $module {
            use super::{DQuat, DVec3, Engine, Form, Pose, Scn};
            use $krate::prelude::*;

            pub(super) struct Rapier {
                world: PhysicsWorld,
                handles: Vec<RigidBodyHandle>,
            }

            fn vector(v: DVec3) -> Vector {
                [v.x as $real, v.y as $real, v.z as $real].into()
            }

            impl Rapier {
                pub(super) fn load(scene: &Scn) -> Self {
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
                            .density(1000.0)
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

rapier!(rapier_f64, rapier3d_f64, f64);
rapier!(rapier_f32, rapier3d, f32);

/// This engine.
struct Ours {
    world: World,
    stepper: TimeStepping,
    ids: Vec<BodyId>,
    dt: f64,
}

impl Ours {
    fn load(scene: &Scn, contacts: ContactMethod, threads: usize) -> Self {
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
        let mut params = match contacts {
            ContactMethod::Soft(_) => TimeSteppingParams::soft(),
            _ => TimeSteppingParams::default(),
        };
        params.dt = scene.dt;
        let parts = TimeParts {
            // Boxes with slack change seldom and by little: of all structures this one then does least, up to some thousand bodies.
            broad_phase: Box::new(SweepAndPrune::default()),
            narrow_phase: Box::new(default_chain()),
            contacts,
            executor: Box::new(Threads::new(threads)),
        };
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

fn shape(form: Form) -> Shape {
    match form {
        Form::Cuboid(half) => Cuboid::new(half).expect("box").into(),
        Form::Ball(radius) => Sphere::new(radius).expect("ball").into(),
        Form::Capsule(radius, half_height) => Capsule::new(radius, half_height).expect("capsule").into(),
    }
}

/// The deepest overlap of any two bodies, m.
fn deepest(scene: &Scn, state: &[(Pose, DVec3)]) -> f64 {
    let narrow = default_chain();
    let shapes: Vec<Shape> = scene.bodies.iter().map(|b| shape(b.form)).collect();
    let boxes: Vec<_> = shapes.iter().zip(state).map(|(s, (pose, _))| s.aabb(pose)).collect();
    let mut worst: f64 = 0.0;
    for a in 0..shapes.len() {
        for b in 0..a {
            if (scene.bodies[a].fixed && scene.bodies[b].fixed) || !boxes[a].overlaps(&boxes[b]) {
                continue;
            }
            let a_from_b = state[a].0.inverse() * state[b].0;
            let found = narrow.separation(&shapes[a], &shapes[b], &a_from_b, &mut PairCache::default());
            worst = worst.max(-found.expect("distance").distance);
        }
    }
    worst
}

fn row(name: &str, engine: &str, scene: &Scn, rounds: u32, load: &dyn Fn() -> Box<dyn Engine>) {
    let mut best = vec![f64::INFINITY; scene.steps as usize];
    let mut last = Vec::new();
    // Steps until nothing moves any more.
    let mut settling = 0;
    for round in 0..rounds {
        let mut run = load();
        for (step, best) in best.iter_mut().enumerate() {
            let start = Instant::now();
            run.step();
            *best = best.min(start.elapsed().as_secs_f64());
            if round == 0 && run.state().iter().any(|(_, v)| v.length() > 0.01) {
                settling = step + 1;
            }
        }
        last = run.state();
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64 * 1e3;
    let moving = mean(&best[..settling]);
    let (all, end) = (mean(&best), mean(&best[best.len().saturating_sub(100)..]));
    let free = || scene.bodies.iter().zip(&last).filter(|(b, _)| !b.fixed);
    let drift = free().map(|(b, (p, _))| (p.translation - b.pose.translation).truncate().length());
    let speed = free().map(|(_, (_, v))| v.length()).fold(0.0, f64::max);
    println!(
        "| {name} | {engine} | {all:.3} | {moving:.3} ({settling}) | {end:.3} | {:.2} | {:.1} | {:.1} |",
        deepest(scene, &last) * 1e3,
        drift.fold(0.0, f64::max) * 1e3,
        speed * 1e3
    );
}

fn main() {
    let mut words = std::env::args().skip(1);
    let filter = words.next().unwrap_or_default();
    let rounds = words.next().and_then(|w| w.parse().ok()).unwrap_or(3);
    let which = words.next().unwrap_or_default();
    println!("| scene | engine | ms per step | while settling (steps) | last 100 | deepest, mm | drift, mm | speed, mm/s |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, text) in CONTACT_SCENES {
        if !name.contains(&filter) {
            continue;
        }
        let scene = Scn::parse(text).expect("scene");
        let soft = |threads| Ours::load(&scene, ContactMethod::Soft(SoftParams::default()), threads);
        let exact = || Ours::load(&scene, ContactMethod::law(ConeNewton::default()), 1);
        let engines: [(&str, &dyn Fn() -> Box<dyn Engine>); 5] = [
            ("rapier f64", &|| Box::new(rapier_f64::Rapier::load(&scene))),
            ("rapier f32", &|| Box::new(rapier_f32::Rapier::load(&scene))),
            ("soft", &|| Box::new(soft(1))),
            ("two threads, soft", &|| Box::new(soft(2))),
            ("exact", &|| Box::new(exact())),
        ];
        for (engine, load) in engines.iter().filter(|(engine, _)| engine.starts_with(&which)) {
            row(name, engine, &scene, rounds, load);
        }
    }
}
