//! Impacts at their exact times: closed forms and conservation.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{G, ball, earth, energy, impacts, smallest_separation, stepper, stepper_with};
use sim_math::glam::DVec3;
use sim_world::{Body, Stepper, World};

// proves: ARN-60
#[test]
fn a_bouncing_ball_follows_its_closed_form_and_comes_to_rest() {
    // h = 1 m, e = 0.8: impact speeds e^n v0, apexes e^(2n) h, all bounces over by (1 + e)/(1 - e) sqrt(2h/g) = 4.0637 s.
    let (h, e, radius, envelope) = (1.0_f64, 0.8_f64, 0.1, 1e-3);
    let mut world = earth();
    let id = world.add(ball(radius).at([0.0, 0.0, h + radius]).restitution(e)).unwrap();
    let mut stepper = stepper();
    let v0 = (2.0 * G * h).sqrt();
    let (mut impact, mut speed, mut apexes) = (v0 / G, v0, 0);
    loop {
        let apex_height = (e * speed) * (e * speed) / (2.0 * G);
        if apex_height < 10.0 * envelope {
            break;
        }
        let apex = impact + e * speed / G;
        let duration = apex - world.time();
        let report = stepper.advance(&mut world, duration).unwrap();
        assert!(report.worst_root <= 1e-12, "root off by {}", report.worst_root);
        let hits = impacts(&world);
        assert_eq!(hits.len(), 1);
        assert!((hits[0].0 - impact).abs() < 1e-11 * impact, "impact at {} against {impact}", hits[0].0);
        assert!((hits[0].1.approach - speed).abs() < 1e-11);
        let height = world[id].position().z - radius;
        assert!((height / apex_height - 1.0).abs() < 1e-9, "apex {height} against {apex_height}");
        impact += 2.0 * e * speed / G;
        speed *= e;
        apexes += 1;
    }
    assert_eq!(apexes, 10);
    // Past the accumulation point, and on.
    let end = (1.0 + e) / (1.0 - e) * (2.0 * h / G).sqrt();
    assert!((end - 4.0637).abs() < 1e-4);
    let before = world.time();
    let mut events = 0;
    while world.time() < 10.0 {
        events += stepper.advance(&mut world, 0.1).unwrap().events;
        let height = world[id].position().z - radius;
        assert!(height > -1e-12, "{height} below the floor at {}", world.time());
        if world.time() > end + 0.1 {
            assert!(height < 2.0 * envelope, "{height} above the envelope at {}", world.time());
        }
    }
    let rate = events as f64 / (10.0 - before);
    assert!(rate < 500.0, "{rate} events per second");
}

#[test]
fn forty_nine_elastic_balls_keep_their_energy() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let floor = Body::fixed().shape(sim_traits::HalfSpace::up()).friction(0.0);
    world.add(floor).unwrap();
    for k in 0..49 {
        let (x, y) = (f64::from(k % 7), f64::from(k / 7));
        let start = DVec3::new(x, y, 5.2);
        world.add(ball(0.2).mass(10.0).at(start).friction(0.0).restitution(1.0)).unwrap();
    }
    let mut stepper = stepper_with(|p| p.micro = sim_steppers::Micro::Off);
    let before = energy(&world);
    let mut collisions = 0;
    for _ in 0..20 {
        let report = stepper.advance(&mut world, 1.0).unwrap();
        collisions += report.collisions;
        assert!(report.worst_root <= 1e-12, "{}", report.worst_root);
        let drift = energy(&world) / before - 1.0;
        assert!(drift.abs() < 1e-9, "energy off by {drift:e}");
        assert!(smallest_separation(&world) > -1e-10);
    }
    assert_eq!(collisions, 49 * 10);
}

#[test]
fn elastic_balls_that_meet_each_other_keep_energy_and_momentum() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    for k in 0..27 {
        let at = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) - 1.0;
        let velocity = -at + DVec3::new(0.1, -0.2, 0.05) * f64::from(k % 5);
        world
            .add(ball(0.2).mass(1.0 + f64::from(k)).at(at).moving(velocity).restitution(1.0).friction(0.0))
            .unwrap();
    }
    let (before, momentum, spin) = (energy(&world), world.momentum(), world.angular_momentum());
    let report = stepper_with(|p| p.micro = sim_steppers::Micro::Off).advance(&mut world, 3.0).unwrap();
    assert!(report.collisions > 30, "{report}");
    assert!((energy(&world) / before - 1.0).abs() < 1e-12);
    assert!((world.momentum() - momentum).length() < 1e-11);
    assert!((world.angular_momentum() - spin).length() < 1e-11);
    assert!(smallest_separation(&world) > -1e-10);
}

#[test]
fn a_cradle_hands_the_velocity_through_five_touching_balls() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let mut row = Vec::new();
    for k in 0..5 {
        let x = 0.2 * f64::from(k) - if k == 0 { 0.5 } else { 0.0 };
        let speed = if k == 0 { 2.0 } else { 0.0 };
        let ball = ball(0.1).at([x, 0.0, 0.0]).moving([speed, 0.0, 0.0]).restitution(1.0).friction(0.0);
        row.push(world.add(ball).unwrap());
    }
    stepper().advance(&mut world, 0.5).unwrap();
    for (k, &id) in row.iter().enumerate() {
        let expected = if k == 4 { 2.0 } else { 0.0 };
        let speed = world[id].velocity().linear.x;
        assert!((speed - expected).abs() < 1e-6, "ball {k}: {speed}");
    }
}

#[test]
fn a_tumbling_box_bounces_without_losing_energy() {
    let mut world = earth();
    let half = DVec3::new(0.3, 0.2, 0.1);
    let id = world
        .add(
            Body::free()
                .shape(common::cuboid(half.x, half.y, half.z))
                .at([0.0, 0.0, 2.0])
                .spinning([3.0, -2.0, 5.0])
                .moving([0.3, 0.1, 0.0])
                .restitution(1.0)
                .friction(0.0),
        )
        .unwrap();
    let mut stepper = stepper_with(|p| p.micro = sim_steppers::Micro::Off);
    let before = energy(&world);
    let mut collisions = 0;
    for _ in 0..50 {
        let report = stepper.advance(&mut world, 0.1).unwrap();
        collisions += report.collisions;
        assert!(report.worst_root <= 1e-12);
        assert!(smallest_separation(&world) > -1e-10);
    }
    assert!(collisions > 5, "{collisions}");
    assert!((energy(&world) / before - 1.0).abs() < 1e-9, "{} {}", energy(&world), before);
    assert!(world[id].position().z > 0.0);
}
