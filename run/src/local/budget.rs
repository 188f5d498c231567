//! Memory budget of a process and its shares.

use strata_engine::explicit::KernelMemory;

use crate::size::given_size;

const MIB: usize = 1 << 20;

/// The memory budget of a process and its shares.
///
/// It covers the space's tables, caches of regions, the memo table, inboxes of the current and the
/// next layer, and buffers. Program, stacks and allocator overhead take less than 64 MiB on top.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Bytes left after tables and buffers are taken off.
    free: usize,
    /// Workers in the process.
    workers: usize,
    /// Threads of all of them.
    tasks: usize,
    /// Number of workers to which each worker sends exits, itself included.
    peers: usize,
    /// Whether kernels have caches, as those of spaces with tables do.
    has_caches: bool,
}

/// A budget that is too small.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{} is too small: {needed} MiB is the least here ({tables} MiB of tables, {base} MiB, \
     and {per_task} MiB for each of {tasks} threads)",
    given_size(*given)
)]
pub struct BudgetError {
    given: u64,
    needed: usize,
    tables: usize,
    base: usize,
    per_task: usize,
    tasks: usize,
}

impl Budget {
    /// Least memory besides tables and tasks, in MiB.
    const BASE: usize = 8;
    /// Compression contexts, cursors and marks of a task, in MiB.
    const PER_TASK: usize = 8;

    /// The most bytes of expansions that a process learns in a layer for others.
    const LEARNED: usize = 256 << 10;

    /// Divides `total` bytes among `workers` workers of `threads` threads each; the space's tables take
    /// `tables` bytes of it.
    ///
    /// # Errors
    /// If `total` is less than [`Self::least`].
    pub fn new(
        total: u64,
        tables: usize,
        workers: usize,
        threads: usize,
    ) -> Result<Budget, BudgetError> {
        Self::share(total, tables, (workers, workers * threads, workers))
    }

    /// Divides the `total` bytes of a process with one worker of `threads` threads, which sends exits to
    /// `peers` workers, itself included. The others are in other processes; the reserve is for batches in
    /// transit to and from them.
    ///
    /// # Errors
    /// If `total` is less than [`Self::least`].
    pub fn for_node(
        total: u64,
        tables: usize,
        threads: usize,
        peers: usize,
    ) -> Result<Budget, BudgetError> {
        Self::share(total, tables, (1, threads, peers.max(1)))
    }

    fn share(
        total: u64,
        tables: usize,
        (workers, tasks, peers): (usize, usize, usize),
    ) -> Result<Budget, BudgetError> {
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        let needed = Self::least(tables, tasks);
        if total < needed {
            return Err(BudgetError {
                given: total as u64,
                needed: needed / MIB,
                tables: tables.div_ceil(MIB),
                base: Self::BASE,
                per_task: Self::PER_TASK,
                tasks,
            });
        }
        let (free, has_caches) = (total - (needed - Self::BASE * MIB), tables > 0);
        Ok(Budget { free, workers, tasks, peers, has_caches })
    }

    /// The least budget in bytes, for tables of `tables` bytes and `tasks` threads of all workers.
    pub fn least(tables: usize, tasks: usize) -> usize {
        (tables.div_ceil(MIB) + Self::BASE + tasks * Self::PER_TASK) * MIB
    }

    /// Memory of one task's kernel.
    pub fn kernel(&self) -> KernelMemory {
        let free = if self.has_caches { self.free } else { 0 };
        let is_alone = self.peers == self.workers;
        let learned = if is_alone { 0 } else { Self::LEARNED.min(free / 64) };
        KernelMemory {
            regions: free * 3 / 8 / self.tasks,
            memo: free / 8 / self.tasks,
            learned: learned / self.tasks,
        }
    }

    /// Bytes of exits that one worker's inbox holds in memory, for the two layers in it together.
    pub fn inbox(&self) -> usize {
        let eighths = if self.has_caches { 2 } else { 6 };
        self.free / 8 * eighths / self.workers
    }

    /// Bytes of exits that one task buffers for each receiving worker.
    pub fn outbox(&self) -> usize {
        self.free / 8 / self.tasks / self.peers
    }

    /// Bytes in reserve, for batches of exits in transit from and to other processes.
    pub fn reserve(&self) -> usize {
        self.free / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel_bytes(budget: Budget) -> usize {
        budget.kernel().regions + budget.kernel().memo
    }

    #[test]
    fn shares_stay_within_the_total() {
        let setups = [(1, 1, 0), (1, 2, 64 * MIB), (3, 4, 1024 * MIB)];
        for ((workers, threads, extra), tables) in setups.into_iter().flat_map(|s| [(s, 9), (s, 0)])
        {
            let tasks = workers * threads;
            let total = Budget::least(tables * MIB, tasks) + extra;
            let budget = Budget::new(total as u64, tables * MIB, workers, threads).unwrap();
            assert_eq!(kernel_bytes(budget) > 0, tables > 0);
            let sum = tasks * (kernel_bytes(budget) + workers * budget.outbox())
                + workers * budget.inbox();
            assert!(sum + (tables + tasks * Budget::PER_TASK) * MIB <= total);
            assert!(sum >= (extra + Budget::BASE * MIB) / 2);
        }
    }

    #[test]
    fn the_budget_of_a_node_is_divided_as_that_of_a_process() {
        for (threads, peers, extra) in [(1, 1, 0), (2, 3, 64 * MIB), (8, 200, 1024 * MIB)] {
            let total = Budget::least(9 * MIB, threads) + extra;
            let node = Budget::for_node(total as u64, 9 * MIB, threads, peers).unwrap();
            let free = extra + Budget::BASE * MIB;
            assert_eq!(node.kernel().regions, free * 3 / 8 / threads);
            assert_eq!(node.kernel().memo, free / 8 / threads);
            assert_eq!(node.inbox(), free / 8 * 2);
            assert_eq!(node.outbox(), free / 8 / threads / peers);
            assert_eq!(node.reserve(), free / 8);
            let sum = threads * (kernel_bytes(node) + peers * node.outbox()) + node.inbox();
            assert!(sum + node.reserve() <= free);
        }
        // Alone, it is the only worker of its process.
        let alone = Budget::for_node(1 << 30, MIB, 3, 1).unwrap();
        assert_eq!(alone, Budget::new(1 << 30, MIB, 1, 3).unwrap());
        // The number of workers does not change the inbox.
        let one_of_five = Budget::for_node(1 << 30, MIB, 3, 5).unwrap();
        assert_eq!(one_of_five.inbox(), alone.inbox());
        assert_eq!(one_of_five.outbox(), alone.outbox() / 5);
        assert_eq!(Budget::for_node(1 << 30, MIB, 3, 0).unwrap(), alone);
        let error = Budget::for_node(1 << 20, 9 * MIB, 2, 5).unwrap_err().to_string();
        assert!(error.contains("33 MiB is the least here"), "{error}");
    }

    #[test]
    fn the_error_for_a_small_budget_names_the_least() {
        let error = Budget::new(1 << 20, 9 * MIB, 1, 2).unwrap_err().to_string();
        assert!(error.starts_with("1 MiB is too small: 33 MiB is the least here"), "{error}");
    }
}
