//! Light workers for measurements: each registers, sends heartbeats, and answers every order at
//! once with figures that the plan accepts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use prost::Message;
use strata_proto::net::{Connection, NetError, Security, limits, protocol};
use strata_proto::v1;
use strata_proto::v1::answer::Outcome;
use strata_proto::v1::control_service_client::ControlServiceClient;
use strata_proto::v1::order::What;
use strata_proto::v1::{from_worker, to_worker};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Status;

/// Kinds of orders whose bytes are counted.
pub(crate) const KINDS: [&str; 4] = ["Prepare", "Advance", "Save", "Restore"];

/// Messages and bytes to all workers.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Orders by kind, as in [`KINDS`].
    orders: [AtomicU64; 4],
    /// Their bytes.
    bytes: [AtomicU64; 4],
    /// Depth of the first layer of the last window that all workers were ordered to make.
    pub(crate) depth: AtomicU32,
    /// Sessions that were prepared, counted at the first worker.
    pub(crate) sessions: AtomicU32,
    /// Checkpoints that were ordered, counted at the first worker.
    pub(crate) saves: AtomicU32,
}

impl Traffic {
    fn add(&self, order: &v1::Order) {
        let kind = match &order.what {
            Some(What::Prepare(_)) => 0,
            Some(What::Advance(_)) => 1,
            Some(What::Save(_)) => 2,
            Some(What::Restore(_)) => 3,
            _ => return,
        };
        self.orders[kind].fetch_add(1, Ordering::Relaxed);
        self.bytes[kind].fetch_add(order.encoded_len() as u64, Ordering::Relaxed);
    }

    /// Mean bytes of an order of each kind.
    pub(crate) fn mean_bytes(&self) -> [u64; 4] {
        let mean = |kind: usize| {
            let orders = self.orders[kind].load(Ordering::Relaxed);
            self.bytes[kind].load(Ordering::Relaxed) / orders.max(1)
        };
        [0, 1, 2, 3].map(mean)
    }
}

/// Connects to a node.
///
/// # Errors
/// If it cannot be reached.
pub(crate) async fn connect(url: &str) -> Result<Connection, NetError> {
    Security::default().connect(url).await
}

/// Registers as light worker number `place`, and answers orders until the connection ends. `welcomed`
/// gets a message when the worker is registered.
///
/// # Errors
/// Why the connection ended.
pub(crate) async fn run(
    url: String,
    place: u32,
    traffic: Arc<Traffic>,
    welcomed: mpsc::UnboundedSender<()>,
) -> Result<(), Status> {
    let channel = connect(&url).await.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut client =
        ControlServiceClient::new(channel).max_decoding_message_size(limits::MESSAGE_BYTES);
    let (sender, receiver) = mpsc::unbounded_channel();
    // Fails if the connection is over, which receiving reports.
    let send = |message| sender.send(v1::FromWorker { message: Some(message) }).unwrap_or(());
    send(from_worker::Message::Hello(hello(place)));
    let mut incoming = client.attend(UnboundedReceiverStream::new(receiver)).await?.into_inner();
    let Some(to_worker::Message::Welcome(welcome)) =
        incoming.message().await?.and_then(|first| first.message)
    else {
        return Err(Status::unavailable("no welcome"));
    };
    let _ = welcomed.send(());
    let mut heartbeats = tokio::time::interval(Duration::from_millis(welcome.lease_ms) / 3);
    loop {
        let received = tokio::select! {
            _ = heartbeats.tick() => {
                send(from_worker::Message::Beat(v1::WorkerBeat::default()));
                continue;
            }
            received = incoming.message() => received?,
        };
        let Some(v1::ToWorker { message }) = received else { return Ok(()) };
        let Some(to_worker::Message::Order(order)) = message else { continue };
        traffic.add(&order);
        let (epoch, number, incarnation) = (order.epoch, order.number, order.incarnation);
        if place == 0 {
            note(&traffic, &order);
        }
        let outcome = Some(answer(welcome.number, order));
        send(from_worker::Message::Answer(v1::Answer {
            epoch,
            order: number,
            outcome,
            incarnation,
        }));
    }
}

fn hello(place: u32) -> v1::Hello {
    v1::Hello {
        protocol: protocol::VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        worker_id: format!("{place:032x}"),
        instance: format!("{place:032x}"),
        name: format!("worker-{place}"),
        address: format!("http://worker-{place}.strata:7071"),
        threads: 1,
        memory_bytes: 1 << 30,
        journal: String::new(),
        epoch: 0,
        named: true,
        machine: None,
    }
}

/// Notes the progress of the session.
fn note(traffic: &Traffic, order: &v1::Order) {
    match &order.what {
        Some(What::Prepare(_)) => _ = traffic.sessions.fetch_add(1, Ordering::Relaxed),
        Some(What::Save(_)) => _ = traffic.saves.fetch_add(1, Ordering::Relaxed),
        Some(What::Advance(advance)) => traffic.depth.store(advance.depth, Ordering::Relaxed),
        _ => {}
    }
}

/// The digest of every part of a layer.
const DIGEST: v1::Digest = v1::Digest { first: 1, second: 2 };

/// An answer in which every layer has one state of each worker.
fn answer(worker: u32, order: v1::Order) -> Outcome {
    let depths = match order.what {
        Some(What::Seed(_)) => 0..=0,
        Some(What::Restore(restore)) => restore.depth..=restore.depth,
        Some(What::Advance(advance)) => advance.depth..=advance.last,
        Some(What::Save(save)) => {
            let depths = save.depth.saturating_sub(1)..=save.depth;
            let files = depths.map(|depth| file(worker, depth)).collect();
            return Outcome::Saved(v1::SavedFiles { depth: save.depth, files, peak_rss_bytes: 1 });
        }
        _ => return Outcome::Noted(v1::Noted {}),
    };
    Outcome::Layers(v1::LayerReports { layers: depths.map(report).collect() })
}

fn report(depth: u32) -> v1::LayerReport {
    let layer = v1::LayerRecord {
        depth,
        states: 1,
        regions: 1,
        generated: 3,
        digest: Some(DIGEST),
        bytes: 4096,
        ..v1::LayerRecord::default()
    };
    v1::LayerReport {
        layer: Some(layer),
        disk_peak_bytes: 8192,
        disk_left_bytes: 8192,
        ..v1::LayerReport::default()
    }
}

fn file(worker: u32, depth: u32) -> v1::LayerFile {
    v1::LayerFile {
        depth,
        worker,
        file: strata_store::layer_file(depth, worker),
        bytes: 4096,
        states: 1,
        regions: 1,
        generated: 3,
        digest: Some(DIGEST),
        seal: 1,
        positions: 0,
    }
}
