//! What can be seen of jobs while they run: layers that no checkpoint holds yet, events for those
//! who watch, and the log.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use strata::catalogue::Registry;
use strata_space::Finish;
use strata_store::{HistoryLine, JobSpec};
use tokio::sync::watch;

use strata::Rule;
use strata::Totals;

/// Something that happened in a job.
#[derive(Clone, Debug)]
pub(crate) enum JobEvent {
    /// A complete layer.
    Layer(HistoryLine),
    /// A durable checkpoint.
    Checkpoint {
        /// Depth of its last layer.
        depth: u32,
        /// Bytes of its files.
        bytes: u64,
        /// Time it took.
        took: Duration,
    },
    /// The search goes on from a checkpoint, or from the start: later layers come again.
    RolledBack(Option<u32>),
    /// The state changed: the journal has the new one.
    State,
    /// A line of the log.
    LogEntry(LogEntry),
}

/// A line of a job's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogEntry {
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    /// `INFO`, `WARN` or `ERROR`.
    pub(crate) level: String,
    /// What there is to say.
    pub(crate) text: String,
}

/// How serious a note is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// All is well.
    Info,
    /// Worth a look.
    Warn,
    /// The job stops.
    Error,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
        }
    }
}

#[derive(Debug, Default)]
struct Shown {
    /// All layers so far.
    lines: Vec<HistoryLine>,
    /// Since the coordinator started.
    events: Vec<JobEvent>,
    /// Names of workers that the job waits for.
    waiting_for: Vec<String>,
    workers: usize,
    /// When the last line of the log was written.
    noted: Option<Instant>,
}

/// What follows from a job's specification alone.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SpaceInfo {
    /// When the search is over.
    pub(crate) rule: Rule,
    /// A depth at which it is known to end at the latest.
    pub(crate) expected_layers: Option<u32>,
}

impl SpaceInfo {
    /// Opens the space to find out, which makes its tables.
    fn of(spec: &JobSpec) -> SpaceInfo {
        // The space was opened when the job was submitted, and the workers refuse one that cannot be.
        let Ok(space) = Registry::shipped().open(&spec.space, &spec.params) else {
            return SpaceInfo { rule: Rule::Exhausted, expected_layers: None };
        };
        let rule = match space.finish() {
            Finish::Meeting => Rule::Meeting,
            Finish::State(_) => Rule::State,
            Finish::Exhausted => Rule::Exhausted,
        };
        SpaceInfo { rule, expected_layers: space.expected_layers() }
    }
}

/// One job as it can be seen now.
#[derive(Debug)]
pub(crate) struct JobView {
    id: String,
    facts: OnceLock<SpaceInfo>,
    log: PathBuf,
    shown: Mutex<Shown>,
    changes: watch::Sender<u64>,
    cancelled: AtomicBool,
    at_work: AtomicBool,
}

/// A look at a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobSnapshot {
    /// The last complete layer.
    pub(crate) last: Option<HistoryLine>,
    /// Sums over all layers.
    pub(crate) totals: Totals,
    /// Names of workers that the job waits for.
    pub(crate) waiting_for: Vec<String>,
    /// Workers that it runs on.
    pub(crate) workers: usize,
}

impl JobView {
    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What follows from the job's specification; the first call takes milliseconds.
    pub(crate) fn facts(&self, spec: &JobSpec) -> SpaceInfo {
        *self.facts.get_or_init(|| SpaceInfo::of(spec))
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Changes with every event.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// A complete layer.
    pub(crate) fn layer(&self, line: HistoryLine) {
        let mut shown = self.shown();
        shown.lines.push(line.clone());
        shown.events.push(JobEvent::Layer(line));
        drop(shown);
        self.changed();
    }

    /// The layers behind the first `keep` are to come again.
    pub(crate) fn roll_back(&self, keep: usize) {
        let mut shown = self.shown();
        if shown.lines.len() > keep {
            shown.lines.truncate(keep);
            let depth = (keep as u32).checked_sub(1);
            shown.events.push(JobEvent::RolledBack(depth));
            drop(shown);
            self.changed();
        }
    }

    /// A checkpoint is complete.
    pub(crate) fn checkpoint(&self, depth: u32, bytes: u64, took: Duration) {
        self.shown().events.push(JobEvent::Checkpoint { depth, bytes, took });
        self.changed();
    }

    /// The job's state in the journal has changed.
    pub(crate) fn state(&self) {
        self.shown().events.push(JobEvent::State);
        self.changed();
    }

    /// The job runs on so many workers, or waits for some.
    pub(crate) fn crew(&self, workers: usize, waiting_for: Vec<String>) {
        let mut shown = self.shown();
        if shown.workers == workers && shown.waiting_for == waiting_for {
            return;
        }
        (shown.workers, shown.waiting_for) = (workers, waiting_for);
        shown.events.push(JobEvent::State);
        drop(shown);
        self.changed();
    }

    /// Somebody wants the job to stop, or to go on after all.
    pub(crate) fn set_cancelled(&self, cancelled: bool) {
        self.cancelled.store(cancelled, Ordering::Release);
    }

    /// Whether somebody wants the job to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// The queue works on the job from now on.
    pub(crate) fn begin(&self) {
        self.at_work.store(true, Ordering::Release);
    }

    /// The queue has said all there is to say of the job.
    pub(crate) fn end(&self) {
        self.at_work.store(false, Ordering::Release);
        self.changed();
    }

    /// Whether the queue works on the job. The last checkpoint ends a job in the journal a little
    /// before the queue has told those who watch.
    pub(crate) fn is_at_work(&self) -> bool {
        self.at_work.load(Ordering::Acquire)
    }

    /// A line of the log: for people who watch the job, for the file, and for the process's log.
    pub(crate) fn note(&self, level: Level, text: &str) {
        let job = self.id.as_str();
        match level {
            Level::Info => tracing::info!(job, "{text}"),
            Level::Warn => tracing::warn!(job, "{text}"),
            Level::Error => tracing::error!(job, "{text}"),
        }
        self.record(level, text);
    }

    /// Called while a session waits for its workers: says so if nothing was said for long.
    pub(crate) fn show_life(&self) {
        /// Nobody should take a wide layer for a hang.
        const SILENCE: Duration = Duration::from_secs(10);
        let shown = self.shown();
        let silent = shown.noted.is_none_or(|noted| noted.elapsed() > SILENCE);
        let Some(last) = shown.lines.last().filter(|_| silent) else { return };
        let text = format!("still at work after layer={} states={}", last.depth, last.states);
        drop(shown);
        self.note(Level::Info, &text);
    }

    fn record(&self, level: Level, text: &str) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let text = text.replace(['\n', '\r'], " ");
        let note =
            LogEntry { time_ms: now.as_millis() as u64, level: level.name().to_owned(), text };
        if let Err(error) = append(&self.log, &note) {
            tracing::warn!(job = self.id.as_str(), "cannot write {}: {error}", self.log.display());
        }
        let mut shown = self.shown();
        shown.events.push(JobEvent::LogEntry(note));
        shown.noted = Some(Instant::now());
        drop(shown);
        self.changed();
    }

    /// A look at the job now.
    pub(crate) fn snapshot(&self) -> JobSnapshot {
        let shown = self.shown();
        JobSnapshot {
            last: shown.lines.last().cloned(),
            totals: Totals::of_lines(&shown.lines, 0, 0),
            waiting_for: shown.waiting_for.clone(),
            workers: shown.workers,
        }
    }

    /// The layers so far, and how many events there have been.
    pub(crate) fn lines(&self) -> (Vec<HistoryLine>, usize) {
        let shown = self.shown();
        (shown.lines.clone(), shown.events.len())
    }

    /// The layer at a depth, if it has come.
    pub(crate) fn line(&self, depth: u32) -> Option<HistoryLine> {
        self.shown().lines.get(depth as usize).cloned()
    }

    /// The events from the `from`th on.
    pub(crate) fn events(&self, from: usize) -> Vec<JobEvent> {
        self.shown().events.get(from..).unwrap_or_default().to_vec()
    }

    /// The log, from its beginning.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn notes(&self) -> std::io::Result<(Vec<LogEntry>, usize)> {
        // Under the lock: what is written afterwards is an event from `len` on.
        let shown = self.shown();
        let notes = read(&self.log)?;
        Ok((notes, shown.events.len()))
    }
}

fn append(path: &Path, note: &LogEntry) -> std::io::Result<()> {
    let mut file = File::options().create(true).append(true).open(path)?;
    file.write_all(format!("{} {} {}\n", note.time_ms, note.level, note.text).as_bytes())
}

fn read(path: &Path) -> std::io::Result<Vec<LogEntry>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut notes = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line?;
        let mut words = line.splitn(3, ' ');
        let (time, level, text) = (words.next(), words.next(), words.next());
        // A crash may have left half a line.
        let level = level.filter(|level| ["INFO", "WARN", "ERROR"].contains(level));
        if let (Some(Ok(time_ms)), Some(level), Some(text)) = (time.map(str::parse), level, text) {
            notes.push(LogEntry { time_ms, level: level.to_owned(), text: text.to_owned() });
        }
    }
    Ok(notes)
}

/// All jobs that have been looked at since the start.
#[derive(Debug)]
pub(crate) struct JobViews {
    logs: PathBuf,
    jobs: Mutex<HashMap<String, Arc<JobView>>>,
}

impl JobViews {
    /// Logs go to files in a folder, which must exist.
    pub(crate) fn new(logs: &Path) -> JobViews {
        JobViews { logs: logs.to_owned(), jobs: Mutex::default() }
    }

    /// A job; `lines` gives its layers if it is looked at for the first time.
    ///
    /// # Errors
    /// Those of `lines`.
    pub(crate) fn job<E>(
        &self,
        id: &str,
        lines: impl FnOnce() -> Result<Vec<HistoryLine>, E>,
    ) -> Result<Arc<JobView>, E> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = jobs.get(id) {
            return Ok(job.clone());
        }
        let shown = Shown { lines: lines()?, ..Shown::default() };
        let job = Arc::new(JobView {
            id: id.to_owned(),
            facts: OnceLock::new(),
            log: self.logs.join(format!("{id}.log")),
            shown: Mutex::new(shown),
            changes: watch::Sender::new(0),
            cancelled: AtomicBool::new(false),
            at_work: AtomicBool::new(false),
        });
        jobs.insert(id.to_owned(), job.clone());
        Ok(job)
    }
}

#[cfg(test)]
mod tests {
    use strata_store::Hex128;

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

    #[test]
    fn layers_that_come_again_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let live = JobViews::new(folder.path());
        let job = live.job("a", || Ok::<_, ()>(vec![line(0), line(1)])).unwrap();
        job.layer(line(2));
        job.layer(line(3));
        assert_eq!(job.snapshot().totals.states, 60);
        job.roll_back(2);
        job.roll_back(2);
        assert_eq!(job.snapshot().totals.states, 10);
        job.layer(line(2));
        assert_eq!(job.lines().0.len(), 3);
        let events = job.events(0);
        assert_eq!(events.len(), 4);
        assert!(matches!(events[2], JobEvent::RolledBack(Some(1))));
    }

    #[test]
    fn the_log_survives() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| {
            let live = JobViews::new(folder.path());
            let job = live.job("a", || Ok::<_, ()>(Vec::new())).unwrap();
            job.note(Level::Warn, text);
            job.notes().unwrap().0
        };
        write("first\nline");
        std::fs::OpenOptions::new()
            .append(true)
            .open(folder.path().join("a.log"))
            .and_then(|mut file| file.write_all(b"17 INF"))
            .unwrap();
        // The torn line swallows the one after it: neither is shown as something else.
        write("second");
        let texts: Vec<String> = write("third").into_iter().map(|note| note.text).collect();
        assert_eq!(texts, ["first line", "third"]);
    }
}
