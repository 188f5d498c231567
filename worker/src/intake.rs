//! Limit on the bytes of messages that a worker receives at the same time.
//!
//! A batch has up to 64 MiB and is held in memory until it is decoded and accepted. Any number of
//! calls can send batches at the same time, so each message needs a permit for its length before its
//! content is read. Until then flow control stops the sender.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body::Frame;
use strata_proto::net::{least_bytes, limits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Bytes, Context, Pin, Poll, Service, http};
use tonic::server::NamedService;

/// Length of a message's header: a flag and the length of the content.
const HEADER: usize = 5;

/// Window over which a message must arrive at the minimum rate. A sender that has stopped, or sends a
/// byte now and then, must not keep a permit.
const WINDOW: Duration = Duration::from_secs(10);

/// The limit is the memory budget divided by this.
const SHARE: u64 = 8;

/// Limit on the bytes of messages that are in memory at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    free: Arc<Semaphore>,
    total: u32,
    window: Duration,
}

impl Intake {
    /// The limit for a memory budget in bytes. A message longer than the limit is received while
    /// there is no other.
    pub(crate) fn new(memory: u64) -> Intake {
        Intake::of(u32::try_from(memory / SHARE).unwrap_or(u32::MAX).clamp(1, 1 << 29), WINDOW)
    }

    fn of(total: u32, window: Duration) -> Intake {
        Intake { free: Arc::new(Semaphore::new(total as usize)), total, window }
    }

    /// Limits a request's messages. The request's extensions get its [`Received`].
    fn limit(&self, request: http::Request<Body>) -> http::Request<Body> {
        let (mut parts, body) = request.into_parts();
        let received = Received::default();
        parts.extensions.insert(received.clone());
        http::Request::from_parts(parts, Body::new(Metered::new(self.clone(), received, body)))
    }
}

/// Permit for the last message of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Received {
    /// Returns the permit: the message is no longer in memory.
    pub(crate) fn release(&self) {
        self.set(None);
    }

    fn set(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}

/// A service whose requests are limited.
#[derive(Clone, Debug)]
pub(crate) struct Limited<S> {
    pub(crate) inner: S,
    pub(crate) intake: Intake,
}

impl<S: Service<http::Request<Body>>> Service<http::Request<Body>> for Limited<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> S::Future {
        self.inner.call(self.intake.limit(request))
    }
}

impl<S: NamedService> NamedService for Limited<S> {
    const NAME: &'static str = S::NAME;
}

/// Body of a request. After the header of each message, reading waits for a permit.
struct Metered<B> {
    inner: B,
    intake: Intake,
    received: Received,
    /// Bytes from `inner` that have not been passed on.
    rest: Bytes,
    /// The header of the next message, as far as it has arrived.
    header: Vec<u8>,
    /// Bytes of the current message that have not come yet.
    missing: usize,
    waiting: Option<BoxFuture<OwnedSemaphorePermit, tokio::sync::AcquireError>>,
    /// Bytes that have come in this window.
    in_window: u64,
    /// End of the window.
    stalled: Pin<Box<Sleep>>,
}

impl<B> Metered<B> {
    fn new(intake: Intake, received: Received, inner: B) -> Self {
        let stalled = Box::pin(tokio::time::sleep(intake.window));
        let (rest, header, waiting) = (Bytes::new(), Vec::with_capacity(HEADER), None);
        let (missing, in_window) = (0, 0);
        Metered { inner, intake, received, rest, header, missing, waiting, in_window, stalled }
    }

    /// Passes on bytes of a message, or takes bytes of a header.
    fn pass(&mut self) -> Option<Bytes> {
        if self.missing > 0 {
            let len = self.missing.min(self.rest.len());
            self.missing -= len;
            return Some(self.rest.split_to(len));
        }
        let len = (HEADER - self.header.len()).min(self.rest.len());
        self.header.extend(self.rest.split_to(len));
        if let [_, length @ ..] = &*self.header
            && let Ok(length) = <[u8; 4]>::try_from(length)
        {
            let length = u32::from_be_bytes(length);
            // A message that is too long is refused because of its header.
            if length as usize <= limits::BATCH_BYTES {
                self.missing = length as usize;
            }
            self.received.release();
            let permits = (self.missing as u32).min(self.intake.total);
            let free = Arc::clone(&self.intake.free);
            self.waiting = Some(Box::pin(free.acquire_many_owned(permits)));
        }
        None
    }

    /// Begins a window.
    fn restart(&mut self) {
        self.in_window = 0;
        let end = Instant::now() + self.intake.window;
        self.stalled.as_mut().reset(end);
    }

    /// Counts bytes that have come. The next window begins when they are enough.
    fn count(&mut self, bytes: usize) {
        self.in_window += bytes as u64;
        if self.in_window >= least_bytes(self.intake.window) {
            self.restart();
        }
    }
}

impl<B> http_body::Body for Metered<B>
where
    B: http_body::Body<Data = Bytes, Error = Status> + Unpin,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        loop {
            if let Some(waiting) = &mut this.waiting {
                let Poll::Ready(permit) = waiting.as_mut().poll(context) else {
                    return Poll::Pending;
                };
                this.received.set(permit.ok());
                this.waiting = None;
                this.restart();
                let header = Bytes::from(std::mem::take(&mut this.header));
                return Poll::Ready(Some(Ok(Frame::data(header))));
            }
            if !this.rest.is_empty() {
                match this.pass() {
                    Some(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                    None => continue,
                }
            }
            // A window without enough bytes ends the call, even if some bytes come.
            if this.missing > 0 && this.stalled.as_mut().poll(context).is_ready() {
                let (missing, window) = (this.missing, this.intake.window);
                let text = format!(
                    "a message came too slowly: {missing} bytes were missing after {window:?}"
                );
                return Poll::Ready(Some(Err(Status::unavailable(text))));
            }
            match Pin::new(&mut this.inner).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) if bytes.is_empty() => {
                        // Yields to other tasks: empty frames may come for ever.
                        context.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    Ok(bytes) => {
                        this.count(bytes.len());
                        this.rest = bytes;
                    }
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;
    use tokio::sync::mpsc;

    use super::*;

    /// A body of the bytes that a test sends.
    struct Sent(mpsc::UnboundedReceiver<Bytes>);

    impl http_body::Body for Sent {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            self.get_mut().0.poll_recv(context).map(|bytes| bytes.map(|b| Ok(Frame::data(b))))
        }
    }

    /// A call: where a test sends bytes, the limited body, and the permit.
    fn call(intake: &Intake) -> (mpsc::UnboundedSender<Bytes>, Metered<Sent>, Received) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let received = Received::default();
        let body = Metered::new(intake.clone(), received.clone(), Sent(receiver));
        (sender, body, received)
    }

    fn message(len: u8) -> Bytes {
        let mut bytes = vec![0, 0, 0, 0, len];
        bytes.extend(vec![7; usize::from(len)]);
        Bytes::from(bytes)
    }

    /// The bytes that are passed on within 50 ms, and the error if there is one.
    async fn passed(body: &mut Metered<Sent>) -> (usize, Option<Status>) {
        let mut count = 0;
        let next = |body: &mut Metered<Sent>, context: &mut Context<'_>| {
            Pin::new(body).poll_frame(context)
        };
        loop {
            let frame = std::future::poll_fn(|context| next(body, context));
            match tokio::time::timeout(Duration::from_millis(50), frame).await {
                Ok(Some(Ok(frame))) => count += frame.into_data().unwrap().len(),
                Ok(Some(Err(status))) => return (count, Some(status)),
                Ok(None) | Err(_) => return (count, None),
            }
        }
    }

    #[tokio::test]
    async fn a_message_waits_until_there_is_room_for_it() {
        let intake = Intake::of(10, WINDOW);
        let (to_first, mut first, accepted) = call(&intake);
        let (to_second, mut second, _kept) = call(&intake);
        to_first.send(message(8)).unwrap();
        assert_eq!(passed(&mut first).await.0, 13);
        to_second.send(message(6)).unwrap();
        assert_eq!(passed(&mut second).await.0, 0);
        accepted.release();
        assert_eq!(passed(&mut second).await.0, 11);
    }

    #[tokio::test]
    async fn any_division_into_frames_gives_the_same_bytes() {
        let intake = Intake::of(10, WINDOW);
        let bytes = [message(3), message(0), message(200), message(9)].concat();
        for len in [1, 2, 4, 5, 6, 7, 300] {
            let (sender, mut body, _kept) = call(&intake);
            for part in bytes.chunks(len) {
                sender.send(Bytes::copy_from_slice(part)).unwrap();
            }
            drop(sender);
            assert_eq!(passed(&mut body).await.0, bytes.len());
        }
        assert_eq!(intake.free.available_permits(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_of_single_bytes_loses_its_permit() {
        let intake = Intake::of(10, WINDOW);
        for part in [1, 0] {
            let (sender, mut body, _) = call(&intake);
            sender.send(message(200).slice(..9)).unwrap();
            tokio::spawn(async move {
                while sender.send(Bytes::from(vec![7; part])).is_ok() {
                    tokio::time::sleep(WINDOW / 20).await;
                }
            });
            let begun = Instant::now();
            let status = loop {
                let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
                if let Err(status) = frame.await.expect("the body has no end") {
                    break status;
                }
                assert!(begun.elapsed() <= WINDOW, "{:?}", begun.elapsed());
            };
            assert!(status.message().starts_with("a message came too slowly"), "{status:?}");
            drop(body);
            assert_eq!(intake.free.available_permits(), 10);
        }
    }

    #[tokio::test]
    async fn a_sender_that_stops_loses_its_permit() {
        let intake = Intake::of(10, Duration::from_millis(20));
        let (sender, mut body, _) = call(&intake);
        sender.send(message(8).slice(..9)).unwrap();
        let (count, status) = passed(&mut body).await;
        assert_eq!((count, status.unwrap().code()), (9, tonic::Code::Unavailable));
        drop(body);
        assert_eq!(intake.free.available_permits(), 10);
        // A pause between messages has no limit.
        let (sender, mut body, _) = call(&intake);
        sender.send(message(8)).unwrap();
        assert!(passed(&mut body).await.1.is_none());
    }
}
