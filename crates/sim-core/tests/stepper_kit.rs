//! Every stepper keeps the contract of the trait: the conformance kit of `sim-world`.
#![allow(clippy::unwrap_used, reason = "tests")]

use sim_core::{
    lcp::Driver,
    prelude::*,
    steppers::{Parts, TimeSleepParams},
    world::testkit::{
        stepper::{Bounds, Make, Splits, conformance, refused_alike},
        worlds,
    },
};

const STEP: f64 = 1.0 / 64.0;

fn events(set: impl FnOnce(&mut EventDrivenParams)) -> Box<dyn Stepper> {
    let mut params = EventDrivenParams::default();
    set(&mut params);
    let parts = Parts::default();
    Box::new(EventDriven::with(parts, params))
}

fn stepping(set: impl FnOnce(&mut TimeSteppingParams)) -> TimeSteppingParams {
    let mut params = TimeSteppingParams::default();
    params.dt = STEP;
    set(&mut params);
    params
}

fn soft(set: impl FnOnce(&mut TimeSteppingParams)) -> Box<dyn Stepper> {
    let mut params = TimeSteppingParams::default();
    params.dt = STEP;
    set(&mut params);
    Box::new(soft_stepping(SoftParams::default(), params))
}

fn conforms(make: Make<'_>, splits: Splits) {
    conformance(make, &Bounds { splits, ..Bounds::default() }).unwrap();
}

#[test]
fn event_driven_with_standard_handling() {
    conforms(&|| events(|p| p.contact_handling = ContactHandling::Standard), Splits::Anywhere);
}

#[test]
fn event_driven_with_improved_handling() {
    conforms(&|| events(|_| {}), Splits::Anywhere);
}

#[test]
fn time_stepping_with_newton() {
    conforms(&|| Box::new(time_stepping(ConeNewton::default(), stepping(|_| {}))), Splits::Steps(STEP));
}

#[test]
fn time_stepping_with_sweeps() {
    conforms(&|| Box::new(time_stepping(ConeGaussSeidel::default(), stepping(|_| {}))), Splits::Steps(STEP));
}

#[test]
fn time_stepping_with_greedy_picks() {
    conforms(&|| Box::new(time_stepping(Greedy::default(), stepping(|_| {}))), Splits::Steps(STEP));
}

#[test]
fn time_stepping_with_lemke() {
    let law = || PolyhedralCone::new(Driver::default());
    conforms(&|| Box::new(time_stepping(law(), stepping(|_| {}))), Splits::Steps(STEP));
}

#[test]
fn time_stepping_with_soft_contacts() {
    conforms(&|| soft(|_| {}), Splits::Steps(STEP));
}

/// Settled within a few steps.
fn soon() -> TimeSleepParams {
    let mut sleep = TimeSleepParams::default();
    sleep.after = 0.05;
    sleep
}

#[test]
fn time_stepping_with_bodies_that_sleep() {
    let params = || stepping(|p| p.sleep = Some(soon()));
    conforms(&|| Box::new(time_stepping(ConeNewton::default(), params())), Splits::Steps(STEP));
}

#[test]
fn soft_contacts_with_bodies_that_sleep() {
    conforms(&|| soft(|p| p.sleep = Some(soon())), Splits::Steps(STEP));
}

#[test]
fn event_driven_with_bodies_that_sleep() {
    let mut sleep = SleepParams::default();
    sleep.after = 0.05;
    conforms(&|| events(|p| p.sleep = Some(sleep)), Splits::Anywhere);
}

/// With bodies that pass through each other.
fn reacting(set: impl FnOnce(&mut ReactionForceParams)) -> Box<dyn Stepper> {
    let mut params = ReactionForceParams::default();
    (params.dt, params.collisions) = (STEP, Collisions::Ignore);
    set(&mut params);
    Box::new(ReactionForce::new(params))
}

#[test]
fn reaction_forces() {
    conforms(&|| reacting(|_| {}), Splits::Steps(STEP));
}

#[test]
fn parameters_that_cannot_be_are_refused_by_prepare_as_by_advance() {
    let bad: [Make<'_>; 6] = [
        &|| reacting(|p| p.dt = f64::INFINITY),
        &|| reacting(|p| p.reaction.stiffness = 0.0),
        &|| events(|p| p.window = -1.0),
        &|| events(|p| p.margin = f64::NAN),
        &|| Box::new(time_stepping(ConeNewton::default(), stepping(|p| p.dt = 0.0))),
        &|| soft(|p| p.substeps = 0),
    ];
    for make in bad {
        for scene in worlds::scenes().unwrap() {
            assert!(refused_alike(make, &scene.world).unwrap().is_some(), "{}", scene.name);
        }
    }
}

#[test]
fn a_simulation_can_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Simulation>();
    shared::<SimulationBuilder>();
}
