//! Connections of browsers and metrics collectors: HTTPS and plain HTTP on one port.
//!
//! A browser has no client certificate, so the server requests none. The first byte of a connection
//! tells TLS from plain HTTP. Health checks use plain HTTP.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use tokio::io::AsyncReadExt;
use tokio_rustls::TlsAcceptor;

use crate::net::accepted_stream::AcceptedStream;
use crate::net::incoming::AcceptedConnection;

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

/// Waits for the first byte of a connection and, if that begins a TLS handshake and there is TLS, for its
/// end. The connection's own time limit bounds the wait.
///
/// # Errors
/// If the connection ends before that, or the handshake fails.
pub async fn accept_web(
    connection: AcceptedConnection,
    tls: Option<&WebTls>,
) -> io::Result<AcceptedStream> {
    let mut stream = AcceptedStream::plain(connection);
    let first = stream.read_u8().await?;
    stream.unread(&[first]);
    match tls.filter(|_| first == HANDSHAKE) {
        Some(tls) => stream.encrypted(&tls.acceptor).await,
        None => Ok(stream),
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
