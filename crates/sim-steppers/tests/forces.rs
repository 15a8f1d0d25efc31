//! Forces that depend on the state: closed forms, conservation, contact.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "helpers of tests; exact numbers on purpose")]

mod common;

use common::{G, ball, cuboid, earth, energy, smallest_separation, stepper, stepper_with};
use rigid_impulse::{BodyModel, BodyState};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
    spatial::{Force, Motion},
    testkit::SplitMix64,
};
use sim_traits::{BodyId, HalfSpace};
use sim_world::{Anchor, Body, Field, ForceField, ForceGenerator, Screw, Stepper, World, WorldError};
use std::sync::Arc;

fn spring(a: Anchor, b: Anchor, stiffness: f64, damping: f64, rest_length: f64) -> ForceGenerator {
    ForceGenerator::Spring { a, b, stiffness, damping, rest_length }
}

/// At the centre of mass, for bodies of one shape.
fn middle(id: BodyId) -> Anchor {
    Anchor::Body(id, DVec3::ZERO)
}

/// x of m ẍ = −k x − c ẋ from rest at x₀.
fn oscillator(m: f64, k: f64, c: f64, x0: f64, t: f64) -> f64 {
    let (decay, square) = (0.5 * c / m, k / m - 0.25 * c * c / (m * m));
    if square > 0.0 {
        let w = square.sqrt();
        let (sin, cos) = ops::sin_cos(w * t);
        x0 * ops::exp(-decay * t) * (cos + decay / w * sin)
    } else {
        let w = (-square).sqrt();
        x0 * ops::exp(-decay * t) * (ops::cosh(w * t) + decay / w * ops::sinh(w * t))
    }
}

// proves: DYN-45, DYN-46
#[test]
fn a_damped_spring_follows_its_closed_form_below_and_above_critical_damping() {
    let (m, k, x0) = (2.0, 50.0, 0.3);
    for c in [0.0, 1.0, 8.0, 40.0] {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let id = world.add(ball(0.05).mass(m).at([1.0 + x0, 0.0, 0.0])).unwrap();
        world.add_force(spring(Anchor::World(DVec3::ZERO), middle(id), k, c, 1.0)).unwrap();
        let mut stepper = stepper();
        let mut worst = 0.0_f64;
        for _ in 0..400 {
            stepper.advance(&mut world, 0.0137).unwrap();
            let exact = oscillator(m, k, c, x0, world.time());
            worst = worst.max((world[id].position().x - 1.0 - exact).abs());
        }
        assert!(worst < 1e-9, "damping {c}: off by {worst:e}");
        if c == 1.0 {
            // Logarithmic decrement: one period further the amplitude is e^(-c T/2m) of what it was.
            let w = (k / m - 0.25 * c * c / (m * m)).sqrt();
            let period = std::f64::consts::TAU / w;
            let mut again = World::new(DVec3::ZERO).unwrap();
            let id = again.add(ball(0.05).mass(m).at([1.0 + x0, 0.0, 0.0])).unwrap();
            again.add_force(spring(Anchor::World(DVec3::ZERO), middle(id), k, c, 1.0)).unwrap();
            common::stepper().advance(&mut again, period).unwrap();
            let ratio = (again[id].position().x - 1.0) / x0;
            assert!((ops::ln(ratio) + 0.5 * c / m * period).abs() < 1e-9);
        }
    }
}

#[test]
fn two_bodies_on_a_spring_swing_about_a_centre_that_does_not_accelerate() {
    let (m1, m2, k, rest) = (1.0, 3.0, 40.0, 1.0);
    let mut world = World::new(DVec3::ZERO).unwrap();
    let drift = DVec3::new(0.2, 0.3, -0.1);
    let a = world.add(ball(0.1).mass(m1).moving(drift)).unwrap();
    let b = world.add(ball(0.1).mass(m2).at([1.4, 0.0, 0.0]).moving(drift)).unwrap();
    world.add_force(spring(middle(a), middle(b), k, 0.0, rest)).unwrap();
    stepper().prepare(&mut world).unwrap();
    assert_eq!((world.cluster_count(), world.cluster_members(0)), (1, &[a, b][..]));
    let (before, p, l) =
        (world.kinetic_energy() + 0.5 * k * 0.16, world.momentum(), world.angular_momentum());
    let reduced = m1 * m2 / (m1 + m2);
    let mut stepper = stepper();
    for _ in 0..100 {
        let report = stepper.advance(&mut world, 0.1).unwrap();
        let length = (world[b].position() - world[a].position()).length();
        let exact = rest + oscillator(reduced, k, 0.0, 0.4, world.time());
        assert!((length - exact).abs() < 1e-9, "{length} against {exact} at {}", world.time());
        assert!((world.momentum() - p).length() < 1e-13 * p.length(), "{}", world.momentum() - p);
        assert!((world.angular_momentum() - l).length() < 1e-11);
        let now = world.kinetic_energy() + 0.5 * k * (length - rest) * (length - rest);
        assert!((now / before - 1.0).abs() < 1e-10, "{now} against {before}");
        let e = &report.energy;
        assert!(e.remainder().abs() < 1e-11 * before, "{e:?}");
        assert!(report.momentum.remainder().linear.length() < 1e-13, "{:?}", report.momentum);
        assert!(report.momentum.remainder().angular.length() < 1e-11, "{:?}", report.momentum.remainder());
    }
}

// proves: CLI-79
// proves-part: FON-85
#[test]
fn gravity_drag_springs_muscles_and_motors_each_have_their_closed_form() {
    // Drag: v = v_end (1 − e^(−c t/m)), v_end = m g/c.
    let (m, c) = (2.0, 0.8);
    let mut world = World::new([0.0, 0.0, -G]).unwrap();
    let id = world.add(ball(0.1).mass(m).spinning([0.0, 3.0, 0.0])).unwrap();
    world.add_force(ForceGenerator::Drag { body: id, linear: c, angular: 0.01 }).unwrap();
    let moment = 0.4 * m * 0.01;
    let mut stepper = stepper();
    let mut total = sim_world::StepReport::default();
    for _ in 0..50 {
        total = total.then(&stepper.advance(&mut world, 0.5).unwrap());
        let t = world.time();
        let (limit, share) = (m * G / c, 1.0 - ops::exp(-c * t / m));
        assert!((world[id].velocity().linear.z + limit * share).abs() < 1e-10 * limit, "at {t}");
        assert!((world[id].position().z + limit * (t - share * m / c)).abs() < 1e-9 * limit * t);
        let spin = 3.0 * ops::exp(-0.01 / moment * t);
        assert!((world[id].velocity().angular.y - spin).abs() < 1e-10, "{}", world[id].velocity().angular);
    }
    assert!((world[id].velocity().linear.z + m * G / c).abs() < 2e-3, "terminal velocity");
    let e = &total.energy;
    assert!(e.forces < -100.0 && e.remainder().abs() < 1e-10 * e.gravity, "{e:?}");

    // Muscle: two bodies pulled together by 6 N meet at constant relative acceleration.
    let mut world = World::new(DVec3::ZERO).unwrap();
    let a = world.add(ball(0.01).mass(1.0)).unwrap();
    let b = world.add(ball(0.01).mass(2.0).at([5.0, 0.0, 0.0])).unwrap();
    let muscle = ForceGenerator::Muscle { a: middle(a), b: middle(b), tension: 6.0, damping: 0.0 };
    world.add_force(muscle).unwrap();
    common::stepper().advance(&mut world, 0.9).unwrap();
    assert!((world[a].position().x - 0.5 * 6.0 * 0.81).abs() < 1e-11);
    assert!((world[b].position().x - (5.0 - 0.5 * 3.0 * 0.81)).abs() < 1e-11);

    // Motor: ω = rate gain/(gain + drag) in the end, exponentially; with a limit, at first ω = limit t/I.
    let mut world = World::new(DVec3::ZERO).unwrap();
    let wheel = world.add(ball(0.5).mass(10.0)).unwrap();
    let (inertia, gain, loss, rate) = (0.4 * 10.0 * 0.25, 2.0, 0.5, 8.0);
    let motor = |limit: f64| ForceGenerator::Servo { body: wheel, axis: DVec3::Y, rate, gain, limit };
    let id = world.add_force(motor(f64::INFINITY)).unwrap();
    world.add_force(ForceGenerator::Drag { body: wheel, linear: 0.0, angular: loss }).unwrap();
    let mut stepper = common::stepper();
    stepper.advance(&mut world, 0.7).unwrap();
    let exact = rate * gain / (gain + loss) * (1.0 - ops::exp(-(gain + loss) / inertia * 0.7));
    assert!((world[wheel].velocity().angular - DVec3::Y * exact).length() < 1e-10);
    stepper.advance(&mut world, 20.0).unwrap();
    assert!((world[wheel].velocity().angular.y - 6.4).abs() < 1e-10, "steady state");
    world.set_velocity(wheel, Motion::ZERO).unwrap();
    world.set_force(id, motor(1.0)).unwrap();
    stepper.advance(&mut world, 0.01).unwrap();
    // Drag has hardly begun.
    let early = (1.0 - ops::exp(-loss / inertia * 0.01)) / loss;
    assert!((world[wheel].velocity().angular.y - early).abs() < 1e-11);
}

/// Classical Runge-Kutta with a small step, for a point on a spring under gravity.
fn reference_spring_pendulum(mut x: DVec3, mut v: DVec3, k: f64, m: f64, rest: f64, t: f64) -> DVec3 {
    let pull = |x: DVec3| DVec3::Z * -G - x.normalize() * (k / m * (x.length() - rest));
    let steps = 200_000;
    let h = t / f64::from(steps);
    for _ in 0..steps {
        let (k1, l1) = (v, pull(x));
        let (k2, l2) = (v + l1 * (0.5 * h), pull(x + k1 * (0.5 * h)));
        let (k3, l3) = (v + l2 * (0.5 * h), pull(x + k2 * (0.5 * h)));
        let (k4, l4) = (v + l3 * h, pull(x + k3 * h));
        x += (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0);
        v += (l1 + (l2 + l3) * 2.0 + l4) * (h / 6.0);
    }
    x
}

#[test]
fn a_spring_pendulum_agrees_with_a_fine_integration() {
    let (m, k, rest) = (1.5, 60.0, 1.0);
    let (start, push) = (DVec3::new(1.1, 0.2, -0.3), DVec3::new(0.0, 0.8, 0.0));
    let mut world = World::new([0.0, 0.0, -G]).unwrap();
    let id = world.add(ball(0.02).mass(m).at(start).moving(push)).unwrap();
    world.add_force(spring(Anchor::World(DVec3::ZERO), middle(id), k, 0.0, rest)).unwrap();
    let before = energy(&world);
    stepper().advance(&mut world, 5.0).unwrap();
    let exact = reference_spring_pendulum(start, push, k, m, rest, 5.0);
    assert!((world[id].position() - exact).length() < 1e-9, "{} against {exact}", world[id].position());
    let after = energy(&world);
    assert!((after - before).abs() < 1e-9, "{after} against {before}");
}

#[test]
fn a_constant_torque_spins_a_body_up_and_off_centre_springs_turn_it() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let id = world.add(Body::free().shape(cuboid(0.3, 0.2, 0.1)).mass(6.0)).unwrap();
    let torque = DVec3::new(0.0, 0.0, 0.5);
    world.add_force(ForceGenerator::Constant { body: id, force: DVec3::X, torque }).unwrap();
    stepper().advance(&mut world, 3.0).unwrap();
    let inertia = 6.0 / 3.0 * (0.09 + 0.04);
    assert!((world[id].velocity().angular - DVec3::Z * (0.5 / inertia * 3.0)).length() < 1e-11);
    assert!((world[id].position().x - 0.5 / 6.0 * 9.0).abs() < 1e-11);
    // A tumbling plate between springs at its corners: energy and the account.
    let mut world = World::new([0.0, 0.0, -G]).unwrap();
    let plate = Body::free().shape(cuboid(0.3, 0.2, 0.02)).mass(2.0).spinning([1.0, 3.0, 2.0]);
    let id = world.add(plate).unwrap();
    for (x, y) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
        let (corner, hook) = (DVec3::new(0.3 * x, 0.2 * y, 0.0), DVec3::new(0.6 * x, 0.4 * y, 0.8));
        let anchors = [Anchor::World(hook), Anchor::Body(id, corner)];
        world.add_force(spring(anchors[0], anchors[1], 80.0, 0.0, 0.5)).unwrap();
    }
    let total = energy;
    let before = total(&world);
    let mut stepper = stepper();
    for _ in 0..20 {
        let report = stepper.advance(&mut world, 0.25).unwrap();
        assert!((total(&world) / before - 1.0).abs() < 1e-9, "{} against {before}", total(&world));
        let (e, p) = (&report.energy, report.momentum.remainder());
        assert!(e.remainder().abs() < 1e-9 && p.linear.length() < 1e-10, "{} {p:?}", e.remainder());
        assert!(p.angular.length() < 1e-9, "{p:?}");
    }
}

/// Attraction to a centre, as 1/r².
#[derive(Debug)]
struct Sun(f64);

impl ForceField for Sun {
    fn wrench(&self, _t: f64, _: &BodyModel, body: &BodyState) -> Force {
        let x = body.pose().translation;
        Force::new(DVec3::ZERO, x * (-self.0 / ops::powi(x.length(), 3)))
    }
}

#[test]
fn a_force_field_of_the_users_holds_a_planet_on_its_ellipse() {
    // Perihelion 1, speed 1.2 √(GM): a = 1/(2 − 1.44), period 2π √a³.
    let mut world = World::new(DVec3::ZERO).unwrap();
    let planet = world.add(ball(0.01).mass(1.0).at([1.0, 0.0, 0.0]).moving([0.0, 1.2, 0.0])).unwrap();
    let field = Field(Arc::new(Sun(1.0)));
    world.add_force(ForceGenerator::Field { body: planet, field }).unwrap();
    let axis: f64 = 1.0 / (2.0 - 1.44);
    let period = std::f64::consts::TAU * (axis * axis * axis).sqrt();
    let mut stepper = stepper();
    stepper.advance(&mut world, 0.5 * period).unwrap();
    assert!((world[planet].position() - DVec3::X * (1.0 - 2.0 * axis)).length() < 1e-8);
    stepper.advance(&mut world, 0.5 * period).unwrap();
    assert!((world[planet].position() - DVec3::X).length() < 1e-8, "{}", world[planet].position());
}

/// Whatever the pieces, nobody passes through anything: bodies on springs thrown against walls and each other.
#[test]
fn bodies_under_forces_are_never_late_for_a_contact() {
    let mut random = SplitMix64(31);
    let mut collisions = 0;
    for case in 0..8 {
        let mut world = earth();
        let wall = HalfSpace::new(DVec3::new(-1.0, 0.0, 0.2)).unwrap();
        world.add(Body::fixed().shape(wall).at([1.5, 0.0, 0.0])).unwrap();
        // A thin sheet, to fall through.
        world.add(Body::fixed().shape(cuboid(0.8, 0.8, 0.0005)).at([-1.0, 0.0, 0.8])).unwrap();
        let mut ids = Vec::new();
        for k in 0..5 {
            let at = DVec3::new(-1.6 + 0.6 * f64::from(k), random.range(-0.2, 0.2), 1.4);
            let body = if k % 2 == 0 { ball(0.1) } else { Body::free().shape(cuboid(0.15, 0.02, 0.1)) };
            let body =
                body.at(at).turned(random.unit_quat()).moving(random.vec3(6.0)).spinning(random.vec3(15.0));
            ids.push(world.add(body.mass(1.0).restitution(0.7).friction(0.3)).unwrap());
        }
        for pair in ids.windows(2) {
            let k = random.range(20.0, 800.0);
            world
                .add_force(spring(middle(pair[0]), Anchor::Body(pair[1], DVec3::X * 0.1), k, 0.5, 0.5))
                .unwrap();
        }
        world.add_force(ForceGenerator::Drag { body: ids[0], linear: 0.2, angular: 0.01 }).unwrap();
        let pull = DVec3::new(0.0, 0.0, -30.0);
        world.add_force(ForceGenerator::Constant { body: ids[2], force: pull, torque: DVec3::X }).unwrap();
        let mut stepper = stepper();
        for _ in 0..100 {
            let report = stepper.advance(&mut world, 0.01).unwrap();
            collisions += report.collisions;
            assert!(report.worst_root <= 2e-12, "case {case}: {report}");
            assert!(smallest_separation(&world) > -1e-10, "case {case} at {}", world.time());
            let e = &report.energy;
            let scale = e.start + e.forces.abs() + e.impact.abs() + e.micro.abs();
            assert!(e.remainder().abs() < 1e-8 * scale.max(1.0), "case {case}: {} {e:?}", e.remainder());
        }
    }
    assert!(collisions > 120, "{collisions}");
}

#[test]
fn a_bullet_on_a_spring_does_not_pass_a_sheet() {
    let mut random = SplitMix64(8);
    for case in 0..10 {
        let mut world = World::new(DVec3::ZERO).unwrap();
        world.add(Body::fixed().shape(cuboid(0.0005, 100.0, 100.0))).unwrap();
        let start = DVec3::new(-random.range(0.5, 5.0), random.range(-0.5, 0.5), 0.0);
        let rod = Body::free().shape(cuboid(0.1, 0.004, 0.004)).mass(0.1).at(start).moving([300.0, 0.0, 0.0]);
        let id =
            world.add(rod.turned(random.unit_quat()).spinning(random.vec3(50.0)).restitution(0.5)).unwrap();
        // Pulled on through the sheet.
        let hook = Anchor::World(DVec3::new(8.0, 0.0, 0.0));
        world.add_force(spring(hook, Anchor::Body(id, DVec3::X * 0.05), 300.0, 0.0, 0.0)).unwrap();
        let mut stepper = stepper();
        let mut hits = 0;
        for _ in 0..20 {
            let report = stepper.advance(&mut world, 0.002).unwrap();
            hits += report.collisions;
            assert!(
                world[id].position().x < 0.0,
                "case {case}: passed at {}: {}",
                world.time(),
                world[id].position()
            );
            assert!(smallest_separation(&world) > -1e-10, "case {case}");
        }
        assert!(hits > 0, "case {case} never arrived");
    }
}

#[test]
fn a_ball_pressed_by_a_spring_rests_and_a_chain_hangs() {
    let mut world = earth();
    let id = world.add(ball(0.1).mass(1.0).at([0.0, 0.0, 0.1005])).unwrap();
    let hook = Anchor::World(DVec3::new(0.0, 0.0, 1.0));
    // Half of the weight is carried by the spring.
    let stretch = 0.5 * G / 50.0;
    world.add_force(spring(hook, middle(id), 50.0, 1.0, 0.9 - stretch)).unwrap();
    let mut stepper = stepper();
    let mut push = 0.0;
    for _ in 0..40 {
        stepper.advance(&mut world, 0.05).unwrap();
        assert!(smallest_separation(&world) > -1e-10);
        push += world.contacts().iter().map(|c| c.impulse.z.abs()).sum::<f64>();
    }
    assert!((world[id].position().z - 0.1).abs() < 2e-3, "{}", world[id].position());
    assert!((push / 2.0 - 0.5 * G).abs() < 0.05 * G, "the floor carries {}", push / 2.0);
    // Five masses on a chain of damped springs come to rest with the stretch of the weight below each.
    let mut world = World::new([0.0, 0.0, -G]).unwrap();
    let (k, c) = (400.0, 8.0);
    let mut above = Anchor::World(DVec3::ZERO);
    let mut ids = Vec::new();
    for n in 1..=5 {
        let id = world.add(ball(0.02).mass(0.5).at([0.02 * f64::from(n), 0.0, -0.2 * f64::from(n)])).unwrap();
        world.add_force(spring(above, middle(id), k, c, 0.2)).unwrap();
        world.add_force(ForceGenerator::Drag { body: id, linear: 1.0, angular: 0.0 }).unwrap();
        above = middle(id);
        ids.push(id);
    }
    common::stepper().advance(&mut world, 20.0).unwrap();
    let mut depth = 0.0;
    for (n, &id) in ids.iter().enumerate() {
        depth += 0.2 + 0.5 * G * (5 - n) as f64 / k;
        let at = world[id].position();
        assert!((at + DVec3::Z * depth).length() < 1e-6, "mass {n} at {at}, not {depth} below");
    }
}

#[test]
fn what_pulls_may_stand_move_or_go() {
    // A spring to a scripted body drags the ball along behind it.
    let mut world = World::new(DVec3::ZERO).unwrap();
    let velocity = Motion::new(DVec3::ZERO, DVec3::new(2.0, 0.0, 0.0));
    let start = Pose::from_translation(DVec3::new(1.0, 0.0, 0.0));
    let tug = world.add(Body::scripted(Screw { start, velocity }).shape(cuboid(0.1, 0.1, 0.1))).unwrap();
    let id = world.add(ball(0.1).mass(1.0)).unwrap();
    let force = world.add_force(spring(middle(tug), middle(id), 30.0, 3.0, 1.0)).unwrap();
    world.add_force(ForceGenerator::Drag { body: id, linear: 0.6, angular: 0.0 }).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 30.0).unwrap();
    // Steady: the spring pulls as much as the drag holds.
    let gap = world[tug].position().x - world[id].position().x;
    assert!((gap - 1.0 - 0.6 * 2.0 / 30.0).abs() < 1e-9, "{gap}");
    assert!((world[id].velocity().linear.x - 2.0).abs() < 1e-9);
    // Without the spring it slows down by itself.
    world.remove_force(force).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[id].velocity().linear.x - 2.0 * ops::exp(-0.6)).abs() < 1e-9);
    // Without drag it flies on in closed form, and its piece has no end.
    world.remove(tug).unwrap();
    let drag = world.forces().next().unwrap().0;
    world.remove_force(drag).unwrap();
    stepper.prepare(&mut world).unwrap();
    assert_eq!((world.cluster_count(), world[id].piece().end()), (0, f64::INFINITY));
    let x = world[id].position().x;
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[id].position().x - x - world[id].velocity().linear.x).abs() < 1e-12);
}

#[test]
fn bad_forces_are_refused_and_a_field_that_breaks_freezes_its_body() {
    #[derive(Debug)]
    struct Breaks;
    impl ForceField for Breaks {
        fn wrench(&self, t: f64, _: &BodyModel, _: &BodyState) -> Force {
            Force::new(DVec3::ZERO, DVec3::X * if t < 0.5 { 1.0 } else { f64::NAN })
        }
    }
    let mut world = World::new(DVec3::ZERO).unwrap();
    let id = world.add(ball(0.1).mass(1.0)).unwrap();
    let other = world.add(ball(0.1).mass(1.0).at([0.0, 2.0, 0.0]).moving([1.0, 0.0, 0.0])).unwrap();
    let bad = ForceGenerator::Servo { body: id, axis: DVec3::X * 2.0, rate: 1.0, gain: 1.0, limit: 1.0 };
    assert!(matches!(world.add_force(bad), Err(WorldError::Body { body, .. }) if body == id));
    let bad = spring(middle(id), middle(other), f64::NAN, 0.0, 0.0);
    assert!(world.add_force(bad).is_err() && world.forces().count() == 0);
    world.add_force(ForceGenerator::Field { body: id, field: Field(Arc::new(Breaks)) }).unwrap();
    world.add_force(spring(middle(id), middle(other), 1.0, 0.0, 2.0)).unwrap();
    let mut stepper = stepper();
    let report = stepper.advance(&mut world, 2.0).unwrap();
    assert_eq!((report.quarantined, world.time()), (1, 2.0));
    assert_eq!(world[id].rest(), sim_world::Rest::Quarantined);
    assert!(world[other].position().is_finite() && world[other].rest() == sim_world::Rest::Awake);
    // At once broken: refused, and nothing has changed.
    let mut world = World::new(DVec3::ZERO).unwrap();
    common::stepper().advance(&mut world, 1.0).unwrap();
    let id = world.add(ball(0.1).moving([1.0, 0.0, 0.0])).unwrap();
    let field = ForceGenerator::Field { body: id, field: Field(Arc::new(Breaks)) };
    assert!(world.add_force(field).is_err());
    assert_eq!((world.forces().count(), world.cluster_count()), (0, 0));
    common::stepper().advance(&mut world, 1.0).unwrap();
    assert!((world[id].position().x - 1.0).abs() < 1e-12);
}

#[test]
fn sleeping_bodies_wake_for_a_spring_and_bodies_on_springs_do_not_sleep() {
    let mut world = earth();
    let id = world.add(ball(0.1).mass(1.0).at([0.0, 0.0, 0.1005])).unwrap();
    let mut stepper = stepper_with(|p| p.sleep = Some(sim_steppers::SleepParams::default()));
    stepper.advance(&mut world, 3.0).unwrap();
    assert_eq!(world[id].rest(), sim_world::Rest::Asleep);
    let hook = Anchor::World(DVec3::new(0.0, 0.0, 2.0));
    let force = world.add_force(spring(hook, middle(id), 100.0, 2.0, 0.5)).unwrap();
    stepper.advance(&mut world, 6.0).unwrap();
    assert_eq!(world[id].rest(), sim_world::Rest::Awake);
    assert!((world[id].position().z - (1.5 - G / 100.0)).abs() < 1e-2, "{}", world[id].position());
    world.remove_force(force).unwrap();
    stepper.advance(&mut world, 5.0).unwrap();
    assert_eq!(world[id].rest(), sim_world::Rest::Asleep);
}

#[test]
fn runs_under_forces_repeat_to_the_bit_however_they_are_cut() {
    let scene = || {
        let mut world = earth();
        let mut random = SplitMix64(5);
        let mut ids = Vec::new();
        for k in 0..6 {
            let at = [0.5 * f64::from(k), 0.0, 0.6];
            let body = if k % 2 == 0 { ball(0.15) } else { Body::free().shape(cuboid(0.15, 0.1, 0.12)) };
            ids.push(
                world.add(body.at(at).turned(DQuat::IDENTITY).spinning(random.vec3(3.0)).mass(1.0)).unwrap(),
            );
        }
        for pair in ids.windows(2) {
            world.add_force(spring(middle(pair[0]), middle(pair[1]), 200.0, 1.0, 0.45)).unwrap();
        }
        world
    };
    let run = |pieces: u32| {
        let (mut world, mut stepper) = (scene(), stepper());
        for _ in 0..pieces {
            stepper.advance(&mut world, 2.0 / f64::from(pieces)).unwrap();
        }
        world.digest()
    };
    let straight = run(1);
    assert_eq!(run(1), straight, "again");
    assert_eq!(run(128), straight, "in pieces");
}
