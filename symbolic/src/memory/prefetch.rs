//! Prefetch.
#![allow(unsafe_code)]

/// Asks for the line of an item. Nothing happens if there is no such item.
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
