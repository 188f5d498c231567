//! Authentication, and malformed requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use strata_proto::v1;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;
use strata_proto::v1::job_service_client::JobServiceClient;

use crate::cluster::follower::expected;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually, fails, free_port};
use crate::common::{expect, refused, strata};

const SECRET: &str = "a-secret-that-is-long-enough";

#[test]
fn calls_without_the_token_are_refused() {
    let mut cluster = Cluster::with_token("", Some(SECRET));
    cluster.join("w1", "");
    cluster.join("w2", "");
    let wrong = cluster.path().join("wrong");
    std::fs::write(&wrong, "another-secret-altogether\n").unwrap();
    let wrong = format!("--token-file {}", wrong.display());
    let at = format!("--coordinator {}", cluster.url());
    for line in
        ["list", "submit panex 4", "status", "status x", "cancel x", "resume x", "path x", "logs x"]
    {
        fails(2, &mut strata(&format!("{line} {at}")), "requires a token");
        fails(2, &mut strata(&format!("{line} {at} {wrong}")), "refuses the token");
    }
    for (token, why) in [("", "no token"), (&*wrong, "wrong token")] {
        let data = cluster.path().join("unauthorised");
        let listen = format!("--listen 127.0.0.1:{}", free_port());
        let line = format!("worker {at} {listen} --data-dir {} {token}", data.display());
        let ran = fails(2, &mut strata(&line), "refuses this worker");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    assert_eq!(cluster.get("/metrics", "").0, 401);
    assert_eq!(cluster.get("/metrics", &bearer("another-secret-altogether")).0, 401);
    assert_eq!(cluster.get("/metrics", &bearer(SECRET)).0, 200);
    // Liveness and readiness need no token.
    assert_eq!(cluster.get("/healthz", "").0, 200);
    assert_eq!(cluster.get("/readyz", "").0, 200);
    let ran = cluster.follow("submit panex 6").expect_answer();
    let mut output = ran.stdout + &ran.stderr;
    for name in [COORDINATOR, "w1", "w2"] {
        output += &cluster.log(name);
    }
    assert!(!output.contains(SECRET) && !output.contains("another-secret"), "{output}");
    assert!(output.contains("worker connected"));
}

#[test]
fn public_addresses_require_a_token() {
    let dir = tempfile::tempdir().unwrap();
    let (port, http) = (free_port(), free_port());
    let data = dir.path().display();
    let reason = "needs a token";
    let line = format!("--listen 0.0.0.0:{port} --data-dir {data}");
    refused(&mut strata(&format!("coordinator {line} --http 127.0.0.1:{http}")), reason);
    refused(&mut strata(&format!("worker {line}")), reason);
    let line = format!("--listen 127.0.0.1:{port} --http 0.0.0.0:{http} --data-dir {data}");
    fails(2, &mut strata(&format!("coordinator {line}")), reason);
}

#[test]
fn pipes_and_devices_are_refused_as_token_and_job_files() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job");
    std::fs::create_dir(&job).unwrap();
    let pipe = job.join("manifest.json");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let at = format!("--coordinator http://127.0.0.1:{}", free_port());
    for file in [pipe.to_str().unwrap(), "/dev/zero"] {
        for flag in ["--token-file", "--tls-ca"] {
            let reason = "it is not a regular file";
            refused(&mut strata(&format!("list {at} {flag} {file}")), reason);
        }
    }
    let ran = crate::common::run(&mut strata(&format!("stats {}", job.display())));
    assert!(ran.stderr.contains("it is not a regular file"), "{}", ran.stderr);
}

#[test]
fn only_the_owner_reads_the_data() {
    use std::os::unix::fs::PermissionsExt;

    let cluster = Cluster::of(2);
    cluster.follow("submit panex 6 --keep-layers all").expect_answer();
    let mut folders = vec![cluster.data(COORDINATOR), cluster.data("w1"), cluster.data("w2")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 5, "{files}");
}

#[test]
fn only_regular_files_are_sent() {
    let mut cluster = Cluster::empty("");
    let port = free_port();
    cluster.join("w1", &format!("--listen 127.0.0.1:{port}"));
    let job = cluster.data("w1").join("job");
    std::fs::create_dir(&job).unwrap();
    let target = cluster.path().join("secret");
    std::fs::write(&target, SECRET).unwrap();
    let [link, pipe] = [1, 2].map(|depth| strata_store::layer_file(depth, 0));
    std::os::unix::fs::symlink(&target, job.join(&link)).unwrap();
    let (cwd, kind) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
    rustix::fs::mknodat(cwd, job.join(&pipe), kind, rustix::fs::Mode::RUSR, 0).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = format!("http://127.0.0.1:{port}");
        let mut exchange = ExchangeServiceClient::connect(url).await.unwrap();
        for (file, why) in [(link, "a symbolic link"), (pipe, "not a regular file")] {
            let bytes = SECRET.len() as u64;
            let digest = Some(v1::Digest::default());
            let file = v1::LayerFile { file, bytes, digest, ..v1::LayerFile::default() };
            let job = "job".to_owned();
            let request =
                v1::FetchRequest { job: job.clone(), file: Some(file.clone()), blocks: Vec::new() };
            let status = exchange.fetch(request).await.unwrap_err();
            assert!(status.message().contains(why), "{status}");
            let request =
                v1::FindRequest { job, file: Some(file), candidates: Vec::new(), numbering: None };
            let status = exchange.find(request).await.unwrap_err();
            assert!(status.message().contains(why), "{status}");
        }
    });
    // Nothing waits for the pipe.
    cluster.signal("w1", rustix::process::Signal::TERM);
    assert!(cluster.ended("w1").success());
}

/// Sends bytes and waits for an answer, for 100 ms at most.
fn send_raw(port: u16, bytes: &[u8]) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    // The server may have closed the connection already.
    let _ = stream.write_all(bytes);
    let mut answer = [0; 256];
    let _ = stream.read(&mut answer);
}

/// Bytes that are not valid requests.
fn malformed_requests() -> Vec<Vec<u8>> {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let with = |rest: &[u8]| [&preface[..], rest].concat();
    vec![
        vec![0; 4096],
        vec![0xff; 70_000],
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        [&b"GET /"[..], &[b'a'; 100_000]].concat(),
        preface[..11].to_vec(),
        // A frame that declares the greatest length, and headers that cannot be decoded.
        with(&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
        with(&[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 1, 4, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]),
        // Connections of frames: without an end, with a greeting that is too long or cannot be decoded.
        b"SF01".to_vec(),
        b"SF01\xff\xff\xff\xff".to_vec(),
        b"SF01\x03\0\0\0abc".to_vec(),
    ]
}

/// Well-formed calls with one invalid field each.
async fn invalid_calls(grpc: u16, worker: u16) {
    let at =
        |port: u16| tonic::transport::Endpoint::from_shared(format!("http://127.0.0.1:{port}"));
    let channel = at(grpc).unwrap().connect().await.unwrap();
    let mut jobs = JobServiceClient::new(channel);
    let name = "x".repeat(5 << 20);
    let request = v1::SubmitRequest { name, ..v1::SubmitRequest::default() };
    let status = jobs.submit(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::OutOfRange, "{status}");
    let status = jobs.submit(v1::SubmitRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
    for name in ["../x", "x/y", "x y", &"x".repeat(65)] {
        let spec = v1::JobSpec { space: "panex".to_owned(), ..v1::JobSpec::default() };
        let name = name.to_owned();
        let request = v1::SubmitRequest { spec: Some(spec), name, ..v1::SubmitRequest::default() };
        let status = jobs.submit(request).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
    }
    let status = jobs.look_up(v1::LookUpRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
    let layer = v1::LayerRef { job: "nobody's".to_owned(), depth: u32::MAX };
    let status = jobs.fetch_layer(layer).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::NotFound, "{status}");
    let channel = at(worker).unwrap().connect().await.unwrap();
    let mut exchange = ExchangeServiceClient::new(channel);
    for (job, file) in [("..", "worker-id"), (".", "worker-id"), ("x", "../worker-id")] {
        let file = v1::LayerFile { file: file.to_owned(), ..v1::LayerFile::default() };
        let job = job.to_owned();
        let request =
            v1::FetchRequest { job: job.clone(), file: Some(file.clone()), blocks: Vec::new() };
        let status = exchange.fetch(request).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
        let request =
            v1::FindRequest { job, file: Some(file), candidates: Vec::new(), numbering: None };
        let status = exchange.find(request).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
    }
}

#[test]
fn malformed_requests_do_no_harm() {
    let mut cluster = Cluster::empty("");
    let port = free_port();
    cluster.join("w1", &format!("--listen 127.0.0.1:{port}"));
    cluster.join("w2", "");
    let follower = cluster.follow("submit panex 6 --checkpoint-interval 1ms");
    for bytes in malformed_requests() {
        for port in [cluster.grpc, cluster.http, port] {
            send_raw(port, &bytes);
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(invalid_calls(cluster.grpc, port));
    follower.expect_answer();
    cluster.assert_no_panic();
    let log = cluster.log(COORDINATOR);
    assert!(!log.contains("is lost"), "{log}");
    let ran = expect(0, &mut cluster.client("list --json"));
    assert_eq!(ran.events("job_status").len(), 1);
    assert_eq!(ran.event("job_status")["result"]["states"], expected().result["states"]);
    eventually("both workers are connected", || {
        let ran = expect(0, &mut cluster.client("--json status"));
        ran.events("worker").iter().filter(|worker| worker["alive"] == true).count() == 2
    });
}
