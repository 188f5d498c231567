//! Paths of symbolic jobs: second searches, by workers that run no job.

use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::{Security, convert, reported, status_reason};
use strata_proto::v1;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_proto::v1::path_part::Part;
use tonic::{Code, Status};

use super::streams::MessageSender;
use crate::cluster::context::Cluster;
use crate::cluster::membership::MemberView;
use crate::entry::{JobEntry, JobState};

/// Pause between two searches for an idle worker.
const PAUSE: Duration = Duration::from_millis(500);

/// Longest wait for a worker's next message. A worker sends one every half second.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Number of consecutive lost connections to workers that ends a call.
const MOST_LOST: u32 = 5;

/// A search for the path of a job.
pub(super) struct PathSearch {
    cluster: Arc<Cluster>,
    security: Security,
    job: JobEntry,
}

/// How a search at a worker ended.
enum Searched {
    /// All positions were sent, or the client has ended the call.
    Done,
    /// The worker runs a job or another search.
    Busy,
    /// The connection was not made or was lost.
    Lost(Status),
    /// There is no path, or it cannot be found.
    Failed(Status),
}

impl PathSearch {
    /// A search for the path of a job. The job must have found a solution with the symbolic engine.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` for other jobs.
    pub(super) fn new(
        cluster: Arc<Cluster>,
        security: Security,
        job: JobEntry,
    ) -> Result<PathSearch, Status> {
        let id = &job.id;
        let refused = |why: String| Err(Status::failed_precondition(why));
        match (&job.state, &job.result) {
            _ if !job.spec.engine.is_symbolic() => {
                let engine = job.spec.engine.name();
                refused(format!("job {id} has the engine {engine}, whose layers lead to its path"))
            }
            (JobState::Done, Some(result)) if result.moves.is_some() => {
                Ok(PathSearch { cluster, security, job })
            }
            (JobState::Done, _) => refused(format!("job {id} has reached no goal")),
            (state, _) => refused(format!("job {id} is {state}")),
        }
    }

    /// Searches as soon as a worker is idle. If a job takes the worker, the search starts again.
    ///
    /// # Errors
    /// `OUT_OF_RANGE` if the layers do not fit the worker's memory; `UNAVAILABLE` if workers cannot be
    /// reached.
    pub(super) async fn run(self, parts: MessageSender<v1::PathPart>) -> Result<(), Status> {
        let (mut attempt, mut lost) = (0, 0);
        loop {
            let searched = match self.worker(attempt) {
                Some(worker) => self.search(&worker, &parts).await,
                None => Searched::Busy,
            };
            match searched {
                Searched::Done => return Ok(()),
                Searched::Failed(status) => return Err(status),
                Searched::Busy => lost = 0,
                Searched::Lost(status) => {
                    lost += 1;
                    if lost == MOST_LOST {
                        return Err(status);
                    }
                }
            }
            attempt += 1;
            let progress = Part::Progress(v1::PathProgress::default());
            let part = v1::PathPart { part: Some(progress) };
            if parts.send(Ok(part)).await.is_err() {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// One of the idle workers with the largest memory budget.
    fn worker(&self, attempt: usize) -> Option<MemberView> {
        let mut idle = self.cluster.membership.idle();
        let largest = idle.iter().map(|member| member.memory_bytes).max()?;
        idle.retain(|member| member.memory_bytes == largest);
        let at = attempt % idle.len();
        Some(idle.swap_remove(at))
    }

    /// Runs the search at a worker.
    async fn search(&self, worker: &MemberView, parts: &MessageSender<v1::PathPart>) -> Searched {
        let name = &worker.entry.name;
        let connection = match self.security.connect(&worker.entry.address).await {
            Ok(connection) => connection,
            Err(error) => return Searched::Lost(Status::unavailable(error.to_string())),
        };
        let mut client = ExchangeServiceClient::new(connection);
        let spec = Some(convert::spec_to(&self.job.spec));
        let request = v1::FindPathRequest { job: self.job.id.clone(), spec };
        let mut found = match client.find_path(request).await {
            Ok(found) => found.into_inner(),
            Err(status) => return self.ended(worker, &status),
        };
        let mut is_complete = false;
        loop {
            let next = tokio::select! {
                next = tokio::time::timeout(LONGEST_WAIT, found.message()) => next,
                () = parts.closed() => return Searched::Done,
            };
            let mut part = match next {
                Ok(Ok(Some(part))) => part,
                Ok(Ok(None)) if is_complete => return Searched::Done,
                Ok(Ok(None)) => {
                    let text = format!("worker {name} has ended the search without a result");
                    return Searched::Lost(Status::unavailable(text));
                }
                Ok(Err(status)) => return self.ended(worker, &status),
                Err(_) => {
                    let text = format!("worker {name}: no message came in {LONGEST_WAIT:?}");
                    return Searched::Lost(Status::unavailable(text));
                }
            };
            match &mut part.part {
                Some(Part::Progress(progress)) => progress.worker.clone_from(name),
                Some(Part::Positions(_)) => is_complete = true,
                None => {}
            }
            if parts.send(Ok(part)).await.is_err() {
                return Searched::Done;
            }
        }
    }

    /// How a search ended, by the status of its failed call.
    fn ended(&self, worker: &MemberView, status: &Status) -> Searched {
        let (name, why) = (&worker.entry.name, status_reason(status));
        let text = format!("worker {name}: {}", reported(&why));
        match status.code() {
            Code::Aborted => Searched::Busy,
            Code::OutOfRange => {
                let (job, mib) = (&self.job.id, worker.memory_bytes >> 20);
                Searched::Failed(Status::out_of_range(format!(
                    "{text}. For a path, the layers of {job} must all fit the `memory` of a worker, \
                     {mib} MiB here. A search with `engine` explicit and `keep_layers` all has them on \
                     disk"
                )))
            }
            Code::FailedPrecondition => Searched::Failed(Status::failed_precondition(text)),
            Code::InvalidArgument => Searched::Failed(Status::invalid_argument(text)),
            Code::Unimplemented | Code::Internal => Searched::Failed(Status::internal(text)),
            _ => Searched::Lost(Status::unavailable(text)),
        }
    }
}
