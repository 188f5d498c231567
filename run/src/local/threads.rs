//! Thread pool of a process, on which pass tasks run.
//!
//! A layer may take less than a millisecond, and waking a blocked thread takes 50 µs. Threads therefore
//! spin for a moment between passes before they block.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::error::{Result, WorkerError};

/// Longest time that an idle thread spins: a few times as long as waking it takes.
const MAX_SPIN: Duration = Duration::from_micros(250);

/// After a spin in vain, only one wait in this many spins, and the others block at once. Layers that are
/// exchanged over a network take longer than a spin.
const SPIN_INTERVAL: u32 = 16;

/// Spin-loop hints between two checks: about the time in which the last thread leaves a scope.
const SPIN_HINTS: u32 = 16;

/// Work in steps, so that one thread can continue what another has begun.
pub(crate) trait Steps: Send {
    /// Estimated number of states left.
    fn left(&self) -> u64;

    /// Executes a step. Returns false if the work is done.
    fn step(&mut self) -> bool;

    /// Suspends the work, so that another thread can continue it. Returns false if that ends the work.
    fn pause(&mut self) -> bool;
}

/// Minimum number of states for which waking a thread pays.
pub(crate) const LEAST: u64 = 1024;

/// A thread switches to other work if that has more states left by at least this number. A switch costs
/// about as much time as a few thousand states.
const MARGIN: u64 = 16 << 10;

/// Work that waits for a thread.
struct Waiting<'a, W>(Mutex<Vec<&'a mut W>>);

impl<'a, W: Steps> Waiting<'a, W> {
    fn all(&self) -> MutexGuard<'_, Vec<&'a mut W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is waiting work with more than `least` states left.
    fn has_more_than(&self, least: u64) -> bool {
        self.all().iter().any(|work| work.left() > least)
    }

    /// Adds unfinished work, if any, and takes the work with the most states left.
    fn exchange(&self, work: Option<&'a mut W>) -> Option<&'a mut W> {
        let mut all = self.all();
        all.extend(work);
        let longest = (0..all.len()).max_by_key(|i| all[*i].left())?;
        Some(all.swap_remove(longest))
    }

    /// Executes waiting work until there is none; work with more states left comes first.
    fn work_off(&self) {
        let mut next = self.exchange(None);
        while let Some(work) = next {
            let unfinished = self.work_on(work);
            next = self.exchange(unfinished);
        }
    }

    /// Executes work until it is done, or until work with many more states left waits. Returns the work if
    /// it is unfinished.
    fn work_on(&self, work: &'a mut W) -> Option<&'a mut W> {
        while work.step() {
            if self.has_more_than(work.left() + MARGIN) {
                return work.pause().then_some(work);
            }
        }
        None
    }
}

/// Thread pool whose threads spin for a moment between passes.
pub(crate) struct Threads {
    /// The threads besides the calling one; None if there are no others.
    pool: Option<ThreadPool>,
    /// Number of calls so far.
    calls: Arc<AtomicUsize>,
    /// Spin time; zero where there are more threads than processors.
    max_spin: Duration,
    /// Number of waits, since the last successful spin, that spun in vain or did not spin.
    in_vain: Arc<AtomicU32>,
}

impl Threads {
    /// A pool of `threads` threads, the calling one included.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn new(threads: usize) -> Result<Threads> {
        let builder = ThreadPoolBuilder::new().num_threads(threads - 1);
        let builder = builder.thread_name(|i| format!("pass-{}", i + 1));
        let failed = |error| WorkerError::Threads(io::Error::other(error));
        let pool = if threads > 1 { Some(builder.build().map_err(failed)?) } else { None };
        let enough = available_parallelism().is_ok_and(|processors| threads <= processors.get());
        let max_spin = if enough { MAX_SPIN } else { Duration::ZERO };
        Ok(Threads { pool, calls: Arc::default(), max_spin, in_vain: Arc::default() })
    }

    /// Runs each task with its share on its own thread; tasks without a share do not run.
    pub(crate) fn each<L: Send, S: Copy + Sync, T: Send>(
        &self,
        tasks: &mut [L],
        shares: &[S],
        work: impl Fn(&mut L, S) -> T + Sync,
    ) -> Vec<T> {
        let mut results: Vec<Option<T>> = shares.iter().map(|_| None).collect();
        let mut pairs = tasks.iter_mut().zip(shares).zip(&mut results);
        let work = |((task, share), result): ((&mut L, &S), &mut Option<T>)| {
            *result = Some(work(task, *share));
        };
        match &self.pool {
            Some(pool) if shares.len() > 1 => {
                let (first, left) = (pairs.next(), AtomicUsize::new(shares.len() - 1));
                let call = self.calls.load(Ordering::Relaxed) + 1;
                pool.in_place_scope(|scope| {
                    for pair in pairs {
                        let (work, left) = (&work, &left);
                        scope.spawn(move |_| {
                            work(pair);
                            self.spin_until_next_call(call);
                            left.fetch_sub(1, Ordering::Release);
                        });
                    }
                    self.calls.store(call, Ordering::Release);
                    first.into_iter().for_each(&work);
                    spin(self.max_spin, || left.load(Ordering::Acquire) > 0);
                    // Waits for the last thread to leave the scope, so that leaving it does not block.
                    (0..SPIN_HINTS).for_each(|_| std::hint::spin_loop());
                });
            }
            _ => pairs.for_each(work),
        }
        results.into_iter().flatten().collect()
    }

    /// Executes all work, on as many threads as pay for the number of states.
    pub(crate) fn run<'a, W: Steps + 'a>(&self, work: impl IntoIterator<Item = &'a mut W>) {
        let work: Vec<&mut W> = work.into_iter().collect();
        let left = work.iter().map(|work| work.left()).sum::<u64>();
        let worth = usize::try_from(left / LEAST).unwrap_or(usize::MAX).max(1);
        let threads = self.threads().min(work.len()).min(worth);
        let waiting = Waiting(Mutex::new(work));
        self.each(&mut vec![(); threads], &vec![(); threads], |(), ()| waiting.work_off());
    }

    /// Number of threads, the calling one included.
    fn threads(&self) -> usize {
        1 + self.pool.as_ref().map_or(0, ThreadPool::current_num_threads)
    }

    /// Makes a thread of the pool spin until the next call, for a limited time.
    fn spin_until_next_call(&self, call: usize) {
        let in_vain = Arc::clone(&self.in_vain);
        if self.max_spin.is_zero() || !in_vain.load(Ordering::Relaxed).is_multiple_of(SPIN_INTERVAL)
        {
            in_vain.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let (calls, max_spin) = (self.calls.clone(), self.max_spin);
        rayon::spawn(move || {
            let waits = || calls.load(Ordering::Acquire) == call;
            spin(max_spin, waits);
            if waits() {
                in_vain.fetch_add(1, Ordering::Relaxed);
            } else {
                in_vain.store(0, Ordering::Relaxed);
            }
        });
    }
}

/// Waits while a condition holds, for a limited time.
fn spin(most: Duration, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while holds() && started.elapsed() < most {
        (0..SPIN_HINTS).for_each(|_| std::hint::spin_loop());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_gets_its_share() {
        for threads in [1, 2, 3, 8] {
            let pool = Threads::new(threads).unwrap();
            let mut tasks = vec![0_usize; threads];
            for round in 1..=200 {
                // Also with fewer shares than tasks.
                let shares: Vec<usize> = (0..1 + round % threads).collect();
                let work = |task: &mut usize, share: usize| {
                    *task += 1;
                    (share, *task)
                };
                let done = pool.each(&mut tasks, &shares, work);
                assert_eq!(done.iter().map(|(share, _)| *share).collect::<Vec<_>>(), shares);
            }
            assert_eq!(tasks[0], 200);
        }
    }

    /// Work of which a step completes 1,024 units. A step panics if another thread executes one.
    struct Units {
        left: u64,
        done: u64,
        pauses: u32,
        is_running: std::sync::atomic::AtomicBool,
    }

    impl Steps for Units {
        fn left(&self) -> u64 {
            self.left
        }

        fn step(&mut self) -> bool {
            assert!(!self.is_running.swap(true, Ordering::AcqRel), "two threads do it");
            self.done += 1 << 10;
            self.left = self.left.saturating_sub(1 << 10);
            self.is_running.store(false, Ordering::Release);
            self.left > 0
        }

        fn pause(&mut self) -> bool {
            self.pauses += 1;
            true
        }
    }

    #[test]
    fn all_work_is_completed_and_a_single_thread_alternates() {
        for threads in [1, 2, 3] {
            let pool = Threads::new(threads).unwrap();
            for count in 0..6 {
                let size = |i: u64| (100 + 17 * i) << 10;
                let new = |i| Units { left: size(i), done: 0, pauses: 0, is_running: false.into() };
                let mut work: Vec<Units> = (0..count).map(new).collect();
                pool.run(&mut work);
                for (i, work) in (0..).zip(&work) {
                    assert_eq!((work.left, work.done), (0, size(i)));
                }
                let pauses: u32 = work.iter().map(|work| work.pauses).sum();
                assert!(threads > 1 || (pauses > 0) == (count > 1), "{count} units: {pauses}");
            }
        }
    }
}
