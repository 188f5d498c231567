//! An accepted connection as it is used: encrypted or not, with its first bytes looked at.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use prost::bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsAcceptor;
use tonic::transport::server::Connected;

use crate::net::incoming::{AcceptedConnection, Caller};
use crate::platform::ByteStream;

/// An accepted connection, with TLS or without.
#[derive(Debug)]
pub struct AcceptedStream {
    /// Bytes that are to be read again.
    first: Bytes,
    stream: Box<dyn ByteStream>,
    caller: Caller,
    is_encrypted: bool,
}

impl AcceptedStream {
    /// A connection without TLS.
    pub(crate) fn plain(connection: AcceptedConnection) -> Self {
        let caller = connection.caller();
        Self { first: Bytes::new(), stream: Box::new(connection), caller, is_encrypted: false }
    }

    /// Waits for the end of the TLS handshake. The connection's own time limit bounds the wait.
    ///
    /// # Errors
    /// If the handshake fails.
    pub(crate) async fn encrypted(self, tls: &TlsAcceptor) -> io::Result<Self> {
        let caller = self.caller();
        let stream = Box::new(tls.accept(self).await?);
        Ok(Self { first: Bytes::new(), stream, caller, is_encrypted: true })
    }

    /// Returns the first bytes, which have been read to look at them, so that they are read again.
    pub(crate) fn unread(&mut self, first: &[u8]) {
        self.first = Bytes::copy_from_slice(first);
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The connection, to be admitted by an authorised request.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller.clone()
    }
}

impl Connected for AcceptedStream {
    type ConnectInfo = Caller;

    fn connect_info(&self) -> Caller {
        self.caller()
    }
}

impl AsyncRead for AcceptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.first.is_empty() || buffer.remaining() == 0 {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let len = self.first.len().min(buffer.remaining());
        buffer.put_slice(&self.first[..len]);
        self.first.advance(len);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for AcceptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
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
