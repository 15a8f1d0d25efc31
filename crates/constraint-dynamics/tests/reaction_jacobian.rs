//! Derivatives of reaction forces: by factors and by trying, for every kind of joint and every push.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/frames.rs"]
mod frames;

use constraint_dynamics::reaction::{
    BodyResponse, BodyState, JacobianKind, PointForce, Property, Push, ReactionBody, integrate,
};
use frames::{Mechanism, chain};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    integrate::{Euler, OdeScratch, Rk4},
    spatial::{Force, Motion},
    testkit::SplitMix64,
};
use sim_traits::joint::{JointCurve, JointKind, JointPatch, JointPath, JointSurface};

fn body(random: &mut SplitMix64, speed: f64) -> ReactionBody {
    let pose = Pose::new(random.vec3(1.0), random.unit_quat());
    let velocity = Motion::new(random.vec3(speed), random.vec3(speed));
    let moments = DVec3::new(random.range(0.5, 1.0), random.range(0.5, 1.0), random.range(0.5, 1.0));
    ReactionBody::free(random.range(0.5, 2.0), moments, BodyState { pose, velocity })
}

/// What a property is at the end of a frame after a push.
fn seen(body: &ReactionBody, property: Property, push: Push, by: DVec3, h: f64) -> DVec3 {
    let mut pushed = *body;
    let (mut extra, mut forces) = (Force::ZERO, vec![]);
    match push {
        Push::Central => extra.linear = by,
        Push::Torque => extra.moment = by,
        Push::Force(arm) => {
            forces.push(PointForce { point: body.state.pose.inverse_transform_vector(arm), force: by })
        }
        Push::Impulse(arm) => pushed.apply_impulse(arm, by),
    }
    let (next, _) =
        integrate(&pushed, extra, &forces, h, &Euler::MODIFIED, &mut OdeScratch::default()).unwrap();
    let turned = |arm: DVec3| next.pose.rotation * body.state.pose.inverse_transform_vector(arm);
    match property {
        Property::Point(r) => next.pose.translation + turned(r),
        Property::PointRate(r) => next.velocity_at(turned(r)),
        Property::Direction(d) => turned(d),
        Property::DirectionRate(d) => next.velocity.angular.cross(turned(d)),
        Property::PointRateNow(r) => pushed.state.velocity_at(r),
        Property::DirectionRateNow(d) => pushed.state.velocity.angular.cross(d),
    }
}

// proves: DYN-103
// Six properties by four pushes: the sixteen methods of the reference, and the entries that are zero.
#[test]
fn each_derivative_agrees_with_finite_differences() {
    let mut random = SplitMix64(3);
    for speed in [0.0, 1.0] {
        let mut worst = [0.0_f64; 3];
        for _ in 0..40 {
            let body = body(&mut random, speed);
            let (r, d, s) = (random.vec3(1.0), random.unit_vec3(), random.vec3(1.0));
            let response = BodyResponse::of(&body);
            let properties = [
                Property::Point(r),
                Property::PointRate(r),
                Property::Direction(d),
                Property::DirectionRate(d),
                Property::PointRateNow(r),
                Property::DirectionRateNow(d),
            ];
            for (k, h) in [0.02, 0.01, 0.005].into_iter().enumerate() {
                for property in properties {
                    for push in [Push::Central, Push::Torque, Push::Force(s), Push::Impulse(s)] {
                        let e = if matches!(push, Push::Impulse(_)) { 1e-4 } else { 1e-2 };
                        let column = |axis: DVec3| {
                            (seen(&body, property, push, axis * e, h)
                                - seen(&body, property, push, axis * -e, h))
                                / (2.0 * e)
                        };
                        let found = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
                        let given = response.derivative(property, push, h);
                        let size = |m: DMat3| m.x_axis.length().max(m.y_axis.length()).max(m.z_axis.length());
                        if size(given) == 0.0 {
                            assert!(size(found) < 1e-12, "{property:?} {push:?}: {found}");
                            continue;
                        }
                        let off = size(found - given) / size(given);
                        worst[k] = worst[k].max(off);
                        // At rest there is nothing left out but what is of order h² and more.
                        if speed == 0.0 {
                            assert!(off < 1e-3, "{property:?} {push:?}: {found} {given}");
                        }
                    }
                }
            }
        }
        println!("speed {speed}: largest share off {worst:?} for h = 0.02, 0.01, 0.005");
        assert!(worst[2] < 0.02, "{worst:?}");
        if speed > 0.0 {
            assert!(worst[1] < 0.6 * worst[0] && worst[2] < 0.6 * worst[1], "first order: {worst:?}");
        }
    }
}

/// Every kind of joint between two bodies, with its second anchor seen from the first where it has no error.
fn kinds() -> Vec<(JointKind, Pose)> {
    let across = Pose::from_rotation(DQuat::from_mat3(&DMat3::from_cols(DVec3::Z, DVec3::NEG_Y, DVec3::X)));
    let at = Pose::from_translation;
    let circle = JointPath::Circle { center: DVec3::NEG_X, normal: DVec3::Z, radius: 1.0 };
    let plane = JointPatch::Plane { origin: DVec3::ZERO, normal: DVec3::Z };
    let ground = JointPatch::Plane { origin: DVec3::Y * -0.5, normal: DVec3::Y };
    vec![
        (JointKind::Ball { drive: None }, Pose::IDENTITY),
        (JointKind::Hinge, Pose::IDENTITY),
        (JointKind::Slider, Pose::IDENTITY),
        (JointKind::Cylindrical, Pose::IDENTITY),
        (JointKind::Universal, across),
        (JointKind::Weld, Pose::IDENTITY),
        (JointKind::Planar, Pose::IDENTITY),
        (JointKind::Orientation, Pose::IDENTITY),
        (JointKind::Distance { length: 0.7 }, at(DVec3::X * 0.7)),
        (JointKind::MultiBar { length: 0.7 }, at(DVec3::X * 0.7)),
        (JointKind::Curve { curve: JointCurve::new(circle).unwrap() }, Pose::IDENTITY),
        (JointKind::Surface { surface: JointSurface::new(plane).unwrap(), friction: 0.0 }, Pose::IDENTITY),
        (JointKind::Wheel { surface: JointSurface::new(ground).unwrap(), radius: 0.5 }, Pose::IDENTITY),
        (JointKind::Velocity, Pose::IDENTITY),
        (JointKind::Screw { pitch: 0.1, phase: 0.0 }, Pose::IDENTITY),
    ]
}

/// Two bodies and one joint, in motion.
fn pair(kind: &JointKind, second: Pose, random: &mut SplitMix64, speed: f64) -> Mechanism {
    let mut m = Mechanism::new(DVec3::ZERO);
    for _ in 0..2 {
        let body = body(random, speed);
        m.bodies.push(body);
    }
    let frame = Pose::new(random.vec3(1.0), random.unit_quat());
    m.join(kind.clone(), &[(Some(0), frame), (Some(1), frame * second)]);
    m.params.max_error = -1.0;
    m.params.max_iterations = 1;
    m
}

fn matrix(m: &mut Mechanism, kind: JacobianKind, h: f64) -> Vec<Vec<f64>> {
    m.params.jacobian = kind;
    let (bodies, joints, state) = (m.bodies.clone(), m.joints.clone(), m.state.clone());
    let report = m.step(h);
    (m.bodies, m.joints, m.state) = (bodies, joints, state);
    let n = report.unknowns;
    (0..n).map(|i| (0..n).map(|j| m.workspace.jacobian(i, j)).collect()).collect()
}

/// Largest difference as a share of the largest entry.
fn off(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let size = b.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / size
}

// proves: DYN-102, DYN-99, DYN-106, DYN-116
#[test]
fn analytic_and_empirical_jacobians_agree_for_every_kind_of_joint() {
    for (kind, second) in kinds() {
        let mut random = SplitMix64(9);
        let (mut worst, mut least, mut one_sided) = ([0.0_f64; 3], f64::INFINITY, 0.0_f64);
        for _ in 0..10 {
            let mut m = pair(&kind, second, &mut random, 1.0);
            for (k, h) in [0.02, 0.01, 0.005].into_iter().enumerate() {
                // Switched to and fro on the same workspace.
                let factors = matrix(&mut m, JacobianKind::Analytic, h);
                let tried = matrix(&mut m, JacobianKind::Empirical { central: true }, h);
                assert!(!tried.is_empty(), "{kind:?}");
                assert_eq!(factors, matrix(&mut m, JacobianKind::Analytic, h));
                worst[k] = worst[k].max(off(&factors, &tried));
                one_sided = one_sided
                    .max(off(&matrix(&mut m, JacobianKind::Empirical { central: false }, h), &tried));
                for (i, row) in tried.iter().enumerate() {
                    let rest: f64 =
                        row.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, x)| x.abs()).sum();
                    least = least.min(row[i] / rest.max(1e-300));
                }
            }
        }
        println!(
            "{}: off by {worst:?}, one-sided {one_sided:.1e}, least diagonal over the rest of its row {least:.2}",
            kind.name()
        );
        assert!(worst[2] < 0.05 && worst[2] < 0.4 * worst[0] + 1e-9, "{}: {worst:?}", kind.name());
        assert!(one_sided < 0.02, "{}: {one_sided}", kind.name());
        // Each value pushes its own error up.
        assert!(least > 0.0, "{}: {least}", kind.name());
    }
}

// proves: DYN-104
#[test]
fn edges_are_the_blocks_that_are_not_zero() {
    let mut random = SplitMix64(4);
    for _ in 0..20 {
        let mut m = Mechanism::new(DVec3::NEG_Z);
        let count = 2 + random.below(6);
        for _ in 0..count {
            let pose = Pose::new(random.vec3(3.0), random.unit_quat());
            m.body(1.0, DVec3::ONE, pose);
        }
        for _ in 0..2 + random.below(8) {
            let (a, b) = (random.below(count + 1) as u32, random.below(count) as u32);
            let at = random.vec3(3.0);
            m.pin((a < count as u32 && a != b).then_some(a), b, at);
        }
        m.step(0.01);
        let before = m.workspace.graph().edges().to_vec();
        let n = m.joints.joints.len();
        for i in 0..n {
            for j in 0..i {
                let (rows, columns) = (m.workspace.rows_of(i), m.workspace.rows_of(j));
                let any = rows.clone().any(|r| columns.clone().any(|c| m.workspace.jacobian(r, c) != 0.0));
                assert_eq!(any, before.contains(&(j as u32, i as u32)));
            }
        }
        // The list stays until the set changes.
        m.step(0.01);
        assert_eq!(m.workspace.graph().edges(), before);
    }
}

// A chain whose links come in any order has the band of one in order.
#[test]
fn a_shuffled_chain_has_a_narrow_band() {
    let mut m = chain(40);
    let mut random = SplitMix64(6);
    for k in (1..40).rev() {
        m.joints.joints.swap(k, random.below(k + 1));
    }
    m.step(0.02);
    assert_eq!(m.workspace.graph().part(0), Some((120, 5)));
    let mut ordered = chain(40);
    ordered.step(0.02);
    assert!((m.at(39) - ordered.at(39)).length() < 1e-6);
}

// proves: DYN-18
#[test]
fn an_off_centre_force_keeps_the_order_of_the_method() {
    let mut random = SplitMix64(8);
    let start = body(&mut random, 1.0);
    let force = [PointForce { point: DVec3::new(0.3, -0.4, 0.5), force: DVec3::new(2.0, 1.0, -3.0) }];
    let run = |steps: u32| {
        let (mut state, h) = (start, 1.0 / f64::from(steps));
        for _ in 0..steps {
            let (next, _) =
                integrate(&state, Force::ZERO, &force, h, &Rk4, &mut OdeScratch::default()).unwrap();
            state.state = next;
        }
        state.state
    };
    let exact = run(4096);
    let errors = [16, 32, 64].map(|n| {
        let end = run(n);
        let turned = sim_math::rotation::rotation_angle(end.pose.rotation, exact.pose.rotation);
        turned + (end.velocity.angular - exact.velocity.angular).length()
    });
    println!("errors {errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!(order > 3.7, "{errors:?}");
    }
}

#[test]
fn constant_forces_are_met_exactly() {
    let mut random = SplitMix64(12);
    for h in [1e-3, 0.1, 10.0] {
        let body = body(&mut random, 1.0);
        let push = Force::new(DVec3::ZERO, random.vec3(5.0));
        let (next, _) = integrate(&body, push, &[], h, &Rk4, &mut OdeScratch::default()).unwrap();
        let a = push.linear * body.inverse_mass();
        let expected = body.state.pose.translation + body.state.velocity.linear * h + a * (0.5 * h * h);
        assert!((next.pose.translation - expected).length() <= 1e-14 * (1.0 + h * h * 10.0));
        let velocity = body.state.velocity.linear + a * h;
        assert!((next.velocity.linear - velocity).length() <= 1e-15 * velocity.length());
    }
}

// proves-part: DYN-20
// However many forces act, a body is integrated once for a look at it.
#[test]
fn many_forces_are_one_integration() {
    let mut m = Mechanism::new(DVec3::NEG_Z);
    let body = m.body(1.0, DVec3::ONE, Pose::IDENTITY);
    for k in 0..3 {
        let frame = Pose::from_translation(DVec3::X * f64::from(k));
        m.join(
            JointKind::Distance { length: 1.0 },
            &[(None, frame * Pose::from_translation(DVec3::Z)), (Some(body), frame)],
        );
    }
    for _ in 0..5 {
        m.step(0.01);
    }
    let report = m.step(0.01);
    // Two evaluations are one step of Heun's method; one step for the guess and one for each iteration.
    assert_eq!(report.evaluations, 2 * u64::from(1 + report.iterations), "{report:?}");
}
