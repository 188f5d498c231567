//! Budgets of steps for opening a puzzle, with cancellation.
//!
//! User input can require any amount of work: a file of a few kilobytes can define a group whose order
//! takes hours to find. A [`Work`] counts steps instead of time, so every machine accepts or refuses the
//! same input.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Steps of the default budget, for the indispensable part of opening a puzzle. A step takes about a
/// nanosecond.
const OPENING_STEPS: u64 = 1_000_000_000;

/// A budget of steps that can be cancelled. Clones share the steps and the cancellation.
///
/// ```
/// use strata_space::{Work, WorkError};
///
/// let work = Work::new(10);
/// assert_eq!(work.spend(7), Ok(()));
/// assert_eq!(work.spend(4), Err(WorkError::Limit { limit: 10 }));
/// let part = work.part(100);
/// work.cancel();
/// assert_eq!(part.spend(1), Err(WorkError::Cancelled));
/// ```
#[derive(Clone, Debug)]
pub struct Work {
    limit: u64,
    spent: Arc<AtomicU64>,
    total: Arc<AtomicU64>,
    is_cancelled: Arc<AtomicBool>,
}

/// The reason why work ends early.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The work takes more steps than the budget has.
    #[error("it takes more than {limit} steps")]
    Limit {
        /// The steps of the budget.
        limit: u64,
    },
    /// [`Work::cancel`] was called.
    #[error("it was cancelled")]
    Cancelled,
}

impl Default for Work {
    /// A budget of 10^9 steps, of about a nanosecond each.
    fn default() -> Work {
        Work::new(OPENING_STEPS)
    }
}

impl Work {
    /// A budget of `limit` steps.
    #[must_use]
    pub fn new(limit: u64) -> Work {
        Work { limit, spent: Arc::default(), total: Arc::default(), is_cancelled: Arc::default() }
    }

    /// A budget without a limit.
    #[must_use]
    pub fn unlimited() -> Work {
        Work::new(u64::MAX)
    }

    /// A separate budget of `limit` steps for a part of the work, which does not depend on the steps
    /// spent so far. The part and this budget are cancelled together.
    #[must_use]
    pub fn part(&self, limit: u64) -> Work {
        let (total, is_cancelled) = (Arc::clone(&self.total), Arc::clone(&self.is_cancelled));
        Work { limit, spent: Arc::default(), total, is_cancelled }
    }

    /// Takes steps from the budget, before the work that they pay for.
    ///
    /// # Errors
    /// [`WorkError::Limit`] if fewer than `steps` steps are left; none of them is then taken.
    /// [`WorkError::Cancelled`] if the work was cancelled.
    pub fn spend(&self, steps: u64) -> Result<(), WorkError> {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return Err(WorkError::Cancelled);
        }
        let before = self.spent.fetch_add(steps, Ordering::Relaxed);
        if before.checked_add(steps).is_none_or(|spent| spent > self.limit) {
            // The refused steps were not spent.
            self.spent.fetch_sub(steps, Ordering::Relaxed);
            return Err(WorkError::Limit { limit: self.limit });
        }
        self.total.fetch_add(steps, Ordering::Relaxed);
        Ok(())
    }

    /// Cancels the whole work, of which this budget may be a part: each later [`Self::spend`] on any of
    /// its budgets fails.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// The steps of this budget.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Steps spent by the whole work: of this budget and all others that are parts of the same work.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_own_limit_and_counts_towards_the_total() {
        let work = Work::new(5);
        let part = work.part(8);
        assert_eq!(part.spend(8), Ok(()));
        assert_eq!(part.spend(1), Err(WorkError::Limit { limit: 8 }));
        assert_eq!(work.spend(5), Ok(()));
        assert_eq!(work.spend(1), Err(WorkError::Limit { limit: 5 }));
        assert_eq!((work.spent(), part.spent()), (13, 13));
    }

    #[test]
    fn steps_beyond_the_limit_are_not_counted() {
        let work = Work::new(5);
        assert_eq!(work.spend(u64::MAX), Err(WorkError::Limit { limit: 5 }));
        assert_eq!(work.spend(5), Ok(()));
        assert_eq!(work.spent(), 5);
    }

    #[test]
    fn cancelling_a_part_cancels_the_whole_work() {
        let work = Work::unlimited();
        work.part(1).cancel();
        assert_eq!(work.spend(0), Err(WorkError::Cancelled));
    }
}
