//! Bounds for shapes that are not convex: a plane for each pair of convex parts that are near, and the motion of any two points for the rest.
//!
//! # Reference
//!
//! Mirtich (1996), section 2.3, for each pair of convex parts; the rest is ours.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | part | a triangle of a surface, a piece of a compound | - |
//! | `d_i` | gap of a pair of parts along its plane | m |
//! | `A_i`, `B_i` | bound on how much of it is used up: `A_i τ² + B_i τ` | m/s², m/s |
//! | reach | parts up to this far are near | m |
//! | rest | all pairs of parts that are not near are at least so far apart | m |
//! | T | time for which no gap is used up | s |
//!
//! # Formula
//!
//! ```text
//! d_i = min n·a − max n·b         n: from the search for the distance of the two parts, from that of the shapes, or of a triangle, whichever leaves most
//! T   = min over near parts of what `predict` allows their bound, and what it allows the motion of any two points over `rest`
//! one bound for all, up to T:      d = min d_i,  A = max A_i,  B = max over i of the largest B_i + (A_i − A) τ − (d_i − d)/τ,  0 < τ ≤ T
//! ```
//!
//! The largest is at `τ² = (d_i − d)/(A − A_i)`, or at T if that is earlier. Reach begins at twice the distance, and grows while the rest is what T
//! is short for.
//!
//! # Cost
//!
//! At most [`ROUNDS`] searches for near parts, each with [`VISITS`] distances of parts at most; where more are near, the motion of any two points has to do.
//! No allocation.
//!
//! # Numerics
//!
//! A gap along a plane is found by support points, so that it is one whatever the plane: an inexact normal makes the bound shorter, never wrong.
//!
//! # Failure
//!
//! `None` where parts are not known, overlap, or are too many.
//!
//! # Tested by
//!
//! `bounds_by_parts_never_exceed_the_true_distance`, `parts_that_part_slowly_while_turning_fast_are_left_alone`,
//! `a_rounding_above_a_triangle_there_is_a_plane`, `tests/concave.rs`

use super::{
    hull::{Couple, Hull},
    look::Sides,
};
use collision_narrowphase::cast::{Part, near_parts};
use rigid_impulse::{BodyState, bounds::Travel};
use sim_math::{Pose, glam::DVec3};
use sim_traits::Separation;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Most searches for parts.
const ROUNDS: u32 = 4;
/// Most distances of parts in one of them.
const VISITS: u32 = 64;
/// Most pairs of parts that get a plane of their own; the others are part of the rest.
const KEPT: usize = 16;
/// Growth of the reach from one search to the next.
const GROWTH: f64 = 8.0;

/// Two convex parts and a plane between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap<'a> {
    pub(super) couple: Couple<'a>,
    /// Along the normal, m.
    pub(super) distance: f64,
    /// From B to A, world.
    pub(super) normal: DVec3,
    /// Speed of approach of the closest points, m/s.
    pub(super) closing: f64,
}

/// What bounds are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) sides: &'a Sides<'a>,
    pub(super) states: &'a [BodyState; 2],
    /// Of the two shapes, m.
    pub(super) distance: f64,
    /// From B to A, world.
    pub(super) normal: DVec3,
    /// Parts beyond twice the distance by this much are looked at in any case, m.
    pub(super) margin: f64,
    /// Time beyond which it does not matter, s.
    pub(super) enough: f64,
}

/// Gap of two parts along a unit vector from B to A, in A's frame, m; `None` if one has no support map.
fn gap_along(a: &Part<'_>, b: &Part<'_>, a_from_b: &Pose, normal: DVec3) -> Option<f64> {
    let low = a.farthest(-normal)?;
    let high = b.farthest(a_from_b.inverse_transform_vector(normal))?;
    Some(normal.dot(low - a_from_b.transform_point(high)))
}

/// Unit normal of a triangle, in its frame.
fn face(part: &Part<'_>) -> Option<DVec3> {
    let Part::Triangle([a, b, c]) = part else { return None };
    (*b - *a).cross(*c - *a).try_normalize()
}

impl<'a> Question<'a> {
    /// Pairs of parts within `reach` (m), at most [`KEPT`] of the nearest, and how far the others are away at least, m.
    fn near(&self, reach: f64) -> Option<(SmallVec<[Gap<'a>; KEPT]>, f64)> {
        let [a, b] = self.sides.colliders;
        let pose = |k: usize| *self.states[k].pose() * self.sides.colliders[k].extent().body_from_shape;
        let world_from_a = pose(0);
        let a_from_b = world_from_a.inverse_mul(&pose(1));
        let of_shapes = world_from_a.inverse_transform_vector(self.normal);
        let (mut near, mut rest) = (SmallVec::<[Gap<'a>; KEPT]>::new(), reach);
        let (mut visits, mut good) = (0, true);
        let mut visit = |found: &Separation, p: &Part<'a>, q: &Part<'a>| {
            visits += 1;
            if visits > VISITS {
                good = false;
                return ControlFlow::Break(());
            }
            if found.distance > reach {
                return ControlFlow::Continue(());
            }
            let along = |normal| gap_along(p, q, &a_from_b, normal).map(|gap| (gap, normal));
            // The normal of a triangle is good to its far corners, where that of two points a rounding apart is not.
            let towards = |normal: DVec3| if normal.dot(found.normal) < 0.0 { -normal } else { normal };
            let of_p = face(p).map(towards);
            let of_q = face(q).map(|n| towards(a_from_b.transform_vector(n)));
            let normals = [Some(found.normal), Some(of_shapes), of_p, of_q];
            let best =
                normals.into_iter().flatten().filter_map(along).reduce(|x, y| if y.0 > x.0 { y } else { x });
            let (distance, normal) = best.unwrap_or((found.distance, found.normal));
            if distance <= 0.0 && distance < self.distance {
                // None of the planes is between the two: they nearly touch, where a search for parts is not exact.
                good = false;
                return ControlFlow::Break(());
            }
            let normal = world_from_a.transform_vector(normal);
            let point = world_from_a.transform_point(0.5 * (found.point_a + found.point_b));
            let [va, vb] = [0, 1].map(|k: usize| self.states[k].velocity_at(point));
            let bodies = self.sides.bodies;
            let hulls = [Hull::part(bodies[0], a, *p), Hull::part(bodies[1], b, *q)];
            let couple = Couple { bodies, hulls };
            let gap = Gap { couple, distance, normal, closing: (vb - va).dot(normal) };
            if near.len() < KEPT {
                near.push(gap);
                return ControlFlow::Continue(());
            }
            // The farthest of all makes room.
            let last = (0..KEPT).fold(0, |x, y| if near[y].distance > near[x].distance { y } else { x });
            let out =
                if near[last].distance > distance { std::mem::replace(&mut near[last], gap) } else { gap };
            rest = rest.min(out.distance);
            ControlFlow::Continue(())
        };
        near_parts(a.shape(), b.shape(), &a_from_b, reach, &mut visit).ok()?;
        (good && !near.is_empty()).then_some((near, rest))
    }

    /// Time for which no gap is used up, s, and one bound for all of them with the distance that it begins at, m. `of_parts` gives time and bound of
    /// two parts, `far` the time in which `any`, the motion of any two points, uses up a distance.
    pub(super) fn answer(
        &self,
        any: Travel,
        of_parts: &dyn Fn(&Gap<'_>) -> (f64, Travel),
        far: &dyn Fn(f64) -> f64,
    ) -> Option<(f64, f64, Travel)> {
        let mut reach = 2.0 * self.distance.max(0.0) + self.margin;
        let mut best: Option<(f64, f64, Travel)> = None;
        for _ in 0..ROUNDS {
            let Some((near, rest)) = self.near(reach) else { break };
            let bounds: SmallVec<[(f64, f64, Travel); KEPT]> = near
                .iter()
                .map(|gap| {
                    let (left, travel) = of_parts(gap);
                    (gap.distance, left, travel)
                })
                .collect();
            let near = bounds.iter().map(|b| b.1).fold(f64::INFINITY, f64::min);
            let far = far(rest);
            let left = near.min(far);
            if best.is_none_or(|b| left > b.0) {
                let gaps = bounds.iter().map(|b| (b.0, b.2)).chain([(rest, any)]);
                let (distance, travel) = joined(gaps, left);
                best = Some((left, distance, travel));
            }
            if near <= far || far >= self.enough || rest < reach {
                break;
            }
            reach = (any.at(near.min(self.enough)) + self.margin).clamp(1.5 * reach, GROWTH * reach);
        }
        best
    }
}

/// One bound on the distance for several gaps, up to a time (s): where it begins, m, and what is used up of it.
fn joined(gaps: impl Iterator<Item = (f64, Travel)> + Clone, until: f64) -> (f64, Travel) {
    let distance = gaps.clone().map(|g| g.0).fold(f64::INFINITY, f64::min);
    let quadratic = gaps.clone().map(|g| g.1.quadratic).fold(f64::NEG_INFINITY, f64::max);
    let linear = gaps
        .map(|(d, travel)| {
            let (ahead, milder) = (d - distance, quadratic - travel.quadratic);
            let worst = (ahead / milder).sqrt();
            // Also for NaN: nothing ahead and nothing milder.
            let tau = if worst < until { worst } else { until };
            if ahead > 0.0 && tau < f64::INFINITY {
                travel.linear - milder * tau - ahead / tau
            } else {
                travel.linear
            }
        })
        .fold(f64::NEG_INFINITY, f64::max);
    (distance, Travel { quadratic, linear })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_driven::{
        look::{Look, look},
        pairs::PairTable,
        params::EventDrivenParams,
        predict::convex_bound,
    };
    use crate::scale::Scale;
    use collision_narrowphase::{
        compound::Compound, default_chain, height_field::HeightField, mesh::TriMesh, shapes::Frustum,
    };
    use rigid_impulse::{EventQueue, bounds::time_to_impact};
    use sim_math::{
        glam::{DQuat, DVec2},
        ops,
        testkit::SplitMix64,
    };
    use sim_traits::{Capsule, Cuboid, Pair, PairCache, ProxyId, Shape, Sphere};
    use sim_world::{Body, World};

    fn hills(random: &mut SplitMix64) -> Vec<f64> {
        (0..36).map(|_| random.range(0.0, 0.3)).collect()
    }

    fn concave(random: &mut SplitMix64) -> Shape {
        match random.below(3) {
            0 => HeightField::new(6, 6, DVec2::splat(0.4), hills(random), 1.0).unwrap().into(),
            1 => {
                let heights = hills(random);
                let height = |x: f64, y: f64| {
                    let index = |x: f64| ((x / 0.4 + 2.5).round() as usize).min(5);
                    heights[6 * index(x) + index(y)]
                };
                TriMesh::terrain(5, 0.4, height).unwrap().into()
            }
            _ => {
                let wall: Shape = Cuboid::new(DVec3::new(1.0, 1.0, 0.05)).unwrap().into();
                let pose = |random: &mut SplitMix64| Pose::new(random.vec3(0.3), random.unit_quat());
                Compound::new((0..3).map(|_| (wall.clone(), pose(random))).collect()).unwrap().into()
            }
        }
    }

    fn convex(random: &mut SplitMix64) -> Shape {
        match random.below(3) {
            0 => Sphere::new(0.15).unwrap().into(),
            1 => Capsule::new(0.05, 0.15).unwrap().into(),
            _ => Cuboid::new(DVec3::new(0.15, 0.08, 0.1)).unwrap().into(),
        }
    }

    /// Something that is not convex, at rest, moving or turning, and something convex near it that moves and turns.
    fn random_world(random: &mut SplitMix64) -> World {
        let mut world = World::new(random.vec3(10.0)).unwrap();
        let shape = concave(random);
        let ground = if random.below(2) == 0 {
            Body::fixed().shape(shape)
        } else {
            let extra = sim_math::mass::solid::cuboid(DVec3::ONE, sim_math::mass::Amount::Mass(9.0)).unwrap();
            let moving = Body::free().shape(shape).mass_properties(extra);
            moving.moving(random.vec3(1.0)).spinning(random.vec3(3.0))
        };
        world.add(ground).unwrap();
        let at = DVec3::new(random.range(0.0, 1.0), random.range(0.0, 1.0), random.range(0.2, 0.8));
        let body = Body::free().shape(convex(random)).at(at).turned(random.unit_quat());
        world.add(body.moving(random.vec3(3.0)).spinning(random.vec3(20.0))).unwrap();
        world
    }

    fn with_look(world: &World, from: f64, work: impl FnOnce(&Sides<'_>, &Look)) {
        let (mut queue, mut table) = (EventQueue::default(), PairTable::default());
        let event = queue.schedule(0.0, ()).unwrap();
        let slot = table.insert(Pair::new(ProxyId(0), ProxyId(1)), [0, 1], event);
        let sides = Sides::of(world, table.get(slot).unwrap()).unwrap();
        let seen = look(&sides, &default_chain(), &mut PairCache::default(), from).unwrap();
        if let Some(seen) = seen.filter(|s| s.distance > 0.0) {
            work(&sides, &seen);
        }
    }

    /// Time and bound by parts, to use up a share of each gap; and the time by the motion of any two points.
    fn bound(sides: &Sides<'_>, seen: &Look, from: f64, share: f64) -> (Option<(f64, f64, Travel)>, f64) {
        let params = EventDrivenParams::default().in_metres(&Scale::default());
        let Look { states, distance, normal, .. } = seen;
        let question =
            Question { sides, states, distance: *distance, normal: *normal, margin: 1e-3, enough: 0.05 };
        let any = sides.any_travel(from, *distance);
        let time_of = |d: f64, travel| time_to_impact(share * d, 0.0, travel, Travel::NONE);
        let of_parts = |gap: &Gap<'_>| {
            convex_bound(gap, &params, from, Some(states), &|travel| time_of(gap.distance, travel))
        };
        (question.answer(any, &of_parts, &|d| time_of(d, any)), time_of(*distance, any))
    }

    #[test]
    fn bounds_by_parts_never_exceed_the_true_distance() {
        let (mut random, narrow) = (SplitMix64(23), default_chain());
        let (mut compared, mut later) = (0, 0);
        for _ in 0..2000 {
            let world = random_world(&mut random);
            let (from, share) = (random.range(0.0, 0.1), random.range(0.3, 1.0));
            with_look(&world, from, |sides, seen| {
                let (found, crude) = bound(sides, seen, from, share);
                let Some((left, distance, travel)) = found else { return };
                later += u32::from(left > 2.0 * crude);
                for k in 1..=5 {
                    let tau = left.min(0.5) * f64::from(k) / 5.0;
                    let then = look(sides, &narrow, &mut PairCache::default(), from + tau).unwrap().unwrap();
                    let least = distance - travel.at(tau);
                    assert!(then.distance >= -1e-9, "{} after {tau} s of {left}", then.distance);
                    assert!(then.distance >= least - 1e-9, "{} below {least}", then.distance);
                    compared += 1;
                }
            });
        }
        println!("{compared} compared, {later} of them twice as late or more");
        assert!(compared > 3000 && later > 200, "{compared} {later}");
    }

    #[test]
    fn parts_that_part_slowly_while_turning_fast_are_left_alone() {
        // A micrometre above a mesh: it parts at 1 mm/s and spins at 100 rad/s.
        for shape in [Shape::from(Sphere::new(0.1).unwrap()), Capsule::new(0.1, 0.2).unwrap().into()] {
            let mut world = World::new(DVec3::ZERO).unwrap();
            world.add(Body::fixed().shape(TriMesh::terrain(5, 0.4, |_, _| 0.0).unwrap())).unwrap();
            let body = Body::free().shape(shape).at([0.05, 0.02, 0.1 + 1e-6]);
            let flat = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
            let body = body.turned(flat).moving([0.0, 0.0, 1e-3]).spinning([0.0, 100.0, 0.0]);
            world.add(body).unwrap();
            with_look(&world, 0.0, |sides, seen| {
                let (found, crude) = bound(sides, seen, 0.0, 0.5);
                let left = found.map_or(0.0, |f| f.0);
                assert!(left > 100.0 * crude, "{} s, {crude} s by any two points", left);
            });
        }
    }

    /// A rim above a leaning mesh, that much lower along the mesh's normal than at the height 1, parting slowly and turning.
    fn rim_above(lie: DQuat, turn: DQuat, lower: f64) -> World {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let ground = Body::fixed().shape(TriMesh::terrain(3, 1.0, |_, _| 0.0).unwrap());
        world.add(ground.turned(lie)).unwrap();
        let body = Body::free().shape(Frustum::new(0.05, 0.03, 0.05).unwrap()).turned(lie * turn);
        let body = body.at(lie * DVec3::new(0.1, 0.2, 1.0 - lower));
        world.add(body.moving(lie * DVec3::new(0.5, 0.0, 0.1)).spinning(lie * DVec3::Z * 5.0)).unwrap();
        world
    }

    #[test]
    fn a_rounding_above_a_triangle_there_is_a_plane() {
        let mut random = SplitMix64(31);
        let (mut found, mut later) = (0, 0);
        for _ in 0..300 {
            let (lie, turn) = (random.unit_quat(), random.unit_quat());
            let mut height = 0.0;
            with_look(&rim_above(lie, turn, 0.0), 0.0, |_, seen| height = seen.distance);
            with_look(&rim_above(lie, turn, height - 4e-15), 0.0, |sides, seen| {
                let (bound, crude) = bound(sides, seen, 0.0, 0.5);
                found += 1;
                later += u32::from(bound.is_some_and(|b| b.0 > 100.0 * crude));
            });
        }
        println!("{later} of {found}");
        assert!(found > 200 && later > 9 * found / 10, "{later} of {found} are left alone");
    }

    #[test]
    fn one_bound_is_below_all_of_its_gaps() {
        let mut random = SplitMix64(29);
        for _ in 0..2000 {
            let gaps: Vec<(f64, Travel)> = (0..4)
                .map(|_| {
                    let travel =
                        Travel { quadratic: random.range(-5.0, 9.0), linear: random.range(-1.0, 1.0) };
                    (ops::exp(random.range(-12.0, 0.0)), travel)
                })
                .collect();
            let until = ops::exp(random.range(-9.0, 1.0));
            let (distance, travel) = joined(gaps.iter().copied(), until);
            for k in 0..=20 {
                let tau = until * f64::from(k) / 20.0;
                let least = gaps.iter().map(|(d, t)| d - t.at(tau)).fold(f64::INFINITY, f64::min);
                assert!(distance - travel.at(tau) <= least + 1e-12, "{least} at {tau} of {until}");
            }
        }
    }
}
