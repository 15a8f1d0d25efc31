//! Threads for the parallel phases of a simulation.
//!
//! # Reference
//!
//! A gate that helpers pass by compare-and-swap, after the worker pools of Cilk and Rayon; own.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | job | one call of `for_each` |
//! | gate | number of the job, how many helpers have come in, whether it is open |
//!
//! # Formula
//!
//! ```text
//! caller:  puts the job down, opens the gate, works, closes it, waits for those who came in
//! helper:  spins at the gate, then sleeps; comes in if it is open, works, goes out
//! ```
//!
//! A helper that is late finds the gate closed: nobody waits for it, so that more threads than processors do no harm.
//!
//! # Cost
//!
//! About a microsecond per job while helpers spin; some ten to wake one that sleeps, which the caller does not wait for. No allocation.
//!
//! # Numerics
//!
//! None: which thread does a piece of work is left to chance, what comes out is not.
//!
//! # Failure
//!
//! A panic in a piece of work goes on in the caller, when all that run are through. A job within a job, or from a second thread at the same time, is done by
//! the thread that asks. Where the system gives no thread there is one helper less.
//!
//! # Tested by
//!
//! `every_index_is_worked_on_once_and_two_threads_really_work_at_the_same_time`, `a_panic_reaches_the_caller_and_the_pool_goes_on`,
//! `jobs_within_jobs_and_from_many_threads_end`, `sleepers_wake_up_and_more_threads_than_processors_do_no_harm`
#![allow(
    unsafe_code,
    reason = "helpers use a borrowed closure: the gate says how long, which the compiler cannot see"
)]

use sim_traits::Executor;
use std::{
    any::Any,
    cell::UnsafeCell,
    fmt,
    hint::spin_loop,
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

/// Threads that wait for parallel phases; the calling thread works too. They start with the first one, spin for a fraction of a millisecond between
/// two, and sleep after that. Results do not depend on their number, bit for bit.
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
pub struct Threads {
    count: NonZeroUsize,
    pool: Arc<Pool>,
    helpers: OnceLock<Vec<JoinHandle<()>>>,
}

/// The gate is open.
const OPEN: u64 = 1;
/// One helper has come in.
const ONE: u64 = 2;
/// Where the number of the job begins.
const JOB: u64 = 1 << 16;
/// How often a helper looks at the gate before it sleeps.
const PATIENCE: u32 = 60_000;
/// How often anyone looks before it lets others have the processor.
const POLITE: u32 = 256;

type Work = *const (dyn Fn(usize) + Sync);

/// What caller and helpers share.
struct Pool {
    gate: AtomicU64,
    /// Helpers that have gone out again.
    done: AtomicU64,
    /// The job: pieces, and how many. Written while the gate is closed and nobody is in.
    job: UnsafeCell<Option<(Work, usize)>>,
    /// Of each thread: how many of its pieces are taken. Piece k belongs to thread k modulo their number, so that in every job of a kind a thread meets the
    /// data that it has at hand; who is through takes those of others.
    taken: Box<[AtomicUsize]>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    busy: AtomicBool,
    stop: AtomicBool,
    sleepers: AtomicUsize,
    resting: Mutex<()>,
    wake_up: Condvar,
}

// SAFETY: `job` is written by the one caller that holds `busy`, while the gate is closed and all helpers that came in have gone out; helpers read it only
// between coming in and going out. The closure that it points to can be called from any thread, and the caller keeps it alive until all have gone out.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// Counts looks, and is polite.
fn look_again(looks: &mut u32) {
    *looks += 1;
    if *looks % POLITE == 0 { thread::yield_now() } else { spin_loop() }
}

impl Pool {
    fn resting(&self) -> MutexGuard<'_, ()> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on pieces until none is left, or one panics.
    fn work(&self, thread: usize, work: &(dyn Fn(usize) + Sync), n: usize) {
        let (others, own) = self.taken.split_at(thread);
        let threads = self.taken.len();
        let all = || {
            for (owner, taken) in (thread..).zip(own).chain((0..).zip(others)) {
                loop {
                    let k = owner + threads * taken.fetch_add(1, Ordering::Relaxed);
                    if k >= n {
                        break;
                    }
                    work(k);
                }
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(all)) {
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
    }

    /// What a helper does all its life.
    fn help(&self, thread: usize) {
        let (mut last, mut looks) = (0, 0);
        while !self.stop.load(Ordering::Relaxed) {
            let gate = self.gate.load(Ordering::Acquire);
            if gate & OPEN == 0 || gate / JOB == last {
                look_again(&mut looks);
                if looks >= PATIENCE {
                    self.sleep(last);
                    looks = 0;
                }
                continue;
            }
            looks = 0;
            if self.gate.compare_exchange(gate, gate + ONE, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                last = gate / JOB;
                // SAFETY: it has come in, so that the job stays as it is until it goes out.
                if let Some((work, n)) = unsafe { *self.job.get() } {
                    // SAFETY: the caller keeps the closure until all have gone out.
                    self.work(thread, unsafe { &*work }, n);
                }
                self.done.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// Sleeps until there is another job than `last`, or the end.
    fn sleep(&self, last: u64) {
        let mut resting = self.resting();
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        loop {
            let gate = self.gate.load(Ordering::SeqCst);
            if (gate & OPEN != 0 && gate / JOB != last) || self.stop.load(Ordering::SeqCst) {
                break;
            }
            resting = self.wake_up.wait(resting).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _guard = self.resting();
            self.wake_up.notify_all();
        }
    }

    /// Does a job together with the helpers; the caller holds `busy`.
    fn run(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        // SAFETY: only the lifetime changes, and no helper uses it beyond the end of this function.
        let lasting: Work = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Work>(work) };
        // SAFETY: the gate is closed, nobody is in, and this is the only caller.
        unsafe { *self.job.get() = Some((lasting, n)) };
        self.taken.iter().for_each(|taken| taken.store(0, Ordering::Relaxed));
        self.done.store(0, Ordering::Relaxed);
        let job = self.gate.load(Ordering::Relaxed) / JOB + 1;
        self.gate.store(job.wrapping_mul(JOB) | OPEN, Ordering::SeqCst);
        self.wake();
        self.work(0, work, n);
        let gate = self.gate.fetch_and(!OPEN, Ordering::AcqRel);
        let inside = gate % JOB / ONE;
        let mut looks = 0;
        while self.done.load(Ordering::Acquire) < inside {
            look_again(&mut looks);
        }
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.busy.store(false, Ordering::Release);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Threads {
    /// So many threads, the calling one included; none counts as one.
    #[must_use]
    pub fn new(count: usize) -> Self {
        // The gate counts no more.
        let count = NonZeroUsize::new(count.min(1 << 14)).unwrap_or(NonZeroUsize::MIN);
        let pool = Pool {
            gate: AtomicU64::new(0),
            done: AtomicU64::new(0),
            job: UnsafeCell::new(None),
            taken: (0..count.get()).map(|_| AtomicUsize::new(0)).collect(),
            panic: Mutex::new(None),
            busy: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            resting: Mutex::new(()),
            wake_up: Condvar::new(),
        };
        Self { count, pool: Arc::new(pool), helpers: OnceLock::new() }
    }

    /// As many as the machine runs at the same time.
    #[must_use]
    pub fn available() -> Self {
        Self::new(thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }

    /// The helpers, started when they are needed first.
    fn start(&self) {
        self.helpers.get_or_init(|| {
            let helper = |thread| {
                let pool = Arc::clone(&self.pool);
                thread::Builder::new().name("simulation".to_owned()).spawn(move || pool.help(thread)).ok()
            };
            (1..self.count.get()).filter_map(helper).collect()
        });
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.pool.stop.store(true, Ordering::SeqCst);
        self.pool.wake();
        for helper in self.helpers.take().into_iter().flatten() {
            // A helper catches what its work panics with.
            let _ = helper.join();
        }
    }
}

impl Executor for Threads {
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        let alone = self.count.get() == 1 || n <= 1;
        if alone || self.pool.busy.swap(true, Ordering::Acquire) {
            return (0..n).for_each(work);
        }
        self.start();
        self.pool.run(n, work);
    }

    fn parallelism(&self) -> usize {
        self.count.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn counts(threads: &Threads, n: usize) -> bool {
        let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        threads.for_each(n, &|k| {
            seen[k].fetch_add(1, Ordering::Relaxed);
        });
        seen.iter().all(|c| c.load(Ordering::Relaxed) == 1)
    }

    #[test]
    fn every_index_is_worked_on_once_and_two_threads_really_work_at_the_same_time() {
        for (threads, n) in [(0, 5), (1, 7), (2, 0), (2, 1), (3, 100)] {
            let threads = Threads::new(threads);
            for _ in 0..200 {
                assert!(counts(&threads, n), "{threads:?}, {n} pieces");
            }
        }
        // Each piece waits for the other: on one thread this would never end.
        let barrier = std::sync::Barrier::new(2);
        Threads::new(2).for_each(2, &|_| {
            barrier.wait();
        });
        assert!(Threads::available().parallelism() >= 1 && Threads::new(0).parallelism() == 1);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let threads = Threads::new(3);
        for bad in [0, 7, 19] {
            let attempt = catch_unwind(AssertUnwindSafe(|| {
                threads.for_each(20, &|k| assert!(k != bad, "piece {k}"));
            }));
            let message = attempt.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(*message, format!("piece {bad}"));
            assert!(counts(&threads, 50));
        }
    }

    #[test]
    fn jobs_within_jobs_and_from_many_threads_end() {
        let threads = Threads::new(2);
        let sum = AtomicUsize::new(0);
        threads.for_each(10, &|_| {
            threads.for_each(10, &|k| {
                sum.fetch_add(k, Ordering::Relaxed);
            });
        });
        assert_eq!(sum.into_inner(), 450);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|n| assert!(counts(&threads, n % 9))));
            }
        });
    }

    #[test]
    fn sleepers_wake_up_and_more_threads_than_processors_do_no_harm() {
        for count in [2, 16] {
            let threads = Threads::new(count);
            for _ in 0..2000 {
                assert!(counts(&threads, 8));
            }
            let barrier = std::sync::Barrier::new(2);
            for _ in 0..3 {
                // Long enough for every helper to lose its patience.
                thread::sleep(Duration::from_millis(50));
                threads.for_each(2, &|_| {
                    barrier.wait();
                });
            }
            // Dropped while helpers spin, and while they sleep.
            if count == 2 {
                thread::sleep(Duration::from_millis(50));
            }
        }
        drop(Threads::new(4));
    }
}
