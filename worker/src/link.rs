//! Link to another worker: sends batches in order, keeps them until acknowledged, and sends them
//! again over a new connection when one breaks.
//!
//! A batch is acknowledged by a receipt or, without a message of its own, by the other worker's end of a
//! later layer. A receipt comes when the sender asks for it, or when the link has been silent for a while.

use std::collections::VecDeque;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use strata_proto::net::{
    FrameConnection, FrameError, FrameReader, FrameWriter, Security, limits, reported,
};
use strata_proto::platform::{Instant, Platform};
use strata_proto::v1;
use strata_proto::v1::refusal::Reason;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::error::LinkError;
use crate::orders::EpochId;

/// With this many queued bytes, batches are sent at once. With fewer they wait for [`Link::send_end`]:
/// waking the sending task costs more than a small batch, and all threads of a pass end at about
/// the same time.
const WORTH_SENDING: usize = 64 << 10;

/// Pause between two attempts to connect.
const BACKOFF: Duration = Duration::from_millis(100);

/// Settings of a [`Link`].
#[derive(Copy, Clone, Debug)]
pub(crate) struct LinkOptions {
    /// Unacknowledged bytes above which a sender waits. One batch of any size is always accepted.
    pub(crate) bytes: usize,
    /// Longest time without progress before the link fails.
    pub(crate) timeout: Duration,
}

#[derive(Debug)]
struct State {
    /// Unacknowledged batches, oldest first, without gaps.
    queue: VecDeque<v1::Batch>,
    /// Bytes in the queue.
    bytes: usize,
    /// Sequence number of the last batch.
    last: u64,
    /// Sequence number of the last batch that may be sent.
    released: u64,
    /// Bytes since the last batch that wants a receipt.
    unrequested: usize,
    /// Sequence number of the last released batch that has exits.
    direct: u64,
    /// The last such number that [`Link::withdraw`] returned.
    told: u64,
    /// Time of the last acknowledgement, or of the release of a batch while none was on its way.
    progress: Instant,
    /// Why nothing can be sent any more.
    closed: Option<LinkError>,
}

impl State {
    /// Whether a batch that may be sent is not acknowledged.
    fn is_sending(&self) -> bool {
        self.queue.front().is_some_and(|batch| batch.sequence <= self.released)
    }

    /// Removes the first batches while a condition holds.
    fn acknowledge_while(&mut self, condition: impl Fn(&v1::Batch) -> bool) {
        while self.queue.front().is_some_and(&condition) {
            let batch = self.queue.pop_front();
            self.bytes -= batch.map_or(0, |batch| batch.run.len());
            self.progress = Instant::now();
        }
    }

    /// Releases all queued batches for sending.
    fn release(&mut self) {
        if !self.is_sending() {
            self.progress = Instant::now();
        }
        let unsent = self.queue.iter().rev().take_while(|batch| batch.sequence > self.released);
        let direct = unsent.into_iter().find(|batch| !batch.run.is_empty());
        self.direct = direct.map_or(self.direct, |batch| batch.sequence);
        self.released = self.last;
    }
}

/// Why a connection has ended.
#[derive(Debug)]
enum Ended {
    /// The link is closed.
    LinkClosed,
    /// The other worker accepts nothing more.
    Refused(v1::Refusal),
    /// Another connection may succeed.
    Broken(String),
}

impl From<FrameError> for Ended {
    fn from(error: FrameError) -> Ended {
        Ended::Broken(error.to_string())
    }
}

/// A link within one epoch.
#[derive(Debug)]
pub(crate) struct Link {
    epoch: EpochId,
    from: u16,
    options: LinkOptions,
    state: Mutex<State>,
    platform: Arc<dyn Platform>,
    /// Notified when batches are acknowledged or the link is closed.
    acknowledged: Notify,
    /// Notified when there is something to send or the link is closed.
    wake: Notify,
    /// Notified when the link is closed.
    changed: Arc<Notify>,
    /// Whether the last attempt to connect succeeded.
    connected: AtomicBool,
}

impl Link {
    /// A link from worker `from`. [`Link::run`] delivers its batches. `changed` is notified when the link
    /// is closed.
    pub(crate) fn new(
        epoch: EpochId,
        from: u16,
        options: LinkOptions,
        platform: Arc<dyn Platform>,
        changed: Arc<Notify>,
    ) -> Arc<Link> {
        let state = Mutex::new(State {
            queue: VecDeque::new(),
            bytes: 0,
            last: 0,
            released: 0,
            unrequested: 0,
            direct: 0,
            told: 0,
            progress: Instant::now(),
            closed: None,
        });
        let (acknowledged, wake) = (Notify::new(), Notify::new());
        let connected = AtomicBool::new(false);
        Arc::new(Link {
            epoch,
            from,
            options,
            state,
            platform,
            acknowledged,
            wake,
            changed,
            connected,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a condition no longer holds or the link is closed.
    fn wait_while(&self, condition: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        loop {
            let state = self.state();
            if state.closed.is_some() || !condition(&state) {
                return state;
            }
            // Enabled before the lock is released, so that no notification is missed.
            let mut notified = pin!(self.acknowledged.notified());
            notified.as_mut().enable();
            drop(state);
            self.platform.wait(notified);
        }
    }

    /// Queues a batch, to be sent with the end of the layer at the latest; waits while too many bytes are
    /// unacknowledged. A receiver accepts batches at any time, so this never waits for the receiver's
    /// pass.
    ///
    /// # Errors
    /// Why the link is closed.
    pub(crate) fn send(&self, depth: u32, run: Bytes) -> Result<(), LinkError> {
        let mut state = self.wait_while(|state| state.bytes > self.options.bytes);
        if let Some(error) = &state.closed {
            return Err(error.clone());
        }
        state.bytes += run.len();
        state.unrequested += run.len();
        // Half of what is permitted, so that the receipt comes before the sender has to wait for it.
        let wants_receipt = state.unrequested >= WORTH_SENDING.min(self.options.bytes / 2);
        if wants_receipt {
            state.unrequested = 0;
        }
        self.push(&mut state, v1::Batch { depth, run, wants_receipt, ..v1::Batch::default() });
        if wants_receipt || state.bytes >= WORTH_SENDING.min(self.options.bytes) {
            state.release();
            drop(state);
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Numbers a batch and puts it into the queue.
    fn push(&self, state: &mut State, batch: v1::Batch) {
        state.last += 1;
        let EpochId { incarnation, number: epoch } = self.epoch;
        let (from, sequence) = (u32::from(self.from), state.last);
        state.queue.push_back(v1::Batch { epoch, from, sequence, incarnation, ..batch });
    }

    /// Takes back the exits of a layer that are queued and not on their way, for others to carry. Also returns
    /// the number of the last batch of exits of the layer that is on its way; 0 if none is.
    pub(crate) fn withdraw(&self) -> (Vec<Bytes>, u64) {
        let mut state = self.state();
        let mut runs = Vec::new();
        while state.queue.back().is_some_and(|last| last.sequence > state.released) {
            let Some(batch) = state.queue.pop_back() else { break };
            state.last -= 1;
            state.bytes -= batch.run.len();
            state.unrequested = state.unrequested.saturating_sub(batch.run.len());
            runs.push(batch.run);
        }
        let direct = if state.direct > state.told { state.direct } else { 0 };
        state.told = state.direct;
        (runs, direct)
    }

    /// Sends what is queued, with the end of a layer: with the last batch of it or, if that is already on
    /// its way or there is none, by itself. Waits for nothing.
    ///
    /// # Errors
    /// Why the link is closed.
    pub(crate) fn send_end(&self, depth: u32, end: v1::LayerEnd) -> Result<(), LinkError> {
        let mut state = self.state();
        if let Some(error) = &state.closed {
            return Err(error.clone());
        }
        // The receiver can only answer its order once everything is acknowledged.
        let (released, wants_receipt) = (state.released, end.ends_window);
        let end = Some(end);
        let last = state.queue.back_mut().filter(|last| last.sequence > released);
        match last.filter(|last| last.depth == depth) {
            Some(last) => (last.end, last.wants_receipt) = (end, wants_receipt),
            None => {
                let batch = v1::Batch { depth, end, wants_receipt, ..v1::Batch::default() };
                self.push(&mut state, batch);
            }
        }
        state.release();
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Waits until all batches are acknowledged, and asks for a receipt if that has not been done.
    ///
    /// # Errors
    /// Why the link is closed.
    pub(crate) fn flush(&self) -> Result<(), LinkError> {
        let mut state = self.state();
        let last = state.queue.back().map(|last| (last.depth, last.wants_receipt));
        if let Some((depth, false)) = last {
            let request = v1::Batch { depth, wants_receipt: true, ..v1::Batch::default() };
            self.push(&mut state, request);
            state.release();
            self.wake.notify_one();
        }
        drop(state);
        let state = self.wait_while(|state| !state.queue.is_empty());
        state.closed.clone().map_or(Ok(()), Err)
    }

    /// Closes the link. The first error stays.
    pub(crate) fn close(&self, error: LinkError) {
        self.state().closed.get_or_insert(error);
        self.acknowledged.notify_waiters();
        self.changed.notify_waiters();
        self.wake.notify_one();
    }

    /// Why the link is closed.
    pub(crate) fn closed(&self) -> Option<LinkError> {
        self.state().closed.clone()
    }

    /// Removes the batches of the layers before `depth` from the queue: the receiver has all of them.
    pub(crate) fn acknowledge_before(&self, depth: u32) {
        self.state().acknowledge_while(|batch| batch.depth < depth);
        self.acknowledged.notify_waiters();
    }

    /// Removes the batches up to `sequence` from the queue.
    ///
    /// # Errors
    /// If no batch has this number yet, so that the receiver cannot have accepted it.
    fn acknowledge(&self, sequence: u64) -> Result<(), Ended> {
        let mut state = self.state();
        if sequence > state.last {
            let text = format!("a receipt of batch {sequence}, after {} batches", state.last);
            return Err(Ended::Broken(text));
        }
        state.acknowledge_while(|batch| batch.sequence <= sequence);
        drop(state);
        self.acknowledged.notify_waiters();
        Ok(())
    }

    /// The batch after `sequence`, if it is queued and may be sent.
    fn after(&self, sequence: u64) -> Option<v1::Batch> {
        let state = self.state();
        if sequence >= state.released {
            return None;
        }
        let first = state.queue.front()?.sequence;
        let index = (sequence + 1).saturating_sub(first);
        state.queue.get(index as usize).cloned()
    }

    fn is_closed(&self) -> bool {
        self.state().closed.is_some()
    }

    fn is_idle(&self) -> bool {
        !self.state().is_sending()
    }

    /// The time at which the link times out without an acknowledgement; `None` if nothing is to be
    /// sent. The timeout starts at the last progress or at `connected`, whichever is later.
    fn deadline(&self, connected: Instant) -> Option<Instant> {
        let state = self.state();
        let since = state.progress.max(connected);
        state.is_sending().then_some(since + self.options.timeout)
    }

    /// Delivers batches until the link is closed. Runs as a task.
    pub(crate) async fn run(self: Arc<Self>, address: String, security: Security) {
        let mut trying = Instant::now();
        while !self.is_closed() {
            if self.is_idle() {
                self.wake.notified().await;
                trying = Instant::now();
                continue;
            }
            let (reason, why) = match self.deliver(&address, &security).await {
                Ended::LinkClosed => continue,
                Ended::Refused(refusal) => (refusal.reason(), reported(&refusal.message)),
                Ended::Broken(why) => (Reason::Unspecified, why),
            };
            if self.connected.swap(false, Ordering::AcqRel) {
                trying = Instant::now();
            }
            let is_late = trying.elapsed() > self.options.timeout;
            let address = address.clone();
            match reason {
                Reason::EpochOver => self.close(LinkError::Fenced { address, why }),
                Reason::DiskFull => self.close(LinkError::DiskFull { address, why }),
                Reason::LostExits => self.close(LinkError::PeerFailed { address, why }),
                // Tried again until now: the token may have been damaged on its way.
                Reason::Unauthenticated if is_late => {
                    self.close(LinkError::Unauthenticated { address, why });
                }
                Reason::Unspecified if is_late => {
                    self.close(LinkError::Unreachable { address, why });
                }
                Reason::Unauthenticated | Reason::Unspecified => {
                    tracing::debug!("{address}: {why}; trying again");
                    tokio::time::sleep(BACKOFF).await;
                }
            }
        }
    }

    /// Delivers over one connection until it breaks or the link is closed.
    async fn deliver(&self, address: &str, security: &Security) -> Ended {
        let connected = match security.connect_frames(address).await {
            Ok(connected) => connected,
            Err(error) => return Ended::Broken(error.to_string()),
        };
        let FrameConnection { mut reader, mut writer } = connected;
        match timeout(self.options.timeout, self.receive(&mut reader)).await {
            Ok(Ok(())) => {}
            Ok(Err(ended)) => return ended,
            Err(_) => return no_receipts(),
        }
        self.connected.store(true, Ordering::Release);
        let connected = Instant::now();
        let mut sending = pin!(self.send_all(&mut writer));
        let mut receiving = pin!(async {
            loop {
                if let Err(ended) = self.receive(&mut reader).await {
                    return ended;
                }
            }
        });
        loop {
            // The system's own probes of connections are too slow for a short lease.
            let deadline = self.deadline(connected);
            let wait = deadline.map_or(self.options.timeout, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            tokio::select! {
                biased;
                () = tokio::time::sleep(wait) => {
                    if self.deadline(connected).is_some_and(|deadline| deadline <= Instant::now()) {
                        return no_receipts();
                    }
                }
                sent = &mut sending => {
                    let Err(error) = sent else { return Ended::LinkClosed };
                    // The connection is broken; the other worker may have said why.
                    let reason = timeout(self.options.timeout, receiving).await;
                    return match reason {
                        Ok(Ended::Refused(refusal)) => Ended::Refused(refusal),
                        _ => FrameError::Io(error).into(),
                    };
                }
                ended = &mut receiving => return ended,
            }
        }
    }

    /// Sends batches over a connection until the link is closed. Those that an earlier connection left
    /// unacknowledged are sent again.
    async fn send_all(&self, writer: &mut FrameWriter) -> io::Result<()> {
        let mut sent = 0;
        while !self.is_closed() {
            while writer.waiting() < WORTH_SENDING
                && let Some(batch) = self.after(sent)
            {
                sent = batch.sequence;
                writer.add(&batch);
            }
            if writer.waiting() == 0 {
                if timeout(limits::KEEPALIVE, self.wake.notified()).await.is_ok() {
                    continue;
                }
                writer.add_empty();
            }
            writer.send().await?;
        }
        Ok(())
    }

    /// Takes the next reply of the other worker.
    async fn receive(&self, reader: &mut FrameReader) -> Result<(), Ended> {
        let v1::Reply { sequence, refusal } = reader.next(limits::MESSAGE_BYTES).await?;
        match refusal {
            Some(refusal) => Err(Ended::Refused(refusal)),
            None => self.acknowledge(sequence),
        }
    }
}

fn no_receipts() -> Ended {
    Ended::Broken("nothing is acknowledged".to_owned())
}

#[cfg(test)]
mod tests {
    use strata_proto::platform::System;
    use tokio::runtime::Handle;

    use super::*;

    fn link(bytes: usize) -> Arc<Link> {
        let epoch = EpochId { incarnation: 1, number: 7 };
        let system = System::new(&Handle::current());
        let options = LinkOptions { bytes, timeout: Duration::from_secs(1) };
        Link::new(epoch, 1, options, system, Arc::default())
    }

    const END: v1::LayerEnd = v1::LayerEnd {
        states: 5,
        ends_window: false,
        of_row: false,
        carried: Vec::new(),
        learned: Vec::new(),
    };

    #[tokio::test]
    async fn batches_stay_queued_until_acknowledged() {
        let link = link(1000);
        for size in 1..=3 {
            link.send(4, Bytes::from(vec![0; size])).unwrap();
        }
        // Small batches wait for each other.
        assert_eq!((link.after(0), link.is_idle()), (None, true));
        link.send_end(4, END).unwrap();
        assert_eq!(link.after(0).map(|batch| batch.sequence), Some(1));
        assert_eq!(link.after(2).map(|batch| batch.sequence), Some(3));
        assert_eq!(link.after(3), None);
        // A receipt for a batch that does not exist removes none.
        assert!(link.acknowledge(4).is_err());
        assert_eq!(link.after(0).map(|batch| batch.sequence), Some(1));
        link.acknowledge(2).unwrap();
        // A new connection starts with the oldest batch.
        assert_eq!(link.after(0).map(|batch| (batch.sequence, batch.from)), Some((3, 1)));
        link.acknowledge(2).unwrap();
        assert_eq!(link.state().bytes, 3);
        link.acknowledge(3).unwrap();
        assert!(link.is_idle());
    }

    #[tokio::test]
    async fn the_end_of_a_layer_goes_with_its_last_batch_if_that_is_still_queued() {
        let link = link(1000);
        let of = |sequence: u64| {
            link.after(sequence - 1).map(|batch| (batch.depth, batch.run, batch.end))
        };
        let end = Some(END);
        link.send(4, Bytes::from_static(&[0])).unwrap();
        link.send_end(4, END).unwrap();
        assert_eq!(of(1), Some((4, Bytes::from_static(&[0]), end.clone())));
        // A layer without exits has a batch without any.
        link.send_end(5, END).unwrap();
        assert_eq!(of(2), Some((5, Bytes::new(), end.clone())));
        // A batch that is on its way does not change.
        link.send(6, Bytes::from(vec![0; 600])).unwrap();
        assert!(of(3).is_some_and(|(_, _, end)| end.is_none()));
        link.send_end(6, END).unwrap();
        assert_eq!(of(4), Some((6, Bytes::new(), end)));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_flush_asks_for_a_receipt_once_and_waits_for_it() {
        let link = link(1000);
        link.flush().unwrap();
        for (sequence, is_last, last) in [(1, false, 2), (3, true, 3)] {
            link.send_end(4, v1::LayerEnd { ends_window: is_last, ..END }).unwrap();
            let flushing = Arc::clone(&link);
            let flushed = tokio::task::spawn_blocking(move || flushing.flush());
            while link.after(last - 1).is_none() {
                tokio::task::yield_now().await;
            }
            assert_eq!(link.after(sequence - 1).map(|batch| batch.wants_receipt), Some(is_last));
            assert!(link.after(last - 1).is_some_and(|batch| batch.wants_receipt));
            assert!(link.after(last).is_none());
            link.acknowledge(last).unwrap();
            flushed.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn exits_that_are_not_on_their_way_are_taken_back() {
        let link = link(WORTH_SENDING * 2);
        let small = Bytes::from_static(&[7]);
        link.send(4, small.clone()).unwrap();
        assert_eq!(link.withdraw(), (vec![small.clone()], 0));
        let (bytes, last) = {
            let state = link.state();
            (state.bytes, state.last)
        };
        assert_eq!((bytes, last), (0, 0));
        // Many exits go directly.
        link.send(5, Bytes::from(vec![0; WORTH_SENDING])).unwrap();
        link.acknowledge(1).unwrap();
        link.send(5, small.clone()).unwrap();
        assert_eq!(link.withdraw(), (vec![small.clone()], 1));
        // An end is no batch of exits, but it sends those of the next layer that wait.
        link.send_end(5, END).unwrap();
        assert_eq!(link.withdraw(), (Vec::new(), 0));
        link.send(6, small.clone()).unwrap();
        link.send_end(5, END).unwrap();
        assert_eq!(link.after(2).map(|batch| (batch.depth, batch.run)), Some((6, small)));
        assert_eq!(link.withdraw(), (Vec::new(), 3));
    }

    #[tokio::test]
    async fn the_end_of_a_layer_acknowledges_the_layers_before() {
        let link = link(1000);
        for depth in 4..7 {
            link.send(depth, Bytes::from_static(&[0])).unwrap();
            link.send_end(depth, END).unwrap();
        }
        link.acknowledge_before(6);
        assert_eq!(link.after(0).map(|batch| batch.depth), Some(6));
        assert_eq!(link.state().bytes, 1);
        link.acknowledge_before(6);
        assert!(!link.is_idle());
    }

    #[tokio::test]
    async fn receipts_are_requested_before_a_sender_has_to_wait() {
        let link = link(10);
        let mut wants = Vec::new();
        for sequence in 1..=6 {
            link.send(1, Bytes::from_static(&[0, 0])).unwrap();
            wants.extend(link.after(sequence - 1).map(|batch| (sequence, batch.wants_receipt)));
        }
        // Twelve bytes are too many for another batch, and there are two requests.
        assert_eq!(wants, [(3, true), (5, false), (6, true)]);
    }

    #[tokio::test]
    async fn batches_are_sent_without_a_flush_once_there_are_enough_bytes() {
        let link = link(WORTH_SENDING * 2);
        link.send(1, Bytes::from(vec![0; WORTH_SENDING - 1])).unwrap();
        assert!(link.is_idle());
        link.send(1, Bytes::from_static(&[0])).unwrap();
        assert_eq!(link.after(0).map(|batch| batch.sequence), Some(1));
        assert_eq!(link.after(1).map(|batch| batch.sequence), Some(2));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_link_blocks_senders_until_acknowledged_or_closed() {
        let link = link(10);
        link.send(1, Bytes::from(vec![0; 11])).unwrap();
        let sender = {
            let link = Arc::clone(&link);
            std::thread::spawn(move || {
                link.send(1, Bytes::from(vec![0; 11])).unwrap();
                link.send(1, Bytes::from(vec![0; 11]))
            })
        };
        link.acknowledge(1).unwrap();
        link.close(LinkError::EpochOver { epoch: 7 });
        // The second may or may not be queued before the link closes; the third is not.
        let outcome = tokio::task::spawn_blocking(|| sender.join()).await.unwrap();
        if let Ok(third) = outcome {
            assert_eq!(third, Err(LinkError::EpochOver { epoch: 7 }));
        }
        assert_eq!(link.send_end(1, END), Err(LinkError::EpochOver { epoch: 7 }));
    }

    #[tokio::test]
    async fn the_timeout_starts_when_a_batch_may_be_sent() {
        let link = link(1000);
        let connected = Instant::now();
        assert_eq!(link.deadline(connected), None);
        std::thread::sleep(Duration::from_millis(5));
        link.send(1, Bytes::from_static(&[0])).unwrap();
        assert_eq!(link.deadline(connected), None);
        std::thread::sleep(Duration::from_millis(5));
        let released = Instant::now();
        link.send_end(1, END).unwrap();
        let first = link.deadline(connected).unwrap();
        assert!(first >= released + Duration::from_secs(1));
        // More batches do not extend it, a receipt does.
        link.send_end(2, END).unwrap();
        assert_eq!(link.deadline(connected), Some(first));
        std::thread::sleep(Duration::from_millis(5));
        link.acknowledge(1).unwrap();
        assert!(link.deadline(connected).unwrap() > first);
        link.acknowledge(2).unwrap();
        assert_eq!(link.deadline(connected), None);
    }
}
