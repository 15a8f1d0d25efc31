//! `sim merge`: two or more runs in one recording, side by side.

use super::run::recording_of;
use crate::{CliError, can_write_all, still, write_file};
use clap::Args;
use scene::{
    Recording,
    recording::{MergePart, merge as merged},
};
use sim_math::glam::DVec3;
use std::path::{Path, PathBuf};

/// Moments of a recording at which its size is looked at.
const LOOKS: usize = 8;

/// Options of `sim merge`.
#[derive(Debug, Clone, Args)]
pub struct MergeArgs {
    /// Two or more scene files, names of built-in scenes, or recordings
    #[arg(required = true, num_args = 2..)]
    pub runs: Vec<String>,
    /// Where the recording goes
    #[arg(long, value_name = "FILE")]
    pub record: PathBuf,
    /// From one run to the next in metres, such as 0,2,0, or 0,0,0 for one on top of the other; side by side if not given
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub shift: Option<DVec3>,
}

fn vector(text: &str) -> Result<DVec3, String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|n| n.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) => Ok(DVec3::new(x, y, z)),
        _ => Err("must be three numbers, such as 0,2,0".to_owned()),
    }
}

/// Merges the runs; returns what is printed.
///
/// # Errors
/// A scene or recording that is wrong, recordings that do not fit, or a file that cannot be written.
pub fn merge(args: &MergeArgs) -> Result<String, CliError> {
    can_write_all([args.record.as_path()], &args.runs)?;
    let mut recordings: Vec<Recording> = Vec::with_capacity(args.runs.len());
    for run in &args.runs {
        recordings.push(recording_of(run, None)?);
    }
    let labels = labels(&args.runs);
    let mut parts = Vec::with_capacity(recordings.len());
    let mut shift = DVec3::ZERO;
    let mut before: Option<Row> = None;
    for (recording, label) in recordings.iter_mut().zip(labels) {
        let row = Row::of(recording)?;
        if let Some(before) = &before {
            shift += args.shift.unwrap_or_else(|| row.beside(before));
        }
        before = Some(row);
        parts.push(MergePart { recording, label, shift });
    }
    let bytes = merged(&mut parts)?;
    write_file(&args.record, &bytes)?;
    Ok(format!("wrote {}: {}\n", args.record.display(), args.runs.join(" and ")))
}

/// File names without their ending; with a number where two are the same.
fn labels(runs: &[String]) -> Vec<String> {
    let stem = |run: &String| {
        let name = Path::new(run).file_stem().map(|s| s.to_string_lossy().into_owned());
        name.unwrap_or_else(|| run.clone())
    };
    let stems: Vec<String> = runs.iter().map(stem).collect();
    let numbered = |(k, stem): (usize, &String)| match stems.iter().filter(|s| *s == stem).count() {
        1 => stem.clone(),
        _ => format!("{stem} {}", k + 1),
    };
    stems.iter().enumerate().map(numbered).collect()
}

/// Room that a recording takes along a level direction, m.
struct Row {
    along: DVec3,
    from: f64,
    to: f64,
}

impl Row {
    fn of(recording: &mut Recording) -> Result<Self, CliError> {
        let along = still::sideways(recording.header().up);
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        let count = recording.len();
        for k in 0..LOOKS.min(count) {
            let area = still::area(recording, k * (count - 1) / (LOOKS - 1))?;
            let (middle, half) = (area.center().dot(along), 0.5 * (area.max - area.min).dot(along.abs()));
            (from, to) = (from.min(middle - half), to.max(middle + half));
        }
        if count == 0 {
            return Err(CliError::Empty);
        }
        Ok(Self { along, from, to })
    }

    /// The way from another row's origin to this one's if they stand side by side, a tenth of their widths apart.
    fn beside(&self, before: &Self) -> DVec3 {
        let gap = 0.1 * ((self.to - self.from) + (before.to - before.from));
        self.along * (before.to - self.from + gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_three_numbers() {
        assert_eq!(vector("0, -2,1e1").unwrap(), DVec3::new(0.0, -2.0, 10.0));
        for wrong in ["", "1,2", "1,2,3,4", "1,2,x", "1,2,NaN"] {
            assert!(vector(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn runs_are_told_apart_by_their_labels() {
        let runs = ["dominos", "a/x.tumble", "b/x.tumble"].map(str::to_owned);
        assert_eq!(labels(&runs), ["dominos", "x 2", "x 3"]);
    }
}
