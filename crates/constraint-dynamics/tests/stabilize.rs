//! Post-stabilisation, Baumgarte, implicit steps.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    ConeGaussSeidel, Delassus, PoolBody, PoolContact,
    implicit::{
        End, ImplicitWorkspace, Inertial, SpringDamper, StiffForce, implicit_step, sampled_gradients,
    },
    pool::{self, PoolWorkspace},
    stabilize::{StabilizeWorkspace, baumgarte_bias, close_gaps, moved, open_gaps},
};
use lcp_lemke::Driver;
use sim_math::{
    Pose, assert_close,
    dense::Matrix,
    glam::{DMat3, DVec3},
    ops,
    rotation::frame_from_normal,
    spatial::{Force, Motion},
    testkit::SplitMix64,
};
use sim_traits::RowSolver;

/// A box of 1 x 0.6 x 0.4 m sunk by `depth` into the ground, with `count` contacts spread over its base.
fn sunk(depth: f64, count: usize) -> ([PoolBody; 1], Vec<PoolContact>, Vec<f64>) {
    let half = DVec3::new(0.5, 0.3, 0.2);
    let m = 2.0;
    let s = half * half;
    let inertia = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (m / 3.0);
    let body = PoolBody {
        center: DVec3::new(0.0, 0.0, half.z - depth),
        inverse_mass: 1.0 / m,
        inverse_inertia: DMat3::from_diagonal(DVec3::ONE / inertia),
        velocity: Motion::ZERO,
    };
    let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
    let mut random = SplitMix64(1);
    let contacts: Vec<PoolContact> = (0..count)
        .map(|k| {
            let (x, y) =
                corners.get(k).copied().unwrap_or((random.range(-1.0, 1.0), random.range(-1.0, 1.0)));
            PoolContact {
                bodies: [0, u32::MAX],
                point: DVec3::new(x * half.x, y * half.y, -0.5 * depth),
                frame: frame_from_normal(DVec3::Z).unwrap(),
                friction: 0.0,
                bias: DVec3::new(0.0, 0.0, -depth),
            }
        })
        .collect();
    let gaps = vec![-depth; count];
    ([body], contacts, gaps)
}

// proves: CLI-58
#[test]
fn a_sunk_box_is_lifted_by_its_depth_without_turning() {
    for count in [4, 5, 8, 13, 20, 40] {
        for depth in [1e-6, 1e-3, 0.05] {
            let (bodies, contacts, _) = sunk(depth, count);
            let mut problem = Delassus::default();
            pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut problem);
            let mut workspace = StabilizeWorkspace::default();
            let mut by_lcp = vec![DVec3::ZERO; count];
            open_gaps(&problem, &mut Driver::default(), &mut workspace, &mut by_lcp).unwrap();
            let mut by_svd = vec![DVec3::ZERO; count];
            close_gaps(&problem, &mut workspace, &mut by_svd).unwrap();
            let mut by_cone = vec![DVec3::ZERO; count];
            ConeGaussSeidel::default().solve(&problem.problem().unwrap(), &mut by_cone).unwrap();
            for multipliers in [&by_lcp, &by_svd, &by_cone] {
                let mut lifted = bodies;
                pool::apply(&mut lifted, &contacts, multipliers);
                let dp = lifted[0].velocity;
                assert!((dp.linear - DVec3::new(0.0, 0.0, depth)).length() < 1e-9 * depth, "{count}: {dp:?}");
                assert!(dp.angular.length() < 1e-8 * depth, "{count}: {dp:?}");
            }
        }
    }
}

// proves: CLI-57
#[test]
fn the_step_is_the_smallest_in_the_metric_of_mass() {
    // Any other step that opens the gaps has more "kinetic energy": tried by adding admissible changes.
    let (bodies, mut contacts, _) = sunk(0.01, 4);
    // One corner deeper than the others: the box must turn.
    contacts[0].bias.z = -0.02;
    let mut problem = Delassus::default();
    pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut problem);
    let mut multipliers = vec![DVec3::ZERO; 4];
    open_gaps(&problem, &mut Driver::default(), &mut StabilizeWorkspace::default(), &mut multipliers)
        .unwrap();
    let mut best = bodies;
    pool::apply(&mut best, &contacts, &multipliers);
    let inertia = bodies[0].inverse_inertia.inverse();
    let cost = |v: &Motion| v.linear.length_squared() * 2.0 + v.angular.dot(inertia * v.angular);
    let opens =
        |body: &PoolBody| contacts.iter().all(|c| pool::velocity_of(&[*body], c).z + c.bias.z >= -1e-12);
    assert!(opens(&best[0]));
    let mut random = SplitMix64(6);
    let mut tried = 0;
    for _ in 0..20_000 {
        let mut other = best[0];
        other.velocity += Motion::new(random.vec3(0.01), random.vec3(0.01));
        if opens(&other) {
            tried += 1;
            assert!(cost(&other.velocity) >= cost(&best[0].velocity) - 1e-12);
        }
    }
    assert!(tried > 100, "{tried} admissible steps");
}

// proves: CLI-56
#[test]
fn pseudo_inverse_pulls_where_contacts_cannot() {
    // Half of the contacts are apart: the linear step pulls them together, the complementarity step leaves them.
    let (bodies, mut contacts, _) = sunk(0.01, 6);
    for c in &mut contacts {
        c.bias.z = 0.01;
    }
    let mut problem = Delassus::default();
    pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut problem);
    let mut p = vec![DVec3::ZERO; 6];
    let mut workspace = StabilizeWorkspace::default();
    open_gaps(&problem, &mut Driver::default(), &mut workspace, &mut p).unwrap();
    assert!(p.iter().all(|p| *p == DVec3::ZERO));
    close_gaps(&problem, &mut workspace, &mut p).unwrap();
    let mut pulled = bodies;
    pool::apply(&mut pulled, &contacts, &p);
    assert_close!(pulled[0].velocity.linear.z, -0.01, rel = 1e-9);
}

// proves: CLI-59
#[test]
fn a_twist_moves_a_pose_and_keeps_its_quaternion_unit() {
    let mut random = SplitMix64(9);
    for _ in 0..1000 {
        let pose = Pose::new(random.vec3(2.0), random.unit_quat());
        let twist = Motion::new(random.vec3(0.5), random.vec3(0.5));
        let next = moved(&pose, twist);
        assert_close!(next.rotation.length(), 1.0, abs = 1e-15);
        let point = DVec3::new(0.3, -0.2, 0.1);
        let small = moved(&pose, twist * 1e-7);
        let rate = (small.transform_point(point) - pose.transform_point(point)) / 1e-7;
        let expected = twist.linear + twist.angular.cross(pose.transform_vector(point));
        assert!((rate - expected).length() < 1e-6);
        // In the plane: plain addition.
        let flat = Pose::new(DVec3::new(1.0, 2.0, 0.0), sim_math::glam::DQuat::from_rotation_z(0.4));
        let turned = moved(&flat, Motion::new(DVec3::Z * 0.3, DVec3::new(0.1, 0.2, 0.0)));
        let angle = 2.0 * ops::atan2(turned.rotation.z, turned.rotation.w);
        assert_close!(angle, 0.7, abs = 1e-14);
        assert_close!(turned.translation.z, 0.0, abs = 0.0);
    }
}

// proves: CLI-54
#[test]
fn baumgarte_shrinks_by_its_rate() {
    // A box held to the ground at four corners: J v + α g = 0, so that the gap is multiplied by 1 − α h.
    let h = 0.01;
    for rate in [20.0, 50.0, 100.0, 150.0, 199.0, 201.0] {
        let mut gap: f64 = -0.01;
        for _ in 0..400 {
            let before = gap;
            let (mut bodies, mut contacts, _) = sunk(0.01, 4);
            contacts.iter_mut().for_each(|c| c.bias.z = baumgarte_bias(gap, rate));
            let mut problem = Delassus::default();
            pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut problem);
            let mut p = vec![DVec3::ZERO; 4];
            close_gaps(&problem, &mut StabilizeWorkspace::default(), &mut p).unwrap();
            pool::apply(&mut bodies, &contacts, &p);
            gap += h * bodies[0].velocity.linear.z;
            assert_close!(gap, (1.0 - rate * h) * before, rel = 1e-9, abs = 1e-17);
        }
        assert_eq!(gap.abs() > 0.01, rate * h > 2.0, "α h = {}", rate * h);
    }
}

fn unit_body() -> Inertial {
    Inertial { mass: 1.0, inertia: DMat3::from_diagonal(DVec3::new(0.1, 0.2, 0.25)) }
}

// proves: CLI-49
#[test]
fn a_stiff_oscillator_decays_as_backward_euler_does() {
    for h_omega in [0.1, 1.0, 10.0, 100.0] {
        let h = 0.01;
        let omega: f64 = h_omega / h;
        let spring = SpringDamper::new(
            vec![0],
            [End::Body(0, DVec3::ZERO), End::World(DVec3::ZERO)],
            omega * omega,
            0.0,
            0.0,
        );
        let (mut pose, mut v) = (Pose::from_translation(DVec3::X), [Motion::ZERO]);
        let mut workspace = ImplicitWorkspace::default();
        // Amplitude: √(x² + (v/ω)²) in the metric that the step shrinks evenly.
        let amplitude = |pose: &Pose, v: &Motion| ops::hypot(pose.translation.x, v.linear.x / omega);
        for _ in 0..50 {
            let before = amplitude(&pose, &v[0]);
            let forces: [&dyn StiffForce; 1] = [&spring];
            let exact =
                implicit_step(&[unit_body()], &[pose], &mut v, &[Force::ZERO], &forces, h, &mut workspace);
            assert!(exact.unwrap());
            pose.translation += v[0].linear * h;
            let factor = 1.0 / (1.0 + h_omega * h_omega).sqrt();
            assert_close!(amplitude(&pose, &v[0]), factor * before, rel = 1e-9, abs = 1e-250);
        }
    }
}

/// The spring without its own gradients.
#[derive(Debug)]
struct Sampled(SpringDamper);

impl StiffForce for Sampled {
    fn bodies(&self) -> &[usize] {
        self.0.bodies()
    }

    fn wrenches(&self, poses: &[Pose], velocities: &[Motion], out: &mut [Force]) {
        self.0.wrenches(poses, velocities, out);
    }
}

// proves: CLI-50, CLI-51
#[test]
fn sampled_and_analytic_gradients_agree() {
    let mut random = SplitMix64(31);
    for k in 0..200 {
        let ends = if k % 2 == 0 {
            [End::Body(0, random.vec3(0.5)), End::Body(1, random.vec3(0.5))]
        } else {
            [End::World(random.vec3(1.0)), End::Body(1, random.vec3(0.5))]
        };
        let spring = SpringDamper::new(vec![0, 1], ends, 20.0, 3.0, random.range(0.0, 2.0));
        let poses = [0, 1].map(|_| Pose::new(random.vec3(2.0), random.unit_quat()));
        let velocities = [0, 1].map(|_| Motion::new(random.vec3(1.0), random.vec3(1.0)));
        let mut exact = [Matrix::default(), Matrix::default()];
        let mut sampled = [Matrix::default(), Matrix::default()];
        let [p, v] = &mut exact;
        assert!(spring.gradients(&poses, &velocities, false, p, v));
        let [p, v] = &mut sampled;
        sampled_gradients(&Sampled(spring.clone()), &poses, &velocities, 1e-5, 1e-5, p, v);
        for (a, b) in exact.iter().zip(&sampled) {
            for i in 0..12 {
                for j in 0..12 {
                    assert_close!(a[(i, j)], b[(i, j)], rel = 1e-6, abs = 2e-6);
                }
            }
        }
        // The safe gradients are negative semi-definite.
        let [p, v] = &mut exact;
        assert!(spring.gradients(&poses, &velocities, true, p, v));
        let x: Vec<f64> = (0..12).map(|_| random.range(-1.0, 1.0)).collect();
        for m in &exact {
            let quadratic: f64 = (0..12).map(|i| (0..12).map(|j| x[i] * m[(i, j)] * x[j]).sum::<f64>()).sum();
            assert!(quadratic <= 1e-9, "{quadratic}");
        }
    }
}

#[test]
fn stiff_springs_between_turning_bodies_stay_bounded() {
    let spring = SpringDamper::new(
        vec![0, 1],
        [End::Body(0, DVec3::new(0.3, 0.1, 0.0)), End::Body(1, DVec3::new(-0.2, 0.0, 0.3))],
        1e8,
        0.0,
        0.5,
    );
    let mut poses = [Pose::IDENTITY, Pose::from_translation(DVec3::new(1.2, 0.3, 0.1))];
    let mut v = [Motion::new(DVec3::Y, DVec3::X), Motion::ZERO];
    let mut workspace = ImplicitWorkspace::default();
    for _ in 0..2000 {
        let forces: [&dyn StiffForce; 1] = [&spring];
        implicit_step(&[unit_body(); 2], &poses, &mut v, &[Force::ZERO; 2], &forces, 0.01, &mut workspace)
            .unwrap();
        for (pose, v) in poses.iter_mut().zip(&v) {
            *pose = moved(pose, *v * 0.01);
        }
        assert!(v.iter().all(|v| v.linear.length() < 50.0 && v.angular.length() < 500.0), "{v:?}");
    }
}

// proves: CLI-55
#[test]
fn repeated_steps_square_the_error() {
    // A tilted box with its four lower corners held to the ground by the pseudo-inverse: each step, at the Jacobian of the new pose, leaves the square of
    // the error.
    let half = DVec3::new(0.5, 0.3, 0.2);
    let tilt = sim_math::rotation::quat_exp(DVec3::new(0.12, -0.09, 0.0));
    let mut pose = Pose::new(DVec3::new(0.0, 0.0, 0.17), tilt);
    let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
    let mut errors = Vec::new();
    for _ in 0..5 {
        let mut body = sunk(0.0, 4).0[0];
        body.center = pose.translation;
        let inertia = DMat3::from_quat(pose.rotation)
            * body.inverse_inertia
            * DMat3::from_quat(pose.rotation).transpose();
        body.inverse_inertia = inertia;
        let points = corners.map(|(x, y)| pose.transform_point(DVec3::new(x * half.x, y * half.y, -half.z)));
        errors.push(points.iter().fold(0.0_f64, |e, p| e.max(p.z.abs())));
        let contacts = points.map(|point| PoolContact {
            bodies: [0, u32::MAX],
            point,
            frame: frame_from_normal(DVec3::Z).unwrap(),
            friction: 0.0,
            bias: DVec3::new(0.0, 0.0, point.z),
        });
        let mut problem = Delassus::default();
        pool::assemble(&[body], &contacts, &mut PoolWorkspace::default(), &mut problem);
        let mut p = [DVec3::ZERO; 4];
        close_gaps(&problem, &mut StabilizeWorkspace::default(), &mut p).unwrap();
        let mut moving = [body];
        pool::apply(&mut moving, &contacts, &p);
        pose = moved(&pose, moving[0].velocity);
    }
    for pair in errors.windows(2).filter(|w| w[0] > 1e-7) {
        assert!(pair[1] < 2.0 * pair[0] * pair[0] + 1e-14, "{errors:?}");
    }
    assert!(errors[4] < 1e-12, "{errors:?}");
}
