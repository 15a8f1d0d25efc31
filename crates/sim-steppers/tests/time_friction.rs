//! Friction under time stepping: inclines, headings, rolling, Painlevé's rod.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{assert_close, glam::DVec3, ops, spatial::Motion};
use sim_steppers::Stabilization;
use sim_world::Stepper;
use timed::{G, ball, brick, cone, earth, laws, slope};

#[test]
fn an_incline_holds_a_block_for_a_minute_and_lets_it_go_as_newton_says() {
    let mu = 0.5;
    // validation.md: ±0.1 % of μ, any heading. Above the threshold a = g (sin θ − μ cos θ); velocities are exact at any step, places are of first
    // order: x = ½ a t (t + h).
    for heading in [0.0, 0.3, 1.1, 2.5] {
        let (mut world, block, _) = slope(mu * 0.999, heading, mu);
        let start = world[block].position();
        let mut stepper = cone(|_| {});
        stepper.advance(&mut world, 1.0).unwrap();
        let settled = world[block].position();
        assert!((settled - start).length() < 1e-9, "settles by {:e} m", (settled - start).length());
        stepper.advance(&mut world, 59.0).unwrap();
        let crept = (world[block].position() - settled).length();
        assert!(crept < 1e-12, "creeps by {crept:e} m in a minute");

        let tangent = mu * 1.001;
        let (mut world, block, down) = slope(tangent, heading, mu);
        let start = world[block].position();
        cone(|_| {}).advance(&mut world, 10.0).unwrap();
        let theta = ops::atan(tangent);
        let a = G * (ops::sin(theta) - mu * ops::cos(theta));
        let v = world[block].velocity().linear;
        assert!((v - down * (a * 10.0)).length() < 1e-7, "{v} against {}", a * 10.0);
        let x = world[block].position() - start;
        assert_close!(x.dot(down), 0.5 * a * 10.0 * (10.0 + 1.0 / 60.0), rel = 1e-6);
    }
}

#[test]
fn polyhedral_cones_hold_and_slide_within_their_error() {
    // Eight sides aligned with the slip: the threshold is exact, as the incline is the direction of slip.
    for (name, mut stepper) in laws(1.0 / 60.0) {
        let (mut world, block, _) = slope(0.4995, 0.7, 0.5);
        let start = world[block].position();
        stepper.advance(&mut world, 2.0).unwrap();
        let crept = (world[block].position() - start).length();
        assert!(crept < 1e-8, "{name} creeps by {crept:e} m");
        let (mut world, block, down) = slope(0.6, 0.7, 0.5);
        stepper.advance(&mut world, 1.0).unwrap();
        let theta = ops::atan(0.6);
        let a = G * (ops::sin(theta) - 0.5 * ops::cos(theta));
        assert_close!(world[block].velocity().linear.dot(down), a, rel = 1e-6);
    }
}

#[test]
fn the_same_push_goes_as_far_in_any_heading() {
    let mut lengths = Vec::new();
    for k in 0..12 {
        let (s, c) = ops::sin_cos(0.52 * f64::from(k));
        let mut world = earth(0.5, 0.0);
        let puck = world
            .add(brick(0.5, 0.5, 0.02, 0.5).at([0.0, 0.0, 0.02]).moving([2.0 * c, 2.0 * s, 0.0]))
            .unwrap();
        cone(|_| {}).advance(&mut world, 1.0).unwrap();
        let x = world[puck].position();
        assert!(world[puck].velocity().linear.length() < 1e-9);
        assert!(x.dot(DVec3::new(-s, c, 0.0)).abs() < 1e-7);
        lengths.push(x.truncate().length());
    }
    let (least, most) = lengths.iter().fold((9.0_f64, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    assert!(most - least < 1e-6 * most, "{least} to {most}");
    // v²/(2 μ g) less a step's worth.
    assert_close!(most, 4.0 / (2.0 * 0.5 * G), abs = 2.0 / 60.0);
}

#[test]
fn a_sliding_ball_ends_up_rolling_at_five_sevenths() {
    // validation.md: v0 = 5, μ = 0.2: v = 3.5714 after 0.72812 s and 3.1205 m. The place at that time is of first order in the step.
    let mut errors = Vec::new();
    for dt in [1.0 / 120.0, 1.0 / 240.0, 1.0 / 480.0] {
        let mut world = earth(0.2, 0.0);
        let id = world.add(ball(0.5, 0.2, 0.0).at([0.0, 0.0, 0.5]).moving([5.0, 0.0, 0.0])).unwrap();
        let mut stepper = cone(|p| p.dt = dt);
        let time = 2.0 * 5.0 / (7.0 * 0.2 * G);
        stepper.advance(&mut world, time).unwrap();
        errors.push((world[id].position().x - 3.120_45).abs());
        stepper.advance(&mut world, 1.0).unwrap();
        let v = world[id].velocity();
        assert_close!(v.linear.x, 25.0 / 7.0, rel = 1e-9);
        assert_close!(v.angular.y, 25.0 / 7.0 / 0.5, rel = 1e-9);
        assert_close!(world[id].position().z, 0.5, abs = 1e-9);
    }
    assert!(errors[2] < 0.02 && errors[1] / errors[2] > 1.7 && errors[0] / errors[1] > 1.7, "{errors:?}");
}

#[test]
fn painleves_rod_jams_and_stays_finite() {
    // A thin rod at tan θ = 2 pushed along with μ far above 4/3: whatever happens, energy falls and nothing is infinite.
    for mu in [1.0, 1.4, 2.0, 5.0] {
        let mut world = earth(mu, 0.0);
        let theta = ops::atan(2.0);
        let turn = sim_math::glam::DQuat::from_rotation_y(-theta);
        let half = DVec3::new(0.5, 0.01, 0.01);
        let reach = half.x * ops::sin(theta) + half.z * ops::cos(theta);
        let rod = world
            .add(
                brick(half.x, half.y, half.z, mu).turned(turn).at([0.0, 0.0, reach]).moving([-1.0, 0.0, 0.0]),
            )
            .unwrap();
        let mut stepper = cone(|p| p.dt = 0.01);
        let mut before = timed::energy(&world);
        for _ in 0..100 {
            stepper.advance(&mut world, 0.01).unwrap();
            let now = timed::energy(&world);
            assert!(now <= before + 1e-3 * before, "μ = {mu}: energy {before} to {now}");
            before = before.min(now);
            assert!(world[rod].position().is_finite());
        }
    }
}

#[test]
fn baumgarte_and_no_stabilisation_run_too() {
    for stabilization in [Stabilization::None, Stabilization::Baumgarte(0.2)] {
        let mut world = earth(0.5, 0.0);
        let block = world.add(brick(0.5, 0.5, 0.5, 0.5).at([0.0, 0.0, 0.499])).unwrap();
        let mut stepper = cone(|p| p.stabilization = stabilization);
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        let after = world[block].position().z - 0.5;
        let expected = if stabilization == Stabilization::None { -0.001 } else { -0.0008 };
        assert_close!(after, expected, abs = 1e-9);
    }
    let mut wrong = cone(|p| p.stabilization = Stabilization::Baumgarte(2.0));
    assert!(wrong.advance(&mut earth(0.5, 0.0), 0.1).is_err());
}

#[test]
fn a_spinning_plate_on_the_floor_stops_turning() {
    let mut world = earth(0.5, 0.0);
    let plate = world.add(brick(0.4, 0.4, 0.02, 0.5).at([0.0, 0.0, 0.02])).unwrap();
    world.set_velocity(plate, Motion::new(DVec3::new(0.0, 0.0, 10.0), DVec3::ZERO)).unwrap();
    cone(|_| {}).advance(&mut world, 3.0).unwrap();
    assert!(world[plate].velocity().angular.length() < 1e-9);
    assert!(world[plate].position().truncate().length() < 1e-3);
}

// proves: ARN-105
#[test]
fn a_ball_rolls_on_without_losing_energy() {
    let mut world = earth(0.5, 0.0);
    let spin = DVec3::new(0.0, 2.0 / 0.25, 0.0);
    let id =
        world.add(ball(0.25, 0.5, 0.0).at([0.0, 0.0, 0.25]).moving([2.0, 0.0, 0.0]).spinning(spin)).unwrap();
    let before = world.kinetic_energy();
    cone(|_| {}).advance(&mut world, 20.0).unwrap();
    assert_close!(world.kinetic_energy(), before, rel = 1e-12);
    assert_close!(world[id].position().x, 40.0, rel = 1e-9);
}
