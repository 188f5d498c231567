//! The memory budget, and the parts that share it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::error::StepError;

/// A part takes at least such a share of the budget at a time, so that parts seldom meet.
const STEPS: usize = 1 << 10;

/// What one part may take of a budget that others share.
pub(crate) struct Share {
    budget: usize,
    /// Bytes that no part has.
    left: Arc<AtomicUsize>,
    /// Bytes that this part has.
    own: usize,
}

impl Share {
    /// A budget in bytes, of which no part has anything yet.
    pub(crate) fn of(budget: usize) -> Share {
        Share { budget, left: Arc::new(AtomicUsize::new(budget)), own: 0 }
    }

    /// Another part of the same budget.
    pub(crate) fn another(&self) -> Share {
        Share { budget: self.budget, left: Arc::clone(&self.left), own: 0 }
    }

    /// Lets this part take so many bytes in all, if they are there.
    #[inline(always)]
    pub(crate) fn allow(&mut self, bytes: usize) -> Result<(), StepError> {
        if bytes <= self.own { Ok(()) } else { self.take(bytes - self.own) }
    }

    #[cold]
    fn take(&mut self, bytes: usize) -> Result<(), StepError> {
        for wanted in [bytes.max(self.budget / STEPS), bytes] {
            let take = |left: usize| left.checked_sub(wanted);
            if self.left.fetch_update(Relaxed, Relaxed, take).is_ok() {
                self.own += wanted;
                return Ok(());
            }
        }
        Err(StepError::Memory { budget: self.budget })
    }

    /// From here on nothing may grow beyond a budget that is already exceeded.
    pub(crate) fn close(&mut self, budget: usize) {
        self.left.store(0, Relaxed);
        (self.budget, self.own) = (budget, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_no_more_than_there_is() {
        let mut one = Share::of(2560);
        let mut other = one.another();
        assert_eq!(one.allow(1), Ok(()));
        assert_eq!(other.allow(2550), Ok(()));
        assert_eq!(one.allow(10), Ok(()));
        let full = Err(StepError::Memory { budget: 2560 });
        assert_eq!((one.allow(11), other.allow(2551)), (full, full));
        assert_eq!(other.allow(2550), Ok(()));
        other.close(100);
        assert_eq!(other.allow(1), Err(StepError::Memory { budget: 100 }));
    }
}
