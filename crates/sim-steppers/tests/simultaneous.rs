//! Impacts at the same time: a light body between heavy ones needs hundreds of them, and nobody may sink meanwhile.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{ball, cuboid, earth, energy, smallest_separation, stepper_with};
use sim_math::glam::DVec3;
use sim_steppers::ContactHandling;
use sim_traits::HalfSpace;
use sim_world::{Body, Stepper, World};

const BOTH: [ContactHandling; 2] = [ContactHandling::Standard, ContactHandling::Improved];

/// Two heavy cubes that close on a light ball between them, at 1 m/s each; their lines are a little apart, so that the ball is
/// pushed aside and turns.
fn vice(mut world: World, ratio: f64, restitution: f64) -> World {
    let heavy = |side: f64| {
        let at = DVec3::new(0.21 * side, 0.003 * side, 0.5);
        Body::free().shape(cuboid(0.1, 0.1, 0.1)).at(at).moving([-side, 0.0, 0.0]).mass(ratio)
    };
    for side in [-1.0, 1.0] {
        world.add(heavy(side).friction(0.4).restitution(restitution)).unwrap();
    }
    world.add(ball(0.1).at([0.0, 0.0, 0.5]).mass(1.0).friction(0.4).restitution(restitution)).unwrap();
    world
}

#[test]
fn a_light_body_between_two_heavy_ones_turns_them_round_without_sinking() {
    for (ratio, restitution) in [(10.0, 0.0), (1e3, 0.0), (1e3, 0.5), (1e3, 1.0)] {
        for (kind, weight) in BOTH.into_iter().flat_map(|k| [false, true].map(|w| (k, w))) {
            let name = format!("1 to {ratio}, e = {restitution}, {kind:?}, weight {weight}");
            let world = if weight { earth() } else { World::new(DVec3::ZERO).unwrap() };
            let mut world = vice(world, ratio, restitution);
            let before = energy(&world);
            let mut stepper = stepper_with(|p| p.contact_handling = kind);
            let (mut least, mut events) = (f64::INFINITY, 0);
            for _ in 0..30 {
                events += stepper.advance(&mut world, 1e-3).unwrap_or_else(|e| panic!("{name}: {e}")).events;
                least = least.min(smallest_separation(&world));
            }
            let gained = energy(&world) / before - 1.0;
            println!("{name}: {events} events, least separation {least:e} m, energy {gained:e}");
            // A few root tolerances; the bar of all scenes is 1e-10.
            assert!(least > -1e-11, "{name}: {least} m");
            assert!(gained < 1e-6, "{name}: energy grew by {gained}");
        }
    }
}

/// A heavy slab on a light ball in a corner, all at rounding distance.
fn wedge(ratio: f64) -> World {
    let mut world = earth();
    world.add(Body::fixed().shape(cuboid(0.1, 1.0, 1.0)).at([-0.2, 0.0, 0.0])).unwrap();
    let (radius, gap) = (0.1, 1e-15);
    world.add(ball(radius).at([0.0, 0.0, radius + gap]).mass(1.0).spinning([40.0, 60.0, 0.0])).unwrap();
    let slab = Body::free().shape(cuboid(0.09, 0.15, 0.05)).at([0.0, 0.0, 2.0 * (radius + gap) + 0.05]);
    world.add(slab.mass(ratio).friction(0.6)).unwrap();
    world
}

#[test]
fn a_light_body_wedged_under_a_heavy_one_does_not_halt_the_world() {
    for kind in BOTH {
        let mut world = wedge(2e3);
        let mut stepper = stepper_with(|p| (p.contact_handling, p.envelope) = (kind, Some(1e-3)));
        let mut events = 0;
        for _ in 0..20 {
            events += stepper.advance(&mut world, 0.01).unwrap_or_else(|e| panic!("{kind:?}: {e}")).events;
            assert!(smallest_separation(&world) > -1e-11, "{kind:?}");
        }
        println!("{kind:?}: {events} events");
        assert!(events < 10_000, "{kind:?}: {events} events");
    }
}

/// A light ball at rest in a groove with one steep side, and a heavy one that falls on it.
fn groove(steepness: f64, ratio: f64, aside: f64) -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -common::G)).unwrap();
    let (steep, flat) = (DVec3::new(1.0, 0.0, 1.0 / steepness), DVec3::new(-0.3, 0.0, 1.0));
    for normal in [steep, flat] {
        let side = HalfSpace::new(normal.normalize()).unwrap();
        world.add(Body::fixed().shape(side).friction(0.9).restitution(0.5)).unwrap();
    }
    // Half an envelope from both sides.
    let (n, m) = (steep.normalize(), flat.normalize());
    let (radius, cosine) = (0.1005, n.dot(m));
    let center = (n + m) * (radius / (1.0 + cosine));
    world.add(ball(0.1).at(center).mass(1.0).friction(0.9).restitution(0.5)).unwrap();
    let above = center + DVec3::new(aside, 0.0, 0.5);
    world.add(ball(0.1).at(above).mass(ratio).friction(0.0).restitution(0.5)).unwrap();
    world
}

#[test]
fn bounces_off_a_steep_side_add_no_energy() {
    for (steepness, ratio, aside) in [3.0, 10.0, 30.0]
        .into_iter()
        .flat_map(|s| [1.0, 30.0, 300.0].into_iter().flat_map(move |r| [0.02, 0.06, 0.1].map(|a| (s, r, a))))
    {
        let mut world = groove(steepness, ratio, aside);
        let mut stepper = stepper_with(|p| p.contact_handling = ContactHandling::Improved);
        let (first, mut highest) = (energy(&world), f64::NEG_INFINITY);
        for _ in 0..60 {
            stepper.advance(&mut world, 0.01).unwrap();
            highest = highest.max(energy(&world));
        }
        println!("1 to {ratio}, steepness {steepness}, aside {aside}: {}", highest / first);
        assert!(highest < 1.001 * first, "1 to {ratio}, steepness {steepness}: {highest} J from {first}");
    }
}

#[test]
fn a_slow_bounce_off_a_steep_wall_adds_no_energy() {
    for (steepness, restitution) in
        [5.0, 10.0, 15.0, 18.0].into_iter().flat_map(|s| [0.5, 1.0].map(|e| (s, e)))
    {
        let mut world = World::new(DVec3::new(0.0, 0.0, -common::G)).unwrap();
        let normal = DVec3::new(1.0, 0.0, 1.0 / steepness).normalize();
        let wall =
            Body::fixed().shape(HalfSpace::new(normal).unwrap()).friction(0.9).restitution(restitution);
        world.add(wall).unwrap();
        let ball = ball(0.1).mass(1.0).friction(0.9).restitution(restitution);
        world.add(ball.at(normal * 0.1015).moving([-0.12, 0.0, 0.0])).unwrap();
        let mut stepper = stepper_with(|p| p.envelope = Some(1e-3));
        let (first, mut highest, mut impulses) = (energy(&world), f64::NEG_INFINITY, 0);
        for _ in 0..40 {
            impulses += stepper.advance(&mut world, 1e-3).unwrap().micro_collisions;
            highest = highest.max(energy(&world));
        }
        let (gained, now) = (highest - first, world.kinetic_energy());
        println!("steepness {steepness}, e = {restitution}: {gained} J, {now} J of motion");
        // Less than a hop of 0.04 m/s has.
        assert!(gained < 1e-4, "steepness {steepness}, e = {restitution}: {gained} J");
        assert!(impulses > 0, "steepness {steepness}: no contact");
    }
}
