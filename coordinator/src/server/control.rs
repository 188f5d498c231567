//! `ControlService`: registration, heartbeats, orders and answers of workers.

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use strata_proto::net::{limits, protocol};
use strata_proto::platform::Instant;
use strata_proto::v1;
use strata_proto::v1::control_service_server::ControlService;
use strata_run::Budget;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use super::status::blocking;
use crate::cluster::context::Cluster;
use crate::cluster::outgoing::Outgoing;
use crate::entry::{WorkerEntry, WorkerNumber};
use crate::journal::error::JournalError;
use crate::journal::names::WorkerName;
use crate::journal::workers::Registered;

/// Time in which a new connection must send its hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection without a message for this many leases is closed. It is more than one, so that a
/// worker that was paused can continue over its connection.
const SILENT_LEASES: u32 = 2;

/// Implementation of `ControlService`.
pub(super) struct Control {
    cluster: Arc<Cluster>,
}

impl Control {
    pub(super) fn new(cluster: Arc<Cluster>) -> Control {
        Control { cluster }
    }
}

/// Messages to a worker.
type Messages = Pin<Box<dyn Stream<Item = Result<v1::ToWorker, Status>> + Send>>;

#[tonic::async_trait]
impl ControlService for Control {
    type AttendStream = Messages;

    async fn attend(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Messages>, Status> {
        let mut incoming = request.into_inner();
        let first = tokio::time::timeout(HELLO_TIMEOUT, incoming.message()).await;
        let first = first.map_err(|_| Status::deadline_exceeded("no hello"))??;
        let Some(v1::from_worker::Message::Hello(hello)) = first.and_then(|first| first.message)
        else {
            return Err(Status::invalid_argument("the first message must be a hello"));
        };
        check(&hello)?;
        let cluster = Arc::clone(&self.cluster);
        let entry = {
            let (cluster, hello) = (Arc::clone(&cluster), hello.clone());
            blocking(self.cluster.platform(), move || register(&cluster, &hello)).await?
        };
        let (outbound, orders) = mpsc::unbounded_channel();
        let welcome = v1::Welcome {
            number: u32::from(entry.number),
            lease_ms: cluster.membership.lease().as_millis() as u64,
            journal: cluster.journal.id().to_owned(),
            incarnation: cluster.incarnation,
            name: entry.name.clone(),
        };
        let _ = outbound.send(v1::to_worker::Message::Welcome(welcome).into());
        let number = entry.number;
        let (name, address) = (entry.name.clone(), hello.address.clone());
        tracing::info!(worker = name, number, address, threads = hello.threads, "worker connected");
        let connection = cluster.membership.connect(entry, hello, outbound.clone());
        cluster.wake_queue();
        cluster.removals.wake();
        tokio::spawn(async move {
            let why = receive(&cluster, number, connection, incoming, outbound).await;
            tracing::info!(worker = name, number, "worker disconnected: {why}");
            cluster.membership.disconnect(number, connection);
            cluster.wake_queue();
        });
        let messages = UnboundedReceiverStream::new(orders);
        Ok(Response::new(Box::pin(messages.map(|message| Ok(message.into_message())))))
    }
}

/// Registers a worker. Later epochs of the journal are greater than those that the worker has seen.
fn register(cluster: &Cluster, hello: &v1::Hello) -> Result<WorkerEntry, JournalError> {
    let v1::Hello { worker_id, name: wished, named, address, journal, epoch, .. } = hello;
    let is_alive = |number| cluster.membership.is_alive(number);
    let name = WorkerName { name: wished, is_given: *named };
    // Held so that names change in the order of the registrations.
    let order = cluster.registrations.lock().unwrap_or_else(PoisonError::into_inner);
    let Registered { entry, renamed } =
        cluster.journal.register(worker_id, name, address, is_alive)?;
    cluster.membership.set_names(renamed.iter().chain([&entry]));
    drop(order);
    for WorkerEntry { number, name, .. } in &renamed {
        tracing::info!(worker = name, number, "the worker has another name now");
    }
    let name = &entry.name;
    if *named && name != wished {
        tracing::warn!("another worker has the name {wished}: the new one is named {name}");
    }
    if journal == cluster.journal.id() {
        if let Some(last) = cluster.journal.skip_epochs(*epoch)? {
            tracing::warn!(
                worker = name,
                "this journal is an older copy: its last epoch is {last}, the worker has seen \
                 epoch {epoch}. Jobs and layers since then are unknown here; their files stay"
            );
        }
    } else if !journal.is_empty() {
        tracing::warn!(worker = name, "the worker was connected to another journal, {journal}");
    }
    Ok(entry)
}

fn check(hello: &v1::Hello) -> Result<(), Status> {
    if hello.protocol != protocol::VERSION {
        let (own, found) = (protocol::VERSION, hello.protocol);
        let text = format!("this coordinator uses protocol version {own}, not {found}");
        return Err(Status::failed_precondition(text));
    }
    if !protocol::is_id(&hello.worker_id) || !protocol::is_id(&hello.instance) {
        let text = "worker_id and instance must be 32 hexadecimal digits";
        return Err(Status::invalid_argument(text));
    }
    if hello.epoch >= limits::EPOCHS {
        return Err(Status::invalid_argument(format!("there is no epoch {}", hello.epoch)));
    }
    let printable = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
    if hello.name.is_empty() || hello.name.len() > limits::NAME_LEN || !printable(&hello.name) {
        return Err(Status::invalid_argument(
            "a name must have 1 to 64 printable ASCII characters",
        ));
    }
    let is_url = hello.address.starts_with("http://") || hello.address.starts_with("https://");
    if !is_url || hello.address.len() > 256 || !printable(&hello.address) {
        return Err(Status::invalid_argument("an address must be an http or https URL"));
    }
    check_budget(hello)?;
    let machine = hello.machine.as_ref().map_or("", |machine| &machine.id);
    if machine.len() > limits::NAME_LEN || !printable(machine) {
        return Err(Status::invalid_argument(
            "the id of a machine must have at most 64 printable ASCII characters",
        ));
    }
    Ok(())
}

/// Checks that a worker has the memory and the threads to run a job. A tiny worker would affect all
/// jobs: the smallest budget decides their engines, and the fewest threads which layers are narrow.
fn check_budget(hello: &v1::Hello) -> Result<(), Status> {
    let v1::Hello { threads, memory_bytes, .. } = *hello;
    if threads == 0 {
        return Err(Status::invalid_argument("a worker needs at least one thread"));
    }
    let least = Budget::least(0, threads as usize) as u64;
    if memory_bytes < least {
        return Err(Status::invalid_argument(format!(
            "a worker of {threads} threads needs a memory budget of at least {} MiB, not {memory_bytes} \
             bytes",
            least >> 20
        )));
    }
    Ok(())
}

fn beat(cluster: &Cluster, worker: WorkerNumber) -> Outgoing {
    let dismissed = cluster.is_dismissed(worker);
    v1::to_worker::Message::Beat(v1::CoordinatorBeat { dismissed }).into()
}

/// Receives a worker's messages until the connection ends. Returns why it ended.
async fn receive(
    cluster: &Cluster,
    number: WorkerNumber,
    connection: u64,
    mut incoming: Streaming<v1::FromWorker>,
    outbound: mpsc::UnboundedSender<Outgoing>,
) -> String {
    let lease = cluster.membership.lease();
    let mut heartbeats = tokio::time::interval(lease / 3);
    let mut last_received = Instant::now();
    loop {
        let received = tokio::select! {
            biased;
            _ = heartbeats.tick() => {
                // A damaged length makes the decoder wait for bytes that are never sent, while
                // this side of the connection works.
                if last_received.elapsed() > SILENT_LEASES * lease {
                    return "it was silent for two leases".to_owned();
                }
                if outbound.send(beat(cluster, number)).is_err() {
                    return "it closed the connection".to_owned();
                }
                cluster.membership.repeat_order(number, connection, Instant::now());
                continue;
            }
            received = incoming.message() => received,
        };
        last_received = Instant::now();
        let is_current = match received {
            Err(status) => return strata_proto::net::status_reason(&status),
            Ok(None) => return "it closed the connection".to_owned(),
            Ok(Some(v1::FromWorker { message })) => match message {
                Some(v1::from_worker::Message::Beat(beat)) => {
                    let leaving = beat.leaving;
                    let is_current = cluster.membership.heartbeat(number, connection, beat);
                    if leaving {
                        cluster.wake_queue();
                        // If this fails, the connection is over.
                        let _ = outbound.send(self::beat(cluster, number));
                    }
                    is_current
                }
                Some(v1::from_worker::Message::Answer(answer)) => {
                    cluster.membership.answer(number, connection, answer)
                }
                Some(v1::from_worker::Message::Removed(removed)) => {
                    cluster.removals.confirm(number, removed.jobs);
                    true
                }
                Some(v1::from_worker::Message::Held(held)) => {
                    cluster.removals.listed(number, held);
                    true
                }
                Some(v1::from_worker::Message::Hello(_)) | None => {
                    return "it sent an unexpected message".to_owned();
                }
            },
        };
        if !is_current {
            return "a newer connection has replaced it".to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(threads: u32, memory_bytes: u64) -> v1::Hello {
        v1::Hello {
            protocol: protocol::VERSION,
            worker_id: "0".repeat(32),
            instance: "1".repeat(32),
            name: "w1".to_owned(),
            address: "http://127.0.0.1:7071".to_owned(),
            threads,
            memory_bytes,
            ..v1::Hello::default()
        }
    }

    #[test]
    fn a_worker_without_memory_or_threads_for_a_job_is_refused() {
        check(&hello(1, 16 << 20)).unwrap();
        check(&hello(3, 32 << 20)).unwrap();
        for (threads, memory, why) in [
            (0, 1 << 30, "a worker needs at least one thread"),
            (1, 0, "a worker of 1 threads needs a memory budget of at least 16 MiB, not 0 bytes"),
            (3, (32 << 20) - 1, "at least 32 MiB, not 33554431 bytes"),
            (u32::MAX, 1 << 40, "a worker of 4294967295 threads needs a memory budget"),
        ] {
            let refused = check(&hello(threads, memory)).unwrap_err();
            assert_eq!(refused.code(), tonic::Code::InvalidArgument);
            assert!(refused.message().contains(why), "{}", refused.message());
        }
    }

    #[test]
    fn the_protocol_files_name_the_protocol_version() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/v1");
        for file in ["common", "control", "exchange", "jobs"] {
            let text = std::fs::read_to_string(folder.join(format!("{file}.proto"))).unwrap();
            let version = protocol::VERSION;
            assert!(text.contains(&format!("version {version}.")), "{file}");
            let field = format!("Version of this protocol: {version}.");
            assert!(file != "control" || text.contains(&field), "{file}");
        }
    }
}
