//! Operations of the journal on jobs, layers, workers and epochs.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use strata_proto::net::limits;
use strata_run::StopReason;
use strata_store::JobSpec;
use strata_store::check_name;

use super::ended::{end_time, set_end};
use super::error::JournalError;
use super::file::{self, Store};
use super::index::{by_name, has_job, unended, was_removed};
use super::names::{Registration, WorkerName};
use super::queue::{IndexLock, QueueIndex, Unended};
use super::records::{
    COUNTS, Counts, ENDED, FORMAT, JOBS, JobRecord, LAYERS, META, NAMES, SUBMITTED, TOMBSTONES,
    WORKERS, counts, next, record, submission_key,
};
use super::setup::JournalSetup;
use super::table::Writing;
use super::tombstones::TombstoneIndex;
use super::workers::{MAX_WORKERS, Registered, WorkerIndex, workers};
use crate::entry::{JobEntry, JobOptions, JobState, WorkerEntry, WorkerNumber};

type Result<T> = std::result::Result<T, JournalError>;

/// Length of the text that [`Journal::check_writable`] writes, in bytes: about that of a small
/// checkpoint.
const CHECK_BYTES: usize = 16 << 10;

/// Key in [`META`] of the text that [`Journal::check_writable`] writes. Its content has no meaning.
const CHECK: &str = "check";

/// Name of a new job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobName<'a> {
    /// 1 to 64 letters, digits, dots, dashes and underscores, no dot at the start.
    pub name: &'a str,
    /// Whether a new job gets the name even if a job of that name has ended. If a job of that name has
    /// not ended, the submission then fails.
    pub again: bool,
}

impl<'a> From<&'a str> for JobName<'a> {
    /// A name whose [`again`](JobName::again) is false.
    fn from(name: &'a str) -> JobName<'a> {
        JobName { name, again: false }
    }
}

/// An open journal. The file is locked until the value is dropped.
///
/// Methods can be called by several threads; those that write wait for each other. Besides the
/// errors named at each method, all return `Io`, `Corrupt` if the file is damaged, and `Unusable`
/// after an earlier failure. After `Io` and `Unusable` the file is opened again, at most once a
/// second, and the operation can be repeated.
pub struct Journal {
    store: Store,
    setup: JournalSetup,
    id: String,
    queue: QueueIndex,
    pub(super) tombstones: TombstoneIndex,
    workers: Mutex<WorkerIndex>,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("path", &self.store.path()).finish()
    }
}

impl Journal {
    /// Opens the journal at `path`, or creates an empty one. Checks the whole file, and undoes an
    /// interrupted transaction.
    ///
    /// # Errors
    /// `Locked` if it is open elsewhere, `Corrupt` if it is damaged or no journal, `Format` if
    /// another version wrote it, `Io`.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, JournalSetup::default())
    }

    /// Opens the journal at `path` like [`Self::open`], with the file access, random numbers and
    /// clock of `setup`.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_with(path: &Path, setup: JournalSetup) -> Result<Self> {
        let store = Store::open(path, setup.clone(), |tx| {
            for table in [META, JOBS, SUBMITTED, NAMES, LAYERS, WORKERS, ENDED, TOMBSTONES] {
                tx.create(table)?;
            }
            let id = setup.id()?;
            tx.put(META, COUNTS, &Counts { format: FORMAT, id, ..Counts::default() })
        })?;
        #[derive(Deserialize)]
        struct OfAnyVersion {
            format: u32,
        }
        let format = store.read(|tx| match tx.get::<OfAnyVersion>(META, COUNTS)? {
            Some(counts) => Ok(counts.format),
            None => Err(tx.corrupt(META, COUNTS, "it is missing")),
        })?;
        if format != FORMAT {
            let path = path.to_path_buf();
            return Err(JournalError::Format { path, expected: FORMAT, found: format });
        }
        let id = store.read(|tx| Ok(counts(tx)?.id))?;
        let workers = store.read(|tx| workers(tx, &counts(tx)?))?;
        let workers = Mutex::new(WorkerIndex::new(workers));
        let (queue, tombstones) = (QueueIndex::default(), TombstoneIndex::default());
        let journal = Self { store, setup, id, queue, tombstones, workers };
        // Built now, so that the first calls do not wait for the indexes.
        journal.unended(|_| ())?;
        journal.pending_logs()?;
        journal.shrink();
        Ok(journal)
    }

    /// Whether `name` is a temporary name of the journal `of` during its creation. If the creating
    /// process has ended, such a file is a leftover.
    pub(crate) fn is_temporary(name: &str, of: &str) -> bool {
        file::is_temporary(name, of)
    }

    /// Random id of the journal, which is permanent: 32 hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Registers a worker. A known id keeps its number and gets the new address. A new id gets the
    /// next number. At the limit of 4,096 it gets the number of a worker that holds no file of a
    /// checkpoint or kept layer, for which `is_alive` is false, and which has not registered for a
    /// minute. That worker's record is replaced: if it returns, it counts as new.
    ///
    /// No two workers have the same name. A worker without a given name has its host's name. If the
    /// host has several workers, their names also have the ports of their addresses; known workers
    /// are renamed then. If a live worker already has a given name, the new worker's number is
    /// appended to it.
    ///
    /// # Errors
    /// `TooManyWorkers` if there are 4,096 workers and none of them can be replaced.
    pub fn register<'a>(
        &self,
        id: &'a str,
        name: impl Into<WorkerName<'a>>,
        address: &'a str,
        is_alive: impl Fn(WorkerNumber) -> bool,
    ) -> Result<Registered> {
        let name = name.into();
        self.register_within(MAX_WORKERS, Registration { id, name, address }, is_alive)
    }

    fn register_within(
        &self,
        limit: WorkerNumber,
        worker: Registration,
        is_alive: impl Fn(WorkerNumber) -> bool,
    ) -> Result<Registered> {
        // Held until the number is recorded, so that no two workers get the same number or name.
        let mut index = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let registered = self.store.write(|tx| index.register(tx, limit, worker, is_alive))?;
        index.registered(&registered);
        Ok(registered)
    }

    /// All workers that have registered and were not replaced, by number.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn workers(&self) -> Result<Vec<WorkerEntry>> {
        self.store.read(|tx| workers(tx, &counts(tx)?))
    }

    /// Issues an epoch. The first is 1, and each is greater than all before, also across restarts.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn next_epoch(&self) -> Result<u64> {
        self.store.write(|tx| {
            let mut counts = counts(tx)?;
            counts.epoch = next(tx, "epoch", counts.epoch)?;
            tx.put(META, COUNTS, &counts)?;
            Ok(counts.epoch)
        })
    }

    /// Makes the next epoch greater than one that a worker has seen. Returns the last issued epoch
    /// if it was smaller: then this journal is an older copy of the one that issued that epoch.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn skip_epochs(&self, seen: u64) -> Result<Option<u64>> {
        self.store.write(|tx| {
            let counts = counts(tx)?;
            let last = counts.epoch;
            if seen <= last {
                return Ok(None);
            }
            tx.put(META, COUNTS, &Counts { epoch: seen, ..counts })?;
            Ok(Some(last))
        })
    }

    /// The time in seconds since 1970.
    pub(super) fn now(&self) -> u64 {
        self.setup.seconds()
    }

    /// Shrinks the file if most of it is free, as after the removal of many jobs. A failure is logged.
    pub(crate) fn shrink(&self) {
        if let Err(error) = self.store.shrink() {
            tracing::warn!("the journal keeps its size: {error}");
        }
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Why the journal cannot be written; `None` while it can.
    pub(crate) fn fault(&self) -> Option<JournalError> {
        self.store.health().fault()
    }

    /// Checks that the journal can be written, by a write, unless one has succeeded within `recent`
    /// and nothing has failed since.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn check_writable(&self, recent: Duration) -> Result<()> {
        if self.store.health().is_proven(recent) {
            return Ok(());
        }
        // The text differs each time: an equal value would not be written.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let value = format!("{:>width$}", now.as_nanos(), width = CHECK_BYTES);
        self.store.write(|tx| tx.put(META, CHECK, &value))
    }

    /// Runs a write transaction that changes a job, and returns the job.
    pub(super) fn change<T>(
        &self,
        body: impl FnOnce(&Writing) -> Result<(JobEntry, T)>,
    ) -> Result<(JobEntry, T)> {
        self.queue.update(|| self.store.write(body))
    }

    /// Reads the index of the jobs that have not ended.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn unended<T>(&self, read: impl FnOnce(&Unended) -> T) -> Result<T> {
        self.queue.read(|| self.store.read(unended), read)
    }

    /// As [`Self::unended`]. Also returns the lock of the index: no job changes its state until it
    /// is dropped.
    pub(super) fn unended_locked<T>(
        &self,
        read: impl FnOnce(&Unended) -> T,
    ) -> Result<(T, IndexLock<'_>)> {
        self.queue.read_locked(|| self.store.read(unended), read)
    }

    /// Queues a job and returns it with `true`. Its id is `id_prefix` and six random letters. If a
    /// job of that name waits or runs and has the same specification, returns that job unchanged,
    /// with `false`. A name means the newest job that has it. Lists show `expected_layers`.
    ///
    /// # Errors
    /// `NameTaken` if the job of that name has another specification; `NameEnded` if it has ended
    /// and [`JobName::again`] is false, `NameInUse` if it has not ended and [`JobName::again`] is
    /// true; `Name` for names and prefixes that are empty, longer than 64 characters or cannot be a
    /// folder's name; `Unwritable` for values that JSON cannot hold.
    pub fn submit(
        &self,
        id_prefix: &str,
        name: Option<JobName<'_>>,
        spec: JobSpec,
        options: JobOptions,
        created: u64,
        expected_layers: Option<u32>,
    ) -> Result<(JobEntry, bool)> {
        check("prefix of a job id", id_prefix)?;
        name.map_or(Ok(()), |JobName { name, .. }| check("name of a job", name))?;
        self.change(|tx| {
            let mut counts = counts(tx)?;
            if let Some(job) = name.map(|name| unended_of(tx, name)).transpose()?.flatten() {
                return same_spec(job, &spec, &options).map(|job| (job, false));
            }
            let id = loop {
                let id = format!("{id_prefix}-{}", self.setup.letters()?);
                // An id that equals a name would make the name ambiguous.
                if !has_job(tx, &id)? && !was_removed(tx, &id)? && by_name(tx, &id)?.is_none() {
                    break id;
                }
            };
            let entry = JobEntry {
                id,
                name: name.map(|JobName { name, .. }| name.to_owned()),
                order: counts.order,
                spec,
                options,
                state: JobState::Queued,
                created,
                seconds: 0.0,
                expected_layers,
                expected_states: None,
                work_done: None,
                progress: None,
                checkpoint: None,
                result: None,
                peak_rss_bytes: 0,
                peak_rss_worker: None,
                cancel: false,
                ended: None,
            };
            add_job(tx, &mut counts, &entry)?;
            tx.put(META, COUNTS, &counts)?;
            Ok((entry, true))
        })
    }

    /// Changes a job, and returns it with the result of `change`, which must not call the journal.
    ///
    /// # Errors
    /// `NoSuchJob`; `Fixed` if the id, name, place, specification, priority, time of submission or time
    /// of the end changes; `Unwritable` for values that JSON cannot hold, such as an infinite time.
    pub fn update<T>(
        &self,
        id: &str,
        change: impl FnOnce(&mut JobEntry) -> T,
    ) -> Result<(JobEntry, T)> {
        self.change(|tx| {
            let mut record = record(tx, id)?;
            let result = apply(tx, &mut record, self.now(), change)?;
            tx.put(JOBS, id, &record)?;
            Ok((record.entry, result))
        })
    }

    /// Queues a job again, at the end, without the limit that stopped it.
    ///
    /// # Errors
    /// `NoSuchJob`; `NotResumable` unless [`JobState::may_resume`].
    pub fn requeue(&self, id: &str) -> Result<JobEntry> {
        let changed = self.change(|tx| {
            let mut record = record(tx, id)?;
            let entry = &mut record.entry;
            if !entry.state.may_resume() {
                let state = entry.state.clone();
                return Err(JournalError::NotResumable { job: id.to_owned(), state });
            }
            // The same limit would stop the job again.
            match entry.state {
                JobState::Stopped(StopReason::MaxLayers) => entry.options.max_layers = None,
                JobState::Stopped(StopReason::DiskLimit) => entry.options.disk_limit = None,
                _ => {}
            }
            let mut counts = counts(tx)?;
            set_end(tx, Some(entry), None)?;
            entry.ended = None;
            entry.state = JobState::Queued;
            entry.order = counts.order;
            entry.cancel = false;
            counts.order = next(tx, "place in the queue", counts.order)?;
            tx.put(META, COUNTS, &counts)?;
            tx.put(JOBS, id, &record)?;
            Ok((record.entry, ()))
        });
        changed.map(|(entry, ())| entry)
    }
}

/// Applies the caller's change to a job, unless it changes a fixed field. If the change ends the
/// job, the time of its end is set.
pub(super) fn apply<T>(
    tx: &Writing,
    record: &mut JobRecord,
    now: u64,
    change: impl FnOnce(&mut JobEntry) -> T,
) -> Result<T> {
    let old = record.entry.clone();
    let new = &mut record.entry;
    let result = tx.run_caller(|| change(new));
    let fixed = [
        ("id", old.id == new.id),
        ("name", old.name == new.name),
        ("place in the queue", old.order == new.order),
        ("specification", old.spec == new.spec || may_change_engine(&old, new)),
        ("priority", old.options.priority == new.options.priority),
        ("time of submission", old.created == new.created),
        ("time of the end", old.ended == new.ended),
    ];
    if let Some((what, _)) = fixed.into_iter().find(|(_, same)| !same) {
        return Err(JournalError::Fixed { job: old.id, what });
    }
    new.ended = match (new.state.has_ended(), old.ended) {
        (false, _) => None,
        (true, None) => Some(end_time(tx, now)?),
        (true, ended) => ended,
    };
    set_end(tx, Some(&old), Some(new))?;
    Ok(result)
}

/// The job with the name of a submission, if it has not ended. `None` if no job has the name, or if
/// it has ended and the name may be reused.
fn unended_of(tx: &Writing, name: JobName<'_>) -> Result<Option<JobEntry>> {
    let JobName { name, again } = name;
    let Some(job) = by_name(tx, name)? else { return Ok(None) };
    match (job.state.has_ended(), again) {
        (false, false) => Ok(Some(job)),
        (true, true) => Ok(None),
        (true, false) => {
            Err(JournalError::NameEnded { name: name.to_owned(), job: job.id, state: job.state })
        }
        (false, true) => Err(JournalError::NameInUse { name: name.to_owned(), job: job.id }),
    }
}

/// Whether a change of a job's specification is allowed: only engine and shards differ, the engine
/// is still open, and the job has no layers.
fn may_change_engine(old: &JobEntry, new: &JobEntry) -> bool {
    let JobSpec { engine, shards, .. } = new.spec;
    let is_open = old.options.engine.is_open() && old.progress.is_none();
    is_open && JobSpec { engine, shards, ..old.spec.clone() } == new.spec
}

/// Returns `job`, which has the name of a new job, if it has the same specification as the new one.
/// If the coordinator chose both engines, they may differ, and so may numbers of shards that are
/// defaults.
fn same_spec(job: JobEntry, spec: &JobSpec, options: &JobOptions) -> Result<JobEntry> {
    let mut spec = spec.clone();
    if let (Some(before), Some(auto)) = (&job.options.engine.auto, &options.engine.auto) {
        spec.engine = job.spec.engine;
        if before.default_shards && auto.default_shards {
            spec.shards = job.spec.shards;
        }
    }
    if job.spec == spec {
        return Ok(job);
    }
    let differences = job.spec.differences(&spec);
    Err(JournalError::NameTaken { name: job.name.unwrap_or_default(), job: job.id, differences })
}

/// Adds a new job, with the next place in the queue. The caller stores the counts.
fn add_job(tx: &Writing, counts: &mut Counts, entry: &JobEntry) -> Result<()> {
    let submitted = counts.order;
    counts.order = next(tx, "place in the queue", counts.order)?;
    counts.jobs = next(tx, "job", counts.jobs)?;
    tx.put(SUBMITTED, &submission_key(submitted), &entry.id)?;
    if let Some(name) = &entry.name {
        tx.put(NAMES, name, &entry.id)?;
    }
    let record = JobRecord { layers: 0, submitted, entry: entry.clone() };
    tx.put(JOBS, &entry.id, &record)
}

/// Accepts names that can be part of a folder's name and of a layer's key.
fn check(what: &'static str, name: &str) -> Result<()> {
    if name.len() <= limits::NAME_LEN && check_name(what, name).is_ok() {
        Ok(())
    } else {
        Err(JournalError::Name { what, name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests;
