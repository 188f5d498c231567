//! Checkpoint files of other workers, fetched from them or from the shared store.

use std::path::Path;

use strata_net::convert;
use strata_proto::v1;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_store::{CheckpointFile, JobDir};
use tonic::Status;

use crate::error::{FetchError, TransferError};
use crate::state::NodeState;
use crate::transfer::{LocalCopy, failed};

/// Fetches a file into the job's folder, under its own name.
///
/// `address` is the URL of the worker that has the file, if it is known. If the worker does not
/// send the file, the shared store is tried. Opening the file later checks its content.
///
/// # Errors
/// [`FetchError::Local`] if the copy cannot be written, [`FetchError::Unavailable`] if no source
/// sends the file.
pub(crate) fn fetch_file(
    state: &NodeState,
    folder: &JobDir,
    record: &CheckpointFile,
    address: Option<&str>,
) -> Result<(), FetchError> {
    let target = folder.file_path(&record.file)?;
    let temporary = folder.temp_path("fetched");
    let fetched = receive(state, folder.job(), record, address, &temporary).and_then(|()| {
        std::fs::rename(&temporary, &target)
            .map_err(|source| failed("rename", &temporary, source).into())
    });
    fetched.map_err(|error| {
        // The next session removes it if this fails.
        let _ = std::fs::remove_file(&temporary);
        match error {
            TransferError::Local(error) => FetchError::Local(error),
            TransferError::Source(why) => {
                FetchError::Unavailable { file: record.file.clone(), worker: record.worker, why }
            }
        }
    })
}

fn receive(
    state: &NodeState,
    job: &str,
    record: &CheckpointFile,
    address: Option<&str>,
    to: &Path,
) -> Result<(), TransferError> {
    let received = match address {
        Some(address) => state.runtime.block_on(from_worker(state, address, job, record, to)),
        None => Err(TransferError::Source("its address is not known".to_owned())),
    };
    match (received, &state.store) {
        (Err(TransferError::Source(why)), Some(store)) => {
            tracing::info!("fetching {} from the shared store: {why}", record.file);
            state.runtime.block_on(store.download(job, &record.file, to))
        }
        (received, _) => received,
    }
}

async fn from_worker(
    state: &NodeState,
    address: &str,
    job: &str,
    record: &CheckpointFile,
    to: &Path,
) -> Result<(), TransferError> {
    let source = |status: Status| TransferError::Source(status.message().to_owned());
    let channel = state.security.connect(address).await;
    let channel = channel.map_err(|error| TransferError::Source(error.to_string()))?;
    let mut client = ExchangeServiceClient::new(channel);
    let request = v1::FetchRequest { job: job.to_owned(), file: Some(convert::file_to(record)) };
    let mut chunks = client.fetch(request).await.map_err(source)?.into_inner();
    let mut copy = LocalCopy::create(to).await?;
    let mut left = record.bytes;
    while let Some(v1::FileChunk { bytes }) = chunks.message().await.map_err(source)? {
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            TransferError::Source("it is longer than the checkpoint records".to_owned())
        })?;
        copy.write(&bytes).await?;
    }
    if left > 0 {
        return Err(TransferError::Source(format!("{left} bytes are missing")));
    }
    Ok(copy.finish().await?)
}
