//! Memory: asking for it ahead of its use, and for large pages.
//!
//! A diagram is far larger than the processor's caches, and a step goes from node to node: without
//! this it spends more of its time waiting for one line after the other, and for the tables of pages.
//! There is no safe way to ask.
#![allow(unsafe_code)]

/// So many bytes at the beginning of a list are in small pages: small diagrams stay small.
#[cfg(target_os = "linux")]
const SMALL: usize = 1 << 22;

/// Bytes of a small page.
#[cfg(target_os = "linux")]
const PAGE: usize = 1 << 12;

/// Makes room for so many bytes in all, so that the list stays where it is when it grows. What is not
/// used takes no memory: if the system will not promise as much, the list grows as lists do.
pub(crate) fn promise<T>(list: &mut Vec<T>, bytes: usize) {
    let items = (bytes / size_of::<T>()).saturating_sub(list.len());
    if list.try_reserve_exact(items).is_ok() {
        take_large_pages(list);
    }
}

/// Asks that a list be in large pages when it has grown to them.
#[cfg(target_os = "linux")]
fn take_large_pages<T>(list: &mut Vec<T>) {
    use rustix::mm::{Advice, madvise};
    let bytes = list.capacity() * size_of::<T>();
    let before = list.as_ptr().addr() % PAGE;
    let Some(large) = bytes.checked_sub(SMALL + PAGE) else { return };
    let begin = list.as_mut_ptr().wrapping_byte_add(SMALL - before);
    // SAFETY: whole pages of the list, the first of them after its beginning, the last before its
    // end; and the advice does not change what is in them.
    let advised = unsafe { madvise(begin.cast(), large & !(PAGE - 1), Advice::LinuxHugepage) };
    // Without large pages it is slower, and no more.
    let _ = advised;
}

#[cfg(not(target_os = "linux"))]
fn take_large_pages<T>(_: &mut Vec<T>) {}

/// Makes room for so many items more, but little in vain.
#[inline(always)]
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    let (len, capacity) = (list.len(), list.capacity());
    if len + more > capacity {
        // Small lists are copied when they grow, large ones are mapped elsewhere.
        let part = if capacity < 1 << 20 { 2 } else { 8 };
        list.reserve_exact(more.max(capacity / part).max(1 << 8) + capacity - len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_with_a_promise_stays_where_it_is() {
        let mut list = vec![1u32];
        promise(&mut list, 64 << 20);
        let at = list.as_ptr();
        list.resize(2 << 20, 7);
        list.resize(16 << 20, 8);
        assert_eq!((list.as_ptr(), list[0], list[2 << 20]), (at, 1, 8));
        // More than there is: it grows as it did.
        promise(&mut list, usize::MAX);
        promise(&mut list, 0);
        assert_eq!(list.len(), 16 << 20);
    }
}
