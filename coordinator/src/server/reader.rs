//! Job lookups for client calls, on blocking threads.

use std::sync::Arc;

use strata_proto::v1;
use strata_store::HistoryLine;
use tonic::Status;

use super::status::blocking;
use super::view;
use crate::cluster::context::Cluster;
use crate::cluster::job_view::{JobSnapshot, JobView, Position};
use crate::entry::{JobEntry, JobState};
use crate::journal::error::JournalError;

/// Access to jobs by client calls.
#[derive(Clone)]
pub(super) struct JobReader {
    pub(super) cluster: Arc<Cluster>,
}

impl JobReader {
    /// Finds a job by id, name or prefix.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn find(&self, job: String) -> Result<JobEntry, Status> {
        let cluster = Arc::clone(&self.cluster);
        blocking(move || cluster.journal.find(&job)).await
    }

    /// The live view of the job with this id.
    pub(super) fn view(&self, id: &str) -> Arc<JobView> {
        self.cluster.job(id)
    }

    /// A job as a message.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn message(&self, entry: JobEntry) -> Result<v1::Job, Status> {
        let cluster = Arc::clone(&self.cluster);
        blocking(move || {
            let before = match entry.state {
                JobState::Queued => cluster.journal.unended(|jobs| jobs.before(entry.order))?,
                _ => 0,
            };
            Ok::<_, JournalError>(view::job(&entry, snapshot(&cluster, &entry.id), before))
        })
        .await
    }

    /// Jobs as messages, oldest first: all, or only those that have not ended.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn messages(&self, unfinished: bool) -> Result<Vec<v1::Job>, Status> {
        let cluster = Arc::clone(&self.cluster);
        let mut jobs = blocking(move || {
            let entries = cluster.journal.jobs()?;
            let running = |entry: &JobEntry| entry.state == JobState::Running;
            let mut before = entries.iter().filter(|entry| running(entry)).count();
            let mut jobs = Vec::new();
            for entry in entries {
                if !(unfinished && entry.state.has_ended()) {
                    jobs.push(view::job(&entry, snapshot(&cluster, &entry.id), before));
                }
                // Entries have the order of the queue.
                before += usize::from(entry.state == JobState::Queued);
            }
            Ok::<_, JournalError>(jobs)
        })
        .await?;
        jobs.sort_by_key(|job| job.created);
        Ok(jobs)
    }

    /// The layers of a job as they are now.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn layers(&self, id: &str, view: &JobView) -> Result<JobLayers, Status> {
        // The view first: what its journal lacks by then are events that follow.
        let Position { next_event, layers } = view.position();
        let (saved, unsaved) = match layers {
            Some(layers) => layers,
            None => {
                let progress = self.find(id.to_owned()).await?.progress;
                (progress.map_or(0, |progress| progress.depth + 1), Vec::new())
            }
        };
        let (cluster, id) = (Arc::clone(&self.cluster), id.to_owned());
        Ok(JobLayers { cluster, id, saved, unsaved, next_event })
    }

    /// The layer at a depth, if the journal has it.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn layer(&self, id: &str, depth: u32) -> Result<Option<HistoryLine>, Status> {
        let (cluster, id) = (Arc::clone(&self.cluster), id.to_owned());
        let depths = depth..depth.saturating_add(1);
        Ok(blocking(move || cluster.journal.layers_between(&id, depths)).await?.pop())
    }

    /// Whether a job has ended and all its events are there.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn is_over(&self, id: &str, job: &JobView) -> Result<bool, Status> {
        // Reads the journal before the active flag: the queue sets the flag before a job can end in
        // the journal, and clears it after the job's last event.
        let has_ended = self.find(id.to_owned()).await?.state.has_ended();
        Ok(has_ended && !job.is_active())
    }
}

fn snapshot(cluster: &Cluster, id: &str) -> Option<JobSnapshot> {
    cluster.job_in_use(id)?.snapshot()
}

/// The layers of a job at one moment. Those that the journal has are read in parts.
pub(super) struct JobLayers {
    cluster: Arc<Cluster>,
    id: String,
    /// Number of layers in the journal.
    saved: u32,
    /// The layers after them.
    unsaved: Vec<HistoryLine>,
    /// Number of the first event that is not in the layers.
    pub(super) next_event: u64,
}

impl JobLayers {
    /// Layers of a part.
    const PART: u32 = 1024;

    /// Depth of the last layer.
    pub(super) fn last(&self) -> Option<u32> {
        (self.saved + self.unsaved.len() as u32).checked_sub(1)
    }

    /// The next layers from a depth on; none after the last.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn part(&self, from: u32) -> Result<Vec<HistoryLine>, Status> {
        if let Some(skipped) = from.checked_sub(self.saved) {
            let layers = self.unsaved.iter().skip(skipped as usize);
            return Ok(layers.take(Self::PART as usize).cloned().collect());
        }
        let (cluster, id) = (Arc::clone(&self.cluster), self.id.clone());
        let depths = from..self.saved.min(from + Self::PART);
        blocking(move || cluster.journal.layers_between(&id, depths)).await
    }
}
