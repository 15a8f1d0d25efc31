//! Wall time by criterion, read back from the files it leaves.

use super::{PACKAGE, write_json};
use crate::failure::Failure;
use crate::shell::Cmd;
use crate::table;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// One benchmark's result.
#[derive(Debug, Clone, PartialEq)]
struct Timing {
    id: String,
    /// Median and the ends of its confidence interval, nanoseconds for one iteration.
    median: f64,
    low: f64,
    high: f64,
    /// Amount and unit of work in one iteration.
    work: Option<(f64, &'static str)>,
}

/// Runs the benchmarks, prints one table and writes `bench.json` into the target folder.
pub(super) fn run(workspace: &Workspace, filter: Option<&str>, quick: bool) -> Result<(), Failure> {
    let home = workspace.target.join("criterion");
    let mut cmd = Cmd::cargo(&["bench", "-p", PACKAGE, "--"]).env("CRITERION_HOME", &home.to_string_lossy());
    if quick {
        cmd = cmd.arg("--quick");
    }
    if let Some(filter) = filter {
        cmd = cmd.arg(filter);
    }
    // File times may be coarser than the clock.
    let start = SystemTime::now() - Duration::from_secs(2);
    cmd.run(&workspace.root)?;
    let mut timings = Vec::new();
    collect(&home, start, &mut timings)?;
    timings.sort_by(|a, b| a.id.cmp(&b.id));
    if timings.is_empty() {
        return Err(Failure::new(format!("no benchmark matches `{}`", filter.unwrap_or(""))));
    }
    println!("\n{}", render(&timings));
    write_json(&workspace.target.join("bench.json"), &Value::Array(timings.iter().map(to_json).collect()))
}

/// Reads every `new/` folder below `dir` that was written after `start`.
fn collect(dir: &Path, start: SystemTime, timings: &mut Vec<Timing>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for path in entries.map(|e| e.path()).filter(|p| p.is_dir()) {
        let estimates = path.join("estimates.json");
        if path.file_name().is_some_and(|n| n == "new") && estimates.is_file() {
            let written = std::fs::metadata(&estimates).and_then(|m| m.modified());
            if written.is_ok_and(|time| time >= start) {
                let (benchmark, estimates) = (read(path.join("benchmark.json"))?, read(estimates)?);
                let timing = timing(&benchmark, &estimates);
                timings.push(timing.ok_or_else(|| {
                    Failure::new(format!("criterion's files in {} have changed their form", path.display()))
                })?);
            }
        } else {
            collect(&path, start, timings)?;
        }
    }
    Ok(())
}

fn read(path: PathBuf) -> Result<Value, Failure> {
    let bad = |e: &dyn std::fmt::Display| Failure::new(format!("cannot read {}: {e}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|e| bad(&e))?;
    serde_json::from_str(&text).map_err(|e| bad(&e))
}

fn timing(benchmark: &Value, estimates: &Value) -> Option<Timing> {
    let median = &estimates["median"];
    let interval = &median["confidence_interval"];
    let throughput = &benchmark["throughput"];
    let unit = |key: &str, unit| throughput[key].as_f64().map(|amount| (amount, unit));
    Some(Timing {
        id: benchmark["full_id"].as_str()?.to_owned(),
        median: median["point_estimate"].as_f64()?,
        low: interval["lower_bound"].as_f64()?,
        high: interval["upper_bound"].as_f64()?,
        work: unit("Elements", "elem").or(unit("Bytes", "B")),
    })
}

impl Timing {
    /// Half the width of the confidence interval, as a fraction of the median.
    fn spread(&self) -> f64 {
        0.5 * (self.high - self.low) / self.median
    }

    /// Work done in one second.
    fn rate(&self) -> Option<(f64, &'static str)> {
        self.work.map(|(amount, unit)| (amount / (self.median * 1e-9), unit))
    }
}

fn render(timings: &[Timing]) -> String {
    let row = |t: &Timing| {
        let rate = t.rate().map_or("-".to_owned(), |(rate, unit)| format!("{} {unit}/s", scaled(rate)));
        vec![t.id.clone(), duration(t.median), format!("±{:.1} %", 100.0 * t.spread()), rate]
    };
    let rows: Vec<_> = timings.iter().map(row).collect();
    table::render(&["benchmark", "median", "95 %", "throughput"], &rows)
}

fn to_json(t: &Timing) -> Value {
    json!({
        "id": t.id,
        "median_ns": t.median,
        "low_ns": t.low,
        "high_ns": t.high,
        "throughput_per_second": t.rate().map(|r| r.0),
        "throughput_unit": t.rate().map(|r| r.1),
    })
}

fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.2} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns * 1e-3),
        ns if ns < 1e9 => format!("{:.2} ms", ns * 1e-6),
        ns => format!("{:.2} s ", ns * 1e-9),
    }
}

fn scaled(x: f64) -> String {
    match x {
        x if x >= 1e9 => format!("{:.2} G", x * 1e-9),
        x if x >= 1e6 => format!("{:.2} M", x * 1e-6),
        x if x >= 1e3 => format!("{:.2} k", x * 1e-3),
        x => format!("{x:.2} "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> (Value, Value) {
        let interval = json!({"confidence_level": 0.95, "lower_bound": 1990.0, "upper_bound": 2010.0});
        (
            json!({"group_id": "a", "full_id": "a/b", "throughput": {"Elements": 100}}),
            json!({"median": {"point_estimate": 2000.0, "confidence_interval": interval}}),
        )
    }

    #[test]
    fn criterion_s_files_become_a_row() {
        let (benchmark, estimates) = fixture();
        let timing = timing(&benchmark, &estimates).unwrap();
        assert_eq!(timing.work, Some((100.0, "elem")));
        let text = render(std::slice::from_ref(&timing));
        assert!(text.contains("a/b") && text.contains("2.00 µs") && text.contains("±0.5 %"), "{text}");
        assert!(text.contains("50.00 M elem/s"), "{text}");
        assert_eq!(to_json(&timing)["throughput_unit"], "elem");
    }

    #[test]
    fn only_files_of_this_run_are_read_and_broken_ones_are_an_error() {
        let root = std::env::temp_dir().join(format!("xtask-bench-{}", std::process::id()));
        let new = root.join("a/b/new");
        std::fs::create_dir_all(&new).unwrap();
        let (benchmark, estimates) = fixture();
        std::fs::write(new.join("benchmark.json"), benchmark.to_string()).unwrap();
        std::fs::write(new.join("estimates.json"), estimates.to_string()).unwrap();
        let read = |start: SystemTime| {
            let mut timings = Vec::new();
            collect(&root, start, &mut timings).map(|()| timings.len())
        };
        assert_eq!(read(SystemTime::now() - Duration::from_secs(60)), Ok(1));
        assert_eq!(read(SystemTime::now() + Duration::from_secs(60)), Ok(0));
        std::fs::write(new.join("benchmark.json"), "{}").unwrap();
        assert!(read(SystemTime::now() - Duration::from_secs(60)).is_err());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
