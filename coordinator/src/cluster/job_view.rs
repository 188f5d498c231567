//! Live view of a job: layers that no checkpoint holds yet, events for watchers, and the log.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use strata::Totals;
use strata::catalogue::Registry;
use strata_space::{Finish, SpaceError};
use strata_store::{HistoryLine, JobSpec};
use tokio::sync::watch;

use super::event::{JobEvent, Level, LogEntry};
use super::job_log::JobLog;

/// Time without a log entry after which a running session logs that it still runs.
const LOG_HEARTBEAT: Duration = Duration::from_secs(10);

/// Properties of a job's space that the coordinator needs.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SpaceInfo {
    /// When the search is over.
    pub(crate) rule: Finish<()>,
    /// A depth at which the search ends at the latest, if one is known.
    pub(crate) expected_layers: Option<u32>,
}

impl SpaceInfo {
    fn open(puzzles: &Registry, spec: &JobSpec) -> Result<SpaceInfo, SpaceError> {
        let space = puzzles.open(&spec.space, &spec.params)?;
        let rule = space.finish().rule();
        Ok(SpaceInfo { rule, expected_layers: space.expected_layers() })
    }
}

#[derive(Debug, Default)]
struct Progress {
    /// Complete layers from depth 0 on.
    layers: Vec<HistoryLine>,
    /// Events since the coordinator started.
    events: Vec<JobEvent>,
    /// Names of workers that the job waits for.
    waiting_for: Vec<String>,
    workers: usize,
    /// Time of the last log entry.
    last_entry: Option<Instant>,
}

/// State of a job at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobSnapshot {
    /// The last complete layer.
    pub(crate) last: Option<HistoryLine>,
    /// Sums over all layers.
    pub(crate) totals: Totals,
    /// Names of workers that the job waits for.
    pub(crate) waiting_for: Vec<String>,
    /// Number of workers that it runs on.
    pub(crate) workers: usize,
}

/// Live view of one job.
///
/// The log's lock is taken before the progress lock. The progress lock is never held over disk I/O.
#[derive(Debug)]
pub(crate) struct JobView {
    id: String,
    puzzles: Arc<Registry>,
    space: OnceLock<SpaceInfo>,
    log: Mutex<JobLog>,
    progress: Mutex<Progress>,
    changes: watch::Sender<u64>,
    cancelled: AtomicBool,
    active: AtomicBool,
}

impl JobView {
    fn new(id: &str, puzzles: Arc<Registry>, log: PathBuf, layers: Vec<HistoryLine>) -> JobView {
        JobView {
            id: id.to_owned(),
            puzzles,
            space: OnceLock::new(),
            log: Mutex::new(JobLog::new(log)),
            progress: Mutex::new(Progress { layers, ..Progress::default() }),
            changes: watch::Sender::new(0),
            cancelled: AtomicBool::new(false),
            active: AtomicBool::new(false),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_file(&self) -> MutexGuard<'_, JobLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Properties of the job's space. The first call opens the space, which takes milliseconds.
    ///
    /// # Errors
    /// If the space does not exist or refuses its parameters.
    pub(crate) fn space(&self, spec: &JobSpec) -> Result<SpaceInfo, SpaceError> {
        if let Some(info) = self.space.get() {
            return Ok(*info);
        }
        let info = SpaceInfo::open(&self.puzzles, spec)?;
        Ok(*self.space.get_or_init(|| info))
    }

    /// Changes with every event.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn add_event(&self, event: JobEvent) {
        self.progress().events.push(event);
        self.changed();
    }

    /// Adds a complete layer.
    pub(crate) fn add_layer(&self, layer: HistoryLine) {
        let mut progress = self.progress();
        progress.layers.push(layer.clone());
        progress.events.push(JobEvent::Layer(layer));
        drop(progress);
        self.changed();
    }

    /// Removes all layers but the first `keep`: the search repeats the others.
    pub(crate) fn roll_back(&self, keep: usize) {
        let mut progress = self.progress();
        if progress.layers.len() > keep {
            progress.layers.truncate(keep);
            let depth = (keep as u32).checked_sub(1);
            progress.events.push(JobEvent::RolledBack(depth));
            drop(progress);
            self.changed();
        }
    }

    /// Announces a durable checkpoint.
    pub(crate) fn add_checkpoint(&self, depth: u32, bytes: u64, took: Duration) {
        self.add_event(JobEvent::Checkpoint { depth, bytes, took });
    }

    /// Announces a change of the job's state in the journal.
    pub(crate) fn notify_state(&self) {
        self.add_event(JobEvent::StateChanged);
    }

    /// Sets the number of workers that the job runs on, and the names of those it waits for.
    pub(crate) fn set_workers(&self, workers: usize, waiting_for: Vec<String>) {
        let mut progress = self.progress();
        if progress.workers == workers && progress.waiting_for == waiting_for {
            return;
        }
        (progress.workers, progress.waiting_for) = (workers, waiting_for);
        progress.events.push(JobEvent::StateChanged);
        drop(progress);
        self.changed();
    }

    /// Requests that the running session stops, or withdraws the request.
    pub(crate) fn set_cancelled(&self, cancelled: bool) {
        self.cancelled.store(cancelled, Ordering::Release);
    }

    /// Whether the running session is to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Marks the job as run by the queue.
    pub(crate) fn activate(&self) {
        self.active.store(true, Ordering::Release);
    }

    /// Marks the job as no longer run: no further events follow.
    pub(crate) fn deactivate(&self) {
        self.active.store(false, Ordering::Release);
        self.changed();
    }

    /// Whether the queue runs the job. The last checkpoint ends a job in the journal before the
    /// queue adds the last event, so watchers wait for both.
    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    /// Adds a log entry: to the job's file, to the events, and to the process's log. Writes a file.
    pub(crate) fn log(&self, level: Level, text: &str) {
        let job = self.id.as_str();
        match level {
            Level::Info => tracing::info!(job, "{text}"),
            Level::Warn => tracing::warn!(job, "{text}"),
            Level::Error => tracing::error!(job, "{text}"),
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let text = text.replace(['\n', '\r'], " ");
        let entry = LogEntry { time_ms: now.as_millis() as u64, level, text };
        // Held until the event is added: an entry is in the file and in the events, or in neither.
        let mut log = self.log_file();
        if let Err(error) = log.append(&entry) {
            tracing::warn!(job, "cannot write {}: {error}", log.path().display());
        }
        let mut progress = self.progress();
        progress.events.push(JobEvent::Log(entry));
        progress.last_entry = Some(Instant::now());
        drop(progress);
        drop(log);
        self.changed();
    }

    /// Logs that the session still runs, if the last entry is old. Without the entry, a wide layer
    /// could be mistaken for a hang.
    pub(crate) fn log_if_quiet(&self) {
        let progress = self.progress();
        let quiet = progress.last_entry.is_none_or(|last| last.elapsed() > LOG_HEARTBEAT);
        let Some(last) = progress.layers.last().filter(|_| quiet) else { return };
        let text = format!("still searching after layer={} states={}", last.depth, last.states);
        drop(progress);
        self.log(Level::Info, &text);
    }

    /// The job's state now.
    pub(crate) fn snapshot(&self) -> JobSnapshot {
        let progress = self.progress();
        JobSnapshot {
            last: progress.layers.last().cloned(),
            totals: Totals::of_lines(&progress.layers, 0, 0),
            waiting_for: progress.waiting_for.clone(),
            workers: progress.workers,
        }
    }

    /// The complete layers, and the number of events so far.
    pub(crate) fn layers(&self) -> (Vec<HistoryLine>, usize) {
        let progress = self.progress();
        (progress.layers.clone(), progress.events.len())
    }

    /// The layer at a depth, if it is complete.
    pub(crate) fn layer(&self, depth: u32) -> Option<HistoryLine> {
        self.progress().layers.get(depth as usize).cloned()
    }

    /// The events from index `from` on.
    pub(crate) fn events(&self, from: usize) -> Vec<JobEvent> {
        self.progress().events.get(from..).unwrap_or_default().to_vec()
    }

    /// The log from its beginning, and the index of the first event that is not in it. Reads a
    /// file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn log_entries(&self) -> io::Result<(Vec<LogEntry>, usize)> {
        let log = self.log_file();
        let entries = log.entries()?;
        let next = self.progress().events.len();
        drop(log);
        Ok((entries, next))
    }
}

/// Views of all jobs that were used since the start.
#[derive(Debug)]
pub(crate) struct JobViews {
    logs: PathBuf,
    puzzles: Arc<Registry>,
    jobs: Mutex<HashMap<String, Arc<JobView>>>,
}

impl JobViews {
    /// No views yet. Log files go to the folder `logs`, which must exist. Jobs search `puzzles`.
    pub(crate) fn new(logs: &Path, puzzles: Arc<Registry>) -> JobViews {
        JobViews { logs: logs.to_owned(), puzzles, jobs: Mutex::default() }
    }

    fn jobs(&self) -> MutexGuard<'_, HashMap<String, Arc<JobView>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of a job; `layers` reads its layers when there is no view yet.
    ///
    /// # Errors
    /// Those of `layers`.
    pub(crate) fn job<E>(
        &self,
        id: &str,
        layers: impl FnOnce() -> Result<Vec<HistoryLine>, E>,
    ) -> Result<Arc<JobView>, E> {
        if let Some(job) = self.jobs().get(id) {
            return Ok(Arc::clone(job));
        }
        // Reads without the lock. A session gets its view before it changes a layer, so these
        // layers are current unless another thread has inserted a view meanwhile. That view is used
        // then.
        let layers = layers()?;
        let log = self.logs.join(format!("{id}.log"));
        let mut jobs = self.jobs();
        let job = jobs.entry(id.to_owned()).or_insert_with(|| {
            let view = JobView::new(id, Arc::clone(&self.puzzles), log, layers);
            Arc::new(view)
        });
        Ok(Arc::clone(job))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use strata_store::{EngineKind, Hex128};

    use super::*;

    fn line(depth: u32) -> HistoryLine {
        HistoryLine {
            depth,
            states: 10 * u64::from(depth),
            generated: 0,
            regions: 0,
            bytes: 0,
            digest: Hex128([0, 0]),
            seconds: 0.0,
            kept: None,
        }
    }

    fn view(views: &JobViews, layers: Vec<HistoryLine>) -> Arc<JobView> {
        views.job("a", || Ok::<_, ()>(layers)).unwrap()
    }

    #[test]
    fn repeated_layers_count_once() {
        let folder = tempfile::tempdir().unwrap();
        let job = view(
            &JobViews::new(folder.path(), Arc::new(Registry::shipped())),
            vec![line(0), line(1)],
        );
        job.add_layer(line(2));
        job.add_layer(line(3));
        assert_eq!(job.snapshot().totals.states, 60);
        job.roll_back(2);
        job.roll_back(2);
        assert_eq!(job.snapshot().totals.states, 10);
        job.add_layer(line(2));
        assert_eq!(job.layers().0.len(), 3);
        let events = job.events(0);
        assert_eq!(events.len(), 4);
        assert!(matches!(events[2], JobEvent::RolledBack(Some(1))));
    }

    #[test]
    fn the_log_survives_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| {
            let job =
                view(&JobViews::new(folder.path(), Arc::new(Registry::shipped())), Vec::new());
            job.log(Level::Warn, text);
            job.log_entries().unwrap().0
        };
        write("first\nline");
        let entries = write("second");
        let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["first line", "second"]);
    }

    #[test]
    fn an_entry_is_in_the_log_or_among_later_events_never_in_both() {
        const ENTRIES: usize = 300;
        let folder = tempfile::tempdir().unwrap();
        let job = view(&JobViews::new(folder.path(), Arc::new(Registry::shipped())), Vec::new());
        let seen = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..ENTRIES).for_each(|n| job.log(Level::Info, &n.to_string())));
            while seen.load(Ordering::Relaxed) < ENTRIES {
                let (entries, next) = job.log_entries().unwrap();
                assert_eq!(entries.len(), next);
                seen.store(entries.len(), Ordering::Relaxed);
            }
        });
    }

    #[test]
    fn views_of_other_jobs_are_available_while_layers_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let views = JobViews::new(folder.path(), Arc::new(Registry::shipped()));
        let job = views.job("a", || {
            let other = views.job("b", || Ok::<_, ()>(Vec::new())).unwrap();
            other.add_layer(line(0));
            // A view that was inserted meanwhile is the job's only one.
            view(&views, Vec::new()).add_layer(line(0));
            Ok::<_, ()>(Vec::new())
        });
        assert_eq!(job.unwrap().layers().0.len(), 1);
    }

    #[test]
    fn a_space_that_cannot_be_opened_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let job = view(&JobViews::new(folder.path(), Arc::new(Registry::shipped())), Vec::new());
        let mut spec = JobSpec {
            space: "nowhere".to_owned(),
            params: Default::default(),
            shards: 1,
            engine: EngineKind::Explicit,
        };
        assert!(job.space(&spec).unwrap_err().to_string().contains("nowhere"));
        "hanoi".clone_into(&mut spec.space);
        spec.params.insert("discs".to_owned(), "3".to_owned());
        assert!(job.space(&spec).is_ok());
    }
}
