//! Conformance of [`NarrowPhase`]s: every answer is checked by a certificate that needs no second algorithm.
//!
//! For convex shapes, points a ∈ A and b ∈ B with a − b = d n are closest if and only if the slab between the
//! planes through a and b normal to n holds no point of either. Both halves of that are checked with support
//! functions: membership of a and b against many supporting planes, the slab against the two that matter.

use super::SplitMix64;
use crate::{Manifold, NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};

/// What to try and what to demand.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Shapes to draw from. Pairs that the narrow phase calls unsupported are skipped, but not all may be.
    pub shapes: Vec<Shape>,
    /// Random poses per ordered pair of shapes.
    pub poses: u32,
    /// Allowed error of distances and positions relative to the size of the shapes.
    pub tolerance: f64,
    /// First number of the random stream.
    pub seed: u64,
}

/// Runs the kit; the first violation as text.
///
/// # Errors
/// What the narrow phase did wrong, with shapes and pose.
pub fn conformance(narrow: &dyn NarrowPhase, plan: &Plan) -> Result<(), String> {
    let mut random = SplitMix64(plan.seed);
    let mut supported = 0;
    for a in &plan.shapes {
        for b in &plan.shapes {
            let mut cache = PairCache::default();
            let size = scale(a, b);
            for _ in 0..plan.poses {
                let a_from_b = random_pose(&mut random, size);
                let context = |e: String| format!("{} against {} at {a_from_b:?}: {e}", a.name(), b.name());
                match narrow.separation(a, b, &a_from_b, &mut cache) {
                    Ok(found) => {
                        supported += 1;
                        let case = Case { narrow, a, b, a_from_b, tolerance: plan.tolerance * size };
                        case.check(&found, &mut random).map_err(context)?;
                    }
                    Err(NarrowPhaseError::UnsupportedPair { .. } | NarrowPhaseError::Overlapping { .. }) => {}
                    Err(error) => return Err(context(error.to_string())),
                }
            }
            refuses_nan(narrow, a, b)?;
        }
    }
    if supported == 0 { Err("no pair of the plan is supported".into()) } else { Ok(()) }
}

/// Size to which tolerances are relative: the larger finite bounding radius.
fn scale(a: &Shape, b: &Shape) -> f64 {
    let finite = |r: f64| if r.is_finite() { r } else { 0.0 };
    finite(a.bounding_radius()).max(finite(b.bounding_radius())).max(1e-3)
}

/// Near enough that a third overlap; every fourth is axis-aligned on a coarse grid, where ties happen.
fn random_pose(random: &mut SplitMix64, size: f64) -> Pose {
    if random.below(4) == 0 {
        let grid = (random.vec3(3.0)).floor() * (0.5 * size);
        return Pose::new(grid, DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2 * random.below(4) as f64));
    }
    Pose::new(random.vec3(2.5 * size), random.unit_quat())
}

fn refuses_nan(narrow: &dyn NarrowPhase, a: &Shape, b: &Shape) -> Result<(), String> {
    let bad = Pose::from_translation(DVec3::new(0.0, f64::NAN, 0.0));
    match narrow.separation(a, b, &bad, &mut PairCache::default()) {
        Err(_) => Ok(()),
        Ok(found) => Err(format!("{} against {} at a NaN pose gave {found:?}", a.name(), b.name())),
    }
}

struct Case<'a> {
    narrow: &'a dyn NarrowPhase,
    a: &'a Shape,
    b: &'a Shape,
    a_from_b: Pose,
    tolerance: f64,
}

impl Case<'_> {
    /// Largest extent of B along a direction of A's frame; `None` if unbounded or unknown.
    fn extent_b(&self, direction: DVec3) -> Option<f64> {
        let local = self.a_from_b.inverse_transform_vector(direction);
        extent(self.b, local).map(|h| h + direction.dot(self.a_from_b.translation))
    }

    fn check(&self, found: &Separation, random: &mut SplitMix64) -> Result<(), String> {
        let tolerance = self.tolerance;
        let all_finite = found.distance.is_finite() && found.point_a.is_finite() && found.point_b.is_finite();
        if !all_finite || (found.normal.length() - 1.0).abs() > 1e-12 {
            return Err(format!("not finite, or normal not of unit length: {found:?}"));
        }
        let gap = found.point_a - found.point_b - found.distance * found.normal;
        if gap.length() > tolerance {
            return Err(format!(
                "point_a − point_b is not distance · normal, off by {}: {found:?}",
                gap.length()
            ));
        }
        self.slab_is_empty(found)?;
        self.witnesses_belong(found, random)?;
        self.mirror_agrees(found)?;
        self.warm_start_agrees(found)?;
        self.manifold_agrees(found)
    }

    /// No point of A lies below the plane of `point_a`, none of B above that of `point_b`. The same holds for the
    /// witnesses of a penetration: the slab is then the overlap along the normal.
    fn slab_is_empty(&self, found: &Separation) -> Result<(), String> {
        let n = found.normal;
        if let Some(h) = extent(self.a, -n).filter(|h| *h > -n.dot(found.point_a) + self.tolerance) {
            return Err(format!(
                "A reaches {:e} below its witness plane: {found:?}",
                h + n.dot(found.point_a)
            ));
        }
        if let Some(h) = self.extent_b(n).filter(|h| *h > n.dot(found.point_b) + self.tolerance) {
            return Err(format!(
                "B reaches {:e} above its witness plane: {found:?}",
                h - n.dot(found.point_b)
            ));
        }
        Ok(())
    }

    fn witnesses_belong(&self, found: &Separation, random: &mut SplitMix64) -> Result<(), String> {
        for k in 0..60 {
            let direction = if k < 6 {
                [DVec3::X, DVec3::Y, DVec3::Z][k / 2] * [1.0, -1.0][k % 2]
            } else {
                random.unit_vec3()
            };
            if extent(self.a, direction).is_some_and(|h| direction.dot(found.point_a) > h + self.tolerance) {
                return Err(format!("point_a lies outside A along {direction}: {found:?}"));
            }
            if self.extent_b(direction).is_some_and(|h| direction.dot(found.point_b) > h + self.tolerance) {
                return Err(format!("point_b lies outside B along {direction}: {found:?}"));
            }
        }
        Ok(())
    }

    fn mirror_agrees(&self, found: &Separation) -> Result<(), String> {
        let mut cache = PairCache::default();
        let mirrored = self
            .narrow
            .separation(self.b, self.a, &self.a_from_b.inverse(), &mut cache)
            .map_err(|e| format!("swapped shapes: {e}"))?;
        if (mirrored.distance - found.distance).abs() > self.tolerance {
            return Err(format!(
                "swapped shapes give distance {}, not {}",
                mirrored.distance, found.distance
            ));
        }
        Ok(())
    }

    fn warm_start_agrees(&self, found: &Separation) -> Result<(), String> {
        let mut cache = PairCache::default();
        for round in ["cold", "warm"] {
            let again = self
                .narrow
                .separation(self.a, self.b, &self.a_from_b, &mut cache)
                .map_err(|e| format!("{round} cache: {e}"))?;
            if (again.distance - found.distance).abs() > self.tolerance {
                return Err(format!(
                    "{round} cache gives distance {}, not {}",
                    again.distance, found.distance
                ));
            }
        }
        Ok(())
    }

    fn manifold_agrees(&self, found: &Separation) -> Result<(), String> {
        let mut manifolds: Vec<Manifold> = Vec::new();
        let margin = found.distance.max(0.0) + 10.0 * self.tolerance;
        self.narrow
            .manifolds(self.a, self.b, &self.a_from_b, margin, &mut PairCache::default(), &mut manifolds)
            .map_err(|e| format!("manifolds: {e}"))?;
        let deepest =
            manifolds.iter().filter_map(|m| m.deepest()).map(|p| p.separation).fold(f64::INFINITY, f64::min);
        if (deepest - found.distance).abs() > 2.0 * self.tolerance {
            return Err(format!("deepest contact has separation {deepest}, distance is {}", found.distance));
        }
        for manifold in &manifolds {
            for point in manifold.points() {
                let measured = (point.point_a - point.point_b).dot(manifold.normal);
                if (measured - point.separation).abs() > self.tolerance || point.separation > margin {
                    return Err(format!("contact {point:?} measures {measured}, margin {margin}"));
                }
            }
        }
        if found.distance > 20.0 * self.tolerance {
            manifolds.clear();
            let short = 0.5 * found.distance;
            self.narrow
                .manifolds(self.a, self.b, &self.a_from_b, short, &mut PairCache::default(), &mut manifolds)
                .map_err(|e| format!("manifolds: {e}"))?;
            if manifolds.iter().any(|m| !m.points().is_empty()) {
                return Err(format!("contacts within {short} although the distance is {}", found.distance));
            }
        }
        Ok(())
    }
}

/// Support function in the shape's frame: the largest direction · x; `None` if unbounded or unknown.
fn extent(shape: &Shape, direction: DVec3) -> Option<f64> {
    match shape {
        Shape::HalfSpace(h) => (direction.dot(h.normal()) > 1.0 - 1e-15).then_some(0.0),
        _ => shape.support(direction).map(|p| direction.dot(p)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, FeatureId, HalfSpace, Sphere};

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Fault {
        None,
        FlippedNormal,
        ShortDistance,
        WrongFrame,
        AcceptsNan,
        EmptyManifold,
    }

    /// Spheres against spheres and half-spaces, right or wrong in one way.
    #[derive(Debug)]
    struct Balls(Fault);

    impl Balls {
        fn found(&self, a: &Shape, b: &Shape, a_from_b: &Pose) -> Result<Separation, NarrowPhaseError> {
            let center = a_from_b.translation;
            let (distance, normal, point_a) = match (a, b) {
                (Shape::Sphere(x), Shape::Sphere(y)) => {
                    let normal = (-center).try_normalize().unwrap_or(DVec3::Z);
                    (center.length() - x.radius() - y.radius(), normal, -x.radius() * normal)
                }
                (Shape::Sphere(x), Shape::HalfSpace(y)) => {
                    let normal = a_from_b.transform_vector(y.normal());
                    (-normal.dot(center) - x.radius(), normal, -x.radius() * normal)
                }
                (Shape::HalfSpace(_), Shape::Sphere(_)) => {
                    return self.found(b, a, &a_from_b.inverse()).map(|s| s.flipped(a_from_b));
                }
                _ => return Err(NarrowPhaseError::unsupported(a, b)),
            };
            let point_b = point_a - distance * normal;
            Ok(Separation { distance, normal, point_a, point_b })
        }
    }

    impl NarrowPhase for Balls {
        fn separation(
            &self,
            a: &Shape,
            b: &Shape,
            a_from_b: &Pose,
            _: &mut PairCache,
        ) -> Result<Separation, NarrowPhaseError> {
            if self.0 == Fault::AcceptsNan && !a_from_b.is_finite() {
                let zero = DVec3::ZERO;
                return Ok(Separation { distance: 0.0, normal: DVec3::Z, point_a: zero, point_b: zero });
            }
            NarrowPhaseError::check_pose(a, b, a_from_b)?;
            let mut found = self.found(a, b, a_from_b)?;
            match self.0 {
                Fault::FlippedNormal => found.normal = -found.normal,
                Fault::ShortDistance => {
                    found.distance *= 0.999;
                    found.point_b = found.point_a - found.distance * found.normal;
                }
                Fault::WrongFrame => found = found.flipped(&a_from_b.inverse()),
                _ => {}
            }
            Ok(found)
        }

        fn manifolds(
            &self,
            a: &Shape,
            b: &Shape,
            a_from_b: &Pose,
            margin: f64,
            cache: &mut PairCache,
            out: &mut Vec<Manifold>,
        ) -> Result<(), NarrowPhaseError> {
            let found = self.separation(a, b, a_from_b, cache)?;
            if found.distance <= margin && self.0 != Fault::EmptyManifold {
                out.push(Manifold::at_closest(&found, [FeatureId::NONE; 2]));
            }
            Ok(())
        }
    }

    fn run(narrow: &dyn NarrowPhase) -> Result<(), String> {
        let shapes =
            vec![Sphere::new(0.5).unwrap().into(), Sphere::new(1.3).unwrap().into(), HalfSpace::up().into()];
        conformance(narrow, &Plan { shapes, poses: 200, tolerance: 1e-12, seed: 1 })
    }

    #[test]
    fn honest_balls_conform_alone_and_in_a_chain() {
        run(&Balls(Fault::None)).unwrap();
        run(&Chain::new(vec![Box::new(Chain::default()), Box::new(Balls(Fault::None))])).unwrap();
    }

    #[test]
    fn every_fault_is_found() {
        for fault in [
            Fault::FlippedNormal,
            Fault::ShortDistance,
            Fault::WrongFrame,
            Fault::AcceptsNan,
            Fault::EmptyManifold,
        ] {
            assert!(run(&Balls(fault)).is_err(), "{fault:?} passed");
        }
        assert!(run(&Chain::default()).is_err(), "a narrow phase that supports nothing passed");
    }
}
