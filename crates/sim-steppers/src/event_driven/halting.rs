//! The halting problem: two bodies at rounding distance that neither part nor collide, and its cure.
//!
//! # Reference
//!
//! Fontijne (2000), section 3.12, who saw it and proposed to redo the step before with half its length.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | ε | collision envelope | m |
//! | d | separation | m |
//! | a | acceleration that can press the contact together: gravity and ω² r of both bodies | m/s² |
//! | v | speed of parting | m/s |
//!
//! # Formula
//!
//! ```text
//! halting:  d < 1e-6 ε (1e-9 of the size of bodies) after 200 looks at the pair in one window, or d < −8 root tolerances;
//!           and not parting at v/2 or more
//! cure:     normal impulses that make all contacts of the pair part at v = √(a ε), up to ε/2 and back; then a collision phase
//! ```
//!
//! An impact without restitution leaves spinning bodies at the root of their distance, parting at next to no speed
//! while bounds on their motion allow ω r: each look then gains a share v/(ω r) of a distance of 1e-12 m, and 1e5 looks
//! would follow. Motion here is in closed form, so that redoing an earlier step gives the same contact again. What
//! micro-collisions do for bodies under gravity is done for them instead: a hop inside the envelope.
//! Each look at such a pair may use up half the root tolerance, so that it sinks where its motion really curves inwards: that is
//! ended at a twelfth of the overlap that counts as an error.
//! The phase is for a light body wedged between heavy ones, under either handling: pair after pair, thousands of hops of the
//! light one would be needed to lift the heavy ones.
//!
//! # Cost
//!
//! One manifold, and a collision matrix for each contact and sweep.
//!
//! # Numerics
//!
//! The hop adds ½ v² / (n·K n) of energy at most, the same order as a micro-collision under the acceleration a.
//!
//! # Failure
//!
//! Two bodies that impulses do not move are never a pair; a body pressed by scripted ones from both sides uses up its
//! budget, which names it.
//!
//! # Tested by
//!
//! `the_cure_begins_below_a_billionth_of_the_size_or_where_a_pair_has_sunk`, `a_face_is_lifted_at_all_its_corners`,
//! `soak_random_worlds_neither_stall_nor_explode`, `tests/halting.rs`, `tests/simultaneous.rs`

use super::{
    look::{Look, Sides},
    params::Scaled,
    respond::{MAX_SWEEPS, Means, Outcome, Site, all_sites},
};
use crate::push::Push;
use rigid_impulse::{CollisionKind, ContactFrame, pair_matrix};
use sim_traits::PairCache;
use sim_world::StepError;

/// Looks at a pair in one window before it can count as halting: a search for an impact takes some ten.
const PATIENCE: u32 = 200;
/// Overlap from which on a pair is not left to sink further, as a multiple of the root tolerance.
const SUNK: f64 = 8.0;
/// Share of the envelope below which a distance is rounding.
const ROUNDING: f64 = 1e-6;

/// Speed (m/s) at which a pair that makes no progress is to part; `None` if it does, or parts fast enough already.
pub(super) fn halting(sides: &Sides<'_>, look: &Look, params: &Scaled, events: u32) -> Option<f64> {
    let stuck = events > PATIENCE && look.distance < ROUNDING * params.envelope();
    if !stuck && look.distance > -SUNK * params.root_tolerance {
        return None;
    }
    let spin = |k: usize| {
        let radius = sides.colliders[k].extent().spin_radius;
        if radius.is_finite() { look.states[k].velocity.angular.length_squared() * radius } else { 0.0 }
    };
    let acceleration = sides.pressure() + spin(0) + spin(1);
    // Bodies at rest in free space: any speed that leaves the envelope in one window will do.
    let speed = (acceleration * params.envelope()).sqrt().max(params.envelope() / params.window);
    (-look.closing < 0.5 * speed).then_some(speed)
}

/// Lets all contacts of the pair, with which `outcome` begins, part at a speed (m/s) at least.
///
/// All, because a face that lies on another would otherwise sink from corner to corner by the rounding of each look.
pub(super) fn lift_off(
    sides: &Sides<'_>,
    means: &mut Means<'_>,
    cache: &mut PairCache,
    slot: u32,
    look: &Look,
    speed: f64,
    outcome: &mut Outcome,
) -> Result<(), StepError> {
    let sites = all_sites(sides, means, cache, look)?;
    for _ in 0..MAX_SWEEPS {
        let mut any = false;
        for site in &sites {
            let [a, b] = [0, 1].map(|k| outcome.bodies[k].after);
            let contact = ContactFrame::new(site.point, site.normal)
                .map_err(|source| StepError::Contact { pair: sides.name, source })?;
            let approach = (b.velocity_at(site.point) - a.velocity_at(site.point)).dot(site.normal);
            let mobility = pair_matrix(sides.models(), [&a, &b], &contact).z_axis.z;
            // Not fast enough by more than a rounding, and movable at all.
            if speed + approach <= 1e-6 * speed || mobility <= 0.0 {
                continue;
            }
            any = true;
            let Site { point, normal, separation } = *site;
            let push = Push { point, normal, separation, impulse: normal * ((speed + approach) / mobility) };
            outcome.push(slot, &push, sides, approach, CollisionKind::Boosted);
        }
        if !any || sites.len() == 1 {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_driven::{look::look, pairs::PairTable, params::EventDrivenParams};
    use crate::scale::Scale;
    use collision_narrowphase::default_chain;
    use rigid_impulse::{EventQueue, impact::Integrated};
    use sim_math::glam::DVec3;
    use sim_traits::{Cuboid, HalfSpace, Pair, ProxyId, Shape, Sphere};
    use sim_world::{Body, World};

    /// A body of half a metre at a gap (m) above a floor, moving at a speed (m/s) up, as seen at its start.
    fn with_look(
        shape: impl Into<Shape>,
        gap: f64,
        speed: f64,
        work: impl FnOnce(&Sides<'_>, &Look, &mut PairCache),
    ) {
        let mut world = World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap();
        world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
        let body = Body::free().shape(shape.into()).at([0.0, 0.0, 0.25 + gap]).moving([0.0, 0.0, speed]);
        world.add(body).unwrap();
        let (mut queue, mut table) = (EventQueue::default(), PairTable::default());
        let event = queue.schedule(0.0, ()).unwrap();
        let slot = table.insert(Pair::new(ProxyId(0), ProxyId(1)), [0, 1], event);
        let (sides, mut cache) = (Sides::of(&world, table.get(slot).unwrap()).unwrap(), PairCache::default());
        let seen = look(&sides, &default_chain(), &mut cache, 0.0).unwrap().unwrap();
        assert!((seen.distance - gap).abs() < 1e-15, "{}", seen.distance);
        work(&sides, &seen, &mut cache);
    }

    #[test]
    fn the_cure_begins_below_a_billionth_of_the_size_or_where_a_pair_has_sunk() {
        let params = EventDrivenParams::default().in_metres(&Scale::default());
        let ball = Sphere::new(0.25).unwrap();
        for (gap, speed, looks, cured) in [
            (0.9e-9, 0.0, 201, true),
            (0.9e-9, 0.0, 200, false),
            (1.1e-9, 0.0, 10_000, false),
            (-7e-12, 0.0, 1, false),
            (-9e-12, 0.0, 1, true),
            // It parts as fast as the cure would let it.
            (0.9e-9, 0.1, 201, false),
            (-9e-12, 0.1, 1, false),
        ] {
            with_look(ball, gap, speed, |sides, seen, _| {
                let found = halting(sides, seen, &params, looks);
                assert_eq!(found.is_some(), cured, "{gap} m apart, {speed} m/s, {looks} looks");
                // √(g ε): up to half the envelope.
                assert!(found.is_none_or(|v| (v * v / 9.81e-3 - 1.0).abs() < 1e-12), "{found:?}");
            });
        }
    }

    #[test]
    fn a_face_is_lifted_at_all_its_corners() {
        let params = EventDrivenParams::default().in_metres(&Scale::default());
        let (narrow, law, mut manifolds) = (default_chain(), Integrated::default(), Vec::new());
        with_look(Cuboid::new(DVec3::splat(0.25)).unwrap(), 0.0, -1e-3, |sides, seen, cache| {
            let mut means = Means { narrow: &narrow, law: &law, params: &params, manifolds: &mut manifolds };
            let mut outcome = Outcome::default();
            outcome.of_pair([0, 1], seen);
            lift_off(sides, &mut means, cache, 0, seen, 0.1, &mut outcome).unwrap();
            for (x, y) in [(-0.25, -0.25), (-0.25, 0.25), (0.25, -0.25), (0.25, 0.25)] {
                let speed = outcome.bodies[1].after.velocity_at(DVec3::new(x, y, 0.0)).z;
                assert!(speed > 0.099, "corner {x} {y} parts at {speed} m/s");
            }
            assert_eq!(outcome.bodies[0].after.velocity, seen.states[0].velocity);
        });
    }
}
