//! Random scenes of any size and shape, under every stepper: nothing passes through anything.
//!
//! `TUMBLESTONE_SOAK` multiplies the number of scenes, `TUMBLESTONE_SEED` draws others. A failure names its seed, and the bodies that are needed for it.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests fail by panicking, and say what they ran")]

#[path = "random_scenes/overlap.rs"]
mod overlap;
#[path = "random_scenes/run.rs"]
mod run;
#[path = "random_scenes/spec.rs"]
mod spec;

use run::{DEAREST, METHODS, minimised, run as run_scene};
use sim_core::math::testkit::soak;
use spec::Spec;
use std::collections::BTreeMap;

/// Scenes per stepper in CI.
const SCENES: u64 = 60;

fn scenes(name: &str) {
    let method = METHODS.iter().find(|m| m.name == name).unwrap();
    let range = std::env::var("KIT_SEEDS").ok().map(|s| {
        let (a, b) = s.split_once("..").unwrap();
        (a.parse::<u64>().unwrap(), b.parse::<u64>().unwrap())
    });
    let (from, to) = range.unwrap_or((0, soak::cases(SCENES)));
    let (mut failed, mut unexplained, mut dear, mut worst) = (BTreeMap::<_, Vec<String>>::new(), 0, 0, [0.0_f64; 3]);
    for seed in from..to {
        let spec = Spec::new(seed, method.most);
        match run_scene(&spec, method, &vec![true; spec.count()]) {
            Ok(figures) => {
                unexplained += u32::from(figures.remainder > method.remainder);
                if figures.dearest > DEAREST {
                    dear += 1;
                    println!("{name}, seed {seed}: dear {}", figures.dearest);
                }
                let seen = [figures.overlap, figures.remainder, figures.dearest];
                worst = std::array::from_fn(|k| worst[k].max(seen[k]));
            }
            Err(failure) => {
                let (keep, least) = minimised(&spec, method, failure);
                let kept: Vec<usize> = (0..keep.len()).filter(|k| keep[*k]).collect();
                let text = format!("seed {} ({}, sizes {:.3e} to {:.3e} m), bodies {kept:?}: {least}", spec.seed, spec.kind, spec.sizes[0], spec.sizes[1]);
                println!("{name}, {text}");
                failed.entry(least.class).or_default().push(text);
            }
        }
    }
    println!("{name}: {} scenes, worst overlap {:.2e} of the smaller, remainder {:.2e} of what flowed ({unexplained} above the bar), dearest step {:.1} times the median ({dear} above the bar)", to - from, worst[0], worst[1], worst[2]);
    for (class, texts) in &failed {
        println!("{class:?}: {}", texts.len());
    }
    assert!(failed.is_empty(), "{name}: {} of {} scenes failed", failed.values().map(Vec::len).sum::<usize>(), to - from);
}

#[test]
fn soak_random_scenes_from_event_to_event() {
    scenes("events");
}

#[test]
fn soak_random_scenes_with_exact_cones() {
    scenes("exact");
}

#[test]
fn soak_random_scenes_with_lemke() {
    scenes("lemke");
}

#[test]
fn soak_random_scenes_with_soft_contacts() {
    scenes("soft");
}

#[test]
#[ignore = "trace"]
fn trace() {
    let v = std::env::var("KIT_TRACE").unwrap();
    let mut parts = v.split(',');
    let (seed, name) = (parts.next().unwrap().parse::<u64>().unwrap(), parts.next().unwrap());
    let method = METHODS.iter().find(|m| m.name == name).unwrap();
    let kept: Vec<usize> = parts.map(|k| k.parse().unwrap()).collect();
    let spec = Spec::new(seed, method.most);
    let keep: Vec<bool> = (0..spec.count()).map(|k| kept.is_empty() || kept.contains(&k)).collect();
    let (mut world, ids) = spec.build(&keep).unwrap();
    println!("{} {:?} {:?}", spec.kind, spec.room, spec.sizes);
    for (id, body) in world.bodies() {
        for c in body.colliders() {
            let c = world.collider(*c).unwrap();
            println!("{id}: free {} {} r {} {:?}", body.is_free(), c.shape().name(), c.extent().radius, c.surface());
        }
    }
    let mut stepper = method.stepper(&spec);
    for step in 0..spec.steps {
        for id in &ids {
            let b = &world[*id];
            println!("  {step} {id} at {} v*H/r {} w*H {}", b.center(), b.velocity().linear * (1.0 / 60.0) / overlap::size(&world, *id), b.velocity().angular / 60.0);
        }
        match stepper.advance(&mut world, 1.0 / 60.0) {
            Ok(r) => println!("{step}: {:?} {} coll {} dist {} contacts {} overlap {:?}", r.solver, r.events, r.collisions, r.distances, world.contacts().len(), overlap::worst(&spec, &world, 1e-12)),
            Err(e) => { println!("{e}"); break; }
        }
        if std::env::var("KIT_LOOK").is_ok_and(|s| s == step.to_string()) {
            use sim_core::{narrowphase::default_chain, traits::{NarrowPhase, PairCache}};
            let narrow = default_chain();
            let id = ids[0];
            let pose = |c: &sim_core::world::Collider| c.world_pose(&world[c.body()]);
            for (_, mine) in world.colliders().filter(|(_, c)| c.body() == id) {
                for (_, other) in world.colliders().filter(|(_, c)| c.body() != id) {
                    let a_from_b = pose(mine).inverse_mul(&pose(other));
                    let sep = narrow.separation(mine.shape(), other.shape(), &a_from_b, &mut PairCache::default());
                    let mut out = Vec::new();
                    let r = narrow.manifolds(mine.shape(), other.shape(), &a_from_b, 0.1 * mine.extent().radius, &mut PairCache::default(), &mut out);
                    println!("LOOK {} {:?} {:?}", other.shape().name(), sep.map(|s| (s.distance, s.normal, s.point_a)), r);
                    for m in out { println!("   n {} pieces {:?}", m.normal, m.pieces); for p in m.points() { println!("      {} {} {:?}", p.separation, p.point_a, p.features); } }
                }
            }
        }
    }
}
