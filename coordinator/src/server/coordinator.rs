//! The coordinator process: its data directory, its servers and the queue's thread.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::{ConnectionLimits, Security, limits};
use strata_proto::platform::{Instant, Listener};
use strata_proto::v1::control_service_server::ControlServiceServer;
use strata_proto::v1::job_service_server::JobServiceServer;
use strata_store::{DataDir, create_dir_durably};
use tokio::sync::oneshot;

use super::control::Control;
use super::error::ServerError;
use super::http;
use super::jobs::Jobs;
use crate::cluster::context::{Cluster, ClusterOptions};
use crate::cluster::job_view::JobViews;
use crate::cluster::{queue, removal};
use crate::journal::operations::Journal;

/// Time that open calls get to end after the last session.
const GRACE: Duration = Duration::from_secs(2);

/// File name of the journal in the data directory.
const JOURNAL: &str = "journal.redb";

/// Name of the queue's thread in error messages.
const QUEUE: &str = "the job queue";

/// A coordinator that is ready to run.
pub struct Coordinator {
    cluster: Arc<Cluster>,
    security: Security,
    grpc: Box<dyn Listener>,
    http: Box<dyn Listener>,
    /// The bound addresses of gRPC and HTTP.
    addresses: (SocketAddr, SocketAddr),
    /// Holds the directory's lock.
    _data: DataDir,
}

impl Coordinator {
    /// Opens the data directory and binds the addresses of gRPC (`listen`) and HTTP (`http`).
    ///
    /// # Errors
    /// `Net` if an address is beyond loopback without a token or a certificate, or is taken; `Store`
    /// if another process uses the directory or it cannot be written; `Journal` if the journal
    /// cannot be opened.
    pub async fn bind(
        options: ClusterOptions,
        data_dir: &Path,
        security: Security,
        listen: SocketAddr,
        http: SocketAddr,
    ) -> Result<Coordinator, ServerError> {
        security.check_listen(listen)?;
        security.check_listen(http)?;
        // Detects at start-up TLS settings with which the coordinator cannot listen.
        security.check_server()?;
        security.log_listen(listen, true);
        security.log_listen(http, false);
        security.log_certificates(options.platform.wall_time());
        let data_dir = data_dir.to_owned();
        let platform = Arc::clone(&options.platform);
        let security = security.on(&*platform);
        let opened = platform.blocking(move || open(options, &data_dir)).await;
        let (data, cluster) = opened.map_err(|panicked| ServerError::Panicked {
            task: "opening the data directory",
            message: panicked.message,
        })??;
        let (grpc, grpc_addr) = strata_proto::net::listen(&*platform, listen).await?;
        let (http, http_addr) = strata_proto::net::listen(&*platform, http).await?;
        let addresses = (grpc_addr, http_addr);
        Ok(Coordinator { cluster, security, grpc, http, addresses, _data: data })
    }

    /// The bound addresses of gRPC and HTTP.
    #[must_use]
    pub fn addresses(&self) -> (SocketAddr, SocketAddr) {
        self.addresses
    }

    /// Serves until `stop` is ready. Then the running jobs save checkpoints, and the servers end.
    ///
    /// # Errors
    /// `Serve` if a server fails; `Thread` if the queue's thread cannot be started; `Panicked` if
    /// it panics, which also ends the servers.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), ServerError> {
        self.run_with(queue::run, stop).await
    }

    /// Runs with `queue` as the code of the queue's thread.
    async fn run_with(
        self,
        queue: impl FnOnce(&Arc<Cluster>) + Send + 'static,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), ServerError> {
        let Coordinator { cluster, security, grpc, http, addresses: (addr, _), _data } = self;
        let (ended, mut queue_end) = oneshot::channel::<()>();
        let queue_cluster = Arc::clone(&cluster);
        let work = Box::new(move || {
            // Dropped when the thread ends, also by a panic.
            let _ended = ended;
            queue(&queue_cluster);
        });
        let queue = cluster.platform().start("queue", work);
        let queue = queue.map_err(|source| ServerError::Thread { task: QUEUE, source })?;
        let expiry = tokio::spawn(expire_leases(Arc::clone(&cluster)));
        let removals = tokio::spawn(removal::run(Arc::clone(&cluster)));
        let web = tokio::spawn(http::serve(http, Arc::clone(&cluster), security.clone()));
        let stopping = Arc::clone(&cluster);
        let shutdown = async move {
            tokio::select! {
                biased;
                () = stop => {
                    stopping.shut_down();
                    let _ = queue_end.await;
                }
                // The queue ends by itself only if it panics.
                _ = &mut queue_end => stopping.shut_down(),
            }
        };
        let served = serve(grpc, &cluster, &security, shutdown).await;
        cluster.shut_down();
        let queue_end = queue.await;
        expiry.abort();
        removals.abort();
        web.abort();
        if let Err(panicked) = queue_end {
            return Err(ServerError::Panicked { task: QUEUE, message: panicked.message });
        }
        served.map_err(|why| ServerError::Serve { addr, why })
    }
}

/// Locks the data directory and opens the journal and the logs in it.
fn open(options: ClusterOptions, data_dir: &Path) -> Result<(DataDir, Arc<Cluster>), ServerError> {
    let fs = options.platform.fs();
    let data = DataDir::lock(&*fs, data_dir)?;
    let logs = data.path().join("logs");
    create_dir_durably(&*fs, &logs)?;
    let is_leftover = |name: &str| Journal::is_temporary(name, JOURNAL);
    if let Err(error) = data.remove_leftovers(&*fs, is_leftover) {
        tracing::warn!("an unfinished journal still takes space: {error}");
    }
    let journal = Journal::open_with(&data.path().join(JOURNAL), options.journal.clone())?;
    let views = JobViews::new(&logs);
    let incarnation = strata_proto::net::protocol::random_number(&*options.platform)?;
    Ok((data, Cluster::new(options, journal, views, incarnation)))
}

async fn serve(
    listener: Box<dyn Listener>,
    cluster: &Arc<Cluster>,
    security: &Security,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), String> {
    let (_, health) = tonic_health::server::health_reporter();
    let control = ControlServiceServer::new(Control::new(Arc::clone(cluster)))
        .max_decoding_message_size(limits::MESSAGE_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let jobs = JobServiceServer::new(Jobs::new(Arc::clone(cluster), security.clone()))
        .max_decoding_message_size(limits::MESSAGE_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let port = security.port(listener, ConnectionLimits::grpc());
    let port = port.map_err(|error| error.to_string())?;
    let (begin, began) = oneshot::channel::<()>();
    let shutdown = async move {
        shutdown.await;
        let _ = begin.send(());
    };
    let serving = security
        .server()
        .layer(strata_proto::net::dated(&cluster.options.platform))
        .layer(security.guard())
        .add_service(health)
        .add_service(control)
        .add_service(jobs)
        .serve_with_incoming_shutdown(port, shutdown);
    // Workers and watchers keep their calls open.
    let grace = async {
        let _ = began.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
                biased;
        served = serving => served.map_err(|error| error.to_string()),
        () = grace => Ok(()),
    }
}

/// Periodically ends the leases of workers that sent no message within the lease.
async fn expire_leases(cluster: Arc<Cluster>) {
    let mut ticks = tokio::time::interval(cluster.membership.lease() / 4);
    loop {
        ticks.tick().await;
        cluster.membership.expire(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use strata_proto::net::TlsFiles;
    use strata_run::catalogue::Registry;

    use super::*;

    async fn coordinator(data_dir: &Path) -> Coordinator {
        let options = ClusterOptions::for_tests(Registry::shipped());
        let security = Security::open(None, &TlsFiles::default()).unwrap();
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        Coordinator::bind(options, data_dir, security, loopback, loopback).await.unwrap()
    }

    #[tokio::test]
    async fn a_panic_of_the_queue_ends_the_coordinator() {
        let folder = tempfile::tempdir().unwrap();
        let coordinator = coordinator(folder.path()).await;
        let ended = coordinator.run_with(|_| panic!("bug {}", 7), std::future::pending()).await;
        let expected = "the thread of the job queue panicked: bug 7";
        assert_eq!(ended.unwrap_err().to_string(), expected);
    }

    #[tokio::test]
    async fn temporary_files_of_a_killed_start_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".journal.redb.abc234.new"), "x").unwrap();
        std::fs::write(folder.path().join("mine.new"), "x").unwrap();
        let coordinator = coordinator(folder.path()).await;
        let names = std::fs::read_dir(folder.path()).unwrap();
        let names: BTreeSet<_> = names.map(|file| file.unwrap().file_name()).collect();
        let expected = [".lock", "journal.redb", "logs", "mine.new"];
        assert_eq!(names, expected.map(OsString::from).into());
        drop(coordinator);
    }

    #[tokio::test]
    async fn a_stop_ends_the_queue_and_the_coordinator() {
        let folder = tempfile::tempdir().unwrap();
        let coordinator = coordinator(folder.path()).await;
        coordinator.run(async {}).await.unwrap();
    }
}
