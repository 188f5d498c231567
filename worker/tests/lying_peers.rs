//! Tests of a worker among nodes that violate the protocol: a peer that never finishes a file, and
//! callers that ask for files other than those of layers, or send malformed batches.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use prost::Name;
use strata_proto::net::{Security, limits, protocol};
use strata_proto::platform::{Machine, System};
use strata_proto::v1;
use strata_proto::v1::answer::Outcome;
use strata_proto::v1::control_service_server::{ControlService, ControlServiceServer};
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_proto::v1::exchange_service_server::{ExchangeService, ExchangeServiceServer};
use strata_proto::v1::order::What;
use strata_proto::v1::refusal::Reason;
use strata_run::catalogue::Registry;
use strata_store::layer_file;
use strata_worker::{Node, NodeError, NodeOptions};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::{TcpListenerStream, UnboundedReceiverStream};
use tokio_stream::{Stream, StreamExt};
use tonic::transport::{Channel, Server};
use tonic::{Code, Request, Response, Status, Streaming};

/// Limit of every wait in a test, far longer than the wait takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Number of the worker.
const OWN: u32 = 1;

/// Number of the lying worker.
const LIAR: u32 = 2;

const INCARNATION: u64 = 9;

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, future).await;
    done.unwrap_or_else(|_| panic!("{what} takes too long"))
}

/// Serves on a free port until the test ends.
async fn serve(router: tonic::transport::server::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(router.serve_with_incoming(TcpListenerStream::new(listener)));
    url
}

/// A coordinator that sends a test's messages to one worker.
struct Coordinator {
    orders: Mutex<Option<mpsc::UnboundedReceiver<v1::ToWorker>>>,
    received: mpsc::UnboundedSender<v1::from_worker::Message>,
}

#[tonic::async_trait]
impl ControlService for Coordinator {
    type AttendStream = Replies<v1::ToWorker>;

    async fn attend(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let mut incoming = request.into_inner();
        let received = self.received.clone();
        tokio::spawn(async move {
            while let Ok(Some(v1::FromWorker { message: Some(message) })) = incoming.message().await
            {
                let _ = received.send(message);
            }
        });
        let orders = self.orders.lock().unwrap().take();
        let orders = orders.ok_or_else(|| Status::unavailable("there was a connection"))?;
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(orders).map(Ok))))
    }
}

/// A worker that begins to send a file, and then sends empty chunks for ever.
struct Liar {
    /// Receives a value when a call begins. Its sender is dropped when the worker ends the call.
    calls: mpsc::UnboundedSender<oneshot::Receiver<()>>,
}

/// Chunks without bytes. The sender is dropped with the stream.
fn empty_chunks(call: oneshot::Sender<()>) -> Replies<v1::FileChunk> {
    let each = tokio::time::interval(Duration::from_millis(1));
    let chunks = tokio_stream::wrappers::IntervalStream::new(each);
    Box::pin(chunks.map(move |_| {
        let _call = &call;
        Ok(v1::FileChunk { bytes: Bytes::new(), offset: 0 })
    }))
}

#[tonic::async_trait]
impl ExchangeService for Liar {
    type FetchStream = Replies<v1::FileChunk>;
    type FindPathStream = Replies<v1::PathPart>;
    type CheckStream = Replies<v1::CheckPart>;
    type ListFileStream = Replies<v1::StatesPart>;

    async fn fetch(
        &self,
        _: Request<v1::FetchRequest>,
    ) -> Result<Response<Self::FetchStream>, Status> {
        let (call, ended) = oneshot::channel();
        let _ = self.calls.send(ended);
        Ok(Response::new(empty_chunks(call)))
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

/// A worker that runs in this process, and its data directory.
struct Worker {
    data: TempDir,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    run: JoinHandle<Result<(), NodeError>>,
}

impl Worker {
    async fn start(coordinator: String) -> Worker {
        let data = tempfile::tempdir().unwrap();
        let options = NodeOptions {
            coordinator,
            name: "w1".to_owned(),
            is_named: true,
            data_dir: data.path().to_owned(),
            threads: 1,
            memory: 64 << 20,
            store: None,
            puzzles: Arc::new(Registry::shipped()),
            machine: Machine::default(),
            platform: System::new(&Handle::current()),
        };
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let node = Node::bind(options, Security::default(), loopback).await.unwrap();
        let address = node.address();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let run = tokio::spawn(node.run(format!("http://{address}"), stopped));
        Worker { data, address, stop, run }
    }

    /// A worker without a coordinator.
    async fn alone() -> Worker {
        Worker::start("http://127.0.0.1:9".to_owned()).await
    }

    async fn channel(&self) -> Channel {
        let url = format!("http://{}", self.address);
        Channel::from_shared(url).unwrap().connect().await.unwrap()
    }

    /// Fetches a file of six bytes. Returns its content, or the code and the text of the failure.
    async fn fetch(&self, job: &str, file: &str) -> Result<Vec<u8>, (Code, String)> {
        let failed = |status: Status| (status.code(), status.message().to_owned());
        let mut client = ExchangeServiceClient::new(self.channel().await);
        let file = v1::LayerFile { file: file.to_owned(), bytes: 6, ..v1::LayerFile::default() };
        let request =
            v1::FetchRequest { job: job.to_owned(), file: Some(file), blocks: Vec::new() };
        let mut chunks = client.fetch(request).await.map_err(failed)?.into_inner();
        let mut bytes = Vec::new();
        while let Some(chunk) = chunks.message().await.map_err(failed)? {
            bytes.extend(chunk.bytes);
        }
        Ok(bytes)
    }
}

/// A job of three discs.
fn spec(shards: u32) -> v1::JobSpec {
    v1::JobSpec {
        space: "hanoi".to_owned(),
        parameters: [("discs".to_owned(), "3".to_owned())].into(),
        shards,
        engine: "explicit".to_owned(),
    }
}

/// A worker with a session in which it fetches a file from a lying worker.
struct Session {
    worker: Worker,
    orders: mpsc::UnboundedSender<v1::ToWorker>,
    received: mpsc::UnboundedReceiver<v1::from_worker::Message>,
    /// Ends when the worker stops fetching the file.
    fetching: oneshot::Receiver<()>,
}

impl Session {
    /// Begins the session, with a lease longer than any test.
    async fn begin() -> Session {
        let (calls, mut called) = mpsc::unbounded_channel();
        let liar = serve(Server::builder().add_service(ExchangeServiceServer::new(Liar { calls })));
        let liar = liar.await;
        let (orders, sent) = mpsc::unbounded_channel();
        let (messages, received) = mpsc::unbounded_channel();
        let service = Coordinator { orders: Mutex::new(Some(sent)), received: messages };
        let coordinator =
            serve(Server::builder().add_service(ControlServiceServer::new(service))).await;
        let worker = Worker::start(coordinator).await;
        let welcome = v1::Welcome {
            number: OWN,
            lease_ms: 3_600_000,
            journal: "0".repeat(32),
            incarnation: INCARNATION,
            name: "w1".to_owned(),
        };
        let message = Some(v1::to_worker::Message::Welcome(welcome));
        orders.send(v1::ToWorker { message }).unwrap();
        let spec = spec(2);
        let prepare = v1::Prepare {
            job: "job".to_owned(),
            spec: Some(spec),
            owners: vec![OWN; 2],
            peers: vec![v1::Peer { number: LIAR, address: liar }],
            ..v1::Prepare::default()
        };
        let file = v1::LayerFile {
            depth: 5,
            worker: LIAR,
            file: layer_file(5, LIAR),
            bytes: 1 << 40,
            states: 10,
            positions: 10,
            regions: 1,
            generated: 10,
            digest: Some(v1::Digest::default()),
            seal: 7,
        };
        let (files, owners) = (vec![file], vec![OWN, LIAR]);
        let restore = v1::Restore { depth: 5, files, owners, ..v1::Restore::default() };
        let mut session = Session { worker, orders, received, fetching: oneshot::channel().1 };
        session.order(1, What::Prepare(prepare));
        let prepared = session.answer(1).await;
        assert!(matches!(prepared, Outcome::Noted(_)), "{prepared:?}");
        session.order(2, What::Restore(restore));
        session.fetching = soon("the fetch", called.recv()).await.unwrap();
        session
    }

    fn order(&self, number: u64, what: What) {
        let order = v1::Order { epoch: 1, number, what: Some(what), incarnation: INCARNATION };
        let message = Some(v1::to_worker::Message::Order(order));
        self.orders.send(v1::ToWorker { message }).unwrap();
    }

    /// The answer to an order.
    async fn answer(&mut self, number: u64) -> Outcome {
        loop {
            match soon("an answer", self.received.recv()).await.unwrap() {
                v1::from_worker::Message::Answer(answer) if answer.order == number => {
                    return answer.outcome.unwrap();
                }
                v1::from_worker::Message::Hello(hello) => {
                    assert_eq!(hello.protocol, protocol::VERSION);
                }
                _ => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_ends_its_file_transfer() {
    let mut session = Session::begin().await;
    session.order(3, What::Release(v1::Release {}));
    let given_up = session.answer(2).await;
    let Outcome::Failure(failure) = given_up else { panic!("{given_up:?}") };
    assert_eq!((failure.kind(), &*failure.message), (v1::FailureKind::Fenced, "epoch 1 is over"));
    let released = session.answer(3).await;
    assert!(matches!(released, Outcome::Noted(_)), "{released:?}");
    soon("the end of the call", session.fetching).await.unwrap_err();
    // Nothing of the file stays. A thread may just have created it, and removes it then.
    let folder = session.worker.data.path().join("job");
    let names = || {
        let left = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        left.collect::<Vec<_>>()
    };
    soon("the removal of the copy", async {
        while names() != ["journal-id"] {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_worker_ends_its_file_transfer() {
    let session = Session::begin().await;
    session.worker.stop.send(()).unwrap();
    let mut received = session.received;
    loop {
        let message = soon("the last heartbeat", received.recv()).await.unwrap();
        if matches!(message, v1::from_worker::Message::Beat(beat) if beat.leaving) {
            break;
        }
    }
    let beat = v1::CoordinatorBeat { dismissed: true };
    let message = Some(v1::to_worker::Message::Beat(beat));
    session.orders.send(v1::ToWorker { message }).unwrap();
    soon("the end of the worker", session.worker.run).await.unwrap().unwrap();
    soon("the end of the call", session.fetching).await.unwrap_err();
}

#[tokio::test]
async fn only_layer_files_in_folders_of_jobs_are_sent() {
    let worker = Worker::alone().await;
    let (data, elsewhere) = (worker.data.path(), tempfile::tempdir().unwrap());
    let name = layer_file(3, OWN);
    let fill = |folder: &Path| {
        std::fs::create_dir_all(folder).unwrap();
        for file in [&*name, "journal-id", "layer-000003-001-2.strata", "older-000003-001.strata"] {
            std::fs::write(folder.join(file), "states").unwrap();
        }
    };
    fill(&data.join("job"));
    fill(elsewhere.path());
    for file in [&*name, "layer-000003-001-2.strata", "older-000003-001.strata"] {
        assert_eq!(worker.fetch("job", file).await, Ok(b"states".to_vec()), "{file}");
    }
    let (code, text) = worker.fetch("job", "journal-id").await.unwrap_err();
    assert_eq!((code, &*text), (Code::InvalidArgument, "journal-id is no layer file"));
    std::os::unix::fs::symlink(elsewhere.path(), data.join("link")).unwrap();
    let (code, text) = worker.fetch("link", &name).await.unwrap_err();
    assert!(text.contains("a symbolic link"), "{text}");
    assert_eq!(code, Code::NotFound);
    let other = layer_file(4, OWN);
    std::os::unix::fs::symlink(elsewhere.path().join(&name), data.join("job").join(&other))
        .unwrap();
    let (code, text) = worker.fetch("job", &other).await.unwrap_err();
    assert!(text.contains("a symbolic link"), "{text}");
    assert_eq!(code, Code::NotFound);
    assert_eq!(worker.fetch("none", &name).await.unwrap_err().0, Code::NotFound);
    assert_eq!(worker.fetch("..", &name).await.unwrap_err().0, Code::InvalidArgument);

    // Blocks of a dense layer.
    let mut client = ExchangeServiceClient::new(worker.channel().await);
    for (ranges, expected) in [(1, Code::DataLoss), (8193, Code::InvalidArgument)] {
        let ranges = (0..ranges).map(|at| v1::BlockRange { first: 2 * at, end: 2 * at + 1 });
        let file = v1::LayerFile { file: name.clone(), bytes: 6, ..v1::LayerFile::default() };
        let request =
            v1::FetchRequest { job: "job".to_owned(), file: Some(file), blocks: ranges.collect() };
        let refused = client.fetch(request).await.unwrap_err();
        assert_eq!(refused.code(), expected, "{refused}");
    }

    // The other calls that read files.
    let file = |file: &str| v1::LayerFile { file: file.to_owned(), ..v1::LayerFile::default() };
    for (job, name, expected) in
        [("job", "journal-id", Code::InvalidArgument), ("link", &*name, Code::NotFound)]
    {
        let job = job.to_owned();
        let request = v1::FindRequest {
            job: job.clone(),
            file: Some(file(name)),
            ..v1::FindRequest::default()
        };
        assert_eq!(client.find(request).await.unwrap_err().code(), expected);
        let request = v1::FetchRequest {
            job: job.clone(),
            file: Some(file(name)),
            blocks: vec![v1::BlockRange { first: 0, end: 1 }],
        };
        assert_eq!(client.fetch(request).await.unwrap_err().code(), expected);
        let spec = spec(1);
        let request = v1::CheckRequest {
            job: job.clone(),
            spec: Some(spec.clone()),
            files: vec![file(name)],
        };
        let refused = match client.check(request).await {
            Ok(replies) => replies.into_inner().message().await.unwrap_err(),
            Err(status) => status,
        };
        assert_eq!(refused.code(), expected, "{refused:?}");
        let request =
            v1::ListFileRequest { job, spec: Some(spec), file: Some(file(name)), skip: 0, step: 1 };
        let refused = match client.list_file(request).await {
            Ok(replies) => replies.into_inner().message().await.unwrap_err(),
            Err(status) => status,
        };
        assert_eq!(refused.code(), expected, "{refused:?}");
    }
}

/// The refusal that answers a batch.
async fn refusal(worker: &Worker, batch: impl Name) -> v1::Refusal {
    let url = format!("http://{}", worker.address);
    let mut connection = Security::default().connect_frames(&url).await.unwrap();
    let welcome = connection.reader.next::<v1::Reply>(limits::MESSAGE_BYTES).await.unwrap();
    assert_eq!(welcome, v1::Reply::default());
    connection.writer.add(&batch);
    connection.writer.send().await.unwrap();
    let reply = connection.reader.next::<v1::Reply>(limits::MESSAGE_BYTES);
    soon("the answer", reply).await.unwrap().refusal.expect("the batch is accepted")
}

#[tokio::test]
async fn a_batch_that_is_damaged_or_not_due_is_refused() {
    let worker = Worker::alone().await;
    // Its checksum is that of another type of message.
    let damaged = refusal(&worker, v1::Reply { sequence: 1, refusal: None }).await;
    assert_eq!(damaged.reason(), Reason::Unspecified, "{damaged:?}");
    assert!(damaged.message.contains("was damaged on its way"), "{damaged:?}");
    for epoch in [0, 1, u64::MAX] {
        let run = vec![7; 100].into();
        let early = refusal(&worker, v1::Batch { epoch, sequence: 1, run, ..v1::Batch::default() });
        let early = early.await;
        assert_eq!(early.message, format!("epoch {epoch} has not begun here"));
    }
}
