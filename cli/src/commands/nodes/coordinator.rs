//! `strata coordinator`: the coordinator of a cluster.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;
use strata_coordinator::{
    ClusterOptions, Coordinator, DashboardOptions, JournalError, JournalSetup, Retention,
    ServerError,
};
use strata_proto::net::{Security, Token};
use strata_proto::platform::{Platform, System};
use strata_run::CancelToken;

use super::node;
use super::presenter::{self, JobPaths, LIMIT, PuzzlePresenter};
use crate::args::cluster::{ClientArgs, SecurityArgs};
use crate::duration::{DurationError, parse_duration};
use crate::output::exit::{ExitCode, Failure, path_code};
use crate::program;
use crate::signals::Signals;

/// Arguments of `coordinator`.
#[derive(Debug, Args)]
pub(crate) struct CoordinatorArgs {
    /// Address for clients and workers
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070")]
    #[arg(env = "STRATA_LISTEN", hide_env_values = true)]
    listen: SocketAddr,

    /// Address of the web page, health and metrics over HTTP
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7080")]
    #[arg(env = "STRATA_HTTP", hide_env_values = true)]
    http: SocketAddr,

    /// Further host names by which browsers may call the web page, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    #[arg(env = "STRATA_HTTP_NAMES", hide_env_values = true)]
    http_names: Vec<String>,

    /// Folder of the journal
    #[arg(long, value_name = "DIR", default_value = "./strata-coordinator")]
    #[arg(env = "STRATA_DATA_DIR", hide_env_values = true)]
    data_dir: PathBuf,

    /// Time without a heartbeat after which a worker is lost
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    #[arg(env = "STRATA_LEASE", hide_env_values = true)]
    #[arg(value_parser = parse_lease)]
    lease: Duration,

    /// Time to wait for a lost worker before the search continues without it
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    #[arg(env = "STRATA_WORKER_TIMEOUT", hide_env_values = true)]
    #[arg(value_parser = parse_duration)]
    worker_timeout: Duration,

    /// Time between checkpoints unless the job sets it, such as 500ms or 2m
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    #[arg(env = "STRATA_CHECKPOINT_INTERVAL", hide_env_values = true)]
    #[arg(value_parser = parse_duration)]
    checkpoint_interval: Duration,

    /// Checkpoint store that all workers share, such as file:///mnt/strata
    #[arg(long, value_name = "URL", env = "STRATA_STORE", hide_env_values = true)]
    store: Option<String>,

    /// Layers with fewer states are expanded by one worker, without exchange [default: 131072 for each
    /// thread of the worker with the fewest]
    #[arg(long, value_name = "STATES", env = "STRATA_NARROW", hide_env_values = true)]
    narrow: Option<u64>,

    /// Remove finished jobs beyond the newest N: those that are done, failed or cancelled
    #[arg(long, value_name = "N", env = "STRATA_RETAIN_JOBS", hide_env_values = true)]
    retain_jobs: Option<NonZeroUsize>,

    /// Remove jobs that have been done, failed or cancelled for this time, such as 7d
    #[arg(long, value_name = "DURATION", env = "STRATA_RETAIN_AGE", hide_env_values = true)]
    #[arg(value_parser = parse_age)]
    retain_age: Option<Duration>,

    /// Create the token file if there is none
    #[arg(long, env = "STRATA_CREATE_TOKEN", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    create_token: bool,

    /// Token and certificates.
    #[command(flatten)]
    security: SecurityArgs,
}

/// Why an age was refused.
#[derive(Debug, thiserror::Error)]
enum AgeError {
    #[error(transparent)]
    Malformed(#[from] DurationError),
    #[error("must be at least 1s")]
    Short,
}

/// Parses the age after which finished jobs are removed: at least 1 s, so that clients can read the end
/// of a job.
fn parse_age(text: &str) -> Result<Duration, AgeError> {
    let age = parse_duration(text)?;
    if age < Duration::from_secs(1) { Err(AgeError::Short) } else { Ok(age) }
}

/// Why a lease was refused.
#[derive(Debug, thiserror::Error)]
enum LeaseError {
    #[error(transparent)]
    Malformed(#[from] DurationError),
    #[error("must be at least 100ms")]
    Short,
}

/// Parses a lease: at least 100 ms, which leaves time for heartbeats.
fn parse_lease(text: &str) -> Result<Duration, LeaseError> {
    let lease = parse_duration(text)?;
    if lease < Duration::from_millis(100) { Err(LeaseError::Short) } else { Ok(lease) }
}

/// Runs `strata coordinator` until a signal arrives. Jobs log their progress at least once in
/// `log_interval`.
///
/// # Errors
/// If an address, the token file or the journal cannot be used, or serving fails.
pub(crate) fn run(args: &CoordinatorArgs, log_interval: Duration) -> Result<ExitCode, Failure> {
    let security = security(args)?;
    let runtime = node::runtime()?;
    // Dropped before the runtime, which waits on drop for the threads that search for paths.
    let end = EndOfPaths(CancelToken::new());
    let platform: Arc<dyn Platform> = System::new(runtime.handle());
    let options = options(args, log_interval, platform, end.0.clone());
    runtime.block_on(async {
        let (signals, paths) = (Signals::listen()?, end.0.clone());
        let stop = async move {
            signals.shutdown().await;
            paths.cancel();
        };
        let coordinator = bind(args, options, security).await?;
        let (grpc, http) = coordinator.addresses();
        tracing::info!(%grpc, %http, data = %args.data_dir.display(), "coordinator is ready");
        coordinator.run(stop).await.map_err(failure)?;
        tracing::info!("coordinator has ended");
        Ok(ExitCode::Done)
    })
}

/// Settings of the cluster. `end` cancels searches for paths.
fn options(
    args: &CoordinatorArgs,
    log_interval: Duration,
    platform: Arc<dyn Platform>,
    end: CancelToken,
) -> ClusterOptions {
    ClusterOptions {
        lease: args.lease,
        worker_timeout: args.worker_timeout,
        checkpoint_interval: args.checkpoint_interval,
        has_store: args.store.is_some(),
        narrow: args.narrow,
        columns: None,
        log_interval,
        retention: Retention {
            jobs: args.retain_jobs.map(NonZeroUsize::get),
            age: args.retain_age,
        },
        puzzles: Arc::clone(program::puzzles()),
        journal: JournalSetup::on(&platform),
        dashboard: DashboardOptions {
            host_names: args.http_names.clone(),
            presenter: Arc::new(PuzzlePresenter {
                paths: paths(args, end),
                ..PuzzlePresenter::default()
            }),
        },
        platform,
    }
}

/// Locks the data directory and listens.
async fn bind(
    args: &CoordinatorArgs,
    options: ClusterOptions,
    security: Security,
) -> Result<Coordinator, Failure> {
    let coordinator =
        Coordinator::bind(options, &args.data_dir, security, args.listen, args.http).await;
    let coordinator = coordinator.map_err(failure)?;
    // A coordinator that was killed may have left the folder of a search for a path. No other
    // process uses it, since the data directory is locked.
    if let Err(error) = presenter::remove(&path_folder(args)) {
        tracing::warn!("{error}");
    }
    Ok(coordinator)
}

/// Cancels searches for paths on drop, so that they end with the coordinator in every case.
struct EndOfPaths(CancelToken);

impl Drop for EndOfPaths {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// How the web page finds moves: by calls to this coordinator, as `strata path` makes them. None if
/// the port is chosen by the system, since the address is then unknown.
fn paths(args: &CoordinatorArgs, stop: CancelToken) -> Option<JobPaths> {
    let mut addr = args.listen;
    if addr.port() == 0 {
        return None;
    }
    if addr.ip().is_unspecified() {
        addr.set_ip(if addr.is_ipv4() {
            Ipv4Addr::LOCALHOST.into()
        } else {
            Ipv6Addr::LOCALHOST.into()
        });
    }
    let scheme = if args.security.tls_cert.is_some() { "https" } else { "http" };
    let client =
        ClientArgs { coordinator: format!("{scheme}://{addr}"), security: args.security.clone() };
    Some(JobPaths { client, folder: path_folder(args), limit: LIMIT, stop })
}

/// Folder of searches for paths.
fn path_folder(args: &CoordinatorArgs) -> PathBuf {
    args.data_dir.join("path")
}

/// Reads the token file, or creates it with `--create-token`, and the certificates.
fn security(args: &CoordinatorArgs) -> Result<Security, Failure> {
    if !args.create_token {
        return args.security.open();
    }
    let Some(path) = &args.security.token_file else {
        return Err(Failure::usage("--create-token needs --token-file"));
    };
    let token = Token::create(path)?;
    args.security.open_with(Some(token))
}

fn failure(error: ServerError) -> Failure {
    match error {
        ServerError::Store(error) => Failure::data_dir(error),
        ServerError::Net(error) => error.into(),
        ServerError::Journal(JournalError::Io { ref source, .. }) => {
            Failure::new(path_code(source), error)
        }
        ServerError::Journal(error @ JournalError::Corrupt { .. }) => {
            Failure::new(ExitCode::Corrupt, error)
        }
        ServerError::Serve { .. } | ServerError::Thread { .. } | ServerError::Panicked { .. } => {
            Failure::new(ExitCode::Unexpected, error)
        }
        _ => Failure::usage(error),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn defaults() {
        let cli = Cli::try_parse_from(["strata", "coordinator"]).unwrap();
        let Command::Coordinator(args) = cli.command else { panic!("not coordinator") };
        assert_eq!(args.listen.to_string(), "127.0.0.1:7070");
        assert_eq!(args.http.to_string(), "127.0.0.1:7080");
        assert_eq!(args.data_dir, PathBuf::from("./strata-coordinator"));
        assert_eq!((args.lease.as_secs(), args.worker_timeout.as_secs()), (10, 600));
        assert_eq!(args.checkpoint_interval.as_secs(), 30);
        assert_eq!((args.store, args.create_token), (None, false));
        assert_eq!((args.retain_jobs, args.retain_age), (None, None));
        assert!(args.security.token_file.is_none());
    }

    #[test]
    fn the_coordinator_removes_the_folder_of_an_abandoned_path_search() {
        let folder = tempfile::tempdir().unwrap();
        let line = ["strata", "coordinator", "--listen=127.0.0.1:0", "--http=127.0.0.1:0"];
        let line = line.map(std::ffi::OsString::from);
        let data_dir = ["--data-dir".into(), folder.path().into()];
        let cli = Cli::try_parse_from(line.into_iter().chain(data_dir)).unwrap();
        let Command::Coordinator(args) = cli.command else { panic!("not coordinator") };
        let left = path_folder(&args).join("job");
        std::fs::create_dir_all(&left).unwrap();
        std::fs::write(left.join("layer"), "x").unwrap();
        let runtime = node::runtime().unwrap();
        let platform = System::new(runtime.handle());
        let options = options(&args, Duration::from_secs(1), platform, CancelToken::new());
        let bound = runtime.block_on(bind(&args, options, Security::default()));
        assert!(bound.is_ok());
        assert!(!path_folder(&args).exists());
        assert!(folder.path().join("journal.redb").exists());
    }

    #[test]
    fn malformed_values_are_refused() {
        for line in [
            "strata coordinator --lease 0s",
            "strata coordinator --lease soon",
            "strata coordinator --http 7080",
            "strata coordinator --retain-jobs 0",
            "strata coordinator --retain-age 500ms",
            "strata coordinator --retain-age week",
        ] {
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
