//! Conformance of [`Executor`]s: every index once, all done on return, jobs within jobs and from several threads.

use crate::{Executor, for_each_mut};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// How much to try.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Rounds of each size.
    pub rounds: u32,
    /// Most pieces of a job.
    pub most: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { rounds: 20, most: 300 }
    }
}

/// Runs the kit; the first violation as text.
///
/// # Errors
/// What the executor did wrong.
pub fn conformance(executor: &dyn Executor, effort: &Effort) -> Result<(), String> {
    if executor.parallelism() == 0 {
        return Err("parallelism is 0, and must be at least 1".into());
    }
    for round in 0..effort.rounds {
        for n in [0, 1, 2, 3, 7, 64, effort.most] {
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            let outside = AtomicUsize::new(0);
            executor.for_each(n, &|k| match seen.get(k) {
                Some(count) => _ = count.fetch_add(1, Ordering::Relaxed),
                None => _ = outside.fetch_add(1, Ordering::Relaxed),
            });
            // Read without waiting: a call that comes later is a violation too.
            let wrong = seen.iter().map(|c| c.load(Ordering::Relaxed)).enumerate().find(|(_, c)| *c != 1);
            if let Some((k, count)) = wrong {
                return Err(format!("round {round}: {n} pieces, piece {k} was called {count} times"));
            }
            if outside.into_inner() > 0 {
                return Err(format!("round {round}: {n} pieces, and an index beyond them"));
            }
        }
    }
    for_each_mut_is_serial(executor, effort)?;
    nested(executor, effort)
}

/// Items that each piece of work owns come out as on one thread.
fn for_each_mut_is_serial(executor: &dyn Executor, effort: &Effort) -> Result<(), String> {
    let mut items: Vec<usize> = (0..64 * effort.most).collect();
    for_each_mut(executor, &mut items, &|k, item| *item = 3 * *item + k);
    match items.iter().enumerate().find(|(k, item)| **item != 4 * k) {
        Some((k, item)) => Err(format!("item {k} came out as {item}, not {}", 4 * k)),
        None => Ok(()),
    }
}

/// Jobs within jobs, and from several threads at a time, all end.
fn nested(executor: &dyn Executor, effort: &Effort) -> Result<(), String> {
    let sum = AtomicUsize::new(0);
    let job = || {
        executor.for_each(5, &|_| {
            executor.for_each(5, &|k| {
                sum.fetch_add(k, Ordering::Relaxed);
            });
        });
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..effort.rounds).for_each(|_| job()));
        }
    });
    let (found, expected) = (sum.into_inner(), 3 * effort.rounds as usize * 5 * 10);
    if found == expected {
        Ok(())
    } else {
        Err(format!("jobs within jobs: the sum is {found}, not {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Way {
        Backwards,
        // Wrong in one way each; the kit must see every one of them.
        SkipsTheLast,
        CallsTwice,
        OneTooMany,
        NoThreads,
    }

    impl Executor for Way {
        fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            match self {
                Self::SkipsTheLast => (0..n.saturating_sub(1)).for_each(work),
                Self::CallsTwice if n > 0 => (0..n).chain([0]).for_each(work),
                Self::OneTooMany => (0..=n).for_each(work),
                _ => (0..n).rev().for_each(work),
            }
        }

        fn parallelism(&self) -> usize {
            if *self == Self::NoThreads { 0 } else { 3 }
        }
    }

    #[test]
    fn right_executors_pass_and_wrong_ones_do_not() {
        assert_eq!(conformance(&Serial, &Effort::default()), Ok(()));
        assert_eq!(conformance(&Way::Backwards, &Effort::default()), Ok(()));
        for wrong in [Way::SkipsTheLast, Way::CallsTwice, Way::OneTooMany, Way::NoThreads] {
            assert!(conformance(&wrong, &Effort::default()).is_err(), "{wrong:?}");
        }
    }
}
