//! What the coordinator remembers of jobs and workers: plain data, stored in the
//! [`Journal`](crate::Journal) as JSON.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strata::KeepLayers;
use strata_store::{CheckpointFile, JobResult, JobSpec};

/// What a job may use and when it stops; may differ from one run to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobOptions {
    /// Time between checkpoints, to the millisecond; none for the coordinator's default.
    #[serde(with = "millis")]
    pub checkpoint_interval: Option<Duration>,
    /// Stop, resumably, at this depth.
    pub max_layers: Option<u32>,
    /// Stop, resumably, before all workers together take more bytes on disk.
    pub disk_limit: Option<u64>,
    /// Which layers to keep.
    pub keep: KeepLayers,
}

/// The limit that a job has stopped at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The depth asked for is reached.
    MaxLayers,
    /// The next layer would not fit the limit.
    DiskLimit,
    /// A worker's disk is full.
    DiskFull,
    /// The next layer does not fit a worker's memory budget.
    MemoryFull,
}

/// What a job is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for the jobs before it.
    Queued,
    /// Runs, or ran when the coordinator was killed.
    Running,
    /// Stopped at a limit.
    Stopped(Limit),
    /// Stopped by a user.
    Cancelled,
    /// Failed.
    Failed {
        /// Because files are damaged, not because something could not be done.
        corrupt: bool,
        /// What happened, for people.
        why: String,
    },
    /// Done, with a result.
    Done,
}

impl JobState {
    /// Whether it can be queued again: it has ended, but not with a result.
    #[must_use]
    pub fn may_resume(&self) -> bool {
        matches!(self, Self::Stopped(_) | Self::Cancelled | Self::Failed { .. })
    }

    /// Whether it neither runs nor waits to.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MaxLayers => "the layer limit is reached",
            Self::DiskLimit => "the disk limit is reached",
            Self::DiskFull => "the disk is full",
            Self::MemoryFull => "the memory budget is used up",
        })
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Stopped(Limit::MaxLayers) => "stopped at its last layer",
            Self::Stopped(Limit::DiskLimit) => "stopped at its disk limit",
            Self::Stopped(Limit::DiskFull) => "stopped by a full disk",
            Self::Stopped(Limit::MemoryFull) => "stopped at its memory budget",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
            Self::Done => "done",
        })
    }
}

/// Where a job can go on from, and who has what it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterCheckpoint {
    /// Depth of the last complete layer.
    pub depth: u32,
    /// The files of the last two layers, of all workers; of one layer at depth 0.
    pub records: Vec<CheckpointFile>,
    /// The number of the worker that owns a shard, by shard.
    pub owners: Vec<u16>,
    /// Most bytes on disk at any time, all workers together.
    pub disk_peak: u64,
    /// Bytes of exits that were spilled to disk.
    pub spilled: u64,
}

/// A job: what it is, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEntry {
    /// Its id; never changes.
    pub id: String,
    /// The name it was submitted with; never changes.
    pub name: Option<String>,
    /// Its place in the queue, less than that of all jobs behind it. A resumed job goes to the end.
    pub order: u64,
    /// What is searched; never changes.
    pub spec: JobSpec,
    /// How.
    pub options: JobOptions,
    /// What it is doing.
    pub state: JobState,
    /// When it was submitted, in seconds since 1970; never changes.
    pub created: u64,
    /// Search time over all runs.
    pub seconds: f64,
    /// Where it can go on from; none before the first checkpoint.
    pub checkpoint: Option<ClusterCheckpoint>,
    /// What it found, once it is done.
    pub result: Option<JobResult>,
    /// Most resident memory of any worker.
    pub peak_rss_bytes: u64,
    /// A user has asked for it to be cancelled.
    pub cancel: bool,
}

/// A worker that has registered once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerEntry {
    /// Its number, for good. Numbers go up from 0 without a gap.
    pub number: u16,
    /// The identity it keeps in its data directory.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// Where the other workers reach it.
    pub address: String,
    /// When it registered first, in seconds since 1970.
    pub first_seen: u64,
}

/// A duration as whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        interval: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = |interval: Duration| u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        interval.map(millis).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn only_what_ended_without_a_result_may_resume() {
        let failed = JobState::Failed { corrupt: true, why: "a worker is gone".to_owned() };
        let may = [JobState::Stopped(Limit::DiskFull), JobState::Cancelled, failed];
        let may_not = [JobState::Queued, JobState::Running, JobState::Done];
        assert!(may.iter().all(JobState::may_resume));
        assert!(!may_not.iter().any(JobState::may_resume));
    }

    #[test]
    fn options_are_readable_json() {
        let options = JobOptions {
            checkpoint_interval: Some(Duration::from_millis(2500)),
            max_layers: Some(3),
            disk_limit: None,
            keep: KeepLayers::Every(NonZeroU32::new(5).unwrap()),
        };
        let text = serde_json::to_string(&options).unwrap();
        let expected =
            r#"{"checkpoint_interval":2500,"max_layers":3,"disk_limit":null,"keep":{"every":5}}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<JobOptions>(&text).unwrap(), options);
        let state = JobState::Stopped(Limit::DiskFull);
        assert_eq!(serde_json::to_string(&state).unwrap(), r#"{"stopped":"disk_full"}"#);
    }
}
