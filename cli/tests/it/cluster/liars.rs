//! A worker that advertises the address of a server that never finishes a file.

use std::pin::Pin;
use std::time::Duration;

use rustix::process::Signal;
use strata_proto::v1;
use strata_proto::v1::exchange_service_server::{ExchangeService, ExchangeServiceServer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status};

use crate::cluster::elastic::LONG;
use crate::cluster::harness::{COORDINATOR, Cluster, WAIT_TIMEOUT};
use crate::common::expect;

type Replies<T> = Pin<Box<dyn tokio_stream::Stream<Item = Result<T, Status>> + Send>>;

/// A server that answers `Fetch` with chunks without bytes, without end.
struct Liar {
    /// Receives a value when a call begins.
    calls: mpsc::UnboundedSender<()>,
}

fn refused<T>() -> Result<T, Status> {
    Err(Status::unavailable("only files"))
}

#[tonic::async_trait]
impl ExchangeService for Liar {
    type FetchStream = ReceiverStream<Result<v1::FileChunk, Status>>;
    type FindPathStream = Replies<v1::PathPart>;
    type CheckStream = Replies<v1::CheckPart>;
    type ListFileStream = Replies<v1::StatesPart>;

    async fn fetch(
        &self,
        _: Request<v1::FetchRequest>,
    ) -> Result<Response<Self::FetchStream>, Status> {
        let _ = self.calls.send(());
        let (chunks, replies) = mpsc::channel(1);
        tokio::spawn(async move {
            while chunks.send(Ok(v1::FileChunk::default())).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        Ok(Response::new(ReceiverStream::new(replies)))
    }

    async fn find(&self, _: Request<v1::FindRequest>) -> Result<Response<v1::Found>, Status> {
        refused()
    }

    async fn find_path(
        &self,
        _: Request<v1::FindPathRequest>,
    ) -> Result<Response<Self::FindPathStream>, Status> {
        refused()
    }

    async fn check(
        &self,
        _: Request<v1::CheckRequest>,
    ) -> Result<Response<Self::CheckStream>, Status> {
        refused()
    }

    async fn list_file(
        &self,
        _: Request<v1::ListFileRequest>,
    ) -> Result<Response<Self::ListFileStream>, Status> {
        refused()
    }
}

#[test]
fn an_endless_file_transfer_blocks_neither_the_job_nor_another_worker() {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (calls, mut called) = mpsc::unbounded_channel();
    let service = ExchangeServiceServer::new(Liar { calls });
    let server = tonic::transport::Server::builder().add_service(service);
    runtime.spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    let mut fetched = || {
        let call =
            runtime.block_on(async { tokio::time::timeout(WAIT_TIMEOUT, called.recv()).await });
        call.expect("no file is fetched").unwrap();
    };
    // No test waits for this lease, which is the time limit of a fetch.
    let mut cluster = Cluster::empty("--narrow 1 --lease 10m");
    cluster.join("w1", &format!("--advertise {url}"));
    let follower = cluster.follow(&format!("submit {LONG}"));
    follower.until_depth(10);
    // The session that begins now fetches shards of the first worker.
    cluster.join("w2", "");
    fetched();
    let mark = cluster.mark(COORDINATOR);
    cluster.signal("w2", Signal::TERM);
    assert_eq!(cluster.ended("w2").code(), Some(0));
    let log = cluster.log("w2");
    assert!(!log.contains("not dismissed") && log.contains("worker has ended"), "{log}");
    cluster.await_log(COORDINATOR, mark, "workers=w1 from_layer=");
    // The job goes on without it.
    let deepest = follower.until_depth(1);
    follower.until_depth(deepest + 3);
    cluster.start("w2");
    fetched();
    expect(0, &mut cluster.client(&format!("cancel {}", follower.job())));
    follower.expect(4);
    cluster.assert_no_panic();
}
