//! How the memory of a process is shared out.

const MIB: usize = 1 << 20;

/// The memory budget of a process and how it is shared out.
///
/// What it covers grows with the search: class tables and passages, caches of regions, exits
/// that wait (of the layer being read and of the one being written) and buffers. The program
/// itself, its stacks and what the allocator keeps back come on top: less than 64 MiB.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Budget {
    total: usize,
    workers: usize,
    lanes: usize,
}

/// A budget that is too small.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a memory budget of {given} MiB is too small: {needed} MiB is the least for {lanes} threads \
     ({base} MiB, and {per_lane} MiB a thread)"
)]
pub struct BudgetError {
    given: usize,
    needed: usize,
    lanes: usize,
    base: usize,
    per_lane: usize,
}

impl Budget {
    /// Least budget of a process without its lanes, in MiB: room for the tables.
    const BASE: usize = 24;
    /// Least addition a lane, in MiB: compression contexts, cursors and bit sets.
    const PER_LANE: usize = 8;

    /// Shares out `total` bytes among `workers` workers of `threads` threads.
    ///
    /// # Errors
    /// If that is less than [`Self::least`].
    pub fn new(total: u64, workers: usize, threads: usize) -> Result<Budget, BudgetError> {
        let lanes = workers * threads;
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        if total < Self::least(lanes) {
            return Err(BudgetError {
                given: total / MIB,
                needed: Self::least(lanes) / MIB,
                lanes,
                base: Self::BASE,
                per_lane: Self::PER_LANE,
            });
        }
        Ok(Budget { total, workers, lanes })
    }

    /// The least budget for that many threads over all workers, in bytes.
    pub fn least(lanes: usize) -> usize {
        (Self::BASE + lanes * Self::PER_LANE) * MIB
    }

    /// Bytes over and above what the lanes need in any case.
    fn free(&self) -> usize {
        self.total - self.lanes * Self::PER_LANE * MIB
    }

    /// Bytes for tables, shared by the whole process.
    pub fn tables(&self) -> usize {
        self.free() / 2
    }

    /// Bytes for one lane's cache of regions.
    pub fn regions(&self) -> usize {
        self.free() / 8 / self.lanes
    }

    /// Bytes of exits in memory in one worker's inbox, for each of the two layers it holds.
    pub fn inbox(&self) -> usize {
        self.free() / 8 / self.workers
    }

    /// Bytes of exits that one lane gathers, over all workers it sends to.
    pub fn outbox(&self) -> usize {
        self.free() / 16 / self.lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_stay_within_the_total() {
        for (workers, threads, mib) in [(1, 1, 32), (1, 2, 64), (3, 4, 1024)] {
            let budget =
                Budget::new((mib * MIB) as u64, workers, threads).unwrap_or_else(|error| {
                    Budget::new(Budget::least(workers * threads) as u64, workers, threads)
                        .unwrap_or_else(|_| panic!("{error}"))
                });
            let lanes = workers * threads;
            let sum = budget.tables()
                + lanes * (budget.regions() + budget.outbox())
                + 2 * workers * budget.inbox();
            assert!(sum + lanes * Budget::PER_LANE * MIB <= budget.total);
        }
    }

    #[test]
    fn too_small_a_budget_says_what_is_needed() {
        let error = Budget::new(1 << 20, 1, 2).unwrap_err().to_string();
        assert!(error.contains("1 MiB is too small: 40 MiB is the least for 2 threads"), "{error}");
    }
}
