//! The walking skeleton against closed forms, conservation laws and bad input.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use sim_core::{
    prelude::*,
    skeleton::{Params, SkeletonError},
    traits::Executor,
};

const G: f64 = 9.81;

fn earth() -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G));
    world.add(Body::fixed(HalfSpace::up()));
    world
}

fn ball(radius: f64) -> Body {
    Body::free(Sphere::new(radius).unwrap(), 1.0, 0.4 * radius * radius)
}

/// A solid cube of 1 kg.
fn cube(half: f64) -> Body {
    Body::free(Cuboid::new(DVec3::splat(half)).unwrap(), 1.0, 2.0 / 3.0 * half * half)
}

fn total_energy(sim: &Simulation) -> f64 {
    sim.report().kinetic + sim.report().potential
}

#[test]
fn a_bouncing_ball_follows_its_closed_form() {
    // h = 1 m, e = 0.8: impact speeds e^n v0, apex heights e^(2n) h, all bounces over by (1 + e)/(1 - e) sqrt(2h/g).
    let (h, e, radius) = (1.0_f64, 0.8_f64, 0.1);
    let mut world = earth();
    let ball = world.add(ball(radius).at(DVec3::new(0.0, 0.0, h + radius)).restitution(e));
    let mut sim = Simulation::new(world, Parts::default()).unwrap();
    let threshold = (2.0 * G * Params::default().envelope).sqrt();
    let v0 = (2.0 * G * h).sqrt();
    let (mut impact, mut speed, mut now) = (v0 / G, v0, 0.0);
    let mut bounces = 0;
    while speed > threshold {
        let apex = impact + e * speed / G;
        sim.advance(apex - now).unwrap();
        now = apex;
        let event = sim.events()[bounces];
        bounces += 1;
        assert!((event.time - impact).abs() < 1e-9, "bounce {bounces}: {} against {impact}", event.time);
        assert!(
            (event.approach - speed).abs() < 1e-9,
            "bounce {bounces}: speed {} against {speed}",
            event.approach
        );
        assert!(event.distance.abs() <= 1e-12, "bounce {bounces}: root off by {}", event.distance);
        let apex_height = sim.position(ball).unwrap().z - radius;
        assert!(
            (apex_height - (e * speed).powi_2() / (2.0 * G)).abs() < 1e-9,
            "bounce {bounces}: {apex_height}"
        );
        impact += 2.0 * e * speed / G;
        speed *= e;
    }
    assert_eq!(bounces, 21);
    // It passes its accumulation point at 4.0637 s and then hops within the envelope, with bounded events.
    sim.advance(6.0 - now).unwrap();
    let height = sim.position(ball).unwrap().z - radius;
    assert!((-1e-12..=Params::default().envelope).contains(&height), "{height}");
    assert!(sim.report().micro_collisions < 500, "{}", sim.report().micro_collisions);
}

trait Square {
    fn powi_2(self) -> f64;
}

impl Square for f64 {
    fn powi_2(self) -> f64 {
        self * self
    }
}

#[test]
fn elastic_balls_and_a_tumbling_cube_keep_their_energy() {
    let mut world = earth();
    for k in 0..4 {
        let x = f64::from(k);
        world.add(
            ball(0.2)
                .at(DVec3::new(x, 0.1 * x, 1.0 + 0.5 * x))
                .moving(DVec3::new(-0.5 * x, 0.0, 1.0), DVec3::Y),
        );
    }
    // Far to the side: the skeleton has no box-ball pair.
    world.add(cube(0.25).at(DVec3::new(0.0, 50.0, 2.0)).moving(DVec3::X, DVec3::new(3.0, -2.0, 5.0)));
    let mut sim = Simulation::new(world, Parts::default()).unwrap();
    let before = total_energy(&sim);
    sim.advance(5.0).unwrap();
    assert!(sim.report().collisions > 20);
    assert!((total_energy(&sim) - before).abs() < 1e-10 * before, "{before} became {}", total_energy(&sim));
    assert!(sim.report().worst_root <= 1e-12);
}

#[test]
fn momentum_is_kept_when_two_balls_collide() {
    let mut world = World::new(DVec3::ZERO);
    let light =
        world.add(ball(0.1).at(DVec3::ZERO).moving(DVec3::new(2.0, 0.1, 0.0), DVec3::ZERO).restitution(0.5));
    let heavy =
        Body::free(Sphere::new(0.3).unwrap(), 7.0, 0.1).at(DVec3::new(1.0, 0.05, 0.02)).restitution(0.9);
    let heavy = world.add(heavy);
    let mut sim = Simulation::new(world, Parts::default()).unwrap();
    sim.advance(1.0).unwrap();
    assert_eq!(sim.events().len(), 1);
    let (x1, x2) = (sim.position(light).unwrap(), sim.position(heavy).unwrap());
    let mut later = |dt| {
        sim.advance(dt).unwrap();
        (sim.position(light).unwrap(), sim.position(heavy).unwrap())
    };
    let (y1, y2) = later(1.0);
    let momentum = (y1 - x1) + 7.0 * (y2 - x2);
    assert!((momentum - DVec3::new(2.0, 0.1, 0.0)).length() < 1e-13, "{momentum}");
    let event = sim.events()[0];
    assert!((event.impulse - 1.5 * event.approach / (1.0 + 1.0 / 7.0)).abs() < 1e-13);
}

fn tree(rails: [DVec3; 2]) -> Tree {
    Tree {
        anchors: [DVec3::new(0.0, 0.0, 3.0), DVec3::new(0.0, 0.0, 1.0)],
        rails,
        masses: [2.0, 0.5],
        shapes: [Sphere::new(0.2).unwrap().into(), Sphere::new(0.1).unwrap().into()],
        q: [0.0, 0.0],
        v: [0.3, 0.0],
        restitution: 1.0,
    }
}

#[test]
fn a_tree_bounces_on_the_ground_through_the_same_seam_and_keeps_its_energy() {
    let mut world = earth();
    // The second rail is oblique, so the mass matrix couples both joints and an impact at the tip moves the base.
    let tree = world.add_tree(tree([DVec3::X, DVec3::new(0.6, 0.0, 0.8)]));
    let mut sim = Simulation::new(world, Parts::default()).unwrap();
    let before = total_energy(&sim);
    sim.advance(3.0).unwrap();
    assert!(sim.report().collisions >= 3);
    let (_, v) = sim.joints(tree).unwrap();
    assert!((v[0] - 0.3).abs() > 1e-3, "the base was not moved: {v:?}");
    assert!((total_energy(&sim) - before).abs() < 1e-10 * before);
}

#[test]
fn a_ball_hits_a_link_and_both_answer() {
    // The ball meets link 1 head on along x; through the rails K = 1/m_ball + (1/m of the tree along x).
    let mut world = World::new(DVec3::ZERO);
    let tree = world.add_tree(Tree { v: [0.0, 0.0], ..tree([DVec3::X, DVec3::Z]) });
    world.add(ball(0.1).at(DVec3::new(-2.0, 0.0, 1.0)).moving(DVec3::X, DVec3::ZERO));
    let mut sim = Simulation::new(world, Parts::default()).unwrap();
    sim.advance(3.0).unwrap();
    let k = 1.0 + 1.0 / 2.5;
    assert_eq!(sim.events().len(), 1);
    assert!((sim.events()[0].impulse - 2.0 / k).abs() < 1e-13);
    let (_, v) = sim.joints(tree).unwrap();
    assert!((v[0] - 2.0 / k / 2.5).abs() < 1e-13 && v[1].abs() < 1e-15, "{v:?}");
}

#[test]
fn two_links_of_one_tree_touch_each_other_through_summed_rows() {
    // Both rails along x: link 1 runs into link 0. In absolute velocities this is an ordinary two-body impact.
    let mut world = World::new(DVec3::ZERO);
    let anchors = [DVec3::ZERO, DVec3::new(-1.0, 0.0, 0.0)];
    let tree =
        world.add_tree(Tree { anchors, v: [0.25, 1.0], restitution: 0.5, ..tree([DVec3::X, DVec3::X]) });
    let mut sim = Simulation::new(world, Parts::default()).unwrap();
    sim.advance(2.0).unwrap();
    let (_, v) = sim.joints(tree).unwrap();
    let (before, after) = (2.0 * 0.25 + 0.5 * 1.25, 2.0 * v[0] + 0.5 * (v[0] + v[1]));
    assert_eq!(sim.events().len(), 1);
    assert!((before - after).abs() < 1e-14, "momentum {before} became {after}");
    assert!((v[1] + 0.5).abs() < 1e-14, "relative velocity {}", v[1]);
}

#[derive(Debug)]
struct Threads(usize);

impl Executor for Threads {
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for thread in 0..self.0 {
                scope.spawn(move || (thread..n).step_by(self.0).for_each(work));
            }
        });
    }

    fn parallelism(&self) -> usize {
        self.0
    }
}

#[test]
fn threads_change_no_bit() {
    let run = |parts: Parts| {
        let mut world = earth();
        let balls: Vec<_> = (0..8)
            .map(|k| {
                let x = 0.45 * f64::from(k);
                world.add(
                    ball(0.2).at(DVec3::new(x, 0.0, 0.5 + 0.3 * x)).moving(DVec3::NEG_X * x, DVec3::ZERO),
                )
            })
            .collect();
        let mut sim = Simulation::new(world, parts).unwrap();
        sim.advance(1.0).unwrap();
        balls.into_iter().map(|b| sim.position(b).unwrap().to_array().map(f64::to_bits)).collect::<Vec<_>>()
    };
    let serial = run(Parts::default());
    for n in [2, 3, 8] {
        assert_eq!(run(Parts { executor: Box::new(Threads(n)), ..Parts::default() }), serial, "{n} threads");
    }
}

fn refusal<R>(build: impl FnOnce(&mut World) -> R) -> String {
    let mut world = earth();
    build(&mut world);
    Simulation::new(world, Parts::default()).unwrap_err().to_string()
}

#[test]
fn bad_worlds_are_refused_with_the_item_and_the_value() {
    let at = |x, y, z| DVec3::new(x, y, z);
    let refused = [
        (refusal(|_| ()), "the world is empty: it has 1 bodies and 0 trees, and none of them moves"),
        (
            refusal(|w| w.add(ball(0.1).at(at(0.0, f64::NAN, 1.0)))),
            "body 1: pose is not finite: Pose { translation: DVec3(0.0, NaN, 1.0), rotation: DQuat(0.0, 0.0, 0.0, 1.0) }",
        ),
        (
            refusal(|w| w.add(ball(0.1).at(DVec3::Z).moving(at(f64::INFINITY, 0.0, 0.0), DVec3::ZERO))),
            "body 1: velocity is not finite: [inf, 0, 0]",
        ),
        (
            refusal(|w| w.add(Body::free(Sphere::new(0.1).unwrap(), -2.0, 1.0))),
            "body 1: mass must be positive, got -2",
        ),
        (
            refusal(|w| w.add(ball(0.1).at(DVec3::Z).restitution(-0.5))),
            "body 1: restitution must not be negative, got -0.5",
        ),
        (
            refusal(|w| w.add(ball(0.5).at(at(0.0, 0.0, 0.25)))),
            "body 0 and body 1 overlap by 0.25 m at the start",
        ),
        (
            refusal(|w| w.add_tree(Tree { masses: [1.0, f64::NAN], ..tree([DVec3::X, DVec3::Z]) })),
            "tree 0: mass is not finite: NaN",
        ),
        (
            refusal(|w| {
                w.add(ball(0.3).at(DVec3::Z));
                w.add(cube(0.3).at(at(0.4, 0.0, 1.0)));
            }),
            "no algorithm for sphere against cuboid",
        ),
    ];
    for (got, expected) in refused {
        assert_eq!(got, expected);
    }
    let gravity = Simulation::new(World::new(DVec3::NAN), Parts::default()).unwrap_err().to_string();
    assert_eq!(gravity, "world: gravity is not finite: [NaN, NaN, NaN]");
}

#[test]
fn bad_durations_and_spent_budgets_are_errors_and_lose_no_state() {
    let mut world = earth();
    let ball = world.add(ball(0.1).at(DVec3::new(0.0, 0.0, 0.2)));
    let mut params = Params::default();
    params.max_events = 10;
    let mut sim = Simulation::new(world, Parts { params, ..Parts::default() }).unwrap();
    assert_eq!(sim.advance(-1.0).unwrap_err().to_string(), "advance: duration must not be negative, got -1");
    assert!(sim.advance(f64::NAN).is_err());
    let error = sim.advance(100.0).unwrap_err();
    assert!(matches!(error, SkeletonError::Budget { events: 10, .. }), "{error}");
    assert!(
        error.to_string().starts_with("body 0 and body 1 used up the budget of 10 events at t = "),
        "{error}"
    );
    let height = sim.position(ball).unwrap().z;
    assert!((height - 0.1).abs() <= 1e-12, "the state is that of the last event: {height}");
    sim.advance(0.01).unwrap();
}
