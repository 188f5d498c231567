//! Streams to clients: the events of a job, and its log.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use strata_net::convert;
use strata_proto::v1;
use strata_proto::v1::job_event::Event;
use tokio::sync::{mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Response, Status};

use super::reader::JobReader;
use super::status::blocking;
use super::view;
use crate::cluster::event::JobEvent;
use crate::cluster::job_view::JobView;

/// Messages that are buffered for one client.
const BUFFER: usize = 256;

/// A stream of messages to a client.
pub(super) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Sending end of a stream of messages.
pub(super) type MessageSender<T> = mpsc::Sender<Result<T, Status>>;

/// A stream that `fill` sends messages into. An error of `fill` ends the stream.
pub(super) fn stream<T, F>(fill: impl FnOnce(MessageSender<T>) -> F) -> Response<Messages<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(BUFFER);
    let filling = fill(sender.clone());
    tokio::spawn(async move {
        if let Err(status) = filling.await {
            let _ = sender.send(Err(status)).await;
        }
    });
    Response::new(Box::pin(ReceiverStream::new(receiver)))
}

/// A job whose events are sent to a client.
pub(super) struct WatchedJob {
    pub(super) reader: JobReader,
    pub(super) id: String,
    pub(super) view: Arc<JobView>,
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
        let (layers, mut seen) = self.view.layers();
        let mut first = vec![self.state().await?];
        let last = layers.last().map(|line| line.depth);
        if after > last {
            first.push(Event::RolledBack(v1::RolledBack { depth: last }));
        }
        let missed = layers.iter().filter(|line| after.is_none_or(|after| line.depth > after));
        first.extend(missed.map(|line| Event::Layer(convert::line_to(line))));
        for event in first {
            if !send(&sender, v1::JobEvent { event: Some(event) }).await {
                return Ok(());
            }
        }
        loop {
            let over = self.reader.is_over(&self.id, &self.view).await?;
            let events = self.view.events(seen);
            seen += events.len();
            for event in events {
                let event = match event {
                    JobEvent::StateChanged => self.state().await?,
                    JobEvent::Layer(line) => Event::Layer(convert::line_to(&line)),
                    JobEvent::Checkpoint { depth, bytes, took } => {
                        let seconds = took.as_secs_f64();
                        Event::Checkpoint(v1::CheckpointDone { depth, bytes, seconds })
                    }
                    JobEvent::RolledBack(depth) => Event::RolledBack(v1::RolledBack { depth }),
                    JobEvent::Log(entry) => Event::Note(view::log_line(entry)),
                };
                if !send(&sender, v1::JobEvent { event: Some(event) }).await {
                    return Ok(());
                }
            }
            if over || !changed(&sender, &mut changes).await {
                return Ok(());
            }
        }
    }

    /// Sends the job's log and, with `follow`, new entries until the job or the call ends.
    ///
    /// # Errors
    /// `UNAVAILABLE` if the log cannot be read; the status of the journal's error.
    pub(super) async fn logs(
        self,
        follow: bool,
        sender: MessageSender<v1::LogLine>,
    ) -> Result<(), Status> {
        let mut changes = self.view.changes();
        let view = Arc::clone(&self.view);
        let (entries, mut seen) = blocking(move || view.log_entries()).await?;
        for entry in entries {
            if !send(&sender, view::log_line(entry)).await {
                return Ok(());
            }
        }
        if !follow {
            return Ok(());
        }
        loop {
            let over = self.reader.is_over(&self.id, &self.view).await?;
            let events = self.view.events(seen);
            seen += events.len();
            for event in events {
                if let JobEvent::Log(entry) = event
                    && !send(&sender, view::log_line(entry)).await
                {
                    return Ok(());
                }
            }
            if over || !changed(&sender, &mut changes).await {
                return Ok(());
            }
        }
    }
}

/// Sends a message. False if the client has ended the call.
async fn send<T>(sender: &MessageSender<T>, message: T) -> bool {
    sender.send(Ok(message)).await.is_ok()
}

/// Waits for a change. False if the client has ended the call or no change can follow.
async fn changed<T>(sender: &MessageSender<T>, changes: &mut watch::Receiver<u64>) -> bool {
    tokio::select! {
        () = sender.closed() => false,
        changed = changes.changed() => changed.is_ok(),
    }
}
