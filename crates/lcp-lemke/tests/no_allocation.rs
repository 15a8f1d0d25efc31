//! Solves after construction must not allocate.

use lcp_lemke::families::{Family, OwnedLcp};
use lcp_lemke::{Driver, DriverParams, LcpSolver, LemkeParams, LemkeWorkspace, Start, lemke};
use sim_math::testkit::SplitMix64;
use sim_math::testkit::allocations::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn problems(n: usize) -> Vec<OwnedLcp> {
    let mut random = SplitMix64(80);
    let families = Family::WELL_SCALED.into_iter().chain(Family::BADLY_SCALED).chain([Family::Infeasible]);
    families
        .flat_map(|family| (0..4).map(|_| family.draw(1 + random.below(n), &mut random)).collect::<Vec<_>>())
        .collect()
}

#[test]
fn a_reserved_solver_does_not_allocate() {
    let problems = problems(30);
    let mut driver = Driver::default();
    let mut warm = Driver::default();
    let mut warm_params = DriverParams::default();
    warm_params.warm_start = true;
    warm.params = warm_params;
    let mut ws = LemkeWorkspace::with_capacity(40);
    driver.reserve(40);
    warm.reserve(40);
    let mut z = vec![0.0; 40];
    let mut solved = 0;
    let (count, ()) = allocations(|| {
        for p in &problems {
            let Ok(problem) = p.problem() else { continue };
            let z = &mut z[..p.q.len()];
            solved += u32::from(driver.run(&problem, z).is_ok());
            solved += u32::from(warm.solve(&problem, z).is_ok());
            solved += u32::from(warm.solve(&problem, z).is_ok());
            solved += u32::from(lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, z).is_ok());
        }
    });
    assert_eq!(count, 0, "allocations in {solved} solves");
    assert!(solved > 4 * 50);
}
