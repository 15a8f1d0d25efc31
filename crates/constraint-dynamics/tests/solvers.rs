//! The three laws against the conformance kit and against each other.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    ConeGaussSeidel, ConeNewton, ConeParams, Delassus, Greedy, PolyhedralCone, PolyhedralParams, PoolBody,
    PoolContact,
    normals::{NormalContact, NormalGoal, NormalSweeps},
    pool::{self, PoolBlocks, PoolWorkspace, PreparedPool},
};
use lcp_lemke::Driver;
use sim_math::{
    glam::{DMat3, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{
    RowError, RowProblem, RowSolver,
    testkit::row_solver::{Bounds, Owned, conformance},
};

fn lemke(directions: u32) -> PolyhedralCone {
    let mut params = PolyhedralParams::default();
    params.directions = directions;
    PolyhedralCone::with(Driver::default(), params)
}

#[test]
fn cones_conform() {
    let bounds = Bounds { max_contacts: 8, count: 300, residual: 1e-8, seed: 5 };
    conformance(&mut ConeGaussSeidel::default(), &bounds).unwrap();
    conformance(&mut Greedy::default(), &bounds).unwrap();
    // Without bodies it sweeps.
    conformance(&mut ConeNewton::default(), &Bounds { residual: 1e-7, ..bounds }).unwrap();
    conformance(&mut lemke(8), &Bounds { count: 60, ..bounds }).unwrap();
    conformance(&mut lemke(16), &Bounds { count: 30, max_contacts: 5, ..bounds }).unwrap();
}

/// Momentum given to the bodies by two solutions is the same where the solution is unique; the impulses need not be.
fn velocities(owned: &Owned, p: &[DVec3]) -> Vec<DVec3> {
    let problem = owned.problem().unwrap();
    (0..p.len()).map(|c| problem.relative_velocity(c, p)).collect()
}

#[test]
fn without_friction_all_three_laws_give_the_same_motion() {
    let mut random = SplitMix64(12);
    for _ in 0..100 {
        let mut owned = Owned::random(1 + random.below(8), &mut random);
        owned.friction.fill(0.0);
        let problem = owned.problem().unwrap();
        let mut solvers: [Box<dyn RowSolver>; 3] =
            [Box::new(ConeGaussSeidel::default()), Box::new(Greedy::default()), Box::new(lemke(8))];
        let found: Vec<_> = solvers
            .iter_mut()
            .map(|solver| {
                let mut p = vec![DVec3::ZERO; problem.len()];
                solver.solve(&problem, &mut p).unwrap();
                velocities(&owned, &p)
            })
            .collect();
        for other in &found[1..] {
            for (u, v) in found[0].iter().zip(other) {
                assert!((*u - *v).length() < 1e-6, "{u} against {v}");
            }
        }
    }
}

#[test]
fn lemke_meets_the_exact_cone_as_sides_grow() {
    let mut random = SplitMix64(13);
    let mut worst = [0.0_f64; 3];
    for _ in 0..60 {
        let owned = Owned::random(1, &mut random);
        let problem = owned.problem().unwrap();
        let mut exact = [DVec3::ZERO];
        ConeGaussSeidel::default().solve(&problem, &mut exact).unwrap();
        for (k, m) in [8, 16, 32].into_iter().enumerate() {
            let mut params = PolyhedralParams::default();
            (params.directions, params.align) = (m, false);
            let mut p = [DVec3::ZERO];
            PolyhedralCone::with(Driver::default(), params).solve(&problem, &mut p).unwrap();
            let scale = exact[0].length().max(1e-12);
            worst[k] = worst[k].max((p[0] - exact[0]).length() / scale);
        }
    }
    // The direction of friction is off by π/m at most, its size by far less, and the answer by as much.
    for (error, m) in worst.into_iter().zip([8.0, 16.0, 32.0]) {
        assert!(error < 2.0 * std::f64::consts::PI / m, "{m} sides: {error}");
    }
    assert!(worst[2] < 0.5 * worst[0], "{worst:?}");
}

// proves: CLI-43
#[test]
fn facets_err_as_they_should() {
    // A sliding unit mass in all headings.
    for m in [4, 8, 16] {
        let mut params = PolyhedralParams::default();
        (params.directions, params.align) = (m, false);
        let mut solver = PolyhedralCone::with(Driver::default(), params);
        let half = std::f64::consts::PI / f64::from(m);
        let mut least = 1.0_f64;
        for k in 0..90 {
            let (s, c) = sim_math::ops::sin_cos(0.07 * f64::from(k));
            let owned = Owned::single(DMat3::IDENTITY, DVec3::new(5.0 * c, 5.0 * s, -1.0), 0.5);
            let mut p = [DVec3::ZERO];
            solver.solve(&owned.problem().unwrap(), &mut p).unwrap();
            let share = p[0].truncate().length() / (0.5 * p[0].z);
            assert!(share <= 1.0 + 1e-12 && share >= sim_math::ops::cos(half) - 1e-9, "{m} sides: {share}");
            let off = p[0].truncate().angle_to(-owned.velocity[0].truncate()).abs();
            assert!(off <= half + 1e-9, "{m} sides: {off} rad off");
            least = least.min(share);
        }
        // Aligned with the slip, friction is exact.
        let mut aligned = lemke(m);
        let owned = Owned::single(DMat3::IDENTITY, DVec3::new(2.9, 4.1, -1.0), 0.5);
        let mut p = [DVec3::ZERO];
        aligned.solve(&owned.problem().unwrap(), &mut p).unwrap();
        let exact = -owned.velocity[0].truncate().normalize() * 0.5;
        assert!((p[0].truncate() - exact).length() < 1e-9);
    }
}

// proves: CLI-44
#[test]
fn slip_variable_is_the_largest_slip() {
    let mut random = SplitMix64(14);
    for _ in 0..200 {
        let owned = Owned::random(3, &mut random);
        let problem = owned.problem().unwrap();
        let mut solver = lemke(8);
        let mut p = vec![DVec3::ZERO; 3];
        solver.solve(&problem, &mut p).unwrap();
        for (c, gamma) in solver.slip_variables().enumerate() {
            if p[c].z < 1e-9 {
                continue;
            }
            let u = problem.relative_velocity(c, &p).truncate();
            let most = solver.directions(c).iter().map(|d| -d.dot(u)).fold(0.0, f64::max);
            assert!((gamma - most).abs() < 1e-7, "γ = {gamma}, slips by {most}");
        }
    }
    // Sticking: no slip, γ = 0.
    let owned = Owned::single(DMat3::IDENTITY, DVec3::new(0.1, 0.1, -1.0), 0.5);
    let mut solver = lemke(8);
    solver.solve(&owned.problem().unwrap(), &mut [DVec3::ZERO]).unwrap();
    assert!(solver.slip_variables().all(|g| g.abs() < 1e-12));
}

/// A tower of unit masses: contact k between mass k and k − 1, every mass pulled down.
fn tower(n: usize) -> Owned {
    let mut owned = Owned { starts: vec![0], ..Owned::default() };
    for c in 0..n {
        for d in c.saturating_sub(1)..(c + 2).min(n) {
            let sign = if c == d { if c == 0 { 1.0 } else { 2.0 } } else { -1.0 };
            owned.columns.push(d as u32);
            owned.blocks.push(DMat3::IDENTITY * sign);
        }
        owned.starts.push(owned.columns.len() as u32);
        owned.velocity.push(DVec3::new(0.0, 0.0, if c == 0 { -1.0 } else { 0.0 }));
        owned.friction.push(0.5);
    }
    owned
}

#[test]
fn acceleration_pays_on_a_tower() {
    let owned = tower(20);
    let problem = owned.problem().unwrap();
    let run = |accelerate: bool| {
        let mut params = ConeParams::default();
        (params.accelerate, params.max_iterations) = (accelerate, 100_000);
        let mut p = vec![DVec3::ZERO; 20];
        let report = ConeGaussSeidel::new(params).solve(&problem, &mut p).unwrap();
        // Each contact carries all masses above it.
        for (c, p) in p.iter().enumerate() {
            assert!((p.z - (20 - c) as f64).abs() < 1e-6, "contact {c} carries {}", p.z);
        }
        report.iterations
    };
    let (plain, fast) = (run(false), run(true));
    assert!(5 * fast < plain, "{fast} against {plain} iterations");
}

#[test]
fn budgets_limits_and_impossible_problems_are_errors() {
    let owned = tower(30);
    let problem = owned.problem().unwrap();
    let mut params = ConeParams::default();
    params.max_iterations = 3;
    let mut p = vec![DVec3::ZERO; 30];
    let error = ConeGaussSeidel::new(params).solve(&problem, &mut p).unwrap_err();
    assert!(matches!(error, RowError::Budget { iterations: 3, residual } if residual > 1e-3));
    assert!(problem.certificate(&p).cone_violation <= 0.0);
    let mut small = PolyhedralParams::default();
    (small.max_contacts, small.block) = (29, 0);
    let error = PolyhedralCone::with(Driver::default(), small).solve(&problem, &mut p).unwrap_err();
    assert_eq!(error.to_string(), "30 blocks, but this solver takes 29");
    // A body between two walls that must both open: no solution.
    let wedge = Owned {
        starts: vec![0, 2, 4],
        columns: vec![0, 1, 0, 1],
        blocks: vec![DMat3::IDENTITY, -DMat3::IDENTITY, -DMat3::IDENTITY, DMat3::IDENTITY],
        velocity: vec![DVec3::new(0.0, 0.0, -1.0); 2],
        friction: vec![0.0; 2],
        laws: vec![],
    };
    for solver in
        [&mut ConeGaussSeidel::default() as &mut dyn RowSolver, &mut Greedy::default(), &mut lemke(8)]
    {
        let mut p = [DVec3::ZERO; 2];
        assert!(solver.solve(&wedge.problem().unwrap(), &mut p).is_err(), "{}", solver.kind());
    }
}

#[test]
fn wedged_bodies_get_a_finite_answer_or_an_error() {
    let mut random = SplitMix64(15);
    let mut solved = [0; 3];
    for _ in 0..150 {
        let owned = Owned::wedged(1 + random.below(8), &mut random);
        let problem = owned.problem().unwrap();
        let mut solvers: [Box<dyn RowSolver>; 3] =
            [Box::new(ConeGaussSeidel::default()), Box::new(Greedy::default()), Box::new(lemke(8))];
        for (k, solver) in solvers.iter_mut().enumerate() {
            let mut p = vec![DVec3::ZERO; problem.len()];
            match solver.solve(&problem, &mut p) {
                Ok(report) => {
                    solved[k] += 1;
                    assert!(p.iter().all(|p| p.is_finite()));
                    assert!(report.certificate.approach < 1e-6, "{report:?}");
                }
                Err(RowError::Budget { .. }) => assert!(p.iter().all(|p| p.is_finite())),
                Err(other) => assert!(matches!(other, RowError::NoSolution { .. }), "{other}"),
            }
        }
    }
    assert!(solved.iter().all(|&n| n > 120), "{solved:?} of 150");
}

/// A heap of unit cubes: `rows` rows of a pyramid, each cube on two, four contacts per face.
fn pyramid(rows: usize) -> (Vec<PoolBody>, Vec<PoolContact>) {
    let mut bodies = Vec::new();
    let mut contacts = Vec::new();
    let mut below: Vec<u32> = Vec::new();
    for row in 0..rows {
        let mut here = Vec::new();
        for k in 0..rows - row {
            let center = DVec3::new(1.05 * k as f64 + 0.525 * row as f64, 0.0, row as f64 + 0.5);
            let number = bodies.len() as u32;
            bodies.push(PoolBody {
                center,
                inverse_mass: 1.0,
                inverse_inertia: DMat3::IDENTITY * 6.0,
                velocity: sim_math::spatial::Motion::new(DVec3::ZERO, DVec3::new(0.0, 0.0, -0.1635)),
            });
            let mut face = |other: u32, from: f64, to: f64| {
                for (x, y) in [(from, -0.5), (from, 0.5), (to, -0.5), (to, 0.5)] {
                    contacts.push(PoolContact {
                        bodies: [number, other],
                        point: DVec3::new(x, y, row as f64),
                        frame: sim_math::rotation::frame_from_normal(DVec3::Z).unwrap(),
                        friction: 0.5,
                        bias: DVec3::ZERO,
                    });
                }
            };
            if row == 0 {
                face(u32::MAX, center.x - 0.5, center.x + 0.5);
            } else {
                face(below[k], center.x - 0.5, center.x - 0.025);
                face(below[k + 1], center.x + 0.025, center.x + 0.5);
            }
            here.push(number);
        }
        below = here;
    }
    (bodies, contacts)
}

#[test]
fn newton_solves_what_sweeps_cannot() {
    let (mut bodies, contacts) = pyramid(8);
    let (mut delassus, mut prepared) = (Delassus::default(), PreparedPool::default());
    pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut delassus);
    prepared.gather(&bodies, &contacts, &PoolBlocks::default());
    let problem = delassus.problem().unwrap().with_groups(prepared.view()).unwrap();
    let mut params = ConeParams::default();
    (params.tolerance, params.max_iterations) = (1e-8, 300);
    let mut swept = vec![DVec3::ZERO; contacts.len()];
    assert!(ConeGaussSeidel::new(params).solve(&problem, &mut swept).is_err());
    let mut p = vec![DVec3::ZERO; contacts.len()];
    let report = ConeNewton::default().solve(&problem, &mut p).unwrap();
    assert!(
        report.certificate.residual <= 1.635e-9 && report.certificate.cone_violation <= 1e-12,
        "{report:?}"
    );
    // From its own answer there is nothing left to do.
    assert_eq!(ConeNewton::default().solve(&problem, &mut p).unwrap().iterations, 0);
    pool::apply(&mut bodies, &contacts, &p);
    assert!(bodies.iter().all(|b| b.velocity.linear.length() < 1e-8 && b.velocity.angular.length() < 1e-8));
    // The ground carries everything.
    let ground: f64 =
        contacts.iter().zip(&p).filter(|(c, _)| c.bodies[1] == u32::MAX).map(|(_, p)| p.z).sum();
    sim_math::assert_close!(ground, 36.0 * 0.1635, rel = 1e-7);
}

#[test]
fn newton_conforms() {
    // Sliding and tumbling heaps with bodies: the law is obeyed, and where the answer is unique it is that of sweeps.
    let mut random = SplitMix64(44);
    let mut solved = 0;
    for _ in 0..60 {
        let (mut bodies, contacts) = pyramid(1 + random.below(4));
        for body in &mut bodies {
            body.velocity = sim_math::spatial::Motion::new(random.vec3(0.3), random.vec3(0.5) - DVec3::Z);
        }
        let (mut delassus, mut prepared) = (Delassus::default(), PreparedPool::default());
        pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut delassus);
        prepared.gather(&bodies, &contacts, &PoolBlocks::default());
        let problem = delassus.problem().unwrap().with_groups(prepared.view()).unwrap();
        let mut p = vec![DVec3::ZERO; contacts.len()];
        match ConeNewton::default().solve(&problem, &mut p) {
            Ok(report) => {
                solved += 1;
                assert!(report.certificate.residual < 1e-7, "{report:?}");
            }
            Err(RowError::Budget { residual, .. }) => assert!(residual < 1e-2, "{residual}"),
            Err(other) => panic!("{other}"),
        }
        assert!(problem.certificate(&p).cone_violation <= 1e-12);
        let gained: f64 = (0..p.len())
            .map(|c| 0.5 * p[c].dot(delassus.velocity[c] + problem.relative_velocity(c, &p)))
            .sum();
        assert!(gained <= 1e-7, "{gained}");
    }
    println!("solved {solved} of 60");
    assert!(solved >= 50, "{solved} of 60");
}

#[test]
fn bodies_stand_for_rows() {
    let mut random = SplitMix64(45);
    let mut roughly = 0;
    for _ in 0..40 {
        let (mut bodies, contacts) = pyramid(1 + random.below(4));
        for body in &mut bodies {
            body.velocity = sim_math::spatial::Motion::new(random.vec3(0.3), random.vec3(0.5) - DVec3::Z);
        }
        let (mut rows, mut diagonal, mut prepared) =
            (Delassus::default(), Delassus::default(), PreparedPool::default());
        pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut rows);
        pool::assemble_diagonal(&bodies, &contacts, &mut diagonal);
        prepared.gather(&bodies, &contacts, &PoolBlocks::default());
        let with_rows = rows.problem().unwrap();
        let without = RowProblem::of_groups(
            prepared.view(),
            &diagonal.blocks,
            &diagonal.velocity,
            &diagonal.friction,
            &[],
        )
        .unwrap();
        assert!(with_rows.has_rows() && !without.has_rows());
        let mut p: Vec<DVec3> = contacts.iter().map(|_| random.vec3(1.0) + DVec3::Z).collect();
        let (mut soft, mut as_soft) = (Vec::new(), Vec::new());
        let pairs =
            [(with_rows, without), (with_rows.softened(0.1, &mut soft), without.softened(0.1, &mut as_soft))];
        for (x, y) in pairs {
            for c in 0..p.len() {
                assert!((x.relative_velocity(c, &p) - y.relative_velocity(c, &p)).length() < 1e-11);
                assert!(x.diagonal(c).abs_diff_eq(y.diagonal(c), 1e-12));
            }
            let (slow, fast) = (x.certificate(&p), ConeNewton::default().measure(&y, &p));
            assert!((slow.residual - fast.residual).abs() < 1e-10 * (1.0 + slow.residual));
            assert!((slow.approach - fast.approach).abs() < 1e-10 * (1.0 + slow.approach.abs()));
        }
        // An answer without rows obeys the law with rows, and so does a rough one, to what it says.
        let report = ConeNewton::default().solve(&without, &mut p);
        if let Ok(report) = report {
            assert!((with_rows.certificate(&p).residual - report.certificate.residual).abs() < 1e-11);
        }
        p.fill(DVec3::ZERO);
        let said = match ConeNewton::default().solve(&without.with_accuracy(2e-2), &mut p) {
            Ok(report) => {
                roughly += 1;
                assert!(report.certificate.residual <= 2e-2);
                report.certificate.residual
            }
            Err(RowError::Budget { residual, .. }) => residual,
            Err(other) => panic!("{other}"),
        };
        let measured = with_rows.certificate(&p);
        assert!((measured.residual - said).abs() < 1e-11, "{measured:?}, said {said}");
        assert!(measured.cone_violation <= 1e-12, "{measured:?}");
    }
    assert!(roughly >= 20, "{roughly} of 40");
    // A budget too small is told, with the residual that is left.
    let (bodies, contacts) = pyramid(12);
    let (mut diagonal, mut prepared) = (Delassus::default(), PreparedPool::default());
    pool::assemble_diagonal(&bodies, &contacts, &mut diagonal);
    prepared.gather(&bodies, &contacts, &PoolBlocks::default());
    let (blocks, velocity, friction) = (&diagonal.blocks, &diagonal.velocity, &diagonal.friction);
    let problem = RowProblem::of_groups(prepared.view(), blocks, velocity, friction, &[]).unwrap();
    let mut p = vec![DVec3::ZERO; contacts.len()];
    let mut law = ConeNewton::default();
    match law.solve(&problem.with_accuracy(1e-7), &mut p) {
        Err(RowError::Budget { iterations, residual }) => {
            assert!(iterations <= law.params.rough && residual > 1e-7);
            assert!((law.measure(&problem, &p).residual - residual).abs() < 1e-12);
        }
        other => panic!("{other:?}"),
    }
    assert!(RowProblem::of_groups(prepared.view(), blocks, velocity, &friction[1..], &[]).is_err());
    assert!(RowProblem::of_groups(prepared.view(), &blocks[1..], velocity, friction, &[]).is_err());
}

#[test]
fn closing_walls_exert_bounded_impulses() {
    use constraint_dynamics::soften::Softener;
    let walls = |friction: f64| Owned {
        starts: vec![0, 2, 4],
        columns: vec![0, 1, 0, 1],
        blocks: vec![DMat3::IDENTITY, -DMat3::IDENTITY, -DMat3::IDENTITY, DMat3::IDENTITY],
        velocity: vec![DVec3::new(0.1, 0.0, -1.0); 2],
        friction: vec![friction; 2],
        laws: vec![],
    };
    for solver in [
        &mut ConeGaussSeidel::default() as &mut dyn RowSolver,
        &mut Greedy::default(),
        &mut ConeNewton::default(),
        &mut lemke(8),
    ] {
        for friction in [0.0, 0.5] {
            let owned = walls(friction);
            let mut p = [DVec3::ZERO; 2];
            let found = Softener::default().solve(&owned.problem().unwrap(), solver, &mut p).unwrap();
            assert!(found.soft && !found.solved && found.residual > 0.1, "{found:?}");
            assert!(p.iter().all(|p| p.length() < 20.0), "{}: {p:?}", solver.kind());
        }
    }
    // What has a solution is not softened.
    let owned = Owned::single(DMat3::IDENTITY, DVec3::NEG_Z, 0.5);
    let mut p = [DVec3::ZERO];
    let found = Softener::default().solve(&owned.problem().unwrap(), &mut lemke(8), &mut p).unwrap();
    assert!(found.solved && !found.soft);
}

#[test]
fn normals_are_cones_without_friction() {
    let mut random = SplitMix64(46);
    let mut sweeps = NormalSweeps::default();
    let mut hard = 0;
    for round in 0..60 {
        let (mut bodies, mut contacts) = pyramid(1 + random.below(5));
        for body in &mut bodies {
            body.velocity = sim_math::spatial::Motion::new(random.vec3(0.3), random.vec3(0.5));
        }
        for contact in &mut contacts {
            contact.friction = 0.0;
            contact.bias = DVec3::Z * (random.vec3(0.3).x - 0.1);
        }
        let normals = || {
            contacts.iter().map(|c| NormalContact {
                bodies: c.bodies,
                point: c.point,
                normal: c.frame.z_axis,
                gap: c.bias.z,
            })
        };
        let mut rows = Delassus::default();
        pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut rows);
        let (problem, mut soft) = (rows.problem().unwrap(), Vec::new());
        let softness = if round % 2 == 0 { 0.0 } else { 0.1 };
        let problem = if softness > 0.0 { problem.softened(softness, &mut soft) } else { problem };
        let mut p = vec![DVec3::ZERO; contacts.len()];
        let mut law = ConeGaussSeidel::default();
        law.params.max_iterations = 10_000;
        law.solve(&problem, &mut p).unwrap();
        // The velocities are unique, the impulses need not be.
        let mut pushed = bodies.clone();
        pool::apply(&mut pushed, &contacts, &p);
        let mut swept = bodies.clone();
        let goal = NormalGoal { accuracy: 1e-9, pairs: 3000, visits: u32::MAX, softness };
        let found = sweeps.solve(&mut swept, normals(), goal);
        assert!(found.residual <= 1e-8, "{found:?}");
        assert!((found.scale - problem.velocity().iter().map(|b| -b.z).fold(0.0, f64::max)).abs() < 1e-12);
        for (x, y) in pushed.iter().zip(&swept) {
            let apart = x.velocity - y.velocity;
            assert!(apart.linear.length() + apart.angular.length() < 1e-5, "round {round}: {apart:?}");
        }
        // A rough answer is as good as it says: no contact approaches by more.
        let mut rough = bodies.clone();
        let goal = NormalGoal { accuracy: 1e-2, pairs: 4, visits: 0, softness };
        let said = sweeps.solve(&mut rough, normals(), goal);
        assert!(said.iterations <= 4);
        hard += u32::from(said.residual > 1e-2);
        if softness == 0.0 {
            let approach = |c: &PoolContact| -(pool::velocity_of(&rough, c).z + c.bias.z);
            assert!(contacts.iter().map(approach).fold(0.0, f64::max) <= said.residual + 1e-12);
        }
    }
    assert!(hard > 0 && hard < 60, "{hard}");
    let goal = NormalGoal { accuracy: 0.0, pairs: 1, visits: 0, softness: 0.0 };
    let nothing = sweeps.solve(&mut [], std::iter::empty(), goal);
    assert!(nothing.residual == 0.0 && nothing.scale == 0.0);
}

#[test]
fn blocks_settle_on_what_one_problem_gives() {
    let mut random = SplitMix64(19);
    for _ in 0..40 {
        let owned = Owned::random(12, &mut random);
        let problem = owned.problem().unwrap();
        let mut params = PolyhedralParams::default();
        params.align = false;
        let (mut p, mut q) = (vec![DVec3::ZERO; 12], vec![DVec3::ZERO; 12]);
        PolyhedralCone::with(Driver::default(), params).solve(&problem, &mut p).unwrap();
        params.max_contacts = 5;
        let _ = PolyhedralCone::with(Driver::default(), params).solve(&problem, &mut q);
        // Impulses need not be unique: what they do is.
        let (one, swept) = (problem.certificate(&p), problem.certificate(&q));
        assert!(swept.residual <= 2.0 * one.residual + 1e-6 * problem.scale(), "{one:?} {swept:?}");
    }
}
