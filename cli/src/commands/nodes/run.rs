//! `strata coordinator` and `strata worker`: the nodes of a cluster.

use std::future::Future;
use std::sync::Arc;

use strata_coordinator::{ClusterOptions, Coordinator, JournalError, ServerError};
use strata_net::{Security, Token};
use strata_store::StoreError;
use strata_worker::{Node, NodeError, NodeOptions};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::args::{CoordinatorArgs, WorkerArgs};
use crate::output::exit::{ExitCode, Failure};
use crate::spaces::program;

/// Runs `strata coordinator` until a signal comes.
pub(crate) fn coordinator(args: &CoordinatorArgs) -> Result<ExitCode, Failure> {
    let security = coordinator_security(args)?;
    let options = ClusterOptions {
        lease: args.lease,
        worker_timeout: args.worker_timeout,
        checkpoint_interval: args.checkpoint_interval,
        has_store: args.store.is_some(),
        narrow: args.narrow,
        puzzles: Arc::clone(program::puzzles()),
    };
    runtime()?.block_on(async {
        let stop = signals()?;
        let coordinator =
            Coordinator::bind(options, &args.data_dir, security, args.listen, args.http).await;
        let coordinator = coordinator.map_err(server_failure)?;
        let (grpc, http) = coordinator.addresses().map_err(server_failure)?;
        tracing::info!(%grpc, %http, data = %args.data_dir.display(), "coordinator is ready");
        coordinator.run(stop).await.map_err(server_failure)?;
        tracing::info!("coordinator has ended");
        Ok(ExitCode::Done)
    })
}

/// The token file is read, or made if that is wanted.
fn coordinator_security(args: &CoordinatorArgs) -> Result<Security, Failure> {
    if !args.create_token {
        return args.security.open();
    }
    let Some(path) = &args.security.token_file else {
        return Err(Failure::usage("--create-token needs --token-file"));
    };
    let token = Token::create(path).map_err(Failure::usage)?;
    Security::open(Some(token), &args.security.tls_files()).map_err(Failure::usage)
}

/// Runs `strata worker` until a signal comes.
pub(crate) fn worker(args: &WorkerArgs) -> Result<ExitCode, Failure> {
    let security = args.client.security.open()?;
    let options = NodeOptions {
        coordinator: args.client.coordinator.clone(),
        name: args.name(),
        data_dir: args.data_dir.clone(),
        threads: args.threads,
        memory: args.memory,
        store: args.store.clone(),
        puzzles: Arc::clone(program::puzzles()),
    };
    runtime()?.block_on(async {
        let stop = signals()?;
        let node = Node::bind(options, security, args.listen).await.map_err(node_failure)?;
        let address = args.advertised(node.address());
        tracing::info!(address, data = %args.data_dir.display(), "worker is ready");
        node.run(address, stop).await.map_err(node_failure)?;
        tracing::info!("worker has ended");
        Ok(ExitCode::Done)
    })
}

fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| {
        Failure::new(ExitCode::Unexpected, format!("cannot start a runtime: {error}"))
    })
}

/// Ready at the first signal; the second ends the process.
fn signals() -> Result<impl Future<Output = ()> + Send, Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Failure::new(ExitCode::Unexpected, format!("cannot listen to signals: {error}"))
        })
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("ending after the next checkpoint; another signal ends at once");
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            std::process::exit(ExitCode::Interrupted as i32);
        });
    })
}

fn server_failure(error: ServerError) -> Failure {
    match error {
        ServerError::Store(error) => store_failure(error),
        ServerError::Journal(error @ JournalError::Corrupt { .. }) => {
            Failure::new(ExitCode::Corrupt, error)
        }
        ServerError::Serve { .. } | ServerError::Thread { .. } | ServerError::Panicked { .. } => {
            Failure::new(ExitCode::Unexpected, error)
        }
        _ => Failure::usage(error),
    }
}

fn node_failure(error: NodeError) -> Failure {
    match error {
        NodeError::Store(error) => store_failure(error),
        NodeError::Identity { .. } => Failure::new(ExitCode::Corrupt, error),
        NodeError::Serve { .. } | NodeError::Random { .. } | NodeError::Thread { .. } => {
            Failure::new(ExitCode::Unexpected, error)
        }
        _ => Failure::usage(error),
    }
}

/// A data directory that cannot be used is the user's to change.
fn store_failure(error: StoreError) -> Failure {
    match error {
        StoreError::Corrupt { .. } => error.into(),
        _ => Failure::usage(error),
    }
}
