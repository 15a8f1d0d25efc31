//! Poses, distance and closing speed of a pair at a time.

use super::{
    hull::{Couple, Hull},
    pairs::ActivePair,
};
use rigid_impulse::{
    BodyModel, BodyState,
    bounds::{Travel, time_to_impact},
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{NarrowPhase, NarrowPhaseError, PairCache, Shape};
use sim_world::{Body, Collider, Law, PairName, Piece, StepError, World};

/// The two sides of a pair as the world has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) bodies: [&'a Body; 2],
    pub(super) colliders: [&'a Collider; 2],
    pub(super) name: PairName,
}

impl<'a> Sides<'a> {
    /// `None` if one of them is gone.
    #[inline]
    pub(super) fn of(world: &'a World, pair: &ActivePair) -> Option<Self> {
        let (a, body_a) = world.body_in_slot(pair.bodies[0])?;
        let (b, body_b) = world.body_in_slot(pair.bodies[1])?;
        let (c, collider_a) = world.collider_in_slot(pair.key.a.0)?;
        let (d, collider_b) = world.collider_in_slot(pair.key.b.0)?;
        Some(Self {
            bodies: [body_a, body_b],
            colliders: [collider_a, collider_b],
            name: PairName { bodies: [a, b], colliders: [c, d] },
        })
    }

    /// What the two bodies are.
    #[inline]
    pub(super) fn models(&self) -> [&'a BodyModel; 2] {
        self.bodies.map(Body::model)
    }

    /// True if both shapes are convex: planes through their closest points then separate them.
    #[inline]
    pub(super) fn convex(&self) -> bool {
        self.colliders.iter().all(|c| !matches!(c.shape(), Shape::Custom(_)))
    }

    /// Both colliders as a whole.
    pub(super) fn whole(&self) -> Couple<'a> {
        let hulls = [0, 1].map(|k| Hull::whole(self.bodies[k], self.colliders[k]));
        Couple { bodies: self.bodies, hulls }
    }

    /// Bound on how far any point of one comes towards any point of the other from `time` (s) on, in whatever direction, for a
    /// collision at `distance` (m).
    pub(super) fn any_travel(&self, time: f64, distance: f64) -> Travel {
        let pieces = self.bodies.map(Body::piece);
        let turning: f64 = [0, 1]
            .map(|k| {
                let spin = pieces[k].max_spin();
                // An unbounded shape that does not turn has a radius all the same.
                let hull = Hull::whole(self.bodies[k], self.colliders[k]);
                if spin > 0.0 && hull.turning.spin > 0.0 { hull.turning.spin * hull.spin_radius } else { 0.0 }
            })
            .iter()
            .sum();
        let [va, vb] = pieces.map(|p| p.center_velocity(time));
        let [a, b] = pieces.map(Piece::uniform_acceleration);
        let unsteady: f64 = pieces.iter().map(|p| p.unsteady_acceleration()).sum();
        let close =
            Travel { quadratic: 0.5 * ((a - b).length() + unsteady), linear: (va - vb).length() + turning };
        // Scripts have a largest speed, which is all that is known of those whose velocity jumps.
        let speed = |k: usize| match pieces[k].law() {
            Law::Scripted { limits, .. } => Some(limits.speed),
            _ => None,
        };
        let far = match [speed(0), speed(1)] {
            [None, None] => return close,
            [Some(s), None] => {
                let quadratic = 0.5 * (b.length() + pieces[1].unsteady_acceleration());
                Travel { quadratic, linear: s + vb.length() + turning }
            }
            [None, Some(s)] => {
                let quadratic = 0.5 * (a.length() + pieces[0].unsteady_acceleration());
                Travel { quadratic, linear: s + va.length() + turning }
            }
            [Some(s), Some(t)] => Travel { quadratic: 0.0, linear: s + t + turning },
        };
        let time_of = |t: Travel| time_to_impact(distance, 0.0, t, Travel::NONE);
        if close.quadratic.is_finite() && time_of(close) > time_of(far) { close } else { far }
    }

    /// Largest acceleration that presses the two together, m/s².
    pub(super) fn pressure(&self) -> f64 {
        let of = |body: &Body| Some(body.piece().acceleration()).filter(|a| a.is_finite()).unwrap_or(0.0);
        of(self.bodies[0]).max(of(self.bodies[1]))
    }
}

/// A pair at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// States of both bodies.
    pub(super) states: [BodyState; 2],
    /// World pose of the first shape.
    pub(super) world_from_a: Pose,
    /// Relative pose of the shapes.
    pub(super) a_from_b: Pose,
    /// m.
    pub(super) distance: f64,
    /// From B to A, world.
    pub(super) normal: DVec3,
    /// Midway between the closest points, world, m.
    pub(super) point: DVec3,
    /// Speed of approach of the closest points along the normal, m/s.
    pub(super) closing: f64,
}

/// Evaluates both bodies and their distance at a time (s). `Ok(None)` if the shapes overlap and the narrow phase gives no depth.
pub(super) fn look(
    sides: &Sides<'_>,
    narrow: &dyn NarrowPhase,
    cache: &mut PairCache,
    time: f64,
) -> Result<Option<Look>, StepError> {
    let state = |k: usize| {
        sides.bodies[k].at(time).map_err(|source| StepError::Body { body: sides.name.bodies[k], source })
    };
    look_from([state(0)?, state(1)?], sides, narrow, cache)
}

/// The same for states that are known.
pub(super) fn look_from(
    states: [BodyState; 2],
    sides: &Sides<'_>,
    narrow: &dyn NarrowPhase,
    cache: &mut PairCache,
) -> Result<Option<Look>, StepError> {
    let pose = |k: usize| *states[k].pose() * sides.colliders[k].extent().body_from_shape;
    let world_from_a = pose(0);
    let a_from_b = world_from_a.inverse_mul(&pose(1));
    let [a, b] = sides.colliders.map(Collider::shape);
    let found = match narrow.separation(a, b, &a_from_b, cache) {
        Ok(found) => found,
        Err(NarrowPhaseError::Overlapping { .. }) => return Ok(None),
        Err(source) => return Err(StepError::NarrowPhase { pair: sides.name, source: Box::new(source) }),
    };
    let normal = world_from_a.transform_vector(found.normal);
    let point = world_from_a.transform_point(0.5 * (found.point_a + found.point_b));
    let closing = -(states[0].velocity_at(point) - states[1].velocity_at(point)).dot(normal);
    Ok(Some(Look { states, world_from_a, a_from_b, distance: found.distance, normal, point, closing }))
}
