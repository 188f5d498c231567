//! Index of the jobs that have ended, by the time of their end.

use serde::{Deserialize, Serialize};

use super::error::JournalError;
use super::records::{ENDED, end_key};
use super::table::Writing;
use crate::entry::{EndState, JobEntry};

type Result<T> = std::result::Result<T, JournalError>;

/// A job that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndedJob {
    /// The job's id.
    pub id: String,
    /// When it ended, in seconds since 1970.
    pub ended: u64,
    /// Its state.
    pub state: EndState,
}

/// The key and the value of a job in the index; `None` if it has not ended.
fn indexed(entry: &JobEntry) -> Option<(String, EndedJob)> {
    let (state, ended) = (EndState::of(&entry.state)?, entry.ended?);
    Some((end_key(ended, entry.order), EndedJob { id: entry.id.clone(), ended, state }))
}

/// Updates the index after a change of a job. `before` is `None` for a new job, `after` for a
/// removed one.
pub(super) fn set_end(
    tx: &Writing,
    before: Option<&JobEntry>,
    after: Option<&JobEntry>,
) -> Result<()> {
    let (before, after) = (before.and_then(indexed), after.and_then(indexed));
    if before == after {
        return Ok(());
    }
    if let Some((key, _)) = before {
        tx.remove_all(ENDED, [key])?;
    }
    after.map_or(Ok(()), |(key, job)| tx.put(ENDED, &key, &job))
}

/// The time to record for a job that ends, in seconds since 1970: `now`, or the last recorded time
/// if the clock went back. So the recorded times never decrease.
pub(super) fn end_time(tx: &Writing, now: u64) -> Result<u64> {
    let Some(key) = tx.last_key(ENDED)? else { return Ok(now) };
    let last = key.split_once('/').and_then(|(ended, _)| ended.parse().ok());
    let last: u64 = last.ok_or_else(|| tx.corrupt(ENDED, &key, "it is no time"))?;
    Ok(now.max(last))
}
