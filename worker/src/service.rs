//! Service for other workers and the coordinator: sends files, looks up states.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use strata_engine::explicit::{Candidate, Finder};
use strata_proto::net::{convert, limits};
use strata_proto::platform::Platform;
use strata_proto::v1;
use strata_proto::v1::exchange_service_server::ExchangeService;
use strata_run::find_state;
use strata_store::{EngineKind, Fs, FsRead, Layer, StoreError, is_unusable_path};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use crate::check;
use crate::excerpt;
use crate::folders::layer_file;
use crate::path;
use crate::state::NodeState;

/// Chunks buffered for one caller.
const BUFFERED: usize = 8;

/// Implementation of the protocol's `ExchangeService`.
pub(crate) struct Exchange {
    pub(crate) state: Arc<NodeState>,
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl ExchangeService for Exchange {
    type FetchStream = Replies<v1::FileChunk>;
    type FindPathStream = Replies<v1::PathPart>;
    type CheckStream = Replies<v1::CheckPart>;
    type ListFileStream = Replies<v1::StatesPart>;

    async fn fetch(
        &self,
        request: Request<v1::FetchRequest>,
    ) -> Result<Response<Self::FetchStream>, Status> {
        let v1::FetchRequest { job, file, blocks } = request.into_inner();
        let file = file.ok_or_else(|| Status::invalid_argument("file is missing"))?;
        let platform = Arc::clone(&self.state.options.platform);
        if !blocks.is_empty() {
            let sent = excerpt::send(&self.state, job, file, blocks).await?;
            return Ok(Response::new(Box::pin(ReceiverStream::new(sent))));
        }
        let (fs, data_dir) = (platform.fs(), self.state.options.data_dir.clone());
        let opened = platform.blocking(move || open(fs, &data_dir, &job, file));
        let (file, name) = opened.await.map_err(|error| Status::internal(error.to_string()))??;
        let (chunks, replies) = mpsc::channel(BUFFERED);
        tokio::spawn(send_chunks(platform, name, Arc::from(file), chunks));
        Ok(Response::new(Box::pin(ReceiverStream::new(replies))))
    }

    async fn find(&self, request: Request<v1::FindRequest>) -> Result<Response<v1::Found>, Status> {
        let data_dir = self.state.options.data_dir.clone();
        let request = request.into_inner();
        let platform = self.state.platform();
        let fs = platform.fs();
        let found = platform.blocking(move || find(fs, &data_dir, request));
        let found = found.await.map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(found?))
    }

    async fn find_path(
        &self,
        request: Request<v1::FindPathRequest>,
    ) -> Result<Response<Self::FindPathStream>, Status> {
        let parts = path::find(&self.state, request.into_inner())?;
        Ok(Response::new(Box::pin(ReceiverStream::new(parts))))
    }

    async fn check(
        &self,
        request: Request<v1::CheckRequest>,
    ) -> Result<Response<Self::CheckStream>, Status> {
        let replies = check::check(&self.state, request.into_inner())?;
        Ok(Response::new(Box::pin(ReceiverStream::new(replies))))
    }

    async fn list_file(
        &self,
        request: Request<v1::ListFileRequest>,
    ) -> Result<Response<Self::ListFileStream>, Status> {
        let replies = check::list(&self.state, request.into_inner())?;
        Ok(Response::new(Box::pin(ReceiverStream::new(replies))))
    }
}

/// Opens a layer file of a job's folder. Returns the file and its name.
///
/// # Errors
/// Those of [`layer_file`]; `NOT_FOUND` if there is no such file or one of another length, `DATA_LOSS` if
/// it cannot be read.
fn open(
    fs: Arc<dyn Fs>,
    data_dir: &Path,
    job: &str,
    file: v1::LayerFile,
) -> Result<(Box<dyn FsRead>, String), Status> {
    let (folder, record) = layer_file(fs, data_dir, job, file)?;
    let failed = |error: io::Error| match is_unusable_path(&error) {
        true => Status::not_found(format!("{}: {error}", record.file)),
        false => unreadable(&record.file, 0, &error),
    };
    let path = folder.path().join(&record.file);
    let file = folder.fs().open_read(&path).map_err(failed)?;
    let len = file.size().map_err(failed)?;
    if len != record.bytes {
        let text = format!("{} has {len} bytes, not {}", record.file, record.bytes);
        return Err(Status::not_found(text));
    }
    Ok((file, record.file))
}

/// Looks up states in a file of a job's folder.
fn find(fs: Arc<dyn Fs>, data_dir: &Path, request: v1::FindRequest) -> Result<v1::Found, Status> {
    let v1::FindRequest { job, file, candidates, numbering } = request;
    let file = file.ok_or_else(|| Status::invalid_argument("file is missing"))?;
    let depth = file.depth;
    let (folder, kept) = layer_file(fs, data_dir, &job, file)?;
    let (fs, path) = (Arc::clone(folder.fs()), folder.path().join(&kept.file));
    let found = match numbering.map(convert::numbering_from).transpose().map_err(invalid)? {
        None => {
            let candidates: Vec<Candidate> =
                candidates.iter().map(convert::candidate_from).collect();
            let expect = kept.expect(&job, depth, EngineKind::Explicit);
            let layer = Layer::open(fs, &path, &expect);
            layer.and_then(|layer| Finder::new()?.any_of(&[layer], &candidates))
        }
        Some(numbering) => {
            let states = candidates.iter().map(convert::dense_candidate_from);
            let states = states.collect::<Result<Vec<_>, _>>().map_err(invalid)?;
            let expect = kept.expect(&job, depth, EngineKind::Dense);
            let layer = Layer::open(fs, &path, &expect);
            layer.and_then(|layer| find_state(&[layer], numbering, &states))
        }
    };
    match found {
        Ok(index) => Ok(v1::Found { index: index.map(|index| index as u32) }),
        Err(error @ StoreError::NotFound { .. }) => Err(Status::not_found(error.to_string())),
        Err(error) if error.is_corrupt() => Err(Status::data_loss(error.to_string())),
        Err(error) => Err(Status::unavailable(error.to_string())),
    }
}

/// Reads a file and sends it in chunks, until its end or until the caller ends the call.
async fn send_chunks(
    platform: Arc<dyn Platform>,
    name: String,
    file: Arc<dyn FsRead>,
    chunks: mpsc::Sender<Result<v1::FileChunk, Status>>,
) {
    let mut offset = 0;
    loop {
        let file = Arc::clone(&file);
        let read = platform.blocking(move || {
            let mut buffer = vec![0; limits::CHUNK_BYTES];
            let len = file.read_at(&mut buffer, offset)?;
            buffer.truncate(len);
            Ok::<_, std::io::Error>(buffer)
        });
        let chunk = match read.await {
            Ok(Ok(buffer)) if buffer.is_empty() => return,
            Ok(Ok(buffer)) => {
                offset += buffer.len() as u64;
                Ok(v1::FileChunk { bytes: Bytes::from(buffer), offset: 0 })
            }
            Ok(Err(error)) => Err(unreadable(&name, offset, &error)),
            Err(panicked) => Err(Status::internal(panicked.to_string())),
        };
        let failed = chunk.is_err();
        if chunks.send(chunk).await.is_err() || failed {
            return;
        }
    }
}

/// The status of a file that exists and cannot be read.
fn unreadable(file: &str, offset: u64, error: &io::Error) -> Status {
    Status::data_loss(format!("cannot read {file} at offset {offset}: {error}"))
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}

#[cfg(test)]
mod tests {
    use strata_proto::platform::System;
    use strata_store::FaultyFs;
    use tempfile::TempDir;
    use tokio::runtime::Handle;
    use tonic::Code;

    use super::*;

    const NAME: &str = "layer-000003-000.strata";

    /// A data directory with a file of a job, and the file's record.
    fn data_dir(len: usize) -> (TempDir, v1::LayerFile) {
        let data = tempfile::tempdir().unwrap();
        std::fs::create_dir(data.path().join("job")).unwrap();
        std::fs::write(data.path().join("job").join(NAME), vec![7; len]).unwrap();
        let (file, bytes) = (NAME.to_owned(), len as u64);
        (data, v1::LayerFile { depth: 3, file, bytes, ..v1::LayerFile::default() })
    }

    #[test]
    fn a_missing_file_is_not_found_and_an_unreadable_one_is_data_loss() {
        let (fs, (data, record)) = (FaultyFs::new(), data_dir(100));
        let answer = |record: &v1::LayerFile| {
            open(Arc::new(fs.clone()), data.path(), "job", record.clone()).map(|(_, name)| name)
        };
        assert_eq!(answer(&record).unwrap(), NAME);
        let shorter = v1::LayerFile { bytes: 99, ..record.clone() };
        assert_eq!(answer(&shorter).unwrap_err().code(), Code::NotFound);
        fs.fail_opens(NAME);
        let lost = answer(&record).unwrap_err();
        assert_eq!(lost.code(), Code::DataLoss, "{lost}");
        assert!(lost.message().starts_with("cannot read layer-000003-000.strata at"), "{lost}");
        fs.heal();
        std::fs::remove_file(data.path().join("job").join(NAME)).unwrap();
        assert_eq!(answer(&record).unwrap_err().code(), Code::NotFound);
    }

    #[tokio::test]
    async fn a_read_error_in_the_middle_of_a_file_is_data_loss() {
        let (fs, (data, record)) = (FaultyFs::new(), data_dir(2 * limits::CHUNK_BYTES));
        let (file, name) = open(Arc::new(fs.clone()), data.path(), "job", record).unwrap();
        fs.fail_reads_at(NAME, limits::CHUNK_BYTES as u64);
        let (chunks, mut replies) = mpsc::channel(BUFFERED);
        send_chunks(System::new(&Handle::current()), name, Arc::from(file), chunks).await;
        let first = replies.recv().await.unwrap().unwrap();
        assert_eq!(first.bytes.len(), limits::CHUNK_BYTES);
        let lost = replies.recv().await.unwrap().unwrap_err();
        assert_eq!(lost.code(), Code::DataLoss, "{lost}");
        let at = format!("cannot read {NAME} at offset {}: ", limits::CHUNK_BYTES);
        assert!(lost.message().starts_with(&at), "{lost}");
        assert!(replies.recv().await.is_none());
    }
}
