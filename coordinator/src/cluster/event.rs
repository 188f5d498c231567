//! Events of a job and entries of its log.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strata_run::progress::Field;
use strata_store::LayerRecord;

/// Start of the log entry about a return to a checkpoint; the depth follows.
pub(crate) const ROLLED_BACK: &str = "rolled back to layer=";

/// Field in the log entry of a session that begins at a checkpoint; the depth follows.
pub(crate) const FROM_CHECKPOINT: &str = " from_layer=";

/// A change in a job that its watchers receive.
#[derive(Clone, Debug)]
pub(crate) enum JobEvent {
    /// A layer is complete.
    Layer(LayerRecord),
    /// A checkpoint is durable.
    Checkpoint {
        /// Depth of its last layer.
        depth: u32,
        /// Bytes of its files.
        bytes: u64,
        /// Time from the order to save until the checkpoint was durable.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogEntry {
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    /// Severity.
    pub(crate) level: Level,
    /// What happened, in one line.
    pub(crate) message: String,
    /// Figures and names, in the order of the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<LogField>,
}

impl fmt::Display for LogEntry {
    /// Writes message and fields as a line of text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.fields.iter().try_for_each(|field| write!(f, " {}={}", field.name, field.text))
    }
}

/// A field of an entry, see [`Field`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogField {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The value as a number; `None` if it is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<f64>,
}

impl From<Field> for LogField {
    fn from(field: Field) -> LogField {
        LogField { name: field.name.to_owned(), text: field.text, number: field.number }
    }
}

/// Severity of a log entry.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
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
}
