//! Excerpts of shared layer files: what a worker reads of another one's layer, sent to its memory.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use strata_proto::net::{Connection, Pace, convert, limits};
use strata_proto::v1;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_store::{
    BufferPool, CheckpointFile, EngineKind, Excerpt, Fs, Layer, StoreError, dense_excerpt,
};
use tokio::sync::mpsc;
use tonic::Status;

use crate::epoch::Epoch;
use crate::error::{FetchError, TransferError};
use crate::fetch::{ATTEMPTS, failure, refusal};
use crate::folders::layer_file;
use crate::state::NodeState;

/// Pieces buffered for one caller.
const BUFFERED: usize = 2;

/// Bytes of a piece.
const PIECE: usize = 64 << 10;

/// Pieces that are read at a time.
const AT_ONCE: usize = 8;

/// The most ranges of blocks in a request.
const MOST_RANGES: usize = 1 << 13;

/// Sends what a reader of some blocks needs of a dense layer's file.
///
/// # Errors
/// Those of [`layer_file`]; `INVALID_ARGUMENT` for too many ranges, `NOT_FOUND` if there is no such file,
/// `DATA_LOSS` if it is damaged or another file.
pub(crate) async fn send(
    state: &Arc<NodeState>,
    job: String,
    file: v1::LayerFile,
    blocks: Vec<v1::BlockRange>,
) -> Result<mpsc::Receiver<Result<v1::FileChunk, Status>>, Status> {
    if blocks.len() > MOST_RANGES {
        let text = format!("{} ranges are more than {MOST_RANGES}", blocks.len());
        return Err(Status::invalid_argument(text));
    }
    let platform = Arc::clone(&state.options.platform);
    let (fs, data_dir) = (platform.fs(), state.options.data_dir.clone());
    let opened = platform.blocking(move || open(fs, &data_dir, &job, file, &blocks));
    let (layer, ranges) = opened.await.map_err(|error| Status::internal(error.to_string()))??;
    let (pieces, replies) = mpsc::channel(BUFFERED);
    let buffers = Arc::clone(&state.pieces);
    tokio::spawn(async move {
        for ranges in ranges.chunks(AT_ONCE) {
            let (layer, ranges, buffers) = (layer.clone(), ranges.to_vec(), Arc::clone(&buffers));
            let read = move || {
                let read = |range: Range<u64>| {
                    let (offset, mut bytes) = (range.start, buffers.buffer());
                    layer.read(range, &mut bytes).map_err(|error| unreadable(&error))?;
                    Ok(v1::FileChunk { bytes: Bytes::from_owner(bytes), offset })
                };
                ranges.into_iter().map(read).collect::<Vec<_>>()
            };
            let read = platform.blocking(read).await;
            let read =
                read.unwrap_or_else(|panicked| vec![Err(Status::internal(panicked.to_string()))]);
            for piece in read {
                let failed = piece.is_err();
                if pieces.send(piece).await.is_err() || failed {
                    return;
                }
            }
        }
    });
    Ok(replies)
}

/// Opens a file. Returns the layer and the ranges of bytes to be sent.
fn open(
    fs: Arc<dyn Fs>,
    data_dir: &Path,
    job: &str,
    file: v1::LayerFile,
    blocks: &[v1::BlockRange],
) -> Result<(Layer, Vec<Range<u64>>), Status> {
    let depth = file.depth;
    let (folder, record) = layer_file(fs, data_dir, job, file)?;
    let path = folder.path().join(&record.file);
    let expect = record.expect(job, depth, EngineKind::Dense);
    let layer = Layer::open(folder.fs().clone(), &path, &expect);
    let layer = layer.map_err(|error| unreadable(&error))?;
    let blocks: Vec<Range<u32>> = blocks.iter().map(|blocks| blocks.first..blocks.end).collect();
    let ranges = dense_excerpt(&layer, &blocks).into_iter();
    let pieces = ranges.flat_map(|range| {
        let starts = (range.start..range.end).step_by(PIECE);
        starts.map(move |start| start..range.end.min(start + PIECE as u64))
    });
    Ok((layer, pieces.collect()))
}

fn unreadable(error: &StoreError) -> Status {
    match error {
        StoreError::NotFound { .. } => Status::not_found(error.to_string()),
        _ => Status::data_loss(error.to_string()),
    }
}

/// Fetches the blocks that a worker reads of another worker's shared file.
///
/// # Errors
/// [`FetchError::Unreadable`] if the other worker cannot read the file, [`FetchError::Unavailable`] if it does
/// not send all of these blocks for another reason, [`FetchError::EpochOver`] if the epoch ends meanwhile.
pub(crate) fn fetch(
    state: &NodeState,
    epoch: &Epoch,
    (connection, pool): (&Connection, &Arc<BufferPool>),
    record: &CheckpointFile,
    blocks: &[Range<u32>],
) -> Result<Layer, FetchError> {
    let window = Duration::from_millis(state.lease_ms.load(Ordering::Acquire));
    let received = async {
        let mut attempt = 1;
        loop {
            let (connection, job) = (connection.clone(), epoch.folder.job());
            let excerpt = Excerpt::in_buffer(pool.buffer());
            match receive((connection, excerpt), job, record, blocks, window).await {
                Err(TransferError::Interrupted(why)) if attempt < ATTEMPTS => {
                    let (file, worker) = (&record.file, record.worker);
                    tracing::warn!("fetching {file} from worker {worker} again: {why}");
                    attempt += 1;
                }
                done => return done,
            }
        }
    };
    match epoch.wait(state.platform(), received) {
        Some(received) => received.map_err(|error| refusal(error, record)),
        None => Err(FetchError::EpochOver { epoch: epoch.id.number }),
    }
}

async fn receive(
    (connection, mut excerpt): (Connection, Excerpt),
    job: &str,
    record: &CheckpointFile,
    blocks: &[Range<u32>],
    window: Duration,
) -> Result<Layer, TransferError> {
    let mut client = ExchangeServiceClient::new(connection);
    let ranges = blocks.iter().map(|range| v1::BlockRange { first: range.start, end: range.end });
    let request = v1::FetchRequest {
        job: job.to_owned(),
        file: Some(convert::file_to(record)),
        blocks: ranges.collect(),
    };
    let mut pace = Pace::of_bytes(window);
    let mut pieces = pace.wait(client.fetch(request)).await?.map_err(failure)?.into_inner();
    // The header and the first chunk may have bytes in common.
    let mut left = record.bytes.saturating_add(limits::CHUNK_BYTES as u64);
    while let Some(v1::FileChunk { bytes, offset }) =
        pace.wait(pieces.message()).await?.map_err(failure)?
    {
        let len = bytes.len() as u64;
        let too_long = || TransferError::Source("it is longer than its record says".to_owned());
        left = left.checked_sub(len).ok_or_else(too_long)?;
        offset.checked_add(len).filter(|end| *end <= record.bytes).ok_or_else(too_long)?;
        pace.count(len);
        excerpt.insert(offset, &bytes);
    }
    let name = format!("{} of worker {}", record.file, record.worker);
    let expect = record.expect(job, EngineKind::Dense);
    let layer = Layer::from_excerpt(excerpt, &name, &expect)
        .map_err(|error| TransferError::Interrupted(error.to_string()))?;
    let mut needed = dense_excerpt(&layer, blocks).into_iter();
    match needed.find(|range| !layer.holds(range.clone())) {
        None => Ok(layer),
        Some(Range { start, end }) => {
            Err(TransferError::Interrupted(format!("bytes {start} to {end} are missing")))
        }
    }
}
