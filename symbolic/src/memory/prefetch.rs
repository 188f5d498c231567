//! Prefetching of list items.
//!
//! A diagram is far larger than the processor's caches, and a step follows references. Without
//! prefetching most of its time is spent waiting for memory. The intrinsic is unsafe.
#![allow(unsafe_code)]

/// Prefetches the cache line of an item. Does nothing if there is no such item.
#[inline(always)]
pub(crate) fn prefetch<T>(list: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = list.as_ptr().wrapping_add(at);
        // SAFETY: a prefetch reads nothing and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, at);
}
