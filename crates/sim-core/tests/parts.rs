//! Every part of every stepper is swapped by its name, before a run and within it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use sim_core::{
    BuildError, parts,
    parts::{SEAMS, STEPPERS},
    prelude::*,
    steppers::Parts,
};

/// Balls on a floor, which bounce and come to rest.
fn balls() -> World {
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    for k in 0..6 {
        let at = [0.25 * f64::from(k % 3), 0.3 * f64::from(k / 3), 0.3 + 0.1 * f64::from(k)];
        let ball = Body::free().shape(Sphere::new(0.1).unwrap()).at(at).restitution(0.5);
        world.add(ball.moving([0.3, 0.1 * f64::from(k), 0.0])).unwrap();
    }
    world
}

fn positions(sim: &Simulation) -> Vec<DVec3> {
    sim.world().bodies().map(|(_, body)| body.position()).collect()
}

fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
}

/// The type of the part at a seam, as its debug text begins.
fn type_at(seam: &str, parts: &Parts) -> String {
    let text = match seam {
        "broad_phase" => format!("{:?}", parts.broad_phase),
        "narrow_phase" => format!("{:?}", parts.narrow_phase),
        "impact" => format!("{:?}", parts.impact_law),
        "solver" => format!("{:?}", parts.contacts),
        _ => format!("{:?}", parts.executor),
    };
    // What a part holds comes and goes; its own name and its parameters stay.
    if seam == "broad_phase" { text.split([' ', '(']).next().unwrap_or_default().to_owned() } else { text }
}

fn parts_of(sim: &Simulation) -> &Parts {
    match (sim.stepper_as::<TimeStepping>(), sim.stepper_as::<EventDriven>()) {
        (Some(time), _) => time.parts(),
        (_, Some(events)) => events.parts(),
        _ => panic!("an unknown stepper"),
    }
}

fn of(stepper: &str) -> SimulationBuilder {
    Simulation::builder(balls()).stepper(parts::stepper(stepper).unwrap())
}

#[test]
fn every_part_of_every_stepper_is_swapped_by_its_name() {
    let mut swapped = 0;
    for stepper in STEPPERS {
        let mut usual = of(stepper).build().unwrap();
        usual.advance(0.6).unwrap();
        for seam in SEAMS {
            for name in seam.names() {
                let label = format!("{stepper}, {}: {name}", seam.key);
                let built = of(stepper).part(parts::named(seam.key, name).unwrap()).build();
                let foreign = matches!((*stepper, seam.key), ("time", "impact") | ("event_driven", "solver"));
                if foreign {
                    assert!(matches!(built, Err(BuildError::UnusedPart { .. })), "{label}");
                    continue;
                }
                let mut sim = built.unwrap();
                let mut expected = Parts::default();
                expected.set(parts::named(seam.key, name).unwrap()).unwrap();
                let found = type_at(seam.key, parts_of(&sim));
                assert_eq!(found, type_at(seam.key, &expected), "{label}");
                sim.advance(0.6).unwrap();
                // Laws differ where balls roll and slide; what only finds contacts does not matter.
                let exact = matches!(seam.key, "broad_phase" | "executor");
                let bound = if exact { 0.0 } else { 0.1 };
                let difference = apart(&positions(&sim), &positions(&usual));
                assert!(difference <= bound, "{label}: {difference} m");
                swapped += 1;
            }
        }
    }
    assert_eq!(swapped, 2 * (6 + 4 + 2) + 6 + 5);
}

#[test]
fn a_part_swapped_within_a_run_is_as_good_as_a_fresh_stepper() {
    for stepper in STEPPERS {
        for seam in SEAMS {
            for name in seam.names() {
                let part = || parts::named(seam.key, name).unwrap();
                let mut sim = of(stepper).build().unwrap();
                sim.advance(0.25).unwrap();
                let world = sim.world().clone();
                if sim.set_part(part()).is_err() {
                    continue;
                }
                let mut fresh = Simulation::builder(world)
                    .stepper(parts::stepper(stepper).unwrap())
                    .part(part())
                    .build()
                    .unwrap();
                for _ in 0..3 {
                    sim.advance(0.1).unwrap();
                    fresh.advance(0.1).unwrap();
                }
                let difference = apart(&positions(&sim), &positions(&fresh));
                // An executor keeps what was found so far, and with it earlier looks: the same to rounding.
                assert!(difference <= 1e-9, "{stepper}, {}: {name}: {difference} m", seam.key);
            }
        }
    }
}

#[test]
fn a_part_that_is_refused_leaves_the_simulation_as_it_was() {
    let mut sim = of("time").build().unwrap();
    sim.advance(0.1).unwrap();
    let digest = sim.world().digest();
    let error = sim.set_part(parts::named("impact", "algebraic").unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "impact law is not used by the time-stepping stepper");
    assert_eq!(sim.world().digest(), digest);
    let mut other = of("time").build().unwrap();
    other.advance(0.1).unwrap();
    assert_eq!(sim.advance(0.3), other.advance(0.3));
    assert_eq!(sim.world().digest(), other.world().digest());
}
