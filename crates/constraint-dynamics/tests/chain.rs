//! Joints that hang together: long chains, trees of coordinates, stubs of other laws.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::ConeNewton;
use sim_math::glam::DVec3;
use sim_traits::{Bounds, Law, RowProblem, RowSolver, testkit::mechanism::Mechanism};

/// A chain of links that hangs from the ground, with the velocity of one step of gravity.
fn chain(links: usize, heavy: f64) -> Mechanism {
    let mut this = Mechanism::default();
    let hold = Law::Bounded(Bounds::HOLD);
    for k in 0..links {
        let mass = if k + 1 == links { heavy } else { 1.0 };
        this.body(mass, DVec3::splat(0.01 * mass));
    }
    let arm = DVec3::X * 0.1;
    this.block(&[Mechanism::at(0, -arm, 1.0)], hold, DVec3::Z * -0.04);
    for k in 1..links as u32 {
        this.block(&[Mechanism::at(k, -arm, 1.0), Mechanism::at(k - 1, arm, -1.0)], hold, DVec3::ZERO);
    }
    this
}

/// The problem without W in full, which is too large for long chains.
fn diagonal(mechanism: &Mechanism, links: usize) -> Vec<sim_math::glam::DMat3> {
    let one = |k: usize| {
        let mut w = sim_math::glam::DMat3::ZERO;
        let bodies = if k == 0 { vec![0] } else { vec![k - 1, k] };
        for body in bodies {
            let b = &mechanism.bodies[body];
            let arm = DVec3::X * 0.1;
            for axis in 0..3 {
                let turn = b.inverse_inertia * arm.cross(DVec3::AXES[axis]);
                *w.col_mut(axis) += DVec3::AXES[axis] / b.mass + turn.cross(arm);
            }
        }
        w
    };
    (0..links).map(one).collect()
}

#[test]
fn a_long_chain_is_held() {
    for (links, heavy) in [(1, 1.0), (30, 1000.0), (300, 1.0), (10_000, 1.0)] {
        let mechanism = chain(links, heavy);
        let diagonal = diagonal(&mechanism, links);
        let problem =
            RowProblem::of_groups(mechanism.groups(), &diagonal, &mechanism.velocity, &[], &mechanism.laws)
                .unwrap();
        let mut p = vec![DVec3::ZERO; links];
        let report = ConeNewton::default().solve(&problem, &mut p).unwrap();
        assert!(report.certificate.residual <= 1e-12, "{links} links: {report:?}");
        assert!(report.iterations <= 12, "{links} links: {report:?}");
    }
}
