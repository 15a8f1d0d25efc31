//! Lengths that are not given follow the bodies.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use common::{G, ball, earth, energy, smallest_separation, stepper, stepper_with};
use sim_world::Stepper;

#[test]
fn a_ball_rests_as_well_at_any_size() {
    for radius in [1e-3, 1e-2, 0.1, 1.0, 100.0] {
        let mut world = earth();
        let id = world.add(ball(radius).at([0.0, 0.0, 2.0 * radius]).restitution(0.3)).unwrap();
        let (mut stepper, mut events, mut height) = (stepper(), 0, 0.0_f64);
        // As many times the time of a fall through its radius at each size.
        let unit = (radius / G).sqrt();
        for k in 0..60 {
            let report = stepper.advance(&mut world, unit).unwrap();
            if k >= 30 {
                events += report.events;
                height = height.max(world[id].position().z / radius - 1.0);
            }
            assert!(smallest_separation(&world) > -1e-10 * radius);
        }
        println!("{radius} m: {events} events, {height:e} of the radius above the floor");
        assert!((stepper.envelope() / radius - 1e-3).abs() < 1e-12);
        assert!(height < 1e-3 && events < 5000, "{radius} m: {height}, {events} events");
    }
}

#[test]
fn a_smaller_body_makes_the_envelope_smaller_and_who_rests_stays() {
    let mut world = earth();
    let large = world.add(ball(1.0).at([0.0, 0.0, 1.0])).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 1.0).unwrap();
    assert_eq!(stepper.envelope().to_bits(), 1e-3_f64.to_bits());
    let small = world.add(ball(0.01).at([3.0, 0.0, 0.02])).unwrap();
    let before = energy(&world);
    stepper.advance(&mut world, 1.0).unwrap();
    assert_eq!(stepper.envelope().to_bits(), 1e-5_f64.to_bits());
    let gap = world[large].position().z - 1.0;
    assert!((-1e-12..1e-5).contains(&gap), "the large one came down to {gap} m");
    assert!(energy(&world) <= before);
    // Without it the envelope is as before; the lift through it is booked.
    world.remove(small).unwrap();
    let before = energy(&world);
    let report = stepper.advance(&mut world, 1.0).unwrap();
    assert_eq!(stepper.envelope().to_bits(), 1e-3_f64.to_bits());
    let gained = energy(&world) - before;
    assert!(gained < world[large].mass() * G * 1e-3, "{gained} J");
    assert!((report.energy.micro - gained).abs() < 1e-6 * gained.abs().max(1e-3), "{:?}", report.energy);
}

#[test]
fn a_given_length_is_kept() {
    let mut world = earth();
    world.add(ball(0.01).at([0.0, 0.0, 0.02])).unwrap();
    let mut stepper = stepper_with(|p| p.envelope = Some(2e-4));
    stepper.advance(&mut world, 0.1).unwrap();
    assert_eq!(stepper.envelope().to_bits(), 2e-4_f64.to_bits());
    let bad = stepper_with(|p| p.root_tolerance = Some(-1.0)).advance(&mut earth(), 0.1);
    assert!(bad.unwrap_err().to_string().contains("root tolerance"));
}

#[cfg(feature = "serde")]
#[test]
fn a_restored_stepper_has_the_same_lengths() {
    let mut world = earth();
    world.add(ball(0.02).at([0.0, 0.0, 0.02]).spinning([9.0, 0.0, 0.0]).friction(0.4)).unwrap();
    let far = world.add(ball(0.03).at([9e5, 0.0, 1.0]).moving([2e3, 0.0, 0.0])).unwrap();
    let mut first = stepper();
    first.advance(&mut world, 0.3).unwrap();
    // Where it is makes the others coarser.
    assert!(first.envelope() > 2.5e-5, "{}", first.envelope());
    let bytes = first.save(&world).unwrap();
    let registry = sim_world::snapshot::Registry::default();
    let mut copy = sim_world::World::restore(&world.snapshot(&registry).unwrap(), &registry).unwrap();
    let mut second = sim_steppers::EventDriven::new(common::parts());
    second.load(&copy, &bytes).unwrap();
    assert_eq!(first.envelope().to_bits(), second.envelope().to_bits());
    for _ in 0..3 {
        first.advance(&mut world, 0.07).unwrap();
        second.advance(&mut copy, 0.07).unwrap();
        assert_eq!(world.digest(), copy.digest());
    }
    assert!(world[far].position().x > 9e5);
}
