//! One job: its sessions, from its start until it ends or the coordinator shuts down.

use std::sync::Arc;
use std::time::Duration;

use strata_proto::platform::Instant;
use strata_proto::v1::FailureKind;
use strata_run::{DriveError, Outcome, Refusal, Retryable, StopReason};

use super::admission::{Admission, ClusterState, absent_holders, admit};
use super::context::Cluster;
use super::error::ClusterError;
use super::event::Level;
use super::job_view::JobView;
use super::notifier::Waiter;
use super::session;
use super::space_info::SpaceInfo;
use crate::entry::{JobEntry, JobState, WorkerNumber};
use crate::journal::error::JournalError;

/// Time between two polls of the cluster if no notification arrives.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Pause before the next session after a failure, in which a lost worker may reconnect.
const BACKOFF: Duration = Duration::from_millis(200);

/// First pause of a job whose journal cannot be written.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// Longest such pause.
const LAST_RETRY: Duration = Duration::from_secs(60);

/// Argument for `Journal::check_writable` with which it always writes: no earlier write counts as
/// recent.
pub(super) const NEVER: Duration = Duration::ZERO;

/// Longest grace period after a start, in which known workers reconnect.
const GRACE_PERIOD: Duration = Duration::from_secs(3);

/// Minimum time between two equal errors in the log.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Log of errors that repeats an error at most once a minute.
#[derive(Default)]
pub(super) struct ErrorLog {
    last: Option<(String, Instant)>,
}

impl ErrorLog {
    /// Logs an error, unless the same one was logged a short time ago. The journal logs its own
    /// faults.
    pub(super) fn log(&mut self, error: &JournalError) {
        let text = error.to_string();
        let is_new = self
            .last
            .as_ref()
            .is_none_or(|(last, at)| *last != text || at.elapsed() > LOG_INTERVAL);
        if is_new && !error.is_unavailable() {
            tracing::error!("{text}");
            self.last = Some((text, Instant::now()));
        }
    }
}

/// Runs the active job with this id until it ends or the coordinator shuts down.
pub(super) fn run_until_ended(cluster: &Arc<Cluster>, id: &str) {
    let waiter = cluster.waiter();
    let mut errors = ErrorLog::default();
    while !cluster.is_shutting_down() {
        let ran = cluster.journal.find(id).and_then(|entry| run_job(cluster, &waiter, &entry));
        match ran {
            Ok(()) | Err(JournalError::NoSuchJob { .. }) => return,
            Err(error) => {
                errors.log(&error);
                // A wait for a notification would return at once: the end of a session has sent one.
                cluster.sleep(POLL_INTERVAL);
            }
        }
    }
}

/// Runs a job until it ends or the coordinator shuts down.
fn run_job(cluster: &Arc<Cluster>, waiter: &Waiter, entry: &JobEntry) -> Result<(), JournalError> {
    let job = cluster.job(&entry.id);
    job.activate(entry.progress.clone());
    let mut retry = Retry::new();
    let ended = loop {
        match run_to_end(cluster, waiter, &job, entry) {
            Err(error) if error.is_unavailable() => {
                if !pause(cluster, waiter, &job, &error, retry.wait()) {
                    break Ok(());
                }
                retry.went_on();
            }
            ended => break ended,
        }
    };
    job.set_workers(0, Vec::new());
    job.deactivate();
    ended
}

/// Lengths of the pauses of a job whose journal cannot be written.
struct Retry {
    /// The next pause.
    wait: Duration,
    /// Time at which the job continued.
    since: Option<Instant>,
}

impl Retry {
    fn new() -> Retry {
        Retry { wait: FIRST_RETRY, since: None }
    }

    /// Minimum length of the next pause. It doubles if the job has not run for long since the
    /// last one: there may be room for a small write, but not for a checkpoint.
    fn wait(&mut self) -> Duration {
        self.wait = match self.since {
            Some(since) if since.elapsed() < LAST_RETRY => (2 * self.wait).min(LAST_RETRY),
            _ => FIRST_RETRY,
        };
        self.wait
    }

    fn went_on(&mut self) {
        self.since = Some(Instant::now());
    }
}

/// Waits until the journal can be written, for `least` at least. Returns false on shutdown.
fn pause(
    cluster: &Cluster,
    waiter: &Waiter,
    job: &JobView,
    error: &JournalError,
    least: Duration,
) -> bool {
    let begun = Instant::now();
    job.set_workers(0, Vec::new());
    job.set_paused(Some(error.to_string()));
    job.log(Level::Warn, &format!("paused at the last checkpoint: {error}"));
    while !cluster.is_shutting_down() {
        waiter.wait(cluster.platform(), FIRST_RETRY);
        if begun.elapsed() < least {
            continue;
        }
        match cluster.journal.check_writable(NEVER) {
            Ok(()) => {
                job.set_paused(None);
                return true;
            }
            Err(error) => job.set_paused(Some(error.to_string())),
        }
    }
    false
}

fn run_to_end(
    cluster: &Arc<Cluster>,
    waiter: &Waiter,
    job: &Arc<JobView>,
    entry: &JobEntry,
) -> Result<(), JournalError> {
    let space = cluster.spaces.of(&cluster.options.puzzles, entry);
    // One transaction, like a cancellation, so that neither can undo the other.
    let (entry, ()) = cluster.journal.update(&entry.id, |entry| {
        if entry.state == JobState::Queued {
            entry.state = JobState::Running;
        }
        if let Ok(space) = &space {
            entry.expected_layers = space.expected_layers;
            entry.expected_states = space.forecast.states();
        }
        job.set_cancelled(entry.cancel);
    })?;
    job.notify_state();
    if entry.state != JobState::Running {
        return Ok(());
    }
    let end = match space {
        Ok(space) => run_sessions(cluster, waiter, job, &entry.id, &space)?,
        Err(error) => {
            let why = format!("the space {} cannot be opened: {error}", entry.spec.space);
            Some(JobState::Failed { corrupt: false, why })
        }
    };
    // Without an end the job stays `Running`, and resumes when the coordinator starts again.
    if let Some(state) = end {
        log_end(job, &state);
        set_state(cluster, job, &entry.id, state)?;
    }
    Ok(())
}

fn set_state(
    cluster: &Cluster,
    job: &JobView,
    id: &str,
    state: JobState,
) -> Result<(), JournalError> {
    cluster.journal.update(id, |entry| {
        if entry.state != JobState::Done {
            entry.state = state;
        }
    })?;
    job.notify_state();
    Ok(())
}

fn log_end(job: &JobView, state: &JobState) {
    match state {
        JobState::Done => job.log(Level::Info, "done"),
        JobState::Cancelled => job.log(Level::Info, "cancelled; it can be resumed"),
        JobState::Stopped(reason) => {
            job.log(Level::Warn, &format!("stopped: {reason}; it can be resumed"));
        }
        JobState::Failed { why, .. } => job.log(Level::Error, &format!("failed: {why}")),
        JobState::Queued | JobState::Running => {}
    }
}

/// Runs session after session. Returns how the job ends, or `None` on shutdown.
fn run_sessions(
    cluster: &Arc<Cluster>,
    waiter: &Waiter,
    job: &Arc<JobView>,
    id: &str,
    space: &SpaceInfo,
) -> Result<Option<JobState>, JournalError> {
    loop {
        let entry = cluster.journal.find(id)?;
        if entry.state == JobState::Done {
            return Ok(Some(JobState::Done));
        }
        if job.is_cancelled() {
            return Ok(Some(JobState::Cancelled));
        }
        let owners = match wait_for_workers(cluster, waiter, job, &entry)? {
            Readiness::Ready(owners) => owners,
            Readiness::Cancelled => continue,
            Readiness::Shutdown => return Ok(None),
            Readiness::Failed(why) => {
                return Ok(Some(JobState::Failed { corrupt: false, why }));
            }
        };
        let ended = session::run(cluster, job, &entry, space, owners);
        cluster.schedule.give_back(id);
        cluster.dismiss_leaving();
        cluster.wake_queue();
        match ended {
            Ok(Outcome::Stopped(StopReason::Moving)) => {}
            Ok(Outcome::Stopped(StopReason::Interrupted)) => {
                if cluster.is_shutting_down() {
                    return Ok(None);
                }
            }
            Ok(Outcome::Stopped(reason)) => return Ok(Some(JobState::Stopped(reason))),
            Ok(Outcome::Goal(_) | Outcome::Exhausted) => return Ok(Some(JobState::Done)),
            Err(DriveError::Failed(ClusterError::Shutdown)) => return Ok(None),
            // The next round of the loop handles the cancellation.
            Err(DriveError::Failed(ClusterError::Cancelled)) => {}
            Err(DriveError::Failed(error)) if error.is_transient() => {
                job.log(Level::Warn, &format!("{error}: back to the last checkpoint"));
                cluster.sleep(BACKOFF);
            }
            Err(DriveError::Failed(ClusterError::Journal(error))) => return Err(error),
            Err(DriveError::Failed(error)) => {
                let Some(reason) = error.exhausted() else {
                    return Ok(Some(failure(DriveError::Failed(error))));
                };
                job.log(Level::Error, &error.to_string());
                return Ok(Some(JobState::Stopped(reason)));
            }
            Err(error) => return Ok(Some(failure(error))),
        }
    }
}

fn failure(error: DriveError<ClusterError>) -> JobState {
    match error {
        DriveError::Failed(error) => {
            let corrupt = matches!(error, ClusterError::Failed { kind: FailureKind::Corrupt, .. });
            JobState::Failed { corrupt, why: error.to_string() }
        }
        DriveError::Refused(refusal) => {
            let corrupt = matches!(refusal, Refusal::Differs { .. });
            JobState::Failed { corrupt, why: refusal.to_string() }
        }
    }
}

/// Result of waiting for workers.
enum Readiness {
    /// A session can start, with these owners by shard.
    Ready(Vec<WorkerNumber>),
    Cancelled,
    Shutdown,
    Failed(String),
}

/// Waits until a session can start, and takes its workers.
fn wait_for_workers(
    cluster: &Cluster,
    waiter: &Waiter,
    job: &JobView,
    entry: &JobEntry,
) -> Result<Readiness, JournalError> {
    let timeout = cluster.options.worker_timeout;
    let grace_period = cluster.options.lease.min(GRACE_PERIOD);
    // Since when workers that the job needs are absent.
    let mut absent_since = None::<Instant>;
    let mut logged = None;
    loop {
        if cluster.is_shutting_down() {
            return Ok(Readiness::Shutdown);
        }
        if job.is_cancelled() {
            return Ok(Readiness::Cancelled);
        }
        // Workers that are leaving still send their files.
        let (live, known) = (cluster.membership.present(), cluster.journal.workers()?);
        let available = cluster.membership.available();
        let checkpoint = entry.checkpoint.as_ref();
        let is_absent = !absent_holders(&live, checkpoint).is_empty();
        absent_since = absent_since.filter(|_| is_absent);
        let timed_out =
            is_absent && absent_since.get_or_insert_with(Instant::now).elapsed() >= timeout;
        let in_grace_period = cluster.started.elapsed() < grace_period;
        let is_blocked = is_absent && !(cluster.options.has_store && timed_out);
        cluster.schedule.set_files(&entry.id, checkpoint, is_blocked);
        let admission = cluster.schedule.take(&entry.id, &available, |usable| {
            let admission = admit(&ClusterState {
                live: &live,
                usable,
                known: &known,
                checkpoint,
                width: entry.progress.as_ref().map_or(0, |progress| progress.layer_states),
                narrow: cluster.narrow(&entry.spec),
                shards: entry.spec.shards,
                in_grace_period,
                has_store: cluster.options.has_store,
                timed_out,
            });
            let members = match &admission {
                Admission::Start(owners) => owners.clone(),
                Admission::Wait(_) | Admission::Fail(_) => Vec::new(),
            };
            (members, admission)
        });
        let names = match admission {
            Admission::Start(owners) => return Ok(Readiness::Ready(owners)),
            Admission::Wait(names) => names,
            Admission::Fail(names) => {
                let seconds = timeout.as_secs_f64();
                let why = format!("{} did not reconnect within {seconds:.0} s", names.join(", "));
                return Ok(Readiness::Failed(why));
            }
        };
        if logged.as_ref() != Some(&names) && !in_grace_period {
            log_wait(job, &names, available.len());
            logged = Some(names.clone());
        }
        job.set_workers(0, names);
        waiter.wait(cluster.platform(), POLL_INTERVAL);
    }
}

/// Logs which workers a job waits for: those with these names or, without names, any worker. `live`
/// is the number of available workers.
fn log_wait(job: &JobView, names: &[String], live: usize) {
    match (names, live) {
        ([], 0) => job.log(Level::Warn, "waiting for a worker"),
        ([], _) => job.log(Level::Info, "waiting for a worker: other jobs have them"),
        _ => job.log(Level::Warn, &format!("waiting for {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use strata_run::catalogue::Registry;
    use strata_store::{EngineKind, JobSpec};
    use tempfile::TempDir;

    use super::*;
    use crate::cluster::context::ClusterOptions;
    use crate::cluster::job_view::JobViews;
    use crate::entry::JobOptions;
    use crate::journal::operations::Journal;

    fn cluster() -> (TempDir, Arc<Cluster>) {
        let folder = tempfile::tempdir().unwrap();
        let options = ClusterOptions::for_tests(Registry::shipped());
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let views = JobViews::new(folder.path());
        (folder, Cluster::new(options, journal, views, 1))
    }

    fn submit(cluster: &Cluster, space: &str) -> JobEntry {
        let spec = JobSpec {
            space: space.to_owned(),
            params: Default::default(),
            shards: 1,
            engine: EngineKind::Explicit,
        };
        cluster.journal.submit(space, None, spec, JobOptions::default(), 0, None).unwrap().0
    }

    #[test]
    fn a_job_cancelled_while_the_queue_starts_it_stays_cancelled() {
        let (_folder, cluster) = cluster();
        let taken = submit(&cluster, "panex");
        let cancel = |entry: &mut JobEntry| {
            entry.cancel = true;
            entry.state = JobState::Cancelled;
        };
        cluster.journal.update(&taken.id, cancel).unwrap();
        // If the job started anyway, the shutdown would end its wait for workers.
        cluster.shut_down();
        run_job(&cluster, &cluster.waiter(), &taken).unwrap();
        assert_eq!(cluster.journal.find(&taken.id).unwrap().state, JobState::Cancelled);
        assert!(!cluster.job(&taken.id).is_active());
    }

    #[test]
    fn a_job_fails_with_the_error_of_a_space_that_cannot_be_opened() {
        let (_folder, cluster) = cluster();
        let job = submit(&cluster, "nowhere");
        run_job(&cluster, &cluster.waiter(), &job).unwrap();
        let JobState::Failed { corrupt: false, why } = cluster.journal.find(&job.id).unwrap().state
        else {
            panic!("the job has not failed");
        };
        assert!(why.starts_with("the space nowhere cannot be opened: "), "{why}");
        let log = cluster.job(&job.id).log_entries(0).unwrap().entries;
        assert!(log[0].message.contains(&why), "{log:?}");
    }
}
