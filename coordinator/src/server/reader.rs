//! Job lookups for client calls, on blocking threads.

use std::sync::Arc;

use strata_proto::v1;
use strata_store::LayerRecord;
use tonic::Status;

use super::status::blocking;
use super::view;
use crate::cluster::context::Cluster;
use crate::cluster::job_view::{JobSnapshot, JobView, Position};
use crate::entry::{JobEntry, JobState};
use crate::journal::error::JournalError;
use crate::journal::operations::Journal;
use crate::journal::queue::{Places, Unended};

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
        blocking(self.cluster.platform(), move || cluster.journal.find(&job)).await
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
        blocking(self.cluster.platform(), move || message(&cluster, &entry)).await
    }

    /// The jobs, oldest first: all, or only those that have not ended.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn list(&self, unfinished: bool) -> Result<JobList, Status> {
        let cluster = Arc::clone(&self.cluster);
        blocking(self.cluster.platform(), move || {
            let places = places(&cluster)?;
            let ids = |jobs: &Unended| unfinished.then(|| jobs.ids());
            let unended = cluster.journal.unended(ids)?;
            let rest = match unended {
                Some(ids) => Rest::Ids(ids.into_iter()),
                None => Rest::From(Some(0)),
            };
            Ok::<_, JournalError>(JobList { cluster, places, rest })
        })
        .await
    }

    /// The layers of a job as they are now.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn layers(&self, id: &str, view: &JobView) -> Result<JobLayers, Status> {
        // The view is read first: layers that are newer than it follow as events.
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
    pub(super) async fn layer(&self, id: &str, depth: u32) -> Result<Option<LayerRecord>, Status> {
        let (cluster, id) = (Arc::clone(&self.cluster), id.to_owned());
        let depths = depth..depth.saturating_add(1);
        Ok(blocking(self.cluster.platform(), move || cluster.journal.layers_between(&id, depths))
            .await?
            .pop())
    }

    /// Whether a job has ended and its last event has been added.
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

/// A job as a message. Reads the journal.
///
/// # Errors
/// Those of the journal.
pub(super) fn message(cluster: &Cluster, entry: &JobEntry) -> Result<v1::Job, JournalError> {
    let before = match entry.state {
        JobState::Queued => places(cluster)?.before(entry),
        _ => 0,
    };
    Ok(message_with(cluster, entry, before))
}

/// A job as a message; `before` as in [`view::job`]. A job that is done without a solution has the
/// exit code for an unreachable goal, unless its space has no goal; only for such a job is the
/// space opened.
fn message_with(cluster: &Cluster, entry: &JobEntry, before: usize) -> v1::Job {
    let mut job = view::job(entry, snapshot(cluster, &entry.id), before);
    if job.exit_code == view::EXIT_NO_GOAL {
        let space = cluster.spaces.of(&cluster.options.puzzles, entry);
        if space.is_ok_and(|space| !space.has_goal) {
            job.exit_code = 0;
        }
    }
    job
}

fn places(cluster: &Cluster) -> Result<Places, JournalError> {
    let workers = cluster.membership.available().len();
    cluster.journal.unended(|jobs| jobs.places(workers))
}

fn snapshot(cluster: &Cluster, id: &str) -> Option<JobSnapshot> {
    cluster.job_in_use(id)?.snapshot()
}

/// A list of jobs that is read in parts.
pub(super) struct JobList {
    cluster: Arc<Cluster>,
    /// The order of the queue when the list began.
    places: Places,
    rest: Rest,
}

/// The jobs of a list that are not read yet.
enum Rest {
    /// Jobs by number of submission, from this one on; `None` after the last.
    From(Option<u64>),
    Ids(std::vec::IntoIter<String>),
}

impl JobList {
    /// Most jobs of a part if they are listed by id.
    const PART: usize = 256;

    /// Reads the next jobs, an empty list after the last. Returns them with the rest of the list.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn part(self) -> Result<(JobList, Vec<v1::Job>), Status> {
        let platform = Arc::clone(&self.cluster.options.platform);
        blocking(&*platform, move || {
            let JobList { cluster, places, rest } = self;
            let (entries, rest) = rest.next(&cluster.journal)?;
            let message = |entry: &JobEntry| message_with(&cluster, entry, places.before(entry));
            let jobs = entries.iter().map(message).collect();
            Ok::<_, JournalError>((JobList { cluster, places, rest }, jobs))
        })
        .await
    }
}

impl Rest {
    /// Reads the next jobs. Returns them with the rest.
    fn next(self, journal: &Journal) -> Result<(Vec<JobEntry>, Rest), JournalError> {
        match self {
            Rest::From(None) => Ok((Vec::new(), self)),
            Rest::From(Some(first)) => {
                let part = journal.jobs_from(first)?;
                Ok((part.jobs, Rest::From(part.next)))
            }
            Rest::Ids(mut ids) => {
                let mut jobs = Vec::new();
                while jobs.len() < JobList::PART
                    && let Some(id) = ids.next()
                {
                    match journal.find(&id) {
                        Ok(job) => jobs.push(job),
                        // The job has been removed meanwhile.
                        Err(JournalError::NoSuchJob { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok((jobs, Rest::Ids(ids)))
            }
        }
    }
}

/// The layers of a job at one moment. The layers in the journal are read in parts.
pub(super) struct JobLayers {
    cluster: Arc<Cluster>,
    id: String,
    /// Number of layers in the journal.
    saved: u32,
    /// The layers after them.
    unsaved: Vec<LayerRecord>,
    /// Number of the first event that is not in the layers.
    pub(super) next_event: u64,
}

impl JobLayers {
    /// Most layers in a part.
    const PART: u32 = 1024;

    /// Depth of the last layer.
    pub(super) fn last(&self) -> Option<u32> {
        (self.saved + self.unsaved.len() as u32).checked_sub(1)
    }

    /// The next layers from a depth on; an empty list after the last.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn part(&self, from: u32) -> Result<Vec<LayerRecord>, Status> {
        if let Some(skipped) = from.checked_sub(self.saved) {
            let layers = self.unsaved.iter().skip(skipped as usize);
            return Ok(layers.take(Self::PART as usize).cloned().collect());
        }
        let (cluster, id) = (Arc::clone(&self.cluster), self.id.clone());
        let depths = from..self.saved.min(from + Self::PART);
        blocking(self.cluster.platform(), move || cluster.journal.layers_between(&id, depths)).await
    }
}
