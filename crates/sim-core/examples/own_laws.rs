//! An impact law and a contact solver of one's own, boxed into the two steppers.
#![allow(clippy::print_stdout, reason = "an example prints")]

use sim_core::{prelude::*, traits::*};

/// No friction, and every impact loses half of the speed.
#[derive(Debug)]
struct HalfBack;

impl ImpactLaw for HalfBack {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        impact.validate()?;
        Ok(DVec3::Z * (-1.5 * impact.velocity.z / impact.k.z_axis.z).max(0.0))
    }
}

/// Block after block, until a thousand sweeps are over.
#[derive(Debug)]
struct Sweeps;

impl RowSolver for Sweeps {
    fn kind(&self) -> &'static str {
        "own sweeps"
    }

    fn solve(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
        RowError::check_guess(problem, p)?;
        for c in (0..1000).flat_map(|_| 0..problem.len()) {
            let (u, stiff) = (problem.relative_velocity(c, p), problem.diagonal(c).to_cols_array());
            let step = p[c] - u / stiff.iter().fold(0.0, |sum, w| sum + w.abs());
            p[c] = problem.law(c).project(step, problem.load(c, p));
        }
        Ok(RowReport { iterations: 1000, certificate: problem.certificate(p) })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    world.add(Body::fixed().shape(HalfSpace::up()))?;
    let ball = world.add(Body::free().shape(Sphere::new(0.1)?).at([0.0, 0.0, 1.1]))?;
    let (law, solver): (Box<dyn ImpactLaw>, Box<dyn RowSolver>) = (HalfBack.into(), Sweeps.into());
    let by_events = Simulation::builder(world.clone()).impact(law);
    for builder in [by_events, Simulation::builder(world).contact_law(solver)] {
        let mut sim = builder.build()?;
        sim.advance(0.7)?;
        println!("{}: height {:.4} m", sim.stepper().kind(), sim.world()[ball].position().z);
    }
    Ok(())
}
