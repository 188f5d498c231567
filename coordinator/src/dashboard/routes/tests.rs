//! Tests of requests over a connection, from a browser and from other programs.

use std::path::Path;

use strata_proto::net::{TlsFiles, Token};
use strata_proto::platform::System;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use super::*;
use crate::dashboard::server::serve;
use crate::dashboard::test_source::TestSource;
use strata_store::LayerRecord;

const SECRET: &str = "correct-horse-battery-staple";

struct TestServer {
    source: Arc<TestSource>,
    port: u16,
    _folder: tempfile::TempDir,
}

/// The answer to a request.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn cookie(&self) -> String {
        let line = self.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        line.split(';').next().unwrap().to_owned()
    }
}

impl TestServer {
    async fn start(token: bool, tls: impl FnOnce(&Path) -> TlsFiles) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, SECRET).unwrap();
        let token = token.then(|| Token::read(&path).unwrap());
        let security = Security::open(token, &tls(folder.path())).unwrap();
        let platform = System::new(&Handle::current());
        let source = Arc::new(TestSource::default());
        let loopback = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let (listener, addr) = strata_proto::net::listen(&*platform, loopback).await.unwrap();
        let web = security.web().unwrap();
        let dashboard = Dashboard {
            source: Arc::clone(&source) as Arc<dyn Source>,
            platform,
            security,
            host_names: Vec::new(),
        };
        tokio::spawn(serve(listener, dashboard.router().unwrap(), web));
        TestServer { source, port: addr.port(), _folder: folder }
    }

    async fn with_token() -> TestServer {
        TestServer::start(true, |_| TlsFiles::default()).await
    }

    async fn send(&self, request: &str, headers: &[&str]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let mut text = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            text += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for header in headers {
            text += &format!("{header}\r\n");
        }
        stream.write_all((text + "\r\n").as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    async fn status(&self, request: &str, headers: &[&str]) -> u16 {
        self.send(request, headers).await.status
    }
}

fn bearer(secret: &str) -> String {
    format!("Authorization: Bearer {secret}")
}

#[tokio::test]
async fn reading_needs_a_session_and_changes_need_the_token() {
    let server = TestServer::with_token().await;
    let own = "X-Strata-Request: 1";
    for path in
        ["live", "live/a", "jobs/a/layers/csv", "jobs/a/solution", "jobs/a/chart/rate/log/dark/640"]
    {
        assert_eq!(server.status(&format!("GET /api/{path}"), &[]).await, 401, "{path}");
    }
    assert_eq!(server.status("POST /api/session", &[&bearer("wrong-horse-battery")]).await, 401);
    assert_eq!(server.status("POST /api/session", &[]).await, 401);
    let signed_in = server.send("POST /api/session", &[&bearer(SECRET)]).await;
    assert_eq!(signed_in.status, 204);
    assert!(signed_in.head.contains("; HttpOnly; SameSite=Strict"), "{}", signed_in.head);
    let cookie = format!("Cookie: {}", signed_in.cookie());
    let state = server.send("GET /api/session", &[&cookie]).await;
    assert_eq!(state.body, "{\"is_signed_in\":true,\"needs_token\":true}");
    assert_eq!(server.status("GET /api/jobs/a/layers/csv", &[&cookie]).await, 200);
    assert_eq!(server.status("GET /api/jobs/a/layers/csv", &[&bearer(SECRET)]).await, 200);
    // The session does not permit changes.
    assert_eq!(server.status("POST /api/jobs/a/cancel", &[&cookie, own]).await, 401);
    assert_eq!(server.status("POST /api/jobs/a/cancel", &[&bearer(SECRET)]).await, 403);
    assert_eq!(server.source.changes(), []);
    for action in ["cancel", "resume", "remove"] {
        let request = format!("POST /api/jobs/a/{action}");
        assert_eq!(server.status(&request, &[&bearer(SECRET), own]).await, 204);
    }
    assert_eq!(server.status("POST /api/jobs/b/cancel", &[&bearer(SECRET), own]).await, 404);
    assert_eq!(server.status("POST /api/jobs/a/other", &[&bearer(SECRET), own]).await, 404);
    assert_eq!(server.source.changes(), [Action::Cancel, Action::Resume, Action::Remove]);
    assert_eq!(server.status("DELETE /api/session", &[&cookie]).await, 204);
    assert_eq!(server.status("GET /api/jobs/a/layers/csv", &[&cookie]).await, 401);
}

#[tokio::test]
async fn wrong_tokens_are_slowed_down() {
    let server = TestServer::with_token().await;
    let mut statuses = Vec::new();
    for _ in 0..10 {
        statuses.push(server.status("POST /api/session", &[&bearer("wrong-horse-battery")]).await);
    }
    assert_eq!(statuses[..8], [401; 8]);
    let refused = server.send("POST /api/session", &[&bearer(SECRET)]).await;
    assert_eq!(refused.status, 429);
    assert!(refused.head.contains("retry-after: "), "{}", refused.head);
}

#[tokio::test]
async fn requests_of_other_sites_and_names_are_refused() {
    let server = TestServer::start(false, |_| TlsFiles::default()).await;
    let own = "X-Strata-Request: 1";
    assert_eq!(server.status("GET /", &["Host: rebound.example"]).await, 421);
    assert_eq!(server.status("GET /api/session", &["Host: rebound.example"]).await, 421);
    assert_eq!(server.status("GET /", &["Host: localhost"]).await, 200);
    let other = "Origin: http://other.example";
    assert_eq!(server.status("GET /api/session", &[other]).await, 403);
    assert_eq!(server.status("POST /api/jobs/a/cancel", &[other, own]).await, 403);
    assert_eq!(
        server.status("POST /api/jobs/a/cancel", &["Sec-Fetch-Site: cross-site", own]).await,
        403
    );
    // Without a token, changes are those of the own page only.
    assert_eq!(server.status("POST /api/jobs/a/cancel", &[]).await, 403);
    assert_eq!(server.source.changes(), []);
    let origin = format!("Origin: http://127.0.0.1:{}", server.port);
    assert_eq!(server.status("POST /api/jobs/a/cancel", &[&origin, own]).await, 204);
}

#[tokio::test]
async fn the_page_and_its_answers_have_a_strict_policy() {
    let server = TestServer::with_token().await;
    for path in assets::paths().chain(["/api/session", "/api/nothing", "/api/live"]) {
        let answer = server.send(&format!("GET {path}"), &[]).await;
        let expected = match path {
            "/api/nothing" => 404,
            "/api/live" => 401,
            _ => 200,
        };
        assert_eq!(answer.status, expected, "{path}");
        for part in ["content-security-policy: default-src 'none'", "nosniff", "no-referrer"] {
            assert!(answer.head.contains(part), "{path}: {}", answer.head);
        }
        assert!(!answer.head.contains("unsafe-inline") || path.ends_with(".svg"), "{path}");
    }
}

#[tokio::test]
async fn with_a_certificate_the_page_needs_tls() {
    let server = TestServer::start(true, |folder| {
        let files =
            strata_proto::net::ClusterCertificates::create(&folder.join("tls"), &[]).unwrap();
        TlsFiles { cert: Some(files.node), key: Some(files.node_key), ca: None }
    })
    .await;
    let page = server.send("GET /", &[]).await;
    assert_eq!(page.status, 308);
    let target = format!("location: https://127.0.0.1:{}/", server.port);
    assert!(page.head.contains(&target), "{}", page.head);
    assert_eq!(server.status("POST /api/session", &[&bearer(SECRET)]).await, 403);
    // The first byte of TLS: the handshake fails, and no answer in plain HTTP follows.
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    stream.write_all(&[0x16, 3, 1, 0, 1, 0]).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    assert!(!bytes.starts_with(b"HTTP"));
}

#[tokio::test]
async fn downloads_and_solutions_are_complete() {
    let server = TestServer::start(false, |_| TlsFiles::default()).await;
    server.source.edit(|_, layers| {
        let layer = |depth| LayerRecord { depth, states: 1, ..LayerRecord::default() };
        *layers = (0..2_500).map(layer).collect();
    });
    let csv = server.send("GET /api/jobs/a/layers/csv", &[]).await;
    assert!(csv.head.contains("filename=\"a.csv\""), "{}", csv.head);
    let line = ",1,0,,0,0,0,00000000000000000000000000000000,0,0,0,0,0,0";
    assert_eq!(csv.body.lines().filter(|found| found.ends_with(line)).count(), 2_500);
    assert_eq!(server.status("GET /api/jobs/b/layers/csv", &[]).await, 404);
    let chart = server.send("GET /api/jobs/a/chart/positions/linear/light/640", &[]).await;
    assert!(chart.head.contains("image/svg+xml") && chart.body.contains("<svg "), "{}", chart.head);
    let solution = server.send("GET /api/jobs/a/solution", &[]).await;
    assert_eq!(solution.body, "{\"moves\":[\"1\"],\"has_drawings\":true,\"has_positions\":true}");
    assert_eq!(server.send("GET /api/jobs/a/solution/1", &[]).await.body, "after");
    assert_eq!(server.send("GET /api/jobs/a/solution/0/dark", &[]).await.body, "<svg>before</svg>");
    assert_eq!(server.status("GET /api/jobs/a/solution/2/dark", &[]).await, 404);
}

#[tokio::test]
async fn a_page_is_kept_up_to_date_over_one_connection() {
    let server = TestServer::with_token().await;
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let host = format!("Host: 127.0.0.1:{}\r\n{}\r\n", server.port, bearer(SECRET));
    let request = format!("GET /api/live/a HTTP/1.1\r\n{host}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    for wanted in ["event: log\ndata: []", "\"depth\":7", "\"depth\":8"] {
        while !text.contains(wanted) {
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "{text}");
            text += &String::from_utf8_lossy(&buffer[..read]);
        }
        let depth = if wanted.contains("log") { 7 } else { 8 };
        server.source.edit(|job, _| job.depth = Some(depth));
    }
    assert!(text.contains("content-type: text/event-stream"), "{text}");
}
