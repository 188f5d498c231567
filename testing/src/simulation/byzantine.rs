//! Byzantine worker: follows the protocol, but reports figures that no search can find.

use strata_proto::net::{Security, protocol};
use strata_proto::v1;
use strata_proto::v1::answer::Outcome;
use strata_proto::v1::control_service_client::ControlServiceClient;
use strata_proto::v1::order::What;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Status;

use crate::simulation::node::coordinator_url;
use crate::simulation::platform::SimulatedPlatform;
use crate::simulation::world::Random;

/// Registers and answers orders until the connection ends.
pub(crate) async fn run(platform: SimulatedPlatform) -> Result<(), Status> {
    let security = Security::default().on(&platform);
    let channel = security.connect(&coordinator_url()).await;
    let channel = channel.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut client = ControlServiceClient::new(channel);
    let (sender, receiver) = mpsc::unbounded_channel();
    let send = |message| {
        let _ = sender.send(v1::FromWorker { message: Some(message) });
    };
    let id = || protocol::random_id(&platform).map_err(|error| Status::internal(error.to_string()));
    let (worker_id, instance) = (id()?, id()?);
    send(v1::from_worker::Message::Hello(v1::Hello {
        protocol: protocol::VERSION,
        version: "0".to_owned(),
        worker_id,
        instance,
        name: "byzantine".to_owned(),
        address: "http://127.0.0.9:7000".to_owned(),
        threads: 1,
        memory_bytes: 1 << 30,
        journal: String::new(),
        epoch: 0,
        named: true,
        machine: None,
    }));
    let attending = client.attend(UnboundedReceiverStream::new(receiver)).await?;
    let mut incoming = attending.into_inner();
    while let Some(v1::ToWorker { message }) = incoming.message().await? {
        match message {
            Some(v1::to_worker::Message::Order(order)) => {
                let (epoch, number, incarnation) = (order.epoch, order.number, order.incarnation);
                let outcome = Some(answer(&platform.process.random, order));
                send(v1::from_worker::Message::Answer(v1::Answer {
                    epoch,
                    order: number,
                    outcome,
                    incarnation,
                }));
            }
            _ => send(v1::from_worker::Message::Beat(v1::WorkerBeat::default())),
        }
    }
    Ok(())
}

/// An answer of the kind that the order requires, with wrong figures.
fn answer(random: &Random, order: v1::Order) -> Outcome {
    let depth = match order.what {
        Some(What::Seed(_)) => 0,
        Some(What::Restore(restore)) => restore.depth,
        Some(What::Advance(advance)) => advance.depth,
        Some(What::Save(save)) => {
            return Outcome::Saved(v1::SavedFiles {
                depth: save.depth,
                ..v1::SavedFiles::default()
            });
        }
        _ => return Outcome::Noted(v1::Noted {}),
    };
    let limit = 1 << 20;
    let mut positions = 0;
    let (states, generated) = match random.below(7) {
        0 => (u64::MAX - random.below(limit), 1),
        1 => (1 + random.below(limit), u64::MAX - random.below(limit)),
        2 => {
            // Fewer positions than states.
            positions = 1;
            (2, limit * 8)
        }
        // More new states than moves lead to.
        _ => (limit + random.below(limit), limit * 8),
    };
    let digest = Some(v1::Digest { first: random.below(1 << 60), second: random.below(1 << 60) });
    let layer = v1::LayerRecord {
        depth,
        states,
        positions,
        regions: 1,
        generated,
        digest,
        bytes: 1,
        ..v1::LayerRecord::default()
    };
    let report = v1::LayerReport { layer: Some(layer), ..v1::LayerReport::default() };
    Outcome::Layers(v1::LayerReports { layers: vec![report] })
}
