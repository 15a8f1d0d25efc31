//! Random scenes of any size and shape, under every stepper: nothing passes through anything.
//!
//! `TUMBLESTONE_SOAK` multiplies the number of scenes, `TUMBLESTONE_SEED` draws others, `TUMBLESTONE_SCENE` runs that of one number alone. A failure names its
//! number, and the bodies that are needed for it. Overlaps, remainders of the account and dear steps above their bars are counted, and fail where the method is
//! strict about them; what passes through, escapes, is not finite or is refused always fails.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they ran"
)]

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

fn scenes(name: &str) {
    let method = METHODS.iter().find(|m| m.name == name).unwrap();
    let seeds = match std::env::var("TUMBLESTONE_SCENE") {
        Ok(seed) => seed.parse().map(|seed: u64| seed..seed + 1).unwrap(),
        Err(_) => 0..soak::cases(method.scenes),
    };
    let in_ci =
        [soak::FACTOR, soak::SEED, "TUMBLESTONE_SCENE"].iter().all(|name| std::env::var(name).is_err());
    let count = seeds.end - seeds.start;
    let (mut failed, mut worst) = (BTreeMap::<_, u64>::new(), [0.0_f64; 3]);
    let (mut deep, mut unexplained, mut dear) = (0, 0, 0);
    for seed in seeds {
        let spec = Spec::new(seed, method.most);
        match run_scene(&spec, method, &vec![true; spec.count()]) {
            Ok(figures) => {
                deep += u32::from(figures.overlap > method.overlap);
                unexplained += u32::from(figures.remainder > method.remainder);
                dear += u32::from(figures.dearest > DEAREST);
                let seen = [figures.overlap, figures.remainder, figures.dearest];
                worst = std::array::from_fn(|k| worst[k].max(seen[k]));
            }
            Err(failure) => {
                let (keep, least) = minimised(&spec, method, failure);
                let kept: Vec<usize> = (0..keep.len()).filter(|k| keep[*k]).collect();
                let text = format!(
                    "seed {} ({}, sizes {:.3e} to {:.3e} m), bodies {kept:?}: {least}",
                    spec.seed, spec.kind, spec.sizes[0], spec.sizes[1]
                );
                println!("{name}, {text}");
                *failed.entry(least.class).or_default() += 1;
            }
        }
    }
    println!("{name}: {count} scenes, {failed:?} failed");
    println!("  deepest overlap {:.1e} of the smaller body, {deep} above {:.0e}", worst[0], method.overlap);
    println!(
        "  largest remainder {:.1e} of what flowed, {unexplained} above {:.0e}",
        worst[1], method.remainder
    );
    println!("  dearest step {:.0} times the median per contact, {dear} above {DEAREST}", worst[2]);
    let excused = if in_ci { method.known } else { 0 };
    let number: u64 = failed.values().sum();
    assert!(number <= excused, "{name}: {failed:?} of {count} scenes failed, {excused} are excused");
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
