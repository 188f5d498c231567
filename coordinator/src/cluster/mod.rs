//! The cluster: who is there, what is queued, and the session that works on a job.

pub(crate) mod admission;
pub(crate) mod assignment;
pub(crate) mod checkpoint_sink;
pub(crate) mod error;
pub(crate) mod job_view;
pub(crate) mod membership;
pub(crate) mod queue;
pub(crate) mod session;
pub(crate) mod worker_pool;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::journal::{Journal, JournalError};
use job_view::{JobView, JobViews};
use membership::Membership;

/// Settings of a coordinator.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// How long a silent worker counts as alive.
    pub lease: Duration,
    /// How long a job waits for a worker that has files it needs.
    pub worker_timeout: Duration,
    /// Time between checkpoints, unless a job says otherwise.
    pub checkpoint_interval: Duration,
    /// Whether the workers put checkpoints into a shared store as well, so that a job can go on
    /// without a worker that is gone.
    pub has_store: bool,
    /// Layers with fewer states than this are made by one worker.
    pub narrow: u64,
}

impl ClusterOptions {
    /// Below this many states the exchange costs more than it gains.
    pub const NARROW: u64 = 1 << 16;
}

/// What all parts of a coordinator share.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) options: ClusterOptions,
    pub(crate) journal: Journal,
    pub(crate) membership: Membership,
    pub(crate) live: JobViews,
    pub(crate) started: Instant,
    shutdown: AtomicBool,
    /// Wakes the queue.
    bell: (Mutex<bool>, Condvar),
}

impl Cluster {
    /// Narrower layers of a job are made by one worker. A diagram always is.
    pub(crate) fn narrow(&self, spec: &strata_store::JobSpec) -> u64 {
        if spec.engine.is_explicit() { self.options.narrow } else { u64::MAX }
    }

    pub(crate) fn new(options: ClusterOptions, journal: Journal, live: JobViews) -> Arc<Cluster> {
        Arc::new(Cluster {
            membership: Membership::new(options.lease),
            options,
            journal,
            live,
            started: Instant::now(),
            shutdown: AtomicBool::new(false),
            bell: (Mutex::new(false), Condvar::new()),
        })
    }

    /// A job as it can be seen now.
    ///
    /// # Errors
    /// Those of the journal.
    pub(crate) fn job(&self, id: &str) -> Result<Arc<JobView>, JournalError> {
        self.live.job(id, || self.journal.layers(id))
    }

    /// Something has changed that the queue should look at.
    pub(crate) fn wake_queue(&self) {
        *self.bell.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.1.notify_all();
    }

    /// Waits until somebody rings, at most so long.
    pub(crate) fn wait(&self, most: Duration) {
        let rung = self.bell.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) = self
            .bell
            .1
            .wait_timeout_while(rung, most, |rung| !*rung)
            .unwrap_or_else(PoisonError::into_inner);
        *rung = false;
    }

    /// The running job is to stop at the next layer, with a checkpoint, and no other to begin.
    pub(crate) fn shut_down(&self) {
        self.shutdown.store(true, Ordering::Release);
        self.wake_queue();
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutdown.load(Ordering::Acquire)
    }
}
