//! `sim run`: one run, with progress, recording, table and report.

use super::{
    clock::{Clock, Taken},
    depths::Depths,
    film::{Film, Tape, WORK, work},
    lookout::Lookout,
    profile::Meters,
    source::{Choices, Source},
    stability::Stability,
    table::{Table, Trace},
    view::{is_recording, open_recording},
};
use crate::{CliError, can_write_all, gltf, page, write_files};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use scene::{Recording, run::Run};
use sim_math::glam::DVec3;
use sim_world::{Listing, StepReport, World};
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// Options of `sim run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// A scene file, or the name of a built-in scene
    pub scene: String,
    /// What to change of the scene
    #[command(flatten)]
    pub choices: Choices,
    /// Write a page that plays the run in any browser, without a network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write an animated model (binary glTF)
    #[arg(long, value_name = "FILE")]
    pub gltf: Option<PathBuf>,
    /// Write a recording, for `sim page`, `sim still` and others
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write a table of all moving bodies over time, or of all runs with --repeat
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a table of the time that the run took, frame by frame
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print where the time went, energies and counts
    #[arg(long)]
    pub report: bool,
    /// Run so many times, see --vary
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
    /// Change a number evenly from run to run: bodies.ball.position.x=-0.2..0.2; may be given more than once
    #[arg(long, value_name = "KEY=A..B", requires = "repeat")]
    pub vary: Vec<String>,
    /// Runs at the same time; the results do not depend on it
    #[arg(long, value_name = "J", default_value_t = 1, requires = "repeat")]
    pub jobs: usize,
    /// No progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// What a run came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Simulated time, s.
    pub time: f64,
    /// Time it took, without writing.
    pub taken: Taken,
    /// Events and collisions.
    pub report: StepReport,
    /// Kinetic and potential energy at the start, springs included, J.
    pub energy_start: f64,
    /// The same at the end, J.
    pub energy_end: f64,
    /// Largest rise of the energy above all that was there before, from frame to frame, J.
    pub energy_gain: f64,
    /// What micro-collisions may lift touching bodies by, J: m g ε of all free bodies; 0 without them.
    pub energy_allowed: f64,
    /// Largest overlap at a frame or at the end of a step, m.
    pub deepest: f64,
    /// Free bodies whose z axis leans more than 45 degrees from where it was.
    pub tilted: usize,
    /// Fastest free body at the end, m/s.
    pub fastest: f64,
    /// Acts of controllers, and their time.
    pub control: (u64, Duration),
    /// Time in broad phase, narrow phase and impact law, if it was watched.
    pub profile: Option<[Duration; 3]>,
    /// How still free bodies stood: mean offset (m), path in steps of 0.1 s (m), angle (rad).
    pub stability: [f64; 3],
    /// Places of all bodies at the end, m.
    pub places: Vec<Option<DVec3>>,
}

impl Outcome {
    /// Processor time for a second of simulated time.
    #[must_use]
    pub fn slowdown(&self) -> f64 {
        self.taken.processor.as_secs_f64() / self.time.max(1e-9)
    }

    /// Shares of dynamics, detection, response and control in the time of the run, if it was watched.
    #[must_use]
    pub fn split(&self) -> Option<[f64; 4]> {
        let [broad, narrow, impact] = self.profile?;
        let wall = self.taken.wall.as_secs_f64().max(1e-9);
        let rest = [broad + narrow, impact, self.control.1].map(|d| d.as_secs_f64() / wall);
        let [detection, response, control] = rest;
        Some([(1.0 - detection - response - control).max(0.0), detection, response, control])
    }
}

/// What to make of a run besides its outcome.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Where the recording goes.
    pub film: Option<Tape>,
    /// Somebody watches the recording while it grows.
    pub live: bool,
    /// A table.
    pub table: bool,
    /// Watch the clock in every part.
    pub clock: bool,
}

/// Runs a prepared scene to its end; returns the table if one is wanted. The recording is ended.
///
/// # Errors
/// A scene that is wrong, or a run that cannot go on.
pub fn simulate(
    source: &Source,
    wanted: Wanted,
    show: &mut dyn FnMut(&Run, Taken),
) -> Result<(Outcome, Option<Table>), CliError> {
    let mut setup = source.setup()?;
    let clock = wanted.clock;
    let meters = Meters { clock, ..Meters::default() };
    let lookout = (wanted.film.is_some() && setup.record_boxes).then(Lookout::default);
    let mut parts = meters.wrap(setup.choice.parts());
    if let Some(lookout) = &lookout {
        parts = lookout.wrap(parts);
    }
    let mut film = None;
    if let Some(tape) = wanted.film {
        film = Some(Film::new(tape, &setup, lookout)?);
        setup.world.listing = Listing::All;
    }
    let mut table = wanted.table.then(Table::new);
    let (until, rate) = (setup.until, setup.rate);
    let started = Clock::start();
    let mut run = Run::with_parts(setup, parts)?;
    let begin: Vec<(sim_traits::BodyId, DVec3)> =
        free(run.world()).map(|(id, body)| (id, body.user_pose().transform_vector(DVec3::Z))).collect();
    let energy = |world: &World| world.kinetic_energy() + world.potential_energy();
    let energy_start = energy(run.world());
    let (mut before, mut gain) = (energy_start, 0.0_f64);
    let mut writing = Taken::default();
    let mut stability = Stability::new(run.world());
    let (mut depths, mut deepest) = (Depths::default(), 0.0_f64);
    let energy_allowed = match (run.setup().choice.stepper, run.setup().choice.params.micro_collisions()) {
        ("event_driven", true) => {
            let weight: f64 = free(run.world()).map(|(_, b)| b.mass()).sum();
            weight * run.world().gravity().length() * run.setup().choice.params.envelope_in(run.world())
        }
        _ => 0.0,
    };
    let mut frame = 0_u64;
    loop {
        let clock = Clock::start();
        if let Some(film) = &mut film {
            film.frame(&run)?;
            if wanted.live && frame == 0 {
                film.show()?;
            }
        }
        if let Some(table) = &mut table {
            table.frame(&run);
        }
        stability.look(run.world());
        deepest = deepest.max(depths.look(run.world()));
        show(&run, started.elapsed().without(writing));
        let now = energy(run.world());
        gain = gain.max(now - before);
        before = now;
        writing += clock.elapsed();
        if run.world().time() >= until {
            break;
        }
        frame += 1;
        let next = (frame as f64 / rate).min(until);
        // The last frame would be a hair's breadth before the end.
        let next = if until - next < 1e-9 { until } else { next };
        let moved = match &mut film {
            Some(film) => run.advance_watching(next, &mut |world| film.watch(world.events(), world)),
            None => run.advance_to(next),
        };
        moved.map_err(CliError::Run)?;
    }
    if let Some(film) = film {
        film.finish()?;
    }
    let world = run.world();
    let tilted = begin
        .iter()
        .filter(|(id, up)| {
            world.get(*id).is_some_and(|b| b.user_pose().transform_vector(DVec3::Z).dot(*up) < 0.5_f64.sqrt())
        })
        .count();
    let outcome = Outcome {
        time: world.time(),
        taken: started.elapsed().without(writing),
        stability: stability.result(world),
        report: *run.report(),
        energy_start,
        energy_end: energy(world),
        energy_gain: gain,
        energy_allowed,
        deepest: deepest.max(run.report().solver.deepest),
        tilted,
        fastest: free(world).map(|(_, b)| b.velocity().linear.length()).fold(0.0, f64::max),
        control: (run.acts(), run.control_time()),
        profile: clock.then(|| [meters.broad.elapsed(), meters.narrow.elapsed(), meters.impact.elapsed()]),
        places: run.setup().bodies.iter().map(|b| world.get(b.id).map(sim_world::Body::position)).collect(),
    };
    Ok((outcome, table))
}

fn free(world: &World) -> impl Iterator<Item = (sim_traits::BodyId, &sim_world::Body)> {
    world.bodies().filter(|(_, b)| b.is_free())
}

/// A bar that shows simulated time.
#[must_use]
pub fn progress() -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

pub(super) fn show(bar: &ProgressBar, run: &Run, taken: Taken) {
    show_as(bar, "", run, taken);
}

/// As `show`, with a word about which run it is.
pub(super) fn show_as(bar: &ProgressBar, label: &str, run: &Run, taken: Taken) {
    let until = run.setup().until;
    let (time, wall) = (run.world().time(), taken.wall.as_secs_f64().max(1e-9));
    bar.set_position((1000.0 * time / until.max(1e-9)) as u64);
    let rate = run.report().events as f64 / wall;
    bar.set_message(format!(
        "{label}{time:.2} of {until} s, {:.3} x real time, {} events/s",
        time / wall,
        short(rate)
    ));
}

fn short(x: f64) -> String {
    match x {
        x if x >= 1e6 => format!("{:.1} M", x / 1e6),
        x if x >= 1e3 => format!("{:.1} k", x / 1e3),
        x => format!("{x:.0}"),
    }
}

/// Runs a scene as the command line asks; returns what is printed.
///
/// # Errors
/// Anything wrong; nothing is written then.
pub fn run(args: &RunArgs) -> Result<String, CliError> {
    let mut source = Source::open(&args.scene)?;
    args.choices.apply(&mut source.loaded)?;
    let outputs = [&args.html, &args.gltf, &args.record, &args.csv, &args.trace];
    can_write_all(outputs.into_iter().flatten().map(PathBuf::as_path), source.files())?;
    if let Some(count) = args.repeat {
        return super::batch::batch(&source, args, count);
    }
    let tape = (args.html.is_some() || args.gltf.is_some() || args.record.is_some()).then(Tape::default);
    let wanted =
        Wanted { film: tape.clone(), table: args.csv.is_some(), clock: args.report, ..Wanted::default() };
    let bar = (!args.quiet).then(progress);
    let mut trace = Trace::new();
    let done = simulate(&source, wanted, &mut |run, taken| {
        trace.frame(run, taken);
        if let Some(bar) = &bar {
            show(bar, run, taken);
        }
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let (outcome, table) = done?;
    // Everything is made before anything is written.
    let mut files: Vec<(&Path, Vec<u8>)> = Vec::new();
    if let Some(tape) = tape {
        let mut recording = Recording::from_bytes(tape.take())?;
        if let Some(path) = &args.html {
            files.push((path, page::page(&recording)?.into_bytes()));
        }
        if let Some(path) = &args.gltf {
            files.push((path, gltf::gltf(&mut recording)?));
        }
        if let Some(path) = &args.record {
            files.push((path, recording.bytes().to_vec()));
        }
    }
    if let (Some(path), Some(table)) = (&args.csv, table) {
        files.push((path, table.finish().into_bytes()));
    }
    if let Some(path) = &args.trace {
        files.push((path, trace.finish().into_bytes()));
    }
    let whole: Vec<(&Path, &[u8])> = files.iter().map(|(path, bytes)| (*path, bytes.as_slice())).collect();
    write_files(&whole)?;
    let mut text = if args.report { report(&args.scene, &outcome) } else { line(&args.scene, &outcome) };
    for (path, bytes) in &files {
        let _ = writeln!(text, "  wrote {} ({})", path.display(), size(bytes.len()));
    }
    if let Some(path) = &args.html {
        let _ = writeln!(text, "open {} in a browser to watch it", path.display());
    }
    Ok(text)
}

/// A recording, read if `name` is one; else that of a scene run until `until` seconds, or to its own end.
///
/// # Errors
/// A scene or recording that is wrong, or a run that cannot go on.
pub fn recording_of(name: &str, until: Option<f64>) -> Result<Recording, CliError> {
    if is_recording(name) {
        return open_recording(Path::new(name));
    }
    let mut source = Source::open(name)?;
    if until.is_some() {
        source.loaded.scene.run.until = until;
    }
    let tape = Tape::default();
    simulate(&source, Wanted { film: Some(tape.clone()), ..Wanted::default() }, &mut |_, _| {})?;
    Ok(Recording::from_bytes(tape.take())?)
}

fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

pub(super) fn line(name: &str, o: &Outcome) -> String {
    let [wall, processor] = [o.taken.wall, o.taken.processor].map(|t| t.as_secs_f64());
    let warning = match o.report.unexplained_energy(o.energy_allowed) {
        Some(gain) => format!(
            "  warning: {gain:.2e} J came from nowhere, of {:.2e} J that flowed ({:.1e} J are usual)\n",
            o.report.energy.flowed,
            1e-6 * o.report.energy.flowed + o.energy_allowed
        ),
        None => String::new(),
    };
    format!(
        "{name}: {} s simulated in {wall:.3} s, {processor:.3} s of it processor time (slowdown {:.4}), {} collisions, {} micro-collisions\n{warning}",
        o.time,
        o.slowdown(),
        o.report.collisions,
        o.report.micro_collisions
    )
}

/// The report of one run.
#[must_use]
pub fn report(name: &str, o: &Outcome) -> String {
    let mut text = line(name, o);
    let wall = o.taken.wall.as_secs_f64().max(1e-9);
    let _ = writeln!(
        text,
        "  events            {} ({:.0} per simulated second)",
        o.report.events,
        o.report.events as f64 / o.time.max(1e-9)
    );
    let _ = writeln!(
        text,
        "  distance checks   {} ({:.0} per simulated second)",
        o.report.distances,
        o.report.distances as f64 / o.time.max(1e-9)
    );
    let _ = writeln!(
        text,
        "  broad phase       {} windows, {} renewed boxes",
        o.report.windows, o.report.resweeps
    );
    let _ = writeln!(
        text,
        "  energy            {:.6e} J at the start, {:.6e} J at the end, largest rise {:.1e} J",
        o.energy_start, o.energy_end, o.energy_gain
    );
    let causes = WORK.iter().zip(work(&o.report.energy)).filter(|(_, joule)| *joule != 0.0);
    let causes: Vec<String> = causes.map(|(name, joule)| format!("{name} {joule:.2e}")).collect();
    if !causes.is_empty() {
        let _ = writeln!(text, "  work in J         {}", causes.join(", "));
    }
    let _ = writeln!(text, "  deepest overlap   {:.1e} m", o.deepest);
    let _ = writeln!(text, "  at the end        {} bodies tilted, fastest {:.3e} m/s", o.tilted, o.fastest);
    let [offset, path, angle] = o.stability;
    let _ = writeln!(
        text,
        "  stability         mean offset {offset:.2e} m, path {path:.2e} m, angle {angle:.2e} rad in steps of 0.1 s"
    );
    if let (Some([broad, narrow, _]), Some(split)) = (o.profile, o.split()) {
        let share = |d: Duration| 100.0 * d.as_secs_f64() / wall;
        let [dynamics, detection, response, control] = split.map(|part| 100.0 * part);
        let _ = writeln!(
            text,
            "  time              {dynamics:.1} % dynamics, {detection:.1} % detection ({:.1} % broad, {:.1} % narrow), {response:.1} % response, {control:.1} % control",
            share(broad),
            share(narrow),
        );
    }
    text
}
