//! Ray casts: convex shapes by planes or by advancing, compounds by their pieces, meshes and height fields by their own.
//!
//! # Reference
//! Polyhedra: Haines 1991 (planes). Anything else: conservative advancement along separating planes, as in van den
//! Bergen, *Ray casting against general convex objects* (2004).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `t` | multiple of the ray's direction |
//! | `n` | outward unit normal at the hit |
//!
//! # Formula
//! ```text
//! planes: t_in = max over n·d < 0,  t_out = min over n·d > 0 of (offset − n·o) / n·d;   hit if t_in ≤ t_out
//! advance: distance δ from o + t d with normal n:  t ← t + δ / −(n·d);  no hit if n·d ≥ 0
//! ```
//!
//! # Cost
//! O(faces) for polyhedra; a distance query per step of the advance, which converges quadratically. No allocation.
//!
//! # Numerics
//! The advance stops 1e-10 of the size before the surface; a ray that passes nearer than that counts as a hit.
//!
//! # Failure
//! `BadRay` for a non-finite ray or a zero direction, `Unsupported` for shapes without a support map.
//!
//! # Tested by
//! `rays_hit_where_closed_forms_say`, `polyhedra_agree_with_the_advance`

use crate::{
    adapter::as_polyhedron,
    compound::Compound,
    gjk::{Core, Cores},
    height_field::HeightField,
    mesh::{MeshHit, TriMesh},
    polyhedron::Polyhedron,
    relative::Frame,
};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{Executor, Ray, Shape, Sphere, for_each_mut};
use thiserror::Error;

/// Where a ray enters a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// Multiple of the ray's direction; 0 if the ray starts inside.
    pub t: f64,
    /// Outward unit normal there; against the ray if it starts inside.
    pub normal: DVec3,
}

/// A ray that cannot be cast.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RayError {
    /// Origin or direction is not finite, the direction is zero, or `t_max` is negative or NaN.
    #[error("bad ray: {ray:?}")]
    BadRay {
        /// The ray as given.
        ray: Ray,
    },
    /// As many hits as rays are needed.
    #[error("{rays} rays but room for {hits} hits")]
    WrongLength {
        /// Number of rays.
        rays: usize,
        /// Number of hits.
        hits: usize,
    },
    /// The shape has neither faces nor a support map.
    #[error("no ray cast for {shape}")]
    Unsupported {
        /// Name of the shape.
        shape: &'static str,
    },
}

/// `Ok` for a finite ray with a direction.
pub(crate) fn check_ray(ray: &Ray) -> Result<(), RayError> {
    let finite = ray.origin.is_finite() && ray.direction.is_finite();
    if !finite || ray.direction.length_squared() == 0.0 || ray.t_max.is_nan() || ray.t_max < 0.0 {
        return Err(RayError::BadRay { ray: *ray });
    }
    Ok(())
}

/// First point of a shape on a ray given in the shape's frame: of a convex shape, a half-space, a compound, the solid of a
/// closed mesh, a sheet from either side, a height field.
///
/// # Errors
/// A bad ray, or a custom shape that is not of this crate.
pub fn ray_cast(shape: &Shape, ray: &Ray) -> Result<Option<RayHit>, RayError> {
    check_ray(ray)?;
    if let Some(polyhedron) = as_polyhedron(shape) {
        return Ok(ray_polyhedron(polyhedron, ray));
    }
    match shape {
        Shape::HalfSpace(h) => Ok(planes([(h.normal(), 0.0)].into_iter(), ray)),
        Shape::Cuboid(c) => {
            let e = c.half_extents();
            let faces = (0..3).flat_map(|k| {
                let axis = DMat3::IDENTITY.col(k);
                [(axis, e[k]), (-axis, e[k])]
            });
            Ok(planes(faces, ray))
        }
        Shape::Sphere(s) => Ok(ray_sphere(s, ray)),
        Shape::Custom(s) => {
            let any = s.as_any();
            if let Some(mesh) = any.downcast_ref::<TriMesh>() {
                Ok(solid(mesh.contains(ray.origin), ray, || mesh.cast(ray)))
            } else if let Some(compound) = any.downcast_ref::<Compound>() {
                ray_compound(compound, ray)
            } else if let Some(field) = any.downcast_ref::<HeightField>() {
                let hit = field.ray_cast(ray)?;
                Ok(solid(field.contains(ray.origin), ray, || hit))
            } else {
                Err(RayError::Unsupported { shape: shape.name() })
            }
        }
        _ => {
            let core = Core::of(shape).ok_or(RayError::Unsupported { shape: shape.name() })?;
            Ok(advance(core, shape.bounding_radius(), ray))
        }
    }
}

/// Many rays at once against any shape, cut into pieces for the executor; `hits[i]` is that of `rays[i]`.
///
/// # Errors
/// [`RayError::BadRay`] for the first bad ray, [`RayError::WrongLength`], a shape that is not supported; then the hits are
/// not to be used.
pub fn ray_cast_batch(
    shape: &Shape,
    rays: &[Ray],
    hits: &mut [Option<RayHit>],
    executor: &dyn Executor,
) -> Result<(), RayError> {
    if rays.len() != hits.len() {
        return Err(RayError::WrongLength { rays: rays.len(), hits: hits.len() });
    }
    rays.iter().try_for_each(check_ray)?;
    if let Some(first) = rays.first() {
        // With good rays only the shape can be at fault, and that shows on the first.
        ray_cast(shape, first)?;
    }
    for_each_mut(executor, hits, &|i, hit| *hit = ray_cast(shape, &rays[i]).ok().flatten());
    Ok(())
}

/// A hit at once if the ray starts inside, else that of the surface, its normal against the ray.
fn solid(inside: bool, ray: &Ray, surface: impl FnOnce() -> Option<MeshHit>) -> Option<RayHit> {
    if inside {
        return Some(RayHit { t: 0.0, normal: -ray.direction.normalize() });
    }
    surface()
        .map(|hit| RayHit { t: hit.t, normal: if hit.from_inside(ray) { -hit.normal } else { hit.normal } })
}

fn ray_compound(compound: &Compound, ray: &Ray) -> Result<Option<RayHit>, RayError> {
    let mut best: Option<RayHit> = None;
    for piece in compound.pieces() {
        let pose = &piece.body_from_piece;
        let local = Ray {
            origin: pose.inverse_transform_point(ray.origin),
            direction: pose.inverse_transform_vector(ray.direction),
            t_max: best.map_or(ray.t_max, |b| b.t),
        };
        if let Some(hit) = ray_cast(&piece.shape, &local)?
            && best.is_none_or(|b| hit.t < b.t)
        {
            best = Some(RayHit { t: hit.t, normal: pose.transform_vector(hit.normal) });
        }
    }
    Ok(best)
}

/// First point of a polyhedron on a ray in its frame. The ray must be finite and its direction not zero.
#[must_use]
pub fn ray_polyhedron(polyhedron: &Polyhedron, ray: &Ray) -> Option<RayHit> {
    planes(polyhedron.faces().iter().map(|f| (f.normal, f.offset)), ray)
}

fn planes(faces: impl Iterator<Item = (DVec3, f64)>, ray: &Ray) -> Option<RayHit> {
    let (mut enter, mut exit) = (0.0, ray.t_max);
    let mut normal = -ray.direction.normalize();
    for (n, offset) in faces {
        let (speed, room) = (n.dot(ray.direction), offset - n.dot(ray.origin));
        if speed == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if speed < 0.0 {
            let t = room / speed;
            if t > enter {
                (enter, normal) = (t, n);
            }
        } else {
            exit = f64::min(exit, room / speed);
        }
        if enter > exit {
            return None;
        }
    }
    Some(RayHit { t: enter, normal })
}

fn ray_sphere(sphere: &Sphere, ray: &Ray) -> Option<RayHit> {
    let length = ray.direction.length();
    let d = ray.direction / length;
    let along = -ray.origin.dot(d);
    let beside = (ray.origin + along * d).length_squared();
    let r = sphere.radius();
    if beside > r * r {
        return None;
    }
    let half = (r * r - beside).sqrt();
    if ray.origin.length_squared() <= r * r {
        return Some(RayHit { t: 0.0, normal: -d });
    }
    let s = along - half;
    let hit = RayHit { t: s / length, normal: (ray.origin + s * d) / r };
    (s >= 0.0 && hit.t <= ray.t_max).then_some(hit)
}

fn advance(core: Core<'_>, size: f64, ray: &Ray) -> Option<RayHit> {
    let length = ray.direction.length();
    let d = ray.direction / length;
    // Begin where the ray comes within reach: far starts cost digits.
    let mut s = (-ray.origin.dot(d) - 1.01 * size).max(0.0);
    let mut normal = -d;
    let mut guess = DVec3::ZERO;
    for _ in 0..100 {
        if s > ray.t_max * length {
            return None;
        }
        let frame = Frame { rotation: DMat3::IDENTITY, translation: ray.origin + s * d };
        let found = Cores::new(core, Core::POINT, frame).separation(guess)?;
        if found.distance <= 1e-10 * size {
            return Some(RayHit { t: s / length, normal });
        }
        // The normal of the query points from the ray's point to the shape.
        (guess, normal) = (found.normal, -found.normal);
        let speed = found.normal.dot(d);
        if speed <= 0.0 {
            return None;
        }
        s += found.distance / speed;
    }
    Some(RayHit { t: s / length, normal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{Ellipsoid, Frustum};
    use sim_math::testkit::SplitMix64;
    use sim_traits::{Capsule, Cuboid, Cylinder, HalfSpace};

    fn ray(origin: DVec3, direction: DVec3) -> Ray {
        Ray { origin, direction, t_max: f64::INFINITY }
    }

    #[test]
    fn rays_hit_where_closed_forms_say() {
        let down = ray(DVec3::new(0.2, 0.1, 5.0), DVec3::new(0.0, 0.0, -2.0));
        let cases: [(Shape, f64); 7] = [
            (Sphere::new(1.0).unwrap().into(), 5.0 - 0.95_f64.sqrt()),
            (Capsule::new(1.0, 2.0).unwrap().into(), 3.0 - 0.95_f64.sqrt()),
            (Cuboid::new(DVec3::new(1.0, 1.0, 0.5)).unwrap().into(), 4.5),
            (Cylinder::new(1.0, 0.5).unwrap().into(), 4.5),
            (HalfSpace::up().into(), 5.0),
            (Ellipsoid::new(DVec3::new(1.0, 1.0, 2.0)).unwrap().into(), 5.0 - 2.0 * 0.95_f64.sqrt()),
            (Frustum::cone(1.0, 1.0).unwrap().into(), 4.0 + 2.0 * 0.05_f64.sqrt()),
        ];
        for (shape, way) in cases {
            let hit = ray_cast(&shape, &down).unwrap().unwrap();
            assert!((hit.t - 0.5 * way).abs() < 1e-8, "{}: {} {}", shape.name(), hit.t, 0.5 * way);
            assert!(hit.normal.z > 0.0);
            let up = ray(down.origin, DVec3::Z);
            assert_eq!(ray_cast(&shape, &up).unwrap(), None, "{}", shape.name());
            let short = Ray { t_max: 0.49 * way, ..down };
            assert_eq!(ray_cast(&shape, &short).unwrap(), None, "{}", shape.name());
            let inside = ray(DVec3::new(0.0, 0.0, -0.1), DVec3::Z);
            assert_eq!(ray_cast(&shape, &inside).unwrap().map(|h| h.t), Some(0.0), "{}", shape.name());
        }
        let sphere = Shape::from(Sphere::new(1.0).unwrap());
        for bad in [ray(DVec3::NAN, DVec3::Z), ray(DVec3::X, DVec3::ZERO), Ray { t_max: -1.0, ..down }] {
            assert!(ray_cast(&sphere, &bad).is_err());
        }
    }

    #[test]
    fn polyhedra_agree_with_the_advance() {
        let mut random = SplitMix64(6);
        let hull = Polyhedron::random(30, 4).unwrap();
        let mut hits = 0;
        for _ in 0..2000 {
            let origin = random.unit_vec3() * 3.0;
            let r = ray(origin, random.vec3(1.0) - 0.4 * origin);
            let exact = ray_polyhedron(&hull, &r);
            let other = advance(Core::polyhedron(&hull), 1.0, &r);
            match (exact, other) {
                (Some(x), Some(y)) => {
                    hits += 1;
                    assert!((x.t - y.t).abs() * r.direction.length() < 1e-6, "{x:?} {y:?}");
                }
                (None, None) => {}
                _ => panic!("{r:?}: {exact:?} {other:?}"),
            }
        }
        assert!(hits > 50, "{hits}");
    }
}
