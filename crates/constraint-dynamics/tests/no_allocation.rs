//! Assembly and solution of contacts that were seen before must not allocate.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    ConeGaussSeidel, Delassus, Greedy, Islands, PoolBody, PoolContact,
    pool::{PoolWorkspace, assemble},
};
use sim_math::{
    glam::{DMat3, DVec3},
    rotation::frame_from_normal,
    spatial::Motion,
    testkit::{
        SplitMix64,
        allocations::{CountingAllocator, allocations},
    },
};
use sim_traits::RowSolver;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// proves: CLI-64
#[test]
fn the_pool_assembles_without_allocation() {
    let mut random = SplitMix64(2);
    let bodies: Vec<PoolBody> = (0..20)
        .map(|_| PoolBody {
            center: random.vec3(1.0),
            inverse_mass: 1.0,
            inverse_inertia: DMat3::IDENTITY,
            velocity: Motion::new(DVec3::ZERO, DVec3::NEG_Z),
        })
        .collect();
    let contacts: Vec<PoolContact> = (0..40)
        .map(|k| PoolContact {
            bodies: [k % 20, if k < 20 { u32::MAX } else { (k + 1) % 20 }],
            point: bodies[k as usize % 20].center + random.vec3(0.2),
            frame: frame_from_normal(DVec3::Z).unwrap(),
            friction: 0.5,
            bias: DVec3::ZERO,
        })
        .collect();
    let (mut workspace, mut problem, mut islands) =
        (PoolWorkspace::default(), Delassus::default(), Islands::default());
    let (mut cone, mut greedy) = (ConeGaussSeidel::default(), Greedy::default());
    let mut p = vec![DVec3::ZERO; contacts.len()];
    let mut run = || {
        assemble(&bodies, &contacts, &mut workspace, &mut problem);
        islands.find(bodies.len(), contacts.iter().map(|c| c.bodies), |_| true);
        p.fill(DVec3::ZERO);
        let problem = problem.problem().unwrap();
        let _ = cone.solve(&problem, &mut p);
        p.fill(DVec3::ZERO);
        let _ = greedy.solve(&problem, &mut p);
    };
    run();
    let (count, ()) = allocations(run);
    assert_eq!(count, 0);
}
