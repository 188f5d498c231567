//! The way of exits to one other worker: batches in order, kept until they are acknowledged, sent
//! again over a new connection when one breaks.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use strata_net::{Security, limits};
use strata_proto::v1;
use strata_proto::v1::FailureKind;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};

/// Batches between the queue and the connection.
const AHEAD: usize = 4;

/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes of batches on their way at which a sender has to wait; one batch may always be.
#[derive(Copy, Clone, Debug)]
pub(crate) struct LinkOptions {
    /// See above.
    pub(crate) bytes: usize,
    /// How long to go on trying to connect.
    pub(crate) patience: Duration,
}

#[derive(Debug, Default)]
struct State {
    /// Not acknowledged, oldest first.
    queue: VecDeque<v1::Batch>,
    bytes: usize,
    /// Number of the last batch.
    last: u64,
    /// Why nothing can be sent any more.
    closed: Option<(FailureKind, String)>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Link {
    epoch: u64,
    from: u16,
    options: LinkOptions,
    state: Mutex<State>,
    /// Acknowledged, or closed.
    moved: Condvar,
    /// There is something to send, or it is closed.
    wake: Notify,
    /// Whether the last attempt got through.
    connected: AtomicBool,
}

impl Link {
    pub(crate) fn new(epoch: u64, from: u16, options: LinkOptions) -> Arc<Link> {
        let state = Mutex::default();
        let (moved, wake, connected) = (Condvar::new(), Notify::new(), AtomicBool::new(false));
        Arc::new(Link { epoch, from, options, state, moved, wake, connected })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a batch over; waits while too many bytes are on their way. The receiver takes
    /// whatever comes, so that it is never its progress that is waited for.
    ///
    /// # Errors
    /// If nothing can be sent any more.
    pub(crate) fn send(&self, depth: u32, run: Bytes) -> Result<(), (FailureKind, String)> {
        let full = |state: &mut State| state.closed.is_none() && state.bytes > self.options.bytes;
        let mut state =
            self.moved.wait_while(self.state(), full).unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.closed {
            return Err(why.clone());
        }
        state.last += 1;
        state.bytes += run.len();
        let (epoch, from, sequence) = (self.epoch, u32::from(self.from), state.last);
        state.queue.push_back(v1::Batch { epoch, from, sequence, depth, run });
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Returns when everything is acknowledged.
    ///
    /// # Errors
    /// If that cannot be.
    pub(crate) fn flush(&self) -> Result<(), (FailureKind, String)> {
        let waiting = |state: &mut State| state.closed.is_none() && !state.queue.is_empty();
        let state =
            self.moved.wait_while(self.state(), waiting).unwrap_or_else(PoisonError::into_inner);
        state.closed.clone().map_or(Ok(()), Err)
    }

    /// Nothing is sent any more.
    pub(crate) fn close(&self, kind: FailureKind, why: &str) {
        self.state().closed.get_or_insert_with(|| (kind, why.to_owned()));
        self.moved.notify_all();
        self.wake.notify_one();
    }

    fn acknowledge(&self, sequence: u64) {
        let mut state = self.state();
        while state.queue.front().is_some_and(|batch| batch.sequence <= sequence) {
            let batch = state.queue.pop_front();
            state.bytes -= batch.map_or(0, |batch| batch.run.len());
        }
        drop(state);
        self.moved.notify_all();
    }

    /// The batch after `sequence`; none if there is none yet.
    fn after(&self, sequence: u64) -> Option<v1::Batch> {
        let state = self.state();
        let first = state.queue.front()?.sequence;
        // The queue has no gaps.
        let place = (sequence + 1).saturating_sub(first);
        state.queue.get(place as usize).cloned()
    }

    fn is_closed(&self) -> bool {
        self.state().closed.is_some()
    }

    fn is_idle(&self) -> bool {
        self.state().queue.is_empty()
    }

    /// Delivers batches until the link is closed. Runs as a task of its own.
    pub(crate) async fn run(self: Arc<Self>, address: String, name: String, security: Security) {
        let mut trying = Instant::now();
        while !self.is_closed() {
            if self.is_idle() {
                self.wake.notified().await;
                trying = Instant::now();
                continue;
            }
            let status = match self.deliver(&address, &security).await {
                Ok(()) => continue,
                Err(status) => status,
            };
            if self.connected.swap(false, Ordering::AcqRel) {
                trying = Instant::now();
            }
            let why = format!("worker {name} at {address}: {}", status.message());
            match status.code() {
                Code::FailedPrecondition => self.close(FailureKind::Fenced, &why),
                Code::ResourceExhausted => self.close(FailureKind::DiskFull, &why),
                Code::Unauthenticated => self.close(FailureKind::Unspecified, &why),
                _ if trying.elapsed() > self.options.patience => {
                    self.close(FailureKind::Peer, &why);
                }
                _ => {
                    tracing::debug!("{why}; trying again");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Delivers over one connection until it breaks.
    async fn deliver(&self, address: &str, security: &Security) -> Result<(), Status> {
        let channel = security
            .connect(address)
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let mut client = ExchangeServiceClient::new(channel)
            .max_encoding_message_size(limits::BATCH_BYTES)
            .max_decoding_message_size(limits::MESSAGE_BYTES);
        let (sender, receiver) = mpsc::channel(AHEAD);
        let delivery = client.deliver(ReceiverStream::new(receiver));
        let delivery = tokio::time::timeout(self.options.patience, delivery).await;
        let mut receipts = delivery.map_err(|_| silent())??.into_inner();
        self.connected.store(true, Ordering::Release);
        let sending = async {
            // What was sent over an earlier connection and not acknowledged comes again.
            let mut sent = 0;
            while !self.is_closed() {
                match self.after(sent) {
                    Some(batch) => {
                        sent = batch.sequence;
                        if sender.send(batch).await.is_err() {
                            return;
                        }
                    }
                    None => self.wake.notified().await,
                }
            }
        };
        let mut sending = pin!(sending);
        let mut moved = Instant::now();
        loop {
            tokio::select! {
                // The connection's own signs of life are too slow for a short lease.
                () = tokio::time::sleep(self.options.patience) => {
                    if self.is_idle() {
                        moved = Instant::now();
                    } else if moved.elapsed() >= self.options.patience {
                        return Err(silent());
                    }
                }
                () = &mut sending => {
                    // Closed here, or broken: the receipts tell which.
                    return if self.is_closed() { Ok(()) } else { broken(receipts.message().await) };
                }
                receipt = receipts.message() => match receipt? {
                    Some(v1::Receipt { sequence }) => {
                        moved = Instant::now();
                        self.acknowledge(sequence);
                    }
                    None => return Err(Status::unavailable("it hung up")),
                }
            }
        }
    }
}

fn silent() -> Status {
    Status::unavailable("nothing is acknowledged")
}

fn broken(receipt: Result<Option<v1::Receipt>, Status>) -> Result<(), Status> {
    Err(receipt.err().unwrap_or_else(|| Status::unavailable("it hung up")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(bytes: usize) -> Arc<Link> {
        Link::new(7, 1, LinkOptions { bytes, patience: Duration::from_secs(1) })
    }

    #[test]
    fn batches_stay_until_they_are_acknowledged() {
        let link = link(1000);
        for size in 1..=3 {
            link.send(4, Bytes::from(vec![0; size])).unwrap();
        }
        assert_eq!(link.after(0).map(|batch| batch.sequence), Some(1));
        assert_eq!(link.after(2).map(|batch| batch.sequence), Some(3));
        assert_eq!(link.after(3), None);
        link.acknowledge(2);
        // A new connection begins with the oldest.
        assert_eq!(link.after(0).map(|batch| (batch.sequence, batch.from)), Some((3, 1)));
        link.acknowledge(2);
        assert_eq!(link.state().bytes, 3);
        link.acknowledge(3);
        assert!(link.is_idle());
        link.flush().unwrap();
    }

    #[test]
    fn a_full_link_holds_its_sender_until_it_moves_or_is_closed() {
        let link = link(10);
        link.send(1, Bytes::from(vec![0; 11])).unwrap();
        let sender = {
            let link = Arc::clone(&link);
            std::thread::spawn(move || {
                link.send(1, Bytes::from(vec![0; 11])).unwrap();
                link.send(1, Bytes::from(vec![0; 11]))
            })
        };
        link.acknowledge(1);
        link.close(FailureKind::Fenced, "over");
        // The second may or may not have got through before the end; the third has not.
        let outcome = sender.join();
        if let Ok(third) = outcome {
            assert_eq!(third.unwrap_err().0, FailureKind::Fenced);
        }
        assert_eq!(link.flush().unwrap_err().1, "over");
    }
}
