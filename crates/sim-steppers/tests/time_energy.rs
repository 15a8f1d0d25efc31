//! Energy under exact time stepping: it never rises without a cause, and the account closes.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    glam::{DQuat, DVec3},
    mass::{Amount, MassError, MassProperties, solid},
    testkit::{SplitMix64, soak},
};
use sim_steppers::TimeStepping;
use sim_traits::{Capsule, Cylinder, Shape, SupportMap};
use sim_world::{Anchor, Body, BodyBuilder, ForceGenerator, StepReport, Stepper, World};
use std::{any::Any, sync::Arc};
use timed::{G, ball, brick, earth, energy, laws};

/// Semi-axes, m.
#[derive(Debug)]
struct Ellipsoid(DVec3);

impl SupportMap for Ellipsoid {
    fn support(&self, direction: DVec3) -> DVec3 {
        let stretched = self.0 * direction;
        self.0 * (stretched / stretched.length())
    }

    fn bounding_radius(&self) -> f64 {
        self.0.max_element()
    }

    fn mass_properties(&self, amount: Amount) -> Option<Result<MassProperties, MassError>> {
        Some(solid::ellipsoid(self.0, amount))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "ellipsoid"
    }
}

fn ellipsoid(radii: [f64; 3], mu: f64) -> BodyBuilder {
    let shape: Arc<dyn SupportMap> = Arc::new(Ellipsoid(DVec3::from(radii)));
    Body::free().shape(Shape::Convex(shape)).friction(mu)
}

fn coin(radius: f64, half: f64, mu: f64) -> BodyBuilder {
    let shape: Shape = Cylinder::new(radius, half).unwrap().into();
    Body::free().shape(shape).friction(mu)
}

/// A scene of bodies of about `size` (m), with restitution `e`.
type Scene = (&'static str, fn(f64, f64) -> World);

const SCENES: [Scene; 13] = [
    ("egg", |s, e| {
        let mut world = earth(0.8, e);
        let turn = DQuat::from_rotation_y(0.5);
        // Height of the centre above the plane: √(Σ (r_i n_i)²).
        let (r, n) = (DVec3::new(s, s, 0.6 * s), turn.inverse() * DVec3::Z);
        let body = ellipsoid(r.to_array(), 0.8).restitution(e);
        world.add(body.at([0.0, 0.0, (r * n).length()]).turned(turn)).unwrap();
        world
    }),
    ("rattleback", |s, e| {
        let mut world = earth(0.8, e);
        let turn = DQuat::from_rotation_x(0.2) * DQuat::from_rotation_y(0.3);
        let (r, n) = (DVec3::new(s, 0.4 * s, 0.3 * s), turn.inverse() * DVec3::Z);
        let body = ellipsoid(r.to_array(), 0.8).restitution(e).spinning([0.3, 0.0, 2.0]);
        world.add(body.at([0.0, 0.0, (r * n).length()]).turned(turn)).unwrap();
        world
    }),
    ("slippery egg", |s, e| {
        let mut world = earth(0.0, e);
        let turn = DQuat::from_rotation_y(0.8);
        let (r, n) = (DVec3::new(s, s, 0.6 * s), turn.inverse() * DVec3::Z);
        let body = ellipsoid(r.to_array(), 0.0).restitution(e).spinning([0.0, 0.0, 5.0]);
        world.add(body.at([0.0, 0.0, (r * n).length()]).turned(turn)).unwrap();
        world
    }),
    ("rocking box", |s, e| {
        let mut world = earth(0.8, e);
        let turn = DQuat::from_rotation_y(0.3);
        let half = DVec3::new(0.4 * s, 0.4 * s, s);
        let corner =
            (turn * DVec3::new(half.x, 0.0, -half.z)).z.min((turn * DVec3::new(-half.x, 0.0, -half.z)).z);
        let body = brick(half.x, half.y, half.z, 0.8).restitution(e);
        world.add(body.at([0.0, 0.0, -corner]).turned(turn)).unwrap();
        world
    }),
    ("coin", |s, e| {
        let mut world = earth(0.5, e);
        let tilt = DQuat::from_rotation_x(0.25);
        let (sin, cos) = sim_math::ops::sin_cos(0.25);
        let body = coin(s, 0.1 * s, 0.5).restitution(e).spinning([0.0, 0.0, 3.0 * (G / s).sqrt()]);
        world.add(body.at([0.0, 0.0, s * sin + 0.1 * s * cos]).turned(tilt)).unwrap();
        world
    }),
    ("rolling coin", |s, e| {
        let mut world = earth(0.5, e);
        let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2 - 0.1);
        let height = s * sim_math::ops::cos(0.1) + 0.1 * s * sim_math::ops::sin(0.1);
        let rate = 3.0 * (G / s).sqrt();
        let axis = turn * DVec3::Z;
        let body = coin(s, 0.1 * s, 0.5).restitution(e).spinning(axis * rate).moving([rate * s, 0.0, 0.0]);
        world.add(body.at([0.0, 0.0, height]).turned(turn)).unwrap();
        world
    }),
    ("top", |s, e| {
        let mut world = earth(0.3, e);
        let turn = DQuat::from_rotation_x(0.2);
        let shape: Shape = Capsule::new(0.05 * s, s).unwrap().into();
        let disc: Shape = Cylinder::new(s, 0.1 * s).unwrap().into();
        let tip = turn * DVec3::new(0.0, 0.0, -s);
        let body = Body::free().shape(shape).shape(disc).friction(0.3).restitution(e);
        let body = body.spinning(turn * DVec3::Z * (12.0 * (G / s).sqrt()));
        world.add(body.at([0.0, 0.0, 0.05 * s - tip.z]).turned(turn)).unwrap();
        world
    }),
    ("dropped box", |s, e| {
        let mut world = earth(0.5, e);
        let body = brick(s, 0.7 * s, 0.5 * s, 0.5).restitution(e);
        let turn = DQuat::from_rotation_x(0.4) * DQuat::from_rotation_y(0.3);
        world.add(body.at([0.0, 0.0, 3.0 * s]).turned(turn).spinning([1.0, 2.0, 0.5])).unwrap();
        world
    }),
    ("bowl", |s, e| {
        let mut world = World::new([0.0, 0.0, -G]).unwrap();
        for x in [-1.0, 1.0] {
            let slope = sim_traits::HalfSpace::new(DVec3::new(-x, 0.0, 2.0)).unwrap();
            world.add(Body::fixed().shape(slope).friction(0.2).restitution(e)).unwrap();
        }
        world.add(ball(s, 0.2, e).at([3.0 * s, 0.0, 4.0 * s])).unwrap();
        world.add(ellipsoid([s, 0.7 * s, 0.5 * s], 0.2).restitution(e).at([0.0, 0.0, 3.0 * s])).unwrap();
        world.add(brick(0.5 * s, 0.5 * s, 0.5 * s, 0.2).restitution(e).at([-2.0 * s, 0.0, 5.0 * s])).unwrap();
        world
    }),
    ("stack", |s, e| {
        let mut world = earth(0.5, e);
        for k in 0..8 {
            let body = brick(s, s, s, 0.5).restitution(e);
            world.add(body.at([0.05 * s * f64::from(k % 3), 0.0, s * (1.02 + 2.02 * f64::from(k))])).unwrap();
        }
        world
    }),
    ("heap", |s, e| {
        let mut world = earth(0.5, e);
        let mut random = SplitMix64(3);
        for k in 0..12 {
            let at = random.vec3(0.6 * s) + DVec3::Z * s * (1.2 + 1.6 * f64::from(k));
            let body = match k % 4 {
                0 => ball(0.5 * s, 0.5, e),
                1 => brick(0.5 * s, 0.4 * s, 0.3 * s, 0.4),
                2 => coin(0.5 * s, 0.2 * s, 0.4),
                _ => ellipsoid([0.5 * s, 0.4 * s, 0.3 * s], 0.4),
            };
            let body = body.restitution(e).at(at).turned(random.unit_quat()).spinning(random.vec3(3.0));
            world.add(body).unwrap();
        }
        world
    }),
    ("spring cradle", |s, e| {
        let mut world = World::new([0.0, 0.0, -G]).unwrap();
        for k in 0..5 {
            let x = 2.0 * s * f64::from(k);
            let at =
                if k == 0 { DVec3::new(x - 3.0 * s, 0.0, -4.0 * s) } else { DVec3::new(x, 0.0, -5.0 * s) };
            let id = world.add(ball(s, 0.1, e).mass(1.0).at(at)).unwrap();
            let spring = ForceGenerator::Spring {
                a: Anchor::World(DVec3::new(x, 0.0, 0.0)),
                b: Anchor::Body(id, DVec3::ZERO),
                stiffness: 400.0 * G / s,
                damping: 0.0,
                rest_length: 5.0 * s,
            };
            world.add_force(spring).unwrap();
        }
        world
    }),
    ("sprung floor", |s, e| {
        let mut world = earth(0.5, e);
        let table = world
            .add(brick(2.0 * s, 2.0 * s, 0.2 * s, 0.5).mass(1.0).restitution(e).at([0.0, 0.0, 3.0 * s]))
            .unwrap();
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let spring = ForceGenerator::Spring {
                a: Anchor::World(DVec3::new(2.0 * s * x, 2.0 * s * y, 0.0)),
                b: Anchor::Body(table, DVec3::new(2.0 * s * x, 2.0 * s * y, -0.2 * s)),
                stiffness: 100.0 * G / s,
                damping: 0.0,
                rest_length: 2.8 * s,
            };
            world.add_force(spring).unwrap();
        }
        world
            .add(brick(0.5 * s, 0.5 * s, 0.5 * s, 0.5).mass(2.0).restitution(e).at([0.3 * s, 0.0, 5.0 * s]))
            .unwrap();
        world.add(ball(0.5 * s, 0.5, e).mass(1.0).at([-1.0 * s, 0.0, 6.0 * s])).unwrap();
        world
    }),
];

/// What a run showed, in shares of the energy that the scene has.
#[derive(Debug, Default)]
struct Seen {
    /// Highest above the start, and above any time before.
    above_start: f64,
    rise: f64,
    end: f64,
    remainder: f64,
    lifted: f64,
    total: StepReport,
}

/// The energy of a scene: kinetic, of springs, and what its weights give when they fall by their heights.
fn watch(mut world: World, stepper: &mut TimeStepping, time: f64, dt: f64) -> Seen {
    let start = energy(&world);
    let lowest = |w: &World| {
        w.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| b.center().z).fold(f64::INFINITY, f64::min)
    };
    let _ = lowest;
    let mut seen = Seen::default();
    let (mut least, mut most, mut kinetic) = (start, start, world.kinetic_energy());
    let mut worst_rise = 0.0_f64;
    for _ in 0..(time / dt).round() as u32 {
        let report = stepper.advance(&mut world, dt).unwrap();
        let now = energy(&world);
        if std::env::var("TELL").is_ok() && now - least > worst_rise.max(1e-9 * kinetic) {
            println!(
                "  t {:.3} rise {:.1e} {:?} lifted {:.1e} res {:.1e} {}",
                world.time(),
                (now - least) / kinetic,
                report.energy,
                report.solver.lifted,
                report.solver.residual,
                report.collisions
            );
        }
        worst_rise = worst_rise.max(now - least);
        least = least.min(now);
        most = most.max(now);
        kinetic = kinetic.max(world.kinetic_energy());
        seen.total = seen.total.then(&report);
    }
    let flowed = seen.total.energy.flowed;
    seen.above_start = (most - start) / kinetic;
    seen.rise = worst_rise / kinetic;
    seen.end = (energy(&world) - start) / kinetic;
    seen.remainder = seen.total.energy.remainder() / flowed;
    seen.lifted = seen.total.solver.lifted / kinetic;
    seen
}

#[test]
fn experiment() {
    let list = |name: &str, all: &str| std::env::var(name).unwrap_or(all.to_owned());
    let time: f64 = list("TIME", "3").parse().unwrap();
    for (name, scene) in SCENES {
        if !list("SCENE", name).contains(name) {
            continue;
        }
        for size in list("SIZES", "0.01,1").split(',').map(|x| x.parse().unwrap()) {
            for e in list("ES", "0,0.5,1").split(',').map(|x| x.parse().unwrap()) {
                for (law, mut stepper) in laws(1.0 / 60.0) {
                    if !list("LAWS", "newton").contains(law) {
                        continue;
                    }
                    let clock = std::time::Instant::now();
                    let seen = watch(scene(size, e), &mut stepper, time, 1.0 / 60.0);
                    println!(
                        "{name:14} {size:5} e {e:3} {law}: {:+.1e} rise {:.1e} end {:+.2} rem {:+.1e} lift {:+.1e} uns {} {:?}",
                        seen.above_start,
                        seen.rise,
                        seen.end,
                        seen.remainder,
                        seen.lifted,
                        seen.total.solver.unsolved,
                        clock.elapsed()
                    );
                }
            }
        }
    }
}
