//! Job queue: starts jobs in order, each on a thread, while there is room.

use std::sync::Arc;
use std::time::Duration;

use strata_proto::platform::{Instant, Thread};

use super::context::Cluster;
use super::engine_choice::settle;
use super::job_runner::{ErrorLog, NEVER, POLL_INTERVAL, run_until_ended};
use super::removal::remove_logs;
use super::retention;
use crate::journal::error::JournalError;
use crate::scheduling::Need;

/// Interval at which retention is applied while no job ends.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60);

/// A job that runs.
struct Running {
    id: String,
    thread: Thread,
}

/// Runs jobs until the coordinator shuts down; returns when all of them have stopped.
///
/// # Panics
/// If the thread of a job panicked.
pub(crate) fn run(cluster: &Arc<Cluster>) {
    let waiter = cluster.waiter();
    let mut errors = ErrorLog::default();
    let mut running = Vec::new();
    // Time when retention was last applied; `None` if it is due now.
    let mut retained = None::<Instant>;
    while !cluster.is_shutting_down() {
        if join_ended(cluster, &mut running) {
            retained = None;
        }
        if retained.is_none_or(|last| last.elapsed() >= RETENTION_INTERVAL) {
            retained = Some(Instant::now());
            if let Err(error) = retention::apply(cluster).and_then(|()| remove_logs(cluster))
                && !error.is_unavailable()
            {
                tracing::error!("jobs that are not retained: {error}");
            }
        }
        if let Err(error) = start_jobs(cluster, &mut running) {
            errors.log(&error);
        }
        waiter.wait(cluster.platform(), POLL_INTERVAL);
    }
    running.into_iter().for_each(|job| join(cluster, job));
}

/// Starts the jobs for which there is room.
fn start_jobs(cluster: &Arc<Cluster>, running: &mut Vec<Running>) -> Result<(), JournalError> {
    let room = cluster.schedule.room(cluster.membership.available().len());
    let has_started = |id: &str| cluster.schedule.has(id);
    let jobs = cluster.journal.unended(|jobs| jobs.startable(room, has_started))?;
    for (id, need) in jobs {
        // A job whose engine depends on the workers stays in the queue until there is a worker.
        let Some(entry) = settle(cluster, cluster.journal.find(&id)?)? else { break };
        if Need::of(&entry.spec) != need {
            // The chosen engine changes the number of workers that the job needs: there may be no
            // room for it.
            cluster.wake_queue();
            break;
        }
        match start(cluster, &id, need) {
            Ok(thread) => running.push(Running { id, thread }),
            Err(error) => {
                cluster.schedule.end(&id);
                tracing::error!(job = id, "cannot start a thread: {error}");
                // A wait for a notification would return at once: the end of the job has sent one.
                cluster.sleep(POLL_INTERVAL);
                break;
            }
        }
    }
    if cluster.schedule.is_empty() && cluster.journal.fault().is_some() {
        // Tests whether a fault of the journal is over: nothing else may write.
        cluster.journal.check_writable(NEVER)?;
    }
    Ok(())
}

/// Guard of an active job. Dropping it, also by a panic, ends the job in the schedule.
struct Active {
    cluster: Arc<Cluster>,
    id: String,
}

impl Drop for Active {
    fn drop(&mut self) {
        self.cluster.schedule.end(&self.id);
        self.cluster.wake_queue();
    }
}

fn start(cluster: &Arc<Cluster>, id: &str, need: Need) -> std::io::Result<Thread> {
    cluster.schedule.start(id, need);
    let active = Active { cluster: Arc::clone(cluster), id: id.to_owned() };
    let work = Box::new(move || run_until_ended(&active.cluster, &active.id));
    cluster.platform().start("job", work)
}

/// Joins the threads of jobs that are no longer active. Returns whether there were any.
fn join_ended(cluster: &Cluster, running: &mut Vec<Running>) -> bool {
    let ended = running.extract_if(.., |job| !cluster.schedule.has(&job.id));
    let ended: Vec<Running> = ended.collect();
    let any = !ended.is_empty();
    ended.into_iter().for_each(|job| join(cluster, job));
    any
}

fn join(cluster: &Cluster, job: Running) {
    let Running { id, thread } = job;
    if let Err(panicked) = cluster.platform().wait(thread) {
        panic!("job {id}: {panicked}");
    }
}

#[cfg(test)]
mod tests {
    use strata_run::catalogue::Registry;

    use super::*;
    use crate::cluster::context::ClusterOptions;
    use crate::cluster::job_view::JobViews;
    use crate::journal::operations::Journal;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_in_the_thread_of_a_job_propagates_to_the_queue() {
        let folder = tempfile::tempdir().unwrap();
        let options = ClusterOptions::for_tests(Registry::shipped());
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let cluster = Cluster::new(options, journal, JobViews::new(folder.path()), 1);
        let thread = cluster.platform().start("job", Box::new(|| panic!("bug {}", 7))).unwrap();
        let shared = Arc::clone(&cluster);
        let job = Running { id: "panex-3".to_owned(), thread };
        let joined = cluster.platform().start("queue", Box::new(move || join(&shared, job)));
        assert_eq!(joined.unwrap().await.unwrap_err().message, "job panex-3: bug 7");
    }
}
