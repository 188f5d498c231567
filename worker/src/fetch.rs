//! Checkpoint files of other workers, fetched from them or from the shared store.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use strata_proto::net::{Pace, Security, convert, reported, status_reason};
use strata_proto::platform::Platform;
use strata_proto::v1;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_store::CheckpointFile;
use tonic::{Code, Status};

use crate::epoch::Epoch;
use crate::error::{FetchError, TransferError};
use crate::state::NodeState;
use crate::transfer::{LocalCopy, failed};

/// Attempts to copy a file from a worker.
pub(crate) const ATTEMPTS: u32 = 3;

/// Fetches a file into the job's folder, under `name` there.
///
/// `address` is the URL of the worker that has the file, if it is known. If the worker does not
/// send the file, the shared store is tried. Opening the file later checks its content.
///
/// # Errors
/// [`FetchError::Local`] if the copy cannot be written, [`FetchError::Missing`] if the worker does
/// not have the file and the shared store does not either, [`FetchError::Unreadable`] if the worker
/// cannot read it and the shared store does not have it, [`FetchError::Unavailable`] if no source sends
/// it for another reason, [`FetchError::EpochOver`] if the epoch ends meanwhile.
pub(crate) fn fetch_file(
    state: &NodeState,
    epoch: &Epoch,
    record: &CheckpointFile,
    name: &str,
    address: Option<&str>,
) -> Result<(), FetchError> {
    let folder = &epoch.folder;
    let target = folder.file_path(name)?;
    let temporary = folder.temp_path("fetched");
    let received = receive(state, folder.job(), record, address, &temporary);
    let fetched = match epoch.wait(state.platform(), received) {
        Some(received) => received.map_err(|error| refusal(error, record)),
        None => Err(FetchError::EpochOver { epoch: epoch.id.number }),
    };
    let fetched = fetched.and_then(|()| {
        let renamed = folder.fs().rename(&temporary, &target);
        renamed.map_err(|source| failed("rename", &temporary, source).into())
    });
    fetched.inspect_err(|_| {
        // The next session removes it if this fails.
        let _ = folder.fs().remove(&temporary);
    })
}

/// Turns the error of a transfer into that of fetching `record`.
pub(crate) fn refusal(error: TransferError, record: &CheckpointFile) -> FetchError {
    let (file, worker) = (record.file.clone(), record.worker);
    match error {
        TransferError::Local(error) => FetchError::Local(error),
        TransferError::Missing(why) => FetchError::Missing { file, worker, why },
        TransferError::Unreadable(why) => FetchError::Unreadable { file, worker, why },
        TransferError::Source(why) | TransferError::Interrupted(why) => {
            FetchError::Unavailable { file, worker, why }
        }
    }
}

async fn receive(
    state: &NodeState,
    job: &str,
    record: &CheckpointFile,
    address: Option<&str>,
    to: &Path,
) -> Result<(), TransferError> {
    let platform = &state.options.platform;
    let window = Duration::from_millis(state.lease_ms.load(Ordering::Acquire));
    let received = match address {
        Some(address) => {
            let source = Source { platform, security: &state.security, address, window };
            source.send_file(job, record, to).await
        }
        None => Err(TransferError::Source("its address is not known".to_owned())),
    };
    let (Err(error), Some(store)) = (&received, &state.store) else { return received };
    if matches!(error, TransferError::Local(_)) {
        return received;
    }
    tracing::info!("fetching {} from the shared store: {error}", record.file);
    match store.download(platform, job, record, to, window).await {
        Err(_) if matches!(error, TransferError::Unreadable(_)) => received,
        // The worker may have it, and send it to the next session.
        Err(TransferError::Missing(why)) if !matches!(error, TransferError::Missing(_)) => {
            Err(TransferError::Source(why))
        }
        downloaded => downloaded,
    }
}

/// A worker that files are fetched from.
struct Source<'a> {
    platform: &'a Arc<dyn Platform>,
    security: &'a Security,
    address: &'a str,
    /// Window over which the file must arrive at the minimum rate. Without this limit a copy could
    /// wait for ever: on a link without TLS, a damaged frame can be lost without an error.
    window: Duration,
}

impl Source<'_> {
    /// Copies a file. An interrupted copy is started again, twice at most.
    async fn send_file(
        &self,
        job: &str,
        record: &CheckpointFile,
        to: &Path,
    ) -> Result<(), TransferError> {
        let mut attempt = 1;
        loop {
            match self.copy(job, record, to).await {
                Err(TransferError::Interrupted(why)) if attempt < ATTEMPTS => {
                    tracing::warn!("fetching {} from {} again: {why}", record.file, self.address);
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    async fn copy(
        &self,
        job: &str,
        record: &CheckpointFile,
        to: &Path,
    ) -> Result<(), TransferError> {
        let channel = self.security.connect(self.address).await;
        let channel = channel.map_err(|error| TransferError::Source(error.to_string()))?;
        let mut client = ExchangeServiceClient::new(channel);
        let request = v1::FetchRequest {
            job: job.to_owned(),
            file: Some(convert::file_to(record)),
            blocks: Vec::new(),
        };
        let mut pace = Pace::of_bytes(self.window);
        let mut chunks = pace.wait(client.fetch(request)).await?.map_err(failure)?.into_inner();
        let mut copy = pace.exclude(LocalCopy::create(self.platform, to)).await?;
        let next = async || Ok(chunks.message().await.map_err(failure)?.map(|chunk| chunk.bytes));
        copy.fill(record.bytes, &mut pace, next).await
    }
}

pub(crate) fn failure(status: Status) -> TransferError {
    let why = reported(&status_reason(&status));
    match status.code() {
        // A status made by the transport has a source. A damaged message is `Unavailable`.
        Code::Unavailable => TransferError::Interrupted(why),
        _ if status.source().is_some() => TransferError::Interrupted(why),
        Code::NotFound => TransferError::Missing(why),
        Code::DataLoss => TransferError::Unreadable(why),
        _ => TransferError::Source(why),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::AtomicU32;

    use bytes::Bytes;
    use strata_proto::platform::System;
    use strata_proto::v1::exchange_service_server::{ExchangeService, ExchangeServiceServer};
    use strata_store::{Hex64, Weight};
    use tokio::runtime::Handle;
    use tokio_stream::wrappers::IntervalStream;
    use tokio_stream::{Stream, StreamExt};
    use tonic::transport::server::TcpIncoming;
    use tonic::{Request, Response};

    use super::*;

    const CONTENT: &[u8] = b"states";

    /// What a worker does instead of sending a file.
    #[derive(Clone, Copy)]
    enum Fault {
        /// It interrupts the first answers.
        Interrupted { times: u32 },
        /// It says nothing after the first part of the first answers.
        Silent { times: u32 },
        /// It sends chunks without bytes, one after the other, for ever.
        Empty,
        /// It sends a byte of a long file each millisecond.
        Trickle,
        /// It has no file.
        Missing,
        /// It cannot read all of the file.
        Unreadable,
    }

    impl Fault {
        /// Length of the file.
        fn bytes(self) -> u64 {
            match self {
                Fault::Empty | Fault::Trickle => 1 << 40,
                _ => CONTENT.len() as u64,
            }
        }
    }

    struct FaultyWorker {
        fault: Fault,
        calls: Arc<AtomicU32>,
    }

    type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

    #[tonic::async_trait]
    impl ExchangeService for FaultyWorker {
        type FetchStream = Replies<v1::FileChunk>;
        type FindPathStream = Replies<v1::PathPart>;
        type CheckStream = Replies<v1::CheckPart>;
        type ListFileStream = Replies<v1::StatesPart>;

        async fn fetch(
            &self,
            _: Request<v1::FetchRequest>,
        ) -> Result<Response<Self::FetchStream>, Status> {
            let call = self.calls.fetch_add(1, Ordering::Relaxed);
            let chunk = Ok(v1::FileChunk { bytes: Bytes::from_static(CONTENT), offset: 0 });
            let half = Ok(v1::FileChunk { bytes: Bytes::from_static(&CONTENT[..3]), offset: 0 });
            let damaged = Err(Status::unavailable("damaged on its way"));
            Ok(Response::new(match self.fault {
                Fault::Missing => return Err(Status::not_found("no such file")),
                Fault::Unreadable => {
                    let lost = Err(Status::data_loss("cannot read layer at offset 3: EIO"));
                    Box::pin(tokio_stream::iter([half, lost]))
                }
                Fault::Empty => {
                    let empty = || Ok(v1::FileChunk { bytes: Bytes::new(), offset: 0 });
                    Box::pin(tokio_stream::iter(std::iter::repeat_with(empty)))
                }
                Fault::Trickle => {
                    let each = tokio::time::interval(Duration::from_millis(1));
                    let byte = || Ok(v1::FileChunk { bytes: Bytes::from_static(&[7]), offset: 0 });
                    Box::pin(IntervalStream::new(each).map(move |_| byte()))
                }
                Fault::Interrupted { times } if call < times => {
                    Box::pin(tokio_stream::iter([chunk, damaged]))
                }
                Fault::Silent { times } if call < times => {
                    Box::pin(tokio_stream::iter([half]).chain(tokio_stream::pending()))
                }
                _ => Box::pin(tokio_stream::iter([chunk])),
            }))
        }

        async fn find(&self, _: Request<v1::FindRequest>) -> Result<Response<v1::Found>, Status> {
            Err(Status::unimplemented("only files"))
        }

        async fn find_path(
            &self,
            _: Request<v1::FindPathRequest>,
        ) -> Result<Response<Self::FindPathStream>, Status> {
            Err(Status::unimplemented("only files"))
        }

        async fn check(
            &self,
            _: Request<v1::CheckRequest>,
        ) -> Result<Response<Self::CheckStream>, Status> {
            Err(Status::unimplemented("only files"))
        }

        async fn list_file(
            &self,
            _: Request<v1::ListFileRequest>,
        ) -> Result<Response<Self::ListFileStream>, Status> {
            Err(Status::unimplemented("only files"))
        }
    }

    /// Fetches from a worker; the result, the number of calls and the copy.
    async fn fetch(fault: Fault) -> (Result<(), TransferError>, u32, Vec<u8>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let system: Arc<dyn Platform> = System::new(&Handle::current());
        let calls = Arc::new(AtomicU32::new(0));
        let worker = FaultyWorker { fault, calls: Arc::clone(&calls) };
        let server = tonic::transport::Server::builder()
            .add_service(ExchangeServiceServer::new(worker))
            .serve_with_incoming(TcpIncoming::from(listener));
        let server = tokio::spawn(server);
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("copy");
        let record = CheckpointFile {
            file: "layer".to_owned(),
            depth: 1,
            worker: 2,
            bytes: fault.bytes(),
            states: 6,
            positions: 6,
            regions: 1,
            generated: 6,
            digest: Weight([0; 2]),
            seal: Hex64(0),
        };
        let url = format!("http://{addr}");
        let source = Source {
            platform: &system,
            security: &Security::default(),
            address: &url,
            window: Duration::from_millis(500),
        };
        let copied = source.send_file("job", &record, &to).await;
        server.abort();
        (copied, calls.load(Ordering::Relaxed), std::fs::read(&to).unwrap_or_default())
    }

    #[tokio::test]
    async fn an_interrupted_file_is_fetched_again() {
        let faults: [fn(u32) -> Fault; 2] =
            [|times| Fault::Interrupted { times }, |times| Fault::Silent { times }];
        for fault in faults {
            for times in 0..ATTEMPTS {
                let (copied, calls, copy) = fetch(fault(times)).await;
                copied.unwrap();
                assert_eq!((calls, &*copy), (times + 1, CONTENT));
            }
            let (copied, calls, _) = fetch(fault(ATTEMPTS)).await;
            assert!(matches!(copied, Err(TransferError::Interrupted(_))), "{copied:?}");
            assert_eq!(calls, ATTEMPTS);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_transfer_without_enough_progress_is_interrupted() {
        for (fault, why) in [
            (Fault::Empty, "no bytes came in 500ms"),
            (Fault::Trickle, " bytes came in 500ms, not 32768"),
        ] {
            let limit = Duration::from_secs(60);
            let fetched = tokio::time::timeout(limit, fetch(fault)).await;
            let (copied, calls, _) = fetched.expect("the worker holds the other one");
            let Err(TransferError::Interrupted(found)) = copied else { panic!("{copied:?}") };
            assert!(found.ends_with(why), "{found}");
            assert_eq!(calls, ATTEMPTS);
        }
    }

    #[tokio::test]
    async fn a_missing_file_is_not_fetched_again() {
        let (copied, calls, _) = fetch(Fault::Missing).await;
        assert!(matches!(copied, Err(TransferError::Missing(_))), "{copied:?}");
        assert_eq!(calls, 1);
    }

    #[tokio::test]
    async fn an_unreadable_file_is_not_fetched_again() {
        let (copied, calls, _) = fetch(Fault::Unreadable).await;
        let Err(TransferError::Unreadable(why)) = copied else { panic!("{copied:?}") };
        assert_eq!((&*why, calls), ("cannot read layer at offset 3: EIO", 1));
    }
}
