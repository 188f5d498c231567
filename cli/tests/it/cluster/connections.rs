//! Idle connections, and nodes without file descriptors.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use strata_proto::v1;
use strata_proto::v1::control_service_client::ControlServiceClient;
use tokio_stream::StreamExt;

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, Cluster, free_port};
use crate::common::expect;

const SECRET: &str = "a-secret-that-is-long-enough";

/// Connections to a port that send these bytes and nothing more.
fn idle(port: u16, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let connections = (0..count).map(|_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        // It may be closed already.
        let _ = stream.write_all(bytes);
        stream
    });
    connections.collect()
}

/// Waits until the node closes a connection.
fn await_close(mut stream: TcpStream) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        let kinds = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
        assert!(kinds.contains(&error.kind()), "{:?}: {error}", stream.peer_addr());
    }
}

#[test]
fn the_connection_of_a_silent_worker_is_closed() {
    let cluster = Cluster::empty("--lease 300ms");
    let hello = v1::Hello {
        protocol: strata_proto::net::protocol::VERSION,
        worker_id: "0".repeat(32),
        instance: "1".repeat(32),
        name: "silent".to_owned(),
        address: "http://127.0.0.1:1".to_owned(),
        threads: 1,
        memory_bytes: 64 << 20,
        ..v1::Hello::default()
    };
    let message = Some(v1::from_worker::Message::Hello(hello));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut control = ControlServiceClient::connect(cluster.url()).await.unwrap();
        let first = tokio_stream::iter([v1::FromWorker { message }]);
        // The stream of the worker stays open.
        let messages = first.chain(tokio_stream::pending());
        let mut orders = control.attend(messages).await.unwrap().into_inner();
        let mut heartbeats = 0;
        while orders.message().await.is_ok_and(|order| order.is_some()) {
            heartbeats += 1;
            assert!(heartbeats < 100, "it is still open");
        }
        assert!(heartbeats > 3, "it was closed at once");
    });
    cluster.await_log(COORDINATOR, 0, "it was silent for two leases");
}

#[test]
fn idle_connections_are_closed_while_a_job_runs() {
    let mut cluster = Cluster::with_descriptors("", Some(SECRET), Some(128));
    let port = free_port();
    cluster.join("w1", &format!("--listen 127.0.0.1:{port}"));
    cluster.join("w2", "");
    let mark = cluster.mark(COORDINATOR);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    follower.until_depth(100);
    let mut connections = Vec::new();
    for port in [cluster.grpc, cluster.http, port] {
        connections.extend(idle(port, 490, b""));
        connections.extend(idle(port, 10, b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: "));
    }
    // New clients are served at once.
    expect(0, &mut cluster.client("list"));
    assert_eq!(cluster.get("/healthz", "").0, 200);
    let bearer = format!("Authorization: Bearer {SECRET}\r\n");
    assert_eq!(cluster.get("/metrics", &bearer).0, 200);
    follower.expect_answer();
    connections.into_iter().for_each(await_close);
    // A line a minute for each port, however many connections are closed.
    for (name, ports) in [(COORDINATOR, 2), ("w1", 1)] {
        let log = cluster.log(name);
        let lines = ["closed the oldest of ", "refused a connection"];
        let count: usize = lines.iter().map(|line| log.matches(line).count()).sum();
        assert_eq!(count, ports, "{log}");
        assert!(!log.contains("cannot accept") && !log.contains("Too many open files"), "{log}");
    }
    let log = &cluster.log(COORDINATOR)[mark..];
    assert!(!log.contains("is lost") && !log.contains("worker connected"), "{log}");
    let log = expect(0, &mut cluster.client(&format!("logs {job}"))).stdout;
    assert!(!log.is_empty());
    cluster.assert_no_panic();
}

#[test]
fn a_coordinator_without_descriptors_serves_when_it_has_some() {
    let cluster = Cluster::of(2);
    let pid = cluster.pid(COORDINATOR);
    let open = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).unwrap().count();
    let few = Rlimit { current: Some(open as u64 + 20), ..getrlimit(Resource::Nofile) };
    prlimit(Some(pid), Resource::Nofile, few).unwrap();
    let mark = cluster.mark(COORDINATOR);
    let connections = idle(cluster.grpc, 100, b"");
    cluster.await_log(COORDINATOR, mark, "cannot accept a connection, trying again");
    cluster.follow("submit panex 6").expect_answer();
    let log = cluster.log(COORDINATOR)[mark..].to_owned();
    assert_eq!(log.matches("cannot accept").count(), 1, "{log}");
    assert!(!log.contains("is lost"), "{log}");
    connections.into_iter().for_each(await_close);
}
