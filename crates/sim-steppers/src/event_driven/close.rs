//! Travel bounds that know where the closest points are: good for a limited time, and much closer than r ω.
//!
//! # Reference
//!
//! Ours. Mirtich's bound (1996, section 2.3.2) lets every point move at the speed of the fastest; near contact it makes a
//! spinning body that is barely parting be looked at thousands of times.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | reference | the body whose frame carries the separating plane along | - |
//! | mover | the other one | - |
//! | d̂ | unit vector from the mover to the reference, turning with the plane | - |
//! | Ω | angular velocity of the plane: that of the reference, or its own | rad/s |
//! | y | point of the mover from the centre of the reference | m |
//! | h | support function of the mover's core about its centre | m |
//! | T | horizon | s |
//!
//! # Formula
//!
//! ```text
//! d/dt d̂·y = d̂·(v_m − v_r − Ω × (c_m − c_r)) + d̂·((ω_m − Ω) × r)
//! B = first term + (h(d̂ + T d̂×(ω_m − Ω)) − h(d̂))/T            h is convex: for τ ≤ T the chord is above it
//! A = ½ [a·d̂ + |a| W T + s r W_m² + 2 W V + s W² (|c_m − c_r| + r + V T)]
//! a = a_m − a_r,  V = |v_m − v_r| + |a| T + r W_m,  W largest angular speeds (of the plane),  s = 1 + 1/√3
//! ```
//!
//! A plane that turns with the reference is best if the closest feature of that is a face. Between two edges u, w no body carries a
//! plane along that stays good: the end of one edge dips through it. There the plane turns on its own,
//!
//! ```text
//! (ω_r − Ω)·(u × d̂) = 0,   (ω_m − Ω)·(w × d̂) = 0,   Ω·d̂ = 0:   it stays along both edges
//! ```
//!
//! and the same terms are added for the reference: its h about −d̂ with `ω_r − Ω`, and `r_r (s W_r² + 2 |Ω| W_r + Ω²)`. Ω is
//! constant: no s for the plane. For parts that are round, ω is the angular velocity ν of `turning`, which carries them along as well, and s W² is its S.
//! Instead of `s r W_m²` there is `r [W_m (|d̂ × ω_m| + (|ω̇_m| + W W_m) T) + |ω̇_m|]`, if that is less: who spins about the normal does not come nearer.
//! Any Ω gives a bound; u and w are found by support points on both sides of d̂.
//!
//! s: |ω × (ω × r)| + |ω̇ × r| ≤ s ω² r, because the moments of a body obey the triangle inequality, so that each
//! |ω̇ᵢ| ≤ |ωⱼ ωₖ|. Under forces and for scripts s W² is W² + max |ω̇|, and the bound of the acceleration counts in any
//! direction. The plane is that of a face of the reference, if the closest feature is one: then B is the speed of the
//! closest vertex.
//!
//! # Cost
//!
//! One support point for each horizon, and one for all of them; between edges eight for each horizon.
//!
//! # Numerics
//!
//! As T → 0, B is the closing speed of the closest points. The caller tries shorter horizons when a longer one meets
//! another part of the mover.
//!
//! # Failure
//!
//! `None` if the mover has no support map, or one of the two is a script whose accelerations have no bound.
//!
//! # Tested by
//!
//! `close_bounds_never_exceed_the_true_distance`, `near_contact_the_bound_is_the_closing_speed`,
//! `between_two_edges_the_bound_is_the_closing_speed`

use super::{
    hull::{Couple, Hull},
    turning::SLOW,
};
use rigid_impulse::{BodyState, bounds::Travel};
use sim_math::glam::DVec3;

/// How a plane that separates the two turns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Plane {
    /// With one of the bodies, the reference.
    With(usize),
    /// At an angular velocity of its own (rad/s); the reference is the first.
    Between(DVec3),
}

impl Plane {
    fn reference(self) -> usize {
        match self {
            Self::With(k) => k,
            Self::Between(_) => 0,
        }
    }
}

/// Second-order terms, m/s²: twice A without the part of uniform acceleration along d̂.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swerve {
    /// Accelerations of the centres that change along the pieces: only a bound, in any direction.
    unsteady: f64,
    /// |a|, with what is unsteady.
    acceleration: f64,
    /// `W` and `s W²` of the plane.
    turning: [f64; 2],
    /// What the reference turns against a plane of its own.
    swing: f64,
    /// `s r W_m²`.
    whole: f64,
    /// `r (W_m |d̂ × ω_m| + |ω̇_m|)` now, and by how much it grows at most, m/s³.
    tilting: [f64; 2],
    /// `|v_m − v_r| + r W_m`.
    speed: f64,
    /// `|c_m − c_r| + r`.
    arm: f64,
}

impl Swerve {
    /// `normal` is that of the plane, if it is known.
    pub(super) fn of(
        couple: &Couple<'_>,
        states: &[BodyState; 2],
        plane: Plane,
        normal: Option<DVec3>,
    ) -> Self {
        let reference = plane.reference();
        let mover = 1 - reference;
        let [r, m] = [reference, mover].map(|k| couple.bodies[k].piece());
        let [r_turning, m_turning] = [reference, mover].map(|k| couple.hulls[k].turning);
        let [own, radius] = [reference, mover].map(|k| couple.hulls[k].spin_radius);
        // An infinite shape has no radius of interest: as mover it is refused.
        let radius = if radius.is_finite() { radius } else { 0.0 };
        let (turning, own) = match plane {
            Plane::With(_) => ([r_turning.spin, r_turning.swerve], 0.0),
            Plane::Between(spin) => {
                let w = spin.length();
                ([w, w * w], own * (r_turning.swerve + 2.0 * w * r_turning.spin + w * w))
            }
        };
        // d̂·(ν × (ν × r)) = (d̂ × ν)·(ν × r): what turns about the normal does not come nearer.
        let whole = radius * m_turning.swerve;
        let pull = relative_acceleration(couple, reference).length();
        let tilting = match normal.filter(|_| whole > SLOW * pull) {
            Some(normal) => {
                let across = normal.cross(m_turning.now(&states[mover])).length();
                let sway = m_turning.closer_sway(couple.bodies[mover]);
                let rate = sway + turning[0] * m_turning.spin;
                [radius * (m_turning.spin * across + sway), radius * m_turning.spin * rate]
            }
            None => [f64::INFINITY, 0.0],
        };
        let unsteady = r.unsteady_acceleration() + m.unsteady_acceleration();
        let arm = (states[mover].pose().translation - states[reference].pose().translation).length();
        let drift = (states[mover].velocity.linear - states[reference].velocity.linear).length();
        Self {
            unsteady,
            acceleration: pull + unsteady,
            turning,
            swing: own,
            tilting,
            speed: drift + radius * m_turning.spin,
            arm: arm + radius,
            whole,
        }
    }

    /// For times up to `horizon` (s).
    fn within(&self, horizon: f64) -> f64 {
        let [spin, swerve] = self.turning;
        let speed = self.speed + self.acceleration * horizon;
        self.unsteady
            + self.acceleration * spin * horizon
            + self.swing
            + (self.tilting[0] + self.tilting[1] * horizon).min(self.whole)
            + 2.0 * spin * speed
            + swerve * (self.arm + speed * horizon)
    }

    /// The horizon at which second-order terms would use up a gap (m) and what parting at a speed (m/s) adds to it, s:
    /// farther ones make the bound worse.
    pub(super) fn longest_horizon(&self, gap: f64, parting: f64) -> f64 {
        let bend = self.within(0.0);
        if parting > 0.0 {
            (parting + (parting * parting + 2.0 * gap * bend).sqrt()) / bend
        } else {
            (2.0 * gap / bend).sqrt()
        }
    }
}

fn relative_acceleration(couple: &Couple<'_>, reference: usize) -> DVec3 {
    let of = |k: usize| couple.bodies[k].piece().uniform_acceleration();
    of(1 - reference) - of(reference)
}

/// Bound on how fast the closing speed can change within `horizon` seconds, m/s²; infinite if nothing is known.
///
/// Another pair of points that becomes the closest one on the way closes faster than the one before: it comes from
/// farther off.
pub(super) fn closing_rate(couple: &Couple<'_>, states: &[BodyState; 2], horizon: f64) -> f64 {
    let turning = (0..2)
        .filter(|&reference| couple.hulls[1 - reference].spin_radius.is_finite())
        .map(|reference| Swerve::of(couple, states, Plane::With(reference), None).within(horizon))
        .fold(f64::INFINITY, f64::min);
    relative_acceleration(couple, 0).length() + turning
}

/// How fast the core of a body comes nearer to the plane by turning.
#[derive(Debug)]
struct Swing<'a> {
    hull: Hull<'a>,
    /// d̂ in the frame of the shape, and its change for each second of horizon.
    along: [DVec3; 2],
    /// h(d̂).
    height: f64,
}

impl<'a> Swing<'a> {
    /// Of body `k` against a plane that turns at `turn` rad/s.
    fn new(
        couple: &Couple<'a>,
        states: &[BodyState; 2],
        normal: DVec3,
        k: usize,
        turn: DVec3,
    ) -> Option<Self> {
        let (hull, out) = (couple.hulls[k], outwards(normal, k));
        let spin = hull.turning.now(&states[k]) - turn;
        let along = [out, out.cross(spin)].map(|d| hull.in_shape(states[k].pose(), d));
        let height = hull.core_height(along[0])?;
        Some(Self { hull, along, height })
    }

    /// Mean over `horizon` seconds, m/s.
    fn speed(&self, horizon: f64) -> Option<f64> {
        let [along, turn] = self.along;
        let height = self.hull.core_height(along + turn * horizon)?;
        Some((height - self.height) / horizon)
    }
}

/// Bounds on how much of the distance both together use up, by one plane; any horizon can be asked for.
#[derive(Debug)]
pub(super) struct Close<'a> {
    swerve: Swerve,
    mover: Swing<'a>,
    /// Only where the plane does not turn with it.
    reference: Option<Swing<'a>>,
    /// a·d̂.
    pull: f64,
    /// The first term of B.
    carried: f64,
}

impl<'a> Close<'a> {
    /// `normal` points from the second to the first.
    pub(super) fn new(
        couple: &Couple<'a>,
        states: &[BodyState; 2],
        normal: DVec3,
        plane: Plane,
        swerve: Swerve,
    ) -> Option<Self> {
        let reference = plane.reference();
        let mover = 1 - reference;
        let direction = outwards(normal, mover);
        let (m, r) = (&states[mover], &states[reference]);
        let (turn, own) = match plane {
            Plane::With(_) => (couple.hulls[reference].turning.now(r), None),
            Plane::Between(spin) => (spin, Some(Swing::new(couple, states, normal, reference, spin)?)),
        };
        let arm = m.pose().translation - r.pose().translation;
        let carried = m.velocity.linear - r.velocity.linear - turn.cross(arm);
        Some(Self {
            swerve,
            mover: Swing::new(couple, states, normal, mover, turn)?,
            reference: own,
            pull: relative_acceleration(couple, reference).dot(direction),
            carried: carried.dot(direction),
        })
    }

    /// Good for `horizon` seconds.
    pub(super) fn travel(&self, horizon: f64) -> Option<Travel> {
        let bend = self.swerve.within(horizon);
        if !bend.is_finite() {
            return None;
        }
        let own = self.reference.as_ref().map_or(Some(0.0), |swing| swing.speed(horizon))?;
        let linear = self.carried + self.mover.speed(horizon)? + own;
        Some(Travel { quadratic: 0.5 * (self.pull + bend), linear })
    }
}

/// From a body towards the other.
fn outwards(normal: DVec3, k: usize) -> DVec3 {
    if k == 0 { -normal } else { normal }
}

/// The plane that stays along both edges, if two edges are closest: what of each core is reached by turning to and fro for
/// `horizon` seconds against the other is taken for its edge.
pub(super) fn between_edges(
    couple: &Couple<'_>,
    states: &[BodyState; 2],
    normal: DVec3,
    horizon: f64,
) -> Option<Plane> {
    let spins = [0, 1].map(|k| couple.hulls[k].turning.now(&states[k]));
    let across = |k: usize| {
        let (hull, pose) = (&couple.hulls[k], states[k].pose());
        let out = outwards(normal, k);
        let turn = out.cross(spins[k] - spins[1 - k]) * horizon;
        let [out, turn] = [out, turn].map(|d| hull.in_shape(pose, d));
        let end = |along| hull.part.support(along);
        let edge = hull.body_from_shape.transform_vector(end(out + turn)? - end(out - turn)?);
        Some(pose.transform_vector(edge).cross(normal))
    };
    let [a, b] = [across(0)?, across(1)?];
    let [to_a, to_b] = [a.cross(normal), b.cross(normal)];
    let spin = (to_b * spins[0].dot(a) - to_a * spins[1].dot(b)) / to_b.dot(a);
    spin.is_finite().then_some(Plane::Between(spin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_driven::{
        look::{Look, Sides, look},
        pairs::PairTable,
    };
    use collision_narrowphase::{
        default_chain,
        shapes::{Ellipsoid, Frustum},
    };
    use rigid_impulse::{EventQueue, motion::Shaker};
    use sim_math::{Pose, glam::DQuat, ops, spatial::Motion, testkit::SplitMix64};
    use sim_traits::{Capsule, Cuboid, Cylinder, HalfSpace, Pair, PairCache, ProxyId, Shape, Sphere};
    use sim_world::{Body, Limits, Screw, Script, World};
    use std::sync::Arc;

    fn shape(random: &mut SplitMix64) -> Shape {
        match random.range(0.0, 3.0) as u32 {
            0 => Sphere::new(0.2).unwrap().into(),
            1 => Capsule::new(0.1, 0.3).unwrap().into(),
            _ => Cuboid::new(DVec3::new(0.3, 0.1, 0.2)).unwrap().into(),
        }
    }

    /// Turns to and fro about z.
    #[derive(Debug)]
    struct Rocking {
        degree: f64,
        rate: f64,
    }

    impl Script for Rocking {
        fn pose(&self, t: f64) -> Pose {
            let angle = self.degree * ops::sin(self.rate * t);
            Pose::new(DVec3::ZERO, DQuat::from_rotation_z(angle))
        }

        fn velocity(&self, t: f64) -> Motion {
            Motion::new(DVec3::Z * (self.degree * self.rate * ops::cos(self.rate * t)), DVec3::ZERO)
        }

        fn limits(&self) -> Limits {
            let angular = self.degree * self.rate;
            Limits { speed: 0.0, acceleration: 0.0, angular, angular_acceleration: angular * self.rate }
        }
    }

    /// A solid of revolution about an axis through its centre of mass.
    fn round(random: &mut SplitMix64) -> Shape {
        match random.below(4) {
            0 => Capsule::new(0.1, 0.3).unwrap().into(),
            1 => Cylinder::new(random.range(0.1, 0.4), random.range(0.05, 0.3)).unwrap().into(),
            2 => Frustum::new(0.3, 0.1, 0.2).unwrap().into(),
            _ => Ellipsoid::new(DVec3::new(0.3, 0.1, 0.3)).unwrap().into(),
        }
    }

    /// Two bodies near each other, on off-centre shapes, or one and a fixed floor or a script.
    fn random_world(random: &mut SplitMix64) -> World {
        let mut world = World::new(random.vec3(10.0)).unwrap();
        for k in 0..2 {
            if k == 0 && random.range(0.0, 1.0) < 0.3 {
                let floor = Pose::new(DVec3::Z * -0.6, random.unit_quat());
                world.add(Body::fixed().shape(HalfSpace::up()).pose(floor)).unwrap();
                continue;
            }
            if k == 0 && random.range(0.0, 1.0) < 0.3 {
                // Goes straight and turns, goes round, or goes to and fro, about a place off its shape.
                let off = Pose::from_translation(random.vec3(0.2));
                let velocity = Motion::new(random.vec3(8.0), random.vec3(3.0));
                if random.below(3) == 0 {
                    // A roller that turns about its axis or about another one.
                    let axis = if random.below(2) == 0 { DVec3::Z } else { random.unit_vec3() };
                    let turn = Motion::new(axis * random.range(1.0, 30.0), random.vec3(3.0));
                    let roller = Body::scripted(Screw { start: Pose::IDENTITY, velocity: turn });
                    world.add(roller.shape(round(random))).unwrap();
                    continue;
                }
                let script: Arc<dyn Script> = match random.range(0.0, 3.0) as u32 {
                    0 => Arc::new(Screw { start: Pose::new(random.vec3(0.1), random.unit_quat()), velocity }),
                    1 => Arc::new(Shaker {
                        center: random.vec3(0.1),
                        amplitude: random.vec3(0.3),
                        rate: 9.0,
                        phase: random.range(0.0, 6.0),
                        radius: 0.0,
                    }),
                    _ => Arc::new(Rocking { degree: random.range(0.1, 1.0), rate: random.range(1.0, 9.0) }),
                };
                world.add(Body::scripted_by(script).shape_at(shape(random), off)).unwrap();
                continue;
            }
            if random.below(2) == 0 {
                // About its own axis, or any way.
                let turned = random.unit_quat();
                let spin =
                    turned * DVec3::Z * random.range(0.0, 60.0) + random.vec3(1.0) * random.below(8) as f64;
                let body = Body::free().shape(round(random)).at(DVec3::X * f64::from(k)).turned(turned);
                world.add(body.moving(random.vec3(3.0)).spinning(spin)).unwrap();
                continue;
            }
            let heavy = Pose::from_translation(random.vec3(0.2));
            let body = Body::free().shape_at(shape(random), heavy).at(DVec3::X * (1.0 * f64::from(k)));
            let body = body.turned(random.unit_quat()).moving(random.vec3(3.0)).spinning(random.vec3(8.0));
            let extra =
                sim_math::mass::solid::cuboid(DVec3::new(0.3, 0.2, 0.1), sim_math::mass::Amount::Mass(1.0));
            world.add(body.mass_properties(extra.unwrap())).unwrap();
        }
        world
    }

    fn with_sides<R>(world: &World, work: impl FnOnce(&Sides<'_>) -> R) -> R {
        let mut queue = EventQueue::default();
        let mut table = PairTable::default();
        let event = queue.schedule(0.0, ()).unwrap();
        let slot = table.insert(Pair::new(ProxyId(0), ProxyId(1)), [0, 1], event);
        work(&Sides::of(world, table.get(slot).unwrap()).unwrap())
    }

    fn travel(sides: &Sides<'_>, seen: &Look, plane: Plane, horizon: f64) -> Option<Travel> {
        let couple = sides.whole();
        let swerve = Swerve::of(&couple, &seen.states, plane, Some(seen.normal));
        Close::new(&couple, &seen.states, seen.normal, plane, swerve)?.travel(horizon)
    }

    #[test]
    fn close_bounds_never_exceed_the_true_distance() {
        let (mut random, narrow) = (SplitMix64(17), default_chain());
        let (mut compared, mut edges, mut turning) = (0, 0, 0);
        for _ in 0..6000 {
            let world = random_world(&mut random);
            with_sides(&world, |sides| {
                let from = random.range(0.0, 0.2);
                let mut cache = PairCache::default();
                let Some(start) =
                    look(sides, &narrow, &mut cache, from).unwrap().filter(|s| s.distance > 0.0)
                else {
                    return;
                };
                let horizon = ops::exp(random.range(ops::ln(1e-6), ops::ln(0.2)));
                let slower =
                    |k: usize| sides.whole().hulls[k].turning.spin < 0.9 * sides.bodies[k].piece().max_spin();
                turning += u32::from(slower(0) || slower(1));
                let between = between_edges(&sides.whole(), &start.states, start.normal, horizon);
                edges += u32::from(between.is_some());
                for plane in [Some(Plane::With(0)), Some(Plane::With(1)), between].into_iter().flatten() {
                    let Some(bound) = travel(sides, &start, plane, horizon) else {
                        continue;
                    };
                    for k in 1..=5 {
                        let tau = horizon * f64::from(k) / 5.0;
                        let then = look(sides, &narrow, &mut cache, from + tau).unwrap().unwrap();
                        let least = start.distance - bound.at(tau);
                        // In overlap the depth is along another direction.
                        assert!(
                            then.distance >= least - 1e-9 || least < 0.0,
                            "{} below {least}",
                            then.distance
                        );
                        compared += u32::from(least > 0.0);
                    }
                }
            });
        }
        assert!(compared > 6000 && edges > 200 && turning > 500, "{compared} {edges} {turning}");
    }

    /// Two boxes turned so that an edge of one crosses an edge of the other, 1 µm apart, and both turning.
    fn crossed_edges(random: &mut SplitMix64) -> World {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let shape = Shape::from(Cuboid::new(DVec3::splat(0.1)).unwrap());
        let edge = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
        let reach = 0.1 * 2.0_f64.sqrt();
        for (k, z) in [(0.0, reach), (1.0, -reach - 1e-6)] {
            let angle = k * random.range(0.3, 2.8);
            let body = Body::free()
                .shape(shape.clone())
                .at(DVec3::Z * z)
                .turned(DQuat::from_rotation_z(angle) * edge);
            world.add(body.spinning(random.vec3(20.0)).moving(random.vec3(0.1))).unwrap();
        }
        world
    }

    #[test]
    fn between_two_edges_the_bound_is_the_closing_speed() {
        let (mut random, narrow) = (SplitMix64(19), default_chain());
        let (mut worse, mut worst) = (0, 0.0_f64);
        for _ in 0..200 {
            let world = crossed_edges(&mut random);
            with_sides(&world, |sides| {
                let seen = look(sides, &narrow, &mut PairCache::default(), 0.0).unwrap().unwrap();
                assert!((seen.distance - 1e-6).abs() < 1e-12);
                let horizon = 1e-7;
                let linear = |plane| travel(sides, &seen, plane, horizon).unwrap().linear;
                let plane = between_edges(&sides.whole(), &seen.states, seen.normal, horizon).unwrap();
                worst = worst.max((linear(plane) - seen.closing).abs());
                worse += u32::from(linear(Plane::With(0)).min(linear(Plane::With(1))) > seen.closing + 0.1);
            });
        }
        // A plane that turns with one of them is far off.
        assert!(worst < 1e-4 && worse > 150, "{worst} m/s, {worse}");
    }

    #[test]
    fn near_contact_the_bound_is_the_closing_speed() {
        let (mut random, narrow) = (SplitMix64(18), default_chain());
        let mut exact = 0;
        for _ in 0..500 {
            let world = random_world(&mut random);
            with_sides(&world, |sides| {
                let seen = look(sides, &narrow, &mut PairCache::default(), 0.0).unwrap().unwrap();
                let bounds = [0, 1].map(|r| travel(sides, &seen, Plane::With(r), 1e-9));
                let best = bounds.iter().flatten().map(|b| b.linear).fold(f64::INFINITY, f64::min);
                let speed = (seen.states[0].velocity.linear - seen.states[1].velocity.linear).length();
                // The better reference has the face; edge against edge has none.
                assert!(best >= seen.closing - 1e-3 || seen.distance > 0.05, "{best} below {}", seen.closing);
                exact += u32::from((best - seen.closing).abs() < 0.2 * (1.0 + speed));
            });
        }
        assert!(exact > 100, "{exact}");
    }
}
