//! The other workers' side: takes their batches in, and gives them files, in which it also looks
//! states up.

use std::io::{Read, Seek};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use strata_explicit::{Candidate, Finder};
use strata_net::{convert, limits};
use strata_proto::v1;
use strata_proto::v1::exchange_service_server::ExchangeService;
use strata_store::check_name;
use strata_store::{Layer, RealFs, StoreError};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::epoch::Epoch;
use super::shared::Shared;

/// Receipts, or chunks of a file, on their way to one worker.
const AHEAD: usize = 8;

/// See the module.
pub(crate) struct Exchange {
    pub(crate) shared: Arc<Shared>,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl ExchangeService for Exchange {
    type DeliverStream = Answers<v1::Receipt>;
    type FetchStream = Answers<v1::FileChunk>;

    async fn deliver(
        &self,
        request: Request<Streaming<v1::Batch>>,
    ) -> Result<Response<Self::DeliverStream>, Status> {
        let mut batches = request.into_inner();
        let shared = Arc::clone(&self.shared);
        let (receipts, answers) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            loop {
                let batch = match batches.message().await {
                    Ok(Some(batch)) => batch,
                    Ok(None) => return,
                    Err(status) => {
                        tracing::debug!("a delivery ended: {}", status.message());
                        return;
                    }
                };
                let taken = take(&shared, batch).await;
                let failed = taken.is_err();
                if receipts.send(taken).await.is_err() || failed {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(answers))))
    }

    async fn fetch(
        &self,
        request: Request<v1::FetchRequest>,
    ) -> Result<Response<Self::FetchStream>, Status> {
        let v1::FetchRequest { job, file } = request.into_inner();
        let file = file.ok_or_else(|| Status::invalid_argument("file is missing"))?;
        let record = convert::file_from(file)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        // Both names are plain: the path stays in the data directory.
        check_name("job id", &job).map_err(|error| Status::invalid_argument(error.to_string()))?;
        let path = self.shared.options.data_dir.join(&job).join(&record.file);
        let opened = tokio::task::spawn_blocking(move || {
            let mut file = std::fs::File::open(&path)?;
            let len = file.seek(std::io::SeekFrom::End(0))?;
            file.rewind()?;
            Ok::<_, std::io::Error>((file, len))
        });
        let (file, len) = opened
            .await
            .map_err(|error| Status::internal(error.to_string()))?
            .map_err(|error| Status::not_found(format!("{}: {error}", record.file)))?;
        if len != record.bytes {
            let text = format!("{} has {len} bytes, not {}", record.file, record.bytes);
            return Err(Status::not_found(text));
        }
        let (chunks, answers) = mpsc::channel(AHEAD);
        tokio::task::spawn_blocking(move || read_out(file, &chunks));
        Ok(Response::new(Box::pin(ReceiverStream::new(answers))))
    }

    async fn find(&self, request: Request<v1::FindRequest>) -> Result<Response<v1::Found>, Status> {
        let data_dir = self.shared.options.data_dir.clone();
        let request = request.into_inner();
        let found = tokio::task::spawn_blocking(move || find(&data_dir, request));
        let found = found.await.map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(found?))
    }
}

/// Looks states up in a file of a job's folder.
fn find(data_dir: &Path, request: v1::FindRequest) -> Result<v1::Found, Status> {
    let v1::FindRequest { job, file, candidates } = request;
    let invalid = |error: &dyn std::fmt::Display| Status::invalid_argument(error.to_string());
    let file = file.ok_or_else(|| Status::invalid_argument("file is missing"))?;
    let depth = file.depth;
    let kept = convert::kept_from(file).map_err(|error| invalid(&error))?;
    check_name("job id", &job).map_err(|error| invalid(&error))?;
    let candidates: Vec<Candidate> = candidates.iter().map(convert::candidate_from).collect();
    let path = data_dir.join(&job).join(&kept.file);
    let layer = Layer::open(Arc::new(RealFs), &path, &kept.expect(&job, depth));
    let found = layer.and_then(|layer| Finder::new()?.any_of(&[layer], &candidates));
    match found {
        Ok(index) => Ok(v1::Found { index: index.map(|index| index as u32) }),
        Err(error @ StoreError::NotFound { .. }) => Err(Status::not_found(error.to_string())),
        Err(error) if error.is_corrupt() => Err(Status::data_loss(error.to_string())),
        Err(error) => Err(Status::unavailable(error.to_string())),
    }
}

fn read_out(mut file: std::fs::File, chunks: &mpsc::Sender<Result<v1::FileChunk, Status>>) {
    let mut buffer = vec![0; limits::CHUNK_BYTES];
    loop {
        let chunk = match file.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => Ok(v1::FileChunk { bytes: Bytes::copy_from_slice(&buffer[..len]) }),
            Err(error) => Err(Status::unavailable(error.to_string())),
        };
        let failed = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || failed {
            return;
        }
    }
}

/// Takes a batch in, once.
async fn take(shared: &Arc<Shared>, batch: v1::Batch) -> Result<v1::Receipt, Status> {
    let v1::Batch { epoch: number, from, sequence, depth, run } = batch;
    let epoch = epoch(shared, number)?;
    let from = u16::try_from(from).ok().filter(|from| epoch.owners.contains(from));
    let from = from.ok_or_else(|| Status::invalid_argument("from is no worker of the epoch"))?;
    // Until it is in, a copy of it that comes over another connection has to wait.
    let mut last = epoch.received(from).lock_owned().await;
    if sequence <= *last {
        return Ok(v1::Receipt { sequence: *last });
    }
    if sequence != *last + 1 {
        let text = format!("batch {sequence} after batch {} of worker {from}", *last);
        return Err(Status::data_loss(text));
    }
    if !epoch.expects(depth) {
        return Err(Status::invalid_argument(format!("exits of layer {depth} are not due")));
    }
    let bytes = run.len() as u64;
    let accepted = tokio::task::spawn_blocking(move || {
        let accepted = epoch.accept(depth, Vec::from(run), from);
        if accepted.is_ok() {
            *last = sequence;
        }
        accepted
    });
    let accepted = accepted.await.map_err(|error| Status::internal(error.to_string()))?;
    accepted.map_err(|error| status(&error))?;
    shared.received_bytes.fetch_add(bytes, Ordering::Relaxed);
    Ok(v1::Receipt { sequence })
}

/// The epoch of a batch, if it is the one that is worked on.
fn epoch(shared: &Shared, number: u64) -> Result<Arc<Epoch>, Status> {
    let newest = shared.newest();
    if number < newest {
        return Err(Status::failed_precondition(format!("epoch {number} is over")));
    }
    let current = shared.current().filter(|current| current.number == number);
    current.ok_or_else(|| Status::unavailable(format!("epoch {number} has not begun here")))
}

fn status(error: &StoreError) -> Status {
    tracing::warn!("a batch was refused: {error}");
    match error {
        StoreError::Corrupt { .. } => Status::data_loss(error.to_string()),
        _ => Status::resource_exhausted(error.to_string()),
    }
}
