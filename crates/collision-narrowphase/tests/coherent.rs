//! Long coherent runs: no cycle, no NaN, about one iteration per query.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

use collision_narrowphase::{Polyhedron, relative::Frame, sat::gap_along, vclip::vclip};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::PairCache;

/// Two bodies that drift, spin and bounce off the walls of a box and off each other.
struct Bounce {
    position: [DVec3; 2],
    rotation: [DQuat; 2],
    velocity: [DVec3; 2],
    spin: [DVec3; 2],
}

impl Bounce {
    fn new(random: &mut SplitMix64, speed: f64) -> Self {
        Self {
            position: [DVec3::new(-1.5, 0.0, 0.0), DVec3::new(1.5, 0.0, 0.0)],
            rotation: [random.unit_quat(), random.unit_quat()],
            velocity: [random.vec3(speed), random.vec3(speed)],
            spin: [random.vec3(2.0 * speed), random.vec3(2.0 * speed)],
        }
    }

    fn step(&mut self) {
        for k in 0..2 {
            self.position[k] += self.velocity[k];
            self.rotation[k] = (DQuat::from_scaled_axis(self.spin[k]) * self.rotation[k]).normalize();
            for axis in 0..3 {
                if self.position[k][axis].abs() > 2.0 {
                    self.velocity[k][axis] = -self.velocity[k][axis].abs().copysign(self.position[k][axis]);
                }
            }
        }
    }

    fn relative(&self) -> Pose {
        let [a, b] = [0, 1].map(|k| Pose::new(self.position[k], self.rotation[k]));
        a.inverse_mul(&b)
    }

    fn part(&mut self, normal: DVec3) {
        let world = self.rotation[0] * normal;
        let approach = (self.velocity[0] - self.velocity[1]).dot(world);
        if approach < 0.0 {
            self.velocity[0] -= approach * world;
            self.velocity[1] += approach * world;
        }
    }
}

// proves: FON-36
#[test]
fn soak_a_bouncing_pair_never_cycles() {
    let mut random = seeded(31);
    let shapes = [
        Polyhedron::cuboid(DVec3::splat(0.6)).unwrap(),
        Polyhedron::dodecahedron(1.0).unwrap(),
        Polyhedron::random(100, 3).unwrap(),
        Polyhedron::cone(0.8, 0.8, 12).unwrap(),
        Polyhedron::cuboid(DVec3::new(1.0, 0.01, 0.3)).unwrap(),
    ];
    let queries = soaked(1_000_000) / 25;
    let (mut iterations, mut remedies, mut worst, mut overlaps) = (0_u64, 0_u64, 0_u32, 0_u64);
    for a in &shapes {
        for b in &shapes {
            let mut world = Bounce::new(&mut random, 0.003);
            let mut cache = PairCache::default();
            for _ in 0..queries {
                world.step();
                let found = vclip(a, b, &world.relative(), &mut cache).unwrap();
                assert!(found.separation.distance.is_finite() && found.separation.normal.is_finite());
                iterations += u64::from(found.iterations);
                remedies += u64::from(found.remedies);
                worst = worst.max(found.iterations);
                if found.separation.distance < 0.01 {
                    overlaps += u64::from(found.separation.distance <= 0.0);
                    world.part(found.separation.normal);
                }
            }
        }
    }
    let total = queries * 25;
    println!(
        "{total} queries, {} iterations each, worst {worst}, {remedies} remedies, {overlaps} overlaps",
        iterations as f64 / total as f64
    );
    assert!(iterations < 2 * total, "{iterations} iterations for {total} queries");
    assert!(worst < 60, "{worst}");
    assert_eq!(remedies, 0, "cycles or searches");
}

// proves: MIR-16, FON-38
#[test]
fn a_static_pair_needs_one_iteration_and_small_motion_about_one() {
    let hull = Polyhedron::fibonacci(1.0, 500).unwrap();
    let mut cache = PairCache::default();
    let axis = DVec3::new(1.0, 2.0, 3.0).normalize();
    let pose = |k: f64| Pose::new(DVec3::new(2.3, 0.1, 0.2), DQuat::from_axis_angle(axis, 0.01 * k));
    vclip(&hull, &hull, &pose(0.0), &mut cache).unwrap();
    for _ in 0..10 {
        assert_eq!(vclip(&hull, &hull, &pose(0.0), &mut cache).unwrap().iterations, 1);
    }
    let mut total = 0;
    for k in 0..5000 {
        total += vclip(&hull, &hull, &pose(0.05 * f64::from(k)), &mut cache).unwrap().iterations;
    }
    assert!(total < 5000 * 115 / 100, "{total}");
}

#[test]
fn the_distance_is_continuous_through_touching() {
    let shapes = [Polyhedron::random(30, 1).unwrap(), Polyhedron::cuboid(DVec3::new(0.4, 0.7, 0.5)).unwrap()];
    let mut random = SplitMix64(13);
    for _ in 0..300 {
        let (a, b) = (&shapes[random.below(2)], &shapes[random.below(2)]);
        let (q, way) = (random.unit_quat(), random.unit_vec3());
        let mut cache = PairCache::default();
        let distance = |s: f64, cache: &mut PairCache| {
            vclip(a, b, &Pose::new(s * way, q), cache).unwrap().separation.distance
        };
        // Find the touching position, then walk through it in tiny steps.
        let (mut out, mut inside) = (3.0, 0.0);
        for _ in 0..60 {
            let middle = 0.5 * (out + inside);
            if distance(middle, &mut cache) > 0.0 {
                out = middle;
            } else {
                inside = middle;
            }
        }
        for step in [1e-12, 1e-10, 1e-8, 1e-5] {
            let samples: Vec<f64> =
                (-5..=5).map(|k| distance(out + step * f64::from(k), &mut cache)).collect();
            for pair in samples.windows(2) {
                // The distance changes at most by the step, up to the width of the touching band.
                assert!((pair[1] - pair[0]).abs() <= step + 4e-10, "{samples:?}");
            }
            assert!(samples[0] <= 1e-9 && samples[10] >= -1e-9);
        }
        let pose = Pose::new(out * way, q);
        let found = vclip(a, b, &pose, &mut cache).unwrap().separation;
        let gap = gap_along(a, b, &Frame::from_pose(&pose), -found.normal);
        assert!((gap - found.distance).abs() < 1e-9);
    }
}

// A fixed cube and a ball that turns by a degree per call about an axis parallel to the near face. Part of the cost of a
// query does not depend on the states: the bench `vclip/facets-*` counts instructions and time.
#[test]
fn sixteen_times_the_facets_cost_a_quarter_of_a_state_more_at_a_degree_per_call() {
    let cube = Polyhedron::cuboid(DVec3::ONE).unwrap();
    let states = |levels: u32| {
        let ball = Polyhedron::icosphere(1.0, levels).unwrap();
        let mut cache = PairCache::default();
        let mut turn = DQuat::from_xyzw(0.1, 0.2, 0.3, 0.9).normalize();
        let mut total = 0;
        for k in 0..3600 {
            let drift = (0.37 * f64::from(k)).to_radians();
            let axis = DVec3::new(0.0, drift.cos(), drift.sin());
            turn = (DQuat::from_axis_angle(axis, 1.0_f64.to_radians()) * turn).normalize();
            let pose = Pose::new(DVec3::new(2.3, 0.1, 0.2), turn);
            total += vclip(&cube, &ball, &pose, &mut cache).unwrap().iterations;
        }
        (ball.faces().len(), total)
    };
    for levels in [0, 1] {
        let (coarse, fine) = (states(levels), states(levels + 2));
        println!("states for 3600 queries: {coarse:?}, {fine:?}");
        assert_eq!(fine.0, 16 * coarse.0);
        assert!(fine.1 <= coarse.1 + 3600 / 4, "{coarse:?} {fine:?}");
    }
}
