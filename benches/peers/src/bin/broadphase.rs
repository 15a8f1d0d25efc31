//! Our broad phases beside parry's bounding-volume hierarchy, on the same boxes in the same run, one thread.
//!
//! `cargo run --release --bin broadphase -- [scene] [n] [steps] [name ...]`. Times are CPU time of the thread in
//! milliseconds per update: all boxes are given anew, then the full list of pairs, or the changes, is taken.

use collision_broadphase::{
    BruteForce, CoherentHash, CoherentHashParams, ColumnSweep, ColumnSweepParams, DynamicTree, Levels,
    PlainHash, SweepAndPrune,
};
use cpu_time::ThreadTime;
use parry3d_f64::{
    bounding_volume::Aabb as ParryAabb,
    partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace},
};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{BroadPhase, Pair, PairChanges};
use tumblestone_benches::boxes::MovingBoxes;

/// Steps before the clock runs; at most as many as are timed.
const WARM_UP: usize = 20;

/// Something that takes boxes and gives pairs.
trait Contender {
    fn update(&mut self, scene: &MovingBoxes) -> usize;
}

struct Ours {
    broad: Box<dyn BroadPhase>,
    pairs: Vec<Pair>,
    changes: Option<PairChanges>,
}

impl Contender for Ours {
    fn update(&mut self, scene: &MovingBoxes) -> usize {
        self.broad.update(&scene.ids, &scene.boxes).unwrap();
        match &mut self.changes {
            Some(changes) => {
                self.broad.pair_changes(changes);
                changes.begun.len() + changes.ended.len()
            }
            None => {
                self.broad.pairs(&mut self.pairs);
                self.pairs.len()
            }
        }
    }
}

fn to_parry(aabb: &Aabb) -> ParryAabb {
    let v = |p: DVec3| parry3d_f64::math::Vector::new(p.x, p.y, p.z);
    ParryAabb::new(v(aabb.min), v(aabb.max))
}

struct Parry {
    bvh: Bvh,
    workspace: BvhWorkspace,
    pairs: Vec<(u32, u32)>,
    margin: f64,
    optimize: bool,
    rebuild: bool,
}

impl Parry {
    fn new(scene: &MovingBoxes, margin: f64, optimize: bool, rebuild: bool) -> Self {
        let leaves: Vec<ParryAabb> = scene.boxes.iter().map(to_parry).collect();
        Self {
            bvh: Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves),
            workspace: BvhWorkspace::default(),
            pairs: Vec::new(),
            margin,
            optimize,
            rebuild,
        }
    }
}

impl Contender for Parry {
    fn update(&mut self, scene: &MovingBoxes) -> usize {
        let Self { bvh, workspace, pairs, .. } = self;
        if self.rebuild {
            *bvh = Bvh::from_iter(
                BvhBuildStrategy::Binned,
                scene.boxes.iter().enumerate().map(|(i, b)| (i, to_parry(b))),
            );
        } else {
            for (id, aabb) in scene.ids.iter().zip(&scene.boxes) {
                bvh.insert_or_update_partially(to_parry(aabb), id.0, self.margin);
            }
            if self.optimize {
                bvh.optimize_incremental(workspace);
            }
            bvh.refit(workspace);
        }
        pairs.clear();
        if self.margin > 0.0 {
            bvh.traverse_bvtt_single_tree::<true>(workspace, &mut |a, b| pairs.push((a, b)));
        } else {
            bvh.traverse_bvtt_single_tree::<false>(workspace, &mut |a, b| pairs.push((a, b)));
        }
        pairs.len()
    }
}

fn contender(name: &str, scene: &MovingBoxes) -> Option<Box<dyn Contender>> {
    let (kind, mode) = name.split_once(':')?;
    let changes = mode == "changes";
    let ours = |mut broad: Box<dyn BroadPhase>| -> Option<Box<dyn Contender>> {
        scene.insert_into(broad.as_mut());
        Some(Box::new(Ours { broad, pairs: Vec::new(), changes: changes.then(PairChanges::default) }))
    };
    match kind {
        "parry" => Some(Box::new(match mode {
            "full" => Parry::new(scene, 0.0, false, false),
            "full-opt" => Parry::new(scene, 0.0, true, false),
            "rebuild" => Parry::new(scene, 0.0, false, true),
            _ => Parry::new(scene, mode.strip_prefix("fat")?.parse().ok()?, true, false),
        })),
        "column" => ours(Box::new(ColumnSweep::default())),
        _ if kind.starts_with("column") && kind.len() > 6 => {
            let mut params = ColumnSweepParams::default();
            params.max_window = kind[6..].parse().ok()?;
            ours(Box::new(ColumnSweep::new(params)))
        }
        "coherent" => {
            let mut params = CoherentHashParams::default();
            params.levels = Levels::fewest(0.05, 32.0, 0.5, 1.0).ok()?;
            ours(Box::new(CoherentHash::new(params)))
        }
        "coherent27" => {
            let mut params = CoherentHashParams::default();
            params.levels = Levels::fewest(0.5, 16.0, 0.5, 1.0).ok()?;
            params.threshold = 27;
            ours(Box::new(CoherentHash::new(params)))
        }
        "plain" => ours(Box::new(PlainHash::default())),
        "tree" => ours(Box::new(DynamicTree::default())),
        "sap" => ours(Box::new(SweepAndPrune::default())),
        "brute" => ours(Box::new(BruteForce::default())),
        _ => None,
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.into());
    let (scene_name, n, steps) = (word(0, "w1"), word(1, "10000"), word(2, "64"));
    let (n, steps): (usize, usize) = (n.parse().unwrap(), steps.parse().unwrap());
    let all = ["parry:full", "parry:fat0.5", "column:full", "column:changes"];
    let names: Vec<String> =
        if args.len() > 3 { args[3..].to_vec() } else { all.iter().map(|s| (*s).into()).collect() };
    println!(
        "{:<10} {:>8} {:<18} {:>9} {:>9} {:>9} {:>9}",
        "scene", "n", "who", "mean", "median", "worst", "count"
    );
    let mut scene = MovingBoxes::scene(&scene_name, n).unwrap();
    let mut contenders: Vec<_> = names.iter().map(|name| contender(name, &scene).unwrap()).collect();
    let warm_up = WARM_UP.min(steps);
    let mut times = vec![Vec::new(); names.len()];
    let mut counts = vec![0; names.len()];
    // Steps outside, contenders inside: what disturbs the machine disturbs all.
    for step in 0..(warm_up + steps) {
        scene.step();
        for (i, contender) in contenders.iter_mut().enumerate() {
            let start = ThreadTime::now();
            counts[i] = contender.update(&scene);
            if step >= warm_up {
                times[i].push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    for (i, name) in names.iter().enumerate() {
        let mean = times[i].iter().sum::<f64>() / steps as f64;
        times[i].sort_by(f64::total_cmp);
        let (median, worst) = (times[i][steps / 2], times[i][steps - 1]);
        println!(
            "{scene_name:<10} {n:>8} {name:<18} {mean:>9.3} {median:>9.3} {worst:>9.3} {:>9}",
            counts[i]
        );
    }
}
