//! Every broad phase against the conformance kit of the seam: random scripts of calls against a searched list.

use collision_broadphase::{BruteForce, ColumnSweep};
use sim_traits::{
    BroadPhase,
    testkit::broad_phase::{Effort, conformance},
};

fn run(mut make: impl FnMut() -> Box<dyn BroadPhase>) {
    conformance(&mut make, &Effort::default()).unwrap();
    let crowd = Effort { scripts: 6, calls: 1500, max_boxes: 250, seed: 7 };
    conformance(&mut make, &crowd).unwrap();
}

#[test]
fn brute_force_conforms() {
    run(|| Box::new(BruteForce::default()));
}

#[test]
fn all_pairs_conforms() {
    run(|| Box::new(BruteForce::all_pairs()));
}

#[test]
fn column_sweep_conforms() {
    run(|| Box::new(ColumnSweep::default()));
}
