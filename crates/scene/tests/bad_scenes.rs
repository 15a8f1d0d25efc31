//! Scenes that are wrong: each has one clear error that names file, place and what was given.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop them")]

use scene::{
    SceneError,
    format::{Memory, load},
    lower::{Registry, lower},
    run::Run,
};

fn files(list: &[(&str, &str)]) -> Memory {
    Memory(list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect())
}

fn open(files: &Memory, name: &str) -> Result<Run, SceneError> {
    Run::new(lower(&load(files, name)?, files, &Registry::standard())?)
}

fn error(text: &str) -> String {
    open(&files(&[("bad.ron", text)]), "bad.ron").unwrap_err().to_string()
}

#[test]
fn numbers_that_cannot_be_are_named_with_their_path() {
    let body = |inner: &str| error(&format!("(bodies: [(kind: fixed), (kind: fixed), ({inner})])"));
    for (inner, message) in [
        ("shape: sphere(radius: -1)", "bad.ron: bodies[2].shape.radius: must be positive, got -1"),
        ("shape: sphere(radius: NaN)", "bad.ron: bodies[2].shape.radius: must be finite, got NaN"),
        ("shape: sphere(radius: inf)", "bad.ron: bodies[2].shape.radius: must be finite, got inf"),
        ("shape: cuboid(size: (1, 0, 1))", "bad.ron: bodies[2].shape.size: must be positive, got (1, 0, 1)"),
        ("shape: sphere(radius: 1), mass: -2", "bad.ron: bodies[2].mass: must be positive, got -2"),
        ("shape: sphere(radius: 1), density: 0", "bad.ron: bodies[2].density: must be positive, got 0"),
        (
            "shape: sphere(radius: 1), friction: -0.1",
            "bad.ron: bodies[2].friction: must not be negative, got -0.1",
        ),
        (
            "shape: sphere(radius: 1), rolling_friction: -0.1",
            "bad.ron: bodies[2].rolling_friction: must not be negative, got -0.1",
        ),
        (
            "shape: sphere(radius: 1), torsional_friction: NaN",
            "bad.ron: bodies[2].torsional_friction: must be finite, got NaN",
        ),
        (
            "shape: sphere(radius: 1), restitution: 1.5",
            "bad.ron: bodies[2].restitution: must be at most 1, got 1.5",
        ),
        (
            "shape: sphere(radius: 1), restitution: -0.5",
            "bad.ron: bodies[2].restitution: must not be negative, got -0.5",
        ),
        (
            "shape: sphere(radius: 1), restitution: NaN",
            "bad.ron: bodies[2].restitution: must be finite, got NaN",
        ),
        (
            "shape: sphere(radius: 1), position: (0, NaN, 0)",
            "bad.ron: bodies[2].position: must be finite, got (0, NaN, 0)",
        ),
        (
            "shape: sphere(radius: 1), rotation: axis_angle(axis: (0, 0, 0), degrees: 3)",
            "bad.ron: bodies[2].rotation.axis: must not be the zero vector",
        ),
        (
            "shape: compound([(shape: sphere(radius: 1)), (shape: cone(radius: 1, height: 0))])",
            "bad.ron: bodies[2].shape[1].shape.height: must be positive, got 0",
        ),
        ("shape: compound([])", "bad.ron: bodies[2].shape: a compound needs a part"),
        (
            "shape: half_space()",
            "bad.ron: bodies[2].shape: a half-space has no mass: give `inertia`, or make the body fixed",
        ),
        ("", "bad.ron: bodies[2]: a free body needs a `shape`, `point_masses` or `inertia`"),
        ("kind: scripted", "bad.ron: bodies[2]: a scripted body needs a `motion`"),
        (
            "shape: hull(points: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])",
            "bad.ron: bodies[2].shape.points: the points span only 2 dimensions: 0 m thick",
        ),
        (
            "shape: sphere(radius: 1), repeat: row(count: 0, step: (1, 0, 0))",
            "bad.ron: bodies[2].repeat: must give from 1 to 50000 copies, gives 0",
        ),
        (
            "shape: sphere(radius: 1), color: \"red\"",
            "bad.ron: bodies[2].color: must be like #3a7bd5, got `red`",
        ),
        (
            "shape: sphere(radius: 1), inertia: (mass: 1, moments: (1, 1, 5))",
            "bad.ron: bodies[2].inertia: inertia is that of no body: moments (0.5, 0.5, 5) violate the triangle inequality",
        ),
    ] {
        let found = body(inner);
        if inner.contains("inertia") {
            // The words are those of the mathematics crate.
            assert!(found.starts_with("bad.ron: bodies[2]"), "{found}");
        } else {
            assert_eq!(found, message, "{inner}");
        }
    }
}

#[test]
fn settings_that_cannot_be_are_named_with_their_path() {
    for (text, message) in [
        ("(gravity: (0, 0, NaN))", "bad.ron: gravity: must be finite, got (0, 0, NaN)"),
        (
            "(stepper: (kind: \"event_drven\"))",
            "bad.ron: stepper.kind: unknown stepper `event_drven`, did you mean `event_driven`? (known are time, event_driven)",
        ),
        (
            "(parts: (broad_phase: \"zebra\"))",
            "bad.ron: parts.broad_phase: unknown broad phase `zebra`, known are coherent_hash, plain_hash, \
             column_sweep, dynamic_tree, sweep_and_prune, brute_force",
        ),
        ("(parts: (threads: 0))", "bad.ron: parts.threads: must be from 1 to 1024, got 0"),
        (
            "(parts: (solver: \"lemk\"))",
            "bad.ron: parts.solver: unknown solver `lemk`, did you mean `lemke`? (known are cone, sweeps, greedy, \
             lemke, soft)",
        ),
        ("(stepper: (envelope: -1e-3))", "bad.ron: stepper.envelope: must be positive, got -0.001"),
        ("(stepper: (envelope_share: 0))", "bad.ron: stepper.envelope_share: must be positive, got 0"),
        (
            "(stepper: (envelope: 1e-3, envelope_share: 1e-3))",
            "bad.ron: stepper: `envelope` and `envelope_share` say the same: give one of them",
        ),
        ("(stepper: (sleep: -1))", "bad.ron: stepper.sleep: must be positive, got -1"),
        ("(run: (until: -1))", "bad.ron: run.until: must not be negative, got -1"),
        ("(run: (until: 1e300))", "bad.ron: run.until: must be at most 1e9 s, got 1e300"),
        ("(record: (rate: 1e7))", "bad.ron: record.rate: must be at most 1000000 Hz, got 1e7"),
        ("(stepper: (step: 1e-300))", "bad.ron: stepper.step: must be at least 1e-6 s, got 1e-300"),
        ("(stepper: (window: 1e-7))", "bad.ron: stepper.window: must be at least 1e-6 s, got 1e-7"),
        (
            "(controllers: [(name: \"gravity\", period: 1e-9, params: {\"value\": vector((0, 0, 1))})])",
            "bad.ron: controllers[0].period: must be at least 1e-6 s, got 1e-9",
        ),
        ("(record: (rate: 0))", "bad.ron: record.rate: must be positive, got 0"),
        (
            "(materials: {\"steel\": (density: -1)})",
            "bad.ron: materials[\"steel\"].density: must be positive, got -1",
        ),
        (
            "(materials: {\"steel\": ()}, pairs: [(a: \"steel\", b: \"stele\", friction: 0, restitution: 0)])",
            "bad.ron: pairs[0].b: unknown material `stele`, did you mean `steel`?",
        ),
        (
            "(bodies: [(name: \"ball\", shape: sphere(radius: 1))], forces: [drag(body: \"bal\", linear: 1)])",
            "bad.ron: forces[0].body: unknown body `bal`, did you mean `ball`?",
        ),
        (
            "(controllers: [(name: \"gravty\")])",
            "bad.ron: controllers[0].name: unknown controller `gravty`, did you mean `gravity`?",
        ),
        ("(controllers: [(name: \"gravity\")])", "bad.ron: controllers[0].params: missing parameter `value`"),
        (
            "(controllers: [(name: \"gravity\", params: {\"value\": vector((0, 0, 1)), \"valu\": number(1)})])",
            "bad.ron: controllers[0].params: unknown parameter `valu`, did you mean `value`?",
        ),
        (
            "(bodies: [(name: \"x\", kind: fixed), (name: \"x\", kind: fixed)])",
            "bad.ron: bodies[1].name: `x` is the name of another body",
        ),
        (
            "(shapes: {\"a\": named(\"b\"), \"b\": named(\"a\")}, bodies: [(shape: named(\"a\"))])",
            "bad.ron: shapes[\"a\"]: shapes are nested more than 16 deep",
        ),
    ] {
        let found = error(text);
        // A ring of shapes is noticed at one of its two names.
        assert_eq!(found.replace("shapes[\"b\"]", "shapes[\"a\"]"), message, "{text}");
    }
}

#[test]
fn text_that_is_no_scene_is_named_with_line_and_column() {
    for (text, message) in [
        ("(bodis: [])", "unknown field `bodis`, did you mean `bodies`?"),
        ("(bodies: [(shape: sphere(radus: 1))])", "unknown field `radus`, did you mean `radius`?"),
        ("(bodies: [(shape: spere(radius: 1))])", "unknown kind `spere`, did you mean `sphere`?"),
        ("(bodies: [(shape: sphere())])", "missing field `radius`"),
        ("(gravity: (1, 2))", "expected three numbers (x, y, z), got 2"),
        ("(bodies: [(mass: 1, mass: 2)])", "field `mass` is given twice"),
        ("(materials: {\"a\": (), \"a\": ()})", "`a` is given twice"),
        ("(bodies: [", "the file ends too early"),
        ("(bodies: [(), ", "the file ends too early"),
        ("", "the file ends too early"),
        ("5", "expected `(`"),
        ("() ()", "there is more text after the end of the scene"),
    ] {
        let wrong = open(&files(&[("bad.ron", text)]), "bad.ron").unwrap_err();
        assert_eq!(wrong.problem, message, "{text}");
        assert!(wrong.line.is_some() && wrong.file == "bad.ron", "{wrong:?}");
    }
    let path =
        open(&files(&[("bad.ron", "(bodies: [(),(shape: sphere(radus: 1))])")]), "bad.ron").unwrap_err().path;
    assert_eq!(path, "bodies[1].shape");
    for (text, path, message) in [
        ("{\"bodis\": []}", "", "unknown field `bodis`, did you mean `bodies`?"),
        (
            "{\"bodies\": [{\"shape\": {\"sphere\": {\"radus\": 1}}}]}",
            "bodies[0].shape",
            "unknown field `radus`, did you mean `radius`?",
        ),
        (
            "{\"bodies\": [{\"shape\": {\"sphere\": {\"radius\": \"x\"}}}]}",
            "bodies[0].shape.radius",
            "expected f64, got string \"x\"",
        ),
    ] {
        let wrong = open(&files(&[("bad.json", text)]), "bad.json").unwrap_err();
        assert_eq!((wrong.path.as_str(), wrong.problem.as_str()), (path, message), "{text}");
    }
}

#[test]
fn files_that_are_missing_huge_or_in_a_ring_are_named() {
    let scene = |text: &str| files(&[("a.ron", text), ("dir/b.ron", "(include: [\"../a.ron\"])")]);
    let wrong = |memory: &Memory| open(memory, "a.ron").unwrap_err().to_string();
    assert_eq!(open(&scene(""), "c.ron").unwrap_err().to_string(), "c.ron: no such file");
    assert_eq!(wrong(&scene("(include: [\"c.ron\"])")), "a.ron: include[0]: `c.ron`: no such file");
    assert_eq!(
        wrong(&scene("(include: [\"dir/b.ron\"])")),
        "dir/b.ron: include[0]: `a.ron`: included by itself: a.ron -> dir/b.ron -> a.ron"
    );
    // The first name may have a dot in front.
    let dotted = files(&[("./a.ron", "(include: [\"a.ron\"])")]);
    assert_eq!(
        open(&dotted, "./a.ron").unwrap_err().to_string(),
        "./a.ron: include[0]: `a.ron`: included by itself: ./a.ron -> a.ron"
    );
    assert_eq!(
        wrong(&scene("(bodies: [(shape: mesh(file: \"cap.obj\"))])")),
        "a.ron: bodies[0].shape.file: `cap.obj`: no such file"
    );
    assert_eq!(
        wrong(&scene("(bodies: [(shape: mesh(file: \"dir/b.ron\"))])")),
        "a.ron: bodies[0].shape.file: `dir/b.ron`: `.ron` is no mesh format, known are .obj and .stl"
    );
    let huge = Memory([("a.ron".to_owned(), vec![b' '; (8 << 20) + 1])].into());
    assert_eq!(wrong(&huge), "a.ron: 8388609 bytes are more than the limit of 8388608");
    let binary = Memory([("a.ron".to_owned(), vec![b'(', 0xff])].into());
    assert_eq!(wrong(&binary), "a.ron: not text (byte 1)");
    // Each file includes the next three times: thousands of files, if nobody counted.
    let list: Vec<(String, Vec<u8>)> = (0..7)
        .map(|k| {
            let text = format!("(include: [\"{0}.ron\", \"{0}.ron\", \"{0}.ron\"])", k + 1);
            (format!("{k}.ron"), text.into_bytes())
        })
        .chain([("7.ron".to_owned(), b"()".to_vec())])
        .collect();
    let bomb = open(&Memory(list.into_iter().collect()), "0.ron").unwrap_err();
    assert!(bomb.problem.ends_with("more than 64 files"), "{bomb}");
}

#[test]
fn shapes_that_multiply_are_stopped() {
    let mut shapes = String::from("\"0\": sphere(radius: 1)");
    for k in 1..7 {
        let part = format!("(shape: named(\"{}\")),", k - 1).repeat(10);
        shapes += &format!(", \"{k}\": compound([{part}])");
    }
    let found = error(&format!("(shapes: {{{shapes}}}, bodies: [(shape: named(\"6\"))])"));
    assert!(found.ends_with("more than 10000 pieces"), "{found}");
}

// proves: FON-78
#[test]
fn bodies_that_overlap_are_an_error_that_names_both() {
    let text = "(bodies: [(name: \"floor\", kind: fixed, shape: half_space()), \
        (name: \"ball\", shape: sphere(radius: 0.5), position: (0, 0, 0.4))], stepper: (kind: \"event_driven\"))";
    let found = error(text);
    assert_eq!(found, "bad.ron: bodies[0] (`floor`) and bodies[1] (`ball`) overlap by 1.000e-1 m at t = 0 s");
}

#[test]
fn an_error_in_an_included_file_names_that_file() {
    let memory = files(&[
        ("a.ron", "(include: [\"b.ron\"], bodies: [(shape: sphere(radius: 1))])"),
        ("b.ron", "(bodies: [(kind: fixed), (shape: sphere(radius: 0))])"),
    ]);
    assert_eq!(
        open(&memory, "a.ron").unwrap_err().to_string(),
        "b.ron: bodies[1].shape.radius: must be positive, got 0"
    );
}

#[test]
fn restitution_above_one_is_refused_wherever_it_is_given() {
    for (text, message) in [
        (
            "(materials: {\"gum\": (restitution: 1.2)})",
            "bad.ron: materials[\"gum\"].restitution: must be at most 1, got 1.2",
        ),
        (
            "(materials: {\"gum\": ()}, pairs: [(a: \"gum\", b: \"gum\", friction: 0, restitution: 2)])",
            "bad.ron: pairs[0].restitution: must be at most 1, got 2",
        ),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn a_contact_law_selects_time_stepping_and_contradicts_another_stepper() {
    let with = |stepper: &str| {
        let text = format!("({stepper} parts: (solver: \"sweeps\"), bodies: [(kind: fixed)])");
        let files = files(&[("s.ron", text.as_str())]);
        load(&files, "s.ron").and_then(|loaded| lower(&loaded, &files, &Registry::standard()))
    };
    let choice = with("").unwrap().choice;
    assert_eq!((choice.stepper, choice.solver), ("time", "sweeps"));
    assert_eq!(
        with("stepper: (kind: \"event_driven\"),").unwrap_err().to_string(),
        "s.ron: parts.solver: `sweeps` is for time stepping, and `stepper.kind` is `event_driven`"
    );
}
