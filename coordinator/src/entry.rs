//! Records of jobs and workers, stored in the [`Journal`](crate::Journal) as JSON.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strata_run::{KeepLayers, StopReason, Totals};
use strata_store::{CheckpointFile, JobResult, JobSpec};

/// Limits and settings of a job. They may change from one run to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobOptions {
    /// Time between checkpoints, in whole milliseconds; `None` is the coordinator's default.
    #[serde(with = "millis")]
    pub checkpoint_interval: Option<Duration>,
    /// Depth at which the job stops. It can be resumed then.
    pub max_layers: Option<u32>,
    /// Limit of the bytes on disk, of all workers together: the job stops before it is exceeded,
    /// and can be resumed.
    pub disk_limit: Option<u64>,
    /// Layers that stay on disk.
    pub keep: KeepLayers,
    /// Jobs of a greater priority start first. Never changes.
    pub priority: i32,
    /// How the engine was chosen.
    #[serde(default, skip_serializing_if = "EngineRecord::is_empty")]
    pub engine: EngineRecord,
}

/// How the engine of a job was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineRecord {
    /// Why the job has its engine; empty if that was not recorded.
    pub reason: String,
    /// Requirements for the engine; `None` if the engine was named.
    pub auto: Option<AutoEngine>,
}

/// Requirements of a job for the engine that is chosen for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoEngine {
    /// Names of the given settings that only some engines support.
    pub settings: Vec<String>,
    /// Whether the engine was chosen while there was no worker, so that it is chosen again when
    /// there is one.
    pub is_open: bool,
    /// Whether the number of shards follows from the engine.
    pub default_shards: bool,
}

impl EngineRecord {
    fn is_empty(&self) -> bool {
        *self == EngineRecord::default()
    }

    /// Whether the engine is chosen again when there is a worker.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.auto.as_ref().is_some_and(|auto| auto.is_open)
    }
}

/// Number of a worker in the cluster. Numbers count up from 0 without a gap.
pub type WorkerNumber = u16;

/// State of a job in the queue. A job's folder only records a [`RunState`](strata_store::RunState),
/// which has no queue, cancellation or reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits in the queue.
    Queued,
    /// Runs, or ran when the coordinator ended.
    Running,
    /// Stopped at a limit. The journal refuses `Interrupted` and `Moving`, which are not limits.
    Stopped(#[serde(with = "limit")] StopReason),
    /// Cancelled by a user.
    Cancelled,
    /// Failed.
    Failed {
        /// Whether the reason is a damaged file.
        corrupt: bool,
        /// The reason, for messages.
        why: String,
    },
    /// Finished, with a result.
    Done,
}

impl JobState {
    /// Whether it can be queued again: it has ended without a result.
    #[must_use]
    pub fn may_resume(&self) -> bool {
        matches!(self, Self::Stopped(_) | Self::Cancelled | Self::Failed { .. })
    }

    /// Whether it is neither queued nor running.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// State of a job that has ended, without reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndState {
    /// Stopped at a limit.
    Stopped,
    /// Cancelled by a user.
    Cancelled,
    /// Failed.
    Failed,
    /// Finished, with a result.
    Done,
}

impl EndState {
    /// The state of a job; `None` if the job has not ended.
    #[must_use]
    pub fn of(state: &JobState) -> Option<EndState> {
        match state {
            JobState::Queued | JobState::Running => None,
            JobState::Stopped(_) => Some(EndState::Stopped),
            JobState::Cancelled => Some(EndState::Cancelled),
            JobState::Failed { .. } => Some(EndState::Failed),
            JobState::Done => Some(EndState::Done),
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Stopped(StopReason::MaxLayers) => "stopped at its last layer",
            Self::Stopped(StopReason::DiskLimit) => "stopped at its disk limit",
            Self::Stopped(StopReason::DiskFull) => "stopped by a full disk",
            Self::Stopped(StopReason::MemoryFull) => "stopped at its memory budget",
            Self::Stopped(StopReason::Interrupted | StopReason::Moving) => "stopped",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
            Self::Done => "done",
        })
    }
}

/// A durable checkpoint of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterCheckpoint {
    /// Depth of the last complete layer.
    pub depth: u32,
    /// The files of the last two layers (of one layer at depth 0), of all workers. For a directed
    /// graph also those of older layers.
    pub records: Vec<CheckpointFile>,
    /// The owner of each shard, by shard.
    pub owners: Vec<WorkerNumber>,
    /// When it was made, in seconds since 1970.
    pub made: u64,
}

/// Specification and progress of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEntry {
    /// Its id. Never changes.
    pub id: String,
    /// The name it was submitted with. Never changes.
    pub name: Option<String>,
    /// Its place among the queued jobs of its priority, which start in ascending order of places. A
    /// resumed job goes to the end.
    pub order: u64,
    /// The specification of the search. Never changes, except that engine and shards may change
    /// before the first layer if the engine was chosen while there was no worker.
    pub spec: JobSpec,
    /// Its limits and settings.
    pub options: JobOptions,
    /// Its state.
    pub state: JobState,
    /// Time of submission, in seconds since 1970. Never changes.
    pub created: u64,
    /// Search time over all runs, in seconds.
    pub seconds: f64,
    /// A depth at which the search ends at the latest, if one is known.
    pub expected_layers: Option<u32>,
    /// States that the search is expected to find, if that is known.
    pub expected_states: Option<f64>,
    /// Share of the expected work that was done at the last checkpoint, from 0 to 1, if that is
    /// known.
    pub work_done: Option<f64>,
    /// Sums over its layers; `None` before the first. The journal maintains them, so that lists
    /// need not read layers.
    pub progress: Option<Totals>,
    /// The last checkpoint.
    pub checkpoint: Option<ClusterCheckpoint>,
    /// The result, once the job is done.
    pub result: Option<JobResult>,
    /// Peak of the resident memory of any worker while it ran the job, in bytes.
    pub peak_rss_bytes: u64,
    /// Name of that worker; `None` if it is not known.
    pub peak_rss_worker: Option<String>,
    /// Whether a user has requested cancellation.
    pub cancel: bool,
    /// When it ended, in seconds since 1970; `None` if it has not. The journal sets the time, and
    /// never decreases it from one ended job to the next.
    pub ended: Option<u64>,
}

/// A worker that has registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerEntry {
    /// Its number, as long as the journal has its id.
    pub number: WorkerNumber,
    /// The id in its data directory.
    pub id: String,
    /// Its name, for messages. No other worker has it.
    pub name: String,
    /// The URL at which other workers reach it.
    pub address: String,
    /// Time of its first registration, in seconds since 1970.
    pub first_seen: u64,
    /// The name of its host, if it has no given name.
    pub host: Option<String>,
}

/// Limits by their names in the journal.
mod limit {
    use serde::de::{Deserialize, Deserializer, Error as _};
    use serde::ser::{Error as _, Serializer};
    use strata_run::StopReason;

    const NAMES: [&str; 4] = ["max_layers", "disk_limit", "disk_full", "memory_full"];
    const LIMITS: [StopReason; 4] = [
        StopReason::MaxLayers,
        StopReason::DiskLimit,
        StopReason::DiskFull,
        StopReason::MemoryFull,
    ];

    pub(super) fn serialize<S: Serializer>(
        limit: &StopReason,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match LIMITS.iter().position(|known| known == limit) {
            Some(place) => serializer.serialize_str(NAMES[place]),
            None => Err(S::Error::custom(format!("{limit:?} is no limit"))),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<StopReason, D::Error> {
        let name = String::deserialize(deserializer)?;
        match NAMES.iter().position(|known| *known == name) {
            Some(place) => Ok(LIMITS[place]),
            None => Err(D::Error::unknown_variant(&name, &NAMES)),
        }
    }
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
    fn only_a_job_that_ended_without_a_result_may_resume() {
        let failed = JobState::Failed { corrupt: true, why: "a worker is gone".to_owned() };
        let may = [JobState::Stopped(StopReason::DiskFull), JobState::Cancelled, failed];
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
            engine: EngineRecord::default(),
            priority: 0,
        };
        let text = serde_json::to_string(&options).unwrap();
        let expected = r#"{"checkpoint_interval":2500,"max_layers":3,"disk_limit":null,"keep":{"every":5},"priority":0}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<JobOptions>(&text).unwrap(), options);
        let auto = AutoEngine { settings: vec!["keep_layers".to_owned()], ..AutoEngine::default() };
        let engine = EngineRecord { reason: "it fits".to_owned(), auto: Some(auto) };
        let options = JobOptions { engine, ..options };
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<JobOptions>(&text).unwrap(), options);
    }

    #[test]
    fn states_keep_their_json() {
        let failed = JobState::Failed { corrupt: false, why: "a bug".to_owned() };
        let states = [
            (JobState::Queued, r#""queued""#),
            (JobState::Running, r#""running""#),
            (JobState::Stopped(StopReason::MaxLayers), r#"{"stopped":"max_layers"}"#),
            (JobState::Stopped(StopReason::DiskLimit), r#"{"stopped":"disk_limit"}"#),
            (JobState::Stopped(StopReason::DiskFull), r#"{"stopped":"disk_full"}"#),
            (JobState::Stopped(StopReason::MemoryFull), r#"{"stopped":"memory_full"}"#),
            (JobState::Cancelled, r#""cancelled""#),
            (failed, r#"{"failed":{"corrupt":false,"why":"a bug"}}"#),
            (JobState::Done, r#""done""#),
        ];
        for (state, json) in states {
            assert_eq!(serde_json::to_string(&state).unwrap(), json);
            assert_eq!(serde_json::from_str::<JobState>(json).unwrap(), state);
        }
    }

    #[test]
    fn stop_reasons_other_than_limits_are_refused() {
        let state = JobState::Stopped(StopReason::Interrupted);
        assert!(serde_json::to_string(&state).is_err());
        assert!(serde_json::from_str::<JobState>(r#"{"stopped":"interrupted"}"#).is_err());
    }
}
