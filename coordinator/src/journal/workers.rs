//! Workers of the journal: registration, and the reuse of numbers of workers that are gone.
//!
//! Numbers name files and messages, so they stay small: they count up from 0 without a gap. At the
//! limit a new worker gets the number of one that is gone and holds nothing that the journal names.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use strata_net::limits;
use strata_platform::Instant;
use strata_store::HistoryLine;

use super::error::JournalError;
use super::records::{COUNTS, Counts, JOBS, JobRecord, LAYERS, META, WORKERS, counts};
use super::table::{ALL, Access, Tx, Writing};
use crate::entry::{WorkerEntry, WorkerNumber};

type Result<T> = std::result::Result<T, JournalError>;

/// Most workers a cluster can have.
pub(super) const MAX_WORKERS: WorkerNumber = limits::WORKERS as WorkerNumber;

/// Time since a worker's last registration before which its number is not reused. It covers a
/// worker that has registered and is not connected yet.
const LEAST_AGE: Duration = Duration::from_secs(60);

/// What registration knows of the workers without reading the journal.
#[derive(Debug, Default)]
pub(super) struct WorkerIndex {
    numbers: HashMap<String, WorkerNumber>,
    /// Last registration of each worker, of those that registered since the journal was opened.
    registered: HashMap<WorkerNumber, Instant>,
}

/// A worker that registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registration<'a> {
    /// The id in its data directory.
    pub(crate) id: &'a str,
    /// Its name, for messages.
    pub(crate) name: &'a str,
    /// The URL at which other workers reach it.
    pub(crate) address: &'a str,
}

impl WorkerIndex {
    pub(super) fn new(workers: Vec<WorkerEntry>) -> WorkerIndex {
        let numbers = workers.into_iter().map(|worker| (worker.id, worker.number)).collect();
        WorkerIndex { numbers, ..WorkerIndex::default() }
    }

    /// Registers a worker in a transaction. [`Self::registered`] follows once that is durable.
    pub(super) fn register(
        &self,
        tx: &Writing,
        limit: WorkerNumber,
        worker: Registration,
        is_alive: impl Fn(WorkerNumber) -> bool,
    ) -> Result<WorkerEntry> {
        let number = match self.numbers.get(worker.id) {
            Some(number) => return update(tx, *number, worker),
            None => {
                let mut counts = counts(tx)?;
                if counts.workers < limit {
                    counts.workers += 1;
                    tx.put(META, COUNTS, &counts)?;
                    counts.workers - 1
                } else {
                    self.reuse(tx, limit, is_alive)?
                }
            }
        };
        let entry = WorkerEntry {
            number,
            id: worker.id.to_owned(),
            name: worker.name.to_owned(),
            address: worker.address.to_owned(),
            first_seen: now(),
        };
        tx.put(WORKERS, &worker_key(number), &entry)?;
        Ok(entry)
    }

    /// Records a durable registration.
    pub(super) fn registered(&mut self, entry: &WorkerEntry) {
        self.registered.insert(entry.number, Instant::now());
        if self.numbers.get(&entry.id) != Some(&entry.number) {
            self.numbers.retain(|_, number| *number != entry.number);
            self.numbers.insert(entry.id.clone(), entry.number);
        }
    }

    /// The number of a worker that is gone and holds nothing. Searches again each time: a worker
    /// whose lease was over can continue without a registration.
    fn reuse(
        &self,
        tx: &Writing,
        limit: WorkerNumber,
        is_alive: impl Fn(WorkerNumber) -> bool,
    ) -> Result<WorkerNumber> {
        let (now, holders) = (Instant::now(), holders(tx)?);
        let is_old = |at: &Instant| now.duration_since(*at) >= LEAST_AGE;
        let is_free = |number: &WorkerNumber| {
            !holders.contains(&u32::from(*number))
                && !is_alive(*number)
                && self.registered.get(number).is_none_or(is_old)
        };
        (0..limit).find(is_free).ok_or(JournalError::TooManyWorkers { limit })
    }
}

/// Gives a known worker its new name and address.
fn update(tx: &Writing, number: WorkerNumber, worker: Registration) -> Result<WorkerEntry> {
    let key = worker_key(number);
    let known = tx.get::<WorkerEntry>(WORKERS, &key)?;
    let known = known.ok_or_else(|| tx.corrupt(WORKERS, &key, "it is missing"))?;
    let entry =
        WorkerEntry { name: worker.name.to_owned(), address: worker.address.to_owned(), ..known };
    tx.put(WORKERS, &key, &entry)?;
    Ok(entry)
}

/// The workers that hold a file of a checkpoint or a kept layer of any job. Reads all layers.
fn holders<A: Access>(tx: &Tx<A>) -> Result<HashSet<u32>> {
    let mut holders = HashSet::new();
    tx.each::<JobRecord>(JOBS, ALL, |_, record| {
        let checkpoint = record.entry.checkpoint.iter();
        holders.extend(checkpoint.flat_map(|c| &c.records).map(|file| file.worker));
        Ok(ControlFlow::Continue(()))
    })?;
    tx.each::<HistoryLine>(LAYERS, ALL, |_, line| {
        holders.extend(line.kept.iter().flatten().map(|file| file.worker));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(holders)
}

/// All workers, by number.
pub(super) fn workers<A: Access>(tx: &Tx<A>, counts: &Counts) -> Result<Vec<WorkerEntry>> {
    let workers = tx.all::<WorkerEntry>(WORKERS)?;
    for (number, (key, worker)) in (0..).zip(&workers) {
        if worker.number != number || *key != worker_key(number) {
            return Err(tx.corrupt(WORKERS, key, format!("not worker {number}")));
        }
    }
    if workers.len() != usize::from(counts.workers) {
        let what =
            format!("the counter says {} workers, the table has {}", counts.workers, workers.len());
        return Err(tx.corrupt(META, COUNTS, what));
    }
    Ok(workers.into_iter().map(|(_, worker)| worker).collect())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

pub(super) fn worker_key(number: WorkerNumber) -> String {
    format!("{number:05}")
}
