//! The program `sim`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program talks to a person")]

use clap::{Parser, Subcommand};
use sim_cli::commands::{
    check, compare, evolve, merge, run as scenes,
    source::{Choices, duration},
    view::{self, open_recording as open},
};
use sim_cli::{CliError, can_write_all, gltf, page, still, write_file};
use std::path::PathBuf;
use std::process::ExitCode;

/// Simulate rigid and articulated bodies, and look at them.
#[derive(Debug, Parser)]
#[command(name = "sim", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scene
    Run(Box<scenes::RunArgs>),
    /// Run a scene and watch it in a browser while it runs
    View(Box<view::ViewArgs>),
    /// Read a scene and say what is in it, or what is wrong with it
    Check {
        /// A scene file, or the name of a built-in scene
        scene: String,
    },
    /// List the built-in scenes
    List,
    /// Run a scene under several choices of algorithms, and print one table
    Compare {
        /// A scene file, or the name of a built-in scene
        scene: String,
        /// What to change of the scene for all rows
        #[command(flatten)]
        choices: Choices,
    },
    /// Turn a recording into one web page that plays it without a network
    Page {
        /// The recording
        recording: PathBuf,
        /// Where the page goes
        #[arg(long)]
        html: PathBuf,
    },
    /// Turn a recording into an animated model (binary glTF)
    Gltf {
        /// The recording
        recording: PathBuf,
        /// Where the model goes
        out: PathBuf,
    },
    /// Put two or more runs into one recording, side by side
    Merge(merge::MergeArgs),
    /// Evolve animals that walk; a run that was stopped goes on
    Evolve(evolve::EvolveArgs),
    /// Draw one moment of a scene or a recording
    Still {
        /// A scene file, the name of a built-in scene, or a recording
        scene: String,
        /// Which moment, such as 2s or 0.25
        #[arg(long, default_value = "0s", value_parser = duration)]
        at: f64,
        /// Where the picture goes
        #[arg(long)]
        png: PathBuf,
        /// Width and height in pixels
        #[arg(long, default_value = "960x540", value_parser = size)]
        size: (u32, u32),
        /// Dark background
        #[arg(long)]
        dark: bool,
        /// Larger shows less, and that larger
        #[arg(long, default_value_t = 1.0)]
        zoom: f64,
        /// Draw so many earlier moments too, as under a stroboscope
        #[arg(long, default_value_t = 0)]
        poses: u32,
    },
    /// Make a movie of a scene or a recording: an animated PNG
    Movie {
        /// A scene file, the name of a built-in scene, or a recording
        scene: String,
        /// Simulated time of a scene, such as 10s; a recording is shown to its end
        #[arg(long, value_name = "TIME", value_parser = duration)]
        until: Option<f64>,
        /// Where the movie goes
        #[arg(long)]
        png: PathBuf,
        /// Pictures for each second of simulated time
        #[arg(long, default_value_t = 20)]
        fps: u16,
        /// Width and height in pixels
        #[arg(long, default_value = "480x270", value_parser = size)]
        size: (u32, u32),
        /// Dark background
        #[arg(long)]
        dark: bool,
        /// Larger shows less, and that larger
        #[arg(long, default_value_t = 1.0)]
        zoom: f64,
    },
}

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(command: &Command) -> Result<(), CliError> {
    match command {
        Command::Run(args) => print(&scenes::run(args)?),
        Command::Check { scene } => print(&check::check(scene)?),
        Command::List => print(&check::list()?),
        Command::Compare { scene, choices } => print(&compare::compare(scene, choices)?),
        Command::Page { recording, html } => {
            can_write_all([html.as_path()], &[recording])?;
            write_file(html, page::page(&open(recording)?)?.as_bytes())
        }
        Command::Gltf { recording, out } => {
            can_write_all([out.as_path()], &[recording])?;
            write_file(out, &gltf::gltf(&mut open(recording)?)?)
        }
        Command::Merge(args) => print(&merge::merge(args)?),
        Command::Evolve(args) => print(&evolve::evolve_run(args)?),
        Command::View(args) => view::view(args, &mut print),
        Command::Still { scene, at, png, size, dark, zoom, poses } => {
            let (width, height) = *size;
            let base = still::StillParams::default();
            let params = still::StillParams {
                time: *at,
                width,
                height,
                dark: *dark,
                zoom: *zoom,
                poses: *poses,
                ..base
            };
            can_write_all([png.as_path()], &[scene])?;
            let mut recording = scenes::recording_of(scene, Some(*at))?;
            write_file(png, &still::still(&mut recording, &params)?)
        }
        Command::Movie { scene, until, png, fps, size, dark, zoom } => {
            let (width, height) = *size;
            let base = still::StillParams::default();
            let params = still::StillParams { width, height, dark: *dark, zoom: *zoom, ..base };
            can_write_all([png.as_path()], &[scene])?;
            let mut recording = scenes::recording_of(scene, *until)?;
            write_file(png, &still::movie(&mut recording, &params, *fps)?)
        }
    }
}

/// Prints a result. A reader that went away, as `head` does, is no error.
fn print(text: &str) -> Result<(), CliError> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::Write { path: "standard output".to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    parts.ok_or_else(|| "must be width x height, such as 960x540".to_owned())
}
