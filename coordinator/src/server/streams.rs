//! Streams to clients: lists of jobs and layers, the events of a job, and its log.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use strata_proto::net::convert;
use strata_proto::v1;
use strata_proto::v1::job_event::Event;
use tokio::sync::{mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Response, Status};

use super::reader::{JobLayers, JobList, JobReader};
use super::status::blocking;
use super::view;
use crate::cluster::event::JobEvent;
use crate::cluster::job_view::JobView;

/// Messages that are buffered for one client.
const BUFFER: usize = 256;

/// A part of a list is sent when its jobs have this many bytes. One job takes less than a tenth of
/// the limit of a message.
const PART_BYTES: usize = 256 << 10;

/// A stream of messages to a client.
pub(super) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Sending end of a stream of messages.
pub(super) type MessageSender<T> = mpsc::Sender<Result<T, Status>>;

/// A stream of the messages that `fill` sends. An error of `fill` ends the stream; when the
/// client's call ends, `fill` is dropped, whatever it waits for.
pub(super) fn stream<T, F>(fill: impl FnOnce(MessageSender<T>) -> F) -> Response<Messages<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(BUFFER);
    let filling = fill(sender.clone());
    tokio::spawn(async move {
        tokio::select! {
            biased;
            filled = filling => {
                if let Err(status) = filled {
                    let _ = sender.send(Err(status)).await;
                }
            }
            () = sender.closed() => {}
        }
    });
    Response::new(Box::pin(ReceiverStream::new(receiver)))
}

/// Sends the jobs of a list, whose first part is `jobs`, in parts that fit a message.
///
/// # Errors
/// The status of the journal's error.
pub(super) async fn send_jobs(
    mut list: JobList,
    mut jobs: Vec<v1::Job>,
    sender: MessageSender<v1::ListPart>,
) -> Result<(), Status> {
    while !jobs.is_empty() {
        for jobs in parts(jobs) {
            if !send(&sender, v1::ListPart { jobs }).await {
                return Ok(());
            }
        }
        (list, jobs) = list.part().await?;
    }
    Ok(())
}

/// Divides jobs into parts, each of which fits a message.
pub(super) fn parts<T: prost::Message>(jobs: Vec<T>) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = Vec::new();
    let mut bytes = 0;
    for job in jobs {
        let added = job.encoded_len();
        match parts.last_mut().filter(|_| bytes < PART_BYTES) {
            Some(part) => part.push(job),
            None => {
                parts.push(vec![job]);
                bytes = 0;
            }
        }
        bytes += added;
    }
    parts
}

/// Sends layers in parts.
///
/// # Errors
/// The status of the journal's error.
pub(super) async fn send_layers(
    layers: JobLayers,
    sender: MessageSender<v1::LayersPart>,
) -> Result<(), Status> {
    let mut from = 0;
    loop {
        let part = layers.part(from).await?;
        from += part.len() as u32;
        let layers: Vec<v1::LayerRecord> = part.iter().map(convert::layer_to).collect();
        if layers.is_empty() || !send(&sender, v1::LayersPart { layers }).await {
            return Ok(());
        }
    }
}

/// A job whose events are sent to a client.
pub(super) struct WatchedJob {
    pub(super) reader: JobReader,
    pub(super) id: String,
    pub(super) view: Arc<JobView>,
}

/// What a watcher has received.
struct Received {
    /// Number of the next event to send.
    next_event: u64,
    /// Depth of the last layer that was sent.
    depth: Option<u32>,
}

impl WatchedJob {
    /// The job as it is now, as an event.
    async fn state(&self) -> Result<Event, Status> {
        let entry = self.reader.find(self.id.clone()).await?;
        Ok(Event::Job(self.reader.message(entry).await?))
    }

    /// Sends the job, its layers after depth `after`, and events until the job or the call ends.
    ///
    /// # Errors
    /// The status of the journal's error.
    pub(super) async fn watch(
        self,
        after: Option<u32>,
        sender: MessageSender<v1::JobEvent>,
    ) -> Result<(), Status> {
        let mut changes = self.view.changes();
        let Some(mut received) = self.catch_up(after, &sender).await? else { return Ok(()) };
        loop {
            let over = self.reader.is_over(&self.id, &self.view).await?;
            match self.view.events(received.next_event) {
                Some((events, next)) => {
                    received.next_event = next;
                    for event in events {
                        let event = self.event(event, &mut received).await?;
                        if let Some(event) = event
                            && !send_event(&sender, event).await
                        {
                            return Ok(());
                        }
                    }
                }
                // The client was so slow that events have been dropped; it gets the layers instead.
                None => match self.catch_up(received.depth, &sender).await? {
                    Some(now) => {
                        received = now;
                        // More events may have come meanwhile.
                        continue;
                    }
                    None => return Ok(()),
                },
            }
            if over || !changed(&sender, &mut changes).await {
                return Ok(());
            }
        }
    }

    /// Sends the job and its layers after a depth. Returns `None` if the client has left.
    async fn catch_up(
        &self,
        after: Option<u32>,
        sender: &MessageSender<v1::JobEvent>,
    ) -> Result<Option<Received>, Status> {
        let layers = self.reader.layers(&self.id, &self.view).await?;
        let mut first = vec![self.state().await?];
        let last = layers.last();
        if after > last {
            first.push(Event::RolledBack(v1::RolledBack { depth: last }));
        }
        for event in first {
            if !send_event(sender, event).await {
                return Ok(None);
            }
        }
        let mut from = after.min(last).map_or(0, |depth| depth + 1);
        loop {
            let part = layers.part(from).await?;
            if part.is_empty() {
                let depth = from.checked_sub(1);
                return Ok(Some(Received { next_event: layers.next_event, depth }));
            }
            from += part.len() as u32;
            for line in &part {
                if !send_event(sender, Event::Layer(convert::layer_to(line))).await {
                    return Ok(None);
                }
            }
        }
    }

    /// The message of an event; `None` for a layer that has already been sent.
    async fn event(
        &self,
        event: JobEvent,
        received: &mut Received,
    ) -> Result<Option<Event>, Status> {
        Ok(Some(match event {
            JobEvent::StateChanged => self.state().await?,
            JobEvent::Layer(line) if Some(line.depth) <= received.depth => return Ok(None),
            JobEvent::Layer(line) => {
                received.depth = Some(line.depth);
                Event::Layer(convert::layer_to(&line))
            }
            JobEvent::Checkpoint { depth, bytes, took } => {
                let seconds = took.as_secs_f64();
                Event::Checkpoint(v1::CheckpointDone { depth, bytes, seconds })
            }
            JobEvent::RolledBack(depth) => {
                received.depth = received.depth.min(depth);
                Event::RolledBack(v1::RolledBack { depth })
            }
            JobEvent::Log(entry) => Event::Note(view::log_line(entry)),
        }))
    }

    /// Sends the job's log and, with `follow`, new entries until the job ends or the client leaves.
    ///
    /// # Errors
    /// `UNAVAILABLE` if the log cannot be read; the status of the journal's error.
    pub(super) async fn logs(
        self,
        follow: bool,
        sender: MessageSender<v1::LogLine>,
    ) -> Result<(), Status> {
        let mut changes = self.view.changes();
        let mut next = 0;
        loop {
            let over = !follow || self.reader.is_over(&self.id, &self.view).await?;
            let mut more = true;
            while more {
                let view = Arc::clone(&self.view);
                let platform = self.reader.cluster.platform();
                let part = blocking(platform, move || view.log_entries(next)).await?;
                (next, more) = (part.next, part.more);
                for entry in part.entries {
                    if !send(&sender, view::log_line(entry)).await {
                        return Ok(());
                    }
                }
            }
            if over || !changed(&sender, &mut changes).await {
                return Ok(());
            }
        }
    }
}

/// Sends an event. Returns false if the client has left.
async fn send_event(sender: &MessageSender<v1::JobEvent>, event: Event) -> bool {
    send(sender, v1::JobEvent { event: Some(event) }).await
}

/// Sends a message. Returns false if the client has left.
pub(super) async fn send<T>(sender: &MessageSender<T>, message: T) -> bool {
    sender.send(Ok(message)).await.is_ok()
}

/// Waits for a change. Returns false if the client has ended the call or no change can follow.
async fn changed<T>(sender: &MessageSender<T>, changes: &mut watch::Receiver<u64>) -> bool {
    tokio::select! {
        biased;
        () = sender.closed() => false,
        changed = changes.changed() => changed.is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_call_that_waits_for_a_worker_ends_with_its_client() {
        let (held, ended) = oneshot::channel::<()>();
        let response = stream(|parts: MessageSender<v1::StatesPart>| async move {
            let _held = held;
            send(&parts, v1::StatesPart::default()).await;
            std::future::pending().await
        });
        drop(response);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), ended).await;
        assert!(ended.expect("the call goes on").is_err());
    }
}
