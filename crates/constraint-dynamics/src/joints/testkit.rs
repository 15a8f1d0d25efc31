//! What the tests of all kinds of joints ask: rates by finite differences, and motions by a dense solve.

use super::{JointRows, RowLaw, begin, rotation, rows, write::Writer};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    rotation::quat_exp,
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_traits::joint::{JointAnchor, JointAxis, JointKind, JointModel, JointMotor};

pub(super) fn random(seed: u64) -> SplitMix64 {
    SplitMix64(seed)
}

pub(super) fn pose(random: &mut SplitMix64) -> Pose {
    Pose::new(random.vec3(2.0), random.unit_quat())
}

pub(super) fn anchor(random: &mut SplitMix64, body: u32) -> JointAnchor {
    JointAnchor::new(body, Pose::new(random.vec3(0.5), random.unit_quat()))
}

/// An axis on which everything acts.
pub(super) fn busy_axis() -> JointAxis {
    let motor = JointMotor::Position { target: 0.3, speed: 0.4, stiffness: 1.0, damping: 1.0, most: 1.0 };
    JointAxis::default().limits(-0.5, 0.8).spring(0.1, 1.0, 1.0).motor(motor).friction(1.0)
}

/// Rows of a joint between the world's frame and a body's.
pub(super) fn on_world(
    kind: JointKind,
    axes: &[JointAxis],
    rotation: DQuat,
    translation: DVec3,
) -> JointRows {
    let anchors = [JointAnchor::world(Pose::IDENTITY), JointAnchor::new(0, Pose::IDENTITY)];
    let mut joint = JointModel::new(kind, anchors);
    if !axes.is_empty() {
        joint.axes = axes.to_vec();
    }
    joint.check().unwrap();
    let poses = [Pose::new(translation, rotation)];
    let mut memory = vec![0.0; joint.kind.memory_len()];
    begin(&joint, &poses, &mut memory);
    let mut out = JointRows::default();
    rows(&joint, &poses, &mut memory, &mut out);
    out
}

/// The second anchor seen from the first where a joint of the kind has no error, or a simple place if it has no such place.
fn at_rest(kind: &JointKind) -> Pose {
    match kind {
        // Axes across: z is the other's x.
        JointKind::Universal => {
            Pose::from_rotation(DQuat::from_mat3(&DMat3::from_cols(DVec3::Z, -DVec3::Y, DVec3::X)))
        }
        JointKind::Distance { length } | JointKind::Rope { length, .. } => {
            Pose::from_translation(DVec3::X * *length)
        }
        JointKind::Wheel { .. } => Pose::from_translation(DVec3::new(0.8, 0.8, 0.0)),
        _ => Pose::IDENTITY,
    }
}

/// Rates of all rows by finite differences, between two bodies and between the world and a body, without errors and with errors.
pub(super) fn check_rates(kind: JointKind, axes: &[JointAxis]) {
    let mut random = random(7);
    for case in 0..24 {
        let bodies = if case % 3 == 2 { [JointAnchor::WORLD, 0] } else { [0, 1] };
        let anchors = bodies.map(|body| anchor(&mut random, body));
        let mut joint = JointModel::new(kind.clone(), anchors);
        if !axes.is_empty() {
            joint.axes = axes.to_vec();
        }
        let error = [0.0, 0.1, 0.5, 1.0][case / 6];
        if matches!(kind, JointKind::Ball { .. }) && error == 0.0 {
            // The angle of a swing has a kink where it is zero.
            joint.axes[0].limits = None;
        }
        joint.check().unwrap();
        // A wheel must not lie flat.
        let turn = if matches!(kind, JointKind::Wheel { .. }) { 0.3 } else { 1.3 };
        let error = Pose::new(random.vec3(0.3 * error), quat_exp(random.unit_vec3() * (turn * error)));
        let second = |first: Pose| first * at_rest(&kind) * error * anchors[1].frame.inverse();
        let poses = if anchors[0].is_world() {
            vec![second(anchors[0].frame)]
        } else {
            let first = pose(&mut random);
            vec![first, second(first * anchors[0].frame)]
        };
        rates(&joint, &poses, &mut random);
    }
}

/// [`check_rates`] of a joint wherever its bodies are.
pub(super) fn check_rates_of(joint: &JointModel, bodies: usize) {
    let mut random = random(8);
    joint.check().unwrap();
    for _ in 0..24 {
        let poses: Vec<_> = (0..bodies).map(|_| pose(&mut random)).collect();
        rates(joint, &poses, &mut random);
    }
}

fn rates(joint: &JointModel, poses: &[Pose], random: &mut SplitMix64) {
    let motions: Vec<_> = poses.iter().map(|_| Motion::new(random.vec3(1.0), random.vec3(1.0))).collect();
    let mut memory = vec![0.0; joint.kind.memory_len()];
    begin(joint, poses, &mut memory);
    // The carried frame of a curve is that of here.
    rows(joint, poses, &mut memory, &mut JointRows::default());
    let at = |t: f64| {
        let moved = |(pose, motion): (&Pose, &Motion)| {
            let rotation = quat_exp(motion.angular * t) * pose.rotation;
            Pose::new(pose.translation + motion.linear * t, rotation.normalize())
        };
        let moved: Vec<_> = poses.iter().zip(&motions).map(moved).collect();
        let (mut memory, mut out) = (memory.clone(), JointRows::default());
        rows(joint, &moved, &mut memory, &mut out);
        out
    };
    let h = 1e-3;
    let (here, steps) = (at(0.0), [-2.0, -1.0, 1.0, 2.0].map(|k| at(k * h)));
    assert!(!here.blocks.is_empty(), "{joint:?} has no rows");
    for (k, block) in here.blocks.iter().enumerate() {
        let x = [0, 1, 2, 3].map(|n| steps[n].blocks[k].position);
        let rate = ((x[2] - x[1]) * 8.0 - (x[3] - x[0])) / (12.0 * h);
        let expected = here.velocity(block, &motions) - block.drift;
        let holonomic = if matches!(joint.kind, JointKind::Wheel { .. }) { 1 } else { block.rows as usize };
        for row in 0..holonomic {
            let difference = (rate[row] - expected[row]).abs();
            assert!(
                difference <= 1e-7 * (1.0 + expected[row].abs()),
                "block {k} row {row}: rate {} by differences, {} by the Jacobian; {joint:?} at {poses:?}",
                rate[row],
                expected[row]
            );
        }
        // Rows beyond the last are empty.
        for side in here.sides_of(block) {
            for row in block.rows as usize..3 {
                assert_eq!((side.moments.col(row), side.forces.col(row)), (DVec3::ZERO, DVec3::ZERO));
            }
        }
    }
}

/// Acceleration from rest of a body (mass, inertia in its own axes) under a force at its centre, held by a joint to the world's frame.
pub(super) fn acceleration(
    kind: JointKind,
    axes: &[JointAxis],
    anchor: Pose,
    pose: Pose,
    (mass, inertia): (f64, DMat3),
    force: DVec3,
) -> Motion {
    let mut joint = JointModel::new(kind, [JointAnchor::world(Pose::IDENTITY), JointAnchor::new(0, anchor)]);
    if !axes.is_empty() {
        joint.axes = axes.to_vec();
    }
    joint.check().unwrap();
    let mut memory = vec![0.0; joint.kind.memory_len()];
    begin(&joint, &[pose], &mut memory);
    let mut out = JointRows::default();
    rows(&joint, &[pose], &mut memory, &mut out);
    let r = pose.rotation_matrix();
    let inverse = r * inertia.inverse() * r.transpose();
    // Rows of J and of M⁻¹ Jᵀ.
    let mut jacobian = Vec::new();
    for block in &out.blocks {
        let side = out.sides_of(block)[0];
        for row in 0..block.rows as usize {
            assert_eq!(block.laws[row], RowLaw::Hold);
            jacobian.push((side.moments.col(row), side.forces.col(row)));
        }
    }
    let response = |&(m, f): &(DVec3, DVec3)| Motion::new(inverse * m, f / mass);
    let rate = |&(m, f): &(DVec3, DVec3), v: Motion| m.dot(v.angular) + f.dot(v.linear);
    let free = Motion::new(DVec3::ZERO, force / mass);
    let n = jacobian.len();
    let mut w: Vec<Vec<f64>> = jacobian
        .iter()
        .map(|i| {
            let mut row: Vec<f64> = jacobian.iter().map(|j| rate(i, response(j))).collect();
            row.push(-rate(i, free));
            row
        })
        .collect();
    // Gauss and Jordan; W is positive definite.
    for k in 0..n {
        let pivot = w[k].clone();
        for (i, row) in w.iter_mut().enumerate() {
            let factor = if i == k { 1.0 - 1.0 / pivot[k] } else { row[k] / pivot[k] };
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    jacobian.iter().zip(&w).fold(free, |v, (row, w)| {
        let step = response(row);
        Motion::new(v.angular + step.angular * w[n], v.linear + step.linear * w[n])
    })
}

#[test]
fn rotation_errors_have_these_rates() {
    // A six-axis joint with three free rotations has the parts of the logarithm as values, one with a single locked axis too; the
    // swing is held by a hinge. Up to nearly half a turn.
    let mut random = random(21);
    for case in 0..400 {
        let angle = 3.1 * f64::from(case) / 400.0;
        let poses = [Pose::from_rotation(random.unit_quat()), Pose::IDENTITY];
        let turned = Pose::from_rotation(poses[0].rotation * quat_exp(random.unit_vec3() * angle));
        let poses = [poses[0], turned];
        let anchors = [0, 1].map(|body| JointAnchor::new(body, Pose::IDENTITY));
        for kind in [JointKind::Weld, JointKind::Hinge] {
            let joint = JointModel::new(kind, anchors);
            let motions = [0, 1].map(|_| Motion::new(random.vec3(1.0), DVec3::ZERO));
            let at = |t: f64| {
                let moved = [0, 1].map(|k| {
                    Pose::from_rotation((quat_exp(motions[k].angular * t) * poses[k].rotation).normalize())
                });
                let mut out = JointRows::default();
                rows(&joint, &moved, &mut vec![0.0; joint.kind.memory_len()], &mut out);
                out
            };
            let h = 1e-5;
            let rate = (at(h).blocks[1].position - at(-h).blocks[1].position) / (2.0 * h);
            let here = at(0.0);
            let expected = here.velocity(&here.blocks[1], &motions);
            assert!(
                (rate - expected).length() < 1e-6 * (1.0 + expected.length()),
                "{angle}: {rate} {expected}"
            );
            if joint.kind == JointKind::Weld {
                assert!((here.blocks[1].position.length() - angle).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn angles_go_on_for_turns() {
    for k in -50_i32..50 {
        let angle = f64::from(k) * 0.9;
        let (sine, cosine) = sim_math::ops::sin_cos(angle);
        let wrapped = sim_math::ops::atan2(sine, cosine);
        assert!((rotation::unwrap(wrapped, angle + 2.9) - angle).abs() < 1e-13);
        assert!((rotation::unwrap(wrapped, angle - 2.9) - angle).abs() < 1e-13);
    }
    assert_eq!(rotation::unwrap(1.0, f64::NAN), 1.0);
}

#[test]
fn rotations_by_nearly_half_a_turn_are_finite() {
    for small in [0.0, 1e-300, 1e-160, 1e-20, 1e-12, 1e-8, 1e-3] {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.6, 0.0, 0.8)] {
            for kind in
                [JointKind::Weld, JointKind::Hinge, JointKind::Universal, JointKind::Ball { drive: None }]
            {
                for angle in [small, std::f64::consts::PI - small, std::f64::consts::PI + small] {
                    let axes = vec![busy_axis(); kind.free_axes()];
                    let axes: Vec<_> = axes.into_iter().map(|a| JointAxis { motor: None, ..a }).collect();
                    let out = on_world(kind.clone(), &axes, quat_exp(axis * angle), DVec3::ZERO);
                    assert!(out.blocks.iter().all(|b| b.position.is_finite()), "{kind:?} {axis} {angle}");
                    assert!(out.sides.iter().all(|s| s.moments.is_finite()), "{kind:?} {axis} {angle}");
                }
            }
        }
    }
}

#[test]
fn joints_that_do_not_fit_have_no_rows() {
    let joint = JointModel::new(JointKind::Hinge, [0, 1].map(|body| JointAnchor::new(body, Pose::IDENTITY)));
    let mut out = JointRows::default();
    rows(&joint, &[Pose::IDENTITY], &mut [0.0], &mut out);
    rows(&joint, &[Pose::IDENTITY; 2], &mut [], &mut out);
    rows(&JointModel { axes: vec![], ..joint.clone() }, &[Pose::IDENTITY; 2], &mut [0.0], &mut out);
    rows(&JointModel { anchors: vec![], ..joint.clone() }, &[Pose::IDENTITY; 2], &mut [0.0], &mut out);
    assert!(out.blocks.is_empty() && out.sides.is_empty());
    let writer = Writer::new(&mut out, &[], &[], false);
    assert_eq!(writer.place(&JointAnchor::world(Pose::IDENTITY)).origin, DVec3::ZERO);
    rows(&joint, &[Pose::IDENTITY; 2], &mut [0.0], &mut out);
    assert_eq!(out.blocks.len(), 2);
}
