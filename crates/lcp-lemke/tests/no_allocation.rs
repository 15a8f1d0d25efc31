//! Solves after construction must not allocate.
#![allow(unsafe_code, reason = "counting allocations needs a global allocator")]

use lcp_lemke::families::{Family, OwnedLcp};
use lcp_lemke::{Driver, DriverParams, LcpSolver, LemkeParams, LemkeWorkspace, Start, lemke};
use sim_math::testkit::SplitMix64;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: as for the system allocator.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as for the system allocator.
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
    let before = COUNT.with(Cell::get);
    let mut solved = 0;
    for p in &problems {
        let Ok(problem) = p.problem() else { continue };
        let z = &mut z[..p.q.len()];
        solved += u32::from(driver.run(&problem, z).is_ok());
        solved += u32::from(warm.solve(&problem, z).is_ok());
        solved += u32::from(warm.solve(&problem, z).is_ok());
        solved += u32::from(lemke(&problem, &LemkeParams::default(), Start::Cold, &mut ws, z).is_ok());
    }
    let after = COUNT.with(Cell::get);
    assert_eq!(after - before, 0, "allocations in {solved} solves");
    assert!(solved > 4 * 50);
}
