//! One law for all contacts that hit at one time: closed forms, and what holds for any impact.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    ConeGaussSeidel, Delassus, PoolBody, PoolContact, pool,
    restitution::{Bounce, Impact, ImpactReport, work},
};
use sim_math::{
    assert_close,
    glam::{DMat3, DQuat, DVec3},
    rotation::frame_from_normal,
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_traits::RowSolver;

/// A ball of uniform density.
fn ball(mass: f64, radius: f64, center: DVec3, velocity: DVec3) -> PoolBody {
    let inertia = 0.4 * mass * radius * radius;
    PoolBody {
        center,
        inverse_mass: 1.0 / mass,
        inverse_inertia: DMat3::IDENTITY * (1.0 / inertia),
        velocity: Motion::new(DVec3::ZERO, velocity),
    }
}

/// A box of uniform density with half sizes `half`.
fn cuboid(mass: f64, half: DVec3, center: DVec3, turn: DQuat) -> PoolBody {
    let s = half * half;
    let inertia = DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (mass / 3.0);
    let r = DMat3::from_quat(turn);
    PoolBody {
        center,
        inverse_mass: 1.0 / mass,
        inverse_inertia: r * DMat3::from_diagonal(inertia.recip()) * r.transpose(),
        velocity: Motion::ZERO,
    }
}

/// A body that no impulse moves.
fn scripted(center: DVec3, velocity: Motion) -> PoolBody {
    PoolBody { center, inverse_mass: 0.0, inverse_inertia: DMat3::ZERO, velocity }
}

fn contact(a: usize, b: usize, point: DVec3, normal: DVec3, friction: f64) -> PoolContact {
    let frame = frame_from_normal(normal).unwrap();
    PoolContact { bodies: [a as u32, b as u32], point, frame, friction, bias: DVec3::ZERO }
}

const fn bounce(restitution: f64) -> Bounce {
    Bounce { restitution, rest: 0.0 }
}

fn energy(bodies: &[PoolBody]) -> f64 {
    bodies
        .iter()
        .filter(|b| b.is_movable())
        .map(|b| {
            let Motion { angular: w, linear: v } = b.velocity;
            0.5 * (v.length_squared() / b.inverse_mass + w.dot(b.inverse_inertia.inverse() * w))
        })
        .sum()
}

fn run(bodies: &mut [PoolBody], contacts: &[PoolContact], e: f64) -> ImpactReport {
    Impact::default().run(bodies, contacts, &vec![bounce(e); contacts.len()]).unwrap()
}

/// Balls in a row that touch, with velocities along it.
fn row(masses: &[f64], speeds: &[f64]) -> (Vec<PoolBody>, Vec<PoolContact>) {
    let at = |k: usize| DVec3::X * (0.2 * k as f64);
    let bodies = (0..speeds.len()).map(|k| ball(masses[k], 0.1, at(k), DVec3::X * speeds[k])).collect();
    let touch = |k: usize| contact(k + 1, k, at(k) + DVec3::X * 0.1, DVec3::X, 0.3);
    (bodies, (0..speeds.len() - 1).map(touch).collect())
}

fn speeds(bodies: &[PoolBody]) -> Vec<f64> {
    bodies.iter().map(|b| b.velocity.linear.x).collect()
}

#[test]
fn a_single_ball_bounces_as_newton_says() {
    for (e, slip, mu) in
        [(0.0, 0.0, 0.5), (0.5, 0.0, 0.5), (1.0, 0.0, 0.0), (0.6, 10.0, 0.1), (0.6, 0.1, 0.9)]
    {
        let mut bodies = [ball(2.0, 0.1, DVec3::Z * 0.1, DVec3::new(slip, 0.0, -3.0))];
        let before = energy(&bodies);
        let report = run(&mut bodies, &[contact(0, 9, DVec3::ZERO, DVec3::Z, mu)], e);
        let v = bodies[0].velocity.linear;
        assert_close!(v.z, 3.0 * e, abs = 1e-14);
        // It slides on with the friction of the whole impulse, or rolls.
        let expected = (slip - mu * (1.0 + e) * 3.0).max(5.0 / 7.0 * slip);
        assert_close!(v.x, expected, abs = 1e-13);
        assert_close!(report.work, energy(&bodies) - before, abs = 1e-12);
        assert_close!(report.kept, 1.0, abs = 1e-12);
    }
}

#[test]
fn a_touching_cradle_exchanges_exactly_whoever_comes_in() {
    let mut random = SplitMix64(81);
    for k in 0..400 {
        let n = 2 + random.below(if k % 20 == 0 { 60 } else { 9 });
        let (left, right) = (random.below(n), random.below(n));
        let (fast, slow) = (random.range(0.1, 3.0), random.range(-2.0, 0.0));
        let before: Vec<f64> = (0..n)
            .map(|i| match k % 4 {
                0 if i < left => 1.0,
                1 if i < left => fast,
                1 if i >= n - right => slow,
                2 => random.range(-1.0, 1.0),
                3 => [0.0, 1.0, -1.0, 2.0][random.below(4)],
                _ => 0.0,
            })
            .collect();
        let (mut bodies, contacts) = row(&vec![1.3; n], &before);
        let report = run(&mut bodies, &contacts, 1.0);
        // Equal balls that exchange velocities end in the order of these.
        let mut expected = before.clone();
        expected.sort_by(f64::total_cmp);
        for (v, w) in speeds(&bodies).iter().zip(&expected) {
            assert!((v - w).abs() < 1e-12, "{before:?}: {:?}", speeds(&bodies));
        }
        assert!(!report.cut_off, "{before:?}: {report:?}");
        let (was, is): (f64, f64) = (before.iter().sum(), speeds(&bodies).iter().sum());
        assert!((was - is).abs() <= 1e-13 * before.iter().map(|v| v.abs()).sum::<f64>(), "{was} {is}");
    }
}

#[test]
fn the_last_ball_of_a_chain_has_its_share() {
    for e in [0.5, 0.7, 0.9] {
        for n in 2..8 {
            let mut first = vec![0.0; n];
            first[0] = 1.0;
            let (mut bodies, contacts) = row(&vec![1.0; n], &first);
            run(&mut bodies, &contacts, e);
            let expected = (1..n).fold(1.0, |v, _| 0.5 * (1.0 + e) * v);
            assert_close!(speeds(&bodies)[n - 1], expected, abs = 1e-12);
        }
    }
}

#[test]
fn a_chain_without_restitution_goes_on_together() {
    for n in [2, 5, 30] {
        let mut first = vec![0.0; n];
        first[0] = 1.0;
        let (mut bodies, contacts) = row(&vec![1.0; n], &first);
        let report = run(&mut bodies, &contacts, 0.0);
        for v in speeds(&bodies) {
            assert_close!(v, 1.0 / n as f64, abs = 1e-11);
        }
        assert!(!report.cut_off, "{report:?}");
    }
}

#[test]
fn a_box_that_lands_flat_bounces_flat() {
    let mut random = SplitMix64(82);
    for k in 0..300 {
        let size = [0.01, 1.0, 10.0][k % 3];
        let half = DVec3::new(random.range(0.1, 1.0), random.range(0.1, 1.0), random.range(0.05, 1.0)) * size;
        let turn = DQuat::from_rotation_z(random.range(0.0, 6.3));
        let (e, mu) = (random.range(0.0, 1.0), [0.0, 0.7][k % 2]);
        let mut bodies = [cuboid(2.0, half, DVec3::Z * half.z, turn)];
        bodies[0].velocity.linear = DVec3::Z * -3.0;
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)];
        let floor: Vec<_> = corners
            .iter()
            .map(|(x, y)| contact(0, 9, turn * DVec3::new(x * half.x, y * half.y, 0.0), DVec3::Z, mu))
            .collect();
        run(&mut bodies, &floor, e);
        let Motion { angular, linear } = bodies[0].velocity;
        assert!(angular.length() < 1e-9, "{half}, e = {e}: {angular}");
        assert!((linear - DVec3::Z * (3.0 * e)).length() < 1e-11, "{half}, e = {e}: {linear}");
    }
}

#[test]
fn a_plate_on_four_balls_stays_level() {
    for (e, heavy, mu) in [(1.0, 1.0, 0.0), (0.5, 10.0, 0.5), (0.0, 0.2, 0.5), (1.0, 300.0, 0.3)] {
        let mut bodies = vec![cuboid(heavy, DVec3::new(0.5, 0.4, 0.05), DVec3::Z * 0.25, DQuat::IDENTITY)];
        bodies[0].velocity.linear = DVec3::Z * -2.0;
        let mut contacts = Vec::new();
        for (x, y) in [(0.3, 0.3), (0.3, -0.3), (-0.3, -0.3), (-0.3, 0.3)] {
            let at = DVec3::new(x, y, 0.1);
            bodies.push(ball(1.0, 0.1, at, DVec3::ZERO));
            let k = bodies.len() - 1;
            contacts.push(contact(0, k, at + DVec3::Z * 0.1, DVec3::Z, mu));
            contacts.push(contact(k, 99, at - DVec3::Z * 0.1, DVec3::Z, mu));
        }
        let before = energy(&bodies);
        run(&mut bodies, &contacts, e);
        assert!(bodies[0].velocity.angular.length() < 1e-11, "{heavy}: {:?}", bodies[0].velocity);
        for k in 2..5 {
            let off = bodies[k].velocity.linear - bodies[1].velocity.linear;
            assert!(off.length() < 1e-11, "{heavy}: {off}");
        }
        let kept = energy(&bodies) / before;
        assert!(kept <= 1.0 + 1e-12 && (e < 1.0 || mu > 0.0 || kept > 1.0 - 1e-10), "{heavy}: {kept}");
    }
}

#[test]
fn three_bodies_meet_symmetrically() {
    for (side, middle, e) in [(1.0, 1.0, 1.0), (5.0, 0.1, 1.0), (5.0, 0.1, 0.4), (0.1, 5.0, 0.7)] {
        let (mut bodies, contacts) = row(&[side, middle, side], &[1.0, 0.0, -1.0]);
        run(&mut bodies, &contacts, e);
        let v = speeds(&bodies);
        assert_close!(v[0], -e, abs = 1e-12);
        assert_close!(v[1], 0.0, abs = 1e-12);
        assert_close!(v[2], e, abs = 1e-12);
    }
    // A ball on two that lie side by side: both go off alike.
    let (a, b) = (DVec3::new(-0.1, 0.0, 0.0), DVec3::new(0.1, 0.0, 0.0));
    let c = DVec3::Z * (0.1 * 3.0_f64.sqrt());
    let mut bodies =
        [ball(1.0, 0.1, a, DVec3::ZERO), ball(1.0, 0.1, b, DVec3::ZERO), ball(1.0, 0.1, c, DVec3::Z * -1.0)];
    let contacts = [
        contact(2, 0, (a + c) * 0.5, (c - a).normalize(), 0.0),
        contact(1, 0, DVec3::ZERO, DVec3::X, 0.0),
        contact(2, 1, (b + c) * 0.5, (c - b).normalize(), 0.0),
    ];
    run(&mut bodies, &contacts, 1.0);
    let [u, v, w] = bodies.map(|b| b.velocity.linear);
    assert_close!(u.z, v.z, abs = 1e-14);
    assert_close!(u.x, -v.x, abs = 1e-14);
    assert_close!(w.x, 0.0, abs = 1e-14);
    // The textbook answer: −1/5 of the speed comes back, 2√3/5 goes on.
    assert_close!(w.z, 0.2, abs = 1e-12);
    assert_close!(v.length(), 2.0 * 3.0_f64.sqrt() / 5.0, abs = 1e-12);
}

/// Balls and boxes around each other, some held, some driven, with contacts anywhere on them.
fn crowd(random: &mut SplitMix64) -> (Vec<PoolBody>, Vec<PoolContact>, Vec<Bounce>) {
    let count = 2 + random.below(6);
    let mut bodies: Vec<PoolBody> = (0..count)
        .map(|k| {
            let at = random.vec3(1.0);
            let mut body = match random.below(5) {
                0 if k > 0 => scripted(at, Motion::ZERO),
                1 => ball(random.range(0.1, 5.0), 0.3, at, DVec3::ZERO),
                _ => {
                    let half =
                        DVec3::new(random.range(0.1, 0.5), random.range(0.1, 0.5), random.range(0.1, 0.5));
                    cuboid(random.range(0.1, 5.0), half, at, random.unit_quat())
                }
            };
            body.velocity = Motion::new(random.vec3(3.0), random.vec3(2.0));
            body
        })
        .collect();
    // One that holds still.
    bodies.push(scripted(DVec3::ZERO, Motion::ZERO));
    let mut contacts = Vec::new();
    for _ in 0..1 + random.below(9) {
        let (a, b) = (random.below(bodies.len()), random.below(bodies.len()));
        if a == b || !(bodies[a].is_movable() || bodies[b].is_movable()) {
            continue;
        }
        let way = bodies[a].center - bodies[b].center;
        let normal = (way.normalize_or(DVec3::Z) + random.vec3(0.5)).normalize_or(DVec3::X);
        let point = 0.5 * (bodies[a].center + bodies[b].center) + random.vec3(0.2);
        contacts.push(contact(a, b, point, normal, [0.0, 0.4, 1.2][random.below(3)]));
    }
    let same = random.below(3) > 0;
    let e = random.range(0.0, 1.0);
    let bounces =
        contacts.iter().map(|_| bounce(if same { e } else { [0.0, 0.5, 1.0][random.below(3)] })).collect();
    (bodies, contacts, bounces)
}

#[test]
fn any_impact_keeps_momentum_makes_no_energy_and_leaves_nothing_approaching() {
    let mut random = SplitMix64(83);
    let (mut limited, mut cut_off, mut struck) = (0, 0, 0);
    let mut law = Impact::default();
    for k in 0..3000 {
        let (before, contacts, bounces) = crowd(&mut random);
        let mut bodies = before.clone();
        let report = law.run(&mut bodies, &contacts, &bounces).unwrap();
        let size = before
            .iter()
            .map(|b| b.velocity.linear.length() + b.velocity.angular.length())
            .fold(1.0, f64::max);
        // No energy, if nobody is driven.
        let (was, is) = (energy(&before), energy(&bodies));
        let driven = before.iter().any(|b| !b.is_movable() && b.velocity != Motion::ZERO);
        assert!(driven || is <= was * (1.0 + 1e-12), "{k}: {was} to {is} J, {report:?}");
        assert!(report.work <= 1e-12 * (was + size * size), "{k}: {report:?}");
        for ((c, p), b) in contacts.iter().zip(law.impulses()).zip(&bounces) {
            let most = c.friction * p.z;
            assert!(
                p.z >= 0.0 && p.truncate().length() <= most + 1e-12 * p.length(),
                "{k}: {p} {}",
                c.friction
            );
            let left = -pool::velocity_of(&bodies, c).z;
            // Walls that close on a body: no impulse answers that.
            let closes = driven && report.residual > 1e-9 * size;
            assert!(closes || left <= 1e-6 * size, "{k}: {left} m/s left, {b:?}, {report:?}");
            struck += u32::from(p.z > 0.0);
        }
        // Free bodies change each other's momentum only.
        let exchanged = bodies.iter().zip(&before).filter(|(b, _)| b.is_movable()).fold(
            [DVec3::ZERO; 2],
            |[p, l], (b, a)| {
                let change = (b.velocity.linear - a.velocity.linear) / b.inverse_mass;
                let spin = b.inverse_inertia.inverse() * (b.velocity.angular - a.velocity.angular);
                [p + change, l + spin + b.center.cross(change)]
            },
        );
        let outside = contacts.iter().zip(law.impulses()).fold([DVec3::ZERO; 2], |[p, l], (c, q)| {
            let held = |k: u32| !bodies[k as usize].is_movable();
            let sign = f64::from(u8::from(held(c.bodies[1]))) - f64::from(u8::from(held(c.bodies[0])));
            let impulse = c.frame * *q * sign;
            [p + impulse, l + c.point.cross(impulse)]
        });
        let flow: f64 = law.impulses().iter().map(|p| p.length()).sum();
        for (x, y) in exchanged.iter().zip(&outside) {
            assert!((*x - *y).length() <= 1e-12 * (1.0 + flow), "{k}: {x} {y}");
        }
        limited += u32::from(report.kept < 1.0 - 1e-9);
        cut_off += u32::from(report.cut_off);
    }
    println!("{limited} limited, {cut_off} cut off, {struck} struck");
    assert!(limited > 3 && struck > 3000, "{limited} limited, {struck} struck");
}

#[test]
fn elastic_impacts_without_friction_keep_all_energy() {
    let mut random = SplitMix64(84);
    let mut cut_off = 0;
    for k in 0..1000 {
        let (mut bodies, mut contacts, _) = crowd(&mut random);
        bodies.iter_mut().filter(|b| !b.is_movable()).for_each(|b| b.velocity = Motion::ZERO);
        contacts.iter_mut().for_each(|c| c.friction = 0.0);
        let before = energy(&bodies);
        let report = run(&mut bodies, &contacts, 1.0);
        cut_off += u32::from(report.cut_off);
        assert!(report.cut_off || (energy(&bodies) / before - 1.0).abs() < 1e-11, "{k}: {report:?}");
    }
    assert!(cut_off < 10, "{cut_off} cut off");
}

#[test]
fn rounds_without_end_are_cut_off_and_leave_nothing_approaching() {
    // A light ball between two heavy ones collapses: each bounce is a share of the last.
    for (ratio, e) in [(1e3, 0.5), (1e4, 0.9), (1e3, 0.05)] {
        let (mut bodies, contacts) = row(&[ratio, 1.0, ratio], &[1.0, 0.0, -0.9]);
        let report = run(&mut bodies, &contacts, e);
        let v = speeds(&bodies);
        assert!(v[1] - v[0] > -1e-9 && v[2] - v[1] > -1e-9, "{v:?}, {report:?}");
        assert!(report.rounds < 100, "{report:?}");
        assert!(report.work < 0.0);
    }
    let (mut bodies, contacts) = row(&[1e4, 1.0, 1e4], &[1.0, 0.0, -0.9]);
    assert!(run(&mut bodies, &contacts, 0.9).cut_off);
}

#[test]
fn what_is_slower_than_its_rest_speed_is_left_alone() {
    let mut bodies =
        [ball(1.0, 0.1, DVec3::Z * 0.1, DVec3::Z * -0.5), ball(1.0, 0.1, DVec3::X, DVec3::Z * -0.5)];
    let floor = [contact(0, 9, DVec3::ZERO, DVec3::Z, 0.0), contact(1, 9, DVec3::X, DVec3::Z, 0.0)];
    let slow = |rest: f64| Bounce { restitution: 1.0, rest };
    Impact::default().run(&mut bodies, &floor, &[slow(0.6), slow(0.4)]).unwrap();
    assert_close!(bodies[0].velocity.linear.z, -0.5, abs = 0.0);
    assert_close!(bodies[1].velocity.linear.z, 0.5, abs = 1e-15);
}

#[test]
fn kane_and_levinson_gain_nothing() {
    // Newton's rule with friction makes energy where slip reverses; this law never does.
    let mut random = SplitMix64(22);
    let mut gains = 0;
    for _ in 0..4000 {
        let half = DVec3::new(random.range(0.1, 1.0), random.range(0.1, 1.0), random.range(0.1, 1.0));
        let mut bodies = [cuboid(1.0, half, DVec3::ZERO, random.unit_quat())];
        bodies[0].velocity = Motion::new(random.vec3(5.0), random.vec3(2.0));
        let contacts = [contact(0, 9, random.vec3(1.0), DVec3::Z, 1.0)];
        let mut newton = Delassus::default();
        pool::assemble(&bodies, &contacts, &mut pool::PoolWorkspace::default(), &mut newton);
        if newton.velocity[0].z >= 0.0 {
            continue;
        }
        let mut biased = newton.clone();
        biased.velocity[0].z *= 2.0;
        let mut p = [DVec3::ZERO];
        ConeGaussSeidel::default().solve(&biased.problem().unwrap(), &mut p).unwrap();
        gains += u32::from(work(&newton.problem().unwrap(), &p) > 1e-6);
        let before = energy(&bodies);
        let report = run(&mut bodies, &contacts, 1.0);
        assert!(report.work <= 1e-12 && energy(&bodies) <= before * (1.0 + 1e-13), "{report:?}");
    }
    assert!(gains > 10, "Newton's rule alone made energy {gains} times");
}

#[test]
fn lists_of_different_lengths_are_an_error() {
    let mut bodies = [ball(1.0, 0.1, DVec3::ZERO, DVec3::ZERO)];
    let contacts = [contact(0, 9, DVec3::ZERO, DVec3::Z, 0.0)];
    let error = Impact::default().run(&mut bodies, &contacts, &[]).unwrap_err();
    assert!(error.to_string().contains("restitution"), "{error}");
}
