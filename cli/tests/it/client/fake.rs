//! A scripted coordinator that the real program reaches over a real connection.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use strata_proto::v1;
use strata_proto::v1::JobState;
use strata_proto::v1::job_event::Event as JobEvent;
use strata_proto::v1::job_service_server::{JobService, JobServiceServer};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status};

/// One step of a scripted `Watch` stream.
pub(crate) enum Step {
    /// Sends an event.
    Event(Box<JobEvent>),
    /// Sends nothing more and stays open.
    Hang,
    /// Ends with a status.
    Fail(Status),
}

/// Replies of the coordinator, and the requests that it received.
#[derive(Default)]
pub(crate) struct Script {
    /// The jobs, found by id.
    pub(crate) jobs: Vec<v1::Job>,
    /// The steps of the next `Watch` calls, in order.
    pub(crate) watches: VecDeque<Vec<Step>>,
    pub(crate) layers: Vec<v1::LayerRecord>,
    pub(crate) workers: Vec<v1::WorkerInfo>,
    pub(crate) logs: Vec<v1::LogLine>,
    /// The failure of every call, if any.
    pub(crate) refusal: Option<Status>,
    pub(crate) submitted: Vec<v1::SubmitRequest>,
    pub(crate) watched: Vec<v1::WatchRequest>,
}

impl Script {
    fn job(&self, id: &str) -> Result<v1::Job, Status> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        let job = self.jobs.iter().find(|job| job.id.starts_with(id));
        job.cloned().ok_or_else(|| Status::not_found(format!("there is no job {id}")))
    }
}

#[derive(Clone)]
struct Service(Arc<Mutex<Script>>);

impl Service {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    fn find(&self, request: Request<v1::JobRef>) -> Result<v1::Job, Status> {
        self.script().job(&request.into_inner().job)
    }
}

type Answer<T> = Result<Response<T>, Status>;

/// A stream of messages that ends.
fn answer<T: Send + 'static>(
    messages: impl Iterator<Item = T>,
) -> Response<ReceiverStream<Result<T, Status>>> {
    let messages: Vec<T> = messages.collect();
    let (sender, receiver) = mpsc::channel(messages.len().max(1));
    for message in messages {
        sender.try_send(Ok(message)).expect("there is room");
    }
    Response::new(ReceiverStream::new(receiver))
}

#[tonic::async_trait]
impl JobService for Service {
    type WatchStream = ReceiverStream<Result<v1::JobEvent, Status>>;
    type LogsStream = ReceiverStream<Result<v1::LogLine, Status>>;
    type FetchLayerStream = ReceiverStream<Result<v1::LayerPart, Status>>;
    type FindPathStream = ReceiverStream<Result<v1::PathPart, Status>>;
    type ListStream = ReceiverStream<Result<v1::ListPart, Status>>;
    type LayersStream = ReceiverStream<Result<v1::LayersPart, Status>>;
    type CollectStream = ReceiverStream<Result<v1::CollectPart, Status>>;
    type VerifyStream = ReceiverStream<Result<v1::VerifyPart, Status>>;
    type ListStatesStream = ReceiverStream<Result<v1::StatesPart, Status>>;

    async fn submit(&self, request: Request<v1::SubmitRequest>) -> Answer<v1::Job> {
        let mut script = self.script();
        script.submitted.push(request.into_inner());
        script.job("").map(Response::new)
    }

    async fn list(&self, request: Request<v1::ListRequest>) -> Answer<Self::ListStream> {
        let script = self.script();
        script.refusal.clone().map_or(Ok(()), Err)?;
        let unfinished = request.into_inner().unfinished;
        let ended = [JobState::Stopped, JobState::Cancelled, JobState::Failed, JobState::Done];
        let jobs = script.jobs.iter().filter(|job| !(unfinished && ended.contains(&job.state())));
        // One job a part.
        Ok(answer(jobs.map(|job| v1::ListPart { jobs: vec![job.clone()] })))
    }

    async fn status(&self, request: Request<v1::JobRef>) -> Answer<v1::Job> {
        self.find(request).map(Response::new)
    }

    async fn watch(&self, request: Request<v1::WatchRequest>) -> Answer<Self::WatchStream> {
        let steps = {
            let mut script = self.script();
            script.job(&request.get_ref().job)?;
            script.watched.push(request.into_inner());
            script.watches.pop_front().expect("the script has a further watch")
        };
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for step in steps {
                let sent = match step {
                    Step::Event(event) => {
                        sender.send(Ok(v1::JobEvent { event: Some(*event) })).await
                    }
                    Step::Fail(status) => sender.send(Err(status)).await,
                    Step::Hang => return sender.closed().await,
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn logs(&self, request: Request<v1::LogsRequest>) -> Answer<Self::LogsStream> {
        let script = self.script();
        script.job(&request.into_inner().job)?;
        Ok(answer(script.logs.iter().cloned()))
    }

    async fn cancel(&self, request: Request<v1::JobRef>) -> Answer<v1::Job> {
        self.find(request).map(Response::new)
    }

    async fn resume(&self, request: Request<v1::JobRef>) -> Answer<v1::Job> {
        self.find(request).map(Response::new)
    }

    async fn remove(&self, _: Request<v1::JobRef>) -> Answer<v1::RemovedJob> {
        Err(Status::unavailable("the script removes no jobs"))
    }

    async fn collect(&self, _: Request<v1::CollectRequest>) -> Answer<Self::CollectStream> {
        Err(Status::unavailable("the script removes no jobs"))
    }

    async fn layers(&self, request: Request<v1::JobRef>) -> Answer<Self::LayersStream> {
        self.find(request)?;
        let script = self.script();
        Ok(answer(script.layers.chunks(2).map(|part| v1::LayersPart { layers: part.to_vec() })))
    }

    async fn look_up(&self, _: Request<v1::LookUpRequest>) -> Answer<v1::Found> {
        Err(Status::unavailable("the script has no workers"))
    }

    async fn fetch_layer(&self, _: Request<v1::LayerRef>) -> Answer<Self::FetchLayerStream> {
        Err(Status::unavailable("the script has no workers"))
    }

    async fn find_path(&self, request: Request<v1::JobRef>) -> Answer<Self::FindPathStream> {
        self.find(request)?;
        Err(Status::out_of_range("the script has no memory"))
    }

    async fn verify(&self, _: Request<v1::JobRef>) -> Answer<Self::VerifyStream> {
        Err(Status::unavailable("the script has no workers"))
    }

    async fn list_states(
        &self,
        _: Request<v1::ListStatesRequest>,
    ) -> Answer<Self::ListStatesStream> {
        Err(Status::unavailable("the script has no workers"))
    }

    async fn workers(&self, _: Request<v1::WorkersRequest>) -> Answer<v1::WorkersReply> {
        let workers = self.script().workers.clone();
        Ok(Response::new(v1::WorkersReply { workers }))
    }
}

/// A coordinator that runs until it is dropped.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    script: Arc<Mutex<Script>>,
    runtime: Option<Runtime>,
}

impl Fake {
    /// Starts the server on a free port.
    pub(crate) fn start(script: Script) -> Fake {
        Fake::start_at("127.0.0.1:0".parse().unwrap(), script)
    }

    /// Starts the server at an address, which an earlier server may have used.
    pub(crate) fn start_at(address: SocketAddr, script: Script) -> Fake {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(address)).unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Mutex::new(script));
        let service = JobServiceServer::new(Service(Arc::clone(&script)));
        runtime.spawn(async move {
            let (health, healthy) = tonic_health::server::health_reporter();
            health.set_service_status("", tonic_health::ServingStatus::Serving).await;
            let server = tonic::transport::Server::builder();
            let server = { server }.add_service(service).add_service(healthy);
            server.serve_with_incoming(TcpListenerStream::new(listener)).await.unwrap();
        });
        Fake { address, script, runtime: Some(runtime) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }

    /// Breaks every connection and stops listening.
    pub(crate) fn stop(mut self) -> SocketAddr {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(std::time::Duration::from_secs(5));
        }
        self.address
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Panex of level 3 as a job in a state.
pub(crate) fn job(state: v1::JobState) -> v1::Job {
    let parameters: HashMap<String, String> = [
        ("level", "3"),
        ("k", "3"),
        ("s", "3"),
        ("symmetry", "on"),
        ("start", "towers"),
        ("goal", "exchanged"),
        ("centre-top", "forbid"),
        ("exhaust", "false"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    v1::Job {
        id: "panex-3-aaaaaa".to_owned(),
        spec: Some(v1::JobSpec {
            space: "panex".to_owned(),
            parameters,
            shards: 64,
            engine: String::new(),
        }),
        state: state.into(),
        created: 1_795_266_000,
        workers: 3,
        ..v1::Job::default()
    }
}

pub(crate) fn line(depth: u32) -> v1::LayerRecord {
    let states = u64::from(depth) + 1;
    v1::LayerRecord {
        depth,
        states,
        positions: states,
        orbits: Some(states),
        generated: 3 * states,
        regions: 1,
        bytes: 100,
        digest: Some(v1::Digest { first: u64::from(depth), second: 7 }),
        seconds: f64::from(depth) * 0.5,
        read_bytes: 0,
        written_bytes: u64::from(depth),
        memo_hits: u64::from(depth),
        memo_misses: 2,
        memo_miss_seconds: f64::from(depth) * 0.25,
    }
}

/// A step that sends an event.
pub(crate) fn event(event: JobEvent) -> Step {
    Step::Event(Box::new(event))
}

/// Steps that send layers, in order.
pub(crate) fn lines(depths: std::ops::RangeInclusive<u32>) -> impl Iterator<Item = Step> {
    depths.map(|depth| event(JobEvent::Layer(line(depth))))
}

/// A step that sends the job's present state.
pub(crate) fn now(job: &v1::Job) -> Step {
    event(JobEvent::Job(job.clone()))
}

/// A finished job whose last layer has this depth.
pub(crate) fn done(depth: u32) -> v1::Job {
    let states = (0..=u64::from(depth)).map(|depth| depth + 1).sum();
    let result = v1::JobResult {
        moves: Some(42),
        layers: depth,
        states,
        positions: states,
        orbits: None,
        generated: 3 * states,
        widest: u64::from(depth) + 1,
        widest_depth: depth,
        digest: Some(v1::Digest { first: 1, second: 2 }),
        disk_peak_bytes: 1000,
        spilled_bytes: 0,
        layer_bytes: 100 * (u64::from(depth) + 1),
        peak_rss_bytes: 61 << 20,
        peak_rss_worker: "w2".to_owned(),
        seconds: 2.5,
    };
    v1::Job { depth: Some(depth), result: Some(result), ..job(v1::JobState::Done) }
}
