//! Layer files of jobs, which the workers hold: lookups of states for tracing a path back, and
//! transfers to clients.
//!
//! The coordinator calls the workers one after the other.

use std::time::Duration;

use strata_proto::net::{Connection, Pace, Security, convert, reported, status_reason};
use strata_proto::v1;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_store::{CheckpointFile, LayerRecord};
use tokio::sync::mpsc;
use tonic::{Code, Status};

use crate::cluster::membership::{MemberView, Membership};
use crate::entry::{JobEntry, JobState};

/// Longest wait for a worker's next message, and window for the progress of its streams. The limit
/// is needed because on a link without TLS, a damaged frame can be lost without an error.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The files of a layer.
pub(super) struct LayerFiles {
    job: String,
    files: Vec<v1::LayerFile>,
}

impl LayerFiles {
    /// The files of the layer at a depth, of a job that is done. `line` is the layer's line of the
    /// history.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` if the job is not done or has not kept the layer.
    pub(super) fn new(
        entry: &JobEntry,
        line: Option<&LayerRecord>,
        depth: u32,
    ) -> Result<LayerFiles, Status> {
        let JobState::Done = entry.state else {
            let text = format!("job {} is {}", entry.id, entry.state);
            return Err(Status::failed_precondition(text));
        };
        LayerFiles::of(entry, line, depth)
    }

    fn of(entry: &JobEntry, line: Option<&LayerRecord>, depth: u32) -> Result<LayerFiles, Status> {
        let job = entry.id.clone();
        let searched = entry.checkpoint.iter().flat_map(|checkpoint| &checkpoint.records);
        let is_of_layer = |record: &&CheckpointFile| record.depth == depth && !record.is_older();
        let searched = searched.filter(is_of_layer).map(convert::file_to);
        let mut files: Vec<v1::LayerFile> = searched.collect();
        if files.is_empty() {
            let kept = line.map(|line| &line.kept).filter(|kept| !kept.is_empty());
            let kept = kept.ok_or_else(|| {
                let text = format!("job {job} has not kept layer {depth}: see `keep_layers`");
                Status::failed_precondition(text)
            })?;
            files = kept.iter().map(|kept| convert::kept_to(kept, depth)).collect();
        }
        Ok(LayerFiles { job, files })
    }

    /// Like [`Self::new`], for a job that has ended in any state, or for a layer that a running job
    /// keeps.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` if the job has no files of the layer, or they may change.
    pub(super) fn of_ended_or_kept(
        entry: &JobEntry,
        line: Option<&LayerRecord>,
        depth: u32,
    ) -> Result<LayerFiles, Status> {
        let is_kept = line.is_some_and(|line| !line.kept.is_empty());
        if !entry.state.has_ended() && !is_kept {
            let text = format!(
                "job {} is {}, and does not keep layer {depth}: see `keep_layers`",
                entry.id, entry.state
            );
            return Err(Status::failed_precondition(text));
        }
        if line.is_none() {
            let text = format!("job {} has no layer {depth}", entry.id);
            return Err(Status::failed_precondition(text));
        }
        LayerFiles::of(entry, line, depth)
    }

    /// The files.
    pub(super) fn into_files(self) -> Vec<v1::LayerFile> {
        self.files
    }

    /// Finds a state of the layer among candidates.
    ///
    /// # Errors
    /// `UNAVAILABLE` if a worker cannot be reached; `DATA_LOSS` if a file is damaged or missing.
    pub(super) async fn find(
        self,
        workers: &Membership,
        security: &Security,
        candidates: &[v1::Candidate],
        numbering: Option<v1::DenseNumbering>,
    ) -> Result<v1::Found, Status> {
        for file in self.files {
            let mut worker = Worker::connect(&file, workers, security).await?;
            let (job, candidates) = (self.job.clone(), candidates.to_vec());
            let request = v1::FindRequest { job, file: Some(file), candidates, numbering };
            let found = in_time(&worker.name, worker.client.find(request)).await?.into_inner();
            if found.index.is_some() {
                return Ok(found);
            }
        }
        Ok(v1::Found { index: None })
    }

    /// Sends the files.
    ///
    /// # Errors
    /// Those of [`Self::find`].
    pub(super) async fn fetch(
        self,
        workers: &Membership,
        security: &Security,
        parts: &mpsc::Sender<Result<v1::LayerPart, Status>>,
    ) -> Result<(), Status> {
        use v1::layer_part::Part;
        for file in self.files {
            let mut worker = Worker::connect(&file, workers, security).await?;
            let request = v1::FetchRequest {
                job: self.job.clone(),
                file: Some(file.clone()),
                blocks: Vec::new(),
            };
            let mut pace = Pace::of_bytes(LONGEST_WAIT);
            let chunks = in_pace(&worker.name, &pace, worker.client.fetch(request)).await?;
            let (mut chunks, mut left) = (chunks.into_inner(), file.bytes);
            let mut part = Part::File(file);
            loop {
                let sent = parts.send(Ok(v1::LayerPart { part: Some(part) }));
                // The wait for a slow client does not count against the worker.
                if pace.exclude(sent).await.is_err() {
                    return Ok(());
                }
                let chunk = in_pace(&worker.name, &pace, chunks.message()).await?;
                let Some(v1::FileChunk { bytes, .. }) = chunk else { break };
                let len = bytes.len() as u64;
                left = left.checked_sub(len).ok_or_else(|| {
                    let text = format!("worker {}: the file is longer than recorded", worker.name);
                    Status::data_loss(text)
                })?;
                pace.count(len);
                part = Part::Bytes(bytes);
            }
        }
        Ok(())
    }
}

/// A connection to a worker.
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) client: ExchangeServiceClient<Connection>,
}

impl Worker {
    /// Connects to the worker that has a file.
    pub(super) async fn connect(
        file: &v1::LayerFile,
        workers: &Membership,
        security: &Security,
    ) -> Result<Worker, Status> {
        let members = workers.members();
        let here = |member: &MemberView| u32::from(member.entry.number) == file.worker;
        let known = members.into_iter().find(here);
        let name = known.as_ref().map(|member| member.entry.name.clone());
        let member = known.filter(|member| member.alive).ok_or_else(|| {
            let v1::LayerFile { worker, file, .. } = file;
            let name = name.unwrap_or_else(|| format!("number {worker}"));
            Status::unavailable(format!("worker {name}, which has {file}, is not connected"))
        })?;
        let name = member.entry.name;
        let connection = security.connect(&member.entry.address).await;
        let connection = connection.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(Worker { name, client: ExchangeServiceClient::new(connection) })
    }
}

/// Waits for the next message of a worker.
pub(super) async fn in_time<T>(
    worker: &str,
    message: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    match tokio::time::timeout(LONGEST_WAIT, message).await {
        Ok(message) => message.map_err(|status| status_of(worker, &status)),
        Err(_) => {
            let text = format!("worker {worker}: no message came in {LONGEST_WAIT:?}");
            Err(Status::unavailable(text))
        }
    }
}

/// Waits for the next part of a worker's stream, which must make progress.
pub(super) async fn in_pace<T>(
    worker: &str,
    pace: &Pace,
    part: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    match pace.wait(part).await {
        Ok(part) => part.map_err(|status| status_of(worker, &status)),
        Err(stalled) => Err(Status::unavailable(format!("worker {worker}: {stalled}"))),
    }
}

/// The status for a client after a failed call to a worker.
fn status_of(worker: &str, status: &Status) -> Status {
    let text = format!("worker {worker}: {}", reported(&status_reason(status)));
    match status.code() {
        Code::NotFound | Code::DataLoss => Status::data_loss(text),
        Code::InvalidArgument => Status::invalid_argument(text),
        _ => Status::unavailable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_to_a_silent_worker_times_out() {
        let silent = in_time::<()>("w1", std::future::pending()).await.unwrap_err();
        assert_eq!(silent.code(), Code::Unavailable);
        assert_eq!(silent.message(), "worker w1: no message came in 60s");
        let damaged = in_time::<()>("w1", async { Err(Status::data_loss("block 3")) }).await;
        assert_eq!(damaged.unwrap_err().message(), "worker w1: block 3");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_of_empty_parts_from_a_worker_times_out() {
        let pace = Pace::of_bytes(LONGEST_WAIT);
        let stalled = loop {
            let empty = async {
                tokio::time::sleep(Duration::from_secs(7)).await;
                Ok(())
            };
            if let Err(status) = in_pace("w1", &pace, empty).await {
                break status;
            }
        };
        assert_eq!(stalled.code(), Code::Unavailable);
        assert_eq!(stalled.message(), "worker w1: no bytes came in 60s");
    }
}
