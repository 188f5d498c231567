//! Connections of browsers and metrics collectors: HTTPS and plain HTTP on one port.
//!
//! A browser has no client certificate, so the server requests none. The first byte of a connection
//! tells TLS from plain HTTP. Health checks use plain HTTP.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::platform::ByteStream;
use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::net::incoming::{AcceptedConnection, Caller};

/// First byte of every TLS connection: the type of a handshake record.
const HANDSHAKE: u8 = 0x16;

/// TLS for a listener of HTTP.
#[derive(Clone)]
pub struct WebTls {
    acceptor: TlsAcceptor,
    /// The node's own certificate.
    certificate: CertificateDer<'static>,
}

impl fmt::Debug for WebTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebTls(..)")
    }
}

impl WebTls {
    /// TLS with a certificate, its chain and its key.
    ///
    /// # Errors
    /// If they do not belong together.
    pub(crate) fn new(
        chain: &[CertificateDer<'static>],
        key: &PrivateKeyDer<'static>,
    ) -> Result<Self, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain.to_vec(), key.clone_key())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let certificate = chain.first().cloned();
        let certificate =
            certificate.ok_or(rustls::Error::General("the chain is empty".to_owned()))?;
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), certificate })
    }

    /// Whether the certificate is for a host name or address, which may have brackets.
    #[must_use]
    pub fn names(&self, host: &str) -> bool {
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let Ok(name) = ServerName::try_from(host) else { return false };
        ParsedCertificate::try_from(&self.certificate)
            .is_ok_and(|certificate| verify_server_name(&certificate, &name).is_ok())
    }
}

/// An accepted connection, with TLS or without.
#[derive(Debug)]
pub struct WebStream {
    kind: Kind,
    caller: Caller,
}

#[derive(Debug)]
enum Kind {
    Tls(Box<TlsStream<Prefixed>>),
    Plain(Prefixed),
}

impl WebStream {
    /// Waits for the first byte and, if that begins a TLS handshake, for its end. The connection's
    /// own time limit bounds the wait.
    ///
    /// # Errors
    /// If the connection ends before that, or the handshake fails.
    pub async fn accept(
        mut connection: AcceptedConnection,
        tls: Option<&WebTls>,
    ) -> io::Result<Self> {
        let caller = connection.caller();
        let first = connection.read_u8().await?;
        let prefixed = Prefixed { first: Some(first), connection };
        let kind = match tls {
            Some(tls) if first == HANDSHAKE => {
                Kind::Tls(Box::new(tls.acceptor.accept(prefixed).await?))
            }
            _ => Kind::Plain(prefixed),
        };
        Ok(Self { kind, caller })
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        matches!(self.kind, Kind::Tls(_))
    }

    /// The connection, to be admitted by an authorised request.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller.clone()
    }

    fn stream(&mut self) -> Pin<&mut dyn ByteStream> {
        let stream: &mut dyn ByteStream = match &mut self.kind {
            Kind::Tls(stream) => &mut **stream,
            Kind::Plain(stream) => stream,
        };
        Pin::new(stream)
    }
}

impl AsyncRead for WebStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().stream().poll_read(context, buffer)
    }
}

impl AsyncWrite for WebStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().stream().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().stream().poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.kind {
            Kind::Tls(stream) => stream.is_write_vectored(),
            Kind::Plain(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream().poll_shutdown(context)
    }
}

/// A connection whose first byte has been read.
#[derive(Debug)]
struct Prefixed {
    /// That byte, until it is read again.
    first: Option<u8>,
    connection: AcceptedConnection,
}

impl AsyncRead for Prefixed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() > 0
            && let Some(first) = self.first.take()
        {
            buffer.put_slice(&[first]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl AsyncWrite for Prefixed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use crate::net::authority::ClusterCertificates;
    use crate::net::security::{Security, TlsFiles};

    #[test]
    fn hosts_in_the_certificate_are_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["coordinator".to_owned(), "*.example.org".to_owned()];
        let files = ClusterCertificates::create(folder.path(), &names).unwrap();
        let tls = TlsFiles { cert: Some(files.node), key: Some(files.node_key), ca: None };
        let web = Security::open(None, &tls).unwrap().web().unwrap().unwrap();
        for host in ["coordinator", "a.example.org", "localhost", "127.0.0.1", "[::1]", "::1"] {
            assert!(web.names(host), "{host}");
        }
        for host in ["", "rebound.example", "a.b.example.org", "10.0.0.1", "[", "a b"] {
            assert!(!web.names(host), "{host}");
        }
        assert!(Security::default().web().unwrap().is_none());
    }
}
