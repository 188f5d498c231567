//! Memory budget, divided among owners.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::symbolic::error::StepError;

/// A share takes at least 1/`TAKES_PER_BUDGET` of the budget at a time, so that threads seldom contend.
const TAKES_PER_BUDGET: usize = 1 << 10;

/// One owner's share of a memory budget.
pub(crate) struct BudgetShare {
    budget: usize,
    /// Bytes that no share has taken.
    free: Arc<AtomicUsize>,
    /// Bytes that this share has taken.
    taken: usize,
}

impl BudgetShare {
    /// The first share of a budget of `budget` bytes.
    pub(crate) fn new(budget: usize) -> BudgetShare {
        BudgetShare { budget, free: Arc::new(AtomicUsize::new(budget)), taken: 0 }
    }

    /// Another share of the same budget.
    pub(crate) fn split(&self) -> BudgetShare {
        BudgetShare { budget: self.budget, free: Arc::clone(&self.free), taken: 0 }
    }

    /// Raises this share to at least `bytes` bytes in total.
    ///
    /// # Errors
    /// [`StepError::Memory`] if the budget is exceeded.
    #[inline(always)]
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), StepError> {
        if bytes <= self.taken { Ok(()) } else { self.take(bytes - self.taken) }
    }

    #[cold]
    fn take(&mut self, bytes: usize) -> Result<(), StepError> {
        for wanted in [bytes.max(self.budget / TAKES_PER_BUDGET), bytes] {
            let take = |free: usize| free.checked_sub(wanted);
            if self.free.fetch_update(Relaxed, Relaxed, take).is_ok() {
                self.taken += wanted;
                return Ok(());
            }
        }
        Err(StepError::Memory { budget: self.budget })
    }

    /// Marks the budget as exceeded: no share can grow any more. `budget` is the budget, in bytes, that
    /// errors of this share report.
    pub(crate) fn exhaust(&mut self, budget: usize) {
        self.free.store(0, Relaxed);
        (self.budget, self.taken) = (budget, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_exceed_the_budget() {
        let mut one = BudgetShare::new(2560);
        let mut other = one.split();
        assert_eq!(one.grow_to(1), Ok(()));
        assert_eq!(other.grow_to(2550), Ok(()));
        assert_eq!(one.grow_to(10), Ok(()));
        let full = Err(StepError::Memory { budget: 2560 });
        assert_eq!((one.grow_to(11), other.grow_to(2551)), (full, full));
        assert_eq!(other.grow_to(2550), Ok(()));
        other.exhaust(100);
        assert_eq!(other.grow_to(1), Err(StepError::Memory { budget: 100 }));
    }
}
