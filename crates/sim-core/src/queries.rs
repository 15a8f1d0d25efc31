//! Questions about the world of a simulation at its present time.

use crate::Simulation;
use collision_narrowphase::default_chain;
use sim_math::{Pose, glam::DVec3};
use sim_traits::{ColliderId, NarrowPhase, Ray, Shape};
use sim_world::{Closest, QueryError, QueryFilter, QueryIndex, RayCast, ShapeCast, World};
use std::sync::PoisonError;

/// Questions. The boxes that they need are kept inside, and renewed by the first question after the world has moved or changed; answers depend on the world
/// alone. Distances are those of the stepper's narrow phase. Questions from several threads wait for each other: who asks very many at a time makes a
/// [`QueryIndex`] of their own.
///
/// ```
/// use sim_core::prelude::*;
///
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// let ball = world.add(Body::free().shape(Sphere::new(0.5)?).at([3.0, 0.0, 0.0]))?;
/// let sim = Simulation::new(world);
/// let all = QueryFilter::default();
/// let ray = Ray { origin: DVec3::ZERO, direction: DVec3::X, t_max: 10.0 };
/// let hit = sim.cast_ray(&ray, &all)?.ok_or("missed")?;
/// assert_eq!((hit.body, hit.t), (ball, 2.5));
/// let met = sim.cast_shape(Sphere::new(0.5)?, &Pose::IDENTITY, [4.0, 0.0, 0.0], &all)?.ok_or("missed")?;
/// assert!((met.t - 0.5).abs() < 1e-6);
/// assert!(sim.overlaps(Sphere::new(0.1)?, &Pose::IDENTITY, &all)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Simulation {
    fn ask<T>(
        &self,
        question: impl FnOnce(&QueryIndex, &World, &dyn NarrowPhase) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        // A refresh that panicked has left the index stale.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let world = self.world();
        if !index.is_of(world) {
            index.refresh(world)?;
        }
        match self.stepper().narrow_phase() {
            Some(narrow) => question(&index, world, narrow),
            None => question(&index, world, &default_chain()),
        }
    }

    /// First collider on a ray; of equally near ones that with the smaller slot.
    ///
    /// # Errors
    /// A bad ray, a shape without ray cast.
    pub fn cast_ray(&self, ray: &Ray, filter: &QueryFilter) -> Result<Option<RayCast>, QueryError> {
        self.ask(|index, world, _| index.ray_first(world, ray, filter))
    }

    /// All colliders on a ray, in the order in which it enters them, equals by slot.
    ///
    /// # Errors
    /// As [`Simulation::cast_ray`].
    pub fn cast_ray_all(&self, ray: &Ray, filter: &QueryFilter) -> Result<Vec<RayCast>, QueryError> {
        let mut found = Vec::new();
        self.ask(|index, world, _| index.ray_all(world, ray, filter, &mut found))?;
        Ok(found)
    }

    /// The first collider that a shape meets when it is moved from a pose by `way` (m) without turning: see [`QueryIndex::cast_shape`].
    ///
    /// # Errors
    /// A pose or way that is not finite, a shape that cannot be cast.
    pub fn cast_shape(
        &self,
        shape: impl Into<Shape>,
        world_from_shape: &Pose,
        way: impl Into<DVec3>,
        filter: &QueryFilter,
    ) -> Result<Option<ShapeCast>, QueryError> {
        let (shape, way) = (shape.into(), way.into());
        self.ask(|index, world, _| index.cast_shape(world, &shape, world_from_shape, way, filter))
    }

    /// All colliders that touch or overlap a shape at a pose, by slot.
    ///
    /// # Errors
    /// A pose that is not finite, a pair without algorithm.
    pub fn overlaps(
        &self,
        shape: impl Into<Shape>,
        world_from_shape: &Pose,
        filter: &QueryFilter,
    ) -> Result<Vec<ColliderId>, QueryError> {
        let (shape, mut found) = (shape.into(), Vec::new());
        self.ask(|index, world, narrow| {
            index.overlaps(world, narrow, &shape, world_from_shape, filter, &mut found)
        })?;
        Ok(found)
    }

    /// The collider closest to a shape at a pose, up to `max_distance` (m, may be infinite); the deepest if some overlap. Of equally close ones that with
    /// the smaller slot.
    ///
    /// # Errors
    /// As [`Simulation::overlaps`], or a distance that is negative or NaN.
    pub fn closest(
        &self,
        shape: impl Into<Shape>,
        world_from_shape: &Pose,
        max_distance: f64,
        filter: &QueryFilter,
    ) -> Result<Option<Closest>, QueryError> {
        let shape = shape.into();
        self.ask(|index, world, narrow| {
            index.closest(world, narrow, &shape, world_from_shape, max_distance, filter)
        })
    }

    /// The collider closest to a point, as [`Simulation::closest`].
    ///
    /// # Errors
    /// As [`Simulation::closest`].
    pub fn closest_to_point(
        &self,
        point: impl Into<DVec3>,
        max_distance: f64,
        filter: &QueryFilter,
    ) -> Result<Option<Closest>, QueryError> {
        let point = point.into();
        self.ask(|index, world, narrow| index.closest_to_point(world, narrow, point, max_distance, filter))
    }
}
