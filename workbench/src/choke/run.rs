//! Settings of a run: threads, progress reports and cancellation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::error::ChokeError;
use super::kernel::AvailableVectors;

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// The level whose tables are being made; the puzzle's own in the last search.
    pub level: u8,
    /// Tables of that level that are ready.
    pub done: usize,
    /// Tables of that level that are needed; 1 in the last search.
    pub classes: usize,
    /// Time since the run began.
    pub elapsed: Duration,
}

/// Called from any of the run's threads.
pub type OnProgress<'a> = &'a (dyn Fn(Progress) + Sync);

/// The settings of a run.
pub(super) struct Run<'a> {
    pub(super) threads: usize,
    pub(super) vectors: AvailableVectors,
    pub(super) cancel: Option<&'a AtomicBool>,
    pub(super) progress: Option<OnProgress<'a>>,
    pub(super) started: Instant,
}

impl Run<'_> {
    /// Fails if the run was cancelled. To be called between steps that take milliseconds.
    pub(super) fn check(&self) -> Result<(), ChokeError> {
        match self.cancel {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(ChokeError::Cancelled),
            _ => Ok(()),
        }
    }

    pub(super) fn counter(&self, level: u8, classes: usize) -> Counter<'_> {
        let counter = Counter { run: self, level, classes, done: AtomicUsize::new(0) };
        counter.report(0);
        counter
    }
}

/// Counts and reports the finished tables of a level.
pub(super) struct Counter<'a> {
    run: &'a Run<'a>,
    level: u8,
    classes: usize,
    done: AtomicUsize,
}

impl Counter<'_> {
    pub(super) fn one_more(&self) {
        self.report(self.done.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn report(&self, done: usize) {
        if let Some(report) = self.run.progress {
            let elapsed = self.run.started.elapsed();
            report(Progress { level: self.level, done, classes: self.classes, elapsed });
        }
    }
}

/// Calls `work` for every item. The items are started in their order, as threads become free.
pub(super) fn for_each<T, I>(threads: usize, items: I, work: impl Fn(T) + Sync)
where
    I: Iterator<Item = T> + Send,
{
    if threads <= 1 {
        return items.for_each(work);
    }
    let items = Mutex::new(items);
    let next = || items.lock().ok().and_then(|mut items| items.next());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = next() {
                    work(item);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [1, 2, 5] {
            let counts: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
            for_each(threads, 0..counts.len(), |i| {
                counts[i].fetch_add(1, Ordering::Relaxed);
            });
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
    }
}
