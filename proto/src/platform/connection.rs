//! Connections and listeners.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::Uri;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;

/// Both directions of a connection.
pub trait ByteStream: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Debug + Send + Unpin> ByteStream for T {}

/// A future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Connects to the node at a URL.
pub type Connector =
    Arc<dyn Fn(Uri) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> + Send + Sync>;

/// Accepts connections at an address.
pub trait Listener: Debug + Send {
    /// The next connection, and the address of its other end.
    ///
    /// # Errors
    /// The operating system's error. Later calls may succeed.
    fn poll_accept(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<(Box<dyn ByteStream>, SocketAddr)>>;

    /// The bound address.
    ///
    /// # Errors
    /// The operating system's error.
    fn local_addr(&self) -> io::Result<SocketAddr>;
}

impl Listener for TcpListener {
    fn poll_accept(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<(Box<dyn ByteStream>, SocketAddr)>> {
        let (stream, addr) = ready!(TcpListener::poll_accept(self, context))?;
        // Replies are small, and callers wait for them.
        let _ = stream.set_nodelay(true);
        Poll::Ready(Ok((Box::new(stream), addr)))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        TcpListener::local_addr(self)
    }
}
