//! Contact scenes (workload W3) through ours and through rapier, f64 and f32, in one run on one machine.
//!
//! `cargo run --release --bin contact [SCENE] [ROUNDS] [ENGINE]` in this folder prints a table: milliseconds
//! per step, for each step the least of all rounds, averaged over all steps, over the steps until nothing moves faster than 1 cm/s any more, and over the
//! last hundred; the deepest overlap at the end of the run as one narrow phase judges it for all; how far a body has drifted sideways and how fast it
//! still moves.

use collision_narrowphase::default_chain;
use sim_core::{
    constraints::{ConeNewton, soft::SoftParams},
    steppers::ContactMethod,
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{NarrowPhase, PairCache, Shape};
use std::time::Instant;
use tumblestone_benches::scn::{CONTACT_SCENES, Scn};
use tumblestone_peers::engines::{Engine, Ours, rapier_f32, rapier_f64, shape};

/// The deepest overlap of any two bodies, m.
fn deepest(scene: &Scn, state: &[(Pose, DVec3)]) -> f64 {
    let narrow = default_chain();
    let shapes: Vec<Shape> = scene.bodies.iter().map(|b| shape(b.form)).collect();
    let boxes: Vec<_> = shapes.iter().zip(state).map(|(s, (pose, _))| s.aabb(pose)).collect();
    let mut worst: f64 = 0.0;
    for a in 0..shapes.len() {
        for b in 0..a {
            if (scene.bodies[a].fixed && scene.bodies[b].fixed) || !boxes[a].overlaps(&boxes[b]) {
                continue;
            }
            let a_from_b = state[a].0.inverse() * state[b].0;
            let found = narrow.separation(&shapes[a], &shapes[b], &a_from_b, &mut PairCache::default());
            worst = worst.max(-found.expect("distance").distance);
        }
    }
    worst
}

fn row(name: &str, engine: &str, scene: &Scn, rounds: u32, load: &dyn Fn() -> Box<dyn Engine>) {
    let mut best = vec![f64::INFINITY; scene.steps as usize];
    let mut last = Vec::new();
    // Steps until nothing moves any more.
    let mut settling = 0;
    for round in 0..rounds {
        let mut run = load();
        for (step, best) in best.iter_mut().enumerate() {
            let start = Instant::now();
            run.step();
            *best = best.min(start.elapsed().as_secs_f64());
            if round == 0 && run.state().iter().any(|(_, v)| v.length() > 0.01) {
                settling = step + 1;
            }
        }
        last = run.state();
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64 * 1e3;
    let moving = mean(&best[..settling]);
    let (all, end) = (mean(&best), mean(&best[best.len().saturating_sub(100)..]));
    let free = || scene.bodies.iter().zip(&last).filter(|(b, _)| !b.fixed);
    let drift = free().map(|(b, (p, _))| (p.translation - b.pose.translation).truncate().length());
    let speed = free().map(|(_, (_, v))| v.length()).fold(0.0, f64::max);
    println!(
        "| {name} | {engine} | {all:.3} | {moving:.3} ({settling}) | {end:.3} | {:.2} | {:.1} | {:.1} |",
        deepest(scene, &last) * 1e3,
        drift.fold(0.0, f64::max) * 1e3,
        speed * 1e3
    );
}

fn main() {
    let mut words = std::env::args().skip(1);
    let filter = words.next().unwrap_or_default();
    let rounds = words.next().and_then(|w| w.parse().ok()).unwrap_or(3);
    let which = words.next().unwrap_or_default();
    println!(
        "| scene | engine | ms per step | while settling (steps) | last 100 | deepest, mm | drift, mm | speed, mm/s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, text) in CONTACT_SCENES {
        if !name.contains(&filter) {
            continue;
        }
        let scene = Scn::parse(text).expect("scene");
        let soft = |threads| Ours::load(&scene, ContactMethod::Soft(SoftParams::default()), threads);
        let exact = || Ours::load(&scene, ContactMethod::law(ConeNewton::default()), 1);
        let engines: [(&str, &dyn Fn() -> Box<dyn Engine>); 5] = [
            ("rapier f64", &|| Box::new(rapier_f64::Rapier::load(&scene))),
            ("rapier f32", &|| Box::new(rapier_f32::Rapier::load(&scene))),
            ("soft", &|| Box::new(soft(1))),
            ("two threads, soft", &|| Box::new(soft(2))),
            ("exact", &|| Box::new(exact())),
        ];
        for (engine, load) in engines.iter().filter(|(engine, _)| engine.starts_with(&which)) {
            row(name, engine, &scene, rounds, load);
        }
    }
}
