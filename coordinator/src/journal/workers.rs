//! Registration of workers in the journal, and reuse of the numbers of workers that are gone.
//!
//! Numbers are part of file names and messages, so they stay small: they count up from 0 without a
//! gap. At the limit a new worker gets the number of a worker that is gone and holds no file that
//! the journal names.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use strata_proto::net::limits;
use strata_proto::platform::Instant;
use strata_store::LayerRecord;

use super::error::JournalError;
use super::names::{Names, Registration, WorkerName, assign};
use super::records::{COUNTS, Counts, JOBS, JobRecord, LAYERS, META, WORKERS, counts};
use super::table::{ALL, Access, Tx, Writing};
use crate::entry::{WorkerEntry, WorkerNumber};

type Result<T> = std::result::Result<T, JournalError>;

/// Most workers a cluster can have.
pub(super) const MAX_WORKERS: WorkerNumber = limits::WORKERS as WorkerNumber;

/// The number of a worker is not reused within this time after its last registration. The time
/// covers a worker that has registered and is not connected yet.
const LEAST_AGE: Duration = Duration::from_secs(60);

/// In-memory index of the workers, so that a registration reads no other worker's record.
#[derive(Debug, Default)]
pub(super) struct WorkerIndex {
    numbers: HashMap<String, WorkerNumber>,
    workers: BTreeMap<WorkerNumber, WorkerEntry>,
    /// Time of the last registration of each worker that has registered since the journal was
    /// opened.
    registered: HashMap<WorkerNumber, Instant>,
}

/// Result of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The worker.
    pub entry: WorkerEntry,
    /// Other workers that were renamed.
    pub renamed: Vec<WorkerEntry>,
}

impl WorkerIndex {
    pub(super) fn new(workers: Vec<WorkerEntry>) -> WorkerIndex {
        let numbers = workers.iter().map(|worker| (worker.id.clone(), worker.number)).collect();
        let workers = workers.into_iter().map(|worker| (worker.number, worker)).collect();
        WorkerIndex { numbers, workers, ..WorkerIndex::default() }
    }

    /// Registers a worker in a transaction. After the commit the caller must call
    /// [`Self::registered`].
    pub(super) fn register(
        &self,
        tx: &Writing,
        limit: WorkerNumber,
        worker: Registration,
        is_alive: impl Fn(WorkerNumber) -> bool,
    ) -> Result<Registered> {
        let (number, first_seen) = match self.numbers.get(worker.id) {
            Some(number) => (*number, first_seen(tx, *number)?),
            None => (self.new_number(tx, limit, &is_alive)?, now()),
        };
        let Names { own, renamed } = assign(&self.workers, number, &worker, is_alive);
        let WorkerName { name, is_given } = worker.name;
        let entry = WorkerEntry {
            number,
            id: worker.id.to_owned(),
            name: own,
            address: worker.address.to_owned(),
            first_seen,
            host: (!is_given).then(|| name.to_owned()),
        };
        let others = renamed.into_iter().filter_map(|(number, name)| {
            let known = self.workers.get(&number)?;
            Some(WorkerEntry { name, ..known.clone() })
        });
        let renamed: Vec<WorkerEntry> = others.collect();
        for entry in renamed.iter().chain([&entry]) {
            tx.put(WORKERS, &worker_key(entry.number), entry)?;
        }
        Ok(Registered { entry, renamed })
    }

    fn new_number(
        &self,
        tx: &Writing,
        limit: WorkerNumber,
        is_alive: impl Fn(WorkerNumber) -> bool,
    ) -> Result<WorkerNumber> {
        let mut counts = counts(tx)?;
        if counts.workers >= limit {
            return self.reuse(tx, limit, is_alive);
        }
        counts.workers += 1;
        tx.put(META, COUNTS, &counts)?;
        Ok(counts.workers - 1)
    }

    /// Records a durable registration.
    pub(super) fn registered(&mut self, registered: &Registered) {
        let Registered { entry, renamed } = registered;
        self.registered.insert(entry.number, Instant::now());
        if self.numbers.get(&entry.id) != Some(&entry.number) {
            self.numbers.retain(|_, number| *number != entry.number);
            self.numbers.insert(entry.id.clone(), entry.number);
        }
        let changed = renamed.iter().chain([entry]);
        self.workers.extend(changed.map(|worker| (worker.number, worker.clone())));
    }

    /// The number of a worker that is gone and holds no files. Computed anew each time: a worker
    /// whose lease has ended can continue without a registration.
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

/// When a known worker registered for the first time.
fn first_seen(tx: &Writing, number: WorkerNumber) -> Result<u64> {
    let key = worker_key(number);
    let known = tx.get::<WorkerEntry>(WORKERS, &key)?;
    let known = known.ok_or_else(|| tx.corrupt(WORKERS, &key, "it is missing"))?;
    Ok(known.first_seen)
}

/// The workers that hold a file of a checkpoint or a kept layer of any job. Reads all layers.
fn holders<A: Access>(tx: &Tx<A>) -> Result<HashSet<u32>> {
    let mut holders = HashSet::new();
    tx.each::<JobRecord>(JOBS, ALL, |_, record| {
        let checkpoint = record.entry.checkpoint.iter();
        holders.extend(checkpoint.flat_map(|c| &c.records).map(|file| file.worker));
        Ok(ControlFlow::Continue(()))
    })?;
    tx.each::<LayerRecord>(LAYERS, ALL, |_, line| {
        holders.extend(line.kept.iter().map(|file| file.worker));
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
