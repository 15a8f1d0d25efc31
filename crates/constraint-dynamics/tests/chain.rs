//! Joints that hang together: long chains, trees of coordinates, stubs of other laws.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    ConeGaussSeidel, ConeNewton, Delassus, Greedy, PolyhedralCone, PoolBody, PoolContact,
    pool::{self, PoolBlock, PoolBlocks, PoolSide, PoolWorkspace, PreparedPool},
};
use lcp_lemke::Driver;
use sim_math::{
    glam::{DMat3, DVec3},
    spatial::Motion,
};
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
fn diagonal(mechanism: &Mechanism, links: usize) -> Vec<DMat3> {
    let one = |k: usize| {
        let mut w = DMat3::ZERO;
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

/// One row of one's own, through public types only: two bodies keep their speed along a line between them, while one lands.
#[test]
fn mixed_rows_are_solved_by_all() {
    let at = |x: f64, velocity: DVec3| PoolBody {
        center: DVec3::new(x, 0.0, 0.2),
        inverse_mass: 0.5,
        inverse_inertia: DMat3::from_diagonal(DVec3::new(3.0, 4.0, 5.0)),
        velocity: Motion::new(DVec3::new(0.1, -0.3, 0.2), velocity),
    };
    let bodies = [at(0.0, DVec3::new(0.4, 0.1, -1.0)), at(1.0, DVec3::new(-0.2, 0.3, 0.5))];
    let contact = PoolContact {
        bodies: [0, u32::MAX],
        point: DVec3::new(0.05, 0.02, 0.0),
        frame: DMat3::IDENTITY,
        friction: 0.4,
        bias: DVec3::ZERO,
    };
    let one = |x: DVec3| DMat3::from_cols(x, DVec3::ZERO, DVec3::ZERO);
    let arm = DVec3::new(0.0, 0.1, 0.1);
    let side = |body: u32, sign: f64| PoolSide {
        body,
        moments: one(arm.cross(DVec3::X) * sign),
        forces: one(DVec3::X * sign),
    };
    let sides = [side(0, 1.0), side(1, -1.0)];
    let bounds = Bounds::NONE.with(0, f64::NEG_INFINITY, f64::INFINITY);
    let block = PoolBlock { sides: [0, 2], law: Law::Bounded(bounds), bias: DVec3::ZERO };
    let blocks = PoolBlocks { blocks: &[block], sides: &sides };
    let (mut delassus, mut prepared) = (Delassus::default(), PreparedPool::default());
    pool::assemble_with(&bodies, &[contact], &blocks, &mut PoolWorkspace::default(), &mut delassus);
    prepared.gather(&bodies, &[contact], &blocks);
    let problem = delassus.problem().unwrap().with_groups(prepared.view()).unwrap();
    let mut sharp = ConeGaussSeidel::default();
    sharp.params.tolerance = 1e-12;
    let mut picks = Greedy::default();
    picks.params.tolerance = 1e-12;
    let mut solvers: [Box<dyn RowSolver>; 4] = [
        Box::new(ConeNewton::default()),
        Box::new(sharp),
        Box::new(picks),
        Box::new(PolyhedralCone::new(Driver::default())),
    ];
    let mut answers = Vec::new();
    for solver in &mut solvers {
        let mut p = [DVec3::ZERO; 2];
        solver.solve(&problem, &mut p).unwrap();
        let mut pushed = bodies;
        pool::apply(&mut pushed, &[contact], &p[..1]);
        blocks.push(&mut pushed, &block, p[1]);
        assert!(blocks.velocity(&pushed, &block).x.abs() < 1e-10, "{}", solver.kind());
        assert!(pool::velocity_of(&pushed, &contact).z.abs() < 1e-10, "{}", solver.kind());
        answers.push((solver.kind(), p));
    }
    // It sticks, so that the polyhedral cone has the same answer.
    for (kind, p) in &answers[1..] {
        let apart = (p[0] - answers[0].1[0]).length() + (p[1] - answers[0].1[1]).length();
        assert!(apart < 1e-10, "{kind}: {p:?} against {:?}", answers[0]);
    }
}
