//! Impacts of bodies that joints hold: closed forms, and what holds for any mechanism.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    PoolBody, PoolContact,
    held::HeldSide,
    restitution::{Bounce, Impact, ImpactJoints, ImpactReport},
};
use sim_math::{
    assert_close,
    glam::{DMat3, DVec3},
    rotation::frame_from_normal,
    spatial::Motion,
    testkit::SplitMix64,
};

const GROUND: u32 = u32::MAX;

/// A thin rod along x.
fn rod(mass: f64, length: f64, center: DVec3) -> PoolBody {
    let across = mass * length * length / 12.0;
    PoolBody {
        center,
        inverse_mass: 1.0 / mass,
        inverse_inertia: DMat3::from_diagonal(DVec3::new(1e3 * across, across, across).recip()),
        velocity: Motion::ZERO,
    }
}

fn contact(bodies: [u32; 2], point: DVec3, normal: DVec3, friction: f64) -> PoolContact {
    PoolContact { bodies, point, frame: frame_from_normal(normal).unwrap(), friction, bias: DVec3::ZERO }
}

fn bounce(restitution: f64) -> Bounce {
    Bounce { restitution, rest: 0.0 }
}

/// Holds a point of a and b together.
fn ball(joints: &mut ImpactJoints, bodies: &[PoolBody], [a, b]: [u32; 2], point: DVec3) {
    for axis in DVec3::AXES {
        let side = |body: u32, sign: f64| {
            let center = bodies.get(body as usize).map_or(DVec3::ZERO, |b| b.center);
            HeldSide { body, moment: (point - center).cross(axis) * sign, force: axis * sign }
        };
        joints.held.rows.add([side(a, -1.0), side(b, 1.0)].into_iter());
    }
}

fn energy(bodies: &[PoolBody]) -> f64 {
    let of = |b: &PoolBody| {
        let Motion { angular: w, linear: v } = b.velocity;
        0.5 * (v.length_squared() / b.inverse_mass + w.dot(b.inverse_inertia.inverse() * w))
    };
    bodies.iter().map(of).sum()
}

fn run(
    law: &mut Impact,
    bodies: &mut [PoolBody],
    contacts: &[PoolContact],
    e: f64,
    joints: &mut ImpactJoints,
) -> ImpactReport {
    joints.finish(bodies);
    law.run_with(bodies, contacts, &vec![bounce(e); contacts.len()], joints).unwrap()
}

#[test]
fn a_rod_hit_at_its_centre_of_percussion_does_not_pull_at_its_hinge() {
    let length = 1.2;
    for (at, e) in [(2.0 / 3.0, 0.0), (2.0 / 3.0, 1.0), (0.4, 0.5), (1.0, 1.0), (0.9, 0.0)] {
        // A rod from the origin along x, and a small ball that comes down on it.
        let mut bodies = [rod(2.0, length, DVec3::X * 0.5 * length), rod(0.5, 0.1, DVec3::X * at * length)];
        bodies[1].velocity.linear = -DVec3::Z * 3.0;
        let before = energy(&bodies);
        let mut joints = ImpactJoints::default();
        joints.clear(2);
        ball(&mut joints, &bodies, [GROUND, 0], DVec3::ZERO);
        let (mut law, touch) = (Impact::default(), contact([1, 0], DVec3::X * at * length, DVec3::Z, 0.4));
        let report = run(&mut law, &mut bodies, &[touch], e, &mut joints);
        // Angular momentum about the hinge: (m l²/3) ω = −p a, and Newton's law at the point that is hit.
        let (a, inertia) = (at * length, 2.0 * length * length / 3.0);
        let p = (1.0 + e) * 3.0 / (1.0 / 0.5 + a * a / inertia);
        assert_close!(law.impulses()[0].z, p, rel = 1e-12);
        assert_close!(bodies[0].velocity.angular.y, p * a / inertia, rel = 1e-12);
        // The hinge takes what the rod's centre does not: p (3 a/(2 l) − 1), upwards on the rod.
        let hinge = law.held_impulses()[2];
        assert_close!(hinge, -p * (1.5 * at - 1.0), abs = 1e-13);
        if (at - 2.0 / 3.0_f64).abs() < 1e-12 {
            assert!(hinge.abs() < 1e-14, "{hinge}");
        }
        assert_close!(report.work, energy(&bodies) - before, abs = 1e-12);
        assert!(bodies[0].velocity_at(DVec3::ZERO).length() < 1e-14);
    }
}

#[test]
fn a_double_pendulum_that_is_struck_moves_as_lagrange_says() {
    // Two rods hang in line and at a bend; a wall is hit by the tip with rates (q1, q2), both from the downward direction.
    for (bend, e) in [(0.0, 1.0), (0.0, 0.0), (0.7, 0.5), (-1.1, 1.0)] {
        let (m, l) = (1.5, 0.8);
        let along = |q: f64| DVec3::new(sim_math::ops::sin(q), 0.0, -sim_math::ops::cos(q));
        let turn = |q: f64| DMat3::from_rotation_y(-(q - std::f64::consts::FRAC_PI_2));
        let (q, rates) = ([0.3, 0.3 + bend], [0.9, 1.7]);
        let elbow = along(q[0]) * l;
        let mut bodies = [rod(m, l, elbow * 0.5), rod(m, l, elbow + along(q[1]) * l * 0.5)];
        let spin = |rate: f64| -DVec3::Y * rate;
        let tip = elbow + along(q[1]) * l;
        for k in 0..2 {
            let r = turn(q[k]);
            bodies[k].inverse_inertia = r * bodies[k].inverse_inertia * r.transpose();
            bodies[k].velocity.angular = spin(rates[k]);
        }
        bodies[0].velocity.linear = spin(rates[0]).cross(bodies[0].center);
        let at_elbow = spin(rates[0]).cross(elbow);
        bodies[1].velocity.linear = at_elbow + spin(rates[1]).cross(bodies[1].center - elbow);
        let before = energy(&bodies);
        let mut joints = ImpactJoints::default();
        joints.clear(2);
        ball(&mut joints, &bodies, [GROUND, 0], DVec3::ZERO);
        ball(&mut joints, &bodies, [0, 1], elbow);
        let (mut law, wall) = (Impact::default(), contact([1, GROUND], tip, -DVec3::X, 0.0));
        let report = run(&mut law, &mut bodies, &[wall], e, &mut joints);
        // M(q) q̈ of two rods; the tip's speed is Σ l cos(q_k) q̇_k.
        let cos = sim_math::ops::cos(q[1] - q[0]);
        let (a, b, c) = (m * l * l * 4.0 / 3.0, 0.5 * m * l * l * cos, m * l * l / 3.0);
        let g = [l * sim_math::ops::cos(q[0]), l * sim_math::ops::cos(q[1])];
        let det = a * c - b * b;
        let answer = [(c * g[0] - b * g[1]) / det, (a * g[1] - b * g[0]) / det];
        let (speed, ease) = (g[0] * rates[0] + g[1] * rates[1], g[0] * answer[0] + g[1] * answer[1]);
        let p = (1.0 + e) * speed / ease;
        assert_close!(law.impulses()[0].z, p, rel = 1e-11);
        for k in 0..2 {
            let expected = rates[k] - answer[k] * p;
            assert_close!(-bodies[k].velocity.angular.y, expected, abs = 1e-11);
        }
        assert_close!(energy(&bodies) - before, report.work, abs = 1e-11);
        assert!(report.work <= 1e-12 && (e < 1.0 || report.work > -1e-11), "{}", report.work);
    }
}

#[test]
fn balls_on_strings_exchange_exactly() {
    let mut random = SplitMix64(5);
    for count in [2, 5, 20] {
        for pulled in 1..count.min(4) {
            let at = |k: usize| DVec3::X * (0.2 * k as f64);
            let mut bodies: Vec<_> = (0..count).map(|k| rod(1.3, 0.3, at(k))).collect();
            let speed = random.range(0.5, 2.0);
            bodies[..pulled].iter_mut().for_each(|b| b.velocity.linear = DVec3::X * speed);
            let mut joints = ImpactJoints::default();
            joints.clear(count);
            for k in 0..count as u32 {
                // A string, straight up.
                let side = HeldSide { body: k, moment: DVec3::ZERO, force: DVec3::Z };
                joints.held.rows.add([side].into_iter());
            }
            let touch = |k: usize| contact([k as u32 + 1, k as u32], at(k) + DVec3::X * 0.1, DVec3::X, 0.0);
            let contacts: Vec<_> = (0..count - 1).map(touch).collect();
            run(&mut Impact::default(), &mut bodies, &contacts, 1.0, &mut joints);
            for (k, body) in bodies.iter().enumerate() {
                let expected = if k + pulled >= count { speed } else { 0.0 };
                assert_close!(body.velocity.linear.x, expected, abs = 1e-12);
            }
        }
    }
}

#[test]
fn limits_bounce_and_pass_on_blows() {
    for e in [0.0, 0.3, 1.0] {
        // A door that swings into its stop.
        let mut bodies = [rod(2.0, 1.0, DVec3::X * 0.5)];
        bodies[0].velocity = Motion::new(-DVec3::Z * 2.0, -DVec3::Y);
        let mut joints = ImpactJoints::default();
        joints.clear(1);
        ball(&mut joints, &bodies, [GROUND, 0], DVec3::ZERO);
        let side = HeldSide { body: 0, moment: DVec3::Z, force: DVec3::ZERO };
        joints.limit([side].into_iter(), bounce(e));
        let mut law = Impact::default();
        run(&mut law, &mut bodies, &[], 0.0, &mut joints);
        assert_close!(bodies[0].velocity.angular.z, 2.0 * e, abs = 1e-13);
        assert_close!(law.limit_impulses()[0], 2.0 * (1.0 + e) * 2.0 / 3.0, abs = 1e-12);
        // At rest at its stop, hit from outside: nothing gives way, and the ball bounces back.
        let mut bodies = [rod(2.0, 1.0, DVec3::X * 0.5), rod(0.5, 0.1, DVec3::X * 0.8)];
        bodies[1].velocity.linear = -DVec3::Y * 3.0;
        joints.clear(2);
        ball(&mut joints, &bodies, [GROUND, 0], DVec3::ZERO);
        joints.limit([side].into_iter(), bounce(e));
        let touch = contact([1, 0], DVec3::X * 0.8, DVec3::Y, 0.0);
        run(&mut law, &mut bodies, &[touch], e, &mut joints);
        assert_close!(bodies[0].velocity.angular.z, 0.0, abs = 1e-12);
        assert_close!(bodies[1].velocity.linear.y, 3.0 * e, abs = 1e-12);
    }
}

#[test]
fn any_mechanism_keeps_momentum_energy_and_joints() {
    let mut random = SplitMix64(11);
    for case in 0..150 {
        let count = 2 + random.below(8);
        let mut bodies: Vec<_> = (0..count)
            .map(|_| rod(random.range(0.1, 3.0), random.range(0.2, 2.0), random.vec3(1.0)))
            .collect();
        let mut joints = ImpactJoints::default();
        joints.clear(count);
        let mut links = Vec::new();
        for k in 1..count {
            links.push((random.below(k) as u32, k as u32, random.vec3(1.0)));
        }
        if case % 3 == 0 && count > 4 {
            // A loop.
            links.push((0, count as u32 - 1, random.vec3(1.0)));
        }
        links.iter().for_each(|(a, b, x)| ball(&mut joints, &bodies, [*a, *b], *x));
        // Velocities that joints admit.
        bodies.iter_mut().for_each(|b| b.velocity = Motion::new(random.vec3(1.0), random.vec3(1.0)));
        joints.finish(&bodies);
        let mut x: Vec<f64> =
            (0..joints.held.len()).map(|k| -joints.held.rows.velocity(k, &bodies)).collect();
        joints.held.solve(&mut x);
        x.iter().enumerate().for_each(|(row, p)| joints.held.rows.push(&mut bodies, row, *p));
        for row in 0..joints.held.len() {
            let u = joints.held.rows.velocity(row, &bodies);
            assert!(u.abs() < 1e-10, "case {case}, row {row}: {u} before");
        }
        let touches = 1 + random.below(3);
        let contacts: Vec<_> = (0..touches)
            .map(|_| {
                let a = random.below(count) as u32;
                let b = (a + 1 + random.below(count - 1) as u32) % count as u32;
                contact([a, b], random.vec3(1.0), random.unit_vec3(), random.range(0.0, 0.8))
            })
            .collect();
        let momentum = |bodies: &[PoolBody]| {
            let linear: DVec3 = bodies.iter().map(|b| b.velocity.linear / b.inverse_mass).sum();
            let turning = |b: &PoolBody| {
                b.center.cross(b.velocity.linear / b.inverse_mass)
                    + b.inverse_inertia.inverse() * b.velocity.angular
            };
            (linear, bodies.iter().map(turning).sum::<DVec3>())
        };
        let (first, start) = (energy(&bodies), momentum(&bodies));
        let mut law = Impact::default();
        let report = run(&mut law, &mut bodies, &contacts, random.range(0.0, 1.0), &mut joints);
        let (last, end) = (energy(&bodies), momentum(&bodies));
        assert!(last <= first * (1.0 + 1e-10), "case {case}: {first} became {last}");
        assert_close!(last - first, report.work, abs = 1e-9 * first);
        assert!((start.0 - end.0).length() < 1e-10 && (start.1 - end.1).length() < 1e-10, "case {case}");
        for row in 0..joints.held.len() {
            let u = joints.held.rows.velocity(row, &bodies);
            assert!(u.abs() < 1e-9, "case {case}, row {row}: {u}");
        }
        if !report.cut_off {
            for touch in &contacts {
                let approach = -constraint_dynamics::pool::velocity_of(&bodies, touch).z;
                assert!(approach < 1e-9, "case {case}: {approach} m/s left");
            }
        }
    }
}
