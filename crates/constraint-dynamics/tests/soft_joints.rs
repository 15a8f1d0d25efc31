//! Joints of the soft solver against what projections and bounds say.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use constraint_dynamics::{
    joints::{JointBlock, JointRows, JointSide, RowLaw},
    soft::{JointSource, SoftBodies, SoftBody, SoftError, SoftJoints, SoftSolver},
};
use sim_math::{
    Pose, Sym3,
    glam::{DMat3, DVec3},
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_traits::Serial;

const DT: f64 = 0.01;

/// Rows that stay as they are.
struct Same(JointRows);

impl JointSource for Same {
    fn rows(&mut self, _pose: &dyn Fn(u32) -> Pose, out: &mut JointRows) {
        out.clone_from(&self.0);
    }
}

fn random_matrix(random: &mut SplitMix64) -> DMat3 {
    DMat3::from_cols(random.vec3(1.0), random.vec3(1.0), random.vec3(1.0))
}

/// Bodies without weight, and their masses, which are their moments of inertia too.
fn bodies(random: &mut SplitMix64, count: usize) -> (SoftBodies, Vec<f64>) {
    let mut out = SoftBodies::default();
    let masses: Vec<f64> = (0..count).map(|_| [0.1, 1.0, 10.0][random.below(3)]).collect();
    for mass in &masses {
        out.push(&SoftBody {
            inv_mass: 1.0 / mass,
            inv_inertia: Sym3::from_diagonal(DVec3::splat(1.0 / mass)),
            velocity: Motion::new(random.vec3(1.0), random.vec3(1.0)),
            ..SoftBody::IDLE
        });
    }
    (out, masses)
}

/// A chain of blocks, and some that close loops.
fn rows(random: &mut SplitMix64, count: usize, mut law: impl FnMut(&mut SplitMix64) -> RowLaw) -> JointRows {
    let mut out = JointRows::default();
    for k in 0..count + count / 4 {
        let pair = if k < count {
            [k as u32, (k as u32 + 1) % count as u32]
        } else {
            [random.below(count) as u32; 2]
        };
        let start = out.sides.len() as u32;
        let sides = if k + 1 == count || pair[0] == pair[1] { 1 } else { 2 };
        for body in pair.into_iter().take(sides) {
            out.sides.push(JointSide { body, moments: random_matrix(random), forces: random_matrix(random) });
        }
        out.blocks.push(JointBlock {
            sides: start..out.sides.len() as u32,
            rows: if k % 5 == 4 { 2 } else { 3 },
            laws: [law(random), law(random), law(random)],
            position: DVec3::ZERO,
            drift: DVec3::ZERO,
            limit: None,
        });
    }
    out
}

/// J v of a block.
fn rates(rows: &JointRows, block: &JointBlock, bodies: &SoftBodies) -> DVec3 {
    rows.sides_of(block).iter().map(|side| side.velocity(bodies.velocity(side.body as usize))).sum()
}

/// The largest difference between what velocities changed by and what the impulses of all rows give.
fn unexplained(
    rows: &JointRows,
    joints: &SoftJoints,
    before: &[Motion],
    bodies: &SoftBodies,
    masses: &[f64],
) -> f64 {
    let mut worst = 0.0_f64;
    for (k, start) in before.iter().enumerate() {
        let mut expected = *start;
        for (block, p) in rows.blocks.iter().zip(&joints.exerted) {
            for side in rows.sides_of(block).iter().filter(|side| side.body as usize == k) {
                expected += Motion::new(side.moments * *p, side.forces * *p) * (1.0 / masses[k]);
            }
        }
        let left = bodies.velocity(k) - expected;
        worst = worst.max(left.linear.length()).max(left.angular.length());
    }
    worst
}

/// Velocities that meet all rows, changed by impulses along the rows: there is one such projection only.
#[test]
fn a_chain_is_solved_as_a_dense_system_would_be() {
    for seed in 0..20 {
        let count = 4 + seed as usize;
        let (mut bodies, masses) = bodies(&mut SplitMix64(seed), count);
        let mut random = SplitMix64(100 + seed);
        // Fewer rows than the bodies have coordinates, so that they can all be met.
        let rows = rows(&mut random, count, |_| RowLaw::Hold);
        let before: Vec<Motion> = (0..count).map(|k| bodies.velocity(k)).collect();
        let mut joints = SoftJoints { rows: rows.clone(), ..SoftJoints::default() };
        let mut source = Same(rows.clone());
        let mut solver = SoftSolver::default();
        solver.step_with_joints(&Serial, &mut bodies, &mut [], &mut joints, &mut source, DT).unwrap();
        for block in &rows.blocks {
            let u = rates(&rows, block, &bodies);
            for i in 0..usize::from(block.rows) {
                assert!(u[i].abs() < 1e-3, "seed {seed}: a row moves at {u}");
            }
        }
        let left = unexplained(&rows, &joints, &before, &bodies, &masses);
        assert!(left < 1e-6, "seed {seed}: {left} m/s come from nowhere");
    }
}

#[test]
fn bounds_are_met() {
    for seed in 0..20 {
        let count = 4 + seed as usize;
        let (mut bodies, _) = bodies(&mut SplitMix64(seed), count);
        let mut random = SplitMix64(200 + seed);
        let rows = rows(&mut random, count, |random| match random.below(4) {
            0 => RowLaw::Limit { restitution: 0.0 },
            1 => RowLaw::Friction { most: random.range(0.0, 20.0) },
            2 => RowLaw::Drive {
                stiffness: 0.0,
                damping: f64::INFINITY,
                speed: 0.3,
                most: random.range(0.0, 20.0),
            },
            _ => RowLaw::Hold,
        });
        let mut joints = SoftJoints { rows: rows.clone(), ..SoftJoints::default() };
        let mut source = Same(rows.clone());
        let mut solver = SoftSolver::default();
        solver.step_with_joints(&Serial, &mut bodies, &mut [], &mut joints, &mut source, DT).unwrap();
        for (block, p) in rows.blocks.iter().zip(&joints.exerted) {
            for i in 0..usize::from(block.rows) {
                match block.laws[i] {
                    RowLaw::Limit { .. } => assert!(p[i] >= 0.0, "seed {seed}: a limit pulls"),
                    RowLaw::Friction { most } | RowLaw::Drive { most, .. } => {
                        assert!(
                            p[i].abs() <= most * DT * (1.0 + 1e-12),
                            "seed {seed}: {} above {most}",
                            p[i] / DT
                        );
                    }
                    RowLaw::Hold => {}
                }
            }
        }
        assert!((0..count).all(|k| bodies.velocity(k).to_array().iter().all(|x| x.is_finite())));
    }
}

#[test]
fn bad_rows_are_named() {
    let mut random = SplitMix64(7);
    let ((mut bodies, _), good) = (bodies(&mut SplitMix64(7), 5), rows(&mut random, 5, |_| RowLaw::Hold));
    let mut refused = |change: &dyn Fn(&mut JointRows)| {
        let mut rows = good.clone();
        change(&mut rows);
        let mut joints = SoftJoints { rows: rows.clone(), ..SoftJoints::default() };
        let mut source = Same(rows);
        let before = format!("{bodies:?}");
        let mut solver = SoftSolver::default();
        let error =
            solver.step_with_joints(&Serial, &mut bodies, &mut [], &mut joints, &mut source, DT).unwrap_err();
        assert_eq!(format!("{bodies:?}"), before, "nothing may change");
        error
    };
    let not_finite = "a row is not finite";
    assert_eq!(
        refused(&|r| r.blocks[2].position.y = f64::NAN),
        SoftError::Joint { block: 2, what: not_finite }
    );
    assert_eq!(
        refused(&|r| r.sides[0].forces.x_axis.x = f64::INFINITY),
        SoftError::Joint { block: 0, what: not_finite }
    );
    assert_eq!(
        refused(&|r| r.sides[0].body = 9),
        SoftError::Joint { block: 0, what: "a body that is not there" }
    );
}
