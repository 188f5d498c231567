//! Work of sessions since the coordinator started, by job: totals that do not decrease while the job is
//! kept here.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strata_store::LayerRecord;

/// Most jobs whose totals are kept. Beyond this, the job that changed least recently is dropped.
const JOBS: usize = 256;

/// Totals of one job. A layer that is searched again after a rollback counts again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JobWork {
    /// Sessions that began.
    pub(crate) sessions: u64,
    /// States of complete layers.
    pub(crate) states: u64,
    /// Legal moves of these states.
    pub(crate) generated: u64,
    /// Bytes of layer files.
    pub(crate) layer_bytes: u64,
    /// Bytes of files from which layers were made.
    pub(crate) read_bytes: u64,
    /// Bytes of files that were written to make them.
    pub(crate) written_bytes: u64,
    /// Expansions found in memo tables.
    pub(crate) memo_hits: u64,
    /// Expansions that were looked up, not found and computed.
    pub(crate) memo_misses: u64,
    /// Seconds to compute these, over all threads and workers.
    pub(crate) memo_miss_seconds: f64,
    /// Durable checkpoints.
    pub(crate) checkpoints: u64,
    /// Bytes of their files.
    pub(crate) checkpoint_bytes: u64,
    /// Time that they took, from the order to save until they were durable.
    pub(crate) checkpoint_time: Duration,
    /// Bytes and time of the last one; `None` before the first.
    pub(crate) last_checkpoint: Option<(u64, Duration)>,
}

#[derive(Debug, Default)]
struct State {
    /// By id, with the number of its last change.
    jobs: BTreeMap<String, (u64, JobWork)>,
    changes: u64,
}

/// Totals of all jobs.
#[derive(Debug, Default)]
pub(crate) struct Work(Mutex<State>);

impl Work {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut JobWork)) {
        let mut state = self.state();
        state.changes += 1;
        let number = state.changes;
        if let Some((last, work)) = state.jobs.get_mut(id) {
            *last = number;
            change(work);
            return;
        }
        if state.jobs.len() >= JOBS {
            let oldest = state.jobs.iter().min_by_key(|(_, (last, _))| *last);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                state.jobs.remove(&oldest);
            }
        }
        let mut work = JobWork::default();
        change(&mut work);
        state.jobs.insert(id.to_owned(), (number, work));
    }

    /// Counts a session of a job.
    pub(crate) fn add_session(&self, id: &str) {
        self.change(id, |work| work.sessions += 1);
    }

    /// Counts a complete layer of a job.
    pub(crate) fn add_layer(&self, id: &str, line: &LayerRecord) {
        self.change(id, |work| {
            work.states = work.states.saturating_add(line.states);
            work.generated = work.generated.saturating_add(line.generated);
            work.layer_bytes = work.layer_bytes.saturating_add(line.bytes);
            work.read_bytes = work.read_bytes.saturating_add(line.read_bytes);
            work.written_bytes = work.written_bytes.saturating_add(line.written_bytes);
            work.memo_hits = work.memo_hits.saturating_add(line.memo_hits);
            work.memo_misses = work.memo_misses.saturating_add(line.memo_misses);
            work.memo_miss_seconds += line.memo_miss_seconds;
        });
    }

    /// Counts a durable checkpoint of a job.
    pub(crate) fn add_checkpoint(&self, id: &str, bytes: u64, took: Duration) {
        self.change(id, |work| {
            work.checkpoints += 1;
            work.checkpoint_bytes = work.checkpoint_bytes.saturating_add(bytes);
            work.checkpoint_time = work.checkpoint_time.saturating_add(took);
            work.last_checkpoint = Some((bytes, took));
        });
    }

    /// The totals of a job; `None` if it had no session since the start.
    pub(crate) fn of(&self, id: &str) -> Option<JobWork> {
        self.state().jobs.get(id).map(|(_, work)| *work)
    }
}

#[cfg(test)]
mod tests {
    use strata_store::Weight;

    use super::*;

    fn line(depth: u32) -> LayerRecord {
        LayerRecord {
            depth,
            states: 10,
            positions: 10,
            generated: 30,
            regions: 1,
            bytes: 100,
            read_bytes: 7,
            written_bytes: 8,
            memo_hits: 9,
            memo_misses: 2,
            memo_miss_seconds: 0.5,
            digest: Weight([0, 0]),
            seconds: 0.0,
            ..LayerRecord::default()
        }
    }

    #[test]
    fn a_repeated_layer_counts_again() {
        let work = Work::default();
        assert_eq!(work.of("a"), None);
        for _ in 0..2 {
            work.add_session("a");
            work.add_layer("a", &line(0));
        }
        work.add_checkpoint("a", 7, Duration::from_millis(500));
        work.add_checkpoint("a", 8, Duration::from_millis(250));
        let expected = JobWork {
            sessions: 2,
            states: 20,
            generated: 60,
            layer_bytes: 200,
            read_bytes: 14,
            written_bytes: 16,
            memo_hits: 18,
            memo_misses: 4,
            memo_miss_seconds: 1.0,
            checkpoints: 2,
            checkpoint_bytes: 15,
            checkpoint_time: Duration::from_millis(750),
            last_checkpoint: Some((8, Duration::from_millis(250))),
        };
        assert_eq!(work.of("a"), Some(expected));
    }

    #[test]
    fn at_the_limit_the_least_recently_changed_job_is_dropped() {
        let work = Work::default();
        for number in 0..JOBS {
            work.add_session(&number.to_string());
        }
        work.add_session("0");
        work.add_session("new");
        assert!(work.of("0").is_some() && work.of("new").is_some());
        assert_eq!((work.of("1"), work.state().jobs.len()), (None, JOBS));
    }
}
