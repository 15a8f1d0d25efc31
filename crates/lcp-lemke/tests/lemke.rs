//! Lemke's method against known answers, enumeration and its own invariants.
#![allow(clippy::float_cmp, clippy::print_stdout, clippy::unwrap_used, reason = "tests say what they find")]

mod support;

use lcp_lemke::families::{Family, OwnedLcp, friction_box, slightly_changed};
use lcp_lemke::{
    LcpError, LcpProblem, LcpSolver, Lemke, LemkeEnd, LemkeParams, LemkeWorkspace, Start, TieRule, lemke,
};
use sim_math::testkit::SplitMix64;
use sim_traits::testkit::{lcp, oracle::EnumerationLcp};
use support::{distance, owned, solve};

#[test]
fn lemke_conforms() {
    let bounds = lcp::Bounds { max_len: 25, count: 500, residual: 1e-10, ..lcp::Bounds::default() };
    lcp::conformance(&mut Lemke::default(), &bounds).unwrap();
}

/// Name, problem, solution, pivots after the artificial variable came in.
fn vectors() -> [(&'static str, OwnedLcp, Vec<f64>, u32); 4] {
    [
        ("2x2", owned(&[2., 1., 1., 2.], &[-5., -6.]), vec![4. / 3., 7. / 3.], 2),
        ("Kostreva", owned(&[1., 2., 0., 0., 1., 2., 2., 0., 1.], &[-1.; 3]), vec![1. / 3.; 3], 3),
        ("Murty", owned(&[1., 0., 0., 2., 1., 0., 2., 2., 1.], &[-8., -12., -14.]), vec![8., 0., 0.], 7),
        (
            "4x4",
            owned(
                &[1., -1., -1., -1., -1., 1., -1., -1., 1., 1., 2., 0., 1., 1., 0., 2.],
                &[3., 5., -9., -5.],
            ),
            vec![2., 1., 3., 1.],
            4,
        ),
    ]
}

#[test]
fn known_vectors_with_their_pivot_counts() {
    for (name, p, expected, pivots) in vectors() {
        let (report, z) = solve(&p, &LemkeParams::default());
        let report = report.unwrap();
        assert!(distance(&z, &expected) < 1e-14, "{name}: {z:?}");
        assert_eq!((report.pivots, report.end), (pivots, LemkeEnd::Solved), "{name}");
    }
}

// proves: CLI-31
#[test]
fn nonnegative_right_hand_side_needs_no_pivot() {
    for q in [[0.0, 0.0], [1.0, 0.0], [2.0, 3.0]] {
        let (report, z) = solve(&owned(&[-1., 2., 3., -4.], &q), &LemkeParams::default());
        let report = report.unwrap();
        assert_eq!((report.pivots, report.end, z), (0, LemkeEnd::Trivial, vec![0.0, 0.0]));
    }
}

// proves: CLI-34
#[test]
fn kostreva_cycles_without_the_lexicographic_rule() {
    let (_, p, expected, _) = vectors().into_iter().nth(1).unwrap();
    let mut careless = LemkeParams::default();
    careless.tie_rule = TieRule::FirstIndex;
    careless.prefer_artificial = false;
    careless.max_pivots = 6000;
    let (result, _) = solve(&p, &careless);
    assert!(matches!(result, Err(LcpError::Budget { iterations: 6000, .. })), "{result:?}");
    let mut lexicographic = careless;
    lexicographic.tie_rule = TieRule::Lexicographic;
    let (result, z) = solve(&p, &lexicographic);
    assert_eq!(result.unwrap().pivots, 3);
    assert!(distance(&z, &expected) < 1e-15);
}

// proves: CLI-35
#[test]
fn infeasible_problems_end_in_a_ray_that_is_one() {
    let p = owned(&[0., -1., 1., 0.], &[-1., -1.]);
    let problem = LcpProblem::new(&p.m, &p.q).unwrap();
    let (mut ws, mut z) = (LemkeWorkspace::default(), [0.0; 2]);
    let error = lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, &mut z).unwrap_err();
    assert!(matches!(error, LcpError::Ray { .. }));
    assert!(ws.ray().is_some());

    let mut random = SplitMix64(5);
    for _ in 0..500 {
        let p = Family::Infeasible.draw(1 + random.below(20), &mut random);
        let n = p.q.len();
        let problem = LcpProblem::new(&p.m, &p.q).unwrap();
        let mut z = vec![0.0; n];
        let error = lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, &mut z).unwrap_err();
        assert!(matches!(error, LcpError::Ray { .. }), "{error}");
        let ray = ws.ray().unwrap();
        assert!(ray.artificial > 0.0 && ray.direction.iter().chain(ray.point).all(|v| *v >= 0.0));
        // Along the ray z and w + d z0 stay complementary: (M direction)_i ≥ -d dz0 with dz0 ≥ 0, and dᵀ M d ≤ 0.
        let curvature: f64 = (0..n)
            .map(|i| ray.direction[i] * (0..n).map(|j| p.m[i * n + j] * ray.direction[j]).sum::<f64>())
            .sum();
        let size: f64 = ray.direction.iter().map(|v| v * v).sum();
        assert!(curvature <= 1e-9 * size, "{curvature} of {size}");
    }
}

// proves: CLI-32
#[test]
fn first_basis_is_feasible_for_any_cover() {
    let mut random = SplitMix64(6);
    let mut one_pivot = LemkeParams::default();
    one_pivot.max_pivots = 1;
    let mut ws = LemkeWorkspace::default();
    for k in 0..2000 {
        let p = Family::PMatrix.draw(1 + random.below(15), &mut random);
        let n = p.q.len();
        let problem = LcpProblem::new(&p.m, &p.q).unwrap();
        let cover: Vec<f64> = (0..n).map(|_| random.range(0.1, 3.0)).collect();
        let start = if k % 2 == 0 { Start::Cold } else { Start::Cover(&cover) };
        let mut z = vec![0.0; n];
        if let Ok(report) = lemke(&problem, &one_pivot, start, &mut ws, &mut z) {
            assert!(report.worst_basic >= -1e-15);
        }
        let (mut first, mut second) = (vec![0.0; n], vec![0.0; n]);
        let report = lemke(&problem, &LemkeParams::default(), start, &mut ws, &mut first).unwrap();
        assert!(report.worst_basic >= -1e-12, "{report:?}");
        // A P-matrix has one solution, whatever the cover.
        lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, &mut second).unwrap();
        assert!(distance(&first, &second) < 1e-11);
    }
}

// proves: CLI-33
#[test]
fn basic_values_stay_nonnegative_on_every_path() {
    let mut random = SplitMix64(9);
    for family in Family::WELL_SCALED.into_iter().chain(Family::BADLY_SCALED) {
        for _ in 0..300 {
            let p = family.draw(1 + random.below(30), &mut random);
            let (report, _) = solve(&p, &LemkeParams::default());
            let report = report.unwrap_or_else(|e| panic!("{family:?}: {e}"));
            assert!(report.worst_basic >= -1e-10, "{family:?}: {report:?}");
        }
    }
}

/// The solution if exactly one complementary basis solves the problem, by trying all of them.
fn unique_solution(p: &OwnedLcp) -> Option<Vec<f64>> {
    let problem = LcpProblem::new(&p.m, &p.q).unwrap();
    let mut z = vec![0.0; p.q.len()];
    EnumerationLcp::default().solve(&problem, &mut z).ok()?;
    Some(z)
}

// proves: CLI-30
#[test]
fn lemke_equals_enumeration() {
    let mut random = SplitMix64(12);
    for family in [Family::PositiveDefinite, Family::PMatrix, Family::Degenerate] {
        for _ in 0..100 {
            let p = family.draw(1 + random.below(12), &mut random);
            let (report, z) = solve(&p, &LemkeParams::default());
            report.unwrap();
            let expected = unique_solution(&p).unwrap();
            assert!(distance(&z, &expected) < 1e-9, "{family:?}: {z:?} and {expected:?}");
        }
    }
    // Semidefinite: w is unique though z is not. Copositive: both agree that there is a solution.
    for family in [Family::SemiDefinite, Family::WholeNumbers, Family::Contact, Family::Friction4] {
        for _ in 0..100 {
            let p =
                family.draw(1 + random.below(if family == Family::Friction4 { 6 } else { 10 }), &mut random);
            let problem = LcpProblem::new(&p.m, &p.q).unwrap();
            let (report, z) = solve(&p, &LemkeParams::default());
            assert!(report.unwrap().certificate.holds(1e-12));
            let expected = unique_solution(&p).unwrap();
            if family != Family::Friction4 {
                for i in 0..z.len() {
                    assert!((problem.slack(i, &z) - problem.slack(i, &expected)).abs() < 1e-7, "{family:?}");
                }
            }
        }
    }
    for (name, p, expected, _) in vectors() {
        let (report, z) = solve(&p, &LemkeParams::default());
        assert!(report.is_ok() && distance(&z, &expected) < 1e-14, "{name}");
    }
}

#[test]
fn warm_start_on_the_same_problem_needs_no_pivot() {
    let mut random = SplitMix64(13);
    let mut ws = LemkeWorkspace::default();
    for family in [Family::PositiveDefinite, Family::PMatrix, Family::Friction4, Family::FrictionBox] {
        for _ in 0..100 {
            let p = family.draw(1 + random.below(30), &mut random);
            let problem = LcpProblem::new(&p.m, &p.q).unwrap();
            let mut z = vec![0.0; p.q.len()];
            lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, &mut z).unwrap();
            let first = z.clone();
            let mut guess = vec![false; z.len()];
            ws.active(&mut guess);
            let report =
                lemke(&problem, &LemkeParams::default(), Start::Warm(&guess), &mut ws, &mut z).unwrap();
            assert_eq!(report.pivots, 0, "{family:?}");
            assert!(distance(&z, &first) < 1e-10);
        }
    }
}

#[test]
fn warm_start_finds_the_solution_of_a_changed_problem() {
    let mut random = SplitMix64(14);
    let mut ws = LemkeWorkspace::default();
    let (mut cold_pivots, mut warm_pivots) = (0, 0);
    for family in [Family::PositiveDefinite, Family::PMatrix, Family::SemiDefinite, Family::Contact] {
        for amount in [1e-3, 0.1, 1.0] {
            for _ in 0..50 {
                let p = family.draw(1 + random.below(30), &mut random);
                let problem = LcpProblem::new(&p.m, &p.q).unwrap();
                let (mut z, mut guess) = (vec![0.0; p.q.len()], vec![false; p.q.len()]);
                lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, &mut z).unwrap();
                ws.active(&mut guess);
                let near = if family == Family::SemiDefinite {
                    p.clone()
                } else {
                    slightly_changed(&p, amount, &mut random)
                };
                let near = LcpProblem::new(&near.m, &near.q).unwrap();
                let cold = lemke(&near, &LemkeParams::default(), Start::Cold, &mut ws, &mut z).unwrap();
                let warm =
                    lemke(&near, &LemkeParams::default(), Start::Warm(&guess), &mut ws, &mut z).unwrap();
                if amount < 0.01 {
                    cold_pivots += cold.pivots;
                    warm_pivots += warm.pivots;
                }
            }
        }
    }
    assert!(10 * warm_pivots < cold_pivots, "{warm_pivots} of {cold_pivots}");
}

// proves: CLI-40
#[test]
fn tolerances_are_needed_and_suffice() {
    let mut semidefinite = Vec::new();
    let mut random = SplitMix64(11);
    while semidefinite.len() < 300 {
        semidefinite.push(Family::SemiDefinite.draw(2 + random.below(24), &mut random));
    }
    let mut boxes = Vec::new();
    for directions in [4, 8, 16] {
        for _ in 0..12 {
            boxes.push(friction_box(4, directions, &mut random));
        }
    }
    // Solved, wrong z (ended, but the check fails), ray, limit.
    let count = |set: &[OwnedLcp], pivot: f64, tie: f64| -> [usize; 4] {
        let mut params = LemkeParams::default();
        params.pivot_tolerance = pivot;
        params.tie_tolerance = tie;
        params.prefer_artificial = tie > 0.0;
        params.accept_solved_ray = false;
        params.refactor_error = f64::INFINITY;
        let mut counts = [0; 4];
        for p in set {
            counts[match solve(p, &params).0 {
                Ok(_) => 0,
                Err(LcpError::Ray { .. }) => 2,
                Err(LcpError::Budget { iterations, .. }) if iterations as usize > 50 * p.q.len() => 3,
                Err(_) => 1,
            }] += 1;
        }
        counts
    };
    for (name, set) in [("semidefinite", &semidefinite), ("boxes", &boxes)] {
        let (none, threshold, both) = (count(set, 0.0, 0.0), count(set, 1e-9, 0.0), count(set, 1e-9, 1e-11));
        println!("{name}: none {none:?}, threshold {threshold:?}, both {both:?}");
        assert_eq!(both, [set.len(), 0, 0, 0], "{name}");
        assert!(none[0] < threshold[0] && threshold[0] < both[0], "{name}: {none:?} {threshold:?} {both:?}");
        assert_eq!(threshold[1], 0, "{name}: the threshold alone removes wrong answers");
    }
}

#[test]
fn bad_starts_are_errors_with_index_and_value() {
    let problem = LcpProblem::new(&[1.0, 0.0, 0.0, 1.0], &[-1.0, -1.0]).unwrap();
    let run = |start: Start<'_>| {
        let mut z = [0.0; 2];
        lemke(&problem, &LemkeParams::default(), start, &mut LemkeWorkspace::default(), &mut z)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(run(Start::Cover(&[1.0])), "covering vector has length 1, expected 2");
    assert_eq!(run(Start::Cover(&[1.0, 0.0])), "covering vector 1 must be positive, got 0");
    assert_eq!(run(Start::Cover(&[f64::NAN, 1.0])), "covering vector 0 is not finite: NaN");
    assert_eq!(run(Start::Warm(&[])), "warm start has length 0, expected 2");
}

/// Work of one pivot by the sizes of the loops; the bench `lcp_lemke/pivot` shows the same in time.
// proves: CLI-38
#[test]
fn pivots_cost_the_square_of_the_size() {
    let mut ws = LemkeWorkspace::with_capacity(320);
    let mut per_pivot = |n: usize| {
        let (mut operations, mut pivots) = (0, 0);
        for seed in 0..8 {
            let p = Family::PositiveDefinite.draw(n, &mut SplitMix64(seed));
            let problem = LcpProblem::new(&p.m, &p.q).unwrap();
            let mut z = vec![0.0; n];
            let report = lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, &mut z).unwrap();
            // ‖K K⁻¹ − 1‖ after all updates of the solve, none of them a fresh inverse.
            assert!(ws.inverse_error() < 1e-9 && report.refactorisations == 0, "{report:?}");
            operations += report.operations;
            pivots += report.pivots;
        }
        operations as f64 / f64::from(pivots)
    };
    let work = [80, 160, 320].map(&mut per_pivot);
    for pair in work.windows(2) {
        let slope = sim_math::ops::log2(pair[1] / pair[0]);
        assert!((1.8..2.2).contains(&slope), "slope {slope} of {work:?}");
    }
}
