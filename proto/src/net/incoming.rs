//! Accepted connections: a time limit until the first authorised call, and limits on their number.
//!
//! Everyone who reaches a port can open connections and send nothing, or headers byte by byte. Each
//! connection takes a file descriptor, and without descriptors a node can neither accept clients
//! nor open its files. So a connection is closed unless a call over it is authorised in time. When
//! too many connections have had no authorised call, the oldest of them are closed. A client that
//! calls at once is admitted long before its connection is the oldest. [`Guard`](crate::net::Guard) reports
//! authorised calls; connections with one have no time limit.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::platform::{ByteStream, Listener};
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::Sleep;

use crate::net::limits;

/// Pause after `accept` has failed, as it does without free file descriptors or memory.
const PAUSE: Duration = Duration::from_millis(100);

/// Minimum time between two log lines about the same event.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Limits of the connections of one listener.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Longest time from the connection to its first authorised call.
    pub first_call: Duration,
    /// Connections open at a time that have had no authorised call.
    pub unauthorized: usize,
    /// Connections open at a time, including those that are being closed.
    pub total: usize,
}

impl ConnectionLimits {
    /// Limits of a gRPC listener. Its connections take at most half of the process's file
    /// descriptors; those without an authorised call take at most an eighth, and are at most 256.
    #[must_use]
    pub fn grpc() -> Self {
        Self::grpc_of(descriptors())
    }

    /// Limits of an HTTP listener. Connections without an authorised request take at most a sixteenth
    /// of the process's file descriptors, and are at most 128. All connections together are at most
    /// twice as many.
    #[must_use]
    pub fn http() -> Self {
        Self::http_of(descriptors())
    }

    fn grpc_of(descriptors: usize) -> Self {
        Self {
            first_call: limits::FIRST_CALL,
            unauthorized: (descriptors / 8).clamp(1, limits::UNAUTHORIZED),
            total: (descriptors / 2).max(1),
        }
    }

    fn http_of(descriptors: usize) -> Self {
        let unauthorized = (descriptors / 16).clamp(1, limits::HTTP_CONNECTIONS);
        Self { first_call: limits::FIRST_CALL, unauthorized, total: 2 * unauthorized }
    }
}

/// File descriptors that this process may have open.
fn descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Accepts the connections of a listener. [`Incoming::accept`] tries again after an error, so it
/// always returns a connection.
#[derive(Debug)]
pub struct Incoming {
    listener: Box<dyn Listener>,
    connections: Arc<Connections>,
    /// The wait after an error of the listener.
    pause: Option<Pin<Box<Sleep>>>,
    errors: Notice,
}

impl Incoming {
    /// The connections of a listener.
    #[must_use]
    pub fn new(listener: Box<dyn Listener>, limits: ConnectionLimits) -> Self {
        let connections = Connections { limits, open: Mutex::default() };
        Self {
            listener,
            connections: Arc::new(connections),
            pause: None,
            errors: Notice::default(),
        }
    }

    /// The next connection, and the address of its other end.
    pub async fn accept(&mut self) -> (AcceptedConnection, SocketAddr) {
        poll_fn(|context| self.poll_accept(context)).await
    }

    /// The listener's address.
    ///
    /// # Errors
    /// That of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    pub(crate) fn poll_accept(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<(AcceptedConnection, SocketAddr)> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            match ready!(self.listener.poll_accept(context)) {
                Ok((stream, addr)) => {
                    let opened = AcceptedConnection::open(stream, addr, &self.connections);
                    if let Some(connection) = opened {
                        return Poll::Ready((connection, addr));
                    }
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    self.connections.lock().close_older_half();
                    if let Some(count) = self.errors.count(Instant::now()) {
                        tracing::warn!(count, "cannot accept a connection, trying again: {error}");
                    }
                    self.pause = Some(Box::pin(tokio::time::sleep(PAUSE)));
                }
            }
        }
    }
}

/// Whether an error of `accept` says that the connection was lost before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// An event that is logged once a minute at most.
#[derive(Debug, Default)]
struct Notice {
    logged: Option<Instant>,
    /// Events since then.
    count: u64,
}

impl Notice {
    /// Counts an event. Returns the number of events since the last log line if a line is due.
    fn count(&mut self, now: Instant) -> Option<u64> {
        self.count += 1;
        let is_due = self.logged.is_none_or(|logged| now.duration_since(logged) >= LOG_INTERVAL);
        is_due.then(|| {
            self.logged = Some(now);
            std::mem::take(&mut self.count)
        })
    }
}

/// The open connections of a listener.
#[derive(Debug)]
struct Connections {
    limits: ConnectionLimits,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// Open connections, including those that are about to be closed.
    total: usize,
    /// Number of the next connection.
    next: u64,
    /// Connections without an authorised call, oldest first. A message to a sender closes its
    /// connection; dropping the sender admits the connection.
    unauthorized: BTreeMap<u64, oneshot::Sender<()>>,
    excess: Notice,
}

impl Open {
    /// Closes the oldest connection that has had no authorised call, if there is one.
    fn close_oldest(&mut self) {
        if let Some((_, close)) = self.unauthorized.pop_first() {
            // Sending fails if the connection has just been closed.
            let _ = close.send(());
        }
    }

    /// Closes half of the connections that have had no authorised call, oldest first.
    fn close_older_half(&mut self) {
        for _ in 0..self.unauthorized.len().div_ceil(2) {
            self.close_oldest();
        }
    }
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a new connection. If a limit is reached, closes the oldest connection without an
    /// authorised call. Returns `None` if the limit of all connections is reached.
    fn add(&self) -> Option<(u64, oneshot::Receiver<()>)> {
        let mut open = self.lock();
        let is_full = open.total >= self.limits.total;
        if is_full || open.unauthorized.len() >= self.limits.unauthorized {
            open.close_oldest();
            if let Some(count) = open.excess.count(Instant::now()) {
                let ConnectionLimits { unauthorized, total, .. } = self.limits;
                if is_full {
                    tracing::warn!(count, "refused a connection: {total} are open");
                } else {
                    tracing::warn!(
                        count,
                        "closed the oldest of {unauthorized} connections without an authorised call"
                    );
                }
            }
        }
        if is_full {
            return None;
        }
        let (close, closed) = oneshot::channel();
        let number = open.next;
        open.next += 1;
        open.total += 1;
        open.unauthorized.insert(number, close);
        Some((number, closed))
    }

    fn admit(&self, number: u64) {
        self.lock().unauthorized.remove(&number);
    }

    fn remove(&self, number: u64) {
        let mut open = self.lock();
        open.total -= 1;
        open.unauthorized.remove(&number);
    }
}

/// Connection over which a call came. The extensions of its requests contain it.
#[derive(Clone, Debug)]
pub struct Caller {
    address: SocketAddr,
    number: u64,
    connections: Arc<Connections>,
}

impl Caller {
    /// Removes the connection's time limit, after an authorised call.
    pub fn admit(&self) {
        self.connections.admit(self.number);
    }

    /// IP address of the other end.
    #[must_use]
    pub fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    #[cfg(test)]
    pub(crate) fn for_tests(ip: IpAddr) -> Self {
        let connections = Connections { limits: ConnectionLimits::grpc(), open: Mutex::default() };
        let address = SocketAddr::new(ip, 1);
        Self { address, number: 0, connections: Arc::new(connections) }
    }
}

/// An accepted connection. Reading and writing fail once this node has closed it: after its time
/// limit, or because there are too many connections.
#[derive(Debug)]
pub struct AcceptedConnection {
    stream: Box<dyn ByteStream>,
    caller: Caller,
    state: State,
}

#[derive(Debug)]
enum State {
    /// No call has been authorised.
    Unauthorized { deadline: Pin<Box<Sleep>>, closed: oneshot::Receiver<()> },
    /// A call has been authorised.
    Admitted,
    /// Closed by this node, and why.
    Closed(&'static str),
}

impl AcceptedConnection {
    /// Counts a connection. `None`, with the connection closed, if there are too many.
    fn open(
        stream: Box<dyn ByteStream>,
        address: SocketAddr,
        connections: &Arc<Connections>,
    ) -> Option<Self> {
        let (number, closed) = connections.add()?;
        let deadline = Box::pin(tokio::time::sleep(connections.limits.first_call));
        let caller = Caller { address, number, connections: Arc::clone(connections) };
        Some(Self { stream, caller, state: State::Unauthorized { deadline, closed } })
    }

    /// The connection, to be admitted by an authorised call.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller.clone()
    }

    /// Fails if this node has closed the connection. Otherwise the task of `context` is woken when
    /// it is closed.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let State::Unauthorized { deadline, closed } = &mut self.state {
            match Pin::new(closed).poll(context) {
                Poll::Ready(Ok(())) => self.state = State::Closed("too many connections"),
                Poll::Ready(Err(_)) => self.state = State::Admitted,
                Poll::Pending if deadline.as_mut().poll(context).is_ready() => {
                    tracing::debug!("closed a connection that had no authorised call in time");
                    self.state = State::Closed("no authorised call in time");
                }
                Poll::Pending => {}
            }
        }
        match self.state {
            State::Closed(why) => Err(io::Error::new(io::ErrorKind::ConnectionAborted, why)),
            State::Unauthorized { .. } | State::Admitted => Ok(()),
        }
    }
}

impl Drop for AcceptedConnection {
    fn drop(&mut self) {
        self.caller.connections.remove(self.caller.number);
    }
}

impl AsyncRead for AcceptedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for AcceptedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_the_descriptors_and_leave_some() {
        for descriptors in [32, 64, 256, 1024, 1 << 20, usize::MAX] {
            let grpc = ConnectionLimits::grpc_of(descriptors);
            let http = ConnectionLimits::http_of(descriptors);
            assert!(grpc.total + http.total <= descriptors / 8 * 5 + 4, "{grpc:?} {http:?}");
            assert!(grpc.unauthorized > 0 && grpc.unauthorized <= grpc.total / 4);
            assert_eq!(http.unauthorized, http.total / 2);
        }
        assert_eq!(ConnectionLimits::grpc_of(1 << 20).unauthorized, limits::UNAUTHORIZED);
        assert_eq!(ConnectionLimits::http_of(1 << 20).unauthorized, limits::HTTP_CONNECTIONS);
    }

    #[test]
    fn an_event_is_logged_once_a_minute_with_its_count() {
        let mut notice = Notice::default();
        let begun = Instant::now();
        assert_eq!(notice.count(begun), Some(1));
        for seconds in [0, 1, 59] {
            assert_eq!(notice.count(begun + Duration::from_secs(seconds)), None);
        }
        assert_eq!(notice.count(begun + Duration::from_secs(60)), Some(4));
        assert_eq!(notice.count(begun + Duration::from_secs(61)), None);
    }

    #[test]
    fn admitted_connections_count_but_are_not_closed() {
        let limits =
            ConnectionLimits { first_call: Duration::from_secs(1), unauthorized: 2, total: 3 };
        let connections = Connections { limits, open: Mutex::default() };
        let (first, mut first_closed) = connections.add().unwrap();
        let (_, mut second_closed) = connections.add().unwrap();
        connections.admit(first);
        let (third, _third_closed) = connections.add().unwrap();
        // The total is reached: no connection is added, and the oldest unauthorised one closed.
        assert!(connections.add().is_none());
        assert_eq!(second_closed.try_recv(), Ok(()));
        assert_eq!(first_closed.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        connections.remove(third);
        assert!(connections.add().is_some());
        assert!(connections.add().is_none());
    }
}
