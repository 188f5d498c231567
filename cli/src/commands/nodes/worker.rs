//! `strata worker`: a worker of a cluster.

use std::mem::ManuallyDrop;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use strata_proto::platform::{Machine, System};
use strata_worker::{Node, NodeError, NodeOptions};

use super::node::{self, host};
use crate::args::cluster::{ClientArgs, parse_url};
use crate::args::values::{at_most, available_threads};
use crate::output::exit::{ExitCode, Failure};
use crate::program;
use crate::signals::Signals;
use strata_run::size::parse_size;

/// Arguments of `worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Address for other workers
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7071")]
    #[arg(env = "STRATA_LISTEN", hide_env_values = true)]
    listen: SocketAddr,

    /// Address to advertise to other workers [default: the one it listens on]
    #[arg(long, value_name = "URL", env = "STRATA_ADVERTISE", hide_env_values = true)]
    #[arg(value_parser = parse_url)]
    advertise: Option<String>,

    /// Name in logs and tables [default: the host's, with the port if the host has several workers]
    #[arg(long, value_name = "NAME", env = "STRATA_NAME", hide_env_values = true)]
    name: Option<String>,

    /// Folder of the job files of this worker
    #[arg(long, value_name = "DIR", default_value = "./strata-worker")]
    #[arg(env = "STRATA_DATA_DIR", hide_env_values = true)]
    data_dir: PathBuf,

    /// Threads of the search
    #[arg(long, value_name = "N", default_value_t = available_threads())]
    #[arg(env = "STRATA_THREADS", hide_env_values = true, value_parser = at_most(1024))]
    threads: usize,

    /// Memory budget of tables, buffers and diagrams
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = parse_size)]
    memory: u64,

    /// Checkpoint store that all workers share, such as file:///mnt/strata
    #[arg(long, value_name = "URL", env = "STRATA_STORE", hide_env_values = true)]
    store: Option<String>,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

impl WorkerArgs {
    /// Name in logs and tables.
    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(host)
    }

    /// Address to advertise, given the one the worker listens on.
    ///
    /// A worker that listens on all addresses advertises the host's name.
    fn advertised(&self, listening: SocketAddr) -> String {
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

/// Runs `strata worker` until a signal arrives.
///
/// # Errors
/// If an address or the data directory cannot be used, or serving fails.
pub(crate) fn run(args: &WorkerArgs) -> Result<ExitCode, Failure> {
    let security = args.client.security.open()?;
    // Never dropped: a layer in progress continues until the process has ended, and its thread
    // would panic in a runtime that is shut down.
    let runtime = ManuallyDrop::new(node::runtime()?);
    let options = NodeOptions {
        coordinator: args.client.coordinator.clone(),
        name: args.name(),
        is_named: args.name.is_some(),
        data_dir: args.data_dir.clone(),
        threads: args.threads,
        memory: args.memory,
        store: args.store.clone(),
        puzzles: Arc::clone(program::puzzles()),
        machine: Machine::this(),
        platform: System::new(runtime.handle()),
    };
    runtime.block_on(async {
        let stop = Signals::listen()?.shutdown();
        let node = Node::bind(options, security.clone(), args.listen).await.map_err(failure)?;
        let address = args.advertised(node.address());
        // Other nodes have the same token, and would refuse to send it to an address that fails
        // this check.
        security.check_url(&address)?;
        tracing::info!(address, data = %args.data_dir.display(), "worker is ready");
        node.run(address, stop).await.map_err(failure)?;
        tracing::info!("worker has ended");
        Ok(ExitCode::Done)
    })
}

fn failure(error: NodeError) -> Failure {
    match error {
        NodeError::Store(error) => Failure::data_dir(error),
        NodeError::Net(error) => error.into(),
        NodeError::Identity { .. } => Failure::new(ExitCode::Corrupt, error),
        NodeError::Serve { .. } | NodeError::Thread { .. } => {
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

    fn worker(line: &str) -> WorkerArgs {
        match Cli::try_parse_from(line.split_whitespace()).unwrap().command {
            Command::Worker(args) => *args,
            other => panic!("not worker: {other:?}"),
        }
    }

    #[test]
    fn defaults() {
        let args = worker("strata worker");
        assert_eq!(args.listen.to_string(), "127.0.0.1:7071");
        assert_eq!(args.client.coordinator, "http://127.0.0.1:7070");
        assert_eq!(args.data_dir, PathBuf::from("./strata-worker"));
        assert_eq!((args.memory, args.store.is_none()), (1 << 30, true));
        assert!(args.threads >= 1);
        assert!(!args.name().is_empty());
    }

    #[test]
    fn the_advertised_address_is_reachable() {
        let listening: SocketAddr = "10.0.0.7:9".parse().unwrap();
        assert_eq!(worker("strata worker").advertised(listening), "http://10.0.0.7:9");
        let secure = worker("strata worker --tls-cert c --tls-key k");
        assert_eq!(secure.advertised(listening), "https://10.0.0.7:9");
        let everywhere: SocketAddr = "0.0.0.0:9".parse().unwrap();
        assert_eq!(worker("strata worker").advertised(everywhere), format!("http://{}:9", host()));
        let given = worker("strata worker --advertise http://front:80/");
        assert_eq!(given.advertised(everywhere), "http://front:80");
    }

    #[test]
    fn malformed_values_are_refused() {
        for line in [
            "strata worker --listen here",
            "strata worker --advertise front:80",
            "strata worker --threads 0",
        ] {
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
