//! Tests of authentication over real connections in one process: tokens and certificates that are
//! accepted or refused.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use strata_proto::net::{
    ClusterCertificates, ConnectionLimits, FrameConnection, NetError, Security, TlsFiles, Token,
    health, limits,
};
use strata_proto::v1;
use strata_proto::v1::refusal::Reason;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::Code;
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::HealthService;

const SECRET: &str = "correct-horse-battery-staple";
const TIMEOUT: Duration = Duration::from_secs(20);

fn token(folder: &Path, secret: &str) -> Token {
    let path = folder.join("token");
    fs::write(&path, secret).unwrap();
    Token::read(&path).unwrap()
}

fn plain(secret: Option<&str>) -> Security {
    let folder = tempfile::tempdir().unwrap();
    let token = secret.map(|secret| token(folder.path(), secret));
    Security::open(token, &TlsFiles::default()).unwrap()
}

/// A node that serves the health service and nothing else.
struct Node {
    addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Node {
    async fn start(security: &Security) -> Node {
        Self::start_as(security, ServingStatus::Serving).await
    }

    async fn start_as(security: &Security, status: ServingStatus) -> Node {
        Self::start_at("127.0.0.1:0".parse().unwrap(), security, status).await
    }

    async fn start_at(addr: SocketAddr, security: &Security, status: ServingStatus) -> Node {
        let (reporter, _) = tonic_health::server::health_reporter();
        reporter.set_service_status("", status).await;
        let service = HealthServer::new(HealthService::from_health_reporter(reporter))
            .max_decoding_message_size(limits::MESSAGE_BYTES);
        let listener = TcpListener::bind(addr).await.unwrap();
        let addr = listener.local_addr().unwrap();
        security.check_listen(addr).unwrap();
        let router = security.server().layer(security.guard()).add_service(service);
        let (stop, stopped) = oneshot::channel::<()>();
        let port = security.port(Box::new(listener), ConnectionLimits::grpc()).unwrap();
        let task = tokio::spawn(async move {
            // Echoes the batches of connections of frames as receipts.
            let (port, mut frames) = port.with_frames();
            tokio::spawn(async move {
                while let Some(mut connection) = frames.recv().await {
                    let batch = connection.reader.next::<v1::Batch>(100).await.unwrap();
                    connection.writer.add(&receipt(batch.sequence));
                    connection.writer.send().await.unwrap();
                }
            });
            let stopped = async move { drop(stopped.await) };
            router.serve_with_incoming_shutdown(port, stopped).await.unwrap();
        });
        Node { addr, stop, task }
    }

    /// Stops the node and closes its connections.
    async fn stop(self) {
        drop(self.stop);
        self.task.await.unwrap();
    }

    fn http(&self) -> String {
        format!("http://{}", self.addr)
    }

    fn https(&self) -> String {
        format!("https://localhost:{}", self.addr.port())
    }
}

fn receipt(sequence: u64) -> v1::Reply {
    v1::Reply { sequence, refusal: None }
}

/// Sends a batch over a connection of frames. Returns the answers to greeting and batch.
async fn exchange(url: &str, security: &Security) -> Result<[v1::Reply; 2], String> {
    let connection = security.connect_frames(url).await.map_err(|error| error.to_string())?;
    let FrameConnection { mut reader, mut writer } = connection;
    let welcome: v1::Reply = reader.next(1000).await.map_err(|error| error.to_string())?;
    if let Some(refusal) = welcome.refusal {
        assert_eq!(refusal.reason(), Reason::Unauthenticated);
        return Err(refusal.message);
    }
    writer.add(&v1::Batch { sequence: 7, ..v1::Batch::default() });
    writer.send().await.unwrap();
    Ok([welcome, reader.next(1000).await.unwrap()])
}

#[tokio::test]
async fn frames_need_the_token_and_the_certificate_as_calls_do() {
    let answers = Ok([receipt(0), receipt(7)]);
    let node = Node::start(&plain(Some(SECRET))).await;
    assert_eq!(exchange(&node.http(), &plain(Some(SECRET))).await, answers);
    assert_eq!(exchange(&node.http(), &plain(None)).await, Err("no token".to_owned()));
    let wrong = plain(Some("another-horse-battery"));
    assert_eq!(exchange(&node.http(), &wrong).await, Err("wrong token".to_owned()));
    let open = Node::start(&plain(None)).await;
    assert_eq!(exchange(&open.http(), &plain(Some(SECRET))).await, answers);

    let authority = Authority::new();
    let node = Node::start(&authority.security(Some("node"), true)).await;
    let url = node.https();
    assert_eq!(exchange(&url, &authority.security(Some("node"), true)).await, answers);
    // Calls and frames share the port.
    health(&url, &authority.security(Some("node"), true), TIMEOUT).await.unwrap();
    let without = exchange(&url, &authority.security(None, true)).await.unwrap_err();
    assert!(without.contains("the node requires a certificate"), "{without}");
    let stranger = Authority::new();
    let other = exchange(&url, &stranger.security(Some("node"), true)).await.unwrap_err();
    assert!(other.contains("has not signed the node's certificate"), "{other}");
    let plaintext = exchange(&node.http(), &plain(Some(SECRET))).await.unwrap_err();
    assert!(!plaintext.is_empty());
    let missing = exchange(&url, &plain(Some(SECRET))).await.unwrap_err();
    assert!(missing.contains("give `tls_ca`"), "{missing}");
}

/// The error of a health check that the node refuses.
async fn refusal(url: &str, security: &Security) -> String {
    let error = health(url, security, TIMEOUT).await.unwrap_err();
    assert!(matches!(&error, NetError::Refused { url: named, .. } if named == url), "{error:?}");
    error.to_string()
}

/// The error of a health check that cannot reach the node.
async fn unreachable_error(url: &str, security: &Security) -> String {
    let error = health(url, security, TIMEOUT).await.unwrap_err();
    assert!(
        matches!(&error, NetError::Unreachable { url: named, .. } if named == url),
        "{error:?}"
    );
    error.to_string()
}

#[tokio::test]
async fn only_the_right_token_is_accepted() {
    let node = Node::start(&plain(Some(SECRET))).await;
    let url = node.http();
    health(&url, &plain(Some(SECRET)), TIMEOUT).await.unwrap();
    assert!(refusal(&url, &plain(None)).await.ends_with("refuses: no token"));
    let wrong = plain(Some("another-token-another"));
    let text = refusal(&url, &wrong).await;
    assert!(text.ends_with("refuses: wrong token") && !text.contains("another"), "{text}");

    // Each call presents the token, also over a connection made by the first call.
    let lazy = plain(Some(SECRET)).connect_lazy(&url).unwrap();
    let mut client = HealthClient::new(lazy);
    for _ in 0..3 {
        client.check(HealthCheckRequest { service: String::new() }).await.unwrap();
    }
    let mut stream =
        client.watch(HealthCheckRequest { service: String::new() }).await.unwrap().into_inner();
    assert!(stream.message().await.unwrap().is_some());
    let mut stranger = HealthClient::new(plain(None).connect(&url).await.unwrap());
    let refused = stranger.watch(HealthCheckRequest { service: String::new() }).await;
    assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_node_without_a_token_accepts_all_clients() {
    let node = Node::start(&plain(None)).await;
    health(&node.http(), &plain(None), TIMEOUT).await.unwrap();
    health(&node.http(), &plain(Some(SECRET)), TIMEOUT).await.unwrap();
}

#[tokio::test]
async fn a_node_that_does_not_serve_is_not_healthy() {
    let node = Node::start_as(&plain(None), ServingStatus::NotServing).await;
    assert!(refusal(&node.http(), &plain(None)).await.contains("does not serve"));
}

#[tokio::test]
async fn an_unreachable_node_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // A listener that accepts connections and never answers.
    let started = Instant::now();
    let short = Duration::from_millis(300);
    let error = health(&url, &plain(None), short).await.unwrap_err();
    assert!(error.to_string().contains("no answer within 300ms"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(3));
    drop(listener);
    assert!(unreachable_error(&url, &plain(None)).await.contains("refused"));
    let unknown = plain(None).connect("http://no-such-host.invalid:7070").await;
    assert!(matches!(unknown, Err(NetError::Unreachable { .. })));
}

#[tokio::test]
async fn oversize_messages_are_refused() {
    let node = Node::start(&plain(Some(SECRET))).await;
    let connection = plain(Some(SECRET)).connect(&node.http()).await.unwrap();
    let mut client = HealthClient::new(connection);
    let long = |len| HealthCheckRequest { service: "x".repeat(len) };
    // The message is accepted, but the service does not exist.
    let accepted = client.check(long(limits::MESSAGE_BYTES - 100)).await;
    assert_eq!(accepted.unwrap_err().code(), Code::NotFound);
    let refused = client.check(long(limits::MESSAGE_BYTES)).await.unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange, "{refused:?}");
    // The connection stays usable.
    client.check(HealthCheckRequest { service: String::new() }).await.unwrap();
}

#[tokio::test]
async fn a_connection_reconnects_to_a_restarted_node() {
    let security = plain(Some(SECRET));
    let node = Node::start(&security).await;
    let addr = node.addr;
    let mut client = HealthClient::new(security.connect(&node.http()).await.unwrap());
    let whole = || HealthCheckRequest { service: String::new() };
    client.check(whole()).await.unwrap();
    node.stop().await;
    assert_eq!(client.check(whole()).await.unwrap_err().code(), Code::Unavailable);
    let _node = Node::start_at(addr, &security, ServingStatus::Serving).await;
    let end = Instant::now() + TIMEOUT;
    while let Err(status) = client.check(whole()).await {
        assert!(Instant::now() < end, "{status:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A certificate authority, and the PEM files of a cluster's nodes and clients.
struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { folder, issuer }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes NAME.pem and NAME.key for a member that is reached at `localhost`.
    fn member(&self, name: &str) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (cert_path, key_path) =
            (self.path(&format!("{name}.pem")), self.path(&format!("{name}.key")));
        fs::write(&cert_path, certificate.pem()).unwrap();
        fs::write(&key_path, key.serialize_pem()).unwrap();
        (cert_path, key_path)
    }

    /// Security of the node with this name, or of a client without a certificate for `None`.
    fn security(&self, member: Option<&str>, with_ca: bool) -> Security {
        let (cert, key) = member.map(|name| self.member(name)).unzip();
        let ca = with_ca.then(|| self.path("ca.pem"));
        let token = token(self.folder.path(), SECRET);
        Security::open(Some(token), &TlsFiles { cert, key, ca }).unwrap()
    }
}

#[tokio::test]
async fn a_client_needs_the_authority_to_reach_an_encrypted_node() {
    let authority = Authority::new();
    let node = Node::start(&authority.security(Some("node"), false)).await;
    health(&node.https(), &authority.security(None, true), TIMEOUT).await.unwrap();

    let text = unreachable_error(&node.https(), &Authority::new().security(None, true)).await;
    assert!(text.contains("certificate"), "{text}");
    // The certificate is for another name.
    let other = format!("https://127.0.0.1:{}", node.addr.port());
    assert!(
        unreachable_error(&other, &authority.security(None, true)).await.contains("certificate")
    );
    // Not encrypted at all. The node's alert may be lost with the connection.
    let text = unreachable_error(&node.http(), &authority.security(None, true)).await;
    let is_alert = text.contains("frame with invalid size") || text.contains("FRAME_SIZE_ERROR");
    let hint = "the node may use TLS: then its URL begins with https://";
    assert_eq!(text.contains(hint), is_alert, "{text}");
    let open = Node::start(&plain(Some(SECRET))).await;
    let text = unreachable_error(&open.https(), &authority.security(None, true)).await;
    assert!(text.contains("the node may not use TLS: then its URL begins with http://"), "{text}");
    // Without an authority the client does not try to connect.
    let error = health(&node.https(), &plain(Some(SECRET)), TIMEOUT).await.unwrap_err();
    assert!(error.to_string().contains("`tls_ca`"), "{error}");

    // A certificate does not replace the token.
    let tls = TlsFiles { ca: Some(authority.path("ca.pem")), ..TlsFiles::default() };
    let stranger = Security::open(None, &tls).unwrap();
    assert!(refusal(&node.https(), &stranger).await.ends_with("no token"));
}

#[tokio::test]
async fn with_an_authority_clients_need_certificates_too() {
    let authority = Authority::new();
    let node = Node::start(&authority.security(Some("node"), true)).await;
    health(&node.https(), &authority.security(Some("worker"), true), TIMEOUT).await.unwrap();

    unreachable_error(&node.https(), &authority.security(None, true)).await;
    // The client's certificate is from another authority than the node's.
    let (cert, key) = Authority::new().security_files();
    let tls = TlsFiles { cert: Some(cert), key: Some(key), ca: Some(authority.path("ca.pem")) };
    let intruder = Security::open(Some(token(authority.folder.path(), SECRET)), &tls).unwrap();
    unreachable_error(&node.https(), &intruder).await;
}

#[tokio::test]
async fn created_certificates_serve_nodes_and_clients() {
    let folder = tempfile::tempdir().unwrap();
    let files = ClusterCertificates::create(folder.path(), &[]).unwrap();
    let open = |cert: &PathBuf, key: &PathBuf| {
        let (cert, key, ca) = (Some(cert.clone()), Some(key.clone()), Some(files.ca.clone()));
        Security::open(Some(token(folder.path(), SECRET)), &TlsFiles { cert, key, ca }).unwrap()
    };
    let (own, client) =
        (open(&files.node, &files.node_key), open(&files.client, &files.client_key));
    let node = Node::start(&own).await;
    for caller in [&own, &client] {
        health(&node.https(), caller, TIMEOUT).await.unwrap();
        let address = format!("https://127.0.0.1:{}", node.addr.port());
        health(&address, caller, TIMEOUT).await.unwrap();
    }
    // A holder of the client's certificate cannot pose as a node.
    let posing = Node::start(&client).await;
    assert!(unreachable_error(&posing.https(), &own).await.contains("certificate"));
}

impl Authority {
    /// The files of a member, which outlive the authority.
    fn security_files(self) -> (PathBuf, PathBuf) {
        let files = self.member("member");
        let _ = self.folder.keep();
        files
    }
}

#[tokio::test]
async fn idle_connections_do_not_delay_other_clients() {
    let authority = Authority::new();
    let node = Node::start(&authority.security(Some("node"), false)).await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(tokio::net::TcpStream::connect(node.addr).await.unwrap());
    }
    let started = Instant::now();
    health(&node.https(), &authority.security(None, true), TIMEOUT).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn errors_name_unusable_files() {
    let authority = Authority::new();
    let (cert, key) = authority.member("one");
    let (_, other_key) = authority.member("two");
    let garbage = authority.path("garbage");
    fs::write(&garbage, "no PEM").unwrap();
    let invalid = authority.path("invalid");
    fs::write(&invalid, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let missing = authority.path("missing");
    let open = |cert: Option<&PathBuf>, key: Option<&PathBuf>, ca: Option<&PathBuf>| {
        let tls = TlsFiles { cert: cert.cloned(), key: key.cloned(), ca: ca.cloned() };
        Security::open(None, &tls).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(open(Some(&cert), Some(&key), Some(&authority.path("ca.pem"))), Ok(()));
    let halves = [(open(Some(&cert), None, None)), open(None, Some(&key), None)];
    for half in halves {
        let text = half.unwrap_err();
        assert!(text.contains("`tls_cert`") && text.contains("`tls_key`"), "{text}");
    }
    let blamed = [
        (open(Some(&garbage), Some(&key), None), &garbage),
        (open(Some(&cert), Some(&garbage), None), &garbage),
        (open(Some(&cert), Some(&cert), None), &cert),
        (open(None, None, Some(&garbage)), &garbage),
        (open(None, None, Some(&key)), &key),
        (open(None, None, Some(&invalid)), &invalid),
        (open(Some(&invalid), Some(&key), None), &invalid),
        (open(Some(&cert), Some(&other_key), None), &cert),
        (open(Some(&missing), Some(&key), None), &missing),
        (open(Some(&cert), Some(&missing), None), &missing),
        (open(None, None, Some(&missing)), &missing),
    ];
    for (outcome, path) in blamed {
        let text = outcome.unwrap_err();
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
}

#[test]
fn an_authority_without_a_certificate_does_not_open_a_listener() {
    let authority = Authority::new();
    let error = authority.security(None, true).check_server().unwrap_err().to_string();
    for setting in ["`tls_ca`", "`tls_cert`", "`tls_key`"] {
        assert!(error.contains(setting), "{error}");
    }
}

#[test]
fn debug_output_shows_no_secret() {
    let authority = Authority::new();
    let security = authority.security(Some("node"), true);
    let key = fs::read_to_string(authority.path("node.key")).unwrap();
    let shown = format!("{security:?} {:?} {:?}", security.guard(), security.server());
    let line = key.lines().nth(1).unwrap();
    assert!(!shown.contains(SECRET) && !shown.contains(line), "{shown}");
    let bytes = format!("{:?}", line.as_bytes());
    assert!(!shown.contains(bytes.trim_matches(['[', ']'])), "{shown}");
}
