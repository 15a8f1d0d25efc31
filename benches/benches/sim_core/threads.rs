//! A thousand ballistic bodies on one thread and on two: boxes of a window and states of a frame go through the executor.

use sim_core::{
    Threads,
    prelude::{Body, Cuboid, DVec3, Simulation, StepError, StepReport, Stepper, StepperAccess, World},
    traits::{Executor, Serial},
};
use std::error::Error;
use tumblestone_benches::Suite;

const BODIES: u32 = 1000;

/// Spinning boxes far from each other.
fn thrown() -> Result<World, Box<dyn Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    let shape = Cuboid::new(DVec3::new(0.3, 0.2, 0.1))?;
    for k in 0..BODIES {
        let (x, y) = (f64::from(k % 40), f64::from(k / 40));
        let spin = DVec3::new(1.0 + 0.1 * x, 2.0, 0.5 + 0.1 * y);
        let body = Body::free().shape(shape).at([3.0 * x, 3.0 * y, 0.0]);
        world.add(body.spinning(spin).moving([0.3, -0.2, 5.0]))?;
    }
    Ok(world)
}

fn frames(suite: &mut Suite, id: &str, executor: impl Executor + 'static) -> Result<(), Box<dyn Error>> {
    let mut sim = Simulation::builder(thrown()?).executor(executor).build()?;
    sim.advance(0.1)?;
    suite.case(id).elements(u64::from(BODIES)).iterations(20).run(|| sim.advance(1.0 / 60.0));
    Ok(())
}

/// A stepper without contacts: states alone, on the threads of an executor.
#[derive(Debug)]
struct Flight(Box<dyn Executor>);

impl Stepper for Flight {
    fn kind(&self) -> &'static str {
        "flight"
    }

    fn prepare_with(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        world.forget_changes();
        Ok(())
    }

    fn advance_with(
        &mut self,
        world: &mut StepperAccess<'_>,
        duration: f64,
    ) -> Result<StepReport, StepError> {
        self.prepare_with(world)?;
        world.set_time_by(self.0.as_ref(), world.time() + duration)?;
        Ok(StepReport::default())
    }
}

/// The states of a frame alone: what the threads share.
fn states(suite: &mut Suite, id: &str, executor: impl Executor + 'static) -> Result<(), Box<dyn Error>> {
    let (mut world, mut stepper) = (thrown()?, Flight(executor.into()));
    let mut frame = 0_u32;
    suite.case(id).elements(u64::from(BODIES)).iterations(20).run(|| {
        // A long flight costs more than a short one: always the same tenth of a second, forward and back.
        frame = (frame + 1) % 12;
        stepper.advance(&mut world, if frame < 6 { 1.0 } else { -1.0 } / 60.0)
    });
    Ok(())
}

fn threads(suite: &mut Suite) -> Result<(), Box<dyn Error>> {
    frames(suite, "sim_core/threads/advance/1", Serial)?;
    frames(suite, "sim_core/threads/advance/2", Threads::new(2))?;
    states(suite, "sim_core/threads/states/1", Serial)?;
    states(suite, "sim_core/threads/states/2", Threads::new(2))
}

fn all(suite: &mut Suite) {
    if let Err(error) = threads(suite) {
        unreachable!("the input of this bench is fixed and valid: {error}");
    }
}

tumblestone_benches::main!(all);
