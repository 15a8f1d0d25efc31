//! Soft contacts and energy: impacts, rocking, tops, spin, and an account that closes. `TUMBLESTONE_SOAK` runs longer.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use collision_narrowphase::shapes::Ellipsoid;
use rigid_impulse::BodyKind;
use sim_math::{
    Pose, assert_close,
    glam::{DMat3, DQuat, DVec3},
    ops::{atan2, cos},
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_steppers::TimeStepping;
use sim_traits::{BodyId, Capsule, Cuboid, Cylinder, Shape, Sphere};
use sim_world::{Body, EnergyAccount, Stepper, World};
use timed::{G, brick, cone, earth, energy, soft};

fn seconds(short: f64) -> f64 {
    if std::env::var_os("TUMBLESTONE_SOAK").is_some() { 60.0 } else { short }
}

#[test]
fn nothing_that_rocks_spins_or_bounces_gains_energy() {
    let shapes: [(Shape, f64); 6] = [
        (Cuboid::new(DVec3::new(0.2, 0.1, 0.05)).unwrap().into(), 0.25),
        (Cuboid::new(DVec3::splat(0.1)).unwrap().into(), 0.2),
        (Ellipsoid::new(DVec3::new(0.2, 0.15, 0.1)).unwrap().into(), 0.22),
        (Cylinder::new(0.1, 0.01).unwrap().into(), 0.13),
        (Capsule::new(0.05, 0.1).unwrap().into(), 0.17),
        (Sphere::new(0.1).unwrap().into(), 0.15),
    ];
    let mut random = SplitMix64(5);
    for (shape, height) in shapes {
        for (k, (e, mu)) in
            [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (1.0, 0.0), (1.0, 0.5)].into_iter().enumerate()
        {
            let mut world = earth(mu, e);
            let body = Body::free().shape(shape.clone()).friction(mu).restitution(e).at([0.0, 0.0, height]);
            let spin = random.vec3(if k % 2 == 0 { 3.0 } else { 20.0 });
            let body = body.turned(random.unit_quat()).spinning(spin).moving([0.5, 0.0, 0.0]);
            world.add(body).unwrap();
            let (start, mut stepper, mut account) = (energy(&world), soft(|_| {}), EnergyAccount::default());
            for _ in 0..(60.0 * seconds(5.0)) as u32 {
                account = account.then(&stepper.advance(&mut world, 1.0 / 60.0).unwrap().energy);
                let gain = energy(&world) / start - 1.0;
                assert!(gain < 1e-9, "{shape:?}, e {e}, friction {mu}: {gain}");
            }
            // A rod that rolls about on ice changes its contacts by more than a step can follow.
            let bar = if matches!(shape, Shape::Capsule(_)) && mu == 0.0 { 0.1 } else { 1e-3 };
            let rest = account.remainder().abs() / account.flowed;
            assert!(rest < bar, "{shape:?}, e {e}, friction {mu}: remainder {rest}, {account:?}");
        }
    }
}

#[test]
fn a_box_dropped_flat_bounces_flat() {
    for (e, size) in [(0.0, 0.1), (0.5, 0.01), (0.5, 1.0), (0.8, 0.1), (1.0, 0.1)] {
        for yaw in [0.0, 0.4, 1.1] {
            let half = DVec3::new(0.5, 0.3, 0.2) * size;
            let mut world = earth(0.5, e);
            let body = brick(half.x, half.y, half.z, 0.5).restitution(e).at([0.0, 0.0, half.z + 2.0 * size]);
            let id = world.add(body.turned(DQuat::from_rotation_z(yaw))).unwrap();
            let mut stepper = soft(|_| {});
            let (mut apex, mut spin) = (0.0_f64, 0.0_f64);
            for _ in 0..120 {
                stepper.advance(&mut world, 1.0 / 60.0).unwrap();
                let v = world[id].velocity();
                spin = spin.max(v.angular.length());
                if v.linear.z > 0.0 {
                    let height = world[id].position().z - half.z + 0.5 * v.linear.z * v.linear.z / G;
                    apex = apex.max(height / (2.0 * size));
                }
            }
            assert!(spin < 1e-5, "e {e}, {size} m, yaw {yaw}: {spin} rad/s");
            assert_close!(apex, e * e, abs = 1e-3);
        }
    }
}

#[test]
fn an_elastic_crowd_keeps_its_energy() {
    for gravity in [0.0, G] {
        for boxes in [false, true] {
            let mut random = SplitMix64(6);
            let mut world = World::new(DVec3::NEG_Z * gravity).unwrap();
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                for side in [-1.5, 1.5] {
                    let wall = Cuboid::new(DVec3::splat(2.0) - axis * 1.5).unwrap();
                    world
                        .add(Body::fixed().shape(wall).at(axis * side).friction(0.0).restitution(1.0))
                        .unwrap();
                }
            }
            for k in 0..64 {
                let at =
                    DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)) - DVec3::splat(1.5);
                let shape: Shape = match boxes && k % 2 == 0 {
                    true => Cuboid::new(DVec3::new(0.1, 0.07, 0.12)).unwrap().into(),
                    false => Sphere::new(0.1).unwrap().into(),
                };
                let body = Body::free().shape(shape).friction(0.0).restitution(1.0).at(at * 0.45);
                let body =
                    body.turned(random.unit_quat()).moving(random.vec3(1.0)).spinning(random.vec3(2.0));
                world.add(body).unwrap();
            }
            let (start, moving, mut stepper) = (energy(&world), world.kinetic_energy(), soft(|_| {}));
            for _ in 0..(60.0 * seconds(5.0)) as u32 {
                stepper.advance(&mut world, 1.0 / 60.0).unwrap();
                let gain = (energy(&world) - start) / moving;
                assert!(gain < 1e-9, "{gain}");
            }
            let lost = (start - energy(&world)) / moving;
            // Balls in free flight lose nothing at all.
            assert!(boxes || gravity > 0.0 || lost < 1e-9, "{lost}");
        }
    }
}

/// A disc on a pin with a round tip of this radius (m), in steady precession at first.
const TIP: f64 = 0.01;

/// Its rate as measured over two seconds, rad/s, and what the equations of rolling say.
fn precession(mut stepper: TimeStepping, [length, spin, tilt]: [f64; 3]) -> [f64; 2] {
    let mut world = earth(1.0, 0.0);
    let turn = DQuat::from_rotation_y(tilt);
    let (axis, tip) = (turn * DVec3::Z, DVec3::new(0.0, 0.0, TIP));
    let disc = Cylinder::new(0.06, 0.01).unwrap();
    let body = Body::free().shape_at(disc, Pose::from_translation(DVec3::Z * length));
    let body = body.shape(Sphere::new(tip.z).unwrap()).friction(1.0).at(tip).turned(turn);
    let id: BodyId = world.add(body).unwrap();
    let BodyKind::Free(mass) = *world[id].kind() else { unreachable!() };
    let (center, moments) = (world[id].center(), mass.moments());
    let arm = (center - tip).dot(axis);
    let (along, across) = (moments.max_element(), moments.min_element() + mass.mass() * arm * arm);
    // I₃ ω Ω − (I₁ − I₃) Ω² cos θ = m g l
    let (a, b, c) = ((across - along) * cos(tilt), -along * spin, mass.mass() * G * arm);
    let rate = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
    let turning = axis * spin + (DVec3::Z - axis * axis.z) * rate;
    world.set_velocity(id, Motion::new(turning, turning.cross(center))).unwrap();
    let (mut last, mut sum) = (0.0, 0.0);
    for _ in 0..120 {
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        sum += turned(world[id].user_pose().rotation * DVec3::Z, &mut last);
    }
    [sum / 2.0, rolled([axis, turning], arm, mass.mass(), [moments.min_element(), along])]
}

/// By how much the heading of an axis has changed, rad.
fn turned(axis: DVec3, last: &mut f64) -> f64 {
    let heading = atan2(axis.y, axis.x);
    let turned = heading - std::mem::replace(last, heading);
    turned - std::f64::consts::TAU * (turned / std::f64::consts::TAU).round()
}

/// The rate of a top that rolls on its tip over two seconds, by Runge-Kutta: the force F of the floor on the tip is that which keeps its lowest point at rest.
/// m a = F − m g ẑ,   (Iω)˙ = r × F,   a + ω̇ × r + ω × ṙ = 0
fn rolled(start: [DVec3; 2], arm: f64, m: f64, [across, along]: [f64; 2]) -> f64 {
    let rates = |[axis, omega]: [DVec3; 2]| {
        let inverse = |x: DVec3| x / across + axis * ((1.0 / along - 1.0 / across) * axis.dot(x));
        let spin = omega * across + axis * ((along - across) * axis.dot(omega));
        let (free, r) = (-omega.cross(spin), -axis * arm - DVec3::Z * TIP);
        let column = |e: DVec3| e / m + inverse(r.cross(e)).cross(r);
        let k = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        let still = inverse(free).cross(r) + omega.cross(omega.cross(-axis * arm));
        let force = k.inverse() * (DVec3::Z * G - still);
        [omega.cross(axis), inverse(r.cross(force) + free)]
    };
    let plus = |[a, b]: [DVec3; 2], [c, d]: [DVec3; 2], h: f64| [a + c * h, b + d * h];
    let (steps, mut state, mut last, mut sum) = (19_200, start, 0.0, 0.0);
    let h = 2.0 / f64::from(steps);
    for _ in 0..steps {
        let k1 = rates(state);
        let k2 = rates(plus(state, k1, 0.5 * h));
        let k3 = rates(plus(state, k2, 0.5 * h));
        let k4 = rates(plus(state, k3, h));
        state = plus(plus(plus(plus(state, k1, h / 6.0), k2, h / 3.0), k3, h / 3.0), k4, h / 6.0);
        sum += turned(state[0], &mut last);
    }
    sum / 2.0
}

#[test]
fn a_top_precesses() {
    for top in [[0.1, 200.0, 0.3], [0.05, 150.0, 0.5], [0.05, 80.0, 0.2]] {
        let [found, expected] = precession(soft(|_| {}), top);
        assert_close!(found, expected, rel = 0.01);
        // The error of exact steps goes with their length.
        for dt in [1.0 / 1200.0, 1.0 / 9600.0] {
            let [found, expected] = precession(cone(|p| p.dt = dt), top);
            assert_close!(found, expected, rel = 5e-3);
        }
    }
}

/// What Coulomb's law at the four corners makes of a plate that slides and spins, by small steps: velocity and spin.
fn rubbed(half: DVec3, mu: f64, mut v: DVec3, mut spin: f64, seconds: f64) -> (DVec3, f64) {
    let (steps, radius) = (20_000, (half.x * half.x + half.y * half.y) / 3.0);
    let (h, mut angle) = (seconds / f64::from(steps), 0.0);
    for _ in 0..steps {
        let (mut force, mut torque) = (DVec3::ZERO, 0.0);
        for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let arm = DQuat::from_rotation_z(angle) * DVec3::new(x * half.x, y * half.y, 0.0);
            let push = -(v + DVec3::Z.cross(arm) * spin).normalize_or_zero() * (0.25 * mu * G);
            force += push;
            torque += arm.cross(push).z;
        }
        v += force * h;
        spin += torque / radius * h;
        angle += spin * h;
    }
    (v, spin)
}

#[test]
fn friction_and_spin_are_one() {
    for half in [DVec3::new(0.5, 0.5, 0.02), DVec3::new(0.5, 0.25, 0.02)] {
        for (speed, spin) in [(0.0, 10.0), (2.0, 0.0), (2.0, 4.0), (1.0, 8.0), (3.0, 2.0)] {
            let mut world = earth(0.3, 0.0);
            let body = brick(half.x, half.y, half.z, 0.3).at([0.0, 0.0, half.z]);
            let id = world.add(body.moving([speed, 0.0, 0.0]).spinning([0.0, 0.0, spin])).unwrap();
            soft(|_| {}).advance(&mut world, 0.25).unwrap();
            let (v, w) = rubbed(half, 0.3, DVec3::X * speed, spin, 0.25);
            let found = world[id].velocity();
            assert!(
                (found.linear - v).length() < 0.01 * speed.max(1.0),
                "{half} {speed} {spin}: {found:?}, {v}"
            );
            assert!(
                (found.angular.z - w).abs() < 0.01 * spin.max(2.0),
                "{half} {speed} {spin}: {found:?}, {w}"
            );
        }
    }
}
