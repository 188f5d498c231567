//! A node's port: connections of gRPC and, at a worker, of frames.
//!
//! Both are encrypted if the node has a certificate. The first bytes after the handshake tell one from the
//! other.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_stream::Stream;

use crate::net::accepted_stream::AcceptedStream;
use crate::net::frames::{FrameConnection, GREETING_BYTES, PREFACE};
use crate::net::guard::Guard;
use crate::net::incoming::{AcceptedConnection, Incoming};
use crate::net::limits;
use crate::v1;
use crate::v1::refusal::Reason;

/// The connections of gRPC of a node's port, as a server takes them: a stream without an end.
pub struct Port {
    incoming: Incoming,
    handshake: Handshake,
    /// Connections whose handshake has not ended.
    begun: JoinSet<Option<AcceptedStream>>,
}

impl Port {
    pub(crate) fn new(incoming: Incoming, tls: Option<TlsAcceptor>, guard: Guard) -> Self {
        let handshake = Handshake { tls, guard, frames: None };
        Self { incoming, handshake, begun: JoinSet::new() }
    }

    /// The port with its connections of frames, whose greetings have been accepted. Without this they are
    /// closed.
    #[must_use]
    pub fn with_frames(mut self) -> (Self, mpsc::UnboundedReceiver<FrameConnection>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.handshake.frames = Some(sender);
        (self, receiver)
    }
}

impl Stream for Port {
    type Item = io::Result<AcceptedStream>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Poll::Ready(Some(ended)) = this.begun.poll_join_next(context) {
                match ended {
                    Ok(Some(stream)) => return Poll::Ready(Some(Ok(stream))),
                    // It has failed, which the other end sees, or is one of frames.
                    Ok(None) | Err(_) => continue,
                }
            }
            let (connection, _) = ready!(this.incoming.poll_accept(context));
            this.begun.spawn(this.handshake.clone().run(connection));
        }
    }
}

/// What happens to a connection before it is used.
#[derive(Clone)]
struct Handshake {
    tls: Option<TlsAcceptor>,
    guard: Guard,
    frames: Option<mpsc::UnboundedSender<FrameConnection>>,
}

impl Handshake {
    /// Returns the connection if it is one of gRPC.
    async fn run(self, connection: AcceptedConnection) -> Option<AcceptedStream> {
        let mut stream = AcceptedStream::plain(connection);
        if let Some(tls) = &self.tls {
            // Ends the handshake of a connection that sends nothing.
            let encrypted = tokio::time::timeout(limits::CONNECT, stream.encrypted(tls)).await;
            stream = encrypted.ok()?.ok()?;
        }
        let mut first = [0; PREFACE.len()];
        stream.read_exact(&mut first).await.ok()?;
        if first != PREFACE {
            stream.unread(&first);
            return Some(stream);
        }
        let frames = self.frames.as_ref()?;
        if let Some(connection) = self.greeted(stream).await {
            // The node may be about to end.
            let _ = frames.send(connection);
        }
        None
    }

    /// Answers the greeting of a connection of frames. `None` if it is refused.
    async fn greeted(&self, stream: AcceptedStream) -> Option<FrameConnection> {
        let caller = stream.caller();
        let mut connection = FrameConnection::new(Box::new(stream));
        let greeting = connection.reader.next::<v1::Greeting>(GREETING_BYTES).await;
        let refusal = match greeting {
            Ok(v1::Greeting { token }) => match self.guard.admit(&token, &caller).await {
                Ok(()) => {
                    connection.writer.add(&v1::Reply::default());
                    connection.writer.send().await.ok()?;
                    return Some(connection);
                }
                Err(text) => {
                    v1::Refusal { reason: Reason::Unauthenticated.into(), message: text.to_owned() }
                }
            },
            Err(error) => v1::Refusal { message: error.to_string(), ..v1::Refusal::default() },
        };
        connection.refuse(refusal).await;
        None
    }
}
