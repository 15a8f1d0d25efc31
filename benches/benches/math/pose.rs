//! Composition of poses and transformation of points, on arrays that fit the first cache level.

use sim_math::Pose;
use sim_math::glam::DVec3;
use sim_math::testkit::SplitMix64;
use std::hint::black_box;
use tumblestone_benches::Suite;

const COUNT: usize = 256;

fn poses(seed: u64) -> Vec<Pose> {
    let mut rng = SplitMix64(seed);
    (0..COUNT).map(|_| Pose::new(rng.vec3(10.0), rng.unit_quat())).collect()
}

fn compose(suite: &mut Suite) {
    let (a, b) = (poses(1), poses(2));
    let mut out = vec![Pose::IDENTITY; COUNT];
    suite.case("math/pose/compose").elements(COUNT as u64).run(|| {
        for ((out, a), b) in out.iter_mut().zip(black_box(&a)).zip(black_box(&b)) {
            *out = *a * *b;
        }
        black_box(&mut out);
    });
}

fn transform_point(suite: &mut Suite) {
    let pose = poses(3)[0];
    let mut rng = SplitMix64(4);
    let points: Vec<DVec3> = (0..COUNT).map(|_| rng.vec3(10.0)).collect();
    let mut out = vec![DVec3::ZERO; COUNT];
    suite.case("math/pose/transform_point").elements(COUNT as u64).run(|| {
        let pose = black_box(pose);
        for (out, point) in out.iter_mut().zip(black_box(&points)) {
            *out = pose.transform_point(*point);
        }
        black_box(&mut out);
    });
}

tumblestone_benches::main!(compose, transform_point);
