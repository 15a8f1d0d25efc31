//! Springs, drag and torques under time stepping.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{assert_close, glam::DVec3, ops};
use sim_steppers::TimeSteppingParams;
use sim_world::{Anchor, ForceGenerator, Stepper, World};
use timed::{G, ball, brick, cone, earth};

#[test]
fn a_weight_hangs_from_its_spring_at_any_stiffness() {
    for stiffness in [100.0, 1e4, 1e8] {
        let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
        let id = world.add(ball(0.1, 0.5, 0.0).mass(2.0).at([0.0, 0.0, -1.0])).unwrap();
        let spring = ForceGenerator::Spring {
            a: Anchor::World(DVec3::ZERO),
            b: Anchor::Body(id, DVec3::ZERO),
            stiffness,
            damping: 5.0,
            rest_length: 1.0,
        };
        world.add_force(spring).unwrap();
        let mut stepper = cone(|_| {});
        let report = stepper.advance(&mut world, 20.0).unwrap();
        // Static load: extension m g / k.
        assert_close!(world[id].position().z, -1.0 - 2.0 * G / stiffness, abs = 1e-6);
        assert!(world.kinetic_energy() < 1e-9);
        let e = report.energy;
        assert!(e.remainder().abs() < 1e-12 * e.flowed && e.stepping < 0.0 && e.forces < 0.0, "{e:?}");
        let left = report.momentum.remainder().linear.length();
        assert!(left < 1e-9, "{left}");
    }
}

#[test]
fn an_undamped_spring_swings_with_its_frequency_as_the_step_shrinks() {
    let mut errors = Vec::new();
    for dt in [1e-3, 5e-4, 2.5e-4] {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let id = world.add(ball(0.1, 0.5, 0.0).mass(1.0).at([1.5, 0.0, 0.0])).unwrap();
        let spring = ForceGenerator::Spring {
            a: Anchor::World(DVec3::ZERO),
            b: Anchor::Body(id, DVec3::ZERO),
            stiffness: 4.0,
            damping: 0.0,
            rest_length: 1.0,
        };
        world.add_force(spring).unwrap();
        cone(|p: &mut TimeSteppingParams| p.dt = dt).advance(&mut world, 1.0).unwrap();
        errors.push((world[id].position().x - 1.0 - 0.5 * ops::cos(2.0)).abs());
    }
    assert!(errors[0] / errors[1] > 1.8 && errors[1] / errors[2] > 1.8 && errors[2] < 1e-3, "{errors:?}");
}

#[test]
fn drag_gives_the_terminal_speed_and_a_torque_spins() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let id = world.add(ball(0.1, 0.5, 0.0).mass(2.0)).unwrap();
    world.add_force(ForceGenerator::Drag { body: id, linear: 4.0, angular: 0.1 }).unwrap();
    world
        .add_force(ForceGenerator::Constant { body: id, force: DVec3::ZERO, torque: DVec3::Z * 0.2 })
        .unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 20.0).unwrap();
    let v = world[id].velocity();
    assert_close!(v.linear.z, -2.0 * G / 4.0, rel = 1e-9);
    assert_close!(v.angular.z, 2.0, rel = 1e-9);
}

#[test]
fn a_spring_presses_a_block_to_the_floor_and_friction_holds_it() {
    // Pulled sideways with less than μ (m g + pressure): it stays.
    let mut world = earth(0.5, 0.0);
    let id = world.add(brick(0.2, 0.2, 0.2, 0.5).mass(1.0).at([0.0, 0.0, 0.2])).unwrap();
    let down = ForceGenerator::Spring {
        a: Anchor::World(DVec3::new(0.0, 0.0, -1.0)),
        b: Anchor::Body(id, DVec3::ZERO),
        stiffness: 50.0,
        damping: 0.0,
        rest_length: 1.0,
    };
    world.add_force(down).unwrap();
    world
        .add_force(ForceGenerator::Constant { body: id, force: DVec3::X * 9.0, torque: DVec3::ZERO })
        .unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 1.0).unwrap();
    let start = world[id].position();
    stepper.advance(&mut world, 5.0).unwrap();
    assert!((world[id].position() - start).length() < 1e-9);
    let contact = world.contacts()[0];
    assert_close!(contact.impulse.z.abs() / 5.0, G + 50.0 * 0.2, rel = 1e-6);
}

/// A pendulum of springs: energy that the account does not explain, and what the steps took.
#[test]
fn springs_between_bodies_keep_their_account() {
    let mut random = sim_math::testkit::SplitMix64(5);
    for _ in 0..5 {
        let mut world = World::new(DVec3::NEG_Z * G).unwrap();
        let ids: Vec<_> = (0..6)
            .map(|k| {
                let at = DVec3::new(0.6 * f64::from(k), 0.0, 0.0) + random.vec3(0.1);
                world.add(brick(0.1, 0.15, 0.2, 0.5).at(at).spinning(random.vec3(1.0))).unwrap()
            })
            .collect();
        for k in 0..6 {
            let a =
                if k == 0 { Anchor::World(DVec3::NEG_X) } else { Anchor::Body(ids[k - 1], random.vec3(0.1)) };
            let (b, stiffness) = (Anchor::Body(ids[k], random.vec3(0.1)), random.range(100.0, 2000.0));
            let spring = ForceGenerator::Spring { a, b, stiffness, damping: 0.0, rest_length: 0.5 };
            world.add_force(spring).unwrap();
        }
        let start = timed::energy(&world);
        let mut stepper = cone(|p: &mut TimeSteppingParams| p.dt = 1e-3);
        let mut total = sim_world::StepReport::default();
        for _ in 0..20 {
            total = total.then(&stepper.advance(&mut world, 0.1).unwrap());
            assert!(timed::energy(&world) <= start + 1e-3 * total.energy.flowed);
        }
        let e = total.energy;
        assert!(e.remainder().abs() < 1e-12 * e.flowed && e.stepping <= 1e-3 * e.flowed, "{e:?}");
        assert!(total.momentum.remainder().linear.length() < 1e-9, "{:?}", total.momentum.remainder());
    }
}

#[test]
fn a_chain_of_springs_is_as_the_matrix_of_backward_euler_says() {
    // Masses on a line between springs: (m + h² K) v⁺ = m v − h K x, solved densely here.
    let (n, m, k, h) = (12, 2.0, 300.0, 0.01);
    let mut world = World::new(DVec3::ZERO).unwrap();
    let mut x: Vec<f64> = (0..n).map(|i| 0.05 * f64::from((i * 7) % 5) - 0.1).collect();
    let mut v = vec![0.0; n as usize];
    let ids: Vec<_> = (0..n)
        .map(|i| {
            world.add(ball(0.1, 0.0, 0.0).mass(m).at([f64::from(i) + 1.0 + x[i as usize], 0.0, 0.0])).unwrap()
        })
        .collect();
    for i in 0..n as usize {
        let a = if i == 0 { Anchor::World(DVec3::ZERO) } else { Anchor::Body(ids[i - 1], DVec3::ZERO) };
        let b = Anchor::Body(ids[i], DVec3::ZERO);
        world
            .add_force(ForceGenerator::Spring { a, b, stiffness: k, damping: 0.0, rest_length: 1.0 })
            .unwrap();
    }
    let mut stepper = cone(|p: &mut TimeSteppingParams| p.dt = h);
    for _ in 0..30 {
        stepper.advance(&mut world, h).unwrap();
        let n = n as usize;
        // Tridiagonal, by elimination.
        let stiff = |i: usize| if i + 1 < n { 2.0 * k } else { k };
        let pull = |x: &[f64], i: usize| {
            let left = if i == 0 { x[0] } else { x[i] - x[i - 1] };
            let right = if i + 1 < n { x[i + 1] - x[i] } else { 0.0 };
            k * (right - left)
        };
        let mut diagonal: Vec<f64> = (0..n).map(|i| m + h * h * stiff(i)).collect();
        let mut rhs: Vec<f64> = (0..n).map(|i| m * v[i] + h * pull(&x, i)).collect();
        for i in 1..n {
            let factor = -h * h * k / diagonal[i - 1];
            diagonal[i] += factor * h * h * k;
            rhs[i] -= factor * rhs[i - 1];
        }
        for i in (0..n).rev() {
            let next = if i + 1 < n { h * h * k * v[i + 1] } else { 0.0 };
            v[i] = (rhs[i] + next) / diagonal[i];
        }
        (0..n).for_each(|i| x[i] += h * v[i]);
    }
    for (i, id) in ids.iter().enumerate() {
        assert_close!(world[*id].position().x, i as f64 + 1.0 + x[i], abs = 1e-9);
        assert_close!(world[*id].velocity().linear.x, v[i], abs = 1e-8);
    }
}

#[test]
fn a_servo_a_muscle_and_a_field_act() {
    use sim_math::spatial::Force;
    use sim_world::{Field, ForceField};
    // A servo brings a ball to its rate, as far as its strength allows: at first constant torque, then gain.
    let mut world = World::new(DVec3::ZERO).unwrap();
    let wheel = world.add(ball(0.5, 0.0, 0.0).mass(2.0)).unwrap();
    let servo = |limit| ForceGenerator::Servo { body: wheel, axis: DVec3::Z, rate: 3.0, gain: 5.0, limit };
    let force = world.add_force(servo(0.1)).unwrap();
    let mut stepper = cone(|_| {});
    let report = stepper.advance(&mut world, 1.0).unwrap();
    assert_close!(world[wheel].velocity().angular.z, 0.1 / 0.2, rel = 1e-9);
    assert_close!(report.energy.forces, 0.1 * 0.25 + 0.1 * 0.25 / 100.0, rel = 0.02);
    world.remove_force(force).unwrap();
    world.add_force(servo(f64::INFINITY)).unwrap();
    stepper.advance(&mut world, 2.0).unwrap();
    assert_close!(world[wheel].velocity().angular.z, 3.0, rel = 1e-9);
    // A muscle pulls two balls together with a constant force, with and without damping.
    for damping in [0.0, 0.5] {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let [a, b] = [-5.0, 5.0].map(|x| world.add(ball(0.1, 0.0, 0.0).mass(2.0).at([x, 0.0, 0.0])).unwrap());
        let [x, y] = [a, b].map(|id| Anchor::Body(id, DVec3::ZERO));
        world.add_force(ForceGenerator::Muscle { a: x, b: y, tension: 3.0, damping }).unwrap();
        cone(|p: &mut TimeSteppingParams| p.dt = 1e-3).advance(&mut world, 1.0).unwrap();
        // With damping the rate r of the length obeys m/2 dr/dt = T − c r.
        let v = if damping > 0.0 { 0.5 * 3.0 / damping * (1.0 - ops::exp(-damping)) } else { 1.5 };
        assert_close!(world[a].velocity().linear.x, v, rel = 2e-3);
        assert_close!(world[b].velocity().linear.x, -v, rel = 2e-3);
    }
    // A field of the user: a magnetic force turns without work.
    #[derive(Debug)]
    struct Magnet;
    impl ForceField for Magnet {
        fn wrench(&self, _: f64, _: &rigid_impulse::BodyModel, state: &rigid_impulse::BodyState) -> Force {
            Force::new(DVec3::ZERO, state.velocity.linear.cross(DVec3::Z))
        }
    }
    let mut world = World::new(DVec3::ZERO).unwrap();
    let id = world.add(ball(0.1, 0.0, 0.0).mass(1.0).moving([1.0, 0.0, 0.0])).unwrap();
    world.add_force(ForceGenerator::Field { body: id, field: Field(std::sync::Arc::new(Magnet)) }).unwrap();
    let report = cone(|p: &mut TimeSteppingParams| p.dt = 1e-4).advance(&mut world, 1.0).unwrap();
    let v = world[id].velocity().linear;
    assert!((v - DVec3::new(ops::cos(1.0), -ops::sin(1.0), 0.0)).length() < 2e-4, "{v}");
    assert!(report.energy.remainder().abs() < 1e-12, "{:?}", report.energy);
}

#[test]
fn a_field_that_is_not_finite_freezes_its_body_alone() {
    use sim_math::spatial::Force;
    use sim_world::{Field, ForceField, Rest};
    #[derive(Debug)]
    struct Nan;
    impl ForceField for Nan {
        fn wrench(&self, t: f64, _: &rigid_impulse::BodyModel, _: &rigid_impulse::BodyState) -> Force {
            Force::new(DVec3::ZERO, if t < 0.5 { DVec3::X } else { DVec3::NAN })
        }
    }
    for mut stepper in [cone(|_| {}), timed::soft(|_| {})] {
        let mut world = World::new(DVec3::NEG_Z * G).unwrap();
        let [id, other] = [0.0, 3.0].map(|x| world.add(ball(0.1, 0.5, 0.0).at([x, 0.0, 0.0])).unwrap());
        world.add_force(ForceGenerator::Field { body: id, field: Field(std::sync::Arc::new(Nan)) }).unwrap();
        let report = stepper.advance(&mut world, 1.0).unwrap();
        assert_eq!((report.quarantined, world[id].rest()), (1, Rest::Quarantined));
        assert!(world[id].position().is_finite());
        assert_close!(world[other].position().z, -0.5 * G, rel = 1e-9);
    }
}

#[test]
fn soft_contacts_know_all_forces_too() {
    // A block on the floor, pressed by a spring, driven by a muscle that friction holds.
    let mut world = earth(0.5, 0.0);
    let id = world.add(brick(0.2, 0.2, 0.2, 0.5).mass(1.0).at([0.0, 0.0, 0.2])).unwrap();
    let hold = |point| [Anchor::World(point), Anchor::Body(id, DVec3::ZERO)];
    let [a, b] = hold(DVec3::new(0.0, 0.0, -1.0));
    world
        .add_force(ForceGenerator::Spring { a, b, stiffness: 50.0, damping: 1.0, rest_length: 1.0 })
        .unwrap();
    let [a, b] = hold(DVec3::new(2.0, 0.0, 0.2));
    world.add_force(ForceGenerator::Muscle { a, b, tension: 5.0, damping: 0.1 }).unwrap();
    let mut stepper = timed::soft(|_| {});
    stepper.advance(&mut world, 1.0).unwrap();
    let start = world[id].position();
    stepper.advance(&mut world, 2.0).unwrap();
    assert!((world[id].position() - start).length() < 1e-4, "{}", world[id].position() - start);
}

#[test]
fn a_long_chain_of_springs_costs_little() {
    // As one dense matrix of 3600 rows a step would take seconds.
    let mut world = World::new(DVec3::NEG_Z * G).unwrap();
    let mut before = Anchor::World(DVec3::ZERO);
    for k in 0..600 {
        let at = DVec3::new(0.5 * f64::from(k + 1), 0.0, 0.0);
        let next = Anchor::Body(world.add(ball(0.1, 0.0, 0.0).mass(1.0).at(at)).unwrap(), DVec3::ZERO);
        let (a, b) = (before, next);
        let spring = ForceGenerator::Spring { a, b, stiffness: 1e5, damping: 0.0, rest_length: 0.5 };
        world.add_force(spring).unwrap();
        before = next;
    }
    let mut stepper = cone(|_| {});
    let start = timed::energy(&world);
    let report = stepper.advance(&mut world, 0.5).unwrap();
    assert_eq!(report.solver.unsolved, 0, "{report}");
    assert!(timed::energy(&world) <= start + 1e-6 * report.energy.flowed, "{report}");
    assert!(report.energy.remainder().abs() < 1e-9 * report.energy.flowed, "{report}");
}
