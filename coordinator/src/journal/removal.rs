//! Removal of jobs, and the tombstones of removed jobs.
//!
//! One transaction removes a job's records and leaves a tombstone, which lists the workers that may
//! still hold files of the job, and whether its log may still exist. The tombstone is removed when
//! the log and all files are gone. So a removal that a crash interrupts is finished later.

use std::collections::BTreeMap;

use strata_proto::net::limits;

use super::ended::set_end;
use super::error::JournalError;
use super::operations::Journal;
use super::records::{
    COUNTS, JOBS, JobRecord, LAYERS, META, NAMES, SUBMITTED, TOMBSTONES, check_last_layer, counts,
    layer_key, record, submission_key,
};
use super::table::Writing;
use super::tombstones::{Tombstone, Tombstones, load};
use crate::entry::{JobEntry, WorkerNumber};

type Result<T> = std::result::Result<T, JournalError>;

/// Most tombstones that are kept.
const MAX_TOMBSTONES: usize = limits::TOMBSTONES;

/// Changes of tombstones in a transaction.
#[derive(Debug, Default)]
struct Changes {
    /// Tombstones to add or replace.
    set: Vec<Tombstone>,
    /// Ids of the jobs whose tombstones are removed.
    removed: Vec<String>,
}

impl Journal {
    /// Removes a job that has ended, with its layers and its name. Returns the job. The registered
    /// workers remove its files; see [`Self::pending_removals`].
    ///
    /// # Errors
    /// `NoSuchJob`; `NotEnded` if it is queued or runs.
    pub fn remove(&self, id: &str) -> Result<JobEntry> {
        let mut removed = self.remove_each(&[id], |tx| record(tx, id).map(|_| ()))?;
        removed.pop().ok_or_else(|| JournalError::NotEnded { job: id.to_owned() })
    }

    /// Removes the jobs among `ids` that exist and have ended, in one transaction. Returns the
    /// removed jobs.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn remove_ended(&self, ids: &[String]) -> Result<Vec<JobEntry>> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.remove_each(&ids, |_| Ok(()))
    }

    fn remove_each(
        &self,
        ids: &[&str],
        check: impl FnOnce(&Writing) -> Result<()>,
    ) -> Result<Vec<JobEntry>> {
        let now = self.now();
        let mut jobs = Vec::new();
        // The queue's index has no jobs that have ended.
        self.change_tombstones(|tx, known| {
            check(tx)?;
            let workers: Vec<WorkerNumber> = (0..counts(tx)?.workers).collect();
            let mut changes = Changes::default();
            for id in ids {
                let Some(entry) = remove_records(tx, id)? else { continue };
                let (job, workers) = (entry.id.clone(), workers.clone());
                changes.set.push(Tombstone { job, removed: now, log: true, workers });
                jobs.push(entry);
            }
            drop_oldest(known, &mut changes);
            Ok(changes)
        })?;
        Ok(jobs)
    }

    /// Adds tombstones for jobs that the journal does not have, so that the given workers remove
    /// their files. Jobs that the journal has, or has a tombstone of, stay as they are.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn remove_unknown(&self, jobs: &BTreeMap<String, Vec<WorkerNumber>>) -> Result<()> {
        let now = self.now();
        self.change_tombstones(|tx, known| {
            let mut changes = Changes::default();
            for (job, workers) in jobs {
                if known.contains_key(job) || tx.get::<JobRecord>(JOBS, job)?.is_some() {
                    continue;
                }
                let (job, workers) = (job.clone(), workers.clone());
                changes.set.push(Tombstone { job, removed: now, log: true, workers });
            }
            drop_oldest(known, &mut changes);
            Ok(changes)
        })
    }

    /// Whether the journal has a job of this id, or its tombstone.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn knows(&self, id: &str) -> Result<bool> {
        if self.tombstones(|known| known.contains_key(id))? {
            return Ok(true);
        }
        self.store().read(|tx| Ok(tx.get::<JobRecord>(JOBS, id)?.is_some()))
    }

    /// Ids of removed jobs of which a worker may still hold files, ascending; at most `most`.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn pending_removals(&self, worker: WorkerNumber, most: usize) -> Result<Vec<String>> {
        self.tombstones(|known| {
            let pending = known.values().filter(|one| one.workers.binary_search(&worker).is_ok());
            pending.take(most).map(|one| one.job.clone()).collect()
        })
    }

    /// The workers that may still hold files of removed jobs, ascending.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn holders(&self, jobs: &[String]) -> Result<Vec<WorkerNumber>> {
        self.tombstones(|known| {
            let of_jobs = jobs.iter().filter_map(|job| known.get(job));
            let mut workers: Vec<WorkerNumber> =
                of_jobs.flat_map(|tombstone| tombstone.workers.iter().copied()).collect();
            workers.sort_unstable();
            workers.dedup();
            workers
        })
    }

    /// Ids of removed jobs whose logs may still exist, ascending.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn pending_logs(&self) -> Result<Vec<String>> {
        self.tombstones(|known| {
            known.values().filter(|one| one.log).map(|one| one.job.clone()).collect()
        })
    }

    /// Records that workers no longer hold files of removed jobs.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn confirm_removals(&self, removals: &[(WorkerNumber, Vec<String>)]) -> Result<()> {
        self.change_tombstones(|_, known| {
            let mut left: Tombstones = BTreeMap::new();
            for (worker, jobs) in removals {
                for tombstone in jobs.iter().filter_map(|job| known.get(job)) {
                    let left = left.entry(tombstone.job.clone());
                    left.or_insert_with(|| tombstone.clone()).workers.retain(|one| one != worker);
                }
            }
            Ok(changes_to(known, left.into_values()))
        })
    }

    /// Records that the logs of removed jobs are gone.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn confirm_logs(&self, jobs: &[String]) -> Result<()> {
        self.change_tombstones(|_, known| {
            let known_ones = jobs.iter().filter_map(|job| known.get(job));
            let left = known_ones.map(|one| Tombstone { log: false, ..one.clone() });
            Ok(changes_to(known, left))
        })
    }

    /// Reads the tombstones.
    fn tombstones<T>(&self, read: impl FnOnce(&Tombstones) -> T) -> Result<T> {
        let mut known = self.tombstones.known();
        match &*known {
            Some(tombstones) => Ok(read(tombstones)),
            None => Ok(read(known.insert(self.store().read(load)?))),
        }
    }

    /// Runs a transaction that changes tombstones. The lock is held meanwhile: the index changes in the
    /// order of the transactions.
    fn change_tombstones(
        &self,
        change: impl FnOnce(&Writing, &Tombstones) -> Result<Changes>,
    ) -> Result<()> {
        let mut index = self.tombstones.known();
        let mut known = match index.take() {
            Some(known) => known,
            None => self.store().read(load)?,
        };
        // After an error the index stays unknown: the transaction may have taken effect.
        let changes = self.store().write(|tx| {
            let changes = change(tx, &known)?;
            tx.put_all(TOMBSTONES, changes.set.iter().map(|one| (one.job.clone(), one)))?;
            tx.remove_all(TOMBSTONES, changes.removed.iter().cloned())?;
            Ok(changes)
        })?;
        known.extend(changes.set.into_iter().map(|one| (one.job.clone(), one)));
        for job in &changes.removed {
            known.remove(job);
        }
        *index = Some(known);
        Ok(())
    }
}

/// Removes the records of a job, unless it is unknown or has not ended.
fn remove_records(tx: &Writing, id: &str) -> Result<Option<JobEntry>> {
    let record = match record(tx, id) {
        Ok(record) => record,
        Err(JournalError::NoSuchJob { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !record.entry.state.has_ended() {
        return Ok(None);
    }
    check_last_layer(tx, &record)?;
    let JobRecord { layers, submitted, entry } = record;
    let mut counts = counts(tx)?;
    counts.jobs = counts.jobs.saturating_sub(1);
    tx.put(META, COUNTS, &counts)?;
    tx.remove_all(LAYERS, (0..layers).map(|depth| layer_key(id, depth)))?;
    tx.remove_all(SUBMITTED, [submission_key(submitted)])?;
    // A newer job may have the name.
    if let Some(name) = &entry.name
        && tx.get::<String>(NAMES, name)?.as_deref() == Some(id)
    {
        tx.remove_all(NAMES, [name.clone()])?;
    }
    tx.remove_all(JOBS, [id.to_owned()])?;
    set_end(tx, Some(&entry), None)?;
    Ok(Some(entry))
}

/// The changes that write the tombstones `new` and remove those that are done. Tombstones that
/// equal the known ones are skipped.
fn changes_to(known: &Tombstones, new: impl Iterator<Item = Tombstone>) -> Changes {
    let mut changes = Changes::default();
    for tombstone in new {
        if tombstone.is_done() {
            changes.removed.push(tombstone.job);
        } else if known.get(&tombstone.job) != Some(&tombstone) {
            changes.set.push(tombstone);
        }
    }
    changes
}

/// Drops the oldest tombstones beyond the limit. Absent workers keep the files of these jobs until
/// `strata gc` removes them.
fn drop_oldest(known: &Tombstones, changes: &mut Changes) {
    let excess = (known.len() + changes.set.len()).saturating_sub(MAX_TOMBSTONES);
    if excess == 0 {
        return;
    }
    let mut oldest: Vec<&Tombstone> = known.values().collect();
    oldest.sort_unstable_by_key(|one| one.removed);
    for tombstone in oldest.into_iter().take(excess) {
        tracing::warn!(
            job = tombstone.job,
            "more than {MAX_TOMBSTONES} removed jobs wait for workers: absent ones keep the files \
             of this job until they are connected and strata gc is run"
        );
        changes.removed.push(tombstone.job.clone());
    }
}

#[cfg(test)]
mod tests;
