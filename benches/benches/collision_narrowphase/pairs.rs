//! Contacts of every kind of shape with every other: lying on each other, tumbling while they overlap a little, touching, a little
//! apart; each with a cache that follows the motion, and cold. One iteration is one query.
//!
//! A shape against itself and against the box, and cylinder against hull; all pairs with the variable `TUMBLESTONE_ALL_PAIRS`,
//! which take an hour. A filter such as `tumbling-warm/cylinder` asks for a few.

mod poses;

use collision_narrowphase::default_chain;
use poses::{POSES, SHAPES, STATES, poses, shape};
use sim_math::Pose;
use sim_traits::{Chain, NarrowPhase, PairCache, Shape};
use std::hint::black_box;
use tumblestone_benches::Suite;

/// One pair in one state: made when it is first asked, as most are not.
struct Work {
    shapes: [Shape; 2],
    poses: Vec<Pose>,
    chain: Chain,
}

impl Work {
    fn new(names: [&str; 2], state: &str, gap: f64) -> Option<Self> {
        let shapes = [shape(names[0])?, shape(names[1])?];
        let poses = poses(&shapes[0], &shapes[1], state, gap);
        Some(Self { shapes, poses, chain: default_chain() })
    }
}

fn pairs(suite: &mut Suite) {
    let all = std::env::var_os("TUMBLESTONE_ALL_PAIRS").is_some();
    for (i, a) in SHAPES.into_iter().enumerate() {
        for b in &SHAPES[i..] {
            if !(all || a == *b || a == "box" || (a == "cylinder" && *b == "hull30")) {
                continue;
            }
            for (state, gap) in STATES {
                for start in ["warm", "cold"] {
                    let id = format!("collision_narrowphase/{state}-{start}/{a}-{b}");
                    let mut work = None;
                    let (mut k, mut cache, mut out) = (0, PairCache::default(), Vec::with_capacity(4));
                    suite.case(&id).samples(10).iterations(POSES as u64).run(|| {
                        let work = work.get_or_insert_with(|| Work::new([a, b], state, gap));
                        let Some(Work { shapes: [a, b], poses, chain }) = work else { return 0 };
                        k = (k + 1) % POSES;
                        if start == "cold" {
                            cache = PairCache::default();
                        }
                        out.clear();
                        let done = chain.manifolds(
                            black_box(a),
                            black_box(b),
                            &poses[k],
                            0.02,
                            &mut cache,
                            &mut out,
                        );
                        black_box(&out);
                        usize::from(done.is_ok())
                    });
                }
            }
        }
    }
}

tumblestone_benches::main!(pairs);
