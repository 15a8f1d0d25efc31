//! Threads for the parallel phases of a simulation.

use sim_traits::Executor;
use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Threads that live for one parallel phase; the calling thread works too. Starting one costs some ten microseconds, so it
/// pays from about a thousand bodies on. Results do not depend on their number, bit for bit.
///
/// ```
/// use sim_core::{Threads, prelude::*};
///
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// for k in 0..100 {
///     world.add(Body::free().shape(Sphere::new(0.1)?).at([f64::from(k), 0.0, 0.0]))?;
/// }
/// let mut sim = Simulation::builder(world).executor(Threads::new(2)).build()?;
/// sim.advance(0.1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    count: NonZeroUsize,
}

impl Threads {
    /// So many threads, the calling one included; none counts as one.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { count: NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN) }
    }

    /// As many as the machine runs at the same time.
    #[must_use]
    pub fn available() -> Self {
        Self { count: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN) }
    }
}

impl Executor for Threads {
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        let helpers = self.count.get().min(n).saturating_sub(1);
        if helpers == 0 {
            return (0..n).for_each(work);
        }
        let next = AtomicUsize::new(0);
        let help = || {
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                if k >= n {
                    break;
                }
                work(k);
            }
        };
        thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(help);
            }
            help();
        });
    }

    fn parallelism(&self) -> usize {
        self.count.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_index_is_worked_on_once_and_two_threads_really_work_at_the_same_time() {
        for (threads, n) in [(0, 5), (1, 7), (2, 0), (2, 1), (3, 100)] {
            let seen = Mutex::new(vec![0; n]);
            Threads::new(threads).for_each(n, &|k| seen.lock().unwrap()[k] += 1);
            assert!(seen.into_inner().unwrap().iter().all(|&c| c == 1), "{threads} threads, {n} pieces");
        }
        // Each piece waits for the other: on one thread this would never end.
        let barrier = std::sync::Barrier::new(2);
        Threads::new(2).for_each(2, &|_| {
            barrier.wait();
        });
        assert!(Threads::available().parallelism() >= 1 && Threads::new(0).parallelism() == 1);
    }
}
