//! Append-only list of words that other threads can read while it grows.
//!
//! The words are contiguous, so that a reader needs only their position, and large pages can be used.
//! Sharing memory that grows is unsafe.
#![allow(unsafe_code)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::memory::large_pages::preallocate;

/// An append-only list of words with a limit. Appended words never move and never change.
pub struct AppendOnlyWords {
    /// Start of an allocation of `capacity` words, which the list owns.
    base: *mut u64,
    capacity: usize,
    /// Number of initialised words. It only grows, except in `clear`.
    len: AtomicUsize,
    /// Locked while words are appended.
    appending: Mutex<()>,
}

// SAFETY: words before `len` are only read. Words from `len` on are only written, by the thread that
// holds `appending`.
unsafe impl Send for AppendOnlyWords {}
// SAFETY: as above.
unsafe impl Sync for AppendOnlyWords {}

impl AppendOnlyWords {
    /// An empty list of at most `capacity` words, or of fewer if the system does not grant the address
    /// space. Words take no memory before they are appended.
    pub fn new(capacity: usize) -> AppendOnlyWords {
        let mut words = Vec::new();
        let mut wanted = capacity;
        while wanted > 0 && words.capacity() == 0 {
            preallocate(&mut words, wanted.saturating_mul(size_of::<u64>()));
            wanted /= 2;
        }
        let mut words = ManuallyDrop::new(words);
        let (base, capacity) = (words.as_mut_ptr(), words.capacity());
        AppendOnlyWords { base, capacity, len: AtomicUsize::new(0), appending: Mutex::new(()) }
    }

    /// Number of words that fit, including those already appended.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Removes all words and keeps the memory.
    pub fn clear(&mut self) {
        *self.len.get_mut() = 0;
    }

    /// All words.
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        // Acquire: the words before `len` are visible, too.
        let len = self.len.load(Ordering::Acquire);
        // SAFETY: the first `len` words are initialised, and no thread writes to them any more. They
        // live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.base, len) }
    }

    /// Appends words and returns the position of the first; `None` if they do not fit.
    pub fn append(&self, words: &[u64]) -> Option<usize> {
        let _appending = self.appending.lock().unwrap_or_else(PoisonError::into_inner);
        let len = self.len.load(Ordering::Relaxed);
        if words.len() > self.capacity - len {
            return None;
        }
        // SAFETY: the words fit after the first `len`, no thread reads there, and only the holder of the
        // lock writes. `words` does not overlap the target, which is not initialised.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), self.base.add(len), words.len()) };
        self.len.store(len + words.len(), Ordering::Release);
        Some(len)
    }
}

impl Drop for AppendOnlyWords {
    fn drop(&mut self) {
        // SAFETY: base and capacity are those of the list that `new` took apart.
        drop(unsafe { Vec::from_raw_parts(self.base, 0, self.capacity) });
    }
}

impl fmt::Debug for AppendOnlyWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, capacity) = (self.words().len(), self.capacity);
        f.debug_struct("AppendOnlyWords")
            .field("words", &words)
            .field("capacity", &capacity)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn appended_words_are_read_in_order(
            lists in proptest::collection::vec(proptest::collection::vec(any::<u64>(), 0..9), 0..30),
            capacity in 0_usize..100,
        ) {
            let mut shared = AppendOnlyWords::new(capacity);
            let mut expected: Vec<u64> = Vec::new();
            for list in &lists {
                let fits = expected.len() + list.len() <= shared.capacity();
                prop_assert_eq!(shared.append(list), fits.then_some(expected.len()));
                if fits {
                    expected.extend(list);
                }
                prop_assert_eq!(shared.words(), &expected[..]);
            }
            shared.clear();
            prop_assert_eq!(shared.words(), &[0_u64; 0]);
            prop_assert_eq!(shared.append(&[7]), (shared.capacity() > 0).then_some(0));
        }
    }

    #[test]
    fn threads_append_and_read_at_the_same_time() {
        let pairs = if cfg!(miri) { 20 } else { 1000 };
        let shared = AppendOnlyWords::new(6 * pairs);
        let append = |seed: u64| {
            for i in 0..pairs as u64 {
                let word = seed << 32 | i;
                let at = shared.append(&[word, !word]).unwrap();
                assert_eq!(shared.words()[at..at + 2], [word, !word]);
                let words = shared.words().chunks_exact(2);
                assert!(words.skip(at.saturating_sub(200) / 2).all(|pair| pair[0] == !pair[1]));
            }
        };
        std::thread::scope(|scope| {
            (1..=3).for_each(|seed| drop(scope.spawn(move || append(seed))))
        });
        assert_eq!((shared.words().len(), shared.append(&[1])), (6 * pairs, None));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where an allocation is refused")]
    fn a_list_larger_than_the_address_space_gets_a_smaller_capacity() {
        let shared = AppendOnlyWords::new(usize::MAX);
        assert_eq!(shared.append(&[7]), Some(0));
        assert_eq!((shared.words(), shared.capacity() > 1 << 10), (&[7][..], true));
    }
}
