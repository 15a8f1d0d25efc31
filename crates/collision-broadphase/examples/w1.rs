//! Scene W1: N boxes of sizes 1 : 1000 in a cube, all moving; milliseconds per update.
#![allow(clippy::print_stdout, reason = "an example")]

use collision_broadphase::ColumnSweep;
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{BroadPhase, PairChanges, ProxyId, ProxyKind};
use std::time::Instant;

struct Random(u64);
impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn range(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }
}

fn main() {
    for n in std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok()) {
        for changes in [true] {
            let mut random = Random(42);
            let side = 6.0 * sim_math::ops::cbrt(n as f64);
            let (mut half, mut center, mut velocity) = (vec![], vec![], vec![]);
            for _ in 0..n {
                let s = sim_math::ops::powf(10.0, random.range(-1.5, 1.5));
                let mut v = |lo, hi| DVec3::new(random.range(lo, hi), random.range(lo, hi), random.range(lo, hi));
                half.push(v(0.5, 1.0) * 0.5 * s);
                center.push(v(0.0, side));
                velocity.push(v(-0.05, 0.05));
            }
            let mut params = collision_broadphase::ColumnSweepParams::default();
            if let Ok(w) = std::env::var("WINDOW") { params.max_window = w.parse().unwrap(); }
            if let Ok(w) = std::env::var("SLACK") { params.slack = w.parse().unwrap(); }
            let mut broad = ColumnSweep::new(params);
            let ids: Vec<ProxyId> = (0..n as u32).map(ProxyId).collect();
            let mut boxes: Vec<Aabb> =
                (0..n).map(|i| Aabb::from_center_half_extents(center[i], half[i])).collect();
            for i in 0..n {
                broad.insert(ids[i], ProxyKind::Moving, &boxes[i]).unwrap();
            }
            let (mut pairs, mut diff) = (vec![], PairChanges::default());
            let mut times = vec![];
            let steps = if n >= 100_000 { 80 } else { 220 };
            for _ in 0..steps {
                for i in 0..n {
                    for a in 0..3 {
                        let x = center[i][a] + velocity[i][a];
                        if !(0.0..=side).contains(&x) {
                            velocity[i][a] = -velocity[i][a];
                        }
                        center[i][a] += velocity[i][a];
                    }
                    boxes[i] = Aabb::from_center_half_extents(center[i], half[i]);
                }
                let t = Instant::now();
                broad.update(&ids, &boxes).unwrap();
                if changes { broad.pair_changes(&mut diff) } else { broad.pairs(&mut pairs) }
                times.push(t.elapsed().as_secs_f64() * 1e3);
            }
            let times = &mut times[20..];
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            times.sort_by(f64::total_cmp);
            println!(
                "n {n} changes {changes}: mean {mean:.3} median {:.3} worst {:.3} ms, pairs {} {:?}",
                times[times.len() / 2],
                times[times.len() - 1],
                pairs.len(),
                broad.report()
            );
        }
    }
}
