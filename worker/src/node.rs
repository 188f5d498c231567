//! The worker process: start, run and orderly shutdown.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::{ConnectionLimits, Security, limits};
use strata_proto::platform::Listener;
use strata_proto::v1::exchange_service_server::ExchangeServiceServer;
use strata_store::{DataDir, remove_remains};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::checkpoint_store::CheckpointStore;
use crate::error::NodeError;
use crate::identity::Identity;
use crate::intake::Intake;
use crate::options::NodeOptions;
use crate::service::Exchange;
use crate::state::NodeState;
use crate::{control, delivery, executor};

/// Longest wait for the coordinator's permission after a request to end: for the next checkpoint, and
/// until other workers have taken over the files.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(25);

/// Longest wait for the executor once its session is over. Its waits end at once, but it finishes a
/// layer that is being made.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// A worker process that is ready to run.
pub struct Node {
    options: NodeOptions,
    security: Security,
    files: Files,
    listener: Box<dyn Listener>,
    addr: SocketAddr,
}

/// Files that a node opens.
struct Files {
    identity: Identity,
    store: Option<CheckpointStore>,
    /// Holds the lock on the data directory.
    data: DataDir,
}

impl Files {
    fn open(options: &NodeOptions) -> Result<Files, NodeError> {
        let fs = options.platform.fs();
        let data = DataDir::lock(&*fs, &options.data_dir)?;
        if let Err(error) = data.remove_leftovers(&*fs, Identity::is_temporary) {
            tracing::warn!("a temporary file stays: {error}");
        }
        let identity = Identity::open(&*options.platform, &options.data_dir)?;
        if let Err(error) = remove_remains(&*fs, &options.data_dir) {
            tracing::warn!("a removed job still takes space: {error}");
        }
        let open = |url| CheckpointStore::open(url, &fs, &identity.worker);
        let store = options.store.as_deref().map(open).transpose()?;
        Ok(Files { identity, store, data })
    }
}

impl Node {
    /// Opens the data directory and binds the address.
    ///
    /// # Errors
    /// [`NodeError::Net`] if the node would listen or send the token beyond loopback without
    /// protection, or the address cannot be bound,
    /// [`NodeError::Store`] if the data directory cannot be used or belongs to another process,
    /// [`NodeError::Identity`] or [`NodeError::Net`] without an identity, and
    /// [`NodeError::CheckpointStore`] if the shared store cannot be opened.
    pub async fn bind(
        options: NodeOptions,
        security: Security,
        listen: SocketAddr,
    ) -> Result<Node, NodeError> {
        security.check_listen(listen)?;
        security.check_url(&options.coordinator)?;
        // Detects at start-up TLS settings with which the node cannot listen.
        security.check_server()?;
        security.log_listen(listen, true);
        security.log_certificates(options.platform.wall_time());
        let platform = Arc::clone(&options.platform);
        let security = security.on(&*platform);
        let opened = platform.blocking(move || {
            let files = Files::open(&options);
            files.map(|files| (options, files))
        });
        let (options, files) = opened
            .await
            .map_err(|error| NodeError::Thread { source: std::io::Error::other(error) })??;
        let (listener, addr) = strata_proto::net::listen(&*platform, listen).await?;
        Ok(Node { options, security, files, listener, addr })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.addr
    }

    /// Runs until `stop` is ready; then waits for the next checkpoint of a running job and until other
    /// workers have taken over its files, for 25 seconds at most, and ends. `address` is the URL at
    /// which other workers reach this one.
    ///
    /// A layer may still be in progress when this returns, on a thread that uses the runtime. So
    /// the runtime must not be shut down before the process ends.
    ///
    /// # Errors
    /// [`NodeError::Refused`] if the coordinator rejects this worker permanently,
    /// [`NodeError::Serve`] if the server fails, [`NodeError::Thread`] without threads.
    pub async fn run(
        self,
        address: String,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), NodeError> {
        let Node { options, security, files: Files { identity, store, data }, listener, addr } =
            self;
        let runtime = Handle::current();
        let state = NodeState::new(options, address, security, identity, store, runtime);
        let (tasks, executor) = executor::start(&state)?;
        let mut served = tokio::spawn(serve(Arc::clone(&state), listener));
        let control = control::run(&state, &tasks);
        let leave = async {
            stop.await;
            state.leave();
            if tokio::time::timeout(LEAVE_TIMEOUT, state.may_end()).await.is_err() {
                let seconds = LEAVE_TIMEOUT.as_secs();
                tracing::warn!("not dismissed within {seconds} s: jobs may wait for this worker");
            }
        };
        let ended = tokio::select! {
            biased;
            refused = control => Err(refused),
            () = leave => Ok(()),
            served = &mut served => Err(NodeError::Serve {
                addr,
                why: match served {
                    Ok(Ok(())) => "it ended".to_owned(),
                    Ok(Err(why)) => why,
                    Err(error) => error.to_string(),
                },
            }),
        };
        state.close();
        drop(tasks);
        if tokio::time::timeout(END_TIMEOUT, executor).await.is_err() {
            tracing::warn!("ending in the middle of a layer, which the next session makes again");
        }
        served.abort();
        drop(data);
        ended
    }
}

/// Serves other workers and the coordinator.
async fn serve(state: Arc<NodeState>, listener: Box<dyn Listener>) -> Result<(), String> {
    let (_, health) = tonic_health::server::health_reporter();
    let exchange = ExchangeServiceServer::new(Exchange { state: Arc::clone(&state) })
        .max_decoding_message_size(limits::MESSAGE_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let port = state.security.port(listener, ConnectionLimits::grpc());
    let (port, mut frames) = port.map_err(|error| error.to_string())?.with_frames();
    let intake = Intake::new(state.options.memory);
    let deliveries = async {
        let mut deliveries = JoinSet::new();
        while let Some(connection) = frames.recv().await {
            deliveries.spawn(delivery::receive(Arc::clone(&state), intake.clone(), connection));
            while deliveries.try_join_next().is_some() {}
        }
        // The server has ended; its result says why.
        std::future::pending().await
    };
    let serving = state
        .security
        .server()
        .layer(strata_proto::net::dated(&state.options.platform))
        .layer(state.security.guard())
        .add_service(health)
        .add_service(exchange)
        .serve_with_incoming(port);
    tokio::select! {
        served = serving => served.map_err(|error| error.to_string()),
        never = deliveries => never,
    }
}

#[cfg(test)]
mod tests {
    use strata_proto::platform::{Machine, System};
    use strata_run::catalogue::Registry;

    use super::*;

    #[tokio::test]
    async fn temporary_files_of_a_killed_start_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("data");
        std::fs::create_dir(&data_dir).unwrap();
        std::fs::write(data_dir.join("worker-id.1-0.tmp"), "0123").unwrap();
        let options = NodeOptions {
            coordinator: "http://127.0.0.1:7070".to_owned(),
            name: "a".to_owned(),
            is_named: true,
            data_dir: data_dir.clone(),
            threads: 1,
            memory: 64 << 20,
            store: Some(format!("file://{}", folder.path().join("store").display())),
            puzzles: Arc::new(Registry::shipped()),
            machine: Machine::default(),
            platform: System::new(&Handle::current()),
        };
        let _files = Files::open(&options).unwrap();
        let names = std::fs::read_dir(data_dir).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        assert_eq!(names, [".lock", "worker-id"]);
    }
}
