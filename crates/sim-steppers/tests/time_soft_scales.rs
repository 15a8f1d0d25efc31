//! Soft contacts at any size, height and ratio of masses. `TUMBLESTONE_SOAK` runs the whole matrix, and prints its figures.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::glam::DVec3;
use sim_world::Stepper;
use timed::{brick, earth, positions, soft};

/// How far the boxes of a stack move after two seconds, as shares of their size: sideways, down.
fn stack(n: u32, size: f64, gap: f64, mu: f64, seconds: f64) -> [f64; 2] {
    let mut world = earth(mu, 0.0);
    let half = 0.5 * size;
    let ids: Vec<_> = (0..n)
        .map(|k| {
            let z = half + gap + f64::from(k) * (size + gap);
            world.add(brick(half, half, half, mu).at([0.0, 0.0, z])).unwrap()
        })
        .collect();
    let mut stepper = soft(|_| {});
    stepper.advance(&mut world, 2.0).unwrap();
    let settled = positions(&world, &ids);
    let mut worst = [0.0_f64; 2];
    for _ in 0..(seconds - 2.0) as u32 {
        stepper.advance(&mut world, 1.0).unwrap();
        for ((now, before), k) in positions(&world, &ids).iter().zip(&settled).zip(0..) {
            let moved = *now - *before;
            let sunk = half + f64::from(k) * size - now.z;
            worst[0] = worst[0].max(moved.truncate().length() / size);
            worst[1] = worst[1].max(-moved.z / size).max(sunk / size);
        }
    }
    worst
}

#[test]
fn stacks_of_any_size_stand() {
    let soak = std::env::var_os("TUMBLESTONE_SOAK").is_some();
    let mut failed = Vec::new();
    let mut cases = Vec::new();
    for n in [3, 10, 20] {
        for size in [0.01, 0.1, 1.0, 10.0] {
            for gap in [0.0, 1e-5, 1e-3] {
                for mu in [0.3, 0.8] {
                    cases.push((n, size, gap, mu));
                }
            }
        }
    }
    for (k, (n, size, gap, mu)) in cases.into_iter().enumerate() {
        // Twenty of 1 cm take hundreds of substeps.
        if !soak && (k % 5 != 0 || (n, size) == (20, 0.01)) {
            continue;
        }
        let [aside, down] = stack(n, size, gap, mu, if soak { 60.0 } else { 10.0 });
        let good = aside < 1e-3 && down < 1e-3;
        if soak {
            println!(
                "{n:3} {size:5} {gap:6} {mu}: aside {aside:.1e} down {down:.1e} {}",
                if good { "" } else { "BAD" }
            );
        }
        if !good {
            failed.push((n, size, gap, mu, aside, down));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn a_heavy_body_on_a_light_one_does_not_sink() {
    for (size, ratio) in [(0.1, 1000.0), (1.0, 1000.0), (1.0, 100.0)] {
        let mut world = earth(0.5, 0.0);
        let h = 0.5 * size;
        let light =
            world.add(brick(h, h, h, 0.5).at([0.0, 0.0, h]).density(1.0 / (size * size * size))).unwrap();
        let heavy = world
            .add(brick(h, h, h, 0.5).at([0.0, 0.0, 3.0 * h]).density(ratio / (size * size * size)))
            .unwrap();
        let mut stepper = soft(|_| {});
        stepper.advance(&mut world, 5.0).unwrap();
        let sunk = [(light, h), (heavy, 3.0 * h)].map(|(id, z)| (z - world[id].position().z) / size);
        println!("{size} {ratio}: {sunk:?}");
        assert!(sunk[1] < 0.01 && sunk[0] < 0.01, "{size} {ratio}: {sunk:?}");
    }
}

/// A wall or pyramid: rows of bricks, and how far the worst is from where it was put, as a share of the height of a row.
fn piled(rows: usize, pyramid: bool, half: DVec3, mu: f64, seconds: f64) -> f64 {
    let mut world = earth(mu, 0.0);
    let list: Vec<(f64, usize)> = (0..rows)
        .map(|k| match pyramid {
            true => (1.05 * half.x * k as f64, rows - k),
            false => (if k % 2 == 0 { -0.125 } else { 0.125 } * 2.0 * half.x, 10),
        })
        .collect();
    let pitch = if pyramid { 2.1 } else { 2.02 } * half.x;
    let ids = timed::rows(&mut world, half, pitch, &list, mu);
    let start = positions(&world, &ids);
    soft(|_| {}).advance(&mut world, seconds).unwrap();
    timed::drift(&start, &positions(&world, &ids)) / (2.0 * half.z)
}

#[test]
fn walls_and_pyramids_stand() {
    let soak = std::env::var_os("TUMBLESTONE_SOAK").is_some();
    let mut failed = Vec::new();
    for rows in [10, 20, 30] {
        for (pyramid, half) in [
            (false, DVec3::new(0.5, 0.25, 0.25)),
            (true, DVec3::splat(0.5)),
            (false, DVec3::new(0.05, 0.025, 0.025)),
            (true, DVec3::splat(0.025)),
        ] {
            if !soak && (rows == 30 || (rows == 20 && pyramid && half.z < 0.1)) {
                continue;
            }
            let moved = piled(rows, pyramid, half, 0.5, if soak { 60.0 } else { 4.0 });
            println!("{rows} rows pyramid {pyramid} {half}: {moved:.2e}");
            if moved > 0.2 {
                failed.push((rows, pyramid, half, moved));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
