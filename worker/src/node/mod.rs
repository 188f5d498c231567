//! A worker as a process of a cluster: the asynchronous edge around [`Worker`](crate::Worker).
//!
//! Orders come over one connection to the coordinator and are carried out by one thread, in order;
//! exits go to other workers over connections of their own, so that neither waits for the other.

mod control;
mod epoch;
mod exchange;
mod fetch;
mod identity;
mod link;
mod serve;
mod shared;
mod store;
mod work;

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use strata::catalogue::Registry;
use strata_net::{NetError, Security, limits};
use strata_proto::v1::exchange_service_server::ExchangeServiceServer;
use strata_store::{DataDir, StoreError};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tonic::transport::server::TcpIncoming;

use identity::Identity;
use shared::Shared;
use store::CheckpointStore;

/// How long a worker that was asked to end waits for the next checkpoint.
const LEAVE: Duration = Duration::from_secs(25);

/// Settings of a worker's process.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The coordinator's URL.
    pub coordinator: String,
    /// Its name, for people.
    pub name: String,
    /// The folder that holds a folder for each job.
    pub data_dir: PathBuf,
    /// Threads to search with.
    pub threads: usize,
    /// Memory budget in bytes.
    pub memory: u64,
    /// URL of a shared store for checkpoints.
    pub store: Option<String>,
    /// The puzzles that it can search.
    pub puzzles: Arc<Registry>,
}

/// Why a worker's process cannot start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The data directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Addresses, tokens, encryption.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The identity cannot be read or made.
    #[error("{}: {why}", path.display())]
    Identity {
        /// Its file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The shared store cannot be used.
    #[error("checkpoint store {url}: {why}")]
    CheckpointStore {
        /// Its URL.
        url: String,
        /// Why.
        why: String,
    },
    /// The coordinator will not have this worker, whatever it tries.
    #[error("the coordinator at {url} refuses this worker: {why}")]
    Refused {
        /// Its URL.
        url: String,
        /// Why.
        why: String,
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

/// A worker that is ready to run.
pub struct Node {
    options: NodeOptions,
    security: Security,
    identity: Identity,
    store: Option<CheckpointStore>,
    listener: TcpListener,
    addr: SocketAddr,
    /// Released at the end.
    _data: DataDir,
}

impl Node {
    /// Opens the data directory and binds the address.
    ///
    /// # Errors
    /// If the directory belongs to another process or cannot be used, the address is taken, or it
    /// would listen beyond loopback without a token.
    pub async fn bind(
        options: NodeOptions,
        security: Security,
        listen: SocketAddr,
    ) -> Result<Node, NodeError> {
        security.check_listen(listen)?;
        security.log_listen(listen, true);
        let data = DataDir::lock(&options.data_dir)?;
        let identity = Identity::open(&options.data_dir)?;
        let store = options.store.as_deref().map(CheckpointStore::open).transpose()?;
        let cannot = |source| NodeError::Listen { addr: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(cannot)?;
        let addr = listener.local_addr().map_err(cannot)?;
        Ok(Node { options, security, identity, store, listener, addr, _data: data })
    }

    /// The address in use.
    pub fn address(&self) -> SocketAddr {
        self.addr
    }

    /// Works until `stop` is ready; then waits for a checkpoint, if it is at work, and ends.
    /// `address` is the URL at which the other workers reach it.
    ///
    /// # Errors
    /// If the coordinator will never have this worker, or the server breaks down.
    pub async fn run(
        self,
        address: String,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), NodeError> {
        let Node { options, security, identity, store, listener, addr, _data } = self;
        let runtime = Handle::current();
        let shared = Shared::new(options, address, security, identity, store, runtime);
        let orders = work::start(&shared)?;
        let served = tokio::spawn(serve_exchange(Arc::clone(&shared), listener));
        let control = control::run(&shared, &orders);
        let leave = async {
            stop.await;
            shared.leave();
            let _ = tokio::time::timeout(LEAVE, shared.idle()).await;
        };
        let ended = tokio::select! {
            refused = control => Err(refused),
            () = leave => Ok(()),
            served = served => Err(NodeError::Serve {
                addr,
                why: match served {
                    Ok(Ok(())) => "it ended".to_owned(),
                    Ok(Err(why)) => why,
                    Err(error) => error.to_string(),
                },
            }),
        };
        shared.fence(u64::MAX);
        ended
    }
}

async fn serve_exchange(shared: Arc<Shared>, listener: TcpListener) -> Result<(), String> {
    let (_, health) = tonic_health::server::health_reporter();
    let exchange = ExchangeServiceServer::new(serve::Exchange { shared: Arc::clone(&shared) })
        .max_decoding_message_size(limits::BATCH_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let server = shared.security.server().map_err(|error| error.to_string())?;
    server
        .layer(tonic::service::InterceptorLayer::new(shared.security.guard()))
        .add_service(health)
        .add_service(exchange)
        .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)))
        .await
        .map_err(|error| error.to_string())
}
