//! Every built-in scene starts and runs under every stepper and contact law.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop them")]

use scene::{
    builtin::{SCENES, setup},
    run::Run,
};
use sim_core::parts::SOLVER;

#[test]
fn every_scene_runs_under_every_stepper_and_contact_law() {
    let mut failed = Vec::new();
    for scene in SCENES {
        for (stepper, solver) in [("event_driven", "cone")]
            .into_iter()
            .chain(SOLVER.names().into_iter().map(|solver| ("time", solver)))
        {
            let mut setup = setup(scene.name).unwrap();
            (setup.choice.stepper, setup.choice.solver) = (stepper, solver);
            let steps = if setup.bodies.len() > 100 { 1.0 } else { 5.0 };
            let done = Run::new(setup).and_then(|mut run| run.advance_to(steps / 60.0));
            if let Err(error) = done {
                failed.push(format!("{} under {stepper}, {solver}: {error}", scene.name));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
