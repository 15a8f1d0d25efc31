//! A box on a slope under three laws of contact: sticks or slides, and what the certificates say.
#![allow(clippy::print_stdout, reason = "an example prints")]

use constraint_dynamics::{ConeGaussSeidel, Delassus, Greedy, PoolBody, PoolContact, pool};
use sim_math::{
    glam::{DMat3, DQuat, DVec3},
    rotation::frame_from_normal,
    spatial::Motion,
};
use sim_traits::RowSolver;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mu = 0.5;
    for tangent in [0.4_f64, 0.4995, 0.5005, 0.8] {
        let turn = DQuat::from_rotation_y(sim_math::ops::atan(tangent));
        let frame = frame_from_normal((turn * DVec3::Z).normalize())?;
        let body = PoolBody {
            center: turn * DVec3::new(0.0, 0.0, 0.5),
            inverse_mass: 1.0,
            inverse_inertia: DMat3::from_diagonal(DVec3::splat(6.0)),
            velocity: Motion::new(DVec3::ZERO, DVec3::new(0.0, 0.0, -9.81 * 0.01)),
        };
        let contacts = [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)].map(|(x, y)| PoolContact {
            bodies: [0, u32::MAX],
            point: turn * DVec3::new(x, y, 0.0),
            frame,
            friction: mu,
            bias: DVec3::ZERO,
        });
        let laws: [Box<dyn RowSolver>; 2] =
            [Box::new(ConeGaussSeidel::default()), Box::new(Greedy::default())];
        for mut law in laws {
            let mut bodies = [body];
            let mut problem = Delassus::default();
            pool::assemble(&bodies, &contacts, &mut pool::PoolWorkspace::default(), &mut problem);
            let mut impulses = [DVec3::ZERO; 4];
            let report = law.solve(&problem.problem()?, &mut impulses)?;
            pool::apply(&mut bodies, &contacts, &impulses);
            println!(
                "tan {tangent}: {:6} speed {:.3e} m/s after 10 ms, residual {:.1e} m/s, {} iterations",
                law.kind(),
                bodies[0].velocity.linear.length(),
                report.certificate.residual,
                report.iterations
            );
        }
    }
    Ok(())
}
