//! Tasks of a layer, run on several threads.

use std::sync::{Mutex, PoisonError};

/// Runs tasks on `threads` threads, including the calling one. Returns their results in any order.
pub(crate) fn run<T: Send, R: Send>(
    threads: usize,
    tasks: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(tasks.len());
    let queue = Mutex::new(tasks.into_iter());
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut results = Vec::new();
        while let Some(task) = take() {
            results.push(work(task));
        }
        results
    };
    if threads <= 1 {
        return run();
    }
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
