//! Rays against a mesh, one or many.

use super::{TriMesh, triangle::ShearedRay};
use crate::ray::{RayError, check_ray};
use sim_math::glam::DVec3;
use sim_traits::{Executor, Ray, for_each_mut};

/// Where a ray meets the surface of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshHit {
    /// Multiple of the ray's direction.
    pub t: f64,
    /// Triangle that is hit; the lowest number where several are hit at the same `t`.
    pub triangle: u32,
    /// Unit normal of the triangle, whichever side is hit.
    pub normal: DVec3,
}

impl MeshHit {
    /// True if the ray comes from behind the triangle: out of a closed mesh.
    #[inline]
    #[must_use]
    pub fn from_inside(&self, ray: &Ray) -> bool {
        self.normal.dot(ray.direction) > 0.0
    }
}

impl TriMesh {
    /// First point of the surface on a ray in the mesh's frame, from either side of a triangle. A ray along the plane
    /// of a triangle does not hit it; one through an edge or a corner hits at least one of the triangles there.
    ///
    /// # Errors
    /// [`RayError::BadRay`].
    pub fn ray_cast(&self, ray: &Ray) -> Result<Option<MeshHit>, RayError> {
        check_ray(ray)?;
        Ok(self.cast(ray))
    }

    /// Many rays at once, cut into pieces for the executor; `hits[i]` is that of `rays[i]`. Allocates nothing.
    ///
    /// # Errors
    /// [`RayError::BadRay`] for the first bad ray, [`RayError::WrongLength`]; nothing is cast then.
    pub fn ray_cast_batch(
        &self,
        rays: &[Ray],
        hits: &mut [Option<MeshHit>],
        executor: &dyn Executor,
    ) -> Result<(), RayError> {
        if rays.len() != hits.len() {
            return Err(RayError::WrongLength { rays: rays.len(), hits: hits.len() });
        }
        rays.iter().try_for_each(check_ray)?;
        for_each_mut(executor, hits, &|i, hit| *hit = self.cast(&rays[i]));
        Ok(())
    }

    /// What the triangle test may be off by: a few roundings of coordinates relative to the origin.
    #[inline]
    fn slack(&self, ray: &Ray) -> f64 {
        1e-14 * (ray.origin.abs().max_element() + self.reach())
    }

    /// The same without looking at the ray.
    pub(crate) fn cast(&self, ray: &Ray) -> Option<MeshHit> {
        let slack = self.slack(ray);
        let sheared = ShearedRay::new(ray.origin, ray.direction, slack);
        let mut best = (ray.t_max, super::NONE);
        let order = self.bvh().order();
        self.bvh().visit_ray(ray.origin, ray.direction, ray.t_max, 2.0 * slack, |slot, t_max| {
            if let Some(t) = sheared.hit(self.slot(slot), t_max)
                && (t < best.0 || order[slot] < best.1)
            {
                best = (t, order[slot]);
            }
            best.0
        });
        (best.1 != super::NONE).then(|| MeshHit { t: best.0, triangle: best.1, normal: self.normal(best.1) })
    }
}

impl TriMesh {
    /// The same by looking at every triangle: the slow way, for comparison.
    #[must_use]
    pub fn ray_cast_scan(&self, ray: &Ray) -> Option<MeshHit> {
        check_ray(ray).ok()?;
        let sheared = ShearedRay::new(ray.origin, ray.direction, self.slack(ray));
        let mut best = (ray.t_max, super::NONE);
        for triangle in 0..self.triangles().len() as u32 {
            if let Some(t) = sheared.hit(&self.triangle(triangle), best.0)
                && (t < best.0 || best.1 == super::NONE)
            {
                best = (t, triangle);
            }
        }
        (best.1 != super::NONE).then(|| MeshHit { t: best.0, triangle: best.1, normal: self.normal(best.1) })
    }
}
