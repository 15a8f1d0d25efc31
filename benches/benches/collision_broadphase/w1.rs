//! Every broad phase on scene W1 and four others: one update of all boxes, then the full list or the changes.
//!
//! parry's bounding-volume hierarchy on the same boxes is in `benches/peers`.

use collision_broadphase::{
    CoherentHash, CoherentHashParams, ColumnSweep, DynamicTree, Levels, PlainHash, SweepAndPrune,
};
use sim_traits::{BroadPhase, PairChanges};
use tumblestone_benches::{Suite, boxes::MovingBoxes};

fn make(name: &str) -> Box<dyn BroadPhase> {
    match name {
        "coherent_hash" => {
            let mut params = CoherentHashParams::default();
            if let Ok(levels) = Levels::fewest(0.05, 32.0, 0.5, 1.0) {
                params.levels = levels;
            }
            Box::new(CoherentHash::new(params))
        }
        "plain_hash" => Box::new(PlainHash::default()),
        "sweep_and_prune" => Box::new(SweepAndPrune::default()),
        "dynamic_tree" => Box::new(DynamicTree::default()),
        _ => Box::new(ColumnSweep::default()),
    }
}

#[allow(clippy::expect_used, reason = "a bench has no one to report to")]
fn case(suite: &mut Suite, scene: &str, n: usize, who: &str) {
    for mode in ["full", "changes"] {
        let id = format!("collision_broadphase/{scene}_{n}/{who}_{mode}");
        let mut state = None;
        let (mut pairs, mut changes) = (Vec::new(), PairChanges::default());
        suite.case(&id).elements(n as u64).samples(10).iterations(64).run(|| {
            // Made on first use: a filtered run pays only for what it runs.
            let (boxes, broad) = state.get_or_insert_with(|| {
                let boxes = MovingBoxes::scene(scene, n).expect("a scene of that name");
                let mut broad = make(who);
                boxes.insert_into(broad.as_mut());
                (boxes, broad)
            });
            boxes.step();
            broad.update(&boxes.ids, &boxes.boxes).expect("valid boxes");
            if mode == "full" {
                broad.pairs(&mut pairs);
            } else {
                broad.pair_changes(&mut changes);
            }
            pairs.len() + changes.begun.len()
        });
    }
}

fn broad_phases(suite: &mut Suite) {
    let all = ["column_sweep", "coherent_hash", "plain_hash", "dynamic_tree", "sweep_and_prune"];
    for n in [1000, 10_000] {
        for who in all {
            case(suite, "w1", n, who);
        }
    }
    case(suite, "w1", 100_000, "column_sweep");
    for scene in ["clustered", "flat", "sparse", "huge"] {
        case(suite, scene, 10_000, "column_sweep");
    }
}

tumblestone_benches::main!(broad_phases);
