//! Mutated scene and mesh files: 1e5 in CI, 1e6 and more with the factor in `TUMBLESTONE_SOAK`. No panic, bounded memory, and
//! what is read comes back after writing.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop them")]

mod support;

use scene::{
    builtin::SCENES,
    format::{
        Loaded, load,
        text::{Syntax, parse, write},
    },
    lower::{Registry, lower},
    mesh,
};
use sim_math::testkit::SplitMix64;
use support::{EVERYTHING, TETRAHEDRON, everything, mutate};

fn environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(usual)
}

/// Peak memory of this process, bytes; `None` where the system does not tell.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The text must be read without a panic; if it is a scene it must survive writing, and its world must be built or refused.
fn survives(bytes: &[u8], name: &str) -> bool {
    let mut files = everything();
    files.0.insert(name.to_owned(), bytes.to_vec());
    let Ok(loaded) = load(&files, name) else { return false };
    let text = write(&loaded.scene, Syntax::Ron, name).unwrap();
    let again = parse(&text, Syntax::Ron, name).unwrap();
    // By their text, because a scene may hold NaN, which equals nothing.
    assert_eq!(write(&again, Syntax::Ron, name).unwrap(), text);
    let Ok(setup) = lower(&loaded, &files, &Registry::standard()) else { return false };
    assert!(setup.world.bodies().all(|(_, b)| b.user_pose().is_finite()));
    true
}

#[test]
fn soak_mutated_scenes_never_panic_and_memory_stays_bounded() {
    let count = 100_000 * environment("TUMBLESTONE_SOAK", 1);
    let mut random = SplitMix64(environment("TUMBLESTONE_SEED", 90));
    let mut corpus: Vec<&str> = SCENES.iter().map(|s| s.text).filter(|t| t.len() < 2500).collect();
    corpus.extend([
        EVERYTHING,
        "()",
        "(bodies: [(shape: sphere(radius: 1), repeat: row(count: 3, step: (3, 0, 0)))])",
    ]);
    let (mut read, mut tried) = (0, 0);
    while tried < count {
        // Every other one from the scene that has everything.
        let pick = if random.below(2) == 0 { EVERYTHING } else { corpus[random.below(corpus.len())] };
        let text = mutate(pick.as_bytes(), EVERYTHING.as_bytes(), &mut random);
        let name = if random.below(16) == 0 { "mutant.json" } else { "mutant.ron" };
        read += u64::from(survives(&text, name));
        tried += 1;
    }
    // If all were refused at the first letter, nothing would have been tested.
    assert!(read * 50 > tried, "only {read} of {tried} became worlds");
    if let Some(peak) = peak_memory() {
        println!("{tried} mutated scenes, {read} of them worlds; peak memory {} MiB", peak >> 20);
        assert!(peak < 1 << 30, "{peak} bytes");
    }
}

#[test]
fn mutated_meshes_never_panic() {
    let count = 20_000 * environment("TUMBLESTONE_SOAK", 1);
    let mut random = SplitMix64(environment("TUMBLESTONE_SEED", 91));
    let cube = mesh::read("x.obj", TETRAHEDRON.as_bytes()).unwrap();
    let stl = mesh::write_stl(&cube);
    for _ in 0..count {
        for (name, bytes) in [("x.obj", TETRAHEDRON.as_bytes()), ("x.stl", stl.as_slice())] {
            let bytes = mutate(bytes, TETRAHEDRON.as_bytes(), &mut random);
            if let Ok(found) = mesh::read(name, &bytes) {
                assert!(found.points.iter().all(|p| p.is_finite()));
                assert!(found.faces.iter().flatten().all(|&k| (k as usize) < found.points.len()));
                let _ = collision_narrowphase::Polyhedron::hull(&found.points);
                for piece in mesh::pieces(&found) {
                    let _ = collision_narrowphase::Polyhedron::from_faces(&piece.points, &piece.faces);
                }
            }
        }
    }
}

#[test]
fn every_scene_comes_back_from_both_syntaxes() {
    let all = SCENES.iter().map(|s| (s.name, s.text)).chain([("everything", EVERYTHING)]);
    for (name, text) in all {
        let scene = parse(text, Syntax::Ron, name).unwrap();
        for syntax in [Syntax::Ron, Syntax::Json] {
            let written = write(&scene, syntax, name).unwrap();
            assert_eq!(parse(&written, syntax, name).unwrap(), scene, "{name}, {syntax:?}:\n{written}");
        }
    }
}

#[test]
fn the_scene_with_everything_is_built() {
    let files = everything();
    let setup = lower(&load(&files, "everything.ron").unwrap(), &files, &Registry::standard()).unwrap();
    assert_eq!(setup.world.body_count(), setup.bodies.len());
    assert_eq!(setup.controllers.len(), 3);
    assert_eq!(setup.name_of(setup.bodies[2].id), Some("tops[0]"));
    // Vary: the last copy has the last value.
    let last = setup.bodies.iter().rfind(|b| b.family == "tops").unwrap();
    assert!((setup.world[last.id].mass() - 2.0).abs() < 1e-12);
    let nothing = lower(
        &Loaded::from_scene(parse("()", Syntax::Ron, "x.ron").unwrap(), "x.ron"),
        &files,
        &Registry::standard(),
    );
    assert_eq!(nothing.unwrap().world.body_count(), 0);
}
