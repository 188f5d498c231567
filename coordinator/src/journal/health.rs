//! Health of the journal's file: the current fault, and the log lines about it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strata_proto::platform::Instant;

use super::error::JournalError;

/// Minimum time between two log lines about faults.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Whether the file can be read and written.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The last error, until a write succeeds.
    fault: Option<JournalError>,
    /// Time of the last write that succeeded.
    written: Option<Instant>,
    /// Time of the last log line about a fault.
    logged: Option<Instant>,
    /// Whether the log has a line about the current fault.
    is_logged: bool,
}

impl State {
    /// Whether to log the fault now.
    fn log(&mut self) -> bool {
        let is_due = self.logged.is_none_or(|logged| logged.elapsed() >= LOG_INTERVAL);
        if is_due {
            self.logged = Some(Instant::now());
            self.is_logged = true;
        }
        is_due
    }
}

impl Health {
    /// No fault.
    pub(super) fn new() -> Health {
        Health::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last error, if no write has succeeded since.
    pub(super) fn fault(&self) -> Option<JournalError> {
        self.state().fault.as_ref().and_then(JournalError::repeated)
    }

    /// Whether a write has succeeded within the time `within`, and nothing has failed since.
    pub(super) fn is_proven(&self, within: Duration) -> bool {
        let state = self.state();
        state.fault.is_none() && state.written.is_some_and(|last| last.elapsed() < within)
    }

    /// Records a failed access. Logs it, at most once a minute.
    pub(super) fn failed(&self, error: &JournalError) {
        let mut state = self.state();
        state.fault = error.repeated().or(state.fault.take());
        if state.log() {
            tracing::error!("{error}; tried again until it succeeds");
        }
    }

    /// Records a write that succeeded. Logs the end of a fault that was logged.
    pub(super) fn succeeded(&self, path: &Path) {
        let mut state = self.state();
        state.written = Some(Instant::now());
        let ended = state.fault.take().is_some();
        if ended && std::mem::take(&mut state.is_logged) {
            tracing::info!("the journal {} can be written again", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_logged_once_a_minute() {
        let mut state = State::default();
        assert_eq!((0..1000).filter(|_| state.log()).count(), 1);
        state.logged = Some(Instant::now().checked_sub(LOG_INTERVAL).unwrap());
        assert_eq!((0..1000).filter(|_| state.log()).count(), 1);
    }

    #[test]
    fn a_write_ends_a_fault() {
        let health = Health::new();
        let path = Path::new("j");
        assert!(health.fault().is_none() && !health.is_proven(LOG_INTERVAL));
        health.failed(&JournalError::Unusable { path: path.into(), what: "x".into() });
        assert_eq!(health.fault().unwrap().to_string(), "the journal j has to be opened again: x");
        health.succeeded(path);
        assert!(health.fault().is_none() && health.is_proven(LOG_INTERVAL));
    }
}
