//! The built-in scenes: each one is read, built and runs.

use scene::{
    builtin::{SCENES, setup},
    run::Run,
};

#[test]
fn every_built_in_scene_is_built_and_runs_a_short_while() {
    for scene in SCENES {
        let built = setup(scene.name).unwrap_or_else(|e| panic!("{e}"));
        assert!(built.bodies.len() > 1, "{}", scene.name);
        let mut run = Run::new(built).unwrap_or_else(|e| panic!("{e}"));
        run.advance_to(0.02).unwrap_or_else(|e| panic!("{e}"));
        assert!(run.world().bodies().all(|(_, b)| b.user_pose().is_finite()), "{}", scene.name);
    }
}

#[test]
fn scenes_of_the_theses_have_the_bodies_that_the_theses_count() {
    let free = |name: &str| setup(name).unwrap().world.bodies().filter(|(_, b)| b.is_free()).count();
    for (name, count) in [
        ("dominos", 7),
        ("block-drop", 2),
        ("chain-of-balls", 5),
        ("balls-in-dish", 7),
        ("coins", 8),
        ("pool-break", 16),
        ("bowling", 11),
        ("part-feeder", 6),
        ("exploding-text", 26),
        ("sliding-cubes", 7),
        ("bouncing-balls", 7),
        ("coins-18", 18),
        ("dominoes-150", 151),
        ("brick-wall", 34),
    ] {
        assert_eq!(free(name), count, "{name}");
    }
}
