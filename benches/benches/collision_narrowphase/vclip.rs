//! W2: closest features of two hulls along a coherent path and at random poses. One iteration is one query.

use collision_narrowphase::{Polyhedron, vclip::vclip};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::PairCache;
use std::hint::black_box;
use tumblestone_benches::Suite;

const POSES: usize = 4096;

fn hull(n: usize) -> Polyhedron {
    let made = match n {
        8 => Polyhedron::cuboid(DVec3::splat(1.0 / 3.0_f64.sqrt())),
        20 => Polyhedron::dodecahedron(1.0),
        _ => Polyhedron::fibonacci(1.0, n),
    };
    made.unwrap_or_else(|error| unreachable!("{error}"))
}

fn coherent() -> Vec<Pose> {
    let axis = DVec3::new(1.0, 2.0, 3.0) / 14.0_f64.sqrt();
    let pose = |k: usize| {
        let (s, c) = sim_math::ops::sin_cos(0.005 * k as f64);
        Pose::new(2.2 * DVec3::new(c, 0.8 * s, 0.6 * s), DQuat::from_axis_angle(axis, 0.01 * k as f64))
    };
    (0..POSES).map(pose).collect()
}

fn random() -> Vec<Pose> {
    let mut random = SplitMix64(7);
    (0..POSES)
        .map(|_| {
            let distance = random.range(2.05, 4.0);
            Pose::new(distance * random.unit_vec3(), random.unit_quat())
        })
        .collect()
}

fn queries(suite: &mut Suite) {
    for n in [8, 20, 100, 500, 2000] {
        let hull = hull(n);
        for (name, poses) in [("coherent", coherent()), ("random", random())] {
            let id = format!("collision_narrowphase/vclip/{name}-{n}");
            let (mut k, mut cache) = (0, PairCache::default());
            let warm = name == "coherent";
            suite.case(&id).iterations(POSES as u64).run(|| {
                k = (k + 1) % POSES;
                if !warm {
                    cache = PairCache::default();
                }
                vclip(black_box(&hull), black_box(&hull), &poses[k], &mut cache)
                    .map(|c| c.separation.distance)
            });
        }
    }
}

/// A fixed cube and balls of 20 to 5120 facets that turn by a degree per call about an axis parallel to the near face.
/// The axis drifts, so that the path does not repeat.
// proves: MIR-19
fn facets(suite: &mut Suite) {
    let mut turn = DQuat::from_xyzw(0.1, 0.2, 0.3, 0.9).normalize();
    let degree = std::f64::consts::PI / 180.0;
    let pose = |k: usize| {
        let (s, c) = sim_math::ops::sin_cos(0.37 * degree * k as f64);
        turn = (DQuat::from_axis_angle(DVec3::new(0.0, c, s), degree) * turn).normalize();
        Pose::new(DVec3::new(2.3, 0.1, 0.2), turn)
    };
    let poses: Vec<Pose> = (0..36_000).map(pose).collect();
    let Ok(cube) = Polyhedron::cuboid(DVec3::ONE) else { return };
    for levels in 0..5 {
        let Ok(ball) = Polyhedron::icosphere(1.0, levels) else { return };
        let (mut k, mut cache) = (0, PairCache::default());
        let id = format!("collision_narrowphase/vclip/facets-{}", ball.faces().len());
        suite.case(&id).iterations(36_000).run(|| {
            k = (k + 1) % poses.len();
            vclip(black_box(&cube), black_box(&ball), &poses[k], &mut cache).map(|c| c.separation.distance)
        });
    }
}

tumblestone_benches::main!(queries, facets);
