//! Shared state of a coordinator.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::dashboard::{PlainPresenter, Presenter};
use strata_proto::platform::{Instant, Platform};
use strata_proto::v1;
use strata_run::catalogue::Registry;
use strata_store::JobSpec;

use super::job_view::{JobView, JobViews};
use super::membership::Membership;
use super::notifier::{Notifier, Waiter};
use super::pace::Pace;
use super::removal_messages::Removals;
use super::schedule::Schedule;
use super::space_info::SpaceInfos;
use super::work::Work;
use crate::entry::WorkerNumber;
use crate::journal::operations::Journal;
use crate::journal::setup::JournalSetup;
use crate::scheduling::Need;

/// Retention of jobs that are done, failed or cancelled. By default they stay until a user removes
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Number of jobs that stay: those that ended last.
    pub jobs: Option<usize>,
    /// Jobs that ended less than this time ago stay.
    pub age: Option<Duration>,
}

/// Settings of a coordinator.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Time without a heartbeat after which a worker counts as lost.
    pub lease: Duration,
    /// How long a job waits for a worker that has files it needs.
    pub worker_timeout: Duration,
    /// Time between checkpoints, unless a job's options set another.
    pub checkpoint_interval: Duration,
    /// Whether workers also copy checkpoints to a shared store, so that a job can resume after the
    /// loss of a worker.
    pub has_store: bool,
    /// Layers with fewer states than this run on one worker; by default
    /// [`Self::NARROW_PER_THREAD`] for each thread of the worker with the fewest.
    pub narrow: Option<u64>,
    /// Workers in a row of the grid in which they exchange exits; by default as many as there are rows,
    /// or all of a few workers.
    pub columns: Option<u32>,
    /// Longest time between two lines about the progress of a job in its log.
    pub log_interval: Duration,
    /// The puzzles that jobs can search.
    pub puzzles: Arc<Registry>,
    /// Which ended jobs stay.
    pub retention: Retention,
    /// The platform it runs on.
    pub platform: Arc<dyn Platform>,
    /// How the journal is opened.
    pub journal: JournalSetup,
    /// The web page.
    pub dashboard: DashboardOptions,
}

/// Settings of the web page at the HTTP port.
#[derive(Clone, Debug)]
pub struct DashboardOptions {
    /// Host names by which browsers may call the coordinator, besides IP addresses, `localhost` and
    /// the names in its certificate.
    pub host_names: Vec<String>,
    /// Titles, commands and drawings of puzzles.
    pub presenter: Arc<dyn Presenter>,
}

impl Default for DashboardOptions {
    fn default() -> DashboardOptions {
        DashboardOptions { host_names: Vec::new(), presenter: Arc::new(PlainPresenter) }
    }
}

impl ClusterOptions {
    /// With fewer states than this for each thread of a worker, the exchange costs more than it
    /// gains. A thread expands this many in 2 to 3 ms.
    pub const NARROW_PER_THREAD: u64 = 1 << 17;

    /// Short times, for tests.
    #[cfg(test)]
    pub(crate) fn for_tests(puzzles: Registry) -> ClusterOptions {
        ClusterOptions {
            lease: Duration::from_secs(1),
            worker_timeout: Duration::from_secs(1),
            checkpoint_interval: Duration::from_secs(1),
            has_store: false,
            narrow: Some(1),
            columns: None,
            log_interval: Duration::from_secs(30),
            puzzles: Arc::new(puzzles),
            retention: Retention::default(),
            platform: strata_proto::platform::System::new(&test_runtime()),
            journal: JournalSetup::default(),
            dashboard: DashboardOptions::default(),
        }
    }
}

/// The runtime of a test; one that all tests without a runtime share.
#[cfg(test)]
fn test_runtime() -> tokio::runtime::Handle {
    use tokio::runtime::{Handle, Runtime};
    static SHARED: std::sync::LazyLock<Runtime> =
        std::sync::LazyLock::new(|| Runtime::new().unwrap());
    Handle::try_current().unwrap_or_else(|_| SHARED.handle().clone())
}

/// Settings, records and live state of a cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) options: ClusterOptions,
    pub(crate) journal: Journal,
    pub(crate) membership: Membership,
    pub(crate) removals: Removals,
    /// Pace of the workers, for the web page.
    pub(crate) pace: Pace,
    /// The jobs that run.
    pub(crate) schedule: Schedule,
    /// Held while a worker registers and the names of workers change.
    pub(crate) registrations: Mutex<()>,
    /// Work since the start, for metrics.
    pub(crate) work: Work,
    pub(crate) started: Instant,
    /// Properties of the spaces of jobs.
    pub(crate) spaces: SpaceInfos,
    /// Random number of this process, sent with all orders. It tells epochs apart that are issued
    /// twice because the journal is an older copy.
    pub(crate) incarnation: u64,
    views: JobViews,
    shutdown: AtomicBool,
    /// Wakes the queue and the threads of jobs.
    queue: Notifier,
}

impl Cluster {
    pub(crate) fn new(
        options: ClusterOptions,
        journal: Journal,
        views: JobViews,
        incarnation: u64,
    ) -> Arc<Cluster> {
        Arc::new(Cluster {
            membership: Membership::new(options.lease),
            removals: Removals::default(),
            pace: Pace::default(),
            schedule: Schedule::default(),
            registrations: Mutex::default(),
            work: Work::default(),
            options,
            journal,
            views,
            started: Instant::now(),
            spaces: SpaceInfos::default(),
            incarnation,
            shutdown: AtomicBool::new(false),
            queue: Notifier::default(),
        })
    }

    /// The view of a job.
    pub(crate) fn job(&self, id: &str) -> Arc<JobView> {
        self.views.job(id)
    }

    /// The view of a job that runs or is watched.
    pub(crate) fn job_in_use(&self, id: &str) -> Option<Arc<JobView>> {
        self.views.in_use(id)
    }

    /// Deletes the log of a job; a missing log is not an error.
    pub(crate) fn remove_log(&self, id: &str) -> io::Result<()> {
        self.views.remove_log(id)
    }

    /// The jobs that have a log, with the time of its last change.
    pub(crate) fn logs(&self) -> io::Result<Vec<(String, SystemTime)>> {
        self.views.logs()
    }

    /// The time of day, in seconds since 1970.
    pub(crate) fn seconds(&self) -> u64 {
        let now = self.platform().wall_time();
        now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
    }

    /// The number of states below which a layer runs on one worker. For a job that can use only one
    /// worker it is above every layer.
    pub(crate) fn narrow(&self, spec: &JobSpec) -> u64 {
        if Need::of(spec) == Need::One {
            return u64::MAX;
        }
        let by_threads =
            || ClusterOptions::NARROW_PER_THREAD * u64::from(self.membership.least_threads());
        self.options.narrow.unwrap_or_else(by_threads)
    }

    /// Makes the queue and all running jobs check for changes at once.
    pub(crate) fn wake_queue(&self) {
        self.queue.notify();
    }

    /// Whether a worker that is leaving may end: no session has it, and no running job needs files of
    /// it that other workers can still take over.
    pub(crate) fn is_dismissed(&self, worker: WorkerNumber) -> bool {
        let may_be_read = || {
            let can_move = !self.is_shutting_down() && !self.membership.available().is_empty();
            can_move && self.schedule.needs(worker)
        };
        self.membership.has_left_sessions(worker) && !may_be_read()
    }

    /// Dismisses the workers that are leaving and may end, before their next heartbeats.
    pub(crate) fn dismiss_leaving(&self) {
        for worker in self.membership.leaving() {
            if self.is_dismissed(worker) {
                let beat = v1::CoordinatorBeat { dismissed: true };
                self.membership.send(worker, v1::to_worker::Message::Beat(beat));
            }
        }
    }

    /// Registers a thread that waits for [`Self::wake_queue`].
    pub(crate) fn waiter(&self) -> Waiter {
        self.queue.waiter()
    }

    /// Blocks the thread of the queue or of a job for a time.
    pub(crate) fn sleep(&self, time: Duration) {
        self.platform().wait(async { tokio::time::sleep(time).await });
    }

    /// The platform it runs on.
    pub(crate) fn platform(&self) -> &dyn Platform {
        &*self.options.platform
    }

    /// Stops the running jobs at their next layers, with a checkpoint, and starts no other.
    pub(crate) fn shut_down(&self) {
        self.shutdown.store(true, Ordering::Release);
        self.wake_queue();
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutdown.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use strata_store::{CheckpointFile, Hex64, Weight};
    use tokio::sync::mpsc;

    use super::*;
    use crate::entry::{ClusterCheckpoint, WorkerEntry};

    fn connect(cluster: &Cluster, number: WorkerNumber) -> u64 {
        let entry = WorkerEntry {
            number,
            id: format!("{number:032x}"),
            name: format!("w{number}"),
            address: "http://127.0.0.1:1".to_owned(),
            first_seen: 0,
            host: None,
        };
        let (outbound, _received) = mpsc::unbounded_channel();
        cluster.membership.connect(entry, v1::Hello::default(), outbound)
    }

    fn checkpoint_of(worker: WorkerNumber) -> ClusterCheckpoint {
        let record = CheckpointFile {
            depth: 1,
            worker: worker.into(),
            file: "layer".to_owned(),
            bytes: 1,
            states: 1,
            positions: 1,
            regions: 1,
            generated: 1,
            digest: Weight([0; 2]),
            seal: Hex64(0),
        };
        let (records, owners) = (vec![record], vec![worker]);
        ClusterCheckpoint { depth: 1, records, owners, made: 0 }
    }

    #[tokio::test]
    async fn a_leaving_worker_is_not_dismissed_while_others_may_take_over_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let options = ClusterOptions::for_tests(Registry::shipped());
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let cluster = Cluster::new(options, journal, JobViews::new(folder.path()), 1);
        let leaving = v1::WorkerBeat { leaving: true, ..v1::WorkerBeat::default() };
        let connections = [0, 1].map(|worker| connect(&cluster, worker));
        assert!(!cluster.is_dismissed(0));
        assert!(cluster.membership.heartbeat(0, connections[0], leaving));
        assert!(cluster.is_dismissed(0));
        cluster.schedule.start("job", Need::Several);
        cluster.schedule.set_files("job", Some(&checkpoint_of(0)), false);
        assert!(!cluster.is_dismissed(0));
        // The job waits for another worker.
        cluster.schedule.set_files("job", Some(&checkpoint_of(0)), true);
        assert!(cluster.is_dismissed(0));
        cluster.schedule.set_files("job", Some(&checkpoint_of(0)), false);
        assert!(!cluster.is_dismissed(0));
        // No worker is left that could take them over.
        assert!(cluster.membership.heartbeat(1, connections[1], leaving));
        assert!(cluster.is_dismissed(0));
        assert!(cluster.membership.heartbeat(1, connections[1], v1::WorkerBeat::default()));
        assert!(!cluster.is_dismissed(0));
        cluster.schedule.set_files("job", Some(&checkpoint_of(1)), false);
        assert!(cluster.is_dismissed(0));
    }
}
