//! Protection of a node and its connections: token, TLS, listeners and clients.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::platform::{ByteStream, Connector, Listener, Platform};
use http::{HeaderMap, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity, Server};
use tower::service_fn;

use crate::net::error::{NetError, reasons};
use crate::net::frames::FrameConnection;
use crate::net::guard::{Attach, Guard, wait};
use crate::net::incoming::{ConnectionLimits, Incoming};
use crate::net::limits;
use crate::net::port::Port;
use crate::net::throttle::Throttle;
use crate::net::token::Token;
use crate::net::validity::valid_until;
use crate::net::web::WebTls;
use crate::v1;

/// A connection to a node that presents the token with every call. Clones share it. It reconnects
/// after a loss.
pub type Connection = InterceptedService<Channel, Attach>;

/// The PEM files that TLS needs.
#[derive(Clone, Debug, Default)]
pub struct TlsFiles {
    /// The node's certificate and the chain to the authority's.
    pub cert: Option<PathBuf>,
    /// The private key of `cert`.
    pub key: Option<PathBuf>,
    /// Certificates of the authority that signs the certificates of all nodes.
    pub ca: Option<PathBuf>,
}

/// Protection of a node's connections. The default has neither token nor TLS, and permits listening
/// on loopback addresses only.
#[derive(Clone, Default)]
pub struct Security {
    token: Option<Token>,
    identity: Option<NodeCertificate>,
    ca: Option<Authority>,
    /// Whether connections beyond this machine may be unencrypted.
    insecure: bool,
    /// Makes connections for the clients; `None` for TCP.
    connector: Option<Connector>,
    /// When each certificate expires, with its file.
    ends: Vec<(PathBuf, SystemTime)>,
    /// Wrong tokens that were presented to this node.
    throttle: Arc<Throttle>,
}

/// A node warns at its start of certificates that expire within this time.
const WARNING: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The node's own certificate and key.
#[derive(Clone)]
struct NodeCertificate {
    identity: Identity,
    /// The same certificate with its chain, and the key.
    chain: Arc<[CertificateDer<'static>]>,
    key: Arc<PrivateKeyDer<'static>>,
    /// The certificate's file, for messages.
    path: PathBuf,
}

/// The cluster's authority.
#[derive(Clone)]
struct Authority {
    certificate: Certificate,
    /// The same.
    roots: Arc<RootCertStore>,
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Security")
            .field("token", &self.token)
            .field("identity", &self.identity.as_ref().map(|own| &own.path))
            .field("ca", &self.ca.is_some())
            .field("insecure", &self.insecure)
            .finish()
    }
}

impl Security {
    /// Reads the files for TLS and checks that they can be used.
    ///
    /// # Errors
    /// [`NetError::TlsFlags`] for a certificate without a key or a key without a certificate,
    /// [`NetError::File`] for a file that cannot be read, [`NetError::Tls`] for a file without
    /// usable content.
    pub fn open(token: Option<Token>, tls: &TlsFiles) -> Result<Self, NetError> {
        let identity = match (&tls.cert, &tls.key) {
            (Some(cert), Some(key)) => Some(read_identity(cert, key)?),
            (Some(_), None) => {
                return Err(NetError::TlsFlags { given: "`tls_cert`", missing: "`tls_key`" });
            }
            (None, Some(_)) => {
                return Err(NetError::TlsFlags { given: "`tls_key`", missing: "`tls_cert`" });
            }
            (None, None) => None,
        };
        let authority = tls.ca.as_deref().map(read_authority).transpose()?;
        let (ca, authorities) = authority.unzip();
        let own = identity.iter().flat_map(|own| ends(&own.path, &own.chain));
        let of_ca = tls.ca.iter().zip(&authorities).flat_map(|(path, roots)| ends(path, roots));
        let ends = own.chain(of_ca).collect();
        let security = Self {
            token,
            identity,
            ca,
            insecure: false,
            connector: None,
            ends,
            throttle: Arc::default(),
        };
        if security.identity.is_some() {
            // Detects a key that does not match the certificate, already at start-up.
            security.check_server()?;
        }
        Ok(security)
    }

    /// Permits or forbids unencrypted connections beyond this machine. The default forbids them.
    #[must_use]
    pub fn insecure(self, insecure: bool) -> Self {
        Self { insecure, ..self }
    }

    /// Makes connections with the connector of a platform.
    #[must_use]
    pub fn on(self, platform: &dyn Platform) -> Self {
        Self { connector: platform.connector(), ..self }
    }

    /// Checks that listening on an address is safe. Without a token, everyone who can connect can
    /// give orders and read the files of jobs. Without TLS, everyone on the network can read the
    /// token.
    ///
    /// # Errors
    /// If other machines can reach the address: [`NetError::NoToken`] without a token,
    /// [`NetError::PlaintextListener`] without a certificate unless [`Self::insecure`] permits it.
    pub fn check_listen(&self, addr: SocketAddr) -> Result<(), NetError> {
        if is_local(addr.ip()) {
            return Ok(());
        }
        if self.token.is_none() {
            return Err(NetError::NoToken { addr });
        }
        if self.identity.is_none() && !self.insecure {
            return Err(NetError::PlaintextListener { addr });
        }
        Ok(())
    }

    /// Checks that a URL can be used, and that a connection to it would not send the token
    /// unencrypted beyond this machine. Every connection is checked; nodes also check their URLs at
    /// start-up.
    ///
    /// # Errors
    /// [`NetError::Url`] if the URL cannot be used, [`NetError::PlaintextToken`] if it has the
    /// scheme `http`, its host is neither `localhost` nor a loopback address, there is a token and
    /// [`Self::insecure`] does not permit it.
    pub fn check_url(&self, url: &str) -> Result<(), NetError> {
        self.parse(url).map(drop)
    }

    fn parse(&self, url: &str) -> Result<Uri, NetError> {
        let uri = parse_url(url)?;
        let encrypted = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
        if !encrypted && self.token.is_some() && !self.insecure && !is_local_host(&uri) {
            return Err(NetError::PlaintextToken { url: url.to_owned() });
        }
        Ok(uri)
    }

    /// Logs which protection a listener on an address lacks. `tls` is true for a listener that can
    /// use a certificate.
    pub fn log_listen(&self, addr: SocketAddr, tls: bool) {
        if self.token.is_none() {
            tracing::warn!(%addr, "no token: every user of this machine can give orders here");
        } else if !is_local(addr.ip()) && self.identity.is_none() {
            tracing::warn!(%addr, "insecure: traffic is not encrypted, and neither is the token");
        } else if !is_local(addr.ip()) && !tls {
            tracing::info!(%addr, "HTTP traffic is not encrypted, and neither is the token in it");
        }
    }

    /// Logs which certificates have expired at the time `now`, or will within 30 days. Connections
    /// that use an expired certificate fail.
    pub fn log_certificates(&self, now: SystemTime) {
        self.certificate_warnings(now).for_each(|warning| tracing::warn!("{warning}"));
    }

    fn certificate_warnings(&self, now: SystemTime) -> impl Iterator<Item = String> {
        let due = self.ends.iter().filter(move |(_, end)| *end <= now + WARNING);
        due.map(move |(path, end)| {
            let (path, date) = (path.display(), httpdate::fmt_http_date(*end));
            match end.duration_since(now) {
                Ok(left) if !left.is_zero() => {
                    let days = left.as_secs() / (24 * 60 * 60);
                    format!("{path}: the certificate expires in {days} days, on {date}")
                }
                _ => format!("{path}: the certificate has expired, on {date}"),
            }
        })
    }

    /// A server to add services to, for the connections of a [`Self::port`]. Calls have no time limit;
    /// connections whose peer does not answer probes are dropped. Services also need [`Self::guard`].
    #[must_use]
    pub fn server(&self) -> Server {
        Server::builder()
            .http2_keepalive_interval(Some(limits::KEEPALIVE))
            .http2_keepalive_timeout(Some(limits::KEEPALIVE))
            .max_concurrent_streams(limits::STREAMS)
            .max_frame_size(limits::FRAME)
            .initial_stream_window_size(limits::STREAM_WINDOW)
            .initial_connection_window_size(limits::CONNECTION_WINDOW)
    }

    /// The port of a listener. With a certificate its connections are encrypted; with an authority it
    /// admits only clients with a certificate of the authority.
    ///
    /// # Errors
    /// Those of [`Self::check_server`].
    pub fn port(
        &self,
        listener: Box<dyn Listener>,
        limits: ConnectionLimits,
    ) -> Result<Port, NetError> {
        Ok(Port::new(Incoming::new(listener, limits), self.acceptor()?, self.guard()))
    }

    /// Checks that a node with these settings can listen.
    ///
    /// # Errors
    /// [`NetError::TlsFlags`] with an authority but no certificate: the listener would be open to
    /// all. [`NetError::Tls`] if certificate and key do not belong together.
    pub fn check_server(&self) -> Result<(), NetError> {
        self.acceptor().map(drop)
    }

    fn acceptor(&self) -> Result<Option<TlsAcceptor>, NetError> {
        let Some(own) = &self.identity else {
            if self.ca.is_some() {
                let missing = "`tls_cert` and `tls_key` to listen";
                return Err(NetError::TlsFlags { given: "`tls_ca`", missing });
            }
            return Ok(None);
        };
        let config = server_tls(own, self.ca.as_ref());
        let config = config.map_err(|error| NetError::tls(&own.path, reasons(&*error)))?;
        Ok(Some(TlsAcceptor::from(Arc::new(config))))
    }

    /// TLS for an HTTP listener; it does not ask for client certificates. `None` if the node has no
    /// certificate.
    ///
    /// # Errors
    /// [`NetError::Tls`] if certificate and key do not belong together.
    pub fn web(&self) -> Result<Option<WebTls>, NetError> {
        let Some(own) = &self.identity else { return Ok(None) };
        let web = WebTls::new(&own.chain, &own.key);
        web.map(Some).map_err(|error| NetError::tls(&own.path, reasons(&error)))
    }

    /// Whether callers must present a token.
    #[must_use]
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// The layer that checks the token before every call.
    #[must_use]
    pub fn guard(&self) -> Guard {
        Guard::new(self.token.clone(), Arc::clone(&self.throttle))
    }

    /// Whether a request over plain HTTP is authorised: it presents the token, or there is none.
    #[must_use]
    pub fn authorized(&self, headers: &HeaderMap) -> bool {
        self.guard().check(headers).is_ok()
    }

    /// Like [`Self::authorized`], but delays the refusal of a wrong token if many came from the
    /// network of `from`. The right token is always admitted at once.
    pub async fn admits(&self, headers: &HeaderMap, from: IpAddr) -> bool {
        match self.guard().check(headers) {
            Ok(()) => true,
            Err(refusal) => {
                wait(refusal.delay(&self.throttle, Some(from))).await;
                false
            }
        }
    }

    /// The wrong tokens that were presented to this node.
    #[must_use]
    pub fn throttle(&self) -> &Throttle {
        &self.throttle
    }

    /// Connects to a node at an `http://` or `https://` URL.
    ///
    /// # Errors
    /// Those of [`Self::check_url`], and [`NetError::Unreachable`] without a connection within 5
    /// seconds.
    pub async fn connect(&self, url: &str) -> Result<Connection, NetError> {
        let endpoint = self.endpoint(url)?;
        let connecting = async {
            let Some(connector) = self.connector.clone() else { return endpoint.connect().await };
            let connect = service_fn(move |uri: Uri| {
                let stream = connector(uri);
                async { stream.await.map(TokioIo::new) }
            });
            endpoint.connect_with_connector(connect).await
        };
        let connected = tokio::time::timeout(limits::CONNECT, connecting).await;
        let channel = connected
            .map_err(|_| NetError::unreachable(url, format!("no answer in {:?}", limits::CONNECT)))?
            .map_err(|error| NetError::unreachable(url, reasons(&error)))?;
        Ok(InterceptedService::new(channel, Attach::new(self.token.as_ref())))
    }

    /// A connection like that of [`Self::connect`], made by the first call.
    ///
    /// # Errors
    /// Those of [`Self::check_url`].
    ///
    /// # Panics
    /// Outside a Tokio runtime.
    pub fn connect_lazy(&self, url: &str) -> Result<Connection, NetError> {
        let channel = self.endpoint(url)?.connect_lazy();
        Ok(InterceptedService::new(channel, Attach::new(self.token.as_ref())))
    }

    /// Connects to a worker at an `http://` or `https://` URL, for frames. The token is part of the
    /// greeting.
    ///
    /// # Errors
    /// Those of [`Self::connect`].
    pub async fn connect_frames(&self, url: &str) -> Result<FrameConnection, NetError> {
        let uri = self.parse(url)?;
        let tls = self.client_tls(&uri)?;
        let connecting = async {
            let host = uri.host().unwrap_or_default();
            let host =
                host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
            let stream: Box<dyn ByteStream> = match &self.connector {
                Some(connector) => connector(uri.clone()).await?,
                None => {
                    let port = uri.port_u16().unwrap_or(if tls.is_some() { 443 } else { 80 });
                    let stream = TcpStream::connect((host, port)).await?;
                    stream.set_nodelay(true)?;
                    Box::new(stream)
                }
            };
            let Some(tls) = &tls else { return Ok(stream) };
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            let stream: Box<dyn ByteStream> = Box::new(tls.connect(name, stream).await?);
            Ok(stream)
        };
        let connected = tokio::time::timeout(limits::CONNECT, connecting).await;
        let stream = connected
            .map_err(|_| NetError::unreachable(url, format!("no answer in {:?}", limits::CONNECT)))?
            .map_err(|error: io::Error| NetError::unreachable(url, reasons(&error)))?;
        let mut connection = FrameConnection::new(stream);
        let token = self.token.as_ref().map_or("", Token::secret).to_owned();
        connection.writer.begin();
        connection.writer.add(&v1::Greeting { token });
        let sent = connection.writer.send().await;
        sent.map_err(|error| NetError::unreachable(url, reasons(&error)))?;
        Ok(connection)
    }

    /// TLS for connections to an `https://` URL.
    fn client_tls(&self, uri: &Uri) -> Result<Option<TlsConnector>, NetError> {
        if uri.scheme() != Some(&http::uri::Scheme::HTTPS) {
            return Ok(None);
        }
        let ca = self.authority(&uri.to_string())?;
        let config = client_tls(self.identity.as_ref(), ca);
        let config = config.map_err(|error| NetError::url(&uri.to_string(), reasons(&*error)))?;
        Ok(Some(TlsConnector::from(Arc::new(config))))
    }

    /// The authority, which connections to a URL need.
    fn authority(&self, url: &str) -> Result<&Authority, NetError> {
        let why = "https needs the certificate of the cluster's authority: give `tls_ca`";
        self.ca.as_ref().ok_or_else(|| NetError::url(url, why))
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, NetError> {
        let uri = self.parse(url)?;
        let encrypted = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
        let endpoint = Endpoint::from(uri)
            .connect_timeout(limits::CONNECT)
            .tcp_nodelay(true)
            .tcp_keepalive(Some(limits::KEEPALIVE))
            .http2_keep_alive_interval(limits::KEEPALIVE)
            .keep_alive_timeout(limits::KEEPALIVE)
            .keep_alive_while_idle(true)
            .max_frame_size(limits::FRAME)
            .initial_stream_window_size(limits::STREAM_WINDOW)
            .initial_connection_window_size(limits::CONNECTION_WINDOW);
        if !encrypted {
            return Ok(endpoint);
        }
        let ca = self.authority(url)?.certificate.clone();
        let mut tls = ClientTlsConfig::new().ca_certificate(ca).timeout(limits::CONNECT);
        if let Some(own) = &self.identity {
            tls = tls.identity(own.identity.clone());
        }
        endpoint.tls_config(tls).map_err(|error| NetError::url(url, reasons(&error)))
    }
}

/// Whether an address is a loopback address, which only this machine reaches. `::ffff:127.0.0.1`
/// counts as IPv4.
fn is_local(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Whether a URL's host is `localhost` or a loopback address. Other names are not looked up,
/// because the answer may be forged.
fn is_local_host(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse().is_ok_and(is_local)
}

fn parse_url(url: &str) -> Result<Uri, NetError> {
    let uri: Uri = url.parse().map_err(|error| NetError::url(url, reasons(&error)))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(NetError::url(url, "it must begin with http:// or https://"));
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if let Some((_, host)) = authority.rsplit_once('@') {
        // The part before the host may hold a password, so the message omits it.
        return Err(NetError::url(host, "it must not name a user"));
    }
    let host = uri.host().unwrap_or_default();
    if host.is_empty() {
        return Err(NetError::url(url, "it names no host"));
    }
    if authority.len() > host.len() && uri.port_u16().is_none_or(|port| port == 0) {
        return Err(NetError::url(url, "the port is not from 1 to 65535"));
    }
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(NetError::url(url, "nothing may follow host and port"));
    }
    Ok(uri)
}

fn read_pem(path: &Path) -> Result<Vec<u8>, NetError> {
    strata_store::read_input(path, limits::PEM_BYTES).map_err(NetError::file(path))
}

fn read_identity(cert: &Path, key: &Path) -> Result<NodeCertificate, NetError> {
    let chain = read_pem(cert)?;
    let certificates = read_certificates(cert, &chain)?;
    let secret = read_pem(key)?;
    let parsed = PrivateKeyDer::from_pem_slice(&secret)
        .map_err(|_| NetError::tls(key, "it has no unencrypted private key in PEM format"))?;
    Ok(NodeCertificate {
        identity: Identity::from_pem(chain, secret),
        chain: certificates.into(),
        key: Arc::new(parsed),
        path: cert.to_path_buf(),
    })
}

fn read_authority(path: &Path) -> Result<(Authority, Vec<CertificateDer<'static>>), NetError> {
    let pem = read_pem(path)?;
    let mut roots = RootCertStore::empty();
    let certificates = read_certificates(path, &pem)?;
    for certificate in &certificates {
        // Building the TLS configuration would skip an unusable one silently.
        let added = roots.add(certificate.clone());
        added.map_err(|error| NetError::tls(path, reasons(&error)))?;
    }
    let authority = Authority { certificate: Certificate::from_pem(pem), roots: Arc::new(roots) };
    Ok((authority, certificates))
}

type TlsResult<T> = Result<T, Box<dyn std::error::Error>>;

fn server_tls(own: &NodeCertificate, ca: Option<&Authority>) -> TlsResult<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let config = match ca {
        Some(Authority { roots, .. }) => {
            let roots = Arc::clone(roots);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build()?;
            config.with_client_cert_verifier(verifier)
        }
        None => config.with_no_client_auth(),
    };
    let mut config = config.with_single_cert(own.chain.to_vec(), own.key.clone_key())?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

fn client_tls(own: Option<&NodeCertificate>, ca: &Authority) -> TlsResult<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(Arc::clone(&ca.roots));
    Ok(match own {
        Some(own) => config.with_client_auth_cert(own.chain.to_vec(), own.key.clone_key())?,
        None => config.with_no_client_auth(),
    })
}

/// When each certificate of a file expires.
fn ends<'a>(
    path: &'a Path,
    certificates: &'a [CertificateDer<'static>],
) -> impl Iterator<Item = (PathBuf, SystemTime)> + 'a {
    certificates.iter().filter_map(|certificate| Some((path.to_owned(), valid_until(certificate)?)))
}

fn read_certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(NetError::tls(path, "it has no certificate in PEM format")),
    }
}

#[cfg(test)]
mod tests;
