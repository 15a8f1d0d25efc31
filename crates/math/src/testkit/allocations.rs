//! Counting allocations, for tests of the promise that a warmed-up routine makes none.
//!
//! ```
//! use sim_math::testkit::allocations::{CountingAllocator, allocations};
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! assert_eq!(allocations(|| 1 + 1).0, 0);
//! assert_eq!(allocations(|| vec![1, 2, 3]).0, 1);
//! ```
#![allow(unsafe_code, reason = "an allocator is an unsafe trait; this one only counts and passes on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting for each thread apart. Make it the `#[global_allocator]` of a test program.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Allocations on this thread so far. Always 0 unless [`CountingAllocator`] is in charge.
#[must_use]
pub fn count() -> u64 {
    COUNT.with(Cell::get)
}

/// How often `work` allocated on this thread, and its result.
pub fn allocations<R>(work: impl FnOnce() -> R) -> (u64, R) {
    let before = count();
    let result = work();
    (count() - before, result)
}
