//! What has its memory asks for no more: factorisations, tree queries, integrators and spatial operations.

use sim_math::{
    Aabb, Pose, Sym3,
    box_tree::BoxTree,
    dense::{Cholesky, Ldlt, Lu, Matrix, Svd},
    glam::DVec3,
    integrate::{Abort, DormandPrince, Integrator, OdeScratch, OdeSystem, Rk4, StepDoubling},
    spatial::{Motion, RigidInertia, SpatialTransform},
    testkit::{
        SplitMix64,
        allocations::{CountingAllocator, allocations},
    },
};
use std::ops::ControlFlow;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn factoring_again_and_solving_allocate_nothing() {
    let mut random = SplitMix64(1);
    let n = 24;
    let root = Matrix::from_fn(n, n, |_, _| random.range(-1.0, 1.0));
    let a = Matrix::from_fn(n, n, |i, j| {
        let product: f64 = (0..n).map(|k| root[(i, k)] * root[(j, k)]).sum();
        product + f64::from(u8::from(i == j))
    });
    let (mut lu, mut cholesky, mut ldlt, mut svd) =
        (Lu::default(), Cholesky::default(), Ldlt::default(), Svd::default());
    let (b, mut x) = (vec![1.0; n], vec![0.0; n]);
    let mut round = || {
        lu.factor(a.as_ref()).unwrap();
        lu.solve(&b, &mut x).unwrap();
        cholesky.factor(a.as_ref()).unwrap();
        cholesky.solve(&b, &mut x).unwrap();
        ldlt.factor(a.as_ref()).unwrap();
        ldlt.solve(&b, &mut x).unwrap();
        svd.factor(a.as_ref()).unwrap();
    };
    round();
    assert_eq!(allocations(&mut round).0, 0);
}

#[test]
fn tree_queries_and_refits_allocate_nothing() {
    let mut random = SplitMix64(2);
    let boxes: Vec<Aabb> =
        (0..500).map(|_| Aabb::from_center_half_extents(random.vec3(10.0), random.vec3(0.5))).collect();
    let mut tree = BoxTree::build(&boxes).unwrap();
    let mut found = 0;
    let (count, ()) = allocations(|| {
        let _ = tree.visit_overlaps(&boxes[7], |_| {
            found += 1;
            ControlFlow::Continue(())
        });
        let _ = tree.visit_pairs(|_, _| {
            found += 1;
            ControlFlow::Continue(())
        });
        tree.refit_all(|item| boxes[item as usize].grown(0.1)).unwrap();
    });
    assert!(found > 0);
    assert_eq!(count, 0);
}

struct Oscillator;

impl OdeSystem for Oscillator {
    fn dim(&self) -> usize {
        2
    }

    fn derivative(&mut self, _: f64, y: &[f64], slope: &mut [f64]) -> Result<(), Abort> {
        (slope[0], slope[1]) = (y[1], -y[0]);
        Ok(())
    }
}

#[test]
fn integrators_with_their_scratch_allocate_nothing() {
    let integrators: [&dyn Integrator; 3] = [&Rk4, &StepDoubling::default(), &DormandPrince::default()];
    for integrator in integrators {
        let mut scratch = OdeScratch::new(integrator, 2);
        let mut y = [1.0, 0.0];
        let run = || integrator.advance(&mut Oscillator, 0.0, 1.0, &mut y, &mut scratch).unwrap();
        assert_eq!(allocations(run).0, 0, "{integrator:?}");
    }
}

#[test]
fn spatial_operations_allocate_nothing() {
    let mut random = SplitMix64(3);
    let tensor = Sym3::from_diagonal(DVec3::new(1.0, 2.0, 2.5));
    let inertia = RigidInertia::new(2.0, random.vec3(1.0), tensor).unwrap();
    let transform = SpatialTransform::from_pose(&Pose::new(random.vec3(1.0), random.unit_quat()));
    let motion = Motion::new(random.vec3(1.0), random.vec3(1.0));
    let (count, power) = allocations(|| {
        let moved = transform.motion(motion);
        transform.rigid_inertia(&inertia).mul_motion(moved).dot(moved)
    });
    assert!(power > 0.0);
    assert_eq!(count, 0);
}
