//! A second of contact by steps of time: the scenes of workload W3, and stacks of boxes of several heights, gaps, sizes and frictions.

use sim_core::{
    Simulation,
    math::{Sym3, mass::MassProperties},
    prelude::{
        Body, Capsule, ConeNewton, Cuboid, DVec3, HalfSpace, Pose, Shape, SoftParams, Sphere,
        TimeSteppingParams, World, soft_stepping, time_stepping,
    },
};
use std::error::Error;
use tumblestone_benches::{
    Suite,
    scn::{CONTACT_SCENES, Form, Scn},
};

/// How contacts are answered.
#[derive(Clone, Copy)]
enum Method {
    Exact,
    Soft,
}

const METHODS: [(Method, &str); 2] = [(Method::Exact, "exact"), (Method::Soft, "soft")];

fn simulation(world: World, method: Method) -> Result<Simulation, Box<dyn Error>> {
    let builder = Simulation::builder(world);
    Ok(match method {
        Method::Exact => {
            builder.stepper(time_stepping(ConeNewton::default(), TimeSteppingParams::default())).build()?
        }
        Method::Soft => {
            builder.stepper(soft_stepping(SoftParams::default(), TimeSteppingParams::default())).build()?
        }
    })
}

fn scene(text: &str) -> Result<World, Box<dyn Error>> {
    let scene = Scn::parse(text)?;
    let mut world = World::new(scene.gravity)?;
    for body in &scene.bodies {
        let shape: Shape = match body.form {
            Form::Cuboid(half) => Cuboid::new(half)?.into(),
            Form::Ball(radius) => Sphere::new(radius)?.into(),
            Form::Capsule(radius, half_height) => Capsule::new(radius, half_height)?.into(),
        };
        let builder = if body.fixed {
            Body::fixed()
        } else {
            let inertia = Sym3::from_diagonal(body.moments);
            Body::free().mass_properties(MassProperties::try_new(body.mass, DVec3::ZERO, inertia)?)
        };
        let pose = Pose::new(body.pose.translation, body.pose.rotation.normalize());
        let builder = builder.shape(shape).pose(pose).moving(body.velocity.linear);
        let builder = builder.spinning(body.velocity.angular);
        world.add(builder.friction(scene.friction).restitution(scene.restitution))?;
    }
    Ok(world)
}

fn stack(count: u32, size: f64, gap: f64, friction: f64) -> Result<World, Box<dyn Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    world.add(Body::fixed().shape(HalfSpace::up()).friction(friction))?;
    let shape = Cuboid::new(DVec3::splat(0.5 * size))?;
    for k in 0..count {
        let z = (f64::from(k) + 0.5) * size + f64::from(k + 1) * gap;
        world.add(Body::free().shape(shape).at([0.0, 0.0, z]).friction(friction))?;
    }
    Ok(world)
}

/// Sizes and frictions of the stacks of one case.
const VARIANTS: [(f64, f64); 8] =
    [(0.01, 0.3), (0.01, 0.8), (0.1, 0.3), (0.1, 0.8), (1.0, 0.3), (1.0, 0.8), (10.0, 0.3), (10.0, 0.8)];

fn stacks(count: u32, gap: f64, method: Method) -> Result<Vec<Simulation>, Box<dyn Error>> {
    VARIANTS.iter().map(|&(size, friction)| simulation(stack(count, size, gap, friction)?, method)).collect()
}

fn second(sims: &mut [Simulation]) {
    for sim in sims {
        for _ in 0..60 {
            if let Err(error) = sim.advance(1.0 / 60.0) {
                unreachable!("the input of this bench is fixed and valid: {error}");
            }
        }
    }
}

fn contact(suite: &mut Suite) -> Result<(), Box<dyn Error>> {
    let run = |suite: &mut Suite, id: &str, make: &dyn Fn() -> Result<Vec<Simulation>, Box<dyn Error>>| {
        let fresh = || match make() {
            Ok(sims) => sims,
            Err(error) => unreachable!("the input of this bench is fixed and valid: {error}"),
        };
        suite.case(id).samples(10).iterations(1).run_with(fresh, |mut sims| {
            second(&mut sims);
            sims
        });
    };
    for (method, word) in METHODS {
        for (name, text) in CONTACT_SCENES {
            let make = || Ok(vec![simulation(scene(text)?, method)?]);
            run(suite, &format!("sim_core/contact/{word}/{name}"), &make);
        }
        for count in [3, 10, 20] {
            for (gap, name) in [(0.0, "0"), (1e-5, "10um"), (1e-3, "1mm")] {
                let make = || stacks(count, gap, method);
                run(suite, &format!("sim_core/contact/{word}/stack{count}_{name}"), &make);
            }
        }
    }
    Ok(())
}

fn all(suite: &mut Suite) {
    if let Err(error) = contact(suite) {
        unreachable!("the input of this bench is fixed and valid: {error}");
    }
}

tumblestone_benches::main!(all);
