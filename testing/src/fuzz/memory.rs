//! Counting allocator, which measures the peak memory of an input.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with a counter of the bytes in use.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn add(bytes: usize) {
    let used = USED.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    PEAK.fetch_max(used, Relaxed);
}

fn remove(bytes: usize) {
    USED.fetch_sub(bytes, Relaxed);
}

// SAFETY: all calls go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of the system's allocator.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            add(layout.size());
        }
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            add(layout.size());
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) };
        remove(layout.size());
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let memory = unsafe { System.realloc(memory, layout, size) };
        if !memory.is_null() {
            add(size);
            remove(layout.size());
        }
        memory
    }
}

/// Runs `body`. Returns its result and its peak memory: the most bytes in use at a time, beyond
/// those in use before.
pub(crate) fn measure<T>(body: impl FnOnce() -> T) -> (T, usize) {
    let before = USED.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = body();
    (result, PEAK.load(Relaxed).saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_measured() {
        let (len, peak) = measure(|| {
            let large = vec![1_u8; 3 << 20];
            drop(vec![2_u8; 5 << 20]);
            large.len()
        });
        assert_eq!(len, 3 << 20);
        assert!(peak >= 8 << 20, "{peak}");
    }
}
