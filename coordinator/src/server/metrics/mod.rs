//! Metrics of the cluster, computed for each request. `docs/metrics.md` lists them.

mod families;
pub(super) mod format;
mod snapshot;

use std::fmt;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use self::families::Families;
use self::format::TextFormat;
use self::snapshot::Snapshot;
use crate::cluster::context::Cluster;
use crate::journal::error::JournalError;

/// Why there are no metrics.
#[derive(Debug, thiserror::Error)]
pub(super) enum MetricsError {
    /// The journal is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The metrics cannot be written as text.
    #[error("cannot write the metrics: {0}")]
    Format(#[from] fmt::Error),
}

/// All metrics as text. Reads the journal.
///
/// # Errors
/// `Journal` if the journal is damaged; `Format` if the text cannot be written. A journal that cannot
/// be accessed for another reason is not an error: `strata_journal_writable` is 0 then.
pub(super) fn text(cluster: &Cluster, format: TextFormat) -> Result<String, MetricsError> {
    Ok(write(Snapshot::take(cluster)?, format)?)
}

fn write(snapshot: Snapshot, format: TextFormat) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("strata");
    registry.register_collector(Box::new(Families(snapshot)));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(match format {
        TextFormat::OpenMetrics => text,
        TextFormat::Classic => format::classic(&text),
    })
}

#[cfg(test)]
mod tests;
