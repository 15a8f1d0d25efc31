//! Large numbers of hostile problems: 1e5 in CI, 1e7 on fresh seeds by `cargo xtask soak lcp-lemke`.
#![allow(clippy::float_cmp, clippy::print_stdout, clippy::unwrap_used, reason = "tests say what they find")]

use lcp_lemke::families::{Family, friction_box};
use lcp_lemke::{Certificate, Driver, LemkeParams, LemkeWorkspace, Start, lemke};
use sim_math::testkit::soak::{cases, random};

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    solved: u64,
    failed: u64,
    worst: f64,
    pivots: u64,
}

/// Solves `count` random members with at most `n_max` unknowns; a wrong "solved" panics.
fn tally(family: Family, count: u64, n_max: usize, seed: u64) -> Tally {
    let mut random = random(seed);
    let mut driver = Driver::default();
    let mut z = Vec::new();
    let mut tally = Tally::default();
    for k in 0..count {
        let p = family.draw(1 + random.below(n_max), &mut random);
        let problem = p.problem().unwrap();
        z.clear();
        z.resize(p.q.len(), f64::NAN);
        match driver.run(&problem, &mut z) {
            Ok(solution) => {
                // Measured again, independently of what the driver says.
                let residual = problem.residual(&z);
                assert!(residual <= 1e-10, "{family:?} {k}: {residual:e} called solved");
                assert!(Certificate::measure(&problem, &z).min_z >= 0.0);
                tally.solved += 1;
                tally.pivots += u64::from(solution.iterations);
                tally.worst = tally.worst.max(residual);
            }
            Err(_) => tally.failed += 1,
        }
    }
    tally
}

#[test]
fn soak_solvable_problems_are_solved_and_none_wrongly() {
    for family in Family::WELL_SCALED {
        let t = tally(family, cases(7_000), 30, 1);
        println!("{family:?}: {t:?}");
        assert_eq!(t.failed, 0, "{family:?}: {t:?}");
    }
}

#[test]
fn soak_badly_scaled_problems_are_solved_at_least_999_times_in_a_thousand() {
    for family in Family::BADLY_SCALED {
        let t = tally(family, cases(8_000), 30, 2);
        println!("{family:?}: {t:?}");
        assert!(1000 * t.failed <= t.solved + t.failed, "{family:?}: {t:?}");
    }
}

#[test]
fn soak_infeasible_problems_are_never_solved() {
    let t = tally(Family::Infeasible, cases(6_000), 30, 3);
    println!("{t:?}");
    assert_eq!(t.solved, 0, "{t:?}");
}

#[test]
fn soak_boxes_on_many_redundant_contacts_are_solved() {
    let mut driver = Driver::default();
    let mut random = random(4);
    for contacts in 4..=40 {
        for directions in [4, 8] {
            if contacts * directions > 200 && contacts % 5 > 0 {
                continue;
            }
            for _ in 0..cases(2) {
                let p = friction_box(contacts, directions, &mut random);
                let mut z = vec![0.0; p.q.len()];
                let problem = p.problem().unwrap();
                driver.run(&problem, &mut z).unwrap_or_else(|e| panic!("{contacts} x {directions}: {e}"));
                assert!(problem.residual(&z) <= 1e-10);
            }
        }
    }
}

// proves: CLI-41
#[test]
fn soak_degenerate_problems_never_cycle_and_are_never_wrong() {
    let mut ws = LemkeWorkspace::default();
    let mut z = Vec::new();
    for (family, n_max) in [
        (Family::WholeNumbers, 12),
        (Family::Degenerate, 12),
        (Family::Kostreva, 12),
        (Family::FrictionBox, 24),
        (Family::Friction4, 18),
    ] {
        let mut random = random(5);
        for k in 0..cases(20_000) {
            let p = family.draw(1 + random.below(n_max), &mut random);
            let problem = p.problem().unwrap();
            z.clear();
            z.resize(p.q.len(), 0.0);
            // Lemke alone, without the driver's fallbacks.
            let report = lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, &mut z)
                .unwrap_or_else(|e| panic!("{family:?} {k}: {e}"));
            assert!(problem.residual(&z) <= 1e-10 && report.pivots <= 20 * p.q.len() as u32 + 20);
        }
    }
}
