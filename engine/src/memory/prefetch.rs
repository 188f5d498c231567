//! Prefetches: the processor loads cache lines while the program goes on.
//!
//! The instruction is unsafe only because it takes a pointer.
#![allow(unsafe_code)]

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches the cache line of an item. Does nothing if there is no such item.
#[inline(always)]
pub fn prefetch<T>(list: &[T], at: usize) {
    prefetch_line(list.as_ptr().wrapping_add(at).cast());
}

/// Prefetches all cache lines of a slice.
#[inline(always)]
pub fn prefetch_all<T>(slice: &[T]) {
    for offset in (0..size_of_val(slice)).step_by(LINE) {
        prefetch_line(slice.as_ptr().cast::<u8>().wrapping_add(offset));
    }
}

#[inline(always)]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefetching_any_address_is_safe() {
        let list = [1_u64, 2, 3];
        for at in [0, 2, 3, 1 << 40, usize::MAX] {
            prefetch(&list, at);
        }
        prefetch_all(&list);
        prefetch_all::<u64>(&[]);
        assert_eq!(list, [1, 2, 3]);
    }
}
