//! Getting checkpoint files of other workers: from them, or from the shared store.

use std::path::Path;

use strata_net::convert;
use strata_proto::v1;
use strata_proto::v1::FailureKind;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_store::CheckpointFile;
use tokio::io::AsyncWriteExt;

use super::epoch::Epoch;
use super::shared::Shared;

/// A file, and where its worker is, if that is known.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) record: &'a CheckpointFile,
    pub(crate) address: Option<&'a str>,
}

/// Puts a file into the job's folder under its own name, unless it is there already. It is checked
/// when it is opened.
///
/// # Errors
/// If it cannot be had: `Peer` if that may change.
pub(crate) fn file(
    shared: &Shared,
    epoch: &Epoch,
    wanted: &Wanted<'_>,
) -> Result<(), (FailureKind, String)> {
    let Wanted { record, address } = wanted;
    let there = epoch.folder.file_path(&record.file);
    let there = there.map_err(|error| (FailureKind::Unspecified, error.to_string()))?;
    let temporary = epoch.folder.temp_path("fetched");
    let fetched = match address {
        Some(address) => {
            let fetch = from_worker(shared, address, epoch.folder.job(), record, &temporary);
            shared.runtime.block_on(fetch)
        }
        None => Err("its address is not known".to_owned()),
    };
    let fetched = match (fetched, &shared.store) {
        (Err(why), Some(store)) => {
            tracing::info!("{} is fetched from the shared store: {why}", record.file);
            store.get(&shared.runtime, epoch.folder.job(), &record.file, &temporary)
        }
        (fetched, _) => fetched,
    };
    let placed = fetched
        .and_then(|()| std::fs::rename(&temporary, &there).map_err(|error| error.to_string()));
    placed.map_err(|why| {
        let _ = std::fs::remove_file(&temporary);
        let text = format!("{} of worker {} cannot be fetched: {why}", record.file, record.worker);
        (FailureKind::Peer, text)
    })
}

async fn from_worker(
    shared: &Shared,
    address: &str,
    job: &str,
    record: &CheckpointFile,
    to: &Path,
) -> Result<(), String> {
    let channel = shared.security.connect(address).await.map_err(|error| error.to_string())?;
    let mut client = ExchangeServiceClient::new(channel);
    let request = v1::FetchRequest { job: job.to_owned(), file: Some(convert::file_to(record)) };
    let failed = |status: tonic::Status| status.message().to_owned();
    let mut chunks = client.fetch(request).await.map_err(failed)?.into_inner();
    let written = |error: std::io::Error| error.to_string();
    let mut file = tokio::fs::File::create(to).await.map_err(written)?;
    let mut left = record.bytes;
    while let Some(v1::FileChunk { bytes }) = chunks.message().await.map_err(failed)? {
        left =
            left.checked_sub(bytes.len() as u64).ok_or("it is longer than the checkpoint says")?;
        file.write_all(&bytes).await.map_err(written)?;
    }
    if left > 0 {
        return Err(format!("{left} bytes are missing"));
    }
    file.flush().await.map_err(written)
}
