//! Where threads come from: they are injected by the application, never started below the facade.

use std::{
    fmt::Debug,
    sync::{Mutex, PoisonError},
};

/// Runs independent pieces of work.
///
/// **Contract.** [`for_each`](Self::for_each) calls `work` exactly once for each index below `n` and returns when all
/// calls have. **Determinism.** The order is free, so a piece of work writes only what is its own; results then
/// do not depend on the executor.
pub trait Executor: Debug + Send + Sync {
    /// Calls `work(0)`, …, `work(n − 1)`, possibly at the same time.
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync));

    /// How many pieces are worth cutting, at least 1.
    fn parallelism(&self) -> usize;
}

/// One after the other, on the calling thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial;

impl Executor for Serial {
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..n).for_each(work);
    }

    fn parallelism(&self) -> usize {
        1
    }
}

/// Most pieces that [`for_each_mut`] cuts: enough for any desktop, and small enough for the stack.
const MAX_PIECES: usize = 64;
/// Fewest items in a piece: below that, handing it to a thread costs more than the work.
const GRAIN: usize = 64;

/// Calls `work(i, &mut items[i])` for every item, cut into contiguous pieces; allocates nothing.
pub fn for_each_mut<T: Send>(
    executor: &dyn Executor,
    items: &mut [T],
    work: &(dyn Fn(usize, &mut T) + Sync),
) {
    let wanted = executor.parallelism().min(items.len() / GRAIN).clamp(1, MAX_PIECES);
    if wanted == 1 {
        return items.iter_mut().enumerate().for_each(|(k, item)| work(k, item));
    }
    let piece_len = items.len().div_ceil(wanted).max(1);
    let count = items.len().div_ceil(piece_len);
    // A lock per piece hands each exclusive slice to whichever thread runs it; it is never contended.
    let mut rest = items;
    let pieces: [Mutex<&mut [T]>; MAX_PIECES] = std::array::from_fn(|_| {
        let cut = piece_len.min(rest.len());
        let (piece, tail) = std::mem::take(&mut rest).split_at_mut(cut);
        rest = tail;
        Mutex::new(piece)
    });
    executor.for_each(count, &|k| {
        let mut piece = pieces[k].lock().unwrap_or_else(PoisonError::into_inner);
        for (offset, item) in piece.iter_mut().enumerate() {
            work(k * piece_len + offset, item);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Backwards(usize);

    impl Executor for Backwards {
        fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..n).rev().for_each(work);
        }

        fn parallelism(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn every_item_is_visited_once_with_its_own_index() {
        for n in [0, 1, 2, 63, 64, 65, 1000] {
            for pieces in [0, 1, 3, 64, 1000] {
                let mut items = vec![0_usize; n];
                for_each_mut(&Backwards(pieces), &mut items, &|i, item| *item += i + 1);
                for_each_mut(&Backwards(pieces), &mut items, &|i, item| *item += i + 1);
                assert!(items.iter().enumerate().all(|(i, &x)| x == 2 * i + 2), "{n} items, {pieces} pieces");
            }
        }
    }
}
