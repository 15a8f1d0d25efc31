//! What the soft solver is given: bodies as arrays, and manifolds in the frames of their bodies.
//!
//! A manifold stays valid while its bodies move: normal and points are fixed to them, and each step finds the present arms and gaps. What a step
//! leaves in it is where the next one starts.

use super::{lane::Slot, territories::Territories};
use sim_math::{Pose, Sym3, glam::DVec3, spatial::Motion};
use sim_traits::Manifold;

/// One body of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftBody {
    /// 1/kg; 0 for a body that nothing moves.
    pub inv_mass: f64,
    /// Inverse inertia tensor at the centre of mass in world axes, 1/(kg·m²).
    pub inv_inertia: Sym3,
    /// Centre of mass and axes of the frame in which manifolds give points.
    pub pose: Pose,
    /// Velocity of the centre of mass, world axes.
    pub velocity: Motion,
    /// Acceleration without contacts, world axes.
    pub acceleration: Motion,
}

impl SoftBody {
    /// One that nothing moves, at rest in the origin.
    pub const IDLE: Self = Self {
        inv_mass: 0.0,
        inv_inertia: Sym3::ZERO,
        pose: Pose::IDENTITY,
        velocity: Motion::ZERO,
        acceleration: Motion::ZERO,
    };
}

/// The bodies of a step: arrays in which each has a place, as [`Territories`] say.
#[derive(Debug, Clone, Default)]
pub struct SoftBodies {
    /// Inverse mass, then inverse inertia: xx, yy, zz, xy, xz, yz.
    pub(super) inv_masses: Vec<Slot>,
    /// Quaternion x, y, z, w, then the centre of mass.
    pub(super) poses: Vec<Slot>,
    pub(super) velocities: Vec<Slot>,
    pub(super) displacements: Vec<Slot>,
    /// Of what nothing moves: zero.
    pub(super) accelerations: Vec<Slot>,
    /// Velocities before the contacts of a substep.
    pub(super) free: Vec<Slot>,
    /// Displacements by the mean velocity of each substep, but for half of the first and the last velocity.
    pub(super) means: Vec<Slot>,
    /// By body.
    pub(super) movers: Vec<Mover>,
    pub(super) territories: Territories,
}

/// What moves a body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Mover {
    #[default]
    Nothing,
    Impulses,
    /// Its own velocity.
    Itself,
}

/// A body as the arrays have it: inverse mass, pose, velocity, acceleration.
#[inline]
fn slots(body: &SoftBody) -> [Slot; 4] {
    let [xx, yy, zz, xy, xz, yz] = body.inv_inertia.to_array();
    let (q, x) = (body.pose.rotation, body.pose.translation);
    [
        Slot([body.inv_mass, xx, yy, zz, xy, xz, yz, 0.0]),
        Slot([q.x, q.y, q.z, q.w, x.x, x.y, x.z, 0.0]),
        slot(&body.velocity),
        if body.inv_mass > 0.0 { slot(&body.acceleration) } else { Slot::default() },
    ]
}

pub(super) fn slot(m: &Motion) -> Slot {
    let [x, y, z, u, v, w] = m.to_array();
    Slot([x, y, z, u, v, w, 0.0, 0.0])
}

fn motion(slot: &Slot) -> Motion {
    Motion::new(DVec3::new(slot[0], slot[1], slot[2]), DVec3::new(slot[3], slot[4], slot[5]))
}

impl SoftBodies {
    /// Removes all bodies.
    pub fn clear(&mut self) {
        self.territories.unite(0);
        self.resize();
    }

    /// Makes every array as long as there are places.
    fn resize(&mut self) {
        let len = self.territories.of_place().len();
        let [idle, pose, ..] = slots(&SoftBody::IDLE);
        self.inv_masses.resize(len, idle);
        self.poses.resize(len, pose);
        let Self { velocities, displacements, accelerations, free, means, .. } = self;
        for array in [velocities, displacements, accelerations, free, means] {
            array.resize(len, Slot::default());
        }
        self.movers.resize(self.territories.places().len(), Mover::Nothing);
    }

    /// Adds a body; its index is the number of bodies before it. All are then in one part.
    #[inline]
    pub fn push(&mut self, body: &SoftBody) {
        if self.territories.count() > 1 {
            self.unite();
        }
        let body_number = self.len();
        self.territories.push();
        self.resize();
        self.set(body_number, body);
    }

    /// Puts all bodies in one part.
    #[cold]
    fn unite(&mut self) {
        let Self {
            inv_masses,
            poses,
            velocities,
            displacements,
            accelerations,
            free,
            means,
            territories,
            ..
        } = self;
        for array in [inv_masses, poses, velocities, displacements, accelerations, free, means] {
            *array = territories.places().iter().map(|place| array[*place as usize]).collect();
        }
        territories.unite(territories.places().len());
        self.resize();
    }

    /// Prepares for `bodies` bodies in `parts` parts, each to be [set](Self::set). They are divided by their centres, from time to time; `center`: that of a
    /// body that moves, m. What a step computes does not depend on the division.
    pub fn divide(&mut self, bodies: usize, parts: usize, center: &dyn Fn(u32) -> Option<DVec3>) {
        if self.territories.divide(bodies, parts, center) {
            // All are idle until they are set, and so are the places between them.
            let Self {
                inv_masses, poses, velocities, displacements, accelerations, free, means, movers, ..
            } = self;
            let arrays = [inv_masses, poses, velocities, displacements, accelerations, free, means];
            arrays.into_iter().for_each(Vec::clear);
            movers.clear();
        }
        self.resize();
    }

    /// How bodies are divided among threads.
    #[must_use]
    pub fn territories(&self) -> &Territories {
        &self.territories
    }

    /// Sets a body; false, and no change, if there is no such body.
    #[inline]
    pub fn set(&mut self, body: usize, to: &SoftBody) -> bool {
        let Some(place) = self.territories.place(body) else { return false };
        let [inv_mass, pose, velocity, acceleration] = slots(to);
        self.inv_masses[place] = inv_mass;
        self.poses[place] = pose;
        self.velocities[place] = velocity;
        self.displacements[place] = Slot::default();
        self.means[place] = Slot::default();
        self.accelerations[place] = acceleration;
        self.movers[body] = match to.inv_mass > 0.0 {
            true => Mover::Impulses,
            false if velocity != Slot::default() => Mover::Itself,
            false => Mover::Nothing,
        };
        true
    }

    /// How many bodies.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.territories.places().len()
    }

    /// True without bodies.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What an array has of a body.
    #[inline]
    fn find<'a>(&self, array: &'a [Slot], body: usize) -> Option<&'a Slot> {
        array.get(self.territories.place(body)?)
    }

    /// True if impulses move a body.
    #[inline]
    #[must_use]
    pub fn is_movable(&self, body: usize) -> bool {
        self.find(&self.inv_masses, body).is_some_and(|m| m[0] > 0.0)
    }

    /// Centre of mass of a body at the start of the step, world, m; the origin if there is no such body.
    #[inline]
    #[must_use]
    pub fn center(&self, body: usize) -> DVec3 {
        self.find(&self.poses, body).map_or(DVec3::ZERO, |p| DVec3::new(p[4], p[5], p[6]))
    }

    /// Velocity of a body, world axes; zero if there is no such body.
    #[inline]
    #[must_use]
    pub fn velocity(&self, body: usize) -> Motion {
        self.find(&self.velocities, body).map_or(Motion::ZERO, motion)
    }

    /// Displacement of a body over a step of substeps of `h` seconds by the mean of the velocities before and after each, given the velocity before the step;
    /// springs move bodies by more than that. Rotation vector and translation, world axes.
    #[must_use]
    pub fn mean_displacement(&self, body: usize, before: Motion, h: f64) -> Motion {
        let inner = self.find(&self.means, body).map_or(Motion::ZERO, motion);
        inner + (before + self.velocity(body)) * (0.5 * h)
    }

    /// Displacement of a body over the step: rotation vector and translation of its centre of mass, world axes.
    #[inline]
    #[must_use]
    pub fn displacement(&self, body: usize) -> Motion {
        self.find(&self.displacements, body).map_or(Motion::ZERO, motion)
    }
}

/// Contact of two bodies over a planar patch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SoftManifold {
    pub(super) bodies: [u32; 2],
    count: u32,
    /// Normal, friction, restitution, radii of A and B, frame of the normal: −1 that of A, 1 that of B, 0 the world's.
    pub(super) head: Slot,
    /// Core point of A in A's frame, of B in B's, 1 if there is such a point.
    pub(super) points: [Slot; Manifold::CAPACITY],
    /// Normal impulses of the last substep times their number, then gaps at the end of the step.
    pub(super) normals: Slot,
    /// Friction impulse of the last substep times their number in world axes and about the normal, approach, work along the normal, work of friction, arm z.
    pub(super) friction: Slot,
    /// Impulse of the whole step, normal, arm x and y, all in world axes.
    pub(super) exerted: Slot,
    /// How far the springs of friction are stretched: in world axes, m, and about the normal, rad; then the energy stored here, J, and the moment of the
    /// impulses of the whole step about the arm, N·m·s.
    pub(super) held: Slot,
}

/// With whom a normal turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormalOf {
    /// With body A, whose face it belongs to.
    A,
    /// With body B.
    B,
    /// With neither: between two balls.
    World,
}

impl SoftManifold {
    /// Between bodies A and B with the unit `normal` from B to A in the frame of `of`, without points yet.
    #[must_use]
    pub fn new(bodies: [u32; 2], normal: DVec3, of: NormalOf, friction: f64, restitution: f64) -> Self {
        let side = match of {
            NormalOf::A => -1.0,
            NormalOf::B => 1.0,
            NormalOf::World => 0.0,
        };
        let head = Slot([normal.x, normal.y, normal.z, friction, restitution, 0.0, 0.0, side]);
        Self { bodies, head, ..Self::default() }
    }

    /// Gives both sides a rounding, m: points are then of cores, as the centre of a ball is, and surfaces this far from them along the normal. Such a
    /// contact stays right while a ball rolls.
    #[must_use]
    pub fn rounded(mut self, radii: [f64; 2]) -> Self {
        self.head[5..7].copy_from_slice(&radii);
        self
    }

    /// Adds a contact of a point of A (in A's frame) with a point of B (in B's), m, and a guess of the normal impulse of the step, N·s; `false`,
    /// and no change, if four are there already.
    #[inline]
    pub fn push(&mut self, on_a: DVec3, on_b: DVec3, impulse: f64) -> bool {
        let k = self.count as usize;
        let Some(point) = self.points.get_mut(k) else { return false };
        *point = Slot([on_a.x, on_a.y, on_a.z, on_b.x, on_b.y, on_b.z, 1.0, 0.0]);
        self.normals[k] = impulse;
        self.count += 1;
        true
    }

    /// Says how far apart a point is until a step finds out, m. Without it points touch.
    #[inline]
    pub fn set_gap(&mut self, point: usize, gap: f64) {
        if point < self.len() {
            self.normals[Manifold::CAPACITY + point] = gap;
        }
    }

    /// How many points.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// True without points.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The points present: on A in A's frame, on B in B's, m.
    pub fn points(&self) -> impl Iterator<Item = [DVec3; 2]> + '_ {
        let read = |p: &Slot| [DVec3::new(p[0], p[1], p[2]), DVec3::new(p[3], p[4], p[5])];
        self.points[..self.len()].iter().map(read)
    }

    /// Normal impulses of the points, N·s: guesses before a step, those of its last substep times the number of substeps afterwards.
    #[inline]
    #[must_use]
    pub fn impulses(&self) -> &[f64] {
        &self.normals[..self.len()]
    }

    /// Gaps of the points at the end of the step, m; negative inside.
    #[inline]
    #[must_use]
    pub fn gaps(&self) -> &[f64] {
        &self.normals[Manifold::CAPACITY..][..self.len()]
    }

    /// Indices of A and B.
    #[inline]
    #[must_use]
    pub fn bodies(&self) -> [u32; 2] {
        self.bodies
    }

    /// Coefficients of friction and restitution.
    #[must_use]
    pub fn surface(&self) -> [f64; 2] {
        [self.head[3], self.head[4]]
    }

    /// Friction impulse on A (N·s, world axes) and about the normal (N·m·s): a guess before a step, that of its last substep times the number of substeps afterwards.
    #[must_use]
    pub fn friction_impulse(&self) -> (DVec3, f64) {
        (DVec3::new(self.friction[0], self.friction[1], self.friction[2]), self.friction[3])
    }

    /// Guess of the friction impulse of the step, see [`Self::friction_impulse`].
    pub fn set_friction_impulse(&mut self, tangent: DVec3, twist: f64) {
        self.friction[..3].copy_from_slice(&tangent.to_array());
        self.friction[3] = twist;
    }

    /// Energy that was left here by [`Self::set_stored`], J.
    #[must_use]
    pub fn stored(&self) -> f64 {
        self.held[4]
    }

    /// Leaves here the energy that the contact has stored, J: a step does not use it.
    pub fn set_stored(&mut self, energy: f64) {
        self.held[4] = energy;
    }

    /// Takes over from an earlier manifold of the same contact what friction holds: its impulse, and how far its springs are stretched; and the energy stored.
    pub fn inherit_friction(&mut self, from: &Self) {
        self.friction[..4].copy_from_slice(&from.friction[..4]);
        self.held = from.held;
    }

    /// What a step reads of it.
    pub(super) fn slots(&self) -> [&Slot; 8] {
        let [a, b, c, d] = &self.points;
        [&self.head, &self.friction, &self.normals, a, b, c, d, &self.held]
    }

    /// All of it as numbers, for snapshots: A, B and the number of points, then the rest.
    #[must_use]
    pub fn to_numbers(&self) -> ([u32; 3], [f64; 72]) {
        let mut out = [0.0; 72];
        let parts = std::iter::once(&self.head).chain(&self.points);
        let parts = parts.chain([&self.normals, &self.friction, &self.exerted, &self.held]);
        out.iter_mut().zip(parts.flat_map(|slot| slot.iter())).for_each(|(to, x)| *to = *x);
        ([self.bodies[0], self.bodies[1], self.count], out)
    }

    /// From what [`Self::to_numbers`] gave; `None` for numbers that it never gives.
    #[must_use]
    pub fn from_numbers(names: [u32; 3], numbers: &[f64; 72]) -> Option<Self> {
        let [a, b, count] = names;
        if count as usize > Manifold::CAPACITY || !numbers.iter().all(|x| x.is_finite()) {
            return None;
        }
        let mut out = Self { bodies: [a, b], count, ..Self::default() };
        let parts = std::iter::once(&mut out.head).chain(&mut out.points);
        let parts = parts.chain([&mut out.normals, &mut out.friction, &mut out.exerted, &mut out.held]);
        parts.flat_map(|slot| slot.iter_mut()).zip(numbers).for_each(|(to, x)| *to = *x);
        Some(out)
    }

    /// What the last step did here.
    #[inline]
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let [_, _, _, _, approach, normal_work, friction_work, arm_z] = self.friction.0;
        let [x, y, z, nx, ny, nz, arm_x, arm_y] = self.exerted.0;
        let [_, _, _, _, _, moment @ ..] = self.held.0;
        Outcome {
            impulse: DVec3::new(x, y, z),
            moment: moment.into(),
            normal: DVec3::new(nx, ny, nz),
            arm: DVec3::new(arm_x, arm_y, arm_z),
            approach,
            normal_work,
            friction_work,
        }
    }
}

/// What a step did at a manifold.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Impulse on A of all substeps together, world axes, N·s.
    pub impulse: DVec3,
    /// Moment on A of the same about the end of the arm, world axes, N·m·s.
    pub moment: DVec3,
    /// Unit vector from B to A at the start of the step, world axes.
    pub normal: DVec3,
    /// Centre of pressure from the centre of mass of A at the start of the step, world axes, m.
    pub arm: DVec3,
    /// Speed at which the bodies came together at the start of the step, the largest of all points, m/s.
    pub approach: f64,
    /// Work along the normal at the mean of the velocities before and after the step, J.
    pub normal_work: f64,
    /// Work of friction, in the same way, J.
    pub friction_work: f64,
}
