//! The steps that all kernels of an engine know: two shelves. A full one becomes the old one, whose
//! steps go to the young one when they are met again and are forgotten with it otherwise.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shelf::Shelf;

/// See the module.
#[derive(Default)]
pub(super) struct Library {
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

/// What a kernel reads for a while. What it holds stays even if nobody else knows it any more: it
/// should not hold it for longer than a pass.
#[derive(Clone)]
pub(super) struct Shelves {
    pub(super) young: Arc<Shelf>,
    pub(super) old: Arc<Shelf>,
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
        let make = || Shelves { young: state.shelf(), old: Arc::new(Shelf::new(0)) };
        let shelves = state.shelves.clone().unwrap_or_else(make);
        state.shelves.get_or_insert(shelves).clone()
    }

    /// The shelves after one was found full.
    pub(super) fn turn(&self, full: &Arc<Shelf>) -> Shelves {
        let mut state = lock(&self.library.state);
        let young = state.shelf();
        match &mut state.shelves {
            // Another kernel may have been faster.
            Some(shelves) if Arc::ptr_eq(&shelves.young, full) => {
                shelves.old = std::mem::replace(&mut shelves.young, young);
            }
            _ => {}
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
