//! A slice whose items several threads use at the same time, each its own.
#![allow(
    unsafe_code,
    reason = "colours and domains say which items a thread may use, and that is beyond what the compiler can see"
)]

use super::lane::Slot;
use std::{marker::PhantomData, ops::Range};

/// A slice that is lent out item by item.
#[derive(Debug)]
pub(super) struct Shelf<'a, T> {
    first: *mut T,
    len: usize,
    of: PhantomData<&'a mut [T]>,
}

// SAFETY: it is an exclusive borrow of the slice, cut up by the promises that its users give.
unsafe impl<T: Send> Send for Shelf<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shelf<'_, T> {}

impl<'a, T> Shelf<'a, T> {
    pub(super) fn new(items: &'a mut [T]) -> Self {
        Self { first: items.as_mut_ptr(), len: items.len(), of: PhantomData }
    }

    /// An item.
    ///
    /// # Safety
    /// Nobody writes it as long as the borrow lasts.
    #[inline(always)]
    pub(super) unsafe fn get(&self, k: usize) -> &T {
        assert!(k < self.len, "item {k} of {}", self.len);
        // SAFETY: within the slice; the caller promises the rest.
        unsafe { &*self.first.add(k) }
    }

    /// An item, to be written.
    ///
    /// # Safety
    /// Nobody else uses it as long as the borrow lasts.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each item has one user, as the caller promises")]
    pub(super) unsafe fn get_mut(&self, k: usize) -> &mut T {
        assert!(k < self.len, "item {k} of {}", self.len);
        // SAFETY: within the slice; the caller promises the rest.
        unsafe { &mut *self.first.add(k) }
    }
}

impl Shelf<'_, Slot> {
    /// The numbers of several items in one row, which compilers can do most with, to be written.
    ///
    /// # Safety
    /// Nobody else uses them as long as the borrow lasts.
    #[allow(clippy::mut_from_ref, reason = "each item has one user, as the caller promises")]
    pub(super) unsafe fn numbers_mut(&self, range: Range<usize>) -> &mut [f64] {
        assert!(range.start <= range.end && range.end <= self.len, "items {range:?} of {}", self.len);
        // SAFETY: within the slice, of which an item is eight numbers and nothing else; the caller promises the rest.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(range.start).cast(), 8 * range.len()) }
    }
}
