//! Times one problem of workload W6: `time_w6 <pd|contact|friction4|friction8> <n> <seed>` prints the seconds of
//! a cold and of a warm solve, the least of several. Used by `benches/peers/quantecon_lemke.py`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use lcp_lemke::Driver;
use lcp_lemke::families::{Family, changed_pair};
use sim_math::testkit::SplitMix64;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (family, n, seed) = match words[..] {
        [] => ("pd", "10", "1"),
        [family, n, seed] => (family, n, seed),
        _ => return Err("usage: time_w6 <pd|contact|friction4|friction8> <n> <seed>".into()),
    };
    let family: Family = family.parse()?;
    let n: usize = n.parse()?;
    let (p, near) = changed_pair(family, n, 1e-3, &mut SplitMix64(seed.parse()?));
    let (problem, near) = (p.problem()?, near.problem()?);
    let mut z = vec![0.0; p.q.len()];
    let mut driver = Driver::default();
    driver.reserve(p.q.len());
    driver.run(&problem, &mut z)?;
    let basis = driver.active().to_vec();
    // Several solves for each look at the clock, which is not free.
    let batch = (10_000 / (n * n)).clamp(1, 50) as u32;
    let (mut cold, mut warm) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..(1_000_000 / (n * n)).clamp(3, 300) {
        let start = Instant::now();
        for _ in 0..batch {
            driver.run_from(&problem, None, &mut z)?;
        }
        let between = Instant::now();
        for _ in 0..batch {
            driver.run_from(&near, Some(&basis), &mut z)?;
        }
        let end = Instant::now();
        cold = cold.min((between - start).as_secs_f64() / f64::from(batch));
        warm = warm.min((end - between).as_secs_f64() / f64::from(batch));
    }
    println!("{cold:e} {warm:e}");
    Ok(())
}
