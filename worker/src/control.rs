//! Membership in the cluster: registration, heartbeats, received orders, sent answers.
//!
//! A lost connection to the coordinator is re-established until the coordinator rejects the worker.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use strata_proto::net::{limits, protocol, status_reason, with_hint};
use strata_proto::v1;
use strata_proto::v1::control_service_client::ControlServiceClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Status};

use crate::error::NodeError;
use crate::options::NodeOptions;
use crate::orders::{EpochId, OrderStatus};
use crate::removal;
use crate::state::NodeState;
use crate::task::Task;

/// Pause between two attempts to connect.
const BACKOFF: Duration = Duration::from_millis(500);

/// Longest wait for the coordinator's welcome, which it sends once its journal has the worker.
const WELCOME: Duration = Duration::from_secs(30);

/// Number of consecutive refusals that are final. A single one may come from a damaged header: the
/// token in it has no checksum.
const REFUSALS: u32 = 3;

/// Attempts to connect since the last registration.
#[derive(Debug, Default)]
struct Attempts {
    /// Whether the loss of the connection is logged.
    logged: bool,
    /// Consecutive refusals.
    refusals: u32,
}

impl Attempts {
    /// Counts a failure. Returns whether the coordinator rejects this worker permanently.
    fn fail(&mut self, url: &str, status: &Status) -> bool {
        let refused = [Code::Unauthenticated, Code::InvalidArgument, Code::FailedPrecondition];
        self.refusals = if refused.contains(&status.code()) { self.refusals + 1 } else { 0 };
        if !self.logged {
            let why = with_hint(url, status_reason(status));
            tracing::warn!("no connection to the coordinator at {url}: {why}");
            self.logged = true;
        }
        self.refusals == REFUSALS
    }
}

/// Keeps the worker connected. Returns when the coordinator rejects it permanently.
pub(crate) async fn run(state: &Arc<NodeState>, tasks: &mpsc::UnboundedSender<Task>) -> NodeError {
    let url = &state.options.coordinator;
    let mut attempts = Attempts::default();
    loop {
        let status = match connect(state, tasks, &mut attempts).await {
            Ok(never) => match never {},
            Err(status) => status,
        };
        state.orders.set_outbound(None);
        state.set_connected(false);
        if attempts.fail(url, &status) {
            let why = status_reason(&status);
            return NodeError::Refused { url: url.clone(), why };
        }
        tokio::time::sleep(BACKOFF).await;
    }
}

/// Registers over a new connection and serves it until it breaks. `attempts` is reset after the
/// registration, so that the next loss is logged.
async fn connect(
    state: &Arc<NodeState>,
    tasks: &mpsc::UnboundedSender<Task>,
    attempts: &mut Attempts,
) -> Result<Infallible, Status> {
    let options = &state.options;
    let channel = state.security.connect(&options.coordinator).await;
    let channel = channel.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut client = ControlServiceClient::new(channel)
        .max_decoding_message_size(limits::MESSAGE_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let (outbound, messages) = mpsc::unbounded_channel();
    let _ = outbound.send(message(v1::from_worker::Message::Hello(hello(state))));
    let welcomed = async {
        let attending = client.attend(UnboundedReceiverStream::new(messages)).await?;
        let mut incoming = attending.into_inner();
        let first = incoming.message().await?.and_then(|first| first.message);
        let Some(v1::to_worker::Message::Welcome(welcome)) = first else {
            return Err(Status::unavailable("no welcome"));
        };
        Ok((welcome, incoming))
    };
    let late = |_| Status::unavailable(format!("no welcome within {WELCOME:?}"));
    let (welcome, mut incoming) = tokio::time::timeout(WELCOME, welcomed).await.map_err(late)??;
    let lease = Duration::from_millis(welcome.lease_ms.clamp(100, 3_600_000));
    state.enter(&welcome.journal, welcome.incarnation);
    state.number.store(welcome.number, Ordering::Release);
    state.lease_ms.store(lease.as_millis() as u64, Ordering::Release);
    log_welcome(options, &welcome);
    *attempts = Attempts::default();
    state.orders.set_outbound(Some(outbound.clone()));
    state.set_connected(true);
    let mut heartbeats = tokio::time::interval(lease / 3);
    let mut last_received = tokio::time::Instant::now();
    loop {
        let received = tokio::select! {
            biased;
            _ = heartbeats.tick() => None,
            () = state.heartbeat_now.notified() => None,
            received = incoming.message() => Some(received?),
        };
        let Some(received) = received else {
            if last_received.elapsed() > lease {
                return Err(Status::unavailable("no message for longer than the lease"));
            }
            // A separate task, so that slow resource sampling does not delay orders.
            tokio::spawn(send_heartbeat(Arc::clone(state), outbound.clone()));
            continue;
        };
        last_received = tokio::time::Instant::now();
        let Some(v1::ToWorker { message }) = received else {
            return Err(Status::unavailable("the connection was closed"));
        };
        match message {
            Some(v1::to_worker::Message::Order(order)) => receive(state, tasks, order),
            Some(v1::to_worker::Message::Remove(remove)) => {
                removal::remove(state, tasks, remove.jobs);
            }
            Some(v1::to_worker::Message::List(list)) => {
                tokio::spawn(removal::list(Arc::clone(state), list));
            }
            Some(v1::to_worker::Message::Beat(beat)) if beat.dismissed => state.dismiss(),
            _ => {}
        }
    }
}

fn log_welcome(options: &NodeOptions, welcome: &v1::Welcome) {
    let v1::Welcome { number, name, .. } = welcome;
    tracing::info!(
        worker = name,
        number,
        "connected to the coordinator at {}",
        options.coordinator
    );
    if options.is_named && options.name != *name {
        let wished = &options.name;
        tracing::warn!("another worker has the name {wished}: this one is named {name}");
    }
}

fn hello(state: &NodeState) -> v1::Hello {
    let (journal, machine) = (state.seen_journal(), &state.options.machine);
    v1::Hello {
        protocol: protocol::VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        worker_id: state.identity.worker.clone(),
        instance: state.identity.instance.clone(),
        name: state.options.name.clone(),
        named: state.options.is_named,
        address: state.address.clone(),
        threads: state.options.threads as u32,
        memory_bytes: state.options.memory,
        journal: journal.id,
        epoch: journal.epoch,
        machine: Some(v1::Machine { id: machine.id.clone(), processors: machine.processors }),
    }
}

async fn send_heartbeat(state: Arc<NodeState>, outbound: mpsc::UnboundedSender<v1::FromWorker>) {
    let beat = state.heartbeat().await;
    // The connection may be lost by now.
    let _ = outbound.send(message(v1::from_worker::Message::Beat(beat)));
}

fn message(message: v1::from_worker::Message) -> v1::FromWorker {
    v1::FromWorker { message: Some(message) }
}

/// Passes a new order to the executor, and answers a repeated one.
fn receive(state: &NodeState, tasks: &mpsc::UnboundedSender<Task>, order: v1::Order) {
    match state.orders.register(&order) {
        OrderStatus::Running => {}
        OrderStatus::Answered(answer) => state.orders.answer(*answer),
        OrderStatus::New => {
            // An order in progress fails soon if its epoch is older, or if this order releases its
            // session.
            state.fence(EpochId::of(&order));
            if matches!(order.what, Some(v1::order::What::Release(_))) {
                state.end_session(EpochId::of(&order));
            }
            state.saw_epoch(order.epoch);
            // The executor ends only with the process.
            let _ = tasks.send(Task::Order(Box::new(order)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_repeated_refusals_are_final() {
        let refused = Status::unauthenticated("a wrong token");
        let lost = Status::unavailable("the connection was closed");
        let mut attempts = Attempts::default();
        let ends = [&refused, &refused, &lost, &refused, &refused, &refused]
            .map(|status| attempts.fail("http://c:1", status));
        assert_eq!(ends, [false, false, false, false, false, true]);
    }
}
