//! The connection to the coordinator: signs of life, orders in, answers out. It is made again for as
//! long as the process lives.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

use strata_net::limits;
use strata_proto::v1;
use strata_proto::v1::control_service_client::ControlServiceClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Status};

use super::NodeError;
use super::shared::{Shared, Taken};

/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(500);

/// Stays connected. Returns only what no further attempt would change.
pub(crate) async fn run(shared: &Arc<Shared>, orders: &Sender<v1::Order>) -> NodeError {
    let url = &shared.options.coordinator;
    let mut told = false;
    loop {
        let status = match attend(shared, orders, &mut told).await {
            Ok(never) => match never {},
            Err(status) => status,
        };
        shared.connect(None);
        let refused = [Code::Unauthenticated, Code::InvalidArgument, Code::FailedPrecondition];
        if refused.contains(&status.code()) {
            let why = status.message().to_owned();
            return NodeError::Refused { url: url.clone(), why };
        }
        if !told {
            tracing::warn!("no connection to the coordinator at {url}: {}", status.message());
            told = true;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One connection, until it breaks.
async fn attend(
    shared: &Arc<Shared>,
    orders: &Sender<v1::Order>,
    told: &mut bool,
) -> Result<Infallible, Status> {
    let options = &shared.options;
    let channel = shared.security.connect(&options.coordinator).await;
    let channel = channel.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut client = ControlServiceClient::new(channel)
        .max_decoding_message_size(limits::MESSAGE_BYTES)
        .max_encoding_message_size(limits::MESSAGE_BYTES);
    let (outbound, messages) = mpsc::unbounded_channel();
    let hello = v1::Hello {
        protocol: 1,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        worker_id: shared.identity.worker.clone(),
        instance: shared.identity.instance.clone(),
        name: options.name.clone(),
        address: shared.address.clone(),
        threads: options.threads as u32,
        memory_bytes: options.memory,
    };
    let _ = outbound.send(message(v1::from_worker::Message::Hello(hello)));
    let mut incoming = client.attend(UnboundedReceiverStream::new(messages)).await?.into_inner();
    let first = incoming.message().await?.and_then(|first| first.message);
    let Some(v1::to_worker::Message::Welcome(welcome)) = first else {
        return Err(Status::unavailable("no welcome"));
    };
    let lease = Duration::from_millis(welcome.lease_ms.clamp(100, 3_600_000));
    shared.number.store(welcome.number, Ordering::Release);
    shared.lease_ms.store(lease.as_millis() as u64, Ordering::Release);
    tracing::info!(
        number = welcome.number,
        "connected to the coordinator at {}",
        options.coordinator
    );
    *told = false;
    shared.connect(Some(outbound.clone()));
    let mut beats = tokio::time::interval(lease / 3);
    let mut heard = tokio::time::Instant::now();
    loop {
        let received = tokio::select! {
            _ = beats.tick() => None,
            () = shared.beat_now.notified() => None,
            received = incoming.message() => Some(received?),
        };
        let Some(received) = received else {
            if heard.elapsed() > lease {
                return Err(Status::unavailable("it has been silent for longer than the lease"));
            }
            let _ = outbound.send(message(v1::from_worker::Message::Beat(shared.beat())));
            continue;
        };
        heard = tokio::time::Instant::now();
        match received {
            None => return Err(Status::unavailable("it hung up")),
            Some(v1::ToWorker { message: Some(v1::to_worker::Message::Order(order)) }) => {
                take(shared, orders, order);
            }
            Some(_) => {}
        }
    }
}

fn message(message: v1::from_worker::Message) -> v1::FromWorker {
    v1::FromWorker { message: Some(message) }
}

fn take(shared: &Arc<Shared>, orders: &Sender<v1::Order>, order: v1::Order) {
    match shared.take(&order) {
        Taken::Running => {}
        Taken::Answered(answer) => shared.answer(*answer),
        Taken::New => {
            // What runs in an older epoch is to give way.
            shared.fence(order.epoch);
            // The thread ends with the process.
            let _ = orders.send(order);
        }
    }
}
