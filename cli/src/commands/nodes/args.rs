//! Arguments of the commands that run a node of a cluster.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;
use strata_coordinator::ClusterOptions;

use crate::args::cluster::{ClientArgs, SecurityArgs, parse_url};
use crate::cli::{at_most, available_threads};
use crate::output::units;

/// What a host is called that does not tell its name.
const NAMELESS: &str = "worker";

/// Arguments of `coordinator`.
#[derive(Debug, Args)]
pub(crate) struct CoordinatorArgs {
    /// Where clients and workers reach it
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070")]
    #[arg(env = "STRATA_LISTEN", hide_env_values = true)]
    pub(crate) listen: SocketAddr,

    /// Where to serve health and metrics over HTTP
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7080")]
    #[arg(env = "STRATA_HTTP", hide_env_values = true)]
    pub(crate) http: SocketAddr,

    /// Folder of the cluster's journal
    #[arg(long, value_name = "DIR", default_value = "./strata-coordinator")]
    #[arg(env = "STRATA_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: PathBuf,

    /// Without a sign of life for so long a worker is given up
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    #[arg(env = "STRATA_LEASE", hide_env_values = true)]
    #[arg(value_parser = parse_span)]
    pub(crate) lease: Duration,

    /// How long to wait for a lost worker before the search goes on without it
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    #[arg(env = "STRATA_WORKER_TIMEOUT", hide_env_values = true)]
    #[arg(value_parser = humantime::parse_duration)]
    pub(crate) worker_timeout: Duration,

    /// Time between checkpoints of jobs that do not say, such as 500ms or 2m
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    #[arg(env = "STRATA_CHECKPOINT_INTERVAL", hide_env_values = true)]
    #[arg(value_parser = humantime::parse_duration)]
    pub(crate) checkpoint_interval: Duration,

    /// Checkpoint store that all workers share, such as file:///mnt/strata
    #[arg(long, value_name = "URL", env = "STRATA_STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,

    /// Layers with fewer states are made by one worker, without exchange
    #[arg(long, value_name = "STATES", default_value_t = ClusterOptions::NARROW)]
    #[arg(env = "STRATA_NARROW", hide_env_values = true)]
    pub(crate) narrow: u64,

    /// Make the token file if there is none
    #[arg(long, env = "STRATA_CREATE_TOKEN", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) create_token: bool,

    /// Token and certificates.
    #[command(flatten)]
    pub(crate) security: SecurityArgs,
}

/// Arguments of `worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Where other workers reach it
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7071")]
    #[arg(env = "STRATA_LISTEN", hide_env_values = true)]
    pub(crate) listen: SocketAddr,

    /// The address to tell other workers [default: the one it listens on]
    #[arg(long, value_name = "URL", env = "STRATA_ADVERTISE", hide_env_values = true)]
    #[arg(value_parser = parse_url)]
    advertise: Option<String>,

    /// A name for people [default: the host's]
    #[arg(long, value_name = "NAME", env = "STRATA_NAME", hide_env_values = true)]
    name: Option<String>,

    /// Folder of its part of the cluster's jobs
    #[arg(long, value_name = "DIR", default_value = "./strata-worker")]
    #[arg(env = "STRATA_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: PathBuf,

    /// Threads to search with
    #[arg(long, value_name = "N", default_value_t = available_threads())]
    #[arg(env = "STRATA_THREADS", hide_env_values = true, value_parser = at_most(1024))]
    pub(crate) threads: usize,

    /// Memory budget of everything that grows
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = units::parse_size)]
    pub(crate) memory: u64,

    /// Checkpoint store that all workers share, such as file:///mnt/strata
    #[arg(long, value_name = "URL", env = "STRATA_STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

impl WorkerArgs {
    /// The name for people.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(host)
    }

    /// The address to tell other workers, given the one it listens on in the end. One that
    /// listens everywhere is reached by its host's name.
    pub(crate) fn advertised(&self, listening: SocketAddr) -> String {
        if let Some(url) = &self.advertise {
            return url.clone();
        }
        let scheme = if self.client.security.tls_cert.is_some() { "https" } else { "http" };
        if listening.ip().is_unspecified() {
            format!("{scheme}://{}:{}", host(), listening.port())
        } else {
            format!("{scheme}://{listening}")
        }
    }
}

/// The host's name, as far as the system tells it.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { NAMELESS.to_owned() } else { name.to_owned() }
}

/// Why a span of time was refused.
#[derive(Debug, thiserror::Error)]
enum SpanError {
    #[error(transparent)]
    Malformed(#[from] humantime::DurationError),
    #[error("must be at least 100ms")]
    Short,
}

/// A span that leaves time for signs of life.
fn parse_span(text: &str) -> Result<Duration, SpanError> {
    let span = humantime::parse_duration(text)?;
    if span < Duration::from_millis(100) { Err(SpanError::Short) } else { Ok(span) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn worker(line: &str) -> WorkerArgs {
        match Cli::try_parse_from(line.split_whitespace()).unwrap().command {
            Command::Worker(args) => *args,
            other => panic!("not worker: {other:?}"),
        }
    }

    #[test]
    fn defaults_of_the_coordinator() {
        let cli = Cli::try_parse_from(["strata", "coordinator"]).unwrap();
        let Command::Coordinator(args) = cli.command else { panic!("not coordinator") };
        assert_eq!(args.listen.to_string(), "127.0.0.1:7070");
        assert_eq!(args.http.to_string(), "127.0.0.1:7080");
        assert_eq!(args.data_dir, PathBuf::from("./strata-coordinator"));
        assert_eq!((args.lease.as_secs(), args.worker_timeout.as_secs()), (10, 600));
        assert_eq!(args.checkpoint_interval.as_secs(), 30);
        assert_eq!((args.store, args.create_token), (None, false));
        assert!(args.security.token_file.is_none());
    }

    #[test]
    fn defaults_of_a_worker() {
        let args = worker("strata worker");
        assert_eq!(args.listen.to_string(), "127.0.0.1:7071");
        assert_eq!(args.client.coordinator, "http://127.0.0.1:7070");
        assert_eq!(args.data_dir, PathBuf::from("./strata-worker"));
        assert_eq!((args.memory, args.store.is_none()), (1 << 30, true));
        assert!(args.threads >= 1);
        assert!(!args.name().is_empty());
    }

    #[test]
    fn a_worker_tells_an_address_that_works() {
        let listening: SocketAddr = "10.0.0.7:9".parse().unwrap();
        assert_eq!(worker("strata worker").advertised(listening), "http://10.0.0.7:9");
        let secure = worker("strata worker --tls-cert c --tls-key k");
        assert_eq!(secure.advertised(listening), "https://10.0.0.7:9");
        let everywhere: SocketAddr = "0.0.0.0:9".parse().unwrap();
        assert_eq!(worker("strata worker").advertised(everywhere), format!("http://{}:9", host()));
        let told = worker("strata worker --advertise http://front:80/");
        assert_eq!(told.advertised(everywhere), "http://front:80");
    }

    #[test]
    fn bad_values_are_refused() {
        for line in [
            "strata worker --listen here",
            "strata worker --advertise front:80",
            "strata worker --threads 0",
            "strata coordinator --lease 0s",
            "strata coordinator --lease soon",
            "strata coordinator --http 7080",
        ] {
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
