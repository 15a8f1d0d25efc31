//! Swept boxes of `sim_math` as this crate needs them: dense sampling never leaves the box.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use sim_math::{
    Aabb,
    glam::{DQuat, DVec3},
    swept::{ballistic_box, fixed_box, link_box},
};
use sim_traits::testkit::SplitMix64;

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

// proves: MIR-30, FON-16
#[test]
fn a_ballistic_box_contains_every_vertex_of_a_tumbling_body() {
    let mut random = SplitMix64(1);
    let mut apexes = 0;
    for _ in 0..3000 {
        let vertices: Vec<DVec3> = (0..8).map(|_| random.vec3(0.5)).collect();
        let r_max = vertices.iter().map(|v| v.length()).fold(0.0, f64::max);
        let (p, v, w) = (random.vec3(5.0), random.vec3(3.0), random.vec3(20.0));
        let dt = random.range(0.0, 0.5);
        let aabb = ballistic_box(p, v, GRAVITY, dt, r_max).unwrap();
        apexes += u32::from(v.z > 0.0 && v.z < 9.81 * dt);
        for i in 0..=50 {
            let t = dt * f64::from(i) / 50.0;
            let center = p + v * t + 0.5 * GRAVITY * t * t;
            let turn = DQuat::from_scaled_axis(w * t);
            for &vertex in &vertices {
                assert!(aabb.contains(center + turn * vertex), "t {t}, {aabb:?}");
            }
        }
    }
    assert!(apexes > 100);
    // A fixed box is taken once, as it is; a bad one is an error.
    let unit = Aabb { min: DVec3::ZERO, max: DVec3::ONE };
    assert_eq!(fixed_box(unit), Ok(unit));
    assert!(fixed_box(Aabb { min: DVec3::ONE, max: DVec3::ZERO }).is_err());
}

/// A link on a rotating joint: its acceleration turns with it, so the second-order box is no bound.
struct Link {
    radius: f64,
    angle: f64,
    rate: f64,
    accel: f64,
}

impl Link {
    fn at(&self, t: f64) -> DVec3 {
        let a = self.angle + self.rate * t + 0.5 * self.accel * t * t;
        DVec3::new(sim_math::ops::cos(a), sim_math::ops::sin(a), 0.0) * self.radius
    }

    fn velocity(&self) -> DVec3 {
        let (s, c) = (sim_math::ops::sin(self.angle), sim_math::ops::cos(self.angle));
        DVec3::new(-s, c, 0.0) * (self.radius * self.rate)
    }

    fn acceleration(&self) -> DVec3 {
        let (s, c) = (sim_math::ops::sin(self.angle), sim_math::ops::cos(self.angle));
        DVec3::new(-s, c, 0.0) * (self.radius * self.accel)
            - DVec3::new(c, s, 0.0) * (self.radius * self.rate * self.rate)
    }
}

// proves: MIR-31
#[test]
fn padded_link_boxes_are_rarely_violated_and_never_after_rollback() {
    let mut random = SplitMix64(2);
    let (mut violations, mut after, cases, dt) = (0, 0, 5000, 0.05);
    for _ in 0..cases {
        let link = Link {
            radius: random.range(0.1, 1.0),
            angle: random.range(0.0, 6.3),
            rate: random.range(-8.0, 8.0),
            accel: random.range(-60.0, 60.0),
        };
        let r_max = 0.05;
        let mut aabb = link_box(link.at(0.0), link.velocity(), link.acceleration(), dt, r_max).unwrap();
        let samples = || (0..=40).map(|i| link.at(dt * f64::from(i) / 40.0));
        let inside = |aabb: &Aabb| {
            samples().all(|p| aabb.contains_box(&Aabb::from_center_half_extents(p, DVec3::splat(r_max))))
        };
        if !inside(&aabb) {
            violations += 1;
            // Rollback: the way is known now, so the box is the union of the old one and the one reached.
            for p in samples() {
                aabb = aabb.merged(&Aabb::from_center_half_extents(p, DVec3::splat(1.1 * r_max)));
            }
        }
        after += u32::from(!inside(&aabb));
    }
    println!("{violations} of {cases} link boxes violated");
    assert!(violations > 0 && violations < cases / 4, "{violations} of {cases}");
    assert_eq!(after, 0);
}
