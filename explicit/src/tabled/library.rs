//! The steps that all kernels of an engine know: two shelves. A full one becomes the old one, whose
//! steps go to the young one when they are met again and are forgotten with it otherwise.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shelf::Shelf;

/// See the module.
#[derive(Default)]
pub(super) struct Library {
    /// How often a full shelf was replaced: who holds others should let go of them.
    turns: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    members: usize,
    /// What they may keep together, in bytes.
    bytes: usize,
    /// None as long as nobody has asked.
    shelves: Option<Shelves>,
}

/// What a kernel reads for a while. What it holds stays, over the budget, even if nobody else knows
/// it any more.
#[derive(Clone)]
pub(super) struct Shelves {
    pub(super) young: Arc<Shelf>,
    pub(super) old: Arc<Shelf>,
    turn: usize,
}

impl State {
    fn shelf(&self) -> Arc<Shelf> {
        Arc::new(Shelf::new(self.bytes / 2))
    }
}

/// A kernel's share in a library.
pub(super) struct Member {
    library: Arc<Library>,
    bytes: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Member {
    /// Joins, with that many bytes.
    pub(super) fn join(library: Arc<Library>, bytes: usize) -> Member {
        let mut state = lock(&library.state);
        state.members += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        drop(state);
        Member { library, bytes }
    }

    /// The shelves as they are now.
    pub(super) fn shelves(&self) -> Shelves {
        let mut state = lock(&self.library.state);
        let turn = self.library.turns.load(Ordering::Relaxed);
        let make = || Shelves { young: state.shelf(), old: Arc::new(Shelf::new(0)), turn };
        let shelves = state.shelves.clone().unwrap_or_else(make);
        state.shelves.get_or_insert(shelves).clone()
    }

    /// Whether these are still the shelves.
    #[inline]
    pub(super) fn has(&self, shelves: &Shelves) -> bool {
        shelves.turn == self.library.turns.load(Ordering::Relaxed)
    }

    /// The shelves after one was found full.
    pub(super) fn turn(&self, full: &Arc<Shelf>) -> Shelves {
        let mut state = lock(&self.library.state);
        // Another kernel may have been faster.
        if state.shelves.as_ref().is_some_and(|now| Arc::ptr_eq(&now.young, full)) {
            let turn = self.library.turns.fetch_add(1, Ordering::Relaxed) + 1;
            let young = state.shelf();
            state.shelves = Some(Shelves { young, old: full.clone(), turn });
        }
        drop(state);
        self.shelves()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut state = lock(&self.library.state);
        state.bytes = state.bytes.saturating_sub(self.bytes);
        state.members -= 1;
        if state.members == 0 {
            state.shelves = None;
        }
    }
}
