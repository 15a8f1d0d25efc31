//! Piles of boxes and balls under the soft solver.

mod common;

use common::Pile;
use constraint_dynamics::soft::SoftManifold;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};

const DT: f64 = 1.0 / 60.0;

#[test]
fn a_box_comes_to_rest_on_a_plane_and_carries_its_weight() {
    let mut pile = Pile::on_floor(0.5, 0.0);
    let b = pile.cuboid(
        DVec3::splat(0.5),
        1000.0,
        Pose::new(DVec3::new(0.0, 0.0, 0.6), DQuat::from_rotation_z(0.3)),
    );
    for _ in 0..120 {
        pile.step(DT);
    }
    let solid = &pile.solids[b];
    assert!(solid.velocity.linear.length() < 1e-4, "{:?}", solid.velocity);
    let depth = 0.5 - solid.pose.translation.z;
    assert!(depth > 0.0 && depth < 5e-3, "{depth}");
    let carried: f64 = pile.manifolds.iter().flat_map(SoftManifold::impulses).sum();
    let weight = 1000.0 * 9.81 * DT;
    assert!((carried - weight).abs() < 1e-3 * weight, "{carried} of {weight}");
}

fn pyramid(rows: i32) -> Pile {
    let mut pile = Pile::on_floor(0.5, 0.0);
    for row in 0..rows {
        for k in 0..rows - row {
            let x = 1.05 * (f64::from(k) + 0.5 * f64::from(row));
            pile.cuboid(
                DVec3::splat(0.5),
                1000.0,
                Pose::from_translation(DVec3::new(x, 0.0, 0.5 + f64::from(row))),
            );
        }
    }
    pile
}

#[test]
fn a_pyramid_of_twenty_rows_stands() {
    let mut pile = pyramid(20);
    let start: Vec<DVec3> = pile.solids.iter().map(|s| s.pose.translation).collect();
    for _ in 0..300 {
        pile.step(DT);
    }
    let gaps = pile.manifolds.iter().flat_map(SoftManifold::gaps);
    let deepest = gaps.map(|gap| -gap).fold(0.0, f64::max);
    let moved = pile.solids.iter().zip(&start).map(|(s, x)| (s.pose.translation - *x).truncate().length());
    let drift = moved.fold(0.0, f64::max);
    let speed = pile.solids.iter().map(|s| s.velocity.linear.length()).fold(0.0, f64::max);
    assert!(deepest < 4e-3 && drift < 6e-3 && speed < 2e-4, "{deepest} {drift} {speed}");
}

#[test]
fn a_stack_of_ten_comes_to_rest() {
    let mut pile = Pile::on_floor(0.5, 0.0);
    for k in 0..10 {
        pile.cuboid(DVec3::splat(0.5), 1000.0, Pose::from_translation(DVec3::Z * (0.5 + f64::from(k))));
    }
    for _ in 0..600 {
        pile.step(DT);
    }
    let top = &pile.solids[10];
    assert!(top.velocity.linear.length() < 5e-3, "{:?}", top.velocity);
    assert!(top.pose.translation.truncate().length() < 0.01, "{}", top.pose.translation);
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution() {
    for e in [0.0, 0.5, 0.8, 1.0] {
        let mut pile = Pile::on_floor(0.5, e);
        let ball = pile.ball(0.1, 1.0, DVec3::new(0.0, 0.0, 1.1));
        let mut apex: f64 = 0.0;
        let mut hit = false;
        for _ in 0..4000 {
            pile.step(1.0 / 2400.0);
            let solid = &pile.solids[ball];
            hit |= solid.velocity.linear.z > 0.0;
            let height = solid.pose.translation.z - 0.1;
            if hit && solid.velocity.linear.z <= 0.0 {
                break;
            }
            apex = if hit { apex.max(height) } else { 0.0 };
        }
        // The step in which it hits adds or takes a part of g dt to the speed: order one.
        assert!((apex - e * e).abs() < 5e-3, "{e}: {apex}");
    }
}

#[test]
fn a_block_slides_as_coulomb_says_in_any_heading() {
    for heading in 0..12 {
        let mut pile = Pile::on_floor(0.3, 0.0);
        let b = pile.cuboid(DVec3::new(0.5, 0.5, 0.1), 1000.0, Pose::from_translation(DVec3::Z * 0.1));
        for _ in 0..30 {
            pile.step(DT);
        }
        let angle = f64::from(heading) * 0.5;
        let direction = DVec3::new(sim_math::ops::cos(angle), sim_math::ops::sin(angle), 0.0);
        pile.solids[b].velocity.linear += 3.0 * direction;
        for _ in 0..30 {
            pile.step(DT);
        }
        let v = pile.solids[b].velocity.linear;
        let expected = 3.0 - 0.3 * 9.81 * 0.5;
        assert!((v.dot(direction) - expected).abs() < 1e-2, "heading {angle}: {v} instead of {expected}");
        assert!((v - direction * v.dot(direction)).truncate().length() < 2e-3, "heading {angle}: {v}");
    }
}
