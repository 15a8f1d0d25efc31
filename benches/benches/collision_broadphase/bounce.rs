//! The thesis comparison: coherent against plain and rebuilt hash in the bounce world, 25 and 4096 bodies.
//!
//! The motion is recorded first, so that only the broad phase is measured. Sweep and prune on dice that settle on
//! a floor is beside it.

use collision_broadphase::{CoherentHash, CoherentHashParams, ColumnSweep, Levels, PlainHash, SweepAndPrune};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{BroadPhase, PairChanges, ProxyId, ProxyKind};
use tumblestone_benches::{
    Suite,
    bounce::{Bounce, boxes_touch},
    boxes::SplitMix64,
};

fn make(name: &str) -> Box<dyn BroadPhase> {
    let mut params = CoherentHashParams::default();
    if let Ok(levels) = Levels::fewest(0.6, 1.25, 0.5, 1.0) {
        params.levels = levels;
    }
    match name {
        "coherent_hash" => Box::new(CoherentHash::new(params)),
        "rebuilt_hash" => {
            params.coherent = false;
            Box::new(CoherentHash::new(params))
        }
        "plain_hash" => Box::new(PlainHash::default()),
        "sweep_and_prune" => Box::new(SweepAndPrune::default()),
        _ => Box::new(ColumnSweep::default()),
    }
}

/// Boxes of the bounce world, step by step.
#[allow(clippy::expect_used, reason = "a bench has no one to report to")]
fn record(n: usize, steps: usize) -> Vec<Vec<Aabb>> {
    let mut world = Bounce::new(n, Bounce::world_side(n, 1.0), 0.01, 7);
    let mut broad = ColumnSweep::default();
    world.insert_into(&mut broad).expect("valid boxes");
    let mut frames = Vec::new();
    for _ in 0..steps {
        frames.push(world.bodies().iter().map(tumblestone_benches::bounce::Body::aabb).collect());
        world.step(&mut broad, &mut boxes_touch).expect("valid boxes");
    }
    frames
}

/// Dice that settle on a floor: side by side, trembling in their last millimetre.
fn dice(n: usize, steps: usize) -> Vec<Vec<Aabb>> {
    let row = (n as f64).sqrt() as usize;
    let mut random = SplitMix64(9);
    (0..steps)
        .map(|_| {
            (0..n)
                .map(|i| {
                    let place = DVec3::new((i % row) as f64 * 1.2, (i / row) as f64 * 1.2, 0.5);
                    Aabb::from_center_half_extents(place + random.vec3(-0.001, 0.001), DVec3::splat(0.5))
                })
                .collect()
        })
        .collect()
}

#[allow(clippy::expect_used, reason = "a bench has no one to report to")]
fn case(suite: &mut Suite, scene: &str, who: &str, frames: &[Vec<Aabb>]) {
    let n = frames[0].len();
    let ids: Vec<ProxyId> = (0..n as u32).map(ProxyId).collect();
    let mut broad = make(who);
    for (&id, aabb) in ids.iter().zip(&frames[0]) {
        broad.insert(id, ProxyKind::Moving, aabb).expect("valid boxes");
    }
    let mut changes = PairChanges::default();
    let (mut at, mut forwards) = (0, true);
    let id = format!("collision_broadphase/{scene}_{n}/{who}");
    suite.case(&id).elements(n as u64).iterations(200).run(|| {
        // To and fro through the recording, so that motion stays coherent for ever.
        at = if forwards { at + 1 } else { at - 1 };
        forwards = if at + 1 == frames.len() { false } else { forwards || at == 0 };
        broad.update(&ids, &frames[at]).expect("valid boxes");
        broad.pair_changes(&mut changes);
        changes.begun.len()
    });
}

fn thesis(suite: &mut Suite) {
    for n in [25, 4096] {
        let frames = record(n, if n == 25 { 2000 } else { 200 });
        for who in ["coherent_hash", "rebuilt_hash", "plain_hash", "column_sweep", "sweep_and_prune"] {
            case(suite, "bounce", who, &frames);
        }
    }
    for n in [256, 1024, 4096] {
        let frames = dice(n, 100);
        for who in ["coherent_hash", "column_sweep", "sweep_and_prune"] {
            case(suite, "dice", who, &frames);
        }
    }
}

tumblestone_benches::main!(thesis);
