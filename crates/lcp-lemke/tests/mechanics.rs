//! Contact problems with closed forms: what the solvers are for.
#![allow(clippy::float_cmp, clippy::print_stdout, clippy::unwrap_used, reason = "tests say what they find")]

mod support;

use lcp_lemke::{
    Driver, Enumeration, LcpError, LcpProblem, LcpSolver, Lemke, LemkeWorkspace, OwnedLcp, PrincipalPivoting,
};
use support::distance;

const G: f64 = 9.81;
const H: f64 = 0.01;

/// A body in the plane: inverse mass and inertia, velocity (ω, x, y).
struct Plane {
    inv_mass: f64,
    inv_inertia: f64,
    velocity: [f64; 3],
}

/// Time-stepping problem of 3.9: unknowns are normal impulses, friction impulses along ±x, slip speeds.
fn time_step(body: &Plane, arms: &[[f64; 2]], mu: f64) -> OwnedLcp {
    let k = arms.len();
    let normal = |r: &[f64; 2]| [r[0], 0.0, 1.0];
    let tangent = |r: &[f64; 2], s: f64| [-r[1] * s, s, 0.0];
    let mut rows: Vec<[f64; 3]> = arms.iter().map(normal).collect();
    for r in arms {
        rows.extend([tangent(r, 1.0), tangent(r, -1.0)]);
    }
    let n = 4 * k;
    let weight = [body.inv_inertia, body.inv_mass, body.inv_mass];
    let mut m = vec![0.0; n * n];
    for (i, a) in rows.iter().enumerate() {
        for (j, b) in rows.iter().enumerate() {
            m[i * n + j] = (0..3).map(|c| a[c] * weight[c] * b[c]).sum();
        }
    }
    let mut q: Vec<f64> = rows.iter().map(|a| (0..3).map(|c| a[c] * body.velocity[c]).sum()).collect();
    q.resize(n, 0.0);
    for c in 0..k {
        m[(3 * k + c) * n + c] = mu;
        for e in 0..2 {
            let f = k + 2 * c + e;
            m[f * n + 3 * k + c] = 1.0;
            m[(3 * k + c) * n + f] = -1.0;
        }
    }
    OwnedLcp { m, q }
}

fn solve(p: &OwnedLcp) -> Vec<f64> {
    let mut z = vec![0.0; p.q.len()];
    let solution = Driver::default().run(&p.problem().unwrap(), &mut z).unwrap();
    assert!(solution.certificate.holds(1e-13));
    z
}

#[test]
fn sliding_box_loads_its_front_contact() {
    let inertia = 2.0 * (1.0 + 0.25) / 12.0;
    let body = Plane { inv_mass: 0.5, inv_inertia: 1.0 / inertia, velocity: [0.0, 1.0, -G * H] };
    let p = time_step(&body, &[[-0.5, -0.25], [0.5, -0.25]], 0.3);
    let z = solve(&p);
    assert!(distance(&z[..2], &[0.083_385, 0.112_815]) < 1e-15, "{z:?}");
    // Sliding along +x: friction along −x, at the limit.
    assert!(distance(&z[2..6], &[0.0, 0.025_015_5, 0.0, 0.033_844_5]) < 1e-15, "{z:?}");
    assert!(distance(&z[6..], &[0.970_57, 0.970_57]) < 1e-14);
    // Below μ g h it stops exactly.
    let slow = Plane { velocity: [0.0, 0.02, -G * H], ..body };
    let z = solve(&time_step(&slow, &[[-0.5, -0.25], [0.5, -0.25]], 0.3));
    let impulse: f64 = z[2] + z[4] - z[3] - z[5];
    assert!((0.02 + 0.5 * impulse).abs() < 1e-16 && z[6].abs() < 1e-15 && z[7].abs() < 1e-15);
}

#[test]
fn block_on_an_incline_sticks_or_slides() {
    for (degrees, expected) in [(10.0, 0.0), (16.0, 0.0), (17.0, 5.376e-4), (25.0, 1.478_62e-2)] {
        let angle = f64::to_radians(degrees);
        let (s, c) = (sim_math::ops::sin(angle), sim_math::ops::cos(angle));
        let body = Plane { inv_mass: 1.0, inv_inertia: 0.0, velocity: [0.0, G * H * s, -G * H * c] };
        let z = solve(&time_step(&body, &[[0.0, 0.0]], 0.3));
        let speed = G * H * s + z[1] - z[2];
        assert!(
            (speed - expected).abs() < 1e-7 && (expected > 0.0 || speed.abs() < 1e-15),
            "{degrees}: {speed}"
        );
    }
}

/// Lever arm of the tip of Painlevé's rod with tan θ = 2, on the side where friction jams.
fn rod_tip() -> [f64; 2] {
    let s = 5.0_f64.sqrt();
    [-0.5 / s, -1.0 / s]
}

#[test]
fn painleve_rod_slides_or_stops_in_one_step() {
    let body = Plane { inv_mass: 1.0, inv_inertia: 12.0, velocity: [0.0, -1.0, -G * H] };
    let arm = rod_tip();
    // z = (normal, friction along +x, along -x, slip speed)
    let z = solve(&time_step(&body, &[arm], 1.0));
    assert!((z[0] - G * H / 0.4).abs() < 1e-14 && (z[3] - 0.460_45).abs() < 1e-14, "{z:?}");
    let z = solve(&time_step(&body, &[arm], 2.0));
    assert!(distance(&z, &[0.383_385, 0.429_43, 0.0, 0.0]) < 1e-14, "{z:?}");
    let omega = 12.0 * (arm[0] * z[0] - arm[1] * z[1]);
    assert!((omega - 1.275_833).abs() < 1e-6);
}

// proves: ARN-54
#[test]
fn painleve_rod_has_several_or_no_solutions_at_acceleration_level() {
    // Frictionless contact forces of a box on four corners under a tipping torque: solvable, and balanced.
    let half = [0.5, 0.3, 0.2];
    let moments = [(0.6 * 0.6 + 0.4 * 0.4) / 12.0, (1.0 + 0.4 * 0.4) / 12.0];
    let corners =
        [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(|(x, y)| [x * half[0], y * half[1]]);
    let mut m = vec![0.0; 16];
    let mut q = vec![0.0; 4];
    for (i, a) in corners.iter().enumerate() {
        for (j, b) in corners.iter().enumerate() {
            m[i * 4 + j] = 1.0 + a[1] * b[1] / moments[0] + a[0] * b[0] / moments[1];
        }
        q[i] = -G + 4.6 / moments[1] * -a[0];
    }
    let problem = LcpProblem::new(&m, &q).unwrap();
    let mut force = [0.0; 4];
    Lemke::default().solve(&problem, &mut force).unwrap();
    let total: f64 = force.iter().sum();
    assert!((total - G).abs() < 1e-12, "{total}");
    let torque: f64 = force.iter().zip(corners).map(|(f, c)| f * c[0]).sum();
    assert!((torque - 4.6).abs() < 1e-12, "{torque}");

    // Sliding with μ = 2 > 4/3: the normal acceleration is (1.6 − 1.2 μ) f + b.
    let arm = rod_tip();
    let slope = 1.0 + 12.0 * arm[0] * arm[0] - 2.0 * 12.0 * arm[0] * arm[1];
    assert!((slope + 0.8).abs() < 1e-12);
    let (mut z, mut enumeration) = ([0.0], Enumeration::default());
    let m = [slope];
    let pressed = LcpProblem::new(&m, &[-G]).unwrap();
    let mut ws = Lemke::default();
    assert!(matches!(ws.solve(&pressed, &mut z), Err(LcpError::Ray { .. })));
    assert!(ws.workspace.ray().is_some());
    let mut count = 0;
    enumeration.visit_solutions(&pressed, |_, _, _| count += 1).unwrap();
    assert_eq!(count, 0);
    // Pulled off by 2 m/s²: no force, or 2.5 N and no acceleration.
    let pulled = LcpProblem::new(&m, &[2.0]).unwrap();
    let mut found = Vec::new();
    enumeration.visit_solutions(&pulled, |_, z, _| found.push(z[0])).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found[0] == 0.0 && (found[1] - 2.5).abs() < 1e-12);
}

/// Several complementary bases of one problem: enumeration shows them all.
#[test]
fn painleve_rod_has_several_solutions() {
    let pulled = LcpProblem::new(&[-0.8], &[2.0]).unwrap();
    let mut sets = Vec::new();
    Enumeration::default().visit_solutions(&pulled, |set, _, _| sets.push(set)).unwrap();
    assert_eq!(sets, [0, 1]);
}

// proves-part: MIR-100
#[test]
fn resting_forces_of_a_stack_are_the_weights_above() {
    // Boxes on top of each other, one contact between neighbours: a = A f − b with A tridiagonal.
    for n in 1..=20 {
        let mass: Vec<f64> = (0..n).map(|k| 1.0 + k as f64 * 0.25).collect();
        let mut m = vec![0.0; n * n];
        let mut q = vec![0.0; n];
        // Contact k pushes body k up and body k − 1 down.
        for k in 0..n {
            m[k * n + k] = 1.0 / mass[k] + if k > 0 { 1.0 / mass[k - 1] } else { 0.0 };
            if k > 0 {
                m[k * n + k - 1] = -1.0 / mass[k - 1];
                m[(k - 1) * n + k] = -1.0 / mass[k - 1];
            }
        }
        q[0] = -G;
        let weights: Vec<f64> = (0..n).map(|k| G * mass[k..].iter().sum::<f64>()).collect();
        let problem = LcpProblem::new(&m, &q).unwrap();
        let mut solvers: [Box<dyn LcpSolver>; 3] =
            [Box::new(Lemke::default()), Box::new(PrincipalPivoting::default()), Box::new(Driver::default())];
        for solver in &mut solvers {
            let mut force = vec![0.0; n];
            solver.solve(&problem, &mut force).unwrap();
            assert!(distance(&force, &weights) < 1e-9 * weights[0], "{solver:?}");
        }
        // Pull the top box up: its contact opens, the others carry the rest.
        let mut q = q.clone();
        q[n - 1] += 2.0 * G;
        let problem = LcpProblem::new(&m, &q).unwrap();
        let (mut force, mut ws) = (vec![0.0; n], LemkeWorkspace::default());
        let params = lcp_lemke::LemkeParams::default();
        lcp_lemke::lemke(&problem, &params, lcp_lemke::Start::Cold, &mut ws, &mut force).unwrap();
        assert_eq!(force[n - 1], 0.0);
    }
}
