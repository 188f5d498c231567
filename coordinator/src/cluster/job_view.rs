//! Live view of a job: layers that no checkpoint holds yet, events for watchers, and the log.
//!
//! A view exists while the queue runs the job or a client watches it. What it holds is bounded:
//! layers are dropped with the checkpoint that stores them, and events when they leave the window.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use strata_proto::net::printable;
use strata_proto::platform::Instant;
use strata_run::Figures;
use strata_run::Totals;
use strata_run::progress::{Field, LayerLine, Pace};
use strata_store::LayerRecord;
use tokio::sync::watch;

use super::event::{JobEvent, Level, LogEntry, LogField};
use super::job_log::{JobLog, LogPart};

/// End of the name of a log file.
const LOG_SUFFIX: &str = ".log";

/// Number of events kept for watchers. A watcher that is further behind reads the layers again.
const WINDOW: usize = 1024;

/// The last events of a job, with numbers that count up from 0.
#[derive(Debug, Default)]
struct EventWindow {
    /// Number of the oldest event that is kept.
    first: u64,
    events: VecDeque<JobEvent>,
}

impl EventWindow {
    fn push(&mut self, event: JobEvent) {
        if self.events.len() == WINDOW {
            self.events.pop_front();
            self.first += 1;
        }
        self.events.push_back(event);
    }

    /// Number of the next event.
    fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The events from a number on; `None` if some of them are no longer kept.
    fn since(&self, number: u64) -> Option<Vec<JobEvent>> {
        let skipped = usize::try_from(number.checked_sub(self.first)?).ok()?;
        Some(self.events.iter().skip(skipped).cloned().collect())
    }
}

/// Layers of a job that the queue runs.
#[derive(Clone, Debug, Default)]
struct LiveLayers {
    /// Number of layers that the journal has.
    saved: u32,
    /// The layers after them.
    unsaved: Vec<LayerRecord>,
    /// Sums over all layers.
    progress: Option<Totals>,
    /// Rates and time left after the last layer, and when that layer was added.
    figures: Option<(Figures, Instant)>,
}

impl LiveLayers {
    fn saved(progress: Option<Totals>) -> LiveLayers {
        let saved = progress.as_ref().map_or(0, |progress| progress.depth + 1);
        LiveLayers { saved, unsaved: Vec::new(), progress, figures: None }
    }
}

#[derive(Debug, Default)]
struct Progress {
    /// `None` while the queue does not run the job: then the journal has all layers.
    live: Option<LiveLayers>,
    events: EventWindow,
    /// Names of workers that the job waits for.
    waiting_for: Vec<String>,
    workers: usize,
    /// Names of the workers of the last session.
    worker_names: Vec<String>,
    /// Why the queue has paused the job.
    paused: Option<String>,
    /// Pace of the progress lines, from the first layer that the queue ran.
    pace: Option<(Instant, Pace)>,
    /// The progress line of the last layer, the time when that layer was complete, and whether the
    /// log has the line.
    last_line: Option<(LayerLine, Instant, bool)>,
}

impl Progress {
    /// Whether a progress line is due.
    fn is_line_due(&mut self, longest: Duration) -> bool {
        let pace = self.pace.get_or_insert_with(|| (Instant::now(), Pace::new(longest)));
        pace.1.is_due(pace.0.elapsed())
    }
}

/// State of a job that the queue runs, at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobSnapshot {
    /// Sums over all layers; `None` before the first.
    pub(crate) progress: Option<Totals>,
    /// Names of workers that the job waits for.
    pub(crate) waiting_for: Vec<String>,
    /// Number of workers that the job runs on.
    pub(crate) workers: usize,
    /// Their names.
    pub(crate) worker_names: Vec<String>,
    /// Why the queue has paused the job.
    pub(crate) paused: Option<String>,
    /// Rates and time left; `None` before the first layer of a session.
    pub(crate) figures: Option<Figures>,
}

/// Layers that only the view has, and the number of the event that follows them.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// Number of the next event.
    pub(crate) next_event: u64,
    /// Number of layers in the journal, and the layers after them; `None` if the queue does not run
    /// the job: then the journal has all layers.
    pub(crate) layers: Option<(u32, Vec<LayerRecord>)>,
}

/// Live view of one job.
///
/// The log's lock is taken before the progress lock. The progress lock is never held over disk I/O.
#[derive(Debug)]
pub(crate) struct JobView {
    id: String,
    log: Mutex<JobLog>,
    progress: Mutex<Progress>,
    changes: watch::Sender<u64>,
    cancelled: AtomicBool,
    active: AtomicBool,
}

impl JobView {
    fn new(id: &str, log: PathBuf) -> JobView {
        JobView {
            id: id.to_owned(),
            log: Mutex::new(JobLog::new(log)),
            progress: Mutex::default(),
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

    /// A receiver of a number that changes with every event.
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

    /// Adds a complete layer, and the session's figures after it.
    pub(crate) fn add_layer(&self, layer: LayerRecord, figures: Figures) {
        let mut progress = self.progress();
        let live = progress.live.get_or_insert_default();
        live.progress.get_or_insert_default().add(&layer);
        live.unsaved.push(layer.clone());
        live.figures = Some((figures, Instant::now()));
        progress.events.push(JobEvent::Layer(layer));
        drop(progress);
        self.changed();
    }

    /// Drops the layers that are now in the journal. `saved` is the job's progress there.
    pub(crate) fn set_saved(&self, saved: Option<&Totals>) {
        let mut progress = self.progress();
        let Some(live) = &mut progress.live else { return };
        let count = saved.map_or(0, |saved| saved.depth + 1);
        live.unsaved.retain(|line| line.depth >= count);
        live.unsaved.shrink_to_fit();
        live.saved = count;
    }

    /// Drops the layers that are not in the journal: the search repeats them. `saved` is the job's
    /// progress in the journal. If layers were dropped, returns the depth to which the search
    /// returns; the inner `None` stands for the start.
    pub(crate) fn roll_back(&self, saved: Option<Totals>) -> Option<Option<u32>> {
        let mut progress = self.progress();
        let depth = |progress: &Option<Totals>| progress.as_ref().map(|p| p.depth);
        let before = progress.live.as_ref().and_then(|live| depth(&live.progress));
        let after = depth(&saved);
        progress.live = Some(LiveLayers::saved(saved));
        if before > after {
            progress.events.push(JobEvent::RolledBack(after));
            drop(progress);
            self.changed();
            return Some(after);
        }
        None
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

    /// Sets the names of the workers that the job runs on.
    pub(crate) fn set_worker_names(&self, names: Vec<String>) {
        self.progress().worker_names = names;
    }

    /// Sets why the queue has paused the job; `None` if it has not.
    pub(crate) fn set_paused(&self, reason: Option<String>) {
        let mut progress = self.progress();
        if progress.paused != reason {
            progress.paused = reason;
            progress.events.push(JobEvent::StateChanged);
            drop(progress);
            self.changed();
        }
    }

    /// Requests that the running session stops, or withdraws the request.
    pub(crate) fn set_cancelled(&self, cancelled: bool) {
        self.cancelled.store(cancelled, Ordering::Release);
    }

    /// Whether the running session is to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Marks the job as run by the queue, with its progress in the journal.
    pub(crate) fn activate(&self, saved: Option<Totals>) {
        let mut progress = self.progress();
        progress.live = Some(LiveLayers::saved(saved));
        (progress.pace, progress.last_line) = (None, None);
        drop(progress);
        self.active.store(true, Ordering::Release);
    }

    /// Marks the job as no longer run: no further events follow.
    pub(crate) fn deactivate(&self) {
        self.progress().live = None;
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
        self.record(level, text, Vec::new());
    }

    /// Adds a log entry to the job's file and to the events. Writes a file.
    pub(crate) fn record(&self, level: Level, message: &str, fields: Vec<Field>) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let plain = |text: &str| printable(&text.replace(['\n', '\r'], " ")).into_owned();
        let fields = fields
            .into_iter()
            .map(|field| LogField { text: plain(&field.text), ..LogField::from(field) });
        let entry = LogEntry {
            time_ms: now.as_millis() as u64,
            level,
            message: plain(message),
            fields: fields.collect(),
        };
        // Held until the event is added, so that events have the order of the file.
        let mut log = self.log_file();
        log.append(&entry);
        let mut progress = self.progress();
        progress.events.push(JobEvent::Log(entry));
        drop(progress);
        drop(log);
        self.changed();
    }

    /// Reports a complete layer: in the job's log if a progress line is due, otherwise as a debug
    /// line of the process's log. `longest` is the longest time between two lines.
    pub(crate) fn show_layer(&self, line: LayerLine, longest: Duration) {
        let mut progress = self.progress();
        let is_due = progress.is_line_due(longest);
        progress.last_line = Some((line.clone(), Instant::now(), is_due));
        drop(progress);
        if is_due {
            self.log_layer(&line, LayerLine::COMMITTED);
        } else {
            line.log(&self.id, tracing::Level::DEBUG, LayerLine::COMMITTED);
        }
    }

    /// Logs the last layer if the log does not have it: a search ends with a progress line.
    pub(crate) fn show_last_layer(&self) {
        let last = self.progress().last_line.take();
        if let Some((line, _, false)) = last {
            self.log_layer(&line, LayerLine::COMMITTED);
        }
    }

    /// Logs that the session still runs, if a progress line is due. Without the line, a wide layer
    /// could be mistaken for a hang.
    pub(crate) fn show_if_quiet(&self, longest: Duration) {
        let mut progress = self.progress();
        let Some((mut line, complete, _)) = progress.last_line.clone() else { return };
        if !progress.is_line_due(longest) {
            return;
        }
        drop(progress);
        line.elapsed += complete.elapsed().as_secs_f64();
        // The time left was estimated at the end of the last layer.
        line.eta = None;
        self.log_layer(&line, LayerLine::SEARCHING);
    }

    fn log_layer(&self, line: &LayerLine, message: &str) {
        line.log(&self.id, tracing::Level::INFO, message);
        self.record(Level::Info, message, line.fields());
    }

    /// The job's state now; `None` if the queue does not run it: then the journal has all of it.
    pub(crate) fn snapshot(&self) -> Option<JobSnapshot> {
        let progress = self.progress();
        let live = progress.live.as_ref()?;
        Some(JobSnapshot {
            progress: live.progress.clone(),
            waiting_for: progress.waiting_for.clone(),
            workers: progress.workers,
            worker_names: match progress.workers {
                0 => Vec::new(),
                _ => progress.worker_names.clone(),
            },
            paused: progress.paused.clone(),
            figures: live.figures.map(|(figures, added)| figures.after(added.elapsed())),
        })
    }

    /// The layers that only the view has, and the number of the event that follows them.
    pub(crate) fn position(&self) -> Position {
        let progress = self.progress();
        let layers = progress.live.as_ref().map(|live| (live.saved, live.unsaved.clone()));
        Position { next_event: progress.events.next(), layers }
    }

    /// The events from a number on, and the number of the next; `None` if some of them are no
    /// longer kept.
    pub(crate) fn events(&self, from: u64) -> Option<(Vec<JobEvent>, u64)> {
        let progress = self.progress();
        Some((progress.events.since(from)?, progress.events.next()))
    }

    /// The next entries of the log from an offset in its file on. Reads the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn log_entries(&self, from: u64) -> io::Result<LogPart> {
        let path = self.log_file().path().to_owned();
        JobLog::read(&path, from)
    }
}

/// Views of the jobs that run or are watched.
#[derive(Debug)]
pub(crate) struct JobViews {
    logs: PathBuf,
    jobs: Mutex<HashMap<String, Weak<JobView>>>,
}

impl JobViews {
    /// No views yet. Log files go to the folder `logs`, which must exist.
    pub(crate) fn new(logs: &Path) -> JobViews {
        JobViews { logs: logs.to_owned(), jobs: Mutex::default() }
    }

    fn jobs(&self) -> MutexGuard<'_, HashMap<String, Weak<JobView>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of a job. All concurrent users share one view.
    pub(crate) fn job(&self, id: &str) -> Arc<JobView> {
        let mut jobs = self.jobs();
        if let Some(job) = jobs.get(id).and_then(Weak::upgrade) {
            return job;
        }
        jobs.retain(|_, job| job.strong_count() > 0);
        let job = Arc::new(JobView::new(id, self.log_path(id)));
        jobs.insert(id.to_owned(), Arc::downgrade(&job));
        job
    }

    /// Deletes the log of a job; a missing log is not an error.
    pub(crate) fn remove_log(&self, id: &str) -> io::Result<()> {
        match std::fs::remove_file(self.log_path(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The jobs that have a log, with the time of its last change.
    pub(crate) fn logs(&self) -> io::Result<Vec<(String, SystemTime)>> {
        let mut logs = Vec::new();
        for entry in std::fs::read_dir(&self.logs)? {
            let entry = entry?;
            let name = entry.file_name();
            let job = name.to_str().and_then(|name| name.strip_suffix(LOG_SUFFIX));
            let Some(job) = job else { continue };
            // It may have been deleted meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            logs.push((job.to_owned(), metadata.modified()?));
        }
        logs.sort_unstable();
        Ok(logs)
    }

    fn log_path(&self, id: &str) -> PathBuf {
        self.logs.join(format!("{id}{LOG_SUFFIX}"))
    }

    /// The view of a job, if it is in use.
    pub(crate) fn in_use(&self, id: &str) -> Option<Arc<JobView>> {
        self.jobs().get(id).and_then(Weak::upgrade)
    }
}

#[cfg(test)]
mod tests;
