//! Events of a job and entries of its log.

use std::time::Duration;

use strata_store::HistoryLine;

/// Begin of the log entry of a return to a checkpoint; the depth follows.
pub(crate) const ROLLED_BACK: &str = "rolled back to layer=";

/// Part of the log entry of a session that begins at a checkpoint; the depth follows.
pub(crate) const FROM_CHECKPOINT: &str = "from the checkpoint of layer ";

/// A change in a job that its watchers receive.
#[derive(Clone, Debug)]
pub(crate) enum JobEvent {
    /// A layer is complete.
    Layer(HistoryLine),
    /// A checkpoint is durable.
    Checkpoint {
        /// Depth of its last layer.
        depth: u32,
        /// Bytes of its files.
        bytes: u64,
        /// Time from the order to save until it was durable.
        took: Duration,
    },
    /// The search returned to the checkpoint of this depth, or to the start. Deeper layers are
    /// searched again.
    RolledBack(Option<u32>),
    /// The job's state changed; the journal and the snapshot have the new state.
    StateChanged,
    /// The log has a new entry.
    Log(LogEntry),
}

/// An entry of a job's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogEntry {
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    /// Severity.
    pub(crate) level: Level,
    /// One line of text.
    pub(crate) text: String,
}

/// Severity of a log entry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Progress.
    Info,
    /// A fault after which the search continues.
    Warn,
    /// A fault that ends the job.
    Error,
}

impl Level {
    /// The level's name in logs and messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
        }
    }

    /// The level of that name.
    pub(crate) fn from_name(name: &str) -> Option<Level> {
        [Level::Info, Level::Warn, Level::Error].into_iter().find(|level| level.name() == name)
    }
}
