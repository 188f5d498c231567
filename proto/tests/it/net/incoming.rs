//! Tests that connections without an authorised call are closed: silent, slow and surplus ones.

use std::fs;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use strata_proto::net::{Connection, ConnectionLimits, Security, TlsFiles, Token, health};
use strata_proto::platform::{ByteStream, Listener};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

const FIRST_CALL: Duration = Duration::from_millis(400);
const TIMEOUT: Duration = Duration::from_secs(20);

/// What every client of HTTP/2 sends first, with empty settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A frame that begins the headers of call 1 and promises 16,000 bytes of them.
const HEADERS: &[u8] = b"\0\x3e\x80\x01\x04\0\0\0\x01";

fn limits(unauthorized: usize, total: usize) -> ConnectionLimits {
    ConnectionLimits { first_call: FIRST_CALL, unauthorized, total }
}

fn security(tls: &TlsFiles) -> Security {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, "correct-horse-battery-staple").unwrap();
    Security::open(Some(Token::read(&path).unwrap()), tls).unwrap()
}

/// A listener that counts the connections.
#[derive(Debug)]
struct Counted {
    listener: TcpListener,
    counter: Arc<AtomicUsize>,
}

impl Listener for Counted {
    fn poll_accept(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<(Box<dyn ByteStream>, SocketAddr)>> {
        let accepted = Listener::poll_accept(&mut self.listener, context);
        if accepted.is_ready() {
            self.counter.fetch_add(1, Ordering::Relaxed);
        }
        accepted
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A server of health checks, and the number of connections that it has accepted.
struct Node {
    addr: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl Node {
    async fn start(security: &Security, limits: ConnectionLimits) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&accepted);
        let port = security.port(Box::new(Counted { listener, counter }), limits).unwrap();
        let (_, service) = tonic_health::server::health_reporter();
        let router = security.server().layer(security.guard()).add_service(service);
        tokio::spawn(router.serve_with_incoming(port));
        Node { addr, accepted }
    }

    fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    async fn connect(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }
}

/// Waits until the other end closes a connection, while it sends a byte every 20 ms if it is slow.
async fn closed_after(mut stream: TcpStream, is_slow: bool) -> Duration {
    let begun = Instant::now();
    let mut answer = [0; 256];
    loop {
        assert!(begun.elapsed() < TIMEOUT, "the connection stays open");
        let pause = Duration::from_millis(20);
        match tokio::time::timeout(pause, stream.read(&mut answer)).await {
            Ok(Ok(0) | Err(_)) => return begun.elapsed(),
            Ok(Ok(_)) => {}
            Err(_) if is_slow => drop(stream.write_all(&[0x40]).await),
            Err(_) => {}
        }
    }
}

/// Whether the other end keeps a connection open for 50 ms.
async fn is_open(stream: &mut TcpStream) -> bool {
    let mut answer = Vec::new();
    let pause = Duration::from_millis(50);
    tokio::time::timeout(pause, stream.read_to_end(&mut answer)).await.is_err()
}

async fn check(client: &mut HealthClient<Connection>) -> Result<(), tonic::Status> {
    client.check(HealthCheckRequest { service: String::new() }).await.map(drop)
}

#[tokio::test]
async fn connections_without_a_call_are_closed() {
    let node = Node::start(&security(&TlsFiles::default()), limits(100, 100)).await;
    let headers = [PREFACE, HEADERS].concat();
    let cases = [
        (&b""[..], false),
        (&PREFACE[..10], false),
        (PREFACE, false),
        (&headers, false),
        (&headers, true),
    ];
    for (bytes, is_slow) in cases {
        let took = closed_after(node.connect(bytes).await, is_slow).await;
        assert!(took >= FIRST_CALL / 2 && took < FIRST_CALL * 8, "{took:?} after {bytes:?}");
    }
}

#[tokio::test]
async fn a_refused_call_does_not_keep_a_connection_open() {
    let node = Node::start(&security(&TlsFiles::default()), limits(100, 100)).await;
    let stranger = Security::default().connect(&node.url()).await.unwrap();
    let mut client = HealthClient::new(stranger);
    let begun = Instant::now();
    // The client connects again, each time when its connection has been closed.
    while node.accepted() < 3 {
        let _ = check(&mut client).await.unwrap_err();
        assert!(begun.elapsed() < TIMEOUT, "the connection stays open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(begun.elapsed() >= FIRST_CALL * 2);
}

#[tokio::test]
async fn an_idle_connection_with_an_authorised_call_stays_open() {
    let security = security(&TlsFiles::default());
    let node = Node::start(&security, limits(2, 100)).await;
    let mut idle = HealthClient::new(security.connect(&node.url()).await.unwrap());
    let mut watcher = HealthClient::new(security.connect(&node.url()).await.unwrap());
    check(&mut idle).await.unwrap();
    let request = HealthCheckRequest { service: String::new() };
    let mut events = watcher.watch(request).await.unwrap().into_inner();
    assert!(events.message().await.unwrap().is_some());
    // Superfluous connections do not replace them either.
    let mut silent = Vec::new();
    for _ in 0..10 {
        silent.push(node.connect(b"").await);
    }
    let quiet = tokio::time::timeout(FIRST_CALL * 4, events.message()).await;
    assert!(quiet.is_err(), "the watch ended: {quiet:?}");
    check(&mut idle).await.unwrap();
    assert_eq!(node.accepted(), 12);
}

#[tokio::test]
async fn at_the_limit_the_oldest_connections_without_a_call_are_closed() {
    let security = security(&TlsFiles::default());
    let limits = ConnectionLimits { first_call: TIMEOUT * 5, ..limits(4, 100) };
    let node = Node::start(&security, limits).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(node.connect(b"").await);
    }
    let newest = silent.split_off(16);
    for stream in silent {
        closed_after(stream, false).await;
    }
    health(&node.url(), &security, TIMEOUT).await.unwrap();
    let mut open = 0;
    for mut stream in newest {
        open += usize::from(is_open(&mut stream).await);
    }
    // The health check took the place of one.
    assert_eq!(open, 3);
}

#[tokio::test]
async fn connections_over_the_total_are_refused() {
    let security = security(&TlsFiles::default());
    let node = Node::start(&security, limits(4, 2)).await;
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = HealthClient::new(security.connect(&node.url()).await.unwrap());
        check(&mut client).await.unwrap();
        clients.push(client);
    }
    closed_after(node.connect(PREFACE).await, false).await;
    assert!(health(&node.url(), &security, TIMEOUT).await.is_err());
    check(&mut clients[0]).await.unwrap();
    clients.pop();
    // The place is free when the node has seen the end of the connection.
    let begun = Instant::now();
    while health(&node.url(), &security, TIMEOUT).await.is_err() {
        assert!(begun.elapsed() < TIMEOUT, "the place stays taken");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tls_handshake_alone_does_not_keep_a_connection_open() {
    let folder = tempfile::tempdir().unwrap();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.path().join("node.pem"), folder.path().join("node.key"));
    fs::write(&cert, certified.cert.pem()).unwrap();
    fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let tls = TlsFiles { cert: Some(cert.clone()), key: Some(key), ca: None };
    let node = Node::start(&security(&tls), limits(100, 100)).await;
    // Nothing at all.
    closed_after(node.connect(b"").await, false).await;
    // The handshake, and nothing more.
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls::pki_types::CertificateDer::from_pem_file(&cert).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let session = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = std::net::TcpStream::connect(node.addr).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let mut stream = rustls::StreamOwned::new(session, socket);
        stream.write_all(PREFACE).unwrap();
        let begun = Instant::now();
        let mut answer = [0; 256];
        loop {
            match stream.read(&mut answer) {
                Ok(0) | Err(_) => return begun.elapsed(),
                Ok(_) => {}
            }
        }
    });
    let took = ended.await.unwrap();
    assert!(took >= FIRST_CALL / 2 && took < FIRST_CALL * 8, "{took:?}");
    // With a token it stays open.
    let authority = TlsFiles { ca: Some(cert), ..TlsFiles::default() };
    let url = format!("https://localhost:{}", node.addr.port());
    let mut client = HealthClient::new(security(&authority).connect(&url).await.unwrap());
    check(&mut client).await.unwrap();
    let before = node.accepted();
    tokio::time::sleep(FIRST_CALL * 2).await;
    check(&mut client).await.unwrap();
    assert_eq!(node.accepted(), before);
}
