//! The seven programs that a stranger writes first: short, and each needs one crate only. That they run is seen where all examples are run.

/// The crate, the program, its text.
const PROGRAMS: [(&str, &str, &str); 7] = [
    ("collision_broadphase", "alone", include_str!("../../collision-broadphase/examples/alone.rs")),
    ("collision_narrowphase", "alone", include_str!("../../collision-narrowphase/examples/alone.rs")),
    ("lcp_lemke", "alone", include_str!("../../lcp-lemke/examples/alone.rs")),
    (
        "articulated_featherstone",
        "gravity_compensation",
        include_str!("../../articulated-featherstone/examples/gravity_compensation.rs"),
    ),
    ("sim_core", "own_laws", include_str!("../examples/own_laws.rs")),
    ("sim_core", "rays_and_events", include_str!("../examples/rays_and_events.rs")),
    ("sim_core", "save_and_restore", include_str!("../examples/save_and_restore.rs")),
];

#[test]
fn programs_of_strangers_are_short_and_need_one_crate() {
    for (name, program, text) in PROGRAMS {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let lines = text.lines().filter(is_code).count();
        assert!(lines < 40, "{name}, {program}: {lines} lines");
        let others = ["collision_", "lcp_", "articulated_", "sim_", "rigid_", "constraint_", "glam"];
        for (at, _) in others.iter().flat_map(|other| text.match_indices(other)) {
            let before = text[..at].chars().next_back();
            let starts = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
            let is_path =
                text[at..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').starts_with("::");
            assert!(
                !starts || !is_path || text[at..].starts_with(name),
                "{name}, {program}: {:.40}",
                &text[at..]
            );
        }
    }
}
