//! The program as a person uses it: outputs, exit codes, nothing written half.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop them")]

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sim")).args(args).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const BALL: &str = "(bodies: [(name: \"floor\", kind: fixed, shape: half_space(), restitution: 0.8), \
    (name: \"ball\", shape: sphere(radius: 0.1), position: (0, 0, 1.1), restitution: 0.8)], run: (until: 1))";

// proves: MIR-96
#[test]
fn a_run_writes_a_recording_and_a_table() {
    let dir = folder("writes");
    let (scene, film, table) = (dir.join("ball.ron"), dir.join("ball.rec"), dir.join("ball.csv"));
    fs::write(&scene, BALL).unwrap();
    let paths = [scene.to_str().unwrap(), film.to_str().unwrap(), table.to_str().unwrap()];
    let done = sim(&["run", paths[0], "--record", paths[1], "--csv", paths[2], "--report"]);
    assert!(done.status.success(), "{}", err(&done));
    assert!(out(&done).contains("1 s simulated"), "{}", out(&done));
    for part in
        ["% dynamics", "% detection", "% response", "% control", "distance checks", "per simulated second"]
    {
        assert!(out(&done).contains(part), "{part}: {}", out(&done));
    }
    let mut recording = scene::Recording::open(&film).unwrap();
    assert_eq!(recording.len(), 61);
    // Free fall until 0.4515 s: at 20 frames it is at 1.1 - g/2 (1/3)^2.
    let ball = recording.frame(20).unwrap().bodies[1].unwrap();
    assert!((ball.pose.translation.z - (1.1 - 4.905 / 9.0)).abs() < 1e-3, "{ball:?}");
    let text = fs::read_to_string(&table).unwrap();
    assert_eq!(text.lines().count(), 62);
    let names: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn bad_input_is_code_2_with_one_line_and_nothing_is_written() {
    let dir = folder("bad");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let cases = [
        (
            "negative.ron",
            "(bodies: [(shape: sphere(radius: 1), mass: -1)])",
            "bodies[0].mass: must be positive, got -1",
        ),
        (
            "nan.ron",
            "(bodies: [(shape: sphere(radius: NaN))])",
            "bodies[0].shape.radius: must be finite, got NaN",
        ),
        ("mesh.ron", "(bodies: [(shape: mesh(file: \"no.obj\"))])", "no.obj`: no such file"),
        ("stepper.ron", "(stepper: (kind: \"magic\"))", "stepper.kind: unknown stepper `magic`"),
        ("ring.ron", "(include: [\"ring.ron\"])", "included by itself"),
        (
            "field.ron",
            "(bodies: [(shape: sphere(radus: 1))])",
            "1:26: bodies[0].shape: unknown field `radus`, did you mean `radius`?",
        ),
        ("endless.ron", "(run: (until: 1e300))", "run.until: must be at most 1e9 s, got 1e300"),
        (
            "overlap.ron",
            "(bodies: [(kind: fixed, shape: half_space()), (shape: sphere(radius: 1))], stepper: (kind: \"event_driven\"))",
            "bodies[0] (`bodies[0]`) and bodies[1] (`bodies[1]`) overlap by 1.000e0 m",
        ),
    ];
    for (name, text, message) in cases {
        fs::write(dir.join(name), text).unwrap();
        let target = path("out.rec");
        for command in [vec!["check", &path(name)], vec!["run", &path(name), "--record", &target]] {
            let done = sim(&command);
            assert_eq!(done.status.code(), Some(2), "{name}: {}", err(&done));
            let text = err(&done);
            assert!(text.contains(message) && text.contains(name), "{text}");
            assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        }
        assert!(!dir.join("out.rec").exists(), "{name}");
    }
    fs::write(dir.join("huge.ron"), vec![b' '; 9 << 20]).unwrap();
    assert!(
        err(&sim(&["check", &path("huge.ron")])).contains("9437184 bytes are more than the limit of 8388608")
    );
    let unknown = sim(&["run", "domnos"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("did you mean `dominos`?"), "{}", err(&unknown));
    // A recording that was cut off.
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    assert!(sim(&["run", &path("ball.ron"), "--record", &path("ball.rec")]).status.success());
    let whole = fs::read(dir.join("ball.rec")).unwrap();
    fs::write(dir.join("cut.rec"), &whole[..whole.len() / 2]).unwrap();
    let cut = sim(&["page", &path("cut.rec"), "--html", &path("cut.html")]);
    assert_eq!(cut.status.code(), Some(2), "{}", err(&cut));
    assert!(err(&cut).contains("cut.rec") && !dir.join("cut.html").exists(), "{}", err(&cut));
}

#[test]
fn a_run_that_fails_is_code_1_and_leaves_nothing() {
    let dir = folder("fails");
    let (scene, film) = (dir.join("rest.ron"), dir.join("rest.rec"));
    // A ball that rests in a thin envelope makes thousands of micro-collisions a second: more than it is allowed here.
    let text = BALL.replace("run: (until: 1)", "stepper: (envelope: 1e-6, max_events: 10), run: (until: 10)");
    fs::write(&scene, text).unwrap();
    let done = sim(&["run", scene.to_str().unwrap(), "--record", film.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(1), "{}{}", out(&done), err(&done));
    assert!(err(&done).contains("the run failed") && err(&done).contains("`ball`"), "{}", err(&done));
    assert!(!film.exists());
}

#[test]
fn a_batch_is_the_same_for_any_number_of_jobs() {
    let dir = folder("batch");
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    let scene = dir.join("ball.ron");
    let run = |jobs: &str| {
        let done = sim(&[
            "run",
            scene.to_str().unwrap(),
            "--repeat",
            "5",
            "--jobs",
            jobs,
            "--vary",
            "bodies.ball.position.z=0.6..2.6",
            "--vary",
            "bodies.ball.velocity.x=0..1",
        ]);
        assert!(done.status.success(), "{}", err(&done));
        out(&done)
    };
    let one = run("1");
    assert_eq!(one, run("3"));
    let rows: Vec<Vec<&str>> = one.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0][..3], ["run", "bodies.ball.position.z", "bodies.ball.velocity.x"]);
    assert_eq!((rows[1][1], rows[5][1], rows[5][2]), ("0.6", "2.6", "1"));
    // Energy is m g h + m v²/2: the last run starts higher and faster.
    let energy = |row: &[&str]| row[7].parse::<f64>().unwrap();
    let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    assert!((energy(&rows[5]) / (mass * (9.81 * 2.6 + 0.5)) - 1.0).abs() < 1e-12);
    let wrong =
        sim(&["run", scene.to_str().unwrap(), "--repeat", "2", "--vary", "bodies.bal.position.z=0..1"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("there is no `bal`, did you mean `ball`?"), "{}", err(&wrong));
    let misspelt =
        sim(&["run", scene.to_str().unwrap(), "--repeat", "2", "--vary", "bodies.ball.positon.z=0..1"]);
    assert_eq!(misspelt.status.code(), Some(2));
    let text = "--vary bodies.ball.positon.z: unknown field `positon`, did you mean `position`?";
    assert!(err(&misspelt).contains(text), "{}", err(&misspelt));
    let nobody = sim(&["run", scene.to_str().unwrap(), "--repeat", "2", "--jobs", "0"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(err(&nobody).contains("--jobs: must be from 1 to 1024, got 0"), "{}", err(&nobody));
    let backwards = sim(&["run", scene.to_str().unwrap(), "--until", "-1s"]);
    assert_eq!(backwards.status.code(), Some(2));
    assert!(err(&backwards).contains("must be a time in seconds"), "{}", err(&backwards));
}

#[test]
fn a_batch_ends_at_its_first_failure_and_names_it_for_any_number_of_jobs() {
    let dir = folder("failing");
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    let (scene, table) = (dir.join("ball.ron"), dir.join("out.csv"));
    for jobs in ["1", "4"] {
        // The radius falls through zero at run 50 of 100 001.
        let done = sim(&[
            "run",
            scene.to_str().unwrap(),
            "--repeat",
            "100001",
            "--jobs",
            jobs,
            "--vary",
            "bodies.ball.shape.radius=0.1..-199.9",
            "--csv",
            table.to_str().unwrap(),
        ]);
        assert_eq!(done.status.code(), Some(2));
        assert!(err(&done).contains("bodies[1].shape.radius: must be positive, got"), "{}", err(&done));
        assert!(err(&done).contains("(run 50)"), "{}", err(&done));
        assert!(!table.exists());
    }
}

#[test]
fn nothing_that_is_read_is_written_over_and_two_outputs_are_two_files() {
    let dir = folder("apart");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    fs::write(dir.join("outer.ron"), "(include: [\"ball.ron\"])").unwrap();
    assert!(sim(&["run", &path("ball.ron"), "--record", &path("ball.tumble")]).status.success());
    let film = fs::read(dir.join("ball.tumble")).unwrap();
    let same = path("same");
    let dotted = dir.join(".").join("same").to_str().unwrap().to_owned();
    for (arguments, message) in [
        (vec!["run", &path("ball.ron"), "--csv", &path("ball.ron")], "it is what is read"),
        (vec!["run", &path("outer.ron"), "--csv", &path("ball.ron")], "it is what is read"),
        (vec!["run", &path("ball.ron"), "--csv", &same, "--trace", &dotted], "it is given for two outputs"),
        (vec!["page", &path("ball.tumble"), "--html", &path("ball.tumble")], "it is what is read"),
        (vec!["gltf", &path("ball.tumble"), &path("ball.tumble")], "it is what is read"),
        (vec!["still", &path("ball.ron"), "--png", &path("ball.ron")], "it is what is read"),
        (vec!["run", &path("ball.tumble")], "is a recording, not a scene"),
    ] {
        let done = sim(&arguments);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {}", out(&done));
        assert!(err(&done).contains(message), "{arguments:?}: {}", err(&done));
    }
    assert_eq!(fs::read_to_string(dir.join("ball.ron")).unwrap(), BALL);
    assert_eq!(fs::read(dir.join("ball.tumble")).unwrap(), film);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 3);
}

#[test]
fn if_one_file_cannot_be_written_none_is() {
    let dir = folder("staged");
    let (good, lost) = (dir.join("good"), dir.join("lost"));
    // The place beside the second file is taken by a folder.
    fs::create_dir(dir.join("lost.part")).unwrap();
    let failed = sim_cli::write_files(&[(&good, b"1"), (&lost, b"2")]).unwrap_err();
    assert!(failed.to_string().contains("lost") && failed.exit_code() == 2, "{failed}");
    assert!(!good.exists() && !dir.join("good.part").exists());
    sim_cli::write_files(&[(&good, b"1")]).unwrap();
    assert_eq!(fs::read(&good).unwrap(), b"1");
}

#[test]
fn choices_of_parts_are_taken_and_unknown_ones_named() {
    let dir = folder("choices");
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    let scene = dir.join("ball.ron");
    let path = scene.to_str().unwrap();
    let done =
        sim(&["run", path, "--broad-phase", "dynamic-tree", "--impact", "algebraic", "--until", "0.5s"]);
    assert!(done.status.success() && out(&done).contains("0.5 s simulated"), "{}{}", out(&done), err(&done));
    let wrong = sim(&["run", path, "--impact", "algebrai"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("did you mean `algebraic`?"), "{}", err(&wrong));
    let table = sim(&["compare", path, "--until", "0.6s"]);
    assert!(table.status.success() && out(&table).lines().count() > 10, "{}{}", out(&table), err(&table));
}

#[test]
fn every_built_in_scene_is_listed() {
    let done = sim(&["list"]);
    assert!(done.status.success());
    for scene in scene::builtin::SCENES {
        assert!(out(&done).contains(scene.name), "{}", scene.name);
    }
}

#[test]
fn time_stepping_and_its_contact_laws_are_chosen_by_name() {
    let dir = folder("time");
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    let scene = dir.join("ball.ron");
    let path = scene.to_str().unwrap();
    for law in ["cone", "sweeps", "greedy", "lemke", "soft"] {
        let done =
            sim(&["run", path, "--stepper", "time", "--solver", law, "--step", "0.005s", "--until", "0.5s"]);
        assert!(
            done.status.success() && out(&done).contains("0.5 s simulated"),
            "{}{}",
            out(&done),
            err(&done)
        );
    }
    let wrong = sim(&["run", path, "--stepper", "time", "--solver", "lemk"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("did you mean `lemke`?"), "{}", err(&wrong));
}

#[test]
fn a_run_becomes_a_page_a_model_and_a_picture() {
    let dir = folder("looks");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    let (scene, html, glb, film) =
        (path("ball.ron"), path("ball.html"), path("ball.glb"), path("ball.tumble"));
    let done = sim(&["run", &scene, "--html", &html, "--gltf", &glb, "--record", &film]);
    assert!(done.status.success(), "{}", err(&done));
    assert!(out(&done).contains("open ") && out(&done).contains("ball.html in a browser"), "{}", out(&done));
    assert!(fs::read_to_string(&html).unwrap().starts_with("<!doctype html>"));
    assert!(fs::read(&glb).unwrap().starts_with(b"glTF"));
    for input in [&scene, &film] {
        let png = path("ball.png");
        let still = sim(&["still", input, "--at", "0.2s", "--png", &png, "--size", "64x48"]);
        assert!(still.status.success(), "{}", err(&still));
        assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
        fs::remove_file(png).unwrap();
    }
    // Nothing runs if its result could not be written.
    for flag in ["--html", "--gltf", "--record", "--csv", "--trace"] {
        let lost = sim(&["run", &scene, flag, &path("none/out")]);
        assert_eq!(lost.status.code(), Some(2));
        assert!(err(&lost).contains("there is no folder"), "{}", err(&lost));
    }
}

/// A box at rest on a floor beside a ball that comes down.
const REST: &str = "(bodies: [(name: \"floor\", kind: fixed, shape: half_space()), \
    (name: \"box\", shape: cuboid(size: (0.4, 0.4, 0.2)), position: (0, 0, 0.1005)), \
    (name: \"ball\", shape: sphere(radius: 0.1), position: (0.1, 0, 0.5))], run: (until: 1))";

// proves-part: MIR-38, FON-31
#[test]
fn a_recording_has_resting_contacts_boxes_pairs_and_the_energy_account() {
    let dir = folder("account");
    let (scene, film) = (dir.join("rest.ron"), dir.join("rest.tumble"));
    fs::write(&scene, REST).unwrap();
    let done = sim(&["run", scene.to_str().unwrap(), "--record", film.to_str().unwrap()]);
    assert!(done.status.success(), "{}", err(&done));
    let mut recording = scene::Recording::open(&film).unwrap();
    let mass: Vec<f64> = recording.bodies().iter().map(|b| b.mass).collect();
    // The box stands on its corners, and the ball on the box: impulses carry their weight, in hops that may last for a frame.
    let mut weight = |a: u32, b: u32| -> f64 {
        let mut sum = 0.0;
        for k in 40..60 {
            let contacts = &recording.frame(k).unwrap().contacts;
            let these = contacts.iter().filter(|c| (c.a.min(c.b), c.a.max(c.b)) == (a, b));
            sum += these.map(|c| c.impulse.z.abs()).sum::<f64>();
        }
        sum / 20.0
    };
    let (ball, all) = (mass[2] * 9.81 / 60.0, (mass[1] + mass[2]) * 9.81 / 60.0);
    let (of_ball, of_all) = (weight(1, 2), weight(0, 1));
    assert!((of_ball / ball - 1.0).abs() < 0.1, "{of_ball} instead of {ball}");
    assert!((of_all / all - 1.0).abs() < 0.1, "{of_all} instead of {all}");
    let frame = recording.frame(55).unwrap().clone();
    assert!(frame.contacts.iter().filter(|c| c.a + c.b == 1).count() >= 3, "{:?}", frame.contacts);
    assert!(frame.pairs.contains(&[0, 1]) && frame.pairs.contains(&[1, 2]), "{:?}", frame.pairs);
    let around = frame.boxes[1].unwrap();
    assert!(frame.boxes[0].is_none() && around.min.x <= -0.2 && around.max.x >= 0.2, "{around:?}");
    // What the causes did adds up to the change of the energy.
    assert!(recording.header().work.iter().any(|name| name == "friction"));
    let energy = |k: usize| recording.sums()[k].kinetic + recording.sums()[k].potential;
    for k in 0..recording.len() {
        let causes: f64 = recording.sums()[k].work.iter().sum();
        assert!((causes - (energy(k) - energy(0))).abs() < 1e-9 * energy(0), "frame {k}");
    }
    let inertia = recording.bodies()[1].inertia;
    let expected = mass[1] / 12.0 * (0.16 + 0.04);
    assert!((inertia[0] / expected - 1.0).abs() < 1e-9, "{inertia:?}");
}

// proves: FON-93, FON-94
#[test]
fn a_frozen_scene_is_perfectly_stable_and_the_trace_has_every_frame() {
    let dir = folder("stability");
    let (scene, trace) = (dir.join("still.ron"), dir.join("trace.csv"));
    let run = |text: &str| {
        fs::write(&scene, text).unwrap();
        let done = sim(&["run", scene.to_str().unwrap(), "--report", "--trace", trace.to_str().unwrap()]);
        assert!(done.status.success(), "{}", err(&done));
        let text = out(&done);
        let line = text.lines().find(|l| l.starts_with("  stability")).unwrap().to_owned();
        let numbers: Vec<f64> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
        numbers
    };
    let frozen = "(gravity: (0, 0, 0), bodies: [(shape: sphere(radius: 1))], run: (until: 1))";
    assert_eq!(run(frozen)[..3], [0.0, 0.0, 0.0]);
    // One metre and one radian in one second.
    let moving = frozen.replace("radius: 1)", "radius: 1), velocity: (1, 0, 0), angular_velocity: (0, 0, 1)");
    let found = run(&moving);
    for value in &found[..3] {
        assert!((value - 1.0).abs() < 0.011, "{found:?}");
    }
    let table = fs::read_to_string(&trace).unwrap();
    assert_eq!(table.lines().count(), 61);
    assert!(
        table.lines().skip(1).all(|l| {
            l.split(',').all(|cell| cell.parse::<f64>().is_ok_and(|x| x >= 0.0 && x.is_finite()))
        })
    );
}

// proves-part: FON-88, CLI-82
#[test]
fn two_runs_are_merged_side_by_side_or_on_top_of_each_other() {
    let dir = folder("merge");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    fs::write(dir.join("soft.ron"), BALL.replace("0.8", "0.1")).unwrap();
    let (one, other, both) = (path("one.tumble"), path("soft.ron"), path("both.tumble"));
    assert!(sim(&["run", &path("ball.ron"), "--record", &one]).status.success());
    // A recording and a scene.
    let apart = |shift: &[&str]| {
        let mut arguments = vec!["merge", &one, &other, "--record", &both];
        arguments.extend(shift);
        let done = sim(&arguments);
        assert!(done.status.success(), "{}", err(&done));
        let mut recording = scene::Recording::open(&both).unwrap();
        let names: Vec<&str> = recording.bodies().iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["one: floor", "one: ball", "soft: floor", "soft: ball"]);
        assert_eq!(recording.len(), 61);
        let end = recording.frame(60).unwrap();
        [1, 3].map(|k| end.bodies[k].unwrap().pose.translation)
    };
    let [ball, soft] = apart(&[]);
    assert!(soft.x - ball.x > 0.2, "they do not overlap: {ball} and {soft}");
    assert!(ball.z > soft.z + 0.1, "the first one bounces higher: {ball} and {soft}");
    let [ball, soft] = apart(&["--shift", "0,-2,0"]);
    assert!((soft.y - ball.y + 2.0).abs() < 2e-4 && (soft.x - ball.x).abs() < 2e-4, "{ball} and {soft}");
    let alone = sim(&["merge", &one, "--record", &both]);
    assert_eq!(alone.status.code(), Some(2));
    let over = sim(&["merge", &one, &other, "--record", &one]);
    assert_eq!(over.status.code(), Some(2));
    assert!(err(&over).contains("it is what is read"), "{}", err(&over));
}

#[test]
fn a_contact_law_on_the_command_line_selects_time_stepping() {
    let dir = folder("solver_selects");
    let scene = dir.join("ball.ron");
    fs::write(&scene, BALL).unwrap();
    let path = scene.to_str().unwrap();
    let run = |more: &[&str]| sim(&[&["run", path, "--quiet", "--until", "0.1"], more].concat());
    let same = |a: &[&str], b: &[&str]| {
        let table = |args: &[&str], name: &str| {
            let csv = dir.join(name);
            let done = run(&[args, &["--csv", csv.to_str().unwrap()]].concat());
            assert!(done.status.success(), "{}", err(&done));
            fs::read_to_string(csv).unwrap()
        };
        assert_eq!(table(a, "a.csv"), table(b, "b.csv"), "{a:?} {b:?}");
    };
    same(&["--solver", "soft"], &["--stepper", "time", "--solver", "soft"]);
    same(&["--step", "0.01s"], &["--stepper", "time", "--step", "0.01s"]);
    for flag in [["--solver", "soft"], ["--step", "0.01"]] {
        let refused = run(&[&["--stepper", "event-driven"][..], &flag[..]].concat());
        assert!(!refused.status.success());
        let said = err(&refused);
        assert!(said.contains(flag[0]) && said.contains("is for time stepping"), "{said}");
    }
}

#[test]
fn the_deepest_overlap_is_one_that_was() {
    let dir = folder("deepest");
    let scene = dir.join("fast.ron");
    // A search for the impact of a fast ball looks far beyond the floor; the ball never is there.
    fs::write(&scene, BALL.replace("position: (0, 0, 1.1)", "position: (0, 0, 1.1), velocity: (0, 0, -80)"))
        .unwrap();
    let path = scene.to_str().unwrap();
    for stepper in ["event-driven", "time"] {
        let done = sim(&["run", path, "--quiet", "--until", "0.2", "--report", "--stepper", stepper]);
        assert!(done.status.success(), "{}", err(&done));
        let text = out(&done);
        let depth = text.split("deepest overlap").nth(1).unwrap().split_whitespace().next().unwrap();
        assert!(depth.parse::<f64>().unwrap() < 1e-6, "{stepper}: {text}");
    }
}

#[test]
fn energy_of_a_mass_on_a_spring_has_no_warning() {
    let dir = folder("spring");
    let scene = dir.join("spring.ron");
    fs::write(
        &scene,
        "(bodies: [(name: \"mass\", shape: sphere(radius: 0.1), mass: 1, position: (0, 0, -1))], \
         forces: [spring(a: world((0, 0, 0)), b: body(name: \"mass\"), stiffness: 50, rest_length: 0.5)], \
         run: (until: 2))",
    )
    .unwrap();
    let done = sim(&["run", scene.to_str().unwrap(), "--quiet", "--report", "--stepper", "event-driven"]);
    assert!(done.status.success(), "{}", err(&done));
    let text = out(&done);
    assert!(!text.contains("warning"), "{text}");
    let figures: Vec<f64> = text
        .split("\n  energy ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .take(2)
        .collect();
    assert!((figures[0] - (-9.81 + 0.5 * 50.0 * 0.25)).abs() < 1e-4, "{text}");
    assert!((figures[0] - figures[1]).abs() < 1e-5, "{text}");
}

#[test]
fn threads_are_chosen_and_change_nothing() {
    let dir = folder("threads");
    fs::write(dir.join("ball.ron"), BALL).unwrap();
    let scene = dir.join("ball.ron");
    let path = scene.to_str().unwrap();
    let table = |threads: &str, solver: &str, name: &str| {
        let csv = dir.join(name);
        let csv_path = csv.to_str().unwrap();
        let done = sim(&[
            "run",
            path,
            "--solver",
            solver,
            "--threads",
            threads,
            "--until",
            "0.5s",
            "--csv",
            csv_path,
        ]);
        assert!(done.status.success(), "{}{}", out(&done), err(&done));
        fs::read(csv).unwrap()
    };
    for solver in ["cone", "soft"] {
        assert_eq!(table("1", solver, "one.csv"), table("3", solver, "three.csv"), "{solver}");
    }
    let wrong = sim(&["run", path, "--threads", "0"]);
    assert!(!wrong.status.success() && err(&wrong).contains("must be from 1 to 1024"), "{}", err(&wrong));
}
