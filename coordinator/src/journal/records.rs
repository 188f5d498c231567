//! Tables of the journal, and the records in them.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use strata_store::LayerRecord;

use super::error::JournalError;
use super::table::{Access, Name, Tx};
use crate::entry::{JobEntry, WorkerNumber};

type Result<T> = std::result::Result<T, JournalError>;

/// Version of the content of the tables.
pub(super) const FORMAT: u32 = 1;

/// [`Counts`] under the key [`COUNTS`].
pub(super) const META: Name = "meta";
pub(super) const COUNTS: &str = "counts";
/// [`JobRecord`] by id.
pub(super) const JOBS: Name = "jobs";
/// Ids of jobs by submission, see [`submission_key`].
pub(super) const SUBMITTED: Name = "submitted";
/// Ids of named jobs, by name.
pub(super) const NAMES: Name = "names";
/// [`LayerRecord`] by job and depth, see [`layer_key`].
pub(super) const LAYERS: Name = "layers";
/// [`WorkerEntry`](crate::WorkerEntry) by number.
pub(super) const WORKERS: Name = "workers";

/// [`EndedJob`](super::ended::EndedJob) by the time of the end and the place in the queue, see
/// [`end_key`].
pub(super) const ENDED: Name = "ended";
/// [`Tombstone`](super::tombstones::Tombstone) by the id of the removed job.
pub(super) const TOMBSTONES: Name = "tombstones";

/// Counters of the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counts {
    /// [`FORMAT`]. Every version of this program reads this field.
    pub(super) format: u32,
    /// Random id of the journal: 32 hexadecimal digits.
    pub(super) id: String,
    /// The last epoch that was issued; 0 before the first.
    pub(super) epoch: u64,
    /// The next free place in the queue.
    pub(super) order: u64,
    /// Number of jobs.
    pub(super) jobs: u64,
    /// Number of workers.
    pub(super) workers: WorkerNumber,
}

/// A job as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobRecord {
    /// Number of layers in [`LAYERS`].
    pub(super) layers: u32,
    /// Its key in [`SUBMITTED`]: the first place that it had in the queue.
    pub(super) submitted: u64,
    pub(super) entry: JobEntry,
}

pub(super) fn counts<A: Access>(tx: &Tx<A>) -> Result<Counts> {
    tx.get(META, COUNTS)?.ok_or_else(|| tx.corrupt(META, COUNTS, "it is missing"))
}

/// The number after `number`, the value of a counter. A counter at the greatest number is reported
/// as damaged.
pub(super) fn next<A: Access>(tx: &Tx<A>, what: &str, number: u64) -> Result<u64> {
    let next = number.checked_add(1);
    next.ok_or_else(|| tx.corrupt(META, COUNTS, format!("there is no {what} after {number}")))
}

pub(super) fn record<A: Access>(tx: &Tx<A>, id: &str) -> Result<JobRecord> {
    let record: JobRecord = tx.get(JOBS, id)?.ok_or_else(|| no_job(id))?;
    if record.entry.id == id {
        Ok(record)
    } else {
        Err(tx.corrupt(JOBS, id, format!("it is job {:?}", record.entry.id)))
    }
}

/// Checks that the last layer of a job exists. The number of layers must be right, since the work
/// of a change depends on it.
pub(super) fn check_last_layer<A: Access>(tx: &Tx<A>, record: &JobRecord) -> Result<()> {
    let JobRecord { layers, entry, .. } = record;
    let Some(last) = layers.checked_sub(1) else { return Ok(()) };
    match tx.get::<LayerRecord>(LAYERS, &layer_key(&entry.id, last))? {
        Some(_) => Ok(()),
        None => Err(tx.corrupt(LAYERS, &entry.id, format!("not {layers} layers"))),
    }
}

/// The layers of a job in a range of depths. There may be fewer.
pub(super) fn lines<A: Access>(
    tx: &Tx<A>,
    id: &str,
    depths: Range<u32>,
) -> Result<Vec<LayerRecord>> {
    if depths.is_empty() {
        return Ok(Vec::new());
    }
    let (start, end) = (layer_key(id, depths.start), layer_key(id, depths.end));
    let lines = tx.scan::<LayerRecord>(LAYERS, &start..&end)?;
    for (depth, (key, line)) in (depths.start..).zip(&lines) {
        if line.depth != depth || *key != layer_key(id, depth) {
            return Err(tx.corrupt(LAYERS, key, format!("not layer {depth}")));
        }
    }
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}

pub(super) fn no_job(what: &str) -> JournalError {
    JournalError::NoSuchJob { what: what.to_owned() }
}

/// Key of a layer in [`LAYERS`]. The keys of a job sort by depth. Ids contain no slash.
pub(super) fn layer_key(id: &str, depth: u32) -> String {
    format!("{id}/{depth:010}")
}

/// Key of a job in [`ENDED`]. Keys sort by the time of the end, in seconds since 1970, then by the
/// place in the queue.
pub(super) fn end_key(ended: u64, order: u64) -> String {
    format!("{ended:020}/{order:020}")
}

/// Key of a job in [`SUBMITTED`]. Keys sort by the order of submission.
pub(super) fn submission_key(submitted: u64) -> String {
    format!("{submitted:020}")
}
