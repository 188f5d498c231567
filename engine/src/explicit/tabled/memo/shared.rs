//! The memo table that all kernels of an engine share: two generations of entries.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::generation::Generation;

/// Two generations of entries, shared by all kernels of an engine.
///
/// Inserts go to the young generation. When it is full, it becomes the old one, in a *rotation*. Entries
/// that are hit in the old generation are copied to the young one; the others are dropped with it.
#[derive(Default)]
pub(in crate::explicit::tabled) struct SharedMemo {
    /// Number of rotations. A kernel whose generations are from an earlier round should release
    /// them.
    round: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Number of kernels with a share.
    shares: usize,
    /// Sum of the shares, in bytes.
    bytes: usize,
    /// None before the first lookup.
    generations: Option<Generations>,
    /// The generation before the old one. The next generation reuses its memory.
    spare: Option<Arc<Generation>>,
}

/// The generations that a kernel reads for a while.
///
/// They stay in memory as long as a kernel holds them, even after a rotation, when they do not count
/// towards the limit. So kernels should release them often.
#[derive(Clone)]
pub(super) struct Generations {
    pub(super) young: Arc<Generation>,
    pub(super) old: Arc<Generation>,
    round: usize,
}

impl State {
    /// An empty generation with a third of the memory, as there are a young, an old and a spare one.
    fn generation(&mut self) -> Arc<Generation> {
        let bytes = self.bytes / 3;
        // If a kernel still reads the spare generation, it is dropped when the kernel releases it.
        let spare = self.spare.take().and_then(Arc::into_inner);
        Arc::new(spare.map_or_else(|| Generation::new(bytes), |spare| spare.renewed(bytes)))
    }
}

/// One kernel's share of a shared memo table: it adds to the limit while it exists.
pub(super) struct MemoShare {
    shared: Arc<SharedMemo>,
    bytes: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoShare {
    /// A share of `bytes`.
    pub(super) fn new(shared: Arc<SharedMemo>, bytes: usize) -> MemoShare {
        let mut state = lock(&shared.state);
        state.shares += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        drop(state);
        MemoShare { shared, bytes }
    }

    /// The current generations.
    pub(super) fn generations(&self) -> Generations {
        let mut state = lock(&self.shared.state);
        let round = self.shared.round.load(Ordering::Relaxed);
        if let Some(generations) = &state.generations {
            return generations.clone();
        }
        let (young, old) = (state.generation(), Arc::new(Generation::new(0)));
        state.generations.insert(Generations { young, old, round }).clone()
    }

    /// Whether these are the current generations.
    #[inline]
    pub(super) fn is_current(&self, generations: &Generations) -> bool {
        generations.round == self.shared.round.load(Ordering::Relaxed)
    }

    /// Replaces the young generation `full`, and returns the current generations.
    pub(super) fn rotate(&self, full: &Arc<Generation>) -> Generations {
        let mut state = lock(&self.shared.state);
        // Another kernel may have replaced it already.
        if let Some(now) = state.generations.take_if(|now| Arc::ptr_eq(&now.young, full)) {
            let round = self.shared.round.fetch_add(1, Ordering::Relaxed) + 1;
            let young = state.generation();
            state.generations = Some(Generations { young, old: full.clone(), round });
            state.spare = Some(now.old);
        }
        drop(state);
        self.generations()
    }
}

impl Drop for MemoShare {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.bytes = state.bytes.saturating_sub(self.bytes);
        state.shares -= 1;
        if state.shares == 0 {
            (state.generations, state.spare) = (None, None);
        }
    }
}
