//! Calls that remove jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use strata_proto::v1;
use strata_store::check_name;
use tonic::Status;

use super::reader::JobReader;
use super::status::{blocking, invalid, status};
use super::streams::{MessageSender, parts, send};
use super::view;
use crate::cluster::context::Cluster;
use crate::cluster::job_view::JobView;
use crate::cluster::removal::{HoldersError, held_jobs, holders, remove_logs};
use crate::cluster::retention::BATCH;
use crate::entry::{EndState, JobEntry, WorkerEntry, WorkerNumber};
use crate::journal::error::JournalError;

/// Longest wait for workers to delete files.
const WAIT: Duration = Duration::from_secs(5);

/// Longest wait for the last events of a job that has ended.
const LAST_EVENTS: Duration = Duration::from_secs(5);

/// Removes a job that has ended.
///
/// # Errors
/// `FAILED_PRECONDITION` if it has not ended, otherwise the status of the journal's error.
pub(super) async fn remove(reader: &JobReader, job: String) -> Result<v1::RemovedJob, Status> {
    let cluster = &reader.cluster;
    let entry = reader.find(job).await?;
    if entry.state.has_ended() {
        // While it is active, the queue may still write to its log.
        let view = reader.view(&entry.id);
        let ended = tokio::time::timeout(LAST_EVENTS, inactive(&view)).await;
        ended.map_err(|_| status(JournalError::NotEnded { job: entry.id.clone() }))?;
    }
    let (shared, id) = (Arc::clone(cluster), entry.id);
    let entry = blocking(cluster.platform(), move || remove_ended(&shared, &id)).await?;
    let waiting_for = waiting_for(cluster, vec![entry.id.clone()], BTreeSet::new()).await?;
    Ok(v1::RemovedJob { job: Some(view::job(&entry, None, 0)), waiting_for })
}

/// Removes an ended job and its log, and wakes the task that has workers remove its files.
///
/// # Errors
/// `NotEnded` if it has not ended; those of the journal.
pub(super) fn remove_ended(cluster: &Arc<Cluster>, id: &str) -> Result<JobEntry, JournalError> {
    let entry = cluster.journal.remove(id)?;
    tracing::info!(job = id, "removed");
    remove_logs(cluster)?;
    cluster.removals.wake();
    Ok(entry)
}

/// Waits until the queue has added the last event of a job.
async fn inactive(view: &JobView) {
    let mut changes = view.changes();
    while view.is_active() {
        // The view holds the sender.
        let _ = changes.changed().await;
    }
}

/// Names of workers that may still hold files of the removed jobs `jobs`, and of the given
/// `workers`.
async fn waiting_for(
    cluster: &Arc<Cluster>,
    jobs: Vec<String>,
    mut workers: BTreeSet<WorkerNumber>,
) -> Result<Vec<String>, Status> {
    let left = holders(cluster, &Arc::new(jobs), WAIT).await;
    let left = left.map_err(|error| match error {
        HoldersError::Journal(error) => status(error),
        HoldersError::Panicked(_) => Status::internal(error.to_string()),
    })?;
    workers.extend(left);
    if workers.is_empty() {
        return Ok(Vec::new());
    }
    Ok(names(&registered(cluster).await?, workers))
}

/// All workers that have registered, by number.
async fn registered(cluster: &Arc<Cluster>) -> Result<Vec<WorkerEntry>, Status> {
    let shared = Arc::clone(cluster);
    blocking(cluster.platform(), move || shared.journal.workers()).await
}

/// Names of workers.
fn names(known: &[WorkerEntry], numbers: impl IntoIterator<Item = WorkerNumber>) -> Vec<String> {
    let name = |number: WorkerNumber| known.get(usize::from(number)).map(|one| one.name.clone());
    numbers.into_iter().filter_map(name).collect()
}

/// A call that removes jobs that ended some time ago, or only lists them (`dry_run`).
pub(super) struct Collection {
    cluster: Arc<Cluster>,
    older_than: Duration,
    states: Vec<EndState>,
    dry_run: bool,
    /// Ids of the removed jobs.
    removed: Vec<String>,
}

impl Collection {
    /// Checks a request.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the request names no state, or a state in which a job has not ended.
    pub(super) fn new(
        cluster: Arc<Cluster>,
        request: &v1::CollectRequest,
    ) -> Result<Collection, Status> {
        let states = request.states().map(|state| match state {
            v1::JobState::Stopped => Ok(EndState::Stopped),
            v1::JobState::Cancelled => Ok(EndState::Cancelled),
            v1::JobState::Failed => Ok(EndState::Failed),
            v1::JobState::Done => Ok(EndState::Done),
            other => {
                Err(invalid(format!("{} is no state of a job that has ended", other.as_str_name())))
            }
        });
        let states = states.collect::<Result<Vec<_>, _>>()?;
        if states.is_empty() {
            return Err(invalid("no state is given"));
        }
        let older_than = Duration::from_millis(request.older_than_ms);
        Ok(Collection {
            cluster,
            older_than,
            states,
            dry_run: request.dry_run,
            removed: Vec::new(),
        })
    }

    /// Removes and sends the jobs of the journal, then the jobs whose files exist without an entry
    /// in the journal.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn run(
        mut self,
        sender: MessageSender<v1::CollectPart>,
    ) -> Result<(), Status> {
        for ids in self.ended().await?.chunks(BATCH) {
            let jobs = self.take(ids.to_vec()).await?;
            self.removed.extend(jobs.iter().map(|job| job.id.clone()));
            let jobs = jobs.iter().map(|job| view::job(job, None, 0)).collect();
            for jobs in parts(jobs) {
                if !send(&sender, v1::CollectPart { jobs, ..Default::default() }).await {
                    return Ok(());
                }
            }
        }
        let (unknown, silent) = self.unknown().await?;
        if !self.dry_run {
            self.removed.extend(unknown.keys().cloned());
            let (cluster, jobs) = (Arc::clone(&self.cluster), unknown.clone());
            blocking(self.cluster.platform(), move || {
                cluster.journal.remove_unknown(&jobs)?;
                remove_logs(&cluster)
            })
            .await?;
            self.cluster.removals.wake();
        }
        let known = registered(&self.cluster).await?;
        let named = unknown.into_iter();
        let named = named.map(|(job, held)| v1::UnknownJob { job, workers: names(&known, held) });
        for unknown in parts(named.collect()) {
            if !send(&sender, v1::CollectPart { unknown, ..Default::default() }).await {
                return Ok(());
            }
        }
        if self.removed.len() >= BATCH {
            let cluster = Arc::clone(&self.cluster);
            blocking(self.cluster.platform(), move || {
                cluster.journal.shrink();
                Ok::<_, JournalError>(())
            })
            .await?;
        }
        let waiting_for = waiting_for(&self.cluster, self.removed, silent).await?;
        send(&sender, v1::CollectPart { waiting_for, ..Default::default() }).await;
        Ok(())
    }

    /// Ids of the journal's jobs to remove, oldest first.
    async fn ended(&self) -> Result<Vec<String>, Status> {
        let (cluster, states) = (Arc::clone(&self.cluster), self.states.clone());
        // The journal's times are whole seconds.
        let Some(time) =
            cluster.seconds().checked_sub(self.older_than.as_millis().div_ceil(1000) as u64)
        else {
            return Ok(Vec::new());
        };
        blocking(self.cluster.platform(), move || {
            let ended = cluster.journal.ended_before(time, &states)?.into_iter();
            // Excludes jobs to which the queue has yet to add the last event.
            let is_over =
                |id: &String| !cluster.job_in_use(id).is_some_and(|view| view.is_active());
            Ok::<_, JournalError>(ended.map(|job| job.id).filter(is_over).collect())
        })
        .await
    }

    /// Removes jobs, or only finds them in a dry run.
    async fn take(&self, ids: Vec<String>) -> Result<Vec<JobEntry>, Status> {
        let (cluster, dry_run) = (Arc::clone(&self.cluster), self.dry_run);
        let jobs = blocking(self.cluster.platform(), move || {
            if dry_run {
                return cluster.journal.find_each(&ids);
            }
            let jobs = cluster.journal.remove_ended(&ids)?;
            remove_logs(&cluster)?;
            jobs.iter().for_each(|job| tracing::info!(job = job.id, "removed"));
            Ok::<_, JournalError>(jobs)
        })
        .await?;
        self.cluster.removals.wake();
        Ok(jobs)
    }

    /// Jobs that are not in the journal, with the workers that hold them; and the workers that did
    /// not reply.
    async fn unknown(
        &self,
    ) -> Result<(BTreeMap<String, Vec<WorkerNumber>>, BTreeSet<WorkerNumber>), Status> {
        let known = registered(&self.cluster).await?;
        let mut silent: BTreeSet<WorkerNumber> = known.iter().map(|worker| worker.number).collect();
        let mut held: BTreeMap<String, Vec<WorkerNumber>> = BTreeMap::new();
        for worker in self.cluster.membership.connected() {
            if let Some(jobs) = held_jobs(&self.cluster, worker, self.older_than).await {
                silent.remove(&worker);
                jobs.into_iter().for_each(|job| held.entry(job).or_default().push(worker));
            }
        }
        let (cluster, older_than) = (Arc::clone(&self.cluster), self.older_than);
        let unknown = blocking(self.cluster.platform(), move || {
            for job in old_logs(&cluster, older_than) {
                held.entry(job).or_default();
            }
            let mut unknown = BTreeMap::new();
            for (job, workers) in held {
                if !cluster.journal.knows(&job)? {
                    unknown.insert(job, workers);
                }
            }
            Ok::<_, JournalError>(unknown)
        });
        Ok((unknown.await?, silent))
    }
}

/// The jobs whose logs have not changed for `older_than`.
fn old_logs(cluster: &Cluster, older_than: Duration) -> Vec<String> {
    let now = cluster.platform().wall_time();
    let is_old = |modified: SystemTime| {
        older_than.is_zero() || now.duration_since(modified).is_ok_and(|age| age >= older_than)
    };
    let logs = cluster.logs().inspect_err(|error| tracing::warn!("cannot list the logs: {error}"));
    let logs = logs.unwrap_or_default().into_iter();
    let old = logs.filter(|(_, modified)| is_old(*modified)).map(|(job, _)| job);
    old.filter(|job| check_name("job id", job).is_ok()).collect()
}
