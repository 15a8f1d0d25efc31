//! `sim view`: a run and its page at the same time.

use super::{
    film::Tape,
    run::{Wanted, line, progress, show as show_bar, simulate},
    source::{Choices, Source},
};
use crate::{
    CliError,
    page::live_page,
    server::{Progress, Server, Show},
};
use clap::Args;
use scene::{Recording, recording::MAGIC};
use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, Stdio},
    thread,
};

/// Options of `sim view`.
#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    /// A scene file, the name of a built-in scene, or a recording
    pub scene: String,
    /// What to change of the scene
    #[command(flatten)]
    pub choices: Choices,
    /// Port of the page on this machine; any free one if 0
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Print the address only, and open no browser
    #[arg(long)]
    pub no_open: bool,
    /// No progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// True for a file that begins like a recording.
#[must_use]
pub fn is_recording(name: &str) -> bool {
    let mut first = [0; MAGIC.len()];
    std::fs::File::open(name).is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first == MAGIC)
}

/// Reads a recording, with its path in errors.
///
/// # Errors
/// [`CliError::Recording`].
pub fn open_recording(path: &Path) -> Result<Recording, CliError> {
    Recording::open(path).map_err(|source| CliError::Recording { path: path.display().to_string(), source })
}

/// Shows a scene while it runs, or a recording; goes on serving until the program is ended. `say` prints.
///
/// # Errors
/// A scene or recording that is wrong, or a port that cannot be had; a run that cannot go on is shown in the page.
pub fn view(args: &ViewArgs, say: &mut dyn FnMut(&str) -> Result<(), CliError>) -> Result<(), CliError> {
    let tape = Tape::default();
    let show = Show::new(live_page()?, tape.clone());
    let source = if is_recording(&args.scene) {
        let recording = open_recording(Path::new(&args.scene))?;
        recording.verify()?;
        let end = recording.times().last().copied().unwrap_or(0.0);
        let write = |source| CliError::Write { path: "memory".to_owned(), source };
        tape.clone().write_all(recording.bytes()).map_err(write)?;
        show.set(Progress { time: end, until: end, ended: true, failed: None });
        None
    } else {
        let mut source = Source::open(&args.scene)?;
        args.choices.apply(&mut source.loaded)?;
        // What is wrong is told before a browser opens.
        source.setup()?;
        Some(source)
    };
    let server = Server::bind(args.port).map_err(|e| CliError::Argument {
        item: "--port".to_owned(),
        what: format!("cannot listen on 127.0.0.1:{}: {e}", args.port),
    })?;
    say(&format!("{} (Ctrl-C ends)\n", server.url()))?;
    if !args.no_open {
        open_browser(&server.url());
    }
    thread::scope(|scope| {
        scope.spawn(|| server.serve(&show));
        match &source {
            Some(source) => say(&run(args, source, &show, tape)),
            None => Ok(()),
        }
    })
}

/// Runs the scene, and says how far it is all the time; returns what is printed at the end.
fn run(args: &ViewArgs, source: &Source, show: &Show, tape: Tape) -> String {
    let bar = (!args.quiet).then(progress);
    let wanted = Wanted { film: Some(tape), live: true, ..Wanted::default() };
    let done = simulate(source, wanted, &mut |run, wall| {
        let (time, until) = (run.world().time(), run.setup().until);
        show.set(Progress { time, until, ended: false, failed: None });
        if let Some(bar) = &bar {
            show_bar(bar, run, wall);
        }
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let failed = done.as_ref().err().map(ToString::to_string);
    show.set(Progress { ended: true, failed, ..show.progress() });
    match done {
        Ok((outcome, _)) => line(&args.scene, &outcome),
        Err(error) => format!("error: {error}\n"),
    }
}

/// Asks the system for a browser; without one the printed address is enough.
fn open_browser(url: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[url])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", "", url])
    } else {
        ("xdg-open", &[url])
    };
    let _ = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
