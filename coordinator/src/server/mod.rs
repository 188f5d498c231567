//! The coordinator as a server: gRPC for workers and clients, HTTP for whoever looks after it.

mod control;
mod http;
mod jobs;
mod layers;
mod metrics;
mod view;

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_net::{NetError, Security, limits};
use strata_proto::v1::control_service_server::ControlServiceServer;
use strata_proto::v1::job_service_server::JobServiceServer;
use strata_store::{DataDir, StoreError};
use tokio::net::TcpListener;
use tonic::Status;
use tonic::transport::server::TcpIncoming;

use crate::cluster::job_view::JobViews;
use crate::cluster::{Cluster, ClusterOptions, queue};
use crate::journal::{Journal, JournalError};

/// How long open calls may take after the end of the last session.
const GRACE: Duration = Duration::from_secs(2);

/// Why a coordinator cannot start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The data directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Addresses, tokens, encryption.
    #[error(transparent)]
    Net(#[from] NetError),
    /// An address cannot be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The server broke down.
    #[error("the server on {addr} failed: {why}")]
    Serve {
        /// The address.
        addr: SocketAddr,
        /// Why.
        why: String,
    },
}

/// A coordinator that is ready to run.
pub struct Coordinator {
    cluster: Arc<Cluster>,
    security: Security,
    grpc: TcpListener,
    http: TcpListener,
    /// Released at the end.
    _data: DataDir,
}

impl Coordinator {
    /// Opens the data directory and binds the addresses.
    ///
    /// # Errors
    /// If the directory belongs to another process or is damaged, an address is taken, or it would
    /// listen beyond loopback without a token.
    pub async fn bind(
        options: ClusterOptions,
        data_dir: &Path,
        security: Security,
        listen: SocketAddr,
        http: SocketAddr,
    ) -> Result<Coordinator, ServerError> {
        security.check_listen(listen)?;
        security.check_listen(http)?;
        security.log_listen(listen, true);
        security.log_listen(http, false);
        let data = DataDir::lock(data_dir)?;
        let logs = data.path().join("logs");
        std::fs::create_dir_all(&logs).map_err(|source| StoreError::Io {
            op: "create",
            path: logs.clone(),
            source,
        })?;
        let journal = Journal::open(&data.path().join("journal.redb"))?;
        let cluster = Cluster::new(options, journal, JobViews::new(&logs));
        let bind = async |addr: SocketAddr| {
            TcpListener::bind(addr).await.map_err(|source| ServerError::Listen { addr, source })
        };
        let (grpc, http) = (bind(listen).await?, bind(http).await?);
        Ok(Coordinator { cluster, security, grpc, http, _data: data })
    }

    /// The addresses in use, of gRPC and of HTTP.
    ///
    /// # Errors
    /// `Listen` if the system does not tell.
    pub fn addresses(&self) -> Result<(SocketAddr, SocketAddr), ServerError> {
        let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
        let told = |source| ServerError::Listen { addr: unknown, source };
        Ok((self.grpc.local_addr().map_err(told)?, self.http.local_addr().map_err(told)?))
    }

    /// Serves until `stop` is ready; then the running job gets a checkpoint and everything ends.
    ///
    /// # Errors
    /// If a server breaks down.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), ServerError> {
        let (addr, _) = self.addresses()?;
        let Coordinator { cluster, security, grpc, http, _data } = self;
        let worker = Arc::clone(&cluster);
        let (ended, queue_end) = tokio::sync::oneshot::channel();
        let queue = std::thread::Builder::new().name("queue".to_owned());
        let queue = queue.spawn(move || {
            queue::run(&worker);
            let _ = ended.send(());
        });
        let queue = queue.map_err(|source| StoreError::Io {
            op: "start a thread in",
            path: _data.path().to_owned(),
            source,
        })?;
        let expiring = tokio::spawn(expire(Arc::clone(&cluster)));
        let web = tokio::spawn(http::serve(http, Arc::clone(&cluster), security.clone()));
        let stopping = Arc::clone(&cluster);
        let shutdown = async move {
            stop.await;
            stopping.shut_down();
            let _ = queue_end.await;
        };
        let served = serve(grpc, &cluster, &security, shutdown).await;
        cluster.shut_down();
        let _ = tokio::task::spawn_blocking(move || queue.join()).await;
        expiring.abort();
        web.abort();
        served.map_err(|why| ServerError::Serve { addr, why })
    }
}

async fn serve(
    listener: TcpListener,
    cluster: &Arc<Cluster>,
    security: &Security,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), String> {
    let (_, health) = tonic_health::server::health_reporter();
    let control = control::Control { cluster: Arc::clone(cluster) };
    let jobs = jobs::Jobs { cluster: Arc::clone(cluster), security: security.clone() };
    let control = ControlServiceServer::new(control)
        .max_decoding_message_size(limits::MESSAGE_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let jobs = JobServiceServer::new(jobs)
        .max_decoding_message_size(limits::MESSAGE_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let server = security.server().map_err(|error| error.to_string())?;
    let guarded = tonic::service::InterceptorLayer::new(security.guard());
    let (begin, began) = tokio::sync::oneshot::channel::<()>();
    let shutdown = async move {
        shutdown.await;
        let _ = begin.send(());
    };
    let serving = server
        .layer(guarded)
        .add_service(health)
        .add_service(control)
        .add_service(jobs)
        .serve_with_incoming_shutdown(
            TcpIncoming::from(listener).with_nodelay(Some(true)),
            shutdown,
        );
    // Workers and watchers do not hang up by themselves.
    let grace = async {
        let _ = began.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served.map_err(|error| error.to_string()),
        () = grace => Ok(()),
    }
}

/// Gives up silent workers.
async fn expire(cluster: Arc<Cluster>) {
    let mut ticks = tokio::time::interval(cluster.membership.lease() / 4);
    loop {
        ticks.tick().await;
        cluster.membership.expire(Instant::now());
    }
}

/// Runs what waits for the disk away from the threads that serve.
async fn blocking<T: Send + 'static, E: Into<Refused> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Status> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.into().0),
        Err(error) => Err(refused(error)),
    }
}

fn refused(error: impl std::fmt::Display) -> Status {
    Status::internal(error.to_string())
}

/// A status made from an error.
struct Refused(Status);

impl From<Status> for Refused {
    fn from(status: Status) -> Refused {
        Refused(status)
    }
}

impl From<JournalError> for Refused {
    fn from(error: JournalError) -> Refused {
        let text = error.to_string();
        Refused(match error {
            JournalError::NoSuchJob { .. } => Status::not_found(text),
            JournalError::Ambiguous { .. } => Status::invalid_argument(text),
            JournalError::NameTaken { .. } => Status::already_exists(text),
            JournalError::NotResumable { .. } => Status::failed_precondition(text),
            _ => {
                tracing::error!("{text}");
                Status::unavailable(text)
            }
        })
    }
}
