//! Structures that stand or fall as statics says.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use collision_narrowphase::Polyhedron;
use sim_math::{
    glam::{DQuat, DVec3},
    ops,
};
use sim_traits::{BodyId, Cuboid, HalfSpace, Shape};
use sim_world::{Body, Stepper, World};
use std::f64::consts::FRAC_PI_2;
use timed::{G, brick, cone, drift, earth, positions};

/// What the two cards are.
const CARDS: [[&str; 2]; 3] = [["box"; 2], ["hull"; 2], ["box", "hull"]];

/// Two cards that lean on each other, each at an angle from the vertical; the lower edges are on the floor, the upper ones touch, or are `gap` sizes apart.
fn cards(kinds: [&str; 2], size: f64, theta: f64, mu: f64, gap: f64) -> (World, Vec<BodyId>) {
    let (half, thin) = (0.5 * size, 0.005 * size);
    let mut world = earth(mu, 0.0);
    let (s, c) = ops::sin_cos(theta);
    // Any heading.
    let yaw = DQuat::from_rotation_z(1e4 * gap);
    let ids = [(-1.0, kinds[0]), (1.0, kinds[1])].map(|(side, kind)| {
        // The top edge nearest to the other card is at x = 0; the lowest edge on the floor.
        let turn = DQuat::from_rotation_y(-side * theta);
        let (top, low) = (s * half + c * thin, c * half + s * thin);
        let at = DVec3::new(side * (top + 0.5 * gap * size), 0.0, low);
        let half = DVec3::new(thin, 0.4 * size, half);
        let shape: Shape = if kind == "box" {
            Cuboid::new(half).unwrap().into()
        } else {
            Polyhedron::cuboid(half).unwrap().into()
        };
        world.add(Body::free().shape(shape).friction(mu).at(yaw * at).turned(yaw * turn)).unwrap()
    });
    (world, ids.to_vec())
}

fn moved(world: &mut World, ids: &[BodyId], time: f64) -> f64 {
    let start = positions(world, ids);
    cone(|_| {}).advance(world, time).unwrap();
    drift(&start, &positions(world, ids))
}

/// After ten natural times of a body of this size, less than a millionth of it or more than a hundredth.
fn check(what: &str, size: f64, stands: bool, (mut world, ids): (World, Vec<BodyId>)) {
    let time = 10.0 * (size / G).sqrt();
    let moved = moved(&mut world, &ids, time.max(0.5)) / size;
    let as_must = if stands { moved < 1e-6 } else { moved > 1e-2 };
    assert!(as_must, "{what} of {size} m must {}: moved by {moved:e}", if stands { "stand" } else { "fall" });
}

#[test]
fn two_cards_stand_a_hundredth_above_their_threshold() {
    for size in [0.01, 0.1, 1.0, 10.0] {
        for theta in [0.15, 0.3, 0.45, 0.6] {
            let least = threshold(0.5 * size, 0.005 * size, theta);
            for (share, stands) in [(0.99, false), (1.01, true), (2.0, true)] {
                for kinds in CARDS {
                    for gap in [0.0, 1e-8, 1e-7] {
                        let what =
                            format!("{kinds:?} at {theta} rad, {share} of the friction needed, gap {gap:e},");
                        check(&what, size, stands, cards(kinds, size, theta, share * least, gap));
                    }
                }
            }
        }
    }
}

/// Friction at which two cards slip: the floor pushes at the lowest edge, the other card at the top edge, horizontally.
fn threshold(half: f64, thin: f64, theta: f64) -> f64 {
    let (s, c) = ops::sin_cos(theta);
    // Seen from the centre of the card: its lowest corner, and its corner nearest to the other card.
    let floor = [s * half - c * thin, -(c * half + s * thin)];
    let top = [-(s * half + c * thin), c * half - s * thin];
    // N = m g, F = μ N; the moment about the top corner: m g x = N (x of floor) − F (height).
    let across = -top[0];
    let width = floor[0] - top[0];
    let rise = top[1] - floor[1];
    (width - across) / rise
}

/// A thin ladder against a wall, at an angle from the horizontal, with friction at floor and wall.
fn ladder(size: f64, phi: f64, [mu_floor, mu_wall]: [f64; 2]) -> (World, Vec<BodyId>) {
    let (half, thin) = (0.5 * size, 1e-4 * size);
    // Surfaces are combined by their geometric mean.
    let mu = mu_floor;
    let mut world = earth(mu_floor, 0.0);
    let wall = Body::fixed().shape(HalfSpace::new(DVec3::X).unwrap()).friction(mu_wall * mu_wall / mu_floor);
    world.add(wall).unwrap();
    let (s, c) = ops::sin_cos(phi);
    // It leans to the left: the axis goes from lower right to upper left.
    let turn = DQuat::from_rotation_y(phi - FRAC_PI_2);
    let at = DVec3::new(c * half + s * thin, 0.0, s * half + c * thin);
    let id = world.add(brick(thin, 0.1 * size, half, mu).at(at).turned(turn)).unwrap();
    (world, vec![id])
}

#[test]
fn a_ladder_slips_where_statics_says() {
    // tan φ = (1 − μ_f μ_w)/(2 μ_f).
    for size in [0.01, 0.1, 1.0, 10.0] {
        for mu in [[0.2, 0.2], [0.4, 0.4], [0.6, 0.6], [0.5, 0.2], [0.3, 0.7]] {
            let tangent = (1.0 - mu[0] * mu[1]) / (2.0 * mu[0]);
            for (share, stands) in [(0.99, false), (1.01, true)] {
                let what = format!("ladder with friction {mu:?} at {share} of the slope needed");
                check(&what, size, stands, ladder(size, ops::atan(share * tangent), mu));
            }
        }
    }
}

#[test]
fn a_block_slides_where_the_slope_is_steeper_than_friction() {
    for size in [0.01, 0.1, 1.0, 10.0] {
        for mu in [0.2, 0.5, 0.8] {
            for (share, stands) in [(0.99, true), (1.01, false)] {
                let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
                let turn = DQuat::from_rotation_z(0.7) * DQuat::from_rotation_y(ops::atan(share * mu));
                world.add(Body::fixed().shape(HalfSpace::up()).turned(turn).friction(mu)).unwrap();
                let block = brick(0.5 * size, 0.4 * size, 0.2 * size, mu).turned(turn);
                let id = world.add(block.at(turn * DVec3::new(0.0, 0.0, 0.2 * size))).unwrap();
                check(&format!("block, slope {share} of {mu},"), size, stands, (world, vec![id]));
            }
        }
    }
}

#[test]
fn a_block_falls_if_its_middle_is_beyond_the_edge() {
    for size in [0.01, 0.1, 1.0, 10.0] {
        for (over, stands) in [(-0.01, true), (0.01, false)] {
            let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
            let table = Cuboid::new(DVec3::splat(size)).unwrap();
            world.add(Body::fixed().shape(table).at([-size, 0.0, -size]).friction(0.5)).unwrap();
            let block = brick(0.5 * size, 0.4 * size, 0.1 * size, 0.5);
            let id = world.add(block.at([0.5 * over * size, 0.0, 0.1 * size])).unwrap();
            check(&format!("block with its middle {over} beyond the edge"), size, stands, (world, vec![id]));
        }
    }
}

/// Rows of leaning pairs, a lying card between two rows.
fn house(size: f64, theta: f64, storeys: u32, mu: f64) -> (World, Vec<BodyId>) {
    let (half, thin) = (0.5 * size, 0.005 * size);
    let mut world = earth(mu, 0.0);
    let (s, c) = ops::sin_cos(theta);
    let (top, low) = (s * half + c * thin, c * half + s * thin);
    // From one ridge to the next: two cards and a little air between the feet.
    let pitch = 4.0 * top + 0.1 * size;
    let mut ids = Vec::new();
    let mut floor = 0.0;
    for storey in 0..storeys {
        let count = storeys - storey;
        let first = -0.5 * pitch * f64::from(count - 1);
        for k in 0..count {
            let ridge = first + pitch * f64::from(k);
            for side in [-1.0, 1.0] {
                let turn = DQuat::from_rotation_y(-side * theta);
                let at = DVec3::new(ridge + side * top, 0.0, floor + low);
                ids.push(world.add(brick(thin, 0.4 * size, half, mu).at(at).turned(turn)).unwrap());
            }
        }
        floor += 2.0 * low;
        if count > 1 {
            let width = 0.5 * pitch * f64::from(count - 1) + 0.5 * size;
            ids.push(world.add(brick(width, 0.4 * size, thin, mu).at([0.0, 0.0, floor + thin])).unwrap());
            floor += 2.0 * thin;
        }
    }
    (world, ids)
}

#[test]
fn houses_of_cards_stand() {
    for size in [0.1, 1.0] {
        for storeys in [2, 3] {
            // A card of weight w that carries P needs F/N = tan θ (P + w/2)/(P + w). Here a card has at most as much on it as if all above stood on two.
            let (world, ids) = house(size, 0.3, storeys, 1.0);
            let mass = |id: &BodyId| world[*id].mass();
            let above = ids[2 * storeys as usize..].iter().map(mass).sum::<f64>() / f64::from(storeys);
            let (own, load) = (mass(&ids[0]), 0.5 * above);
            let need = ops::tan(0.3) * (load + 0.5 * own) / (load + own);
            let (mut world, ids) = house(size, 0.3, storeys, 1.5 * need);
            let moved = moved(&mut world, &ids, 5.0) / size;
            assert!(moved < 1e-3, "{storeys} storeys of {size} m moved by {moved:e}");
        }
    }
}
