//! Job lookups for client calls, on blocking threads.

use std::sync::Arc;

use strata_proto::v1;
use tonic::Status;

use super::status::blocking;
use super::view;
use crate::cluster::context::Cluster;
use crate::cluster::job_view::JobView;
use crate::entry::JobEntry;
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
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn view(&self, id: &str) -> Result<Arc<JobView>, Status> {
        let (cluster, id) = (Arc::clone(&self.cluster), id.to_owned());
        blocking(move || cluster.job(&id)).await
    }

    /// A job as a message.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn message(&self, entry: JobEntry) -> Result<v1::Job, Status> {
        let cluster = Arc::clone(&self.cluster);
        blocking(move || {
            let job = cluster.job(&entry.id)?;
            Ok::<_, JournalError>(view::job(&entry, &job, &cluster.journal.jobs()?))
        })
        .await
    }

    /// All jobs as messages, oldest first.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn messages(&self) -> Result<Vec<v1::Job>, Status> {
        let cluster = Arc::clone(&self.cluster);
        let mut jobs = blocking(move || {
            let entries = cluster.journal.jobs()?;
            let message =
                |entry: &JobEntry| Ok(view::job(entry, &*cluster.job(&entry.id)?, &entries));
            entries.iter().map(message).collect::<Result<Vec<v1::Job>, JournalError>>()
        })
        .await?;
        jobs.sort_by_key(|job| job.created);
        Ok(jobs)
    }

    /// Whether a job has ended and its view has all its events.
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
