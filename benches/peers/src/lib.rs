//! What both sides of a comparison share: timing, and engines that load the same scene.

pub mod engines;

use std::{ops::Range, time::Instant};

/// Rounds that a side runs before the other has its turn: after the first it has its caches back.
const ROUNDS: usize = 4;

/// Runs a slice of queries and adds up what they return.
pub type Run<'a> = &'a mut dyn FnMut(Range<usize>) -> f64;

/// Nanoseconds per query of both sides, and their sums. The sides take turns, and the fastest run of each slice of `slice`
/// queries counts, so that other work on the machine disturbs both alike and little.
pub fn least(queries: usize, slice: usize, mut sides: [Run<'_>; 2]) -> [(f64, f64); 2] {
    let mut best = [(); 2].map(|()| vec![f64::INFINITY; queries / slice]);
    let mut sums = [0.0; 2];
    let begin = Instant::now();
    for turn in 0..100 {
        for (side, run) in sides.iter_mut().enumerate() {
            for _ in 0..ROUNDS {
                sums[side] = 0.0;
                for (k, best) in best[side].iter_mut().enumerate() {
                    let start = Instant::now();
                    sums[side] += run(k * slice..(k + 1) * slice);
                    *best = best.min(start.elapsed().as_secs_f64());
                }
            }
        }
        if turn >= 2 && begin.elapsed().as_secs_f64() > 2.0 {
            break;
        }
    }
    [0, 1].map(|side| (best[side].iter().sum::<f64>() / queries as f64 * 1e9, sums[side]))
}
