//! A slice that tiles of one section write side by side.

use std::marker::PhantomData;
use std::ops::Range;

/// A mutable slice whose parts are handed to several threads. Which parts is the caller's promise.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: hands out `&mut T` of disjoint parts (the promise of `range`'s caller), so it moves T's between threads.
unsafe impl<T: Send> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Shared { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// The part `range`; panics if it isn't inside the slice.
    ///
    /// # Safety
    /// No other reference to an element of `range` may live at the same time.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
        // SAFETY: inside the slice; not aliased by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }

    /// The `tile`-th part of `size` elements; the last may be shorter.
    ///
    /// # Safety
    /// As [`Self::range`].
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn tile(&self, tile: usize, size: usize) -> &mut [T] {
        // SAFETY: the caller's promise.
        unsafe { self.range((tile * size).min(self.len)..((tile + 1) * size).min(self.len)) }
    }

    /// Element `index`; panics if there is none.
    ///
    /// # Safety
    /// As [`Self::range`].
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn at(&self, index: usize) -> &mut T {
        assert!(index < self.len);
        // SAFETY: inside the slice; not aliased by the caller's promise.
        unsafe { &mut *self.start.add(index) }
    }
}
