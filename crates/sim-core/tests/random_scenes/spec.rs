//! A random scene from a seed: what is fixed, what follows a script, and what is thrown in.

use sim_core::{
    math::{glam::DVec2, ops, testkit::SplitMix64},
    narrowphase::{
        compound::Compound,
        default_chain,
        height_field::HeightField,
        mesh::TriMesh,
        shapes::{Ellipsoid, Frustum, Rounded},
    },
    prelude::*,
    rigid::motion::Shaker,
    traits::{NarrowPhase, PairCache, SupportMap},
    world::{BodyBuilder, Collider, Screw},
};
use std::sync::Arc;

/// Length of a step, s: the default of time stepping.
pub(crate) const H: f64 = 1.0 / 60.0;

/// Where bodies have to stay.
#[derive(Debug, Clone)]
pub(crate) enum Room {
    /// Above everything that is fixed; no walls.
    Open,
    /// Inside a box of these half sizes, m, in the frame of its body.
    Closed(DVec3),
    /// The same, so narrow that no body gets past another: their order along x stays.
    Tube(DVec3),
}

/// A scene that can be built again with fewer bodies.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) seed: u64,
    /// What kind of room, for messages.
    pub(crate) kind: &'static str,
    gravity: DVec3,
    /// Fixed and scripted bodies; the first one is the frame of the room.
    still: Vec<BodyBuilder>,
    free: Vec<BodyBuilder>,
    pub(crate) room: Room,
    /// Ground of the room, if it has one that is not flat: a field and the pose that it lies at, for checks.
    pub(crate) ground: Option<(HeightField, Pose)>,
    /// Bounding radius of the largest and of the smallest free body, m.
    pub(crate) sizes: [f64; 2],
    pub(crate) steps: u32,
}

/// Even in the logarithm.
fn log(random: &mut SplitMix64, low: f64, high: f64) -> f64 {
    ops::exp(random.range(ops::ln(low), ops::ln(high)))
}

/// One of the ends of the range as often as something in between.
fn coefficient(random: &mut SplitMix64, most: f64) -> f64 {
    match random.below(4) {
        0 => 0.0,
        1 => most,
        _ => random.range(0.0, most),
    }
}

/// A convex shape of bounding radius about `size`, m; no side is shorter than a quarter of another.
fn convex(random: &mut SplitMix64, size: f64) -> Shape {
    let mut side = || size * random.range(0.25, 0.57);
    let (x, y, z) = (side(), side(), side());
    match random.below(9) {
        0 => Sphere::new(size).unwrap().into(),
        1 => Cuboid::new(DVec3::new(x, y, z)).unwrap().into(),
        2 => Capsule::new(x, y).unwrap().into(),
        3 => Cylinder::new(x, y).unwrap().into(),
        4 => Frustum::cone(x, y).unwrap().into(),
        5 => Frustum::new(x, 0.5 * y, z).unwrap().into(),
        6 => Ellipsoid::new(DVec3::new(x, y, z) * 1.5).unwrap().into(),
        7 => {
            let core: Arc<dyn SupportMap> = Arc::new(Polyhedron::cuboid(DVec3::new(x, y, z) * 0.7).unwrap());
            Rounded::new(core, 0.2 * size).unwrap().into()
        }
        _ => {
            let points: Vec<_> = (0..8 + random.below(12)).map(|_| random.unit_vec3() * size).collect();
            Polyhedron::hull(&points).map_or_else(|_| Sphere::new(size).unwrap().into(), Shape::from)
        }
    }
}

/// Shapes of a free body of bounding radius about `size`, m: one, a compound, or two colliders.
fn body(random: &mut SplitMix64, size: f64) -> BodyBuilder {
    let arm = Pose::new(DVec3::X * (0.5 * size), random.unit_quat());
    match random.below(8) {
        0 => {
            let (a, b) = (convex(random, 0.5 * size), convex(random, 0.5 * size));
            let back = Pose::new(DVec3::X * (-0.4 * size), random.unit_quat());
            Body::free().shape(Compound::new(vec![(a, arm), (b, back)]).unwrap())
        }
        1 => {
            let (a, b) = (convex(random, 0.5 * size), convex(random, 0.6 * size));
            Body::free().shape_at(a, arm).shape(b)
        }
        _ => Body::free().shape(convex(random, size)),
    }
}

/// Six slabs around a box, as pieces.
fn slabs(half: DVec3, wall: f64) -> Vec<(Shape, Pose)> {
    let mut pieces = Vec::new();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        let slab: Shape =
            Cuboid::new(half + (DVec3::ONE - axis) * wall + axis * (0.5 * wall - half)).unwrap().into();
        for side in [axis, -axis] {
            pieces.push((slab.clone(), Pose::from_translation(side * (half.dot(axis) + 0.5 * wall))));
        }
    }
    pieces
}

/// A box of triangles that face inwards.
fn shell(half: DVec3) -> Shape {
    let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0;
    let points: Vec<DVec3> = (0..8).map(|k| corner(k) * half).collect();
    let faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let mut triangles = Vec::new();
    for [a, b, c, d] in faces {
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    TriMesh::sheet(&points, &triangles).unwrap().into()
}

/// Half-spaces that bound a box, without the lowest one and the highest one where they are not asked for.
fn planes(half: DVec3, floor: bool, ceiling: bool) -> Vec<BodyBuilder> {
    let mut all = Vec::new();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [axis, -axis] {
            if (side == DVec3::NEG_Z && !floor) || (side == DVec3::Z && !ceiling) {
                continue;
            }
            let plane = HalfSpace::new(-side).unwrap();
            all.push(Body::fixed().shape(plane).at(side * half.dot(axis)));
        }
    }
    all
}

impl Spec {
    /// The scene of a seed, with at most so many free bodies.
    pub(crate) fn new(seed: u64, most: usize) -> Self {
        let mut random = sim_core::math::testkit::soak::random(seed);
        let random = &mut random;
        let large = log(random, 1e-3, 100.0);
        let small = (large / log(random, 1.0, 30.0)).max(1e-3);
        let count = 1 + random.below(most);
        let half = DVec3::new(random.range(2.5, 5.0), random.range(2.5, 5.0), random.range(2.5, 5.0)) * large;
        let mut spec = Self {
            seed,
            kind: "",
            gravity: if random.below(5) == 0 { DVec3::ZERO } else { DVec3::new(0.0, 0.0, -9.81) },
            still: Vec::new(),
            free: Vec::new(),
            room: Room::Closed(half),
            ground: None,
            sizes: [small, large],
            steps: 60,
        };
        spec.furnish(random, half, large);
        spec.throw_in(random, count);
        spec
    }

    fn furnish(&mut self, random: &mut SplitMix64, half: DVec3, large: f64) {
        let (mu, e) = (coefficient(random, 1.0), coefficient(random, 1.0));
        let wall = large * log(random, 0.05, 1.0);
        let rate = random.range(-3.0, 3.0);
        self.kind = match random.below(10) {
            0 => {
                self.still = planes(half, true, true);
                "half-spaces"
            }
            1 => {
                self.still =
                    slabs(half, wall).into_iter().map(|(s, p)| Body::fixed().shape(s).pose(p)).collect();
                self.still.insert(0, Body::fixed());
                "slabs"
            }
            2 => {
                self.still = vec![Body::fixed().shape(Compound::new(slabs(half, wall)).unwrap())];
                "compound"
            }
            3 => {
                let turn = Motion::new(random.unit_vec3() * rate, DVec3::ZERO);
                let drum = Body::scripted(Screw { start: Pose::IDENTITY, velocity: turn });
                self.still = vec![slabs(half, wall).into_iter().fold(drum, |b, (s, p)| b.shape_at(s, p))];
                "turning drum"
            }
            4 => {
                let shaker = Shaker {
                    center: DVec3::ZERO,
                    amplitude: random.vec3(0.5 * large),
                    rate: random.range(1.0, 20.0),
                    phase: 0.0,
                    radius: 2.0 * half.length(),
                };
                self.still = vec![Body::scripted(shaker).shape(Compound::new(slabs(half, wall)).unwrap())];
                "shaken box"
            }
            5 => {
                self.still = vec![Body::fixed().shape(shell(half))];
                "shell of triangles"
            }
            6 | 7 => {
                let field = random.below(2) == 0;
                self.still = planes(half, false, true);
                self.lay_ground(random, half, field);
                if field { "height field" } else { "terrain mesh" }
            }
            8 => {
                let turn = Motion::new(DVec3::new(rate, random.range(-1.0, 1.0), 0.0) * 0.3, DVec3::ZERO);
                let start = Pose::from_translation(DVec3::NEG_Z * half.z);
                let floor = Body::scripted(Screw { start, velocity: turn }).shape(HalfSpace::up());
                self.still = vec![floor];
                self.room = Room::Open;
                "turning floor"
            }
            _ => {
                let width = 1.5 * large;
                self.room = Room::Tube(DVec3::new(3.0 * half.x, width, width));
                self.sizes[0] = 0.999 * large;
                self.still = planes(DVec3::new(3.0 * half.x, width, width), true, true);
                "tube"
            }
        };
        if matches!(self.room, Room::Closed(_)) && self.still.len() != 1 && random.below(3) == 0 {
            self.still.push(obstacle(random, half, large, rate));
        }
        self.still = self.still.drain(..).map(|b| b.friction(mu).restitution(e)).collect();
    }

    /// Hills instead of a floor.
    fn lay_ground(&mut self, random: &mut SplitMix64, half: DVec3, as_field: bool) {
        let cells = 3 + random.below(8);
        let side = 2.2 * half.x.max(half.y);
        let pitch = side / cells as f64;
        let heights: Vec<f64> =
            (0..(cells + 1) * (cells + 1)).map(|_| random.range(0.0, 0.4 * pitch.min(half.z))).collect();
        let at = Pose::from_translation(DVec3::new(-0.5 * side, -0.5 * side, -half.z));
        let field =
            HeightField::new(cells + 1, cells + 1, DVec2::splat(pitch), heights.clone(), half.z).unwrap();
        if as_field {
            self.still.push(Body::fixed().shape(field.clone()).pose(at));
        } else {
            let index = |x: f64| ((x / pitch + 0.5 * cells as f64).round() as usize).min(cells);
            let height = |x: f64, y: f64| heights[index(x) * (cells + 1) + index(y)];
            let mesh = TriMesh::terrain(cells as u32, pitch, height).unwrap();
            self.still.push(Body::fixed().shape(mesh).at([0.0, 0.0, -half.z]));
        }
        self.ground = Some((field, at));
    }

    /// Free bodies at free places, as many as find one.
    fn throw_in(&mut self, random: &mut SplitMix64, count: usize) {
        let [small, large] = self.sizes;
        let heaviest = log(random, 1e-3, 1e3) * 1000.0 * large * large * large;
        // At rest, as fast as a fall across the room, or several sizes in a step.
        let speed = match random.below(4) {
            0 => 0.0,
            1 => (2.0 * 9.81 * large).sqrt(),
            2 => random.range(0.0, 1.0) * large / H,
            _ => random.range(1.0, 5.0) * large / H,
        };
        let spread = match self.room {
            Room::Open => DVec3::splat(3.0 * large),
            Room::Closed(half) | Room::Tube(half) => half,
        };
        let mut placed = Vec::new();
        for k in 0..count {
            let tube = matches!(self.room, Room::Tube(_));
            let size = if k == 0 || tube { large } else { log(random, small, large) };
            let (mu, e) = (coefficient(random, 1.0), coefficient(random, 1.0));
            let shape =
                if tube { Body::free().shape(Sphere::new(size).unwrap()) } else { body(random, size) };
            let mass = heaviest * log(random, 1e-3, 1.0);
            let moving =
                random.vec3(if speed > large / H { speed * size / large } else { speed.min(5.0 * size / H) });
            let spinning = random.vec3(speed.min(0.3 * size / H) / size);
            let thrown = shape.mass(mass).friction(mu).restitution(e).moving(moving).spinning(spinning);
            for _ in 0..30 {
                let at =
                    DVec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(-1.0, 1.0))
                        * spread;
                let tried = thrown.clone().at(at).turned(random.unit_quat());
                self.free.push(tried);
                if self.is_clear() {
                    placed.push(at.x);
                    break;
                }
                self.free.pop();
            }
        }
    }

    /// True if the last free body keeps away from all others, and is inside.
    fn is_clear(&self) -> bool {
        let Some((world, ids)) = self.build(&vec![true; self.free.len()]) else { return false };
        let Some(&id) = ids.last() else { return true };
        let gap = 1e-3 * self.sizes[0];
        // A sheet has no inside: narrow phases do not tell below from above.
        if !super::overlap::is_inside(self, &world, id) || super::overlap::worst(self, &world, 0.0).0 > 0.0 {
            return false;
        }
        let narrow = default_chain();
        let pose = |c: &Collider| *world[c.body()].state().pose() * c.extent().body_from_shape;
        world.colliders().filter(|(_, c)| c.body() == id).all(|(_, mine)| {
            world.colliders().filter(|(_, other)| other.body() != id).all(|(_, other)| {
                let a_from_b = pose(mine).inverse_mul(&pose(other));
                let found =
                    narrow.separation(mine.shape(), other.shape(), &a_from_b, &mut PairCache::default());
                found.is_ok_and(|s| s.distance > gap)
            })
        })
    }

    /// Number of free bodies.
    pub(crate) fn count(&self) -> usize {
        self.free.len()
    }

    /// The world with some of its free bodies, and their names.
    pub(crate) fn build(&self, keep: &[bool]) -> Option<(World, Vec<BodyId>)> {
        let mut world = World::new(self.gravity).ok()?;
        for body in &self.still {
            world.add(body.clone()).ok()?;
        }
        let kept = self.free.iter().zip(keep).filter(|(_, keep)| **keep);
        let ids = kept.map(|(body, _)| world.add(body.clone()).ok()).collect::<Option<Vec<_>>>()?;
        Some((world, ids))
    }
}

/// Something in the middle of the room: a ring of triangles, a dish, or a paddle that turns above the floor. The gaps around it are wider than the bodies.
fn obstacle(random: &mut SplitMix64, half: DVec3, large: f64, rate: f64) -> BodyBuilder {
    match random.below(3) {
        0 => {
            let ring = TriMesh::torus(1.2 * large, 0.2 * large, 9, 5).unwrap();
            Body::fixed().shape(ring).turned(random.unit_quat())
        }
        1 => {
            let tilt = random.unit_quat();
            Body::fixed().shape(Cuboid::new(DVec3::new(1.0, 0.6, 0.05) * large).unwrap()).turned(tilt)
        }
        _ => {
            let start = Pose::from_translation(DVec3::Z * (0.3 * large - 0.999 * half.z));
            let paddle = Cuboid::new(DVec3::new(0.6, 0.1, 0.299) * large).unwrap();
            Body::scripted(Screw { start, velocity: Motion::new(DVec3::Z * rate, DVec3::ZERO) }).shape(paddle)
        }
    }
}
