//! No query allocates once shapes and caches exist.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

use collision_narrowphase::{
    Polyhedron,
    cast::{CastParams, Motion, time_of_impact},
    compound::CompoundBuilder,
    contain::contains_point,
    curved::{Curved, curved_distance},
    default_chain,
    gjk::gjk_polyhedra,
    height_field::HeightField,
    intersects,
    lin_canny::lin_canny,
    mesh::TriMesh,
    ray::ray_cast,
    relative::Frame,
    shapes::{Ellipsoid, Frustum},
    vclip::vclip,
};
use sim_math::{
    Pose,
    glam::{DVec2, DVec3},
    testkit::{
        SplitMix64,
        allocations::{CountingAllocator, allocations},
    },
};
use sim_traits::{Capsule, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Ray, Shape, Sphere};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn queries_do_not_allocate() {
    let hulls = [Polyhedron::random(20, 1).unwrap(), Polyhedron::random(200, 2).unwrap()];
    let shapes: Vec<Shape> = vec![
        Sphere::new(0.5).unwrap().into(),
        Capsule::new(0.3, 0.6).unwrap().into(),
        Cuboid::new(DVec3::new(0.4, 0.7, 0.5)).unwrap().into(),
        Cylinder::new(0.5, 0.4).unwrap().into(),
        Ellipsoid::new(DVec3::new(0.3, 0.6, 0.9)).unwrap().into(),
        Frustum::new(0.6, 0.2, 0.5).unwrap().into(),
        Polyhedron::random(30, 3).unwrap().into(),
        HalfSpace::up().into(),
        CompoundBuilder::chair(0.6, 1.0, 0.1).unwrap().build().unwrap().into(),
        TriMesh::torus(0.7, 0.3, 20, 10).unwrap().into(),
        TriMesh::terrain(8, 0.3, |x, y| 0.2 * x * y).unwrap().into(),
        HeightField::new(5, 5, DVec2::splat(0.5), (0..25).map(|k| 0.1 * f64::from(k % 4)).collect(), 1.0)
            .unwrap()
            .into(),
    ];
    let egg = Curved::new(Ellipsoid::new(DVec3::new(0.3, 0.6, 0.9)).unwrap(), 2).unwrap();
    let chain = default_chain();
    let mut random = SplitMix64(1);
    let mut out = Vec::with_capacity(1024);
    let mut cache = PairCache::default();
    for _ in 0..3000 {
        let (a, b) = (&hulls[random.below(2)], &hulls[random.below(2)]);
        let (s, t) = (&shapes[random.below(shapes.len())], &shapes[random.below(shapes.len())]);
        let pose = Pose::new(random.unit_vec3() * random.range(0.2, 3.0), random.unit_quat());
        let frame = Frame::from_pose(&pose);
        let ray = Ray { origin: random.vec3(3.0), direction: random.unit_vec3(), t_max: 10.0 };
        out.clear();
        let (count, ()) = allocations(|| {
            let _ = vclip(a, b, &pose, &mut cache);
            let _ = lin_canny(a, b, &pose, &mut cache);
            let _ = gjk_polyhedra(a, b, &frame, DVec3::ZERO);
            let mut fresh = PairCache::default();
            let _ = curved_distance(&egg, &egg, &pose, &mut fresh);
            let _ = chain.separation(s, t, &pose, &mut fresh);
            let _ = chain.manifolds(s, t, &pose, 0.1, &mut fresh, &mut out);
            let _ = ray_cast(s, &ray);
            let _ = contains_point(s, ray.origin);
            let _ = intersects(s, t, &pose);
            let start = Pose::from_translation(4.0 * pose.translation);
            let motion = Motion::ballistic(start, -3.0 * pose.translation, DVec3::ZERO, DVec3::ONE);
            let _ = time_of_impact(s, &Motion::still(Pose::IDENTITY), t, &motion, &CastParams::until(0.2));
        });
        assert_eq!(count, 0, "{} {}", s.name(), t.name());
    }
}
