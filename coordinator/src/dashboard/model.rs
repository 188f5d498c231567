//! Data model of the page: workers, jobs, layers, log entries and solutions, as they are sent in
//! JSON.
//!
//! Times of day are milliseconds since 1970, durations seconds, sizes bytes.

use std::collections::BTreeMap;

use serde::Serialize;

/// Scope of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// A cluster with workers and a queue.
    #[default]
    Cluster,
    /// One search in this process. The page cannot cancel or remove it.
    Search,
}

/// Workers and jobs at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// Scope of the page.
    pub scope: Scope,
    /// Version of the program.
    pub version: String,
    /// The time of that moment.
    pub time_ms: u64,
    /// The known workers, by number.
    pub workers: Vec<Worker>,
    /// Jobs that run or wait, in the order of the queue, then those that have ended, newest first.
    pub jobs: Vec<Job>,
    /// Whether there are more jobs than are listed.
    pub has_more_jobs: bool,
    /// Why the journal cannot be written now; `None` if it can.
    pub fault: Option<String>,
}

/// A worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Worker {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// URL at which other workers reach it.
    pub address: String,
    /// Whether its lease is valid.
    pub alive: bool,
    /// Whether it is to end after the next checkpoint.
    pub leaving: bool,
    /// Time since its last message; `None` if there was none since the coordinator started.
    pub silent_seconds: Option<f64>,
    /// Threads it searches with; 0 if they are not known.
    pub threads: u32,
    /// Its memory budget; 0 if it is not known.
    pub memory_bytes: u64,
    /// Its resident memory.
    pub rss_bytes: u64,
    /// Free space of its disk.
    pub disk_free_bytes: u64,
    /// States that it makes a second, averaged over its last layers; `None` if it has made none
    /// lately.
    pub rate: Option<f64>,
    /// Share of the time of its last layers in which all other workers had finished; `None` if it
    /// worked alone or not at all.
    pub straggler_share: Option<f64>,
}

/// State of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for jobs before it.
    #[default]
    Queued,
    /// Waits for workers, or is paused.
    Waiting,
    /// Runs.
    Running,
    /// Stopped at a limit.
    Stopped,
    /// Cancelled by a user.
    Cancelled,
    /// Failed.
    Failed,
    /// Done, with a result.
    Done,
}

impl JobState {
    /// Whether the job has ended: it stays in this state unless it is resumed.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Stopped | Self::Cancelled | Self::Failed | Self::Done)
    }
}

/// A range of estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

/// The last durable checkpoint of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Checkpoint {
    /// Depth of its last layer.
    pub depth: u32,
    /// Time since it was made, if that is known.
    pub age_seconds: Option<f64>,
    /// Time it took, if that is known.
    pub cost_seconds: Option<f64>,
    /// Bytes of its files, if they are known.
    pub bytes: Option<u64>,
}

/// The result of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobResult {
    /// The result in one line, such as `X(6) = 881`.
    pub title: String,
    /// Fewest moves; `None` if no goal was given or reached.
    pub moves: Option<u64>,
    /// The greatest depth.
    pub depth: u32,
    /// States of all layers.
    pub states: u64,
    /// Positions that the states stand for; 0 if they are not counted.
    pub positions: u64,
    /// States of the widest layer.
    pub widest: u64,
    /// Depth of the first of the widest layers.
    pub widest_depth: u32,
    /// Digest of all layers, 32 hexadecimal digits; empty if there is none.
    pub digest: String,
    /// Search time of all runs.
    pub seconds: f64,
    /// Most bytes on disk, all workers together.
    pub disk_peak_bytes: u64,
    /// Most resident memory of any worker.
    pub peak_rss_bytes: u64,
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// The name it was submitted with; empty for none.
    pub name: String,
    /// The state space.
    pub space: String,
    /// The space's parameters.
    pub params: BTreeMap<String, String>,
    /// The engine.
    pub engine: String,
    /// Why it has this engine; empty if that is not known.
    pub engine_reason: String,
    /// Its state.
    pub state: JobState,
    /// When it was submitted.
    pub created_ms: u64,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// Search time of all runs.
    pub seconds: f64,
    /// Depth of the last complete layer; `None` before the first.
    pub depth: Option<u32>,
    /// A depth at which the search ends at the latest, if one is known.
    pub expected_depth: Option<u32>,
    /// States of the last complete layer.
    pub layer_states: u64,
    /// States of all layers.
    pub states: u64,
    /// States expected in all layers; `None` without an estimate.
    pub expected_states: Option<f64>,
    /// Positions that the states stand for; 0 if they are not counted.
    pub positions: u64,
    /// Orbits of symmetries among the positions; `None` if they are unknown or symmetry is not
    /// used.
    pub orbits: Option<u64>,
    /// Share of the expected work that is done, from 0 to 1; `None` without an estimate.
    pub share: Option<f64>,
    /// Remaining time; `None` without an estimate.
    pub eta_seconds: Option<Range>,
    /// States a second now.
    pub rate: Option<f64>,
    /// States a second over all its search time.
    pub mean_rate: Option<f64>,
    /// The last checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// Time between checkpoints.
    pub checkpoint_interval_seconds: f64,
    /// Number of jobs that run or start before it; 0 unless it is queued.
    pub queue_position: u32,
    /// Names of workers that it waits for.
    pub waiting_for: Vec<String>,
    /// Number of workers that it runs on.
    pub workers: u32,
    /// Why it failed, stopped or is paused; empty otherwise.
    pub error: String,
    /// Whether the page may cancel, resume and remove it.
    pub may_change: bool,
    /// Its result.
    pub result: Option<JobResult>,
    /// The command that repeats the search.
    pub command: String,
}

/// Kind of a mark in the charts of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// A durable checkpoint.
    Checkpoint,
    /// The search returned to this depth.
    Rollback,
    /// The search went on from a checkpoint of this depth.
    Resume,
}

/// An entry of a job's log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogEntry {
    /// When it was written.
    pub time_ms: u64,
    /// `INFO`, `WARN` or `ERROR`; also `DEBUG` if the log has such entries.
    pub level: String,
    /// The text.
    pub text: String,
    /// What it marks in the charts, and the depth.
    pub mark: Option<(MarkKind, u32)>,
}

/// Some entries of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogPart {
    /// The entries, oldest first.
    pub entries: Vec<LogEntry>,
    /// Where the next part begins.
    pub next: u64,
    /// Whether there were more entries when the part was read.
    pub more: bool,
}

/// The moves of a shortest solution.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Solution {
    /// The moves, as `strata path` prints them.
    pub moves: Vec<String>,
    /// The position before each move and after the last one, as text; empty if the puzzle has no text
    /// form. They are sent one at a time.
    #[serde(skip)]
    pub positions: Vec<String>,
    /// Whether the positions have drawings.
    pub has_drawings: bool,
}

/// A change that a user requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// End a queued or running job at the next layer.
    Cancel,
    /// Queue a job again.
    Resume,
    /// Remove a job and its files.
    Remove,
}
