//! Parts that are played at the same time and wait for each other, by however many threads there are.
//!
//! # Reference
//!
//! Own. A part is a coroutine: it says where it has to wait for the others, and whoever has nothing else to do plays on.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | part | work in a fixed order that waits for other parts at some points |
//!
//! # Formula
//!
//! ```text
//! thread k:  takes part k and keeps it to its end; while that waits, plays parts that nobody has taken, until they wait
//! ```
//!
//! Each part has a thread of its own where there are enough, and stays with it, so that it finds its data in that thread's cache. A thread that is late, or never
//! comes, holds nobody up: its part is played by the others until it comes.
//!
//! # Cost
//!
//! One uncontended lock per part.
//!
//! # Numerics
//!
//! None.
//!
//! # Failure
//!
//! A panic ends all parts, and goes on in the caller. Parts that wait for each other in a circle never end.
//!
//! # Tested by
//!
//! `parts_are_played_to_the_end_by_any_number_of_threads`, `a_panic_ends_all_parts`

use sim_traits::Executor;
use std::{
    hint::spin_loop,
    sync::{Mutex, TryLockError},
    thread,
};

/// How often a thread looks before it lets others have the processor.
const POLITE: u32 = 256;
/// After how many looks a thread looks for parts that nobody plays.
const HELPFUL: u32 = 8;

/// Plays all parts to their ends. `advance` plays one until it waits or ends; true if it has ended, and so again if asked again.
pub(super) fn play<P: Send>(
    executor: &dyn Executor,
    parts: &[Mutex<P>],
    advance: &(dyn Fn(&mut P) -> bool + Sync),
) {
    executor.for_each(parts.len(), &|own| {
        let (mut kept, mut looks) = (None, 0_u32);
        loop {
            if kept.is_none() {
                kept = match parts[own].try_lock() {
                    Ok(part) => Some(part),
                    Err(TryLockError::WouldBlock) => None,
                    Err(TryLockError::Poisoned(_)) => return,
                };
            }
            if kept.as_deref_mut().is_some_and(advance) {
                return;
            }
            if looks % HELPFUL == 0 {
                for part in parts {
                    match part.try_lock() {
                        Ok(mut part) => drop(advance(&mut part)),
                        Err(TryLockError::WouldBlock) => {}
                        Err(TryLockError::Poisoned(_)) => return,
                    }
                }
            }
            looks += 1;
            if looks % POLITE == 0 { thread::yield_now() } else { spin_loop() }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::Serial;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering},
    };

    /// As many threads as pieces, those below a number late.
    #[derive(Debug)]
    struct Late(usize);

    impl Executor for Late {
        fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            thread::scope(|scope| {
                for k in 0..n {
                    scope.spawn(move || {
                        if k < self.0 {
                            thread::sleep(std::time::Duration::from_millis(2));
                        }
                        work(k);
                    });
                }
            });
        }

        fn parallelism(&self) -> usize {
            4
        }
    }

    /// Parts that may be at most one step ahead of the slowest; `fault`: the part and step that panics.
    fn race(executor: &dyn Executor, count: usize, fault: Option<[usize; 2]>) -> Vec<usize> {
        let reached: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
        let parts: Vec<_> = (0..count).map(|k| Mutex::new([k, 0])).collect();
        play(executor, &parts, &|part: &mut [usize; 2]| {
            while part[1] < 500 {
                if reached.iter().any(|other| other.load(Ordering::Acquire) < part[1]) {
                    return false;
                }
                assert!(Some(*part) != fault, "the fault");
                part[1] += 1;
                assert_eq!(reached[part[0]].fetch_add(1, Ordering::Release) + 1, part[1], "each step once");
            }
            true
        });
        reached.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn parts_are_played_to_the_end_by_any_number_of_threads() {
        for count in [1, 2, 4] {
            for executor in [&Serial as &dyn Executor, &Late(0), &Late(1), &Late(3)] {
                assert_eq!(race(executor, count, None), vec![500; count], "{executor:?}, {count} parts");
            }
        }
    }

    #[test]
    fn a_panic_ends_all_parts() {
        for executor in [&Serial as &dyn Executor, &Late(0), &Late(2)] {
            let attempt = catch_unwind(AssertUnwindSafe(|| race(executor, 3, Some([1, 250]))));
            assert!(attempt.is_err(), "{executor:?}");
        }
    }
}
