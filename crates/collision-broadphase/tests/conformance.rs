//! Every broad phase against the conformance kit of the seam: random scripts of calls against a searched list.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use collision_broadphase::{
    BruteForce, CoherentHash, CoherentHashParams, ColumnSweep, DynamicTree, PlainHash, SweepAndPrune,
};
use sim_traits::{
    BroadPhase,
    testkit::broad_phase::{Effort, conformance},
};

fn run(mut make: impl FnMut() -> Box<dyn BroadPhase>) {
    let soak = std::env::var("TUMBLESTONE_SOAK").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let usual = Effort::default();
    conformance(&mut make, &Effort { scripts: usual.scripts * soak, ..usual }).unwrap();
    let crowd = Effort { scripts: 4 * soak, calls: 1000, max_boxes: 200, seed: 7 };
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

#[test]
fn coherent_hash_conforms() {
    run(|| Box::new(CoherentHash::default()));
}

#[test]
fn coherent_hash_without_filter_conforms() {
    let mut params = CoherentHashParams::default();
    (params.exact, params.patience) = (false, 3);
    run(|| Box::new(CoherentHash::new(params)));
}

#[test]
fn rebuilt_hash_conforms() {
    let mut params = CoherentHashParams::default();
    params.coherent = false;
    run(|| Box::new(CoherentHash::new(params)));
}

#[test]
fn plain_hash_conforms() {
    run(|| Box::new(PlainHash::default()));
}

#[test]
fn sweep_and_prune_conforms() {
    run(|| Box::new(SweepAndPrune::default()));
}

#[test]
fn dynamic_tree_conforms() {
    run(|| Box::new(DynamicTree::default()));
}
