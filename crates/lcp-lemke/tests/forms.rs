//! Mixed, boxed and fast-factored problems, and assembly from blocks.
#![allow(clippy::float_cmp, clippy::print_stdout, clippy::unwrap_used, reason = "tests say what they find")]

mod support;

use lcp_lemke::families::Family;
use lcp_lemke::{
    BlockRows, Bound, BoxedLcp, BoxedSolver, Driver, FastFactored, FastMixedLcp, FastMixedWorkspace,
    LcpError, LcpProblem, LcpSolver, Lemke, MixedLcp, MixedSolver, SparseVectors, solve_fast_factored,
};
use sim_math::testkit::SplitMix64;
use std::cell::Cell;
use support::distance;

/// Blocks of a random mixed problem: P and the Schur complement are positive definite (with a skew part).
struct Mixed {
    blocks: [Vec<f64>; 6],
}

impl Mixed {
    fn random(m: usize, n: usize, random: &mut SplitMix64) -> Self {
        let whole = Family::PMatrix.draw(m + n, random);
        let total = m + n;
        let cut = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> Vec<f64> {
            rows.flat_map(|i| columns.clone().map(move |j| (i, j)))
                .map(|(i, j)| whole.m[i * total + j])
                .collect()
        };
        Self {
            blocks: [
                cut(0..m, 0..m),
                cut(0..m, m..total),
                cut(m..total, 0..m),
                cut(m..total, m..total),
                whole.q[..m].to_vec(),
                whole.q[m..].to_vec(),
            ],
        }
    }

    fn problem(&self) -> MixedLcp<'_> {
        let [p, q, r, s, u, v] = &self.blocks;
        MixedLcp::new(p, q, r, s, u, v).unwrap()
    }
}

// proves: CLI-36, CLI-37
#[test]
fn schur_and_direct_forms_agree() {
    let mut random = SplitMix64(70);
    let (mut solver, mut lemke) = (MixedSolver::default(), Lemke::default());
    for k in 0..1000 {
        let (m, n) = (random.below(12), random.below(15));
        let mixed = Mixed::random(m, n, &mut random);
        let problem = mixed.problem();
        let (mut x1, mut z1) = (vec![0.0; m], vec![0.0; n]);
        let (mut x2, mut z2) = (vec![0.0; m], vec![0.0; n]);
        let schur = solver.solve_schur(&problem, &mut lemke, &mut x1, &mut z1).unwrap();
        let direct = solver.solve_direct(&problem, &mut x2, &mut z2).unwrap();
        assert!(distance(&x1, &x2) < 1e-10 && distance(&z1, &z2) < 1e-10, "{k}: {z1:?} and {z2:?}");
        assert!(schur.residual <= 1e-12 && direct.residual <= 1e-12);
        // In exact arithmetic the pivots are the same.
        assert_eq!(schur.iterations, direct.iterations, "{k}");
    }
}

#[test]
fn mixed_problems_without_free_part_are_pure() {
    let mut random = SplitMix64(71);
    for _ in 0..50 {
        let mixed = Mixed::random(0, 1 + random.below(12), &mut random);
        let n = mixed.blocks[5].len();
        let (mut z1, mut z2) = (vec![0.0; n], vec![0.0; n]);
        MixedSolver::default().solve_direct(&mixed.problem(), &mut [], &mut z1).unwrap();
        let pure = LcpProblem::new(&mixed.blocks[3], &mixed.blocks[5]).unwrap();
        Lemke::default().solve(&pure, &mut z2).unwrap();
        assert!(distance(&z1, &z2) < 1e-12);
    }
}

#[test]
fn bad_mixed_problems_are_errors() {
    let one = [1.0];
    assert!(matches!(
        MixedLcp::new(&one, &[], &one, &one, &one, &one),
        Err(LcpError::WrongLength { what: "block Q", expected: 1, got: 0 })
    ));
    assert!(matches!(
        MixedLcp::new(&[f64::NAN], &one, &one, &one, &one, &one),
        Err(LcpError::NonFinite { what: "block P", index: 0, .. })
    ));
    let singular = MixedLcp::new(&[0.0], &one, &one, &one, &one, &one).unwrap();
    let (mut x, mut z) = ([0.0], [0.0]);
    let mut solver = MixedSolver::default();
    let error = LcpError::Singular { what: "block P" };
    assert_eq!(solver.solve_schur(&singular, &mut Lemke::default(), &mut x, &mut z), Err(error.clone()));
    assert_eq!(solver.solve_direct(&singular, &mut x, &mut z), Err(error));
    // 0 = x + u, w = x - 1 with u = 0: x = 0 and w = -1, which no z changes.
    let infeasible = MixedLcp::new(&one, &[0.0], &one, &[0.0], &[0.0], &[-1.0]).unwrap();
    assert!(matches!(solver.solve_direct(&infeasible, &mut x, &mut z), Err(LcpError::Ray { .. })));
}

/// A chain: tridiagonal, solved by forward and backward substitution, counting its operations.
#[derive(Debug)]
struct Chain {
    diagonal: Vec<f64>,
    off: Vec<f64>,
    operations: Cell<usize>,
}

impl FastFactored for Chain {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn solve(&self, x: &mut [f64]) -> Result<(), LcpError> {
        let n = x.len();
        let mut pivot = vec![0.0; n];
        for i in 0..n {
            pivot[i] = self.diagonal[i];
            if i > 0 {
                let f = self.off[i - 1] / pivot[i - 1];
                pivot[i] -= f * self.off[i - 1];
                x[i] -= f * x[i - 1];
            }
        }
        for i in (0..n).rev() {
            if i + 1 < n {
                x[i] -= self.off[i] * x[i + 1];
            }
            x[i] /= pivot[i];
        }
        self.operations.set(self.operations.get() + 2 * n);
        Ok(())
    }
}

/// A chain of `n` links with `k` contacts that each touch two links.
fn chain(
    n: usize,
    k: usize,
    random: &mut SplitMix64,
) -> (Chain, SparseVectors, SparseVectors, Vec<f64>, Vec<f64>) {
    let diagonal = (0..n).map(|_| random.range(2.5, 3.5)).collect();
    let off = (1..n).map(|_| random.range(-1.0, 1.0)).collect();
    let (mut q, mut r) = (SparseVectors::new(), SparseVectors::new());
    for _ in 0..k {
        let (a, b) = (random.below(n) as u32, random.below(n) as u32);
        let (va, vb) = (random.range(0.2, 1.0), random.range(-1.0, 1.0));
        q.push(&[(a, -va), (b, -vb)]);
        r.push(&[(a, va), (b, vb)]);
    }
    let u = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
    let v = (0..k).map(|_| random.range(-1.0, 0.5)).collect();
    (Chain { diagonal, off, operations: Cell::new(0) }, q, r, u, v)
}

fn dense(chain: &Chain, q: &SparseVectors, r: &SparseVectors, k: usize) -> [Vec<f64>; 3] {
    let n = chain.len();
    let (mut p, mut qd, mut rd) = (vec![0.0; n * n], vec![0.0; n * k], vec![0.0; k * n]);
    for i in 0..n {
        p[i * n + i] = chain.diagonal[i];
        if i > 0 {
            p[i * n + i - 1] = chain.off[i - 1];
            p[(i - 1) * n + i] = chain.off[i - 1];
        }
    }
    for j in 0..k {
        for &(i, v) in q.get(j) {
            qd[i as usize * k + j] += v;
        }
        for &(i, v) in r.get(j) {
            rd[j * n + i as usize] += v;
        }
    }
    [p, qd, rd]
}

#[test]
fn fast_factored_equals_dense_schur() {
    let mut random = SplitMix64(72);
    let mut ws = FastMixedWorkspace::default();
    for _ in 0..200 {
        let (n, k) = (1 + random.below(20), random.below(8));
        let (p, q, r, u, v) = chain(n, k, &mut random);
        let s: Vec<f64> = (0..k * k).map(|i| if i % (k + 1) == 0 { 0.1 } else { 0.0 }).collect();
        let [pd, qd, rd] = dense(&p, &q, &r, k);
        let (mut x1, mut z1) = (vec![0.0; n], vec![0.0; k]);
        let mixed = MixedLcp::new(&pd, &qd, &rd, &s, &u, &v).unwrap();
        MixedSolver::default().solve_schur(&mixed, &mut Driver::default(), &mut x1, &mut z1).unwrap();
        let fast = FastMixedLcp { p: &p, q_columns: &q, r_rows: &r, s: &s, u: &u, v: &v };
        for refine in [false, true] {
            let (mut x2, mut z2) = (vec![0.0; n], vec![0.0; k]);
            solve_fast_factored(&fast, &mut Driver::default(), refine, &mut ws, &mut x2, &mut z2).unwrap();
            assert!(distance(&x1, &x2) < 1e-11 && distance(&z1, &z2) < 1e-11);
            assert!(mixed.residual(&x2, &z2) < 1e-12);
        }
    }
}

// proves: CLI-39
#[test]
fn chain_with_contacts_costs_one_solve_a_contact() {
    let mut random = SplitMix64(73);
    let mut operations = |n: usize, k: usize| {
        let (p, q, r, u, v) = chain(n, k, &mut random);
        let s = vec![0.0; k * k];
        let fast = FastMixedLcp { p: &p, q_columns: &q, r_rows: &r, s: &s, u: &u, v: &v };
        let (mut x, mut z) = (vec![0.0; n], vec![0.0; k]);
        let mut ws = FastMixedWorkspace::default();
        solve_fast_factored(&fast, &mut Driver::default(), true, &mut ws, &mut x, &mut z).unwrap();
        let [pd, qd, rd] = dense(&p, &q, &r, k);
        assert!(MixedLcp::new(&pd, &qd, &rd, &s, &u, &v).unwrap().residual(&x, &z) < 1e-12);
        p.operations.get()
    };
    for (n, k) in [(100, 3), (200, 3), (200, 6), (400, 12)] {
        assert_eq!(operations(n, k), 2 * n * (k + 2), "{n} links, {k} contacts");
    }
}

#[test]
fn bad_fast_problems_are_errors() {
    let (p, q, r, u, v) = chain(3, 1, &mut SplitMix64(74));
    let mut far = SparseVectors::new();
    far.push(&[(3, 1.0)]);
    let run = |q: &SparseVectors, v: &[f64]| {
        let fast = FastMixedLcp { p: &p, q_columns: q, r_rows: &r, s: &[0.0], u: &u, v };
        let mut ws = FastMixedWorkspace::default();
        solve_fast_factored(&fast, &mut Driver::default(), true, &mut ws, &mut [0.0; 3], &mut [0.0])
    };
    assert!(matches!(run(&far, &v), Err(LcpError::NotAllowed { what: "column of Q", index: 0, .. })));
    assert!(matches!(run(&SparseVectors::new(), &v), Err(LcpError::WrongLength { .. })));
    assert!(matches!(run(&q, &[f64::NAN]), Err(LcpError::NonFinite { .. })));
}

#[test]
fn boxed_problems_satisfy_their_conditions() {
    let mut random = SplitMix64(75);
    let mut solver = BoxedSolver::default();
    for k in 0..1000 {
        let family = [Family::PositiveDefinite, Family::PMatrix, Family::SemiDefinite][k % 3];
        let p = family.draw(1 + random.below(15), &mut random);
        let semidefinite = family == Family::SemiDefinite;
        let bounds: Vec<Bound> =
            p.q.iter()
                .map(|_| match random.below(4) {
                    0 if !semidefinite => Bound::FREE,
                    1 => Bound::Fixed { lo: -random.range(0.0, 1.0), hi: random.range(0.0, 1.0) },
                    2 if !semidefinite => Bound::Fixed { lo: f64::NEG_INFINITY, hi: random.range(-0.5, 0.5) },
                    _ => Bound::Fixed {
                        lo: random.range(-0.5, 0.0),
                        hi: if semidefinite { 1.0 } else { f64::INFINITY },
                    },
                })
                .collect();
        let problem = BoxedLcp::new(&p.m, &p.q, &bounds).unwrap();
        let mut z = vec![0.0; p.q.len()];
        let report = solver.solve(&problem, &mut z).unwrap_or_else(|e| panic!("{k}, {family:?}: {e}"));
        assert!(problem.residual(&z) <= 1e-10 && report.residual <= 1e-10);
        for (z, bound) in z.iter().zip(&bounds) {
            if let Bound::Fixed { lo, hi } = bound {
                assert!(lo <= z && z <= hi);
            }
        }
    }
}

#[test]
fn box_friction_slides_and_sticks_as_in_closed_form() {
    // Unit mass on a plane, one normal and one tangential impulse: z_n = g h, |z_t| ≤ μ z_n.
    let (m, mu, gh) = ([1.0, 0.0, 0.0, 1.0], 0.3, 0.0981);
    let bounds = [Bound::NON_NEGATIVE, Bound::Friction { factor: mu, normal: 0 }];
    let mut solver = BoxedSolver::default();
    // Without sweeps only the reduction to a pure problem can succeed.
    solver.max_sweeps = 0;
    for (speed, expected) in [(1.0, -mu * gh), (-1.0, mu * gh), (0.01, -0.01), (0.0, 0.0)] {
        let q = [-gh, speed];
        let mut z = [0.0; 2];
        solver.solve(&BoxedLcp::new(&m, &q, &bounds).unwrap(), &mut z).unwrap();
        assert!(distance(&z, &[gh, expected]) < 1e-14, "{speed}: {z:?}");
    }
    // Random contacts with two tangents each.
    let mut random = SplitMix64(76);
    let mut direct = 0;
    for _ in 0..300 {
        let contacts = 1 + random.below(4);
        let p = Family::PositiveDefinite.draw(3 * contacts, &mut random);
        let bounds: Vec<Bound> = (0..3 * contacts)
            .map(|i| match i % 3 {
                0 => Bound::NON_NEGATIVE,
                _ => Bound::Friction { factor: mu, normal: (i - i % 3) as u32 },
            })
            .collect();
        let problem = BoxedLcp::new(&p.m, &p.q, &bounds).unwrap();
        let mut z = vec![0.0; p.q.len()];
        direct += u32::from(solver.solve(&problem, &mut z).is_ok());
        BoxedSolver::default().solve(&problem, &mut z).unwrap();
        assert!(problem.residual(&z) <= 1e-10);
    }
    assert!(direct >= 290, "{direct} of 300 without sweeps");
}

#[test]
fn bad_bounds_are_errors_with_index_and_value() {
    let message =
        |bounds: &[Bound]| BoxedLcp::new(&[1.0, 0.0, 0.0, 1.0], &[0.0; 2], bounds).unwrap_err().to_string();
    let fine = Bound::NON_NEGATIVE;
    assert_eq!(message(&[fine]), "bounds has length 1, expected 2");
    assert_eq!(message(&[fine, Bound::Fixed { lo: 1.0, hi: 0.0 }]), "lower bound 1 is not allowed: 1");
    assert_eq!(message(&[fine, Bound::Fixed { lo: f64::NAN, hi: 0.0 }]), "lower bound 1 is not allowed: NaN");
    let friction = |factor, normal| Bound::Friction { factor, normal };
    assert_eq!(message(&[fine, friction(-1.0, 0)]), "friction factor 1 is not allowed: -1");
    assert_eq!(message(&[fine, friction(0.5, 7)]), "friction index 1 is not allowed: 7");
    assert_eq!(message(&[friction(0.5, 0), fine]), "friction index 0 is not allowed: 0");
}

#[test]
fn block_assembly_equals_the_dense_product() {
    let mut random = SplitMix64(77);
    for _ in 0..100 {
        let (blocks, width, rows) = (1 + random.below(5), 1 + random.below(6), random.below(9));
        let mut d = vec![0.0; blocks * width * width];
        for b in 0..blocks {
            for i in 0..width {
                for j in 0..=i {
                    let v = random.range(-1.0, 1.0);
                    d[b * width * width + i * width + j] = v;
                    d[b * width * width + j * width + i] = v;
                }
            }
        }
        let total = blocks * width;
        let mut sparse = BlockRows::new(blocks as u32, width);
        let mut j = vec![0.0; rows * total];
        for row in 0..rows {
            let (a, b) = (random.below(blocks), random.below(blocks));
            let parts: [Vec<f64>; 2] = [0, 1].map(|_| (0..width).map(|_| random.range(-1.0, 1.0)).collect());
            sparse.push_row(&[(a as u32, &parts[0]), (b as u32, &parts[1])]).unwrap();
            for (block, part) in [(a, &parts[0]), (b, &parts[1])] {
                for k in 0..width {
                    j[row * total + block * width + k] += part[k];
                }
            }
        }
        let mut out = vec![0.0; rows * rows];
        sparse.add_congruence(&d, rows, &mut out).unwrap();
        let x: Vec<f64> = (0..total).map(|_| random.range(-1.0, 1.0)).collect();
        let mut jx = vec![0.0; rows];
        sparse.times(&x, &mut jx).unwrap();
        for r in 0..rows {
            let plain: f64 = (0..total).map(|c| j[r * total + c] * x[c]).sum();
            assert!((jx[r] - plain).abs() < 1e-13);
            for s in 0..rows {
                let mut sum = 0.0;
                for b in 0..blocks {
                    for i in 0..width {
                        for k in 0..width {
                            sum += j[r * total + b * width + i]
                                * d[b * width * width + i * width + k]
                                * j[s * total + b * width + k];
                        }
                    }
                }
                assert!((out[r * rows + s] - sum).abs() < 1e-12);
                assert_eq!(out[r * rows + s], out[s * rows + r]);
            }
        }
    }
    let mut sparse = BlockRows::new(2, 3);
    assert!(sparse.push_row(&[(2, &[0.0; 3])]).is_err());
    assert!(sparse.push_row(&[(0, &[0.0; 2])]).is_err());
    assert!(sparse.push_row(&[(0, &[0.0, f64::NAN, 0.0])]).is_err());
    assert!(sparse.is_empty());
}
