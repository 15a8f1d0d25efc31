//! Restitution that makes no energy.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    ConeGaussSeidel, Delassus, Greedy,
    restitution::{ImpactWorkspace, impact, work},
};
use sim_math::{
    assert_close,
    glam::{DMat3, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{ContactSolver, testkit::contact_solver::Owned};

fn delassus(owned: Owned) -> Delassus {
    let Owned { starts, columns, blocks, velocity, friction } = owned;
    Delassus { starts, columns, blocks, velocity, friction }
}

#[test]
fn a_single_ball_bounces_as_newton_says() {
    let mut d = delassus(Owned::single(DMat3::IDENTITY, DVec3::new(0.0, 0.0, -3.0), 0.5));
    let mut p = [DVec3::ZERO];
    let mut law = ConeGaussSeidel::default();
    let mut run = |d: &mut Delassus, e: f64, threshold: f64, p: &mut [DVec3; 1]| {
        let report = impact(d, &[e], threshold, &mut law, &mut ImpactWorkspace::default(), p).unwrap();
        (d.problem().unwrap().relative_velocity(0, p).z, report)
    };
    let (after, report) = run(&mut d, 0.5, 0.01, &mut p);
    assert_close!(after, 1.5, abs = 1e-12);
    assert_close!(report.kept, 1.0, abs = 0.0);
    assert_close!(report.work, 0.5 * (1.5 * 1.5 - 9.0), abs = 1e-12);
    assert_close!(run(&mut d, 1.0, 0.01, &mut p).0, 3.0, abs = 1e-12);
    assert_close!(run(&mut d, 0.0, 0.01, &mut p).0, 0.0, abs = 1e-12);
    // Below the threshold it does not bounce.
    assert_close!(run(&mut d, 0.5, 4.0, &mut p).0, 0.0, abs = 1e-12);
}

#[test]
fn no_restitution_up_to_one_adds_energy() {
    let mut random = SplitMix64(21);
    let mut limited = 0;
    for k in 0..600 {
        let n = 1 + random.below(6);
        let mut d = delassus(Owned::random(n, &mut random));
        let e: Vec<f64> = (0..n).map(|_| [0.0, 0.5, 1.0][random.below(3)]).collect();
        let mut p = vec![DVec3::ZERO; n];
        let law: &mut dyn ContactSolver =
            if k % 2 == 0 { &mut ConeGaussSeidel::default() } else { &mut Greedy::default() };
        let report = impact(&mut d, &e, 0.0, law, &mut ImpactWorkspace::default(), &mut p).unwrap();
        let problem = d.problem().unwrap();
        assert!(work(&problem, &p) <= 1e-9, "{report:?}");
        let size = p.iter().fold(1.0_f64, |s, p| s.max(p.length()));
        assert!(problem.certificate(&p).cone_violation < 1e-14 * size);
        assert!(problem.certificate(&p).approach < 1e-7, "{report:?}");
        limited += u32::from(report.kept < 1.0);
    }
    assert!(limited > 5, "the limit was needed {limited} times");
}

#[test]
fn kane_and_levinson_gain_nothing() {
    // One contact where Newton's rule with friction makes energy: a skew W and slip that reverses.
    let mut random = SplitMix64(22);
    let mut gains = 0;
    for _ in 0..4000 {
        let mut owned = Owned::random(1, &mut random);
        owned.friction[0] = 1.0;
        let mut d = delassus(owned);
        let mut p = [DVec3::ZERO];
        // Newton alone, without the limit.
        let mut biased = d.clone();
        biased.velocity[0].z *= 2.0;
        if d.velocity[0].z >= 0.0 {
            continue;
        }
        ConeGaussSeidel::default().solve(&biased.problem().unwrap(), &mut p).unwrap();
        gains += u32::from(work(&d.problem().unwrap(), &p) > 1e-6);
        let mut law = ConeGaussSeidel::default();
        let report = impact(&mut d, &[1.0], 0.0, &mut law, &mut ImpactWorkspace::default(), &mut p).unwrap();
        assert!(report.work <= 1e-12);
    }
    assert!(gains > 10, "Newton's rule alone made energy {gains} times");
}
