//! Fast things and thin things.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use collision_narrowphase::Polyhedron;
use common::{ball, cuboid, smallest_separation, stepper, stepper_with};
use sim_math::{glam::DVec3, testkit::SplitMix64};
use sim_traits::Shape;
use sim_world::{Body, EventKind, Stepper, World};

// proves: FON-80, MIR-21
#[test]
fn a_bullet_never_passes_a_sheet_of_one_millimetre() {
    let mut random = SplitMix64(11);
    for case in 0..200 {
        let mut world = World::new(DVec3::ZERO).unwrap();
        world.add(Body::fixed().shape(cuboid(0.0005, 2.0, 2.0))).unwrap();
        let speed = 1000.0;
        let start = DVec3::new(-random.range(0.1, 50.0), random.range(-0.5, 0.5), random.range(-0.5, 0.5));
        let spin = random.vec3(if case % 2 == 0 { 0.0 } else { 300.0 });
        let bullet = if case % 4 < 2 { ball(0.004) } else { Body::free().shape(cuboid(0.1, 0.002, 0.002)) };
        let bullet = bullet.at(start).moving([speed, 0.0, 0.0]).spinning(spin).restitution(0.2);
        let id = world.add(bullet.turned(random.unit_quat())).unwrap();
        world.add_timer(0.01, 0.01).unwrap();
        let mut stepper = stepper();
        let report = stepper.advance(&mut world, 0.1).unwrap();
        assert!(report.collisions >= 1, "case {case}: {report}");
        let timers = world.events().iter().filter(|e| matches!(e.kind, EventKind::Timer { .. }));
        let times: Vec<u64> = timers.map(|e| e.time.to_bits()).collect();
        let exact: Vec<u64> =
            (0..times.len() as u32).map(|k| (0.01 + 0.01 * f64::from(k)).to_bits()).collect();
        assert!(times.len() >= 9 && times == exact, "case {case}: timers");
        assert!(report.worst_root <= 1e-12, "case {case}: {report}");
        assert!(world[id].position().x < 0.0, "case {case}: passed to {}", world[id].position());
        assert!(smallest_separation(&world) > -1e-10, "case {case}");
    }
}

#[test]
fn two_bullets_meet_head_on() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let a = world.add(ball(0.01).at([-5.0, 0.0, 0.0]).moving([900.0, 0.0, 0.0]).restitution(1.0)).unwrap();
    let b = world.add(ball(0.01).at([5.0, 0.0, 0.0]).moving([-900.0, 0.0, 0.0]).restitution(1.0)).unwrap();
    stepper().advance(&mut world, 0.01).unwrap();
    assert!((world[a].velocity().linear.x + 900.0).abs() < 1e-9);
    assert!((world[b].velocity().linear.x - 900.0).abs() < 1e-9);
}

// proves: MIR-21
#[test]
fn grazing_contacts_are_found_and_near_misses_are_none() {
    let mut random = SplitMix64(12);
    for case in 0..120 {
        let share = [1e-3, 1e-6, 1e-8][case % 3] * if case % 2 == 0 { 1.0 } else { -1.0 };
        let mut world = World::new(DVec3::ZERO).unwrap();
        if case < 60 {
            // Two balls that pass at their radii, less or more a share.
            let aside = DVec3::Y * (0.2 * (1.0 - share));
            let velocity = DVec3::X * random.range(1.0, 100.0);
            world.add(ball(0.1).at([0.0, 0.0, 0.0]).restitution(1.0)).unwrap();
            world.add(ball(0.1).at(aside - velocity * 0.2).moving(velocity).restitution(1.0)).unwrap();
        } else {
            // A rod that turns above a floor, which its ends reach or do not.
            let (half, rate) = (DVec3::new(0.3, 0.01, 0.01), random.range(1.0, 50.0));
            world.add(Body::fixed().shape(sim_traits::HalfSpace::up())).unwrap();
            let height = half.truncate().length() * (1.0 - share);
            let rod = Body::free().shape(cuboid(half.x, half.y, half.z)).at([0.0, 0.0, height]);
            world.add(rod.spinning([0.0, rate, 0.0])).unwrap();
            world.add_timer(0.01, 0.01).unwrap();
        }
        let report = stepper_with(|p| p.micro = sim_steppers::Micro::Off).advance(&mut world, 0.4).unwrap();
        let turns = case < 60 || world.bodies().last().unwrap().1.velocity().angular.y * 0.4 > 2.0;
        if share > 0.0 && turns {
            assert!(report.collisions >= 1, "case {case}, {share}: {report}");
        } else if share < 0.0 {
            assert_eq!(report.collisions, 0, "case {case}, {share}: {report}");
        }
        assert!(smallest_separation(&world) > -1e-10, "case {case}");
    }
}

#[test]
fn of_a_spinning_stone_the_corner_that_comes_first_is_found() {
    // Its lowest corner comes down slowly, others pass at 15 m/s and reach lower: nobody may leap over them.
    let mut random = SplitMix64(13);
    for case in 0..60 {
        let corners: Vec<_> = (0..12).map(|_| random.unit_vec3() * random.range(0.009, 0.011)).collect();
        let stone = Shape::from(Polyhedron::hull(&corners).unwrap());
        let mut world = World::new(DVec3::ZERO).unwrap();
        world.add(Body::fixed().shape(sim_traits::HalfSpace::up())).unwrap();
        let fall = DVec3::new(0.0, 0.0, -random.range(0.15, 1.0));
        let body = Body::free().shape(stone).at([0.0, 0.0, 0.013]).turned(random.unit_quat()).moving(fall);
        world.add(body.spinning(random.unit_vec3() * 1500.0).restitution(0.5)).unwrap();
        let mut stepper = stepper_with(|p| p.micro = sim_steppers::Micro::Off);
        let mut collisions = 0;
        while collisions == 0 {
            collisions += stepper.advance(&mut world, 2e-5).unwrap().collisions;
            let least = smallest_separation(&world);
            assert!(least > -1e-10, "case {case}: {least} m at {} s", world.time());
            assert!(world.time() < 0.05, "case {case}: no contact");
        }
    }
}
