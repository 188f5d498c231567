//! Threads of a worker's pass tasks.
//!
//! A layer may take less than a millisecond, and waking a blocked thread takes 50 µs. So threads
//! spin for a moment between passes before they block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::error::Result;

/// Longest time that an idle thread spins: a few times as long as waking it takes.
const MAX_SPIN: Duration = Duration::from_micros(250);

/// After a spin in vain the next waits block at once: only one of so many spins. Layers that are
/// exchanged over a network come later than any spin lasts.
const SPIN_INTERVAL: u32 = 16;

/// Spin-loop hints between two checks: about the time in which the last thread leaves a scope.
const SPIN_HINTS: u32 = 16;

/// Thread pool whose threads spin for a moment between passes.
pub(crate) struct Threads {
    /// None if the calling thread is the only one.
    pool: Option<ThreadPool>,
    /// Number of calls so far.
    calls: Arc<AtomicUsize>,
    /// Spin time; zero where there are more threads than processors.
    max_spin: Duration,
    /// Waits in vain or without a spin since the last spin that saw the next call.
    in_vain: Arc<AtomicU32>,
}

impl Threads {
    /// A pool of `threads` threads, the calling one included.
    pub(crate) fn new(threads: usize) -> std::result::Result<Threads, ThreadPoolBuildError> {
        let builder = ThreadPoolBuilder::new().num_threads(threads - 1);
        let builder = builder.thread_name(|i| format!("pass-{}", i + 1));
        let pool = if threads > 1 { Some(builder.build()?) } else { None };
        let enough = available_parallelism().is_ok_and(|processors| threads <= processors.get());
        let max_spin = if enough { MAX_SPIN } else { Duration::ZERO };
        Ok(Threads { pool, calls: Arc::default(), max_spin, in_vain: Arc::default() })
    }

    /// Runs each task with its share on its own thread; tasks without a share do not run.
    pub(crate) fn each<L: Send, S: Copy + Sync, T: Send>(
        &self,
        tasks: &mut [L],
        shares: &[S],
        work: impl Fn(&mut L, S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let mut results: Vec<Option<Result<T>>> = shares.iter().map(|_| None).collect();
        let mut pairs = tasks.iter_mut().zip(shares).zip(&mut results);
        let work = |((task, share), result): ((&mut L, &S), &mut Option<Result<T>>)| {
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
                    // The last thread is about to leave the scope.
                    (0..SPIN_HINTS).for_each(|_| std::hint::spin_loop());
                });
            }
            _ => pairs.for_each(work),
        }
        results.into_iter().flatten().collect()
    }

    /// Makes the calling thread of the pool spin until the next call, for a limited time.
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
                    Ok((share, *task))
                };
                let done = pool.each(&mut tasks, &shares, work).unwrap();
                assert_eq!(done.iter().map(|(share, _)| *share).collect::<Vec<_>>(), shares);
            }
            assert_eq!(tasks[0], 200);
        }
    }

    #[test]
    fn the_error_of_a_task_is_returned() {
        let pool = Threads::new(2).unwrap();
        let fails = |_: &mut (), share: u32| {
            let file = std::path::PathBuf::from("file");
            let what = "it fails".to_owned();
            if share == 1 {
                Err(strata_store::StoreError::Inconsistent { file, what }.into())
            } else {
                Ok(share)
            }
        };
        let error = pool.each(&mut [(), ()], &[0, 1], fails).unwrap_err();
        assert!(error.to_string().contains("it fails"), "{error}");
        assert_eq!(pool.each(&mut [(), ()], &[0, 2], fails).unwrap(), [0, 2]);
    }
}
