//! Overlaps by brute force over all pairs, in a way of its own.
//!
//! For convex A and B and any direction d, the width w(d) = max a·d − min b·d bounds their overlap from above, and the overlap is the least of all widths.
//! So one direction with a small width proves that they do not overlap by more; the search looks for it over the whole sphere, and asks the narrow phase too
//! before it goes downhill: widths have many lowest places where edges meet. No simplex, no tracking, no features. Pieces of compounds are taken one
//! by one; ground and solid meshes are asked for the depth of points of the surface of a body.

use super::spec::{Room, Spec};
use sim_core::{
    math::testkit::SplitMix64,
    narrowphase::{compound::Compound, default_chain, mesh::TriMesh},
    prelude::*,
    traits::{NarrowPhase, PairCache},
    world::Collider,
};

/// A convex piece at its place.
struct Solid<'a> {
    shape: &'a Shape,
    pose: Pose,
}

impl Solid<'_> {
    /// Largest x·d of the piece, m; infinite along what is unbounded.
    fn reach(&self, d: DVec3) -> f64 {
        let local = self.pose.inverse_transform_vector(d);
        self.shape.support(local).map_or(f64::INFINITY, |p| self.pose.transform_point(p).dot(d))
    }

    fn center(&self) -> DVec3 {
        self.pose.translation
    }
}

fn custom<T: 'static>(shape: &Shape) -> Option<&T> {
    match shape {
        Shape::Custom(c) => c.as_any().downcast_ref::<T>(),
        _ => None,
    }
}

/// Convex pieces of a body; what is not made of them is left out.
fn pieces<'a>(world: &'a World, id: BodyId) -> Vec<Solid<'a>> {
    let mut all = Vec::new();
    let own = |c: &&'a Collider| c.body() == id;
    for collider in world.colliders().map(|(_, c)| c).filter(own) {
        let pose = collider.world_pose(&world[id]);
        match custom::<Compound>(collider.shape()) {
            Some(compound) => {
                all.extend(
                    compound
                        .pieces()
                        .iter()
                        .map(|p| Solid { shape: &p.shape, pose: pose * p.body_from_piece }),
                );
            }
            None if matches!(collider.shape(), Shape::Custom(_)) => {}
            None => all.push(Solid { shape: collider.shape(), pose }),
        }
    }
    all
}

/// Directions spread over the sphere.
fn directions() -> impl Iterator<Item = DVec3> {
    const COUNT: u32 = 64;
    (0..COUNT).map(|k| {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(COUNT);
        let (sin, cos) = sim_core::math::ops::sin_cos(2.399_963_229_728_653 * f64::from(k));
        DVec3::new(cos, sin, 0.0) * (1.0 - z * z).sqrt() + DVec3::Z * z
    })
}

/// Overlap of two convex pieces, m, or a number not above `enough` if it is not above that.
fn overlap(a: &Solid<'_>, b: &Solid<'_>, enough: f64) -> f64 {
    let width = |d: DVec3| a.reach(d) + b.reach(-d);
    if let Shape::HalfSpace(h) = b.shape {
        let normal = b.pose.transform_vector(h.normal());
        return a.reach(-normal) + b.pose.translation.dot(normal);
    }
    let mut best = (f64::INFINITY, DVec3::X);
    // The line of centres and the axes of both pieces are often right at once.
    let axes = |s: &Solid<'_>| [DVec3::X, DVec3::Y, DVec3::Z].map(|x| s.pose.transform_vector(x));
    let line = (b.center() - a.center()).normalize_or_zero();
    let first = axes(a).into_iter().chain(axes(b)).flat_map(|x| [x, -x]).chain([line]);
    for d in first.chain(directions()).filter(|d| *d != DVec3::ZERO) {
        let w = width(d);
        if w < best.0 {
            best = (w, d);
        }
        if best.0 <= enough {
            return best.0;
        }
    }
    // The narrow phase may name one: that it is right is seen from its width, not believed.
    let a_from_b = a.pose.inverse_mul(&b.pose);
    if let Ok(found) = default_chain().separation(a.shape, b.shape, &a_from_b, &mut PairCache::default()) {
        let d = -a.pose.transform_vector(found.normal);
        best = if width(d) < best.0 { (width(d), d) } else { best };
        if best.0 <= enough {
            return best.0;
        }
    }
    // Downhill from the best ones, by random steps that shrink: widths are smooth or ridged, never steep.
    let mut random = SplitMix64(1);
    for start in [best.1, line, random.unit_vec3(), random.unit_vec3(), random.unit_vec3()] {
        let (mut w, mut d, mut step) = (width(start), start, 0.3);
        while step > 1e-9 {
            let mut failed = 0;
            while failed < 12 {
                let next = (d + random.unit_vec3() * step).normalize_or_zero();
                let tried = width(next);
                if tried < w {
                    (w, d, failed) = (tried, next, 0);
                    if w <= enough {
                        return w;
                    }
                } else {
                    failed += 1;
                }
            }
            step *= 0.4;
        }
        best.0 = best.0.min(w);
    }
    best.0
}

/// Depth of points of a body's surface in what is not convex, m.
fn sunk(spec: &Spec, world: &World, id: BodyId, solids: &[Solid<'_>]) -> f64 {
    let mut deepest = f64::NEG_INFINITY;
    let points = |solid: &Solid<'_>| {
        let pose = solid.pose;
        let shape = solid.shape.clone();
        directions()
            .filter_map(move |d| Some(pose.transform_point(shape.support(pose.inverse_transform_vector(d))?)))
    };
    if let Some((field, at)) = &spec.ground {
        for point in solids.iter().flat_map(points) {
            let local = at.inverse_transform_point(point);
            if let Some(height) = field.height_at(local.truncate()) {
                // Slopes are below 45 degrees.
                deepest = deepest.max((height - local.z) * 0.7);
            }
        }
    }
    for collider in world.colliders().map(|(_, c)| c).filter(|c| c.body() != id) {
        let Some(mesh) = custom::<TriMesh>(collider.shape()).filter(|m| m.is_closed()) else { continue };
        let pose = collider.world_pose(&world[collider.body()]);
        for point in solids.iter().flat_map(points).map(|p| pose.inverse_transform_point(p)) {
            if mesh.contains(point) {
                deepest =
                    deepest.max(mesh.closest_point(point, f64::INFINITY).map_or(0.0, |near| near.distance));
            }
        }
    }
    deepest
}

/// True if a body is in its room.
pub(crate) fn is_inside(spec: &Spec, world: &World, id: BodyId) -> bool {
    let frame = world.bodies().next().map_or(Pose::IDENTITY, |(_, b)| b.user_pose());
    let center = world[id].center();
    match spec.room {
        Room::Open => true,
        // Planes stand at the sides themselves: their body has no frame of its own.
        Room::Closed(half) if spec.kind == "half-spaces" || spec.ground.is_some() => {
            center.abs().cmple(half).all()
        }
        Room::Closed(half) => frame.inverse_transform_point(center).abs().cmple(half).all(),
        Room::Tube(half) => center.abs().cmple(half).all(),
    }
}

/// Radius of a body, m; infinite if it is not free.
pub(crate) fn size(world: &World, id: BodyId) -> f64 {
    let radius = |c: &ColliderId| world.collider(*c).map_or(0.0, |c| c.extent().radius);
    if world[id].is_free() {
        world[id].colliders().iter().map(radius).fold(0.0, f64::max)
    } else {
        f64::INFINITY
    }
}

/// The worst overlap of all pairs as a share of the smaller body, and who they are; overlaps up to `enough` of it are not looked at closely.
pub(crate) fn worst(spec: &Spec, world: &World, enough: f64) -> (f64, [BodyId; 2]) {
    let all: Vec<(BodyId, Vec<Solid<'_>>)> = world.bodies().map(|(id, _)| (id, pieces(world, id))).collect();
    let mut worst = (f64::NEG_INFINITY, [all[0].0; 2]);
    let mut see = |share: f64, who: [BodyId; 2]| {
        if share > worst.0 || share.is_nan() {
            worst = (share, who);
        }
    };
    for (k, (a, solids)) in all.iter().enumerate() {
        for (b, others) in &all[k + 1..] {
            let least = size(world, *a).min(size(world, *b));
            if !least.is_finite() {
                continue;
            }
            // The free one first: half-spaces are second then.
            let (mine, theirs) = if world[*a].is_free() { (solids, others) } else { (others, solids) };
            for x in mine {
                for y in theirs {
                    see(overlap(x, y, enough * least) / least, [*a, *b]);
                }
            }
        }
        if world[*a].is_free() {
            see(sunk(spec, world, *a, solids) / size(world, *a), [*a; 2]);
        }
    }
    worst
}
