//! Byzantine worker: takes part like any other, but reports figures that no search can find.
//!
//! It is a worker as it is shipped. It reaches the coordinator through a proxy on its own host, which changes
//! its reports.

use std::pin::Pin;
use std::sync::Arc;

use strata_proto::net::{ConnectionLimits, Security};
use strata_proto::platform::Platform;
use strata_proto::v1;
use strata_proto::v1::answer::Outcome;
use strata_proto::v1::control_service_client::ControlServiceClient;
use strata_proto::v1::control_service_server::{ControlService, ControlServiceServer};
use strata_proto::v1::from_worker::Message;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use crate::simulation::network::address;
use crate::simulation::node::coordinator_url;
use crate::simulation::platform::SimulatedPlatform;
use crate::simulation::process::Process;
use crate::simulation::world::HostId;

/// Port of the proxy.
const PORT: u16 = 7001;

/// URL of the proxy on a host.
pub(crate) fn proxy_url(host: HostId) -> String {
    format!("http://{}", address(host, PORT))
}

/// Passes on the calls of the worker on a host to the coordinator, with other reports.
pub(crate) async fn proxy(platform: SimulatedPlatform, host: HostId) -> Result<(), String> {
    let listener = platform.listen(address(host, PORT)).await.map_err(|error| error.to_string())?;
    let security = Security::default();
    let port =
        security.port(listener, ConnectionLimits::grpc()).map_err(|error| error.to_string())?;
    security
        .server()
        .add_service(ControlServiceServer::new(Proxy { platform }))
        .serve_with_incoming(port)
        .await
        .map_err(|error| error.to_string())
}

struct Proxy {
    platform: SimulatedPlatform,
}

#[tonic::async_trait]
impl ControlService for Proxy {
    type AttendStream = Pin<Box<dyn Stream<Item = Result<v1::ToWorker, Status>> + Send>>;

    async fn attend(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let security = Security::default().on(&self.platform);
        let channel = security.connect(&coordinator_url()).await;
        let channel = channel.map_err(|error| Status::unavailable(error.to_string()))?;
        let process = Arc::clone(&self.platform.process);
        // The call ends with the worker's.
        let messages = request.into_inner().take_while(Result::is_ok).filter_map(Result::ok);
        let changed = messages.map(move |message| change(&process, message));
        let replies = ControlServiceClient::new(channel).attend(changed).await?.into_inner();
        Ok(Response::new(Box::pin(replies)))
    }
}

/// Changes the figures of a layer in each report, and leaves out the files of some checkpoints.
fn change(process: &Process, mut message: v1::FromWorker) -> v1::FromWorker {
    let Some(Message::Answer(v1::Answer { outcome, .. })) = &mut message.message else {
        return message;
    };
    match outcome {
        Some(Outcome::Layers(v1::LayerReports { layers })) => {
            // Only one: with many wrong ones, the first malformed one would hide what becomes of the others.
            let at = process.random.below(layers.len().max(1) as u64) as usize;
            if let Some(report) = layers.get_mut(at) {
                report.layer = report.layer.take().map(|layer| wrong(process, layer));
            }
        }
        Some(Outcome::Saved(saved)) if process.random.one_in(2) => {
            *saved = v1::SavedFiles { depth: saved.depth, ..v1::SavedFiles::default() };
        }
        _ => {}
    }
    message
}

/// The record of a layer with figures that no search can find.
fn wrong(process: &Process, layer: v1::LayerRecord) -> v1::LayerRecord {
    let random = &process.random;
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
    v1::LayerRecord { states, positions, regions: 1, generated, digest, ..layer }
}
